"""Lack of fit: whether smooth functions of columns still explain what a law leaves over."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.special import chdtrc, fdtrc

from vanishing.fitting import settings
from vanishing.fitting.smooth_terms import smooth_terms


class Lack(NamedTuple):
    """What smooth functions explain of residuals.

    Attributes
    ----------
    size : float
        (F - k) / sqrt(2k) for k independent terms: about 0 with deviation 1 where residuals are
        noise.
    p_value : float
        How likely this much is by chance.
    share : float
        Of the squared residuals, beyond what is explained by chance.
    """

    size: float = 0.0
    p_value: float = 1.0
    share: float = 0.0

    @property
    def is_large(self) -> bool:
        """Whether this is more than noise has."""
        return self.size >= settings.LACK_OF_FIT and self.p_value < settings.SURE_LACK


class LackOfFit:
    """Smooth terms of columns, to be asked what they explain of residuals.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    weight : array of shape (n_rows,), default=None
        In the unit in which they sum up to the number of observations.
    """

    def __init__(self, columns: np.ndarray, weight: np.ndarray | None = None):
        self.weight = np.ones(columns.shape[1]) if weight is None else weight
        terms, self.exponents = smooth_terms(columns)
        self.terms = terms * np.sqrt(self.weight)
        self.gram = self.terms @ self.terms.T
        self.whitened = _whitened(self.gram)

    def __call__(self, residuals: np.ndarray) -> Lack:
        """Return what the terms explain."""
        left = self._weighted(residuals)
        explained, rest, k = self._variances(left)
        size = _size(explained / rest, k)
        lack = Lack(
            size,
            float(fdtrc(k, self._freedom, explained / k / rest)),
            min(max((explained - k * rest) / float(left @ left), 0.0), 1.0),
        )
        if not lack.is_large or len(left) < settings.UNEQUAL_ROWS:
            return lack
        # Noise that differs between rows makes F too large: ask again without equal variances.
        general = self._with_unequal_noise(left)
        if _size(general, k) >= size:
            return lack
        return lack._replace(size=_size(general, k), p_value=float(chdtrc(k, general)))

    def share(self, residuals: np.ndarray) -> np.ndarray:
        """Return the share of squared residuals that is explained, each column by itself."""
        left = (residuals.T * np.sqrt(self.weight)).T
        parts = self.whitened @ (self.terms @ left)
        return np.sum(parts**2, axis=0) / np.sum(left**2, axis=0)

    def p_value_of(self, column: int, residuals: np.ndarray) -> float:
        """Return how likely it is by chance that terms with a column explain what they do."""
        left = self._weighted(residuals)
        explained, rest, k = self._variances(left)
        others = np.flatnonzero(self.exponents[:, column] == 0)
        whitened = _whitened(self.gram[np.ix_(others, others)])
        less = float(np.sum((whitened @ (self.terms[others] @ left)) ** 2))
        more, q = max(explained - less, 0.0), k - len(whitened)
        return float(fdtrc(q, self._freedom, more / q / rest)) if q else 1.0

    def _weighted(self, residuals: np.ndarray) -> np.ndarray:
        return residuals / np.sqrt(np.mean(residuals**2)) * np.sqrt(self.weight)

    @property
    def _freedom(self) -> float:
        return max(float(self.weight.sum()) - len(self.whitened), 1.0)

    def _variances(self, left: np.ndarray) -> tuple[float, float, int]:
        """Return the squares that are explained, the variance of the rest, and how many terms."""
        parts = self.whitened @ (self.terms @ left)
        explained = float(parts @ parts)
        return explained, max(float(left @ left) - explained, 1e-300) / self._freedom, len(parts)

    def _with_unequal_noise(self, left: np.ndarray) -> float:
        """Return White's statistic: sums s of terms times residuals, and s' Cov(s)^-1 s."""
        each = self.terms * left
        covariance = self.whitened @ (each @ each.T) @ self.whitened.T
        sums = self.whitened @ (self.terms @ left)
        try:
            return float(sums @ cho_solve(cho_factor(covariance), sums))
        except LinAlgError:
            return np.inf


def _size(statistic: float, k: int) -> float:
    return (statistic - k) / float(np.sqrt(2.0 * k))


def _whitened(gram: np.ndarray) -> np.ndarray:
    """Return combinations of terms that are orthonormal, as many as are independent.

    Terms of constant or equal columns are zero or equal: they explain nothing more.
    """
    scale = np.sqrt(gram.diagonal())
    scale[scale == 0.0] = 1.0
    values, vectors = eigh(gram / scale / scale[:, np.newaxis], check_finite=False)
    kept = values > settings.DEPENDENT * len(gram)
    return (vectors[:, kept] / np.sqrt(values[kept]) / scale[:, np.newaxis]).T
