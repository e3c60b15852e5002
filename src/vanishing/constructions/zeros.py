"""The points of an ideal with finitely many zeros, from its multiplication matrices."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eig

from vanishing._types import FloatArray

_APART = 1e-6  # distance of two zeros, or imaginary part of one, in units of the zeros' spread
_STEPS = 3  # of Newton's method: it doubles the digits


def joint_eigenvalues(matrices: FloatArray) -> FloatArray:
    """Return the zeros of an ideal: the joint eigenvalues of multiplication by the variables.

    Values of the standard terms at a zero are a common left eigenvector of all matrices, and its
    eigenvalues are the coordinates. A random combination of the matrices tells zeros apart.

    Parameters
    ----------
    matrices : ndarray of shape (n_features, n_terms, n_terms)

    Returns
    -------
    points : ndarray of shape (n_terms, n_features)

    Raises
    ------
    ValueError
        If zeros are complex or repeated.
    """
    matrices = np.asarray(matrices, dtype=np.float64)
    size = np.abs(matrices).max(axis=(1, 2))
    scaled = matrices / np.where(size > 0.0, size, 1.0)[:, np.newaxis, np.newaxis]
    weights = np.random.default_rng(0).normal(size=len(matrices))
    combination = np.tensordot(weights, scaled, axes=1)
    _, left, right = eig(combination, left=True, right=True)
    products = np.einsum("ik,vij,jk->kv", left.conj(), matrices, right, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        points = products / np.einsum("ik,ik->k", left.conj(), right)[:, np.newaxis]
    if not np.isfinite(points).all():
        raise ValueError(_repeated())
    spread = np.maximum(np.ptp(points.real, axis=0), np.abs(points).max(axis=0))
    spread = np.where(spread > 0.0, spread, 1.0)
    if (np.abs(points.imag) > _APART * spread).any():
        raise ValueError(
            "the ideal has complex zeros, or zeros that are repeated: it is not the ideal of "
            "distinct real points."
        )
    points = points.real
    order = np.lexsort(points.T[::-1])
    gaps = np.abs(np.diff(points[order] / spread, axis=0)).max(axis=1, initial=0.0)
    if len(points) > 1 and gaps.min() < _APART:
        raise ValueError(_repeated())
    return points


def _repeated() -> str:
    return "the ideal has repeated zeros: it is not the ideal of distinct points."


def polished(
    points: FloatArray,
    values: Callable[[FloatArray], FloatArray],
    gradients: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Improve zeros of several polynomials by Newton's method.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
    values : callable
        From points to the values of the polynomials, of shape (n_points, n_polynomials).
    gradients : callable
        From points to gradients of shape (n_points, n_polynomials, n_features).
    """
    for _ in range(_STEPS):
        slopes = gradients(points)
        # Each polynomial in its own size: rows of very different size would lose digits.
        size = np.linalg.norm(slopes, axis=2)
        size[size == 0.0] = 1.0
        step = np.linalg.pinv(slopes / size[..., np.newaxis]) @ (values(points) / size)[..., None]
        points = points - step[..., 0]
    return points
