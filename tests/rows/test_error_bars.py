"""Standard errors of coefficients: their coverage, the classical formulas, how they are written."""

import os
import pickle
import warnings

import numpy as np
import pytest
from helpers import as_tuples, half_circle

from vanishing import OAVI, Moments, error_bars
from vanishing.algebra.writing import with_error
from vanishing.polynomials import Polynomial

FULL = os.environ.get("VANISHING_FULL") == "1"


def ellipse(seed, noise, m=500):
    """Rows of an ellipse of random size, place and direction, and its six coefficients."""
    rng = np.random.default_rng(seed)
    angle, turn = rng.uniform(0, 2 * np.pi, m), rng.uniform(0, np.pi)
    axes, centre = rng.uniform(0.5, 1.5, 2), rng.uniform(-0.3, 0.3, 2)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    X = (np.column_stack([np.cos(angle), np.sin(angle)]) * axes) @ rotation + centre
    Q = rotation.T @ np.diag(axes**-2.0) @ rotation
    b = -2 * Q @ centre
    truth = np.array([centre @ Q @ centre - 1, *b, Q[0, 0], 2 * Q[0, 1], Q[1, 1]])
    return X + noise * rng.normal(size=X.shape), truth / truth[-1]


def fitted(X, noise=None, max_degree=2):
    moments = Moments(2, max_degree).update(X)
    noise = moments.estimate_noise() if noise is None else noise
    model = OAVI(1e-5, oracle="ls", max_degree=2).fit_moments(moments.debiased(noise))
    (conic,) = model.generators_
    assert as_tuples(conic.terms) == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    return conic, noise


def test_coverage():
    """True coefficients lie within two standard errors about 95 times of 100."""
    scores = []
    for seed in range(2000 if FULL else 150):
        X, truth = ellipse(seed, 0.02)
        conic, noise = fitted(X)
        with_errors = error_bars(conic, X, noise=noise)
        assert with_errors.coef_std[-1] == 0.0
        scores.append((with_errors.coef - truth)[:-1] / with_errors.coef_std[:-1])
    within = (np.abs(scores) < 2).mean()
    slack = 0.0 if FULL else 0.01  # of 750 coefficients
    assert 0.93 - slack <= within <= 0.97 + slack
    assert np.abs(np.mean(scores, axis=0)).max() < (0.1 if FULL else 0.3)
    assert np.std(scores) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("noise", [None, 0.05, [0.05, 0.02]])
def test_moments_give_what_rows_give(noise):
    X, _ = ellipse(0, 0.05)
    conic, _ = fitted(X)
    by_rows = error_bars(conic, X, noise=noise)
    by_moments = error_bars(conic, Moments(2, 4).update(X), noise=noise)
    more = error_bars(conic, Moments(2, 5).update(X), noise=noise)
    np.testing.assert_allclose(by_moments.coef_std, by_rows.coef_std, rtol=1e-9)
    np.testing.assert_allclose(more.coef_std, by_rows.coef_std, rtol=1e-9)
    assert (by_rows.coef_std[:-1] > 0).all()
    # Of the polynomial nothing else changes, and the one handed in has none.
    np.testing.assert_array_equal(by_rows.coef, conic.coef)
    np.testing.assert_array_equal(by_rows.terms, conic.terms)
    assert by_rows.mse == conic.mse
    assert conic.coef_std is None


def line(m=400):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, m)
    return np.column_stack([x, 1 + 2 * x + (0.05 + 0.1 * x**2) * rng.normal(size=m)])


