"""The nearest points of a fitted variety, row by row."""

from collections.abc import Sequence

import numpy as np

from vanishing._types import BoolArray, FloatArray
from vanishing._warnings import warn
from vanishing.algebra.polynomials import Polynomial
from vanishing.fitting.projection import project

_BLOCK = 4096  # rows moved together
# Steps end at a thousandth of their unit. A unit that is far below the noise, and equations that
# are far stricter still, make them end on the zeros.
_UNIT = 1e-6
_STRICT = 1e-6
_NEAR = 1e-6  # how well equations have to hold, in units of what one noise changes
_ERRORS = 3.0  # and in units of their own errors: those of noisy rows have no common zeros
_INDEPENDENT = 0.1  # singular value of gradients next to the largest that is a direction of its own
_STEPS, _ONTO, _SHORT = 300, 12, 1e-12  # for rows far off: steps, steps of a step, an end
_NAMED = 10  # rows that a warning names


def nearest_points(
    equations: Sequence[Polynomial],
    X: FloatArray,
    noise: FloatArray,
    *,
    codimension: int,
    first_order: bool,
) -> FloatArray:
    """Return the points on the zeros of equations that are nearest to rows.

    Parameters
    ----------
    equations : sequence of Polynomial
    X : ndarray of shape (n_samples, n_features)
    noise : ndarray of shape (n_features,)
        Unit of length of each column.
    codimension : int
        How many of the equations are independent at least.
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
    for start in range(0, len(X), _BLOCK):
        rows = points[start : start + _BLOCK]
        system = _System(equations, rows, noise, codimension)
        if first_order:
            values, slopes = system(rows)
            rows -= noise * (np.linalg.pinv(slopes * noise) @ values[..., np.newaxis])[..., 0]
            continue
        slack = np.square(_STRICT * _UNIT) * np.eye(system.n_directions)
        with np.errstate(over="ignore", invalid="ignore"):  # of rows that leave for infinity
            moved = project(
                system,
                rows.copy(),
                np.broadcast_to(np.diag(1.0 / (_UNIT * noise)), (len(rows), *2 * noise.shape)),
                np.broadcast_to(slack, (len(rows), *slack.shape)),
                np.full((len(rows), system.n_directions), np.square(_UNIT)),
            )
        found = moved.converged & system.holds(moved.points)
        far = np.flatnonzero(~found)
        if far.size:
            moved.points[far] = _from_afar(system, rows[far])
            found[far] = system.holds(moved.points[far])
        rows[:] = np.where(found[:, np.newaxis], moved.points, np.nan)
    far = np.flatnonzero(np.isnan(points).any(axis=1))
    if far.size:
        shown = ", ".join(map(str, far[:_NAMED])) + (", ..." if far.size > _NAMED else "")
        warn(
            f"{far.size} of {len(X)} rows have no point of the variety near them and are NaN: "
            f"{shown}. The generators may have no common zeros there: fit with a smaller "
            "max_degree, or with a psi nearer to the noise."
        )
    return points


def _from_afar(system: "_System", rows: FloatArray) -> FloatArray:
    """Return nearest points of rows that are farther off than the variety is flat.

    Linearised equations say little about zeros so far away. Onto the zeros first, then along them:
    each step goes towards the row in the tangent plane and back onto the zeros, and is half as long
    where it does not come nearer.
    """
    noise, points, length = system.noise, system.onto(rows), np.ones(len(rows))

    def distance(at):
        return np.linalg.norm((at - rows) / noise, axis=1)

    for _ in range(_STEPS):
        away = (rows - points) / noise
        slopes = system(points)[1] * noise
        normal = (np.linalg.pinv(slopes) @ (slopes @ away[..., np.newaxis]))[..., 0]
        trial = system.onto(points + length[:, np.newaxis] * noise * (away - normal))
        nearer = distance(trial) < distance(points)
        points[nearer] = trial[nearer]
        length = np.where(nearer, np.minimum(2.0 * length, 1.0), 0.5 * length)
        if (length < _SHORT).all():
            break
    return points


class _System:
    """Equations in their independent directions, as `project` asks for them.

    More equations than the codimension agree on the zeros alone: next to these their linear parts
    contradict each other by what a row is off. Only the directions in which gradients differ by
    more than that count.
    """

    def __init__(self, equations, rows: FloatArray, noise: FloatArray, codimension: int):
        self.equations, self.noise, self.codimension = equations, noise, codimension
        self.n_directions = min(len(equations), len(noise))
        slopes = np.stack([g.gradient(rows) for g in equations], axis=1) * noise
        self.size = np.sqrt(np.mean(np.square(slopes).sum(axis=2), axis=0)) + 1e-300

    def __call__(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.stack([g(rows) for g in self.equations], axis=1) / self.size
        slopes = np.stack([g.gradient(rows) for g in self.equations], axis=1)
        slopes = slopes * self.noise / self.size[:, np.newaxis]
        if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
            values, slopes = (
                np.nan_to_num(part, posinf=0.0, neginf=0.0) for part in (values, slopes)
            )
        left, sigma, right = np.linalg.svd(slopes, full_matrices=False)
        counts = sigma > _INDEPENDENT * sigma[:, :1]
        counts[:, : self.codimension] = True
        along = np.einsum("mek,me->mk", left, values) * counts
        return along, (sigma * counts)[..., np.newaxis] * right / self.noise

    def onto(self, rows: FloatArray) -> FloatArray:
        """Return points near rows at which the equations are zero, by shortest steps."""
        for _ in range(_ONTO):
            values, slopes = self(rows)
            step = np.linalg.pinv(slopes * self.noise) @ values[..., np.newaxis]
            rows = rows - self.noise * step[..., 0]
        return rows

    def holds(self, rows: FloatArray) -> BoolArray:
        """Say at which points all equations hold: up to what they are off on the training rows."""
        values = np.stack([g(rows) for g in self.equations], axis=1) / self.size
        errors = np.sqrt([g.mse for g in self.equations]) / self.size
        return (np.abs(values) <= _NEAR + _ERRORS * errors).all(axis=1)
