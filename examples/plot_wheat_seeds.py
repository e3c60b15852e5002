"""
Wheat seeds with readable equations
===================================

Seven measurements of 210 kernels of three varieties of wheat. What do the columns have to do with
each other, and what tells the varieties apart?

This example uses the data set "seeds", which :func:`vanishing.datasets.load` reads from a file or
fetches from OpenML. Where neither works, the page shows the code without its output.
"""

# %%
# A column that is none
# ---------------------
# Is any of the columns computed from the others? We ask for compactness:

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from vanishing import OAVI, LawFinder, VanishingClassifierCV, datasets
from vanishing.plot import LawPredictionDisplay

seeds = datasets.load("seeds")
X = pd.DataFrame(seeds.data, columns=seeds.feature_names)
others, compactness = X.drop(columns="compactness"), X["compactness"]
finder = LawFinder().fit(others, compactness)
print(finder.verdict_)
print(f"4 pi = {4 * np.pi:.4f}")

LawPredictionDisplay.from_estimator(finder, others, compactness)
plt.show()

# %%
# Compactness is no measurement: it is 4π · area / perimeter², and its error is that of rounding in
# the table. Of the other columns none obeys a law:

for name in X.drop(columns=["area", "perimeter", "compactness"]):
    print(LawFinder().fit(X.drop(columns=name), X[name]).verdict_)

# %%
# What tells the varieties apart
# ------------------------------
# Now the classifier, with all columns, sparse equations of degree up to two, and values of psi that
# are small enough for equations to say something.

y = np.array(seeds.target_names)[seeds.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = VanishingClassifierCV(
    OAVI(oracle="omp", max_degree=2), psis=(0.01, 0.005, 0.002, 0.001), cv=5
).fit(X_train, y_train)
print(model.best_params_)
print(f"right on {model.score(X_test, y_test):.1%} of {len(y_test)} new kernels")

# %%
# The shortest equations of each variety, in columns scaled into [0, 1]:

for label, transformer in zip(
    model.classes_, model.classifier_.features_.transformers_, strict=True
):
    shortest = sorted(transformer.generators_, key=lambda g: len(g.terms))[:4]
    print(label)
    for g in shortest:
        print(f"    {g.equation()}, mean square {g.mse:.4f}")

# %%
# ``area^2 = 0`` says that kernels of the Canadian variety are small: their area, in scaled
# columns, is near the smallest of all. Those of Rosa are as wide as their compactness and area
# let expect. What decided about one kernel, in millimetres and square millimetres, as contributions
# to the decision value of the predicted variety, which they add up to:

row = X_test[:1]
print(f"predicted {model.predict(row)[0]}, in truth {y_test[0]}")
for _, part in model.explain(row, n_generators=4, table=True).iterrows():
    print(f"{part['contribution']:+.2f}  {part['class']}  {part['equation']}")
