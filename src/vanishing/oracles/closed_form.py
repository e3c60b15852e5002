"""The closed form: least squares from the moments, on all terms or on those another oracle chose.

`OAVI` does not call `ls` term by term: the factor it keeps for its certificates
(`vanishing.constructions.certificate`) has the same answer at hand. In "Approximate Vanishing Ideal
Computations at Scale" (ICLR 2023) E. Wirth, H. Kera and S. Pokutta update the inverse of G term by
term, and start solvers at the closed form (IHB), or let it decide where one is asked (WIHB).
"""

import numpy as np
from numba import njit
from scipy.linalg import lstsq

from vanishing._types import FloatArray
from vanishing.oracles.solution import Solution, Status

_DEPENDENT = 1e-12  # share of a term that the terms before it leave over: below, it is rounding


def ls(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float = np.inf,
    eps: float = 0.0,
    tol: float = 0.0,
    max_iter: int = 1,
) -> Solution:
    """Solve COP in closed form; all but ``psi`` of the options play no part.

    See Also
    --------
    omp : Few terms.
    pcg : Sparse coefficients in a ball.
    """
    k = cross.size
    coef = lstsq(gram[:k, :k], -cross, lapack_driver="gelsy", check_finite=False)[0]
    mse = float(max(0.0, norm + coef @ cross))
    return Solution(coef, mse, 0.0, 1, Status.FOUND if mse <= psi else Status.ACCURATE)


def length(coef, region: str) -> float:
    """Return the norm of coefficients that a ball bounds."""
    return float(np.abs(coef).sum() if region == "l1" else np.linalg.norm(coef))


def refitted(gram, cross, norm, coef, mse, *, radius, region="l1"):
    """Return the closed form on the terms that ``coef`` uses, and its mse.

    ``coef`` and ``mse`` themselves where the closed form leaves the ball or is not better, which is
    rounding then: where terms nearly depend on each other.
    """
    chosen = np.flatnonzero(coef)
    values, new_mse = least_squares(gram, cross, float(norm), chosen)
    if not new_mse < mse or length(values, region) > radius:
        return coef, mse
    new = np.zeros_like(coef)
    new[chosen] = values
    return new, new_mse


@njit(cache=True, nogil=True)
def least_squares(gram, cross, norm, chosen):
    """Return least squares on the chosen terms by Cholesky, and f there; inf if they depend."""
    size = chosen.size
    factor = np.empty((size, size))
    values = np.empty(size)
    for i in range(size):
        shift = -cross[chosen[i]]
        pivot = gram[chosen[i], chosen[i]]
        for j in range(i):
            entry = gram[chosen[i], chosen[j]]
            for p in range(j):
                entry -= factor[i, p] * factor[j, p]
            entry /= factor[j, j]
            factor[i, j] = entry
            pivot -= entry * entry
            shift -= entry * values[j]
        if not pivot > _DEPENDENT * gram[chosen[i], chosen[i]]:
            return values, np.inf
        factor[i, i] = np.sqrt(pivot)
        values[i] = shift / factor[i, i]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            values[i] -= factor[j, i] * values[j]
        values[i] /= factor[i, i]
    # f(v) = d + 2 c'v + v'Gv itself: d + c'v is only that of an exact solution.
    mse = norm
    for i in range(size):
        slope = 2.0 * cross[chosen[i]]
        for j in range(size):
            slope += gram[chosen[i], chosen[j]] * values[j]
        mse += slope * values[i]
    return values, mse
