"""Powers with any exponents: products of them, and forms times a power of a second variable."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vanishing.equations.forms import (
    FORMS,
    Form,
    logarithmic_law,
    power_law,
    times_power,
)
from vanishing.fitting.normal import inverse
from vanishing.laws import settings
from vanishing.laws.form_fits import FormProblem, form_fit
from vanishing.laws.forms import may_be_fitted
from vanishing.laws.problem import Reduced
from vanishing.laws.reductions import Logarithms, gram_of_gradients
from vanishing.laws.refit import Fitted

_SMALL = 0.03  # of the target's size: logarithms of less are those of noise


@np.errstate(all="ignore")
def fits_with_powers(
    reduced: Reduced, forms: Sequence[Form], noise: float, progress: Callable
) -> list[Fitted]:
    """Fit a product of powers of all variables, and forms of one of two times a power of the other.

    Parameters
    ----------
    reduced : Reduced
    forms : sequence of Form
    noise : float
        The least mean square that is known: what forms have to come near to.
    progress : callable
        Called before each fit: it may raise, to interrupt.
    """
    fits: list[Fitted | None] = []
    problem = FormProblem(reduced)
    if len(reduced.w) > 1 and reduced.state.positive.all() and FORMS["power law"] in forms:
        progress()
        fits.append(_power_law(problem, noise))
        if not reduced.state.factor.any():
            fits.append(_logarithmic_law(problem, noise))
    for place, exponent in _factors(reduced):
        for form in forms:
            if form.n_variables == 1:
                progress()
                both = times_power(form)
                power = next(name for name in both.constants if name not in form.constants)
                places = ((1 - place, 1.0), (place, 1.0))
                fits.append(form_fit(problem, both, places, noise, {power: exponent}))
    return [fit for fit in fits if fit is not None]


def _power_law(problem: FormProblem, noise: float) -> Fitted | None:
    """Return a product of powers of those variables that matter, from a fit of logarithms."""
    reduced = problem.reduced
    y = reduced.Y * np.sign(np.average(reduced.Y, weights=reduced.table.weight))
    large = y > _SMALL * np.sqrt(np.mean(y**2))
    if np.mean(large) < settings.LEAST_NONZERO:
        return None
    # Rows of equal noise tell logarithms apart in proportion to the target.
    root = reduced.root[large] * reduced.factor[large] * y[large]
    kept, exponents = _significant(np.log(reduced.w[:, large]), np.log(y[large]), root)
    form = power_law(len(kept)) if kept else None
    table = reduced.table
    if form is None or not may_be_fitted(form, table.n_observations, table.n_columns):
        return None
    given = dict(zip(form.constants[1:], exponents.tolist(), strict=True))
    return form_fit(problem, form, tuple((i, 1.0) for i in kept), noise, given)


def _logarithmic_law(problem: FormProblem, noise: float) -> Fitted | None:
    """Return a sum of logarithms of those variables that matter: of targets that are logarithms."""
    reduced = problem.reduced
    kept, _ = _significant(np.log(reduced.w), reduced.Y, reduced.pull)
    form = logarithmic_law(len(kept)) if len(kept) > 1 else None
    table = reduced.table
    if form is None or not may_be_fitted(form, table.n_observations, table.n_columns):
        return None
    return form_fit(problem, form, tuple((i, 1.0) for i in kept), noise)


def _significant(
    logs: np.ndarray, target: np.ndarray, root: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """Return which logarithms a target depends on, a constant aside, and their coefficients.

    The least significant is dropped, again and again. ``root`` is that of the weights of rows.
    """
    kept = list(range(len(logs)))
    while kept:
        design = np.vstack([logs[kept], np.ones_like(target)]) * root
        covariance = inverse(design @ design.T)
        coef = covariance @ (design @ (target * root))
        left = target * root - coef @ design
        variance = covariance.diagonal() * (left @ left) / max(len(left) - len(coef), 1)
        t = coef[:-1] ** 2 / variance[:-1]
        least = int(np.argmin(t))
        if not np.isfinite(t).all() or t[least] > settings.SIGNIFICANT_EXPONENT:
            return kept, coef[:-1]
        del kept[least]
    return kept, np.empty(0)


def _factors(reduced: Reduced) -> Iterator[tuple[int, float]]:
    """Yield variables of two that enter by a power alone, and its exponent, as a surrogate says."""
    state, table = reduced.state, reduced.table
    if state.n_variables != 2:
        return
    rows = slice(0, settings.FIRST_ROWS)
    logarithms = Logarithms(table.columns[:, rows], table.positive)
    gram, _ = gram_of_gradients(state, logarithms, table.weight[rows])
    for i in np.flatnonzero(state.positive):
        exponent = float(gram[i, -1] / gram[-1, -1])
        left = gram[i, i] - exponent**2 * gram[-1, -1]
        if left < settings.REDUCTION_RANK and np.isfinite(exponent):
            yield int(i), exponent
