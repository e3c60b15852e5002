"""Which few terms? Least ratios v'Gv / v'Hv on supports of few terms."""

from functools import lru_cache
from itertools import chain, combinations
from math import comb

import numba
import numpy as np
from scipy.linalg import LinAlgError, eigh, inv

from vanishing.fitting import settings
from vanishing.fitting.normal import of_size_one
from vanishing.fitting.sparse import regressions


@numba.njit(cache=True, error_model="numpy")
def _ratio(gram, slope, support, vector):
    """Return the least v'Gv / v'Hv on a support, and set ``vector`` to its v.

    With G = L L', it is one over the largest eigenvalue of L^-1 H L^-T: power iteration.
    """
    k = len(support)
    lower = np.zeros((k, k))
    for i in range(k):
        for j in range(i + 1):
            value = gram[support[i], support[j]]
            for p in range(j):
                value -= lower[i, p] * lower[j, p]
            if i == j:
                if value <= 1e-13 * gram[support[i], support[i]]:
                    value = 1e-13 * gram[support[i], support[i]]
                lower[i, i] = np.sqrt(value)
            else:
                lower[i, j] = value / lower[j, j]
    inner = np.empty((k, k))  # L^-1 H L^-T
    for j in range(k):
        for i in range(k):
            value = slope[support[i], support[j]]
            for p in range(i):
                value -= lower[i, p] * inner[p, j]
            inner[i, j] = value / lower[i, i]
    for i in range(k):
        for j in range(k):
            value = inner[i, j]
            for p in range(j):
                value -= lower[j, p] * inner[i, p]
            inner[i, j] = value / lower[j, j]
    place = 0
    for i in range(k):
        if inner[i, i] > inner[place, place]:
            place = i
    current, following = inner[:, place].copy(), np.empty(k)
    value = 0.0
    for _ in range(60):
        square = 0.0
        for i in range(k):
            square += current[i] ** 2
        if square == 0.0:
            return np.inf
        norm, updated = np.sqrt(square), 0.0
        for i in range(k):
            current[i] /= norm
        for i in range(k):
            following[i] = 0.0
            for j in range(k):
                following[i] += inner[i, j] * current[j]
            updated += current[i] * following[i]
        close = abs(updated - value) <= 1e-9 * updated
        value = updated
        current, following = following, current
        if close:
            break
    for i in range(k - 1, -1, -1):
        entry = current[i]
        for p in range(i + 1, k):
            entry -= lower[p, i] * vector[p]
        vector[i] = entry / lower[i, i]
    return 1.0 / value if value > 0.0 else np.inf


@numba.njit(cache=True, error_model="numpy")
def ratios(gram, slope, supports):
    """Return the least ratio of each support, given as rows of equal size."""
    least = np.empty(len(supports))
    vector = np.empty(supports.shape[1])
    for i in range(len(supports)):
        least[i] = _ratio(gram, slope, supports[i], vector)
    return least


def least_ratio(gram, slope, support) -> tuple[float, np.ndarray]:
    """Return the least ratio on a support, and its vector."""
    vector = np.empty(len(support))
    return _ratio(gram, slope, np.asarray(support), vector), vector


