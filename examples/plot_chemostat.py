"""
Cells that grow on a feed
=========================

In a chemostat, cells live on food that flows in, and flow out with the medium. How fast do they
grow at a given amount of food? The answer is no polynomial: there is a constant in a denominator.
We measure twelve cultures with noise, and ask for the equations.
"""

# %%
# Twelve cultures
# ---------------
# Each culture starts with another amount of cells and food, and is measured a hundred times within
# 20 hours. Each number has an error of 1 % of the spread of its column. In truth cells grow at
# Monod's rate ``0.9*food/(0.5 + food)``, and 0.3 of everything flows out per hour.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion, motion_systems
from vanishing.plot import EquationsOfMotionDisplay

X, t, culture = make_motion("chemostat", 12, 100, noise=0.01, random_state=1)
X = pd.DataFrame(X, columns=["cells", "food"])
print(*motion_systems()["chemostat"].equations, sep="\n")

# %%
# How do they move?
# -----------------
# We give neither the form of the equations nor the noise.

model = EquationsOfMotion().fit(X, t, groups=culture)
for equation in model.equations_:
    print(equation)
print(model.verdict_)
print(f"error on cultures held out: {model.held_out_error_:.2f} times the noise")

# %%
# The first equation looks different from the truth but is the same. Growth minus outflow is
# 0.9 S/(K + S) - 0.3, which is 0.6 - 0.45/(K + S) with K = 0.5. So 0.601(1) is the largest rate of
# growth minus the outflow. K is the amount of food at which growth has half of its largest rate. It
# has a standard error:

for equation in model.equations_:
    for value, std in equation.constants.values():
        print(f"K in {equation.left}: {value:.4f} +- {std:.4f}")

# %%
# Three of the twelve cultures took no part in the choice of the terms; only their starts were
# fitted. The residuals look like noise, without waves:

EquationsOfMotionDisplay.from_estimator(model, X, t, culture)
plt.show()

# %%
# A culture that nobody grew
# --------------------------
# We start with more food than any culture had. The equations predict what would happen, with the
# errors that follow from those of the coefficients:

hours = np.linspace(0, 20, 200)
states, std = model.simulate([0.05, 6.0], hours, return_std=True)
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for j, name in enumerate(X.columns):
    (line,) = ax.plot(hours, states[:, j], label=name)
    low, high = states[:, j] - 2 * std[:, j], states[:, j] + 2 * std[:, j]
    ax.fill_between(hours, low, high, color=line.get_color(), alpha=0.3)
ax.set(xlabel="hours", ylabel="amount")
ax.legend()
plt.show()

# %%
# .. admonition:: What would break it
#
#    Food that never runs short. If S is always far above K, growth is constant, and no method can
#    find K: start cultures with little food, too. With more noise or fewer cultures, a polynomial
#    may follow the runs as well, and the verdict says so: "follows the runs; other equations do so
#    too".
