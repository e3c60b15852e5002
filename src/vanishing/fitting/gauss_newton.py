"""Nonlinear least squares from a good start: steps of Gauss-Newton, halved where they are too long.

From starts that may be far away, scipy.optimize.least_squares is better: of 180 fits of constants
in laws/constants.py, fifteen ended at a larger error with steps that were damped or halved here.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np


class Point(Protocol):
    """Coefficients, and the loss there."""

    coef: np.ndarray
    loss: float

    def step(self) -> np.ndarray | None:
        """Return the step to where the loss would be least; None where nothing is to be gained."""
        ...


P = TypeVar("P", bound=Point)


def gauss_newton(
    point_at: Callable[[np.ndarray], P],
    start: np.ndarray,
    *,
    max_steps: int,
    least_gain: float,
    halvings: int = 5,
) -> P:
    """Return the point that steps lead to, each to a lower loss than the one before.

    Parameters
    ----------
    point_at : callable
        ``point_at(coef)``: the point of these coefficients.
    start : array of shape (n_coefficients,)
    max_steps : int
    least_gain : float
        A step that lowers the loss by less than this share of it is the last.
    halvings : int
        How often a step that does not lower the loss is halved.
    """
    point = point_at(start)
    for _ in range(max_steps):
        step = point.step()
        if step is None:
            break
        trials = (point_at(point.coef + step / 2**halving) for halving in range(halvings + 1))
        better = next((trial for trial in trials if trial.loss < point.loss), None)
        if better is None:
            break
        gain = point.loss - better.loss
        point = better
        if gain < least_gain * point.loss:
            break
    return point
