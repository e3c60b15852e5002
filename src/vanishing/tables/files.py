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

ROWS = 100_000  # of a block
_OPENERS: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = (*_OPENERS, ".zip")


@dataclass(frozen=True)
class FileLayout:
    """How a file is written, as far as its reader is told; None: it looks.

    ``header_row`` is the line that has the names, counted from 1; or, where ``header`` is False,
    the line of the first row.
    """

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    header_row: int | None = None


LOOK = FileLayout()  # at the file


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
        As they are in the file: some may be empty, or occur twice.
    notes : list of str
        What was seen that a user should know.
    doubt : str
        What keeps the names from being known, and what may be typed; mostly empty.
    too_long : dict of int to int
        Rows with more fields than there are names, counted from 0 while they are read, and how many
        fields they have. Their cells are empty.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    compressible: ClassVar[bool] = False  # .gz and the like may come after the ending
    typed: ClassVar[bool] = True  # cells are numbers in the file, whatever the decimal sign

    def __init__(self, path: Path, layout: FileLayout = LOOK):
        self.path = path
        self.layout = layout
        self.notes: list[str] = []
        self.doubt = ""
        self.too_long: dict[int, int] = {}
        self.names = self._names()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self.names):
            self.places[name].append(i)

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _blocks(self, places: list[int], texts: set[int], rows: int) -> Iterator[list[np.ndarray]]:
        """Yield, some rows at a time, the columns at some places; see `cells`."""
        raise NotImplementedError

    def lines(self, rows: Iterable[int]) -> dict[int, str]:
        """Say where rows are, which are counted from 0: all of them in one pass over the file."""
        return {row: f"row {row + 1}" for row in rows}

    def is_text(self, place: int) -> bool:
        """Say whether the file calls a column one of text, be it that of numbers."""
        return False

    def place(self, name: str) -> int:
        """Return where a column is; raise TableError unless there is exactly one."""
        found = self.places.get(name, [])
        if not found:
            listed = ", ".join(map(repr, self.names[:LISTED]))
            more = ", ..." if len(self.names) > LISTED else ""
            raise TableError(f"{self.path} has no column {name!r}; its columns are {listed}{more}.")
        if len(found) > 1:
            raise TableError(f"{self.path} has {len(found)} columns with the name {name!r}.")
        if not name:
            raise TableError(
                f"Column {found[0] + 1} of {self.path} has no name; an index of "
                "rows, perhaps, that is better left out."
            )
        return found[0]

    def others(self, names: Iterable[str]) -> list[str]:
        """Return the columns that are not among some names, which must exist."""
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
            raise TableError(f"{self.path}, {self.doubt}")

    def cells(self, places: Sequence[int], texts=(), *, rows: int = ROWS) -> Iterator[list]:
        """Read some rows at a time, as they are written, whatever is in them.

        Parameters
        ----------
        places : sequence of int
            Of the columns to read.
        texts : collection of int
            Those of them that come as text in any case.
        rows : int
            Of a block.

        Yields
        ------
        columns : list of ndarray
            Of float64 where all cells are numbers; elsewhere of text, "" for no value, among which
            cells may be numbers unless they must be text.
        """
        with reading(self.path):
            for columns in self._blocks(list(places), set(texts), rows):
                if len(columns[0]):
                    yield columns


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
