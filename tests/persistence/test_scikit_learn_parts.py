"""Scikit-learn's transformers inside saved models: numbers, gaps and categories."""

import contextlib
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

import vanishing
from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV
from vanishing.persistence import ModelFileError

IRIS, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"]).assign(
    kind=np.where(IRIS[:, 0] + RNG.normal(size=150) > 6, "large", "small"),
    code=RNG.integers(3, size=150).astype(float),
)
GAPS = TABLE.mask(RNG.uniform(size=TABLE.shape) < 0.05)
NUMBERS = IRIS.copy()
NUMBERS[::7, 1] = np.nan


def reloaded(model, tmp_path):
    vanishing.save(model, tmp_path / "m.json")
    again = vanishing.load(tmp_path / "m.json")
    vanishing.save(again, tmp_path / "n.json")
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "n.json").read_bytes()
    return again


NUMERIC = make_pipeline(SimpleImputer(strategy="median"), MaxAbsScaler())
CATEGORIES = make_pipeline(
    SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False, drop="if_binary")
)
PREPARING = {
    "max": MaxAbsScaler(),
    "mean": SimpleImputer(),
    "indicator": SimpleImputer(strategy="most_frequent", add_indicator=True),
    "constant": SimpleImputer(strategy="constant", fill_value=-1.0),
    "codes": OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    "columns": ColumnTransformer(
        [("a", MinMaxScaler(), [0, 2]), ("b", QuantileTransformer(n_quantiles=9), slice(1, 2))],
        remainder=StandardScaler(),
    ),
    "mask": ColumnTransformer(
        [("a", "passthrough", [True, False, True, False]), ("none", StandardScaler(), [])]
    ),
    "table": ColumnTransformer(
        [("numbers", NUMERIC, ["b", "a", "d"]), ("kinds", CATEGORIES, ["kind", "code"])]
    ),
    "rest": ColumnTransformer(
        [("kinds", CATEGORIES, make_column_selector("kind"))],
        remainder=NUMERIC,
        verbose_feature_names_out=False,
        transformer_weights={"kinds": 0.5},
    ),
}
ROWS = {"mean": NUMBERS, "indicator": NUMBERS, "constant": NUMBERS, "table": GAPS, "rest": GAPS}
ROWS |= {"codes": np.floor(IRIS)}


@pytest.mark.parametrize("name", PREPARING)
def test_what_prepares_rows_comes_back(name, tmp_path):
    rows = ROWS.get(name, IRIS)
    scaled = name != "indicator"
    steps = [PREPARING[name]] + [MinMaxScaler()] * scaled + [VanishingClassifier(scale=False)]
    model = make_pipeline(*steps).fit(rows, Y)
    again = reloaded(model, tmp_path)
    assert type(again[0]) is type(model[0])
    np.testing.assert_array_equal(again[0].transform(rows), model[0].transform(rows))
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    if name not in ("columns", "mask", "rest"):  # whose columns are written as lists
        assert str(again[0]) == str(model[0])
    names = again[0].get_feature_names_out().tolist()
    assert names == model[0].get_feature_names_out().tolist()
    if name in ("table", "rest"):
        assert names[0].endswith(("b", "kind_small"))
        shuffled = rows[rows.columns[::-1]]  # by name
        np.testing.assert_array_equal(again[0].transform(shuffled), model[0].transform(rows))


@pytest.mark.parametrize(
    "scale",
    [
        "maxabs",
        MaxAbsScaler(),
        make_pipeline(StandardScaler(), MinMaxScaler()),
        PREPARING["columns"],
        ColumnTransformer([("first", "passthrough", [0, 1])]),
    ],
    ids=["maxabs", "MaxAbsScaler", "pipeline", "columns", "fewer"],
)
def test_classifiers_are_saved_with_their_scaling(scale, tmp_path):
    search = VanishingClassifierCV(OAVI(), psis=(0.01,), Cs=(1.0,), scale=scale).fit(IRIS, Y)
    for model in (search, search.classifier_):
        again = reloaded(model, tmp_path)
        np.testing.assert_array_equal(again.predict_proba(IRIS), model.predict_proba(IRIS))
        assert str(again.get_params()["scale"]) == str(scale)
    assert str(again.fit(IRIS, Y).scaler_) == str(search.classifier_.scaler_)


def test_a_name_and_the_scaler_it_stands_for_agree():
    named, given = (VanishingClassifier(scale=s).fit(IRIS, Y) for s in ("maxabs", MaxAbsScaler()))
    np.testing.assert_allclose(
        named.decision_function(IRIS), given.decision_function(IRIS), rtol=1e-9, atol=1e-9
    )
    assert given.generators_[0].terms.shape == named.generators_[0].terms.shape


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (OneHotEncoder(min_frequency=20, sparse_output=False), "infrequent categories"),
        (OneHotEncoder(dtype=np.float32, sparse_output=False), "the parameter dtype of OneHot"),
        (OneHotEncoder(sparse_output=False), None),
    ],
    ids=["infrequent", "dtype", "plain"],
)
def test_what_cannot_be_saved_is_named(part, message, tmp_path):
    model = make_pipeline(part, OAVI()).fit(np.floor(IRIS))
    if message is None:
        return vanishing.save(model, tmp_path / "m.json")
    with pytest.raises(TypeError, match=message):
        vanishing.save(model, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def signed(document, path):
    document["sha256"] = "0" * 64
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content.replace(b"0" * 64, digest, 1))
    return path


def places(node, where=()):
    """Yield the place of each value of a tree."""
    yield where
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*where, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from places(value, (*where, i))


@pytest.mark.parametrize("name", ["table", "rest", "indicator"])
def test_any_other_value_is_refused_or_harmless(name, tmp_path):
    rows = ROWS[name]
    model = make_pipeline(PREPARING[name], OAVI(max_degree=1)).fit(rows)
    path = tmp_path / "m.json"
    vanishing.save(model, path)
    content = json.loads(path.read_text())
    head = ("model", "fitted", "steps", 0)
    all_places = [place for place in places(content) if place[:4] == head and len(place) > 4]
    choose = np.random.default_rng(0)
    n_refused = 0
    for place in choose.permutation(np.arange(len(all_places)))[:150]:
        changed = json.loads(path.read_text())
        node = changed
        *before, last = all_places[place]
        for key in before:
            node = node[key]
        node[last] = [None, 7, -1, "x", [], {}, [3], {"kind": "OAVI", "parameters": {}}][
            choose.integers(8)
        ]
        try:
            loaded = vanishing.load(signed(changed, tmp_path / "other.json"))
        except ModelFileError:
            n_refused += 1
        else:
            with contextlib.suppress(ValueError, TypeError, KeyError):  # of scikit-learn
                loaded.transform(rows)
    assert n_refused > 10
