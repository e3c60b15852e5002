"""VanishingClassifierCV on rows of any kind, with groups, and beyond memory."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from vanishing import OAVI, VCA, Blocks, VanishingClassifier, VanishingClassifierCV
from vanishing.learning import settings
from vanishing.learning.labels import LabelledRows, labelled_rows
from vanishing.learning.sampling import sampled
from vanishing.learning.trials import Trials
from vanishing.rows.source import RowPart

M = 1200
X, Y = make_moons(M, noise=0.25, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(size=M)
WEIGHTS[::7] = 0.0
GROUPS = np.arange(M) // 10
SMALL = {"psis": "auto", "scale": True, "Cs": (1.0, 10.0), "transformer": OAVI(max_degree=4)}
# The SVM of rows that are read in passes, and that of rows in memory, stop at a gap of 1e-4.
GAP = 0.02


def blocks(*arrays, rows=100):
    """A function that yields blocks of so many rows."""

    def read():
        for start in range(0, len(arrays[0]), rows):
            yield tuple(None if a is None else a[start : start + rows] for a in arrays)

    return read


@pytest.fixture(params=["whole", "sampled"])
def most(request, monkeypatch):
    """Whether the search looks at all rows or at some."""
    if request.param == "sampled":
        monkeypatch.setattr(settings, "MOST_SAMPLED", 400)
    return request.param


@pytest.fixture
def on_device(monkeypatch):
    """Return a function that puts an array on the reference library's second device."""
    strict = pytest.importorskip("array_api_strict")
    for name in ("_FEW_TO_FIT", "_FEW_TO_EVALUATE"):
        monkeypatch.setattr(f"vanishing.rows.arrays.{name}", 0)
    return partial(strict.asarray, device=strict.Device("device1"))


def assert_same_search(model, expected, tol):
    assert str(model.best_params_) == str(expected.best_params_)
    for name, values in expected.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(model.cv_results_[name], values, atol=1e-12)
    assert model.temperature_ == pytest.approx(expected.temperature_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=tol)


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["", "weighted"])
def test_a_search_is_the_same_wherever_the_rows_are(most, weight, on_device):
    dask = pytest.importorskip("dask.array")
    chunked = [None if a is None else dask.from_array(a, chunks=250) for a in (Y, weight)]
    sources = {
        "blocks": (blocks(X, Y, weight), None, None),
        "other blocks": (Blocks(blocks(X, rows=1013)), Y, weight),
        "dask": (dask.from_array(X, chunks=(250, 2)), *chunked),
        "device": (on_device(X), Y, weight),
    }
    expected = VanishingClassifierCV(**SMALL).fit(X, Y, weight)
    first = VanishingClassifierCV(**SMALL).fit(*sources.pop("blocks"))
    assert_same_search(first, expected, GAP)
    for arguments in sources.values():
        assert_same_search(VanishingClassifierCV(**SMALL, n_jobs=2).fit(*arguments), first, 1e-9)


@pytest.mark.parametrize("scale", ["quantile", "log"])
def test_scalings_that_learn_from_rows_learn_from_the_same_ones(scale, most, on_device):
    options = {**SMALL, "scale": scale, "psis": (0.05,), "Cs": (1.0,)}
    rows = np.exp(2.0 * X)
    first = VanishingClassifierCV(**options).fit(blocks(rows, Y))
    other = VanishingClassifierCV(**options).fit(blocks(rows, Y, rows=77))
    device = VanishingClassifierCV(**options).fit(on_device(rows), Y)
    alone = VanishingClassifier(OAVI(max_degree=4), psi=0.05, scale=scale).fit(blocks(rows, Y))
    for model in (other, device, alone):
        np.testing.assert_allclose(
            model.decision_function(rows), first.decision_function(rows), atol=1e-9
        )
    array = VanishingClassifier(OAVI(max_degree=4), psi=0.05, scale=scale).fit(rows, Y)
    np.testing.assert_allclose(
        array.decision_function(rows), first.decision_function(rows), atol=GAP
    )
    low, high = first.classifier_.scaling_.low, first.classifier_.scaling_.high
    scaled = first.classifier_.scaler_.transform(rows)
    np.testing.assert_allclose([low, high], [scaled.min(axis=0), scaled.max(axis=0)], atol=1e-12)


