"""Polynomials with rational coefficients, and the exact numbers they are made of."""

import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsFloat, overload

import numpy as np

from vanishing._types import Names, ObjectArray, Table
from vanishing.algebra.polynomials import BasePolynomial

_EXACT = 2**53  # above this not every integer is a float: one may stand for its neighbours


def to_fraction(value) -> Fraction:
    """Convert one exact number; refuse what is inexact or no number."""
    if isinstance(value, Fraction):
        return value
    if hasattr(value, "numerator"):  # integers and rationals of NumPy, SymPy, flint, gmpy2, ...
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real) and math.isfinite(value):
        whole = int(float(value))
        if whole == value and abs(whole) <= _EXACT:
            return Fraction(whole)
        raise TypeError(
            f"exact numbers are needed, but {value!r} is a float, a binary fraction, seldom the "
            'decimal it was written as: give strings ("0.1", "1/3"), decimal.Decimal, '
            "fractions.Fraction or integers."
        )
    if isinstance(value, (Decimal, str)):
        try:
            return Fraction(value)
        except (ValueError, OverflowError, ZeroDivisionError):
            pass  # nan, infinity, 1/0 or no number at all
    raise ValueError(f"every coordinate must be a rational number; got {value!r}.")


def to_fractions(points) -> list[tuple[Fraction, ...]]:
    """Convert an array-like of shape (n_points, n_features), neither of them zero."""
    try:
        rows = np.asarray(points, dtype=object)
    except ValueError:
        rows = np.empty(1, dtype=object)  # ragged beyond what an array of objects can hold
    if not rows.size:
        raise ValueError("there must be at least one point with at least one coordinate.")
    if rows.ndim != 2:
        raise ValueError(
            "points must be a table with one row per point and the same number of coordinates in "
            "each row."
        )
    return [tuple(map(to_fraction, row)) for row in rows]


class ExactPolynomial(BasePolynomial):
    """A polynomial with rational coefficients.

    Parameters
    ----------
    terms : array-like of int of shape (n_terms, n_features)
        Exponents, the leading term last.
    coef : array-like of shape (n_terms,)
        A coefficient for each term, in any form that `BuchbergerMoller` takes coordinates in; kept
        as an array of `fractions.Fraction`.
    feature_names : iterable of str, default=None
        Names of the variables; x0, x1, ... by default.

    See Also
    --------
    Polynomial : A polynomial with floats as coefficients.

    Examples
    --------
    >>> from vanishing.polynomials import ExactPolynomial
    >>> ellipse = ExactPolynomial([[0, 0], [2, 0], [0, 2]], [-1, "1/4", 1])
    >>> print(ellipse)
    x1^2 + 1/4*x0^2 - 1
    >>> ellipse(["6/5", "0.8"])
    Fraction(0, 1)
    """

    coef: ObjectArray

    def __init__(self, terms: Table, coef: Iterable[Any], *, feature_names: Names | None = None):
        coef = [to_fraction(value) for value in coef]
        self._set_terms(terms, np.array(coef, dtype=object), feature_names)

    def __reduce__(self):
        return _rebuild, (self.terms, self.coef, self.feature_names)

    @overload
    def __call__(self, point: Sequence[str] | Sequence[SupportsFloat]) -> Fraction: ...
    @overload
    def __call__(self, point: Table) -> ObjectArray: ...
    def __call__(self, point):
        """Evaluate exactly.

        Parameters
        ----------
        point : array-like of shape (n_features,) or (n_points, n_features)
            Exact numbers.

        Returns
        -------
        value : Fraction, or ndarray of Fraction of shape (n_points,)
        """
        rows = np.asarray(point, dtype=object)
        if rows.ndim == 2:
            points = to_fractions(rows) if rows.size else []
            return np.array([self._value(row) for row in points], dtype=object)
        return self._value(*to_fractions([point]))

    def _value(self, point: tuple[Fraction, ...]) -> Fraction:
        if len(point) != self.terms.shape[1]:
            raise ValueError(
                f"the polynomial has {self.terms.shape[1]} variables, but the point has "
                f"{len(point)} coordinates."
            )
        values = (
            math.prod(x**e for x, e in zip(point, term, strict=True))
            for term in self.terms.tolist()  # Python's integers as exponents: NumPy's overflow
        )
        return sum((c * value for c, value in zip(self.coef, values, strict=True)), Fraction(0))


def _rebuild(terms, coef, feature_names):
    return ExactPolynomial(terms, coef, feature_names=feature_names)
