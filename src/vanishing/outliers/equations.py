"""The readable equations behind scores: few terms, from moments of rows that go together."""

import math
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, monomial
from vanishing.equations.law import Law
from vanishing.fitting.normal import inverse, solution, with_fixed
from vanishing.fitting.sparse import regressions
from vanishing.outliers import settings


class MonomialSums(NamedTuple):
    """Weighted sums over rows of the products of monomials in the columns.

    Attributes
    ----------
    exponents : array of int of shape (k, n_columns)
        Constant first; columns that are constant occur in none.
    unit : array of shape (n_columns,)
        Columns are divided by it.
    gram : array of shape (k, k)
    square_weight : float
        Sum of squared weights, for how many rows there are.
    n_samples : int
    """

    exponents: np.ndarray
    unit: np.ndarray
    gram: np.ndarray
    square_weight: float
    n_samples: int

    def plus(self, X: np.ndarray, weight: np.ndarray, decay: float = 1.0) -> "MonomialSums":
        """Return the sums with those of rows; sums so far count ``decay`` times."""
        used = weight > 0.0
        X, weight = X[used], weight[used]
        values = self.values(X) * np.sqrt(weight)
        return self._replace(
            gram=decay * self.gram + values @ values.T,
            square_weight=decay**2 * self.square_weight + float(np.square(weight).sum()),
            n_samples=self.n_samples + len(weight),
        )

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the monomials of rows, shape (k, n_rows)."""
        scaled = np.clip(X / self.unit, -1e6, 1e6)
        return Evaluator(scaled.T).values([monomial(row) for row in self.exponents])


def monomials_of(varying, unit: np.ndarray, max_degree: int, n_rows: float) -> MonomialSums:
    """Return empty sums for the columns that vary, of as many monomials as rows can tell apart."""
    n = len(unit)
    rows = [np.zeros(n, dtype=np.int64)]
    linear = np.eye(n, dtype=np.int64)[varying]
    count = len(varying)
    if settings.ROWS_PER_MONOMIAL * (1 + count) <= n_rows:
        rows += list(linear)
        both = 1 + count + count * (count + 1) // 2
        if max_degree > 1 and both <= min(settings.MONOMIALS, n_rows / settings.ROWS_PER_MONOMIAL):
            rows += [linear[i] + linear[j] for i in range(count) for j in range(i, count)]
    exponents = np.array(rows)
    k = len(rows)
    return MonomialSums(exponents, unit, np.zeros((k, k)), 0.0, 0)


def place_of(exponents: np.ndarray, row: np.ndarray) -> int:
    """Return where a monomial is among others."""
    return int(np.flatnonzero((exponents == row).all(axis=1))[0])


class DetectorLaw(NamedTuple):
    """A law, the columns that occur in it, and its errors in units of the law.

    Attributes
    ----------
    law : Law
    columns : frozenset of int
    error : float
        On the rows it was found in.
    last_error : float
        On the rows that came last; NaN where none have come since.
    """

    law: Law
    columns: frozenset[int]
    error: float
    last_error: float = math.nan


class _DetectorCandidate(NamedTuple):
    support: np.ndarray
    coef: np.ndarray
    target: int  # place of the term that was regressed, the last of the support
    column: int
    error: float  # in units of the column's spread


def laws_from(moments: MonomialSums, names) -> list[DetectorLaw]:
    """Return the equations among columns that hold up to small noise, the best first.

    A column is a sparse combination of monomials without it, or a product or square one of all
    others. Of equations with the same columns only the best is kept.
    """
    weight = moments.gram[0, 0]
    if not weight > 0.0:
        return []
    gram = moments.gram / weight
    candidates: list[_DetectorCandidate] = []
    for target in range(1, len(gram)):
        candidates += _candidates(moments, gram, target)
    kept: list[_DetectorCandidate] = []
    for candidate in sorted(candidates, key=lambda c: _price(moments, c)):
        columns = _columns(moments, candidate)
        if not any(_columns(moments, other) <= columns for other in kept):
            kept.append(candidate)
    laws = [_law(moments, gram, candidate, names) for candidate in kept]
    return [
        DetectorLaw(law, _columns(moments, candidate), law.error)
        for law, candidate in zip(laws, kept, strict=True)
        if law is not None
    ]


def _price(moments: MonomialSums, candidate: _DetectorCandidate) -> float:
    """Return what decides between equations: few terms, a small error, a column by itself."""
    degree = moments.exponents[candidate.target].sum()
    error = np.log(candidate.error + settings.ALIKE)
    return float(error + settings.TERM_PRICE * len(candidate.support) + degree)


def _columns(moments: MonomialSums, candidate: _DetectorCandidate) -> frozenset[int]:
    used = moments.exponents[candidate.support[np.abs(candidate.coef) > 0.0]].any(axis=0)
    return frozenset(np.flatnonzero(used).tolist())


def _candidates(moments: MonomialSums, gram: np.ndarray, target: int) -> list[_DetectorCandidate]:
    """Return the equation of fewest terms, hardly worse than longer ones, with a given term."""
    exponents = moments.exponents
    (columns,) = np.nonzero(exponents[target])
    linear = exponents[target].sum() == 1
    allowed = exponents[:, columns[0]] == 0 if linear else np.arange(len(gram)) != target
    terms = np.append(np.flatnonzero(allowed), target)
    scale = np.sqrt(np.maximum(gram.diagonal()[terms], 1e-300))
    part = gram[np.ix_(terms, terms)] / scale / scale[:, None]
    last = len(terms) - 1
    trials = []
    for support in regressions(part, last, min(settings.EQUATION_TERMS, len(terms))):
        places = np.append(support[support != last], last)
        candidates = [_candidate(moments, gram, terms[places], int(c)) for c in columns]
        trials.append(min(candidates, key=lambda candidate: candidate.error))
    trials = [t for t in trials if t.error < settings.CLOSE and _is_short(moments, t)]
    if not trials:
        return []
    largest = settings.SIMPLER * min(trial.error for trial in trials) + settings.ALIKE
    return [next(trial for trial in trials if trial.error <= largest)]


def _is_short(moments: MonomialSums, candidate: _DetectorCandidate) -> bool:
    """Say whether an equation has so few terms that not every smooth surface has one."""
    return len(candidate.support) <= max(len(_columns(moments, candidate)) + 1, 4)


def _candidate(moments: MonomialSums, gram: np.ndarray, support, column: int) -> _DetectorCandidate:
    """Fit the coefficients of an equation, and measure it in units of a column's spread."""
    others, target = support[:-1], support[-1]
    coef = np.append(-solution(gram[np.ix_(others, others)], gram[others, target], 1e-12), 1.0)
    exponents = moments.exponents
    square = coef @ gram[np.ix_(support, support)] @ coef
    # The derivative by the column is a combination of monomials of lower degree.
    lower = exponents[support].copy()
    factor = coef * lower[:, column]
    used = np.flatnonzero(factor)
    lower[used, column] -= 1
    places = [place_of(exponents, row) for row in lower[used]]
    slope = factor[used] @ gram[np.ix_(places, places)] @ factor[used]
    linear = place_of(exponents, np.eye(exponents.shape[1])[column])
    variance = gram[linear, linear] - gram[0, linear] ** 2
    error = np.sqrt(max(square, 0.0) / max(slope * variance, 1e-300))
    return _DetectorCandidate(support, coef, int(target), column, float(error))


