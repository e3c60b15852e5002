"""Variables of conserved quantities: columns, functions of columns, and monomials in both."""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from vanishing.algebra.evaluation import values_on
from vanishing.algebra.functions import Function
from vanishing.algebra.monomials import plan_up_to, terms_of
from vanishing.algebra.terms import Evaluator, Factor, Term, monomial
from vanishing.fitting.asked_functions import asked_functions, carries_more
from vanishing.motion import settings


class Variable(NamedTuple):
    """A column, or a function of one."""

    column: int
    function: Function | None = None

    def value(self, columns: np.ndarray) -> np.ndarray:
        """Return its values on rows."""
        x = columns[self.column]
        return x if self.function is None else self.function.value(x)

    def slope(self, columns: np.ndarray) -> np.ndarray:
        """Return its derivative by its column."""
        x = columns[self.column]
        return np.ones_like(x) if self.function is None else self.function.derivative(x)

    def carries_more(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Say whether it can be told from powers of its column, between two values of each."""
        if self.function is None:
            return True
        points = np.linspace(low[self.column], high[self.column], 65)
        with np.errstate(all="ignore"):
            return carries_more(self.function.value(points), points)


def asked_variables(functions, names: Sequence[str]) -> list[tuple[Variable, bool]]:
    """Return the columns and the functions of them that are asked for.

    A function that is asked of no column by its name, marked False, is of those where it is
    defined.
    """
    if isinstance(functions, str):
        raise ValueError(
            f"functions must be a tuple of names or a dict from columns to such: write "
            f"({functions!r},)."
        )
    variables = dict.fromkeys([(Variable(j), True) for j in range(len(names))])
    for column, function in asked_functions(functions, names):
        for j in range(len(names)) if column is None else [column]:
            variables[Variable(j, function), column is not None] = None
    return list(variables)


class Terms(NamedTuple):
    """A few terms in columns, evaluated in units of their sizes."""

    terms: tuple[Term, ...]
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.terms)

    def values(self, columns: np.ndarray) -> np.ndarray:
        """Return the values of all terms, shape (n_terms, n_rows)."""
        return Evaluator(columns).values(self.terms) / self.sizes[:, None]


class MotionMonomials:
    """Monomials in scaled variables, without the constant, in DegLex order.

    Parameters
    ----------
    variables : sequence of Variable
    scale : array of shape (n_variables,)
        Sizes of the variables: monomials are in variables over these.
    max_degree : int
    """

    def __init__(self, variables: Sequence[Variable], scale: np.ndarray, max_degree: int):
        n = len(variables)
        count, most = comb(n + max_degree, n), settings.MAX_MONOMIALS
        if count > most:
            raise ValueError(
                f"{n} columns and functions have {count} monomials of degree up to {max_degree}, "
                f"more than {most}: lower max_degree, or leave columns or functions out."
            )
        self.variables, self.scale = tuple(variables), scale
        self.plan = plan_up_to(n, max_degree)
        self.exponents = terms_of(self.plan, n)[1:].astype(np.int64)
        self.degree = self.exponents.sum(axis=1)
        self.place = {tuple(row): i for i, row in enumerate(self.exponents.tolist())}

    def __len__(self) -> int:
        return len(self.exponents)

    def values(self, columns: np.ndarray) -> np.ndarray:
        """Return the values of all monomials, shape (n_monomials, n_rows)."""
        return values_on(self._scaled(columns), self.plan)[1:]

    def derivatives(self, columns: np.ndarray, column: int, places) -> np.ndarray:
        """Return the derivatives of some monomials by a column, shape (n_places, n_rows)."""
        evaluator = Evaluator(self._scaled(columns))
        terms = [monomial(row) for row in self.exponents[places]]
        slopes = np.zeros((len(terms), columns.shape[1]))
        for k, (variable, scale) in enumerate(zip(self.variables, self.scale, strict=True)):
            if variable.column == column:
                slopes += evaluator.derivatives(terms, k) * (variable.slope(columns) / scale)
        return slopes

    def _scaled(self, columns: np.ndarray) -> np.ndarray:
        pairs = zip(self.variables, self.scale, strict=True)
        return np.array([variable.value(columns) / scale for variable, scale in pairs])

    def term(self, i: int, n_columns: int) -> Term:
        """Return a monomial as a term in the columns as they are."""
        exponents, factors = np.zeros(n_columns), []
        for variable, power in zip(self.variables, self.exponents[i].tolist(), strict=True):
            if not power:
                continue
            if variable.function is None:
                exponents[variable.column] += power
            else:
                inside = tuple(np.eye(n_columns)[variable.column].tolist())
                factors.append(Factor(variable.function, 1.0, inside, power))
        return Term(tuple(exponents.tolist()), tuple(factors))

    def sizes(self) -> np.ndarray:
        """Return what each monomial in scaled variables has to be multiplied by to have none."""
        return np.prod(self.scale**self.exponents, axis=1)