def test_scalings_of_the_user_need_the_rows_in_memory():
    with pytest.raises(TypeError, match=r"needs the rows in memory: .*'maxabs', 'quantile'"):
        VanishingClassifierCV(OAVI(), scale=MinMaxScaler()).fit(blocks(X, Y))
    with pytest.raises(TypeError, match="VCA does not take blocks"):
        VanishingClassifierCV(VCA()).fit(blocks(X, Y))


# -- Samples --------------------------------------------------------------------------------------


def part_of(y, weight=None):
    return RowPart(np.arange(len(y), dtype=float)[:, np.newaxis], y, weight)


@pytest.mark.parametrize("n_rows", [1000, 9999, 33333])
def test_a_sample_has_a_like_share_of_each_class_from_everywhere(n_rows, monkeypatch):
    monkeypatch.setattr(settings, "RARE_ROWS", 20)
    rng = np.random.default_rng(n_rows)
    y = np.sort(rng.integers(4, size=n_rows))  # rows of a class lie together
    rows = LabelledRows.of_part(part_of(y), np.arange(4))
    sample = sampled(rows, 800)
    places = sample.rows.part.X[:, 0].astype(int)
    assert np.all(np.diff(places) > 0)
    np.testing.assert_array_equal(sample.places[0], places)
    np.testing.assert_array_equal(y[places], sample.rows.part.y)
    share = np.bincount(sample.rows.part.y) / np.bincount(y)
    np.testing.assert_allclose(share, 800 / n_rows, rtol=0.02, atol=1e-3)
    assert len(places) == pytest.approx(800, abs=4)
    for label in range(4):  # no gap is longer than two pieces, and rows have no rhythm
        own = np.flatnonzero(y == label)
        gaps = np.diff(np.searchsorted(own, places[sample.rows.part.y == label]))
        assert gaps.max() <= 2 * n_rows / 800 + 2
        if n_rows > 2000:
            assert len(set(gaps.tolist())) > 5
    assert sample.rows.part.weight is None


def test_rows_that_take_turns_are_all_seen(monkeypatch):
    """Rows of ten sensors in turn, and every hundredth row: those of one sensor would be it."""
    monkeypatch.setattr(settings, "RARE_ROWS", 20)
    y = np.zeros(20_000, dtype=int)
    y[-1] = 1
    places = sampled(LabelledRows.of_part(part_of(y), np.arange(2)), 200).rows.part.X[:, 0]
    counts = np.bincount(places[:-1].astype(int) % 10, minlength=10)
    assert counts.min() >= 8 and counts.max() <= 35


def test_rare_classes_are_kept_and_weigh_what_they_are():
    y = np.repeat([0, 1, 2], [50_000, 900, 40])
    sample = sampled(LabelledRows.of_part(part_of(y), np.arange(3)), 5000).rows
    counts = np.bincount(sample.part.y)
    assert counts[1] == settings.RARE_ROWS and counts[2] == 40
    share = np.bincount(sample.part.y, sample.part.weight) / sample.part.weight.sum()
    np.testing.assert_allclose(share, np.bincount(y) / len(y), rtol=1e-3)
    assert sample.part.weight.sum() == pytest.approx(len(sample.part.y))


def test_rows_of_weight_zero_are_not_drawn_and_take_no_place():
    kept = WEIGHTS > 0.0
    whole = labelled_rows(VanishingClassifier(), X, Y, WEIGHTS, keep_all=True)
    alone = labelled_rows(VanishingClassifier(), X[kept], Y[kept], WEIGHTS[kept])
    lazy = labelled_rows(VanishingClassifier(), blocks(X, Y, WEIGHTS, rows=33), None, None)
    first, *others = (sampled(rows, 300).rows.part for rows in (whole, alone, lazy))
    for other in others:
        np.testing.assert_array_equal(first.X, other.X)
        np.testing.assert_array_equal(first.y, other.y)
        np.testing.assert_allclose(first.weight, other.weight * (first.weight[0] / other.weight[0]))


