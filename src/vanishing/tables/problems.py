"""What is wrong with a table: the sentences that say so, where it is, and what may be typed."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import ColumnCells, cell_text, is_missing, problem_of
from vanishing.tables.errors import TableError, listed, shortened

_PROBLEMS = 20  # that a message lists


class TableProblemsError(TableError):
    """All that keeps a table from being used, a line for each."""

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
        """Return some cells of a column, the first of which is in the row ``start``."""
        return cls(name, start + wrong, [cell_text(cell) for cell in cells.at(wrong)])

    def sentence(self, lines: Mapping[int, str]) -> str:
        """Say where the first of them is and what is wrong, and what the others are like."""
        first = self.texts[0].strip()
        wrong = f"{first!r} is no value" if first and is_missing(first) else problem_of(first)
        told = f"{lines[int(self.rows[0])]}, column {self.name!r}: {wrong}"
        if len(self.texts) > 1:
            others = list(dict.fromkeys(shortened(text.strip()) for text in self.texts[1:]))
            more = len(self.texts) - 1
            told += f"; {more} more of the column cannot be used ({listed(others, 3)})"
        return f"{told}."


def remedy(fills: bool) -> str:
    """Say what may be done about cells that cannot be used, and whether they may be filled in."""
    median = "; --missing median fills them in, which breaks every balance of the row" * fills
    return f"--missing drop leaves such rows out{median}."
