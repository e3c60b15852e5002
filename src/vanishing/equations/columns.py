"""The columns that a law is about, from arrays and frames."""

from collections.abc import Collection, Sequence

import numpy as np


def read_columns(
    X, y, names: Sequence[str], n_inputs: int, needed: Collection[int], absent: int | None = None
) -> np.ndarray:
    """Return columns as an array of shape (n_columns, n_rows), zeros where one is not needed.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_inputs) or (n_rows, n_columns), or frame
        A frame is read by the names of its columns, if these are strings.
    y : array-like of shape (n_rows,), or None
        The last column, where ``n_inputs`` is one less than there are names.
    names : sequence of str
        Names of the columns.
    n_inputs : int
        How many of them are columns of X.
    needed : collection of int
        Columns that are read.
    absent : int, default=None
        A column that is not needed: an array may leave it out if it is the last.
    """
    if y is not None and n_inputs == len(names):
        raise ValueError("the law has no column other than those of X: leave y out.")
    columns_read = _of_frame(X, y, names, needed)
    if columns_read is None:
        columns_read = _of_array(X, y, names, n_inputs, needed, absent)
    if y is not None and len(names) - 1 in needed:
        columns_read[len(names) - 1] = _numbers(y, names[-1])
    lengths = {len(column) for column in columns_read.values()}
    if len(lengths) > 1:
        raise ValueError(f"X and y have different numbers of rows: {sorted(lengths)}.")
    n_rows = lengths.pop() if lengths else len(X)
    columns = np.zeros((len(names), n_rows))
    for i, column in columns_read.items():
        columns[i] = column
    return columns


def _of_frame(X, y, names, needed) -> dict[int, np.ndarray] | None:
    """Return the columns of a frame; None if X is no frame, or has no names."""
    headings = list(getattr(X, "columns", ()))
    if not any(isinstance(name, str) for name in headings):
        return None
    read_from_frame = [i for i in needed if y is None or i != len(names) - 1]
    missing = [names[i] for i in read_from_frame if names[i] not in headings]
    if missing:
        raise ValueError(
            f"X has no column {missing[0]!r}, which the law needs; it has {headings[:10]}."
        )
    repeated = [names[i] for i in read_from_frame if headings.count(names[i]) > 1]
    if repeated:
        raise ValueError(f"X has several columns {repeated[0]!r}: rename them.")
    return {i: _numbers(X[names[i]], names[i]) for i in read_from_frame}


def _of_array(X, y, names, n_inputs, needed, absent) -> dict[int, np.ndarray]:
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; its shape is {X.shape}.")
    widths = {len(names)} if y is None else {n_inputs}
    if n_inputs < len(names) and (absent == n_inputs or n_inputs not in needed):
        widths.add(n_inputs)
    if X.shape[1] not in widths:
        raise ValueError(
            f"X has {X.shape[1]} columns, and the law needs {' or '.join(map(str, sorted(widths)))}"
            f" ({', '.join(names)})"
            + (", or y as well." if X.shape[1] == n_inputs < len(names) and y is None else ".")
        )
    return {i: _numbers(X[:, i], names[i]) for i in needed if i < X.shape[1]}


def _numbers(values, name) -> np.ndarray:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"column {name!r} does not hold numbers: {problem}") from problem
    if column.ndim != 1:
        raise ValueError(f"column {name!r} must have one dimension; its shape is {column.shape}.")
    return column
