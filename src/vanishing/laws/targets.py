"""The law of one column: the search, the fit to all rows, and the verdict."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import Number, moved, of_term, total
from vanishing.algebra.terms import Term
from vanishing.algebra.writing import PlainText
from vanishing.equations.law import Law
from vanishing.fitting.origins import far_offsets, target_origins
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.certainty import NO_TIME, Certainty, certainty, why_none
from vanishing.laws.choose import Choice
from vanishing.laws.factors import factor_states, is_negative
from vanishing.laws.form_laws import form_law, name_and_constants
from vanishing.laws.front import NearForm, forms_of, front_of, with_law
from vanishing.laws.options import Options, OutOfTime
from vanishing.laws.problem import LawTable
from vanishing.laws.products import Product, products
from vanishing.laws.results import draft, finished, fitted_law, spread_of, unequal_noise
from vanishing.laws.robust import good_rows
from vanishing.laws.row_order import ErrorsInOrder, errors_in_order, is_by_chance
from vanishing.laws.search import Search, SearchOutcome
from vanishing.laws.table import Prepared, SearchRows, prepared, varying
from vanishing.laws.unequal import (
    with_equal_noise,
    with_noise_of_factors,
    with_noise_of_products,
    with_relative_noise,
)

# By the target and the weights of the rows that are searched.
Searches = dict[bytes, Search]


class Effort(Enum):
    """How much of a search is made."""

    PRODUCTS = "products of powers"
    LIKELY = "the likeliest forms"
    ALL = "everything, unless that has a law"


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
    forms : dict from tuple to NearForm
        Those that came near to the noise, by what they are of which variables.
    """

    laws: list[Law]
    verdict: str
    noise: float | np.ndarray
    front: Sequence[Law] = ()
    reductions: Sequence[str] = ()
    forms: dict[tuple, NearForm] = {}  # noqa: RUF012 (a tuple's default; never changed)


def law_of_target(rows: SearchRows, options: Options, progress, target: int = -1) -> LawAnswer:
    """Return the law of one column of some rows, the last by default.

    Powers of columns far from the origin tell nothing apart: a law is then looked for in these
    columns less offsets, too. Offsets are numbers with units, which a homogeneous law has not.
    """
    target %= len(rows.names)
    offsets = far_offsets(rows.sample.columns, rows.weight)
    varies = varying(rows.sample.columns)
    inputs = varies & (np.arange(len(varies)) != target)
    if not (offsets.any() and varies[target] and inputs.any()) or options.dimensions is not None:
        return _law_in_columns(rows, options, progress, target, {}, Effort.ALL)
    shifted = rows.shifted(offsets)
    count, spread = float(rows.weight.sum()), float(shifted.sample.spreads[target])
    least = max(settings.ROUNDED, shifted.rounding) * spread

    def score(answer: LawAnswer) -> float:
        if not answer.laws:
            return np.inf
        law = answer.laws[0]
        n_terms = max(law.n_terms, 1 + len(law.constants))
        return 2 * count * np.log(max(law.error, least)) + price(count) * n_terms

    origins = offsets.copy()
    origins[inputs] = target_origins(
        shifted.sample.columns[inputs],
        shifted.sample.columns[target],
        rows.weight,
        offsets[inputs],
        shifted.rounding,
    )
    distinct = [origins, offsets] if (origins != offsets).any() else [offsets]
    views = [rows, *(rows.shifted(at) for at in distinct)]
    searches: list[Searches] = [{} for _ in views]

    too_far = _are_too_far(offsets[inputs] / rows.sample.spreads[inputs], options)
    given = options._replace(forms=()) if too_far else options

    def law_in(view: int, options: Options, effort: Effort) -> LawAnswer:
        return _law_in_columns(views[view], options, progress, target, searches[view], effort)

    for effort in (Effort.LIKELY, Effort.ALL):
        others = [law_in(view, options._replace(forms=()), effort) for view in range(1, len(views))]
        best = min(others, key=score)
        # Sums of columns are the same from any origin: only products may be shorter.
        clear = (law for law in best.laws if law.evidence > settings.CLEAR_EVIDENCE / 2)
        is_sum = any(law.degree == 1 for law in clear)
        answer = law_in(0, given, Effort.PRODUCTS if is_sum or too_far else effort)
        if answer.laws or best.laws:
            break
    # Far from the origin other powers, and functions, are the same but for a constant: which of
    # them it is says as much as noise does.
    simpler = answer.laws and best.laws and answer.laws[0].n_terms < best.laws[0].n_terms
    asked = 0.0 if simpler else settings.EVIDENCE
    return answer if score(answer) < score(best) - asked else best


