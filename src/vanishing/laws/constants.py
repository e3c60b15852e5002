"""Constants of an equation, fitted to rows by least squares in units of the target."""

from itertools import islice, product
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import least_squares

from vanishing.algebra.equations import GivenEquation, listed
from vanishing.algebra.expressions import Apply, Sum, columns_of, parts_of
from vanishing.algebra.relations import relations
from vanishing.fitting.normal import unshrunk, widened
from vanishing.fitting.unequal_noise import noise_variance
from vanishing.laws import settings

_NEWTON = 20  # steps to the nearest solution
_STEPS_THERE = 5  # to the nearest point where an equation holds
_VARIANCE_FITS = 8  # until weights and constants agree


class Undetermined(ValueError):
    """An error about constants that rows do not determine, with their names."""

    def __init__(self, message: str, names: list[str]):
        super().__init__(message)
        self.names = names


class Problem(NamedTuple):
    """An equation on rows.

    Attributes
    ----------
    equation : GivenEquation
    columns : ndarray of shape (n_columns, n_rows)
    weight : ndarray of shape (n_rows,)
        What each row counts beside the others.
    target : int or None
        The column in whose units residuals are; None for deviations from the equation relative to
        the spread of all columns.
    """

    equation: GivenEquation
    columns: np.ndarray
    weight: np.ndarray
    target: int | None

    def rows(self, chosen) -> "Problem":
        """Return the problem on some of the rows."""
        return self._replace(columns=self.columns[:, chosen], weight=self.weight[chosen])

    def mean_square(self, values: np.ndarray) -> float:
        """Return a weighted mean of squares."""
        return float(self.weight @ values**2 / self.weight.sum())

    def spread(self, column: int) -> float:
        """Return the standard deviation of a column."""
        values = self.columns[column]
        return np.sqrt(self.mean_square(values - np.average(values, weights=self.weight)))

    # -- Residuals --------------------------------------------------------------------------------

    def value(self, constants, columns=None) -> np.ndarray:
        """Return what the equation says is zero."""
        return self.equation.value(self.columns if columns is None else columns, constants)

    def slope(self, constants, column: int, columns=None) -> np.ndarray:
        """Return its derivative with respect to a column."""
        return self.equation.slope(self.columns if columns is None else columns, constants, column)

    def constant_slopes(self, constants, columns=None) -> np.ndarray:
        """Return derivatives with respect to all constants, shape (n_constants, n_rows)."""
        return self.equation.jacobian(self.columns if columns is None else columns, constants)

    def gradient(self, constants) -> np.ndarray:
        """Return how much the value changes with a spread of all columns."""
        slopes = [self.slope(constants, i) * self.spread(i) for i in self.equation.columns]
        return np.sqrt(np.sum(np.square(slopes), axis=0))

    def nearest_points(self, constants) -> np.ndarray:
        """Return columns moved to where the equation holds, each in units of its spread."""
        columns, used = self.columns.copy(), list(self.equation.columns)
        spread = np.array([[self.spread(i)] for i in used])
        # What is left of the way there would tell where a point came from.
        for _ in range(_STEPS_THERE):
            slopes = spread * [self.slope(constants, i, columns) for i in used]
            step = self.value(constants, columns) / np.sum(slopes**2, axis=0)
            columns[used] -= spread * slopes * step
        return columns

    def unit(self, constants) -> np.ndarray:
        """Return what a residual of one changes the value by, to first order."""
        if self.target is None:
            return self.gradient(constants)
        return self.slope(constants, self.target)

    def solutions(self, constants) -> np.ndarray:
        """Return columns in which the target is the solution nearest to its value, by Newton.

        Where there is none it is what the first step leads to.
        """
        assert self.target is not None
        columns = self.columns.copy()
        size = np.sqrt(self.mean_square(columns[self.target]))
        first = None
        for _ in range(_NEWTON):
            slope = self.slope(constants, self.target, columns)
            step = self.value(constants, columns) / slope
            columns[self.target] -= step
            if first is None:
                first = columns[self.target].copy()
            if np.max(np.abs(step), where=np.isfinite(step), initial=0.0) <= 1e-13 * size:
                break
        solved = np.abs(step) <= 1e-6 * size
        columns[self.target] = np.where(solved, columns[self.target], first)
        return columns

    def residuals(self, constants) -> np.ndarray:
        """Return residuals in units of the target; infinite or NaN where there are none."""
        with np.errstate(all="ignore"):
            if self.target is None:
                return self.value(constants) / self.gradient(constants)
            return self.columns[self.target] - self.solutions(constants)[self.target]

    def jacobian(self, constants, scale) -> np.ndarray:
        """Return derivatives of the residuals, shape (n_rows, n_constants)."""
        with np.errstate(all="ignore"):
            if self.target is not None:
                columns = self.solutions(constants)
                slope = self.slope(constants, self.target, columns)
                return (self.constant_slopes(constants, columns) / slope).T
            steps = 1e-6 * np.diag(np.maximum(np.abs(constants), 1e-3 * scale))
            return np.array(
                [
                    (self.residuals(constants + h) - self.residuals(constants - h)) / (2 * h.sum())
                    for h in steps
                ]
            ).T


