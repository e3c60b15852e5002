"""Constants of an equation, fitted to rows by least squares in units of the target."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from vanishing.algebra.equations import listed
from vanishing.fitting.normal import unshrunk, widened
from vanishing.fitting.unequal_noise import variance_of_noise
from vanishing.laws import settings
from vanishing.laws.given_problem import Problem
from vanishing.laws.starts import scales, starts

_MAX_STEPS = 200  # of least squares
_LARGEST_LOGARITHM = 100.0  # residual of the logarithm of a target that has none
_VARIANCE_FITS = 8  # until weights and constants agree


class Undetermined(ValueError):
    """An error about constants that rows do not determine, with their names."""

    def __init__(self, message: str, names: list[str]):
        super().__init__(message)
        self.names = names


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


def fit_constants(problem: Problem, start: np.ndarray | None = None) -> Constants:
    """Fit the constants of an equation, from several starts, or from one that is near."""
    names = problem.equation.constants
    if not names:
        values = scale = np.empty(0)
    elif start is not None:
        scale = np.where(start == 0.0, 1.0, np.abs(start))
        values = _moved(problem, start, scale)
    else:
        scale = scales(problem)
        values = least_squares_of(problem, scale)
    residuals = _defined(problem, values)
    return settled(*with_equal_noise(problem, values, scale, residuals), scale)


def settled(
    problem: Problem, values: np.ndarray, share: np.ndarray, scale: np.ndarray
) -> Constants:
    """Return constants that fit the rows best, with their covariance.

    ``share`` is that of each row's variance that is noise.
    """
    residuals = _defined(problem, values)
    covariance = np.empty((0, 0))
    if len(values):
        covariance = _covariance(problem, values, scale, residuals, share)
    return Constants(values, covariance, residuals, problem.weight)


def least_squares_of(problem: Problem, scale) -> np.ndarray:
    """Return the constants of the best of several starts."""
    step = max(1, problem.columns.shape[1] // settings.START_ROWS)
    few = problem.rows(slice(None, None, step))
    ends: list[tuple[float, np.ndarray]] = []
    for start, logarithmic in starts(few)[: settings.FOLLOWED_STARTS]:
        steps = settings.FIRST_STEPS
        if logarithmic:
            moved = refined(few, start, scale, max_steps=steps, logarithmic=True)
            start = start if moved is None else moved[1]
        fit = refined(few, start, scale, max_steps=steps)
        if fit is not None:
            ends.append(fit)
            least = min(fit[0] for fit in ends) * (1.0 + 1e-6)
            if sum(fit[0] <= least for fit in ends) >= settings.AGREEING_STARTS:
                break
    whole = []
    for _, start in sorted(_fewest_negative(ends), key=lambda fit: fit[0])[
        : settings.REFINED_STARTS
    ]:
        fit = refined(problem, start, scale)
        whole += [] if fit is None else [fit]
    if not whole:
        names = problem.equation.constants
        raise ValueError(
            f"no values of {listed(names)} were found for which the equation is defined on every "
            "row, with squares that do not overflow: if columns are of sizes far from 1, change "
            "their units."
        )
    return _signed(problem, *min(whole, key=lambda fit: fit[0]))


def _fewest_negative(fits: list[tuple[float, np.ndarray]]) -> list[tuple[float, np.ndarray]]:
    """Return fits, of those that are as good as the best the one with fewest minus signs.

    A sin(w t + f) is -A sin(w t + f + pi).
    """
    least = min((fit[0] for fit in fits), default=0.0) * (1.0 + 1e-6)
    best = [fit for fit in fits if fit[0] <= least]
    others = [fit for fit in fits if fit[0] > least]
    return [
        *sorted(best, key=lambda fit: (int(np.sum(fit[1] < 0)), np.abs(fit[1]).sum()))[:1],
        *others,
    ]


def with_equal_noise(
    problem: Problem, values, scale, residuals
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Return rows that count by the inverse of their variance, where that grows with the target.

    With the constants for these, and the share of each variance that is noise.

    Without, few rows of large noise decide the constants, and their errors cannot be told. The fit
    starts from the constants for equal noise and from what the measured target says of its noise:
    where few rows decided the former, these look better than they are.
    """
    equal = np.ones(len(residuals))
    if problem.target is None or np.ptp(problem.weight):
        return problem, values, equal
    measured = problem.columns[problem.target]
    left = problem.mean_square(residuals)
    rounding = settings.EXACT_CHECK**2 * problem.mean_square(measured)
    most = settings.UNEQUAL_LEFT * problem.spread(problem.target) ** 2
    if not rounding < left < most:
        return problem, values, equal
    best = (len(residuals) * np.log(left) - settings.CHECKED_GAIN, problem, values, equal)
    for noise, predicted in ((residuals, measured - residuals), (measured, measured)):
        growing = variance_of_noise(noise, predicted)
        variance, share = growing.at(predicted), growing.share(predicted)
        fit = values
        for i in range(_VARIANCE_FITS):
            trial = problem._replace(weight=1.0 / variance / np.mean(1.0 / variance))
            fit = _moved(trial, fit, scale)
            noise = trial.residuals(fit)
            if not np.isfinite(noise).all():
                break
            score = len(noise) * np.log(np.mean(noise**2 / variance)) + np.log(variance).sum()
            # At first the variance is that of what was measured, which follows its noise.
            if i and score < best[0] and problem.mean_square(noise) < most:
                best = (score, trial, fit, share)
            whole = unshrunk(noise, _leverage(trial, fit, scale))
            predicted = measured - noise
            growing = variance_of_noise(whole, predicted)
            last, variance, share = variance, growing.at(predicted), growing.share(predicted)
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


