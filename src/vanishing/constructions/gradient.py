"""Generators normalised by their gradients: border terms decided by generalised eigenvalues.

With G the Gram matrix of the terms and H that of their gradients, sum_j w_j^2 mean(d_j t d_j u),
the smallest v'Gv / v'Hv over O and a border term is the smallest mean(g^2) among polynomials with
mean(|grad g|^2) = 1: to first order, the mean squared distance of the rows from the zeros of g.
It does not change with the unit of the columns' values but by its square, nor with the term that
leads. H costs no pass over the rows: a derivative of a term is a multiple of a divisor, all
divisors are in O, and their products are in G.

With debiased moments it is how generators are found, too: noise of variance s^2 adds s^2 H to G,
to first order, so that an error of the noise moves the eigenvalue and leaves the eigenvector.
"""

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular

from vanishing.algebra import monomials
from vanishing.algebra.monomials import Border
from vanishing.constructions.certificate import EPS, bounds_from_moments, bounds_from_rows
from vanishing.constructions.engine import Construction, Remarks, Slab

_FLAT = 1e-10  # of the mean of H's diagonal: gradients so small count as no smaller
_STEPS = 50  # of an inverse iteration
_LARGEST_SLAB = 1024  # products among all border terms of a slab are needed
_KURTOSIS = 3.0  # mean(|grad g|^4) over mean(|grad g|^2)^2, taken for granted


class GradientConstruction(Construction):
    """Algorithm 2 with the smallest generalised eigenvalue for the mse."""

    max_slab = _LARGEST_SLAB

    def __init__(self, options, rows, columns, weights=None):
        super().__init__(options, rows, columns)
        self.name = type(options).__name__
        n = len(columns)
        self.level = 0.0  # what is taken for zero
        self.values: list[float] = []  # mean squares of the generators
        self.weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)[columns]

    def settle(self, border: Border):
        """Let each of the border terms become the leading term of a generator or join O."""
        k, b = len(self.terms), len(border.terms)
        plan = self.plan.extended(border.parent, border.variable)
        cross, norm = self.rows.products(plan, slice(0, k + b), slice(k, k + b))
        if not self.is_finite(border, norm):
            return
        slab = Slab(border, cross[:k], norm, cross[k:], np.arange(b))
        slope = self._gradients(border)
        self._look_at(np.block([[self.gram[:k, :k], cross[:k]], [cross[:k].T, cross[k:]]]), slope)
        triangle = None
        joined: list[int] = []
        found: dict[int, np.ndarray] = {}
        leads: dict[int, float] = {}
        for j in range(b):
            terms = np.r_[0:k, k + np.array(joined, dtype=int), k + j]
            G, H = self._bordered(slab, joined, j), slope[np.ix_(terms, terms)]
            value, v = smallest(G, H)
            verdict = self._verdict(value, v, G, H)
            if verdict is None and self.rows.sees_rows:
                if triangle is None:
                    triangle = self.rows.triangular(plan, np.arange(k + b))
                value, v = refined(triangle[:, terms], H, v)
                verdict = self._verdict(value, v, G, H, from_rows=True)
            if verdict is None:
                self.n_short += 1
            if verdict:
                found[j], leads[j] = v[:-1] / v[-1], self._lead(v, H)
                self.values.append((value - self.level) * (v @ H @ v) * (leads[j] / v[-1]) ** 2)
                continue
            if self.is_full(joined):
                break
            self.grow_gram(slab, joined, j)
            joined.append(j)
        self.extend(border, np.array(joined, dtype=int), found, leads)

    def _look_at(self, G, H) -> None:
        """See the Gram matrices of O and the whole border before its terms are settled."""

    def _gradients(self, border: Border) -> np.ndarray:
        """Return H over O and the border terms, from the moments of O."""
        terms = np.concatenate([self.terms, border.terms])
        keys = monomials.keys(self.terms)
        order = np.argsort(keys, kind="stable")
        total = np.zeros((len(terms), len(terms)))
        for j, weight in enumerate(self.weights):
            used = np.flatnonzero(terms[:, j])
            divisors = terms[used]
            divisors[:, j] -= 1
            place = order[monomials.contains(keys[order], monomials.keys(divisors))[1]]
            power = weight * terms[used, j]
            total[np.ix_(used, used)] += np.outer(power, power) * self.gram[np.ix_(place, place)]
        return total

    def _bordered(self, slab: Slab, joined: list[int], j: int) -> np.ndarray:
        """Return the Gram matrix of O, the terms that joined it, and border term j."""
        size = len(self.terms) + len(joined)
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self.gram[:size, :size]
        gram[size, :size] = gram[:size, size] = slab.cross_over(joined, j)
        gram[size, size] = slab.norm[j]
        return gram

    def _verdict(self, value, v, G, H, from_rows=False) -> bool | None:
        """Say whether a polynomial vanishes; None if rounding hides it."""
        size = v @ H @ v
        scale = np.abs(v) @ np.sqrt(np.maximum(G.diagonal(), 0.0))
        bounds = bounds_from_rows if from_rows else bounds_from_moments
        low, high = (bound / size for bound in bounds(max(value, 0.0) * size, scale, len(v)))
        if high <= self.psi or (from_rows and self.psi == 0.0 and low <= 0.0):
            return self._leads(v, G)
        return False if low > self.psi else None

    def _leads(self, v, G) -> bool:
        """Say whether the last term takes part: O alone has nothing that vanishes."""
        share = np.abs(v) * np.sqrt(np.maximum(G.diagonal(), 0.0))
        return bool(share[-1] > 1e-8 * share.max())

    def _lead(self, v, H) -> float:
        """Return the leading coefficient that normalises the generator."""
        return abs(float(v[-1])) / np.sqrt(v @ H @ v)


