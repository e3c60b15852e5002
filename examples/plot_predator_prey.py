"""
Predators and prey
==================

Foxes eat rabbits, rabbits multiply. In the model of Lotka and Volterra both numbers go up and down
for ever, and something is conserved that nobody would guess. We look for it in noisy counts.
"""

# %%
# The counts
# ----------
# Rabbits x grow at a rate of 0.8 and are eaten at 0.5 times the number of foxes y; foxes die at a
# rate of 0.6 and grow at 0.3 times the number of rabbits. Twenty valleys start with different
# numbers (in hundreds). Counts are wrong by 1 % of their spread.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import ConservedQuantities
from vanishing.plot import ConservedQuantitiesDisplay, PhasePortraitDisplay

rng = np.random.default_rng(0)
t = np.linspace(0, 12, 60)


def change(t, numbers):
    """Return how fast numbers change."""
    x, y = numbers
    return [x * (0.8 - 0.5 * y), y * (0.3 * x - 0.6)]


valleys = []
for valley in range(20):
    begin = rng.uniform([1.0, 0.8], [3.5, 3.0])
    motion = solve_ivp(change, (0, 12), begin, t_eval=t, rtol=1e-10, atol=1e-10)
    rows = pd.DataFrame(motion.y.T, columns=["x", "y"])
    valleys.append(rows.assign(t=t, valley=valley))
rows = pd.concat(valleys, ignore_index=True)
X = rows[["x", "y"]]
X = X + 0.01 * X.std().to_numpy() * rng.normal(size=X.shape)

# %%
# What stays the same
# -------------------
# Among polynomials, nothing; with logarithms, one quantity:

print(ConservedQuantities(max_degree=3).fit(X, groups=rows["valley"]).verdict_)
model = ConservedQuantities(functions=("log",)).fit(X, groups=rows["valley"])
print(model.verdict_)
(quantity,) = model.quantities_
print(quantity)

# %%
# In truth it is 0.8 log(y) + 0.6 log(x) - 0.5 y - 0.3 x, up to a factor: divided by 0.8 the
# coefficients are 1, 0.75, -0.625 and -0.375. So the ratios of all four rates can be read off
# counts without knowing when they were made.

for name, value, std in zip(quantity.terms, quantity.coef, quantity.coef_std, strict=True):
    print(f"{name:7} {value:7.4f} +- {std:.4f}")
ConservedQuantitiesDisplay.from_estimator(model, X, rows["valley"], rows["t"])
plt.show()

# %%
# Its level curves are the cycles that the valleys go through:

PhasePortraitDisplay.from_estimator(model, X, rows["valley"])
plt.show()

# %%
# A model that is wrong
# ---------------------
# If rabbits also run out of grass, the cycles spiral inwards, and nothing is conserved:

valleys = []
for _ in range(20):
    begin = rng.uniform([1.0, 0.8], [3.5, 3.0])
    motion = solve_ivp(
        lambda t, n: [change(t, n)[0] - 0.05 * n[0] ** 2, change(t, n)[1]],
        (0, 12),
        begin,
        t_eval=t,
    )
    valleys.append(motion.y.T)
spirals = np.vstack(valleys)
none = ConservedQuantities(functions=("log",)).fit(spirals, groups=rows["valley"])
print(none.quantities_, none.verdict_)
