"""Arguments of the bounds: whole numbers, positive ones, probabilities."""

import numbers

import numpy as np

from vanishing.checks import check_number


def whole(name, value, low):
    """Return a whole number, also of a float such as 1e6, or raise TypeError or ValueError."""
    if isinstance(value, numbers.Real) and float(value).is_integer():
        value = value if isinstance(value, (bool, np.bool_)) else int(value)
    check_number(name, value, low=low, integer=True)
    return int(value)


def positive(name, value, *, low=0):
    """Return a float above 0, or at least ``low`` where that is given."""
    check_number(name, value, low=low, low_open=low == 0)
    return float(value)


def probability(delta):
    """Return a float between 0 and 1, which it is not."""
    check_number("delta", delta, low=0, high=1, low_open=True, high_open=True)
    return float(delta)
