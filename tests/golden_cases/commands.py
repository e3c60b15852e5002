"""Cases of golden.py: command lines, with what they print and write, on clean and messy files."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from golden_cases.tables import FLOW, FLOW_NAMES, IRIS, IRIS_LABELS, case, circle, gas, motion

# How long something took, also in the table of the demo, and when it was done.
_TIME = re.compile(r"\b\d+(?:\.\d+)? m?s\b|(?<=of 360) +\d+\.\d+|\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def run(*arguments):
    """Run a command line in this process; return its exit code, and what it printed and wrote."""
    from vanishing.cli import main

    before = _written()
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["vanishing", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as left:
        code = left.code or 0
    finally:
        sys.argv = argv
    files = {n: _content(n) for n, when in _written().items() if before.get(n) != when}
    printed = [_timeless(text.getvalue()) for text in (out, err)]
    return {"code": code, "out": printed[0], "err": printed[1], "files": files}


def _timeless(text):
    return _TIME.sub("TIME", text)


def _written():
    return {path.name: path.stat().st_mtime_ns for path in Path().iterdir()}


def _content(name):
    text = Path(name).read_text(errors="replace")
    if name.endswith(".json"):
        document = json.loads(text)
        document.pop("sha256", None)  # of the rest
        return document
    return _timeless(text)


def session(write, *lines):
    """Run command lines, one after the other, in a folder with files of its own."""
    home = Path.cwd()
    shutil.rmtree("session", ignore_errors=True)
    os.mkdir("session")
    os.chdir("session")
    try:
        for name, content in write().items():
            if isinstance(content, pd.DataFrame):
                content.to_csv(name, index=False)
            elif callable(content):
                content(name)
            else:
                Path(name).write_bytes(content)
        return {f"{i}: {line}": run(*shlex.split(line)) for i, line in enumerate(lines, 1)}
    finally:
        os.chdir(home)


# -- Clean tables ---------------------------------------------------------------------------------


def _gas():
    units = b'n = "mol"\nT = "K"\nV = "m^3"\np = "Pa"\n'
    return {"gas.csv": gas()[0].assign(p=gas()[1]), "units.toml": units, "circle.csv": circle()}


def _iris():
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    table = pd.DataFrame(IRIS, columns=names)
    table["kind"] = np.array(["setosa", "versicolor", "virginica"])[IRIS_LABELS]
    return {"iris.csv": table, "new.csv": table[names][::10]}


def _flow():
    table = pd.DataFrame(FLOW, columns=FLOW_NAMES)
    table.insert(0, "name", [f"S{i:03}" for i in range(len(table))])
    holes = table.copy()
    holes.loc[[3, 50], "y"] = np.nan
    return {"flow.csv": table, "holes.csv": holes}


def _motion():
    table, runs = motion()
    return {"motion.csv": table.assign(run=runs, t=np.tile(np.arange(30.0), 12))}


SESSIONS = {
    "help": (dict, "--help", "--version", "laws --help", "fit --help", "nonsense"),
    "demo": (dict, "demo --out demo.html"),
    "laws": (
        _gas,
        "laws gas.csv --target p --out laws.json",
        "show laws.json",
        "show laws.json --latex",
        "show laws.json --sympy",
        "show laws.json --json",
        "predict laws.json gas.csv --out p.csv",
        "predict laws.json gas.csv --out T.csv --column T",
        "report laws.json gas.csv --out laws.html",
        "laws gas.csv --out all.json --functions none",
        "laws circle.csv --out circle.json --noise estimate",
        "show circle.json --json",
    ),
    "laws with options": (
        _gas,
        "laws gas.csv --target p --out laws.json --units units.toml",
        "laws gas.csv --target p --out laws.json --robust --functions none",
        "laws gas.csv --target p --out laws.json --noise p=1000 --noise T=0",
        "laws gas.csv --target p --out laws.json --check 'p*V = R*n*T'",
        "show laws.json",
        "laws gas.csv --target p --out laws.json --check 'p*v = R*n*T'",
        "laws gas.csv --target q --out laws.json",
        "laws gas.csv --target p --out laws.json --drop n --only T",
        "laws none.csv --target p --out laws.json",
        "laws gas.csv --target p --out none/laws.json",
    ),
    "outliers": (
        _flow,
        "outliers flow.csv",
        "outliers flow.csv --id name --explain --top 3 --out scored.csv --save d.json",
        "show d.json",
        "show d.json --json",
        "predict d.json flow.csv --out again.csv",
        "report d.json flow.csv --out d.html",
        "outliers flow.csv --id name --contamination 0.01 --out -",
        "outliers holes.csv --id name",
        "outliers holes.csv --id name --missing drop --out dropped.csv --save h.json --explain",
        "report h.json holes.csv --out h.html",
    ),
    "motion": (
        _motion,
        "motion motion.csv --run run --time t --max-degree 2 --out m.json",
        "show m.json",
        "show m.json --json",
        "predict m.json motion.csv --out values.csv",
        "report m.json motion.csv --out m.html",
        "motion motion.csv --run run --time t --functions x=cos --noise 0.01 --max-terms 2",
        "motion motion.csv --run nothing",
    ),
    "fit": (
        _iris,
        "fit iris.csv --target kind --out m.json",
        "show m.json",
        "show m.json --all --units scaled --latex",
        "show m.json --json --top 2",
        "predict m.json new.csv --out labels.csv",
        "predict m.json new.csv --out -",
        "report m.json iris.csv --out m.html",
        "fit iris.csv --target kind --out t.json --tune --test-size 0",
        "show t.json --top 2",
        "fit iris.csv --target kind --out a.json --algorithm abm --psi 0.01 --C 10 --seed 3",
        "fit iris.csv --target kind --out v.json --algorithm vca --border bb",
        "fit iris.csv --target species --out m.json",
        "fit iris.csv --target kind --out m.json --psi 2",
        "predict m.json none.csv --out labels.csv",
        "predict none.json new.csv --out labels.csv",
        "show iris.csv",
    ),
}
for _name, _session in SESSIONS.items():
    case(f"commands/{_name}/session", *_session)(session)


# -- Messy tables ---------------------------------------------------------------------------------


def _clean():
    """Return names and rows as text: c = 2 a b, and two kinds."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(1, 3, (2, 60)).round(3)
    table = [[str(x) for x in row] for row in np.column_stack([a, b, (2 * a * b).round(3)])]
    kinds = np.where(a + b > 4, "big", "small")
    return [["a", "b", "c", "kind"], *([*row, k] for row, k in zip(table, kinds, strict=True))]


