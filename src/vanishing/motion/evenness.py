"""Is it noise? What a quantity leaves over, run by run, against what noise would."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term
from vanishing.motion import settings


class Evenness(NamedTuple):
    """How much the share of noise in what is left over differs between runs.

    Attributes
    ----------
    observed, expected : float
        Standard deviations of the logarithm of the ratio of variance to that of noise: over runs,
        and by chance.
    n_runs : int
    """

    observed: float
    expected: float
    n_runs: int

    @property
    def tells(self) -> bool:
        """Whether runs are so many and long that slow motion would not be taken for noise."""
        return self.n_runs >= settings.TELLING_RUNS and self.expected < settings.TELLING_ERROR

    @property
    def may_be_noise(self) -> bool:
        """Whether runs differ as little as they do where there is noise only."""
        return self.observed < max(settings.UNEVEN, settings.UNEVEN_CHANCE * self.expected)


def evenness(terms: Sequence[Term], coef, columns: np.ndarray, run: np.ndarray, sigma) -> Evenness:
    """Compare what a quantity leaves over with what noise would, run by run.

    Friction takes a share of the energy, so that its variance grows with the square of the energy;
    that of noise grows with the energy itself.

    Parameters
    ----------
    terms, coef : sequence of Term, array of shape (n_terms,)
        Of the quantity.
    columns : array of shape (n_columns, n_rows)
    run : array of int of shape (n_rows,)
    sigma : array of shape (n_columns,)
        Standard deviations of the noise, up to a factor.
    """
    evaluator = Evaluator(columns)
    values = coef @ evaluator.values(terms)
    noise = np.zeros(len(run))
    for j in np.flatnonzero(sigma).tolist():
        noise += (sigma[j] * (coef @ evaluator.derivatives(terms, j))) ** 2
    count, added, squared, total = (
        np.bincount(run, w) for w in (np.ones(len(run)), noise, noise**2, values)
    )
    deviation = values - (total / np.maximum(count, 1))[run]
    left = np.bincount(run, deviation**2)
    used = (count >= settings.RUN_ROWS) & (added > 0) & (left > 0)
    if not used.any():
        return Evenness(0.0, np.inf, 0)
    ratio = np.log(left[used] / added[used])
    expected = np.sqrt(np.mean(2 * squared[used] / added[used] ** 2))
    return Evenness(float(np.std(ratio)), float(expected), int(np.count_nonzero(used)))
