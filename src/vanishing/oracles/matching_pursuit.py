"""Greedy sparse least squares (orthogonal matching pursuit) inside the l1-ball."""

import numpy as np
from numba import njit

from vanishing.oracles.solution import Solution, Status

_FOUND, _ACCURATE, _STALLED = int(Status.FOUND), int(Status.ACCURATE), int(Status.STALLED)
_OUT = int(Status.OUT_OF_ITERATIONS)

_TIE = 1e-12  # of two terms that correlate equally with the residual, take the first
_DEPENDENT = 1e-12  # a term whose remainder is smaller than this adds nothing to the support


@njit(cache=True, nogil=True)
def _run(gram, cross, norm, psi, radius, max_iter, coef):
    k = cross.size
    half_gradient = cross.copy()
    usable = np.ones(k, dtype=np.bool_)
    support = np.empty(k, dtype=np.intp)
    factor = np.empty((k, k))  # Cholesky factor of the Gram matrix of the support
    target = np.empty(k)  # factor^{-1} (-c) on the support
    values = np.empty(k)
    size = 0
    n_iter = 0
    mse = norm
    tie = _TIE * np.sqrt(norm)
    while mse > psi:
        if n_iter >= max_iter:
            return mse, n_iter, _OUT
        # The term that correlates best with what is left over.
        best = -1
        best_value = tie
        for i in range(k):
            if usable[i] and gram[i, i] > 0.0:
                value = abs(half_gradient[i]) / np.sqrt(gram[i, i])
                if value > best_value + tie:
                    best, best_value = i, value
        if best < 0:
            return mse, n_iter, _ACCURATE
        usable[best] = False

        # One more row of the factor, by forward substitution.
        pivot = gram[best, best]
        shift = -cross[best]
        for i in range(size):
            entry = gram[best, support[i]]
            for j in range(i):
                entry -= factor[i, j] * factor[size, j]
            entry /= factor[i, i]
            factor[size, i] = entry
            pivot -= entry * entry
            shift -= entry * target[i]
        if pivot <= _DEPENDENT * gram[best, best]:
            continue
        factor[size, size] = np.sqrt(pivot)
        target[size] = shift / factor[size, size]
        support[size] = best
        size += 1
        n_iter += 1

        # Least squares on the support, by back substitution; its length in the l1-norm.
        length = 0.0
        for i in range(size - 1, -1, -1):
            entry = target[i]
            for j in range(i + 1, size):
                entry -= factor[j, i] * values[j]
            values[i] = entry / factor[i, i]
            length += abs(values[i])
        if length > radius:
            return mse, n_iter, _STALLED  # coef is the last iterate inside the ball

        half_gradient[:] = cross
        for i in range(size):
            coef[support[i]] = values[i]
            for j in range(k):
                half_gradient[j] += values[i] * gram[support[i], j]
        mse = norm
        for i in range(size):
            mse += values[i] * (half_gradient[support[i]] + cross[support[i]])
    return mse, n_iter, _FOUND


def omp(gram, cross, norm, *, psi, radius, eps=0.0, tol=0.0, max_iter=10_000):
    """Add the term that explains most until the mse is at most psi, refitting each time.

    Stops at the last iterate inside the ball when the next would leave it; ``eps`` and ``tol``
    play no part. See `vanishing.oracles` for the arguments.
    """
    coef = np.zeros(cross.size)
    mse, n_iter, status = _run(gram, cross, norm, psi, radius, max_iter, coef)
    return Solution(coef, mse, np.nan, n_iter, Status(status))
