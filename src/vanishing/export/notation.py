"""Operations entry by entry as text: what the sources in Python, C and SQL have in common."""

from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from vanishing.algebra.programs import PORTABLE, Spaced
from vanishing.algebra.writing import NEGATIVE, Written
from vanishing.export.computation import Value

ELEMENTWISE = frozenset([*PORTABLE, "add", "subtract", "multiply", "divide"])
ELEMENTWISE |= {"minimum", "maximum", "power", "clip", "zero_below", "choose"}


class Notation(Spaced):
    """How a language writes operations that are done entry by entry.

    Subclasses derive from what writes formulas in the language, too.
    """

    choices: ClassVar[dict[str, str]]  # between an operand and another, or limits

    def times_written(self, value: Value) -> int:
        """Return how often the text of an operation holds that of its input."""
        text = self.choices.get(value.operation) or self.functions.get(value.operation, "")
        return max(1, text.count("{0}"), text.count("{1}"))

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
        if operation == "power":
            return self.power(operands[0], value.data["exponent"])
        if operation in PORTABLE:
            return self.call(operation, operands[0])
        limits = [data(name) for name in ("low", "high") if name in value.data]
        if operation == "zero_below":
            limits = [self.literal(value.data["limit"])]
        texts = [part.text for part in (*operands, *limits)]
        return Written(self.choices[operation].format(*texts))

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


def wrapped(texts: Iterable[str], width: int) -> list[str]:
    """Return texts on lines of moderate length, with a comma behind each."""
    lines = [""]
    for text in texts:
        if lines[-1] and len(lines[-1]) + len(text) > width:
            lines.append("")
        lines[-1] += f"{text}, "
    return [line.rstrip() for line in lines]
