"""ABM: the approximate Buchberger-Moeller algorithm, from moments."""

from typing import Literal

import numpy as np
from numba import njit
from scipy.linalg import norm, solve_triangular

from vanishing._types import Vector
from vanishing.algebra.monomials import Border
from vanishing.checks import check_choice, per_column
from vanishing.constructions.certificate import (
    EPS,
    UNBOUNDED,
    Factor,
    Limits,
    OrthogonalTail,
    SchurTail,
    certified,
)
from vanishing.constructions.engine import MonomialConstruction, Slab, stacked
from vanishing.constructions.from_moments import FitsMoments, is_debiased
from vanishing.constructions.gradient import DebiasedConstruction, GradientConstruction
from vanishing.constructions.ideal import savable


@savable
class ABM(FitsMoments):
    """Generators of the approximate vanishing ideal by smallest singular vectors.

    For each border term u in DegLex order ABM takes the smallest singular vector of [O(X), u(X)]:
    among unit vectors of coefficients over O and u, its polynomial has the smallest mean square on
    the rows. If that mean square is at most psi the polynomial is a generator, with coefficients of
    l2-norm 1; otherwise u joins O.

    Limbeck's BB-ABM, which solves least squares instead, is ``OAVI(oracle="ls", border="bb")``.

    Parameters
    ----------
    psi : float in [0, 1), default=0.005
        Largest mean squared value of a generator on the training rows; 0 means exact up to
        rounding.
    border : {"gb", "bb"}, default="gb"
        Reduced Groebner basis border or border basis border.
    max_degree : int, default=10
        Largest degree of a generator.
    max_terms : int or None, default=None
        Largest number of terms in O, the monomials that all generators together are made of. The
        fit stops, with a warning, before it would be exceeded. In `LawFinder` and
        `ConservedQuantities` ``max_terms`` bounds the terms of each equation instead.
    feature_order : {"given", "pearson", "rev_pearson"}, default="given"
        Order of the variables in DegLex.
    normalization : {"coefficients", "gradient"}, default="coefficients"
        What is 1 of a generator: the l2-norm of its coefficients, or the mean squared length of its
        gradient on the rows. With "gradient" the mean square of a generator is, to first order, the
        mean squared distance of the rows from its zeros. psi bounds this distance: any number, in
        the squared unit of the columns. Generators are then the same, up to a factor, when all
        columns are multiplied by a number and psi by its square.
    noise : float or array-like of shape (n_features,), default=None
        Standard deviation of the noise, of all columns or of each; needs
        ``normalization="gradient"``. Distances are then measured in units of the noise. Generators
        are scaled so that the mean of ``sum_j noise_j^2 (dg/dx_j)^2`` is 1, and psi is a multiple
        of the variance of the noise. A law below the noise has a mean square of about 1, so that
        psi is best a little larger, such as 2. A column with 0 counts as one with 1e-4 of the
        largest noise.
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
        Positive; with those of `coef_` the l2-norm of a generator's coefficients is 1, or
        its gradient has the mean squared length 1: see ``normalization``.
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
    AVI : Generators of a whole degree at once, by its kernel.
    VCA : Polynomials without monomials, by products of components.

    References
    ----------
    J. Limbeck, "Computation of approximate border bases and applications".

    E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR
    2023: columns in the order of their correlations.

    H. Kera, Y. Hasegawa, "Gradient boosts the approximate vanishing ideal", AAAI 2020; G. Taubin,
    "Estimation of planar curves, surfaces, and nonplanar space curves defined by implicit
    equations", 1991: gradients as the unit.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import ABM
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> print(ABM(psi=1e-6, max_degree=2).fit(X).generators_[0])
    0.5774*x1^2 + 0.5774*x0^2 - 0.5774

    Columns of different noise: psi in units of it.

    >>> noise = [0.01, 0.1]
    >>> rows = X + np.random.default_rng(0).normal(scale=noise, size=X.shape)
    >>> model = ABM(psi=2.0, max_degree=2, normalization="gradient", noise=noise).fit(rows)
    >>> model.n_generators_, bool(0.5 < model.mse_[0] < 2.0)
    (1, True)
    """

    def __init__(
        self,
        psi: float = 0.005,
        *,
        border: Literal["gb", "bb"] = "gb",
        max_degree: int = 10,
        max_terms: int | None = None,
        feature_order: Literal["given", "pearson", "rev_pearson"] = "given",
        normalization: Literal["coefficients", "gradient"] = "coefficients",
        noise: float | Vector | None = None,
        remove_redundant: bool = False,
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.psi = psi
        self.border = border
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.feature_order = feature_order
        self.normalization = normalization
        self.noise = noise
        self.remove_redundant = remove_redundant
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _psi_below(self):  # a squared distance may be any number
        return np.inf if self.normalization == "gradient" else 1.0

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_choice("normalization", self.normalization, ("coefficients", "gradient"))
        super().check_parameters()
        if self.noise is not None and self.normalization != "gradient":
            raise ValueError(
                "noise is the unit of distances, so it needs normalization='gradient'."
            )

    def _construction(self, rows, columns):
        noise = None if self.noise is None else per_column("noise", self.noise, len(columns))
        if noise is not None and not noise.any():
            raise ValueError("noise is zero for all columns: there would be no unit of distance.")
        if is_debiased(rows):
            if noise is not None:
                raise ValueError("debiased moments know their noise: leave noise out.")
            return DebiasedConstruction(self, rows, columns)
        if self.normalization == "gradient":
            return GradientConstruction(self, rows, columns, noise)
        return _ABMConstruction(self, rows, columns)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_secular(mu, w, norm, psi):
    """Turn each row of w into w_i / (lambda - mu_i) for its smallest lambda.

    That is the smallest root of d - lambda - sum_i w_i^2 / (mu_i - lambda), which lies below psi,
    and psi below all mu, where the function falls and is concave: from psi on, the steps of
    Newton's method go down and never beyond the root.
    """
    for j in range(w.shape[0]):
        root = psi if mu[0] > psi else mu[0] * (1.0 - 1e-12)
        for _ in range(100):
            value, slope = norm[j] - root, -1.0
            for i in range(mu.size):
                part = w[j, i] / (mu[i] - root)
                value -= w[j, i] * part
                slope -= part * part
            lower = max(0.0, root - value / slope)
            if not (value < 0.0 and lower < root):
                break
            root = lower
        for i in range(mu.size):
            w[j, i] /= root - mu[i]


class _ABMConstruction(MonomialConstruction):
    """Border terms decided by the smallest eigenvalue of the bordered Gram matrix.

    O has no unit vector of coefficients with mean square at most psi, so G - psi I is positive
    definite, and the smallest eigenvalue of [[G, c], [c', d]] is at most psi if and only if the
    Schur complement (d - psi) - c'(G - psi I)^{-1} c is not positive. The elimination that
    certifies OAVI's terms thus decides ABM's, with psi taken from the diagonal. Eigenvectors are
    computed for generators only.
    """

    name = "ABM"
    unit_norm = True

    def __init__(self, options, rows, columns):
        super().__init__(options, rows, columns)
        self.shifted = Factor(np.sqrt(np.full((1, 1), 1.0 - self.psi)))  # of G - psi I
        room = UNBOUNDED if self.max_terms is None else self.max_terms
        self.limits = Limits(0.0, np.inf, np.inf, room)  # of what is left with psi taken away
        # Once moments cannot decide a term the rows decide: from here on, L of G itself.
        self.factor = Factor(np.ones((1, 1))) if self.psi == 0 else None

    def settle(self, border: Border):
        """Let each of the border terms become the leading term of a generator or join O."""
        moments = self.moments(border)
        if moments is None:
            return
        cross, norm, inner = moments
        sure = np.zeros(len(norm), dtype=bool)
        # An eigenvalue errs by eps times the size of the matrix, whatever its own size.
        size = len(self.terms)
        trace = self.gram.diagonal()[:size].sum() + norm.max()
        in_doubt = 100.0 * (size + 10) * EPS * trace > self.psi
        if in_doubt and self.factor is None and self.rows.sees_rows:
            self.factor = Factor(np.ones((1, 1)))
        if self.factor is None:
            z = self.shifted.forward(cross)
            closed = self.shifted.coefficients(z)
            # What vanishes with some of O vanishes with all of it: these lead generators.
            rms = np.sqrt(self.gram.diagonal()[:size])
            scale, sure = certified(z.T, closed.T, norm, rms, self.psi, np.inf)
        slab = self.slab(border, cross, norm, inner, sure)
        joined = np.zeros(0, dtype=np.intp)
        by_rows: dict[int, np.ndarray] = {}
        start, end = 0, len(norm)
        if self.factor is None:
            joined, start, end = self._by_moments(
                slab, slab.of_open(z.T).T, slab.of_open(scale), rms
            )
        others = slab.open[start:][~slab.sure[start:]].tolist()  # left for the rows to decide
        if self.factor is not None and start < slab.open.size and self.stopped is None:
            joined, end = self._by_rows(slab, start, joined, by_rows)
        # What is sure, and what moments decided and did not let join O, leads a generator.
        leaders, cross, sizes = slab.leaders(joined, [j for j in others if j < end], end)
        coef = self._eigenvectors(cross, sizes, slab.norm[leaders])
        if by_rows:
            by_rows |= dict(zip(leaders.tolist(), coef, strict=True))
            leaders, coef = stacked(by_rows, cross.shape[1])
        self.extend(border, slab.open[joined], leaders, coef)

    def _by_moments(self, slab: Slab, z, scale, rms) -> tuple[np.ndarray, int, int]:
        """Go through the open terms in order while their moments can decide.

        Returns the open terms that joined O, and the open term and the border term before which it
        ended.
        """
        inner, norm = slab.of_open(slab.inner), slab.of_open(slab.norm)
        tail = SchurTail(self.shifted, z, inner, scale, self.psi)
        joined = tail.joined_places
        i, n_open, end = 0, slab.open.size, len(slab.norm)
        while i < n_open:
            i, _ = tail.settle(i, self.limits, slab.sure, norm, rms, 0.0)
            n_before, joined = len(joined), tail.joined_places
            self.grow_gram(slab, joined, n_before)
            if i == n_open:
                break
            j = slab.open[i]
            scale_of_closed = self.scale(slab.norm[j], tail.coefficients(i))
            low, _ = tail.bounds(tail.residual(i), scale_of_closed)
            if low <= 0.0 and self.rows.sees_rows:
                self.factor = Factor(np.ones((1, 1)))
                return joined, i, j
            self.n_short += low <= 0.0  # rounding hides whether it vanishes
            if self.is_full(joined):
                end = j
                break
            joined = np.append(joined, i)
            self.grow_gram(slab, joined, len(joined) - 1)
            tail.join(i, dependent=low <= 0.0)
            i += 1
        self.shifted = tail.grown_factor()
        return joined, i, end

    def _by_rows(self, slab: Slab, start: int, joined, by_rows) -> tuple[np.ndarray, int]:
        """Go through the open terms from ``start`` on with a factor of the evaluated terms.

        Returns the open terms that joined O, and the border term before which it ended.
        """
        n_before = len(joined)
        tail = self.on_the_rows(slab, joined, self._independent(n_before), start)
        for i, j in enumerate(slab.open[start:]):
            if slab.sure[start + i]:
                continue
            # What vanishes exactly does so in any unit, and is the closed form.
            coef, mse = (
                self._smallest(tail, i) if self.psi else (tail.coefficients(i), tail.residual(i))
            )
            coef = self.without_rounding(coef, slab.norm[j])
            scale = self.scale(slab.norm[j], coef)
            if self.psi == 0.0:
                low, high = tail.bounds(mse, scale)
                vanishes = low <= 0.0
            else:
                low, high = tail.bounds(mse, self.leading_coef(coef) * scale)
                vanishes = self.vanishes(slab, joined, j, coef, (low, high))
            if vanishes:
                by_rows[j] = coef
                continue
            scale = self.scale(slab.norm[j], tail.coefficients(i))
            dependent = tail.bounds(tail.residual(i), scale)[0] <= 0.0
            if low <= self.psi or dependent:
                self.n_short += 1
            if self.is_full(joined):
                return joined, j
            joined = np.append(joined, start + i)
            self.grow_gram(slab, joined, len(joined) - 1)
            tail.join(i, dependent)
        self.factor = tail.grown_factor()
        return joined, len(slab.norm)

    def _independent(self, n_joined: int) -> Factor:
        """Return a factor that says which terms of O are independent: all, unless rows said no."""
        size = len(self.terms) + n_joined
        return self.factor if len(self.factor) == size else Factor(np.eye(size))

    @staticmethod
    def _smallest(tail: OrthogonalTail, i: int) -> tuple[np.ndarray, float]:
        """Return the smallest singular vector of [O, u_i], relative to u_i, and its mean square.

        By inverse iteration on the triangular factor, which is as accurate for columns of very
        different size as for others; a decomposition is not.
        """
        factor = tail.grown_factor()
        used = factor.independent
        size = used.size
        upper = np.zeros((size + 1, size + 1))
        upper[:size, :size] = factor.lower[np.ix_(used, used)].T
        upper[:size, size] = tail.z[: tail.size, i][used]
        # Something to divide by: what is left of u_i, or rounding, or anything for zeros.
        left = np.sqrt(tail.residual(i))
        upper[size, size] = max(left, EPS * np.abs(upper[:, size]).max()) or 1e-60
        exact = upper.copy()
        exact[size, size] = left
        vector = np.zeros(size + 1)
        vector[size] = 1.0
        mse = float(np.sum(exact[:, size] ** 2))
        for _ in range(1000):
            image = solve_triangular(upper, vector, trans="T", check_finite=False)
            image = solve_triangular(upper, image / np.abs(image).max(), check_finite=False)
            image /= norm(image, check_finite=False)
            if not abs(image[-1]) > 1e-300:
                break  # nothing to divide by: columns of so different size have no better vector
            vector = image
            before, mse = mse, float(np.sum((exact @ vector) ** 2))
            if mse >= (1.0 - 1e-14) * before:
                break
        coef = np.zeros(len(factor))
        coef[used] = vector[:-1] / vector[-1]
        return coef, mse

    def _eigenvectors(self, cross, sizes, norm) -> np.ndarray:
        """Return the smallest eigenvectors for border terms whose eigenvalue is at most psi.

        ``cross`` has their moments as rows, ``sizes`` how many of these count. With
        G = Q diag(mu) Q' and w = Q'c the eigenvalues of the bordered matrix are the roots of the
        secular function, and the coefficients Q w / (lambda - mu). One decomposition serves all
        terms with the same O.
        """
        coef = np.zeros(cross.shape)
        for size in set(sizes.tolist()):
            same = np.flatnonzero(sizes == size)
            mu, Q = np.linalg.eigh(self.gram[:size, :size])
            w = cross[same, :size] @ Q
            _solve_secular(mu, w, norm[same], self.psi)
            coef[same, :size] = self.without_rounding(Q @ w.T, norm[same]).T
        return coef