def _are_too_far(distances: np.ndarray, options: Options) -> bool:
    """Say whether several columns are so many spreads from zero that products alone are told apart.

    Their squares are sums of them in all digits that matrices of terms have. Curves that somebody
    asked for are tried wherever columns are.
    """
    is_asked = not all(form.own for form in options.forms)
    return (
        len(distances) > 1 and not is_asked and bool((np.abs(distances) > settings.TOO_FAR).all())
    )


def in_given_order(answer: LawAnswer, ask: Callable) -> LawAnswer:
    """Return what is left of an answer where rows that follow one another are alike by chance."""
    for law in answer.laws:
        if law.target is not None and law.n_inputs < len(law.names):
            errors = ask(partial(errors_in_order, law), ErrorsInOrder.plus)
            if is_by_chance(law, errors):
                verdict = (
                    f"No law of {law.target} was found: errors of the best candidate are alike on "
                    f"consecutive rows. They count as {errors.n_independent:.0f} independent rows, "
                    "and on so few it would fit as well by chance."
                )
                return answer._replace(laws=[], verdict=verdict)
    return answer


def _law_in_columns(
    rows: SearchRows,
    options: Options,
    progress,
    target: int,
    searches: Searches,
    effort: Effort,
) -> LawAnswer:
    """Return the law of one column of some rows, in terms of the columns that these have.

    With more ``effort``, ``searches`` go on where they ended with less.
    """
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
            options.has_all_functions,
        )
    except OutOfTime:
        return LawAnswer([], NO_TIME.format(name), np.nan)
    if not len(table.columns):
        verdict = f"No law: all columns are constant, and {name} is not."
        return LawAnswer([], verdict, float(rows.sample.spreads[target]))
    if options.robust and not table.is_sum:
        table = table._replace(table=table.table.at(good_rows(table.table)))
        if not table.table.variance > 1e-24 * table.table.norm:
            return LawAnswer([], f"No law: {name} is constant, except on a few rows.", 0.0)
    table, outcome = _searched(table, options, progress, searches, effort)
    outcome = _with_sum(table, outcome)
    front = front_of(outcome, table, rows, target)
    noise = np.sqrt(_noise(outcome)) * abs(table.units[-1])
    forms = forms_of(outcome, table, rows, target, options.robust)
    answer = LawAnswer([], "", noise, front, _reductions(outcome, table, rows, target), forms)
    if outcome.choice is None or outcome.choice.reason:
        reason = why_none(outcome, name, options.dimensions is not None)
        return answer._replace(verdict=reason + table.left_out_text(rows.names))
    law = _of_all_rows(outcome.choice, table, rows, target, options.robust)
    if isinstance(law, str):
        return answer._replace(verdict=f"No law of {name} was found: {law}.")
    return answer._replace(
        laws=[law],
        verdict=f"{law}: {law.verdict}",
        noise=float(law.error),
        front=with_law(front, law, outcome.choice),
    )


