"""Polynomial laws among columns that all have noise, or none: no column is singled out.

A law has least mean square against the mean square of its gradient: v'Gv / v'Hv, with H the sum
over columns of their noise's variance times the Gram matrix of derivatives. Noise makes moments
too large; what it adds is known where its size is, and is taken out (Hermite polynomials).
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh

from vanishing.laws.choose import EVIDENCE
from vanishing.laws.ratios import least_ratio, ratio_supports
from vanishing.laws.refit import price
from vanishing.laws.sample import columns_of
from vanishing.laws.surrogate import exponents_up_to
from vanishing.rows.source import Part

_EXACT_TERMS, _NOISY_TERMS = 220, 130
_EXACT = 1e-12  # singular value of terms that a law without noise connects
_LARGEST_NOISE = 0.2  # relative to the spread of columns: beyond it nothing can be told
_FOLLOWS = 1e-7  # singular value of terms that laws found before connect
_FOLLOWS_NOISY = 3e-3  # the same for laws whose coefficients have errors
_ENOUGH = 200.0  # evidence beyond which nobody asks
_CHECKED = 400  # candidates that are looked at closely
_ORDERS = 60  # of the columns, in which sparse vectors are looked for


class Equation(NamedTuple):
    """A polynomial that vanishes on scaled columns.

    Attributes
    ----------
    exponents : array of int of shape (n_terms, n_columns)
    coef : array of shape (n_terms,)
    ratio : float
        v'Gv / v'Hv: the mean square of its error over that of the noise; 0 where it is exact.
    evidence : float
        Distance in score to the best really different equation.
    exact : bool
    """

    exponents: np.ndarray
    coef: np.ndarray
    ratio: float
    evidence: float
    exact: bool


def hermite(columns: np.ndarray, noise: np.ndarray, highest: int) -> np.ndarray:
    """Return powers of columns freed from noise, shape (n_columns, highest + 1, n_rows).

    E[h_k(x + e)] = x^k for e of standard deviation s: h_{k+1} = x h_k - k s^2 h_{k-1}.
    """
    powers = np.empty((len(columns), highest + 1, columns.shape[1]))
    powers[:, 0] = 1.0
    if highest:
        powers[:, 1] = columns
    for k in range(1, highest):
        powers[:, k + 1] = columns * powers[:, k] - k * (noise**2)[:, None] * powers[:, k - 1]
    return powers


def _means(powers, exponents: np.ndarray, weight) -> np.ndarray:
    """Return the weighted means of products of powers, one for each row of exponents."""
    found = np.empty(len(exponents))
    for i, row in enumerate(exponents):
        value = weight
        for column in np.flatnonzero(row):
            value = value * powers[column, row[column]]
        found[i] = value.sum()
    return found / weight.sum()


class Matrices(NamedTuple):
    """Gram matrices of terms and of their gradients, both without what noise adds."""

    gram: np.ndarray
    slope: np.ndarray


def matrices(
    columns, weight, exponents: np.ndarray, noise: np.ndarray, unit: np.ndarray
) -> Matrices:
    """Return both matrices; gradients are in units of ``unit``, the noise to be found or known."""
    k, n = exponents.shape
    powers = hermite(columns, noise, 2 * int(exponents.max(initial=1)))
    sums = exponents[:, None, :] + exponents[None, :, :]
    upper = np.triu_indices(k)
    # The same sum of exponents occurs many times: each mean is taken once.
    distinct, place = np.unique(sums[upper], axis=0, return_inverse=True)
    means = dict(zip(map(tuple, distinct.tolist()), _means(powers, distinct, weight), strict=True))
    values = np.array([means[tuple(row)] for row in distinct.tolist()])[place.ravel()]
    gram = np.zeros((k, k))
    gram[upper] = values
    gram = gram + np.triu(gram, 1).T
    slope = np.zeros((k, k))
    for column in range(n):
        lowered = sums.copy()
        lowered[:, :, column] -= 2
        both = np.outer(exponents[:, column], exponents[:, column])
        used = np.argwhere(both > 0)
        wanted = [tuple(lowered[i, j].tolist()) for i, j in used]
        missing = sorted({row for row in wanted if row not in means})
        if missing:
            more = _means(powers, np.array(missing), weight)
            means.update(zip(missing, more, strict=True))
        for (i, j), row in zip(used, wanted, strict=True):
            slope[i, j] += unit[column] ** 2 * both[i, j] * means[row]
    return Matrices(gram, slope)


def _full_ratio(found: Matrices, share: float) -> float:
    """Return the least (v'Gv + share v'Hv) / v'Hv over all terms; the sum is safely positive."""
    gram = found.gram + share * found.slope
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    left = gram / scale / scale[:, None]
    right = found.slope / scale / scale[:, None]
    left[np.diag_indices_from(left)] += 1e-13 * len(left)
    last = len(left) - 1
    try:
        largest = eigh(right, left, eigvals_only=True, subset_by_index=[last, last])[0]
    except LinAlgError:  # moments of high degree, without noise: nothing can be told
        return np.inf
    return 1.0 / float(largest) if largest > 0 else np.inf


