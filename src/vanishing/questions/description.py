"""A table as it was read: what its columns are, what looks odd, and what helps."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from vanishing.questions.answer import finite
from vanishing.questions.options import Option
from vanishing.questions.reading import READING, QuestionTable, Reading, ReportedRows
from vanishing.tables.cells import ColumnCells, is_missing
from vanishing.tables.columns import Column, DateColumn, FlagColumn
from vanishing.tables.errors import TableError, shortened
from vanishing.tables.files import FileTable, FirstRows
from vanishing.tables.kinds import Choices, Recognition, recognised
from vanishing.tables.preparing import prepare
from vanishing.tables.problems import TableProblemsError
from vanishing.tables.recipe import readable_names

_ROWS = 50_000  # that are looked at; the others are counted
_BINS = 20
_FIRST = 8  # rows that are shown
_TEXTS = 5  # texts of a column that are shown

ROLES: Mapping[str, str] = {}  # no column has one

_LABELS = {
    ("missing", "drop"): "Leave such rows out",
    ("missing", "median"): "Fill the cells in",
    ("missing", "ignore"): "Use such rows by the columns they have",
    ("categories", "one-hot"): "A column of 0 and 1 for each text",
    ("categories", "drop"): "Leave all columns of text out",
    ("dates", "days"): "Count days since the first date",
    ("decimal", ","): "The comma is the decimal mark",
    ("decimal", "."): "The point is the decimal mark",
    ("header", True): "The first line has the names",
    ("header", False): "The first line is a row",
}


@dataclass(frozen=True)
class Remedy:
    """An option that helps, its value, and what a button says."""

    option: str
    value: Any
    label: str


@dataclass(frozen=True)
class TableProblem:
    """What keeps a table from being used, and what helps."""

    sentence: str
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True)
class ColumnDescription:
    """A column as it was read.

    Attributes
    ----------
    name : str
    kind : {"number", "flag", "date", "text", "empty"}
    unit : str
        That stands in each cell.
    n_gaps, n_distinct : int
    low, high : str
        The smallest and the largest value, as text.
    counts : tuple of int
        Of numbers and dates: how many rows are in each of twenty parts of the range.
    texts : tuple of (str, int)
        Of text: the most frequent ones, and how many rows have them.
    suspicion : str
        What looks odd, if something does.
    """

    name: str
    kind: str
    unit: str = ""
    n_gaps: int = 0
    n_distinct: int = 0
    low: str = ""
    high: str = ""
    counts: tuple[int, ...] = ()
    texts: tuple[tuple[str, int], ...] = ()
    suspicion: str = ""


@dataclass(frozen=True)
class Description:
    """A table as it was read; of long tables the columns are described by their first rows."""

    name: str
    n_rows: int = 0
    n_seen: int = 0
    columns: tuple[ColumnDescription, ...] = ()
    first_rows: tuple[tuple[str, ...], ...] = ()
    problems: tuple[TableProblem, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON has it."""
        return asdict(self)


def describe(
    path: str | PathLike[str], reading: Reading | None = None, roles: Mapping[str, str] = ROLES
) -> Description:
    """Read a table and describe its columns; what is wrong with it is part of the answer.

    Parameters
    ----------
    path : path-like
    reading : Reading, default=None
    roles : mapping of str to str
        Columns that are not learned from, by their role, such as {"target": "grower"} for labels,
        "run", "group" and "time": what they hold is no problem.

    Returns
    -------
    description : Description
    """
    table = QuestionTable(Path(path), Reading() if reading is None else reading)
    try:
        first = FirstRows(ReportedRows(table.reading.opened(table.path)), _ROWS)
        names = readable_names(first.names)
        cells = _cells(first, range(len(names)))
        n_seen = len(next(iter(cells), ()))
        columns = [
            _column(first, place, name, cells, table.reading) for place, name in enumerate(names)
        ]
        n_rows = _count(first.table) if first.is_cut else n_seen
    except TableError as error:
        return Description(table.name, problems=problems_of(error))
    problems, notes = _judged(table, first, roles)
    texts = [column.texts()[:_FIRST] for column in cells]
    return Description(
        table.name,
        n_rows,
        n_seen,
        tuple(columns),
        tuple(tuple(shortened(cell) for cell in row) for row in zip(*texts, strict=True)),
        problems,
        notes,
    )


