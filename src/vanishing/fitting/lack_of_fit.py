"""Lack of fit: whether smooth functions of columns still explain what a law leaves over."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.spatial import cKDTree
from scipy.special import chdtrc, fdtrc, ndtr

from vanishing.fitting import settings
from vanishing.fitting.normal import inverse
from vanishing.fitting.smooth_terms import smooth_terms


class Lack(NamedTuple):
    """What smooth functions explain of residuals.

    Attributes
    ----------
    size : float
        (F - k) / sqrt(2k) for k independent terms: about 0 with deviation 1 where residuals are
        noise.
    p_value : float
        How likely this much is by chance.
    share : float
        Of the squared residuals, beyond what is explained by chance.
    """

    size: float = 0.0
    p_value: float = 1.0
    share: float = 0.0

    @property
    def is_large(self) -> bool:
        """Whether this is more than noise has."""
        return self.size >= settings.LACK_OF_FIT and self.is_sure

    @property
    def is_sure(self) -> bool:
        """Whether chance does not explain it, however small it is."""
        return self.p_value < settings.SURE_LACK


class LackOfFit:
    """Smooth terms of columns, to be asked what they explain of residuals.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    weight : array of shape (n_rows,), default=None
        In the unit in which they sum up to the number of observations.
    others : array of shape (n_others, n_rows), default=None
        More columns, too many for smooth terms: they are asked by their products.
    """

    def __init__(
        self,
        columns: np.ndarray,
        weight: np.ndarray | None = None,
        others: np.ndarray | None = None,
    ):
        self.columns = columns
        self.weight = np.ones(columns.shape[1]) if weight is None else weight
        self.others = None
        if others is not None and len(others):
            weight = self.weight[: rows_of_products(len(others))]
            standard = standardised(others[:, : len(weight)], weight)
            squares = standardised(standard**2, weight)
            own = np.vstack([np.ones_like(weight), standardised(columns[:, : len(weight)], weight)])
            self.others = own, np.vstack([standard, squares])
        terms, self.exponents = smooth_terms(columns)
        self.terms = terms * np.sqrt(self.weight)
        self.gram = self.terms @ self.terms.T
        self.whitened = _whitened(self.gram)

    def __call__(self, residuals: np.ndarray, predicted: np.ndarray | None = None) -> Lack:
        """Return what the terms explain, or other columns, or what neighbours have in common.

        ``predicted`` is one more column along which rows may be neighbours.
        """
        lack = self._explained(residuals)
        if self.others is not None:  # the columns are those of all that explained most
            chance = lack.p_value * (1 + len(self.others[1]) // 2)
            lack = lack._replace(p_value=min(chance, 1.0))
        if self.others is not None and not lack.is_large:
            rows = slice(0, self.others[0].shape[1])
            more = lack_of_products(*self.others, residuals[rows], self.weight[rows])
            lack = more if more.is_large else lack
        along = self.columns if predicted is None else np.vstack([self.columns, predicted])
        tests = [signs_of_neighbours(along, residuals)]
        if len(self.columns) == 1:
            tests.append(left_between_neighbours(self.columns[0], self._weighted(residuals)))
        for more in tests:
            if more.is_large and more.size >= lack.size:
                lack = lack._replace(size=more.size, p_value=more.p_value)
        return lack

    def _explained(self, residuals: np.ndarray) -> Lack:
        left = self._weighted(residuals)
        explained, rest, k = self._variances(left)
        size = _size(explained / rest, k)
        lack = Lack(
            size,
            float(fdtrc(k, self._freedom, explained / k / rest)),
            min(max((explained - k * rest) / float(left @ left), 0.0), 1.0),
        )
        if not lack.is_large or len(left) < settings.UNEQUAL_ROWS:
            return lack
        # Noise that differs between rows makes F too large: ask again without equal variances.
        general = self._with_unequal_noise(left)
        if _size(general, k) >= size:
            return lack
        return lack._replace(size=_size(general, k), p_value=float(chdtrc(k, general)))

    def share(self, residuals: np.ndarray) -> np.ndarray:
        """Return the share of squared residuals that is explained, each column by itself."""
        left = (residuals.T * np.sqrt(self.weight)).T
        parts = self.whitened @ (self.terms @ left)
        return np.sum(parts**2, axis=0) / np.sum(left**2, axis=0)

    def p_value_of(self, column: int, residuals: np.ndarray) -> float:
        """Return how likely it is by chance that terms with a column explain what they do."""
        left = self._weighted(residuals)
        explained, rest, k = self._variances(left)
        others = np.flatnonzero(self.exponents[:, column] == 0)
        whitened = _whitened(self.gram[np.ix_(others, others)])
        less = float(np.sum((whitened @ (self.terms[others] @ left)) ** 2))
        more, q = max(explained - less, 0.0), k - len(whitened)
        return float(fdtrc(q, self._freedom, more / q / rest)) if q else 1.0

    def _weighted(self, residuals: np.ndarray) -> np.ndarray:
        return residuals / np.sqrt(np.mean(residuals**2)) * np.sqrt(self.weight)

    @property
    def _freedom(self) -> float:
        return max(float(self.weight.sum()) - len(self.whitened), 1.0)

    def _variances(self, left: np.ndarray) -> tuple[float, float, int]:
        """Return the squares that are explained, the variance of the rest, and how many terms."""
        parts = self.whitened @ (self.terms @ left)
        explained = float(parts @ parts)
        return explained, max(float(left @ left) - explained, 1e-300) / self._freedom, len(parts)

    def _with_unequal_noise(self, left: np.ndarray) -> float:
        """Return White's statistic: sums s of terms times residuals, and s' Cov(s)^-1 s."""
        each = self.terms * left
        covariance = self.whitened @ (each @ each.T) @ self.whitened.T
        sums = self.whitened @ (self.terms @ left)
        try:
            return float(sums @ cho_solve(cho_factor(covariance), sums))
        except LinAlgError:
            return np.inf


def standardised(columns: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and variance 1."""
    centred = columns - np.average(columns, axis=1, weights=weight)[:, np.newaxis]
    centred /= np.maximum(np.abs(centred).max(axis=1, initial=0.0), 1e-300)[:, np.newaxis]
    spread = np.sqrt(np.average(centred**2, axis=1, weights=weight))
    # Rows that hardly count may be much larger: powers of them must not overflow.
    return centred / np.maximum(spread, 1e-30)[:, np.newaxis]


