"""Equations that somebody has in mind, checked on tables."""

import re

import numpy as np
import pandas as pd
import pytest

import vanishing
from vanishing import Blocks, check_law
from vanishing.algebra.equations import read_equation
from vanishing.algebra.terms import Evaluator

R = 8.314


def gas(n=1000, noise=0.01, seed=0):
    """Temperatures, amounts and volumes, and the pressure with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform([1, 250, 0.02], [3, 400, 0.1], (n, 3)), columns=["n", "T", "V"])
    p = R * X["n"] * X["T"] / X["V"]
    return X, (p + noise * p.std() * rng.normal(size=n)).rename("p")


def curve(function, n=1000, noise=0.02, seed=0):
    """One column t in (0, 5), and a function of it with noise."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.01, 5, n)
    return pd.DataFrame({"t": t}), function(t) + noise * rng.normal(size=n)


# -- Constants ------------------------------------------------------------------------------------


def test_the_constant_of_the_gas_law():
    X, p = gas()
    law = check_law("p*V = R*n*T", X, p)
    value, std = law.constants["R"]
    assert abs(value - R) < 3 * std
    assert 0.0005 < std < 0.005
    assert law.verdict.startswith("holds: rms error")
    assert law.verdict.endswith("no column explains what is left")
    assert f"R = {str(law).split(' = ')[1].split('*')[0]};" in law.verdict
    assert law.target == "p" and law.names == ("n", "T", "V", "p") and law.n_samples == len(X)
    assert 0.97 < law.error / (0.01 * (R * X["n"] * X["T"] / X["V"]).std()) < 1.03
    assert 0.85 < law.held_out_error / law.error < 1.15
    assert abs(law.lack_of_fit) < 4
    np.testing.assert_allclose(law.predict(X), value * X["n"] * X["T"] / X["V"], rtol=1e-12)
    # Errors are those of the target over what it changes by, for each column.
    np.testing.assert_allclose(law.errors[3], law.error)
    assert 0.5 < law.errors[1] / (law.error / (p / X["T"]).mean()) < 1.5


def test_standard_errors_are_those_of_repeated_experiments():
    found = []
    for seed in range(40):
        X, p = gas(n=100, noise=0.05, seed=seed)
        value, std = check_law("p = R*n*T/V", X, p).constants["R"]
        found.append((value - R) / std)
    assert 0.75 < np.std(found) < 1.3
    assert abs(np.mean(found)) < 0.5


def test_few_rows_have_the_errors_of_textbooks():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6))
    law = check_law("y = a*x0 + b", x[:, None], y)
    design = np.c_[x, np.ones(6)]
    coef, (left,), *_ = np.linalg.lstsq(design, y, rcond=None)
    std = np.sqrt(left / 4 * np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(list(law.constants.values()), np.c_[coef, std], rtol=1e-9)
    np.testing.assert_allclose(law.error, np.sqrt(left / 6), rtol=1e-9)


def test_rows_held_out_are_not_fitted():
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 16)
    law = check_law("y = a + b*x0 + c*x0^2 + d*x0^3 + e*x0^4 + f*x0^5 + g*x0^6", x[:, None], x**2)
    assert law.held_out_error < 1e-9
    y = x**2 + 0.1 * rng.normal(size=16)
    law = check_law("y = a + b*x0 + c*x0^2 + d*x0^3 + e*x0^4 + f*x0^5 + g*x0^6", x[:, None], y)
    assert law.held_out_error > 1.5 * law.error


def test_errors_are_those_of_the_solved_target():
    X, y = curve(lambda t: np.sqrt(3 * t + 2), noise=0.5)
    for equation in ("y = sqrt(a*t + b)", "y^2 = a*t + b"):
        law = check_law(equation, X, y)
        left = y - law.predict(X)
        np.testing.assert_allclose(law.error, np.sqrt(np.mean(left**2)), rtol=1e-9)
        a, b = (law.constants[name] for name in "ab")
        assert abs(a[0] - 3) < 3 * a[1] and abs(b[0] - 2) < 3 * b[1]


