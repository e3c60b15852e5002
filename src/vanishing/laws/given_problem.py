"""An equation that somebody has in mind, on rows: residuals in units of the target."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.equations import GivenEquation

_NEWTON = 20  # steps to the nearest solution
_STEPS_THERE = 5  # to the nearest point where an equation holds


class Problem(NamedTuple):
    """An equation on rows.

    Attributes
    ----------
    equation : GivenEquation
    columns : ndarray of shape (n_columns, n_rows)
    weight : ndarray of shape (n_rows,)
        What each row counts beside the others.
    target : int or None
        The column in whose units residuals are; None for deviations from the equation relative to
        the spread of all columns.
    """

    equation: GivenEquation
    columns: np.ndarray
    weight: np.ndarray
    target: int | None

    def rows(self, chosen) -> "Problem":
        """Return the problem on some of the rows."""
        return self._replace(columns=self.columns[:, chosen], weight=self.weight[chosen])

    def mean_square(self, values: np.ndarray) -> float:
        """Return a weighted mean of squares."""
        return float(self.weight @ values**2 / self.weight.sum())

    def spread(self, column: int) -> float:
        """Return the standard deviation of a column."""
        values = self.columns[column]
        return np.sqrt(self.mean_square(values - np.average(values, weights=self.weight)))

    # -- Residuals --------------------------------------------------------------------------------

    def value(self, constants, columns=None) -> np.ndarray:
        """Return what the equation says is zero."""
        return self.equation.value(self.columns if columns is None else columns, constants)

    def slope(self, constants, column: int, columns=None) -> np.ndarray:
        """Return its derivative with respect to a column."""
        return self.equation.slope(self.columns if columns is None else columns, constants, column)

    def constant_slopes(self, constants, columns=None) -> np.ndarray:
        """Return derivatives with respect to all constants, shape (n_constants, n_rows)."""
        return self.equation.jacobian(self.columns if columns is None else columns, constants)

    def gradient(self, constants) -> np.ndarray:
        """Return how much the value changes with a spread of all columns."""
        slopes = [self.slope(constants, i) * self.spread(i) for i in self.equation.columns]
        return np.sqrt(np.sum(np.square(slopes), axis=0))

    def nearest_points(self, constants) -> np.ndarray:
        """Return columns moved to where the equation holds, each in units of its spread."""
        columns, used = self.columns.copy(), list(self.equation.columns)
        spread = np.array([[self.spread(i)] for i in used])
        # What is left of the way there would tell where a point came from.
        for _ in range(_STEPS_THERE):
            slopes = spread * [self.slope(constants, i, columns) for i in used]
            step = self.value(constants, columns) / np.sum(slopes**2, axis=0)
            columns[used] -= spread * slopes * step
        return columns

    def unit(self, constants) -> np.ndarray:
        """Return what a residual of one changes the value by, to first order."""
        if self.target is None:
            return self.gradient(constants)
        sign = self._sign_of_target
        if sign is not None:
            return np.full(len(self.weight), sign)
        return self.slope(constants, self.target)

    @property
    def _sign_of_target(self) -> float | None:
        """The slope by the target where it stands alone in the equation, as it was written."""
        return self.equation.sign_of_alone if self.target == self.equation.alone else None

    def solutions(self, constants) -> np.ndarray:
        """Return columns in which the target is the solution nearest to its value, by Newton.

        Where there is none it is what the first step leads to.
        """
        assert self.target is not None
        columns = self.columns.copy()
        sign = self._sign_of_target
        if sign is not None:
            columns[self.target] -= sign * self.value(constants, columns)
            return columns
        size = np.sqrt(self.mean_square(columns[self.target]))
        first = None
        for _ in range(_NEWTON):
            slope = self.slope(constants, self.target, columns)
            step = self.value(constants, columns) / slope
            columns[self.target] -= step
            if first is None:
                first = columns[self.target].copy()
            if np.max(np.abs(step), where=np.isfinite(step), initial=0.0) <= 1e-13 * size:
                break
        solved = np.abs(step) <= 1e-6 * size
        columns[self.target] = np.where(solved, columns[self.target], first)
        return columns

    def residuals(self, constants) -> np.ndarray:
        """Return residuals in units of the target; infinite or NaN where there are none."""
        with np.errstate(all="ignore"):
            if self.target is None:
                return self.value(constants) / self.gradient(constants)
            return self.columns[self.target] - self.solutions(constants)[self.target]

    def jacobian(self, constants, scale) -> np.ndarray:
        """Return derivatives of the residuals, shape (n_rows, n_constants)."""
        with np.errstate(all="ignore"):
            if self.target is not None:
                columns = self.solutions(constants)
                slope = self._sign_of_target or self.slope(constants, self.target, columns)
                return (self.constant_slopes(constants, columns) / slope).T
            steps = 1e-6 * np.diag(np.maximum(np.abs(constants), 1e-3 * scale))
            return np.array(
                [
                    (self.residuals(constants + h) - self.residuals(constants - h)) / (2 * h.sum())
                    for h in steps
                ]
            ).T

    # -- The logarithm of the target --------------------------------------------------------------

    @property
    def has_logarithm(self) -> bool:
        """Whether the target has one sign on all rows."""
        if self.target is None:
            return False
        signs = np.sign(self.columns[self.target])
        return bool(signs[0] and (signs == signs[0]).all())

    def log_residuals(self, constants) -> np.ndarray:
        """Return residuals of the logarithm of the target; NaN where there are none."""
        assert self.target is not None
        with np.errstate(all="ignore"):
            return -np.log1p(-self.residuals(constants) / self.columns[self.target])

    def log_jacobian(self, constants, scale) -> np.ndarray:
        """Return derivatives of these residuals, shape (n_rows, n_constants)."""
        assert self.target is not None
        with np.errstate(all="ignore"):
            predicted = self.columns[self.target] - self.residuals(constants)
            return self.jacobian(constants, scale) / predicted[:, np.newaxis]
