"""Tables on the command line: the options that say how to read one, and notes about it."""

import codecs
import functools
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from typer import Option

from vanishing.algebra.writing import printable
from vanishing.cli.console import fail, progress
from vanishing.tables.cells import SECONDS, seconds_of
from vanishing.tables.conditions import ChosenRows, Condition
from vanishing.tables.errors import EncodingError
from vanishing.tables.files import FileLayout, FileTable
from vanishing.tables.formats import open_table
from vanishing.tables.kinds import Choices
from vanishing.tables.preparing import PreparedTable, prepare
from vanishing.tables.problems import TableProblemsError
from vanishing.tables.recipe import MISSING, Recipe

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "bar": "|", r"\t": "\t"}
_CATEGORIES = ("one-hot", "drop")

# Those that matter where a model knows what is done to the columns.
_READING = (
    "where",
    "id",
    "missing",
    "decimal",
    "separator",
    "encoding",
    "header",
    "header_row",
    "sheet",
)


def _option(*names, default: bool | str = False, **details):
    return Option(*names, show_default=default, rich_help_panel="The table", **details)


_MISSING_WITHOUT_MEDIAN = Annotated[
    str | None,
    _option(help="What to do with rows that have unusable cells: drop or error.", default="error"),
]
_MISSING_IGNORED = Annotated[
    str | None,
    _option(
        help="What to do with rows that have unusable cells: ignore (such rows are scored by the "
        "columns they have), drop or error.",
        default="error",
    ),
]


@dataclass(frozen=True)
class TableOptions:
    """The options about a table that were typed; None for the others."""

    drop: Annotated[list[str] | None, _option(help="A column to leave out; may be repeated.")] = (
        None
    )
    only: Annotated[
        list[str] | None, _option(help="A column to use, without all others; may be repeated.")
    ] = None
    where: Annotated[
        list[str] | None,
        _option(
            help="Which rows to use: a column, one of = != < <= > >=, and a number, a date or a "
            "word, such as 'batch = 2'; may be repeated, then all must hold."
        ),
    ] = None
    id: Annotated[
        str | None, _option(help="A column that names the rows; copied to predictions.")
    ] = None
    missing: Annotated[
        str | None,
        _option(
            help="What to do with rows that have unusable cells: drop; error; or median, which "
            "fills the cells in and breaks every balance between columns.",
            default="error; with a model, as in its fit",
        ),
    ] = None
    categories: Annotated[
        str | None,
        _option(help="Columns of text: one-hot (a column of 0 and 1 for each text) or drop."),
    ] = None
    dates: Annotated[
        str | None,
        _option(
            help=f"Turn dates into numbers: {', '.join(SECONDS)} since the first, or 'days since "
            "2000-01-01'."
        ),
    ] = None
    decimal: Annotated[
        str | None,
        _option(help="The decimal mark: . or , (the other may separate thousands)."),
    ] = None
    separator: Annotated[
        str | None, _option(help="What separates fields: ; tab space, or another character.")
    ] = None
    encoding: Annotated[
        str | None, _option(help="The encoding of a text file, such as latin-1.", default="utf-8")
    ] = None
    header: Annotated[
        bool | None,
        _option("--header/--no-header", help="Whether the first line has the column names."),
    ] = None
    header_row: Annotated[
        int | None,
        _option(
            help="The line, or row of a sheet, that has the column names; counted from 1.",
            min=1,
            default="found by itself",
        ),
    ] = None
    sheet: Annotated[str | None, _option(help="The sheet of a workbook to read.")] = None

    def __post_init__(self):
        """Exit with a sentence where a value is not possible."""
        for name, known in (
            ("missing", MISSING),
            ("decimal", (".", ",")),
            ("categories", _CATEGORIES),
        ):
            value = getattr(self, name)
            if value is not None and value not in known:
                fail(f"--{name} must be one of {' '.join(known)}; got {value!r}.", 2)
        if self.separator is not None and len(self._separator) != 1:
            fail(f"--separator must be one character, or tab or space; got {self.separator!r}.", 2)
        if self.encoding is not None:
            try:
                "".encode(codecs.lookup(self.encoding).name)
            except (LookupError, ValueError):
                fail(f"--encoding {self.encoding!r} is not known: try utf-8 or latin-1.", 2)
        for text in self.where or ():
            try:
                Condition.read(text)
            except ValueError as problem:
                fail(f"--where: {problem}", 2)
        if self.drop and self.only:
            fail("--only says which columns are used: leave --drop out.", 2)

    @property
    def _separator(self) -> str:
        return _SEPARATORS.get(self.separator or "", self.separator or "")

    @property
    def layout(self) -> FileLayout:
        """Return how the file is written."""
        return FileLayout(
            self._separator or None, self.encoding, self.header, self.sheet, self.header_row
        )

    def chosen(self, table: FileTable, decimal: str | None) -> FileTable:
        """Return the rows of a table that were asked for."""
        if not self.where:
            return table
        return ChosenRows(table, [Condition.read(text) for text in self.where], decimal)

    def choices(self, fills: bool, ignores: bool = False, gaps: bool = False) -> Choices:
        """Return what to do with the columns, and what messages may offer for missing cells.

        With ``gaps`` these stay empty, whatever was typed.
        """
        return Choices(
            drop=tuple(self.drop or ()),
            only=tuple(self.only or ()),
            missing="ignore" if gaps else self.missing or "error",
            categories=self.categories,
            dates=self._dates(),
            decimal=self.decimal,
            layout=self.layout,
            fills=fills,
            ignores=ignores,
        )

    def _dates(self) -> tuple[str, float | None] | None:
        if self.dates is None:
            return None
        match = re.fullmatch(rf"({'|'.join(SECONDS)})(?: since (.+))?", self.dates.strip())
        origin = None if match is None or match[2] is None else seconds_of(match[2], "dmy")
        if match is None or origin != origin:
            fail(
                f"--dates must be {', '.join(SECONDS)}, or such as 'days since 2000-01-01'; got "
                f"{self.dates!r}.",
                2,
            )
        return match[1], origin


