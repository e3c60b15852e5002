"""Rows whose noise grows with the target: relative errors, which instruments often have."""

import numpy as np

from vanishing.fitting.unequal_noise import variance_of_noise
from vanishing.laws import settings
from vanishing.laws.problem import LawTable, surrogate_of

_ROUNDING = 1e-14  # mean square relative to the target's


def with_equal_noise(table: LawTable, predicted: np.ndarray | None) -> LawTable:
    """Return a table whose rows count by the inverse of their variance, if that is unequal.

    Parameters
    ----------
    table : LawTable
    predicted : array of shape (n_rows,) or None
        What a law says of the target; None where none was found, and a surrogate is asked.
    """
    if predicted is None:
        surrogate, coordinates = surrogate_of(table)
        if surrogate.limited:  # it misses more than noise
            return table
        predicted = surrogate.values(coordinates)
    good = np.isfinite(predicted)
    weight = table.weight[good]
    residuals = table.y[good] - predicted[good]
    with np.errstate(over="ignore"):  # what is infinite is larger than any noise
        left = float(weight @ residuals**2) / max(float(weight.sum()), 1e-300)
    if not _ROUNDING * table.norm < left < settings.UNEQUAL_LEFT * table.variance:
        return table
    gain = settings.UNEQUAL_GAIN
    variance = variance_of_noise(residuals, predicted[good], weight, least_gain=gain)
    if not variance.power:
        return table
    precision = np.zeros(table.n_rows)
    precision[good] = 1.0 / variance.at(predicted[good])
    precision[~good] = precision[good].min()
    precision *= table.weight.sum() / (table.weight @ precision)
    return table._replace(weight=table.weight * precision, precision=precision)