def _text(table=None, separator=",", end="\n"):
    return "".join(separator.join(row) + end for row in table or _clean()).encode()


def _cells(change):
    names, *table = _clean()
    numbers = lambda i, row: [change(i, j, cell) for j, cell in enumerate(row[:3])]  # noqa: E731
    return [names, *([*numbers(i, row), row[3]] for i, row in enumerate(table))]


def _more(name, make, place=0):
    table = _clean()
    for i, row in enumerate(table):
        row.insert(place, name if i == 0 else make(i - 1))
    return table


def _book(*sheets):
    """Return what writes a workbook of sheets, each a list of rows."""

    def write(path):
        import openpyxl

        book = openpyxl.Workbook()
        book.remove(book.active)
        for i, table in enumerate(sheets):
            sheet = book.create_sheet(f"sheet {i}")
            for row in table:
                sheet.append(row)
        book.save(path)

    return write


def _numbers(change=lambda i, j, x: x):
    names, *table = _clean()
    numbers = lambda i, row: [change(i, j, float(x)) for j, x in enumerate(row[:3])]  # noqa: E731
    return [names, *([*numbers(i, row), row[3]] for i, row in enumerate(table))]


def _parquet(change=lambda table: table):
    names, *table = _clean()
    frame = pd.DataFrame(table, columns=names)
    return change(frame.astype(dict.fromkeys("abc", float))).to_parquet


def _packed(extension):
    names, *table = _clean()
    frame = pd.DataFrame(table, columns=names)
    return lambda path: frame.to_csv(path, index=False, compression=extension)


def _day(i):
    return f"2024-{1 + i // 28:02}-{1 + i % 28:02}"


