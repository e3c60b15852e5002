"""Step 4: coefficients in units of the target, by Gauss-Newton; only then can laws be compared."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numba
import numpy as np

from vanishing.algebra.terms import Evaluator, Term
from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import inverse, solution, with_fixed, with_one, without_one
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.forms import FormFit
from vanishing.laws.links import Link, lifted
from vanishing.laws.problem import Reduced

_MOVES = 5  # of coefficients, each for the row that is farthest from having a solution
_ROUNDING = 1e-20  # share of the loss that no step can be seen to gain
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
    form : FormFit or None
        What a law is that is no sum of terms: it has none, and its constants are coefficients.
    """

    terms: tuple[Term, ...]
    coef: np.ndarray
    fixed: int
    covariance: np.ndarray
    mean_square: float
    predicted: np.ndarray
    leverage: np.ndarray
    exact: bool = False
    form: FormFit | None = None

    @property
    def n_terms(self) -> int:
        """Number of terms, the target's and a constant included; of a form, one per constant."""
        return len(self.terms) if self.form is None else 1 + len(self.coef)

    def significance(self, least_noise: float = 1e-300) -> np.ndarray:
        """Return squared ratios of coefficients to their errors; huge for the one that is 1."""
        noise = max(self.mean_square, least_noise)
        with np.errstate(all="ignore"):
            return self.coef**2 / np.maximum(noise * self.covariance.diagonal(), 1e-300)

    def is_determined(self) -> bool:
        """Say whether all coefficients are known to be other than zero, relative to one another."""
        if self.form is not None:
            errors = self.mean_square * self.covariance.diagonal()
            return bool((self.form.sizes**2 > settings.DETERMINED * errors).all())
        noise = max(self.mean_square, 1e-300)
        # Asked of each candidate again and again: numbers are faster here than arrays of a few.
        variances = self.covariance.diagonal().tolist()
        return all(
            number * number > settings.DETERMINED * max(noise * variance, 1e-300)
            for number, variance in zip(self.coef.tolist(), variances, strict=True)
        )


class _LinkModel:
    """T(Y) + sum of c phi = 0."""

    def __init__(self, reduced: Reduced, link: Link, values: np.ndarray):
        self.reduced, self.link, self.values = reduced, link, values

    def predict(self, coef: np.ndarray) -> tuple[np.ndarray, Callable]:
        """Return Y, and what computes its derivatives by the coefficients c."""
        Y = self.link.inverse(-(coef @ self.values))
        Y = np.where(np.isfinite(Y), Y, self.reduced.smooth)
        return Y, lambda: -self.values / self.link.slope(Y)

    def parts(self, Y: np.ndarray) -> np.ndarray:
        """Return the values of all terms."""
        target = self.link.term(self.reduced.n_variables)
        first = Evaluator(np.vstack([self.reduced.w, Y])).value(target)
        return np.vstack([first, self.values])

    def solvable(self, fit: Fitted) -> np.ndarray:
        """Return coefficients with which rows next to the end of a root have a solution.

        Noise can make a square negative there. The way to where it is not is the shortest one in
        units of standard errors; no further than these allow.
        """
        coef, covariance = fit.coef[1:], fit.covariance[1:, 1:]
        for _ in range(_MOVES):
            inner = -(coef @ self.values)
            outside = self.link.value(self.link.inverse(inner)) - inner
            outside = np.where(np.abs(outside) > 1e-12 * np.abs(inner), outside, 0.0)
            row = int(np.argmax(np.abs(outside)))
            way = covariance @ -self.values[:, row]
            variance = float(way @ -self.values[:, row])
            if not 0.0 < outside[row] ** 2 < settings.DETERMINED * fit.mean_square * variance:
                break
            coef = coef + way * (outside[row] * (1.0 + SOLVED) / variance)
        return np.append(1.0, coef)


@numba.njit(cache=True, error_model="numpy")
def _roots(A, B, C, smooth):
    """Return the roots of A Y^2 + B Y + C with 2 A Y + B below zero, those above, and the nearest.

    That is nearest to ``smooth``. Where there is no root, the value at which A Y^2 + B Y + C is
    closest to zero.
    """
    lower, upper, nearest = np.empty_like(A), np.empty_like(A), np.empty_like(A)
    for i in range(len(A)):
        square = B[i] ** 2 - 4 * A[i] * C[i]
        root = 0.0 if square < 0.0 else np.sqrt(square)
        # The stable form of both roots.
        q = -0.5 * (B[i] - root) if B[i] < 0 else -0.5 * (B[i] + root)
        lower[i], upper[i] = (C[i] / q, q / A[i]) if B[i] < 0 else (q / A[i], C[i] / q)
        is_nearer = abs(lower[i] - smooth[i]) < abs(upper[i] - smooth[i])
        if np.isfinite(lower[i]) and (is_nearer or not np.isfinite(upper[i])):
            nearest[i] = lower[i]
        else:
            nearest[i] = upper[i] if np.isfinite(upper[i]) else smooth[i]
    return lower, upper, nearest


