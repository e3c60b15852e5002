"""Greedy sparse least squares inside the l1-ball: orthogonal matching pursuit, then elimination."""

import numpy as np
from numba import njit

from vanishing._types import FloatArray
from vanishing.oracles.solution import Solution, Status

_FOUND, _ACCURATE, _STALLED = int(Status.FOUND), int(Status.ACCURATE), int(Status.STALLED)
_OUT = int(Status.OUT_OF_ITERATIONS)

_TIE = 1e-12  # of two terms that explain equally much, take the first and drop the last
_DEPENDENT = 1e-12  # a term whose remainder is smaller than this adds nothing to the support
_EPS = np.finfo(np.float64).eps


@njit(cache=True, nogil=True)
def _inverse(factor):
    """Return the inverse of a lower-triangular matrix."""
    inverse = np.eye(len(factor))
    for i in range(len(factor)):
        for j in range(i):
            for column in range(j + 1):
                inverse[i, column] -= factor[i, j] * inverse[j, column]
        for column in range(i + 1):
            inverse[i, column] /= factor[i, i]
    return inverse


@njit(cache=True, nogil=True)
def _without(root, column):
    """Return W with W'W = G^{-1} for a Gram matrix that loses a row and a column.

    A reflection of the rows of W leaves nothing of the column but in the last row: the other rows
    know nothing of it, and all that the others have to do with it is in that row.
    """
    size = len(root)
    mirror = root[:, column].copy()
    length = np.sqrt(np.sum(mirror * mirror))
    mirror[size - 1] += length if mirror[size - 1] >= 0.0 else -length
    factor = 2.0 / np.sum(mirror * mirror)
    image = np.zeros(size)
    for i in range(size):
        for j in range(size):
            image[j] += mirror[i] * root[i, j]
    rest = np.empty((size - 1, size - 1))
    for i in range(size - 1):
        for j in range(size - 1):
            old = j + (j >= column)
            rest[i, j] = root[i, old] - factor * mirror[i] * image[old]
    return rest


@njit(cache=True, nogil=True)
def _eliminate(gram, norm, psi, radius, support, factor, coef, mse):
    """Drop terms of the support, least important first, while f <= psi in the ball; return f.

    Least squares without term i has an f larger by ``v_i^2 / (G^{-1})_ii`` and coefficients
    ``v - G^{-1}_i v_i / (G^{-1})_ii``. Terms are taken in units of their root mean squares.
    """
    order = np.argsort(support)
    support = support[order]
    unit = np.empty(support.size)
    for i in range(support.size):
        unit[i] = np.sqrt(gram[support[i], support[i]])
    values = unit * coef[support]
    root = _inverse(factor)[:, order] * unit
    tie = _TIE * np.sqrt(norm)
    refused = np.zeros(support.size, dtype=np.bool_)
    while support.size > 0:
        spread = np.sum(root * root, axis=0)  # the diagonal of G^{-1}
        least = -1
        least_value = np.inf
        for i in range(support.size - 1, -1, -1):
            value = abs(values[i]) / np.sqrt(spread[i])
            if not refused[i] and value < least_value - tie:
                least, least_value = i, value
        if least < 0:
            break
        # The increase has more digits than f: the sum is as good as f computed again.
        new_mse = max(mse, 0.0) + least_value * least_value
        if new_mse > psi:
            scale = np.sqrt(norm) + np.sum(np.abs(values))
            if least_value > (support.size + 10) * _EPS * scale * np.sqrt(np.max(spread)):
                break
            new_mse = mse  # the coefficient is a rounding error of the others
        shift = np.zeros(support.size)
        for i in range(support.size):
            for j in range(support.size):
                shift[j] += root[i, least] * root[i, j]
        kept = np.arange(support.size) != least
        shorter = (values - values[least] / spread[least] * shift)[kept]
        if not np.sum(np.abs(shorter / unit[kept])) <= radius:
            refused[least] = True
            continue
        root = _without(root, least)
        values, unit, support, mse = shorter, unit[kept], support[kept], new_mse
        refused = np.zeros(support.size, dtype=np.bool_)
    coef[:] = 0.0
    coef[support] = values / unit
    return mse


@njit(cache=True, nogil=True)
def _best_term(gram, half_gradient, usable, tie):
    """Return the usable term that correlates best with what is left over; -1 if none does."""
    best = -1
    best_value = tie
    for i in range(usable.size):
        if usable[i] and gram[i, i] > 0.0:
            value = abs(half_gradient[i]) / np.sqrt(gram[i, i])
            if value > best_value + tie:
                best, best_value = i, value
    return best


@njit(cache=True, nogil=True)
def _run(gram, cross, norm, psi, radius, max_iter, coef):
    k = cross.size
    half_gradient = cross.copy()
    usable = np.ones(k, dtype=np.bool_)
    support = np.empty(k, dtype=np.intp)
    factor = np.empty((k, k))  # Cholesky factor of the Gram matrix of the support
    target = np.empty(k)  # factor^{-1} (-c) on the support
    values = np.empty(k)
    size = 0  # of the support, which each step adds a term to
    mse = norm
    tie = _TIE * np.sqrt(norm)
    while mse > psi:
        if size >= max_iter:
            return mse, size, _OUT
        best = _best_term(gram, half_gradient, usable, tie)
        if best < 0:
            return mse, size, _ACCURATE
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

        # Least squares on the support, by back substitution; its length in the l1-norm.
        length = 0.0
        for i in range(size - 1, -1, -1):
            entry = target[i]
            for j in range(i + 1, size):
                entry -= factor[j, i] * values[j]
            values[i] = entry / factor[i, i]
            length += abs(values[i])
        if length > radius:
            return mse, size, _STALLED  # coef is the last iterate inside the ball

        half_gradient[:] = cross
        for i in range(size):
            coef[support[i]] = values[i]
            for j in range(k):
                half_gradient[j] += values[i] * gram[support[i], j]
        mse = norm
        for i in range(size):
            mse += values[i] * (half_gradient[support[i]] + cross[support[i]])
    if size:
        chosen, factor = support[:size], factor[:size, :size]
        mse = _eliminate(gram, norm, psi, radius, chosen, factor, coef, mse)
    return mse, size, _FOUND


def omp(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float,
    eps: float = 0.0,
    tol: float = 0.0,
    max_iter: int = 10_000,
) -> Solution:
    """Add the term that explains most until the mse is at most psi, refitting each time.

    Then terms that are no longer needed go again, least important first, as long as the mse stays
    at most psi and the coefficients in the ball. Stops at the last iterate inside the ball when the
    next would leave it; ``eps`` and ``tol`` play no part, and ``n_iter`` counts the terms added.
    See `vanishing.oracles` for the arguments.

    See Also
    --------
    ls : All terms.
    pcg : Sparse coefficients by conditional gradients.
    """
    coef = np.zeros(cross.size)
    mse, n_iter, status = _run(gram, cross, norm, psi, radius, max_iter, coef)
    return Solution(coef, mse, np.nan, n_iter, Status(status))