def test_a_constant_under_a_root_has_its_error_outside():
    X, y = curve(lambda t: 2 * np.pi * np.sqrt(t / 9.81))
    law = check_law("y = 2*pi*sqrt(t/g)", X, y)
    g, std = law.constants["g"]
    assert abs(g - 9.81) < 3 * std
    np.testing.assert_allclose(np.abs(law.coef), [1, 2 * np.pi / np.sqrt(g)], rtol=1e-9)
    np.testing.assert_allclose(law.coef_std, [0, np.pi * g**-1.5 * std], rtol=1e-6)


def test_a_fast_oscillation_far_from_zero():
    X, y = curve(lambda t: 2 * np.sin(9.1 * t + 0.7) + 30)
    law = check_law("y = a*sin(w*t + f) + b", X, y)
    assert law.verdict.startswith("holds"), law.verdict
    assert abs(law.constants["w"][0] - 9.1) < 3 * law.constants["w"][1]


def logistic(t):
    return 2 / (1 + np.exp(-2 * (t - 2.3)))


@pytest.mark.parametrize(
    "equation, function, constants",
    [
        ("y = a*exp(-k*t) + b", lambda t: 3 * np.exp(-1.7 * t) + 0.5, {"a": 3, "k": 1.7, "b": 0.5}),
        ("y = a*sin(w*t + f)", lambda t: 2 * np.sin(3.1 * t + 0.7), {"w": 3.1}),
        ("y = A/(1 + exp(-k*(t - c)))", logistic, {"A": 2, "k": 2, "c": 2.3}),
        ("y = v*t/(K + t)", lambda t: 3 * t / (0.7 + t), {"v": 3, "K": 0.7}),
        ("y = a*sqrt(t + b)", lambda t: 2 * np.sqrt(t + 1.5), {"a": 2, "b": 1.5}),
        ("y = -a*sqrt(t + b)", lambda t: 2 * np.sqrt(t + 1.5), {"a": -2, "b": 1.5}),
        ("y = a*tanh(b*t)", lambda t: 2 * np.tanh(0.8 * t), {"a": 2, "b": 0.8}),
        ("y = a*arctan(b*t)", lambda t: 2 * np.arctan(0.8 * t), {"a": 2, "b": 0.8}),
        ("y^2 = a*t", lambda t: np.sqrt(3 * t) + 1e-9, {"a": 3}),
        ("y = a*ln(b*t)", lambda t: 2 * np.log(3 * t), {"a": 2, "b": 3}),
    ],
)
@pytest.mark.parametrize("units", [(1.0, 1.0), (2.0**-30, 2.0**20)])
def test_constants_wherever_they_stand(equation, function, constants, units):
    X, y = curve(function)
    law = check_law(equation, X * units[0], y * units[1])
    assert law.verdict.startswith("holds"), law.verdict
    assert 0.018 < law.error / units[1] < 0.022
    if units == (1.0, 1.0):
        for name, value in constants.items():
            assert abs(law.constants[name][0] - value) < 3.5 * law.constants[name][1], name
    # The law has the fitted numbers: its solutions are what the equation says.
    if "A/" not in equation:
        exact = function(X["t"].to_numpy()) * units[1]
        np.testing.assert_allclose(law.predict(X * units[0]), exact, atol=0.01 * units[1])


def test_a_root_of_a_sum_is_solved_as_it_was_written():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"m": rng.uniform(1, 5, 500), "v": rng.uniform(0, 0.8, 500)})
    y = X["m"] / np.sqrt(1 - X["v"] ** 2)
    exact = check_law("y = m/sqrt(1 - v^2)", X, y)
    assert str(exact) == "y = m/sqrt(1 - v^2)"
    assert exact.verdict == "holds: exact up to rounding"
    law = check_law("y = m/sqrt(1 - v^2/c^2)", X, y + 0.01 * rng.normal(size=500))
    assert abs(law.constants["c"][0] - 1) < 3 * law.constants["c"][1]
    wrong = check_law("y = -m/sqrt(1 - v^2)", X, y)
    assert wrong.verdict.startswith("does not hold: a square root would be negative on 100 %")


def test_numbers_are_not_changed():
    X, p = gas()
    law = check_law("p*V = 8.314*n*T", X, p)
    assert law.constants == {}
    assert str(law) == "p = 8.314*n*T/V"
    assert "holds" in law.verdict and "R =" not in law.verdict


