"""Methods row by row: one wrapper for all of them, and containers of lazy results."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

import vanishing
from vanishing import OAVI, VCA, Blocks, ConservedQuantities, VanishingFeatures
from vanishing.estimators.row_methods import RowMethods, row_by_row
from vanishing.rows.intake import take_rows

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(100, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"], index=2 * np.arange(100))
RUNS = np.repeat([0, 1, 2, 3], 25)
ANGLE = np.linspace(0.0, 6.0, 100)
ORBITS = np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]) * (1.0 + RUNS[:, np.newaxis])
METHODS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")


def estimators():
    found = (getattr(vanishing, name) for name in vanishing.__all__)
    return [one for one in found if isinstance(one, type) and issubclass(one, BaseEstimator)]


@pytest.mark.parametrize("kind", estimators())
def test_all_methods_row_by_row_go_one_way(kind):
    for name in METHODS:
        method = getattr(kind, name, None)
        if method is not None and kind.__name__ != "BuchbergerMoller":
            assert getattr(method, "is_row_by_row", False), (kind, name)


FITTED = [
    (OAVI(0.01), {"X": X}),
    (VanishingFeatures(OAVI(0.01)), {"X": X, "y": RUNS % 2}),
    (VanishingFeatures(VCA(0.01)), {"X": X, "y": RUNS % 2}),
    (ConservedQuantities(), {"X": ORBITS, "groups": RUNS}),
]


@pytest.mark.parametrize("model, given", FITTED)
def test_blocks_are_put_into_containers_one_by_one(model, given):
    model, rows = clone(model).fit(**given), given["X"]
    plain = model.transform(rows)
    model.set_output(transform="pandas")
    lazy = model.transform(Blocks([rows[:30], rows[30:]]))
    assert isinstance(lazy, Blocks)
    frames = list(lazy)
    assert [len(frame) for frame in frames] == [30, 70]
    assert all(list(frame) == list(model.get_feature_names_out()) for frame in frames)
    np.testing.assert_allclose(pd.concat(frames), plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model, given", FITTED)
def test_dask_arrays_become_dask_frames(model, given):
    model, rows = clone(model).fit(**given), given["X"]
    plain = model.transform(rows)
    in_chunks = da.from_array(rows, chunks=(30, -1))
    assert isinstance(model.transform(in_chunks), da.Array)
    lazy = model.set_output(transform="pandas").transform(in_chunks)
    assert isinstance(lazy, dd.DataFrame)
    assert list(lazy.columns) == list(model.get_feature_names_out())
    np.testing.assert_allclose(lazy.compute(), plain, rtol=1e-12, atol=1e-12)


def test_dask_frames_keep_their_index():
    model = OAVI(0.01).fit(FRAME).set_output(transform="pandas")
    expected = model.transform(FRAME)
    pd.testing.assert_frame_equal(
        model.transform(dd.from_pandas(FRAME, npartitions=3)).compute(), expected
    )
    assert list(expected.index) == list(FRAME.index)


def test_fit_transform_of_blocks():
    model = OAVI(0.01).set_output(transform="pandas")
    frames = list(model.fit_transform(Blocks([X[:50], X[50:]])))
    np.testing.assert_allclose(pd.concat(frames), OAVI(0.01).fit(X).transform(X), atol=1e-12)


def test_containers_that_dask_does_not_have():
    model = OAVI(0.01).fit(X).set_output(transform="polars")
    with pytest.raises(TypeError, match=r"no collections of polars: call set_output\(transform="):
        model.transform(da.from_array(X, chunks=(30, 3)))
    assert [len(frame) for frame in model.transform(Blocks([X[:30], X[30:]]))] == [30, 70]


def test_who_reads_sources_is_what_estimators_say_of_themselves():
    with pytest.raises(TypeError) as raised:
        VCA().fit(Blocks([X]))
    message = str(raised.value)
    assert message.startswith("VCA does not take blocks of rows: it needs the rows in memory.")
    fitted, _, read = message.rpartition("; ")[2].partition(
        " are fitted to rows where they are, and "
    )
    expected = sorted(k.__name__ for k in estimators() if getattr(k, "fits_sources", False))
    assert fitted.replace(" and ", ", ").split(", ") == expected
    assert read == "these and EllipsoidCalibration transform or predict them."


class Totals(RowMethods, BaseEstimator):
    """An estimator of somebody else: what it has to write for all kinds of rows."""

    def fit(self, X, y=None):
        rows = take_rows(self, X).on_host()
        self.largest_ = rows.ask(lambda part: part.X.max(axis=0), np.maximum)
        return self

    @row_by_row(dtype=lambda self: np.float64)
    def predict(self, X):
        return (X / self.largest_).sum(axis=1)


def test_an_estimator_of_somebody_else_takes_all_kinds_of_rows():
    array_api_strict = pytest.importorskip("array_api_strict")
    expected = Totals().fit(X).predict(X)
    blocks = Blocks([X[:30], X[30:]])
    in_chunks = da.from_array(X, chunks=(30, 3))
    there = array_api_strict.asarray(X)
    for rows in (X, FRAME, blocks, in_chunks, dd.from_pandas(FRAME, npartitions=2), there):
        model = Totals().fit(rows)
        assert model.n_features_in_ == 3
        np.testing.assert_array_equal(model.largest_, X.max(axis=0))
        values = model.predict(rows)
        values = np.concatenate(list(values)) if rows is blocks else np.asarray(values)
        np.testing.assert_array_equal(values, expected)
    with pytest.raises(NotFittedError):
        Totals().predict(blocks)
    with pytest.raises(ValueError, match="2 features, but Totals is expecting 3"):
        Totals().fit(X).predict(blocks_of_two_columns())


def blocks_of_two_columns():
    return Blocks([X[:, :2]])


def test_blocks_without_rows_are_containers_too():
    model = OAVI(0.01).fit(X).set_output(transform="pandas")
    frames = list(model.transform(Blocks([X[:0], X])))
    assert [type(frame) for frame in frames] == [pd.DataFrame, pd.DataFrame]
    assert len(pd.concat(frames)) == len(X)
    named = OAVI(0.01).fit(FRAME).set_output(transform="pandas")
    empty = [FRAME.iloc[:0], FRAME]
    assert [len(frame) for frame in named.transform(Blocks(empty))] == [0, len(FRAME)]
    assert [len(values) for values in OAVI(0.01).fit(X).transform(Blocks([X[:0], X]))] == [0, 100]
    nothing = da.from_array(X, chunks=(50, 3))[np.zeros(100, dtype=bool)]
    assert len(model.transform(nothing).compute()) == 0


class Overrides(OAVI):
    def transform(self, X):
        return super().transform(X)


def test_a_subclass_may_override_transform():
    model = Overrides(0.01).fit(X).set_output(transform="pandas")
    assert [type(frame) for frame in model.transform(Blocks([X]))] == [pd.DataFrame]
    assert type(model.transform(X)) is pd.DataFrame
