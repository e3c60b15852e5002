"""Sums of many columns: y = c0 + c1 x1 + ... + cn xn, more columns than a search can take."""

from collections.abc import Callable, Iterator
from math import comb, log
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from vanishing.algebra.terms import monomial
from vanishing.fitting import settings as of_fitting
from vanishing.fitting.lack_of_fit import (
    Lack,
    lack_of_products,
    lack_of_terms,
    rows_of_products,
    signs_of_neighbours,
    standardised,
)
from vanishing.fitting.normal import inverse, with_fixed
from vanishing.fitting.sparse import price, regressions
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate
from vanishing.laws.choose import Choice, choose
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.reductions import ReductionState
from vanishing.laws.refit import Fitted
from vanishing.laws.unequal import with_equal_noise

_EPSILON = float(np.finfo(float).eps)


class _Rows(NamedTuple):
    """Standardised columns and the centred target, times the roots of weights.

    Attributes
    ----------
    columns : array of shape (n_columns, n_rows)
    y : array of shape (n_rows,)
    gram : array of shape (n_columns, n_columns)
        Mean products of columns.
    n_observations : float
        Number of observations.
    """

    columns: np.ndarray
    y: np.ndarray
    gram: np.ndarray
    n_observations: float

    def fitted(self, places) -> tuple[np.ndarray, np.ndarray, float]:
        """Return coefficients of some columns, the inverse of their matrix, and the mean square.

        Matrices of products see half of the digits: a second step, on the rows, sees all.
        """
        chosen = self.columns[places]
        whole = inverse(self.gram[np.ix_(places, places)])
        coef = np.zeros(len(places))
        left = self.y
        for _ in range(3):
            coef = coef + whole @ (chosen @ left) / self.n_observations
            left = self.y - coef @ chosen
        return coef, whole, float(left @ left) / self.n_observations


def _standard_rows(table: LawTable) -> _Rows:
    rows = slice(0, settings.CHOICE_ROWS)
    weight = table.weight[rows]
    root, count = np.sqrt(weight), float(weight.sum())
    columns = standardised(table.columns[:, rows], weight) * root
    y = (table.y[rows] - np.average(table.y[rows], weights=weight)) * root
    return _Rows(columns, y, columns @ columns.T / count, count)


def sum_of_columns(
    table: LawTable, progress: Callable = lambda: None, n_tried: int | None = None
) -> Choice | None:
    """Return the law that the target is a sum of columns, each times a number, or None.

    Columns without which the sum is as good are left out; ``best.reduced.table`` has the others.
    ``progress`` is called now and then: it may raise, to interrupt. ``n_tried`` columns and terms
    were there to choose from, if they were more than the table has.
    """
    allowed = np.arange(len(table.columns))
    constant = True
    if table.dimensions is not None:
        same = np.abs(table.dimensions - table.dimensions[-1]).max(axis=1) < 1e-9
        allowed, constant = np.flatnonzero(same[:-1]), not table.dimensions[-1].any()
    if not len(allowed):
        return None
    progress()
    rows = _standard_rows(table.of_columns(allowed))
    progress()
    supports = [s for s in _supports(rows) if len(s) and _freedom(rows.n_observations, len(s)) > 0]
    if not supports:
        return None
    chosen = min(supports, key=lambda support: _score(rows, support))
    used = table.of_columns(allowed[chosen])
    progress()
    fitted = _of_rows(used, constant)
    progress()
    if not fitted.exact:
        used = with_equal_noise(used, fitted.predicted)
        fitted = fitted if used.precision is None else _of_rows(used, constant)
    state = ReductionState(np.zeros(len(chosen)), np.eye(len(chosen)), used.positive)
    one = np.ones(table.n_rows)
    reduced = Reduced(used, state, used.columns, one, used.y, fitted.predicted, fitted.mean_square)
    score = table.n_observations * np.log(max(fitted.mean_square, 1e-24 * table.norm))
    score += price(table.n_observations) * fitted.n_terms
    determined = fitted.exact or fitted.is_determined()
    candidate = LawCandidate(fitted, reduced, float(score), determined)
    if fitted.exact:
        return Choice(candidate, np.inf, 0.0, "")
    choice = choose([candidate], _LackOfSum(used, progress), searched=False)
    explained = fitted.mean_square < settings.SUM_LEFT * used.variance
    if choice is None or choice.reason or not explained:
        return None
    if not _is_more_than_chance(candidate, n_tried or len(allowed)):
        return None
    progress()
    return choice._replace(evidence=max(_evidence(used, fitted), settings.EVIDENCE))


