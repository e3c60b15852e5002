"""ABM and AVI: right on exact cases, equal to plain transcriptions, one interface with OAVI."""

import warnings

import numpy as np
import pytest
from helpers import as_tuples, training_classes
from reference import border as reference_border
from reference import deglex_key, evaluate
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import ABM, AVI, OAVI, VanishingClassifier, VanishingFeatures
from vanishing._threads import one_blas_thread
from vanishing.constructions.avi import stabilised_row_echelon

FAMILY = {
    "abm-gb": ABM(),
    "abm-bb": ABM(border="bb"),
    "avi-gb": AVI(border="gb"),
    "avi-bb": AVI(),
    "bbabm": OAVI(oracle="ls", border="bb"),
}


@pytest.fixture(params=FAMILY, ids=str)
def algorithm(request):
    return clone(FAMILY[request.param])


def fit(model, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_params(**parameters).fit(X)


def varieties():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 80)
    t = rng.uniform(-1, 1, 80)
    ball = rng.normal(size=(120, 3))
    grid = np.array([(x, y) for x in range(4) for y in range(3)]) / 3.0
    return {
        "circle": (np.column_stack([np.cos(angle), np.sin(angle)]), [lambda x, y: x**2 + y**2 - 1]),
        "sphere": (
            ball / np.linalg.norm(ball, axis=1, keepdims=True),
            [lambda x, y, z: x**2 + y**2 + z**2 - 1],
        ),
        "twisted cubic": (
            np.column_stack([t, t**2, t**3]),
            [lambda x, y, z: y - x**2, lambda x, y, z: z - x * y],
        ),
        "crossing lines": (
            np.vstack([np.column_stack([t, t]), np.column_stack([t, -t])]),
            [lambda x, y: x**2 - y**2],
        ),
        "grid": (
            grid,
            [
                lambda x, y: y * (y - 1 / 3) * (y - 2 / 3),
                lambda x, y: x * (x - 1 / 3) * (x - 2 / 3) * (x - 1),
            ],
        ),
    }


@pytest.mark.parametrize("psi", [0.0, 1e-10])
@pytest.mark.parametrize("name", varieties())
def test_planted_polynomials_are_found(algorithm, name, psi):
    """What is planted is a combination of generators of its degree, with polynomial factors."""
    X, planted = varieties()[name]
    model = fit(algorithm, X, psi=psi, max_degree=4)
    assert model.n_generators_
    if psi:
        assert (model.mse_ <= psi).all()
    rng = np.random.default_rng(1)
    new = rng.uniform(-1, 1, (400, X.shape[1]))
    values = model.set_params(absolute=False).transform(new)
    # Multiples of the generators by variables, up to degree 4, span the planted polynomial.
    degrees = np.array([g.degree for g in model.generators_])
    products = [values]
    for degree in (1, 2):
        factors = np.column_stack(
            [np.prod(new[:, list(p)], axis=1) for p in _words(X.shape[1], degree)]
        )
        low = values[:, degrees + degree <= 4]
        products.append((low[:, :, None] * factors[:, None, :]).reshape(len(new), -1))
    basis = np.hstack(products)
    for polynomial in planted:
        target = polynomial(*new.T)
        solution = np.linalg.lstsq(basis, target, rcond=1e-10)[0]
        assert np.abs(basis @ solution - target).max() <= 1e-5 * np.abs(target).max()


def _words(n, length):
    if length == 0:
        return [()]
    return [(*word, i) for word in _words(n, length - 1) for i in range(n)]


def test_nothing_is_found_on_generic_points(algorithm):
    X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    with pytest.warns(UserWarning, match="nothing vanishes") as record:
        model = algorithm.set_params(psi=1e-8, max_degree=4).fit(X)
    assert len(record) == 1
    assert model.n_terms_ == 35
    assert model.transform(X).shape == (200, 0)


def test_no_generator_is_zero_off_the_data(algorithm):
    X, _ = varieties()["twisted cubic"]
    model = fit(algorithm, X, psi=1e-4, max_degree=4)
    new = np.random.default_rng(1).uniform(-1, 1, (100, 3))
    assert (model.transform(new).max(axis=0) > 1e-6).all()


def test_coefficients_are_normalised(algorithm):
    X, _ = varieties()["sphere"]
    model = fit(algorithm, X + 0.01 * np.random.default_rng(0).normal(size=X.shape), psi=0.01)
    assert (model.leading_coef_ > 0).all()
    norms = np.linalg.norm(np.column_stack([model.coef_, model.leading_coef_]), axis=1)
    if isinstance(model, OAVI):
        np.testing.assert_array_equal(model.leading_coef_, 1.0)
    else:
        np.testing.assert_allclose(norms, 1.0, atol=1e-12)
    values = model.set_params(absolute=False).transform(X)
    assert values.shape == (len(X), model.n_generators_)
    for i, generator in enumerate(model.generators_):
        np.testing.assert_allclose(generator(X), values[:, i], atol=1e-12)
    assert (model.mse_ <= 0.01).all()
    np.testing.assert_array_equal(model.terms_[0], 0)


