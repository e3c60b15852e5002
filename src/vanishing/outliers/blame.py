"""The column of a row that is wrong, and the value it should have had.

If one column alone is wrong, another value of it makes the row obey the laws. So each column, with
its lags, in turn takes the value that is best by all others; the one after which least is left is
to blame. Where two leave about as little, the laws cannot tell them apart; then one whose value is
outside its own range is the likelier, and one that would have to be there the less likely, and so
is one after whose correction the row is farther from all others.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.gaps import GapFilling, MissingCells, slopes_of
from vanishing.outliers.lags import name_and_lag
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
    far : array of shape (n_tried, n_rows)
        Squared distances of the corrected rows from the others, without products.
    outside : array of shape (n_tried, n_rows)
        1 where the value is outside the range of its column and the corrected one is not, -1 where
        it is the other way round, and else 0.
    """

    before: np.ndarray
    columns: np.ndarray
    left: np.ndarray
    expected: np.ndarray
    far: np.ndarray
    outside: np.ndarray

    def of_row(self, row: int) -> list[tuple[int, float]]:
        """Return the one or two columns to blame, the likelier first, and what is expected."""
        left = self.left[:, row]
        same = np.flatnonzero(left <= left.min() + settings.BLAME_SAME)
        order = same[np.argsort(-self._evidence(row)[same], kind="stable")][:2]
        return [(int(self.columns[i, row]), float(self.expected[i, row])) for i in order]

    def _evidence(self, row: int) -> np.ndarray:
        """Return the logarithm of how likely each column is to be wrong alone, less a constant."""
        off = self.left[:, row] / settings.BLAME_DOUBT + self.far[:, row] / settings.BLAME_FAR
        return settings.BLAME_RANGE * self.outside[:, row] - 0.5 * off

    def probabilities(self, row: int) -> dict[int, float]:
        """Return the chance of each column that it alone is wrong, the largest first."""
        evidence = self._evidence(row)
        chance = np.exp(evidence - evidence.max())
        chance /= chance.sum()
        order = np.argsort(-chance, kind="stable")
        return {int(self.columns[i, row]): float(chance[i]) for i in order if chance[i] > 1e-3}


class Suspects(NamedTuple):
    """What may be wrong alone: columns, each with those of the same column some rows before.

    Attributes
    ----------
    places : array of int of shape (n_suspects, most)
        Among the varying columns; where there are fewer than for others, any place.
    real : array of bool of shape (n_suspects, most)
    """

    places: np.ndarray
    real: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str]) -> "Suspects":
        """Return the suspects among varying columns of given names."""
        own: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            own.setdefault(name_and_lag(name)[0], []).append(place)
        most = max(map(len, own.values()), default=1)
        padded = [[*places, *places[:1] * (most - len(places))] for places in own.values()]
        real = [np.arange(most) < len(places) for places in own.values()]
        return cls(np.array(padded, dtype=int).reshape(-1, most), np.array(real).reshape(-1, most))

    def cells(self, which: np.ndarray) -> MissingCells:
        """Return the columns of a suspect of each row."""
        return MissingCells(self.places[which], self.real[which])


def blame(filling: GapFilling, suspects: Suspects, X, coef, size, suspicion, missing) -> Blame:
    """Correct suspects of rows, one at a time.

    Parameters
    ----------
    filling : GapFilling
        What is expected of a column without products: where the search for its value begins, if it
        is nearer. Far from all rows, products lead it astray.
    suspects : Suspects
    X : array of shape (n_rows, n_columns)
    coef : array of shape (k, n_equations)
        Combinations of features that should be near zero.
    size : array of shape (n_equations, n_rows)
        How near.
    suspicion : array of shape (n, n_rows)
        Of wide tables only the columns that have most are tried.
    missing : array of bool of shape (n, n_rows)
        Cells that were filled in: they are not to blame, and are found together with a suspect.
    """
    features = filling.features
    z = features.standardised(X, settings.SCORE_LIMIT)
    equations = _Equations(filling, coef, size)
    of_suspects = (suspicion[suspects.places] * suspects.real[:, :, None]).max(axis=1)
    tried = np.argsort(-of_suspects, axis=0, kind="stable")[: settings.BLAME_COLUMNS]
    columns = np.empty(tried.shape, dtype=int)
    left, expected, found, far = (np.empty(tried.shape) for _ in range(4))
    before, rows = equations.off(equations.solved(z, missing)), np.arange(len(X))
    for i, which in enumerate(tried):
        cells = suspects.cells(which)
        y = equations.solved(z, missing | cells.mask(len(z)))
        left[i] = equations.off(y)
        off = y - filling.mean[:, None]
        far[i] = np.einsum("ir,ir->r", off, filling.precision @ off)
        change = np.abs(np.take_along_axis((y - z).T, cells.places, axis=1)) * cells.real
        gone = np.take_along_axis(missing.T, cells.places, axis=1)
        left[i, (gone | ~cells.real).all(axis=1)] = np.inf
        columns[i] = column = cells.places[rows, np.where(gone, -1.0, change).argmax(axis=1)]
        expected[i] = y[column, rows] * features.scale[column] + features.centre[column]
        found[i] = X[rows, features.varying[column]]
    outside = _outside(features, columns, found) - 1.0 * _outside(features, columns, expected)
    return Blame(before, columns, left, expected, far, outside)


class _Equations:
    """Equations that rows should obey, and values of cells that agree best with them."""

    def __init__(self, filling: GapFilling, coef: np.ndarray, size: np.ndarray):
        self.filling, self.coef, self.size = filling, coef, size

    def residual(self, z: np.ndarray) -> np.ndarray:
        """Return by how much standardised rows are off, in units of the noise."""
        return self.coef.T @ self.filling.features.values(z) / self.size

    def off(self, z: np.ndarray) -> np.ndarray:
        """Return the squared distances of rows."""
        return squared_lengths(self.residual(z))

    def solved(self, z: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        """Return rows with the values of unknown cells, shape (n, n_rows), that agree best."""
        if not unknown.any():
            return z
        filling, cells, limit = self.filling, MissingCells.of(unknown), settings.SCORE_LIMIT
        own = (filling.precision @ (z - filling.mean[:, None])).T
        own = np.take_along_axis(own, cells.places, axis=1)
        step = cells.solve(cells.of_matrix(filling.precision), own[:, :, None])[:, :, 0]
        y = cells.moved(z, -step, limit)
        farther = ~(self.off(y) < self.off(z))
        y[:, farther] = z[:, farther]
        for _ in range(settings.BLAME_STEPS):  # Gauss-Newton
            slope = slopes_of(filling.features, y, cells, self.coef.T) / self.size
            curvature = np.einsum("iar,jar->rij", slope, slope)
            # Where equations are about the sum of two cells alone, both take a part.
            trace = np.einsum("rii->r", curvature)[:, None, None]
            curvature = curvature + np.maximum(1e-9 * trace, 1e-300) * np.eye(curvature.shape[1])
            along = np.einsum("iar,ar->ri", slope, self.residual(y))
            y = cells.moved(y, -cells.solve(curvature, along[:, :, None])[:, :, 0], limit)
        return y


def _outside(features: Features, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Say which values are outside the ranges of their columns."""
    return (values < features.low[columns]) | (values > features.high[columns])
