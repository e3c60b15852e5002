"""Step 3: laws with several terms in the target, as least ratios v'Gv / v'Hv.

G is the Gram matrix of terms in (w, Y), H that of their derivatives by y: v'Gv / v'Hv is the mean
square of the error in units of y, to first order.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from vanishing.laws.problem import Reduced
from vanishing.laws.sparse import least_ratio, ratio_backward, ratios
from vanishing.laws.surrogate import exponents_up_to
from vanishing.laws.terms import Evaluator, Term, monomial

MAX_TERMS = 130
_EXACT_TERMS = 220
_EXACT = 1e-13
_EXHAUSTIVE = 7000  # supports of one size
_BEAM, _EXTENSIONS, _BEAM_SIZE = 40, 12, 7
_PER_SIZE = 5
_SCREENED = 4000


class Implicit(NamedTuple):
    """A support of an implicit law, with first coefficients."""

    terms: tuple[Term, ...]
    coef: np.ndarray


def implicit_terms(n_variables: int, degree: int, max_y: int = 2) -> list[Term]:
    """Return the monomials in (w, Y) up to a total degree, of degree at most 2 in Y."""
    rows = exponents_up_to(n_variables + 1, 10_000, degree)
    return [monomial(row) for row in rows if row[-1] <= max_y]


def implicit_supports(
    reduced: Reduced, max_degree: int, max_terms: int, progress
) -> list[Implicit]:
    """Return sparse supports of implicit laws, from the lowest degree that reaches the noise."""
    for degree in range(2, max_degree + 1):
        terms = implicit_terms(reduced.n_variables, degree)
        if len(terms) > _EXACT_TERMS:
            break
        progress()
        rows = _rows(reduced, terms)
        exact = _exact(rows, terms, max_terms)
        if exact is not None:
            return [exact]
        if len(terms) > MAX_TERMS:
            continue
        gram, slope = _matrices(rows)
        if not (np.isfinite(gram).all() and np.isfinite(slope).all() and gram.diagonal().all()):
            break
        # The smallest ratio over all terms: no support of this degree has a smaller one.
        if least_ratio_full(gram, slope) > 1.06 * reduced.noise:
            continue
        found = _search(reduced, gram, slope, terms, max_terms, progress)
        if found:
            return found
    return []


class _Rows(NamedTuple):
    values: np.ndarray
    slopes: np.ndarray


def _rows(reduced: Reduced, terms) -> _Rows:
    """Return values and y-derivatives of terms; rows are divided by their typical gradient."""
    evaluator = Evaluator(np.vstack([reduced.w, reduced.Y]))
    values = evaluator.values(terms)
    with_y = [i for i, term in enumerate(terms) if term.involves(reduced.n_variables)]
    slopes = np.zeros_like(values)
    smooth = Evaluator(np.vstack([reduced.w, reduced.smooth]))
    n = reduced.n_variables
    for i in with_y:
        slopes[i] = smooth.derivative(terms[i], n) / reduced.factor
    scale = np.sqrt(np.mean(values**2, axis=1))
    typical = np.sqrt(np.mean((slopes[with_y] / scale[with_y, None]) ** 2, axis=0))
    pull = reduced.root / typical
    return _Rows(values * pull, slopes * pull)


def _matrices(rows: _Rows):
    n_rows = rows.values.shape[1]
    return rows.values @ rows.values.T / n_rows, rows.slopes @ rows.slopes.T / n_rows


def least_ratio_full(gram, slope) -> float:
    """Return the least ratio over all terms."""
    scale = np.sqrt(gram.diagonal())
    left = gram / scale / scale[:, None] + 1e-13 * len(gram) * np.eye(len(gram))
    right = slope / scale / scale[:, None]
    from scipy.linalg import eigh

    size = len(gram)
    values = eigh(right, left, eigvals_only=True, subset_by_index=[size - 1, size - 1])
    return 1.0 / float(values[0])


def _exact(rows: _Rows, terms, max_terms) -> Implicit | None:
    """Return the law of a table without noise: one singular value that is rounding."""
    n_rows = min(rows.values.shape[1], 2 * len(terms) + 100)
    matrix = rows.values[:, :n_rows].T
    scale = np.sqrt(np.mean(matrix**2, axis=0))
    if not (np.isfinite(scale).all() and scale.all()):
        return None
    _, singular, vectors = np.linalg.svd(matrix / scale, full_matrices=False)
    small = singular < _EXACT * singular[0] * 10
    if not small[-1]:
        return None
    vector = _sparsest(vectors[small])
    part = np.flatnonzero(np.abs(vector) > 1e-5 * np.abs(vector).max())
    if len(part) > max_terms:
        return None
    _, singular, vectors = np.linalg.svd(matrix[:, part] / scale[part], full_matrices=False)
    if not singular[-1] < _EXACT * 10 * singular[0] or not all(np.abs(vectors[-1]) > 1e-7):
        return None
    return Implicit(tuple(terms[i] for i in part), vectors[-1] / scale[part])


def _sparsest(vectors: np.ndarray) -> np.ndarray:
    """Return a vector of a space with few non-zero entries: of its reduced echelon form."""
    if len(vectors) == 1:
        return vectors[0]
    from scipy.linalg import qr

    _, _, order = qr(vectors, pivoting=True, mode="economic")
    pivots = order[: len(vectors)]
    echelon = np.linalg.solve(vectors[:, pivots], vectors)
    counts = np.count_nonzero(np.abs(echelon) > 1e-6 * np.abs(echelon).max(axis=1)[:, None], axis=1)
    return echelon[int(np.argmin(counts))]


def _search(reduced, gram, slope, terms, max_terms, progress) -> list[Implicit]:
    """Return supports of each size whose ratio is close to the noise."""
    exponents = np.array([term.exponents for term in terms])
    scale = np.sqrt(gram.diagonal())
    gram, slope = gram / scale / scale[:, None], slope / scale / scale[:, None]
    best: dict[int, list[tuple[float, tuple[int, ...]]]] = {}

    def note(supports, values):
        for support, value in zip(supports, values, strict=True):
            if value < 1.15 * reduced.noise:
                best.setdefault(len(support), []).append((float(value), tuple(support)))

    k = len(terms)
    frontier = None
    for size in range(3, min(_BEAM_SIZE, max_terms) + 1):
        progress()
        if size <= 5 and comb(k, size) <= _EXHAUSTIVE:
            supports = np.array(list(combinations(range(k), size)))
        elif frontier is None:
            supports = np.array(list(combinations(range(k), 2)))
            frontier = supports[np.argsort(ratios(gram, slope, supports), kind="stable")[:_BEAM]]
            supports = _extended(gram, slope, frontier)
        else:
            supports = _extended(gram, slope, frontier)
        values = ratios(gram, slope, supports)
        order = np.argsort(values, kind="stable")
        frontier = supports[order[:_BEAM]]
        note(supports[order[:50]], values[order[:50]])
    for kept_terms in ratio_backward(gram, slope, max_terms):
        note([kept_terms], [least_ratio(gram, slope, kept_terms)[0]])
    found = []
    for size in sorted(best):
        proper = [s for s in dict.fromkeys(sorted(best[size])) if _is_proper(exponents[list(s[1])])]
        for _, support in proper[:_PER_SIZE]:
            _, vector = least_ratio(gram, slope, support)
            places = list(support)
            found.append(Implicit(tuple(terms[i] for i in places), vector / scale[places]))
    return found


def _extended(gram, slope, frontier) -> np.ndarray:
    """Return supports with one more term each: those whose residual correlates with it most."""
    found = set()
    for support in frontier:
        value, vector = least_ratio(gram, slope, support)
        left = gram[:, support] @ vector - value * (slope[:, support] @ vector)
        left[support] = 0.0
        for j in np.argsort(-np.abs(left), kind="stable")[:_EXTENSIONS]:
            found.add(tuple(sorted((*map(int, support), int(j)))))
    return np.array(sorted(found))


def _is_proper(exponents: np.ndarray) -> bool:
    """Say whether terms have no common factor, and Y in some but not in all."""
    return bool(not exponents.min(axis=0).any() and exponents[:, -1].any())
