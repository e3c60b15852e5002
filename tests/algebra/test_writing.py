"""One set of writers over one tree: what each language makes of it, and that it means the same."""

import ctypes
import math
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
from exports import COMPILER, FLAGS, table_of
from hypothesis import given
from hypothesis import strategies as st

from vanishing import ConservedQuantity, Law, register_function, unregister_function
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    Symbol,
    evaluate,
    power,
    product,
    total,
)
from vanishing.algebra.functions import BASES, FUNCTIONS
from vanishing.algebra.languages import WRITERS, writer
from vanishing.algebra.programs import PORTABLE, to_sympy
from vanishing.algebra.terms import Factor, Term, monomial
from vanishing.polynomials import ExactPolynomial, Polynomial

NAMES = ("a", "x1", "y")
A, X1, Y = map(Column, range(3))
ROWS = np.random.default_rng(0).uniform(0.2, 0.9, (3, 8))
FURTHER = ("log10", "log2", "sinh", "cosh", "arccosh")  # functions that texts may have, too
PROGRAMS = ("sympy", "python", "c", "sql")


def apply(name, node):
    return Apply(name, getattr(np, name), node)


def sql(text):
    """Return a text with columns as SQL reads them."""
    for name in ("a", "x1", "y"):
        text = text.replace(f"<{name}>", f'CAST("{name}" AS DOUBLE PRECISION)')
    return text


