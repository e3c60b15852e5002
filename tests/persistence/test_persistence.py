import errno
import hashlib
import json
import os
import pickle
import random
import subprocess
import sys
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    BuchbergerMoller,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)
from vanishing.constructions.exact import set_generators
from vanishing.persistence import ModelFileError

DATA = Path(__file__).parents[1] / "data"
IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target.to_numpy()
Z = MinMaxScaler().fit_transform(X)

MODELS = {
    "OAVI": lambda: OAVI().fit(Z),
    "OAVI named": lambda: OAVI(psi=np.float64(0.01), feature_order="pearson").fit(X / 8),
    "OAVI bb": lambda: OAVI(oracle="ls", border="bb", absolute=False, tau="auto").fit(Z),
    "OAVI nothing": lambda: OAVI(psi=0, max_degree=1).fit(Z),
    "ABM": lambda: ABM(max_terms=50).fit(Z.astype(np.float32)),
    "AVI": lambda: AVI(psi=0.01).fit(Z),
    "VCA": lambda: VCA(psi=0.01, max_degree=4).fit(Z),
    "VCA l2": lambda: VCA(psi=0.01, max_degree=4, normalization="l2").fit(Z),
    "VCA unit": lambda: VCA(psi=1e-4, max_degree=3, normalization="unit").fit(Z),
    "VCA nothing": lambda: VCA(psi=1e-9, max_degree=2).fit(Z),
    "VanishingFeatures": lambda: VanishingFeatures(ABM(psi=0.01), n_jobs=2).fit(X / 8, Y),
    "L1SquaredHingeSVC": lambda: L1SquaredHingeSVC(class_weight={0: 1.0, 1: 2}).fit(
        X[Y < 2], Y[Y < 2]
    ),
    "classifier": lambda: VanishingClassifier(clip=True).fit(X, Y),
    "classifier weighted": lambda: VanishingClassifier(
        psi=0.01, class_weight={0: 1.0, 1: 2.5, 2: 1}
    ).fit(X, Y),
    "classifier unscaled": lambda: VanishingClassifier(VCA(), scale=False).fit(Z, Y == 1),
    "classifier quantile": lambda: VanishingClassifier(scale="quantile").fit(X, Y),
    "classifier float32": lambda: VanishingClassifier().fit(X.astype(np.float32), Y),
    "classifier scaler": lambda: VanishingClassifier(
        scale=StandardScaler(with_mean=False), clip=True
    ).fit(X, Y),
    "classifier logistic": lambda: VanishingClassifier(
        final_estimator=LogisticRegression(C=10.0)
    ).fit(X, Y),
    "classifier linear": lambda: VanishingClassifier(final_estimator=LinearSVC()).fit(X, Y),
    "classifier constant": lambda: VanishingClassifier(OAVI(psi=0, max_degree=1)).fit(Z, Y > 0),
    "search": lambda: VanishingClassifierCV(
        psis=np.array([0.1, 0.01]), Cs=[1, 10.0], cv=StratifiedKFold(2), scoring="accuracy"
    ).fit(X, Y),
    "pipeline": lambda: make_pipeline(
        MinMaxScaler((-1, 1), clip=True), "passthrough", OAVI(), L1SquaredHingeSVC()
    ).fit(X, Y),
    "pipeline quantile": lambda: make_pipeline(
        StandardScaler(), QuantileTransformer(n_quantiles=20), OAVI()
    ).fit(X),
}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def fitted():
    models = {}

    def get(name):
        if name not in models:
            models[name] = MODELS[name]()
        return models[name]

    return get


def reloaded(model, tmp_path):
    path = tmp_path / "model.json"
    assert vanishing.save(model, path) is None
    return vanishing.load(path)


