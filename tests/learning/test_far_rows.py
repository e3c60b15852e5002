"""Rows far outside of the training range: clipped, counted and warned of once."""

import hashlib
import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV, load
from vanishing.learning.scaling import FarRows, Scaling, column_ranges
from vanishing.learning.settings import FAR, ORDINARY

X, Y = load_iris(return_X_y=True, as_frame=True)
MODELS = {
    "default": VanishingClassifier(OAVI(0.01)),
    "unclipped": VanishingClassifier(OAVI(0.01), clip=False),
    "unscaled": VanishingClassifier(OAVI(0.1), scale=False),
    "standard": VanishingClassifier(OAVI(0.1), scale=StandardScaler()),
    "logistic": VanishingClassifier(OAVI(0.01), final_estimator=LogisticRegression()),
    "tuned": VanishingClassifierCV(psis=(0.01,), Cs=(1.0,)),
}


def beyond(frame, column, share, rows=slice(None)):
    """Return rows with one column beyond its range by a share of it."""
    frame = frame.copy()
    low, high = X.iloc[:, column].min(), X.iloc[:, column].max()
    frame.iloc[rows, column] = high + share * (high - low)
    return frame


def said(call, *arguments):
    """Return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    return [str(one.message) for one in caught if "far outside" in str(one.message)]


@pytest.mark.parametrize("name", list(MODELS))
def test_each_call_warns_once_and_names_rows_column_and_what_was_done(name):
    model = MODELS[name].fit(X, Y)
    far = beyond(X, 2, 1.5, rows=range(7))
    calls = [model.predict, model.decision_function]
    if hasattr(model, "predict_proba"):
        calls.append(model.predict_proba)
    if name != "logistic":
        calls.append(model.explain)
    for call in calls:
        (message,) = said(call, far)
        assert "7 of 150 rows" in message
        assert "petal length (cm), by 1.5 times its range" in message
        assert ("were clipped" in message) == (getattr(model, "clip", True) is True)
        assert ("clip=True" in message) == (getattr(model, "clip", True) is False)
    assert len(said(model.score, far, Y)) == 1
    assert not said(model.predict, X)
    with pytest.warns(UserWarning, match="far outside") as caught:
        model.predict(far)
    assert caught[0].filename == __file__


def test_far_is_more_than_half_of_the_range_on_either_side():
    model = VanishingClassifier(OAVI(0.01)).fit(X, Y)
    assert FAR == 0.5
    for share, count in ((0.49, 0), (0.51, 1), (-1.49, 0), (-1.51, 1)):
        assert len(said(model.predict, beyond(X, 1, share))) == count


def test_a_few_rows_of_many_are_ordinary():
    model = VanishingClassifier(OAVI(0.01)).fit(X, Y)
    few = int(ORDINARY * len(X))
    assert not said(model.predict, beyond(X, 1, 2.0, rows=range(few)))
    assert len(said(model.predict, beyond(X, 1, 2.0, rows=range(few + 1)))) == 1
    assert len(said(model.predict, beyond(X[:1], 1, 2.0))) == 1  # a single row, and that is far


def test_clipping_is_the_default_and_changes_nothing_inside():
    clipped, unclipped = (
        VanishingClassifier(OAVI(0.01), clip=clip).fit(X, Y) for clip in (True, False)
    )
    assert VanishingClassifier().clip is True
    np.testing.assert_array_equal(clipped.decision_function(X), unclipped.decision_function(X))
    far = beyond(X, 2, 3.0)
    with pytest.warns(UserWarning, match="far outside"):
        values = clipped.decision_function(far)
        np.testing.assert_array_equal(values, clipped.decision_function(beyond(X, 2, 0.0)))
        assert not np.allclose(unclipped.decision_function(far), values)


def test_quantiles_and_constant_columns_have_no_outside():
    model = VanishingClassifier(OAVI(0.01), scale="quantile").fit(X, Y)
    assert not said(model.predict, beyond(X, 2, 100.0))
    constant = X.assign(extra=3.0)
    model = VanishingClassifier(OAVI(0.01)).fit(constant, Y)
    assert not said(model.predict, constant.assign(extra=4000.0))


@pytest.mark.parametrize("load_data", [load_iris, load_wine, load_breast_cancer])
def test_ordinary_splits_are_silent(load_data):
    rows = load_data().data
    alarms = 0
    for seed in range(40):
        training, test = train_test_split(rows, test_size=0.4, random_state=seed)
        scaling, far = Scaling(True, False), FarRows()
        scaling.fit_transform(training)
        scaling(test, far)
        assert far.n_rows == len(test)
        alarms += far.many
    assert alarms <= 3  # breast cancer has long tails


def test_models_are_saved_with_and_without_the_range(tmp_path):
    path = tmp_path / "model.json"
    for clip in (True, False):
        VanishingClassifier(OAVI(0.01), clip=clip).fit(X, Y).save(path)
        model = load(path)
        assert model.scaling_.clip is clip
        np.testing.assert_array_equal(model.scaling_.low, np.zeros(4))
        np.testing.assert_allclose(model.scaling_.high, np.ones(4))
        assert len(said(model.predict, beyond(X, 2, 2.0))) == 1
    document = json.loads(path.read_text())
    values = model.decision_function(X)
    del document["model"]["fitted"]["range"]
    document["sha256"] = "0" * 64
    content = json.dumps(document).encode()
    path.write_bytes(content.replace(b"0" * 64, hashlib.sha256(content).hexdigest().encode()))
    older = load(path)  # a file as it was before ranges were kept
    assert older.scaling_.low is None and not older.scaling_.clip
    assert not said(older.predict, beyond(X, 2, 2.0))
    np.testing.assert_array_equal(older.decision_function(X), values)


def test_blocks_are_silent_and_pipelines_warn():
    model = VanishingClassifier(OAVI(0.01)).fit(X.to_numpy(), Y)
    far = beyond(X, 2, 2.0).to_numpy()
    blocks = [far[:75], far[75:]]
    assert not said(lambda: np.concatenate(list(model.predict(lambda: iter(blocks)))))
    pipeline = make_pipeline(StandardScaler(), VanishingClassifier(OAVI(0.1))).fit(X, Y)
    assert len(said(pipeline.predict, beyond(X, 2, 2.0))) == 1


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_rows_of_a_device_are_counted_where_they_are(name):
    library = pytest.importorskip(name)
    pytest.importorskip("array_api_compat")
    model = VanishingClassifier(OAVI(0.01), clip=False).fit(X.to_numpy(), Y)
    far = beyond(X, 2, 1.5, rows=range(7)).to_numpy()
    expected = said(model.predict, far)
    assert len(expected) == 1 and said(model.predict, library.asarray(far)) == expected
    assert not said(model.predict, library.asarray(X.to_numpy(copy=True)))


@pytest.mark.parametrize("shape", [(1, 3), (127, 2), (128, 1), (1000, 5), (129, 40)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_ranges_of_columns(shape, order):
    values = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    low, high = column_ranges(values)
    np.testing.assert_array_equal(low, values.min(axis=0))
    np.testing.assert_array_equal(high, values.max(axis=0))
