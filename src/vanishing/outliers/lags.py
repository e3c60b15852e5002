"""Lags as columns: each row also has the values of the rows before it, such as ``flow[t-1]``."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.utils import check_array

from vanishing.estimators.names import input_names
from vanishing.rows.array_source import ArraySource
from vanishing.rows.arrays import is_device_array
from vanishing.rows.blocks import Blocks, BlockSource
from vanishing.rows.dask import is_dask
from vanishing.rows.intake import is_lazy, take_rows, take_rows_in_memory
from vanishing.rows.source import RowSource, naming
from vanishing.rows.validation import finiteness, naming_text

_LAGGED = re.compile(r"(.*)\[t-([0-9]+)\]", re.DOTALL)


def lagged_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """Return the names of columns in the rows before, the farthest first, then of the row itself.

    In this order laws are solved for columns of the row itself: for the last one, if any will do.

    Examples
    --------
    >>> from vanishing.outliers.lags import lagged_names
    >>> lagged_names(["flow", "level"], 1)
    ('flow[t-1]', 'level[t-1]', 'flow', 'level')
    """
    before = (f"{name}[t-{lag}]" for lag in range(lags, 0, -1) for name in names)
    return (*before, *names)


def names_with_lags(estimator) -> tuple[str, ...]:
    """Return the names of all columns that an estimator with ``lags`` learns from."""
    return lagged_names(tuple(map(str, input_names(estimator))), estimator.lags)


def name_and_lag(name: str) -> tuple[str, int]:
    """Return the column of a name as `lagged_names` has them, and how many rows before it is."""
    match = _LAGGED.fullmatch(name)
    return (name, 0) if match is None else (match[1], int(match[2]))


def lagged(X: np.ndarray, lags: int, before: np.ndarray | None = None) -> np.ndarray:
    """Return rows with the values of those before them, NaN where there are none.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        In the order of time.
    lags : int
    before : array of shape (lags, n_columns), or None
        The rows before X.

    Returns
    -------
    rows : array of shape (n_rows, n_columns * (1 + lags))
    """
    if not lags:
        return X
    before = np.full((lags, X.shape[1]), np.nan) if before is None else before
    every = np.vstack([before, np.asarray(X, dtype=np.float64)])
    return np.hstack([every[lags - lag : len(every) - lag] for lag in range(lags, -1, -1)])


def lagged_runs(X: np.ndarray, lags: int, runs: np.ndarray | None) -> np.ndarray:
    """Return rows with the values of those before them in the same run; see `lagged`."""
    if runs is None or not lags:
        return lagged(X, lags)
    rows = np.empty((len(X), X.shape[1] * (1 + lags)))
    for run in np.unique(runs):
        own = np.flatnonzero(runs == run)
        rows[own] = lagged(X[own], lags)
    return rows


def last_rows(X: np.ndarray, lags: int, before: np.ndarray | None = None) -> np.ndarray:
    """Return the last rows, as many as there are lags, NaN where there are fewer."""
    before = np.full((lags, X.shape[1]), np.nan) if before is None else before
    every = np.vstack([before, np.asarray(X, dtype=np.float64)])
    return every[len(every) - lags :]


def lagged_blocks(X, lags: int, *, gaps: bool) -> Blocks:
    """Return blocks of rows with the values of those before them, also of the block before.

    Parameters
    ----------
    X : Blocks, or what they are made of
        In the order of time.
    lags : int
    gaps : bool
        Whether cells may be missing.
    """
    blocks = X if isinstance(X, Blocks) else Blocks(X)

    def read() -> Iterator:
        before = None
        for i, item in enumerate(blocks):
            block, *others = item if isinstance(item, tuple) else (item,)
            with naming(i):
                rows = _checked(block, gaps)
                if before is not None and rows.shape[1] != before.shape[1]:
                    raise ValueError(
                        f"it has {rows.shape[1]} columns, but the first one has {before.shape[1]}."
                    )
            values = lagged(rows, lags, before)
            before = last_rows(rows, lags, before)
            if hasattr(block, "columns"):
                names = lagged_names(list(block.columns), lags)
                values = type(block)(values, columns=list(names))
            yield (values, *others) if others else values

    return Blocks(read)


def training_rows(estimator, X, sample_weight, groups) -> tuple[RowSource, np.ndarray | None]:
    """Return the rows of a fit with those before them, and the last ones of them if known."""
    lags, gaps = estimator.lags, estimator.takes_gaps
    if not lags:
        if groups is not None:
            raise ValueError("groups are for lags, which are 0: leave groups out, or give lags.")
        return take_rows(estimator, X, sample_weight=sample_weight).on_host(), None
    if is_lazy(X):
        refuse_unordered(estimator, X, groups)
        take_rows(estimator, X)
        blocks = lagged_blocks(X, lags, gaps=gaps)
        return BlockSource(blocks, None, sample_weight, gaps=True).on_host(), None
    part = take_rows_in_memory(
        estimator, X, groups, sample_weight, y_is=None if groups is None else "runs", keep_all=True
    )
    of_last_run = part.X if groups is None else part.X[part.y == part.y[-1]]
    rows = part._replace(X=lagged_runs(part.X, lags, part.y), y=None)
    return ArraySource(rows.with_weight()), last_rows(of_last_run, lags)


def refuse_unordered(estimator, X, groups=None) -> None:
    """Raise TypeError where lags cannot be taken: rows in no order, or runs of blocks."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} with lags does not take Dask collections, whose "
            "partitions are read in no order. Give it Blocks of rows in the order of time, or "
            "X.compute()."
        )
    if groups is not None:
        raise TypeError("groups need the rows in memory: give one array of all rows.")


def _checked(block, gaps: bool) -> np.ndarray:
    if is_device_array(block):
        raise TypeError("lags need the rows of blocks in memory: give NumPy arrays or frames.")
    with naming_text(block, gap_remedy="" if gaps else None):
        return check_array(
            block, dtype=np.float64, ensure_all_finite=finiteness(gaps), ensure_min_samples=0
        )
