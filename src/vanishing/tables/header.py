"""Which line of a file has the names: the first, unless titles stand above them."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import as_float, is_date, is_missing, measured

SAMPLE = 50  # lines that are looked at


class Heading(NamedTuple):
    """The place of the names among the first lines, and whether that is beyond doubt."""

    place: int
    is_certain: bool = True


def heading_of(lines: Sequence[Sequence[str]]) -> Heading:
    """Say which of the first lines of a file has the names.

    The first has, unless it is shorter than most. Then it is a title if the first of full length
    is a line of names: words that differ, above numbers. There is a doubt if a line above them is
    longer than half of that.

    Parameters
    ----------
    lines : sequence of sequences of str
        The fields of the first lines.

    Examples
    --------
    >>> from vanishing.tables.header import heading_of
    >>> heading_of([["Laboratory 3"], ["p", "V"], ["1.5", "2"], ["3", "1"]])
    Heading(place=1, is_certain=True)
    >>> heading_of([["p", "V"], ["1.5", "2"], ["3", "1"]])
    Heading(place=0, is_certain=True)
    """
    widths = [_width(line) for line in lines]
    if not widths:
        return Heading(0)
    width, _ = max(Counter(widths).items(), key=lambda item: (item[1], item[0]))
    place = next(i for i, own in enumerate(widths) if own >= width)
    if place == 0 or not _are_names(lines[place], lines[place + 1 :]):
        return Heading(0)
    return Heading(place, 2 * max(widths[:place]) <= width)


def doubt_of(what: str, number: int, first: int) -> str:
    """Say that names may be in a line or row with a number, below a first one that is shorter."""
    return (
        f"the names may be in {what} {number}, below shorter ones. --header-row {number} says so, "
        f"--header-row {first} takes {what} {first} for the names."
    )


def is_row_of_numbers(names: Sequence[str]) -> bool:
    """Say whether a line of names is rather one of numbers.

    Numbers that count or go up, as 0, 1, 2 or 1990, 2000, 2010, may be names.
    """
    numbers = np.array([as_float(name) for name in names])
    numbers = numbers[np.isfinite(numbers)]
    counts = (numbers == np.round(numbers)).all() and (np.diff(numbers) > 0).all()
    return 2 * len(numbers) >= len(names) and len(numbers) > 0 and not counts


def _width(line: Sequence[str]) -> int:
    """Return the number of fields without empty ones at the end."""
    return max((i for i, field in enumerate(line, start=1) if field.strip()), default=0)


def _are_names(line: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Say whether fields are words that differ, with numbers below at least one of them."""
    words = [field.strip() for field in line if field.strip()]
    if len(set(words)) < len(words) or any(is_missing(w) or _is_value(w) for w in words):
        return False
    columns = ([fields[i] for fields in below if i < len(fields)] for i in range(len(line)))
    return any(2 * sum(map(_is_value, column)) > max(len(column), 1) for column in columns)


def _is_value(field: str) -> bool:
    """Say whether a field is a number, in some way of writing, or a date."""
    return is_date(field) or not all(
        math.isnan(measured(field, sign)[0]) for sign in (None, ",", ".")
    )
