"""The classifiers as scikit-learn's users meet them: warnings, parameters, searches, errors."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import vanishing
from vanishing import (
    OAVI,
    VCA,
    Blocks,
    L1SquaredHingeSVC,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)
from vanishing.inspection import anatomy
from vanishing.oracles import ls
from vanishing.plot import CoefficientsDisplay

X, Y = load_iris(return_X_y=True)
Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
FOUR = np.arange(len(X)) % 4


# -- Warnings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fit",
    [
        lambda: VanishingFeatures(OAVI(max_terms=2)).fit(Z, FOUR),
        lambda: VanishingFeatures(OAVI(max_terms=2), n_jobs=2).fit(Z, FOUR),
        lambda: VanishingFeatures(OAVI(max_terms=2)).fit_transform(Z, FOUR),
        lambda: VanishingClassifier(OAVI(max_terms=2)).fit(X, FOUR),
        lambda: VanishingClassifier(OAVI(max_terms=2)).fit(Blocks([(X, FOUR)])),
        lambda: make_pipeline(StandardScaler(), VanishingClassifier(OAVI(max_terms=2))).fit(
            X, FOUR
        ),
        lambda: VanishingClassifierCV(OAVI(max_terms=2), psis=(0.01,), Cs=(1.0,)).fit(X, FOUR),
    ],
)
def test_one_warning_a_fit_at_the_caller(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    (warning,) = caught
    assert issubclass(warning.category, ConvergenceWarning)
    assert warning.filename == __file__
    assert "max_terms=2" in str(warning.message)
    assert "on class 0, 1, 2, 3, OAVI: the construction stopped early" in str(warning.message)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "model",
    [
        VanishingFeatures(),
        VanishingClassifier(),
        VanishingClassifierCV(psis=(0.3, 0.01), Cs=(1.0,)),
    ],
)
def test_no_filter_is_set_inside_a_fit(model, n_jobs):
    """They belong to the process: another thread would lose or keep them."""
    seen = []

    def oracle(gram, cross, norm, *, psi, radius):
        seen.append(warnings.filters)
        return ls(gram, cross, norm, psi=psi)[:2]

    before = warnings.filters
    model.set_params(transformer=OAVI(oracle=oracle, max_degree=2), n_jobs=n_jobs).fit(X, Y)
    assert seen
    assert all(filters is before for filters in seen)


def test_an_svm_that_does_not_converge_inside_a_search_is_told(monkeypatch):
    monkeypatch.setattr(
        L1SquaredHingeSVC.__init__,
        "__kwdefaults__",
        {**L1SquaredHingeSVC.__init__.__kwdefaults__, "max_iter": 1, "tol": 1e-12},
    )
    model = VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0))
    with pytest.warns(
        ConvergenceWarning, match=r"in 12 of the search's 12 fits.*duality gap"
    ) as told:
        model.fit(X, Y)
    assert len(told) == 1


def test_different_problems_of_different_classes_are_all_told():
    model = VanishingFeatures(OAVI(psi=1e-3, tau=2, max_terms=6))
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X / 8, Y)
    (warning,) = told
    assert "max_terms=6" in str(warning.message)
    assert "joined O although" in str(warning.message)


def test_scorers_of_data_frames_are_silent():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VanishingClassifierCV(psis=(0.01,), Cs=(1.0,), scoring="balanced_accuracy").fit(table, Y)


# -- What was fitted counts, not parameters that are set afterwards -------------------------------


def test_a_final_estimator_that_is_set_to_none_after_the_fit():
    model = VanishingClassifier(final_estimator=LogisticRegression()).fit(X, Y)
    labels, probabilities = model.predict(X), model.predict_proba(X)
    model.set_params(final_estimator=None)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.predict_proba(X), probabilities)


def test_a_final_estimator_that_is_set_after_the_fit():
    model = VanishingClassifier().fit(X, Y)
    labels, scores, chances = model.predict(X), model.decision_function(X), model.predict_proba(X)
    model.set_params(final_estimator=LogisticRegression(), clip=True, C=100.0)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict_proba(X), chances)
    assert hasattr(VanishingClassifier(final_estimator=LogisticRegression()), "predict_proba")


# -- Searches -------------------------------------------------------------------------------------


def test_the_search_tells_as_much_as_its_classifier():
    model = VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0)).fit(X, Y)
    for name in ("n_generators_", "n_terms_", "sparsity_", "temperature_"):
        assert getattr(model, name) == getattr(model.classifier_, name)
    assert str(model.generators_) == str(model.classifier_.generators_)
    np.testing.assert_array_equal(model.predict_proba(X), model.classifier_.predict_proba(X))
    ours, theirs = model.explain(X[:5]), model.classifier_.explain(X[:5])
    assert [[str(e["generator"]) for e in row] for row in ours] == [
        [str(e["generator"]) for e in row] for row in theirs
    ]


def test_a_scorer_sees_the_model_that_is_tried():
    seen = []

    def scorer(model, X, y):
        seen.append((model.psi, model.C, model.final_estimator_.C))
        assert model.features_.transformers_[0].psi == model.psi
        return model.score(X, y)

    grid = {"psis": (0.01, 0.001), "Cs": (1.0, 10.0)}
    scored = VanishingClassifierCV(scoring=scorer, cv=2, **grid).fit(X, Y)
    plain = VanishingClassifierCV(cv=2, **grid).fit(X, Y)
    assert set(seen) == {(psi, C, C) for psi in (0.01, 0.001) for C in (1.0, 10.0)}
    np.testing.assert_array_equal(
        scored.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("model", [VanishingClassifier(), VanishingFeatures()])
def test_parameters_of_the_default_transformer(model):
    assert model.transformer is None
    assert model.get_params()["transformer__psi"] == OAVI().psi
    assert "transformer__psi" not in model.get_params(deep=False)
    with pytest.raises(ValueError, match="nonsense"):
        model.set_params(transformer__nonsense=1)
    assert model.transformer is None
    model.set_params(transformer__psi=0.01)
    assert isinstance(model.transformer, OAVI)
    assert model.transformer.psi == 0.01


def test_grid_search_over_the_default_transformer():
    search = GridSearchCV(VanishingClassifier(), {"transformer__psi": [0.05, 0.001]}, cv=3)
    search.fit(X, Y)
    ours = VanishingClassifierCV(psis=(0.05, 0.001), Cs=(1.0,), cv=3).fit(X, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-12
    )


# -- Rows elsewhere -------------------------------------------------------------------------------


def labelled_blocks(n_classes):
    """Blocks that count how often they are read."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % n_classes
    angle = rng.uniform(0, 2 * np.pi, 300)
    rows = (1.0 + labels[:, np.newaxis]) * np.column_stack([np.cos(angle), np.sin(angle)])
    n_passes = [0]

    def read():
        n_passes[0] += 1
        for start in range(0, 300, 100):
            yield rows[start : start + 100], labels[start : start + 100]

    return read, n_passes, rows, labels


