"""Where rows are, as far as no law says it: a robust mean and covariance of columns with gaps."""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from vanishing.repair import settings


class ColumnPrior(NamedTuple):
    """The distribution of rows.

    Attributes
    ----------
    mean, spread : array of shape (n_columns,)
        Spreads are positive: 1 for columns that are constant.
    correlation : array of shape (n_columns, n_columns)
        Of the columns in units of their spreads; its diagonal need not be 1.
    """

    mean: np.ndarray
    spread: np.ndarray
    correlation: np.ndarray


def prior_of(X: np.ndarray) -> ColumnPrior:
    """Return where rows are: Student's distribution, by expectation and maximisation.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        NaN where there are gaps; no column is all gaps.
    """
    centre, spread = np.nanmedian(X, axis=0), middle_spreads(X)
    z = (X - centre) / spread
    seen = np.isfinite(z)
    z = np.where(seen, z, 0.0)
    n = z.shape[1]
    mean, scatter = np.zeros(n), np.eye(n)
    for _ in range(settings.PRIOR_STEPS):
        filled, missing, distance = conditional(z, seen, mean, scatter)
        weight = (settings.FREEDOM + seen.sum(axis=1)) / (settings.FREEDOM + distance)
        weight[~seen.any(axis=1)] = 0.0
        last = scatter
        mean = weight @ filled / max(weight.sum(), 1e-300)
        away = filled - mean
        total = (away * weight[:, np.newaxis]).T @ away + missing.sum(axis=0)
        ridge = settings.RIDGE_ROWS
        scatter = (total + ridge * np.eye(n)) / (len(z) + ridge)
        if np.abs(scatter - last).max() <= settings.PRIOR_STEP * np.abs(scatter).max():
            break
    # In these units the middle row is as far away as that of a normal distribution.
    n_seen = np.maximum(seen.sum(axis=1), 1)
    size = float(np.median(distance / chi2.ppf(0.5, n_seen)))
    return ColumnPrior(centre + mean * spread, spread, scatter * (size if size > 0.0 else 1.0))


def middle_spreads(X: np.ndarray) -> np.ndarray:
    """Return spreads of columns by their middle halves, or all values where these are one."""
    low, high = np.nanquantile(X, (0.25, 0.75), axis=0)
    spread = (high - low) / 1.349
    whole = np.nanstd(X, axis=0)
    # A column that is mostly one value has other values, too.
    spread = np.where(spread > 1e-9 * np.abs(high), spread, whole)
    least = 1e-12 * np.maximum(np.abs(low), np.abs(high))
    return np.where(spread > least, spread, 1.0)


def conditional(
    z: np.ndarray, seen: np.ndarray, mean: np.ndarray, scatter: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows whose gaps have their expected values, the gaps' covariance, and distances.

    Parameters
    ----------
    z : array of shape (n_rows, n)
    seen : array of bool of shape (n_rows, n)
    mean : array of shape (n,)
    scatter : array of shape (n, n), or (n_rows, n, n)

    Returns
    -------
    filled : array of shape (n_rows, n)
    missing : array of shape (n_rows, n, n)
        Zero but for gaps.
    distance : array of shape (n_rows,)
        Squared, of what was seen.
    """
    away = np.where(seen, z - mean, 0.0)
    gain, missing, inverse = gains(seen, scatter)
    expected = mean + np.einsum("mij,mj->mi", gain, away)
    distance = np.einsum("mi,mij,mj->m", away, inverse, away)
    return np.where(seen, z, expected), missing, distance


def gains(seen: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how gaps follow from what was seen, their covariance, and the inverse of the seen.

    All have shape (n_rows, n, n): rows and columns of what does not belong are zero.
    """
    both = seen[:, :, np.newaxis] & seen[:, np.newaxis, :]
    own = np.where(both, scatter, 0.0) + np.where(seen, 0.0, 1.0)[:, :, np.newaxis] * np.eye(
        seen.shape[1]
    )
    inverse = np.where(both, np.linalg.inv(own), 0.0)
    gaps = ~seen
    across = np.where(gaps[:, :, np.newaxis] & seen[:, np.newaxis, :], scatter, 0.0)
    gain = across @ inverse
    missing = np.where(gaps[:, :, np.newaxis] & gaps[:, np.newaxis, :], scatter, 0.0)
    return gain, missing - gain @ across.transpose(0, 2, 1), inverse
