"""
A table without a law
=====================

Most tables obey no short equation. If you try enough equations, one will fit by chance, so a method
that always answers misleads you. What does the finder say if there is nothing to find? And what if
there is something, but no law?
"""

# %%
# Nothing to find
# ---------------
# Four columns and a target that has nothing to do with them. Eighty rows, as many as a summer of
# measurements gives:

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from vanishing import LawFinder
from vanishing.plot import LawFrontDisplay

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(size=(80, 4)), columns=["a", "b", "c", "d"])
y = pd.Series(rng.normal(size=80), name="y")

finder = LawFinder().fit(X, y)
print(finder.laws_, finder.verdict_)

# %%
# A polynomial of degree three, which has 35 coefficients, always gives an answer. It explains two
# fifths of the variance of these rows, and on other rows its predictions are worse than the mean:

cubic = make_pipeline(PolynomialFeatures(3), LinearRegression()).fit(X, y)
print(f"R2 on these rows {cubic.score(X, y):.2f}, ", end="")
print(f"on others {cross_val_score(cubic, X, y, cv=10).mean():.2f}")

# %%
# The finder looked at equations of that kind, too. With more terms the error falls, as it always
# does, but not by much, and no equation stands out:

LawFrontDisplay.from_estimator(finder)
plt.show()

# %%
# These rows are no exception. Of thirty tables like this one, the finder claims a law in

claims = 0
for _ in range(30):
    table, target = rng.uniform(size=(80, 4)), rng.normal(size=80)
    claims += bool(LawFinder(functions=()).fit(table, target).laws_)
print(claims)

# %%
# Something, but no law
# ---------------------
# The height of the land at 500 places, as a map would give it, read to 2 cm. Heights are not
# random: around every place there is a smooth hill or valley.

hills, heights = rng.uniform(size=(12, 2)), rng.normal(size=12)
land = pd.DataFrame(rng.uniform(size=(500, 2)), columns=["east", "north"])
squares = ((land.to_numpy()[:, np.newaxis] - hills) ** 2).sum(axis=2)
z = np.exp(-squares / 0.05) @ heights + rng.normal(scale=0.02, size=500)
z = pd.Series(z, name="z")

boosted = cross_val_score(GradientBoostingRegressor(random_state=0), land, z, cv=10)
map_maker = LawFinder().fit(land, z)
print(f"R2 of boosted trees on other rows: {boosted.mean():.2f}")
print(map_maker.laws_, map_maker.verdict_)
print(f"noise {map_maker.noise_[-1]:.3f}")

# %%
# The map has noise of 2 cm, and so says the finder: it followed the land well enough to know how
# much of z is noise. But no equation of a dozen terms leaves only that noise. Here you draw a map
# or train a regressor, and do not speak of a law.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
axes[0].scatter(X["a"], y, s=14, color="#0072B2")
axes[0].set(xlabel="a", ylabel="y", title="nothing to find")
points = axes[1].scatter(land["east"], land["north"], c=z, s=14, cmap="cividis")
axes[1].set(xlabel="east", ylabel="north", title="something, but no law")
figure.colorbar(points, ax=axes[1], label="z")
plt.show()

# %%
# Why that is an answer
# ---------------------
# "None" comes with a reason, and the reason tells you what to do next:
#
# - *explains half of the target's variance*, as in the first table: look for columns that matter;
# - *leaves only noise*, as in the second: draw a map, or split the range into parts;
# - *so many terms that it could be any smooth function*: take more rows, or measure better;
# - *several different equations explain the table equally well*: take wider ranges, and vary the
#   columns one by one.
#
# .. admonition:: What would break it
#
#    Repeating the question. A law is claimed if it is clearly better than others in *this* table.
#    If you try a thousand tables of noise, or a thousand columns, and show the best, you show
#    chance.
