"""Monomials as rows of exponents: the DegLex order, borders, and how to evaluate terms.

Pure combinatorics: nothing here knows of data or of floating-point numbers. A term
``t_1^{e_1} ... t_n^{e_n}`` is the row ``(e_1, ..., e_n)``. The order is DegLex with
``t_1 < t_2 < ... < t_n``: by degree first, then by ``e_n``, then ``e_{n-1}``, and so on:

    1 < t1 < t2 < t3 < t1^2 < t1 t2 < t2^2 < t1 t3 < t2 t3 < t3^2 < ...
"""

from typing import NamedTuple

import numpy as np
from numba import njit

EXPONENT = np.uint16  # degrees up to 65,535, two bytes a variable
MAX_DEGREE = int(np.iinfo(EXPONENT).max)


class Border(NamedTuple):
    """Terms of one degree in DegLex order, each a known term times a variable.

    ``terms[i] = previous[parent[i]] * t_{variable[i]}``, where ``previous`` are the terms of
    the degree below that the border was built from.
    """

    terms: np.ndarray
    parent: np.ndarray
    variable: np.ndarray


class Plan(NamedTuple):
    """How to evaluate terms one after the other: term i is term ``parent[i]`` times a column.

    Term 0 is the constant; ``parent[i] < i`` for all others, so that one multiplication a
    term and row evaluates them all.
    """

    parent: np.ndarray
    variable: np.ndarray

    def extended(self, parent: np.ndarray, variable: np.ndarray) -> "Plan":
        """Return the plan with further terms behind the ones it has."""
        return Plan(
            np.concatenate([self.parent, parent]), np.concatenate([self.variable, variable])
        )


CONSTANT_PLAN = Plan(np.full(1, -1, dtype=np.intp), np.full(1, -1, dtype=np.intp))


def terms_of(plan: Plan, n_features: int) -> np.ndarray:
    """Return the exponents of a plan's terms."""
    return _terms_of(plan.parent, plan.variable, n_features)


@njit(cache=True, nogil=True)
def _terms_of(parent, variable, n_features):
    terms = np.zeros((parent.size, n_features), dtype=EXPONENT)
    for i in range(1, parent.size):
        terms[i] = terms[parent[i]]
        terms[i, variable[i]] += 1
    return terms


def variables_plan(n_features: int) -> Plan:
    """Plan the evaluation of the constant and the variables."""
    return CONSTANT_PLAN.extended(np.zeros(n_features, dtype=np.intp), np.arange(n_features))


def keys(terms: np.ndarray) -> np.ndarray:
    """Return byte strings that compare as the terms do in DegLex, within one degree.

    Big-endian exponents, the last variable's first, compare byte by byte as (e_n, ..., e_1)
    do, so that NumPy's sorting and searching of strings serve for exact look-ups of terms.
    """
    rows = np.ascontiguousarray(terms[:, ::-1], dtype=">u2")
    return rows.view(f"S{rows.shape[1] * 2}").ravel()


def deglex_order(terms: np.ndarray) -> np.ndarray:
    """Return the permutation that sorts terms (of any degrees) by DegLex."""
    return np.lexsort([*terms.T, terms.sum(axis=1, dtype=np.int64)])


