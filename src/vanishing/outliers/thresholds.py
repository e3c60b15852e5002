"""Where normal ends: scores of rows that a fit has not seen, and what follows from them."""

import numpy as np

from vanishing.outliers import settings


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
