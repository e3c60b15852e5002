"""The front of a search: the best equation of each number of terms, and all of them as a table."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.equations.law import Law
from vanishing.fitting.sparse import price
from vanishing.laws.candidates import LawCandidate
from vanishing.laws.choose import Choice, is_more_general
from vanishing.laws.form_laws import form_law, free_names
from vanishing.laws.results import Draft, draft
from vanishing.laws.search import SearchOutcome
from vanishing.laws.table import Prepared, SearchRows

_MEASURED = ("n_terms", "degree", "error", "relative_error", "held_out_error", "evidence")
FRONT_COLUMNS = (*_MEASURED, "n_samples", "equation", "chosen")


def front_rows(front: Sequence[Law], laws: Sequence[Law]) -> list[dict]:
    """Return what is known of each equation of a front, the shortest first.

    Parameters
    ----------
    front : sequence of Law
        The best equation of each number of terms.
    laws : sequence of Law
        Those that hold.
    """
    return [
        {
            **{name: getattr(law, name) for name in _MEASURED},
            "n_samples": law.n_samples,
            "equation": str(law),
            "chosen": any(_is_same(law, other) for other in laws),
        }
        for law in sorted(front, key=lambda law: law.n_terms)
    ]


def _is_same(law: Law, other: Law) -> bool:
    return law.terms == other.terms and np.array_equal(law.coef, other.coef)


def front_of(outcome: SearchOutcome, table: Prepared, rows: SearchRows, target: int) -> list[Law]:
    """Return the best candidate of each number of terms that is better than those of fewer."""
    choice = outcome.choice
    best: dict[int, LawCandidate] = {}
    for candidate in outcome.candidates:
        if not candidate.is_determined:
            continue
        if choice is not None and is_more_general(candidate, choice.best):
            continue
        n_terms = candidate.fitted.n_terms
        held = best.get(n_terms)
        if held is None or candidate.fitted.mean_square < held.fitted.mean_square:
            best[n_terms] = candidate
    if choice is not None and not choice.reason:
        # Other equations of as many terms may leave less of rounding, or of noise.
        best[choice.best.fitted.n_terms] = choice.best
        if choice.best.fitted.exact:  # more terms would fit what rounding leaves
            best = {n: c for n, c in best.items() if n <= choice.best.fitted.n_terms}
    laws: list[Law] = []
    least = np.inf
    for n_terms in sorted(best):
        law = _of_front(best[n_terms], table, rows, target)
        if law is not None and law.error**2 < 0.999 * least:
            least = law.error**2
            laws.append(law)
    return laws


class NearForm(NamedTuple):
    """A form that came near to the noise.

    Attributes
    ----------
    unlikeliness : float
        Twice the negative log-likelihood of the rows.
    n_constants : int
    law : callable
        Returns it as a law, or why it is none.
    sizes : dict of str to float
        What errors of constants are small beside that rows determine, by the names of the law.
    """

    unlikeliness: float
    n_constants: int
    law: Callable[[], Law | str]
    sizes: dict[str, float]


def forms_of(
    outcome: SearchOutcome, table: Prepared, rows: SearchRows, target: int, robust: bool
) -> dict[tuple, NearForm]:
    """Return the forms that came near to the noise, by what they are of which variables."""
    forms: dict[tuple, NearForm] = {}
    for candidate in outcome.candidates:
        fit = candidate.fitted.form
        if fit is None:
            continue
        key = (fit.form.name, *fit.factor.tolist(), *(tuple(v.tolist()) for v in fit.variables))
        key += tuple(s and (np.sign(s.number), *s.exponents.tolist()) for s in fit.summands)
        law = partial(form_law, candidate, table, rows, target, robust)
        near = candidate.reduced.table
        costs = price(near.n_observations) * candidate.fitted.n_terms
        unlikeliness = candidate.score - costs - near.log_precision
        names = free_names(fit.form, rows.names).values()
        sizes = dict(zip(names, fit.sizes.tolist(), strict=True))
        form = NearForm(unlikeliness, len(fit.form.constants), law, sizes)
        forms[key] = min(form, forms.get(key, form), key=lambda one: one.unlikeliness)
    return forms


def with_law(front: list[Law], law: Law, choice: Choice) -> list[Law]:
    """Return the front with the law that was chosen in its place."""
    form = choice.best.fitted.form
    if form is None:
        return [law if other.terms == law.terms else other for other in front]
    own = f"A candidate: {form.form.name}."
    return [law if other.verdict == own else other for other in front]


def _of_front(
    candidate: LawCandidate, table: Prepared, rows: SearchRows, target: int
) -> Law | None:
    """Return a candidate as a law, as the search left it; None where it cannot be written."""
    if candidate.fitted.form is None:
        fit = draft(candidate, table, rows.sample, target)
        is_finite = np.isfinite(fit.mean_square) and np.isfinite(fit.coef).all()
        return _unmeasured(fit, rows) if is_finite else None
    law = form_law(candidate, table, rows, target)
    if isinstance(law, str):
        return None
    nan = {"held_out_error": np.nan, "lack_of_fit": np.nan}
    return law._replace(verdict=f"A candidate: {candidate.fitted.form.form.name}.", **nan)


def _unmeasured(fit: Draft, rows: SearchRows) -> Law:
    """Return a law as the search left it, on its sample of rows."""
    error = float(np.sqrt(fit.mean_square))
    return Law(
        **rows.in_given_columns(fit.terms, fit.coef, fit.covariance * fit.mean_square),
        names=rows.names,
        target=rows.names[fit.target],
        n_inputs=rows.n_inputs,
        error=error,
        relative_error=error / rows.size(fit.target),
        branch=fit.branch,
        n_samples=len(rows.sample.keys),
        verdict="A candidate.",
        units=rows.units,
    )
