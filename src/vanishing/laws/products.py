"""Step 1a: products of powers, by regression of log |y| on log |x|; signs go with the powers.

No surrogate is asked, which needs rows: a product of columns over decades, of both signs, with
noise that is relative or not, is told from few of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vanishing.fitting import student
from vanishing.fitting.normal import inverse, solution
from vanishing.laws import settings
from vanishing.laws.problem import LawTable
from vanishing.laws.reductions import Logarithms

_STEPS = 25
_ROUNDING = 1e-24  # squared scale of residuals of logarithms


class Product(NamedTuple):
    """y = c M, M being a product of powers.

    Attributes
    ----------
    exponents : array of shape (n_columns,)
        Halves and thirds; whole numbers of columns with both signs.
    predicted : array of shape (n_rows,)
        y.
    """

    exponents: np.ndarray
    predicted: np.ndarray


class _LogFit(NamedTuple):
    """A regression of log |y|, with rows far from it counting little."""

    coef: np.ndarray  # the constant last
    deviation: np.ndarray  # of the coefficients
    log_likelihood: float  # of all rows
    pull: np.ndarray  # how much rows count in the end


class _Logarithms:
    """Rows of a table that have logarithms, and columns that have them on most rows."""

    def __init__(self, table: LawTable):
        table = table.at(slice(0, settings.LINK_ROWS))
        nonzero = table.columns != 0.0
        self.used = np.flatnonzero(nonzero.mean(axis=1) > settings.LEAST_NONZERO)
        self.rows = nonzero[self.used].all(axis=0) & (table.y != 0.0)
        self.weight = table.counts[self.rows]
        self.y = table.y[self.rows]
        logs = np.log(np.abs(table.columns[np.ix_(self.used, self.rows)]))
        self.design = np.vstack([logs, np.ones(logs.shape[1])])
        self.target = np.log(np.abs(self.y))
        self.signed = ~table.positive[self.used]

    def has_enough_rows(self) -> bool:
        """Say whether there are rows for each exponent, of which none is a multiple of others."""
        enough = settings.ROWS_PER_TERM * len(self.design)
        return bool(len(self.used) and self.weight.sum() >= enough)

    def fit(self, start: np.ndarray, free: np.ndarray, fixed: np.ndarray) -> _LogFit:
        """Fit some exponents, and the constant; the others are fixed.

        ``start`` says how much rows count at first: rows of equal noise tell logarithms apart in
        proportion to the target, rows of relative noise all alike.
        """
        free = np.append(free, True)
        design, total = self.design[free], float(self.weight.sum())
        target = self.target - np.where(free[:-1], 0.0, fixed) @ self.design[:-1]
        scale, pull = 0.0, self.weight * start
        for _ in range(_STEPS):
            weighted = design * pull
            gram = weighted @ design.T
            coef = solution(gram, weighted @ target)
            left, last = target - coef @ design, scale
            if not scale:
                scale = student.squared_scale(left, self.weight)
            # Logarithms are rounded, too: their residuals are not smaller.
            scale = max(
                float(self.weight * student.pulls(left, scale) @ left**2) / total, _ROUNDING
            )
            if abs(last - scale) <= 1e-3 * scale:
                break
            pull = self.weight * student.pulls(left, scale)
        every, deviation = np.append(fixed, 0.0), np.zeros(len(free))
        every[free] = coef
        deviation[free] = np.sqrt(np.maximum(inverse(gram).diagonal(), 0.0) * scale)
        likelihood = total * student.log_likelihood(left, self.weight, scale)
        return _LogFit(every, deviation, likelihood, pull / self.weight)


def products(table: LawTable) -> list[Product]:
    """Return products of powers that explain a target, the likeliest first; none, mostly."""
    logs = _Logarithms(table)
    if not logs.has_enough_rows():
        return []
    size = np.minimum(logs.y**2, np.quantile(logs.y**2, 0.9))
    likelihoods: dict[tuple[float, ...], float] = {}
    for start in (np.ones_like(size), size / size.mean()):
        for exponents, likelihood in _simple_exponents(logs, start):
            key = tuple(exponents.tolist())
            likelihoods[key] = max(likelihood, likelihoods.get(key, -np.inf))
    ordered = sorted(likelihoods, key=lambda key: -likelihoods[key])
    signed = (_product(table, logs, np.array(key)) for key in ordered)
    return [product for product in signed if product is not None]


def _simple_exponents(logs: _Logarithms, start) -> Iterator[tuple[np.ndarray, float]]:
    """Yield simple exponents near those of a regression, and what differs from them in one."""
    n = len(logs.used)
    free = _significant(logs, start)
    best = logs.fit(start, free, np.zeros(n))
    snapped = _snapped(logs, free, np.zeros(n), best)
    if snapped is None:
        return
    yield snapped
    # What the ranges of columns cannot tell apart has to be known, too.
    for place in range(n):
        step = 1.0 if logs.signed[place] else 0.5
        for change in (-step, step):
            fixed = np.zeros(n)
            fixed[place] = snapped[0][place] + change
            others = free.copy()
            others[place] = False
            other = _snapped(logs, others, fixed, best)
            if other is not None:
                yield other


def _significant(logs: _Logarithms, start) -> np.ndarray:
    """Say which exponents are not zero: the least significant is dropped, again and again."""
    n = len(logs.used)
    free = np.ones(n, dtype=bool)
    while free.any():
        fit = logs.fit(start, free, np.zeros(n))
        with np.errstate(all="ignore"):
            t = np.where(free, np.abs(fit.coef[:-1]) / fit.deviation[:-1], np.inf)
        least = int(np.argmin(t))
        if t[least] ** 2 > settings.SIGNIFICANT_EXPONENT:
            break
        free[least] = False
    return free


def _snapped(
    logs: _Logarithms, free: np.ndarray, fixed: np.ndarray, best: _LogFit
) -> tuple[np.ndarray, float] | None:
    """Return the simple exponents near those of a fit, with their likelihood; None if it is low.

    The exponent that is closest to a simple number is fixed first, and the others are fitted again.
    """
    free, fixed = free.copy(), fixed.copy()
    while True:
        fit = logs.fit(best.pull, free, fixed)
        if best.log_likelihood - fit.log_likelihood > settings.SNAPPED:
            return None
        places = np.flatnonzero(free)
        if not len(places):
            return fixed, fit.log_likelihood
        choices = [_simple(fit.coef[i], fit.deviation[i], bool(logs.signed[i])) for i in places]
        gaps = [
            abs(choice - fit.coef[i]) / max(fit.deviation[i], 1e-9)
            for i, choice in zip(places, choices, strict=True)
        ]
        nearest = int(np.argmin(gaps))
        fixed[places[nearest]], free[places[nearest]] = choices[nearest], False


def _simple(exponent: float, deviation: float, whole: bool) -> float:
    """Return the simplest number near an exponent: whole, half, third, or quarter."""
    for part in (1,) if whole else (2, 3, 4):
        nearest = round(part * exponent) / part
        if abs(nearest - exponent) <= max(3.0 * deviation, 1e-6):
            return nearest
    return round(exponent) if whole else round(2.0 * exponent) / 2.0


def _product(table: LawTable, logs: _Logarithms, exponents: np.ndarray) -> Product | None:
    """Return a product with the sign that rows agree on; None where they do not."""
    every = np.zeros(len(table.columns))
    every[logs.used] = exponents
    if not every.any():
        return None
    with np.errstate(all="ignore"):
        M = Logarithms(table.columns, table.positive).product(every)
    first = M[: len(logs.rows)][logs.rows]
    if not (np.isfinite(M).all() and first.all()):  # it overflows, or vanishes
        return None
    # Where noise is larger than the target its sign says nothing: large rows decide.
    ratio = np.sign(first * logs.y)
    large = logs.weight * np.minimum(np.abs(logs.y), np.quantile(np.abs(logs.y), 0.9))
    sign = float(np.sign(ratio @ large))
    if not np.average(ratio == sign, weights=large) > settings.SAME_SIGN:
        return None
    gap = logs.target - np.log(np.abs(first))
    size = np.exp(np.average(gap, weights=logs.weight * student.pulls(gap - np.median(gap), 1.0)))
    return Product(every, sign * float(size) * M)
