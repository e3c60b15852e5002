"""How many quantities are independent of one another, and of the laws of the state."""

from collections.abc import Sequence
from math import comb

import numpy as np

from vanishing.algebra.terms import Evaluator, Term, monomial
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.motion import settings


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
    columns = columns[:, : settings.GRADIENT_ROWS]
    of_laws = _gradients(laws, columns, spread)
    both = np.concatenate([of_laws, _gradients(quantities, columns, spread)], axis=1)
    tolerance = settings.RANK if exact else settings.NOISY_RANK
    rank_of_laws = int(np.median(_ranks(of_laws, settings.RANK)))
    rank = int(np.median(_ranks(both, tolerance))) - rank_of_laws
    return min(max(1, rank), max(0, len(columns) - rank_of_laws - 1))


def leans(
    polynomial: tuple[Sequence[Term], np.ndarray],
    others: Sequence[tuple[Sequence[Term], np.ndarray]],
    columns: np.ndarray,
    spread: np.ndarray,
) -> float:
    """Return the sine of the angle of a gradient to the span of those of others, on most rows."""
    columns = columns[:, : settings.GRADIENT_ROWS]
    own = _gradients([polynomial], columns, spread)[:, 0]
    basis = _gradients(others, columns, spread).transpose(0, 2, 1)
    left, singular, _ = np.linalg.svd(basis, full_matrices=False)
    left = left * (singular > settings.RANK)[:, None, :]
    rest = own - np.einsum("rcs,rds,rd->rc", left, left, own)
    return float(np.median(np.sqrt((rest**2).sum(axis=1))))


def left_over(values: np.ndarray, others: np.ndarray) -> float:
    """Return what polynomials in other quantities leave of the values of one along runs.

    Parameters
    ----------
    values : array of shape (n_runs,)
    others : array of shape (n_runs, n_quantities)

    Returns
    -------
    share : float
        Of the spread; 1 where runs are too few to tell.
    """
    n_runs, n_quantities = others.shape
    scaled = (others - others.mean(axis=0)) / others.std(axis=0)
    highest, most = settings.FUNCTION_DEGREE, n_runs / settings.RUNS_PER_TERM
    degrees = [d for d in range(1, highest + 1) if comb(n_quantities + d, d) <= most]
    if not degrees:
        return 1.0
    powers = exponents_up_to(n_quantities, n_runs, degrees[-1])
    terms = Evaluator(scaled.T).values([monomial(row) for row in powers]).T
    centred = values - values.mean()
    rest = centred - terms @ np.linalg.lstsq(terms, centred, rcond=None)[0]
    return float(np.sqrt((rest @ rest) / (centred @ centred)))


def _gradients(polynomials, columns, spread) -> np.ndarray:
    """Return gradients of length 1, shape (n_rows, n_polynomials, n_columns)."""
    evaluator = Evaluator(columns)
    gradients = np.zeros((columns.shape[1], len(polynomials), len(columns)))
    size = np.zeros((columns.shape[1], len(polynomials), 1))
    for i, (terms, coef) in enumerate(polynomials):
        for j in range(len(columns)):
            parts = spread[j] * coef[:, None] * evaluator.derivatives(terms, j)
            gradients[:, i, j] = parts.sum(axis=0)
            size[:, i, 0] += np.abs(parts).sum(axis=0)
    length = np.sqrt((gradients**2).sum(axis=2, keepdims=True))
    # Laws of functions alone have no gradient but that of rounding: cos^2 + sin^2 = 1.
    has_gradient = length > 1e-9 * size
    return np.where(has_gradient, gradients / np.where(has_gradient, length, 1.0), 0.0)


def _ranks(gradients, tolerance) -> np.ndarray:
    if not gradients.shape[1]:
        return np.zeros(len(gradients))
    return (np.linalg.svd(gradients, compute_uv=False) > tolerance).sum(axis=1)
