"""More columns than a search takes: sums of them all, and columns that are left out."""

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import vanishing.laws.finder as finder_module
from vanishing import ConservedQuantities, LawFinder, check_law
from vanishing.fitting.asked_functions import carries_more
from vanishing.fitting.lack_of_fit import LackOfFit, lack_of_products, standardised
from vanishing.laws.table import prepared, screened


def _sum_table(seed, n_rows, n_columns, n_used, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    coef = np.zeros(n_columns)
    used = np.sort(rng.permutation(n_columns)[:n_used])
    coef[used] = rng.uniform(0.5, 2.0, n_used) * rng.choice([-1.0, 1.0], n_used)
    y = X @ coef
    return X, y + noise * np.std(y) * rng.normal(size=n_rows), coef


def _coefficients(law, n_columns) -> np.ndarray:
    """Return the number before each column, of a law that is a sum."""
    return law.predict(np.eye(n_columns)) - law.predict(np.zeros((1, n_columns)))


def test_the_sum_of_ten_columns_has_ten_terms():
    X = np.random.default_rng(0).normal(size=(1000, 10))
    (law,) = LawFinder().fit(X, X.sum(axis=1)).laws_
    assert law.n_terms == 11 and law.verdict == "It holds up to rounding."
    np.testing.assert_allclose(_coefficients(law, 10), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_used", "noise"),
    [
        (30, 20, 3, 0.0),
        (30, 20, 3, 0.1),
        (60, 50, 50, 0.0),
        (300, 20, 20, 0.1),
        (300, 50, 12, 0.1),
        (100, 200, 5, 0.01),
        (2000, 200, 200, 0.01),
    ],
)
def test_sums_have_the_columns_that_matter(n_rows, n_columns, n_used, noise):
    X, y, coef = _sum_table(1, n_rows, n_columns, n_used, noise)
    finder = LawFinder().fit(X, y)
    (law,) = finder.laws_
    got = _coefficients(law, n_columns)
    np.testing.assert_array_equal(np.abs(got) > 1e-9, coef != 0.0)
    if noise:
        scale = np.std(X @ coef) * noise / np.sqrt(n_rows)
        assert np.abs(got - coef).max() < 6 * scale
    else:
        np.testing.assert_allclose(got, coef, atol=1e-11)
    assert ("left out of the search" in finder.verdict_) == (n_used < n_columns)


def test_standard_errors_of_sums():
    pulls = []
    for seed in range(20):
        X, y, coef = _sum_table(seed, 300, 12, 12, 0.05)
        (law,) = LawFinder().fit(X, y).laws_
        pulls.append((-law.coef[1:13] - coef) / law.coef_std[1:13])
    assert 0.8 < np.sqrt(np.mean(np.square(pulls))) < 1.2


@pytest.mark.parametrize("kind", ["tanh", "left out", "sines", "noise"])
def test_what_is_no_sum_is_not_called_one(kind):
    X, y, _ = _sum_table(0, 300, 15, 15, 0.0)
    rng = np.random.default_rng(0)
    other = {
        "tanh": np.tanh(y / np.std(y)),
        "left out": y + rng.standard_cauchy(300),
        "sines": np.sin(X) @ rng.uniform(0.5, 2.0, 15),
        "noise": rng.normal(size=300),
    }[kind]
    assert LawFinder(functions=(), max_time=20).fit(X, other).laws_ == []


def test_sums_far_from_the_origin_in_any_order_and_weights():
    X, y, _ = _sum_table(2, 400, 15, 15, 0.05)
    (law,) = LawFinder().fit(X + 1e4, y).laws_
    (near,) = LawFinder().fit(X, y).laws_
    np.testing.assert_allclose(_coefficients(law, 15), _coefficients(near, 15), atol=1e-3)
    order = np.random.default_rng(0).permutation(400)
    (again,) = LawFinder().fit(X[order], y[order], sample_weight=np.full(400, 2.0)).laws_
    np.testing.assert_allclose(again.coef, near.coef, rtol=1e-9)


def test_wrong_rows_of_a_sum_are_left_out():
    X, y, coef = _sum_table(3, 400, 12, 12, 0.01)
    y[:20] += 50.0
    finder = LawFinder(robust=True).fit(X, y)
    np.testing.assert_allclose(_coefficients(finder.laws_[0], 12), coef, atol=0.02)
    assert "Left out as wrong were 20 rows" in finder.verdict_


def test_columns_left_out_of_a_search_are_tested():
    rng = np.random.default_rng(0)
    columns, noise = rng.normal(size=(8, 300)), rng.normal(size=300)
    test = LackOfFit(columns[:2], None, columns[2:])
    assert not test(noise).is_large
    for part in (columns[5], columns[5] ** 2 - 1, columns[0] * columns[5]):
        assert test(noise + part).is_large
        assert not LackOfFit(columns[:2])(noise + part).is_large


def test_columns_that_were_screened_explain_residuals_by_chance():
    # The six that play no part are those of 497 that explain most of this noise.
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (400, 500))
    law = LawFinder().fit(X, X[:, 0] * X[:, 1] / X[:, 2] + 0.01 * rng.normal(size=400)).laws_[0]
    assert str(law).endswith("x0*x1/x2")


