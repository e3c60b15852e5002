"""Quantiles of rows that have weights: a row of weight 2 counts as that row twice."""

import numpy as np


def quantiles(values: np.ndarray, weight: np.ndarray, levels) -> np.ndarray:
    """Return quantiles along the first axis, shape (n_levels, ...).

    Where the share of rows up to a value is exactly a level, it is the mean of that value and the
    next; so that multiplying all weights, or repeating all rows, changes nothing.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim > 1:
        columns = np.ascontiguousarray(values.T)
        return np.stack([quantiles(column, weight, levels) for column in columns], axis=-1)
    order = np.argsort(values)  # equal values may come in any order
    share = np.cumsum(weight[order])
    share /= share[-1]
    last, tie = len(values) - 1, 1e-9  # share of the weight that is rounding
    results = []
    for level in levels:
        left = min(np.searchsorted(share, level - tie), last)
        right = min(np.searchsorted(share, level + tie), last)
        results.append(0.5 * (values[order[left]] + values[order[right]]))
    return np.array(results)


def median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the median."""
    return float(quantiles(values, weight, (0.5,))[0])
