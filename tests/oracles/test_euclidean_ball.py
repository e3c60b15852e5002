"""Conditional gradients on the l2-ball, against ridge regression of the same length."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from vanishing import OAVI, load
from vanishing.oracles import ORACLES, Status

EUCLIDEAN = [name for name, oracle in ORACLES.items() if oracle.euclidean]


def problem(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 12))
    A = rng.uniform(size=(50, k)) ** rng.integers(1, 4)
    A[:, 0] = 1.0
    b = rng.uniform(size=50)
    return A.T @ A / 50, A.T @ b / 50, float(b @ b / 50), float(rng.uniform(0.2, 3.0))


def optimum(gram, cross, norm, radius):
    """The minimum in the ball: least squares, or its penalised form of length ``radius``."""
    low, high = 0.0, 1e6
    v = np.linalg.lstsq(gram, -cross, rcond=None)[0]
    if np.linalg.norm(v) > radius:
        for _ in range(100):
            middle = 0.5 * (low + high)
            v = np.linalg.solve(gram + middle * np.eye(len(cross)), -cross)
            low, high = (middle, high) if np.linalg.norm(v) > radius else (low, middle)
    return norm + v @ (gram @ v + 2 * cross)


def test_the_four_methods_have_the_ball():
    assert EUCLIDEAN == ["pcg", "bpcg", "cg", "afw"]


@pytest.mark.parametrize("oracle", EUCLIDEAN)
def test_the_optimum_is_reached_and_bounded(oracle):
    for seed in range(20):
        gram, cross, norm, radius = problem(seed)
        best = optimum(gram, cross, norm, radius)
        options = {"psi": 0.999 * best, "radius": radius, "eps": 1e-4, "tol": 0.0}
        solution = ORACLES[oracle](gram, cross, norm, **options, region="l2")
        v = solution.coef
        assert np.linalg.norm(v) <= radius * (1 + 1e-12)
        assert solution.mse == pytest.approx(norm + v @ (gram @ v + 2 * cross), rel=1e-9, abs=1e-12)
        assert solution.mse - solution.gap <= best + 1e-10  # the gap is a bound
        if solution.status == Status.ACCURATE:
            assert solution.mse <= best * (1 + 1e-3) + 1e-10
        else:  # the gap proves that psi is not reached
            assert solution.status == Status.NONE_EXISTS
        found = ORACLES[oracle](gram, cross, norm, **{**options, "psi": 1.01 * best}, region="l2")
        assert found.status == Status.FOUND
        assert found.mse <= 1.01 * best


@pytest.mark.parametrize("oracle", EUCLIDEAN)
def test_starved_and_singular(oracle):
    gram, cross, norm, _ = problem(3)
    starved = ORACLES[oracle](gram, cross, norm, psi=0.0, radius=0.3, max_iter=2, tol=0.0,
                              eps=0.0, region="l2")  # fmt: skip
    assert starved.n_iter <= 2
    ones = np.ones((4, 4))
    solution = ORACLES[oracle](ones, -0.5 * np.ones(4), 1.0, psi=0.0, radius=9.0, region="l2")
    assert solution.mse == pytest.approx(0.75, abs=1e-3)
    nothing = ORACLES[oracle](np.zeros((2, 2)), np.zeros(2), 1.0, psi=0.5, radius=1.0, region="l2")
    assert nothing.status == Status.NONE_EXISTS


def test_many_vertices_are_written_anew():
    """Small steps on an ill-conditioned problem go to more vertices than are kept."""
    rng = np.random.default_rng(0)
    A = np.vander(rng.uniform(size=200), 8, increasing=True)
    b = rng.normal(size=200)
    gram, cross, norm = A.T @ A / 200, A.T @ b / 200, float(b @ b / 200)
    for radius, error in ((0.3, 1e-7), (5.0, 2e-3)):
        best = optimum(gram, cross, norm, radius)
        options = {"psi": best + 1e-7, "radius": radius, "eps": 0.0, "tol": 0.0}
        for oracle in EUCLIDEAN:
            solution = ORACLES[oracle](gram, cross, norm, **options, max_iter=3000, region="l2")
            assert np.linalg.norm(solution.coef) <= radius * (1 + 1e-12)
            assert solution.n_iter > 8 + 16  # as many vertices are kept
            assert solution.mse <= best + error


# ------------------------------------------------------------------------------------- in OAVI


def rows(m=200):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(m, 3))
    X[:, 2] = 0.9 * X[:, 0] + 0.9 * X[:, 1] - 0.8 + rng.normal(scale=0.01, size=m)
    return X


@pytest.mark.parametrize("oracle", EUCLIDEAN)
@pytest.mark.parametrize("certify", [True, False])
def test_coefficients_are_in_the_ball(oracle, certify):
    X = rows()
    with pytest.warns(ConvergenceWarning if certify else UserWarning):
        small = OAVI(2e-4, oracle=oracle, region="l2", tau=2.4, certify=certify, max_degree=1).fit(
            X
        )
    assert small.n_generators_ == 0  # the l2-norm of the law is 1.5
    model = OAVI(2e-4, oracle=oracle, region="l2", tau=2.6, certify=certify, max_degree=1).fit(X)
    (g,) = model.generators_
    assert 1.4 < np.linalg.norm(model.coef_[0]) <= 1.6 + 1e-9
    assert np.abs(model.coef_[0]).sum() > 1.6  # outside the l1-ball
    assert g.mse <= 2e-4
    with pytest.warns(UserWarning):
        assert OAVI(2e-4, oracle=oracle, tau=2.6, max_degree=1).fit(X).n_generators_ == 0


def test_row_order_and_weights_do_not_matter():
    X = rows()
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 3, len(X))
    options = {"psi": 3e-3, "region": "l2", "max_degree": 3, "tau": 10}
    model = OAVI(**options).fit(X, sample_weight=weight)
    repeated = OAVI(**options).fit(rng.permutation(np.repeat(X, weight, axis=0)))
    assert model.n_generators_ > 1
    np.testing.assert_array_equal(model.leading_terms_, repeated.leading_terms_)
    np.testing.assert_allclose(model.coef_, repeated.coef_, atol=1e-8)
    blocks = OAVI(**options).fit(lambda: (X[i::5] for i in range(5)))
    np.testing.assert_allclose(blocks.coef_, OAVI(**options).fit(X).coef_, atol=1e-8)


def test_what_is_refused_and_what_is_saved(tmp_path):
    X = rows()
    with pytest.raises(ValueError, match=r"'omp' keeps to the l1-ball alone: .* take pcg"):
        OAVI(oracle="omp", region="l2").fit(X)
    with pytest.raises(ValueError, match="region must be one of"):
        OAVI(region="l3").fit(X)
    plain, same = OAVI(oracle="ls").fit(X), OAVI(oracle="ls", region="l2").fit(X)
    np.testing.assert_array_equal(plain.coef_, same.coef_)  # it has no ball
    model = OAVI(2e-4, region="l2", max_degree=2).fit(X)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.region == "l2"
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
