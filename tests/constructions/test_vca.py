"""VCA: planted varieties, a plain transcription, polynomials that are zero, scikit-learn."""

import itertools
import pickle
import threading
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from helpers import training_classes
from scipy.linalg import eigh
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import VanishingClassifier, VanishingFeatures
from vanishing.algebra.components import components_of, derivatives_of
from vanishing.constructions.vca import VCA
from vanishing.polynomials import Polynomial

RNG = np.random.default_rng(0)
UNIFORM = RNG.uniform(size=(80, 3))
ANYWHERE = RNG.uniform(-0.3, 1.3, size=(50, 3))  # off the data
IRIS = minmax_scale(load_iris().data)


def surface(m=120, noise=0.02):
    """Near z = x y, with generators of degree 2 and 3 that do not vanish exactly."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, size=(2, m))
    return np.column_stack([x, y, x * y + noise * rng.normal(size=m)])


SURFACE = surface()


both = pytest.mark.parametrize("normalization", ["l2", "gradient"])

# The published algorithm, without a bound on the degree that matters here.
published = partial(VCA, normalization="l2", max_degree=10)


def fitted(X, psi=0.005, *, sample_weight=None, **parameters):
    """A model of the published algorithm, unless told otherwise, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return published(psi, **parameters).fit(X, sample_weight=sample_weight)


def kernel(model, Z, degree=None):
    """sum_g g(z) g(z'): the same for all orthonormal bases of the same eigenspaces."""
    values = model.generators_.evaluate(Z)
    if degree is not None:
        values = values[:, model.generators_.degrees == degree]
    return values @ values.T


def assert_same(model, other, Z, *, rtol=1e-6):
    assert model.n_terms_ == other.n_terms_
    np.testing.assert_array_equal(model.generators_.degrees, other.generators_.degrees)
    a, b = kernel(model, Z), kernel(other, Z)
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(1e-12, np.abs(a).max()))


# ------------------------------------------------------------------- a plain transcription


class Plain:
    """Livni et al.'s algorithm with whole columns of values and whole polynomials.

    A polynomial is its coefficients on all monomials; products are convolutions. With
    ``zeros=True`` combinations that are zero as polynomials are not left out. With
    ``normalization="gradient"`` mean squared gradients are 1, as in Kera and Hasegawa's.
    """

    def __init__(self, X, psi, max_degree, *, zeros=False, normalization="l2"):
        m, n = X.shape
        grid = itertools.product(range(max_degree + 1), repeat=n)
        self.terms = [e for e in grid if sum(e) <= max_degree]
        self.place = {e: i for i, e in enumerate(self.terms)}
        self.monomials = np.array([[np.prod(x ** np.array(e)) for e in self.terms] for x in X])
        one = np.zeros(len(self.terms))
        one[self.place[(0,) * n]] = 1.0
        components = [np.array([one])]
        self.generators, self.eigenvalues = [], []
        candidates = np.zeros((n, len(self.terms)))
        for j, e in enumerate(np.eye(n, dtype=int)):
            candidates[j, self.place[tuple(e.tolist())]] = 1.0
        for degree in range(1, max_degree + 1):
            if degree == 2:
                pairs = itertools.combinations_with_replacement(components[1], 2)
                candidates = np.array([self.times(f, g) for f, g in pairs])
            elif degree > 2:
                pairs = itertools.product(components[1], components[-1])
                candidates = np.array([self.times(f, g) for f, g in pairs])
            for _ in range(2):
                for f in np.concatenate(components):
                    mean = self.values(candidates) @ self.values(f) / m
                    candidates = candidates - np.outer(mean, f)
            basis = np.eye(len(candidates))
            if not zeros:
                left, sigma, _ = np.linalg.svd(candidates, full_matrices=False)
                basis = left[:, sigma > 1e-9 * sigma[0]].T
            reduced = basis @ candidates
            gram = self.values(reduced) @ self.values(reduced).T / m
            steepness = None
            if normalization == "gradient":
                slopes = [reduced @ slope.T for slope in self.derivatives(X)]
                steepness = sum(slope @ slope.T for slope in slopes) / m
            eigenvalues, vectors = eigh(gram, steepness)
            found = vectors.T @ reduced
            vanish = eigenvalues <= max(psi, 1e-15)
            self.generators.append(found[vanish])
            self.eigenvalues.append(eigenvalues[vanish])
            components.append(found[~vanish] / np.sqrt(eigenvalues[~vanish, np.newaxis]))
            if vanish.all():
                break
        self.n_terms = sum(map(len, components))

    def values(self, polynomials):
        return polynomials @ self.monomials.T

    def derivatives(self, X):
        """Of the monomials, by each column."""
        for j in range(X.shape[1]):
            lower = [tuple(a - (i == j) for i, a in enumerate(e)) for e in self.terms]
            places = [self.place.get(e, 0) for e in lower]
            yield self.monomials[:, places] * np.array([e[j] for e in self.terms])

    def times(self, f, g):
        out = np.zeros(len(f))
        for i, j in itertools.product(np.flatnonzero(f), np.flatnonzero(g)):
            e = tuple(a + b for a, b in zip(self.terms[i], self.terms[j], strict=True))
            out[self.place[e]] += f[i] * g[j]
        return out

    def kernel(self, Z, degree):
        monomials = np.array([[np.prod(z ** np.array(e)) for e in self.terms] for z in Z])
        values = self.generators[degree - 1] @ monomials.T
        return values.T @ values


