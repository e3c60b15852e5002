"""Tables on disk, CSV (also compressed), Parquet and workbooks: columns of numbers, and labels.

What cannot be used is refused in one sentence that says where it is. Rows as DataFrames need
pandas, Parquet pyarrow, and workbooks openpyxl: the extra ``app``. CSV alone needs none of them;
pandas, where it is installed, reads it several times as fast as the standard library.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from vanishing.rows.table_base import LISTED, LOOK, Layout, NoFileError, Table, TableError, reading
from vanishing.rows.table_csv import CsvTable
from vanishing.rows.table_parquet import ParquetTable
from vanishing.rows.table_xlsx import ExcelTable

__all__ = ["TableError", "classes_of", "known_classes", "open_table"]


def open_table(path, kind=None, layout: Layout = LOOK) -> Table:
    """Look at a file's columns.

    Parameters
    ----------
    path : path-like
    kind : {"csv", "parquet"}, default=None
        None goes by the ending: .csv, .tsv or .txt, maybe compressed, .parquet or .xlsx.
    layout : Layout
        How the file is written, where that is known.

    Returns
    -------
    table : Table
    """
    path = Path(path)
    endings = [ending.lower() for ending in path.suffixes]
    compressed = endings[-1:] in ([".gz"], [".bz2"], [".xz"], [".zip"])
    ending = endings[-2:-1] if compressed else endings[-1:]
    with reading(path):
        if path.is_dir():
            raise TableError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise NoFileError(f"There is no file {path}.")
        if not path.is_file():
            raise TableError(f"{path} is a pipe or a device, not a file.")
        if kind == "csv" or (kind is None and ending in ([".csv"], [".tsv"], [".txt"])):
            return CsvTable(path, layout)
        if kind == "parquet" or (ending in ([".parquet"], [".pq"]) and not compressed):
            return ParquetTable(path, layout)
        if kind is None and ending in ([".xlsx"], [".xlsm"]) and not compressed:
            return ExcelTable(path, layout)
    raise TableError(
        f"{path} is of no known kind: give a file .csv (or .csv.gz, .csv.bz2, .csv.xz, .csv.zip), "
        ".parquet or .xlsx."
    )


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
            listed = ", ".join(map(repr, list(known)[:LISTED]))
            raise TableError(
                f"Column {name!r} has the label {label!r}, which is no class of the model; its "
                f"classes are {listed}."
            )
    return classes[[known[label] for label in labels]]
