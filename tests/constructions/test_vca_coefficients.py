"""VCA(normalization="coefficients"): the l2-norm of coefficients on monomials is 1."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import VCA, VanishingFeatures, load


def vca(psi, max_degree=3, **options):
    return VCA(psi, max_degree=max_degree, normalization="coefficients", **options)


def circle(m=50, noise=0.0):
    angle = np.linspace(0, 2 * np.pi, m + 1)[:-1]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + np.random.default_rng(0).normal(scale=noise, size=X.shape)


def surface(m=400, noise=0.01):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(m, 3))
    X[:, 2] = X[:, 0] * X[:, 1]
    return X + rng.normal(scale=noise, size=X.shape)


@pytest.mark.parametrize("psi", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("degree", [2, 3, 5])
def test_coefficients_have_length_one(psi, degree):
    model = vca(psi, degree).fit(circle())
    assert model.n_generators_ == {2: 1, 3: 3, 5: 7}[degree]
    for g in model.generators_:
        assert np.linalg.norm(g.coef) == pytest.approx(1.0, rel=1e-7)
        assert g.mse <= max(psi, 1e-25)
    third = 3**-0.5
    np.testing.assert_allclose(np.abs(model.generators_[0].coef), third, atol=1e-9)


def test_against_the_definition():
    """Degree 2: the pencil of mean products and of coefficients, of products less projections."""
    X, psi = surface(), 3e-4
    mean = X.mean(axis=0)
    A = (X - mean).T @ (X - mean) / len(X)
    B = np.eye(3) + np.outer(mean, mean)  # x - mean has the coefficients (-mean, 1)
    values, vectors = eigh(A, B)
    assert (values > psi).all()  # nothing vanishes in degree 1
    first = vectors / np.sqrt(values)  # F_1 = first' (x - mean), of mean square 1
    linear = np.vstack([-mean @ first, first])  # coefficients on 1, x0, x1, x2
    F = np.column_stack([np.ones(len(X)), (X - mean) @ first])
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    candidates, coef = [], []
    for i, j in pairs:
        product = F[:, 1 + i] * F[:, 1 + j]
        projection = F.T @ product / len(X)
        candidates.append(product - F @ projection)
        table = np.zeros((4, 4))
        table += np.outer(linear[:, i], linear[:, j])
        table[:, 0] -= np.column_stack([np.eye(4)[0], linear]) @ projection
        symmetric = table + table.T - np.diag(table.diagonal())
        coef.append(symmetric[np.triu_indices(4)])
    R, C = np.array(candidates).T, np.array(coef)
    expected = eigh(R.T @ R / len(X), C @ C.T, eigvals_only=True)
    model = vca(psi, 2).fit(X)
    np.testing.assert_allclose(np.sort(model.mse_), expected[expected <= psi], rtol=1e-6)
    assert model.n_terms_ == 1 + 3 + (expected > psi).sum()


def test_rows_and_the_order_of_columns():
    X = surface()
    model = vca(1e-4).fit(X)
    assert model.n_generators_ > 1
    weight = np.random.default_rng(1).integers(1, 4, len(X))
    weighted = vca(1e-4).fit(X, sample_weight=weight)
    repeated = vca(1e-4).fit(np.repeat(X, weight, axis=0)[::-1])
    np.testing.assert_allclose(weighted.mse_, repeated.mse_, rtol=1e-6)
    small = vca(1e-4, chunk_size=17).fit(X)
    np.testing.assert_allclose(small.mse_, model.mse_, rtol=1e-9)
    # The columns in another order: the same polynomials.
    other = vca(1e-4).fit(X[:, ::-1])
    np.testing.assert_allclose(np.sort(other.mse_), np.sort(model.mse_), rtol=1e-6)


def test_a_column_that_varies_little():
    X = np.column_stack([surface(), 0.5 + 1e-5 * np.random.default_rng(2).normal(size=400)])
    model = vca(1e-14, 2).fit(X)  # small next to psi, but not constant
    assert model.n_terms_ > 4
    linear = vca(1e-6, 2).fit(X).generators_[0]
    assert linear.degree == 1
    assert linear.leading_term.tolist() == [0, 0, 0, 1]


@parametrize_with_checks([vca(0.005)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_saved_in_features_and_refused(tmp_path):
    X = surface()
    model = vca(1e-4, remove_redundant=True).fit(X)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.normalization == "coefficients"
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    features = VanishingFeatures(vca(1e-3), max_generators=2).fit(X, X[:, 0] > 0.5)
    assert features.n_generators_ <= 4
    with pytest.raises(ValueError, match="psi must be"):
        vca(1.0).fit(X)
    with pytest.warns(UserWarning, match="would need about"):
        wide = vca(1e-9, 6).fit(np.random.default_rng(0).uniform(size=(600, 40)))
    assert wide.degree_ <= 2
