"""Noise in the columns: the moments of what lies below it, and how large it is.

For y = x + e with independent Gaussian e of standard deviation s, the mean of the Hermite
polynomial He_k(y; s) = sum_m k! / (m! (k - 2m)!) (-s^2 / 2)^m y^(k - 2m) is x^k. So a moment of x
is a fixed combination of moments of y of the same and of lower degrees, column by column.
"""

import math
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh

EPS = np.finfo(np.float64).eps
_TINY = np.finfo(np.float64).tiny  # below it numbers lose digits

# When a law is confirmed: what the noise of the next degree must be of its own, and its own of that
# of a linear law, unless it is one. Chosen, as the next three, on nineteen shapes, half with a law.
_PLATEAU, _SHARE = 0.75, 0.7
# Where no higher degree can confirm it: how far the noise falls from the degree below, and how far
# it is from where a second polynomial vanishes.
_CLEAR, _FALL, _GAP = 0.4, 0.6, 0.85
_HIDDEN = 0.01  # of the noise of the degree below: what rounding may hide of a noise that is zero
_STEPS = 60  # of a bisection
KURTOSIS = 3.0  # mean(|grad g|^4) / mean(|grad g|^2)^2, where moments of it are not at hand


class Debiasing:
    """The linear map from moments of rows with noise to those without.

    Parameters
    ----------
    terms : ndarray of shape (n_moments, n_features)
        All exponents up to a degree.
    positions : callable
        From exponents to their places in ``terms``.
    """

    def __init__(self, terms: np.ndarray, positions):
        self.steps = []  # of each column: (m, terms with a power of 2m or more, where, factor)
        for column in range(terms.shape[1]):
            power = terms[:, column].astype(np.int64)
            steps = []
            for m in range(1, int(power.max()) // 2 + 1):
                used = np.flatnonzero(power >= 2 * m)
                lower = terms[used]
                lower[:, column] -= 2 * m
                factor = [math.perm(k, 2 * m) / math.factorial(m) for k in power[used].tolist()]
                steps.append((m, used, positions(lower), np.array(factor)))
            self.steps.append(steps)

    def __call__(self, sums: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return the sums without noise; columns with none stay as they are, to the last bit."""
        for steps, s in zip(self.steps, noise, strict=True):
            if s:
                total = sums.copy()
                for m, used, lower, factor in steps:
                    total[used] += (-0.5 * s * s) ** m * factor * sums[lower]
                sums = total
        return sums

    def adjoint(self, coef: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return polynomials whose means with noise are those of the given ones without it.

        ``coef`` has shape (n_polynomials, n_moments).
        """
        for steps, s in zip(self.steps, noise, strict=True):
            if s:
                total = coef.copy()
                for m, used, lower, factor in steps:
                    total[:, lower] += (-0.5 * s * s) ** m * factor * coef[:, used]
                coef = total
        return coef


class _Degree:
    """All terms up to a degree, and the Gram matrix of their moments as a function of the noise."""

    def __init__(self, moments, degree: int, ratio: np.ndarray):
        self.degree, self.ratio, self.positions = degree, ratio, moments.positions
        self.means, self.debias = moments.sums / moments.total_weight, moments.debias
        self.terms = moments.terms[moments.terms.sum(axis=1, dtype=np.int64) <= degree]
        k, n = self.terms.shape
        pairs = (self.terms[:, np.newaxis] + self.terms).reshape(-1, n)
        self.places = moments.positions(pairs).reshape(k, k)
        size = self.means[self.places.diagonal()]
        self.unit = 1.0 / np.sqrt(np.where(size > _TINY, size, 1.0))

    def gram(self, scale: float) -> np.ndarray:
        """Return the debiased Gram matrix."""
        return self.debias(self.means, scale * self.ratio)[self.places]

    def spectrum(self, scale: float):
        """Return eigenvalues and eigenvectors in units in which the terms have size 1."""
        return eigh(self.gram(scale) * self.unit[:, np.newaxis] * self.unit)

    def root(self, above: float, which: int = 0) -> float:
        """Return the noise at which an eigenvalue reaches zero, ``above`` at most.

        Moments of rows remain such when noise is added to the rows: the matrix is positive
        semidefinite up to one value of the noise and not beyond, which bisection cannot miss.
        """
        if self.spectrum(0.0)[0][which] <= self.rounding:
            return 0.0
        low, high = 0.0, above
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            if self.spectrum(middle)[0][which] > 0.0:
                low = middle
            else:
                high = middle
        return high

    @property
    def rounding(self) -> float:
        """What an eigenvalue is known up to."""
        return 10.0 * len(self.terms) * EPS

    def hidden(self) -> float:
        """Return the noise at which what vanishes without any would not be told from it."""
        size = self.mean(self.squared_slope(0.0), 0.0)
        return math.sqrt(self.rounding / size) if size > 0.0 else np.inf

    def generator(self, scale: float) -> np.ndarray:
        """Return the coefficients of the polynomial that vanishes at this noise."""
        return self.spectrum(scale)[1][:, 0] * self.unit

    def squared_slope(self, scale: float) -> dict[tuple, float]:
        """Return |grad g|^2 of that polynomial, columns weighted by their ratio."""
        coef = self.generator(scale).tolist()
        square: dict[tuple, float] = {}
        for column, ratio in enumerate(self.ratio.tolist()):
            slope = {}
            for term, value in zip(self.terms.tolist(), coef, strict=True):
                if power := term[column]:
                    term[column] -= 1
                    slope[tuple(term)] = value * power * ratio
            for key, value in _product(slope, slope).items():
                square[key] = square.get(key, 0.0) + value
        return square

    def mean(self, polynomial: dict[tuple, float], scale: float) -> float:
        """Return the debiased mean of a polynomial."""
        means = self.debias(self.means, scale * self.ratio)
        places = self.positions(np.array(list(polynomial), dtype=self.terms.dtype))
        return float(means[places] @ np.array(list(polynomial.values())))


def estimate(moments, ratio: np.ndarray) -> tuple[float, float]:
    """Return the scale of the noise and its standard error; nan where there is no law.

    The noise of a degree is that at which a polynomial of the degree vanishes. It falls as the
    degree rises, and from the degree of a law on it stays. Data without a law has such noises, too,
    but they fall on and on.
    """
    columns = np.eye(moments.n_features, dtype=moments.terms.dtype)
    means = moments.sums / moments.total_weight
    spread = means[moments.positions(2 * columns)] - means[moments.positions(columns)] ** 2
    used = ratio > 0
    if (spread[used] <= 10.0 * EPS * means[moments.positions(2 * columns)][used]).any():
        return 0.0, 0.0  # what is constant has no noise
    above = float(np.sqrt(np.maximum(spread[used], 0.0) / ratio[used] ** 2).min())
    roots = [above * (1.0 + 1e-9)]
    degrees: list[_Degree] = []
    for number in range(1, moments.max_degree + 1):
        degree = _Degree(moments, number, ratio)
        root = degree.root(roots[-1])
        if root == 0.0:
            if degree.hidden() <= _HIDDEN * above:
                return 0.0, 0.0
            break  # rounding, or a law of columns without noise, hides what the noise is
        degrees.append(degree)
        roots.append(root)
    if not degrees:
        return np.nan, np.nan
    # Within sampling error, two estimates of one noise agree.
    tolerance = min(0.1, max(0.04, 4.0 / math.sqrt(2.0 * moments.n_samples)))
    for lower, higher in pairwise(degrees):
        scale = roots[lower.degree]
        if (
            roots[higher.degree] >= _PLATEAU * scale
            and (lower.degree == 1 or scale <= _SHARE * roots[1])
            and _confirms(lower, higher, scale, tolerance)
        ):
            return scale, _standard_error(moments, lower, scale)
    last, scale = degrees[-1], roots[-1]
    gap = scale / last.root(2.0 * roots[-2], which=1)
    fall = scale / roots[-2] if len(degrees) > 1 else gap
    low = len(degrees) <= 2  # beyond that, sampling errors alone let the noise fall as far
    if fall <= (_CLEAR if low else _CLEAR**2) or (low and fall <= _FALL and gap <= _GAP):
        return scale, _standard_error(moments, last, scale)
    return np.nan, np.nan


def _confirms(lower: _Degree, higher: _Degree, scale: float, tolerance: float) -> bool:
    """Say whether the products of what vanishes with the columns vanish at the same noise, too."""
    coef = lower.generator(scale)
    columns = higher.terms[1 : 1 + len(lower.ratio)]
    keys = {tuple(term): i for i, term in enumerate(higher.terms.tolist())}
    products = []
    for column in columns:
        product = np.zeros(len(higher.terms))
        place = [keys[tuple(term)] for term in (lower.terms + column).tolist()]
        product[place] = coef
        # About the mean: far from the origin a column is a constant.
        product[: len(coef)] -= higher.means[higher.places[0, place[0]]] * coef
        products.append(product)

    def value(noise):
        gram = higher.gram(noise)
        return sum(product @ gram @ product for product in products)

    return value((1.0 - tolerance) * scale) > 0.0 > value((1.0 + tolerance) * scale)


def _standard_error(moments, degree: _Degree, scale: float) -> float:
    """Return the standard error: g is the noise along its gradient, whose square is averaged."""
    kurtosis = KURTOSIS
    if 4 * (degree.degree - 1) <= 2 * moments.max_degree:
        squares = degree.squared_slope(scale)
        mean = degree.mean(squares, scale)
        if mean > _TINY:
            squares = {key: value / mean for key, value in squares.items()}
            kurtosis = max(1.0, degree.mean(_product(squares, squares), scale))
    return scale * math.sqrt(kurtosis / (2.0 * moments.n_samples))


def _product(left: dict, right: dict) -> dict:
    """Multiply polynomials given by the coefficients of their exponents."""
    product: dict[tuple, float] = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(map(sum, zip(a, b, strict=True)))
            product[key] = product.get(key, 0.0) + x * y
    return product
