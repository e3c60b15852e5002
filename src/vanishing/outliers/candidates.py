"""Equations of few terms among columns, measured on rows that they were not fitted to.

They are looked for in columns of mean 0 and variance 1, where residuals can be compared with what
terms can tell apart, and where a shift of the columns changes nothing. There a product brings its
factors: (x - a) (y - b) is x y, x, y and 1. They are looked for in the columns as given, too, where
equations are shortest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from vanishing.fitting import settings as fitting_settings
from vanishing.fitting.origins import short_number
from vanishing.fitting.sparse import regressions
from vanishing.outliers import settings
from vanishing.outliers.monomials import EPS, MonomialSums, affine, places_of

_EXACT = 10.0  # times the rounding of arithmetic that residuals of exact laws have


@dataclass(frozen=True, eq=False)
class StandardTable:
    """Factors of the monomials in columns of mean 0 and variance 1, and in those given.

    Attributes
    ----------
    exponents : array of int of shape (k, n_columns)
    centre, spread : array of shape (n_columns,)
        Of the columns.
    fitted, measured : array of shape (2, k, k)
        Factors of both folds, in standard columns.
    weight : float
        Of the rows that are measured.
    count : float
        How many rows were fitted to.
    n_samples : int
    precision : float
    """

    exponents: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    fitted: np.ndarray
    measured: np.ndarray
    weight: float
    count: float
    n_samples: int
    precision: float

    @cached_property
    def all_fitted(self) -> np.ndarray:
        """Factor of both folds, shape (2 k, k)."""
        return self.fitted.reshape(-1, len(self.exponents))

    @cached_property
    def all_measured(self) -> np.ndarray:
        """Factor of both folds, shape (2 k, k)."""
        return self.measured.reshape(-1, len(self.exponents))

    @cached_property
    def places(self) -> dict[tuple[int, ...], int]:
        """Where each monomial is."""
        return places_of(self.exponents)

    @cached_property
    def given(self) -> "Basis":
        """Monomials of the columns as given."""
        return self.basis(np.zeros(len(self.centre)))

    @cached_property
    def standard(self) -> "Basis":
        """Monomials of standard columns."""
        return self.basis(self.centre)

    @cached_property
    def near(self) -> "Basis":
        """Monomials of the columns as given, less short numbers near those far from the origin."""
        offsets = np.zeros(len(self.centre))
        (far,) = np.nonzero(np.abs(self.centre) > fitting_settings.FAR * self.spread)
        for column in far:
            width = fitting_settings.OFFSET_WIDTH * float(self.spread[column])
            offsets[column] = short_number(float(self.centre[column]), width)
        return self.basis(offsets)

    def basis(self, offsets: np.ndarray) -> "Basis":
        """Return the monomials of the columns less offsets."""
        left = self.centre - offsets
        size = np.hypot(left, self.spread)
        monomials = affine(self.exponents, left / size, self.spread / size).T
        return Basis(offsets, size, monomials, self.rms(monomials))

    def rms(self, standard: np.ndarray) -> np.ndarray:
        """Return the sizes of combinations of standard monomials, along the first axis."""
        return np.sqrt(np.square(self.all_measured @ standard).sum(axis=0) / self.weight)

    def slope(self, standard: np.ndarray, column: int) -> float:
        """Return the size of the derivative of a combination by a standard column."""
        slope = np.zeros(len(standard))
        for place in np.flatnonzero(self.exponents[:, column]):
            row = self.exponents[place].tolist()
            factor = row[column]
            row[column] -= 1
            slope[self.places[tuple(row)]] += factor * standard[place]
        return float(self.rms(slope))

    def curvature(self, standard: np.ndarray, column: int) -> float:
        """Return the second derivative of a combination by a standard column."""
        square = np.zeros(self.exponents.shape[1], dtype=np.int64)
        square[column] = 2
        place = self.places.get(tuple(square.tolist()))
        return 0.0 if place is None else 2.0 * float(standard[place])

    def columns_in(self, support) -> frozenset[int]:
        """Return the columns that occur in some monomials."""
        return frozenset(np.flatnonzero(self.exponents[list(support)].any(axis=0)).tolist())


def standard_table(sums: MonomialSums) -> StandardTable | None:
    """Return the table of equations, or None where there are no rows or no columns that vary."""
    k, n = sums.exponents.shape
    whole = sums.measured.reshape(-1, k)
    weight = float(np.square(whole[:, 0]).sum())
    if not weight > 0.0 or not sums.square_weight > 0.0:
        return None
    mean, deviation = np.zeros(n), np.ones(n)
    for row, values in zip(sums.exponents, whole.T, strict=True):
        if row.sum() == 1:
            column = row.argmax()
            mean[column] = whole[:, 0] @ values / weight
            left = values - mean[column] * whole[:, 0]
            deviation[column] = np.sqrt(left @ left / weight)
    # Columns that only wild rows make vary.
    varies = deviation > 1e-9 * np.maximum(np.abs(mean), sums.precision)
    used = np.flatnonzero(~sums.exponents[:, ~varies].any(axis=1))
    if len(used) < 2:
        return None
    exponents = sums.exponents[used]
    deviation = np.where(varies, deviation, 1.0)
    centre, spread = sums.origin + mean * sums.unit, deviation * sums.unit
    standard = affine(exponents, -mean / deviation, 1.0 / deviation).T
    kept = ~_tell_codes(exponents, whole[:, used] @ standard, sums.precision)
    fitted = sums.fitted.reshape(-1, k)
    return StandardTable(
        exponents[kept],
        centre,
        spread,
        (sums.fitted[:, :, used] @ standard)[:, :, kept],
        (sums.measured[:, :, used] @ standard)[:, :, kept],
        weight,
        max(float(np.square(fitted[:, 0]).sum()) ** 2 / sums.square_weight, 1.0),
        sums.n_samples,
        sums.precision,
    )


def _tell_codes(exponents: np.ndarray, factor: np.ndarray, precision: float) -> np.ndarray:
    """Say which monomials tell codes apart, and nothing else.

    The square of a column of two values is linear in it, and so is the product of two such columns
    that are never both 1: categories have these equations however they are coded.
    """
    degrees = exponents.sum(axis=1)
    linear = {int(row.argmax()): place for place, row in enumerate(exponents) if row.sum() == 1}
    codes = np.zeros(len(exponents), dtype=bool)
    has_two: set[int] = set()
    squares_first = np.argsort(-exponents.max(axis=1), kind="stable")
    for place in squares_first[degrees[squares_first] == 2].tolist():
        columns = np.flatnonzero(exponents[place]).tolist()
        if len(columns) == 2 and not has_two.issuperset(columns):
            continue
        support = [0, *(linear[column] for column in columns), place]
        left = factor[:, support] @ coefficients(factor[:, support])
        limit = _EXACT * precision * np.linalg.norm(factor[:, support])
        codes[place] = np.linalg.norm(left) <= limit
        if codes[place] and len(columns) == 1:
            has_two.update(columns)
    return codes


class Basis(NamedTuple):
    """Monomials of columns less offsets, over their sizes.

    Attributes
    ----------
    offsets, size : array of shape (n_columns,)
    monomials : array of shape (k, k)
        Each as a combination of standard monomials, which are along the first axis.
    sizes : array of shape (k,)
        Of the monomials.
    """

    offsets: np.ndarray
    size: np.ndarray
    monomials: np.ndarray
    sizes: np.ndarray


class Candidate(NamedTuple):
    """An equation, and how well it holds.

    Attributes
    ----------
    basis : Basis
    support : tuple of int
        Monomials that occur, that which was regressed last.
    coef : array of shape (n_terms,)
        Of monomials of the basis; 1 for the last.
    standard : array of shape (k,)
        The same equation in standard columns.
    column : int
        The column that it determines.
    rms : float
        Of its residuals on rows that it was not fitted to, but never below rounding.
    error : float
        The same, in units of the column's spread.
    rounding : float
        Part of the rms that arithmetic makes.
    """

    basis: Basis
    support: tuple[int, ...]
    coef: np.ndarray
    standard: np.ndarray
    column: int
    rms: float
    error: float
    rounding: float

    @property
    def is_exact(self) -> bool:
        """Whether residuals are those of arithmetic."""
        return self.rms <= _EXACT * self.rounding


def coefficients(factor: np.ndarray) -> np.ndarray:
    """Return the coefficients of an equation whose last term has 1, by least squares."""
    A = factor[:, :-1]
    scale = np.sqrt(np.maximum(np.square(A).sum(axis=0), 1e-300))
    coef = np.linalg.lstsq(A / scale, factor[:, -1], rcond=None)[0] / scale
    return np.append(-coef, 1.0)


def measured_equation(table: StandardTable, support, basis: Basis) -> Candidate | None:
    """Fit an equation and measure it; None where it is no law.

    Parameters
    ----------
    table : StandardTable
    support : sequence of int
        Its monomials; the last one is regressed on the others.
    basis : Basis
        What they are monomials of.
    """
    places = list(support)
    # What all terms are multiples of may be zero on most rows, and the rest is no law then.
    if table.exponents[places].min(axis=0).any():
        return None
    monomials = basis.monomials[:, places]
    coef = coefficients(table.all_fitted @ monomials)
    standard = monomials @ coef
    columns = np.flatnonzero(table.exponents[places[-1]])
    slopes = [table.slope(standard, int(c)) for c in columns]
    steepest = int(np.argmax(slopes))
    sizes = np.abs(coef) * basis.sizes[places]
    rounding = table.precision * float(sizes.sum())
    # A term that rounding makes is none: without it this is another equation, or a multiple of one.
    if sizes.min() < _EXACT * rounding:
        return None
    moved = np.flatnonzero(basis.offsets * table.exponents[places].any(axis=0))
    for column in moved:  # columns are rounded before offsets are subtracted
        far = abs(table.centre[column]) / table.spread[column]
        rounding += EPS * far * table.slope(standard, int(column))
    # The square of a law that holds up to noise e is e^2, which is nearly a constant beside its
    # slope, 2 e: it changes within its own error.
    column = int(columns[steepest])
    limit = settings.CLOSE * slopes[steepest]
    bend = abs(table.curvature(standard, column))
    if bend > 0.0:
        limit = min(limit, settings.BEND * slopes[steepest] ** 2 / bend)
    # First on all rows, which is faster.
    if not np.hypot(table.rms(standard), rounding) < limit:
        return None
    square = 0.0
    for fold in (0, 1):
        of_fold = monomials @ coefficients(table.fitted[fold] @ monomials)
        square += float(np.square(table.measured[1 - fold] @ of_fold).sum())
    rms = float(np.hypot(np.sqrt(square / table.weight), rounding))
    if not rms < limit:
        return None
    error = rms / slopes[steepest]
    return Candidate(basis, tuple(places), coef, standard, column, rms, error, rounding)


# -- Which terms ----------------------------------------------------------------------------------


def linear_supports(table: StandardTable) -> Iterator[tuple[int, ...]]:
    """Yield columns that may be linear in one another: the monomials, constant first."""
    factor = table.all_fitted
    linear = np.flatnonzero(table.exponents.sum(axis=1) == 1)
    values = factor[:, linear] - np.outer(factor[:, 0], _means(factor, linear))
    gram = values.T @ values
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    gram = gram / scale / scale[:, None]
    pairs = np.argwhere(np.triu(np.square(gram) > 1.0 - settings.CLOSE**2, 1))
    sets: set[tuple[int, ...]] = {(int(i), int(j)) for i, j in pairs}
    if len(linear) <= settings.TRIPLES:
        sets |= {each for each in combinations(range(len(linear)), 3) if _is_close(gram, each)}
    for target in range(len(linear)):
        for support in regressions(gram, target, min(settings.EQUATION_TERMS - 1, len(linear))):
            if len(support) > 1 and _is_close(gram, tuple(support.tolist())):
                sets.add(tuple(sorted(support.tolist())))
    if len(linear) <= settings.BALANCE_COLUMNS:
        sets |= _balances(gram)
    for each in sorted(sets):
        yield (0, *(int(linear[i]) for i in each))


def _balances(gram: np.ndarray) -> set[tuple[int, ...]]:
    """Return columns of balances that are too long to be found term by term.

    From the equation of a column with all others, the column that matters least is left out, one
    after the other, as long as what is left determines the first nearly as well.
    """
    found: set[tuple[int, ...]] = set()
    whole = np.linalg.inv(gram + 1e-14 * np.eye(len(gram)))
    for target in np.flatnonzero(whole.diagonal() > settings.LAW**-2):
        inverse, inside = whole.copy(), np.ones(len(gram), dtype=bool)
        least = max(inverse[target, target] / settings.SIMPLER**2, settings.LAW**-2)
        while inside.sum() > 2:
            others = np.flatnonzero(inside & (np.arange(len(gram)) != target))
            loss = np.square(inverse[others, target]) / inverse[others, others]
            weakest = others[int(np.argmin(loss))]
            if inverse[target, target] - loss.min() < least:
                break
            # The inverse without a column.
            row = inverse[weakest].copy()
            inverse -= np.outer(row, row / row[weakest])
            inside[weakest] = False
            inverse[weakest, weakest] = 1.0
        if inside.sum() <= settings.BALANCE_TERMS:
            found.add(tuple(np.flatnonzero(inside).tolist()))
    return found


def _means(factor: np.ndarray, places) -> np.ndarray:
    return factor[:, 0] @ factor[:, places] / np.square(factor[:, 0]).sum()


def _is_close(gram: np.ndarray, places: tuple[int, ...]) -> bool:
    """Say whether a column of some is nearly a combination of the others."""
    part = gram[np.ix_(places, places)] + 1e-14 * np.eye(len(places))
    # The variance of column i that the others do not explain is 1 / (G^-1)_ii.
    return bool(np.linalg.inv(part).diagonal().max() > settings.CLOSE**-2)


def given_supports(table: StandardTable) -> Iterator[list[int]]:
    """Yield the monomials of equations in the columns as given, some for each target."""
    factor = table.all_fitted @ table.given.monomials
    gram = factor.T @ factor
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    gram = gram / scale / scale[:, None]
    for target, row in enumerate(table.exponents):
        if not target:
            continue
        others = np.arange(len(gram)) != target
        if row.sum() == 1:
            others = table.exponents[:, row.argmax()] == 0
        terms = np.append(np.flatnonzero(others), target)
        last = len(terms) - 1
        part = gram[np.ix_(terms, terms)]
        for support in regressions(part, last, min(settings.EQUATION_TERMS, len(terms))):
            places = terms[np.append(support[support != last], last)].tolist()
            if len(places) <= max(len(table.columns_in(places)) + 1, 4):
                yield places


def shifted_supports(table: StandardTable) -> Iterator[list[int]]:
    """Yield the monomials of equations in shifted columns: each with all its divisors."""
    exponents = table.exponents
    factor = table.all_fitted
    gram = factor.T @ factor
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    gram = gram / scale / scale[:, None]
    divisors = [np.flatnonzero((exponents <= row).all(axis=1)).tolist() for row in exponents]
    groups = np.array([(each[1:] + each[-1:] * 2)[:3] for each in divisors[1:]])
    for target, row in enumerate(exponents):
        if not target:
            continue
        allowed = (groups != target).all(axis=1)
        if row.sum() == 1:
            allowed &= exponents[1:, row.argmax()] == 0
        inside = set(divisors[target]) - {target}
        for _ in range(settings.EQUATION_TERMS - 2):
            allowed &= ~np.isin(groups, list(inside)).all(axis=1)
            if not allowed.any():
                break
            inside |= {0, *_best_group(gram, sorted(inside), groups[allowed], target)}
            places = [*sorted(inside), target]
            if len(_maximal(table, places)) <= len(table.columns_in(places)):
                yield places


def _best_group(gram: np.ndarray, inside: list[int], groups: np.ndarray, target: int) -> list[int]:
    """Return the terms, three of which are a group, that explain most of what is left of one."""
    part = gram[np.ix_(inside, inside)] + 1e-12 * np.eye(len(inside))
    left = gram - gram[:, inside] @ np.linalg.solve(part, gram[inside])
    cross = left[groups, target]
    # Terms may be twice in a group, or be inside already.
    blocks = left[groups[:, :, None], groups[:, None, :]] + 1e-10 * np.eye(groups.shape[1])
    gains = (cross * np.linalg.solve(blocks, cross[:, :, None])[:, :, 0]).sum(axis=1)
    return groups[int(np.argmax(gains))].tolist()


def _maximal(table: StandardTable, places) -> list[int]:
    """Return the monomials that divide no other one of some."""
    rows = table.exponents[list(places)]
    divides = (rows[:, None] <= rows[None]).all(axis=2) & (rows[:, None] != rows[None]).any(axis=2)
    return [p for p, above in zip(places, divides.any(axis=1), strict=True) if not above]
