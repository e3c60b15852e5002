"""Expressions as text with the brackets they need: what Python, C and SQL have in common."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from vanishing.export.computation import FUNCTIONS, Value

SUM, PRODUCT, ATOM = range(3)  # how tightly a text holds together
_OPERATORS = {
    "add": ("+", SUM),
    "subtract": ("-", SUM),
    "multiply": ("*", PRODUCT),
    "divide": ("/", PRODUCT),
}
_AT_ONCE = 50  # terms of a sum
ELEMENTWISE = frozenset([*_OPERATORS, *FUNCTIONS, "minimum", "maximum"])
ELEMENTWISE |= {"power", "clip", "zero_below"}


class SourceText(NamedTuple):
    """An expression as text, and what it is: a sum, a product, or what needs no brackets.

    A negative number counts as a sum.
    """

    text: str
    rank: int = ATOM
    is_negative_number: bool = False

    @property
    def atom(self) -> str:
        """The text, in brackets if it is a sum or a product."""
        return self.text if self.rank == ATOM else f"({self.text})"


def number(value: float) -> SourceText:
    """Write a number with all its digits."""
    text = repr(float(value))
    is_negative = text.startswith("-")
    return SourceText(text, SUM if is_negative else ATOM, is_negative)


def combined(operation: str, left: SourceText, right: SourceText) -> SourceText:
    """Write a sum, difference, product or quotient."""
    if operation in ("add", "subtract") and right.is_negative_number:
        operation = "subtract" if operation == "add" else "add"
        right = SourceText(right.text[1:])
    symbol, rank = _OPERATORS[operation]
    first = left.text if left.rank >= rank else left.atom
    second = right.text if right.rank > rank else right.atom
    return SourceText(f"{first} {symbol} {second}", rank)


def weighted_sum(coef: np.ndarray, offset: float, entry: Callable[[int], SourceText]) -> SourceText:
    """Write the sum of numbers times entries of a vector, the last ones first, and of a number.

    Long sums are sums of sums: what reads them has no room for thousands of brackets.
    """
    parts = []
    for place in np.flatnonzero(coef)[::-1].tolist():
        size, text = number(abs(coef[place])), entry(place)
        text = text if size.text == "1.0" else combined("multiply", size, text)
        parts.append((text, coef[place] < 0.0))
    if offset or not parts:
        parts.append((number(abs(offset)), offset < 0.0))
    while len(parts) > _AT_ONCE:
        starts = range(0, len(parts), _AT_ONCE)
        parts = [(_total(parts[start : start + _AT_ONCE]), False) for start in starts]
    return _total(parts)


def _total(parts: list[tuple[SourceText, bool]]) -> SourceText:
    """Write a sum of parts, of which some are subtracted."""
    (total, is_negative), *rest = parts
    if is_negative:
        total = SourceText(f"-{total.atom}", SUM)
    for part, is_negative in rest:
        total = combined("subtract" if is_negative else "add", total, part)
    return total


class Notation:
    """How a language writes operations that are done entry by entry.

    Subclasses say how functions, powers and choices between two values are written.
    """

    functions: ClassVar[dict[str, str]] = {}  # names in the language

    def times_written(self, value: Value) -> int:
        """Return how often the text of an operation holds that of its input."""
        raise NotImplementedError

    def entry(
        self, value: Value, operands: list[SourceText], data: Callable[[str], SourceText]
    ) -> SourceText:
        """Write an entry of the result of an operation.

        Parameters
        ----------
        value : Value
        operands : list of SourceText
            The entries of its inputs.
        data : callable
            Returns the entry of an array of the operation, by its name.
        """
        operation = value.operation
        if operation in _OPERATORS:
            return combined(operation, *operands)
        if operation == "minimum":
            return self.smaller(*operands)
        if operation == "maximum":
            return self.larger(*operands)
        (operand,) = operands
        if operation == "power":
            return self.power(operand, value.data["exponent"])
        if operation == "clip":
            return self.clip(operand, data("low"), data("high"))
        if operation == "zero_below":
            return self.zero_below(operand, number(value.data["limit"]))
        return self.function(operation, operand)

    def function(self, name: str, argument: SourceText) -> SourceText:
        """Write a function of something."""
        return SourceText(f"{self.functions[name]}({argument.text})")

    def power(self, base: SourceText, exponent: float) -> SourceText:
        """Write a power."""
        raise NotImplementedError

    def smaller(self, left: SourceText, right: SourceText) -> SourceText:
        """Write the smaller one of two values."""
        raise NotImplementedError

    def larger(self, left: SourceText, right: SourceText) -> SourceText:
        """Write the larger one of two values."""
        raise NotImplementedError

    def clip(self, operand: SourceText, low: SourceText, high: SourceText) -> SourceText:
        """Write a value that is not below one limit and not above another."""
        raise NotImplementedError

    def zero_below(self, operand: SourceText, limit: SourceText) -> SourceText:
        """Write a value, or 0 where it is below a limit."""
        raise NotImplementedError
