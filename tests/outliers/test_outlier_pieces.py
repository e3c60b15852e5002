"""The pieces of the outlier detector, against plain versions of them."""

import numpy as np
import pytest

from vanishing import Moments, VanishingOutlierDetector
from vanishing.outliers import settings
from vanishing.outliers.building import build
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.features import features_of
from vanishing.outliers.model import nearly_zero
from vanishing.outliers.monomials import monomials_of
from vanishing.outliers.robust import Rule, Sums, whitener
from vanishing.outliers.surroundings import surroundings_of
from vanishing.outliers.thresholds import beyond_tail, breaking, conformal_p_values, lowest_normal

ONE_SIDE = np.zeros(2000)


# -- Thresholds -----------------------------------------------------------------------------------


def calibration(scores, weight=1.0, off=None):
    """Scores that count alike."""
    count = np.full(len(scores), weight)
    off, side = np.zeros((2, len(scores))) if off is None else (off, ONE_SIDE[: len(scores)])
    return Calibration.of(np.asarray(scores), off, side, count, np.random.default_rng(0))


@pytest.mark.parametrize("n_scores, rate", [(99, 0.05), (99, 0.01), (40, 0.1), (199, 0.3)])
def test_a_threshold_is_a_score_that_so_many_are_not_above(n_scores, rate):
    """Of m scores the k-th smallest, k = rate (m + 1)."""
    scores = -np.random.default_rng(0).uniform(0, 10, n_scores)
    expected = pytest.approx(np.sort(scores)[round(rate * (n_scores + 1)) - 1], rel=1e-7)
    assert lowest_normal(calibration(scores), rate).score == expected
    # Weights have no unit, and wild scores do not count unless they are the majority.
    assert lowest_normal(calibration(scores, 3.0), rate).score == expected
    few, many = (np.append(scores, np.full(n, -1e9)) for n in (5, 2 * n_scores))
    assert lowest_normal(calibration(few), rate).score == expected
    assert lowest_normal(calibration(many), rate).score == pytest.approx(-1e9)


def test_too_few_scores_for_a_rate_are_continued_below_the_smallest():
    """Exponential scores: the threshold is that of the rate in the mean, not of 1 / (m + 1)."""
    found = [
        lowest_normal(calibration(-random.exponential(size=30)), 0.01).score
        for random in map(np.random.default_rng, range(300))
    ]
    assert np.mean(found) == pytest.approx(np.log(0.01), abs=0.25)


def test_the_error_of_a_threshold_is_that_of_other_samples():
    draws = [calibration(np.random.default_rng(i).normal(size=500)) for i in range(200)]
    found = [lowest_normal(each, 0.05) for each in draws]
    spread = np.std([each.score for each in found])
    assert np.mean([each.std for each in found]) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("freedom", [1, 2, 5, 100])
def test_distances_of_normal_rows_break_nothing_whatever_their_tails(freedom):
    """Student's distributions, from Cauchy's to nearly a normal one."""
    for random in map(np.random.default_rng, range(20)):
        values = random.standard_t(freedom, size=(2, 1000))
        off = np.log(np.square(values).sum(axis=0))
        assert breaking(off, np.ones(1000), ONE_SIDE[:1000]) == np.inf


@pytest.mark.parametrize("noise", ["exponential", "lognormal", "square"])
def test_skewed_noise_breaks_nothing(noise):
    """Near its mean on one side and far on the other: without sides these were two humps."""
    for random in map(np.random.default_rng, range(10)):
        normal = random.normal(size=1000)
        values = {
            "exponential": random.exponential(size=1000),
            "lognormal": np.exp(2.0 * normal),
            "square": np.square(normal),
        }[noise]
        values = values - np.quantile(values, 0.6)
        off = np.log(np.square(values))
        assert breaking(off, np.ones(1000), values > 0.0) == np.inf


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.3])
def test_rows_beyond_what_normal_rows_explain_break_laws(share):
    random = np.random.default_rng(0)
    off = np.log(np.square(random.normal(size=(2, 2000))).sum(axis=0))
    wrong = np.arange(2000) < 2000 * share
    off[wrong] = np.log(random.uniform(8, 40, wrong.sum()) ** 2)
    limit = breaking(off, np.ones(2000), ONE_SIDE)
    assert off[~wrong].max() < limit < off[wrong].min()
    # Weights have no unit, and a row of weight 2 is that row twice.
    assert breaking(off, np.full(2000, 7.0), ONE_SIDE) == pytest.approx(limit)
    found = lowest_normal(calibration(-off, off=off), 0.01)
    assert found.wrong == pytest.approx(share)
    assert np.mean(-off[~wrong] < found.score) == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_rows_beyond_a_valley_break_laws(share):
    """Faults of one size, near normal rows: the tail of these explained as many, and more."""
    random = np.random.default_rng(0)
    off = np.log(np.square(random.normal(size=(2, 2000))).sum(axis=0))
    wrong = np.arange(2000) < 2000 * share
    off[wrong] = np.log(np.square(random.normal(5.7, 1.0, wrong.sum())))
    sides = random.integers(4, size=2000)
    assert beyond_tail(off, np.ones(2000), sides) == np.inf
    found = off >= breaking(off, np.ones(2000), sides)
    assert found[wrong].mean() > 0.8
    assert found[~wrong].mean() < 0.005


