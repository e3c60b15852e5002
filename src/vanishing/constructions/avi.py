"""AVI: the approximate vanishing ideal algorithm, from moments."""

from typing import Literal

import numpy as np
from scipy.linalg import eigh, solve_triangular

from vanishing.algebra.monomials import Border
from vanishing.checks import check_number
from vanishing.constructions.certificate import (
    EPS,
    Factor,
    SchurTail,
    bounds_from_moments,
    bounds_from_rows,
)
from vanishing.constructions.engine import MonomialConstruction, stacked
from vanishing.constructions.ideal import IdealTransformer, savable

_ZERO = 1e-11  # root mean square of what is zero up to rounding, next to its terms
_SMALLEST = 1e-150  # entry of a unit vector whose square is not zero


@savable
class AVI(IdealTransformer):
    """Generators of the approximate vanishing ideal by the kernel of a whole degree.

    For each degree AVI takes the singular vectors of the evaluated border terms and O whose
    polynomials have a mean square of at most psi. It brings them into a stabilised reduced row
    echelon form. The pivots are the leading terms; all other border terms join O. That is repeated
    until O has no such singular vectors of its own. Generators have coefficients of l2-norm 1.

    Parameters
    ----------
    psi : float in [0, 1), default=0.005
        Largest mean squared value of a generator on the training rows; 0 means exact up to
        rounding.
    border : {"gb", "bb"}, default="bb"
        Reduced Groebner basis border or border basis border.
    pivot_tol : float in (0, 1), default=1e-3
        Columns of the kernel that are smaller than this, next to unit vectors, have no pivot: a
        leading coefficient that small would be noise. Columns of terms with large values, which
        count even so, have a smaller limit.
    max_degree : int, default=10
        Largest degree of a generator.
    max_terms : int or None, default=None
        Largest number of terms in O, the monomials that all generators together are made of. The
        fit stops, with a warning, before it would be exceeded. In `LawFinder` and
        `ConservedQuantities` ``max_terms`` bounds the terms of each equation instead.
    feature_order : {"given", "pearson", "rev_pearson"}, default="given"
        Order of the variables in DegLex.
    remove_redundant : bool, default=False
        Whether generators are removed whose gradients lie in the span of those of earlier ones, on
        the rows: near these they have no zeros fewer. What is left describes the rows, and is no
        basis of the ideal. It takes one more pass over the rows.
    absolute : bool, default=True
        Whether `transform` returns ``|g(x)|`` rather than ``g(x)``.
    chunk_size : int or None, default=None
        Rows read at a time; None chooses chunks that stay in the cache.
    n_jobs : int or None, default=None
        Threads over chunks of rows, in `fit` and `transform`; the results are the same. -1 means
        all cores.
    verbose : int, default=0
        Print one line per degree.

    Attributes
    ----------
    terms_ : ndarray of int of shape (n_terms_, n_features_in_)
        O, the terms that are no leading terms: exponents in DegLex order, the constant first.
    leading_terms_ : ndarray of int of shape (n_generators_, n_features_in_)
        Exponents of the generators' leading terms, in DegLex order.
    coef_ : ndarray of shape (n_generators_, n_terms_)
        Non-leading coefficients of the generators on `terms_`.
    leading_coef_ : ndarray of shape (n_generators_,)
        Positive; with those of `coef_` the l2-norm of a generator's coefficients is 1.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares of the generators on the training rows, measured.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators: call them, print them, take their gradient.
    n_generators_, n_terms_, degree_ : int
        |G|, |O|, and the largest degree of a generator (0 if there is none).
    sparsity_ : float
        Share of zeros among the non-leading coefficients that each generator could have had.
    n_coefficients_ : int
        How many those are.
    complete_ : bool
        Whether the border was empty at the end, so that every polynomial can be divided by the
        generators: see `reduce`.
    max_abs_ : ndarray of shape (n_features_in_,) or None
        Largest absolute value of each column on the training rows; None where they were not seen.
    feature_order_ : ndarray of int of shape (n_features_in_,)
        Columns in the order of the variables t_1 < t_2 < ... of DegLex.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    OAVI : Sparse generators by convex optimisation, term by term.
    ABM : Generators of unit norm by smallest singular vectors.
    VCA : Polynomials without monomials, by products of components.

    References
    ----------
    D. Heldt, M. Kreuzer, S. Pokutta and H. Poulisse, "Approximate computation of zero-dimensional
    polynomial ideals", Journal of Symbolic Computation 44 (2009).

    E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR
    2023: columns in the order of their correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import AVI
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> print(AVI(psi=1e-6, max_degree=2).fit(X).generators_[0])
    0.5774*x1^2 + 0.5774*x0^2 - 0.5774
    """

    def __init__(
        self,
        psi: float = 0.005,
        *,
        border: Literal["gb", "bb"] = "bb",
        pivot_tol: float = 1e-3,
        max_degree: int = 10,
        max_terms: int | None = None,
        feature_order: Literal["given", "pearson", "rev_pearson"] = "given",
        remove_redundant: bool = False,
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.psi = psi
        self.border = border
        self.pivot_tol = pivot_tol
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.feature_order = feature_order
        self.remove_redundant = remove_redundant
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _construction(self, rows, columns):
        return _AVIConstruction(self, rows, columns)

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        super().check_parameters()
        check_number("pivot_tol", self.pivot_tol, low=0, high=1, low_open=True, high_open=True)


def stabilised_row_echelon(vectors: np.ndarray, tol: np.ndarray):
    """Bring orthonormal rows into a reduced row echelon form that small numbers cannot upset.

    Columns are orthogonalised from left to right; one that has less than its ``tol`` left next to
    the pivot columns before it has no pivot, and what is left of it is taken for zero. Pivots are
    looked for in the first ``len(tol)`` columns.

    Returns
    -------
    rows : ndarray of shape (r, n_columns)
        Rows of norm 1 with a pivot each, zero to the left of it and in each other's pivot columns.
    pivots : ndarray of shape (r,)
        Their columns.
    """
    # What orthogonalisation leaves of the columns are the Schur complements of their Gram matrix.
    n_pivots = len(tol)
    start = vectors[:, :n_pivots]
    nothing = np.zeros((0, n_pivots))
    tail = SchurTail(Factor(np.zeros((0, 0))), nothing, start.T @ start, np.zeros(n_pivots))
    for column in range(n_pivots):
        if len(tail.joined) < len(vectors) and tail.residual(column) >= tol[column] ** 2:
            tail.join(column, dependent=False)
    pivots = np.array(tail.joined, dtype=np.intp)
    # Of very small columns the complements are rounding errors, and nothing may be left of them.
    # NumPy's types do not know that mode "r" returns an array.
    R: np.ndarray = np.linalg.qr(vectors[:, pivots], mode="r")  # type: ignore[assignment]
    left = np.abs(R.diagonal())
    pivots = pivots[left >= 0.5 * tol[pivots]]
    if not pivots.size:
        return np.zeros((0, vectors.shape[1])), pivots
    Q, R = np.linalg.qr(vectors[:, pivots])
    rows = solve_triangular(R, Q.T @ vectors, check_finite=False)
    rows[:, pivots] = np.eye(pivots.size)
    rows[np.arange(rows.shape[1]) < pivots[:, np.newaxis]] = 0.0
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), pivots


