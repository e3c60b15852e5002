"""What a column of a table is: numbers, yes and no, dates or text; or a problem and its remedy."""

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import (
    ColumnCells,
    day_of,
    flags_of,
    is_date,
    is_missing,
    measured,
    order_of,
    seconds_of,
)
from vanishing.tables.columns import CategoryColumn, Column, DateColumn, FlagColumn
from vanishing.tables.errors import listed, shortened
from vanishing.tables.files import LOOK, FileLayout
from vanishing.tables.problems import Problem
from vanishing.tables.settings import MAX_CATEGORIES, MAX_UNITS


@dataclass(frozen=True)
class Choices:
    """What the user says about a table.

    Parameters
    ----------
    drop, only : tuple of str
        Columns to leave out, or to use alone.
    missing : {"error", "drop", "median", "ignore"}
    categories : {"one-hot", "codes", "drop"} or None
        What becomes of columns of text; "codes" are those of "one-hot", for who takes them as text.
    dates : (str, float or None) or None
        A unit, and the moment times are counted from, in seconds since 1970; None: the first date.
    decimal : {".", ","} or None
    layout : FileLayout
    fills, ignores : bool
        Whether messages offer to fill cells in with medians, and to leave them missing.
    timed : bool
        Whether messages offer to take rows in the order of times.
    """

    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    missing: str = "error"
    categories: str | None = None
    dates: tuple[str, float | None] | None = None
    decimal: str | None = None
    layout: FileLayout = LOOK
    fills: bool = False
    ignores: bool = False
    timed: bool = False


class Recognition(NamedTuple):
    """What a column is, or why it is left out.

    If there is a problem, ``column`` is what it would be with the option that helps. ``decimals``
    are the signs with which ``--decimal`` would read it.
    """

    column: Column | None = None
    problem: str = ""
    note: str = ""
    decimals: tuple[str, ...] = ()
    example: str = ""


def recognised(name: str, cells: ColumnCells, choices: Choices) -> Recognition:
    """Return what a column is.

    Parameters
    ----------
    name : str
    cells : ColumnCells
    choices : Choices
    """
    is_number = ~np.isnan(cells.numbers(choices.decimal))
    plain = int(np.count_nonzero(is_number))
    others = cells.at(np.flatnonzero(~is_number)) if cells.is_text else []
    odd = _present(others)
    total = plain + sum(odd.values())
    if not total:
        return Recognition(note=f"column {name!r} is left out: it has no values.")
    if not odd:
        return Recognition(Column(name), note=_mixture(name, cells, is_number))
    words = flags_of(odd) if not plain else None
    if words is not None:
        meaning = " and ".join(f"{word!r} is {value:g}" for word, value in words.items())
        return Recognition(FlagColumn(name, words=words), note=f"column {name!r}: {meaning}.")
    if 2 * sum(count for text, count in odd.items() if is_date(text)) > total:
        return _dates(name, [text for text in odd if is_date(text)], choices)
    numbers = _numbers(name, cells, is_number, odd, choices)
    return numbers or _text(name, _present(cells.texts()), len(cells), choices)


def _present(texts: Iterable[str]) -> dict[str, int]:
    """Return the different texts that are values, and how often each occurs."""
    counts = Counter(text.strip() for text in texts)
    return {text: count for text, count in counts.items() if not is_missing(text)}


def _mixture(name, cells: ColumnCells, is_number) -> str:
    """Return a note if some cells are numbers and others the text of numbers, or ""."""
    if not cells.typed or not cells.is_text:
        return ""
    numbers = cells.at(np.flatnonzero(is_number))
    texts = [value for value in numbers if isinstance(value, str)]
    n_typed = len(numbers) - len(texts)
    if not texts or not n_typed:
        return ""
    verb = "is a number" if n_typed == 1 else "are numbers"
    return (
        f"column {name!r}: {n_typed} of {len(cells)} cells {verb}, and {len(texts)} text such as "
        f"{shortened(texts[0])!r}; cells that are numbers stay as they are."
    )


def _share(texts: Mapping[str, int], decimal: str | None) -> int:
    """Return how many cells are numbers with this decimal sign, perhaps with a unit."""
    return sum(count for t, count in texts.items() if not math.isnan(measured(t, decimal)[0]))


def _times(option: str) -> str:
    return f"--time {option} takes the rows in their order and finds events, "


