"""Division of a polynomial by several: a remainder and one quotient for each of them.

Terms are tuples of exponents, and coefficients are of any kind of number: floats, or fractions for
exact results. Nothing here knows where the divisors come from.
"""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from vanishing._types import IntArray
from vanishing.algebra.exact import ExactPolynomial
from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.parsing import parse_polynomial
from vanishing.algebra.polynomials import BasePolynomial, Polynomial

_SIMPLE = 10**6  # largest denominator of a fraction that a float may stand for

Coefficients = dict[tuple[int, ...], Any]


class Divisor(NamedTuple):
    """A polynomial as its leading term, its leading coefficient, and all else."""

    leading_term: tuple[int, ...]
    leading_coef: Any
    others: Coefficients


def divided(
    dividend: Coefficients, divisors: Sequence[Divisor], order: IntArray
) -> tuple[Coefficients, list[Coefficients]]:
    """Divide: return the remainder and the quotients.

    ``dividend = sum(quotient * divisor) + remainder``, and no term of the remainder is a multiple
    of a leading term. Terms are taken from the largest one down, each by the first divisor whose
    leading term divides it: what that leaves are smaller terms, so that there is an end.

    Parameters
    ----------
    dividend : dict from terms to numbers
    divisors : sequence of Divisor
    order : ndarray of int of shape (n_features,)
        Columns in the order t_1 < t_2 < ... of DegLex.
    """
    falling = order[::-1].tolist()

    def rank(term):  # the largest term has the smallest rank
        return (-sum(term), *(-term[i] for i in falling))

    leading = np.array([d.leading_term for d in divisors]).reshape(len(divisors), len(falling))
    rest = dict(dividend)
    heap = [(rank(term), term) for term in rest]
    heapq.heapify(heap)
    remainder: Coefficients = {}
    quotients: list[Coefficients] = [{} for _ in divisors]
    while heap:
        _, term = heapq.heappop(heap)
        value = rest.pop(term)
        if not value:
            continue
        fits = np.flatnonzero((leading <= np.array(term)).all(axis=1))
        if not fits.size:
            remainder[term] = value
            continue
        divisor = divisors[fits[0]]
        factor = tuple(t - e for t, e in zip(term, divisor.leading_term, strict=True))
        value = value / divisor.leading_coef
        quotients[fits[0]][factor] = value
        for other, coef in divisor.others.items():
            product = tuple(t + e for t, e in zip(factor, other, strict=True))
            if product not in rest:
                rest[product] = 0
                heapq.heappush(heap, (rank(product), product))
            rest[product] -= value * coef
    return remainder, quotients


def divisor_of(polynomial: BasePolynomial) -> Divisor:
    """Return a polynomial, whose leading term is its last, as a divisor."""
    *others, leading = zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True)
    return Divisor(tuple(leading[0]), leading[1], {tuple(term): value for term, value in others})


def multiplication_table(
    terms: IntArray, divisors: Sequence[Divisor], order: IntArray, number: type
) -> Any:
    """Return the matrices of multiplication by each variable, on standard terms, modulo divisors.

    Parameters
    ----------
    terms : ndarray of int of shape (n_terms, n_features)
    divisors : sequence of Divisor
    order : ndarray of int of shape (n_features,)
    number : float or Fraction
    """
    n_terms, n_features = terms.shape
    place = {tuple(term): i for i, term in enumerate(terms.tolist())}
    dtype = np.float64 if number is float else object
    matrices = np.full((n_features, n_terms, n_terms), number(0), dtype=dtype)
    reduced: dict[tuple[int, ...], Coefficients] = {}  # a product has several factorisations
    for variable, matrix in enumerate(matrices):
        for j, term in enumerate(terms.tolist()):
            term[variable] += 1
            product = tuple(term)
            if product not in reduced:
                reduced[product] = divided({product: number(1)}, divisors, order)[0]
            for other, value in reduced[product].items():
                matrix[place[other], j] = value
    return matrices


def refuse_beyond(remainder: Coefficients, terms: IntArray, names: Sequence[str]) -> None:
    """Raise ValueError where a remainder has terms that are neither standard nor reducible."""
    beyond = set(remainder) - set(map(tuple, terms.tolist()))
    if beyond:
        term = max(beyond, key=sum)
        text = Polynomial([term], [1.0], feature_names=names)
        raise ValueError(
            f"{text} is beyond what the construction has looked at: neither in O nor a multiple of "
            "a leading term. Fit with a larger max_degree, or without max_terms."
        )


def require_complete(complete: bool) -> None:
    """Raise ValueError unless the border of a construction was empty at its end."""
    if not complete:
        raise ValueError(
            "the construction is not complete (complete_ is False): terms are left in its border. "
            "Fit with a larger max_degree, or without max_terms."
        )


def coefficients_of(polynomial: BasePolynomial) -> Coefficients:
    """Return the coefficients of a polynomial by term."""
    total: Coefficients = {}
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        key = tuple(term)
        total[key] = total.get(key, 0) + value
    return total


def sorted_terms(coefficients: Coefficients, n_features: int) -> tuple[IntArray, list[Any]]:
    """Return terms in DegLex order and their coefficients; the constant 0 where there is none."""
    coefficients = coefficients or {(0,) * n_features: 0}
    terms = np.array(list(coefficients), dtype=np.int64).reshape(-1, n_features)
    values = list(coefficients.values())
    places = deglex_order(terms)
    return terms[places], [values[i] for i in places]


def to_polynomial(f: object, names: Sequence[str]) -> BasePolynomial:
    """Return a polynomial in columns with some names, given as such or as text."""
    if isinstance(f, str):
        return parse_polynomial(f, names)
    if not isinstance(f, BasePolynomial):
        raise TypeError(
            f"a polynomial must be a Polynomial, an ExactPolynomial or text; got "
            f"{type(f).__name__}."
        )
    if f.terms.shape[1] != len(names):
        raise ValueError(
            f"the polynomial has {f.terms.shape[1]} variables, but the model has {len(names)} "
            "columns."
        )
    return f


def to_float_polynomial(f: object, names: Sequence[str]) -> Polynomial:
    """Return a polynomial with floats as coefficients."""
    f = to_polynomial(f, names)
    return Polynomial(f.terms, [float(value) for value in f.coef], feature_names=names)


def to_exact_polynomial(f: object, names: Sequence[str]) -> ExactPolynomial:
    """Return a polynomial with fractions: of floats, the simplest that round to them."""
    f = to_polynomial(f, names)
    if isinstance(f, ExactPolynomial):
        return f
    return ExactPolynomial(f.terms, [_simplest(value) for value in f.coef.tolist()])


def _simplest(value: float) -> Fraction:
    decimal, simple = Fraction(repr(value)), Fraction(value).limit_denominator(_SIMPLE)
    if float(simple) == value and simple.denominator < decimal.denominator:
        return simple
    return decimal
