"""Columns far from the origin: what is claimed does not depend on where they are measured from."""

import numpy as np
import pytest

import vanishing
from vanishing import Law, LawFinder
from vanishing.algebra.terms import monomial
from vanishing.fitting.origins import (
    Expansion,
    far_offsets,
    positive_inverse,
    short_number,
    shortest_origin,
)

OWN = np.array([-52341.8371, 7e5 / 3, 98765.4, 1e6])


@pytest.mark.parametrize("centre", [1e2, 1e4, 1e8])
def test_noise_far_from_the_origin_has_no_law(centre):
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert not LawFinder(max_degree=4).fit(X + centre).laws_


@pytest.mark.slow
@pytest.mark.parametrize("centre", [1e4, 1e8])
def test_a_thousand_rows_of_noise_far_from_the_origin_have_no_law(centre):
    X = np.random.default_rng(0).normal(size=(1000, 3)) + centre
    assert not LawFinder().fit(X).laws_  # a cubic was


def test_noise_far_from_the_origin_has_no_law_of_a_target():
    X = np.random.default_rng(1).normal(size=(60, 3)) + 1e6
    assert not LawFinder().fit(X[:, :2], X[:, 2]).laws_


def test_a_column_of_times_adds_no_law():
    random = np.random.default_rng(2)
    a, b = random.uniform(1, 3, (2, 200))
    times = 1.6e9 + np.sort(random.uniform(0, 1e6, 200))
    assert [*map(str, LawFinder().fit(np.column_stack([a, b, a * b, times])).laws_)] == [
        "x2 = x0*x1"
    ]
    assert str(LawFinder().fit(np.column_stack([a, b, times]), a * b).laws_[0]) == "y = x0*x1"


def planted(name):
    random = np.random.default_rng(3)
    a, b, c = random.normal(size=(3, 300))
    angle = random.uniform(0, 2 * np.pi, 300)
    return {
        "product": np.column_stack([a, b, a * b]),
        "circle": np.column_stack([np.cos(angle), np.sin(angle)]),
        "line": np.column_stack([a, b, 2 * a - 3 * b + 1]),
        "products": np.column_stack([a, b, c, a * b * c]),
    }[name]


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("name", ["product", "circle", "line", "products"])
def test_planted_laws_are_found_wherever_columns_are(name, size):
    X = planted(name)
    near, far = X[:200], X[200:] + size * OWN[: X.shape[1]] / 1e5
    (law,) = LawFinder(max_degree=4).fit(near + size * OWN[: X.shape[1]] / 1e5).laws_
    (plain,) = LawFinder(max_degree=4).fit(near).laws_
    assert law.n_terms <= plain.n_terms + 1  # a constant
    apart = np.column_stack([np.roll(column, i) for i, column in enumerate(far.T)])
    size_off_the_law = np.sqrt(np.mean(law.residual(apart) ** 2))
    assert np.abs(law.residual(far)).max() < 1e-6 * size_off_the_law


@pytest.mark.parametrize(("target", "noise"), [("square", 0.01), ("product", 0.0), ("cubic", 0.01)])
def test_planted_laws_of_a_target_are_found_wherever_columns_are(target, noise):
    random = np.random.default_rng(5)
    X = random.uniform(1, 3, (300, 3))
    a, b, c = X.T
    y = {"square": a * b + c**2, "product": a * b * c, "cubic": a**3 - a * b}[target]
    measured = y + noise * y.std() * random.normal(size=300)
    plain, far = (
        LawFinder().fit(X + shift, measured + level).laws_[0]
        for shift, level in [(np.zeros(3), 0.0), (OWN[:3], 1e6)]
    )
    # A target that is far has its level as a constant.
    assert far.n_terms <= plain.n_terms + 1
    left = far.predict(X + OWN[:3]) - 1e6 - y
    assert np.sqrt(np.mean(left**2)) < (1e-7 + 0.5 * noise) * y.std()


def test_narrow_columns_keep_their_laws():
    random = np.random.default_rng(6)
    n, V = random.uniform(1, 100, (2, 200))
    T = random.uniform(300, 302, 200)
    X = np.column_stack([n, V, T])
    assert str(LawFinder().fit(X, 8.314 * n * T / V).laws_[0]) == "y = 8.314*x0*x2/x1"
    laws = LawFinder(max_degree=3).fit(np.column_stack([X, 8.314 * n * T / V])).laws_
    assert laws[0].n_terms == 2


def law_with_offsets(**parts):
    terms = [monomial([1, 1, 0]), monomial([0, 0, 1]), monomial([0, 0, 0])]
    return Law(terms, [1, -2, 3], names="abc", offsets=[1e4, 523412.8371, -3e5], **parts)


def test_a_product_and_a_column_are_no_function_of_far_columns():
    # In all digits that rows have, a*b + c is sqrt(a*b*(2*c + a*b)), and a product of odd powers.
    rng = np.random.default_rng(0)
    a, b, c = X = rng.normal(size=(3, 300)) + 1e4
    law = LawFinder().fit(X.T, a * b + c + rng.normal(size=300)).laws_[0]
    assert law.degree == 2 and law.n_terms == 6
    fresh = rng.normal(size=(3, 1000)) + 1e4
    assert np.std(law.predict(fresh.T) - fresh[0] * fresh[1] - fresh[2]) < 0.2


def test_a_law_with_offsets_is_written_as_such():
    law = law_with_offsets()
    assert str(law) == "2*(c + 300000) - (a - 10000)*(b - 523412.8371) = 3"
    assert law.terms == ("(a - 10000)*(b - 523412.8371)", "c + 300000", "1")
    assert str(law.solve("c")) == "c = 0.5*(a - 10000)*(b - 523412.8371) - 299998.5"
    assert law.write("sql").count("523412.8371") == law.to_latex().count("523412.8371") == 1


