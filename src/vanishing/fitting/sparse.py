"""Which few terms? Sparse least squares, from Gram matrices alone."""

from math import comb

import numba
import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from vanishing.fitting import settings

_PIVOT = 1e-8  # relative: what is left of a term that others nearly span


def price(count: float) -> float:
    """Return what a term has to earn on ``count`` rows, in units of twice the log-likelihood."""
    return 2 * np.log(settings.PRICED_TERMS) + np.log(count)


@numba.njit(cache=True)
def _copy(values, into):
    """Copy values one by one: an assignment of slices takes a second and a half to compile."""
    for i in range(values.size):
        into[i] = values[i]


@numba.njit(cache=True, error_model="numpy")
def _sweep(table, k, sign):
    """Take term k into the fit (sign 1), or out of it again (sign -1).

    G_SS^-1 of the terms inside is kept as -table[S, S], their coefficients in table[S, y].
    """
    pivot = table[k, k]
    row = table[k].copy()
    for i in range(len(table)):
        if i != k:
            factor = row[i] / pivot
            for j in range(len(table)):
                table[i, j] -= factor * row[j]
    for i in range(len(table)):
        table[i, k] = table[k, i] = sign * row[i] / pivot
    table[k, k] = -1.0 / pivot


@numba.njit(cache=True, error_model="numpy")
def _best_exchange(table, inside, scale):
    """Return (residual, i, j) of the best exchange of a term i inside for a term j outside."""
    y = len(table) - 1
    best, best_i, best_j = np.inf, -1, -1
    for i in range(y):
        if not inside[i]:
            continue
        inverse = -table[i, i]
        without = table[y, y] + table[i, y] ** 2 / inverse
        for j in range(y):
            if inside[j]:
                continue
            left = table[j, j] + table[i, j] ** 2 / inverse
            if left <= _PIVOT * scale[j]:
                continue
            cross = table[j, y] + table[i, j] * table[i, y] / inverse
            residual = without - cross**2 / left
            if residual < best:
                best, best_i, best_j = residual, i, j
    return best, best_i, best_j


@numba.njit(cache=True, error_model="numpy")
def _forward(table, max_terms, supports):
    """Add the term that helps most, exchange terms while that helps, and note each support."""
    y = len(table) - 1
    inside = np.zeros(y, np.bool_)
    scale = np.empty(y)
    for j in range(y):
        scale[j] = table[j, j]
    for size in range(max_terms):
        best, chosen = 0.0, -1
        for j in range(y):
            if not inside[j] and table[j, j] > _PIVOT * scale[j]:
                gain = table[j, y] ** 2 / table[j, j]
                if gain > best:
                    best, chosen = gain, j
        if chosen < 0:
            return size
        _sweep(table, chosen, 1.0)
        inside[chosen] = True
        for _ in range(3 * size):
            residual, i, j = _best_exchange(table, inside, scale)
            if not residual < table[y, y] * (1.0 - 1e-9):
                break
            _sweep(table, i, -1.0)
            _sweep(table, j, 1.0)
            inside[i], inside[j] = False, True
        _copy(inside, supports[size])
        if not table[y, y] > 0.0:
            return size + 1
    return max_terms


@numba.njit(cache=True, error_model="numpy")
def _backward(table, max_terms, supports):
    """Drop the term that matters least, again and again; ``table`` has all terms swept in."""
    y = len(table) - 1
    inside = np.ones(y, np.bool_)
    for size in range(y, 0, -1):
        if size <= max_terms:
            _copy(inside, supports[size - 1])
        least, chosen = np.inf, -1
        for i in range(y):
            if inside[i]:
                loss = table[i, y] ** 2 / -table[i, i]
                if loss < least:
                    least, chosen = loss, i
        pivot = table[chosen, chosen]
        row = table[chosen].copy()
        inside[chosen] = False
        for i in range(y + 1):
            if i == y or inside[i]:
                factor = row[i] / pivot
                for j in range(y + 1):
                    if j == y or inside[j]:
                        table[i, j] -= factor * row[j]


@numba.njit(cache=True, error_model="numpy")
def _scan_pairs(table, start, path, supports, residuals):
    """Complete ``path`` by each pair of terms from ``start`` on; keep the best supports."""
    y = len(table) - 1
    size = supports.shape[1]
    for i in range(start, y):
        if table[i, i] <= _PIVOT:
            continue
        without = table[y, y] - table[i, y] ** 2 / table[i, i]
        for j in range(i + 1, y):
            left = table[j, j] - table[i, j] ** 2 / table[i, i]
            if left <= _PIVOT:
                continue
            cross = table[j, y] - table[i, j] * table[i, y] / table[i, i]
            residual = without - cross**2 / left
            if residual < residuals[-1]:
                place = len(residuals) - 1
                while place and residual < residuals[place - 1]:
                    residuals[place] = residuals[place - 1]
                    _copy(supports[place - 1], supports[place])
                    place -= 1
                residuals[place] = residual
                _copy(path[: size - 2], supports[place])
                supports[place, size - 2], supports[place, size - 1] = i, j


