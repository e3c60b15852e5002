"""Wide data: long runs of an oracle are cut short, borders that no one can use left alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from vanishing import OAVI, oracles
from vanishing.constructions import settings
from vanishing.oracles import ORACLES, Status

REFITS = [name for name, oracle in ORACLES.items() if oracle.refits]


@pytest.fixture(scope="module")
def threes():
    """The 183 images of a three, 64 columns in [0, 1]."""
    X, y = load_digits(return_X_y=True)
    return X[y == 3] / 16


def hard_problem(seed, k=60, m=200):
    """Columns that are much alike, and a psi that least squares just reaches."""
    rng = np.random.default_rng(seed)
    mixtures = rng.uniform(size=(m, 4)) @ rng.dirichlet(np.ones(4), size=k - 1).T
    A = np.column_stack([np.ones(m), 0.9 * mixtures + 0.1 * rng.uniform(size=(m, k - 1))])
    b = A @ rng.normal(scale=0.3, size=k) + rng.normal(scale=0.05, size=m)
    gram, cross, norm = A.T @ A / m, A.T @ b / m, float(b @ b / m)
    least = norm - cross @ np.linalg.solve(gram, cross)
    return gram, cross, norm, 1.2 * least


# -- Long runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", REFITS)
def test_a_long_run_is_cut_short_by_least_squares_on_its_terms(name, seed):
    gram, cross, norm, psi = hard_problem(seed)
    solve = getattr(oracles, name)
    options = {"psi": psi, "radius": 999.0, "eps": 0.0, "tol": 0.0, "max_iter": 10_000}
    plain, short = (solve(gram, cross, norm, **options, refit=refit) for refit in (False, True))
    assert plain.n_iter > 5000
    assert 1000 < short.n_iter < 1500
    assert short.status is Status.FOUND
    assert short.mse <= psi
    v = short.coef
    assert abs(v @ gram @ v + 2 * cross @ v + norm - short.mse) <= 1e-12
    assert np.abs(v).sum() <= 999.0
    used = np.flatnonzero(v)
    np.testing.assert_allclose((gram @ v + cross)[used], 0.0, atol=1e-12)
    assert used.size < cross.size


@pytest.mark.parametrize("name", REFITS)
def test_a_short_run_has_the_terms_that_it_has_without(name):
    gram, cross, norm, psi = hard_problem(0)
    options = {"psi": 10 * psi, "radius": 999.0, "max_iter": 900}
    plain, short = (
        getattr(oracles, name)(gram, cross, norm, **options, refit=refit) for refit in (False, True)
    )
    assert plain.n_iter == short.n_iter
    assert plain.status == short.status
    assert np.flatnonzero(plain.coef).tolist() == np.flatnonzero(short.coef).tolist()
    assert short.mse < plain.mse


def test_a_ball_that_refuses_least_squares_is_kept_to():
    gram, cross, norm, psi = hard_problem(1)
    solution = oracles.pcg(gram, cross, norm, psi=psi, radius=2.0, max_iter=20_000, refit=True)
    assert np.abs(solution.coef).sum() <= 2.0 * (1 + 1e-12)
    assert solution.status is Status.NONE_EXISTS


def test_wide_generators_take_hundreds_of_steps_not_thousands(threes):
    model = OAVI(0.001).fit(threes)
    plain = OAVI(0.001, refit=False).fit(threes)
    assert model.leading_terms_.tolist() == plain.leading_terms_.tolist()
    assert (model.mse_ <= 0.001).all()
    assert model.n_iter_ < 0.25 * plain.n_iter_
    assert model.sparsity_ > plain.sparsity_ + 0.05


def test_long_runs_do_not_depend_on_the_order_or_the_repetition_of_rows(threes):
    model = OAVI(0.001).fit(threes)
    assert model.n_iter_ > 500 * model.n_generators_
    order = np.random.default_rng(0).permutation(len(threes))
    twice = np.full(len(threes), 2.0)
    for other in (
        OAVI(0.001).fit(threes[order]),
        OAVI(0.001, chunk_size=7).fit(threes),
        OAVI(0.001).fit(threes, sample_weight=twice),
    ):
        assert model.terms_.tolist() == other.terms_.tolist()
        np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-9)


# -- Borders --------------------------------------------------------------------------------------


def test_a_border_of_tens_of_thousands_of_terms_is_left_alone():
    X = np.random.default_rng(0).uniform(size=(300, 210))
    with pytest.warns(ConvergenceWarning, match=r"degree 2 has 22,155 terms, for 300 rows.*psi"):
        model = OAVI(0.001).fit(X)
    assert model.n_terms_ == 211
    assert model.n_generators_ == 0


def test_it_is_taken_where_it_was_asked_for_or_where_there_are_rows_for_it(monkeypatch):
    monkeypatch.setattr(settings, "WIDE_BORDER", 50)
    X = np.random.default_rng(0).uniform(size=(40, 12))

    def degree(**options):
        model = OAVI(0.01, **options).fit(X)
        return int(np.vstack([model.terms_, model.leading_terms_]).sum(axis=1).max())

    assert degree() > 1  # 78 terms are fewer than 20 for each row
    monkeypatch.setattr(settings, "WIDE_BORDER_PER_ROW", 1)
    with pytest.warns(ConvergenceWarning, match="give max_degree=2 to have it"):
        assert degree() == 1
    assert degree(max_degree=2) == 2
    assert degree(max_degree=9) > 1
    assert degree(certify=False, refit=False) > 1  # the paper's algorithm
    assert degree(refit=False) > 1
