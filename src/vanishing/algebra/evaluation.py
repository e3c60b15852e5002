"""Values of monomials at points: one multiplication per term and row.

Rows are evaluated in chunks that stay in the cache. A stretch is some chunks, which one thread does
without the interpreter's lock.
"""

from collections.abc import Iterator

import numpy as np
from numba import njit

from vanishing.algebra.monomials import Plan

# Evaluated terms of one chunk: a part of a common second-level cache, so that parents are still
# there when their children are computed and BLAS reads them.
CHUNK_BYTES = 1 << 18
MIN_CHUNK, MAX_CHUNK = 256, 8192

NO_WEIGHTS = np.empty(0)


# What a thread does at a time: so many chunks at most, and so many multiply-adds. Enough to make
# little of handing it over, and little of the sums of all rows.
_CHUNKS, _ROWS, _WORK = 32, 1 << 13, 1 << 25
_COLUMN_BYTES = 1 << 19  # of columns that are copied for one compiled call


@njit(cache=True, nogil=True)
def evaluate_chunk(columns, start, root, parent, variable, out):
    """Fill ``out`` with the values of all terms at the rows from ``start`` on.

    ``root`` are the square roots of weights; empty: all are 1. In slices, which the compiler turns
    into loops over several numbers at a time.
    """
    size = out.shape[1]
    if root.size:
        out[0] = root[start : start + size]
    else:
        out[0] = 1.0
    for i in range(1, parent.size):
        values = out[i]
        of_parent = out[parent[i]]
        column = columns[variable[i], start : start + size]
        for r in range(size):
            values[r] = of_parent[r] * column[r]


def chunk_rows(n_evaluated: int, chunk_size: int | None) -> int:
    """Return how many rows to evaluate at a time when there are ``n_evaluated`` terms."""
    if chunk_size is not None:
        return chunk_size
    rows = max(MIN_CHUNK, min(MAX_CHUNK, CHUNK_BYTES // (8 * n_evaluated)))
    return rows + 8  # not a power of two: terms would share the same few places of the cache


def stretches(n_rows: int, rows: int, work: int) -> list[slice]:
    """Cut rows into stretches of chunks of ``rows`` rows: what a thread does at a time.

    ``work`` is how many multiply-adds a row takes. The cuts do not depend on the number of threads,
    and neither do sums over stretches that are added in their order.
    """
    n_chunks = min(_WORK // (rows * max(1, work)), max(_CHUNKS, _ROWS // rows))
    size = rows * max(1, n_chunks)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def batches(
    X: np.ndarray, rows: int, variable: np.ndarray | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, their columns), a few chunks of ``rows`` rows at a time; see `columns_of`."""
    size = rows * max(1, _COLUMN_BYTES // (8 * X.shape[1] * rows))
    for start in range(0, len(X), size):
        here = slice(start, min(start + size, len(X)))
        yield here, columns_of(X, here, variable)


def columns_of(X: np.ndarray, here: slice, variable: np.ndarray | None = None) -> np.ndarray:
    """Return the columns of some rows in float64, side by side; only those a plan needs, if few.

    ``variable`` is that of the plan. The other columns are not filled.
    """
    n_features = X.shape[1]
    columns = np.empty((n_features, here.stop - here.start))
    if variable is not None:
        used = np.zeros(n_features, dtype=bool)
        used[variable[1:]] = True
        if 2 * np.count_nonzero(used) <= n_features:
            for column in np.flatnonzero(used):
                columns[column] = X[here, column]
            return columns
    columns[...] = X[here].T
    return columns


def evaluated(columns: np.ndarray, root: np.ndarray, plan: Plan, rows: int) -> Iterator[np.ndarray]:
    """Yield the values of all terms of the plan, ``rows`` rows at a time.

    The values have shape (n_terms, n_rows_of_the_chunk). The array is used again for the next
    chunk. ``root`` are the square roots of weights; empty: all are 1.
    """
    n_terms, n_rows = plan.parent.size, columns.shape[1]
    buffer = np.empty(n_terms * min(rows, n_rows))
    for start in range(0, n_rows, rows):
        size = min(rows, n_rows - start)
        values = buffer[: n_terms * size].reshape(n_terms, size)
        evaluate_chunk(columns, start, root, plan.parent, plan.variable, values)
        yield values


def evaluate(X: np.ndarray, plan: Plan, *, rows: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, values of all terms of the plan there), a chunk at a time.

    The values have shape (n_terms, n_rows_of_the_chunk), float64 whatever the dtype of X.
    """
    for start in range(0, len(X), rows):
        here = slice(start, min(start + rows, len(X)))
        columns = columns_of(X, here, plan.variable)
        yield here, next(evaluated(columns, NO_WEIGHTS, plan, rows))
