"""A file of rows with named columns; what cannot be used is refused, and its place is said."""

import csv
import gzip
import lzma
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_ROWS = 100_000  # of a block
LISTED = 20  # names that a message lists
_SHOWN = 40  # characters of a value that a message shows
FLAGS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


class TableError(ValueError):
    """Why a file cannot be used: one sentence.

    Parameters
    ----------
    message : str
    remedy : str
        What may be typed on the command line to use it nevertheless.
    """

    def __init__(self, message, *, remedy=""):
        super().__init__(message)
        self.remedy = remedy


class EncodingError(TableError):
    """A file is not text in the encoding in which it is read."""


class NoFileError(TableError, FileNotFoundError):
    """There is no such file."""


class NoPackageError(TableError, ImportError):
    """A package that reads such files is not installed."""


@dataclass(frozen=True)
class Layout:
    """How a file is written, as far as its reader is told; None: it looks."""

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None


LOOK = Layout()  # at the file


@contextmanager
def reading(path):
    """Turn what readers of files raise into one sentence."""
    try:
        yield
    except TableError:
        raise
    except _DAMAGED as error:
        raise TableError(
            f"{path} cannot be read: it is damaged, or not compressed as its name says."
        ) from error
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"{path} is not text in {error.encoding.upper()} (byte {error.start} of what was being "
            f"read is 0x{error.object[error.start]:02x}).",
            remedy="--encoding latin-1, or another, says what it is.",
        ) from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, csv.Error) as error:  # of pandas, pyarrow and the standard library
        if "EOF inside string" in str(error) or "unexpected end of data" in str(error):
            reason = "a quote is opened and not closed (EOF inside string)"
        elif match := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            wanted, line, found = match.groups()
            reason = f"line {line} has {found} fields, but the first line has {wanted}"
        else:
            reason = " ".join(str(error).split()).removesuffix(".")
        remedy = "--encoding utf-16, if that is what it is." if "NUL" in reason else ""
        raise TableError(f"{path} cannot be read: {reason}.", remedy=remedy) from error