@pytest.mark.parametrize(
    ("X", "psi", "max_degree"),
    [
        (UNIFORM, 0.08, 3),
        (SURFACE, 0.01, 4),
        (SURFACE, 0.05, 5),
        (UNIFORM[:15], 0.001, 4),
        (UNIFORM[:30, :2], 0.02, 7),
        (IRIS[:50], 0.005, 3),
        (IRIS[:20], 0.001, 4),
    ],
)
def test_plain_transcription(X, psi, max_degree):
    check_transcription(X, psi, max_degree, "l2")


@pytest.mark.parametrize(
    ("X", "psi", "max_degree"),
    [
        (UNIFORM, 0.01, 5),
        (UNIFORM, 0.02, 3),
        (SURFACE, 0.003, 4),
        (SURFACE, 0.02, 5),
        (UNIFORM[:30, :2], 0.005, 6),
        (IRIS[:50], 0.001, 4),
        (IRIS[50:100], 0.0005, 3),
    ],
)
def test_plain_transcription_by_gradients(X, psi, max_degree):
    check_transcription(X, psi, max_degree, "gradient")


def check_transcription(X, psi, max_degree, normalization):
    plain = Plain(X, psi, max_degree, normalization=normalization)
    model = fitted(X, psi, max_degree=max_degree, normalization=normalization)
    assert model.n_terms_ == plain.n_terms
    counts = [len(found) for found in plain.generators]
    assert sum(counts) > 0
    np.testing.assert_array_equal(
        model.generators_.degrees, np.repeat(np.arange(1, len(counts) + 1), counts)
    )
    np.testing.assert_allclose(model.mse_, np.concatenate(plain.eigenvalues), rtol=1e-6, atol=1e-9)
    Z = np.random.default_rng(1).uniform(size=(30, X.shape[1]))
    for degree in np.unique(model.generators_.degrees):
        expected = plain.kernel(Z, degree)
        np.testing.assert_allclose(
            kernel(model, Z, degree), expected, rtol=0, atol=1e-6 * np.abs(expected).max()
        )


# ------------------------------------------------------------- components of unit length


class Published:
    """The published algorithm on the rows: sums in place of means, all products, no polynomials."""

    def __init__(self, X, psi, max_degree):
        self.m = len(X)
        values, candidates = [np.full((self.m, 1), self.m**-0.5)], X
        self.stages, self.mse = [], []
        while len(self.stages) < max_degree and candidates.shape[1]:
            below = np.hstack(values)
            projection = np.zeros((below.shape[1], candidates.shape[1]))
            for _ in range(2):  # once leaves rounding
                projection += below.T @ (candidates - below @ projection)
            residuals = candidates - below @ projection
            _, sigma, vectors = np.linalg.svd(residuals)
            squares = np.zeros(len(vectors))
            squares[: len(sigma)] = sigma**2
            vanish = squares / self.m <= psi
            lengths = np.where(vanish, 1.0, np.sqrt(squares))
            self.stages.append((projection, vectors.T / lengths, vanish))
            self.mse.append(squares[vanish] / self.m)
            values.append(residuals @ (vectors.T / lengths)[:, ~vanish])
            candidates = self.products(values[1], values[-1])
        self.n_terms = sum(f.shape[1] for f in values)

    @staticmethod
    def products(first, last):
        """All products: f g and g f where both are of degree 1."""
        return (first[:, :, np.newaxis] * last[:, np.newaxis, :]).reshape(len(first), -1)

    def transform(self, Z):
        """Values of the generators of each degree."""
        values, candidates, generators = [np.full((len(Z), 1), self.m**-0.5)], Z, []
        for projection, combine, vanish in self.stages:
            found = (candidates - np.hstack(values) @ projection) @ combine
            generators.append(found[:, vanish])
            values.append(found[:, ~vanish])
            candidates = self.products(values[1], values[-1])
        return generators


