"""Knots of columns: where curves of one column may bend, and surfaces of two.

A polynomial x - t vanishes at a knot t, and a weighted sum of such |x - t| is a curve of x that is
linear between the knots: any such curve, on rows beyond the first knot. In the same way sums of
|x - s| |z - t| are surfaces that are linear in each of two columns between knots.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.rows.reader import RowReader

_PARTS = 64  # into which an interval is cut by a look at the rows
_LOOKS = 5  # at the rows, after which a quantile is known to a billionth of the range
_SAME = 1e-7  # of the range of a column: quantiles that are nearer to each other are one knot


class KnotPolynomials(NamedTuple):
    """Polynomials that vanish at knots, on all terms, and the places of their leading terms."""

    coef: np.ndarray  # (g, n_terms), leading coefficients are 1
    leading: np.ndarray  # (g,)


def knot_polynomials(
    ask: Callable, n_features: int, n_terms: int, n_knots: int, n_pair_knots: int
) -> KnotPolynomials:
    """Return x - t for the knots t of columns x, and (x - s)(z - t) for those of pairs of columns.

    Parameters
    ----------
    ask : callable
        ``ask(work)`` returns ``work(reader)`` for readers of the rows of each class.
    n_features, n_terms : int
        Columns, and terms in DegLex order: all up to degree 1 at least, or 2 for pairs.
    n_knots, n_pair_knots : int
        Of each column: the quantiles 0, 1/n, ..., (n - 1)/n of the rows of all classes together.
    """
    coef, leading = [], []
    for j, knots in enumerate(quantile_knots(ask, n_features, n_knots)):
        for t in knots:
            coef.append({1 + j: 1.0, 0: -t})
            leading.append(1 + j)
    pair_knots = quantile_knots(ask, n_features, n_pair_knots)
    for j in range(n_features):
        for i in range(j):
            # Terms of degree 2 up to those of column j come after 1 and the columns.
            product = 1 + n_features + j * (j + 1) // 2 + i
            for s in pair_knots[i]:
                for t in pair_knots[j]:
                    coef.append({product: 1.0, 1 + i: -t, 1 + j: -s, 0: s * t})
                    leading.append(product)
    dense = np.zeros((len(coef), n_terms))
    for row, of_terms in zip(dense, coef, strict=True):
        row[list(of_terms)] = list(of_terms.values())
    return KnotPolynomials(dense, np.array(leading, dtype=np.intp))


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
