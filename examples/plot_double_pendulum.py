"""
A double pendulum with good and with bad bearings
=================================================

One rod hangs on another, and we let them go ten times. Sensors measure both angles and both angular
velocities, with noise. Is anything conserved, although the motion is chaotic? And what is the
answer if the bearings have friction?
"""

# %%
# The measurements
# ----------------
# We simulate them: rods of 0.30 m and 0.24 m with equal masses at their ends, measured a hundred
# times per second for two seconds. Angles have noise of 0.002 rad, angular velocities of 0.02
# rad/s.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import ConservedQuantities
from vanishing.plot import ConservedQuantitiesDisplay

G, FIRST, SECOND = 9.81, 0.30, 0.24


def measured(friction):
    """Return ten runs of two seconds."""

    def change(t, state):
        a, b, u, v = state
        s, mixed = np.sin(a - b), FIRST * SECOND * np.cos(a - b)
        inertia = [[2 * FIRST**2, mixed], [mixed, SECOND**2]]
        torque = [
            -FIRST * SECOND * s * v**2 - 2 * G * FIRST * np.sin(a) - friction * (2 * u - v),
            FIRST * SECOND * s * u**2 - G * SECOND * np.sin(b) - friction * (v - u),
        ]
        return [u, v, *np.linalg.solve(inertia, torque)]

    rng, runs, t = np.random.default_rng(0), [], np.arange(0, 2, 0.01)
    for run in range(10):
        start = [*rng.uniform(-2, 2, 2), 0, 0]
        path = solve_ivp(change, (0, 2), start, t_eval=t, rtol=1e-9, atol=1e-9).y
        path += np.array([[0.002], [0.002], [0.02], [0.02]]) * rng.normal(size=path.shape)
        runs.append(pd.DataFrame({"run": run, "t": t, **dict(zip("abuv", path, strict=True))}))
    return pd.concat(runs, ignore_index=True)


def columns(table):
    """Return the cosines of both angles and of their difference, and the velocities."""
    a, b = table["a"], table["b"]
    cosines = {"A": np.cos(a), "B": np.cos(b), "D": np.cos(a - b)}
    return pd.DataFrame(cosines | {"u": table["u"], "v": table["v"]})


# %%
# The energy of a double pendulum is not a polynomial in its angles, but it is one in their cosines.
# So the cosines are our columns.
#
# Good bearings
# -------------

good = measured(friction=0.0)
model = ConservedQuantities(max_degree=3).fit(columns(good), groups=good["run"])
print(model.quantities_[0])
print(model.verdict_)

# %%
# One quantity is conserved: the energy, found among 55 monomials. Its coefficients are ratios of
# lengths. Nobody entered the lengths; compare them with 0.30 m and 0.24 m:

(energy,) = model.quantities_
size = {term: abs(value) for term, value in zip(energy.terms, energy.coef, strict=True)}
print(f"first rod:  {G / size['B']:.4f} m")
print(f"second rod: {2 * G / size['A']:.4f} m")

# %%
# Bad bearings
# ------------
# With friction nothing is conserved, and the answer says so:

bad = measured(friction=0.005)
print(ConservedQuantities(max_degree=3).fit(columns(bad), groups=bad["run"]).verdict_)

# %%
# We evaluate the energy that we found with good bearings along these runs. It falls, and it falls
# fastest when the rods are fast:

display = ConservedQuantitiesDisplay.from_estimator(model, columns(bad), bad["run"], bad["t"])
display.axes_[0].set_xlabel("time, in s")
display.axes_[0].set_title("Energy with bad bearings, one line per run", loc="left")
plt.show()
