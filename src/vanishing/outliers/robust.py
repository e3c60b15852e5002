"""Moments of the rows that go together: which rows count how much, fit after fit.

Two fits, both of G, the weighted mean of v v' over the features v of rows, and of the distances
s = v' G^-1 v that follow from it. The *bulk* is the half of the rows that are nearest to one
another, whose G is that of ordinary rows. *Laws* hold on nearly all rows, so that rows far away
count little and no row is left out.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh
from scipy.linalg.lapack import dtrtri

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.passes import PIECE, weights_of
from vanishing.outliers.quantiles import median, quantiles
from vanishing.outliers.thresholds import breaking
from vanishing.rows.source import RowPart

CHUNK = 2048  # rows at a time, always the same ones: sums round alike then


def ridges(n_features: int, n_rows: float) -> tuple[float, float]:
    """Return what is added to the diagonal of G, of the bulk and of laws.

    With less than ten rows per feature most of G is chance, and features count as less related.
    """
    few = max(n_features / n_rows - 1.0 / settings.ROWS_PER_FEATURE, 0.0)
    bulk, law = (base + slope * few for base, slope in (settings.BULK_RIDGE, settings.LAW_RIDGE))
    return bulk, law


class Sums(NamedTuple):
    """Weighted sums of v v' over rows, and of weights; and what is added to the mean."""

    gram: np.ndarray
    weight: float
    ridge: float

    def __add__(self, other):
        return self._replace(gram=self.gram + other.gram, weight=self.weight + other.weight)

    def __sub__(self, other):
        return self._replace(gram=self.gram - other.gram, weight=self.weight - other.weight)

    def times(self, factor: float) -> "Sums":
        """Return the sums with all weights multiplied."""
        return self._replace(gram=self.gram * factor, weight=self.weight * factor)


def slices(n_rows: int):
    """Yield the chunks of rows."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(start + CHUNK, n_rows))


def whitener(sums: Sums) -> np.ndarray:
    """Return lower triangular W with W'W = (G + ridge)^-1."""
    gram = sums.gram / sums.weight
    gram[np.diag_indices_from(gram)] += sums.ridge
    factor = cholesky(gram, lower=True, check_finite=False, overwrite_a=True)
    inverse, info = dtrtri(factor, lower=True)
    if info:
        raise np.linalg.LinAlgError("the moments have no inverse.")
    return np.asarray(inverse)


def squared_lengths(values: np.ndarray) -> np.ndarray:
    """Return the sums of squares of columns."""
    return np.einsum("ij,ij->j", values, values)


class Sketch(NamedTuple):
    """Random combinations of features, by which rows are weighted where features are many.

    Attributes
    ----------
    features : Features
    matrix : array of shape (n_combinations, k)
        The first is the first feature, 1.
    """

    features: Features
    matrix: np.ndarray

    @classmethod
    def of(cls, features: Features) -> "Sketch":
        """Return the combinations; their seed is fixed."""
        random = np.random.default_rng(0)
        matrix = random.normal(size=(settings.WIDE, features.size)) / np.sqrt(features.size)
        matrix[0], matrix[:, 0] = 0.0, 0.0
        matrix[0, 0] = 1.0
        return cls(features, matrix)

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.matrix)

    def of_rows(self, z: np.ndarray) -> np.ndarray:
        """Return the combinations at standardised rows, shape (size, n_rows)."""
        return np.hstack(
            [self.matrix @ self.features.values(z[:, chunk]) for chunk in slices(z.shape[1])]
        )

    @staticmethod
    def values(combinations: np.ndarray) -> np.ndarray:
        """Return what moments are of: combinations that `of_rows` has returned."""
        return combinations.copy()


class Rule(NamedTuple):
    """What rows count: by their distances, relative to that of the middle row.

    Attributes
    ----------
    whitener : array of shape (k, k), or of fewer rows where features are many
    middle : float
    hard : bool
        Whether rows beyond the middle one are left out, or count little.
    ridge : float
        Of the fit.
    laws : array of shape (n_laws, k) or None
        Residuals of the columns that the others determine in most rows, in units of what they are
        in the middle row.
    """

    whitener: np.ndarray
    middle: float
    hard: bool
    ridge: float
    laws: np.ndarray | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the weights of rows with given features."""
        return self.weights(values, squared_lengths(self.whitener @ values))

    def weights(self, values: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Return the weights of rows with given features and distances."""
        weight = self.of_distances(distance)
        if self.laws is not None and len(self.laws):
            # One broken law among many hardly changes a distance.
            broken = np.square(self.laws @ values).max(axis=0) / settings.BREAKS**2
            weight /= 1.0 + np.square(broken)
        return weight

    def of_distances(self, distance: np.ndarray) -> np.ndarray:
        """Return the weights of rows at given distances."""
        if self.hard:
            # Rows at the same distance count alike, whatever the rounding.
            return (distance <= self.middle * (1.0 + 1e-9)).astype(np.float64)
        return (1.0 + distance / self.middle) ** settings.LAW_POWER


