"""Laws as results: values, closed forms, writing, and the file."""

import copy
import hashlib
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import vanishing
from vanishing import Law
from vanishing.algebra.functions import FUNCTIONS, Function
from vanishing.algebra.terms import Factor, Term
from vanishing.persistence import ModelFileError


def exponents(names, powers):
    return tuple(float(powers.get(name, 0)) for name in names)


def law(columns, parts, target=None, std=None, **more):
    """A law from (coefficient, powers, (function, scale, powers)...) for each term."""
    names = columns.split()
    terms = [
        Term(
            exponents(names, powers),
            tuple(Factor(FUNCTIONS[f], scale, exponents(names, e)) for f, scale, e in functions),
        )
        for _, powers, *functions in parts
    ]
    covariance = None if std is None else np.diag(np.square(std))
    coef = [part[0] for part in parts]
    return Law(terms, coef, names=names, target=target, covariance=covariance, **more)


GAS = law("n T V p", [(1, {"p": 1}), (-8.3142, {"n": 1, "T": 1, "V": -1})], "p", [0, 0.002])
SUM = [(1, {"v1": 1}), (1, {"v1": 1, "u": 1, "v": 1, "c": -2}), (-1, {"u": 1}), (-1, {"v": 1})]
SQUARES = [(-1, {"x1": 2}), (2, {"x1": 1, "x2": 1}), (-1, {"x2": 2})]
FRINGES = ("sqrt", 1, {"I1": 1}), ("sqrt", 1, {"I2": 1}), ("cos", 1, {"delta": 1})

