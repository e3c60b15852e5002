"""Nesterov's accelerated gradient descent on the unconstrained problem COP."""

import numpy as np
from numba import njit

from vanishing._types import FloatArray
from vanishing.oracles.solution import Solution, Status

_FOUND, _STALLED, _OUT = int(Status.FOUND), int(Status.STALLED), int(Status.OUT_OF_ITERATIONS)

_PATIENCE = 20  # steps of little progress in a row before it stops (paper, section 9.1)
_POWER_STEPS = 8


@njit(cache=True, nogil=True)
def _multiply(gram, v, out):
    out[:] = 0.0
    for i in range(v.size):
        value = v[i]
        if value != 0.0:
            for j in range(v.size):
                out[j] += value * gram[i, j]


@njit(cache=True, nogil=True)
def _largest_eigenvalue_bound(gram, k):
    """Bound the largest eigenvalue from above.

    It is at most that of |G|, and that is at most max_i (|G| y)_i / y_i for any positive y
    (Collatz and Wielandt), which a few power steps make tight.
    """
    y = np.ones(k)
    image = np.empty(k)
    bound = np.inf
    for _ in range(_POWER_STEPS):
        image[:] = 0.0
        for i in range(k):
            for j in range(k):
                image[j] += abs(gram[i, j]) * y[i]
        ratio = 0.0
        largest = 0.0
        for j in range(k):
            ratio = max(ratio, image[j] / y[j])
            largest = max(largest, image[j])
        bound = min(bound, ratio)
        for j in range(k):  # stay clear of zero: y has to be positive
            y[j] = max(image[j] / largest, 1e-8)
    return bound


@njit(cache=True, nogil=True)
def _run(gram, cross, norm, psi, tol, max_iter, v):
    k = cross.size
    step = 1.0 / _largest_eigenvalue_bound(gram, k)
    image = np.zeros(k)  # G v
    previous = np.zeros(k)
    previous_image = np.zeros(k)
    mse = norm
    if mse <= psi:
        return mse, 0, _FOUND
    slow = 0
    for n_iter in range(1, max_iter + 1):
        momentum = (n_iter - 1.0) / (n_iter + 2.0)
        # The gradient step from y = v + momentum (v - previous); G y follows from G v linearly.
        for i in range(k):
            y = v[i] + momentum * (v[i] - previous[i])
            gradient = image[i] + momentum * (image[i] - previous_image[i]) + cross[i]
            previous[i] = v[i]
            v[i] = y - step * gradient
        previous_image[:] = image
        _multiply(gram, v, image)
        before = mse
        mse = norm
        for i in range(k):
            mse += v[i] * (image[i] + 2.0 * cross[i])
        if mse <= psi:
            return mse, n_iter, _FOUND
        slow = slow + 1 if abs(before - mse) < tol * psi else 0
        if slow >= _PATIENCE:
            return mse, n_iter, _STALLED
    return mse, max_iter, _OUT


def agd(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float = np.inf,
    eps: float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Solution:
    """Solve COP by accelerated gradient descent; ``radius`` and ``eps`` play no part.

    Stops when the coefficients of a generator are found, or after 20 steps in a row that change
    f by less than ``tol * psi``. See `vanishing.oracles` for the arguments.
    """
    coef = np.zeros(cross.size)
    mse, n_iter, status = _run(gram, cross, norm, psi, tol, max_iter, coef)
    return Solution(coef, mse, np.nan, n_iter, Status(status))
