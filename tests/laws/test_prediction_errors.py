"""Standard deviations of predictions: errors of the constants, and noise."""

import numpy as np
import pandas as pd
import pytest

from vanishing import Blocks, Law, LawFinder, check_law, load
from vanishing.algebra.terms import monomial


def line(seed=0, n=40, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 5, n)
    return x[:, None], 2 * x + 1 + rng.normal(scale=noise, size=n)


def test_a_straight_line_has_the_errors_of_the_textbook():
    # Fewer than 30 rows: errors of constants then assume equal noise.
    X, y = line(n=20)
    law = check_law("y = a*x0 + b", X, y)
    x = np.array([0.0, 2.5, 9.0])
    design = np.column_stack([X[:, 0], np.ones(20)])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    s2 = residual @ residual / 18
    rows = np.column_stack([x, np.ones(3)])
    spread = np.sum(rows @ np.linalg.inv(design.T @ design) * rows, axis=1)
    _, std = law.predict(x[:, None], return_std=True)
    np.testing.assert_allclose(std, np.sqrt(s2 * (1 + spread)), rtol=1e-5)


def hill(rng, n):
    x = np.exp(rng.uniform(np.log(0.05), np.log(100), n))
    return x[:, None], 5 + 95 / (1 + (3 / x) ** 1.3) + rng.normal(scale=3, size=n)


def implicit(rng, n):
    X = rng.uniform(1, 5, (n, 2))
    y = (-X[:, 0] + np.sqrt(X[:, 0] ** 2 + 4 * X[:, 1])) / 2
    return X, y + rng.normal(scale=0.01, size=n)


def relative(rng, n):
    X = rng.uniform(1, 5, (n, 2))
    return X, 2.5 * X[:, 0] ** 2 / X[:, 1] * (1 + 0.05 * rng.normal(size=n))


@pytest.mark.parametrize(
    ("equation", "make", "n"),
    [
        ("y = b + (t - b)/(1 + (E/x0)**h)", hill, 40),
        ("y^2 + a*x0*y = b*x1", implicit, 60),
        ("y = a*x0^b/x1^c", relative, 60),
    ],
)
def test_two_standard_deviations_hold_nineteen_rows_of_twenty(equation, make, n):
    inside = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        law = check_law(equation, *make(rng, n))
        X, y = make(rng, 500)
        predicted, std = law.predict(X, return_std=True)
        inside.append(np.mean(np.abs(y - predicted) < 2 * std))
    assert 0.91 < np.mean(inside) < 0.985


def test_noise_that_grows_with_the_target_makes_errors_that_do():
    X, y = relative(np.random.default_rng(1), 200)
    found = LawFinder(functions=()).fit(X, y).laws_[0]
    for law in (check_law("y = a*x0^2/x1", X, y), found):
        predicted, std = law.predict([[1.0, 4.0], [4.0, 1.0]], return_std=True)
        np.testing.assert_allclose(std / predicted, 0.05, rtol=0.3)


def test_a_finder_and_its_law_say_the_same_wherever_rows_are(tmp_path):
    X, y = line(n=200)
    finder = LawFinder().fit(X, y)
    predicted, std = finder.predict(X, return_std=True)
    for one, other in zip(finder.laws_[0].predict(X, True), (predicted, std), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(std, 0.5, rtol=0.2)
    blocks = finder.predict(Blocks([X[:50], X[50:]]), return_std=True)
    np.testing.assert_allclose(np.concatenate(list(blocks[1])), std)
    finder.save(tmp_path / "finder.json")
    loaded = load(tmp_path / "finder.json", LawFinder)
    np.testing.assert_array_equal(loaded.predict(X, return_std=True)[1], std)


def test_errors_of_a_law_that_is_solved_for_another_column():
    X, y = line(n=100, noise=0.1)
    law = check_law("y = a*x0 + b", X, y).solve("x0")
    _, std = law.predict(pd.DataFrame({"y": [5.0]}), return_std=True)
    np.testing.assert_allclose(std, 0.05, rtol=0.3)


def test_errors_are_unknown_where_those_of_coefficients_are():
    law = Law([monomial([0, 1]), monomial([1, 0])], [1, -2], names="xy", target="y")
    predicted, std = law.predict([[3.0]], return_std=True)
    assert predicted == [6.0] and np.isnan(std).all()


def test_no_law_has_no_errors():
    X = np.random.default_rng(0).normal(size=(100, 2))
    finder = LawFinder().fit(X, np.random.default_rng(1).normal(size=100))
    with pytest.warns(UserWarning, match="no law was found"):
        predicted, std = finder.predict(X[:3], return_std=True)
    np.testing.assert_array_equal(predicted, finder.mean_)
    assert np.isnan(std).all()


def test_a_saved_law_with_a_curve_predicts_the_same(tmp_path):
    X, y = hill(np.random.default_rng(2), 40)
    law = check_law("y = b + (t - b)/(1 + (E/x0)**h)", X, y)
    law.save(tmp_path / "law.json")
    loaded = load(tmp_path / "law.json", Law)
    for one, other in zip(loaded.predict(X, True), law.predict(X, True), strict=True):
        np.testing.assert_array_equal(one, other)
