"""Candidate terms of equations of motion, in stages: from polynomials to constants inside.

A candidate is a tree in the columns; variables behind those are constants inside it, such as K in
x/(K + x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from itertools import product as product_of

import numpy as np

from vanishing.algebra.expressions import (
    Column,
    Inside,
    Node,
    Number,
    Power,
    Product,
    apply,
    columns_of,
    evaluate,
    power,
    product,
    relabelled,
    with_numbers,
)
from vanishing.algebra.functions import IDENTITY
from vanishing.algebra.terms import Factor, Term
from vanishing.equations.forms import Form
from vanishing.motion import settings


@dataclass(frozen=True)
class Candidate:
    """A term, with constants inside it.

    Attributes
    ----------
    node : Node
        In ``n_variables`` variables, and then in constants.
    n_variables : int
    constants : tuple of float
    degree : float
    kinds : frozenset of str
        Kinds of functions that occur: each has a price of its own.
    """

    node: Node
    n_variables: int
    constants: tuple[float, ...] = ()
    degree: float = 0.0
    kinds: frozenset[str] = frozenset()

    def values(self, variables: np.ndarray) -> np.ndarray:
        """Return its values, shape (n_rows,)."""
        columns = [*variables, *map(np.asarray, self.constants)]
        return np.broadcast_to(evaluate(self.node, columns), variables.shape[1])

    @cached_property
    def columns(self) -> frozenset[int]:
        """Places of the variables that occur."""
        return frozenset(i for i in columns_of(self.node) if i < self.n_variables)

    def with_constants(self, constants: Sequence[float]) -> "Candidate":
        """Return the term with other constants inside."""
        return Candidate(
            self.node, self.n_variables, tuple(map(float, constants)), self.degree, self.kinds
        )

    @cached_property
    def plain_node(self) -> Node:
        """The term with constants that are nearly whole or half as such: sin(1.01*x) is sin(x)."""
        near = [np.round(2.0 * c) / 2.0 for c in self.constants]
        if not all(abs(c - r) <= 0.1 * abs(r) for c, r in zip(self.constants, near, strict=True)):
            return self.node
        return with_numbers(self.node, self.n_variables, [Number(float(r)) for r in near])

    def term(self, std: Sequence[float] = ()) -> Term:
        """Return it as a term of laws, with standard errors of the constants inside."""
        n = self.n_variables
        std = std if len(std) else np.zeros(len(self.constants))
        numbers = [Number(float(c), float(s)) for c, s in zip(self.constants, std, strict=True)]
        node = with_numbers(self.node, n, numbers)
        exponents = _exponents(node, n)
        if exponents is not None:
            return Term(exponents)
        zeros = (0.0,) * n
        return Term(zeros, (Factor(IDENTITY, 1.0, zeros, 1, Inside(node)),))


def _exponents(node: Node, n: int) -> tuple[float, ...] | None:
    """Return the exponents of a product of powers of columns, None for anything else."""
    exponents = np.zeros(n)
    for part in node.parts if isinstance(node, Product) else (node,):
        base, exponent = (part.base, part.exponent) if isinstance(part, Power) else (part, 1.0)
        if isinstance(base, Column):
            exponents[base.place] += exponent
        elif base != Number(1.0):
            return None
    return tuple(exponents.tolist())


def monomials(n_variables: int, columns: Sequence[int], max_degree: int) -> list[Candidate]:
    """Return all monomials in some columns up to a degree, the constant first."""
    found = []
    for degree in range(max_degree + 1):
        for places in combinations_with_replacement(columns, degree):
            node = product(Number(1.0), *map(Column, places))
            found.append(Candidate(node, n_variables, (), float(degree)))
    return found


def times(left: Candidate, right: Candidate) -> Candidate:
    """Return the product of two terms, at most one of which has constants inside."""
    return Candidate(
        product(left.node, right.node),
        left.n_variables,
        left.constants or right.constants,
        left.degree + right.degree,
        left.kinds | right.kinds,
    )


def applied(name: str, n_variables: int, column: int) -> Candidate:
    """Return a function of a column."""
    x = Column(column)
    if name == "reciprocal":
        node: Node = power(x, -1.0)
    elif name == "x|x|":
        node = product(x, apply("abs", x))
    elif name == "cot":
        node = power(apply("tan", x), -1.0)
    else:
        node = apply(name, x)
    kind = "circular" if name in ("sin", "cos", "tan", "cot") else name
    return Candidate(node, n_variables, (), 1.0, frozenset({kind}))


# -- Families with a constant inside --------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Terms in one column with constants inside, to be tried from a grid.

    Attributes
    ----------
    name : str
    candidate : Candidate
    starts : tuple of tuples of float
        Values of the constants that are tried first.
    is_own : bool
        Whether the form is one of the library.
    """

    name: str
    candidate: Candidate
    starts: tuple[tuple[float, ...], ...]
    is_own: bool


def families(
    n_variables: int, column: int, low: float, high: float, forms: Sequence[Form]
) -> list[Family]:
    """Return what forms are as terms in one column, with grids in units of its range."""
    least = {"all": -np.inf, "not negative": -1e-3, "positive": 1e-3}
    grids = _grids(low, high)
    found = []
    for form in forms:
        if not low > least[form.domain] * (high - low):
            continue
        for node, kinds in form.terms:
            places = [column, *range(n_variables, n_variables + len(kinds))]
            node = relabelled(node, places.__getitem__)
            starts = _spread(list(product_of(*(grids[kind] for kind in kinds))))
            candidate = Candidate(node, n_variables, starts[0], 1.0, frozenset({form.name}))
            found.append(Family(form.name, candidate, starts, form.own))
    return found


def _grids(low: float, high: float) -> dict[str, list[float]]:
    """Return where constants of each kind are looked for."""
    spread, size = high - low, max(abs(low), abs(high))
    grid = np.geomspace(*settings.GRID)
    rates = np.concatenate([grid, -grid]) / spread * 2.0
    widest = settings.WIDEST["exp"]  # and what hardly bends is a polynomial
    coarse = np.geomspace(*settings.COARSE_GRID)
    values: dict[str, Sequence[float] | np.ndarray] = {
        "size": size * grid,
        "rate": [r for r in rates if settings.LEAST_BEND < abs(r) * spread < widest],
        "frequency": grid[6.0 * grid > settings.LEAST_BEND] / spread * 6.0,
        "steepness": np.array([3.0, 8.0, 20.0]) / spread,
        "place": np.linspace(low, high, 7)[1:-1],
        "exponent": (0.25, 1.0 / 3.0, 0.75, 1.5, 2.5, -0.5, -1.5),
        "any": np.concatenate([coarse * size, coarse / size, -coarse * size, (0.5, 2.0, 3.0)]),
    }
    return {kind: [float(value) for value in of_kind] for kind, of_kind in values.items()}


def _spread(starts: list[tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
    """Return all starts, or as many as are tried, drawn from them."""
    if len(starts) <= settings.MOST_STARTS:
        return tuple(starts)
    chosen = np.random.default_rng(0).permutation(len(starts))[: settings.MOST_STARTS]
    return tuple(starts[i] for i in sorted(chosen))
