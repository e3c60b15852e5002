"""
The ends of a line are no outliers
==================================

The points lie evenly along y = x, with a little noise. The first and the last of them are as normal
as those in the middle, since they obey the law. An isolation forest calls them outliers, because
there is little around them. It does not see the rows that leave the line.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest

from vanishing import VanishingOutlierDetector

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(size=1000))
X = np.column_stack([x, x + 0.01 * rng.normal(size=1000)])
off = np.array([200, 400, 600, 800])
X[off, 1] += [0.06, -0.07, 0.08, -0.06]

# %%
# We ask both methods to call a twentieth of the rows outliers.

detectors = {
    "laws": VanishingOutlierDetector(contamination=0.05, random_state=0),
    "isolation forest": IsolationForest(contamination=0.05, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), sharey=True)
for ax, (name, detector) in zip(axes, detectors.items(), strict=True):
    flagged = detector.fit_predict(X) == -1
    ends = np.r_[flagged[:10], flagged[-10:]]
    print(
        f"{name:18}{flagged[off].sum()} of the 4 rows off the line, "
        f"{ends.sum()} of the 20 rows at its ends"
    )
    ax.scatter(*X[~flagged].T, s=6, color="0.6", label="normal")
    ax.scatter(*X[flagged].T, s=16, color="#D55E00", label="outlier")
    ax.scatter(*X[off].T, s=90, facecolors="none", edgecolors="#0072B2", label="off the line")
    ax.set(title=name, xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend()
plt.show()

# %%
# An equation also gives the reason:

detector = detectors["laws"]
print(detector.laws_[0])
reason = detector.explain(X[off[:1]])[0][0]
print(reason["kind"], reason["columns"], reason["found"], "expected", reason["expected"])