# A tree, and how it is written as text, LaTeX, SymPy, Python, C and SQL.
TREES = {
    "a number": (Number(2.5), "2.5", "2.5", "2.5", "2.5", "2.5", "2.5"),
    "a product": (
        product(Number(-2.0), A, power(Y, 2.0)),
        "-2*a*y^2",
        "-2 a y^{2}",
        "-2.0*Symbol('a')*Symbol('y')**2",
        "-2.0*a*y**2",
        "-(2.0 * a * pow(y, 2.0))",
        "-(2.0 * <a> * (<y> * <y>))",
    ),
    "a quotient": (
        product(Number(3.0), A, power(X1, -1.0), power(Y, -2.0)),
        "3*a/(x1*y^2)",
        r"\frac{3 a}{x_{1} y^{2}}",
        "3.0*Symbol('a')/(Symbol('x1')*Symbol('y')**2)",
        "3.0*a/(x1*y**2)",
        "3.0 * a / (x1 * pow(y, 2.0))",
        "3.0 * <a> / (<x1> * (<y> * <y>))",
    ),
    "a sum under a bar": (
        product(power(Sum((A, Y)), -1.0)),
        "1/(a + y)",
        r"\frac{1}{a + y}",
        "1.0/(Symbol('a') + Symbol('y'))",
        "1.0/(a + y)",
        "1.0 / (a + y)",
        "1.0 / (<a> + <y>)",
    ),
    "a sum that is subtracted": (
        Sum((A, Product((Number(-1.0), Sum((X1, Y)))))),
        "a - (x1 + y)",
        r"a - \left(x_{1} + y\right)",
        "Symbol('a') - (Symbol('x1') + Symbol('y'))",
        "a - (x1 + y)",
        "a - (x1 + y)",
        "<a> - (<x1> + <y>)",
    ),
    "the negative of a sum": (
        Product((Number(-1.0), Sum((X1, Y)))),
        "-(x1 + y)",
        r"-\left(x_{1} + y\right)",
        "-(Symbol('x1') + Symbol('y'))",
        "-(x1 + y)",
        "-(x1 + y)",
        "-(<x1> + <y>)",
    ),
    "roots": (
        Sum((power(A, 0.5), power(X1, 1 / 3), power(Y, 1.5))),
        "sqrt(a) + x1^(1/3) + y^(3/2)",
        r"\sqrt{a} + x_{1}^{1/3} + y^{3/2}",
        "sqrt(Symbol('a')) + Symbol('x1')**0.3333333333333333 + Symbol('y')**1.5",
        "np.sqrt(a) + x1**0.3333333333333333 + y**1.5",
        "sqrt(a) + pow(x1, 0.3333333333333333) + pow(y, 1.5)",
        "SQRT(<a>) + POWER(<x1>, 0.3333333333333333) + POWER(<y>, 1.5)",
    ),
    "functions": (
        Sum((apply("arcsin", A), Product((Number(2.0), apply("log", Y))), apply("abs", X1))),
        "arcsin(a) + 2*log(y) + abs(x1)",
        r"\arcsin\left(a\right) + 2 \log\left(y\right) + \left|x_{1}\right|",
        "asin(Symbol('a')) + 2.0*log(Symbol('y')) + Abs(Symbol('x1'))",
        "np.arcsin(a) + 2.0*np.log(y) + np.abs(x1)",
        "asin(a) + 2.0 * log(y) + fabs(x1)",
        "ASIN(<a>) + 2.0 * LN(<y>) + ABS(<x1>)",
    ),
    "a sign": (
        Product((A, apply("sign", Sum((Y, Number(-0.5)))))),
        "a*sign(y - 0.5)",
        r"a \operatorname{sign}\left(y - 0.5\right)",
        "Symbol('a')*sign(Symbol('y') - 0.5)",
        "a*np.sign(y - 0.5)",
        "a * (((y - 0.5) > 0.0) - ((y - 0.5) < 0.0))",
        "<a> * CASE WHEN (<y> - 0.5) > 0.0 THEN 1.0 WHEN (<y> - 0.5) < 0.0 THEN -1.0 "
        "WHEN (<y> - 0.5) = 0.0 THEN 0.0 END",
    ),
    "powers of powers and of functions": (
        Product((Power(Power(A, 2.0), 1.5), Power(apply("sin", Y), 3.0))),
        "(a^2)^(3/2)*sin(y)^3",
        r"\left(a^{2}\right)^{3/2} \sin\left(y\right)^{3}",
        "(Symbol('a')**2)**1.5*sin(Symbol('y'))**3",
        "(a**2)**1.5*np.sin(y)**3",
        "pow(pow(a, 2.0), 1.5) * pow(sin(y), 3.0)",
        "POWER(<a> * <a>, 1.5) * (SIN(<y>) * SIN(<y>) * SIN(<y>))",
    ),
    "a power of a negative number": (
        Sum((A, Power(Number(-8.0), 3.0))),
        "a + (-8)^3",
        r"a + \left(-8\right)^{3}",
        "Symbol('a') + (-8.0)**3",
        "a + (-8.0)**3",
        "a + pow(-8.0, 3.0)",
        "<a> + (-8.0) * (-8.0) * (-8.0)",
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_in_every_language(name):
    node, text, latex, sympy_text, python, c, sql_text = TREES[name]
    written = {style: writer(style, NAMES).write(node) for style in WRITERS}
    assert written["text"] == text
    assert written["latex"] == latex
    assert written["sympy"] == sympy_text
    assert written["python"] == python
    assert written["c"] == c
    assert written["sql"] == sql(sql_text)
    for markup in ("html", "mathml"):
        ElementTree.fromstring(f"<p>{written[markup]}</p>")  # is well formed


def test_numbers_with_errors_and_units_are_for_people():
    node = Product((Number(8.3142e-7, 2e-10), A))
    assert writer("text", NAMES).write(node) == "8.314(2)*10^-7*a"
    assert writer("latex", NAMES).write(node) == r"8.314(2) \times 10^{-7} a"
    assert writer("html", NAMES).write(node).startswith("8.314(2)\u2009\u00b7\u200910<sup>\u22127")
    assert "<mn>8.314(2)</mn><mo>\u00b7</mo><msup>" in writer("mathml", NAMES).write(node)
    for style in PROGRAMS:
        assert "8.3142e-07" in writer(style, NAMES).write(node)


def test_a_constant_with_a_name_is_a_number_for_programs():
    node = Product((Symbol("g", 9.81), A))
    assert writer("text", NAMES).write(node) == "g*a"
    assert writer("python", NAMES).write(node) == "9.81*a"


def test_one_name_of_two_columns_is_no_name():
    for style in PROGRAMS:
        with pytest.raises(ValueError, match="two columns are called 'a'"):
            writer(style, ("a", "a", "y")).write(Sum((A, X1)))
        writer(style, ("a", "a", "y")).write(Sum((A, A, Y)))  # the other one does not occur


@pytest.mark.parametrize("name", ["two words", "class", "1x", "", "pow"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ValueError, match="is no name in C: rename the column"):
        writer("c", [name]).write(A)
    if name != "pow":
        with pytest.raises(ValueError, match="is no name in Python: rename the column"):
            writer("python", [name]).write(A)
    assert f'"{name}"' in writer("sql", [name]).write(A)


def test_a_function_of_your_own():
    node = Apply("soft_plus", np.sinh, A)
    assert writer("text", NAMES).write(node) == "soft_plus(a)"
    assert writer("latex", NAMES).write(node) == r"\text{soft\_plus}\left(a\right)"
    node = Apply("softplus", np.sinh, A)
    assert writer("latex", NAMES).write(node) == r"\operatorname{softplus}\left(a\right)"
    assert writer("sympy", NAMES).write(node) == "Function('softplus')(Symbol('a'))"
    for style, language in (("python", "NumPy"), ("c", "C"), ("sql", "SQL")):
        expected = f"'softplus' is a function of your own, and not one that {language} has"
        with pytest.raises(ValueError, match=expected):
            writer(style, NAMES).write(node)


def test_a_function_of_your_own_that_numpy_has():
    register_function("sinh", np.sinh, np.cosh)
    try:
        assert writer("python", NAMES).write(Apply("sinh", np.sinh, A)) == "np.sinh(a)"
    finally:
        unregister_function("sinh")


# -- The same numbers -----------------------------------------------------------------------------


numbers = st.sampled_from([0.5, 1.0, -1.0, 2.0, -3.25, 1e-7, 123456.0]).map(Number)
exponents = st.sampled_from([2.0, -1.0, 0.5, -0.5, 3.0, 1 / 3, -2.0, 9.0, 1.5])


def larger(trees):
    lists = st.lists(trees, min_size=1, max_size=3)
    return st.one_of(
        lists.map(lambda parts: product(*parts)),
        lists.map(total),
        lists.map(lambda parts: Sum(tuple(parts))),
        st.builds(power, trees, exponents),
        st.builds(Raised, trees, trees),
        st.builds(apply, st.sampled_from([*PORTABLE, *FURTHER]), trees),
    )


trees = st.recursive(numbers | st.builds(Column, st.integers(0, 2)), larger, max_leaves=8)


def close(values, expected):
    """Say whether numbers are the same, as far as rounding lets several orders of sums agree."""
    expected = np.broadcast_to(expected, ROWS.shape[1])
    finite = np.isfinite(expected) & (np.abs(expected) < 1e100)
    values = np.broadcast_to(np.asarray(values, dtype=float), ROWS.shape[1])
    return np.allclose(values[finite], expected[finite], rtol=1e-6, atol=1e-6)


def stable(node):
    """Say whether rounding of the columns hardly matters, and all is real and finite."""
    with np.errstate(all="ignore"):
        values = [evaluate(node, ROWS * (1.0 + shift)) for shift in (-1e-11, 0.0, 1e-11)]
    parts = [np.broadcast_to(value, ROWS.shape[1]) for value in values]
    return np.isfinite(parts).all() and close(parts[0], parts[2])


@given(trees)
def test_python_means_the_tree(node):
    if not stable(node):
        return
    columns = dict(zip(NAMES, ROWS, strict=True))
    with np.errstate(all="ignore"):
        expected = evaluate(node, ROWS)
        value = eval(writer("python", NAMES).write(node), {"np": np, **columns})
    assert close(value, expected)


@pytest.mark.parametrize("name", TREES)
def test_sympy_means_the_tree(name):
    sympy = pytest.importorskip("sympy")
    node = TREES[name][0]
    text = eval(writer("sympy", NAMES).write(node), dict(vars(sympy)))
    for expression in (text, to_sympy(NAMES, node)):
        column = dict(zip(NAMES, ROWS[:, 0], strict=True))
        value = complex(sympy.sympify(expression).evalf(subs=column))
        assert abs(value - evaluate(node, ROWS[:, :1])) < 1e-12


@given(st.lists(trees, min_size=1, max_size=3))
def test_sql_means_the_tree(nodes):
    table = table_of(ROWS.T, NAMES)
    for node in filter(stable, nodes):
        rows = table.execute(f"SELECT {writer('sql', NAMES).write(node)} FROM rows").fetchall()
        with np.errstate(all="ignore"):
            expected = evaluate(node, ROWS)
        assert close([math.nan if value is None else value for (value,) in rows], expected)


def test_c_means_the_tree(tmp_path):
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    nodes: list = [node for node, *_ in TREES.values()]

    @given(trees)
    def collect(node):
        if stable(node):
            nodes.append(node)

    collect()
    texts = [writer("c", NAMES).write(node) for node in nodes]
    arguments = ", ".join(f"double {name}" for name in NAMES)
    unused = " ".join(f"(void){name};" for name in NAMES)
    source = "#include <math.h>\n" + "".join(
        f"double f{i}({arguments}) {{ {unused} return {text}; }}\n" for i, text in enumerate(texts)
    )
    (tmp_path / "trees.c").write_text(source)
    library = tmp_path / "trees.so"
    subprocess.run(
        [COMPILER, *FLAGS, "-shared", "-o", library, tmp_path / "trees.c", "-lm"], check=True
    )
    functions = ctypes.CDLL(str(library))
    for i, node in enumerate(nodes):
        function = functions[f"f{i}"]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
        assert close([function(*row) for row in ROWS.T], evaluate(node, ROWS)), texts[i]


# -- Views of the tree ----------------------------------------------------------------------------


def test_a_polynomial_of_thousands_of_terms_is_an_expression_of_sql():
    rng = np.random.default_rng(0)
    terms = np.unique(rng.integers(0, 30, (3000, 3)), axis=0)
    polynomial = Polynomial(terms, rng.normal(size=len(terms)), feature_names=NAMES)
    rows = table_of(ROWS.T, NAMES).execute(f"SELECT {polynomial.write('sql')} FROM rows")
    np.testing.assert_allclose([v for (v,) in rows], polynomial(ROWS.T), rtol=1e-9)


def test_a_polynomial_in_every_style():
    polynomial = Polynomial([[0, 0], [1, 2]], [-1 / 3, 1.0], feature_names=["t", "x"])
    assert polynomial.write("c") == "t * pow(x, 2.0) - 0.3333333333333333"
    square = 'CAST("x" AS DOUBLE PRECISION) * CAST("x" AS DOUBLE PRECISION)'
    assert (
        polynomial.write("sql")
        == f'CAST("t" AS DOUBLE PRECISION) * ({square}) - 0.3333333333333333'
    )
    assert polynomial.equation("mathml").count("<mo>=</mo>") == 1
    exact = ExactPolynomial([[0], [1]], ["-1/3", 1])
    assert exact.write("python") == "x0 - 1/3"
    assert exact.write("c") == "x0 - 0.3333333333333333"  # 1/3 is 0 there
    with pytest.raises(ValueError, match="standard errors are written for people"):
        polynomial.with_errors([0.1, 0.1]).write("c", errors=True)


def test_a_law_in_every_style():
    terms = [monomial([0, 1]), monomial([2, 0])]
    law = Law(terms, [1.0, -0.5], names=("t", "y"), target="y")
    assert law.write() == str(law) == "y = 0.5*t^2"
    assert law.write("latex") == law.to_latex()
    assert law.write("mathml") == law.to_mathml()
    assert law.write("html").startswith("<var><bdi>y</bdi></var> =")
    assert law.write("python") == "0.5*t**2"
    assert law.write("c") == "0.5 * pow(t, 2.0)"
    residual = Law(terms, [1.0, -0.5], names=("t", "y"))
    assert residual.write("python") == "y - 0.5*t**2"
    with pytest.raises(ValueError, match="style must be one of 'text', 'latex'"):
        law.write("java")


def test_a_quantity_in_every_style():
    cosine = Term((0.0, 0.0), (Factor(FUNCTIONS["cos"], 1.0, (1.0, 0.0)),))
    names = ["angle", "speed"]
    energy = ConservedQuantity([monomial([0, 2]), cosine], [1, -19.62], names=names)
    assert energy.write() == str(energy)
    assert energy.write("latex") == energy.to_latex()
    assert energy.write("c") == "pow(speed, 2.0) - 19.62 * cos(angle)"


def test_logarithms_to_a_base_have_it_in_latex():
    for name, base in BASES.items():
        node = Apply(name, getattr(np, name), A)
        assert writer("latex", NAMES).write(node) == rf"\log_{{{base:g}}}\left(a\right)"


def test_a_number_below_its_error_is_written_with_the_digits_of_that():
    assert writer("text", NAMES).write(Number(2e-15, 0.019)) == "0.00(2)"