def assert_same(a, b, where="model"):
    """Two objects have the same state, to the last bit."""
    if isinstance(a, float) and isinstance(b, float):  # NumPy's floats are floats
        assert a == b or (a != a and b != b), where
        return
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray) and a.dtype == object:  # may hold estimators
        assert_same(a.tolist(), b.tolist(), where)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        np.testing.assert_array_equal(a, b, err_msg=where)
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            assert_same(left, right, f"{where}[{i}]")
    elif hasattr(a, "__dict__") and not isinstance(a, type):
        parts = [
            {
                name: value
                for name, value in sorted(vars(m).items())
                if not isinstance(getattr(type(m), name, None), cached_property)
                and name != "_seen"  # rows of the fit, which no file has
            }
            for m in (a, b)
        ]
        if type(a).__name__ == "_Scaling" and hasattr(parts[0]["scale"], "fit"):
            parts = [{k: v for k, v in p.items() if k != "scale"} for p in parts]
        assert_same(*parts, where)
    else:
        assert a == b, where


def outputs(model, X):
    """All that a model says of rows."""
    found = {}
    for name in ("transform", "decision_function", "predict", "predict_proba", "explain"):
        if name == "explain" and getattr(model, "final_estimator", 1) is not None:
            continue
        if hasattr(model, name):
            found[name] = getattr(model, name)(X)
    if hasattr(model, "transform"):
        found["names"] = model.get_feature_names_out()
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(fitted, tmp_path, name):
    model = fitted(name)
    again = reloaded(model, tmp_path)
    assert_same(model, again)
    rows = X if hasattr(model, "feature_names_in_") else X.to_numpy()
    assert_same(outputs(model, rows), outputs(again, rows))
    assert repr(again) == repr(model)
    assert repr(clone(again)) == repr(clone(model))
    assert_same(pickle.loads(pickle.dumps(again)), again)
    if hasattr(model, "generators_"):
        assert [str(g) for g in again.generators_] == [str(g) for g in model.generators_]


def test_a_loaded_model_can_be_fitted_again(fitted, tmp_path):
    model = reloaded(fitted("search"), tmp_path).fit(X, Y)
    assert_same(model.classifier_, fitted("search").classifier_)


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 7, -1], dtype=np.int16),
        np.array([0, 1, 2**40], dtype=np.uint64),
        np.array([1.0, -2.0, 0.0]),
        np.array(["no", "yes", 'Z\u00fcrich\n"'], dtype="<U20"),
        np.array(["a", "b", "\ud800"], dtype=object),
    ],
    ids=["int16", "uint64", "float", "str", "object"],
)
def test_labels_keep_their_dtype(tmp_path, values):
    y = values[Y]
    model = VanishingClassifier().fit(X, y)
    again = reloaded(model, tmp_path)
    assert again.predict(X).dtype == y.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_names_of_any_characters_are_kept(tmp_path):
    names = ["\u03b1", "new\nline", "", '"quoted"\\']
    model = OAVI().fit(pd.DataFrame(Z, columns=names))
    again = reloaded(model, tmp_path)
    assert again.feature_names_in_.tolist() == names
    assert "\u03b1".encode() in (tmp_path / "model.json").read_bytes()


def test_exact_coefficients_are_kept_however_long(tmp_path):
    points = [[i, Fraction(1, 3) ** i] for i in range(4)]
    model = BuchbergerMoller().fit(points)
    set_generators(
        model,
        model.terms_,
        model.leading_terms_,
        [[Fraction(7) ** (-9000 * i) * row[i] for i in range(len(row))] for row in model.coef_],
    )
    again = reloaded(model, tmp_path)
    assert again.coef_.tolist() == model.coef_.tolist()
    assert_same(again.terms_, model.terms_)
    assert again.get_params() == model.get_params()
    assert again.generators_[0](points[0]) == model.generators_[0](points[0])


def test_numbers_that_are_not_finite_are_kept_as_strict_json(tmp_path):
    model = OAVI().fit(Z)
    model.mse_[:3] = np.nan, np.inf, -np.inf
    again = reloaded(model, tmp_path)
    np.testing.assert_array_equal(again.mse_, model.mse_)

    def refuse(name):
        raise AssertionError(name)

    json.loads((tmp_path / "model.json").read_text(), parse_constant=refuse)


