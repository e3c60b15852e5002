"""Gradients as the unit: ABM(normalization="gradient"), and distances of rows from zeros."""

import warnings

import numpy as np
import pytest
from helpers import as_tuples, assert_same_model
from reference import border as reference_border
from reference import evaluate
from scipy.linalg import eigh
from sklearn.base import clone

from vanishing import ABM, OAVI, VCA, Moments, VanishingClassifier, load
from vanishing.polynomials import Polynomial


def curve(name, m=300, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, m)
    X = {
        "circle": lambda: np.column_stack([np.cos(3.2 * t), np.sin(3.2 * t)]),
        "ellipse": lambda: np.column_stack([1.5 * np.cos(3.2 * t), 0.7 * np.sin(3.2 * t)]),
        "parabola": lambda: np.column_stack([t, t**2]),
        "cubic": lambda: np.column_stack([t, t**3]),
        "twisted cubic": lambda: np.column_stack([t, t**2, t**3]),
        "square": lambda: rng.uniform(-1, 1, (m, 2)),
        "cube": lambda: rng.uniform(0, 1, (m, 3)),
    }[name]()
    return X + noise * rng.normal(size=X.shape)


def gradient_abm(psi, max_degree=3, **parameters):
    return ABM(psi, max_degree=max_degree, normalization="gradient", **parameters)


def fit(model, X, **weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, **weights)


def relative(polynomial):
    return dict(
        zip(as_tuples(polynomial.terms), polynomial.coef / polynomial.leading_coef, strict=True)
    )


# ------------------------------------------------------------------------------ what it computes


def slowly(X, psi, max_degree, weight=None, border="gb", noise=1.0):
    """Border term after border term, on evaluated terms and gradients: (O, [(u, mse, coef)])."""
    weight = np.full(len(X), 1 / len(X)) if weight is None else weight / weight.sum()
    terms, found = [(0,) * X.shape[1]], []
    for degree in range(1, max_degree + 1):
        for u in reference_border(terms, degree, border):
            over = np.array([*terms, u])
            G = evaluate(over, X).T @ (weight[:, np.newaxis] * evaluate(over, X))
            H = np.zeros_like(G)
            for j in range(X.shape[1]):
                lower = np.maximum(over - (np.arange(X.shape[1]) == j), 0)
                slope = evaluate(lower, X) * over[:, j] * np.broadcast_to(noise, X.shape[1])[j]
                H += slope.T @ (weight[:, np.newaxis] * slope)
            values, vectors = eigh(H, G)  # the largest |grad g|^2 of all with mean square 1
            if values[-1] * psi >= 1:
                v = vectors[:, -1] / np.sqrt(values[-1])
                found.append((u, 1 / values[-1], v * np.sign(v[-1])))
            else:
                terms.append(u)
    return terms, found


