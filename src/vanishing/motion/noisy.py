"""Quantities of rows with noise: sparse polynomials that vary within runs as the noise makes them.

Noise of variance s_j^2 in column j adds v'Nv to the variance of a polynomial within runs, with N the
sum over columns of s_j^2 times the mean products of derivatives of its terms. The ratio v'Wv / v'Nv
is 1 for what is conserved, up to chance, and larger for everything else.
"""

from collections.abc import Callable

import numpy as np

from vanishing.laws.ratios import full_ratios, least_ratio, ratio_supports
from vanishing.laws.refit import price
from vanishing.motion.pencil import Candidate, Family, Pencil

MOST_TERMS = 130  # standard monomials among which sparse combinations are looked for
_TRIED = 40  # candidates that runs held out are asked about
_NEW = 0.2  # share of the spread that polynomials in other quantities must not have
_SECOND_ORDER = 0.02  # what noise adds that is not of first order, relative to what is


def slack(count: float) -> float:
    """Return how much larger than 1 the ratio of something conserved may be by chance."""
    return 1 + 4 * np.sqrt(2 / count) + _SECOND_ORDER


def least_noise(learnt: Pencil, noise: np.ndarray, sizes) -> float:
    """Return the least ratio to the noise of any polynomial: nothing varies less than the noise."""
    gram = learnt.within.T @ learnt.within
    return min(full_ratios(gram[:k, :k], noise[:k, :k])[0] for k in sizes)


def noisy_quantities(
    learnt: Pencil,
    noise: np.ndarray,
    sizes,
    max_terms: int,
    polynomials: Callable,
    holds: Callable,
    complexity: np.ndarray,
) -> list[Candidate]:
    """Return sparse quantities, none a polynomial in those before.

    Parameters
    ----------
    learnt : Pencil
    noise : array of shape (k, k)
        The matrix N.
    sizes : sequence of int
        How many standard monomials there are up to each degree that is looked at.
    max_terms : int
    polynomials : callable
        ``polynomials(candidates, i)``: all polynomials in these up to degree i.
    holds : callable
        ``holds(candidate)``: whether runs that were held out agree.
    complexity : array of shape (k,)
        Of the standard monomials.
    """
    gram = learnt.within.T @ learnt.within
    scored: dict[tuple[int, ...], float] = {}
    for k in sizes:
        for support, score in _supports(gram[:k, :k], noise[:k, :k], learnt.count, max_terms):
            scored[support] = score + 3.0 * float(complexity[list(support)].sum())
    found: list[Candidate] = []
    known = Family(learnt.total)
    n_tried = 0
    for support in sorted(scored, key=lambda s: (scored[s], s)):
        if n_tried == _TRIED:
            break
        places = list(support)
        vector = least_ratio(gram, noise, places)[1]
        candidate = Candidate(np.array(places), vector, np.nan)
        candidate = candidate._replace(ratio=learnt.ratio(candidate))
        if known.novelty(candidate) <= _NEW:
            continue
        n_tried += 1
        if holds(candidate):
            found.append(candidate)
            known.set(polynomials(found, len(sizes) - 1))
    return found


def _supports(gram, noise, count, max_terms):
    """Yield supports that leave hardly more than the noise, and what they cost."""
    k = len(gram)
    scale = np.sqrt(gram.diagonal())
    gram, noise = gram / scale / scale[:, None], noise / scale / scale[:, None]
    limit = (1 + (k + 5 * np.sqrt(2 * k)) / count) * slack(count)
    if k == 1 or full_ratios(gram, noise)[0] > limit:
        if k == 1 and gram[0, 0] <= limit * noise[0, 0]:
            yield (0,), 0.0
        return
    singles = [((j,), gram[j, j] / noise[j, j]) for j in range(k) if noise[j, j] > 0]
    several = ratio_supports(gram, noise, limit, max_terms, lambda: None)
    for support, ratio in [*(s for s in singles if s[1] < limit), *several]:
        score = count * np.log(max(ratio / slack(count), 1.0)) + price(count) * len(support)
        yield tuple(support), float(score)