@pytest.mark.parametrize("n_rows", [100, 400])
def test_a_gap_before_few_rows_is_as_rare_as_is_asked_for(n_rows, monkeypatch):
    """Exponential tails are the heaviest: four gaps are looked at, each at its own chance."""
    monkeypatch.setattr(settings, "MOST_BREAKING", 4.5 / n_rows)  # of no more rows
    random = np.random.default_rng(0)
    draws = random.exponential(size=(2000, n_rows))
    weight, side = np.ones(n_rows), ONE_SIDE[:n_rows]
    share = np.mean([beyond_tail(off, weight, side) < np.inf for off in draws])
    assert 0.5 * 4 * settings.CHANCE < share < 1.6 * 4 * settings.CHANCE


@pytest.mark.parametrize("n_wrong", range(1, 10))
def test_few_rows_beyond_a_wide_gap_break_laws(n_wrong):
    """Five were too many for a gap, and too few to be several times what normal rows explain."""
    off = np.log(np.random.default_rng(n_wrong).chisquare(4.0, 400))
    off[:n_wrong] = off.max() + 3.0 + 0.1 * np.arange(n_wrong)
    limit = breaking(off, np.ones(400), ONE_SIDE[:400])
    np.testing.assert_array_equal(np.flatnonzero(off >= limit), np.arange(n_wrong))
    assert breaking(off, np.full(400, 7.0), ONE_SIDE[:400]) == pytest.approx(limit)