class Symmetric:
    """The search for polynomial laws among columns.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
        Scaled.
    weight : array of shape (n_rows,)
    noise : array of shape (n_columns,) or None
        Standard deviations, scaled; None where they are to be found, in proportion to the spread.
    """

    def __init__(self, columns, weight, noise, max_degree, max_terms, progress, must=None):
        self.columns, self.weight, self.noise = columns, weight, noise
        self.max_degree, self.max_terms, self.progress = max_degree, max_terms, progress
        self.must = must  # a column that an equation must have
        self.is_estimated = self.was_estimated = False
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
        self.highest = np.minimum(np.array(distinct) - 1, max_degree)

    def equations(self, n_laws: int) -> list[Equation]:
        """Return independent equations, the best first."""
        found: list[Equation] = []
        if self.noise is None or not self.noise.any():
            self._exact_equations(found, n_laws)
        if found or (self.noise is not None and not self.noise.any()):
            return found
        if self.noise is None and not self._estimate_noise():
            return found
        while len(found) < n_laws:
            equation = self._noisy(found)
            if equation is None:
                break
            found.append(equation)
        return found

    def _exact_equations(self, found, n_laws) -> None:
        """Add the equations of each degree that do not follow from those before."""
        for degree in range(1, self.max_degree + 1):
            exponents = self._terms(degree)
            while exponents is not None and len(found) < n_laws:
                self.progress()
                equation = self._exact(exponents, found)
                if equation is None:
                    break
                found.append(equation)

    def _terms(self, degree, limit=_EXACT_TERMS) -> np.ndarray | None:
        """Return the exponents up to a degree, or None where they are too many."""
        if comb(len(self.columns) + degree, degree) > 20 * limit:
            return None
        rows = exponents_up_to(len(self.columns), 20 * limit, degree)
        rows = rows[(rows <= self.highest).all(axis=1)]
        return rows if 2 <= len(rows) <= limit else None

    # -- Tables without noise ---------------------------------------------------------------------

    def _exact(self, exponents, found) -> Equation | None:
        values = _evaluated(self.columns, exponents) * np.sqrt(self.weight)
        n_rows = min(values.shape[1], 2 * len(values) + 100)
        matrix = values[:, :n_rows].T
        scale = np.sqrt(np.mean(matrix**2, axis=0))
        if n_rows < len(values) + 10 or not scale.all():
            return None
        _, singular, vectors = np.linalg.svd(matrix / scale, full_matrices=False)
        null = vectors[singular < _EXACT * singular[0]]
        highest = max((e.exponents.sum(axis=1).max() for e in found), default=0)
        beyond = exponents.sum(axis=1).max() > highest + 1
        if beyond and len(null) <= _rank_of_multiples(found, exponents):
            return None
        follows = self._implied(found)
        for part in sparse_supports_of(null, self.max_terms)[:_CHECKED]:
            if np.count_nonzero(exponents[part].any(axis=0)) < 2:
                continue
            _, singular, few = np.linalg.svd(matrix[:, part] / scale[part], full_matrices=False)
            if singular[-1] < _EXACT * singular[0] and (np.abs(few[-1]) > 1e-8).all():
                equation = Equation(exponents[part], few[-1] / scale[part], 0.0, np.inf, True)
                if self._is_asked(equation.exponents) and not follows(equation):
                    return equation
        return None

    # -- Tables with noise ------------------------------------------------------------------------

    def _estimate_noise(self) -> bool:
        """Set the noise to the least that the terms of any degree leave; say whether it is small.

        Noise is in proportion to the spread of the columns. A law of a low degree that leaves more
        is an approximation, which terms of a higher degree tell from one.
        """
        least = np.inf
        for exponents in self._noisy_terms():
            scale = 0.0
            for _ in range(3):
                both = self._matrices(exponents, scale * self.spread, self.spread)
                ratio = _full_ratio(both, scale**2) * self.count / (self.count - len(exponents))
                if not ratio < _LARGEST_NOISE**2:
                    break
                scale = np.sqrt(ratio)
            least = min(least, ratio)
            self.progress()
        if not least < _LARGEST_NOISE**2:
            return False
        self.noise = np.sqrt(least) * self.spread
        self.is_estimated = self.was_estimated = True
        return True

    def _noisy_terms(self):
        for degree in range(1, self.max_degree + 1):
            exponents = self._terms(degree, _NOISY_TERMS)
            if exponents is None or self.count < 8 * len(exponents):
                return
            yield exponents

    def _matrices(self, exponents, noise, unit) -> Matrices:
        return matrices(self.columns, self.weight, exponents, noise, unit)

    def _noisy(self, found) -> Equation | None:
        """Return the best equation of any degree that does not follow from those found."""
        candidates: list[tuple[float, Equation]] = []
        for exponents in self._noisy_terms():
            self.progress()
            candidates += self._of_degree(exponents)
        candidates.sort(key=lambda item: item[0])
        follows = self._implied(found)
        for score, equation in candidates[:_CHECKED]:
            if follows(equation) or not self._is_significant(equation):
                continue
            evidence = self._evidence(equation, candidates, score, found)
            if evidence < EVIDENCE or not self._is_allowed(equation.exponents):
                return None
            if self.is_estimated:
                # The law says what the noise is.
                self.noise, self.is_estimated = np.sqrt(equation.ratio) * self.noise, False
                equation = equation._replace(ratio=1.0)
            return equation._replace(evidence=evidence)
        return None

    def _of_degree(self, exponents):
        """Yield (score, equation) of supports that leave hardly more than all terms of a degree."""
        k = len(exponents)
        both = self._matrices(exponents, self.noise, self.noise)
        least = _full_ratio(both, 1.0)
        # A ratio of 1 is that of the noise; estimated noise is the least that was seen.
        if least > (2.5 if self.is_estimated else 1.2):
            return
        gram = both.gram + both.slope
        scale = np.sqrt(gram.diagonal())
        gram, slope = gram / scale / scale[:, None], both.slope / scale / scale[:, None]
        floor = (1 + 4 * np.sqrt(2 / self.count)) * (least if self.is_estimated else 1.0)
        limit = (1 + (k + 5 * np.sqrt(2 * k)) / self.count) * floor
        cost = price(self.count)
        for support, ratio in ratio_supports(gram, slope, limit, self.max_terms, self.progress):
            places = list(support)
            part = exponents[places]
            if part.min(axis=0).any() or not self._is_asked(part):
                continue
            # Less than the noise is chance, or rows of little noise that a multiple of a law favours.
            score = self.count * np.log(max(ratio / floor, 1.0))
            score += cost * len(support) + 3.0 * part.sum()
            vector = least_ratio(gram, slope, places)[1] / scale[places]
            yield float(score), Equation(part, vector, float(ratio), np.inf, False)

    def _is_asked(self, exponents) -> bool:
        """Say whether an equation has two columns or more, and the one it must have."""
        used = exponents.any(axis=0)
        return np.count_nonzero(used) >= 2 and (self.must is None or bool(used[self.must]))

    def _is_allowed(self, exponents) -> bool:
        r = np.count_nonzero(exponents.any(axis=0)) - 1
        return len(exponents) <= max(r + 3 + (r >= 3), 2 * r - 2)

    def _evidence(self, equation, candidates, score, found) -> float:
        """Return the distance in score to the best other explanation of the same rows.

        That is an equation which nearly holds where this one does, and is not the same: one that
        fails there is a law of its own.
        """
        points = self._points([*found, equation])
        for other, candidate in candidates[: 3 * _CHECKED]:
            if other - score > _ENOUGH:
                break
            same = candidate is equation or _vanishes(points, candidate.exponents, _FOLLOWS)
            if not same and self._is_near(candidate, points):
                return other - score
        return _ENOUGH

    def _implied(self, found) -> Callable[[Equation], bool]:
        """Return a test of whether an equation follows from laws which were found.

        It does so where its terms vanish on points of theirs, or approximately: within the noise.

        What several laws imply together is told nevertheless where it is as short as they are:
        the energy of a collision, beside its momentum.
        """
        tolerance = _FOLLOWS if all(e.exact for e in found) else _FOLLOWS_NOISY
        single = [self._points([equation]) for equation in found]
        together = self._points(found) if len(found) > 1 else None
        longest = max((len(e.coef) for e in found), default=0)

        def follows(equation) -> bool:
            exponents = equation.exponents
            if any(_vanishes(points, exponents, tolerance) for points in single):
                return True
            if not equation.exact and any(self._is_near(equation, points) for points in single):
                return True
            long = len(exponents) > longest
            return together is not None and long and _vanishes(together, exponents, tolerance)

        return follows

    def _is_near(self, equation: Equation, points) -> bool:
        """Say whether an equation holds on points within a few times the noise."""
        value = equation.coef @ _evaluated(points, equation.exponents)
        slope = _gradient(points, equation) * self.noise[:, None]
        with np.errstate(all="ignore"):
            return bool(np.median(np.abs(value) / np.sqrt((slope**2).sum(axis=0))) < 5.0)

    def _is_significant(self, equation: Equation) -> bool:
        """Say whether each term is needed: its coefficient is not zero within four errors."""
        part = Part(self.columns.T, None, self.weight)
        ones = np.ones(len(self.columns))
        coef, covariance, _ = fitted_equation(
            equation, self.noise, ones, lambda question, combine: question(part)
        )
        error = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        needed = np.abs(coef) > 4 * error
        return bool(needed.all())

    def _points(self, equations) -> np.ndarray:
        """Return points near the rows where equations hold, and nothing else does."""
        random = np.random.default_rng(0)
        start = self.columns[:, :300]
        start = start + 0.3 * self.spread[:, None] * random.normal(size=start.shape)
        points = projected(start, equations, self.spread)
        values = [e.coef @ _evaluated(points, e.exponents) for e in equations]
        sizes = [np.abs(e.coef) @ np.abs(_evaluated(points, e.exponents)) for e in equations]
        with np.errstate(invalid="ignore"):
            good = np.all(np.abs(values) < 1e-9 * np.array(sizes), axis=0)
        return points[:, good]


