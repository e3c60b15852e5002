"""Step 4: coefficients in units of the target, by Gauss-Newton; only then can laws be compared."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term
from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import inverse, solution, with_fixed
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.links import Link
from vanishing.laws.problem import Reduced

_MOVES = 5  # of coefficients, each for the row that is farthest from having a solution
SOLVED = 1e-9  # sum of a law's terms over that of their sizes, where it has a solution


class Fitted(NamedTuple):
    """A law in the variables of a state, fitted in units of y.

    Attributes
    ----------
    terms : tuple of Term
        In (w, Y); with a link its T(Y) is first.
    coef : array of shape (n_terms,)
        One of a term with Y is 1.
    fixed : int
        The place of that term.
    covariance : array of shape (n_terms, n_terms)
        For noise of variance 1.
    mean_square : float
        Of the residual of y.
    predicted : array of shape (n_rows,)
        y; on rows where the law has no solution, the value next to it.
    leverage : array of shape (n_rows,)
        Share of each row in what is predicted of it, between 0 and 1.
    exact : bool
        Whether the law may hold up to rounding: a table without noise.
    """

    terms: tuple[Term, ...]
    coef: np.ndarray
    fixed: int
    covariance: np.ndarray
    mean_square: float
    predicted: np.ndarray
    leverage: np.ndarray
    exact: bool = False

    @property
    def n_terms(self) -> int:
        """Number of terms, the target's and a constant included."""
        return len(self.terms)

    def significance(self, least_noise: float = 1e-300) -> np.ndarray:
        """Return squared ratios of coefficients to their errors; huge for the one that is 1."""
        noise = max(self.mean_square, least_noise)
        with np.errstate(all="ignore"):
            return self.coef**2 / np.maximum(noise * self.covariance.diagonal(), 1e-300)

    def is_determined(self) -> bool:
        """Say whether all coefficients are known to be other than zero, relative to one another."""
        others = np.delete(self.significance(), self.fixed)
        return bool((others > settings.DETERMINED).all())


