"""How far rows are from laws, and how noisy each column must be for that.

Values of laws on rows are the noise of the columns times the slopes of the laws. So products of two
such values are, on average, sums of variances of columns times products of slopes: with many rows a
least-squares problem for the variances, none of which is negative. A column's variance has a part
that is the same everywhere and one that grows with its value.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.stats import chi2

from vanishing.repair import settings
from vanishing.repair.system import LawSystem


class ColumnNoise(NamedTuple):
    """Variances of measurements, and what laws are off by beyond them.

    Attributes
    ----------
    constant : array of shape (n_columns,)
        Variance that is the same everywhere.
    relative : array of shape (n_columns,)
        Variance over the squared value, beyond that.
    slack : array of shape (n_laws, n_laws)
        Covariance of what laws are off by though rows have no noise, in units of their slopes.
    spread : array of shape (n_columns,)
        Of the columns: units of these slopes.
    """

    constant: np.ndarray
    relative: np.ndarray
    slack: np.ndarray
    spread: np.ndarray

    def variance(self, X: np.ndarray) -> np.ndarray:
        """Return the variance of each cell."""
        return self.constant + self.relative * np.square(X)

    def slack_at(self, slopes: np.ndarray) -> np.ndarray:
        """Return what laws may be off by, shape (n_rows, n_laws, n_laws)."""
        unit = units_of(slopes, self.spread)
        return self.slack * unit[:, :, np.newaxis] * unit[:, np.newaxis, :]


def units_of(slopes: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return how much laws change if all columns change by their spreads, (n_rows, n_laws)."""
    return np.sqrt(np.maximum(np.square(slopes * spread).sum(axis=2), 1e-300))


def noise_of(system: LawSystem, X: np.ndarray, spread: np.ndarray, given=None) -> ColumnNoise:
    """Return the noise of rows without gaps, most of which obey the laws.

    Parameters
    ----------
    system : LawSystem
    X : array of shape (n_rows, n_columns)
    spread : array of shape (n_columns,)
    given : array of shape (n_columns,), default=None
        Standard deviations, if they are known.
    """
    n, k = X.shape[1], len(system)
    least = np.square(settings.EXACT * spread)
    noise = ColumnNoise(least, np.zeros(n), np.zeros((k, k)), spread)
    if given is not None:
        noise = noise._replace(constant=np.maximum(np.square(given), least))
    if not k or not len(X):
        return noise
    values, slopes = system(X)
    unit = units_of(slopes, spread)
    usable = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    near = usable & _near_most(values / unit, usable)
    for _ in range(settings.NOISE_FITS):
        if not near.any():
            break
        if given is None:
            noise = _fitted_noise(noise, X[near], values[near], slopes[near], least)
        slack = _left(noise, X[near], values[near], slopes[near], unit[near])
        noise = noise._replace(slack=slack)
        last, near = near, obeying(noise, system, X)
        if (near == last).all():
            break
    return noise


def obeying(noise: ColumnNoise, system: LawSystem, X: np.ndarray) -> np.ndarray:
    """Return which rows without gaps obey all laws up to their noise."""
    values, slopes = system(X)
    usable = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    distance = np.full(len(X), np.inf)
    distance[usable] = _distances(noise, X[usable], values[usable], slopes[usable])
    return distance < chi2.ppf(settings.NORMAL, len(system))


def _near_most(off: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Return which rows are as near to each law as most rows are."""
    if not usable.any():
        return usable
    middle = np.median(np.abs(off[usable]), axis=0)
    with np.errstate(invalid="ignore"):
        return (np.abs(off) <= settings.ROUGH * np.maximum(1.4826 * middle, 1e-12)).all(axis=1)


def _covariance(noise: ColumnNoise, X, slopes) -> np.ndarray:
    """Return the covariance of the values of laws, row by row."""
    variance = noise.variance(X)
    return np.einsum("mki,mi,mli->mkl", slopes, variance, slopes) + noise.slack_at(slopes)


def _distances(noise: ColumnNoise, X, values, slopes) -> np.ndarray:
    inverse = np.linalg.pinv(_covariance(noise, X, slopes), hermitian=True, rcond=1e-12)
    return np.einsum("mk,mkl,ml->m", values, inverse, values)


def _fitted_noise(noise: ColumnNoise, X, values, slopes, least) -> ColumnNoise:
    """Return variances of columns by which products of values are explained."""
    k, n = values.shape[1], X.shape[1]
    first, second = np.triu_indices(k)
    products = values[:, first] * values[:, second]
    weights = slopes[:, first] * slopes[:, second]
    size = _covariance(noise._replace(slack=np.zeros((k, k))), X, slopes)
    own = np.sqrt(np.einsum("mkk->mk", size))
    # The first time nothing is known of sizes but what the values are.
    rough = np.sqrt(np.mean(np.square(values / units_of(slopes, noise.spread)), axis=0))
    own = np.maximum(own, 0.1 * rough * units_of(slopes, noise.spread)) + 1e-300
    size = own[:, first] * own[:, second]
    design = np.concatenate([weights * noise.spread**2, weights * np.square(X)[:, np.newaxis]], 2)
    A, b = (design / size[:, :, np.newaxis]).reshape(-1, 2 * n), (products / size).ravel()
    # Where laws cannot tell columns apart, all are equally noisy relative to their values.
    alike = np.r_[np.zeros(n), np.ones(n)]
    common = max(float((A @ alike) @ b / max(float(np.square(A @ alike).sum()), 1e-300)), 0.0)
    ridge = settings.NOISE_RIDGE * np.sqrt(np.square(A).mean(axis=0) * len(b) + 1e-300)
    gram = A.T @ A + np.diag(np.square(ridge))
    right = A.T @ b + np.square(ridge) * common * alike
    factor = np.linalg.cholesky(gram + 1e-12 * np.trace(gram) / (2 * n) * np.eye(2 * n))
    found, _ = nnls(factor.T, np.linalg.solve(factor, right))
    constant = np.maximum(found[:n] * noise.spread**2, least)
    return noise._replace(constant=constant, relative=found[n:])


def _left(noise: ColumnNoise, X, values, slopes, unit) -> np.ndarray:
    """Return what the noise does not explain: no direction of it is negative."""
    by_noise = _covariance(noise._replace(slack=np.zeros_like(noise.slack)), X, slopes)
    left = values[:, :, np.newaxis] * values[:, np.newaxis, :] - by_noise
    mean = (left / (unit[:, :, np.newaxis] * unit[:, np.newaxis, :])).mean(axis=0)
    sizes, vectors = np.linalg.eigh(mean)
    return (vectors * np.maximum(sizes, 0.0)) @ vectors.T