def refined(
    problem: Problem, start, scale, *, max_steps: int | None = None, logarithmic: bool = False
) -> tuple[float, np.ndarray] | None:
    """Return the mean square of the residuals and the constants that least squares leads to.

    With ``max_steps`` it ends early; ``logarithmic`` fits the logarithm of the target.
    """
    root = np.sqrt(problem.weight)
    if logarithmic:
        largest = _LARGEST_LOGARITHM
        residuals_of, jacobian_of = problem.log_residuals, problem.log_jacobian
    else:
        size = 1.0
        if problem.target is not None:
            size = np.sqrt(problem.mean_square(problem.columns[problem.target])) or 1.0
        largest = 1e6 * size
        residuals_of, jacobian_of = problem.residuals, problem.jacobian

    def residuals(t):
        values = residuals_of(t * scale)
        return root * np.where(np.isfinite(values), np.clip(values, -largest, largest), largest)

    def jacobian(t):
        values = jacobian_of(t * scale, scale) * scale * root[:, np.newaxis]
        return np.where(np.isfinite(values), values, 0.0)

    first = residuals(start / scale)
    if not np.isfinite(first @ first):  # squares of such sizes overflow: no start
        return None
    tolerance = 1e-14 if max_steps is None else 1e-8
    fit = least_squares(
        residuals,
        start / scale,
        jacobian,
        method="lm",
        x_scale="jac",
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
        max_nfev=max_steps or _MAX_STEPS,
    )
    values = fit.x * scale
    mean_square = problem.mean_square(residuals_of(values))
    return (mean_square, values) if np.isfinite(mean_square) else None


def _covariance(problem, values, scale, residuals, share) -> np.ndarray:
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
    gram_inverse = inverse @ inverse.T
    # Rows whose weight is bounded have less noise than it says.
    covariance = inverse @ (unit.T * share) @ unit @ inverse.T
    left = residuals * np.sqrt(problem.weight)
    # Weights say what rows count beside one another; they make no new observations.
    rest = float(left @ left) / max(len(left) - len(values), 1) / float(np.mean(share))
    if rest and len(left) >= settings.FEW_ROWS:  # fewer do not tell how unequal noise is
        pull = jacobian / norm * unshrunk(left, np.sum(unit**2, axis=1))[:, np.newaxis]
        covariance = widened(covariance, pull.T @ pull / rest, gram_inverse)
    return rest * covariance / norm / norm[:, np.newaxis]
