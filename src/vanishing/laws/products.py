"""Step 1a: products of powers, by regression of log |y| on log |x|; signs go with the powers.

No surrogate is asked, which needs rows: a product of columns over decades, of both signs, with
noise that is relative or not, is told from few of them.
"""

from typing import NamedTuple

import numpy as np

from vanishing.fitting import student
from vanishing.laws import settings
from vanishing.laws.exponents import LogRegression, simple_exponents
from vanishing.laws.problem import LawTable
from vanishing.laws.reductions import Logarithms


class Product(NamedTuple):
    """y = c M, M being a product of powers.

    Attributes
    ----------
    exponents : array of shape (n_columns,)
        Halves and thirds; whole numbers of columns with both signs.
    predicted : array of shape (n_rows,)
        y.
    """

    exponents: np.ndarray
    predicted: np.ndarray


class LogRows:
    """Rows of a table that have logarithms, and columns that have them on most rows.

    Attributes
    ----------
    used : array of int
        Places of the columns.
    rows : array of bool of shape (n_rows,)
        Which of the first rows of the table these are.
    n_columns : int
        Of the table.
    columns : array of shape (n_used, n_used_rows)
    y : array of shape (n_used_rows,)
    regression : LogRegression
    """

    def __init__(self, table: LawTable):
        nonzero = table.columns != 0.0
        self.used = np.flatnonzero(nonzero.mean(axis=1) > settings.LEAST_NONZERO)
        self.rows = nonzero[self.used].all(axis=0) & (table.y != 0.0)
        self.n_columns, self.y = len(table.columns), table.y[self.rows]
        self.columns = table.columns[np.ix_(self.used, self.rows)]
        self.regression = LogRegression(
            np.log(np.abs(self.columns)),
            np.log(np.abs(self.y)),
            table.counts[self.rows],
            ~table.positive[self.used],
        )

    def has_enough_rows(self) -> bool:
        """Say whether there are rows for each exponent, of which none is a multiple of others."""
        enough = settings.ROWS_PER_TERM * (len(self.used) + 1)
        return bool(len(self.used) and self.regression.weight.sum() >= enough)


def products(table: LawTable) -> list[Product]:
    """Return products of powers that explain a target, the likeliest first; none, mostly."""
    logs = LogRows(table.at(slice(0, settings.LINK_ROWS)))
    if not logs.has_enough_rows():
        return []
    size = np.minimum(logs.y**2, np.quantile(logs.y**2, 0.9))
    likelihoods: dict[tuple[float, ...], float] = {}
    for start in (np.ones_like(size), size / size.mean()):
        for exponents, likelihood in simple_exponents(logs.regression, start):
            key = tuple(exponents.tolist())
            likelihoods[key] = max(likelihood, likelihoods.get(key, -np.inf))
    ordered = sorted(likelihoods, key=lambda key: -likelihoods[key])
    signed = (_product(table, logs, np.array(key)) for key in ordered)
    return [product for product in signed if product is not None]


def _product(table: LawTable, logs: LogRows, exponents: np.ndarray) -> Product | None:
    """Return a product with the sign that rows agree on; None where they do not."""
    every = np.zeros(len(table.columns))
    every[logs.used] = exponents
    if not every.any():
        return None
    with np.errstate(all="ignore"):
        M = Logarithms(table.columns, table.positive).product(every)
    first = M[: len(logs.rows)][logs.rows]
    if not (np.isfinite(M).all() and first.all()):  # it overflows, or vanishes
        return None
    # Where noise is larger than the target its sign says nothing: large rows decide.
    ratio = np.sign(first * logs.y)
    large = logs.regression.weight * np.minimum(np.abs(logs.y), np.quantile(np.abs(logs.y), 0.9))
    sign = float(np.sign(ratio @ large))
    if not np.average(ratio == sign, weights=large) > settings.SAME_SIGN:
        return None
    gap = logs.regression.target - np.log(np.abs(first))
    pulls = student.pulls(gap - np.median(gap), 1.0)
    size = np.exp(np.average(gap, weights=logs.regression.weight * pulls))
    return Product(every, sign * float(size) * M)
