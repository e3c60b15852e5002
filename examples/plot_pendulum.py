"""
What a pendulum keeps
=====================

A pendulum that swings without friction keeps its energy. We simulate a dozen swings as a camera
would see them: angle and angular velocity, with noise. Then we ask what stays the same along every
swing. With friction the answer should be: nothing.
"""

# %%
# The motion
# ----------
# The angle obeys ``theta'' = -(g/l) sin(theta)``. Twelve pendulums of 1 m start at rest at
# different angles; each is measured at 60 moments, and every measurement has an error of 1 % of its
# spread. The search should find
#
# .. math:: \omega^2 - 2 \frac{g}{l} \cos\theta,
#
# with 2 g/l = 19.62.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import ConservedQuantities, EquationsOfMotion, LawFinder
from vanishing.motion import derivatives
from vanishing.plot import (
    ConservedQuantitiesDisplay,
    EquationsOfMotionDisplay,
    PhasePortraitDisplay,
)

g_over_l = 9.81


def swings(friction, noise=0.01, moments=60):
    """Return moments of pendulums that swing, and which pendulum and time each is of."""
    t = np.linspace(0, 5, moments)
    runs = []
    for run, angle in enumerate(np.linspace(0.4, 2.6, 12)):
        motion = solve_ivp(
            lambda t, s: [s[1], -g_over_l * np.sin(s[0]) - friction * s[1]],
            (0, 5),
            [angle, 0.0],
            t_eval=t,
            rtol=1e-10,
            atol=1e-10,
        )
        theta, omega = motion.y
        runs.append(pd.DataFrame({"theta": theta, "omega": omega, "t": t, "run": run}))
    rows = pd.concat(runs, ignore_index=True)
    X = rows[["theta", "omega"]]
    X = X + noise * X.std().to_numpy() * np.random.default_rng(0).normal(size=X.shape)
    return X, rows["run"], rows["t"]


X, run, t = swings(friction=0.0)

# %%
# What stays the same
# -------------------
# The energy is no polynomial in theta, but it is one in its cosine, so we allow sines and cosines
# of the angle. Their squares add up to one for any angle, which says nothing about the motion. Such
# laws of the state are listed apart.

model = ConservedQuantities(functions={"theta": ("sin", "cos")}).fit(X, groups=run)
print(model.verdict_)
for quantity, ratio in zip(model.quantities_, model.ratio_, strict=True):
    print(f"{quantity}   (variance within runs over that of all rows: {ratio:.1g})")
print("On all rows:", *model.constraints_)

# %%
# Three of the twelve swings were held out of the search, and the ratio is measured on them. Over
# time the quantity of each swing is level, except for noise:

ConservedQuantitiesDisplay.from_estimator(model, X, run, t)
plt.show()

# %%
# In the plane of angle and angular velocity each swing stays on one of its level curves:

PhasePortraitDisplay.from_estimator(model, X, run)
plt.show()

# %%
# With friction
# -------------
# A little friction takes energy away, less than a tenth in a swing of 5 s. Nothing is conserved:

damped, damped_run, _ = swings(friction=0.02, noise=0.0)
none = ConservedQuantities(functions={"theta": ("sin", "cos")}).fit(damped, groups=damped_run)
print(none.quantities_)
print(none.verdict_)

# %%
# The ratio is small, yet it is not noise: swings with much energy lose more of it than noise would
# explain. With more friction the ratio grows:

for friction in (0.1, 0.3):
    damped, damped_run, _ = swings(friction)
    none = ConservedQuantities(functions={"theta": ("sin", "cos")}).fit(damped, groups=damped_run)
    print(f"friction {friction}: {none.quantities_}, {none.verdict_[-40:]}")

# %%
# The equation of motion
# ----------------------
# Which law does the damped motion obey, then? It is an equation for the rate at which the angular
# velocity changes. `EquationsOfMotion` finds it from noisy angles alone: ``order=2`` asks for
# accelerations, and velocities need not be measured. The equation is integrated and fitted to the
# angles themselves.

damped, damped_run, damped_t = swings(friction=0.3)
angles = damped[["theta"]]
moving = EquationsOfMotion(order=2).fit(angles, damped_t, groups=damped_run)
print(moving.equations_[0])
print(moving.verdict_)

# %%
# In truth it is ``-9.81*sin(theta) - 0.3*theta_dot``. The field of the equation spirals into the
# state of rest:

EquationsOfMotionDisplay.from_estimator(moving, angles, damped_t, damped_run)
plt.show()

# %%
# By hand
# -------
# With many rows and little noise you can compute rates as columns: `derivatives` takes differences
# over time, and `LawFinder` finds the law. Derivatives make noise larger: 0.71/h times as large by
# plain differences over steps of h seconds.

damped, damped_run, damped_t = swings(friction=0.3, noise=0.001, moments=300)
rates = derivatives(damped, damped_t, damped_run, method="differences")
inside = (damped_t > 0.2) & (damped_t < 4.8)  # at the ends of a run slopes are worse
rate = pd.Series(rates[inside, 1], name="rate")
law = LawFinder(functions={"theta": ("sin",)}).fit(damped[inside], rate).laws_[0]
print(law)
