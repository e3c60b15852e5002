"""The one way to apply a method row by row, wherever the rows are."""

from collections.abc import Callable
from functools import wraps

import numpy as np

from vanishing.rows import arrays
from vanishing.rows.intake import check_layout, is_lazy, lazy_source, refuse
from vanishing.rows.source import RowLayout
from vanishing.rows.validation import takes_gaps, validated


def unless_lazy(contained: Callable, plain: Callable) -> Callable:
    """Return a method that puts its result into a container, unless X and the result are lazy."""

    @wraps(contained)
    def method(self, X):
        return plain(self, X) if is_lazy(X) else contained(self, X)

    return method


def apply_to_rows(
    estimator, X, function: Callable, method: Callable, *, n_columns: int | None, dtype, on_device
):
    """Return what a function returns for the rows of X, whose columns must be those seen in fit.

    Parameters
    ----------
    estimator : object
        Fitted; its attribute ``reads_sources`` says whether it takes rows that are not in memory.
    X : array-like of shape (n_samples, n_features), or a source of rows
    function : callable
        Takes validated rows, a NumPy array or, with ``on_device``, an array of a device.
    method : callable
        Returns the estimator's method that does the same with X: it gets each block of a lazy
        source.
    n_columns : int or None
        Columns of what the function returns; None: one value per row.
    dtype : dtype or None
        Of that; None is the dtype of X.
    on_device : callable
        ``on_device(X)`` says whether the function takes arrays of a device as they are; otherwise
        their rows go to the CPU, and the values back.

    Returns
    -------
    values : array of the library of X, on its device; lazy where X is
    """
    if isinstance(X, np.ndarray):  # nearly always: the other kinds take longer to recognise
        return function(validated(estimator, X, reset=False))
    if not estimator.reads_sources:
        refuse(estimator, X)
    if arrays.is_device_array(X):
        rows = arrays.checked(X)
        check_layout(estimator, RowLayout(X.shape[1], None, ""))
        if arrays.is_small(X) or not on_device(X):
            cuts = arrays.row_slices(rows)
            values = np.concatenate([function(arrays.on_host(rows[cut, :])) for cut in cuts])
        else:
            values = function(rows)
        return values if arrays.is_device_array(values) else arrays.like_unless_text(X, values)
    source = lazy_source(X, gaps=takes_gaps(estimator))
    if source is not None:
        check_layout(estimator, source.layout)
        return source.map(method(), n_columns, source.layout.dtype if dtype is None else dtype)
    return function(validated(estimator, X, reset=False))
