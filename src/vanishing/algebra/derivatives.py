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
        self._ways: dict[tuple[int, ...], list[tuple[int, list[int]]]] = {}

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
        return self.value_and_gradient(variables, places)[1]

    def value_and_gradient(
        self, variables: Arrays, places: Iterable[int]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the values, and the derivatives by some variables."""
        places = tuple(places)
        values = self._values(variables)
        slopes: list[Any] = [None] * len(self._steps)
        slopes[self._last] = 1.0
        totals: dict[int, np.ndarray | float] = dict.fromkeys(places, 0.0)
        for i, inputs in self._way_back(places):
            step = self._steps[i]
            if step.kind == "variable":
                totals[step.detail] = slopes[i]
            for k in inputs:
                place = step.inputs[k]
                slope = slopes[i]
                if step.kind != "sum":
                    slope = slope * _slope(step, k, values, values[i])
                slopes[place] = slope if slopes[place] is None else slopes[place] + slope
        return values[self._last], [np.asarray(totals[place]) for place in places]

    def _way_back(self, places: tuple[int, ...]) -> list[tuple[int, list[int]]]:
        """Return the steps that depend on some variables, the last first, with such inputs."""
        if places not in self._ways:
            wanted = frozenset(places)
            needed = [bool(step.places & wanted) for step in self._steps]
            self._ways[places] = [
                (i, [k for k, place in enumerate(self._steps[i].inputs) if needed[place]])
                for i in range(self._last, -1, -1)
                if needed[i]
            ]
        return self._ways[places]

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


def _slope(step: _Step, k: int, values: list[np.ndarray], value: np.ndarray) -> np.ndarray:
    """Return the derivative of a step, which is no sum, by one of its inputs."""
    first = values[step.inputs[0]]
    match step.kind:
        case "product":
            return values[step.inputs[1 - k]]
        case "function":
            return _applied(step.detail.derivative, first)
        case "power":
            return step.detail * raised(first, step.detail - 1.0)
    return _by_exponent(first, value) if k else _by_base(first, values[step.inputs[1]])


def _by_base(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    # A base that is 0 stays so: (x/K)^n where x is 0, whatever K.
    slope = exponent * np.power(base, exponent - 1.0)
    return np.where((base == 0.0) & (exponent < 1.0), 0.0, slope)


def _by_exponent(base: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(base == 0.0, 0.0, value * np.log(base))
