"""Where columns are measured from: near their rows, and where equations are shortest.

Powers of a column far from the origin, relative to its spread, are equal in most of their digits:
nothing can be told of them. Terms are then powers of the column less an offset.
"""

from collections.abc import Sequence
from math import comb

import numpy as np

from vanishing.fitting import settings


def short_number(centre: float, width: float) -> float:
    """Return the number of fewest digits that is at most ``width`` from a centre.

    Examples
    --------
    >>> from vanishing.fitting.origins import short_number
    >>> short_number(1600480123.7, 3e5), short_number(10003.2, 6.0), short_number(1.2, 2.0)
    (1600500000.0, 10000.0, 0.0)
    """
    if abs(centre) <= width:
        return 0.0
    if not width > 0.0:
        return centre
    largest = int(np.ceil(np.log10(abs(centre))))
    for power in range(largest, int(np.floor(np.log10(width))) - 1, -1):
        number = float(f"{round(centre / 10.0**power)}e{power}")
        if abs(number - centre) <= width:
            return number
    return centre


def far_offsets(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a short number near each column that is far from the origin, and 0 for others.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    weight : array of shape (n_rows,)
    """
    centre = np.average(columns, axis=1, weights=weight)
    spread = np.sqrt(np.average((columns - centre[:, None]) ** 2, axis=1, weights=weight))
    offsets = np.zeros(len(columns))
    # What varies by rounding alone is constant, wherever it is measured from.
    varies = np.ptp(columns, axis=1) > 1e-12 * np.abs(columns).max(axis=1)
    for i in np.flatnonzero(varies & (np.abs(centre) > settings.FAR * spread)):
        offsets[i] = short_number(float(centre[i]), settings.OFFSET_WIDTH * float(spread[i]))
    return offsets


def rounding_of(columns: np.ndarray, offsets: np.ndarray) -> float:
    """Return what rounding leaves of columns less their offsets, relative to their size."""
    size = np.abs(columns).max(axis=1, initial=0.0)
    left = np.sqrt(np.mean((columns - offsets[:, None]) ** 2, axis=1))
    far = (offsets != 0.0) & (left > 0.0)
    if not far.any():
        return 0.0
    return settings.ROUNDINGS * float(np.finfo(float).eps * (size[far] / left[far]).max())


Polynomial = dict[tuple[int, ...], float]


def translated(polynomial: Polynomial, column: int, step: float, tolerance: float) -> Polynomial:
    """Return a polynomial in a column less ``step``, without terms that cancel."""
    values: Polynomial = {}
    sizes: Polynomial = {}
    for exponents, coef in polynomial.items():
        power = exponents[column]
        for lower in range(power + 1):
            key = (*exponents[:column], lower, *exponents[column + 1 :])
            part = coef * comb(power, lower) * step ** (power - lower)
            values[key] = values.get(key, 0.0) + part
            sizes[key] = sizes.get(key, 0.0) + abs(part)
    return {key: value for key, value in values.items() if abs(value) > tolerance * sizes[key]}


def shortest_origin(
    polynomial: Polynomial, columns: Sequence[int], tried: np.ndarray, tolerance: float
) -> tuple[np.ndarray, Polynomial]:
    """Return steps of columns after which a polynomial has the fewest terms, and what it is then.

    (x + 1) (y + 2) has one term where both are measured from where they vanish. Each column is
    moved to where one of its terms vanishes, if more do than come in.

    Parameters
    ----------
    polynomial : dict from exponents to coefficients
    columns : sequence of int
        Columns that may be moved.
    tried : array of shape (n_columns,)
        One more step of each column to be tried: that to its own origin.
    tolerance : float
        Relative size of a coefficient that is zero.
    """
    steps = np.zeros(len(tried))
    moving = True
    while moving:
        moving = False
        for column in columns:
            candidates = {float(tried[column] - steps[column])}
            for exponents, coef in polynomial.items():
                power = exponents[column]
                if power:
                    lower = (*exponents[:column], power - 1, *exponents[column + 1 :])
                    candidates.add(-polynomial.get(lower, 0.0) / (power * coef))
            moved = [
                (len(new), abs(step), step, new)
                for step in candidates
                if step and (new := translated(polynomial, column, step, tolerance))
            ]
            best = min(moved, key=lambda item: item[:2], default=None)
            if best is not None and best[0] < len(polynomial):
                steps[column] += best[2]
                polynomial, moving = best[3], True
    return steps, polynomial
