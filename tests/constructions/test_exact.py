"""BuchbergerMoller: against the plain reference, SymPy, and itself without flint."""

import pickle
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from helpers import as_tuples
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import border, buchberger_moller
from sklearn.base import clone
from test_exact_ideals import CONFIGURATIONS
from test_reference import CONFIGURATIONS as SMALL
from test_reference import sympy_basis

from vanishing.constructions.exact import BuchbergerMoller
from vanishing.polynomials import ExactPolynomial


@pytest.fixture(params=["flint", "no flint"])
def arithmetic(request, monkeypatch):
    """With python-flint, and as if it were not installed."""
    if request.param == "flint":
        pytest.importorskip("flint")
    else:
        monkeypatch.setitem(sys.modules, "flint", None)
    return request.param


def assert_equals(model, basis):
    """The fitted model is exactly a `reference.Basis`, in all of its attributes."""
    n_terms = len(basis.terms)
    assert as_tuples(model.terms_) == basis.terms
    assert as_tuples(model.leading_terms_) == basis.leading_terms
    expected = [list(coef) + [0] * (n_terms - len(coef)) for coef in basis.coef]
    assert model.coef_.tolist() == expected
    assert all(type(value) is Fraction for value in model.coef_.ravel())
    assert model.coef_.shape == (model.n_generators_, model.n_terms_)
    assert model.terms_.dtype == model.leading_terms_.dtype == np.int64
    assert (model.n_generators_, model.n_terms_) == (len(basis.coef), n_terms)
    assert model.n_features_in_ == len(basis.terms[0])
    assert model.degree_ == max(sum(u) for u in basis.leading_terms)
    assert len(model.generators_) == model.n_generators_
    for g, u, coef in zip(model.generators_, basis.leading_terms, basis.coef, strict=True):
        polynomial = {t: c for t, c in zip(basis.terms, coef, strict=False) if c != 0} | {u: 1}
        assert dict(zip(as_tuples(g.terms), g.coef, strict=True)) == polynomial
        assert tuple(g.leading_term) == u
        assert g.degree == sum(u)


@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_equals_the_reference(name, kind, arithmetic):
    points = CONFIGURATIONS[name]
    model = BuchbergerMoller(border=kind).fit(points)
    assert_equals(model, buchberger_moller(points, kind))
    assert model.n_terms_ == len(set(points))


rationals = st.fractions(min_value=-3, max_value=3, max_denominator=6)


@pytest.mark.parametrize("kind", ["gb", "bb"])
@settings(max_examples=60)
@given(data=st.data())
def test_equals_the_reference_on_any_points(kind, data):
    n = data.draw(st.integers(1, 4))
    points = data.draw(st.lists(st.tuples(*[rationals] * n), min_size=1, max_size=9))
    model = BuchbergerMoller(border=kind).fit(points)
    assert_equals(model, buchberger_moller(points, kind))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "flint", None)
        assert_equals(BuchbergerMoller(border=kind).fit(points), buchberger_moller(points, kind))


@pytest.mark.parametrize("name", SMALL)
def test_equals_sympy(name, arithmetic):
    """SymPy's Groebner basis of the intersected ideals of the points."""
    generators = BuchbergerMoller().fit(SMALL[name]).generators_
    found = [dict(zip(as_tuples(g.terms), g.coef, strict=True)) for g in generators]
    expected = sympy_basis([tuple(map(Fraction, point)) for point in SMALL[name]])
    assert sorted(found, key=lambda f: sorted(f.items())) == sorted(
        expected, key=lambda f: sorted(f.items())
    )


@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_vanishes_exactly_at_the_points_only(name, kind):
    points = CONFIGURATIONS[name]
    generators = BuchbergerMoller(border=kind).fit(points).generators_
    for point in points:
        values = [g(point) for g in generators]
        assert values == [0] * len(generators)
        assert all(type(value) is Fraction for value in values)
    elsewhere = tuple(Fraction(x) + Fraction(1, 97) for x in points[0])
    assert any(g(elsewhere) != 0 for g in generators)


@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("max_degree", [1, 2, 3, 4, 50])
def test_max_degree_is_the_largest_degree_of_a_generator(max_degree, kind):
    for name in ("grid", "circle", "line", "space, integers"):
        points = CONFIGURATIONS[name]
        whole = BuchbergerMoller(border=kind).fit(points)
        model = BuchbergerMoller(border=kind, max_degree=max_degree).fit(points)
        found = whole.leading_terms_.sum(axis=1) <= max_degree
        terms = whole.terms_.sum(axis=1) <= max_degree
        np.testing.assert_array_equal(model.terms_, whole.terms_[terms])
        np.testing.assert_array_equal(model.leading_terms_, whole.leading_terms_[found])
        np.testing.assert_array_equal(model.coef_, whole.coef_[found][:, terms])
        assert model.coef_.shape == (found.sum(), terms.sum())
        assert model.degree_ == whole.leading_terms_[found].sum(axis=1).max(initial=0)
        assert len(model.generators_) == model.n_generators_ == found.sum()