def test_passes_over_blocks_do_not_grow_with_the_number_of_classes():
    passes = {}
    for n_classes in (2, 5, 10):
        read, n_passes, rows, labels = labelled_blocks(n_classes)
        model = VanishingFeatures(OAVI(1e-6, oracle="ls", max_degree=3)).fit(Blocks(read))
        passes[n_classes] = n_passes[0]
        same = VanishingFeatures(OAVI(1e-6, oracle="ls", max_degree=3)).fit(rows, labels)
        np.testing.assert_allclose(model.transform(rows), same.transform(rows), atol=1e-9)
    assert passes[10] <= passes[2]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_class_that_fails_ends_the_fit(n_jobs):
    read, *_ = labelled_blocks(3)

    def oracle(gram, cross, norm, *, psi, radius):
        if np.isclose(gram[0, 0], 1.0) and norm > 0.5:
            raise ArithmeticError("of one class")
        return ls(gram, cross, norm, psi=psi)[:2]

    model = VanishingFeatures(OAVI(0.9, oracle=oracle), n_jobs=n_jobs)
    with pytest.raises(ArithmeticError, match="of one class"):
        model.fit(Blocks(read))
    assert not hasattr(model, "transformers_")


def test_weights_in_blocks_may_differ_by_any_factor():
    """The unit is that of the largest weight, wherever it is."""
    weight = np.where(np.arange(len(Z)) < 70, 1e-200, 1.0)
    array = VanishingClassifier().fit(Z, Y % 2, sample_weight=weight)
    parts = ((slice(0, 70)), slice(70, None))
    blocks = VanishingClassifier().fit(Blocks([(Z[p], Y[p] % 2, weight[p]) for p in parts]))
    np.testing.assert_allclose(
        blocks.decision_function(Z), array.decision_function(Z), rtol=1e-3, atol=1e-3
    )


