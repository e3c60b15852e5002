"""Expressions in columns, as small trees: what closed forms of laws consist of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import hypot, prod

import numpy as np

from vanishing.algebra import quantities
from vanishing.algebra.functions import FUNCTIONS, IDENTITY, POWERS, known, registered
from vanishing.algebra.quantities import Unit
from vanishing.algebra.terms import Expression, Factor, Term, raised


@dataclass(frozen=True)
class Number:
    """A number with its standard error: 0 where it is exact, NaN where that is unknown.

    Its unit and digits matter for writing alone; without digits a writer has its own rule.
    """

    value: float
    std: float = 0.0
    unit: Unit = quantities.ONE
    digits: int | None = None


@dataclass(frozen=True)
class Symbol:
    """A constant that is written by its name."""

    name: str
    value: float


@dataclass(frozen=True)
class Column:
    """A column, by its place."""

    place: int


@dataclass(frozen=True)
class Power:
    """``base ** exponent``."""

    base: "Node"
    exponent: float


@dataclass(frozen=True)
class Raised:
    """``base ** exponent`` whose exponent is fitted, or an expression."""

    base: "Node"
    exponent: "Node"


@dataclass(frozen=True)
class Apply:
    """A function, by its name and as one of arrays, of an expression."""

    name: str
    function: Callable[[np.ndarray], np.ndarray] = field(repr=False)
    argument: "Node"

    def __reduce__(self):
        # Functions of users may be lambdas, which cannot be pickled: a name is enough.
        function = known(self.name)
        if function is not None and function.value is self.function:
            return apply, (self.name, self.argument)
        return Apply, (self.name, self.function, self.argument)


@dataclass(frozen=True)
class Product:
    """A product: at most one number, which is first, then columns in order, then the rest."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Sum:
    """A sum."""

    parts: tuple["Node", ...]


Node = Number | Symbol | Column | Power | Raised | Apply | Product | Sum
ONE = Number(1.0)


def apply(name: str, argument: Node) -> Apply:
    """Return a function that is known by its name, of an expression."""
    return Apply(name, registered(name).value, argument)


def parts_of(node: Node) -> Iterator[Node]:
    """Yield an expression and all that it consists of."""
    yield node
    match node:
        case Power(base=part) | Apply(argument=part):
            yield from parts_of(part)
        case Raised(base=base, exponent=exponent):
            yield from parts_of(base)
            yield from parts_of(exponent)
        case Product(parts=parts) | Sum(parts=parts):
            for part in parts:
                yield from parts_of(part)


def columns_of(node: Node) -> set[int]:
    """Return the places of the columns that occur in an expression."""
    return {part.place for part in parts_of(node) if isinstance(part, Column)}


# -- Making ---------------------------------------------------------------------------------------


def is_negative(node: Node) -> bool:
    """Say whether an expression is written with a minus sign."""
    number, _ = split(node)
    return number.value < 0.0


def split(node: Node) -> tuple[Number, tuple[Node, ...]]:
    """Return an expression as a number and the factors that it multiplies."""
    if isinstance(node, Number):
        return node, ()
    parts = node.parts if isinstance(node, Product) else (node,)
    if parts and isinstance(parts[0], Number):
        return parts[0], parts[1:]
    return ONE, parts


def quotient(node: Node) -> tuple[Number, list[Node], list[Node]]:
    """Return an expression as a number, factors above a bar and factors below it."""
    number, factors = split(node)
    above: list[Node] = []
    below: list[Node] = []
    for factor in factors:
        match factor:
            case Power(base=base, exponent=exponent) if exponent < 0.0:
                below.append(power(base, -exponent))
            case Raised(base=base, exponent=Number(value=value, std=std)) if value < 0.0:
                below.append(Raised(base, Number(-value, std)))
            case _:
                above.append(factor)
    return number, above, below


def product(*parts: Node) -> Node:
    """Return a product, in which powers of a column are one power and numbers one number."""
    value, std = 1.0, 0.0
    exponents: dict[int, float] = {}
    others: list[Node] = []
    for part in parts:
        number, factors = split(part)
        # Exact numbers leave the other's relative error as it is; two measured ones never meet.
        value, std = value * number.value, hypot(std * number.value, value * number.std)
        for factor in factors:
            base, exponent = as_power(factor)
            if isinstance(base, Column):
                exponents[base.place] = exponents.get(base.place, 0.0) + exponent
            else:
                others.append(factor)
    columns = [power(Column(i), e) for i, e in sorted(exponents.items()) if e]
    kept = (*columns, *others)
    if value != 1.0 or std != 0.0 or not kept:
        kept = (Number(value, std), *kept)
    return kept[0] if len(kept) == 1 else Product(kept)


