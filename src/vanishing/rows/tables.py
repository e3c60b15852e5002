"""Tables on disk, CSV (also compressed) and Parquet: columns of numbers, and labels.

What cannot be used is refused in one sentence that says where it is. Needs pandas, and pyarrow for
Parquet: the extra ``app``.
"""

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_ROWS = 100_000  # of a block
_LISTED = 20  # names that a message lists
_SHOWN = 40  # characters of a value that a message shows
_FIELD = 1 << 30  # characters of a field, where a line is looked for
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


class TableError(ValueError):
    """Why a file cannot be used: one sentence."""


def open_table(path) -> "Table":
    """Look at a file's columns, by its ending: .csv, .tsv or .txt, maybe compressed, or .parquet.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    table : Table
    """
    path = Path(path)
    endings = [ending.lower() for ending in path.suffixes]
    compressed = endings[-1:] in ([".gz"], [".bz2"], [".xz"], [".zip"])
    kind = endings[-2:-1] if compressed else endings[-1:]
    with _reading(path):
        if path.is_dir():
            raise TableError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise TableError(f"There is no file {path}.")
        if not path.is_file():
            raise TableError(f"{path} is a pipe or a device, not a file.")
        if kind in ([".csv"], [".tsv"], [".txt"]):
            return CsvTable(path)
        if kind in ([".parquet"], [".pq"]) and not compressed:
            return ParquetTable(path)
    raise TableError(
        f"{path} is of no known kind: give a file .csv (or .csv.gz, .csv.bz2, .csv.xz, .csv.zip) "
        "or .parquet."
    )