def test_a_law_with_offsets_is_the_same_in_all_languages(tmp_path):
    law = law_with_offsets(target="c")
    X = np.random.default_rng(7).normal(size=(5, 3)) + law.offsets
    function: dict = {}
    exec(law.to_python(), function)
    assert np.allclose(function["law"](X[:, 0], X[:, 1]), law.predict(X[:, :2]), rtol=1e-15)
    sympy = law.to_sympy()
    values = [float(sympy.rhs.subs(dict(zip("ab", row[:2], strict=True)))) for row in X]
    assert np.allclose(values, law.predict(X[:, :2]), rtol=1e-12)
    law.save(tmp_path / "law.json")
    loaded = vanishing.load(tmp_path / "law.json")
    assert loaded.offsets == law.offsets and str(loaded) == str(law)
    assert np.array_equal(loaded.residual(X), law.residual(X))
    back = law.solve("a").predict(np.column_stack([X[:, :2], law.predict(X[:, :2])]))
    assert np.allclose(back, X[:, 0], rtol=1e-12)


def test_offsets_have_the_units_of_their_columns():
    X = np.random.default_rng(9).normal(size=(100, 2)) + 1e4
    y = (X[:, 0] - 1e4) * (X[:, 1] - 1e4)
    model = LawFinder(units={"x0": "m", "x1": "s", "y": "m s"}).fit(X, y)
    assert str(model.laws_[0]) == "y = (x0 - 10000[m])*(x1 - 10000[s])"


def test_offsets_are_one_per_column():
    with pytest.raises(ValueError, match="one finite number per column"):
        Law([monomial([1, 0])], [1.0], names="ab", offsets=[1.0])


def test_short_numbers():
    assert short_number(1600480123.7, 6e6) == 1.6e9
    assert short_number(10003.2, 6.0) == 1e4
    assert short_number(-523412.8371, 1e-5) == -523412.8371
    X = np.random.default_rng(8).normal(size=(3, 50)) + np.array([[3.0], [101321.0], [0.0]])
    assert far_offsets(X, np.ones(50)).tolist() == [0.0, 101320.0, 0.0]


def test_a_product_has_one_term_where_its_factors_vanish():
    # (x - 1) (y + 2) = x y + 2 x - y - 2
    exponents = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    expansion = Expansion.of(exponents, np.array([1.0, 2.0, -1.0, -2.0]), 1e-9)
    steps, _, moved = shortest_origin(expansion, [0, 1], np.zeros(2))
    assert steps.tolist() == [1.0, -2.0]
    assert moved.exponents[moved.needed].tolist() == [[1, 1]]


def test_variances_that_rounding_made_negative_say_nothing():
    random = np.random.default_rng(0)
    q = np.linalg.qr(random.normal(size=(4, 4)))[0]
    inverse = positive_inverse(q @ np.diag([2.0, 0.5, 1e-13, -1e-9]) @ q.T, 1e-12)
    np.testing.assert_allclose(inverse, q @ np.diag([0.5, 2.0, 0.0, 0.0]) @ q.T, atol=1e-6)
    assert positive_inverse(np.zeros((2, 2)), 1e-10).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_far_columns_of_a_skewed_distribution():
    random = np.random.default_rng([5, 300, 7])
    X = random.exponential(size=(300, 3)) * 10.0 ** random.integers(-3, 4)
    X += 10.0 ** random.integers(2, 8, 3) * X.std(axis=0) * random.choice([-1, 1], 3)
    assert not LawFinder().fit(X).laws_  # a square root of a negative variance


def test_constant_columns_beside_far_ones_do_not_matter():
    random = np.random.default_rng(4)
    times, x = 1.7e9 + random.uniform(0, 1e5, 60), random.normal(size=60)
    y = 2 * x + 1e-5 * (times - 1.7e9) + 0.01 * random.normal(size=60)
    plain = LawFinder().fit(np.column_stack([times, x]), y)
    beside = LawFinder().fit(np.column_stack([times, x, np.full(60, 3.0)]), y)
    assert plain.laws_ and str(beside.laws_[0]) == str(plain.laws_[0])


@pytest.mark.parametrize("y", [np.full(60, 2.0), 1e6 + np.sin(np.arange(60))])
def test_far_columns_with_nothing_to_explain(y):
    X = np.column_stack([1e6 + np.cos(np.arange(60)) if y[0] == 2.0 else np.ones(60), np.ones(60)])
    assert "constant" in LawFinder().fit(X, y).verdict_


def test_a_decay_in_time_is_written_from_near_the_rows():
    random = np.random.default_rng(51)
    times = 1.7e9 + random.uniform(0, 8e5, 200)
    y = 5 * np.exp(-(times - 1.7e9) / 2e5) * (1 + 0.01 * random.normal(size=200))
    (law,) = LawFinder().fit(times[:, None], y).laws_
    # Any two powers of such a column fit as well, with terms 1e3 times as large as their sum.
    assert law.offsets[0] > 1.6e9 and law.n_terms == 3


def test_what_would_not_show_is_measured_from_near_the_rows():
    random = np.random.default_rng(50)
    pressure, height = 101325 + 300 * random.normal(size=150), random.uniform(0, 100, 150)
    y = pressure - 11.772 * height + 5 * random.normal(size=150)
    far = LawFinder().fit(np.column_stack([pressure, height]), y)
    near = LawFinder().fit(np.column_stack([pressure - 101325, height]), y - 101325)
    assert "approximation" in near.verdict_ and "approximation" in far.verdict_
