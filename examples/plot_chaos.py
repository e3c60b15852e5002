"""
Equations of a chaotic motion
=============================

Of a chaotic motion nobody can predict the far future: errors grow until nothing is left. Its
equations can be found all the same, and from one short run, since such a run goes everywhere. We
find Rössler's, and see how far they carry.
"""

# %%
# One noisy run
# -------------
# Six hundred rows of three columns, with an error of 1 % of the spread of each. They are integrals
# of smooth paths that the search compares, not derivatives, which would multiply the noise.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion, motion_systems
from vanishing.plot import EquationsOfMotionDisplay

X, t, _ = make_motion("rossler", 1, 600, noise=0.01, t_end=40.0, random_state=0)
X = pd.DataFrame(X, columns=["x", "y", "z"])
model = EquationsOfMotion().fit(X, t)
for equation in model.equations_:
    print(equation)
print(model.verdict_)
print("in truth:", *motion_systems()["rossler"].equations, sep="\n  ")

# %%
# The integrated equations go through the rows, and what is left over is noise:

EquationsOfMotionDisplay.from_estimator(model, X, t)
plt.show()

# %%
# How far do they carry?
# ----------------------
# We go on from where the run ends. Errors of the coefficients, in the fourth digit, grow with the
# motion; ``return_std`` says how fast. The truth stays within them until they are as large as the
# motion itself.

later, times, _ = make_motion("rossler", 1, 900, starts=[X.iloc[-1]], t_end=120.0)
found, std = model.simulate(X.iloc[-1], times, return_std=True)
far = np.abs(found[:, 0] - later[:, 0])
print(f"first wrong by 1 after {times[np.argmax(far > 1.0)]:.0f} units of time")

figure, axes = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, layout="constrained")
axes[0].plot(times, later[:, 0], label="truth", color="#5A5A5A", lw=2)
axes[0].plot(times, found[:, 0], label="equations found", color="#D55E00", lw=1)
axes[0].set(ylabel="x")
axes[0].legend(loc="upper right")
axes[1].semilogy(times[1:], far[1:], label="error", color="#0072B2", lw=0.8)
axes[1].semilogy(times[1:], 2 * std[1:, 0], label="twice its standard error", color="#D55E00")
axes[1].set(xlabel="time after the run", ylabel="error of x")
axes[1].legend(loc="lower right")
plt.show()

# %%
# .. admonition:: What would break it
#
#    Few rows per turn: a smooth path through them misses the sharp peaks of z. And long runs are
#    cut into pieces, each with a start of its own, since no start can be told well enough to follow
#    a chaotic path to its end; ``n_pieces_`` says how many.
