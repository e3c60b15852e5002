"""Rows in memory, evaluated chunk by chunk: the sums of monomials that everything is made of.

Everything OAVI asks of the data are the numbers

    G = A'A/m,   c = A'b/m,   d = b'b/m,     A = O(X), b = u(X),

so the rows are evaluated here and nowhere else, in chunks that stay in the cache, and no m x |O|
matrix is ever kept. With sample weights w the means are sum(w f) / sum(w): the constant evaluates
to sqrt(w) instead of 1, and every other term inherits the factor from its parent.

A `Block` answers with sums, to be added up. It cuts NumPy rows into stretches, which threads read
with compiled kernels; rows of another library are one stretch, read through the array API.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import qr

from vanishing._threads import fold
from vanishing.algebra.evaluation import (
    NO_WEIGHTS,
    batches,
    chunk_rows,
    evaluate,
    evaluate_chunk,
    stretches,
)
from vanishing.algebra.generators import PolynomialSequence
from vanishing.algebra.monomials import Plan, variables_plan
from vanishing.rows.arrays import (
    column_ranges,
    is_device_array,
    like,
    namespace,
    slices,
    to_numpy,
)
from vanishing.rows.device import DeviceStretch, chunk_of
from vanishing.rows.measures import gradient_residuals, squared_values

_PIECE = 1 << 10  # rows whose sizes are looked at at a time


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _add_squares(values, out):
    for i in range(values.shape[0]):
        total = 0.0
        for r in range(values.shape[1]):
            total += values[i, r] * values[i, r]
        out[i] += total


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _add_squared_sums(left, right, out):
    for i in range(left.shape[0]):
        total = 0.0
        for r in range(left.shape[1]):
            value = left[i, r] + right[i, r]
            total += value * value
        out[i] += total


@njit(cache=True, nogil=True)
def _first(places):
    """Return the first of places that follow one another; -1 where they do not."""
    for i in range(1, places.size):
        if places[i] != places[0] + i:
            return -1
    return places[0] if places.size else 0


@njit(cache=True, nogil=True)
def _taken(values, first, places, memory):
    """Return rows of the values: as they are where they follow one another, else a copy."""
    if first >= 0:
        return values[first : first + places.size]
    size = values.shape[1]
    out = memory[: places.size * size].reshape((places.size, size))
    for i in range(places.size):
        for r in range(size):
            out[i, r] = values[places[i], r]
    return out


@njit(cache=True, nogil=True)
def _add_products(columns, root, parent, variable, left, right, rows, total, squares):
    """Add the products of ``left`` and ``right``, and the squares of these, chunk by chunk."""
    n_terms, n_rows = parent.size, columns.shape[1]
    rows = min(rows, n_rows)
    first_left, first_right = _first(left), _first(right)
    memory = np.empty(n_terms * rows)
    copied_left = np.empty(left.size * rows if first_left < 0 else 0)
    copied_right = np.empty(right.size * rows if first_right < 0 else 0)
    product = np.empty_like(total)
    for start in range(0, n_rows, rows):
        size = min(rows, n_rows - start)
        values = memory[: n_terms * size].reshape((n_terms, size))
        evaluate_chunk(columns, start, root, parent, variable, values)
        values_left = _taken(values, first_left, left, copied_left)
        values_right = _taken(values, first_right, right, copied_right)
        np.dot(values_left, values_right.T, product)
        total += product
        _add_squares(values_right, squares)


@njit(cache=True, nogil=True)
def _add_measured(columns, root, parent, variable, terms, coef, leading, rows, squares):
    """Add the squares of ``coef @ terms + leading``, chunk by chunk."""
    n_terms, n_rows = parent.size, columns.shape[1]
    rows = min(rows, n_rows)
    first_terms, first_leading = _first(terms), _first(leading)
    memory = np.empty(n_terms * rows)
    copied_terms = np.empty(terms.size * rows if first_terms < 0 else 0)
    copied_leading = np.empty(leading.size * rows if first_leading < 0 else 0)
    sums = np.empty(leading.size * rows)
    for start in range(0, n_rows, rows):
        size = min(rows, n_rows - start)
        values = memory[: n_terms * size].reshape((n_terms, size))
        evaluate_chunk(columns, start, root, parent, variable, values)
        linear = sums[: leading.size * size].reshape((leading.size, size))
        np.dot(coef, _taken(values, first_terms, terms, copied_terms), linear)
        _add_squared_sums(linear, _taken(values, first_leading, leading, copied_leading), squares)


class Stretch(NamedTuple):
    """Rows that a thread reads at a time, in chunks.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,) or None
    rows : int
        Rows of a chunk.
    variable : ndarray of int or None
        The columns that are needed, as in `Plan.variable`; None means all.
    """

    X: np.ndarray
    weight: np.ndarray | None
    rows: int
    variable: np.ndarray | None

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (columns, roots of the weights) of a few chunks at a time; see `batches`.

        The roots are empty if there are no weights.
        """
        for cut, columns in batches(self.X, self.rows, self.variable):
            yield columns, NO_WEIGHTS if self.weight is None else np.sqrt(self.weight[cut])

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield (columns, roots of the weights or None) chunk by chunk."""
        for columns, root in self.batches():
            for start in range(0, columns.shape[1], self.rows):
                cut = slice(start, start + self.rows)
                yield columns[:, cut], root[cut] if root.size else None

    def evaluated(self, plan: Plan) -> Iterator[np.ndarray]:
        """Yield the values of all terms of a plan, times root weights, chunk by chunk."""
        chunks = evaluate(self.X, plan, rows=self.rows, sample_weight=self.weight)
        return (values for _, values in chunks)

    def zeros(self, *shape: int) -> np.ndarray:
        """Return zeros."""
        return np.zeros(shape)

    def products(self, plan: Plan, left: np.ndarray, right: np.ndarray):
        """Return sum(t u) for t in ``left`` and u in ``right``, and sum(u^2)."""
        total, squares = np.zeros((left.size, right.size)), np.zeros(right.size)
        for columns, root in self.batches():
            _add_products(columns, root, *plan, left, right, self.rows, total, squares)
        return total, squares

    def triangle(self, above: np.ndarray, values: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return R of the rows so far, ``above``, and the values of ``terms`` on further rows."""
        return stacked_triangle(above, values[terms].T)

    def squared_sums(self, plan: Plan, terms: np.ndarray, coef: np.ndarray, leading: np.ndarray):
        """Return sum(f^2) of polynomials ``coef @ terms + leading``."""
        squares = np.zeros(len(coef))
        for columns, root in self.batches():
            _add_measured(columns, root, *plan, terms, coef, leading, self.rows, squares)
        return squares


