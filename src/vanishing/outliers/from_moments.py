"""A detector's state from moments alone: all rows count alike, and residuals count as normal."""

import numpy as np
from scipy.linalg import eigh

from vanishing.algebra.monomials import EXPONENT
from vanishing.outliers import settings
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.features import Features, counts_for
from vanishing.outliers.model import (
    MEAN_SIZE,
    Laws,
    Model,
    Noise,
    Residuals,
    centred,
    doubt_of,
    nearly_zero,
)
from vanishing.outliers.monomials import MonomialSums, monomials_of, places_of
from vanishing.outliers.robust import Sums, ridges, whitener
from vanishing.outliers.state import DetectorState
from vanishing.outliers.surroundings import Surroundings
from vanishing.rows.moments import MomentReader, Moments


def state_from(moments: Moments, names: tuple[str, ...], random) -> DetectorState:
    """Return the state of a detector that knows moments instead of rows."""
    if moments.max_degree < 2:
        raise ValueError(
            "these moments are of degree 1: a detector needs Moments(n_features, max_degree=2)."
        )
    rows = MomentReader(moments)
    exponents, gram = _gram(rows)
    features = _features(exponents, gram, moments)
    map_ = _map(features, exponents)
    total = moments.total_weight
    sums = [
        Sums(map_ @ gram @ map_.T * total, total, ridge)
        for ridge in ridges(features.size, moments.n_samples)
    ]
    n = features.n
    bulk, law = (Residuals.of(whitener(part), n) for part in sums)
    coef = nearly_zero(sums[1], settings.LAW)
    model = Model(
        features,
        bulk,
        law,
        _flat_noise(n, n),
        Laws(coef, _flat_noise(n, coef.shape[1])),
        doubt_of(whitener(sums[0]), moments.n_samples),
        Surroundings.none(),
        np.zeros(4),
        np.ones(4),
    )
    parts = _normal_parts(bulk, law, map_ @ gram @ map_.T, random)
    model = centred(model, parts, np.ones(parts.shape[1]))
    scores = model.scores_of(parts)
    return DetectorState(
        names,
        model,
        (sums[0], sums[1]),
        np.full(2, float(features.size)),
        _monomials(features, moments, exponents, gram),
        Calibration.of(
            scores,
            np.zeros(len(scores)),
            np.zeros(len(scores)),
            np.full(len(scores), total / len(scores)),
            random,
        ),
        total,
        float(moments.n_samples),
        moments.n_samples,
    )


def _gram(rows: MomentReader) -> tuple[np.ndarray, np.ndarray]:
    """Return all exponents up to degree 2, and the means of their products."""
    terms = rows.moments.terms
    exponents = np.asarray(terms[terms.sum(axis=1) <= 2], dtype=np.int64)
    pairs = (exponents[:, None] + exponents).reshape(-1, rows.n_features)
    places = rows.moments.positions(pairs.astype(EXPONENT))
    return exponents, rows.means[places].reshape(len(exponents), -1)


def _features(exponents, gram, moments: Moments) -> Features:
    every = places_of(exponents)
    linear = [every[tuple(row)] for row in np.eye(moments.n_features, dtype=np.int64).tolist()]
    mean = gram[0, linear]
    covariance = gram[np.ix_(linear, linear)] - np.outer(mean, mean)
    variance = covariance.diagonal()
    varies = variance > 1e-7 * gram[linear, linear]  # below, moments have no digits left
    varying, constant = np.flatnonzero(varies), np.flatnonzero(~varies)
    scale = np.sqrt(variance[varying])
    counts = counts_for(len(varying), moments.n_samples, 2)
    most = max(counts, default=0)
    n = len(varying)
    directions = np.zeros((n, 0))
    if most:
        correlation = covariance[np.ix_(varying, varying)] / np.outer(scale, scale)
        directions = eigh(correlation, subset_by_index=[n - most, n - 1])[1][:, ::-1].copy()
    features = Features.linear(varying, mean[varying], scale, constant, mean[constant])
    return features._replace(directions=directions, counts=counts)


def _map(features: Features, exponents) -> np.ndarray:
    """Return the features as combinations of monomials: exact on points enough to tell."""
    random = np.random.default_rng(0)
    size = len(exponents)
    z = random.normal(size=(features.n, 3 * size))
    X = np.zeros((exponents.shape[1], z.shape[1]))
    X[features.varying] = z * features.scale[:, None] + features.centre[:, None]
    X[features.constant] = features.value[:, None]
    values = np.prod(X[None] ** exponents[:, :, None], axis=1)
    used = [i for i, row in enumerate(exponents) if not row[features.constant].any()]
    unit = np.sqrt(np.mean(np.square(values[used]), axis=1))[:, None]
    coef = np.linalg.lstsq((values[used] / unit).T, features.values(z).T, rcond=1e-13)[0]
    combinations = np.zeros((features.size, size))
    combinations[:, used] = (coef / unit).T
    return combinations


def _flat_noise(n: int, n_residuals: int) -> Noise:
    """Return noise that is the same everywhere: that of normal variables of variance 1."""
    coef = np.zeros((1 + 2 * n, n_residuals))
    coef[0] = MEAN_SIZE
    same = np.full(n_residuals, MEAN_SIZE)
    return Noise(coef, same, same, same)


def _normal_parts(bulk: Residuals, law: Residuals, gram, random) -> np.ndarray:
    """Return the parts of scores where the features are normal: quantiles to compare with."""
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    v = root @ random.normal(size=(len(gram), settings.SAMPLE_ROWS))
    a = np.square(bulk.coef.T @ v).max(axis=0, initial=1e-300)
    b = np.square(law.coef.T @ v / MEAN_SIZE).sum(axis=0)
    return np.vstack([np.log(np.maximum([a, b], 1e-300)), np.zeros((2, len(a)))])


def _monomials(features: Features, moments: Moments, exponents, gram) -> MonomialSums:
    zero = np.zeros(moments.n_features)
    empty = monomials_of(features.varying, zero, features.unit, 2, moments.n_samples)
    every = places_of(exponents)
    places = [every[tuple(row)] for row in empty.exponents.tolist()]
    scale = np.prod(features.unit ** -empty.exponents.astype(float), axis=1)
    total = moments.total_weight
    products = gram[np.ix_(places, places)] * np.outer(scale, scale) * total
    return empty.with_gram(products, total**2 / moments.n_samples, moments.n_samples)