# -- Laws that do not hold ------------------------------------------------------------------------


@pytest.mark.parametrize("equation", ["p*V = R*n", "p*V = k*n", "p = R*n/V"])
def test_a_missing_column_is_named(equation):
    law = check_law(equation, *gas())
    assert re.match(r"does not hold: \d+ % of what it leaves over depends on T \(", law.verdict)
    assert law.lack_of_fit > 20


def test_a_wrong_constant_is_seen():
    X, p = gas()
    assert check_law("p*V = 8.4*n*T", X, p).verdict.startswith("does not hold")
    assert check_law("p*V = 8.4*n*T", X.assign(p=p)).verdict.startswith("does not hold")


def test_noise_alone_is_no_law():
    rng = np.random.default_rng(1)
    law = check_law("y = a*x0 + b", rng.normal(size=(500, 1)), rng.normal(size=500))
    assert law.verdict.startswith("does not hold: rms error")
    assert "it leaves more than half of the variance of y" in law.verdict


def test_a_column_that_plays_no_part_is_no_reason():
    X, p = gas()
    noise = np.random.default_rng(3).normal(size=(len(X), 3))
    X = X.assign(a=noise[:, 0], b=noise[:, 1], one=1.0)
    assert check_law("p*V = R*n*T", X, p).verdict.startswith("holds")
    law = check_law("p*V = R*n*T", X, p + 3000 * noise[:, 1])
    assert re.match(r"does not hold: \d+ % of what it leaves over depends on b \(", law.verdict)


# -- Without y ------------------------------------------------------------------------------------


def test_the_column_that_stands_alone_is_the_target():
    X, p = gas()
    table = X.assign(p=p)
    law = check_law("p = R*n*T/V", table)
    assert law.target == "p" and law.n_inputs == 4
    assert law.constants == check_law("p = R*n*T/V", X, p).constants
    assert check_law("R*n*T/V = p", table).target == "p"
    assert check_law("p = R*n*T/V + 0*p", table).target == "p"
    assert check_law("p = 2*p - R*n*T/V", table).target is None


@pytest.mark.parametrize("noise_in_all", [False, True])
def test_no_column_is_singled_out(noise_in_all):
    X, p = gas(noise=0.01)
    table = X.assign(p=p)
    if noise_in_all:
        table += 0.01 * table.std().to_numpy() * np.random.default_rng(1).normal(size=table.shape)
    law = check_law("p*V = R*n*T", table)
    assert law.target is None
    assert law.verdict.startswith("holds"), law.verdict
    assert abs(law.constants["R"][0] - R) < 3 * law.constants["R"][1]
    assert 0.002 < law.error < 0.02
    assert np.isfinite(law.errors).all()


def test_a_circle_of_any_size():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 1000)
    X = np.c_[2 + 1.5 * np.cos(angle), -1 + 1.5 * np.sin(angle)] + 0.02 * rng.normal(size=(1000, 2))
    law = check_law("(x0 - a)^2 + (x1 - b)^2 - r^2", X)
    assert law.verdict.startswith("holds"), law.verdict
    for name, value in {"a": 2, "b": -1, "r": 1.5}.items():
        assert abs(law.constants[name][0] - value) < 3.5 * law.constants[name][1]
    large = check_law("(x0 - a)^2 + (x1 - b)^2 = r^2", 2.0**40 * X)
    np.testing.assert_allclose(large.constants["r"][0], 2.0**40 * law.constants["r"][0], rtol=1e-6)
    np.testing.assert_allclose(large.error, law.error, rtol=1e-6)
    # Noise in both columns: each has about the same.
    np.testing.assert_allclose(law.errors, 0.02 * np.sqrt(2), rtol=0.1)
    assert check_law("(x0 - 2)^2 + (x1 + 1)^2 = 2", X).verdict.startswith("does not hold")


def test_noise_in_both_columns_is_no_lack_of_fit():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 2 * np.pi, 5000)
        X = np.c_[np.cos(angle), np.sin(angle)] + 0.02 * rng.normal(size=(5000, 2))
        assert check_law("x0^2 + x1^2 = r^2", X).lack_of_fit < 4


