"""Knots of columns: where curves of one column may bend, and surfaces of two.

A polynomial x - t vanishes at a knot t, and a weighted sum of such |x - t| is a curve of x that is
linear between the knots: any such curve, on rows beyond the first knot. In the same way sums of
|g - t| are curves of a polynomial g, and sums of |x - s| |z - t| are surfaces that are linear in
each of two columns between knots.
"""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from vanishing.algebra.monomials import Plan, terms_of
from vanishing.rows.reader import RowReader

_PARTS = 64  # into which an interval is cut by a look at the rows
_LOOKS = 5  # at the rows, after which a quantile is known to a billionth of the range
_SAME = 1e-7  # of the range of a column: quantiles that are nearer to each other are one knot
_BELOW = 4.0  # standard deviations under the mean, where hardly any row is: |g - t| does not bend
_TIE = 1e-9  # of all rows: what pairs tell classes apart by is as large where it differs by less


class KnotPolynomials(NamedTuple):
    """Polynomials that vanish at knots, on all terms, and the places of their leading terms."""

    coef: np.ndarray  # (g, n_terms), leading coefficients are 1
    leading: np.ndarray  # (g,)


def knot_polynomials(knots: list[np.ndarray], n_terms: int) -> KnotPolynomials:
    """Return x - t for the knots t of columns x.

    Parameters
    ----------
    knots : list of ndarray
        Of each column.
    n_terms : int
        The constant, the columns, and maybe others.
    """
    columns = np.repeat(np.arange(len(knots)), [len(of_column) for of_column in knots])
    coef = np.zeros((len(columns), n_terms))
    coef[np.arange(len(columns)), 1 + columns] = 1.0
    coef[:, 0] = -np.concatenate([np.zeros(0), *knots])
    return KnotPolynomials(coef, 1 + columns)


def level_polynomials(
    coef: np.ndarray, leading: np.ndarray, products: np.ndarray, n_levels: int
) -> KnotPolynomials:
    """Return g - t for levels t of polynomials g that are not constant.

    They are the quantiles 0, 1/n, ..., (n - 1)/n of a normal distribution with the mean and the
    variance of g, where the first is below nearly all rows: sums of |g - t| are curves of g.

    Parameters
    ----------
    coef : ndarray of shape (g, n_terms)
    leading : ndarray of shape (g,)
    products : ndarray of shape (n_terms, n_terms)
        Mean products of the terms, the constant first.
    n_levels : int
        Of each polynomial.
    """
    means = coef @ products[0]
    variance = np.einsum("ij,ij->i", coef @ products, coef) - means**2
    sizes = np.abs(coef) @ np.sqrt(products.diagonal())
    varies = variance > 1e-12 * sizes**2  # else it is rounding
    steps = np.append(-_BELOW, ndtri(np.arange(1, n_levels) / n_levels))[:n_levels]
    levels = means[varies, np.newaxis] + np.sqrt(variance[varies, np.newaxis]) * steps
    shifted = np.repeat(coef[varies], n_levels, axis=0)
    shifted[:, 0] -= levels.ravel()
    return KnotPolynomials(shifted, np.repeat(leading[varies], n_levels))


def pair_polynomials(
    pairs: list[tuple[int, int]], knots: list[np.ndarray], terms: np.ndarray
) -> KnotPolynomials:
    """Return (x - s)(z - t) for the knots s and t of pairs of columns x and z.

    Parameters
    ----------
    pairs : list of (int, int)
    knots : list of ndarray
        Of each column.
    terms : ndarray of shape (n_terms, n_features)
        Exponents: the constant, the columns, the products of all pairs, and maybe others.
    """
    products = np.flatnonzero(terms.sum(axis=1) == 2)
    places = {tuple(np.flatnonzero(terms[k]).tolist()): int(k) for k in products}
    coef = np.zeros((sum(len(knots[i]) * len(knots[j]) for i, j in pairs), len(terms)))
    leading = np.zeros(len(coef), dtype=np.intp)
    start = 0
    for i, j in pairs:
        s, t = (values.ravel() for values in np.meshgrid(knots[i], knots[j], indexing="ij"))
        rows = slice(start, start + len(s))
        coef[rows, places[i, j]] = 1.0
        coef[rows, 1 + i], coef[rows, 1 + j], coef[rows, 0] = -t, -s, s * t
        leading[rows] = places[i, j]
        start += len(s)
    return KnotPolynomials(coef, leading)


