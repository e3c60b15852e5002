"""All steps, one after the other: from a table to the law its target obeys."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from vanishing.equations.forms import Form
from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate, candidate
from vanishing.laws.choose import AMBIGUOUS, Asked, Choice, choose
from vanishing.laws.form_fits import form_fits
from vanishing.laws.form_powers import fits_with_powers
from vanishing.laws.forms import may_be_fitted
from vanishing.laws.options import Options, OutOfTime
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.products import Product
from vanishing.laws.reductions import (
    Logarithms,
    ReductionState,
    reduced_states,
    shortest_factor,
    state_of_terms,
    with_surrogate,
)
from vanishing.laws.refit import Fitted
from vanishing.laws.stages import pure_product, short_fits, stages_of
from vanishing.laws.sums import states_of_sums


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
    def is_enough(self) -> bool:
        """Whether there is a law that leaves little."""
        return self.choice is not None and self.choice.is_enough

    @property
    def is_exact(self) -> bool:
        """Whether there is a law that holds up to rounding."""
        return self.choice is not None and self.choice.best.fitted.exact

    @property
    def is_unrivalled(self) -> bool:
        """Whether there is a law of many rows, and all other equations are far less likely."""
        law, choice = self.law, self.choice
        if law is None or choice is None or choice.best.reduced.table.has_few_rows:
            return False
        return settings.UNRIVALLED < choice.evidence < np.inf

    @property
    def is_final(self) -> bool:
        """Whether a law leaves little, or has no rival, and cannot be a shorter one of a sum."""
        return (self.is_enough or self.is_unrivalled) and not self.has_products_of_functions

    @property
    def has_products_of_functions(self) -> bool:
        """Whether the law has some: they may be one function of a sum."""
        law = self.law
        return law is not None and any(len(term.factors) > 1 for term in law.terms)

    @property
    def has_noisy_functions(self) -> bool:
        """Whether the law has functions of variables, and does not hold up to rounding."""
        law = self.law
        of_variables = () if law is None else (t for t in law.terms if not t.involves(-1))
        return law is not None and not law.exact and any(term.factors for term in of_variables)

    @property
    def is_clear(self) -> bool:
        """Whether other equations are so far away that columns need not be searched as well."""
        return self.choice is not None and self.choice.evidence > settings.CLEAR_EVIDENCE

    @property
    def is_compared(self) -> bool:
        """Whether there is another equation that tells how sure the best one is."""
        return self.choice is not None and np.isfinite(self.choice.evidence)

    @property
    def is_ambiguous(self) -> bool:
        """Whether several laws fit: more variables or higher degrees do not help then."""
        return self.choice is not None and self.choice.reason == AMBIGUOUS


class Search:
    """The search for the law that the target of a table obeys, which pauses half-way.

    Products of powers are tried first, then the variables that say most, then all others. Of the
    many terms that are tried some overflow: what is not finite is left out, silently.

    Parameters
    ----------
    table : LawTable
    options : Options
    progress : callable
        Told what is looked at; raises `OutOfTime`.
    products : sequence of Product
        Tried first.
    factors : callable
        Returns states with factors, which need no surrogate yet.
    further : bool
        Whether columns are searched as they are, too.

    Attributes
    ----------
    outcome : SearchOutcome
        What is known so far, but for forms.
    """

    def __init__(
        self,
        table: LawTable,
        options: Options,
        progress=lambda *_: None,
        products: Sequence[Product] = (),
        factors: Callable[[], Sequence[ReductionState]] = tuple,
        further: bool = True,
    ):
        self.table, self.options, self.progress = table, options, progress
        self.products, self.factors, self.further = products, factors, further
        self._lack_of_fit = LackOfFit(table.columns, table.weight, table.left_out)
        self._asked: Asked = {}
        self._searched: set[tuple] = set()
        self._forms: dict[tuple, list[LawCandidate]] = {}
        self._of_factors: list[ReductionState] = []
        self._of_sums: list[ReductionState] = []
        self.outcome = SearchOutcome(None, [], [])
        self._begun: SearchOutcome | None = None
        self._steps = self._likely_then_others()

    def begin(self) -> SearchOutcome:
        """Look at what is likeliest, once; return what is known."""
        if self._begun is None:
            self._begun = self._advance(1)
        return self._begun

    def finish(self) -> SearchOutcome:
        """Look at all that is left, unless a law that leaves little is found; return all."""
        return self._advance(None)

    @np.errstate(all="ignore")
    def _advance(self, n_steps: int | None) -> SearchOutcome:
        if not self.outcome.out_of_time:
            try:
                for _ in islice(self._steps, n_steps):
                    pass
                return self._with_forms(self.outcome)
            except OutOfTime:
                self.outcome = self.outcome._replace(out_of_time=True)
        return self.outcome

    def _likely_then_others(self) -> Iterator[None]:
        """Search up to the step that settles it; pause before what is less likely."""
        self.progress("products of powers")
        self.outcome = of_products(self.table, self.products, self._lack_of_fit)
        if self.outcome.is_exact:
            return
        orders: list[list[ReductionState]] = []
        for start in self.factors():
            orders.append(_order(self._reduced(start)))
            self._of_factors.append(_with_short_factor(orders[-1][0], self.table.positive))
            self._search_state(orders[-1][0])
            if self.outcome.is_final and self.outcome.is_clear:
                return
        if self.further:
            n_columns = len(self.table.columns)
            columns = np.zeros(n_columns), np.eye(n_columns), self.table.positive
            states = self._reduced(ReductionState(*columns))
            self._search_short(states[0])
            orders.append(_order(states))
            best = self.outcome.choice
            if best is not None and best.best.fitted.exact:  # others may be, in the same variables
                orders[-1] = [best.best.reduced.state]
            self._search_state(orders[-1][0])
            if self.outcome.is_final or self.outcome.is_exact:
                return
        yield
        for order in orders:
            is_of_columns = self.further and order is orders[-1]
            self._search_others(order, is_of_columns)
            if self.outcome.is_final and (is_of_columns or self.outcome.is_clear):
                return

    def _reduced(self, start: ReductionState) -> list[ReductionState]:
        """Return the states that a state leads to, by the first rows."""
        table, used = self.table, slice(0, min(self.table.n_rows, settings.FIRST_ROWS))
        rows = table.columns[:, used], table.positive, table.y[used], table.weight[used]
        states = reduced_states(*rows, start, self.progress)
        self.outcome = self.outcome._replace(states=states)
        return states

    def _search_others(self, order: list[ReductionState], is_of_columns: bool) -> None:
        """Search the states after the first; of columns as they are, with sums of variables."""
        for tried, state in enumerate(order):
            if tried > 1 and is_of_columns and self.outcome.is_ambiguous:
                return
            self._search_state(state)
            if self.outcome.is_final and (is_of_columns or self.outcome.is_clear):
                return
            if not is_of_columns or not self.options.has_all_functions:
                continue
            # Before variables are more again: two of them may be one, as a sum.
            if not tried or (state is order[-1] and order[0].n_variables > 1):
                for sums in states_of_sums(self.table, state, self.progress):
                    for state_of_sum in sums[::-1]:
                        self._of_sums.append(state_of_sum)
                        self._search_state(state_of_sum)
                        if self.outcome.is_enough:
                            return

    def _search_state(self, state: ReductionState) -> None:
        """Search the variables of a state, stage after stage, until it is settled.

        Several ways lead to the same state: it is searched once.
        """
        if state.key in self._searched:
            return
        self._searched.add(state.key)
        reduced, known = Reduced.of(self.table, state), self.outcome.law
        for batches in stages_of(reduced, self.options, self.progress):
            for fits in batches:
                self._add(fits, reduced)
                choice = self.outcome.choice
                # What was a law before, of products of functions, may be a shorter one of a sum.
                is_shorter = not state.summands or self.outcome.law is not known
                # On few rows, noise hides which function it is: all of them are compared.
                is_open = self.table.has_few_rows and self.outcome.has_noisy_functions
                if choice is not None and choice.is_settled and is_shorter and not is_open:
                    return
                if self.outcome.is_ambiguous:
                    break

    def _search_short(self, columns: ReductionState) -> None:
        """Search few terms of columns, where there are few rows.

        What they say is compared with all that reductions lead to.
        """
        if self.table.has_few_rows:
            for state in (columns, *_without_roots(self.table, self.products)):
                reduced = Reduced.of(self.table, state)
                self._add(short_fits(reduced, self.options, self.progress), reduced)

    def _add(self, fits: Sequence[Fitted], reduced: Reduced) -> None:
        """Take in more candidates."""
        if fits:
            candidates = self.outcome.candidates + [candidate(fit, reduced) for fit in fits]
            choice = choose(candidates, self._lack_of_fit, asked=self._asked)
            self.outcome = SearchOutcome(choice, candidates, self.outcome.states)

    def _with_forms(self, outcome: SearchOutcome) -> SearchOutcome:
        """Return what is known with the forms that fit, where nothing holds up to rounding.

        They are looked for in states with one variable, or two, and products of powers in all: in
        those that columns, factors and sums lead to, and in the one that the best equation is.
        """
        known, forms = outcome.choice, self.options.forms
        if not forms or outcome.is_exact:
            return outcome
        # On few rows a product of powers may be a piece of a curve.
        is_settled = known is not None and known.is_settled
        if is_settled and outcome.is_product and not self.table.has_few_rows:
            return outcome
        noise = min((c.fitted.mean_square for c in outcome.candidates), default=np.inf)
        fitted: list[LawCandidate] = []
        states = [*(_order(outcome.states) if outcome.states else ()), *self._of_factors]
        states += self._of_sums
        if known is not None:
            terms = known.best.reduced.in_columns(known.best.fitted.terms)
            own = state_of_terms(terms, self.table.positive)
            states += [] if own is None else [own]
        most = None
        if known is not None and is_settled:  # what it leaves, more constants cannot pay for
            most = known.best.fitted.n_terms + settings.MORE_CONSTANTS
        for state in states:
            key = (state.key, most)
            if key not in self._forms:
                self._forms[key] = self._forms_in(state, noise, most)
            fitted += self._forms[key]
        if not fitted:
            return outcome
        candidates = outcome.candidates + fitted
        if any(c.fitted.form.form.name == "power law" for c in fitted if c.fitted.form is not None):
            candidates = [c for c in candidates if not c.is_power_law_in_logarithms()]
        choice = choose(candidates, self._lack_of_fit, asked=self._asked)
        return outcome._replace(choice=choice, candidates=candidates)

    def _compared(self, most: int | None, more: int = 0) -> list[Form]:
        """Return forms of few constants, and ``more``, for the rows; all that somebody asked for.

        Groups of rows share constants, so that one of them may have fewer rows.
        """
        n_rows = self.table.n_observations * self.options.n_groups
        few = np.inf if most is None else most - more
        return [
            form
            for form in self.options.forms
            if may_be_fitted(form, n_rows, self.table.n_columns, more)
            and not (form.own and len(form.constants) > few)
        ]

    def _with_surrogate(self, state: ReductionState) -> ReductionState:
        if state.surrogate is not None:
            return state
        table, used = self.table, slice(0, settings.FIRST_ROWS)
        logarithms = Logarithms(table.columns[:, used], table.positive)
        return with_surrogate(state, logarithms, table.y[used], table.weight[used])

    def _forms_in(
        self, state: ReductionState, noise: float, most: int | None
    ) -> list[LawCandidate]:
        """Return the forms of at most so many constants that fit in the variables of a state."""
        self.progress(f"forms, {state.n_variables} variables")
        reduced = Reduced.of(self.table, self._with_surrogate(state))
        least = min(noise, reduced.noise)
        fits = form_fits(reduced, self._compared(most), least, self.progress)
        fits += fits_with_powers(reduced, self._compared(most, 1), least, self.progress)
        return [candidate(fit, reduced) for fit in fits if fit.n_terms <= self.options.max_terms]


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
        candidates += [candidate(fit, reduced) for fit in pure_product(reduced)]
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


def _with_short_factor(state: ReductionState, positive: np.ndarray) -> ReductionState:
    """Return a state whose factor lacks powers of its variables: forms have them."""
    factor = shortest_factor(state.factor, state.variables, positive)
    if (factor == state.factor).all():
        return state
    return state._replace(factor=factor, surrogate=None)
