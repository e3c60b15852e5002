"""ADBench's classical tables: files NN_name.npz with rows X and labels y (1: outlier).

As in `outliers.py`: unsupervised (fitted to all rows, asked about them) and novelty (fitted to half
of the normal rows, asked about all others). Of large tables 10,000 rows are drawn, as ADBench does.
Beside ours an isolation forest and the distance to the fifth neighbour see the same rows.
"""

import time
import zipfile

import numpy as np
from external_records import Case, Published, Suite, files_of, inside, mean
from outliers import OURS, detectors, halves, scores_of
from sklearn.metrics import roc_auc_score

LARGEST = 10_000
PEERS = (OURS, "IsolationForest", "neighbours, k = 5")
RATE = 0.01  # of false alarms, which our detector promises

PUBLISHED = (
    Published(
        "DTE-NP (distances to neighbours)",
        "mean AUC .7215 unsupervised, .8149 novelty",
        "DDAE, arXiv 2508.00758, table 1: all 57 tables, those of images and texts with them",
    ),
    Published("DDPM", "mean AUC .7001 unsupervised, .7792 novelty", "the same"),
    Published("DDAE", "mean AUC .7408 unsupervised, .8317 novelty", "the same"),
)


def problems(folder):
    """Yield names, and what reads each."""
    for path in files_of(folder, "*.npz"):
        yield inside(folder, path), lambda path=path: table_of(path)


def table_of(path):
    """Return rows and labels of a file."""
    try:
        with np.load(path, allow_pickle=False) as data:
            missing = [key for key in ("X", "y") if key not in data.files]
            if missing:
                raise ValueError(f"has no array {missing[0]!r}; it has {', '.join(data.files)}.")
            X, y = data["X"], data["y"]
    except (OSError, EOFError, zipfile.BadZipFile) as problem:
        raise ValueError(f"is no npz file: {problem}") from None
    try:
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float).ravel()
    except (TypeError, ValueError):
        raise ValueError(
            f"X is of {X.dtype}, y of {y.dtype}, where numbers are expected."
        ) from None
    X = X.reshape(len(X), -1) if X.ndim > 1 else X
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"X has the shape {X.shape}, y {y.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("X has cells that are no finite numbers.")
    if set(np.unique(y)) != {0.0, 1.0}:
        raise ValueError("y has to have 0 (normal) and 1 (outlier).")
    if min(np.sum(y == 0) // 2, np.sum(y == 1)) < 2:
        raise ValueError("has too few normal rows, or outliers.")
    y = y.astype(int)
    if len(X) > LARGEST:
        kept = np.sort(np.random.default_rng(0).choice(len(X), LARGEST, replace=False))
        X, y = (X[kept], y[kept]) if 0 < y[kept].sum() < LARGEST else (X, y)
    return X, y


def answer(name, table) -> list[Case]:
    """Return areas of the detectors, and the false alarms of ours."""
    X, y = table
    train, rest = halves(y, 0)
    values, seconds = {}, 0.0
    for label in PEERS:
        maker = detectors()[label]
        begun = time.process_time()
        every = maker().fit(X)
        unsupervised = roc_auc_score(y, -scores_of(every, X, training=True))
        novel = maker().fit(X[train])
        novelty = roc_auc_score(y[rest], -scores_of(novel, X[rest], training=False))
        values[label] = [unsupervised, novelty, time.process_time() - begun]
        if label == OURS:
            seconds = values[label][2]
            alarms = novel.predict(X[rest]) == -1
            values["false alarms"] = float(np.mean(alarms[y[rest] == 0]))
            values["recall"] = float(np.mean(alarms[y[rest] == 1]))
    ours = values[OURS]
    shown = f"area {ours[0]:.3f} unsupervised, {ours[1]:.3f} novelty; false alarms "
    shown += f"{values['false alarms']:.4f}"
    return [Case(name, "measured", seconds, shown, f"{X.shape[0]} x {X.shape[1]}", values)]


def figures(cases):
    """Return means over the tables."""
    good = [case for case in cases if case.values]
    shown = {}
    for label in PEERS:
        areas = [case.values[label] for case in good]
        shown[f"{label}: mean area, unsupervised and novelty"] = (
            f"{mean(a[0] for a in areas):.4f}, {mean(a[1] for a in areas):.4f} "
            f"({mean(a[2] for a in areas):.2f} s a table)"
        )
    false = [case.values["false alarms"] for case in good]
    shown[f"{OURS}: false alarms on fresh normal rows, {RATE:.0%} asked"] = (
        f"mean {mean(false):.4f}, largest {max(false, default=float('nan')):.4f}"
    )
    shown[f"{OURS}: share of outliers with an alarm, novelty"] = (
        f"{mean(case.values['recall'] for case in good):.3f}"
    )
    failed = [case.name for case in cases if case.outcome == "failed"]
    return shown | {"tables": f"{len(good)}, failed: {', '.join(failed) or 'none'}"}


SUITE = Suite(
    "adbench",
    "ADBench: which rows are outliers?",
    f"defaults, no tuning; one split; at most {LARGEST:,} rows of a table",
    PUBLISHED,
    problems,
    answer,
    figures,
)