@pytest.mark.parametrize(
    ("X", "psi", "max_degree"),
    [
        (UNIFORM, 0.05, 9),
        (UNIFORM, 1e-5, 4),
        (SURFACE, 1e-3, 9),
        (UNIFORM[:15], 0.001, 9),
        (UNIFORM[:30, :2], 1e-5, 5),
        (IRIS[:50], 0.0005, 9),
        (IRIS[:20], 0.0001, 4),
    ],
)
def test_components_of_unit_length(X, psi, max_degree):
    plain = Published(X, psi, max_degree)
    model = fitted(X, psi, max_degree=max_degree, normalization="unit")
    counts = [len(mse) for mse in plain.mse]
    assert model.n_terms_ == plain.n_terms
    np.testing.assert_array_equal(
        model.generators_.degrees, np.repeat(np.arange(1, len(counts) + 1), counts)
    )
    np.testing.assert_allclose(model.mse_, np.concatenate(plain.mse), rtol=1e-6, atol=1e-12 * psi)
    Z = np.random.default_rng(1).uniform(size=(30, X.shape[1]))
    for degree, values in enumerate(plain.transform(Z), start=1):
        expected = values @ values.T
        tolerance = 1e-20 + 1e-6 * np.abs(expected).max()  # all may be zero as polynomials
        np.testing.assert_allclose(kernel(model, Z, degree), expected, rtol=0, atol=tolerance)


def test_repeated_products_are_zero_and_written_as_such():
    model = fitted(UNIFORM[:40, :2], 0.001, normalization="unit", max_degree=2)
    zeros = [g for g in model.generators_ if str(g) == "0"]
    assert len(zeros) == 1
    assert zeros[0].mse < 1e-30
    assert model.generators_.degrees.tolist() == [2, 2, 2]


def test_more_rows_make_more_vanish_among_components_of_unit_length():
    """Repeating rows makes components shorter: psi m^2 is what counts from degree 2 on."""
    once = fitted(UNIFORM, 1e-4, normalization="unit", max_degree=3)
    twice = fitted(np.tile(UNIFORM, (2, 1)), 1e-4, normalization="unit", max_degree=3)
    quarter = fitted(np.tile(UNIFORM, (2, 1)), 2.5e-5, normalization="unit", max_degree=3)
    assert twice.n_terms_ < once.n_terms_ == quarter.n_terms_


# ---------------------------------------------------------------------------------- varieties


