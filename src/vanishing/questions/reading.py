"""A table to ask about, and the options that say how to read it."""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from vanishing.estimators.progress import Progress
from vanishing.questions.large_tables import is_large, prepare_large
from vanishing.questions.options import chosen, differing, options_of
from vanishing.tables.cells import SECONDS, seconds_of
from vanishing.tables.conditions import ChosenRows, Condition
from vanishing.tables.errors import EncodingError
from vanishing.tables.files import ROWS, FileLayout, FileTable, PartOfTable
from vanishing.tables.formats import open_table
from vanishing.tables.kinds import Choices
from vanishing.tables.preparing import PreparedTable, prepare
from vanishing.tables.problems import Problem, TableProblemsError
from vanishing.tables.recipe import MISSING

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "bar": "|", r"\t": "\t"}

READING = options_of("reading", missing=MISSING, dates=SECONDS)
# Those that matter where a model knows what is done to the columns.
OF_MODELS = (
    *("where", "id", "missing", "decimal", "separator", "encoding", "header", "header_row"),
    "sheet",
)


@dataclass(frozen=True)
class Reading:
    """How a table is to be read: the options of `READING` that were chosen, None for the others.

    Raises
    ------
    ValueError
        Where a value is not possible.

    Examples
    --------
    >>> from vanishing.questions import Reading
    >>> Reading(missing="drop", drop=["comment"])
    Reading(drop=('comment',), missing='drop')
    """

    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    id: str | None = None
    missing: str | None = None
    categories: str | None = None
    dates: str | None = None
    decimal: str | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    header_row: int | None = None
    sheet: str | None = None

    def __post_init__(self):
        for name, value in chosen(READING, vars(self), "the table").items():
            object.__setattr__(self, name, value)
        if self.separator is not None and len(self._separator) != 1:
            raise ValueError(
                f"--separator must be one character, or tab or space; got {self.separator!r}."
            )
        if self.encoding is not None:
            try:
                "".encode(codecs.lookup(self.encoding).name)
            except (LookupError, ValueError):
                raise ValueError(
                    f"--encoding {self.encoding!r} is not known: try utf-8 or latin-1."
                ) from None
        conditions(self.where, "where")
        _dates(self.dates)
        if self.drop and self.only:
            raise ValueError("--only says which columns are used: leave --drop out.")

    def __repr__(self):
        given = [f"{option.name}={value!r}" for option, value in self.given()]
        return f"Reading({', '.join(given)})"

    def given(self):
        """Return the options that were chosen, and their values."""
        return differing(READING, vars(self))

    @property
    def _separator(self) -> str:
        return _SEPARATORS.get(self.separator or "", self.separator or "")

    @property
    def layout(self) -> FileLayout:
        """Return how the file is written."""
        return FileLayout(
            self._separator or None, self.encoding, self.header, self.sheet, self.header_row
        )

    def opened(self, path: Path, decimal: str | None = None, layout=None) -> FileTable:
        """Return the rows of a file that are asked for."""
        table = open_table(path, layout=self.layout if layout is None else layout)
        if not self.where:
            return table
        return ChosenRows(table, conditions(self.where, "where"), decimal or self.decimal)

    def choices(
        self, *, fills=False, ignores=False, timed=False, gaps=False, codes=False
    ) -> Choices:
        """Return what to do with the columns; see `QuestionTable.prepared`."""
        if self.missing == "ignore" and not ignores:
            raise ValueError("--missing ignore is for outliers and fit; here use drop or error.")
        return Choices(
            drop=self.drop,
            only=self.only,
            missing="ignore" if gaps else self.missing or "error",
            categories=self.categories or ("codes" if codes else None),
            dates=_dates(self.dates),
            decimal=self.decimal,
            layout=self.layout,
            fills=fills,
            ignores=ignores,
            timed=timed,
        )


def conditions(texts, option: str) -> list[Condition]:
    """Return conditions on rows; raise ValueError that names the option where one is none."""
    try:
        return [Condition.read(text) for text in texts]
    except ValueError as problem:
        raise ValueError(f"--{option}: {problem}") from None