def contains(sorted_keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Look keys up in sorted keys: whether each is there, and where."""
    if not len(sorted_keys):
        return np.zeros(len(wanted), dtype=bool), np.zeros(len(wanted), dtype=np.intp)
    place = np.minimum(np.searchsorted(sorted_keys, wanted), len(sorted_keys) - 1)
    return sorted_keys[place] == wanted, place


def divisors(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all divisors of one degree less: (index of the term, variable, divisor)."""
    index, variable = np.nonzero(terms)
    quotients = terms[index]
    quotients[np.arange(len(index)), variable] -= 1
    return index, variable, quotients


def border(previous: np.ndarray, kind: str) -> Border:
    """Return the border of degree d above the terms of degree d - 1 of an order ideal.

    Parameters
    ----------
    previous : ndarray of shape (k, n_features)
        The terms of O of degree d - 1, in DegLex order.
    kind : {"gb", "bb"}
        "gb": terms all of whose divisors of degree d - 1 are in O (reduced Groebner basis).
        "bb": all products of a variable and a term of ``previous`` (border basis).

    Returns
    -------
    Border
        The border terms in DegLex order, without duplicates.
    """
    n_terms, n_features = previous.shape
    if kind == "gb":
        # With all divisors in O, so is the quotient by the last variable of the term: going on
        # from the last variable of each term of O meets every candidate exactly once. And every
        # variable of the term occurs in O, from degree 2 on.
        used = previous.any(axis=0)
        if used.any():
            last = n_features - 1 - np.argmax(previous[:, ::-1] > 0, axis=1)
            choices = used & (np.arange(n_features) >= last[:, np.newaxis])
        else:
            choices = np.ones((n_terms, n_features), dtype=bool)
    else:
        choices = np.ones((n_terms, n_features), dtype=bool)
    parent, variable = np.nonzero(choices)
    terms = previous[parent]
    terms[np.arange(len(terms)), variable] += 1
    if kind == "gb":
        index, _, quotients = divisors(terms)
        known, _ = contains(keys(previous), keys(quotients))
        keep = np.ones(len(terms), dtype=bool)
        keep[index[~known]] = False
        keep = np.flatnonzero(keep)
        order = keep[np.argsort(keys(terms[keep]), kind="stable")]
    else:
        _, order = np.unique(keys(terms), return_index=True)
    return Border(terms[order], parent[order], variable[order])


def border_bytes(previous: np.ndarray) -> int:
    """Return about how much memory `border` needs: candidates, their divisors, and keys."""
    n_terms, n_features = previous.shape
    return 3 * n_terms * n_features * n_features * np.dtype(EXPONENT).itemsize


def plan(terms: np.ndarray) -> tuple[Plan, np.ndarray]:
    """Plan the evaluation of any terms, adding the divisors on the way that are not among them.

    Parameters
    ----------
    terms : ndarray of shape (n_terms, n_features)
        Exponents, in any order, repetitions allowed.

    Returns
    -------
    plan : Plan
        The constant first, then all terms needed, degree by degree.
    position : ndarray of shape (n_terms,)
        Where each of ``terms`` is in the plan.
    """
    terms = np.asarray(terms, dtype=EXPONENT)
    degrees = terms.sum(axis=1, dtype=np.int64)
    top = int(degrees.max(initial=0))

    # From the top down: a term needs one divisor of one degree less, best one already needed.
    needed = {0: np.zeros((1, terms.shape[1]), dtype=EXPONENT)}
    steps = {}
    below = terms[degrees == top]
    for degree in range(top, 0, -1):
        sorted_keys, first = np.unique(keys(below), return_index=True)
        here = needed[degree] = below[first]
        wanted = terms[degrees == degree - 1]
        index, column, quotients = divisors(here)
        known, _ = contains(np.sort(keys(wanted)), keys(quotients))
        # The first known divisor of each term, or its first divisor where none is known.
        rank = np.lexsort([~known, index])
        chosen = rank[np.flatnonzero(np.diff(index[rank], prepend=-1))]
        steps[degree] = (keys(quotients[chosen]), column[chosen], sorted_keys)
        below = np.concatenate([wanted, quotients[chosen]])

    parent, variable = [CONSTANT_PLAN.parent], [CONSTANT_PLAN.variable]
    position = np.zeros(len(terms), dtype=np.intp)
    start, keys_below = 0, keys(needed[0])
    for degree in range(1, top + 1):
        quotient_keys, variables, here = steps[degree]
        parent.append(start + contains(keys_below, quotient_keys)[1])
        variable.append(variables)
        start += len(keys_below)
        asked = degrees == degree
        position[asked] = start + contains(here, keys(terms[asked]))[1]
        keys_below = here
    return Plan(np.concatenate(parent), np.concatenate(variable)), position
