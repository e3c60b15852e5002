"""Readers: give constructions the moments of all rows, wherever the rows are.

A `RowReader` asks every block of rows, combines the answers and divides by the total weight.
"""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.monomials import Plan
from vanishing.rows.block import Block
from vanishing.rows.questions import Question
from vanishing.rows.source import RowSource

_SAMPLE = 128  # rows
_SMALL = 1 << 18  # numbers up to which rows are copied column by column once, not in every pass


class Measured(NamedTuple):
    """What the last pass over the rows measures.

    Attributes
    ----------
    mse : ndarray of shape (n_generators,)
    max_abs : ndarray of shape (n_features,) or None
        The largest absolute value of each column; None without rows.
    """

    mse: np.ndarray
    max_abs: np.ndarray | None = None


class RowReader:
    """All the rows, wherever they are; a subclass says how blocks are asked in `ask`.

    Attributes
    ----------
    n_features : int
    n_samples : int or inf
        inf before the first pass, which counts them.
    total_weight : float
        Of all rows; known after a pass.
    max_degree : int or inf
        Largest degree of terms whose products it knows.
    sees_rows : bool
        Whether it can evaluate the rows where moments cannot decide.
    """

    n_features: int
    n_samples: float = np.inf
    total_weight: float
    max_degree: float = np.inf
    sees_rows = True

    def ask(self, question: str, *details) -> tuple[np.ndarray, ...]:
        """Ask every block a question, the name of a method of `Block`, and combine the answers."""
        raise NotImplementedError

    def products(self, plan: Plan, left, right) -> tuple[np.ndarray, np.ndarray]:
        """Return the moments mean(t u) for t in ``left`` and u in ``right``, and mean(u^2).

        ``left`` and ``right`` are slices or index arrays into the terms of the plan.
        """
        total, squares = self.ask("products", plan, left, right)
        return total / self.total_weight, squares / self.total_weight

    def triangular(self, plan: Plan, terms: np.ndarray) -> np.ndarray:
        """Return R with R'R = the moments of ``terms``, without squaring anything."""
        (factor,) = self.ask("triangular", plan, terms)
        full = np.zeros((terms.size, terms.size))
        full[: len(factor)] = factor
        full[np.signbit(full.diagonal())] *= -1.0
        return full / np.sqrt(self.total_weight)

    def mse(self, plan: Plan, terms, coef: np.ndarray, leading) -> np.ndarray:
        """Measure the mse of polynomials ``coef @ terms + leading`` by evaluating them.

        ``terms`` (k of them) and ``leading`` (g) index the terms of the plan; ``coef`` has
        shape (g, k).
        """
        (squares,) = self.ask("squared_sums", plan, terms, coef, leading)
        return squares / self.total_weight

    def measured(self, plan: Plan, terms, coef: np.ndarray, leading) -> Measured:
        """Measure polynomials as `mse` does, and the rows with them, in the same pass."""
        squares, largest = self.ask("measured", plan, terms, coef, leading)
        return Measured(squares / self.total_weight, largest)

    def sample(self) -> np.ndarray | None:
        """Return some rows that are in memory; None of others, which stay where they are."""
        return None

    def correlations(self) -> np.ndarray:
        """Return the Pearson correlations of the columns; zero for constant columns."""
        with np.errstate(over="ignore", invalid="ignore"):
            (sums,) = self.ask("column_sums")
            mean = sums / self.total_weight
            (covariance,) = self.ask("centred_products", mean)
        spread = np.sqrt(covariance.diagonal())
        # A column whose spread is rounding of its mean, or that overflows, counts as constant.
        spread[~(spread > 1e-12 * np.sqrt(self.total_weight) * np.abs(mean))] = np.inf
        covariance[~np.isfinite(covariance)] = 0.0
        return covariance / spread / spread[:, np.newaxis]


class ArrayReader(RowReader):
    """The rows of one NumPy array, asked through its `Block`."""

    def __init__(self, X, sample_weight=None, chunk_size=None):
        if X.size <= _SMALL:
            X = np.require(X, np.float64, ["F", "W"])
        self.block = Block(X, sample_weight, chunk_size)
        self.n_samples, self.n_features = X.shape
        self.total_weight = float(self.n_samples)
        if sample_weight is not None:
            self.n_samples = int(np.count_nonzero(sample_weight))
            self.total_weight = float(sample_weight.sum())

    def ask(self, question, *details):
        """Ask the block."""
        return getattr(self.block, question)(*details)

    def sample(self):
        """Return some rows, evenly spread over their order, but for those of weight zero."""
        X, weight = self.block.X, self.block.sample_weight
        places = np.unique(np.linspace(0, len(X) - 1, _SAMPLE).astype(np.intp))
        if weight is not None:
            places = places[weight[places] > 0.0]
        return np.asarray(X[places], dtype=np.float64)

    def fold(self, function, combine, n_evaluated: int, work: int, *, at_least: int = 1) -> tuple:
        """Return `Block.fold` of all rows; for answers that are no sums of monomials."""
        return self.block.fold(function, combine, n_evaluated, work, at_least=at_least)


class SourceReader(RowReader):
    """The rows of a source, or those of one class.

    Parameters
    ----------
    source : RowSource
    chunk_size : int or None
        Rows evaluated at a time.
    label : int or None
        The class, as its place in the classes of a `coded` source; None means all rows.
    scale : callable or None
        Scales rows before they are evaluated.
    """

    def __init__(self, source: RowSource, chunk_size=None, *, label=None, scale=None):
        self.source = source
        self.n_features = source.layout.n_features
        self.chunk_size = chunk_size
        self.label = label
        self.scale = scale

    def _ask_source(self, question):
        return self.source.ask(question, question.combine)

    def ask(self, question, *details):
        """Ask the blocks of the source, and count the rows."""
        asked = Question(question, details, self.label, self.scale, self.chunk_size)
        combined = self._ask_source(asked)
        (n_samples, total), answer = ((0, 0.0), ()) if combined is None else combined
        if np.isfinite(self.n_samples) and n_samples != self.n_samples:
            raise ValueError(
                f"A pass over the rows found {n_samples} of them, the first one {self.n_samples}. "
                "The source must yield the same blocks in every pass: give a function "
                "that makes a new iterator, not one that returns the same one."
            )
        if not n_samples:
            raise ValueError("The source has no rows (of positive weight): nothing to fit.")
        self.n_samples, self.total_weight = n_samples, total
        return answer


def reader_of(rows: RowSource, chunk_size: int | None = None) -> RowReader:
    """Return a reader of rows, wherever they are."""
    part = rows.part
    if part is None:
        return SourceReader(rows, chunk_size)
    return ArrayReader(part.X, part.weight, chunk_size)
