"""Residuals of which some are wild: Student's distribution, which no few rows can decide."""

import numba
import numpy as np

_FREEDOM = 3.0  # degrees of freedom: tails in which a row beyond all others costs its logarithm
_STEPS = 40
_MEDIAN = 0.585  # of the squares of Student's distribution with that freedom and scale 1


def pulls(residual: np.ndarray, scale: float) -> np.ndarray:
    """Return how much rows count in a fit, for a squared scale: those far away hardly."""
    with np.errstate(over="ignore"):
        return (_FREEDOM + 1.0) / (_FREEDOM + residual**2 / scale)


def squared_scale(residual: np.ndarray, weight: np.ndarray) -> float:
    """Return the squared scale that is most likely for residuals."""
    size = np.abs(residual)
    order = np.argsort(size, kind="stable")
    total = np.cumsum(weight[order])
    middle = order[np.searchsorted(total, total[-1] / 2)]
    with np.errstate(over="ignore"):
        squares = residual**2
    least = max(float(squares.max()) * 1e-30, 1e-300)
    start = max(float(squares[middle]) / _MEDIAN, least)
    return _likeliest(squares, np.ascontiguousarray(weight), start, least)


@numba.njit(cache=True, error_model="numpy")
def _likeliest(squares, weight, scale, least):
    """Return the squared scale that steps from a first one lead to: a weighted mean of squares."""
    count = np.sum(weight)
    for _ in range(_STEPS):
        last, total = scale, 0.0
        for i in range(len(squares)):
            total += weight[i] * squares[i] / (_FREEDOM + squares[i] / last)
        scale = (_FREEDOM + 1.0) * total / count
        if scale < least:
            scale = least
        if abs(scale - last) <= 1e-4 * last:
            break
    return scale


def log_likelihood(residual: np.ndarray, weight: np.ndarray, scale: float | None = None) -> float:
    """Return the mean logarithm of the likelihood of a row; by default at the likeliest scale."""
    scale = squared_scale(residual, weight) if scale is None else scale
    with np.errstate(over="ignore"):
        tails = np.log1p(residual**2 / (_FREEDOM * scale))
    return -0.5 * np.log(scale) - 0.5 * (_FREEDOM + 1.0) * float(weight @ tails / weight.sum())


def centre(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the most likely centre of values."""
    middle = float(np.median(values))
    scale = squared_scale(values - middle, weight)
    for _ in range(_STEPS):
        pull = weight * pulls(values - middle, scale)
        last, middle = middle, float(pull @ values / pull.sum())
        scale = float(pull @ (values - middle) ** 2 / weight.sum())
        if not abs(middle - last) > 1e-4 * np.sqrt(scale):
            break
    return middle


def explained_share(y: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> float:
    """Return the share of a target that residuals say is explained: R^2 for wild noise.

    It is 1 - exp(-2 g), g being the mean gain in log-likelihood over a constant. For normal rows
    that is R^2; where a few rows are far larger than all others, R^2 is theirs alone, and this
    share is that of most rows.
    """
    gain = log_likelihood(residual, weight) - log_likelihood(y - centre(y, weight), weight)
    with np.errstate(over="ignore"):
        return float(1.0 - np.exp(-2.0 * gain))
