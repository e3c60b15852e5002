"""Shooting: parameters and starts with which integrated equations follow the rows themselves.

Each run is cut into pieces with starts of their own, first many, then few: from poor parameters a
long path leads nowhere. Steps are those of Levenberg and Marquardt; starts are eliminated from the
normal equations piece by piece.
"""

import time
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from vanishing.algebra.expressions import Column, Node, Number, Sum, product, relabelled
from vanishing.motion import settings
from vanishing.motion.candidates import Candidate
from vanishing.motion.given_parts import SignedTerm
from vanishing.motion.measured import Noise, SmoothRun
from vanishing.motion.stepping import DONE, add_normal_equations, integrate
from vanishing.motion.tape import Tape, tape_of


class System:
    """The structure of equations of motion: terms of each, without their coefficients.

    Parameters
    ----------
    equations : sequence of sequences of Candidate
        The terms of each measured column's derivative.
    n_inputs : int
    order : {1, 2}
    known : sequence of Node or None
        What is known of each right-hand side.
    """

    def __init__(
        self,
        equations: Sequence[Sequence[Candidate]],
        n_inputs: int = 0,
        order: int = 1,
        known: Sequence[Node | None] | None = None,
    ):
        self.equations = tuple(map(tuple, equations))
        self.n_columns, self.n_inputs, self.order = len(self.equations), n_inputs, order
        self.known = tuple(known) if known is not None else (None,) * self.n_columns

    @property
    def n_states(self) -> int:
        """How many states are integrated."""
        return self.n_columns * self.order

    @property
    def n_variables(self) -> int:
        """How many variables terms are in: states and inputs."""
        return self.n_states + self.n_inputs

    @cached_property
    def places(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Places of the parameters of each term: its coefficient, and constants inside."""
        place, found = 0, []
        for terms in self.equations:
            of_equation = []
            for term in terms:
                size = 1 + len(term.constants)
                of_equation.append(tuple(range(place, place + size)))
                place += size
            found.append(tuple(of_equation))
        return tuple(found)

    @property
    def n_parameters(self) -> int:
        """How many parameters all equations have."""
        return sum(1 + len(term.constants) for terms in self.equations for term in terms)

    def parameters(self, coef: Sequence[np.ndarray]) -> np.ndarray:
        """Return all parameters, from the coefficients of each equation."""
        found: list[float] = []
        for terms, values in zip(self.equations, coef, strict=True):
            for term, value in zip(terms, values, strict=True):
                found += [float(value), *term.constants]
        return np.array(found)

    def with_parameters(self, parameters: np.ndarray) -> "System":
        """Return the structure with other constants inside its terms."""
        equations = [
            [
                term.with_constants(parameters[list(place[1:])].tolist())
                for term, place in zip(terms, places, strict=True)
            ]
            for terms, places in zip(self.equations, self.places, strict=True)
        ]
        return System(equations, self.n_inputs, self.order, self.known)

    def coefficients(self, parameters: np.ndarray) -> list[np.ndarray]:
        """Return the coefficients of each equation."""
        return [parameters[[place[0] for place in places]] for places in self.places]

    def bounds(self, signs: Sequence[SignedTerm]) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest values of parameters whose signs are given."""
        lower, upper = np.full((2, self.n_parameters), [[-np.inf], [np.inf]])
        for column, node, sign in signs:
            for term, place in zip(self.equations[column], self.places[column], strict=True):
                if node is None or term.node == node:
                    (lower if sign > 0 else upper)[place[0]] = 0.0
        return lower, upper

    @cached_property
    def tape(self) -> Tape:
        """What is integrated: derivatives of all states in states, inputs and parameters."""
        n, first = self.n_columns, self.n_variables
        nodes: list[Node] = [Column(n + j) for j in range(n)] if self.order == 2 else []
        for terms, places, known in zip(self.equations, self.places, self.known, strict=True):
            parts = [] if known is None else [known]
            for term, place in zip(terms, places, strict=True):
                inner = _shifted(term.node, first, place[0] + 1)
                parts.append(product(Column(first + place[0]), inner))
            nodes.append(Sum(tuple(parts)) if len(parts) > 1 else [*parts, Number(0.0)][0])
        return tape_of(nodes)

    @cached_property
    def key(self) -> tuple:
        """What tells structures apart."""
        return tuple(frozenset(term.node for term in terms) for terms in self.equations)


def _shifted(node: Node, first: int, shift: int) -> Node:
    """Return an expression whose variables from a place on are others."""
    return relabelled(node, lambda place: place + shift if place >= first else place)


class Rows(NamedTuple):
    """Rows of all runs, one after the other.

    Attributes
    ----------
    t, U, X, told : arrays
        Times, inputs, measured columns, and one over the deviation of each cell, zero where it is
        missing.
    bounds : array of int of shape (n_runs, 2)
    runs : tuple of SmoothRun
    pace : float
        Of the integration: slow enough for its errors to be less than the noise.
    batches : array of int of shape (n_runs,)
        Of each run, which of several sets of parameters it has.
    """

    t: np.ndarray
    U: np.ndarray
    X: np.ndarray
    told: np.ndarray
    bounds: np.ndarray
    runs: tuple[SmoothRun, ...]
    pace: float
    batches: np.ndarray

    def run_of(self, bounds: np.ndarray) -> np.ndarray:
        """Return the run of each piece."""
        return np.searchsorted(self.bounds[:, 0], bounds[:, 0], side="right") - 1

    def pieces(self, count: int) -> np.ndarray:
        """Return the rows of pieces, so many of each run, if these have enough rows."""
        bounds = []
        for low, high in self.bounds.tolist():
            n = max(1, min(count, (high - low) // settings.PIECE_ROWS))
            edges = np.linspace(low, high, n + 1).round().astype(np.int64)
            bounds += list(pairwise(edges))
        return np.array(bounds, dtype=np.int64)

    def smooth_states(self, bounds: np.ndarray, order: int) -> np.ndarray:
        """Return the smooth states where pieces begin."""
        n = self.X.shape[1] * order
        return np.array(
            [
                self.runs[r].states(self.t[i : i + 1], order)[:n, 0]
                for r, i in zip(self.run_of(bounds), bounds[:, 0], strict=True)
            ]
        )


def rows_of(runs: Sequence[SmoothRun], noise: Noise) -> Rows:
    """Return the rows of runs, one after the other."""
    measured = [run.measured for run in runs]
    ends = np.cumsum([len(run.t) for run in measured])
    sigma = np.concatenate([run.sigma for run in runs])
    return Rows(
        np.concatenate([run.t for run in measured]),
        np.ascontiguousarray(np.concatenate([run.U for run in measured])),
        np.nan_to_num(np.concatenate([run.X for run in measured])),
        1.0 / sigma,
        np.column_stack([np.append(0, ends[:-1]), ends]),
        tuple(runs),
        settings.PACE_BELOW if noise.is_below.any() else settings.PACE,
        np.array([run.batch for run in measured]),
    )


class Shot(NamedTuple):
    """A structure fitted to the rows in pieces.

    Attributes
    ----------
    system : System
    parameters : array of shape (n_parameters,)
        Of all batches, one after the other, where there are some.
    starts : array of shape (n_pieces, n_states)
    bounds : array of int of shape (n_pieces, 2)
    losses : array of shape (n_columns,)
        Sums of squared residuals over the noise; infinite where the integration failed.
    covariance : array of shape (n_parameters, n_parameters) or None
    ended : int
        How the integration ended.
    """

    system: System
    parameters: np.ndarray
    starts: np.ndarray
    bounds: np.ndarray
    losses: np.ndarray
    covariance: np.ndarray | None = None
    ended: int = DONE


def of_batch(system: System, parameters: np.ndarray, batch: int) -> np.ndarray:
    """Return the parameters of a batch, out of those of all or of one that is for all."""
    p = system.n_parameters
    return parameters if len(parameters) == p else parameters[batch * p : (batch + 1) * p]


class _Equations(NamedTuple):
    losses: np.ndarray
    start_blocks: np.ndarray
    mixed_blocks: np.ndarray
    block: np.ndarray
    start_cross: np.ndarray
    cross: np.ndarray
    ended: int


def _equations(system: System, rows: Rows, parameters, starts, bounds, with_tangent) -> _Equations:
    n, p, k = system.n_states, system.n_parameters, len(bounds)
    n_batches = len(parameters) // p if p else 1
    found = _Equations(
        np.zeros(system.n_columns),
        np.zeros((k, n, n)),
        np.zeros((k, n, p)),
        np.zeros((n_batches, p, p)),
        np.zeros((k, n)),
        np.zeros((n_batches, p)),
        DONE,
    )
    batches = rows.batches[rows.run_of(bounds)] if n_batches > 1 else np.zeros(k, dtype=np.int64)
    longest = int(np.max(bounds[:, 1] - bounds[:, 0]))
    path = np.empty((longest, n))
    tangents = np.empty((longest if with_tangent else 1, n, n + p))
    for i, (low, high) in enumerate(bounds.tolist()):
        b = batches[i]
        ended = integrate(
            system.tape, starts[i], of_batch(system, parameters, b), rows.t[low:high],
            rows.U[low:high], path, tangents, with_tangent, False, rows.pace, True,
        )  # fmt: skip
        if ended != DONE:
            found.losses[:] = np.inf
            return found._replace(ended=ended)
        add_normal_equations(
            path, tangents, rows.X[low:high], rows.told[low:high], with_tangent, found.losses,
            found.start_blocks[i], found.mixed_blocks[i], found.block[b], found.start_cross[i],
            found.cross[b],
        )  # fmt: skip
    if not np.isfinite(found.losses).all():
        found.losses[:] = np.inf
    mixed = np.zeros((k, n, n_batches, p))
    mixed[np.arange(k), :, batches] = found.mixed_blocks
    whole = block_diag(*(np.tril(block) + np.tril(block, -1).T for block in found.block))
    return found._replace(
        mixed_blocks=mixed.reshape(k, n, -1), block=whole, cross=found.cross.ravel()
    )


def _step(
    equations: _Equations, damping: float, scale, ties=None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the step of starts and of parameters."""
    blocks = equations.start_blocks.copy()
    diagonal = np.einsum("kii->ki", blocks)
    diagonal += damping * diagonal + 1e-12 * diagonal.max() + 1e-300
    try:
        inner = np.linalg.solve(
            blocks,
            np.concatenate([equations.mixed_blocks, equations.start_cross[:, :, None]], axis=2),
        )
        mixed, single = inner[:, :, :-1], inner[:, :, -1]
        block = equations.block + damping * np.diag(scale)
        block = block - np.einsum("kna,knb->ab", equations.mixed_blocks, mixed)
        cross = equations.cross - np.einsum("kna,kn->a", equations.mixed_blocks, single)
        if ties is not None:
            block, cross = ties.T @ block @ ties, ties.T @ cross
        size = np.sqrt(np.maximum(np.diag(block), 1e-300))
        unit = block / size / size[:, None] + 1e-13 * np.eye(len(size))
        step = np.linalg.solve(unit, cross / size) / size
        if ties is not None:
            step = ties @ step
    except np.linalg.LinAlgError:
        return None
    return single - mixed @ step, step


def shoot(
    system: System,
    rows: Rows,
    parameters: np.ndarray,
    bounds: np.ndarray,
    starts: np.ndarray,
    *,
    max_steps: int,
    deadline: float = np.inf,
    lower: np.ndarray | None = None,
    upper: np.ndarray | None = None,
    ties: np.ndarray | None = None,
    starts_only: bool = False,
) -> Shot:
    """Fit parameters and starts of pieces to the rows.

    Parameters
    ----------
    system : System
    rows : Rows
    parameters : array of shape (n_parameters,)
        Where to begin.
    bounds : array of int of shape (n_pieces, 2)
    starts : array
        Where each piece begins.
    max_steps : int
    deadline : float, default=inf
        Time of `time.monotonic` after which no step is begun.
    lower, upper : arrays of shape (n_parameters,), default=None
        Bounds of parameters.
    ties : array of shape (n_parameters, n_free), default=None
        Parameters are these combinations of free ones.
    starts_only : bool, default=False
        Whether parameters stay as they are.
    """
    damping = 1e-3
    if starts_only:
        ties = np.zeros((len(parameters), 0))
    least = settings.EXACT_MISFIT * len(rows.t)
    starts = np.array(starts, dtype=np.float64)
    here = _equations(system, rows, parameters, starts, bounds, True)
    if not np.isfinite(here.losses).all():
        return Shot(system, parameters, starts, bounds, here.losses, None, here.ended)
    scale = np.diag(here.block).copy()
    for _ in range(max_steps):
        if time.monotonic() > deadline:
            break
        scale = np.maximum(scale, np.diag(here.block))
        gain = 0.0
        for _ in range(6):
            step = _step(here, damping, scale, ties)
            if step is not None and np.isfinite(step[1]).all() and np.isfinite(step[0]).all():
                trial = parameters + step[1]
                if lower is not None or upper is not None:
                    trial = np.clip(trial, lower, upper)
                there = _equations(system, rows, trial, starts + step[0], bounds, False)
                gain = here.losses.sum() - there.losses.sum()
                if gain > 0.0:
                    parameters, starts = trial, starts + step[0]
                    damping = max(damping / 10.0, 1e-9)
                    break
            damping *= 10.0
        if not gain > 0.0:
            break
        total = here.losses.sum()
        here = _equations(system, rows, parameters, starts, bounds, True)
        is_poor = total > settings.HOPELESS * len(rows.t) * system.n_columns
        least_gain = settings.POOR_GAIN if is_poor else settings.SHOT_GAIN
        if not np.isfinite(here.losses).all() or gain < least_gain * max(total, least):
            break
    covariance = None
    if np.isfinite(here.losses).all():
        covariance = _covariance(here, ties)
    return Shot(system, parameters, starts, bounds, here.losses, covariance, here.ended)


def _covariance(equations: _Equations, ties=None) -> np.ndarray:
    """Return the covariance of the parameters, whatever the starts."""
    blocks = equations.start_blocks.copy()
    diagonal = np.einsum("kii->ki", blocks)
    diagonal += 1e-12 * diagonal.max() + 1e-300
    mixed = np.linalg.solve(blocks, equations.mixed_blocks)
    block = equations.block - np.einsum("kna,knb->ab", equations.mixed_blocks, mixed)
    if ties is not None:
        block = ties.T @ block @ ties
    size = np.sqrt(np.maximum(np.diag(block), 1e-300))
    unit = block / size / size[:, None]
    inverse = np.linalg.pinv((unit + unit.T) / 2, rcond=1e-13, hermitian=True)
    with np.errstate(over="ignore", invalid="ignore"):  # of a parameter that changes nothing
        covariance = inverse / size / size[:, None]
        return covariance if ties is None else ties @ covariance @ ties.T


def path_of(shot: Shot, rows: Rows) -> tuple[np.ndarray, bool]:
    """Return the fitted path on all rows, and whether it could be integrated."""
    n = shot.system.n_states
    path = np.full((len(rows.t), n), np.nan)
    nothing = np.empty((1, n, n + shot.system.n_parameters))
    fine = True
    batches = rows.batches[rows.run_of(shot.bounds)]
    for start, batch, (low, high) in zip(shot.starts, batches, shot.bounds, strict=True):
        parameters = of_batch(shot.system, shot.parameters, batch)
        ended = integrate(
            shot.system.tape, start, parameters, rows.t[low:high], rows.U[low:high],
            path[low:high], nothing, False, False, rows.pace, True,
        )  # fmt: skip
        fine = fine and ended == DONE
    return path, fine
