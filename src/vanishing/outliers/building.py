"""A model from moments and some of the rows, and what each row is by the moments of all others.

Scores of rows that a fit has seen are too good: residuals are small because they were fitted, and
so is their noise. Moments less one row follow in closed form, so that each row is scored as if it
had been left out. Noise, middle and threshold come from these scores.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.model import (
    Laws,
    Model,
    Noise,
    Residuals,
    centred,
    doubt_of,
    left_of,
    left_out,
    nearly_zero,
    noise_terms,
)
from vanishing.outliers.quantiles import median
from vanishing.outliers.robust import Rule, slices, squared_lengths, weights, whitener
from vanishing.outliers.surroundings import Surroundings, surroundings_of
from vanishing.outliers.wrong_rows import of_another_value, wrong_rows


class Built(NamedTuple):
    """A model, and what has been found of the rows on the way.

    Attributes
    ----------
    model : Model
    counts : array of shape (n_first_rows,)
        What the first rows count for laws, in all 1.
    parts : array of shape (4, n_rows)
        Of the scores that rows have by the moments of all others, relative to those of all rows.
    scores : array of shape (n_rows,)
        By the moments of all others.
    off, side : array of shape (n_rows,)
        Logarithms of squared distances from laws, and the sides of these.
    wrong : array of bool of shape (n_rows,)
        Which rows break laws.
    middle : array of shape (2,)
        Distances of the middle row, by the moments of the bulk and of laws.
    """

    model: Model
    counts: np.ndarray
    parts: np.ndarray
    scores: np.ndarray
    off: np.ndarray
    side: np.ndarray
    wrong: np.ndarray
    middle: np.ndarray


class Others(NamedTuple):
    """What rows are by the moments of all other rows.

    Attributes
    ----------
    bulk, law : array of shape (n, n_rows)
        Residuals.
    doubt : array of shape (n_rows,)
        Variance of what the bulk says of a row, relative to the noise.
    distances : array of shape (2, n_rows)
        By the moments of the bulk and of laws, of all rows.
    """

    bulk: np.ndarray
    law: np.ndarray
    doubt: np.ndarray
    distances: np.ndarray


def build(
    features: Features, sums, rules: tuple[Rule, Rule], n_bulk: float, X, weight, neighbours="auto"
) -> Built:
    """Return the model that follows from the moments of all rows, and some of the rows.

    Parameters
    ----------
    features : Features
    sums : pair of Sums
    rules : pair of Rule
        What rows count in the sums.
    n_bulk : float
        How many rows are in the bulk.
    X : array of shape (n_rows, n_columns)
        In random order.
    weight : array of shape (n_rows,)
    neighbours : bool or "auto", default="auto"
        Whether rows are compared with others; "auto": unless many break laws.
    """
    n, first = features.n, slice(0, settings.FIT_ROWS)
    whiteners = [whitener(part) for part in sums]
    inverses = [white.T @ white for white in whiteners]
    bulk, law = (Residuals.of_precision(inverse[:, 1 : 1 + n]) for inverse in inverses)
    others = _others(features, sums, inverses, rules, X, weight)
    distances = others.distances[:, first]
    middle = np.array([max(median(each, weight[first]), 1e-300) for each in distances])
    soft = rules[1]._replace(whitener=whiteners[1], middle=float(middle[1]))
    counts = weight[first] * weights(
        features, features.standardised(X[first], settings.FIT_LIMIT), soft, distances[1]
    )
    counts /= counts.sum()
    z = features.standardised(X[first], settings.FIT_LIMIT)
    mean, square = z @ counts, np.square(z) @ counts
    spread = np.sqrt(np.maximum(square - np.square(mean), 1e-300))
    # Residuals of a fit are too small by the number of coefficients: few rows prove no law.
    freedom = max(1.0 - features.size * np.square(counts).sum(), 0.0)
    strict = law.sizes < settings.LAW * np.sqrt(freedom) * spread
    coef = nearly_zero(sums[1], settings.LAW * np.sqrt(freedom))
    fit = _NoiseFit.of(z, counts)
    every = np.ones(coef.shape[1], dtype=bool)
    model = Model(
        features,
        bulk,
        law,
        fit.noise(np.abs(others.law[:, first]), settings.EXACT, strict),
        Laws(coef, fit.noise(_sizes(features, z, coef), settings.BLURRED, every)),
        doubt_of(whiteners[0], n_bulk),
        Surroundings.none(),
        np.zeros(4),
        np.ones(4),
    )
    off, side, wrong = wrong_rows(model, X, weight)
    if neighbours == "auto":
        neighbours = weight[wrong].sum() <= settings.FEW_WRONG * weight.sum()
    z = features.standardised(X, settings.FIT_LIMIT)
    model = model._replace(around=surroundings_of(z, weight, ~strict, neighbours))
    doubt = np.minimum(others.doubt * (settings.HALF_DOUBT / n_bulk), settings.MOST_DOUBT)
    fit = fit.without(weight[first] > settings.COMES_AGAIN * weight.sum())
    parts = _parts(model, X, others._replace(doubt=doubt), fit)
    model = centred(model, parts, weight)
    scores = model.scores_of(parts)
    wild = ~wrong & (scores < -settings.WILD_SCORE)
    side = np.where(of_another_value(X, weight, wild), -1, side)
    return Built(model, counts, model.scaled(parts), scores, off, side, wrong, middle)


def _others(features: Features, sums, inverses, rules, X, weight) -> Others:
    """Return residuals of rows by the moments of all others, and distances."""
    # A row that is so large a part of all comes again as it is.
    alone = np.where(weight > settings.COMES_AGAIN * weight.sum(), 0.0, weight)
    found = []
    for chunk in slices(len(X)):
        values = features.values(features.standardised(X[chunk], settings.FIT_LIMIT))
        distances, shares, residuals = [], [], []
        for part, inverse, rule in zip(sums, inverses, rules, strict=True):
            product = inverse @ values
            distances.append(np.einsum("ij,ij->j", values, product))
            shares.append(np.minimum(rule(values) * alone[chunk] / part.weight, 0.5))
            own = (
                product[1 : 1 + features.n] / np.sqrt(inverse.diagonal())[1 : 1 + features.n, None]
            )
            residuals.append(left_out(own, distances[-1], shares[-1]))
        doubt = (1.0 - shares[0]) * distances[0] / left_of(distances[0], shares[0])
        found.append((*residuals, doubt, np.array(distances)))
    return Others(*(np.concatenate(each, axis=-1) for each in zip(*found, strict=True)))


def _parts(model: Model, X: np.ndarray, others: Others, fit: "_NoiseFit") -> np.ndarray:
    """Return the parts of scores of rows by the moments of all others, shape (4, n_rows)."""
    parts = []
    for chunk in slices(len(X)):
        z = model.features.standardised(X[chunk], settings.FIT_LIMIT)
        law = others.law[:, chunk]
        noise, mean = model.noise.left_out(z, np.abs(law), *fit.of_rows(chunk))
        relative = model.noise.relative(noise, mean)
        bulk = others.bulk[:, chunk] / (np.sqrt(1.0 + others.doubt[chunk]) * relative)
        parts.append(model.parts_of(X[chunk], bulk, law / noise))
    return np.hstack(parts)


# -- Local noise ----------------------------------------------------------------------------------


class _NoiseFit(NamedTuple):
    """How sizes of residuals are fitted to 1, z and z^2 of rows.

    Attributes
    ----------
    terms : array of shape (1 + 2 n, n_rows), or (1, n_rows) where noise is constant
    counts : array of shape (n_rows,)
        What rows count, in all 1.
    factor : tuple
        Of the Gram matrix of the terms.
    leverage : array of shape (n_rows,)
        What the size at a row owes to that row.
    n_terms : int
        1 + 2 n.
    """

    terms: np.ndarray
    counts: np.ndarray
    factor: tuple
    leverage: np.ndarray
    n_terms: int

    @classmethod
    def of(cls, z: np.ndarray, counts: np.ndarray) -> "_NoiseFit":
        """Return the fit to standardised rows, weighted as for laws."""
        # Few rows per coefficient tell little of where noise is larger: it is nearly constant then.
        n_terms = 1 + 2 * len(z)
        few = n_terms * float(np.square(counts).sum())
        terms = noise_terms(z) if few < 1.0 else np.ones((1, z.shape[1]))
        base, slope = settings.NOISE_RIDGE
        gram = (terms * counts) @ terms.T
        gram[np.diag_indices_from(gram)] += np.append(0.0, [base + slope * few] * (len(gram) - 1))
        factor = cho_factor(gram, lower=True, check_finite=False)
        half = solve_triangular(factor[0], terms, lower=True, check_finite=False)
        leverage = np.minimum(counts * squared_lengths(half), 0.999)
        return cls(terms, counts, factor, leverage, n_terms)

    def noise(self, found: np.ndarray, least: float, strict: np.ndarray) -> Noise:
        """Return the noise of residuals of given sizes, near its mean unless they are of laws."""
        coef = np.zeros((self.n_terms, len(found)))
        coef[: len(self.terms)] = cho_solve(
            self.factor, (self.terms * self.counts) @ found.T, check_finite=False
        )
        mean = np.maximum(found @ self.counts, least)
        low, high = np.where(strict, np.array([settings.STRICT]).T, np.array([settings.LOOSE]).T)
        return Noise(coef, mean, low * mean, high * mean)

    def without(self, again: np.ndarray) -> "_NoiseFit":
        """Return the fit from which rows that come again are not left out."""
        counts, leverage = (np.where(again, 0.0, each) for each in (self.counts, self.leverage))
        return self._replace(counts=counts, leverage=leverage)

    def of_rows(self, chunk: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return counts and leverages of rows; 0 for those that were not fitted to."""
        counts, leverage = np.zeros((2, chunk.stop - chunk.start))
        known = self.counts[chunk]
        counts[: len(known)], leverage[: len(known)] = known, self.leverage[chunk]
        return counts, leverage


def _sizes(features: Features, z: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return the sizes of equations at standardised rows, shape (n_equations, n_rows)."""
    size = np.empty((coef.shape[1], z.shape[1]))
    for chunk in slices(z.shape[1]):
        np.abs(coef.T @ features.values(z[:, chunk]), out=size[:, chunk])
    return size
