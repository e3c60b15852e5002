"""Dask collections: blocks are asked where they are, and only moments travel."""

import os
import pickle
import signal
import threading
import time
import warnings
from concurrent.futures import CancelledError
from functools import partial

import numpy as np
import pytest
from helpers import assert_same_model
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingFeatures,
)
from vanishing.rows import source as common
from vanishing.rows.intake import lazy_source
from vanishing.rows.reader import SourceReader

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

M = 900
RNG = np.random.default_rng(0)
THREE = np.arange(M) % 3
ANGLE = RNG.uniform(0, 2 * np.pi, M)
RADIUS = np.array([0.25, 0.35, 0.45])[THREE]
X = np.column_stack(
    [0.5 + RADIUS * np.cos(ANGLE), 0.5 + RADIUS * np.sin(ANGLE), RNG.uniform(size=M)]
)
X += RNG.normal(scale=0.01, size=X.shape)  # three cylinders
TWO = (THREE > 0).astype(int)
NAMES = np.array(["small", "medium", "large"])[THREE]
KINDS = ["integers", "two", "text", "objects"]
WEIGHTS = RNG.uniform(size=M)
WEIGHTS[::5] = 0.0
WEIGHTS[:150] = 0.0

CHUNKS = {
    "one": (M, 3),
    "equal": (100, 3),
    "many": (10, 3),
    "uneven": ((1, 400, 7, 492), 3),
    "columns apart": (100, 1),
    "columns two and one": (150, (2, 1)),
}
ESTIMATORS = {
    "pcg": OAVI(0.002, max_degree=4),
    "ls, bb": OAVI(0.002, oracle="ls", border="bb", max_degree=3),
    "pearson": OAVI(0.002, oracle="omp", feature_order="pearson", max_degree=3),
    "tiny psi": OAVI(1e-12, max_degree=2),
    "ABM": ABM(0.002, max_degree=3),
    "AVI": AVI(0.002, max_degree=2),
}


@pytest.fixture(autouse=True)
def one_thread():
    """Unless a test says otherwise."""
    with dask.config.set(scheduler="synchronous"):
        yield


def fitted(name, rows, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(ESTIMATORS[name]).fit(rows, sample_weight=weights)


def assert_same_classes(model, expected, coef_tol=1e-5):
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    features, others = (getattr(m, "features_", m) for m in (model, expected))
    for transformer, other in zip(features.transformers_, others.transformers_, strict=True):
        assert_same_model(transformer, other, coef_tol=coef_tol)
    assert model.n_generators_ == expected.n_generators_ > 0


def in_chunks(*arrays, rows=100):
    return [da.from_array(array, chunks=(rows, *array.shape[1:])) for array in arrays]


def masked(array):
    """The same rows, in chunks whose sizes nobody knows; some of them are empty."""
    padded = np.concatenate([array, array[:200]])
    keep = np.arange(M + 200) < M
    (padded,) = in_chunks(padded)
    return padded[da.from_array(keep, chunks=100)]


def fails(block):
    raise RuntimeError("somebody computed it")


def uncomputable(chunks=(300, 3)):
    """An array that says so when it is computed."""
    (array,) = in_chunks(X)
    array = array.rechunk(chunks)
    return array.map_blocks(fails, dtype=float, meta=np.empty((0, 0)))


# ----------------------------------------------------------------------------- the same models


@pytest.mark.parametrize(
    "name, weighted", [*((name, False) for name in ESTIMATORS), ("pcg", True), ("pearson", True)]
)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_an_array_gives_the_model_of_its_rows(chunks, name, weighted):
    rows = np.column_stack([X[:, :2], X[:, 0] * X[:, 1]]) if name == "tiny psi" else X
    weights = WEIGHTS if weighted else None
    given = da.from_array(WEIGHTS, chunks=77) if weighted else None
    expected = fitted(name, rows, weights)
    assert expected.n_generators_ > 0
    model = fitted(name, da.from_array(rows, chunks=CHUNKS[chunks]), given)
    assert_same_model(model, expected)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("name", ["pcg", "ABM"])
def test_chunks_of_unknown_sizes(name):
    expected = fitted(name, X)
    model = fitted(name, masked(X))
    assert_same_model(model, expected)
    out = model.transform(masked(X))
    assert np.isnan(out.chunks[0]).all()
    assert out.chunks[1] == (model.n_generators_,)
    np.testing.assert_allclose(out.compute(), expected.transform(X), atol=1e-6)
    weighted = fitted(name, masked(X), masked(WEIGHTS))
    assert_same_model(weighted, fitted(name, X, WEIGHTS))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, bool])