# What is written, for one law of each closed form.
SOLVED = {
    "p = 8.314(2)*n*T/V": GAS,
    "m = m_0/sqrt(1 - 1.000(1)*v^2/c^2)": law(
        "m_0 v c m",
        [(1, {"m": -2, "m_0": 2}), (-1, {}), (1.0001, {"v": 2, "c": -2})],
        "m",
        [0, 0, 0.001],
    ),
    "y = a*(1 - 2.5*b)": law("a b y", [(-2, {"y": 1}), (2, {"a": 1}), (-5, {"a": 1, "b": 1})], "y"),
    "d = sqrt(x1^2 - 2*x1*x2 + x2^2)": law("x1 x2 d", [(1, {"d": 2}), *SQUARES], "d"),
    "y = M*exp(b^2 - 2.5*a)": law(
        "M a b y", [(1, {}, ("log", 1, {"y": 1, "M": -1})), (2.5, {"a": 1}), (-1, {"b": 2})], "y"
    ),
    "y = 2.00(2)*M*exp(-2.5*a)": law(
        "M a y",
        [(1, {}, ("log", 1, {"y": 1, "M": -1})), (2.5, {"a": 1}), (-np.log(2.0), {})],
        "y",
        [0, 0, 0.01],
    ),
    "y = exp(0.7(5) - 2.5*a)": law(  # an error of exp(0.7) that is not linear
        "a y", [(1, {}, ("log", 1, {"y": 1})), (2.5, {"a": 1}), (-0.7, {})], "y", [0, 0, 0.5]
    ),
    "y = exp(700 - 2.5*a)": law(
        "a y", [(1, {}, ("log", 1, {"y": 1})), (2.5, {"a": 1}), (-700, {})], "y"
    ),
    "y = log(2*x + 3)": law("x y", [(1, {}, ("exp", 1, {"y": 1})), (-2, {"x": 1}), (-3, {})], "y"),
    "theta = arcsin(n*sin(theta2))": law(
        "n theta2 theta",
        [(1, {}, ("sin", 1, {"theta": 1})), (-1, {"n": 1}, ("sin", 1, {"theta2": 1}))],
        "theta",
    ),
    "y = 0.5*arctan(3*x)/z": law(
        "x z y", [(1, {}, ("tan", 2, {"y": 1, "z": 1})), (-3, {"x": 1})], "y"
    ),
    "y = -sqrt(arccos(x))": law(
        "x y", [(1, {}, ("cos", 1, {"y": 2})), (-1, {"x": 1})], "y", branch=-1
    ),
    "y = -arccos(x)": law("x y", [(1, {}, ("cos", 1, {"y": 1})), (-1, {"x": 1})], "y", branch=-1),
    "y = (x + 1)^2/z": law(
        "x z y", [(1, {}, ("sqrt", 1, {"y": 1, "z": 1})), (-1, {"x": 1}), (-1, {})], "y"
    ),
    "y = 0.25/x": law("x y", [(1, {}, ("reciprocal", 2, {"y": 1})), (-2, {"x": 1})], "y"),
    "v1 = (u + v)/(1 + u*v/c^2)": law("u v c v1", SUM, "v1"),
    "f = 1/(1/a + 1/b)": law("a b f", [(1, {"f": -1}), (-1, {"a": -1}), (-1, {"b": -1})], "f"),
    "T = 6.2832(8)*sqrt(L/g)": law(
        "L g T", [(1, {"T": 2}), (-39.478, {"L": 1, "g": -1})], "T", [0, 0.01]
    ),
    "y = -sqrt(x + z)": law(
        "x z y", [(1, {"y": 2}), (-1, {"x": 1}), (-1, {"z": 1})], "y", branch=-1
    ),
    "y = 0.5*(sqrt(9*x^2 + 8*z) - 3*x)": law(
        "x z y", [(1, {"y": 2}), (3, {"x": 1, "y": 1}), (-2, {"z": 1})], "y"
    ),
    "y = 0.5*(-3*x - 1 - sqrt((3*x + 1)^2 + 8*z + 4))": law(
        "x z y",
        [(1, {"y": 2}), (3, {"x": 1, "y": 1}), (1, {"y": 1}), (-2, {"z": 1}), (-1, {})],
        "y",
        branch=-1,
    ),
    "y = 0.5*(sqrt(z^2 + 4*(1 + x)*(x + 2)) - z)/(1 + x)": law(
        "x z y",
        [(1, {"y": 2}), (1, {"y": 2, "x": 1}), (1, {"y": 1, "z": 1}), (-1, {"x": 1}), (-2, {})],
        "y",
    ),
    "y = cbrt(-2*x - 3)": law("x y", [(1, {"y": 3}), (2, {"x": 1}), (3, {})], "y"),
    "y = -1.5874*cbrt(x)": law("x y", [(1, {"y": 3}), (4, {"x": 1})], "y"),
    "y = sign(2*x - 3)*abs(2*x - 3)^(1/5)": law(
        "x y", [(1, {"y": 5}), (-2, {"x": 1}), (3, {})], "y"
    ),
    "y = (x + 2)^2": law("x y", [(1, {"y": 0.5}), (-1, {"x": 1}), (-2, {})], "y"),
    "y = (x + 2)^(2/3)": law("x y", [(1, {"y": 1.5}), (-1, {"x": 1}), (-2, {})], "y"),
    "I = I1 + I2 + 2*sqrt(I1)*sqrt(I2)*cos(delta)": law(
        "I1 I2 delta I",
        [(1, {"I": 1}), (-1, {"I1": 1}), (-1, {"I2": 1}), (-2, {}, *FRINGES)],
        "I",
    ),
    "y = 3": law("x y", [(2, {"y": 1}), (-6, {}), (0, {"x": 1})], "y"),
}
IMPLICIT = {
    "x^2 + 4.00(1)*y^2 = 4": law(
        "x y", [(1, {"x": 2}), (4.0012, {"y": 2}), (-4, {})], None, [0, 0.01, 0]
    ),
    "3*x = 1": law("x y", [(3, {"x": 1}), (-1, {}), (0, {"y": 1})]),
    "x^2 - y^2 = 1": law("x y", [(-1, {"x": 2}), (1, {"y": 2}), (1, {})]),
    "x + y = -1": law("x y", [(-1, {"x": 1}), (-1, {"y": 1}), (-1, {})]),
    "V*p = 8.314(2)*n*T": law(
        "n T V p", [(-1, {"p": 1, "V": 1}), (8.3142, {"n": 1, "T": 1})], None, [0, 0.002]
    ),
    "x + sin(x) = y": law(
        "x y", [(1, {"x": 1}), (1, {}, ("sin", 1, {"x": 1})), (-1, {"y": 1})], "x"
    ),
    "y + y^2 + y^3 = x": law("x y", [(1, {"y": i}) for i in (1, 2, 3)] + [(-1, {"x": 1})], "y"),
    "y*sin(y) = x": law("x y", [(1, {"y": 1}, ("sin", 1, {"y": 1})), (-1, {"x": 1})], "y"),
    "sin(y) + cos(y) = x": law(
        "x y", [*((1, {}, (f, 1, {"y": 1})) for f in ("sin", "cos")), (-1, {"x": 1})], "y"
    ),
    "y*x + y = 0": law("y x", [(1, {"y": 1, "x": 1}), (1, {"y": 1})], "y"),
    "x = 1": law("x y", [(1, {"x": 1}), (-1, {}), (0, {"y": 1})], "y"),
    "x^2 + y^2 = 0": law("x y", [(1, {"x": 2}), (1, {"y": 2})]),
    "x = 2.50(3)*10^-7*t": law("x t", [(1, {"x": 1}), (-2.5e-7, {"t": 1})], None, [0, 3.1e-9]),
    "x = 0.333333*t": law("x t", [(1, {"x": 1}), (-1 / 3, {"t": 1})], None, [0, 1e-9]),
    "x = 299792458*t": law("x t", [(1, {"x": 1}), (-299792458, {"t": 1})]),
}


