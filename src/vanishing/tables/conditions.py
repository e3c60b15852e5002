"""Rows of a table that fulfil conditions: ``batch = 2``, ``dose > 0.1``."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from vanishing.tables.cells import (
    ColumnCells,
    is_date,
    is_missing,
    numbers_of,
    order_of,
    seconds_of,
)
from vanishing.tables.errors import LISTED, TableError, listed, shortened
from vanishing.tables.files import ROWS, FileTable, PartOfTable
from vanishing.tables.recipe import readable_names

_CONDITION = re.compile(r"(.*?)(<=|>=|!=|==|=|<|>)(.*)", re.DOTALL)
_COMPARISONS = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class Condition(NamedTuple):
    """A comparison of a column with a number, a date or a word.

    Attributes
    ----------
    text : str
        As it was typed.
    column : str
    sign : {"=", "!=", "<", "<=", ">", ">="}
    value : str
    """

    text: str
    column: str
    sign: str
    value: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Return a condition from text; raise ValueError if it is none."""
        match = _CONDITION.fullmatch(text)
        if match is None or not match[1].strip() or not match[3].strip():
            raise ValueError(
                "a condition is a column, one of = != < <= > >=, and a number, a date or a word, "
                f"such as 'batch = 2'; got {text!r}."
            )
        column, sign, value = (part.strip() for part in match.groups())
        condition = cls(text, _unquoted(column, "[]"), sign.replace("==", "="), _unquoted(value))
        is_word = np.isnan(condition.number) and not condition.is_date
        if condition.sign not in ("=", "!=") and is_word:
            raise ValueError(
                f"the condition {text!r} compares with {condition.value!r}, which is no number and "
                "no date."
            )
        return condition

    @property
    def number(self) -> float:
        """The value as a number, NaN if it is a word."""
        return float(numbers_of([self.value], None)[0])

    @property
    def is_date(self) -> bool:
        """Whether the value is a date, perhaps with a time."""
        return is_date(self.value)

    def _holds_for_dates(self, cells: ColumnCells) -> np.ndarray:
        """Say which cells are dates that fulfil the condition."""
        texts = cells.texts()
        order = order_of([*dict.fromkeys(texts), self.value]) or "dmy"
        known = {text: seconds_of(text, order) for text in set(texts)}
        moments = np.array([known[text] for text in texts], dtype=np.float64)
        value = seconds_of(self.value, order)
        return _COMPARISONS[self.sign](moments, value) & ~np.isnan(moments)

    def holds(self, cells: ColumnCells, decimal: str | None) -> np.ndarray:
        """Say which cells fulfil the condition; empty ones do not."""
        if self.is_date:
            return self._holds_for_dates(cells)
        numbers, compare = cells.numbers(decimal), _COMPARISONS[self.sign]
        is_word = bool(np.isnan(self.number))
        if not is_word and not cells.is_text:
            return compare(numbers, self.number) & ~np.isnan(numbers)
        texts = [text.strip() for text in cells.texts()]
        if is_word:
            holds = compare(np.array(texts, dtype=object), self.value).astype(bool)
        else:
            holds = np.where(np.isnan(numbers), self.sign == "!=", compare(numbers, self.number))
        return holds & ~np.array([is_missing(text) for text in texts], dtype=bool)


def _unquoted(text: str, quotes: str = "\"\"''") -> str:
    """Return text without quotation marks, or brackets, around it."""
    pairs = zip(quotes[::2], quotes[1::2], strict=True)
    around = len(text) > 1 and any(text[0] == a and text[-1] == b for a, b in pairs)
    return text[1:-1] if around else text


class ChosenRows(PartOfTable):
    """The rows of a table that fulfil conditions.

    Parameters
    ----------
    table : FileTable
    conditions : sequence of Condition
    decimal : {".", ","} or None
        The decimal sign of numbers that are text.
    """

    def __init__(self, table: FileTable, conditions: Sequence[Condition], decimal: str | None):
        super().__init__(table)
        self.conditions, self.decimal = conditions, decimal
        self.too_long = {}  # their cells are empty: no condition holds
        names = readable_names(table.names)
        missing = [c for c in conditions if c.column not in names]
        if missing and not self.doubt:
            raise TableError(
                f"{table.path} has no column {missing[0].column!r} (--where {missing[0].text!r}); "
                f"its columns are {listed(names, LISTED)}."
            )
        self._asked = [names.index(c.column) for c in conditions if c.column in names]
        self._rows: list[np.ndarray] = []  # places in the table, of each block that was read

    def cells(self, places: Sequence[int], texts=(), *, rows: int = ROWS) -> Iterator[list]:
        """Read the cells of rows that fulfil the conditions; see `FileTable.cells`."""
        seen: list[str] = []
        self._rows, start = [], 0
        for blocks in self.table.cells([*places, *self._asked], texts, rows=rows):
            asked = [ColumnCells([block], typed=self.typed) for block in blocks[len(places) :]]
            seen = seen or asked[0].texts()
            each = zip(self.conditions, asked, strict=True)
            chosen = np.logical_and.reduce([c.holds(cells, self.decimal) for c, cells in each])
            self._rows.append(start + np.flatnonzero(chosen))
            start += len(chosen)
            if chosen.any():
                yield [block[chosen] for block in blocks[: len(places)]]
        if start and not any(map(len, self._rows)):
            said = " and ".join(repr(c.text) for c in self.conditions)
            shown = listed([shortened(text) for text in dict.fromkeys(seen)], 5)
            raise TableError(
                f"{self.path} has no row for which {said} holds; {self.conditions[0].column!r} has "
                f"values such as {shown}."
            )

    def original(self, rows: np.ndarray) -> np.ndarray:
        """Return the places of rows in the whole table."""
        return np.concatenate([*self._rows, np.empty(0, dtype=np.intp)]).astype(np.intp)[rows]