def distances(features: Features | Sketch, z: np.ndarray, whitener: np.ndarray) -> np.ndarray:
    """Return s of standardised rows."""
    return np.concatenate(
        [squared_lengths(whitener @ features.values(z[:, chunk])) for chunk in slices(z.shape[1])]
    )


def _with_laws(features: Features, z, weight: np.ndarray, rule: Rule, most: float) -> Rule:
    """Return the rule that also sees by how much each row breaks laws of most rows.

    These are of columns whose residual in the middle row is less than ``most`` of their spread.
    """
    n = features.n
    precision = (rule.whitener.T @ rule.whitener)[:, 1 : 1 + n]
    sizes = np.hstack([precision.T @ features.values(z[:, chunk]) for chunk in slices(z.shape[1])])
    np.abs(sizes, out=sizes)
    # The middle size of a normal variable of variance 1 is 0.6745.
    middle = quantiles(sizes.T, weight, (0.5,))[0] / 0.6745
    unit = precision[np.arange(1, 1 + n), np.arange(n)]
    holds = (middle < most * unit) & (middle > 0.0)
    middle = np.maximum(middle, settings.FLOOR * unit)  # what is less is rounding
    return rule._replace(laws=precision.T[holds] / middle[holds, None])


def _sharpened(features: Features, z, weight: np.ndarray, rule: Rule, ridge: float) -> Rule:
    """Return the rule that also sees laws, if a sensor that goes wrong by itself broke them.

    Rows that break laws of most rows are left out little by little. They are wrong if they are few,
    and anywhere among the others: rows of another kind, and noise that grows, have their places.
    """
    plain = rule
    distance = distances(features, z, rule.whitener)
    counts = weight * rule.of_distances(distance)
    for _ in range(settings.DRIFT_FITS):
        rule, known = _with_laws(features, z, weight, rule, settings.MOSTLY), counts
        counts = weight * weights(features, z, rule, distance)
        broken = counts < settings.BROKEN * weight * rule.of_distances(distance)
        share = float(weight[broken].sum() / weight.sum())
        change = np.abs(counts - known).sum()
        if share > settings.MOST_DRIFT or change < settings.SETTLED * counts.sum():
            break
        sums = sums_of(features, z, counts, ridge)
        rule, distance = rule_of(features, z, weight, sums, hard=False)
    if not settings.FEW_WRONG < share < settings.MOST_DRIFT:
        return plain
    rule = _with_laws(features, z, weight, rule, settings.LAW)
    broken = weights(features, z, rule, distance) < settings.BROKEN * rule.of_distances(distance)
    if not broken.any() or told(z, weight, counts, broken) > settings.TOLD:
        return plain
    apart = _apart(features, z, weight, rule)
    return rule if weight[broken & apart].sum() > 0.5 * weight[broken].sum() else plain


def _apart(features: Features, z: np.ndarray, weight: np.ndarray, rule: Rule) -> np.ndarray:
    """Say which rows are apart from the noise of a law.

    Skewed noise, and that of heavy tails, has many rows far off, too.
    """
    laws = () if rule.laws is None else rule.laws
    apart = np.zeros(z.shape[1], dtype=bool)
    for law in laws:
        values = np.concatenate(
            [law @ features.values(z[:, chunk]) for chunk in slices(z.shape[1])]
        )
        off = 2.0 * np.log(np.maximum(np.abs(values), 1e-300))
        apart |= off >= breaking(off, weight, values > 0.0)
    return apart


def told(z: np.ndarray, weight: np.ndarray, counts: np.ndarray, wrong: np.ndarray) -> float:
    """Return the share of the variance of being wrong that places along main directions tell."""
    centred = z - (z @ counts / counts.sum())[:, None]
    values, vectors = eigh((centred * (counts / counts.sum())) @ centred.T)
    wide = values > settings.WIDE_DIRECTION * values.mean()  # laws hold along the others
    along = np.clip(vectors[:, wide].T @ centred, -3.0, 3.0)
    terms = np.vstack([np.ones((1, z.shape[1])), along, np.square(along)])
    share = weight @ wrong / weight.sum()
    moments = (terms * weight) @ terms.T
    fitted = terms.T @ np.linalg.lstsq(moments, (terms * weight) @ wrong, rcond=None)[0]
    left = weight @ np.square(wrong - fitted)
    return float(1.0 - left / (weight.sum() * share * (1.0 - share)))


