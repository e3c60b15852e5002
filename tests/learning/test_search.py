"""VanishingClassifierCV by itself: which points it looks at, and what it says of them."""

import os
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import vanishing
from vanishing import (
    ABM,
    OAVI,
    ContrastiveVanishing,
    VanishingClassifier,
    VanishingClassifierCV,
    datasets,
    listening,
)
from vanishing.learning import settings, trials
from vanishing.rows.source import RowPart

MOONS = make_moons(400, noise=0.25, random_state=0)
CIRCLES = make_circles(300, noise=0.02, factor=0.5, random_state=0)


def sets_of_the_study():
    """Return what makes each of the fourteen data sets of the benchmark."""
    path = Path(__file__).parents[2] / "benchmarks" / "studies" / "classification_sets.py"
    return runpy.run_path(str(path))["SETS"]


def looked_at(search):
    """Return what was chosen at the points with a score, in order, each once.

    Psi, scaling, class of the transformer, and the degree or the oracle of that.
    """
    results = search.cv_results_
    seen = np.isfinite(results["mean_test_score"])
    points = [p for p, is_seen in zip(results["params"], seen, strict=True) if is_seen]

    def described(point):
        transformer = point.get("transformer")
        contrastive = isinstance(transformer, ContrastiveVanishing)
        return (
            point["psi"],
            point.get("scale"),
            None if transformer is None else type(transformer).__name__,
            transformer.max_degree if contrastive else None,
            getattr(transformer, "oracle", None),
        )

    return list(dict.fromkeys(map(described, points)))


def test_psi_goes_down_while_it_pays():
    search = VanishingClassifierCV(OAVI(), scale=True).fit(*MOONS)
    psis = [psi for psi, *_ in looked_at(search)]
    assert psis == list(settings.PSIS[: len(psis)])  # none is left out
    scores = search.cv_results_["mean_test_score"]
    best = np.array([np.nanmax(scores[search.cv_results_["param_psi"] == psi]) for psi in psis])
    # It went on to two that brought nothing, hardly further, and chose the best of all: models of
    # as many generators as the one before do not count.
    assert 2 <= len(psis) - 1 - best.argmax() <= 4
    assert len(psis) > 4
    assert search.best_score_ == np.nanmax(scores)
    assert search.best_params_["psi"] == psis[int(best.argmax())]


def test_nothing_is_better_than_no_mistakes():
    search = VanishingClassifierCV().fit(*CIRCLES)
    assert search.best_score_ == 1.0
    # Greedy generators of OAVI are looked at because they may be simpler.
    assert {point[1:] for point in looked_at(search)} == {
        ("minmax", "ContrastiveVanishing", 1, None),
        ("minmax", "OAVI", None, "omp"),
    }


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_nothing(n_jobs):
    alone = VanishingClassifierCV().fit(*MOONS)
    together = VanishingClassifierCV(n_jobs=n_jobs).fit(*MOONS)
    assert str(alone.best_params_) == str(together.best_params_)
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
    assert {"psi", "C", "scale", "transformer"} == set(everything.best_params_) - {"max_equations"}
    assert {point[2] for point in looked_at(everything)} == {"ContrastiveVanishing", "OAVI"}
    for given, searched in (
        ({"transformer": OAVI(oracle="ls")}, {"scale"}),
        ({"transformer": ContrastiveVanishing(slack=0.1)}, {"scale"}),
        ({"scale": "quantile"}, {"transformer"}),
        ({"psis": (0.1, 0.01)}, {"scale", "transformer"}),
        ({"transformer": OAVI(), "scale": False}, set()),
    ):
        search = VanishingClassifierCV(**given).fit(X, y)
        results = search.cv_results_
        columns = {name for name in results if name.startswith("param_")} - {"param_max_equations"}
        assert columns == {f"param_{name}" for name in ("psi", "C", "scale", "transformer")}
        for name in ("scale", "transformer"):
            assert (len(set(map(str, results[f"param_{name}"]))) > 1) == (name in searched)
        used = search.classifier_
        assert used.scale == search.best_params_["scale"]
        assert given.get("scale") in (None, used.scale)
        if "transformer" in given:
            assert used.transformer.get_params() == given["transformer"].get_params()
            assert used.psi == search.best_params_["psi"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_weight": "balanced", "clip": False},
        {"transformer": OAVI(oracle="omp", max_degree=2), "scale": "quantile"},
        {"psis": (0.1, 0.01), "scale": True, "class_weight": {0: 1.0, 1: 2.0}},
        {"transformer": ABM(), "scale": StandardScaler(), "psis": (0.05,)},
    ],
    ids=["default", "balanced", "omp", "psis", "abm"],
)
def test_the_best_parameters_set_in_a_classifier_give_the_model_of_the_search(options):
    X, y = MOONS
    search = VanishingClassifierCV(**options).fit(X, y)
    again = VanishingClassifier().set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))
    assert search.best_params_ is search.cv_results_["params"][search.best_index_]
    names = {"C", "psi", "scale", "clip", "class_weight", "max_degree", "max_equations"}
    assert names | {"transformer"} >= set(search.best_params_) >= {"psi", "C"}
    used = search.classifier_.get_params(deep=False) | {"n_jobs": None}
    assert str(used) == str(again.get_params(deep=False))
    used["transformer"].set_params(psi=0.9)  # is not the one that was looked at
    assert "0.9" not in str(search.best_params_)