def problems_of(error: TableError) -> tuple[TableProblem, ...]:
    """Return what an error says is wrong with a table, with the options that help."""
    if isinstance(error, TableProblemsError):
        return tuple(
            TableProblem(str(problem), tuple(_remedy(*r) for r in getattr(problem, "remedies", ())))
            for problem in error.problems
        )
    sentence = f"{error} {error.remedy}".rstrip()
    return (TableProblem(sentence, tuple(_remedy(*remedy) for remedy in error.remedies)),)


def _remedy(option: str, value) -> Remedy:
    if option == "drop":
        return Remedy(option, value, f"Leave {value!r} out")
    if option == "id":
        return Remedy(option, value, f"{value!r} names the rows")
    if option == "header_row":
        return Remedy(option, value, f"The names are in line {value}")
    known: dict[str, Option] = {entry.name: entry for entry in READING}
    return Remedy(option, value, _LABELS.get((option, value), f"{known[option].label}: {value}"))


def _judged(table: QuestionTable, first: FirstRows, roles: Mapping[str, str]):
    """Return the problems of a table, and notes about it, before a question is asked."""
    reading = table.reading
    named = {} if reading.id is None else {"id": reading.id}
    try:
        choices = reading.choices(ignores=True, fills=True, timed=True)
        return (), tuple(prepare(first, choices, {**roles, **named}).notes)
    except TableError as error:
        return problems_of(error), tuple(first.notes)


def _cells(table: FileTable, places, texts=()) -> list[ColumnCells]:
    blocks = list(table.cells(list(places), texts))
    if not blocks:
        raise TableError(f"{table.path} has no rows.")
    return [ColumnCells(parts, typed=table.typed) for parts in zip(*blocks, strict=True)]


def _count(table: FileTable) -> int:
    """Return the number of rows."""
    return sum(len(blocks[0]) for blocks in table.cells([0]))


def _column(table, place: int, name: str, cells: list[ColumnCells], reading) -> ColumnDescription:
    choices = Choices(decimal=reading.decimal, dates=("days", None), categories="codes")
    found = recognised(name, cells[place], choices)
    if cells[place].is_mixed and type(found.column) is not Column:
        cells[place] = _cells(table, [place], [place])[0]
        found = recognised(name, cells[place], choices)
    decimal = reading.decimal
    if found.decimals:
        decimal = found.decimals[0]
        found = recognised(name, cells[place], Choices(decimal=decimal))
    column, own = found.column, cells[place]
    is_plain = type(column) not in (FlagColumn, DateColumn)
    suspicion = str(found.problem) or found.note * is_plain
    if type(column) not in (Column, FlagColumn, DateColumn):
        return _text(name, own, suspicion, found)
    assert column is not None
    numbers = column.values(own, decimal)[:, 0]
    known = numbers[np.isfinite(numbers)]
    n_gaps = len(numbers) - len(known)
    if not len(known):
        return ColumnDescription(name, "empty", n_gaps=n_gaps, suspicion=suspicion)
    counts = np.histogram(known, _BINS)[0]
    ends = [int(np.nanargmin(numbers)), int(np.nanargmax(numbers))]
    kind = {FlagColumn: "flag", DateColumn: "date"}.get(type(column), "number")
    if kind == "number":
        low, high = _written(*numbers[ends])
    else:
        low, high = (str(own.at(np.array([end]))[0]) for end in ends)
    return ColumnDescription(
        name,
        kind,
        column.unit if kind == "number" else "",
        n_gaps,
        len(np.unique(known)),
        low,
        high,
        tuple(finite(count) for count in counts),
        (),
        "the same on all rows" if low == high and len(known) > 1 else suspicion,
    )


def _written(low: float, high: float) -> tuple[str, str]:
    """Write the ends of a range with as many digits as tell them apart, such as Unix times."""
    size, span = max(abs(low), abs(high)), high - low
    digits = 6
    if 0 < span < size:
        digits = min(17, max(digits, 3 + int(np.ceil(np.log10(size / span)))))
    return f"{low:.{digits}g}", f"{high:.{digits}g}"


def _text(name: str, cells: ColumnCells, suspicion: str, found: Recognition) -> ColumnDescription:
    texts = Counter(text.strip() for text in cells.texts())
    known = Counter({text: count for text, count in texts.items() if not is_missing(text)})
    return ColumnDescription(
        name,
        "text" if known else "empty",
        n_gaps=len(cells) - known.total(),
        n_distinct=len(known),
        texts=tuple((shortened(text), count) for text, count in known.most_common(_TEXTS)),
        suspicion=suspicion,
    )
