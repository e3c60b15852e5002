"""Terms of laws: products of powers of columns, and of functions of such products."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.functions import POWERS, Function


class Expression:
    """Any expression in columns: `vanishing.algebra.expressions.Inside` is one of trees."""

    node: Any

    @property
    def columns(self) -> frozenset[int]:
        """Places of the columns that occur."""
        raise NotImplementedError

    def value(self, columns: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
        """Return its values on columns."""
        raise NotImplementedError


class Factor(NamedTuple):
    """``function(scale * product of columns ** exponents * inside) ** power``.

    There is something inside where a function is of more than a product of powers.
    """

    function: Function
    scale: float
    exponents: tuple[float, ...]
    power: int = 1
    inside: Expression | None = None

    def involves(self, column: int) -> bool:
        """Say whether the factor depends on a column."""
        is_inside = self.inside is not None and column in self.inside.columns
        return bool(self.exponents[column]) or is_inside


class Term(NamedTuple):
    """``product of columns ** exponents``, times factors."""

    exponents: tuple[float, ...]
    factors: tuple[Factor, ...] = ()

    def involves(self, column: int) -> bool:
        """Say whether the term depends on a column."""
        return bool(self.exponents[column]) or any(f.involves(column) for f in self.factors)

    @property
    def is_constant(self) -> bool:
        """Whether the term depends on no column."""
        return not any(self.exponents) and not self.factors

    @property
    def degree(self) -> float:
        """Sum of the sizes of all exponents; a function counts one and what is inside."""
        inside = 0.0
        for factor in self.factors:
            inside += abs(factor.power) * max(1.0, sum(map(abs, factor.exponents)))
        return sum(map(abs, self.exponents)) + inside

    @property
    def dimensions(self) -> tuple[list[float], list[tuple[float, ...]]]:
        """Exponents of the columns, in roots as well, and those of what other functions are of."""
        whole, inside = np.array(self.exponents), []
        for factor in self.factors:
            if factor.inside is not None:
                continue
            if factor.function.name in POWERS:
                root = factor.power * POWERS[factor.function.name]
                whole = whole + root * np.array(factor.exponents)
            else:
                inside.append(factor.exponents)
        return whole.tolist(), inside

    def times(self, exponents: Sequence[float]) -> "Term":
        """Return the term times powers of columns."""
        return self._replace(exponents=_added(self.exponents, exponents))


def check_term(term: Term, n_columns: int, kind: str) -> None:
    """Raise ValueError unless a term is one of so many columns."""
    for exponents in (term.exponents, *(factor.exponents for factor in term.factors)):
        if len(exponents) != n_columns or not np.isfinite(exponents).all():
            raise ValueError(f"a term of a {kind} has one finite exponent per column.")
    if not all(f.scale and np.isfinite(f.scale) and f.power for f in term.factors):
        raise ValueError(f"a function in a {kind} needs a finite scale and a power, not 0.")


def _added(left, right) -> tuple[float, ...]:
    return tuple(float(a + b) for a, b in zip(left, right, strict=True))


def monomial(exponents: Iterable[float]) -> Term:
    """Return the term that is a product of powers of columns."""
    return Term(tuple(map(float, exponents)))


def derivative(term: Term, column: int) -> list[tuple[float, Term]]:
    """Return the derivative of a term with respect to a column: terms and their numbers."""
    parts = []
    lower = tuple(-float(i == column) for i in range(len(term.exponents)))
    if term.exponents[column]:
        parts.append((term.exponents[column], term.times(lower)))
    for i, factor in enumerate(term.factors):
        if not factor.involves(column):
            continue
        if factor.inside is not None:
            raise TypeError("a term that holds another expression has no derivative in terms.")
        number = factor.power * factor.scale * factor.exponents[column]
        others = term.factors[:i] + term.factors[i + 1 :]
        if factor.power != 1:
            others += (factor._replace(power=factor.power - 1),)
        slope = factor._replace(function=factor.function.derived, power=1)
        outer = term._replace(factors=(*others, slope))
        parts.append((number, outer.times(factor.exponents).times(lower)))
    return parts


def raised(base: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of an array."""
    size = abs(exponent)
    if size % 1 == 0 and 1 <= size <= 8:
        # Products: powers of floats are ten times slower, and round differently.
        value = base
        for _ in range(int(size) - 1):
            value = base * value
    else:
        value = np.sqrt(base) if size == 0.5 else base**size
    return value if exponent > 0.0 else 1.0 / value


class Evaluator:
    """Values of terms on some rows; what terms have in common is computed once.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    """

    def __init__(self, columns: np.ndarray):
        self.columns = columns
        self._powers: dict[tuple[int, float], np.ndarray] = {}
        self._factors: dict[Factor, np.ndarray] = {}

    def power(self, column: int, exponent: float) -> np.ndarray:
        """Return a power of a column."""
        key = (column, exponent)
        if key not in self._powers:
            self._powers[key] = raised(self.columns[column], exponent)
        return self._powers[key]

    def monomial(self, exponents: Sequence[float]) -> np.ndarray | None:
        """Return a product of powers of columns; None for 1."""
        value = None
        for column, exponent in enumerate(exponents):
            if exponent:
                power = self.power(column, float(exponent))
                value = power if value is None else value * power
        return value

    def factor(self, factor: Factor) -> np.ndarray:
        """Return the values of a factor."""
        if factor not in self._factors:
            inside = self.monomial(factor.exponents)
            if inside is None:
                inside = np.ones(self.columns.shape[1])
            if factor.inside is not None:
                inside = inside * factor.inside.value(self.columns)
            value = factor.function.value(inside if factor.scale == 1.0 else factor.scale * inside)
            self._factors[factor] = value if factor.power == 1 else value**factor.power
        return self._factors[factor]

    def value(self, term: Term) -> np.ndarray:
        """Return the values of a term, shape (n_rows,)."""
        value = self.monomial(term.exponents)
        for factor in term.factors:
            value = self.factor(factor) if value is None else value * self.factor(factor)
        return np.ones(self.columns.shape[1]) if value is None else value

    def values(self, terms: Sequence[Term]) -> np.ndarray:
        """Return the values of terms, shape (n_terms, n_rows)."""
        values = np.empty((len(terms), self.columns.shape[1]))
        for row, term in zip(values, terms, strict=True):
            row[:] = self.value(term)
        return values

    def derivative(self, term: Term, column: int) -> np.ndarray:
        """Return the derivative of a term with respect to a column, shape (n_rows,)."""
        total = np.zeros(self.columns.shape[1])
        for number, part in derivative(term, column):
            total += number * self.value(part)
        return total

    def derivatives(self, terms: Sequence[Term], column: int) -> np.ndarray:
        """Return the derivatives of terms with respect to a column, shape (n_terms, n_rows)."""
        return np.array([self.derivative(term, column) for term in terms])

    def slope(self, terms: Sequence[Term], coef: np.ndarray, column: int) -> np.ndarray:
        """Return the derivative of a sum of terms with respect to a column, shape (n_rows,).

        Terms without the column are passed over: sums of many columns have one term with each.
        """
        total = np.zeros(self.columns.shape[1])
        for number, term in zip(coef, terms, strict=True):
            if term.involves(column):
                total += number * self.derivative(term, column)
        return total
