"""The formats of files by name, and the format of a file."""

from pathlib import Path

from vanishing.tables.csv_files import CsvTable
from vanishing.tables.errors import NoFileError, NoPackageError, TableError, reading
from vanishing.tables.files import COMPRESSED, LOOK, FileLayout, FileTable
from vanishing.tables.parquet_files import ParquetTable
from vanishing.tables.workbooks import WorkbookTable

FORMATS: dict[str, type[FileTable]] = {
    "csv": CsvTable,
    "parquet": ParquetTable,
    "xlsx": WorkbookTable,
}


def known_endings() -> str:
    """List the endings of the files that can be read."""
    parts = []
    for table in FORMATS.values():
        also = f" (also {', '.join(COMPRESSED)})" if table.compressible else ""
        parts.append(f"{', '.join(table.endings)}{also}")
    return " or ".join([", ".join(parts[:-1]), parts[-1]])


def open_table(path, kind: str | None = None, layout: FileLayout = LOOK) -> FileTable:
    """Open a file as a table, and read the names of its columns.

    Parameters
    ----------
    path : path-like
    kind : str, default=None
        A name of `FORMATS`; None: by the ending of the file.
    layout : FileLayout
        How the file is written, as far as that is known.

    Returns
    -------
    table : FileTable
    """
    path = Path(path)
    with reading(path):
        if path.is_dir():
            raise TableError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise NoFileError(f"There is no file {path}.")
        if not path.is_file():
            raise TableError(f"{path} is a pipe or a device, not a file.")
        table = _format_of(path) if kind is None else FORMATS[kind]
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise NoPackageError("Tables", "pandas") from None
        return table(path, layout)


def _format_of(path: Path) -> type[FileTable]:
    """Return the format of a file by the ending of its name."""
    endings = [ending.lower() for ending in path.suffixes]
    is_compressed = endings[-1:] and endings[-1] in COMPRESSED
    ending = "".join(endings[-2:-1] if is_compressed else endings[-1:])
    for table in FORMATS.values():
        if ending in table.endings and (table.compressible or not is_compressed):
            return table
    raise TableError(f"{path} is of no known kind: give a file {known_endings()}.")