class DebiasedConstruction(GradientConstruction):
    """The same from debiased moments, where a mean square is known up to its standard error.

    Before the terms of a border are settled, the smallest value over all of them and O is looked
    at: of a law it differs from zero by its standard error e, which the noise and the rows say.
    Up to 3 e it is therefore taken for zero, and other values relative to it: as if the noise had
    been given a little smaller or larger. Below -3 e there is no law but an artefact, for a mean
    square is not negative: too much noise was taken out, or the rows are too few for the degree.
    Nothing is a generator then. Nor is it where the next best polynomial over the same terms does
    no worse than by e: the rows do not say which of them vanishes. Columns count by their noise,
    relative to the largest.
    """

    def __init__(self, options, rows, columns):
        noise = rows.moments.noise
        super().__init__(options, rows, columns, noise / noise.max())
        self.unit_norm = getattr(options, "normalization", None) == "coefficients"
        self.by_gradient = getattr(options, "normalization", None) == "gradient"
        self.error = noise.max() ** 2 * np.sqrt(2.0 * _KURTOSIS / rows.n_samples)
        self.indefinite: int | None = None  # the degree from which on mean squares are negative

    def _look_at(self, G, H) -> None:
        value = smallest(G, H)[0]
        self.level = value if abs(value) <= 3.0 * self.error else 0.0
        if value < -3.0 * self.error and self.indefinite is None:
            self.indefinite = int(self.terms[-1].sum()) + 1

    def _verdict(self, value, v, G, H, from_rows=False) -> bool | None:
        if self.indefinite is not None or not self._leads(v, G):
            return False
        size = v @ H @ v
        unit = size * (self._lead(v, H) / v[-1]) ** 2
        low, high = bounds_from_moments(0.0, np.abs(v) @ np.sqrt(np.abs(G.diagonal())), len(v))
        rounding = (high - low) / size
        if (value - self.level - rounding) * unit > self.psi:
            return False
        if (value - self.level + rounding) * unit > self.psi and rounding > self.error:
            return None
        following = smallest(G, H, which=1)[0] if len(v) > 2 else np.inf
        return following > value + self.error

    def result(self) -> dict:
        """Return what `MonomialTransformer._store` takes, with mean squares as they were judged."""
        found = super().result()
        return {**found, "mse": np.maximum(self.values, 0.0)}

    def _lead(self, v, H) -> float:
        if self.by_gradient:
            return super()._lead(v, H)
        return float(v[-1] / np.linalg.norm(v)) if self.unit_norm else 1.0

    def remarks(self) -> Remarks:
        """Say also where the debiased moments are none of any rows."""
        found = super().remarks()
        if self.indefinite is None:
            return found
        said = (
            f"from degree {self.indefinite} on the debiased Gram matrix is indefinite beyond its "
            "standard error, which no rows can have, and nothing is taken for a generator: the "
            "noise is smaller than given or not Gaussian, or the rows are too few."
        )
        return found._replace(problems=(*found.problems, said))

    def shortfall(self) -> str:
        """Say why terms that may vanish joined O, and what to do about it."""
        return (
            f"{self.n_short} border terms joined O although they may vanish: rounding of the "
            "moments hides whether they do. Scale the columns into [-1, 1], or take a larger psi."
        )


def smallest(G, H, which=0) -> tuple[float, np.ndarray]:
    """Return the smallest value of v'Gv / v'Hv (or the next one), and where it is attained.

    The constant has no gradient: it is eliminated, which leaves the covariance of the others. In
    units in which the terms have size 1, for terms of very different size. Minus infinity where H
    is indefinite.
    """
    unit = 1.0 / np.sqrt(np.where(G.diagonal() > 0.0, G.diagonal(), 1.0))
    G, H = G * np.outer(unit, unit), H * np.outer(unit, unit)
    mean = G[0, 1:] / G[0, 0]
    covariance = G[1:, 1:] - np.outer(G[1:, 0], mean)
    slope = H[1:, 1:].copy()
    slope.flat[:: len(slope) + 1] += _FLAT * slope.trace() / len(slope) or 1.0
    try:
        values, vectors = eigh(covariance, slope, subset_by_index=[which, which])
    except np.linalg.LinAlgError:  # debiased too far, H is not that of any rows either
        return -np.inf, np.eye(len(G))[-1]
    v = np.concatenate([[-mean @ vectors[:, 0]], vectors[:, 0]]) * unit
    return float(values[0]), v * (1.0 if v[-1] >= 0 else -1.0)


def refined(columns, H, v) -> tuple[float, np.ndarray]:
    """Return the same from a factor of the evaluated terms, by inverse iteration from v."""
    upper = qr(columns, mode="r", check_finite=False)[0][: columns.shape[1]]
    diagonal = np.abs(upper.diagonal())
    floor = EPS * np.linalg.norm(upper, axis=0)
    solvable = upper + np.diag(np.where(diagonal < floor, np.maximum(floor, 1e-300), 0.0))
    best = (np.inf, v)
    for _ in range(_STEPS):
        size = np.sqrt(v @ H @ v)
        value = float(np.sum((upper @ (v / size)) ** 2))
        if not value < (1.0 - 1e-12) * best[0]:
            break
        best = (value, v / size)
        image = solve_triangular(solvable, H @ (v / size), trans="T", check_finite=False)
        image = solve_triangular(solvable, image / np.abs(image).max(), check_finite=False)
        v = image / np.abs(image).max()
    value, v = best
    return value, v * (1.0 if v[-1] >= 0 else -1.0)
