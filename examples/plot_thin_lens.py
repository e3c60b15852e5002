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
# Sixty pairs, in metres. The candle is placed to within a millimetre; the sharpest picture is found
# to within four. The lens has a focal length of 20 cm, which the search does not know.

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
# That is 1/b = 5.01 - 1.005/a. The coefficient of 1/a is 1 within two standard errors. If it is 1,
# the constant is 1/f. But the last sentence warns: sixty rows of one column fit other smooth
# curves, too. Two things help.
#
# First, give what you know about the bench: both columns have noise, of known size. Then no column
# has to be the target, and the law has the product of the distances:

both = LawFinder(noise=[0.001, 0.004]).fit(bench.assign(b=b))
print(both.laws_[0])

# %%
# The coefficients of a and b are the same number within their errors. So a b = f (a + b), which is
# 1/a + 1/b = 1/f.
#
# Second, ask whether this equation holds, now that we have it in mind. Its one constant is the
# focal length, with a smaller error:

lens = check_law("1/a + 1/b = 1/f", bench, b)
f, std = lens.constants["f"]
print(lens.verdict)
print(f"f = {1000 * f:.1f} mm with a standard error of {1000 * std:.1f} mm")

# %%
# A picture
# ---------
# The picture shows the pairs and the curve of the equation, with the focal length that was found. A
# candle at twice the focal length has its picture at the same distance.

distance = np.linspace(0.24, 1.25, 300)
figure, ax = plt.subplots(figsize=(6.4, 4))
ax.plot(distance, lens.predict(distance[:, np.newaxis]), color="#D55E00", label=str(lens))
ax.errorbar(bench["a"], b, 0.004, 0.001, fmt=".", color="#0072B2", label="measured")
ax.plot(2 * f, 2 * f, "o", ms=13, mfc="none", mec="#5A5A5A", label="a = b = 2 f")
ax.set(xlabel="a, candle to lens (m)", ylabel="b, lens to picture (m)")
ax.legend()
plt.show()

# %%
# What would break it
# -------------------
# A zero that is off. Say the ruler begins a centimetre behind the middle of the lens:

shifted = bench + 0.01
print(LawFinder().fit(shifted, b).laws_[0])
print(check_law("1/a + 1/b = 1/f", shifted, b).verdict)
print(check_law("1/(a - s) + 1/b = 1/f", shifted, b).verdict)

# %%
# The finder gives a curve of the same kind, but the coefficient of 1/a is far from one: a reason to
# look closer. The check says that the textbook's equation does not hold. With a shift s in it, the
# equation holds: s is 11 mm, and the focal length is as before.
#
# A narrow range. Candles further away than 60 cm are not enough:

far = bench["a"] > 0.6
print(LawFinder().fit(bench[far], b[far]).verdict_)
