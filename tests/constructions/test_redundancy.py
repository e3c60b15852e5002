"""Generators whose gradients are in the span of earlier ones', removed on request."""

import numpy as np
import pytest
from helpers import planted

from vanishing import ABM, AVI, OAVI, VCA, Moments, VanishingFeatures, load

MODELS = [VCA, OAVI, ABM, AVI]


def circle(m=51, noise=0.0, seed=0):
    angle = np.linspace(0, 2 * np.pi, m)[:-1]
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + np.random.default_rng(seed).normal(scale=noise, size=X.shape)


@pytest.mark.parametrize("psi", [0.0, 1e-6])
def test_of_nine_generators_of_a_circle_eight_are_redundant(psi):
    everything, rest = (
        VCA(psi, max_degree=6, remove_redundant=remove).fit(circle()) for remove in (False, True)
    )
    assert (everything.n_generators_, rest.n_generators_) == (9, 1)
    assert str(rest.generators_[0]) == str(everything.generators_[0])
    assert rest.n_terms_ == everything.n_terms_
    assert rest.mse_.shape == (1,)
    assert rest.transform(circle()).shape == (50, 1)


@pytest.mark.parametrize("kind", MODELS)
def test_with_noise(kind):
    """One for a circle; the first of those that are kept is always the first of all."""
    options = {"psi": 1e-3 if kind is OAVI else 4e-4, "max_degree": 4}
    X = circle(501, noise=0.01)
    everything, rest = (kind(**options, remove_redundant=r).fit(X) for r in (False, True))
    assert rest.n_generators_ == 1
    np.testing.assert_allclose(rest.transform(X)[:, 0], everything.transform(X)[:, 0], atol=1e-14)


@pytest.mark.parametrize("kind", [OAVI, ABM, AVI])
def test_a_curve_in_space_needs_two_equations(kind):
    X, _ = planted("twisted cubic", 200, np.random.default_rng(0))
    model = kind(1e-10, max_degree=3, remove_redundant=True).fit(X)
    assert model.n_generators_ == 2
    assert len(model.coef_) == len(model.leading_terms_) == len(model.mse_) == 2
    assert len(model.generators_.sizes) == 2


def test_what_is_left_describes_the_variety_and_is_no_basis(tmp_path):
    X, _ = planted("twisted cubic", 200, np.random.default_rng(0))
    everything, rest = (
        OAVI(1e-10, max_degree=3, remove_redundant=remove).fit(X) for remove in (False, True)
    )
    assert everything.dimension() == rest.dimension()
    assert rest.dimension().dimension == 1
    assert not rest.complete_
    rest.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").dimension() == rest.dimension()
    near = rest.project(X + 0.01)
    assert np.abs(everything.transform(near)).max() < 1e-6


def test_directions_that_only_some_rows_have_are_kept():
    """A plane and a line across it: the second equation is new on the line alone."""
    rng = np.random.default_rng(0)
    plane = np.column_stack([rng.uniform(-1, 1, (150, 2)), np.zeros(150)])
    line = np.column_stack([np.zeros((50, 2)), rng.uniform(-1, 1, 50)])
    X = np.vstack([plane, line])
    model = OAVI(1e-12, oracle="ls", max_degree=2, remove_redundant=True).fit(X)
    assert [str(g) for g in model.generators_] == ["x0*x2", "x1*x2"]


def test_weights_blocks_and_row_order():
    X = circle(200, noise=0.02)
    options = {"psi": 1e-3, "max_degree": 4, "border": "bb", "remove_redundant": True}
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    plain = OAVI(**options).fit(X)
    weighted = OAVI(**options).fit(X, sample_weight=weight)
    repeated = OAVI(**options).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.leading_terms_, repeated.leading_terms_)
    for other in (
        OAVI(**options).fit(lambda: (X[i::6] for i in range(6))),
        OAVI(**options, chunk_size=13).fit(X),
        OAVI(**options).fit(X[::-1]),
    ):
        np.testing.assert_array_equal(other.leading_terms_, plain.leading_terms_)
    assert plain.n_generators_ < OAVI(**{**options, "remove_redundant": False}).fit(X).n_generators_


@pytest.mark.parametrize("kind", MODELS)
def test_saved_and_loaded(kind, tmp_path):
    X = circle()
    model = kind(1e-6, max_degree=4, remove_redundant=True).fit(X)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.remove_redundant is True
    assert loaded.n_generators_ == model.n_generators_ == 1
    assert loaded.sparsity_ == pytest.approx(model.sparsity_)
    assert loaded.generators_[0].sparsity == model.generators_[0].sparsity
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_by_class_and_by_psi():
    X, y = np.vstack([circle(), 2 * circle()]), np.repeat([0, 1], 50)
    features = VanishingFeatures(VCA(1e-6, max_degree=4, remove_redundant=True)).fit(X, y)
    assert features.n_generators_ == 2
    models = VCA(max_degree=4, remove_redundant=True).path(circle(), [1e-3, 1e-6])
    assert [model.n_generators_ for model in models] == [1, 1]


def test_what_is_refused():
    with pytest.raises(TypeError, match="remove_redundant must be"):
        OAVI(remove_redundant="yes").fit(circle())
    with pytest.raises(ValueError, match="remove_redundant=True needs the rows"):
        ABM(1e-3, remove_redundant=True).fit_moments(Moments(2, max_degree=2).update(circle()))