def as_power(node: Node) -> tuple[Node, float]:
    """Return base and exponent of an expression."""
    return (node.base, node.exponent) if isinstance(node, Power) else (node, 1.0)


def power(base: Node, exponent: float) -> Node:
    """Return a power; whole powers of products are products of powers."""
    exponent = float(exponent)
    if exponent == 1.0:
        return base
    if isinstance(base, Number) and (base.value > 0.0 or exponent.is_integer()):
        with np.errstate(over="ignore"):  # Python's own floats raise
            value = float(np.float64(base.value) ** exponent)
        return Number(value, abs(exponent * value / base.value) * base.std)
    if isinstance(base, Product) and exponent.is_integer():
        return product(*(power(part, exponent) for part in base.parts))
    if isinstance(base, Power) and exponent.is_integer():
        return power(base.base, base.exponent * exponent)
    return Power(base, exponent)


def raised_to(base: Node, exponent: Node) -> Node:
    """Return a power whose exponent is an expression, as a plain one where that is exact."""
    if not isinstance(exponent, Number):
        return Raised(base, exponent)
    if not exponent.std:
        return power(base, exponent.value)
    if isinstance(base, Number) and base.value > 0.0:
        value = float(np.power(base.value, exponent.value))
        by_base = value * exponent.value / base.value
        return Number(value, hypot(by_base * base.std, value * np.log(base.value) * exponent.std))
    return Raised(base, exponent)


def with_numbers(
    node: Node, first: int, numbers: Sequence[Node], *, as_written: bool = False
) -> Node:
    """Return an expression with numbers in place of the variables from a place on.

    ``as_written`` keeps powers of measured numbers: x/2.0(1) is not 0.50(3)*x.
    """
    return in_new_columns(
        node,
        lambda i: numbers[i - first] if i >= first else Column(i),
        as_written=as_written,
    )


def in_new_columns(node: Node, column: Callable[[int], Node], *, as_written: bool = False) -> Node:
    """Return an expression with others in place of its columns.

    ``as_written`` keeps powers of measured numbers.
    """

    def replaced(node: Node) -> Node:
        match node:
            case Column(place=place):
                return column(place)
            case Power(base=base, exponent=exponent):
                base = replaced(base)
                parts = parts_of(base) if as_written else ()
                is_kept = any(isinstance(part, Number) and part.std for part in parts)
                return Power(base, exponent) if is_kept else power(base, exponent)
            case Raised(base=base, exponent=exponent):
                base, exponent = replaced(base), replaced(exponent)
                is_kept = as_written and isinstance(base, Number)
                return Raised(base, exponent) if is_kept else raised_to(base, exponent)
            case Apply(argument=argument):
                return replace(node, argument=replaced(argument))
            case Product(parts=parts):
                return product(*map(replaced, parts))
            case Sum(parts=parts):
                return total(list(map(replaced, parts)))
        return node

    return replaced(node)


def relabelled(node: Node, place: Callable[[int], int]) -> Node:
    """Return an expression with other columns: ``place`` says which, for each."""
    match node:
        case Column():
            return Column(place(node.place))
        case Power(base=base, exponent=exponent):
            return Power(relabelled(base, place), exponent)
        case Raised(base=base, exponent=exponent):
            return Raised(relabelled(base, place), relabelled(exponent, place))
        case Apply():
            return replace(node, argument=relabelled(node.argument, place))
        case Product(parts=parts):
            return Product(tuple(relabelled(part, place) for part in parts))
        case Sum(parts=parts):
            return Sum(tuple(relabelled(part, place) for part in parts))
    return node


def total(parts: Sequence[Node]) -> Node:
    """Return a sum, which begins with a term that is not negative if there is one."""
    parts = list(parts)
    if is_negative(parts[0]):
        first = next((i for i, part in enumerate(parts) if not is_negative(part)), 0)
        parts.insert(0, parts.pop(first))
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def of_term(term: Term, coefficient: Number = ONE) -> Node:
    """Return a term, times a number, as an expression."""
    parts: list[Node] = [coefficient, *_columns(term.exponents)]
    for factor in term.factors:
        inner = () if factor.inside is None else (factor.inside.node,)
        inside = product(Number(factor.scale), *_columns(factor.exponents), *inner)
        name, function = factor.function.name, factor.function
        if function is IDENTITY:
            node = inside
        elif name in POWERS and FUNCTIONS.get(name) == function:
            node = power(inside, POWERS[name])
        else:
            node = Apply(name, function.value, inside)
        parts.append(power(node, factor.power))
    return product(*parts)


