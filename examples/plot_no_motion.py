"""
Runs that obey nothing
======================

A path that wanders by chance looks like a motion, and a method that always answers will find an
equation for it. The same happens if half of a motion was not measured. What does the search say if
no equation holds in the columns of the table?
"""

# %%
# Chance
# ------
# The place of a particle that is kicked in a random direction every second:

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion

rng = np.random.default_rng(0)
walk = pd.DataFrame(rng.normal(size=(300, 2)).cumsum(axis=0), columns=["east", "north"])
seconds = np.arange(300.0)
wandering = EquationsOfMotion().fit(walk, seconds)
print(wandering.equations_, wandering.verdict_)

# %%
# What was not measured
# ---------------------
# Lorenz's equations have three columns. With all of them the equations are found; if the third one
# was not measured, the others obey no equation of their own:

X, t, _ = make_motion("lorenz", 1, 1000, noise=0.005, t_end=10.0, random_state=0)
X = pd.DataFrame(X, columns=["x", "y", "z"])
for columns in (["x", "y", "z"], ["x", "y"]):
    model = EquationsOfMotion().fit(X[columns], t)
    print(", ".join(columns), "->", model.verdict_)

# %%
# A force that nobody wrote down
# ------------------------------
# Somebody shakes a spring. Its position and speed alone obey no equation. If the shaking is
# measured as well, there is one:


def shaken(t):
    """Return the force."""
    return np.sin(0.7 * t) + np.sin(1.9 * t) + 0.5 * np.sin(3.1 * t)


motion = solve_ivp(
    lambda t, s: [s[1], shaken(t) - 4.0 * s[0] - 0.3 * s[1]], (0, 10), [1, 0], t_eval=t, rtol=1e-8
)
spring = pd.DataFrame(motion.y.T, columns=["x", "v"])
spring += 0.005 * rng.normal(size=spring.shape)
print("without:", EquationsOfMotion().fit(spring, t).verdict_)
driven = EquationsOfMotion().fit(spring, t, inputs=pd.DataFrame({"force": shaken(t)}))
print("with:   ", driven.verdict_)
for equation in driven.equations_:
    print("  ", equation)

# %%
# You cannot see from the three paths whether they obey an equation:

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, path, title in zip(
    axes, (walk, X[["x", "y"]], spring), ("chance", "a hidden column", "a force"), strict=True
):
    ax.plot(*path.to_numpy().T, lw=0.8, color="#0072B2")
    ax.set(xlabel=path.columns[0], ylabel=path.columns[1], title=title)
plt.show()

# %%
# Why that is an answer
# ---------------------
# "None" comes with its reason. If the equations leave more than the noise, a term, a column or a
# force is missing. If they explain less than half of a column's motion, the rest is noise. The
# nearest candidates are in ``front_``. Look at them, but do not rely on them:

for equation in wandering.front_:
    print(equation)
