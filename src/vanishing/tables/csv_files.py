"""CSV files, compressed or not: read by pandas, or record by record if lines are uneven."""

import codecs
import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, takewhile

import numpy as np

from vanishing.tables.cells import as_float, cell_text, is_missing, is_value
from vanishing.tables.errors import TableError
from vanishing.tables.files import FileTable, opened
from vanishing.tables.header import Heading, common_width, doubt_of, heading_of
from vanishing.tables.settings import HEADER_LINES

_FIRST = 1 << 20  # characters that are looked at first
_LONGEST = 1 << 24  # characters of a line of names
_FIELD = 1 << 30  # characters of a field
_RECORDS = 100  # read at a time
# Marks of four bytes first: they begin like shorter ones.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_limit_of_fields = threading.Lock()


class _CheckedText(io.TextIOWrapper):
    """Text that must not have NUL characters: some versions of pandas end a field at them."""

    def read(self, size=-1, /):
        """Read up to ``size`` characters."""
        return _without_nul(super().read(size))


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("there are NUL characters in it: it is not text")
    return text


class CsvTable(FileTable):
    """A CSV file, whose fields are separated by commas, semicolons or tabs, or as its layout says.

    Lines above the names that begin with # are comments, and so are lines below that begin with #
    and have no number after their first field. Lines of a title above the names are left out.
    """

    endings = (".csv", ".tsv", ".txt")
    compressible = True
    typed = False

    @contextmanager
    def _body(self):
        """Open the text at the line of the names, or at the first row if there are no names."""
        with opened(self.path) as file:
            text = _CheckedText(file, encoding=self.encoding, newline="")
            for _ in range(self.skipped):
                if not text.readline():  # a file has fewer lines than someone may type
                    break
            yield text

    # -- Names ------------------------------------------------------------------------------------

    def _names(self):
        with opened(self.path) as file:
            self.encoding = _encoding(file.read(4), self.layout.encoding)
        self.skipped = (self.layout.header_row or 1) - 1
        self.has_header = self.layout.header is not False
        above, samples = self._first_lines()
        # The separator with the most names wins, then without doubt, then with the longest lines.
        self.separator, records, heading = max(
            samples,
            key=lambda sample: (
                len(sample[1][sample[2].place][1]),
                sample[2].is_certain,
                common_width([fields for _, fields in sample[1]]),
            ),
        )
        self.skipped += len(above)
        line, names = records[heading.place]
        if heading.place and not heading.is_certain:
            line, names = records[0]
            below = self.skipped + records[heading.place][0]
            self.doubt = doubt_of("line", below, self.skipped + line)
        elif heading.place:
            self.skipped += line - 1
            self.notes.append(
                f"the names are in line {self.skipped + 1}; those above are left out."
            )
        is_numeric = bool(np.isfinite([as_float(name) for name in names]).all())
        named = self._names_in_comment(above, len(names)) if is_numeric else None
        rows = records[heading.place + 1 :]
        if named is not None and self.layout.header is None:
            self.skipped -= 1
            names, rows = named, records
        elif not self.has_header:
            names, rows = [f"x{i}" for i in range(len(names))], records
        # pandas cuts off fields that all lines have too many, and reads a final space as a field.
        self.uneven = self.separator == " " or (bool(rows) and len(rows[0][1]) > len(names))
        return names

    def _first_lines(self) -> tuple[list[str], list[tuple[str, list, Heading]]]:
        """Return comments above the names, and the first records with each separator."""
        is_told = self.layout.header_row is not None
        for size in (_FIRST, _LONGEST):
            with self._body() as file:
                head = file.read(size)
            whole = len(head) < size
            if not head.strip() and whole:
                raise TableError(
                    f"{self.path} has no line {self.skipped + 1}."
                    if self.skipped
                    else f"{self.path} is empty."
                )
            if not (whole or "\n" in head or "\r" in head):
                continue
            above = [] if is_told else list(takewhile(_is_no_row, io.StringIO(head, newline="")))
            if sum(map(len, above)) == len(head):
                above = []
            text = head[sum(map(len, above)) :]
            samples = []
            for separator in self.layout.separator or ",;\t":
                records = _sample(text, separator, whole)
                if records:
                    lines = [fields for _, fields in records]
                    is_first = is_told or self.layout.header is not None
                    heading = Heading(0) if is_first else heading_of(lines)
                    samples.append((separator, records, heading))
            if samples and (whole or len(samples[0][1]) > 1 or size == _LONGEST):
                return above, samples
        raise TableError(
            f"{self.path} cannot be read: the line of the names is longer than {_LONGEST:,} "
            "characters."
        )

    def _names_in_comment(self, above, width) -> list[str] | None:
        """Return the names of a line "# a b" above rows of numbers."""
        if not above or not above[-1].startswith("#"):
            return None
        _, names = next(_records(above[-1].lstrip("#"), self.separator), (1, []))
        return [name.strip() for name in names] if len(names) == width else None

    # -- Rows -------------------------------------------------------------------------------------

    def _blocks(self, places, texts, rows):
        from pandas.errors import ParserError

        done = 0
        try:
            if not self.uneven:
                for columns in self._blocks_of_pandas(places, texts, rows):
                    yield columns
                    done += len(columns[0])
                return
        except ParserError as error:
            if "Expected" not in str(error):  # not about the number of fields
                raise
        yield from self._blocks_of_records(places, rows, done)

    def _blocks_of_pandas(self, places, texts, rows):
        import pandas as pd

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
                keep_default_na=False,  # so that messages can quote a cell as it is written
                low_memory=False,
                chunksize=rows,
            ) as frames,
        ):
            for frame in frames:
                comments = _comments(frame)
                if len(comments):
                    frame = frame.drop(index=comments)
                yield [_cells(frame[names[i]], i in texts) for i in places]

    def _blocks_of_records(self, places, rows, start):
        width = len(self.names)
        with self._body() as file:
            records = islice(self._rows(file, strict=True), start, None)
            while block := list(islice(records, rows)):
                cells = []
                for row, (_, fields) in enumerate(block, start):
                    if len(fields) > width and any(fields[width:]):
                        self.too_long[row] = len(fields)
                        fields = []
                    cells += fields[:width]
                    cells += [""] * (width - len(fields))
                start += len(block)
                _without_nul("".join(cells))
                yield [np.array(cells[i::width], dtype=object) for i in places]

    def _rows(self, file, strict=False) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and the fields of each row, without those of comments and of names."""
        records = _records(file, self.separator, strict)
        for line, fields in islice(records, int(self.has_header), None):
            if not _is_comment(fields):
                yield self.skipped + line, fields

    def lines(self, rows):
        """Say where rows are: all of them in one pass over the file."""
        places = {row: f"row {row + 1}" for row in rows}
        with self._body() as file:
            for row, (line, _) in enumerate(islice(self._rows(file), max(places, default=-1) + 1)):
                if row in places:
                    places[row] = f"line {line}"
        return places


def _encoding(start: bytes, default: str | None) -> str:
    """Return the encoding that the first bytes of a text show, or the default, or UTF-8."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    return default or "utf-8"


