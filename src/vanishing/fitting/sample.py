"""The rows of a search: some of all rows, the same ones in whatever order and blocks they come."""

from typing import NamedTuple

import numpy as np

from vanishing.fitting import settings
from vanishing.rows.source import RowPart


def spreads_of(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column; a row of weight 2 is that row twice."""
    centred = columns - np.average(columns, axis=1, weights=weight)[:, np.newaxis]
    return np.sqrt(np.average(centred**2, axis=1, weights=weight))


class Sample(NamedTuple):
    """Rows in an order that depends on what they hold alone.

    Attributes
    ----------
    keys : array of uint64 of shape (n_rows,)
        Increasing; a row counts as drawn at random.
    columns : array of shape (n_columns, n_rows)
        Those of X, and the target last where there is one.
    weight : array of shape (n_rows,)
        What each row counts; rows that are equal are one.
    n_samples : int
        How many rows there are in all.
    total_weight : float
        Of all rows.
    """

    keys: np.ndarray
    columns: np.ndarray
    weight: np.ndarray
    n_samples: int
    total_weight: float

    @property
    def spreads(self) -> np.ndarray:
        """The standard deviation of each column."""
        return spreads_of(self.columns, self.weight)

    @property
    def repetition(self) -> float:
        """How often an observation was counted: sum w^2 / sum w.

        Rows that are repeated, or have large weights, are no more observations than they were.
        """
        return float(np.sum(self.weight**2) / np.sum(self.weight))


def row_keys(columns: np.ndarray, seed: int) -> np.ndarray:
    """Return a number per row that looks random, and depends on its values and the seed alone."""
    keys = np.full(columns.shape[1], seed, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            # The finalizer of splitmix64 (Steele, Lea, Flood 2014); + 0.0 makes one zero of two.
            bits = keys + (column + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            keys = bits ^ (bits >> np.uint64(31))
    return keys


def is_held_out(columns: np.ndarray, seed: int) -> np.ndarray:
    """Say which rows are held out: a quarter of them, whatever their order."""
    return row_keys(columns, seed) % np.uint64(settings.HELD_OUT) == 0


def columns_of(part: RowPart) -> np.ndarray:
    """Return the columns of some rows, and their target last."""
    columns = np.array(part.X.T, dtype=np.float64, order="C")
    if part.y is None:
        return columns
    return np.vstack([columns, np.asarray(part.y, dtype=np.float64)])


class Draw:
    """The question for the rows with the smallest keys."""

    def __init__(self, seed: int, max_rows: int = settings.SAMPLE_ROWS):
        self.seed, self.max_rows = seed, max_rows

    def __call__(self, part: RowPart) -> Sample:
        """Draw from some rows."""
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        keys = row_keys(columns, self.seed)
        whole = Sample(keys, columns, weight, len(keys), float(weight.sum()))
        return self._first(whole, self._order(keys, weight))

    def _order(self, keys: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the places of all rows that may be drawn, in order; sorting all takes long."""
        count = self.max_rows + self.max_rows // 4  # a few rows are repeated
        while True:
            first = np.arange(len(keys))
            if count < len(keys):
                first = np.flatnonzero(keys <= np.partition(keys, count)[count])
            # The order of weights, too, is that of what they are: sums round as they are ordered.
            order = first[np.lexsort((weight[first], keys[first]))]
            n_distinct = 1 + np.count_nonzero(np.diff(keys[order]))
            if len(first) == len(keys) or n_distinct >= self.max_rows:
                return order
            count *= 4  # rows that are repeated count as one

    def combine(self, first: Sample, second: Sample) -> Sample:
        """Draw from two draws."""
        # Of many draws most have hardly a row that comes before the last of all earlier ones.
        last = first.keys[-1] if len(first.keys) == self.max_rows else np.uint64(2**64 - 1)
        kept = slice(0, int(np.searchsorted(second.keys, last, side="right")))
        both = Sample(
            np.concatenate([first.keys, second.keys[kept]]),
            np.hstack([first.columns, second.columns[:, kept]]),
            np.concatenate([first.weight, second.weight[kept]]),
            first.n_samples + second.n_samples,
            first.total_weight + second.total_weight,
        )
        return self._first(both, np.lexsort((both.weight, both.keys)))

    def _first(self, sample: Sample, order) -> Sample:
        """Return the rows that come first; equal rows become one that counts for all."""
        keys = sample.keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        weight = np.add.reduceat(sample.weight[order], starts)[: self.max_rows]
        kept = order[starts[: self.max_rows]]
        return sample._replace(
            keys=sample.keys[kept],
            columns=np.ascontiguousarray(sample.columns[:, kept]),
            weight=weight,
        )
