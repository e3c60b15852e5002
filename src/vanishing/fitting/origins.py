"""Where columns are measured from: near their rows, and where equations are shortest.

Powers of a column far from the origin, relative to its spread, are equal in most of their digits:
nothing can be told of them. Terms are then powers of the column less an offset.
"""

from collections.abc import Callable, Sequence
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.special import binom

from vanishing.fitting import settings
from vanishing.fitting.sample import spreads_of
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.fitting.variety import evaluated
from vanishing.rows.source import RowPart


def short_number(centre: float, width: float) -> float:
    """Return the number of fewest digits that is at most ``width`` from a centre.

    Examples
    --------
    >>> from vanishing.fitting.origins import short_number
    >>> short_number(1600480123.7, 3e5), short_number(10003.2, 6.0), short_number(1.2, 2.0)
    (1600500000.0, 10000.0, 0.0)
    """
    if abs(centre) <= width:
        return 0.0
    if not width > 0.0:
        return centre
    largest = int(np.ceil(np.log10(abs(centre))))
    for power in range(largest, int(np.floor(np.log10(width))) - 1, -1):
        number = float(f"{round(centre / 10.0**power)}e{power}")
        if abs(number - centre) <= width:
            return number
    return centre


def far_offsets(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a short number near each column that is far from the origin, and 0 for others.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    weight : array of shape (n_rows,)
    """
    centre = np.average(columns, axis=1, weights=weight)
    spread = spreads_of(columns, weight)
    offsets = np.zeros(len(columns))
    # What varies by rounding alone is constant, wherever it is measured from.
    varies = np.ptp(columns, axis=1) > 1e-12 * np.abs(columns).max(axis=1)
    for i in np.flatnonzero(varies & (np.abs(centre) > settings.FAR * spread)):
        offsets[i] = short_number(float(centre[i]), settings.OFFSET_WIDTH * float(spread[i]))
    return offsets


def rounding_of(columns: np.ndarray, offsets: np.ndarray) -> float:
    """Return what rounding leaves of columns less their offsets, relative to their size."""
    size = np.abs(columns).max(axis=1, initial=0.0)
    left = np.sqrt(np.mean((columns - offsets[:, None]) ** 2, axis=1))
    far = (offsets != 0.0) & (left > 0.0)
    if not far.any():
        return 0.0
    return settings.ROUNDINGS * float(np.finfo(float).eps * (size[far] / left[far]).max())


class _Shifted(NamedTuple):
    """A question, asked of rows whose columns are less offsets."""

    question: Callable
    offsets: np.ndarray

    def __call__(self, part: RowPart) -> Any:
        """Ask some rows."""
        n, y = part.X.shape[1], part.y
        if len(self.offsets) > n:
            y = np.asarray(y, dtype=np.float64) - self.offsets[n]
        return self.question(RowPart(np.asarray(part.X) - self.offsets[:n], y, part.weight))


def ask_shifted(ask: Callable, offsets: np.ndarray, question: Callable, combine: Callable) -> Any:
    """Ask rows whose columns, and target where an offset is left for it, are less offsets."""
    return ask(_Shifted(question, offsets), combine)


class Expansion(NamedTuple):
    """A polynomial in columns that can be measured from elsewhere.

    Attributes
    ----------
    exponents : array of int of shape (n_terms, n_columns)
        With each term, all that it is a multiple of.
    coef : array of shape (n_terms,)
    covariance : array of shape (n_terms, n_terms) or None
        Of the coefficients; None where they are exact.
    rounding : float
        Relative error of the coefficients that is rounding.
    """

    exponents: np.ndarray
    coef: np.ndarray
    covariance: np.ndarray | None
    rounding: float

    @classmethod
    def of(cls, exponents: np.ndarray, coef: np.ndarray, rounding: float) -> "Expansion":
        """Return an exact polynomial."""
        terms = dict(zip(map(tuple, exponents.tolist()), coef.tolist(), strict=True))
        lower = [product(*(range(e + 1) for e in row)) for row in terms]
        every = sorted(set().union(*lower))
        values = np.array([terms.get(row, 0.0) for row in every])
        return cls(np.array(every), values, None, rounding)

    def without_constant(self) -> "Expansion":
        """Return an exact polynomial whose constant does not matter."""
        kept = self.exponents.any(axis=1)
        return self._replace(exponents=self.exponents[kept], coef=self.coef[kept])

    def moved(self, column: int, step: float) -> "Expansion":
        """Return the polynomial in a column less ``step``."""
        powers, keys = self.exponents[:, column], self.exponents.copy()
        keys[:, column] = 0
        same = (keys[:, None] == keys).all(axis=2)
        change = np.where(same, binom(powers, powers[:, None]), 0.0)
        lower = np.maximum(powers - powers[:, None], 0)
        change *= float(step) ** lower
        coef = change @ self.coef
        if self.covariance is None:
            # What cancels up to rounding is gone.
            coef[np.abs(coef) <= self.rounding * (np.abs(change) @ np.abs(self.coef))] = 0.0
            return self._replace(coef=coef)
        return self._replace(coef=coef, covariance=change @ self.covariance @ change.T)

    def sparse(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return coefficients of the terms that are needed, fitted again, 0 for the others.

        With their covariance.

        The term that is closest to zero, beside its error, goes first: terms may stand for one
        another, so that none seems to be needed while others are there.
        """
        if self.covariance is None:
            return self.coef, None
        coef, covariance = self.coef.copy(), self.covariance.copy()
        while True:
            variance = covariance.diagonal()
            kept = np.flatnonzero(variance > 0.0)
            t = coef[kept] ** 2 / variance[kept]
            if not len(kept) or t.min() > settings.NEEDED**2:
                return coef, covariance
            least = kept[np.argmin(t)]
            pull = covariance[:, least] / covariance[least, least]
            coef -= pull * coef[least]
            covariance -= np.outer(pull, covariance[least])
            coef[least] = covariance[least] = covariance[:, least] = 0.0

    @property
    def needed(self) -> np.ndarray:
        """Which terms the polynomial needs."""
        return self.sparse()[0] != 0.0

    @property
    def price(self) -> tuple[int, int]:
        """How many terms the polynomial needs, and the sum of their degrees."""
        needed = self.exponents[self.needed]
        return len(needed), int(needed.sum())

    def precision(self, places: np.ndarray) -> np.ndarray:
        """Return the inverse of the covariance of some coefficients."""
        if self.covariance is None:
            raise ValueError("exact coefficients have no covariance")
        part = self.covariance[np.ix_(places, places)]
        error = np.sqrt(np.maximum(part.diagonal(), 1e-300))
        return positive_inverse(part / error / error[:, None], 1e-10) / error / error[:, None]

    def refined(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray, "Expansion"]:
        """Return steps, small ones, with which the terms that are not needed are closest to zero.

        Each such term says where columns start; together they say it best.
        """
        place = {tuple(row): i for i, row in enumerate(self.exponents.tolist())}
        sparse, _ = self.sparse()
        gone = sparse == 0.0
        slopes = np.zeros((int(gone.sum()), len(columns)))
        for i, row in enumerate(self.exponents[gone].tolist()):
            for j, column in enumerate(columns):
                row[column] += 1
                higher = place.get(tuple(row), -1)
                if higher >= 0 and not gone[higher]:
                    slopes[i, j] = row[column] * sparse[higher]
                row[column] -= 1
        weighted = slopes.T @ self.precision(gone)
        spread = positive_inverse(weighted @ slopes, 1e-15)
        steps, errors = -spread @ weighted @ self.coef[gone], np.sqrt(spread.diagonal())
        moved = self
        for column, step in zip(columns, steps, strict=True):
            moved = moved.moved(column, float(step))
        return steps, errors, moved

    def steps(self, column: int) -> dict[float, float]:
        """Return steps of a column at each of which a term vanishes, and their errors."""
        place = {tuple(row): i for i, row in enumerate(self.exponents.tolist())}
        coef, covariance = self.sparse()
        steps = {}
        for row in self.exponents[(coef != 0.0) & (self.exponents[:, column] > 0)].tolist():
            i, power = place[tuple(row)], row[column]
            row[column] -= 1
            j = place.get(tuple(row), -1)
            if j >= 0 and coef[j]:
                slope = power * float(coef[i])
                step = -float(coef[j]) / slope
                both = np.array([1.0, power * step])
                variance = 0.0
                if covariance is not None:
                    variance = max(float(both @ covariance[np.ix_([j, i], [j, i])] @ both), 0.0)
                steps[step] = float(np.sqrt(variance)) / abs(slope)
        return steps


def positive_inverse(matrix: np.ndarray, least: float) -> np.ndarray:
    """Return the inverse of a covariance where it is more than ``least`` of its largest part.

    Where terms nearly depend on one another rounding leaves negative variances: they say nothing.
    """
    values, vectors = np.linalg.eigh(matrix)
    used = values > least * np.abs(values).max(initial=0.0)
    return (vectors[:, used] / values[used]) @ vectors[:, used].T


def shortest_origin(
    expansion: Expansion, columns: Sequence[int], tried: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, Expansion]:
    """Return steps of columns after which a polynomial has the fewest terms, and what it is then.

    (x + 1) (y + 2) has one term where both are measured from where they vanish. Each column is
    moved to where one of its terms vanishes, if more do than come in.

    Parameters
    ----------
    expansion : Expansion
    columns : sequence of int
        Columns that may be moved.
    tried : array of shape (n_columns,), default=None
        One more step of each column to be tried: that to its own origin.

    Returns
    -------
    steps, errors : arrays of shape (n_columns,)
        How far columns are moved, and standard errors of that.
    expansion : Expansion
    """
    steps, errors = np.zeros((2, expansion.exponents.shape[1]))
    moving = True
    while moving:
        moving = False
        for column in columns:
            candidates = expansion.steps(column)
            if tried is not None:
                candidates[float(tried[column] - steps[column])] = 0.0
            trials = []
            known = sorted(candidates.items(), key=lambda item: item[1])
            for step, error in known[: settings.TRIED_STEPS]:
                if step and (tried is not None or abs(step) < settings.FAR):
                    moved = expansion.moved(column, step)
                    trials.append((*moved.price, error, abs(step), step, moved))
            best = min(trials, key=lambda trial: trial[:4], default=None)
            if best is not None and best[0] < expansion.price[0]:
                steps[column] += best[4]
                errors[column], expansion, moving = best[2], best[5], True
    if expansion.covariance is not None and not expansion.needed.all():
        more, better, expansion = expansion.refined(columns)
        steps[columns] += more
        errors[columns] = better
    return steps, errors, expansion


def target_origins(
    columns: np.ndarray, y: np.ndarray, weight: np.ndarray, offsets: np.ndarray, rounding: float
) -> np.ndarray:
    """Return offsets from which a target is a polynomial of few terms.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
        Less their offsets.
    y : array of shape (n_rows,)
    weight : array of shape (n_rows,)
    offsets : array of shape (n_columns,)
        Of these columns; those of columns that are not far are 0, and stay.
    rounding : float
        What rounding has left of the columns, relative to their size.
    """
    far = np.flatnonzero(offsets)
    centre = np.average(columns, axis=1, weights=weight)
    *spread, of_y = spreads_of(np.vstack([columns, y]), weight)
    unit = (columns - centre[:, None]) / np.array(spread)[:, None]
    expansion = _fitted_expansion(unit, y / of_y, weight, rounding)
    if expansion is None:
        return offsets
    steps, errors, _ = shortest_origin(expansion, far.tolist())
    origins = offsets.copy()
    for i in far[errors[far] > 0.0]:
        width = max(settings.STEP_WIDTH * float(errors[i]), 0.1 * rounding) * float(spread[i])
        origins[i] = short_number(float(offsets[i] + centre[i] + steps[i] * spread[i]), width)
    return origins


def _fitted_expansion(
    unit: np.ndarray, y: np.ndarray, weight: np.ndarray, rounding: float
) -> Expansion | None:
    """Return a polynomial of the degree that leaves least, by generalised cross-validation."""
    count, root = float(weight.sum()), np.sqrt(weight)
    best = None
    for degree in range(1, settings.EXPANDED_DEGREE + 1):
        k = comb(len(unit) + degree, degree)
        if k > min(settings.EXPANDED_TERMS, count / 4):
            break
        exponents = exponents_up_to(len(unit), k, degree)
        values = evaluated(unit, exponents) * root
        q, r = np.linalg.qr(values.T)
        cross = q.T @ (y * root)
        left = float(np.sum((y * root - q @ cross) ** 2)) / count
        left = max(left, rounding**2)  # which is noise, too
        score = left / (1.0 - k / count) ** 2
        if best is None or score < 0.9 * best[0]:
            best = (score, exponents, r, cross, left / (1.0 - k / count))
    if best is None:
        return None
    _, exponents, r, cross, noise = best
    inverse = np.linalg.pinv(r)
    return Expansion(exponents, inverse @ cross, noise * inverse @ inverse.T, rounding)
