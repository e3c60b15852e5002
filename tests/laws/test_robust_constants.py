"""Constants where some rows are wrong, or where a fit could end in the wrong place."""

import numpy as np
import pandas as pd
import pytest

from vanishing import check_law


def with_wrong_rows(y, share, rng):
    """The target with a share of its rows far from what they were, and which these are."""
    wrong = rng.permutation(len(y)) < share * len(y)
    sizes = rng.choice([-1, 1], len(y)) * rng.uniform(3, 30, len(y)) * y.std()
    return np.where(wrong, y + sizes, y), wrong


def ratio(rng, n):
    X = pd.DataFrame(10 ** rng.uniform(-1, 1, (n, 2)), columns=["a", "b"])
    return "y = k*a/b", {"k": 2.0}, X, (2 * X["a"] / X["b"]).to_numpy()


def decay(rng, n):
    X = pd.DataFrame({"t": rng.uniform(0, 5, n)})
    y = 3 * np.exp(-1.2 * X["t"].to_numpy()) + 0.5
    return "y = A*exp(-k*t) + c", {"A": 3.0, "k": 1.2, "c": 0.5}, X, y


@pytest.mark.parametrize("table", [ratio, decay])
@pytest.mark.parametrize("noise", [0.02, 0.0])
@pytest.mark.parametrize("n, share", [(300, 0.1), (40, 0.05)])
def test_wrong_rows_are_left_out_and_counted(table, noise, n, share):
    rng = np.random.default_rng(0)
    equation, constants, X, y = table(rng, n)
    y, wrong = with_wrong_rows(y + noise * y.std() * rng.normal(size=n), share, rng)
    law = check_law(equation, X, y, robust=True)
    assert f"{wrong.sum()} of {n} rows are left out as wrong" in law.verdict
    assert law.verdict.startswith("holds"), law.verdict
    assert law.n_samples == n - wrong.sum()
    good = check_law(equation, X[~wrong], y[~wrong])
    for name, value in constants.items():
        assert abs(law.constants[name][0] - value) <= max(3.5 * law.constants[name][1], 1e-9)
        np.testing.assert_allclose(law.constants[name], good.constants[name], rtol=1e-4, atol=1e-9)
    plain = check_law(equation, X, y)
    assert "left out" not in plain.verdict
    assert plain.error > 5 * law.error


def test_rows_of_large_noise_are_not_wrong():
    rng = np.random.default_rng(0)
    equation, _, X, y = ratio(rng, 300)
    y = y * (1 + 0.05 * rng.normal(size=300))
    law = check_law(equation, X, y, robust=True)
    assert "left out" not in law.verdict and "the noise grows with the target" in law.verdict


def test_without_target():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 500)
    X = 2 * np.c_[np.cos(angle), np.sin(angle)] + 0.01 * rng.normal(size=(500, 2))
    X[:25] = rng.uniform(3, 5, (25, 2))
    law = check_law("x0^2 + x1^2 = r^2", X, robust=True)
    assert "; 25 of 500 rows are left out as wrong" in law.verdict
    assert abs(law.constants["r"][0] - 2) < 3.5 * law.constants["r"][1]


def test_an_equation_that_most_rows_break_does_not_hold():
    X = np.random.default_rng(0).uniform(1, 2, (100, 2))
    law = check_law("y = k*x0", X, X[:, 1] ** 3, robust=True)
    assert law.verdict.startswith("does not hold")
    with pytest.raises(TypeError, match="robust must be True or False"):
        check_law("y = k*x0", X, X[:, 1], robust="yes")


# -- Local minima ---------------------------------------------------------------------------------

H, C, K = 6.626e-34, 2.998e8, 1.381e-23


def planck(rng, n):
    L, T = C / 10 ** rng.uniform(9, 16, n), rng.uniform(100, 10_000, n)
    with np.errstate(over="ignore"):
        y = 2 * H * 8.988e16 / L**5 / np.expm1(H * C / (L * K * T))
    equation = "y = 2*h*8.988e16/L^5/(exp(h*2.998e8/(L*k*T)) - 1)"
    return equation, {"h": H, "k": K}, {"L": L, "T": T}, y


def peak(rng, n):
    x = 165 + 0.3 * rng.uniform(-7, 7, n)
    y = 66 * np.exp(-((x - 165) ** 2) / (2 * 0.3**2)) + 37
    constants = {"a": 66, "m": 165, "s": 0.3, "b": 37}
    return "y = a*exp(-(x - m)^2/(2*s^2)) + b", constants, {"x": x}, y


def antoine(rng, n):
    T = rng.uniform(280, 400, n)
    y = np.exp(20.6 - 3175 / (T - 24))
    return "y = exp(A - B/(C + T))", {"A": 20.6, "B": 3175, "C": -24}, {"T": T}, y


@pytest.mark.parametrize("table", [planck, peak, antoine])
@pytest.mark.parametrize("n", [30, 1000])
def test_the_best_constants_are_found(table, n):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        equation, _, X, exact = table(rng, n)
        y = exact + 0.01 * exact.std() * rng.normal(size=n)
        law = check_law(equation, pd.DataFrame(X), y)
        # Fitted constants leave less than the true ones, by a few of the rows' noise.
        true_error = np.sqrt(np.mean((y - exact) ** 2))
        assert 0.7 < law.error / true_error < 1.01, (seed, law.verdict)