def takes_table(
    *, fitted: bool = True, fills: bool = False, ignores: bool = False, gaps: bool = False
) -> Callable:
    """Return a decorator that gives a command the options about a table, as ``options``.

    Parameters
    ----------
    fitted : bool
        Whether something is fitted to the table. Then the user chooses what is done to its columns;
        with a model, that is known.
    fills : bool
        Whether the help offers to fill in medians: not where balances of columns are fitted.
    ignores : bool
        Whether rows with gaps can be used as they are.
    gaps : bool
        Whether the command is about gaps, so that there is no option for what to do with them.
    """
    offered = dict(inspect.signature(TableOptions).parameters)
    if gaps:
        del offered["missing"]
    elif fitted and not fills:
        annotation = _MISSING_IGNORED if ignores else _MISSING_WITHOUT_MEDIAN
        offered["missing"] = offered["missing"].replace(annotation=annotation)
    added = [p for name, p in offered.items() if fitted or name in _READING]

    def decorate(function):
        @functools.wraps(function)
        def command(**typed):
            options = TableOptions(**{p.name: typed.pop(p.name) for p in added})
            if fitted and options.missing == "ignore" and not ignores:
                fail("--missing ignore is for outliers; here rows have no gaps: drop or error.", 2)
            return function(**typed, options=options)

        own = inspect.signature(function).parameters.values()
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in own if p.name != "options"]
        parameters += [p.replace(kind=p.KEYWORD_ONLY) for p in added]
        # typer looks at both.
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def prepared(
    data: Path,
    options: TableOptions,
    roles: dict[str, str | None],
    target: str | None = None,
    *,
    fills: bool = False,
    ignores: bool = False,
    gaps: bool = False,
    codes: bool = False,
    says: bool = True,
) -> PreparedTable:
    """Read a table to fit to, and print notes about what is odd on the error stream.

    Parameters
    ----------
    data : Path
    options : TableOptions
    roles : dict
        Columns that are not learned from, by their role; None where a role has no column.
    target : str, default=None
        A column of numbers to explain.
    fills, ignores : bool
        Whether messages may offer to fill in medians, or to leave gaps as they are.
    gaps : bool
        Whether cells that cannot be used stay empty, as NaN.
    codes : bool
        Whether columns of text are wanted as codes, where nothing else was typed.
    says : bool
        Whether notes are printed.
    """
    choices = options.choices(fills, ignores, gaps)
    if codes and choices.categories is None:
        choices = replace(choices, categories="codes")
    columns = {**roles, "id": options.id}
    columns_of_roles = {role: name for role, name in columns.items() if name is not None}
    with progress(f"Reading {data.name}"):
        try:
            table = options.chosen(open_table(data, layout=options.layout), options.decimal)
            result = prepare(table, choices, columns_of_roles, target=target)
        except EncodingError as problem:
            # Latin-1 reads any bytes, so that the other problems of the table come up, too.
            layout = replace(options.layout, encoding="latin-1")
            table = options.chosen(open_table(data, layout=layout), options.decimal)
            sentence = f"{str(problem).removeprefix(f'{data} ')} {problem.remedy}"
            try:
                prepare(table, choices, columns_of_roles, target=target)
            except TableProblemsError as more:
                raise TableProblemsError(data, [f"the file {sentence}", *more.problems]) from None
            raise
    for note in result.notes if says else ():
        say(note)
    return result


def save_with_recipe(model, path: Path, recipe: Recipe):
    """Save a model, and in the same file what was done to its table."""
    from vanishing.persistence import save
    from vanishing.tables.saved import node_of

    save(model, path, table=node_of(recipe))


def say(note: str):
    """Print a note on the error stream."""
    print(printable(f"Note: {note}"), file=sys.stderr)
