"""Stretches of rows that are too long to be chance: values that do not change, missing cells."""

from typing import NamedTuple

import numpy as np

from vanishing.outliers import settings


class Stretch(NamedTuple):
    """Rows from ``start`` to ``end``, both counted, and the column that is stuck or missing."""

    start: int
    end: int
    column: int


def long_runs(holds: np.ndarray) -> list[tuple[int, int]]:
    """Return the first and last places of runs that are too long to be chance.

    If a row had the property by chance, as often as the rows outside a run have it, a table would
    have a run of r rows about n_rows * share^r times.

    Parameters
    ----------
    holds : array of bool of shape (n_rows,)
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]])))
    starts, ends = edges[::2], edges[1::2]
    lengths, n_rows = ends - starts, len(holds)
    shares = (holds.sum() - lengths + 0.5) / (n_rows - lengths + 1.0)
    expected = np.log(max(n_rows, 1)) + lengths * np.log(shares)
    is_long = (expected < np.log(settings.RUN_CHANCE)) & (lengths >= settings.RUN_ROWS)
    return [(int(a), int(b) - 1) for a, b in zip(starts[is_long], ends[is_long], strict=True)]


def missing_cells(X: np.ndarray) -> list[Stretch]:
    """Return the stretches in which cells of a column are missing."""
    missing = np.isnan(X)
    places = np.flatnonzero(missing.any(axis=0))
    return [Stretch(a, b, int(j)) for j in places for a, b in long_runs(missing[:, j])]


def stuck_values(X: np.ndarray, columns: np.ndarray) -> list[Stretch]:
    """Return the stretches in which the value of a column does not change.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    columns : array of int
        Those that vary.
    """
    found = []
    for j in columns.tolist():
        known = np.flatnonzero(np.isfinite(X[:, j]))
        same = np.diff(X[known, j]) == 0.0
        found += [Stretch(int(known[a]), int(known[b + 1]), j) for a, b in long_runs(same)]
    return found


def missing_rows(times: np.ndarray) -> list[tuple[int, int]]:
    """Return the rows before steps of time that are too long, and how many rows are missing."""
    steps = np.diff(times)
    if len(steps) < settings.RUN_ROWS:
        return []
    usual = max(float(np.quantile(steps, 0.95)), 1e-300)
    long = np.flatnonzero(steps > settings.RUN_ROWS * usual)
    middle = max(float(np.median(steps)), 1e-300)
    return [(int(i), round(float(steps[i]) / middle) - 1) for i in long]
