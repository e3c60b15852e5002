"""What is random in a detector, and that a saved one goes on exactly as the original does."""

import numpy as np
import pytest

import vanishing
from vanishing import Blocks, Moments, VanishingOutlierDetector


def rows(seed, n_rows):
    """Rows of four columns, one of them a product of others."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 4))
    X[:, 3] = X[:, 0] * X[:, 1] + 0.1 * X[:, 3]
    return X


@pytest.mark.parametrize("n_rows", [150, 2000, 9000])
@pytest.mark.parametrize("contamination", ["auto", 0.05])
def test_up_to_10_000_rows_no_seed_matters(n_rows, contamination):
    """Folds were drawn by the seed, so that thresholds and labels changed with it."""
    X = rows(0, n_rows)
    models = [
        VanishingOutlierDetector(contamination=contamination, random_state=seed).fit(X)
        for seed in (0, 1, None, None)
    ]
    labels = [model.predict(X).tolist() for model in models]
    assert labels[1:] == labels[:-1]
    assert len({model.offset_ for model in models}) == 1
    scores = [model.score_samples(X) for model in models]
    np.testing.assert_array_equal(scores[1:], scores[:-1])


def test_the_default_is_the_same_in_each_fit():
    X = rows(0, 12_000)
    offsets = [VanishingOutlierDetector().fit(X).offset_ for _ in range(2)]
    assert offsets[0] == offsets[1]
    assert VanishingOutlierDetector().random_state == 0
    assert VanishingOutlierDetector(random_state=1).fit(X).offset_ != offsets[0]


@pytest.mark.filterwarnings("ignore:moments count wrong rows")
@pytest.mark.parametrize("way", ["fit", "weights", "batches", "blocks", "moments", "exact moments"])
@pytest.mark.parametrize("half_life", [None, 700.0])
@pytest.mark.parametrize("contamination", ["auto", 0.05])
def test_a_loaded_detector_goes_on_as_the_original(way, half_life, contamination, tmp_path):
    model = VanishingOutlierDetector(half_life=half_life, contamination=contamination)
    X, weight = rows(0, 11_000), np.random.default_rng(1).uniform(0, 2, 11_000)
    if way == "fit":
        model.fit(X[:800])
    elif way == "weights":
        model.fit(X, sample_weight=weight)
    elif way == "batches":
        model.partial_fit(X[:500]).partial_fit(X[500:8500]).partial_fit(X[8500:])
    elif way == "blocks":
        model.fit(Blocks.from_array(X, rows=777))
    elif contamination != "auto":
        pytest.skip("moments know no share of rows")
    else:
        if way == "exact moments":
            X[:, 2:] = X[:, :2] + X[:, 1:2]
        model.fit_moments(Moments(4, 2).update(X[:300]))
    model.save(tmp_path / "model.json")
    again = vanishing.load(tmp_path / "model.json")
    for seed in range(2, 5):
        batch, count = rows(seed, 900), np.random.default_rng(seed).uniform(0, 2, 900)
        for each in (model, again):
            each.partial_fit(batch, sample_weight=count if way == "weights" else None)
        assert again.offset_ == model.offset_
        np.testing.assert_array_equal(again.score_samples(batch), model.score_samples(batch))
        assert [(str(law), law.verdict) for law in again.laws_] == [
            (str(law), law.verdict) for law in model.laws_
        ]
    for mine, theirs in zip(model.learned.calibration, again.learned.calibration, strict=True):
        np.testing.assert_array_equal(mine, theirs)