def _vanishes(points: np.ndarray, exponents, tolerance: float) -> bool:
    """Say whether some combination of terms vanishes on points."""
    if points.shape[1] < 2 * len(exponents):
        return True  # hardly a point is left: there is nothing more to say
    values = _evaluated(points, exponents)
    # Points that went far would outweigh the others.
    values /= np.sqrt(np.mean(values**2, axis=0))
    values /= np.sqrt(np.mean(values**2, axis=1))[:, None]
    singular = np.linalg.svd(values, compute_uv=False)
    return bool(singular[-1] < tolerance * singular[0])


def _rank_of_multiples(found: Sequence[Equation], exponents) -> int:
    """Return the dimension of the multiples of equations, by terms, that some terms can express."""
    place = {tuple(row): i for i, row in enumerate(exponents.tolist())}
    rows = []
    for equation in found:
        for factor in exponents:
            places = [place.get(tuple(row)) for row in (equation.exponents + factor).tolist()]
            if None not in places:
                row = np.zeros(len(exponents))
                row[places] = equation.coef / np.abs(equation.coef).max()
                rows.append(row)
    return int(np.linalg.matrix_rank(np.array(rows), tol=1e-9)) if rows else 0


def sparse_supports_of(null: np.ndarray, max_terms: int) -> list[np.ndarray]:
    """Return supports of vectors of a space with few entries, the sparsest first.

    They are rows of reduced echelon forms, for many orders of the columns.
    """
    if not len(null):
        return []
    random = np.random.default_rng(0)
    found: dict[tuple[int, ...], None] = {}
    for trial in range(1 if len(null) == 1 else _ORDERS):
        order = np.arange(null.shape[1])[::-1] if not trial else random.permutation(null.shape[1])
        rows = _echelon(null, order)
        used = np.abs(rows) > 1e-6 * np.abs(rows).max(axis=1)[:, None]
        for row in used[used.sum(axis=1) <= max_terms]:
            found[tuple(np.flatnonzero(row).tolist())] = None
    return [np.array(support) for support in sorted(found, key=lambda s: (len(s), s))]