class _LinkModel:
    """T(Y) + sum of c phi = 0."""

    def __init__(self, reduced: Reduced, link: Link, values: np.ndarray):
        self.reduced, self.link, self.values = reduced, link, values

    def predict(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Y, and its derivatives by the coefficients c."""
        with np.errstate(all="ignore"):
            Y = self.link.inverse(-(coef @ self.values))
            Y = np.where(np.isfinite(Y), Y, self.reduced.smooth)
            slope = -self.values / self.link.slope(Y)
        return Y, np.where(np.isfinite(slope), slope, 0.0)

    def solvable(self, fit: Fitted) -> np.ndarray:
        """Return coefficients with which rows next to the end of a root have a solution.

        Noise can make a square negative there. The way to where it is not is the shortest one in
        units of standard errors; no further than these allow.
        """
        coef, covariance = fit.coef[1:], fit.covariance[1:, 1:]
        for _ in range(_MOVES):
            inner = -(coef @ self.values)
            with np.errstate(all="ignore"):
                outside = self.link.value(self.link.inverse(inner)) - inner
            outside = np.where(np.abs(outside) > 1e-12 * np.abs(inner), outside, 0.0)
            row = int(np.argmax(np.abs(outside)))
            way = covariance @ -self.values[:, row]
            variance = float(way @ -self.values[:, row])
            if not 0.0 < outside[row] ** 2 < settings.DETERMINED * fit.mean_square * variance:
                break
            coef = coef + way * (outside[row] * (1.0 + SOLVED) / variance)
        return np.append(1.0, coef)


class _ImplicitModel:
    """A(w) Y^2 + B(w) Y + C(w) = 0, and the root nearest to the smooth target."""

    def __init__(self, reduced: Reduced, terms):
        self.reduced = reduced
        self.powers = np.array([term.exponents[-1] for term in terms])
        self.values = Evaluator(reduced.w).values([_lowered(term) for term in terms])

    def predict(self, fixed: int, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Y, and its derivatives by all coefficients but the one that is fixed at 1."""
        values, powers = self.values, self.powers
        coef = np.insert(coef, fixed, 1.0)
        A, B, lower, upper = self._roots(coef)
        smooth = self.reduced.smooth
        with np.errstate(all="ignore"):
            nearer = np.abs(lower - smooth) < np.abs(upper - smooth)
            Y = np.where(np.isfinite(lower) & (nearer | ~np.isfinite(upper)), lower, upper)
            Y = np.where(np.isfinite(Y), Y, smooth)
            slope = -values * np.where(powers[:, None] == 0, 1.0, Y ** powers[:, None])
            slope = slope / (2 * A * Y + B)
        return Y, np.delete(np.where(np.isfinite(slope), slope, 0.0), fixed, axis=0)

    def _roots(self, coef: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return A, B, and the roots at which 2 A Y + B is negative and positive.

        Where there is no root, the value at which A Y^2 + B Y + C is closest to zero.
        """
        A, B, C = (coef[self.powers == p] @ self.values[self.powers == p] for p in (2.0, 1.0, 0.0))
        with np.errstate(all="ignore"):
            root = np.sqrt(np.maximum(B**2 - 4 * A * C, 0.0))
            # The stable form of both roots of A Y^2 + B Y + C.
            q = -0.5 * (B + np.where(B < 0, -root, root))
            first, second = q / A, C / q
        return A, B, np.where(B < 0, second, first), np.where(B < 0, first, second)

    def on_one_branch(self, coef: np.ndarray, Y: np.ndarray) -> np.ndarray | None:
        """Return the root that most rows lie on, for all rows; None where many lie on the other.

        The product of a law and another equation has a root of each: the second one is there for
        rows that break the law. The square of a law has two roots that are equal: it says no more
        than the law, and its error is the square of the law's.
        """
        A, B, lower, upper = self._roots(coef)
        if not (self.powers == 2.0).any():
            return Y
        weight = self.reduced.table.weight
        with np.errstate(all="ignore"):
            apart = np.abs(2 * A * Y + B) / (np.abs(2 * A * Y) + np.abs(B))
        share = np.average(2 * A * Y + B > 0, weights=weight)
        is_one = max(share, 1.0 - share) > settings.ONE_BRANCH
        if not is_one or np.average(apart > settings.DOUBLE_ROOT, weights=weight) < 0.5:
            return None
        return upper if share > 0.5 else lower


def _lifted(term: Term) -> Term:
    """Return a term of w as one of (w, Y)."""
    factors = tuple(f._replace(exponents=(*f.exponents, 0.0)) for f in term.factors)
    return Term((*term.exponents, 0.0), factors)


def _lowered(term: Term) -> Term:
    """Return a term of (w, Y) without its power of Y."""
    factors = tuple(f._replace(exponents=f.exponents[:-1]) for f in term.factors)
    return Term(term.exponents[:-1], factors)


class _RefitPoint:
    """Residuals of y and their derivatives by free coefficients, at values of these."""

    def __init__(self, reduced: Reduced, predict: Callable, coef: np.ndarray):
        pull = reduced.factor * reduced.root
        self.coef = coef
        self.Y, slope = predict(coef)
        left = reduced.table.y * reduced.root - self.Y * pull
        jacobian = slope * pull
        self.loss = float(left @ left) / reduced.table.n_observations  # mean square
        self.gram, self.cross = jacobian @ jacobian.T, jacobian @ left

    def step(self) -> np.ndarray | None:
        return solution(self.gram, self.cross) if np.isfinite(self.gram).all() else None


def _fitted(reduced: Reduced, terms, coef: np.ndarray, fixed: int, predict: Callable) -> Fitted:
    """Minimise the mean square of y - M Y over all coefficients but one.

    ``predict`` returns Y and its derivatives, of those coefficients over the fixed one.
    """
    point = gauss_newton(
        lambda coef: _RefitPoint(reduced, predict, coef),
        np.delete(coef, fixed) / coef[fixed],
        max_steps=settings.REFIT_STEPS,
        least_gain=1e-6,
    )
    covariance = inverse(point.gram)
    jacobian = predict(point.coef)[1] * (reduced.factor * reduced.root)
    with np.errstate(invalid="ignore"):  # infinite where coefficients are not determined
        leverage = np.sum(jacobian * (covariance @ jacobian), axis=0)
    return Fitted(
        tuple(terms),
        np.insert(point.coef, fixed, 1.0),
        fixed,
        with_fixed(covariance, fixed),
        point.loss,
        point.Y * reduced.factor,
        leverage,
    )


def _as_a_law(reduced: Reduced, fit: Fitted, Y: np.ndarray | None) -> Fitted | None:
    """Return a fit with what it says of all rows, Y; None where it has no solution on many."""
    if Y is None or not np.isfinite(fit.covariance).all():
        return None
    with np.errstate(all="ignore"):
        values = Evaluator(np.vstack([reduced.w, Y])).values(fit.terms) * fit.coef[:, None]
        solved = np.abs(values.sum(axis=0)) <= SOLVED * np.abs(values).sum(axis=0)
    if not np.average(solved, weights=reduced.table.weight) > settings.ONE_BRANCH:
        return None
    table = reduced.table
    # Rows without a solution count, too: as where the mean is predicted.
    predicted = np.where(
        np.isfinite(Y), Y * reduced.factor, np.average(table.y, weights=table.weight)
    )
    mean_square = float(np.average((table.y - predicted) ** 2, weights=table.weight))
    fit = fit._replace(predicted=predicted, mean_square=mean_square)
    return fit._replace(exact=_is_exact(reduced, fit))


def _is_exact(reduced: Reduced, law: Fitted) -> bool:
    """Say whether a law holds up to rounding, in units of y or, next to a pole, in its terms."""
    share = law.mean_square / reduced.table.norm
    exact = reduced.table.exact
    if not exact**2 < share < settings.NEARLY_EXACT_FIT**2:
        return share <= exact**2
    with np.errstate(all="ignore"):
        values = Evaluator(np.vstack([reduced.w, reduced.Y])).values(law.terms) * law.coef[:, None]
        left = np.abs(values.sum(axis=0)) / np.abs(values).sum(axis=0)
    return bool(np.nanmean(left) < exact)


def refit_link(reduced: Reduced, link: Link, terms, rows, known: set) -> list[Fitted]:
    """Fit T(Y) = sum of terms in units of y; drop insignificant terms, and keep each on the way.

    ``known`` has the supports that were fitted before: a path ends where it meets another.
    """
    values = Evaluator(reduced.w).values(terms)
    weighted = values * rows.pull
    start = solution(weighted @ weighted.T, weighted @ (rows.target * rows.pull))
    coef = np.append(1.0, -start)
    terms = [link.term(reduced.n_variables), *map(_lifted, terms)]
    enough = settings.INSIGNIFICANT * price(reduced.table.n_observations)
    laws: list[Fitted] = []
    while len(terms) > 1 and (link.name, frozenset(terms)) not in known:
        known.add((link.name, frozenset(terms)))
        model = _LinkModel(reduced, link, values)
        fit = _fitted(reduced, terms, coef, 0, model.predict)
        inside = model.solvable(fit)
        law = _as_a_law(reduced, fit._replace(coef=inside), model.predict(inside[1:])[0])
        if law is not None:
            laws.append(law)
        t = fit.significance(reduced.table.exact**2 * reduced.table.norm)
        least = int(np.argmin(t))
        if not t[least] <= enough:
            break
        del terms[least]
        values, coef = np.delete(values, least - 1, axis=0), np.delete(fit.coef, least)
    return laws


def refit_implicit(reduced: Reduced, terms, coef, known: set) -> list[Fitted]:
    """Fit an implicit law in units of y, likewise; the term with Y that matters most is fixed."""
    terms, coef = list(terms), np.array(coef)
    enough = settings.INSIGNIFICANT * price(reduced.table.n_observations)
    laws: list[Fitted] = []
    while True:
        powers = np.array([term.exponents[-1] for term in terms])
        if len(terms) < 2 or not (powers > 0).any() or (powers > 0).all():
            return laws
        if frozenset(terms) in known:
            return laws
        known.add(frozenset(terms))
        model = _ImplicitModel(reduced, terms)
        with np.errstate(all="ignore"):
            size = np.abs(coef) * np.sqrt(
                np.mean((model.values * reduced.smooth ** powers[:, None]) ** 2, axis=1)
            )
        fixed = int(np.argmax(np.where(powers > 0, size, -1.0)))
        if not coef[fixed]:
            return laws
        fit = _fitted(reduced, terms, coef, fixed, partial(model.predict, fixed))
        one = model.on_one_branch(fit.coef, fit.predicted / reduced.factor)
        law = _as_a_law(reduced, fit, one)
        if law is not None:
            laws.append(law)
        t = fit.significance(reduced.table.exact**2 * reduced.table.norm)
        least = int(np.argmin(t))
        if not t[least] <= enough:
            return laws
        # Where no coefficient is known relative to the fixed one, that is the one which is zero.
        gone = least if np.delete(t, fixed).max() > enough else fixed
        del terms[gone]
        coef = np.delete(fit.coef, gone)