def circle(m=60):
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, m)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def sphere():
    points = np.random.default_rng(0).normal(size=(150, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def twisted_cubic():
    t = np.linspace(-1, 1, 40)
    return np.column_stack([t, t**2, t**3])


def crossing_lines():
    t = np.linspace(-1, 1, 31)
    return np.vstack([np.column_stack([t, t]), np.column_stack([t, -t])])


def grid():
    return np.array(list(itertools.product([0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 1.0])))


VARIETIES = {
    "circle": (circle(), [lambda x, y: x**2 + y**2 - 1]),
    "sphere": (sphere(), [lambda x, y, z: x**2 + y**2 + z**2 - 1]),
    "twisted cubic": (
        twisted_cubic(),
        [lambda x, y, z: y - x**2, lambda x, y, z: z - x * y, lambda x, y, z: x * z - y**2],
    ),
    "crossing lines": (crossing_lines(), [lambda x, y: x**2 - y**2]),
    "grid": (
        grid(),
        [
            lambda x, y: x * (x - 0.5) * (x - 1),
            lambda x, y: y * (y - 0.25) * (y - 0.5) * (y - 1),
        ],
    ),
}


@pytest.mark.parametrize("psi", [0, 1e-12, 1e-6])
@pytest.mark.parametrize("name", VARIETIES)
@both
def test_planted_polynomials_are_found(name, psi, normalization):
    X, planted = VARIETIES[name]
    model = fitted(X, psi, max_degree=4, normalization=normalization)
    Z = np.random.default_rng(2).uniform(-1, 1, size=(400, X.shape[1]))
    values = model.generators_.evaluate(Z)
    for polynomial in planted:
        target = polynomial(*Z.T)
        coef = np.linalg.lstsq(values, target, rcond=1e-10)[0]
        assert np.abs(values @ coef - target).max() < 1e-7
    assert model.mse_.max() <= max(psi, 1e-20)


@pytest.mark.parametrize("name", ["circle", "sphere", "crossing lines"])
@both
def test_hypersurface_of_degree_two(name, normalization):
    X, (planted,) = VARIETIES[name]
    model = fitted(X, 1e-9, max_degree=2, normalization=normalization)
    assert model.n_generators_ == 1
    g = model.generators_[0]
    Z = np.random.default_rng(3).uniform(-2, 2, size=(20, X.shape[1]))
    ratio = g(Z) / planted(*Z.T)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-8)


@both
def test_number_of_components_is_the_hilbert_function(normalization):
    # As many components as points at the end; 1 + 2 d on a conic.
    assert fitted(grid(), 0, normalization=normalization).n_terms_ == 12
    assert fitted(circle(), 1e-9, max_degree=5, normalization=normalization).n_terms_ == 11
    assert fitted(twisted_cubic(), 1e-9, max_degree=4, normalization=normalization).n_terms_ == 13
    assert fitted(UNIFORM[:25], 0, normalization=normalization).n_terms_ == 25


@pytest.mark.parametrize("psi", [0, 1e-12, 1e-9])
@pytest.mark.parametrize(("n", "m", "max_degree"), [(1, 60, 8), (2, 150, 8), (3, 150, 5)])
@both
def test_nothing_vanishes_on_generic_points(psi, n, m, max_degree, normalization):
    X = np.random.default_rng(4).uniform(size=(m, n))
    with pytest.warns(UserWarning, match="^VCA: nothing vanishes") as record:
        model = published(psi, max_degree=max_degree, normalization=normalization).fit(X)
    assert len(record) == 1
    assert not issubclass(record[0].category, ConvergenceWarning)
    assert model.n_generators_ == model.degree_ == model.n_coefficients_ == 0
    assert model.transform(X).shape == (m, 0)
    assert model.get_feature_names_out().shape == (0,)
    assert str(model.generators_) == ""


def test_leaving_out_repeated_pairs_is_not_enough():
    X = np.random.default_rng(5).uniform(size=(200, 3))
    assert [len(g) for g in Plain(X, 1e-9, 3, zeros=True).generators] == [0, 0, 8]
    assert [len(g) for g in Plain(X, 1e-9, 3).generators] == [0, 0, 0]
    assert fitted(X, 1e-9, max_degree=3).n_generators_ == 0


@pytest.mark.parametrize("psi", [0, 1e-6, 0.001, 0.01, 0.1])
@both
def test_no_generator_is_zero_off_the_data(psi, normalization):
    for X in (UNIFORM, UNIFORM[:20], IRIS[:50, :3], IRIS[50:, 1:], twisted_cubic(), sphere()):
        model = fitted(X, psi, max_degree=5, normalization=normalization)
        values = model.transform(ANYWHERE)
        size = np.linalg.norm(values, axis=0)
        assert np.all(size > 1e-6)
        # Nor is any combination of one degree's.
        for degree in np.unique(model.generators_.degrees):
            here = values[:, model.generators_.degrees == degree]
            if here.shape[1] <= 20:
                Z = np.random.default_rng(6).uniform(-1, 1, size=(200, 3))
                here = model.generators_.evaluate(Z)[:, model.generators_.degrees == degree]
                sigma = np.linalg.svd(here, compute_uv=False)
                assert sigma[-1] > 1e-8 * sigma[0]


# --------------------------------------------------------------------------------- invariances


@pytest.mark.parametrize("psi", [0, 0.001, 0.01])
@pytest.mark.parametrize("X", [UNIFORM, SURFACE, IRIS[:50, :3], twisted_cubic()])
@both
def test_rows_as_such_do_not_matter(X, psi, normalization):
    model = fitted(X, psi, max_degree=4, normalization=normalization)
    rng = np.random.default_rng(7)
    repeated = fitted(np.repeat(X, 3, axis=0), psi, max_degree=4, normalization=normalization)
    permuted = fitted(rng.permutation(X), psi, max_degree=4, normalization=normalization)
    chunked = fitted(X, psi, max_degree=4, chunk_size=7, normalization=normalization)
    for other in (repeated, permuted, chunked):
        assert_same(model, other, ANYWHERE)
        # Not only the spaces: the generators themselves.
        np.testing.assert_allclose(
            model.generators_.evaluate(ANYWHERE),
            other.generators_.evaluate(ANYWHERE),
            rtol=0,
            atol=1e-5 * np.abs(model.transform(ANYWHERE)).max(initial=1.0),
        )


@both
def test_large_eigenspaces_do_not_depend_on_the_order_of_the_rows(normalization):
    X = np.random.default_rng(14).uniform(size=(60, 15))
    model = fitted(X, 0, max_degree=3, normalization=normalization)
    assert np.bincount(model.generators_.degrees)[2:].min() > 70
    assert np.bincount(model.generators_.degrees).max() > 100
    permuted = fitted(X[::-1], 0, max_degree=3, normalization=normalization)
    Z = np.random.default_rng(15).uniform(size=(20, 15))
    expected = model.transform(Z)
    np.testing.assert_allclose(permuted.transform(Z), expected, rtol=0, atol=1e-6 * expected.max())


@both
def test_weights_are_repetitions(normalization):
    rng = np.random.default_rng(8)
    weight = rng.integers(0, 4, size=len(UNIFORM))
    X = SURFACE[: len(weight)]
    weighted = fitted(X, 0.01, max_degree=4, sample_weight=weight, normalization=normalization)
    repeated = fitted(np.repeat(X, weight, axis=0), 0.01, max_degree=4, normalization=normalization)
    assert weighted.n_generators_ > 0
    assert_same(weighted, repeated, ANYWHERE)
    np.testing.assert_allclose(weighted.mse_, repeated.mse_, rtol=1e-8)
    scaled = fitted(X, 0.01, max_degree=4, sample_weight=1e-3 * weight, normalization=normalization)
    assert_same(weighted, scaled, ANYWHERE)


@both
def test_rotations_of_the_columns_do_not_matter(normalization):
    rotation = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
    model = fitted(SURFACE, 0.02, max_degree=4, normalization=normalization)
    turned = fitted(SURFACE @ rotation, 0.02, max_degree=4, normalization=normalization)
    assert model.n_generators_ > 0
    assert model.n_terms_ == turned.n_terms_
    np.testing.assert_allclose(
        kernel(model, ANYWHERE), kernel(turned, ANYWHERE @ rotation), rtol=1e-6, atol=1e-6
    )


@both
def test_components_are_orthonormal(normalization):
    for X in (SURFACE, UNIFORM[:30]):
        # The components of degree 3 are kept for the generators of degree 4.
        model = fitted(X, 0.01, max_degree=4, normalization=normalization)
        assert model.degree_ == 4
        values = components_of(model.generators_.stages, X.T)
        assert len(values) > 10
        np.testing.assert_allclose(values @ values.T / len(X), np.eye(len(values)), atol=1e-10)
        # Generators are orthogonal to the components up to their own degree.
        moments = values @ model.generators_.evaluate(X) / len(X)
        sizes = np.cumsum([1] + [stage.n_components for stage in model.generators_.stages])
        for column, degree in zip(moments.T, model.generators_.degrees, strict=True):
            np.testing.assert_allclose(column[: sizes[degree]], 0.0, atol=1e-10)


def test_columns_of_any_size():
    # Degree 1 is the only one that sees the size of the columns; the others are normalised.
    for size in (1e-3, 30.0, 1e8):
        for psi in (0.005, 0.1):
            model = fitted(size * IRIS[:50], psi, max_degree=2)
            assert np.all(model.mse_ <= psi)
    large = [fitted(1e8 * X, 0.005, max_degree=3) for X in (UNIFORM[:15], UNIFORM[14::-1])]
    signed = [components_of(model.generators_.stages, 1e8 * ANYWHERE.T) for model in large]
    np.testing.assert_allclose(*signed, rtol=1e-6, atol=1e-6)
    shifted = fitted(1e8 + UNIFORM, 0.05, max_degree=2)
    plain = fitted(UNIFORM, 0.05, max_degree=2)
    assert shifted.n_terms_ == plain.n_terms_
    np.testing.assert_allclose(shifted.mse_, plain.mse_, rtol=1e-5)
    exact = fitted(1e4 * crossing_lines() + 7.0, 0, max_degree=2)
    assert exact.n_generators_ == 1


# ----------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize(
    ("X", "psi", "atol"),
    [
        (SURFACE, 0.002, 1e-10),
        (SURFACE, 0.01, 1e-10),
        (IRIS[:50, :3], 0.002, 1e-10),
        (UNIFORM[:40, :2], 0.01, 1e-10),
        (twisted_cubic(), 0.002, 1e-10),
        (twisted_cubic(), 1e-12, 1e-3),  # from products, next to 1
        (twisted_cubic(), 1e-15, 1e-6),  # on the rows
        (twisted_cubic(), 0, 1e-6),
        (UNIFORM[:20], 0, 1e-6),
    ],
)
def test_gradients_have_mean_square_one_and_are_uncorrelated(X, psi, atol):
    model = fitted(X, psi, max_degree=4, normalization="gradient")
    assert model.n_generators_ > 0
    slopes = np.array([g.gradient(X) for g in model.generators_]) / np.sqrt(len(X))
    for degree in np.unique(model.generators_.degrees):
        here = slopes[model.generators_.degrees == degree].reshape(-1, X.size)
        np.testing.assert_allclose(here @ here.T, np.eye(len(here)), rtol=0, atol=atol)


