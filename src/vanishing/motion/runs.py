"""Passes over the rows of runs: which runs there are, and scatter within and between them.

Scatter is kept as a triangular factor of its matrix (a QR decomposition, block by block) and as
means of the runs: products of monomials would lose half of the digits, with which exactly conserved
quantities are told from nearly conserved ones.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from vanishing.laws.sample import Draw, Sample, row_keys
from vanishing.motion.variables import Variable
from vanishing.rows.device import to_numpy
from vanishing.rows.source import Part

_VALUES = 1 << 19  # evaluated at once


def _columns(part: Part) -> np.ndarray:
    return np.array(to_numpy(part.X).T, dtype=np.float64, order="C")


def _weights(part: Part) -> np.ndarray:
    return np.ones(part.X.shape[0]) if part.weight is None else part.weight


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


def _starts(labels) -> np.ndarray:
    """Return where rows of another run than before begin."""
    return np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))


class Look:
    """The question for a `Survey`."""

    def __init__(self, variables: Sequence[Variable]):
        self.variables = tuple(variables)

    def __call__(self, part: Part) -> Survey:
        """Look at some rows."""
        if part.y is None:
            raise ValueError(
                "groups is required: say which run each row belongs to, as in fit(X, groups=run); "
                "blocks are tuples (rows, groups)."
            )
        columns, weight = _columns(part), _weights(part)
        # Rows of a run mostly stand side by side: then there are few labels to sort.
        starts = _starts(part.y)
        labels, place = _unique(part.y[starts])
        sizes = np.diff(np.append(starts, len(part.y)))
        with np.errstate(all="ignore"):
            squares = [v.value(columns) ** 2 @ weight for v in self.variables]
        return Survey(
            labels,
            np.bincount(place, sizes, minlength=len(labels)).astype(np.int64),
            columns.min(axis=1),
            columns.max(axis=1),
            np.array(squares),
            float(weight.sum()),
        )


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
        weight, square, mean
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
    stacked = np.asfortranarray(np.vstack(rows))
    if not len(stacked):
        return stacked
    n = min(stacked.shape)
    return np.triu(lapack.dgeqrf(stacked, overwrite_a=True)[0][:n])


class Some(NamedTuple):
    """Some of the rows, the same ones in whatever order and blocks they come.

    Attributes
    ----------
    runs : array of bool of shape (n_runs,)
        Those that are looked at.
    share : float
        Of their rows.
    seed : int
        Which rows.
    """

    runs: np.ndarray
    share: float
    seed: int

    def chosen(self, columns, run) -> np.ndarray:
        """Say which rows are looked at."""
        if self.share >= 1.0:
            return self.runs[run]
        mixed = np.zeros(columns.shape[1])
        for j, column in enumerate(columns):
            mixed += np.sqrt(j + 2.0) * column
        keys = row_keys(mixed[None], self.seed)
        return self.runs[run] & (keys < np.uint64(self.share * 2.0**64))


class Measure:
    """The question for a `Scatter`.

    Parameters
    ----------
    monomials : Monomials or Terms
    labels : array
        Of the runs, sorted.
    held_out : array of bool of shape (n_runs,)
    seed : int
        Which rows the sample has.
    some : Some, default=None
        The rows that are looked at; None means all, and no sample.
    """

    def __init__(self, monomials, labels, held_out: np.ndarray, seed: int, some: Some | None):
        self.monomials, self.labels, self.held_out = monomials, labels, held_out
        self.draw, self.some = Draw(seed), some

    def __call__(self, part: Part) -> Scatter:
        """Return the scatter of some rows."""
        columns, weight = _columns(part), _weights(part)
        starts = _starts(part.y)
        sizes = np.diff(np.append(starts, len(part.y)))
        run = np.repeat(np.searchsorted(self.labels, part.y[starts]), sizes)
        if self.some is not None:
            chosen = self.some.chosen(columns, run)
            if not chosen.all():
                columns, weight, run = columns[:, chosen], weight[chosen], run[chosen]
        found = Scatter(self.held_out, len(self.monomials))
        if not len(run):
            return found
        # Runs side by side, those held out last: a chunk then has few of them.
        key = run + len(self.labels) * self.held_out[run]
        if (key[1:] < key[:-1]).any():
            order = np.argsort(key, kind="stable")
            columns, weight, run = columns[:, order], weight[order], run[order]
        n_learnt = int(np.count_nonzero(~self.held_out[run]))
        size = max(2000, _VALUES // len(self.monomials))
        for fold, low, high in ((0, 0, n_learnt), (1, n_learnt, len(run))):
            for start in range(low, high, size):
                here = slice(start, min(start + size, high))
                self._add(found, fold, columns[:, here], run[here], weight[here])
        if self.some is not None:
            found.sample = self.draw(Part(columns.T, run.astype(np.float64), weight))
        return found

    def _add(self, found: Scatter, fold, columns, run, weight) -> None:
        with np.errstate(all="ignore"):
            values = self.monomials.values(columns)
        if not np.isfinite(values).all():
            raise ValueError("monomials overflow: change the units of the columns.")
        starts = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
        sizes = np.diff(np.append(starts, len(run)))
        total = np.add.reduceat(weight, starts)
        mean = np.add.reduceat(values * weight, starts, axis=1) / total
        values -= np.repeat(mean, sizes, axis=1)
        values *= np.sqrt(weight)
        squares = np.add.reduceat(weight**2, starts)
        found.add(fold, run[starts], total, squares, mean.T, [values.T])

    def combine(self, first: Scatter, second: Scatter) -> Scatter:
        """Return the scatter of two sets of rows."""
        there = np.flatnonzero(second.weight)
        for fold in (0, 1):
            runs = there[self.held_out[there] == bool(fold)]
            first.add(
                fold,
                runs,
                second.weight[runs],
                second.square[runs],
                second.mean[runs],
                [second.roots[fold]],
            )
        samples = [part.sample for part in (first, second) if part.sample is not None]
        if samples:
            first.sample = reduce(self.draw.combine, samples)
        return first
