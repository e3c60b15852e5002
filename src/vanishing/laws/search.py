"""All steps, one after the other: from a table to the law its target obeys."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import monomial
from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.laws import settings
from vanishing.laws.choose import AMBIGUOUS, Choice, LawCandidate, candidate, choose
from vanishing.laws.dictionary import PLAIN, Stage, dictionary
from vanishing.laws.homogeneous import admitted, terms_to_make
from vanishing.laws.implicit import implicit_supports
from vanishing.laws.links import (
    IDENTITY,
    Sparse,
    link_supports,
    regression,
    short_supports,
    usable_links,
)
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.products import Product
from vanishing.laws.reductions import (
    Logarithms,
    ReductionState,
    reduced_states,
    with_surrogate,
)
from vanishing.laws.refit import Fitted, refit_implicit, refit_link


class OutOfTime(Exception):
    """Raised by ``progress`` when the time that was allowed is over."""


class Options(NamedTuple):
    """Parameters of the estimator that the search needs."""

    max_degree: int = 6
    max_terms: int = 12
    stages: tuple[Stage, ...] = (PLAIN,)
    robust: bool = False
    dimensions: np.ndarray | None = None  # of all columns, where laws must be homogeneous


class SearchOutcome(NamedTuple):
    """What a search knows, in the end or on the way.

    Attributes
    ----------
    choice : Choice or None
        None where there is no candidate.
    candidates : list of LawCandidate
    states : list of ReductionState
        From all columns to the fewest variables.
    out_of_time : bool
    """

    choice: Choice | None
    candidates: list[LawCandidate]
    states: list[ReductionState]
    out_of_time: bool = False

    @property
    def law(self) -> Fitted | None:
        """The law that was chosen; None where it is none."""
        return None if self.choice is None or self.choice.reason else self.choice.best.fitted

    @property
    def is_product(self) -> bool:
        """Whether the law is a product of powers alone."""
        return self.choice is not None and not self.choice.reason and self.choice.best.is_product()

    @property
    def is_ambiguous(self) -> bool:
        """Whether several laws fit: more variables or higher degrees do not help then."""
        return self.choice is not None and self.choice.reason == AMBIGUOUS


@np.errstate(all="ignore")
def search(
    table: LawTable, options: Options, progress=lambda *_: None, products: Sequence[Product] = ()
) -> SearchOutcome:
    """Find the law that the target of a table obeys; ``products`` are tried first.

    Of the many terms that are tried some overflow: what is not finite is left out, silently.
    """
    outcome = SearchOutcome(None, [], [])
    try:
        for step in _outcomes(table, options, progress, products):
            outcome = step
    except OutOfTime:
        return outcome._replace(out_of_time=True)
    return outcome


def _outcomes(
    table: LawTable, options: Options, progress, products: Sequence[Product]
) -> Iterator[SearchOutcome]:
    """Yield what is known after each step, up to the one that settles it."""
    progress("products of powers")
    lack_of_fit = LackOfFit(table.columns, table.weight, table.left_out)
    outcome = of_products(table, products, lack_of_fit)
    yield outcome
    if outcome.choice is not None and outcome.choice.best.fitted.exact:
        return
    n_columns = len(table.columns)
    used = slice(0, min(table.n_rows, settings.FIRST_ROWS))
    start = ReductionState(np.zeros(n_columns), np.eye(n_columns), table.positive)
    states = reduced_states(
        table.columns[:, used], table.positive, table.y[used], table.weight[used], start, progress
    )
    outcome = outcome._replace(states=states)
    if table.has_few_rows:
        # What few terms of columns say is compared with all that reductions lead to.
        candidates = outcome.candidates
        for state in (states[0], *_without_roots(table, products)):
            reduced = Reduced.of(table, state)
            fits = _short_fits(reduced, options, progress)
            candidates = candidates + [candidate(fit, reduced) for fit in fits]
        outcome = SearchOutcome(choose(candidates, lack_of_fit), candidates, states)
    yield outcome
    order, best = _order(states), outcome.choice
    if best is not None and best.best.fitted.exact:  # others may be, in the same variables
        order = [best.best.reduced.state]
    for tried, state in enumerate(order):
        if tried > 1 and outcome.is_ambiguous:
            return
        reduced = Reduced.of(table, state)
        for batches in _stages(reduced, options, progress):
            for fits in batches:
                candidates = outcome.candidates + [candidate(fit, reduced) for fit in fits]
                outcome = SearchOutcome(choose(candidates, lack_of_fit), candidates, states)
                yield outcome
                if outcome.choice is not None and outcome.choice.is_settled:
                    return
                if outcome.is_ambiguous:
                    break
        if outcome.choice is not None and outcome.choice.is_enough:
            return


@np.errstate(all="ignore")
def of_products(
    table: LawTable, products: Sequence[Product], lack_of_fit: LackOfFit
) -> SearchOutcome:
    """Return what products of powers say of a table, before any search."""
    logarithms = Logarithms(table.columns, table.positive)
    none = np.empty((0, len(table.columns))), np.empty(0, dtype=bool)
    candidates: list[LawCandidate] = []
    for product in products:
        state = ReductionState(product.exponents, *none)
        reduced = Reduced.of(table, with_surrogate(state, logarithms, table.y, table.weight))
        candidates += [candidate(fit, reduced) for fit in _pure_product(reduced)]
    return SearchOutcome(choose(candidates, lack_of_fit), candidates, [])


def _without_roots(table: LawTable, products: Sequence[Product]) -> Iterator[ReductionState]:
    """Yield the state in which columns are variables that a product has roots of.

    A root of a column may stand in for a sum with it: 1 - v for sqrt(v), over a short range.
    """
    for product in products[:1]:
        rooted = product.exponents % 1 != 0.0
        if rooted.any():
            factor = np.where(rooted, 0.0, product.exponents)
            variables = np.eye(len(rooted))[rooted]
            state = ReductionState(factor, variables, table.positive[rooted])
            logarithms = Logarithms(table.columns, table.positive)
            yield with_surrogate(state, logarithms, table.y, table.weight)


def _order(states):
    """Return the states to search: the most reduced first, a few before it, the first."""
    order = states[::-1][: 1 + settings.STATES_BACK]
    return order if order[-1] is states[0] else [*order, states[0]]


def _stages(reduced: Reduced, options: Options, progress) -> Iterator[Iterable[list[Fitted]]]:
    """Yield the fits of each stage, in batches; after the first batch others may be left out.

    What powers say of the noise is known to all stages after them. What a stage with functions says
    is not: their fits do not depend on the order in which they are searched.
    """
    if not reduced.n_variables:
        yield [_pure_product(reduced)]
        return
    links = usable_links(reduced)
    known: set = set()
    for stage in options.stages:
        progress(f"{stage.name}, {reduced.n_variables} variables")
        fits, learnt = link_fits(reduced, stage, links, options, progress, known)
        yield [fits]
        if stage is PLAIN:
            reduced = learnt
            yield implicit_fits(reduced, options, progress, known)


def link_fits(
    reduced: Reduced, stage: Stage, links, options: Options, progress, known: set
) -> tuple[list[Fitted], Reduced]:
    """Return the laws T(Y) = sum of terms of a stage, and the rows with what is known of noise."""
    n_made = terms_to_make(reduced.dimensions)
    terms = dictionary(stage, reduced.variables, options.max_degree, n_made)
    fits: list[Fitted] = []
    for links_together, terms_together in admitted(links, terms, reduced.dimensions):
        short: list[Sparse] = []
        if stage is PLAIN:  # of many functions, three explain anything
            short = short_supports(reduced, terms_together, links_together, progress)
        supports, reduced = link_supports(reduced, terms_together, links_together, progress)
        fits += _refitted(reduced, [*short, *supports], options, progress, known)
    return fits, reduced


def _short_fits(reduced: Reduced, options: Options, progress) -> list[Fitted]:
    """Return laws of few powers, where there are few rows."""
    terms = dictionary(
        PLAIN, reduced.variables, options.max_degree, terms_to_make(reduced.dimensions)
    )
    fits: list[Fitted] = []
    for links, together in admitted(usable_links(reduced), terms, reduced.dimensions):
        supports = short_supports(reduced, together, links, progress)
        fits += _refitted(reduced, supports, options, progress, set())
    return fits


def _refitted(
    reduced: Reduced, supports: Sequence[Sparse], options: Options, progress, known: set
) -> list[Fitted]:
    """Return supports fitted in units of y."""
    fits: list[Fitted] = []
    for sparse in supports:
        if len(sparse.terms) < options.max_terms:
            progress()
            rows = regression(reduced, sparse.link)
            fits += refit_link(reduced, sparse.link, sparse.terms, rows, known)
    return fits


def implicit_fits(
    reduced: Reduced, options: Options, progress, known: set
) -> Iterator[list[Fitted]]:
    """Yield the laws with several terms in the target, degree by degree."""
    for supports in implicit_supports(reduced, options.max_degree, options.max_terms, progress):
        fits = []
        for support in supports:
            progress()
            fits += refit_implicit(reduced, support.terms, support.coef, known)
        yield fits


def _pure_product(reduced: Reduced) -> list[Fitted]:
    """Return y = c M."""
    one = monomial(())
    if not admitted([IDENTITY], [one], reduced.dimensions):
        return []
    return refit_link(reduced, IDENTITY, [one], regression(reduced, IDENTITY), set())
