"""Passes over the rows of runs: which runs there are, and scatter within and between them.

Scatter is kept as a triangular factor of its matrix (a QR decomposition, block by block) and as
means of the runs: products of monomials would lose half of the digits, with which exactly conserved
quantities are distinguished from nearly conserved ones.
"""

from collections.abc import Sequence
from copy import deepcopy
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from vanishing.fitting.sample import Draw, Sample, row_keys
from vanishing.motion.variables import Variable
from vanishing.rows.source import RowPart

_VALUES = 1 << 19  # evaluated at once


def _columns(part: RowPart) -> np.ndarray:
    """Return the columns, which may be a view."""
    return np.asarray(part.X.T, dtype=np.float64)


class Survey(NamedTuple):
    """What has to be known of all rows first.

    Attributes
    ----------
    labels, counts : arrays of shape (n_runs,)
        Of the runs, sorted, and how many rows each has.
    low, high : arrays of shape (n_columns,)
    squares : array of shape (n_variables,)
        Weighted sums of squares; not finite where a function is not defined on all rows.
    weight : float
    """

    labels: np.ndarray
    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    squares: np.ndarray
    weight: float

    @staticmethod
    def combine(first: "Survey", second: "Survey") -> "Survey":
        """Return the survey of both."""
        if len({part.labels.dtype.kind in "OUST" for part in (first, second)}) == 2:
            raise ValueError(
                "groups are text in some blocks and numbers in others. Convert them to one kind."
            )
        labels, place = _unique(np.concatenate([first.labels, second.labels]))
        counts = np.zeros(len(labels), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([first.counts, second.counts]))
        return Survey(
            labels,
            counts,
            np.minimum(first.low, second.low),
            np.maximum(first.high, second.high),
            first.squares + second.squares,
            first.weight + second.weight,
        )


def _unique(labels) -> tuple[np.ndarray, np.ndarray]:
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "Some groups are text and others numbers. Convert them to one kind."
        ) from None


def _stretches(labels) -> tuple[np.ndarray, np.ndarray]:
    """Return where rows of another run than before begin, and how many follow one another."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    return starts, np.diff(np.append(starts, len(labels)))


class RunQuestion:
    """The question for a `Survey`."""

    def __init__(self, variables: Sequence[Variable]):
        self.variables = tuple(variables)

    def __call__(self, part: RowPart) -> Survey:
        """Look at some rows."""
        if part.y is None:
            raise ValueError(
                "groups is required: say which run each row belongs to, as in fit(X, groups=run); "
                "blocks are tuples (rows, groups)."
            )
        columns = _columns(part)
        # Rows of a run mostly stand side by side: then there are few labels to sort.
        starts, sizes = _stretches(part.y)
        labels, place = _unique(part.y[starts])
        with np.errstate(all="ignore"):
            squares = [_square(v.value(columns), part.weight) for v in self.variables]
        return Survey(
            labels,
            np.bincount(place, sizes, minlength=len(labels)).astype(np.int64),
            np.array([column.min() for column in columns]),
            np.array([column.max() for column in columns]),
            np.array(squares),
            float(len(part.y) if part.weight is None else part.weight.sum()),
        )


def _square(values, weight) -> float:
    return float(values @ values if weight is None else weight @ values**2)


class Scatter:
    """Scatter of monomials within runs, and means of the runs.

    Attributes
    ----------
    roots : list of two arrays of shape (at most n_monomials, n_monomials)
        Upper triangular R with R'R the sum over rows of squared deviations from the mean of the
        row's run; of runs to learn from, and of runs held out.
    weight, square : arrays of shape (n_runs,)
        Sums of the rows' weights, and of their squares.
    mean : array of shape (n_runs, n_monomials)
    sample : Sample or None
        Some rows; the place of their run is their last column.
    """

    def __init__(self, held_out: np.ndarray, n_monomials: int):
        self.held_out = held_out
        self.roots = [np.zeros((0, n_monomials))] * 2
        self.weight, self.square = np.zeros((2, len(held_out)))
        self.mean = np.zeros((len(held_out), n_monomials))
        self.sample: Sample | None = None

    def add(self, fold: int, runs, weight, square, mean, rows: list[np.ndarray]) -> None:
        """Add rows of some runs of one fold.

        Parameters
        ----------
        fold : {0, 1}
        runs : array of int
        weight, square, mean : arrays with a row for each of these runs
            Of these runs' new rows.
        rows : list of arrays of shape (n, n_monomials)
            Whose sum of outer products is the scatter about these means.
        """
        if not len(runs):
            return
        both = self.weight[runs] + weight
        step = mean - self.mean[runs]
        # What the means of old and new rows differ by is scatter within the run, too.
        apart = step * np.sqrt(self.weight[runs] * weight / both)[:, None]
        self.mean[runs] += step * (weight / both)[:, None]
        self.weight[runs] = both
        self.square[runs] += square
        known = apart[apart.any(axis=1)]
        self.roots[fold] = triangular([self.roots[fold], *rows, known])


def triangular(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return R of the QR decomposition of rows from several arrays, without its zero rows."""
    stacked = np.empty((sum(map(len, rows)), rows[0].shape[1]), order="F")
    if not len(stacked):
        return stacked
    np.concatenate(rows, out=stacked)
    n = min(stacked.shape)
    return np.triu(lapack.dgeqrf(stacked, overwrite_a=True)[0][:n])


