"""
Anomalies as distance from the variety
======================================

A telephone at rest measures gravity and the magnetic field of the earth, three numbers each.
Physics ties the six together. A row that violates the equations is suspicious, even if each of its
values is ordinary. We compare with methods that look where the training rows are, and see what each
method misses.
"""

# %%
# The sensors
# -----------
# Gravity a and magnetic field m are measured in units of their usual lengths, so both are unit
# vectors. The angle between them is the same in any position of the telephone: the field dips by 60
# degrees below the horizon here. So ``|a| = 1``, ``|m| = 1`` and ``a m = -sin(60°) = -0.866``. The
# telephone is held in all kinds of ways, tilted by up to 120 degrees, and every sensor has an error
# of 0.01.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import LocalOutlierFactor

from vanishing import OAVI
from vanishing.plot import distance_to_variety

rng = np.random.default_rng(0)
up = np.array([0.0, 0.0, 1.0])
field = np.array([np.cos(np.radians(60)), 0.0, -np.sin(np.radians(60))])


def telephone(n_samples, least_tilt, most_tilt):
    """Return what the sensors say in random positions."""
    tilt = np.arccos(rng.uniform(*np.cos(np.radians([most_tilt, least_tilt])), n_samples))
    turn, roll = rng.uniform(0, 2 * np.pi, size=(2, n_samples))
    position = Rotation.from_euler("zyz", np.column_stack([turn, tilt, roll])).inv()
    rows = np.column_stack([position.apply(up), position.apply(field)])
    rows += rng.normal(scale=0.01, size=rows.shape)
    return pd.DataFrame(rows, columns=["ax", "ay", "az", "mx", "my", "mz"])


train, good = telephone(1000, 0, 120), telephone(500, 0, 120)

# %%
# Two kinds of anomaly:
#
# - *a sensor is off*: one of the six, chosen at random, reads 0.1 too much or too little;
# - *upside down*: all sensors are right, but the telephone is held as it never was in training,
#   tilted by 150 degrees and more.

error = np.zeros((500, 6))
error[np.arange(500), rng.integers(6, size=500)] = rng.choice([-0.1, 0.1], size=500)
sensor_off = telephone(500, 0, 120) + error
upside_down = telephone(500, 150, 180)

# %%
# The equations
# -------------
# An error of 0.01 in a value gives its square a mean square error of about 0.0004, so psi is a
# little above that.

model = OAVI(psi=0.0006, oracle="omp", max_degree=2).fit(train)
print(model.generators_)

# %%
# All three laws are there, and nothing else. Coefficients are up to a percent too small, because
# noise in the columns makes least squares shrink them.
#
# Scores
# ------
# Our score is a lower bound of the distance of a row to the set where all equations hold,
# :func:`vanishing.plot.distance_to_variety`. The others are scikit-learn's isolation forest and
# local outlier factor, trained on the same rows.

forest = IsolationForest(n_estimators=200, random_state=0).fit(train)
neighbours = LocalOutlierFactor(novelty=True).fit(train.to_numpy())
scores = {
    "distance to the variety": lambda X: distance_to_variety(model.generators_, X),
    "isolation forest": lambda X: -forest.score_samples(X),
    "local outlier factor": lambda X: -neighbours.score_samples(X.to_numpy()),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), sharey=True)
anomalies = {"a sensor is off": sensor_off, "upside down": upside_down}
for ax, (kind, bad) in zip(axes, anomalies.items(), strict=True):
    print(f"{kind}, area under the curve:")
    rows, truth = pd.concat([good, bad]), np.repeat([0, 1], [len(good), len(bad)])
    for (name, score), colour in zip(
        scores.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True
    ):
        values = score(rows)
        print(f"    {name:25}{roc_auc_score(truth, values):.3f}")
        false_alarms, found, _ = roc_curve(truth, values)
        ax.plot(false_alarms, found, color=colour, linewidth=2, label=name)
    ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="by chance")
    ax.set(title=kind, xlabel="share of good rows that raise an alarm")
axes[0].set_ylabel("share of anomalies found")
axes[0].legend(loc="lower right")
plt.show()

# %%
# A sensor that is off by a tenth breaks the equations, but its value is ordinary. In six dimensions
# a thousand rows are too far from each other for neighbours to notice. A telephone upside down
# obeys all laws of physics, and the equations do not know where the training rows were. If both
# kinds of anomaly matter to you, use both kinds of score.