def _of_all_rows(
    choice: Choice, table: Prepared, rows: SearchRows, target: int, robust: bool
) -> Law | str:
    """Return the law that was chosen, fitted to all rows, or why it is none."""
    if choice.best.fitted.form is not None:
        return _of_form(choice, table, rows, target, robust)
    sample, size = rows.sample, rows.size(target)
    start = draft(choice.best, table, sample, target)
    if not np.isfinite(start.coef).all():
        return "numbers of the best equation overflow in the units of the columns"
    # Rounding differs from row to row, and is no reason to leave one out.
    keep = max(settings.FAR * spread_of(start, sample), settings.ROUNDED * size) if robust else None
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
        noise,
        evidence=choice.evidence / 2,
        lack_of_fit=choice.lack_of_fit,
        verdict=certainty(choice, fit, sums.missing, robust, table, rows, target)
        + table.left_out_text(rows.names),
        units=rows.units,
    )
    if (np.abs(law.coef) < 2 * law.coef_std).any():
        return "coefficients of the best candidate may be zero"
    if choice.form is None or rows.offsets is not None:
        return law
    # As people write it, and with the names of its constants.
    curve = form_law(choice.form, table, rows, target, robust)
    return law if isinstance(curve, str) else _named(law, curve, choice)


def _of_form(
    choice: Choice, table: Prepared, rows: SearchRows, target: int, robust: bool
) -> Law | str:
    """Return the law that a form is, or why it is none."""
    law = form_law(choice.best, table, rows, target, robust)
    if isinstance(law, str):
        return law
    fit = choice.best.fitted
    text = certainty(choice, Certainty(law.error**2, fit.exact), 0.0, robust, table, rows, target)
    law = law._replace(
        evidence=choice.evidence / 2,
        lack_of_fit=choice.lack_of_fit,
        verdict=text + table.left_out_text(rows.names),
    )
    return _named(law, law, choice)


def _named(law: Law, curve: Law, choice: Choice) -> Law:
    """Return a law as the form that says the same is written, with its name and constants."""
    assert choice.form is not None and choice.form.fitted.form is not None
    form = choice.form.fitted.form.form
    return law._replace(
        formula=curve.solution,
        constants=curve.constants,
        constant_units=curve.constant_units,
        verdict=f"{name_and_constants(form, curve)} {law.verdict}",
    )


def _searched(
    table: Prepared, options: Options, progress, searches: Searches, effort: Effort
) -> tuple[Prepared, SearchOutcome]:
    """Search; with factors of the target first on few rows, which have too few for a surrogate.

    On many rows they are looked for where nothing is found without.
    """
    if table.sum is not None and table.is_sum:
        return table, SearchOutcome(table.sum, [table.sum.best], [])
    if effort is Effort.PRODUCTS:
        return _with_noises(table, options, progress, tuple, searches, effort, further=False)
    factors = cache(partial(factor_states, table.table))  # a product needs none
    if table.table.has_few_rows:
        return _with_noises(table, options, progress, factors, searches, effort)
    likely = _with_noises(table, options, progress, tuple, searches, Effort.LIKELY)
    if effort is not Effort.ALL:
        return likely
    # Factors leave fewer variables: what is likeliest of these costs less than all others do.
    of_factors: Searches = {}
    search = partial(_with_noises, table, options, progress, factors, of_factors, further=False)
    if not _is_answered(likely[1]) and factors():
        found = search(effort=Effort.LIKELY)
        if found[1].out_of_time or (found[1].is_final and found[1].is_clear):
            return found
    plain = _with_noises(table, options, progress, tuple, searches, effort)
    if _is_answered(plain[1]) or not factors():
        return plain
    found = search(effort=effort)
    return plain if found[1].law is None and not found[1].out_of_time else found


def _is_answered(outcome: SearchOutcome) -> bool:
    """Say whether factors need not be looked for.

    Where several equations fit, a search that does not see them all would claim one.
    """
    return outcome.law is not None or outcome.is_ambiguous or outcome.out_of_time


