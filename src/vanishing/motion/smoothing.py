"""Smooth paths through the rows of a run: quintic splines, whose roughness the rows decide.

Third differences of the coefficients are penalised (P-splines: Eilers, Marx 1996), and generalised
cross-validation chooses how strongly. Everything is banded: time grows with the number of rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from scipy.interpolate import BSpline

from vanishing.fitting.unequal_noise import Variance, variance_of_noise
from vanishing.motion import settings

_DEGREE = 5
_THIRD = np.array([-1.0, 3.0, -3.0, 1.0])


class SmoothPath(NamedTuple):
    """A column of a run without its noise.

    Attributes
    ----------
    spline : BSpline
    noise : array of shape (n_rows,)
        Standard deviation of the noise in each row that was measured.
    """

    spline: BSpline
    noise: np.ndarray

    def __call__(self, t: np.ndarray, order: int = 0) -> np.ndarray:
        """Return values, or derivatives of an order, at some times."""
        return self.spline(t, nu=order)


class Measured(NamedTuple):
    """Rows of one column along one run: times in increasing order, values, and weights."""

    t: np.ndarray
    x: np.ndarray
    weight: np.ndarray


def smoothed(columns: Sequence[Measured], noise: float | None = None) -> list[SmoothPath]:
    """Return smooth paths through the rows of one column along several runs.

    How the noise grows with the column, and how large it is, is the same in all runs.

    Parameters
    ----------
    columns : sequence of Measured
        Of each run, at least two rows.
    noise : float, default=None
        Standard deviation of the noise, where it is known.
    """
    spread = max(float(np.ptp(column.x)) for column in columns)
    fits = [_fit(column, column.weight, noise, spread) for column in columns]
    if noise is not None:
        return [SmoothPath(fit.spline, np.full(len(fit.fitted), noise)) for fit in fits]
    x = np.concatenate([column.x for column in columns])
    weight = np.concatenate([column.weight for column in columns])
    fitted = np.concatenate([fit.fitted for fit in fits])
    variance = Variance()
    if len(x) >= settings.GROWING_ROWS:
        variance = variance_of_noise(x - fitted, fitted, weight, least_gain=settings.GROWING_GAIN)
    shapes = [np.sqrt(variance.at(fit.fitted)) for fit in fits]
    if variance.power:
        fits = [
            _fit(column, column.weight / shape**2, None, spread)
            for column, shape in zip(columns, shapes, strict=True)
        ]
    rest, free = 0.0, 0.0
    for column, shape, fit in zip(columns, shapes, fits, strict=True):
        rest += float(column.weight @ ((column.x - fit.fitted) / shape) ** 2)
        free += float(column.weight.sum()) * (1.0 - fit.trace / len(column.x))
    sigma = np.sqrt(rest / max(free, 1e-300))
    return [SmoothPath(f.spline, sigma * shape) for f, shape in zip(fits, shapes, strict=True)]


class _Fit(NamedTuple):
    """A spline, its values on the rows, and how many parameters it is worth."""

    spline: BSpline
    fitted: np.ndarray
    trace: float


def _basis(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return knots, and for each row the first basis function that is not zero, and six values."""
    most = min(settings.KNOTS * len(t), len(t) - _DEGREE - settings.SPARE_SPLINE_ROWS)
    n = int(np.clip(most, settings.LEAST_KNOTS, settings.MOST_KNOTS))
    step = (t[-1] - t[0]) / n
    knots = t[0] + step * np.arange(-_DEGREE, n + _DEGREE + 1)
    matrix = BSpline.design_matrix(np.clip(t, knots[_DEGREE], knots[n + _DEGREE]), knots, _DEGREE)
    return knots, matrix.indices[:: _DEGREE + 1].astype(np.int64), matrix.data.reshape(-1, 6)


