"""A quadric through noisy points: moments freed from noise, and the errors of what follows.

Products of the terms 1, x, y, z, x^2, ... have biased means where points are noisy. With the noise
taken out of all moments up to degree 4, the coefficients are where the matrix of these products is
singular; the noise itself, if it is not known, is what makes it so.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, null_space

from vanishing.algebra.evaluation import values_on
from vanishing.algebra.monomials import plan
from vanishing.calibration import settings
from vanishing.rows.moments import Moments

_STEPS = 60  # of a bisection
_SMALL = 1e-5  # steps of derivatives, relative


class Terms:
    """The terms of a quadric in so many columns, and the moments that their products need.

    Parameters
    ----------
    n_columns : int
    mixed : bool
        Whether products of two columns occur: without them axes are those of the columns.
    """

    def __init__(self, n_columns: int, mixed: bool = True):
        self.n, self.mixed = n_columns, mixed
        self.moments = Moments(n_columns, 2)
        every = self.moments.terms
        self.exponents = every[every.sum(axis=1) <= 2]
        if not mixed:
            self.exponents = self.exponents[(self.exponents > 0).sum(axis=1) <= 1]
        k = len(self.exponents)
        products = (self.exponents[:, np.newaxis] + self.exponents).reshape(-1, n_columns)
        self.places = self.moments.positions(products).reshape(k, k)
        self.own = self.places[0]  # of the terms themselves

    def __len__(self) -> int:
        return len(self.exponents)

    def monomials(self, points: np.ndarray) -> np.ndarray:
        """Return all monomials up to degree 4 of points, shape (n_points, n_moments)."""
        steps, position = plan(self.moments.terms)
        return values_on(np.ascontiguousarray(points.T), steps)[position].T

    def freed(self, noise: np.ndarray) -> np.ndarray:
        """Return the matrix that turns monomials into what they are on average without noise."""
        return self.moments.debias.adjoint(np.eye(len(self.moments.terms)), noise)

    def parts(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return A, b and c of x'Ax + b'x + c."""
        A, b, c = np.zeros((self.n, self.n)), np.zeros(self.n), 0.0
        for row, value in zip(self.exponents, coef, strict=True):
            places = np.repeat(np.arange(self.n), row)
            if len(places) == 2:
                A[places[0], places[1]] += 0.5 * value
                A[places[1], places[0]] += 0.5 * value
            elif len(places) == 1:
                b[places[0]] += value
            else:
                c += float(value)
        return A, b, c

    def distances(self, coef: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return distances of points from a quadric, to first order."""
        A, b, c = self.parts(coef)
        value = np.einsum("mi,ij,mj->m", points, A, points) + points @ b + c
        slope = np.linalg.norm(2.0 * points @ A + b, axis=1)
        return value / np.maximum(slope, 1e-300)


class QuadricFit(NamedTuple):
    """A quadric, the noise of its points, and the covariance of its coefficients.

    Attributes
    ----------
    coef : array of shape (n_terms,)
        Of length 1.
    covariance : array of shape (n_terms, n_terms)
    noise : array of shape (n_columns,)
    """

    coef: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray


def fitted_quadric(
    terms: Terms, monomials: np.ndarray, used: np.ndarray, noise: np.ndarray | None
) -> QuadricFit:
    """Fit a quadric to some of the points.

    Parameters
    ----------
    terms : Terms
    monomials : array of shape (n_points, n_moments)
    used : array of bool of shape (n_points,)
    noise : array of shape (n_columns,), default=None
        Standard deviations; None: the same in all columns, and estimated.
    """
    rows = monomials[used]
    means = rows.mean(axis=0)
    products = _Products(terms, means)
    is_known = noise is not None
    if noise is None:
        noise = np.full(terms.n, products.noise())
    coef = products.smallest(noise)[1]
    gram = products.freed(noise)
    # What each point says of each equation of the fit.
    weights = np.zeros((rows.shape[1], len(terms)))
    for a, places in enumerate(terms.places):
        np.add.at(weights[:, a], places, coef)
    said = rows @ (terms.freed(noise).T @ weights)
    across = np.cov(said, rowvar=False) / max(len(rows), 1)
    beside = null_space(coef[np.newaxis])
    if is_known:
        slopes, across = beside.T @ gram @ beside, beside.T @ across @ beside
    else:
        slopes = np.column_stack([gram @ beside, products.slope(noise, coef)])
    with np.errstate(all="ignore"):
        try:
            solved = np.linalg.solve(slopes, np.linalg.solve(slopes, across).T)
        except np.linalg.LinAlgError:
            solved = np.full(slopes.shape, np.inf)
    own = solved[: beside.shape[1], : beside.shape[1]]
    return QuadricFit(coef, beside @ np.nan_to_num(own, posinf=1e300) @ beside.T, noise)


class _Products:
    """Mean products of terms as a function of the noise."""

    def __init__(self, terms: Terms, means: np.ndarray):
        self.terms, self.means = terms, means
        size = np.sqrt(np.maximum(means[terms.places.diagonal()], 1e-300))
        self.unit = 1.0 / size

    def freed(self, noise: np.ndarray) -> np.ndarray:
        """Return them without noise."""
        return (self.terms.freed(noise) @ self.means)[self.terms.places]

    def smallest(self, noise: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the least eigenvalue, and coefficients of length 1."""
        scaled = self.freed(noise) * self.unit[:, np.newaxis] * self.unit
        values, vectors = eigh(scaled)
        coef = vectors[:, 0] * self.unit
        return float(values[0]), coef / np.linalg.norm(coef)

    def noise(self) -> float:
        """Return the noise at which a quadric vanishes: bisection cannot miss it."""
        n = self.terms.n
        rounding = 10.0 * len(self.unit) * np.finfo(np.float64).eps
        if self.smallest(np.zeros(n))[0] <= rounding:
            return 0.0
        own = self.terms.own
        columns = np.flatnonzero(self.terms.exponents.sum(axis=1) == 1)
        first = self.means[own[columns]]
        second = self.means[self.terms.places[columns][:, columns]] - np.outer(first, first)
        low, high = 0.0, float(np.sqrt(max(eigh(second, eigvals_only=True)[0], 0.0)))
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            if self.smallest(np.full(n, middle))[0] > 0.0:
                low = middle
            else:
                high = middle
        return high

    def slope(self, noise: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the derivative of what is zero by the variance of the noise."""
        variance = float(np.mean(np.square(noise)))
        step = max(_SMALL * variance, 1e-9)
        more = np.full(self.terms.n, np.sqrt(variance + step))
        return (self.freed(more) - self.freed(noise)) @ coef / step


def trimmed(terms: Terms, points: np.ndarray, monomials: np.ndarray) -> np.ndarray:
    """Return which points are as near to one quadric as most points are.

    The quadric is that of the 70 % of the points nearest to it. Points come in an order that looks
    random, which says where to start.
    """
    n_points, k = len(points), len(terms)
    n_kept = max(int(np.ceil(settings.KEPT * n_points)), min(k, n_points))

    def followed(used: np.ndarray, n_steps: int) -> tuple[float, np.ndarray]:
        total = np.inf
        for _ in range(n_steps):
            coef = _Products(terms, monomials[used].mean(axis=0)).smallest(np.zeros(terms.n))[1]
            square = np.square(terms.distances(coef, points))
            nearest = np.argpartition(square, n_kept - 1)[:n_kept]
            last, total = total, float(square[nearest].sum())
            used = nearest
            if not total < last * (1.0 - 1e-9):
                break
        return total, used

    every = np.arange(n_points)
    size = min(2 * k, n_points)
    starts = [every] + [
        np.take(every, np.arange(i * size, (i + 1) * size), mode="wrap")
        for i in range(settings.STARTS)
    ]
    answers = sorted(
        (followed(start, settings.START_STEPS) for start in starts), key=lambda a: a[0]
    )
    best = [followed(used, settings.LAST_STEPS) for _, used in answers[: settings.BEST]]
    _, used = min(best, key=lambda answer: answer[0])
    kept = np.zeros(n_points, dtype=bool)
    kept[used] = True
    return kept


def right_points(
    terms: Terms, points: np.ndarray, monomials: np.ndarray, noise: np.ndarray | None
) -> np.ndarray:
    """Return which points are no farther from a quadric than noise explains."""
    used = trimmed(terms, points, monomials)
    for _ in range(settings.FITS):
        fit = fitted_quadric(terms, monomials, used, noise)
        away = np.abs(terms.distances(fit.coef, points))
        size = float(np.median(away)) / 0.6745
        if noise is not None:
            size = max(size, float(np.max(noise)))
        last, used = used, away <= max(settings.FAR * size, 1e-9)
        if (used == last).all() or used.sum() < len(terms):
            break
    return used
