"""Simulated runs: fitted equations integrated from starts, given or fitted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import columns_of, evaluate
from vanishing.motion import settings
from vanishing.motion.measured import MeasuredRun, smooth_runs
from vanishing.motion.shooting import Rows, Shot, System, path_of, rows_of, shoot
from vanishing.motion.stepping import integrate


class FittedMotion(NamedTuple):
    """Equations of motion with their parameters.

    Attributes
    ----------
    system : System
    parameters : array of shape (n_parameters,)
        Of all batches, one after the other, where there are some.
    covariance : array of shape (n_parameters, n_parameters) or None
    """

    system: System
    parameters: np.ndarray
    covariance: np.ndarray | None

    def of_batch(self, batch: int) -> "FittedMotion":
        """Return the equations of a batch."""
        p = self.system.n_parameters
        if len(self.parameters) == p:
            return self
        own = slice(batch * p, (batch + 1) * p)
        covariance = None if self.covariance is None else self.covariance[own, own]
        parameters = self.parameters[own]
        return FittedMotion(self.system.with_parameters(parameters), parameters, covariance)

    @property
    def needs_velocities(self) -> bool:
        """Whether accelerations depend on velocities."""
        n = self.system.n_columns
        known = [columns_of(node) for node in self.system.known if node is not None]
        used = set().union(*known, *(t.columns for terms in self.system.equations for t in terms))
        return self.system.order == 2 and any(n <= i < 2 * n for i in used)

    def derivatives(self, variables: np.ndarray) -> np.ndarray:
        """Return the derivatives of columns, from rows of all variables."""
        columns = np.ascontiguousarray(variables.T)
        system = self.system.with_parameters(self.parameters)
        found = np.zeros((len(variables), system.n_columns))
        coefficients = system.coefficients(self.parameters)
        with np.errstate(all="ignore"):
            for j, (terms, coef) in enumerate(zip(system.equations, coefficients, strict=True)):
                for term, value in zip(terms, coef, strict=True):
                    found[:, j] += value * term.values(columns)
                known = system.known[j]
                if known is not None:
                    found[:, j] += evaluate(known, columns)
        return found


def simulated(
    motion: FittedMotion, start: np.ndarray, t: np.ndarray, U: np.ndarray, with_std: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Integrate from a start; return states and, if asked for, their standard errors."""
    system, n = motion.system, motion.system.n_columns
    p = len(motion.parameters)
    path = np.full((len(t), system.n_states), np.nan)
    size = len(t) if with_std else 1
    tangents = np.full((size, system.n_states, system.n_states + p), np.nan)
    integrate(
        system.tape, start, motion.parameters, t, U, path, tangents, with_std, False,
        settings.PACE_SIMULATED, False,
    )  # fmt: skip
    if not with_std:
        return path[:, :n], None
    if motion.covariance is None:
        return path[:, :n], np.full((len(t), n), np.nan)
    slopes = tangents[:, :n, system.n_states :]
    variance = np.einsum("tnp,pq,tnq->tn", slopes, motion.covariance, slopes)
    return path[:, :n], np.sqrt(np.maximum(variance, 0.0))


def followed_runs(
    motion: FittedMotion,
    runs: Sequence[MeasuredRun],
    n_pieces: int = 1,
    noise: np.ndarray | None = None,
) -> tuple[Shot, Rows]:
    """Fit the starts of runs, each cut into pieces, and nothing else.

    Parameters
    ----------
    motion : FittedMotion
    runs : sequence of MeasuredRun
    n_pieces : int, default=1
        Of each run.
    noise : array of shape (n_columns,), default=None
        Standard deviations, where they are known.
    """
    rows = rows_of(*smooth_runs(runs, noise))
    return followed_rows(motion, rows, n_pieces), rows


def followed_rows(motion: FittedMotion, rows: Rows, n_pieces: int) -> Shot:
    """Fit the starts of runs, each cut into pieces, and nothing else."""
    system, parameters = motion.system, motion.parameters

    def shot_of(count: int, before: Shot | None = None) -> Shot:
        bounds = rows.pieces(count)
        starts = rows.smooth_states(bounds, system.order)
        if before is not None:
            states = path_of(before, rows)[0][bounds[:, 0]]
            starts = np.where(np.isfinite(states), states, starts)
        return shoot(
            system, rows, parameters, bounds, starts, max_steps=settings.SHOT_STEPS,
            starts_only=True,
        )  # fmt: skip

    direct = shot_of(n_pieces)
    cells = int((rows.told > 0).sum())
    if direct.losses.sum() < settings.HOPELESS * cells:
        return direct
    # A chaotic path, or one that leaves all bounds, needs better starts than smooth ones: those of
    # short pieces, each time half as many.
    count, step = settings.PIECES[0], None
    while count > n_pieces:
        step = shot_of(count, step)
        count //= 2
    last = shot_of(n_pieces, step)
    return min(direct, last, key=lambda shot: shot.losses.sum())


def states_between(
    motion: FittedMotion, states: np.ndarray, t: np.ndarray, U: np.ndarray, longest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return times with no longer steps than asked for, those of the rows among them, and states.

    Each stretch starts from the state of its row: along a chaotic path, one integration from the
    start to the end would leave the rows by its rounding.
    """
    system = motion.system
    nothing = np.empty((1, system.n_states, system.n_states + len(motion.parameters)))
    times, found = [t[:1]], [states[:1]]
    for i in range(len(t) - 1):
        steps = np.linspace(0.0, 1.0, int(np.ceil((t[i + 1] - t[i]) / longest)) + 1)
        between = t[i] + steps * (t[i + 1] - t[i])
        inputs = U[i] + steps[:, np.newaxis] * (U[i + 1] - U[i])
        path = np.full((len(steps), system.n_states), np.nan)
        integrate(
            system.tape, states[i], motion.parameters, between, inputs, path, nothing, False, False,
            settings.PACE_SIMULATED, False,
        )  # fmt: skip
        times += [between[1:]]
        found += [path[1:]]
    return np.concatenate(times), np.concatenate(found)


def simulated_runs(motion: FittedMotion, runs: Sequence[MeasuredRun]) -> float:
    """Return the R2 of runs that are simulated from fitted starts, the mean over the columns."""
    shot, rows = followed_runs(motion, runs)
    path, _ = path_of(shot, rows)
    path = path[:, : motion.system.n_columns]
    weight = np.concatenate([run.weight for run in runs])[:, None] * (rows.told > 0)
    mean = (weight * rows.X).sum(axis=0) / weight.sum(axis=0)
    total = (weight * (rows.X - mean) ** 2).sum(axis=0)
    if not np.isfinite(path).all():
        return -np.inf
    rest = (weight * (rows.X - path) ** 2).sum(axis=0)
    return float(np.mean(1.0 - rest / np.where(total > 0, total, 1.0)))
