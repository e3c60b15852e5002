"""Step 4: coefficients in units of the target, by Gauss-Newton; only then can laws be compared."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term
from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import inverse, solution, with_fixed
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.links import Link
from vanishing.laws.problem import Reduced

_STEPS = 6


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
        y.
    exact : bool
        Whether the law holds up to rounding: a table without noise.
    """

    terms: tuple[Term, ...]
    coef: np.ndarray
    fixed: int
    covariance: np.ndarray
    mean_square: float
    predicted: np.ndarray
    exact: bool = False

    @property
    def n_terms(self) -> int:
        """Number of terms, the target's and a constant included."""
        return len(self.terms)

    def is_determined(self) -> bool:
        """Say whether all coefficients are known to be other than zero, relative to one another."""
        t = _significance(self.coef, self.covariance, max(self.mean_square, 1e-300))
        others = np.delete(t, self.fixed)
        return bool((others > settings.DETERMINED).all())


class _LinkModel:
    """Y = T^-1(sum of c phi); the coefficient of T(Y) is fixed at 1, the others are -c."""

    def __init__(self, reduced: Reduced, link: Link, terms):
        self.reduced, self.link = reduced, link
        self.first = link.term(reduced.n_variables)
        self.values = Evaluator(reduced.w).values(terms)
        self.terms = tuple(terms)

    def start(self, rows, values):
        weighted = values * rows.pull
        return solution(weighted @ weighted.T, weighted @ (rows.target * rows.pull))

    def predict(self, coef, values):
        with np.errstate(all="ignore"):
            Y = self.link.inverse(coef @ values)
            Y = np.where(np.isfinite(Y), Y, self.reduced.smooth)
            if self.link.power == 2.0:
                Y = np.where(self.reduced.smooth < 0, -Y, Y)
            slope = values / self.link.slope(Y)
        return Y, np.where(np.isfinite(slope), slope, 0.0)

    def law(self, coef, places):
        terms = (self.first, *(_lifted(self.terms[i]) for i in places))
        return terms, np.concatenate([[1.0], -coef]), 0


class _ImplicitModel:
    """A(w) Y^2 + B(w) Y + C(w) = 0, and the root nearest to the smooth target."""

    def __init__(self, reduced: Reduced, terms):
        self.reduced = reduced
        self.terms = tuple(terms)
        self.powers = np.array([term.exponents[-1] for term in terms])
        self.values = Evaluator(reduced.w).values([_lowered(term) for term in terms])

    def predict(self, coef):
        values, powers = self.values, self.powers
        A, B, C = (coef[powers == p] @ values[powers == p] for p in (2.0, 1.0, 0.0))
        smooth = self.reduced.smooth
        with np.errstate(all="ignore"):
            root = np.sqrt(np.maximum(B**2 - 4 * A * C, 0.0))
            # The stable form of both roots of A Y^2 + B Y + C.
            q = -0.5 * (B + np.where(B < 0, -root, root))
            first, second = q / A, C / q
            nearer = np.abs(first - smooth) < np.abs(second - smooth)
            Y = np.where(np.isfinite(first) & (nearer | ~np.isfinite(second)), first, second)
            Y = np.where(np.isfinite(Y), Y, smooth)
            slope = -values * np.where(powers[:, None] == 0, 1.0, Y ** powers[:, None])
            slope = slope / (2 * A * Y + B)
        return Y, np.where(np.isfinite(slope), slope, 0.0)

    def has_one_branch(self, coef, Y) -> bool:
        """Say whether hardly any row lies on the other root than most do.

        The product of a law and another equation has a root of each: the second one is there for
        rows that break the law.
        """
        A, B = (coef[self.powers == p] @ self.values[self.powers == p] for p in (2.0, 1.0))
        if not (self.powers == 2.0).any():
            return True
        upper = np.average(2 * A * Y + B > 0, weights=self.reduced.table.weight)
        return bool(max(upper, 1.0 - upper) > settings.ONE_BRANCH)


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

    def __init__(self, reduced: Reduced, predict, coef: np.ndarray):
        pull = reduced.factor * reduced.root
        self.coef = coef
        self.Y, slope = predict(coef)
        left = reduced.table.y * reduced.root - self.Y * pull
        jacobian = slope * pull
        self.loss = float(left @ left) / reduced.table.n_observations  # mean square
        self.gram, self.cross = jacobian @ jacobian.T, jacobian @ left

    def step(self):
        return solution(self.gram, self.cross) if np.isfinite(self.gram).all() else None