def test_the_same_model_gives_the_same_file(fitted, tmp_path):
    for name in "ab":
        fitted("classifier").save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_says_what_it_holds(fitted, tmp_path):
    fitted("OAVI").save(tmp_path / "model.json")
    content = (tmp_path / "model.json").read_bytes()
    document = json.loads(content)
    assert list(document) == ["format", "version", "library", "sha256", "model"]
    assert (document["format"], document["version"]) == ("vanishing-model", 1)
    assert document["model"]["parameters"]["psi"] == 0.005
    equation = document["model"]["fitted"]["generators"][0]["equation"]
    assert equation == f"{fitted('OAVI').generators_[0]} = 0"
    digest = document["sha256"].encode()
    zeros = content.replace(digest, b"0" * 64, 1)
    assert hashlib.sha256(zeros).hexdigest().encode() == digest


# -- What cannot be saved -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        OAVI(),
        VCA(),
        BuchbergerMoller(),
        VanishingFeatures(),
        VanishingClassifier(),
        VanishingClassifierCV(),
        L1SquaredHingeSVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_unfitted_model_is_not_saved(tmp_path, model):
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


class Mine(OAVI):
    pass


def own_oracle(gram, cross, norm, *, psi, radius):
    coef = np.linalg.lstsq(gram, -cross, rcond=None)[0]
    return coef, norm + cross @ coef