class Table:
    """A file of rows with named columns.

    Parameters
    ----------
    path : Path
    layout : Layout

    Attributes
    ----------
    names : list of str
        As they are in the file: some may be empty, or occur twice.
    lenient : bool
        Whether a line with too many fields is a row of empty cells rather than an error.
    typed : bool
        Whether cells are numbers in the file, whatever sign comes before decimals.
    too_long : dict of int to int
        Such rows, counted from 0 while they are read, and how many fields they have.
    """

    typed = True

    def __init__(self, path: Path, layout: Layout = LOOK):
        self.path = path
        self.layout = layout
        self.lenient = False
        self.too_long: dict[int, int] = {}
        self.names = self._names()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self.names):
            self.places[name].append(i)

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _columns(self, places: list[int], texts: set[int], rows: int) -> Iterator[list]:
        """Yield, some rows at a time, the columns at some places; some of them as text.

        A column has ``tolist`` and slices.
        """
        raise NotImplementedError

    def _cells(self, column) -> np.ndarray:
        """Return a column that is all numbers as float64, and others as text, "" for no value."""
        raise NotImplementedError

    def _parsed(self, column, name: str) -> np.ndarray | None:
        """Return a column of numbers, NaN where one is missing, or None if the column is text."""
        raise NotImplementedError

    def _values(self, column, before: np.ndarray | None, name: str, start: int) -> np.ndarray:
        """Return labels, none of them missing, as numbers if they are, like those ``before``."""
        raise NotImplementedError

    def lines(self, rows: Iterable[int]) -> dict[int, str]:
        """Say where rows are, which are counted from 0: all of them in one pass over the file."""
        raise NotImplementedError

    def others(self, names: Iterable[str]) -> list[str]:
        """Return the columns that are not among some names, which must exist."""
        names = set(names)
        for name in names:
            self.place(name)
        return [name for name in self.names if name not in names]

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

    def arrays(
        self,
        columns: Sequence[str],
        target: str | None = None,
        *,
        rows: int = _ROWS,
        text: bool = True,
    ) -> Iterator[tuple]:
        """Read some rows at a time.

        Parameters
        ----------
        columns : sequence of str
            Columns of numbers; a value that is no finite number raises TableError.
        target : str, default=None
            The column of the labels.
        rows : int
            Of a block.
        text : bool, default=True
            Whether labels come as they are written in the file, or else as numbers where the first
            block has numbers only.

        Yields
        ------
        X : ndarray of float64
        labels : ndarray, or None
        """
        places = [self.place(name) for name in columns]
        last = None if target is None else self.place(target)
        labels = None
        start = 0
        with reading(self.path):
            wanted = places if last is None else [*places, last]
            for found in self._columns(wanted, set() if last is None else {last}, rows):
                X = np.empty((len(found[0]), len(columns)))
                for i, name in enumerate(columns):
                    X[:, i] = self._numbers(found[i], name, start)
                if target is not None:
                    self._check_labels(found[-1], target, start)
                    labels = (
                        np.array([str(label) for label in found[-1].tolist()], dtype=object)
                        if text
                        else self._values(found[-1], labels, target, start)
                    )
                if len(X):
                    start += len(X)
                    yield X, labels
        if not start:
            raise TableError(f"{self.path} has no rows.")

    def cells(self, places, texts=(), *, rows: int = _ROWS) -> Iterator[list[np.ndarray]]:
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
            Of float64 where all cells are numbers, and of text elsewhere, "" for no value.
        """
        with reading(self.path):
            for found in self._columns(list(places), set(texts), rows):
                if len(found[0]):
                    yield [
                        _texts(column) if place in texts else self._cells(column)
                        for place, column in zip(places, found, strict=True)
                    ]

    def blocks(self, columns: Sequence[str], target: str | None = None, **options) -> Iterator:
        """Read some rows at a time, as DataFrames; parameters as of `arrays`."""
        pd = _pandas()
        for X, labels in self.arrays(columns, target, **options):
            yield pd.DataFrame(X, columns=list(columns)), labels

    def read(self, columns: Sequence[str], target: str | None = None) -> tuple:
        """Read all rows, as a DataFrame of float64 and labels as they are written, or None."""
        pd = _pandas()
        arrays, labels = zip(*self.arrays(columns, target), strict=True)
        X = pd.DataFrame(np.concatenate(arrays), columns=list(columns))
        return X, None if target is None else np.concatenate(labels)

    def _numbers(self, column, name, start) -> np.ndarray:
        numbers = self._parsed(column, name)
        if numbers is None:
            numbers = floats(column.tolist())
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            (value,) = column[wrong[0] : wrong[0] + 1].tolist()
            raise TableError(f"{self._cell(start + wrong[0], name)}: {problem_of(value)}.")
        return numbers

    def _check_labels(self, column, name, start) -> None:
        labels = column.tolist()
        for label in set(labels):
            if label is None or label == "" or label != label:
                place = start + labels.index(label)
                raise TableError(f"{self._cell(place, name)}: the cell is empty.")

    def _cell(self, row, name) -> str:
        return f"{self.path}, {self.lines([int(row)])[int(row)]}, column {name!r}"


def _pandas():
    try:
        import pandas as pd
    except ImportError:
        raise NoPackageError(
            "Rows of files need pandas: install with python -m pip install 'vanishing[app]'."
        ) from None
    return pd


def _texts(column) -> np.ndarray:
    return np.array([text_of(value) for value in column.tolist()], dtype=object)


def text_of(value) -> str:
    """Return what a cell holds as text, "" where it holds nothing."""
    return "" if value is None or value != value else str(value)


def listed(values, limit=5) -> str:
    """Write some values as a list in a sentence."""
    shown = [repr(value) for value in values[:limit]]
    if len(values) > limit:
        return ", ".join(shown) + f" and {len(values) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def floats(values: list) -> np.ndarray:
    """Return text as numbers, NaN where it is none; columns of true and false are numbers, too."""
    if FLAGS.keys() >= set(values):
        return np.array([FLAGS[value] for value in values])
    try:
        check_characters("".join(values))
        return np.array([float(value) for value in values])
    except (TypeError, ValueError):  # look at each of them
        return np.array([as_float(value) for value in values])


def as_float(value) -> float:
    """Return a cell as a number, NaN if it is none; pandas makes huge integers of some text."""
    try:
        check_characters(str(value))
        return float(value)
    except (TypeError, ValueError):
        return np.nan
    except OverflowError:
        return np.inf


def check_characters(text: str) -> None:
    """Raise ValueError where Python would see numbers that no table has."""
    # Python takes 1_000 and the digits of all scripts for numbers.
    if not text.isascii() or "_" in text:
        raise ValueError("there are characters in it that no number has")


def shortened(text: str) -> str:
    """Return as much of the text of a cell as a message shows."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def problem_of(value) -> str:
    """Say, as the end of a sentence, what is wrong with a value that is no finite number."""
    text = "" if value is None else str(value)
    if not text.strip():
        return "the cell is empty"
    shown = repr(shortened(text))
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
        return f"{shown} is not a number (it has a comma; use a point)"
    number = as_float(text)
    if np.isnan(number) and text.strip().lower().lstrip("+-") != "nan":
        return f"{shown} is not a number"
    return f"{str(number)!r} is not a finite number"