def _terms_of(pivot: int, pivots: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the columns that the row of a pivot may use."""
    return np.setdiff1d(np.arange(pivot, n_columns), pivots[pivots != pivot])


class _AVIConstruction(MonomialConstruction):
    """A degree at a time: the almost-kernel of all border terms and O, in echelon form.

    Columns are terms in descending order, border first, so that the first non-zero entry of a row
    belongs to its leading term.
    """

    name = "AVI"
    unit_norm = True

    def __init__(self, options, rows, columns):
        super().__init__(options, rows, columns)
        self.pivot_tol = float(options.pivot_tol)

    def settle(self, border: Border):
        """Let each of the border terms become the leading term of a generator or join O."""
        moments = self.moments(border)
        if moments is None:
            return
        cross, norm, inner = moments
        k, b = cross.shape
        slab = self.slab(border, cross, norm, inner, np.zeros(b, dtype=bool))
        gram = np.block([[slab.inner, cross.T], [cross, self.gram[:k, :k]]])
        # Column i of the echelon form is border term b - 1 - i, then O from its last term on.
        order = np.concatenate([np.arange(b)[::-1], b + np.arange(k)[::-1]])
        gram = gram[np.ix_(order, order)]
        plan = self.plan.extended(border.parent, border.variable)
        columns = np.concatenate([k + np.arange(b)[::-1], np.arange(k)[::-1]])

        leading = self._leading(gram, plan, columns, b)
        joined = [j for j in range(b) if b - 1 - j not in leading]
        room = np.inf if self.max_terms is None else self.max_terms - k
        end = b
        if len(joined) > room:
            self.stopped = f"O has reached max_terms={self.max_terms} terms"
            end = joined[int(room)]
            joined = joined[: int(room)]
        self.grow_gram(slab, joined, 0)
        generators = {}
        kept = np.concatenate([b + np.arange(k)[::-1], b - 1 - np.array(joined, dtype=np.intp)])
        for column, row in leading.items():
            j = b - 1 - column
            if j < end:
                size = k + int(np.searchsorted(joined, j))
                generators[j] = row[kept[:size]] / row[column]
        self.extend(border, np.array(joined, dtype=np.intp), *stacked(generators, k + len(joined)))

    def _leading(self, gram, plan, columns, b) -> dict[int, np.ndarray]:
        """Return the rows of the echelon form by their pivot columns, all passes together."""
        # What is taken for zero must not be felt on the rows: large terms have a smaller limit.
        rms = np.sqrt(gram.diagonal())
        felt = 0.01 * np.sqrt(self.psi) if self.psi else 1e-8
        unit = np.ones(len(gram))
        triangle = None
        if self.psi == 0.0:
            # What is zero is so in any unit: each term is measured in its own size.
            unit, rms = np.where(rms > 0.0, rms, 1.0), np.where(rms > 0.0, 1.0, 0.0)
            triangle = self.rows.triangular(plan, columns) / unit
        tol = np.minimum(self.pivot_tol, felt / np.maximum(rms[:b], felt))
        tol = np.maximum(tol, _SMALLEST)
        pivots = np.zeros(0, dtype=np.intp)
        rows = np.zeros((0, len(gram)))
        barred = np.zeros(0, dtype=np.intp)  # columns that led to nothing: their terms stay in O
        while True:
            active = np.setdiff1d(np.arange(len(gram)), pivots)
            if self.psi == 0.0:
                kernel = self._kernel(plan, columns[active], unit[active])
            else:
                kernel = self._almost_kernel(gram, plan, columns, active)
            new_rows, new = stabilised_row_echelon(kernel, tol[active[active < b]])
            new = active[new]
            fresh = ~np.isin(new, barred)
            if not fresh.any():
                return dict(zip(pivots, rows / unit, strict=True))
            full = np.zeros((np.count_nonzero(fresh), len(gram)))
            full[:, active] = new_rows[fresh]
            new = new[fresh]
            # A later pass finds leading terms that earlier rows still use: take those out.
            rows -= (rows[:, new] / full[np.arange(new.size), new]) @ full
            rows[:, new] = 0.0
            pivots, rows = np.concatenate([pivots, new]), np.concatenate([rows, full])
            leads = rows[np.arange(pivots.size), pivots]
            share = np.abs(rows) * rms
            rows[share <= 10.0 * EPS * share.sum(axis=1, keepdims=True)] = 0.0
            rows[np.arange(pivots.size), pivots] = leads  # also of terms that are zero on all rows
            # After that: the norm may be in coefficients that are not felt, of tiny terms.
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            if self.psi == 0.0:
                keep = self._make_zero(triangle, pivots, rows)
            else:
                keep = self._make_vanish(gram, plan, columns, pivots, rows)
            barred = np.concatenate([barred, pivots[~keep]])
            pivots, rows = pivots[keep], rows[keep]

    def _almost_kernel(self, gram, plan, columns, active) -> np.ndarray:
        """Return orthonormal rows: combinations of the active terms with mean square <= psi."""
        try:
            values, vectors = np.linalg.eigh(gram[np.ix_(active, active)])
        except np.linalg.LinAlgError:  # numbers from 1e-200 to 1e200, say
            clear = False
        else:
            scale = np.sqrt(gram.diagonal()[active]) @ np.abs(vectors)
            low, high = bounds_from_moments(values, scale, active.size)
            clear = not ((low <= self.psi) & (self.psi < high)).any()
        if not clear:
            # The moments cannot tell: singular values of the evaluated terms can.
            triangle = self.rows.triangular(plan, columns[active])
            _, sigma, right = np.linalg.svd(triangle)
            values, vectors = sigma**2, right.T
        return vectors[:, values <= self.psi].T

    def _kernel(self, plan, columns, unit) -> np.ndarray:
        """Return orthonormal rows: combinations of terms over units that are zero up to rounding.

        Singular values err relative to the largest: with columns of very different size, small
        ones would be taken for rounding of large ones.
        """
        _, sigma, right = np.linalg.svd(self.rows.triangular(plan, columns) / unit)
        low, _ = bounds_from_rows(sigma**2, np.abs(right).sum(axis=1), columns.size)
        return right[low <= 0.0]

    def _make_vanish(self, gram, plan, columns, pivots, rows) -> np.ndarray:
        """Give rows a mean square of at most psi; return for which that succeeded.

        Echelon rows are combinations of almost-kernel vectors up to what was taken for zero, and
        nearly always vanish as they are; otherwise the best row with the same terms is taken, if
        that vanishes.
        """
        keep = self._vanish(gram, plan, columns, pivots, rows)
        for i in np.flatnonzero(~keep):
            pivot = pivots[i]
            terms = _terms_of(pivot, pivots, len(gram))
            best = np.zeros((1, len(gram)))
            best[0, terms] = eigh(gram[np.ix_(terms, terms)], subset_by_index=[0, 0])[1][:, 0]
            if best[0, pivot] and self._vanish(gram, plan, columns, pivots[[i]], best)[0]:
                rows[i], keep[i] = best[0], True
        return keep

    @staticmethod
    def _make_zero(triangle, pivots, rows) -> np.ndarray:
        """Do the same for rows over units that must be zero up to rounding."""

        def is_zero(row):
            return np.linalg.norm(triangle @ row) <= _ZERO * (
                np.linalg.norm(triangle, axis=0) @ np.abs(row)
            )

        keep = np.array([is_zero(row) for row in rows], dtype=bool)
        for i in np.flatnonzero(~keep):
            terms = _terms_of(pivots[i], pivots, len(triangle))
            best = np.zeros(len(triangle))
            best[terms] = np.linalg.svd(triangle[:, terms])[2][-1]
            if abs(best[pivots[i]]) >= _SMALLEST and is_zero(best):
                rows[i], keep[i] = best, True
        return keep

    def _vanish(self, gram, plan, columns, pivots, rows) -> np.ndarray:
        """Say which rows have a mean square of at most psi, measuring those in doubt."""
        scale = np.abs(rows) @ np.sqrt(gram.diagonal())
        mse = np.einsum("ij,ij->i", rows @ gram, rows)
        low, high = bounds_from_moments(mse, scale, len(gram))
        vanish = high <= self.psi
        for i in np.flatnonzero((low <= self.psi) & (self.psi < high)):
            lead = rows[i, pivots[i]]
            others = np.setdiff1d(np.flatnonzero(rows[i]), pivots[i])
            measured = self.rows.mse(
                plan, columns[others], rows[[i]][:, others] / lead, columns[pivots[[i]]]
            )[0]
            root = abs(lead) * np.sqrt(measured) + 4.0 * EPS * scale[i]
            vanish[i] = root <= np.sqrt(self.psi)
        return vanish