# -- Weights, files, names ------------------------------------------------------------------------


def test_weights_are_repeated_rows_but_no_new_observations():
    X, p = gas(n=200, noise=0.05)
    weight = np.random.default_rng(0).integers(0, 4, 200)
    law = check_law("p*V = R*n*T", X, p, sample_weight=weight)
    other = check_law("p*V = R*n*T", X.loc[X.index.repeat(weight)], p.repeat(weight))
    np.testing.assert_allclose(law.constants["R"][0], other.constants["R"][0], rtol=1e-9)
    assert law.constants["R"][1] > 1.2 * other.constants["R"][1]
    np.testing.assert_allclose(law.error, other.error, rtol=1e-9)
    np.testing.assert_allclose(law.errors, other.errors, rtol=1e-9)
    unweighted = check_law("p*V = R*n*T", X, p)
    assert abs(law.constants["R"][0] - unweighted.constants["R"][0]) > 1e-4
    # What has no weight is not there.
    bad = p.mask(weight == 0, 1e9)
    same = check_law("p*V = R*n*T", X, bad, sample_weight=weight)
    assert same.constants == law.constants and same.verdict == law.verdict


def test_a_checked_law_comes_back_from_a_file(tmp_path):
    X, y = curve(lambda t: 2 * np.tanh(0.8 * t))
    law = check_law("y = a*tanh(b*t)", X, y)
    law.save(tmp_path / "law.json")
    back = vanishing.load(tmp_path / "law.json")
    assert back.constants == law.constants and set(back.constants) == {"a", "b"}
    assert back.verdict == law.verdict and str(back) == str(law)
    np.testing.assert_array_equal(back.residual(X, y), law.residual(X, y))
    assert law.solve("t").constants == law.constants


def test_names_as_they_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 2, (100, 3)), columns=["heat load (kW)", "lambda", "l [cm]"])
    y = 3 * X["heat load (kW)"] / X["lambda"] + X["l [cm]"]
    law = check_law("y = k*[heat load (kW)]/lambda + [l [cm]]", X, y)
    np.testing.assert_allclose(law.constants["k"][0], 3, rtol=1e-12)
    # A column called as a number or a function is one.
    X.columns = ["pi", "exp", "x"]
    law = check_law("y = k*pi/exp + x", X, y.rename(7))
    np.testing.assert_allclose(law.constants["k"][0], 3, rtol=1e-12)
    law = check_law("y = pi*x0", X.to_numpy(), np.pi * X["pi"].to_numpy())
    assert law.verdict == "holds: exact up to rounding"


@pytest.mark.parametrize(
    "text, value",
    [
        ("a + 2*b^2 - 3*(a - b)**2/4", lambda a, b: a + 2 * b**2 - 0.75 * (a - b) ** 2),
        ("a^-2*b^1.5 = 3", lambda a, b: b**1.5 / a**2 - 3),
        ("-a^2 = exp(a - b)", lambda a, b: -(a**2) - np.exp(a - b)),
        ("sin(2*a + b) = cos(a - b - 1)", lambda a, b: np.sin(2 * a + b) - np.cos(a - b - 1)),
        ("sqrt(a*b)^3 = log(a/b)", lambda a, b: np.sqrt(a * b) ** 3 - np.log(a / b)),
        ("2*log(2)*a/exp(b)/5e-1", lambda a, b: 4 * np.log(2) * a / np.exp(b)),
        ("1/(1 + 1/(1 + a)) = b", lambda a, b: 1 + a - b * (2 + a)),
        ("tan(a + b) = 1", lambda a, b: np.tan(a + b) - 1),
        ("sqrt(a + b) + sqrt(a) = 2", None),
        ("b = a/sqrt(1 + a)^3", lambda a, b: b**2 * (1 + a) ** 3 - a**2),
    ],
)
def test_an_equation_is_what_its_text_says(text, value):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 2, (2, 50))
    if value is None:  # the root where the equation holds
        a, b = a / 2, (2 - np.sqrt(a / 2)) ** 2 - a / 2
    equation = read_equation(text, ["a", "b"])
    found = equation.numbers @ Evaluator(np.array([a, b])).values(equation.terms)
    if value is None:
        np.testing.assert_allclose(found, 0, atol=1e-12)
        assert not equation.on_wrong_branch(np.array([a, b]), np.empty(0)).any()
        return
    wanted = value(a, b)
    ratio = found / wanted  # an equation says the same times a factor
    if "sqrt(1" in text or "1/(1" in text:
        ratio = np.abs(ratio)
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[0], 50), rtol=1e-9)
    np.testing.assert_allclose(np.abs(ratio[0]), 1, rtol=1e-9)