def _freedom(count: float, n_columns: int) -> float:
    """Return how many observations are left to judge a sum by, beyond the least number."""
    return count - n_columns - 1 - settings.SPARE_ROWS


def _score(rows: _Rows, support) -> float:
    """Return twice the negative log-likelihood of a sum, and what the choice of columns costs."""
    n, k = len(rows.columns), len(support)
    _, _, square = rows.fitted(support)
    least = settings.EXACT_LINK**2 * float(rows.y @ rows.y) / rows.n_observations
    return (
        rows.n_observations * log(max(square, least))
        + 2 * log(comb(n, k))
        + k * log(rows.n_observations)
    )


def _supports(rows: _Rows) -> list[np.ndarray]:
    """Return columns that sums may have: all that matter, and the first that forward steps take."""
    n = len(rows.columns)
    supports = []
    if _freedom(rows.n_observations, n) > 0:
        supports.append(_needed(rows, np.arange(n)))
    if rows.n_observations < settings.ROWS_FOR_ALL * n:
        size = np.sqrt(float(rows.y @ rows.y) / rows.n_observations)
        cross = rows.columns @ rows.y / rows.n_observations / size
        gram = np.block([[rows.gram, cross[:, None]], [cross[None], np.ones((1, 1))]])
        most = min(n, int(rows.n_observations / settings.ROWS_PER_TERM), settings.FORWARD_COLUMNS)
        steps = [s[s < n] for s in regressions(gram, n, most + 1)] if most else []
        if steps:
            supports.append(_needed(rows, min(steps, key=lambda s: _score(rows, s))))
    return supports


def _needed(rows: _Rows, places: np.ndarray) -> np.ndarray:
    """Return columns without those that matter least, while they may be there by chance."""
    coef, whole, square = rows.fitted(places)
    rounding = (settings.EXACT_LINK**2) * float(rows.y @ rows.y) / rows.n_observations
    # With many rows as what would be a lack of fit; out of many columns one does as well by chance.
    enough = settings.SIGNIFICANT / len(rows.columns)
    if rows.n_observations >= settings.ROWS_FOR_ALL * len(rows.columns):
        enough = of_fitting.SURE_LACK
    kept = np.ones(len(places), dtype=bool)
    while kept.any():
        gain = np.where(kept, coef**2 / np.maximum(whole.diagonal(), _EPSILON), np.inf)
        least = int(np.argmin(gain))
        free = rows.n_observations - kept.sum() - 1
        noise = max(square / free, rounding / rows.n_observations)
        if fdtrc(1.0, free, gain[least] / noise) < enough:
            break
        square += gain[least]
        column = whole[least] / whole[least, least]
        coef = coef - column * coef[least]
        whole = whole - np.outer(column, whole[least])
        whole[least, least] = 1.0
        kept[least] = False
    return places[kept]


def _of_rows(table: LawTable, constant: bool) -> Fitted:
    """Return the sum of all columns of a table, with a constant where it is needed.

    In centred columns: how far from zero they are does not matter.
    """
    first = table.at(slice(0, settings.CHOICE_ROWS))
    mean = np.average(first.columns, axis=1, weights=first.weight)
    centred = first.columns - mean[:, np.newaxis]
    spread = np.sqrt(np.average(centred**2, axis=1, weights=first.weight))
    rows = _standard_rows(first)
    coef, whole, square = rows.fitted(np.arange(len(mean)))
    # What rounding leaves of the sum, and of numbers that are far from zero.
    largest = np.abs(coef / spread) @ np.abs(table.columns).max(axis=1)
    rounding = settings.EXACT * float(np.abs(coef).sum()) + 4 * _EPSILON * float(largest)
    coef, whole = coef / spread, whole / np.outer(spread, spread) / rows.n_observations
    # The value where all columns are 0, and its variance for noise of variance 1.
    start = float(np.average(first.y, weights=first.weight) - coef @ mean)
    slope = whole @ mean
    variance = 1.0 / rows.n_observations + float(mean @ slope)
    free = rows.n_observations - len(coef) - 1
    noise = max(square * rows.n_observations / free, rounding**2)
    exponents = np.eye(len(coef) + 1)[[-1, *range(len(coef))]]
    if constant and fdtrc(1.0, free, start**2 / variance / noise) < settings.SIGNIFICANT:
        exponents = np.vstack([exponents, np.zeros(len(coef) + 1)])
        coef = np.append(coef, start)
        whole = np.block([[whole, -slope[:, None]], [-slope[None], np.full((1, 1), variance)]])
    else:
        coef = coef + slope * start / variance
        whole = whole - np.outer(slope, slope) / variance
    predicted = coef[: len(mean)] @ table.columns + coef[len(mean) :].sum()
    jacobian = np.vstack([table.columns, np.ones(table.n_rows)])[: len(coef)] * np.sqrt(
        table.weight
    )
    left = float(np.average((table.y - predicted) ** 2, weights=table.weight))
    return Fitted(
        tuple(map(monomial, exponents)),
        np.append(1.0, -coef),
        0,
        with_fixed(whole, 0),
        left,
        predicted,
        np.sum(jacobian * (whole @ jacobian), axis=0),
        left <= rounding**2,
    )


