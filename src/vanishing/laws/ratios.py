"""Which few terms? Least ratios v'Gv / v'Hv on supports of few terms."""

from itertools import combinations
from math import comb

import numpy as np

from vanishing.laws.sparse import least_ratio, ratio_backward, ratios, regressions

__all__ = ["least_ratio", "ratio_supports"]

_EXHAUSTIVE = 30_000  # supports of one size
_BEAM, _EXTENSIONS, _BEAM_SIZE = 40, 12, 7


def ratio_supports(gram, slope, limit, max_terms, progress) -> list[tuple[tuple[int, ...], float]]:
    """Return supports whose least ratio is below a limit.

    All small ones while they are few, a beam, sparse regressions, and backward elimination.
    """
    best: dict[tuple[int, ...], float] = {}

    def note(supports, values):
        for support, value in zip(supports, values, strict=True):
            if value < limit:
                best[tuple(map(int, support))] = float(value)

    k = len(gram)
    frontier = np.array(list(combinations(range(k), 2)))
    values = ratios(gram, slope, frontier)
    note(frontier, values)
    frontier = frontier[np.argsort(values, kind="stable")[:_BEAM]]
    for size in range(3, min(_BEAM_SIZE, max_terms, k) + 1):
        progress()
        if size <= 5 and comb(k, size) <= _EXHAUSTIVE:
            supports = np.array(list(combinations(range(k), size)))
        else:
            supports = _extended(gram, slope, frontier)
        values = ratios(gram, slope, supports)
        order = np.argsort(values, kind="stable")
        frontier = supports[order[:_BEAM]]
        note(supports[order[:50]], values[order[:50]])
    for j in range(k):
        # Each term from the others: a law of few terms is a sparse regression of any of them.
        for support in regressions(gram, j, min(max_terms, _BEAM_SIZE)):
            note([support], [least_ratio(gram, slope, support)[0]])
    progress()
    for support in ratio_backward(gram, slope, max_terms):
        note([support], [least_ratio(gram, slope, support)[0]])
    # A law with a term too many is one without it.
    for size in range(max(map(len, best), default=0), 2, -1):
        for support in [s for s in best if len(s) == size]:
            shorter = np.array(list(combinations(support, size - 1)))
            note(shorter, ratios(gram, slope, shorter))
    return sorted(best.items())


def _extended(gram, slope, frontier) -> np.ndarray:
    """Return supports with one more term each: those whose residual correlates with it most."""
    found = set()
    for support in frontier:
        value, vector = least_ratio(gram, slope, support)
        left = gram[:, support] @ vector - value * (slope[:, support] @ vector)
        left[support] = 0.0
        for j in np.argsort(-np.abs(left), kind="stable")[:_EXTENSIONS]:
            found.add(tuple(sorted((*map(int, support), int(j)))))
    return np.array(sorted(found))
