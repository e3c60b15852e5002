"""Standard errors of fitted constants: few rows, unequal noise, weights of any size."""

import numpy as np
import pandas as pd
import pytest

from vanishing import LawFinder, check_law
from vanishing.algebra.equations import read_equation
from vanishing.fitting.unequal_noise import variance_of_noise
from vanishing.laws.constants import fit_constants
from vanishing.laws.given_problem import Problem

LAWS = {
    "y = k*a/b": ([2.5], lambda a, b, k: k * a / b),
    "y = k*a + c": ([2.0, 3.0], lambda a, b, k, c: k * a + c),
    "y = k*a*b^2 + g*a": ([0.5, 9.81], lambda a, b, k, g: k * a * b**2 + g * a),
    "y = v*a/(K + a)": ([3.0, 0.7], lambda a, b, v, K: v * a / (K + a)),
}


def pulls(equation, decades, relative, n_tables, n_rows=30):
    """Fitted constants less the true ones, in standard errors."""
    constants, law = LAWS[equation]
    read = read_equation(equation, ["a", "b", "y"])
    z = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        a, b = 10 ** rng.uniform(-decades / 2, decades / 2, (2, n_rows))
        y = law(a, b, *constants)
        y = y + 0.1 * (y if relative else y.std()) * rng.normal(size=n_rows)
        with np.errstate(all="ignore"):
            fit = fit_constants(Problem(read, np.array([a, b, y]), np.ones(n_rows), 2))
        z.append((fit.values - constants) / np.sqrt(np.diag(fit.covariance)))
    return np.array(z)


@pytest.mark.parametrize("equation", LAWS)
@pytest.mark.parametrize("relative", [False, True])
def test_two_standard_errors_hold_on_thirty_rows(equation, relative):
    z = pulls(equation, 2, relative, n_tables=40)
    # 40 tables tell the share of those within two standard errors, 95 %, to 3.5 points.
    assert (np.mean(np.abs(z) <= 2, axis=0) > 0.84).all()
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.3


def test_rows_that_relative_noise_spares_are_as_sure_as_they_are():
    """Rows where the target is near zero count no more than a bound, and were taken for noisier."""
    x = np.linspace(0, 10, 3000)
    truth = 1 - 2 * x + 0.5 * x**2
    y = truth * (1 + 0.1 * np.random.default_rng(0).normal(size=3000))
    read = read_equation("y = a + b*x + c*x^2", ["x", "y"])
    fit = fit_constants(Problem(read, np.array([x, y]), np.ones(3000), 1))
    slopes = np.vstack([np.ones(3000), x, x**2])
    inverse = np.linalg.inv(slopes * fit.weight @ slopes.T)
    spread = slopes * (fit.weight * 0.1 * truth) ** 2 @ slopes.T
    exact = np.sqrt(np.diag(inverse @ spread @ inverse))
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), exact, rtol=0.05)


def test_the_share_of_a_variance_that_is_noise():
    rng = np.random.default_rng(0)
    predicted = np.append(rng.uniform(-1, 1, 500), [0.0, 1.0])
    noise = 0.1 * rng.normal(size=502)
    relative = variance_of_noise(noise * predicted, predicted)
    assert relative.is_bounded
    np.testing.assert_allclose(relative.share(predicted)[-2:], [0.0, 1.0], atol=1e-3)
    mixed = variance_of_noise(noise * np.hypot(predicted, 0.3), predicted)
    assert mixed.power and not mixed.is_bounded and (mixed.share(predicted) == 1).all()


def relative_table(n=300, noise=0.05):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(10 ** rng.uniform(-1, 1, (n, 2)), columns=["a", "b"])
    y = 2 * X["a"] / X["b"]
    return X, y.rename("y"), (y * (1 + noise * rng.normal(size=n))).rename("y")


def test_weights_may_be_of_any_size():
    X, exact, y = relative_table()
    weight = 1 / exact**2  # over eight decades
    law = check_law("y = k*a/b", X, y, sample_weight=weight)
    value, std = law.constants["k"]
    assert abs(value - 2) < 3 * std
    assert 0.8 < std / (2 * 0.05 / np.sqrt(300)) < 1.25
    assert law.verdict.startswith("holds"), law.verdict
    for factor in (2.0**-40, 2.0**40):
        other = check_law("y = k*a/b", X, y, sample_weight=factor * weight)
        np.testing.assert_allclose(other.constants["k"], law.constants["k"], rtol=1e-9)
        assert other.verdict == law.verdict


def test_rows_of_small_weight_are_no_observations():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (1000, 2))
    y = 2 * X[:, 0] / X[:, 1] + 0.1 * rng.normal(size=1000)
    first = check_law("y = k*x0/x1", X[:50], y[:50])
    weight = np.where(np.arange(1000) < 50, 1.0, 1e-12)
    law = check_law("y = k*x0/x1", X, y, sample_weight=weight)
    assert law.verdict.startswith("holds"), law.verdict
    np.testing.assert_allclose(law.constants["k"][0], first.constants["k"][0], rtol=1e-6)
    assert 0.8 < law.constants["k"][1] / first.constants["k"][1] < 1.25


def test_a_law_that_a_search_finds_holds():
    """Both ask for half of the variance: 40 % are left here."""
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 3, (1000, 2))
    y = X[:, 0] * X[:, 1]
    y = y + np.sqrt(0.4 / 0.6) * y.std() * rng.normal(size=1000)
    finder = LawFinder().fit(X, y)
    assert finder.laws_, finder.verdict_
    assert check_law("y = k*x0*x1", X, y).verdict.startswith("holds")
    noisier = y + 0.8 * y.std() * rng.normal(size=1000)
    verdict = check_law("y = k*x0*x1", X, noisier).verdict
    assert verdict.startswith("does not hold: rms error") and "half of the variance" in verdict
