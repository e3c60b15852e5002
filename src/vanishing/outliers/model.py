"""What a fitted detector knows: residuals of columns, their local noise, and the score of a row."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.quantiles import quantiles
from vanishing.outliers.robust import Sums, slices, squared_lengths
from vanishing.outliers.surroundings import Surroundings

MEAN_SIZE = np.sqrt(2.0 / np.pi)  # of a normal variable of variance 1


class Residuals(NamedTuple):
    """How each column is found from all other features: e = coef' v has mean square 1.

    Attributes
    ----------
    coef : array of shape (k, n)
    sizes : array of shape (n,)
        Root mean squares of the residuals, in standard units of the columns.
    """

    coef: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, white: np.ndarray, n: int) -> "Residuals":
        """Return the residuals that follow from the whitener of moments."""
        return cls.of_precision((white.T @ white)[:, 1 : 1 + n])

    @classmethod
    def of_precision(cls, precision: np.ndarray) -> "Residuals":
        """Return the residuals that follow from the columns' part of the inverse of G."""
        n = precision.shape[1]
        size = np.sqrt(precision[np.arange(1, 1 + n), np.arange(n)])
        return cls(precision / size, 1.0 / size)


def left_out(residuals: np.ndarray, distance: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the residuals of rows by the moments of all other rows, shape (n, n_rows).

    Without a row its G is G less a matrix of rank 1, whose inverse follows from that of G (Sherman
    and Morrison 1950), so that no row asks for a fit of its own.

    Parameters
    ----------
    residuals : array of shape (n, n_rows)
        By the moments of all rows.
    distance : array of shape (n_rows,)
        v' G^-1 v.
    share : array of shape (n_rows,)
        What rows count in G, of all 1.
    """
    left = left_of(distance, share)
    size = np.square(residuals)
    size *= share / left
    size += 1.0
    np.sqrt(size, out=size)
    size *= left / np.sqrt(1.0 - share)
    return residuals / size


def left_of(distance: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return what is left of 1 once the leverage of rows is taken off."""
    return np.maximum(1.0 - share * distance, 1e-6)


class Noise(NamedTuple):
    """Mean size of residuals at a row: a function of 1, z and z^2, within limits.

    Attributes
    ----------
    coef : array of shape (1 + 2 n, n_residuals)
    mean, low, high : array of shape (n_residuals,)
    """

    coef: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the sizes at standardised rows, shape (n_residuals, n_rows)."""
        sizes = self._fitted(np.clip(z, -settings.FIT_LIMIT, settings.FIT_LIMIT))
        return np.clip(sizes, self.low[:, None], self.high[:, None])

    def _fitted(self, z: np.ndarray) -> np.ndarray:
        """Return the sizes without limits, shape (n_residuals, n_rows)."""
        if not self.coef[1:].any():  # the same everywhere
            return np.repeat(self.coef[:1].T, z.shape[1], axis=1)
        return self.coef.T @ noise_terms(z)

    def left_out(self, z, found: np.ndarray, counts: np.ndarray, leverage: np.ndarray):
        """Return the sizes at rows that the noise was fitted to, by all other rows; their means.

        Parameters
        ----------
        z : array of shape (n, n_rows)
        found : array of shape (n_residuals, n_rows)
            Sizes of the residuals.
        counts, leverage : array of shape (n_rows,)
            What a row counts for the mean of all, and for the size at that row.
        """
        sizes = (self._fitted(z) - leverage * found) / (1.0 - leverage)
        factor = (self.mean[:, None] - counts * found) / ((1.0 - counts) * self.mean[:, None])
        np.maximum(factor, settings.LOOSE[0], out=factor)
        low, high = self.low[:, None] * factor, self.high[:, None] * factor
        return np.clip(sizes, low, high), self.mean[:, None] * factor

    def relative(self, sizes: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return sizes relative to their means, where laws determine columns, and 1 elsewhere."""
        mean = self.mean[:, None] if mean is None else mean
        varies = self.high > self.mean
        relative = np.ones(sizes.shape)
        relative[varies] = np.maximum(sizes[varies] / mean[varies], settings.LOOSE[0])
        return relative


def noise_terms(z: np.ndarray) -> np.ndarray:
    """Return what noise is a function of, shape (1 + 2 n, n_rows)."""
    return np.vstack([np.ones((1, z.shape[1])), z, np.square(z)])


class Laws(NamedTuple):
    """All equations that nearly hold: combinations of the features that are nearly zero.

    Attributes
    ----------
    coef : array of shape (k, n_laws)
        Each has mean square 1 over the training rows.
    noise : Noise
    """

    coef: np.ndarray
    noise: Noise


class Model(NamedTuple):
    """Everything that scores and blame depend on.

    Attributes
    ----------
    features : Features
    bulk, law : Residuals
    noise : Noise
        Of the residuals of columns from laws.
    laws : Laws
    doubt : array of shape (k, k)
        Of features of a row makes a vector whose squared length is the variance of what the bulk
        says of it, relative to the noise: equations are less sure far from the rows they are of.
    around : Surroundings
    centre, spread : array of shape (4,)
        Of the parts of scores over the training rows.
    """

    features: Features
    bulk: Residuals
    law: Residuals
    noise: Noise
    laws: Laws
    doubt: np.ndarray
    around: Surroundings
    centre: np.ndarray
    spread: np.ndarray

    def residuals(self, X: np.ndarray, widths=None) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals of the bulk, less their doubt, and of laws, both in local noise.

        Both have shape (n, n_rows), and are multiplied by ``widths``, which rows with gaps have.
        """
        z = self.features.standardised(X, settings.SCORE_LIMIT)
        values = self.features.values(z)
        doubt = np.minimum(squared_lengths(self.doubt @ values), settings.MOST_DOUBT)
        noise = self.noise(z)
        bulk = (self.bulk.coef.T @ values) / (np.sqrt(1.0 + doubt) * self.noise.relative(noise))
        law = (self.law.coef.T @ values) / noise
        return (bulk, law) if widths is None else (bulk * widths[0], law * widths[1])

    def parts(self, X: np.ndarray, widths=None) -> np.ndarray:
        """Return the parts of scores of rows, all logarithms, shape (4, n_rows).

        Unusual, breaks a law, far out, far from others.
        ``widths`` are what residuals are multiplied by, as `gaps.widths` has them.
        """
        return np.hstack([self._parts(X[chunk], _cut(widths, chunk)) for chunk in slices(len(X))])

    def _parts(self, X: np.ndarray, widths=None) -> np.ndarray:
        return self.parts_of(X, *self.residuals(X, widths))

    def parts_of(self, X: np.ndarray, bulk: np.ndarray, law: np.ndarray) -> np.ndarray:
        """Return the parts of scores of rows with given residuals."""
        off = np.square(self.features.deviation(X))
        a = np.square(bulk).max(axis=0, initial=settings.FLOOR)
        z = self.features.standardised(X, settings.FIT_LIMIT)
        residuals = np.log(np.maximum([a, squared_lengths(law) + off], settings.FLOOR))
        return np.vstack([residuals, self.around.parts(z)])

    def off(self, X: np.ndarray) -> np.ndarray:
        """Return how far rows are from laws, shape (2, n_rows).

        Logarithms of squared distances, relative to the noise; and which law a row is off most,
        with its side: 2 i below and 2 i + 1 above it.
        """
        if not self.laws.coef.shape[1]:
            return np.zeros((2, len(X)))
        return np.hstack([self._off(X[chunk]) for chunk in slices(len(X))])

    def _off(self, X: np.ndarray) -> np.ndarray:
        z = self.features.standardised(X, settings.SCORE_LIMIT)
        sizes = self.laws.coef.T @ self.features.values(z) / (self.laws.noise(z) / MEAN_SIZE)
        most = np.abs(sizes).argmax(axis=0)
        side = 2 * most + (sizes[most, np.arange(len(X))] > 0.0)
        return np.array([np.log(np.maximum(squared_lengths(sizes), settings.FLOOR)), side])

    def scaled(self, parts: np.ndarray) -> np.ndarray:
        """Return parts of scores relative to those of the training rows."""
        return (parts - self.centre[:, None]) / self.spread[:, None]

    def scores(self, X: np.ndarray, widths=None) -> np.ndarray:
        """Return the scores of rows, larger for rows that are more normal."""
        return self.scores_of(self.parts(X, widths))

    def scores_of(self, parts: np.ndarray) -> np.ndarray:
        """Return the scores of rows with given parts."""
        scaled = self.scaled(parts)
        return -scaled[:2].max(axis=0) - self.around.weights @ np.maximum(scaled[2:], 0.0)


def _cut(widths, chunk: slice):
    """Return the widths of some rows."""
    return None if widths is None else tuple(part[:, chunk] for part in widths)


def centred(model: Model, parts: np.ndarray, weight: np.ndarray) -> Model:
    """Return the model whose scores have the parts of given rows in their middle."""
    low, middle, high = quantiles(parts.T, weight, (0.25, 0.5, 0.75))
    spread = high - low
    spread[~(spread > 1e-6)] = 1.0  # where most rows are alike
    return model._replace(centre=middle, spread=spread)


def doubt_of(white: np.ndarray, n_bulk: float) -> np.ndarray:
    """Return the doubt of equations that follow from moments of so many rows."""
    return white * np.sqrt(settings.HALF_DOUBT / n_bulk)


def nearly_zero(sums: Sums, size: float) -> np.ndarray:
    """Return combinations of features that vary less than a size, relative to the features.

    Relative, because a column that a few wild values have made wide is nearly constant elsewhere.
    """
    if not size > 0.0:
        return np.zeros((len(sums.gram), 0))
    gram = sums.gram / sums.weight
    mean = gram[0, 1:] / gram[0, 0]
    covariance = gram[1:, 1:] - gram[0, 0] * np.outer(mean, mean)
    # Sums of squares that are zero may come out of moments as less than that.
    rounding = 1e-14 * np.abs(gram.diagonal()[1:]) + 1e-300
    spread = np.sqrt(np.maximum(covariance.diagonal(), rounding))
    values, vectors = eigh(
        covariance / spread / spread[:, None],
        check_finite=False,
        subset_by_value=(-np.inf, size**2),
    )
    coef = vectors / np.sqrt(np.maximum(values, 0.0) + sums.ridge)
    coef /= spread[:, None]
    return np.vstack([-mean @ coef, coef])
