"""
Which sensor of the plant failed, and when?
===========================================

A plant has twenty sensors: two tanks, a reactor and a cooler. There is one row per minute, and it
follows from the row before. Five things go wrong: a sensor is stuck, one is off, one drifts, a pipe
leaks, and one reports in another unit for a while. A detector that learned from quiet hours gathers
its alarms into events, and names the sensors to blame.
"""

# %%
# The log
# -------
# Six balances hold, two of them between one minute and the next. About one row in a hundred has a
# missing cell.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from vanishing import VanishingOutlierDetector
from vanishing.datasets import make_plant

run = make_plant(4000, missing=0.01, random_state=0)
log = pd.DataFrame(run.X, columns=run.columns)
times = pd.Timestamp("2024-05-01") + pd.to_timedelta(run.t, unit="min")
quiet = log[:2000]
print(f"{len(log)} rows, {log.isna().any(axis=1).mean():.0%} of them have a gap")

# %%
# What was learned
# ----------------
# With ``lags=1`` each row also has the values of the row before, ``level_1[t-1]`` and so on. With
# ``missing="ignore"`` rows with gaps are judged by the columns that they have.

detector = VanishingOutlierDetector(lags=1, missing="ignore", random_state=0).fit(quiet)
for law in detector.laws_:
    print(law)

# %%
# Events
# ------
# Each event has its first and last row, the columns that may be to blame with their probabilities,
# and the expected value at its worst row. Below each of the five gravest is its true fault.

events = detector.events(log, times)
for event in events[:6]:
    print(f"{event.times[0]:%a %H:%M} to {event.times[1]:%a %H:%M}  {event.sentence}")
    for fault in run.faults:
        if fault.start <= event.end and event.start <= fault.end:
            print(f"    in truth: {fault.kind}, {' or '.join(fault.columns)}")

# %%
# The scores over time, with the true faults as grey bands and the five gravest events named:

scores = detector.score_samples(log)
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for fault in run.faults:
    axes.axvspan(times[fault.start], times[fault.end], color="0.85", zorder=0)
is_alarm = scores < detector.offset_
axes.plot(times[~is_alarm], scores[~is_alarm], ".", color="0.55", markersize=2, label="normal")
axes.plot(times[is_alarm], scores[is_alarm], ".", color="C3", markersize=4, label="alarm")
axes.axhline(detector.offset_, color="C0", linestyle="--", linewidth=1)
low = np.nanmin(scores)
for place, event in enumerate(sorted(events[:5], key=lambda event: event.start)):
    name = event.columns[0] + (" (stuck)" if event.kind == "stuck value" else "")
    axes.annotate(
        name,
        (times[(event.start + event.end) // 2], low * (0.99 if place % 2 else 0.89)),
        ha="center",
        fontsize=9,
    )
axes.set(ylabel="score (lower is odder)", ylim=(1.06 * low, None))
axes.legend(loc="lower left", frameon=False, markerscale=3)
figure.autofmt_xdate(rotation=0, ha="center")
plt.show()
