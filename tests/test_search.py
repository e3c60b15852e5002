"""VanishingClassifierCV by itself: which points it looks at, and what it says of them."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import vanishing
from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV
from vanishing.learning import trials, tuning
from vanishing.learning.search import search as run

MOONS = make_moons(400, noise=0.25, random_state=0)
CIRCLES = make_circles(300, noise=0.02, factor=0.5, random_state=0)


def looked_at(search):
    """Return psi, scale and oracle of the points with a score, in their order, each once."""
    results = search.cv_results_
    seen = np.isfinite(results["mean_test_score"])
    points = [p for p, is_seen in zip(results["params"], seen, strict=True) if is_seen]
    return list(dict.fromkeys((p["psi"], p.get("scale"), p.get("oracle")) for p in points))


def test_psi_goes_down_while_it_pays():
    search = VanishingClassifierCV(OAVI(), scale=True).fit(*MOONS)
    psis = [psi for psi, *_ in looked_at(search)]
    assert psis == tuning.descending()[: len(psis)]  # none is left out
    means = search.cv_results_["mean_test_score"].reshape(-1, 3)
    best = np.nanmax(means, axis=1)
    # It went on to two that brought nothing, hardly further, and chose the best of all: models of
    # as many generators as the one before do not count.
    assert 2 <= len(psis) - 1 - best.argmax() <= 4
    assert len(psis) > 4
    assert search.best_score_ == np.nanmax(means)
    assert search.best_params_["psi"] == psis[int(best.argmax())]


def test_nothing_is_better_than_no_mistakes():
    search = VanishingClassifierCV().fit(*CIRCLES)
    assert search.best_score_ == 1.0
    points = looked_at(search)
    assert {point[1:] for point in points} == {("minmax", "pcg")}
    assert search.best_params_["psi"] == points[-1][0]


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_nothing(n_jobs):
    alone = VanishingClassifierCV().fit(*MOONS)
    together = VanishingClassifierCV(n_jobs=n_jobs).fit(*MOONS)
    assert alone.best_params_ == together.best_params_
    for name, values in alone.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_array_equal(values, together.cv_results_[name])
    np.testing.assert_array_equal(
        alone.decision_function(MOONS[0]), together.decision_function(MOONS[0])
    )
    assert alone.temperature_ == together.temperature_


def test_what_is_given_is_not_searched_over():
    X, y = MOONS
    everything = VanishingClassifierCV().fit(X, y)
    assert set(everything.best_params_) == {"psi", "C", "scale", "oracle"}
    assert len({point[1:] for point in looked_at(everything)}) > 1
    for given, absent in (
        ({"transformer": OAVI(oracle="ls")}, {"oracle"}),
        ({"scale": "quantile"}, {"scale"}),
        ({"transformer": OAVI(), "scale": False}, {"scale", "oracle"}),
    ):
        search = VanishingClassifierCV(**given).fit(X, y)
        assert set(search.best_params_) == {"psi", "C", "scale", "oracle"} - absent
        assert not {f"param_{name}" for name in absent} & set(search.cv_results_)
        used = search.classifier_.transformer
        assert used.oracle == search.best_params_.get(
            "oracle", given.get("transformer", used).oracle
        )
        assert search.classifier_.scale == search.best_params_.get("scale", given.get("scale"))


def test_a_given_grid_is_looked_at_in_full():
    search = VanishingClassifierCV(OAVI(), psis=(0.001, 0.1, 0.02), Cs=(10.0, 1.0), scale=True)
    results = search.fit(*MOONS).cv_results_
    assert [(p["psi"], p["C"]) for p in results["params"]] == [
        (psi, C) for psi in (0.001, 0.1, 0.02) for C in (1.0, 10.0)
    ]
    assert np.isfinite(results["mean_test_score"]).all()


def test_scores_are_those_of_the_classifier_itself():
    X, y = MOONS
    search = VanishingClassifierCV().fit(X, y)
    results = search.cv_results_
    for i in np.flatnonzero(np.isfinite(results["mean_test_score"]))[::5]:
        point = results["params"][i]
        model = VanishingClassifier(
            OAVI(oracle=point["oracle"]), psi=point["psi"], C=point["C"], scale=point["scale"]
        )
        for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            score = model.fit(X[train], y[train]).score(X[test], y[test])
            assert results[f"split{fold}_test_score"][i] == pytest.approx(score, abs=1e-12)


def test_a_choice_that_is_better_by_chance_is_not_taken():
    """Labels that nothing predicts: whatever is best is so by chance."""
    rng = np.random.default_rng(0)
    taken = []
    for _ in range(8):
        X, y = rng.uniform(size=(120, 3)), rng.integers(2, size=120)
        search = VanishingClassifierCV().fit(X, y)
        taken.append(search.best_params_["scale"] != "minmax")
    assert sum(taken) <= 5


def test_heavy_tails_want_another_scaling():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(scale=3.0, size=(600, 2)))
    y = (np.log(X) ** 2).sum(axis=1) < 12.0
    search = VanishingClassifierCV().fit(X, y)
    assert search.best_params_["scale"] in ("log", "quantile")
    assert search.best_score_ > 0.95
    assert VanishingClassifierCV(scale="minmax").fit(X, y).best_score_ < search.best_score_ - 0.05


# -- What is said ---------------------------------------------------------------------------------


def said(search, *data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(*data)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else ""


def test_the_edge_of_a_given_grid_is_said_once():
    options = {"Cs": (1.0,), "scale": True}
    large = VanishingClassifierCV(OAVI(), psis=(0.5, 0.1, 0.01), **options)
    assert "best psi, 0.01, is at the edge of the values given: try smaller" in said(large, *MOONS)
    small = VanishingClassifierCV(OAVI(max_degree=3), psis=(0.01, 0.1, 0.2), **options)
    assert "best psi, 0.01, is at the edge" in said(small, *MOONS)
    inside = VanishingClassifierCV(OAVI(max_degree=3), psis=(0.5, 0.01, 1e-9), **options)
    inside.fit(*MOONS)
    assert inside.best_params_["psi"] == 0.01
    assert "edge" not in said(inside, *MOONS)
    Cs = VanishingClassifierCV(OAVI(), psis=(0.01,), Cs=(0.01, 0.05, 0.5), scale=True)
    assert "best C, 0.5, is at the edge of the values given: try larger" in said(Cs, *MOONS)


def test_what_takes_too_much_is_skipped_and_named(monkeypatch):
    monkeypatch.setattr(tuning, "_MOST_WORK", 2500)
    search = VanishingClassifierCV(scale=True)
    message = said(search, *MOONS)
    assert message.count("not looked at: psi") == 1
    assert "too long" in message
    results = search.cv_results_
    skipped = np.isnan(results["mean_test_score"])
    assert skipped.reshape(-1, 3).all(axis=1).any()
    assert results["rank_test_score"][skipped].min() > (~skipped).sum()
    assert np.isfinite(search.best_score_)
    with config_context(working_memory=0.01):
        assert "working_memory" in said(VanishingClassifierCV(scale=True), *MOONS)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupted_search_keeps_what_it_has(n_jobs, monkeypatch):
    X, y = MOONS
    whole = VanishingClassifierCV().fit(X, y)
    original = trials.Trials._try
    fits = iter(range(6))  # before the third look

    def interrupted(self, *args):
        if next(fits, None) is None:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(trials.Trials, "_try", interrupted)
    search = VanishingClassifierCV(n_jobs=n_jobs)
    assert "interrupted" in said(search, X, y)
    assert looked_at(search) == looked_at(whole)[:2]
    assert search.predict(X).shape == y.shape
    fits = iter(range(9))
    psis = (0.1, 0.05, 0.01, 0.005)
    search = VanishingClassifierCV(OAVI(), psis=psis, scale=True, n_jobs=n_jobs)
    message = said(search, X, y)
    assert [psi for psi, *_ in looked_at(search)] == [0.1, 0.05, 0.01]
    assert search.best_params_["psi"] == 0.01
    assert "interrupted" in message and "edge" not in message  # there are smaller ones
    fits = iter(())  # before anything is found: nothing changes
    fitted = vars(search).copy()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert vars(search) == fitted


def test_a_scorer_of_one_split_is_enough():
    split = ShuffleSplit(1, random_state=0)
    search = VanishingClassifierCV(scoring="neg_log_loss", cv=split).fit(*MOONS)
    assert search.n_splits_ == 1
    assert search.best_score_ == np.nanmax(search.cv_results_["split0_test_score"])


def test_scores_that_are_no_numbers_are_refused():
    X, y = MOONS[0][:20], MOONS[1][:20]
    search = VanishingClassifierCV(scoring="roc_auc", cv=LeaveOneOut())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        with pytest.raises(ValueError, match=r"'roc_auc' is not a number .* 1 row\. Use fewer"):
            search.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"scale": "Auto"}, ValueError, "scale must be True, False, 'auto', 'minmax', .*'Auto'"),
        ({"scoring": "acuracy"}, ValueError, "scoring must be one of .*got 'acuracy'"),
        ({"scoring": ["accuracy"]}, TypeError, "scoring must be one name"),
        ({"transformer": StandardScaler()}, TypeError, "no parameter psi to search over: give"),
        ({"psis": "autos"}, TypeError, "psis must be 'auto' or a sequence of numbers"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_name(parameters, error, message):
    with pytest.raises(error, match=message):
        VanishingClassifierCV(**parameters).fit(*MOONS)


def test_a_search_does_not_warn_of_rows_of_its_folds():
    rng = np.random.default_rng(0)
    X = np.exp(1.5 * rng.normal(size=(200, 3)))  # of long tails: each fold has rows far outside
    y = np.log(X[:, 0]) ** 2 + np.log(X[:, 1]) ** 2 < 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = VanishingClassifierCV(OAVI(), psis=(0.1, 0.05), scale=True, scoring="f1").fit(X, y)
    with pytest.warns(UserWarning, match="far outside"):
        search.predict(100.0 * X)


def test_rows_of_weight_zero_take_no_place_in_a_fold():
    X, y = load_iris(return_X_y=True)
    weight = np.ones(len(y))
    weight[::7] = weight[:60:3] = 0.0
    search = VanishingClassifierCV().fit(X, y, sample_weight=weight)
    alone = VanishingClassifierCV().fit(X[weight > 0.0], y[weight > 0.0])
    assert search.best_params_ == alone.best_params_
    assert search.best_score_ == pytest.approx(alone.best_score_, abs=1e-12)
    np.testing.assert_allclose(search.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def test_held_out_rows_need_not_be_of_all_classes():
    X, y = load_iris(return_X_y=True)
    places = np.arange(150)
    cv = [(places[places % 50 > 9], places[start : start + 10]) for start in (0, 50)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = VanishingClassifierCV(cv=cv, class_weight="balanced").fit(X, y)
    assert 0.0 < search.temperature_ < np.inf


def test_the_fits_of_a_search_are_counted_once(monkeypatch):
    monkeypatch.setattr(tuning, "_SCREENED", 100)  # fewer rows than a training fold has
    steps = []
    search = VanishingClassifierCV(Cs=(1.0,))
    run(search, *MOONS, on_step=lambda done, planned: steps.append((done, planned)))
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert steps[-1] == (len(steps), len(steps))


@pytest.mark.parametrize("scale", [True, "quantile", "log", StandardScaler()], ids=repr)
def test_tables_that_are_wanted_everywhere_change_nothing(scale):
    X, y = MOONS
    search = VanishingClassifierCV(psis=(0.1, 0.01), Cs=(1.0,), scale=scale)
    expected = clone(search).fit(X, y).predict_proba(X)
    with config_context(transform_output="pandas"):
        np.testing.assert_array_equal(search.fit(X, y).predict_proba(X), expected)


def test_a_search_is_saved_with_what_it_did_not_look_at(tmp_path):
    search = VanishingClassifierCV().fit(*MOONS)
    assert np.isnan(search.cv_results_["mean_test_score"]).any()
    search.save(tmp_path / "search.json")
    again = vanishing.load(tmp_path / "search.json")
    assert again.best_params_ == search.best_params_
    assert again.best_index_ == search.best_index_
    assert set(again.cv_results_) == set(search.cv_results_)
    for name in ("mean_test_score", "split1_test_score", "rank_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], search.cv_results_[name])
    assert again.cv_results_["param_scale"].tolist() == search.cv_results_["param_scale"].tolist()
    np.testing.assert_array_equal(again.predict_proba(MOONS[0]), search.predict_proba(MOONS[0]))


# -- Many rows ------------------------------------------------------------------------------------


def test_of_many_rows_each_class_is_thinned_alike():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [10_000, 900, 30])
    rows = trials.LabelledRows(rng.uniform(size=(len(y), 2)), y, None, np.arange(3))
    thinned = trials._thinned(rows, 10)
    assert np.bincount(thinned.y).tolist() == [1000, 90, 30]
    assert {tuple(row) for row in thinned.X} <= {tuple(row) for row in rows.X}


def test_small_classes_are_searched():
    X, y = load_iris(return_X_y=True)
    keep = np.concatenate([np.arange(50), np.arange(50, 56), np.arange(100, 150)])
    search = VanishingClassifierCV().fit(X[keep], y[keep])
    assert search.score(X[keep], y[keep]) > 0.9
