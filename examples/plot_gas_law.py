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

# sphinx_gallery_thumbnail_number = 1
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
# We give no form and no tolerance. We only give the units of the columns, so that the constant gets
# its own (this needs pint, ``python -m pip install ".[units]"``):

units = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
finder = LawFinder(units=units).fit(gas, p)
print(finder.verdict_)

# %%
# The digit in brackets is the standard error of the last digit before it:

law = finder.laws_[0]
R, std = -law.coef[1], law.coef_std[1]
print(f"R = {R:.3f} {law.coef_units[1]}, standard error {std:.3f}; in truth 8.314")
LawPredictionDisplay.from_estimator(finder, gas, p)
plt.show()

# %%
# The residuals of the law, against each column:

LawResidualsDisplay.from_estimator(finder, gas, p)
plt.show()

# %%
# The bands are level: nothing is missing. But points scatter three times as far on the left of the
# last panel, where the volume is small and the pressure high, as on its right. One percent of a
# large reading is a large error. The verdict says so, "the noise grows with the target", and the
# standard error allows for it.
#
# Constants of nature
# -------------------
# You can name the constant of nature along with the units. Coefficients are then multiples of it.
# ``homogeneous=True`` admits only laws whose numbers have no unit, and these are much fewer:

known = {**units, "R": "8.314 J/(mol K)"}
print(LawFinder(units=known, homogeneous=True).fit(gas, p).laws_[0])

# %%
# What would break it
# -------------------
# A thermometer in degrees Celsius does not break it. The law then has one more term, which shows
# where absolute zero is:

celsius = gas.assign(T=gas["T"] - 273.15)
print(LawFinder(units=units).fit(celsius, p).laws_[0])
zero = check_law("p*V = n*R*(T - T0)", celsius, p, units=units)
print(zero.verdict)

# %%
# Columns that go together break it. If larger cylinders always got more gas, in proportion, the law
# is true of the table, but it is not the gas law:

noise = 1 + rng.normal(scale=0.01, size=300)
filled = gas.assign(n=40 * gas["V"])
print(LawFinder().fit(filled, (8.314 * 40 * gas["T"] * noise).rename("p")).laws_[0])

# %%
# A gas that is not ideal breaks it, too. Molecules of carbon dioxide take room and attract each
# other (van der Waals), which lowers these pressures by up to two percent where V is small. That is
# too much for one law to stand out, and too little to show which law holds instead:

room = gas["V"] - 4.3e-5 * gas["n"]
real = 8.314 * gas["n"] * gas["T"] / room - 0.364 * (gas["n"] / gas["V"]) ** 2
real = (real * noise).rename("p")
print(LawFinder().fit(gas, real).verdict_)

# %%
# If you have the equation in mind, you can check it. It holds, but with this gauge a and b may both
# be zero. A gauge that is ten times as good could measure them:

waals = "p = R*n*T/(V - n*b) - a*n^2/V^2"
print(check_law(waals, gas, real, units=units).verdict)
better = (real / noise * (1 + (noise - 1) / 10)).rename("p")
print(check_law(waals, gas, better, units=units).verdict)
