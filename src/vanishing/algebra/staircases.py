"""Monomial ideals: the dimension and the degree of what a set of leading terms leaves.

A term is standard if no leading term divides it. Standard terms fill a staircase: their number up
to degree s grows like ``degree * s^dimension / dimension!``.
"""

from typing import NamedTuple

import numpy as np

from vanishing._types import IntArray

_MOST_STEPS = 20_000  # of a search, before it is given up


class TooIntricate(Exception):
    """A search has taken too many steps."""


class Growth(NamedTuple):
    """How the number of standard terms grows."""

    dimension: int
    degree: int


def growth(leading_terms: IntArray) -> Growth:
    """Return dimension and degree of the quotient by the monomial ideal of leading terms.

    The dimension is the size of the largest set of variables U in which no leading term is written.
    Each such U of largest size adds to the degree the number of standard terms in the other
    variables, with those of U set to 1.

    Parameters
    ----------
    leading_terms : ndarray of int of shape (n_leading, n_features)

    Raises
    ------
    TooIntricate
        Where too many sets of variables would have to be looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing.algebra.staircases import growth
    >>> growth(np.array([[0, 2]]))  # y^2: a curve of degree 2 in the plane
    Growth(dimension=1, degree=2)
    """
    terms = _minimal(leading_terms)
    n_features = leading_terms.shape[1]
    if not terms.any(axis=1).all():
        raise ValueError("the constant is a leading term: there are no zeros.")
    covers = _smallest_covers([frozenset(np.flatnonzero(term)) for term in terms])
    degree = 0
    for cover in covers:
        degree += _n_standard(_minimal(terms[:, sorted(cover)]))
    return Growth(n_features - len(covers[0]), degree)


def _minimal(terms: IntArray) -> IntArray:
    """Return the terms that no other of them divides, each once."""
    terms = np.unique(terms, axis=0)
    order = np.argsort(terms.sum(axis=1), kind="stable")
    kept = terms[:0]
    for term in terms[order]:
        if not (kept <= term).all(axis=1).any():
            kept = np.concatenate([kept, term[np.newaxis]])
    return kept


def _smallest_covers(supports: list[frozenset[int]]) -> list[frozenset[int]]:
    """Return all sets of fewest variables that meet every support."""
    steps = 0

    def covers(chosen: frozenset[int], excluded: frozenset[int], most: int):
        nonlocal steps
        steps += 1
        if steps > _MOST_STEPS:
            raise TooIntricate
        open_supports = [s - excluded for s in supports if not s & chosen]
        if not open_supports:
            yield chosen
            return
        if len(chosen) == most:
            return
        # Each cover once: with the first variable, or without it and with the second, ...
        passed = excluded
        for variable in min((len(s), sorted(s)) for s in open_supports)[1]:
            yield from covers(chosen | {variable}, passed, most)
            passed |= {variable}

    for most in range(len(frozenset().union(*supports)) + 1):
        found = list(covers(frozenset(), frozenset(), most))
        if found:
            return found
    raise AssertionError("all variables together meet every support")


def _n_standard(terms: IntArray) -> int:
    """Count the standard terms of an ideal that has a power of each variable."""
    if not terms.shape[1]:
        return 1
    last = terms[:, -1]
    total = 0
    pure = last[~terms[:, :-1].any(axis=1)]
    for exponent in range(int(pure.min())):
        below = _minimal(terms[last <= exponent, :-1])
        total += _n_standard(below)
        if total > _MOST_STEPS:
            raise TooIntricate
    return total
