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
# We take three of the columns: area, perimeter and compactness. We divide by the largest values,
# which keeps monomials monomials, and do not know which psi and which order of the variables lets
# something show. So we try some psi and all orders, and note for each generator how many terms it
# has and which share of its leading term's variance it leaves over. Something with few terms that
# leaves almost nothing over is worth a look.

from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from vanishing import OAVI, VanishingClassifierCV, datasets

seeds = datasets.load("seeds")
X = pd.DataFrame(seeds.data, columns=seeds.feature_names)
unit = X.max()

found, shown = {}, {}
for order in permutations(["area", "perimeter", "compactness"]):
    columns = (X / unit)[list(order)]
    for psi in (1e-3, 1e-4, 1e-5, 1e-6, 3e-7, 1e-7, 3e-8):
        for g in OAVI(psi=psi, oracle="omp", max_degree=3).fit(columns).generators_:
            leading = np.prod(columns.to_numpy() ** g.leading_term, axis=1)
            found[str(g)] = (len(g.terms), g.mse / leading.var())
            shown.setdefault(str(g), []).append(psi)
candidates = pd.DataFrame(found, index=["terms", "left over"]).T
simplest = candidates.loc[candidates.groupby("terms")["left over"].idxmin()]
for equation, row in simplest[:4].iterrows():
    print(f"{row['left over']:.1e}  {equation} = 0")

figure, ax = plt.subplots(figsize=(6.5, 3.8))
ax.scatter(candidates["terms"], candidates["left over"], s=14, color="#5A5A5A", alpha=0.6)
best = simplest[simplest["terms"] == 2]
ax.scatter(best["terms"], best["left over"], s=60, color="#D55E00", label=f"{best.index[0]} = 0")
ax.set(yscale="log", xlabel="terms", ylabel="share of variance left over")
ax.legend(loc="upper right")
plt.show()

# %%
# One point stands out: two terms, and a few millionths of the variance left over. In the units of
# the table,

columns = (X / unit)[["compactness", "perimeter", "area"]]
(psi,) = shown[best.index[0]]
generators = OAVI(psi=psi, oracle="omp", max_degree=3).fit(columns).generators_
(law,) = (g for g in generators if len(g.terms) == 2)
factor = -law.coef[0] * unit["compactness"] * unit["perimeter"] ** 2 / unit["area"]
print(f"compactness * perimeter^2 = {factor:.3f} * area, and 4 pi = {4 * np.pi:.3f}")
print(f"found at psi = {psi:g}, its mean square is {law.mse:.1e}")

# %%
# Compactness is no measurement: it is computed as 4π · area / perimeter².
#
# To be fair to the other generators: compactness varies by a few percent only, and over so small
# a range many polynomials are almost the same. Of 42 fits one shows the short equation, because
# psi has to be above its mean square, which comes from rounding in the table, but not so far
# above it that terms which it needs lead generators of their own. Looking for short equations
# means to look more than once.
#
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
        print(f"    {g} = 0, mean square {g.mse:.4f}")

# %%
# ``area^2 = 0`` says that kernels of the Canadian variety are small: their area, in scaled
# columns, is near the smallest of all. Those of Rosa are as wide as their compactness and area
# let expect. What decided about one kernel, as contributions to the decision value of the
# predicted variety:

row = X_test[:1]
print(f"predicted {model.predict(row)[0]}, in truth {y_test[0]}")
for part in model.explain(row, n_generators=4)[0]:
    print(f"{part['contribution']:+.2f}  {part['class']}: {part['generator']}")
