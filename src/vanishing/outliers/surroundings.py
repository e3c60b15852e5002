"""Where a row is, by the columns that no law determines: how far out, and how far from others.

Residuals compare a row with itself. Rows far out along the directions in which all vary obey the
same equations, and so do rows between groups. What both add to a score is never negative: to be in
the middle of others excuses no broken law.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from vanishing.outliers import settings
from vanishing.outliers.quantiles import quantiles
from vanishing.outliers.robust import squared_lengths

_PIECE = 256  # rows whose distances are in the cache
_NORMAL = 3.29  # width of the middle 90 % of a normal variable of variance 1


class Surroundings(NamedTuple):
    """Coordinates of rows, their main directions, and some training rows.

    Attributes
    ----------
    places : array of int of shape (f,)
        Of the varying columns, those that no law determines.
    middle, unit : array of shape (f,)
        Of these columns, in standard units; coordinates are relative to both.
    directions : array of shape (p, f)
        Main directions of the coordinates, in units of what rows are along them.
    origin : array of shape (p,)
        Middles along these.
    rows : array of shape (r, f)
        Coordinates of training rows: groups of equal size, one after the other.
    n_groups : int
    weights : array of shape (2,)
        What both parts count in scores.
    """

    places: np.ndarray
    middle: np.ndarray
    unit: np.ndarray
    directions: np.ndarray
    origin: np.ndarray
    rows: np.ndarray
    n_groups: int
    weights: np.ndarray

    @classmethod
    def none(cls) -> "Surroundings":
        """Return surroundings that add nothing."""
        empty, zero = np.zeros((0, 0)), np.zeros(0)
        return cls(np.zeros(0, dtype=np.int64), zero, zero, empty, zero, empty, 1, np.zeros(2))

    def coordinates(self, z: np.ndarray) -> np.ndarray:
        """Return the coordinates of standardised rows, shape (f, n_rows)."""
        at = (z[self.places] - self.middle[:, None]) / self.unit[:, None]
        return np.clip(at, -settings.FIT_LIMIT, settings.FIT_LIMIT, out=at)

    def parts(self, z: np.ndarray) -> np.ndarray:
        """Return logarithms of how far out rows are, and how far from others, (2, n_rows)."""
        parts = np.zeros((2, z.shape[1]))
        if len(self.directions):
            at = self.coordinates(z)
            along = self.directions @ at - self.origin[:, None]
            parts[0] = np.log(np.maximum(squared_lengths(along), settings.FLOOR))
            if len(self.rows):
                parts[1] = np.log(np.maximum(self._nearest(at), self.shortest))
        return parts

    @property
    def shortest(self) -> float:
        """Distance that counts as none."""
        return settings.NEAREST * float(np.sqrt(len(self.places)))

    @property
    def equal(self) -> float:
        """Squared distance of rows that are equal but for rounding."""
        return settings.EQUAL**2 * len(self.places)

    def _nearest(self, at: np.ndarray) -> np.ndarray:
        """Return the mean over groups of the distance to the nearest row of each.

        Rows that are equal to a row do not count, so that training rows are as new ones.
        """
        matrix = np.column_stack([-2.0 * self.rows, squared_lengths(self.rows.T)])
        at = np.vstack([at, np.ones(at.shape[1])])
        starts = range(0, at.shape[1], _PIECE)
        return np.concatenate([self._mean_nearest(matrix, at[:, i : i + _PIECE]) for i in starts])

    def _mean_nearest(self, matrix: np.ndarray, at: np.ndarray) -> np.ndarray:
        square = (matrix @ at).reshape(self.n_groups, -1, at.shape[1])
        length = squared_lengths(at) - 1.0
        nearest = square.min(axis=1) + length
        (same,) = np.nonzero((nearest < self.equal).any(axis=0))
        if len(same):
            others = square[:, :, same] + length[same]
            others[others < self.equal] = np.inf
            nearest[:, same] = others.min(axis=1)
            nearest[np.isinf(nearest)] = 0.0
        return np.sqrt(nearest).mean(axis=0)

    def followed(self, z: np.ndarray, weight: np.ndarray, share: float, random) -> "Surroundings":
        """Return the same with rows of a batch in place of a share of its own.

        Parameters
        ----------
        z : array of shape (n, n_rows)
            Rows of the batch that are no alarms.
        weight : array of shape (n_rows,)
        share : float
        random : Generator
        """
        chosen = random.uniform(size=len(self.rows)) < share
        if not weight.sum() > 0.0 or not chosen.any():
            return self
        drawn = random.choice(len(weight), np.count_nonzero(chosen), p=weight / weight.sum())
        rows = self.rows.copy()
        rows[chosen] = self.coordinates(z[:, drawn]).T
        return self._replace(rows=rows)


def surroundings_of(z: np.ndarray, weight: np.ndarray, is_free: np.ndarray, neighbours: bool):
    """Return the surroundings of rows.

    Parameters
    ----------
    z : array of shape (n, n_rows)
        Standardised rows that differ from one another, in random order.
    weight : array of shape (n_rows,)
    is_free : array of bool of shape (n,)
        Which columns no law determines.
    neighbours : bool
        Whether rows are compared with others.
    """
    places = np.flatnonzero(is_free)
    if not len(places):
        return Surroundings.none()
    few, weight = z[places][:, : settings.RANGE_ROWS], weight[: settings.RANGE_ROWS]
    middle, unit = _middles(few, weight)
    count = settings.GROUPS * settings.GROUP_ROWS if neighbours else 0
    n_groups = max(min(settings.GROUPS, -(-z.shape[1] // settings.GROUP_ROWS)), 1)
    count = min(count, z.shape[1]) // n_groups * n_groups
    share = len(places) / len(z)
    found = Surroundings.none()._replace(places=places, middle=middle, unit=unit)
    at = found.coordinates(z)
    # Rows count alike, however far out.
    few = at[:, : settings.RANGE_ROWS]
    signs = few * np.sqrt(weight / np.maximum(squared_lengths(few), 1e-300))
    p = min(settings.COMPONENTS, len(places))
    vectors = _largest(signs @ signs.T, p)
    origin, size = _middles(vectors.T @ few, weight)
    return found._replace(
        directions=np.ascontiguousarray(vectors.T / size[:, None]),
        origin=origin / size,
        rows=np.ascontiguousarray(at[:, :count].T),
        n_groups=n_groups,
        weights=share * np.array([settings.FAR_OUT, settings.FAR_FROM_OTHERS if count else 0.0]),
    )


def _largest(matrix: np.ndarray, count: int) -> np.ndarray:
    """Return the eigenvectors of the largest eigenvalues."""
    n = len(matrix)
    if n > settings.WIDE:
        return eigsh(matrix, count, v0=np.ones(n), tol=1e-3)[1]
    return eigh(matrix, subset_by_index=[n - count, n - 1])[1]


def _middles(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return medians along the second axis, and widths that the farthest rows do not change."""
    low, middle, high = quantiles(values.T, weight, (0.05, 0.5, 0.95))
    width = (high - low) / _NORMAL
    return middle, np.where(width > 1e-6, width, 1.0)