def test_few_rows_stay_in_memory_while_many_are_searched(monkeypatch):
    """A search in blocks has the rows of its sample in memory, and a block."""
    monkeypatch.setattr(settings, "MOST_SAMPLED", 2000)
    seen = []
    original = Trials.__init__

    def init(self, model, folds, progress):
        seen.append(sum(len(test.part.y) for _, test in folds))
        original(self, model, folds, progress)

    monkeypatch.setattr(Trials, "__init__", init)

    def many():
        for seed in range(40):
            rng = np.random.default_rng(seed)
            rows = rng.uniform(size=(500, 2))
            yield rows, rows[:, 0] * 2 > rows[:, 1] + 0.5

    model = VanishingClassifierCV(psis=(0.1,), Cs=(10.0,), scale=True).fit(many)
    assert seen[0] == pytest.approx(2000, abs=2)
    rows, y = next(many())
    assert model.score(rows, y) > 0.94


# -- Groups ---------------------------------------------------------------------------------------


def test_groups_are_held_out_as_a_whole(most, on_device):
    """Rows of a group are the same row with noise: without groups, held-out rows are known."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(size=(120, 3))
    rows = np.repeat(centres, 10, axis=0) + rng.normal(scale=1e-3, size=(M, 3))
    y = np.repeat(rng.integers(2, size=120), 10)  # of each group, by chance
    options = {"psis": (1e-5,), "Cs": (1000.0,), "scale": True}
    options |= {"transformer": OAVI(max_degree=8, oracle="ls")}
    grouped = VanishingClassifierCV(**options).fit(rows, y, groups=GROUPS)
    known = VanishingClassifierCV(**options).fit(rows, y)
    assert grouped.best_score_ < 0.7
    np.testing.assert_array_equal(grouped.decision_function(rows), known.decision_function(rows))
    by_hand = VanishingClassifierCV(**options, cv=list(GroupKFold(3).split(rows, y, GROUPS)))
    assert by_hand.fit(rows, y).best_score_ < 0.7
    told = VanishingClassifierCV(**options, cv=GroupKFold(3)).fit(rows, y, groups=GROUPS)
    assert told.best_score_ == by_hand.best_score_
    dask = pytest.importorskip("dask.array")
    chunked = [dask.from_array(a, chunks=300) for a in (y, GROUPS)]
    names = np.array([f"group {i:03d}" for i in GROUPS])
    lazy = VanishingClassifierCV(**options).fit(blocks(rows), y, groups=GROUPS)
    for arguments, groups in (
        ((Blocks(blocks(rows, y, rows=77)),), names),
        ((dask.from_array(rows, chunks=(300, 3)), chunked[0]), chunked[1]),
        ((on_device(rows), y), GROUPS),
    ):
        model = VanishingClassifierCV(**options).fit(*arguments, groups=groups)
        assert model.best_score_ == pytest.approx(lazy.best_score_, abs=1e-12)


def test_groups_skip_rows_of_weight_zero(most):
    kept = WEIGHTS > 0.0
    whole = VanishingClassifierCV(**SMALL).fit(X, Y, WEIGHTS, groups=GROUPS)
    alone = VanishingClassifierCV(**SMALL).fit(X[kept], Y[kept], WEIGHTS[kept], GROUPS[kept])
    assert_same_search(whole, alone, GAP)
    lazy = VanishingClassifierCV(**SMALL).fit(blocks(X, Y, WEIGHTS), groups=GROUPS)
    assert_same_search(lazy, alone, GAP)


def test_groups_come_through_pipelines_and_cross_validation():
    with config_context(enable_metadata_routing=True):
        search = VanishingClassifierCV(**SMALL).set_fit_request(groups=True, sample_weight=True)
        search.set_score_request(sample_weight=True)
        pipeline = make_pipeline(MinMaxScaler(), search)
        pipeline.fit(X, Y, groups=GROUPS, sample_weight=WEIGHTS)
        alone = VanishingClassifierCV(**SMALL).fit(
            MinMaxScaler().fit_transform(X), Y, WEIGHTS, GROUPS
        )
        assert pipeline[-1].best_score_ == alone.best_score_
        outer = cross_validate(
            search, X, Y, cv=GroupKFold(2), params={"groups": GROUPS, "sample_weight": WEIGHTS}
        )
        assert np.isfinite(outer["test_score"]).all()


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (GROUPS[:-1], {}, "groups has 1199 entries, and X has 1200 rows"),
        (np.where(GROUPS == 3, np.nan, GROUPS), {}, r"groups has no entry for row 30\b"),
        (np.zeros(M), {}, "groups has 1 different value, too few for 3 folds"),
        (GROUPS % 4, {"cv": 5}, "groups has 4 different values, too few for 5 folds"),
        (Y, {"cv": 2}, r"class 0, which has 600 rows in 1 group\. Add groups"),
        (None, {"cv": GroupKFold(3)}, "groups"),
    ],
    ids=["short", "gap", "one", "few", "class", "none"],
)
def test_groups_that_cannot_be_are_refused(groups, options, message):
    search = VanishingClassifierCV(**SMALL, **options)
    with pytest.raises(ValueError, match=message):
        search.fit(X, Y, groups=groups)
    assert not hasattr(search, "classes_")
    if groups is not None:
        with pytest.raises(ValueError, match="groups"):
            search.fit(blocks(X, Y), groups=groups)


def test_groups_beyond_memory_are_named_where_they_cannot_be_read():
    with pytest.raises(ValueError, match=r"^groups, .* 1-dimensional"):
        VanishingClassifierCV(**SMALL).fit(blocks(X, Y), groups=GROUPS.reshape(2, -1))


# -- Classes that are hard to split ---------------------------------------------------------------


def test_a_class_with_two_rows_is_searched_and_one_with_one_row_refused():
    rows, y = load_iris(return_X_y=True)
    kept = np.append(np.arange(100), [120, 140])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's: fewer rows than folds
        for arguments in ((rows[kept], y[kept]), (blocks(rows[kept], y[kept]),)):
            search = VanishingClassifierCV().fit(*arguments)
            assert list(search.classes_) == [0, 1, 2]
            assert np.isfinite(search.predict_proba(rows)).all()
        with pytest.raises(
            ValueError, match=r"no samples of class 2, which has 1 row in all\. Add"
        ):
            VanishingClassifierCV().fit(rows[:101], y[:101])
        with pytest.raises(ValueError, match=r"class 2, which has 1 row in all\. Add rows"):
            VanishingClassifierCV().fit(blocks(rows[:101], y[:101]))


def test_folds_with_one_class_are_refused_and_held_out_rows_of_one_are_not():
    order = np.argsort(Y, kind="stable")
    with pytest.raises(ValueError, match=r"a training fold has no samples of class 0, .* 600"):
        VanishingClassifierCV(**SMALL, cv=KFold(2)).fit(X[order], Y[order])
    search = VanishingClassifierCV(**SMALL, cv=KFold(4)).fit(X[order], Y[order])
    assert 0.5 < search.best_score_ < 1.0


@pytest.mark.parametrize(
    "cv", [PredefinedSplit(np.arange(M) % 3), [(np.arange(600), np.arange(600, M))]]
)
def test_splits_by_place_need_all_rows(cv, monkeypatch):
    search = VanishingClassifierCV(**SMALL, cv=cv)
    known = search.fit(X, Y).best_score_
    assert search.fit(blocks(X, Y)).best_score_ == known  # few enough to be all there
    monkeypatch.setattr(settings, "MOST_SAMPLED", 400)
    assert search.fit(X, Y).best_score_ == known
    before = vars(search).copy()
    with pytest.raises(ValueError, match=r"lists rows by their places, but of these 1,200"):
        search.fit(blocks(X, Y))
    assert vars(search) == before
    VanishingClassifierCV(**SMALL, cv=StratifiedKFold(3)).fit(blocks(X, Y))
