"""Which rows are wrong? Those far from a smooth function, or from an equation, of the others."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, eigh

from vanishing.fitting.lack_of_fit import standardised
from vanishing.fitting.normal import solution
from vanishing.fitting.smooth_terms import (
    exponents_up_to,
    legendre_products,
    smooth_coordinates,
)
from vanishing.fitting.surrogate import fit_surrogate
from vanishing.laws import settings
from vanishing.laws.problem import LawTable

_FITS = 8


def deviation(residual: np.ndarray, weight: np.ndarray) -> float:
    """Estimate the standard deviation of residuals by the median of their absolute values."""
    order = np.argsort(np.abs(residual), kind="stable")
    total = np.cumsum(weight[order])
    middle = order[np.searchsorted(total, total[-1] / 2)]
    return max(1.4826 * float(np.abs(residual[middle])), 1e-300)


def farness(residual: np.ndarray, scale: float) -> np.ndarray:
    """Return what the weights of rows are divided by: infinite where its square overflows."""
    with np.errstate(over="ignore"):
        return 1.0 + (residual / (settings.HALF_WEIGHT * scale)) ** 2


def good_rows(table) -> np.ndarray:
    """Say which rows of a table are near a surrogate of the target that fits most rows.

    Weights 1 / (1 + (r / 2 s)^2) let rows count less the farther they are; then those beyond 4.5
    deviations are left out.
    """
    coordinates = smooth_coordinates(table.columns, table.positive)
    factor = np.ones(table.n_rows)
    weight = table.weight
    for _ in range(_FITS):
        surrogate = fit_surrogate(coordinates, factor, table.y, weight)
        residual = table.y - surrogate.values(coordinates)
        scale = deviation(residual, table.weight)
        weight = table.weight / farness(residual, scale)
    return np.abs(residual) <= settings.FAR * scale


def rows_near_a_sum(table: LawTable, progress: Callable) -> np.ndarray:
    """Say which rows of a table are near the sum of columns that fits most rows.

    All are, where there are too few rows for as many columns.
    """
    terms = np.vstack([np.ones(table.n_rows), standardised(table.columns, table.weight)])
    good = np.ones(table.n_rows, dtype=bool)
    if table.n_observations < 2 * len(terms):
        return good
    weight = table.weight
    for _ in range(_FITS):
        progress()
        coef = solution((terms * weight) @ terms.T, terms @ (weight * table.y))
        residual = table.y - coef @ terms
        scale = deviation(residual, table.weight)
        weight = table.weight / farness(residual, scale)
    # Rounding differs from row to row, and is no reason to leave one out.
    return np.abs(residual) <= max(settings.FAR * scale, settings.EXACT_LINK * table.norm**0.5)


def rows_near_an_equation(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Say which rows are near the polynomial equation that most rows are nearest to."""
    low, high = np.quantile(columns, [0.02, 0.98], axis=1)
    unit = (2 * columns - (low + high)[:, None]) / np.maximum(high - low, 1e-300)[:, None]
    best = (np.inf, np.ones(len(weight), dtype=bool))
    for degree in range(1, 5):
        exponents = exponents_up_to(len(unit), 10_000, degree)
        if len(exponents) > 130 or len(weight) < 8 * len(exponents):
            break
        values = legendre_products(np.clip(unit, -3.0, 3.0), exponents)
        slopes = _slopes(values, exponents, unit)
        now = weight
        for _ in range(_FITS):
            gram = (values * now) @ values.T
            steep = sum((s * now) @ s.T for s in slopes)
            try:
                vector = eigh(steep, gram + 1e-10 * np.trace(gram) * np.eye(len(gram)))[1][:, -1]
            except LinAlgError:
                break
            size = np.sqrt(sum((vector @ s) ** 2 for s in slopes)) + 1e-12
            residual = (vector @ values) / size
            scale = deviation(residual, weight)
            now = weight / farness(residual, scale)
        # More terms always fit better: a higher degree has to halve the deviation to be taken.
        if scale < 0.5 * best[0]:
            best = (scale, np.abs(residual) <= settings.FAR * scale)
    return best[1]


def _slopes(values, exponents, unit) -> list[np.ndarray]:
    """Return the derivatives of the terms by each variable, by differences."""
    step = 1e-5
    slopes = []
    for column in range(len(unit)):
        moved = unit.copy()
        moved[column] += step
        slopes.append((legendre_products(np.clip(moved, -3.0, 3.0), exponents) - values) / step)
    return slopes
