"""Quantities of rows without noise: the null space of scatter within runs, and sparse vectors."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from vanishing.laws.variety import sparse_supports_of
from vanishing.motion.pencil import Candidate, Family, Pencil

EXACT = 1e-6  # variance within runs over that of all rows
_ROUNDING = 1e-13  # the same, below which nothing is told from rounding
_BAND = 1e3  # of ratios: quantities are as exact as the best one, up to this factor
# Entries of null vectors that count as zero: what monomials that are nearly dependent leave there
# may be far more than rounding.
_TOLERANCES = (1e-6, 1e-4, 1e-2)
_SPARE = 2  # supports may have so many times the terms that are wanted, before some are dropped


class NullSpaces:
    """Polynomials of each degree that hardly vary within runs.

    Parameters
    ----------
    learnt : Pencil
    sizes : sequence of int
        How many standard monomials there are up to each degree that is looked at.
    """

    def __init__(self, learnt: Pencil, sizes):
        self.learnt, self.sizes = learnt, list(sizes)
        within, total = learnt.within, learnt.total
        # The columns of this and of its leading blocks are orthonormal combinations of monomials.
        self.inside = solve_triangular(total, within.T, trans="T").T
        found = [np.linalg.svd(self.inside[:, :k])[1:] for k in self.sizes]
        self.ratios = [_padded(values, k) ** 2 for (values, _), k in zip(found, sizes, strict=True)]
        self.vectors = [vectors for _, vectors in found]
        self.least = min((float(r[-1]) for r in self.ratios), default=np.inf)
        self.limit = max(_BAND * self.least, _ROUNDING)

    @property
    def is_exact(self) -> bool:
        """Whether something is conserved up to rounding, or up to errors of an integration."""
        return self.least < EXACT

    def basis(self, i: int) -> np.ndarray:
        """Return a basis of what is conserved, up to a degree, as rows of coefficients."""
        k = self.sizes[i]
        vectors = self.vectors[i][self.ratios[i] < self.limit]
        return solve_triangular(self.learnt.total[:k, :k], vectors.T).T


def _padded(values, size) -> np.ndarray:
    return np.append(values, np.zeros(size - len(values)))


def exact_quantities(
    spaces: NullSpaces, max_terms: int, polynomials: Callable, holds: Callable, price: Callable
) -> tuple[list[Candidate], int]:
    """Return sparse quantities, none a polynomial in those before, and how many are too long.

    Parameters
    ----------
    spaces : NullSpaces
    max_terms : int
    polynomials : callable
        ``polynomials(candidates, i)``: all polynomials in these up to degree i.
    holds : callable
        ``holds(candidate, limit)``: whether runs that were held out agree.
    price : callable
        Of a support: the least comes first.
    """
    learnt, limit = spaces.learnt, spaces.limit
    found: list[Candidate] = []
    left_over = 0
    new = max(1e-4, 30 * np.sqrt(limit))
    for i, size in enumerate(spaces.sizes):
        null = spaces.basis(i)
        known = Family(learnt.total)
        known.set(polynomials(found, i))
        if len(null) <= known.rank:
            continue
        unit = np.sqrt((learnt.total[:, :size] ** 2).sum(axis=0))
        for tolerance in _TOLERANCES:
            if known.rank >= len(null):
                break
            supports = sparse_supports_of(null * unit, _SPARE * max_terms, tolerance)
            for candidate in _shortest(learnt, supports, limit, max_terms, price):
                if known.novelty(candidate) > new and holds(candidate, limit):
                    found.append(candidate)
                    known.set(polynomials(found, i))
        left_over = max(0, len(null) - known.rank)
    return found, left_over


def _shortest(learnt: Pencil, supports, limit, max_terms, price) -> list[Candidate]:
    """Return quantities of few terms on supports or parts of them, those of the least price first."""
    short = {tuple(s) for s in (_shortened(learnt, s, limit) for s in supports) if s is not None}
    chosen = sorted((s for s in short if len(s) <= max_terms), key=price)
    return [learnt.least(support) for support in chosen]


def _shortened(learnt: Pencil, support, limit) -> np.ndarray | None:
    """Return a support without terms that are not needed; None where it has no quantity."""
    best = learnt.least(support)
    if best.ratio > limit:
        return None
    while len(support) > 1:
        size = np.sqrt((learnt.total[:, support] ** 2).sum(axis=0))
        least = np.argmin(np.abs(best.coef) * size)
        shorter = np.delete(support, least)
        candidate = learnt.least(shorter)
        if candidate.ratio > limit:
            break
        support, best = shorter, candidate
    return support
