"""Class-wise features, the classifier and its tuning."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV, VanishingFeatures


def iris(n_classes=3):
    X, y = load_iris(return_X_y=True)
    keep = y < n_classes
    return X[keep], y[keep]


def scaled_iris():
    X, y = iris()
    return MinMaxScaler().fit_transform(X), y


def two_circles(seed=0, n=300):
    """Two concentric circles: no line separates them, one equation does."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 2 * n)
    radius = np.repeat([1.0, 0.6], n)
    X = radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(scale=0.01, size=X.shape), np.repeat(["out", "in"], n)


# -- VanishingFeatures ------------------------------------------------------------------------


def test_features_are_the_transforms_of_each_class():
    X, y = scaled_iris()
    features = VanishingFeatures(OAVI(psi=0.01)).fit(X, y)
    models = [OAVI(psi=0.01).fit(X[y == k]) for k in range(3)]
    np.testing.assert_array_equal(
        features.transform(X), np.hstack([model.transform(X) for model in models])
    )
    assert features.n_generators_ == sum(m.n_generators_ for m in models)
    assert features.n_terms_ == sum(m.n_terms_ for m in models)
    # A coefficient stands for zero also where its term came after the generator.
    zeros = sum(m.n_coefficients_ - np.count_nonzero(m.coef_) for m in models)
    entries = sum(m.n_coefficients_ for m in models)
    assert features.sparsity_ == pytest.approx(zeros / entries)


def test_features_take_weights_and_threads():
    X, y = scaled_iris()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = VanishingFeatures(n_jobs=2).fit(X, y, weight)
    repeated = VanishingFeatures().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-6)


