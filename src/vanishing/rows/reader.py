"""The one reader of rows: evaluates monomials chunk by chunk and accumulates their moments.

Everything OAVI asks of the data are the numbers

    G = A'A/m,   c = A'b/m,   d = b'b/m,     A = O(X), b = u(X),

so the rows are read here and nowhere else, in chunks that stay in the cache, and no
m x |O| matrix is ever kept. With sample weights w the means are sum(w f) / sum(w): the
constant evaluates to sqrt(w) instead of 1, and every other term inherits the factor from
its parent.

A `Block` is rows that are at hand, and answers with sums. A `Reader` is all the rows, wherever
they are: it asks every block, combines the answers and divides by the total weight. `Rows` reads
one array; `questions` has the reader of rows that are elsewhere.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

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
from vanishing.algebra.monomials import Plan, variables_plan

_SMALL = 1 << 18  # numbers that are put column by column once, rather than in every pass


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
        out[i] = values[places[i]]
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
        The columns that are needed, as a plan has them; None means all.
    """

    X: np.ndarray
    weight: np.ndarray | None
    rows: int
    variable: np.ndarray | None

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (columns, roots of the weights) of a few chunks at a time; see `batches`.

        The roots are empty if there are no weights.
        """
        for here, columns in batches(self.X, self.rows, self.variable):
            yield columns, NO_WEIGHTS if self.weight is None else np.sqrt(self.weight[here])

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield (columns, roots of the weights or None) chunk by chunk."""
        for columns, root in self.batches():
            for start in range(0, columns.shape[1], self.rows):
                here = slice(start, start + self.rows)
                yield columns[:, here], root[here] if root.size else None

    def evaluated(self, plan: Plan) -> Iterator[np.ndarray]:
        """Yield the values of all terms of a plan, times root weights, chunk by chunk."""
        found = evaluate(self.X, plan, rows=self.rows, sample_weight=self.weight)
        return (values for _, values in found)


class Block:
    """Rows that are at hand, read in chunks; what it answers are sums, to be added up.

    Chunks and stretches of them do not depend on the number of threads, and sums are added in the
    order of the rows: the answer is the same, to the last bit.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 or float32 rows in any memory layout; never copied as a whole.
    sample_weight : ndarray of shape (n_samples,) or None
        Non-negative weights.
    chunk_size : int or None
        Rows evaluated at a time; None chooses a chunk that stays in the cache.
    """

    def __init__(self, X, sample_weight=None, chunk_size=None):
        self.X = X
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
        """Return what ``function(stretch)`` says of all rows, combined in their order.

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
            The columns that are needed, as a plan has them; None means all.
        """
        rows = max(at_least, chunk_rows(n_evaluated, self.chunk_size))
        weight = self.sample_weight

        def answer(here: slice) -> tuple:
            some = None if weight is None else weight[here]
            return function(Stretch(self.X[here], some, rows, variable))

        cuts = stretches(len(self.X), rows, work)
        return fold(answer, cuts, combine, len(cuts))

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
            total, squares = np.zeros((left.size, right.size)), np.zeros(right.size)
            for columns, root in stretch.batches():
                _add_products(columns, root, *plan, left, right, stretch.rows, total, squares)
            return total, squares

        with np.errstate(over="ignore", invalid="ignore"):  # whoever asks looks at the squares
            return self._planned("products", of, plan, left.size * right.size)

    def triangular(self, plan: Plan, terms: np.ndarray) -> tuple[np.ndarray]:
        """Return R with R'R = the products of ``terms``, by orthogonal transformations alone.

        The rows never enter as products, so that R is as good as the rows themselves: R of the
        stacked chunks is R of (R of the chunks before, the next chunk).
        """

        def of(stretch: Stretch):
            factor = np.zeros((0, terms.size))
            for values in stretch.evaluated(plan):
                factor = stacked_triangle(factor, values[terms].T)
            return (factor,)

        return self._planned("triangular", of, plan, 2 * terms.size**2, 2 * terms.size)

    def squared_sums(self, plan: Plan, terms, coef: np.ndarray, leading) -> tuple[np.ndarray]:
        """Return sum(f^2) of polynomials ``coef @ terms + leading`` by evaluating them."""
        terms, leading = _places(plan, terms), _places(plan, leading)
        coef = np.require(coef, np.float64, ["C", "W"])

        def of(stretch: Stretch):
            squares = np.zeros(len(coef))
            for columns, root in stretch.batches():
                _add_measured(columns, root, *plan, terms, coef, leading, stretch.rows, squares)
            return (squares,)

        with np.errstate(over="ignore", invalid="ignore"):
            return self._planned("squared_sums", of, plan, coef.size)

    def column_sums(self) -> tuple[np.ndarray]:
        """Return the weighted sums of the columns."""
        plan = variables_plan(self.X.shape[1])

        def of(stretch: Stretch):
            return (sum(values[1:] @ values[0] for values in stretch.evaluated(plan)),)

        return self._planned("column_sums", of, plan, 0)

    def centred_products(self, mean: np.ndarray) -> tuple[np.ndarray]:
        """Return the weighted products of the columns, less their means."""
        plan = variables_plan(self.X.shape[1])

        def of(stretch: Stretch):
            total = np.zeros((mean.size, mean.size))
            for values in stretch.evaluated(plan):
                centred = values[1:] - mean[:, np.newaxis] * values[0]
                total += centred @ centred.T
            return (total,)

        return self._planned("centred_products", of, plan, mean.size**2)


