"""From a sample of rows to the table of a search: units, signs, and columns that play a part."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from vanishing.algebra.quantities import Units
from vanishing.equations.fitted import with_plain_columns
from vanishing.fitting.lack_of_fit import standardised
from vanishing.fitting.normal import inverse
from vanishing.fitting.origins import ask_shifted, far_offsets, rounding_of
from vanishing.fitting.sample import Sample
from vanishing.fitting.sparse import sparse_supports
from vanishing.laws import settings
from vanishing.laws.choose import Choice
from vanishing.laws.linear import sum_of_columns
from vanishing.laws.problem import LawTable
from vanishing.laws.robust import rows_near_a_sum
from vanishing.laws.sum_terms import sum_with_terms


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

    def size_from_origin(self, column: int) -> float:
        """Return the root mean square of a column, of one far from the origin its spread."""
        values, weight = self.sample.columns[[column]], self.sample.weight
        far = self.offsets is not None and self.offsets[column] != 0.0
        if not (far or far_offsets(values, weight).any()):
            return self.size(column)
        return float(np.sqrt(np.average((values[0] - self.mean(column)) ** 2, weights=weight)))


class Prepared(NamedTuple):
    """A table, with the places and units that its columns have among the rows.

    Attributes
    ----------
    table : LawTable
    columns : array of int
        Places of the table's columns.
    units : array
        Signed units of these, and of the target last.
    left_out : array of int
        Places of columns that are not searched, since there are too many.
    sum : Choice or None
        The law that the target is the sum of these columns, where there are many.
    """

    table: LawTable
    columns: np.ndarray
    units: np.ndarray
    left_out: np.ndarray
    sum: Choice | None = None

    @property
    def is_sum(self) -> bool:
        """Whether nothing else is looked for: an exact sum, or one of more than a search takes."""
        many = len(self.columns) > settings.MAX_COLUMNS
        return self.sum is not None and (many or self.sum.best.fitted.exact)

    def with_negative_target(self) -> "Prepared":
        """Return the table of -y, in a unit of the other sign."""
        table, units = self.table, self.units.copy()
        units[-1] = -units[-1]
        return self._replace(table=table._replace(y=-table.y, unit=-table.unit), units=units)

    def left_out_text(self, names: Sequence[str]) -> str:
        """Say in words which columns were left out; nothing where none was."""
        if not len(self.left_out):
            return ""
        names = [names[i] for i in self.left_out]
        return f" Columns that explain less were left out of the search: {listed(names)}."


def listed(names: Sequence[str]) -> str:
    """Return names as words: the first ones, and how many more there are."""
    more = len(names) - settings.NAMED_COLUMNS
    return ", ".join(names[: settings.NAMED_COLUMNS]) + (f" and {more} more" if more > 0 else "")


def varying(columns: np.ndarray) -> np.ndarray:
    """Say which columns are not constant, up to rounding."""
    size = np.abs(columns).max(axis=1)
    return np.ptp(columns, axis=1) > 1e-12 * size


def signed_units(columns: np.ndarray, weight) -> np.ndarray:
    """Return a power of two near the size of each column, negative where all its values are."""
    size = np.sqrt(
        np.average((columns / np.abs(columns).max(axis=1)[:, None]) ** 2, axis=1, weights=weight)
    )
    # Rows that hardly count may be much larger: their squares must not overflow.
    size = np.maximum(size, 1e-60)
    units = 2.0 ** np.round(np.log2(size * np.abs(columns).max(axis=1)))
    return np.where((columns < 0.0).all(axis=1), -units, units)


def prepared(
    columns: np.ndarray,
    target: int,
    weight: np.ndarray,
    dimensions: np.ndarray | None = None,
    robust: bool = False,
    progress: Callable = lambda: None,
    rounding: float = 0.0,
    functions: bool = True,
) -> Prepared:
    """Return the table of a search for laws of one column of some rows.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    target : int
    weight : array of shape (n_rows,)
    dimensions : array of shape (n_columns, n_base), default=None
        Where laws must be homogeneous.
    robust : bool, default=False
        Whether some rows may be wrong.
    progress : callable, default=None
        Called now and then: it may raise, to interrupt.
    rounding : float, default=0.0
        What rounding has left of the columns, relative to their size.
    functions : bool, default=True
        Whether sums of many columns may have functions of some.
    """
    used = varying(columns)
    used[target] = False
    places = _distinct(columns, np.flatnonzero(used))
    y = columns[target]
    # The sign of the target is that of its mean: laws of a negative one are laws of -y.
    unit = abs(signed_units(y[None], weight)[0]) * (
        -1.0 if np.average(y, weights=weight) < 0 else 1.0
    )
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
    choice, kept = None, np.arange(len(places))
    if len(places) > settings.MAX_COLUMNS:
        good = rows_near_a_sum(table, progress) if robust else slice(None)
        choice = sum_of_columns(table.at(good), progress)
        if choice is None:
            choice = sum_with_terms(table.at(good), functions, progress)
        progress()
        if choice is None:
            kept = screened(table)
        else:
            kept = np.flatnonzero(np.isin(places, choice.best.reduced.table.places))
        table = table.of_columns(kept)
    left_out = np.delete(places, kept)
    ready = Prepared(table, places[kept], np.append(units[kept], unit), left_out, choice)
    return ready._replace(table=choice.best.reduced.table) if choice and ready.is_sum else ready


def _distinct(columns, places) -> np.ndarray:
    """Return places without columns that are multiples of an earlier one."""
    scaled = columns / np.abs(columns).max(axis=1, initial=1e-300)[:, None]
    heads = np.abs(scaled[:, :8])  # which tell most columns apart
    kept: list[int] = []
    for i in places:
        alike = np.flatnonzero(np.abs(heads[kept] - heads[i]).max(axis=1, initial=0.0) < 1e-12)
        others = (sign * scaled[kept[j]] for j in alike for sign in (1.0, -1.0))
        if not any(np.abs(scaled[i] - other).max() < 1e-12 for other in others):
            kept.append(int(i))
    return np.array(kept, dtype=np.int64)


class _Screening(NamedTuple):
    """Columns by how much they matter in one view of a table, and the share that is explained."""

    order: list[int]
    share: float


def screened(table: LawTable) -> np.ndarray:
    """Return the places of the columns that matter most.

    First by forward steps, in values and squares, in distances from the middle, and in logarithms:
    sums, signed products, and products of powers. Then by products of the best of these columns.
    """
    most = settings.SCREENED_VALUES // len(table.columns)
    table = table.at(slice(0, max(settings.COMPARED_ROWS, min(settings.FIRST_ROWS, most))))
    columns, y, weight = table.columns, table.y, table.weight
    n = len(columns)
    values = standardised(columns, weight)
    away = np.abs(y - np.average(y, weights=weight))
    views = [
        (np.vstack([values, standardised(values**2, weight)]), y),
        (np.abs(values), away),
        (_logarithms(columns), _logarithms(y[None])[0]),
    ]
    screenings = [_pursued(standardised(x, weight), target, weight, n) for x, target in views]
    steps = zip_longest(*(screening.order for screening in screenings))
    pool = [i for together in steps for i in together if i is not None]
    pool = np.array([*dict.fromkeys(pool)][: settings.POOL], dtype=np.int64)
    if len(pool):
        screenings.append(_with_products(columns[pool], y, weight, pool))
    # The view that explains most comes first; others fill up.
    screenings.sort(key=lambda screening: -screening.share)
    orders = [*(screening.order for screening in screenings), range(n)]
    chosen = dict.fromkeys(i for order in orders for i in order)
    return np.sort([*chosen][: settings.MAX_COLUMNS])


def most_related(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the places of the columns that are worth being the target of a search.

    All, unless they are many: then those that others, or all others together, explain most of.
    """
    n = len(columns)
    if n <= settings.MAX_TARGETS:
        return np.arange(n)
    rows = slice(0, settings.FIRST_ROWS)
    columns, weight = columns[:, rows], weight[rows]
    root, count = np.sqrt(weight), float(weight.sum())
    values = standardised(columns, weight)
    explained = np.zeros(n)
    for view in (values, np.abs(values), _logarithms(columns)):
        terms = standardised(view, weight) * root
        products = terms @ terms.T / count
        shares = products**2
        np.fill_diagonal(shares, 0.0)
        explained = np.maximum(explained, shares.max(axis=1))
        if view is values and count > 2 * n:
            left = 1.0 / np.maximum(inverse(products).diagonal(), 1.0)
            explained = np.maximum(explained, 1.0 - left * count / (count - n))
    return np.sort(np.argsort(-explained, kind="stable")[: settings.MAX_TARGETS])


