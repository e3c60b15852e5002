"""Reasons against a law: it explains too little, misses what columns show, or may be anything."""

import numpy as np
from scipy.stats import binom

from vanishing.algebra.terms import Evaluator
from vanishing.fitting.lack_of_fit import (
    between,
    lack_of_products,
    left_between_neighbours,
    products_of_neighbours,
    signs_of_neighbours,
)
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate


def why_little(law: LawCandidate, searched: bool) -> str:
    """Say why what a law explains does not suffice; "" if it does."""
    table, explained = law.reduced.table, law.explained_share()
    equal = table._replace(weight=table.counts, precision=None, noisy=None)
    left = float(np.average((table.y - law.fitted.predicted) ** 2, weights=equal.weight))
    # Also where rows count alike: large rows that a law misses may be those of little precision.
    squares = ((law.fitted.mean_square, table.variance), (left, equal.variance))
    if not all(square < settings.LEAST_EXPLAINED * variance for square, variance in squares):
        return "no combination of terms explains half of the target's variance"
    # Twice the log-likelihood that is gained over a constant target.
    gain = -table.n_observations * np.log(max(1.0 - explained, 1e-300))
    if not gain > settings.CHANCE + law.length():
        return "on so few rows, the best of many equations would fit as well by chance"
    if not explained > law.least_explained_share(searched):
        return "for so few rows, the best candidate explains too little of most of them"
    if searched and _cancels(law):
        return "large terms of the best candidate cancel, so that it could be any smooth function"
    if _is_avoided(law):
        return "rows keep away from the best candidate, as if they obeyed two laws"
    return ""


def _is_avoided(law: LawCandidate) -> bool:
    """Say whether rows keep away from a law that leaves much, as those of two laws do.

    Of noise, whatever its distribution, the likeliest value is none; that holds for noise that is
    equal on all rows, and for noise relative to what is predicted.
    """
    table = law.reduced.table
    if law.fitted.mean_square < settings.LITTLE_LEFT * table.variance:
        return False
    left, counts = np.abs(table.y - law.fitted.predicted), table.counts
    for distance in (left, left / np.maximum(np.abs(law.fitted.predicted), 1e-300)):
        close = counts @ (distance < settings.CLOSE * np.median(distance))
        by_chance = binom.cdf(close, counts.sum(), settings.SHARE_CLOSE)
        if 2.0 * close < settings.SHARE_CLOSE * counts.sum() and by_chance < settings.FAILS:
            return True
    return False


def is_missed(law: LawCandidate, left: np.ndarray) -> bool:
    """Say whether what a law leaves is alike on rows that are near one another in any way.

    Or whether it is in proportion to a sum, difference, product or quotient of two columns.
    """
    table, reduced = law.reduced.table, law.reduced
    if len(table.columns) == 1:
        weighted = left * np.sqrt(table.weight)
        if left_between_neighbours(table.columns[0], weighted).p_value < settings.BETWEEN:
            return True
    if products_of_neighbours(table.columns, left) > settings.ALIKE:
        return True
    pairs = between(table.columns, table.positive)
    along = np.vstack([pairs, between(reduced.w, reduced.state.positive)])
    if signs_of_neighbours(along, left, together=False).is_sure:
        return True
    one = np.ones((1, len(left)))
    return len(pairs) > 0 and lack_of_products(one, pairs, left, table.weight).is_sure


def _cancels(law: LawCandidate) -> bool:
    """Say whether terms with functions nearly cancel one another.

    Functions of one variable are nearly dependent over its range: the small rest of large terms may
    be any smooth function.
    """
    fitted, reduced = law.fitted, law.reduced
    if not any(term.factors for term in fitted.terms if not term.involves(-1)):
        return False
    variables = np.vstack([reduced.w, fitted.predicted / reduced.factor])
    with np.errstate(all="ignore"):
        values = Evaluator(variables).values(fitted.terms)
        sizes = np.abs(fitted.coef) * np.sqrt(np.mean(values**2, axis=1))
    of_target = [term.involves(-1) for term in fitted.terms]
    return float(sizes.max()) > settings.CANCELS * float(sizes[of_target].max())


def why_short(law: LawCandidate, others: list[LawCandidate]) -> str:
    """Say why a law has too few terms: one that rows are too few for is likelier; "" if none is."""
    longer = [c for c in others if not c.has_enough_rows(True) and c.has_enough_rows(False)]
    if all(law.score - other.score < settings.EVIDENCE for other in longer):
        return ""
    return "there are too few rows for the terms that would explain more than the best candidate"
