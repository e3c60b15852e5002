"""
Gaps and slips in a table of pump tests
=======================================

The table has flow, speed, power and losses of a pump. A tenth of the cells got lost, and in some
rows a decimal point has slipped. What should the values be?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import KNNImputer

from vanishing import VanishingRepair

rng = np.random.default_rng(0)
flow, speed = rng.uniform(1, 3, (2, 600))
true = pd.DataFrame({"flow": flow, "speed": speed, "power": flow * speed, "loss": flow**2})
pump = true * (1 + 0.005 * rng.normal(size=true.shape))
slipped = rng.choice(600, 12, replace=False)
pump.loc[slipped, "loss"] *= 10
gaps = rng.random(pump.shape) < 0.1
gaps[slipped] = False
table = pump.mask(gaps)

# %%
# The laws come from the rows that have all cells and obey them.

repair = VanishingRepair().fit(table)
for law in repair.laws_:
    print(law)

# %%
# The report has one line per cell: the old value, the new one, its standard error, and the law
# behind it. If no law determines a gap, the other rows do, and the error is larger.

cells = repair.report(table)
for cell in [c for c in cells if c.kind == "wrong"][:3] + cells[:4]:
    print(cell)

# %%
# Filled values against true ones, and the same for nearest neighbours.

answers = {"laws": repair.transform(table), "neighbours": KNNImputer().fit_transform(table)}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), sharex=True, sharey=True)
power = gaps[:, 2]
for ax, (name, filled) in zip(axes, answers.items(), strict=True):
    off = ((filled - true) / true.std()).to_numpy()[gaps]
    ax.axline((2, 2), slope=1, color="0.7", linewidth=1)
    ax.scatter(true["power"][power], filled[power, 2], s=14, color="#0072B2")
    ax.set(title=f"{name}: rms error {np.sqrt(np.mean(off**2)):.2f} spreads", xlabel="true power")
axes[0].set_ylabel("power that was filled in")
plt.show()