def test_a_class_without_generators_is_no_problem():
    rng = np.random.default_rng(0)
    circle = two_circles()[0][:100]
    X = np.vstack([circle, rng.uniform(-1, 1, (100, 2))])
    y = np.repeat([0, 1], 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features = VanishingFeatures(OAVI(psi=0.001, max_degree=2)).fit(X, y)
    assert features.transformers_[0].n_generators_ == 1
    assert features.transformers_[1].n_generators_ == 0
    assert features.transform(X).shape == (200, 1)


def test_no_generators_at_all_is_one_warning():
    X = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    y = np.repeat([0, 1], 50)
    transformer = OAVI(psi=1e-6, max_degree=1)
    with pytest.warns(UserWarning, match="nothing vanishes") as record:
        features = VanishingFeatures(transformer).fit(X, y)
    assert len(record) == 1
    assert features.transform(X).shape == (100, 0)
    with pytest.warns(UserWarning, match="nothing vanishes") as record:
        model = VanishingClassifier(transformer).fit(X, np.repeat([0, 1], [30, 70]))
    assert len(record) == 1
    np.testing.assert_array_equal(model.predict(X), 1)  # the intercept decides: the larger class


def test_feature_names_say_class_and_polynomial():
    X, y = scaled_iris()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    features = VanishingFeatures(OAVI(oracle="omp")).fit(frame, labels)
    names = features.get_feature_names_out()
    assert len(set(names)) == features.n_generators_
    assert names[0].startswith("setosa: |c - ")
    assert str(features.transformers_[0].generators_[0]).startswith("c - ")
    out = features.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == list(names)
    with pytest.raises(ValueError, match="feature names"):
        features.transform(frame.rename(columns={"a": "z"}))


# -- VanishingClassifier ----------------------------------------------------------------------


def test_classifier_is_scaling_features_and_svm():
    X, y = iris()
    model = VanishingClassifier(OAVI(psi=0.01), C=10.0, clip=False).fit(X[::2], y[::2])
    scaler = MinMaxScaler().fit(X[::2])
    features = VanishingFeatures(OAVI(psi=0.01)).fit(scaler.transform(X[::2]), y[::2])
    values = features.transform(scaler.transform(X))
    final = model.final_estimator_
    np.testing.assert_allclose(
        model.decision_function(X), values @ final.coef_.T + final.intercept_, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    assert model.n_generators_ == features.n_generators_
    assert model.n_terms_ == features.n_terms_
    assert model.sparsity_ == features.sparsity_
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_circles_are_separated_by_their_equation():
    X, y = two_circles()
    X_new, y_new = two_circles(seed=1)
    assert VanishingClassifier(OAVI(psi=0.001)).fit(X, y).score(X_new, y_new) == 1.0
    assert LinearSVC().fit(X, y).score(X_new, y_new) < 0.7


def test_only_generators_with_a_weight_are_evaluated():
    X, y = iris()
    model = VanishingClassifier(C=0.5).fit(X, y)
    used = np.flatnonzero(model.final_estimator_.coef_.any(axis=0))
    assert 0 < used.size < model.n_generators_
    assert sum(len(generators) for generators, _ in model.decisive_) == used.size
    # Break every generator that has no weight: nothing changes.
    before = model.decision_function(X)
    for transformer in model.features_.transformers_:
        transformer.coef_[...] = np.nan
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("scale", [True, False, "quantile", StandardScaler()])
@pytest.mark.parametrize("clip", [True, False])
def test_scalings(scale, clip):
    X, y = iris()
    model = VanishingClassifier(OAVI(psi=0.01, max_degree=3), scale=scale, clip=clip).fit(X, y)
    assert model.score(X, y) > 0.9
    far = X.mean(axis=0) + 100.0 * (X[:1] - X.mean(axis=0))
    clipped = np.clip(far, X.min(axis=0), X.max(axis=0))
    same = np.allclose(model.decision_function(far), model.decision_function(clipped), atol=1e-6)
    # Quantiles are clipped by themselves.
    assert same == (clip or scale == "quantile")


def test_any_final_estimator():
    X, y = iris()
    model = VanishingClassifier(final_estimator=RandomForestClassifier(random_state=0)).fit(X, y)
    assert model.predict_proba(X).shape == (150, 3)
    assert model.score(X, y) > 0.95
    assert not hasattr(model, "decision_function")
    assert not hasattr(VanishingClassifier(final_estimator=LinearSVC()), "predict_proba")
    with pytest.raises(ValueError, match="final_estimator"):
        model.explain(X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_add_up_to_the_decision(n_classes):
    X, y = iris(n_classes)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = VanishingClassifier(C=10.0).fit(frame, y)
    scores = model.decision_function(frame)
    intercept = model.final_estimator_.intercept_
    for row, (explanation, score) in enumerate(
        zip(model.explain(frame, n_generators=1000), scores, strict=True)
    ):
        total = sum(part["contribution"] for part in explanation)
        if n_classes == 2:
            assert total + intercept[0] == pytest.approx(score, abs=1e-8)
        else:
            assert total + intercept[score.argmax()] == pytest.approx(score.max(), abs=1e-8)
        sizes = [abs(part["contribution"]) for part in explanation]
        assert sizes == sorted(sizes, reverse=True)
        part = explanation[0]
        value = part["generator"](model.scaler_.transform(frame.to_numpy()[row : row + 1]))
        assert part["value"] == pytest.approx(abs(value[0]), abs=1e-10)
        assert part["class"] in model.classes_
        assert set(part["generator"].feature_names) == {"a", "b", "c", "d"}


def test_strings_pandas_and_pickle():
    X, y = iris()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = pd.Series(np.array(["p", "q", "r"])[y])
    model = VanishingClassifier().fit(frame, labels)
    np.testing.assert_array_equal(
        model.predict(frame), np.array(["p", "q", "r"])[VanishingClassifier().fit(X, y).predict(X)]
    )
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["a", "b", "c"]])


@pytest.mark.parametrize(
    "options, error",
    [
        ({"C": 0.0}, ValueError),
        ({"C": np.nan}, ValueError),
        ({"scale": "largest"}, ValueError),
        ({"scale": 3}, TypeError),
    ],
)
def test_bad_parameters(options, error):
    X, y = iris()
    with pytest.raises(error, match=next(iter(options))):
        VanishingClassifier(**options).fit(X, y)


@pytest.mark.parametrize("estimator", [VanishingClassifier(), VanishingClassifierCV()])
def test_bad_labels(estimator):
    X, y = iris()
    with pytest.raises(ValueError, match="only one class"):
        estimator.fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, np.where(y == 1, np.nan, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator.fit(X, y[:-1])


# -- VanishingClassifierCV --------------------------------------------------------------------

PSIS, CS = (0.05, 0.01), (0.1, 1.0, 10.0)


def test_search_agrees_with_grid_search():
    X, y = load_wine(return_X_y=True)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    transformer = OAVI(max_degree=2)
    ours = VanishingClassifierCV(transformer, psis=PSIS, Cs=CS, cv=splitter).fit(X, y)
    theirs = GridSearchCV(
        VanishingClassifier(transformer), {"transformer__psi": PSIS, "C": CS}, cv=splitter
    ).fit(X, y)
    for i, params in enumerate(ours.cv_results_["params"]):
        j = theirs.cv_results_["params"].index(
            {"transformer__psi": params["psi"], "C": params["C"]}
        )
        # Both solve to a gap of 1e-4 from other starting points: a row on the border may differ.
        for name in ("split0_test_score", "split1_test_score", "split2_test_score"):
            assert ours.cv_results_[name][i] == pytest.approx(
                theirs.cv_results_[name][j], abs=1.01 / (len(y) // 3)
            )
    missing = set(theirs.cv_results_) - set(ours.cv_results_) - {"param_transformer__psi"}
    assert not missing
    assert pd.DataFrame(ours.cv_results_).shape[0] == len(PSIS) * len(CS)
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    assert ours.best_score_ == ours.cv_results_["mean_test_score"].max()
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_params_["C"] == ours.classifier_.C
    assert ours.classifier_.psi == ours.best_params_["psi"]
    np.testing.assert_array_equal(ours.predict(X), ours.classifier_.predict(X))
    np.testing.assert_array_equal(ours.decision_function(X), ours.classifier_.decision_function(X))


def test_folds_are_honest():
    """Nothing of a validation row reaches the model that is scored on it."""
    X, y = iris()
    train, test = np.arange(150)[::2], np.arange(150)[1::2]
    grid = {"psis": PSIS, "Cs": CS, "scale": True, "cv": [(train, test)]}
    search = VanishingClassifierCV(OAVI(), **grid, scoring=None)
    plain = search.fit(X, y).cv_results_["split0_test_score"]
    # Rows far outside change the scaling, if anyone looks at them: half of the validation rows
    # become such outliers, and the scores on the other half must not move.
    outlying = X.copy()
    outlying[test[::2]] *= 50.0
    seen = []

    def score(model, rows, labels):
        inside = rows.max(axis=1) < 20.0
        seen.append(inside.sum())
        return np.mean(model.predict(rows[inside]) == labels[inside])

    def score_second_half(model, rows, labels):
        return np.mean(model.predict(rows[1::2]) == labels[1::2])

    half = VanishingClassifierCV(OAVI(), **grid, scoring=score_second_half)
    expected = half.fit(X, y).cv_results_["split0_test_score"]
    search = VanishingClassifierCV(OAVI(), **grid, scoring=score)
    found = search.fit(outlying, y).cv_results_["split0_test_score"]
    assert set(seen) == {len(test[1::2])}
    np.testing.assert_array_equal(found, expected)
    # Every fold trains on all other rows: the scores are those of a plain fit to them.
    for score, params in zip(plain, search.cv_results_["params"], strict=True):
        model = VanishingClassifier(OAVI(psi=params["psi"]), C=params["C"])
        model.fit(X[train], y[train])
        assert score == pytest.approx(model.score(X[test], y[test]), abs=1.01 / len(test))


def test_threads_do_not_change_anything(capsys):
    X, y = iris()
    results = [
        VanishingClassifierCV(psis=PSIS, Cs=CS, n_jobs=n_jobs, verbose=1).fit(X, y)
        for n_jobs in (1, 2)
    ]
    for name, values in results[0].cv_results_.items():
        if name.endswith("score"):
            np.testing.assert_array_equal(values, results[1].cv_results_[name])
    assert capsys.readouterr().out.count("[VanishingClassifierCV]") == 2 * 3 * len(PSIS)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "neg_log_loss"])
def test_scorers(scoring):
    X, y = iris()
    search = VanishingClassifierCV(psis=PSIS, Cs=CS, scoring=scoring)
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    if scoring == "neg_log_loss":  # that of equal probabilities is -log 3
        assert (scores > -1.0).all() and (scores < 0.0).all()
        return
    plain = VanishingClassifierCV(psis=PSIS, Cs=CS).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores, plain, atol=1e-12 if scoring == "accuracy" else 0.02)