def test_products_that_explain_residuals_by_chance_are_rare():
    rng = np.random.default_rng(0)
    weight = np.ones(200)
    large = 0
    for _ in range(200):
        columns = standardised(rng.normal(size=(20, 200)), weight)
        # Noise that differs from row to row is no lack of fit.
        noise = rng.normal(size=200) * (1.0 + np.abs(columns[0]))
        large += lack_of_products(columns, columns, noise, weight).is_large
    assert large <= 1


@pytest.mark.parametrize("n_columns", [12, 60, 300])
def test_screening_keeps_the_columns_of_laws(n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.uniform(0.5, 3.0, (500, n_columns)) * rng.choice([-1.0, 1.0], (500, n_columns))
    targets = [
        X[:, 3] * X[:, 7] * X[:, 9],
        X[:, 3] ** 2 + X[:, 7] * X[:, 9],
        X[:, 3] + X[:, 7] ** 2 / X[:, 9],
    ]
    # Among so many columns, one that matters in a quotient alone may be missed.
    for y in targets[: 3 if n_columns < 100 else 2]:
        table = prepared(np.vstack([X.T, y]), n_columns, np.ones(500))
        assert {3, 7, 9} <= set(table.columns.tolist())


def test_columns_and_their_absolute_values_are_not_the_same():
    x = np.random.default_rng(0).normal(size=(300, 1))
    X = np.column_stack([x, np.abs(x), -2 * x])
    table = prepared(np.vstack([X.T, x[:, 0] + 3 * np.abs(x[:, 0])]), 3, np.ones(300))
    assert table.columns.tolist() == [0, 1]


def test_many_columns_are_screened():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 500)), rng.normal(size=1000)
    start = time.process_time()
    assert len(screened(prepared(np.vstack([X.T, y]), 500, np.ones(1000)).table)) == 9
    assert time.process_time() - start < 100  # pairs of pairs of columns would take hours


@pytest.mark.parametrize("has_target", [True, False])
def test_a_search_of_many_columns_ends_where_its_time_does(has_target, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 500)), rng.normal(size=1000)
    looks = []

    def clock():  # a second passes between two looks
        looks.append(None)
        return float(len(looks))

    monkeypatch.setattr(finder_module, "time", SimpleNamespace(monotonic=clock))
    for max_time in (1, 3, 20):
        looks.clear()
        finder = LawFinder(max_time=max_time).fit(X, y if has_target else None)
        assert finder.laws_ == [] and "raise max_time" in finder.verdict_
        # It stops at once; without a target each of the searches that it still has does.
        assert len(looks) <= max_time + (5 if has_target else 50)


def test_a_law_among_many_columns_without_a_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50))
    X[:, 17] = X[:, 3] * X[:, 5]
    finder = LawFinder(functions=()).fit(X)
    (law,) = finder.laws_
    assert {name for name in law.names if name in str(law)} >= {"x17", "x3", "x5"}
    assert "were not tried as the target" in finder.verdict_


