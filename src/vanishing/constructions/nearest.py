"""The nearest points of a fitted variety, row by row."""

from collections.abc import Sequence

import numpy as np

from vanishing._types import FloatArray
from vanishing._warnings import warn
from vanishing.algebra.polynomials import Polynomial
from vanishing.fitting.projection import project

_BLOCK = 4096  # rows moved together
_EXACT = 1e-8  # how well equations hold at a nearest point, in units of a step of one noise
_NEAR = 1e-6  # how well they have to hold
_NAMED = 10  # rows that a warning names


def nearest_points(
    equations: Sequence[Polynomial], X: FloatArray, noise: FloatArray, *, first_order: bool
) -> FloatArray:
    """Return the points on the zeros of equations that are nearest to rows.

    Parameters
    ----------
    equations : sequence of Polynomial
    X : ndarray of shape (n_samples, n_features)
    noise : ndarray of shape (n_features,)
        Unit of length of each column.
    first_order : bool
        Whether to take one step to the zeros of the linearised equations, and no more.

    Returns
    -------
    points : ndarray of shape (n_samples, n_features)
        NaN in rows without a point near them, which a warning names.
    """
    points = np.array(X, dtype=np.float64)
    if not len(equations):
        return points

    def values_and_slopes(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.stack([g(rows) for g in equations], axis=1)
        return values, np.stack([g.gradient(rows) for g in equations], axis=1)

    for start in range(0, len(X), _BLOCK):
        rows = points[start : start + _BLOCK]
        values, slopes = values_and_slopes(rows)
        size = np.linalg.norm(slopes * noise, axis=2)
        if first_order:
            scaled = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
            steps = np.linalg.pinv(slopes * noise * scaled[..., np.newaxis])
            rows -= noise * (steps @ (values * scaled)[..., np.newaxis])[..., 0]
            continue
        typical = np.where(size > 0.0, size, np.abs(values) + 1e-300)
        slack = np.square(_EXACT * typical)[..., np.newaxis] * np.eye(len(equations))
        whitening = np.broadcast_to(np.diag(1.0 / noise), (len(rows), *2 * (len(noise),)))
        moved = project(values_and_slopes, rows.copy(), whitening, slack)
        values, slopes = values_and_slopes(moved.points)
        size = np.linalg.norm(slopes * noise, axis=2)
        holds = (np.abs(values) <= _NEAR * np.maximum(size, typical)).all(axis=1)
        rows[:] = np.where((moved.converged & holds)[:, np.newaxis], moved.points, np.nan)
    far = np.flatnonzero(np.isnan(points).any(axis=1))
    if far.size:
        shown = ", ".join(map(str, far[:_NAMED])) + (", ..." if far.size > _NAMED else "")
        warn(
            f"{far.size} of {len(X)} rows have no point of the variety near them and are NaN: "
            f"{shown}. The generators may have no common zeros there: fit with a smaller "
            "max_degree, or with a psi nearer to the noise."
        )
    return points