def rows(one, n=200, seed=0):
    """Rows on which roots and functions are defined, with the target of the law."""
    values = np.random.default_rng(seed).uniform(0.1, 0.9, (n, len(one.names)))
    if "c" in one.names:  # nothing is faster than light
        values[:, one.names.index("c")] += 1.0
    return values


@pytest.mark.parametrize("text", [*SOLVED, *IMPLICIT])
def test_a_law_is_written_so(text):
    one = {**SOLVED, **IMPLICIT}[text]
    assert str(one) == text
    assert repr(one) == f"Law({text!r})"


@pytest.mark.parametrize("text", SOLVED)
def test_what_is_predicted_obeys_the_law(text):
    one, X = SOLVED[text], rows(SOLVED[text])
    X[:, -1] = one.predict(X[:, :-1])
    values = one.term_values(X[:, :-1], X[:, -1])
    assert values.shape == (200, one.n_terms) and np.isfinite(values).all()
    np.testing.assert_array_equal(one.residual(X), values @ one.coef)
    assert np.abs(values @ one.coef).max() < 1e-13 * np.abs(values * one.coef).max()
    np.testing.assert_array_equal(one.predict(X), X[:, -1])


@pytest.mark.parametrize("text", SOLVED)
def test_python_says_the_same(text):
    one, X = SOLVED[text], rows(SOLVED[text])
    found = {}
    exec(compile(one.to_python(), "law", "exec"), found)
    np.testing.assert_allclose(
        np.broadcast_to(found["law"](*X[:, :-1].T), 200), one.predict(X), rtol=1e-14
    )


@pytest.mark.parametrize("text", IMPLICIT)
def test_python_of_an_implicit_law_is_its_residual(text):
    one, X, found = IMPLICIT[text], rows(IMPLICIT[text]), {}
    exec(compile(one.to_python(), "law", "exec"), found)
    size = np.abs(one.term_values(X) * one.coef).max()
    np.testing.assert_allclose(found["law"](*X.T), one.residual(X), rtol=0, atol=1e-14 * size)


@pytest.mark.parametrize("text", [*SOLVED, *IMPLICIT])
def test_sympy_says_the_same(text):
    sympy = pytest.importorskip("sympy")
    one = {**SOLVED, **IMPLICIT}[text]
    equation = one.to_sympy()
    assert isinstance(equation, sympy.Eq)
    symbols = [sympy.Symbol(name) for name in one.names]
    X = rows(one, 5)
    if text in SOLVED:
        assert equation.lhs == symbols[-1]
        function = sympy.lambdify(symbols[:-1], equation.rhs, "numpy")
        expected = one.predict(X)
        found = np.broadcast_to(function(*X[:, :-1].T), 5)
    else:
        function = sympy.lambdify(symbols, equation.lhs - equation.rhs, "numpy")
        expected = one.residual(X)
        found = function(*X.T)
        found = found * np.sign(found[0] * expected[0])  # sides may be exchanged
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_without_sympy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"pip install .\.\[symbolic\]"):
        GAS.to_sympy()


