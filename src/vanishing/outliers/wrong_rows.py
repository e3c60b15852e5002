"""Which training rows are wrong: those far from laws, unless their places or values explain it."""

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.model import Model
from vanishing.outliers.quantiles import median
from vanishing.outliers.robust import told
from vanishing.outliers.thresholds import beyond_tail, breaking


def wrong_rows(model: Model, X: np.ndarray, weight: np.ndarray):
    """Return how far rows are from laws, with the sides of these, and which rows are wrong.

    Distances and sides are zero where they tell nothing of the rows.

    Parameters
    ----------
    model : Model
    X : array of shape (n_rows, n_columns)
        Rows that differ from one another.
    weight : array of shape (n_rows,)

    Returns
    -------
    off, side : array of shape (n_rows,)
        As `Model.off` has them.
    wrong : array of bool of shape (n_rows,)
    """
    none = np.zeros(len(X)), np.zeros(len(X)), np.zeros(len(X), dtype=bool)
    # Of rows that are repeated, as those of few values are, distances are no distribution.
    if np.square(weight).sum() * len(weight) > 1.5 * weight.sum() ** 2:
        return none
    off, side = model.off(X)
    wrong = off >= breaking(off, weight, side)
    other = of_another_value(X, weight, wrong)
    if other.any():
        off = np.where(other, median(off, weight), off)
        wrong = off >= breaking(off, weight, side)
    # Rows beyond a valley, not beyond the tail, may be those of a place.
    tail = beyond_tail(off, weight, side)
    near = wrong & (off < tail)
    if near.any() and _have_a_place(model.features, X, weight, near):
        off = np.where(near, median(off, weight), off)
        wrong = off >= breaking(off, weight, side)
        if np.any(wrong & (off < tail)):
            return none
    return off, side, wrong


def of_another_value(X: np.ndarray, weight: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """Return which rows do not have the usual value of a column, where that is what makes rows odd.

    A valve that is mostly shut obeys laws while it is. What it does else comes again, and a wrong
    value rarely does.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    weight : array of shape (n_rows,)
    odd : array of bool of shape (n_rows,)

    Returns
    -------
    other : array of bool of shape (n_rows,)
    """
    others = np.zeros(len(X), dtype=bool)
    total = weight[odd].sum(), weight[~odd].sum()
    for column in X.T if odd.any() else ():
        other = column != median(column, weight)
        if 2.0 * weight[other].sum() > weight.sum():
            continue
        both = odd & other
        is_same = weight[both].sum() > settings.SAME_ROWS * total[0]
        is_same &= weight[~odd & ~other].sum() > settings.SAME_ROWS * total[1]
        if is_same and 2 * len(np.unique(column[both])) <= np.count_nonzero(both):
            others |= other
    return others


def _have_a_place(features: Features, X, weight, wrong: np.ndarray) -> bool:
    """Say whether places of rows tell that they are wrong.

    Where noise grows, rows of large values are a second hump.
    """
    z = features.standardised(X, settings.FIT_LIMIT)
    return told(z, weight, np.where(wrong, 0.0, weight), wrong) > settings.PLACE
