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

import numpy as np
from numba import njit
from scipy.linalg import qr

from vanishing.algebra.evaluation import chunk_rows, evaluate
from vanishing.algebra.monomials import Plan, variables_plan


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


class _Scratch:
    """Memory used again for every chunk: asking for it anew can cost as much as using it."""

    def __init__(self):
        self.memory = np.empty(0)

    def __call__(self, *shape: int) -> np.ndarray:
        size = shape[0] * shape[1]
        if size > self.memory.size:
            self.memory = np.empty(size)
        return self.memory[:size].reshape(shape)


class _Selection:
    """Rows of the values of a chunk: a slice of them, or a copy of those with given indices."""

    def __init__(self, which):
        self.which = which
        self.scratch = _Scratch()

    def __call__(self, values: np.ndarray) -> np.ndarray:
        if isinstance(self.which, slice):
            return values[self.which]
        out = self.scratch(len(self.which), values.shape[1])
        return np.take(values, self.which, axis=0, out=out, mode="clip")  # "raise" would copy


class Block:
    """Rows that are at hand, read in chunks; what it answers are sums, to be added up.

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

    def _chunks(self, plan: Plan, n_evaluated: int, at_least: int = 1):
        rows = max(at_least, chunk_rows(n_evaluated, self.chunk_size))
        return evaluate(self.X, plan, rows=rows, sample_weight=self.sample_weight)

    def products(self, plan: Plan, left, right) -> tuple[np.ndarray, np.ndarray]:
        """Return sum(t u) for t in ``left`` and u in ``right``, and sum(u^2): one BLAS-3 product.

        ``left`` and ``right`` are slices or index arrays into the terms of the plan.
        """
        index = np.arange(plan.parent.size)
        total = np.zeros((index[left].size, index[right].size))
        squares = np.zeros(total.shape[1])
        product = np.empty_like(total)
        take_left, take_right = _Selection(left), _Selection(right)
        with np.errstate(over="ignore", invalid="ignore"):  # whoever asks looks at the squares
            for _, values in self._chunks(plan, index.size):
                values_right = take_right(values)
                total += np.matmul(take_left(values), values_right.T, out=product)
                _add_squares(values_right, squares)
        return total, squares

    def triangular(self, plan: Plan, terms: np.ndarray) -> tuple[np.ndarray]:
        """Return R with R'R = the products of ``terms``, by orthogonal transformations alone.

        The rows never enter as products, so that R is as good as the rows themselves: R of the
        stacked chunks is R of (R of the chunks before, the next chunk).
        """
        factor = np.zeros((0, terms.size))
        for _, values in self._chunks(plan, plan.parent.size, at_least=2 * terms.size):
            factor = stacked_triangle(factor, values[terms].T)
        return (factor,)

    def squared_sums(self, plan: Plan, terms, coef: np.ndarray, leading) -> tuple[np.ndarray]:
        """Return sum(f^2) of polynomials ``coef @ terms + leading`` by evaluating them."""
        squares = np.zeros(len(coef))
        take_terms, take_leading, sums = _Selection(terms), _Selection(leading), _Scratch()
        for _, values in self._chunks(plan, plan.parent.size):
            linear = np.matmul(coef, take_terms(values), out=sums(len(coef), values.shape[1]))
            _add_squared_sums(linear, take_leading(values), squares)
        return (squares,)

    def column_sums(self) -> tuple[np.ndarray]:
        """Return the weighted sums of the columns."""
        plan = variables_plan(self.X.shape[1])
        sums = np.zeros(self.X.shape[1])
        for _, values in self._chunks(plan, plan.parent.size):
            sums += values[1:] @ values[0]
        return (sums,)

    def centred_products(self, mean: np.ndarray) -> tuple[np.ndarray]:
        """Return the weighted products of the columns, less their means."""
        plan = variables_plan(self.X.shape[1])
        total = np.zeros((mean.size, mean.size))
        for _, values in self._chunks(plan, plan.parent.size):
            centred = values[1:] - mean[:, np.newaxis] * values[0]
            total += centred @ centred.T
        return (total,)


def stacked_triangle(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the triangular factor of two matrices, one on top of the other."""
    stacked = np.vstack([above, below])
    return qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][: stacked.shape[1]]


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
        self.block = Block(X, sample_weight, chunk_size)
        self.n_samples, self.n_features = X.shape
        self.total_weight = float(len(X) if sample_weight is None else sample_weight.sum())

    def _ask(self, question, *details):
        return getattr(self.block, question)(*details)

    def blocks(self, n_evaluated: int, at_least: int = 1):
        """Yield (columns, root weights) chunk by chunk, for what is no combination of monomials.

        The columns have shape (n_features, n_rows_of_the_chunk), float64 whatever the dtype of X;
        the square roots of the weights shape (n_rows_of_the_chunk,), or are None.
        """
        X, weight = self.block.X, self.block.sample_weight
        rows = max(at_least, chunk_rows(n_evaluated, self.block.chunk_size))
        for start in range(0, len(X), rows):
            here = slice(start, start + rows)
            root = None if weight is None else np.sqrt(weight[here])
            yield np.array(X[here].T, dtype=np.float64, order="C"), root
