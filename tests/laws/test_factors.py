"""Factors and products by differences and curvature of logarithms, signs, and how noise grows."""

import numpy as np
import pytest

from vanishing import LawFinder
from vanishing.algebra.terms import monomial
from vanishing.laws.exponents import LogRegression
from vanishing.laws.factors import factor_states, is_negative
from vanishing.laws.indices import index_exponents
from vanishing.laws.problem import LawTable
from vanishing.laws.reductions import state_of_terms


def decades(n_rows, seed, n_columns, width=1.0):
    """Columns that are log-uniform over decades."""
    return 10 ** np.random.default_rng(seed).uniform(-width, width, (n_rows, n_columns))


def table_of(X, y):
    n_columns = X.shape[1]
    positive = (X > 0).all(axis=0)
    ones = np.ones(len(y))
    return LawTable(X.T, y, ones, positive, np.zeros(n_columns), 1.0, np.arange(n_columns))


def with_relative_noise(y, seed, level=0.01):
    return y * (1 + level * np.random.default_rng(seed + 100).normal(size=len(y)))


@pytest.mark.parametrize("seed", range(5))
def test_factors_are_told_whatever_the_rest_is(seed):
    # Neither a surrogate nor a dictionary has functions with such jumps.
    random = np.random.default_rng(seed)
    a, b, c = decades(100, seed, 3).T
    a *= random.choice([-1.0, 1.0], 100)
    rest = random.uniform(-3, 3, 100)
    y = with_relative_noise(a * b**2 / np.sqrt(c) * (1.5 + np.floor(rest) % 2), seed)
    state = factor_states(table_of(np.column_stack([a, b, c, rest]), y))[0]
    np.testing.assert_array_equal(state.factor[:3], [1.0, 2.0, -0.5])
    np.testing.assert_array_equal(state.variables, [[0.0, 0.0, 0.0, 1.0]])


def test_columns_that_play_no_part_are_no_factors():
    X = decades(150, 1, 4)
    y = with_relative_noise(X[:, 0] * np.exp(-X[:, 1]) * (X[:, 1] < 4) + 1e-9, 1)
    state = factor_states(table_of(X, y))[0]
    assert state.factor[0] == 1.0 and not state.factor[2:].any()
    assert not state.variables[:, 2:].any()


@pytest.mark.parametrize("seed", range(5))
def test_one_product_inside_a_function_is_told_by_curvature(seed):
    X = decades(120, seed, 5, 0.5)
    w = X[:, 0] * X[:, 1] ** 2 / (X[:, 2] * np.sqrt(X[:, 3]))
    target = np.log(X[:, 4]) - np.log1p(w)
    rows = LogRegression(np.log(X.T), target, np.ones(120), np.zeros(5, dtype=bool))
    exponents = index_exponents(rows)
    np.testing.assert_allclose(exponents / exponents[0], [1.0, 2.0, -1.0, -0.5, 0.0])


def test_sums_of_logarithms_have_no_curvature():
    X = decades(120, 3, 3)
    target = np.log(X).sum(axis=1) + 0.01 * np.random.default_rng(0).normal(size=120)
    rows = LogRegression(np.log(X.T), target, np.ones(120), np.zeros(3, dtype=bool))
    assert index_exponents(rows._replace(logs=rows.logs[:1])) is None
    # What noise says is curved is no law: the search refuses it, or finds the product.
    (law,) = LawFinder().fit(X, np.exp(target)).laws_
    assert law.n_terms == 2 and str(law).endswith("*x0*x1*x2")


@pytest.mark.parametrize(
    ("formula", "n_terms"),
    [
        (lambda a, b, c, t: a * b / c * np.sin(t), 2),
        (lambda a, b, c, t: a**2 * (1 / b - 1 / c), 3),
    ],
)
def test_laws_with_factors_over_decades_are_found_on_few_rows(formula, n_terms):
    found = 0
    for seed in range(2):
        X = np.column_stack([decades(100, seed, 3), np.linspace(0.1, 6.2, 100)])
        laws = LawFinder().fit(X, with_relative_noise(formula(*X.T), seed)).laws_
        fresh = np.column_stack([decades(300, 50 + seed, 3), np.linspace(0.15, 6.1, 300)])
        truth = formula(*fresh.T)
        for law in laws:
            left = np.abs(law.predict(fresh) - truth)
            assert np.median(left / np.abs(truth)) < 0.02
            found += law.n_terms == n_terms
    assert found


def test_a_column_of_both_signs_has_its_sign_in_a_root():
    random = np.random.default_rng(0)
    m = decades(300, 1, 1)[:, 0]
    v, c = random.uniform(-0.95, 0.95, 300), random.uniform(1, 3, 300)
    X = np.column_stack([m, v, c])
    y = m * v / np.sqrt(1 - v**2 / c**2)
    for sign in (1.0, -1.0):
        (law,) = LawFinder().fit(X, sign * y).laws_
        assert "up to rounding" in law.verdict
        np.testing.assert_allclose(law.predict(X), sign * y, rtol=1e-9)