def _echelon(space: np.ndarray, order) -> np.ndarray:
    """Return the reduced echelon form of a space, with pivots in some order of the columns."""
    rows, used = space.copy(), 0
    for column in order:
        place = used + int(np.argmax(np.abs(rows[used:, column])))
        if abs(rows[place, column]) < 1e-8:
            continue
        rows[[used, place]] = rows[[place, used]]
        rows[used] /= rows[used, column]
        others = np.arange(len(rows)) != used
        rows[others] -= np.outer(rows[others, column], rows[used])
        used += 1
        if used == len(rows):
            break
    return rows


def _evaluated(columns, exponents) -> np.ndarray:
    powers = hermite(columns, np.zeros(len(columns)), int(exponents.max(initial=0)))
    values = np.ones((len(exponents), columns.shape[1]))
    for value, row in zip(values, exponents, strict=True):
        for column in np.flatnonzero(row):
            value *= powers[column, row[column]]
    return values


def _gradient(columns, equation: Equation) -> np.ndarray:
    rows = np.zeros_like(columns)
    for column in range(len(columns)):
        lowered = equation.exponents.copy()
        factor = lowered[:, column] * equation.coef
        lowered[:, column] = np.maximum(lowered[:, column] - 1, 0)
        rows[column] = factor @ _evaluated(columns, lowered)
    return rows


