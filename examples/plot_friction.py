"""
Friction: which columns matter?
===============================

A block is pulled over a table at constant speed. A spring balance says how hard one has to pull.
Does it depend on the load, on the area of contact, on the speed? Many people expect the area to
matter. And what does a film of oil change?
"""

# %%
# The table
# ---------
# Normal force N in newton, area of contact in square centimetres, speed in metres per second, and
# the pull F, read to 0.05 N. On the dry table F is 0.31 N, whatever the area and the speed
# (Amontons and Coulomb). On the oiled one the oil is sheared as well, which takes a force in
# proportion to area and speed.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder, check_law

rng = np.random.default_rng(0)
pulls = pd.DataFrame(
    rng.uniform([2, 20, 0.05], [20, 120, 1.0], (200, 3)), columns=["N", "area", "speed"]
)
balance = rng.normal(scale=0.05, size=(2, 200))
dry = (0.31 * pulls["N"] + balance[0]).rename("F")
oiled = (0.31 * pulls["N"] + 0.02 * pulls["area"] * pulls["speed"] + balance[1]).rename("F")

# %%
# The dry table
# -------------

finder = LawFinder().fit(pulls, dry)
print(finder.verdict_)

# %%
# One column of three. The pull is 0.31 of the load, with an error in the fourth digit, and what is
# left has the size of the balance's error.
#
# "The area does not matter" is a claim about a number that is small, so it has an error, too. We
# put the area into the equation and see:

for name in ("area", "speed"):
    slope, std = check_law(f"F = mu*N + c*{name}", pulls, dry).constants["c"]
    most = (abs(slope) + 2 * std) * np.ptp(pulls[name])
    print(f"{name}: c = {slope:.5f} +- {std:.5f}; over all rows less than {most:.3f} N")

# %%
# The oiled table
# ---------------
# The same columns, and another law:

oil = LawFinder().fit(pulls, oiled)
print(oil.verdict_)
