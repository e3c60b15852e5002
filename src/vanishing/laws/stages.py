"""Fits of one state: powers, implicit laws, functions and quotients of these, stage after stage."""

from collections.abc import Iterable, Iterator, Sequence

from vanishing.algebra.terms import monomial
from vanishing.laws import settings
from vanishing.laws.candidates import allowed_terms
from vanishing.laws.dictionary import FAMILIES, PLAIN, Stage, dictionary, family_terms
from vanishing.laws.homogeneous import admitted, terms_to_make
from vanishing.laws.implicit import Implicit, function_supports, implicit_supports
from vanishing.laws.links import (
    IDENTITY,
    Sparse,
    link_supports,
    regression,
    short_supports,
    usable_links,
)
from vanishing.laws.options import Options
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted, refit_implicit, refit_link


def stages_of(reduced: Reduced, options: Options, progress) -> Iterator[Iterable[list[Fitted]]]:
    """Yield the fits of each stage, in batches; after the first batch others may be left out.

    What powers say of the noise is known to all stages after them. What a stage with functions says
    is not: their fits do not depend on the order in which they are searched.
    """
    if not reduced.n_variables:
        yield [pure_product(reduced)]
        return
    links = usable_links(reduced)
    known: set = set()
    for stage in options.stages:
        progress(f"{stage.name}, {reduced.n_variables} variables")
        fits: list[Fitted] = []
        for alternative in stage.alternatives:
            more, learnt = link_fits(reduced, alternative, links, options, progress, known)
            fits += more
        yield [fits]
        if stage is PLAIN:
            reduced = learnt
            yield implicit_fits(reduced, options, progress, known)
    most = min(options.max_terms, allowed_terms(reduced.n_variables) + 1)
    for family in FAMILIES if options.has_all_functions else ():
        progress(f"quotients of {family[0].name}, {reduced.n_variables} variables")
        supports = function_supports(reduced, family, most, progress)
        fits = _refitted_implicit(reduced, supports, progress, known)
        if reduced.table.has_few_rows:
            terms = family_terms(family, reduced.variables, settings.DICTIONARY_TERMS)
            single = short_supports(reduced, terms, [IDENTITY], progress, most=1)
            fits += _refitted(reduced, single, options, progress, known)
        yield [fits]


def link_fits(
    reduced: Reduced, stage: Stage, links, options: Options, progress, known: set
) -> tuple[list[Fitted], Reduced]:
    """Return the laws T(Y) = sum of terms of a stage, and the rows with what is known of noise."""
    n_made = terms_to_make(reduced.dimensions)
    terms = dictionary(stage, reduced.variables, options.max_degree, n_made)
    fits: list[Fitted] = []
    for links_together, terms_together in admitted(links, terms, reduced.dimensions):
        if stage is PLAIN:
            short = short_supports(reduced, terms_together, links_together, progress)
        else:  # of many functions, three explain anything
            short = short_supports(reduced, terms_together, [IDENTITY], progress, most=1)
        supports, reduced = link_supports(reduced, terms_together, links_together, progress)
        fits += _refitted(reduced, [*short, *supports], options, progress, known)
    return fits, reduced


def short_fits(reduced: Reduced, options: Options, progress) -> list[Fitted]:
    """Return laws of few powers, where there are few rows."""
    n_made = terms_to_make(reduced.dimensions)
    terms = dictionary(PLAIN, reduced.variables, options.max_degree, n_made, inverses=True)
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
        yield _refitted_implicit(reduced, supports, progress, known)


def _refitted_implicit(
    reduced: Reduced, supports: Sequence[Implicit], progress, known: set
) -> list[Fitted]:
    """Return supports of implicit laws fitted in units of y."""
    fits: list[Fitted] = []
    for support in supports:
        progress()
        fits += refit_implicit(reduced, support.terms, support.coef, known)
    return fits


def pure_product(reduced: Reduced) -> list[Fitted]:
    """Return y = c M."""
    one = monomial(())
    if not admitted([IDENTITY], [one], reduced.dimensions):
        return []
    return refit_link(reduced, IDENTITY, [one], regression(reduced, IDENTITY), set())
