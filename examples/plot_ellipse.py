"""
An ellipse with noise in both columns
=====================================

The two stars of a double star go round each other in some decades. From year to year an observer
notes where the faint one stands beside the bright one: two angles, both with errors. On which
curve does it move? Neither column is a function of the other.
"""

# %%
# The table
# ---------
# Three hundred positions in seconds of arc, in the directions of the long and of the short axis,
# from the centre. The half axes are 3 and 2, and each coordinate has an error of 0.05.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 300)
stars = pd.DataFrame({"x": 3 * np.cos(angle), "y": 2 * np.sin(angle)})
stars += rng.normal(scale=0.05, size=stars.shape)

# %%
# The law
# -------
# There is no target. The observer knows the instrument, and says how large the errors are:

finder = LawFinder(noise=0.05).fit(stars)
law = finder.laws_[0]
print(finder.verdict_)

# %%
# The curve is an ellipse, and the half axes are the square roots of the reciprocal coefficients:

coef = dict(zip(law.terms, law.coef / -law.coef[law.terms.index("1")], strict=True))
std = dict(zip(law.terms, law.coef_std / abs(law.coef[law.terms.index("1")]), strict=True))
for term, true in (("x^2", 3), ("y^2", 2)):
    axis = coef[term] ** -0.5
    print(f"half axis {axis:.3f} +- {std[term] * axis**3 / 2:.3f}, in truth {true}")
