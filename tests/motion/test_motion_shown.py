"""Conserved quantities shown: pictures and the command line."""

import json

import numpy as np
import pytest
from commands import caller, check_failed
from moving import SYSTEMS, simulated

import vanishing
from vanishing import ConservedQuantities

plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("typer")
pytest.importorskip("rich")
plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


def fitted(name, noise=0.01):
    X, groups = simulated(name, noise)
    model = ConservedQuantities(**SYSTEMS[name].parameters).fit(X, groups=groups)
    return model, X, groups


# -- Pictures -------------------------------------------------------------------------------------


def test_quantities_over_time():
    from vanishing.plot import ConservedQuantitiesDisplay

    model, X, groups = fitted("rigid body")
    t = np.tile(np.linspace(5, 0, 80), 40)  # backwards
    display = ConservedQuantitiesDisplay.from_estimator(model, X, groups, t)
    assert len(display.axes_) == 2 and [len(lines) for lines in display.lines_] == [40, 40]
    values = model.transform(X)
    for i in range(2):
        x, y = display.lines_[i][7].get_data()
        assert (np.diff(x) > 0).all()
        np.testing.assert_allclose(y[::-1], values[groups == 7, i])
    ratio = display.within_**2 / (display.within_**2 + display.between_**2)
    np.testing.assert_allclose(ratio, model.ratio_, rtol=0.3)
    figure, ax = plt.subplots()
    assert ConservedQuantitiesDisplay.from_estimator(model, X, groups, ax=ax).figure_ is figure


def test_phase_portrait():
    from vanishing.plot import PhasePortraitDisplay

    model, X, groups = fitted("Lotka-Volterra")
    display = PhasePortraitDisplay.from_estimator(model, X, groups)
    assert display.ax_.get_xlabel() == "$x$" and len(display.points_) == 40
    assert set(display.levels) <= set(np.unique(display.levels)) and len(display.levels) == 12
    np.testing.assert_allclose(display.levels[0], model.values_.min(), rtol=1e-6)
    # The curves lie where the quantity has their values.
    for level, path in zip(display.levels, display.contours_.get_paths(), strict=True):
        on_curve = model.quantities_[0](path.vertices)
        np.testing.assert_allclose(on_curve, level, atol=0.02)


def test_pictures_of_nothing():
    from vanishing.plot import ConservedQuantitiesDisplay, PhasePortraitDisplay

    model, X, groups = fitted("Lorenz")
    for display in (ConservedQuantitiesDisplay, PhasePortraitDisplay):
        with pytest.raises(ValueError, match="nothing to draw"):
            display.from_estimator(model, X, groups)
        with pytest.raises(TypeError, match="ConservedQuantities is needed"):
            display.from_estimator(vanishing.OAVI(), X, groups)
    model, X, groups = fitted("rigid body")
    with pytest.raises(ValueError, match="two columns; the model has 3"):
        PhasePortraitDisplay.from_estimator(model, X, groups)
    with pytest.raises(ValueError, match="groups has 3199 entries"):
        ConservedQuantitiesDisplay.from_estimator(model, X, groups[1:])


# -- Command line ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("motion") / "pendulum.csv"
    X, groups = simulated("pendulum", 0.01)
    X.assign(run=groups, t=np.arange(len(X))).to_csv(path, index=False)
    return path


def test_from_a_table_to_a_quantity(call, table, tmp_path):
    saved = tmp_path / "motion.json"
    words = ("motion", table, "--run", "run", "--time", "t", "--functions", "theta=sin,cos")
    result = call(*words, "--out", saved)
    assert result.returncode == 0, result.stderr
    assert "omega^2 - 19.63(1)*cos(theta)" in result.stdout
    assert "cos(theta)^2 + sin(theta)^2 = 1" in result.stdout
    assert "40 runs, 3200 rows, 2 columns" in result.stdout
    model = vanishing.load(saved)
    assert list(model.runs_) == list(range(40))
    assert "omega^2" in call("show", saved).stdout
    assert "\\cos" in call("show", saved, "--latex").stdout
    assert "cos(Symbol('theta'))" in call("show", saved, "--sympy").stdout
    document = json.loads(call("show", saved, "--json").stdout)
    assert document["quantities"][0]["coefficients"][0] == 1.0
    assert len(document["quantities"][0]["values"]) == 40


def test_nothing_is_said_and_nothing_saved_unless_asked(call, table, tmp_path):
    result = call("motion", table, "--run", "run", "--time", "t", "--max-degree", "1")
    assert result.returncode == 0 and "Nothing is conserved" in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words, problem, code",
    [
        (("--run", "nope"), "no column 'nope'", 1),
        (("--run", "run", "--functions", "sine"), "some of sin, cos", 2),
        (("--run", "run", "--functions", "z=sin"), "'z', which is no column", 1),
        (("--run", "run", "--functions", "sin", "--functions", "theta=sin"), "choose one way", 2),
        (("--run", "run", "--noise", "-1"), "not negative", 2),
        (("--run", "run", "--noise", "q=1"), "'q', which is no column", 1),
    ],
)
def test_words_that_do_not_go_together(call, table, words, problem, code):
    check_failed(call("motion", table, "--time", "t", *words), problem, code=code)


def test_runs_of_one_row(call, table):
    check_failed(call("motion", table, "--run", "t", "--time", "run"), "has one row")


def test_noise_of_columns(call, table):
    words = ("motion", table, "--run", "run", "--drop", "t", "--functions", "theta=sin,cos")
    result = call(*words, "--noise", "theta=0.01", "--noise", "omega=0.03")
    assert "omega^2 - 19.6" in result.stdout
