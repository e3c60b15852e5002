"""Models for several psi from one set of moments: `path`, and readers that remember."""

import dask.array as da
import numpy as np
import pytest
from helpers import assert_same_model
from sklearn.datasets import load_iris

from vanishing import ABM, AVI, OAVI, VCA, VanishingFeatures
from vanishing.rows import remembered
from vanishing.rows.reader import ArrayReader
from vanishing.rows.remembered import RememberedReader

PSIS = (0.01, 0.1, 0.001, 0.0005)  # in no order
RNG = np.random.default_rng(0)
X = np.column_stack([RNG.uniform(size=(500, 3)), RNG.beta(0.5, 2.0, size=500)])
X[:, 2] = X[:, 0] * X[:, 1] + RNG.normal(scale=0.02, size=500)
WEIGHTS = RNG.uniform(0.5, 2.0, size=500)


@pytest.fixture
def always(monkeypatch):
    """Remember moments of few rows, too."""
    monkeypatch.setattr(remembered, "_FEW_ROWS", 0)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "model",
    [
        OAVI(),
        OAVI(oracle="omp", border="bb", max_degree=3),
        OAVI(certify=False, refit=False, max_degree=3),
        OAVI(feature_order="pearson"),
        ABM(max_degree=3),
        AVI(max_degree=2),
        VCA(max_degree=2),
    ],
    ids=repr,
)
def test_each_model_is_the_one_of_its_own_fit(model, weights, always):
    if isinstance(model, VCA):
        models = model.path(X, PSIS, sample_weight=weights)
        for psi, found in zip(PSIS, models, strict=True):
            expected = VCA(psi, max_degree=2).fit(X, sample_weight=weights)
            assert found.n_generators_ == expected.n_generators_
            np.testing.assert_allclose(found.mse_, expected.mse_, rtol=1e-9, atol=1e-15)
        return
    models = model.path(X, PSIS, sample_weight=weights)
    assert [found.psi for found in models] == list(PSIS)
    for found in models:
        expected = type(model)(**{**model.get_params(), "psi": found.psi})
        assert_same_model(found, expected.fit(X, sample_weight=weights), coef_tol=1e-7)
    assert not hasattr(model, "generators_")
    assert not hasattr(model, "n_features_in_")


def test_rows_are_read_for_the_smallest_psi_only(always, monkeypatch):
    asked = []
    original = ArrayReader.ask

    def counting(self, question, *details):
        asked.append(question)
        return original(self, question, *details)

    monkeypatch.setattr(ArrayReader, "ask", counting)
    OAVI(min(PSIS)).fit(X)
    smallest = asked.count("products")
    asked.clear()
    OAVI().path(X, PSIS)
    assert asked.count("products") <= smallest + 1
    assert asked.count("measured") == len(PSIS)  # mean squares are measured


def test_a_source_is_read_less_often(monkeypatch):
    passes = []
    rows = da.from_array(X, chunks=(100, 4))
    original = RememberedReader.ask

    def counting(self, question, *details):
        passes.append(question)
        return original(self, question, *details)

    monkeypatch.setattr(RememberedReader, "ask", counting)
    models = OAVI().path(rows, PSIS)
    assert passes == ["measured"] * len(PSIS)
    for found in models:
        assert_same_model(found, OAVI(found.psi).fit(rows), coef_tol=1e-7)


def test_names_of_columns_are_known(always):
    frame, _ = load_iris(return_X_y=True, as_frame=True)
    for found in OAVI().path(frame / 8.0, PSIS):
        assert found.feature_names_in_.tolist() == frame.columns.tolist()
        assert "petal" in found.get_feature_names_out()[0] or "sepal" in str(found.generators_[0])


@pytest.mark.parametrize("transformer", [None, ABM(max_degree=2)])
def test_features_of_all_classes(always, transformer):
    rows, y = load_iris(return_X_y=True)
    rows = rows / 8.0
    features = VanishingFeatures(transformer)
    for psi, found in zip(PSIS, features.path(rows, y, psis=iter(PSIS)), strict=True):
        inner = OAVI(psi) if transformer is None else ABM(psi, max_degree=2)
        expected = VanishingFeatures(inner).fit(rows, y)
        assert found.n_generators_ == expected.n_generators_
        np.testing.assert_allclose(found.transform(rows), expected.transform(rows), atol=1e-7)


def test_what_does_not_fit_is_asked_of_the_rows(always, monkeypatch):
    monkeypatch.setattr(remembered, "_MOST_TERMS", 4)
    for found in OAVI().path(X, PSIS):
        assert_same_model(found, OAVI(found.psi).fit(X), coef_tol=1e-7)


def test_a_bad_psi_is_an_error_before_anything_is_fitted(monkeypatch):
    monkeypatch.setattr(OAVI, "_construct", None)
    with pytest.raises(ValueError, match="psi"):
        OAVI().path(X, [0.1, 1.5])