def _dates(text: str | None) -> tuple[str, float | None] | None:
    """Return the unit of dates, and the moment that they are counted from."""
    if text is None:
        return None
    match = re.fullmatch(rf"({'|'.join(SECONDS)})(?: since (.+))?", text.strip())
    origin = None if match is None or match[2] is None else seconds_of(match[2], "dmy")
    if match is None or origin != origin:
        raise ValueError(
            f"--dates must be {', '.join(SECONDS)}, or such as 'days since 2000-01-01'; got "
            f"{text!r}."
        )
    return match[1], origin


class ReportedRows(PartOfTable):
    """All rows of a table; while they are read, who is `listening` hears how many there were."""

    def cells(self, places: Sequence[int], texts=(), *, rows: int = ROWS) -> Iterator[list]:
        """Read the cells; see `FileTable.cells`."""
        steps, n_rows = Progress("table"), 0
        for blocks in self.table.cells(places, texts, rows=rows):
            n_rows += len(blocks[0])
            if n_rows > len(blocks[0]):  # tables of one block are there at once
                steps.step(f"{n_rows:,} rows read")
            yield blocks


@dataclass(frozen=True)
class QuestionTable:
    """A file and how it is read; each question then takes the columns that it is about."""

    path: Path
    reading: Reading
    source: str = ""  # what the user calls the file, if not by its path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.source or self.path.name

    def prepared(
        self,
        roles: Mapping[str, str | None],
        target: str | None = None,
        *,
        fills: bool = False,
        ignores: bool = False,
        timed: bool = False,
        gaps: bool = False,
        codes: bool = False,
    ) -> PreparedTable:
        """Read the rows to fit to.

        Parameters
        ----------
        roles : mapping of str to str
            Columns that are not learned from, by their role; None where a role has no column.
        target : str, default=None
            A column of numbers to explain.
        fills, ignores : bool
            Whether messages may offer to fill in medians, or to leave gaps as they are.
        timed : bool
            Whether messages may offer to take the rows in the order of times.
        gaps : bool
            Whether cells that cannot be used stay empty, as NaN.
        codes : bool
            Whether columns of text are wanted as codes, where nothing else was chosen.

        Raises
        ------
        TableError
            With all that is wrong with the table, and what helps.
        """
        path, reading = self.path, self.reading
        choices = reading.choices(fills=fills, ignores=ignores, timed=timed, gaps=gaps, codes=codes)
        columns = {**roles, "id": reading.id}
        columns_of_roles = {role: name for role, name in columns.items() if name is not None}
        try:
            table = reading.opened(path)
            if is_large(path):
                return prepare_large(table, choices, columns_of_roles, target=target)
            return prepare(ReportedRows(table), choices, columns_of_roles, target=target)
        except EncodingError as problem:
            # Latin-1 reads any bytes, so that the other problems of the table come up, too.
            table = reading.opened(path, layout=replace(reading.layout, encoding="latin-1"))
            sentence = f"{str(problem).removeprefix(f'{path} ')} {problem.remedy}"
            try:
                prepare(table, choices, columns_of_roles, target=target)
            except TableProblemsError as more:
                own = Problem(f"the file {sentence}", *problem.remedies)
                raise TableProblemsError(path, [own, *more.problems]) from None
            raise


def read(
    path: str | PathLike[str], reading: Reading | None = None, source: str = ""
) -> QuestionTable:
    """Return a table to ask about, whose file is there and can be opened.

    Parameters
    ----------
    path : path-like
        A file of one of the formats that `vanishing` reads.
    reading : Reading, default=None
    source : str, default=""
        What answers call the table; by default it is the name of the file.

    Returns
    -------
    table : QuestionTable

    Raises
    ------
    TableError
        If there is no such file, or it cannot be read.
    """
    table = QuestionTable(Path(path), Reading() if reading is None else reading, source)
    table.reading.opened(table.path)
    return table