def _with_noises(
    table: Prepared,
    options: Options,
    progress,
    factors: Callable,
    searches: Searches,
    effort: Effort,
    further: bool = True,
) -> tuple[Prepared, SearchOutcome]:
    """Search, also with rows by the inverse of their variance where noise may be unequal.

    Of several laws, it is the one under whose noise the rows are likeliest. What is likeliest is
    looked at first, whatever the noise; all, if that leaves no law, with this ``effort``.
    ``further`` says whether columns are searched as they are, after factors.
    """
    suggested = products(table.table)

    def searched(noise: LawTable, factors: Callable, finish: bool) -> SearchOutcome:
        key = noise.y.tobytes() + noise.weight.tobytes()
        if key not in searches:
            searches[key] = Search(noise, options, progress, suggested, factors, further)
        return searches[key].finish() if finish else searches[key].begin()

    begun = _trials(table, suggested, factors, partial(searched, finish=False))
    outcome, has_few_rows = begun[1], table.table.has_few_rows
    is_settled = outcome.out_of_time or outcome.is_exact or outcome.is_final
    # On many rows nothing that is less likely told apart what the likeliest variables did not.
    if effort is not Effort.ALL or is_settled or (outcome.is_ambiguous and not has_few_rows):
        return begun
    return _trials(table, suggested, factors, partial(searched, finish=True))


def _trials(
    table: Prepared, suggested: Sequence[Product], factors: Callable, searched: Callable
) -> tuple[Prepared, SearchOutcome]:
    """Return the outcome of the search under the likeliest noise, and the table with this noise.

    ``searched(noise, factors)`` searches rows with some noise.
    """
    rows = table.table
    trials: list[tuple[LawTable, SearchOutcome]] = []

    def tried(noise: LawTable, factors: Callable) -> SearchOutcome:
        trials.append((noise, searched(noise, factors)))
        return trials[-1][1]

    # A product of powers that is a law tells the noise before any search does.
    equal = with_noise_of_products(rows, suggested)
    if equal is not rows:
        outcome = tried(equal, factors)
        # A wrong product makes noise unequal, too: equal noise may be likelier with another law.
        is_known = outcome.is_product and outcome.is_clear and outcome.is_compared
        if outcome.out_of_time or is_known:
            return table._replace(table=equal), outcome
    else:
        if is_negative(rows, factors()):
            table = table.with_negative_target()
            rows = table.table
        equal = with_noise_of_factors(rows, factors())
        if equal is not rows:
            outcome = tried(equal, factors)
            if outcome.out_of_time:
                return table._replace(table=equal), outcome
            if outcome.law is not None and with_equal_noise(rows, outcome.law.predicted) is rows:
                trials, equal = [], rows  # what a surrogate misses looked like noise that grows
            elif outcome.is_enough:
                return table._replace(table=equal), outcome
    # Factors that tell the noise are searched with it alone.
    others = factors if equal is rows else tuple
    outcome = tried(rows, others)
    law = outcome.law
    if not (outcome.out_of_time or (law is not None and law.exact)):
        equal = with_equal_noise(rows, None if law is None else law.predicted)
        if equal is not rows:
            outcome = tried(equal, others if law is None else factors)
        if rows.has_few_rows and rows.few_rows_decide and not outcome.out_of_time:
            # Errors relative to what was measured have its noise: a law has to say what they are.
            outcome = searched(with_relative_noise(rows), others)
            if outcome.choice is not None and (outcome.law is not None or outcome.is_ambiguous):
                equal = with_equal_noise(rows, outcome.choice.best.fitted.predicted)
                if equal is not rows:
                    tried(equal, others)
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
    for i, (number, exponents) in state.summands.items():
        second = Term((*map(float, exponents), 0.0))
        terms[i + 1] = total([terms[i + 1], of_term(second, Number(float(np.sign(number))))])
    return [text.write(moved(term, offsets)) for term in terms]
