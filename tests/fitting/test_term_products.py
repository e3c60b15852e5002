"""Moments and products of terms that are freed from noise are those of the points below it."""

import numpy as np
import pytest

from vanishing import Moments
from vanishing.fitting.debiased import Debiased, TermProducts, fitted_equation, matrices
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.fitting.variety import VarietyEquation
from vanishing.rows.source import RowPart


@pytest.mark.parametrize("noise", [(0.0, 0.0), (0.3, 0.0), (0.3, 1.2)])
def test_moments_are_those_without_noise_in_expectation(noise):
    # Quadrature takes the exact mean over the noise.
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    first, second = (axis.ravel() for axis in np.meshgrid(nodes, nodes))
    weight = np.outer(weights, weights).ravel()
    products = TermProducts(np.array([[0, 0], [1, 0], [2, 1], [0, 3]]))
    for x, y in [(-1.7, 0.4), (0.0, 2.0)]:
        rows = np.array([x + noise[0] * first, y + noise[1] * second])
        means = products.sums(rows, weight) / weight.sum()
        powers = np.prod(np.array([x, y]) ** products.moments, axis=1)
        np.testing.assert_allclose(products.debias(means, np.array(noise)), powers, atol=1e-9)
        if any(noise):
            assert np.abs(means - powers).max() > 0.1


def test_each_product_has_its_place_and_what_it_is_lowered_to():
    exponents = np.array([[0, 0, 1], [2, 1, 0], [0, 3, 0]])
    products = TermProducts(exponents)
    for i, a in enumerate(exponents):
        for j, b in enumerate(exponents):
            np.testing.assert_array_equal(products.moments[products.places[i, j]], a + b)
    rows = set(map(tuple, products.moments.tolist()))
    assert (0, 2, 0) in rows and (2, 0, 0) in rows  # of (4, 2, 0)
    for row in rows:
        for column in range(3):
            lower = tuple(e - 2 * (c == column) for c, e in enumerate(row))
            assert min(lower) < 0 or lower in rows


@pytest.mark.parametrize("n_columns, degree", [(1, 3), (2, 2), (3, 2)])
def test_matrices_are_those_of_debiased_moments(n_columns, degree):
    rng = np.random.default_rng(0)
    columns, weight = rng.normal(size=(n_columns, 300)), rng.integers(1, 4, 300).astype(float)
    noise, unit = rng.uniform(0, 0.3, n_columns), rng.uniform(0.5, 2, n_columns)
    exponents = exponents_up_to(n_columns, 1000, degree)
    moments = Moments(n_columns, max_degree=degree).update(columns.T, weight).debiased(noise)
    means = moments.sums / moments.total_weight
    mean = {tuple(map(int, row)): m for row, m in zip(moments.terms, means, strict=True)}
    found = matrices(columns, weight, exponents, noise, unit)
    for i, a in enumerate(exponents):
        for j, b in enumerate(exponents):
            np.testing.assert_allclose(found.gram[i, j], mean[tuple((a + b).tolist())], atol=1e-12)
            slope = 0.0
            for c in range(n_columns):
                if a[c] and b[c]:
                    lowered = a + b - 2 * np.eye(n_columns, dtype=int)[c]
                    slope += unit[c] ** 2 * a[c] * b[c] * mean[tuple(lowered.tolist())]
            np.testing.assert_allclose(found.slope[i, j], slope, atol=1e-12)


def circle_parts(seed, noise, n_rows=2000):
    """Noisy points of a circle of radius 2 about (1, 0), in two parts."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    X = np.column_stack([1 + 2 * np.cos(angle), 2 * np.sin(angle)])
    X += noise * rng.normal(size=X.shape)
    return [RowPart(X[:700], None, None), RowPart(X[700:], None, np.ones(n_rows - 700))]


CIRCLE = VarietyEquation(
    np.array([[2, 0], [0, 2], [1, 0], [0, 0]]), np.array([1, 1, -2, -3.0]), 1, 0, False
)


def ask_of(parts):
    """A source of rows in parts."""

    def ask(question, combine):
        first, *others = map(question, parts)
        for other in others:
            first = combine(first, other)
        return first

    return ask


def test_a_noisy_circle_is_fitted_without_bias_and_with_its_errors():
    noise, units = np.array([0.2, 0.2]), np.array([2.0, 2.0])  # of columns divided by units
    estimates, scores = [], []
    for seed in range(30):
        ask = ask_of(circle_parts(seed, noise=0.4))
        coef, covariance, fixed = fitted_equation(CIRCLE, noise, units, ask)
        truth = CIRCLE.coef * np.prod(units**CIRCLE.exponents, axis=1)
        truth = truth / truth[fixed]
        free = np.delete(np.arange(4), fixed)
        assert coef[fixed] == 1 and not covariance[fixed].any()
        estimates.append((coef - truth)[free])
        scores.append(estimates[-1] / np.sqrt(covariance.diagonal()[free]))
    estimates, scores = np.array(estimates), np.array(scores)
    error = estimates.std(axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(estimates.mean(axis=0)) < 3 * error).all()
    assert (scores.std(axis=0) > 0.7).all() and (scores.std(axis=0) < 1.4).all()
    # With less noise taken out than there is, there is bias: the test sees it.
    coef, _, fixed = fitted_equation(CIRCLE, noise / 4, units, ask_of(circle_parts(0, noise=0.4)))
    assert (np.abs((coef - truth)[free]) > 10 * error).any()


def test_debiased_sums_do_not_depend_on_parts():
    parts = circle_parts(0, noise=0.4)
    whole = RowPart(np.vstack([part.X for part in parts]), None, None)
    for coef in (None, CIRCLE.coef):
        question = Debiased(CIRCLE, np.array([0.2, 0.3]), np.array([1.0, 2.0]), coef)
        total, count = question(whole)
        parted, counted = ask_of(parts)(question, Debiased.combine)
        np.testing.assert_allclose(parted, total, rtol=1e-12)
        np.testing.assert_array_equal(total, total.T)
        assert count == counted == 2000