def test_other_numbers(dtype):
    rows = (2 * X).astype(dtype)
    expected = OAVI(0.02, max_degree=3).fit(rows)
    (given,) = in_chunks(rows)
    model = OAVI(0.02, max_degree=3).fit(given)
    assert_same_model(model, expected)
    out = model.transform(given)
    assert out.dtype == out.compute().dtype == expected.transform(rows).dtype


def test_single_precision_gives_nearly_the_model_of_double():
    (single,) = in_chunks(X.astype(np.float32))
    model, double = OAVI(0.002, max_degree=4).fit(single), OAVI(0.002, max_degree=4).fit(X)
    np.testing.assert_array_equal(model.terms_, double.terms_)
    np.testing.assert_array_equal(model.leading_terms_, double.leading_terms_)
    np.testing.assert_allclose(model.coef_, double.coef_, atol=1e-3)


@pytest.mark.parametrize("y", [THREE, TWO, NAMES, NAMES.astype(object)], ids=KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_features(y, weighted):
    weights = WEIGHTS if weighted else None
    rows, labels, given = in_chunks(X, y, WEIGHTS)
    expected = VanishingFeatures(OAVI(0.002)).fit(X, y, weights)
    model = VanishingFeatures(OAVI(0.002)).fit(rows, labels, given if weighted else None)
    assert_same_classes(model, expected)
    out = model.transform(rows)
    assert out.chunks == (rows.chunks[0], (model.n_generators_,))
    np.testing.assert_allclose(out.compute(), expected.transform(X), atol=1e-5)


@pytest.mark.parametrize("y", [THREE, TWO, NAMES], ids=KINDS[:3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["known", "masked"])
def test_classifier(y, weighted, kind):
    weights = WEIGHTS if weighted else None
    chunked = masked if kind == "masked" else lambda array: in_chunks(array)[0]
    expected = VanishingClassifier(OAVI(0.002), C=10.0).fit(X, y, weights)
    model = VanishingClassifier(OAVI(0.002), C=10.0)
    model.fit(chunked(X), chunked(y), chunked(WEIGHTS) if weighted else None)
    assert_same_classes(model, expected)
    assert model.final_estimator_.dual_gap_.max() <= 1e-4
    assert np.mean(model.predict(X) == expected.predict(X)) > 0.99
    predicted = model.predict(chunked(X))
    assert predicted.dtype == model.classes_.dtype
    np.testing.assert_array_equal(predicted.compute(), model.predict(X))
    scores = model.decision_function(chunked(X))
    assert scores.ndim == model.decision_function(X).ndim
    np.testing.assert_allclose(scores.compute(), model.decision_function(X), atol=1e-9)


def test_classes_need_not_be_in_all_chunks():
    order = np.argsort(THREE, kind="stable")
    rows, y = in_chunks(X[order], NAMES[order])
    model = VanishingClassifier(OAVI(0.002)).fit(rows, y)
    assert_same_classes(model, VanishingClassifier(OAVI(0.002)).fit(X[order], NAMES[order]))


def test_labels_in_other_chunks():
    model = VanishingFeatures(OAVI(0.002)).fit(in_chunks(X)[0], da.from_array(NAMES, chunks=77))
    assert_same_classes(model, VanishingFeatures(OAVI(0.002)).fit(X, NAMES))


def test_threads_over_classes_and_blocks():
    rows, y = in_chunks(X, NAMES)
    expected = VanishingFeatures(OAVI(0.002)).fit(X, NAMES)
    with dask.config.set(scheduler="threads", num_workers=3):
        model = VanishingFeatures(OAVI(0.002), n_jobs=2).fit(rows, y)
        assert_same_classes(model, expected)
        out = model.transform(rows).compute()
    np.testing.assert_allclose(out, expected.transform(X), atol=1e-5)


# ------------------------------------------------------------------------------- DataFrames


@pytest.fixture
def frame():
    """A function that makes a Dask DataFrame, or a Series of one column."""
    pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    import pandas as pd

    def make(columns, npartitions=7):
        if isinstance(columns, dict):
            return dd.from_pandas(pd.DataFrame(columns), npartitions=npartitions)
        return dd.from_pandas(pd.Series(columns), npartitions=npartitions)

    return make


def columns_of(rows):
    return dict(zip(["width", "height", "weight"], rows.T, strict=True))


def test_data_frames(frame):
    rows = frame(columns_of(X))
    model = OAVI(0.002).fit(rows)
    assert_same_model(model, OAVI(0.002).fit(X))
    assert list(model.feature_names_in_) == ["width", "height", "weight"]
    assert "height" in " ".join(str(g) for g in model.generators_)
    out = model.transform(rows)
    assert out.npartitions == rows.npartitions
    assert out.shape[1] == model.n_generators_
    np.testing.assert_allclose(out.compute(), OAVI(0.002).fit(X).transform(X), atol=1e-6)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(rows[["weight", "width", "height"]])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.transform(rows[["weight", "width"]])


@pytest.mark.parametrize("kind", ["text", "category", "integer", "array"])
def test_labels_of_data_frames(frame, kind):
    y = TWO if kind == "integer" else NAMES
    labels = frame(y)
    if kind == "category":
        labels = labels.astype("category")
    elif kind == "array":
        labels = labels.to_dask_array()
    rows = frame(columns_of(X))
    expected = VanishingClassifier(OAVI(0.002)).fit(X, y)
    model = VanishingClassifier(OAVI(0.002)).fit(rows, labels, frame(np.ones(M)))
    assert_same_classes(model, expected)
    assert list(model.feature_names_in_) == ["width", "height", "weight"]
    predicted = model.predict(rows)
    assert predicted.ndim == 1
    np.testing.assert_array_equal(predicted.compute(), model.predict(rows.compute()))
    scores = model.decision_function(rows).compute()
    np.testing.assert_allclose(scores, model.decision_function(rows.compute()), atol=1e-9)


def test_filtered_data_frames(frame):
    """Partitions may be empty."""
    rows = frame({**columns_of(X), "number": np.arange(M)})
    rows = rows[(rows["number"] < 300) | (rows["number"] > 700)][list(columns_of(X))]
    kept = np.r_[0:300, 701:M]
    model = OAVI(0.002).fit(rows)
    assert_same_model(model, OAVI(0.002).fit(X[kept]))
    assert len(model.transform(rows).compute()) == len(kept)


@pytest.mark.parametrize(
    "dtypes",
    [
        ["float32"] * 3,
        ["float32", "float64", "float32"],
        ["float32", "int16", "bool"],
        ["float32", "int64", "float32"],
        ["Float64"] * 3,
        ["Float32"] * 3,
    ],
    ids=" ".join,
)
def test_columns_of_other_numbers(frame, dtypes):
    rows = frame(columns_of(X)).astype(dict(zip(columns_of(X), dtypes, strict=True)))
    expected = OAVI(0.02, max_degree=3).fit(rows.compute())
    model = OAVI(0.02, max_degree=3).fit(rows)
    assert_same_model(model, expected)
    assert model.transform(rows).compute().dtype == expected.transform(rows.compute()).dtype


# --------------------------------------------------------------------------------------- lazily


def test_everything_but_fit_is_lazy_and_keeps_the_chunks():
    model = OAVI(0.002).fit(X)
    features = VanishingFeatures(OAVI(0.002)).fit(X, THREE)
    final = VanishingClassifier(OAVI(0.002), final_estimator=LogisticRegression()).fit(X, NAMES)
    three = VanishingClassifier(OAVI(0.002)).fit(X, NAMES)
    two = VanishingClassifier(OAVI(0.002)).fit(X, TWO)
    rows = uncomputable(((100, 500, 300), 3))
    widths = {
        model.transform: model.n_generators_,
        features.transform: features.n_generators_,
        three.predict: None,
        three.decision_function: 3,
        two.predict: None,
        two.decision_function: None,
        final.predict: None,
        final.predict_proba: 3,
    }
    for method, width in widths.items():
        out = method(rows)
        assert isinstance(out, da.Array)
        assert out.chunks == ((100, 500, 300), *([] if width is None else [(width,)]))
        with pytest.raises(RuntimeError, match="somebody computed it"):
            out.compute()
        array = in_chunks(X)[0].rechunk(rows.chunks)
        expected = method(X)
        found = method(array).compute()
        assert found.dtype == method(array).dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, atol=1e-9)
        else:
            np.testing.assert_array_equal(found, expected)


def test_a_chunk_can_be_computed_alone():
    (rows,) = in_chunks(X)
    bad = da.concatenate([rows[:300], uncomputable()[300:]])
    model = OAVI(0.002).fit(X)
    np.testing.assert_allclose(
        model.transform(bad)[:200].compute(), model.transform(X[:200]), atol=1e-12
    )


def test_results_of_several_models_are_told_apart():
    (rows,) = in_chunks(X)
    model = OAVI(0.002)
    outs, expected = [], []
    for psi in (0.1, 0.01, 0.002):
        model.set_params(psi=psi).fit(X)
        outs.append(model.transform(rows))
        expected.append(model.transform(X))
    assert len({out.name for out in outs}) == 3
    for found, values in zip(dask.compute(*outs), expected, strict=True):
        np.testing.assert_allclose(found, values, atol=1e-12)


def test_an_empty_chunk_in_transform():
    (rows,) = in_chunks(X)
    rows = rows[rows[:, 0] > 10]
    model = VanishingClassifier(OAVI(0.002)).fit(X, NAMES)
    assert OAVI(0.002).fit(X).transform(rows).compute().shape[0] == 0
    assert model.predict(rows).compute().shape == (0,)
    assert model.decision_function(rows).compute().shape == (0, 3)


# ---------------------------------------------------------------------------- only moments travel


class Measured:
    """A scheduler that weighs what it brings back."""

    def __init__(self, get):
        self.get = get
        self.weights = []

    def __call__(self, graph, keys, **options):
        found = self.get(graph, keys, **options)
        self.weights.append(len(pickle.dumps(found)))
        return found


def generated(rows, block_id=None):
    return np.random.default_rng(block_id[0]).uniform(size=(rows, 4))


def rows_made_in_tasks(n_blocks, rows):
    """An array whose rows are nowhere until a task makes them."""
    chunks = ((rows,) * n_blocks, (4,))
    return da.map_blocks(partial(generated, rows), chunks=chunks, dtype=float)


@pytest.mark.parametrize("n_blocks", [3, 30])
def test_only_moments_come_back(n_blocks):
    rows = rows_made_in_tasks(n_blocks, 500)
    measured = Measured(dask.get)
    with dask.config.set(scheduler=measured):
        model = OAVI(0.005, max_degree=3).fit(rows)
        n_terms = model.n_terms_ + model.n_generators_
        assert 3 < len(measured.weights) <= 2 * 3 + 1
        assert max(measured.weights) < 8 * n_terms**2 + 1000 < 8 * 4 * 500 * 3
        measured.weights.clear()
        y = (rows[:, 0] > 0.5).astype(int)
        classifier = VanishingClassifier(OAVI(0.005, max_degree=2)).fit(rows, y)
    columns = classifier.n_generators_ + 1
    assert max(measured.weights) < 8 * columns**2 + 8 * 15**2 + 2000
    assert_same_model(model, OAVI(0.005, max_degree=3).fit(rows.compute()))


def test_answers_form_a_tree(monkeypatch):
    joined, join = [], common.joined

    def recorded(combine, answers):
        joined.append(len(answers))
        return join(combine, answers)

    monkeypatch.setattr(common, "joined", recorded)
    (rows,) = in_chunks(X, rows=9)
    rows_of_source = SourceReader(lazy_source(rows))
    rows_of_source.correlations()  # asks twice
    assert max(joined) == 8
    assert len(joined) == 2 * (13 + 2 + 1)  # 100, 13, 2, 1


def test_a_pass_adds_one_task_per_block_and_a_tree():
    """To the blocks' own graph, which passes share; each pass is found anew."""
    rows, y = in_chunks(X, rows=9)[0].persist(), da.from_array(THREE, chunks=9).persist()
    source = lazy_source(rows, y)
    passes = [source._answer(len, max).dask for _ in range(2)]
    n_tasks = 100 + 13 + 2 + 1
    for graph in passes:
        assert len(graph) == n_tasks + 2 * 100  # rows and labels are there
    assert len({*passes[0], *passes[1]}) == 2 * n_tasks + 2 * 100
    assert source.ask(lambda part: len(part.X) + len(part.y), lambda a, b: a + b) == 2 * M


# ------------------------------------------------------------------------------------- bad input


def bad_in_block_17(change):
    """Twenty chunks; a function is applied to the one numbered 17, which nobody is told."""
    (rows,) = in_chunks(X, rows=45)

    def changed(block, block_id=None):
        return change(block) if block_id[0] == 17 else block

    return rows.map_blocks(changed, dtype=float, meta=np.empty((0, 0)))


BAD_BLOCKS = {
    "NaN": (lambda block: np.where(block > 0.9, np.nan, block), "NaN"),
    "fewer columns": (lambda block: block[:, :2], "it has 2 columns, but the first one has 3"),
    "another dtype": (lambda block: block.astype(np.float32), "float32.*Convert all blocks"),
    "one dimension": (lambda block: block[0], "1D"),
}


@pytest.mark.parametrize("kind", BAD_BLOCKS)
def test_a_bad_block_is_named(kind):
    change, message = BAD_BLOCKS[kind]
    with pytest.raises(ValueError, match=f"(?s)Block 17, counting from 0.*{message}"):
        OAVI(0.002).fit(bad_in_block_17(change))
    OAVI(0.002).fit(bad_in_block_17(lambda block: block))


def test_a_bad_block_is_named_in_transform(frame):
    change, _ = BAD_BLOCKS["NaN"]
    out = OAVI(0.002).fit(X).transform(bad_in_block_17(change))
    with pytest.raises(ValueError, match=r"(?s)Block 17, counting from 0.*NaN"):
        out.compute()
    rows = frame(columns_of(np.where(np.arange(M)[:, np.newaxis] == M - 1, np.nan, X)))
    model = VanishingClassifier(OAVI(0.002)).fit(frame(columns_of(X)), frame(NAMES))
    with pytest.raises(ValueError, match=r"(?s)Block 6, counting from 0.*NaN"):
        model.predict(rows).compute()


def test_labels_must_be_dask_collections():
    rows, y = in_chunks(X, THREE)
    with pytest.raises(TypeError, match="y must be a Dask collection as X is; got ndarray"):
        VanishingFeatures().fit(rows, THREE)
    with pytest.raises(
        TypeError, match="sample_weight must be a Dask collection as X is; got list"
    ):
        VanishingFeatures().fit(rows, y, [1.0] * M)
    with pytest.raises(ValueError, match="no labels: give y"):
        VanishingFeatures().fit(rows)
    with pytest.raises(ValueError, match="y must be 1-dimensional"):
        VanishingFeatures().fit(rows, y[:, np.newaxis])


def test_labels_must_be_partitioned_as_the_rows(frame):
    rows, y = in_chunks(X, THREE)
    with pytest.raises(ValueError, match=r"y has 9 partitions, but X has 7. Partition them alike"):
        VanishingFeatures().fit(frame(columns_of(X)), y)
    with pytest.raises(ValueError, match="Partition them alike"):
        VanishingFeatures().fit(rows, y[:-101])
    with pytest.raises(ValueError, match=r"Block 8, .* 100 rows, but labels .* \(99,\)"):
        VanishingFeatures().fit(rows, y[:-1])
    with pytest.raises(ValueError, match=r"Block \d, .* rows, but labels .* \(100,\)"):
        VanishingFeatures().fit(rows[rows[:, 0] > 0.5], y)


def test_weights_must_not_be_negative():
    rows, weights = in_chunks(X, WEIGHTS)
    with pytest.raises(ValueError, match=r"Block \d, .*none of them negative"):
        OAVI().fit(rows, sample_weight=-weights)
    with pytest.raises(ValueError, match="no rows"):
        OAVI().fit(rows, sample_weight=0 * weights)


def test_columns_of_text(frame):
    rows = frame({"width": X[:, 0], "kind": NAMES})
    with pytest.raises(ValueError, match=r"Column 'kind' of X has dtype .*; give it real numbers"):
        OAVI().fit(rows)
    with pytest.raises(ValueError, match="X has dtype object; give it real numbers"):
        OAVI().fit(in_chunks(X.astype(object))[0])
    with pytest.raises(ValueError, match="X has dtype complex128; give it real numbers"):
        OAVI().fit(in_chunks(X + 1j)[0])


def test_other_collections(frame):
    bag = pytest.importorskip("dask.bag")
    series = frame(X[:, 0])
    for wrong in (bag.from_sequence([1, 2]), dask.delayed(X), series):
        with pytest.raises(TypeError, match="X must be a Dask array or DataFrame; got"):
            OAVI().fit(wrong)
    for wrong in (da.ones(5), da.ones((2, 2, 2))):
        with pytest.raises(ValueError, match="X must be 2-dimensional, rows and columns"):
            OAVI().fit(wrong)
    unknown = da.from_delayed(dask.delayed(X), shape=(np.nan, np.nan), dtype=float)
    with pytest.raises(ValueError, match=r"how many columns it has. Call X.compute_chunk_sizes"):
        OAVI().fit(unknown)
    OAVI(0.002).fit(unknown.compute_chunk_sizes())


def test_no_rows():
    (rows,) = in_chunks(X)
    for empty in (rows[:0], rows[rows[:, 0] > 10]):
        with pytest.raises(ValueError, match="no rows"):
            OAVI().fit(empty)


def test_columns_must_be_those_of_fit():
    with pytest.raises(ValueError, match="X has 2 features, but OAVI is expecting 3"):
        OAVI(0.002).fit(X).transform(in_chunks(X[:, :2])[0])


@pytest.mark.parametrize("model", [VCA(), L1SquaredHingeSVC()], ids=str)
def test_others_need_the_rows_in_memory(model):
    """And say so before anything is computed."""
    name = type(model).__name__
    with pytest.raises(TypeError, match=rf"{name} does not take Dask .*Give it X.compute\(\);"):
        model.fit(uncomputable(), in_chunks(TWO)[0])


def test_options_that_need_the_rows_in_memory():
    rows, y = in_chunks(X, TWO)
    with pytest.raises(TypeError, match="VCA needs the rows of a class in memory"):
        VanishingFeatures(VCA()).fit(rows, y)
    with pytest.raises(TypeError, match="VCA does not take Dask collections"):
        VCA().fit(X).transform(rows)
    with pytest.raises(TypeError, match=r"scale=StandardScaler\(\) needs the rows in memory"):
        VanishingClassifier(scale=StandardScaler()).fit(rows, y)
    with pytest.raises(TypeError, match="final_estimator needs the features of all rows"):
        VanishingClassifier(final_estimator=LogisticRegression()).fit(rows, y)


class CommClosedError(OSError):
    """By the name of that of distributed."""


@pytest.mark.parametrize(
    "error", [CancelledError("lost"), CommClosedError("closed"), ValueError("Missing dependency x")]
)
def test_a_lost_connection_is_said(error):
    def get(graph, keys, **options):
        raise error

    with (
        dask.config.set(scheduler=get),
        pytest.raises(
            ConnectionError, match=r"scheduler cannot be reached.*Start a cluster"
        ) as found,
    ):
        OAVI().fit(in_chunks(X)[0])
    assert found.value.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("no file part.17"),
        TimeoutError("the disk sleeps"),
        OSError("broken"),
        KeyError("column"),
        ValueError("not a number"),
        ZeroDivisionError(),
    ],
    ids=repr,
)
def test_errors_of_tasks_are_their_own(error):
    def failing(block):
        raise error

    rows = in_chunks(X)[0].map_blocks(failing, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(type(error)) as found:
        OAVI().fit(rows)
    assert str(found.value) == str(error)


# --------------------------------------------------------------------------- worker processes


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(cluster):
    cluster.wait_for_workers(2, timeout=300)
    with dask.config.set(scheduler=None), cluster.as_current():
        yield cluster


@pytest.mark.parametrize("chunks", ["equal", "uneven", "columns two and one"])
def test_two_processes_give_the_same_model(client, chunks):
    rows = da.from_array(X, chunks=CHUNKS[chunks])
    weights = da.from_array(WEIGHTS, chunks=rows.chunks[0])
    model = OAVI(0.002).fit(rows, sample_weight=weights)
    assert_same_model(model, OAVI(0.002).fit(X, sample_weight=WEIGHTS))
    out = model.transform(rows)
    assert out.chunks[0] == rows.chunks[0]
    np.testing.assert_allclose(out.compute(), model.transform(X), atol=1e-9)


def test_two_processes_give_the_same_classifier(client, frame):
    expected = VanishingClassifier(ABM(0.002, max_degree=2), C=0.1).fit(X, NAMES)
    rows, y = frame(columns_of(X), 3), frame(NAMES, 3)
    model = VanishingClassifier(ABM(0.002, max_degree=2), C=0.1).fit(rows, y)
    assert_same_classes(model, expected)
    found = model.predict(rows).compute()
    np.testing.assert_array_equal(found, model.predict(rows.compute()))


def noted(folder, block, block_id=None):
    """Leave a note of the process that made a block."""
    with open(f"{folder}/{os.getpid()}", "a") as file:
        file.write(".")
    return generated(2000, block_id)


def test_rows_stay_on_the_workers(client, tmp_path):
    measured = Measured(client.get)
    rows = rows_made_in_tasks(12, 2000).map_blocks(
        partial(noted, str(tmp_path)), dtype=float, meta=np.empty((0, 0))
    )
    with dask.config.set(scheduler=measured):
        model = OAVI(0.01, max_degree=2).fit(rows)
    assert model.n_generators_ > 0
    pids = {int(path.name) for path in tmp_path.iterdir()}
    assert pids == set(client.run(os.getpid).values())
    assert os.getpid() not in pids
    assert max(measured.weights) < 8 * (model.n_terms_ + model.n_generators_) ** 2 + 1000
    expected = np.concatenate([generated(2000, (i,)) for i in range(12)])
    assert_same_model(model, OAVI(0.01, max_degree=2).fit(expected))


def test_a_bad_block_is_named_by_another_process(client):
    change, _ = BAD_BLOCKS["NaN"]
    with pytest.raises(ValueError, match=r"(?s)Block 17, counting from 0.*NaN"):
        OAVI(0.002).fit(bad_in_block_17(change))


def deadly(marker, block, block_id=None):
    """Kill the worker that computes this, the first time block 5 is asked for."""
    time.sleep(0.02)
    if block_id[0] == 5:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_worker_killed_in_the_middle_of_a_fit(client, tmp_path):
    before = set(client.run(os.getpid).values())
    marker = tmp_path / "killed"
    rows = in_chunks(X)[0].map_blocks(
        partial(deadly, str(marker)), dtype=float, meta=np.empty((0, 0))
    )
    model = OAVI(0.002).fit(rows)
    assert marker.exists()
    assert_same_model(model, OAVI(0.002).fit(X))
    client.wait_for_workers(2, timeout=300)
    assert set(client.run(os.getpid).values()) != before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_worker_killed_with_its_blocks(client):
    """Blocks kept in its memory are made again elsewhere."""
    from distributed import wait

    rows = rows_made_in_tasks(8, 500).persist()
    wait(rows)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    model = OAVI(0.01, max_degree=2).fit(rows)
    assert model.n_generators_ > 0
    expected = np.concatenate([generated(500, (i,)) for i in range(8)])
    assert_same_model(model, OAVI(0.01, max_degree=2).fit(expected))


# ------------------------------------------------------------------------------ a dead scheduler


@pytest.fixture
def mortal():
    """A cluster that a test may close."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    client = distributed.Client(cluster)
    with dask.config.set(scheduler=None):
        yield cluster
    client.close()
    cluster.close()


def test_a_scheduler_that_is_gone(mortal):
    (rows,) = in_chunks(X)
    rows = rows.persist()
    assert_same_model(OAVI(0.002).fit(rows), OAVI(0.002).fit(X))
    mortal.close()
    with pytest.raises(ConnectionError, match=r"cannot be reached any more.*Start a cluster, conn"):
        OAVI(0.002).fit(rows)


REACHED = threading.Event()  # in this process, where the worker is, too


def slow(block):
    REACHED.set()
    time.sleep(0.3)
    return block


@pytest.mark.slow
def test_a_scheduler_that_goes_in_the_middle_of_a_fit(mortal):
    REACHED.clear()

    def close():
        REACHED.wait(30)
        mortal.close()

    rows = in_chunks(X)[0].map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(ConnectionError, match=r"cannot be reached any more.*Start a cluster, conn"):
        OAVI(0.002).fit(rows)
    closer.join()
