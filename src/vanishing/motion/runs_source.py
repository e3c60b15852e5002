"""Runs of rows that are not in memory: which there are, and those that are fitted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vanishing.motion import settings
from vanishing.rows.intake import lazy_source
from vanishing.rows.source import RowLayout, RowPart


class RunTable(NamedTuple):
    """Rows of runs in memory, as `take_runs` takes them.

    Attributes
    ----------
    X : frame or array of shape (n_rows, n_columns)
    t : array of shape (n_rows,)
    groups : array of shape (n_rows,), or None
    inputs : frame or array of shape (n_rows, n_inputs), or None
    weight : array of shape (n_rows,), or None
    """

    X: Any
    t: np.ndarray
    groups: np.ndarray | None
    inputs: Any
    weight: np.ndarray | None


def read_runs(X, t, groups, inputs, sample_weight, seed: int) -> RunTable:
    """Read whole runs out of a source of rows: all, or as many as are fitted.

    One pass counts the rows of each run, another one gathers those of the runs that are chosen.

    Parameters
    ----------
    X : a source of rows
        Blocks or a Dask collection; times and inputs are among the columns.
    t : str or int
        The column of times.
    groups : as `lazy_source` takes them, or None
    inputs : sequence of str or int, or None
        Columns of inputs.
    sample_weight : as `lazy_source` takes them, or None
    seed : int
        Decides which of many runs are read.
    """
    source = lazy_source(X, groups, sample_weight)
    if source is None:
        raise TypeError("X is no source of rows.")
    layout = source.layout
    time = _place(t, layout, "t")
    of_inputs = [_place(name, layout, "inputs") for name in _listed(inputs)]
    rows = source.on_host()
    counts = rows.ask(_counted, _both)
    if counts is None:
        raise ValueError("X has no rows (of positive weight): nothing to fit.")
    part = rows.ask(_RowsOf(_chosen(counts, seed)), _joined)
    others = [i for i in range(layout.n_features) if i not in (time, *of_inputs)]
    if not others:
        raise ValueError("X has no columns besides those of times and inputs.")
    return RunTable(
        _columns(part.X, others, layout),
        part.X[:, time],
        part.y,
        _columns(part.X, of_inputs, layout) if of_inputs else None,
        part.weight,
    )


def _listed(inputs) -> Sequence:
    if inputs is None:
        return ()
    return (inputs,) if isinstance(inputs, (str, int)) else tuple(inputs)


def _place(name, layout: RowLayout, parameter: str) -> int:
    """Return the place of a column that is given by its name or place."""
    if isinstance(name, str) and layout.names is not None and name in layout.names:
        return layout.names.index(name)
    is_number = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
    if is_number and 0 <= name < layout.n_features:
        return int(name)
    shown = repr(name) if isinstance(name, (str, int)) else f"a {type(name).__name__}"
    known = f"0 to {layout.n_features - 1}" if layout.names is None else ", ".join(layout.names)
    raise ValueError(
        f"rows that are not in memory have their times and inputs among their columns: {parameter} "
        f"must name one of {known}; got {shown}."
    )


def _columns(values: np.ndarray, places: Sequence[int], layout: RowLayout):
    """Return some columns, with their names if they have some."""
    found = values[:, list(places)]
    if layout.names is None:
        return found
    import pandas as pd  # names come from frames

    return pd.DataFrame(found, columns=[layout.names[i] for i in places])


def _counted(part: RowPart) -> dict:
    """Return how many rows each run has; all are one run where there are no labels."""
    if part.y is None:
        return {None: part.X.shape[0]}
    labels, counts = np.unique(part.y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def _both(first: dict, second: dict) -> dict:
    return {label: first.get(label, 0) + second.get(label, 0) for label in {**first, **second}}


def _chosen(counts: dict, seed: int) -> list:
    """Return the runs to read: all, or some with not more rows than are fitted."""
    longest = max(counts, key=lambda label: counts[label])
    if counts[longest] > settings.READ_ROWS:
        which = "X is one run of" if longest is None else f"the run {longest!r} has"
        raise ValueError(
            f"{which} {counts[longest]} rows, more than the {settings.READ_ROWS} that are read at "
            "a time: give its parts labels of their own (groups)."
        )
    if sum(counts.values()) <= settings.READ_ROWS:
        return list(counts)
    try:
        labels = sorted(counts)  # the order of blocks changes nothing
    except TypeError:
        raise ValueError(
            "Some groups are text and others numbers. Convert them to one kind."
        ) from None
    order = np.random.default_rng(seed).permutation(len(labels))
    total = np.cumsum([counts[labels[i]] for i in order])
    return [labels[i] for i in order[: int(np.searchsorted(total, settings.READ_ROWS, "right"))]]


class _RowsOf:
    """The question for the rows of some runs."""

    def __init__(self, labels: Sequence):
        self.labels = None if labels == [None] else np.array(labels)

    def __call__(self, part: RowPart) -> RowPart:
        if self.labels is not None:
            part = part.at(np.isin(part.y, self.labels))
        return part._replace(X=np.asarray(part.X, dtype=np.float64))


def _joined(first: RowPart, second: RowPart) -> RowPart:
    parts = zip(first, second, strict=True)
    return RowPart(*(None if a is None else np.concatenate([a, b]) for a, b in parts))