def _fit(column: Measured, weight: np.ndarray, noise: float | None, spread: float) -> _Fit:
    """Return the spline of the best strength of the penalty."""
    t, x, _ = column
    knots, places, values = _basis(t)
    n = len(knots) - _DEGREE - 1
    if not np.ptp(x) > 0.0:
        return _Fit(BSpline(knots, np.full(n, x[0]), _DEGREE), x.copy(), 1.0)
    centre = float(x.mean())
    unit = (x - centre) / spread
    gram, cross = _normal(places, values, unit, weight, n)
    penalty = _third_differences(n)
    scale = gram[0].sum() / penalty[0].sum()
    rows, total = len(x), weight.sum()

    def tried(exponent: float):
        coef, trace = _solved(gram + 10.0**exponent * scale * penalty, gram, cross)
        fitted = np.einsum("ij,ij->i", values, coef[places[:, None] + np.arange(6)])
        rest = float(weight @ (unit - fitted) ** 2) / total
        if noise is None:
            score = rest / max(1.0 - settings.GCV_PRICE * trace / rows, 0.02) ** 2
        else:  # Mallows, as the noise is known
            score = rest + 2.0 * (noise / spread) ** 2 * trace / rows
        return score, coef, fitted, trace

    grid = np.arange(*settings.PENALTIES)
    best = min(grid, key=lambda e: tried(e)[0])
    for step in (0.5, 0.25):
        best = min((best - step, best, best + step), key=lambda e: tried(e)[0])
    _, coef, fitted, trace = tried(best)
    spline = BSpline(knots, centre + spread * coef, _DEGREE)
    return _Fit(spline, centre + spread * fitted, min(trace, 0.98 * rows))


def _third_differences(n: int) -> np.ndarray:
    """Return the diagonals of D'D, where D takes third differences of n coefficients."""
    penalty = np.zeros((_DEGREE + 1, n))
    for d in range(4):
        penalty[d, : n - d] = np.convolve(_THIRD, _THIRD[::-1])[3 + d]
        for i in (*range(3), *range(max(3, n - d - 3), n - d)):  # the ends have fewer of them
            low, high = max(0, i + d - 3), min(i, n - 4)
            penalty[d, i] = sum(_THIRD[i - k] * _THIRD[i + d - k] for k in range(low, high + 1))
    return penalty


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _normal(places, values, x, weight, n_coef):
    """Return the Gram matrix of the basis by its diagonals, and products with x."""
    gram, cross = np.zeros((6, n_coef)), np.zeros(n_coef)
    for i in range(len(x)):
        for a in range(6):
            product = weight[i] * values[i, a]
            cross[places[i] + a] += product * x[i]
            for b in range(a, 6):
                gram[b - a, places[i] + a] += product * values[i, b]
    return gram, cross


@numba.njit(cache=True, error_model="numpy", nogil=True)
def _solved(matrix, gram, cross):
    """Return M^-1 c and the trace of M^-1 G, of matrices given by diagonals.

    M = L L', and the inverse is computed inside the band alone (Hutchinson, de Hoog 1985).
    """
    width, n = matrix.shape
    factor = matrix.copy()
    for j in range(n):
        factor[0, j] += 1e-13 * matrix[0, j]
        for k in range(max(0, j - width + 1), j):
            left = factor[j - k, k]
            for i in range(j, min(n, k + width)):
                factor[i - j, j] -= left * factor[i - k, k]
        pivot = np.sqrt(max(factor[0, j], 1e-300))
        for d in range(width):
            factor[d, j] /= pivot
    coef = cross.copy()
    for j in range(n):
        coef[j] /= factor[0, j]
        for d in range(1, min(width, n - j)):
            coef[j + d] -= factor[d, j] * coef[j]
    for j in range(n - 1, -1, -1):
        for d in range(1, min(width, n - j)):
            coef[j] -= factor[d, j] * coef[j + d]
        coef[j] /= factor[0, j]
    inverse = np.zeros((width, n))
    trace = 0.0
    for j in range(n - 1, -1, -1):
        last = min(width, n - j)
        for d in range(last - 1, -1, -1):
            total = 1.0 / factor[0, j] if d == 0 else 0.0
            for k in range(1, last):
                low, high = min(d, k), max(d, k)
                total -= factor[k, j] * inverse[high - low, j + low]
            inverse[d, j] = total / factor[0, j]
            trace += (1.0 if d == 0 else 2.0) * inverse[d, j] * gram[d, j]
    return coef, trace
