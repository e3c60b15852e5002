"""Parameters that both questions about runs have: the noise of columns, and runs held out."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vanishing._types import RandomState
from vanishing.motion import settings


def runs_held_out(
    n_runs: int, random_state: RandomState, batches: np.ndarray | None = None
) -> np.ndarray:
    """Return which runs are held out: a quarter, or none of fewer than four.

    Of ``batches``, one run of each stays at least.
    """
    held_out = np.zeros(n_runs, dtype=bool)
    if n_runs >= settings.HELD_OUT:
        order = check_random_state(random_state).permutation(n_runs)
        if batches is not None:
            _, first = np.unique(batches[order], return_index=True)
            order = np.delete(order, first)
        held_out[order[: max(1, n_runs // settings.HELD_OUT)]] = True
    return held_out


def noise_of_columns(noise: Any, n_columns: int) -> np.ndarray | None:
    """Return the standard deviations of the noise, or None where they are unknown."""
    if noise is None:
        return None
    each = np.array(noise, dtype=np.float64)
    valid = each.shape in [(), (n_columns,)] and np.isfinite(each).all() and (each >= 0).all()
    if not valid:
        raise ValueError(
            f"noise must be None, or a number or {n_columns} numbers, one per column, that are "
            f"finite and not negative; got {noise!r}."
        )
    return np.broadcast_to(each, n_columns).copy()
