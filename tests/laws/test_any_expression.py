"""Equations with constants anywhere an expression may stand: read, fitted, written, saved."""

import hashlib
import json
import pickle
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
import sympy

import vanishing
from vanishing import check_law
from vanishing.algebra.equations import read_equation
from vanishing.algebra.expressions import (
    Column,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    apply,
    columns_of,
    evaluate,
)
from vanishing.algebra.functions import readable
from vanishing.algebra.terms import Evaluator
from vanishing.algebra.writing import PlainText

# Everyday curves: what is written, what it means, and the constants of the simulated rows.
CURVES = [
    ("u = a*x**b", lambda x, a, b: a * x**b, {"a": 2, "b": 1.7}),
    ("u = a*x^b + c", lambda x, a, b, c: a * x**b + c, {"a": 2, "b": 0.6, "c": 4}),
    (
        "u = V*x**n/(K**n + x**n)",
        lambda x, V, n, K: V * x**n / (K**n + x**n),
        {"V": 3, "n": 2.5, "K": 1.8},
    ),
    ("u = exp(b*log(x)) + c", lambda x, b, c: x**b + c, {"b": 1.3, "c": 4}),
    ("u = log(1 + b*x)", lambda x, b: np.log(1 + b * x), {"b": 3}),
    ("u = a*log(x + b)", lambda x, a, b: a * np.log(x + b), {"a": 2, "b": 1.5}),
    ("u = a*log10(x) + b", lambda x, a, b: a * np.log10(x) + b, {"a": 5, "b": 2}),
    ("u = a*2**x + c", lambda x, a, c: a * 2**x + c, {"a": 2, "c": 5}),
    ("u = a*b**x", lambda x, a, b: a * b**x, {"a": 5, "b": 1.3}),
    (
        "u = a*exp(-(x - m)^2/(2*s^2)) + c",
        lambda x, a, m, s, c: a * np.exp(-((x - m) ** 2) / 2 / s**2) + c,
        {"a": 5, "m": 2, "s": 0.7, "c": 1},
    ),
    (
        "u = a/((x - m)^2 + g^2)",
        lambda x, a, m, g: a / ((x - m) ** 2 + g**2),
        {"a": 3, "m": 2.5, "g": 0.8},
    ),
    (
        "u = L/(1 + exp(-k*(x - m)))",
        lambda x, L, k, m: L / (1 + np.exp(-k * (x - m))),
        {"L": 7, "k": 2, "m": 2.4},
    ),
    (
        "u = a*exp(-exp(b - c*x))",
        lambda x, a, b, c: a * np.exp(-np.exp(b - c * x)),
        {"a": 7, "b": 2, "c": 1.4},
    ),
    (
        "u = a*(1 - exp(-(x/s)^k))",
        lambda x, a, s, k: a * (1 - np.exp(-((x / s) ** k))),
        {"a": 7, "s": 2, "k": 1.8},
    ),
    (
        "u = a*exp(-k*x)*cos(w*x + f)",
        lambda x, a, k, w, f: a * np.exp(-k * x) * np.cos(w * x + f),
        {"a": 5, "k": 0.4, "w": 4, "f": 0.5},
    ),
    ("u = a*cosh(x/a) + c", lambda x, a, c: a * np.cosh(x / a) + c, {"a": 2.2, "c": 1}),
    (
        "u = a*tanh(b*(x - c))",
        lambda x, a, b, c: a * np.tanh(b * (x - c)),
        {"a": 3, "b": 0.8, "c": 2},
    ),
    ("u = a*x*exp(-x/b)", lambda x, a, b: a * x * np.exp(-x / b), {"a": 3, "b": 1.4}),
    (
        "u = a*(1 + x/b)^-c",
        lambda x, a, b, c: a * (1 + x / b) ** -c,
        {"a": 3, "b": 1.4, "c": 2.2},
    ),
    ("u = a*(x - s)^2 + c", lambda x, a, s, c: a * (x - s) ** 2 + c, {"a": 3, "s": 1.4, "c": 2.2}),
    ("u = a*abs(x - b) + c", lambda x, a, b, c: a * abs(x - b) + c, {"a": 3, "b": 2, "c": 1}),
    (
        "log10(u) = a - b/(x + c)",
        lambda x, a, b, c: 10 ** (a - b / (x + c)),
        {"a": 2, "b": 3, "c": 1.5},
    ),
    (
        "1/u = 1/a + 1/(b*x^n)",
        lambda x, a, b, n: 1 / (1 / a + 1 / (b * x**n)),
        {"a": 5, "b": 2, "n": 1.5},
    ),
]


