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

    ``root`` are the square roots of weights; empty: all are 1. In loops over slices, which become
    loops over several numbers at a time; to assign a slice takes seconds to compile.
    """
    size = out.shape[1]
    if root.size:
        for r in range(size):
            out[0, r] = root[start + r]
    else:
        out[0] = 1.0
    for i in range(1, parent.size):
        values = out[i]
        of_parent = out[parent[i]]
        column = columns[variable[i], start : start + size]
        for r in range(size):
            values[r] = of_parent[r] * column[r]


def values_on(columns: np.ndarray, plan: Plan) -> np.ndarray:
    """Return the values of all terms of a plan, shape (n_terms, n_rows), of few rows at once."""
    values = np.empty((plan.parent.size, columns.shape[1]))
    evaluate_chunk(columns, 0, NO_WEIGHTS, plan.parent, plan.variable, values)
    return values


def chunk_rows(n_evaluated: int, chunk_size: int | None) -> int:
    """Return how many rows to evaluate at a time when there are ``n_evaluated`` terms."""
    if chunk_size is not None:
        return int(chunk_size)
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
    """Yield (rows, their columns), a few chunks of ``rows`` rows at a time.

    The columns have shape (n_features, n_rows_of_the_batch), float64 whatever the dtype of X. The
    array is used again for the next batch, unless X is in memory column by column already.
    ``variable`` is that of a plan: where it needs few of the columns, the others are not filled.
    """
    n_samples, n_features = X.shape
    if X.dtype == np.float64 and X.flags.f_contiguous and X.flags.writeable:
        yield slice(0, n_samples), X.T
        return
    size = min(n_samples, rows * max(1, _COLUMN_BYTES // (8 * n_features * rows)))
    few = None
    if variable is not None:
        used = np.zeros(n_features, dtype=bool)
        used[variable[1:]] = True
        few = np.flatnonzero(used) if 2 * np.count_nonzero(used) <= n_features else None
    buffer = np.empty(n_features * size)
    for start in range(0, n_samples, max(1, size)):
        batch = slice(start, min(start + size, n_samples))
        columns = buffer[: n_features * (batch.stop - start)].reshape(n_features, -1)
        if few is None:
            columns[...] = X[batch].T
        else:
            for column in few:
                columns[column] = X[batch, column]
        yield batch, columns


def evaluate(
    X: np.ndarray, plan: Plan, *, rows: int, sample_weight: np.ndarray | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, values of all terms of the plan there), a chunk at a time.

    The values have shape (n_terms, n_rows_of_the_chunk), float64 whatever the dtype of X. The
    array is used again for the next chunk.
    """
    n_terms = plan.parent.size
    buffer = np.empty(n_terms * min(rows, len(X)))
    for batch, columns in batches(X, rows, plan.variable):
        root = NO_WEIGHTS if sample_weight is None else np.sqrt(sample_weight[batch])
        for start in range(batch.start, batch.stop, rows):
            chunk = slice(start, min(start + rows, batch.stop))
            values = buffer[: n_terms * (chunk.stop - start)].reshape(n_terms, -1)
            evaluate_chunk(columns, start - batch.start, root, plan.parent, plan.variable, values)
            yield chunk, values