def test_every_column_that_can_be_solved_for_is():
    for one in SOLVED.values():
        X = rows(one)
        X[:, -1] = one.predict(X)
        for i, name in enumerate(one.names):
            try:
                other = one.solve(name)
            except ValueError as error:
                assert "closed form" in str(error) or "does not occur" in str(error)
                continue
            # Of two roots one is the column that was there.
            guesses = [other.predict(X), one.solve(name, branch=-1).predict(X)]
            nearest = np.nanmin(np.abs(np.array(guesses) - X[:, i]), axis=0)
            assert nearest.max() < 1e-6, (one, name)


def test_solving_carries_errors_over():
    one = law(
        "n T V p",
        [(1, {"p": 1}), (-8.0, {"n": 1, "T": 1, "V": -1})],
        "p",
        [0, 0.02],
        errors=[1.0, 2.0, 3.0, 4.0],
        error=4.0,
        relative_error=0.1,
        evidence=50.0,
        verdict="It holds.",
    )
    other = one.solve("T")
    assert str(other) == "T = 0.1250(3)*V*p/n" and other.target == "T"
    np.testing.assert_allclose(other.coef, [-1 / 8, 1.0])
    np.testing.assert_allclose(other.coef_std, [0.02 / 64, 0.0])
    assert other.error == 2.0 and np.isnan(other.relative_error)
    assert other.evidence == 50.0 and other.verdict == "It holds."
    assert one.solve("p").error == 4.0 and one.solve("p").relative_error == 0.1
    back = other.solve("p")
    np.testing.assert_allclose(back.coef, one.coef)
    np.testing.assert_allclose(back.covariance, one.covariance, atol=1e-18)


def test_covariances_change_as_ratios_do():
    # Against the spread of ratios of many draws.
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(3, 3)) * 0.01
    one = Law(
        [Term((1.0, 0.0)), Term((0.0, 1.0)), Term((0.0, 0.0))],
        [1.0, -2.0, 3.0],
        names=["x", "y"],
        covariance=factor @ factor.T,
    )
    draws = one.coef + rng.normal(size=(200_000, 3)) @ factor.T
    expected = np.cov((draws / draws[:, 1:2]).T)
    np.testing.assert_allclose(one.solve("y").covariance, expected, rtol=0.05, atol=1e-9)
    assert one.solve("y").coef_std[1] == 0.0


def test_attributes():
    assert GAS.terms == ("p", "n*T/V")
    assert GAS.names == ("n", "T", "V", "p") and GAS.target == "p" and GAS.n_inputs == 3
    assert GAS.n_terms == 2 and GAS.degree == 3 and type(GAS.degree) is int
    assert law("x y", [(1, {"x": 0.5}), (1, {"y": 2, "x": 0.5})]).degree == 2.5
    names = ["x", "y", "a b"]
    terms = [
        Term((0.0, 0.0, 0.0)),
        Term((-1.0, -2.0, 0.0)),
        Term((0.5, -0.5, 1.0)),
        Term((1.5, 0.0, 0.0), (Factor(FUNCTIONS["cos"], 1.0, (0.0, 1.0, 1.0), 2),)),
        Term((0.0, 0.0, 0.0), (Factor(FUNCTIONS["log"], 1.0, (-1.0, 1.0, 0.0)),)),
        Term((0.0, 0.0, 0.0), (Factor(FUNCTIONS["exp"], -0.5, (1.0, 0.0, 0.0), -1),)),
    ]
    assert Law(terms, np.ones(6), names=names).terms == (
        "1",
        "1/(x*y^2)",
        "sqrt(x)*[a b]/sqrt(y)",
        "x^(3/2)*cos(y*[a b])^2",
        "log(y/x)",
        "1/exp(-0.5*x)",
    )
    assert np.isnan(law("x", [(1, {"x": 1}), (1, {})]).coef_std).all()
    assert GAS.to_latex() == r"p = \frac{8.314(2) n T}{V}" and GAS._repr_latex_()[0] == "$"
    lorentz = SOLVED["m = m_0/sqrt(1 - 1.000(1)*v^2/c^2)"].to_latex()
    assert lorentz == r"m = \frac{m_{0}}{\sqrt{1 - \frac{1.000(1) v^{2}}{c^{2}}}}"


