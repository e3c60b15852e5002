"""Points moved onto the zeros of equations: Gauss-Newton, weighted by what is known of each row.

A point is known as a mean with a covariance: small where a column was measured, large where it was
not. Equations hold up to a slack. The most likely point minimises

    (x - mean)' covariance^-1 (x - mean) + f(x)' slack^-1 f(x)

Each step solves that for equations that are linear at the point so far, as a least-squares problem
by orthogonal factors: variances may differ by as much as rounding and the spread of a table do.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_STEPS = 30  # of Gauss-Newton
_HALVINGS = 5  # of a step that leads farther from the zeros
_SETTLED = 1e-3  # of a standard deviation that a last step moves
_NEAR = 10.0  # sum of squared values, in their own variances, below which steps are full
_TINY = 1e-300

Equations = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Projection(NamedTuple):
    """Points on the zeros of equations, and how sure they are.

    Attributes
    ----------
    points : array of shape (n_rows, n_columns)
    covariance : array of shape (n_rows, n_columns, n_columns)
        Of the points.
    distance : array of shape (n_rows,)
        What was minimised: squared distances from means and zeros, in units of their errors.
    log_size : array of shape (n_rows,)
        Logarithm of the determinant of the covariance that values of the equations have at the
        means. With the distance it makes the likelihood of what is known.
    converged : array of bool of shape (n_rows,)
    """

    points: np.ndarray
    covariance: np.ndarray
    distance: np.ndarray
    log_size: np.ndarray
    converged: np.ndarray


def project(
    equations: Equations,
    mean: np.ndarray,
    whitening: np.ndarray,
    slack: np.ndarray,
    size: np.ndarray,
) -> Projection:
    """Return the most likely points, row by row.

    Parameters
    ----------
    equations : callable
        ``equations(points)`` returns values of shape (n_rows, n_equations) and derivatives of shape
        (n_rows, n_equations, n_columns).
    mean : array of shape (n_rows, n_columns)
        Where steps start: it decides between several zeros.
    whitening : array of shape (n_rows, n_columns, n_columns)
        W for which W (x - mean) has independent entries of variance 1: W'W is the inverse of the
        covariance.
    slack : array of shape (n_rows, n_equations, n_equations)
        Covariance of the values that equations have on true points; positive definite.
    size : array of shape (n_rows, n_equations)
        Variances of values that are near enough to zero for steps of full length.
    """
    problem = _LinearProblem(mean, whitening, slack)
    points = mean.copy()
    values, slopes = equations(points)
    converged = np.zeros(len(mean), dtype=bool)
    for _ in range(_STEPS):
        answer = problem.solved(points, values, slopes)
        step = mean + answer.away - points
        step[converged | ~np.isfinite(step).all(axis=1)] = 0.0
        points, values, slopes = _stepped(equations, points, values, slopes, step, size)
        width = np.linalg.norm(answer.root, axis=2) + 1e-12 * np.abs(mean) + _TINY
        converged = (np.abs(step) <= _SETTLED * width).all(axis=1)
        if converged.all():
            break
    converged &= np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    answer = problem.solved(points, values, slopes)
    covariance = answer.root @ answer.root.transpose(0, 2, 1)
    return Projection(points, covariance, answer.distance, answer.log_size, converged)


class _LinearAnswer(NamedTuple):
    """The minimum of a problem whose equations are linear.

    Attributes
    ----------
    away : array of shape (n_rows, n_columns)
        Where it is, less the mean.
    root : array of shape (n_rows, n_columns, n_columns)
        Times its transpose it is the covariance.
    distance, log_size : array of shape (n_rows,)
        As in `Projection`.
    """

    away: np.ndarray
    root: np.ndarray
    distance: np.ndarray
    log_size: np.ndarray


class _LinearProblem:
    """Least squares of whitened distances, for equations that are linear at points."""

    def __init__(self, mean: np.ndarray, whitening: np.ndarray, slack: np.ndarray):
        self.mean, self.whitening = mean, whitening
        factor = np.linalg.cholesky(slack)
        self.of_slack = np.linalg.inv(factor)
        logarithms = np.log(np.einsum("mkk->mk", factor)).sum(axis=1)
        self.log_size = 2.0 * (logarithms - np.linalg.slogdet(whitening)[1])

    def solved(self, points, values, slopes) -> _LinearAnswer:
        """Return the minimum; what is not finite counts as zero."""
        values, slopes = (np.nan_to_num(v, posinf=0.0, neginf=0.0) for v in (values, slopes))
        n = self.mean.shape[1]
        offset = values + np.einsum("mki,mi->mk", slopes, self.mean - points)
        matrix = np.concatenate([self.whitening, self.of_slack @ slopes], axis=1)
        right = np.zeros((len(values), matrix.shape[1]))
        right[:, n:] = -np.einsum("mkl,ml->mk", self.of_slack, offset)
        orthogonal, triangle = np.linalg.qr(matrix)
        along = np.einsum("mij,mi->mj", orthogonal, right)
        root = np.linalg.inv(triangle)
        left = right - np.einsum("mij,mj->mi", orthogonal, along)
        diagonal = np.abs(np.einsum("mii->mi", triangle))
        return _LinearAnswer(
            np.einsum("mij,mj->mi", root, along),
            root,
            np.square(left).sum(axis=1),
            self.log_size + 2.0 * np.log(diagonal).sum(axis=1),
        )


def _stepped(equations, points, values, slopes, step, size):
    """Return points after a step, halved where equations are then farther from zero, or undefined.

    Where they are near enough to zero any step will do: what is left of it is along them.
    """

    def merit(of_values):
        squares = np.square(of_values) / (size + _TINY)
        return np.where(np.isfinite(of_values).all(axis=1), squares.sum(axis=1), np.inf)

    before = merit(values)
    for _ in range(_HALVINGS):
        trial = points + step
        new_values, new_slopes = equations(trial)
        worse = ~(merit(new_values) <= np.maximum(before, _NEAR)) & step.any(axis=1)
        if not worse.any():
            break
        step = np.where(worse[:, np.newaxis], 0.5 * step, step)
    undefined = ~np.isfinite(new_values).all(axis=1)
    trial[undefined] = points[undefined]
    new_values[undefined], new_slopes[undefined] = values[undefined], slopes[undefined]
    return trial, new_values, new_slopes
