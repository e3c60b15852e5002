"""Moments of the rows that go together: which rows count how much, fit after fit.

Two fits, both of G, the weighted mean of v v' over the features v of rows, and of the distances
s = v' G^-1 v that follow from it. The *bulk* is the half of the rows that are nearest to one
another, whose G is that of ordinary rows. *Laws* hold on nearly all rows, so that rows far away
count little and no row is left out.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from vanishing.outliers.features import FIT_LIMIT, Features
from vanishing.outliers.quantiles import median

CHUNK = 2048  # rows at a time, always the same ones: sums round alike then
BULK_RIDGE, LAW_RIDGE = 1e-3, 1e-6
_BULK_FITS, _LAW_FITS = 6, 5
_POWER = -1.5
FIT_ROWS = 5_000  # that the fits before the last look at


class Sums(NamedTuple):
    """Weighted sums of v v' over rows, and of weights."""

    gram: np.ndarray
    weight: float

    def __add__(self, other):
        return Sums(self.gram + other.gram, self.weight + other.weight)

    def __sub__(self, other):
        return Sums(self.gram - other.gram, self.weight - other.weight)

    def times(self, factor: float) -> "Sums":
        """Return the sums with all weights multiplied."""
        return Sums(self.gram * factor, self.weight * factor)


def slices(n_rows: int):
    """Yield the chunks of rows."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(start + CHUNK, n_rows))


def whitener(sums: Sums, ridge: float) -> np.ndarray:
    """Return lower triangular W with W'W = (G + ridge)^-1."""
    gram = sums.gram / sums.weight
    gram[np.diag_indices_from(gram)] += ridge
    factor = cholesky(gram, lower=True, check_finite=False)
    return solve_triangular(factor, np.eye(len(gram)), lower=True, check_finite=False)


def squared_lengths(values: np.ndarray) -> np.ndarray:
    """Return the sums of squares of columns."""
    return np.einsum("ij,ij->j", values, values)


class Rule(NamedTuple):
    """What rows count: by their distances, relative to that of the middle row.

    Attributes
    ----------
    whitener : array of shape (k, k)
    middle : float
    hard : bool
        Whether rows beyond the middle one are left out, or count little.
    """

    whitener: np.ndarray
    middle: float
    hard: bool

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the weights of rows with given features."""
        return self.of_distances(squared_lengths(self.whitener @ values))

    def of_distances(self, distance: np.ndarray) -> np.ndarray:
        """Return the weights of rows at given distances."""
        if self.hard:
            # Rows at the same distance count alike, whatever the rounding.
            return (distance <= self.middle * (1.0 + 1e-9)).astype(np.float64)
        return (1.0 + distance / self.middle) ** _POWER


def distances(features: Features, z: np.ndarray, whitener: np.ndarray) -> np.ndarray:
    """Return s of standardised rows."""
    return np.concatenate(
        [squared_lengths(whitener @ features.values(z[:, here])) for here in slices(z.shape[1])]
    )


def sums_of(features: Features, z: np.ndarray, weight: np.ndarray) -> Sums:
    """Return the sums over standardised rows of given weights."""
    used = np.flatnonzero(weight)
    if len(used) < len(weight):
        z, weight = z[:, used], weight[used]
    total = np.zeros((features.size,) * 2)
    for here in slices(len(weight)):
        values = features.values(z[:, here])
        values *= np.sqrt(weight[here])
        total += values @ values.T
    return Sums(total, float(weight.sum()))


def rules(features: Features, X: np.ndarray, weight: np.ndarray) -> tuple[Rule, Rule]:
    """Return what rows count in the last fits, of the bulk and of laws.

    Parameters
    ----------
    features : Features
    X : array of shape (n_rows, n_columns)
        In random order.
    weight : array of shape (n_rows,)
    """
    weight = weight[:FIT_ROWS]
    z = features.standardised(X[:FIT_ROWS], FIT_LIMIT)

    def rule(now, ridge, hard) -> tuple[Rule, np.ndarray]:
        white = whitener(sums_of(features, z, weight * now), ridge)
        distance = distances(features, z, white)
        found = Rule(white, max(median(distance, weight), 1e-300), hard)
        return found, found.of_distances(distance)

    ones = np.ones(len(weight))
    now = ones
    for _ in range(_BULK_FITS - 1):
        bulk, now = rule(now, BULK_RIDGE, True)
    now = ones
    for _ in range(_LAW_FITS - 1):
        law, now = rule(now, LAW_RIDGE, False)
    return bulk, law


class Accumulate:
    """The question for the sums of the last fits: of the bulk, and of laws."""

    def __init__(self, features: Features, both: tuple[Rule, Rule]):
        self.features, self.rules = features, both

    def __call__(self, X: np.ndarray, weight: np.ndarray) -> tuple[Sums, Sums]:
        """Return the sums over rows."""
        size = self.features.size
        grams, totals = np.zeros((2, size, size)), np.zeros(2)
        for here in slices(len(X)):
            z = self.features.standardised(X[here], FIT_LIMIT)
            values = self.features.values(z)
            for i, rule in enumerate(self.rules):
                counts = rule(values) * weight[here]
                part = values
                if rule.hard:
                    used = np.flatnonzero(counts)
                    part, counts = values[:, used], counts[used]
                scaled = part * np.sqrt(counts)
                grams[i] += scaled @ scaled.T
                totals[i] += counts.sum()
        return Sums(grams[0], totals[0]), Sums(grams[1], totals[1])

    @staticmethod
    def combine(first, second):
        """Return the sums over two sets of rows."""
        return tuple(a + b for a, b in zip(first, second, strict=True))
