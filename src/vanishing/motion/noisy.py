"""Quantities of rows with noise: sparse polynomials that vary within runs as the noise makes them.

Noise of variance s_j^2 in column j adds v'Nv to the variance v'Wv of a polynomial within runs, with
N the sum over columns of s_j^2 times the mean products of derivatives of its terms. The ratio
v'Wv / v'Nv is 1 for what is conserved, up to chance, and larger for everything else.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import eigh

from vanishing.fitting.ratios import full_ratios, least_ratio, ratio_supports
from vanishing.fitting.sparse import price
from vanishing.motion import settings
from vanishing.motion.pencil import Family, Pencil, PencilCandidate


def slack(count: float) -> float:
    """Return how much larger than 1 the ratio of something conserved may be by chance."""
    return 1 + settings.DEVIATIONS * np.sqrt(2 / count) + settings.SECOND_ORDER


def _least(gram, noise) -> tuple[float, np.ndarray]:
    """Return the least ratio of all, and its polynomial."""
    scale = np.sqrt(gram.diagonal())
    k = len(gram)
    left = gram / scale / scale[:, None] + 1e-13 * k * np.eye(k)
    right = noise / scale / scale[:, None]
    values, vectors = eigh(right, left, subset_by_index=[k - 1, k - 1])
    return float(1.0 / max(values[0], 1e-300)), vectors[:, 0] / scale


class NoisySearch:
    """Sparse polynomials that vary within runs as noise makes them.

    Parameters
    ----------
    learnt : Pencil
    noise : array of shape (k, k)
        The matrix N; up to a factor, where the size of the noise is unknown.
    sizes : sequence of int
        How many standard monomials there are up to each degree that is looked at.
    max_terms : int
    polynomials : callable
        ``polynomials(candidates, i)``: all polynomials in these up to degree i + 1.
    complexity : array of shape (k,)
        Of the standard monomials.
    tested : callable
        ``tested(candidate)``: the ratio to the noise of a candidate on runs held out.
    degrees : sequence of int
        Those of ``sizes``, less 1.
    loose : float
        How much more than expected the noise of a quantity may be, beside chance.
    is_new : callable
        ``is_new(candidate, quantities)``: whether it is no function of these.

    Attributes
    ----------
    least : list of float
        Least ratio to the noise of any polynomial, up to each degree.
    least_tested : float
        What these polynomials have on runs held out, the least of all degrees. Nothing varies less
        than the noise, and runs held out do not flatter polynomials that were fitted to others.
    """

    def __init__(
        self,
        learnt: Pencil,
        noise: np.ndarray,
        sizes: Sequence[int],
        max_terms: int,
        polynomials: Callable,
        complexity: np.ndarray,
        tested: Callable,
        degrees: Sequence[int],
        loose: float,
        is_new: Callable,
    ):
        self.learnt, self.noise, self.sizes, self.max_terms = learnt, noise, sizes, max_terms
        self.polynomials, self.complexity = polynomials, complexity
        self.degrees, self.loose, self.is_new = degrees, loose, is_new
        k = sizes[-1]
        self.gram = learnt.within[:, :k].T @ learnt.within[:, :k]
        least = [_least(self.gram[:k, :k], noise[:k, :k]) for k in sizes]
        self.least = [ratio for ratio, _ in least]
        self.least_tested = min(
            tested(PencilCandidate(np.arange(len(v)), v, np.nan)) for _, v in least
        )

    def first(self, holds: Callable, most: float) -> tuple[PencilCandidate, float] | None:
        """Return a quantity while the size of the noise is unknown, and its ratio to the noise.

        No polynomial varies less than the noise, so that the least ratio of all says what that is,
        up to chance.
        """
        for k, least in zip(self.sizes, self.least, strict=True):
            if least > settings.SAME_NOISE * self.least_tested:
                continue
            least = max(least, self.least_tested)
            n_tried = 0
            for support in self._ordered(self._scored(k, least)):
                candidate, ratio = self._candidate(support)
                if n_tried == settings.CANDIDATES or candidate.ratio > most:
                    continue
                n_tried += 1
                if holds(candidate, ratio, most):
                    return candidate, ratio
        return None

    def quantities(
        self, unit: float, holds: Callable, most: float, quantities: list[PencilCandidate]
    ) -> list[PencilCandidate]:
        """Return quantities that are conserved up to the noise, none a polynomial in those before.

        Parameters
        ----------
        unit : float
            What the matrix of the noise has to be multiplied by.
        holds : callable
            ``holds(candidate, unit, most)``: whether runs that were held out agree.
        most : float
            Largest variance within runs over that of all rows.
        quantities : list of PencilCandidate
            What is known.
        """
        scored: dict[tuple[int, ...], float] = {}
        for k, degree in zip(self.sizes, self.degrees, strict=True):
            known = Family(self.learnt.total, self.polynomials(quantities, degree))
            ratios = full_ratios(self.gram[:k, :k], unit * self.noise[:k, :k])
            # Polynomials in what is known may be all that varies as the noise does.
            if np.count_nonzero(ratios < self._limit(k)) > known.rank:
                scored |= self._scored(k, unit)
        quantities = list(quantities)
        known = Family(self.learnt.total, self.polynomials(quantities, self.degrees[-1]))
        n_tried = 0
        for support in self._ordered(scored):
            candidate, _ = self._candidate(support)
            if candidate.ratio > most or known.novelty(candidate) <= settings.NEW:
                continue
            if not self.is_new(candidate, quantities):
                continue
            n_tried += 1
            if holds(candidate, unit, most):
                quantities.append(candidate)
                known = Family(self.learnt.total, self.polynomials(quantities, self.degrees[-1]))
            if n_tried == settings.CANDIDATES:
                break
        return quantities

    def _candidate(self, support) -> tuple[PencilCandidate, float]:
        """Return the polynomial with some terms that varies least, and its ratio to the noise."""
        places = list(support)
        ratio, vector = least_ratio(self.gram, self.noise, places)
        candidate = PencilCandidate(np.array(places), vector, np.nan)
        return candidate._replace(ratio=self.learnt.ratio(candidate)), ratio

    @staticmethod
    def _ordered(scored: dict[tuple[int, ...], float]) -> list[tuple[int, ...]]:
        return sorted(scored, key=lambda support: (scored[support], support))

    def _limit(self, k: int) -> float:
        """Return the largest ratio to the noise of something conserved, chosen among k terms."""
        count = self.learnt.n_rows
        return (1 + (k + 5 * np.sqrt(2 * k)) / count) * (slack(count) + self.loose)

    def _scored(self, k: int, unit: float) -> dict[tuple[int, ...], float]:
        """Return supports among k monomials that leave hardly more than the noise, with scores."""
        count, limit = self.learnt.n_rows, self._limit(k)
        scale = np.sqrt(self.gram.diagonal()[:k])
        gram = self.gram[:k, :k] / scale / scale[:, None]
        noise = unit * self.noise[:k, :k] / scale / scale[:, None]
        if full_ratios(gram, noise)[0] > limit:
            return {}
        single = 1.0 / np.maximum(noise.diagonal(), 1e-300)
        supports: list[tuple[tuple[int, ...], float]]
        supports = [((j,), single[j]) for j in np.flatnonzero(single < limit).tolist()]
        if k > 1:
            supports += ratio_supports(gram, noise, limit, self.max_terms, lambda: None)
        return {
            support: count * np.log(max(ratio / (slack(count) + self.loose), 1.0))
            + price(count) * len(support)
            + settings.COMPLEXITY * float(self.complexity[list(support)].sum())
            for support, ratio in supports
        }
