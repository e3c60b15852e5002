"""The column of a row that is wrong, and the value it should have had.

If one column alone is wrong, another value of it makes the row obey the laws. So each column in
turn takes the value that is best by all others; the one after which least is left is to blame.
Where two leave about as little, the laws cannot tell them apart.
"""

from typing import NamedTuple

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.features import Features
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
    """

    before: np.ndarray
    columns: np.ndarray
    left: np.ndarray
    expected: np.ndarray

    def of_row(self, row: int) -> list[tuple[int, float]]:
        """Return the one or two columns to blame, and the values expected of them."""
        order = np.argsort(self.left[:, row], kind="stable")[:2]
        best = self.left[order, row]
        return [
            (int(self.columns[i, row]), float(self.expected[i, row]))
            for i in order[best <= best[0] + settings.BLAME_SAME]
        ]


def blame(features: Features, X, coef, size, suspicion) -> Blame:
    """Correct columns of rows, one at a time.

    Parameters
    ----------
    features : Features
    X : array of shape (n_rows, n_columns)
    coef : array of shape (k, n_equations)
        Combinations of features that should be near zero.
    size : array of shape (n_equations, n_rows)
        How near.
    suspicion : array of shape (n, n_rows)
        Of wide tables only the columns that have most are tried.
    """
    limit = settings.SCORE_LIMIT
    z = features.standardised(X, limit)
    rows = np.arange(len(X))
    tried = np.argsort(-suspicion, axis=0, kind="stable")[: settings.BLAME_COLUMNS]
    left, expected = np.empty(tried.shape), np.empty(tried.shape)

    def residual(at):
        return coef.T @ features.values(at) / size

    for i, column in enumerate(tried):
        y = z.copy()
        for _ in range(settings.BLAME_STEPS):  # Gauss-Newton
            slope = coef.T @ features.slopes(y, column) / size
            step = (residual(y) * slope).sum(axis=0) / np.maximum(squared_lengths(slope), 1e-300)
            y[column, rows] = np.clip(y[column, rows] - step, -limit, limit)
        left[i] = squared_lengths(residual(y))
        expected[i] = y[column, rows] * features.scale[column] + features.centre[column]
    return Blame(squared_lengths(residual(z)), tried, left, expected)
