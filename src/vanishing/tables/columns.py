"""Columns of a table and the numbers that are made of them, for each kind of column."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from vanishing.tables.cells import SECONDS, ColumnCells, is_missing, measured, seconds_of


def by_distinct(cells: ColumnCells, value_of: Callable[[str], float]) -> np.ndarray:
    """Return the numbers of cells of text; ``value_of`` is called once per different text."""
    texts = cells.texts()
    known = {text: value_of(text) for text in set(texts)}
    return np.array([known[text] for text in texts], dtype=np.float64)


@dataclass(frozen=True)
class Column:
    """A column of numbers.

    Parameters
    ----------
    name : str
        In the table.
    fill : float
        What takes the place of missing values, if they are filled in: the median.
    unit : str
        What each cell has next to its number.
    """

    kind: ClassVar[str] = "number"
    as_text: ClassVar[bool] = False  # whether its cells are read as text

    name: str
    fill: float = 0.0
    unit: str = ""

    @property
    def outputs(self) -> list[str]:
        """Return the names of the columns of numbers that it becomes."""
        return [self.name]

    def values(self, cells: ColumnCells, decimal: str | None) -> np.ndarray:
        """Return the numbers of cells, NaN where there is none.

        Parameters
        ----------
        cells : ColumnCells
        decimal : {".", ","} or None

        Returns
        -------
        values : ndarray of shape (n_rows, n_outputs)
        """
        numbers = self._numbers(cells, decimal) if cells.is_text else cells.numbers(decimal)
        return np.where(np.isfinite(numbers), numbers, np.nan)[:, np.newaxis]

    def _numbers(self, cells: ColumnCells, decimal: str | None) -> np.ndarray:
        if not self.unit:
            return cells.numbers(decimal)

        def value_of(text):
            value, unit = measured(text, decimal)
            return value if unit == self.unit else np.nan

        return by_distinct(cells, value_of)

    def filling(self) -> np.ndarray:
        """Return what takes the place of missing values, one per output."""
        return np.array([self.fill])


@dataclass(frozen=True)
class FlagColumn(Column):
    """A column of two words such as yes and no, which become 1 and 0."""

    kind: ClassVar[str] = "flag"
    as_text: ClassVar[bool] = True

    words: dict[str, float] = field(default_factory=dict)

    def _numbers(self, cells, decimal):
        return by_distinct(cells, lambda text: self.words.get(text.strip().casefold(), np.nan))


@dataclass(frozen=True)
class DateColumn(Column):
    """A column of dates, which become times since a moment.

    ``unit`` is the unit of time, ``origin`` the moment in seconds since 1970, and ``order`` the
    order of day and month where the year comes last.
    """

    kind: ClassVar[str] = "date"
    as_text: ClassVar[bool] = True

    unit: str = "days"
    origin: float = 0.0
    order: str = "dmy"

    def _numbers(self, cells, decimal):
        moments = by_distinct(cells, lambda text: seconds_of(text, self.order))
        return (moments - self.origin) / SECONDS[self.unit]


@dataclass(frozen=True)
class CategoryColumn(Column):
    """A column of text, which becomes one column of 0 and 1 per different text.

    ``fill`` is the place of the most frequent text.
    """

    kind: ClassVar[str] = "category"
    as_text: ClassVar[bool] = True

    texts: tuple[str, ...] = ()

    @property
    def outputs(self):
        """Return the names of the columns of numbers that it becomes."""
        return [f"{self.name}_{text}" for text in self.texts]

    def values(self, cells, decimal):
        """Return columns of 0 and 1, NaN where the text is missing or unknown."""
        places = {text: i for i, text in enumerate(self.texts)}

        def place(text):
            return np.nan if is_missing(text) else places.get(text.strip(), np.nan)

        chosen = by_distinct(cells, place)[:, np.newaxis]
        return np.where(np.isnan(chosen), np.nan, chosen == np.arange(len(self.texts)))

    def filling(self):
        """Return what takes the place of missing values, one per output."""
        return (np.arange(len(self.texts)) == self.fill).astype(np.float64)
