"""Generators as a basis: division, membership, points back, dimension, nearest points."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from vanishing import ABM, AVI, OAVI, VCA, Blocks, BuchbergerMoller, load
from vanishing.algebra.division import coefficients_of
from vanishing.polynomials import ExactPolynomial, Polynomial


def circle(n_rows, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X, X + noise * rng.normal(size=X.shape)


def random_polynomial(rng, n_features, degree=4, kind=float):
    terms = rng.integers(0, 3, (6, n_features))
    terms = np.unique(terms[terms.sum(axis=1) <= degree], axis=0)
    terms = terms if len(terms) else np.zeros((1, n_features), dtype=int)
    if kind is Fraction:
        return ExactPolynomial(
            terms, [Fraction(int(c), 3) for c in rng.integers(-5, 6, len(terms))]
        )
    return Polynomial(terms, rng.normal(size=len(terms)))


# -- Complete or not ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [OAVI, ABM, AVI])
def test_a_construction_says_whether_its_border_was_empty(make):
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(ConvergenceWarning, match="not complete, terms of degree 11"):
        short = make(psi=0, border="gb").fit(X)
    assert not short.complete_ and (short.n_terms_, short.n_generators_) == (21, 1)
    assert repr(short).endswith("not complete: terms are left in its border")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = make(psi=0, max_degree=30, border="gb").fit(X)
    assert whole.complete_ and (whole.n_terms_, whole.n_generators_) == (40, 3)
    assert "complete" not in repr(whole)


def test_other_reasons_to_stop_leave_a_border():
    X = np.random.default_rng(0).uniform(size=(200, 3))
    with pytest.warns(ConvergenceWarning, match="max_terms"):
        assert not OAVI(psi=1e-9, max_terms=5).fit(X).complete_
    assert not OAVI(psi=1e-12, max_degree=2).fit(X).complete_
    assert OAVI(psi=0.05).fit(X).complete_
    assert not VCA(psi=1e-9, max_degree=2).fit(X).complete_
    assert VCA(psi=1e-9, max_degree=4).fit(X[:4]).complete_
    assert not BuchbergerMoller(max_degree=2).fit([[i] for i in range(5)]).complete_
    assert BuchbergerMoller().fit([[i] for i in range(5)]).complete_


# -- Division -------------------------------------------------------------------------------------


def check_division(f, reduction, generators, terms, rng, exact=False):
    """Assert that f = r + sum q g at random points, r in the span of O."""
    remainder, quotients = reduction
    allowed = set(map(tuple, terms.tolist()))
    assert {t for t, c in coefficients_of(remainder).items() if c} <= allowed
    assert len(quotients) == len(generators)
    if exact:
        for _ in range(3):
            point = [Fraction(int(x), 7) for x in rng.integers(-9, 9, f.terms.shape[1])]
            total = remainder(point) + sum(
                q(point) * g(point) for q, g in zip(quotients, generators, strict=True)
            )
            assert total == f(point)
        return
    X = rng.uniform(-1, 1, (20, f.terms.shape[1]))
    parts = [q(X) * g(X) for q, g in zip(quotients, generators, strict=True)]
    size = np.abs(f(X)) + np.abs(remainder(X)) + sum(map(np.abs, parts))
    assert (np.abs(remainder(X) + sum(parts) - f(X)) <= 1e-9 * (size + 1e-6)).all()


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("make", [OAVI, ABM])
def test_division_is_an_identity_of_polynomials(make, border):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 3))
    for order in ("given", "rev_pearson"):
        model = make(psi=0.01, border=border, feature_order=order).fit(X @ np.diag([1, 0.5, 0.8]))
        assert model.complete_
        for _ in range(5):
            f = random_polynomial(rng, 3)
            check_division(f, model.reduce(f), model.generators_, model.terms_, rng)


def test_the_mean_square_of_a_polynomial_is_bounded():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 3, (400, 2))
    model = ABM(psi=0.5).fit(X)
    for _ in range(20):
        f = random_polynomial(rng, 2)
        bound, measured = model.mean_square_bound(f), np.mean(f(X) ** 2)
        assert measured <= bound * (1 + 1e-9)
        assert model.contains(f, tol=1.01 * bound) and not model.contains(f, tol=0.5 * measured)
    # Not by much: a generator times a variable is as small as the two together allow.
    g = model.generators_[0]
    times_x0 = Polynomial(g.terms + np.array([1, 0]), g.coef)
    assert model.mean_square_bound(times_x0) <= 1.001 * 9 * g.mse


def test_exact_rows_contain_what_vanishes_on_them():
    X, _ = circle(200)
    model = OAVI(psi=0, max_degree=4)
    with pytest.warns(ConvergenceWarning, match="not complete"):
        model.fit(X)
    assert model.contains("x0*(x0^2 + x1^2 - 1)") and not model.contains("x0^2 + x1^2 - 1.0001")
    assert model.contains(model.generators_[0])
    with pytest.raises(ValueError, match=r"x0\^7 is beyond .* larger max_degree"):
        model.reduce("x0^7")


def test_bad_polynomials_are_refused():
    X, _ = circle(50)
    model = ABM(psi=1e-6, max_degree=2).fit(X)
    with pytest.raises(ValueError, match="3 variables, but the model has 2"):
        model.reduce(Polynomial([[1, 0, 0]], [1.0]))
    with pytest.raises(TypeError, match="got list"):
        model.reduce([1.0])
    with pytest.raises(ValueError, match="tol"):
        model.contains("x0", tol=-1)
    with pytest.raises(ValueError, match="not complete"):
        model.multiplication_matrices()
    with pytest.raises(ValueError, match="points are those of an exact ideal"):
        model.points()


def exact_cases(n_cases):
    for seed in range(n_cases):
        rng = np.random.default_rng(seed)
        n_features = int(rng.integers(1, 4))
        points = rng.integers(-4, 5, (rng.integers(1, 8), n_features))
        yield rng, points, random_polynomial(rng, n_features, kind=Fraction)


def agree_with_sympy(n_cases):
    sympy = pytest.importorskip("sympy")
    n_contained = 0
    for rng, points, f in exact_cases(n_cases):
        model = BuchbergerMoller().fit(points)
        if rng.random() < 0.3:  # in the ideal
            g = model.generators_[int(rng.integers(model.n_generators_))]
            f = ExactPolynomial(g.terms + rng.integers(0, 2, g.terms.shape[1]), g.coef)
        reduction = model.reduce(f)
        check_division(f, reduction, model.generators_, model.terms_, rng, exact=True)
        symbols = sympy.symbols(f"x:{points.shape[1]}")
        basis = [g.to_sympy() for g in model.generators_]
        _, remainder = sympy.reduced(f.to_sympy(), basis, *symbols[::-1], order="grlex")
        assert sympy.expand(remainder - reduction.remainder.to_sympy()) == 0
        vanishes = not any(f([int(x) for x in p]) for p in points)
        assert model.contains(f) == vanishes == (remainder == 0)
        n_contained += vanishes
    assert 0.2 * n_cases < n_contained < 0.9 * n_cases


def test_exact_division_agrees_with_sympy():
    agree_with_sympy(15)


@pytest.mark.slow
def test_exact_division_agrees_with_sympy_on_200_cases():
    agree_with_sympy(200)


def test_numbers_in_texts_are_simple_fractions():
    model = BuchbergerMoller().fit([["1/3", "0.1"], ["2/3", "0.2"]])
    assert model.contains("x0 - 10/3*x1") and model.contains("0.3*x0 - x1")
    assert not model.contains("x0 - 3.3333*x1")


# -- Points back ----------------------------------------------------------------------------------


def distance_of_sets(points, others):
    assert points.shape == others.shape
    return max(np.abs(others - p).max(axis=1).min() for p in points)


def test_multiplication_matrices_commute_and_have_the_points_as_eigenvalues():
    points = np.array([[0.0, 1.0], [0.5, 0.25], [1.0, -1.0], [-0.5, 0.75]])
    model = OAVI(psi=0).fit(points)
    first, second = model.multiplication_matrices()
    np.testing.assert_allclose(first @ second, second @ first, atol=1e-12)
    for matrix, column in zip((first, second), points.T, strict=True):
        eigenvalues = np.sort(np.linalg.eigvals(matrix).real)
        np.testing.assert_allclose(eigenvalues, np.sort(column), atol=1e-10)


@pytest.mark.parametrize("n_sets", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_points_come_back(n_sets):
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        n_features = int(rng.integers(1, 4))
        points = rng.uniform(-1, 1, (rng.integers(1, 12), n_features))
        model = OAVI(psi=0, max_degree=20).fit(points)
        assert distance_of_sets(points, model.points()) < 1e-8
        whole = np.unique(rng.integers(-20, 21, points.shape), axis=0)
        assert distance_of_sets(whole, BuchbergerMoller().fit(whole).points()) < 1e-8


def test_ideals_without_distinct_real_points_are_refused():
    model = BuchbergerMoller().fit([[0], [1]])
    # x^2 + 1 and x^2 in place of x^2 - x.
    for coef, message in (([1, 0], "complex"), ([0, 0], "repeated")):
        model.coef_ = np.array([[Fraction(c) for c in coef]], dtype=object)
        model.generators_ = [ExactPolynomial([[0], [1], [2]], [*coef, 1])]
        with pytest.raises(ValueError, match=message):
            model.points()


# -- Dimension ------------------------------------------------------------------------------------


def twisted_cubic(rng, n_rows):
    t = rng.uniform(-1, 1, n_rows)
    return np.column_stack([t, t**2, t**3]), 1, 3


def sphere(rng, n_rows):
    v = rng.normal(size=(n_rows, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True), 2, 2


def five_points(rng, n_rows):
    # Apart from one another: noise makes one of two that are near.
    corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1], [0, 0]])
    points = corners + rng.uniform(-0.3, 0.3, (5, 2))
    return points[rng.integers(5, size=n_rows)], 0, 5


def cone(rng, n_rows):
    angle, z = rng.uniform(0, 2 * np.pi, n_rows), rng.uniform(-1, 1, n_rows)
    return np.column_stack([z * np.cos(angle), z * np.sin(angle), z]), 2, 2


def plane_and_line(rng, n_rows):
    X = rng.uniform(-1, 1, (n_rows, 3))
    X[: n_rows // 2, 2] = 0.0
    X[n_rows // 2 :, :2] = 0.0
    return X, 2, 1


def linear_twelve(rng, n_rows):
    return rng.uniform(-1, 1, (n_rows, 5)) @ rng.uniform(-0.5, 0.5, (5, 12)), 5, 1


VARIETIES = [twisted_cubic, sphere, five_points, cone, plane_and_line, linear_twelve]


def dimensions_of(variety, seed, noise):
    rng = np.random.default_rng(seed)
    X, *expected = variety(rng, int(rng.choice([100, 400])))
    if not noise:
        model = OAVI(psi=1e-12, oracle="ls", max_degree=4)
    else:
        X = X + noise * X.std(axis=0) * rng.normal(size=X.shape)
        model = ABM(psi=3e-4, max_degree=4, normalization="gradient")
    return model.fit(X).dimension(), tuple(expected)


def check_dimensions(variety, n_seeds):
    for seed in range(n_seeds):
        found, expected = dimensions_of(variety, seed, 0.0)
        assert found[:2] == expected
    found = [dimensions_of(variety, seed, 0.01) for seed in range(n_seeds)]
    assert all(f[:2] == expected or not f.certain for f, expected in found)
    if variety is not twisted_cubic:  # noise of 1 % hides what tells its equations from others
        assert np.mean([f[:2] == expected for f, expected in found]) >= 0.9


@pytest.mark.parametrize("variety", VARIETIES)
def test_planted_dimensions_are_counted(variety):
    check_dimensions(variety, 5)


@pytest.mark.slow
@pytest.mark.parametrize("variety", VARIETIES)
def test_fifty_planted_dimensions_are_counted(variety):
    check_dimensions(variety, 50)


def without_equations(kind, rng, shape):
    if kind == "far":
        return rng.normal(size=shape) + 1e4
    if kind == "lognormal":
        return np.exp(rng.normal(size=shape))
    if kind == "heavy":
        return rng.standard_t(2, size=shape)
    return getattr(rng, kind)(size=shape)


@pytest.mark.parametrize("psi", [1e-12, 1e-4, 0.005, 0.05])
@pytest.mark.parametrize("kind", ["uniform", "normal", "heavy", "lognormal", "far"])
@pytest.mark.filterwarnings("ignore")
def test_rows_without_equations_have_full_dimension(kind, psi):
    for seed, n_rows in enumerate((30, 200, 1000)):
        X = without_equations(kind, np.random.default_rng(seed), (n_rows, 3))
        assert OAVI(psi=psi, max_degree=4).fit(X).dimension().dimension in (None, 3)


def test_a_model_that_was_loaded_knows_its_dimension(tmp_path):
    X, noisy = circle(300, 0.01)
    for model in (OAVI(psi=0.001).fit(noisy), ABM(psi=1e-6, max_degree=3).fit(X)):
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.dimension() == model.dimension()
        assert again.complete_ == model.complete_
        np.testing.assert_array_equal(again.max_abs_, model.max_abs_)
        np.testing.assert_array_equal(again.project(noisy[:5]), model.project(noisy[:5]))
    exact = BuchbergerMoller().fit([[1, 2], [3, 4]])
    exact.save(tmp_path / "exact.json")
    assert load(tmp_path / "exact.json").complete_ is True


def test_blocks_and_weights_measure_the_same_rows():
    _, X = circle(500, 0.01)
    X[::7] *= 3.0
    weights = np.ones(500)
    weights[::7] = 0.0
    kept = X[weights > 0.0]
    halves = Blocks(lambda: iter([kept[:100], kept[100:]]))
    alone = OAVI(psi=0.001).fit(kept)
    weighted, blocks = OAVI(psi=0.001).fit(X, sample_weight=weights), OAVI(psi=0.001).fit(halves)
    for model in (weighted, blocks):
        np.testing.assert_array_equal(model.max_abs_, np.abs(kept).max(axis=0))
        assert model.complete_ == alone.complete_
    assert weighted.dimension() == alone.dimension() == (1, 2, alone.dimension().certain)
    assert blocks.dimension() == (None, None, False)  # rows stay where they are


# -- Nearest points -------------------------------------------------------------------------------


def test_nearest_points_are_nearest():
    model = ABM(psi=1e-12, max_degree=3).fit(twisted_cubic(np.random.default_rng(0), 300)[0])
    rng = np.random.default_rng(1)
    X = twisted_cubic(rng, 8)[0] + 0.05 * rng.normal(size=(8, 3))
    noise = np.array([0.5, 1.0, 2.0])
    points = model.project(X, noise=noise)

    def distance(t, x):
        return np.sum(((np.array([t, t**2, t**3]).ravel() - x) / noise) ** 2)

    for x, point in zip(X, points, strict=True):
        best = min(minimize(distance, t, args=(x,)).fun for t in np.linspace(-1.2, 1.2, 9))
        np.testing.assert_allclose(point[1:], [point[0] ** 2, point[0] ** 3], atol=1e-7)
        np.testing.assert_allclose(distance(point[0], x), best, rtol=1e-4)
    np.testing.assert_allclose(model.project(points, noise=noise), points, atol=1e-7)
    step = model.project(X, noise=noise, first_order=True)
    np.testing.assert_allclose(step, points, atol=0.03)
    assert np.abs(step - points).max() > 1e-4


@pytest.mark.parametrize(
    "model", [OAVI(psi=0.005), ABM(psi=0.001), AVI(psi=0.001), VCA(psi=0.001, max_degree=2)]
)
def test_noise_across_a_circle_is_taken_out(model):
    true, noisy = circle(2000, 0.02)
    points = model.fit(noisy).project(noisy)
    share = np.sum((points - true) ** 2) / np.sum((noisy - true) ** 2)
    assert 0.47 < share < 0.53
    np.testing.assert_allclose(model.project(points), points, atol=1e-6)


def test_rows_without_a_near_point_are_named():
    X, _ = circle(100)
    model = OAVI(psi=1e-9, oracle="ls", max_degree=2).fit(X)
    with pytest.warns(UserWarning, match="1 of 2 rows .* and are NaN: 1"):
        points = model.project([[2.0, 0.0], [0.0, 0.0]])  # all of the circle is as near
    np.testing.assert_allclose(points[0], [1.0, 0.0], atol=1e-7)
    assert np.isnan(points[1]).all()
    with pytest.raises(ValueError, match="noise must be positive"):
        model.project(X, noise=[1.0, 0.0])
    with pytest.raises(TypeError, match="project does not take blocks"):
        model.project(Blocks(lambda: iter([X])))
