"""
Predators and prey
==================

Foxes eat rabbits, rabbits multiply. In the model of Lotka and Volterra both numbers go up and down
for ever, and they conserve a quantity that nobody would guess. We look for it in noisy counts, then
for the equations of motion, and last for those of twenty-one years of real counts.
"""

# %%
# The counts
# ----------
# Rabbits x grow at a rate of 0.8 and are eaten at 0.5 times the number of foxes y; foxes die at a
# rate of 0.6 and grow at 0.3 times the number of rabbits. Twenty valleys start with different
# numbers (in hundreds). Counts are wrong by 1 % of their spread.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from vanishing import ConservedQuantities, EquationsOfMotion
from vanishing.plot import (
    ConservedQuantitiesDisplay,
    EquationsOfMotionDisplay,
    PhasePortraitDisplay,
)

rng = np.random.default_rng(0)
t = np.linspace(0, 12, 60)


def change(t, numbers):
    """Return how fast numbers change."""
    x, y = numbers
    return [x * (0.8 - 0.5 * y), y * (0.3 * x - 0.6)]


valleys = []
for valley in range(20):
    begin = rng.uniform([1.0, 0.8], [3.5, 3.0])
    motion = solve_ivp(change, (0, 12), begin, t_eval=t, rtol=1e-10, atol=1e-10)
    rows = pd.DataFrame(motion.y.T, columns=["x", "y"])
    valleys.append(rows.assign(t=t, valley=valley))
rows = pd.concat(valleys, ignore_index=True)
X = rows[["x", "y"]]
X = X + 0.01 * X.std().to_numpy() * rng.normal(size=X.shape)

# %%
# What stays the same
# -------------------
# No polynomial is conserved. With logarithms, there is one quantity:

print(ConservedQuantities(max_degree=3).fit(X, groups=rows["valley"]).verdict_)
model = ConservedQuantities(functions=("log",)).fit(X, groups=rows["valley"])
print(model.verdict_)
(quantity,) = model.quantities_
print(quantity)

# %%
# In truth it is 0.8 log(y) + 0.6 log(x) - 0.5 y - 0.3 x, up to a factor: divided by 0.8 the
# coefficients are 1, 0.75, -0.625 and -0.375. So counts without times are enough to find the ratios
# of all four rates.

for name, value, std in zip(quantity.terms, quantity.coef, quantity.coef_std, strict=True):
    print(f"{name:7} {value:7.4f} +- {std:.4f}")
ConservedQuantitiesDisplay.from_estimator(model, X, rows["valley"], rows["t"])
plt.show()

# %%
# Its level curves are the cycles that the valleys go through:

PhasePortraitDisplay.from_estimator(model, X, rows["valley"])
plt.show()

# %%
# A model that is wrong
# ---------------------
# If rabbits also run out of grass, the cycles spiral inwards, and nothing is conserved:

valleys = []
for _ in range(20):
    begin = rng.uniform([1.0, 0.8], [3.5, 3.0])
    motion = solve_ivp(
        lambda t, n: [change(t, n)[0] - 0.05 * n[0] ** 2, change(t, n)[1]],
        (0, 12),
        begin,
        t_eval=t,
        rtol=1e-10,
        atol=1e-10,
    )
    valleys.append(motion.y.T)
spirals = np.vstack(valleys)
none = ConservedQuantities(functions=("log",)).fit(spirals, groups=rows["valley"])
print(none.quantities_, none.verdict_)

# %%
# How do the numbers move?
# ------------------------
# With times, `EquationsOfMotion` finds the rates themselves, and shows whether rabbits run out of
# grass:

spirals = pd.DataFrame(spirals, columns=["x", "y"])
spirals = spirals + 0.01 * spirals.std().to_numpy() * rng.normal(size=spirals.shape)
for numbers in (X, spirals):
    moving = EquationsOfMotion().fit(numbers, rows["t"], groups=rows["valley"])
    print(*moving.equations_, sep="\n")
    print(moving.verdict_)

# %%
# Lynx and hare
# -------------
# The most famous table of predators and prey: pelts, in thousands, that the Hudson's Bay Company
# took in from 1900 to 1920 (Hewitt, *The Conservation of the Wild Life of Canada*, 1921).

hare = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1]
hare += [40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
lynx = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4]
lynx += [8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
pelts = pd.DataFrame({"hare": hare, "lynx": lynx})
years = np.arange(1900.0, 1921.0)
print(EquationsOfMotion().fit(pelts, years).verdict_)

# %%
# Twenty-one rows are too few to find both the noise and the equations: several equations follow the
# counts equally well. If you know how wrong such counts are, give the noise. With noise of five
# thousand hares and four thousand lynx, and polynomials of degree 2, the answer is the equations of
# Lotka and Volterra. They follow the years in two pieces, each with its own start:

model = EquationsOfMotion(max_degree=2, functions=(), noise=[5.0, 4.0]).fit(pelts, years)
print(*model.equations_, sep="\n")
print(model.verdict_)
EquationsOfMotionDisplay.from_estimator(model, pelts, years)
plt.show()

# %%
# The verdict is the weaker one, and it is right. If functions and higher powers are allowed,
# another equation follows the hares as well, in which they fall with the square of the lynx:

other = EquationsOfMotion(noise=[5.0, 4.0]).fit(pelts, years)
print(*other.equations_, sep="\n")
print(other.verdict_)

# %%
# The counts show two things. Equations of two terms each follow them within the noise that was
# given. And lynx grow with the product of both numbers, at rates that hardly change between the
# fits. The counts do not show that hares decline in proportion to lynx, since another equation does
# as well. They do not show that lynx make hares decline at all, since nobody measured food, weather
# and trappers. And they do not show what happens outside of these two cycles. Pelts are not
# animals, and one run cannot be held out.