def _law(
    moments: MonomialSums, gram: np.ndarray, candidate: _DetectorCandidate, names
) -> Law | None:
    """Return an equation in units of the table, with standard errors; None if it overflows."""
    support, coef = candidate.support, candidate.coef
    exponents = moments.exponents[support]
    square = max(float(coef @ gram[np.ix_(support, support)] @ coef), 0.0)
    count = max(moments.gram[0, 0] ** 2 / moments.square_weight, 1.0)
    others = support[:-1]
    covariance = with_fixed(inverse(gram[np.ix_(others, others)]) * square / count, len(others))
    with np.errstate(all="ignore"):
        scale = np.prod(moments.unit ** -exponents.astype(float), axis=1)
        # Relative to the term that was regressed, in units of the table.
        ratio = scale / scale[-1]
        scaled = coef * ratio
        covariance = covariance * ratio * ratio[:, None]
        error = np.sqrt(square) / scale[-1]
        relative = np.sqrt(square / gram[support[-1], support[-1]])
    if not (np.isfinite(scaled).all() and np.isfinite(error)):
        return None
    linear = exponents[-1].sum() == 1
    target = str(names[candidate.column]) if linear else None
    return Law(
        [monomial(row) for row in exponents],
        scaled,
        names=names,
        n_inputs=len(names),
        target=target,
        covariance=covariance if np.isfinite(covariance).all() else None,
        error=float(error),
        relative_error=float(relative),
        n_samples=moments.n_samples,
        verdict=f"It holds up to {100 * candidate.error:.2g} % of the spread of "
        f"{names[candidate.column]}.",
    )


def constant_laws(
    constant: np.ndarray, value: np.ndarray, names, n_samples: int
) -> list[DetectorLaw]:
    """Return the laws x = c of constant columns."""
    laws = []
    for column, c in zip(constant, value, strict=True):
        exponents = np.zeros((2, len(names)))
        exponents[0, column] = 1.0
        c = float(c)
        law = Law(
            [monomial(row) for row in (exponents if c else exponents[:1])],
            [1.0, -c] if c else [1.0],
            names=names,
            n_inputs=len(names),
            target=str(names[column]),
            error=0.0,
            relative_error=0.0,
            n_samples=n_samples,
            verdict="It holds on all rows but wild ones.",
        )
        laws.append(DetectorLaw(law, frozenset([int(column)]), 0.0))
    return laws
