"""External suites: what a suite is, what came of its problems, and how its files are read."""

import csv
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np


class SuiteError(ValueError):
    """A suite whose files are not there or cannot be read."""


class Published(NamedTuple):
    """A figure that others published."""

    method: str
    figure: str
    source: str


@dataclass(frozen=True)
class Case:
    """What came of one problem."""

    name: str
    # "found", "approximation", "close", "incomplete", "wrong", "none", "failed", "unjudged" or
    # "measured"
    outcome: str
    seconds: float = 0.0  # of the processor
    answer: str = ""
    note: str = ""
    values: dict = field(default_factory=dict)  # figures of this problem, by name


class Suite(NamedTuple):
    """A suite: its problems in a folder, how one is answered, and figures of all."""

    name: str
    title: str
    protocol: str
    published: tuple[Published, ...]
    problems: Callable[[Path], Iterator[tuple[str, Callable]]]  # names, and what reads each
    answer: Callable[..., list[Case]]  # name and problem
    figures: Callable[[list[Case]], dict[str, str]]


class Unreadable(NamedTuple):
    """A record that could not be read, and why."""

    name: str
    reason: str


def files_of(folder, *patterns) -> list[Path]:
    """Return the files below a folder whose names fit one of the patterns; a file is itself."""
    folder = Path(folder)
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise SuiteError(f"{folder}: there is no such folder or file.")
    found = {path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()}
    if not found:
        raise SuiteError(f"{folder}: no file is called {' or '.join(patterns)}.")
    return sorted(found, key=_natural)


def file_of(folder, *patterns) -> Path:
    """Return the file below a folder whose name fits the first pattern that any name fits."""
    for pattern in patterns[:-1]:
        try:
            return files_of(folder, pattern)[0]
        except SuiteError:
            continue
    return files_of(folder, patterns[-1])[0]


def _natural(path: Path) -> list:
    """Order 2.csv before 10.csv."""
    pieces, digits = [], ""
    for letter in f"{path}\n":
        if letter.isdigit():
            digits += letter
            continue
        if digits:
            pieces.append((0, int(digits), ""))
            digits = ""
        pieces.append((1, 0, letter))
    return pieces


def inside(folder, path) -> str:
    """Return the name of a file below a folder."""
    folder = Path(folder)
    return path.name if folder.is_file() else os.path.relpath(path, folder)


def load_yaml(path: Path):
    """Return what a YAML file holds."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise SuiteError(f"{path}: cannot be read: {problem}") from None


def read_numbers(path: Path, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    """Return the header and the cells of a text table; lines without cells are left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, delimiter=delimiter) if any(line)]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise ValueError(f"cannot be read: {problem}") from None
    if len(lines) < 2:
        raise ValueError("has no rows.")
    header = [name.strip() for name in lines[0]]
    for i, line in enumerate(lines[1:], 2):
        if len(line) != len(header):
            raise ValueError(f"line {i} has {len(line)} cells, the header {len(header)}.")
    return header, lines[1:]


def number(value, what: str) -> float:
    """Return a number; YAML keeps 1.0e1, which has no sign in its exponent, as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {value!r}, which is no number.") from None


def entry(record, key: str, what: str = "the record"):
    """Return an entry of a record."""
    if not isinstance(record, dict):
        raise ValueError(f"{what} is {type(record).__name__}, where names and values are expected.")
    if key not in record:
        raise ValueError(f"{what} has no entry {key!r}.")
    return record[key]


def table_of_numbers(cells: list[list[str]], header: list[str]) -> np.ndarray:
    """Return cells as numbers."""
    rows = np.empty((len(cells), len(header)))
    for i, line in enumerate(cells):
        for j, cell in enumerate(line):
            try:
                rows[i, j] = float(cell)
            except ValueError:
                raise ValueError(
                    f"row {i + 1}, column {header[j]!r}: {cell!r} is no number."
                ) from None
    return rows


def counts(cases: list[Case]) -> dict[str, str]:
    """Return how often each outcome came, in words."""
    total = len(cases)
    kinds = {
        "found": "found",
        "approximation": "approximations, called so",
        "close": "other formulas within 2 %",
        "wrong": "wrong claims",
        "none": "none claimed",
        "failed": "failed",
        "unjudged": "not judged",
    }
    shown = {}
    for outcome, words in kinds.items():
        n = sum(case.outcome == outcome for case in cases)
        if n or outcome in ("found", "wrong", "none"):
            shown[words] = f"{n} of {total} ({100 * n / max(total, 1):.1f} %)"
    return shown


def mean(values) -> float:
    """Return the mean of what is there; NaN of nothing."""
    values = [value for value in values if np.isfinite(value)]
    return float(np.mean(values)) if values else float("nan")


def worst_note(problem: BaseException) -> str:
    """Return an exception as a short text."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text[:160]}" if text else type(problem).__name__