def projected(points: np.ndarray, equations: Sequence[Equation], spread: np.ndarray) -> np.ndarray:
    """Return points moved onto all equations, by Newton steps of least length."""
    points = points.copy()
    for _ in range(30):
        values = np.array([e.coef @ _evaluated(points, e.exponents) for e in equations])
        slopes = np.array([_gradient(points, e) for e in equations]) * spread[None, :, None]
        across = np.einsum("icm,jcm->mij", slopes, slopes)
        size = np.einsum("mii->m", across)[:, None, None] * 1e-12 + 1e-300
        step = np.linalg.solve(across + size * np.eye(len(equations)), values.T[:, :, None])[
            :, :, 0
        ]
        points -= spread[:, None] * np.einsum("icm,mi->cm", slopes, step)
    return points


class Debiased:
    """The question for the sums that the coefficients of a polynomial law follow from."""

    def __init__(self, exponents, noise, units, coef=None):
        self.exponents, self.noise, self.units, self.coef = exponents, noise, units, coef

    def __call__(self, part: Part):
        """Return sums of D = freed products of terms, or of D v v' D' once v is known."""
        columns = columns_of(part)
        weight = np.ones(columns.shape[1]) if part.weight is None else part.weight
        k = len(self.exponents)
        total = np.zeros((k, k))
        for start in range(0, len(weight), 20_000):
            here = slice(start, start + 20_000)
            z = columns[:, here] / self.units[:, None]
            powers = hermite(z, self.noise, 2 * int(self.exponents.max(initial=1)))
            w = weight[here]
            if self.coef is None:
                for i in range(k):
                    for j in range(i + 1):
                        total[i, j] += w @ self._product(powers, i, j, len(w))
            else:
                score = np.zeros((k, len(w)))
                for i in range(k):
                    for j in range(k):
                        score[i] += self.coef[j] * self._product(powers, i, j, len(w))
                total += (score * w) @ score.T
        if self.coef is None:
            total = total + np.tril(total, -1).T
        return total, weight.sum()

    def _product(self, powers, i, j, size):
        value = np.ones(size)
        for column, e in enumerate(self.exponents[i] + self.exponents[j]):
            if e:
                value = value * powers[column, e]
        return value

    @staticmethod
    def combine(first, second):
        """Return the sums over two sets of rows."""
        return first[0] + second[0], first[1] + second[1]


def fitted_equation(equation: Equation, noise, units, ask: Callable):
    """Return coefficients on all rows, the largest 1, and their covariance.

    The equation's mean with each of its terms is zero, once noise is taken out: A v = 0. Errors
    are those of such estimating equations (a sandwich).
    """
    exponents = equation.exponents
    question = Debiased(exponents, noise, units)
    total, count = ask(question, Debiased.combine)
    A = total / count
    sizes = np.abs(equation.coef) * np.sqrt(np.abs(A.diagonal()))
    fixed = int(np.argmax(sizes))
    free = np.delete(np.arange(len(exponents)), fixed)
    coef = np.zeros(len(exponents))
    coef[fixed] = 1.0
    inverse = np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-14, hermitian=True)
    coef[free] = -inverse @ A[free, fixed]
    covariance = np.zeros((len(coef), len(coef)))
    if not equation.exact:
        outer, _ = ask(Debiased(exponents, noise, units, coef), Debiased.combine)
        covariance[np.ix_(free, free)] = (
            inverse @ (outer / count)[np.ix_(free, free)] @ inverse / count
        )
    return coef, covariance, fixed
