"""Step 5: which law, if any: a score, a test of what is left over, and the distance to others."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator
from vanishing.fitting.lack_of_fit import Lack
from vanishing.fitting.sparse import price
from vanishing.fitting.student import explained_share
from vanishing.laws import settings
from vanishing.laws.ends import fails_at_ends
from vanishing.laws.exact import agree, is_confirmed
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted

AMBIGUOUS = "several different equations explain the table equally well"


class LawCandidate(NamedTuple):
    """A fitted law with what speaks for it."""

    fitted: Fitted
    reduced: Reduced
    score: float

    def allowed_terms(self) -> int:
        """Return how many terms a law of this many variables may have and still be one."""
        r = self.n_used()
        return max(r + 3, 2 * r - 2)

    def has_enough_rows(self, searched: bool) -> bool:
        """Say whether there are observations enough for the coefficients, of which one is fixed.

        Terms that were searched for among many need more, where there is noise.
        """
        n_free = max(1, self.fitted.n_terms - 1)
        asked = settings.ROWS_PER_TERM
        if searched and n_free > 2 and not self.fitted.exact:
            asked = settings.ROWS_PER_NOISY_TERM
        return self.reduced.table.n_observations >= asked * n_free

    def explained_share(self) -> float:
        """Return the share of the target that is explained on rows left out of the fit, one a time.

        A few rows that are far larger than all others do not count for more than these.
        """
        table, law = self.reduced.table, self.fitted
        alone = np.clip(1.0 - law.leverage, settings.LEAST_FREEDOM, 1.0)
        return explained_share(table.y, (table.y - law.predicted) / alone, table.counts)

    def length(self) -> float:
        """Return what it costs to write the law down: coefficients, exponents, functions."""
        terms = price(self.reduced.table.n_observations) * (self.fitted.n_terms - 1)
        terms += _complexity(self.fitted.terms) + _variables_price(self.fitted, self.reduced)
        factor = settings.EXPONENT_PRICE * np.abs(self.reduced.state.factor).sum()
        return float(terms + factor)

    def least_explained_share(self) -> float:
        """Return the share that has to be explained: the fewer rows per column, the more.

        On few rows a wrong law of small error leaves nothing that looks other than noise.
        """
        table = self.reduced.table
        terms = self.reduced.in_columns(self.fitted.terms)
        used = sum(any(t.involves(i) for t in terms) for i in range(len(table.columns)))
        # A column that the law does without might play a part, too.
        n_columns = (used + len(table.columns)) / 2
        per_column = table.n_observations / n_columns
        left = min(1.0 - settings.LEAST_EXPLAINED, per_column / settings.ROWS_PER_UNEXPLAINED)
        return 1.0 - left

    def is_product(self) -> bool:
        """Say whether the law is y = c M, in whatever variables, or a power of this."""
        return product_exponents(self.fitted, self.reduced) is not None

    def n_used(self) -> int:
        """Return how many variables occur, without the target."""
        n = self.reduced.n_variables
        return sum(any(term.involves(i) for term in self.fitted.terms) for i in range(n))


def candidate(fitted: Fitted, reduced: Reduced) -> LawCandidate:
    """Score a fitted law: twice the negative log-likelihood, and what its terms cost.

    It is exact if that is confirmed.
    """
    table = reduced.table
    floor = 1e-24 * table.norm
    score = table.n_observations * np.log(max(fitted.mean_square, floor))
    score += price(table.n_observations) * fitted.n_terms + _complexity(fitted.terms)
    score += _variables_price(fitted, reduced)
    fitted = fitted._replace(exact=fitted.exact and is_confirmed(fitted, reduced))
    return LawCandidate(fitted, reduced, float(score))


def product_exponents(fitted: Fitted, reduced: Reduced) -> np.ndarray | None:
    """Return the exponents of M where a law is y = c M, or a power of this; None elsewhere."""
    terms = reduced.in_columns(fitted.terms)
    if len(terms) != 2 or any(term.factors for term in terms):
        return None
    *exponents, of_y = np.subtract(terms[0].exponents, terms[1].exponents)
    return -np.array(exponents) / of_y if of_y else None


def _variables_price(fitted: Fitted, reduced: Reduced) -> float:
    """Return what the exponents of variables cost, and roots in these or in the factor M.

    Of many fractions one is close to anything: over a range, c^(1/3) is a sum with c. So each kind
    of root has a price.
    """
    state, exponents = reduced.state, product_exponents(fitted, reduced)
    powers = 0.0
    if exponents is None:
        exponents = np.vstack([state.variables, state.factor])
        powers = settings.EXPONENT_PRICE * (np.abs(state.variables).sum() - state.n_variables)
    fractions = exponents[exponents % 1 != 0.0]
    kinds = {Fraction(float(e)).limit_denominator(settings.HIGHEST_ROOT) for e in fractions}
    roots = sum(order - 1 for order in {kind.denominator for kind in kinds})
    return powers + settings.EXPONENT_PRICE * len(fractions) + settings.ROOT_PRICE * roots


def _complexity(terms) -> float:
    """Return what exponents and functions cost; a factor of all terms of w costs nothing.

    M is free up to a product of powers: 1 - w^2 and w^-4 - w^-6 are equally simple. The factor is
    one of the terms' own: between two of them exponents would become fractions.
    """
    of_w = [term for term in terms if not term.involves(-1)]
    with_y = [term for term in terms if term.involves(-1)]
    shifts = {term.exponents for term in of_w} | {(0.0,) * len(terms[0].exponents)}
    return min(
        _cost(with_y + [term.times([-e for e in shift]) for term in of_w]) for shift in shifts
    )


def _cost(terms) -> float:
    functions = {factor.function.name for term in terms for factor in term.factors}
    if any(e != int(e) for term in terms for e in term.exponents):
        functions.add("sqrt")
    return settings.EXPONENT_PRICE * sum(map(_degree, terms)) + settings.FUNCTION_PRICE * len(
        functions
    )


def _degree(term) -> float:
    """Return the degree of a term; a root is no simpler than what it is of."""
    return term.degree + sum(e != int(e) for e in term.exponents)


def is_same(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether the terms of ``other`` vanish on what ``law`` predicts: they express it, too."""
    table = law.reduced.table
    chosen = slice(0, min(table.n_rows, settings.COMPARED_ROWS))
    reduced = other.reduced
    Y = law.fitted.predicted[chosen] / reduced.factor[chosen]
    with np.errstate(all="ignore"):
        values = Evaluator(np.vstack([reduced.w[:, chosen], Y])).values(other.fitted.terms)
        own = (
            Evaluator(
                np.vstack(
                    [
                        law.reduced.w[:, chosen],
                        law.fitted.predicted[chosen] / law.reduced.factor[chosen],
                    ]
                )
            ).values(law.fitted.terms)
            * law.fitted.coef[:, None]
        )
        # Where a root does not exist the prediction is no solution.
        solved = np.abs(own.sum(axis=0)) < 1e-9 * np.abs(own).sum(axis=0)
    good = np.isfinite(values).all(axis=0) & solved
    values = values[:, good]
    scale = np.sqrt(np.mean(values**2, axis=1)) if good.any() else np.zeros(1)
    if good.sum() < 2 * len(values) or not (scale > 0).all():
        return False
    singular = np.linalg.svd(values / scale[:, None], compute_uv=False)
    return bool(singular[-1] < settings.SAME * singular[0])


