"""Generators normalised by their gradients: border terms decided by generalised eigenvalues.

With G the Gram matrix of the terms and H that of their gradients, sum_j w_j^2 mean(d_j t d_j u),
the smallest v'Gv / v'Hv over O and a border term is the smallest mean(g^2) among polynomials with
mean(|grad g|^2) = 1: to first order, the mean squared distance of the rows from the zeros of g.
It does not change with the unit of the columns' values but by its square, nor with the term that
leads. With weights w_j that are the noise of the columns it is a distance in standard deviations of
it. A derivative of a term is a multiple of a divisor. With the reduced border H costs no pass over
the rows, for all divisors are in O, and their products are in G; with the other one it costs one.

With debiased moments it is how generators are found, too: noise of variance s^2 adds s^2 H to G,
to first order, so that an error of the noise moves the eigenvalue and leaves the eigenvector.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, qr, solve_triangular

from vanishing.algebra import monomials
from vanishing.algebra.monomials import Border
from vanishing.constructions import settings
from vanishing.constructions.certificate import EPS, bounds_from_moments, bounds_from_rows
from vanishing.constructions.engine import LARGEST_SLAB, MonomialConstruction, Slab, stacked
from vanishing.estimators.fits import Remarks
from vanishing.rows.noise import KURTOSIS

_LARGEST_LEAD = 1e150  # of a leading coefficient whose square is multiplied by


class Candidate(NamedTuple):
    """The polynomial with the smallest mean square relative to its gradient, and what it is."""

    value: float
    v: np.ndarray  # over the independent terms of O and the border term
    verdict: bool | None  # whether it is a generator; None if rounding hides it
    dependent: bool = False  # whether the border term depends on the others, up to rounding


class GradientConstruction(MonomialConstruction):
    """Algorithm 2 with the smallest generalised eigenvalue for the mse."""

    max_slab = LARGEST_SLAB

    def __init__(self, options, rows, columns, noise=None):
        super().__init__(options, rows, columns)
        self.name = type(options).__name__
        n = len(columns)
        self.level = 0.0  # what is taken for zero
        self.values: list[float] = []  # mean squares of the generators
        self.weights = np.ones(n) if noise is None else noise_weights(noise)[columns]
        self.unit = self.weights  # by which gradients of length 1 are measured
        self.independent = [0]  # terms of O but those that joined it although they depend on others

    def settle(self, border: Border):
        """Let each of the border terms become the leading term of a generator or join O."""
        k, b = len(self.terms), len(border.terms)
        plan = self.plan.extended(border.parent, border.variable)
        cross, norm = self.rows.products(plan, slice(0, k + b), slice(k, k + b))
        if not self.is_finite(border, norm):
            return
        self.look_at_columns(border, cross[0], norm)
        cross = np.ascontiguousarray(cross)
        slab = Slab(border, cross[:k], norm, cross[k:], np.arange(b), np.zeros(b, dtype=bool))
        gram = np.block([[self.gram[:k, :k], cross[:k]], [cross[:k].T, cross[k:]]])
        derivatives = self._derivatives(border)
        slope = gradients(derivatives, k + b, self.weights)
        same = (self.weights == self.unit).all()
        plain = slope if same else gradients(derivatives, k + b, self.unit)
        self._look_at(gram, slope)
        used = list(self.independent)  # among O and the whole border
        joined: list[int] = []
        generators: dict[int, np.ndarray] = {}
        leads: dict[int, float] = {}
        triangle = None
        for j in range(b):
            terms = np.append(used, k + j)
            G, H, P = (matrix[np.ix_(terms, terms)] for matrix in (gram, slope, plain))
            best = self._by_moments(G, H, P)
            if best.verdict is None and self.rows.sees_rows:
                if triangle is None:
                    triangle = self.rows.triangular(plan, np.arange(k + b))
                best = self._by_rows(triangle[:, terms], best, H, slab, joined, j)
            if best.verdict:
                generators[j] = self._over_all(best.v, k + len(joined))
                leads[j] = self._lead(best.v, P)
                size = (best.v @ H @ best.v) * (leads[j] / best.v[-1]) ** 2
                self.values.append((best.value - self.level) * size)
                continue
            self.n_short += best.verdict is None
            if self.is_full(joined):
                break
            if not best.dependent:
                used.append(k + j)
                self.independent.append(k + len(joined))
            joined.append(j)
            self.grow_gram(slab, joined, len(joined) - 1)
        leaders, coef = stacked(generators, k + len(joined))
        leads_in_order = [leads[j] for j in leaders.tolist()]
        self.extend(border, np.array(joined, dtype=np.intp), leaders, coef, leads_in_order)

    def look_at_columns(self, border: Border, mean: np.ndarray, norm: np.ndarray) -> None:
        """Note the columns that vary less than psi, in the unit of distances."""
        unit = np.empty(len(self.columns))
        unit[self.columns] = self.unit
        of_border = unit[border.variable]
        super().look_at_columns(border, mean / of_border, norm / of_border**2)

    def _look_at(self, G, H) -> None:
        """See the Gram matrices of O and the whole border before its terms are settled."""

    def _derivatives(self, border: Border) -> list[tuple]:
        """Return, by column, the terms of O and the border with it, their powers, and moments.

        The moments are those of the quotients of these terms by the column.
        """
        terms = np.concatenate([self.terms, border.terms])
        quotients = []
        for j in range(terms.shape[1]):
            used = np.flatnonzero(terms[:, j])
            divisors = terms[used]
            divisors[:, j] -= 1
            quotients.append((used, terms[used, j], divisors))
        if self.border_kind == "gb":
            keys = monomials.keys(self.terms)
            order = np.argsort(keys, kind="stable")
            places = [
                order[monomials.contains(keys[order], monomials.keys(divisors))[1]]
                for _, _, divisors in quotients
            ]
            gram = self.gram
        else:
            # A divisor of a border term may lead a generator.
            plan, place = monomials.plan(np.concatenate([part[2] for part in quotients]))
            variable = np.where(plan.variable < 0, plan.variable, self.columns[plan.variable])
            needed, place = np.unique(place, return_inverse=True)
            gram, _ = self.rows.products(plan._replace(variable=variable), needed, needed)
            places = np.split(place, np.cumsum([len(part[0]) for part in quotients])[:-1])
        return [
            (used, power, gram[np.ix_(place, place)])
            for (used, power, _), place in zip(quotients, places, strict=True)
        ]

    def _by_moments(self, G, H, P) -> Candidate:
        """Decide a border term by moments, which have half of the digits."""
        if self.psi == 0.0:
            return Candidate(np.nan, np.zeros(len(G)), None)
        value, v, error = smallest(G, H)
        if not np.isfinite(value):
            return Candidate(value, v, None)
        rms = np.sqrt(np.maximum(G.diagonal(), 0.0))
        low, high = _bounds(bounds_from_moments, v @ G @ v, v, rms, H)
        if min(low, value - error) > self.psi:
            return Candidate(value, v, False)
        sure = high <= self.psi and self._leads(v, rms, H) and _has_gradient(v, H)
        return Candidate(value, v, True if sure else None)

    def _by_rows(self, columns, by_moments: Candidate, H, slab, joined, j) -> Candidate:
        """Decide it by the evaluated terms, given by a factor of them."""
        unit = in_unit(H)
        upper = qr(columns * unit, mode="r", check_finite=False)[0][: len(unit)]
        slope, rms = H * np.outer(unit, unit), np.linalg.norm(upper, axis=0)
        closed = closed_form(upper)
        residual = float(upper[-1, -1] ** 2)
        verdict: bool | None
        dependent = bool(_bounds(bounds_from_rows, residual, closed, rms, slope)[0] <= 0.0)
        if self.psi == 0.0:  # what vanishes exactly does so in any unit, and is the closed form
            value, v, verdict = residual, closed, dependent
        else:
            start = by_moments.v / unit if np.isfinite(by_moments.value) else closed
            value, v = refined(upper, slope, start)
            low, high = _bounds(bounds_from_rows, value, v, rms, slope)
            verdict = bool(low <= self.psi or dependent)
            if verdict and not (self._leads(v, rms, slope) and _has_gradient(v, slope)):
                verdict = None
        v = v * unit
        if verdict:
            coef, lead = self._over_all(v, len(self.terms) + len(joined)), self._lead(v, H)
            with np.errstate(over="ignore", invalid="ignore"):
                usable = np.isfinite(lead * coef).all() and np.isfinite(coef).all()
            if not (usable and 0.0 < lead < _LARGEST_LEAD) or (
                self.psi > 0.0 and not self.vanishes(slab, joined, j, coef, (low, high), lead)
            ):
                verdict = None
        return Candidate(value, v, verdict, dependent)

    def _leads(self, v, rms, H) -> bool:
        """Say whether the last term takes part: O alone has nothing that vanishes."""
        shares = (np.abs(v) * size for size in (rms, np.sqrt(np.maximum(H.diagonal(), 0.0))))
        return any(share[-1] > 1e-8 * share.max() for share in shares)

    def _lead(self, v, H) -> float:
        """Return the leading coefficient that normalises the generator."""
        size = v @ H @ v
        return abs(float(v[-1])) / np.sqrt(size) if size > 0.0 else np.inf

    def _over_all(self, v, size: int) -> np.ndarray:
        """Return coefficients over all of O, relative to the leading one."""
        coef = np.zeros(size)
        with np.errstate(over="ignore"):
            coef[self.independent] = v[:-1] / v[-1]
        return coef


class DebiasedConstruction(GradientConstruction):
    """The same from debiased moments, where a mean square is known up to its standard error.

    Before the terms of a border are settled, the smallest value over all of them and O is looked
    at: of a law it differs from zero by its standard error e, which the noise and the rows say.
    Up to 3 e it is therefore taken for zero, and other values relative to it: as if the noise had
    been given a little smaller or larger. Below -3 e there is no law but an artefact, for a mean
    square is not negative: too much noise was taken out, or the rows are too few for the degree.
    Nothing is a generator then. Nor is it where the next best polynomial over the same terms does
    no worse than by e: the rows do not say which of them vanishes. Columns count by their noise,
    relative to the largest; those without noise a little, for they have laws, too.
    """

    def __init__(self, options, rows, columns):
        noise = rows.moments.noise
        super().__init__(options, rows, columns, noise / noise.max())
        self.unit = np.ones(len(columns))
        self.unit_norm = getattr(options, "normalization", None) == "coefficients"
        self.by_gradient = getattr(options, "normalization", None) == "gradient"
        self.error = noise.max() ** 2 * np.sqrt(2.0 * KURTOSIS / rows.n_samples)
        self.indefinite: int | None = None  # the degree from which on mean squares are negative

    def _look_at(self, G, H) -> None:
        value, _, rounding = smallest(G, H)
        zero = settings.STANDARD_ERRORS * self.error
        self.level = value if abs(value) <= zero else 0.0
        if not value >= -zero - rounding and self.indefinite is None:
            self.indefinite = int(self.terms[-1].sum()) + 1

    def _by_moments(self, G, H, P) -> Candidate:
        value, v, _ = smallest(G, H)
        return Candidate(value, v, self._verdict(value, v, G, H, P))

    def _verdict(self, value, v, G, H, P) -> bool | None:
        rms = np.sqrt(np.abs(G.diagonal()))
        if self.indefinite is not None or not self._leads(v, rms, H):
            return False
        size, lead = v @ H @ v, self._lead(v, P)
        if not 0.0 < lead < _LARGEST_LEAD:
            return False
        unit = size * (lead / v[-1]) ** 2
        low, high = bounds_from_moments(0.0, np.abs(v) @ rms, len(v))
        rounding = (high - low) / size
        excess = value - self.level
        if (
            rounding > self.error
            and (excess - rounding) * unit <= self.psi < (excess + rounding) * unit
        ):
            return None
        if excess * unit > self.psi:
            return False
        following = smallest(G, H, which=1)[0] if len(v) > 2 else np.inf
        return following > value + self.error

    def result(self) -> dict:
        """Return what `set_monomials` takes, with mean squares as they were judged."""
        return {**super().result(), "mse": np.maximum(self.values, 0.0)}

    def _lead(self, v, H) -> float:
        if self.by_gradient:
            return super()._lead(v, H)
        return float(v[-1] / np.linalg.norm(v)) if self.unit_norm else 1.0

    def remarks(self) -> Remarks:
        """Say also where the debiased moments are none of any rows."""
        remarks = super().remarks()
        if self.indefinite is None:
            return remarks
        message = (
            f"from degree {self.indefinite} on the debiased Gram matrix is indefinite beyond its "
            "standard error, which no rows can have, and nothing is taken for a generator: the "
            "noise is smaller than given or not Gaussian, or the rows are too few."
        )
        return remarks._replace(problems=(*remarks.problems, message))

    def shortfall(self) -> str:
        """Say why terms that may vanish joined O, and what to do about it."""
        return (
            f"{self.n_short} border terms joined O although they may vanish: rounding of the "
            "moments hides whether they do. Scale the columns into [-1, 1], or take a larger psi."
        )


def noise_weights(noise: np.ndarray) -> np.ndarray:
    """Return what derivatives by columns count for: those without noise a little."""
    return np.maximum(noise, settings.NO_NOISE * noise.max())


def gradients(derivatives: list[tuple], size: int, weights) -> np.ndarray:
    """Return H over ``size`` terms from what `_derivatives` returns."""
    total = np.zeros((size, size))
    for (used, power, products), weight in zip(derivatives, weights, strict=True):
        power = weight * power
        total[np.ix_(used, used)] += np.outer(power, power) * products
    return total


def _has_gradient(v, H) -> bool:
    """Say whether v'Hv is known: far from the origin, derivatives of large terms cancel."""
    scale = np.abs(v) @ np.sqrt(H.diagonal())
    return bool(1000.0 * len(v) * EPS * scale * scale <= v @ H @ v)


