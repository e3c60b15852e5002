"""What every oracle returns."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np


class Status(IntEnum):
    """Why an oracle stopped."""

    FOUND = 0  # mse <= psi: the coefficients of a generator
    NONE_EXISTS = 1  # mse - gap > psi: proof that the ball holds no generator
    ACCURATE = 2  # the optimum, to the accuracy asked for
    STALLED = 3  # the last step made less progress than asked for, or none was possible
    OUT_OF_ITERATIONS = 4


class Solution(NamedTuple):
    """Coefficients and how good they are; ``gap`` is NaN where the method has no bound."""

    coef: np.ndarray
    mse: float
    gap: float
    n_iter: int
    status: Status
