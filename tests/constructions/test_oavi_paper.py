"""OAVI against a plain transcription of the paper's Algorithms 2 and 3 on the rows."""

import numpy as np
import pytest
import reference
from helpers import assert_same_basis, training_classes
from sklearn.datasets import make_circles

from vanishing import OAVI, VanishingClassifier

# That the oracle stops short, or that nothing vanishes, is what some of these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:OAVI")


def noisy_circle(seed, m=80):
    """Points near a circle inside the unit square."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, m)
    X = 0.5 + 0.45 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.clip(X + rng.normal(scale=0.02, size=X.shape), 0, 1)


def correlated(seed, m=100, n=4):
    """Points of the unit cube near a plane."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(m, 2)) @ rng.uniform(size=(2, n)) + rng.normal(scale=0.05, size=(m, n))
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


SYNTHETIC = {
    "uniform, 2 variables": np.random.default_rng(0).uniform(size=(50, 2)),
    "uniform, 3 variables": np.random.default_rng(1).uniform(size=(60, 3)),
    "noisy circle": noisy_circle(2),
    "near a plane": correlated(3),
    "skewed": np.random.default_rng(4).beta(0.5, 2.0, size=(70, 3)),
}


def paper_fit(X, psi, border, oracle="pcg", **parameters):
    """The library, set to do what the paper does to the letter."""
    return OAVI(psi, oracle=oracle, border=border, certify=False, refit=False, **parameters).fit(X)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("psi", [0.1, 0.05, 0.01, 0.005, 0.001])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_pcgavi_on_synthetic_data(name, psi, border):
    X = SYNTHETIC[name]
    basis = reference.oavi(X, psi, oracle="pcg", kind=border)
    model = paper_fit(X, psi, border)
    assert_same_basis(model, basis)
    np.testing.assert_allclose(model.mse_, basis.mse, rtol=1e-6)


@pytest.mark.parametrize("tau", [2.0, 2.25, 2.5])
@pytest.mark.parametrize("name", ["noisy circle", "near a plane"])
def test_pcgavi_where_the_ball_binds(name, tau):
    X = SYNTHETIC[name]
    basis = reference.oavi(X, 0.001, oracle="pcg", tau=tau, max_degree=4)
    assert basis.terms != reference.oavi(X, 0.001, oracle="ls", max_degree=4).terms
    assert_same_basis(paper_fit(X, 0.001, "gb", tau=tau, max_degree=4), basis)


@pytest.mark.parametrize("limits", [{"max_iter": 3}, {"max_iter": 40}, {"tol": 0.5}, {"tol": 1e-2}])
def test_pcgavi_that_stops_early(limits):
    """The oracle's limits decide which generators the paper's algorithm misses."""
    X = SYNTHETIC["near a plane"]
    basis = reference.oavi(X, 0.002, oracle="pcg", max_degree=3, **limits)
    assert basis.terms != reference.oavi(X, 0.002, oracle="ls", max_degree=3).terms
    assert_same_basis(paper_fit(X, 0.002, "gb", max_degree=3, **limits), basis)


