"""
Equations of a chaotic motion
=============================

Nobody can predict the far future of a chaotic motion, because errors grow until they are as large
as the motion. Its equations can still be found from one short run, since such a run goes
everywhere. We find Rössler's equations, and see how far they predict.
"""

# %%
# One noisy run
# -------------
# Six hundred rows of three columns, with an error of 1 % of the spread of each. The search compares
# integrals of smooth paths. Derivatives would multiply the noise.

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
# The integrated equations go through the rows, and only noise is left:

EquationsOfMotionDisplay.from_estimator(model, X, t)
plt.show()

# %%
# How far do they carry?
# ----------------------
# We continue from the end of the run. Errors of the coefficients, in the fourth digit, grow with
# the motion; ``return_std`` shows how fast. The truth stays within these errors until they are as
# large as the motion itself.

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
#    Few rows per turn: a smooth path through them misses the sharp peaks of z. Long runs are cut
#    into pieces, each with its own start, because no start can be known well enough to follow a
#    chaotic path to its end; ``n_pieces_`` is their number.
