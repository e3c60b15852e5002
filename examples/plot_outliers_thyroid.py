"""
Patients with an odd thyroid
============================

The table has blood values of 2,000 patients. Forty of them have a thyroid that works too little.
The labels are used only at the end: the detector does not see them.
"""

# %%
# The table is made up, with the relations that such values have. The free thyroxine index (FTI) is
# computed from thyroxine (TT4) and its uptake (T4U). TSH and T3 go with thyroxine. In illness TSH
# rises although thyroxine falls, and in ten other rows the index was copied from another patient.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from vanishing import VanishingOutlierDetector
from vanishing.plot import OutlierDisplay

rng = np.random.default_rng(0)
n = 2000
is_ill = np.arange(n) < 40
copied = (np.arange(n) >= 40) & (np.arange(n) < 50)
patients = pd.DataFrame({"age": rng.integers(18, 90, n).astype(float)})
patients["TT4"] = rng.normal(110, 18, n) * np.where(is_ill, 0.62, 1.0)
patients["T4U"] = rng.normal(0.97, 0.1, n)
patients["T3"] = 0.018 * patients["TT4"] * np.exp(0.15 * rng.normal(size=n))
patients["TSH"] = 1.7 * np.exp(0.5 * rng.normal(size=n)) * np.where(is_ill, 5.0, 1.0)
patients["FTI"] = patients["TT4"] / patients["T4U"] * (1 + 0.01 * rng.normal(size=n))
patients.loc[copied, "FTI"] = rng.permutation(patients["FTI"])[:10]

# %%
# Two in a hundred patients may be called odd although they are not.

detector = VanishingOutlierDetector(false_alarm_rate=0.02, random_state=0).fit(patients)
scores = detector.score_samples(patients)
flagged = scores < detector.offset_
odd = is_ill | copied
print(f"{flagged.sum()} patients are flagged, {(flagged & odd).sum()} of the {odd.sum()} odd ones.")
print(f"Area under the ROC curve: {roc_auc_score(odd, -scores):.3f}")

# %%
# What is odd about one patient who is ill, and about one whose index was copied?

for row in (0, 41):
    reason = detector.explain(patients.iloc[[row]])[0][0]
    shares = sorted(reason["shares"].items(), key=lambda item: -item[1])[:2]
    blamed = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    print(f"row {row}: {reason['kind']}, {reason['law'] or 'no law'}; mostly {blamed}")

# %%
display = OutlierDisplay.from_estimator(detector, patients)
plt.show()
