"""OAVI: the oracle approximate vanishing ideal algorithm, from moments."""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from vanishing.algebra.monomials import Border
from vanishing.checks import check_choice, check_flag, check_number
from vanishing.constructions import settings
from vanishing.constructions.certificate import (
    UNBOUNDED,
    Factor,
    Limits,
    SchurTail,
    bounds_from_moments,
    certified,
)
from vanishing.constructions.engine import LARGEST_SLAB, MonomialConstruction, Slab, stacked
from vanishing.constructions.from_moments import FitsMoments, is_debiased
from vanishing.constructions.gradient import DebiasedConstruction
from vanishing.constructions.ideal import savable
from vanishing.oracles import ORACLES, Status, named
from vanishing.oracles.closed_form import refitted
from vanishing.rows.reader import RowReader


@savable
class OAVI(FitsMoments):
    """Generators of the approximate vanishing ideal of a data set.

    Finds polynomials g with leading coefficient 1 that almost vanish on the rows, ``mean(g(x)^2)
    <= psi``, border term after border term in the degree-lexicographic order: the paper's
    Algorithm 2. The rows enter only through moments, read in chunks, so that the cost after the
    passes over the data does not depend on their number.

    Parameters
    ----------
    psi : float in [0, 1), default=0.005
        Largest mean squared value of a generator on the training rows. 0 means exact up to
        rounding and takes the closed form, whatever the oracle.
    oracle : {"pcg", "bpcg", "cg", "afw", "agd", "ls", "omp"} or callable, default="pcg"
        Solver for the coefficients of a generator: pairwise, blended pairwise, vanilla or away-step
        conditional gradients, accelerated gradient descent, least squares in closed form, or greedy
        sparse least squares. A callable is called as ``oracle(gram, cross, norm, *, psi, radius)``
        and returns ``(coef, mse)``; see `vanishing.oracles`.
    border : {"gb", "bb"}, default="gb"
        Reduced Groebner basis border (few generators) or border basis border (more, and more
        robust to noise).
    tau : float >= 2 or "auto", default=1000.0
        Bound on the l1-norm of a generator's coefficients, the leading one included. "auto" is
        ``max(2, 1.5**D)`` with ``D = ceil(-log(psi) / log(4))``, the smallest radius that
        guarantees that data in [0, 1]^n are done by degree D. "ls" and "agd" ignore it.
    eps, tol : float, default=1e-3 and 1e-6
        Accuracy and least progress at which an iterative oracle stops, relative to psi.
    max_iter : int, default=10_000
        Steps an oracle may take for one border term.
    max_degree : int, default=10
        Largest degree of a generator. From 10 on, with `certify` and `refit`, the fit ends before a
        border of more than 20,000 terms that has more than 20 for each row, and says so: 500
        columns have 125,000 products. A smaller ``max_degree`` is taken at its word.
    max_terms : int or None, default=None
        Largest number of terms in O, the monomials that all generators together are made of. The
        fit stops, with a warning, before it would be exceeded. In `LawFinder` and
        `ConservedQuantities` ``max_terms`` bounds the terms of each equation instead.
    certify : bool, default=True
        Decide by the exact least-squares residual whether a border term is the leading term of a
        generator, and ask the oracle for coefficients only where it is. With False the oracle
        decides, as in the paper.
    refit : bool, default=True
        Let an iterative oracle choose the terms of a generator only: its coefficients are the
        closed form on these terms, where that stays in the ball. As sparse, with a smaller mse.
        ``certify=False, refit=False`` is the paper's algorithm to the letter, and with
        ``oracle="agd"`` the published one, step for step.
    feature_order : {"given", "pearson", "rev_pearson"}, default="given"
        Order of the variables in DegLex: as given, or by the sum of absolute correlations with all
        columns, ascending or descending.
    absolute : bool, default=True
        Whether `transform` returns ``|g(x)|`` rather than ``g(x)``.
    chunk_size : int or None, default=None
        Rows read at a time; None chooses chunks that stay in the cache.
    n_jobs : int or None, default=None
        Threads over chunks of rows, in `fit` and `transform`; the results are the same. -1 means
        all cores.
    verbose : int, default=0
        Print one line per degree: border, |O|, |G|, seconds.

    Attributes
    ----------
    terms_ : ndarray of int of shape (n_terms_, n_features_in_)
        O, the terms that are no leading terms: exponents in DegLex order, the constant first.
    leading_terms_ : ndarray of int of shape (n_generators_, n_features_in_)
        Exponents of the generators' leading terms, in DegLex order.
    coef_ : ndarray of shape (n_generators_, n_terms_)
        Non-leading coefficients of the generators on `terms_`.
    leading_coef_ : ndarray of shape (n_generators_,)
        Ones.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares of the generators, measured by evaluating them on the training rows.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators: call them, print them, take their gradient.
    n_generators_, n_terms_, degree_ : int
        |G|, |O|, and the largest degree of a generator (0 if there is none).
    sparsity_ : float
        Share of zeros among the non-leading coefficients that each generator could have had.
    n_coefficients_ : int
        How many non-leading coefficients the generators could have had: what `sparsity_` is
        relative to.
    complete_ : bool
        Whether the border was empty at the end, so that every polynomial can be divided by the
        generators: see `reduce`.
    max_abs_ : ndarray of shape (n_features_in_,) or None
        Largest absolute value of each column on the training rows; None where they were not seen.
    n_iter_ : int
        Steps of the oracle, all terms together.
    feature_order_ : ndarray of int of shape (n_features_in_,)
        Columns in the order of the variables t_1 < t_2 < ... of DegLex.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    ABM : Generators of unit norm by smallest singular vectors.
    AVI : Generators of a whole degree at once, by its kernel.
    VCA : Polynomials without monomials, by products of components.
    BuchbergerMoller : Exact generators of points with rational coordinates.
    VanishingFeatures : Generators of each class as features.

    References
    ----------
    E. Wirth and S. Pokutta, "Conditional Gradients for the Approximate Vanishing Ideal".
    E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR
    2023: the closed form as a start of the solvers (IHB) or in front of them (WIHB),
    ``oracle="bpcg"``, ``tau="auto"`` and columns in the order of their correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=2).fit(X)
    >>> print(model.generators_[0])
    x1^2 + x0^2 - 1
    >>> model.transform([[0.6, 0.8], [1.0, 1.0]]).round(4)
    array([[0.],
           [1.]])
    """

    n_iter_: int

    def __init__(
        self,
        psi: float = 0.005,
        *,
        oracle: str | Callable[..., tuple[object, object]] = "pcg",
        border: Literal["gb", "bb"] = "gb",
        tau: float | Literal["auto"] = 1000.0,
        eps: float = 1e-3,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_degree: int = 10,
        max_terms: int | None = None,
        certify: bool = True,
        refit: bool = True,
        feature_order: Literal["given", "pearson", "rev_pearson"] = "given",
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.psi = psi
        self.oracle = oracle
        self.border = border
        self.tau = tau
        self.eps = eps
        self.tol = tol
        self.max_iter = max_iter
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.certify = certify
        self.refit = refit
        self.feature_order = feature_order
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _construction(self, rows, columns):
        kind = DebiasedConstruction if is_debiased(rows) else _OAVIConstruction
        return kind(self, rows, columns)

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        super().check_parameters()
        if not callable(self.oracle):
            check_choice("oracle", self.oracle, ORACLES)
        if not isinstance(self.tau, str):
            check_number("tau", self.tau, low=2)
        elif self.tau != "auto":
            raise ValueError(f"tau must be a number, at least 2, or 'auto'; got {self.tau!r}.")
        elif self.psi == 0:
            raise ValueError("tau='auto' is a function of psi > 0; with psi=0 give tau a number.")
        check_number("eps", self.eps, low=0, high=1)
        check_number("tol", self.tol, low=0)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_flag("certify", self.certify)
        check_flag("refit", self.refit)


def stopping_degree(psi: float) -> int:
    """Return the smallest D with 4^-D <= psi, exact at powers of 4 where logarithms are not."""
    degree = math.ceil(-math.log(psi) / math.log(4.0))
    while degree > 1 and math.ldexp(1.0, -2 * (degree - 1)) <= psi:
        degree -= 1
    return degree


def tau_of(model: OAVI) -> float:
    """Return tau: "auto" is what guarantees termination by degree D on data in [0, 1]^n."""
    if isinstance(model.tau, str):
        return max(2.0, 1.5 ** stopping_degree(model.psi))
    return float(model.tau)


class Settled(NamedTuple):
    """How far the open terms of a border are settled.

    Attributes
    ----------
    joined : ndarray of int
        Open terms that joined O.
    generators : dict from int to ndarray
        By border term, the coefficients of generators that were decided one by one.
    place : int
        The first open term that is left.
    end : int
        The border term before which the construction stops.
    in_doubt : bool
        Whether moments cannot decide the term at ``place``.
    """

    joined: np.ndarray
    generators: dict[int, np.ndarray]
    place: int
    end: int
    in_doubt: bool = False


class _OAVIConstruction(MonomialConstruction):
    """Algorithm 2 with an oracle, and with certificates from the moments."""

    name = "OAVI"

    def __init__(self, options: OAVI, rows: RowReader, columns: np.ndarray):
        super().__init__(options, rows, columns)
        oracle = named(options.oracle)
        self.closed_form = self.psi == 0 or oracle.closed_form
        self.certify = options.certify or self.closed_form
        self.refit = options.refit and not oracle.refitted
        self.oracle_refits = oracle.refits
        if not self.certify:
            self.max_slab = LARGEST_SLAB  # any border term may join O
        self.radius = tau_of(options) - 1.0
        self.ball = not self.closed_form and oracle.constrained
        self.solve = oracle.solve
        if oracle.to_the_letter is not None and not (options.certify or options.refit):
            self.solve = oracle.to_the_letter
        self.solve_options = {
            "psi": self.psi,
            "radius": self.radius,
            "eps": float(options.eps),
            "tol": float(options.tol),
            "max_iter": options.max_iter,
        }
        if oracle.refits:
            self.solve_options["refit"] = options.refit
        self.open_ended = options.certify and options.refit and self.psi > 0.0
        self.open_ended &= options.max_degree >= settings.OPEN_ENDED
        self.factor = Factor(np.ones((1, 1)))
        self.inflation = 1.0
        # A closed form on the edge of the ball may be a digit outside when it is computed again.
        self.limits = Limits(
            self.psi,
            self.radius * (1.0 - 1e-9) if self.ball else np.inf,
            settings.MAX_INFLATION if self.closed_form else np.inf,
            UNBOUNDED if self.max_terms is None else self.max_terms,
        )
        self.n_iter = 0

    def too_wide(self, degree: int, n_border: int) -> str | None:
        """Say why a border is left alone, if its terms are too many to be of use."""
        n_rows = self.rows.n_samples  # inf while it is not known
        wide = degree > 1 and n_border > max(
            settings.WIDE_BORDER, settings.WIDE_BORDER_PER_ROW * n_rows
        )
        if not (wide and self.open_ended):
            return None
        return (
            f"the border of degree {degree} has {n_border:,} terms, for {int(n_rows):,} rows, and "
            "is not taken. Take a larger psi or fewer columns, or give "
            f"max_degree={degree} to have it"
        )

    def settle(self, border: Border):
        """Let each of the border terms become the leading term of a generator or join O."""
        moments = self.moments(border)
        if moments is None:
            return
        cross, norm, inner = moments
        z = self.factor.forward(cross)
        closed = self.factor.coefficients(z)
        rms = np.sqrt(self.gram.diagonal()[: len(z)])
        radius = self.radius if self.ball else np.inf
        # A term that vanishes against O does so against any larger O, and its closed form stays in
        # the ball. All others are open: they may join O.
        scale, sure = certified(z.T, closed.T, norm, rms, self.psi, radius)
        if not (self.certify and self._moments_suffice()):
            sure[:] = False
        slab = self.slab(border, cross, norm, inner, sure)
        z = slab.of_open(z.T).T
        joined, decided, _, end, _ = self._settle_open(slab, z, slab.of_open(scale), rms)
        # All that has neither joined O nor been decided by itself leads a generator.
        leaders, cross, sizes = slab.leaders(joined, list(decided), end)
        coef = cross
        if leaders.size:
            coef = self._settle_leaders(slab, joined, leaders, cross, sizes, closed, sure)
        if decided:
            decided |= dict(zip(leaders.tolist(), coef, strict=True))
            leaders, coef = stacked(decided, cross.shape[1])
        self.extend(border, slab.open[joined], leaders, coef)

    # -- Border terms that may join O ---------------------------------------------------------

    def _settle_open(
        self, slab: Slab, z: np.ndarray, scale: np.ndarray, rms: np.ndarray
    ) -> Settled:
        """Go through the open terms in order: each joins O or leads a generator.

        By their moments first, and from the first term on that these cannot decide by the rows.
        """
        none_yet = Settled(np.zeros(0, dtype=np.intp), {}, 0, len(slab.norm))
        moments = SchurTail(self.factor, z, slab.of_open(slab.inner), scale)
        settled = self._settled_by(moments, slab, none_yet, rms)
        factor = moments.grown_factor()
        if settled.in_doubt:
            rows = self.on_the_rows(slab, settled.joined, factor, settled.place)
            settled = self._settled_by(rows, slab, settled, rms)
            factor = rows.grown_factor()
        self.factor = factor
        return settled

    def _settled_by(self, tail, slab: Slab, settled: Settled, rms: np.ndarray) -> Settled:
        """Go on from where open terms are settled, as far as moments, or rows, decide."""
        joined, generators, start, end = settled[:4]
        generators, norm, n_open = dict(generators), slab.of_open(slab.norm), slab.open.size
        i = start
        while i < n_open:
            if self.certify and tail.from_moments:
                i, self.inflation = tail.settle(
                    i, self.limits, slab.sure, norm, rms, self.inflation
                )
                n_before, joined = len(joined), tail.joined_places
                self.grow_gram(slab, joined, n_before)
                if i == n_open:
                    break
            if slab.sure[i]:
                i += 1
                continue
            j = slab.open[i]
            closed, residual, low, high = self._closed_form(tail, i - start, slab.norm[j])
            in_doubt = low <= self.psi and (high > self.psi or not self._moments_suffice())
            if in_doubt and self.certify and tail.from_moments and self.rows.sees_rows:
                return Settled(joined, generators, i, end, in_doubt=True)
            if low <= self.psi or not self.certify:
                coef = self._generator(slab, joined, tail, i - start, j, closed, residual)
                if coef is not None:
                    generators[j] = coef
                    i += 1
                    continue
            if self.is_full(joined):
                end = j
                break
            joined = np.append(joined, i)
            self.grow_gram(slab, joined, len(joined) - 1)
            if low > 0.0:
                self.inflation = max(self.inflation, slab.norm[j] / residual)
            tail.join(i - start, dependent=low <= 0.0)
            i += 1
        return Settled(joined, generators, i, end)

    def _closed_form(self, tail, i, norm):
        """Return the closed form for an open term: coefficients, mse, and bounds on the latter."""
        coef, residual = tail.coefficients(i), tail.residual(i)
        return coef, residual, *tail.bounds(residual, self.scale(norm, coef))

    def _generator(self, slab, joined, tail, i, j, closed, residual):
        """Return the coefficients of a generator for an open term, or None if there is none."""
        norm = slab.norm[j]
        closed = self.without_rounding(closed, norm)
        if self.psi == 0:
            return closed
        attempts = []
        if not self.closed_form:
            attempts.append(self._ask(slab.cross_over(joined, j), norm))
        if self.certify and not (self.ball and np.abs(closed).sum() > self.radius):
            attempts.append((closed, residual))
        for coef, mse in attempts:
            if not tail.from_moments:
                mse = tail.mse(i, coef)
            if self.vanishes(slab, joined, j, coef, tail.bounds(mse, self.scale(norm, coef))):
                return coef
        if self.certify:
            self.n_short += 1
        return None

    # -- Border terms that lead generators ----------------------------------------------------

    def _settle_leaders(self, slab, joined, leaders, cross, sizes, closed, sure) -> np.ndarray:
        """Return the coefficients of terms that surely lead a generator, over O at their moment.

        ``cross`` has their moments as rows, ``sizes`` how many of these count. ``closed`` are the
        closed forms over O before any border term joined: if nothing better is found, they will do
        for those that are ``sure`` without the terms that joined.
        """
        if self.closed_form:
            return self._closed_forms(cross, sizes, slab.norm[leaders])
        k = len(self.terms)
        coefficients = np.zeros(cross.shape)
        short = []
        for i, (j, size) in enumerate(zip(leaders, sizes, strict=True)):
            coef, mse = self._ask(cross[i, :size], slab.norm[j])
            bounds = bounds_from_moments(mse, self.scale(slab.norm[j], coef), size)
            if self.vanishes(slab, joined[: size - k], j, coef, bounds):
                coefficients[i, :size] = coef
            else:
                short.append(i)
        closed_forms = self._closed_forms(cross[short], sizes[short], slab.norm[leaders[short]])
        for i, coef in zip(short, closed_forms, strict=True):
            outside = self.ball and sure[leaders[i]] and np.abs(coef).sum() > self.radius
            if outside:
                coefficients[i, :k] = closed[:, leaders[i]]
            else:
                coefficients[i] = coef
        return coefficients

    def _closed_forms(self, cross, sizes, norm) -> np.ndarray:
        """Return the closed form of each row of ``cross`` over the first ``size`` terms of O."""
        z = self.factor.forward(cross.T)
        z[np.arange(len(z))[:, np.newaxis] >= sizes] = 0.0  # L' is upper triangular: zeros stay
        return self.without_rounding(self.factor.coefficients(z), norm).T

    # -- Small things -------------------------------------------------------------------------

    def _ask(self, cross, norm):
        """Ask the oracle for the coefficients of a border term; return them and their mse."""
        solution = self.solve(self.gram, cross, float(norm), **self.solve_options)
        self.n_iter += solution.n_iter
        if not self.certify and solution.status == Status.OUT_OF_ITERATIONS:
            self.n_short += 1
        coef, mse = solution.coef, solution.mse
        if self.refit and not self.oracle_refits:
            radius = self.radius if self.ball else np.inf
            coef, mse = refitted(self.gram, cross, norm, coef, mse, radius=radius)
        return (self.without_rounding(coef, norm) if self.refit else coef), mse

    def _moments_suffice(self) -> bool:
        """Say whether moments determine closed forms well enough to take their coefficients."""
        return not self.closed_form or self.inflation <= settings.MAX_INFLATION

    def shortfall(self) -> str:
        """Say why terms that vanish joined O, and what to do about it."""
        if not self.certify:
            return (
                f"the oracle ran out of max_iter steps on {self.n_short} border terms. Raise "
                "max_iter, scale the data into [0, 1], or let certify=True decide them."
            )
        if not self.rows.sees_rows:
            return (
                f"{self.n_short} border terms joined O although they may vanish: the oracle "
                "stopped short of psi, or rounding of the moments hides whether they do. Fit to "
                "the rows, or take a larger psi."
            )
        return (
            f"{self.n_short} border terms joined O although least squares reaches psi there: the "
            "oracle stopped short of it, the ball of radius tau - 1 is too small, or the values "
            "are too large to evaluate a polynomial that precisely. Raise max_iter or tau, or "
            "scale the data into [0, 1]."
        )