@pytest.mark.parametrize("size", [1e-80, 1e-3, 30.0, 1e8])
def test_psi_is_in_the_squared_unit_of_the_columns(size):
    for X, psi in ((SURFACE, 0.004), (IRIS[:50], 0.002), (UNIFORM, 0.02)):
        model = fitted(X, psi, normalization="gradient")
        scaled = fitted(size * X, size**2 * psi, normalization="gradient")
        assert model.n_generators_ == scaled.n_generators_ > 0
        assert model.n_terms_ == scaled.n_terms_
        np.testing.assert_allclose(scaled.mse_ / size**2, model.mse_, rtol=1e-6)
        expected = size * model.transform(X)
        np.testing.assert_allclose(scaled.transform(size * X), expected, atol=1e-6 * expected.max())


def test_psi_is_a_squared_distance_in_every_degree():
    rng = np.random.default_rng(16)
    noise = 0.01 * rng.normal(size=400)
    t = rng.uniform(-1, 1, size=400)
    line = np.column_stack([t, noise])
    angle = np.pi * t
    circle = (1.0 + noise[:, np.newaxis]) * np.column_stack([np.cos(angle), np.sin(angle)])
    slope = 3 * t**2 - 1
    across = np.column_stack([-slope, np.ones(400)]) / np.sqrt(1 + slope**2)[:, np.newaxis]
    cubic = np.column_stack([t, t**3 - t]) + noise[:, np.newaxis] * across
    for degree, X in enumerate((line, circle, cubic), start=1):
        smallest = 0.5 * np.mean(noise**2)
        assert fitted(X, smallest, max_degree=degree, normalization="gradient").n_generators_ == 0
        model = fitted(X, 4 * smallest, max_degree=degree, normalization="gradient")
        assert (model.n_generators_, model.degree_) == (1, degree)
        np.testing.assert_allclose(model.mse_, np.mean(noise**2), rtol=0.2)