def test_weights_in_the_search():
    X, y = iris()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    search = VanishingClassifierCV(psis=PSIS, Cs=CS)
    weighted = search.fit(X, y, sample_weight=weight).cv_results_["mean_test_score"]
    everything = VanishingClassifierCV(psis=PSIS, Cs=CS, scoring="accuracy")
    np.testing.assert_allclose(
        weighted, everything.fit(X, y, sample_weight=weight).cv_results_["mean_test_score"]
    )
    assert not np.allclose(weighted, search.fit(X, y).cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    "options, error, match",
    [
        ({"psis": ()}, ValueError, "psis is empty"),
        ({"Cs": []}, ValueError, "Cs is empty"),
        ({"Cs": [0.0]}, ValueError, "Cs"),
        ({"psis": [1.0]}, ValueError, "psis"),
        ({"psis": ["a"]}, TypeError, "psis"),
        ({"Cs": 1.0}, TypeError, "Cs"),
        ({"cv": KFold(3)}, ValueError, "no samples of class"),
        ({"scale": "nonsense"}, ValueError, "scale"),
    ],
)
def test_bad_searches(options, error, match):
    X, y = iris()  # sorted by class: plain folds leave one out
    with pytest.raises(error, match=match):
        VanishingClassifierCV(**options).fit(X, y)


def test_logistic_regression_in_a_search_over_the_pipeline():
    X, y = iris()
    search = GridSearchCV(
        VanishingClassifier(OAVI(), final_estimator=LogisticRegression(max_iter=1000)),
        {"transformer__psi": (0.05, 0.01), "final_estimator__C": (1.0, 100.0)},
    ).fit(X, y)
    assert search.best_score_ > 0.9