@numba.njit(cache=True, error_model="numpy")
def _exhaustive(table, supports, residuals):
    """Find the best supports of a size among all: terms are taken in one after the other."""
    y, size = len(table) - 1, supports.shape[1]
    tables = np.empty((size - 1, y + 1, y + 1))
    for j in range(y + 1):
        _copy(table[j], tables[0, j])
    path = np.full(size, -1)
    depth = 0
    while depth >= 0:
        if depth == size - 2:
            _scan_pairs(tables[depth], path[depth] + 1, path, supports, residuals)
            depth -= 1
            continue
        path[depth] += 1
        i = path[depth]
        if i > y - size + depth:
            depth -= 1
        elif tables[depth, i, i] > _PIVOT:
            for j in range(i + 1, y + 1):
                factor = tables[depth, j, i] / tables[depth, i, i]
                for k in range(i + 1, y + 1):
                    tables[depth + 1, j, k] = tables[depth, j, k] - factor * tables[depth, i, k]
            depth += 1
            path[depth] = i


def _exhaustive_supports(table, max_terms) -> set[tuple[int, ...]]:
    """Return the best supports of each small size, among the first terms if there are many."""
    best = set()
    for size in range(2, min(settings.EXHAUSTIVE_SIZE, max_terms) + 1):
        k = len(table) - 1
        while comb(k, size) > settings.EXHAUSTIVE:
            k -= 1
        part = [*range(k), len(table) - 1]
        supports = np.full((settings.SUPPORTS_PER_SIZE, size), -1)
        residuals = np.full(settings.SUPPORTS_PER_SIZE, np.inf)
        _exhaustive(np.ascontiguousarray(table[np.ix_(part, part)]), supports, residuals)
        best |= {tuple(row) for row in supports.tolist() if row[0] >= 0}
    return best


def sparse_supports(gram, cross, norm, max_terms) -> list[tuple[tuple[int, ...], float]]:
    """Return supports of up to ``max_terms`` terms with their residuals, some of each size.

    Parameters
    ----------
    gram : array of shape (k, k)
        Of terms, the simplest first.
    cross : array of shape (k,)
    norm : float
        The residual of a support is norm - c' G^-1 c over its terms.
    max_terms : int

    Returns
    -------
    supports : list of (terms, residual)
        All of few terms are tried; by forward selection with exchanges, and by backward
        elimination from all terms.
    """
    k = len(cross)
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    table = np.empty((k + 1, k + 1))
    table[:k, :k] = gram / scale / scale[:, np.newaxis]
    table[k, :k] = table[:k, k] = cross / scale / np.sqrt(norm)
    table[k, k] = 1.0
    max_terms = min(max_terms, k)
    forward, backward = np.zeros((max_terms, k), bool), np.zeros((max_terms, k), bool)
    size = _forward(table.copy(), max_terms, forward)
    inverse = np.linalg.inv(table[:k, :k] + 1e-10 * np.eye(k))
    coef = inverse @ table[:k, k]
    full = np.empty_like(table)
    full[:k, :k] = -(inverse + inverse.T) / 2
    full[k, :k] = full[:k, k] = coef
    full[k, k] = 1.0 - table[:k, k] @ coef
    _backward(full, max_terms, backward)
    rows = np.vstack([forward[:size], backward])
    candidates = {tuple(row.nonzero()[0].tolist()) for row in rows}
    candidates |= _exhaustive_supports(table, max_terms)
    return [(support, norm * _residual(table, support)) for support in sorted(candidates)]


def _residual(table, support) -> float:
    """Return 1 - c' G^-1 c on a support; sweeps of nearly dependent terms pile up rounding."""
    part = np.array(support)
    factor, failed = dpotrf(table[part[:, np.newaxis], part], lower=1, clean=0)
    if failed:
        return np.inf
    projected = dtrtrs(factor, table[part, -1], lower=1)[0]
    return max(float(1.0 - projected @ projected), 1e-14)


def regressions(gram, target: int, max_terms: int) -> list[np.ndarray]:
    """Return sparse regressions of one term on the others, as supports with that term."""
    k = len(gram)
    order = np.array([*range(target), *range(target + 1, k), target])
    supports = np.zeros((max_terms - 1, k - 1), bool)
    table = np.ascontiguousarray(gram[order[:, np.newaxis], order])
    size = _forward(table, max_terms - 1, supports)
    return [np.array(sorted([*order[:-1][row].tolist(), target])) for row in supports[:size]]
