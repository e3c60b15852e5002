"""Certificates over many open terms: residuals and closed forms against least squares."""

import numpy as np
import pytest
import reference
from helpers import assert_same_basis

from vanishing import OAVI
from vanishing.constructions.certificate import Factor, OrthogonalTail, SchurTail

K, S, M = 5, 140, 160  # terms of O, open terms (more than two blocks), rows
CHECKED = {*range(0, S, 13), 1, 2, 63, 64, 65, 127, 128, 129, S - 1}


def problem(dependent=()):
    """Columns of O and open columns behind them; their triangular factor R, R'R = moments."""
    rng = np.random.default_rng(0)
    columns = rng.uniform(size=(M, K + S))
    for i in dependent:
        columns[:, K + i] = columns[:, 0] - 2 * columns[:, K + i - 1]
    triangle = np.linalg.qr(columns / np.sqrt(M), mode="r")
    return columns, triangle * np.sign(triangle.diagonal())[:, np.newaxis]


def schur_tail(triangle):
    inner = triangle[:, K:].T @ triangle[:, K:]
    return SchurTail(
        Factor(triangle[:K, :K].T.copy()), triangle[:K, K:], inner, np.zeros(len(inner))
    )


def orthogonal_tail(triangle):
    factor = Factor(triangle[:K, :K].T.copy())
    return OrthogonalTail(factor, triangle[:K, K:], triangle[K:, K:].copy())


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_scales_are_upper_bounds(share):
    """What the error of a residual is estimated from never falls short of the closed form's."""
    columns, triangle = problem()
    tail = schur_tail(triangle)
    rms = np.sqrt(np.mean(columns**2, axis=0))
    factor = Factor(triangle[:K, :K].T.copy())
    closed = factor.coefficients(triangle[:K, K:].copy())
    tail.scale[:] = rms[K:] + rms[:K] @ np.abs(closed)
    joins = np.random.default_rng(1).random(S) < share
    chosen = list(range(K))
    for i in range(S):
        exact = rms[K + i] + rms[chosen] @ np.abs(tail.coefficients(i))
        assert exact <= tail.scale[i] * (1.0 + 1e-9)
        if not chosen[K:]:
            assert exact == pytest.approx(tail.scale[i], rel=1e-9)
        if joins[i]:
            tail.join(i, dependent=False)
            chosen.append(K + i)


@pytest.mark.parametrize("make_tail", [schur_tail, orthogonal_tail])
@pytest.mark.parametrize("share", [0.2, 0.8, 1.0])
def test_tail_is_least_squares_over_all_that_joined(make_tail, share):
    """Term after term, far beyond one block, some of them joining."""
    columns, triangle = problem()
    joins = np.random.default_rng(1).random(S) < share
    tail = make_tail(triangle)
    chosen = list(range(K))
    rng = np.random.default_rng(2)
    for i in range(S):
        if i in CHECKED:
            v, mse = reference.least_squares(columns[:, chosen], columns[:, K + i])
            np.testing.assert_allclose(tail.coefficients(i), v, rtol=0, atol=1e-8)
            assert tail.residual(i) == pytest.approx(mse, rel=1e-8)
            other = v + 0.1 * rng.normal(size=len(v))
            expected = np.mean((columns[:, chosen] @ other + columns[:, K + i]) ** 2)
            assert tail.mse(i, other) == pytest.approx(expected, rel=1e-8)
        tail.residual(i)
        if joins[i]:
            tail.join(i, dependent=False)
            chosen.append(K + i)
    assert tail.joined == np.flatnonzero(joins).tolist()
    grown = tail.grown_factor()
    gram = columns[:, chosen].T @ columns[:, chosen] / M
    np.testing.assert_allclose(grown.lower @ grown.lower.T, gram, rtol=1e-9)
    assert grown.independent.tolist() == list(range(len(chosen)))


@pytest.mark.parametrize("make_tail", [schur_tail, orthogonal_tail])
def test_dependent_terms_get_the_coefficient_zero(make_tail):
    """A term the ball refused may depend on those before it; the others do not suffer."""
    dependent = [3, 64, 65, 120]
    columns, triangle = problem(dependent=dependent)
    tail = make_tail(triangle)
    for i in range(S):
        residual = tail.residual(i)
        if i in dependent:
            assert residual == pytest.approx(0, abs=1e-12)
        elif i in CHECKED:
            _, mse = reference.least_squares(columns[:, : K + i], columns[:, K + i])
            assert residual == pytest.approx(mse, rel=1e-6)
            coef = tail.coefficients(i)
            found = np.mean((columns[:, : K + i] @ coef + columns[:, K + i]) ** 2)
            assert found == pytest.approx(mse, rel=1e-6)
            np.testing.assert_allclose(coef[[K + d for d in dependent if d < i]], 0, atol=1e-100)
        tail.join(i, dependent=i in dependent)
    independent = np.setdiff1d(np.arange(K + S), [K + d for d in dependent])
    assert tail.grown_factor().independent.tolist() == independent.tolist()


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("seed", [0, 1])
def test_borders_of_several_blocks_against_the_paper_s_algorithm(seed, border):
    """Of the 66 terms of degree 2 some join O and some lead a generator, in any order."""
    X = np.random.default_rng(seed).uniform(size=(120, 11))
    basis = reference.oavi(X, 0.004, oracle="ls", kind=border, max_degree=2)
    assert min(len(basis.terms), len(basis.leading_terms)) > 15
    model = OAVI(0.004, oracle="ls", border=border, max_degree=2).fit(X)
    assert_same_basis(model, basis)
    assert np.all(model.mse_ <= 0.004)
    np.testing.assert_allclose(model.mse_, basis.mse, rtol=1e-8)
