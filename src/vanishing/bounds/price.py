"""What it costs that something was chosen after the rows were seen: a share of delta."""

import math

import numpy as np


def grid(value, first):
    """Return the first of first * 2^(j - 1), j = 1, 2, ..., that is not below value, and j."""
    mantissa, exponent = math.frexp(value / first)
    j = max(1, exponent if mantissa == 0.5 else exponent + 1)
    return first * 2.0 ** (j - 1), j


def share(delta, *places):
    """Return the share of delta that points of grids have."""
    for j in places:
        delta /= j * (j + 1)
    return delta


def samples_needed(value, slack, limit):
    """Return the smallest m with value + slack / sqrt(m) < limit, for the worst of several."""
    room = np.asarray(limit - value, dtype=float)
    if not (room > 0).all():
        return None
    return math.floor(((slack / room) ** 2).max()) + 1
