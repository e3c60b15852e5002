"""
A thin lens, and how to be sure of its focal length
===================================================

A candle, a lens and a screen on an optical bench. For each distance a of the candle from the lens
you move the screen until the picture is sharp, and note its distance b. How do they depend on each
other, and what is the focal length?
"""

# %%
# The table
# ---------
# Sixty pairs, in metres. The candle is placed to a millimetre; where the picture is sharpest can be
# told to four. The lens has a focal length of 20 cm, which we keep to ourselves.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import LawFinder, check_law

rng = np.random.default_rng(0)
a = rng.uniform(0.25, 1.2, 60)
b = 1 / (1 / 0.20 - 1 / a)
bench = pd.DataFrame({"a": a + rng.normal(scale=0.001, size=60)})
b = pd.Series(b + rng.normal(scale=0.004, size=60), name="b")

# %%
# The law
# -------

finder = LawFinder().fit(bench, b)
law = finder.laws_[0]
print(law)
print(law.verdict)

# %%
# That is 1/b = 5.01 - 1.005/a. The coefficient of 1/a is 1 within two standard errors, and then
# the other one is 1/f. But the last sentence warns: sixty rows of one column fit other smooth
# curves, too. Two things help.
#
# The first is to say what is known about the bench: both columns have noise, and how large it is.
# Then no column has to be the target, and the law comes out as the product of the distances:

both = LawFinder(noise=[0.001, 0.004]).fit(bench.assign(b=b))
print(both.laws_[0])

# %%
# The same number stands before a and before b, up to their errors, so a b = f (a + b), which is
# 1/a + 1/b = 1/f.
#
# The second is to ask whether this equation holds, now that we have it in mind. A constant that is
# one is fitted as one, and its error is smaller:

lens = check_law("1/a + 1/b = 1/f", bench, b)
f, std = lens.constants["f"]
print(lens.verdict)
print(f"f = {1000 * f:.1f} mm with a standard error of {1000 * std:.1f} mm")
