"""VanishingClassifierCV by itself: which points it looks at, and what it says of them."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.model_selection import StratifiedKFold

import vanishing
from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV
from vanishing.learning import trials, tuning

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
    # It went on to two that brought nothing, and chose the best of all.
    assert best[-2:].max() <= best[:-2].max()
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


def test_an_interrupted_search_keeps_what_it_has(monkeypatch):
    X, y = MOONS
    whole = VanishingClassifierCV().fit(X, y)
    n_done = 0
    original = trials.Trials._try

    def interrupted(self, *args):
        nonlocal n_done
        n_done += 1
        if n_done > 7:  # in the third look
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(trials.Trials, "_try", interrupted)
    search = VanishingClassifierCV()
    assert "interrupted" in said(search, X, y)
    assert looked_at(search) == looked_at(whole)[:2]
    assert search.predict(X).shape == y.shape
    n_done = 7  # before anything is found: nothing changes
    fitted = vars(search).copy()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert vars(search) == fitted


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
