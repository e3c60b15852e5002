"""Generators measured on rows: their squares, and the part of their gradients that is new."""

import numpy as np
from numba import njit

from vanishing.algebra.generators import PolynomialSequence
from vanishing.algebra.polynomials import Polynomial
from vanishing.rows.arrays import as_floats, row_slices, slices, to_numpy

_NUMBERS = 1 << 22  # of gradients that are held at a time
_ROUNDING = 1e-10  # of a gradient relative to those of its terms: below, it is zero


def _pieces(X, weight):
    """Yield rows as NumPy arrays with their weights, some at a time."""
    for cut in row_slices(X):
        rows = to_numpy(as_floats(X[cut, :]))
        yield rows, np.ones(len(rows)) if weight is None else to_numpy(weight[cut])


def squared_values(generators: PolynomialSequence, X, weight, chunk_size) -> np.ndarray:
    """Return sum(w g(x)^2) over rows for each of the generators."""
    total = np.zeros(len(generators))
    for rows, weights in _pieces(X, weight):
        values = generators.evaluate(rows, chunk_size=chunk_size).astype(np.float64, copy=False)
        total += np.einsum("ij,ij,i->j", values, values, weights)
    return total


def gradient_residuals(generators: PolynomialSequence, X, weight, share: float) -> np.ndarray:
    """Return what earlier gradients leave over of each generator's, on rows.

    The gradient of a generator joins the span of a row if more than ``share`` of its square is left
    over there, and its length is no rounding.

    Returns
    -------
    sums : ndarray of shape (3, n_generators)
        Over the rows, times weights: of the squares that are left over, of the squared lengths, and
        of squares that are rounding.
    """
    polynomials = list(generators)
    sums = np.zeros((3, len(polynomials)))
    at_once = max(1, _NUMBERS // max(1, X.shape[1] * len(polynomials)))
    sizes = [Polynomial(g.terms, np.abs(g.coef)) for g in polynomials]
    for rows, weights in _pieces(X, weight):
        for cut in slices(len(rows), at_once):
            gradients = np.stack([g.gradient(rows[cut]) for g in polynomials])
            scales = [np.linalg.norm(g.gradient(np.abs(rows[cut])), axis=1) for g in sizes]
            _add_residuals(gradients, _ROUNDING * np.stack(scales), weights[cut], share, sums)
    return sums


@njit(cache=True, nogil=True)
def _add_residuals(gradients, rounding, weights, share, sums):
    """Orthogonalise the gradients at each row, one generator after the other."""
    n_generators, n_rows, n = gradients.shape
    basis = np.empty((n, n))
    for r in range(n_rows):
        size = 0
        for i in range(n_generators):
            left = gradients[i, r].copy()
            length = np.sum(left * left)
            for _ in range(2):  # once leaves what rounding has left of the first
                for b in range(size):
                    left -= np.sum(basis[b] * left) * basis[b]
            square = np.sum(left * left)
            zero = rounding[i, r] * rounding[i, r]
            sums[0, i] += weights[r] * square
            sums[1, i] += weights[r] * length
            sums[2, i] += weights[r] * zero
            if size < n and square > share * length and square > zero:
                basis[size] = left / np.sqrt(square)
                size += 1