def test_the_target_has_the_sign_in_which_it_is_positive_without_its_factor():
    random = np.random.default_rng(2)
    a, b = random.choice([-1.0, 1.0], 200) * decades(200, 2, 1)[:, 0], random.uniform(1, 3, 200)
    X, y = np.column_stack([a, b]), a * np.log(b + 1)
    for sign in (1.0, -1.0):
        table = table_of(X, sign * y)
        assert is_negative(table, factor_states(table)) == (sign < 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_signed_column_over_a_positive_one_is_one_variable(seed):
    random = np.random.default_rng(seed)
    theta, sigma = random.uniform(-3, 3, 300), 10 ** random.uniform(-0.3, 0.7, 300)
    y = np.exp(-((theta / sigma) ** 2) / 2) / sigma
    (law,) = LawFinder().fit(np.column_stack([theta, sigma]), y).laws_
    assert law.n_terms == 2 and law.relative_error < 1e-12 and "grows" not in law.verdict


def test_verdicts_say_how_noise_grows():
    random = np.random.default_rng(4)
    X = decades(300, 4, 2)
    y = 3 * X[:, 0] / X[:, 1]
    (law,) = LawFinder().fit(X, with_relative_noise(y, 4, 0.02)).laws_
    share = float(law.verdict.split("it is relative, ")[1].split(" %")[0])
    assert 1.8 < share < 2.2
    noise = np.sqrt(0.3**2 + (0.02 * y) ** 2) * random.normal(size=300)
    (law,) = LawFinder().fit(X, y + noise).laws_
    low = float(law.verdict.split("the noise grows with the target, from ")[1].split(" to ")[0])
    assert 0.2 < low < 0.45
    (law,) = LawFinder().fit(X, y + 0.1 * random.normal(size=300)).laws_
    assert "grows" not in law.verdict


def test_factors_are_free_of_powers_of_the_variable():
    """The logarithm of exp(-w) is short, that of exp(-w) / w^3 is not."""
    random = np.random.default_rng(7)
    X = random.uniform(1.0, [5, 5, 1.3, 1.2, 1.2, 1.3], (150, 6))
    y = with_relative_noise(X[:, 0] * np.exp(-X[:, 1] * X[:, 2] * X[:, 4] / (X[:, 3] * X[:, 5])), 7)
    state = factor_states(table_of(X, y))[0]
    np.testing.assert_allclose(np.abs(state.variables), [[0, 1, 1, 1, 1, 1]])
    np.testing.assert_allclose(state.factor, [1, 0, 0, 0, 0, 0])
    (law,) = LawFinder().fit(X, y).laws_
    assert law.n_terms == 2
    np.testing.assert_allclose(np.abs(law.coef), 1.0, rtol=0.01)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_form_is_compared_in_the_only_variable_that_an_equation_has(seed):
    """x/(1 + x/2 + x^2/12) is close to 1 - exp(-x), and both are of x = b/c alone."""
    random = np.random.default_rng(seed)
    a, b = np.exp(1.5 * random.normal(size=100)), 1.7 * random.standard_t(3, 100)
    X = np.column_stack([a, b, random.uniform(1, 3, 100)])
    y = with_relative_noise(a * (1 - np.exp(-b / X[:, 2])), seed, 0.1)
    (law,) = LawFinder().fit(X, y).laws_
    assert "Saturating exponential" in law.verdict
    assert law.constants["k"][0] == pytest.approx(1.0, abs=4 * law.constants["k"][1])


def test_an_equation_names_its_only_variable():
    """Whatever the units, x0/(x2/x1 + 1/2 + x1/x2) is a function of x1/x2 times x0."""
    terms = [
        monomial([0, -1, 1, 1]),
        monomial([0, 0, 0, 1]),
        monomial([0, 1, -1, 1]),
        monomial([1, 0, 0, 0]),
    ]
    state = state_of_terms(terms, np.array([True, False, True]))
    np.testing.assert_array_equal(np.abs(state.variables), [[0, 1, 1]])
    np.testing.assert_array_equal(state.factor, [1, 0, 0])
    np.testing.assert_array_equal(state.positive, [False])
    more = [*terms, monomial([0, 1, 0, 0])]
    assert state_of_terms(more, np.ones(3, dtype=bool)) is None


@pytest.mark.parametrize("decades", [6, 10])
def test_rows_over_many_decades_do_not_fail_at_the_ends_of_columns(decades):
    """The least rows count less than their noise allows: they do not say how large noise is."""
    for seed in (1, 2):
        random = np.random.default_rng(seed)
        x = 10 ** random.uniform(-decades / 2, decades / 2, 300)
        z = -(10 ** random.uniform(-decades / 4, decades / 4, 300))
        noise = 1 + 0.01 * random.normal(size=300)
        finder = LawFinder(functions=())
        one = finder.fit(x[:, np.newaxis], 3.1 * x**1.5 * noise).laws_
        assert [str(law).partition("*")[2] for law in one] == ["x0^(3/2)"]
        two = finder.fit(np.column_stack([x, z]), 3.1 * x / z**3 * noise).laws_
        assert [str(law).partition("*")[2] for law in two] == ["x0/x1^3"]
