"""A smooth surrogate of a target: its noise, its values without noise, and its gradients.

The surrogate is M Q(u) or M exp Q(u), with a polynomial Q in Legendre form and u the variables or,
where they are positive and not close to zero, their logarithms, scaled to [-1, 1]. It is no answer:
it says how large the noise is, what the target is without it, and how it changes with each
variable.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from vanishing.fitting import settings
from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import of_size_one
from vanishing.fitting.smooth_terms import exponents_up_to, legendre_products, range_of


@lru_cache(maxsize=64)
def _derivative_places(n_variables: int, max_terms: int, max_degree: int):
    """Return (row, column, factor) of P_n' = sum of (2k + 1) P_k, k = n-1, n-3..., per variable."""
    exponents = exponents_up_to(n_variables, max_terms, max_degree).tolist()
    place = {tuple(row): i for i, row in enumerate(exponents)}
    places = []
    for variable in range(n_variables):
        entries = [
            (place[(*row[:variable], k, *row[variable + 1 :])], i, 2.0 * k + 1.0)
            for i, row in enumerate(exponents)
            for k in range(row[variable] - 1, -1, -2)
        ]
        places.append(tuple(np.array(part) for part in zip(*entries, strict=True)))
    return places


class Surrogate(NamedTuple):
    """A fitted surrogate of Y = y / M.

    Attributes
    ----------
    exponential : bool
    coef : array of shape (n_terms,)
    exponents : array of shape (n_terms, n_variables)
    centre, spread : array of shape (n_variables,)
        u = (variable - centre) / spread.
    mean_square : float
        Of the residual of y, corrected for the number of coefficients: the noise.
    n_terms : int
        Coefficients in use.
    limited : bool
        Whether a higher degree might have helped.
    """

    exponential: bool
    coef: np.ndarray
    exponents: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    mean_square: float
    n_terms: int
    limited: bool

    def basis(self, variables: np.ndarray) -> np.ndarray:
        """Return the values of the terms."""
        u = (variables - self.centre[:, np.newaxis]) / self.spread[:, np.newaxis]
        return legendre_products(u, self.exponents)

    def values(self, variables: np.ndarray) -> np.ndarray:
        """Return Y on rows, from variables of shape (n_variables, n_rows)."""
        value = self.coef @ self.basis(variables)
        return np.exp(np.minimum(value, 700.0)) if self.exponential else value

    def gradients(self, variables: np.ndarray) -> np.ndarray:
        """Return dY/du of shape (n_variables + 1, n_rows), in units of the variables; Y is last."""
        n_variables = len(self.centre)
        size = len(self.exponents)
        highest = int(self.exponents.sum(axis=1).max(initial=0))
        slopes = np.zeros((n_variables + 1, size))
        slopes[-1] = self.coef
        places = _derivative_places(n_variables, size, highest)
        for k, (row, column, factor) in enumerate(places if highest else ()):
            np.add.at(slopes[k], row, factor * self.coef[column] / self.spread[k])
        values = slopes @ self.basis(variables)
        if self.exponential:
            values[-1] = np.exp(np.minimum(values[-1], 700.0))
            values[:-1] *= values[-1]
        return values


