"""Backward elimination: the linear SVM decides once more, by the generators that decided most."""

from collections.abc import Callable
from copy import copy

import numpy as np

from vanishing.learning.features import VanishingFeatures, set_transformers
from vanishing.learning.labels import LabelledRows
from vanishing.learning.svm import L1SquaredHingeSVC


def most_decisive(
    final: L1SquaredHingeSVC, most: int | None, mean_squares: Callable[[], np.ndarray]
) -> np.ndarray | None:
    """Return the places of the generators that decide most; None: no more have a weight.

    Parameters
    ----------
    final : L1SquaredHingeSVC
        Fitted to all of them.
    most : int or None
        How many to choose.
    mean_squares : callable
        Returns the mean square of each feature, of at least as many as there are weights.
    """
    used = np.count_nonzero(final.coef_.any(axis=0))
    if most is None or used <= most:
        return None
    sizes = np.abs(final.coef_).max(axis=0)
    sizes = sizes * np.sqrt(mean_squares()[: sizes.size])
    return np.sort(np.argsort(-sizes, kind="stable")[:most])


def mean_squares(features: VanishingFeatures, rows: LabelledRows) -> np.ndarray:
    """Return the mean square of each generator on rows that are read where they are."""
    sequences = [transformer.generators_ for transformer in features.transformers_]

    def measured(reader):
        return [reader.ask("squared_values", each)[0] for each in sequences], reader.total_weight

    answers = rows.read_classes(measured, None)
    total = sum(weight for _, weight in answers)
    return sum(np.concatenate(squares) for squares, _ in answers) / total


def with_generators(features: VanishingFeatures, chosen: np.ndarray) -> VanishingFeatures:
    """Return features with some of the generators only."""
    features, start, transformers = copy(features), 0, []
    for transformer in features.transformers_:
        stop = start + transformer.n_generators_
        transformers.append(copy(transformer))
        transformers[-1].keep(chosen[(chosen >= start) & (chosen < stop)] - start)
        start = stop
    set_transformers(features, transformers)
    return features
