"""Expressions as tapes: lists of numbered operations that one compiled loop runs and derives.

Compiling each structure that a search tries would take a second. A tape is data: the loop that runs
it is compiled once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numba
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

_NUMBER, _VARIABLE, _ADD, _MULTIPLY, _WHOLE_POWER, _POWER, _RAISED = range(7)
_FIRST = 7
# Functions that tapes may have; their codes are their places.
NAMES = (
    *("sin", "cos", "tan", "log", "exp", "sqrt", "arcsin", "arccos", "arctan", "tanh"),
    *("reciprocal", "abs", "sign", "cbrt", "sinh", "cosh", "identity"),
)


class Tape(NamedTuple):
    """Expressions in variables, one after the other.

    Attributes
    ----------
    codes, first, second : arrays of int of shape (n_steps,)
        What a step does, and with the results of which steps; or the place of a variable.
    numbers : array of shape (n_steps,)
    ends : array of int of shape (n_expressions + 1,)
        Where the steps of each expression end: its last one is its value.
    """

    codes: np.ndarray
    first: np.ndarray
    second: np.ndarray
    numbers: np.ndarray
    ends: np.ndarray


def tape_of(nodes: Sequence[Node]) -> Tape:
    """Return the tape of some expressions, in variables by their places."""
    steps: list[tuple[int, int, int, float]] = []
    ends = [0]
    for node in nodes:
        known: dict[tuple[int, int, int, float], int] = {}

        def step(code: int, first: int = 0, second: int = 0, number: float = 0.0, known=known):
            key = (code, first, second, number)
            if key not in known:
                known[key] = len(steps)
                steps.append(key)
            return known[key]

        _taken(node, step)
        if len(steps) - 1 != known[steps[-1]]:
            raise AssertionError("the last step of an expression is its value.")
        ends.append(len(steps))
    codes, first, second, numbers = (
        np.array([row[i] for row in steps], dtype=np.float64 if i == 3 else np.int64)
        for i in range(4)
    )
    return Tape(codes, first, second, numbers, np.array(ends))


def _taken(node: Node, step) -> int:
    match node:
        case Number(value=value) | Symbol(value=value):
            return step(_NUMBER, number=float(value))
        case Column(place=place):
            return step(_VARIABLE, place)
        case Power(base=base, exponent=exponent):
            inner = _taken(base, step)
            if exponent == int(exponent) and 2 <= abs(exponent) <= 8:
                return step(_WHOLE_POWER, inner, int(exponent))
            if exponent == -1.0:
                return step(_FIRST + NAMES.index("reciprocal"), inner)
            if exponent == 0.5:
                return step(_FIRST + NAMES.index("sqrt"), inner)
            return step(_POWER, inner, number=float(exponent))
        case Raised(base=base, exponent=exponent):
            return step(_RAISED, _taken(base, step), _taken(exponent, step))
        case Apply(name=name, argument=argument):
            if name not in NAMES:
                raise ValueError(
                    f"the function {name!r} cannot be compiled: equations of motion have "
                    f"{', '.join(NAMES)}."
                )
            return step(_FIRST + NAMES.index(name), _taken(argument, step))
    assert isinstance(node, Product | Sum)
    code = _MULTIPLY if isinstance(node, Product) else _ADD
    parts = [_taken(part, step) for part in node.parts]
    total = parts[0]
    for part in parts[1:]:
        total = step(code, total, part)
    return total


@numba.njit(cache=True, error_model="numpy")
def _applied(function, x):
    """Return a function's value and its derivative."""
    if function == 0:
        return np.sin(x), np.cos(x)
    if function == 1:
        return np.cos(x), -np.sin(x)
    if function == 2:
        value = np.tan(x)
        return value, 1.0 + value * value
    if function == 3:
        return np.log(x), 1.0 / x
    if function == 4:
        value = np.exp(x)
        return value, value
    if function == 5:
        value = np.sqrt(x)
        return value, 0.5 / value
    if function == 6:
        return np.arcsin(x), 1.0 / np.sqrt(1.0 - x * x)
    if function == 7:
        return np.arccos(x), -1.0 / np.sqrt(1.0 - x * x)
    if function == 8:
        return np.arctan(x), 1.0 / (1.0 + x * x)
    if function == 9:
        value = np.tanh(x)
        return value, 1.0 - value * value
    if function == 10:
        value = 1.0 / x
        return value, -value * value
    if function == 11:
        return abs(x), np.sign(x)
    if function == 12:
        return np.sign(x), 0.0
    if function == 13:
        value = np.cbrt(x)
        return value, 1.0 / (3.0 * value * value)
    if function == 14:
        return np.sinh(x), np.cosh(x)
    if function == 15:
        return np.cosh(x), np.sinh(x)
    return x, 1.0


@numba.njit(cache=True, error_model="numpy")
def _whole_power(x, exponent):
    value = x
    for _ in range(abs(exponent) - 1):
        value *= x
    return value if exponent > 0 else 1.0 / value


@numba.njit(cache=True, error_model="numpy")
def values_of(tape, variables, values, result):
    """Evaluate the expressions of a tape; ``values`` has room for all steps."""
    codes, first, second, numbers, ends = tape
    for i in range(len(codes)):
        code = codes[i]
        if code == _MULTIPLY:
            values[i] = values[first[i]] * values[second[i]]
        elif code == _VARIABLE:
            values[i] = variables[first[i]]
        elif code == _ADD:
            values[i] = values[first[i]] + values[second[i]]
        elif code == _NUMBER:
            values[i] = numbers[i]
        elif code == _WHOLE_POWER:
            values[i] = _whole_power(values[first[i]], second[i])
        elif code == _POWER:
            values[i] = values[first[i]] ** numbers[i]
        elif code == _RAISED:
            values[i] = values[first[i]] ** values[second[i]]
        else:
            values[i] = _applied(code - _FIRST, values[first[i]])[0]
    for e in range(len(ends) - 1):
        result[e] = values[ends[e + 1] - 1]


@numba.njit(cache=True, error_model="numpy")
def slopes_of(tape, variables, values, slopes, result, gradients):
    """Evaluate the expressions of a tape and their derivatives by all variables, backwards.

    ``values`` and ``slopes`` have room for all steps, ``gradients`` for each expression and
    variable.
    """
    values_of(tape, variables, values, result)
    codes, first, second, numbers, ends = tape
    gradients[:] = 0.0
    slopes[:] = 0.0
    for e in range(len(ends) - 1):
        slopes[ends[e + 1] - 1] = 1.0
        for i in range(ends[e + 1] - 1, ends[e] - 1, -1):
            slope, code, a = slopes[i], codes[i], first[i]
            if slope == 0.0 or code == _NUMBER:
                continue
            if code == _MULTIPLY:
                b = second[i]
                slopes[a] += slope * values[b]
                slopes[b] += slope * values[a]
            elif code == _VARIABLE:
                gradients[e, a] += slope
            elif code == _ADD:
                slopes[a] += slope
                slopes[second[i]] += slope
            elif code == _WHOLE_POWER:
                power = second[i]
                lower = values[a] if power == 2 else values[i] / values[a]
                if power > 2 and values[a] == 0.0:
                    lower = 0.0
                slopes[a] += slope * power * lower
            elif code == _POWER:
                slopes[a] += slope * numbers[i] * values[a] ** (numbers[i] - 1.0)
            elif code == _RAISED:
                b = second[i]
                base = values[a]
                if base != 0.0:
                    slopes[a] += slope * values[b] * values[i] / base
                    slopes[b] += slope * values[i] * np.log(base)
            else:
                slopes[a] += slope * _applied(code - _FIRST, values[a])[1]
