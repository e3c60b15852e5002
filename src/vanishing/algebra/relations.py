"""What an expression says of the sizes and units of its variables: what must be alike, or one."""

from math import log
from typing import NamedTuple

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
    columns_of,
)
from vanishing.algebra.functions import POWERS

ROOTS = POWERS | {"abs": 1.0}  # functions whose arguments may have any size and unit


class Relation(NamedTuple):
    """``exp(number) * product of variables ** exponents`` is about one, and has no unit.

    Attributes
    ----------
    exponents : dict
        Exponents of variables by their places; sums have places below 0.
    number : float
    is_of_units : bool
        Whether it holds of units, too.
    """

    exponents: dict[int, float]
    number: float
    is_of_units: bool = True

    def over(self, other: "Relation", exponent: float = 1.0) -> "Relation":
        """Return the relation times a power of another."""
        exponents = dict(self.exponents)
        for place, e in other.exponents.items():
            exponents[place] = exponents.get(place, 0.0) + exponent * e
        return self._replace(exponents=exponents, number=self.number + exponent * other.number)


def relations(node: Node, n_columns: int) -> list[Relation]:
    """Return relations that make the parts of each sum alike, and arguments of functions one.

    Parameters
    ----------
    node : Node
        In columns and, behind them, constants.
    n_columns : int
    """
    made: list[Relation] = []
    one = Relation({}, 0.0)
    n_levels = 0

    def size(node: Node) -> Relation:
        nonlocal n_levels
        match node:
            case Number(value=value) | Symbol(value=value):
                return Relation({}, log(abs(value)) if value else 0.0)
            case Column(place=place):
                return Relation({place: 1.0}, 0.0)
            case Power(base=base, exponent=exponent):
                return one.over(size(base), exponent)
            case Apply(name=name, argument=argument):
                if name in ROOTS:
                    return one.over(size(argument), ROOTS[name])
                made.append(size(argument))
                return one
            case Raised(base=base, exponent=exponent):
                made.append(size(exponent))
                if any(place < n_columns for place in columns_of(exponent)):
                    made.append(size(base))
                    return one
                n_levels += 1
                level = Relation({-n_levels: 1.0}, 0.0)
                made.append(size(base).over(level, -1.0)._replace(is_of_units=False))
                return level
            case Product(parts=parts):
                whole = one
                for part in parts:
                    whole = whole.over(size(part))
                return whole
        assert isinstance(node, Sum)
        n_levels += 1
        level = Relation({-n_levels: 1.0}, 0.0)
        made.extend([size(part).over(level, -1.0) for part in node.parts])
        return level

    size(node)
    return made
