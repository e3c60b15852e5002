"""
Patients with an odd thyroid
============================

The table *thyroid* of the UCI repository in the form of the collection ADBench: six measurements of
3,772 patients, 93 of whom have a thyroid that works too much. The labels are used at the end only.

.. image:: ../images/outliers_thyroid.png
   :alt: Scores of patients with the threshold, and the columns to blame

This page is run where the table is at hand, as ``outliers/thyroid.csv.gz`` in the folder that the
environment variable ``VANISHING_DATA`` names; the picture above was made by it.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from vanishing import VanishingOutlierDetector
from vanishing.plot import OutlierDisplay

table = pd.read_csv(Path(os.environ["VANISHING_DATA"]) / "outliers" / "thyroid.csv.gz")
patients, is_ill = table.drop(columns="outlier"), table["outlier"] == 1

# %%
# Two patients of a hundred may be called odd although they are not.

detector = VanishingOutlierDetector(false_alarm_rate=0.02, random_state=0).fit(patients)
scores = detector.score_samples(patients)
flagged = scores < detector.offset_
print(f"{flagged.sum()} patients are flagged, {(flagged & is_ill).sum()} of them ill.")
print(f"Area under the ROC curve: {roc_auc_score(is_ill, -scores):.3f}")

# %%
# What is odd about the five oddest ones?

for row in np.argsort(scores)[:5]:
    reason = detector.explain(patients.iloc[[row]])[0][0]
    shares = sorted(reason["shares"].items(), key=lambda item: -item[1])[:2]
    said = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    print(
        f"row {row} ({'ill' if is_ill[row] else 'not ill'}): {reason['kind']}, "
        f"{' or '.join(reason['columns'])}; shares of the score: {said}"
    )

# %%
display = OutlierDisplay.from_estimator(detector, patients)
plt.show()
