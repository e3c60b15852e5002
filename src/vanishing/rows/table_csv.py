"""CSV files, compressed or not, by pandas where it is installed, or else the standard library."""

import bz2
import codecs
import csv
import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from typing import Any

import numpy as np

from vanishing.rows.table_base import (
    FLAGS,
    Table,
    TableError,
    as_float,
    floats,
    text_of,
)

_LEAVE_OUT = "--missing drop leaves such rows out."
_FIELD = 1 << 30  # characters of a field, where a line is looked for
# Those of four bytes first: they begin as others do.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class _Text(io.TextIOWrapper):
    """Text without NUL characters, at which some versions of pandas end a field."""

    def read(self, size=-1, /):
        """Read so many characters."""
        return _without_nul(super().read(size))


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("there are NUL characters in it: it is not text")
    return text


class CsvTable(Table):
    """A CSV file; commas, semicolons or tabs separate its fields, or what its layout says.

    Lines before the names that begin with # are comments, and so are those below that begin with #
    and have no number after their first field.
    """

    typed = False

    @contextmanager
    def _text(self):
        ending = self.path.suffix.lower()
        with (
            contextmanager(self._from_zip)()
            if ending == ".zip"
            else _OPENERS.get(ending, open)(self.path, "rb") as file
        ):
            yield _Text(file, encoding=self.encoding, newline="")

    def _from_zip(self):
        with zipfile.ZipFile(self.path) as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
            if len(files) != 1:
                raise TableError(f"{self.path} holds {len(files)} files, not one.")
            with archive.open(files[0]) as file:
                yield file

    @contextmanager
    def _body(self):
        """Open the text at the line of the names, or the first row where there is none."""
        with self._text() as file:
            for _ in range(self.skipped):
                file.readline()
            yield file

    def _names(self):
        self.encoding = "latin-1"  # in which a byte is a character
        with self._text() as file:
            start = file.buffer.read(4)
        self.encoding = _encoding(start, self.layout.encoding)
        with self._text() as file:
            head = file.read(1 << 20)
        if not head.strip():
            raise TableError(f"{self.path} is empty.")
        above = list(takewhile(_is_no_row, io.StringIO(head, newline="")))
        if sum(map(len, above)) == len(head):
            above = []
        self.skipped = len(above)
        # The most columns win, and commas where there are as many.
        separators = self.layout.separator or ",;\t"
        head = head[sum(map(len, above)) :]
        self.separator = max(separators, key=lambda s: len(next(_records(head, s), (1, []))[1]))
        records = _records(head, self.separator)
        _, names = next(records)
        numeric = bool(np.isfinite(floats(names)).all())
        named = self._names_in_comment(above, len(names)) if numeric else None
        self.has_header = self.layout.header is not False
        if named is not None and self.layout.header is None:
            self.skipped -= 1
            names = named
            records = _records(head, self.separator)
        elif not self.has_header:
            names = [f"x{i}" for i in range(len(names))]
            records = _records(head, self.separator)
        # pandas cuts what all lines have too much, and takes a space at the end for a field.
        self.uneven = self.separator == " " or len(next(records, (2, []))[1]) > len(names)
        return names

    def _names_in_comment(self, above, width) -> list[str] | None:
        """Return the names of a line "# a b" above rows of numbers."""
        if not above or not above[-1].startswith("#"):
            return None
        _, names = next(_records(above[-1].lstrip("#"), self.separator), (1, []))
        return [name.strip() for name in names] if len(names) == width else None

    def _columns(self, places, texts, rows):
        try:
            import pandas as pd
        except ImportError:
            yield from self._columns_of_records(places, rows)
            return
        done = 0
        try:
            if not self.uneven:
                for columns in self._columns_of_pandas(pd, places, texts, rows):
                    yield columns
                    done += len(columns[0])
                return
        except pd.errors.ParserError as error:
            if "Expected" not in str(error):  # other than the number of fields
                raise
        yield from self._columns_of_records(places, rows, done)

    def _columns_of_pandas(self, pd, places, texts, rows):
        names = [str(i) for i in range(len(self.names))]  # unlike the file's, they differ
        numbers = set(places) - texts
        with (
            self._body() as file,
            pd.read_csv(
                file,
                sep=self.separator,
                header=0 if self.has_header else None,
                names=names,
                index_col=False,
                # Not usecols, with which pandas takes lines that are too long.
                dtype={name: object for i, name in enumerate(names) if i not in numbers},
                keep_default_na=False,  # so that what is no number can be told as it is written
                low_memory=False,
                chunksize=rows,
            ) as frames,
        ):
            is_number = pd.api.types.is_numeric_dtype  # which bool is
            for frame in frames:
                if not is_number(frame[names[0]]):
                    comments = [_is_comment(row) for row in _with_sign(frame)]
                    frame = frame[~np.array(comments, dtype=bool)]
                columns = [frame[names[i]] for i in places]
                yield [c.to_numpy() if is_number(c) else c.to_numpy(object) for c in columns]

    def _columns_of_records(self, places, rows, start=0):
        width = len(self.names)
        with self._body() as file:
            records = islice(self._rows(file, strict=True), start, None)
            while True:
                cells = []
                for row, (line, fields) in enumerate(islice(records, rows), start):
                    start = row + 1
                    if len(fields) > width and any(fields[width:]):
                        if not self.lenient:
                            raise TableError(
                                f"{self.path} cannot be read: line {line} has {len(fields)} "
                                f"fields, but the first line has {width}.",
                                remedy=_LEAVE_OUT,
                            )
                        self.too_long[row] = len(fields)
                        fields = []
                    cells += fields[:width]
                    cells += [""] * (width - len(fields))
                if not cells:
                    return
                _without_nul("".join(cells))
                yield [np.array(cells[i::width], dtype=object) for i in places]

    def _rows(self, file, strict=False) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and the fields of each row, without those of comments and of names."""
        records = _records(file, self.separator, strict)
        for line, fields in islice(records, int(self.has_header), None):
            if not _is_comment(fields):
                yield self.skipped + line, fields

    def _cells(self, column):
        if column.dtype.kind in "iuf":
            return column.astype(np.float64)
        return np.array([v if type(v) is str else text_of(v) for v in column], dtype=object)

    def _parsed(self, column, name):
        return None if column.dtype == object else column.astype(np.float64)

    def _values(self, column, before, name, start):
        if before is not None and before.dtype == object:
            return column
        labels = column.tolist()
        values = _as_numbers(labels)
        if values is not None:
            return values
        if before is None:
            return column
        wrong = next((i for i, label in enumerate(labels) if _as_numbers([label]) is None), 0)
        raise TableError(
            f"{self._cell(start + wrong, name)}: the label {labels[wrong]!r} is text, but those "
            "before it are numbers."
        )

    def lines(self, rows):
        """Say where rows are: all of them in one pass over the file."""
        found = {row: f"row {row + 1}" for row in rows}
        with self._body() as file:
            for row, (line, _) in enumerate(islice(self._rows(file), max(found, default=-1) + 1)):
                if row in found:
                    found[row] = f"line {line}"
        return found


def _encoding(start: bytes, given: str | None) -> str:
    """Return the encoding that the first bytes of a text tell of, or the one given, or UTF-8."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    return given or "utf-8"