def table(function, noise=0.02, n=200, seed=3):
    """One column x in (0.1, 5), and a function u of it with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 5, n)
    u = function(x)
    return pd.DataFrame({"x": x}), pd.Series(u + noise * u.std() * rng.normal(size=n), name="u")


@pytest.fixture(scope="module")
def laws():
    checked = {}
    for equation, function, constants in CURVES:
        X, u = table(lambda x, f=function, c=constants: f(x, **c))
        checked[equation] = check_law(equation, X, u)
    return checked


@pytest.mark.parametrize("equation, function, constants", CURVES)
def test_constants_are_those_of_the_curve(laws, equation, function, constants):
    law = laws[equation]
    assert law.verdict.startswith("holds"), law.verdict
    for name, value in constants.items():
        fitted, std = law.constants[name]
        assert abs(fitted - value) < 3 * std, name
    x = np.linspace(0.2, 4.8, 50)
    truth = function(x, **constants)
    np.testing.assert_allclose(law.predict(x[:, None]), truth, atol=0.03 * np.std(truth))


@pytest.mark.parametrize("equation", [equation for equation, *_ in CURVES])
def test_a_law_means_the_same_wherever_it_is_written(laws, equation, tmp_path):
    law = laws[equation]
    x = np.random.default_rng(7).uniform(0.3, 4.9, 40)
    fresh = pd.DataFrame({"x": x})
    expected = law.predict(fresh)

    def same(values, rtol=1e-9):
        np.testing.assert_allclose(np.broadcast_to(values, 40), expected, rtol=rtol)

    names: dict = {}
    exec(law.to_python(), names)
    same(names["law"](x))
    symbol = sympy.Symbol("x")
    same(sympy.lambdify(symbol, law.to_sympy().rhs)(x))
    same(sympy.lambdify(symbol, eval(law.write("sympy"), dict(vars(sympy))))(x))
    with sqlite3.connect(":memory:") as base:
        fresh.to_sql("t", base)
        same([row[0] for row in base.execute(f"SELECT {law.write('sql')} FROM t")])
    for style in ("latex", "html", "mathml", "c"):
        assert law.write(style)
    law.save(tmp_path / "law.json")
    for back in (vanishing.load(tmp_path / "law.json"), pickle.loads(pickle.dumps(law))):
        assert str(back) == str(law) and back.terms == law.terms
        np.testing.assert_array_equal(back.predict(fresh), expected)
        np.testing.assert_array_equal(back.residual(fresh, expected), law.residual(fresh, expected))
    # As text it has the digits that matter, and holds again.
    X, u = fresh, pd.Series(expected, name="u")
    again = check_law(str(law), X, u)
    np.testing.assert_allclose(again.predict(X), expected, atol=0.05 * np.std(expected))


@pytest.mark.parametrize(
    "equation, text",
    [
        ("u = a*x**b", "u = #*x^#"),
        ("u = V*x**n/(K**n + x**n)", "u = #*x^#/(# + x^#)"),
        ("u = a*(x - s)^2 + c", "u = #*(x - #)^2 + #"),
        ("u = a*exp(-exp(b - c*x))", "u = #*exp(-exp(# - #*x))"),
        ("u = a*2**x + c", "u = #*2^x + #"),
        ("u = a*b**x", "u = #*#^x"),
        ("u = a*(1 + x/b)^-c", "u = #/(1 + #*x)^#"),
    ],
)
def test_the_law_is_written_as_it_was_given(laws, equation, text):
    assert re.sub(r"\d+\.\d+\(\d+\)", "#", str(laws[equation])) == text


def test_laws_are_solved_for_what_occurs_once(laws):
    for equation, law in laws.items():
        try:
            solved = law.solve("x")
        except ValueError as problem:
            assert "no closed form" in str(problem)
            assert equation.count("x") > 1 or "abs" in equation
            continue
        x = np.linspace(2.9, 4.5, 20)  # where the curves do not turn
        u = law.predict(x[:, None])
        there = solved.predict(pd.DataFrame({"u": u}))
        for branch in (1, -1):
            other = law.solve("x", branch).predict(pd.DataFrame({"u": u}))
            there = np.where(np.abs(other - x) < np.abs(there - x), other, there)
        if "cos" not in equation:
            np.testing.assert_allclose(there, x, rtol=1e-6, err_msg=equation)
    assert str(laws["u = a*log10(x) + b"].solve("x")).startswith("x = 10^(")


@pytest.mark.parametrize("equation", [equation for equation, *_ in CURVES])
def test_derivatives_are_those_of_differences(equation):
    rng = np.random.default_rng(0)
    read = read_equation(equation, ["x", "u"])
    columns, constants = rng.uniform(0.6, 1.4, (2, 9)), rng.uniform(0.6, 1.4, len(read.constants))
    steps = 1e-6 * np.eye(len(constants))
    differences = [
        (read.value(columns, constants + h) - read.value(columns, constants - h)) / 2e-6
        for h in steps
    ]
    np.testing.assert_allclose(read.jacobian(columns, constants), differences, rtol=1e-6, atol=1e-7)
    for i in range(2):
        h = 1e-6 * np.eye(2)[:, [i]]
        difference = (
            read.value(columns + h, constants) - read.value(columns - h, constants)
        ) / 2e-6
        np.testing.assert_allclose(
            read.slope(columns, constants, i), difference, rtol=1e-6, atol=1e-7
        )


def random_tree(rng, depth):
    """Return an expression in the columns x and y and the constants c and d."""
    kind = rng.integers(8) if depth else 0
    parts = [random_tree(rng, depth - 1) for _ in range(3)] if kind else []
    if kind == 0:
        return Column(int(rng.integers(4))) if rng.random() < 0.7 else Number(float(rng.choice(5)))
    if kind == 5:
        return Power(parts[0], float(rng.choice([-2, -1, 0.5, 2, 3, 1.5])))
    if kind == 6:
        return Raised(parts[0], parts[1])
    if kind == 7:
        return apply(str(rng.choice(list(readable().values()))), parts[0])
    return (Product if kind < 3 else Sum)(tuple(parts))


def test_random_expressions_are_read_as_they_are_written():
    rng = np.random.default_rng(0)
    names, n_compared = ["x", "y", "c", "d"], 0
    for _ in range(200):
        tree = random_tree(rng, 3)
        variables = rng.uniform(0.3, 1.2, (4, 1))
        with np.errstate(all="ignore"):
            value = float(np.broadcast_to(evaluate(tree, variables), 1)[0])
            if not {0} < columns_of(tree) or not 1e-6 < abs(value) < 1e6:
                continue
            try:
                read = read_equation(f"w = {PlainText(names).write(tree)}", ["x", "y", "w"])
            except ValueError as problem:
                assert re.search("cancels|number is not defined|zero|finite", str(problem))
                continue
            columns = np.array([*variables[:2], [value]])
            constants = np.array([variables[names.index(name), 0] for name in read.constants])
            (left,) = read.value(columns, constants)
            rows = np.vstack([columns, constants[:, np.newaxis]])
            parts = read.numbers * Evaluator(rows).values(read.terms)[:, 0]
        if np.isfinite(parts).all():  # powers of sums that are multiplied out may not be
            # Numbers in texts have six digits.
            assert abs(parts.sum()) < 1e-4 * np.abs(parts).sum()
        if read.alone is not None:
            assert abs(left) < 1e-4 * max(1.0, abs(value))
            n_compared += 1
    assert n_compared > 60


@pytest.mark.parametrize(
    "equation, linear",
    [
        ("u = a*x**b", "a"),
        ("u = V*x**n/(K**n + x**n)", "V"),
        ("u = a*b*x + c*exp(-k*x)", "ac"),
        ("u = (a + b*x)/(1 + c*x)", "ab"),
        ("u = log(1 + b*x)", ""),
        ("u*(1 + c*x) = a + b*x", "cab"),
    ],
)
def test_constants_that_are_linear_given_the_others(equation, linear):
    read = read_equation(equation, ["x", "u"])
    assert {read.constants[k] for k in read.linear} == set(linear)


def loaded_with(path, **changes):
    """Return a saved law whose file says other things, or, where these are None, nothing."""
    document = json.loads(path.read_text())
    fitted = {**document["model"]["fitted"], **changes}
    document["model"]["fitted"] = {key: v for key, v in fitted.items() if v is not None}
    document["sha256"] = "0" * 64
    content = json.dumps(document)
    other = path.with_name("other.json")
    other.write_text(content.replace("0" * 64, hashlib.sha256(content.encode()).hexdigest(), 1))
    return vanishing.load(other)


def test_files_from_before_formulas_are_read(laws, tmp_path):
    law = laws["u = a*(x - s)^2 + c"]
    law.save(tmp_path / "law.json")
    old = loaded_with(tmp_path / "law.json", formula=None)
    x = np.linspace(1, 4, 9)[:, np.newaxis]
    np.testing.assert_allclose(old.predict(x), law.predict(x), rtol=1e-9)
    assert "x^2" in str(old)


@pytest.mark.parametrize(
    "formula, message",
    [
        (["sum", ["column", 1], ["number", 1.0, 0.0]], "formula of a law is its target"),
        ([], "an expression is empty"),
        ("x", "an expression is not a list"),
        (["sum", ["column", 0]], "part 'sum', which cannot be read"),
        (["column", 9], "column is not an integer from 0 to 1"),
        (["code", "import os"], "part 'code', which cannot be read"),
        (["function", "system", ["column", 0]], "'system' is no function that is known"),
    ],
)
def test_expressions_in_files_are_checked(laws, tmp_path, formula, message):
    laws["u = a*x**b"].save(tmp_path / "law.json")
    with pytest.raises(ValueError, match=message):
        loaded_with(tmp_path / "law.json", formula=formula)
    deep = ["column", 0]
    for _ in range(400):
        deep = ["power", deep, 1.5]
    with pytest.raises(ValueError, match="nested too deeply"):
        loaded_with(tmp_path / "law.json", formula=deep)


def test_a_power_of_zero_is_zero():
    X, u = table(lambda x: 3 * x**2.5 / (1.8**2.5 + x**2.5))
    u[X["x"] < 0.6], X.loc[X["x"] < 0.6, "x"] = 0.0, 0.0  # a dose of nothing
    law = check_law("u = V*(x/K)^n/(1 + (x/K)^n)", X, u)
    assert law.verdict.startswith("holds"), law.verdict
    assert abs(law.constants["n"][0] - 2.5) < 3 * law.constants["n"][1]
    assert law.predict([[0.0]]) == 0.0


def test_no_target_and_none_alone():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 3, (300, 2)), columns=["x", "T"])
    X["p"] = 2 * X["T"] / np.log(1 + 0.7 * X["x"]) * (1 + 0.003 * rng.normal(size=300))
    law = check_law("p*log(1 + b*x) = R*T", X)
    assert law.target is None and law.verdict.startswith("holds"), law.verdict
    for name, value in {"b": 0.7, "R": 2}.items():
        assert abs(law.constants[name][0] - value) < 3.5 * law.constants[name][1]
    np.testing.assert_allclose(law.solve("x").solve("p").predict(X), X["p"], rtol=0.02)


def test_a_parabola_far_from_the_origin_predicts_as_it_was_fitted():
    t = 1.7e9 + np.linspace(0, 1000, 300)
    noise = np.random.default_rng(0).normal(size=300)
    y = 3.0 * ((t - 1.7e9 - 400) / 100) ** 2 + 5 + 0.1 * noise
    law = check_law("y = a*(t - s)^2 + c", pd.DataFrame({"t": t}), pd.Series(y, name="y"))
    assert abs(law.constants["s"][0] - 1.7e9 - 400) < 1
    assert 0.08 < np.sqrt(np.mean((law.predict(pd.DataFrame({"t": t})) - y) ** 2)) < 0.12


def test_units_of_constants_in_any_expression():
    X, u = table(lambda x: 3 * np.log(1 + 0.7 * x))
    units = {"x": "m", "u": "N"}
    law = check_law("u = a*log(1 + b*x)", X, u, units=units)
    assert law.constant_units == {"a": "N", "b": "1/m"}
    assert "[1/m]*x" in str(law)
    law = check_law("u = a*x^b", X, u, units=units)
    assert "a" not in law.constant_units  # it would have a standard error
    assert "[" not in str(law)


def test_a_function_of_ones_own_in_any_expression(tmp_path):
    vanishing.register_function(
        "softplus", lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x))
    )
    try:
        X, u = table(lambda x: 5 * np.log1p(np.exp(3 * x - 7)))
        law = check_law("u = a*softplus(b*x + c)", X, u)
        assert abs(law.constants["c"][0] + 7) < 3.5 * law.constants["c"][1]
        law.save(tmp_path / "law.json")
        assert str(pickle.loads(pickle.dumps(law))) == str(law)
        assert str(vanishing.load(tmp_path / "law.json")) == str(law)
    finally:
        vanishing.unregister_function("softplus")
    with pytest.raises(ValueError, match="'softplus' is no function"):
        vanishing.load(tmp_path / "law.json")


@pytest.mark.parametrize(
    "equation, message",
    [
        ("u = a*erf(b*x)", r"'erf' before a bracket is no function .* \(character 7\)"),
        ("u = a*log(1 + b*x", r"a bracket is not closed \(character 10\)"),
        ("u = a*x**", r"is expected in place of 'the end'"),
        ("u = a*x^(b*)", r"is expected in place of '\)' \(character 12\)"),
        ("u = 2 x^b", r"'x' is not expected there \(character 7\)"),
        ("u = x^b + c - c", "the constant 'c' cancels"),
        ("u = x^(b + c - c)", "do not determine the constant 'c'"),
        ("u = a^b", "do not determine"),
        ("u = (x - 10)^b", "defined"),
    ],
)
def test_what_cannot_be_checked_is_said(equation, message):
    X, u = table(lambda x: 2 * x**1.5)
    with pytest.raises(ValueError, match=message):
        check_law(equation, X, u)
