"""Rows that are not one array in memory: memory maps, blocks, files, arrays of other libraries."""

import subprocess
import sys
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from helpers import assert_same_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingFeatures,
    load,
)
from vanishing.learning.labels import LabelledRows
from vanishing.learning.passes import fit_in_passes
from vanishing.rows.array_source import DeviceSource
from vanishing.rows.blocks import BlockSource
from vanishing.rows.questions import survey

M = 900
RNG = np.random.default_rng(0)
ANGLE = RNG.uniform(0, 2 * np.pi, M)
RADIUS = np.repeat([0.25, 0.35, 0.45], M // 3)
X = np.column_stack(
    [0.5 + RADIUS * np.cos(ANGLE), 0.5 + RADIUS * np.sin(ANGLE), RNG.uniform(size=M)]
)
X += RNG.normal(scale=0.01, size=X.shape)  # three cylinders
SHUFFLED = RNG.permutation(M)
X, RADIUS = X[SHUFFLED], RADIUS[SHUFFLED]
THREE = np.searchsorted([0.3, 0.4], RADIUS)
TWO = (THREE > 0).astype(int)
WEIGHTS = RNG.uniform(size=M)
WEIGHTS[::5] = 0.0
SIZES = {
    "one": [M],
    "equal": [100] * 9,
    "uneven": [1, 400, 7, 492],
    "empty ones": [0, 300, 0, 0, 599, 1, 0],
}


def cuts(*arrays, sizes):
    """Blocks of given sizes: of one array, or tuples of several."""
    stops = np.cumsum(sizes)
    for stop, size in zip(stops, sizes, strict=True):
        parts = tuple(None if a is None else a[stop - size : stop] for a in arrays)
        yield parts if len(arrays) > 1 else parts[0]


def blocks_of(*arrays, sizes=SIZES["equal"]):
    return partial(cuts, *arrays, sizes=sizes)


class Counted:
    """Blocks that count how often they are read, and the blocks that are."""

    def __init__(self, blocks):
        self.blocks = list(blocks)
        self.passes = 0

    def __iter__(self):
        yield from self.blocks
        self.passes += 1


class Scratch:
    """Blocks made anew when asked for: the rows are nowhere else."""

    def __init__(self, n_blocks, rows, n_classes=0):
        self.n_blocks, self.rows, self.n_classes = n_blocks, rows, n_classes

    def __iter__(self):
        for seed in range(self.n_blocks):
            rng = np.random.default_rng(seed)
            block = rng.uniform(size=(self.rows, 4))
            if self.n_classes:
                labels = rng.integers(self.n_classes, size=self.rows)
                block[:, 3] = 0.5 * (block[:, 0] + block[:, 1] * labels)
                yield block, labels
            else:
                yield block


def together(blocks):
    return np.concatenate(list(blocks))


ESTIMATORS = {
    "pcg": OAVI(0.002, max_degree=4),
    "ls, bb": OAVI(0.002, oracle="ls", border="bb", max_degree=3),
    "omp": OAVI(0.002, oracle="omp", max_degree=3),
    "agd": OAVI(0.002, oracle="agd", max_degree=3),
    "pearson": OAVI(0.002, feature_order="pearson", max_degree=3),
    "exact": OAVI(0, max_degree=2),
    "letter": OAVI(0.002, certify=False, refit=False, max_degree=3),
    "ABM": ABM(0.002, max_degree=3),
    "AVI": AVI(0.002, max_degree=2),
}
estimators = pytest.mark.parametrize("name", ESTIMATORS)
weightings = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])


