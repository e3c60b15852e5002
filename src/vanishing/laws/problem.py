"""The rows of a search, in the variables of one state: y = M Y(w)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import Node, Number, of_term, substituted, total
from vanishing.algebra.terms import Term
from vanishing.fitting.smooth_terms import smooth_coordinates
from vanishing.fitting.surrogate import Surrogate, fit_surrogate
from vanishing.laws import settings
from vanishing.laws.dictionary import Variables
from vanishing.laws.reductions import Logarithms, ReductionState

# Least noise that Gram matrices tell from none, relative to the mean square of the target; what
# holds beyond it is found on the rows.
ROUNDING = 1e-13


class _Rows(NamedTuple):
    columns: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    positive: np.ndarray
    log_units: np.ndarray
    unit: float
    places: np.ndarray
    dimensions: np.ndarray | None = None
    precision: np.ndarray | None = None
    noisy: np.ndarray | None = None
    left_out: np.ndarray | None = None
    rounding: float = 0.0


class LawTable(_Rows):  # not a NamedTuple itself, which could keep nothing that it has computed
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
    noisy : array of shape (n_rows,) or None
        Share of each row's variance, as its precision has it, that is noise: of rows over many
        decades the least have less than that, because no row may count without bound.
    left_out : array of shape (n_left_out, n_rows) or None
        Columns that are not searched: laws must leave nothing that these explain.
    rounding : float
        What rounding leaves of the target, relative to its size: more than usual where columns were
        far from the origin.
    """

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

    @cached_property
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
            noisy=None if self.noisy is None else self.noisy[rows],
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
    def n_columns(self) -> int:
        """Number of columns, with those that are left out of the search."""
        return len(self.columns) + (0 if self.left_out is None else len(self.left_out))

    @property
    def has_few_rows(self) -> bool:
        """Whether rows are too few to fit all terms of a dictionary."""
        return self.n_rows < 4 * settings.DICTIONARY_TERMS

    @cached_property
    def few_rows_decide(self) -> bool:
        """Whether a few rows are so large that these alone decide, if noise is equal on all."""
        squares = (self.y / np.abs(self.y).max()) ** 2
        n_deciding = float(self.weight @ squares) ** 2 / float(self.weight @ squares**2)
        return n_deciding < settings.DECIDING_ROWS * self.n_observations

    @cached_property
    def norm(self) -> float:
        """Mean square of the target."""
        return float(self.weight @ self.y**2) / self.n_observations

    @cached_property
    def variance(self) -> float:
        """Variance of the target."""
        mean = self.weight @ self.y / self.n_observations
        return float(self.weight @ (self.y - mean) ** 2) / self.n_observations

    @cached_property
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

    def may_hold(self, least: float) -> bool:
        """Say whether terms that leave at least this mean square could explain half of y."""
        return least < settings.LEAST_EXPLAINED * self.table.variance

    @cached_property
    def root(self) -> np.ndarray:
        """Square roots of the rows' weights."""
        return np.sqrt(self.table.weight)

    # What each of many laws is fitted with.

    @cached_property
    def pull(self) -> np.ndarray:
        """What Y is multiplied by in weighted residuals."""
        return self.factor * self.root

    @cached_property
    def weighted_y(self) -> np.ndarray:
        """The target times the square roots of the rows' weights."""
        return self.table.y * self.root

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of values of all rows; np.average is much slower."""
        return float(self.table.weight @ values) / self.table.n_observations

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
        sums = {i: self._sum(i) for i in self.state.summands}
        return [substituted(term, variables, sums) for term in terms]

    def _sum(self, i: int) -> tuple[float, Node]:
        """Return a variable that is a sum, as a number times one in units of the columns."""
        units = np.exp2(np.round(self.table.log_units / np.log(2.0)))
        first, summand = self.state.variables[i], self.state.summands[i]
        size = float(np.prod(units**first))
        columns = [(*map(float, exponents), 0.0) for exponents in (first, summand.exponents)]
        parts = [
            of_term(Term(exponents), Number(number * size))
            for exponents, number in zip(columns, (1.0, summand.number), strict=True)
        ]
        return 1.0 / size, total(parts)

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
            single = single and len(columns) not in self.state.summands
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
        size = np.sqrt(self.mean(self.smooth**2))
        sign = np.where(self.smooth < 0.0, -1.0, 1.0)
        return np.where(np.abs(self.smooth) < share * size, share * size * sign, self.smooth)
