"""Noise that grows with what is measured: how large it is on each row."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.fitting import settings


class Variance(NamedTuple):
    """Variance of the noise of rows: factor (floor + |s / size|^power), s the prediction.

    Attributes
    ----------
    floor : float
        Of noise that does not grow.
    power : int
        1 or 2; 0 where noise is equal on all rows.
    size : float
        Largest prediction, so that powers do not overflow.
    factor : float
        1 where only ratios of variances matter.
    is_bounded : bool
        Whether the floor is the least that is tried: a bound of what rows count, not their noise.
    """

    floor: float = 0.0
    power: int = 0
    size: float = 1.0
    factor: float = 1.0
    is_bounded: bool = False

    def at(self, predicted: np.ndarray) -> np.ndarray:
        """Return the variance of rows."""
        return self.factor * (self.floor + np.abs(predicted / self.size) ** self.power)

    def share(self, predicted: np.ndarray) -> np.ndarray:
        """Return the share of rows' variance that is noise; the rest bounds what they count."""
        if not self.is_bounded:
            return np.ones_like(predicted)
        return 1.0 - self.factor * self.floor / self.at(predicted)


def relative(predicted: np.ndarray) -> Variance:
    """Return the variance of errors that are relative to what is predicted."""
    largest = max(float(np.max(np.abs(predicted))), 1e-300)
    typical = float(np.median(np.abs(predicted / largest) ** 2))
    return Variance(settings.LEAST_VARIANCE * max(typical, 1e-12), 2, largest)


def mean(squares: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the mean along the last axis."""
    return np.average(squares, axis=-1, weights=weight)


def without_tails(squares: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the mean along the last axis of squares, of which few may be wild."""
    middle = np.median(squares, axis=-1, keepdims=True)
    return mean(np.minimum(squares, settings.LARGEST_SQUARE * middle), weight)


def variance_of_noise(
    residuals: np.ndarray,
    predicted: np.ndarray,
    weight: np.ndarray | None = None,
    spread: Callable[[np.ndarray, np.ndarray], np.ndarray] = mean,
    least_gain: float = 0.0,
) -> Variance:
    """Return the likeliest variance of rows: equal, or one that grows, on a grid of its floor.

    Parameters
    ----------
    residuals : array of shape (n_rows,)
    predicted : array of shape (n_rows,)
    weight : array of shape (n_rows,), default=None
        Of how many observations each row tells.
    spread : callable, default=mean
        Of squares, along the last axis.
    least_gain : float, default=0
        Twice the gain in log-likelihood from which on noise is not equal.
    """
    largest = max(float(np.max(np.abs(predicted))), 1e-300)
    step = -(-len(residuals) // settings.VARIANCE_ROWS)
    weight = (np.ones_like(residuals) if weight is None else weight)[::step]
    left = ((residuals / max(float(np.max(np.abs(residuals))), 1e-300)) ** 2)[::step]
    size = np.abs(predicted / largest)[::step]
    best = np.log(max(float(spread(left, weight)), 1e-300)) - least_gain / weight.sum()
    variance = Variance()
    for power in (1, 2):
        grown = size**power
        least = settings.LEAST_VARIANCE * max(float(np.median(grown)), 1e-12)
        floors = np.geomspace(least, 1e3, settings.VARIANCE_GRID)
        tried = floors[:, np.newaxis] + grown
        score = np.log(np.maximum(spread(left / tried, weight), 1e-300))
        score += mean(np.log(tried), weight)
        place = int(np.argmin(score))
        if score[place] < best:
            best = float(score[place])
            variance = Variance(float(floors[place]), power, largest, is_bounded=place == 0)
    return variance
