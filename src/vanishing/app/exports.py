"""Files to take away, made safe for spreadsheets, which run cells as formulas."""

import csv
from pathlib import Path

from vanishing.tables.cells import as_float

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


def guard(path: Path) -> None:
    """Have no cell of a CSV file be a formula: an apostrophe is put before text that may be one.

    Numbers stay as they are.

    Parameters
    ----------
    path : Path
        Of a file that is replaced.
    """
    guarded = path.with_name(f".{path.name}")
    with (
        path.open(newline="", encoding="utf-8") as file,
        guarded.open("w", newline="", encoding="utf-8") as out,
    ):
        writer = csv.writer(out, lineterminator="\n")
        for row in csv.reader(file):
            writer.writerow(map(_guarded, row))
    guarded.replace(path)


def _guarded(cell: str) -> str:
    if not cell.lstrip(" ").startswith(_BEGINNINGS) or as_float(cell) == as_float(cell):
        return cell
    return f"'{cell}"