class _LackOfSum:
    """What else of the columns explains the residuals of a sum: it must be a sum, and of these."""

    def __init__(self, table: LawTable, progress: Callable):
        left_out = np.empty((0, table.n_rows)) if table.left_out is None else table.left_out
        self.rows = slice(0, rows_of_products(len(table.columns) + len(left_out)))
        self.weight = table.weight[self.rows]
        self.columns = standardised(table.columns[:, self.rows], self.weight)
        self.left_out = standardised(left_out[:, self.rows], self.weight)
        self.progress = progress

    def __call__(self, residuals: np.ndarray, predicted: np.ndarray) -> Lack:
        """Return what explains most, out of what a sum has to leave unexplained."""
        lacks = self._lacks(residuals[self.rows], predicted[np.newaxis, self.rows])
        return max(lacks, key=lambda lack: (lack.is_large, lack.size))

    def _lacks(self, left: np.ndarray, predicted: np.ndarray) -> Iterator[Lack]:
        one, whole = np.ones_like(self.weight)[np.newaxis], standardised(predicted, self.weight)
        own, squares = np.vstack([one, self.columns]), self.columns * self.columns
        of_sum = np.vstack([whole**2, whole**3])
        for more in (of_sum, squares, squares * self.columns, self.left_out):
            self.progress()
            if len(more):
                yield lack_of_terms(own, more, left, self.weight)
        self.progress()
        every = np.vstack([self.columns, self.left_out])
        yield lack_of_products(np.vstack([one, every]), every, left, self.weight)
        self.progress()
        yield signs_of_neighbours(np.vstack([whole, every[: settings.MAX_COLUMNS]]), left)


def _is_more_than_chance(candidate: LawCandidate, n_columns: int) -> bool:
    """Say whether a sum explains more than the best choice out of so many columns would."""
    table, n_terms = candidate.reduced.table, candidate.fitted.n_terms
    count, k = table.n_observations, len(table.columns)
    noise = candidate.fitted.mean_square * count / (count - n_terms + 1)
    gain = count * log(table.variance / noise) if noise < table.variance else 0.0
    return gain > settings.CHANCE + 2 * log(comb(n_columns, k)) + k * log(count)


def _evidence(table: LawTable, fitted: Fitted) -> float:
    """Return by how much sums with a square or a logarithm in place of a column are worse.

    In units of twice the log-likelihood; where columns are narrow, these are the same.
    """
    rows = _standard_rows(table)
    coef, whole, square = rows.fitted(np.arange(len(table.columns)))
    left = rows.y - coef @ rows.columns
    weight = table.weight[: rows.columns.shape[1]]
    columns = table.columns[:, : len(weight)]
    others = [(columns**2, settings.EXPONENT_PRICE)]
    if table.positive.any():
        logs = np.log(np.where(table.positive[:, None], columns, 1.0))
        others.append((logs, settings.FUNCTION_PRICE))
    worse = []
    for values, more in others:
        values = standardised(values, weight) * np.sqrt(weight)
        products = values @ rows.columns.T / rows.n_observations @ whole
        # What is left of a new term by the columns, and what it has in common with the old one.
        own = 1.0 - np.sum(products * (values @ rows.columns.T / rows.n_observations), axis=1)
        common = products.diagonal() / whole.diagonal()
        part = values @ left / rows.n_observations + coef * common
        gain = part**2 / np.maximum(own + common**2 * whole.diagonal(), _EPSILON)
        without = square + coef**2 / whole.diagonal()
        ratio = np.maximum(without - gain, 0.0) / square
        worse.append(rows.n_observations * np.log(np.maximum(ratio, 1e-300)).min() + more)
    return float(min(worse))
