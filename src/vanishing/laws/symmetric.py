"""Polynomial laws among columns that all have noise, or none: no column is singled out.

A law has least mean square against the mean square of its gradient: v'Gv / v'Hv, with H the sum
over columns of their noise's variance times the Gram matrix of derivatives. Noise makes moments
too large; what it adds is known where its size is, and is taken out (Hermite polynomials).
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from vanishing.fitting.debiased import fitted_equation, matrices
from vanishing.fitting.origins import Expansion, shortest_origin
from vanishing.fitting.ratios import full_ratios, least_ratio, ratio_supports
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.fitting.sparse import price
from vanishing.fitting.variety import (
    VarietyEquation,
    evaluated,
    gradient,
    projected,
    rank_of_multiples,
    thickness,
    vanishes,
)
from vanishing.laws import settings
from vanishing.laws.implicit import NullSpace
from vanishing.rows.source import RowPart


class ColumnNoise(NamedTuple):
    """What is known of the noise of columns.

    Attributes
    ----------
    deviations : array of shape (n_columns,)
        Standard deviations, scaled as the columns are.
    is_floor : bool
        Whether they are the least that terms of any degree leave; the first law says more.
    """

    deviations: np.ndarray
    is_floor: bool = False


class SymmetricAnswer(NamedTuple):
    """What a search among columns finds.

    Attributes
    ----------
    equations : list of VarietyEquation
        The best first.
    noise : array of shape (n_columns,)
        Standard deviations, scaled; 0 where equations are exact.
    spread : array of shape (n_columns,)
        Standard deviations of the columns, scaled.
    was_estimated : bool
        Whether the noise was not given.
    """

    equations: list[VarietyEquation]
    noise: np.ndarray
    spread: np.ndarray
    was_estimated: bool


class Symmetric:
    """The search for polynomial laws among columns.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
        Scaled.
    weight : array of shape (n_rows,)
    noise : array of shape (n_columns,) or None
        Standard deviations, scaled; None where they are to be found, in proportion to the spread.
    options : Options
    progress : callable
        Called now and then, to say that the search goes on.
    must : int, default=None
        A column that an equation must have.
    rounding : float, default=0.0
        What rounding has left of the columns, relative to their size. Where it is more than usual,
        columns were far from the origin, and equations may be longer than those that are asked for:
        there is another place to measure columns from, where they are short.
    """

    def __init__(self, columns, weight, noise, options, progress, must=None, rounding=0.0):
        self.columns, self.weight, self.noise = columns, weight, noise
        self.max_degree, self.max_terms = options.max_degree, options.max_terms
        self.robust, self.progress = options.robust, progress
        self.dimensions = options.dimensions
        self.must = must
        self.exact = max(settings.EXACT, rounding)
        self.exact_terms = self.max_terms * (settings.FAR_TERMS if rounding else 1)
        self.count = float(weight.sum())
        self.spread = np.sqrt(
            np.average(
                (columns - np.average(columns, axis=1, weights=weight)[:, None]) ** 2,
                axis=1,
                weights=weight,
            )
        )
        # A column of few values has a polynomial of its own, which is no law.
        distinct = [len(np.unique(column[:2000])) for column in columns]
        self.highest = np.minimum(np.array(distinct) - 1, self.max_degree)

    def answer(self, n_laws: int) -> SymmetricAnswer:
        """Return independent equations, and what is known of the noise with them."""
        none = np.zeros(len(self.columns))
        if self.noise is None or not self.noise.any():
            exact = self._exact_equations(n_laws)
            if exact or self.noise is not None:
                return SymmetricAnswer(exact, none, self.spread, False)
        noise = self._least_noise() if self.noise is None else ColumnNoise(self.noise)
        if noise is None:
            return SymmetricAnswer([], none, self.spread, False)
        equations: list[VarietyEquation] = []
        while len(equations) < n_laws:
            equation = self._noisy(equations, noise)
            if equation is None:
                break
            if noise.is_floor:
                # The law says what the noise is.
                noise = ColumnNoise(np.sqrt(equation.ratio) * noise.deviations)
                equation = equation._replace(ratio=1.0)
            equations.append(equation)
        return SymmetricAnswer(equations, noise.deviations, self.spread, self.noise is None)

    def _exact_equations(self, n_laws: int) -> list[VarietyEquation]:
        """Return equations that do not follow from those before, the shortest of two degrees first.

        The energy of a collision has degree 3, and is shorter than what degree 2 makes of it.
        """
        known: list[VarietyEquation] = []
        for degree in range(1, self.max_degree + 1):
            pool = [e for d in (degree, degree + 1) for e in self._exact(d, known)]
            pool.sort(key=lambda e: (len(e.coef), e.exponents.sum()))
            follows = self._implied(known)
            for equation in pool:
                if len(known) == n_laws:
                    return known
                if not follows(equation):
                    known.append(equation)
                    follows = self._implied(known)
        return known

    def _terms(self, degree, limit) -> list[np.ndarray]:
        """Return the exponents up to a degree of terms that may stand together, if not too many.

        All may, unless laws must be homogeneous.
        """
        if comb(len(self.columns) + degree, degree) > 20 * limit:
            return []
        rows = exponents_up_to(len(self.columns), 20 * limit, degree)
        rows = rows[(rows <= self.highest).all(axis=1)]
        classes = [rows] if self.dimensions is None else self._homogeneous(rows, degree)
        return [terms for terms in classes if 2 <= len(terms) <= limit]

    def _homogeneous(self, rows, degree) -> list[np.ndarray]:
        """Return terms in classes of one dimension, without classes that lower degrees have."""
        dimension = np.round(rows @ self.dimensions, 9)
        _, place = np.unique(dimension, axis=0, return_inverse=True)
        classes = [rows[place.ravel() == k] for k in range(place.max() + 1)]
        return [c for c in classes if c.sum(axis=1).max() == degree and not c.min(axis=0).any()]

    # -- Tables without noise ---------------------------------------------------------------------

    def _exact(self, degree, known) -> list[VarietyEquation]:
        """Return sparse equations up to a degree, unless all are multiples of those known."""
        if degree > self.max_degree:
            return []
        return [
            e
            for terms in self._terms(degree, settings.EXACT_TERMS)
            for e in self._exact_among(terms, degree, known)
        ]

    def _exact_among(self, exponents, degree, known) -> list[VarietyEquation]:
        """Return sparse equations among terms."""
        self.progress()
        values = evaluated(self.columns, exponents) * np.sqrt(self.weight)
        enough = values.shape[1] >= max(10, 2 * len(values))
        null = NullSpace.of(values, self.exact) if enough else None
        if null is None:
            return []
        highest = max((e.exponents.sum(axis=1).max() for e in known), default=0)
        if degree > highest + 1 and len(null.vectors) <= rank_of_multiples(known, exponents):
            return []
        equations = (
            VarietyEquation(exponents[part], coef, 0.0, np.inf, True)
            for part, coef in null.sparse(self.exact_terms)
        )
        return [e for e in equations if self._is_asked(e.exponents) and self._holds(e)]

    def _holds(self, equation: VarietyEquation) -> bool:
        """Say whether an equation holds up to rounding on all rows, and is of some use there."""
        values = evaluated(self.columns, equation.exponents) * equation.coef[:, None]
        rounding = max(1e-9, 10 * self.exact) * np.abs(values).max(axis=0)
        if not (np.abs(values.sum(axis=0)) <= rounding).all():
            return False
        return thickness(self.columns, equation, self.spread, self.weight) < settings.THIN

    # -- Tables with noise ------------------------------------------------------------------------

    def _least_noise(self) -> ColumnNoise | None:
        """Return the least noise that the terms of any degree leave, or None if it is not small.

        Noise is in proportion to the spread of the columns. A law of a low degree that leaves more
        is an approximation, which terms of a higher degree tell from one.
        """
        least = np.inf
        for exponents in self._noisy_terms():
            scale = 0.0
            for _ in range(3):
                noise = scale * self.spread
                both = matrices(self.columns, self.weight, exponents, noise, self.spread)
                # The sum is safely positive, unlike moments from which noise was taken.
                ratio = full_ratios(both.gram + scale**2 * both.slope, both.slope)[0]
                ratio *= self.count / (self.count - len(exponents))
                if not ratio < settings.LARGEST_NOISE**2:
                    break
                scale = np.sqrt(ratio)
            least = min(least, ratio)
            self.progress()
        if not least < settings.LARGEST_NOISE**2:
            return None
        return ColumnNoise(np.sqrt(least) * self.spread, is_floor=True)

    def _noisy_terms(self):
        for degree in range(1, self.max_degree + 1):
            for exponents in self._terms(degree, settings.IMPLICIT_TERMS):
                if self.count >= 8 * len(exponents):
                    yield exponents

    def _noisy(self, known, noise: ColumnNoise) -> VarietyEquation | None:
        """Return the best equation of any degree that does not follow from those known."""
        candidates: list[tuple[float, VarietyEquation]] = []
        for exponents in self._noisy_terms():
            self.progress(f"symmetric laws, {len(exponents)} terms")
            candidates += self._of_degree(exponents, noise)
        candidates.sort(key=lambda item: item[0])
        deviations = noise.deviations
        follows = self._implied(known, deviations)
        for score, equation in candidates[: settings.CHECKED]:
            if follows(equation) or not self._is_significant(equation, deviations):
                continue
            evidence = self._evidence(equation, candidates, score, known, deviations)
            if evidence < settings.EVIDENCE or not self._is_allowed(equation):
                return None
            return equation._replace(evidence=evidence)
        return None

    def _of_degree(self, exponents, noise: ColumnNoise):
        """Yield (score, equation) of supports that leave hardly more than all terms of a degree."""
        k = len(exponents)
        deviations = noise.deviations
        both = matrices(self.columns, self.weight, exponents, deviations, deviations)
        gram = both.gram + both.slope
        spectrum = full_ratios(gram, both.slope)
        least = spectrum[0]
        # A ratio of 1 is that of the noise, where it is known.
        if least > (settings.RATIO_ESTIMATED if noise.is_floor else settings.RATIO):
            return
        # Columns that depend on one another loosely have no gap between laws and other terms.
        if noise.is_floor and np.mean(spectrum < settings.SPECTRUM_GAP * least) > 0.5:
            return
        scale = np.sqrt(gram.diagonal())
        gram, slope = gram / scale / scale[:, None], both.slope / scale / scale[:, None]
        floor = (1 + 4 * np.sqrt(2 / self.count)) * (least if noise.is_floor else 1.0)
        limit = (1 + (k + 5 * np.sqrt(2 * k)) / self.count) * floor
        cost = price(self.count)
        for support, ratio in ratio_supports(gram, slope, limit, self.max_terms, self.progress):
            places = list(support)
            part = exponents[places]
            if part.min(axis=0).any() or not self._is_asked(part):
                continue
            # Less than the noise is chance, or rows of little noise that multiples of laws favour.
            score = self.count * np.log(max(ratio / floor, 1.0))
            score += cost * len(support) + settings.EXPONENT_PRICE * part.sum()
            vector = least_ratio(gram, slope, places)[1] / scale[places]
            spare = max(k - len(support), 1)
            lack = (self.count * (ratio / least - 1.0) - spare) / np.sqrt(2.0 * spare)
            yield (
                float(score),
                VarietyEquation(part, vector, float(ratio), np.inf, False, float(lack)),
            )

    def _is_asked(self, exponents) -> bool:
        """Say whether an equation has two columns or more, and the one it must have."""
        used = exponents.any(axis=0)
        return bool(np.count_nonzero(used) >= 2 and (self.must is None or used[self.must]))

    def _is_allowed(self, equation: VarietyEquation) -> bool:
        """Say whether an equation has too few terms to be that of just any smooth surface.

        Surfaces of degree 2 that turn around, such as an ellipse anywhere in the plane, may have
        more: what is approximated locally by a polynomial does not turn.
        """
        exponents = equation.exponents
        used = exponents.any(axis=0)
        r = np.count_nonzero(used) - 1
        if len(exponents) <= max(r + 3 + (r >= 3), 2 * r - 2):
            return True
        if exponents.sum(axis=1).max() > 2 or len(exponents) > 2 * r + 4:
            return False
        rising = np.average(gradient(self.columns, equation)[used] > 0, axis=1, weights=self.weight)
        return bool((np.abs(rising - 0.5) < 0.5 - settings.TURNS).all())

    def _evidence(self, equation, candidates, score, known, noise) -> float:
        """Return the distance in score to the best other explanation of the same rows.

        That is an equation which nearly holds where this one does, and is not the same: one that
        fails there is a law of its own.
        """
        points = self._points([*known, equation])
        for other, candidate in candidates[: 3 * settings.CHECKED]:
            if other - score > settings.ENOUGH:
                break
            same = candidate is equation or vanishes(points, candidate.exponents, settings.SAME)
            if not same and _holds_within(noise, candidate, points):
                return other - score
        return settings.ENOUGH

    def _implied(self, known, noise=None) -> Callable[[VarietyEquation], bool]:
        """Return a test of whether an equation follows from known laws.

        It does so where its terms vanish on points of theirs, or approximately: within the noise.

        What several laws imply together is told nevertheless where it is as short as the shortest:
        the energy of a collision on a line, beside its momentum and relative velocity.
        """
        tolerance = settings.SAME if all(e.exact for e in known) else settings.FOLLOWS_NOISY
        single = [self._points([equation]) for equation in known]
        together = self._points(known) if len(known) > 1 else None
        shortest = min((len(e.coef) for e in known), default=0)

        def follows(equation) -> bool:
            exponents = equation.exponents
            if any(vanishes(points, exponents, tolerance) for points in single):
                return True
            if noise is not None and any(_holds_within(noise, equation, p) for p in single):
                return True
            long = len(exponents) > shortest
            return together is not None and long and vanishes(together, exponents, tolerance)

        return follows

    def origins(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return steps of columns after which the equation of all terms is short, and their errors.

        Of the lowest degree whose terms leave hardly more than the noise; zeros where none does.
        """
        noise = self._least_noise() if self.noise is None else ColumnNoise(self.noise)
        nowhere = np.zeros(len(self.columns))
        if noise is None:
            return nowhere, nowhere
        for exponents in self._noisy_terms():
            both = matrices(
                self.columns, self.weight, exponents, noise.deviations, noise.deviations
            )
            gram = both.gram + both.slope
            scale = np.sqrt(gram.diagonal())
            gram, slope = gram / scale / scale[:, None], both.slope / scale / scale[:, None]
            ratio, vector = least_ratio(gram, slope, np.arange(len(exponents)))
            if ratio < (settings.RATIO_ESTIMATED if noise.is_floor else settings.RATIO):
                equation = VarietyEquation(exponents, vector / scale, ratio, np.inf, False)
                coef, covariance = self._fitted(equation, noise.deviations)
                expansion = Expansion(exponents, coef, covariance, 0.0)
                return shortest_origin(expansion, columns)[:2]
        return nowhere, nowhere

    def _fitted(self, equation: VarietyEquation, noise: np.ndarray):
        """Return the coefficients of an equation on these rows, and their covariance."""
        part = RowPart(self.columns.T, None, self.weight)
        ones = np.ones(len(self.columns))
        return fitted_equation(equation, noise, ones, lambda question, combine: question(part))[:2]

    def _is_significant(self, equation: VarietyEquation, noise: np.ndarray) -> bool:
        """Say whether each term is needed: its coefficient is not zero within four errors."""
        coef, covariance = self._fitted(equation, noise)
        error = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        needed = np.abs(coef) > 4 * error
        return bool(needed.all())

    def _points(self, equations) -> np.ndarray:
        """Return points close to the rows, moved to where the equations hold."""
        random = np.random.default_rng(0)
        start = self.columns[:, :300]
        start = start + 0.3 * self.spread[:, None] * random.normal(size=start.shape)
        points = projected(start, equations, self.spread)
        values = [e.coef @ evaluated(points, e.exponents) for e in equations]
        sizes = [np.abs(e.coef) @ np.abs(evaluated(points, e.exponents)) for e in equations]
        with np.errstate(invalid="ignore"):
            good = np.all(np.abs(values) < 1e-9 * np.array(sizes), axis=0)
        return points[:, good]


def _holds_within(noise: np.ndarray, equation: VarietyEquation, points: np.ndarray) -> bool:
    """Say whether an equation holds on points within a few times the noise."""
    value = equation.coef @ evaluated(points, equation.exponents)
    slope = gradient(points, equation) * noise[:, None]
    with np.errstate(all="ignore"):
        return bool(np.median(np.abs(value) / np.sqrt((slope**2).sum(axis=0))) < 5.0)