def test_components_do_not_vanish():
    """Nothing that F spans in a degree has a mean square of psi times that of its gradient."""
    for X, psi in ((SURFACE, 0.004), (UNIFORM, 0.01), (IRIS[:50], 0.002)):
        stages = fitted(X, psi, max_degree=4, normalization="gradient").generators_.stages
        values = components_of(stages, X.T)
        slopes = np.linalg.norm(stages[0].combine[: stages[0].n_components], axis=1)
        pairs = derivatives_of(stages, values, slopes, np.array([0]), np.array([0]))
        derivatives = np.array([along for along, _ in pairs])
        gram = np.einsum("kir,kjr->ij", derivatives, derivatives) / len(X)
        start = 1
        for stage in stages:
            here = slice(start, start + stage.n_components)
            assert np.linalg.eigvalsh(gram[here, here]).max(initial=0.0) < 1.0 / psi
            start += stage.n_components


def test_the_default_is_quick_and_small():
    """The published normalisation has 2,964 components here, and took half a minute."""
    X = np.vstack(training_classes("htru"))
    VCA(0.001).fit(X[:50])  # compiled
    start = time.process_time()
    model = VCA(0.001).fit(X)
    assert time.process_time() - start < 5.0
    assert model.max_degree == model.degree_ == 3
    assert 20 < model.n_terms_ < 100


# ------------------------------------------------------------------------------------- results


MODEL = fitted(SURFACE, 0.01, max_degree=4)


def test_fitted_attributes():
    generators = MODEL.generators_
    assert MODEL.n_generators_ == len(generators) == len(MODEL.mse_) > 3
    assert MODEL.degree_ == generators.degree == generators.degrees.max() > 1
    assert MODEL.sparsity_ == 0.0
    assert np.all(MODEL.mse_ <= 0.01)
    measured = (generators.evaluate(SURFACE) ** 2).mean(axis=0)
    np.testing.assert_allclose(MODEL.mse_, measured, rtol=1e-9)
    np.testing.assert_array_equal(MODEL.mse_, generators.mse)
    assert MODEL.n_coefficients_ > MODEL.n_generators_
    assert repr(generators).startswith(f"<{len(generators)} generators of degree up to")
    combinations = [stage.combine[stage.n_components :] for stage in generators.stages]
    for rows in combinations:
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-10)


def test_expansion_into_monomials():
    Z = np.random.default_rng(10).uniform(-1, 2, size=(40, 3))
    values = MODEL.generators_.evaluate(Z)
    for i, g in enumerate(MODEL.generators_):
        assert isinstance(g, Polynomial)
        assert g.mse == MODEL.mse_[i]
        assert g.degree == MODEL.generators_.degrees[i]
        np.testing.assert_allclose(g(Z), values[:, i], rtol=0, atol=1e-9 * np.abs(values).max())
    assert str(MODEL.generators_[-1]) == str(MODEL.generators_[len(MODEL.generators_) - 1])
    assert [str(g) for g in MODEL.generators_[:2]] == [str(MODEL.generators_[i]) for i in (0, 1)]
    with pytest.raises(IndexError):
        MODEL.generators_[len(MODEL.generators_)]
    table = MODEL.generators_.table()
    assert len(table["equation"]) == MODEL.n_generators_
    assert str(MODEL.generators_).count("\n") == MODEL.n_generators_ - 1


