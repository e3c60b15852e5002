"""What is wrong with a table: sentences with the place and the option that helps."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import ColumnCells, cell_text, is_missing, problem_of
from vanishing.tables.errors import TableError, listed, shortened

_PROBLEMS = 20  # that a message lists


class Problem(str):
    """A sentence about what is wrong, and the options that help.

    Attributes
    ----------
    remedies : tuple of (str, value)
        Options and their values, such as ("missing", "drop").
    """

    remedies: tuple[tuple[str, object], ...]

    def __new__(cls, sentence: str, *remedies: tuple[str, object]):
        """Return the sentence with its remedies."""
        problem = super().__new__(cls, sentence)
        problem.remedies = remedies
        return problem


class TableProblemsError(TableError):
    """All that keeps a table from being used, one line per problem."""

    def __init__(self, path, problems: list[str]):
        self.problems = problems
        if len(problems) == 1:
            text = f"{path}, {problems[0]}"
        else:
            more = len(problems) - _PROBLEMS
            shown = [*problems[:_PROBLEMS], *([f"... and {more} more."] if more > 0 else [])]
            text = "\n  ".join([f"{path} has {len(problems)} problems:", *shown])
        super().__init__(text)


class BadCells(NamedTuple):
    """Cells of a column that cannot be used: their rows, counted from 0, and what is in them."""

    name: str
    rows: np.ndarray
    texts: list[str]

    @classmethod
    def of(cls, name: str, cells: ColumnCells, wrong: np.ndarray, start: int = 0) -> "BadCells":
        """Return the wrong cells of a column whose first cell is in row ``start``."""
        return cls(name, start + wrong, [cell_text(cell) for cell in cells.at(wrong)])

    def sentence(self, lines: Mapping[int, str]) -> str:
        """Say where the first cell is and what is wrong with it, and quote the others."""
        first = self.texts[0].strip()
        wrong = f"{first!r} is no value" if first and is_missing(first) else problem_of(first)
        sentence = f"{lines[int(self.rows[0])]}, column {self.name!r}: {wrong}"
        if len(self.texts) > 1:
            others = list(dict.fromkeys(shortened(text.strip()) for text in self.texts[1:]))
            more = len(self.texts) - 1
            sentence += f"; {more} more of the column cannot be used ({listed(others, 3)})"
        return f"{sentence}."


def remedies(fills: bool, ignores: bool = False) -> list[tuple[str, object]]:
    """Return the options of `remedy`."""
    values = ["ignore"] * ignores + ["drop"] + ["median"] * fills
    return [("missing", value) for value in values]


def remedy(fills: bool, ignores: bool = False) -> str:
    """Return the options for cells that cannot be used; filling in, or ignoring, may be one."""
    median = "; --missing median fills them in, which breaks every balance of the row" * fills
    ignore = "--missing ignore judges such rows by the columns they have; " * ignores
    return f"{ignore}--missing drop leaves such rows out{median}."