@pytest.mark.parametrize("psi", [1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("name", ["circle", "parabola", "cubic", "twisted cubic", "square", "cube"])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_a_plain_version(name, psi, weighted):
    X = curve(name, noise=0.05)
    weight = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    model = fit(gradient_abm(psi), X, sample_weight=weight)
    terms, found = slowly(X, psi, 3, weight)
    assert as_tuples(model.terms_) == terms
    assert as_tuples(model.leading_terms_) == [u for u, _, _ in found]
    np.testing.assert_allclose(model.mse_, [mse for _, mse, _ in found], rtol=1e-6)
    for g, (_, _, v) in zip(model.generators_, found, strict=True):
        expected = dict(zip([*terms, None], v, strict=False)) | {tuple(g.leading_term): v[-1]}
        for term, value in zip(as_tuples(g.terms), g.coef, strict=True):
            assert value == pytest.approx(expected[term], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["circle", "parabola", "cubic", "cube"])
def test_gradients_are_of_mean_square_one(name):
    X = curve(name, noise=0.05)
    weight = np.random.default_rng(1).uniform(0, 2, len(X))
    for weights in (None, weight):
        model = fit(gradient_abm(0.05), X, sample_weight=weights)
        assert model.n_generators_ > 0
        for g in model.generators_:
            squares = (g.gradient(X) ** 2).sum(axis=1)
            assert np.average(squares, weights=weights) == pytest.approx(1, rel=1e-9)
            assert g.leading_coef > 0
            assert np.average(g(X) ** 2, weights=weights) == pytest.approx(g.mse, rel=1e-9)


@pytest.mark.parametrize("name", ["circle", "ellipse", "parabola"])
@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_the_mean_square_is_a_squared_distance(name, noise):
    """To first order that of the rows from the zeros, which noise s makes s^2."""
    X = curve(name, m=4000, noise=noise)
    (g,) = fit(gradient_abm(4 * noise**2, max_degree=2), X).generators_
    assert g.mse == pytest.approx(np.mean(g.distance(X) ** 2), rel=0.1)
    assert g.mse == pytest.approx(noise**2, rel=0.1)


@pytest.mark.parametrize("unit", [1000.0, 0.001])
@pytest.mark.parametrize("name", ["circle", "cubic", "twisted cubic"])
def test_the_unit_of_the_columns_does_not_matter(name, unit):
    """All columns times a number, psi times its square: the same (G, O), in other units."""
    X = curve(name, noise=0.03)
    psi = 0.004
    model, other = fit(gradient_abm(psi), X), fit(gradient_abm(psi * unit**2), unit * X)
    assert as_tuples(other.terms_) == as_tuples(model.terms_)
    assert as_tuples(other.leading_terms_) == as_tuples(model.leading_terms_)
    assert model.n_generators_ > 0
    np.testing.assert_allclose(other.mse_, unit**2 * model.mse_, rtol=1e-6)
    for g, h in zip(model.generators_, other.generators_, strict=True):
        np.testing.assert_allclose(h(unit * X), unit * g(X), rtol=0, atol=unit * 1e-6)
    # Of the coefficients as the unit that cannot be said.
    one, two = ABM(psi, max_degree=3), ABM(min(psi * unit**2, 0.999), max_degree=3)
    leading = [as_tuples(fit(m, c * X).leading_terms_) for m, c in ((one, 1), (two, unit))]
    assert leading[0] != leading[1]


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.5])
def test_neither_does_the_direction_of_the_axes(angle):
    X = curve("ellipse", noise=0.03)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    (g,) = fit(gradient_abm(0.002, max_degree=2), X).generators_
    (h,) = fit(gradient_abm(0.002, max_degree=2), X @ rotation).generators_
    points = np.random.default_rng(0).uniform(-2, 2, (50, 2))
    values = h(points @ rotation)
    sign = np.sign(values[0] * g(points)[0])
    np.testing.assert_allclose(sign * values, g(points), rtol=0, atol=1e-8)
    assert h.mse == pytest.approx(g.mse, rel=1e-8)


def test_no_conic_is_taken_for_a_cubic_because_it_is_flat():
    """Of x1 = x0^3 with noise, coefficients as the unit find what is no law, at any psi.

    The conic x1^2 - 1.4 x0 x1 + 0.5 x0^2 is about (x1 - x0 / sqrt(2))^2: small, and so is its
    gradient. As a distance it is large.
    """
    noise = 0.02
    X = curve("cubic", m=2000, noise=noise)
    for psi in np.geomspace(1e-5, 0.1, 25):
        leading = as_tuples(fit(ABM(psi, max_degree=3), X).leading_terms_)
        assert (3, 0) not in leading or sum(leading[0]) < 3
    model = fit(gradient_abm(1.5 * noise**2), X)
    assert tuple(model.leading_terms_[0]) == (3, 0)
    found = relative(model.generators_[0])
    truth = {(0, 1): -1.0, (3, 0): 1.0}
    assert max(abs(c - truth.get(t, 0)) for t, c in found.items()) < 0.15
    assert model.generators_[0].mse == pytest.approx(noise**2, rel=0.15)