def _logarithms(columns: np.ndarray) -> np.ndarray:
    """Return logarithms of absolute values, zeros being as small as the smallest others."""
    size = np.abs(columns)
    least = np.where(size > 0.0, size, np.inf).min(axis=1)[:, np.newaxis]
    return np.log(np.maximum(size, np.where(np.isfinite(least), least, 1.0)))


def _pursued(values: np.ndarray, y: np.ndarray, weight: np.ndarray, n_columns: int) -> _Screening:
    """Take in the column that explains most of what is left, again and again.

    Term i is one of column i modulo ``n_columns``.
    """
    root = np.sqrt(weight / weight.sum())
    terms, left = values * root, standardised(y[None], weight)[0] * root
    basis = np.empty((settings.PURSUED, len(y)))
    order: list[int] = []
    for k in range(min(settings.PURSUED, len(values), len(y) // 2)):
        best = int(np.argmax(np.abs(terms @ left)))
        direction = terms[best] - basis[:k].T @ (basis[:k] @ terms[best])
        size = float(np.sqrt(direction @ direction))
        if size < 1e-6:  # what is left is rounding
            break
        basis[k] = direction / size
        left = left - basis[k] * (basis[k] @ left)
        order.append(best % n_columns)
    return _Screening(order, 1.0 - float(left @ left))


def _with_products(columns: np.ndarray, y, weight, places: np.ndarray) -> _Screening:
    """Return columns by sparse regression of degree 2; ``places`` are what they are called."""
    root = np.sqrt(weight)
    low, high = columns.min(axis=1), columns.max(axis=1)
    unit = (2 * columns - (low + high)[:, None]) / (high - low)[:, None]
    n = len(unit)
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    values = np.vstack([unit, *(unit[i] * unit[j] for i, j in pairs)])
    centred = values - np.average(values, axis=1, weights=weight)[:, None]
    target = y - np.average(y, weights=weight)
    centred, target = centred * root, target * root
    owners = [(i,) for i in range(n)] + pairs
    chosen: dict[int, None] = {}
    norm = float(target @ target)
    supports = sparse_supports(centred @ centred.T, centred @ target, norm, settings.SCREENED_TERMS)
    least = 1.0
    # From few terms to many: what comes in early matters most.
    for support, residual in sorted(supports, key=lambda item: len(item[0])):
        least = min(least, residual / norm)
        for i in support:
            chosen.update(dict.fromkeys(owners[i]))
        if len(chosen) >= settings.MAX_COLUMNS:
            break
    return _Screening([int(places[i]) for i in chosen], 1.0 - least)
