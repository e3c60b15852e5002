"""How many degrees of freedom rows have: dimension and degree of a fitted variety."""

import math
from typing import NamedTuple

import numpy as np

from vanishing._types import FloatArray, IntArray
from vanishing.algebra.generators import Generators
from vanishing.algebra.staircases import TooIntricate, growth
from vanishing.constructions import settings


class Dimension(NamedTuple):
    """Dimension and degree of a variety.

    Attributes
    ----------
    dimension : int or None
        Degrees of freedom; None where they are not determined.
    degree : int or None
        Number of points in which the variety meets a generic plane of complementary dimension, its
        parts of largest dimension alone; None where it is not determined.
    certain : bool
        Whether leading terms and gradients agree, and no equation is in doubt.
    """

    dimension: int | None
    degree: int | None
    certain: bool


UNDETERMINED = Dimension(None, None, False)


class Shape(NamedTuple):
    """What generators say about the variety that rows lie on.

    Attributes
    ----------
    dimension : Dimension
    equations : ndarray of int
        Places of the generators that are equations of the rows; empty where that is not known.
    """

    dimension: Dimension
    equations: IntArray


def shape_of(
    generators: Generators,
    psi: float,
    sizes: IntArray,
    n_samples: float,
    sample: FloatArray | None,
) -> Shape:
    """Return the shape of the variety of those generators that are equations of the rows.

    Parameters
    ----------
    generators : Generators
    psi : float
        Largest mean square of a generator.
    sizes : ndarray of int of shape (n_generators,)
        How many terms each generator could choose from.
    n_samples : float
        Number of rows that they were fitted to.
    sample : ndarray of shape (n_sample, n_features) or None
        Some of these rows.
    """
    n_features = generators.terms.shape[1]
    nothing = np.zeros(0, dtype=np.intp)
    # A polynomial with as many terms as rows is zero on any rows.
    supported = np.flatnonzero(n_samples >= settings.ROWS_PER_TERM * (sizes + 1))
    if not supported.size:
        enough = n_samples >= settings.ROWS_PER_TERM * len(generators.terms)
        return Shape(Dimension(n_features, 1, bool(enough)), nothing)
    if sample is None:
        return Shape(UNDETERMINED, nothing)
    generators = generators.subset(supported)
    slopes = np.stack([g.gradient(sample) for g in generators], axis=1) * _spread(sample)
    steepness = np.linalg.norm(slopes, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.abs(generators.evaluate(sample)) / steepness
    # Where value and gradient are zero, a row is a singular point: on the variety.
    distance = np.median(np.nan_to_num(distances, nan=0.0, posinf=np.inf), axis=0)
    degrees = generators.degrees
    near = distance <= settings.NEAR * np.array([_generic_distance(d) for d in degrees])
    if not near.any():
        return Shape(Dimension(n_features, 1, False), nothing)
    # Equations of the rows are all as near as their noise is large; a smooth approximation that
    # psi has let through is further off.
    equation = near & (distance <= max(settings.NOISE_RATIO * distance.min(), settings.ROUNDING))
    places = supported[equation]
    # What psi has let through keeps its multiples from being looked at.
    if (degrees[~equation] <= degrees[equation].max()).any():
        return Shape(UNDETERMINED, places)
    try:
        dimension, degree = growth(generators.leading_terms[equation])
    except TooIntricate:
        return Shape(UNDETERMINED, places)
    noise = max(distance[equation].max(), settings.ROUNDING)
    if dimension != _local_dimension(slopes[:, equation], steepness[:, equation], noise):
        return Shape(UNDETERMINED, places)
    # Noise that is nearly as large as psi has hidden equations, or is about to.
    clear = psi == 0.0 or generators.mse[equation].max() <= settings.BELOW_PSI * psi
    certain = bool(clear and not (near & ~equation).any())
    return Shape(Dimension(dimension, degree, certain), places)


def _spread(sample: FloatArray) -> FloatArray:
    """Return a spread of each column that few rows do not decide; 1 for constant columns."""
    low, high = np.quantile(sample, [0.05, 0.95], axis=0)
    spread = (high - low) / 3.29
    spread = np.where(spread > 0.0, spread, sample.std(axis=0))
    return np.where(spread > 0.0, spread, 1.0)


def _generic_distance(degree: int) -> float:
    """Return the distance of uniform rows from the zeros of Legendre's polynomial of a degree.

    Root of mean square of the polynomial over that of its derivative, in standard deviations of the
    rows: 1 for a line through the mean. Rows that obey no equation are about so far from the zeros
    of the smallest polynomials.
    """
    return math.sqrt(6.0 / ((2 * degree + 1) * degree * (degree + 1)))


def _local_dimension(slopes: FloatArray, steepness: FloatArray, noise: float) -> int:
    """Return the largest dimension that gradients leave at a good share of the rows.

    Gradients that differ by less than noise moves them do not count as different.
    """
    size = np.sqrt(np.mean(steepness**2, axis=0))
    size[size == 0.0] = 1.0
    singular = np.linalg.svd(slopes / size[:, np.newaxis], compute_uv=False)
    left = slopes.shape[2] - (singular > settings.INDEPENDENT * noise).sum(axis=1)
    dimensions, counts = np.unique(left, return_counts=True)
    return int(dimensions[counts >= settings.SHARE_OF_ROWS * len(left)].max())