def test_a_small_circle():
    """Its squares are all below psi, which says nothing about distances."""
    X = 0.01 * curve("circle", noise=0.01)
    for psi in (1e-6, 1e-7):
        flat = fit(ABM(psi, max_degree=2), X)
        assert flat.n_generators_ == 3  # x0^2, x0 x1 and x1^2
    (g,) = fit(gradient_abm(1e-7, max_degree=2), X).generators_
    assert relative(g)[(2, 0)] == pytest.approx(1, abs=0.02)
    assert relative(g)[(0, 0)] == pytest.approx(-1e-4, rel=0.02)


# --------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("name", ["circle", "parabola", "twisted cubic"])
def test_psi_zero_is_exact(name):
    X = curve(name, m=60)
    model = fit(gradient_abm(0), X)
    exact = fit(OAVI(0, oracle="ls", max_degree=3), X)
    assert as_tuples(model.terms_) == as_tuples(exact.terms_)
    assert as_tuples(model.leading_terms_) == as_tuples(exact.leading_terms_)
    coef = model.coef_ / model.leading_coef_[:, np.newaxis]
    np.testing.assert_allclose(coef, exact.coef_, rtol=0, atol=1e-8)
    assert model.mse_.max() < 1e-20


@pytest.mark.parametrize("name, psi", [("circle", 1e-3), ("cubic", 0.1), ("twisted cubic", 1e-3)])
def test_the_other_border_against_the_definition(name, psi):
    """Divisors of its terms may lead generators: their moments are no part of O's."""
    X = curve(name, noise=0.01)
    model = fit(gradient_abm(psi, border="bb"), X)
    terms, found = slowly(X, psi, 3, border="bb")
    assert as_tuples(model.terms_) == terms
    assert as_tuples(model.leading_terms_) == [u for u, _, _ in found]
    assert model.n_generators_ > fit(gradient_abm(psi), X).n_generators_
    np.testing.assert_allclose(model.mse_, [mse for _, mse, _ in found], rtol=1e-6, atol=1e-12)
    for g in model.generators_:
        assert np.mean(np.sum(g.gradient(X) ** 2, axis=1)) == pytest.approx(1.0)


def test_noise_per_column():
    noise = np.array([0.02, 0.2])
    X = curve("circle", m=3000) + np.random.default_rng(1).normal(scale=noise, size=(3000, 2))
    for border in ("gb", "bb"):
        model = fit(gradient_abm(2.0, 2, noise=noise, border=border), X)
        terms, found = slowly(X, 2.0, 2, noise=noise, border=border)
        assert as_tuples(model.terms_) == terms
        (g,) = model.generators_
        np.testing.assert_allclose(g.coef[-1], found[0][2][-1], rtol=1e-6)
        assert g.mse == pytest.approx(1.0, rel=0.2)  # as much as the noise explains
        slope = np.mean(np.sum((noise * g.gradient(X)) ** 2, axis=1))
        assert slope == pytest.approx(1.0)


def test_one_noise_for_all_columns_is_a_unit_of_distance():
    X = curve("circle", noise=0.05)
    plain, scaled = gradient_abm(0.005).fit(X), gradient_abm(0.005 / 0.05**2, noise=0.05).fit(X)
    assert as_tuples(plain.leading_terms_) == as_tuples(scaled.leading_terms_)
    np.testing.assert_allclose(plain.coef_, 0.05 * scaled.coef_, rtol=1e-8, atol=1e-12)


def test_noise_on_blocks_with_weights_and_in_a_file(tmp_path):
    X, noise = curve("ellipse", noise=0.02), np.array([0.03, 0.01])
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = gradient_abm(2.0, noise=noise, border="bb").fit(X, sample_weight=weight)
    repeated = gradient_abm(2.0, noise=noise, border="bb").fit(np.repeat(X, weight, axis=0))
    assert_same_model(model, repeated, coef_tol=1e-8)
    blocks = gradient_abm(2.0, noise=noise, border="bb").fit(lambda: (X[i::7] for i in range(7)))
    plain = gradient_abm(2.0, noise=noise, border="bb").fit(X)
    assert_same_model(blocks, plain, coef_tol=1e-8)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert_same_model(loaded, model, coef_tol=0)
    np.testing.assert_array_equal(loaded.noise, noise)