class Constants(NamedTuple):
    """Fitted constants.

    Attributes
    ----------
    values : ndarray of shape (n_constants,)
    covariance : ndarray of shape (n_constants, n_constants)
    residuals : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        What each row counted in the fit: its own weight, over its variance where noise is unequal.
    """

    values: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray
    weight: np.ndarray


def fit_constants(problem: Problem) -> Constants:
    """Fit the constants of an equation, from several starts."""
    names = problem.equation.constants
    if not names:
        values = scale = np.empty(0)
    else:
        scale = _scales(problem)
        values = _least_squares(problem, scale)
    residuals = _defined(problem, values)
    problem, values = _with_equal_noise(problem, values, scale, residuals)
    residuals = _defined(problem, values)
    covariance = _covariance(problem, values, scale, residuals) if names else np.empty((0, 0))
    return Constants(values, covariance, residuals, problem.weight)


def _least_squares(problem: Problem, scale) -> np.ndarray:
    """Return the constants of the best of several starts."""
    best: tuple[float, np.ndarray] | None = None
    for start in _starts(problem, scale)[: settings.REFINED_STARTS]:
        fit = refined(problem, start, scale)
        if fit is not None and (best is None or fit[0] < best[0] * (1.0 - 1e-9)):
            best = fit
    if best is None:
        names = problem.equation.constants
        raise ValueError(
            f"no values of {listed(names)} were found for which the equation is defined on every "
            "row."
        )
    return _signed(problem, *best)


def _with_equal_noise(problem: Problem, values, scale, residuals) -> tuple[Problem, np.ndarray]:
    """Return rows that count by the inverse of their variance, where that grows with the target.

    Without, few rows of large noise decide the constants, and their errors cannot be told. The fit
    starts from the constants for equal noise and from what the measured target says of its noise:
    where few rows decided the former, these look better than they are.
    """
    if problem.target is None or np.ptp(problem.weight):
        return problem, values
    measured = problem.columns[problem.target]
    left = problem.mean_square(residuals)
    rounding = settings.EXACT_CHECK**2 * problem.mean_square(measured)
    if not rounding < left < settings.UNEQUAL_LEFT * problem.spread(problem.target) ** 2:
        return problem, values
    best = (len(residuals) * np.log(left) - settings.UNEQUAL_GAIN, problem, values)
    for noise, predicted in ((residuals, measured - residuals), (measured, measured)):
        variance = noise_variance(noise, predicted)
        fit = values
        for i in range(_VARIANCE_FITS):
            trial = problem._replace(weight=np.mean(variance) / variance)
            fit = _moved(trial, fit, scale)
            noise = trial.residuals(fit)
            if not np.isfinite(noise).all():
                break
            score = len(noise) * np.log(np.mean(noise**2 / variance)) + np.log(variance).sum()
            # At first the variance is that of what was measured, which follows its noise.
            if i and score < best[0]:
                best = (score, trial, fit)
            whole = unshrunk(noise, _leverage(trial, fit, scale))
            last, variance = variance, noise_variance(whole, measured - noise)
            if i and np.allclose(last, variance, rtol=1e-3):
                break
    return best[1:]