@pytest.mark.parametrize("max_iter", [1, 10, 100, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_pcgavi_on_data_that_is_not_scaled(seed, max_iter):
    """Outside the unit cube the first step need not go to the vertex opposite to the start."""
    rng = np.random.default_rng(seed)
    X = 3 + rng.normal(scale=2.0, size=(40, 2))
    X = np.column_stack([X, X.sum(axis=1) + rng.normal(scale=0.1, size=40)])
    limits = {"max_degree": 2, "max_iter": max_iter}
    basis = reference.oavi(X, 0.1, oracle="pcg", **limits)
    assert_same_basis(paper_fit(X, 0.1, "gb", **limits), basis)


@pytest.mark.slow
@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("psi", [0.1, 0.05, 0.01, 0.005, 0.001])
@pytest.mark.parametrize("name", ["bank", "seeds"])
def test_pcgavi_on_the_paper_s_data(name, psi, border):
    for X in training_classes(name):
        basis = reference.oavi(X, psi, oracle="pcg", kind=border)
        assert len(basis.leading_terms) > 0
        assert_same_basis(paper_fit(X, psi, border), basis)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("psi", [0.1, 0.05, 0.01, 0.005, 0.001])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_agdavi_on_synthetic_data(name, psi, border):
    X = SYNTHETIC[name]
    basis = reference.oavi(X, psi, oracle="agd", kind=border)
    model = paper_fit(X, psi, border, "agd")
    assert_same_basis(model, basis)
    np.testing.assert_allclose(model.mse_, basis.mse, rtol=1e-6)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("name", ["bank", "seeds"])
def test_agdavi_on_the_paper_s_data(name, border):
    for X in training_classes(name):
        basis = reference.oavi(X, 0.005, oracle="agd", kind=border)
        assert len(basis.leading_terms) > 0
        assert_same_basis(paper_fit(X, 0.005, border, "agd"), basis)


@pytest.mark.parametrize("keeps", ["certify", "refit"])
def test_agd_with_certificates_or_refits_leaves_a_small_column_alone(keeps):
    """The published one gives coefficients to a column that vanishes by itself."""
    X = np.random.default_rng(0).uniform(size=(50, 2)) * [0.1, 1.0]
    published = paper_fit(X, 0.01, "gb", "agd", max_degree=1)
    assert published.coef_[0, 0] < -0.04
    model = OAVI(
        0.01, oracle="agd", max_degree=1, **{"certify": False, "refit": False, keeps: True}
    )
    assert model.fit(X).coef_[0, 0] == 0


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("psi", [0.1, 0.05, 0.01, 0.005, 0.001])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_least_squares_on_synthetic_data(name, psi, border):
    X = SYNTHETIC[name]
    basis = reference.oavi(X, psi, oracle="ls", kind=border)
    model = OAVI(psi, oracle="ls", border=border).fit(X)
    assert_same_basis(model, basis)
    np.testing.assert_allclose(model.mse_, basis.mse, rtol=1e-6)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("psi", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("name", ["bank", "seeds"])
def test_least_squares_on_the_paper_s_data(name, psi, border):
    for X in training_classes(name):
        basis = reference.oavi(X, psi, oracle="ls", kind=border)
        assert_same_basis(OAVI(psi, oracle="ls", border=border).fit(X), basis)


@pytest.mark.parametrize("psi", [0.1, 0.01, 0.001])
def test_certified_pcg_has_the_least_squares_terms(psi):
    """A certificate decides membership as the closed form does, where the ball does not bind."""
    for X in SYNTHETIC.values():
        basis = reference.oavi(X, psi, oracle="ls")
        norms = 1 + np.abs(basis.coef_matrix()).sum(axis=1)
        assert norms.max() < 1000
        model = OAVI(psi, oracle="pcg").fit(X)
        assert list(map(tuple, model.terms_.tolist())) == basis.terms
        assert list(map(tuple, model.leading_terms_.tolist())) == basis.leading_terms


# -- Refitting: the oracle chooses the terms, the closed form on them the coefficients -------------


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("psi", [0.05, 0.01, 0.001])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_refitted_coefficients_are_least_squares_on_the_terms_chosen(name, psi, certify):
    X = SYNTHETIC[name]
    chosen = OAVI(psi, certify=certify, refit=False).fit(X)
    model = OAVI(psi, certify=certify).fit(X)
    # Where every generator is found all the same, the terms are those that the oracle chose; or
    # fewer, where it took so many steps that least squares on its terms came to its help.
    if certify:
        assert model.terms_.tolist() == chosen.terms_.tolist()
        counts, chosen_counts = ((m.coef_ != 0).sum(axis=1) for m in (model, chosen))
        assert (counts <= chosen_counts).all()
        same = counts == chosen_counts
        assert np.array_equal(model.coef_[same] != 0, chosen.coef_[same] != 0)
        assert same.all() or chosen.n_iter_ > 1000
        assert (model.mse_ <= chosen.mse_ * (1 + 1e-12)).all()
        assert model.mse_.sum() < 0.99 * chosen.mse_.sum() or psi == 0.05
    for term, coef, mse in zip(model.leading_terms_, model.coef_, model.mse_, strict=True):
        used = np.flatnonzero(coef)
        A = reference.evaluate([tuple(t) for t in model.terms_[used].tolist()], X)
        b = reference.evaluate([tuple(term.tolist())], X)[:, 0]
        values, best = reference.least_squares(A, b)
        np.testing.assert_allclose(coef[used], values, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(mse, best, rtol=1e-6)


@pytest.mark.parametrize("tau", [2.0, 2.25, 2.5])
def test_refitting_keeps_to_the_ball(tau):
    X = SYNTHETIC["near a plane"]
    chosen = OAVI(0.001, tau=tau, refit=False, max_degree=3).fit(X)
    model = OAVI(0.001, tau=tau, max_degree=3).fit(X)
    assert (np.abs(model.coef_).sum(axis=1) <= tau - 1 + 1e-12).all()
    free = OAVI(0.001, tau=1000.0, max_degree=3).fit(X)
    assert model.n_terms_ >= free.n_terms_
    if model.n_generators_ == chosen.n_generators_:
        assert (model.mse_ <= chosen.mse_ * (1 + 1e-12)).all()


def test_two_circles_are_told_apart_untuned():
    """The closed form on a support that is good but for its coefficients."""
    X, y = make_circles(1000, noise=0.08, factor=0.5, random_state=0)
    train, test = slice(0, 600), slice(600, None)
    refitted, plain = (
        VanishingClassifier(OAVI(refit=refit)).fit(X[train], y[train]).score(X[test], y[test])
        for refit in (True, False)
    )
    assert refitted > 0.98
    assert plain < 0.95
