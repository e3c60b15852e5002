"""The search for conserved quantities, from scatter within and between runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Term
from vanishing.equations.law import Law
from vanishing.fitting.ratios import least_ratio
from vanishing.motion import settings
from vanishing.motion.evenness import evenness
from vanishing.motion.exact import NullSpaces, exact_quantities
from vanishing.motion.independence import leans, left_over, n_independent
from vanishing.motion.noisy import NoisySearch, slack
from vanishing.motion.origins import Origins
from vanishing.motion.pencil import Pencil, PencilCandidate, pencil, total_factor
from vanishing.motion.quantity import ConservedQuantity
from vanishing.motion.runs import Scatter
from vanishing.motion.state import cleaned, products, state_of
from vanishing.motion.variables import MotionMonomials, Terms


class MotionAnswer(NamedTuple):
    """What was found."""

    quantities: list[ConservedQuantity]
    constraints: list[Law]
    values: np.ndarray
    n_independent: int
    noise: np.ndarray
    verdict: str


class MotionResult(NamedTuple):
    """A quantity, its terms with their coefficients, and its values along each run."""

    quantity: ConservedQuantity
    polynomial: tuple[list[Term], np.ndarray]
    values: np.ndarray


class Added(NamedTuple):
    """What noise adds to the variance of monomials within runs: matrices over sets of runs."""

    sigma: np.ndarray
    learnt: np.ndarray
    held: np.ndarray
    everywhere: np.ndarray

    def scaled(self, unit: float) -> "Added":
        """Return the same for noise whose variance is larger by a factor."""
        return Added(np.sqrt(unit) * self.sigma, *(unit * matrix for matrix in self[1:]))


class Fit(NamedTuple):
    """Coefficients of a quantity and their covariance, None where they are exact."""

    coef: np.ndarray
    covariance: np.ndarray | None

    @property
    def is_significant(self) -> bool:
        """Whether each term is needed: its coefficient is not zero within its errors."""
        if self.covariance is None:
            return True
        errors = np.sqrt(self.covariance.diagonal())
        return bool((np.abs(self.coef) > settings.DEVIATIONS * errors).all())


def fitted(everywhere: Pencil, places: np.ndarray, noise: np.ndarray | None, size: float) -> Fit:
    """Return the coefficients of a quantity on all runs.

    Parameters
    ----------
    everywhere : Pencil
    places : array of int
        Of its terms.
    noise : array or None
        What noise adds to the variance of these terms; None where there is none.
    size : float
        What the last term is in units of: its coefficient is to be 1 in columns as they are.
    """
    if noise is None:
        coef = everywhere.least(places).coef
        return Fit(coef / coef[-1] * size, None)
    within = everywhere.within[:, places]
    gram = within.T @ within
    coef = least_ratio(gram, noise, np.arange(len(places)))[1]
    coef = coef / coef[-1] * size
    # Errors of a regression whose columns have noise: what noise adds is no information.
    free = slice(0, len(places) - 1)
    inverse = np.linalg.pinv((gram - noise)[free, free], hermitian=True)
    covariance = np.zeros_like(gram)
    left = float(coef @ gram @ coef) / everywhere.n_rows
    covariance[free, free] = left * inverse @ gram[free, free] @ inverse
    return Fit(coef, covariance)


class Search:
    """Quantities that are conserved, given the scatter of all monomials.

    Parameters
    ----------
    scatter : Scatter
    monomials : MotionMonomials
    names : sequence of str
        Of the columns.
    max_terms : int
    noise : array of shape (n_columns,) or None
        Standard deviations; None where they are unknown, and in proportion to the spread.
    offsets : array of shape (n_columns,)
        What was subtracted from the columns.
    """

    def __init__(
        self,
        scatter: Scatter,
        monomials: MotionMonomials,
        names: Sequence[str],
        max_terms: int,
        noise: np.ndarray | None,
        offsets: np.ndarray,
    ):
        if scatter.sample is None:
            raise ValueError("the scatter needs a sample of its rows.")
        self.scatter, self.sample = scatter, scatter.sample
        self.monomials, self.names = monomials, tuple(names)
        self.max_terms, self.noise = max_terms, noise
        factor = total_factor(scatter)
        n = len(self.names)
        deviation = np.sqrt((factor[1:, 1 : n + 1] ** 2).sum(axis=0) / scatter.weight.sum())
        self.spread = deviation * monomials.scale[:n]
        self.origins = Origins(offsets, self.spread)
        self.in_sample = not scatter.held_out.any()
        everywhere = np.ones(len(scatter.weight), dtype=bool)
        count = float(scatter.weight.sum() ** 2 / scatter.square.sum())
        self.max_degree = self._usable_degree(count)
        used = np.flatnonzero(monomials.degree <= self.max_degree)
        self.state = state_of(factor[:, np.append(0, used + 1)], monomials.exponents[used])
        standard = self.state.standard
        self.sizes = [
            int(np.count_nonzero(monomials.degree[standard] <= d))
            for d in range(1, self.max_degree + 1)
        ]
        if not self.sizes[-1]:
            raise ValueError(
                "all columns vary by their rounding alone, as constant ones do. Subtract what they "
                "have in common, or leave them out."
            )
        # As many monomials as rows have a combination that is constant on them, whatever they are.
        self.has_few_rows = self.sizes[0] >= self._rows_within_runs(count)
        self.all = pencil(scatter, standard, everywhere)
        self.learnt = self.held = self.all
        if not self.in_sample:
            learnt = pencil(scatter, standard, ~scatter.held_out)
            # A monomial may vary in a run that is held out, and in no other.
            self.in_sample = not learnt.tells_apart(self.all.total)
        if not self.in_sample:
            self.learnt, self.held = learnt, pencil(scatter, standard, scatter.held_out)
        self.terms = [monomials.term(i, n) for i in standard]
        self.units = monomials.sizes()[standard]  # of these terms, in units of scaled variables
        self.constraints = self._constraints()

    def _usable_degree(self, count: float) -> int:
        """Return the largest degree whose monomials are fewer than rows tell apart."""
        free = self._rows_within_runs(count) - settings.SPARE_ROWS
        degrees = range(1, int(self.monomials.degree[-1]) + 1)
        usable = [d for d in degrees if np.sum(self.monomials.degree <= d) <= free]
        return max(usable, default=1)

    def _rows_within_runs(self, count: float) -> float:
        """Return how many rows there are to learn from, beyond the first one of each run."""
        seen = self.scatter.weight > 0
        learnt = seen & ~self.scatter.held_out
        return float((count - np.count_nonzero(seen)) * np.mean(learnt[seen]))

    # -- All of it --------------------------------------------------------------------------------

    def answer(self, measured: Callable[[Terms], Scatter] | None) -> MotionAnswer:
        """Return what was found.

        Parameters
        ----------
        measured : callable or None
            Scatter of some terms on all rows, where the search has not seen all.
        """
        spaces = NullSpaces(self.learnt, self.sizes)
        best = self._best()
        added, note = None, ""
        candidates: list[PencilCandidate] = []
        if self.has_few_rows:
            note = " There are too few rows within runs to tell."
        elif spaces.is_exact:
            candidates, left_over = exact_quantities(
                spaces,
                self.max_terms,
                self._polynomials,
                lambda candidate, known: self._is_new(candidate, known, True),
                self._holds_exactly,
                self._price,
            )
            if left_over:
                note = f" Of more than {self.max_terms} terms there are {left_over} more."
        else:
            candidates, added = self._noisy(spaces)
        results = self._results(candidates, added, measured)
        independent = n_independent(
            [result.polynomial for result in results],
            self.constraints,
            self.sample.columns[: len(self.names)],
            self.spread,
            spaces.is_exact,
        )
        noise = np.zeros(len(self.names)) if added is None else added.sigma
        quantities = [result.quantity for result in results]
        n_runs = len(self.scatter.weight)
        return MotionAnswer(
            quantities,
            [Law(**self.origins.law(*law), names=self.names) for law in self.constraints],
            np.column_stack([np.empty((n_runs, 0)), *(result.values for result in results)]),
            independent,
            noise,
            self._verdict(quantities, independent, best, noise) + note,
        )

    def _best(self) -> float:
        """Return the least ratio, on runs held out, of the polynomials that are best on others."""
        tried = [self._held_ratio(self.learnt.least(range(k))) for k in self.sizes if k]
        return min(tried, default=1.0)

    def _held_ratio(self, candidate: PencilCandidate) -> float:
        """Return the variance within runs held out, over that of all rows of all runs."""
        total = self.all.variance(candidate)
        return self.held.left(candidate) / total if total > 0 else 1.0

    def _price(self, support) -> tuple:
        return len(support), sum(self.terms[i].degree for i in support), support

    def _polynomials(self, candidates: Sequence[PencilCandidate], i: int) -> list[np.ndarray]:
        """Return all polynomials in quantities up to degree i + 1, on the standard monomials."""
        exponents = self.monomials.exponents[self.state.standard]
        quantities = [
            {tuple(exponents[j]): x for j, x in zip(c.support, c.coef, strict=True)}
            for c in candidates
        ]
        rows = []
        for product in products(quantities, i + 1):
            row = np.zeros(len(self.state.standard))
            for key, value in product.items():
                row += value * self.state.reduced[:, self.monomials.place[tuple(map(int, key))]]
            rows.append(row)
        return rows

    def _is_new(
        self, candidate: PencilCandidate, quantities: Sequence[PencilCandidate], exact: bool
    ) -> bool:
        """Say whether a candidate is no function of quantities that were found.

        Monomials of a degree may come near such a function: its Taylor series, in other functions.
        Where there is noise, laws of the state are unknown, and the values along runs decide alone.
        """
        if not quantities:
            return True
        values, *others = (self._values(c) for c in (candidate, *quantities))
        least = settings.FUNCTION if exact else settings.NOISY_FUNCTION
        if left_over(values, np.column_stack(others)) > least:
            return True
        if not exact:
            return False
        known = [*self.constraints, *(self._polynomial(c) for c in quantities)]
        columns = np.ascontiguousarray(self.sample.columns[: len(self.names)])
        return leans(self._polynomial(candidate), known, columns, self.spread) > least

    def _values(self, candidate: PencilCandidate) -> np.ndarray:
        """Return the values of a candidate along the runs that were seen."""
        seen = self.scatter.weight > 0
        return self.scatter.mean[seen][:, self.state.standard[candidate.support]] @ candidate.coef

    def _polynomial(self, candidate: PencilCandidate) -> tuple[list[Term], np.ndarray]:
        """Return a candidate in columns as they are."""
        terms = [self.terms[i] for i in candidate.support]
        return terms, candidate.coef / self.units[candidate.support]

    def _holds_exactly(self, candidate: PencilCandidate, limit: float) -> bool:
        return self._held_ratio(candidate) <= min(100 * limit, 10 * settings.EXACT)

    # -- Noise ------------------------------------------------------------------------------------

    def _noisy(self, spaces: NullSpaces) -> tuple[list[PencilCandidate], Added | None]:
        """Return quantities that vary no more than noise, and what the noise adds."""
        sigma = self.spread if self.noise is None else self.noise
        strict = settings.IN_SAMPLE if self.in_sample else 1.0
        most = strict * (settings.UNKNOWN_NOISE if self.noise is None else settings.LARGEST_RATIO)
        largest = min(settings.MOST_TERMS, self.learnt.n_rows / settings.ROWS_PER_TERM)
        degrees = [
            i
            for i, (k, ratios) in enumerate(zip(self.sizes, spaces.ratios, strict=True))
            # No polynomial has less than the least ratio of its degree.
            if k <= largest and ratios[-1] < most
        ]
        sizes = [self.sizes[i] for i in degrees]
        loose = settings.PROPORTION if self.noise is None else 0.0
        small = strict * settings.UNTESTED
        if not sizes or not sigma.any():
            return [], None
        added = self._added(sigma, sizes[-1])
        search = NoisySearch(
            self.learnt,
            added.learnt,
            sizes,
            self.max_terms,
            self._polynomials,
            np.array([t.degree + len(t.factors) for t in self.terms]),
            lambda candidate: self._held_noise(candidate, added),
            degrees,
            loose,
            lambda candidate, known: self._is_new(candidate, known, False),
        )

        # Nothing varies less than the noise: if something does, the noise is less than given.
        known = self.noise is not None and min(search.least) > settings.OVERSTATED

        def holds(candidate: PencilCandidate, unit: float, most: float) -> bool:
            allowed = unit * (slack(self.held.n_rows) + settings.SPARE_NOISE + loose)
            if self._held_ratio(candidate) >= most:
                return False
            if self._held_noise(candidate, added) >= allowed:
                return False
            if not known and not self._looks_like_noise(candidate, sigma, small):
                return False
            part = np.ix_(candidate.support, candidate.support)
            noise = unit * added.everywhere[part]
            return fitted(self.all, candidate.support, noise, 1.0).is_significant

        if known:
            return search.quantities(1.0, holds, most, []), added
        most = min(most, strict * settings.UNKNOWN_NOISE)
        first = search.first(holds, most)
        if first is None:
            return [], None
        candidates = search.quantities(first[1], holds, most, [first[0]])
        return candidates, added.scaled(first[1])

    def _held_noise(self, candidate: PencilCandidate, added: Added) -> float:
        """Return the variance within runs held out, over what noise adds there."""
        part = np.ix_(candidate.support, candidate.support)
        noise = float(candidate.coef @ added.held[part] @ candidate.coef)
        return self.held.left(candidate) / noise if noise > 0 else np.inf

    def _looks_like_noise(self, candidate: PencilCandidate, sigma, small: float) -> bool:
        """Say whether what a quantity leaves over is noise, up to its size."""
        runs = evenness(
            *self._polynomial(candidate),
            np.ascontiguousarray(self.sample.columns[:-1]),
            self.sample.columns[-1].astype(np.intp),
            sigma,
        )
        return runs.may_be_noise if runs.tells else self._held_ratio(candidate) < small

    def _added(self, sigma: np.ndarray, size: int) -> Added:
        """Return what noise adds to the variance of the first standard monomials within runs."""
        sample = self.sample
        columns, weight = np.ascontiguousarray(sample.columns[:-1]), sample.weight
        held_out = self.scatter.held_out[sample.columns[-1].astype(np.intp)]
        folds = (~held_out, held_out)
        sums = np.zeros((2, size, size))
        for j in np.flatnonzero(sigma).tolist():
            slopes = self.monomials.derivatives(columns, j, self.state.standard[:size])
            for total, fold in zip(sums, folds, strict=True):
                part = slopes[:, fold]
                total += sigma[j] ** 2 * ((part * weight[fold]) @ part.T)
        weights = [weight[fold].sum() for fold in folds]
        everywhere = sums.sum(axis=0) / sum(weights)
        learnt = sums[0] / weights[0]
        return Added(sigma, learnt, learnt if self.in_sample else sums[1] / weights[1], everywhere)

    # -- Results ----------------------------------------------------------------------------------

    def _results(
        self, candidates: list[PencilCandidate], added: Added | None, measured
    ) -> list[MotionResult]:
        """Return quantities, the best first, and their values along each run."""
        if not candidates:
            return []
        places = np.unique(np.concatenate([candidate.support for candidate in candidates]))
        scatter, columns, sizes = self.scatter, self.state.standard[places], self.units[places]
        if measured is not None:
            scatter = measured(Terms(tuple(self.terms[i] for i in places), sizes))
            columns = np.arange(len(places))
        everywhere = pencil(scatter, columns, np.ones(len(scatter.weight), dtype=bool))
        held = everywhere if self.in_sample else pencil(scatter, columns, scatter.held_out)
        results = []
        for candidate in candidates:
            noise = None
            if added is not None:
                noise = added.everywhere[np.ix_(candidate.support, candidate.support)]
            local = candidate._replace(support=np.searchsorted(places, candidate.support))
            fit = fitted(everywhere, local.support, noise, sizes[local.support[-1]])
            ratio = held.left(local) / everywhere.variance(local)
            values = scatter.mean[:, columns[local.support]] @ fit.coef
            results.append(self._result(candidate, fit, ratio, values))
        # Ratios below 1e-20 are rounding, and equal.
        return sorted(results, key=lambda result: max(result.quantity.ratio, 1e-20))

    def _result(self, candidate: PencilCandidate, fit: Fit, ratio: float, values) -> MotionResult:
        sizes = self.units[candidate.support]
        covariance = None
        if fit.covariance is not None:
            covariance = (fit.covariance / np.outer(sizes, sizes))[::-1, ::-1]
        # The leading term first.
        terms, coef = [self.terms[i] for i in candidate.support[::-1]], (fit.coef / sizes)[::-1]
        parts, constant = self.origins.quantity(terms, coef, covariance is None)
        quantity = ConservedQuantity(**parts, names=self.names, covariance=covariance, ratio=ratio)
        return MotionResult(quantity, (terms, coef), values + constant)

    def _constraints(self) -> list[tuple[list[Term], np.ndarray]]:
        """Return the laws of the state, in columns as they are."""
        standard = self.state.standard
        sizes = self.monomials.sizes()
        laws = []
        for place, coef in self.state.laws:
            chosen = np.append(standard, place)
            row = np.append(-coef[1:], 1.0) / sizes[chosen] * sizes[place]
            relative = np.abs(np.append(-coef[1:], 1.0)) > 1e-8 * np.abs(coef).max(initial=1.0)
            terms = [self.monomials.term(i, len(self.names)) for i in chosen[relative]]
            row = cleaned(row[relative])
            constant = -coef[0] * sizes[place]
            if abs(coef[0]) > 1e-8 * np.abs(coef).max(initial=1.0):
                constant_term = Term((0.0,) * len(self.names))
                terms, row = [*terms, constant_term], cleaned(np.append(row, constant))
            laws.append((terms[::-1], row[::-1]))
        return laws

    def _verdict(self, quantities, independent, best, noise) -> str:
        top = self.max_degree
        asked = int(self.monomials.degree[-1])
        cut = "" if top == asked else f" Too few rows for degree {asked}: {top} was the highest."
        if not quantities:
            return (
                f"Nothing is conserved among polynomials of degree up to {top} that the runs agree "
                f"on: the best one has a ratio of variance within runs to that of all rows of "
                f"{best:.2g}.{cut}"
            )
        n = len(quantities)
        many = "quantity is" if n == 1 else "quantities are"
        text = f"{n} {many} conserved" + (f", {independent} of them independent" if n > 1 else "")
        worst = max(q.ratio for q in quantities)
        text += f"; variance within runs is at most {worst:.1g} of that of all rows"
        if noise.any() and self.noise is not None and (noise < 0.99 * self.noise).any():
            share = float(np.max(noise / np.where(self.noise > 0, self.noise, np.inf)))
            text += f", which is noise of {100 * share:.2g} % of the given noise"
        elif noise.any() and self.noise is None:
            share = float(np.median(noise / np.where(self.spread > 0, self.spread, 1.0)))
            text += (
                f", which is noise if every column has noise of {100 * share:.2g} % of its spread: "
                "give the noise if you know it, because slow motion may look like noise"
            )
        return text + "." + cut
