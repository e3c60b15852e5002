"""Which line of a file has the names: the first, unless there are titles above them."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import as_float, is_missing, is_value
from vanishing.tables.problems import Problem


class Heading(NamedTuple):
    """The place of the names among the first lines, and whether it is certain."""

    place: int
    is_certain: bool = True


def heading_of(lines: Sequence[Sequence[str]]) -> Heading:
    """Say which of the first lines of a file has the names.

    The first line has, unless it is a title: shorter than most lines, or a few words spread over
    them (a merged cell, headings of groups). A line of names below it is the first of full length:
    different words above numbers. It is not certain if a line above it has more than half as many
    words, or if the line below it may be the names as well.

    Parameters
    ----------
    lines : sequence of sequences of str
        The fields of the first lines.

    Examples
    --------
    >>> from vanishing.tables.header import heading_of
    >>> heading_of([["Laboratory 3"], ["p", "V"], ["1.5", "2"], ["3", "1"]])
    Heading(place=1, is_certain=True)
    >>> heading_of([["Gases", "Gases"], ["p", "V"], ["1.5", "2"], ["3", "1"]])
    Heading(place=1, is_certain=True)
    >>> heading_of([["p", "V"], ["1.5", "2"], ["3", "1"]])
    Heading(place=0, is_certain=True)
    """
    widths = [_width(line) for line in lines]
    if not widths:
        return Heading(0)
    width = common_width(lines)
    place = next(i for i, own in enumerate(widths) if own >= width)
    place += _is_wide_title(lines[place : place + 2])
    if place == 0 or not _are_words(lines[place]):
        return Heading(0)
    below = lines[place + 1 :]
    numeric = _columns_of_values(lines[place], below)
    if not numeric:
        return Heading(0)
    first = [below[0][i] if i < len(below[0]) else None for i in numeric]
    begins = all(field is not None and (is_value(field) or is_missing(field)) for field in first)
    longest = max(map(_n_words, lines[:place]))
    return Heading(place, begins and 2 * longest <= _n_words(lines[place]))


def common_width(lines: Sequence[Sequence[str]]) -> int:
    """Return the number of fields, without empty ones at the end, that most lines have."""
    counts = Counter(_width(line) for line in lines)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def doubt_of(what: str, number: int, first: int) -> Problem:
    """Return a message that the names may be in line ``number``, not in the first one."""
    return Problem(
        f"the names may be in {what} {number}, below what may be a title. --header-row {number} "
        f"says so, --header-row {first} takes {what} {first} for the names.",
        ("header_row", number),
        ("header_row", first),
    )


def is_row_of_numbers(names: Sequence[str]) -> bool:
    """Say whether a line of names looks like a row of numbers.

    Numbers that count or go up, as 0, 1, 2 or 1990, 2000, 2010, may be names.
    """
    numbers = np.array([as_float(name) for name in names])
    numbers = numbers[np.isfinite(numbers)]
    counts = (numbers == np.round(numbers)).all() and (np.diff(numbers) > 0).all()
    return 2 * len(numbers) >= len(names) and len(numbers) > 0 and not counts


def _width(line: Sequence[str]) -> int:
    """Return the number of fields without empty ones at the end."""
    return max((i for i, field in enumerate(line, start=1) if field.strip()), default=0)


def _n_words(line: Sequence[str]) -> int:
    """Return the number of different fields that are not empty."""
    return len({field.strip() for field in line} - {""})


def _is_wide_title(lines: Sequence[Sequence[str]]) -> bool:
    """Say whether the first of two lines has few different words, and names stand below it.

    Different names behind an empty field are names: those of rows that are numbered or named.
    """
    return (
        len(lines) == 2
        and (bool(lines[0][0].strip()) or not _are_words(lines[0]))
        and 2 * _n_words(lines[0]) <= _n_words(lines[1])
        and _width(lines[0]) <= _n_words(lines[1])
        and _are_words(lines[1])
    )


def _are_words(line: Sequence[str]) -> bool:
    """Say whether the fields of a line are different words."""
    words = [field.strip() for field in line if field.strip()]
    is_other = (is_missing(word) or is_value(word) for word in words)
    return len(set(words)) == len(words) and not any(is_other)


def _columns_of_values(line: Sequence[str], below: Sequence[Sequence[str]]) -> list[int]:
    """Return the places of the columns in which most fields below are numbers or dates."""
    columns = ([fields[i] for fields in below if i < len(fields)] for i in range(len(line)))
    counts = [(sum(map(is_value, column)), len(column)) for column in columns]
    return [i for i, (n_values, n_fields) in enumerate(counts) if 2 * n_values > n_fields]
