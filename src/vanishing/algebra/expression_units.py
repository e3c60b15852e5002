"""Units of the numbers in an equation: those with which both sides are of one dimension."""

from dataclasses import replace

from vanishing.algebra.equations import GivenEquation
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    Symbol,
    of_term,
    parts_of,
    power,
    split,
)
from vanishing.algebra.quantities import ONE, Unit, Units
from vanishing.algebra.relations import ROOTS, relations
from vanishing.algebra.terms import Term


def unit_of_term(term: Term, units: Units) -> Unit:
    """Return the unit of a term; a function, whatever it is of, has none."""
    if any(factor.inside is not None for factor in term.factors):
        return _natural(of_term(term), units)
    return _product(dict(enumerate(term.dimensions[0])), dict(enumerate(units.columns)))


def units_of_constants(equation: GivenEquation, units: Units) -> dict[str, Unit]:
    """Return the units of an equation's constants that those of its columns determine.

    With them all terms have the same unit, where numbers have none. Empty where no units do that.
    """
    n, names = equation.n_columns, equation.constants
    known: dict[int, Unit] = dict(enumerate(units.columns))
    related = relations(equation.zero.node, n)
    products = [relation.exponents for relation in related if relation.is_of_units]
    n_known = 0
    while n_known < len(known):
        n_known = len(known)
        for row in products:
            unknown = [i for i, e in row.items() if e and i not in known]
            if len(unknown) == 1:
                known[unknown[0]] = _product(row, known) ** (-1.0 / row[unknown[0]])
    settled = (row for row in products if all(i in known for i, e in row.items() if e))
    if not all(_product(row, known).is_one for row in settled):
        return {}
    return {name: known[n + k] for k, name in enumerate(names) if n + k in known}


def _product(exponents: dict[int, float], units: dict[int, Unit]) -> Unit:
    unit = ONE
    for place, exponent in exponents.items():
        if exponent and place in units:
            unit *= units[place] ** exponent
    return unit


def with_units(left: Node, right: Node, units: Units) -> tuple[Node, Node]:
    """Return the sides of an equation, in which numbers have units or consist of named values.

    They have none where no units fit: those of x^1.7(1) would have an error, too.
    """
    powers = [part for side in (left, right) for part in parts_of(side) if isinstance(part, Raised)]
    inner = [node for part in powers for node in (part.base, part.exponent)]
    if not all(_takes(node) or _natural(node, units).is_one for node in inner):
        return left, right
    unit = _natural(left, units)
    return _with_unit(left, unit, units), _with_unit(right, unit, units)


def _natural(node: Node, units: Units) -> Unit:
    """Return the unit of an expression whose numbers have none."""
    if isinstance(node, Column):
        return units.columns[node.place]
    if isinstance(node, Power):
        return _natural(node.base, units) ** node.exponent
    if isinstance(node, Raised) and isinstance(node.exponent, Number) and not _takes(node.base):
        return _natural(node.base, units) ** node.exponent.value
    if isinstance(node, Product):
        unit = ONE
        for part in node.parts:
            unit *= _natural(part, units)
        return unit
    if isinstance(node, Sum):
        # A part without a number is as it should be.
        plain = (part for part in node.parts if _is_bare(split(part)[0]))
        return _natural(next(plain, node.parts[0]), units)
    if isinstance(node, Apply) and node.name in ROOTS:
        return _natural(node.argument, units) ** ROOTS[node.name]
    return ONE


def _with_unit(node: Node, unit: Unit, units: Units) -> Node:
    """Return an expression that has a unit by those of its numbers."""
    if isinstance(node, Sum):
        return Sum(tuple(_with_unit(part, unit, units) for part in node.parts))
    if isinstance(node, Power) and _takes(node.base):
        return Power(_with_unit(node.base, unit ** (1.0 / node.exponent), units), node.exponent)
    if isinstance(node, Apply) and node.name in ROOTS:
        inside = _with_unit(node.argument, unit ** (1.0 / ROOTS[node.name]), units)
        return replace(node, argument=inside)
    number, factors = split(node)
    missing = unit
    for factor in factors:
        missing /= _natural(factor, units)
    takers = [i for i, factor in enumerate(factors) if _takes(factor)]
    parts = []
    for i, factor in enumerate(factors):
        own = _natural(factor, units)
        if [i] == takers and _is_bare(number):  # the numbers inside have it
            own, missing = own * missing, ONE
        parts.append(_inside(factor, own, units))
    return _joined(number, missing, parts, units)


def _is_bare(number: Number) -> bool:
    return number.value in (1.0, -1.0) and not number.std


def _takes(node: Node) -> bool:
    """Say whether there are numbers in an expression that can have any unit."""
    if isinstance(node, Power):
        return _takes(node.base)
    if isinstance(node, Apply):
        return node.name in ROOTS and _takes(node.argument)
    if isinstance(node, Product):
        return not _is_bare(split(node)[0]) or any(map(_takes, node.parts))
    return isinstance(node, Sum | Number)


def _inside(factor: Node, unit: Unit, units: Units) -> Node:
    """Return a factor whose own numbers have units."""
    if isinstance(factor, Column | Symbol):
        return factor
    if isinstance(factor, Power):
        base = _inside(factor.base, unit ** (1.0 / factor.exponent), units)
        return Power(base, factor.exponent)
    if isinstance(factor, Raised):
        # The numbers of a base make it one without a unit.
        base = _with_unit(factor.base, ONE, units) if _takes(factor.base) else factor.base
        return Raised(base, _with_unit(factor.exponent, ONE, units))
    if isinstance(factor, Apply) and factor.name not in ROOTS:
        free = _natural(factor.argument, units) if factor.name == "sign" else ONE
        return replace(factor, argument=_with_unit(factor.argument, free, units))
    return _with_unit(factor, unit, units)


def _joined(number: Number, unit: Unit, parts: list[Node], units: Units) -> Node:
    """Return a number in a unit times other parts, the number by named values if it is one."""
    known = None if unit.is_one else units.as_values(unit)
    if known is not None:
        size = unit.factor
        for value, exponent in known:
            size /= (value.value * value.unit.factor) ** exponent
        number, unit = Number(number.value * size, number.std * abs(size)), ONE
        parts = [*(power(Symbol(v.name, v.value), exponent) for v, exponent in known), *parts]
    if not unit.is_one or number.value != 1.0 or number.std or not parts:
        parts.insert(0, replace(number, unit=unit))
    return parts[0] if len(parts) == 1 else Product(tuple(parts))
