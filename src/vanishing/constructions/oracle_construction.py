"""The run of OAVI: Algorithm 2 with an oracle, and with certificates from the moments."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.monomials import Border
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
from vanishing.oracles import Status, named
from vanishing.oracles.closed_form import length, refitted
from vanishing.rows.reader import RowReader


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


class OracleConstruction(MonomialConstruction):
    """Algorithm 2 with an oracle, and with certificates from the moments."""

    name = "OAVI"

    def __init__(self, options, tau: float, rows: RowReader, columns: np.ndarray):
        super().__init__(options, rows, columns)
        oracle = named(options.oracle)
        self.closed_form = self.psi == 0 or oracle.closed_form
        self.certify = options.certify or self.closed_form
        self.refit = options.refit and not oracle.refitted
        self.oracle_refits = oracle.refits
        if not self.certify:
            self.max_slab = LARGEST_SLAB  # any border term may join O
        self.radius = tau - 1.0
        self.ball = not self.closed_form and oracle.constrained
        self.region = options.region
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
        if oracle.euclidean and not callable(options.oracle):
            self.solve_options["region"] = self.region
        self.open_ended = options.certify and options.refit and self.psi > 0.0
        self.open_ended &= options.max_degree >= settings.OPEN_ENDED
        self.factor = Factor(np.ones((1, 1)))
        self.inflation = 1.0
        # A closed form on the edge of the ball may be a digit outside when it is computed again. In
        # the l1-ball it is in the l2-ball, too; from others moments alone do not make a generator.
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
        if self.certify and not self._outside(closed):
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
            if sure[leaders[i]] and self._outside(coef):
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
            ball = {"radius": radius, "region": self.region}
            coef, mse = refitted(self.gram, cross, norm, coef, mse, **ball)
        return (self.without_rounding(coef, norm) if self.refit else coef), mse

    def _outside(self, coef) -> bool:
        """Say whether coefficients lie outside the ball, if there is one."""
        return self.ball and length(coef, self.region) > self.radius

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
