"""Runs whose columns are far from the origin: the same is conserved, and nothing more."""

import numpy as np
import pytest

import vanishing
from vanishing import ConservedQuantities

RUN = np.repeat(np.arange(10), 40)
OWN = np.array([123456.789, -5432.1, 987654.0])


@pytest.mark.parametrize("centre", [1e2, 1e4, 1e6, OWN])
def test_noise_far_from_the_origin_has_no_quantity_and_no_law(centre):
    X = np.random.default_rng(0).normal(size=(400, 3)) + centre
    model = ConservedQuantities().fit(X, groups=RUN)
    assert not model.quantities_
    assert not model.constraints_


def springs():
    random = np.random.default_rng(1)
    size, time = 1.0 + random.uniform(0, 2, 10)[RUN], random.uniform(0, 10, 400)
    return np.column_stack([size * np.cos(2 * time), -2 * size * np.sin(2 * time)])


@pytest.mark.parametrize(
    "centre, text",
    [
        (0.0, "x1^2 + 4*x0^2"),
        (1e6, "(x1 - 1000000)^2 + 4*(x0 - 1000000)^2"),
        (OWN[:2], "(x1 + 5432.1)^2 + 4*(x0 - 123456.789)^2"),
    ],
)
def test_the_energy_is_found_wherever_columns_are(centre, text, tmp_path):
    X = springs()
    model = ConservedQuantities().fit(X + centre, groups=RUN)
    assert [*map(str, model.quantities_)] == [text]
    energy = X[:, 1] ** 2 + 4 * X[:, 0] ** 2
    assert np.allclose(model.transform(X + centre)[:, 0], energy, rtol=1e-6)
    assert np.allclose(model.values_[:, 0], energy[::40], rtol=1e-6)
    model.save(tmp_path / "model.json")
    loaded = vanishing.load(tmp_path / "model.json")
    assert np.array_equal(loaded.transform(X + centre), model.transform(X + centre))


def test_sums_and_laws_of_the_state_are_in_columns_as_they_are():
    a = np.random.default_rng(2).normal(size=400)
    X = np.column_stack([a, 1.0 * RUN - a, a**2]) + np.array([1e5, 2e5, 333.0])
    model = ConservedQuantities().fit(X, groups=RUN)
    assert [*map(str, model.quantities_)] == ["x1 + x0"]
    assert [*map(str, model.constraints_)] == ["x2 - (x0 - 100000)^2 = 333"]
    assert np.allclose(model.values_[:, 0], model.transform(X)[::40, 0])
