"""Step 5: which law, if any: a score, a test of what is left over, and the distance to others."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator
from vanishing.fitting.lack_of_fit import Lack
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate
from vanishing.laws.doubts import is_missed, why_little, why_short
from vanishing.laws.ends import fails_at_ends
from vanishing.laws.exact import agree

AMBIGUOUS = "several different equations explain the table equally well"


def is_same(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether the terms of ``other`` vanish on what ``law`` predicts: they express it, too.

    A form is the same as what predicts the same.
    """
    table = law.reduced.table
    if law.fitted.form is not None or other.fitted.form is not None:
        return _gap(law, other) < settings.SAME_CURVE**2 * law.fitted.mean_square
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
    if law.fitted.form is not None or other.fitted.form is not None:
        return False
    has_all_terms = set(law.fitted.terms) > set(other.fitted.terms)
    return law.fitted.n_terms > other.fitted.n_terms and not has_all_terms and is_same(other, law)


def _is_variant(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether two laws differ by less than the noise, one of which is a curve or a product.

    Columns with a narrow range do not tell exponents apart, nor forms, nor a product from a sum
    that has more coefficients.
    """
    is_curve = law.fitted.form is not None or other.fitted.form is not None
    is_longer = other.is_product() or other.fitted.n_terms > law.fitted.n_terms
    if not (is_curve or (law.is_product() and is_longer)):
        return False
    return _gap(law, other) < law.fitted.mean_square


def is_more_general(law: LawCandidate, other: LawCandidate) -> bool:
    """Say whether a form says the same as another law, with constants that it could do without."""
    more = law.fitted.n_terms - other.fitted.n_terms
    if law.fitted.form is None or more <= 0:
        return False
    noise = other.fitted.mean_square / law.reduced.table.n_observations
    return _gap(law, other) < settings.DETERMINED * more * noise


def _gap(law: LawCandidate, other: LawCandidate) -> float:
    """Return the mean square of the difference of what two laws predict."""
    gap = law.fitted.predicted - other.fitted.predicted
    return float(np.average(gap**2, weights=law.reduced.table.weight))


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
        Products of other powers, or other forms, that explain the table as well.
    form : LawCandidate or None
        The form that says the same as the best candidate: it has a name.
    """

    best: LawCandidate
    evidence: float
    lack_of_fit: float
    reason: str
    variants: tuple[LawCandidate, ...] = ()
    form: LawCandidate | None = None

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
        if best.fitted.form is None is other.fitted.form
        and not agree(best.fitted, best.reduced, other.fitted, other.reduced)
    ]
    form = best if best.fitted.form is not None else None
    return Choice(best, min(gaps, default=np.inf), 0.0, "", form=form)


def _one_more(law: LawCandidate, evidence: float) -> bool:
    """Say whether a law of powers may have one more term, since no other comes near it.

    Smooth functions have many approximations that are as good as one another.
    """
    powers = not any(term.factors for term in law.fitted.terms)
    return powers and law.n_used() > 1 and evidence > settings.STRONG_EVIDENCE


class _LeftOver(NamedTuple):
    """What was asked of the residuals of a candidate."""

    lack: Lack = Lack()
    misses: bool = False
    fails: bool = False


# By the identity of candidates, which are kept beside what was asked of them.
Asked = dict[int, tuple[LawCandidate, _LeftOver]]


def _left_over(law: LawCandidate, lack_of_fit: Callable, searched: bool) -> _LeftOver:
    """Say what a candidate misses, and whether it fails at the ends of columns."""
    table, left = law.reduced.table, law.reduced.table.y - law.fitted.predicted
    # Columns that were computed have rounding errors, and these a pattern.
    if law.fitted.mean_square <= settings.COMPUTED**2 * table.norm:
        return _LeftOver()
    lack = lack_of_fit(left, law.fitted.predicted)
    misses = lack.is_large or (searched and table.has_few_rows and is_missed(law, left))
    # A smooth function of many rows need not follow the few that are far larger than all others.
    looked_at = searched and (table.has_few_rows or table.few_rows_decide)
    fails = looked_at and not misses and fails_at_ends(law.fitted, law.reduced)
    return _LeftOver(lack, misses, fails)


