"""What a model computes from a row, as a few operations on vectors: what every export writes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.programs import PORTABLE


class Steps(NamedTuple):
    """A function of one variable: straight lines between knots, and values at the knots.

    With k = how many knots are <= x, the value is ``at[k]`` where x is ``base[k]``, and
    ``start[k] + (x - base[k]) * slope[k]`` elsewhere.
    """

    knots: np.ndarray  # (n_knots,), increasing
    base: np.ndarray  # (n_knots + 1,), as all that follow
    at: np.ndarray
    start: np.ndarray
    slope: np.ndarray


@dataclass(frozen=True, eq=False)
class Value:
    """A vector that is computed for each row, written as NumPy's are.

    Attributes
    ----------
    operation : str
        "columns" (the row itself), "constant", "take" (some entries), "join", "linear" (a matrix
        times the input, and an offset), "add", "subtract", "multiply", "divide", "minimum" or
        "maximum" (of two inputs, of one width or one of them of width 1), "power", "clip",
        "zero_below" (0 where the input is below a limit), "choose" (of three inputs, the second
        where the first is negative, else the third), "quantiles", "nearest" (squared distances
        to the nearest row of each of some groups), or a function out of
        `vanishing.algebra.programs.PORTABLE`.
    inputs : tuple of Value
    width : int
        How many entries it has.
    data : dict
        Numbers that belong to the operation.
    notes : tuple of str
        Lines for people, which may hold anything.
    """

    operation: str
    inputs: tuple["Value", ...]
    width: int
    data: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def noted(self, notes: Iterable[str]) -> "Value":
        """Return the value with notes."""
        return replace(self, notes=tuple(notes))

    def __add__(self, other) -> "Value":
        return _binary("add", self, other)

    def __sub__(self, other) -> "Value":
        return _binary("subtract", self, other)

    def __mul__(self, other) -> "Value":
        return _binary("multiply", self, other)

    def __truediv__(self, other) -> "Value":
        return _binary("divide", self, other)

    def minimum(self, other) -> "Value":
        """Return the smaller one of each two entries."""
        return _binary("minimum", self, other)

    def maximum(self, other) -> "Value":
        """Return the larger one of each two entries."""
        return _binary("maximum", self, other)

    def apply(self, function: str) -> "Value":
        """Return a function of each entry."""
        if function not in PORTABLE:
            raise ValueError(
                f"{function!r} is a function of your own, which cannot be exported: "
                f"{', '.join(PORTABLE)} can."
            )
        return Value(function, (self,), self.width)

    def power(self, exponent: float) -> "Value":
        """Return a power of each entry."""
        return Value("power", (self,), self.width, {"exponent": float(exponent)})

    def take(self, places) -> "Value":
        """Return some entries."""
        places = np.asarray(places, dtype=np.intp)
        if np.array_equal(places, np.arange(self.width)):
            return self
        return Value("take", (self,), len(places), {"places": places})

    def linear(self, matrix, offset=None) -> "Value":
        """Return ``matrix @ self + offset``."""
        matrix = np.asarray(matrix, dtype=np.float64)
        offset = np.zeros(len(matrix)) if offset is None else np.asarray(offset, dtype=np.float64)
        return Value("linear", (self,), len(matrix), {"matrix": matrix, "offset": offset})

    def clip(self, low, high) -> "Value":
        """Return the entries, each not below ``low`` and not above ``high``."""
        low, high = (np.broadcast_to(end, self.width).astype(np.float64) for end in (low, high))
        return Value("clip", (self,), self.width, {"low": low, "high": high})

    def zero_below(self, limit: float) -> "Value":
        """Return the entries, 0 in place of those below a limit."""
        return Value("zero_below", (self,), self.width, {"limit": float(limit)})

    def choose(self, negative: "Value", other: "Value") -> "Value":
        """Return an entry of one where that of this is negative, and else of another.

        SQL computes neither before it is chosen.
        """
        return Value("choose", (self, negative, other), self.width)

    def quantiles(self, steps: Sequence[Steps]) -> "Value":
        """Return a function of each entry that consists of straight lines."""
        return Value("quantiles", (self,), self.width, {"steps": list(steps)})

    def nearest(self, groups: np.ndarray, equal: float) -> "Value":
        """Return the squared distance to the nearest row of each group, of those not equal to it.

        Parameters
        ----------
        groups : array of shape (n_groups, n_rows, width)
        equal : float
            Squared distance below which rows are equal; 0 is returned where all are.
        """
        return Value("nearest", (self,), len(groups), {"groups": groups, "equal": float(equal)})

    def largest(self) -> "Value":
        """Return the largest entry: of each two, of each two of these, and so on."""
        value = self
        while value.width > 1:
            half = value.width // 2
            larger = value.take(np.arange(half)).maximum(value.take(np.arange(half, 2 * half)))
            rest = [value.take([value.width - 1])] if value.width % 2 else []
            value = join([larger, *rest])
        return value

    def sum(self) -> "Value":
        """Return the sum of the entries."""
        return self.linear(np.ones((1, self.width)))


def columns(n_features: int) -> Value:
    """Return the row itself."""
    return Value("columns", (), n_features)


def constant(values) -> Value:
    """Return numbers that are the same for all rows."""
    values = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return Value("constant", (), len(values), {"values": values})


def join(parts: Sequence[Value]) -> Value:
    """Return the entries of several vectors, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Value("join", tuple(parts), sum(part.width for part in parts))


def _binary(operation: str, left: Value, right) -> Value:
    right = right if isinstance(right, Value) else constant(right)
    widths = {left.width, right.width}
    if len(widths - {1}) > 1:
        raise ValueError(f"vectors of widths {left.width} and {right.width} do not go together.")
    return Value(operation, (left, right), max(widths))


@dataclass(frozen=True)
class Computation:
    """A model as a computation.

    Attributes
    ----------
    title : str
        Of the model, for people.
    kind : {"classifier", "transformer", "detector", "law", "motion"}
    columns : tuple of str
        Names of the columns of a row.
    outputs : dict from str to Value
        The first is what the model is for. A classifier has "decision" and mostly "probabilities",
        a detector "decision" and "score", a transformer "features", a law "prediction" or
        "residual", equations of motion "derivatives".
    names : tuple of str
        Of the entries of the first output.
    classes : ndarray or None
    sign : Value or None
        Of a detector, what is negative where "decision" is, and in most rows takes less to compute.
    """

    title: str
    kind: str
    columns: tuple[str, ...]
    outputs: dict[str, Value]
    names: tuple[str, ...]
    classes: np.ndarray | None = None
    sign: Value | None = None


def in_order(
    values: Iterable[Value],
    times: Callable[[Value], int] = lambda value: 1,
    needs: Callable[[Value], Sequence[Value]] = lambda value: value.inputs,
) -> tuple[list[Value], Counter]:
    """Return all that some values need, inputs first, and how often each is written, by its id.

    ``times`` says how often the text of an operation holds that of its input, ``needs`` which
    inputs are asked for.
    """
    values_by_id: dict[int, Value] = {}
    used: Counter = Counter()
    stack = [(value, False) for value in reversed(list(values))]
    for value, _ in stack:
        used[id(value)] += 1
    while stack:
        value, is_ready = stack.pop()
        if is_ready:
            values_by_id[id(value)] = value
        elif id(value) not in values_by_id:
            for part in needs(value):
                used[id(part)] += times(value)
            stack.append((value, True))
            stack += [(part, False) for part in reversed(needs(value))]
    return list(values_by_id.values()), used
