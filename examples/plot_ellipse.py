"""
An ellipse with noise in both columns
=====================================

The two stars of a double star go round each other in some decades. From year to year an observer
notes the place of the faint one relative to the bright one: two angles, both with errors. On which
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
# There is no target. The observer knows the instrument, and gives the size of its errors:

finder = LawFinder(noise=0.05).fit(stars)
law = finder.laws_[0]
print(finder.verdict_)

# %%
# The answer is an ellipse, with an error for each coefficient. Its half axes are the square roots
# of the reciprocals of 0.111 and 0.252, so their relative errors are half of those of the
# coefficients:

for term, true in (("x^2", 3), ("y^2", 2)):
    i = law.terms.index(term)
    axis = abs(law.coef[i]) ** -0.5
    std = axis * law.coef_std[i] / abs(law.coef[i]) / 2
    print(f"half axis {axis:.3f}, standard error {std:.3f}; in truth {true}")

# %%
# An implicit law can be solved if there is a closed form. The other half of the ellipse is the
# other branch:

upper, lower = law.solve("y"), law.solve("y", branch=-1)
print(upper)

figure, ax = plt.subplots(figsize=(6.4, 4.4))
x = np.linspace(-3, 3, 601)
ax.scatter(stars["x"], stars["y"], s=8, color="#0072B2", alpha=0.6, linewidths=0, label="measured")
for half, label in ((upper, str(law)), (lower, None)):
    ax.plot(x, half.predict(pd.DataFrame({"x": x})), color="#D55E00", label=label)
ax.set(aspect="equal", xlabel="x (seconds of arc)", ylabel="y (seconds of arc)")
ax.legend(loc="center")
plt.show()

# %%
# What would break it
# -------------------
# A quarter of the orbit is enough, if the rows are as good as these:

quarter = stars[(stars["x"] > 0) & (stars["y"] > 0)]
print(f"{len(quarter)} rows: {LawFinder(noise=0.05).fit(quarter).laws_[0]}")

# %%
# The law is lost if the errors are larger than you say. Here they are 0.05. First we say 0.03. Then
# we give no noise, so that it has to be estimated, which needs more rows. Last we do so with 1,000
# rows:

angle = rng.uniform(0, 2 * np.pi, 1000)
more = pd.DataFrame({"x": 3 * np.cos(angle), "y": 2 * np.sin(angle)})
more += rng.normal(scale=0.05, size=more.shape)
print("0.03, 300 rows:     ", LawFinder(noise=0.03).fit(stars).laws_)
print("estimated, 300 rows:", LawFinder().fit(stars).laws_)
print("estimated, 1000 rows:", LawFinder().fit(more).laws_[0])

# %%
# A tilt adds a term, and so does a shift of the centre along an axis. Five terms in two columns are
# many for a law. They are claimed only because the curve turns around: no short arc of it is
# enough.

once, twice = stars + np.array([1.0, 0.0]), stars + np.array([1.0, 0.5])
print(LawFinder(noise=0.05).fit(once).laws_)
print(LawFinder(noise=0.05).fit(twice).laws_)
arc = twice[(twice["x"] > 1) & (twice["y"] > 0.5)]
print(LawFinder(noise=0.05).fit(arc).laws_)
