"""From a sample of rows to the table of a search: units, signs, and columns that play a part."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.algebra.quantities import Units
from vanishing.equations.fitted import with_plain_columns
from vanishing.fitting.origins import ask_shifted, rounding_of
from vanishing.fitting.sample import Sample
from vanishing.fitting.sparse import sparse_supports
from vanishing.laws import settings
from vanishing.laws.problem import LawTable


class SearchRows(NamedTuple):
    """All rows, wherever they are: how to ask them, and a sample of them.

    Attributes
    ----------
    ask : callable
        ``ask(question, combine)`` returns the combined answers of all blocks.
    sample : Sample
    names : tuple of str
        Of the columns, and of the target last where there is one.
    n_inputs : int
        Columns of X.
    seed : int
        For whatever looks random.
    units : Units or None
        Of the columns, and of the target last.
    offsets : array of shape (n_columns,) or None
        What was subtracted from the columns, if anything.
    rounding : float
        What rounding has left of them then, relative to their size.
    """

    ask: Callable
    sample: Sample
    names: tuple[str, ...]
    n_inputs: int
    seed: int
    units: Units | None
    offsets: np.ndarray | None = None
    rounding: float = 0.0

    def shifted(self, offsets: np.ndarray) -> "SearchRows":
        """Return the same rows with columns less offsets; these rows have none."""
        columns = self.sample.columns
        return self._replace(
            ask=partial(ask_shifted, self.ask, offsets),
            sample=self.sample._replace(columns=columns - offsets[:, np.newaxis]),
            offsets=offsets,
            rounding=rounding_of(columns, offsets),
        )

    def in_given_columns(self, terms, coef, covariance) -> dict:
        """Return terms in these rows' columns as parts of a law in the columns as they are given.

        ``terms``, ``coef``, ``covariance`` and ``offsets``, by names of parameters of `Law`.
        """
        if self.offsets is None:
            return {"terms": terms, "coef": coef, "covariance": covariance}
        return with_plain_columns(terms, coef, covariance, self.offsets)

    @property
    def target_name(self) -> str | None:
        """Name of the target, which is the last column; None where there is none."""
        return self.names[-1] if len(self.names) > self.n_inputs else None

    @property
    def weight(self) -> np.ndarray:
        """How many observations each row of the sample counts for."""
        return self.sample.weight / self.sample.repetition

    def mean(self, column: int) -> float:
        """Return the mean of a column, in the sample."""
        return float(np.average(self.sample.columns[column], weights=self.sample.weight))

    def size(self, column: int) -> float:
        """Return the root mean square of a column as it is given, in the sample."""
        offset = 0.0 if self.offsets is None else self.offsets[column]
        squares = (self.sample.columns[column] + offset) ** 2
        return float(np.sqrt(np.average(squares, weights=self.sample.weight)))


class Prepared(NamedTuple):
    """A table, with the places and units that its columns have among the rows.

    Attributes
    ----------
    table : LawTable
    columns : array of int
        Places of the table's columns.
    units : array
        Signed units of these, and of the target last.
    """

    table: LawTable
    columns: np.ndarray
    units: np.ndarray


def varying(columns: np.ndarray) -> np.ndarray:
    """Say which columns are not constant, up to rounding."""
    size = np.abs(columns).max(axis=1)
    return np.ptp(columns, axis=1) > 1e-12 * size


def signed_units(columns: np.ndarray, weight) -> np.ndarray:
    """Return a power of two near the size of each column, negative where all its values are."""
    size = np.sqrt(
        np.average((columns / np.abs(columns).max(axis=1)[:, None]) ** 2, axis=1, weights=weight)
    )
    units = 2.0 ** np.round(np.log2(size * np.abs(columns).max(axis=1)))
    return np.where((columns < 0.0).all(axis=1), -units, units)


def prepared(
    columns: np.ndarray, target: int, weight: np.ndarray, dimensions=None, rounding: float = 0.0
) -> Prepared:
    """Return the table of a search for laws of one column of some rows.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    target : int
    weight : array of shape (n_rows,)
    dimensions : array of shape (n_columns, n_base), default=None
        Where laws must be homogeneous.
    rounding : float, default=0.0
        What rounding has left of the columns, relative to their size.
    """
    used = varying(columns)
    used[target] = False
    places = _distinct(columns, np.flatnonzero(used))
    y = columns[target]
    # The sign of the target is that of its mean: laws of a negative one are laws of -y.
    unit = abs(signed_units(y[None], weight)[0]) * (
        -1.0 if np.average(y, weights=weight) < 0 else 1.0
    )
    if len(places) > settings.MAX_COLUMNS:
        places = places[screened(columns[places], y, weight)]
    units = signed_units(columns[places], weight)
    scaled = columns[places] / units[:, None]
    table = LawTable(
        scaled,
        y / unit,
        weight,
        (scaled > 0.0).all(axis=1),
        np.log(np.abs(units)),
        float(unit),
        places,
        None if dimensions is None else dimensions[[*places, target]],
        rounding=rounding,
    )
    return Prepared(table, places, np.append(units, unit))


def _distinct(columns, places) -> np.ndarray:
    """Return places without columns that are multiples of an earlier one."""
    scaled = columns / np.abs(columns).max(axis=1, initial=1e-300)[:, None]
    kept: list[int] = []
    for i in places:
        same = (np.abs(np.abs(scaled[i]) - np.abs(scaled[j])).max() < 1e-12 for j in kept)
        if not any(same):
            kept.append(int(i))
    return np.array(kept, dtype=np.int64)


def screened(columns: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the places of the columns that matter most, by sparse regression of degree 2."""
    rows = slice(0, settings.FIRST_ROWS)
    columns, y, root = columns[:, rows], y[rows], np.sqrt(weight[rows])
    low, high = columns.min(axis=1), columns.max(axis=1)
    unit = (2 * columns - (low + high)[:, None]) / (high - low)[:, None]
    n = len(unit)
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    values = np.vstack([unit, *(unit[i] * unit[j] for i, j in pairs)])
    centred = values - np.average(values, axis=1, weights=root**2)[:, None]
    target = y - np.average(y, weights=root**2)
    centred, target = centred * root, target * root
    owners = [(i,) for i in range(n)] + pairs
    chosen: dict[int, None] = {}
    supports = sparse_supports(
        centred @ centred.T, centred @ target, float(target @ target), settings.SCREENED_TERMS
    )
    # From few terms to many: what comes in early matters most.
    for support, _ in sorted(supports, key=lambda item: len(item[0])):
        for i in support:
            chosen.update(dict.fromkeys(owners[i]))
        if len(chosen) >= settings.MAX_COLUMNS:
            break
    return np.sort(list(chosen)[: settings.MAX_COLUMNS])
