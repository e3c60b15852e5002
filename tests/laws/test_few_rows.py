"""Few rows: short laws among all terms, roots that have to be earned, and the noise of laws."""

import numpy as np
import pytest

from vanishing import LawFinder
from vanishing.algebra.terms import monomial
from vanishing.fitting.unequal_noise import variance_of_noise
from vanishing.laws.ends import fails_at_ends
from vanishing.laws.exponents import simple_exponents
from vanishing.laws.links import IDENTITY, regression
from vanishing.laws.options import Options
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.products import LogRows, products
from vanishing.laws.reductions import Logarithms, ReductionState, with_surrogate
from vanishing.laws.refit import refit_link
from vanishing.laws.search import Search
from vanishing.laws.unequal import with_equal_noise, with_noise_of_products


def decades(n_rows, seed, n_columns=3, width=1.0):
    """Columns that are log-uniform over decades."""
    return 10 ** np.random.default_rng(seed).uniform(-width, width, (n_rows, n_columns))


def table_of(X, y):
    ones = np.ones(len(y))
    n_columns = X.shape[1]
    positive = (X > 0).all(axis=0)
    return LawTable(X.T, y, ones, positive, np.zeros(n_columns), 1.0, np.arange(n_columns))


@pytest.mark.parametrize("n_rows", [30, 60, 100])
def test_three_terms_of_a_large_dictionary_are_found_on_few_rows(n_rows):
    # A quarter as many terms as rows has no room for the terms of degree 3.
    m, u, v, w = decades(n_rows, 0, 4).T
    y = 0.5 * m * (u**2 + v**2 + w**2)
    (law,) = LawFinder().fit(np.column_stack([m, u, v, w]), y).laws_
    assert "up to rounding" in law.verdict
    fresh = decades(200, 1, 4)
    truth = 0.5 * fresh[:, 0] * (fresh[:, 1:] ** 2).sum(axis=1)
    np.testing.assert_allclose(law.predict(fresh), truth, rtol=1e-8)


def test_a_root_does_not_stand_in_for_a_sum():
    # Over this range 1/(1 - v/c) is within 7 % of sqrt(v/c), but for a factor.
    random = np.random.default_rng(0)
    q, e = decades(100, 0, 2, 0.5).T
    v, c = random.uniform(1, 2, 100), random.uniform(3, 10, 100)
    y = q / (e * (1 - v / c))
    y += 0.01 * np.sqrt(np.mean(y**2)) * random.normal(size=100)
    laws = LawFinder().fit(np.column_stack([q, e, v, c]), y).laws_
    assert all("sqrt" not in str(law) for law in laws)
    assert not laws or "v" not in str(laws[0]) or laws[0].n_terms == 3


def test_small_rows_tell_a_sum_from_its_largest_term():
    # In units of y the rows where b is larger than c decide alone.
    found = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        a, b, c = decades(40, seed).T
        y = a * (1 + (b / c) ** 2) * (1 + 0.05 * random.normal(size=40))
        laws = LawFinder().fit(np.column_stack([a, b, c]), y).laws_
        fresh = decades(500, 100 + seed)
        truth = fresh[:, 0] * (1 + (fresh[:, 1] / fresh[:, 2]) ** 2)
        for law in laws:
            assert np.median(np.abs(law.predict(fresh) / truth - 1)) < 0.1
        found += len(laws)
    assert found >= 2


def test_the_noise_of_a_product_is_taken_where_rows_are_likelier_so():
    random = np.random.default_rng(0)
    X = decades(60, 0)
    M = X[:, 0] * X[:, 1] / X[:, 2]
    noise = random.normal(size=60)
    relative, equal = table_of(X, M * (1 + 0.1 * noise)), table_of(X, M + 0.1 * M.std() * noise)
    weighted = with_noise_of_products(relative, products(relative))
    assert weighted.precision is not None
    assert with_noise_of_products(equal, products(equal)).precision is None
    # The sum of log-likelihoods is what the search compares.
    law, plain = (
        Search(t, Options(), products=products(relative)).finish() for t in (weighted, relative)
    )
    assert law.choice.best.score - weighted.log_precision < plain.choice.best.score


def test_the_variance_of_noise_is_the_likeliest():
    random = np.random.default_rng(1)
    s = 10 ** random.uniform(-2, 2, 4000)
    grows = variance_of_noise(0.1 * s * random.normal(size=4000), s)
    assert grows.power == 2
    ratio = grows.at(np.array([0.1, 10.0]))
    assert 0.5 < ratio[1] / ratio[0] / 1e4 < 2
    poisson = variance_of_noise(np.sqrt(s) * random.normal(size=4000), s)
    assert poisson.power == 1
    equal = variance_of_noise(random.normal(size=4000), s, least_gain=10.0)
    assert equal.power == 0 and (equal.at(s) == 1).all()


def test_weights_of_rows_are_rows():
    random = np.random.default_rng(2)
    s = 10 ** random.uniform(-1, 1, 60)
    left = 0.1 * s * random.normal(size=60)
    count = random.integers(1, 4, 60)
    once = variance_of_noise(left, s, count.astype(float))
    twice = variance_of_noise(np.repeat(left, count), np.repeat(s, count))
    assert once.power == twice.power
    np.testing.assert_allclose(once.at(s) / once.at(s)[0], twice.at(s) / twice.at(s)[0], rtol=0.2)


