"""Rows with gaps: what their missing cells would be by the others, and scores without them.

A missing cell takes the value at which the row obeys the laws best by the columns that it has. A
residual of a known column is then that of the known columns alone, up to its size, which follows
from the moments; the missing columns have none.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from vanishing.fitting.sample import row_keys
from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.model import Model
from vanishing.outliers.robust import Sums, whitener

_MOST_NUMBERS = 1 << 22  # that are worked on together


class MissingCells(NamedTuple):
    """The missing cells of rows that lack as many or fewer: places of varying columns.

    Attributes
    ----------
    places : array of int of shape (n_rows, n_missing)
        Where a row lacks fewer than others, any place.
    real : array of bool of shape (n_rows, n_missing)
        Whether a place is that of a missing cell.
    """

    places: np.ndarray
    real: np.ndarray

    @classmethod
    def of(cls, missing: np.ndarray) -> "MissingCells":
        """Return the missing cells of rows, from an array of bool of shape (n, n_rows)."""
        most = int(missing.sum(axis=0).max(initial=0))
        places = np.argsort(~missing.T, axis=1, kind="stable")[:, :most]
        return cls(places, np.take_along_axis(missing.T, places, axis=1))

    def solve(self, matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Solve the equations of each row among its missing cells; others are zero."""
        return np.linalg.solve(self.only(matrix), values * self._as(values))

    def only(self, matrix: np.ndarray) -> np.ndarray:
        """Return matrices of each row with ones in place of what is not missing."""
        both = self.real[:, :, None] & self.real[:, None, :]
        return np.where(both, matrix, np.eye(self.real.shape[1]))

    def mask(self, n: int) -> np.ndarray:
        """Return where these cells are, of n varying columns, shape (n, n_rows)."""
        rows, which = np.nonzero(self.real)
        mask = np.zeros((n, len(self.places)), dtype=bool)
        mask[self.places[rows, which], rows] = True
        return mask

    def moved(self, z: np.ndarray, step: np.ndarray, limit: float) -> np.ndarray:
        """Return standardised rows with a step of these cells, shape (n_rows, n_missing)."""
        rows, which = np.nonzero(self.real)
        places, moved = self.places[rows, which], z.copy()
        moved[places, rows] = np.clip(z[places, rows] + step[rows, which], -limit, limit)
        return moved

    def of_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """Return the part of a matrix that is among the missing cells of each row."""
        return matrix[self.places[:, :, None], self.places[:, None, :]]

    def _as(self, values: np.ndarray) -> np.ndarray:
        return self.real.reshape(self.real.shape + (1,) * (values.ndim - 2))


class GapFilling(NamedTuple):
    """How missing cells follow from others.

    Attributes
    ----------
    features : Features
    whitener : array of shape (k, k)
        Of the moments of laws.
    mean : array of shape (n,)
    precision : array of shape (n, n)
        Both of the columns alone, without products: where the search begins.
    """

    features: Features
    whitener: np.ndarray
    mean: np.ndarray
    precision: np.ndarray

    @classmethod
    def of(cls, features: Features, sums: Sums) -> "GapFilling":
        """Return what follows from the moments of laws."""
        linear = slice(1, 1 + features.n)
        gram = sums.gram / sums.weight
        mean = gram[0, linear] / gram[0, 0]
        covariance = gram[linear, linear] / gram[0, 0] - np.outer(mean, mean)
        covariance[np.diag_indices_from(covariance)] += sums.ridge
        return cls(features, whitener(sums), mean, np.linalg.inv(covariance))

    def __call__(self, X: np.ndarray, seed: int | None = None) -> np.ndarray:
        """Return rows without gaps.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        seed : int or None
            With a seed, values scatter about what is expected as much as is not known, so that what
            is learned from them is neither surer nor less noisy. They depend on what a row holds.
        """
        X = np.array(X, dtype=np.float64)
        features = self.features
        for column, value in zip(features.constant, features.value, strict=True):
            X[np.isnan(X[:, column]), column] = value
        for rows in _groups(np.isnan(X[:, features.varying]), features.size):
            known = X[rows]
            missing = np.isnan(known[:, features.varying]).T
            z, root = self._expected(known, missing)
            if seed is not None:
                z = z + self._scatter(known, missing, root, seed)
            values = (z * features.scale[:, None] + features.centre[:, None]).T
            known[:, features.varying] = np.where(missing.T, values, known[:, features.varying])
            X[rows] = known
        return X

    def _expected(self, X: np.ndarray, missing: np.ndarray):
        """Return standardised rows with what is expected, and the curvature at missing cells."""
        features, cells = self.features, MissingCells.of(missing)
        filled = np.where(missing.T, features.centre, X[:, features.varying])
        whole = X.copy()
        whole[:, features.varying] = filled
        z = features.standardised(whole, settings.FIT_LIMIT)
        off = np.where(missing, 0.0, z - self.mean[:, None])
        slope = np.take_along_axis((self.precision @ off).T, cells.places, axis=1)
        curvature = cells.of_matrix(self.precision)
        start = -cells.solve(curvature, slope[:, :, None])[:, :, 0]
        _put(z, cells, np.take(self.mean, cells.places) + start)
        for _ in range(settings.GAP_STEPS if features.counts else 0):  # Gauss-Newton
            residual = self.whitener @ features.values(z)
            slopes = slopes_of(features, z, cells, self.whitener)
            curvature = np.einsum("iar,jar->rij", slopes, slopes)
            slope = np.einsum("iar,ar->ri", slopes, residual)
            step = cells.solve(curvature, slope[:, :, None])[:, :, 0]
            z = cells.moved(z, -step, settings.FIT_LIMIT)
        return z, (cells, cells.only(curvature))

    def _scatter(self, X: np.ndarray, missing: np.ndarray, root, seed: int) -> np.ndarray:
        """Return deviations of missing cells that look random, as large as is not known."""
        cells, curvature = root
        columns = np.ascontiguousarray(X.T)
        uniform = np.array(
            [(row_keys(columns, seed + 1 + i) >> np.uint64(11)) + 0.5 for i in range(len(missing))]
        )
        normal = ndtri(uniform / 2.0**53)
        chosen = np.take_along_axis(normal.T, cells.places, axis=1)
        upper = np.linalg.cholesky(curvature).transpose(0, 2, 1)
        deviation = np.linalg.solve(upper, chosen[:, :, None])[:, :, 0]
        scatter = np.zeros(missing.shape)
        _put(scatter, cells, deviation)
        return scatter


