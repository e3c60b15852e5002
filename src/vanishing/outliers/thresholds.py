"""Where normal ends: scores of rows that a fit has not seen, and what follows from them."""

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.model import Model, Residuals
from vanishing.outliers.robust import Sums


def out_of_fold_scores(model: Model, sums: tuple[Sums, Sums], folds, X) -> np.ndarray:
    """Return the scores that rows have by the moments of all rows but those of their fold.

    Moments add up, so that those of all folds but one are a difference.

    Parameters
    ----------
    model : Model
    sums : pair of Sums
        Of all rows.
    folds : list of pair of Sums
        Of the rows of each fold.
    X : array of shape (n_rows, n_columns)
        In random order; row i is of fold i modulo the number of folds.
    """
    scores = np.empty(len(X))
    n = model.features.n
    for i, fold in enumerate(folds):
        rows = slice(i, None, len(folds))
        bulk, law = (whole - part for whole, part in zip(sums, fold, strict=True))
        if min(bulk.weight, law.weight) > 1e-6 * min(sums[0].weight, sums[1].weight):
            of_others = model._replace(bulk=Residuals.of(bulk, n), law=Residuals.of(law, n))
        else:
            of_others = model
        scores[rows] = of_others.scores(X[rows])
    return scores


def lowest_normal(scores: np.ndarray, weight: np.ndarray, rate: float) -> float:
    """Return a threshold that new rows, if they are as those with these scores, rarely fall below.

    Of m scores the k-th smallest has this chance at most k / (m + 1); where m is too small for the
    rate, the smallest one is taken. Wild rows do not count, unless they are the majority.
    """
    normal = scores >= -settings.WILD_SCORE
    if 2.0 * weight[normal].sum() >= weight.sum():
        scores, weight = scores[normal], weight[normal]
    order = np.argsort(scores)
    share = np.cumsum(weight[order])
    count = len(scores)
    wanted = np.floor(rate * (count + 1.0) + 1e-9) / count * share[-1]
    place = np.searchsorted(share, wanted * (1.0 - 1e-12))
    return float(scores[order[min(place, len(order) - 1)]])


def conformal_p_values(scores: np.ndarray, calibration: np.ndarray, weight) -> np.ndarray:
    """Return (1 + how many calibration scores are at most this one) / (1 + their number)."""
    order = np.argsort(calibration)
    share = np.concatenate([[0.0], np.cumsum(weight[order])])
    count = len(calibration)
    below = share[np.searchsorted(calibration[order], scores, side="right")] / share[-1]
    return (1.0 + below * count) / (1.0 + count)
