"""Components: polynomials as combinations of products of polynomials, evaluated together."""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vanishing._threads import one_blas_thread
from vanishing._types import BoolArray, IntArray, Names
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows
from vanishing.algebra.generators import PolynomialSequence
from vanishing.algebra.immutable import read_only
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.checks import too_large

_NO_TERM = 1e-12  # coefficients below this, relative to the largest, are rounding


class Stage(NamedTuple):
    """One degree: the components F_d and the generators G_d from the components below.

    With F the values of all components of lower degrees and C those of the candidates,
    ``combine @ C + project @ F`` are the values of F_d, ``n_components`` of them, and of G_d.
    """

    left: np.ndarray | None  # candidates are the products F[left] F[right], or the columns
    right: np.ndarray | None
    combine: np.ndarray
    project: np.ndarray
    n_components: int

    @property
    def n_generators(self) -> int:
        """How many generators the degree has."""
        return len(self.combine) - self.n_components


def candidates_of(values, columns, left, right):
    """Evaluate candidates: products of components, or the columns themselves."""
    return columns if left is None else values[left] * values[right]


def components_of(stages, columns=None, first=None) -> np.ndarray:
    """Evaluate F: (|F|, n_rows), from columns or from given values of the components F_1."""
    values = np.empty(
        (1 + sum(s.n_components for s in stages), len((columns if first is None else first)[0]))
    )
    values[0] = 1.0
    k = 1
    for stage in stages:
        end = k + stage.n_components
        if stage.left is None and first is not None:
            values[k:end] = first
        else:
            candidates = candidates_of(values, columns, stage.left, stage.right)
            np.matmul(stage.combine[: end - k], candidates, out=values[k:end])
            values[k:end] += stage.project[: end - k] @ values[:k]
        k = end
    return values


def derivatives_of(stages, values, slopes, left, right):
    """Differentiate F and the candidates along each component of degree 1.

    All are polynomials in F_1, whose gradients are orthogonal. With their lengths as ``slopes``
    the squares of the derivatives add up to the squared lengths of the gradients.

    Parameters
    ----------
    stages : sequence of Stage
    values : ndarray of shape (|F|, n_rows)
        As `components_of` returns them.
    slopes : ndarray of shape (|F_1|,)
    left, right : ndarray
        The candidates.

    Yields
    ------
    derivatives : ndarray of shape (|F|, n_rows)
    of_candidates : ndarray of shape (n_candidates, n_rows)
    """
    for i, slope in enumerate(slopes, start=1):
        derivatives = np.zeros_like(values)
        derivatives[i] = slope

        def of_products(left, right, i=i, slope=slope, derivatives=derivatives):
            out = values[left] * derivatives[right]
            along = left == i
            out[along] += slope * values[right[along]]
            return out

        k = 1 + len(slopes)
        for stage in stages[1:]:
            end = k + stage.n_components
            products = of_products(stage.left, stage.right)
            np.matmul(stage.combine[: end - k], products, out=derivatives[k:end])
            derivatives[k:end] += stage.project[: end - k] @ derivatives[:k]
            k = end
        yield derivatives, of_products(left, right)


def in_monomials(stages, n_features: int) -> np.ndarray:
    """Expand the last of some stages: its coefficients on all terms up to its degree."""
    degree = len(stages)
    n_generators = sum(stage.n_generators for stage in stages)
    components = Components(
        stages, np.zeros(n_generators), np.ones(n_features), default_names(n_features)
    )
    terms, times, _ = components._table(degree)
    return components._in_monomials(degree, slice(None), terms, times)


