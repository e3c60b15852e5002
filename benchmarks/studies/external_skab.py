"""SKAB (a water loop with valves): CSV files with ; between cells, eight sensors and labels.

The first 400 rows of each file train; alarms of all its rows are counted, as the suite's own table
does, the training rows with them, and also without them. Its isolation forest takes the median of
three predictions; so does one line here.
"""

import time

import numpy as np
from external_monitoring import rates, smoothed
from external_records import (
    Case,
    Published,
    Suite,
    SuiteError,
    files_of,
    inside,
    mean,
    read_numbers,
    table_of_numbers,
)

from vanishing import VanishingOutlierDetector

TRAINING = 400
ANOMALY = ("anomaly", "is_anomaly")
OTHER = ("datetime", "changepoint", "is_changepoint", "is_pa")

_TABLE = "SKAB's own table (README, v0.9): trained on the first 400 rows, no tuning, all rows count"
PUBLISHED = (
    Published("Conv-AE", "F1 .79, false alarms 13.69 %, missed 17.77 %", _TABLE),
    Published("MSET", "F1 .73, 20.82 %, 20.08 %", _TABLE),
    Published("LSTM-AE", "F1 .68, 14.24 %, 35.56 %", _TABLE),
    Published("T-squared + Q (PCA)", "F1 .67, 13.95 %, 36.32 %", _TABLE),
    Published("MSCRED", "F1 .64, 13.56 %, 41.16 %", _TABLE),
    Published("T-squared", "F1 .56, 12.14 %, 52.56 %", _TABLE),
    Published("isolation forest", "F1 .40, 6.86 %, 72.09 %", _TABLE),
)


def problems(folder):
    """Yield names, and what reads each."""
    paths = [path for path in files_of(folder, "*.csv") if "anomaly-free" not in path.as_posix()]
    if not paths:
        raise SuiteError(f"{folder}: no CSV file with labels.")
    for path in paths:
        yield inside(folder, path), lambda path=path: table_of(path)


def table_of(path):
    """Return the sensors and the labels of a file."""
    header, cells = read_numbers(path, ";")
    label = next((header.index(name) for name in ANOMALY if name in header), None)
    if label is None:
        raise ValueError(f"has no column {' or '.join(ANOMALY)}; it has {', '.join(header)}.")
    kept = [j for j, name in enumerate(header) if j != label and name not in OTHER]
    if not kept:
        raise ValueError("has no sensors.")
    X = table_of_numbers([[line[j] for j in kept] for line in cells], [header[j] for j in kept])
    y = table_of_numbers([[line[label]] for line in cells], [header[label]])[:, 0]
    if not np.isfinite(X).all() or not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("has cells that are no finite numbers, or labels that are not 0 or 1.")
    if len(X) <= TRAINING:
        raise ValueError(f"has {len(X)} rows; the first {TRAINING} train.")
    return X, y == 1.0


def answer(name, table) -> list[Case]:
    """Train on the first rows of a file, and count the alarms of all."""
    X, wrong = table
    begun = time.process_time()
    model = VanishingOutlierDetector(random_state=0).fit(X[:TRAINING])
    alarms = model.predict(X) == -1
    seconds = time.process_time() - begun
    found = rates(alarms[TRAINING:], wrong[TRAINING:])
    values = {"alarms": alarms.tolist(), "wrong": wrong.tolist()} | found
    shown = ", ".join(f"{key} {value:.3f}" for key, value in found.items())
    return [Case(name, "measured", seconds, shown, f"{len(X)} rows", values)]


def figures(cases):
    """Return rates over the rows of all files."""
    good = [case for case in cases if case.values]
    if not good:
        return {"files": "0"}
    alarms = [np.array(case.values["alarms"]) for case in good]
    wrong = [np.array(case.values["wrong"]) for case in good]
    smooth = [smoothed(a) for a in alarms]
    shown = {}
    for words, raised, start in (
        ("all rows, as the suite counts", alarms, 0),
        ("all rows, median of three", smooth, 0),
        ("without the training rows", alarms, TRAINING),
    ):
        found = rates(
            np.concatenate([a[start:] for a in raised]), np.concatenate([w[start:] for w in wrong])
        )
        shown[words] = (
            f"F1 {found['F1']:.3f}, false alarms {found['false alarms']:.2%}, "
            f"missed {found['missed']:.2%}"
        )
    training = np.concatenate([(a & ~w)[:TRAINING] for a, w in zip(alarms, wrong, strict=True)])
    shown["alarms in the training rows, 1 % asked of normal rows"] = f"{training.mean():.2%}"
    shown["files"] = f"{len(good)} ({mean(case.seconds for case in good):.2f} s each)"
    return shown


SUITE = Suite(
    "skab",
    "SKAB: alarms in a water loop",
    f"the first {TRAINING} rows of each file train, defaults (1 % false alarms asked), "
    "no lags, no tuning; rates over the rows of all files together",
    PUBLISHED,
    problems,
    answer,
    figures,
)
