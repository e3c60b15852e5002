"""How many numbers decisions are made of, and the polynomials that some of them are."""

import numpy as np
from sklearn.preprocessing import QuantileTransformer

from vanishing.algebra.generators import Generators
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.scaling import Scaling

_ZERO = 1e-12  # of the largest coefficient of a sum: below it is rounding


def complexity(scaling: Scaling, features: VanishingFeatures, weights: np.ndarray) -> int:
    """Return how many numbers decisions are made of.

    The weights that are not zero; the coefficients of the generators that have one, but for the
    leading ones, which are factors of the weights; and the knots of the quantiles, where columns
    are mapped to these, of the columns that these generators need. Where each decision is a single
    polynomial, its coefficients, but for the constant, if they are fewer than these.

    Parameters
    ----------
    scaling : Scaling
    features : VanishingFeatures
    weights : ndarray of shape (n_decisions, n_generators)
    """
    total, start = int(np.count_nonzero(weights)), 0
    columns = np.zeros(features.n_features_in_, dtype=bool)
    for transformer in features.transformers_:
        stop = start + transformer.n_generators_
        chosen = np.flatnonzero(weights[:, start:stop].any(axis=0))
        if not chosen.size:
            start = stop
            continue
        generators = transformer.generators_.subset(chosen)
        start = stop
        if isinstance(generators, Generators):
            total += int(np.count_nonzero(generators.coef))
            terms = generators.terms[generators.coef.any(axis=0)]
            columns |= terms.any(axis=0) | generators.leading_terms.any(axis=0)
            continue
        for polynomial in generators:  # of VCA, which has no list of terms
            total += len(polynomial.terms) - 1
            columns |= polynomial.terms.any(axis=0)
    sums = weighted_sums(features, weights)
    if sums is not None:
        total = min(total, sum(any(term) for of_decision in sums for term in of_decision))
    if isinstance(scaling.transformer, QuantileTransformer):
        total += len(scaling.transformer.quantiles_) * int(columns.sum())
    return total


def weighted_sums(
    features: VanishingFeatures, weights: np.ndarray
) -> list[dict[tuple[int, ...], float]] | None:
    """Return the coefficients of weighted sums of generators, by the exponents of their terms.

    None where features are sizes of generators, not values, or generators have no list of terms.

    Parameters
    ----------
    features : VanishingFeatures
    weights : ndarray of shape (n_decisions, n_generators)
    """
    sums: list[dict[tuple[int, ...], float]] = [{} for _ in weights]
    start = 0
    for transformer in features.transformers_:
        generators, stop = transformer.generators_, start + transformer.n_generators_
        if transformer.absolute or not isinstance(generators, Generators):
            return None
        for of_decision, w in zip(sums, weights[:, start:stop], strict=True):
            pairs = [
                *zip(generators.terms.tolist(), w @ generators.coef, strict=True),
                *zip(generators.leading_terms.tolist(), w * generators.leading_coef, strict=True),
            ]
            for term, value in pairs:
                of_decision[tuple(term)] = of_decision.get(tuple(term), 0.0) + float(value)
        start = stop
    return [_without_zeros(of_decision) for of_decision in sums]


def _without_zeros(coefficients: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    largest = max(map(abs, coefficients.values()), default=0.0)
    return {term: v for term, v in coefficients.items() if abs(v) > _ZERO * largest}