def test_p_values_count_the_scores_below():
    calibration = np.array([-4.0, -1.0, -3.0, -2.0])
    scores = np.array([-5.0, -3.0, -2.5, 0.0])
    found = conformal_p_values(scores, calibration, np.ones(4))
    np.testing.assert_allclose(found, np.array([1, 3, 3, 5]) / 5)
    heavy = conformal_p_values(scores, calibration, np.array([5.0, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(heavy, (1 + 4 * np.array([0, 6, 6, 8]) / 8) / 5)


# -- Equations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "n_columns, n_rows, n_monomials",
    [
        (2, 18, 6),
        (2, 17, 3),
        (2, 9, 3),
        (2, 8, 1),
        (3, 30, 10),
        (3, 29, 4),
        (20, 10**6, 231),
        (21, 10**6, 22),
    ],
)
def test_three_rows_tell_one_monomial(n_columns, n_rows, n_monomials):
    units = np.zeros(n_columns), np.ones(n_columns)
    moments = monomials_of(np.arange(n_columns), *units, 2, n_rows)
    degrees = moments.exponents.sum(axis=1)
    assert len(degrees) == n_monomials and (np.diff(degrees) >= 0).all()
    linear = monomials_of(np.arange(n_columns), *units, 1, n_rows)
    assert len(linear.exponents) == min(n_monomials, 1 + n_columns)


@pytest.mark.filterwarnings("ignore:moments count wrong rows")
def test_moments_give_the_errors_of_laws():
    rng = np.random.default_rng(0)
    q, w = rng.uniform(1, 3, (2, 2000))
    X = np.column_stack([q, w, 2 * q + w + 0.01 * rng.normal(size=2000)])
    model = VanishingOutlierDetector(random_state=0).fit_moments(Moments(3, 2).update(X))
    (law,) = (law for law in model.laws_ if law.target == "x2")
    A = np.column_stack([q, w])
    expected = 0.01 * np.sqrt(np.linalg.inv(A.T @ A).diagonal())
    np.testing.assert_allclose(np.sort(law.coef_std)[1:], np.sort(expected), rtol=0.1)
    assert law.error == pytest.approx(0.01, rel=0.1)


# -- Laws by moments ------------------------------------------------------------------------------


def correlated(small, ridge=0.0):
    """Moments of 1 and two columns whose difference has the variance 2 ``small``."""
    gram = np.eye(3)
    gram[1, 2] = gram[2, 1] = 1.0 - small
    return Sums(7.0 * gram, 7.0, ridge)


def test_combinations_that_are_nearly_zero_have_mean_square_1_but_for_the_ridge():
    ridge = 3e-4
    coef = nearly_zero(correlated(1e-4, ridge), 0.05)
    assert coef.shape == (3, 1)
    gram = correlated(1e-4).gram / 7.0
    assert coef[:, 0] @ gram @ coef[:, 0] == pytest.approx(1e-4 / (1e-4 + ridge))
    assert coef[1, 0] == pytest.approx(-coef[2, 0]) and coef[0, 0] == pytest.approx(0.0)
    assert nearly_zero(correlated(1e-4, ridge), 0.009).shape == (3, 0)


@pytest.mark.parametrize("size, n_laws", [(0.045, 1), (0.05, 0)])
def test_few_rows_prove_no_law(size, n_laws):
    """With 3 features and 20 rows residuals are too small by a factor of the root of 17/20."""
    X = np.repeat([[1.0, 1.0], [-1.0, -1.0]], 10, axis=0)
    features = features_of(X, np.ones(20), 1)
    sums = correlated(size**2, 1e-9)
    rule = Rule(whitener(sums), 3.0, False, 1e-9)
    model = build(features, (sums, sums), (rule, rule), 10.0, X, np.ones(20)).model
    assert model.laws.coef.shape[1] == n_laws


def test_the_doubt_of_equations_follows_the_rows_of_the_bulk():
    rng = np.random.default_rng(0)
    model = VanishingOutlierDetector(half_life=100.0, random_state=0)
    for n_rows in (300, 200):
        model.partial_fit(rng.normal(size=(n_rows, 2)), sample_weight=np.full(n_rows, 2.0))
    state = model.learned
    assert state.n_rows == pytest.approx(300 / 4 + 200) == state.weight / 2.0
    bulk = state.sums[0]
    assert 0.3 * state.weight < bulk.weight < 0.7 * state.weight
    expected = whitener(bulk) * np.sqrt(4.0 / (bulk.weight / 2.0))
    np.testing.assert_allclose(state.model.doubt, expected, rtol=1e-9)


# -- Surroundings ---------------------------------------------------------------------------------


def test_the_nearest_row_of_each_group_counts_but_no_equal_one():
    random = np.random.default_rng(0)
    z = random.normal(size=(3, 500))
    around = surroundings_of(z, np.ones(500), np.array([True, False, True]), True)
    rows = around.coordinates(z).T
    assert around.n_groups == 4 and around.rows.shape == (500, 2)
    np.testing.assert_allclose(around.rows, rows)
    expected = []
    for i, row in enumerate(rows[:50]):
        distance = np.sqrt(np.square(rows - row).sum(axis=1))
        distance[i] = np.inf
        expected.append(np.log(distance.reshape(4, -1).min(axis=1).mean()))
    np.testing.assert_allclose(around.parts(z[:, :50])[1], expected, rtol=1e-9)
    np.testing.assert_allclose(around.weights, 2 / 3 * np.array([0.15, 0.35]))


def test_where_laws_determine_all_columns_nothing_is_added():
    around = surroundings_of(np.zeros((2, 9)), np.ones(9), np.zeros(2, dtype=bool), True)
    assert not around.weights.any() and not around.parts(np.ones((2, 4))).any()


# -- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, value", [("LAW", 0.5), ("BULK_FITS", 2), ("WILD_SCORE", 1.0)])
def test_settings_are_read_when_they_are_needed(name, value, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))

    def fitted():
        model = VanishingOutlierDetector(random_state=0).fit(X)
        return model.offset_, *model.score_samples(X[:5])

    before = fitted()
    monkeypatch.setattr(settings, name, value)
    assert fitted() != before
