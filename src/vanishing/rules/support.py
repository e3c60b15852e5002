"""Ranges, signs, whole numbers, orders and codes that a table supports."""

from collections import Counter
from itertools import permutations
from math import ceil, exp, floor, log

import numpy as np

from vanishing.rules import settings
from vanishing.rules.columns import is_text
from vanishing.rules.kinds import CodesRule, IntegerRule, OrderRule, RangeRule, Rule, SignRule
from vanishing.rules.tails import UpperTail, ends_at_zero, outward

_EXACT = 2.0**53  # beyond it every float is a whole number


def column_rules(columns: dict[str, np.ndarray], rate: float) -> list[Rule]:
    """Return the rules about one column that rows support, column by column.

    Parameters
    ----------
    columns : dict from str to ndarray of shape (n_rows,)
        Of rows that are right.
    rate : float
        Share of right rows that all ranges together may refuse.

    Returns
    -------
    rules : list of Rule
    """
    chance = settings.BY_ACCIDENT / len(columns)
    rules: list[Rule] = []
    for name, column in columns.items():
        codes = _codes(name, column, chance)
        if codes is not None:
            rules.append(codes)
        elif not is_text(column):
            values = column[np.isfinite(column)]
            rules += _of_numbers(name, values, chance, rate / (2 * len(columns)))
    return rules


def _codes(name: str, column: np.ndarray, chance: float) -> CodesRule | None:
    """Return the values of a column if each is so frequent that another would have been seen."""
    cells = column[[c is not None for c in column]] if is_text(column) else column
    counts = Counter(cells.tolist() if is_text(column) else cells[np.isfinite(cells)].tolist())
    if not 0 < len(counts) <= settings.MOST_CODES or exp(-min(counts.values())) >= chance:
        return None
    return CodesRule((name,), tuple(sorted(counts)))


def _of_numbers(name: str, values: np.ndarray, chance: float, rate: float) -> list[Rule]:
    """Return the rules about a column of numbers that are no codes."""
    if len(values) < settings.FEWEST_ROWS or values.min() == values.max():
        return []
    rules: list[Rule] = []
    # Of numbers with decimals, one in ten is whole; equal ones are one piece of evidence.
    distinct = len(np.unique(values))
    is_whole = bool((values == np.round(values)).all()) and np.abs(values).max() < _EXACT
    if is_whole and 10.0**-distinct < chance:
        rules.append(IntegerRule((name,)))
    low, high = -UpperTail(-values).end(rate), UpperTail(values).end(rate)
    unit = high - low
    ends: list[float | None] = [outward(low, unit, False), outward(high, unit, True)]
    if rules:  # whole numbers
        ends = [float(floor(low)), float(ceil(high))]
    for place, (sign, inside) in enumerate(((1, low), (-1, high))):
        if (sign * values).min() >= 0.0 and sign * inside < 0.0:
            ends[place] = None  # negative prices are no range, even if nothing rules them out
            if ends_at_zero(sign * values, chance):
                rules.append(SignRule((name,), sign))
    if ends != [None, None]:
        rules.append(RangeRule((name,), *ends))
    return rules


def order_rules(columns: dict[str, np.ndarray]) -> list[Rule]:
    """Return pairs of columns of which the first is never above the second.

    A pair counts if its order would not have held in all rows by accident: neither for cells that
    have nothing to do with one another, nor for differences whose tail goes on below zero.

    Parameters
    ----------
    columns : dict from str to ndarray of shape (n_rows,)
        Of rows that are right.

    Returns
    -------
    rules : list of Rule
        Without those that follow from two others.
    """
    numbers = {
        name: column
        for name, column in columns.items()
        if not is_text(column) and len(np.unique(column)) > settings.FEWEST_IN_TAIL
    }
    pairs = len(numbers) * (len(numbers) - 1)
    below = {
        (left, right)
        for left, right in permutations(numbers, 2)
        if _is_below(numbers[left], numbers[right], settings.BY_ACCIDENT / pairs)
    }
    return [
        OrderRule((left, right))
        for left, right in permutations(numbers, 2)
        if (left, right) in below
        and not any((left, name) in below and (name, right) in below for name in numbers)
    ]


def _is_below(left: np.ndarray, right: np.ndarray, chance: float) -> bool:
    difference = right - left
    difference = difference[np.isfinite(difference)]
    n = len(difference)
    if n < settings.FEWEST_ROWS or difference.min() < 0.0 or not difference.max() > 0.0:
        return False
    ordered = np.sort(right[np.isfinite(right)])
    known = left[np.isfinite(left)]
    places = np.searchsorted(ordered, known)
    share = float((1.0 - places / len(ordered)).mean())  # of all pairs of cells
    if n * log(max(share, 1e-300)) >= log(chance):
        return False
    return ends_at_zero(difference, chance) and _reaches_zero(difference)


def _reaches_zero(difference: np.ndarray) -> bool:
    """Say whether the smallest differences are as near to zero as those of a sharp end there are.

    Columns in different units may keep their order from far: a number of pieces is below the price
    of all of them, mostly.
    """
    tail = UpperTail(-difference)
    nearest = difference.min() / -tail.threshold if tail.threshold else 0.0
    return (1.0 - nearest) ** tail.k > settings.BY_ACCIDENT