def fit_surrogate(variables, factor, y, weight) -> Surrogate:
    """Fit a surrogate by generalised cross-validation over forms and degrees.

    Parameters
    ----------
    variables : array of shape (n_variables, n_rows)
        Logarithms of positive variables; others as they are.
    factor : array of shape (n_rows,)
        M, such that y = M Y.
    y, weight : array of shape (n_rows,)
    """
    n_variables, n_rows = variables.shape
    centre, spread = range_of(variables)
    root, count = np.sqrt(weight), float(weight.sum())
    # By their weights, many rows may be few observations.
    n_terms = min(settings.MAX_SMOOTH_TERMS, max(1, min(n_rows // 4, int(count))))
    exponents = exponents_up_to(n_variables, n_terms, settings.MAX_SMOOTH_DEGREE)
    degrees = exponents.sum(axis=1)
    sizes = [int(np.count_nonzero(degrees <= d)) for d in range(int(degrees.max(initial=0)) + 1)]
    basis = legendre_products((variables - centre[:, None]) / spread[:, None], exponents)
    fits = [(False, *_plain(basis, factor, y, root, sizes))]
    positive = np.average(y * np.sign(factor) > 0, weights=weight)
    if positive >= settings.EXPONENTIAL_SHARE:
        fits.append((True, *_exponential(basis, factor, y, root, sizes)))
    exponential, residual, coef, k, limited = min(
        fits, key=lambda fit: fit[1] / _freedom(fit[3], count) ** 2
    )
    mean_square = max(residual, 0.0) / _freedom(k, count)
    return Surrogate(
        exponential, coef[:k], exponents[:k], centre, spread, float(mean_square), k, limited
    )


def _freedom(k, count):
    """Return the share of the observations that k terms leave free, as if one were at least."""
    return 1.0 - k / np.maximum(count, k + 1.0)


def _nested_fit(weighted, target, count, sizes) -> tuple[np.ndarray, int, bool]:
    """Return coefficients of the first k terms, k, and whether a higher degree might help.

    k is chosen out of ``sizes`` by generalised cross-validation. One factorisation G = L L' serves
    all: the first k terms leave |target|^2 - |first k of L^-1 cross|^2.
    """
    norm = float(target @ target) / count
    gram, scale = of_size_one(weighted @ weighted.T / count, 1e-13 * len(weighted))
    cross = weighted @ target / count / scale
    lower = cholesky(gram, lower=True, check_finite=False)
    projected = solve_triangular(lower, cross, lower=True, check_finite=False)
    residual = norm - np.cumsum(projected**2)[np.asarray(sizes) - 1]
    # What is rounding is no gain.
    score = np.maximum(residual, 1e-14 * norm) / _freedom(np.asarray(sizes), count) ** 2
    i = int(np.argmin(score))
    k = sizes[i]
    coef = np.zeros(len(scale))
    solved = solve_triangular(
        lower[:k, :k], projected[:k], lower=True, trans="T", check_finite=False
    )
    coef[:k] = solved / scale[:k]
    # Where the last degree still gained much, the next one would gain, too.
    gaining = i == 0 or residual[i] < settings.STILL_GAINING * residual[i - 1]
    return coef, k, i == len(sizes) - 1 and bool(gaining)


def _plain(basis, factor, y, root, sizes):
    count = float(root @ root)
    weighted, target = basis * (factor * root), y * root
    coef, k, limited = _nested_fit(weighted, target, count, sizes)
    left = target - coef @ weighted
    return float(left @ left) / count, coef, k, limited


class _ExponentialPoint:
    """y = M exp(Q) at coefficients of Q, of which the last may be zero."""

    def __init__(self, basis, factor, y, root, sizes, coef: np.ndarray):
        self.basis, self.sizes, self.coef = basis, sizes, coef
        self.count = float(root @ root)
        self.value = np.clip(coef @ basis, -700.0, 700.0)
        self.pull = root * factor * np.exp(self.value)
        self.left = y * root - self.pull
        with np.errstate(over="ignore"):  # an infinite loss is never the least
            self.residual = float(self.left @ self.left) / self.count
        n_used = int(np.flatnonzero(coef).max(initial=0)) + 1
        self.n_terms = next(size for size in sizes if size >= n_used)
        # Points differ in their number of terms: their residuals alone cannot be compared.
        self.loss = self.residual / _freedom(self.n_terms, self.count) ** 2

    @cached_property
    def linearised(self):
        """What is best where exp is replaced by its tangent; None where numbers overflow."""
        target = self.left + self.value * self.pull
        weighted = self.basis * self.pull
        with np.errstate(over="ignore"):
            finite = np.isfinite(np.square(weighted).sum()) and np.isfinite(target @ target)
        return _nested_fit(weighted, target, self.count, self.sizes) if finite else None

    def step(self) -> np.ndarray | None:
        return None if self.linearised is None else self.linearised[0] - self.coef

    @property
    def limited(self) -> bool:
        """Whether a higher degree might have helped."""
        at_last = self.n_terms == self.sizes[-1]
        return at_last and self.linearised is not None and self.linearised[2]


def _exponential(basis, factor, y, root, sizes):
    """Fit y = M exp(Q), from the logarithms of what is positive."""
    ratio = y / factor
    floor = settings.LEAST_RATIO * np.sqrt(np.average(ratio**2, weights=root**2))
    value = np.log(np.maximum(ratio, floor))
    pull = root * np.abs(factor) * np.exp(value)
    start, _, _ = _nested_fit(basis * pull, value * pull, float(root @ root), sizes)
    point = gauss_newton(
        lambda coef: _ExponentialPoint(basis, factor, y, root, sizes, coef),
        start,
        max_steps=settings.EXPONENTIAL_STEPS,
        least_gain=settings.EXPONENTIAL_GAIN,
    )
    return point.residual, point.coef, point.n_terms, point.limited