@pytest.mark.parametrize(
    "fit, said",
    [
        (lambda: OAVI(oracle=own_oracle).fit(Z), "parameter oracle of OAVI .* set_params"),
        (lambda: Mine().fit(Z), "a Mine cannot be saved"),
        (
            lambda: VanishingClassifier(scale=RobustScaler()).fit(X, Y),
            "RobustScaler.*holds.*MaxAbs",
        ),
        (
            lambda: VanishingClassifier(final_estimator=RandomForestClassifier()).fit(X, Y),
            "RandomForestClassifier",
        ),
        (
            lambda: VanishingClassifierCV(psis=[0.1], scoring=lambda m, X, y: 1.0).fit(X, Y),
            "parameter scoring",
        ),
        (lambda: make_pipeline(OAVI(), memory="cache").fit(Z), "memory"),
        (lambda: OAVI().fit(Z).set_params(psi=2.0), "psi must be"),
        (lambda: StandardScaler, "cannot be saved"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(tmp_path, monkeypatch, fit, said):
    monkeypatch.chdir(tmp_path)
    model = fit()
    before = set(tmp_path.iterdir())
    with pytest.raises((TypeError, ValueError), match=said):
        vanishing.save(model, tmp_path / "model.json")
    assert set(tmp_path.iterdir()) == before


def test_a_callable_may_be_replaced_before_saving(tmp_path):
    model = OAVI(oracle=own_oracle).fit(Z)
    again = reloaded(model.set_params(oracle="ls"), tmp_path)
    np.testing.assert_array_equal(again.coef_, model.coef_)


# -- Saving that goes wrong -----------------------------------------------------------------------


def test_a_missing_folder_is_named(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        fitted("OAVI").save(tmp_path / "nowhere" / "model.json")


def test_a_full_disk_leaves_the_earlier_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    fitted("OAVI").save(path)
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="not saved") as caught:
        fitted("classifier").save(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_process_leaves_the_earlier_file(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted("OAVI").save(path)
    before = path.read_bytes()
    script = (
        "import os, signal, sys, vanishing\n"
        "model = vanishing.load(sys.argv[1])\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "model.set_params(psi=0.5).save(sys.argv[1])\n"
    )
    source = str(Path(vanishing.__file__).parents[1])
    result = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, "PYTHONPATH": source},
        check=False,
    )
    assert result.returncode not in (0, 1)
    assert path.read_bytes() == before


# -- Files that are refused -----------------------------------------------------------------------


def signed(document, path):
    """Write a document as the library would, with a checksum that fits."""
    document["sha256"] = "0" * 64
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content.replace(b"0" * 64, digest, 1))
    return path


@pytest.fixture
def document(fitted, tmp_path):
    path = tmp_path / "model.json"

    def get(name):
        vanishing.save(fitted(name), path)
        return json.loads(path.read_text())

    return get


def assert_refused(path, said=""):
    with pytest.raises(ModelFileError, match=said) as caught:
        vanishing.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value).replace(str(path), "")


def test_a_signed_document_loads(fitted, tmp_path, document):
    assert_same(vanishing.load(signed(document("OAVI"), tmp_path / "m")), fitted("OAVI"))


def test_a_number_alone_takes_no_memory(tmp_path):
    scaler = StandardScaler(with_mean=False, with_std=False)
    vanishing.save(make_pipeline(scaler, OAVI()).fit(Z), tmp_path / "m")
    node = json.loads((tmp_path / "m").read_text())
    node["model"]["fitted"]["steps"][0][1]["fitted"]["n_features_in"] = 2**50
    assert_refused(signed(node, tmp_path / "m"), "max_bytes")


def test_line_endings_of_other_systems_do_not_matter(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted("OAVI").save(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert_same(vanishing.load(path), fitted("OAVI"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"\x80\x04K\x01.",  # a pickle
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": "vanishing-model", "version": NaN}',
        b'{"format": "vanishing-model", "version": 1}',
        b'{"format": "vanishing-model", "format": "vanishing-model", "version": 1}',
        b'{"format": "vanishing-model", "version": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    assert_refused(path)


def test_a_later_version_is_refused(tmp_path, document):
    assert_refused(signed({**document("OAVI"), "version": 2}, tmp_path / "m"), "version 2")


def test_folders_and_missing_files_are_no_models(tmp_path):
    assert_refused(tmp_path, "not a file")
    with pytest.raises(FileNotFoundError):
        vanishing.load(tmp_path / "nothing")


def test_max_bytes_bounds_file_and_arrays(fitted, tmp_path, document):
    node = document("OAVI")
    path = tmp_path / "model.json"
    with pytest.raises(ModelFileError, match="max_bytes"):
        vanishing.load(path, max_bytes=path.stat().st_size - 1)
    # Short lists that stand for a large array.
    generator = {**node["model"]["fitted"]["generators"][0], "terms": [], "coef": []}
    node["model"]["fitted"]["generators"] = [generator] * 20_000
    node["model"]["fitted"]["terms"] = [[]] * 20_000
    assert_refused(signed(node, tmp_path / "m"), "max_bytes")


def nodes(node, path=()):
    """All places in a document, of which lists of many numbers have a few."""
    yield path
    if isinstance(node, dict):
        for key, value in node.items():
            yield from nodes(value, (*path, key))
    elif isinstance(node, list):
        for i, value in list(enumerate(node))[:3]:
            yield from nodes(value, (*path, i))


def replaced(node, path, value):
    if not path:
        return value
    node = node.copy()
    node[path[0]] = replaced(node[path[0]], path[1:], value)
    return node


OTHERS = [
    None,
    True,
    -1,
    0,
    3,
    10**30,
    1.5,
    1e308,
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [0],
    [-1.0],
    ["x"],
    {"x": 1},
    {"tuple": 1},
    {"dict": [[[], 1]]},
    {"array": [1], "dtype": "O"},
    {"array": [1], "dtype": "<U999999"},
    {"scalar": "x", "dtype": "<i8"},
    {"float": "NaN"},
    {"kind": "os.system", "parameters": {"command": "true"}},
    {"kind": "OAVI", "parameters": {}},
    {"splitter": "KFold", "parameters": {"n_splits": -1, "shuffle": 1, "random_state": 0}},
]


@pytest.mark.parametrize(
    "name", ["OAVI named", "VCA", "classifier", "classifier scaler", "search", "pipeline quantile"]
)
def test_any_value_of_another_type_is_refused_or_harmless(tmp_path, document, name):
    original = document(name)["model"]
    places = list(nodes(original))
    choose = random.Random(name)
    for _ in range(400):
        place = choose.choice(places)
        changed = replaced(original, place, choose.choice(OTHERS))
        head = {"format": "vanishing-model", "version": 1, "library": "", "sha256": ""}
        path = signed({**head, "model": changed}, tmp_path / "m")
        try:
            model = vanishing.load(path)
        except ModelFileError as problem:
            assert str(path) in str(problem)
        else:
            rows = X.to_numpy()
            with np.errstate(all="ignore"):
                try:
                    outputs(model, rows)
                except ValueError as problem:  # other columns, or values that overflow
                    assert "features" in str(problem) or "infinity" in str(problem)


OPTIONAL_KEYS = {"n_iter", "clip", "range", "temperature", "feature_names_in", "order", "sha256"}
OPTIONAL_KEYS |= {"complete", "variety"}  # which earlier versions did not write


@pytest.mark.parametrize("name", ["OAVI", "classifier"])
def test_missing_and_unknown_keys_are_refused(tmp_path, document, name):
    original = document(name)
    for place in nodes(original):
        node = original
        for key in place:
            node = node[key]
        if isinstance(node, dict) and place[-1:] != ("parameters",):
            unknown = replaced(original, place, {**node, "unknown": 1})
            assert_refused(signed(unknown, tmp_path / "m"), "unknown|no parameter")
            for key in set(node) - OPTIONAL_KEYS:
                missing = replaced(original, place, {k: v for k, v in node.items() if k != key})
                assert_refused(signed(missing, tmp_path / "m"))


@pytest.mark.parametrize("name", ["OAVI", "classifier scaler"])
def test_truncated_and_altered_files_are_refused(fitted, tmp_path, name):
    path = tmp_path / "model.json"
    vanishing.save(fitted(name), path)
    content = path.read_bytes()
    choose = random.Random(0)
    for _ in range(150):
        path.write_bytes(content[: choose.randrange(len(content) - 1)])
        assert_refused(path)
        altered = bytearray(content)
        altered[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
        path.write_bytes(altered)
        assert_refused(path)


def test_parameters_go_through_the_checks_of_fit(tmp_path, document):
    for key, value in [("psi", -1.0), ("oracle", "eval"), ("chunk_size", 0), ("absolute", "yes")]:
        node = document("OAVI")
        node["model"]["parameters"][key] = value
        assert_refused(signed(node, tmp_path / "m"), key)


def test_no_class_but_the_known_ones_is_made(tmp_path, document):
    made = []

    class Spy(BaseEstimator):
        def __init__(self):
            made.append(self)

    for kind in ("Spy", "subprocess.Popen", "GaussianNB", "__class__", 0, None, ["OAVI"]):
        node = document("OAVI")
        node["model"]["kind"] = kind
        assert_refused(signed(node, tmp_path / "m"), "kind")
    assert not made


# -- Files of earlier versions --------------------------------------------------------------------


def test_a_classifier_of_format_version_1_loads():
    model = vanishing.load(DATA / "model_v1_classifier.json")
    saved = {"Cs": (1.0, 10.0), "cv": 2, "psis": (0.05, 0.01), "clip": False, "scale": True}
    assert {name: model.get_params()[name] for name in saved} == saved
    assert model.classifier_.scaling_.low is None  # ranges were not kept then
    assert model.feature_names_in_.tolist() == ["petal length", "petal width"]
    rows = pd.DataFrame(
        [[1.4, 0.2], [4.5, 1.5], [6.0, 2.2]], columns=["petal length", "petal width"]
    )
    assert model.predict(rows).tolist() == ["setosa", "versicolor", "virginica"]
    scores = [
        [1.0656831741053094, -1.2043687746885277, -1.1118478008405535],
        [-1.4603923611222538, 0.7528447492456808, -0.6465527177672667],
        [-1.6161803772000654, -1.9125492324018554, 1.4403249363761945],
    ]
    np.testing.assert_allclose(model.decision_function(rows), scores, rtol=1e-12)


def test_a_search_whose_choices_have_names_loads():
    model = vanishing.load(DATA / "model_v1_search.json")
    best = VanishingClassifier(
        ContrastiveVanishing(max_degree=2, max_terms=None), psi=0.001, C=10.0, scale="minmax"
    )
    assert str(VanishingClassifier().set_params(**model.best_params_)) == str(best)
    degrees = {point["transformer"].max_degree for point in model.cv_results_["params"]}
    assert degrees == {1, 2}
    rows, _ = make_moons(60, noise=0.3, random_state=0)
    np.testing.assert_allclose(
        model.decision_function(rows[:2]), [-3.5772636, 1.15574218], rtol=1e-7
    )


def test_components_of_format_version_1_load():
    model = vanishing.load(DATA / "model_v1_vca.json")
    assert model.get_params()["psi"] == 1e-6
    assert model.normalization == "l2"  # which that version had no name for
    values = model.transform([[0.6, 0.8], [1.0, 1.0]])
    np.testing.assert_allclose(values, [[0.0], [2**0.5]], atol=1e-12)


def test_exact_generators_of_format_version_1_load():
    model = vanishing.load(DATA / "model_v1_exact.json")
    assert [str(generator) for generator in model.generators_] == [
        "x0^2 - x1",
        "x0*x1 - 3/5*x1 + 11/100*x0 - 3/500",
        "x1^2 - 1/4*x1 + 3/50*x0 - 9/2500",
    ]


# -- Classes of others ----------------------------------------------------------------------------


MEAN = """
from sklearn.base import BaseEstimator
from vanishing.estimators.saving import Savable
from vanishing.persistence import register

class MeanOfColumns(Savable, BaseEstimator):
    def __init__(self, shift=0.0):
        self.shift = shift

    def check_parameters(self):
        if not self.shift >= 0:
            raise ValueError("shift is negative.")

    def fit(self, X):
        self.n_features_in_ = X.shape[1]
        self.mean_ = X.mean(axis=0)
        return self

def write(writer, model):
    return {**writer.input(model), "mean": model.mean_.tolist()}

def read(reader, node, model):
    (mean,) = reader.fitted(model, node, ("mean",))
    model.mean_ = reader.floats(mean, "mean", model.n_features_in_)

register(MeanOfColumns, write, read)
"""


def test_an_estimator_of_the_user_is_loaded_once_its_module_is_imported(tmp_path):
    (tmp_path / "means_of_user.py").write_text(MEAN)
    run = dict(cwd=tmp_path, capture_output=True, text=True)  # where Python looks for modules
    code = "import numpy, vanishing, means_of_user as m\n"
    code += "m.MeanOfColumns(0.5).fit(numpy.eye(2)).save('model.json')\n"
    load = "model = vanishing.load('model.json'); print(model, model.mean_)\n"
    result = subprocess.run([sys.executable, "-c", code + load], **run)
    assert result.stdout == "MeanOfColumns(shift=0.5) [0.5 0.5]\n", result.stderr
    result = subprocess.run([sys.executable, "-c", "import vanishing\n" + load], **run)
    assert "'MeanOfColumns' is no kind of model that is known" in result.stderr
    assert "If the class is yours, import its module first." in result.stderr


def test_a_file_asks_for_no_module_but_those_of_public_names(document, tmp_path):
    """A name that is public but no class is as unknown as one that is not there."""
    saved = document("OAVI")
    for name in ("plot", "cli", "os.path", "load", "__version__", "", 1, None):
        saved["model"]["kind"] = name
        with pytest.raises(ModelFileError, match=r"kind of (a )?model"):
            vanishing.load(signed(saved, tmp_path / "model.json"))


def test_loading_imports_the_room_of_the_class_and_no_other(tmp_path):
    path = tmp_path / "model.json"
    OAVI(psi=0.01).fit(Z).save(path)
    code = f"import sys, vanishing; vanishing.load({str(path)!r}); "
    code += "print([room for room in ('learning', 'laws', 'motion', 'outliers', 'plot') "
    code += "if f'vanishing.{room}' in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def test_load_refuses_a_model_of_another_kind(tmp_path):
    X = np.random.default_rng(0).uniform(size=(50, 2))
    path = tmp_path / "model.json"
    OAVI(psi=0.01).fit(X).save(path)
    assert isinstance(vanishing.load(path, OAVI), OAVI)
    with pytest.raises(ModelFileError, match=r"model.json holds OAVI, not ABM"):
        vanishing.load(path, ABM)
    with pytest.raises(TypeError, match="kind must be a class, such as LawFinder"):
        vanishing.load(path, "OAVI")
