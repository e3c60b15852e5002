"""Monomials as rows of exponents: the DegLex order, borders, and how to evaluate terms.

Pure combinatorics: nothing here knows of data or of floating-point numbers. A term
``t_1^{e_1} ... t_n^{e_n}`` is the row ``(e_1, ..., e_n)``. The order is DegLex with
``t_1 < t_2 < ... < t_n``: by degree first, then by ``e_n``, then ``e_{n-1}``, and so on:

    1 < t1 < t2 < t3 < t1^2 < t1 t2 < t2^2 < t1 t3 < t2 t3 < t3^2 < ...
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

EXPONENT = np.uint16  # degrees up to 65,535, two bytes a variable
_BYTES = np.dtype(EXPONENT).itemsize
_FEW_EXPONENTS = 10_000  # of terms whose plan is kept
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
        for j in range(n_features):  # compiled in a fraction of the time that rows take
            terms[i, j] = terms[parent[i], j]
        terms[i, variable[i]] += 1
    return terms


def variables_plan(n_features: int) -> Plan:
    """Plan the evaluation of the constant and the variables."""
    return CONSTANT_PLAN.extended(np.zeros(n_features, dtype=np.intp), np.arange(n_features))


def plan_up_to(n_features: int, max_degree: int, max_terms: int | None = None) -> Plan:
    """Plan the evaluation of all terms up to a degree, in DegLex order.

    With ``max_terms`` the degree is lowered to what keeps to that number, down to 1.
    """
    plan = variables_plan(n_features)
    level, start = terms_of(plan, n_features)[1:], 1
    for _ in range(1, max_degree):
        following = border(level, "gb")
        size = plan.parent.size
        if max_terms is not None and size + len(following.terms) > max_terms:
            break
        plan = plan.extended(following.parent + start, following.variable)
        level, start = following.terms, size
    return plan


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
    if kind == "gb":
        terms, parent, variable = _gb_border(np.ascontiguousarray(previous, dtype=EXPONENT))
        return Border(terms.astype(previous.dtype, copy=False), parent, variable)
    parent, variable = np.nonzero(np.ones(previous.shape, dtype=bool))
    terms = previous[parent]
    terms[np.arange(len(terms)), variable] += 1
    _, order = np.unique(keys(terms), return_index=True)
    return Border(terms[order], parent[order], variable[order])


def has_border(previous: np.ndarray, kind: str) -> bool:
    """Say whether `border` has any terms, without building it."""
    if kind == "gb" and len(previous):
        return _has_gb_border(np.ascontiguousarray(previous, dtype=EXPONENT))
    return bool(previous.size)


@njit(cache=True, nogil=True)
def _as_lists(previous):
    """Return terms of one degree as lists of variables, and how many start below each variable."""
    n_terms, n_features = previous.shape
    degree = 0
    for v in range(n_features):
        degree += previous[0, v]
    lists = np.empty((n_terms, degree), dtype=np.int32)
    end = np.zeros(n_features + 1, dtype=np.intp)  # of the terms whose first variable is below v
    for i in range(n_terms):
        c = 0
        for v in range(n_features - 1, -1, -1):
            for _ in range(previous[i, v]):
                lists[i, c] = v
                c += 1
        end[lists[i, 0] + 1 if degree else 1] += 1
    for v in range(n_features):
        end[v + 1] += end[v]
    return lists, end


@njit(cache=True, nogil=True)
def _has_gb_border(previous):
    lists, end = _as_lists(previous)
    for v in range(previous.shape[1]):
        for i in range(end[v + 1]):
            if _has_divisors(lists, i, v, end[v], end[v + 1]):
                return True
    return False


@njit(cache=True, nogil=True)
def _gb_border(previous):
    """Return the terms of the reduced border, their parents and variables.

    A term is the list of its variables, the last one first: (v, w, ...) with v >= w >= ..., and
    such lists compare as the terms do. With all divisors in O, so is the quotient by the first of
    the list. Going through v, and for each v through the terms whose first variable is at most v,
    which are the first ones, therefore meets every candidate (v, term) once, in order.
    """
    n_features = previous.shape[1]
    lists, end = _as_lists(previous)
    size = 0
    for v in range(n_features):
        size += end[v + 1]
    parent = np.empty(size, dtype=np.intp)
    variable = np.empty(size, dtype=np.intp)
    size = 0
    for v in range(n_features):
        for i in range(end[v + 1]):
            if _has_divisors(lists, i, v, end[v], end[v + 1]):
                parent[size] = i
                variable[size] = v
                size += 1
    terms = np.empty((size, n_features), dtype=EXPONENT)
    for i in range(size):
        for v in range(n_features):
            terms[i, v] = previous[parent[i], v]
        terms[i, variable[i]] += 1
    return terms, parent[:size], variable[:size]


@njit(cache=True, nogil=True)
def _has_divisors(lists, i, v, first, stop):
    """Say whether all divisors of (v, term i) are terms: those from first to stop start with v."""
    degree = lists.shape[1]
    for left_out in range(degree):
        w = lists[i, left_out]
        if w == v or (left_out and w == lists[i, left_out - 1]):
            continue  # the quotient by v is term i, and that by w has been looked for
        low, high = first, stop
        while low < high:
            middle = (low + high) // 2
            smaller, same = False, True
            for c in range(1, degree):
                wanted = lists[i, c - 1 if c <= left_out else c]
                if lists[middle, c] != wanted:
                    smaller, same = lists[middle, c] < wanted, False
                    break
            if same:
                break
            if smaller:
                low = middle + 1
            else:
                high = middle
        if low >= high:
            return False
    return True


def without_multiples(border: Border, of: np.ndarray) -> Border:
    """Return the terms of a border that none of some terms divides."""
    divisible = np.zeros(len(border.terms), dtype=bool)
    for term in of:
        divisible |= (border.terms >= term).all(axis=1)
    return Border(*(part[~divisible] for part in border))


def border_bytes(previous: np.ndarray) -> int:
    """Return about how much memory `border` needs: candidates, their divisors, and keys."""
    n_terms, n_features = previous.shape
    return 3 * n_terms * n_features * n_features * _BYTES


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
    if terms.size > _FEW_EXPONENTS:
        return _plan(terms)
    return _known_plan(terms.tobytes(), terms.shape)


@lru_cache(maxsize=256)
def _known_plan(exponents: bytes, shape: tuple[int, int]) -> tuple[Plan, np.ndarray]:
    """Plan the same terms once: searches, and points that move, evaluate them again and again."""
    return _plan(np.frombuffer(exponents, dtype=EXPONENT).reshape(shape))


def _plan(terms: np.ndarray) -> tuple[Plan, np.ndarray]:
    degrees = terms.sum(axis=1, dtype=np.int64)
    top = int(degrees.max(initial=0))

    # From the top down: a term needs one divisor of one degree less, best one already needed.
    needed = {0: np.zeros((1, terms.shape[1]), dtype=EXPONENT)}
    steps = {}
    below = terms[degrees == top]
    for degree in range(top, 0, -1):
        sorted_keys, first = np.unique(keys(below), return_index=True)
        level = needed[degree] = below[first]
        wanted = terms[degrees == degree - 1]
        index, column, quotients = divisors(level)
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
        quotient_keys, variables, sorted_keys = steps[degree]
        parent.append(start + contains(keys_below, quotient_keys)[1])
        variable.append(variables)
        start += len(keys_below)
        at_degree = degrees == degree
        position[at_degree] = start + contains(sorted_keys, keys(terms[at_degree]))[1]
        keys_below = sorted_keys
    return Plan(np.concatenate(parent), np.concatenate(variable)), position