def rows_of_products(n_columns: int) -> int:
    """Return how many rows products of so many columns are asked on."""
    return max(settings.LEAST_PRODUCT_ROWS, settings.PRODUCT_VALUES // n_columns)


def lack_of_products(
    first: np.ndarray, second: np.ndarray, residuals: np.ndarray, weight: np.ndarray
) -> Lack:
    """Return what the product of two columns that explains most of residuals does.

    As one out of so many: its probability is multiplied by the number of products.

    Parameters
    ----------
    first, second : array of shape (n_columns, n_rows)
        Standardised: the products are of each one of ``first`` and each one of ``second``.
    residuals, weight : array of shape (n_rows,)
    """
    count = float(weight.sum())
    left = residuals / np.sqrt(np.average(residuals**2, weights=weight))
    first_squares, second_squares = first * first, second * second
    norms = (first_squares * weight) @ second_squares.T
    with np.errstate(all="ignore"):
        slopes = np.nan_to_num((first * (left * weight)) @ second.T / norms)
        explained = slopes**2 * norms / count
        # The larger variance counts: that of rows with equal noise, or White's.
        equal = (1.0 - explained) / norms
        general = (first_squares * (left * weight) ** 2) @ second_squares.T
        cubes = (first_squares * first * (left * weight**2)) @ (second_squares * second).T
        fourth = (first_squares * first_squares * weight**2) @ (second_squares**2).T
        general += slopes * (slopes * fourth - 2 * cubes)
        squares = np.nan_to_num(slopes**2 / np.maximum(equal, general / norms**2), posinf=1e300)
    most = np.unravel_index(np.argmax(squares), squares.shape)
    chance = float(fdtrc(1.0, max(count - 1.0, 1.0), squares[most])) * squares.size
    return Lack(_size(float(squares[most]), 1), min(1.0, chance), float(explained[most]))


def lack_of_terms(
    own: np.ndarray, more: np.ndarray, residuals: np.ndarray, weight: np.ndarray
) -> Lack:
    """Return what more terms explain together of the residuals of least squares on own terms.

    Parameters
    ----------
    own, more : array of shape (n_terms, n_rows)
    residuals, weight : array of shape (n_rows,)
    """
    count, root = float(weight.sum()), np.sqrt(weight)
    own, more, left = own * root, more * root, residuals * root
    more = more - (more @ own.T) @ inverse(own @ own.T) @ own
    parts = _whitened(more @ more.T) @ (more @ left)
    k, explained = len(parts), float(parts @ parts)
    freedom = count - len(own) - k
    if not k or freedom < 1.0:
        return Lack()
    rest = max(float(left @ left) - explained, 1e-300) / freedom
    chance = float(fdtrc(k, freedom, explained / k / rest))
    return Lack(_size(explained / rest, k), chance, explained / float(left @ left))


def unseen_share(n_rows: float) -> float:
    """Return the size of smooth deviations that the test does not see, over that of noise."""
    n_terms = min(settings.MAX_SMOOTH_TERMS, max(2.0, n_rows / 10))
    return float(np.sqrt(settings.LACK_OF_FIT * np.sqrt(2.0 * n_terms) / n_rows))


def signs_of_neighbours(columns: np.ndarray, residuals: np.ndarray, together: bool = True) -> Lack:
    """Return how far the signs of residuals are from chance among neighbours, and how likely.

    Neighbours are rows next to one another in the order of a column, or, ``together``, in all
    columns. Signs are those of all rows alike: a few large residuals hide nothing, and noise may
    differ from row to row. A smooth function that a law misses changes its sign slowly, however few
    terms follow it.
    """
    n_rows = len(residuals)
    n_neighbours = min(settings.NEIGHBOURS, n_rows // 10)
    signs = np.sign(residuals) - np.mean(np.sign(residuals))
    norm = float(np.mean(signs**2))
    if n_neighbours < 1 or not norm or not len(columns):
        return Lack()
    sizes = []
    ranks = np.empty((n_rows, len(columns)))
    for i, column in enumerate(columns):
        order = np.argsort(column, kind="stable")
        ranks[order, i] = np.arange(n_rows)
        ordered = signs[order]
        total = sum(ordered[lag:] @ ordered[:-lag] for lag in range(1, n_neighbours + 1))
        n_pairs = n_neighbours * n_rows - n_neighbours * (n_neighbours + 1) / 2
        sizes.append(total / (norm * np.sqrt(n_pairs)))
    if together and len(columns) > 1:
        chosen = slice(0, settings.NEIGHBOUR_ROWS)
        nearest = cKDTree(ranks[chosen]).query(ranks[chosen], n_neighbours + 1)[1][:, 1:]
        first = np.repeat(np.arange(len(nearest)), n_neighbours)
        low, high = np.sort([first, nearest.ravel()], axis=0)
        _, counts = np.unique(low * n_rows + high, return_counts=True)
        total = signs[low] @ signs[high]
        sizes.append(total / (norm * np.sqrt(np.sum(counts**2))))
    size = float(max(sizes))
    return Lack(size, min(len(sizes) * float(ndtr(-size)), 1.0))


def left_between_neighbours(column: np.ndarray, residuals: np.ndarray) -> Lack:
    """Return how much larger residuals are than what straight lines between neighbours leave.

    A curve shows between the rows of one column what noise is, however few they are: smooth terms
    need more rows to follow it, and are asked of these. Rows of one value are compared with their
    mean, those at the ends with nothing else. Rows that are repeated are one.
    """
    rows = np.unique(np.vstack([column, residuals]).T, axis=0)
    x, place, counts = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    n_inner, n_repeated, left = len(x) - 2, len(rows) - len(x), rows[:, 1]
    if n_inner < 3 or len(rows) >= settings.INTERPOLATED_ROWS:
        return Lack()
    means = np.bincount(place, left) / counts
    share = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    off = means[1:-1] - share * means[:-2] - (1.0 - share) * means[2:]
    variance = 1.0 / counts[1:-1] + share**2 / counts[:-2] + (1.0 - share) ** 2 / counts[2:]
    squares = float(np.sum((left - means[place]) ** 2) + np.sum(off**2 / variance))
    noise = max(squares, 1e-300) / (n_repeated + n_inner)
    inner = (place > 0) & (place <= n_inner)
    count = int(np.count_nonzero(inner))
    ratio = float(np.mean(left[inner] ** 2)) / noise
    # Lines overlap: of normal noise, they tell its variance as half as many rows do.
    p_value = float(fdtrc(count, n_repeated + n_inner / 2, ratio))
    return Lack(_size(ratio * count, count), p_value)


def between(columns: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return sums, differences, products and quotients of columns, two and two.

    A law may miss along one of these what no column shows: |a - b| has its kink where a is b.
    """
    scaled = standardised(columns, np.ones(columns.shape[1]))
    pairs = []
    for i, j in combinations(range(len(columns)), 2):
        pairs += [scaled[i] + scaled[j], scaled[i] - scaled[j]]
        if positive[i] or positive[j]:
            part, whole = (i, j) if positive[j] else (j, i)
            pairs += [columns[i] * columns[j], columns[part] / columns[whole]]
    return np.array(pairs).reshape(len(pairs), columns.shape[1])


def products_of_neighbours(columns: np.ndarray, residuals: np.ndarray) -> float:
    """Return how far residuals of neighbours are alike: the largest of a few N(0, 1) for noise.

    Neighbours are rows next to one another in the order of a column, or in all columns. Of few
    rows, sizes tell more than signs do. Rows that are repeated are one.
    """
    rows = np.unique(np.vstack([columns, residuals]).T, axis=0)
    n_rows, residuals = len(rows), rows[:, -1]
    n_near = min(settings.NEAREST, n_rows - 1)
    if not n_near:
        return 0.0
    # Ranks: a column of decades has neighbours everywhere. Equal values have the same.
    ranks = [np.unique(column, return_inverse=True)[1] for column in rows[:, :-1].T]
    scaled = np.column_stack([rank / max(rank.max(), 1) for rank in ranks])
    nearest = cKDTree(scaled).query(scaled, n_near + 1)[1]
    pairs = np.column_stack([np.repeat(np.arange(n_rows), n_near + 1), nearest.ravel()])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    products = [residuals[pairs[:, 0]] * residuals[pairs[:, 1]]]
    for column in rows[:, :-1].T if len(columns) > 1 else ():
        ordered = residuals[np.argsort(column, kind="stable")]
        lags = range(1, n_near + 1)
        products.append(np.concatenate([ordered[lag:] * ordered[:-lag] for lag in lags]))
    return max(float(p.sum() / np.sqrt(max(p @ p, 1e-300))) for p in products)


def _size(statistic: float, k: int) -> float:
    return (statistic - k) / float(np.sqrt(2.0 * k))


def _whitened(gram: np.ndarray) -> np.ndarray:
    """Return combinations of terms that are orthonormal, as many as are independent.

    Terms of constant or equal columns are zero or equal: they explain nothing more.
    """
    scale = np.sqrt(gram.diagonal())
    scale[scale == 0.0] = 1.0
    values, vectors = eigh(gram / scale / scale[:, np.newaxis], check_finite=False)
    kept = values > settings.DEPENDENT * len(gram)
    return (vectors[:, kept] / np.sqrt(values[kept]) / scale[:, np.newaxis]).T