@both
def test_expansion_of_planted_polynomials_is_readable(normalization):
    angle = np.linspace(0, 2 * np.pi, 51)[:-1]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    for size in (1.0, 1e-4, 1e4):
        g = fitted(size * X, 0, max_degree=2, normalization=normalization).generators_[0]
        assert g.terms.tolist() == [[0, 0], [2, 0], [0, 2]]
        np.testing.assert_allclose(g.coef / g.coef[-1], [-(size**2), 1.0, 1.0], rtol=1e-9)


def test_expansion_that_does_not_fit():
    with config_context(working_memory=0.001), pytest.raises(ValueError, match="working memory"):
        pickle.loads(pickle.dumps(MODEL)).generators_[-1]


def test_expansion_in_threads(monkeypatch):
    """No thread sees the table of a degree before it is complete."""
    generators = pickle.loads(pickle.dumps(MODEL.generators_))  # nothing is expanded yet
    last = len(generators) - 1
    assert generators.degrees[last] > 2
    at_degree_two, other_is_done = threading.Event(), threading.Event()
    expand = type(generators)._in_monomials

    def slow(self, degree, *rest):
        if degree == 2 and not at_degree_two.is_set():
            at_degree_two.set()
            other_is_done.wait(10)
        return expand(self, degree, *rest)

    monkeypatch.setattr(type(generators), "_in_monomials", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: str(generators[last]))
        try:
            assert at_degree_two.wait(10)
            second = str(generators[last])
        finally:
            other_is_done.set()
        assert first.result() == second == str(MODEL.generators_[last])


def test_subset_and_combine():
    generators = MODEL.generators_
    values = generators.evaluate(SURFACE)
    rng = np.random.default_rng(11)
    for chosen in ([0], [0, 2], np.arange(len(generators)), np.array([], dtype=int), [-1]):
        some = generators.subset(chosen)
        assert len(some) == len(chosen)
        np.testing.assert_allclose(some.evaluate(SURFACE), values[:, chosen], atol=1e-12)
        weights = rng.normal(size=(len(some), 2))
        for absolute in (False, True):
            expected = some.evaluate(SURFACE, absolute=absolute) @ weights
            found = some.combine(SURFACE, weights, absolute=absolute, chunk_size=13)
            np.testing.assert_allclose(found, expected, atol=1e-10)
    assert len(generators.subset([0]).stages) == 2  # higher degrees are not evaluated


def test_immutable_picklable_renamed():
    generators = MODEL.generators_
    with pytest.raises(AttributeError, match="cannot be changed"):
        generators.mse = None
    with pytest.raises(ValueError, match="read-only"):
        generators.stages[0].combine[0, 0] = 1.0
    again = pickle.loads(pickle.dumps(generators))
    np.testing.assert_array_equal(again.evaluate(SURFACE), generators.evaluate(SURFACE))
    renamed = generators.renamed(["a", "b", "c"])
    assert "a" in str(renamed[0])
    np.testing.assert_array_equal(renamed.evaluate(SURFACE), generators.evaluate(SURFACE))


def test_transform():
    signed = fitted(SURFACE, 0.01, max_degree=4, absolute=False)
    np.testing.assert_array_equal(MODEL.transform(SURFACE), np.abs(signed.transform(SURFACE)))
    single = MODEL.transform(SURFACE.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, MODEL.transform(SURFACE), rtol=1e-4, atol=1e-4)
    out = np.full((len(SURFACE), MODEL.n_generators_ + 2), 7.0)
    MODEL.generators_.evaluate(SURFACE, absolute=True, out=out[:, 1:-1])
    np.testing.assert_array_equal(out[:, 1:-1], MODEL.transform(SURFACE))
    np.testing.assert_array_equal(out[:, [0, -1]], 7.0)


def test_names():
    names = MODEL.get_feature_names_out()
    assert names[0] == "|vca_d2_0|"
    assert len(set(names)) == MODEL.n_generators_
    degrees = MODEL.generators_.degrees
    assert names[-1] == f"|vca_d{degrees[-1]}_{len(names) - 1}|"
    with pytest.raises(ValueError, match="input_features"):
        MODEL.get_feature_names_out(["a"])


# -------------------------------------------------------------------------------------- limits


