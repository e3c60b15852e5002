"""How a table becomes numbers: a recipe that can be saved, and applied to another table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import ColumnCells
from vanishing.tables.columns import Column
from vanishing.tables.errors import TableError
from vanishing.tables.files import LOOK, FileLayout, FileTable
from vanishing.tables.problems import BadCells, TableProblemsError, remedy

MISSING = ("error", "drop", "median", "ignore")


class TablePart(NamedTuple):
    """The usable rows of a part of a table, which rows these are, and cells as text."""

    X: np.ndarray
    usable: np.ndarray
    texts: dict[str, np.ndarray]
    filled: dict[str, int]  # how many cells of each column were filled in


@dataclass(frozen=True)
class Recipe:
    """How the columns of a table become numbers.

    Parameters
    ----------
    columns : tuple of Column
    layout : FileLayout
        As far as the user gave it.
    decimal : {".", ","} or None
    missing : {"error", "drop", "median", "ignore"}
        What is done about rows with cells that cannot be used; "ignore": such cells are NaN.
    roles : dict of str to str
        Columns that are not learned from: "id", "target", "run", "time".
    """

    columns: tuple[Column, ...]
    layout: FileLayout = LOOK
    decimal: str | None = None
    missing: str = "error"
    roles: tuple[tuple[str, str], ...] = ()

    def role(self, name: str) -> str | None:
        """Return the column of a role, or None."""
        return dict(self.roles).get(name)

    def changed(self, **changes) -> "Recipe":
        """Return the recipe with those of the changes that are not None."""
        values = {name: value for name, value in changes.items() if value is not None}
        layout = {name: values.pop(name) for name in asdict(self.layout) if name in values}
        return replace(self, layout=replace(self.layout, **layout), **values)

    def only(self, outputs: Sequence[str]) -> "Recipe":
        """Return the recipe for these outputs alone, which must be among its own."""
        wanted = set(outputs)
        kept = tuple(column for column in self.columns if wanted & set(column.outputs))
        return replace(self, columns=kept)

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Return the columns that the recipe needs and a table with these names lacks."""
        return [column.name for column in self.columns if column.name not in names]

    def parts(
        self,
        table: FileTable,
        outputs: Sequence[str],
        texts: Sequence[str] = (),
        rows: int | None = None,
        *,
        fills: bool = True,
    ) -> Iterator[TablePart]:
        """Read a table part by part.

        Parameters
        ----------
        table : FileTable
        outputs : sequence of str
            The columns to make, in their order.
        texts : sequence of str
            Columns of the table to return as they are written.
        rows : int, default=None
            Rows of a part; None means as many as are best read at a time.
        fills : bool
            Whether errors offer to fill cells in.

        Raises
        ------
        TableError
            Where cells cannot be used and ``missing`` is "error".
        """
        recipe = self.only(outputs)
        known = {name: place for place, name in enumerate(readable_names(table.names))}
        places = [known[column.name] for column in recipe.columns]
        text_places = [known[name] for name in texts]
        as_text = {p for p, column in zip(places, recipe.columns, strict=True) if column.as_text}
        if self.decimal == "," and not table.typed:
            as_text = set(places)
        start = 0
        for blocks in table.cells(
            [*places, *text_places], {*text_places, *as_text}, rows=rows or table.block_rows
        ):
            if self.missing != "drop":
                table.refuse_long_rows()
            made, bad = recipe.made(blocks[: len(places)], start)
            if bad and self.missing == "error":
                lines = table.lines(int(cells.rows[0]) for cells in bad)
                raise TableProblemsError(
                    table.path, [f"{cells.sentence(lines)} {remedy(fills)}" for cells in bad]
                )
            X = np.column_stack([made[name] for name in outputs])
            usable = np.isfinite(X).all(axis=1) | (self.missing == "ignore")
            filled = {cells.name: len(cells.rows) for cells in bad if self.missing == "median"}
            named = dict(zip(texts, blocks[len(places) :], strict=True))
            yield TablePart(X[usable], usable, named, filled)
            start += len(X)
        if not start:
            raise TableError(f"{table.path} has no rows.")

    def made(
        self, blocks: Sequence[np.ndarray], start: int
    ) -> tuple[dict[str, np.ndarray], list[BadCells]]:
        """Return the outputs by name, filled in if the recipe says so, and the wrong cells.

        Parameters
        ----------
        blocks : sequence of ndarray
            Cells of each column, as `FileTable.cells` yields them.
        start : int
            The row of the first cells.
        """
        made: dict[str, np.ndarray] = {}
        bad = []
        for column, block in zip(self.columns, blocks, strict=True):
            cells = ColumnCells([block])
            values = column.values(cells, self.decimal)
            wrong = np.flatnonzero(np.isnan(values).any(axis=1))
            if wrong.size:
                bad.append(BadCells.of(column.name, cells, wrong, start))
            if self.missing == "median":
                values[wrong] = column.filling()
            made |= dict(zip(column.outputs, values.T, strict=True))
        return made, bad


def row_index(places: np.ndarray, identifiers: np.ndarray | None = None):
    """Return an index of rows of a table: their numbers, from 1, and identifiers if any."""
    import pandas as pd

    if identifiers is None:
        return pd.Index(places + 1, name="row")
    return pd.MultiIndex.from_arrays([places + 1, identifiers], names=["row", "id"])


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def readable_names(names: Sequence[str]) -> list[str]:
    """Return different names for columns: empty names and repeated ones get a number.

    Examples
    --------
    >>> from vanishing.tables.recipe import readable_names
    >>> readable_names(["a", "", "a"])
    ['a', 'column 2', 'a (2)']
    """
    counts: dict[str, int] = {}  # by name, in the order of the columns
    for place, name in enumerate(names, start=1):
        name = new = name.strip() or f"column {place}"
        while new in counts:
            counts[name] += 1
            new = f"{name} ({counts[name]})"
        counts[new] = 1
    return list(counts)
