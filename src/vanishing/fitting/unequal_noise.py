"""Noise that grows with what is measured: how large it is on each row."""

from collections.abc import Callable

import numpy as np

from vanishing.fitting import settings


def mean(squares: np.ndarray) -> np.ndarray:
    """Return the mean along the last axis."""
    return np.mean(squares, axis=-1)


def without_tails(squares: np.ndarray) -> np.ndarray:
    """Return the mean along the last axis of squares, of which few may be wild."""
    middle = np.median(squares, axis=-1, keepdims=True)
    return np.mean(np.minimum(squares, settings.LARGEST_SQUARE * middle), axis=-1)


def noise_variance(
    residuals: np.ndarray,
    predicted: np.ndarray,
    spread: Callable[[np.ndarray], np.ndarray] = mean,
    least_gain: float = 0.0,
) -> np.ndarray:
    """Return the variance of each row, but for a factor.

    It is taken to be equal or r + |s|^p with p = 1 or 2, s being the prediction: the likeliest of
    these on a grid of r.

    Parameters
    ----------
    residuals : array of shape (n_rows,)
    predicted : array of shape (n_rows,)
    spread : callable, default=mean
        Of squares, along the last axis.
    least_gain : float, default=0
        Twice the gain in log-likelihood from which on noise is not equal.
    """
    size = np.abs(predicted)
    # Powers of sizes near one do not overflow.
    size = size / max(float(np.max(size)), 1e-300)
    squares = (residuals / max(float(np.max(np.abs(residuals))), 1e-300)) ** 2
    step = -(-len(size) // settings.VARIANCE_ROWS)
    chosen, left = size[::step], squares[::step]
    best = np.log(max(float(spread(left)), 1e-300)) - least_gain / len(chosen)
    variance = np.ones_like(size)
    for power in (1, 2):
        grown = chosen**power
        least = settings.LEAST_VARIANCE * max(float(np.median(grown)), 1e-12)
        floors = np.geomspace(least, 1e3, settings.VARIANCE_GRID)
        tried = floors[:, np.newaxis] + grown
        score = np.log(np.maximum(spread(left / tried), 1e-300)) + np.log(tried).mean(axis=1)
        place = int(np.argmin(score))
        if score[place] < best:
            best, variance = float(score[place]), floors[place] + size**power
    return variance