def test_max_degree_and_max_terms():
    model = fitted(UNIFORM, 0.3, max_degree=3)
    assert model.degree_ <= 3
    with pytest.warns(ConvergenceWarning, match="max_terms=6"):
        small = published(0.01, max_terms=6).fit(UNIFORM)
    assert small.n_terms_ == 4  # degree 2 would have added six
    assert np.all(small.mse_ <= 0.01)
    # What was found before stays.
    X = np.column_stack([UNIFORM[:, :2], UNIFORM[:, 0]])
    with pytest.warns(ConvergenceWarning, match="max_terms=3"):
        found = published(1e-6, max_terms=3).fit(X)
    assert found.n_terms_ == 3
    assert found.n_generators_ == 1


def test_working_memory():
    with (
        config_context(working_memory=0.02),
        pytest.warns(ConvergenceWarning, match="candidates of degree 4 would need") as record,
    ):
        model = published(0.001).fit(IRIS[:50])
    assert len(record) == 1
    assert model.degree_ == 1
    assert model.n_generators_ > 0


def test_overflow():
    with pytest.warns(ConvergenceWarning, match="overflow"):
        model = VCA().fit(1e200 * UNIFORM)
    assert model.n_generators_ == 0
    assert model.transform(UNIFORM).shape == (80, 0)


def test_small_inputs():
    one = fitted(UNIFORM[:1], 0)
    assert (one.n_terms_, one.n_generators_, one.degree_) == (1, 3, 1)
    column = fitted(UNIFORM[:5, :1], 0)
    assert (column.n_terms_, column.n_generators_, column.degree_) == (5, 1, 5)
    constant = fitted(np.full((1000, 2), 0.1), 0)
    assert (constant.n_terms_, constant.n_generators_) == (1, 2)
    duplicate = fitted(np.column_stack([UNIFORM[:, 0], UNIFORM[:, 0]]), 0, max_degree=3)
    assert (duplicate.n_terms_, duplicate.n_generators_) == (4, 1)
    integers = fitted(np.array([[0, 1], [1, 0], [1, 1]]), 0)
    assert integers.n_terms_ == 3


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"psi": -0.1}, ValueError),
        ({"psi": 1.0}, ValueError),
        ({"psi": "a"}, TypeError),
        ({"normalization": "coefficient"}, ValueError),
        ({"max_degree": 0}, ValueError),
        ({"max_degree": 1.5}, TypeError),
        ({"max_terms": 0}, ValueError),
        ({"chunk_size": 0}, ValueError),
    ],
)
def test_bad_parameters(parameters, error):
    with pytest.raises(error, match=next(iter(parameters))):
        published(**parameters).fit(UNIFORM)


def test_verbose(capsys):
    fitted(UNIFORM, 0.01, max_degree=2, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line[:15] for line in lines] == ["[VCA] degree 1:", "[VCA] degree 2:"]


# -------------------------------------------------------------------------------- scikit-learn


@pytest.mark.filterwarnings("ignore:VCA")
@parametrize_with_checks([VCA(), VCA(psi=0, max_degree=4), VCA(psi=0.1, max_degree=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_features_and_classifier():
    X, y = load_iris(return_X_y=True)
    # In higher degrees few rows a class are interpolated, and features of other rows explode.
    transformer = VCA(psi=0.01, max_degree=3)
    features = VanishingFeatures(transformer).fit(IRIS, y)
    assert features.transform(IRIS).shape == (150, features.n_generators_)
    assert features.sparsity_ == 0.0
    assert len(set(features.get_feature_names_out())) == features.n_generators_
    model = VanishingClassifier(clone(transformer), C=10.0, clip=False).fit(X[::2], y[::2])
    assert 0.9 <= model.score(X[1::2], y[1::2]) <= 1.0
    direct = model.final_estimator_.decision_function(
        model.features_.transform(model.scaler_.transform(X))
    )
    np.testing.assert_allclose(model.decision_function(X), direct, atol=1e-8)
    assert model.explain(X[:1])[0][0]["generator"].degree >= 1


# ----------------------------------------------------------------------------- the paper's data


@pytest.mark.parametrize("psi", [0.1, 0.005])
@pytest.mark.parametrize("name", ["bank", "seeds", "htru"])
@both
def test_data_sets(name, psi, normalization):
    for X in training_classes(name):
        model = fitted(X, psi, max_degree=4, normalization=normalization)
        assert np.all(model.mse_ <= psi)
        assert model.n_generators_ > 0
        Z = np.random.default_rng(12).uniform(size=(100, X.shape[1]))
        assert np.all(np.linalg.norm(model.transform(Z), axis=0) > 1e-6)
        other = fitted(
            np.random.default_rng(13).permutation(X), psi, max_degree=4, normalization=normalization
        )
        assert_same(model, other, Z)


def test_spam_in_bounded_memory():
    classes = training_classes("spam")
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning, match="candidates of degree 3"):
        models = [published(0.001).fit(X) for X in classes]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 2**20
    for model in models:
        assert np.all(model.mse_ <= 0.001)
        assert model.degree_ == 2
