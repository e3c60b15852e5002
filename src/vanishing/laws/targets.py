"""The law of one column: the search, the fit to all rows, and the verdict."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import moved, of_term
from vanishing.algebra.quantities import ONE
from vanishing.algebra.terms import Term
from vanishing.algebra.writing import PlainText, in_words
from vanishing.equations.law import Law
from vanishing.fitting.lack_of_fit import unseen_share
from vanishing.fitting.origins import far_offsets, target_origins
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.choose import Choice, LawCandidate
from vanishing.laws.problem import LawTable
from vanishing.laws.products import products
from vanishing.laws.results import Draft, draft, finished, fitted_law, spread_of, unequal_noise
from vanishing.laws.robust import good_rows
from vanishing.laws.search import Options, OutOfTime, SearchOutcome, search
from vanishing.laws.table import Prepared, SearchRows, prepared, varying
from vanishing.laws.unequal import (
    few_rows_decide,
    with_equal_noise,
    with_noise_of_products,
    with_relative_noise,
)

ROUNDED = 1e-9  # relative error that rounding alone makes
_NO_TIME = "No law of {} was found in the time allowed: raise max_time."


class LawAnswer(NamedTuple):
    """What a finder says of a table.

    Attributes
    ----------
    laws : list of Law
        The best first.
    verdict : str
    noise : float or ndarray of shape (n_columns,)
        Standard deviation of the target's noise, or of each column's.
    front : sequence of Law
        The best equation of each number of terms.
    reductions : sequence of str
        Combinations of columns that matter.
    """

    laws: list[Law]
    verdict: str
    noise: float | np.ndarray
    front: Sequence[Law] = ()
    reductions: Sequence[str] = ()


def law_of_target(rows: SearchRows, options: Options, progress, target: int = -1) -> LawAnswer:
    """Return the law of one column of some rows, the last by default.

    Powers of columns far from the origin tell nothing apart: a law is then looked for in these
    columns less offsets, too. Offsets are numbers with units, which a homogeneous law has not.
    """
    target %= len(rows.names)
    answer = _law_in_columns(rows, options, progress, target)
    offsets = far_offsets(rows.sample.columns, rows.weight)
    varies = varying(rows.sample.columns)
    inputs = varies & (np.arange(len(varies)) != target)
    if not (offsets.any() and varies[target] and inputs.any()) or options.dimensions is not None:
        return answer
    shifted = rows.shifted(offsets)
    count, spread = float(rows.weight.sum()), float(shifted.sample.spreads[target])
    least = max(ROUNDED, shifted.rounding) * spread

    def score(answer: LawAnswer) -> float:
        if not answer.laws:
            return np.inf
        law = answer.laws[0]
        return 2 * count * np.log(max(law.error, least)) + price(count) * law.n_terms

    origins = offsets.copy()
    origins[inputs] = target_origins(
        shifted.sample.columns[inputs],
        shifted.sample.columns[target],
        rows.weight,
        offsets[inputs],
        shifted.rounding,
    )
    answers = [
        _law_in_columns(rows.shifted(at), options, progress, target)
        for at in ([origins, offsets] if (origins != offsets).any() else [offsets])
    ]
    best = min(answers, key=score)
    # Far from the origin other powers, and functions, are the same but for a constant: which of
    # them it is says as much as noise does.
    simpler = answer.laws and best.laws and answer.laws[0].n_terms < best.laws[0].n_terms
    asked = 0.0 if simpler else settings.EVIDENCE
    return answer if score(answer) < score(best) - asked else best


def _law_in_columns(rows: SearchRows, options: Options, progress, target: int) -> LawAnswer:
    """Return the law of one column of some rows, in terms of the columns that these have."""
    name, y = rows.names[target], rows.sample.columns[target]
    if not np.ptp(y) > 1e-12 * rows.size(target):
        return LawAnswer([], f"No law: {name} is constant, {y[0]:.6g} on all rows.", 0.0)
    try:
        table = prepared(
            rows.sample.columns,
            target,
            rows.weight,
            options.dimensions,
            options.robust,
            progress,
            rows.rounding,
        )
    except OutOfTime:
        return LawAnswer([], _NO_TIME.format(name), np.nan)
    if not len(table.columns):
        verdict = f"No law: all columns are constant, and {name} is not."
        return LawAnswer([], verdict, float(rows.sample.spreads[target]))
    if options.robust and not table.is_sum:
        table = table._replace(table=table.table.at(good_rows(table.table)))
        if not table.table.variance > 1e-24 * table.table.norm:
            return LawAnswer([], f"No law: but for a few rows, {name} is constant.", 0.0)
    table, outcome = _searched(table, options, progress)
    outcome = _with_sum(table, outcome)
    front = _front(outcome, table, rows, target)
    noise = np.sqrt(_noise(outcome)) * abs(table.units[-1])
    answer = LawAnswer([], "", noise, front, _reductions(outcome, table, rows, target))
    if outcome.choice is None or outcome.choice.reason:
        reason = _why_none(outcome, name, options.dimensions is not None)
        return answer._replace(verdict=reason + table.left_out_text(rows.names))
    law = _of_all_rows(outcome.choice, table, rows, target, options.robust)
    if isinstance(law, str):
        return answer._replace(verdict=f"No law of {name} was found: {law}.")
    return answer._replace(
        laws=[law],
        verdict=f"{law}: {law.verdict}",
        noise=float(law.error),
        front=[law if other.terms == law.terms else other for other in front],
    )


def _of_all_rows(
    choice: Choice, table: Prepared, rows: SearchRows, target: int, robust: bool
) -> Law | str:
    """Return the law that was chosen, fitted to all rows, or why it is none."""
    sample, size = rows.sample, rows.size(target)
    start = draft(choice.best, table, sample, target)
    # Rounding differs from row to row, and is no reason to leave one out.
    keep = max(settings.FAR * spread_of(start, sample), ROUNDED * size) if robust else None
    unequal = table.table.precision is not None and not start.exact
    noise = unequal_noise(start, sample) if unequal else None
    fit, sums = fitted_law(start, rows.ask, rows.seed, rows.mean(target), keep, noise)
    if robust and sums.missing >= sums.weight.sum():
        return "the best equation has no solution, or a wrong one, on most rows"
    if not robust and sums.missing > (1.0 - settings.ONE_BRANCH) * sums.weight.sum():
        return f"the best equation has no solution on {sums.missing:g} rows"
    # By the precision of rows, errors of rows with much noise may well be larger.
    is_worse = noise is None and fit.mean_square > settings.WORSE * start.mean_square
    if is_worse and not fit.exact:
        return "the best candidate is no function of the other columns"
    law = finished(
        fit,
        sums,
        rows,
        evidence=choice.evidence / 2,
        lack_of_fit=choice.lack_of_fit,
        verdict=_certainty(choice, fit, sums.missing, robust, table, rows, target)
        + table.left_out_text(rows.names),
        units=rows.units,
    )
    if (np.abs(law.coef) < 2 * law.coef_std).any():
        return "coefficients of the best candidate cannot be told from zero"
    return law


def _searched(table: Prepared, options: Options, progress) -> tuple[Prepared, SearchOutcome]:
    """Search, also with rows by the inverse of their variance where noise may be unequal.

    Of several laws, it is the one under whose noise the rows are likeliest.
    """
    if table.sum is not None and table.is_sum:
        return table, SearchOutcome(table.sum, [table.sum.best], [])
    rows, suggested = table.table, products(table.table)
    trials: list[tuple[LawTable, SearchOutcome]] = []

    def tried(noise: LawTable) -> SearchOutcome:
        trials.append((noise, search(noise, options, progress, suggested)))
        return trials[-1][1]

    # A product of powers that is a law tells the noise before any search does.
    equal = with_noise_of_products(rows, suggested)
    if equal is not rows:
        outcome = tried(equal)
        if outcome.out_of_time or outcome.is_product:
            return table._replace(table=equal), outcome
    outcome = tried(rows)
    law = outcome.law
    if not (outcome.out_of_time or (law is not None and law.exact)):
        equal = with_equal_noise(rows, None if law is None else law.predicted)
        if equal is not rows:
            outcome = tried(equal)
        if few_rows_decide(rows) and not outcome.out_of_time:
            # Errors relative to what was measured have its noise: a law has to say what they are.
            outcome = search(with_relative_noise(rows), options, progress, suggested)
            if outcome.choice is not None and (outcome.law is not None or outcome.is_ambiguous):
                equal = with_equal_noise(rows, outcome.choice.best.fitted.predicted)
                if equal is not rows:
                    tried(equal)
    noise, outcome = min(trials, key=_unlikeliness)
    return table._replace(table=noise), outcome


def _unlikeliness(trial: tuple[LawTable, SearchOutcome]) -> float:
    """Return how unlikely rows are under the best equation of a search, and the noise it had.

    What is no law, for whatever reason, is doubted; on many rows it says nothing of laws.
    """
    table, outcome = trial
    if outcome.choice is None:
        return np.inf
    doubt = 0.0
    if outcome.law is None and not outcome.is_ambiguous:
        doubt = settings.EVIDENCE if table.has_few_rows else np.inf
    return outcome.choice.best.score + doubt - table.log_precision


def _with_sum(table: Prepared, outcome: SearchOutcome) -> SearchOutcome:
    """Return the sum of columns instead, where no equation of the search comes close to it.

    On few rows a search has not room for as many terms as a sum of few columns has.
    """
    if table.sum is None or table.is_sum:
        return outcome
    best = table.sum.best
    compared = table.table.precision is best.reduced.table.precision is None
    gap = min((c.score for c in outcome.candidates), default=np.inf) - best.score
    if not compared or table.table.n_rows != best.reduced.table.n_rows or gap < settings.EVIDENCE:
        return outcome
    evidence = min(table.sum.evidence, gap)
    choice = table.sum._replace(evidence=evidence)
    return outcome._replace(choice=choice, candidates=[*outcome.candidates, best])


def _noise(outcome: SearchOutcome) -> float:
    """Return the least noise that any surrogate or candidate reached; NaN if there was no time."""
    reached = [s.surrogate.mean_square for s in outcome.states if s.surrogate is not None]
    reached += [c.fitted.mean_square for c in outcome.candidates]
    return min(reached, default=np.nan)


def _front(outcome: SearchOutcome, table: Prepared, rows: SearchRows, target: int) -> list[Law]:
    """Return the best candidate of each number of terms that is better than those of fewer."""
    choice = outcome.choice
    best: dict[int, LawCandidate] = {}
    for candidate in outcome.candidates:
        if not (candidate.fitted.exact or candidate.fitted.is_determined()):
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
    laws, least = [], np.inf
    for n_terms in sorted(best):
        fit = draft(best[n_terms], table, rows.sample, target)
        if fit.mean_square < 0.999 * least:
            least = fit.mean_square
            laws.append(_unmeasured(fit, rows))
    return laws


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


def _reductions(
    outcome: SearchOutcome, table: Prepared, rows: SearchRows, target: int
) -> list[str]:
    """Return the combinations of columns that matter, that with the target first."""
    if not outcome.states:
        return []
    state = outcome.states[-1] if outcome.choice is None else outcome.choice.best.reduced.state
    places = [*table.columns, target]
    text = PlainText([rows.names[i] for i in places])
    offsets = [0.0] * len(places) if rows.offsets is None else rows.offsets[places].tolist()
    groups = [np.append(-state.factor, 1.0)]
    groups += [np.append(row, 0.0) for row in state.variables]
    terms = [of_term(Term(tuple(map(float, group)))) for group in groups]
    return [text.write(moved(term, offsets)) for term in terms]


def _why_none(outcome: SearchOutcome, name: str, homogeneous: bool) -> str:
    """Say why there is no law."""
    if outcome.out_of_time:
        return _NO_TIME.format(name)
    law = "law" if not homogeneous else "law whose coefficients have no dimension"
    reason = "no combination of terms comes down to its noise"
    if outcome.choice is not None:
        reason = outcome.choice.reason
    return f"No {law} of {name} was found: {reason}."


def _product_text(exponents: np.ndarray, table: Prepared, names) -> str:
    """Write a product of powers of the columns of a table."""
    text = PlainText([names[i] for i in table.columns])
    return text.write(of_term(Term(tuple(map(float, exponents)))))


def _certainty(
    choice: Choice,
    fit: Draft,
    missing: float,
    robust: bool,
    table: Prepared,
    rows: SearchRows,
    target: int,
) -> str:
    """Say in words how sure a law is."""
    if fit.exact:
        text = "It holds up to rounding."
        if np.isfinite(choice.evidence):
            text = "It holds up to rounding, as other equations do that differ beyond these rows."
    else:
        unit = ONE if rows.units is None else rows.units.columns[target]
        error = np.sqrt(fit.mean_square)
        share = f"{100 * error / rows.size(target):.2g} %"
        text = f"The rms error is {unit.behind(in_words(error))} ({share})"
        if np.isfinite(choice.evidence):
            text += (
                f"; the best different equation is less likely by a factor of "
                f"exp({choice.evidence / 2:.0f})"
            )
        if choice.best.reduced.table.precision is not None:
            text += "; the noise grows with the target"
        if choice.best.reduced.table.n_rows < settings.FEW_ROWS:
            text += "; too few rows to tell whether a column explains what is left."
        else:
            text += "; no column explains what is left."
        n_rows = choice.best.reduced.table.n_observations
        unseen = float(error) / rows.size(target) * unseen_share(n_rows)
        shows = unseen * rows.size(target) <= settings.UNSEEN * rows.size_from_origin(target)
        if choice.variants or not shows or not _is_sure(choice):
            text += (
                " Within this noise it may be an approximation of another law: smooth deviations "
                f"of up to {100 * unseen:.2g} % would not show."
            )
        if choice.variants:
            others = (
                _product_text(c.reduced.state.factor, table, rows.names) for c in choice.variants
            )
            text += (
                f" The ranges do not settle its exponents: {', '.join(others)} would fit as well."
            )
    if missing:
        where = "Left out as wrong were" if robust else "It has no solution on"
        text += f" {where} {missing:g} rows."
    return text


def _is_sure(choice: Choice) -> bool:
    """Say whether a law has so few terms that an approximation would be a coincidence."""
    r, n_terms = choice.best.n_used(), choice.best.fitted.n_terms
    if n_terms <= max(2, r + 1):
        return choice.evidence > 5 * settings.EVIDENCE
    # Combinations of functions approximate more than powers do.
    functions = any(term.factors for term in choice.best.fitted.terms)
    return r > 1 and not functions and n_terms <= r + 2 and choice.evidence > 50 * settings.EVIDENCE
