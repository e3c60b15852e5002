"""Equations from text as sums of terms in columns and constants."""

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Inside,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    columns_of,
    of_term,
)
from vanishing.algebra.functions import FUNCTIONS, IDENTITY, POWERS, Function, registered
from vanishing.algebra.syntax import TextReader, Token, listed, tokens
from vanishing.algebra.terms import Evaluator, Factor, Term

_MAX_TERMS = 400
_MAX_POWER = 20  # of a sum that is expanded

TermSum = dict[Term, float]  # terms and their numbers


class Quotient(NamedTuple):
    """A sum of terms over another."""

    above: TermSum
    below: TermSum


class Radical(NamedTuple):
    """A square root of a sum: a variable of its own, and the quotient that is its square."""

    place: int
    square: Quotient


class _TooManyTerms(Exception):
    """An expression is too long to be expanded."""


class GivenEquation(NamedTuple):
    """The sum of ``numbers[j]`` times term j is zero.

    Attributes
    ----------
    terms : tuple of Term
        In the columns and, behind them, the constants.
    numbers : ndarray of shape (n_terms,)
    zero : Differentiable
        What is zero where the equation holds, in the same variables: as it was written where a
        column stands alone, else the sum of the terms.
    formula : Node or None
        What the column that stands alone is, as it was written, where terms say less.
    n_columns : int
    constants : tuple of str
        Names that are no columns.
    alone : int or None
        The column that one side consists of, if the other is without it.
    rooted : dict
        The equation before its roots were squared, in columns, constants and roots.
    radicals : tuple of Radical
    """

    terms: tuple[Term, ...]
    numbers: np.ndarray
    zero: Differentiable
    formula: Node | None
    n_columns: int
    constants: tuple[str, ...]
    alone: int | None
    rooted: TermSum
    radicals: tuple[Radical, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """Places of the columns that occur."""
        places = range(self.n_columns)
        return tuple(i for i in places if any(term.involves(i) for term in self.terms))

    def value(self, columns: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Return what is zero, from columns of shape (n_columns, n_rows) and constants."""
        return self._per_row(self.zero.value([*columns, *constants]), columns)

    def slope(self, columns: np.ndarray, constants: np.ndarray, column: int) -> np.ndarray:
        """Return its derivative by a column, shape (n_rows,)."""
        (slope,) = self.zero.gradient([*columns, *constants], [column])
        return self._per_row(slope, columns)

    def jacobian(self, columns: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Return its derivatives by the constants, shape (n_constants, n_rows)."""
        places = range(self.n_columns, self.n_columns + len(self.constants))
        slopes = self.zero.gradient([*columns, *constants], places)
        return np.array([self._per_row(slope, columns) for slope in slopes])

    @staticmethod
    def _per_row(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.array(np.broadcast_to(values, columns.shape[1]))

    @property
    def sign_of_alone(self) -> float | None:
        """The derivative by the column that stands alone, where what is zero is as it was written.

        It is 1 or -1; None where no column stands alone, or terms were multiplied out.
        """
        match self.zero.node:
            case Sum(parts=(Column(place=place), Product(parts=(Number(value=-1.0), _)))):
                return 1.0 if place == self.alone else None
            case Sum(parts=(_, Product(parts=(Number(value=-1.0), Column(place=place))))):
                return -1.0 if place == self.alone else None
        return None

    @property
    def linear(self) -> tuple[int, ...]:
        """Places among the constants of those that the equation is linear in, all together."""
        chosen: list[int] = []
        for k in range(len(self.constants)):
            places = frozenset(self.n_columns + i for i in (*chosen, k))
            if degree_in(self.zero.node, places) <= 1:
                chosen.append(k)
        return tuple(chosen)

    def on_wrong_branch(self, columns: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Say on which rows the equation holds rather with a square root taken negative."""
        wrong = np.zeros(columns.shape[1], dtype=bool)
        if not self.radicals:
            return wrong
        repeated = np.repeat(constants[:, np.newaxis], columns.shape[1], axis=1)
        values = np.vstack([columns, repeated])
        places = [radical.place for radical in self.radicals]
        width = max(places) + 1
        values = np.vstack([values, np.ones((width - len(values), columns.shape[1]))])
        for radical in self.radicals:
            # Later roots do not occur in the square of an earlier one.
            above, below = (_evaluated(s, values, width) for s in radical.square)
            values[radical.place] = np.sqrt(np.maximum(above / below, 0.0))
        size = np.abs(_evaluated(self.rooted, values, width))
        for place in places:
            values[place] *= -1.0
            wrong |= np.abs(_evaluated(self.rooted, values, width)) < size
            values[place] *= -1.0
        return wrong


def degree_in(node: Node, places: frozenset[int]) -> int:
    """Return the degree of an expression in some variables together: 0, 1, or 2 for any other."""
    if not columns_of(node) & places:
        return 0
    match node:
        case Column():
            return 1
        case Sum(parts=parts):
            return max(degree_in(part, places) for part in parts)
        case Product(parts=parts):
            return min(2, sum(degree_in(part, places) for part in parts))
    return 2


def _is_its_terms(node: Node, n_columns: int) -> bool:
    """Say whether terms say all: no sum is multiplied out, no fitted number in a function."""
    match node:
        case Sum(parts=parts):
            return all(_is_its_terms(part, n_columns) for part in parts)
        case Product(parts=parts):
            return all(
                not isinstance(part, Sum) and _is_its_terms(part, n_columns) for part in parts
            )
        case Apply(name=name, argument=argument) if name not in POWERS:
            return all(place < n_columns for place in columns_of(argument))
        case Power(base=base) | Apply(argument=base):
            return not isinstance(base, Sum) and _is_its_terms(base, n_columns)
    return True


def _evaluated(total: TermSum, values: np.ndarray, width: int) -> np.ndarray:
    evaluator = Evaluator(values)
    terms = [_of_width(term, width) for term in total]
    return np.array(list(total.values())) @ evaluator.values(terms)


def _of_width(term: Term, width: int) -> Term:
    factors = tuple(f._replace(exponents=f.exponents[:width]) for f in term.factors)
    return Term(term.exponents[:width], factors)


def read_equation(text: str, names: Sequence[str]) -> GivenEquation:
    """Read an equation; without ``=`` the text is what is zero.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * /``, ``^`` or ``**``, brackets, pi, and functions. Names that are
        no words stand in brackets: ``[heat load (kW)]``.
    names : sequence of str
        Names of the columns; others are constants.
    """
    return _EquationReader(text, names).equation()


def read_sides(text: str, names: Sequence[str]) -> tuple[list[Node], list[str]]:
    """Return the one or two sides of an equation as they are written, and names of its constants.

    The places of the constants are behind those of the columns.
    """
    reader = _EquationReader(text, names)
    reader.equation()  # which may say that it cannot be used
    return reader.trees, reader.constants


class _EquationReader(TextReader):
    """Reads one equation; its variables are columns, constants and roots of sums."""

    any_exponents = True
    measured = True
    misfit = "numbers, names, signs and brackets do not fit together: "

    def __init__(self, text: str, names: Sequence[str]):
        if not isinstance(text, str):
            raise ValueError(f"an equation is a text; got {type(text).__name__}.")
        super().__init__(text, names)
        if sum(token.kind == "equals" for token in tokens(text)) > 1:
            self.fail("it has more than one =")
        self.constants: list[str] = []
        self.trees = self.sides(2)
        self.n_known = len(self.names) + len(self.constants)
        n_roots = sum(text.count(root) for root in ("sqrt", "^", "**"))  # at most
        self.width = self.n_known + n_roots
        self.one = Term((0.0,) * self.width)
        self.radicals: list[Radical] = []

    def unknown(self, token: Token) -> Node:
        if token.text.startswith("["):
            known = listed(self.names)
            self.fail(f"{token.name!r} is no column; the columns are {known}", token)
        self.columns[token.name] = place = len(self.names) + len(self.constants)
        self.constants.append(token.name)
        return Column(place)

    # -- Algebra ----------------------------------------------------------------------------------

    def equation(self) -> GivenEquation:
        trees = [*self.trees, Number(0.0)][:2]
        try:
            left, right = map(self.read, trees)
            rooted = self.added(left, right, -1.0).above
            total = reduce(self.without_root, reversed(self.radicals), rooted)
        except _TooManyTerms:
            self.radicals.clear()
            left, right = map(self.unread, trees)
            total = rooted = self.added(left, right, -1.0).above
        alone = self.alone(left, right)
        if not all(map(math.isfinite, total.values())):
            self.fail("its numbers must be finite")
        terms = tuple(_of_width(term, self.n_known) for term in total)
        n_columns = len(self.names)
        used = [any(term.involves(i) for term in terms) for i in range(self.n_known)]
        if not any(used[:n_columns]):
            raise ValueError(
                f"the equation {self.text!r} is about no column of the table: these are "
                f"{listed(self.names)}."
            )
        gone = [name for name, u in zip(self.constants, used[n_columns:], strict=True) if not u]
        if gone:
            self.fail(f"the constant {gone[0]!r} cancels")
        numbers = np.array(list(total.values()))
        radicals = self.used_radicals(rooted)
        zero = Sum(tuple(map(of_term, terms, map(Number, numbers.tolist()))))
        formula = None
        if alone is not None:
            other = trees[trees[0] == Column(alone)]
            if not _is_its_terms(other, n_columns) and alone not in columns_of(other):
                formula = other
            if not radicals:
                # As it was written: what stood below a bar, and multiplies terms, may be infinite.
                zero = Sum((trees[0], Product((Number(-1.0), trees[1]))))
        return GivenEquation(
            terms,
            numbers,
            Differentiable(zero),
            formula,
            n_columns,
            tuple(self.constants),
            alone,
            rooted,
            radicals,
        )

    def used_radicals(self, rooted: TermSum) -> tuple[Radical, ...]:
        """Return the roots that occur: not those of sums inside what stays as it was written."""
        used: list[Radical] = []
        for radical in reversed(self.radicals):
            sums = (rooted, *(part for later in used for part in later.square))
            if any(term.involves(radical.place) for part in sums for term in part):
                used.insert(0, radical)
        return tuple(used)

    def alone(self, left: Quotient, right: Quotient) -> int | None:
        """Return the column that one side consists of, if the other is without it."""
        for side, other in ((left, right), (right, left)):
            for i in range(len(self.names)):
                if side == self.variable(i):
                    parts = [*other.above, *other.below]
                    parts += [t for r in self.radicals for s in r.square for t in s]
                    return None if any(term.involves(i) for term in parts) else i
        return None

    def number(self, value: float) -> Quotient:
        return Quotient({self.one: value} if value else {}, {self.one: 1.0})

    def variable(self, place: int) -> Quotient:
        exponents = [0.0] * self.width
        exponents[place] = 1.0
        return Quotient({Term(tuple(exponents)): 1.0}, {self.one: 1.0})

    def read(self, node: Node) -> Quotient:
        match node:
            case Number(value=value):
                return self.number(value)
            case Column(place=place):
                return self.variable(place)
            case Apply(name=name, argument=argument):
                return self.applied(name, self.read(argument), argument)
            case Power(base=base, exponent=-1.0):
                return self.inverse(self.read(base))
            case Power(base=base, exponent=exponent):
                return self.power(self.read(base), exponent, base)
            case Raised():
                return self.inside(IDENTITY, node)
            case Product(parts=parts):
                return reduce(self.times, map(self.read, parts))
            case Sum(parts=parts):
                return reduce(self.added, map(self.read, parts))
        raise TypeError(f"{node!r} is not read from text.")

    def unread(self, node: Node) -> Quotient:
        """Return an expression that stays as it was written, if it is no column."""
        return self.read(node) if isinstance(node, Column) else self.inside(IDENTITY, node)

    def as_number(self, quotient: Quotient) -> float | None:
        if quotient.below == {self.one: 1.0} and set(quotient.above) <= {self.one}:
            return quotient.above.get(self.one, 0.0)
        return None

    def product(self, left: TermSum, right: TermSum) -> TermSum:
        if len(left) * len(right) > 20 * _MAX_TERMS:
            raise _TooManyTerms
        total: TermSum = {}
        for term, value in left.items():
            for other, factor in right.items():
                key = _multiplied(term, other)
                total[key] = total.get(key, 0.0) + value * factor
        return self.cleaned(total)

    def cleaned(self, total: TermSum) -> TermSum:
        if len(total) > _MAX_TERMS:
            raise _TooManyTerms
        return {term: value for term, value in total.items() if value}

    def added(self, left: Quotient, right: Quotient, sign=1.0) -> Quotient:
        above, more, below = left.above, right.above, left.below
        if left.below != right.below:
            above, more = self.product(above, right.below), self.product(more, left.below)
            below = self.product(left.below, right.below)
        total = dict(above)
        for term, value in more.items():
            total[term] = total.get(term, 0.0) + sign * value
        return Quotient(self.cleaned(total), below)

    def times(self, left: Quotient, right: Quotient) -> Quotient:
        above, below = self.product(left.above, right.above), self.product(left.below, right.below)
        if len(below) == 1:
            ((term, value),) = below.items()
            above = self.product(above, {_to_power(term, -1): 1.0 / value})
            below = {self.one: 1.0}
        return Quotient(above, below)

    def inverse(self, quotient: Quotient) -> Quotient:
        if not quotient.above:
            self.fail("it divides by zero")
        return self.times(Quotient(quotient.below, quotient.above), self.number(1.0))

    def power(self, base: Quotient, exponent: float, tree: Node) -> Quotient:
        """Return a power of a base, which was read from a tree."""
        if exponent < 0.0:
            return self.inverse(self.power(base, -exponent, tree))
        whole = float(exponent).is_integer()
        if len(base.above) == 1 and base.below == {self.one: 1.0}:
            ((term, value),) = base.above.items()
            plain = not term.factors and not self.has_root(term)
            variables = sum(map(bool, term.exponents))
            # The root of x^2 is not x, and that of x*y is defined where both are negative.
            odd = (variables == 1 and sum(term.exponents) % 2 == 1) or not variables
            if whole or (plain and value > 0.0 and (odd or exponent % 1 != 0.5)):
                with np.errstate(over="ignore"):  # Python's own floats raise
                    number = float(np.float64(value) ** exponent)
                return Quotient({_to_power(term, exponent): number}, {self.one: 1.0})
            if plain and exponent % 1 == 0.5:
                factor = Factor(FUNCTIONS["sqrt"], value, term.exponents, int(2 * exponent))
                return Quotient({_normal(Term(self.one.exponents, (factor,))): 1.0}, base.below)
        largest = math.comb(len(base.above) + int(exponent), int(exponent))
        if exponent % 0.5 or exponent > _MAX_POWER or largest > _MAX_TERMS:
            return self.inside(IDENTITY, Power(tree, exponent))
        if not whole:
            root = self.variable(self.n_known + len(self.radicals))
            self.radicals.append(Radical(self.n_known + len(self.radicals), base))
            return self.times(root, self.whole_power(base, int(exponent)))
        return self.whole_power(base, int(exponent))

    def whole_power(self, base: Quotient, exponent: int) -> Quotient:
        return reduce(self.times, [base] * exponent, self.number(1.0))

    def applied(self, name: str, argument: Quotient, tree: Node) -> Quotient:
        """Return a function of an argument, which was read from a tree."""
        value = self.as_number(argument)
        if value is not None:
            with np.errstate(all="ignore"):
                value = float(registered(name).value(np.array([value]))[0])
            if not math.isfinite(value):
                self.fail(f"{name} of a number is not defined")
            return self.number(value)
        if name == "sqrt":
            return self.power(argument, 0.5, tree)
        (term, number), *rest = argument.above.items()
        is_product = not rest and argument.below == {self.one: 1.0}
        if not is_product or term.factors or self.has_root(term):
            return self.inside(registered(name), tree)
        factor = Factor(registered(name), number, term.exponents)
        return Quotient({Term(self.one.exponents, (factor,)): 1.0}, argument.below)

    def inside(self, function: Function, tree: Node) -> Quotient:
        """Return a function of any expression, which stays as it was written."""
        factor = Factor(function, 1.0, self.one.exponents, 1, Inside(tree))
        return Quotient({Term(self.one.exponents, (factor,)): 1.0}, {self.one: 1.0})

    def has_root(self, term: Term) -> bool:
        return any(term.involves(i) for i in range(self.n_known, self.width))

    def without_root(self, total: TermSum, radical: Radical) -> TermSum:
        """Return A^2 - B^2 S for A + B r, where r^2 = S."""
        place, square = radical
        lowest = min((term.exponents[place] for term in total), default=0.0)
        even, odd = self.number(0.0), self.number(0.0)
        for term, value in total.items():
            exponent = term.exponents[place] - min(lowest, 0.0)
            exponents = tuple(0.0 if i == place else e for i, e in enumerate(term.exponents))
            part = Quotient({term._replace(exponents=exponents): value}, {self.one: 1.0})
            part = self.times(part, self.whole_power(square, int(exponent // 2)))
            if exponent % 2:
                odd = self.added(odd, part)
            else:
                even = self.added(even, part)
        if not odd.above or not even.above:
            return odd.above or even.above
        other = self.times(self.times(odd, odd), square)
        return self.added(self.times(even, even), other, -1.0).above


def _multiplied(left: Term, right: Term) -> Term:
    return _normal(Term(left.times(right.exponents).exponents, left.factors + right.factors))


def _to_power(term: Term, exponent: float) -> Term:
    factors = tuple(f._replace(power=int(f.power * exponent)) for f in term.factors)
    return _normal(Term(tuple(e * exponent for e in term.exponents), factors))


def _normal(term: Term) -> Term:
    """Return a term in which each function occurs once, in a fixed order, and roots singly."""
    powers: dict[Factor, int] = {}
    for factor in term.factors:
        key = factor._replace(power=1)
        powers[key] = powers.get(key, 0) + factor.power
    kept = [key._replace(power=power) for key, power in powers.items() if power]
    kept.sort(key=lambda f: (f.function.name, f.scale, f.exponents, repr(f.inside)))
    return Term(tuple(e + 0.0 for e in term.exponents), tuple(kept))