def with_products(plan: Plan, n_features: int, pairs: list[tuple[int, int]]) -> Plan:
    """Return a plan that has the products of pairs of columns, too, still in the order of terms."""
    if terms_of(plan, n_features)[-1].sum() >= 2:
        return plan
    ordered = sorted(pairs, key=lambda pair: pair[::-1])
    i, j = np.array(ordered, dtype=np.intp).reshape(-1, 2).T
    return plan.extended(1 + i, j)


def telling_pairs(
    ask: Callable, knots: list[np.ndarray], n_pairs: int | None
) -> list[tuple[int, int]]:
    """Return the pairs of columns whose cells between knots tell classes apart most.

    Beyond what the two columns do one by one: the sums of squares that the cells explain of the
    classes' indicators, without those that two step functions explain together.

    Parameters
    ----------
    ask : callable
        ``ask(work)`` returns ``work(reader)`` for readers of the rows of each class.
    knots : list of ndarray
        Of each column.
    n_pairs : int or None
        How many at most; None means all of them.

    Returns
    -------
    pairs : list of (int, int)
        In the order of columns.
    """
    pairs = [(i, j) for i, j in combinations(range(len(knots)), 2) if len(knots[i]) * len(knots[j])]
    if n_pairs is None or len(pairs) <= n_pairs:
        return pairs
    n_cells = max(len(of_column) for of_column in knots)
    bounds = np.full((len(knots), n_cells - 1), np.inf)  # of a cell, without the first knot
    for row, of_column in zip(bounds, knots, strict=True):
        row[: len(of_column[1:])] = of_column[1:]
    classes = np.array(ask(lambda reader: reader.ask("cell_weights", bounds)[0]))
    total, gains = classes.sum(axis=0), []
    weight = np.trace(total[0, :, 0, :])
    for i, j in pairs:
        cells = total[i, :, j, :]
        rows, columns = (np.diag(cells.sum(axis=axis)) for axis in (1, 0))
        steps = np.linalg.pinv(np.block([[rows, cells], [cells.T, columns]]), hermitian=True)
        own = classes[:, i, :, j, :]
        by_step = np.concatenate([own.sum(axis=2), own.sum(axis=1)], axis=1)
        by_cell = np.sum(own**2 / np.where(cells > 0.0, cells, 1.0))
        gains.append(by_cell - np.sum(by_step @ steps * by_step))
    order = np.argsort(-np.round(np.array(gains) / (_TIE * weight)), kind="stable")
    return sorted(pairs[place] for place in order[:n_pairs])


def quantile_knots(ask: Callable, n_features: int, n_knots: int) -> list[np.ndarray]:
    """Return different quantiles 0, 1/n, ..., (n - 1)/n of each column; none of constant ones.

    Rows are asked how many are below some values, which adds up wherever they are, until each
    quantile is known: the smallest number that this share of all rows does not exceed.
    """
    if not n_knots:
        return [np.zeros(0)] * n_features
    low, high = zip(*ask(lambda reader: reader.ask("ranges")), strict=True)
    low, high = np.min(low, axis=0), np.max(high, axis=0)
    levels = np.arange(1, n_knots) / n_knots
    start = np.repeat(low[:, np.newaxis], len(levels), axis=1)
    end = np.repeat(high[:, np.newaxis], len(levels), axis=1)
    shares = np.arange(1, _PARTS) / _PARTS
    for _ in range(_LOOKS if len(levels) else 0):
        values = start[..., np.newaxis] + (end - start)[..., np.newaxis] * shares
        flat = values.reshape(n_features, -1)

        def weights(reader: RowReader, flat=flat):
            (up_to,) = reader.ask("weights_up_to", flat)
            return up_to, reader.total_weight

        answers = ask(weights)
        up_to = sum(answer for answer, _ in answers).reshape(values.shape)
        total = sum(weight for _, weight in answers)
        # Sums of weights are rounded.
        reached = up_to >= (1.0 - 1e-12) * total * levels[:, np.newaxis]
        first = np.where(reached.any(axis=2), reached.argmax(axis=2), _PARTS - 1)
        ends = np.concatenate([start[..., np.newaxis], values, end[..., np.newaxis]], axis=2)
        start = np.take_along_axis(ends, first[..., np.newaxis], axis=2)[..., 0]
        end = np.take_along_axis(ends, first[..., np.newaxis] + 1, axis=2)[..., 0]
    knots = np.column_stack([low, end])
    steps = np.diff(knots, axis=1, prepend=-np.inf)
    new = steps > _SAME * (high - low)[:, np.newaxis]
    below = knots < (high - _SAME * (high - low))[:, np.newaxis]
    return [of_column[kept] for of_column, kept in zip(knots, new & below, strict=True)]
