"""Polynomials in scaled columns, written in the columns' own units."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from vanishing._types import Vector
from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.polynomials import BasePolynomial, Polynomial
from vanishing.algebra.writing import DIGITS

_LEAST = 1e-6  # of the leading term: what no digit says more of
_EXPANDED = 300  # monomials up to which an equation is written in the columns as given


def in_original_units(polynomial: Polynomial, scale: Vector, offset: Vector) -> Polynomial:
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

    See Also
    --------
    equation : It as an equation.
    digits_in_original_units : How many digits matter.

    Examples
    --------
    >>> from vanishing.polynomials import Polynomial
    >>> from vanishing.units import in_original_units
    >>> square = Polynomial([[0], [2]], [-1.0, 1.0])
    >>> print(in_original_units(square, [0.5], [-1.5]))
    0.25*x0^2 - 1.5*x0 + 1.25
    """
    scale, offset = (
        [Fraction(float(value)) for value in np.asarray(values)] for values in (scale, offset)
    )
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


def digits_in_original_units(
    polynomial: Polynomial, original: Polynomial, scale: Vector, offset: Vector
) -> int:
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

    See Also
    --------
    in_original_units : The polynomial itself.
    equation : It as an equation.
    """
    scale, offset = np.asarray(scale, dtype=np.float64), np.asarray(offset, dtype=np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(offset / scale), np.abs((1.0 - offset) / scale))
        before = np.abs(polynomial.coef).sum()
        after = (np.abs(original.coef) * np.prod(size**original.terms, axis=1)).sum()
        more = np.log10(after / before)
    return DIGITS + int(np.clip(np.ceil(more), 0, 17 - DIGITS)) if np.isfinite(more) else 17


def digits_that_matter(original: Polynomial, scale: Vector, offset: Vector) -> np.ndarray:
    """Return how many digits each coefficient of an equation needs.

    So many that rounding changes the difference of the two sides by at most a tenth of its root
    mean square on the rows of the fit, wherever scaled columns are in [0, 1]. The largest leading
    term has at most six digits.

    Parameters
    ----------
    original : Polynomial
        In original units, as `in_original_units` writes it.
    scale, offset : array-like of shape (n_features,)

    Returns
    -------
    digits : ndarray of int of shape (n_terms,)
        At most 17; 0 for a term that does not matter, which `Polynomial.equation` leaves out.

    See Also
    --------
    digits_in_original_units : The same of a polynomial of scaled columns.

    Examples
    --------
    >>> from vanishing.polynomials import Polynomial
    >>> from vanishing.units import digits_that_matter
    >>> line = Polynomial([[0], [1]], [-0.123456, 1.0], mse=0.01)
    >>> digits_that_matter(line, [1.0], [0.0])
    array([2, 3])
    >>> line.equation(digits=_)
    'x0 = 0.12'
    """
    scale, offset = np.asarray(scale, dtype=np.float64), np.asarray(offset, dtype=np.float64)
    terms = original.terms
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(offset / scale), np.abs((1.0 - offset) / scale))
        coef = np.abs(original.coef / original.coef[-1])
        error = np.sqrt(np.nan_to_num(original.mse)) / np.abs(original.coef[-1])
        # A coefficient is rounded by at most half of its last digit.
        step, least = 0.2 * error / max(1, len(coef) - 1), _LEAST * np.prod(size ** terms[-1])
        last = np.floor(np.log10(max(step, least) / np.prod(size**terms, axis=1)))
        digits = np.floor(np.log10(coef)) + 1.0 - last
    digits = np.clip(np.nan_to_num(digits, nan=17.0, posinf=17.0), 1, 17).astype(np.int64)
    digits[coef < 0.5 * 10.0**last] = 0
    if step > least:
        return digits
    # Of an equation that holds to rounding, zeros at the end of a number say nothing.
    return np.array([_without_zeros(value, n) for value, n in zip(coef, digits, strict=True)])


def _without_zeros(value, digits) -> int:
    mantissa = f"{value:.{max(0, digits - 1)}e}".partition("e")[0]
    return min(digits, max(1, len(mantissa.replace(".", "").rstrip("0"))))


def mean_square(polynomial) -> float:
    """Return the mean square of a polynomial on the rows of the fit: 0 of an exact one."""
    return getattr(polynomial, "mse", 0.0)


class Readable(NamedTuple):
    """An equation as people read it: a polynomial that is zero, and the digits that matter."""

    polynomial: Any
    digits: Any  # as `Polynomial.equation` takes them
    original: bool  # whether in the columns as given

    @property
    def error(self) -> float:
        """The root mean square of the difference of the two sides, on the rows of the fit."""
        size = abs(float(self.polynomial.coef[-1]))
        return math.sqrt(mean_square(self.polynomial)) / size if size else math.nan

    def write(self, style="text", limit=None) -> str:
        """Write the equation."""
        return self.polynomial.equation(style, digits=self.digits, limit=limit)


def readable(polynomial, units, limit=_EXPANDED) -> Readable:
    """Return an equation in the columns as given, where that can be, and else as it is.

    Parameters
    ----------
    polynomial : Polynomial
        In scaled columns.
    units : tuple of two arrays of shape (n_features,), or None
        The scale and the offset of `in_original_units`; None where the scaling is another one,
        after which there is no polynomial in the columns as given.
    limit : int or None
        How many monomials an equation may have before it is left as it is.
    """
    size = (polynomial.terms + 1).prod(axis=1).sum()
    if units is None or (limit is not None and size > limit):
        return Readable(polynomial, DIGITS, False)
    scale, offset = map(np.asarray, units)
    if (scale == 1.0).all() and not offset.any():  # how large columns are is not known
        return Readable(polynomial, DIGITS, True)
    original = in_original_units(polynomial, *units)
    return Readable(original, digits_that_matter(original, *units), True)


def equation(
    polynomial: BasePolynomial, digits: int | Vector = DIGITS, limit: int | None = None
) -> str:
    """Write that a polynomial is zero, its leading term alone on the left.

    The same as `vanishing.polynomials.Polynomial.equation`.

    See Also
    --------
    in_original_units : The polynomial of the columns as given.
    """
    return polynomial.equation(digits=digits, limit=limit)