def test_latex_of_roots():
    assert SOLVED["y = -1.5874*cbrt(x)"].to_latex() == r"y = -1.5874 \sqrt[3]{x}"
    fifth = SOLVED["y = sign(2*x - 3)*abs(2*x - 3)^(1/5)"].to_latex()
    assert fifth == r"y = \operatorname{sign}\left(2 x - 3\right) \left|2 x - 3\right|^{1/5}"
    added = SOLVED["v1 = (u + v)/(1 + u*v/c^2)"].to_latex()
    assert added == r"v_{1} = \frac{u + v}{1 + \frac{u v}{c^{2}}}"


def test_a_law_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot be changed"):
        GAS.target = "V"
    with pytest.raises(ValueError, match="read-only"):
        GAS.coef[0] = 2.0


def test_frames_are_read_by_name():
    X = rows(GAS)
    y = X[:, 3]
    frame = pd.DataFrame(X, columns=GAS.names)[["p", "V", "n", "T"]].assign(other="text")
    expected = GAS.term_values(X[:, :3], y)
    np.testing.assert_array_equal(GAS.term_values(frame), expected)
    np.testing.assert_array_equal(GAS.term_values(frame.drop(columns="p"), y), expected)
    np.testing.assert_array_equal(GAS.predict(frame), GAS.predict(X[:, :3]))
    np.testing.assert_array_equal(
        GAS.solve("T").predict(frame.drop(columns="T")), GAS.solve("T").predict(X)
    )
    np.testing.assert_array_equal(GAS.term_values(pd.DataFrame(X)), expected)  # names are numbers
    with pytest.raises(ValueError, match="X has no column 'V'"):
        GAS.predict(frame.drop(columns="V"))
    with pytest.raises(ValueError, match="X has no column 'p'"):
        GAS.residual(frame.drop(columns="p"))
    with pytest.raises(ValueError, match="several columns 'V'"):
        GAS.predict(pd.concat([frame, frame[["V"]]], axis=1))
    with pytest.raises(ValueError, match="column 'V' does not hold numbers"):
        GAS.predict(frame.assign(V="much"))


def test_arrays_of_the_wrong_shape_are_refused():
    X = rows(GAS)
    with pytest.raises(ValueError, match=r"X has 3 columns, and the law needs 4 .* or y as well"):
        GAS.residual(X[:, :3])
    with pytest.raises(ValueError, match="X has 2 columns"):
        GAS.predict(X[:, :2])
    with pytest.raises(ValueError, match="X has 3 columns"):  # y must be there, to solve for T
        GAS.solve("T").predict(X[:, :3])
    with pytest.raises(ValueError, match="two dimensions"):
        GAS.predict(X[0, :3])
    with pytest.raises(ValueError, match="different numbers of rows"):
        GAS.residual(X[:, :3], X[:5, 3])
    with pytest.raises(ValueError, match="leave y out"):
        IMPLICIT["x^2 - y^2 = 1"].residual(X[:, :1], X[:, 1])
    with pytest.raises(ValueError, match="one dimension"):
        GAS.residual(X[:, :3], X[:, 3:])


@pytest.mark.filterwarnings("error")
def test_what_is_not_defined_is_nan_or_infinite():
    assert GAS.predict([[1, 1, 0], [1, 0, 0]])[0] == np.inf
    assert np.isnan(GAS.residual([[1, 1, np.nan]], [1])).all()
    assert np.isnan(SOLVED["theta = arcsin(n*sin(theta2))"].predict([[2, 1]])).all()
    assert GAS.predict(np.empty((0, 3))).shape == (0,)