def _moved(problem: Problem, values: np.ndarray, scale) -> np.ndarray:
    """Return the constants that least squares leads to from others."""
    fit = refined(problem, values, scale) if len(values) else None
    return values if fit is None else fit[1]


def _slopes(problem: Problem, values, scale) -> np.ndarray:
    """Return the derivatives of weighted residuals, 0 where there are none."""
    jacobian = problem.jacobian(values, scale) * np.sqrt(problem.weight)[:, np.newaxis]
    return np.where(np.isfinite(jacobian), jacobian, 0.0)


def _leverage(problem: Problem, values, scale) -> np.ndarray:
    """Return the share of its own noise that each row's prediction takes up."""
    if not len(values):
        return np.zeros(len(problem.weight))
    jacobian = _slopes(problem, values, scale)
    norm = np.linalg.norm(jacobian, axis=0)
    return np.sum(np.linalg.qr(jacobian / np.where(norm > 0, norm, 1.0))[0] ** 2, axis=1)


def _signed(problem: Problem, mean_square, values) -> np.ndarray:
    """Return constants with signs that leave roots positive, else positive where both are alike."""

    def shortcoming(values):
        return float(np.mean(problem.equation.on_wrong_branch(problem.columns, values)))

    for k in range(len(values)):
        flipped = values.copy()
        flipped[k] *= -1.0
        flipped_square = problem.mean_square(problem.residuals(flipped))
        if abs(flipped_square - mean_square) <= 1e-9 * mean_square:
            values = min(values, flipped, key=lambda v: (shortcoming(v), v[k] < 0.0))
    return values


def _defined(problem, values) -> np.ndarray:
    residuals = problem.residuals(values)
    wrong = int(np.sum(~np.isfinite(residuals)))
    if wrong:
        raise ValueError(
            f"the equation is not defined, or cannot be solved for its target, on {wrong} of "
            f"{len(residuals)} rows: leave these rows out, or write it differently."
        )
    return residuals


def refined(problem: Problem, start, scale) -> tuple[float, np.ndarray] | None:
    """Return the mean square of the residuals and the constants that least squares leads to."""
    root = np.sqrt(problem.weight)
    size = 1.0
    if problem.target is not None:
        size = np.sqrt(problem.mean_square(problem.columns[problem.target])) or 1.0
    largest = 1e6 * size

    def residuals(t):
        values = problem.residuals(t * scale)
        return root * np.where(np.isfinite(values), np.clip(values, -largest, largest), largest)

    def jacobian(t):
        values = problem.jacobian(t * scale, scale) * scale * root[:, np.newaxis]
        return np.where(np.isfinite(values), values, 0.0)

    tolerance = 1e-14
    fit = least_squares(
        residuals,
        start / scale,
        jacobian,
        method="lm",
        x_scale="jac",
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
        max_nfev=200,
    )
    values = fit.x * scale
    mean_square = problem.mean_square(problem.residuals(values))
    return (mean_square, values) if np.isfinite(mean_square) else None


def _covariance(problem, values, scale, residuals) -> np.ndarray:
    names = problem.equation.constants
    jacobian = _slopes(problem, values, scale)
    norm = np.linalg.norm(jacobian, axis=0)
    for name, size in zip(names, norm, strict=True):
        if not size:
            raise Undetermined(f"the rows do not determine the constant {name!r}.", [name])
    unit, singular, vectors = np.linalg.svd(jacobian / norm, full_matrices=False)
    if singular[-1] < settings.SINGULAR * singular[0]:
        loose = [n for n, v in zip(names, vectors[-1], strict=True) if abs(v) > 0.05]
        raise Undetermined(
            f"the rows do not determine {listed(loose)} one by one, but a combination of these "
            "constants: put a number in place of one of them.",
            loose,
        )
    inverse = vectors.T / singular
    covariance = inverse @ inverse.T
    left = residuals * np.sqrt(problem.weight)
    # Weights say what rows count beside one another; they make no new observations.
    rest = float(left @ left) / max(len(left) - len(values), 1)
    if rest and len(left) >= settings.FEW_ROWS:  # fewer do not tell how unequal noise is
        pull = jacobian / norm * unshrunk(left, np.sum(unit**2, axis=1))[:, np.newaxis]
        covariance = widened(covariance, pull.T @ pull / rest)
    return rest * covariance / norm / norm[:, np.newaxis]


