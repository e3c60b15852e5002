"""How many quantities are independent of one another, and of the laws of the state."""

from collections.abc import Sequence

import numpy as np

from vanishing.laws.terms import Evaluator, Term

_ROWS = 300
_EXACT, _NOISY = 1e-6, 0.05  # singular values of gradients that count as zero


def n_independent(
    quantities: Sequence[tuple[Sequence[Term], np.ndarray]],
    laws: Sequence[tuple[Sequence[Term], np.ndarray]],
    columns: np.ndarray,
    spread: np.ndarray,
    exact: bool,
) -> int:
    """Return the rank of the gradients of quantities and laws, less that of the laws.

    It is that of most rows, and less than the dimension of the state.

    Parameters
    ----------
    quantities, laws : sequences of (terms, coefficients)
    columns : array of shape (n_columns, n_rows)
    spread : array of shape (n_columns,)
        Units of the columns.
    exact : bool
        Whether the coefficients have no errors.
    """
    if not quantities:
        return 0
    columns = columns[:, :_ROWS]
    of_laws = _gradients(laws, columns, spread)
    both = np.concatenate([of_laws, _gradients(quantities, columns, spread)], axis=1)
    tolerance = _EXACT if exact else _NOISY
    rank_of_laws = int(np.median(_ranks(of_laws, _EXACT)))
    rank = int(np.median(_ranks(both, tolerance))) - rank_of_laws
    return min(max(1, rank), max(0, len(columns) - rank_of_laws - 1))


def _gradients(polynomials, columns, spread) -> np.ndarray:
    """Return gradients of length 1, shape (n_rows, n_polynomials, n_columns)."""
    evaluator = Evaluator(columns)
    found = np.zeros((columns.shape[1], len(polynomials), len(columns)))
    size = np.zeros((columns.shape[1], len(polynomials), 1))
    for i, (terms, coef) in enumerate(polynomials):
        for j in range(len(columns)):
            parts = spread[j] * coef[:, None] * evaluator.derivatives(terms, j)
            found[:, i, j] = parts.sum(axis=0)
            size[:, i, 0] += np.abs(parts).sum(axis=0)
    length = np.sqrt((found**2).sum(axis=2, keepdims=True))
    # Laws of functions alone have no gradient but that of rounding: cos^2 + sin^2 = 1.
    there = length > 1e-9 * size
    return np.where(there, found / np.where(there, length, 1.0), 0.0)


def _ranks(gradients, tolerance) -> np.ndarray:
    if not gradients.shape[1]:
        return np.zeros(len(gradients))
    return (np.linalg.svd(gradients, compute_uv=False) > tolerance).sum(axis=1)
