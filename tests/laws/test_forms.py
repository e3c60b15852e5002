"""Forms: curves with constants inside functions, each told from the others by its own table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vanishing
from vanishing import LawFinder, laws
from vanishing.equations.forms import FORMS, Form, given_forms
from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.laws.candidates import candidate
from vanishing.laws.choose import choose
from vanishing.laws.form_fits import form_fits
from vanishing.laws.form_powers import fits_with_powers
from vanishing.laws.problem import Reduced
from vanishing.laws.reductions import Logarithms, ReductionState, with_surrogate
from vanishing.laws.table import prepared

# Of each form: the range of x, and constants.
TABLES = {
    "exponential decay": ((0, 10), {"A": 2.4, "k": 0.35}),
    "exponential growth": ((0, 5), {"A": 0.6, "k": 0.55}),
    "exponential approach to a level": ((0, 12), {"c": 1.5, "A": 3.0, "k": 0.4}),
    "exponential growth above a level": ((0, 6), {"c": 4.0, "A": 0.3, "k": 0.7}),
    "doubling above a level": ((0, 7), {"c": 4.0, "A": 0.3}),
    "saturating exponential": ((0, 10), {"A": 5.0, "k": 0.4}),
    "sum of two exponentials": ((0, 12), {"A": 4.0, "k": 1.8, "B": 2.0, "l": 0.15}),
    "Michaelis-Menten saturation": ((0.1, 10), {"V": 5.0, "K": 2.2}),
    "Michaelis-Menten saturation above a level": ((0.1, 15), {"c": 1.0, "V": 4.0, "K": 1.3}),
    "Hill equation": ((0.1, 10), {"V": 5.0, "K": 3.1, "n": 2.6}),
    "Hill equation above a level": ((0.1, 12), {"c": 0.8, "V": 3.0, "K": 3.3, "n": 3.4}),
    "logistic growth": ((0, 20), {"A": 7.0, "k": 0.6, "m": 9.0}),
    "Gompertz growth": ((0, 20), {"A": 7.0, "k": 0.35, "m": 6.0}),
    "tanh step": ((-5, 5), {"c": 1.2, "A": 2.0, "m": 0.7, "w": 1.3}),
    "tanh saturation": ((0, 8), {"A": 20.0, "k": 0.37}),
    "arctan step": ((-8, 8), {"c": 1.2, "A": 2.0, "m": -1.0, "w": 0.9}),
    "Gaussian peak": ((-5, 5), {"A": 4.0, "m": 0.6, "s": 1.2}),
    "Gaussian peak above a level": ((400, 700), {"c": 9.0, "A": 60.0, "m": 540.0, "s": 30.0}),
    "Lorentzian peak": ((0, 10), {"A": 4.0, "m": 5.6, "w": 1.1}),
    "Lorentzian peak above a level": ((0, 10), {"c": 0.9, "A": 4.0, "m": 4.2, "w": 0.9}),
    "power law": ((0.5, 20), {"A": 2.4, "p": 0.73}),
    "power law above a level": ((0.2, 12), {"c": 5.0, "A": 1.1, "p": 1.37}),
    "power law with a cutoff": ((0.2, 9), {"A": 2.0, "p": 1.3, "k": 0.6}),
    "logarithm": ((0, 20), {"A": 2.5, "b": 1.4}),
    "logarithmic law": ((0.5, 60), {"c": 15.5, "A": -2.1}),
    "logarithmic law with a trend": ((0.1, 12), {"c": 3.0, "A": 1.5, "b": -0.7}),
    "logarithm above a level": ((1, 30), {"c": 3.0, "A": 2.0, "b": -0.8}),
    "Arrhenius law": ((250, 700), {"A": 8e4, "E": 2600.0}),
    "Arrhenius law with a power": ((150, 900), {"A": 0.05, "p": 1.4, "E": 900.0}),
    "oscillation": ((0, 8), {"A": 2.0, "w": 3.7, "f": -1.1}),
    "oscillation about a level": ((0, 8), {"c": 3.0, "A": 2.0, "w": 2.3, "f": 2.0}),
    "damped oscillation": ((0, 12), {"A": 3.0, "k": 0.15, "w": 2.9, "f": 0.8}),
    "stretched exponential": ((0.05, 20), {"A": 3.0, "T": 4.0, "b": 0.6}),
    "Weibull growth": ((0.1, 15), {"A": 9.0, "T": 5.0, "b": 2.1}),
    "Planck's law": ((0.1, 12), {"A": 0.9, "b": 1.1}),
    "Lennard-Jones potential": ((3.4, 8), {"e": 1.3, "s": 3.3}),
    "Morse potential": ((0.9, 6), {"D": 3.0, "a": 1.1, "m": 1.5}),
    "hyperbola": ((-4, 6), {"a": 3.0, "b": 0.8}),
    "line with a break": ((0, 10), {"a": 1.0, "b": 0.8, "c": 0.6, "d": 4.3}),
}


def table_of(form, n_rows=120, noise=0.005, seed=0):
    """Return x and the target with noise, and the constants in the order of the form."""
    rng = np.random.default_rng(seed)
    ends, named = TABLES[form.name]
    x = rng.uniform(*ends, n_rows)
    x = np.round(x) if form.counts else x
    constants = np.array([named[name] for name in form.constants])
    y = form.value.value([x, *constants])
    return x, y + noise * np.sqrt(np.mean(y**2)) * rng.normal(size=n_rows), constants


def chosen(x, y, forms):
    """Return what is chosen out of forms alone."""
    table = prepared(np.vstack([x, y]), 1, np.ones_like(x)).table
    state = ReductionState(np.zeros(1), np.eye(1), table.positive)
    logarithms = Logarithms(table.columns, table.positive)
    reduced = Reduced.of(table, with_surrogate(state, logarithms, table.y, table.weight))
    fits = form_fits(reduced, forms, reduced.noise, lambda *_: None)
    return choose([candidate(fit, reduced) for fit in fits], LackOfFit(table.columns))


def test_every_form_has_a_table():
    assert list(TABLES) == list(FORMS)


@pytest.mark.parametrize("name", TABLES)
def test_each_form_is_told_from_the_others(name):
    x, y, constants = table_of(FORMS[name])
    best = chosen(x, y, tuple(FORMS.values()))
    assert best.reason == ""
    assert best.best.fitted.form.form.name == name
    fitted = best.best.fitted
    deviations = np.sqrt(fitted.mean_square * fitted.covariance.diagonal())
    assert (np.abs(fitted.coef - constants) < 4.5 * deviations).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_each_form_is_found_by_a_search(name):
    x, y, constants = table_of(FORMS[name], n_rows=300)
    finder = LawFinder().fit(x[:, np.newaxis], y)
    assert name.lower() in finder.verdict_.lower()
    law = finder.laws_[0]
    for constant, value in zip(FORMS[name].constants, constants, strict=True):
        estimate, std = law.constants[constant]
        assert abs(estimate - value) < 4.5 * std


# -- What is said and written ---------------------------------------------------------------------


def hill(n_rows=200, noise=0.02, seed=1):
    rng = np.random.default_rng(seed)
    dose = rng.uniform(0.1, 10, n_rows)
    response = 3.0 * dose**2.3 / (2.1**2.3 + dose**2.3) + noise * rng.normal(size=n_rows)
    return pd.DataFrame({"dose": dose}), pd.Series(response, name="response")


@pytest.fixture(scope="module")
def finder():
    return LawFinder().fit(*hill())


def test_a_form_has_a_name_and_constants(finder):
    (law,) = finder.laws_
    assert law.verdict.startswith("Hill equation with V = ")
    assert set(law.constants) == {"V", "K", "n"}
    value, std = law.constants["n"]
    assert abs(value - 2.3) < 4 * std < 0.2
    assert f"{law}: {law.verdict}" == finder.verdict_


def test_it_is_written_saved_and_solved(finder, tmp_path):
    (law,) = finder.laws_
    X, y = hill(seed=2)
    predicted = finder.predict(X)
    assert np.sqrt(np.mean((predicted - y) ** 2)) < 0.03
    finder.save(tmp_path / "laws.json")
    loaded = vanishing.load(tmp_path / "laws.json")
    assert str(loaded.laws_[0]) == str(law)
    assert loaded.laws_[0].constants == law.constants
    np.testing.assert_array_equal(loaded.predict(X), predicted)
    space = {"np": np, "dose": X["dose"].to_numpy()}
    np.testing.assert_allclose(eval(law.write("python"), space), predicted)
    assert "POWER" in law.write("sql")
    assert r"\frac" in law.to_latex()
    inverse = law.solve("dose").predict(pd.DataFrame({"response": predicted}))
    np.testing.assert_allclose(inverse, X["dose"], rtol=1e-6)


def test_the_front_has_it(finder):
    table = finder.front_table()
    assert list(table["equation"][table["chosen"]]) == [str(finder.laws_[0])]


def test_a_power_has_its_exponent_with_an_error():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 20, 200)
    y = 2.4 * x**0.73 * (1 + 0.01 * rng.normal(size=200))
    (law,) = LawFinder().fit(x[:, np.newaxis], y).laws_
    assert "exp" not in str(law)
    assert str(law).startswith("y = 2.") and "*x0^0.7" in str(law)


def test_powers_of_several_columns_have_exponents_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 9, (80, 2))
    y = 0.8 * X[:, 0] ** 0.707 * X[:, 1] ** -0.414
    y = y + 0.01 * np.sqrt(np.mean(y**2)) * rng.normal(size=80)
    (law,) = LawFinder().fit(X, y).laws_
    assert "log" not in str(law)
    for name, exponent in {"p": 0.707, "q": -0.414}.items():
        value, std = law.constants[name]
        assert abs(value - exponent) < 4.5 * std < 0.1


def test_a_form_stands_before_a_power_of_another_column():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 5, 150), rng.uniform(1, 9, 150)
    y = 2.4 * a**0.73 * np.exp(-0.4 * b)
    y = y + 0.005 * np.sqrt(np.mean(y**2)) * rng.normal(size=150)
    table = prepared(np.vstack([a, b, y]), 2, np.ones(150)).table
    state = ReductionState(np.zeros(2), np.eye(2), table.positive)
    logarithms = Logarithms(table.columns, table.positive)
    reduced = Reduced.of(table, with_surrogate(state, logarithms, table.y, table.weight))
    fits = fits_with_powers(reduced, (FORMS["exponential decay"],), reduced.noise, lambda *_: None)
    found = [dict(zip(f.form.form.constants, f.coef, strict=True)) for f in fits]
    assert any(abs(c["p"] - 0.73) < 0.02 and abs(c["k"] - 0.4) < 0.02 for c in found)


def test_a_phase_is_an_angle_and_an_amplitude_positive():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 10, 200)
    for phase in (-3.0, 3.0, 1.0):
        y = 2.0 * np.cos(1.7 * t + phase) + 0.02 * rng.normal(size=200)
        best = chosen(t, y, (FORMS["oscillation"],)).best
        named = dict(zip(FORMS["oscillation"].constants, best.fitted.coef, strict=True))
        assert abs(named["f"] - phase) < 0.02
        assert abs(named["A"] - 2.0) < 0.02


# -- Forms of users -------------------------------------------------------------------------------


def test_a_form_of_ones_own():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 9, 80)
    y = 4.2 * x / (1.7 + x) + 0.02 * rng.normal(size=80)
    (law,) = LawFinder(forms=["A*x/(K + x)"]).fit(x[:, np.newaxis], y).laws_
    assert set(law.constants) == {"A", "K"}
    assert "Form A*x/(K + x) with A = " in law.verdict
    value, std = law.constants["K"]
    assert abs(value - 1.7) < 4 * std < 0.3


def test_a_form_that_is_not_built_in():
    rng = np.random.default_rng(0)
    t = rng.uniform(1, 100, 150)
    p = 10 ** (8.07 - 1730.6 / (t + 233.4))  # Antoine, of water
    y = p + 0.002 * np.sqrt(np.mean(p**2)) * rng.normal(size=150)
    (law,) = LawFinder(forms=["10^(A - B/(x + C))"]).fit(t[:, np.newaxis], y).laws_
    assert set(law.constants) == {"A", "B", "C"}
    for name, value in {"A": 8.07, "B": 1730.6, "C": 233.4}.items():
        estimate, std = law.constants[name]
        assert abs(estimate - value) < 4.5 * std


def test_a_form_of_two_variables():
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0.5, 5, (2, 200))
    y = 3.0 * x / (1.2 + x + 0.4 * z) + 0.01 * rng.normal(size=200)
    finder = LawFinder(functions=(), forms=["A*x/(K + x + b*z)"]).fit(np.column_stack([z, x]), y)
    (law,) = finder.laws_
    np.testing.assert_allclose(law.constants["b"][0], 0.4, rtol=0.1)
    assert "x0" in law.columns and "x1" in law.columns


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A*x/(K + x", "bracket is not closed"),
        ("A*w/(K + w)", "has no x"),
        ("x^2", "no constants"),
        ("A*x = 3", "'=' is not expected"),
        ("A*foo(x)", "is no function"),
    ],
)
def test_forms_that_cannot_be_read_are_named(text, problem):
    with pytest.raises(ValueError, match="form") as error:
        LawFinder(forms=[text]).fit(np.ones((9, 1)), np.ones(9))
    assert text in str(error.value) and problem in str(error.value)


def test_a_text_is_no_list_of_forms():
    with pytest.raises(TypeError, match=r"write \['A\*x'\]"):
        LawFinder(forms="A*x").fit(np.ones((9, 1)), np.ones(9))


def test_forms_are_registered():
    laws.register_form("offset cube", "c + A*x^3")
    try:
        assert "offset cube" in [form.name for form in given_forms(None, "auto")]
        with pytest.raises(ValueError, match="already"):
            laws.register_form("offset cube", "c*x^3")
    finally:
        laws.unregister_form("offset cube")
    assert "offset cube" not in FORMS
    with pytest.raises(ValueError, match="no form that was registered"):
        laws.unregister_form("Hill equation")


def test_which_forms_are_tried():
    assert given_forms((), "auto") == ()
    assert given_forms(None, ()) == ()
    assert [form.text for form in given_forms(["A*x"], ())] == ["A*x"]
    assert len(given_forms(["A*x"], "auto")) == 1 + len(FORMS)


def test_linear_constants_are_solved_for():
    form = Form("own", "c + A*exp(-k*x) + B*x", own=False)
    assert [form.constants[k] for k in form.linear] == ["c", "A", "B"]
    assert [form.constants[k] for k in form.inner] == ["k"]


def test_the_page_has_all_forms():
    page = Path(__file__).parents[2].joinpath("docs/curves.md").read_text(encoding="utf-8")
    for form in FORMS.values():
        assert f"| {form.name} | `{form.text}` |" in page


def test_a_form_without_functions_is_simpler_than_a_sum_with_them():
    # 1/y^2 = a + b*exp(-1/x) has a constant less, leaves nearly as little, and is another law.
    rng = np.random.default_rng(0)
    x = rng.uniform(0.05, 25, 150)
    y = 2 + 5 * x / (2 + x)
    y += 0.01 * np.sqrt(np.mean(y**2)) * rng.normal(size=150)
    (law,) = LawFinder().fit(x[:, None], y).laws_
    assert "Michaelis-Menten saturation above a level" in law.verdict
    value, std = law.constants["K"]
    assert abs(value - 2) < 4 * std < 0.8


# -- Tables without law ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_walks_are_no_curves(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, 150))
    y = np.cumsum(rng.normal(size=150))
    assert not LawFinder(functions=()).fit(x[:, np.newaxis], y).laws_
    best = chosen(x, y, tuple(FORMS.values()))
    assert best is None or best.reason


def test_curves_that_noise_does_not_tell_apart_are_named():
    rng = np.random.default_rng(4)
    x = rng.uniform(2, 4, 60)
    y = 3.0 * np.exp(-0.4 * x) + 0.03 * rng.normal(size=60)
    finder = LawFinder().fit(x[:, np.newaxis], y)
    assert not finder.laws_ or "approximation" in finder.verdict_


def test_a_search_for_forms_ends_in_time():
    X, y = hill(n_rows=2000)
    finder = LawFinder(max_time=1e-6).fit(X, y)
    assert "max_time" in finder.verdict_


@pytest.mark.parametrize("seed", range(2))
def test_functions_of_a_form_do_not_cost_less_than_those_of_a_term(seed):
    """cos(2*x - pi/2) has three constants, sin(x)*cos(x) has one, and both are the same."""
    random = np.random.default_rng(seed)
    X = np.column_stack([10 ** random.uniform(0, 1, (100, 2)), random.uniform(1, 3, 100)])
    y = X[:, 0] * np.sin(X[:, 2]) * np.cos(X[:, 2]) / X[:, 1]
    (law,) = LawFinder().fit(X, y * (1 + 0.01 * random.normal(size=100))).laws_
    assert law.n_terms == 2 and not law.constants


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("slope", [0.7, 0.0])
def test_a_line_with_a_break_is_one_in_any_units(unit, slope):
    """Its level and its slope may be zero, as far as the rows can tell."""
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 100)
    y = 3 + slope * x + 0.5 * np.abs(x - 4) + 0.05 * random.normal(size=100)
    (law,) = LawFinder().fit(unit * x[:, np.newaxis], y).laws_
    assert law.verdict.startswith("Line with a break")
    assert law.constants["d"][0] == pytest.approx(4 * unit, rel=0.05)


def test_a_curve_without_noise_is_no_approximation():
    x = np.random.default_rng(0).uniform(0.1, 9.0, 60)
    (law,) = LawFinder().fit(x[:, np.newaxis], 4.4 * x**2.3 / (3.1**2.3 + x**2.3)).laws_
    assert law.verdict.startswith("Hill equation with V = 4.4, n = 2.3, K = 3.1.")
    assert "approximation" not in law.verdict
