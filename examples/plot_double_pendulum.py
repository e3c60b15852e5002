"""
A real double pendulum
======================

Two runs of a double pendulum in a laboratory, filmed by a camera: with friction in its bearings,
and noise. Textbooks say that its energy is conserved. What do the measurements say?

The data is that of Schmidt and Lipson (2009), as kept with ConservNet: angles in rad, angular
velocities in rad/s and times in s. This page reads it from the folder in ``$VANISHING_DATA``; where
that has no such file, it shows the code without its output.
"""

# %%
# The measurements
# ----------------
# The energy of a double pendulum is not a polynomial in its angles. Its terms are the squares of
# the angular velocities u and v, their product times the cosine of the difference of the angles,
# and the cosines of the angles. So these are our columns: a and b are the cosines of the angles,
# and d that of their difference.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import ConservedQuantities
from vanishing.plot import ConservedQuantitiesDisplay

measured = pd.read_csv(Path(os.environ["VANISHING_DATA"]) / "laws" / "double_pendulum.csv")
X = pd.DataFrame(
    {
        "a": np.cos(measured["theta1"]),
        "b": np.cos(measured["theta2"]),
        "d": np.cos(measured["theta1"] - measured["theta2"]),
        "u": measured["omega1"],
        "v": measured["omega2"],
    }
)
trial, t = measured["trial"], measured["time"]
print(trial.value_counts().sort_index().to_dict(), "rows of each run")

# %%
# Two runs
# --------
# Two runs are too few to hold one out, which a warning says. Nothing is conserved:

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = ConservedQuantities(max_degree=3).fit(X, groups=trial)
print(said[0].message)
print(model.quantities_, model.verdict_)

# %%
# That is right. But in a second or two friction has little time. Pieces of a run are runs of their
# own; here they have 201 rows, about two seconds:


def pieces(n_rows):
    """Return which piece of n_rows rows a row belongs to."""
    return trial * 100 + measured.groupby("trial").cumcount() // n_rows


piece = pieces(201)
model = ConservedQuantities(max_degree=3).fit(X, groups=piece)
print(f"{len(model.runs_)} pieces: {model.quantities_}, {model.verdict_}")

# %%
# Still nothing: the energy falls along each piece, as the figure below shows.
#
# What nearly stays the same
# --------------------------
# How noisy is the camera? What a smooth curve through eleven moments leaves over says so. If we
# count three times that as noise, friction in two seconds may be hidden by it, and we ask: which
# quantity is conserved up to that?

curve = np.vander(np.arange(-5, 6) / 5, 5)
rest = np.eye(11) - curve @ np.linalg.pinv(curve)


def roughness(column):
    """Return the noise of a column along one run."""
    windows = np.lib.stride_tricks.sliding_window_view(column.to_numpy(), 11)
    return np.sqrt(np.median(((windows @ rest) ** 2).sum(axis=1)) / 6)


noise = np.sqrt((X.groupby(trial).agg(roughness) ** 2).mean())
print((noise / X.std()).round(4).to_dict(), "of the spread")

model = ConservedQuantities(max_degree=3, noise=3 * noise.to_numpy()).fit(X, groups=piece)
for quantity in model.quantities_:
    print(quantity)
print(model.verdict_)

# %%
# There is something. Is it chance? Other pieces, and each run alone:

for n_rows in (76, 101, 126, 151, 201):
    for which in ((0, 1), (0,), (1,)):
        rows = trial.isin(which)
        other = ConservedQuantities(max_degree=3, noise=3 * noise.to_numpy())
        other.fit(X[rows], groups=pieces(n_rows)[rows])
        print(f"{n_rows} rows, runs {which}: {'; '.join(map(str, other.quantities_)) or 'nothing'}")

# %%
# Most cuts give nothing, and the others the same quantity. With once, five or eight times the noise
# of the camera all give nothing. So this is no discovery that would stand alone; but what is found,
# in two of fifteen cuts, is nothing else than the energy of the textbooks.
#
# This is the energy, found among 55 monomials. Its coefficients are those of a pendulum with rods
# of certain lengths: twice the attraction g = 9.81 m/s² over the length of the first rod is the
# ratio of the coefficients of the cosine a and of u², that of the second rod of b and v²; and the
# first length is also g over the coefficient of b.

(energy,) = model.quantities_
found = {term: abs(value) for term, value in zip(energy.terms, energy.coef, strict=True)}
print(f"first rod:  {2 * 9.81 * found['u^2'] / found['a']:.3f} m, or {9.81 / found['b']:.3f} m")
print(f"second rod: {2 * 9.81 * found['v^2'] / found['b']:.3f} m")

# %%
# Both ways to the first length agree within a tenth, which nothing has forced them to. Over all
# measurements this energy falls: less that of rest, by about a quarter in both runs.

since = t - t.groupby(trial).transform("min")
display = ConservedQuantitiesDisplay.from_estimator(model, X, trial, since)
display.axes_[0].set_xlabel("time since the run began, s")
plt.show()

# %%
# .. figure:: ../images/double_pendulum.png
#    :alt: The energy of both runs over time falls slowly, with spikes in the whirling one
#
#    The same figure, from an earlier run: for pages that are built without the data.
#
# So what comes out honestly is: nothing is conserved in this laboratory, and what nearly is, for a
# second or two, has the form of the energy. Spikes in the second run last a few rows each, and then
# the energy is what it was before: they are errors of measurement.
