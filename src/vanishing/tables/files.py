"""A file of rows with named columns, in any format: what its readers have in common."""

import bz2
import gzip
import lzma
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from vanishing.tables.errors import LISTED, TableError, reading
from vanishing.tables.problems import Problem

ROWS = 100_000  # of a block
_CELLS = 400_000  # of a block of a table as it comes: text among numbers turns few rows into text
_OPENERS: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = (*_OPENERS, ".zip")


@dataclass(frozen=True)
class FileLayout:
    """How a file is written, as far as the user says; None: the reader finds out.

    ``header_row`` is the line that has the names, counted from 1; or, where ``header`` is False,
    the line of the first row.
    """

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    header_row: int | None = None


LOOK = FileLayout()  # everything is found out from the file


class FileTable:
    """A file of rows with named columns.

    A format derives from it, says what its files are called, and defines `_names` and `_blocks`.

    Parameters
    ----------
    path : Path
    layout : FileLayout

    Attributes
    ----------
    names : list of str
        As they are in the file: a name may be empty, or occur twice.
    notes : list of str
        What a user should know about how the file was read.
    doubt : Problem
        Why it is not certain which line has the names, and which option says so; mostly empty.
    too_long : dict of int to int
        The number of fields of each row that has more fields than there are names; rows are counted
        from 0, and filled in while they are read. The cells of these rows are empty.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    compressible: ClassVar[bool] = False  # .gz and the like may come after the ending
    typed: ClassVar[bool] = True  # cells are numbers in the file, whatever the decimal sign

    def __init__(self, path: Path, layout: FileLayout = LOOK):
        self.path = path
        self.layout = layout
        self.notes: list[str] = []
        self.doubt = Problem("")
        self.too_long: dict[int, int] = {}
        self.names = self._names()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self.names):
            self.places[name].append(i)

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _blocks(self, places: list[int], texts: set[int], rows: int) -> Iterator[list[np.ndarray]]:
        """Yield the columns at these places, ``rows`` rows at a time; see `cells`."""
        raise NotImplementedError

    def lines(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the place of each row in the file, as messages name it; rows count from 0."""
        return {row: f"row {row + 1}" for row in rows}

    def original(self, rows: np.ndarray) -> np.ndarray:
        """Return the places of rows in the whole table, where only some of its rows are read."""
        return rows

    def is_text(self, place: int) -> bool:
        """Say whether the file declares a column as text, even if it holds numbers."""
        return False

    def place(self, name: str) -> int:
        """Return the place of a column; raise TableError unless there is exactly one."""
        places = self.places.get(name, [])
        if not places:
            listed = ", ".join(map(repr, self.names[:LISTED]))
            more = ", ..." if len(self.names) > LISTED else ""
            raise TableError(f"{self.path} has no column {name!r}; its columns are {listed}{more}.")
        if len(places) > 1:
            raise TableError(f"{self.path} has {len(places)} columns with the name {name!r}.")
        if not name:
            raise TableError(
                f"Column {places[0] + 1} of {self.path} has no name. If it is "
                "an index of rows, leave it out."
            )
        return places[0]

    def others(self, names: Iterable[str]) -> list[str]:
        """Return the columns but those with these names, which must exist."""
        names = set(names)
        for name in names:
            self.place(name)
        return [name for name in self.names if name not in names]

    def refuse_long_rows(self):
        """Raise TableError if rows were read that have more fields than there are names."""
        for row, n_fields in self.too_long.items():
            raise TableError(
                f"{self.path} cannot be read: {self.lines([row])[row]} has {n_fields} fields, but "
                f"there are {len(self.names)} names.",
                remedy="--missing drop leaves such rows out.",
            )

    def refuse_doubt(self):
        """Raise TableError if it is not known which line has the names."""
        if self.doubt:
            raise TableError(f"{self.path}, {self.doubt}", remedies=self.doubt.remedies)

    @property
    def block_rows(self) -> int:
        """How many rows are best read at a time."""
        return max(1000, _CELLS // len(self.names))

    def cells(self, places: Sequence[int], texts=(), *, rows: int = ROWS) -> Iterator[list]:
        """Read the cells as they are written, ``rows`` rows at a time.

        Parameters
        ----------
        places : sequence of int
            Of the columns to read.
        texts : collection of int
            Those of the places whose cells come as text in any case.
        rows : int
            Rows of a block.

        Yields
        ------
        columns : list of ndarray
            Of float64 if all cells are numbers; if not, of text, "" for an empty cell; cells that
            are numbers may stay numbers unless the column must be text.
        """
        with reading(self.path):
            for columns in self._blocks(list(places), set(texts), rows):
                if len(columns[0]):
                    yield columns


class PartOfTable(FileTable):
    """Some rows of a table, and all its columns; `cells` says which rows.

    Parameters
    ----------
    table : FileTable
    """

    def __init__(self, table: FileTable):
        self.table = table
        self.path, self.layout = table.path, table.layout
        self.notes, self.doubt, self.names = table.notes, table.doubt, table.names
        self.places, self.too_long = table.places, table.too_long
        self.typed = table.typed  # type: ignore[misc]  # of the table that is read

    def is_text(self, place: int) -> bool:
        """Say whether the file declares a column as text, even if it holds numbers."""
        return self.table.is_text(place)

    def lines(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the place of each row in the file."""
        rows = list(rows)
        original = self.original(np.array(rows, dtype=np.intp)).tolist()
        lines = self.table.lines(original)
        return {row: lines[place] for row, place in zip(rows, original, strict=True)}

    def original(self, rows: np.ndarray) -> np.ndarray:
        """Return the places of rows in the whole table."""
        return self.table.original(rows)


class FirstRows(PartOfTable):
    """The first rows of a table: enough to see what its columns are.

    Parameters
    ----------
    table : FileTable
    limit : int

    Attributes
    ----------
    is_cut : bool
        Whether there are more rows; known once they were read.
    """

    def __init__(self, table: FileTable, limit: int):
        super().__init__(table)
        self.limit, self.is_cut = limit, False

    def cells(self, places: Sequence[int], texts=(), *, rows: int = ROWS) -> Iterator[list]:
        """Read the cells of the first rows; see `FileTable.cells`."""
        left = self.limit
        for blocks in self.table.cells(places, texts, rows=rows):
            if not left or len(blocks[0]) > left:
                self.is_cut = True
            if not left:
                return
            yield [block[:left] for block in blocks]
            left -= min(left, len(blocks[0]))


@contextmanager
def opened(path: Path):
    """Open a file that may be compressed, to read its bytes."""
    ending = path.suffix.lower()
    if ending != ".zip":
        with _OPENERS.get(ending, open)(path, "rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        files = [name for name in archive.namelist() if not name.endswith("/")]
        if len(files) != 1:
            raise TableError(f"{path} holds {len(files)} files, not one.")
        with archive.open(files[0]) as file:
            yield file