# -- Starts ---------------------------------------------------------------------------------------


def _scales(problem: Problem) -> np.ndarray:
    """Return sizes of the constants that make all terms alike in size, and arguments near one."""
    n = problem.equation.n_columns
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(problem.columns))
    typical = np.array(
        [np.mean(row[np.isfinite(row)]) if np.any(np.isfinite(row)) else 0.0 for row in logs]
    )
    rows = relations(problem.equation.zero.node, n)
    places = sorted({place for row in rows for place in row.exponents if not 0 <= place < n})
    matrix = np.array([[row.exponents.get(place, 0.0) for place in places] for row in rows])
    right = [
        -row.number - sum(e * typical[i] for i, e in row.exponents.items() if 0 <= i < n)
        for row in rows
    ]
    logs = np.linalg.lstsq(matrix, np.array(right), rcond=None)[0]
    sizes = dict(zip(places, np.exp(np.clip(logs, -300.0, 300.0)), strict=True))
    return np.array([sizes.get(n + k, 1.0) for k in range(len(problem.equation.constants))])


def _grids(equation: GivenEquation) -> list[tuple[float, ...]]:
    """Return where to start each constant from, relative to its size."""
    n = equation.n_columns
    grids: list[tuple[float, ...]] = [settings.START_FACTORS] * len(equation.constants)
    for node in parts_of(equation.zero.node):
        if not isinstance(node, Apply) or node.name not in ("sin", "cos", "tan"):
            continue
        for part in node.argument.parts if isinstance(node.argument, Sum) else (node.argument,):
            places = columns_of(part)
            is_phase = all(place >= n for place in places)
            for place in places:
                if place >= n and grids[place - n] is not settings.START_FREQUENCIES:
                    grids[place - n] = (
                        settings.START_PHASES if is_phase else settings.START_FREQUENCIES
                    )
    return grids


def _starts(problem: Problem, scale) -> list[np.ndarray]:
    """Return starts, the best first: constants that are not linear on a grid, the others solved."""
    step = max(1, problem.columns.shape[1] // settings.START_ROWS)
    problem = problem.rows(slice(None, None, step))
    linear = list(problem.equation.linear)
    others = [k for k in range(len(scale)) if k not in linear]
    grids = [grid for k, grid in enumerate(_grids(problem.equation)) if k in others]
    while prod(map(len, grids)) > settings.MAX_STARTS:
        longest = max(
            range(len(grids)), key=lambda i: (grids[i] != settings.START_FREQUENCIES, len(grids[i]))
        )
        if len(grids[longest]) == 1:
            break
        grids[longest] = grids[longest][:-1]
    ranked = []
    for i, factors in enumerate(islice(product(*grids), settings.MAX_STARTS)):
        start = scale.copy()
        start[others] *= factors
        start = _solved(problem, start, linear)
        residuals = problem.residuals(start)
        residuals = residuals[np.isfinite(residuals)]
        # Rows on which a start is not defined count more than any residual.
        missing = len(problem.weight) - len(residuals)
        ranked.append(
            (missing, float(np.mean(residuals**2)) if len(residuals) else np.inf, i, start)
        )
    return [start for *_, start in sorted(ranked, key=lambda entry: entry[:3])]


def _solved(problem: Problem, start, linear) -> np.ndarray:
    """Return a start in which the linear constants are solved for, in units of the target."""
    for _ in range(3 if linear else 0):
        with np.errstate(all="ignore"):
            unit = np.sqrt(problem.weight) / problem.unit(start)
            without = start.copy()
            without[linear] = 0.0
            value = problem.value(without) * unit
            slopes = problem.constant_slopes(start)[linear] * unit
        good = np.isfinite(value) & np.isfinite(slopes).all(axis=0)
        norm = np.linalg.norm(slopes[:, good], axis=1)
        if not (good.any() and norm.all() and np.isfinite(norm).all()):
            break
        try:
            solution = np.linalg.lstsq(
                (slopes[:, good] / norm[:, None]).T, -value[good], rcond=None
            )[0]
        except LinAlgError:
            break
        if not solution.any():  # all zero is no law
            break
        start = start.copy()
        start[linear] = solution / norm
    return start