def choose(
    candidates: list[LawCandidate],
    lack_of_fit: Callable[[np.ndarray, np.ndarray], Lack],
    searched: bool = True,
    asked: Asked | None = None,
) -> Choice | None:
    """Return the best candidate, and why it is not accepted if it is not.

    ``searched`` says whether its terms are few of many that were tried. ``asked`` has what was
    asked of residuals before, and gets what is asked now: the best of many candidates often stays.
    """
    if not candidates:
        return None
    told = [c for c in candidates if c.is_determined]
    candidates = [c for c in told if c.has_enough_rows(searched)]
    if not candidates:
        return None
    exact = _exact_choice(candidates)
    if exact is not None:
        return exact
    # One law in two forms differs by rounding: the form that was tried first is simpler.
    ordered = sorted(candidates, key=lambda c: round(c.score, 3))
    best, form = _with_form(ordered)
    least, evidence, variants = ordered[0].score, np.inf, []
    least_evidence = (form or best).asked_evidence()
    for other in ordered:
        if other.score - least > max(evidence, settings.ENOUGH):
            break
        if other is best or is_same(best, other) or _is_squared(best, other):
            continue
        if is_more_general(other, best):
            continue
        if other.score - least < least_evidence and _is_variant(form or best, other):
            variants.append(other)
            continue
        evidence = other.score - least
        break
    # One of few curves, such as a logarithm, may be told from fewer rows than a term of many.
    written = form if form is not None and form.is_of_few() else best
    reason, left = why_little(written, searched) or why_short(best, told), _LeftOver()
    if not reason:
        known = {} if asked is None else asked
        if id(best) not in known:
            known[id(best)] = best, _left_over(best, lack_of_fit, searched)
        left = known[id(best)][1]
    if left.misses:
        reason = "the best candidate leaves something that the columns still explain"
    elif not reason and left.fails:
        reason = "the best candidate fails at the ends of columns, if it is fitted to other rows"
    elif not reason and best.fitted.n_terms > best.allowed_terms() + _one_more(best, evidence):
        reason = "the best candidate has so many terms that it could be any smooth function"
    elif not reason and evidence < least_evidence:
        reason = AMBIGUOUS
    return Choice(best, float(evidence), left.lack.size, reason, tuple(variants), form)


def _without_functions(law: LawCandidate) -> float:
    """Return the score of a law whose functions cost nothing."""
    names = {factor.function.name for term in law.fitted.terms for factor in term.factors}
    return law.score - settings.FUNCTION_PRICE * len(names)


def _score(law: LawCandidate) -> float:
    return law.score


def _with_form(ordered: list[LawCandidate]) -> tuple[LawCandidate, LawCandidate | None]:
    """Return the best candidate, and the form that it is written as, if any.

    A sum of terms may say the same with as many constants. Of both it is that one: its coefficients
    are solved for, and more is known of it. It is written as the form where that is one of a column
    itself: 1/f = 1/a + 1/b is no saturation.
    """
    near = [c for c in ordered if c.score - ordered[0].score < settings.ENOUGH]
    # Constants that a form could do without are none that rows determine. If it has functions, it
    # does not pay for them: sin(w)*cos(w) is as simple as cos(2*w - pi/2).
    first = near[0].fitted.form
    score = _without_functions if first is not None and first.form.has_functions else _score
    simpler = [
        other
        for other in near
        if score(other) - near[0].score < settings.EVIDENCE and is_more_general(near[0], other)
    ]
    best = min(simpler, key=lambda c: (c.fitted.n_terms, c.score), default=near[0])
    for other in near:
        pair = (best, other) if best.fitted.form is None else (other, best)
        is_pair = pair[0].fitted.form is None is not pair[1].fitted.form
        if is_pair and pair[0].fitted.n_terms == pair[1].fitted.n_terms and is_same(*pair):
            return pair if pair[1].is_of_columns() else (pair[0], None)
    return best, None if best.fitted.form is None else best