@pytest.mark.slow
@pytest.mark.parametrize("name", sets_of_the_study())
def test_so_they_do_on_every_set_of_the_study(name):
    made = sets_of_the_study()[name]
    if getattr(made, "func", None) is datasets.load and not os.environ.get("VANISHING_DATA"):
        pytest.skip("no data sets in $VANISHING_DATA")
    X, y = made()
    if len(y) > 300:
        X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
    search = VanishingClassifierCV().fit(X, y)
    again = VanishingClassifier().set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_parameters_of_no_transformer_are_neither_listed_nor_set():
    search = VanishingClassifierCV()
    assert not [name for name in search.get_params() if "__" in name]
    with pytest.raises(ValueError, match=r"Give transformer=OAVI\(oracle='omp'\)"):
        search.set_params(transformer__oracle="omp")
    assert search.transformer is None
    search.set_params(transformer=OAVI(), transformer__oracle="omp")
    assert search.get_params()["transformer__oracle"] == "omp"
    assert VanishingClassifier().set_params(transformer__oracle="omp").transformer.oracle == "omp"


def test_other_C_are_tried_beside_the_best():
    """Those that are given are not added to."""
    X, y = MOONS
    for transformer in (None, OAVI()):
        search = VanishingClassifierCV(transformer, scale=True).fit(X, y)
        results = search.cv_results_
        seen = np.isfinite(results["mean_test_score"])
        assert (
            {0.1, 1.0, 10.0} < set(results["param_C"][seen]) <= {*settings.CS, *settings.CS_BETWEEN}
        )
    given = VanishingClassifierCV(OAVI(), scale=True, Cs=(0.1, 1.0, 10.0)).fit(X, y)
    assert set(given.cv_results_["param_C"]) == {0.1, 1.0, 10.0}
    assert given.best_score_ <= search.best_score_


def test_few_mistakes_are_not_told_from_chance():
    """A square in halves: few rows are wrong; OAVI is looked at for few terms only."""
    X = np.random.default_rng(0).uniform(size=(300, 2))
    search = VanishingClassifierCV().fit(X, X[:, 0] > X[:, 1])
    assert (1.0 - search.best_score_) * len(X) < 10
    assert {(point[1], point[2], point[4]) for point in looked_at(search)} == {
        ("minmax", "ContrastiveVanishing", None),
        ("minmax", "OAVI", "omp"),
    }


