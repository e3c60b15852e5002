"""
How an epidemic moves
=====================

Susceptible people meet infected ones and fall ill; the infected recover. The model is a hundred
years old and has two numbers, and both of them matter to everybody. How well do noisy counts of six
outbreaks tell them, and what can one outbreak not tell?
"""

# %%
# Six outbreaks
# -------------
# Shares of the people who are susceptible, infected and recovered, on eighty days of each outbreak,
# with an error of 1 % of the spread of each share.

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
# within their errors, which nobody told the search. The basic reproduction number is the ratio of
# the rates of infection and of recovery, 3 in truth:

rates = dict(zip(model.equations_[1].terms, model.equations_[1].coef, strict=True))
print(f"reproduction number {-rates['s*i'] / rates['i']:.3f}")
EquationsOfMotionDisplay.from_estimator(model, X, t, outbreak)
plt.show()

# %%
# What the runs do not determine
# ------------------------------
# The three shares add up to the same number in each outbreak. A term of one of them can be written
# with the others, and no number of outbreaks of the same size would tell these apart. The estimator
# names the combination that does not move:

print(model.ambiguous_)

# %%
# `ConservedQuantities`, which knows no times, finds the same:

print(*ConservedQuantities(max_degree=1).fit(X, groups=outbreak).quantities_)

# %%
# If the rates are to be the same number by construction, say so: with ``shared`` they are fitted as
# one, and known better.

terms = [("s*i in ds/dt", "s*i in di/dt"), ("i in di/dt", "i in dr/dt")]
shared = EquationsOfMotion(shared=terms).fit(X, t, groups=outbreak)
for equation in shared.equations_:
    print(equation)

# %%
# One outbreak alone
# ------------------
# The same fit to one outbreak has the right terms, and the verdict is more careful. A run is one
# line through the space of all states, and more than one field has that line.

first = outbreak == 0
alone = EquationsOfMotion().fit(X[first], t[first])
for equation in alone.equations_:
    print(f"{equation}   (evidence {equation.evidence:.1f})")
print(alone.verdict_)
