"""Polynomial equations and the points where they hold: what follows from what."""

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np

from vanishing.algebra import monomials
from vanishing.algebra.evaluation import values_on
from vanishing.fitting import settings


class VarietyEquation(NamedTuple):
    """A polynomial that vanishes on scaled columns.

    Attributes
    ----------
    exponents : array of int of shape (n_terms, n_columns)
    coef : array of shape (n_terms,)
    ratio : float
        v'Gv / v'Hv: the mean square of its error over that of the noise; 0 where it is exact.
    evidence : float
        Distance in score to the best really different equation.
    exact : bool
    lack_of_fit : float
        How much better all terms of its degree are, in standard deviations of chance.
    """

    exponents: np.ndarray
    coef: np.ndarray
    ratio: float
    evidence: float
    exact: bool
    lack_of_fit: float = 0.0


def evaluated(columns: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the values of monomials, shape (n_terms, n_rows)."""
    plan, position = monomials.plan(exponents)
    columns = np.ascontiguousarray(columns)  # one layout: each is compiled
    return values_on(columns, plan)[position]


def gradient(columns, equation: VarietyEquation) -> np.ndarray:
    """Return the derivatives of an equation by each column, shape (n_columns, n_rows)."""
    rows = np.zeros_like(columns)
    for column in range(len(columns)):
        lowered = equation.exponents.copy()
        factor = lowered[:, column] * equation.coef
        lowered[:, column] = np.maximum(lowered[:, column] - 1, 0)
        rows[column] = factor @ evaluated(columns, lowered)
    return rows


def thickness(
    columns: np.ndarray, equation: VarietyEquation, spread: np.ndarray, weight: np.ndarray
) -> float:
    """Return how far rows are from where an equation holds, in units of the columns' spreads.

    Its size relative to its terms would say nothing: far from the origin, powers of columns that
    have nothing to do with one another are equal in most of their digits.
    """
    value = equation.coef @ evaluated(columns, equation.exponents)
    slope = gradient(columns, equation) * spread[:, None]
    return float(np.sqrt(weight @ value**2 / max(float((slope**2 @ weight).sum()), 1e-300)))


def projected(
    points: np.ndarray, equations: Sequence[VarietyEquation], spread: np.ndarray
) -> np.ndarray:
    """Return points moved onto all equations, by Newton steps of least length."""
    points = points.copy()
    for _ in range(30):
        values = np.array([e.coef @ evaluated(points, e.exponents) for e in equations])
        slopes = np.array([gradient(points, e) for e in equations]) * spread[None, :, None]
        across = np.einsum("icm,jcm->mij", slopes, slopes)
        size = np.einsum("mii->m", across)[:, None, None] * 1e-12 + 1e-300
        step = np.linalg.solve(across + size * np.eye(len(equations)), values.T[:, :, None])[
            :, :, 0
        ]
        points -= spread[:, None] * np.einsum("icm,mi->cm", slopes, step)
    return points


def vanishes(points: np.ndarray, exponents, tolerance: float) -> bool:
    """Say whether some combination of terms vanishes on points."""
    if points.shape[1] < 2 * len(exponents):
        return True  # hardly a point is left: there is nothing more to say
    values = evaluated(points, exponents)
    # Points that went far would outweigh the others.
    values /= np.sqrt(np.mean(values**2, axis=0))
    values /= np.sqrt(np.mean(values**2, axis=1))[:, None]
    singular = np.linalg.svd(values, compute_uv=False)
    return bool(singular[-1] < tolerance * singular[0])


def rank_of_multiples(equations: Sequence[VarietyEquation], exponents) -> int:
    """Return the dimension of the multiples of equations, by terms, that some terms can express."""
    place = {tuple(row): i for i, row in enumerate(exponents.tolist())}
    rows = []
    for equation in equations:
        for factor in exponents - equation.exponents[0]:
            if (factor < 0).any():
                continue
            places = [place.get(tuple(row), -1) for row in (equation.exponents + factor).tolist()]
            if min(places) >= 0:
                row = np.zeros(len(exponents))
                row[places] = equation.coef / np.abs(equation.coef).max()
                rows.append(row)
    return int(np.linalg.matrix_rank(np.array(rows), tol=1e-9)) if rows else 0


def sparse_supports_of(
    null: np.ndarray, max_terms: int, tolerance: float = 1e-6
) -> list[np.ndarray]:
    """Return supports of vectors of a space with few entries, the sparsest first.

    They are rows of reduced echelon forms, for many orders of the columns. Entries below the
    tolerance, relative to the largest, count as zero.
    """
    if not len(null):
        return []
    random = np.random.default_rng(0)
    sparse: dict[tuple[int, ...], None] = {}
    for trial in range(1 if len(null) == 1 else settings.ORDERS):
        order = np.arange(null.shape[1])[::-1] if not trial else random.permutation(null.shape[1])
        rows = _echelon(np.ascontiguousarray(null), np.ascontiguousarray(order))
        used = np.abs(rows) > tolerance * np.abs(rows).max(axis=1)[:, None]
        for row in used[used.sum(axis=1) <= max_terms]:
            sparse[tuple(np.flatnonzero(row).tolist())] = None
    return [np.array(support) for support in sorted(sparse, key=lambda s: (len(s), s))]


@numba.njit(cache=True, error_model="numpy")
def _echelon(space, order):
    """Return the reduced echelon form of a space, with pivots in some order of the columns."""
    rows, used = space.copy(), 0
    for column in order:
        place = used
        for i in range(used + 1, len(rows)):
            if abs(rows[i, column]) > abs(rows[place, column]):
                place = i
        if abs(rows[place, column]) < 1e-8:
            continue
        pivot = rows[place] / rows[place, column]
        rows[place] = rows[used]
        rows[used] = pivot
        for i in range(len(rows)):
            if i != used:
                factor = rows[i, column]
                for j in range(rows.shape[1]):
                    rows[i, j] -= factor * pivot[j]
        used += 1
        if used == len(rows):
            break
    return rows