@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_has_the_errors_of_the_textbook(weighted):
    """White's HC0: (A'WA)^-1 A'W e^2 W A (A'WA)^-1."""
    X = line()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(X)) if weighted else np.ones(len(X))
    A = np.column_stack([np.ones(len(X)), X[:, 0]])
    normal = np.linalg.inv(A.T @ (weight[:, np.newaxis] * A))
    beta = normal @ A.T @ (weight * X[:, 1])
    score = A * (weight * (X[:, 1] - A @ beta))[:, np.newaxis]
    expected = np.sqrt(np.diag(normal @ score.T @ score @ normal))
    g = Polynomial([[0, 0], [1, 0], [0, 1]], [-beta[0], -beta[1], 1.0])
    found = error_bars(g, X, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(found.coef_std, [*expected, 0.0], rtol=1e-9)
    scaled = error_bars(g, X, sample_weight=7.0 * weight)  # weights have no unit
    np.testing.assert_allclose(scaled.coef_std, found.coef_std, rtol=1e-9)


def test_noise_in_both_columns_has_the_errors_of_m_estimation():
    """A line g = a + b x + y: the equations u = 0 for a, b and the size of the noise, by hand."""
    X = line() + [0.1, 0.2] * np.random.default_rng(1).normal(size=(400, 2))
    (x, y), (a, b), (sigma, tau) = X.T, (-1.1, -1.9), (0.11, 0.19)
    g = a + b * x + y
    u = np.stack([g, g * x - b * sigma**2, g * y - tau**2])
    derivative = np.array(
        [
            [1, x.mean(), 0],
            [x.mean(), (x**2).mean() - sigma**2, -2 * b * sigma**2],
            [y.mean(), (x * y).mean(), -2 * tau**2],
        ]
    )
    inverse = np.linalg.inv(derivative)
    expected = np.sqrt(np.diag(inverse @ (u @ u.T / len(X)) @ inverse.T / len(X)))[:2]
    polynomial = Polynomial([[0, 0], [1, 0], [0, 1]], [a, b, 1.0])
    found = error_bars(polynomial, X, noise=[sigma, tau]).coef_std
    np.testing.assert_allclose(found, [*expected, 0.0], rtol=1e-6)


def test_errors_of_all_multiples():
    """They are relative to the leading coefficient, whatever it is."""
    X, _ = ellipse(1, 0.05)
    conic, noise = fitted(X)
    tripled = Polynomial(conic.terms, 3 * conic.coef)
    for given in (None, noise):
        one, three = (error_bars(g, X, noise=given).coef_std for g in (conic, tripled))
        np.testing.assert_allclose(three, 3 * one, rtol=1e-9)


def test_errors_of_the_size_that_coefficients_spread():
    """With noise in the columns; least squares alone would not know of it."""
    found, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        t = rng.uniform(-1, 1, 2000)
        X = np.column_stack([t, 0.5 * t]) + 0.1 * rng.normal(size=(2000, 2))
        moments = Moments(2, 2).update(X)
        (g,) = OAVI(1e-4, max_degree=1).fit_moments(moments.debiased(0.1)).generators_
        found.append(g.coef[1])
        errors.append(error_bars(g, moments, noise=0.1).coef_std[1])
    assert np.mean(found) == pytest.approx(-0.5, abs=0.003)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.25)


def test_errors_know_that_the_noise_is_estimated_along():
    """Of large noise: the coefficients of x0 and x0 x1 on a half circle."""
    found, errors = [], []
    for seed in range(60):
        moments = Moments(2, 4).update(half_circle(seed, 0.2, 5000))
        model = OAVI(1e-3, max_degree=2).fit_moments(moments.debiased(0.2))
        (conic,) = model.generators_
        found.append(conic.coef)
        errors.append(error_bars(conic, moments, noise=0.2).coef_std)
    spread = np.std(found, axis=0)
    np.testing.assert_allclose(np.median(errors, axis=0)[[1, 4]], spread[[1, 4]], rtol=0.2)


