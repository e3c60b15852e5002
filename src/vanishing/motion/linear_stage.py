"""Which few terms does one column's equation have? A sparse linear problem, in stages of terms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import Node, evaluate
from vanishing.equations.forms import Form
from vanishing.fitting.asked_functions import carries_more
from vanishing.fitting.sparse import sparse_supports
from vanishing.motion import settings
from vanishing.motion.candidates import (
    Candidate,
    Family,
    applied,
    families,
    monomials,
    times,
)
from vanishing.motion.integrals import Along, likeliest_walk, whitened
from vanishing.motion.measured import Noise


def price(terms: Sequence[Candidate], count: float) -> float:
    """Return what the terms of an equation have to earn on ``count`` rows."""
    kinds: frozenset[str] = frozenset().union(*(term.kinds for term in terms))
    total = settings.KIND_PRICE * len(kinds)
    for term in terms:
        total += np.log(count) + settings.TERM_PRICE
        total += settings.DEGREE_PRICE * max(term.degree - 1.0, 0.0)
    inside = {(term.kinds, term.constants): len(term.constants) for term in terms}
    return total + sum(inside.values()) * (np.log(count) + settings.CONSTANT_PRICE)


def soft(noise: Noise) -> np.ndarray:
    """Return s of the score for each column."""
    return np.where(noise.is_below, settings.SOFT_BELOW, settings.SOFT)


def misfit(loss: float | np.ndarray, count: float | np.ndarray, s: float | np.ndarray):
    """Return the part of a score that says how well rows are fitted.

    Below the floor of the noise errors are smooth: all rows together tell as much as a few.
    """
    mean = loss / count
    fine = settings.SMOOTH_ROWS * np.log(mean + settings.EXACT_MISFIT)
    return count * np.log(mean + s) + fine


class Support(NamedTuple):
    """Terms of one equation, with coefficients and the score of a linear problem."""

    score: float
    terms: tuple[Candidate, ...]
    coef: np.ndarray
    stage: str


def few_terms(
    gram: np.ndarray, cross: np.ndarray, norm: float, max_terms: int
) -> list[tuple[tuple[int, ...], float]]:
    """Return supports of few terms with their residuals, each term alone among them.

    Of columns far from zero, x*y is all but y: the simpler one has to be asked, too.
    """
    alone = {
        (k,): norm - c * c / g for k, (c, g) in enumerate(zip(cross, gram.diagonal(), strict=True))
    }
    return list((alone | dict(sparse_supports(gram, cross, norm, max_terms))).items())


class Stage(NamedTuple):
    """A dictionary of terms."""

    name: str
    candidates: tuple[Candidate, ...]


def stages(along: Along, max_degree: int, functions: Sequence[str] | None) -> list[Stage]:
    """Return the dictionaries without constants inside, the simplest first.

    Parameters
    ----------
    along : Along
    max_degree : int
    functions : sequence of str, or None
        Names of the functions that are asked for; None tries all.
    """
    n = len(along.variables[0])
    places = range(n)
    degree = max_degree
    while degree > 1 and len(monomials(n, places, degree)) > settings.MOST_CANDIDATES:
        degree -= 1
    base = monomials(n, places, degree)
    found = [Stage("polynomial", tuple(base))]
    higher = degree + settings.HIGHER.get(n, 0)
    if higher > degree and max_degree >= 3:
        found.append(Stage("higher", tuple(monomials(n, places, higher))))
    small = monomials(n, places, min(2, degree))
    names = settings.FUNCTIONS if functions is None else tuple(functions)
    circular = [name for name in names if name in ("sin", "cos", "tan")]
    if circular:
        waves = _telling([applied(name, n, i) for i in places for name in circular], along)
        products = waves + [times(w, m) for w in waves for m in small[1 : n + 1]]
        products += [times(a, b) for i, a in enumerate(waves) for b in waves[i:]]
        inverse = _telling([applied("reciprocal", n, i) for i in places], along)
        products += [times(w, m) for w in waves for m in inverse if w.columns != m.columns]
        slopes = _telling([applied(name, n, i) for i in places for name in ("tan", "cot")], along)
        products += slopes + [times(s, w) for s in slopes for w in waves if s.columns != w.columns]
        found.append(Stage("circular", _limited([*small, *products])))
        if n == 2:
            squares = [times(w, w) for w in waves]
            triples = [times(w, s) for w in waves for s in squares if w.columns != s.columns]
            found.append(Stage("triple", _limited([*small, *waves, *triples])))
    others = [name for name in names if name not in circular]
    if others:
        plain = _telling([applied(name, n, i) for i in places for name in others], along)
        products = plain + [times(f, m) for f in plain for m in small[1 : n + 1]]
        found.append(Stage("functions", _limited([*small, *products])))
    return found


def _limited(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    unique = {candidate.node: candidate for candidate in candidates}
    return tuple(unique.values())[: settings.MOST_CANDIDATES]


def _telling(candidates: Sequence[Candidate], along: Along) -> list[Candidate]:
    """Return terms that are defined along all runs, and more than a polynomial of degree 2."""
    found = []
    for candidate in candidates:
        (place,) = candidate.columns
        x = np.concatenate([variables[place] for variables in along.variables])
        points = np.linspace(x.min(), x.max(), 1025)
        kind = next(iter(candidate.kinds))
        if np.ptp(x) > settings.WIDEST.get(kind, np.inf):
            continue
        nearest = np.abs(points[[0, -1]]).min() if points[0] * points[-1] > 0.0 else 0.0
        near_zero = nearest <= settings.NEAR_ZERO * np.abs(points).max()
        if kind in ("log", "sqrt", "reciprocal") and near_zero:
            continue
        inside = np.zeros((candidate.n_variables, len(points)))
        inside[place] = points
        with np.errstate(all="ignore"):
            values = candidate.values(inside)
            size = np.abs(values)
            is_bounded = size.max() <= settings.POLE * np.median(size)
        if np.isfinite(values).all() and is_bounded and carries_more(values, points):
            found.append(candidate)
    return found


class LinearProblem:
    """Terms of one column's equation, from integrals along smooth runs.

    Parameters
    ----------
    along : Along
    column : int
    noise : Noise
    max_terms : int
    known : Node, default=None
        What is known of the right-hand side.
    """

    def __init__(
        self, along: Along, column: int, noise: Noise, max_terms: int, known: Node | None = None
    ):
        self.along, self.column, self.known = along, column, None
        if known is not None:
            values = [
                np.broadcast_to(evaluate(known, list(v)), v.shape[1])[np.newaxis]
                for v in along.variables
            ]
            self.known = [part[0] for part in along.integrated(values)]
        self.max_terms = max_terms
        self.soft = float(soft(noise)[column])
        self.walk = settings.FIRST_WALK
        self.supports: list[Support] = []
        self.count = sum(np.isfinite(run.sigma[:, column]).sum() - 1 for run in along.runs)

    def rows(self, candidates: Sequence[Candidate], integrals=None):
        """Return whitened rows of some terms."""
        if integrals is None:
            integrals = self.along.integrals(candidates)
        return whitened(
            self.along.runs, integrals, self.column, self.walk, self.along.order, self.known
        )

    def search(self, stage: Stage, integrals: Sequence[np.ndarray] | None = None) -> Support | None:
        """Look for the best supports in a dictionary; keep them, and return the best."""
        if integrals is None:
            integrals = self.along.integrals(stage.candidates)
        rows = self.rows(stage.candidates, integrals)
        size = np.sqrt(np.einsum("ij,ij->j", rows.terms, rows.terms))
        kept = np.flatnonzero(np.isfinite(size) & (size > 0.0))
        norm = float(rows.target @ rows.target)
        if not len(kept) or not norm > 0.0:
            return None
        terms = rows.terms[:, kept] / size[kept]
        gram, cross = terms.T @ terms, terms.T @ rows.target
        most = min(self.max_terms, max(1, len(rows.target) // 3))
        count = len(rows.target)
        found = []
        for support, rest in few_terms(gram, cross, norm, most):
            chosen = tuple(stage.candidates[kept[k]] for k in support)
            score = misfit(rest, count, self.soft) + price(chosen, count)
            found.append((score, support, chosen))
        found.sort(key=lambda one: one[0])
        kept_supports = []
        for _, support, chosen in found[: 4 * settings.SUPPORTS]:
            # Products of terms that nearly depend on one another say too little of what is left.
            part = list(support)
            coef = np.linalg.lstsq(terms[:, part], rows.target, rcond=1e-12)[0]
            left = rows.target - terms[:, part] @ coef
            score = misfit(float(left @ left), count, self.soft) + price(chosen, count)
            kept_supports.append(Support(score, chosen, coef / size[kept[part]], stage.name))
        kept_supports.sort(key=lambda support: support.score)
        self.supports += kept_supports[: settings.SUPPORTS]
        return kept_supports[0] if kept_supports else None

    def with_terms(self, terms: tuple[Candidate, ...], stage: str) -> Support:
        """Return an equation of given terms."""
        rows = self.rows(terms)
        coef = np.linalg.lstsq(rows.terms, rows.target, rcond=1e-12)[0]
        rest = rows.target - rows.terms @ coef
        score = misfit(float(rest @ rest), self.count, self.soft) + price(terms, self.count)
        return Support(score, terms, coef, stage)

    def settle_walk(self, support: Support) -> None:
        """Choose the strength of the random walk in errors, by the likelihood of a support."""
        integrals = self.along.integrals(support.terms)
        self.walk = likeliest_walk(
            self.along.runs, integrals, self.column, self.along.order, self.known
        )

    def search_row_to_row(self, stage: Stage, integrals: Sequence[np.ndarray]) -> None:
        """Look for supports with larger errors of integrals; keep them by their usual scores."""
        usual, kept = self.walk, self.supports
        self.walk, self.supports = settings.LARGE_WALK, []
        self.search(stage, integrals)
        found, self.supports, self.walk = self.supports, kept, usual
        self.supports += [self.with_terms(support.terms, stage.name) for support in found]

    def could_gain(self, least_price: float) -> bool:
        """Say whether an equation of some price could be better than the best one so far."""
        if not self.supports:
            return True
        best = min(self.supports, key=lambda support: support.score)
        mean = 0.0 if self.soft == settings.SOFT_BELOW else settings.LEAST_MISFIT
        return best.score > misfit(mean * self.count, self.count, self.soft) + least_price

    # -- Constants inside -------------------------------------------------------------------------

    def search_families(
        self,
        base: Sequence[Candidate],
        multipliers: Sequence[Candidate],
        forms: Sequence[Form],
    ) -> None:
        """Look for terms with constants inside, beside a dictionary of plain terms."""
        low, high = self.along.low, self.along.high
        plain = self.rows(base)
        keep = np.isfinite(plain.terms).all(axis=0)
        left, singular, _ = np.linalg.svd(plain.terms[:, keep], full_matrices=False)
        basis = left[:, singular > 1e-9 * singular[0]]
        rest = plain.target - basis @ (basis.T @ plain.target)
        factors = [
            np.array([multiplier.values(variables) for multiplier in multipliers])
            for variables in self.along.variables
        ]
        tried = []
        for place in range(len(low)):
            if not high[place] > low[place]:
                continue
            span = float(low[place]), float(high[place])
            for family in families(len(low), place, *span, forms):
                # What users name may be all of an equation, and not only what polynomials leave.
                alone = () if family.is_own else ((basis[:, :0], plain.target),)
                for beside in ((basis, rest), *alone):
                    gains = self._gains(family, family.starts, factors, *beside)
                    best = int(np.argmax(gains))
                    share = float(gains[best]) / max(float(beside[1] @ beside[1]), 1e-300)
                    tried.append((share, family, family.starts[best], beside))
        tried.sort(key=lambda one: -one[0])
        for rank, (share, family, start, beside) in enumerate(tried):
            if share <= 0.0 or (rank >= settings.FAMILIES and family.is_own):
                continue
            constants = self._refined(family, start, factors, *beside)
            term = family.candidate.with_constants(constants)
            more = [times(term, multiplier) for multiplier in multipliers]
            self.search(Stage(family.name, (*base, *more)))

    def _gains(self, family: Family, starts, factors, basis, rest) -> np.ndarray:
        """Return what the best product with a family's term explains of what is left."""
        integrals = []
        with np.errstate(all="ignore"):
            for variables, values in zip(self.along.variables, factors, strict=True):
                inner = [family.candidate.with_constants(s).values(variables) for s in starts]
                products = np.array(inner)[:, np.newaxis] * values
                integrals.append(products.reshape(-1, values.shape[1]))
            rows = self.rows((), self.along.integrated(integrals)).terms
            left = rows - basis @ (basis.T @ rows)
            square = np.einsum("ij,ij->j", left, left)
            whole = np.einsum("ij,ij->j", rows, rows)
            gains = (rest @ left) ** 2 / square
            gains = np.where(square > 1e-10 * whole, gains, 0.0)
        gains = np.nan_to_num(gains, posinf=0.0)
        return gains.reshape(len(starts), -1).max(axis=1)

    def _refined(self, family: Family, start, factors, basis, rest) -> tuple[float, ...]:
        """Return better constants than those of the grid, by steps that halve."""
        best = np.array(start)
        gain = self._gains(family, [best], factors, basis, rest)[0]
        step = settings.FIRST_STEP
        for _ in range(settings.REFINEMENTS):
            if step < settings.LAST_STEP:
                break
            trials = []
            for i in range(len(best)):
                unit = best[i] if best[i] else 1.0
                for sign in (-1.0, 1.0):
                    trial = best.copy()
                    trial[i] += sign * step * unit
                    trials.append(trial)
            gains = self._gains(family, trials, factors, basis, rest)
            if gains.max() > gain:
                best, gain = trials[int(np.argmax(gains))], gains.max()
            else:
                step /= 2.5
        return tuple(best.tolist())