def _dates(name, texts, choices) -> Recognition:
    option, order = shlex.quote(name), order_of(texts)
    if choices.dates is None:
        return Recognition(
            DateColumn(name, order=order or "dmy"),
            problem=Problem(
                f"column {name!r}: dates such as {texts[0]!r}. "
                f"{_times(option) * choices.timed}--dates days makes days since the first of "
                f"them, --id {option} carries them through to predictions, --drop {option} leaves "
                "them out.",
                ("dates", "days"),
                ("id", name),
                ("drop", name),
            ),
        )
    if order is None:
        return Recognition(
            DateColumn(name),
            problem=Problem(
                f"column {name!r}: dates such as {texts[0]!r} may have the day first, or the "
                f"month. Write them as 2024-12-31; --id {option} carries them through to "
                f"predictions, --drop {option} leaves them out.",
                ("id", name),
                ("drop", name),
            ),
        )
    unit, origin = choices.dates
    if origin is None:
        moments = np.array([seconds_of(text, order) for text in texts])
        origin = float(np.nanmin(moments)) if np.isfinite(moments).any() else 0.0
    return Recognition(
        DateColumn(name, unit=unit, origin=origin, order=order),
        note=f"column {name!r}: {unit} since {day_of(origin)}.",
    )


def _numbers(name, cells: ColumnCells, is_number, odd, choices) -> Recognition | None:
    """Return what a column is if most cells are numbers in some spelling, or None."""
    decimal = choices.decimal
    plain = int(np.count_nonzero(is_number))
    total = plain + sum(odd.values())
    units: Counter[str] = Counter()
    for text, count in odd.items():
        value, unit = measured(text, decimal)
        if unit and not math.isnan(value):
            units[unit] += count
    with_unit = sum(units.values())
    # Another sign may make plain numbers unreadable: count them, too, if a sign helps at all.
    if decimal is None and max(_share(odd, sign) for sign in ",.") > with_unit:
        numbers = cells.at(np.flatnonzero(is_number))
        texts = Counter(value.strip() for value in numbers if isinstance(value, str))
        n_typed = len(numbers) - texts.total()
        readable = {sign: n_typed + _share(odd, sign) + _share(texts, sign) for sign in ",."}
        most = max(readable.values())
        if most > plain + with_unit and 2 * most > total:
            signs = tuple(sign for sign, count in readable.items() if count == most)
            example = next(t for t in odd if _share({t: 1}, signs[0]) > _share({t: 1}, None))
            return Recognition(decimals=signs, example=shortened(example))
    if 2 * with_unit > total and len(units) == 1:
        (unit,) = units
        return Recognition(
            Column(name, unit=unit), note=f"column {name!r}: numbers, with {unit!r} in each cell."
        )
    if 2 * with_unit > total and len(units) <= MAX_UNITS and plain == 0:
        return Recognition(
            problem=Problem(
                f"column {name!r}: numbers with different units ({listed(list(units))}). Write "
                f"them in one; --drop {shlex.quote(name)} leaves them out.",
                ("drop", name),
            )
        )
    if 2 * plain >= total:
        return Recognition(Column(name), note=_mixture(name, cells, is_number))
    return None


def _text(name, texts, n_rows, choices) -> Recognition:
    option, n_texts = shlex.quote(name), len(texts)
    if choices.categories == "drop":
        return Recognition(note=f"column {name!r} is left out: it holds text.")
    example = shortened(next(iter(texts)))
    if n_texts == n_rows > 1:
        return Recognition(
            problem=Problem(
                f"column {name!r}: a different text in each row, such as {example!r}. --id "
                f"{option} carries it through to predictions, --drop {option} leaves it out.",
                ("id", name),
                ("drop", name),
            )
        )
    if n_texts > MAX_CATEGORIES:
        return Recognition(
            problem=Problem(
                f"column {name!r}: {n_texts} different texts, such as {example!r}, more than the "
                f"{MAX_CATEGORIES} that --categories one-hot takes. --drop {option} leaves it out.",
                ("drop", name),
            )
        )
    column = CategoryColumn(name, texts=tuple(sorted(texts)))
    if choices.categories is None:
        columns = "a column" if n_texts == 1 else f"{n_texts} columns"
        return Recognition(
            column,
            problem=Problem(
                f"column {name!r}: text such as {example!r}. --categories one-hot makes {columns} "
                f"of 0 and 1, --drop {option} or --categories drop leaves it out.",
                ("categories", "one-hot"),
                ("drop", name),
                ("categories", "drop"),
            ),
        )
    if choices.categories == "codes":
        return Recognition(column)
    return Recognition(column, note=f"column {name!r}: {n_texts} columns of 0 and 1.")
