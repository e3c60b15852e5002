"""From what a search finds to a `Law` in the units of the table, fitted to all rows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import (
    Column,
    Inside,
    Number,
    evaluate,
    in_new_columns,
    product,
)
from vanishing.algebra.functions import FUNCTIONS, IDENTITY
from vanishing.algebra.solving import normalised, solved
from vanishing.algebra.terms import Expression, Factor, Term
from vanishing.equations.law import Law
from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import inverse, widened, with_fixed, without
from vanishing.fitting.sample import Sample
from vanishing.fitting.unequal_noise import Variance, variance_of_noise
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate
from vanishing.laws.passes import Measure, Noise, Sums
from vanishing.laws.robust import deviation
from vanishing.laws.table import Prepared, SearchRows


def _simplified(terms: list[Term], positive: np.ndarray) -> list[Term]:
    """Return terms multiplied by powers of columns such that their exponents are smallest.

    In a root, a column of both signs stays beside the target, which has its sign.
    """
    exponents = np.array([term.exponents for term in terms])
    if (np.abs(exponents).sum(axis=1) <= 1).all():  # a sum of columns, maybe of very many
        return terms
    others = exponents[[not term.involves(-1) for term in terms]]
    shifts = [np.zeros(exponents.shape[1]), *others]
    shifts += [np.median(exponents, axis=0), np.median(others, axis=0)]
    for shift in shifts:
        shift[-1] = 0.0
        shift[shift % 1 != 0] = 0.0
        if not (exponents[:, -1] % 2 == 1.0).any():
            shift[:-1][~positive] = 0.0
    moved = [exponents - shift for shift in shifts]
    # Products are easier to read than quotients.
    sizes = [np.abs(rows).sum() - 0.5 * rows[rows < 0].sum() for rows in moved]
    return [term.times(-shifts[int(np.argmin(sizes))]) for term in terms]


def in_units(term: Term, units: np.ndarray) -> tuple[Term, float]:
    """Return a term of columns that were divided by units, and the factor before it.

    A unit may be negative: a root of such a column is one of its negative.
    """
    sizes, signs = np.abs(units), np.sign(units)
    factor = float(np.prod(sizes ** -np.array(term.exponents)))
    factors = [_factor_in_units(f, units, sizes, signs) for f in term.factors]
    for i, plain in enumerate(factors):
        if plain.function is IDENTITY:  # a sum of columns: numbers stand before it
            factor *= plain.scale**plain.power
            factors[i] = plain._replace(scale=1.0)
    exponents = list(term.exponents)
    for i in np.flatnonzero(signs < 0):
        exponent = exponents[i]
        if exponent % 1:
            # Other exponents, thirds, that reductions have are not defined on negative columns.
            if (2.0 * exponent).is_integer():
                unit = tuple(float(j == i) for j in range(len(units)))
                factors.append(Factor(FUNCTIONS["sqrt"], -1.0, unit, int(2 * exponent)))
                exponents[i] = 0.0
        elif exponent % 2:
            factor = -factor
    return Term(tuple(exponents), tuple(factors)), factor


def _factor_in_units(factor: Factor, units, sizes, signs) -> Factor:
    if factor.inside is not None:
        node = in_new_columns(
            factor.inside.node, lambda i: product(Number(1.0 / units[i]), Column(i))
        )
        factor = factor._replace(inside=Inside(node))
    exponents = np.array(factor.exponents)
    scale = factor.scale * float(np.prod(sizes**-exponents))
    # Columns of mixed signs inside a function have whole exponents.
    scale *= float(np.prod(np.where(signs < 0, np.where(exponents % 2 == 1, -1.0, 1.0), 1.0)))
    return factor._replace(scale=_cleared(scale))


def _cleared(scale: float) -> float:
    """Return 1 for what is 1 but for rounding: units are powers of two, but their powers not."""
    nearest = round(scale)
    return float(nearest) if nearest and abs(scale - nearest) < 1e-12 * abs(scale) else scale


class Draft(NamedTuple):
    """A law in the columns of the rows, with what is known of its fit."""

    terms: tuple[Term, ...]
    coef: np.ndarray
    fixed: int  # the term whose coefficient is 1
    covariance: np.ndarray  # for noise of variance 1
    target: int
    branch: int
    exact: bool
    mean_square: float


@np.errstate(all="ignore")
def draft(candidate: LawCandidate, table: Prepared, sample: Sample, target: int) -> Draft:
    """Return a candidate in the columns and units of the rows it was found on.

    Powers of units may overflow, or vanish: such a law cannot be written, and is infinitely bad.
    """
    n_columns = len(sample.columns)
    places = np.append(table.columns, target)
    fitted = candidate.fitted
    terms, scale = [], []
    for term in _simplified(candidate.reduced.in_columns(fitted.terms), table.table.positive):
        term, before = in_units(term, table.units)
        terms.append(_placed(term, places, n_columns))
        scale.append(before)
    factor = np.array(scale)
    coef, covariance = normalised(
        fitted.coef * factor, fitted.covariance * np.outer(factor, factor), fitted.fixed
    )
    law = Draft(
        tuple(terms),
        coef,
        fitted.fixed,
        covariance / table.units[-1] ** 2,
        target,
        1,
        fitted.exact and bool(np.isfinite(coef).all()),
        np.inf,
    )
    rows = np.zeros((n_columns, table.table.n_rows))
    rows[places] = np.vstack([table.table.columns, table.table.y]) * table.units[:, np.newaxis]
    trials = [law._replace(branch=branch) for branch in (1, -1)]
    trials = [x._replace(mean_square=_mean_square(x, rows, table.table.counts)) for x in trials]
    return min(trials, key=lambda trial: trial.mean_square)


def _mean_square(law: Draft, rows: np.ndarray, weight: np.ndarray) -> float:
    """Return that of a law as it is written, on all rows; infinite if many have no solution.

    A row without a solution counts as if the mean were predicted.
    """
    left = _left(law, rows)
    missing = ~np.isfinite(left)
    if np.average(missing, weights=weight) >= 1.0 - settings.ONE_BRANCH:
        return np.inf
    y = rows[law.target]
    left = np.where(missing, y - np.average(y, weights=weight), left)
    return float(np.average(left**2, weights=weight))


def _placed(term: Term, places, n_columns: int) -> Term:
    """Return a term of some columns as one of all."""

    def spread(exponents):
        row = np.zeros(n_columns)
        row[places] = exponents
        return tuple(row.tolist())

    factors = tuple(
        f._replace(exponents=spread(f.exponents), inside=f.inside and _moved(f.inside, places))
        for f in term.factors
    )
    return Term(spread(term.exponents), factors)


def _moved(inside: Expression, places) -> Inside:
    """Return an expression in some columns as one of all."""
    return Inside(in_new_columns(inside.node, lambda i: Column(int(places[i]))))


def _left(law: Draft, columns: np.ndarray) -> np.ndarray:
    """Return the residuals of a law in units of its target; not finite without a solution."""
    solution = solved(law.terms, law.coef, None, law.target, law.branch)
    if solution is None:
        return np.full(columns.shape[1], np.nan)
    with np.errstate(all="ignore"):
        return columns[law.target] - evaluate(solution, columns)


def spread_of(law: Draft, sample: Sample) -> float:
    """Return the standard deviation of a law's residuals, of which some may be wild."""
    left = _left(law, sample.columns)
    return deviation(np.where(np.isfinite(left), left, np.inf), sample.weight)