def test_roots_of_squares_and_products_are_positive():
    X = -np.random.default_rng(0).uniform(1, 2, (50, 2))
    assert "exact" in check_law("y = sqrt(x0^2)", X, -X[:, 0]).verdict
    assert "exact" in check_law("y = sqrt(x0*x1)", X, np.sqrt(X[:, 0] * X[:, 1])).verdict


# -- What cannot be checked -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "equation, message",
    [
        ("", "a side is empty"),
        ("y =", "a side is empty"),
        ("y = x0 = x1", "more than one ="),
        ("y = (x0", "do not fit together: a bracket is not closed"),
        ("y = x0 x1", "do not fit together: 'x1' is not expected there"),
        ("y = x0; x1", "';' is not expected"),
        ("y = __import__('os')", "'__import__' before a bracket is no function"),
        ("y = k(x0)", "'k' before a bracket is no function"),
        ("y = x0/0", "divides by zero"),
        ("y = 1e999*x0", "must be finite"),
        ("y = 10^400*x0", "must be finite"),
        ("y = log(-1)*x0", "log of a number is not defined"),
        ("y = [no such]", "'no such' is no column; the columns are x0, x1, y"),
        ("y = x0 + a - a", "the constant 'a' cancels"),
        ("(x0 + x1 + a + b)^20 = y", "do not determine a, b one by one"),
        ("-" * 1500 + "y", "nested too deeply"),
        ("(" * 60 + "y" + ")" * 60, "nested too deeply"),
        ("y" * 3000, "longer than 2000"),
        (5, "an equation is a text; got int"),
        ("a = b", "no column of the table: these are x0, x1, y"),
        ("x0 = a*x1", "is not about the target 'y'"),
        ("y = a*b*x0", "do not determine a, b one by one"),
        ("a*y = b*x0", "do not determine a, b one by one"),
        ("y = a*log(x1)", "no values of a were found for which the equation is defined"),
        ("y = log(x1)", "not defined, or cannot be solved for its target, on 10 of 20 rows"),
    ],
)
def test_what_cannot_be_checked_is_said(equation, message):
    X = np.c_[np.linspace(1, 2, 20), np.linspace(-1, 1, 20)]
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        check_law(equation, X, np.linspace(3, 4, 20) ** 2)


def test_tables_that_cannot_be_used():
    X, p = gas(n=20)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity): .*column 'V'"):
            check_law("p*V = R*n*T", X.assign(V=X["V"].mask(X.index == 3, bad)), p)
    dates = np.datetime64("2024-01-01") + np.arange(20)
    with pytest.raises(ValueError, match="Column 'V' of X holds dates"):
        check_law("p*V = R*n*T", X.assign(V=dates), p)
    with pytest.raises(TypeError, match="check_law does not take blocks of rows"):
        check_law("p*V = R*n*T", Blocks([X]), p)
    with pytest.raises(ValueError, match="Column 'V' of X holds strings"):
        check_law("p*V = R*n*T", X.assign(V="large"), p)
    with pytest.raises(ValueError, match="1 constants and needs at least 3 rows; got 2"):
        check_law("p*V = R*n*T", X[:2], p[:2])
    with pytest.raises(ValueError, match="needs at least 3 rows; got 2 that count"):
        check_law("p*V = R*n*T", X, p, sample_weight=np.arange(20) >= 18)
    with pytest.raises(ValueError, match="must not be negative"):
        check_law("p*V = R*n*T", X, p, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="different numbers of rows"):
        check_law("p*V = R*n*T", X, p[:5])
    with pytest.raises(ValueError, match="several columns 'n'"):
        check_law("p*V = R*n*T", X.set_axis(["n", "n", "V"], axis=1), p)
    with pytest.raises(ValueError, match="X has a column 'V', too"):
        check_law("p*V = R*n*T", X, p.rename("V"))
    with pytest.raises(ValueError, match="two dimensions"):
        check_law("y = x0", np.ones(5), np.ones(5))


