"""How far rows are from laws, and how noisy each column must be for that.

Values of laws on rows are the noise of the columns times the slopes of the laws. So products of two
such values are, on average, sums of variances of columns times products of slopes: with many rows a
least-squares problem for the variances, none of which is negative. A column's variance has a part
that is the same everywhere and one that grows with its value.
"""

import warnings
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
    """Return the noise of rows, most of which obey the laws.

    Parameters
    ----------
    system : LawSystem
    X : array of shape (n_rows, n_columns)
        NaN in gaps: of a row, the laws are looked at whose columns it has.
    spread : array of shape (n_columns,)
    given : array of shape (n_columns,), default=None
        Standard deviations, if they are known.
    """
    n, k = X.shape[1], len(system)
    least = np.square(settings.EXACT * spread)
    noise = ColumnNoise(least, np.zeros(n), np.zeros((k, k)), spread)
    if given is not None:
        noise = noise._replace(constant=np.maximum(np.square(given), least))
    if not k:
        return noise
    values = LawValues.of(system, X, spread)
    near = values.near_most()
    for _ in range(settings.NOISE_FITS):
        if not near.any():
            break
        used = values.rows(near)
        if given is None:
            noise = _fitted_noise(noise, used, least)
        noise = noise._replace(slack=_left(noise, used))
        last, near = near, values.are_normal(noise)
        if (near == last).all():
            break
    return noise


def obeying(noise: ColumnNoise, system: LawSystem, X: np.ndarray) -> np.ndarray:
    """Return which rows obey all laws up to their noise."""
    return LawValues.of(system, X, noise.spread).are_normal(noise)


class LawValues(NamedTuple):
    """Values and slopes of laws on rows; zero where a row has not all columns of a law.

    Attributes
    ----------
    X : array of shape (n_rows, n_columns)
        Zero in gaps.
    values : array of shape (n_rows, n_laws)
    slopes : array of shape (n_rows, n_laws, n_columns)
    unit : array of shape (n_rows, n_laws)
        By how much laws change if all columns change by their spreads.
    known : array of bool of shape (n_rows, n_laws)
    """

    X: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    unit: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, system: LawSystem, X: np.ndarray, spread: np.ndarray) -> "LawValues":
        """Evaluate laws on rows."""
        values, slopes = system(X)
        known = np.isfinite(values) & np.isfinite(slopes).all(axis=2)
        values = np.where(known, values, 0.0)
        slopes = np.where(known[:, :, np.newaxis], slopes, 0.0)
        unit = np.where(known, units_of(slopes, spread), 1.0)
        return cls(np.nan_to_num(X), values, slopes, unit, known)

    def rows(self, which: np.ndarray) -> "LawValues":
        """Return some of the rows."""
        return LawValues(*(part[which] for part in self))

    def near_most(self) -> np.ndarray:
        """Return which rows are as near to each law as most rows are."""
        off = np.where(self.known, np.abs(self.values) / self.unit, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of laws that no row has all columns of
            middle = np.nan_to_num(np.nanmedian(off, axis=0))
        far = np.nan_to_num(off) > settings.ROUGH * np.maximum(1.4826 * middle, 1e-12)
        return ~far.any(axis=1) & self.known.any(axis=1)

    def covariance(self, noise: ColumnNoise) -> np.ndarray:
        """Return the covariance of values, row by row; 1 for those that are not known."""
        total = np.einsum("mki,mi,mli->mkl", self.slopes, noise.variance(self.X), self.slopes)
        unit = np.where(self.known, self.unit, 0.0)
        total += noise.slack * unit[:, :, np.newaxis] * unit[:, np.newaxis, :]
        return total + ~self.known[:, :, np.newaxis] * np.eye(self.values.shape[1])

    def are_normal(self, noise: ColumnNoise) -> np.ndarray:
        """Return which rows are no farther from laws than nearly all rows that obey them."""
        inverse = np.linalg.pinv(self.covariance(noise), hermitian=True, rcond=1e-12)
        distance = np.einsum("mk,mkl,ml->m", self.values, inverse, self.values)
        n_known = self.known.sum(axis=1)
        return (distance < chi2.ppf(settings.NORMAL, np.maximum(n_known, 1))) & (n_known > 0)


def _fitted_noise(noise: ColumnNoise, laws: LawValues, least: np.ndarray) -> ColumnNoise:
    """Return variances of columns by which products of values are explained."""
    X, values, slopes, unit, known = laws
    n = X.shape[1]
    first, second = np.triu_indices(values.shape[1])
    both = (known[:, first] & known[:, second]).ravel()
    products = values[:, first] * values[:, second]
    weights = slopes[:, first] * slopes[:, second]
    design = np.concatenate([weights * noise.spread**2, weights * np.square(X)[:, np.newaxis]], 2)
    counts = np.maximum(known.sum(axis=0), 1)
    rough = unit * np.sqrt(np.square(values / unit).sum(axis=0) / counts) + 1e-150
    noise, own = noise._replace(slack=np.zeros_like(noise.slack)), rough
    square = np.square(X).sum(axis=0) / np.maximum((X != 0.0).sum(axis=0), 1)
    for _ in range(settings.NOISE_STEPS):
        size = own[:, first] * own[:, second]
        A = (design / size[:, :, np.newaxis]).reshape(-1, 2 * n)[both]
        found = _variances(A, (products / size).ravel()[both], square, noise.spread)
        constant = np.maximum(found[:n] * noise.spread**2, least)
        noise = noise._replace(constant=constant, relative=found[n:])
        own = np.sqrt(np.einsum("mkk->mk", laws.covariance(noise)))
        own = np.maximum(own, settings.LEAST_SIZE * rough)
    return noise


def _variances(A, b, square, spread) -> np.ndarray:
    """Return constant and relative variances that are not negative.

    Where laws cannot tell columns apart, all are equally noisy relative to their values.
    """
    n = len(square)
    alike = np.r_[np.zeros(n), np.ones(n)]
    along = A @ alike
    common = float(along @ b / max(float(along @ along), 1e-300))
    if not common > 0.0:
        return np.zeros(2 * n)
    unit = common * np.concatenate([square / spread**2, np.ones(n)])
    # A product of two values with normal noise has a variance of about 2 in these units.
    sure = np.sqrt(2.0) / np.repeat([1.0, settings.ALIKE], n)
    return nnls(np.vstack([A * unit, np.diag(sure)]), np.append(b, sure * alike))[0] * unit


def _left(noise: ColumnNoise, laws: LawValues) -> np.ndarray:
    """Return what the noise does not explain: no direction of it is negative, or due to chance."""
    by_noise = laws.covariance(noise._replace(slack=np.zeros_like(noise.slack)))
    both = laws.known[:, :, np.newaxis] & laws.known[:, np.newaxis, :]
    counts = np.maximum(both.sum(axis=0), 1)
    size = laws.unit[:, :, np.newaxis] * laws.unit[:, np.newaxis, :]
    products = laws.values[:, :, np.newaxis] * laws.values[:, np.newaxis, :]
    products, by_noise = (np.where(both, part / size, 0.0) for part in (products, by_noise))
    chance = settings.CHANCE * np.sqrt(2.0 / counts)
    mean = (products.sum(axis=0) - by_noise.sum(axis=0) * (1.0 + chance)) / counts
    sizes, vectors = np.linalg.eigh(mean)
    return (vectors * np.maximum(sizes, 0.0)) @ vectors.T
