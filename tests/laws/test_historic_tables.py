"""Tables as those that laws were first found in: a few rows, mostly of one column."""

import numpy as np
import pytest
from scipy import special

from vanishing import LawFinder


def relative(y, share, random):
    return y * (1.0 + share * random.normal(size=len(y)))


def log_uniform(low, high, n_rows, random):
    return np.exp(random.uniform(*np.log([low, high]), n_rows))


def kepler(random):
    a = log_uniform(50, 1500, 6, random)
    return a[:, None], relative(0.2 * a**1.5, 0.002, random)


def hubble(random):
    x = log_uniform(0.03, 2, 32, random)
    y = 500 * x
    return x[:, None], y + 0.25 * np.sqrt(np.mean(y**2)) * random.normal(size=32)


def tully_fisher(random):
    v = log_uniform(100, 600, 18, random)
    return v[:, None], relative(0.003 * v**2.5, 0.07, random)


def leavitt(random):
    period = log_uniform(1.2, 130, 26, random)
    return period[:, None], 15.5 - 2 * np.log10(period) + 0.25 * random.normal(size=26)


def schechter(random):
    x = log_uniform(0.02, 4, 27, random)
    return x[:, None], relative(0.02 * x**-0.7 * np.exp(-0.8 * x), 0.05, random)


def bode(random):
    n = np.arange(8.0)
    return n[:, None], relative(0.4 + 0.3 * 2**n, 0.02, random)


def rydberg(random):
    m, n = random.integers(1, 4, 50), random.integers(4, 21, 50)
    X = np.column_stack([m, n]).astype(float)
    return X, relative(1.097e7 * (X[:, 0] ** -2.0 - X[:, 1] ** -2.0), 1e-4, random)


def logarithm_of(make):
    def table(random):
        X, y = make(random)
        return X, np.log(y)

    return table


def newton(random):
    m1, m2 = log_uniform(1, 1e4, (2, 30), random)
    r = log_uniform(0.1, 10, 30, random)
    return np.column_stack([m1, m2, r]), relative(6.674e-11 * m1 * m2 / r**2, 0.01, random)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (kepler, "*x0^(3/2)"),
        (hubble, ")*x0"),
        (tully_fisher, "*x0^(5/2)"),
        (leavitt, "*log(x0)"),
        (schechter, "*x0)/x0^0."),
        (bode, "*2^x0"),
        (rydberg, "/x0^2 - 1.0"),
        (logarithm_of(kepler), "1.50"),
        (logarithm_of(newton), "*log(x"),
        (logarithm_of(schechter), "*log(x0)"),
    ],
)
def test_laws_of_a_few_rows_are_found(make, said):
    found, off = 0, 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        X, y = make(random)
        for law in LawFinder().fit(X, y).laws_:
            found += said in str(law)
            off += said not in str(law) and "approximation" not in law.verdict
    assert found >= 2 and not off


@pytest.mark.parametrize(
    ("function", "ends", "n_rows"),
    [
        (lambda x: np.exp(-(x**2) / 2), (1, 3), 6),  # was called Planck's law
        (special.j0, (0, 10), 18),  # a damped oscillation
        (special.gamma, (1, 4), 18),  # exponential growth above a level
    ],
)
def test_a_few_rows_of_other_functions_are_no_law(function, ends, n_rows):
    for seed in range(3):
        random = np.random.default_rng(seed)
        x = random.uniform(*ends, n_rows)
        laws = LawFinder().fit(x[:, None], function(x)).laws_
        fresh = random.uniform(*ends, 500)
        for law in laws:
            left = law.predict(fresh[:, None]) - function(fresh)
            assert np.sqrt(np.mean(left**2)) < 0.02 * np.std(function(fresh)), law


def test_a_column_that_matters_is_not_left_out_of_a_product():
    # Of a^2/b with b from 1 to 3, a^2 explains all but a tenth on eight rows.
    for seed in range(6):
        random = np.random.default_rng(seed)
        a, b = log_uniform(0.05, 55, 8, random), random.uniform(1, 3, 8)
        y = relative(0.7 * a**2 / b, 0.1, random)
        for law in LawFinder().fit(np.column_stack([a, b]), y).laws_:
            assert "x1" in str(law)
