"""All steps, one after the other: from a table to the law its target obeys."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import monomial
from vanishing.laws import settings
from vanishing.laws.choose import AMBIGUOUS, Choice, LackOfFit, LawCandidate, candidate, choose
from vanishing.laws.dictionary import PLAIN, STAGES, dictionary
from vanishing.laws.homogeneous import admitted, terms_to_make
from vanishing.laws.implicit import implicit_supports
from vanishing.laws.links import LINKS, link_supports, regression, usable_links
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.reductions import ReductionState, reduced_states
from vanishing.laws.refit import refit_implicit, refit_link


class OutOfTime(Exception):
    """Raised by ``progress`` where the time that was allowed is over."""


class Options(NamedTuple):
    """What of the estimator's parameters the search needs."""

    max_degree: int = 6
    max_terms: int = 12
    stages: tuple = STAGES
    robust: bool = False
    dimensions: np.ndarray | None = None  # of all columns, where laws must be homogeneous


class SearchOutcome(NamedTuple):
    """The outcome of a search."""

    choice: Choice | None
    candidates: list[LawCandidate]
    states: list[ReductionState]
    out_of_time: bool = False


@np.errstate(all="ignore")
def search(table: LawTable, options: Options, progress=lambda: None) -> SearchOutcome:
    """Find the law that the target of a table obeys.

    Of the many terms that are tried some overflow: what is not finite is left out, silently.
    """
    candidates: list[LawCandidate] = []
    states: list[ReductionState] = []
    try:
        choice = _searched(table, options, progress, candidates, states)
        return SearchOutcome(choice, candidates, states)
    except OutOfTime:
        choice = choose(candidates, LackOfFit(table))
        return SearchOutcome(choice, candidates, states, out_of_time=True)


def _searched(table: LawTable, options: Options, progress, candidates, states) -> Choice | None:
    """Fill the lists of candidates and states on the way, and return the choice."""
    n_columns = len(table.columns)
    used = slice(0, min(table.n_rows, settings.FIRST_ROWS))
    start = ReductionState(np.zeros(n_columns), np.eye(n_columns), table.positive)
    states += reduced_states(
        table.columns[:, used], table.positive, table.y[used], table.weight[used], start, progress
    )
    lack_of_fit = LackOfFit(table)
    choice: Choice | None = None

    def too_much_fits() -> bool:
        return choice is not None and choice.reason == AMBIGUOUS

    for tried, state in enumerate(_order(states)):
        # More variables, and higher degrees, help where nothing fits, not where too much does.
        if tried > 1 and too_much_fits():
            break
        reduced = Reduced(table, state)
        for found in _stages(reduced, options, progress, too_much_fits):
            candidates += [candidate(fitted, reduced) for fitted in found]
            choice = choose(candidates, lack_of_fit)
            if choice is not None and choice.is_settled:
                return choice
        if choice is not None and not choice.reason:
            return choice
    return choice


def _order(states):
    """Return the states to search: the most reduced first, a few before it, the first."""
    order = states[::-1][: 1 + settings.STATES_BACK]
    return order if order[-1] is states[0] else [*order, states[0]]


def _stages(reduced: Reduced, options: Options, progress, too_much_fits):
    """Yield the fitted laws of each stage."""
    if not reduced.n_variables:
        yield _pure_product(reduced)
        return
    links = usable_links(reduced)
    known: set = set()
    for stage in options.stages:
        progress(f"{stage.name}, {reduced.n_variables} variables")
        n_made = terms_to_make(reduced.dimensions)
        terms = dictionary(stage, reduced.variables, options.max_degree, n_made)
        found = []
        for some_links, some_terms in admitted(links, terms, reduced.dimensions):
            for sparse in link_supports(reduced, some_terms, some_links, progress):
                if len(sparse.terms) < options.max_terms:
                    progress()
                    rows = regression(reduced, sparse.link)
                    found += refit_link(reduced, sparse.link, sparse.terms, rows, known)
        yield found
        if stage is PLAIN:
            for supports in implicit_supports(
                reduced, options.max_degree, options.max_terms, progress
            ):
                found = []
                for support in supports:
                    progress()
                    found += refit_implicit(reduced, support.terms, support.coef, known)
                yield found
                if too_much_fits():
                    break


def _pure_product(reduced: Reduced):
    """Return y = c M."""
    link = LINKS[0]
    if not admitted([link], [monomial(())], reduced.dimensions):
        return []
    return refit_link(reduced, link, [monomial(())], regression(reduced, link), set())
