"""Fits of the benchmark of curves, and their judge.

The prediction of a law is compared with fresh rows without noise, of the same ranges. It counts as

- "found" if constants of its own formula make it the curve up to rounding, it has no more of them
  than the curve has, and its error is at most the noise;
- "approximation" if its error is at most the noise, and its verdict has this word;
- "wrong" in all other cases.
"""

import dataclasses

import numpy as np
from curve_tables import curve_table
from law_fits import fitted, record
from law_judge import is_law
from law_tables import rms
from scipy.optimize import least_squares

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.expressions import Column, Number, parts_of

FRESH_ROWS = 1_000
SAME = 1e-6  # error of a formula beside the target, with the best constants
WORD = "approximation"


def can_be(law, X, y, n_constants):
    """Say whether some constants make the formula of a law the curve, as many as it has."""
    numbers = {p: None for p in parts_of(law.solution) if isinstance(p, Number) and p.std}
    if max(len(law.constants), 1) > n_constants or not numbers:
        return False
    start = np.array([number.value for number in numbers])
    places = {number: Column(X.shape[1] + 1 + k) for k, number in enumerate(numbers)}
    value = Differentiable(_replaced(law.solution, places))
    columns = [*X.T, np.zeros(len(y))]
    wanted = [X.shape[1] + 1 + k for k in range(len(start))]
    scale, size = np.abs(start), rms(y)

    def residuals(t):
        return np.broadcast_to(value.value([*columns, *(t * scale)]), y.shape) / size - y / size

    def jacobian(t):
        slopes = value.gradient([*columns, *(t * scale)], wanted)
        return np.column_stack([np.broadcast_to(s, y.shape) for s in slopes]) * scale / size

    with np.errstate(all="ignore"):
        try:
            fit = least_squares(residuals, start / scale, jacobian, xtol=1e-15, ftol=1e-15)
        except ValueError:
            return False
    return bool(rms(fit.fun) < SAME)


def _replaced(node, places):
    """Return an expression with variables in place of some of its numbers."""
    if isinstance(node, Number):
        return places.get(node, node)
    changes = {}
    for field in dataclasses.fields(node):
        part = getattr(node, field.name)
        if isinstance(part, tuple):
            changes[field.name] = tuple(_replaced(one, places) for one in part)
        elif dataclasses.is_dataclass(part):
            changes[field.name] = _replaced(part, places)
    return dataclasses.replace(node, **changes)


def outcome_of(law, fresh, deviation, n_constants):
    """Return the outcome of a claim, and its error beside the noise."""
    X, y = fresh(FRESH_ROWS, np.random.RandomState(1))
    with np.errstate(all="ignore"):
        error = rms(law.predict(X) - y) / deviation
    if not error <= 1.0:
        return "wrong", error
    true = can_be(law, X, y, n_constants) or is_law(law, lambda n, random, _: fresh(n, random))
    return "found" if true else WORD if WORD in law.verdict else "wrong", error


def of_curve(group, curve, n_samples, noise, seed):
    """Fit a table of a curve, and judge the best law."""
    X, y, fresh, truth = curve_table(curve, n_samples, noise, seed)
    finder, seconds = fitted(X, y, tuple(curve.columns), "y")
    made = record(finder, seconds, group, curve.name, truth, False)
    if not finder.laws_:
        return made
    _, exact = fresh(10 * FRESH_ROWS, np.random.RandomState(2))
    deviation = noise * rms(exact)
    outcome, error = outcome_of(finder.laws_[0], fresh, deviation, len(curve.constants))
    return made._replace(outcome=outcome, note=f"(error {error:.2g} of the noise)")
