"""Columns of a table by name, numbers and texts."""

from collections.abc import Sequence

import numpy as np

from vanishing._types import Table


def read_columns(X: Table, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return the columns of a table by name.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), or frame
        Cells may be missing: NaN, None.
    names : sequence of str, default=None
        Those that are wanted. A frame may have others; an array has these columns, in this order.
        None means all; those of an array are called x0, x1, ...

    Returns
    -------
    columns : dict from str to ndarray of shape (n_rows,)
        Numbers, NaN where there is none; texts as objects, None where there is none.
    """
    headings = getattr(X, "columns", None)
    if headings is not None and hasattr(X, "__getitem__"):
        columns = _of_frame(X, list(headings), names)
    else:
        columns = _of_array(X, names)
    if not columns:
        raise ValueError("X has no columns.")
    return {name: _values(column, name) for name, column in columns.items()}


def _of_frame(X, headings: list, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    known = [str(heading) for heading in headings]
    wanted = known if names is None else list(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}; it has {known[:10]}.")
    repeated = [name for name in wanted if known.count(name) > 1]
    if repeated:
        raise ValueError(f"X has several columns {repeated[0]!r}: rename them.")
    return {name: X[headings[known.index(name)]] for name in wanted}


def _of_array(X, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns; its shape is {values.shape}."
        )
    names = [f"x{i}" for i in range(values.shape[1])] if names is None else names
    if values.shape[1] != len(names):
        raise ValueError(
            f"X has {values.shape[1]} columns, and {len(names)} are needed ({', '.join(names)})."
        )
    return dict(zip(names, values.T, strict=True))


def _values(column, name: str) -> np.ndarray:
    """Return numbers where all cells are numbers, or else texts."""
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        try:
            values = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            cells = np.asarray(column, dtype=object).tolist()
            is_missing = [cell is None or cell != cell for cell in cells]
            texts = [None if m else str(c) for c, m in zip(cells, is_missing, strict=True)]
            return np.array(texts, dtype=object)
    values = values.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} has infinite values: leave these rows out.")
    return values


def is_text(column: np.ndarray) -> bool:
    """Say whether a column holds texts."""
    return column.dtype.kind == "O"
