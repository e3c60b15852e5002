"""How many numbers decisions are made of."""

import numpy as np
from sklearn.preprocessing import QuantileTransformer

from vanishing.algebra.generators import Generators
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.scaling import Scaling


def complexity(scaling: Scaling, features: VanishingFeatures, weights: np.ndarray) -> int:
    """Return how many numbers decisions are made of.

    The weights that are not zero; the coefficients of the generators that have one, but for the
    leading ones, which are factors of the weights; and the knots of the quantiles, where columns
    are mapped to these, of the columns that these generators need. Where generators decide by their
    values, not by their sizes, each decision is a single polynomial: of its coefficients and these
    numbers those count that are fewer.

    Parameters
    ----------
    scaling : Scaling
    features : VanishingFeatures
    weights : ndarray of shape (n_decisions, n_generators)
    """
    total, start = int(np.count_nonzero(weights)), 0
    columns = np.zeros(features.n_features_in_, dtype=bool)
    sums: list[dict[tuple[int, ...], float]] | None = [{} for _ in weights]
    for transformer in features.transformers_:
        stop = start + transformer.n_generators_
        of_class = weights[:, start:stop]
        start = stop
        chosen = np.flatnonzero(of_class.any(axis=0))
        if not chosen.size:
            continue
        generators = transformer.generators_.subset(chosen)
        if not isinstance(generators, Generators):  # of VCA, which has no list of terms
            sums = None
            for polynomial in generators:
                total += len(polynomial.terms) - 1
                columns |= polynomial.terms.any(axis=0)
            continue
        total += int(np.count_nonzero(generators.coef))
        terms = generators.terms[generators.coef.any(axis=0)]
        columns |= terms.any(axis=0) | generators.leading_terms.any(axis=0)
        sums = None if sums is None or transformer.absolute else sums
        if sums is not None:
            _add(sums, of_class[:, chosen], generators)
    if sums is not None:
        total = min(total, sum(_count(of_decision) for of_decision in sums))
    if isinstance(scaling.transformer, QuantileTransformer):
        total += len(scaling.transformer.quantiles_) * int(columns.sum())
    return total


def _add(sums: list[dict], weights: np.ndarray, generators: Generators) -> None:
    """Add weighted generators to polynomials, by their terms."""
    coef, leading = generators.coef, generators.leading_coef
    for of_decision, w in zip(sums, weights, strict=True):
        parts = zip(generators.terms, w @ coef, strict=True)
        leads = zip(generators.leading_terms, w * leading, strict=True)
        for term, value in (*parts, *leads):
            key = tuple(term.tolist())
            of_decision[key] = of_decision.get(key, 0.0) + value


def _count(coefficients: dict[tuple[int, ...], float]) -> int:
    """Return how many coefficients are not zero, but for the constant: there is an intercept."""
    largest = max((abs(value) for value in coefficients.values()), default=0.0)
    return sum(abs(value) > 1e-12 * largest and any(term) for term, value in coefficients.items())
