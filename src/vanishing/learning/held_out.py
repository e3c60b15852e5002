"""What rows held out say of a search: an error that the choosing does not flatter, probabilities.

The best of many scores is partly the luckiest. So rows are drawn anew with repetition, the best is
chosen on the rows drawn, and its error is that on the others; the mean over many draws, and the
range of most of them, are an error and an interval for what has been chosen.

References: Tsamardinos, Greasidou, Borboudakis, "Bootstrapping the out-of-sample predictions for
efficient and accurate cross-validation", Machine Learning 107, 2018.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from vanishing.learning import settings


class HeldOutError(NamedTuple):
    """The share of rows whose label is wrong, and a 95 % interval for it."""

    error: float
    low: float
    high: float


def error_of_choosing(correct: np.ndarray, counts: np.ndarray, units: np.ndarray) -> HeldOutError:
    """Return the error of the best of several classifiers, chosen by the rows it is measured on.

    Parameters
    ----------
    correct : ndarray of bool of shape (n_samples, n_classifiers)
        Of which held-out rows the labels were right.
    counts : ndarray of shape (n_samples,)
        What each row counts.
    units : ndarray of int of shape (n_samples,)
        What is drawn: rows that are one row, or of one group, have the same number.

    Returns
    -------
    error : HeldOutError
    """
    units = np.unique(units, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    right = correct.astype(np.float32)
    n_draws = int(np.clip(settings.DRAWN_SCORES / right.size, *settings.DRAWS))
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(n_draws):
        times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)[units]
        drawn, left = (times * counts).astype(np.float32), (times == 0) * counts
        if left.any():
            best = int(np.argmax((drawn @ right).round(3)))
            errors.append(1.0 - float(left @ correct[:, best] / left.sum()))
    if not errors:  # a single row, or group
        errors = [1.0 - float(np.average(correct.mean(axis=1), weights=counts))]
    error = float(np.mean(errors))
    low, high = np.quantile(errors, [0.025, 0.975])
    # Not narrower than the interval of Clopper and Pearson: without a mistake all draws agree.
    n_rows = counts.sum() ** 2 / np.sum(counts**2)
    n_wrong = error * n_rows
    if n_wrong > 0.0:
        low = min(low, betaincinv(n_wrong, n_rows - n_wrong + 1.0, 0.025))
    if n_wrong < n_rows:
        high = max(high, betaincinv(n_wrong + 1.0, n_rows - n_wrong, 0.975))
    return HeldOutError(error, float(low), float(high))


def reliability(probabilities: np.ndarray, y: np.ndarray, weight=None) -> np.ndarray:
    """Return how often predicted classes are right, where they are said to be with a probability.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
    y : ndarray of int of shape (n_samples,)
        Places of the rows' classes.
    weight : ndarray of shape (n_samples,), default=None

    Returns
    -------
    table : ndarray of shape (n_bins, 3)
        Rows in bins of about as many each, by the probability of the predicted class: its mean, the
        share of the rows that are of this class, and their number.
    """
    named = probabilities.argmax(axis=1)
    chance = probabilities[np.arange(len(y)), named]
    right = named == y
    weight = np.ones(len(y)) if weight is None else weight
    order = np.argsort(chance, kind="stable")
    n_bins = int(np.clip(len(y) // settings.ROWS_PER_BIN, 1, settings.MOST_BINS))
    return np.array(
        [
            (
                np.average(chance[rows], weights=weight[rows]),
                np.average(right[rows], weights=weight[rows]),
                len(rows),
            )
            for rows in np.array_split(order, n_bins)
        ]
    )