def weights(features: Features | Sketch, z: np.ndarray, rule: Rule, distance) -> np.ndarray:
    """Return what standardised rows count."""
    if rule.laws is None:
        return rule.of_distances(distance)
    return np.concatenate(
        [
            rule.weights(features.values(z[:, chunk]), distance[chunk])
            for chunk in slices(z.shape[1])
        ]
    )


def rule_of(
    features: Features | Sketch, z, weight, sums: Sums, *, hard: bool
) -> tuple[Rule, np.ndarray]:
    """Return what standardised rows count by moments, and their distances."""
    white = whitener(sums)
    distance = distances(features, z, white)
    return Rule(white, max(median(distance, weight), 1e-300), hard, sums.ridge), distance


def sums_of(features: Features | Sketch, z: np.ndarray, weight: np.ndarray, ridge: float) -> Sums:
    """Return the sums over standardised rows of given weights."""
    used = np.flatnonzero(weight)
    if len(used) < len(weight):
        z, weight = z[:, used], weight[used]
    total = np.zeros((features.size,) * 2)
    for chunk in slices(len(weight)):
        values = features.values(z[:, chunk])
        values *= np.sqrt(weight[chunk])
        total += values @ values.T
    return Sums(total, float(weight.sum()), ridge)


def rules(features: Features, X: np.ndarray, weight: np.ndarray, n_rows) -> tuple[Rule, Rule]:
    """Return what rows count in the last fits, of the bulk and of laws.

    Parameters
    ----------
    features : Features
    X : array of shape (n_rows, n_columns)
        In random order.
    weight : array of shape (n_rows,)
    n_rows : float
        How many different rows there are in all.
    """
    weight = weight[: settings.FIT_ROWS]
    z = features.standardised(X[: settings.FIT_ROWS], settings.FIT_LIMIT)
    view: Features | Sketch = features
    if features.size > settings.WIDE:
        view = Sketch.of(features)
        z = view.of_rows(z)

    def last_rule(n_fits: int, ridge: float, hard: bool) -> Rule:
        counts = weight
        for _ in range(n_fits - 1):
            sums = sums_of(view, z, counts, ridge)
            rule, distance = rule_of(view, z, weight, sums, hard=hard)
            counts = weight * rule.of_distances(distance)
        if isinstance(view, Sketch):
            return rule._replace(whitener=rule.whitener @ view.matrix)
        return rule if hard or not features.n else _sharpened(view, z, weight, rule, ridge)

    # The fits of a sketch have its size; the moments of all features have theirs.
    full = ridges(features.size, n_rows)
    bulk_ridge, law_ridge = ridges(view.size, n_rows)
    bulk = last_rule(settings.BULK_FITS, bulk_ridge, True)._replace(ridge=full[0])
    return bulk, last_rule(settings.LAW_FITS, law_ridge, False)._replace(ridge=full[1])


class Accumulate:
    """The question for the sums of the last fits: of the bulk, and of laws."""

    def __init__(self, features: Features, both: tuple[Rule, Rule]):
        self.features, self.rules = features, both
        self.ridges = [rule.ridge for rule in both]

    def __call__(self, part: RowPart) -> tuple[Sums, Sums]:
        """Return the sums over the rows of a block, piece by piece."""
        return part.ask(lambda p: self.of_rows(p.X, weights_of(p)), self.combine, PIECE)

    def of_rows(self, X: np.ndarray, weight: np.ndarray) -> tuple[Sums, Sums]:
        """Return the sums over rows."""
        size = self.features.size
        grams, totals = np.zeros((2, size, size)), np.zeros(2)
        for chunk in slices(len(X)):
            z = self.features.standardised(X[chunk], settings.FIT_LIMIT)
            values = self.features.values(z)
            for i, rule in enumerate(self.rules):
                counts = rule(values) * weight[chunk]
                part = values
                if rule.hard:
                    used = np.flatnonzero(counts)
                    part, counts = values[:, used], counts[used]
                scaled = part * np.sqrt(counts)
                grams[i] += scaled @ scaled.T
                totals[i] += counts.sum()
        bulk, law = (Sums(*of) for of in zip(grams, totals, self.ridges, strict=True))
        return bulk, law

    @staticmethod
    def combine(first, second):
        """Return the sums over two sets of rows."""
        return tuple(a + b for a, b in zip(first, second, strict=True))