def _is_squared(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether ``law`` is ``other`` multiplied out: Y = (a + b w)^2 has one coefficient more.

    A law that has all terms of another, and more, is another law.
    """
    has_all_terms = set(law.fitted.terms) > set(other.fitted.terms)
    return law.fitted.n_terms > other.fitted.n_terms and not has_all_terms and is_same(other, law)


def _is_variant(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether two products of powers differ in exponents alone, and by less than the noise.

    Columns with a narrow range do not tell exponents apart.
    """
    if not (law.is_product() and other.is_product()):
        return False
    table = law.reduced.table
    gap = law.fitted.predicted - other.fitted.predicted
    return float(np.average(gap**2, weights=table.weight)) < law.fitted.mean_square


class Choice(NamedTuple):
    """The best candidate, and what is known of how sure it is.

    Attributes
    ----------
    best : LawCandidate
    evidence : float
        Distance in score to the best candidate that is really different.
    lack_of_fit : float
    reason : str
        Why it is no law; "" where it is one.
    variants : tuple of LawCandidate
        Products of other powers that explain the table as well.
    """

    best: LawCandidate
    evidence: float
    lack_of_fit: float
    reason: str
    variants: tuple[LawCandidate, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether it is a law that leaves little: no other variables need to be looked at."""
        little = settings.LITTLE_LEFT * self.best.reduced.table.variance
        return not self.reason and self.best.fitted.mean_square < little

    @property
    def is_settled(self) -> bool:
        """Whether no further stage needs to be looked at.

        It is exact, or of fewer terms than allowed, and leaves little.
        """
        law = self.best.fitted
        return self.is_enough and (law.exact or law.n_terms < max(3, self.best.allowed_terms()))


def _exact_choice(candidates: list[LawCandidate]) -> Choice | None:
    """Return the exact law of the fewest terms, however many these are; None where there is none.

    Others may be as exact on these rows, and different elsewhere: these limit its evidence.
    """
    exact = [c for c in candidates if c.fitted.exact]
    if not exact:
        return None
    best, *others = sorted(exact, key=lambda c: (c.fitted.n_terms, c.score))
    gaps = [
        max(other.score - best.score, 0.0)
        for other in others
        if not agree(best.fitted, best.reduced, other.fitted, other.reduced)
    ]
    return Choice(best, min(gaps, default=np.inf), 0.0, "")


def _why_little(law: LawCandidate) -> str:
    """Say why what a law explains does not suffice; "" if it does."""
    table, explained = law.reduced.table, law.explained_share()
    equal = table._replace(weight=table.counts, precision=None)
    left = float(np.average((table.y - law.fitted.predicted) ** 2, weights=equal.weight))
    # Also where rows count alike: large rows that a law misses may be those of little precision.
    squares = ((law.fitted.mean_square, table.variance), (left, equal.variance))
    if not all(square < settings.LEAST_EXPLAINED * variance for square, variance in squares):
        return "no combination of terms explains half of the target's variance"
    # Twice the log-likelihood that is gained over a constant target.
    gain = -table.n_observations * np.log(max(1.0 - explained, 1e-300))
    if not gain > settings.CHANCE + law.length():
        return "on so few rows, the best of many equations would fit as well by chance"
    if not explained > law.least_explained_share():
        return "the best candidate explains too little of most rows, for so few of them"
    return ""


def choose(
    candidates: list[LawCandidate],
    lack_of_fit: Callable[[np.ndarray, np.ndarray], Lack],
    searched: bool = True,
) -> Choice | None:
    """Return the best candidate, and why it is not accepted if it is not.

    ``searched`` says whether its terms are few of many that were tried.
    """
    if not candidates:
        return None
    candidates = [
        c
        for c in candidates
        if c.has_enough_rows(searched) and (c.fitted.exact or c.fitted.is_determined())
    ]
    if not candidates:
        return None
    exact = _exact_choice(candidates)
    if exact is not None:
        return exact
    # One law in two forms differs by rounding: the form that was tried first is simpler.
    ordered = sorted(candidates, key=lambda c: round(c.score, 3))
    best = ordered[0]
    evidence, variants = np.inf, []
    for other in ordered[1:]:
        if other.score - best.score > max(evidence, settings.ENOUGH):
            break
        if is_same(best, other) or _is_squared(best, other):
            continue
        if other.score - best.score < settings.EVIDENCE and _is_variant(best, other):
            variants.append(other)
            continue
        evidence = other.score - best.score
        break
    table = best.reduced.table
    reason, lack, fails = _why_little(best), Lack(), False
    if not reason:
        left = table.y - best.fitted.predicted
        # Columns that were computed have rounding errors, and these a pattern.
        is_rounding = best.fitted.mean_square <= settings.COMPUTED**2 * table.norm
        lack = lack if is_rounding else lack_of_fit(left, best.fitted.predicted)
        asked = searched and table.has_few_rows and not is_rounding
        fails = asked and fails_at_ends(best.fitted, best.reduced)
    if lack.is_large:
        reason = "the best candidate leaves something that the columns still explain"
    elif not reason and fails:
        reason = "the best candidate fails at the ends of columns, if it is fitted to other rows"
    elif not reason and best.fitted.n_terms > best.allowed_terms():
        reason = "the best candidate has so many terms that it could be any smooth function"
    elif not reason and evidence < settings.EVIDENCE:
        reason = AMBIGUOUS
    return Choice(best, float(evidence), lack.size, reason, tuple(variants))