def test_classes_that_have_not_begun_are_not_worked_on_after_a_failure(monkeypatch):
    read, *_ = labelled_blocks(6)
    begun = []

    def construct(self, rows):
        begun.append(rows.label)
        raise ArithmeticError("at once")

    monkeypatch.setattr(OAVI, "_construct", construct)
    with pytest.raises(ArithmeticError, match="at once"):
        VanishingFeatures(OAVI()).fit(Blocks(read))
    assert len(begun) == 1


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e307])
def test_weights_in_blocks_may_have_any_unit(unit):
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, len(Z))
    array = OAVI(0.01, oracle="ls", max_degree=2).fit(Z, sample_weight=weight)
    halves = (slice(0, 70), slice(70, None))
    blocks = [(Z[half], None, unit * weight[half]) for half in halves]
    model = OAVI(0.01, oracle="ls", max_degree=2).fit(Blocks(blocks))
    np.testing.assert_array_equal(model.leading_terms_, array.leading_terms_)
    np.testing.assert_allclose(model.coef_, array.coef_, atol=1e-10)
    np.testing.assert_allclose(model.mse_, array.mse_, rtol=1e-9)


def test_device_arrays_are_never_converted_as_a_whole(monkeypatch):
    xp = pytest.importorskip("array_api_strict")
    model = VanishingClassifier(OAVI(0.01, feature_order="pearson", chunk_size=16)).fit(X, Y)
    rows = xp.asarray(np.tile(X, (30, 1)).astype(np.float32))
    converted = []
    astype = xp.astype

    def recorded(values, dtype, **options):
        converted.append(values.shape[0] * (values.shape[1] if values.ndim > 1 else 1))
        return astype(values, dtype, **options)

    monkeypatch.setattr("vanishing.rows.device.chunk_rows", lambda n, size: 64)
    monkeypatch.setattr("vanishing.rows.arrays._PIECE", 64 * X.shape[1])
    monkeypatch.setattr(xp, "astype", recorded)
    scores = model.decision_function(rows)
    assert max(converted) <= 64 * X.shape[1]
    monkeypatch.undo()
    expected = model.decision_function(np.asarray(rows))
    np.testing.assert_allclose(np.asarray(scores), expected, rtol=1e-4, atol=1e-4)


# -- Errors ---------------------------------------------------------------------------------------

CLASSIFIERS = [
    L1SquaredHingeSVC(),
    VanishingFeatures(),
    VanishingClassifier(),
    VanishingClassifierCV(psis=(0.01,), Cs=(1.0,)),
]


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("gap", [None, np.nan])
def test_labels_that_are_missing(model, gap):
    labels = np.array(["a", "b"] * 75, dtype=object)
    labels[7] = gap
    with pytest.raises(ValueError, match=r"no label in row 7\. Drop these rows"):
        model.fit(X, labels)


def test_a_class_of_one_row():
    labels = Y.copy()
    labels[Y == 2] = 1
    labels[3] = 2
    message = "no samples of class 2, which has 1 row in all. Add rows of this class"
    with (
        warnings.catch_warnings(),
        pytest.raises(ValueError, match=message),
    ):
        warnings.simplefilter("ignore")  # scikit-learn's, on folds
        VanishingClassifierCV(psis=(0.01,), Cs=(1.0,)).fit(X, labels)


@pytest.mark.parametrize("model", [*CLASSIFIERS, OAVI(), VCA()])
def test_a_column_of_text_is_named(model):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"length": X[:, 0], "colour": ["red", "blue", "green"] * 50})
    with pytest.raises(ValueError, match=r"Column 'colour' of X holds strings such as 'red'"):
        model.fit(table, Y)
    with pytest.raises(ValueError, match=r"Column 1 of X holds strings such as 'red'"):
        model.fit(table.to_numpy(), Y)


def test_text_in_blocks_and_moments_is_named():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"length": X[:, 0], "colour": ["red", "blue", "green"] * 50})
    with pytest.raises(ValueError, match=r"Block 0.*Column 'colour' of X holds strings"):
        OAVI().fit(Blocks([table]))
    with pytest.raises(ValueError, match=r"Column 'colour' of X holds strings"):
        Moments(2, 1).update(table)
    with pytest.raises(ValueError, match="1D array"):
        OAVI().fit([1.5, "2.5"])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"transformer": StandardScaler()}, "constructs no generators"),
        ({"final_estimator": 3}, "final_estimator must be a classifier"),
        ({"n_jobs": "a"}, "n_jobs must be an integer"),
    ],
)
def test_parts_of_the_wrong_kind(options, message):
    with pytest.raises(TypeError, match=message):
        VanishingClassifier(**options).fit(X, Y)


