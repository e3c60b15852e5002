"""Probabilities, class weights, psi and generators of the classifiers."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

import vanishing
from vanishing import (
    ABM,
    OAVI,
    Blocks,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)
from vanishing.learning import left_out
from vanishing.learning.classifier import learned_temperature
from vanishing.learning.labels import labelled_rows
from vanishing.learning.temperature import Loss, learn_temperature, least_loss
from vanishing.rows.arrays import to_numpy

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, WINES = load_wine(return_X_y=True)
MOONS, SIDES = make_moons(240, noise=0.35, random_state=0)
DATA = {
    "moons": (MOONS, np.array(["up", "down"])[SIDES]),
    "iris": (IRIS, SPECIES),
    "wine": (WINE, WINES),
}


def scores_of(n_classes, n=200, seed=0):
    """Decision values that say something of the classes, but not all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    if n_classes == 2:
        return rng.normal(size=n) + y - 0.5, y
    return rng.normal(size=(n, n_classes)) + (y[:, np.newaxis] == np.arange(n_classes)), y


def log_loss(scores, y, temperature, weight=None):
    """The loss that a temperature is to minimise: Laplace's rule for mistakes included."""
    if scores.ndim == 1:
        scores = np.column_stack([-scores / 2, scores / 2])
    weight = np.ones(len(y)) if weight is None else weight
    n_classes = scores.shape[1]
    mistake = 1 / (weight.sum() + 2)
    target = np.full(scores.shape, mistake / (n_classes - 1))
    target[np.arange(len(y)), y] = 1 - mistake
    return -(weight[:, np.newaxis] * target * log_softmax(scores / temperature, axis=1)).sum()


# -- The temperature ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_temperature_has_a_smaller_loss(n_classes, weighted):
    scores, y = scores_of(n_classes)
    weight = np.random.default_rng(0).uniform(size=len(y)) if weighted else None
    found = learn_temperature(scores, y, weight)
    losses = [log_loss(scores, y, T, weight) for T in found * np.geomspace(0.01, 100, 401)]
    assert np.argmin(losses) == 200
    # A minimum: the loss is flat there, and not a little beside it.
    steps = [log_loss(scores, y, found * factor, weight) for factor in (0.999, 1.0, 1.001)]
    assert abs(steps[2] - steps[0]) < 1e-2 * (steps[0] + steps[2] - 2 * steps[1])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_are_repetitions_and_order_does_not_matter(n_classes):
    scores, y = scores_of(n_classes)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(y))
    expected = learn_temperature(np.repeat(scores, weight, axis=0), np.repeat(y, weight))
    assert learn_temperature(scores, y, weight.astype(float)) == pytest.approx(expected, rel=1e-7)
    order = rng.permutation(len(y))
    shuffled = learn_temperature(scores[order], y[order], weight[order].astype(float))
    assert shuffled == pytest.approx(expected, rel=1e-7)
    assert learn_temperature(3 * scores, y) == pytest.approx(3 * learn_temperature(scores, y))


def test_rows_that_are_all_right_have_a_temperature():
    """Their mean probability is what Laplace's rule says of N rows without a mistake."""
    for n_samples in (4, 100, 10_000):
        y = np.arange(n_samples) % 2
        temperature = learn_temperature(2.0 * y - 1.0, y)
        assert expit(1 / temperature) == pytest.approx((n_samples + 1) / (n_samples + 2))


def test_scores_that_say_nothing_or_the_wrong_thing_give_nearly_equal_probabilities():
    scores, y = scores_of(3)
    assert learn_temperature(-scores, y) == pytest.approx(1e3)
    assert 0 < learn_temperature(np.zeros(10), np.arange(10) % 2) <= 1e3


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("scale", [1e-9, 0.01, 1.0, 30.0, -1.0])
def test_a_temperature_is_found_in_few_passes(n_classes, scale):
    scores, y = scores_of(n_classes)
    loss = Loss(scale * scores, y, None, float(len(y)))
    passes = []

    def slopes(rates):
        passes.append(len(rates))
        return loss.slopes(rates)

    temperature = least_loss(slopes, n_rates=11, accuracy=1e-3)
    assert temperature == pytest.approx(learn_temperature(scale * scores, y), rel=1e-5)
    assert len(passes) <= 5 and set(passes) == {11}