def test_degrees_that_the_rows_do_not_bear_are_left_out():
    """A degree has five rows per term at least, but for the first."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(90, 5)), np.arange(90) % 2
    degrees = {point[3] for point in looked_at(VanishingClassifierCV().fit(X, y))}
    assert degrees == {1, None}  # 21 terms of degree 2, 60 rows in a training fold
    X, y = rng.uniform(size=(180, 5)), np.arange(180) % 2
    degrees = {point[3] for point in looked_at(VanishingClassifierCV().fit(X, y))}
    assert degrees == {1, 2, None}


def test_a_scaling_that_makes_columns_has_degrees_for_as_many():
    """Degree 2 of twenty columns has 231 terms, of the two given ones 6."""
    random = np.random.default_rng(0)
    X = random.integers(0, 10, (200, 2)).astype(float)
    y = (X[:, 0] > 3) ^ (random.uniform(size=200) < 0.2)
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    model = VanishingClassifierCV(scale=encoder, Cs=[1.0], cv=2).fit(X, y)
    points = [point.get("transformer") for point in model.cv_results_["params"]]
    assert {t.max_degree for t in points if isinstance(t, ContrastiveVanishing)} == {1}


def test_a_degree_that_brings_nothing_does_not_end_the_climb():
    """A board of three by three fields: lines and conics are no better than chance."""
    X = np.random.default_rng(0).uniform(0, 3, size=(900, 2))
    search = VanishingClassifierCV(scale="minmax").fit(X, np.floor(X).sum(axis=1) % 2)
    assert {point[3] for point in looked_at(search)} >= {1, 2, 3, 4}


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
        model = VanishingClassifier().set_params(**point)
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
    monkeypatch.setattr(settings, "MOST_WORK", 2500)
    search = VanishingClassifierCV(scale=True)
    message = said(search, *MOONS)
    assert message.count("not looked at: psi") == 1
    assert "too long" in message
    results = search.cv_results_
    skipped = np.isnan(results["mean_test_score"])
    assert any(skipped[results["param_psi"] == psi].all() for psi in results["param_psi"])
    assert results["rank_test_score"][skipped].min() > (~skipped).sum()
    assert np.isfinite(search.best_score_)
    with config_context(working_memory=0.01):
        assert "working_memory" in said(VanishingClassifierCV(scale=True), *MOONS)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("fitted_before", [False, True])
def test_an_interrupted_search_leaves_the_estimator_as_it_was(n_jobs, fitted_before, monkeypatch):
    X, y = MOONS
    options = {"psis": (0.1, 0.05), "Cs": (1.0,), "scale": True}
    search = VanishingClassifierCV(OAVI(), **options, n_jobs=n_jobs)
    if fitted_before:
        search.fit(X[::4, :1], y[::4])
    before = vars(search).copy()
    steps = []
    with listening(lambda done, of, what: steps.append(done)):
        VanishingClassifierCV(OAVI(), **options).fit(X, y)

    def stop_at(last):
        def callback(done, of, what):
            if done == last:
                raise KeyboardInterrupt

        return callback

    for last in (1, len(steps) // 2, len(steps)):
        with listening(stop_at(last)), pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
        assert vars(search) == before
    with monkeypatch.context() as context:  # in the fit to all rows
        context.setattr("vanishing.learning.search.fit_parts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    assert vars(search) == before
    assert hasattr(search, "classes_") == fitted_before


def interrupted(*args, **kwargs):
    raise KeyboardInterrupt


def test_a_scorer_of_one_split_is_enough():
    split = ShuffleSplit(1, random_state=0)
    search = VanishingClassifierCV(scoring="neg_log_loss", cv=split).fit(*MOONS)
    assert search.n_splits_ == 1
    assert search.best_score_ == search.cv_results_["split0_test_score"][search.best_index_]


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
    assert str(search.best_params_) == str(alone.best_params_)
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
    monkeypatch.setattr(settings, "MOST_ROWS", 100)  # fewer rows than a training fold has
    steps = []
    search = VanishingClassifierCV(Cs=(1.0,))
    with listening(lambda done, of, what: steps.append((done, of))):
        search.fit(*MOONS)
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
    assert str(again.best_params_) == str(search.best_params_)
    assert again.best_index_ == search.best_index_
    assert set(again.cv_results_) == set(search.cv_results_)
    for name in ("mean_test_score", "split1_test_score", "rank_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], search.cv_results_[name])
    for name in ("param_scale", "param_transformer"):
        assert list(map(str, again.cv_results_[name])) == list(map(str, search.cv_results_[name]))
    np.testing.assert_array_equal(again.predict_proba(MOONS[0]), search.predict_proba(MOONS[0]))


# -- Many rows ------------------------------------------------------------------------------------


def test_of_many_rows_each_class_is_thinned_alike():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [10_000, 900, 30])
    part = RowPart(rng.uniform(size=(len(y), 2)), y, None)
    rows = trials.LabelledRows.of_part(part, np.arange(3))
    thinned = trials._thinned(rows, 10)
    assert np.bincount(thinned.part.y).tolist() == [1000, 90, 30]
    assert {tuple(row) for row in thinned.part.X} <= {tuple(row) for row in part.X}


def test_small_classes_are_searched():
    X, y = load_iris(return_X_y=True)
    keep = np.concatenate([np.arange(50), np.arange(50, 56), np.arange(100, 150)])
    search = VanishingClassifierCV().fit(X[keep], y[keep])
    assert search.score(X[keep], y[keep]) > 0.9


# -- Weights of classes and of rows ---------------------------------------------------------------


def rare_class():
    """Two overlapping classes, one of them in one row of ten."""
    rng = np.random.default_rng(1)
    y = (rng.uniform(size=600) < 0.1).astype(int)
    X = rng.normal(size=(600, 3))
    X[y == 1, :2] += 1.2
    return X, y


def test_balanced_classes_are_chosen_for_by_balanced_accuracy():
    X, y = rare_class()
    options = {"class_weight": "balanced", "psis": (0.1, 0.01), "Cs": (0.01, 1.0), "scale": True}
    search = VanishingClassifierCV(**options).fit(X, y)
    told = VanishingClassifierCV(scoring="balanced_accuracy", **options).fit(X, y)
    names = [f"split{i}_test_score" for i in range(3)]
    for name in names:
        np.testing.assert_allclose(search.cv_results_[name], told.cv_results_[name], rtol=1e-12)
    plain = VanishingClassifierCV(scoring="accuracy", **options).fit(X, y)
    assert plain.best_score_ != pytest.approx(search.best_score_, abs=1e-3)
    weight = np.where(y == 1, 3.0, 1.0)  # changes nothing where classes are balanced
    again = VanishingClassifierCV(**options).fit(X, y, sample_weight=weight)
    for name in names:
        np.testing.assert_allclose(search.cv_results_[name], again.cv_results_[name], atol=0.01)


def test_what_takes_no_weights_is_named():
    X, y = rare_class()
    weight = np.ones(len(y)) + y

    def share(model, X, y):
        return float(np.mean(model.predict(X) == y))

    unweighted = make_scorer(lambda y, predicted: np.mean(y == predicted))
    for scoring in (share, unweighted):
        search = VanishingClassifierCV(OAVI(), psis=(0.1,), Cs=(1.0,), scale=True, scoring=scoring)
        search.fit(X, y)
        with pytest.raises(TypeError, match=r"scoring=.* takes no sample_weight, .*: leave"):
            search.fit(X, y, sample_weight=weight)
    neighbours = VanishingClassifier(final_estimator=KNeighborsClassifier()).fit(X, y)
    with pytest.raises(TypeError, match=r"KNeighbors.* takes no sample_weight in its fit: leave"):
        neighbours.fit(X, y, sample_weight=weight)
    VanishingClassifier(final_estimator=GaussianNB()).fit(X, y, sample_weight=weight)
