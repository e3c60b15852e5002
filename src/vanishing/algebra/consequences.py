"""What follows from equations: the leading terms of all polynomials that they make vanish.

Buchberger's algorithm on fractions, up to a degree. A polynomial is a dict from terms, tuples of
exponents, to its coefficients.
"""

import heapq
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from vanishing._types import IntArray
from vanishing.algebra.polynomials import Polynomial

_SIMPLE = 10**6  # largest denominator of a fraction that a float may stand for
_MOST = 1000  # polynomials; systems that people write down have far fewer

_Terms = dict[tuple[int, ...], Fraction]


def leading_terms(
    equations: Sequence[Polynomial], columns: Sequence[int], max_degree: int
) -> IntArray:
    """Return terms whose multiples are the leading terms of what follows from equations.

    Parameters
    ----------
    equations : sequence of Polynomial
        Each stands for an equation: it is zero.
    columns : sequence of int
        The columns in the order of the variables t_1 < t_2 < ... of DegLex.
    max_degree : int
        Degree up to which equations are multiplied and combined.

    Returns
    -------
    terms : ndarray of int of shape (n_terms, n_features)

    Raises
    ------
    ValueError
        If the equations contradict one another.
    """
    basis = _Basis(columns, max_degree)
    for equation in equations:
        basis.add({tuple(t): _simplest(c) for t, c in _pairs(equation) if c})
    basis.close()
    return np.array(basis.leads, dtype=np.int64).reshape(-1, len(columns))


def _pairs(polynomial: Polynomial):
    return zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True)


def _simplest(value: float) -> Fraction:
    """Return the fraction that someone who gave a float had in mind: 1/3, or a decimal."""
    simple = Fraction(value).limit_denominator(_SIMPLE)
    return simple if float(simple) == value else Fraction(repr(value))


class _Basis:
    """Polynomials with leading coefficient 1, and the pairs of them that are still to be combined.

    Parameters
    ----------
    columns : sequence of int
    max_degree : int
    """

    def __init__(self, columns, max_degree: int):
        self.falling = [int(i) for i in columns][::-1]
        self.max_degree = max_degree
        self.polynomials: list[_Terms] = []
        self.leads: list[tuple[int, ...]] = []
        self.pairs: list[tuple] = []  # (degree, place, place, common multiple), a heap

    def rank(self, term):
        """Return what compares as terms do in DegLex."""
        return (sum(term), *(term[i] for i in self.falling))

    def add(self, polynomial: _Terms) -> None:
        """Add what a polynomial says that others do not, and its pairs with them."""
        polynomial = self._reduced(polynomial)
        if not polynomial:
            return
        lead = max(polynomial, key=self.rank)
        if not any(lead):
            raise ValueError("the equations contradict one another: nothing satisfies all of them.")
        if len(self.leads) == _MOST:
            raise ValueError(f"more than {_MOST} polynomials follow from the equations.")
        for place, other in enumerate(self.leads):
            common = tuple(map(max, lead, other))
            # Nothing new follows from two leading terms without a common factor.
            if sum(common) <= self.max_degree and sum(common) < sum(lead) + sum(other):
                heapq.heappush(self.pairs, (sum(common), place, len(self.leads), common))
        factor = polynomial[lead]
        self.polynomials.append({term: value / factor for term, value in polynomial.items()})
        self.leads.append(lead)

    def close(self) -> None:
        """Combine pairs, those of low degree first, until nothing new follows."""
        while self.pairs:
            _, first, second, common = heapq.heappop(self.pairs)
            combined: _Terms = {}
            self._subtract(combined, first, common, Fraction(-1))
            self._subtract(combined, second, common, Fraction(1))
            self.add(combined)

    def _reduced(self, polynomial: _Terms) -> _Terms:
        """Return what is left when multiples of the basis have taken out their leading terms."""
        left, rest = {}, dict(polynomial)
        while rest:
            term = max(rest, key=self.rank)
            place = self._divisor(term)
            if place is None:
                left[term] = rest.pop(term)
            else:
                self._subtract(rest, place, term, rest[term])
        return left

    def _divisor(self, term) -> int | None:
        """Return the place of a polynomial whose leading term divides a term."""
        for place, lead in enumerate(self.leads):
            if all(map(int.__le__, lead, term)):
                return place
        return None

    def _subtract(self, polynomial: _Terms, place: int, term, factor: Fraction) -> None:
        """Subtract the multiple of a polynomial of the basis that has this leading term."""
        lead = self.leads[place]
        for other, value in self.polynomials[place].items():
            product = tuple(t - a + b for t, a, b in zip(term, lead, other, strict=True))
            total = polynomial.get(product, Fraction(0)) - factor * value
            if total:
                polynomial[product] = total
            else:
                polynomial.pop(product, None)