class Components(PolynomialSequence):
    """The generators of a fitted `VCA`: a sequence of `Polynomial`, evaluated together.

    They are kept, and evaluated, as the products and combinations they were found as; a single
    one is expanded into monomials when it is asked for.

    Parameters
    ----------
    stages : sequence of Stage
        One a degree, from degree 1 on.
    mse : ndarray of shape (|G|,)
    scale : ndarray of shape (n_features,)
        Size of the columns, to tell coefficients from rounding.
    feature_names : sequence of str
    """

    stages: tuple[Stage, ...]
    mse: np.ndarray
    scale: np.ndarray
    feature_names: tuple[str, ...]

    def __init__(self, stages, mse, scale, feature_names):
        self._set(
            stages=tuple(
                Stage(*(p if p is None or isinstance(p, int) else read_only(p) for p in stage))
                for stage in stages
            ),
            mse=read_only(mse),
            scale=read_only(scale),
            feature_names=tuple(str(name) for name in feature_names),
        )

    def __reduce__(self):
        return Components, (self.stages, self.mse, self.scale, self.feature_names)

    @property
    def degrees(self) -> np.ndarray:
        """The degree that each generator was found in."""
        counts = [stage.n_generators for stage in self.stages]
        return np.repeat(np.arange(1, len(counts) + 1), counts)

    def __len__(self) -> int:
        return len(self.mse)

    def subset(self, chosen: IntArray | BoolArray | slice) -> "Components":
        """Return some of the generators, in the order they have, without what they do not need."""
        kept = np.zeros(len(self), dtype=bool)
        kept[chosen] = True
        stages, start = list(self.stages), 0
        for i, stage in enumerate(stages):
            end = start + stage.n_generators
            if not kept[start:end].all():
                rows = np.append(np.ones(stage.n_components, dtype=bool), kept[start:end])
                stages[i] = stage._replace(combine=stage.combine[rows], project=stage.project[rows])
            start = end
        while stages and not stages[-1].n_generators:
            stages.pop()
        if stages:  # no one needs the components of the last degree
            last = stages[-1]
            k = last.n_components
            stages[-1] = last._replace(
                combine=last.combine[k:], project=last.project[k:], n_components=0
            )
        return Components(stages, self.mse[kept], self.scale, self.feature_names)

    def renamed(self, feature_names: Names) -> "Components":
        """Return the same generators with other names of the columns."""
        return Components(self.stages, self.mse, self.scale, feature_names)

    # -- Evaluation ---------------------------------------------------------------------------

    @property
    def n_evaluated(self) -> int:
        """How many values a row needs, for a choice of chunks."""
        widest = max((stage.combine.shape[1] for stage in self.stages), default=0)
        return 1 + widest + sum(len(stage.combine) for stage in self.stages)

    def values(self, columns: np.ndarray) -> np.ndarray:
        """Evaluate all generators on columns (n_features, n_rows): (|G|, n_rows)."""
        components = components_of(self.stages, columns)
        out = np.empty((len(self), columns.shape[1]))
        k, start = 1, 0
        for stage in self.stages:
            end = start + stage.n_generators
            if end > start:
                candidates = candidates_of(components, columns, stage.left, stage.right)
                np.matmul(stage.combine[stage.n_components :], candidates, out=out[start:end])
                out[start:end] += stage.project[stage.n_components :] @ components[:k]
            k += stage.n_components
            start = end
        return out

    def _chunking(self, chunk_size):
        work = sum(stage.combine.size + stage.project.size for stage in self.stages)
        return chunk_rows(self.n_evaluated, chunk_size), work

    def _evaluate(self, X, absolute, rows, out):
        for start in range(0, len(X), rows):
            chunk = slice(start, start + rows)
            values = self.values(np.array(X[chunk].T, dtype=np.float64, order="C"))
            out[chunk] = np.abs(values, out=values).T if absolute else values.T

    # -- Expansion into monomials -------------------------------------------------------------

    @cached_property
    def _tables(self) -> dict:
        """What `_table` has returned, by degree."""
        n = len(self.feature_names)
        constant = np.zeros((1, n), dtype=monomials.EXPONENT)
        return {0: (constant, np.zeros((n, 0), dtype=np.intp), np.ones((1, 1)))}

    def _table(self, degree):
        """Return all terms up to a degree, the places of their multiples, and F_d's coefficients.

        ``times[j, t]`` is the place of x_j times term t, for the terms of lower degrees.
        """
        tables = self._tables
        if degree not in tables:
            terms, times, _ = self._table(degree - 1)
            n = terms.shape[1]
            total = math.comb(n + degree, n)
            stage = self.stages[degree - 1]
            self._check_size(total * (n + stage.n_components), degree)
            top = terms[times.shape[1] :]
            above = monomials.border(top, "bb").terms
            keys = monomials.keys(above)
            multiples = [
                len(terms) + np.searchsorted(keys, monomials.keys(top + step))
                for step in np.eye(n, dtype=monomials.EXPONENT)
            ]
            times = np.hstack([times, multiples])
            terms = np.concatenate([terms, above])
            coef = self._in_monomials(degree, slice(0, stage.n_components), terms, times)
            # Complete, and in one step: other threads may look for it.
            tables[degree] = terms, times, coef
        return tables[degree]

    def _in_monomials(self, degree, rows, terms, times) -> np.ndarray:
        """Expand some rows of a stage into the terms up to its degree, as `_table` has them.

        With f_a = alpha_a + sum_j beta_aj x_j the products sum_ab w_ab f_a g_b are
        sum_b (w'alpha)_b g_b + sum_j x_j sum_b (w'beta)_jb g_b.
        """
        stage = self.stages[degree - 1]
        combine, project = stage.combine[rows], stage.project[rows]
        if degree == 1:
            return np.hstack([project, combine])
        coef = np.zeros((len(combine), len(terms)))
        start = 0
        for lower in range(degree):
            table = self._table(lower)[2]
            end = start + len(table)
            coef[:, : table.shape[1]] += project[:, start:end] @ table
            previous, start = start, end
        first = self._table(1)[2]
        weights = np.zeros((len(combine), len(first), len(table)))
        weights[:, stage.left - 1, stage.right - previous] = combine
        size = table.shape[1]
        for j, factor in enumerate(first.T):
            product = np.einsum("sab,a->sb", weights, factor) @ table
            coef[:, slice(0, size) if j == 0 else times[j - 1, :size]] += product
        return coef

    def _polynomial(self, i: int) -> Polynomial:
        degree = int(self.degrees[i])
        stage = self.stages[degree - 1]
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            terms, times, _ = self._table(degree)
            place = i - np.searchsorted(self.degrees, degree) + stage.n_components
            coef = self._in_monomials(degree, slice(place, place + 1), terms, times)[0]
        if not np.isfinite(coef).all():
            raise ValueError(
                f"the coefficients of a component of degree {degree} overflow: evaluate it "
                "instead, or scale the data."
            )
        # What a term contributes on the rows, and not its coefficient, says whether it counts.
        with np.errstate(divide="ignore"):
            size = np.log(np.abs(coef)) + terms @ np.log(np.where(self.scale > 0, self.scale, 1.0))
        used = np.flatnonzero(size > size.max() + math.log(_NO_TERM))
        # Products of components are about 1 on the rows. Where they cancel, this is their rounding.
        weights = np.abs(stage.combine[place]).sum() + np.abs(stage.project[place]).sum()
        if degree > 1 and size.max() < math.log(_NO_TERM * weights):
            used, coef = np.zeros(1, dtype=np.intp), np.zeros_like(coef)
        return Polynomial(
            terms[used],
            coef[used],
            mse=self.mse[i],
            feature_names=self.feature_names,
            sparsity=0.0,  # combinations of candidates have no zeros
        )

    @staticmethod
    def _check_size(n_numbers, degree):
        problem = too_large(f"the expansion of components of degree {degree}", 8 * n_numbers)
        if problem is not None:
            raise ValueError(f"{problem}; or evaluate them instead.")