@pytest.mark.parametrize("psi", [0.1, 0.01, 0.001])
def test_rows_repeated_permuted_weighted_and_in_chunks(algorithm, psi):
    X = np.random.default_rng(0).uniform(size=(150, 3)) ** 2
    model = fit(algorithm, X, psi=psi)
    weight = np.random.default_rng(1).integers(1, 4, 150)
    order = np.random.default_rng(2).permutation(150)
    for rows, options in [
        (np.repeat(X, 3, axis=0), {}),
        (X[order], {}),
        (X, {"chunk_size": 7}),
    ]:
        other = fit(clone(algorithm), rows, psi=psi, **options)
        assert as_tuples(other.terms_) == as_tuples(model.terms_)
        assert as_tuples(other.leading_terms_) == as_tuples(model.leading_terms_)
        np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-6)
    weighted = clone(algorithm).set_params(psi=psi).fit(X, sample_weight=weight)
    repeated = fit(clone(algorithm), np.repeat(X, weight, axis=0), psi=psi)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def plain_abm(X, psi, kind, max_degree=10):
    """ABM straight from its definition: a singular value decomposition for every border term."""
    m, n = X.shape
    order_ideal, leading = [(0,) * n], []
    columns = np.ones((m, 1))
    for degree in range(1, max_degree + 1):
        terms = sorted(reference_border(order_ideal, degree, kind), key=deglex_key)
        if not terms:
            break
        for term in terms:
            extended = np.column_stack([columns, evaluate([term], X)])
            singular = np.linalg.svd(extended, compute_uv=False)
            smallest = singular[-1] if len(singular) == extended.shape[1] else 0.0
            if smallest**2 / m <= psi:
                leading.append(term)
            else:
                order_ideal.append(term)
                columns = extended
    return order_ideal, leading


@pytest.mark.parametrize("psi", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("name", ["bank", "credit", "htru", "seeds", "skin"])
def test_abm_is_its_definition(name, kind, psi):
    for X in training_classes(name):
        model = ABM(psi=psi, border=kind).fit(X)
        with one_blas_thread():
            terms, leading = plain_abm(X, psi, kind)
        assert as_tuples(model.terms_) == terms
        assert as_tuples(model.leading_terms_) == leading
        assert (model.mse_ <= psi).all()


def test_abm_has_the_smallest_singular_vectors():
    X = np.random.default_rng(0).uniform(size=(100, 3))
    model = fit(ABM(), X, psi=0.002, max_degree=3)
    assert model.n_generators_ > 5
    terms = evaluate(as_tuples(model.terms_), X)
    for coef, lead, term, mse in zip(
        model.coef_, model.leading_coef_, as_tuples(model.leading_terms_), model.mse_, strict=True
    ):
        before = [
            i for i, t in enumerate(as_tuples(model.terms_)) if deglex_key(t) < deglex_key(term)
        ]
        columns = np.column_stack([terms[:, before], evaluate([term], X)])
        _, singular, right = np.linalg.svd(columns)
        vector = right[-1] * np.sign(right[-1, -1])
        np.testing.assert_allclose(np.append(coef[before], lead), vector, atol=1e-8)
        assert mse == pytest.approx(singular[-1] ** 2 / len(X), rel=1e-8)


@pytest.mark.parametrize("scale", [30.0, 1e8, 1e-12])
def test_reported_generators_vanish_whatever_the_scale(algorithm, scale):
    X = scale * np.random.default_rng(0).uniform(size=(60, 3))
    for psi in (1e-12, 1e-3, 0.1):
        model = fit(clone(algorithm), X, psi=psi, max_degree=4)
        assert (model.mse_ <= psi).all()


def test_max_terms_and_max_degree(algorithm):
    X = np.random.default_rng(0).uniform(size=(200, 4))
    with pytest.warns(ConvergenceWarning, match="max_terms=7"):
        model = algorithm.set_params(psi=1e-4, max_terms=7).fit(X)
    assert model.n_terms_ <= 7
    model = fit(clone(algorithm), X, psi=0.01, max_terms=None, max_degree=2)
    assert model.degree_ <= 2
    assert model.leading_terms_.sum(axis=1).max() <= 2


def test_works_as_transformer_of_a_class(algorithm):
    X, y = load_iris(return_X_y=True)
    model = VanishingClassifier(algorithm.set_params(psi=0.005), C=10.0).fit(X, y)
    assert model.score(X, y) > 0.9
    features = VanishingFeatures(algorithm).fit(model.scaler_.transform(X), y)
    assert features.n_generators_ == model.n_generators_
    assert 0.0 <= features.sparsity_ <= 1.0


def test_columns_of_zeros(algorithm):
    X = np.random.default_rng(0).uniform(size=(50, 3)) * [1.0, 0.0, 1.0]
    for psi in (0.0, 0.01):
        model = fit(clone(algorithm), X, psi=psi, max_degree=3)
        assert np.isfinite(model.coef_).all()
        assert (model.leading_coef_ > 0).all()
        assert (model.mse_ <= max(psi, 1e-20)).all()
        assert [0, 1, 0] in model.leading_terms_.tolist()


@pytest.mark.parametrize("pivot_tol", [0.0, 1.0, -1.0, np.nan, "a"])
def test_bad_pivot_tolerance(pivot_tol):
    with pytest.raises((TypeError, ValueError), match="pivot_tol"):
        AVI(pivot_tol=pivot_tol).fit(np.eye(3))


def test_row_echelon_form():
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(7, 3)))[0].T
    rows, pivots = stabilised_row_echelon(vectors, np.full(5, 1e-3))
    np.testing.assert_array_equal(pivots, [0, 1, 2])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    # The same row space, zero left of pivots and in each other's pivot columns.
    assert np.linalg.matrix_rank(np.vstack([vectors, rows]), tol=1e-10) == 3
    np.testing.assert_array_equal(rows[:, pivots] != 0.0, np.eye(3, dtype=bool))
    # A column that is nearly zero gets no pivot.
    vectors[:, 1] = 1e-6
    _, pivots = stabilised_row_echelon(vectors, np.full(5, 1e-3))
    np.testing.assert_array_equal(pivots, [0, 2, 3])


@parametrize_with_checks([ABM(), ABM(psi=0), AVI(), AVI(psi=0, border="gb")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
