"""Do equations of motion keep what the runs keep? Conserved quantities along the fitted field."""

import warnings
from collections.abc import Sequence

import numpy as np

from vanishing.motion import settings
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.measured import MeasuredRun
from vanishing.motion.simulation import FittedMotion


def broken_quantities(
    motion: FittedMotion, runs: Sequence[MeasuredRun], names: Sequence[str]
) -> list[str]:
    """Return quantities that are conserved along the runs, and not by the equations.

    A quantity Q is conserved by dx/dt = f(x) where its gradient is orthogonal to f. Few runs, and
    runs of one column, have nothing to compare.
    """
    n_rows = sum(len(run.t) for run in runs)
    if len(runs) < settings.HELD_OUT or len(names) < 2 or n_rows > settings.COMPARED_ROWS:
        return []
    rows = [np.isfinite(run.X).all(axis=1) for run in runs]
    if min(part.sum() for part in rows) < settings.RUN_ROWS:
        return []
    X = np.concatenate([run.X[part] for run, part in zip(runs, rows, strict=True)])
    U = np.concatenate([run.U[part] for run, part in zip(runs, rows, strict=True)])
    groups = np.repeat(np.arange(len(runs)), [part.sum() for part in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ConservedQuantities(max_degree=2).fit(X, groups=groups)
        except ValueError:  # a column that is constant in all runs but for its inputs, and the like
            return []
    slopes = motion.derivatives(np.hstack([X, U]))
    scale = X.std(axis=0)
    broken = []
    for quantity in found.quantities_:
        gradient = quantity.gradient(X) * scale
        unit = slopes / scale
        along = np.sqrt(np.mean(np.sum(gradient * unit, axis=1) ** 2))
        size = np.sqrt(np.mean(np.sum(gradient**2, axis=1) * np.sum(unit**2, axis=1)))
        if along > settings.BROKEN * size:
            broken.append(quantity.to_text(names))
    return broken
