"""Expressions with their derivatives, exact and row by row; what occurs again is computed once."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

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
)
from vanishing.algebra.functions import registered
from vanishing.algebra.terms import raised

Arrays = Sequence[np.ndarray]


class _Step(NamedTuple):
    """One operation, on the results of earlier ones.

    Attributes
    ----------
    kind : str
    inputs : tuple of int
    detail : int, float or Function
        A number, the place of a variable, an exponent, or a function.
    places : frozenset of int
        The variables that the result depends on.
    """

    kind: str
    inputs: tuple[int, ...]
    detail: Any
    places: frozenset[int]


class Differentiable:
    """An expression in variables, with its derivatives by them.

    Parameters
    ----------
    node : Node
        In variables by their places. Functions must be registered.
    """

    def __init__(self, node: Node):
        self.node = node
        self._steps: list[_Step] = []
        self._known: dict[tuple, int] = {}
        self._last = self._taken(node)

    @property
    def places(self) -> frozenset[int]:
        """The variables that occur."""
        return self._steps[self._last].places

    # -- Making -----------------------------------------------------------------------------------

    def _taken(self, node: Node) -> int:
        """Return the place of the step that computes an expression."""
        match node:
            case Number(value=value) | Symbol(value=value):
                return self._step("number", (), value)
            case Column(place=place):
                return self._step("variable", (), place)
            case Power(base=base, exponent=exponent):
                return self._step("power", (self._taken(base),), exponent)
            case Raised(base=base, exponent=exponent):
                return self._step("raised", (self._taken(base), self._taken(exponent)))
            case Apply(name=name, argument=argument):
                return self._step("function", (self._taken(argument),), registered(name))
        assert isinstance(node, Product | Sum)
        kind = "product" if isinstance(node, Product) else "sum"
        first, *rest = map(self._taken, node.parts)
        for part in rest:
            first = self._step(kind, (first, part))
        return first

    def _step(self, kind: str, inputs: tuple[int, ...], detail: Any = None) -> int:
        key = (kind, inputs, detail)
        if key not in self._known:
            places = frozenset((detail,)) if kind == "variable" else frozenset()
            places = places.union(*(self._steps[i].places for i in inputs))
            self._known[key] = len(self._steps)
            self._steps.append(_Step(kind, inputs, detail, places))
        return self._known[key]

    # -- Evaluating -------------------------------------------------------------------------------

    def value(self, variables: Arrays) -> np.ndarray:
        """Return the values on variables: arrays of shape (n_rows,), or () for a constant."""
        return self._values(variables)[self._last]

    def gradient(self, variables: Arrays, places: Iterable[int]) -> list[np.ndarray]:
        """Return the derivatives by some variables, row by row."""
        wanted = frozenset(places)
        values = self._values(variables)
        slopes: list[np.ndarray | float] = [0.0] * len(self._steps)
        slopes[self._last] = np.ones(())
        totals: dict[int, np.ndarray | float] = dict.fromkeys(wanted, 0.0)
        for i in range(self._last, -1, -1):
            step = self._steps[i]
            if step.kind == "variable" and step.detail in wanted:
                totals[step.detail] = slopes[i]
            for place, slope in zip(step.inputs, _slopes(step, values, values[i]), strict=True):
                if self._steps[place].places & wanted:
                    slopes[place] = slopes[place] + slopes[i] * slope()
        return [np.asarray(totals[place]) for place in places]

    def _values(self, variables: Arrays) -> list[np.ndarray]:
        values: list[np.ndarray] = []
        for kind, inputs, detail, _ in self._steps:
            parts = [values[i] for i in inputs]
            match kind:
                case "number":
                    value = np.asarray(detail)
                case "variable":
                    value = np.asarray(variables[detail])
                case "power":
                    value = raised(parts[0], detail)
                case "raised":
                    value = np.power(*parts)
                case "function":
                    value = _applied(detail.value, parts[0])
                case "product":
                    value = parts[0] * parts[1]
                case _:
                    value = parts[0] + parts[1]
            values.append(value)
        return values


def _applied(function, argument: np.ndarray) -> np.ndarray:
    """Return a function of an array; those of users do not take a number."""
    return function(argument) if np.ndim(argument) else function(argument[np.newaxis])[0]


def _slopes(step: _Step, values: list[np.ndarray], value: np.ndarray) -> list:
    """Return what computes the derivatives of a step by its inputs."""
    parts = [values[i] for i in step.inputs]
    match step.kind:
        case "power":
            return [lambda: step.detail * raised(parts[0], step.detail - 1.0)]
        case "raised":
            return [lambda: _by_base(*parts), lambda: _by_exponent(parts[0], value)]
        case "function":
            return [lambda: _applied(step.detail.derivative, parts[0])]
        case "product":
            return [lambda: parts[1], lambda: parts[0]]
        case "sum":
            return [lambda: 1.0, lambda: 1.0]
    return []


def _by_base(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    # A base that is 0 stays so: (x/K)^n where x is 0, whatever K.
    slope = exponent * np.power(base, exponent - 1.0)
    return np.where((base == 0.0) & (exponent < 1.0), 0.0, slope)


def _by_exponent(base: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(base == 0.0, 0.0, value * np.log(base))