def test_noise_that_is_refused():
    X = curve("circle", noise=0.05)
    for bad in (-1.0, [0.1, 0.1, 0.1], "much", np.nan):
        with pytest.raises(ValueError, match="noise must be a number, or one for each of the 2"):
            gradient_abm(2.0, noise=bad).fit(X)
    with pytest.raises(ValueError, match="zero for all columns"):
        gradient_abm(2.0, noise=0.0).fit(X)
    with pytest.raises(ValueError, match="needs normalization='gradient'"):
        ABM(noise=0.1).fit(X)
    moments = Moments(2, max_degree=3).update(X).debiased(0.05)
    with pytest.raises(ValueError, match="know their noise"):
        gradient_abm(2.0, noise=0.1).fit_moments(moments)


@pytest.mark.parametrize("make", [ABM, OAVI])
def test_debiased_moments_with_the_other_border(make):
    X = curve("circle", m=20_000, noise=0.1)
    moments = Moments(2, max_degree=3).update(X).debiased(0.1)
    models = [make(0.005, max_degree=3, border=b).fit_moments(moments) for b in ("gb", "bb")]
    first, second = (model.generators_[0] for model in models)
    assert models[1].n_generators_ > models[0].n_generators_
    np.testing.assert_allclose(first.coef, second.coef, rtol=1e-8)
    law = dict(zip(as_tuples(first.terms), first.coef / first.leading_coef, strict=True))
    assert law[(0, 0)] == pytest.approx(-1.0, abs=0.02)
    for g in models[1].generators_:  # multiples of the circle: all of them vanish on it
        assert np.abs(g(curve("circle"))).max() < 0.2 * np.abs(g.coef).sum()


def test_any_squared_distance_may_be_psi():
    X = 1000 * curve("circle", m=2000, noise=0.02)
    (g,) = gradient_abm(2000.0, max_degree=2).fit(X).generators_
    assert g.mse == pytest.approx(400, rel=0.15)
    for bad in (-1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="psi must be"):
            gradient_abm(bad).fit(X)
    with pytest.raises(ValueError, match=r"psi must be a number in \[0, 1.*\)"):
        ABM(2000.0).fit(X)
    for bad in ("gradients", None, 1):
        with pytest.raises(ValueError, match="normalization must be one of"):
            ABM(normalization=bad).fit(X)


def test_as_an_estimator(tmp_path):
    X = curve("parabola", noise=0.05)
    model = gradient_abm(1.5, feature_order="pearson", absolute=False).fit(X)
    assert model.get_params()["normalization"] == "gradient"
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert_same_model(copy.fit(X), model, coef_tol=0)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.get_params() == model.get_params()
    assert_same_model(loaded, model, coef_tol=0)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert model.set_params(normalization="coefficients", psi=0.1).fit(X).mse_.max() <= 0.1


def test_in_a_classifier():
    rows = [curve(name, noise=0.02) for name in ("circle", "parabola")]
    y = np.repeat([0, 1], 300)
    model = VanishingClassifier(gradient_abm(0.001)).fit(np.vstack(rows), y)
    assert model.score(np.vstack(rows), y) > 0.9


@pytest.mark.parametrize("normalization", ["coefficients", "gradient"])
def test_from_moments(normalization):
    """What the rows say, where rounding does not hide it."""
    X = curve("cubic", noise=0.05)
    model = ABM(0.004, max_degree=3, normalization=normalization)
    by_rows = clone(model).fit(X)
    by_moments = clone(model).fit_moments(Moments(2, 3).update(X))
    assert_same_model(by_moments, by_rows, coef_tol=1e-7)
    with pytest.raises(TypeError, match="fit_moments takes Moments"):
        model.fit_moments(X)


def test_by_chunks_and_repeated_rows():
    X = curve("twisted cubic", noise=0.05)
    model = fit(gradient_abm(0.01), X)
    assert_same_model(fit(gradient_abm(0.01, chunk_size=7), X), model, coef_tol=1e-9)
    assert_same_model(fit(gradient_abm(0.01), np.repeat(X, 3, axis=0)), model, coef_tol=1e-9)


# ----------------------------------------------------------------------------------- odd rows


