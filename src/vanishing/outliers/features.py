"""Features of a row: 1, its standardised columns, and products of their principal components."""

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from vanishing.algebra.evaluation import values_on
from vanishing.algebra.monomials import Plan
from vanishing.outliers import settings
from vanishing.outliers.quantiles import quantiles

_TINY = 1e-290  # size of a column that counts as zero


class Features(NamedTuple):
    """What a row is described by.

    Attributes
    ----------
    varying : array of int of shape (n,)
        Columns that are not constant.
    centre, scale : array of shape (n,)
        Of these columns.
    directions : array of shape (n, p)
        Principal components.
    counts : tuple of int
        How many of the components are multiplied in each degree, from degree 2 on.
    constant : array of int of shape (n_constant,)
    value : array of shape (n_constant,)
        Of the constant columns.
    low, high : array of shape (n,)
        Ends of the range that nearly all values of a varying column are in.
    """

    varying: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    directions: np.ndarray
    counts: tuple[int, ...]
    constant: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def linear(cls, varying, centre, scale, constant, value, ends=None) -> "Features":
        """Return features without products; without ends, ranges are those of normal columns."""
        far = settings.NORMAL_RANGE * scale
        low, high = (centre - far, centre + far) if ends is None else ends
        none = np.zeros((len(varying), 0))
        return cls(varying, centre, scale, none, (), constant, value, low, high)

    @property
    def n(self) -> int:
        """How many columns vary."""
        return len(self.varying)

    @property
    def size(self) -> int:
        """How many features there are."""
        products = sum(comb(p + d - 1, d) for d, p in enumerate(self.counts, start=2))
        return 1 + self.n + products

    def standardised(self, X: np.ndarray, limit: float) -> np.ndarray:
        """Return the varying columns of rows in standard units, shape (n, n_rows)."""
        z = np.subtract(X.T[self.varying], self.centre[:, None], dtype=np.float64, order="C")
        z /= self.scale[:, None]
        return np.clip(z, -limit, limit, out=z)

    def deviation(self, X: np.ndarray) -> np.ndarray:
        """Return how far constant columns are from their values, in all, shape (n_rows,)."""
        if not len(self.constant):
            return np.zeros(len(X))
        with np.errstate(over="ignore"):
            far = np.abs(X[:, self.constant] - self.value) / self.tolerance
        # Rounding of values that were computed is no deviation.
        far[far < settings.CONSTANT_OFF] = 0.0
        return np.minimum(far.max(axis=1), 1e100)

    @property
    def tolerance(self) -> np.ndarray:
        """Deviations of constant columns that count as 1."""
        size = np.abs(self.value)
        return settings.CONSTANT_OFF * np.where(size < _TINY, 1.0, size)

    @property
    def unit(self) -> np.ndarray:
        """Sizes of all columns of the table; 1 for constant ones."""
        unit = np.ones(self.n + len(self.constant))
        unit[self.varying] = np.hypot(self.centre, self.scale)
        return unit

    @property
    def origin(self) -> np.ndarray:
        """Centres of all columns of the table; 0 for constant ones."""
        origin = np.zeros(self.n + len(self.constant))
        origin[self.varying] = self.centre
        return origin

    @property
    def spread(self) -> np.ndarray:
        """Scales of all columns of the table; 1 for constant ones."""
        spread = np.ones(self.n + len(self.constant))
        spread[self.varying] = self.scale
        return spread

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the features of standardised rows, shape (size, n_rows)."""
        return self._evaluated(z)[1][1 + self.directions.shape[1] :]

    def slopes(self, z: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the derivatives of the features by one column of each row, (size, n_rows)."""
        p = self.directions.shape[1]
        columns, values = self._evaluated(z)
        of_columns, slopes = np.zeros(columns.shape), np.zeros(values.shape)
        of_columns[:p] = self.directions[column].T
        of_columns[p + 1 + column, np.arange(z.shape[1])] = 1.0
        plan = _plan(self.n, self.counts)
        for slope, i, j in zip(slopes[1:], plan.parent[1:], plan.variable[1:], strict=True):
            slope[:] = slopes[i] * columns[j] + values[i] * of_columns[j]
        return slopes[1 + p :]

    def _evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns and the values of `_plan`."""
        p = self.directions.shape[1]
        columns = np.empty((p + 1 + self.n, z.shape[1]))
        np.matmul(self.directions.T, z, out=columns[:p])
        columns[p], columns[p + 1 :] = 1.0, z
        return columns, values_on(columns, _plan(self.n, self.counts))


@lru_cache(maxsize=128)
def _plan(n: int, counts: tuple[int, ...]) -> Plan:
    """Plan the evaluation of 1 and the components, then of the features: 1, columns, products.

    Columns of the plan are the components, 1, and the standardised columns.
    """
    p = max(counts, default=0)
    parent, variable = [-1] + [0] * (p + 1 + n), [-1, *range(p + 1 + n)]
    # Products by their components, and their places.
    level: dict[tuple[int, ...], int] = {(a,): 1 + a for a in range(p)}
    for q in counts:
        longer: dict[tuple[int, ...], int] = {}
        for a in range(q):
            for product in (rest for rest in level if a <= rest[0] and rest[-1] < q):
                longer[a, *product] = len(parent)
                parent.append(level[product])
                variable.append(a)
        level = longer
    return Plan(np.array(parent), np.array(variable))


def features_of(X: np.ndarray, weight: np.ndarray, max_degree: int) -> Features:
    """Choose the features for rows, as many products as the number of rows allows.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows that differ from one another, in random order.
    weight : array of shape (n_rows,)
    max_degree : int
    """
    total = weight.sum()
    # Sizes first: squares of huge values overflow.
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    unit = X / size
    centre = weight @ unit / total
    scale = np.sqrt(weight @ np.square(unit - centre) / total)
    first = slice(0, settings.RANGE_ROWS)
    levels = (settings.RANGE_LEVEL, 0.05, 0.5, 0.95, 1.0 - settings.RANGE_LEVEL)
    least, low, middle, high, most = quantiles(unit[first], weight[first], levels)
    spread = high - low
    # A few wild values make all others alike in units of the standard deviation. The middle 90 %
    # of a normal distribution are 3.29 of them wide.
    wild = (spread > 0.0) & (scale > settings.WILD_COLUMN * spread)
    centre[wild], scale[wild] = middle[wild], spread[wild] / 3.29
    centre, scale = centre * size, scale * size
    varies = scale > settings.CONSTANT * np.maximum(np.abs(centre), _TINY)
    varying = np.flatnonzero(varies)
    constant = np.flatnonzero(~varies)
    margin = settings.RANGE_MARGIN * (most - least)
    features = Features.linear(
        varying,
        centre[varying],
        scale[varying],
        constant,
        X[0, constant].astype(np.float64),
        (((least - margin) * size)[varying], ((most + margin) * size)[varying]),
    )
    counts = counts_for(features.n, len(X), max_degree)
    if not counts:
        return features
    z = features.standardised(X, settings.FIT_LIMIT)
    z -= (z @ weight / total)[:, None]
    # Rows count alike, however far out, and columns are in units that the farthest rows do not
    # change: directions that follow these, or avoid them, make new rows look less odd, or more.
    unit = np.where(spread > 0.0, scale / size / np.where(spread > 0.0, spread / 3.29, 1.0), 1.0)
    unit = unit[varying][:, None]
    z *= unit
    covariance = (z * (weight / np.maximum(np.einsum("ij,ij->j", z, z), 1e-300))) @ z.T
    p = max(counts)
    vectors = eigh(covariance, subset_by_index=[features.n - p, features.n - 1])[1][:, ::-1]
    vectors = vectors * unit
    vectors /= np.sqrt(np.square(vectors).sum(axis=0))
    # The sign is of no importance to products, but should not depend on the machine.
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(p)])
    return features._replace(directions=np.ascontiguousarray(vectors), counts=counts)


def counts_for(n: int, n_rows: int, max_degree: int) -> tuple[int, ...]:
    """Return how many components can be multiplied in each degree, from degree 2 on."""
    left = n_rows // settings.ROWS_PER_FEATURE - 1 - n
    counts = []
    for degree in range(2, max_degree + 1):
        p = min(settings.COMPONENTS, n)
        while p and comb(p + degree - 1, degree) > min(left, settings.PRODUCTS):
            p -= 1
        if not p:
            break
        counts.append(p)
        left -= comb(p + degree - 1, degree)
    return tuple(counts)
