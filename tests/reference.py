"""Slow, plain versions of the paper's algorithms, independent of the library, to test it against.

A term is a tuple of exponents. A generator is ``leading term + sum_i coef_i * term_i`` with the
terms of the order ideal in DegLex order, so its leading coefficient is one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np


class Basis(NamedTuple):
    """Terms of the order ideal, and for each generator leading term, coefficients and mse."""

    terms: list
    leading_terms: list
    coef: list  # of one sequence a generator, as long as the order ideal was at that moment
    mse: list

    def coef_matrix(self):
        """Coefficients on all terms of the order ideal, zero where a term came later."""
        matrix = np.zeros((len(self.coef), len(self.terms)))
        for row, coef in zip(matrix, self.coef, strict=True):
            row[: len(coef)] = [float(c) for c in coef]
        return matrix


# ---------------------------------------------------------------------------------- monomials


def deglex_key(term):
    """Sort key of DegLex with t_1 < t_2 < ... < t_n: (degree, e_n, ..., e_1)."""
    return (sum(term), *reversed(term))


def divides(divisor, term):
    """Whether one term divides another."""
    return all(a <= b for a, b in zip(divisor, term, strict=True))


def times_variable(term, i):
    """The term multiplied by the i-th variable."""
    return (*term[:i], term[i] + 1, *term[i + 1 :])


def divisors(term):
    """All divisors of a term, the term itself included."""
    return list(product(*(range(e + 1) for e in term)))


def border(order_ideal, degree, kind):
    """Degree-d border of a set of terms, smallest first; kind "gb" or "bb" (section 8)."""
    order_ideal = set(order_ideal)
    last = [t for t in order_ideal if sum(t) == degree - 1]
    terms = {times_variable(t, i) for t in last for i in range(len(t))}
    if kind == "gb":
        terms = {u for u in terms if all(t in order_ideal for t in divisors(u) if t != u)}
    return sorted(terms, key=deglex_key)


def evaluate(terms, X):
    """Matrix of the values of the terms (columns) on the rows of X."""
    terms = np.reshape(np.asarray(terms, dtype=int), (len(terms), X.shape[1]))
    return np.prod(X[:, None, :] ** terms[None, :, :], axis=2)


# ------------------------------------------------------------------------------------ oracles


def pcg(A, b, *, psi, radius, eps=1e-3, tol=1e-6, max_iter=10_000):
    """Pairwise conditional gradients (Algorithm 3) for ||A v + b||^2 / m on an l1-ball.

    Returns coefficients, function value, status and number of steps. A vertex is a pair
    (index, sign); ``weights`` is the active set. Vertices are scanned in index order, +e_i before
    -e_i, and one replaces the best so far only if it is better beyond rounding.
    """
    m, k = A.shape
    tie = 1e-13 * (radius + 1) * max(1.0, np.max(np.sum(A * A, axis=0)) / m)
    vertices = [(i, sign) for i in range(k) for sign in (1, -1)]
    weights = {(0, 1): 1.0}
    last_value = np.inf
    steps = 0
    while True:
        v = np.zeros(k)
        for (i, sign), weight in weights.items():
            v[i] += sign * radius * weight
        residual = A @ v + b
        value = residual @ residual / m
        half_gradient = A.T @ residual / m
        gradient = 2 * half_gradient
        gap = gradient @ v + radius * np.max(np.abs(gradient))

        if value <= psi:
            return v, value, "found", steps
        if value - gap > psi:
            return v, value, "none", steps
        if gap <= eps * psi:
            return v, value, "accurate", steps
        if last_value - value < tol * psi:
            return v, value, "stalled", steps
        if steps == max_iter:
            return v, value, "exhausted", steps

        half = half_gradient.tolist()
        toward, toward_value = None, np.inf
        for i, sign in vertices:
            if sign * half[i] < toward_value - tie:
                toward, toward_value = (i, sign), sign * half[i]
        away, away_value = None, -np.inf
        for i, sign in vertices:
            if (i, sign) in weights and sign * half[i] > away_value + tie:
                away, away_value = (i, sign), sign * half[i]

        direction = np.zeros(k)
        direction[toward[0]] += toward[1] * radius
        direction[away[0]] -= away[1] * radius
        step = line_search(A @ direction, gradient @ direction, weights[away])
        weights[toward] = weights.get(toward, 0.0) + step
        weights[away] -= step
        weights = {vertex: weight for vertex, weight in weights.items() if weight > 0}
        last_value = value
        steps += 1


def agd(A, b, *, psi, tol=1e-6, max_iter=10_000):
    """Accelerated gradient descent as the authors published it, for ||A v + b||^2 / m.

    Returns coefficients, function value and number of steps.
    """
    m, size = A.shape
    eigenvalues = np.linalg.eigvalsh(2 * (A.T @ A / m))
    smallest, largest = eigenvalues[0], eigenvalues[-1]
    regular = smallest > 0
    x = y = z = np.zeros(size)
    value, slow = b @ b / m, 0
    for k in range(1, max_iter + 1):
        gradient = 2 * A.T @ (A @ x + b) / m
        new = x - gradient / largest
        if regular:
            q = (np.sqrt(largest / smallest) - 1) / (np.sqrt(largest / smallest) + 1)
            x = (1 + q) * new - q * y
        else:
            z = z - (k + 1) / (2 * largest) * gradient
            x = (k + 1) / (k + 3) * new + 2 / (k + 3) * z
        y = new
        last_value, value = value, np.sum((A @ y + b) ** 2) / m
        slow = slow + 1 if value + tol * psi > last_value else 0
        if value < psi or slow == 20:
            break
    return y, value, k


def line_search(change, slope, largest):
    """Minimiser in [0, largest] of the squared loss along a direction d with A d = change."""
    curvature = 2 * (change @ change) / len(change)
    if slope >= 0:
        return 0.0
    if curvature == 0:
        return largest
    return min(largest, -slope / curvature)


def least_squares(A, b):
    """Unconstrained minimiser of ||A v + b||^2 / m and its value."""
    v = np.linalg.lstsq(A, -b, rcond=None)[0]
    residual = A @ v + b
    return v, residual @ residual / len(b)


# --------------------------------------------------------------------------------------- OAVI


def oavi(
    X,
    psi,
    *,
    oracle="pcg",
    kind="gb",
    tau=1000.0,
    eps=1e-3,
    tol=1e-6,
    max_iter=10_000,
    max_degree=10,
):
    """OAVI (Algorithm 2) on the rows, with ``oracle`` "pcg", "agd" or "ls" and border ``kind``."""
    terms, leading_terms, coefs, mses = [(0,) * X.shape[1]], [], [], []
    for degree in range(1, max_degree + 1):
        for u in border(terms, degree, kind):
            A, b = evaluate(terms, X), evaluate([u], X)[:, 0]
            if oracle == "pcg":
                limits = {"eps": eps, "tol": tol, "max_iter": max_iter}
                coef, mse, _, _ = pcg(A, b, psi=psi, radius=tau - 1, **limits)
            elif oracle == "agd":
                coef, mse, _ = agd(A, b, psi=psi, tol=tol, max_iter=max_iter)
            else:
                coef, mse = least_squares(A, b)
            if mse <= psi:
                leading_terms.append(u)
                coefs.append(coef)
                mses.append(mse)
            else:
                terms.append(u)
    return Basis(terms, leading_terms, coefs, mses)


# ------------------------------------------------------------------------- exact computation


def evaluate_exactly(term, points):
    """Values of a term on points with integer or rational coordinates, as fractions."""
    values = []
    for point in points:
        value = Fraction(1)
        for x, e in zip(point, term, strict=True):
            value *= Fraction(x) ** e
        values.append(value)
    return values


def buchberger_moller(points, kind="gb"):
    """Reduced DegLex Groebner basis (or border basis, "bb") of the ideal of rational points.

    The rows of ``echelon`` are (pivot, values on the points, the same as a combination of the
    terms of the order ideal), with value one at the pivot and zero at the pivots before. The values
    of a border term are reduced by them: nothing left means a generator.
    """
    terms, leading_terms, coefs, echelon = [], [], [], []

    def handle(u):
        rest = evaluate_exactly(u, points)
        combination = [Fraction(0)] * len(terms)  # values of u = rest + combination of the terms
        for pivot, values, row in echelon:
            factor = rest[pivot]
            rest = [r - factor * value for r, value in zip(rest, values, strict=True)]
            for i, c in enumerate(row):
                combination[i] += factor * c
        pivot = next((i for i, r in enumerate(rest) if r != 0), None)
        if pivot is None:
            leading_terms.append(u)
            coefs.append([-c for c in combination])
        else:
            scale = rest[pivot]
            row = [-c / scale for c in combination] + [1 / scale]
            echelon.append((pivot, [r / scale for r in rest], row))
            terms.append(u)

    handle((0,) * len(points[0]))
    degree = 1
    while new := border(terms, degree, kind):
        for u in new:
            handle(u)
        degree += 1
    return Basis(terms, leading_terms, coefs, [Fraction(0)] * len(coefs))
