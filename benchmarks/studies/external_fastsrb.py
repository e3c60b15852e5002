"""FastSRB (formulas of SRSD-Feynman over realistic ranges), from its one YAML file.

Each entry has a formula in v1, v2, ..., and for each of them a range and how it is drawn. Rows on
which the formula is not finite are drawn again. 400 rows without noise, as its published rates.
"""

import re
import zlib

import numpy as np
from external_formulas import SuiteFormula
from external_laws import Range, formula_table, law_case
from external_records import (
    Case,
    Published,
    Suite,
    SuiteError,
    counts,
    entry,
    file_of,
    load_yaml,
    mean,
    number,
)

ROWS = 400
PATTERNS = ("expressions.y*ml", "equations.y*ml", "*srsd*.y*ml", "*.y*ml")

PUBLISHED = (
    Published(
        "TiSR",
        "69.4 % found",
        "Fast Symbolic Regression Benchmarking, arXiv 2508.14481: without B4, B11, III.9.52; any "
        "accepted form that turns up during the search counts, and ends it",
    ),
    Published("SymbolicRegression.jl (PySR)", "44.7 % found", "the same"),
)


def problems(folder):
    """Yield names, and what reads each."""
    path = file_of(folder, *PATTERNS)
    records = load_yaml(path)
    if not isinstance(records, dict):
        raise SuiteError(f"{path}: holds no formulas by name.")
    records = records.get("problems", records)
    for name, record in records.items():
        yield str(name), lambda record=record, name=name: table_of(str(name), record)


def table_of(name, record, n=ROWS):
    """Return the table of an entry."""
    if not isinstance(record, dict):
        raise ValueError("the entry is no table of names and values.")
    text = record.get("prepared", record.get("prp"))
    if text is None:
        raise ValueError("the entry has no formula: neither 'prepared' nor 'prp'.")
    formula = SuiteFormula(text)
    columns = entry(record, "vars")
    if not isinstance(columns, dict):
        raise ValueError("'vars' is no table of names and values.")
    inputs = sorted((c for c in columns if str(c) != "v0"), key=_place)
    ranges = {str(column): _range(columns[column], column) for column in inputs}
    missing = [column for column in formula.names if column not in ranges]
    if missing:
        raise ValueError(f"the formula has {missing[0]!r}, 'vars' has not.")
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return formula_table(name, formula, ranges, n, random)


def _place(name):
    digits = re.sub(r"\D", "", str(name))
    return (int(digits) if digits else 0, str(name))


def _range(record, name):
    """Return the range of a column."""
    low, high = _pair(entry(record, "sample_range", f"{name}"), f"the range of {name}")
    kind = entry(record, "sample_type", f"{name}")
    words = kind.split(",") if isinstance(kind, str) else list(kind)
    words = [str(word).strip(" []") for word in words]
    sign = words[1] if len(words) > 1 else "pos"
    what = f"the range of {name}"
    return Range(words[0], number(low, what), number(high, what), sign)


def _pair(values, what):
    if not isinstance(values, (list, tuple)) or len(values) != 2:
        raise ValueError(f"{what} is {values!r}, where two numbers are expected.")
    return values


def answer(name, table) -> list[Case]:
    """Fit and judge a table."""
    return [law_case(table)]


def figures(cases):
    """Return figures of all formulas."""
    return counts(cases) | {"mean seconds": f"{mean(case.seconds for case in cases):.2f}"}


SUITE = Suite(
    "fastsrb",
    "FastSRB: formulas of physics over realistic ranges",
    f"{ROWS} rows without noise, defaults, one answer: the first law, on fresh rows of the ranges "
    "and a quarter beyond them",
    PUBLISHED,
    problems,
    answer,
    figures,
)
