"""Products of terms without what noise adds to them, and equations that follow from their means."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate
from vanishing.fitting.normal import with_fixed
from vanishing.fitting.sample import columns_of, is_held_out
from vanishing.fitting.variety import VarietyEquation, evaluated, gradient
from vanishing.rows.noise import Debiasing
from vanishing.rows.source import RowPart

_ROWS = 20_000  # evaluated at once


class TermProducts:
    """Moments that all products of two terms need, to be freed from noise.

    Attributes
    ----------
    moments : array of shape (n_moments, n_columns)
        Exponents: of the products, and of what is left of them without squares of columns.
    places : array of shape (n_terms, n_terms)
        Where the product of each pair of terms is among them.
    debias : Debiasing
    """

    def __init__(self, exponents: np.ndarray):
        k, n = exponents.shape
        self.products = exponents[:, np.newaxis] + exponents
        moments = self.products.reshape(-1, n).astype(monomials.EXPONENT)
        for column in range(n):
            powers = range(2, int(moments[:, column].max(initial=0)) + 1, 2)
            unit = np.eye(n, dtype=monomials.EXPONENT)[column]
            lower = [moments[moments[:, column] >= p] - p * unit for p in powers]
            moments = np.concatenate([moments, *lower])
            # By their keys: unique rows of many columns would take a thousand times as long.
            moments = moments[np.unique(monomials.keys(moments), return_index=True)[1]]
        self.moments, self._keys = moments, monomials.keys(moments)
        self.places = self.positions(self.products.reshape(-1, n)).reshape(k, k)
        self.debias = Debiasing(moments, self.positions)

    def positions(self, exponents: np.ndarray) -> np.ndarray:
        """Return where exponents are among the moments."""
        return monomials.contains(self._keys, monomials.keys(exponents))[1]

    def sums(self, columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return weighted sums over rows, which have noise."""
        plan, position = monomials.plan(self.moments)
        total = np.zeros(plan.parent.size)
        for rows, values in evaluate(columns.T, plan, rows=chunk_rows(plan.parent.size, None)):
            total += values @ weight[rows]
        return total[position]


class Matrices(NamedTuple):
    """Gram matrices of terms and of their gradients, both without what noise adds."""

    gram: np.ndarray
    slope: np.ndarray


def matrices(
    columns, weight, exponents: np.ndarray, noise: np.ndarray, unit: np.ndarray
) -> Matrices:
    """Return both matrices; gradients are in units of ``unit``, the noise to be found or known."""
    products = TermProducts(exponents)
    means = products.debias(products.sums(columns, weight) / weight.sum(), noise)
    slope = np.zeros(products.places.shape)
    for column, powers in enumerate(exponents.T):
        i, j = np.nonzero(np.outer(powers, powers))
        lower = products.products[i, j]
        lower[:, column] -= 2
        slope[i, j] += unit[column] ** 2 * powers[i] * powers[j] * means[products.positions(lower)]
    return Matrices(means[products.places], slope)


class Debiased:
    """The question for the sums that the coefficients of a polynomial law follow from."""

    def __init__(self, equation: VarietyEquation, noise, units, coef=None, far=None, without=None):
        self.equation, self.noise, self.units = equation, noise, units
        self.far = far  # rows farther than this many deviations are wrong
        self.without = without  # the seed of rows held out, where these are not asked
        self.products = TermProducts(equation.exponents)
        self.functions = None
        if coef is not None:
            k = len(coef)
            functions = np.zeros((k, len(self.products.moments)))
            np.add.at(functions, (np.arange(k)[:, np.newaxis], self.products.places), coef)
            self.functions = self.products.debias.adjoint(functions, noise)

    def __call__(self, part: RowPart):
        """Return sums of moments, or of v v' for v = D c once c is known, and the weight of rows.

        D are the products of terms on a row, freed from noise.
        """
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        if self.without is not None:
            weight = weight * ~is_held_out(columns, self.without)
        k = len(self.equation.exponents)
        total = np.zeros(len(self.products.moments) if self.functions is None else (k, k))
        counted = 0.0
        for start in range(0, len(weight), _ROWS):
            rows = slice(start, start + _ROWS)
            z = columns[:, rows] / self.units[:, None]
            w = weight[rows] if self.far is None else weight[rows] * self._is_near(z)
            counted += w.sum()
            if self.functions is None:
                total += self.products.sums(z, w)
            else:
                score = self.functions @ evaluated(z, self.products.moments)
                total += (score * w) @ score.T
        return total, counted

    def _is_near(self, z):
        value = self.equation.coef @ evaluated(z, self.equation.exponents)
        slope = gradient(z, self.equation) * self.noise[:, None]
        return np.abs(value) <= self.far * np.sqrt((slope**2).sum(axis=0))

    @staticmethod
    def combine(first, second):
        """Return the sums over two sets of rows."""
        return first[0] + second[0], first[1] + second[1]


def fitted_equation(equation: VarietyEquation, noise, units, ask: Callable, far=None, without=None):
    """Return coefficients, the largest 1, and their covariance; rows held out may be left out.

    The equation's mean with each of its terms is zero, once noise is taken out: A v = 0. Errors
    are those of such estimating equations (a sandwich).
    """
    question = Debiased(equation, noise, units, far=far, without=without)
    total, count = ask(question, Debiased.combine)
    A = question.products.debias(total / count, noise)[question.products.places]
    sizes = np.abs(equation.coef) * np.sqrt(np.abs(A.diagonal()))
    fixed = int(np.argmax(sizes))
    free = np.delete(np.arange(len(A)), fixed)
    inverse = np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-14, hermitian=True)
    coef = np.insert(-inverse @ A[free, fixed], fixed, 1.0)
    covariance = np.zeros((len(free),) * 2)
    if not equation.exact:
        outer, _ = ask(Debiased(equation, noise, units, coef, far, without), Debiased.combine)
        covariance = inverse @ (outer / count)[np.ix_(free, free)] @ inverse / count
    return coef, with_fixed(covariance, fixed), fixed
