"""Values of generators on rows in memory or on a device."""

from collections.abc import Callable, Sequence

import numpy as np

from vanishing._threads import spread
from vanishing.rows import device
from vanishing.rows.arrays import (
    as_floats,
    floating_dtype,
    is_device_array,
    like,
    namespace,
    row_slices,
    slices,
)

_ROWS = 1 << 16  # of NumPy arrays that are scaled and evaluated at a time


def _empty(X, n_columns: int, dtype):
    shape = (X.shape[0], n_columns)
    if is_device_array(X):
        return namespace(X).empty(shape, dtype=dtype, device=X.device)
    return np.empty(shape, dtype=dtype)


def _write_side_by_side(parts: Sequence[tuple], X, out) -> None:
    """Write the values of (generators, absolute, chunk_size) parts to the columns of ``out``."""
    on_device, start = is_device_array(X), 0
    for generators, absolute, chunk_size in parts:
        stop = start + len(generators)
        columns = out[:, start:stop]
        if on_device:
            device.write_values(generators, X, columns, absolute=absolute, chunk_size=chunk_size)
        else:
            generators.evaluate(X, absolute=absolute, chunk_size=chunk_size, out=columns)
        start = stop


def generator_values(parts: Sequence[tuple], X):
    """Return the values of the generators of all parts, side by side, in the dtype of X.

    Parameters
    ----------
    parts : sequence of (generators, absolute, chunk_size)
        Whether the absolute value counts, and how many rows are evaluated at a time, or None.
    X : array of shape (n_samples, n_features)
        Rows that have been validated.

    Returns
    -------
    values : array of shape (n_samples, n_generators), where X is
    """
    out = _empty(X, sum(len(part[0]) for part in parts), floating_dtype(X))
    _write_side_by_side(parts, X, out)
    return out


def features_and_constant(parts: Sequence[tuple], X):
    """Return the values of generators in float64, side by side, and a column of ones after them.

    A column of zeros stands for no generators. ``parts`` are pairs (generators, absolute).
    """
    n_features = sum(len(generators) for generators, _ in parts)
    out = _empty(X, max(1, n_features) + 1, namespace(X).float64)
    if not n_features:
        out[:, 0] = 0.0
    out[:, -1] = 1.0
    _write_side_by_side([(*part, None) for part in parts], X, out)
    return out


def weighted_values(generators, X, weights: np.ndarray, *, absolute: bool):
    """Return the values of generators times ``weights``, of shape (|G|, n_outputs), in float64."""
    if is_device_array(X):
        return device.weighted_values(generators, X, weights, absolute=absolute)
    return generators.combine(X, weights, absolute=absolute)


def or_constant(features):
    """Return the features, or a column of zeros if there are none: the intercept decides."""
    if features.shape[1]:
        return features
    values = _empty(features, 1, namespace(features).float64)
    values[:, :] = 0.0
    return values


def sums_by_pieces(X, start: np.ndarray, summands: Callable):
    """Return sums of columns, of shape (n_samples, n_sums), in float64, and remarks on pieces.

    Rows are handled in pieces, as their features may be another array as large. Pieces of NumPy
    rows go to several threads.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Rows that have been validated.
    start : ndarray of shape (n_sums,)
        What the sums start from.
    summands : callable
        ``summands(rows)`` returns arrays of shape (n_rows, n_sums) where the rows are, and a remark
        of any kind.

    Returns
    -------
    sums : array of shape (n_samples, n_sums), where X is
    remarks : list
        Those of all pieces, in their order.
    """
    sums = _empty(X, len(start), namespace(X).float64)
    sums[...] = like(X, start[np.newaxis, :])

    def add(cut: slice):
        parts, remark = summands(as_floats(X[cut, :]))
        for part in parts:
            sums[cut, :] += part
        return remark

    if is_device_array(X):
        return sums, [add(cut) for cut in row_slices(X)]
    return sums, spread(add, slices(len(X), _ROWS))
