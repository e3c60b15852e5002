"""Laws whose coefficients have no dimension: which terms may stand in one equation."""

from collections.abc import Sequence

import numpy as np

from vanishing.algebra.terms import Term
from vanishing.laws import settings
from vanishing.laws.links import Link

Dimension = tuple[float, ...]


def dimension_of(term: Term, dimensions: np.ndarray) -> Dimension | None:
    """Return the dimension of a term; None if a function is applied to something that has one.

    Parameters
    ----------
    term : Term
    dimensions : array of shape (n_variables, n_base)
    """
    whole, inside = term.dimensions
    if any(np.abs(np.dot(exponents, dimensions)).max(initial=0.0) > 1e-9 for exponents in inside):
        return None
    return tuple((np.round(np.array(whole) @ dimensions, 9) + 0.0).tolist())


def together(terms: Sequence[Term], dimensions: np.ndarray | None) -> list[list[Term]]:
    """Return terms in classes of one dimension, or in one class where that does not matter."""
    if dimensions is None:
        return [list(terms)]
    classes: dict[Dimension, list[Term]] = {}
    for term in terms:
        dimension = dimension_of(term, dimensions)
        if dimension is not None:
            classes.setdefault(dimension, []).append(term)
    return [members for members in classes.values() if len(members) > 1]


def terms_to_make(dimensions: np.ndarray | None) -> int:
    """Return how many terms to make for a dictionary."""
    return (
        settings.DICTIONARY_TERMS
        if dimensions is None
        else settings.HOMOGENEOUS_MORE * settings.DICTIONARY_TERMS
    )


def admitted(
    links: Sequence[Link], terms: Sequence[Term], dimensions: np.ndarray | None
) -> list[tuple[list[Link], list[Term]]]:
    """Return links of the target, and terms that may stand on the other side of each.

    Parameters
    ----------
    links : sequence of Link
    terms : sequence of Term
        Of the variables.
    dimensions : array of shape (n_variables + 1, n_base), or None
        The target's last.
    """
    if dimensions is None:
        return [(list(links), list(terms))]
    of_terms = [dimension_of(term, dimensions[:-1]) for term in terms]
    classes: dict[Dimension, list[Link]] = {}
    for link in links:
        dimension = dimension_of(link.term(len(dimensions) - 1), dimensions)
        if dimension is not None:
            classes.setdefault(dimension, []).append(link)
    groups = []
    for dimension, members in classes.items():
        fitting = [t for t, d in zip(terms, of_terms, strict=True) if d == dimension]
        if fitting:
            groups.append((members, fitting[: settings.DICTIONARY_TERMS]))
    return groups
