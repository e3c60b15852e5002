"""Sensors calibrated by the ellipsoid of their readings."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from vanishing import Blocks, EllipsoidCalibration, load
from vanishing.calibration.quadric import Terms, fitted_quadric
from vanishing.export import to_c

CENTER = np.array([10.0, -20.0, 5.0])
SOFT = np.array([[1.1, 0.05, 0.0], [0.05, 0.95, -0.03], [0.0, -0.03, 1.0]])


def readings(n_rows=500, noise=0.5, seed=0, wrong=0.0, half=False):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n_rows, 3))
    u /= np.linalg.norm(u, axis=1)[:, np.newaxis]
    if half:
        u[:, 2] = np.abs(u[:, 2])
    X = CENTER + 50 * u @ SOFT + noise * rng.normal(size=u.shape)
    bad = rng.random(n_rows) < wrong
    X[bad] = CENTER + rng.uniform(-100, 100, (bad.sum(), 3))
    return X, bad


def error(X, **options):
    return np.linalg.norm(EllipsoidCalibration(**options).fit(X).center_ - CENTER)


def test_exact_readings_are_calibrated_exactly():
    X, _ = readings(60, noise=0.0)
    model = EllipsoidCalibration().fit(X)
    assert np.allclose(model.center_, CENTER, atol=1e-8)
    assert np.allclose(model.noise_, 0.0)
    size = np.linalg.det(SOFT) ** (1 / 3)
    assert model.radius_ == pytest.approx(50 * size, rel=1e-9)
    assert np.allclose(model.matrix_, size * np.linalg.inv(SOFT), atol=1e-9)
    assert np.linalg.det(model.matrix_) == pytest.approx(1.0)
    assert np.allclose(np.linalg.norm(model.transform(X), axis=1), model.radius_)


@pytest.mark.parametrize(
    "options, limit",
    [({}, 0.09), ({"wrong": 0.01}, 0.09), ({"wrong": 0.05}, 0.09), ({"wrong": 0.2}, 0.11)],
)
def test_wrong_rows_hardly_matter(options, limit):
    found = [error(readings(seed=seed, **options)[0]) for seed in range(5)]
    assert np.median(found) < limit and np.max(found) < 0.25


def test_half_a_sphere_has_larger_errors_that_are_known():
    off = []
    for seed in range(8):
        X, bad = readings(seed=seed, half=True, wrong=0.05)
        model = EllipsoidCalibration().fit(X)
        off.append((model.center_ - CENTER) / model.center_std_)
        assert model.is_determined_ and bad.sum() - 3 <= model.n_wrong_ <= bad.sum() + 3
        assert 0.2 < model.center_std_[2] < 0.6 and model.center_std_[0] < 0.15
    assert 0.6 < np.sqrt(np.mean(np.square(off))) < 1.4


def test_moments_freed_from_noise_are_not_biased():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 20_000)  # half a circle
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(20_000, 2))
    model = EllipsoidCalibration(robust=False).fit(X)
    assert np.abs(model.center_).max() < 4 * model.center_std_.max() < 0.1
    assert model.radius_ == pytest.approx(1.0, abs=4 * model.radius_std_)
    assert model.noise_[0] == pytest.approx(0.1, rel=0.02)
    terms = Terms(2)
    raw = fitted_quadric(terms, terms.monomials(X), np.ones(len(X), bool), np.zeros(2)).coef
    A, b, _ = terms.parts(raw)
    assert np.abs(-0.5 * np.linalg.solve(A, b)).max() > 0.05  # without that it would be


def test_errors_of_all_answers_are_those_of_many_draws():
    models = [EllipsoidCalibration().fit(readings(300, seed=seed)[0]) for seed in range(30)]
    for name in ("center", "matrix", "radius"):
        values = np.array([getattr(model, f"{name}_") for model in models])
        said = np.mean([getattr(model, f"{name}_std_") for model in models], axis=0)
        ratio = values.std(axis=0) / said
        assert (ratio > 0.6).all() and (ratio < 1.5).all(), name


def test_a_flat_band_is_said_not_to_determine_an_ellipsoid():
    rng = np.random.default_rng(0)
    for height in (0.0, 25.0):
        angle = rng.uniform(0, 2 * np.pi, 500)
        ring = np.column_stack([40 * np.cos(angle), 40 * np.sin(angle), np.full(500, height)])
        X = CENTER + ring + 0.5 * rng.normal(size=(500, 3))
        with pytest.warns(UserWarning, match="do not determine an ellipsoid"):
            model = EllipsoidCalibration().fit(X)
        assert not model.is_determined_
        assert not (model.center_std_[2] < 5)
        with pytest.raises(ValueError, match="cannot be exported"):
            to_c(model)


def test_six_positions_of_an_accelerometer():
    scale, bias = np.array([1.02, 0.98, 1.0]), np.array([0.1, -0.2, 0.05])
    positions = np.vstack([np.eye(3), -np.eye(3)]) * 9.81 * scale + bias
    model = EllipsoidCalibration().fit(positions)
    assert np.allclose(model.center_, bias) and np.isnan(model.center_std_).all()
    assert "axes are those of the columns" in model.verdict_
    noisy = np.repeat(positions, 40, axis=0) + 0.02 * np.random.default_rng(0).normal(size=(240, 3))
    model = EllipsoidCalibration().fit(noisy)
    assert model.is_determined_ and (np.abs(model.center_ - bias) < 4 * model.center_std_).all()
    assert np.allclose(model.radius_ / np.diag(model.matrix_), 9.81 * scale, rtol=0.002)


def test_ellipses_in_two_columns():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 4, 300)
    X = np.column_stack([3 + 2 * np.cos(angle), 1 + 1.5 * np.sin(angle)])
    X += 0.02 * rng.normal(size=X.shape)
    X[::20] += 1.0
    model = EllipsoidCalibration().fit(X)
    assert 15 <= model.n_wrong_ <= 17
    assert (np.abs(model.center_ - [3, 1]) < 4 * model.center_std_).all()
    assert model.radius_ == pytest.approx(np.sqrt(3.0), abs=4 * model.radius_std_)


def test_order_units_and_origins_do_not_matter():
    X, _ = readings(200, wrong=0.05)
    model = EllipsoidCalibration().fit(X)
    again = EllipsoidCalibration().fit(X[::-1])
    assert np.array_equal(again.center_, model.center_)
    moved = EllipsoidCalibration().fit(1e-6 * X + 3.0)
    assert np.allclose((moved.center_ - 3.0) * 1e6, model.center_, atol=1e-4)
    assert np.allclose(moved.matrix_, model.matrix_, atol=1e-6)
    known = EllipsoidCalibration(noise=0.5).fit(X)
    assert np.allclose(known.center_, model.center_, atol=0.05)


def test_saved_named_exported_and_in_blocks(tmp_path):
    X = pd.DataFrame(readings(200)[0], columns=["mx", "my", 'm"z\\*/'])
    model = EllipsoidCalibration().fit(X)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.verdict_ == model.verdict_ and again.radius_std_ == model.radius_std_
    framed = clone(model).set_output(transform="pandas").fit(X).transform(X)
    assert list(framed.columns) == list(X.columns)
    blocks = model.transform(Blocks([X[:70], X[70:]]))
    assert np.allclose(np.vstack([np.asarray(part) for part in blocks]), model.transform(X))
    with pytest.warns(UserWarning, match="do not determine"):
        flat = EllipsoidCalibration().fit(np.zeros((20, 3)))
    flat.save(tmp_path / "flat.json")
    assert np.isnan(load(tmp_path / "flat.json").center_).all()


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"noise": -1}, "not negative"),
        ({"noise": [1, 2]}, "one per column, 3 of them"),
        ({"robust": 1}, "robust must be True or False"),
    ],
)
def test_bad_arguments_are_named(options, problem):
    with pytest.raises((TypeError, ValueError), match=problem):
        EllipsoidCalibration(**options).fit(readings(30)[0])