@pytest.mark.parametrize("kind", ["gb", "bb"])
def test_one_point(kind, arithmetic):
    model = BuchbergerMoller(border=kind).fit([["1/2", -3, "0.25"]])
    assert list(map(str, model.generators_)) == ["x0 - 1/2", "x1 + 3", "x2 - 1/4"]
    assert model.terms_.tolist() == [[0, 0, 0]]
    assert model.degree_ == 1


def test_one_variable():
    """The product of t - x, and no other generator."""
    (g,) = BuchbergerMoller().fit([["1/2"], [2], [-1]]).generators_
    assert str(g) == "x0^3 - 3/2*x0^2 - 3/2*x0 + 1"


@pytest.mark.parametrize("kind", ["gb", "bb"])
def test_duplicates_count_once_however_they_are_written(kind, arithmetic):
    points = [("1/2", 0), ("3", "1"), ("-0.2", 2), (1, 1)]
    again = [*points, (Decimal("0.50"), "0/7"), (3, Fraction(2, 2)), ("-1/5", "2.0"), points[0]]
    once, twice = (BuchbergerMoller(border=kind).fit(p) for p in (points, again))
    np.testing.assert_array_equal(once.terms_, twice.terms_)
    np.testing.assert_array_equal(once.leading_terms_, twice.leading_terms_)
    np.testing.assert_array_equal(once.coef_, twice.coef_)


def test_order_of_the_points_does_not_matter():
    points = CONFIGURATIONS["space, in [0, 1]"]
    model, other = (BuchbergerMoller().fit(p) for p in (points, points[::-1]))
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_ways_to_write_the_same_points():
    expected = BuchbergerMoller().fit([[Fraction(1, 2), 2], [Fraction(-1, 4), 0], [1, 7]])
    for points in (
        [["0.5", "2"], ["-0.25", "0"], ["1", "7"]],
        [["1/2", "2.00"], ["-1/4", 0], ["1e0", "7"]],
        [[Decimal("0.5"), Decimal(2)], [Decimal("-0.25"), Decimal(0)], [Decimal(1), Decimal(7)]],
        [(Fraction(1, 2), np.int8(2)), ("-2.5e-1", False), (True, np.uint64(7))],
        np.array([["1/2", "2"], ["-1/4", "0"], ["1", "7"]]),
        np.array([[Fraction(1, 2), 2], [Decimal("-0.25"), 0], ["1", 7]], dtype=object),
    ):
        np.testing.assert_array_equal(BuchbergerMoller().fit(points).coef_, expected.coef_)


def test_rationals_of_sympy_and_flint():
    sympy = pytest.importorskip("sympy")
    flint = pytest.importorskip("flint")
    points = [[sympy.Rational(1, 3), flint.fmpq(1, 3)], [sympy.Integer(2), flint.fmpz(2)]]
    assert str(BuchbergerMoller().fit(points).generators_[0]) == "x1 - x0"


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_numpy_integers_do_not_overflow(dtype, arithmetic):
    X = np.array([[100, 3], [90, 5], [70, 11], [127, 0], [1, 1], [0, 99]], dtype=dtype)
    points = [tuple(map(int, x)) for x in X]
    assert_equals(BuchbergerMoller().fit(X), buchberger_moller(points))


def test_large_integers(arithmetic):
    points = [(10**30 + 1, 3), (7, 10**40), (2**100, -(10**25)), (0, 1)]
    model = BuchbergerMoller().fit(points)
    assert_equals(model, buchberger_moller(points))
    assert all(g(point) == 0 for g in model.generators_ for point in points)


def test_data_frame():
    pandas = pytest.importorskip("pandas")
    model = BuchbergerMoller().fit(pandas.DataFrame({"a": [1, 2], "b": ["0.3", "0.6"]}))
    assert list(map(str, model.generators_)) == ["x1 - 3/10*x0", "x0^2 - 3*x0 + 2"]


@pytest.mark.parametrize(
    "points",
    [[[0.5, 1]], [[1e23, 1]], np.full((2, 2), 0.25, dtype=np.float32), [["1/3", np.float64(0.1)]]],
)
def test_floats_are_refused(points):
    with pytest.raises(TypeError, match=r'is a float.*strings \("0.1", "1/3"\).*Decimal'):
        BuchbergerMoller().fit(points)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_floats_that_are_integers_are_exact(dtype):
    points = [[14.0, 0.0], [-3.0, 1.0], [2.0**53 if dtype is object else 5.0, -2.0]]
    found = BuchbergerMoller().fit(np.array(points, dtype=dtype))
    expected = BuchbergerMoller().fit([[int(x) for x in row] for row in points])
    assert list(map(str, found.generators_)) == list(map(str, expected.generators_))


@pytest.mark.parametrize(
    "value",
    [
        None,
        np.nan,
        np.inf,
        "nan",
        "",
        "one",
        "1/0",
        "-inf",
        Decimal("NaN"),
        Decimal("Infinity"),
        1j,
    ],
)
def test_what_is_no_rational_number_is_refused(value):
    with pytest.raises(ValueError, match="must be a rational number; got"):
        BuchbergerMoller().fit([[1, 2], [value, 3]])


