"""The command line on motion: conserved quantities found, saved and shown."""

import json

import numpy as np
import pytest
from commands import caller, check_failed
from moving import simulated

import vanishing

pytest.importorskip("typer")
pytest.importorskip("rich")


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


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
        (("--run", "nope"), "no column 'nope'", 2),
        (("--run", "run", "--functions", "sine"), "some of sin, cos", 2),
        (("--run", "run", "--functions", "z=sin"), "'z', which is no column", 2),
        (("--run", "run", "--functions", "sin", "--functions", "theta=sin"), "choose one way", 2),
        (("--run", "run", "--noise", "-1"), "not negative", 2),
        (("--run", "run", "--noise", "q=1"), "'q', which is no column", 2),
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
