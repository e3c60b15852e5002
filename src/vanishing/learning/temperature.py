"""Probabilities from decision values: one temperature for all classes, learned by log-loss.

The probabilities of a row are sigmoid(d / T) and softmax(d / T) of its decision values d: without
a shift, they name the class that `predict` names. The log-loss of rows is convex in the rate 1 / T,
so that its slope has one zero. One row in N + 2 counts as one of another class (Laplace's rule of
succession: what N rows without a mistake say of the next one), without which the temperature of
rows that are all on the right side would be zero.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from vanishing.learning import settings
from vanishing.rows.arrays import namespace


def learn_temperature(scores: np.ndarray, y: np.ndarray, weight=None) -> float:
    """Return the temperature of least log-loss on decision values of rows not trained on.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values.
    y : ndarray of shape (n_samples,)
        Places of the rows' classes.
    weight : ndarray of shape (n_samples,), default=None
        Weights of the rows; one of weight 2 counts as two rows.

    Returns
    -------
    temperature : float
        In [0.001, 1000].
    """
    total = float(len(y) if weight is None else weight.sum())
    return least_loss(Loss(scores, y, weight, total).slopes)


def least_loss(slopes: Callable, n_rates: int = 1, accuracy: float = 1e-8) -> float:
    """Return the temperature of least log-loss, by Newton's method in the logarithm of the rate.

    Parameters
    ----------
    slopes : callable
        ``slopes(rates)`` returns the sum over all rows of `Loss.slopes`.
    n_rates : int, default=1
        Rates that one call tries: several where each call is a pass over rows elsewhere.
    accuracy : float, default=1e-8
        Length of the last step. The error is about its square.

    Returns
    -------
    temperature : float
    """
    low, high = -math.log(settings.HOTTEST), -math.log(settings.COLDEST)
    offsets = np.linspace(-1.0, 1.0, n_rates) if n_rates > 1 else np.zeros(1)
    logs = high * offsets if n_rates > 1 else np.array([-math.log(0.3)])  # a usual one
    length = math.inf
    while length > accuracy and low < high:
        rates = np.exp(logs)
        slope, curvature = slopes(rates)
        low = float(logs[slope <= 0.0].max(initial=low))
        high = float(logs[slope > 0.0].min(initial=high))
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(curvature > 0.0, -slope / (rates * curvature), np.inf)
        nearest = int(np.argmin(np.abs(steps)))
        centre = logs[nearest] + steps[nearest]
        if not low < centre < high:  # it leads out: half of what is left
            centre = 0.5 * (low + high)
        length = abs(centre - logs[nearest])
        logs = np.clip(centre + length * offsets, low, high)
    return float(np.clip(math.exp(-centre), settings.COLDEST, settings.HOTTEST))


class Loss:
    """The log-loss of rows, in memory or on a device, as a function of the rate 1 / T.

    Parameters
    ----------
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        Decision values, of NumPy or of a device.
    y, weight : array of shape (n_samples,)
        Places of the rows' classes, and weights of the rows or None, where the scores are.
    total : float
        Weight of all rows, those elsewhere included.
    """

    def __init__(self, scores, y, weight, total: float):
        self.xp = xp = namespace(scores)
        two = scores.ndim == 1
        # Less than the largest of a row: probabilities depend on differences alone.
        if two:
            zeros = xp.zeros_like(scores)
            scores = [xp.where(side < 0.0, side, zeros) for side in (-scores, scores)]
        else:
            largest = xp.max(scores, axis=1)
            scores = [scores[:, k] - largest for k in range(scores.shape[1])]
        self.weight = xp.ones_like(scores[0]) if weight is None else weight
        # Rows that are certainly of their class, but for one in total + 2 of any other.
        mistaken = 1.0 / (total + 2.0)
        other = mistaken / (len(scores) - 1)
        self.expected = 0.0
        for k, values in enumerate(scores):
            own = xp.where(y == k, values, xp.zeros_like(values))
            of_rows = other * values + (1.0 - mistaken - other) * own
            self.expected = self.expected + self.weight @ of_rows
        self.zeros = 0.0  # scores that are known to be zero
        if xp is np:
            self.scores: Any = np.column_stack(scores)
        elif two:  # one of both, whichever it is
            self.scores, self.zeros = [scores[0] + scores[1]], 1.0
        else:
            self.scores = scores

    def slopes(self, rates: np.ndarray):
        """Return the derivatives at some rates, of shape (2, n_rates), where the scores are."""
        xp = self.xp
        if xp is np:
            moments = [_moments(self.scores, self.weight, rate) for rate in rates]
        else:
            moments = [self._moments(rate) for rate in rates.tolist()]
        slopes, curvatures = (xp.stack(sums) for sums in zip(*moments, strict=True))
        return xp.stack([slopes - self.expected, curvatures])

    def _moments(self, rate: float):
        """Return what the compiled function of the same name does, on a device."""
        total, mean, square = self.zeros, 0.0, 0.0
        for scores in self.scores:
            chance = self.xp.exp(rate * scores)
            weighted = chance * scores
            total, mean, square = total + chance, mean + weighted, square + weighted * scores
        mean = mean / total
        return self.weight @ mean, self.weight @ (square / total - mean * mean)


@njit(cache=True, nogil=True)
def _moments(scores, weight, rate):
    """Return the sums over rows of mean and variance of the scores by their probabilities."""
    means = 0.0
    variances = 0.0
    for i in range(scores.shape[0]):
        total = mean = square = 0.0
        for score in scores[i]:
            chance = math.exp(rate * score) if score else 1.0
            total += chance
            mean += chance * score
            square += chance * score * score
        mean /= total
        means += weight[i] * mean
        variances += weight[i] * (square / total - mean * mean)
    return means, variances


def probabilities(scores, temperature: float):
    """Return the probabilities of the classes, of shape (n_samples, n_classes).

    ``scores`` are decision values, of NumPy or of a device.
    """
    xp = namespace(scores)
    scores = xp.clip(scores, -1e300, 1e300)  # infinity less infinity is no number
    if scores.ndim == 1:
        scores = xp.stack([-0.5 * scores, 0.5 * scores], axis=1)
    chances = xp.exp((scores - xp.max(scores, axis=1, keepdims=True)) / temperature)
    return chances / xp.sum(chances, axis=1, keepdims=True)