@contextmanager
def _reading(path):
    """Turn what readers of files raise into one sentence."""
    try:
        yield
    except TableError:
        raise
    except _DAMAGED as error:
        raise TableError(f"{path} is damaged, or not compressed as its name says.") from error
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path} is not text in UTF-8 (byte {error.start} of what was being read is "
            f"0x{error.object[error.start]:02x})."
        ) from error
    except csv.Error as error:
        raise TableError(f"{path} cannot be read as CSV: {error}.") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # of pandas and pyarrow
        if match := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
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

    def _frames(self, places: list[int], text: int | None, rows: int) -> Iterator:
        """Yield DataFrames of the columns at some places, in that order; one may be text."""
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
            listed = ", ".join(map(repr, self.names[:_LISTED]))
            more = ", ..." if len(self.names) > _LISTED else ""
            raise TableError(f"{self.path} has no column {name!r}; its columns are {listed}{more}.")
        if len(found) > 1:
            raise TableError(f"{self.path} has {len(found)} columns with the name {name!r}.")
        if not name:
            raise TableError(
                f"Column {found[0] + 1} of {self.path} has no name; an index of "
                "rows, perhaps, that is better left out."
            )
        return found[0]

    def blocks(
        self, columns: Sequence[str], target: str | None = None, *, rows: int = _ROWS
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

        Yields
        ------
        X : DataFrame of float64
        labels : ndarray of str, or None
            As they are written in the file.
        """
        import pandas as pd

        places = [self.place(name) for name in columns]
        text = None if target is None else self.place(target)
        start = 0
        with _reading(self.path):
            wanted = places if text is None else [*places, text]
            for frame in self._frames(wanted, text, rows):
                values = [
                    self._numbers(frame.iloc[:, i], name, start) for i, name in enumerate(columns)
                ]
                X = pd.DataFrame(dict(zip(columns, values, strict=True)), columns=list(columns))
                labels = None if text is None else self._labels(frame.iloc[:, -1], target, start)
                start += len(frame)
                yield X, labels
        if not start:
            raise TableError(f"{self.path} has no rows.")

    def read(self, columns: Sequence[str], target: str | None = None) -> tuple:
        """Read all rows; as `blocks`."""
        import pandas as pd

        frames, labels = zip(*self.blocks(columns, target), strict=True)
        X = pd.concat(frames, ignore_index=True)
        return X, None if target is None else np.concatenate(labels)

    def _numbers(self, column, name, start) -> np.ndarray:
        import pandas as pd

        kinds = pd.api.types
        if not kinds.is_numeric_dtype(column.dtype):  # which bool is
            if not (kinds.is_object_dtype(column.dtype) or kinds.is_string_dtype(column.dtype)):
                raise TableError(
                    f"Column {name!r} of {self.path} holds {column.dtype}, not numbers."
                )
            numbers = pd.to_numeric(column, errors="coerce")
        else:
            numbers = column
        if kinds.is_complex_dtype(numbers.dtype):
            raise TableError(f"Column {name!r} of {self.path} holds complex numbers.")
        numbers = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            value = column.iloc[wrong[0]]
            raise TableError(f"{self._cell(start + wrong[0], name)}: {_problem(value)}.")
        return numbers

    def _labels(self, column, name, start) -> np.ndarray:
        missing = np.flatnonzero(column.isna() | (column.astype(object) == ""))
        if missing.size:
            raise TableError(f"{self._cell(start + missing[0], name)}: the cell is empty.")
        return column.astype(object).map(str).to_numpy(dtype=object)

    def _cell(self, row, name) -> str:
        return f"{self.path}, {self._where(int(row))}, column {name!r}"


def _problem(value) -> str:
    """Say, as the end of a sentence, what is wrong with a value that is no finite number."""
    text = value if isinstance(value, str) else "" if _is_missing(value) else str(value)
    if not text.strip():
        return "the cell is empty"
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
        return f"{shown} is not a number (it has a comma; use a point)"
    try:
        float(text)
    except ValueError:
        return f"{shown} is not a number"
    return f"{shown} is not a finite number"


def _is_missing(value) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT


class _Text(io.TextIOWrapper):
    """Text without NUL characters, at which some versions of pandas end a field."""

    def read(self, size=-1, /):
        """Read so many characters."""
        text = super().read(size)
        if "\0" in text:
            raise ValueError("there are NUL characters in it: it is not text")
        return text


class CsvTable(Table):
    """A CSV file; commas, semicolons or tabs separate its fields."""

    @contextmanager
    def _text(self):
        ending = self.path.suffix.lower()
        with (
            contextmanager(self._from_zip)()
            if ending == ".zip"
            else _OPENERS.get(ending, open)(self.path, "rb") as file
        ):
            # A byte-order mark is no part of the first name.
            yield _Text(file, encoding="utf-8-sig", newline="")

    def _from_zip(self):
        with zipfile.ZipFile(self.path) as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
            if len(files) != 1:
                raise TableError(f"{self.path} holds {len(files)} files, not one.")
            with archive.open(files[0]) as file:
                yield file

    def _names(self):
        with self._text() as file:
            head = file.read(1 << 20)
        if not head.strip():
            raise TableError(f"{self.path} is empty.")
        # The most columns win, and commas where there are as many.
        self.separator = max(",;\t", key=lambda s: len(next(_records(head, s), (1, []))[1]))
        records = _records(head, self.separator)
        _, names = next(records)
        line, first = next(records, (2, []))
        if len(first) > len(names):
            raise TableError(
                f"{self.path} cannot be read: line {line} has {len(first)} fields, but the first "
                f"line has {len(names)}."
            )
        return names

    def _frames(self, places, text, rows):
        import pandas as pd

        names = [str(i) for i in range(len(self.names))]  # unlike the file's, they differ
        numbers = set(places) - {text}
        with (
            self._text() as file,
            pd.read_csv(
                file,
                sep=self.separator,
                header=0,
                names=names,
                index_col=False,
                # Not usecols, with which pandas takes lines that are too long.
                dtype={name: object for i, name in enumerate(names) if i not in numbers},
                keep_default_na=False,  # so that what is no number can be told as it is written
                low_memory=False,
                chunksize=rows,
            ) as frames,
        ):
            for frame in frames:
                yield frame[[names[i] for i in places]]

    def _where(self, row):
        with self._text() as file:
            for i, (line, _) in enumerate(_records(file, self.separator)):
                if i == row + 1:
                    return f"line {line}"
        return f"row {row + 1}"


def _records(text, separator) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the fields of each record, as pandas sees them."""
    limit = csv.field_size_limit(_FIELD)
    try:
        lines = io.StringIO(text, newline="") if isinstance(text, str) else text
        reader = csv.reader(lines, delimiter=separator)
        line = 1
        for fields in reader:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield line, fields
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


class ParquetTable(Table):
    """A Parquet file."""

    def _file(self):
        try:
            import pyarrow.parquet as pq
        except ImportError:
            raise TableError(
                "Parquet files need pyarrow: install with python -m pip install 'vanishing[app]'."
            ) from None
        return pq.ParquetFile(self.path)

    def _names(self):
        with self._file() as file:
            return list(file.schema_arrow.names)

    def _frames(self, places, text, rows):
        names = [self.names[i] for i in places]
        with self._file() as file:
            for batch in file.iter_batches(batch_size=rows, columns=names):
                yield batch.to_pandas()[names]

    def _where(self, row):
        return f"row {row + 1}"


def classes_of(labels: np.ndarray, name: str) -> np.ndarray:
    """Return labels as numbers where they are whole numbers, and as text elsewhere.

    Either way ``str`` of a label is what the file says.

    Parameters
    ----------
    labels : ndarray of str
    name : str
        Of their column, for messages.

    Examples
    --------
    >>> from vanishing.rows.tables import classes_of
    >>> classes_of(["0", "1", "0"], "class")
    array([0, 1, 0])
    >>> classes_of(["00", "01", "00"], "class")
    array(['00', '01', '00'], dtype=object)
    """
    labels = np.asarray(labels, dtype=object)
    values = list(Counter(labels))
    for kind in (int, float):
        try:
            numbers = [kind(value) for value in values]
        except ValueError:
            continue
        exact = all(abs(number) < 2**53 for number in numbers)  # and finite
        if [str(number) for number in numbers] != values or not exact:
            continue
        broken = next((number for number in numbers if number != int(number)), None)
        if broken is not None:
            raise TableError(
                f"Column {name!r} holds numbers such as {broken}, not classes: labels are whole "
                "numbers or text."
            )
        return labels.astype(kind)
    return labels


def known_classes(labels: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """Return labels of a file as the classes of a model, whose text they are.

    Raises
    ------
    TableError
        If a label is none of the classes.
    """
    known = {str(label): i for i, label in enumerate(classes.tolist())}
    for label in Counter(labels):
        if label not in known:
            listed = ", ".join(map(repr, list(known)[:_LISTED]))
            raise TableError(
                f"Column {name!r} has the label {label!r}, which is no class of the model; its "
                f"classes are {listed}."
            )
    return classes[[known[label] for label in labels]]