def slopes_of(features: Features, z: np.ndarray, cells: MissingCells, matrix) -> np.ndarray:
    """Return the derivatives of ``matrix @ features`` by missing cells, (n_missing, k, n_rows)."""
    slopes = [matrix @ features.slopes(z, places) for places in cells.places.T]
    return np.array(slopes) * cells.real.T[:, None, :]


def _put(z: np.ndarray, cells: MissingCells, values: np.ndarray) -> None:
    """Write values of missing cells, shape (n_rows, n_missing), into standardised rows."""
    rows, which = np.nonzero(cells.real)
    z[cells.places[rows, which], rows] = values[rows, which]


def _groups(missing: np.ndarray, size: int):
    """Yield places of rows that lack about as many cells, as many as are worked on together."""
    counts = missing.sum(axis=1)
    with_gaps = np.flatnonzero(counts)
    with_gaps = with_gaps[np.argsort(counts[with_gaps], kind="stable")]
    start = 0
    while start < len(with_gaps):
        rows = max(1, _MOST_NUMBERS // (size * int(counts[with_gaps[start]])))
        stop = min(start + min(rows, 2048), len(with_gaps))
        # Of as many missing cells, or a few more.
        limit = 2 * counts[with_gaps[start]]
        stop = start + int(np.searchsorted(counts[with_gaps[start:stop]], limit, side="right"))
        yield with_gaps[start:stop]
        start = stop


def widths(model: Model, sums: tuple[Sums, Sums], X: np.ndarray, missing: np.ndarray):
    """Return what residuals of the bulk and of laws are multiplied by where cells are missing.

    A residual is a direction in which features are white. What missing cells can take up of it is
    gone once they are filled in, and what is left has its size again. Local: features are bent.

    Parameters
    ----------
    model : Model
    sums : pair of Sums
        Moments of the bulk, and of laws.
    X : array of shape (n_rows, n_columns)
        Filled in.
    missing : array of bool of shape (n, n_rows)
        Of the varying columns.

    Returns
    -------
    bulk, law : array of shape (n, n_rows)
        Zero for missing columns, 1 in rows without gaps.
    """
    features = model.features
    z = features.standardised(X, settings.FIT_LIMIT)
    factors = np.ones((2, *missing.shape))
    matrices = [
        (whitener(part), of.coef.T) for part, of in zip(sums, (model.bulk, model.law), strict=True)
    ]
    for rows in _groups(missing.T, features.size):
        cells = MissingCells.of(missing[:, rows])
        for factor, (white, directions) in zip(factors, matrices, strict=True):
            slopes = slopes_of(features, z[:, rows], cells, white)
            curvature = np.einsum("iar,jar->rij", slopes, slopes)
            taken = slopes_of(features, z[:, rows], cells, directions).transpose(2, 0, 1)
            left = 1.0 - np.einsum("rij,rij->rj", taken, cells.solve(curvature, taken))
            factor[:, rows] = 1.0 / np.sqrt(np.maximum(left, settings.GAP_LEFT)).T
    bulk, law = np.where(missing, 0.0, factors)
    return bulk, law


def scores(model: Model, sums: tuple[Sums, Sums], X: np.ndarray) -> np.ndarray:
    """Return the scores of rows, of those with gaps by the columns that they have.

    Parameters
    ----------
    model : Model
    sums : pair of Sums
        Moments of the bulk, and of laws.
    X : array of shape (n_rows, n_columns)
    """
    gaps = np.isnan(X)
    with_gaps = gaps.any(axis=1)
    if not with_gaps.any():
        return model.scores(X)
    values = np.empty(len(X))
    if not with_gaps.all():
        values[~with_gaps] = model.scores(X[~with_gaps])
    filled = GapFilling.of(model.features, sums[1])(X[with_gaps])
    missing = gaps[with_gaps][:, model.features.varying].T
    values[with_gaps] = model.scores(filled, widths(model, sums, filled, missing))
    return values