def test_features_that_overflow_single_precision_are_refused_without_warnings():
    t, labels = np.linspace(1, 2, 40), np.arange(40) % 2
    parabolas = np.column_stack([1e20 * t, (1 + labels) * 1e40 * t**2])
    tree = DecisionTreeClassifier()
    model = VanishingClassifier(OAVI(0, max_degree=2), scale=False, final_estimator=tree)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="too large for dtype"):
            model.fit(parabolas, labels)


def test_labels_of_two_kinds_in_one_block():
    labels = np.array(["a", 1] * 75, dtype=object)
    with pytest.raises(ValueError, match="text and others numbers"):
        VanishingFeatures().fit(Blocks([(X, labels)]))


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_errors_name_the_estimator_of_the_user(model):
    model.fit(X, Y)
    method = model.transform if hasattr(model, "transform") else model.predict
    with pytest.raises(ValueError, match=f"{type(model).__name__} is expecting 4 features"):
        method(X[:, :2])


def test_coefficients_of_the_first_class_by_default():
    pytest.importorskip("matplotlib")
    model = VanishingClassifier().fit(X, Y)
    display, first = (
        CoefficientsDisplay.from_estimator(model, **options)
        for options in ({}, {"class_of_interest": 0})
    )
    np.testing.assert_array_equal(display.coef, first.coef)
    assert display.title == first.title


# -- Anatomy --------------------------------------------------------------------------------------


def test_the_anatomy_of_a_pipeline_has_exact_units_and_names():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make_pipeline(MaxAbsScaler(), StandardScaler(), VanishingClassifier()).fit(table, Y)
    found = anatomy(model)
    assert found.names == ("a", "b", "c", "d")
    assert found.parts[0].generators[0].feature_names == ("a", "b", "c", "d")
    a, b = found.units
    np.testing.assert_allclose(found.scaled(X), a * X + b, atol=1e-12)
    only = anatomy(make_pipeline(MaxAbsScaler(), OAVI()).fit(X))
    assert not only.units[1].any()  # nothing is added: no terms are invented


def test_the_anatomy_of_a_pipeline_that_begins_with_nothing():
    model = make_pipeline("passthrough", VanishingClassifier()).fit(X, Y)
    assert anatomy(model).names == ("x0", "x1", "x2", "x3")
    module = {}
    exec(vanishing.export.to_python(model), module)
    np.testing.assert_array_equal(module["predict"](X), model.predict(X))


def test_columns_that_scaling_makes_have_names_of_their_own():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcd"))
    model = VanishingClassifier(scale=PCA(4)).fit(table, Y)
    assert anatomy(model).names == ("pca0", "pca1", "pca2", "pca3")
    assert model.explain(table[:1])[0][0]["generator"].feature_names[0] == "pca0"
    quantiles = VanishingClassifier(scale="quantile").fit(table, Y)
    assert anatomy(quantiles).names == tuple("abcd")


def test_one_class_against_another_gives_no_weights():
    model = VanishingClassifier(final_estimator=SVC(kernel="linear")).fit(X, Y)
    assert anatomy(model).weights is None
    assert anatomy(VanishingClassifier(final_estimator=LogisticRegression()).fit(X, Y)).decisions


def test_a_transformer_with_a_fit_of_its_own_is_called():
    class Own(OAVI):
        def fit(self, X, y=None, sample_weight=None):
            fitted.append(len(X))
            return super().fit(X, y, sample_weight)

    fitted = []
    VanishingFeatures(Own()).fit(Z, Y)
    assert fitted == [50, 50, 50]


def test_one_meaning_of_the_largest_weight():
    model = VanishingClassifier().fit(X, Y)
    found = anatomy(model)
    coef = model.final_estimator_.coef_
    sizes = np.concatenate([part.sizes for part in found.parts])
    np.testing.assert_array_equal(sizes, np.abs(coef).max(axis=0))
    for part in found.parts:
        assert (np.diff(part.sizes[part.ranking()]) <= 0).all()
        assert set(part.used.tolist()) == set(np.flatnonzero(part.sizes).tolist())
    np.testing.assert_array_equal(found.weights, coef)
