"""What rows held out say of a search: its error, an interval, and its probabilities."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_moons

import vanishing
from vanishing import OAVI, VanishingClassifierCV
from vanishing.learning.held_out import error_of_choosing, reliability

ONES = np.ones(200)
PLACES = np.arange(200)


def test_one_classifier_has_the_error_it_has():
    right = np.random.default_rng(0).uniform(size=(200, 1)) < 0.8
    found = error_of_choosing(right, ONES, PLACES)
    assert found.error == pytest.approx(1.0 - right.mean(), abs=0.005)
    exact = binomtest(int((~right).sum()), 200).proportion_ci()
    assert found.low <= exact.low + 0.005 and found.high >= exact.high - 0.005


def test_no_mistakes_still_have_an_interval():
    found = error_of_choosing(np.ones((200, 3), dtype=bool), ONES, PLACES)
    assert (found.error, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1.0 - 0.025 ** (1 / 200), rel=1e-6)
    found = error_of_choosing(np.zeros((200, 3), dtype=bool), ONES, PLACES)
    assert found.high == found.error == 1.0 and 0.9 < found.low < 1.0


def test_the_luckiest_of_many_does_not_flatter_itself():
    """Fifty classifiers that guess: the best is right in 0.6 of the rows, and means nothing."""
    luck, corrected, covered = [], [], []
    for seed in range(40):
        right = np.random.default_rng(seed).uniform(size=(200, 50)) < 0.5
        found = error_of_choosing(right, ONES, PLACES)
        luck.append(1.0 - right.mean(axis=0).max())
        corrected.append(found.error)
        covered.append(found.low <= 0.5 <= found.high)
    assert np.mean(luck) < 0.43
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.04)
    assert np.mean(corrected) > np.mean(luck) + 0.04
    assert np.mean(covered) > 0.9


def test_rows_that_are_one_row_are_drawn_together():
    rng = np.random.default_rng(0)
    right = np.repeat(rng.uniform(size=(20, 5)) < 0.7, 10, axis=0)  # ten times the same row
    alone = error_of_choosing(right, ONES, PLACES)
    together = error_of_choosing(right, ONES, PLACES // 10)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_counts_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    right = rng.uniform(size=(200, 4)) < 0.8
    counts = rng.integers(1, 4, size=200).astype(float)
    weighted = error_of_choosing(right, counts, PLACES)
    repeated = np.repeat(PLACES, counts.astype(int))
    whole = error_of_choosing(right[repeated], np.ones(len(repeated)), repeated)
    assert weighted.error == pytest.approx(whole.error, abs=1e-6)


def test_a_single_row_or_group():
    found = error_of_choosing(np.array([[True, False]]), np.ones(1), np.zeros(1, dtype=int))
    assert found.low <= found.error <= found.high


def test_a_search_says_which_error_to_expect():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(100, 4)), rng.integers(2, size=100)
    search = VanishingClassifierCV().fit(X, y)
    low, high = search.error_interval_
    assert 1.0 - search.best_score_ + 0.02 < search.error_ < 0.6
    assert low < 0.5 < high
    told = VanishingClassifierCV(OAVI(), psis=(0.1,), Cs=(1.0,), scale=True, scoring="f1")
    told.fit(X, y)
    assert told.error_ is None and told.error_interval_ is None


# -- Probabilities --------------------------------------------------------------------------------


def test_probabilities_that_are_right_are_on_the_diagonal():
    rng = np.random.default_rng(0)
    second = rng.uniform(size=5000)
    y = (rng.uniform(size=5000) < second).astype(int)
    table = reliability(np.column_stack([1.0 - second, second]), y)
    assert table.shape == (10, 3) and table[:, 2].sum() == 5000
    assert np.all(np.diff(table[:, 0]) > 0.0)
    np.testing.assert_allclose(table[:, 1], table[:, 0], atol=0.06)
    sure = np.clip(2.0 * second - 0.5, 0.0, 1.0)  # too sure
    table = reliability(np.column_stack([1.0 - sure, sure]), y)
    assert (table[-3:, 1] < table[-3:, 0]).all()


def test_few_rows_have_few_bins_and_weights_count():
    rng = np.random.default_rng(1)
    chance = rng.dirichlet(np.ones(3), size=40)
    y = rng.integers(3, size=40)
    weight = rng.uniform(size=40)
    ((mean, share, count),) = reliability(chance, y, weight)
    assert mean == pytest.approx(np.average(chance.max(axis=1), weights=weight))
    assert share == pytest.approx(np.average(chance.argmax(axis=1) == y, weights=weight))
    assert count == 40


def test_a_search_keeps_both_in_its_file(tmp_path):
    X, y = make_moons(300, noise=0.25, random_state=0)
    search = VanishingClassifierCV(OAVI(), psis=(0.1, 0.01), scale=True).fit(X, y)
    assert search.reliability_.shape[1] == 3 and search.reliability_[:, 2].sum() == 300
    assert np.abs(search.reliability_[:, 0] - search.reliability_[:, 1]).max() < 0.2
    search.save(tmp_path / "m.json")
    again = vanishing.load(tmp_path / "m.json")
    assert (again.error_, again.error_interval_) == (search.error_, search.error_interval_)
    np.testing.assert_array_equal(again.reliability_, search.reliability_)