_COMMA = _text(_cells(lambda i, j, x: x.replace(".", ",")), ";")
_HOLES = ["", "NA", "n/a", "-", "?", "NaN", "n.d.", "#N/A"]
# The file, what is in it, and options that are tried after none.
MESSY = {
    "clean": ("t.csv", _text(), []),
    "decimal commas": ("t.csv", _COMMA, ["--decimal ,"]),
    "tabs": ("t.tsv", _text(separator="\t"), []),
    "Latin-1": ("t.csv", _text().replace(b"a,b", b"Gr\xf6\xdfe,b"), ["--encoding latin-1"]),
    "UTF-16": ("t.csv", _text().decode().encode("utf-16"), []),
    "missing": (
        "t.csv",
        _text(_cells(lambda i, j, x: _HOLES[i // 8] if j == 0 and i % 8 == 3 else x)),
        ["--missing drop", "--missing median"],
    ),
    "text": (
        "t.csv",
        _text(_more("colour", lambda i: ["red", "green", "blue"][i % 3])),
        ["--categories one-hot", "--categories drop"],
    ),
    "dates": ("t.csv", _text(_more("day", _day)), ["--dates days", "--drop day", "--id day"]),
    "time stamps": (
        "t.csv",
        _text(_more("when", lambda i: f"{_day(i)} 12:{i:02}:00")),
        ["--dates hours", "--id when"],
    ),
    "thousands": (
        "t.csv",
        _text(_cells(lambda i, j, x: f'"{1e4 * float(x):,.1f}"')),
        ["--decimal ."],
    ),
    "units in cells": ("t.csv", _text(_cells(lambda i, j, x: x + (" %", " kg", "")[j])), []),
    "two columns of one name": ("t.csv", _text().replace(b"a,b,c", b"a,b,b"), []),
    "no header": ("t.csv", _text(_clean()[1:]), ["--no-header"]),
    "an index": ("t.csv", _text(_more("", str)), []),
    "a title": ("t.csv", b"Laboratory 3\n\nmeasured by hand\n" + _text(), ["--missing drop"]),
    "comments": ("t.csv", b"# laboratory 3\n" + _text() + b"# end\n", []),
    "short and long lines": (
        "t.csv",
        _text([r[:2] if i == 5 else [*r, "7"] if i == 9 else r for i, r in enumerate(_clean())]),
        ["--missing drop"],
    ),
    "a constant": ("t.csv", _text(_more("site", lambda i: "7")), []),
    "yes and no": ("t.csv", _text(_more("wet", lambda i: ["yes", "no"][i % 2])), []),
    "an identifier": ("t.csv", _text(_more("s", lambda i: f"S{i:03}")), ["--id s", "--drop s"]),
    "twenty digits": ("t.csv", _text(_more("s", lambda i: str(10**19 + i))), ["--id s"]),
    "infinity": (
        "t.csv",
        _text(_cells(lambda i, j, x: "inf" if i == 4 else x)),
        ["--missing drop"],
    ),
    "numbers as labels": (
        "t.csv",
        _text([*_clean()[:1], *([*r[:3], ["01", "1"][i % 2]] for i, r in enumerate(_clean()[1:]))]),
        [],
    ),
    "one label": ("t.csv", _text([*_clean()[:1], *([*r[:3], "big"] for r in _clean()[1:])]), []),
    "a bad cell": ("t.csv", _text(_cells(lambda i, j, x: "bad" if (i, j) == (59, 2) else x)), []),
    "empty": ("t.csv", b"", []),
    "names only": ("t.csv", b"a,b,c,kind\n", []),
    "gzip": ("t.csv.gz", _packed("gzip"), []),
    "zip": ("t.csv.zip", _packed("zip"), []),
    "parquet": ("t.parquet", _parquet(), []),
    "parquet, missing": (
        "t.parquet",
        _parquet(lambda t: t.replace(t["a"][3], np.nan)),
        ["--missing drop"],
    ),
    "workbook": ("t.xlsx", _book(_numbers()), []),
    "two sheets": ("t.xlsx", _book([["about"], ["March"]], _numbers()), ["--sheet 'sheet 1'"]),
    "mixed cells": (
        "t.xlsx",
        _book(_numbers(lambda i, j, x: f"{x:.3f}".replace(".", ",") if i % 3 == j else x)),
        ["--decimal ,", "--decimal . --missing drop"],
    ),
    "workbook, missing": (
        "t.xlsx",
        _book(_numbers(lambda i, j, x: "n.d." if (i, j) == (7, 1) else x)),
        ["--missing drop"],
    ),
    "no workbook": ("t.xlsx", _text(), []),
}


def _messy(name):
    file, content, options = MESSY[name]
    lines = []
    for given in ["", *options]:
        lines.append(f"fit {file} --target kind --out m.json {given}")
        lines.append(f"outliers {file} --drop kind --top 2 --out o.csv {given}")
        lines.append(f"laws {file} --target c --drop kind --functions none --out l.json {given}")
        lines.append(f"predict m.json {file} --out p.csv")
        lines.append(f"predict l.json {file} --out c.csv --column c")
    return session(lambda: {file: content}, *lines)


for _name in MESSY:
    case(f"commands/messy/{_name}", _name)(_messy)