# -- Rows that are left out -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
def test_rows_left_out_score_as_if_they_had_been(name, monkeypatch):
    X, y = DATA[name]
    model = VanishingClassifier(OAVI(0.01)).fit(X, y)
    seen = []
    monkeypatch.setattr(left_out, "learn_temperature", lambda scores, *_: seen.append(scores))
    scaled = model.scaling_(X)
    rows = labelled_rows(VanishingClassifier(), scaled, y, None)
    learned_temperature(model, rows)
    values = model.features_.transform(scaled)
    # Those that the SVM would change most for, and some others.
    moved = np.abs(seen[0] - model.decision_function(X)).reshape(len(y), -1).max(axis=1)
    chosen = np.r_[np.argsort(-moved)[:6], 0 : len(y) : len(y) // 6]
    exact = [
        L1SquaredHingeSVC(tol=1e-8)
        .fit(np.delete(values, i, axis=0), np.delete(y, i))
        .decision_function(values[i : i + 1])[0]
        for i in chosen
    ]
    errors = np.abs(seen[0][chosen] - exact).mean()
    trained = np.abs(model.decision_function(X)[chosen] - exact).mean()
    assert trained > 0.01
    assert errors < 0.4 * trained


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_classifier_of_weighted_rows_is_that_of_repeated_ones(name, class_weight):
    X, y = DATA[name]
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    final = VanishingClassifier(OAVI(0.01, oracle="ls"), class_weight=class_weight)
    weighted = clone(final).fit(X, y, sample_weight=weight)
    repeated = clone(final).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.temperature_, repeated.temperature_, rtol=1e-2)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-2)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = clone(final).fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_allclose(weighted.temperature_, shuffled.temperature_, rtol=1e-2)


# -- Probabilities --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("search", [False, True])
def test_probabilities_agree_with_predictions_and_decision_values(name, search):
    X, y = DATA[name]
    model = VanishingClassifier(C=10.0)
    if search:
        model = VanishingClassifierCV(psis=(0.05, 0.01), Cs=(1.0, 10.0))
    model.fit(X[::2], y[::2])
    chances, scores = model.predict_proba(X), model.decision_function(X)
    assert chances.shape == (len(y), len(model.classes_))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))
    if len(model.classes_) == 2:
        order = np.argsort(scores)
        assert (np.diff(chances[order, 1]) >= 0.0).all()
        np.testing.assert_allclose(chances[:, 1], expit(scores / model.temperature_), rtol=1e-9)
    else:
        expected = softmax(scores / model.temperature_, axis=1)
        np.testing.assert_allclose(chances, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "options", [{}, {"scoring": "neg_log_loss"}, {"class_weight": {0: 9.0, 1: 1.0, 2: 0.2}}]
)
def test_the_search_learns_from_rows_held_out(options):
    X, y = DATA["wine"]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = VanishingClassifierCV(
        OAVI(), psis=(0.05, 0.01), Cs=(1.0, 10.0), cv=cv, scale=True, clip=True, **options
    ).fit(X, y)
    best = VanishingClassifier(**model.best_params_)
    held_out = cross_val_predict(best, X, y, cv=cv, method="decision_function")
    weight = None if model.class_weight is None else np.array([9.0, 1.0, 0.2])[y]
    expected = learn_temperature(held_out, y, weight)
    assert model.temperature_ == pytest.approx(expected, rel=1e-2)
    if weight is not None:
        assert learn_temperature(held_out, y) != pytest.approx(expected, rel=2e-2)


def test_the_temperature_is_that_of_new_rows():
    """On rows that were not trained on, twice or half of it is worse."""
    X, y = make_moons(3000, noise=0.35, random_state=1)
    model = VanishingClassifier(C=10.0).fit(X[:300], y[:300])
    scores, chosen = model.decision_function(X[300:]), y[300:]
    best = log_loss(scores, chosen, model.temperature_)
    for factor in (0.5, 2.0):
        assert log_loss(scores, chosen, factor * model.temperature_) > 1.01 * best


def test_a_final_estimator_has_its_own_probabilities():
    X, y = DATA["iris"]
    model = VanishingClassifier(final_estimator=LogisticRegression()).fit(X, y)
    assert model.temperature_ is None
    values = model.features_.transform(model.scaling_(X))
    expected = model.final_estimator_.predict_proba(values)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert not hasattr(VanishingClassifier(final_estimator=LinearSVC()), "predict_proba")
    ours = VanishingClassifier(final_estimator=L1SquaredHingeSVC(2.0)).fit(X, y)
    same = VanishingClassifier(C=2.0).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(X))


def test_a_model_saved_without_a_temperature_says_so():
    model = vanishing.load(Path(__file__).parents[1] / "data" / "model_v1_classifier.json")
    assert model.temperature_ is None
    with pytest.raises(ValueError, match="Fit it again"):
        model.predict_proba([[1.4, 0.2]])


