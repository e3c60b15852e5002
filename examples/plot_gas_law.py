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

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder, check_law

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
# No form is given, and no tolerance:

finder = LawFinder().fit(gas, p)
law = finder.laws_[0]
print(law)
print(law.verdict)

# %%
# The digit in brackets is the standard error of the last digit before it. The true constant is
# within it:

R, std = -law.coef[1], law.coef_std[1]
print(f"R = {R:.3f} with a standard error of {std:.3f}; off by {abs(R - 8.314) / std:.1f} of it")
