"""
A function of your own
======================

`LawFinder` tries powers, roots, logarithms, exponentials, sines and cosines. Your field may have
another function: the logit of chemists and statisticians, the Langevin function of magnets. Here we
add both: one as a function of the target, one as a function in terms.
"""

# %%
# A share that saturates
# ----------------------
# How large a share of a weak acid has lost its proton? That depends on the pH of the solution and
# on the acid, whose strength is tabulated as pKa. Two hundred measured shares:

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vanishing
from vanishing import LawFinder

rng = np.random.default_rng(0)
acids = pd.DataFrame({"pH": rng.uniform(3.5, 6.0, 200), "pKa": rng.uniform(4.2, 5.6, 200)})
share = 1 / (1 + 10 ** (acids["pKa"] - acids["pH"]))
share = (share + rng.normal(scale=0.003, size=200)).rename("share")

print(LawFinder().fit(acids, share).verdict_)

# %%
# Shares saturate at 0 and 1; no power and no logarithm of them is a short sum of terms. The
# function that undoes such curves is the logit, log(p / (1 - p)). A function is registered with its
# derivative, which is compared with differences of its values. To be tried as a function of the
# target it needs a second derivative and an inverse, too. The inverse gets a name of its own, by
# which it is written:


def expit(v):
    """Return the share whose logit is v."""
    return 1 / (1 + np.exp(-v))


vanishing.register_function(
    "logit",
    lambda p: np.log(p / (1 - p)),
    lambda p: 1 / (p * (1 - p)),
    second_derivative=lambda p: (2 * p - 1) / (p * (1 - p)) ** 2,
    inverse=expit,
)
vanishing.register_function("expit", expit, lambda v: expit(v) * expit(-v))
vanishing.laws.register_link("logit")

finder = LawFinder().fit(acids, share)
law = finder.laws_[0]
print(law)
print(law.verdict)

# %%
# Both numbers are log(10) = 2.303, with opposite signs: the equation of Henderson and Hasselbalch,
# pH = pKa + log10(p / (1 - p)). We solve it for the pH to see this:

print(law.solve("pH"))

# %%
# All shares lie on one curve once they are plotted against the difference that the law found.

distance = np.linspace(-2.2, 1.9, 200)
figure, ax = plt.subplots(figsize=(6.4, 4))
curve = law.predict(np.column_stack([distance, np.zeros(200)]))
ax.plot(distance, curve, color="#D55E00", label=str(law))
ax.plot(acids["pH"] - acids["pKa"], share, ".", color="#0072B2", label="measured")
ax.set(xlabel="pH - pKa", ylabel="share without proton")
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# A magnet in terms
# -----------------
# A liquid contains c percent of small magnets. Their energy in a field is x times that of heat. The
# magnetisation of the liquid is c times the Langevin function of x; the cup adds a little, linear
# in x. Functions in terms need one derivative. A stage makes the search try them by itself:

vanishing.register_function(
    "langevin", lambda x: 1 / np.tanh(x) - 1 / x, lambda x: 1 / x**2 - 1 / np.sinh(x) ** 2
)
vanishing.laws.register_stage("magnets", "langevin")

liquid = pd.DataFrame({"c": rng.uniform(2, 10, 300), "x": rng.uniform(0.2, 8, 300)})
magnetisation = 4.5 * liquid["c"] * (1 / np.tanh(liquid["x"]) - 1 / liquid["x"]) - 0.8 * liquid["x"]
magnetisation = (magnetisation + rng.normal(scale=0.05, size=300)).rename("M")
by_itself = LawFinder().fit(liquid, magnetisation)
print(by_itself.verdict_)

# %%
# If you know to which column the function applies, name the column, and no stage is needed:

asked = LawFinder(functions={"x": "langevin"}).fit(liquid, magnetisation)
print(asked.verdict_)

# %%
# Files
# -----
# A file holds names of functions, never code. If a name is not known, loading says what to do:

vanishing.laws.unregister_stage("magnets")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "magnets.json")
    asked.save(path)
    vanishing.unregister_function("langevin")
    try:
        vanishing.load(path)
    except ValueError as error:
        print(str(error).replace(folder, "..."))

vanishing.laws.unregister_link("logit")
for name in ("logit", "expit"):
    vanishing.unregister_function(name)
