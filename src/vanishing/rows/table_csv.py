"""CSV files, compressed or not, by pandas where it is installed, or else the standard library."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from vanishing.rows.table_base import FLAGS, Table, TableError, floats

_FIELD = 1 << 30  # characters of a field, where a line is looked for
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
        self._check_length(len(names), *next(records, (2, [])))
        return names

    def _check_length(self, wanted: int, line: int, fields: list[str]) -> None:
        if len(fields) > wanted:
            raise TableError(
                f"{self.path} cannot be read: line {line} has {len(fields)} fields, but the first "
                f"line has {wanted}."
            )

    def _columns(self, places, label, rows):
        try:
            import pandas as pd
        except ImportError:
            return self._columns_of_records(places, rows)
        return self._columns_of_pandas(pd, places, label, rows)

    def _columns_of_pandas(self, pd, places, label, rows):
        names = [str(i) for i in range(len(self.names))]  # unlike the file's, they differ
        numbers = set(places) - {label}
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
                columns = [frame[names[i]] for i in places]
                is_number = pd.api.types.is_numeric_dtype  # which bool is
                yield [c.to_numpy() if is_number(c) else c.to_numpy(object) for c in columns]

    def _columns_of_records(self, places, rows):
        width = len(self.names)
        with self._text() as file:
            records = islice(_records(file, self.separator, strict=True), 1, None)
            while True:
                cells = []
                for line, fields in islice(records, rows):
                    cells += fields
                    if len(fields) != width:
                        self._check_length(width, line, fields)
                        cells += [""] * (width - len(fields))
                if not cells:
                    return
                _without_nul("".join(cells))
                yield [np.array(cells[i::width], dtype=object) for i in places]

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

    def _where(self, row):
        with self._text() as file:
            for i, (line, _) in enumerate(_records(file, self.separator)):
                if i == row + 1:
                    return f"line {line}"
        return f"row {row + 1}"


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
        reader = csv.reader(lines, delimiter=separator, strict=strict)
        line = 1
        for fields in reader:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield line, fields
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)
