"""Normal equations of least squares: terms of any size, some of which nearly depend on others."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

_LEAST_FREE = 0.01  # share of a row's noise that a fit leaves in its residual


# Searches solve hundreds of thousands of systems of a few terms: LAPACK is called as it is, since
# what is around it in SciPy takes longer than the solution.


def of_size_one(gram: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gram matrix of terms over their sizes, with a ridge, and the sizes."""
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    unit = gram / scale / scale[:, np.newaxis]
    if ridge:
        unit.flat[:: len(unit) + 1] += ridge  # the diagonal
    return unit, scale


def solution(gram: np.ndarray, cross: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """Return c with G c = ``cross``; the shortest where G is singular."""
    unit, scale = of_size_one(gram, ridge)
    factor, failed = dpotrf(unit, lower=1, clean=0)
    if failed:
        return np.linalg.lstsq(unit, cross / scale, rcond=1e-13)[0] / scale
    return dpotrs(factor, cross / scale, lower=1)[0] / scale


def inverse(gram: np.ndarray) -> np.ndarray:
    """Return G^-1, the covariance of coefficients for noise of variance 1.

    Infinite if G is singular, or overflows.
    """
    if not np.isfinite(gram).all():
        return np.full_like(gram, np.inf)
    unit, scale = of_size_one(gram, 1e-14)
    factor, failed = dpotrf(unit, lower=1, clean=0)
    if failed:
        return np.full_like(gram, np.inf)
    whole = dpotrs(factor, np.eye(len(unit)), lower=1)[0]
    with np.errstate(over="ignore"):  # of terms that are zero on all rows
        return whole / scale / scale[:, np.newaxis]


def without_one(values: np.ndarray, place: int) -> np.ndarray:
    """Return values, or rows, without one of them; np.delete is much slower for few."""
    return np.concatenate([values[:place], values[place + 1 :]])


def with_one(coef: np.ndarray, place: int) -> np.ndarray:
    """Return coefficients with one more, which is fixed at 1."""
    return np.concatenate([coef[:place], [1.0], coef[place:]])


def without(gram: np.ndarray, cross: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal equations without one of the coefficients, which is fixed."""
    return without_one(without_one(gram, place).T, place).T, without_one(cross, place)


def with_fixed(covariance: np.ndarray, place: int) -> np.ndarray:
    """Return a covariance of coefficients with zeros for one more, which is fixed."""
    whole = np.zeros((len(covariance) + 1, len(covariance) + 1))
    others = np.arange(len(covariance))
    others[place:] += 1
    whole[others[:, np.newaxis], others] = covariance
    return whole


def widened(
    covariance: np.ndarray, noise: np.ndarray, gram_inverse: np.ndarray | None = None
) -> np.ndarray:
    """Return a covariance of coefficients, wider where noise is larger on rows that matter more.

    The usual standard errors are too small there. Those of White (1980) hold in general; the larger
    ones count.

    Parameters
    ----------
    covariance : array of shape (k, k)
        For noise of variance 1; zero for coefficients that are fixed.
    noise : array of shape (k, k)
        Gram matrix of derivatives times residuals, over the mean square of the residuals.
    gram_inverse : array of shape (k, k), default=None
        That of the Gram matrix of the derivatives, where it is not the covariance: noise is known
        to be smaller on some rows.
    """
    outer = covariance if gram_inverse is None else gram_inverse
    with np.errstate(all="ignore"):
        general = np.diag(outer @ noise @ outer)
        factor = np.sqrt(np.fmax(general / np.diag(covariance), 1.0))
    return covariance * np.outer(factor, factor)


def unshrunk(residuals: np.ndarray, leverage: np.ndarray) -> np.ndarray:
    """Return residuals as large as the noise: a fit comes close to the rows that decide it.

    White's standard errors of these (HC2: MacKinnon, White 1985) hold on few rows as well. Those of
    rows left out one by one (HC3) are too large where noise is equal and few of 30 rows decide: two
    of them covered 98 to 99 %.
    """
    return residuals / np.sqrt(np.maximum(1.0 - leverage, _LEAST_FREE))
