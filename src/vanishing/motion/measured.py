"""Runs as they were measured: rows in the order of time, some cells of which may be missing."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vanishing._threads import spread
from vanishing.motion import settings
from vanishing.motion.smoothing import Measured, SmoothPath, smoothed


class MeasuredRun(NamedTuple):
    """Rows of one run, in the order of time.

    Attributes
    ----------
    label : object
    t : array of shape (n_rows,)
    X : array of shape (n_rows, n_columns)
        NaN where a cell is missing.
    U : array of shape (n_rows, n_inputs)
    weight : array of shape (n_rows,)
    begin : float
        The time that ``t`` is counted from, as it was given.
    batch : int
        Place of its batch, where constants differ between batches.
    """

    label: object
    t: np.ndarray
    X: np.ndarray
    U: np.ndarray
    weight: np.ndarray
    begin: float = 0.0
    batch: int = 0


def cut_runs(runs: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return runs of which long ones are cut into several."""
    found = []
    for run in runs:
        n = -(-len(run.t) // settings.LONGEST_RUN)
        edges = np.linspace(0, len(run.t), n + 1).round().astype(int)
        for low, high in pairwise(edges):
            part = slice(low, high)
            found.append(
                run._replace(t=run.t[part], X=run.X[part], U=run.U[part], weight=run.weight[part])
            )
    return found


class SmoothRun(NamedTuple):
    """A run with its smooth paths.

    Attributes
    ----------
    measured : MeasuredRun
    paths : tuple of SmoothPath
        One per column.
    sigma : array of shape (n_rows, n_columns)
        Standard deviation of the noise, not below the floor; infinite where a cell is missing.
    nodes : array of shape (n_rows - 1, n_nodes)
        Times between neighbouring rows at which integrands are evaluated.
    """

    measured: MeasuredRun
    paths: tuple[SmoothPath, ...]
    sigma: np.ndarray
    nodes: np.ndarray

    def states(self, t: np.ndarray, order: int) -> np.ndarray:
        """Return smooth columns, with their derivatives for order 2, and inputs at some times."""
        rows = [path(t) for path in self.paths]
        if order == 2:
            rows += [path(t, 1) for path in self.paths]
        run = self.measured
        rows += [np.interp(t, run.t, column) for column in run.U.T]
        return np.array(rows)


# Gauss-Legendre on [0, 1]: exact for polynomials of degree 5.
NODES = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class Noise(NamedTuple):
    """The noise of columns.

    Attributes
    ----------
    typical : array of shape (n_columns,)
        Root mean square of it, as it was given or estimated.
    floor : array of shape (n_columns,)
        Below which nothing is to be gained.
    is_given : bool
        Whether users said how large it is.
    """

    typical: np.ndarray
    floor: np.ndarray
    is_given: bool = False

    @property
    def is_below(self) -> np.ndarray:
        """Say of which columns the noise is below the floor."""
        return self.typical < self.floor


def smooth_runs(
    runs: Sequence[MeasuredRun], noise: np.ndarray | None
) -> tuple[list[SmoothRun], Noise]:
    """Return the smooth paths of runs, and the noise about them.

    Parameters
    ----------
    runs : sequence of MeasuredRun
    noise : array of shape (n_columns,), or None
        Standard deviations, where they are known.
    """
    n_columns = runs[0].X.shape[1]
    floor = settings.NOISE_FLOOR * np.nanstd(np.concatenate([run.X for run in runs]), axis=0)
    of_columns = spread(lambda j: _paths(runs, j, noise), range(n_columns))
    paths = list(zip(*of_columns, strict=True))
    squares = np.zeros((2, n_columns))
    smooth = []
    for run, of_run in zip(runs, paths, strict=True):
        sigma = np.full(run.X.shape, np.inf)
        for j, path in enumerate(of_run):
            is_there = np.isfinite(run.X[:, j])
            weight = run.weight[is_there]
            squares[:, j] += weight @ path.noise**2, weight.sum()
            sigma[is_there, j] = np.hypot(path.noise, floor[j])
        sigma /= np.sqrt(run.weight)[:, np.newaxis]
        nodes = run.t[:-1, np.newaxis] + np.diff(run.t)[:, np.newaxis] * NODES
        smooth.append(SmoothRun(run, tuple(of_run), sigma, nodes))
    return smooth, Noise(np.sqrt(squares[0] / squares[1]), floor, noise is not None)


def _paths(runs: Sequence[MeasuredRun], column: int, noise: np.ndarray | None) -> list[SmoothPath]:
    rows = []
    for run in runs:
        is_there = np.isfinite(run.X[:, column])
        rows.append(Measured(run.t[is_there], run.X[is_there, column], run.weight[is_there]))
    return smoothed(rows, None if noise is None else float(noise[column]))