def test_functions_that_are_their_arguments():
    rng = np.random.default_rng(0)
    small, large = 1e-24 * rng.uniform(1, 2, 100), rng.uniform(1, 2, 100)
    for function in (np.sin, np.cos, np.exp, np.tanh, np.log1p):
        assert not carries_more(function(small), small)
        assert carries_more(function(large), large)
    X = 1e-24 * rng.uniform(1, 3, (300, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finder = LawFinder(functions=("sin", "cos")).fit(X, 3 * X[:, 0] - 2 * X[:, 1])
    assert str(finder.laws_[0]) == "y = 3*x0 - 2*x1"
    angle = np.tile(np.linspace(0, 6, 50), 4)
    runs = np.repeat([1.0, 2.0, 3.0, 4.0], 50)
    tiny = 1e-20 * np.column_stack([runs * np.cos(angle), runs * np.sin(angle)])
    quantities = ConservedQuantities(max_degree=2, functions=("sin",))
    found = quantities.fit(tiny, groups=np.repeat(range(4), 50)).quantities_
    assert found and "sin" not in str(found[0])


def test_advice_on_sizes():
    X = np.random.default_rng(0).uniform(1, 2, (50, 2))
    with pytest.raises(ValueError, match=r"'y' is .*400 decades: take its logarithm"):
        LawFinder().fit(X, np.logspace(-200, 200, 50))
    with pytest.raises(ValueError, match=r"'x1' is 2e\+120\. Change its unit"):
        LawFinder().fit(X * [1.0, 1e120], X[:, 0])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_warning_of_numbers_reaches_a_user(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([5, 20, 60]))
    base = rng.normal(size=(n_rows, 4))
    sizes = 10.0 ** rng.integers(-95, 95, 4)
    odd = [10.0 ** rng.uniform(-90, 90, n_rows), np.where(np.arange(n_rows), base[:, 0], 1e60)]
    X = np.column_stack([base * sizes, odd[seed % 2], rng.integers(0, 2, n_rows)])
    weight = 10.0 ** rng.uniform(-30, 30, n_rows) if seed % 3 == 0 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        LawFinder(max_time=2).fit(X[:, :-1], X[:, 0] * 2.0, sample_weight=weight)
        LawFinder(max_time=2).fit(X, odd[1 - seed % 2])
        LawFinder(max_time=2).fit(X)
        check_law("y = a*x0 + b", X, odd[seed % 2])


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_long_sum_with_a_product_and_a_square(noise):
    X, y, coef = _sum_table(3, 300, 30, 18, 0.0)
    y = y + 2.0 * X[:, 1] * X[:, 4] - X[:, 6] ** 2
    y = y + noise * np.std(y) * np.random.default_rng(4).normal(size=300)
    law = LawFinder().fit(X, y).laws_[0]
    assert {"x1*x4", "x6^2"} <= set(law.terms)
    assert law.n_terms == 1 + np.count_nonzero(coef) + 2
    fresh = np.random.default_rng(5).normal(size=(200, 30))
    truth = fresh @ coef + 2.0 * fresh[:, 1] * fresh[:, 4] - fresh[:, 6] ** 2
    assert np.std(law.predict(fresh) - truth) < 1e-9 + noise * np.std(truth)


def test_a_long_sum_with_a_function_of_a_column_in_other_units():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (300, 15))
    y = X @ np.arange(1.0, 16.0) + 5.0 * np.sin(X[:, 2])
    assert "sin(x2)" in LawFinder().fit(X, y).laws_[0].terms
    assert prepared(np.vstack([X.T, y]), 15, np.ones(300), functions=False).sum is None


def test_no_sum_where_the_shape_of_a_term_does_not_show():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (300, 15))
    y = X @ rng.uniform(-4, 4, 15) + 3 * np.exp(-X[:, 2])
    y = y + 0.05 * np.std(y) * rng.normal(size=300)
    rows = prepared(np.vstack([X.T, y]), 15, np.ones(300))
    assert rows.sum is None or not any(term.factors for term in rows.sum.best.fitted.terms)
