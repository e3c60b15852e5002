"""Rows whose noise grows with the target: relative errors, which instruments often have."""

from collections.abc import Sequence

import numpy as np

from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.fitting.unequal_noise import Variance, relative, variance_of_noise
from vanishing.laws import settings
from vanishing.laws.problem import LawTable, surrogate_of
from vanishing.laws.products import Product
from vanishing.laws.reductions import Logarithms, ReductionState, with_surrogate
from vanishing.laws.search import of_products

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
    return _weighted(table, variance, predicted) if variance.power else table


def with_relative_noise(table: LawTable) -> LawTable:
    """Return a table whose rows count as if their errors were relative to the target."""
    return _weighted(table, relative(table.y), table.y)


def _weighted(table: LawTable, variance: Variance, predicted: np.ndarray) -> LawTable:
    """Return a table whose rows count by the inverse of their variance."""
    good = np.isfinite(predicted)
    precision = np.zeros(table.n_rows)
    precision[good] = 1.0 / variance.at(predicted[good])
    precision[~good] = precision[good].min()
    precision *= table.weight.sum() / (table.weight @ precision)
    noisy = np.ones(table.n_rows)
    noisy[good] = variance.share(predicted[good])
    return table._replace(weight=table.weight * precision, precision=precision, noisy=noisy)


def with_noise_of_products(table: LawTable, products: Sequence[Product]) -> LawTable:
    """Return a table whose rows count by their noise, as a product that may be a law has it.

    It is the table itself where no product is one, or where one is as likely with equal noise.
    """
    for product in products[:1]:
        equal = with_equal_noise(table, product.predicted)
        if equal is table:
            break
        best, least = (_best_product(rows, products) for rows in (equal, table))
        if best < least:
            return equal
    return table


@np.errstate(all="ignore")
def with_noise_of_factors(table: LawTable, factors: Sequence[ReductionState]) -> LawTable:
    """Return a table whose rows count by their noise, as a surrogate says it of few variables."""
    logarithms = Logarithms(table.columns, table.positive)
    weight = with_relative_noise(table).weight
    for state in factors[:1]:
        fitted = with_surrogate(state, logarithms, table.y, weight)
        surrogate, logarithmic = fitted.fit()
        values = surrogate.values(logarithms.coordinates(fitted, logarithmic))
        return with_equal_noise(table, values * logarithms.factor(fitted))
    return table


def _best_product(table: LawTable, products: Sequence[Product]) -> float:
    """Return the score of the best product of powers, if it is a law, or one of several."""
    lack_of_fit = LackOfFit(table.columns, table.weight, table.left_out)
    outcome = of_products(table, products, lack_of_fit)
    if outcome.choice is None or not (outcome.law is not None or outcome.is_ambiguous):
        return np.inf
    return outcome.choice.best.score - table.log_precision
