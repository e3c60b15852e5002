"""
Wheat seeds with readable equations
===================================

The table has six measurements of 210 kernels of three varieties of wheat. How do the columns depend
on each other, and what tells the varieties apart?

The kernels are made up, after a table of the UCI repository that :func:`vanishing.datasets.load`
fetches by the name "seeds".
"""

# %%
# The kernels
# -----------
# Seen from above a kernel is nearly an ellipse. Varieties differ in size, in shape, and in the
# length of the groove. Numbers are rounded, as in a laboratory's table.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import ellipe
from sklearn.model_selection import train_test_split

from vanishing import OAVI, LawFinder, VanishingClassifierCV
from vanishing.plot import LawPredictionDisplay

rng = np.random.default_rng(0)
variety = np.repeat(["Kama", "Rosa", "Canadian"], 70)
size = pd.Series(variety).map({"Kama": 5.5, "Rosa": 6.15, "Canadian": 5.23})
slender = pd.Series(variety).map({"Kama": 0.59, "Rosa": 0.60, "Canadian": 0.545})
X = pd.DataFrame({"length": size * (1 + 0.04 * rng.normal(size=210))})
X["width"] = X["length"] * slender * (1 + 0.03 * rng.normal(size=210))
bulge = 1 + 0.01 * rng.normal(size=210)
X["area"] = np.pi / 4 * X["length"] * X["width"] * bulge
X["perimeter"] = 2 * X["length"] * ellipe(1 - (X["width"] / X["length"]) ** 2)
groove = pd.Series(variety).map({"Kama": 0.92, "Rosa": 0.98, "Canadian": 0.98})
X["groove"] = X["length"] * groove * (1 + 0.01 * rng.normal(size=210))
X["compactness"] = 4 * np.pi * X["area"] / X["perimeter"] ** 2
X = X.round({"compactness": 4} | dict.fromkeys(["length", "width", "groove"], 3)).round(3)

# %%
# A computed column
# ---------------------
# Is any of the columns computed from the others? We ask for compactness:

others, compactness = X.drop(columns="compactness"), X["compactness"]
finder = LawFinder().fit(others, compactness)
print(finder.verdict_)
print(f"4 pi = {4 * np.pi:.4f}")

LawPredictionDisplay.from_estimator(finder, others, compactness)
plt.show()

# %%
# Compactness is no measurement: it is 4π · area / perimeter². Do length and groove obey a law?

for name in ("length", "groove"):
    rest = X.drop(columns=[name, "compactness"])
    print(LawFinder(functions=()).fit(rest, X[name]).verdict_)

# %%
# What tells the varieties apart
# ------------------------------
# Now the classifier, with all columns, sparse equations of degree up to two, and values of psi that
# are small enough for meaningful equations.

X_train, X_test, y_train, y_test = train_test_split(
    X.to_numpy(), variety, test_size=0.4, stratify=variety, random_state=0
)
model = VanishingClassifierCV(
    OAVI(oracle="omp", max_degree=2), psis=(0.01, 0.005, 0.002, 0.001), cv=5
).fit(pd.DataFrame(X_train, columns=X.columns), y_train)
new = pd.DataFrame(X_test, columns=X.columns)
print(model.best_params_)
print(f"right on {model.score(new, y_test):.1%} of {len(y_test)} new kernels")

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
# ``length^2 = 0`` says that kernels of the Canadian variety are short: their length, in scaled
# columns, is near the smallest of all. ``groove = 0.9994*length`` says that the groove of Rosa's
# kernels grows with them.
#
# Why did one kernel get its class? These are the contributions to the decision value of the
# predicted variety, in millimetres and square millimetres:

row = new[:1]
print(f"predicted {model.predict(row)[0]}, in truth {y_test[0]}")
for _, part in model.explain(row, n_generators=4, table=True).iterrows():
    print(f"{part['contribution']:+.2f}  {part['class']}  {part['equation']}")
