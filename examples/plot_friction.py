"""
Friction: which columns matter?
===============================

A block is pulled over a table at constant speed. A spring balance shows the force of the pull. Does
it depend on the load, on the area of contact, on the speed? Many people expect the area to matter.
And what does a film of oil change?
"""

# %%
# The table
# ---------
# Normal force N in newton, area of contact in square centimetres, speed in metres per second, and
# the pull F, read to 0.05 N. On the dry table F is 0.31 N, whatever the area and the speed
# (Amontons and Coulomb). On the oiled table the oil is sheared as well. This takes a force in
# proportion to area and speed.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder, check_law
from vanishing.plot import LawResidualsDisplay, LawUnexplainedDisplay

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
# One column of three matters. The pull is 0.31 of the load, with an error in the fourth digit. The
# residuals are as large as the balance's error.
#
# "The area does not matter" means that its coefficient is small, and this coefficient has an error.
# We put the area into the equation:

for name in ("area", "speed"):
    slope, std = check_law(f"F = mu*N + c*{name}", pulls, dry).constants["c"]
    most = (abs(slope) + 2 * std) * np.ptp(pulls[name])
    print(f"{name}: c = {slope:.5f} +- {std:.5f}; over all rows less than {most:.3f} N")

# %%
# That is what a negative result should look like: if the area has an effect, it is smaller than
# 0.03 N over the whole range, half of what the balance can read. In a picture:

LawResidualsDisplay.from_estimator(finder, pulls, dry)
plt.show()

# %%
# The oiled table
# ---------------
# Does the pull depend on the load alone here, too? We check this equation, with a constant added to
# be fair. Which columns explain what is left?

straight = check_law("F = mu*N + c", pulls, oiled)
print(straight.verdict)
LawUnexplainedDisplay.from_estimator(straight, pulls, oiled)
plt.show()

# %%
# Area and speed do, far beyond chance. The oiled table has a law of its own:

oil = LawFinder().fit(pulls, oiled)
print(oil.verdict_)

# %%
# It has the same friction coefficient, and a force in proportion to area and speed, as for a liquid
# that is sheared between two plates. The search found by itself that these two columns are
# multiplied. The last sentence is a caution that laws of more than one term often get: 200 rows and
# this noise leave room for curves that look alike here. More rows or a wider range decide.
#
# .. admonition:: What would break it
#
#    - *Blocks that are heavier because they are larger.* Then N and the area go together, and no
#      table can say which of the two matters. Put weights on the same block.
#    - *A block at rest.* The pull at which it starts to slide is larger. Rows at rest and rows in
#      motion obey no common law; `robust=True` leaves out a few rows, but not half of them.
#    - *Effects below the noise.* Real friction depends on the speed a little. This balance cannot
#      see effects below the limits above, and cannot exclude them.
