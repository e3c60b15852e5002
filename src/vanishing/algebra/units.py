"""Polynomials in scaled columns, written in the columns' own units."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np

from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.polynomials import Polynomial
from vanishing.algebra.writing import DIGITS


def in_original_units(polynomial, scale, offset) -> Polynomial:
    """Substitute ``x * scale + offset`` for each column and expand.

    The arithmetic is exact; each coefficient is rounded once, at the end. As a function of the
    original rows the polynomial is what it was of the scaled ones.

    Parameters
    ----------
    polynomial : Polynomial
        In scaled columns.
    scale, offset : array-like of shape (n_features,)
        As scikit-learn's MinMaxScaler has them: ``scale_`` and ``min_``.

    Returns
    -------
    polynomial : Polynomial
        In the columns as they were.

    Examples
    --------
    >>> from vanishing.polynomials import Polynomial
    >>> from vanishing.units import in_original_units
    >>> square = Polynomial([[0], [2]], [-1.0, 1.0])
    >>> print(in_original_units(square, [0.5], [-1.5]))
    0.25*x0^2 - 1.5*x0 + 1.25
    """
    scale, offset = ([Fraction(float(value)) for value in values] for values in (scale, offset))
    if not len(scale) == len(offset) == polynomial.terms.shape[1]:
        raise ValueError(
            f"the polynomial has {polynomial.terms.shape[1]} variables, but there are "
            f"{len(scale)} scales and {len(offset)} offsets."
        )
    powers = {}

    def power(i, e):
        """Return the coefficients of (scale_i x + offset_i)^e, from the constant on."""
        if (i, e) not in powers:
            powers[i, e] = [
                math.comb(e, k) * scale[i] ** k * offset[i] ** (e - k) for k in range(e + 1)
            ]
        return powers[i, e]

    total: dict[tuple, Fraction] = defaultdict(Fraction)
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        used = [i for i, e in enumerate(term) if e]
        for exponents in product(*(range(term[i] + 1) for i in used)):
            part = list(term)
            coefficient = Fraction(value)
            for i, k in zip(used, exponents, strict=True):
                part[i] = k
                coefficient *= power(i, term[i])[k]
            total[tuple(part)] += coefficient
    leading = tuple(polynomial.leading_term.tolist())
    kept = [term for term, value in total.items() if value or term == leading]
    terms = np.array(kept, dtype=np.int64).reshape(len(kept), len(scale))
    terms = terms[deglex_order(terms)]
    coef = [float(total[tuple(term)]) for term in terms.tolist()]
    return Polynomial(terms, coef, mse=polynomial.mse, feature_names=polynomial.feature_names)


def digits_in_original_units(polynomial, original, scale, offset) -> int:
    """Return how many digits coefficients need to be as good as four in scaled columns.

    A column around 2000 with a range of 10 makes large terms that nearly cancel: four digits of
    their coefficients would say nothing.

    Parameters
    ----------
    polynomial, original : Polynomial
        In scaled columns and in original units.
    scale, offset : array-like of shape (n_features,)

    Returns
    -------
    digits : int
        Between 4 and 17.
    """
    scale, offset = np.asarray(scale, dtype=np.float64), np.asarray(offset, dtype=np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(offset / scale), np.abs((1.0 - offset) / scale))
        before = np.abs(polynomial.coef).sum()
        after = (np.abs(original.coef) * np.prod(size**original.terms, axis=1)).sum()
        more = np.log10(after / before)
    return DIGITS + int(np.clip(np.ceil(more), 0, 17 - DIGITS)) if np.isfinite(more) else 17


def equation(polynomial, digits=DIGITS, limit=None) -> str:
    """Write ``polynomial = 0`` with a number of digits, and dots for terms beyond ``limit``."""
    return f"{polynomial.write(digits=digits, limit=limit)} = 0"