def test_errors_name_the_remedy():
    with pytest.raises(ValueError, match=r"'R' does not occur in the law; these columns do: 'n'"):
        GAS.solve("R")
    with pytest.raises(ValueError, match="'x' does not occur"):
        SOLVED["y = 3"].solve("x")
    with pytest.raises(ValueError, match=r"ask for law.solve\(name\)"):
        IMPLICIT["x^2 - y^2 = 1"].predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match="no closed form for 'x'"):
        IMPLICIT["x + sin(x) = y"].predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match="no closed form for 'x'"):
        IMPLICIT["x + sin(x) = y"].solve("x")
    spaced = Law(GAS._terms, GAS.coef, names=["n", "T", "V 1", "p"], target="p")
    assert str(spaced) == "p = 8.3142*n*T/[V 1]"
    with pytest.raises(ValueError, match="rename the column"):
        spaced.to_python()
    with pytest.raises(ValueError, match="none may be np"):
        law("np y", [(1, {"y": 1}), (1, {"np": 1})], "y").to_python()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coef": [1.0]}, "one coefficient per term"),
        ({"coef": [1.0, np.nan]}, "finite"),
        ({"names": ["n", "T", "n", "p"]}, "same name"),
        ({"names": ["n", "p"]}, "one finite exponent per column"),
        ({"target": "q"}, "'q' is no column"),
        ({"n_inputs": 2}, "n_inputs"),
        ({"covariance": [[1.0]]}, "covariance"),
        ({"errors": [1.0]}, "per column"),
        ({"branch": 0}, "branch"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    parts = {"terms": GAS._terms, "coef": GAS.coef, "names": GAS.names, "target": "p", **change}
    with pytest.raises(ValueError, match=message):
        Law(**parts)


def assert_same(a, b):
    assert str(a) == str(b) and a._terms == b._terms
    for name in ("names", "target", "n_inputs", "branch", "n_samples", "verdict"):
        assert getattr(a, name) == getattr(b, name)
    for name in ("coef", "coef_std", "error", "relative_error", "evidence", "held_out_error"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("covariance", "errors"):
        assert (getattr(a, name) is None) == (getattr(b, name) is None)
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    X = rows(a)
    np.testing.assert_array_equal(a.residual(X), b.residual(X))


@pytest.mark.parametrize("text", [*SOLVED, *IMPLICIT])
def test_a_law_comes_back_as_it_was(text, tmp_path):
    one = {**SOLVED, **IMPLICIT}[text]
    one.save(tmp_path / "law.json")
    assert_same(one, vanishing.load(tmp_path / "law.json"))
    assert_same(one, pickle.loads(pickle.dumps(one)))
    assert_same(one, copy.copy(one))
    assert_same(one, copy.deepcopy(one))


def test_all_that_was_measured_comes_back(tmp_path):
    one = law(
        "x y",
        [(1, {"y": 1}), (-1 / 3, {"x": 1})],
        "y",
        [0, 0.1],
        error=0.1,
        relative_error=0.2,
        held_out_error=np.inf,
        evidence=7.5,
        lack_of_fit=-0.3,
        errors=[np.nan, 0.1],
        n_samples=100,
        verdict="y is a third of x.",
    )
    one.save(tmp_path / "law.json")
    back = vanishing.load(tmp_path / "law.json")
    assert_same(one, back)
    assert back.lack_of_fit == -0.3 and back.held_out_error == np.inf


def test_all_of_a_factor_comes_back(tmp_path):
    factor = Factor(FUNCTIONS["cos"], 1 / 3, (0.1, 0.0), -2)
    one = Law([Term((0.0, 1.0)), Term((0.5, 0.0), (factor,))], [1.0, 2.0], names=["x", "y"])
    one.save(tmp_path / "law.json")
    assert vanishing.load(tmp_path / "law.json")._terms == one._terms


def test_a_law_is_loaded_before_its_class_is_imported(tmp_path):
    GAS.save(tmp_path / "law.json")
    code = f"import vanishing; print(vanishing.load({str(tmp_path / 'law.json')!r}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "p = 8.314(2)*n*T/V\n", result.stderr


def own_square(x):
    return x**2


def own_slope(x):
    return 2.0 * x


def test_functions_of_ones_own(tmp_path):
    own = Function("own", own_square, own_slope)
    terms = [Term((0.0, 1.0)), Term((0.0, 0.0), (Factor(own, 1.0, (1.0, 0.0)),))]
    one = Law(terms, [1.0, -2.0], names=["x", "y"], target="y")
    assert str(one) == "y = 2*own(x)"
    assert one.to_latex() == r"y = 2 \operatorname{own}\left(x\right)"
    np.testing.assert_array_equal(one.predict([[3.0]]), [18.0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict([[3.0]]), [18.0])
    with pytest.raises(TypeError, match="function 'own' of your own cannot be saved"):
        one.save(tmp_path / "law.json")
    with pytest.raises(ValueError, match="function of your own"):
        one.to_python()
    with pytest.raises(ValueError, match="no closed form for 'x'"):
        one.solve("x")


def rewritten(path, change):
    """Change the model in a file, and its checksum."""
    document = json.loads(path.read_text())
    change(document["model"])
    document["sha256"] = "0" * 64
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content.replace(b"0" * 64, digest, 1))


def put(*keys, value):
    def change(node):
        node = node["fitted"]
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("terms", 1, "exponents", value=[1.0]), "exponents has 1 entries instead of 2"),
        (put("terms", 1, "exponents", value=[1.0, "x"]), "not numbers"),
        (put("terms", 1, "factors", 0, "function", value="eval"), "'eval' is no function"),
        (put("terms", 1, "factors", 0, "function", value=["sin"]), "function is not a string"),
        (put("terms", 1, "factors", 0, "power", value=0.5), "power is not an integer"),
        (put("terms", 1, "factors", 0, "power", value=0), "not 0"),
        (put("terms", 1, "factors", 0, "scale", value=0), "not 0"),
        (put("terms", 1, "factors", value={}), "factors is not a list"),
        (put("terms", value=[]), "covariance has the wrong shape"),
        (put("coef", value=[1.0]), "coef has 1 entries"),
        (put("coef", value=[1.0, 1e999]), "not JSON|too large"),
        (put("names", value=["x", "x"]), "same name"),
        (put("names", value="xy"), "names is not a list"),
        (put("target", value="z"), "'z' is no column"),
        (put("target", value=3), "target is not a string"),
        (put("branch", value=0), "branch must be 1 or -1"),
        (put("n_inputs", value=7), "n_inputs"),
        (put("error", value="much"), "error has entries that are not numbers"),
        (put("covariance", value={"array": [[1.0]], "dtype": "<f8"}), "wrong shape"),
        (put("errors", value={"array": [1.0], "dtype": "<f8"}), "wrong shape"),
        (put("more", value=1), "'more', which is unknown"),
        (lambda node: node["fitted"].pop("coef"), "a law has no 'coef'"),
        (lambda node: node["parameters"].update(psi=1), "'psi', which is unknown"),
        (lambda node: node.update(parameters=[]), "not an object"),
    ],
)
def test_altered_files_are_refused(change, message, tmp_path):
    path = tmp_path / "law.json"
    one = law("x y", [(1, {"y": 1}), (-2, {}, ("sin", 1, {"x": 1}))], "y", [0, 0.1], errors=[1, 1])
    one.save(path)
    rewritten(path, lambda node: None)
    assert_same(vanishing.load(path), one)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=message):
        vanishing.load(path)


def test_a_law_is_no_part_of_a_pipeline_and_no_parameter(tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    path = tmp_path / "model.json"
    GAS.save(path)
    saved = json.loads(path.read_text())["model"]
    vanishing.save(make_pipeline(MinMaxScaler(), vanishing.OAVI()).fit(rows(GAS)), path)
    content = path.read_text()
    rewritten(path, lambda node: node["fitted"]["steps"].append(["law", saved]))
    with pytest.raises(ModelFileError, match="'Law' is no kind of model that is known"):
        vanishing.load(path)
    path.write_text(content)
    part = {"kind": "Law", "parameters": {}}
    rewritten(path, lambda node: node["fitted"]["steps"][1][1]["parameters"].update(psi=part))
    with pytest.raises(ModelFileError, match="'Law' is no kind of model that is known"):
        vanishing.load(path)
    with pytest.raises(TypeError, match="which a model file cannot hold"):
        vanishing.save(vanishing.OAVI().fit(rows(GAS)).set_params(psi=GAS), path)
