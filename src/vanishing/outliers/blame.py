"""The column of a row that is wrong, and the value it should have had.

If one column alone is wrong, another value of it makes the row obey the laws. So each column in
turn takes the value that is best by all others; the one after which least is left is to blame.
Where two leave about as little, the laws cannot tell them apart; then one whose value is outside
its own range is the likelier, and one that would have to be there the less likely.
"""

from typing import NamedTuple

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.gaps import GapFilling, MissingCells, slopes_of
from vanishing.outliers.robust import squared_lengths


class Blame(NamedTuple):
    """Columns of rows that are tried, and what is left once each has been corrected.

    Attributes
    ----------
    before : array of shape (n_rows,)
        Squared distances from what the equations say, in units of the noise.
    columns : array of int of shape (n_tried, n_rows)
        As places among the varying columns.
    left : array of shape (n_tried, n_rows)
        Squared distances that are left.
    expected : array of shape (n_tried, n_rows)
        Corrected values, in units of the table.
    outside : array of shape (n_tried, n_rows)
        1 where the value is outside the range of its column and the corrected one is not, -1 where
        it is the other way round, and else 0.
    """

    before: np.ndarray
    columns: np.ndarray
    left: np.ndarray
    expected: np.ndarray
    outside: np.ndarray

    def of_row(self, row: int) -> list[tuple[int, float]]:
        """Return the one or two columns to blame, the likelier first, and what is expected."""
        left = self.left[:, row]
        same = np.flatnonzero(left <= left.min() + settings.BLAME_SAME)
        order = same[np.lexsort((left[same], -self.outside[same, row]))][:2]
        return [(int(self.columns[i, row]), float(self.expected[i, row])) for i in order]

    def probabilities(self, row: int) -> dict[int, float]:
        """Return the chance of each column that it alone is wrong, the largest first."""
        evidence = -0.5 * self.left[:, row] / settings.BLAME_DOUBT
        evidence = evidence + settings.BLAME_RANGE * self.outside[:, row]
        chance = np.exp(evidence - evidence.max())
        chance /= chance.sum()
        order = np.argsort(-chance, kind="stable")
        return {int(self.columns[i, row]): float(chance[i]) for i in order if chance[i] > 1e-3}


def blame(filling: GapFilling, X, coef, size, suspicion, missing=None) -> Blame:
    """Correct columns of rows, one at a time.

    Parameters
    ----------
    filling : GapFilling
        What is expected of a column without products: where the search for its value begins, if it
        is nearer. Far from all rows, products lead it astray.
    X : array of shape (n_rows, n_columns)
    coef : array of shape (k, n_equations)
        Combinations of features that should be near zero.
    size : array of shape (n_equations, n_rows)
        How near.
    suspicion : array of shape (n, n_rows)
        Of wide tables only the columns that have most are tried.
    missing : array of bool of shape (n, n_rows), or None
        Cells that were filled in: they are not to blame, and follow a corrected column.
    """
    limit, features = settings.SCORE_LIMIT, filling.features
    z = features.standardised(X, limit)
    rows = np.arange(len(X))
    tried = np.argsort(-suspicion, axis=0, kind="stable")[: settings.BLAME_COLUMNS]
    left, expected = np.empty(tried.shape), np.empty(tried.shape)

    without = _without_missing(features, z, coef, size, missing)

    def residual(at):
        return without(coef.T @ features.values(at) / size)

    off = filling.precision @ (z - filling.mean[:, None])
    before = squared_lengths(residual(z))
    for i, column in enumerate(tried):
        y = z.copy()
        y[column, rows] -= off[column, rows] / filling.precision[column, column]
        farther = ~(squared_lengths(residual(y)) < before)
        y[:, farther] = z[:, farther]
        for _ in range(settings.BLAME_STEPS):  # Gauss-Newton
            slope = without(coef.T @ features.slopes(y, column) / size)
            step = (residual(y) * slope).sum(axis=0) / np.maximum(squared_lengths(slope), 1e-300)
            y[column, rows] = np.clip(y[column, rows] - step, -limit, limit)
        left[i] = squared_lengths(residual(y))
        expected[i] = y[column, rows] * features.scale[column] + features.centre[column]
        if missing is not None:
            left[i, missing[column, rows]] = np.inf
    found = X[rows, features.varying[tried]]
    outside = _outside(features, tried, found) - 1.0 * _outside(features, tried, expected)
    return Blame(before, tried, left, expected, outside)


def _outside(features: Features, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Say which values are outside the ranges of their columns."""
    return (values < features.low[columns]) | (values > features.high[columns])


def _without_missing(features: Features, z, coef, size, missing):
    """Return a function that takes out of residuals what missing cells could take up of them."""
    if missing is None or not missing.any():
        return lambda residual: residual
    rows = np.flatnonzero(missing.any(axis=0))
    cells = MissingCells.of(missing[:, rows])
    slopes = slopes_of(features, z[:, rows], cells, coef.T) / size[:, rows]
    curvature = np.einsum("iar,jar->rij", slopes, slopes)
    # Cells that no equation is about take up nothing.
    idle = np.einsum("rii->ri", curvature) <= 1e-300
    curvature = curvature + np.einsum("ri,ij->rij", idle, np.eye(idle.shape[1]))

    def without(residual):
        along = np.einsum("iar,ar->ri", slopes, residual[:, rows])
        step = cells.solve(curvature, along[:, :, None])[:, :, 0]
        residual[:, rows] -= np.einsum("iar,ri->ar", slopes, step)
        return residual

    return without
