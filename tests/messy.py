"""Tables as people have them: one clean table, and what spreadsheets and habits make of it."""

import csv
import io
from datetime import date, timedelta

import numpy as np

N_ROWS = 60


def clean():
    """Return the rows of a table as text, names first: c = 2 a b, and two kinds."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 3, size=(2, N_ROWS)).round(3)
    kinds = np.where(a + b > 4, "big", "small")
    cells = [[str(x) for x in row] for row in np.column_stack([a, b, (2 * a * b).round(3)])]
    return [
        ["a", "b", "c", "kind"],
        *([*row, kind] for row, kind in zip(cells, kinds, strict=True)),
    ]


def written(rows, separator=",", end="\n", quoting=csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def with_column(name, values, place=0):
    """Return the clean rows and one more column."""
    rows = clean()
    for row, cell in zip(rows, [name, *values], strict=True):
        row.insert(place, cell)
    return rows


def each(change):
    """Return the clean rows with a function of (row number, place, cell) applied to numbers."""
    names, *rows = clean()
    return [
        names,
        *(
            [*(change(i, j, cell) for j, cell in enumerate(row[:3])), row[3]]
            for i, row in enumerate(rows)
        ),
    ]


def missing():
    spelled = ["", "NA", "n/a", "-", "?", "NaN", "null", "#N/A"]
    return each(lambda i, j, cell: spelled[i // 8] if j == 0 and i % 8 == 3 else cell)


def days():
    start = date(2024, 3, 1)
    return [start + timedelta(days=7 * i) for i in range(N_ROWS)]


def unnamed_index():
    return with_column("", [str(i) for i in range(N_ROWS)])


def ragged():
    rows = clean()
    rows[5] = rows[5][:2]
    rows[9] = [*rows[9], "7", "8"]
    return rows


def commented():
    lines = written(clean()).splitlines()
    lines[30:30] = ["# sensor exchanged, then warm, then dry, then fine"]
    return "\n".join(["# laboratory 3", "# measured by hand", *lines]) + "\n"


def sheets(path):
    """Write two sheets, of which the second is the table."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "about"
    book.active.append(["measured by hand", "in March"])
    sheet = book.create_sheet("rows")
    names, *rows = clean()
    sheet.append(["day", *names])
    for day, row in zip(days(), rows, strict=True):
        sheet.append([day, *map(float, row[:3]), row[3]])
    book.save(path)


def all_at_once():
    names, *rows = each(lambda i, j, cell: cell.replace(".", ","))
    names = ["Probe", "Tag", "Farbe", *names]
    colours = ["rot", "grün", "blau"]
    for i, (row, day) in enumerate(zip(rows, days(), strict=True)):
        row[:0] = [f"P-{i:03}", day.strftime("%d.%m.%Y"), colours[i % 3]]
        if i % 20 == 7:
            row[4] = "-"
    return written([names, *rows], ";").encode("latin-1")


def _names(first):
    return [[first, "b", "c", "kind"], *clean()[1:]]


def _same(value):
    return [value] * N_ROWS


# What a file is called, what is in it, and the options with which it is used.
FILES = {
    "semicolons and decimal commas": (
        written(each(lambda i, j, cell: cell.replace(".", ",")), ";"),
        ["--decimal", ","],
    ),
    "tabs": (written(clean(), "\t"), []),
    "Latin-1": (written(_names("Größe")).encode("latin-1"), ["--encoding", "latin-1"]),
    "UTF-16": (written(clean()).encode("utf-16"), []),
    "missing cells, spelled in eight ways": (written(missing()), ["--missing", "drop"]),
    "a column of text": (
        written(with_column("colour", ["red", "green", "blue"] * 20)),
        ["--categories", "one-hot"],
    ),
    "a column that is the same on all rows": (written(with_column("site", _same("7"))), []),
    "dates as 2024-03-01": (
        written(with_column("day", [str(day) for day in days()])),
        ["--dates", "days"],
    ),
    "dates as 01.03.2024": (
        written(with_column("day", [day.strftime("%d.%m.%Y") for day in days()])),
        ["--dates", "days"],
    ),
    "marks between thousands": (
        written(each(lambda i, j, cell: f"{1e4 * float(cell):,.1f}")),
        ["--decimal", "."],
    ),
    "per cent signs and units in cells": (
        written(each(lambda i, j, cell: cell + (" %", " kg", "")[j])),
        [],
    ),
    "two columns of one name": (written([["a", "b", "b", "kind"], *clean()[1:]]), []),
    "no line of names": (written(clean()[1:]), ["--no-header"]),
    "an index without a name": (written(unnamed_index()), []),
    "lines that are too short and too long": (written(ragged()), ["--missing", "drop"]),
    "a separator at the end of each line": (
        "a,b,c,kind\n" + "".join(f"{','.join(row)},\n" for row in clean()[1:]),
        [],
    ),
    "lines of comment": (commented(), []),
    "titles above the names": ("Laboratory 3\nby hand, March\n\n" + written(clean()), []),
    "a line above the names that may be names": (
        "Laboratory,3,March\n" + written(clean()),
        ["--header-row", "2"],
    ),
    "a workbook of two sheets": (sheets, ["--sheet", "rows", "--dates", "days"]),
    "yes and no": (written(with_column("wet", ["yes", "no", "No"] * 20)), []),
    "an identifier": (
        written(with_column("sample", [f"S{i:04}" for i in range(N_ROWS)])),
        ["--id", "sample"],
    ),
    "labels of one class": (written([*clean()[:1], *([*r[:3], "big"] for r in clean()[1:])]), []),
    "whole numbers of twenty digits": (
        written(with_column("code", [str(10**19 + 7 * i) for i in range(N_ROWS)])),
        ["--id", "code"],
    ),
    "infinities": (
        written(each(lambda i, j, cell: "inf" if (i, j) == (4, 1) else cell)),
        ["--missing", "drop"],
    ),
    "numbers in quotes, and CR alone at the end of a line": (
        written(clean(), end="\r", quoting=csv.QUOTE_ALL),
        [],
    ),
    "much of this at once": (
        all_at_once(),
        [
            *["--encoding", "latin-1", "--decimal", ",", "--id", "Probe", "--dates", "days"],
            *["--categories", "one-hot", "--missing", "median"],
        ],
    ),
}


def write(name, folder):
    """Write one of the files; return its path."""
    content, _ = FILES[name]
    if callable(content):
        path = folder / "table.xlsx"
        content(path)
        return path
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