def test_columns_that_depend_on_one_another():
    X, p = gas()
    step = np.arange(len(X)) % 3 - 1.0
    X = X.assign(twice=2 * X["T"], one=1.0, a=np.where(step == 1, 1.0, 0.0), b=step, c=-step * step)
    law = check_law("p*V = R*n*T", X, p)
    assert law.verdict.startswith("holds"), law.verdict
    assert abs(law.lack_of_fit) < 4


def test_few_rows_and_a_constant_target():
    X, p = gas(n=3)
    assert check_law("p*V = R*n*T", X, p).n_samples == 3
    law = check_law("y = a", np.arange(10.0)[:, None], np.full(10, 4.0))
    assert law.constants["a"][0] == 4.0
    assert law.verdict.startswith("holds: exact")


@pytest.mark.parametrize("relative", [False, True])
def test_standard_errors_hold_for_equal_and_for_relative_noise(relative):
    z = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.uniform([1, 1, 0.01], [3, 2, 0.05], (300, 3))
        p = 8.314 * X[:, 0] * X[:, 1] / X[:, 2]
        size = 0.01 * (p if relative else p.std())
        law = check_law("y*x2 = R*x0*x1", X, p + size * rng.normal(size=300))
        value, std = law.constants["R"]
        z.append((value - 8.314) / std)
    # The standard deviation of 100 deviations is known to a fourteenth.
    assert 0.8 < np.std(z) < 1.2
    assert abs(np.mean(z)) < 0.3


def test_few_rows_are_too_few_to_tell():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (29, 1))
    y = 2 * X[:, 0] + 0.01 * rng.normal(size=29)
    assert check_law("y = k*x0", X, y).verdict.startswith("may hold: ")
    assert "29 rows are too few to tell" in check_law("y = k*x0", X, y).verdict
    assert check_law("y = 2*x0", X, 2 * X[:, 0]).verdict.startswith("holds: exact")


def test_a_column_that_was_meant_is_said():
    """A name that is no column is a constant, and constants that rows do not determine a riddle."""
    random = np.random.default_rng(0)
    gas = pd.DataFrame(random.uniform(1, 2, (50, 3)), columns=["n", "T", "V"])
    gas["p"] = 8.314 * gas.n * gas["T"] / gas.V
    with pytest.raises(ValueError, match=r"^'v' is no column \(there is 'V'\), .* determine v, R"):
        check_law("p*v = R*n*T", gas)
    with pytest.raises(ValueError, match=r"'volum' is no column \(there is 'volume'\)"):
        check_law("p*volum = R*n*T", gas.rename(columns={"V": "volume"}))
    with pytest.raises(ValueError, match=r"^the rows do not determine a, b one by one"):
        check_law("p*V = a*b*n*T", gas)


def test_few_rows_do_not_refute_what_a_trend_in_them_might():
    """Lack of fit has heavy tails on few rows: one table in forty has so much of it by chance."""
    x = np.linspace(1.0, 2.0, 8)
    y = 2 * x + 0.15 * (x - 1.5) + 0.03 * np.tile([1.0, -1.0, -1.0, 1.0], 2)
    assert check_law("y = 2*x0", x[:, None], y).verdict.startswith("may hold: ")
    x, y = np.tile(x, 8), np.tile(y, 8)  # rows that are as many say that it is none
    assert check_law("y = 2*x0", x[:, None], y).verdict.startswith("does not hold: ")


def test_names_with_spaces_that_are_not_printed_are_columns():
    x = np.linspace(1, 2, 30)
    table = pd.DataFrame({"x\xa00": x})
    assert check_law("y = a*[x\xa00]", table, pd.Series(3 * x, name="y")).coef.size == 2


def test_starts_whose_squares_overflow_are_not_followed():
    x = np.linspace(1, 2, 40)
    with pytest.raises(ValueError, match="change their units"):
        check_law("y = a*x0**b", 1e-160 * x[:, None], 1e300 * x**2)