def _bounds(bounds, mse, v, rms, H) -> tuple[float, float]:
    """Return an interval that holds v'Gv / v'Hv."""
    size = v @ H @ v
    low, high = bounds(max(mse, 0.0), np.abs(v) @ rms, len(v))
    return (low / size, high / size) if size > 0.0 else (-np.inf, np.inf)


def smallest(G, H, which=0) -> tuple[float, np.ndarray, float]:
    """Return the smallest value of v'Gv / v'Hv (or the next), where it is attained, and its error.

    The constant has no gradient: it is eliminated, which leaves the covariance of the others. In
    units in which the terms have gradients of size 1, for terms of very different size. Minus
    infinity where H is indefinite, nan where there is an overflow.
    """
    unit = in_unit(H)
    mean = G[0, 1:] / G[0, 0]
    covariance = (G[1:, 1:] - np.outer(G[1:, 0], mean)) * np.outer(unit, unit)[1:, 1:]
    slope = (H * np.outer(unit, unit))[1:, 1:]
    slope.flat[:: len(slope) + 1] += 1e-10  # smaller gradients count as no smaller
    nothing = np.eye(len(G))[-1]
    if not (np.isfinite(covariance).all() and np.isfinite(slope).all()):
        return np.nan, nothing, np.inf
    try:
        lower = cholesky(slope, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # debiased too far, H is not that of any rows either
        return -np.inf, nothing, np.inf
    half = solve_triangular(lower, covariance, lower=True, check_finite=False)
    standard = solve_triangular(lower, half.T, lower=True, check_finite=False)
    if not np.isfinite(standard).all():
        return np.nan, nothing, np.inf
    values, vectors = eigh(standard, subset_by_index=[which, which])
    vector = solve_triangular(lower, vectors[:, 0], lower=True, trans="T") * unit[1:]
    v = np.append(-mean @ vector, vector)
    error = 10.0 * len(v) * EPS * np.abs(standard.diagonal()).sum()
    return float(values[0]), v * (1.0 if v[-1] >= 0 else -1.0), error


def in_unit(H) -> np.ndarray:
    """Return what terms have to be multiplied by to have gradients of size 1, if they have any."""
    size = H.diagonal()
    return 1.0 / np.sqrt(np.where(size > 1e-290, size, 1.0))  # below it squares have lost digits


def closed_form(upper) -> np.ndarray:
    """Return least squares of the last column by the others."""
    factor = solvable(upper[:-1, :-1])
    return np.append(-solve_triangular(factor, upper[:-1, -1], check_finite=False), 1.0)


def solvable(upper) -> np.ndarray:
    """Return a triangular factor with something to divide by: entries, or rounding of them."""
    size = np.linalg.norm(upper, axis=0)
    floor = EPS * np.where(size > 0.0, size, EPS * size[size > 0.0].min(initial=1.0))
    diagonal = upper.diagonal()
    return upper + np.diag(np.where(np.abs(diagonal) < floor, floor - diagonal, 0.0))


def refined(upper, H, v) -> tuple[float, np.ndarray]:
    """Return the smallest value from a factor of the evaluated terms, by inverse iteration."""
    factor = solvable(upper)
    best = (np.inf, v)
    for _ in range(50):
        size = np.sqrt(v @ H @ v)
        value = float(np.sum((upper @ (v / size)) ** 2)) if size > 0.0 else np.inf
        if not value < (1.0 - 1e-12) * best[0]:
            break
        best = (value, v / size)
        image = solve_triangular(factor, H @ (v / size), trans="T", check_finite=False)
        image = solve_triangular(factor, image / np.abs(image).max(), check_finite=False)
        v = image / np.abs(image).max()
    value, v = best
    return value, v * (1.0 if v[-1] >= 0 else -1.0)
