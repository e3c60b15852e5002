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
    are mapped to these, of the columns that these generators need.

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
    if isinstance(scaling.transformer, QuantileTransformer):
        total += len(scaling.transformer.quantiles_) * int(columns.sum())
    return total
