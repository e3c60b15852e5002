"""What is done to a table, so that it can be saved and done again to another one."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from vanishing.rows.table_base import (
    LOOK,
    Layout,
    Table,
    TableError,
    listed,
    problem_of,
    shortened,
    text_of,
)
from vanishing.rows.table_cells import is_missing
from vanishing.rows.table_columns import Column

MISSING = ("error", "drop", "median")
_ROWS = 100_000  # of a block
_PROBLEMS = 20  # that a message lists


class Part(NamedTuple):
    """Some rows of a table: those that can be used, which those are, and text beside them."""

    X: np.ndarray
    usable: np.ndarray
    texts: dict[str, np.ndarray]


@dataclass(frozen=True)
class Recipe:
    """How the columns of a table become numbers.

    Parameters
    ----------
    columns : tuple of Column
    layout : Layout
        As far as it was given.
    decimal : {".", ","} or None
    missing : {"error", "drop", "median"}
        What becomes of rows with cells that cannot be used.
    roles : dict of str to str
        Columns that are no numbers to learn from: "id", "target", "run", "time".
    """

    columns: tuple[Column, ...]
    layout: Layout = LOOK
    decimal: str | None = None
    missing: str = "error"
    roles: tuple[tuple[str, str], ...] = ()

    def role(self, name: str) -> str | None:
        """Return the column of a role, or None."""
        return dict(self.roles).get(name)

    def changed(self, **changes) -> "Recipe":
        """Return it with other values where these are not None."""
        given = {name: value for name, value in changes.items() if value is not None}
        layout = {name: given.pop(name) for name in asdict(self.layout) if name in given}
        return replace(self, layout=replace(self.layout, **layout), **given)

    def only(self, outputs: Sequence[str]) -> "Recipe":
        """Return it for some of the columns that it makes, which must be among them."""
        wanted = set(outputs)
        kept = tuple(column for column in self.columns if wanted & set(column.outputs))
        return replace(self, columns=kept)

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are needed and not among the names of a table."""
        return [column.name for column in self.columns if column.name not in names]

    def parts(
        self, table: Table, outputs: Sequence[str], texts: Sequence[str] = (), rows: int = _ROWS
    ) -> Iterator[Part]:
        """Read some rows of a table at a time.

        Parameters
        ----------
        table : Table
        outputs : sequence of str
            The columns to make, in their order.
        texts : sequence of str
            Columns of the table to return as they are written.
        rows : int
            Of a part.

        Raises
        ------
        TableError
            Where cells cannot be used and ``missing`` is "error".
        """
        recipe = self.only(outputs)
        names = readable_names(table.names)
        places = [names.index(column.name) for column in recipe.columns]
        beside = [names.index(name) for name in texts]
        as_text = {p for p, column in zip(places, recipe.columns, strict=True) if column.as_text}
        table.lenient = self.missing == "drop"
        start = 0
        for found in table.cells(
            [*places, *beside],
            {*beside, *(places if self.decimal == "," and not table.typed else as_text)},
            rows=rows,
        ):
            made = recipe._made(found, table, start)
            X = np.column_stack([made[name] for name in outputs])
            usable = np.isfinite(X).all(axis=1)
            yield Part(X[usable], usable, dict(zip(texts, found[len(places) :], strict=True)))
            start += len(X)
        if not start:
            raise TableError(f"{table.path} has no rows.")

    def _made(self, found, table, start) -> dict[str, np.ndarray]:
        """Return the columns that are made of cells, filled in where that is wanted."""
        made: dict[str, np.ndarray] = {}
        problems = []
        for column, cells in zip(self.columns, found, strict=False):
            values = column.values(cells, self.decimal)
            wrong = np.flatnonzero(np.isnan(values).any(axis=1))
            if wrong.size and self.missing == "error":
                problems.append(unusable(column.name, cells, wrong, table, start))
            if self.missing == "median":
                values[wrong] = column.filling()
            made |= dict(zip(column.outputs, values.T, strict=True))
        if problems:
            raise TableProblemsError(table.path, problems)
        return made


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


def row_index(places: np.ndarray, identifiers: np.ndarray | None = None):
    """Return what rows of a table are called: an index of numbers from 1, and identifiers."""
    import pandas as pd

    if identifiers is None:
        return pd.Index(places + 1, name="row")
    return pd.MultiIndex.from_arrays([places + 1, identifiers], names=["row", "id"])


def readable_names(names: Sequence[str]) -> list[str]:
    """Return names of columns that differ: those without one, and further ones, are numbered.

    Examples
    --------
    >>> from vanishing.rows.table_recipe import readable_names
    >>> readable_names(["a", "", "a"])
    ['a', 'column 2', 'a (2)']
    """
    found: list[str] = []
    for place, name in enumerate(names, start=1):
        name, count = name.strip() or f"column {place}", 1
        new = name
        while new in found:
            count += 1
            new = f"{name} ({count})"
        found.append(new)
    return found


def unusable(name: str, cells: np.ndarray, wrong: np.ndarray, table: Table, start: int = 0) -> str:
    """Say which cells of a column cannot be used, the first of them first, and what may be done."""
    texts = [text_of(value) for value in cells[wrong].tolist()]
    first = texts[0].strip()
    problem = f"{first!r} is no value" if first and is_missing(first) else problem_of(texts[0])
    said = f"{table.where(start + int(wrong[0]))}, column {name!r}: {problem}"
    if len(texts) > 1:
        others = list(dict.fromkeys(shortened(text.strip()) for text in texts[1:]))
        said += f"; {len(texts) - 1} more of the column cannot be used ({listed(others, 3)})"
    return f"{said}. --missing drop leaves such rows out, --missing median fills them in."