def test_what_is_refused():
    X, _ = ellipse(0, 0.05)
    conic, _ = fitted(X)
    with pytest.raises(ValueError, match="need moments with max_degree 4; these have 3"):
        error_bars(conic, Moments(2, 3).update(X))
    with pytest.raises(ValueError, match="give the moments before debiasing"):
        error_bars(conic, Moments(2, 4).update(X).debiased(0.1))
    with pytest.raises(ValueError, match="X has 1 columns, but the polynomial has 2"):
        error_bars(conic, X[:, :1])
    with pytest.raises(ValueError, match="moments are of 3 columns"):
        error_bars(conic, Moments(3, 4).update(np.ones((5, 3))))
    with pytest.raises(ValueError, match="noise must be a number"):
        error_bars(conic, X, noise=-1)
    with pytest.raises(ValueError, match=r"coef_std must have 6 entries"):
        conic.with_errors([0.1])


# -------------------------------------------------------------------------------------- written


@pytest.mark.parametrize(
    "value, std, text, power",
    [
        (1.003, 0.002, "1.003(2)", 0),
        (1.0031, 0.0017, "1.003(2)", 0),
        (1.0, 0.0096, "1.00(1)", 0),
        (0.5, 0.25, "0.5(2)", 0),
        (12.0, 3.0, "12(3)", 0),
        (1234.5, 17.0, "1234(17)", 0),
        (2.5e-7, 3.1e-9, "2.50(3)", -7),
        (-0.0 + 6.02e23, 1e21, "6.02(1)", 23),
        (0.01, 0.5, "0.0(5)", 0),
        (0.0001234, 0.0000002, "0.0001234(2)", 0),
    ],
)
def test_the_last_digits_are_uncertain(value, std, text, power):
    assert with_error(value, std) == (text, power)


def test_written_with_errors():
    g = Polynomial(
        [[0, 0], [1, 0], [0, 1], [1, 1]],
        [-2.5e-7, 1.00312, 3e8, 1.0],
        coef_std=[3.1e-9, 0.0021, 2e6, 0.0],
    )
    assert g.write(errors=True) == "x0*x1 + 3.00(2)*10^8*x1 + 1.003(2)*x0 - 2.50(3)*10^-7"
    assert g.write("latex", errors=True) == (
        r"x_{0} x_{1} + 3.00(2) \times 10^{8} x_{1} + 1.003(2) x_{0} - 2.50(3) \times 10^{-7}"
    )
    html = g.write("html", errors=True)
    assert "3.00(2)\u2009\u00b7\u200910<sup>8</sup>" in html
    assert "2.50(3)\u2009\u00b7\u200910<sup>\u22127</sup>" in html
    assert "1.003(2)" in html
    assert str(g) == g.write() == "x0*x1 + 3e+08*x1 + 1.003*x0 - 2.5e-07"
    assert g.write(limit=2, errors=True).endswith("+ ...")
    for style in ("sympy", "python"):
        with pytest.raises(ValueError, match="written for people"):
            g.write(style, errors=True)
        assert g.write(style)
    with pytest.raises(ValueError, match="has no standard errors"):
        Polynomial([[0], [1]], [1.0, 1.0]).write(errors=True)
    # What is not known is left out.
    unknown = g.with_errors([np.nan, np.inf, 0.0, 0.0])
    assert unknown.write(errors=True) == str(g)


def test_a_polynomial_keeps_its_errors():
    g = Polynomial([[0], [1]], [0.5, 1.0], mse=0.1, feature_names=["a"], coef_std=[0.1, 0.0])
    again = pickle.loads(pickle.dumps(g))
    assert again.write(errors=True) == "a + 0.5(1)"
    np.testing.assert_array_equal(again.coef_std, g.coef_std)
    with pytest.raises(ValueError, match="read-only"):
        g.coef_std[0] = 1.0
    assert pickle.loads(pickle.dumps(Polynomial([[1]], [1.0]))).coef_std is None


def test_no_warnings():
    X, _ = ellipse(0, 0.05)
    conic, noise = fitted(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "(" in error_bars(conic, X.astype(np.float32), noise=noise).write(errors=True)
