"""The readable equations behind scores: few terms, the shortest first, none that follows."""

import math
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import monomial
from vanishing.equations.fitted import with_plain_columns
from vanishing.equations.law import Law
from vanishing.fitting.normal import inverse, with_fixed
from vanishing.fitting.origins import short_number
from vanishing.outliers import settings
from vanishing.outliers.candidates import (
    Candidate,
    StandardTable,
    given_supports,
    linear_supports,
    measured_equation,
    shifted_supports,
    standard_table,
)
from vanishing.outliers.consequences import Consequences
from vanishing.outliers.monomials import MonomialSums


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


def laws_from(sums: MonomialSums, names) -> list[DetectorLaw]:
    """Return the equations among columns that hold up to small noise, the shortest first.

    None of them is a multiple or a consequence of others.
    """
    table = standard_table(sums)
    if table is None:
        return []
    consequences = Consequences(table)
    kept = _independent(
        consequences,
        [
            *(_linear(table, support) for support in linear_supports(table)),
            *(measured_equation(table, places, table.given) for places in given_supports(table)),
        ],
    )
    points = consequences.points(kept)
    is_linear = table.exponents.sum(axis=1).max() == 1
    supports = () if is_linear else shifted_supports(table)
    shifted = [measured_equation(table, places, table.standard) for places in supports]
    for candidate in _sorted(table, shifted):
        if consequences.share(candidate, points) >= settings.SMALL:
            continue
        candidate = _without_idle_products(table, candidate)
        if table.exponents[list(candidate.support)].sum(axis=1).max() > 1:
            kept = _independent(consequences, [*kept, _simplified(table, candidate)])
            points = consequences.points(kept)
    laws = [(_law(table, each, names), table.columns_in(each.support)) for each in kept]
    return [DetectorLaw(law, columns, law.error) for law, columns in laws if law is not None]


def _sorted(table: StandardTable, candidates: Iterable[Candidate | None]) -> list[Candidate]:
    """Return equations, those first that have few short terms, then by their columns."""

    def order(candidate: Candidate) -> tuple:
        degrees = table.exponents[list(candidate.support)].sum(axis=1)
        columns = sorted(table.columns_in(candidate.support), reverse=True)
        length = int(np.maximum(degrees, 1).sum())
        error = 0.0 if candidate.is_exact else candidate.error
        return length, len(degrees), columns, int(degrees[-1]), error, -candidate.column

    return sorted((each for each in candidates if each is not None), key=order)


def _independent(
    consequences: Consequences, candidates: Iterable[Candidate | None]
) -> list[Candidate]:
    """Return the equations of which none follows from others, in their order."""
    kept: list[Candidate] = []
    points = consequences.points(kept)
    for candidate in _good(consequences.table, _sorted(consequences.table, candidates)):
        if consequences.share(candidate, points) < settings.NEWS:
            kept.append(candidate)
            points = consequences.points(kept)
    # A short one that nearly holds follows from longer ones that hold better.
    for i, candidate in reversed(list(enumerate(kept))):
        better = [c for c in kept[i + 1 :] if settings.SIMPLER * c.error < candidate.error]
        points = consequences.points([*kept[:i], *better])
        if not consequences.share(candidate, points) < settings.NEWS:
            del kept[i]
    # What is left of a longer one may be small wherever the rows are.
    for i, candidate in reversed(list(enumerate(kept))):
        if not consequences.share(candidate, consequences.points(kept[:i])) < settings.SMALL:
            del kept[i]
    return kept


def _good(table: StandardTable, candidates: list[Candidate]) -> list[Candidate]:
    """Return equations that are hardly worse than the best one for the same column, of the same."""
    keys = [(each.column, table.columns_in(each.support)) for each in candidates]
    best: dict[tuple[int, frozenset[int]], float] = {}
    for each, key in zip(candidates, keys, strict=True):
        best[key] = min(each.error, best.get(key, np.inf))
    return [
        each
        for each, key in zip(candidates, keys, strict=True)
        if each.is_exact or each.error <= settings.SIMPLER * best[key]
    ]


def _linear(table: StandardTable, support: tuple[int, ...]) -> Candidate | None:
    """Return the equation among some columns, for the one that it is best for, 1 only if needed.

    Where it is as good for several columns, it is for the last of them.
    """
    constant, *columns = support
    trials = []
    for target in reversed(columns):
        others = [place for place in columns if place != target]
        given = measured_equation(table, [*others, target], table.given)
        shifted = measured_equation(table, [constant, *others, target], table.given)
        if shifted is None or not shifted.is_exact:
            # A constant far from the rows is sure to fewer digits than are needed near them.
            shifted = measured_equation(table, [constant, *others, target], table.near)
        trials += [t for t in (given, shifted) if t is not None]
    if not trials:
        return None
    best = min(trial.error for trial in trials)
    close = [t for t in trials if t.is_exact or t.error <= settings.SIMPLER * best]
    return min(close, key=lambda trial: len(trial.support))


