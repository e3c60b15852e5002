"""Which generators tell their class from others: few of them are kept, on request."""

import numpy as np

from vanishing.constructions.base import GeneratorTransformer
from vanishing.learning.labels import LabelledRows
from vanishing.rows.reader import RowReader

# Of mean squares, other classes' over one's own: beyond it the latter is rounding, and generators
# count alike.
_LARGEST_RATIO = 1e12


def prune(
    transformers: list, max_generators: int, rows: LabelledRows, readers: list[RowReader] | None
) -> None:
    """Keep the generators of each class that are largest on other classes, relative to its own.

    Parameters
    ----------
    transformers : list of GeneratorTransformer
        One per class, fitted.
    max_generators : int
        How many to keep of each.
    rows : LabelledRows
    readers : list of RowReader or None
        Of the rows of each class, where there are some already.
    """
    if len(transformers) < 2:
        raise ValueError(
            "max_generators compares the rows of a class with those of other classes, and y has "
            "only one class: leave it out, or give rows of at least two."
        )
    for transformer in transformers:
        if not isinstance(transformer, GeneratorTransformer):
            raise TypeError(
                f"max_generators is for constructions of vanishing; a {type(transformer).__name__} "
                "keeps all its generators. Leave it out."
            )
    if max(t.n_generators_ for t in transformers) <= max_generators:
        return
    sequences = [t.generators_ for t in transformers]

    def measured(reader: RowReader):
        return [reader.ask("squared_values", each)[0] for each in sequences], reader.total_weight

    answers = rows.read_classes(measured, transformers[0].chunk_size, readers)
    weights = np.array([weight for _, weight in answers])
    for place, transformer in enumerate(transformers):
        squares = np.array([of_class[place] for of_class, _ in answers])
        others = np.arange(len(answers)) != place
        ratio = _ratios(
            squares[place] / weights[place], squares[others].sum(axis=0) / weights[others].sum()
        )
        # Among equals the first, which has the smallest degree.
        best = np.argsort(-ratio, kind="stable")[:max_generators]
        transformer.keep(np.sort(best))


def _ratios(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return how many times larger mean squares are on other classes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(others > 0.0, others / own, 0.0)
    return np.minimum(ratio, _LARGEST_RATIO)
