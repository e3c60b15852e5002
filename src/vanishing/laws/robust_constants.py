"""Rows that are wrong, where an equation with constants holds on most of them."""

from collections.abc import Sequence

import numpy as np

from vanishing.fitting.unequal_noise import variance_of_noise, without_tails
from vanishing.laws import settings
from vanishing.laws.constants import least_squares_of, refined
from vanishing.laws.given_problem import Problem
from vanishing.laws.robust import deviation, farness, good_rows, rows_near_an_equation
from vanishing.laws.starts import scales
from vanishing.laws.table import prepared

_FITS = 8
_STEPS = 10  # of each fit: the next one starts from there
_SETTLED = 1e-6  # relative change of constants from one fit to the next


def rows_near(problem: Problem) -> np.ndarray:
    """Say which rows are near the equation, with constants that fit most rows.

    They are first fitted to rows near a smooth function of the columns, or to few rows. Then rows
    count less the farther they are from the equation, relative to their noise, as in `good_rows`;
    the constants with the least deviation count.
    """
    values = most_rows_fit(problem)
    if values is None:  # then the fit says what is wrong
        return np.ones(len(problem.weight), dtype=bool)
    return near_with(problem, values)


def most_rows_fit(
    problem: Problem, known: Sequence[np.ndarray] = (), error: float = 0.0
) -> np.ndarray | None:
    """Return constants that fit most rows; None where no fit to some rows succeeds.

    Constants that are ``known`` to be near take the place of draws of few rows, and of all others
    where they lead to no more than this ``error``.
    """

    def left(values: np.ndarray) -> float:
        return deviation(_standard(problem, values)[0], problem.weight)

    tried = [settled_on_most(problem, values) for values in known]
    if not any(left(values) <= error for values in tried):
        step = max(1, len(problem.weight) // settings.FIRST_ROWS)
        first = problem.rows(slice(None, None, step))
        chosen = _first_rows(first)[: 1 if known else None]
        fits = (_fitted(first.rows(rows)) for rows in chosen)
        tried += [settled_on_most(problem, values) for values in fits if values is not None]
    return min(tried, key=left, default=None)


def near_with(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Say which rows are near the equation with these constants."""
    residuals, far = _standard(problem, values)
    near = np.abs(far) <= settings.FAR * deviation(far, problem.weight)
    if problem.target is None:
        return near | (np.abs(residuals) <= settings.ROUNDED)
    # Rounding differs from row to row, and is no reason to leave one out.
    size = np.sqrt(problem.rows(near).mean_square(problem.columns[problem.target, near]))
    return near | (np.abs(residuals) <= settings.ROUNDED * size)


def _fitted(problem: Problem) -> np.ndarray | None:
    """Return the constants of a fit to some rows; None where the equation is not defined there."""
    if not problem.equation.constants:
        return np.empty(0)
    try:
        return least_squares_of(problem, scales(problem))
    except ValueError:
        return None


def settled_on_most(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Return constants fitted to all rows, which count less the farther they are."""
    scale = np.where(values == 0.0, 1.0, np.abs(values))
    for _ in range(_FITS if len(values) else 0):
        _, far = _standard(problem, values)
        weight = problem.weight / farness(far, deviation(far, problem.weight))
        fit = refined(problem._replace(weight=weight), values, scale, max_steps=_STEPS)
        if fit is None:
            break
        moved, values = fit[1] - values, fit[1]
        if (np.abs(moved) <= _SETTLED * scale).all():
            break
    return values


def _first_rows(problem: Problem) -> list[np.ndarray]:
    """Return rows to start from: those near a smooth function, and some draws of few rows."""
    n_rows, n_needed = len(problem.weight), len(problem.equation.constants) + 2
    near = _near_a_function(problem)
    chosen = [np.flatnonzero(near)] if near.sum() >= n_needed else []
    if n_rows < settings.FOLLOWING_ROWS:
        rng = np.random.default_rng(0)
        n_drawn = min(n_rows, 2 * n_needed)
        draws = range(settings.DRAWS)
        chosen += [np.sort(rng.choice(n_rows, n_drawn, replace=False)) for _ in draws]
    return chosen or [np.arange(n_rows)]


def _near_a_function(problem: Problem) -> np.ndarray:
    """Say which rows are near a smooth function of the other columns, or a polynomial of all."""
    if problem.target is None:
        near = rows_near_an_equation(
            problem.columns[list(problem.equation.columns)], problem.weight
        )
    else:
        table = prepared(problem.columns, problem.target, problem.weight)
        near = good_rows(table.table) if len(table.columns) else np.ones(len(problem.weight), bool)
    return near


def _standard(problem: Problem, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals, and these over the noise of rows; infinite where there are none."""
    residuals = problem.residuals(values)
    residuals = np.where(np.isfinite(residuals), residuals, np.inf)
    defined = np.isfinite(residuals)
    far = residuals.copy()
    if problem.target is not None and defined.any():
        predicted = problem.columns[problem.target, defined] - residuals[defined]
        noise = variance_of_noise(
            residuals[defined],
            predicted,
            spread=without_tails,
            least_gain=settings.UNEQUAL_ROBUST_GAIN,
        )
        variance = noise.at(predicted)
        far[defined] /= np.sqrt(variance / np.median(variance))
    return residuals, far
