"""The rows of a search, in the variables of one state: y = M Y(w)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Term, substituted
from vanishing.fitting.smooth_terms import smooth_coordinates
from vanishing.fitting.surrogate import Surrogate, fit_surrogate
from vanishing.laws import settings
from vanishing.laws.dictionary import Variables
from vanishing.laws.reductions import Logarithms, ReductionState

# Least noise that Gram matrices tell from none, relative to the mean square of the target; what
# holds beyond it is found on the rows.
ROUNDING = 1e-13


class LawTable(NamedTuple):
    """Scaled rows of a search.

    Attributes
    ----------
    columns : array of shape (n_columns, n_rows)
        In units near their size, which are powers of two.
    y : array of shape (n_rows,)
        The target, likewise, with a sign that makes its mean positive.
    weight : array of shape (n_rows,)
        In the unit in which they sum up to the number of observations.
    positive : array of bool of shape (n_columns,)
    log_units : array of shape (n_columns,)
        Logarithms of the units.
    unit : float
        Of the target, with its sign.
    places : array of int of shape (n_columns,)
        Which columns of the rows these are.
    dimensions : array of shape (n_columns + 1, n_base) or None
        Of the columns and the target, where laws must be homogeneous.
    precision : array of shape (n_rows,) or None
        What weights were multiplied by, since noise is not the same on all rows.
    left_out : array of shape (n_left_out, n_rows) or None
        Columns that are not searched: laws must leave nothing that these explain.
    rounding : float
        What rounding leaves of the target, relative to its size: more than usual where columns were
        far from the origin.
    """

    columns: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    positive: np.ndarray
    log_units: np.ndarray
    unit: float
    places: np.ndarray
    dimensions: np.ndarray | None = None
    precision: np.ndarray | None = None
    left_out: np.ndarray | None = None
    rounding: float = 0.0

    def of_columns(self, kept: np.ndarray) -> "LawTable":
        """Return the table of some of the columns; the others are left out of the search."""
        others = np.setdiff1d(np.arange(len(self.columns)), kept)
        dimensions = self.dimensions
        return self._replace(
            columns=self.columns[kept],
            positive=self.positive[kept],
            log_units=self.log_units[kept],
            places=self.places[kept],
            dimensions=None if dimensions is None else dimensions[[*kept, -1]],
            left_out=self.columns[others] if len(others) else None,
        )

    @property
    def exact(self) -> float:
        """Residual relative to the size of the target of a law that is exact.

        It is little beside the target's spread, too, which may be far less than its size.
        """
        spread = float(np.sqrt(self.variance / self.norm))
        return min(max(settings.EXACT, self.rounding), settings.THIN * spread)

    def at(self, rows) -> "LawTable":
        """Return some of the rows."""
        return self._replace(
            columns=np.ascontiguousarray(self.columns[:, rows]),
            y=self.y[rows],
            weight=self.weight[rows],
            precision=None if self.precision is None else self.precision[rows],
            left_out=None if self.left_out is None else self.left_out[:, rows],
        )

    @property
    def counts(self) -> np.ndarray:
        """How often each row counts, whatever its noise."""
        return self.weight if self.precision is None else self.weight / self.precision

    @property
    def log_precision(self) -> float:
        """Sum over rows of the logarithm of their precision: twice a log-likelihood has it."""
        return 0.0 if self.precision is None else float(self.counts @ np.log(self.precision))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def has_few_rows(self) -> bool:
        """Whether rows are too few to fit all terms of a dictionary."""
        return self.n_rows < 4 * settings.DICTIONARY_TERMS

    @property
    def norm(self) -> float:
        """Mean square of the target."""
        return float(np.average(self.y**2, weights=self.weight))

    @property
    def variance(self) -> float:
        """Variance of the target."""
        mean = np.average(self.y, weights=self.weight)
        return float(np.average((self.y - mean) ** 2, weights=self.weight))

    @property
    def n_observations(self) -> float:
        """The number of observations."""
        return float(self.weight.sum())


def surrogate_of(table: LawTable) -> tuple[Surrogate, np.ndarray]:
    """Return a surrogate of the target, fitted to the first rows, and what it sees of all rows."""
    first = slice(0, settings.FIRST_ROWS)
    coordinates = smooth_coordinates(table.columns, table.positive)
    y = table.y[first]
    ones = np.ones_like(y)
    return fit_surrogate(coordinates[:, first], ones, y, table.weight[first]), coordinates


@dataclass(frozen=True, eq=False)
class Reduced:
    """Rows of a table in the variables of a state, and what is known of the noise.

    Attributes
    ----------
    table : LawTable
    state : ReductionState
    w : array of shape (n_variables, n_rows)
    factor : array of shape (n_rows,)
        M.
    Y : array of shape (n_rows,)
        y / M.
    smooth : array of shape (n_rows,)
        Y without noise, as far as is known: first the surrogate's value.
    noise : float
        Variance of the noise of y, as far as is known.
    """

    table: LawTable
    state: ReductionState
    w: np.ndarray
    factor: np.ndarray
    Y: np.ndarray
    smooth: np.ndarray
    noise: float

    @classmethod
    def of(cls, table: LawTable, state: ReductionState) -> "Reduced":
        """Return the rows of a table in the variables of a state that has a surrogate."""
        logarithms = Logarithms(table.columns, table.positive)
        factor = logarithms.factor(state)
        surrogate, logarithmic = state.fit()
        smooth = surrogate.values(logarithms.coordinates(state, logarithmic))
        noise = max(surrogate.mean_square, ROUNDING * table.norm)
        w = logarithms.variables(state)
        return cls(table, state, w, factor, table.y / factor, smooth, noise)

    def learnt(self, smooth: np.ndarray, noise: float) -> "Reduced":
        """Return the same rows with a better idea of Y without noise, and of the noise."""
        smooth = np.where(np.isfinite(smooth), smooth, self.smooth)
        return replace(self, smooth=smooth, noise=noise)

    @cached_property
    def root(self) -> np.ndarray:
        """Square roots of the rows' weights."""
        return np.sqrt(self.table.weight)

    @property
    def dimensions(self) -> np.ndarray | None:
        """Of the variables and of Y, where laws must be homogeneous."""
        if self.table.dimensions is None:
            return None
        *columns, target = self.table.dimensions
        dimensions = np.vstack([self.state.variables, -self.state.factor]) @ np.array(columns)
        dimensions[-1] += target
        return dimensions

    def in_columns(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms of (w, Y) as terms of the table's columns, the target last."""
        n_columns = len(self.table.columns)
        variables = np.zeros((self.n_variables + 1, n_columns + 1))
        variables[:-1, :-1] = self.state.variables
        variables[-1, :-1] = -self.state.factor
        variables[-1, -1] = 1.0
        return [substituted(term, variables) for term in terms]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.w)

    @property
    def variables(self) -> Variables:
        """What terms need to know of the variables."""
        columns: list[int | None] = []
        for exponents in self.state.variables:
            used = np.flatnonzero(exponents)
            single = len(used) == 1 and exponents[used[0]] == 1.0
            columns.append(int(self.table.places[used[0]]) if single else None)
        log_units = self.state.variables @ self.table.log_units
        values = self.w[:, : settings.COMPARED_ROWS]
        return Variables(self.state.positive.tolist(), log_units, columns, self.n_values, values)

    @cached_property
    def n_values(self) -> list[int]:
        """How many values each variable has on the first thousand rows."""
        return [len(np.unique(row[:1000].round(12))) for row in self.w]

    @property
    def relative_noise(self) -> float:
        """Noise over the size of the target."""
        return float(np.sqrt(self.noise / self.table.norm))

    def away_from_zero(self, share=0.03) -> np.ndarray:
        """Return the smooth Y, kept from zero where it is divided by."""
        size = np.sqrt(np.average(self.smooth**2, weights=self.table.weight))
        sign = np.where(self.smooth < 0.0, -1.0, 1.0)
        return np.where(np.abs(self.smooth) < share * size, share * size * sign, self.smooth)