class RowSubset(NamedTuple):
    """Some of the rows, the same ones in whatever order and blocks they come.

    Attributes
    ----------
    runs : array of bool of shape (n_runs,)
        Those that are looked at.
    share : float
        Of their rows.
    seed : int
        Decides which rows.
    """

    runs: np.ndarray
    share: float
    seed: int

    def chosen(self, columns) -> np.ndarray:
        """Say which rows of the runs are looked at."""
        mixed = np.zeros(columns.shape[1])
        for j, column in enumerate(columns):
            mixed += np.sqrt(j + 2.0) * column
        keys = row_keys(mixed[None], self.seed)
        return keys < np.uint64(self.share * 2.0**64)


class Measure:
    """The question for a `Scatter`.

    Parameters
    ----------
    monomials : MotionMonomials or Terms
    labels : array
        Of the runs, sorted.
    held_out : array of bool of shape (n_runs,)
    seed : int
        Which rows the sample has.
    subset : RowSubset, default=None
        The rows that are looked at; None means all, and no sample.
    """

    def __init__(
        self, monomials, labels, held_out: np.ndarray, seed: int, subset: RowSubset | None
    ):
        self.monomials, self.labels, self.held_out = monomials, labels, held_out
        self.draw, self.subset = Draw(seed), subset

    def __call__(self, part: RowPart) -> Scatter:
        """Return the scatter of some rows."""
        starts, sizes = _stretches(part.y)
        # The survey refuses rows without a run.
        runs = np.searchsorted(self.labels, part.y[starts])  # type: ignore[index]
        run = np.repeat(runs, sizes)
        scatter = Scatter(self.held_out, len(self.monomials))
        X, parts = part.X, []
        for fold in (0, 1):
            wanted = self.held_out == bool(fold)
            if self.subset is not None:
                wanted = wanted & self.subset.runs
            rows = np.flatnonzero(np.repeat(wanted[runs], sizes))
            if not len(rows):
                continue
            columns = np.array(X[rows].T, dtype=np.float64, order="C")
            if self.subset is not None and self.subset.share < 1.0:
                chosen = self.subset.chosen(columns)
                columns, rows = columns[:, chosen], rows[chosen]
            weight = None if part.weight is None else part.weight[rows]
            parts.append((columns, run[rows], weight))
            self._add_all(scatter, fold, *parts[-1])
        if self.subset is not None and parts:
            columns = np.concatenate([p[0] for p in parts], axis=1)
            run = np.concatenate([p[1] for p in parts])
            weight = None if part.weight is None else np.concatenate([p[2] for p in parts])
            scatter.sample = self.draw(RowPart(columns.T, run.astype(np.float64), weight))
        return scatter

    def _add_all(self, scatter: Scatter, fold, columns, run, weight) -> None:
        """Add rows of one fold, in chunks that a cache holds."""
        if (run[1:] < run[:-1]).any():  # runs side by side: a chunk then has few of them
            order = np.argsort(run, kind="stable")
            columns, run = columns[:, order], run[order]
            weight = None if weight is None else weight[order]
        size = max(2000, _VALUES // len(self.monomials))
        for start in range(0, len(run), size):
            chunk = slice(start, start + size)
            counts = None if weight is None else weight[chunk]
            self._add(scatter, fold, columns[:, chunk], run[chunk], counts)

    def _add(self, scatter: Scatter, fold, columns, run, weight) -> None:
        with np.errstate(all="ignore"):
            values = self.monomials.values(columns)
        starts, sizes = _stretches(run)
        if weight is None:
            total = squares = sizes.astype(np.float64)
            mean = np.add.reduceat(values, starts, axis=1) / total
            values -= np.repeat(mean, sizes, axis=1)
        else:
            total, squares = (np.add.reduceat(w, starts) for w in (weight, weight**2))
            mean = np.add.reduceat(values * weight, starts, axis=1) / total
            values -= np.repeat(mean, sizes, axis=1)
            values *= np.sqrt(weight)
        if not np.isfinite(mean).all():
            raise ValueError("monomials overflow: change the units of the columns.")
        scatter.add(fold, run[starts], total, squares, mean.T, [values.T])

    def combine(self, first: Scatter, second: Scatter) -> Scatter:
        """Return the scatter of two sets of rows."""
        total = deepcopy(first)
        seen = np.flatnonzero(second.weight)
        for fold in (0, 1):
            runs = seen[self.held_out[seen] == bool(fold)]
            total.add(
                fold,
                runs,
                second.weight[runs],
                second.square[runs],
                second.mean[runs],
                [second.roots[fold]],
            )
        samples = [part.sample for part in (first, second) if part.sample is not None]
        if samples:
            total.sample = reduce(self.draw.combine, samples)
        return total
