"""Passes over all rows: a law's coefficients and errors, wherever the rows are."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.expressions import Number, evaluate, of_term, total
from vanishing.algebra.solving import solved
from vanishing.algebra.terms import Evaluator, Term
from vanishing.fitting.sample import columns_of, is_held_out
from vanishing.fitting.unequal_noise import Variance
from vanishing.rows.source import RowPart

ROWS = 50_000  # evaluated at once


class Sums(NamedTuple):
    """Sums over rows, one of each for rows to learn from (0) and rows held out (1)."""

    gram: np.ndarray  # (2, k, k) of the derivatives of the target by the coefficients
    cross: np.ndarray  # (2, k) of these and the residuals
    square: np.ndarray  # (2,) of the residuals
    weight: np.ndarray  # (2,)
    plain: float  # square of the residuals, whatever the precision of rows
    errors: np.ndarray  # (n_columns,) squared residuals in units of each column
    noise: np.ndarray  # (k, k) of the derivatives times squared residuals
    missing: float  # weight of rows where the law has no solution, or that are left out as wrong

    def __add__(self, other):
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


class Noise(NamedTuple):
    """Noise whose variance grows with what a law says of its target."""

    terms: tuple[Term, ...]
    coef: np.ndarray
    target: int
    branch: int
    variance: Variance

    def precision(self, columns: np.ndarray) -> np.ndarray:
        """Return how much rows tell, by the inverse of their variance."""
        solution = solved(self.terms, self.coef, None, self.target, self.branch)
        with np.errstate(all="ignore"):
            s = np.nan if solution is None else evaluate(solution, columns)
        return 1.0 / self.variance.at(np.where(np.isfinite(s), s, columns[self.target]))


def _gradients(terms: Sequence[Term], coef, evaluator: Evaluator) -> list[np.ndarray]:
    """Return the derivatives of a sum of terms by all columns."""
    places = range(len(evaluator.columns))
    if any(factor.inside is not None for term in terms for factor in term.factors):
        node = total([of_term(term, Number(float(c))) for term, c in zip(terms, coef, strict=True)])
        return Differentiable(node).gradient(list(evaluator.columns), places)
    return [evaluator.slope(terms, coef, i) for i in places]


class Distances:
    """The question for the errors of a law in units of each column: residuals over gradients."""

    def __init__(self, terms: Sequence[Term], coef, held_out: int | None = None):
        self.terms, self.coef = tuple(terms), coef
        self.held_out = held_out  # the seed of rows held out, where these alone are asked

    def __call__(self, part: RowPart) -> np.ndarray:
        """Return sums of squares of the law and of its derivatives by the columns; weights last."""
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        if self.held_out is not None:
            weight = weight * is_held_out(columns, self.held_out)
        total = np.zeros(len(columns) + 2)
        for start in range(0, len(weight), ROWS):
            rows = slice(start, start + ROWS)
            w = weight[rows]
            evaluator = Evaluator(np.ascontiguousarray(columns[:, rows]))
            with np.errstate(all="ignore"):
                values = [self.coef @ evaluator.values(self.terms)]
                values += _gradients(self.terms, self.coef, evaluator)
                total += np.append(np.square(values) @ w, w.sum())
        return total

    @staticmethod
    def combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the sums over two sets of rows."""
        return first + second


class Measure:
    """The question for the sums of a law that is solved for a column.

    All rows count, as if ``mean`` were predicted where the law has no solution; where ``keep`` is
    given, rows with a larger residual are wrong, and do not. Sums are weighted by the precision of
    rows where ``noise`` says that it differs between them.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        coef,
        target: int,
        branch: int,
        seed: int,
        keep: float | None = None,
        mean: float = 0.0,
        noise: Noise | None = None,
    ):
        self.terms, self.coef, self.target, self.branch = tuple(terms), coef, target, branch
        self.seed, self.keep, self.mean, self.noise = seed, keep, mean, noise

    def __call__(self, part: RowPart) -> Sums:
        """Return the sums over some rows."""
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        parts = [
            self._sums(np.ascontiguousarray(columns[:, start : start + ROWS]), w)
            for start, w in ((i, weight[i : i + ROWS]) for i in range(0, len(weight), ROWS))
        ]
        return reduce(self.combine, parts)

    def _sums(self, columns, weight) -> Sums:
        solution = solved(self.terms, self.coef, None, self.target, self.branch)
        if solution is None:
            raise ValueError("the law has no closed form for its target.")
        with np.errstate(all="ignore"):
            predicted = np.broadcast_to(evaluate(solution, columns), len(weight))
            residual = columns[self.target] - predicted
            on_law = columns.copy()
            on_law[self.target] = predicted
            evaluator = Evaluator(on_law)
            values = evaluator.values(self.terms)
            slope = evaluator.slope(self.terms, self.coef, self.target)
            jacobian = -values / slope
            gradients = _gradients(self.terms, self.coef, evaluator)
            own = residual * slope
            errors = [own / g if np.any(g) else np.full(len(weight), np.nan) for g in gradients]
        counted = np.isfinite(residual)
        jacobian = np.where(counted & np.isfinite(jacobian).all(axis=0), jacobian, 0.0)
        residual = np.where(counted, residual, columns[self.target] - self.mean)
        good = np.ones_like(counted)
        if self.keep is not None:
            good = counted = counted & (np.abs(residual) <= self.keep)
        missing = float(weight[~counted].sum())
        held = is_held_out(columns, self.seed)
        precision = np.ones_like(weight) if self.noise is None else self.noise.precision(columns)
        folds, whole = [], weight * precision
        with np.errstate(all="ignore"):  # sums of columns near 1e100 may be infinite
            for fold in (~held & good, held & good):
                # Rows of the other fold weigh nothing: to copy those of one takes longer.
                w, r = np.where(fold, whole, 0.0), np.where(fold, residual, 0.0)
                j = jacobian * w
                folds.append((j @ jacobian.T, j @ r, w @ r**2, weight @ fold))
            squares = np.array([np.nansum((weight * e**2)[counted]) for e in errors])
            r = np.where(good, residual, 0.0)
            pull = jacobian * (np.sqrt(weight) * precision * r)
            plain, noise = float(weight @ r**2), pull @ pull.T
        gram, cross, square, total = (np.array(x) for x in zip(*folds, strict=True))
        return Sums(gram, cross, square, total, plain, squares, noise, missing)

    @staticmethod
    def combine(first: Sums, second: Sums) -> Sums:
        """Return the sums over two sets of rows."""
        return first + second
