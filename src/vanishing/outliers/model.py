"""What a fitted detector knows: residuals of columns, their local noise, and the score of a row."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.quantiles import quantiles
from vanishing.outliers.robust import (
    Sums,
    rule_of,
    slices,
    squared_lengths,
    whitener,
)

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
    def of(cls, sums: Sums, n: int) -> "Residuals":
        """Return the residuals that follow from moments."""
        white = whitener(sums)
        precision = white.T @ white[:, 1 : 1 + n]
        size = np.sqrt(precision[np.arange(1, 1 + n), np.arange(n)])
        return cls(precision / size, 1.0 / size)


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
        sizes = self.coef.T @ _noise_terms(np.clip(z, -settings.FIT_LIMIT, settings.FIT_LIMIT))
        return np.clip(sizes, self.low[:, None], self.high[:, None], out=sizes)

    def relative(self, sizes: np.ndarray) -> np.ndarray:
        """Return sizes relative to their means, where laws determine columns, and 1 elsewhere."""
        varies = self.high > self.mean
        relative = np.ones(sizes.shape)
        relative[varies] = np.maximum(sizes[varies] / self.mean[varies, None], settings.LOOSE[0])
        return relative


def _noise_terms(z: np.ndarray) -> np.ndarray:
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
    centre, spread : array of shape (2,)
        Of log a and log b over the training rows.
    """

    features: Features
    bulk: Residuals
    law: Residuals
    noise: Noise
    laws: Laws
    doubt: np.ndarray
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
        """Return log a (unusual) and log b (breaks a law) of rows, shape (2, n_rows).

        ``widths`` are what residuals are multiplied by, as `gaps.widths` has them.
        """
        return np.hstack([self._parts(X[chunk], _cut(widths, chunk)) for chunk in slices(len(X))])

    def _parts(self, X: np.ndarray, widths=None) -> np.ndarray:
        bulk, law = self.residuals(X, widths)
        off = np.square(self.features.deviation(X))
        a = np.square(bulk).max(axis=0, initial=settings.FLOOR)
        return np.log(np.maximum([a, squared_lengths(law) + off], settings.FLOOR))

    def scaled(self, parts: np.ndarray) -> np.ndarray:
        """Return parts of scores relative to those of the training rows."""
        return (parts - self.centre[:, None]) / self.spread[:, None]

    def scores(self, X: np.ndarray, widths=None) -> np.ndarray:
        """Return the scores of rows, larger for rows that are more normal."""
        return self.scores_of(self.parts(X, widths))

    def scores_of(self, parts: np.ndarray) -> np.ndarray:
        """Return the scores of rows with given parts."""
        return -self.scaled(parts).max(axis=0)


def _cut(widths, chunk: slice):
    """Return the widths of some rows."""
    return None if widths is None else tuple(part[:, chunk] for part in widths)


def centred(model: Model, parts: np.ndarray, weight: np.ndarray) -> Model:
    """Return the model whose scores have the parts of given rows in their middle."""
    low, middle, high = quantiles(parts.T, weight, (0.25, 0.5, 0.75))
    spread = high - low
    spread[~(spread > 1e-6)] = 1.0  # where most rows are alike
    return model._replace(centre=middle, spread=spread)


class Built(NamedTuple):
    """A model, and what has been found of the rows on the way.

    Attributes
    ----------
    model : Model
    counts : array of shape (n_first_rows,)
        What the first rows count for laws, in all 1.
    parts : array of shape (2, n_rows)
        Of the scores, relative to those of all rows.
    """

    model: Model
    counts: np.ndarray
    parts: np.ndarray


def doubt_of(bulk: Sums, n_bulk: float) -> np.ndarray:
    """Return the doubt of equations that follow from moments of so many rows."""
    return whitener(bulk) * np.sqrt(settings.HALF_DOUBT / n_bulk)


