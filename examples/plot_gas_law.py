"""
The gas law, with its constant
==============================

You filled cylinders of different volumes with different amounts of a gas, warmed them, and read the
pressure off a gauge that is good to one percent. Which law do the readings obey, and what is its
constant?
"""

# %%
# The table
# ---------
# Three hundred readings in SI units: amount n in mol, temperature T in kelvin, volume V in cubic
# metres, pressure p in pascal. We make them here, with the constant that everyone knows, so that we
# can see how close the answer comes.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder, check_law
from vanishing.plot import LawPredictionDisplay, LawResidualsDisplay

rng = np.random.default_rng(0)
gas = pd.DataFrame(
    rng.uniform([0.5, 270.0, 0.01], [2.0, 400.0, 0.05], (300, 3)), columns=["n", "T", "V"]
)
p = 8.314 * gas["n"] * gas["T"] / gas["V"] * (1 + rng.normal(scale=0.01, size=300))
p = p.rename("p")
print(gas.assign(p=p).head(4).round(3).to_string(index=False))

# %%
# The law
# -------
# No form is given, and no tolerance; only the units of the columns, so that the constant gets its
# own (this needs pint, ``python -m pip install '.[units]'``):

units = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
finder = LawFinder(units=units).fit(gas, p)
print(finder.verdict_)

# %%
# What the law leaves over, against each column:

LawResidualsDisplay.from_estimator(finder, gas, p)
plt.show()

# %%
# The bands are level: nothing is missing. But points scatter three times as far on the left of the
# last panel, where the volume is small and the pressure high, as on its right. One percent of a
# large reading is a large error, and by default all rows are taken to have errors of one size. Then
# rows of high pressure have too much to say, and standard errors come out too small.
#
# Weights
# -------
# Rows with larger errors are told by weights, 1 / variance:

weight = 1 / p**2
weight /= weight.mean()
finder = LawFinder(units=units).fit(gas, p, sample_weight=weight)
law = finder.laws_[0]
print(finder.verdict_)

# %%
# The digit in brackets is the standard error of the last digit before it. The warning is gone: no
# different equation comes near.

R, std = -law.coef[1], law.coef_std[1]
print(f"R = {R:.3f} {law.coef_units[1]}, standard error {std:.3f}; in truth 8.314")
LawPredictionDisplay.from_estimator(finder, gas, p)
plt.show()

# %%
# If the constant of nature is named beside the units, coefficients are multiples of it. Then
# ``homogeneous=True`` admits only laws whose numbers have no unit, which are much fewer:

known = {**units, "R": "8.314 J/(mol K)"}
print(LawFinder(units=known, homogeneous=True).fit(gas, p, sample_weight=weight).laws_[0])

# %%
# What would break it
# -------------------
# A thermometer in degrees Celsius, whose degrees are those of kelvin, does not. The law has a term
# more, and says where zero is:

celsius = gas.assign(T=gas["T"] - 273.15)
print(LawFinder(units=units).fit(celsius, p, sample_weight=weight).laws_[0])
zero = check_law("p*V = n*R*(T - T0)", celsius, p, sample_weight=weight, units=units)
print(zero.verdict)

# %%
# Other things do:
#
# - *A narrow range.* If all readings were taken between 290 and 300 K, the temperature would change
#   p by three percent, and a constant would do almost as well as T.
# - *Columns that go together.* If larger cylinders got more gas, so that n/V were always the same,
#   several laws would explain the table equally well; the finder says so and claims none.
# - *A real gas.* At high pressure molecules take room and attract each other. The law would still
#   be found at moderate pressures; then bands as above bend where V is small.
