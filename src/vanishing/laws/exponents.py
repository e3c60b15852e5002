"""Exponents of products of powers, by robust regression of logarithms; simple numbers near them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vanishing.fitting import student
from vanishing.fitting.normal import inverse, solution
from vanishing.laws import settings

_STEPS = 25
_ROUNDING = 1e-24  # squared scale of residuals of logarithms

LARGEST = 12.0  # exponent of a product: of columns far from zero any power is as good as another


class LogFit(NamedTuple):
    """A regression of log |y|, with rows far from it counting little."""

    exponents: np.ndarray
    deviation: np.ndarray  # of the exponents
    log_likelihood: float  # of all rows
    pull: np.ndarray  # how much rows count in the end


class LogRegression(NamedTuple):
    """Rows of log |y| = sum of exponents times log |x|, and a constant.

    Attributes
    ----------
    logs : array of shape (n_columns, n_rows)
    target : array of shape (n_rows,)
    weight : array of shape (n_rows,)
    signed : array of bool of shape (n_columns,)
        Columns of both signs, whose exponents are whole numbers.
    constant : bool
        Whether there is one: not in differences of rows.
    """

    logs: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    signed: np.ndarray
    constant: bool = True

    def fit(self, start: np.ndarray, free: np.ndarray, fixed: np.ndarray) -> LogFit:
        """Fit some exponents, and the constant; the others are fixed.

        ``start`` says how much rows count at first: rows of equal noise tell logarithms apart in
        proportion to the target, rows of relative noise all alike.
        """
        design, n_free = self.logs[free], int(np.count_nonzero(free))
        if self.constant:
            design = np.vstack([design, np.ones_like(self.target)])
        total = float(self.weight.sum())
        target = self.target - np.where(free, 0.0, fixed) @ self.logs
        scale, pull = 0.0, self.weight * start
        for _ in range(_STEPS):
            weighted = design * pull
            gram = weighted @ design.T
            coef = solution(gram, weighted @ target) if len(gram) else np.zeros(0)
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
        exponents, deviation = fixed.copy(), np.zeros(len(free))
        if n_free:
            variance = np.maximum(inverse(gram).diagonal()[:n_free], 0.0) * scale
            exponents[free], deviation[free] = coef[:n_free], np.sqrt(variance)
        likelihood = total * student.log_likelihood(left, self.weight, scale)
        return LogFit(exponents, deviation, likelihood, pull / self.weight)


def simple_exponents(rows: LogRegression, start) -> Iterator[tuple[np.ndarray, float]]:
    """Yield simple exponents near those of a regression, and what differs from them in one."""
    n = len(rows.logs)
    free = _significant(rows, start)
    best = rows.fit(start, free, np.zeros(n))
    snapped = _snapped(rows, free, np.zeros(n), best)
    if snapped is None:
        return
    yield snapped
    # What the ranges of columns cannot tell apart has to be known, too.
    for place in range(n):
        step = 1.0 if rows.signed[place] else 0.5
        for change in (-step, step):
            fixed = np.zeros(n)
            fixed[place] = snapped[0][place] + change
            others = free.copy()
            others[place] = False
            other = _snapped(rows, others, fixed, best)
            if other is not None:
                yield other


def _significant(rows: LogRegression, start) -> np.ndarray:
    """Say which exponents are not zero: the least significant is dropped, again and again."""
    n = len(rows.logs)
    free = np.ones(n, dtype=bool)
    while free.any():
        fit = rows.fit(start, free, np.zeros(n))
        with np.errstate(all="ignore"):
            t = np.where(free, np.abs(fit.exponents) / fit.deviation, np.inf)
        least = int(np.argmin(t))
        if t[least] ** 2 > settings.SIGNIFICANT_EXPONENT:
            break
        free[least] = False
    return free


def _snapped(
    rows: LogRegression, free: np.ndarray, fixed: np.ndarray, best: LogFit
) -> tuple[np.ndarray, float] | None:
    """Return the simple exponents near those of a fit, with their likelihood; None if it is low.

    The exponent that is closest to a simple number is fixed first, and the others are fitted again.
    """
    free, fixed = free.copy(), fixed.copy()
    while True:
        fit = rows.fit(best.pull, free, fixed)
        if best.log_likelihood - fit.log_likelihood > settings.SNAPPED:
            return None
        places = np.flatnonzero(free)
        if not len(places):
            return (fixed, fit.log_likelihood) if np.abs(fixed).max() <= LARGEST else None
        choices = [
            _simple(fit.exponents[i], fit.deviation[i], bool(rows.signed[i])) for i in places
        ]
        gaps = [
            abs(choice - fit.exponents[i]) / max(fit.deviation[i], 1e-9)
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
