"""Columns that vary less than psi: each counts as a constant, and one warning names them."""

from collections.abc import Iterable

import numpy as np

from vanishing._warnings import warn


def varies_little(mean: np.ndarray, norm: np.ndarray, psi: float) -> np.ndarray:
    """Return which columns have a variance of at most psi, but are not constant.

    ``mean`` and ``norm`` are their means and mean squares.
    """
    variance = norm - mean**2
    return (variance > 1e-13 * norm) & (variance <= psi)


def warn_of_small_columns(psi: float, columns: Iterable[int], names) -> None:
    """Warn of columns whose variance is at most psi, if there are any.

    Called by the ``fit`` of one construction. Estimators that fit many of them, for classes or
    folds, on columns that they have scaled, do not call it.
    """
    small = [str(names[i]) for i in sorted(columns)]
    if not small:
        return
    shown = ", ".join(small[:5]) + (", ..." if len(small) > 5 else "")
    which = (
        f"each of {len(small)} columns ({shown}), which count as constants"
        if len(small) > 1
        else f"the column {shown}, which counts as a constant"
    )
    # Without numbers that change from fold to fold: Python shows the same warning once.
    warn(
        f"psi={psi:g} is at least the variance of {which} here. Take a smaller psi. If the columns "
        "are not scaled yet, scale them: with MaxAbsScaler for short laws, with MinMaxScaler for "
        "classification."
    )
