"""Pictures of equations of motion: what is drawn is what is measured and what is integrated."""

import numpy as np
import pandas as pd
import pytest

from vanishing import ConservedQuantities, EquationsOfMotion
from vanishing.datasets import make_motion
from vanishing.inspection import followed
from vanishing.plot import EquationsOfMotionDisplay

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def valleys():
    X, t, run = make_motion("predator prey", 5, 60, noise=0.01, random_state=0)
    X, t = pd.DataFrame(X, columns=["prey", "hunter"]), t + 1900.0
    return EquationsOfMotion(functions=()).fit(X, t, run), X, t, run


def test_runs_over_time_residuals_and_portrait(valleys):
    model, X, t, run = valleys
    display = EquationsOfMotionDisplay.from_estimator(model, X, t, run)
    assert len(display.axes_) == 5 and display.field_ is not None
    for j, name in enumerate(X):
        assert [len(artists[j]) for artists in (display.points_, display.lines_)] == [5, 5]
        assert display.axes_[j].get_ylabel() == name
        assert display.axes_[j].get_title(loc="left") == str(model.equations_[j])
        x, y = display.points_[j][2].get_data()
        np.testing.assert_allclose(x, t[run == 2])
        np.testing.assert_allclose(y, X[name][run == 2])
        # The line goes through the rows, within the noise.
        curve = np.interp(x, *display.lines_[j][2].get_data())
        rest = display.residuals_[j][2].get_data()[1]
        np.testing.assert_allclose(rest, y - curve, atol=0.3 * model.noise_[j])
        assert np.std(rest) == pytest.approx(model.noise_[j], rel=0.5)
    colours = [line.get_color() for line in display.lines_[0]]
    assert [colour != colours[model.held_out_.argmin()] for colour in colours] == list(
        model.held_out_
    )
    figure, ax = plt.subplots()
    assert EquationsOfMotionDisplay.from_estimator(model, X, t, run, ax=ax).figure_ is figure


def test_field_is_what_the_model_predicts(valleys):
    model, X, t, run = valleys
    x, y, slopes = followed(model, X, t, run).field_grid(7)
    assert x[0] < X["prey"].min() and y[-1] > X["hunter"].max()
    np.testing.assert_allclose(
        slopes[2, 5], model.predict(pd.DataFrame([[x[5], y[2]]], columns=X.columns))[0]
    )


def test_order_two_has_its_velocity_in_the_portrait():
    X, t, run = make_motion("oscillator", 3, 60, noise=0.01, random_state=0)
    model = EquationsOfMotion(order=2, functions=()).fit(X[:, :1], t, run)
    runs = followed(model, X[:, :1], t, run)
    assert runs.states == ("x0", "x0_dot") and runs.has_field
    # The second state along the curve is the velocity, which was measured and not given.
    for one, place in zip(runs.runs, range(3), strict=True):
        speed = np.interp(t[run == place], one.curve_times, one.curve[:, 1])
        np.testing.assert_allclose(speed, X[run == place, 1], atol=0.15)
    _, y, slopes = runs.field_grid(5)
    np.testing.assert_allclose(slopes[:, 2, 0], y)
    display = EquationsOfMotionDisplay.from_estimator(model, X[:, :1], t, run)
    assert len(display.axes_) == 3 and display.axes_[1].get_ylabel() == "x0_dot"


def test_three_columns_or_inputs_have_no_portrait():
    t = np.linspace(0.0, 6.0, 100)
    u = np.sin(2.0 * t)
    x = np.exp(-t) + (np.sin(2.0 * t) - 2.0 * np.cos(2.0 * t)) / 5.0  # x' = u - x
    y = np.exp(-0.5 * t)
    X = np.column_stack([x, y]) + 0.001 * np.random.default_rng(0).normal(size=(100, 2))
    model = EquationsOfMotion(functions=()).fit(X, t, inputs=u)
    display = EquationsOfMotionDisplay.from_estimator(model, X, t, inputs=u)
    assert len(display.axes_) == 4 and display.field_ is None
    with pytest.raises(ValueError, match="1 inputs: give inputs"):
        EquationsOfMotionDisplay.from_estimator(model, X, t)


def test_a_chaotic_run_is_followed_in_its_pieces():
    X, t, _ = make_motion("lorenz", 1, 800, noise=0.01, t_end=20.0, random_state=0)
    model = EquationsOfMotion(max_degree=2, functions=()).fit(X, t)
    assert model.n_pieces_ > 1
    (run,) = followed(model, X, t).runs
    assert (np.sqrt(np.mean(run.residuals**2, axis=0)) < 1.2 * model.noise_).all()
    assert np.isnan(run.curve[:, 0]).sum() == model.n_pieces_ - 1  # a gap between pieces


def test_many_runs_are_some_of_each_kind(valleys):
    model, X, t, run = valleys
    runs = followed(model, X, t, run, max_runs=3)
    assert len(runs.runs) == 3 and runs.n_runs == 5 and runs.n_rows == 300
    assert any(one.held_out for one in runs.runs) and not all(one.held_out for one in runs.runs)


def test_pictures_of_nothing(valleys):
    model, X, t, run = valleys
    with pytest.raises(TypeError, match="an EquationsOfMotion is needed; got Conserved"):
        EquationsOfMotionDisplay.from_estimator(ConservedQuantities(), X, t, run)
    walk = np.random.default_rng(0).normal(size=(100, 1)).cumsum(axis=0)
    none = EquationsOfMotion(functions=()).fit(walk, np.arange(100.0))
    with pytest.raises(ValueError, match=r"nothing to draw\. none: "):
        EquationsOfMotionDisplay.from_estimator(none, walk, np.arange(100.0))
    with pytest.raises(ValueError, match="one number per row"):
        EquationsOfMotionDisplay.from_estimator(model, X, t[1:], run)
