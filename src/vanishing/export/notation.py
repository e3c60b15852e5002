"""Operations entry by entry as text: what the sources in Python, C and SQL have in common."""

from collections.abc import Callable, Iterable

import numpy as np

from vanishing.algebra.programs import FUNCTIONS, Spaced
from vanishing.algebra.writing import NEGATIVE, Written
from vanishing.export.computation import Value

ELEMENTWISE = frozenset([*FUNCTIONS, "add", "subtract", "multiply", "divide"])
ELEMENTWISE |= {"minimum", "maximum", "power", "clip", "zero_below"}


class Notation(Spaced):
    """How a language writes operations that are done entry by entry.

    Subclasses derive from what writes formulas in the language, too, and say how choices between
    values are written.
    """

    def times_written(self, value: Value) -> int:
        """Return how often the text of an operation holds that of its input."""
        raise NotImplementedError

    def entry(
        self, value: Value, operands: list[Written], data: Callable[[str], Written]
    ) -> Written:
        """Write an entry of the result of an operation.

        Parameters
        ----------
        value : Value
        operands : list of Written
            The entries of its inputs.
        data : callable
            Returns the entry of an array of the operation, by its name.
        """
        operation = value.operation
        if operation in ("add", "subtract"):
            return self.added(*operands, is_subtracted=operation == "subtract")
        if operation == "multiply":
            return self.product(operands)
        if operation == "divide":
            return self.fraction(operands[:1], operands[1:])
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
            return self.zero_below(operand, self.literal(value.data["limit"]))
        return self.call(operation, operand)

    def added(self, left: Written, right: Written, *, is_subtracted: bool = False) -> Written:
        """Write a sum or a difference of two."""
        if right.rank == NEGATIVE:
            right, is_subtracted = Written(right.text[1:]), not is_subtracted
        return self.sum([(False, left), (is_subtracted, right)])

    def weighted_sum(
        self, coef: np.ndarray, offset: float, entry: Callable[[int], Written]
    ) -> Written:
        """Write the sum of numbers times entries of a vector, the last first, and of a number."""
        parts = []
        for place in np.flatnonzero(coef)[::-1].tolist():
            size = self.literal(abs(coef[place]))
            factors = [entry(place)] if size.text == "1.0" else [size, entry(place)]
            parts.append((coef[place] < 0.0, self.product(factors)))
        if offset or not parts:
            parts.append((offset < 0.0, self.literal(abs(offset))))
        return self.sum(parts)

    def smaller(self, left: Written, right: Written) -> Written:
        """Write the smaller one of two values."""
        raise NotImplementedError

    def larger(self, left: Written, right: Written) -> Written:
        """Write the larger one of two values."""
        raise NotImplementedError

    def clip(self, operand: Written, low: Written, high: Written) -> Written:
        """Write a value that is not below one limit and not above another."""
        raise NotImplementedError

    def zero_below(self, operand: Written, limit: Written) -> Written:
        """Write a value, or 0 where it is below a limit."""
        raise NotImplementedError


def wrapped(texts: Iterable[str], width: int) -> list[str]:
    """Return texts on lines of moderate length, with a comma behind each."""
    lines = [""]
    for text in texts:
        if lines[-1] and len(lines[-1]) + len(text) > width:
            lines.append("")
        lines[-1] += f"{text}, "
    return [line.rstrip() for line in lines]
