"""A target of one product of powers, y = M g(w): the exponents of w, where g is not known.

In logarithms u the target is p.u + Q(a.u): what is curved in it is curved along a alone.
"""

import numpy as np

from vanishing.fitting import student
from vanishing.fitting.normal import solution
from vanishing.laws import settings
from vanishing.laws.exponents import LogRegression

_DEGREE = 5  # of Q
_STEPS = 15
_RIDGE = 1e-9  # for directions that say the same: along a, those of a and of Q


def index_exponents(rows: LogRegression) -> np.ndarray | None:
    """Return simple exponents of a product w with log |y| = p.u + Q(log |w|), or None.

    A product has two columns at least. Those of both signs have whole exponents.
    """
    n, n_rows = rows.logs.shape
    n_curved = n * (n + 1) // 2
    if n < 2 or n_rows < settings.ROWS_PER_CURVATURE * (n_curved + n + 1):
        return None
    middle = rows.logs.mean(axis=1, keepdims=True)
    spread = np.maximum(rows.logs.std(axis=1, keepdims=True), 1e-300)
    u = (rows.logs - middle) / spread
    direction = _refined(u, rows, _most_curved(u, rows))
    return _simple_direction(direction / spread[:, 0], rows.signed)


def _fit(design: np.ndarray, rows: LogRegression) -> np.ndarray:
    """Return the coefficients of a regression in which rows far from it count little."""
    pull = rows.weight.copy()
    coef = np.zeros(len(design))
    for _ in range(_STEPS):
        weighted = design * pull
        last, coef = coef, solution(weighted @ design.T, weighted @ rows.target, ridge=_RIDGE)
        left = rows.target - coef @ design
        pull = rows.weight * student.pulls(left, student.squared_scale(left, rows.weight))
        if np.abs(coef - last).max() <= 1e-3 * np.abs(coef).max():
            break
    return coef


def _most_curved(u: np.ndarray, rows: LogRegression) -> np.ndarray:
    """Return the direction in which the best quadratic function is curved most."""
    n = len(u)
    first, second = np.triu_indices(n)
    coef = _fit(np.vstack([np.ones_like(u[:1]), u, u[first] * u[second]]), rows)
    curvature = np.zeros((n, n))
    curvature[first, second] = coef[1 + n :]
    values, vectors = np.linalg.eigh(curvature + curvature.T)
    return vectors[:, np.argmax(np.abs(values))]


def _refined(u: np.ndarray, rows: LogRegression, direction: np.ndarray) -> np.ndarray:
    """Return the direction of a better function of one variable, by Gauss-Newton."""
    n, powers = len(u), np.arange(2, _DEGREE + 1)[:, np.newaxis]
    for _ in range(_STEPS):
        s = direction @ u
        size = np.abs(s).max()
        curved = (s / size) ** powers
        base = np.vstack([np.ones_like(u[:1]), u, curved])
        coef = _fit(base, rows)
        slope = coef[1 + n :] @ (powers * (s / size) ** (powers - 1)) / size
        step = _fit(np.vstack([base, slope * u]), rows)[len(base) :]
        step -= direction * (direction @ step)
        # A step may overshoot where Q is poor.
        step *= min(1.0, 0.5 / max(float(np.linalg.norm(step)), 1e-12))
        direction = direction + step
        direction = direction / np.linalg.norm(direction)
        if np.linalg.norm(step) < 1e-4:
            break
    return direction


def _simple_direction(direction: np.ndarray, signed: np.ndarray) -> np.ndarray | None:
    """Return a multiple of a direction whose entries are near halves, or whole; None if none is."""
    # A column of both signs has the exponent 1, if any.
    order = np.lexsort([-np.abs(direction), ~signed])
    for place in order:
        if abs(direction[place]) < settings.NO_EXPONENT * np.abs(direction).max():
            continue
        ratios = direction / direction[place]
        parts = np.where(signed, 1.0, 2.0)
        simple = np.round(parts * ratios) / parts
        if np.abs(ratios - simple).max() < settings.NO_EXPONENT and np.abs(simple).max() <= 4.0:
            return simple if np.count_nonzero(simple) > 1 else None
    return None
