"""Nesterov's accelerated gradient descent on the unconstrained problem COP.

Twice: `agd` stops at the first generator it sees, zero coefficients included, and its steps need no
eigenvalues. `agd_as_published` is what the authors' code does, step for step, for the paper's
figures: its coefficients are never all zero, and where G is regular its momentum is constant.
"""

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

    See Also
    --------
    ls : The closed form.
    pcg : Sparse coefficients.
    """
    coef = np.zeros(cross.size)
    mse, n_iter, status = _run(gram, cross, norm, psi, tol, max_iter, coef)
    return Solution(coef, mse, np.nan, n_iter, Status(status))


@njit(cache=True, nogil=True)
def _run_as_published(gram, cross, norm, psi, tol, max_iter, largest, smallest, y):
    """Descend with gradients g of f, 2G having these extreme eigenvalues.

    y' = x - g / largest, and then x = (1 + q) y' - q y with a constant q where 2G is regular.
    Otherwise z' = z - (k + 1) / (2 largest) g and x = (k + 1) / (k + 3) y' + 2 / (k + 3) z' in the
    k-th step.
    """
    size = cross.size
    regular = smallest > 0.0  # of a singular G rounding says so, or not: there it decides results
    root = np.sqrt(largest / smallest) if regular else np.inf
    momentum = (root - 1.0) / (root + 1.0) if regular else 1.0
    x, z = np.zeros(size), np.zeros(size)
    image, y_image = np.zeros(size), np.zeros(size)  # G x and G y
    new_image = np.empty(size)
    mse, slow, status = norm, 0, _OUT
    n_iter = 0
    while n_iter < max_iter and status == _OUT:
        n_iter += 1
        share = 2.0 / (n_iter + 3.0)
        for i in range(size):
            gradient = 2.0 * (image[i] + cross[i])
            new = x[i] - gradient / largest
            if regular:
                x[i] = (1.0 + momentum) * new - momentum * y[i]
            else:
                z[i] -= (n_iter + 1.0) / (2.0 * largest) * gradient
                x[i] = (1.0 - share) * new + share * z[i]
            y[i] = new
        _multiply(gram, y, new_image)
        if regular:  # G x follows from G y linearly
            image[:] = (1.0 + momentum) * new_image - momentum * y_image
        else:
            _multiply(gram, x, image)
        y_image[:] = new_image
        before, mse = mse, norm
        for i in range(size):
            mse += y[i] * (y_image[i] + 2.0 * cross[i])
        slow = slow + 1 if mse + tol * psi > before else 0
        if mse < psi:
            status = _FOUND
        elif slow >= _PATIENCE:
            status = _STALLED
    return mse, n_iter, (_FOUND if mse <= psi else status)


def agd_as_published(
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
    """Solve COP by the authors' accelerated gradients; ``radius`` and ``eps`` play no part.

    Stops after the first step that reaches psi, so that a term that vanishes by itself has
    coefficients, too, or after 20 steps in a row that do not lower f by ``tol * psi``.
    """
    k = cross.size
    eigenvalues = np.linalg.eigvalsh(2.0 * gram[:k, :k])
    coef = np.zeros(k)
    mse, n_iter, status = _run_as_published(
        gram, cross, norm, psi, tol, max_iter, eigenvalues[-1], eigenvalues[0], coef
    )
    return Solution(coef, mse, np.nan, n_iter, Status(status))
