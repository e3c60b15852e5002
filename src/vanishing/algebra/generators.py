"""Sequences of polynomials that are evaluated together: the generators of a fitted model."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numba import njit
from sklearn.utils import check_array

from vanishing._threads import one_blas_thread, spread
from vanishing._types import Array, BoolArray, FloatArray, IntArray, Names, Table, Vector
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import (
    NO_WEIGHTS,
    batches,
    chunk_rows,
    evaluate_chunk,
    stretches,
)
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.polynomials import NOTEBOOK_TERMS, Polynomial

_TILE = 32
_NOTEBOOK = 20  # equations that a notebook shows


@njit(cache=True, nogil=True)
def _fill(linear, values, leading, leading_coef, absolute, out):
    """out[r, j] = linear[j, r] + leading_coef[j] values[leading[j], r], tile by tile."""
    n_rows, n_polynomials = out.shape
    for j0 in range(0, n_polynomials, _TILE):
        j1 = min(j0 + _TILE, n_polynomials)
        for r0 in range(0, n_rows, _TILE):
            r1 = min(r0 + _TILE, n_rows)
            for j in range(j0, j1):
                t = leading[j]
                c = leading_coef[j]
                for r in range(r0, r1):
                    value = linear[j, r] + c * values[t, r]
                    out[r, j] = abs(value) if absolute else value


@njit(cache=True, nogil=True)
def _fill_rows(columns, parent, variable, terms, coef, leading, leading_coef, absolute, rows, out):
    """Evaluate generators on all rows of the columns, chunk by chunk."""
    n_terms, n_rows, n_polynomials = parent.size, columns.shape[1], leading.size
    rows = min(rows, n_rows)
    memory = np.empty(n_terms * rows)
    copied = np.empty(terms.size * rows)
    sums = np.zeros(n_polynomials * rows)
    for start in range(0, n_rows, rows):
        size = min(rows, n_rows - start)
        values = memory[: n_terms * size].reshape((n_terms, size))
        evaluate_chunk(columns, start, NO_WEIGHTS, parent, variable, values)
        linear = sums[: n_polynomials * size].reshape((n_polynomials, size))
        if terms.size:
            used = copied[: terms.size * size].reshape((terms.size, size))
            for i in range(terms.size):
                for r in range(size):
                    used[i, r] = values[terms[i], r]
            np.dot(coef, used, linear)
        _fill(linear, values, leading, leading_coef, absolute, out[start : start + size])


def aligned(polynomials) -> str | None:
    """Write the first equations of a sequence in LaTeX, aligned at their signs of equality.

    None where there are none, or where components are too large to be expanded.
    """
    try:
        shown = polynomials[:_NOTEBOOK]
        lines = [g.equation("latex", limit=NOTEBOOK_TERMS, equals=" &= ") for g in shown]
    except ValueError:
        return None
    if not lines:
        return None
    if len(polynomials) > _NOTEBOOK:
        lines.append(rf"&\quad \text{{({len(polynomials) - _NOTEBOOK:,} more)}}")
    inner = " \\\\\n".join(lines)
    return f"$$\n\\begin{{aligned}}\n{inner}\n\\end{{aligned}}\n$$"


class PolynomialSequence(Immutable, Sequence[Polynomial]):
    """The generators of a fitted model, one of which is made when it is asked for."""

    @property
    @abstractmethod
    def degrees(self) -> np.ndarray:
        """The degree that each generator was found in."""

    @abstractmethod
    def _polynomial(self, i: int) -> Polynomial: ...

    @abstractmethod
    def subset(self, chosen: IntArray | BoolArray | slice) -> Self:
        """Return some of the generators, as a sequence of their own."""

    @abstractmethod
    def renamed(self, feature_names: Names) -> Self:
        """Return the same generators with other names of the columns."""

    @property
    def degree(self) -> int:
        """Largest degree, 0 if there are no generators."""
        return int(self.degrees.max(initial=0))

    @overload
    def __getitem__(self, index: int) -> Polynomial: ...
    @overload
    def __getitem__(self, index: slice) -> list[Polynomial]: ...
    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._polynomial(range(len(self))[index])

    def __str__(self) -> str:
        return "\n".join(f"{g.equation()}   (mse {g.mse:.2g})" for g in self)

    def __repr__(self) -> str:
        return f"<{len(self)} generators of degree up to {self.degree}>"

    def _repr_latex_(self) -> str | None:
        return aligned(self)

    def table(self) -> dict[str, list[Any]]:
        """Return one line per generator as columns, for a DataFrame of any library."""
        polynomials = list(self)
        return {
            "equation": [g.equation() for g in polynomials],
            "degree": [g.degree for g in polynomials],
            "n_terms": [len(g.terms) for g in polynomials],
            "mse": [g.mse for g in polynomials],
        }

    def distance(self, X: Table) -> FloatArray:
        """Return the distances of rows from each generator's zeros: (n_samples, |G|).

        To first order, as `Polynomial.distance`.
        """
        X = check_array(X, dtype=[np.float64, np.float32])
        distances = [g.distance(X) for g in self]
        return np.column_stack(distances) if distances else np.zeros((len(X), 0))

    @abstractmethod
    def _chunking(self, chunk_size) -> tuple[int, int]:
        """Return how many rows to evaluate at a time, and how many multiply-adds a row takes."""

    @abstractmethod
    def _evaluate(self, X, absolute: bool, rows: int, out) -> None:
        """Write the values of all generators on rows, a stretch of chunks of ``rows`` each."""

    def _by_stretches(self, function, n_samples: int, chunk_size) -> None:
        """Call ``function(some rows, rows of a chunk)`` for all rows, in several threads."""
        rows, work = self._chunking(chunk_size)
        with one_blas_thread():
            spread(lambda stretch: function(stretch, rows), stretches(n_samples, rows, work))

    def evaluate(
        self,
        X: Array,
        *,
        absolute: bool = False,
        chunk_size: int | None = None,
        out: Array | None = None,
    ) -> Any:
        """Evaluate all generators on rows: (n_samples, |G|) in the dtype of X.

        ``X`` is a float64 or float32 array with the right number of columns; ``out`` an array to
        write to.
        """
        if out is None:
            out = np.empty((len(X), len(self)), dtype=X.dtype)
        if len(self):
            self._by_stretches(
                lambda stretch, rows: self._evaluate(X[stretch], absolute, rows, out[stretch]),
                len(X),
                chunk_size,
            )
        return out

    def combine(
        self, X: Array, weights: Array, *, absolute: bool = False, chunk_size: int | None = None
    ) -> FloatArray:
        """Return ``evaluate(X) @ weights`` without ever holding all values of the generators.

        ``weights`` has shape (|G|, n_outputs).
        """
        out = np.zeros((len(X), weights.shape[1]))

        def combine(stretch: slice, rows: int) -> None:
            values = np.empty((stretch.stop - stretch.start, len(self)))
            self._evaluate(X[stretch], absolute, rows, values)
            np.matmul(values, weights, out=out[stretch])

        if len(self):
            self._by_stretches(combine, len(X), chunk_size)
        return out


def sizes_before(terms: IntArray, leading_terms: IntArray, columns: IntArray) -> IntArray:
    """Return how many terms precede each leading term, in DegLex with variables in this order."""
    order = monomials.deglex_order(np.vstack([terms, leading_terms])[:, columns])
    before = np.cumsum(order < len(terms))
    sizes = np.empty(len(order), dtype=np.intp)
    sizes[order] = before
    return sizes[len(terms) :]


class Generators(PolynomialSequence):
    """The generators of a fitted model: a sequence of `Polynomial`, evaluated together.

    Generator i is ``leading_coef[i] * leading_terms[i] + coef[i] @ terms``.

    Parameters
    ----------
    terms : ndarray of int of shape (|O|, n_features)
    leading_terms : ndarray of int of shape (|G|, n_features)
    coef : ndarray of shape (|G|, |O|)
    leading_coef : ndarray of shape (|G|,)
    mse : ndarray of shape (|G|,)
    feature_names : sequence of str
    sizes : ndarray of int of shape (|G|,), default=None
        |O| when each of them was found, which its sparsity is relative to; None if not known.

    See Also
    --------
    Polynomial : One of them.
    """

    terms: IntArray
    leading_terms: IntArray
    coef: FloatArray
    leading_coef: FloatArray
    mse: FloatArray
    feature_names: tuple[str, ...]
    sizes: IntArray | None

    def __init__(
        self,
        terms: Table,
        leading_terms: Table,
        coef: Table,
        leading_coef: Vector,
        mse: Vector,
        feature_names: Names,
        sizes: Vector | None = None,
    ):
        self._set(
            terms=read_only(terms),
            leading_terms=read_only(leading_terms),
            coef=read_only(coef),
            leading_coef=read_only(leading_coef),
            mse=read_only(mse),
            feature_names=tuple(str(name) for name in feature_names),
            sizes=None if sizes is None else read_only(sizes),
        )

    def __reduce__(self):
        parts = (self.terms, self.leading_terms, self.coef, self.leading_coef, self.mse)
        return Generators, (*parts, self.feature_names, self.sizes)

    def __len__(self) -> int:
        return len(self.leading_terms)

    def _polynomial(self, i: int) -> Polynomial:
        used = np.flatnonzero(self.coef[i])
        # O has one term at least, the constant.
        share = np.nan if self.sizes is None else 1.0 - used.size / self.sizes[i]
        return Polynomial(
            np.vstack([self.terms[used], self.leading_terms[i]]),
            np.append(self.coef[i, used], self.leading_coef[i]),
            mse=self.mse[i],
            feature_names=self.feature_names,
            sparsity=share,
        )

    @property
    def degrees(self) -> np.ndarray:
        """The degree of each generator."""
        return self.leading_terms.sum(axis=1)

    @cached_property
    def compiled(self):
        """What `evaluate` needs: only terms that some generator uses, and the plan for them."""
        used = np.flatnonzero(self.coef.any(axis=0))
        plan, position = monomials.plan(np.vstack([self.terms[used], self.leading_terms]))
        coef = np.ascontiguousarray(self.coef[:, used])
        return plan, position[: used.size], coef, position[used.size :]

    def subset(self, chosen: IntArray | BoolArray | slice) -> "Generators":
        """Return some of the generators, as a sequence of their own."""
        return Generators(
            self.terms,
            self.leading_terms[chosen],
            self.coef[chosen],
            self.leading_coef[chosen],
            self.mse[chosen],
            self.feature_names,
            None if self.sizes is None else self.sizes[chosen],
        )

    def renamed(self, feature_names: Names) -> "Generators":
        """Return the same generators with other names of the columns."""
        parts = (self.terms, self.leading_terms, self.coef, self.leading_coef, self.mse)
        return Generators(*parts, feature_names, self.sizes)

    def _chunking(self, chunk_size):
        plan, _, coef, _ = self.compiled
        n_terms = plan.parent.size
        return chunk_rows(n_terms + len(self), chunk_size), n_terms + coef.size

    def _evaluate(self, X, absolute, rows, out):
        plan, terms, coef, leading = self.compiled
        weights = (terms, coef, leading, self.leading_coef)
        for batch, columns in batches(X, rows, plan.variable):
            _fill_rows(columns, *plan, *weights, absolute, rows, out[batch])