def fitted(name, rows, weights=None):
    if name == "exact":  # something must vanish exactly
        rows = with_a_product(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(ESTIMATORS[name]).fit(rows, sample_weight=weights)


def with_a_product(rows):
    if isinstance(rows, np.ndarray):
        return np.column_stack([rows, rows[:, 0] * rows[:, 1]])
    return lambda: (with_a_product(block) for block in Blocks(rows))


# ----------------------------------------------------------------------------- the same models


@weightings
@estimators
@pytest.mark.parametrize("sizes", SIZES)
def test_blocks_give_the_model_of_the_array(name, sizes, weights):
    expected = fitted(name, X, weights)
    assert expected.n_generators_ > 0
    model = fitted(name, blocks_of(X, sizes=SIZES[sizes]), weights)
    assert_same_model(model, expected)
    assert model.n_features_in_ == expected.n_features_in_
    if name in ("pcg", "omp"):
        assert model.n_iter_ == expected.n_iter_


@weightings
def test_weights_may_come_with_the_blocks(weights):
    weights = WEIGHTS if weights is None else 3 * weights
    model = fitted("pcg", blocks_of(X, None, weights))
    assert_same_model(model, fitted("pcg", X, weights))
    assert not np.allclose(model.mse_[0], fitted("pcg", X).mse_[0], rtol=1e-6)


def test_a_block_of_weight_zero_is_absent():
    weights = np.ones(M)
    weights[100:200] = 0.0
    model = fitted("pcg", blocks_of(X), weights)
    assert_same_model(model, fitted("pcg", np.delete(X, np.s_[100:200], axis=0)))


@pytest.mark.parametrize("kind", ["function", "Blocks", "object", "list", "tuple"])
def test_sources_of_all_kinds(kind):
    source = blocks_of(X)
    if kind == "Blocks":
        source = Blocks(source)
    elif kind == "object":
        source = Counted(source())
    elif kind == "list":
        source = Blocks(list(source()))
    elif kind != "function":
        source = Blocks(tuple(source()))
    model = OAVI(0.002, max_degree=3).fit(source)
    assert_same_model(model, OAVI(0.002, max_degree=3).fit(X))
    assert_same_model(model.fit(source), OAVI(0.002, max_degree=3).fit(X))


def test_blocks_of_lists_are_arrays():
    model = OAVI(0.002, max_degree=3).fit(lambda: (block.tolist() for block in blocks_of(X)()))
    assert_same_model(model, OAVI(0.002, max_degree=3).fit(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, bool])
@pytest.mark.parametrize("sizes", ["uneven", "empty ones"])
def test_other_numbers(dtype, sizes):
    rows = (2 * X).astype(dtype)
    expected = OAVI(0.02, max_degree=3).fit(rows)
    model = OAVI(0.02, max_degree=3).fit(blocks_of(rows, sizes=SIZES[sizes]))
    assert_same_model(model, expected)
    out = together(model.transform(blocks_of(rows, sizes=SIZES[sizes])))
    assert out.dtype == expected.transform(rows).dtype
    np.testing.assert_allclose(out, expected.transform(rows), atol=1e-5)


def test_single_precision_gives_nearly_the_model_of_double():
    single = OAVI(0.002, max_degree=4).fit(blocks_of(X.astype(np.float32)))
    double = OAVI(0.002, max_degree=4).fit(X)
    np.testing.assert_array_equal(single.terms_, double.terms_)
    np.testing.assert_array_equal(single.leading_terms_, double.leading_terms_)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@estimators
def test_a_memory_map_gives_the_model_of_the_array(tmp_path, name, dtype):
    rows = X.astype(dtype)
    mapped = np.memmap(tmp_path / "rows", dtype=dtype, mode="w+", shape=rows.shape)
    mapped[:] = rows
    mapped.flush()
    mapped = np.memmap(tmp_path / "rows", dtype=dtype, mode="r", shape=rows.shape)
    model = fitted(name, mapped)
    assert_same_model(model, fitted(name, rows))
    if name != "exact":
        np.testing.assert_array_equal(model.transform(mapped), model.transform(rows))


# --------------------------------------------------------------------------- classes and labels


def assert_same_classes(model, expected, coef_tol=1e-6):
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    features, others = (getattr(m, "features_", m) for m in (model, expected))
    for transformer, other in zip(features.transformers_, others.transformers_, strict=True):
        assert_same_model(transformer, other, coef_tol=coef_tol)
    assert model.n_generators_ == expected.n_generators_ > 0
    assert model.n_terms_ == expected.n_terms_
    assert model.sparsity_ == pytest.approx(expected.sparsity_)


LABELS = {
    "integers": THREE,
    "strings": np.array(["small", "medium", "large"])[THREE],
    "objects": np.array(["small", "medium", "large"], dtype=object)[THREE],
    "two": TWO,
    "booleans": TWO == 1,
    "floats": TWO + 2.0,
}


@weightings
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("beside", [False, True])
def test_features_of_blocks(labels, beside, weights):
    y = LABELS[labels]
    expected = VanishingFeatures(OAVI(0.002)).fit(X, y, weights)
    source = blocks_of(X, sizes=SIZES["empty ones"])
    model = VanishingFeatures(OAVI(0.002))
    if beside:
        model.fit(source, y, weights)
    else:
        model.fit(blocks_of(X, y, weights, sizes=SIZES["empty ones"]))
    assert_same_classes(model, expected)
    out = model.transform(source)
    np.testing.assert_allclose(together(out), expected.transform(X), atol=1e-6)


@pytest.mark.parametrize("transformer", [OAVI(0.002, oracle="omp"), ABM(0.002, max_degree=3)])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_features_of_blocks_by_other_transformers(transformer, n_jobs):
    expected = VanishingFeatures(transformer).fit(X, THREE)
    model = VanishingFeatures(transformer, n_jobs=n_jobs).fit(blocks_of(X, THREE))
    assert_same_classes(model, expected)


def test_classes_need_not_be_in_all_blocks():
    order = np.argsort(THREE, kind="stable")
    expected = VanishingFeatures(OAVI(0.002)).fit(X[order], THREE[order])
    model = VanishingFeatures(OAVI(0.002)).fit(blocks_of(X[order], THREE[order]))
    assert_same_classes(model, expected)


def test_a_class_of_weight_zero_is_absent():
    weights = np.where(THREE == 1, 0.0, 1.0)
    model = VanishingFeatures(OAVI(0.002)).fit(blocks_of(X, THREE, weights))
    assert_same_classes(model, VanishingFeatures(OAVI(0.002)).fit(X, THREE, weights))
    assert list(model.classes_) == [0, 2]


def test_a_class_of_one_row():
    y = THREE.copy()
    y[450] = 7
    model = VanishingFeatures(OAVI(0.002)).fit(blocks_of(X, y))
    assert_same_classes(model, VanishingFeatures(OAVI(0.002)).fit(X, y))


def svm_objective(model, y, weights=None):
    """P(w) of each of the problems, from the fitted features of all rows."""
    features = model.features_.transform(model._scaled(X))
    cost = model.C * (np.ones(M) if weights is None else weights)
    final = model.final_estimator_
    problems = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    values = []
    for label, coef, intercept in zip(problems, final.coef_, final.intercept_, strict=True):
        margin = np.where(y == label, 1.0, -1.0) * (features @ coef + intercept)
        loss = cost @ np.maximum(0.0, 1.0 - margin) ** 2
        values.append(np.abs(coef).sum() + abs(intercept) + loss)
    return np.array(values)


def assert_same_classifier(model, expected, y, weights=None, *, tol=1e-4):
    """Both SVMs are within their gaps of the optimum, and decide alike."""
    assert_same_classes(model, expected, coef_tol=1e-5)
    for fit in (model, expected):
        assert fit.final_estimator_.dual_gap_.max() <= tol
    reached, other = (svm_objective(fit, y, weights) for fit in (model, expected))
    np.testing.assert_allclose(reached, other, rtol=2.1 * tol)
    assert np.mean(model.predict(X) == expected.predict(X)) > 0.99


@weightings
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("labels", ["integers", "strings", "two"])
def test_classifier_of_blocks(labels, C, weights):
    y = LABELS[labels]
    expected = VanishingClassifier(OAVI(0.002), C=C).fit(X, y, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = VanishingClassifier(OAVI(0.002), C=C).fit(blocks_of(X), y, weights)
    assert_same_classifier(model, expected, y, weights)
    assert expected.score(X, y) > (0.6 if C < 1 else 0.9)
    np.testing.assert_allclose(model.scaler_.data_min_, expected.scaler_.data_min_)


@pytest.mark.parametrize(
    "options", [{"scale": False}, {"clip": True}, {"scale": False, "clip": True}]
)
def test_scaling_of_blocks(options):
    rows = X if options.get("scale") is False else 1000 * X - 300
    expected = VanishingClassifier(OAVI(0.002), **options).fit(rows, THREE)
    model = VanishingClassifier(OAVI(0.002), **options).fit(blocks_of(rows, THREE))
    assert_same_classes(model, expected, coef_tol=1e-5)
    beyond = 1.3 * rows + 0.1
    found, scores = model.decision_function(beyond), expected.decision_function(beyond)
    assert np.abs(found - scores).max() < 0.01 * np.abs(scores).max()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("labels", ["strings", "two", "booleans"])
def test_methods_of_the_classifier_map_blocks(labels, dtype):
    rows, y = X.astype(dtype), LABELS[labels]
    model = VanishingClassifier(OAVI(0.002)).fit(rows, y)
    source = blocks_of(rows, sizes=SIZES["empty ones"])
    for method in (model.predict, model.decision_function):
        blocks = method(source)
        assert isinstance(blocks, Blocks)
        assert [len(block) for block in blocks] == SIZES["empty ones"]
        found, expected = together(blocks), method(rows)
        assert found.shape == expected.shape
        assert found.dtype.kind == expected.dtype.kind
        if found.dtype.kind == "f":  # matrix products of other shapes
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, expected)
    final = VanishingClassifier(OAVI(0.002), final_estimator=LogisticRegression()).fit(rows, y)
    for method in (final.predict_proba, final.decision_function):
        found = together(method(blocks_of(rows)))
        np.testing.assert_allclose(found, method(rows), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(together(final.predict(blocks_of(rows))), final.predict(rows))


def test_a_classifier_without_generators_decides_by_the_intercept():
    y = np.where(np.arange(M) % 3, "many", "few")
    with pytest.warns(UserWarning, match="nothing vanishes on any class"):
        model = VanishingClassifier(OAVI(1e-9, max_degree=2)).fit(blocks_of(X), y)
    assert model.n_generators_ == 0
    np.testing.assert_array_equal(together(model.predict(blocks_of(X))), np.full(M, "many"))


def test_a_model_of_blocks_can_be_saved(tmp_path):
    model = VanishingClassifier(OAVI(0.002)).fit(blocks_of(X, LABELS["strings"]))
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


# ---------------------------------------------------------------------------------------- names


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    library = pytest.importorskip(request.param)
    names = ["width", "height", "weight"]

    def frame(rows, names=names):
        return library.DataFrame({name: column for name, column in zip(names, rows.T, strict=True)})

    return frame


def test_names_of_blocks(frames):
    model = OAVI(0.002).fit(lambda: map(frames, blocks_of(X)()))
    assert_same_model(model, OAVI(0.002).fit(X))
    assert list(model.feature_names_in_) == ["width", "height", "weight"]
    assert str(model.generators_[0]) == str(OAVI(0.002).fit(frames(X)).generators_[0])
    out = together(model.transform(lambda: map(frames, blocks_of(X)())))
    np.testing.assert_allclose(out, model.transform(frames(X)))
    model.fit(blocks_of(X))
    assert not hasattr(model, "feature_names_in_")


def test_names_of_labelled_blocks(frames):
    def source():
        for rows, y in cuts(X, LABELS["strings"], sizes=SIZES["equal"]):
            yield frames(rows), y

    expected = VanishingClassifier(OAVI(0.002)).fit(frames(X), LABELS["strings"])
    model = VanishingClassifier(OAVI(0.002)).fit(source)
    assert_same_classes(model, expected, coef_tol=1e-5)
    assert list(model.feature_names_in_) == ["width", "height", "weight"]
    assert "height" in " ".join(str(g) for g in model.features_.transformers_[0].generators_)
    features = VanishingFeatures(OAVI(0.002)).fit(source)
    assert features.get_feature_names_out()[0].startswith("large: |")
    assert "height" in " ".join(features.get_feature_names_out())


def test_an_empty_frame_in_the_middle(frames):
    def source():
        return (frames(block) for block in cuts(X, sizes=SIZES["empty ones"]))

    model = OAVI(0.002).fit(source)
    assert_same_model(model, OAVI(0.002).fit(X))
    assert [len(block) for block in model.transform(source)] == SIZES["empty ones"]


def test_other_names_are_refused(frames):
    def source(names):
        return lambda: iter([frames(X), frames(X, names)])

    with pytest.raises(ValueError, match=r"Block 1, .*'b'.*same columns in the same order"):
        OAVI(0.002).fit(source(["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"Block 1, .*same columns in the same order"):
        OAVI(0.002).fit(source(["weight", "height", "width"]))
    model = OAVI(0.002).fit(frames(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(lambda: iter([frames(X, ["a", "b", "c"])]))


def test_mixed_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": (9 * X[:, 0]).astype(int), "b": X[:, 1].astype(np.float32)})
    model = OAVI(0.01, max_degree=3).fit(lambda: iter([frame[:500], frame[500:]]))
    assert_same_model(model, OAVI(0.01, max_degree=3).fit(frame))


# ---------------------------------------------------------------------------------------- files


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def file_of(request, tmp_path):
    """A function that writes a file and returns it with its adapter."""
    pd = pytest.importorskip("pandas")
    if request.param == "parquet":
        pytest.importorskip("pyarrow")

    def write(**columns):
        frame = pd.DataFrame(columns)
        path = tmp_path / f"table.{request.param}"
        if request.param == "parquet":
            frame.to_parquet(path)
            return path, Blocks.from_parquet
        frame.to_csv(path, index=False)
        return path, Blocks.from_csv

    return write


def test_files(file_of):
    path, adapter = file_of(a=X[:, 0], kind=LABELS["strings"], b=X[:, 1], c=X[:, 2], noise=X[:, 0])
    source = adapter(path, target="kind", columns=["a", "b", "c"], rows=128)
    assert [len(rows) for rows, _ in source] == [128] * 7 + [4]
    assert [len(rows) for rows, _ in source] == [128] * 7 + [4]  # and again
    model = VanishingClassifier(OAVI(0.002)).fit(source)
    expected = VanishingClassifier(OAVI(0.002)).fit(X, LABELS["strings"])
    assert_same_classes(model, expected, coef_tol=1e-5)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(together(model.predict(source)), model.predict(X))
    unsupervised = OAVI(0.002).fit(adapter(path, columns=["c", "a"]))
    assert list(unsupervised.feature_names_in_) == ["c", "a"]
    assert_same_model(unsupervised, OAVI(0.002).fit(X[:, [2, 0]]))


def test_all_columns_but_the_target(file_of):
    path, adapter = file_of(a=X[:, 0], kind=THREE, b=X[:, 1])
    rows, labels = next(iter(adapter(path, target="kind")))
    assert list(rows.columns) == ["a", "b"]
    np.testing.assert_array_equal(labels, THREE)


def test_columns_that_are_not_there(file_of):
    path, adapter = file_of(a=X[:, 0], b=X[:, 1])
    with pytest.raises(ValueError, match="has no column 'd'; its columns are 'a'"):
        OAVI().fit(adapter(path, columns=["a", "d"]))
    with pytest.raises(ValueError, match="has no column 'kind'"):
        VanishingFeatures().fit(adapter(path, target="kind"))


def test_text_among_the_columns(file_of):
    path, adapter = file_of(a=X[:, 0], kind=LABELS["strings"])
    with pytest.raises(ValueError, match=r"(line 2|row 1), column 'kind': '\w+' is not a number"):
        OAVI().fit(adapter(path))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["2", "1", "2"], np.array([2, 1, 2])),
        (["2", "1", "1.5"], np.array([2.0, 1.0, 1.5])),
        (["True", "False", "True"], np.array([True, False, True])),
        (["a", "1", "2"], np.array(["a", "1", "2"], dtype=object)),
        (["NA", "nan", "None"], np.array(["NA", "nan", "None"], dtype=object)),
        (["1_000", "2", "2"], np.array(["1_000", "2", "2"], dtype=object)),
        (["01", "1", "01"], np.array(["01", "1", "01"], dtype=object)),
        (["1.0", "2.0", "1.0"], np.array([1.0, 2.0, 1.0])),
        (["true", "false", "true"], np.array(["true", "false", "true"], dtype=object)),
    ],
)
@pytest.mark.parametrize("rows", [1, 3])
def test_labels_of_a_text_are_numbers_where_they_are_numbers(tmp_path, labels, expected, rows):
    pytest.importorskip("pandas")
    path = tmp_path / "table"  # of any name
    path.write_text("a,y\n" + "".join(f"0.5,{label}\n" for label in labels))
    found = np.concatenate([y for _, y in Blocks.from_csv(path, target="y", rows=rows)])
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_a_law_of_a_file_has_the_name_of_its_target(tmp_path):
    pytest.importorskip("pandas")
    a, b = np.random.default_rng(0).uniform(1, 2, (2, 60))
    path = tmp_path / "t.csv"
    np.savetxt(path, np.c_[a, b, 3 * a * b], delimiter=",", header="a,b,force", comments="")
    rows = Blocks.from_csv(path, target="force", rows=25)
    assert str(vanishing.LawFinder(functions=()).fit(rows).laws_[0]) == "force = 3*a*b"
    unnamed = Blocks(lambda: iter(rows))
    assert str(vanishing.LawFinder(functions=()).fit(unnamed).laws_[0]) == "y = 3*a*b"


def test_labels_that_are_numbers_first_and_text_later(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "0.5,1\n" * 5 + "0.5,x\n")
    with pytest.raises(ValueError, match=r"t\.csv, line 7, column 'y': the label 'x' is of"):
        list(Blocks.from_csv(path, target="y", rows=2))


def test_labels_of_a_parquet_file_keep_their_type(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    for labels in ([3, 1], [0.5, 1.5], [True, False], ["1", "2"]):
        pd.DataFrame({"a": [1.0, 2.0], "y": labels}).to_parquet(path)
        ((_, y),) = Blocks.from_parquet(path, target="y")
        assert y.tolist() == labels
        assert [type(label) for label in y.tolist()] == [type(label) for label in labels]


@pytest.mark.parametrize("value", ["nan", "inf", "", "x"])
def test_a_value_that_is_no_number_is_found_in_any_block(tmp_path, value):
    pytest.importorskip("pandas")
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0.5,1\n" * 9 + f"0.5,{value}\n")
    with pytest.raises(ValueError, match=r"t\.csv, line 11, column 'b'"):
        OAVI().fit(Blocks.from_csv(path, rows=4))


def test_files_that_are_not_there(tmp_path):
    pytest.importorskip("pandas")
    for adapter in (Blocks.from_csv, Blocks.from_parquet):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            adapter(tmp_path / "nothing")


# --------------------------------------------------------------------------- passes and memory


def n_degrees(model):
    """Degrees that had a border: those with a term of O or a leading term."""
    return max(model.terms_.sum(axis=1).max(), model.leading_terms_.sum(axis=1).max())


@pytest.mark.parametrize("oracle", ["pcg", "ls", "omp"])
@pytest.mark.parametrize("columns", [3, 12])
def test_two_passes_a_degree_and_one_for_the_mse(oracle, columns):
    rows = np.random.default_rng(0).uniform(size=(M, columns))
    source = Counted(blocks_of(rows)())
    model = OAVI(0.002, oracle=oracle, max_degree=3).fit(source)
    assert n_degrees(model) == 3
    assert model.n_generators_ > 0
    if columns == 3:  # small borders need one
        assert source.passes == 3 + 1
    else:
        assert 3 + 1 < source.passes <= 2 * 3 + 1


def test_features_take_these_passes_for_each_class():
    source = Counted(cuts(X, TWO, sizes=SIZES["equal"]))
    model = VanishingFeatures(OAVI(0.002)).fit(source)
    degrees = [n_degrees(transformer) for transformer in model.transformers_]
    assert source.passes <= 1 + sum(2 * degree + 1 for degree in degrees)


def test_the_svm_takes_a_pass_a_newton_step():
    source = Counted(cuts(X, THREE, sizes=SIZES["equal"]))
    features = VanishingFeatures(OAVI(0.002)).fit(source)
    before, source.passes = source.passes, 0
    model = VanishingClassifier(OAVI(0.002), scale=False).fit(source)
    assert model.n_generators_ == features.n_generators_
    assert source.passes - before <= 2 * model.final_estimator_.n_iter_ + 1


def peak_bytes(function):
    function()  # compiled, imported, cached
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def test_memory_is_that_of_a_block():
    rows, n_blocks = 10_000, 40
    block, data = rows * 4 * 8, n_blocks * rows * 4 * 8
    peak, model = peak_bytes(lambda: OAVI(0.005, max_degree=3).fit(Scratch(n_blocks, rows)))
    assert model.n_generators_ > 0
    assert peak < 4 * block < data / 8


def test_memory_of_a_classifier_is_that_of_a_block():
    rows = 2_000

    def fit(n_blocks):
        return VanishingClassifier(OAVI(0.005, max_degree=2)).fit(Scratch(n_blocks, rows, 2))

    few, _ = peak_bytes(lambda: fit(2))
    many, model = peak_bytes(lambda: fit(16))
    assert model.n_generators_ > 0
    assert many < 1.2 * few
    assert few < 100 * rows * 8  # of 5 columns


def test_transform_reads_a_block_at_a_time():
    """And only when it is asked for."""
    read = []

    def source():
        for i, block in enumerate(blocks_of(X)()):
            read.append(i)
            yield block

    model = OAVI(0.002).fit(X)
    out = model.transform(source)
    assert read == [0]  # which columns there are
    read.clear()
    blocks = iter(out)
    assert not read
    next(blocks)
    assert read == [0]
    next(blocks)
    assert read == [0, 1]
    for _ in range(2):  # again and again
        np.testing.assert_allclose(together(out), model.transform(X), rtol=1e-9, atol=1e-12)


def test_what_is_lazy_does_not_change_when_the_model_is_fitted_again():
    model = OAVI(0.002).fit(X)
    out, expected = model.transform(blocks_of(X)), model.transform(X)
    model.set_params(psi=0.1).fit(X)
    assert together(out).shape != model.transform(X).shape
    np.testing.assert_allclose(together(out), expected, rtol=1e-9, atol=1e-12)


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    rows = 200_000
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(rows, 4))
    mapped[:] = np.random.default_rng(0).uniform(size=(rows, 4))
    peak, model = peak_bytes(lambda: OAVI(0.005, max_degree=3).fit(mapped))
    assert model.n_generators_ > 0
    assert peak < mapped.nbytes / 3


# --------------------------------------------------------------------------------------- errors


def with_block_17(block):
    """Twenty blocks of which the one numbered 17 is another."""
    rows = X.reshape(20, 45, 3)

    def source():
        for i in range(20):
            yield block(rows[i]) if i == 17 else rows[i]

    return source


def nan_in_one_place(rows):
    rows = rows.copy()
    rows[3, 1] = np.nan
    return rows


BAD_BLOCKS = {
    "NaN": (nan_in_one_place, "NaN"),
    "infinity": (lambda rows: rows / 0.0, "infinity"),
    "fewer columns": (lambda rows: rows[:, :2], "it has 2 columns, but the first one has 3.*must"),
    "more columns": (lambda rows: np.hstack([rows, rows]), "it has 6 columns.*same columns"),
    "other columns, no rows": (lambda rows: rows[:0, :2], "it has 2 columns"),
    "another dtype": (lambda rows: rows.astype(np.float32), "float32.*float64. Convert all"),
    "one dimension": (lambda rows: rows[0], "1D"),
    "three dimensions": (lambda rows: rows[np.newaxis], "dim 3"),
    "text": (lambda rows: rows.astype(str).astype(object) + "?", "Column 0 of X holds strings"),
    "a number": (lambda rows: 3, "no len"),
    "None": (lambda rows: None, "no len"),
    "a tuple of four": (lambda rows: (rows,) * 4, "tuple of 4; give"),
    "an empty tuple": (lambda rows: (), "tuple of 0; give"),
    "too few labels": (
        lambda rows: (rows, [1, 2]),
        r"45 rows, but labels .* \(2,\)",
    ),
    "NaN labels": (lambda rows: (rows, np.full(45, np.nan)), "labels contain NaN"),
    "no label": (lambda rows: (rows, [None, *"a" * 44]), "labels are missing. Drop these rows"),
    "negative weights": (lambda rows: (rows, None, -np.ones(45)), "none of them negative"),
    "NaN weights": (lambda rows: (rows, None, np.full(45, np.nan)), "45 finite numbers"),
    "too few weights": (lambda rows: (rows, None, [1.0]), "sample_weight must be 45"),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("kind", BAD_BLOCKS)
def test_a_bad_block_is_named(kind):
    block, message = BAD_BLOCKS[kind]
    with pytest.raises((ValueError, TypeError), match=f"(?s)Block 17.*{message}"):
        OAVI(0.002).fit(with_block_17(block))
    OAVI(0.002).fit(with_block_17(lambda rows: rows))


@pytest.mark.parametrize("kind", ["NaN", "fewer columns", "one dimension"])
def test_a_bad_block_is_named_in_transform(kind):
    block, _ = BAD_BLOCKS[kind]
    model = VanishingClassifier(OAVI(0.002)).fit(X, THREE)
    for method in (model.predict, model.decision_function, OAVI(0.002).fit(X).transform):
        out = iter(method(with_block_17(block)))
        for _ in range(17):
            next(out)
        with pytest.raises(ValueError, match="Block 17, counting from 0, cannot be used"):
            next(out)


def test_a_bad_first_block_is_named():
    with pytest.raises(ValueError, match=r"Block 0, counting from 0, cannot be used:.*NaN"):
        OAVI().fit(lambda: iter([nan_in_one_place(X), X]))


def test_errors_of_the_source_are_its_own():
    def source():
        yield X
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        OAVI().fit(source)


ITERATORS = {
    "generator": lambda: (block for block in [X]),
    "iterator": lambda: iter([X]),
    "map": lambda: map(np.asarray, [X]),
    "generator function, called": lambda: cuts(X, sizes=[M]),
}


@pytest.mark.parametrize("kind", ITERATORS)
def test_an_iterator_can_be_read_only_once(kind):
    model = OAVI(0.002).fit(X)
    for take in (OAVI().fit, model.transform, Blocks, VanishingFeatures().fit):
        with pytest.raises(TypeError, match=r"read only once.*a function that makes a new one"):
            take(ITERATORS[kind]())


@pytest.mark.parametrize("n_blocks", [1, 2, 9])
def test_a_function_that_returns_the_same_iterator(n_blocks):
    """No block may be lost without a word."""
    sizes = [M // n_blocks] * n_blocks
    once = cuts(X, sizes=sizes)
    with pytest.raises(TypeError, match=r"same iterator again.*makes a new iterator each time"):
        OAVI(0.002).fit(lambda: once)
    once = cuts(X, sizes=sizes)
    with pytest.raises(TypeError, match="same iterator again"):
        list(OAVI(0.002).fit(X).transform(lambda: once))


def test_a_source_that_has_less_each_time():
    left = [iter(np.array_split(X, 9))]
    with pytest.raises(
        ValueError, match=r"found 0 of them, the first one.*same blocks in every pass"
    ):
        OAVI(0.002).fit(lambda: (block for block in left[0]))


def test_a_source_of_nothing():
    for fit in (OAVI().fit, VanishingFeatures().fit, VanishingClassifier().fit):
        with pytest.raises(ValueError, match="The source has no blocks: no rows to fit"):
            fit(lambda: iter([]))
    with pytest.raises(ValueError, match=r"no rows .of positive weight.: nothing to fit"):
        OAVI().fit(lambda: iter([X[:0], X[:0]]))
    with pytest.raises(ValueError, match=r"no rows .of positive weight.: nothing to fit"):
        OAVI().fit(blocks_of(X), sample_weight=np.zeros(M))


@pytest.mark.parametrize("given", ["y", "sample_weight"])
@pytest.mark.parametrize("n", [M - 1, M + 1])
def test_labels_and_weights_beside_the_blocks_must_be_as_many(given, n):
    arguments = {"y": THREE} | {given: np.resize(THREE, n)}
    with pytest.raises(ValueError, match=r"rows, but|Block 8"):
        VanishingFeatures().fit(blocks_of(X), **arguments)


def test_labels_are_needed():
    for model in (VanishingFeatures(), VanishingClassifier()):
        with pytest.raises(ValueError, match="no labels: give y, or blocks that are tuples"):
            model.fit(blocks_of(X))


def test_labels_of_two_kinds():
    def source():
        yield X[:450], np.array(["1", "2"])[TWO[:450]]
        yield X[450:], TWO[450:]

    with pytest.raises(ValueError, match="text in some blocks and numbers in others"):
        VanishingFeatures().fit(source)


def test_targets_must_be_classes():
    with pytest.raises(ValueError, match="continuous"):
        VanishingFeatures().fit(blocks_of(X, X[:, 0]))


def test_two_classes_are_needed():
    with pytest.raises(ValueError, match="at least 2 classes"):
        VanishingClassifier().fit(blocks_of(X, np.zeros(M)))


def test_columns_must_be_those_of_fit():
    model = OAVI(0.002).fit(X)
    classifier = VanishingClassifier(OAVI(0.002)).fit(X, TWO)
    for method in (model.transform, classifier.predict, classifier.decision_function):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
            method(blocks_of(X[:, :2]))


@pytest.mark.parametrize("wrong", ["rows.csv", {"a": X}, 3, X, OAVI])
def test_blocks_are_made_of_functions_and_iterables(wrong):
    with pytest.raises(TypeError, match="Blocks takes a function"):
        Blocks(wrong)


REFUSING = {
    "VCA": VCA(),
    "L1SquaredHingeSVC": L1SquaredHingeSVC(),
}


@pytest.mark.parametrize("name", REFUSING)
def test_others_need_the_rows_in_memory(name):
    with pytest.raises(TypeError, match=f"{name} does not take blocks of rows: .*one array of all"):
        clone(REFUSING[name]).fit(blocks_of(X), TWO)
    with pytest.raises(TypeError, match=r"VCA needs the rows of a class in memory.*ABM or AVI"):
        VanishingFeatures(VCA()).fit(blocks_of(X, TWO))
    with pytest.raises(TypeError, match="VCA does not take blocks"):
        VCA().fit(X).transform(blocks_of(X))


def test_scalings_that_need_the_rows():
    with pytest.raises(TypeError, match=r"scale=.*needs the rows in memory: give arrays, False"):
        VanishingClassifier(scale=StandardScaler()).fit(blocks_of(X, TWO))


def test_final_estimators_need_the_rows():
    with pytest.raises(TypeError, match="final_estimator needs the features of all rows"):
        VanishingClassifier(final_estimator=LogisticRegression()).fit(blocks_of(X, TWO))


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="psi"):
        OAVI(psi=-1).fit(blocks_of(X))
    with pytest.raises(ValueError, match="psi"):
        VanishingFeatures(OAVI(psi=-1)).fit(blocks_of(X, TWO))
    with pytest.raises(ValueError, match="C must be"):
        VanishingClassifier(C=0).fit(blocks_of(X, TWO))


def test_a_fit_that_stops_early_warns():
    with pytest.warns(ConvergenceWarning, match="max_terms=2"):
        OAVI(1e-6, max_terms=2).fit(blocks_of(X))


def test_an_overflow_stops_as_for_arrays():
    with pytest.warns(ConvergenceWarning, match="terms of degree 2 overflow"):
        OAVI(1e-6).fit(blocks_of(1e100 * X))


def test_libraries_are_imported_where_they_are_used():
    unwanted = ["dask", "distributed", "torch", "cupy", "array_api_strict", "polars"]
    code = f"import sys, vanishing; print([name for name in {unwanted} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_the_first_block_is_peeked_at_once():
    source = Counted([X])
    assert BlockSource(source).layout == (3, None, "float64", False)
    assert source.passes == 0


# ------------------------------------------------------------------ arrays of other libraries


class Library:
    """Arrays of another library, on one of its devices."""

    def __init__(self, name):
        library, _, device = name.partition(", ")
        self.xp = pytest.importorskip(library)
        pytest.importorskip("array_api_compat")
        self.device = self.xp.Device(device) if device and library != "torch" else None

    def array(self, values):
        if self.device is None:
            return self.xp.asarray(np.array(values))
        return self.xp.asarray(np.array(values), device=self.device)

    def numpy(self, array):
        """The values, if it is an array of this library on its device."""
        assert type(array) is type(self.array([0.0]))
        assert array.device == self.array([0.0]).device
        if self.device is not None:
            array = array.to_device(self.xp.Device("CPU_DEVICE"))
        return np.asarray(array)


@pytest.fixture
def none_are_few(monkeypatch):
    """Rows of an accelerator stay there, however few they are."""
    for name in ("_FEW_TO_FIT", "_FEW_TO_EVALUATE"):
        monkeypatch.setattr(f"vanishing.rows.arrays.{name}", 0)


# The second device of the standard's reference library gives nothing to NumPy unless it is asked.
@pytest.fixture(params=["array_api_strict", "array_api_strict, device1", "torch"])
def library(request, none_are_few):
    return Library(request.param)


@weightings
@estimators
def test_arrays_of_other_libraries_give_the_same_model(library, name, weights):
    rows = with_a_product(X) if name == "exact" else X
    given = None if weights is None else library.array(weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clone(ESTIMATORS[name]).fit(rows, sample_weight=weights)
        model = clone(ESTIMATORS[name]).fit(library.array(rows), sample_weight=given)
        again = clone(ESTIMATORS[name]).fit(library.array(rows), sample_weight=weights)
    assert expected.n_generators_ > 0
    assert_same_model(model, expected)
    assert_same_model(again, expected)
    assert isinstance(model.coef_, np.ndarray)
    out = library.numpy(model.transform(library.array(rows)))
    assert out.dtype == np.float64
    np.testing.assert_allclose(out, expected.transform(rows), atol=1e-6)


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("chunk_size", [None, 1, 77])
def test_chunks_on_a_device(library, absolute, chunk_size):
    options = {"psi": 0.002, "absolute": absolute, "max_degree": 3}
    expected = OAVI(**options).fit(X[:100])
    model = OAVI(**options, chunk_size=chunk_size).fit(library.array(X[:100]))
    assert_same_model(model, expected)
    out = library.numpy(model.transform(library.array(X[:200])))
    np.testing.assert_allclose(out, expected.transform(X[:200]), atol=1e-6)
    assert (out < 0).any() != absolute


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
def test_other_numbers_on_a_device(library, dtype):
    rows = (2 * X).astype(dtype)
    expected = OAVI(0.02, max_degree=3).fit(rows)
    model = OAVI(0.02, max_degree=3).fit(library.array(rows))
    assert_same_model(model, expected)
    out = library.numpy(model.transform(library.array(rows)))
    assert out.dtype == expected.transform(rows).dtype
    np.testing.assert_allclose(out, expected.transform(rows), atol=1e-5)


def test_single_precision_on_a_device_is_multiplied_in_double(library):
    """Where single precision would not do."""
    rows = X.astype(np.float32)
    rows[:, 2] = rows[:, 0] + 1e-4 * rows[:, 2]
    for psi in (1e-7, 1e-10):
        model = OAVI(psi, oracle="ls", max_degree=2).fit(library.array(rows))
        assert_same_model(model, OAVI(psi, oracle="ls", max_degree=2).fit(rows), coef_tol=1e-5)


def test_features_on_a_device(library):
    expected = VanishingFeatures(OAVI(0.002)).fit(X, THREE, WEIGHTS)
    y, weights = library.array(THREE), library.array(WEIGHTS)
    for arguments in ((y, weights), (THREE, WEIGHTS), (LABELS["strings"], weights)):
        model = VanishingFeatures(OAVI(0.002)).fit(library.array(X), *arguments)
        if arguments[0] is not LABELS["strings"]:
            assert_same_classes(model, expected)
        assert model.transform(library.array(X)).shape == (M, expected.n_generators_)
    model = VanishingFeatures(OAVI(0.002)).fit(library.array(X), y, weights)
    out = library.numpy(model.transform(library.array(X)))
    np.testing.assert_allclose(out, expected.transform(X), atol=1e-6)


@pytest.fixture
def transfers(monkeypatch, none_are_few):
    """The sizes of all arrays that go to the reference library's device or come from it."""
    compat = pytest.importorskip("array_api_compat")
    strict = pytest.importorskip("array_api_strict")
    sizes = {"there": [], "here": [], "numbers": 0}

    def asarray(values, *arguments, original=strict.asarray, **options):
        found = original(values, *arguments, **options)
        if isinstance(values, np.ndarray):
            sizes["there"].append(found.size)
        return found

    def to_device(array, *arguments, original=compat.to_device, **options):
        sizes["here"].append(array.size)
        return original(array, *arguments, **options)

    def number(original):
        def counted(array):
            sizes["numbers"] += 1
            return original(array)

        return counted

    monkeypatch.setattr(strict, "asarray", asarray)
    monkeypatch.setattr(compat, "to_device", to_device)
    kind = type(strict.zeros(1))
    for name in ("__float__", "__bool__", "__int__"):
        monkeypatch.setattr(kind, name, number(getattr(kind, name)))
    return sizes


@pytest.mark.parametrize("labels", ["two", "booleans", "strings"])
@weightings
def test_a_fit_moves_labels_and_weights_to_the_device_and_nothing_else(transfers, labels, weights):
    """Not the rows; each once, whatever the passes; and no more than small sums come back."""
    library = Library("array_api_strict, device1")
    rows, y = library.array(np.tile(X, (2, 1))), np.tile(LABELS[labels], 2)
    weights = None if weights is None else np.tile(weights + 0.1, 2)
    transfers["there"].clear()
    model = VanishingClassifier(OAVI(0.002, max_degree=2)).fit(rows, y, weights)
    assert model.final_estimator_.n_iter_ > 3
    small = 200  # entries of a Hessian, of products
    assert (model.n_generators_ + 1) ** 2 < small
    large = [size for size in transfers["there"] if size > small]
    assert large == [2 * M] * (1 if weights is None else 2)
    # Only weights of text, which stays, are added up on the CPU.
    back = [size for size in transfers["here"] if size > small]
    assert back == ([2 * M] if labels == "strings" and weights is not None else [])


@pytest.mark.parametrize("few", [1, 1000])
@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.uint64, np.float32, np.float64, "U"]
)
@weightings
def test_labels_of_a_device_are_counted_as_others(library, monkeypatch, dtype, few, weights):
    """By the device or, where its library lacks such numbers or text, by the CPU."""
    monkeypatch.setattr("vanishing.rows.questions._FEW_CLASSES", few)
    kinds = np.where(np.arange(M) < 200, 0, THREE)  # none as often as another
    y = np.array([-5, 3, 100] if dtype == np.int8 else [200, 3, 100])[kinds].astype(dtype)
    source = DeviceSource(library.array(X), y, weights).labelled()
    found, kept = survey(source), slice(None) if weights is None else weights > 0
    expected, places = np.unique(y[kept], return_inverse=True)
    np.testing.assert_array_equal(found.classes, expected)
    assert found.classes.dtype == y.dtype
    totals = np.bincount(places, None if weights is None else weights[kept])
    np.testing.assert_allclose(found.totals, totals, rtol=1e-12)
    assert found.total_weight == pytest.approx(totals.sum(), rel=1e-12)
    part = source.coded(found.classes).ask(lambda part: part, None)
    np.testing.assert_array_equal(library.numpy(part.y), places)
    assert weights is None or library.numpy(part.weight).shape == places.shape


@pytest.mark.parametrize("labels", ["integers", "two"])
def test_a_pass_of_the_svm_brings_four_sums(transfers, monkeypatch, labels):
    """However many rows and pieces there are."""
    monkeypatch.setattr("vanishing.rows.arrays.DEVICE_BYTES", 1)  # 256 rows at a time
    library = Library("array_api_strict, device1")
    source = DeviceSource(library.array(X), LABELS[labels]).coded(np.unique(LABELS[labels]))
    features = VanishingFeatures(OAVI(0.002, max_degree=2)).fit(X, LABELS[labels])
    rows = LabelledRows(source, features.classes_, survey(source))
    for kind in ("there", "here"):
        transfers[kind].clear()
    transfers["numbers"] = n_passes = 0

    def counted(question, combine, ask=source.ask):
        nonlocal n_passes
        n_passes += 1
        return ask(question, combine)

    source.ask = counted
    final = L1SquaredHingeSVC()
    fit_in_passes(final, features, rows)
    assert n_passes > final.n_iter_ > 3
    assert len(transfers["here"]) == 4 * n_passes
    assert transfers["numbers"] == 0
    k = features.n_generators_ + 1
    n_problems = 1 if labels == "two" else 3
    assert sum(transfers["here"]) <= n_passes * n_problems * (12 + 1 + k + k * k)


@pytest.mark.parametrize("labels", ["integers", "two", "strings", "booleans", "floats"])
@pytest.mark.parametrize("clip", [False, True])
def test_classifier_on_a_device(library, labels, clip):
    y = LABELS[labels]
    expected = VanishingClassifier(OAVI(0.002), clip=clip).fit(X, y, WEIGHTS)
    model = VanishingClassifier(OAVI(0.002), clip=clip).fit(library.array(X), y, WEIGHTS)
    assert_same_classifier(model, expected, y, WEIGHTS)
    beyond = 1.2 * X
    scores = library.numpy(model.decision_function(library.array(beyond)))
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, model.decision_function(beyond), atol=1e-8)
    predicted = model.predict(library.array(X))
    if labels == "strings":
        assert isinstance(predicted, np.ndarray)
    else:
        predicted = library.numpy(predicted)
    assert predicted.dtype == y.dtype
    np.testing.assert_array_equal(predicted, model.predict(X))
    # A model of arrays does as well.
    np.testing.assert_allclose(
        library.numpy(expected.decision_function(library.array(X))),
        expected.decision_function(X),
        atol=1e-8,
    )


@pytest.mark.parametrize("scale", ["quantile", "log"])
def test_scalings_of_rows_on_a_device(library, scale):
    """A search may have chosen a scaling that knows no devices."""
    model = VanishingClassifier(OAVI(0.002), scale=scale).fit(X, TWO)
    for method in ("decision_function", "predict_proba", "predict"):
        found = library.numpy(getattr(model, method)(library.array(X)))
        np.testing.assert_allclose(found, getattr(model, method)(X), atol=1e-8)


def test_classifier_in_single_precision_on_a_device(library):
    rows = X.astype(np.float32)
    expected = VanishingClassifier(OAVI(0.002)).fit(rows, TWO)
    model = VanishingClassifier(OAVI(0.002)).fit(library.array(rows), TWO)
    assert_same_classes(model, expected, coef_tol=1e-3)
    found = library.numpy(model.predict(library.array(rows)))
    assert np.mean(found == expected.predict(rows)) > 0.99


def test_no_generators_on_a_device(library):
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = OAVI(1e-9, max_degree=2).fit(library.array(X))
    out = library.numpy(model.transform(library.array(X)))
    assert out.shape == (M, 0)
    y = np.where(np.arange(M) % 3, 1, 0)
    with pytest.warns(UserWarning, match="nothing vanishes on any class"):
        model = VanishingClassifier(OAVI(1e-9, max_degree=2)).fit(library.array(X), y)
    np.testing.assert_array_equal(library.numpy(model.predict(library.array(X))), 1)
    assert model.decision_function(library.array(X)).shape == (M,)


def test_blocks_on_a_device(library):
    """Each may be moved there as it is read; no rows in one of them."""
    sizes = SIZES["empty ones"]

    def source():
        return (library.array(block) for block in cuts(X, sizes=sizes))

    model = OAVI(0.002).fit(source, sample_weight=library.array(WEIGHTS))
    assert_same_model(model, OAVI(0.002).fit(X, sample_weight=WEIGHTS))
    blocks = [library.numpy(block) for block in model.transform(source)]
    assert [len(block) for block in blocks] == sizes
    np.testing.assert_allclose(np.concatenate(blocks), model.transform(X), atol=1e-9)
    classifier = VanishingClassifier(OAVI(0.002)).fit(source, library.array(THREE))
    expected = VanishingClassifier(OAVI(0.002)).fit(X, THREE)
    assert_same_classifier(classifier, expected, THREE)


BAD_DEVICE_ROWS = {
    "NaN": (nan_in_one_place(X), "X contains NaN or infinity. Drop or impute"),
    "infinity": (np.where(X > 0.9, np.inf, X), "X contains NaN or infinity"),
    "one dimension": (X[0], "X must be 2-dimensional"),
    "three dimensions": (X[np.newaxis], "X must be 2-dimensional"),
    "complex": (X + 1j, "give it real numbers"),
    "no rows": (X[:0], "there must be rows|The source has no rows"),
    "no columns": (X[:, :0], "there must be rows and columns"),
}


@pytest.mark.parametrize("kind", BAD_DEVICE_ROWS)
def test_bad_rows_on_a_device(library, kind):
    rows, message = BAD_DEVICE_ROWS[kind]
    model = OAVI(0.002).fit(X)
    classifier = VanishingClassifier(OAVI(0.002)).fit(X, TWO)
    for method in (OAVI().fit, model.transform, classifier.predict):
        with pytest.raises(ValueError, match=message):
            method(library.array(rows))


def test_large_numbers_are_finite(library):
    """Whose sum is not."""
    rows = np.full((4, 1), 1e308)
    with pytest.warns(ConvergenceWarning, match="overflow"):
        OAVI(0.1).fit(library.array(rows))


def test_columns_on_a_device_must_be_those_of_fit(library):
    model = OAVI(0.002).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but OAVI is expecting 3"):
        model.transform(library.array(X[:, :2]))


@pytest.mark.parametrize(
    "weights, message",
    [
        (np.ones(3), "sample_weight must be 900"),
        (-WEIGHTS, "none of them negative"),
        (np.full(M, np.nan), "900 finite numbers"),
        (np.zeros(M), "no rows .of positive weight."),
    ],
)
def test_bad_weights_on_a_device(library, weights, message):
    for given in (weights, library.array(weights)):
        with pytest.raises(ValueError, match=message):
            OAVI().fit(library.array(X), sample_weight=given)
    with pytest.raises(ValueError, match=message):
        VanishingClassifier().fit(library.array(X), TWO, weights)


def test_bad_labels_on_a_device(library):
    with pytest.raises(ValueError, match=r"900 rows, but labels or groups of shape \(7,\)"):
        VanishingFeatures().fit(library.array(X), TWO[:7])
    with pytest.raises(ValueError, match="no labels: give y"):
        VanishingFeatures().fit(library.array(X))


@pytest.mark.parametrize("name", REFUSING)
def test_others_need_the_rows_of_a_device_in_memory(library, name):
    with pytest.raises(TypeError, match=f"{name} does not take arrays of .*Give it a NumPy array"):
        clone(REFUSING[name]).fit(library.array(X), TWO)
    with pytest.raises(TypeError, match="VCA needs the rows of a class in memory"):
        VanishingFeatures(VCA()).fit(library.array(X), TWO)
    model = VanishingClassifier(OAVI(0.002), final_estimator=LogisticRegression())
    with pytest.raises(TypeError, match="final_estimator needs"):
        model.fit(library.array(X), TWO)
    with pytest.raises(TypeError, match="LogisticRegression does not take arrays of"):
        model.fit(X, TWO).predict(library.array(X))
    with pytest.raises(TypeError, match=r"scale=StandardScaler\(\) needs the rows in memory"):
        VanishingClassifier(scale=StandardScaler()).fit(library.array(X), TWO)


def test_a_tensor_that_needs_a_gradient():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, requires_grad=True)
    model = OAVI(0.002).fit(rows)
    assert_same_model(model, OAVI(0.002).fit(X))
    assert not model.transform(rows).requires_grad


def test_half_precision_on_a_device():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X).to(torch.float16)
    model = OAVI(0.02).fit(rows)
    assert_same_model(model, OAVI(0.02).fit(np.asarray(rows, dtype=np.float32)))
    assert model.transform(rows).dtype == torch.float32


def test_no_warnings_from_the_library(library):
    if hasattr(library.xp, "set_warn_always"):  # PyTorch does once a process
        library.xp.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = VanishingClassifier(OAVI(0.002)).fit(library.array(X), TWO, WEIGHTS)
        model.predict(library.array(X))
        model.features_.transform(library.array(X))


# ------------------------------------------------------------- how much of a device, and when


def test_few_rows_of_an_accelerator_are_fitted_by_the_cpu(monkeypatch):
    """The very same model; the answers are on the device again, but for text."""
    library = Library("array_api_strict, device1")
    monkeypatch.setattr(DeviceSource, "ask", None)
    rows = library.array(X)
    expected = OAVI(0.002).fit(X, sample_weight=WEIGHTS)
    model = OAVI(0.002).fit(rows, sample_weight=library.array(WEIGHTS))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(library.numpy(model.transform(rows)), expected.transform(X))
    for y in (THREE, LABELS["strings"]):
        given = library.array(y) if y is THREE else y
        expected = VanishingClassifier(OAVI(0.002)).fit(X, y)
        model = VanishingClassifier(OAVI(0.002)).fit(rows, given)
        features, final = model.features_, model.final_estimator_
        np.testing.assert_array_equal(final.coef_, expected.final_estimator_.coef_)
        values = library.numpy(features.transform(rows))
        np.testing.assert_array_equal(values, expected.features_.transform(X))
        predicted = model.predict(rows)
        predicted = library.numpy(predicted) if y is THREE else predicted
        np.testing.assert_array_equal(predicted, expected.predict(X))
        for method in ("decision_function", "predict_proba"):
            found = library.numpy(getattr(model, method)(rows))
            np.testing.assert_array_equal(found, getattr(expected, method)(X))


def test_few_rows_are_checked_as_those_of_arrays():
    library = Library("array_api_strict, device1")
    for method in (OAVI().fit, OAVI(0.002).fit(X).transform):
        with pytest.raises(ValueError, match="contains NaN"):
            method(library.array(nan_in_one_place(X)))
        with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
            method(library.array(X[0]))


@pytest.fixture
def tables(monkeypatch):
    """Sizes of all arrays of two dimensions that the reference library allocates."""
    kind = type(pytest.importorskip("array_api_strict").zeros(1))
    sizes = []

    def new(cls, values, *arguments, original=kind._new.__func__, **options):
        if values.ndim == 2 and values.base is None:
            sizes.append(values.size)
        return original(cls, values, *arguments, **options)

    monkeypatch.setattr(kind, "_new", classmethod(new))
    return sizes


PIECEWISE = {
    "OAVI": lambda rows, y, weights: OAVI(0.02, max_degree=2).fit(rows),
    "weighted": lambda rows, y, weights: OAVI(0.02, max_degree=2).fit(rows, None, weights),
    "classifier": lambda rows, y, weights: VanishingClassifier(OAVI(0.002, max_degree=2)).fit(
        rows, y, weights
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PIECEWISE)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_memory_on_a_device_does_not_grow_with_the_rows(
    kind, dtype, none_are_few, tables, monkeypatch
):
    """Neither for a class's rows, scaled ones, those with a weight, nor rows in floats."""
    monkeypatch.setattr("vanishing.rows.arrays._PIECE", 3 * 64)
    monkeypatch.setattr("vanishing.rows.device.DEVICE_BYTES", 8 * 640)
    monkeypatch.setattr("vanishing.rows.arrays.DEVICE_BYTES", 1)
    library = Library("array_api_strict, device1")
    largest = []
    for times in (1, 4):
        data = np.tile((200 * X).astype(dtype) if dtype == np.uint8 else X, (times, 1))
        y, weights = np.tile(THREE, times), np.tile(WEIGHTS, times)
        rows = library.array(data)
        tables.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bytes are not scaled
            model = PIECEWISE[kind](rows, y, weights)
        largest.append(max(tables))
        if times == 1 and dtype == np.float64:
            expected = PIECEWISE[kind](X, THREE, WEIGHTS)
            if kind == "classifier":
                assert_same_classifier(model, expected, THREE, WEIGHTS)
            else:
                assert_same_model(model, expected)
    assert 0 < largest[1] <= largest[0] < X.size


def test_values_on_a_device_are_there_once(none_are_few, tables, monkeypatch):
    monkeypatch.setattr("vanishing.rows.arrays._PIECE", 3 * 64)
    monkeypatch.setattr("vanishing.rows.device.DEVICE_BYTES", 8 * 640)
    library = Library("array_api_strict, device1")
    model = VanishingClassifier(OAVI(0.002)).fit(X, THREE)
    rows = library.array(X)
    for method, columns in (
        (model.features_.transform, model.n_generators_),
        (model.decision_function, 3),
    ):
        tables.clear()
        out = library.numpy(method(rows))
        np.testing.assert_allclose(out, method(X), atol=1e-8)
        large = [size for size in tables if size >= M]
        assert set(large) <= {columns * M}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_of_an_array_are_sent_to_a_device(none_are_few, n_jobs):
    library = Library("array_api_strict, device1")
    source = Blocks.from_array(X, THREE, WEIGHTS, rows=250, device=library.array)
    blocks = list(source)
    assert [library.numpy(rows).shape for rows, *_ in blocks] == [(250, 3)] * 3 + [(150, 3)]
    np.testing.assert_array_equal(np.concatenate([y for _, y, _ in blocks]), THREE)
    expected = VanishingClassifier(OAVI(0.002)).fit(X, THREE, WEIGHTS)
    model = VanishingClassifier(OAVI(0.002), n_jobs=n_jobs).fit(source)
    assert_same_classifier(model, expected, THREE, WEIGHTS)
    found = np.concatenate([library.numpy(block) for block in model.predict(source)])
    np.testing.assert_array_equal(found, model.predict(X))
    assert (
        len(list(Blocks.from_array(X, device=library.array))) == 1
    )  # an accelerator is to be busy


def test_blocks_for_a_device_of_pytorch(monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = Blocks.from_array(mapped, rows=250, device="cpu")
        assert all(isinstance(rows, torch.Tensor) for rows, *_ in source)
        assert_same_model(OAVI(0.002).fit(source), OAVI(0.002).fit(X))


def test_a_device_of_pytorch_needs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cuda' is one of PyTorch: install .*cupy.asarr"):
        OAVI().fit(Blocks.from_array(X, device="cuda"))


def test_an_error_before_the_work_on_a_class_is_raised(monkeypatch):
    """Whoever waits for the other classes would wait forever."""

    def broken(*_, **__):
        raise RuntimeError("no reader")

    monkeypatch.setattr("vanishing.rows.together._Member", broken)
    with pytest.raises(RuntimeError, match="no reader"):
        VanishingFeatures(OAVI(0.01)).fit(lambda: iter([(X, np.arange(len(X)) % 2)]))


@pytest.mark.parametrize("kind", ["LawFinder", "VanishingOutlierDetector", "ConservedQuantities"])
def test_weights_of_a_device_go_to_the_host_with_the_rows(library, kind):
    rng = np.random.default_rng(0)
    rows = rng.uniform(1.0, 2.0, (300, 2))
    rows = np.column_stack([rows, rows[:, 0] * rows[:, 1]])
    given = {"sample_weight": rng.uniform(0.5, 2.0, 300)}
    if kind == "ConservedQuantities":
        given["groups"] = np.repeat(np.arange(6), 50)
    expected = getattr(vanishing, kind)().fit(rows, **given)
    given["sample_weight"] = library.array(given["sample_weight"])
    model = getattr(vanishing, kind)().fit(library.array(rows), **given)
    if kind == "VanishingOutlierDetector":
        np.testing.assert_allclose(model.score_samples(rows), expected.score_samples(rows))
    else:
        assert model.verdict_ == expected.verdict_