def build(features: Features, sums: tuple[Sums, Sums], n_bulk: float, X, weight) -> Built:
    """Return the model that follows from the moments of all rows, and some of the rows.

    Parameters
    ----------
    features : Features
    sums : pair of Sums
    n_bulk : float
        How many rows are in the bulk.
    X : array of shape (n_rows, n_columns)
        In random order.
    weight : array of shape (n_rows,)
    """
    n = features.n
    bulk, law = (Residuals.of(part, n) for part in sums)
    z = features.standardised(X[: settings.FIT_ROWS], settings.FIT_LIMIT)
    counts = _counts(features, sums[1], z, weight[: settings.FIT_ROWS])
    mean, square = z @ counts, np.square(z) @ counts
    spread = np.sqrt(np.maximum(square - np.square(mean), 1e-300))
    # Residuals of a fit are too small by the number of coefficients: few rows prove no law.
    freedom = max(1.0 - features.size * np.square(counts).sum(), 0.0)
    strict = law.sizes < settings.LAW * np.sqrt(freedom) * spread
    coef = nearly_zero(sums[1], settings.LAW * np.sqrt(freedom))
    terms, mean = _local_noise(features, z, counts, np.hstack([law.coef, coef]))
    own = _limited(terms[:, :n], np.maximum(mean[:n], settings.EXACT), strict)
    every = np.ones(coef.shape[1], dtype=bool)
    laws = Laws(coef, _limited(terms[:, n:], np.maximum(mean[n:], settings.BLURRED), every))
    doubt = doubt_of(sums[0], n_bulk)
    model = Model(features, bulk, law, own, laws, doubt, np.zeros(2), np.ones(2))
    parts = model.parts(X)
    model = centred(model, parts, weight)
    return Built(model, counts, model.scaled(parts))


def _limited(coef: np.ndarray, mean: np.ndarray, strict: np.ndarray) -> Noise:
    """Return noise that stays near its mean, unless residuals are those of laws."""
    low, high = np.where(strict, np.array([settings.STRICT]).T, np.array([settings.LOOSE]).T)
    return Noise(coef, mean, low * mean, high * mean)


def _counts(features: Features, sums: Sums, z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what standardised rows count for laws, in all 1, by the moments of laws."""
    rule, distance = rule_of(features, z, weight, sums, hard=False)
    counts = weight * rule.of_distances(distance)
    return counts / counts.sum()


def nearly_zero(sums: Sums, size: float) -> np.ndarray:
    """Return combinations of features that vary less than a size, relative to the features.

    Relative, because a column that a few wild values have made wide is nearly constant elsewhere.
    """
    gram = sums.gram / sums.weight
    mean = gram[0, 1:] / gram[0, 0]
    covariance = gram[1:, 1:] - gram[0, 0] * np.outer(mean, mean)
    # Sums of squares that are zero may come out of moments as less than that.
    rounding = 1e-14 * np.abs(gram.diagonal()[1:]) + 1e-300
    spread = np.sqrt(np.maximum(covariance.diagonal(), rounding))
    values, vectors = eigh(covariance / spread / spread[:, None], check_finite=False)
    small = values < size**2
    coef = vectors[:, small] / np.sqrt(np.maximum(values[small], 0.0) + sums.ridge)
    coef /= spread[:, None]
    return np.vstack([-mean @ coef, coef])


def _local_noise(features: Features, z: np.ndarray, counts: np.ndarray, coef: np.ndarray):
    """Return the local sizes of residuals ``coef' v`` as functions of 1, z, z^2; their means."""
    root = np.sqrt(counts)
    size = np.empty((coef.shape[1], len(root)))
    for chunk in slices(len(root)):
        np.abs(coef.T @ features.values(z[:, chunk]), out=size[:, chunk])
    terms = _noise_terms(z) * root
    gram = terms @ terms.T
    gram[np.diag_indices_from(gram)] += settings.NOISE_RIDGE
    factor = cho_factor(gram, lower=True, check_finite=False)
    return cho_solve(factor, terms @ (size * root).T, check_finite=False), size @ counts
