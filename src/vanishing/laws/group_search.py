"""One law per group: the form that a search finds, with coefficients by group."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.equations import GivenEquation
from vanishing.algebra.expressions import (
    Column,
    Inside,
    Node,
    Number,
    Product,
    Sum,
    of_term,
    with_numbers,
)
from vanishing.algebra.functions import IDENTITY
from vanishing.algebra.terms import Factor, Term
from vanishing.algebra.writing import in_words
from vanishing.equations.law import Law
from vanishing.fitting.lack_of_fit import unseen_share
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.certainty import NO_TIME, approximation_text
from vanishing.laws.check import law_of, noise_of_constants, reason_against
from vanishing.laws.given_problem import Problem
from vanishing.laws.groups import GroupFit, Groups, fit_by_group, near_by_group
from vanishing.laws.options import OutOfTime
from vanishing.laws.targets import LawAnswer

Search = Callable[[np.ndarray, int], LawAnswer]


class GroupedRows(NamedTuple):
    """Rows in groups.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        The target last.
    weight : ndarray of shape (n_rows,)
    groups : Groups
    names : tuple of str
    """

    columns: np.ndarray
    weight: np.ndarray
    groups: Groups
    names: tuple[str, ...]


def law_of_groups(rows: GroupedRows, search: Search, robust: bool, progress: Callable) -> LawAnswer:
    """Return one law per group, all of one form, or why there is none.

    The law is searched on the largest group, or the next ones if that has none. Where groups are
    small, few rows of one may be obeyed by several forms: then it is searched on several groups and
    on all rows, and what is found is compared with the forms that are likeliest in all groups
    together. Each is fitted to all groups, and has to hold in each.

    Parameters
    ----------
    rows : GroupedRows
    search : callable
        Takes places of rows, and of how many groups they are one, returns what a search says.
    robust : bool
        Whether rows may be wrong.
    progress : callable
        Called now and then: where it raises `OutOfTime`, what was fitted so far is compared.
    """
    rows.groups.check_sizes(settings.LEAST_ROWS, "a law")
    n_rows, codes = len(rows.weight), rows.groups.codes
    sizes = np.bincount(codes, minlength=len(rows.groups.labels))
    largest = np.argsort(-sizes, kind="stable")[: settings.SEARCHED_GROUPS]
    are_small = sizes.max() < settings.ROWS_OF_GROUP
    answers: list[LawAnswer] = []
    for g in largest if len(sizes) > 1 else ():
        answers.append(search(np.flatnonzero(codes == g), len(sizes)))
        if answers[-1].laws and not are_small:
            break
    fits = [_fitted(answer.laws[0], rows, robust, progress) for answer in answers if answer.laws]
    if are_small and answers:
        for law, sizes in _likeliest_forms(answers, n_rows):
            fits.append(_determined(_fitted(law, rows, robust, progress), sizes))
    if are_small or not any(fit.laws for fit in fits):
        answers.append(search(np.arange(n_rows), 1))
        fits += [_fitted(law, rows, robust, progress) for law in answers[-1].laws]
    holding = [fit for fit in fits if fit.laws]
    if not holding:
        reasons = [*(fit.reason for fit in fits), answers[-1].verdict]
        no_time = NO_TIME.format(rows.names[-1])
        reason = no_time if no_time in reasons else reasons[0]
        return answers[-1]._replace(laws=[], verdict=reason)
    return _chosen(holding, answers[0], rows, robust)


def _chosen(
    holding: list["_FormFit"], answer: LawAnswer, rows: GroupedRows, robust: bool
) -> LawAnswer:
    """Return the likeliest of the forms that hold in all groups, and how sure it is.

    Curves that say the same within the noise are named; of sums of terms none is a law then.
    """
    noise = min(fit.error for fit in holding) if robust else np.inf
    best, *others = _different(sorted(holding, key=lambda fit: fit.score(noise)))
    gaps = [fit.score(noise) - best.score(noise) for fit in others]
    n_alike = sum(gap < settings.EVIDENCE for gap in gaps)
    if n_alike and any(fit.laws[0].formula is None for fit in (best, *others[:n_alike])):
        reason = f"two forms fit alike, {best.laws[0]} and {others[0].laws[0]}"
        return answer._replace(laws=[], verdict=f"No law holds in all groups: {reason}.")
    laws, verdict = best.laws, best.verdict
    if len(gaps) > n_alike:
        evidence = gaps[n_alike] / 2
        verdict += f" The best different form is less likely by a factor of exp({evidence:.0f})."
        laws = [law._replace(evidence=evidence) for law in laws]
    if not best.is_exact:
        size = float(np.sqrt(np.average(rows.columns[-1] ** 2, weights=rows.weight)))
        unseen = best.error / size * unseen_share(len(rows.weight))
        verdict += f" {approximation_text(unseen)}"
    if n_alike:
        named = ", ".join(str(fit.laws[0]) for fit in others[:n_alike])
        verdict += f" Other forms would fit as well: {named}."
    laws = [law._replace(verdict=verdict) for law in laws]
    return answer._replace(laws=laws, verdict=verdict, noise=best.error)


def _different(fits: list["_FormFit"]) -> list["_FormFit"]:
    """Return fits without those that say the same as a likelier one, in its plainest writing."""
    different: list[_FormFit] = []
    for fit in fits:
        same = next((i for i, other in enumerate(different) if fit.is_same(other)), None)
        if same is None:
            different.append(fit)
        elif fit.length < different[same].length:
            different[same] = fit
    return different


def _likeliest_forms(
    answers: list[LawAnswer], n_rows: int
) -> Iterator[tuple[Law, dict[str, float]]]:
    """Yield forms that came near in all groups, those that are likeliest in all together.

    With each come sizes beside which errors of its constants are small, if rows determine them. A
    form that says the same of a variable and of its inverse is one.
    """
    first, *others = [answer.forms for answer in answers]

    def score(key: tuple) -> float:
        left = sum(forms[key].unlikeliness for forms in (first, *others))
        return left + price(n_rows) * first[key].n_constants

    def n_inverse(key: tuple) -> int:
        return sum(e < 0.0 for part in key if isinstance(part, tuple) for e in part)

    common = [key for key in first if all(key in forms for forms in others)]
    different: dict[tuple, tuple] = {}
    for key in sorted(common, key=lambda key: (round(score(key), 2), n_inverse(key))):
        different.setdefault((key[0], round(score(key), 2)), key)
    for key in [*different.values()][: settings.FORMS_OF_GROUPS]:
        law = first[key].law()
        if isinstance(law, Law):
            yield law, first[key].sizes


class _FormFit(NamedTuple):
    """A form that was fitted to all groups; ``reason`` says why it is no law.

    Attributes
    ----------
    laws : list of Law
    verdict : str
    error : float
        Root of the mean square on rows that are not wrong.
    is_exact : bool
    residuals, weight : ndarray
        Of all rows.
    rounding : float
        The size of errors below which all are alike.
    n_constants : int
    reason : str
    """

    laws: list[Law]
    verdict: str = ""
    error: float = np.inf
    is_exact: bool = False
    residuals: np.ndarray = np.empty(0)
    weight: np.ndarray = np.empty(0)
    rounding: float = 0.0
    n_constants: int = 0
    reason: str = ""

    @property
    def length(self) -> tuple[int, bool, int]:
        """How long it is to write; curves with a name come before sums of terms."""
        law = self.laws[0]
        return self.n_constants, law.formula is None, len(str(law))

    def is_same(self, other: "_FormFit") -> bool:
        """Say whether it predicts what another fit does, far below the noise."""
        if len(self.residuals) != len(other.residuals):
            return False
        with np.errstate(invalid="ignore"):
            gap = self.residuals - other.residuals
        square = float(self.weight @ gap**2 / self.weight.sum())
        noise = max(min(self.error, other.error), self.rounding)
        return square <= (settings.SAME_CURVE * noise) ** 2

    def score(self, noise: float) -> float:
        """Return how unlikely rows are, and what constants cost.

        Rows that are wrong count as those do that just are not, so that it does not help to leave
        many of them out.
        """
        limit = settings.FAR * max(noise, self.rounding)
        left = np.minimum(np.nan_to_num(np.abs(self.residuals), nan=np.inf), limit)
        count = float(self.weight.sum())
        square = max(float(self.weight @ left**2) / count, self.rounding**2)
        return count * np.log(square) + price(count) * self.n_constants


def _fitted(found: Law, rows: GroupedRows, robust: bool, progress: Callable) -> _FormFit:
    """Fit the form of a law to all groups."""
    equation, values = equation_of(found)
    target = len(rows.names) - 1
    columns = rows.columns - np.array(found.offsets)[:, np.newaxis]
    columns, weight, groups, places = _without_repetition(columns, rows)
    problem = Problem(equation, columns, weight, target)
    start: np.ndarray | None = np.tile(values, (len(groups.labels), 1))
    n_needed = len(values) + 2
    with np.errstate(all="ignore"):
        try:
            groups.check_sizes(n_needed, f"the form of {found}")
            near = np.ones(len(weight), dtype=bool)
            if robust:
                near, start = near_by_group(problem, groups, values, found.error, progress)
            kept, left = problem.rows(near), groups.at(near)
            left.check_sizes(n_needed, f"the form of {found}")
            fit = fit_by_group(kept, left, start, progress)
        except ValueError as error:
            return _FormFit([], reason=f"No law holds in all groups: {error}")
        except OutOfTime:
            return _FormFit([], reason=NO_TIME.format(rows.names[-1]))
        reason = _failure(fit, kept, rows.names, found)
        if reason:
            return _FormFit([], reason=reason)
        wrong = [places[i] for i in np.flatnonzero(~near)]
        laws = [_law(fit, kept, g, found, rows) for g in range(len(left.labels))]
        if fit.same_noise:
            noise = noise_of_constants(fit.problem, fit.constants, rows.names)
            laws = [law._replace(noise=noise) for law in laws]
        residuals = fit.residuals_of(problem, groups)
    error = float(np.sqrt(fit.problem.mean_square(fit.constants.residuals)))
    size = float(np.sqrt(problem.mean_square(columns[target])))
    is_exact, rounding = error <= settings.EXACT_CHECK * size, settings.EXACT * size
    verdict = _verdict(laws, fit, equation.constants, error, len(wrong), rows)
    n_constants = len(fit.constants.values)
    return _FormFit(laws, verdict, error, is_exact, residuals, weight, rounding, n_constants)


def _determined(fit: _FormFit, sizes: dict[str, float]) -> _FormFit:
    """Return a fit, or why it is none: a constant that the rows of no group determine.

    A cosine far from its turning points is a line with a constant too many.
    """
    for name, size in sizes.items():
        known = (law.constants[name] for law in fit.laws)
        errors = [std / max(size, abs(value), 1e-300) for value, std in known]
        if errors and min(errors) ** 2 * settings.DETERMINED >= 1.0:
            reason = f"the rows do not determine {name} of {fit.laws[0]}"
            return _FormFit([], reason=f"No law holds in all groups: {reason}.")
    return fit


def _without_repetition(columns: np.ndarray, rows: GroupedRows) -> tuple:
    """Return different rows, with weights, and the places of the first of each.

    A row that stands there twice is no new observation, and counts as a row of weight 2 does.
    """
    whole = np.vstack([columns, rows.groups.codes])
    _, first, which = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    weight = np.bincount(which.ravel(), rows.weight)
    weight = weight * (weight.sum() / (weight @ weight))
    return columns[:, first], weight, rows.groups.at(first), first


def _failure(fit: GroupFit, problem: Problem, names: Sequence[str], found: Law) -> str:
    """Say in which group a form fails; "" if it holds in all."""
    for g, label in enumerate(fit.labels):
        reason = reason_against(*fit.of_group(g, problem), names)
        if reason:
            return (
                f"No law holds in all groups: that of the form {found} does not hold in group "
                f"{label}: {reason}."
            )
    reason = reason_against(fit.problem, fit.constants, [*names, "the group"])
    return f"No law holds in all groups: of the form {found}, {reason}." if reason else ""


def _law(fit: GroupFit, problem: Problem, g: int, found: Law, rows: GroupedRows) -> Law:
    """Return the law of a group."""
    law = law_of(*fit.of_group(g, problem), rows.names, found.n_inputs, found.units)
    formula = problem.equation.formula
    if found.formula is None:
        law = law._replace(constants=(), constant_covariance=None, equation=None)
    elif formula is not None:  # as people write it
        numbers = [Number(*law.constants[name]) for name in problem.equation.constants]
        written = with_numbers(formula, len(rows.names), numbers, as_written=True)
        law = law._replace(formula=written)
    return law._replace(group=fit.labels[g], offsets=found.offsets, evidence=found.evidence)


def _verdict(laws, fit: GroupFit, constants, error: float, n_wrong: int, rows) -> str:
    shown = "; ".join(f"{law.group}: {law}" for law in laws[: settings.NAMED_GROUPS])
    more = len(laws) - settings.NAMED_GROUPS
    shown += f"; {more} more groups" if more > 0 else ""
    size = float(np.sqrt(np.average(rows.columns[-1] ** 2, weights=rows.weight)))
    is_exact = error <= settings.EXACT_CHECK * size
    rms = f"rms error {in_words(error)} ({100 * error / size:.2g} %)"
    parts = ["exact up to rounding" if is_exact else rms, fit.sentence(constants)]
    if n_wrong:
        parts.append(f"{n_wrong} of {len(rows.weight)} rows are left out as wrong")
    return f"One law per group ({shown}): {'; '.join(filter(None, parts))}."


# -- Forms ----------------------------------------------------------------------------------------


def equation_of(law: Law) -> tuple[GivenEquation, np.ndarray]:
    """Return a law as an equation whose coefficients are constants, and their values.

    A law that has constants with names keeps these.
    """
    target = len(law.names) - 1
    if law.formula is not None and law.equation is not None:
        values = np.array([value for value, _ in law.constants.values()])
        return _as_written(law, law.equation, target), values
    is_fixed = (law.coef == 1.0) & (np.nan_to_num(law.coef_std) == 0.0)
    with_target = [term.involves(target) for term in law._terms]
    candidates = np.flatnonzero(is_fixed & with_target)
    fixed = int(candidates[0]) if len(candidates) else int(np.argmax(with_target))
    others = [j for j in range(law.n_terms) if j != fixed]
    names = [
        "constant" if law._terms[j].is_constant else f"coefficient of {law.terms[j]}"
        for j in others
    ]
    if len(others) == 1:  # y = 2*a*b is the law y/a = 2*b, whose term nobody sees
        names = ["coefficient"]
    terms = {_widened(law._terms[fixed], len(others)): 1.0}
    for k, j in enumerate(others):
        terms[_widened(law._terms[j], len(others), k)] = -1.0
    zero = Sum(tuple(of_term(term, Number(number)) for term, number in terms.items()))
    return _equation(terms, zero, None, law, names), -law.coef[others] / law.coef[fixed]


def _widened(term: Term, n_constants: int, constant: int | None = None) -> Term:
    """Return a term in columns and, behind them, constants, one of which multiplies it."""
    none = (0.0,) * n_constants
    own = tuple(float(k == constant) for k in range(n_constants))
    factors = tuple(f._replace(exponents=(*f.exponents, *none)) for f in term.factors)
    return Term((*term.exponents, *own), factors)


def _as_written(law: Law, zero: Node, target: int) -> GivenEquation:
    """Return the equation of a law that is written as somebody gave it."""
    width = len(law.names) + len(law.constants)
    none = (0.0,) * width
    formula: Node | None = None
    match zero:
        case Sum(parts=(Column(place=place), Product(parts=(Number(value=-1.0), node)))):
            formula = node if place == target else None
        case Sum(parts=(node, Product(parts=(Number(value=-1.0), Column(place=place))))):
            formula = node if place == target else None
    inside = Inside(zero if formula is None else formula)
    terms = {
        Term(none, (Factor(IDENTITY, 1.0, none, 1, inside),)): 1.0 if formula is None else -1.0
    }
    if formula is not None:
        terms[Term(tuple(float(i == target) for i in range(width)))] = 1.0
    return _equation(terms, zero, formula, law, list(law.constants))


def _equation(
    terms: dict[Term, float], zero: Node, formula: Node | None, law: Law, constants: list[str]
) -> GivenEquation:
    n_columns = len(law.names)
    return GivenEquation(
        tuple(terms),
        np.array(list(terms.values())),
        Differentiable(zero),
        formula,
        n_columns,
        tuple(constants),
        None if formula is None else n_columns - 1,
        {},
        (),
    )