def _places(plan: Plan, which) -> np.ndarray:
    """Return the places of some terms of a plan, given as a slice or as indices."""
    return np.arange(plan.parent.size)[which]


def stacked_triangle(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the triangular factor of two matrices, one on top of the other."""
    stacked = np.vstack([above, below])
    factor = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return factor[: stacked.shape[1]].copy()  # the rest is as long as the rows


def combine(question: str, first: tuple, second: tuple) -> tuple:
    """Return the answer of all rows from those of some and of the others."""
    join = stacked_triangle if question == "triangular" else np.add
    return tuple(join(a, b) for a, b in zip(first, second, strict=True))


class Reader:
    """All the rows, wherever they are; a subclass says how blocks are asked in `_ask`.

    Attributes
    ----------
    n_features : int
    n_samples : int or inf
        inf while it is not known, which is before the first pass.
    total_weight : float
        Of all rows; known after a pass.
    max_degree : int or inf
        Largest degree of terms whose products it knows.
    sees_rows : bool
        Whether it can look closer where moments cannot decide.
    """

    n_features: int
    n_samples: float = np.inf
    total_weight: float
    max_degree: float = np.inf
    sees_rows = True

    def _ask(self, question: str, *details) -> tuple[np.ndarray, ...]:
        """Ask every block a question, the name of a method of `Block`, and combine the answers."""
        raise NotImplementedError

    def products(self, plan: Plan, left, right) -> tuple[np.ndarray, np.ndarray]:
        """Return the moments mean(t u) for t in ``left`` and u in ``right``, and mean(u^2).

        ``left`` and ``right`` are slices or index arrays into the terms of the plan.
        """
        total, squares = self._ask("products", plan, left, right)
        return total / self.total_weight, squares / self.total_weight

    def triangular(self, plan: Plan, terms: np.ndarray) -> np.ndarray:
        """Return R with R'R = the moments of ``terms``, without squaring anything."""
        (factor,) = self._ask("triangular", plan, terms)
        full = np.zeros((terms.size, terms.size))
        full[: len(factor)] = factor
        full[np.signbit(full.diagonal())] *= -1.0
        return full / np.sqrt(self.total_weight)

    def mse(self, plan: Plan, terms, coef: np.ndarray, leading) -> np.ndarray:
        """Measure the mse of polynomials ``coef @ terms + leading`` by evaluating them.

        ``terms`` (k of them) and ``leading`` (g) index the terms of the plan; ``coef`` has
        shape (g, k).
        """
        (squares,) = self._ask("squared_sums", plan, terms, coef, leading)
        return squares / self.total_weight

    def correlations(self) -> np.ndarray:
        """Return the Pearson correlations of the columns; zero for constant columns."""
        with np.errstate(over="ignore", invalid="ignore"):
            (sums,) = self._ask("column_sums")
            mean = sums / self.total_weight
            (covariance,) = self._ask("centred_products", mean)
        spread = np.sqrt(covariance.diagonal())
        # A column whose spread is rounding of its mean is constant. What overflows counts as such.
        spread[~(spread > 1e-12 * np.sqrt(self.total_weight) * np.abs(mean))] = np.inf
        covariance[~np.isfinite(covariance)] = 0.0
        return covariance / spread / spread[:, np.newaxis]


class Rows(Reader):
    """The rows of one array: `Block` says which."""

    def __init__(self, X, sample_weight=None, chunk_size=None):
        if X.size <= _SMALL:
            X = np.require(X, np.float64, ["F", "W"])
        self.block = Block(X, sample_weight, chunk_size)
        self.n_samples, self.n_features = X.shape
        self.total_weight = float(len(X) if sample_weight is None else sample_weight.sum())

    def _ask(self, question, *details):
        return getattr(self.block, question)(*details)

    def fold(self, function, combine, n_evaluated: int, work: int, *, at_least: int = 1) -> tuple:
        """Return what ``function(stretch)`` says of all rows; for what is no sum of monomials.

        See `Block.fold`.
        """
        return self.block.fold(function, combine, n_evaluated, work, at_least=at_least)
