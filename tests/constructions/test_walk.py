"""The compiled walk through open terms, ABM's roots, and what a small fit does before its rows."""

import numpy as np
import pytest
import reference
from sklearn.utils.validation import validate_data
from threadpoolctl import ThreadpoolController

from vanishing import ABM, OAVI, _threads
from vanishing._threads import one_blas_thread
from vanishing.constructions.abm import _solve_secular
from vanishing.constructions.certificate import UNBOUNDED, Factor, Limits, SchurTail

K, S, M = 5, 140, 200  # terms of O, open terms (more than two blocks), rows
NO_LIMITS = Limits(0.0, np.inf, np.inf, UNBOUNDED)


@pytest.fixture
def columns():
    """Columns of O and open ones behind them, some of which nearly depend on those before."""
    rng = np.random.default_rng(0)
    columns = rng.uniform(size=(M, K + S))
    for i in range(3, S, 7):
        mix = columns[:, : K + i] @ rng.normal(size=K + i) / (K + i)
        columns[:, K + i] = mix + 1e-2 * rng.normal(size=M)
    return columns


def walked(columns, limits, sure=None, first=0):
    """Settle the open terms; return the tail and where it ended."""
    gram = columns.T @ columns / len(columns)
    factor = Factor(np.linalg.cholesky(gram[:K, :K]))
    z = factor.forward(gram[:K, K:])
    norm, rms = gram.diagonal()[K:].copy(), np.sqrt(gram.diagonal()[:K])
    scale = np.sqrt(norm) + rms @ np.abs(factor.coefficients(z))
    tail = SchurTail(factor, z, gram[K:, K:].copy(), scale)
    sure = np.zeros(S, dtype=bool) if sure is None else sure
    return tail, tail.settle(first, limits, sure, norm, rms, 1.0)


def stepped(columns, psi, sure=()):
    """Return the open terms that join, by least squares on the rows, one after the other."""
    chosen = list(range(K))
    for i in set(range(S)) - set(sure):
        if reference.least_squares(columns[:, chosen], columns[:, K + i])[1] > psi:
            chosen.append(K + i)
    return [c - K for c in chosen[K:]]


@pytest.mark.parametrize("psi", [1e-3, 0.03])
def test_those_join_that_leave_more_than_psi_over(columns, psi):
    tail, (end, inflation) = walked(columns, NO_LIMITS._replace(psi=psi))
    joined = stepped(columns, psi)
    assert end == S
    assert tail.joined == joined
    assert 0 < len(joined) < S
    used = [*range(K), *(K + i for i in joined)]
    gram = columns[:, used].T @ columns[:, used] / M
    lower = tail.grown_factor().lower
    np.testing.assert_allclose(lower @ lower.T, gram, rtol=1e-9)
    ratio = gram.diagonal()[K:] / lower.diagonal()[K:] ** 2
    assert inflation == pytest.approx(ratio.max(), rel=1e-9)


def test_sure_terms_are_passed_over(columns):
    sure = np.random.default_rng(1).random(S) < 0.3
    tail, (end, _) = walked(columns, NO_LIMITS._replace(psi=0.03), sure)
    assert end == S
    assert tail.joined == stepped(columns, 0.03, np.flatnonzero(sure).tolist())


def test_it_ends_where_there_is_no_room(columns):
    joined = stepped(columns, 1e-3)
    for room in (0, 1, 70):
        tail, (end, _) = walked(columns, Limits(1e-3, np.inf, np.inf, K + room))
        assert tail.joined == joined[:room]
        assert end == joined[room]


def test_it_ends_at_generators_outside_the_ball_or_of_unsure_coefficients(columns):
    tail, _ = walked(columns, NO_LIMITS._replace(psi=1e-3))
    leader = int(np.setdiff1d(np.arange(S), tail.joined)[0])
    length = np.abs(
        reference.least_squares(columns[:, : K + leader], columns[:, K + leader])[0]
    ).sum()
    assert walked(columns, Limits(1e-3, 0.99 * length, np.inf, UNBOUNDED))[1][0] == leader
    assert walked(columns, Limits(1e-3, 1.01 * length, np.inf, UNBOUNDED))[1][0] > leader
    assert walked(columns, Limits(1e-3, np.inf, 1.0, UNBOUNDED))[1][0] == leader


def test_what_rounding_hides_is_left_to_others(columns):
    columns[:, K + 10] = columns[:, : K + 10] @ np.linspace(-1, 1, K + 10)
    tail, (end, _) = walked(columns, NO_LIMITS)
    assert end == 10
    assert tail.joined == list(range(10))


@pytest.mark.parametrize("psi", [1e-6, 1e-3, 0.05])
def test_secular_roots_are_smallest_eigenvalues(psi):
    rng = np.random.default_rng(0)
    for size in (1, 2, 9):
        Q = np.linalg.qr(rng.normal(size=(size, size)))[0]
        mu = np.sort(psi * (1.0 + 10.0 ** rng.uniform(-6, 4, size=size)))
        w = rng.normal(size=(5, size)) * np.sqrt(mu) * 0.3
        # So that the smallest eigenvalue is a share of psi.
        roots = psi * rng.uniform(size=5)
        norm = roots + (w**2 / (mu - roots[:, np.newaxis])).sum(axis=1)
        solved = w.copy()
        _solve_secular(mu, solved, norm, psi)
        for j in range(5):
            gram = np.block(
                [[Q * mu @ Q.T, (Q @ w[j])[:, np.newaxis]], [Q @ w[j], norm[j : j + 1]]]
            )
            v = np.append(Q @ solved[j], 1.0)
            value = v @ gram @ v / (v @ v)
            assert value == pytest.approx(roots[j], rel=1e-6, abs=1e-14)
            np.testing.assert_allclose(gram @ v, roots[j] * v, atol=1e-9 * np.linalg.norm(v))


def test_plain_arrays_are_validated_as_scikit_learn_does():
    X = np.random.default_rng(0).uniform(size=(30, 3))
    wrong = [X[:, :2], np.where(X > 0.9, np.nan, X), X[0], X[:0], X * 1j]
    for kind in (OAVI, ABM):
        model = kind(0.01).fit(X)
        for rows in wrong:
            with pytest.raises(ValueError) as ours:
                model.transform(rows)
            with pytest.raises(ValueError) as theirs:
                validate_data(model, rows, reset=False, dtype=[np.float64, np.float32])
            expected = str(theirs.value).split("\n")[0].split(".")[0]  # and then columns, and rows
            assert str(ours.value).startswith(expected)


def test_names_of_columns_are_forgotten_and_missed():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).uniform(size=(30, 2))
    model = OAVI(0.01).fit(pandas.DataFrame(X, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)
    model.fit(X)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


def test_one_thread_already_is_left_alone(monkeypatch):
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        monkeypatch.setattr(ThreadpoolController, "limit", None)
        with one_blas_thread():
            assert _threads._limit is None
    assert not _threads._holders
