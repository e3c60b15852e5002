"""
How an epidemic moves
=====================

Susceptible people meet infected ones and fall ill; the infected recover. The model is a hundred
years old and has two numbers, and both of them matter to everybody. How well do noisy counts of six
outbreaks determine them, and what does one outbreak leave open?
"""

# %%
# Six outbreaks
# -------------
# The columns are the shares of people who are susceptible, infected and recovered, on eighty days
# of each outbreak. Each has an error of 1 % of its spread.

import matplotlib.pyplot as plt
import pandas as pd

from vanishing import ConservedQuantities, EquationsOfMotion
from vanishing.datasets import make_motion
from vanishing.plot import EquationsOfMotionDisplay

X, t, outbreak = make_motion("epidemic", 6, 80, noise=0.01, random_state=1)
X = pd.DataFrame(X, columns=["s", "i", "r"])
model = EquationsOfMotion().fit(X, t, groups=outbreak)
for equation in model.equations_:
    print(equation)
print(model.verdict_)

# %%
# People who fall ill leave one share and join another: 0.8987(7) and 0.9004(7) are the same number
# within their errors, though the search did not know that they should be. The basic reproduction
# number is the ratio of the rates of infection and of recovery, 3 in truth:

rates = dict(zip(model.equations_[1].terms, model.equations_[1].coef, strict=True))
print(f"reproduction number {-rates['s*i'] / rates['i']:.3f}")
EquationsOfMotionDisplay.from_estimator(model, X, t, outbreak)
plt.show()

# %%
# What the runs do not determine
# ------------------------------
# The three shares add up to the same number in each outbreak. So a term in one of them can also be
# written with the others, and more outbreaks of the same size do not help. The estimator names the
# combination that does not move:

print(model.ambiguous_)

# %%
# `ConservedQuantities`, which uses no times, finds the same:

print(*ConservedQuantities(max_degree=1).fit(X, groups=outbreak).quantities_)

# %%
# If you know that the two rates are the same number, say so with ``shared``. They are then fitted
# as one, with a smaller error.

terms = [("s*i in ds/dt", "s*i in di/dt"), ("i in di/dt", "i in dr/dt")]
shared = EquationsOfMotion(shared=terms).fit(X, t, groups=outbreak)
for equation in shared.equations_:
    print(equation)

# %%
# One outbreak alone
# ------------------
# The same fit to one outbreak has the right terms, and the verdict is more careful. A run is one
# curve through the space of all states, and several different equations follow that curve.

first = outbreak == 0
alone = EquationsOfMotion().fit(X[first], t[first])
for equation in alone.equations_:
    print(f"{equation}   (evidence {equation.evidence:.1f})")
print(alone.verdict_)