class Block:
    """Rows in memory, read in chunks; its answers are sums, to be added up.

    Chunks and stretches do not depend on the number of threads, and sums are added in the order of
    the rows: the answer is the same, to the last bit.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        float64 or float32 rows in any memory layout, of NumPy or of a device; never copied as a
        whole.
    sample_weight : array of shape (n_samples,) or None
        Non-negative weights.
    chunk_size : int or None
        Rows evaluated at a time; None chooses a chunk that stays in the cache.
    """

    def __init__(self, X, sample_weight=None, chunk_size=None):
        self.X = X
        self.on_device = is_device_array(X)
        if self.on_device and sample_weight is not None and not is_device_array(sample_weight):
            sample_weight = like(X, sample_weight, np.float64)
        self.sample_weight = sample_weight
        self.chunk_size = chunk_size

    def fold(
        self,
        function: Callable[[Stretch], tuple],
        combine: Callable,
        n_evaluated: int,
        work: int,
        *,
        at_least: int = 1,
        variable: np.ndarray | None = None,
    ) -> tuple:
        """Return the answers ``function(stretch)`` for all rows, combined in their order.

        Parameters
        ----------
        function, combine : callable
            As `_threads.fold` takes them.
        n_evaluated : int
            Values per row, for a choice of chunks.
        work : int
            Multiply-adds per row, for a choice of stretches.
        at_least : int
            Rows of a chunk.
        variable : ndarray of int or None
            The columns that are needed, as in `Plan.variable`; None means all.
        """
        weight = self.sample_weight
        if self.on_device:
            rows = max(at_least, chunk_of(self.X, n_evaluated, self.chunk_size))
            answer = function(DeviceStretch(self.X, weight, rows))  # type: ignore[arg-type]
            return tuple(map(to_numpy, answer))
        rows = max(at_least, chunk_rows(n_evaluated, self.chunk_size))

        def answer_of(cut: slice) -> tuple:
            own_weight = None if weight is None else weight[cut]
            return function(Stretch(self.X[cut], own_weight, rows, variable))

        cuts = stretches(len(self.X), rows, work)
        return fold(answer_of, cuts, combine, len(cuts))

    def _planned(self, question: str, function, plan: Plan, work: int, at_least=1) -> tuple:
        return self.fold(
            function,
            partial(combine, question),
            plan.parent.size,
            plan.parent.size + work,
            at_least=at_least,
            variable=plan.variable,
        )

    def products(self, plan: Plan, left, right) -> tuple[np.ndarray, np.ndarray]:
        """Return sum(t u) for t in ``left`` and u in ``right``, and sum(u^2): one BLAS-3 product.

        ``left`` and ``right`` are slices or index arrays into the terms of the plan.
        """
        left, right = _places(plan, left), _places(plan, right)

        def of(stretch: Stretch):
            return stretch.products(plan, left, right)

        with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the squares
            return self._planned("products", of, plan, left.size * right.size)

    def triangular(self, plan: Plan, terms: np.ndarray) -> tuple[np.ndarray]:
        """Return R with R'R = the products of ``terms``, by orthogonal transformations alone.

        The rows never enter as products, so that R is as good as the rows themselves: R of the
        stacked chunks is R of (R of the chunks before, the next chunk).
        """

        def of(stretch: Stretch):
            factor = stretch.zeros(0, terms.size)
            for values in stretch.evaluated(plan):
                factor = stretch.triangle(factor, values, terms)
            return (factor,)

        return self._planned("triangular", of, plan, 2 * terms.size**2, 2 * terms.size)

    def squared_sums(self, plan: Plan, terms, coef: np.ndarray, leading) -> tuple[np.ndarray]:
        """Return sum(f^2) of polynomials ``coef @ terms + leading`` by evaluating them."""
        terms, leading = _places(plan, terms), _places(plan, leading)
        coef = np.require(coef, np.float64, ["C", "W"])

        def of(stretch: Stretch):
            return (stretch.squared_sums(plan, terms, coef, leading),)

        with np.errstate(over="ignore", invalid="ignore"):
            return self._planned("squared_sums", of, plan, coef.size)

    def squared_values(self, generators: PolynomialSequence) -> tuple[np.ndarray]:
        """Return sum(g^2) of generators of any kind."""
        return (squared_values(generators, self.X, self.sample_weight, self.chunk_size),)

    def gradient_residuals(self, generators: PolynomialSequence, share: float) -> tuple[np.ndarray]:
        """Return what earlier gradients leave over of each generator's: see `measures`."""
        return (gradient_residuals(generators, self.X, self.sample_weight, share),)

    def measured(self, plan: Plan, terms, coef: np.ndarray, leading) -> tuple:
        """Return `squared_sums`, and the largest absolute value of each column."""
        (squares,) = self.squared_sums(plan, terms, coef, leading)
        weight = self.sample_weight
        if weight is None:
            return squares, np.maximum(*map(np.abs, column_ranges(self.X))).astype(np.float64)
        xp, largest = namespace(self.X), np.zeros(self.X.shape[1])
        for cut in slices(self.X.shape[0], _PIECE):
            rows = xp.abs(self.X[cut, :])
            present = xp.astype(weight[cut] > 0.0, rows.dtype)  # weight zero: absent
            largest = np.maximum(largest, to_numpy(xp.max(rows * present[:, None], axis=0)))
        return squares, largest

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest value of each column, of rows with a weight."""
        X = self.X if self.sample_weight is None else self.X[self.sample_weight > 0.0, :]
        low, high = column_ranges(X)
        return low.astype(np.float64), high.astype(np.float64)

    def weights_up_to(self, values: np.ndarray) -> tuple[np.ndarray]:
        """Return what the rows weigh whose columns are at most some values, of shape (n, k)."""
        up_to = [
            column.weight_up_to(of_column)
            for column, of_column in zip(self._sorted_columns, values, strict=True)
        ]
        return (np.array(up_to),)

    def cell_weights(self, bounds: np.ndarray) -> tuple[np.ndarray]:
        """Return what the rows weigh in the cells of each pair of columns, of shape (n, c, n, c).

        ``bounds`` of shape (n, c - 1) grow along each column; a value belongs to the cell after all
        those that are not above it.
        """
        xp, n_columns, n_cells = namespace(self.X), len(bounds), bounds.shape[1] + 1
        bounds, total = like(self.X, bounds), np.zeros((n_columns * n_cells,) * 2)
        for cut in slices(self.X.shape[0], _PIECE):
            rows = xp.astype(self.X[cut, :], xp.float64)[:, :, None]
            beyond = xp.astype(rows >= bounds[None, :, :], xp.float64)
            ones = xp.ones_like(rows)
            # In a cell are the rows beyond its first bound, but not those beyond its last one.
            last = xp.concat([beyond, xp.zeros_like(rows)], axis=2)
            cells = xp.reshape(xp.concat([ones, beyond], axis=2) - last, (rows.shape[0], -1))
            weighted = cells
            if self.sample_weight is not None:
                weighted = cells * self.sample_weight[cut][:, None]
            total += to_numpy(cells.T @ weighted)
        return (total.reshape(n_columns, n_cells, n_columns, n_cells),)

    @cached_property
    def _sorted_columns(self) -> "list[_SortedColumn]":
        return [_sorted_column(self.X[:, j], self.sample_weight) for j in range(self.X.shape[1])]

    def column_sums(self) -> tuple[np.ndarray]:
        """Return the weighted sums of the columns."""
        plan = variables_plan(self.X.shape[1])

        def of(stretch: Stretch):
            return (sum(values[1:, :] @ values[0, :] for values in stretch.evaluated(plan)),)

        return self._planned("column_sums", of, plan, 0)

    def centred_products(self, mean: np.ndarray) -> tuple[np.ndarray]:
        """Return the weighted products of the columns minus their means."""
        plan = variables_plan(self.X.shape[1])

        def of(stretch: Stretch):
            total, means = stretch.zeros(mean.size, mean.size), like(self.X, mean[:, np.newaxis])
            for values in stretch.evaluated(plan):
                centred = values[1:, :] - means * values[0, :]
                total += centred @ centred.T
            return (total,)

        return self._planned("centred_products", of, plan, mean.size**2)


class _SortedColumn(NamedTuple):
    """The values of a column, growing, and what the rows up to each of them weigh."""

    values: Any  # where the rows are
    weight: np.ndarray | None  # one more than there are values

    def weight_up_to(self, values: np.ndarray) -> np.ndarray:
        """Return what the rows weigh that are at most some values."""
        xp = namespace(self.values)
        values = like(self.values, values)
        places = to_numpy(xp.searchsorted(self.values, values, side="right"))
        return places.astype(np.float64) if self.weight is None else self.weight[places]


def _sorted_column(column, weight) -> _SortedColumn:
    xp = namespace(column)
    column = xp.astype(column, xp.float64, copy=False)
    if weight is None:
        return _SortedColumn(xp.sort(column), None)
    order = xp.argsort(column)
    weights = np.cumsum(to_numpy(xp.take(weight, order, axis=0)))
    return _SortedColumn(xp.take(column, order, axis=0), np.append(0.0, weights))


def _places(plan: Plan, which) -> np.ndarray:
    """Return the places of some terms of a plan, given as a slice or as indices."""
    return np.arange(plan.parent.size)[which]


def stacked_triangle(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the triangular factor of two matrices, one on top of the other."""
    stacked = np.vstack([above, below])
    factor = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return factor[: stacked.shape[1]].copy()  # the rest is as long as the rows


_JOINS = {"measured": (np.add, np.maximum), "ranges": (np.minimum, np.maximum)}


def combine(question: str, first: tuple, second: tuple) -> tuple:
    """Return the answer for two sets of rows together."""
    join = stacked_triangle if question == "triangular" else np.add
    joins = _JOINS.get(question, (join,) * len(first))
    return tuple(join(a, b) for join, a, b in zip(joins, first, second, strict=True))
