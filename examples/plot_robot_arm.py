"""
The kinematics of a planar robot arm
====================================

An arm of two links reaches a point (x, y). Its encoders report the angles of the two joints. Which
equations connect these angles with the position of the hand, and how long are the links?
"""

# %%
# Forward kinematics is ``x = l1 cos(t1) + l2 cos(t1 + t2)`` and ``y = l1 sin(t1) + l2 sin(t1 +
# t2)``. In cosines and sines of the joints' angles everything is a polynomial. We take 400 poses
# with an error of 0.005 in every column, and do not give the lengths.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import OAVI, LawFinder

l1, l2 = 1.0, 0.6
rng = np.random.default_rng(0)
t1, t2 = rng.uniform(-np.pi, np.pi, size=(2, 400))
true = pd.DataFrame(
    {
        "x": l1 * np.cos(t1) + l2 * np.cos(t1 + t2),
        "y": l1 * np.sin(t1) + l2 * np.sin(t1 + t2),
        "c1": np.cos(t1),
        "s1": np.sin(t1),
        "c2": np.cos(t2),
        "s2": np.sin(t2),
    }
)
X = true + rng.normal(scale=0.005, size=true.shape)

figure, ax = plt.subplots(figsize=(4.5, 4.5))
for i in range(6):
    ax.plot(
        [0, l1 * true.c1[i], true.x[i]],
        [0, l1 * true.s1[i], true.y[i]],
        "o-",
        color=f"C{i}",
        linewidth=2,
        markersize=4,
        zorder=3,
    )
ax.scatter(X.x, X.y, s=6, color="0.7")
ax.set(aspect="equal", title="six poses, and where the hand was", xlabel="x", ylabel="y")
plt.show()

# %%
# From the angles
# ---------------
# Encoders report angles. From these the law finder finds the position of the hand:

angles = pd.DataFrame({"t1": t1, "t2": t2}) + rng.normal(scale=0.005, size=(400, 2))
for name in ("x", "y"):
    print(LawFinder().fit(angles, X[name]).laws_[0])

# %%
# That is forward kinematics, with ``cos(t1 + t2)`` and ``sin(t1 + t2)`` written out and the lengths
# of both links with their standard errors. It goes from the joints to the hand. From the hand to
# the joints there is no function, because two poses reach the same point. For that direction you
# want all equations between the columns, and polynomials are enough.
#
# One equation
# ------------
# First we take the hand and the second joint alone. The distance of the hand from the base depends
# on the second joint only: the law of cosines, ``x^2 + y^2 = l1^2 + l2^2 + 2 l1 l2 c2``.

few = OAVI(psi=0.001, oracle="omp", max_degree=2).fit(X[["x", "y", "c2"]])
print(few.generators_)
print(f"\nin truth: y^2 = {2 * l1 * l2:.4g}*c2 - x^2 + {l1**2 + l2**2:.4g}")

# %%
# Its two coefficients give the lengths: the squares of ``l1 + l2`` and ``l1 - l2`` are the sum and
# the difference of ``l1^2 + l2^2`` and ``2 l1 l2``.

law = few.generators_[0]
coefficients = dict(zip(law.table()["term"], law.coef, strict=True))
squares, product = -coefficients["1"], -coefficients["c2"]
total, difference = np.sqrt(squares + product), np.sqrt(squares - product)
print(f"links of {(total + difference) / 2:.3f} and {(total - difference) / 2:.3f}")

# %%
# All of them
# -----------
# With all six columns there are nine equations of degree two.

model = OAVI(psi=0.001, oracle="omp", max_degree=2).fit(X)
print(model.generators_)

# %%
# - The first is the law of cosines again, and two are the circles of the joints' angles.
# - ``x*s1 = y*c1 - 0.6*s2`` and ``y*s1 = 0.6*c2 - x*c1 + 1`` turn the hand into the frame of the
#   first link: given (x, y) and one joint, they are linear in the cosine and sine of the other.
#   Inverse kinematics solves these two equations.
# - ``s1*s2 = c1*c2 + 1.667*c1 - 1.667*x`` is forward kinematics, divided by ``l2 = 0.6``, and
#   ``c1*s2 = 1.667*y - s1*c2 - ...`` that of y.
# - The two that begin with ``x*s2`` and ``y*s2`` follow from the others; a Gröbner basis has them
#   because their leading terms are no multiples of other leading terms.
#
# A check on poses without noise that were not used:

t1, t2 = rng.uniform(-np.pi, np.pi, size=(2, 1000))
fresh = np.column_stack(
    [
        l1 * np.cos(t1) + l2 * np.cos(t1 + t2),
        l1 * np.sin(t1) + l2 * np.sin(t1 + t2),
        np.cos(t1),
        np.sin(t1),
        np.cos(t2),
        np.sin(t2),
    ]
)
fresh = pd.DataFrame(fresh, columns=X.columns)
print("largest violation by a pose that is possible:", model.transform(fresh).max().round(3))