@pytest.mark.parametrize("psi", [0, 1e-6, 0.1, 10.0])
def test_a_column_of_zeros(psi):
    """It is the equation x2 = 0, not a term of O."""
    X = np.column_stack([curve("square"), np.zeros(300)])
    model = fit(gradient_abm(psi, max_degree=2), X)
    index = as_tuples(model.leading_terms_).index((0, 0, 1))
    assert relative(model.generators_[index]) == {(0, 0, 1): 1.0}


@pytest.mark.parametrize("psi", [0, 1e-6])
def test_few_distinct_rows(psi):
    """O has no more terms than there are points."""
    for n_points in (1, 2, 3):
        for unit in (1e-6, 1.0, [1e-5, 1e3, 1.0]):
            X = curve("cube", m=n_points) * unit
            assert fit(gradient_abm(psi if psi == 0 else psi * np.max(unit) ** 2), X).n_terms_ <= (
                n_points
            )


def test_columns_of_very_different_size():
    """A mean square is not what an eigenvalue next to 1e60 seems to be."""
    t = np.random.default_rng(0).uniform(size=30)
    X = np.column_stack([t, 1e30 * t**2, t**3])
    for psi in (1e-3, 1e-6):
        model = fit(gradient_abm(psi), X)
        assert (model.mse_ <= psi).all()
        for g in model.generators_:
            assert np.mean(g(X) ** 2) == pytest.approx(g.mse, rel=1e-6, abs=1e-25)


def test_terms_that_vanish_up_to_rounding_alone():
    """They join O with a warning, and others do not lean on them."""
    X = curve("cube", m=4) + 1.0
    with pytest.warns(UserWarning, match="border terms joined O although they vanish up to"):
        model = gradient_abm(1e-300).fit(X)
    assert np.isfinite(model.coef_).all()


# ---------------------------------------------------------------------------------- distances


def test_distance_from_a_circle():
    circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    radius = np.array([0.5, 1.0, 1.1, 3.0])
    X = np.column_stack([0.6 * radius, 0.8 * radius])
    expected = np.abs(radius**2 - 1) / (2 * radius)
    np.testing.assert_allclose(circle.distance(X), expected, rtol=1e-12, atol=1e-15)
    near = np.column_stack([0.6 * (1 + 1e-4 * radius), 0.8 * (1 + 1e-4 * radius)])
    np.testing.assert_allclose(circle.distance(near), 1e-4 * radius, rtol=1e-3)
    assert circle.distance(X.astype(np.float32)) == pytest.approx(expected, abs=1e-6)
    scaled = Polynomial(circle.terms, -7 * circle.coef)
    np.testing.assert_allclose(scaled.distance(X), circle.distance(X), rtol=1e-12, atol=1e-15)
    with pytest.raises(ValueError, match="has 2 variables, but X has 3"):
        circle.distance(np.ones((2, 3)))


def test_where_the_gradient_is_zero():
    circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    square = Polynomial([[2]], [1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert circle.distance([[0.0, 0.0]]).tolist() == [np.inf]
        assert square.distance([[0.0], [3.0]]).tolist() == [0.0, 1.5]
        assert Polynomial([[0]], [2.0]).distance([[1.0]]).tolist() == [np.inf]


@pytest.mark.parametrize(
    "model", [OAVI(0.01), ABM(0.01), gradient_abm(0.01), VCA(0.01)], ids=lambda m: str(m)[:9]
)
def test_distances_from_all_generators(model):
    X = curve("twisted cubic", noise=0.02)
    generators = model.set_params(max_degree=2).fit(X).generators_
    found = generators.distance(X[:20])
    assert found.shape == (20, len(generators))
    assert len(generators) > 0
    for column, g in zip(found.T, generators, strict=True):
        np.testing.assert_array_equal(column, g.distance(X[:20]))
        slope = np.linalg.norm(g.gradient(X[:20]), axis=1)
        np.testing.assert_allclose(column, np.abs(g(X[:20])) / slope, rtol=1e-9)
    nothing = fit(model.set_params(psi=1e-9, max_degree=1), curve("cube")).generators_
    assert nothing.distance(curve("cube")[:5]).shape == (5, 0)