def _without_idle_products(table: StandardTable, candidate: Candidate) -> Candidate:
    """Return an equation in standard columns without the products that it does not need.

    Products of columns far from where they are zero are linear there: with them a linear equation
    of many columns would be one of few terms.
    """
    limit = settings.SIMPLER * candidate.error
    while True:
        *others, target = candidate.support
        products = [place for place in others if table.exponents[place].sum() > 1]
        trials = (
            measured_equation(table, [*(p for p in others if p != idle), target], table.standard)
            for idle in products
        )
        close = [trial for trial in trials if trial is not None and trial.error <= limit]
        if not close:
            return candidate
        candidate = min(close, key=lambda trial: trial.error)


def _simplified(table: StandardTable, candidate: Candidate) -> Candidate:
    """Return an equation in standard columns with as few terms as any other origin allows."""
    *others, target = candidate.support
    bases = [table.given, table.basis(_origin(table, candidate))]
    for size in range(1, len(others) + 1):
        trials = (
            measured_equation(table, [*terms, target], basis)
            for basis in bases
            for terms in combinations(others, size)
        )
        close = [
            trial
            for trial in trials
            if trial is not None
            and (trial.is_exact or trial.error <= settings.SIMPLER * candidate.error)
        ]
        if close:
            return min(close, key=lambda trial: trial.error)
    return candidate


def _origin(table: StandardTable, candidate: Candidate) -> np.ndarray:
    """Return offsets of columns where their products come without the columns themselves.

    That is where the derivatives of the equation by these columns vanish. Offsets are short
    numbers as near to it as the error of the equation tells.
    """
    offsets = table.near.offsets.copy()
    n = len(offsets)
    curvature, slope = np.zeros((n, n)), np.zeros(n)
    for place, row in enumerate(table.exponents):
        number = candidate.standard[place]
        if row.sum() == 1:
            slope[row.argmax()] = number
        elif row.sum() == 2:
            i, j = np.repeat(np.arange(n), row)
            curvature[i, j] += number
            curvature[j, i] += number
    bent = np.flatnonzero(curvature.any(axis=0))
    inner = curvature[np.ix_(bent, bent)]
    for column, place in zip(
        bent, np.linalg.lstsq(inner, -slope[bent], rcond=1e-6)[0], strict=True
    ):
        width = settings.OFFSET_ERROR * candidate.rms / float(np.abs(curvature[column]).max())
        spread = float(table.spread[column])
        centre = float(table.centre[column]) + float(place) * spread
        offsets[column] = short_number(centre, width * spread)
    return offsets


def _law(table: StandardTable, candidate: Candidate, names) -> Law | None:
    """Return an equation in units of the table, with standard errors.

    None if it overflows, or if a coefficient may be zero: then it is another equation.
    """
    support, coef = list(candidate.support), candidate.coef
    exponents = table.exponents[support]
    basis = candidate.basis
    factor = table.all_fitted @ basis.monomials[:, support]
    gram = factor.T @ factor / np.square(table.all_fitted[:, 0]).sum()
    others = slice(0, len(support) - 1)
    variance = candidate.rms**2 / table.count
    covariance = with_fixed(inverse(gram[others, others]) * variance, len(support) - 1)
    with np.errstate(all="ignore"):
        scale = np.prod(basis.size ** -exponents.astype(float), axis=1)
        # Relative to the term that was regressed, in units of the table.
        ratio = scale / scale[-1]
        scaled = coef * ratio
        covariance = covariance * ratio * ratio[:, None]
        error = candidate.rms / scale[-1]
        size = table.given.sizes[support[-1]] * np.prod(table.given.size ** exponents[-1])
        unsure = np.abs(scaled) < settings.SURE * np.sqrt(covariance.diagonal())
    if not (np.isfinite(scaled).all() and np.isfinite(error)) or unsure.any():
        return None
    name = str(names[candidate.column])
    parts = with_plain_columns(
        [monomial(row) for row in exponents],
        scaled,
        covariance if np.isfinite(covariance).all() else None,
        np.where(exponents.any(axis=0), basis.offsets, 0.0),
    )
    return Law(
        **parts,
        names=names,
        n_inputs=len(names),
        target=name if exponents[-1].sum() == 1 else None,
        error=float(error),
        relative_error=float(error / size),
        n_samples=table.n_samples,
        verdict=f"It holds up to {100 * candidate.error:.2g} % of the spread of {name}.",
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
        error = settings.CONSTANT * abs(c)  # up to which a column is constant
        law = Law(
            [monomial(row) for row in (exponents if c else exponents[:1])],
            [1.0, -c] if c else [1.0],
            names=names,
            n_inputs=len(names),
            target=str(names[column]),
            error=error,
            relative_error=settings.CONSTANT if c else 0.0,
            n_samples=n_samples,
            verdict="It holds on all rows but wild ones.",
        )
        laws.append(DetectorLaw(law, frozenset([int(column)]), error))
    return laws
