"""Which values of a row are wrong: every few cells in turn are taken for gaps, and compared.

If some cells are wrong, the others obey the laws. How likely that is follows from the distance of
the most likely row to what was measured, as for gaps. A wrong value may be anything: it is drawn
from a wide distribution about its column.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2

from vanishing.repair import settings
from vanishing.repair.model import RowModel


class Suspicion(NamedTuple):
    """What may be wrong in one row.

    Attributes
    ----------
    sets : list of tuple of int
        Columns that are wrong together, each a possibility; () for none.
    evidence : array of shape (n_sets,)
        Logarithm of how likely each is.
    """

    sets: list[tuple[int, ...]]
    evidence: np.ndarray

    def probabilities(self, n_columns: int) -> np.ndarray:
        """Return how likely each column is wrong."""
        share = np.exp(self.evidence - logsumexp(self.evidence))
        probability = np.zeros(n_columns)
        for columns, part in zip(self.sets, share, strict=True):
            probability[list(columns)] += part
        return probability


def wrong_cells(model: RowModel, X: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return how likely each cell is wrong, shape (n_rows, n_columns).

    Zero where a row obeys the laws.
    """
    probability = np.zeros(X.shape)
    n_laws = len(model.system)
    if not n_laws:
        return probability
    whole = model.most_likely(X, seen)
    limit = chi2.isf(settings.SUSPECT, n_laws)
    odd = np.flatnonzero(~(whole.distance <= limit))
    if not len(odd):
        return probability
    broken = model.off(whole.points[odd], X[odd], seen[odd]) > settings.OFF
    trials = _Trials(model, X[odd], seen[odd], broken, limit)
    for row, suspicion in zip(odd, trials.suspicions(), strict=True):
        probability[row] = suspicion.probabilities(X.shape[1])
    return probability


class _Trials:
    """Sets of cells of odd rows, taken for gaps."""

    def __init__(
        self, model: RowModel, X: np.ndarray, seen: np.ndarray, broken: np.ndarray, limit: float
    ):
        self.model, self.X, self.seen, self.limit = model, X, seen, limit
        share = settings.WRONG_SHARE
        self.cost = model.log_density_of_wrong(X) + np.log(share / (1.0 - share))
        # A wrong value breaks a law that it occurs in; of many laws, most are as they should be.
        involved = model.system.involved
        occurring = [involved[row if row.any() else slice(None)].any(axis=0) for row in broken]
        self.columns = [np.flatnonzero(a & b) for a, b in zip(occurring, seen, strict=True)]
        self.sets: list[list[tuple[int, ...]]] = [[] for _ in X]
        self.evidence: list[list[float]] = [[] for _ in X]
        self.distance: list[list[float]] = [[] for _ in X]

    def suspicions(self) -> list[Suspicion]:
        """Try none, one, two ... cells, until what is left of the row obeys the laws."""
        rows = range(len(self.X))
        self._try([(row, ()) for row in rows])
        for size in range(1, settings.WRONG_CELLS + 1):
            self._try([(row, columns) for row in rows for columns in self._next(row, size)])
        return [Suspicion(self.sets[row], np.array(self.evidence[row])) for row in rows]

    def _next(self, row: int, size: int) -> list[tuple[int, ...]]:
        """Return sets of a size to try: the best ones of one less, each with one more."""
        if size > 1 and min(self.distance[row]) <= self.limit:
            return []
        last = [i for i, columns in enumerate(self.sets[row]) if len(columns) == size - 1]
        last.sort(key=lambda i: -self.evidence[row][i])
        best = [self.sets[row][i] for i in last[: settings.PAIRED]]
        grown = {
            tuple(sorted((*columns, int(c))))
            for columns in best
            for c in self.columns[row]
            if c not in columns
        }
        return sorted(grown)

    def _try(self, trials: list[tuple[int, tuple[int, ...]]]) -> None:
        """Add the evidence for sets of wrong cells."""
        if not trials:
            return
        rows = np.array([row for row, _ in trials])
        seen = self.seen[rows]
        for i, (_, columns) in enumerate(trials):
            seen[i, list(columns)] = False
        X = self.X[rows]
        answer = self.model.most_likely(X, seen)
        evidence = self.model.log_density(X, seen) - 0.5 * (answer.distance + answer.log_size)
        evidence[~answer.converged] = -np.inf
        for i, (row, columns) in enumerate(trials):
            own = float(evidence[i] + self.cost[row, list(columns)].sum())
            if not columns and not np.isfinite(own):
                own = -1e300  # no law is defined there: anything else is likelier
            self.sets[row].append(columns)
            self.evidence[row].append(own)
            self.distance[row].append(float(answer.distance[i]) if np.isfinite(own) else np.inf)