@pytest.mark.parametrize("points", [[], [[]], [[], []], np.zeros((0, 2), dtype=int)])
def test_nothing_is_refused(points):
    with pytest.raises(ValueError, match="at least one point"):
        BuchbergerMoller().fit(points)


@pytest.mark.parametrize(
    "points",
    [
        [[1, 2], [3]],
        [[1, 2], 3],
        [1, 2, 3],
        ["12", "34"],
        5,
        np.zeros((2, 2, 2), dtype=int),
        [np.zeros((2, 2), dtype=int), np.zeros((2, 3), dtype=int)],
    ],
)
def test_what_is_no_table_is_refused(points):
    with pytest.raises(ValueError, match="the same number of coordinates in each row"):
        BuchbergerMoller().fit(points)


@pytest.mark.parametrize(
    "parameters, error",
    [
        ({"border": "GB"}, ValueError),
        ({"border": None}, ValueError),
        ({"max_degree": 0}, ValueError),
        ({"max_degree": 2.5}, TypeError),
        ({"max_degree": True}, TypeError),
    ],
)
def test_parameters_are_checked(parameters, error):
    with pytest.raises(error, match=next(iter(parameters))):
        BuchbergerMoller(**parameters).fit([[1, 2]])


def test_it_is_an_estimator_with_parameters():
    model = clone(BuchbergerMoller(border="bb", max_degree=3))
    assert model.get_params() == {"border": "bb", "max_degree": 3}
    assert model.fit([[1, 2]]) is model


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [False, True])
def test_200_points_in_3_variables(decimals):
    pytest.importorskip("flint")
    rng = np.random.default_rng(0)
    if decimals:
        points = [[f"{x:.2f}" for x in row] for row in rng.uniform(size=(200, 3))]
    else:
        points = rng.integers(-10, 11, size=(200, 3))
    model = BuchbergerMoller().fit(points)
    assert model.n_terms_ == len(np.unique(points, axis=0))
    order_ideal = as_tuples(model.terms_)
    borders = [u for d in range(1, model.degree_ + 2) for u in border(order_ideal, d, "gb")]
    assert as_tuples(model.leading_terms_) == [u for u in borders if u not in order_ideal]
    assert all(g(points[i]) == 0 for g in model.generators_[::20] for i in range(0, 200, 7))


# ------------------------------------------------------------------------------ polynomials


def test_polynomial_is_written_largest_term_first():
    g = ExactPolynomial([[0, 0], [1, 0], [0, 1], [1, 1], [0, 3]], [-1, "-2/3", 1, 0, -1])
    assert str(g) == "-x1^3 + x1 - 2/3*x0 - 1"
    assert repr(g) == "ExactPolynomial(-x1^3 + x1 - 2/3*x0 - 1)"
    assert str(ExactPolynomial([[0], [1]], [0, 0])) == "0"
    assert str(ExactPolynomial([[0]], ["3/2"])) == "3/2"
    assert g.to_latex() == r"-x_{1}^{3} + x_{1} - \frac{2}{3} x_{0} - 1"
    assert g.degree == 3
    assert g.leading_term.tolist() == [0, 3]


def test_polynomial_is_evaluated_exactly():
    g = ExactPolynomial([[0, 0], [1, 0], [2, 90]], ["1/3", Decimal("0.1"), 2])
    assert g((7, 3)) == Fraction(1, 3) + Fraction(7, 10) + 2 * 7**2 * 3**90
    assert g(np.array([7, 3], dtype=np.int8)) == g(["7", "6/2"])
    assert type(g([0, 0])) is Fraction
    with pytest.raises(TypeError, match="float"):
        g([0.5, 1])
    with pytest.raises(ValueError, match="2 variables, but the point has 3 coordinates"):
        g([1, 2, 3])
    with pytest.raises(ValueError, match="one coefficient per term"):
        ExactPolynomial([[0, 0], [1, 0]], [1])


def test_polynomial_cannot_be_changed():
    g = ExactPolynomial([[0], [1]], [1, 1])
    with pytest.raises(AttributeError):
        g.coef = None
    with pytest.raises(ValueError, match="read-only"):
        g.coef[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        g.terms[0] = 2
    again = pickle.loads(pickle.dumps(g))
    assert str(again) == str(g)
    with pytest.raises(ValueError, match="read-only"):
        again.coef[0] = 2


def test_polynomial_in_sympy():
    sympy = pytest.importorskip("sympy")
    g = ExactPolynomial([[0, 0], [1, 1], [0, 2]], ["-1/3", "0.2", 1])
    x0, x1 = sympy.symbols("x0 x1")
    expected = x1**2 + sympy.Rational(1, 5) * x0 * x1 - sympy.Rational(1, 3)
    assert g.to_sympy() == expected
    assert ExactPolynomial([[0], [1]], [2, 1]).to_sympy() == x0 + 2


def test_sympy_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"pip install .\.\[symbolic\]"):
        ExactPolynomial([[0], [1]], [2, 1]).to_sympy()
