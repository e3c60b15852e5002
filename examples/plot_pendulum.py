"""
A conservation law from a pendulum
==================================

A pendulum that swings without friction keeps its energy. We simulate one, hand over what a camera
would see of it, its direction and its angular velocity, and let OAVI find what stays constant.
"""

# %%
# The motion
# ----------
# The angle obeys ``theta'' = -(g/l) sin(theta)``. We take 500 moments of one swing that starts at
# rest, at 115 degrees. The law we hope for is not a polynomial in theta, but it is one in the
# columns cos(theta), sin(theta) and the angular velocity omega:
#
# .. math:: \omega^2 - 2 \frac{g}{l} \cos\theta = 2 E.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import OAVI

g_over_l = 9.81  # a pendulum of 1 m


def swing(friction, seed=0):
    """Return random moments of a pendulum's motion: theta and omega."""
    moments = np.sort(np.random.default_rng(seed).uniform(0, 20, 500))
    motion = solve_ivp(
        lambda t, s: [s[1], -g_over_l * np.sin(s[0]) - friction * s[1]],
        (0, 20),
        [2.0, 0.0],
        t_eval=moments,
        rtol=1e-10,
        atol=1e-10,
    )
    return motion.y


def columns(theta, omega):
    """Return what is measured."""
    return pd.DataFrame({"cos": np.cos(theta), "sin": np.sin(theta), "omega": omega})


theta, omega = swing(friction=0.0)
energy = omega[0] ** 2 / 2 - g_over_l * np.cos(theta[0])

# %%
# Without noise
# -------------
# Nothing but polynomials of degree up to two that vanish almost exactly:

model = OAVI(psi=1e-8, max_degree=2).fit(columns(theta, omega))
print(model.generators_)
print(f"\nThe law: omega^2 - {2 * g_over_l:.4g}*cos - {2 * energy:.4g} = 0")

# %%
# There are two. One says that (cos, sin) lies on a circle, which is true of any angle; the other is
# the conservation of energy. The coefficients of the first are not exactly 1 since an oracle stops
# once the mean square is below psi; ``oracle="ls"`` would go on.
#
# With noise
# ----------
# Now every measurement has an error of 0.01, in units of its own: omega is divided by 5 rad/s, so
# that all columns are of about the same size and one psi suits them all. A law cannot have a
# smaller mean square than the noise gives it, so psi has to be larger: an error of s in a column
# changes its square by about 2 s, whose mean square is of the order of 4 s², here 0.0004.

unit = np.array([1.0, 1.0, 5.0])
rng = np.random.default_rng(1)
X = columns(theta, omega) / unit
X += rng.normal(scale=0.01, size=X.shape)

model = OAVI(psi=0.001, oracle="omp", max_degree=2).fit(X)
print(model.generators_)

law = model.generators_[-1]
coefficients = dict(zip(law.table()["term"], law.coef, strict=True))
print(f"\ng/l = {-coefficients['cos'] * unit[2] ** 2 / 2:.2f}, in truth {g_over_l}")
print(f"E   = {-coefficients['1'] * unit[2] ** 2 / 2:.2f}, in truth {energy:.2f}")

# %%
# The oracle ``"omp"`` is greedy: it adds the term that explains most of what is left and refits
# all coefficients, until the mean square is at most psi. Then it drops terms that it took early
# and does not need in the end. That gives equations to read.
#
# With friction
# -------------
# A method that finds laws should find none where there is none. The same pendulum with friction
# loses energy; only the circle is left.

damped_theta, damped_omega = swing(friction=0.15)
damped = columns(damped_theta, damped_omega) / unit
damped += rng.normal(scale=0.01, size=damped.shape)
print(OAVI(psi=0.001, oracle="omp", max_degree=2).fit(damped).generators_)

# %%
# In the plane of angle and angular velocity the law found is one level line of the energy. The
# damped pendulum leaves it and spirals inwards.

angle, velocity = np.meshgrid(np.linspace(-np.pi, np.pi, 300), np.linspace(-8, 8, 300))
rows = np.column_stack([np.cos(angle).ravel(), np.sin(angle).ravel(), velocity.ravel() / 5])
values = law(rows).reshape(angle.shape)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
measured = np.arctan2(X["sin"], X["cos"]), 5 * X["omega"]
for ax, (a, w), title in zip(
    axes,
    (measured, (np.arctan2(damped["sin"], damped["cos"]), 5 * damped["omega"])),
    ("without friction", "with friction"),
    strict=True,
):
    ax.contour(angle, velocity, values, [0], colors="#D55E00", linewidths=1.5)
    ax.scatter(a, w, s=6, color="#0072B2", alpha=0.7, linewidths=0, zorder=3)
    ax.set(title=title, xlabel="theta")
axes[0].set_ylabel("omega")
plt.show()