# -- Rows elsewhere -------------------------------------------------------------------------------


def in_blocks(X, y, weight):
    parts = [slice(0, 1), slice(1, 90), slice(90, None)]
    return (Blocks([(X[p], y[p], weight[p]) for p in parts]),)


def in_dask(X, y, weight):
    da = pytest.importorskip("dask.array")
    return tuple(da.from_array(values, chunks=70) for values in (X, y, weight))


def on_a_device(X, y, weight):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").asarray(X), y, weight


def on_a_strict_device(X, y, weight):
    pytest.importorskip("array_api_compat")
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(X, device=xp.Device("device1")), y, weight


@pytest.mark.parametrize("elsewhere", [in_blocks, in_dask, on_a_device, on_a_strict_device])
@pytest.mark.parametrize("name", ["moons", "iris"])
@pytest.mark.parametrize("class_weight", [None, "balanced", "given"])
def test_rows_elsewhere_give_the_same_probabilities(elsewhere, name, class_weight):
    X, y = DATA[name]
    y = np.unique(y, return_inverse=True)[1]
    if class_weight == "given":
        class_weight = {0: 3.0, 1: 0.5} if name == "moons" else {0: 1.0, 1: 2.0, 2: 0.5}
    weight = np.random.default_rng(2).integers(0, 3, len(y)) + 0.5 * (y == 0)
    svm = L1SquaredHingeSVC(tol=1e-9, class_weight=class_weight)
    model = VanishingClassifier(OAVI(0.01, oracle="ls"), class_weight=class_weight)
    model._final = lambda: clone(svm)  # to more digits than the default
    expected = model.fit(X, y, weight).predict_proba(X)
    temperature = model.temperature_
    rows = elsewhere(X, y, weight)
    model.fit(*rows)
    assert model.temperature_ == pytest.approx(temperature, rel=2e-5)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-5)
    if elsewhere is not in_blocks:
        found = model.predict_proba(rows[0])
        assert type(found) is type(rows[0])
        np.testing.assert_allclose(to_numpy(found), expected, atol=2e-5)


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_slopes_of_the_loss_are_those_of_its_differences(n_classes, device):
    scores, y = scores_of(n_classes)
    weight, rates, step = np.linspace(0.5, 2.0, len(y)), np.array([0.3, 1.0, 4.0]), 1e-4
    below, here, above = (
        np.array([log_loss(scores, y, 1.0 / rate, weight) for rate in rates + change])
        for change in (-step, 0.0, step)
    )
    total, rows = float(weight.sum()), (scores, y, weight)
    if device:
        rows = [on_a_strict_device(values, None, None)[0] for values in rows]
    slope, curvature = to_numpy(Loss(*rows, total).slopes(rates))
    np.testing.assert_allclose(slope, (above - below) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(curvature, (above - 2 * here + below) / step**2, rtol=1e-4)


# -- Weights of classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["moons", "iris"])  # liblinear takes forever on wine
@pytest.mark.parametrize("class_weight", ["balanced", "given"])
def test_class_weights_are_those_of_liblinear(name, class_weight):
    X, y = DATA[name]
    keep = (y != y[0]) | (np.arange(len(y)) % 3 == 0)  # classes of different sizes
    X, y = X[keep], y[keep]
    if class_weight == "given":
        class_weight = {label: 1.0 + 4 * i for i, label in enumerate(np.unique(y))}
    model = VanishingClassifier(psi=0.05, class_weight=class_weight)
    model._final = lambda: L1SquaredHingeSVC(tol=1e-9, class_weight=model.class_weight)
    model.fit(X, y)
    values = model.features_.transform(model.scaling_(X))
    reference = LinearSVC(
        penalty="l1", dual=False, class_weight=class_weight, tol=1e-8, max_iter=100_000
    ).fit(values, y)
    ours, theirs = (
        final.decision_function(values) for final in (model.final_estimator_, reference)
    )
    np.testing.assert_allclose(ours, theirs, atol=0.02)
    plain = VanishingClassifier(psi=0.05).fit(X, y)
    assert np.abs(plain.decision_function(X) - ours).max() > 0.05


def test_balanced_classes_have_the_same_say():
    """Twenty times the rows of one class change neither predictions nor probabilities."""
    X, y = DATA["moons"]
    weight = np.where(y == "up", 20, 1)
    model = VanishingClassifier(OAVI(0.02, oracle="ls"), class_weight="balanced").fit(X, y)
    total = len(y) / weight.sum()  # costs are C times weights: as many rows in all
    many = VanishingClassifier(OAVI(0.02, oracle="ls"), class_weight="balanced", C=total)
    many.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(many.decision_function(X), model.decision_function(X), atol=0.02)
    plain = VanishingClassifier(OAVI(0.02, oracle="ls")).fit(X, y, sample_weight=weight)
    assert np.mean(plain.predict(X) == "up") > np.mean(model.predict(X) == "up") + 0.1


@pytest.mark.parametrize(
    "class_weight, error, said",
    [
        ("equal", TypeError, "'balanced' or None"),
        ([1.0, 2.0], TypeError, "'balanced' or None"),
        ({0: -1.0}, ValueError, "class_weight of 0"),
        ({0: "much"}, TypeError, "class_weight of 0"),
        ({0: np.inf}, ValueError, "class_weight of 0"),
    ],
)
def test_class_weights_that_are_none(class_weight, error, said):
    for model in (VanishingClassifier, L1SquaredHingeSVC):
        with pytest.raises(error, match=said):
            model(class_weight=class_weight).fit(IRIS, SPECIES)


def test_class_weights_are_not_for_a_final_estimator():
    model = VanishingClassifier(final_estimator=LogisticRegression(), class_weight="balanced")
    with pytest.raises(ValueError, match="set it in final_estimator"):
        model.fit(IRIS, SPECIES)


# -- psi ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transformer", [None, OAVI(0.001), ABM()])
def test_psi_takes_the_place_of_the_transformers(transformer):
    before = None if transformer is None else transformer.get_params()
    model = VanishingClassifier(transformer, psi=0.02).fit(IRIS, SPECIES)
    given = clone(OAVI() if transformer is None else transformer).set_params(psi=0.02)
    expected = VanishingClassifier(given).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(model.decision_function(IRIS), expected.decision_function(IRIS))
    assert transformer is None or transformer.get_params() == before
    assert model.transformer is transformer


@pytest.mark.parametrize("psi", [-0.1, 1.0, np.nan, "small", True])
def test_a_bad_psi_is_named(psi):
    error = TypeError if isinstance(psi, (str, bool)) else ValueError
    with pytest.raises(error, match="psi must be a number"):
        VanishingClassifier(psi=psi).fit(IRIS, SPECIES)
    # What that is the transformer knows best: gradients have any size.
    if psi is not True and psi == 1.0:
        VanishingClassifier(ABM(normalization="gradient"), psi=psi, scale=False).fit(IRIS, SPECIES)


def test_a_transformer_without_psi_is_named():
    with pytest.raises(TypeError, match="MinMaxScaler has no parameter psi"):
        VanishingClassifier(MinMaxScaler(), psi=0.1).fit(IRIS, SPECIES)


# -- Generators -----------------------------------------------------------------------------------


def test_generators_are_in_the_order_of_the_features():
    features = VanishingFeatures(OAVI(0.01)).fit(IRIS / 8, SPECIES)
    generators = features.generators_
    assert len(generators) == features.n_generators_ > 10
    values = features.transform(IRIS / 8)
    for i in (0, 5, len(generators) - 1, -1):
        np.testing.assert_allclose(np.abs(generators[i](IRIS / 8)), values[:, i], atol=1e-12)
    assert [str(g) for g in generators[2:9:3]] == [str(generators[i]) for i in (2, 5, 8)]
    names = [f"|{g}|" for g in generators]
    assert [n.split(": ")[1] for n in features.get_feature_names_out()] == names
    with pytest.raises(IndexError):
        generators[len(generators)]
    assert str(len(generators)) in repr(generators)
    again = pickle.loads(pickle.dumps(generators))
    assert [str(g) for g in again] == [str(g) for g in generators]


@pytest.mark.parametrize("model", [VanishingClassifier(), VanishingClassifierCV(psis=(0.01,))])
def test_generators_of_classifiers(model):
    assert not hasattr(model, "generators_")
    model = clone(model).fit(IRIS, SPECIES)
    assert len(model.generators_) == model.n_generators_ == len(list(model.generators_))
    scaled = MinMaxScaler().fit_transform(IRIS)
    values = model.classifier_.features_ if hasattr(model, "classifier_") else model.features_
    expected = values.transform(scaled)[:, 7]
    np.testing.assert_allclose(np.abs(model.generators_[7](scaled)), expected, atol=1e-12)


def test_probabilities_in_a_pipeline():
    model = make_pipeline(MinMaxScaler(), VanishingClassifier(psi=0.02, scale=False))
    assert model.fit(IRIS, SPECIES).predict_proba(IRIS).shape == (150, 3)
