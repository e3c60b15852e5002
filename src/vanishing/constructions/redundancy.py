"""Generators that say nothing new near the rows, removed on request."""

import numpy as np

from vanishing.constructions import settings
from vanishing.estimators.fits import Remarks
from vanishing.rows.reader import RowReader


def constructed(model, rows: RowReader) -> Remarks:
    """Construct the generators of a model; remove redundant ones where that is asked for."""
    remarks = model._construct(rows)
    if getattr(model, "remove_redundant", False) and model.n_generators_:
        chosen = np.flatnonzero(~redundant(model.generators_, rows))
        model.keep(chosen, same_variety=True)
    return remarks


def redundant(generators, rows: RowReader) -> np.ndarray:
    """Say which generators have gradients in the span of earlier ones' on the rows.

    Near the rows the zeros of such a generator contain the common zeros of those before it, to
    first order: it adds no direction in which the rows do not vary.

    Parameters
    ----------
    generators : PolynomialSequence
    rows : RowReader

    Returns
    -------
    redundant : ndarray of bool of shape (n_generators,)
    """
    (sums,) = rows.ask("gradient_residuals", generators, settings.REDUNDANT)
    left, length, rounding = sums
    return left <= np.maximum(settings.REDUNDANT * length, rounding)