def _is_no_row(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _is_comment(fields) -> bool:
    """Say whether a line with these fields is no row: it begins with #, and has no numbers."""
    first, *others = fields
    return first.startswith("#") and not np.isfinite([as_float(field) for field in others]).any()


def _with_sign(frame) -> Iterator[tuple]:
    """Yield the rows of a frame, only their first cells where these do not begin with #."""
    first, *others = (frame.iloc[:, i].to_numpy(object) for i in range(frame.shape[1]))
    for i, cell in enumerate(map(text_of, first)):
        yield (cell, *(column[i] for column in others)) if cell.startswith("#") else (cell,)


def is_row_of_numbers(names: list[str]) -> bool:
    """Say whether a line of names is rather one of numbers.

    Numbers that count or go up, as 0, 1, 2 or 1990, 2000, 2010, may be names.
    """
    numbers = floats([name for name in names if name.strip()])
    numbers = numbers[np.isfinite(numbers)]
    counts = (numbers == np.round(numbers)).all() and (np.diff(numbers) > 0).all()
    return 2 * len(numbers) >= len(names) and len(numbers) > 0 and not counts


def _as_numbers(labels: list[str]) -> np.ndarray | None:
    """Return labels as int, float or bool, or None unless all of them can be one of these."""
    distinct = list(dict.fromkeys(labels))
    if not np.isfinite(floats(distinct)).all():
        return None
    if FLAGS.keys() >= set(distinct):
        return np.array([bool(FLAGS[label]) for label in labels])
    try:
        known: dict[str, Any] = {label: int(label) for label in distinct}
    except ValueError:
        known = {label: float(label) for label in distinct}
    values = np.array(list(map(known.get, labels)))
    return None if values.dtype == object else values  # which huge numbers are


def _records(text, separator, strict=False) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the fields of each record, as pandas sees them."""
    limit = csv.field_size_limit(_FIELD)
    try:
        lines = io.StringIO(text, newline="") if isinstance(text, str) else text
        # Spaces between fields may be several.
        spaces = separator == " "
        reader = csv.reader(lines, delimiter=separator, strict=strict, skipinitialspace=spaces)
        line = 1
        for fields in reader:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield line, fields
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)
