"""Quantiles of rows that have weights: a row of weight 2 counts as that row twice."""

import numpy as np


def quantiles(values: np.ndarray, weight: np.ndarray, levels) -> np.ndarray:
    """Return quantiles along the first axis, shape (n_levels, ...).

    Where the share of rows up to a value is exactly a level, it is the mean of that value and the
    next; so that multiplying all weights, or repeating all rows, changes nothing.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim > 1 and (weight == weight[0]).all():
        return _of_columns(np.sort(np.ascontiguousarray(values.T), axis=-1), levels)
    if values.ndim > 1:
        columns = np.ascontiguousarray(values.T)
        return np.stack([quantiles(column, weight, levels) for column in columns], axis=-1)
    order = np.argsort(values)  # equal values may come in any order
    share = np.cumsum(weight[order])
    share /= share[-1]
    return np.array([0.5 * (values[order[i]] + values[order[j]]) for i, j in _ends(share, levels)])


def _ends(share: np.ndarray, levels) -> list[tuple[int, int]]:
    """Return the places of the two values whose mean each quantile is."""
    last, tie = len(share) - 1, 1e-9  # share of the weight that is rounding
    return [
        (
            min(int(np.searchsorted(share, level - tie)), last),
            min(int(np.searchsorted(share, level + tie)), last),
        )
        for level in levels
    ]


def _of_columns(columns: np.ndarray, levels) -> np.ndarray:
    """Return quantiles of rows that count alike; values increase along the last axis."""
    share = np.arange(1.0, columns.shape[-1] + 1.0) / columns.shape[-1]
    return np.stack([0.5 * (columns[..., i] + columns[..., j]) for i, j in _ends(share, levels)])


def median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the median."""
    return float(quantiles(values, weight, (0.5,))[0])
