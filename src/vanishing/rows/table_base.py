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
from pathlib import Path

import numpy as np

_ROWS = 100_000  # of a block
LISTED = 20  # names that a message lists
_SHOWN = 40  # characters of a value that a message shows
FLAGS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


class TableError(ValueError):
    """Why a file cannot be used: one sentence."""


class NoFileError(TableError, FileNotFoundError):
    """There is no such file."""


class NoPackageError(TableError, ImportError):
    """A package that reads such files is not installed."""


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
        raise TableError(
            f"{path} is not text in UTF-8 (byte {error.start} of what was being read is "
            f"0x{error.object[error.start]:02x})."
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
        raise TableError(f"{path} cannot be read: {reason}.") from error


class Table:
    """A file of rows with named columns.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    names : list of str
        As they are in the file: some may be empty, or occur twice.
    """

    def __init__(self, path: Path):
        self.path = path
        self.names = self._names()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self.names):
            self.places[name].append(i)

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _columns(self, places: list[int], label: int | None, rows: int) -> Iterator[list]:
        """Yield, some rows at a time, the columns at some places; one may be that of the labels.

        A column has ``tolist`` and slices.
        """
        raise NotImplementedError

    def _parsed(self, column, name: str) -> np.ndarray | None:
        """Return a column of numbers, NaN where one is missing, or None if the column is text."""
        raise NotImplementedError

    def _values(self, column, before: np.ndarray | None, name: str, start: int) -> np.ndarray:
        """Return labels, none of them missing, as numbers if they are, like those ``before``."""
        raise NotImplementedError

    def _where(self, row: int) -> str:
        """Say where a row is, counted from 0."""
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
            for found in self._columns(wanted, last, rows):
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
            raise TableError(f"{self._cell(start + wrong[0], name)}: {_problem(value)}.")
        return numbers

    def _check_labels(self, column, name, start) -> None:
        labels = column.tolist()
        for label in set(labels):
            if label is None or label == "" or label != label:
                place = start + labels.index(label)
                raise TableError(f"{self._cell(place, name)}: the cell is empty.")

    def _cell(self, row, name) -> str:
        return f"{self.path}, {self._where(int(row))}, column {name!r}"


def _pandas():
    try:
        import pandas as pd
    except ImportError:
        raise NoPackageError(
            "Rows of files need pandas: install with python -m pip install 'vanishing[app]'."
        ) from None
    return pd


def floats(values: list) -> np.ndarray:
    """Return text as numbers, NaN where it is none; columns of true and false are numbers, too."""
    if FLAGS.keys() >= set(values):
        return np.array([FLAGS[value] for value in values])
    try:
        _check_characters("".join(values))
        return np.array([float(value) for value in values])
    except (TypeError, ValueError):  # look at each of them
        return np.array([_float(value) for value in values])


def _float(value) -> float:
    """Return a cell as a number, NaN if it is none; pandas makes huge integers of some text."""
    try:
        _check_characters(str(value))
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _check_characters(text: str) -> None:
    # Python takes 1_000 and the digits of all scripts for numbers.
    if not text.isascii() or "_" in text:
        raise ValueError("there are characters in it that no number has")


def _problem(value) -> str:
    """Say, as the end of a sentence, what is wrong with a value that is no finite number."""
    text = "" if value is None else str(value)
    if not text.strip():
        return "the cell is empty"
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
        return f"{shown} is not a number (it has a comma; use a point)"
    number = _float(text)
    if np.isnan(number) and text.strip().lower().lstrip("+-") != "nan":
        return f"{shown} is not a number"
    return f"{str(number)!r} is not a finite number"
