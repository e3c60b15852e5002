"""Columns that vary less than psi: each vanishes as a constant does, and that is said once."""

import numpy as np

from vanishing._threads import one_blas_thread
from vanishing._warnings import warn
from vanishing.algebra.monomials import CONSTANT_PLAN
from vanishing.rows.reader import Reader

_LISTED = 5  # columns that a warning names
_ROUNDING = 1e-13  # of a mean square, in which a variance is lost


def warn_of_small_columns(model, rows: Reader, names) -> None:
    """Warn of columns whose variance is at most psi, unless they are constant.

    For what a user has called ``fit`` of. Whoever fits several of them, of classes or of folds, on
    columns that it has scaled, does not ask.

    Parameters
    ----------
    model : OAVI, ABM, AVI or VCA
        Fitted to the rows.
    rows : Reader
    names : sequence of str
        Of the columns.
    """
    # Of a model that looks at the other classes, psi is that of a quotient.
    if model.psi <= 0 or getattr(model, "sees_others", False):
        return
    columns = _may_be_small(model)
    if not columns.size:
        return
    plan = CONSTANT_PLAN.extended(np.zeros_like(columns), columns)
    with one_blas_thread():
        mean, norm = rows.products(plan, slice(0, 1), slice(1, None))
    variance = norm - mean[0] ** 2
    is_small = (variance > _ROUNDING * norm) & (variance <= model.psi)
    small = [str(names[i]) for i in columns[is_small]]
    if not small:
        return
    shown = ", ".join(small[:_LISTED]) + (", ..." if len(small) > _LISTED else "")
    which = (
        f"each of {len(small)} columns ({shown}), which count as constants"
        if len(small) > 1
        else f"the column {shown}, which counts as a constant"
    )
    # Without numbers that change from fold to fold: Python shows the same warning once.
    warn(
        f"psi={model.psi:g} is at least the variance of {which} here. Take a smaller psi; or scale "
        "the columns, unless they are: with MaxAbsScaler for short laws, with MinMaxScaler for "
        "classification."
    )


def _may_be_small(model) -> np.ndarray:
    """Return the columns that may have a variance of at most psi, by what has been found."""
    terms = getattr(model, "terms_", None)
    if terms is None:  # VCA: combinations of columns that vanish come first
        stages = model.generators_.stages
        n_columns = model.n_features_in_ if stages and stages[0].n_generators else 0
        return np.arange(n_columns)
    # Such a column leads a generator of degree 1, and is no term of O.
    return np.flatnonzero(~terms[terms.sum(axis=1) == 1].any(axis=0))
