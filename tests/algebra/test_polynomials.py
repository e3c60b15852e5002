"""Polynomials as results: values, gradients, text, exports."""

import pickle
import re
import warnings

import numpy as np
import pytest
from reference import evaluate

from vanishing import ABM, OAVI, VCA, VanishingFeatures
from vanishing.polynomials import (
    ExactPolynomial,
    Generators,
    Polynomial,
    parse_equation,
    parse_polynomial,
)

X = np.random.default_rng(0).uniform(size=(60, 3))
CIRCLE = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])


def fitted(psi=0.005, **parameters):
    return OAVI(psi, **parameters).fit(X)


def nothing():
    """A model without generators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OAVI(1e-9, max_degree=2).fit(X)


def random_polynomial(seed, n=3, n_terms=8, degree=6):
    """Distinct terms in no particular order, the constant not always among them."""
    rng = np.random.default_rng(seed)
    terms = np.unique(rng.integers(0, degree, size=(n_terms, n)), axis=0)
    return Polynomial(rng.permutation(terms), rng.normal(size=len(terms)))


# -------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("seed", range(5))
def test_values(seed):
    g = random_polynomial(seed)
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(300, 3))
    np.testing.assert_allclose(
        g(points), evaluate(g.terms, points) @ g.coef, rtol=1e-11, atol=1e-11
    )


def test_values_over_many_chunks():
    points = np.random.default_rng(1).uniform(-1, 1, size=(50_000, 2))
    np.testing.assert_allclose(CIRCLE(points), np.sum(points**2, axis=1) - 1, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_against_finite_differences(seed):
    g = random_polynomial(seed)
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(20, 3))
    gradient = g.gradient(points)
    assert gradient.shape == points.shape
    h = 1e-5
    for i in range(3):
        step = h * np.eye(3)[i]
        difference = (g(points + step) - g(points - step)) / (2 * h)
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(gradient[:, i], difference, atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(3))
def test_sympy_has_the_same_values_and_gradients(seed):
    sympy = pytest.importorskip("sympy")
    g = random_polynomial(seed)
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(10, 3))
    symbols = sympy.symbols("x0 x1 x2")
    expression = g.to_sympy()
    assert expression.free_symbols <= set(symbols)
    values = sympy.lambdify(symbols, expression)(*points.T)
    np.testing.assert_allclose(g(points), values, rtol=1e-12, atol=1e-12)
    for i, symbol in enumerate(symbols):
        slope = sympy.lambdify(symbols, sympy.diff(expression, symbol))(*points.T)
        np.testing.assert_allclose(g.gradient(points)[:, i], slope, rtol=1e-10, atol=1e-10)


def test_gradient_of_constants_and_absent_variables_is_zero():
    np.testing.assert_array_equal(Polynomial([[0, 0]], [3.0]).gradient([[1.0, 2.0]]), [[0, 0]])
    cube = Polynomial([[0, 0], [3, 0]], [5.0, 2.0])
    np.testing.assert_allclose(cube.gradient([[2.0, 7.0]]), [[24, 0]])


def test_single_precision_rows_are_evaluated_in_double():
    points = X[:, :2].astype(np.float32)
    values = CIRCLE(points)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, np.sum(points.astype(float) ** 2, axis=1) - 1, atol=1e-15)
    assert CIRCLE.gradient(points).dtype == np.float64


@pytest.mark.parametrize("points", [np.asfortranarray(X), X[::2], X.tolist()])
def test_any_kind_of_rows(points):
    g = random_polynomial(0)
    np.testing.assert_allclose(g(points), g(np.array(points)), rtol=1e-14)


@pytest.mark.parametrize("method", ["__call__", "gradient"])
@pytest.mark.parametrize("n", [1, 3])
def test_wrong_number_of_columns(method, n):
    with pytest.raises(ValueError, match=f"2 variables.*{n} columns"):
        getattr(CIRCLE, method)(np.zeros((4, n)))


@pytest.mark.parametrize("points", [[1.0, 2.0], [[np.nan, 0.0]], [["a", "b"]], [[1j, 0]]])
def test_bad_rows(points):
    with pytest.raises((ValueError, TypeError)):
        CIRCLE(points)


def test_one_coefficient_a_term():
    with pytest.raises(ValueError, match="one coefficient per term"):
        Polynomial([[0, 0], [1, 0]], [1.0])


def test_leading_term_and_degree():
    g = Polynomial([[0, 0], [4, 0], [1, 2]], [1.0, 2.0, 3.0], mse=0.25)
    assert g.leading_term.tolist() == [1, 2]
    assert g.leading_coef == 3.0
    assert g.degree == 4
    assert g.mse == 0.25
    assert np.isnan(CIRCLE.mse)


# ---------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    "terms, coef, text",
    [
        ([[0, 0], [2, 0], [0, 2]], [-1, 1, 1], "x1^2 + x0^2 - 1"),
        ([[0, 0], [1, 0], [1, 2]], [0.5, -1, -1], "-x0*x1^2 - x0 + 0.5"),
        ([[0, 0], [1, 1]], [1 / 3, -2.5], "-2.5*x0*x1 + 0.3333"),
        ([[0, 0], [0, 1]], [1.00001, 1.0], "x1 + 1"),
        ([[0, 0], [1, 0], [0, 1]], [1e-7, 0.0, 123456.0], "1.235e+05*x1 + 1e-07"),
        ([[0, 0], [0, 1]], [1e-7, 1.0], "x1 + 1e-07"),
        ([[0, 0]], [0.0], "0"),
        ([[0, 0]], [-2.0], "-2"),
    ],
)
def test_text(terms, coef, text):
    g = Polynomial(terms, coef)
    assert str(g) == text
    assert repr(g) == f"Polynomial({text})"


def test_text_can_be_read_back():
    """The printed coefficients are the polynomial, to four digits."""
    sympy = pytest.importorskip("sympy")
    for g in fitted().generators_:
        difference = sympy.expand(sympy.sympify(str(g).replace("^", "**")) - g.to_sympy())
        coefficients = sympy.Poly(difference, *sympy.symbols("x0 x1 x2")).coeffs()
        assert max(abs(float(c)) for c in coefficients) <= 6e-4


@pytest.mark.parametrize(
    "scale, text",
    [(1e8, "x1^2 + x0^2 - 2.5e+17"), (1e-8, "x1^2 + x0^2 - 2.5e-15"), (1.0, "x1^2 + x0^2 - 25")],
)
def test_equations_are_complete_whatever_the_scale(scale, text):
    """What rounding left behind is not shown; how small a coefficient is does not tell that."""
    points = np.array([(3, 4), (4, 3), (5, 0), (0, 5), (-3, 4), (-4, 3), (3, -4), (-5, 0)])
    model = OAVI(0, max_degree=2).fit(scale * points)
    assert model.leading_terms_.tolist() == [[0, 2]]
    assert str(model.generators_[0]) == text
    assert model.get_feature_names_out().tolist() == [f"|{text}|"]


def test_shortened():
    g = Polynomial([[0, 0], [1, 0], [0, 1], [2, 0]], [1.0, -2.0, 3.0, 4.0])
    assert g.shortened(2) == "4*x0^2 + 3*x1 + ..."
    assert g.shortened(4) == g.shortened(None) == str(g) == "4*x0^2 + 3*x1 - 2*x0 + 1"


@pytest.mark.parametrize(
    "terms, coef, latex",
    [
        ([[0, 0], [2, 0], [0, 12]], [-1, 1, 1], "x_{1}^{12} + x_{0}^{2} - 1"),
        ([[0, 0], [1, 1]], [0.5, -2], "-2 x_{0} x_{1} + 0.5"),
        ([[0, 0], [1, 0]], [1.5e-7, 1], r"x_{0} + 1.5 \times 10^{-7}"),
        ([[0, 0], [1, 0]], [1, -2.5e8], r"-2.5 \times 10^{8} x_{0} + 1"),
        ([[0, 0]], [0.0], "0"),
    ],
)
def test_latex(terms, coef, latex):
    assert Polynomial(terms, coef).to_latex() == latex


@pytest.mark.parametrize(
    "name, text, latex",
    [
        ("x", "x", "x"),
        ("t_3", "t_3", "t_{3}"),
        ("x12", "x12", "x_{12}"),
        ("petal_length", "petal_length", r"\text{petal\_length}"),
        ("petal length (cm)", "[petal length (cm)]", r"\text{petal length (cm)}"),
        ("100%", "[100%]", r"\text{100\%}"),
        ("a&b#{$}", "[a&b#{$}]", r"\text{a\&b\#\{\$\}}"),
        (
            "a^2~b\\c",
            "[a^2~b\\c]",
            r"\text{a\textasciicircum{}2\textasciitilde{}b\textbackslash{}c}",
        ),
        ("größe", "größe", r"\text{größe}"),
    ],
)
def test_names_with_special_characters(name, text, latex):
    g = Polynomial([[0, 0], [2, 1]], [-1.0, 1.0], feature_names=[name, "z"])
    assert str(g) == f"{text}^2*z - 1"
    space = r" \, " if latex.startswith(r"\text") else " "  # words would run together
    assert g.to_latex() == f"{latex}^{{2}}{space}z - 1"
    symbols = {str(symbol) for symbol in g.to_sympy().free_symbols}
    assert symbols == {name, "z"}


@pytest.mark.parametrize(
    "style, text",
    [
        ("text", "-beta^2*x1 + 3.33e-06*x1 - 1"),
        ("latex", r"-\text{beta}^{2} \, x_{1} + 3.33 \times 10^{-6} \, x_{1} - 1"),
        (
            "html",
            '\u2212<span class="term"><var><bdi>beta</bdi></var><sup>2</sup>\u2009'
            "<var>x<sub>1</sub></var></span> +\u00a0"
            '<span class="term">3.33\u2009\u00b7\u200910<sup>\u22126</sup>\u2009'
            "<var>x<sub>1</sub></var></span> \u2212\u00a0"
            '<span class="term">1</span>',
        ),
        ("sympy", "-Symbol('beta')**2*Symbol('x1') + 3.3333e-06*Symbol('x1') - 1.0"),
        ("python", "-beta**2*x1 + 3.3333e-06*x1 - 1.0"),
    ],
)
def test_styles(style, text):
    g = Polynomial([[0, 0], [0, 1], [2, 1]], [-1, 3.3333e-6, -1], feature_names=["beta", "x1"])
    assert g.write(style, digits=3) == text
    assert g.write(style, digits=3, limit=3) == text
    short = g.write(style, digits=3, limit=1)
    assert text.startswith(short[:10])
    assert ("..." in short) or ("(2\u00a0more\u00a0terms)" in short)


def test_python_and_its_names():
    g = random_polynomial(0)
    values = eval(g.write("python"), dict(zip(g.feature_names, X.T, strict=True)))
    np.testing.assert_allclose(values, g(X), rtol=1e-12, atol=1e-12)
    for name, problem in [("a b", "'a b' is no name"), ("lambda", "is no name"), ("x1", "two col")]:
        with pytest.raises(ValueError, match=problem):
            Polynomial([[1, 1]], [1.0], feature_names=["x1", name]).write("python")
    with pytest.raises(ValueError, match="two columns"):  # Python reads the first as the second
        Polynomial([[1, 1]], [1.0], feature_names=["\ufb01", "fi"]).write("python")
    with pytest.raises(ValueError, match="style must be one of 'text', 'latex'"):
        g.write("word")


# -------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_table_of_a_polynomial(library):
    frames = pytest.importorskip(library)
    g = Polynomial([[0, 0], [1, 0], [1, 2]], [0.5, 0.0, -2.0], feature_names=["a", "b c"])
    frame = frames.DataFrame(g.table())
    assert list(frame.columns) == ["term", "degree", "coefficient"]
    assert frame["term"].to_list() == ["1", "a", "a*[b c]^2"]
    assert frame["degree"].to_list() == [0, 1, 3]
    assert frame["coefficient"].to_list() == [0.5, 0.0, -2.0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_table_of_generators(library):
    frames = pytest.importorskip(library)
    model = fitted()
    frame = frames.DataFrame(model.generators_.table())
    assert list(frame.columns) == ["equation", "degree", "n_terms", "mse"]
    assert frame["equation"].to_list() == [g.equation() for g in model.generators_]
    assert frame["degree"].to_list() == model.leading_terms_.sum(axis=1).tolist()
    assert frame["n_terms"].to_list() == (1 + np.count_nonzero(model.coef_, axis=1)).tolist()
    assert frame["mse"].to_list() == model.mse_.tolist()


# -------------------------------------------------------------------------------- immutability


def test_a_polynomial_keeps_its_own_numbers():
    terms, coef = np.array([[0, 0], [1, 1]]), np.array([1.0, 2.0])
    g = Polynomial(terms, coef)
    terms[:], coef[:] = 7, 7
    assert str(g) == "2*x0*x1 + 1"
    assert terms.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        g.coef[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        g.terms[0] = 3


@pytest.mark.parametrize("name", ["coef", "terms", "mse", "feature_names"])
def test_a_polynomial_cannot_be_given_other_parts(name):
    g = Polynomial([[0, 0], [1, 1]], [1.0, 2.0])
    with pytest.raises(AttributeError):
        setattr(g, name, None)


@pytest.mark.parametrize("name", ["terms", "leading_terms", "coef", "leading_coef", "mse"])
def test_generators_cannot_be_changed(name):
    """`transform` compiles them once: a change would reach some methods and not others."""
    generators = fitted().generators_
    with pytest.raises(ValueError, match="read-only"):
        getattr(generators, name)[...] = 0


# ---------------------------------------------------------------------------------- generators


@pytest.mark.parametrize("oracle", ["pcg", "ls"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_generators_are_the_columns_of_transform(oracle, dtype):
    model = fitted(oracle=oracle, absolute=False)
    new = np.random.default_rng(1).uniform(-1, 2, size=(500, 3)).astype(dtype)
    features = model.transform(new)
    assert features.dtype == dtype
    assert features.shape == (500, len(model.generators_))
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for column, g in zip(features.T, model.generators_, strict=True):
        np.testing.assert_allclose(g(new), column, rtol=tolerance, atol=tolerance)
    by_definition = evaluate(model.leading_terms_, new.astype(float))
    by_definition += evaluate(model.terms_, new.astype(float)) @ model.coef_.T
    np.testing.assert_allclose(features, by_definition, rtol=tolerance, atol=tolerance)
    model.absolute = True
    np.testing.assert_array_equal(model.transform(new), np.abs(features))


@pytest.mark.parametrize("chunk_size", [1, 7, 10_000])
def test_chunks_of_transform(chunk_size):
    model = fitted()
    expected = model.transform(X)
    found = model.set_params(chunk_size=chunk_size).transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_generators_are_a_sequence():
    model = fitted()
    generators = model.generators_
    size = model.n_generators_
    assert len(generators) == len(list(generators)) == size > 4
    texts = [str(g) for g in generators]
    assert [str(g) for g in generators[1:4]] == texts[1:4]
    assert [str(g) for g in generators[::-2]] == texts[::-2]
    assert str(generators[-1]) == texts[-1]
    assert str(generators[np.int64(0)]) == texts[0]
    assert len(set(texts)) == size
    for index in (size, -size - 1):
        with pytest.raises(IndexError):
            generators[index]
    for i, g in enumerate(generators):
        assert g.leading_term.tolist() == model.leading_terms_[i].tolist()
        assert g.leading_coef == 1.0
        assert g.mse == model.mse_[i]
        assert g.degree == model.leading_terms_[i].sum()
        assert len(g.terms) == 1 + np.count_nonzero(model.coef_[i])  # no zeros are carried along
    assert str(generators).splitlines() == [
        f"{g.equation()}   (mse {g.mse:.2g})" for g in generators
    ]
    assert repr(generators) == f"<{size} generators of degree up to {model.degree_}>"


def test_pickling():
    model = fitted()
    model.transform(X)  # compiled
    for generators in (model.generators_, fitted().generators_):
        again = pickle.loads(pickle.dumps(generators))
        assert isinstance(again, Generators)
        assert str(again) == str(generators)
        np.testing.assert_array_equal(again.evaluate(X), generators.evaluate(X))
    g = pickle.loads(pickle.dumps(model.generators_[0]))
    np.testing.assert_array_equal(g(X), model.generators_[0](X))
    assert str(g) == str(model.generators_[0])
    with pytest.raises(ValueError, match="read-only"):
        g.coef[0] = 3


def test_no_generators():
    model = nothing()
    generators = model.generators_
    assert len(generators) == 0
    assert list(generators) == generators[:] == []
    assert str(generators) == ""
    assert generators.degree == 0
    assert generators.table() == {"equation": [], "degree": [], "n_terms": [], "mse": []}
    assert generators.evaluate(X).shape == (60, 0)
    assert model.get_feature_names_out().shape == (0,)
    with pytest.raises(IndexError):
        generators[0]


# --------------------------------------------------------------------------------------- names


def test_feature_names_reach_text_and_output():
    pandas = pytest.importorskip("pandas")
    names = ["width", "petal length", "x_3"]
    model = OAVI(0.005).fit(pandas.DataFrame(X, columns=names))
    plain = fitted()
    for named, g in zip(model.generators_, plain.generators_, strict=True):
        text = str(g).replace("x0", "width").replace("x1", "[petal length]").replace("x2", "x_3")
        assert str(named) == text
        assert named.feature_names == tuple(names)
    out = model.get_feature_names_out()
    assert np.array_equal(out, model.get_feature_names_out(names))
    assert any("[petal length]" in name for name in out)
    with pytest.raises(ValueError, match="feature_names_in_"):
        model.get_feature_names_out(["a", "b", "c"])


def test_names_of_the_output():
    model = fitted(0.001)
    names = model.get_feature_names_out()
    assert names.dtype == object
    assert len(set(names)) == len(names) == model.n_generators_
    short = [name for name in names if name.endswith(" + ...|")]
    assert len(short) > 0
    for name, g in zip(names, model.generators_, strict=True):
        assert name.startswith("|")
        assert name.endswith("|")
        assert str(g).startswith(name[1:-1].removesuffix(" + ..."))
        assert len(name) < 100
    model.absolute = False
    assert model.get_feature_names_out().tolist() == [name[1:-1] for name in names]
    other = model.get_feature_names_out(["a", "b", "c"])
    assert other[0] == names[0][1:-1].replace("x0", "a").replace("x1", "b").replace("x2", "c")
    with pytest.raises(ValueError, match="length"):
        model.get_feature_names_out(["a", "b"])


# -- Equations ------------------------------------------------------------------------------------


def check_reads_back(g):
    """The equation is the polynomial over its leading coefficient, to four digits."""
    left, right = g.equation().split(" = ")
    leading = parse_polynomial(left, g.feature_names)
    assert leading.terms.tolist() == [g.leading_term.tolist()] and leading.coef == [1.0]
    read = parse_equation(f"{left} = {right}", g.feature_names)
    expected = {
        tuple(t): c / g.coef[-1] for t, c in zip(g.terms.tolist(), g.coef, strict=True) if c
    }
    found = {tuple(t): c for t, c in zip(read.terms.tolist(), read.coef, strict=True)}
    assert found.keys() == expected.keys()
    for term, value in expected.items():
        assert found[term] == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("model", [OAVI(psi=0.005), ABM(psi=0.005), VCA(psi=0.001, max_degree=2)])
def test_equations_have_the_leading_term_alone_on_the_left_and_read_back(model):
    X = np.random.default_rng(0).random((60, 3))
    X[:, 2] = X[:, 0] * X[:, 1]
    generators = model.fit(X).generators_
    assert len(generators) > 0
    for g in generators:
        check_reads_back(g)


def test_the_first_positive_term_comes_first_on_the_right():
    terms = [[0, 0], [1, 0], [2, 0], [0, 2]]
    assert Polynomial(terms, [-3.0, 2.0, 1.0, 2.0]).equation() == "x1^2 = 1.5 - 0.5*x0^2 - x0"
    assert Polynomial(terms, [3.0, 2.0, 1.0, 1.0]).equation() == "x1^2 = -x0^2 - 2*x0 - 3"
    assert Polynomial(terms, [3.0, -2.0, 1.0, -1.0]).equation() == "x1^2 = x0^2 - 2*x0 + 3"
    assert Polynomial(terms[-1:], [4.0]).equation() == "x1^2 = 0"
    assert Polynomial(terms, [1.0, 1.0, 1.0, 0.0]).equation() == "x0^2 + x0 + 1 = 0"
    assert Polynomial(terms, [-3.0, 2.0, 1.0, 2.0]).equation(limit=1) == "x1^2 = 1.5 + ..."
    assert ExactPolynomial(terms[1:], [1, 2, 3]).equation() == "x1^2 = -2/3*x0^2 - 1/3*x0"


def test_equations_are_for_people():
    circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    assert circle.equation("latex") == "x_{1}^{2} = 1 - x_{0}^{2}"
    assert "</sup></span> =\u00a0<span" in circle.equation("html")
    for style in ("sympy", "python", "prose"):
        with pytest.raises(ValueError, match="style must be"):
            circle.equation(style)


def test_notebooks_show_latex():
    X = np.random.default_rng(0).random((200, 2))
    X[:, 1] = X[:, 0] ** 2
    names = ["a = b & c", "d"]
    generators = OAVI(psi=1e-4).fit(X).generators_.renamed(names)
    for g in generators:
        assert g._repr_latex_() == f"${g.to_latex()}$"
    lines = generators._repr_latex_().splitlines()
    assert lines[:2] == ["$$", r"\begin{aligned}"] and lines[-2:] == [r"\end{aligned}", "$$"]
    assert len(lines) == 4 + len(generators)
    for line, g in zip(lines[2:-2], generators, strict=True):
        left, right = re.split(r" (?<!\\)&= ", line.removesuffix(r" \\"))
        assert f"{left} = {right}" == g.equation("latex")
        assert len(re.findall(r"(?<!\\)&", line)) == 1
    assert generators.subset([])._repr_latex_() is None


def test_notebooks_show_the_first_of_many_generators():
    rng = np.random.default_rng(0)
    model = VanishingFeatures(OAVI(psi=0.1)).fit(rng.random((60, 12)), np.repeat([0, 1], 30))
    lines = model.generators_._repr_latex_().splitlines()
    assert model.n_generators_ > 20
    assert lines[-3] == rf"&\quad \text{{({model.n_generators_ - 20} more)}}"
    assert len(lines) == 4 + 21