def ratio_backward(gram, slope, max_terms, progress=lambda: None) -> list[np.ndarray]:
    """Return supports by backward elimination, of several terms at once while many are left."""
    kept = np.arange(len(gram))
    supports = []
    while len(kept) > 1:
        progress()
        size, part = len(kept), np.ix_(kept, kept)
        left, scale = of_size_one(gram[part], 1e-13 * size)
        right = slope[part] / scale / scale[:, np.newaxis]
        try:
            _, vectors = eigh(right, left, subset_by_index=[size - 1, size - 1], check_finite=False)
        except LinAlgError:  # many terms are as good as dependent: nothing can be eliminated
            break
        vector = vectors[:, 0]
        if size <= max_terms:
            supports.append(kept)
        # What v'Gv gains when a term is set to zero and the others follow, in directions other than
        # v itself: these have G^-1 - v v' (with v'Gv = 1) for an inverse.
        others = inv(left, check_finite=False).diagonal() - vector**2
        loss = vector**2 / np.maximum(others, 1e-12 * vector**2 + 1e-300)
        n_dropped = max(1, (size - 60) // 8)
        kept = kept[np.sort(np.argsort(loss, kind="stable")[n_dropped:])]
    return supports


def full_ratios(gram, slope) -> np.ndarray:
    """Return the stationary values of v'Gv / v'Hv over all terms, the least first.

    Directions without a slope, such as the constant, have none.
    """
    left, scale = of_size_one(gram, 1e-13 * len(gram))
    try:
        values = eigh(slope / scale / scale[:, None], left, eigvals_only=True)[::-1]
    except LinAlgError:  # nearly dependent terms, without noise: nothing can be told
        return np.array([np.inf])
    with np.errstate(divide="ignore"):
        return np.where(values > 0.0, 1.0 / values, np.inf)


@lru_cache(maxsize=16)
def _all_supports(k: int, size: int) -> np.ndarray:
    places = np.fromiter(chain.from_iterable(combinations(range(k), size)), int)
    return places.reshape(-1, size)


def ratio_supports(gram, slope, limit, max_terms, progress) -> list[tuple[tuple[int, ...], float]]:
    """Return supports whose least ratio is below a limit.

    All small ones while they are few, a beam, sparse regressions, backward elimination, and
    exchanges of two terms.
    """
    best: dict[tuple[int, ...], float] = {}

    def note(supports, values):
        near = values < limit
        best.update(zip(map(tuple, supports[near].tolist()), values[near].tolist(), strict=True))

    k = len(gram)
    frontier = _all_supports(k, 2)
    values = ratios(gram, slope, frontier)
    note(frontier, values)
    frontier = frontier[np.argsort(values, kind="stable")[: settings.BEAM]]
    for size in range(3, min(settings.BEAM_SIZE, max_terms, k) + 1):
        progress()
        if size <= settings.EXHAUSTIVE_SIZE and comb(k, size) <= settings.EXHAUSTIVE_RATIOS:
            supports = _all_supports(k, size)
        else:
            supports = _extended(gram, slope, frontier)
        values = ratios(gram, slope, supports)
        order = np.argsort(values, kind="stable")
        frontier = supports[order[: settings.BEAM]]
        note(supports[order[:50]], values[order[:50]])
    more = ratio_backward(gram, slope, max_terms, progress)
    for j in range(k):
        progress()
        # Each term from the others: a law of few terms is a sparse regression of any of them.
        more += regressions(gram, j, min(max_terms, settings.BEAM_SIZE))
    for size in set(map(len, more)):
        supports = np.array([support for support in more if len(support) == size])
        note(supports, ratios(gram, slope, supports))
    # Terms that say much only together are missed where they are taken one by one.
    enough = settings.EXCHANGED * max(full_ratios(gram, slope)[0], 0.0)
    for size in range(4, min(settings.EXHAUSTIVE_SIZE, max_terms, k - 2) + 1):
        for _ in range(settings.EXCHANGES):
            least, support = min(
                ((value, support) for support, value in best.items() if len(support) == size),
                default=(0.0, ()),
            )
            if least <= enough or comb(size, 2) * comb(k - size, 2) > settings.EXHAUSTIVE:
                break
            progress()
            supports = _exchanged(support, k)
            values = ratios(gram, slope, supports)
            order = np.argsort(values, kind="stable")[:50]
            note(supports[order], values[order])
            if values[order[0]] >= least:
                break
    # A law with a term too many is one without it.
    for size in range(max(map(len, best), default=0), 2, -1):
        progress()
        long = [support for support in best if len(support) == size]
        parts = {part for support in long for part in combinations(support, size - 1)}
        shorter = np.array(sorted(parts.difference(best)), int).reshape(-1, size - 1)
        note(shorter, ratios(gram, slope, shorter))
    return sorted(best.items())


def _exchanged(support: tuple[int, ...], k: int) -> np.ndarray:
    """Return supports in which two terms are two others."""
    others = np.delete(np.arange(k), support)
    pairs = others[_all_supports(len(others), 2)]
    kept = (np.tile(part, (len(pairs), 1)) for part in combinations(support, len(support) - 2))
    return np.sort(np.vstack([np.hstack([part, pairs]) for part in kept]), axis=1)


def _extended(gram, slope, frontier) -> np.ndarray:
    """Return supports with one more term each: those whose residual correlates with it most."""
    longer = set()
    for support in frontier:
        value, vector = least_ratio(gram, slope, support)
        left = gram[:, support] @ vector - value * (slope[:, support] @ vector)
        left[support] = 0.0
        for j in np.argsort(-np.abs(left), kind="stable")[: settings.EXTENSIONS].tolist():
            longer.add(tuple(sorted((*support.tolist(), j))))
    return np.array(sorted(longer))
