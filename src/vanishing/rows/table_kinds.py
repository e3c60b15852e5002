"""What a column of a table is: numbers, yes and no, dates or text; or a problem, and what helps."""

import math
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vanishing.rows.table_base import LOOK, Layout, listed, shortened
from vanishing.rows.table_cells import (
    day_of,
    flags_of,
    is_date,
    is_missing,
    measured,
    number,
    order_of,
    seconds_of,
)
from vanishing.rows.table_columns import CategoryColumn, Column, DateColumn, FlagColumn

_TEXTS = 50  # different ones of a column that becomes columns of 0 and 1


@dataclass(frozen=True)
class Choices:
    """What the user says about a table.

    Parameters
    ----------
    drop, only : tuple of str
        Columns to leave out, or to use alone.
    missing : {"error", "drop", "median"}
    categories : {"one-hot", "drop"} or None
    dates : (str, float or None) or None
        A unit, and the moment it is counted from, in seconds since 1970; None: the first.
    decimal : {".", ","} or None
    layout : Layout
    """

    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    missing: str = "error"
    categories: str | None = None
    dates: tuple[str, float | None] | None = None
    decimal: str | None = None
    layout: Layout = LOOK


class Found(NamedTuple):
    """What a column is, or why it is left out.

    With a problem, the column is what it would be with the option that helps. ``decimals`` are the
    signs that ``--decimal`` may be given to read it.
    """

    column: Column | None = None
    problem: str = ""
    note: str = ""
    decimals: tuple[str, ...] = ()
    example: str = ""


def recognised(name: str, cells: np.ndarray, choices: Choices) -> Found:
    """Say what a column is.

    Parameters
    ----------
    name : str
    cells : ndarray
        Of float64, or of text.
    choices : Choices
    """
    if cells.dtype != object:
        if np.isnan(cells).all():
            return Found(note=f"column {name!r} is left out: it has no values.")
        return Found(Column(name))
    counts = Counter(text.strip() for text in cells.tolist())
    texts = {text: count for text, count in counts.items() if not is_missing(text)}
    if not texts:
        return Found(note=f"column {name!r} is left out: it has no values.")
    total = sum(texts.values())
    plain = _share(texts, lambda text: number(text, choices.decimal))
    if plain == total:
        return Found(Column(name))
    words = flags_of(texts)
    if words is not None:
        meaning = " and ".join(f"{word!r} is {value:g}" for word, value in words.items())
        return Found(FlagColumn(name, words=words), note=f"column {name!r}: {meaning}.")
    if 2 * sum(count for text, count in texts.items() if is_date(text)) > total:
        return _dates(name, [text for text in texts if is_date(text)], choices)
    return _numbers(name, texts, total, plain, choices) or _text(name, texts, len(cells), choices)


def _share(texts: dict[str, int], value_of: Callable[[str], float]) -> int:
    """Return in how many cells a number is found."""
    return sum(count for text, count in texts.items() if not math.isnan(value_of(text)))


def _dates(name, texts, choices) -> Found:
    option, order = shlex.quote(name), order_of(texts)
    if choices.dates is None:
        return Found(
            DateColumn(name, order=order or "dmy"),
            problem=f"column {name!r}: dates such as {texts[0]!r}. --dates days makes days since "
            f"the first of them, --drop {option} leaves them out.",
        )
    if order is None:
        return Found(
            DateColumn(name),
            problem=f"column {name!r}: dates such as {texts[0]!r} may have the day first, or the "
            f"month. Write them as 2024-12-31; --drop {option} leaves them out.",
        )
    unit, origin = choices.dates
    if origin is None:
        moments = np.array([seconds_of(text, order) for text in texts])
        origin = float(np.nanmin(moments)) if np.isfinite(moments).any() else 0.0
    return Found(
        DateColumn(name, unit=unit, origin=origin, order=order),
        note=f"column {name!r}: {unit} since {day_of(origin)}.",
    )


def _numbers(name, texts, total, plain, choices) -> Found | None:
    """Return what a column is in which most cells are numbers, in some way of writing."""
    decimal = choices.decimal
    units: Counter[str] = Counter()
    for text, count in texts.items():
        value, unit = measured(text, decimal)
        if unit and not math.isnan(value):
            units[unit] += count
    with_unit = sum(units.values())
    if decimal is None:
        found = {sign: _share(texts, lambda t: measured(t, sign)[0]) for sign in ",."}  # noqa: B023
        most = max(found.values())
        if most > plain + with_unit and 2 * most > total:
            signs = tuple(sign for sign, count in found.items() if count == most)
            example = next(t for t in texts if math.isnan(measured(t, None)[0]))
            return Found(decimals=signs, example=shortened(example))
    if 2 * with_unit > total and len(units) == 1:
        (unit,) = units
        return Found(
            Column(name, unit=unit), note=f"column {name!r}: numbers, with {unit!r} in each cell."
        )
    if 2 * with_unit > total and len(units) <= 5 and plain == 0:
        return Found(
            problem=f"column {name!r}: numbers with different units ({listed(list(units))}). Write "
            f"them in one; --drop {shlex.quote(name)} leaves them out."
        )
    return Found(Column(name)) if 2 * plain >= total else None


def _text(name, texts, n_rows, choices) -> Found:
    option, n_texts = shlex.quote(name), len(texts)
    if choices.categories == "drop":
        return Found(note=f"column {name!r} is left out: it holds text.")
    example = shortened(next(iter(texts)))
    if n_texts == n_rows > 1:
        return Found(
            problem=f"column {name!r}: a different text in each row, such as {example!r}. --id "
            f"{option} carries it through to predictions, --drop {option} leaves it out."
        )
    if n_texts > _TEXTS:
        return Found(
            problem=f"column {name!r}: {n_texts} different texts, such as {example!r}, more than "
            f"the {_TEXTS} that --categories one-hot takes. --drop {option} leaves it out."
        )
    column = CategoryColumn(name, texts=tuple(sorted(texts)))
    if choices.categories is None:
        columns = "a column" if n_texts == 1 else f"{n_texts} columns"
        return Found(
            column,
            problem=f"column {name!r}: text such as {example!r}. --categories one-hot makes "
            f"{columns} of 0 and 1, --drop {option} or --categories drop leaves it out.",
        )
    return Found(column, note=f"column {name!r}: {n_texts} columns of 0 and 1.")
