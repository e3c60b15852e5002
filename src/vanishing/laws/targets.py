"""The laws of one column: a search, its law fitted to all rows, and what is said about it."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import of_term
from vanishing.algebra.quantities import ONE, Unit
from vanishing.algebra.terms import Term
from vanishing.algebra.writing import PlainText, in_words
from vanishing.equations.law import Law
from vanishing.laws import settings
from vanishing.laws.choose import Choice, LawCandidate
from vanishing.laws.results import Draft, draft, finished, fitted_law, spread_of
from vanishing.laws.robust import good_rows
from vanishing.laws.search import Options, SearchOutcome, search
from vanishing.laws.table import Prepared, prepared
from vanishing.laws.unequal import with_equal_noise

_UNDETERMINED = "coefficients of the best candidate cannot be told from zero"
_NO_SOLUTION = "the best equation has no solution, or a wrong one, on most rows"
_NO_FUNCTION = "the best candidate is no function of the other columns"
_ROUNDED = 1e-9  # error relative to the target of a row that is right


class LawAnswer(NamedTuple):
    """What a finder has to say about a table."""

    laws: list[Law]
    verdict: str
    front: list[Law]
    noise: float | np.ndarray
    reductions: list[str]
    mean: float | None


def law_of_target(rows, options: Options, progress, target: int = -1) -> LawAnswer:
    """Return the law of one column of some rows, the last by default."""
    sample, names = rows.sample, rows.names
    target %= len(names)
    y = sample.columns[target]
    mean = float(np.average(y, weights=sample.weight))
    size = float(np.sqrt(np.average(y**2, weights=sample.weight)))
    if not np.ptp(y) > 1e-12 * size:
        verdict = f"No law: {names[target]} is constant, {y[0]:.6g} on all rows."
        return LawAnswer([], verdict, [], 0.0, [], mean)
    weight = sample.weight / sample.repetition
    table = prepared(sample.columns, target, weight, options.dimensions)
    if not len(table.columns):
        verdict = f"No law: all columns are constant, and {names[target]} is not."
        return LawAnswer([], verdict, [], float(np.std(y)), [], mean)
    if options.robust:
        table = table._replace(table=table.table.at(good_rows(table.table)))
        if not table.table.variance > 1e-24 * table.table.norm:
            verdict = f"No law: but for a few rows, {names[target]} is constant."
            return LawAnswer([], verdict, [], 0.0, [], mean)
    table, found = _searched(table, options, progress)
    choice = found.choice
    front = _front(found, table, rows, target, size)
    noise = np.sqrt(_noise(found)) * abs(table.units[-1])
    reductions = _reductions(found, table, names, target)
    if choice is None or choice.reason:
        verdict = _nothing(choice, found, names[target], options.dimensions is not None)
        return LawAnswer([], verdict, front, noise, reductions, mean)
    first = draft(choice.best, table, sample, target)
    # Rounding differs from row to row, and is no reason to leave one out.
    keep = max(settings.FAR * spread_of(first, sample), _ROUNDED * size) if options.robust else None
    expected = first.mean_square
    first, sums = fitted_law(first, rows.ask, rows.seed, keep)
    if sums.missing >= sums.weight.sum():
        verdict = f"No law of {names[target]} was found: {_NO_SOLUTION}."
        return LawAnswer([], verdict, front, noise, reductions, mean)
    if not (first.exact or first.mean_square < settings.WORSE * expected):
        verdict = f"No law of {names[target]} was found: {_NO_FUNCTION}."
        return LawAnswer([], verdict, front, noise, reductions, mean)
    unit = ONE if rows.units is None else rows.units.columns[target]
    law = finished(
        first,
        sums,
        names,
        size,
        rows.n_inputs,
        sample,
        evidence=choice.evidence / 2,
        lack_of_fit=choice.lack_of_fit,
        verdict=_certainty(choice, first, size, sums.missing, options.robust, unit),
        units=rows.units,
    )
    if (np.abs(law.coef) < 2 * law.coef_std).any():
        verdict = f"No law of {names[target]} was found: {_UNDETERMINED}."
        return LawAnswer([], verdict, front, noise, reductions, mean)
    front = [law if other.terms == law.terms else other for other in front]
    return LawAnswer([law], f"{law}: {law.verdict}", front, float(law.error), reductions, mean)


def _searched(table: Prepared, options: Options, progress) -> tuple[Prepared, SearchOutcome]:
    """Search, and again with rows by the inverse of their variance where noise is unequal."""
    found = search(table.table, options, progress)
    law = None
    if found.choice is not None and not found.choice.reason:
        law = found.choice.best.fitted
    if found.out_of_time or (law is not None and law.exact):
        return table, found
    equal = with_equal_noise(table.table, None if law is None else law.predicted)
    if equal is table.table:
        return table, found
    return table._replace(table=equal), search(equal, options, progress)


def _noise(found: SearchOutcome) -> float:
    """Return the least noise that any surrogate or candidate reached; NaN if there was no time."""
    reached = [s.surrogate.mean_square for s in found.states if s.surrogate is not None]
    reached += [c.fitted.mean_square for c in found.candidates]
    return min(reached, default=np.nan)


def _front(found: SearchOutcome, table: Prepared, rows, target: int, size: float) -> list[Law]:
    """Return the best candidate of each number of terms that is better than those of fewer."""
    best: dict[int, LawCandidate] = {}
    for candidate in found.candidates:
        if not (candidate.fitted.exact or candidate.fitted.is_determined()):
            continue
        n_terms = candidate.fitted.n_terms
        held = best.get(n_terms)
        if held is None or candidate.fitted.mean_square < held.fitted.mean_square:
            best[n_terms] = candidate
    laws, least = [], np.inf
    for n_terms in sorted(best):
        first = draft(best[n_terms], table, rows.sample, target)
        if first.mean_square < 0.999 * least:
            least = first.mean_square
            laws.append(_unmeasured(first, rows, size))
    return laws


def _unmeasured(found: Draft, rows, size: float) -> Law:
    """Return a law as the search left it, on its sample of rows."""
    error = float(np.sqrt(found.mean_square))
    return Law(
        found.terms,
        found.coef,
        names=rows.names,
        target=rows.names[found.target],
        n_inputs=rows.n_inputs,
        covariance=found.covariance * found.mean_square,
        error=error,
        relative_error=error / size,
        branch=found.branch,
        n_samples=len(rows.sample.keys),
        verdict="A candidate.",
        units=rows.units,
    )


def _reductions(found: SearchOutcome, table: Prepared, names, target: int) -> list[str]:
    """Return the combinations of columns that matter, that with the target first."""
    if not found.states:
        return []
    state = found.states[-1] if found.choice is None else found.choice.best.reduced.state
    text = PlainText([*(names[i] for i in table.columns), names[target]])
    groups = [np.append(-state.factor, 1.0)]
    groups += [np.append(row, 0.0) for row in state.variables]
    return [text.write(of_term(Term(tuple(map(float, group))))) for group in groups]


def _nothing(choice: Choice | None, found: SearchOutcome, name: str, homogeneous: bool) -> str:
    """Say why there is no law."""
    if found.out_of_time:
        return f"No law of {name} was found in the time allowed: raise max_time."
    law = "law" if not homogeneous else "law whose coefficients have no dimension"
    if choice is None:
        return f"No {law} of {name} was found: no combination of terms comes down to its noise."
    return f"No {law} of {name} was found: {choice.reason}."


def _certainty(
    choice: Choice, found: Draft, size: float, missing: float, robust: bool, unit: Unit
) -> str:
    """Say in words how sure a law is."""
    if found.exact:
        said = "It holds up to rounding."
    else:
        error = np.sqrt(found.mean_square)
        said = f"The rms error is {unit.behind(in_words(error))} ({100 * error / size:.2g} %)"
        if np.isfinite(choice.evidence):
            said += (
                f"; the best different equation is less likely by a factor of "
                f"exp({choice.evidence / 2:.0f})"
            )
        if choice.best.reduced.table.precision is not None:
            said += "; the noise grows with the target"
        if choice.best.reduced.table.n_rows < settings.FEW_ROWS:
            said += "; too few rows to tell whether a column explains what is left."
        else:
            said += "; no column explains what is left."
        if not _is_sure(choice):
            said += " Within this noise it may be an approximation of another law."
    if missing:
        where = "Left out as wrong were" if robust else "It has no solution on"
        said += f" {where} {missing:g} rows."
    return said


def _is_sure(choice: Choice) -> bool:
    """Say whether a law has so few terms that an approximation would be a coincidence."""
    r, n_terms = choice.best.n_used(), choice.best.fitted.n_terms
    if n_terms <= max(2, r + 1):
        return choice.evidence > 5 * settings.EVIDENCE
    # Combinations of functions approximate more than powers do.
    functions = any(term.factors for term in choice.best.fitted.terms)
    return r > 1 and not functions and n_terms <= r + 2 and choice.evidence > 50 * settings.EVIDENCE
