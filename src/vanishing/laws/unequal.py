"""Rows whose noise grows with the target: relative errors, which instruments often have."""

import numpy as np

from vanishing.laws import settings
from vanishing.laws.problem import LawTable, surrogate_of

_FITS = 6
_ROUNDING = 1e-14  # mean square relative to the target's


def with_equal_noise(table: LawTable, predicted: np.ndarray | None) -> LawTable:
    """Return a table whose rows count by the inverse of their variance, if that is unequal.

    The variance is taken to be a + c s^2, s being the target without noise.

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
    with np.errstate(over="ignore"):  # what is infinite is larger than any noise
        s, r = predicted[good] ** 2, (table.y - predicted)[good] ** 2
        left = float(weight @ r) / max(float(weight.sum()), 1e-300)
    if not _ROUNDING * table.norm < left < settings.UNEQUAL_LEFT * table.variance:
        return table
    model = variance_model(r, s, weight)
    if model is None:
        return table
    precision = np.zeros(table.n_rows)
    precision[good] = 1.0 / (model[0] + model[1] * s)
    precision[~good] = precision[good].min()
    precision *= table.weight.sum() / (table.weight @ precision)
    return table._replace(weight=table.weight * precision, precision=precision)


@np.errstate(all="ignore")
def variance_model(r: np.ndarray, s: np.ndarray, weight: np.ndarray) -> tuple[float, float] | None:
    """Return a and c of the variance a + c s of rows with squared residuals r, or None if c is 0.

    Least squares of r on 1 and s, each row weighted by the inverse of its variance squared.
    """
    equal, size = float(np.average(r, weights=weight)), float(np.average(s, weights=weight))
    terms, r = np.vstack([np.ones_like(s), s / size]), r / equal  # of any units
    if not (np.isfinite(terms).all() and np.isfinite(r).all()):
        return None
    variance = np.ones_like(r)
    for _ in range(_FITS):
        pull = weight / variance**2
        a, c = np.linalg.lstsq((terms * pull) @ terms.T, terms @ (pull * r), rcond=1e-12)[0]
        if not c > 0.0:
            return None
        a = max(a, settings.LEAST_VARIANCE * c)
        variance = a + c * terms[1]
    gain = weight @ (r - r / variance - np.log(variance))
    return (equal * a, equal * c / size) if gain > settings.CHANCE else None