class _ImplicitModel:
    """A(w) Y^2 + B(w) Y + C(w) = 0, and the root nearest to the smooth target."""

    def __init__(self, reduced: Reduced, terms):
        self.reduced = reduced
        self.powers = np.array([int(term.exponents[-1]) for term in terms])
        self.values = Evaluator(reduced.w).values([_lowered(term) for term in terms])
        places = [np.flatnonzero(self.powers == power) for power in (2, 1, 0)]
        self._of_powers = [(part, self.values[part]) for part in places]

    def predict(self, fixed: int, free: np.ndarray) -> tuple[np.ndarray, Callable]:
        """Return Y, and what computes its derivatives by all coefficients but one, fixed at 1."""
        A, B, _, _, Y = self._roots(with_one(free, fixed))
        return Y, lambda: without_one(self.parts(Y), fixed) / -(2 * A * Y + B)

    def parts(self, Y: np.ndarray) -> np.ndarray:
        """Return the values of all terms."""
        return self.values * np.array([np.ones_like(Y), Y, Y * Y])[self.powers]

    def _roots(self, coef: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return A, B, and roots: where 2 A Y + B is negative, where positive, and the nearest."""
        A, B, C = (coef[places] @ values for places, values in self._of_powers)
        return A, B, *_roots(A, B, C, self.reduced.smooth)

    def on_one_branch(self, coef: np.ndarray, Y: np.ndarray) -> np.ndarray | None:
        """Return the root that most rows lie on, for all rows; None where many lie on the other.

        It is NaN on rows that say nothing of Y: those with 0 in a column that all terms have.

        The product of a law and another equation has a root of each: the second one is there for
        rows that break the law. The square of a law has two roots that are equal: it says no more
        than the law, and its error is the square of the law's.
        """
        A, B, lower, upper, _ = self._roots(coef)
        said = (A != 0.0) | (B != 0.0)
        if not (self.powers == 2).any():
            return np.where(said, Y, np.nan)
        slope = 2 * A * Y + B
        apart = np.abs(slope) / (np.abs(2 * A * Y) + np.abs(B))
        share = self.reduced.mean(slope > 0)
        is_one = max(share, 1.0 - share) > settings.ONE_BRANCH
        if not is_one or self.reduced.mean(apart > settings.DOUBLE_ROOT) < 0.5:
            return None
        return np.where(said, upper if share > 0.5 else lower, np.nan)


def _lowered(term: Term) -> Term:
    """Return a term of (w, Y) without its power of Y."""
    factors = tuple(f._replace(exponents=f.exponents[:-1]) for f in term.factors)
    return Term(term.exponents[:-1], factors)


class _RefitPoint:
    """Residuals of y and their derivatives by free coefficients, at values of these."""

    def __init__(self, reduced: Reduced, predict: Callable, coef: np.ndarray):
        self.reduced, self.coef = reduced, coef
        self.Y, self._slopes = predict(coef)
        self.left = reduced.weighted_y - self.Y * reduced.pull
        self.loss = float(self.left @ self.left) / reduced.table.n_observations  # mean square

    # Steps that lead to no lower loss are many, and need no derivatives.
    @cached_property
    def jacobian(self) -> np.ndarray:
        """Derivatives of weighted predictions."""
        slopes = self._slopes()
        slopes[~np.isfinite(slopes)] = 0.0
        return slopes * self.reduced.pull

    @cached_property
    def gram(self) -> np.ndarray:
        """Gram matrix of the derivatives."""
        return self.jacobian @ self.jacobian.T

    def step(self) -> np.ndarray | None:
        if not np.isfinite(self.gram).all():
            return None
        cross = self.jacobian @ self.left
        step = solution(self.gram, cross)
        # What a step gains may be less than the rounding of the loss.
        return step if step @ cross > _ROUNDING * (self.left @ self.left) else None


def _fitted(reduced: Reduced, terms, coef: np.ndarray, fixed: int, predict: Callable) -> Fitted:
    """Minimise the mean square of y - M Y over all coefficients but one.

    ``predict`` returns Y and what computes its derivatives, of those coefficients over the fixed
    one.
    """
    point = gauss_newton(
        lambda coef: _RefitPoint(reduced, predict, coef),
        without_one(coef, fixed) / coef[fixed],
        max_steps=settings.REFIT_STEPS,
        least_gain=1e-6,
    )
    covariance = inverse(point.gram)
    # Infinite where coefficients are not determined.
    leverage = np.sum(point.jacobian * (covariance @ point.jacobian), axis=0)
    return Fitted(
        tuple(terms),
        with_one(point.coef, fixed),
        fixed,
        with_fixed(covariance, fixed),
        point.loss,
        point.Y * reduced.factor,
        leverage,
    )


def _as_a_law(reduced: Reduced, fit: Fitted, model, Y: np.ndarray | None) -> Fitted | None:
    """Return a fit with what it says of all rows, Y; None where it has no solution on many."""
    if Y is None or not np.isfinite(fit.covariance).all():
        return None
    values = model.parts(Y) * fit.coef[:, None]
    solved = np.abs(values.sum(axis=0)) <= SOLVED * np.abs(values).sum(axis=0)
    if not reduced.mean(solved) > settings.ONE_BRANCH:
        return None
    y = reduced.table.y
    # Rows without a solution count, too: as where the mean is predicted.
    predicted = np.where(np.isfinite(Y), Y * reduced.factor, reduced.mean(y))
    mean_square = reduced.mean((y - predicted) ** 2)
    fit = fit._replace(predicted=predicted, mean_square=mean_square)
    return fit._replace(exact=_is_exact(reduced, fit, model))


def _is_exact(reduced: Reduced, law: Fitted, model) -> bool:
    """Say whether a law holds up to rounding, in units of y or, next to a pole, in its terms."""
    share = law.mean_square / reduced.table.norm
    exact = reduced.table.exact
    if not exact**2 < share < settings.NEARLY_EXACT_FIT**2:
        return share <= exact**2
    values = model.parts(reduced.Y) * law.coef[:, None]
    left = np.abs(values.sum(axis=0)) / np.abs(values).sum(axis=0)
    return bool(np.nanmean(left) < exact)


@np.errstate(all="ignore")
def refit_link(reduced: Reduced, link: Link, terms, rows, known: set) -> list[Fitted]:
    """Fit T(Y) = sum of terms in units of y; drop insignificant terms, and keep each on the way.

    ``known`` has the supports that were fitted before: a path ends where it meets another.
    """
    values = Evaluator(reduced.w).values(terms)
    weighted = values * rows.pull
    start = solution(weighted @ weighted.T, weighted @ (rows.target * rows.pull))
    coef = np.append(1.0, -start)
    terms = [link.term(reduced.n_variables), *map(lifted, terms)]
    enough = settings.INSIGNIFICANT * price(reduced.table.n_observations)
    laws: list[Fitted] = []
    while len(terms) > 1 and (link.name, frozenset(terms)) not in known:
        known.add((link.name, frozenset(terms)))
        model = _LinkModel(reduced, link, values)
        fit = _fitted(reduced, terms, coef, 0, model.predict)
        inside = model.solvable(fit)
        law = _as_a_law(reduced, fit._replace(coef=inside), model, model.predict(inside[1:])[0])
        if law is not None:
            laws.append(law)
        t = fit.significance(reduced.table.exact**2 * reduced.table.norm)
        least = int(np.argmin(t))
        if not t[least] <= enough:
            break
        del terms[least]
        values, coef = without_one(values, least - 1), without_one(fit.coef, least)
    return laws


@np.errstate(all="ignore")
def refit_implicit(reduced: Reduced, terms, coef, known: set) -> list[Fitted]:
    """Fit an implicit law in units of y, likewise; the term with Y that matters most is fixed."""
    terms, coef = list(terms), np.array(coef)
    enough = settings.INSIGNIFICANT * price(reduced.table.n_observations)
    laws: list[Fitted] = []
    while True:
        with_y = [term.exponents[-1] > 0.0 for term in terms]
        if len(terms) < 2 or not any(with_y) or all(with_y):
            return laws
        if frozenset(terms) in known:
            return laws
        known.add(frozenset(terms))
        model = _ImplicitModel(reduced, terms)
        size = np.abs(coef) * np.sqrt(np.mean(model.parts(reduced.smooth) ** 2, axis=1))
        fixed = int(np.argmax(np.where(with_y, size, -1.0)))
        if not coef[fixed]:
            return laws
        fit = _fitted(reduced, terms, coef, fixed, partial(model.predict, fixed))
        one = model.on_one_branch(fit.coef, fit.predicted / reduced.factor)
        law = _as_a_law(reduced, fit, model, one)
        if law is not None:
            laws.append(law)
        t = fit.significance(reduced.table.exact**2 * reduced.table.norm)
        least = int(np.argmin(t))
        if not t[least] <= enough:
            return laws
        # Where no coefficient is known relative to the fixed one, that is the one which is zero.
        gone = least if without_one(t, fixed).max() > enough else fixed
        del terms[gone]
        coef = without_one(fit.coef, gone)
