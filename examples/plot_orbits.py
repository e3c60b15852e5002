"""
What Kepler's orbits keep
=========================

A planet on an ellipse keeps its energy, its angular momentum and the direction of the ellipse. We
give positions and velocities on thirty orbits, and ask what is the same along each.
"""

# %%
# The orbits
# ----------
# In units in which the sun's attraction is 1/r². Sizes, eccentricities and directions are random.
# Columns are the position (x, y), the velocity (u, v), and, since attraction is no polynomial in
# these, the direction (c, s) to the planet and its inverse distance w.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import ConservedQuantities
from vanishing.plot import ConservedQuantitiesDisplay

rng = np.random.default_rng(0)
t = np.linspace(0, 12, 80)


def attraction(t, state):
    """Return velocity and acceleration."""
    x, y, u, v = state
    r = np.hypot(x, y)
    return [u, v, -x / r**3, -y / r**3]


def start():
    """Return the nearest point of a random ellipse, and the velocity there."""
    size, eccentricity, turn = rng.uniform([0.7, 0.1, 0.0], [1.5, 0.6, 2 * np.pi])
    near = size * (1 - eccentricity)
    fast = np.sqrt((1 + eccentricity) / near)
    c, s = np.cos(turn), np.sin(turn)
    return [near * c, near * s, -fast * s, fast * c]


orbits = []
for orbit in range(30):
    motion = solve_ivp(attraction, (0, 12), start(), t_eval=t, rtol=1e-10, atol=1e-10)
    rows = pd.DataFrame(motion.y.T, columns=list("xyuv"))
    orbits.append(rows.assign(t=t, orbit=orbit))
rows = pd.concat(orbits, ignore_index=True)
r = np.hypot(rows["x"], rows["y"])
X = rows[list("xyuv")].assign(c=rows["x"] / r, s=rows["y"] / r, w=1 / r)

# %%
# What stays the same
# -------------------

model = ConservedQuantities(max_degree=3).fit(X, groups=rows["orbit"])
for quantity in model.quantities_:
    print(quantity)
print()
print(model.verdict_)

# %%
# Twice the energy is u² + v² - 2 w; angular momentum is x v - y u; and the two others are the
# components of the vector of Laplace, Runge and Lenz, which points to the nearest point of the
# ellipse. There are four quantities, but three are independent, as their gradients show: the length
# of that vector follows from energy and angular momentum.
#
# Equations that hold on all rows tell nothing new about the motion. There are many, since three of
# the columns are made from two others:

for law in model.constraints_:
    print(law)

# %%
# The components of the vector show how eccentric an ellipse is, and where it points:

values = dict(zip(map(str, model.quantities_), model.values_.T, strict=True))
figure, ax = plt.subplots(figsize=(5, 4.5))
long = [name for name in values if len(name) > 15]
for orbit in range(6):
    here = rows["orbit"] == orbit
    (line,) = ax.plot(rows["x"][here], rows["y"][here], lw=1)
    a = [values[next(n for n in long if n.endswith(end))][orbit] for end in ("- c", "+ s")]
    ax.annotate(
        "",
        0.8 * np.array([a[0], -a[1]]),
        (0, 0),
        arrowprops={"arrowstyle": "->", "lw": 2, "color": line.get_color()},
    )
ax.plot(0, 0, "o", color="#E69F00", ms=9)
ax.set(
    aspect="equal", xlabel="x", ylabel="y", title="orbits, and what points to their nearest point"
)
plt.show()

# %%
# With noise
# ----------
# With noise of 0.5 % of its spread in every column the same four are found, with standard errors.
# The equations among the columns are not exact any more, so they are not among the constraints.
# Therefore all four quantities count as independent.

noisy = X + 0.005 * X.std().to_numpy() * rng.normal(size=X.shape)
model = ConservedQuantities(max_degree=3).fit(noisy, groups=rows["orbit"])
for quantity in model.quantities_:
    print(quantity)
print(model.verdict_)
ConservedQuantitiesDisplay.from_estimator(model, noisy, rows["orbit"], rows["t"])
plt.show()
