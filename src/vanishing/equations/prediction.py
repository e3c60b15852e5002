"""How far a new measurement may be from what a law predicts."""

from typing import Any

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.terms import Evaluator


def variance_of_prediction(law: Any, columns: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the variance of a new measurement about its prediction, row by row.

    That of the constants' errors, to first order, plus that of the noise.

    Parameters
    ----------
    law : Law
        Solved for a target.
    columns : ndarray of shape (n_columns, n_rows)
    predicted : ndarray of shape (n_rows,)
        The target's values.
    """
    place = law.names.index(law.target)
    on_law = columns.copy()
    on_law[place] = predicted
    slopes, covariance = _slopes(law, on_law, place)
    if covariance is None:
        return np.full(len(predicted), np.nan)
    spread = np.sum(slopes * (covariance @ slopes), axis=0)
    return np.maximum(spread, 0.0) + _noise(law, predicted)


def _slopes(law: Any, on_law: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return derivatives of the target by coefficients, or by constants, and their covariance."""
    if law.equation is not None and law.constant_covariance is not None:
        n_columns, values = len(on_law), [value for value, _ in law.constants.values()]
        zero, constants = Differentiable(law.equation), range(n_columns, n_columns + len(values))
        slope, *others = zero.gradient([*on_law, *values], [place, *constants])
        shape = (len(values), on_law.shape[1])
        above = np.array([np.broadcast_to(other, shape[1:]) for other in others]).reshape(shape)
        return -above / slope, law.constant_covariance
    evaluator = Evaluator(law._without_offsets(on_law))
    slope = evaluator.slope(law._terms, law.coef, place)
    return -evaluator.values(law._terms) / slope, law.covariance


def _noise(law: Any, predicted: np.ndarray) -> np.ndarray:
    """Return the variance of the noise."""
    if law.noise is not None:
        return law.noise.at(predicted)
    n_fitted = len(law.constants) or int(np.count_nonzero(law.coef_std))
    freedom = max(law.n_samples - n_fitted, 1)
    return np.full(len(predicted), law.error**2 * max(law.n_samples, 1) / freedom)
