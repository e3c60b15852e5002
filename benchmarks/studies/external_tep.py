"""Tennessee Eastman process: d00.dat trains; d01_te.dat to d21_te.dat have a fault from row 161.

Beside ours T2 and Q of principal components see the same rows (`outlier_plant`), with limits from
the training rows.
"""

import re
import time
from functools import lru_cache

import numpy as np
from external_records import Case, Published, Suite, SuiteError, file_of, files_of, mean
from outlier_plant import PrincipalComponents

from vanishing import VanishingOutlierDetector

COLUMNS = 52
FAULT = 160  # rows before it
HARD = (3, 9, 15)  # faults that change next to nothing
STEADY = 6  # alarms one after the other that count as a detection
PEER = "T2 and Q of principal components"

PUBLISHED = (
    Published(
        "published detection rates",
        "not repeated here",
        "they differ in limits, columns and share of false alarms; the peer is measured instead",
    ),
)


def problems(folder):
    """Yield names, and what reads each: the normal run first, then the faults."""
    training = file_of(folder, "d00.dat", "D00.DAT")
    tests = files_of(training.parent, "d*_te.dat", "D*_TE.DAT")
    if training.name in {path.name for path in tests}:
        raise SuiteError(f"{folder}: give the folder that has d00.dat and the files d.._te.dat.")
    for path in tests:
        yield path.stem, lambda path=path: run_of(path, training)


def run_of(path, training):
    """Return the training file, the fault's number, and the rows of a run."""
    match = re.match(r"d(\d+)_te$", path.stem, re.IGNORECASE)
    if match is None:
        raise ValueError("is not called d.._te.dat.")
    _detectors(training)  # without them no file can be judged
    return training, int(match[1]), read_rows(path)


def read_rows(path):
    """Return the rows of a file; d00.dat has a line per column."""
    try:
        values = np.loadtxt(path, ndmin=2)
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path.name} cannot be read: {problem}") from None
    if values.shape[1] != COLUMNS and values.shape[0] == COLUMNS:
        values = values.T
    if values.shape[1] != COLUMNS:
        raise ValueError(f"{path.name} has {values.shape[0]} lines of {values.shape[1]} numbers.")
    if not np.isfinite(values).all():
        raise ValueError(f"{path.name} has cells that are no finite numbers.")
    return values


def _detectors(training):
    """Return both detectors, fitted to the training rows, and seconds of ours."""
    return _fitted(training, training.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _fitted(training, changed):
    """Fit both, once for all files."""
    try:
        X = read_rows(training)
    except ValueError as problem:
        raise SuiteError(f"{training}: {problem}") from None
    begun = time.process_time()
    ours = VanishingOutlierDetector(random_state=0).fit(X)
    return ours, PrincipalComponents().fit(X), time.process_time() - begun


def answer(name, run) -> list[Case]:
    """Return the share of alarms before and after the fault, and when it is detected."""
    training, fault, X = run
    ours, peer, fitting = _detectors(training)
    begun = time.process_time()
    alarms = {"ours": ours.predict(X) == -1}
    seconds = time.process_time() - begun
    alarms[PEER] = peer.scores(X) < -1.0
    begins = FAULT if fault else len(X)
    values = {"fault": fault, "fitting": fitting}
    for label, raised in alarms.items():
        values[label] = {
            "false alarms": float(np.mean(raised[:begins])),
            "normal rows": begins,
            "detected": float(np.mean(raised[begins:])) if fault else float("nan"),
            "after": _detection(raised[begins:]) if fault else None,
        }
    own = values["ours"]
    shown = f"false alarms {own['false alarms']:.3f}"
    if fault:
        shown += f", detected in {own['detected']:.3f} of its rows, after {own['after']} rows"
    return [Case(name, "measured", seconds, shown, f"{len(X)} rows", values)]


def _detection(raised):
    """Return the row of the first of some alarms one after the other, or None."""
    if len(raised) < STEADY:
        return None
    steady = np.convolve(raised.astype(int), np.ones(STEADY, int), "valid") == STEADY
    return int(np.argmax(steady)) if steady.any() else None


def figures(cases):
    """Return means over the faults."""
    good = [case.values for case in cases if case.values]
    faults = [values for values in good if values["fault"]]
    shown = {}
    for label in ("ours", PEER):
        normal = [v[label] for v in good]
        rows = sum(v["normal rows"] for v in normal)
        false = sum(v["false alarms"] * v["normal rows"] for v in normal) / max(rows, 1)
        seen = sum(v[label]["after"] is not None for v in faults)
        easy = [v[label]["detected"] for v in faults if v["fault"] not in HARD]
        shown[f"{label}: false alarms where there is no fault"] = f"{false:.2%} of {rows} rows"
        shown[f"{label}: rows of faults with an alarm, mean"] = (
            f"{mean(v[label]['detected'] for v in faults):.2%} of {len(faults)} faults; "
            f"without {', '.join(map(str, HARD))}: {mean(easy):.2%}"
        )
        shown[f"{label}: faults with {STEADY} alarms one after the other"] = (
            f"{seen} of {len(faults)}"
        )
    missed = [f"{v['fault']}" for v in faults if v["ours"]["after"] is None]
    shown["ours: faults that are not detected"] = ", ".join(missed) or "none"
    if good:
        shown["ours: seconds of the fit"] = f"{good[0]['fitting']:.2f}"
    return shown


SUITE = Suite(
    "tep",
    "Tennessee Eastman: alarms in a chemical plant",
    "trained on d00.dat, defaults, 1 % false alarms asked, row by row without lags; all 52 columns",
    PUBLISHED,
    problems,
    answer,
    figures,
)