def unequal_noise(law: Draft, sample: Sample) -> Noise | None:
    """Return the noise of rows that a law leaves, if it grows with the target; None if not."""
    y, left = sample.columns[law.target], _left(law, sample.columns)
    good = np.isfinite(left)
    weight = sample.weight[good] / sample.repetition
    gain = settings.UNEQUAL_GAIN
    variance = variance_of_noise(left[good], (y - left)[good], weight, least_gain=gain)
    grows = Noise(law.terms, law.coef, law.target, law.branch, variance)
    return grows if variance.power else None


class _PassPoint:
    """What a pass over all rows tells of a draft, at values of its free coefficients."""

    def __init__(self, law: Draft, sums: Sums):
        self.draft, self.sums = law, sums
        self.coef = np.delete(law.coef, law.fixed)
        self.loss = float(sums.square.sum())
        gram, self.cross = without(sums.gram.sum(axis=0), sums.cross.sum(axis=0), law.fixed)
        self.covariance = inverse(gram)

    @property
    def mean_square(self) -> float:
        return self.loss / max(float(self.sums.weight.sum()), 1e-300)

    def step(self) -> np.ndarray | None:
        # Where the terms depend on one another there is no step.
        if self.draft.exact or not np.isfinite(self.covariance).all():
            return None
        step = self.covariance @ self.cross
        # A step within a hundredth of the standard errors would change no digit that is known.
        enough = 1e-4 * len(step) * self.mean_square
        return step if step @ self.cross > enough else None


