"""Formulas from text, and the tables of laws made of them."""

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest

from vanishing import datasets
from vanishing.algebra.formulas import Formula
from vanishing.datasets.feynman import read_laws

TEXTBOOKS = Path(__file__).parents[2] / "benchmarks" / "studies" / "textbooks.csv"


def test_a_formula_is_evaluated_as_python_would():
    x, y = np.random.default_rng(0).uniform(1, 2, (2, 50))
    formula = Formula("-x**2/(1 + sqrt(y)) + 2*pi*exp(-x*y) - ln(x^2)*arcsin(y/4) + tanh(+1.5e-1)")
    expected = (
        -(x**2) / (1 + np.sqrt(y))
        + 2 * np.pi * np.exp(-x * y)
        - np.log(x**2) * np.arcsin(y / 4)
        + np.tanh(0.15)
    )
    assert formula.names == ("x", "y")
    np.testing.assert_allclose(formula({"x": x, "y": y}), expected, rtol=1e-14)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(formula))({"x": x, "y": y}), formula({"x": x, "y": y})
    )


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "x.real",
        "x[0]",
        "f(x)",
        "sin(x, y)",
        "sin()",
        "lambda: 1",
        "1 if x else 2",
        "'text'",
        "x and y",
        "x < 1",
        "1j*x",
        "(" * 5000 + "x" + ")" * 5000,
        "-" * 9000 + "x",
        "x**y",
        "x = y",
        "x +",
        "",
        "x" * 20_000,
        3,
    ],
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="formula"):
        Formula(text)


def test_a_formula_says_which_column_it_needs():
    with pytest.raises(ValueError, match="needs the column 'g'"):
        Formula("m*g")({"m": 1.0})
    with pytest.raises(AttributeError):
        Formula("m*g").text = "m"


@pytest.mark.parametrize("name", datasets.feynman_laws())
def test_laws_are_finite_in_their_ranges(name):
    table = datasets.feynman(name, n_samples=200, random_state=0)
    law = datasets.feynman_laws()[name]
    assert np.isfinite(table.target).all()
    assert set(law.formula.names) <= set(table.feature_names)
    for column, (low, high) in zip(table.data.T, law.ranges.values(), strict=True):
        assert low <= column.min() <= column.max() <= high
    columns = dict(zip(table.feature_names, table.data.T, strict=True))
    np.testing.assert_array_equal(table.target, Formula(table.formula)(columns))


def test_there_are_a_hundred_laws():
    assert len(datasets.feynman_laws()) == 100


def test_noise_is_relative_to_the_target():
    clean = datasets.feynman("I.12.1", n_samples=20_000, random_state=3)
    noisy = datasets.feynman("I.12.1", n_samples=20_000, noise=0.1, random_state=3)
    np.testing.assert_array_equal(noisy.data, clean.data)
    error = noisy.target - clean.target
    assert noisy.noise == pytest.approx(0.1 * np.sqrt(np.mean(clean.target**2)), rel=1e-12)
    assert error.std() == pytest.approx(noisy.noise, rel=0.02)
    again = datasets.feynman("I.12.1", n_samples=20_000, noise=0.1, random_state=3)
    np.testing.assert_array_equal(again.target, noisy.target)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"name": "I.1.1"}, ValueError, "name must be one of 'I.6.2a'"),
        ({"name": "I.12.1", "n_samples": 0}, ValueError, "n_samples"),
        ({"name": "I.12.1", "noise": -0.1}, ValueError, "noise"),
    ],
)
def test_bad_tables(options, error, message):
    with pytest.raises(error, match=message):
        datasets.feynman(**options)


def test_formulas_of_other_textbooks():
    lines = TEXTBOOKS.read_text(encoding="utf-8").splitlines()
    laws = read_laws(lines)
    assert len(laws) == 30
    assert all(row["source"] for row in csv.DictReader(lines))
    for law in laws.values():
        data, target = law.sample(500, np.random.RandomState(0))
        assert np.isfinite(target).all()
        assert target.std() > 0
        assert data.shape == (500, len(law.ranges))
    functions = [
        law
        for law in laws.values()
        if any(f in law.formula.text for f in ("exp", "log", "sin", "cos"))
    ]
    assert len(functions) >= 10
    assert sum(len(law.ranges) >= 4 for law in laws.values()) >= 10