def _refitted(reduced: Reduced, predict, coef: np.ndarray) -> _RefitPoint:
    """Minimise the mean square of y - M Y, where ``predict(coef)`` is Y and its derivatives."""
    return gauss_newton(
        lambda coef: _RefitPoint(reduced, predict, coef), coef, max_steps=_STEPS, least_gain=1e-6
    )


def _is_exact(reduced: Reduced, terms, coef, mean_square: float) -> bool:
    """Say whether a law holds up to rounding, in units of y or, next to a pole, in its terms."""
    share = mean_square / reduced.table.norm
    if not settings.EXACT**2 < share < settings.NEARLY_EXACT_FIT**2:
        return share <= settings.EXACT**2
    with np.errstate(all="ignore"):
        values = Evaluator(np.vstack([reduced.w, reduced.Y])).values(terms) * coef[:, None]
        left = np.abs(values.sum(axis=0)) / np.abs(values).sum(axis=0)
    return bool(np.nanmean(left) < settings.EXACT)


def _significance(coef, covariance, noise):
    with np.errstate(all="ignore"):
        return coef**2 / np.maximum(noise * covariance.diagonal(), 1e-300)


def refit_link(reduced: Reduced, link: Link, terms, rows, known: set) -> list[Fitted]:
    """Fit T(Y) = sum of terms in units of y; drop insignificant terms, and keep each on the way.

    ``known`` has the supports that were fitted before: a path ends where it meets another.
    """
    model = _LinkModel(reduced, link, terms)
    places = list(range(len(terms)))
    coef = model.start(rows, model.values)
    found = []
    while places:
        support = (link.name, frozenset(model.terms[i] for i in places))
        if support in known:
            break
        known.add(support)
        values = model.values[places]
        point = _refitted(reduced, lambda c, v=values: model.predict(c, v), coef)
        coef, value = point.coef, point.loss
        covariance = inverse(point.gram)
        law_terms, law_coef, fixed = model.law(coef, places)
        exact = _is_exact(reduced, law_terms, law_coef, value)
        predicted = point.Y * reduced.factor
        whole = with_fixed(covariance, fixed)
        found.append(Fitted(law_terms, law_coef, fixed, whole, value, predicted, exact))
        t = _significance(coef, covariance, max(settings.EXACT**2 * reduced.table.norm, value))
        least = int(np.argmin(t))
        if (
            not t[least] <= settings.INSIGNIFICANT * price(reduced.table.n_observations)
            or len(places) == 1
        ):
            break
        del places[least]
        coef = np.delete(coef, least)
    return found


def refit_implicit(reduced: Reduced, terms, coef, known: set) -> list[Fitted]:
    """Fit an implicit law in units of y, likewise; the term with Y that matters most is fixed."""
    terms, coef = list(terms), np.array(coef)
    found: list[Fitted] = []
    while True:
        powers = np.array([term.exponents[-1] for term in terms])
        if len(terms) < 2 or not (powers > 0).any() or (powers > 0).all():
            return found
        if frozenset(terms) in known:
            return found
        known.add(frozenset(terms))
        model = _ImplicitModel(reduced, terms)
        with np.errstate(all="ignore"):
            size = np.abs(coef) * np.sqrt(
                np.mean((model.values * reduced.smooth ** powers[:, None]) ** 2, axis=1)
            )
        fixed = int(np.argmax(np.where(powers > 0, size, -1.0)))
        if not coef[fixed]:
            return found
        free = np.delete(np.arange(len(terms)), fixed)

        def predict(c, model=model, fixed=fixed, free=free):
            Y, slope = model.predict(np.insert(c, fixed, 1.0))
            return Y, slope[free]

        point = _refitted(reduced, predict, coef[free] / coef[fixed])
        coef, value = np.insert(point.coef, fixed, 1.0), point.loss
        covariance = inverse(point.gram)
        if not model.has_one_branch(coef, point.Y):
            return found
        exact = _is_exact(reduced, terms, coef, value)
        predicted = point.Y * reduced.factor
        whole = with_fixed(covariance, fixed)
        found.append(Fitted(tuple(terms), coef, fixed, whole, value, predicted, exact))
        noise = max(settings.EXACT**2 * reduced.table.norm, value)
        t = _significance(coef[free], covariance, noise)
        least = int(np.argmin(t))
        enough = settings.INSIGNIFICANT * price(reduced.table.n_observations)
        if not t[least] <= enough:
            return found
        # Where no coefficient is known relative to the fixed one, that is the one which is zero.
        gone = int(free[least]) if t.max() > enough else fixed
        del terms[gone]
        coef = np.delete(coef, gone)