def fitted_law(
    law: Draft,
    ask: Callable,
    seed: int,
    mean: float,
    keep: float | None = None,
    noise: Noise | None = None,
) -> tuple[Draft, Sums]:
    """Fit a law to all rows, in a few passes; return it with the sums of the last one.

    ``mean`` is that of the target, ``keep`` the largest residual of a row that is not wrong,
    ``noise`` what is known of rows with unequal noise. A step that makes the error larger is taken
    back, and is the last.
    """

    def point_at(coef: np.ndarray) -> _PassPoint:
        moved = law._replace(coef=np.insert(coef, law.fixed, 1.0))
        place = moved.target, moved.branch
        measure = Measure(moved.terms, moved.coef, *place, seed, keep, mean, noise)
        return _PassPoint(moved, ask(measure, Measure.combine))

    start = np.delete(law.coef, law.fixed)
    point = gauss_newton(point_at, start, max_steps=settings.PASSES - 1, least_gain=0.0, halvings=0)
    covariance = with_fixed(point.covariance, law.fixed)
    mean_square = point.sums.plain / max(float(point.sums.weight.sum()), 1e-300)
    return point.draft._replace(covariance=covariance, mean_square=mean_square), point.sums


def held_out_error(sums: Sums, fixed: int) -> float:
    """Return the rms error on rows held out, of the law fitted to the others.

    The law is close to its optimum on all rows, so that one step of Gauss-Newton is exact enough.
    """
    gram, cross = without(sums.gram[0], sums.cross[0], fixed)
    held_gram, held_cross = without(sums.gram[1], sums.cross[1], fixed)
    whole = float(sums.square.sum())
    if not (sums.weight[1] > 0 and whole > 0):
        return 0.0 if sums.weight[1] > 0 else np.nan
    with np.errstate(invalid="ignore"):  # NaN where terms depend on one another
        step = inverse(gram) @ cross
        square = sums.square[1] - 2 * step @ held_cross + step @ held_gram @ step
        # Rows may count by their precision: what is larger on rows held out is the ratio.
        ratio = max(square, 0.0) / sums.weight[1] * sums.weight.sum() / whole
    return float(np.sqrt(ratio * sums.plain / sums.weight.sum()))


def finished(
    law: Draft, sums: Sums, rows: SearchRows, unequal: Noise | None = None, **facts
) -> Law:
    """Return the `Law`; ``unequal`` is what is known of rows with unequal noise."""
    names, sample, size = rows.names, rows.sample, rows.size(law.target)
    n, repetition = float(sums.weight.sum()), sample.repetition
    observations = n / repetition
    freedom = max(observations - len(law.terms) + 1, 1.0)
    left = float(sums.square.sum()) / n  # in units of the rows' variance, where that differs
    variance = 0.0 if law.exact else left * observations / freedom * repetition
    covariance = law.covariance
    noise = Variance(factor=law.mean_square * observations / freedom)
    if unequal is not None and rows.offsets is None:
        noise = unequal.variance._replace(factor=left * observations / freedom)
    # Where rows have weights, these say how large the noise is; far columns may leave nothing.
    if not law.exact and left > 0.0 and np.ptp(sample.weight) <= 1e-9 * sample.weight.max():
        covariance = widened(covariance, sums.noise / left)
    error = float(np.sqrt(law.mean_square))
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.where(sums.errors > 0, sums.errors, np.nan) / n)
    return Law(
        **rows.in_given_columns(law.terms, law.coef, covariance * variance),
        names=names,
        target=names[law.target],
        n_inputs=rows.n_inputs,
        error=error,
        relative_error=error / size if size else np.nan,
        branch=law.branch,
        errors=errors,
        held_out_error=held_out_error(sums, law.fixed),
        n_samples=round(n),
        noise=noise,
        **facts,
    )