def test_standard_errors_hold_over_four_decades():
    pulls = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        X = decades(30, 500 + seed, width=2.0)
        y = X[:, 0] ** 2 * X[:, 1] / X[:, 2] * (1 + 0.05 * random.normal(size=30))
        for law in LawFinder().fit(X, y).laws_:
            pulls.append((abs(law.coef[1] / law.coef[0]) - 1) / law.coef_std.max())
    assert len(pulls) >= 8
    assert 0.6 < np.sqrt(np.mean(np.square(pulls))) < 1.6


def test_rows_that_a_law_does_not_solve_count_least():
    X = decades(50, 4, 1)
    y = X[:, 0] * (1 + 0.1 * np.random.default_rng(4).normal(size=50))
    predicted = X[:, 0].copy()
    predicted[:3] = np.nan
    precision = with_equal_noise(table_of(X, y), predicted).precision
    assert (precision[:3] == precision[3:].min()).all()


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_a_true_law_holds_at_the_ends_and_an_approximation_does_not(noise):
    forms = {
        "law": [monomial((1, -1))],
        "plane": [monomial(powers) for powers in ((0, 0), (1, 0), (0, 1))],
    }
    failures = dict.fromkeys(forms, 0)
    for seed in range(40):
        random = np.random.default_rng(seed)
        x, z = random.uniform(0.5, 3, (2, 60))
        table = table_of(np.column_stack([x, z]), 2 * x / z + noise * random.normal(size=60))
        state = ReductionState(np.zeros(2), np.eye(2), table.positive)
        logarithms = Logarithms(table.columns, table.positive)
        reduced = Reduced.of(table, with_surrogate(state, logarithms, table.y, table.weight))
        for form, terms in forms.items():
            rows = regression(reduced, IDENTITY)
            fit = refit_link(reduced, IDENTITY, terms, rows, set())[0]
            failures[form] += fails_at_ends(fit, reduced)
    assert failures["law"] <= 1
    assert failures["plane"] >= 30


def test_many_rows_of_which_few_decide_are_asked_at_the_ends_whatever_their_noise():
    # c/m with relative noise, and c*m^-.9, which follows the few rows that are far larger.
    failures = []
    for exponent in (-1.0, -0.9):
        random = np.random.default_rng(0)
        m = 10 ** random.uniform(-2, 2, 2000)
        table = table_of(m[:, None], m**-1 * (1 + 0.01 * random.normal(size=2000)))
        assert table.few_rows_decide and not table.has_few_rows
        state = ReductionState(np.zeros(1), np.eye(1), table.positive)
        logarithms = Logarithms(table.columns, table.positive)
        reduced = Reduced.of(table, with_surrogate(state, logarithms, table.y, table.weight))
        rows = regression(reduced, IDENTITY)
        fit = refit_link(reduced, IDENTITY, [monomial((exponent,))], rows, set())[0]
        failures.append(fails_at_ends(fit, reduced))
    assert failures == [False, True]


def test_lines_of_hydrogen():
    # Of three values, 1/m^2 is a sum of 1, m and m^2.
    random = np.random.default_rng(0)
    m, n = random.integers(1, 4, 50), random.integers(4, 21, 50)
    y = 1.097e7 * (1 / m**2 - 1 / n**2) + 1e3 * random.normal(size=50)
    law = LawFinder().fit(np.column_stack([m, n]), y).laws_[0]
    assert set(law.terms) == {"y", "1/x0^2", "1/x1^2"}


def test_terms_that_rows_are_too_few_for_are_not_left_out_of_a_law():
    # On 30 rows a*b + 5.3*a^2 explains most of it, and c only with a third coefficient.
    wrong = 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        a, b = random.uniform(1, 3, 230), random.normal(0, 6, 230)
        c = 10 ** random.uniform(-0.3, 0.7, 230)
        X, truth = np.column_stack([a, b, c]), 4.9 * a**2 + a * b + c
        y = truth + 0.01 * np.sqrt(np.mean(truth**2)) * random.normal(size=230)
        for law in LawFinder().fit(X[:30], y[:30]).laws_:
            error = law.predict(X[30:]) - truth[30:]
            wrong += np.sqrt(np.mean(error**2)) > 0.03 * np.std(truth)
    assert not wrong


def test_large_powers_of_columns_far_from_zero_are_not_simple():
    # (x/1000)^141.5 is nearly a line over this range, and overflows elsewhere.
    random = np.random.default_rng(0)
    noise = 1 + 0.01 * random.normal(size=100)
    far, wide = 1000 + random.normal(size=(100, 1)), 1000 * decades(100, 0, 1)
    for x, power, is_simple in ((far, 141.5, False), (wide, 3.0, True)):
        rows = LogRows(table_of(x, (x[:, 0] / 1000) ** power * noise)).regression
        assert bool(list(simple_exponents(rows, np.ones(100)))) == is_simple


def test_what_a_series_misses_is_no_noise_that_grows():
    # At the ends of v/c it fails, by more where the target is large.
    random = np.random.default_rng(2)
    m, v = 10 ** random.uniform(-2, 2, 100), random.uniform(-0.95, 0.95, 100)
    c = random.uniform(1, 3, 100)
    y = m * v / np.sqrt(1 - v**2 / c**2)
    y += 0.01 * np.sqrt(np.mean(y**2)) * random.normal(size=100)
    laws = LawFinder().fit(np.column_stack([m, v, c]), y).laws_
    assert all("sqrt" in str(law) for law in laws)