def plus(node: Node, number: float) -> Node:
    """Return an expression plus an exact number, which a number in its sum takes up."""
    if not number:
        return node
    parts = node.parts if isinstance(node, Sum) else (node,)
    numbers = [part for part in parts if isinstance(part, Number)]
    others = [part for part in parts if not isinstance(part, Number)]
    value = number + sum(part.value for part in numbers)
    std = sum(part.std for part in numbers)
    return total([*others, Number(value, std, digits=_digits(value, std))])


def _digits(value: float, std: float = 0.0) -> int | None:
    """Return how many digits of a number matter; None for whole ones, which are written in full."""
    if value.is_integer():
        return None
    if std > 0.0:
        return int(np.ceil(np.log10(abs(value) / std))) + 1 if std < abs(value) else None
    return len(f"{abs(value):.12e}".partition("e")[0].replace(".", "").rstrip("0"))


def moved(node: Node, offsets: Sequence[float], units: Sequence[Unit] | None = None) -> Node:
    """Return an expression in which each column stands less its offset.

    Parameters
    ----------
    node : Node
    offsets : sequence of float
        One per column; 0 leaves a column as it is.
    units : sequence of Unit, default=None
        Of the columns, for numbers that are written with theirs.
    """
    if isinstance(node, Column):
        offset = float(offsets[node.place])
        if not offset:
            return node
        unit = quantities.ONE if units is None else units[node.place]
        return Sum((node, Number(-offset, 0.0, unit, _digits(offset))))
    if isinstance(node, Apply):
        return replace(node, argument=moved(node.argument, offsets, units))
    if isinstance(node, Power):
        return Power(moved(node.base, offsets, units), node.exponent)
    if isinstance(node, Raised):
        return Raised(*(moved(part, offsets, units) for part in (node.base, node.exponent)))
    if isinstance(node, (Product, Sum)):
        return type(node)(tuple(moved(part, offsets, units) for part in node.parts))
    return node


@dataclass(frozen=True)
class Inside(Expression):
    """An expression as a part of a term: what a function of more than a product is of."""

    node: Node

    @cached_property
    def columns(self) -> frozenset[int]:
        """Places of the columns that occur."""
        return frozenset(columns_of(self.node))

    def value(self, columns: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
        """Return its values on columns."""
        return evaluate(self.node, columns)


def substituted(
    term: Term, columns: np.ndarray, sums: Mapping[int, tuple[float, Node]] | None = None
) -> Term:
    """Return a term in new variables: variable k is the product of ``columns ** columns[k]``.

    ``sums`` has variables that are a number times an expression instead.
    """
    sums = sums or {}
    products = columns
    if sums:
        products = columns.copy()
        products[list(sums)] = 0.0
    none = (0.0,) * columns.shape[1]

    def outer(exponents):
        return tuple((np.array(exponents) @ products).tolist())

    def powers(exponents) -> list[tuple[float, Node]]:
        used = ((number, node, exponents[k]) for k, (number, node) in sums.items())
        return [(number**e, power(node, e)) for number, node, e in used if e]

    factors = []
    for factor in term.factors:
        parts = powers(factor.exponents)
        scale = factor.scale * float(prod(number for number, _ in parts))
        inside = Inside(product(*(node for _, node in parts))) if parts else factor.inside
        factors.append(
            factor._replace(exponents=outer(factor.exponents), scale=scale, inside=inside)
        )
    for number, node in powers(term.exponents):
        factors.append(Factor(IDENTITY, number, none, 1, Inside(node)))
    return Term(outer(term.exponents), tuple(factors))


def _columns(exponents) -> list[Node]:
    return [power(Column(i), e) for i, e in enumerate(exponents) if e]


# -- Evaluating -----------------------------------------------------------------------------------


def evaluate(node: Node, columns: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the values of an expression.

    Parameters
    ----------
    node : Node
    columns : sequence of ndarray of shape (n_rows,)

    Returns
    -------
    values : ndarray of shape (n_rows,), or () for a constant
    """
    if isinstance(node, (Number, Symbol)):
        return np.asarray(node.value)  # Python's own raise where NumPy's are infinite or NaN
    if isinstance(node, Column):
        return columns[node.place]
    if isinstance(node, Apply):
        argument = evaluate(node.argument, columns)
        # Functions of users are of arrays, of which a number is none.
        return node.function(argument) if argument.ndim else node.function(argument[np.newaxis])[0]
    if isinstance(node, Power):
        return raised(evaluate(node.base, columns), node.exponent)
    if isinstance(node, Raised):
        return np.power(evaluate(node.base, columns), evaluate(node.exponent, columns))
    result = evaluate(node.parts[0], columns)
    for part in node.parts[1:]:
        if isinstance(node, Sum):
            result = result + evaluate(part, columns)
        elif isinstance(part, Power) and part.exponent < 0.0:
            result = result / raised(evaluate(part.base, columns), -part.exponent)
        else:
            result = result * evaluate(part, columns)
    return result
