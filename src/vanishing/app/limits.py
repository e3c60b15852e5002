"""Tables that are too large for a page: found out before they are read."""

import zipfile
from pathlib import Path

from vanishing.app import settings
from vanishing.tables.errors import TableError, reading
from vanishing.tables.files import COMPRESSED, opened
from vanishing.tables.formats import open_table

_PART = 1 << 22  # bytes read at a time
_WORKBOOKS = (".xlsx", ".xlsm")


def check_size(path: Path) -> None:
    """Raise TableError with a clear sentence for a table of too many rows, columns or cells.

    The rows of a text file are counted by its line ends, which is fast; a cell with lines of its
    own counts as several.
    """
    with reading(path):
        _check_unpacked(path)
        n_rows = _number_of_rows(path)
    if n_rows > settings.ROWS:
        raise _too_large(f"{n_rows:,} rows", f"{settings.ROWS:,}")
    try:
        n_columns = len(open_table(path).names)
    except TableError:
        return  # who reads it says what is wrong
    if n_columns > settings.COLUMNS:
        raise _too_large(f"{n_columns:,} columns", f"{settings.COLUMNS:,}")
    if n_rows * n_columns > settings.CELLS:
        raise _too_large(f"{n_rows * n_columns:,} cells", f"{settings.CELLS:,}")


def _check_unpacked(path: Path) -> None:
    """Refuse what unpacks to more than is allowed, before it is unpacked by others."""
    ending = path.suffix.lower()
    size = 0
    if ending in (*_WORKBOOKS, ".zip"):
        with zipfile.ZipFile(path) as archive:
            size = sum(file.file_size for file in archive.infolist())
    if size > settings.UNPACKED_BYTES:
        raise _unpacked()


def _unpacked() -> TableError:
    most = settings.UNPACKED_BYTES // 1_000_000
    return TableError(f"The file unpacks to more than {most:,} MB, the most that this page takes.")


def _number_of_rows(path: Path) -> int:
    """Return the number of rows, as far as it can be known without reading the cells."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings[-1:] == [".parquet"]:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            return file.metadata.num_rows
    if endings and endings[-1] in _WORKBOOKS:
        return 0  # a sheet has a million rows at most
    size = count = 0
    with opened(path) if endings and endings[-1] in COMPRESSED else path.open("rb") as file:
        while part := file.read(_PART):
            size += len(part)
            count += part.count(b"\n") or part.count(b"\r")
            if size > settings.UNPACKED_BYTES:
                raise _unpacked()
    return count


def _too_large(what: str, most: str) -> TableError:
    return TableError(
        f"The table has {what}; this page takes {most}.",
        remedy="The command line and Python take more.",
    )
