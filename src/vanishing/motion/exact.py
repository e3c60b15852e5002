"""Quantities of rows without noise: the null space of scatter within runs, and sparse vectors."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from vanishing.fitting.variety import sparse_supports_of
from vanishing.motion import settings
from vanishing.motion.pencil import Family, Pencil, PencilCandidate
from vanishing.motion.runs import triangular


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
        # The columns of this and of its leading blocks are orthonormal combinations of monomials.
        self.inside = solve_triangular(learnt.total, learnt.within.T, trans="T").T
        squares = [np.linalg.svd(self.inside[:, :k], compute_uv=False) ** 2 for k in self.sizes]
        self.ratios = [
            np.append(r, np.zeros(k - len(r))) for r, k in zip(squares, sizes, strict=True)
        ]
        self.least = min((float(r[-1]) for r in self.ratios), default=np.inf)
        self.limit = max(settings.BAND * self.least, settings.ROUNDING)

    @property
    def is_exact(self) -> bool:
        """Whether something is conserved up to rounding, or up to errors of an integration."""
        return self.least < settings.EXACT

    def dimension(self, i: int) -> int:
        """Return how many independent polynomials are conserved, up to a degree."""
        return int(np.count_nonzero(self.ratios[i] < self.limit))

    def basis(self, i: int) -> np.ndarray:
        """Return a basis of what is conserved, up to a degree, as rows of coefficients.

        They are coefficients of monomials of spread 1, and small ones where there is a choice:
        monomials that are nearly dependent could otherwise have large ones that cancel.
        """
        k = self.sizes[i]
        total = self.learnt.total[:k, :k]
        unit = np.sqrt((total**2).sum(axis=0))
        cost = np.sqrt(settings.SMALL * self.limit)
        size = cost * solve_triangular(total, np.diag(unit), trans="T").T
        both = triangular([self.inside[:, :k], size])
        vectors = np.linalg.svd(both)[2][k - self.dimension(i) :]
        return solve_triangular(total, vectors.T).T * unit


def exact_quantities(
    spaces: NullSpaces,
    max_terms: int,
    polynomials: Callable,
    is_new: Callable,
    holds: Callable,
    price: Callable,
) -> tuple[list[PencilCandidate], int]:
    """Return sparse quantities, none a polynomial in those before, and how many are too long.

    Parameters
    ----------
    spaces : NullSpaces
    max_terms : int
    polynomials : callable
        ``polynomials(candidates, i)``: all polynomials in these up to degree i.
    is_new : callable
        ``is_new(candidate, quantities)``: whether it is no other function of these.
    holds : callable
        ``holds(candidate, limit)``: whether runs that were held out agree.
    price : callable
        Of a support: the least comes first.
    """
    learnt, limit = spaces.learnt, spaces.limit
    quantities: list[PencilCandidate] = []
    left_over = 0
    new = max(1e-4, 30 * np.sqrt(limit))
    for i in range(len(spaces.sizes)):
        functions: list[np.ndarray] = []  # of quantities, though not polynomials of this degree
        known = Family(learnt.total, polynomials(quantities, i))
        if spaces.dimension(i) <= known.rank:
            continue
        null = spaces.basis(i)
        for supports in _sparse_supports(spaces, null, settings.SPARE_TERMS * max_terms):
            for candidate in _shortest(learnt, supports, limit, max_terms, price):
                if known.novelty(candidate) <= new:
                    continue
                if not is_new(candidate, quantities):
                    functions.append(candidate.dense(len(learnt.total)))
                elif holds(candidate, limit):
                    quantities.append(candidate)
                known = Family(learnt.total, [*polynomials(quantities, i), *functions])
            if known.rank >= len(null):
                break
        left_over = max(0, len(null) - known.rank)
    return quantities, left_over


def _sparse_supports(spaces: NullSpaces, null: np.ndarray, max_terms: int):
    """Yield lists of supports of sparse vectors of a space, or near it: first what is quick."""
    for tolerance in settings.TOLERANCES:
        yield sparse_supports_of(null, max_terms, tolerance)
    yield [_reweighted(spaces, row, max_terms) for row in null]


def _reweighted(spaces: NullSpaces, start: np.ndarray, max_terms: int) -> np.ndarray:
    """Return the support of a sparse vector that is conserved, and near another one.

    Small coefficients cost more than large ones, relative to their size, until they are gone.
    """
    k = len(start)
    within, total = spaces.learnt.within[:, :k], spaces.learnt.total[:, :k]
    unit = np.sqrt((total**2).sum(axis=0))
    target = (total / unit).T @ (total @ (start / unit))
    kept, vector = np.arange(k), start
    for _ in range(settings.REWEIGHTED):
        largest = np.abs(vector).max()
        cost = np.sqrt(settings.SMALL * spaces.limit) / (np.abs(vector) / largest + 1e-3)
        upper = triangular([within[:, kept] / unit[kept], np.diag(cost)])
        vector = solve_triangular(upper, target[kept], trans="T")
        vector = solve_triangular(upper, vector)
        chosen = np.abs(vector) > 1e-4 * np.abs(vector).max()
        kept, vector = kept[chosen], vector[chosen]
    largest_first = np.argsort(-np.abs(vector), kind="stable")[:max_terms]
    return np.sort(kept[largest_first])


def _shortest(learnt: Pencil, supports, limit, max_terms, price) -> list[PencilCandidate]:
    """Return quantities of few terms on supports or parts of them, in the order of their price."""
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
