"""Normal equations of least squares: terms of any size, some of which nearly depend on others."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_LEAST_FREE = 0.01  # share of a row's noise that a fit leaves in its residual


def of_size_one(gram: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gram matrix of terms over their sizes, with a ridge, and the sizes."""
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    unit = gram / scale / scale[:, np.newaxis]
    unit[np.diag_indices_from(unit)] += ridge
    return unit, scale


def solution(gram: np.ndarray, cross: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """Return c with G c = ``cross``; the shortest where G is singular."""
    unit, scale = of_size_one(gram, ridge)
    try:
        factor = cho_factor(unit, lower=True, check_finite=False)
        return cho_solve(factor, cross / scale, check_finite=False) / scale
    except LinAlgError:
        return np.linalg.lstsq(unit, cross / scale, rcond=1e-13)[0] / scale


def inverse(gram: np.ndarray) -> np.ndarray:
    """Return G^-1, the covariance of coefficients for noise of variance 1; inf if G is singular."""
    unit, scale = of_size_one(gram, 1e-14)
    try:
        factor = cho_factor(unit, lower=True, check_finite=False)
    except LinAlgError:
        return np.full_like(gram, np.inf)
    whole = cho_solve(factor, np.eye(len(unit)), check_finite=False)
    with np.errstate(over="ignore"):  # of terms that are zero on all rows
        return whole / scale / scale[:, np.newaxis]


def without(gram: np.ndarray, cross: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal equations without one of the coefficients, which is fixed."""
    return np.delete(np.delete(gram, place, axis=0), place, axis=1), np.delete(cross, place)


def with_fixed(covariance: np.ndarray, place: int) -> np.ndarray:
    """Return a covariance of coefficients with zeros for one more, which is fixed."""
    return np.insert(np.insert(covariance, place, 0.0, axis=0), place, 0.0, axis=1)


def widened(covariance: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return a covariance of coefficients, wider where noise is larger on rows that matter more.

    The usual standard errors are too small there. Those of White (1980) hold in general; the larger
    ones count.

    Parameters
    ----------
    covariance : array of shape (k, k)
        For noise of variance 1; zero for coefficients that are fixed.
    noise : array of shape (k, k)
        Gram matrix of derivatives times residuals, over the mean square of the residuals.
    """
    with np.errstate(all="ignore"):
        general = np.diag(covariance @ noise @ covariance)
        factor = np.sqrt(np.fmax(general / np.diag(covariance), 1.0))
    return covariance * np.outer(factor, factor)


def unshrunk(residuals: np.ndarray, leverage: np.ndarray) -> np.ndarray:
    """Return residuals as large as the noise: a fit comes close to the rows that decide it.

    White's standard errors of these (HC2: MacKinnon, White 1985) hold on few rows as well. Those of
    rows left out one by one (HC3) are too large where noise is equal and few of 30 rows decide: two
    of them covered 98 to 99 %.
    """
    return residuals / np.sqrt(np.maximum(1.0 - leverage, _LEAST_FREE))
