"""What users know of equations of motion: parts of them, signs, coefficients that are shared."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vanishing.algebra.expressions import Node, Number, product, relabelled
from vanishing.algebra.formulas import Formula
from vanishing.algebra.quantities import Units, read_units

_DERIVATIVE = re.compile(r"^d2?\s*(?P<name>.+?)\s*/\s*dt2?$")
_COMPARISON = re.compile(r"^(?P<left>.*?)(?P<sign><=|>=|=)(?P<right>.*)$")
_DOTS = re.compile(r"[+\s]*(\.\.\.|\u2026)\s*$")


class SignedTerm(NamedTuple):
    """A term of a column's equation, None for all of them, and the sign of its coefficient."""

    column: int
    node: Node | None
    sign: float


class SharedTerm(NamedTuple):
    """A term of a column's equation whose coefficient others have, too, and how it was written."""

    column: int
    node: Node
    text: str


class Given(NamedTuple):
    """What is given.

    Attributes
    ----------
    known : tuple of Node or None
        A part of each column's derivative.
    fixed : tuple of bool
        Whether there is nothing else in it.
    signs : tuple of SignedTerm
    shared : tuple of tuples of SharedTerm
    units : Units or None
        Of all variables, and then of each derivative.
    """

    known: tuple[Node | None, ...]
    fixed: tuple[bool, ...]
    signs: tuple[SignedTerm, ...] = ()
    shared: tuple[tuple[SharedTerm, ...], ...] = ()
    units: Units | None = None


def given_parts(
    known: Mapping[str, str] | None,
    constraints: Sequence[str] | None,
    shared: Sequence[Sequence[str]] | None,
    units: Mapping[str, str] | None,
    names: Sequence[str],
    variables: Sequence[str],
    order: int,
) -> Given:
    """Read what is given; raise ValueError where it cannot be read.

    Parameters
    ----------
    known, constraints, shared, units : as `EquationsOfMotion` takes them
    names : sequence of str
        Of the columns.
    variables : sequence of str
        Of all variables.
    order : {1, 2}
    """
    nodes: list[Node | None] = [None] * len(names)
    fixed = [False] * len(names)
    signs: list[SignedTerm] = []
    if known is not None and not isinstance(known, Mapping):
        raise TypeError(f"known must be a dict from columns to texts; got {known!r}.")
    for name, text in (known or {}).items():
        column = _column(name, names, "known")
        open_end = _DOTS.search(str(text))
        nodes[column] = read_expression(_DOTS.sub("", str(text)), variables, "known")
        fixed[column] = open_end is None
    if isinstance(constraints, str) or isinstance(shared, str):
        raise TypeError("constraints and shared must be lists of texts, not one text.")
    for text in constraints or ():
        match = _COMPARISON.match(str(text))
        if match is None:
            raise ValueError(f"the constraint {text!r} has none of =, <= and >=.")
        left, right = match["left"].strip(), match["right"].strip()
        if match["sign"] == "=":
            column = _derivative(left, names, str(text))
            nodes[column], fixed[column] = read_expression(right, variables, "constraints"), True
            continue
        if _is_not_zero(right):
            raise ValueError(f"the constraint {text!r} must compare with 0.")
        sign = 1.0 if match["sign"] == ">=" else -1.0
        term, _, of = left.rpartition(" in ")
        column = _derivative((of if term else left).strip(), names, str(text))
        node = _term(term, variables) if term else None
        signs.append(SignedTerm(column, node, sign))
    groups = []
    for texts in shared or ():
        group = []
        for text in texts:
            term, found, of = str(text).rpartition(" in ")
            if not found:
                raise ValueError(f"shared terms are written as 'x*y in dx/dt'; got {text!r}.")
            column = _derivative(of.strip(), names, str(text))
            group.append(SharedTerm(column, _term(term, variables), str(text)))
        groups.append(tuple(group))
    return Given(
        tuple(nodes), tuple(fixed), tuple(signs), tuple(groups),
        _units(units, names, variables, order),
    )  # fmt: skip


def _is_not_zero(text: str) -> bool:
    try:
        return float(text) != 0.0
    except ValueError:
        return True


def _column(name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        raise ValueError(f"{what} has the column {name!r}; the columns are {', '.join(names)}.")
    return list(names).index(name)


def _derivative(text: str, names: Sequence[str], whole: str) -> int:
    match = _DERIVATIVE.match(text)
    if match is None:
        raise ValueError(f"{text!r} in {whole!r} is no derivative such as d{names[0]}/dt.")
    return _column(match["name"], names, repr(whole))


def read_expression(text: str, variables: Sequence[str], what: str = "an equation") -> Node:
    """Return an expression in variables by their places, from text."""
    formula = Formula(text)
    unknown = [name for name in formula.names if name not in variables]
    if unknown:
        raise ValueError(
            f"{what} has the name {unknown[0]!r} in {text!r}: it must be one of "
            f"{', '.join(variables)}, and constants must be numbers."
        )
    places = [list(variables).index(name) for name in formula.names]
    return relabelled(formula._tree, places.__getitem__)


def _term(text: str, variables: Sequence[str]) -> Node:
    """Return a term in the form that candidates have."""
    return product(Number(1.0), read_expression(text.strip(), variables, "a term"))


def _units(units, names, variables, order: int) -> Units | None:
    """Return the units of variables and derivatives."""
    if units is None:
        return None
    units = dict(units)
    if "t" not in units:
        raise ValueError("units must have the unit of the time, under the key 't'.")
    missing = [name for name in variables if name not in units and not name.endswith("_dot")]
    if missing:
        raise ValueError(f"units has none for {missing[0]!r}; give '1' for a pure number.")
    time = units.pop("t") or "1"
    if order == 2:
        for name in names:
            units.setdefault(f"{name}_dot", f"({units[name]})/({time})")
    for name in names:
        units[f"d{name}/dt"] = f"({units[name]})/({time})" + (f"/({time})" if order == 2 else "")
    derivatives = [f"d{name}/dt" for name in names]
    return read_units(units, [*variables, *derivatives])