def _is_no_row(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _is_comment(fields) -> bool:
    """Say whether a line with these fields is a comment: it begins with #, and has no values.

    A first field such as #DIV/0! is no comment: spreadsheets write it for a missing value.
    """
    first, *others = fields
    return first.startswith("#") and not is_missing(first) and not any(map(is_value, others))


def _comments(frame):
    """Return the index of those rows of a frame that are comments."""
    first = frame.iloc[:, 0]
    if first.dtype.kind in "iufb":
        return []
    marked = frame[first.astype(str).str.startswith("#")]
    if marked.empty:
        return []
    return [
        row for row, *fields in marked.itertuples() if _is_comment([cell_text(f) for f in fields])
    ]


def _cells(column, as_text: bool) -> np.ndarray:
    """Return a column of a frame as numbers if it has nothing else, or as text."""
    if column.dtype.kind in "iuf" and not as_text:
        return column.to_numpy(np.float64)
    # Cells that a line lacks are NaN; pandas reads whole numbers that are too large as integers.
    return np.array([cell_text(value) for value in column.tolist()], dtype=object)


def _sample(text: str, separator: str, whole: bool) -> list[tuple[int, list[str]]]:
    """Return the first records, without comments and without a last one that may be cut off."""
    records = list(islice(_records(text, separator), HEADER_LINES + 1))
    if len(records) <= HEADER_LINES and not whole:
        records.pop()
    return records[:1] + [r for r in records[1:HEADER_LINES] if not _is_comment(r[1])]


def _records(text, separator, strict=False) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the fields of each record, as pandas sees them."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    # There may be several spaces between fields.
    spaces = separator == " "
    reader = csv.reader(lines, delimiter=separator, strict=strict, skipinitialspace=spaces)
    while records := _some_records(reader):
        for line, fields in records:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield line, fields


def _some_records(reader) -> list[tuple[int, list[str]]]:
    """Read up to `_RECORDS` records, and the lines that they begin in.

    The longest field is a setting of the process: it is changed under a lock, and restored before
    anything is returned.
    """
    records: list[tuple[int, list[str]]] = []
    with _limit_of_fields:
        limit = csv.field_size_limit(_FIELD)
        try:
            while len(records) < _RECORDS:
                line, fields = reader.line_num + 1, next(reader, None)
                if fields is None:
                    break
                records.append((line, fields))
        finally:
            csv.field_size_limit(limit)
    return records
