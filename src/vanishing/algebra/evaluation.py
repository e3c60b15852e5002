"""Values of monomials at points: one multiplication per term and row, chunk by chunk."""

from collections.abc import Iterator

import numpy as np
from numba import njit

from vanishing.algebra.monomials import Plan

# Evaluated terms of one chunk: a part of a common second-level cache, so that parents are still
# there when their children are computed and BLAS reads them.
CHUNK_BYTES = 1 << 18
MIN_CHUNK, MAX_CHUNK = 256, 8192


@njit(cache=True, nogil=True)
def _evaluate(columns, parent, variable, out):
    for i in range(1, parent.size):
        p = parent[i]
        v = variable[i]
        for r in range(out.shape[1]):
            out[i, r] = out[p, r] * columns[v, r]


def chunk_rows(n_evaluated: int, chunk_size: int | None) -> int:
    """Return how many rows to evaluate at a time when there are ``n_evaluated`` terms."""
    if chunk_size is not None:
        return chunk_size
    rows = max(MIN_CHUNK, min(MAX_CHUNK, CHUNK_BYTES // (8 * n_evaluated)))
    return rows + 8  # not a power of two: terms would share the same few places of the cache


def evaluate(
    X: np.ndarray,
    plan: Plan,
    *,
    rows: int,
    sample_weight: np.ndarray | None = None,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, values of all terms of the plan there), a chunk at a time.

    The values have shape (n_terms, n_rows_of_the_chunk), float64 whatever the dtype of X. The
    array is used again for the next chunk.
    """
    n_samples, n_features = X.shape
    n_terms = plan.parent.size
    rows = min(rows, n_samples)
    used = np.zeros(n_features, dtype=bool)
    used[plan.variable[1:]] = True
    used = np.flatnonzero(used)
    columns_buffer = np.empty(n_features * rows)
    values_buffer = np.empty(n_terms * rows)
    for start in range(0, n_samples, rows):
        here = slice(start, min(start + rows, n_samples))
        size = here.stop - start
        columns = columns_buffer[: n_features * size].reshape(n_features, size)
        if 2 * used.size > n_features:
            columns[...] = X[here].T
        else:
            for column in used:
                columns[column] = X[here, column]
        values = values_buffer[: n_terms * size].reshape(n_terms, size)
        values[0] = 1.0 if sample_weight is None else np.sqrt(sample_weight[here])
        _evaluate(columns, plan.parent, plan.variable, values)
        yield here, values
