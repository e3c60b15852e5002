"""Moments of polynomials without what noise adds to them, and equations that follow from them.

Noise of known size makes mean powers too large by amounts that are known: E[h_k(x + e)] = x^k for
Hermite polynomials h_k.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.fitting.sample import columns_of, is_held_out
from vanishing.fitting.variety import VarietyEquation, evaluated, gradient
from vanishing.rows.source import RowPart

_ROWS = 20_000  # evaluated at once


def hermite(columns: np.ndarray, noise: np.ndarray, highest: int) -> np.ndarray:
    """Return powers of columns freed from noise, shape (n_columns, highest + 1, n_rows).

    E[h_k(x + e)] = x^k for e of standard deviation s: h_{k+1} = x h_k - k s^2 h_{k-1}.
    """
    powers = np.empty((len(columns), highest + 1, columns.shape[1]))
    powers[:, 0] = 1.0
    if highest:
        powers[:, 1] = columns
    for k in range(1, highest):
        powers[:, k + 1] = columns * powers[:, k] - k * (noise**2)[:, None] * powers[:, k - 1]
    return powers


def _means(powers, exponents: np.ndarray, weight) -> np.ndarray:
    """Return the weighted means of products of powers, one for each row of exponents."""
    found = np.empty(len(exponents))
    for i, row in enumerate(exponents):
        value = weight
        for column in np.flatnonzero(row):
            value = value * powers[column, row[column]]
        found[i] = value.sum()
    return found / weight.sum()


class Matrices(NamedTuple):
    """Gram matrices of terms and of their gradients, both without what noise adds."""

    gram: np.ndarray
    slope: np.ndarray


def matrices(
    columns, weight, exponents: np.ndarray, noise: np.ndarray, unit: np.ndarray
) -> Matrices:
    """Return both matrices; gradients are in units of ``unit``, the noise to be found or known."""
    k, n = exponents.shape
    powers = hermite(columns, noise, 2 * int(exponents.max(initial=1)))
    sums = exponents[:, None, :] + exponents[None, :, :]
    upper = np.triu_indices(k)
    # The same sum of exponents occurs many times: each mean is taken once.
    distinct, place = np.unique(sums[upper], axis=0, return_inverse=True)
    means = dict(zip(map(tuple, distinct.tolist()), _means(powers, distinct, weight), strict=True))
    values = np.array([means[tuple(row)] for row in distinct.tolist()])[place.ravel()]
    gram = np.zeros((k, k))
    gram[upper] = values
    gram = gram + np.triu(gram, 1).T
    slope = np.zeros((k, k))
    for column in range(n):
        lowered = sums.copy()
        lowered[:, :, column] -= 2
        both = np.outer(exponents[:, column], exponents[:, column])
        used = np.argwhere(both > 0)
        wanted = [tuple(lowered[i, j].tolist()) for i, j in used]
        missing = sorted({row for row in wanted if row not in means})
        if missing:
            more = _means(powers, np.array(missing), weight)
            means.update(zip(missing, more, strict=True))
        for (i, j), row in zip(used, wanted, strict=True):
            slope[i, j] += unit[column] ** 2 * both[i, j] * means[row]
    return Matrices(gram, slope)


class Debiased:
    """The question for the sums that the coefficients of a polynomial law follow from."""

    def __init__(self, equation: VarietyEquation, noise, units, coef=None, far=None, without=None):
        self.exponents, self.noise, self.units, self.coef = equation.exponents, noise, units, coef
        self.equation, self.far = equation, far  # rows farther than this many deviations are wrong
        self.without = without  # the seed of rows held out, where these are not asked

    def __call__(self, part: RowPart):
        """Return sums of D = freed products of terms, or of D v v' D' once v is known."""
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        if self.without is not None:
            weight = weight * ~is_held_out(columns, self.without)
        k = len(self.exponents)
        total = np.zeros((k, k))
        counted = 0.0
        for start in range(0, len(weight), _ROWS):
            here = slice(start, start + _ROWS)
            z = columns[:, here] / self.units[:, None]
            w = weight[here] if self.far is None else weight[here] * self._is_near(z)
            counted += w.sum()
            powers = hermite(z, self.noise, 2 * int(self.exponents.max(initial=1)))
            if self.coef is None:
                for i in range(k):
                    for j in range(i + 1):
                        total[i, j] += w @ self._product(powers, i, j, len(w))
            else:
                score = np.zeros((k, len(w)))
                for i in range(k):
                    for j in range(k):
                        score[i] += self.coef[j] * self._product(powers, i, j, len(w))
                total += (score * w) @ score.T
        if self.coef is None:
            total = total + np.tril(total, -1).T
        return total, counted

    def _is_near(self, z):
        value = self.equation.coef @ evaluated(z, self.exponents)
        slope = gradient(z, self.equation) * self.noise[:, None]
        return np.abs(value) <= self.far * np.sqrt((slope**2).sum(axis=0))

    def _product(self, powers, i, j, size):
        value = np.ones(size)
        for column, e in enumerate(self.exponents[i] + self.exponents[j]):
            if e:
                value = value * powers[column, e]
        return value

    @staticmethod
    def combine(first, second):
        """Return the sums over two sets of rows."""
        return first[0] + second[0], first[1] + second[1]


def fitted_equation(equation: VarietyEquation, noise, units, ask: Callable, far=None, without=None):
    """Return coefficients, the largest 1, and their covariance; rows held out may be left out.

    The equation's mean with each of its terms is zero, once noise is taken out: A v = 0. Errors
    are those of such estimating equations (a sandwich).
    """
    exponents = equation.exponents
    question = Debiased(equation, noise, units, far=far, without=without)
    total, count = ask(question, Debiased.combine)
    A = total / count
    sizes = np.abs(equation.coef) * np.sqrt(np.abs(A.diagonal()))
    fixed = int(np.argmax(sizes))
    free = np.delete(np.arange(len(exponents)), fixed)
    coef = np.zeros(len(exponents))
    coef[fixed] = 1.0
    inverse = np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-14, hermitian=True)
    coef[free] = -inverse @ A[free, fixed]
    covariance = np.zeros((len(coef), len(coef)))
    if not equation.exact:
        outer, _ = ask(Debiased(equation, noise, units, coef, far, without), Debiased.combine)
        covariance[np.ix_(free, free)] = (
            inverse @ (outer / count)[np.ix_(free, free)] @ inverse / count
        )
    return coef, covariance, fixed
