"""Moments behind readable equations: triangular factors of the monomials of the columns."""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from vanishing.algebra.terms import Evaluator, monomial
from vanishing.fitting.sample import row_keys
from vanishing.outliers import settings

_CHUNK = 2048  # rows at a time
EPS = float(np.finfo(np.float64).eps)
OF_ROWS = 4.0 * EPS  # precision of what follows from rows, whose sums round
OF_GRAMS = float(np.sqrt(EPS))  # precision of what follows from products instead of rows


class MonomialSums(NamedTuple):
    """Weighted sums over rows of the products of monomials, as factors R of the sums R'R.

    A factor has twice the digits of the sums themselves. Rows are in two folds, so that an equation
    can be measured on rows that it was not fitted to.

    Attributes
    ----------
    exponents : array of int of shape (k, n_columns)
        Constant first; columns that are constant occur in none.
    origin, unit : array of shape (n_columns,)
        Monomials are those of the columns less the origin, divided by the unit: columns far from
        zero have powers that nobody can tell apart.
    fitted : array of shape (2, k, k)
        Of rows weighted as for laws.
    measured : array of shape (2, k, k)
        Of all rows but wild ones, which count as they are.
    square_weight : float
        Sum of squared weights of the first, for how many rows there are.
    n_samples : int
    precision : float
        Of factors, relative to the monomials.
    """

    exponents: np.ndarray
    origin: np.ndarray
    unit: np.ndarray
    fitted: np.ndarray
    measured: np.ndarray
    square_weight: float = 0.0
    n_samples: int = 0
    precision: float = OF_ROWS

    def plus(self, X: np.ndarray, weight, measured, decay: float = 1.0) -> "MonomialSums":
        """Return the sums with those of rows; sums so far count ``decay`` times.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        weight, measured : array of shape (n_rows,)
            What rows count in the two kinds of sums.
        decay : float, default=1.0
        """
        factors = np.sqrt(decay) * np.stack([self.fitted, self.measured])
        folds = _folds(self.scaled(X))
        for counts, of_counts in zip((weight, measured), factors, strict=True):
            for fold, factor in enumerate(of_counts):
                used = np.flatnonzero((folds == fold) & (counts > 0.0))
                factor[:] = self._with_rows(factor, X[used], counts[used])
        return self._replace(
            fitted=factors[0],
            measured=factors[1],
            square_weight=decay**2 * self.square_weight + float(np.square(weight).sum()),
            n_samples=self.n_samples + int(np.count_nonzero(weight)),
        )

    def _with_rows(self, factor: np.ndarray, X: np.ndarray, weight: np.ndarray) -> np.ndarray:
        step = max(_CHUNK, 4 * len(factor))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            values = (self.values(X[rows]) * np.sqrt(weight[rows])).T
            factor = np.asarray(np.linalg.qr(np.vstack([factor, values]), mode="r"))
        return factor

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the monomials of rows, shape (k, n_rows)."""
        return Evaluator(self.scaled(X)).values([monomial(row) for row in self.exponents])

    def scaled(self, X: np.ndarray) -> np.ndarray:
        """Return the columns that monomials are of, shape (n_columns, n_rows)."""
        return np.ascontiguousarray(np.clip((X - self.origin) / self.unit, -1e6, 1e6).T)

    def with_gram(self, gram: np.ndarray, square_weight: float, n_samples: int) -> "MonomialSums":
        """Return sums of which only the products are known, and no folds."""
        values, vectors = eigh(gram, check_finite=False)
        factor = (vectors * np.sqrt(np.maximum(values, 0.0) / 2.0)).T
        both = np.stack([factor, factor])
        return self._replace(
            fitted=both,
            measured=both,
            square_weight=square_weight,
            n_samples=n_samples,
            precision=OF_GRAMS,
        )


def _folds(scaled: np.ndarray) -> np.ndarray:
    """Return the fold of each row, which depends on what the row holds alone, in any units."""
    keys = row_keys(np.round(scaled, settings.COARSE_DIGITS), 0)
    return (keys & np.uint64(1)).astype(np.int64)


def monomials_of(varying, origin, unit, max_degree: int, n_rows: float) -> MonomialSums:
    """Return empty sums for the columns that vary, of as many monomials as rows can tell apart."""
    n = len(unit)
    rows = [np.zeros(n, dtype=np.int64)]
    linear = np.eye(n, dtype=np.int64)[varying]
    count = len(varying)
    if settings.ROWS_PER_MONOMIAL * (1 + count) <= n_rows:
        rows += list(linear)
        both = 1 + count + count * (count + 1) // 2
        if max_degree > 1 and both <= min(settings.MONOMIALS, n_rows / settings.ROWS_PER_MONOMIAL):
            rows += [linear[i] + linear[j] for i in range(count) for j in range(i, count)]
    empty = np.zeros((2, len(rows), len(rows)))
    return MonomialSums(np.array(rows), origin, unit, empty, empty)


def places_of(exponents: np.ndarray) -> dict[tuple[int, ...], int]:
    """Return where each monomial is."""
    return {tuple(row): place for place, row in enumerate(exponents.tolist())}


def affine(exponents: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return M of shape (k, k): monomials of ``shift + scale * t`` are M times those of t.

    Parameters
    ----------
    exponents : array of int of shape (k, n)
        With all divisors of each monomial.
    shift, scale : array of shape (n,)
    """
    places = places_of(exponents)
    expanded = np.zeros((len(exponents),) * 2)
    for i, row in enumerate(exponents):
        columns = np.repeat(np.arange(len(row)), row)
        for taken in product((False, True), repeat=len(columns)):
            part, number = np.zeros(len(row), dtype=np.int64), 1.0
            for column, is_taken in zip(columns, taken, strict=True):
                number *= scale[column] if is_taken else shift[column]
                part[column] += is_taken
            expanded[i, places[tuple(part.tolist())]] += number
    return expanded
