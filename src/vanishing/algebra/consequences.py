"""What follows from equations: the leading terms of all polynomials that they make vanish."""

import heapq
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from vanishing._types import IntArray
from vanishing.algebra.division import (
    Coefficients,
    Divisor,
    coefficients_of,
    divided,
    to_exact_polynomial,
)
from vanishing.algebra.polynomials import Polynomial

_MOST = 1000  # polynomials; systems that people write down have far fewer


def leading_terms(equations: Sequence[Polynomial], columns: IntArray, max_degree: int) -> IntArray:
    """Return terms whose multiples are the leading terms of what follows from equations.

    By Buchberger's algorithm on fractions, up to a degree.

    Parameters
    ----------
    equations : sequence of Polynomial
        Each stands for an equation: it is zero.
    columns : ndarray of int of shape (n_features,)
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
        basis.add(coefficients_of(to_exact_polynomial(equation, equation.feature_names)))
    basis.close()
    leads = [divisor.leading_term for divisor in basis.divisors]
    return np.array(leads, dtype=np.int64).reshape(-1, len(columns))


class _Basis:
    """Polynomials with leading coefficient 1, and the pairs of them that are still to be combined.

    Parameters
    ----------
    columns : ndarray of int
    max_degree : int
    """

    def __init__(self, columns: IntArray, max_degree: int):
        self.columns = columns
        self.max_degree = max_degree
        self.divisors: list[Divisor] = []
        self.pairs: list[tuple] = []  # (degree, place, place, common multiple), a heap

    def _rank(self, term):
        """Return what compares as terms do in DegLex."""
        return (sum(term), *(term[i] for i in self.columns[::-1]))

    def add(self, polynomial: Coefficients) -> None:
        """Add what a polynomial says that others do not, and its pairs with them."""
        polynomial = divided(polynomial, self.divisors, self.columns)[0]
        if not polynomial:
            return
        lead = max(polynomial, key=self._rank)
        if not any(lead):
            raise ValueError("the equations contradict one another: nothing satisfies all of them.")
        if len(self.divisors) == _MOST:
            raise ValueError(f"more than {_MOST} polynomials follow from the equations.")
        for place, (other, _, _) in enumerate(self.divisors):
            common = tuple(map(max, lead, other))
            # Nothing new follows from two leading terms without a common factor.
            if sum(common) <= self.max_degree and sum(common) < sum(lead) + sum(other):
                heapq.heappush(self.pairs, (sum(common), place, len(self.divisors), common))
        factor = polynomial.pop(lead)
        others = {term: value / factor for term, value in polynomial.items()}
        self.divisors.append(Divisor(lead, Fraction(1), others))

    def close(self) -> None:
        """Combine pairs, those of low degree first, until nothing new follows."""
        while self.pairs:
            _, first, second, common = heapq.heappop(self.pairs)
            combined: Coefficients = {}
            for place, sign in ((first, 1), (second, -1)):
                lead, _, others = self.divisors[place]
                for other, value in others.items():
                    # The leading terms, multiplied up to their common multiple, cancel.
                    term = tuple(c - a + b for c, a, b in zip(common, lead, other, strict=True))
                    combined[term] = combined.get(term, 0) + sign * value
            self.add(combined)
