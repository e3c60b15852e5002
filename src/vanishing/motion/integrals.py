"""Integrals of candidate terms along smooth runs: what moves, without any derivative.

x(t) less the sum of coefficients times integrals of terms is constant along every run: a linear
problem. Its errors are the noise of a row, and errors of integrals, which grow along a run like a
random walk. Rows are whitened for both, which projects the constant of each run out.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np

from vanishing.motion import settings
from vanishing.motion.candidates import Candidate
from vanishing.motion.measured import NODE_WEIGHTS, SmoothRun


class Along(NamedTuple):
    """Smooth variables of runs, on the nodes between their rows.

    Attributes
    ----------
    runs : tuple of SmoothRun
    variables : tuple of arrays of shape (n_variables, (n_rows - 1) * n_nodes)
        Of each run.
    order : {1, 2}
    """

    runs: tuple[SmoothRun, ...]
    variables: tuple[np.ndarray, ...]
    order: int

    @property
    def low(self) -> np.ndarray:
        """The smallest value of each variable."""
        return np.min([v.min(axis=1) for v in self.variables], axis=0)

    @property
    def high(self) -> np.ndarray:
        """The largest value of each variable."""
        return np.max([v.max(axis=1) for v in self.variables], axis=0)

    def integrals(self, candidates: Sequence[Candidate]) -> list[np.ndarray]:
        """Return the integrals of terms from the first row of a run to each, per run.

        Shape (n_candidates, n_rows); NaN or infinite where a term is not defined.
        """
        with np.errstate(all="ignore"):
            values = [
                np.array([candidate.values(variables) for candidate in candidates])
                for variables in self.variables
            ]
            return self.integrated(values)

    def integrated(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return integrals from values on the nodes, shape (n_terms, n_nodes), of each run."""
        found = []
        for run, of_run in zip(self.runs, values, strict=True):
            steps = np.diff(run.measured.t)
            on_nodes = of_run.reshape(len(of_run), len(steps), len(NODE_WEIGHTS))
            found.append(_integrated(on_nodes, steps, self.order))
        return found


def along(runs: Sequence[SmoothRun], order: int) -> Along:
    """Return the smooth variables of runs."""
    variables = tuple(run.states(run.nodes.ravel(), order) for run in runs)
    return Along(tuple(runs), variables, order)


def _integrated(values: np.ndarray, steps: np.ndarray, order: int) -> np.ndarray:
    """Return integrals, or double integrals, from values on nodes between rows."""
    total = np.zeros((len(values), len(steps) + 1))
    np.cumsum(values @ NODE_WEIGHTS * steps, axis=1, out=total[:, 1:])
    if order == 1:
        return total
    # The integral of the integral: that at the start of a step, and the moment of what is added.
    nodes = 1.0 - 0.5 - np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
    moments = values @ (NODE_WEIGHTS * nodes) * steps**2
    double = np.zeros_like(total)
    np.cumsum(total[:, :-1] * steps + moments, axis=1, out=double[:, 1:])
    return double


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _whitened(columns, sigma, steps, walk, rows):
    """Whiten columns for noise and a random walk of variance ``walk`` per unit of time.

    Rows come out as prediction errors over their deviations, as a Kalman filter has them; the first
    row that is there tells where the run starts. Returns the sum of the logarithms of variances.
    """
    n = 0
    logs = 0.0
    level = np.zeros(len(columns))
    variance = -1.0
    for i in range(len(sigma)):
        if variance >= 0.0 and i > 0:
            variance += walk * steps[i - 1]
        if not sigma[i] < np.inf:
            continue
        noise = sigma[i] ** 2
        if variance < 0.0:
            level[:] = columns[:, i]
            variance = noise
            continue
        total = variance + noise
        gain, scale = variance / total, 1.0 / np.sqrt(total)
        for k in range(len(columns)):
            error = columns[k, i] - level[k]
            rows[n, k] = error * scale
            level[k] += gain * error
        variance *= noise / total
        logs += np.log(total)
        n += 1
    return n, logs


class WhitenedRows(NamedTuple):
    """Whitened integrals and the measured column, of all runs.

    Attributes
    ----------
    terms : array of shape (n_rows, n_candidates)
    target : array of shape (n_rows,)
    logs : float
        Sum of the logarithms of the rows' variances.
    """

    terms: np.ndarray
    target: np.ndarray
    logs: float


def whitened(
    runs: Sequence[SmoothRun],
    integrals: Sequence[np.ndarray],
    column: int,
    walk: float,
    order: int,
    known: Sequence[np.ndarray] | None = None,
) -> WhitenedRows:
    """Return the rows of a linear problem for one column.

    Parameters
    ----------
    runs : sequence of SmoothRun
    integrals : sequence of arrays of shape (n_candidates, n_rows)
        Of each run.
    column : int
    walk : float
        Variance that errors of integrals gather per unit of time, in units of the mean variance of
        the noise per mean step.
    order : {1, 2}
        For 2, the velocity at the start of a run is projected out as well.
    known : sequence of arrays of shape (n_rows,), default=None
        Integrals of what is known of the right-hand side.
    """
    terms, targets, logs = [], [], 0.0
    for i, (run, columns) in enumerate(zip(runs, integrals, strict=True)):
        t, sigma = run.measured.t, run.sigma[:, column]
        x = np.nan_to_num(run.measured.X[:, column])
        if known is not None:
            x = x - known[i]
        stacked = np.vstack([columns, x, (t - t[0])[np.newaxis]])
        square = float(np.mean(sigma[np.isfinite(sigma)] ** 2))
        unit = square * (len(t) - 1) / float(t[-1] - t[0])
        rows = np.empty((len(t), len(stacked)))
        n, log = _whitened(stacked, sigma, np.diff(t), walk * unit, rows)
        rows = rows[:n]
        if order == 2 and n:
            along = rows[:, -1]
            rows = rows - np.outer(along, along @ rows) / max(float(along @ along), 1e-300)
        terms.append(rows[:, :-2])
        targets.append(rows[:, -2])
        logs += log
    return WhitenedRows(np.concatenate(terms), np.concatenate(targets), logs)


def likeliest_walk(
    runs: Sequence[SmoothRun],
    integrals: Sequence[np.ndarray],
    column: int,
    order: int,
    known: Sequence[np.ndarray] | None = None,
) -> float:
    """Return the likeliest random walk of the errors of a few terms fitted together."""
    best, chosen = np.inf, 0.0
    for walk in (0.0, *settings.WALKS):
        rows = whitened(runs, integrals, column, walk, order, known)
        coef = np.linalg.lstsq(rows.terms, rows.target, rcond=1e-12)[0]
        rest = rows.target - rows.terms @ coef
        loss = float(rest @ rest) + rows.logs
        if loss < best:
            best, chosen = loss, walk
    return chosen
