"""Candidates: fitted laws with what speaks for them, likelihood and price."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from vanishing.fitting.sparse import price
from vanishing.fitting.student import explained_share
from vanishing.laws import settings
from vanishing.laws.exact import is_confirmed
from vanishing.laws.forms import may_be_fitted
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted


def allowed_terms(n_variables: int) -> int:
    """Return how many terms a law of so many variables may have and still be one."""
    return max(n_variables + 3, 2 * n_variables - 2)


class LawCandidate(NamedTuple):
    """A fitted law with what speaks for it.

    Attributes
    ----------
    fitted : Fitted
    reduced : Reduced
    score : float
        Twice the negative log-likelihood, and what terms cost.
    is_determined : bool
        Whether all coefficients are known to be other than zero.
    """

    fitted: Fitted
    reduced: Reduced
    score: float
    is_determined: bool

    def allowed_terms(self) -> int:
        """Return how many terms a law of this many variables may have and still be one."""
        if self.fitted.form is not None:  # of which there are few
            return self.fitted.n_terms
        return allowed_terms(self.n_used())

    def has_enough_rows(self, searched: bool) -> bool:
        """Say whether there are observations enough for the coefficients, of which one is fixed.

        Terms that were searched for among many need more, where there is noise.
        """
        n_free = max(1, self.fitted.n_terms - 1)
        asked = settings.ROWS_PER_TERM
        form, table = self.fitted.form, self.reduced.table
        if form is not None:
            return may_be_fitted(form.form, table.n_observations, table.n_columns)
        if searched and n_free > 2 and not self.fitted.exact:
            asked = settings.ROWS_PER_NOISY_TERM
        return table.n_observations >= asked * n_free

    def explained_share(self) -> float:
        """Return the share of the target that is explained on rows left out of the fit, one a time.

        A few rows that are far larger than all others do not count for more than these.
        """
        table, law = self.reduced.table, self.fitted
        alone = np.clip(1.0 - law.leverage, settings.LEAST_FREEDOM, 1.0)
        return explained_share(table.y, (table.y - law.predicted) / alone, table.counts)

    def length(self) -> float:
        """Return what it costs to write the law down: coefficients, exponents, functions.

        The terms of a form, and that of a product, were not chosen among many, if columns were not.
        """
        count = self.reduced.table.n_observations
        per_term = np.log(count) if self.is_of_few() else price(count)
        terms = per_term * (self.fitted.n_terms - 1)
        terms += _complexity(self.fitted) + _variables_price(self.fitted, self.reduced)
        factor = settings.EXPONENT_PRICE * np.abs(self.reduced.state.factor).sum()
        return float(terms + factor)

    def least_explained_share(self, searched: bool) -> float:
        """Return the share that has to be explained: the fewer rows per column, the more.

        On few rows a wrong law of small error leaves nothing that looks other than noise. The more
        of the terms were searched for among many, the more wrong laws there are.
        """
        table, form = self.reduced.table, self.fitted.form
        terms = self.reduced.in_columns(self.fitted.terms)
        used = sum(any(t.involves(i) for t in terms) for i in range(len(table.columns)))
        used = used if form is None else np.count_nonzero(form.columns)
        # A column that the law does without might play a part, too.
        n_columns = (used + len(table.columns)) / 2
        per_column = table.n_observations / n_columns
        left = per_column / settings.ROWS_PER_UNEXPLAINED_SUM
        if searched and not self.is_of_few():
            n_free = max(1, self.fitted.n_terms - 1)
            left = (per_column / settings.ROWS_PER_UNEXPLAINED) ** 1.5 / n_free
        return 1.0 - min(1.0 - settings.LEAST_EXPLAINED, left)

    def asked_evidence(self) -> float:
        """Return the least distance in score to a law that is really different.

        The fewer the rows, the more of the many sums of terms are close to any smooth function.
        Products of powers are few, and so are forms; on few rows each of their constants follows
        some of these.
        """
        if self.fitted.form is not None and not _has_many_rows(self.fitted, self.reduced):
            return 2.0 * settings.EVIDENCE
        if self.is_product() or self.fitted.form is not None:
            return settings.EVIDENCE
        return settings.EVIDENCE * (1.0 + settings.FEW_ROWS / self.reduced.table.n_observations)

    def is_product(self) -> bool:
        """Say whether the law is y = c M, in whatever variables, or a power of this."""
        return product_exponents(self.fitted, self.reduced) is not None

    def is_of_few(self) -> bool:
        """Say whether the law is a product of powers, or a form in columns, of all columns."""
        if self.fitted.form is not None:
            occurs = self.fitted.form.columns * self.is_of_columns()
        else:
            exponents = product_exponents(self.fitted, self.reduced)
            occurs = np.zeros(1) if exponents is None else exponents
        return np.count_nonzero(occurs) == self.reduced.table.n_columns

    def is_of_columns(self) -> bool:
        """Say whether the target itself is a function of columns, not of products of these."""
        state = self.reduced.state
        return not state.factor.any() and bool((np.abs(state.variables).sum(axis=1) == 1.0).all())

    def is_power_law_in_logarithms(self) -> bool:
        """Say whether the law is log(Y) = a + b log(w): a power law is written in another way."""
        logs = [[f.function.name for f in t.factors] for t in self.fitted.terms if t.factors]
        plain = not any(any(term.exponents) for term in self.fitted.terms)
        return plain and len(logs) > 1 and all(names == ["log"] for names in logs)

    def n_used(self) -> int:
        """Return how many variables occur, without the target."""
        n = self.reduced.n_variables
        if self.fitted.form is not None:
            return n
        return sum(any(term.involves(i) for term in self.fitted.terms) for i in range(n))


def candidate(fitted: Fitted, reduced: Reduced) -> LawCandidate:
    """Score a fitted law: twice the negative log-likelihood, and what its terms cost.

    It is exact if that is confirmed.
    """
    table = reduced.table
    floor = 1e-24 * table.norm
    score = table.n_observations * np.log(max(_mean_square(fitted, reduced), floor))
    score += price(table.n_observations) * fitted.n_terms + _complexity(fitted)
    score += _variables_price(fitted, reduced)
    fitted = fitted._replace(exact=fitted.exact and is_confirmed(fitted, reduced))
    return LawCandidate(fitted, reduced, float(score), fitted.exact or fitted.is_determined())


def _mean_square(fitted: Fitted, reduced: Reduced) -> float:
    """Return the mean square of residuals; of forms of few rows, that of rows left out of the fit.

    Constants inside functions follow a few rows that decide alone, and leave nothing there.
    """
    if fitted.form is None or _has_many_rows(fitted, reduced):
        return fitted.mean_square
    table = reduced.table
    alone = np.clip(1.0 - fitted.leverage, settings.LEAST_FREEDOM, 1.0)
    return reduced.mean(((table.y - fitted.predicted) / alone) ** 2)


def _has_many_rows(fitted: Fitted, reduced: Reduced) -> bool:
    """Say whether constants of a form have as many rows as those inside functions need."""
    return reduced.table.n_observations >= settings.ROWS_PER_CONSTANT * len(fitted.coef)


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
        powers += sum(
            settings.SUM_PRICE + settings.EXPONENT_PRICE * np.abs(summand.exponents).sum()
            for summand in state.summands.values()
        )
    fractions = exponents[exponents % 1 != 0.0]
    kinds = {Fraction(float(e)).limit_denominator(settings.HIGHEST_ROOT) for e in fractions}
    roots = sum(order - 1 for order in {kind.denominator for kind in kinds})
    return powers + settings.EXPONENT_PRICE * len(fractions) + settings.ROOT_PRICE * roots


def _complexity(law: Fitted) -> float:
    """Return what exponents and functions cost; a factor of all terms of w costs nothing.

    M is free up to a product of powers: 1 - w^2 and w^-4 - w^-6 are equally simple. The factor is
    one of the terms' own: between two of them exponents would become fractions. All forms with
    constants inside functions cost the same, others less, and a user's own nothing: it was asked
    for.
    """
    terms = law.terms
    if law.form is not None:
        form = law.form.form
        return (settings.FORM_PRICE - settings.EXPONENT_PRICE * (not form.inner)) * form.own
    of_w = [term for term in terms if not term.involves(-1)]
    with_y = [term for term in terms if term.involves(-1)]
    # log(y) = log(x)/x has two functions, for all that their names are one.
    names = {(f.function.name, term.involves(-1)) for term in terms for f in term.factors}
    inside = sum(term.degree - sum(map(abs, term.exponents)) for term in terms)
    own = np.array([term.exponents for term in with_y])
    shifts = {(0.0,) * len(terms[0].exponents), *(term.exponents for term in of_w)}
    exponents = np.array([term.exponents for term in of_w]).reshape(
        len(of_w), len(terms[0].exponents)
    )
    shifted = exponents - np.array([*shifts])[:, np.newaxis]
    # A root is no simpler than what it is of.
    roots = np.sum(shifted % 1 != 0.0, axis=(1, 2)) + np.sum(own % 1 != 0.0)
    degrees = np.abs(shifted).sum(axis=(1, 2)) + np.abs(own).sum() + inside
    functions = len(names) + ((roots > 0) & (("sqrt", False) not in names))
    costs = settings.EXPONENT_PRICE * (degrees + roots) + settings.FUNCTION_PRICE * functions
    return float(costs.min())
