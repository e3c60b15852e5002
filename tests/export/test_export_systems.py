"""Models as ONNX graphs, C functions and SQL: run there, they say what the model says."""

import importlib
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exports import (
    MODELS,
    WORDS,
    X,
    Y,
    Z,
    compiled,
    run_c,
    run_onnx,
    run_python,
    run_sql,
    same,
    table_of,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

import vanishing
from vanishing import (
    OAVI,
    ConservedQuantities,
    ConservedQuantity,
    EquationsOfMotion,
    Law,
    LawFinder,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingOutlierDetector,
    check_law,
)
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.terms import Factor, Term, monomial
from vanishing.export import to_c, to_onnx, to_python, to_sql
from vanishing.export.computation import Computation, columns, join

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = ["x0", "x1", "x2", "x3"]
EMPTY = ("nothing", "vca_nothing")  # models without generators


def _rows():
    """Return rows that no model was fitted to, rows that were, and rows far from all."""
    near = X + np.random.default_rng(1).normal(0, 0.05, X.shape)
    with_constants = near[:20].copy()
    with_constants[:, [0, 3]] = 7.0
    with_constants[:5, 0] *= 1.0 + 1e-7
    ends = [X.min(axis=0), X.max(axis=0)]
    return np.concatenate([near, X[::5], ends, 10 * X[::10] - 20, with_constants])


ROWS = _rows()


@pytest.fixture(scope="module")
def models():
    return {name: fit() for name, fit in MODELS.items()}


def expected_of(model, rows):
    """Return the main values of a model: (n_rows, n_values)."""
    values = model.transform(rows) if hasattr(model, "transform") else model.decision_function(rows)
    return values.reshape(len(rows), -1)


@pytest.fixture(scope="module")
def library(models, tmp_path_factory):
    sources = [to_c(m, f"model_{name}") for name, m in models.items() if name not in EMPTY]
    return compiled(sources, tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("name", [name for name in MODELS if name not in EMPTY])
def test_the_c_function_computes_what_the_model_does(models, library, name):
    model = models[name]
    expected = expected_of(model, ROWS)
    returned, written = run_c(getattr(library, f"model_{name}"), model, ROWS, expected.shape[1])
    same(written, expected)
    if hasattr(model, "predict"):
        labels = model.classes_[returned] if hasattr(model, "classes_") else returned
        np.testing.assert_array_equal(labels, model.predict(ROWS))
        unknown = np.where(np.arange(4) == 2, np.nan, ROWS[:1])
        returned, written = run_c(
            getattr(library, f"model_{name}"), model, unknown, expected.shape[1]
        )
        assert returned[0] == (-1 if hasattr(model, "classes_") else 0)
        assert np.isnan(written).all()


@pytest.fixture(scope="module")
def table():
    return table_of(ROWS, NAMES)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in EMPTY])
def test_the_sql_expression_computes_what_the_model_does(models, table, name):
    model = models[name]
    if hasattr(model, "transform"):
        same(run_sql(table, model), model.transform(ROWS))
        return
    digits = 1e-9 if "detector" in name else 1e-12  # of the neighbours' coordinates
    same(run_sql(table, model, "decision"), model.decision_function(ROWS), digits)
    np.testing.assert_array_equal(run_sql(table, model, "label"), model.predict(ROWS))
    if hasattr(model, "predict_proba"):
        same(run_sql(table, model, "probabilities"), model.predict_proba(ROWS))
    if hasattr(model, "score_samples"):
        same(run_sql(table, model, "score"), model.score_samples(ROWS), digits)
    several = len(getattr(model, "classes_", ())) > 2
    assert to_sql(model) == to_sql(model, "label" if several else "decision")


@pytest.mark.parametrize("name", ["log", "quantile"])
def test_what_has_a_name_in_sql_is_computed_once(models, table, name):
    text = to_sql(models[name], "decision")
    assert re.search(r"\bv\d+\b.*FROM", text, re.S)
    # A database that puts texts in place of names makes a program many times as long.
    program = table.execute(f"EXPLAIN SELECT {text} FROM rows").fetchall()
    assert len(program) < len(text) / 4


@pytest.mark.parametrize("name", [name for name in MODELS if name not in EMPTY])
def test_the_onnx_graph_computes_what_the_model_does(models, name):
    model = models[name]
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-5)):
        rows = ROWS.astype(dtype).astype(np.float64)  # as rounded
        found = run_onnx(model, rows, dtype)
        if hasattr(model, "transform"):
            assert list(found) == ["variable"]
            same(found["variable"], model.transform(rows), tolerance)
            continue
        has_chances = hasattr(model, "predict_proba")
        assert list(found) == ["label", *["probabilities"] * has_chances, "scores"]
        decision = model.decision_function(rows)
        assert found["scores"].shape == decision.shape
        assert found["scores"].dtype == dtype
        same(found["scores"], decision, tolerance)
        if has_chances:
            same(found["probabilities"], model.predict_proba(rows), tolerance)
        np.testing.assert_array_equal(found["label"], model.predict(rows))


def test_operations_that_few_models_show(monkeypatch, tmp_path):
    x = columns(2)
    # Detectors have it for rounding of constant columns, which no score shows.
    below = x.zero_below(0.5)
    cube = x.take([0]) * x.take([0]) * x.take([0])
    repeated = cube.take([0, 0]) * x  # as the terms above a single one
    parts = join([below, cube, repeated])
    halves = np.where(np.arange(130) % 2, 0.0, 1.0)[:, np.newaxis]
    sparse = cube.linear(halves).take([128])  # of one entry
    value = join([parts, sparse])
    one = Computation("map", "transformer", ("a", "b"), {"features": value}, tuple("fghijk"))
    for system in ("python", "c", "sql", "onnx"):
        module = importlib.import_module(f"vanishing.export.{system}")
        monkeypatch.setattr(module, "computation_of", lambda model: one)
    rows = np.array([[0.4, 0.5], [0.6, -3.0]])
    below, cubes = np.array([[0.0, 0.5], [0.6, 0.0]]), rows[:, :1] ** 3
    expected = np.hstack([below, cubes, cubes * rows, cubes])
    same(run_python(None, rows)["transform"], expected)
    same(run_c(compiled([to_c(None)], tmp_path).transform, None, rows, 6)[1], expected)
    same(run_sql(table_of(rows, ["a", "b"]), None), expected)
    same(run_onnx(None, rows)["variable"], expected)


@pytest.mark.parametrize("name", EMPTY)
def test_a_model_without_generators_is_not_exported(models, name):
    pytest.importorskip("onnx")
    for export in (to_c, to_sql, to_onnx):
        with pytest.raises(ValueError, match="no generators"):
            export(models[name])


# -- The paper's data sets ------------------------------------------------------------------------


def _data(name):
    folder = os.environ.get("VANISHING_DATA")
    if not folder or not list(Path(folder).glob(f"{name}.csv*")):
        pytest.skip(f"no file of the data set {name} in $VANISHING_DATA")
    rows, y = vanishing.datasets.load(name, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))[:1240]
    return rows[order[:-40]], y[order[:-40]], rows[order[-40:]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bank", "credit", "htru", "seeds", "skin", "spam"])
def test_exports_agree_on_the_data_sets(name, tmp_path):
    rows, y, unseen = _data(name)
    scale = {"bank": "quantile", "credit": "log", "skin": False}.get(name, True)
    fitted = [
        VanishingClassifier(scale=scale).fit(rows, y),
        VanishingOutlierDetector(random_state=0).fit(rows),
    ]
    if name in ("bank", "seeds"):  # where tuning takes no time
        fitted.append(VanishingClassifierCV().fit(rows, y))
    library = compiled([to_c(m, f"model_{i}") for i, m in enumerate(fitted)], tmp_path)
    table = table_of(unseen, [f"x{i}" for i in range(rows.shape[1])])
    for i, model in enumerate(fitted):
        decision = model.decision_function(unseen)
        width = 1 if decision.ndim == 1 else decision.shape[1]
        _, written = run_c(getattr(library, f"model_{i}"), model, unseen, width)
        for found in (
            run_python(model, unseen)["decision_function"],
            written,
            run_onnx(model, unseen)["scores"],
        ):
            same(found, decision)
        # SQL has ten digits of the neighbours' coordinates.
        digits = 1e-9 if isinstance(model, VanishingOutlierDetector) else 1e-12
        same(run_sql(table, model, "decision"), decision, digits)
        rounded = unseen.astype(np.float32).astype(np.float64)
        in_single = run_onnx(model, rounded, "float32")["scores"]
        same(in_single, model.decision_function(rounded), 1e-5)


# -- Laws and quantities --------------------------------------------------------------------------

ONE = (0.0, 0.0)


def _laws():
    """Return laws with all functions there are, solved for either column and for none."""
    found = {}
    for name, function in FUNCTIONS.items():
        terms = [monomial([0, 1]), Term(ONE, (Factor(function, 0.7, (1.0, 0.0)),))]
        law = Law(terms, [2.0, -1.5], names=("a", "b"))
        found[name] = law
        found[f"{name} for b"] = law.solve("b")
        found[f"{name} for a"] = law.solve("a")
    cube = Law([monomial([3, 0]), monomial([0, 1]), monomial(ONE)], [1, -2, 0.9], names=("a", "b"))
    found["cube"] = cube.solve("a")
    fifth = Law([monomial([5, 0]), monomial([0, 1]), monomial(ONE)], [1, -2, 0.9], names=("a", "b"))
    found["fifth"] = fifth.solve("a")
    square = Law([monomial([2, 0]), monomial([1, 1]), monomial(ONE)], [1, -3, 0.1], names="ab")
    found["square"] = square.solve("a", branch=-1)
    found["root"] = Law([monomial([0.5, -1.5]), monomial(ONE)], [1.0, -2.0], names=("a", "b"))
    found["high"] = Law([monomial([9, 0]), monomial([0, -2])], [1.0, -2.0], names=("a", "b"))
    found["number"] = Law(
        [monomial([0, 1]), monomial(ONE)], [1.0, -3.5], names=("a", "b"), target="b"
    )
    return found


LAWS = _laws()


def _values(law, table):
    if law.target is None:
        return law.residual(table)
    return law.predict(table)


def test_laws_are_exported_with_their_functions(tmp_path):
    rows = np.random.default_rng(2).uniform(0.05, 0.7, (40, 2))
    frame = pd.DataFrame(rows, columns=list("ab"))
    sources = [to_c(law, f"law_{i}") for i, law in enumerate(LAWS.values())]
    library = compiled(sources, tmp_path)
    connection = table_of(rows, ["a", "b"])
    for i, (name, law) in enumerate(LAWS.items()):
        expected = _values(law, frame)
        assert np.isfinite(expected).mean() > 0.5, name
        inputs = rows[:, [j for j, column in enumerate("ab") if column != law.target]]
        (found,) = run_python(law, inputs).values()
        same(found, expected)
        same(run_c(getattr(library, f"law_{i}"), law, inputs)[0], expected)
        in_sql = run_sql(connection, law)
        same([np.nan if value is None else value for value in in_sql], expected)
        same(run_onnx(law, inputs)["variable"], expected)
        same(run_onnx(law, inputs, "float32")["variable"], expected, 1e-5)


def test_the_best_law_of_a_finder_is_exported():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 3, (200, 3)), columns=["n", "T", "V"])
    p = (8.314 * table["n"] * table["T"] / table["V"]).rename("p")
    finder = LawFinder(3, functions=()).fit(table, p)
    text = to_sql(finder)
    columns = [f'CAST("{name}" AS DOUBLE PRECISION)' for name in ("n", "T", "V")]
    assert re.fullmatch(rf"8\.31\d* \* {' . '.join(map(re.escape, columns))}", text)
    assert "SELECT" not in text
    same(run_sql(table_of(table.to_numpy(), ["n", "T", "V"]), finder), finder.predict(table))
    finder.laws_ = []
    with pytest.raises(ValueError, match="no law was found"):
        to_c(finder)


def test_whole_numbers_are_not_divided_without_rest():
    table = pd.DataFrame({"s": [1.0, 5.0, 9.0], "t": [2.0, 2.0, 2.0], "v": [0.5, 2.5, 4.5]})
    law = check_law("v = s/t", table)
    connection = table_of(table[["s", "t"]].astype(int), ["s", "t"])
    connection.execute("CREATE TABLE whole (s INTEGER, t INTEGER)")
    connection.execute("INSERT INTO whole VALUES (1, 2)")
    found = connection.execute(f"SELECT {to_sql(law)} FROM whole").fetchone()
    assert found == (0.5,)


def test_functions_of_ones_own_are_refused():
    from vanishing.algebra.functions import Function

    own = Function("bessel", np.cos, np.sin)
    law = Law([monomial([0, 1]), Term(ONE, (Factor(own, 1.0, (1.0, 0.0)),))], [1, 1], names="ab")
    for export in (to_python, to_c, to_sql):
        with pytest.raises(ValueError, match="'bessel' is a function of your own"):
            export(law)


def test_conserved_quantities_are_exported(tmp_path):
    pendulum = [monomial([0, 2]), Term(ONE, (Factor(FUNCTIONS["cos"], 1.0, (1.0, 0.0)),))]
    energy = ConservedQuantity(pendulum, [1.0, -19.62], names=["angle", "speed"])
    rows = np.random.default_rng(0).normal(size=(20, 2))
    library = compiled([to_c(energy, "energy")], tmp_path)
    _, written = run_c(library.energy, energy, rows)
    for found in (
        run_python(energy, rows)["transform"],
        written,
        run_sql(table_of(rows, ["angle", "speed"]), energy),
        run_onnx(energy, rows)["variable"],
    ):
        same(found, energy(rows)[:, np.newaxis])
    t = np.linspace(0, 6, 100)
    runs = [(a * np.cos(t + a), -a * np.sin(t + a)) for a in (0.5, 1.0, 1.7, 2.0)]
    motion = np.vstack([np.column_stack(run) for run in runs])
    finder = ConservedQuantities(max_degree=2).fit(motion, groups=np.repeat(np.arange(4), 100))
    same(run_python(finder, motion)["transform"], finder.transform(motion))


def test_equations_of_motion_are_exported_as_one_function(tmp_path):
    t = np.linspace(0.0, 6.0, 80)
    swing = np.exp(-0.2 * t)[:, None] * np.column_stack([np.cos(2 * t), np.sin(2 * t)])
    model = EquationsOfMotion(functions=()).fit(swing, t)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    library = compiled([to_c(model)], tmp_path)
    _, written = run_c(library.derivatives, model, rows, 2)
    for found in (
        run_python(model, rows)["derivatives"],
        written,
        run_sql(table_of(rows, ["x0", "x1"]), model),
        run_onnx(model, rows)["variable"],
    ):
        same(found, model.predict(rows))
    same(run_python(model.equations_[1], rows)["derivatives"][:, 0], model.predict(rows)[:, 1])
    walk = np.random.default_rng(0).normal(size=(60, 1)).cumsum(axis=0)
    nothing = EquationsOfMotion(functions=()).fit(walk, np.arange(60.0))
    for export in (to_python, to_c, to_sql):
        with pytest.raises(ValueError, match="no equations of motion to export: none"):
            export(nothing)


# -- Names ----------------------------------------------------------------------------------------

HOSTILE = [
    'a"b',
    "'; DROP TABLE rows; --",
    "line\nbreak",
    "SELECT",
    "",
    "größe \u202e\U0001f600",
    "*/ int x; /*",
    "??/",
    "back\\",
    "v1",
    "a b",
    "a_b",
    "x[0]",
]


@pytest.fixture(scope="module")
def hostile():
    """Three models of a table whose columns have names that mean harm, and new rows of it."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(200, len(HOSTILE)))
    rows[:, 8] = rows[:, 6] * rows[:, 7]
    frame = pd.DataFrame(rows, columns=HOSTILE)
    harm = np.array(["'); DROP TABLE rows; --", "\\", '*/ ??/ \n"', "-- \u2028"])
    labels = harm[(4 * rows[:, 9]).astype(int)]
    law = Law(
        [monomial([*[0] * 12, 1]), monomial([1] * 6 + [0] * 7), monomial([0] * 6 + [1] * 6 + [0])],
        [1.0, 2.0, 3.0],
        names=HOSTILE,
        target=HOSTILE[-1],
    )
    models = [
        VanishingClassifier(C=100.0).fit(frame, labels),
        VanishingOutlierDetector(random_state=0).fit(frame),
        law,
    ]
    return models, pd.DataFrame(rng.uniform(size=(30, len(HOSTILE))), columns=HOSTILE)


def test_hostile_names_are_names_in_sql(hostile):
    models, frame = hostile
    connection = table_of(frame, HOSTILE)
    np.testing.assert_array_equal(run_sql(connection, models[0]), models[0].predict(frame))
    same(run_sql(connection, models[0], "decision"), models[0].decision_function(frame))
    same(run_sql(connection, models[1]), models[1].decision_function(frame), 1e-9)
    same(run_sql(connection, models[2]), models[2].predict(frame))
    assert connection.execute("SELECT COUNT(*) FROM rows").fetchone() == (30,)
    cursor = connection.execute(f"SELECT {to_sql(models[0], 'decision')} FROM rows")
    assert [column[0] for column in cursor.description] == models[0].classes_.tolist()


def test_hostile_names_are_comments_in_c(hostile, tmp_path):
    models, frame = hostile
    sources = [to_c(model, f"model_{i}") for i, model in enumerate(models)]
    for source in sources:
        assert source.isascii()
        code = re.sub(r"/\*.*?\*/", "", source, flags=re.S)  # as a compiler reads it
        assert not set(re.findall(r"[A-Za-z_]\w+", code)) & {"DROP", "SELECT", "break", "int x"}
        assert "??" not in source
        assert "\\\n" not in source
    library = compiled(sources, tmp_path)  # without a warning of a comment in a comment
    values = frame.to_numpy()
    returned, written = run_c(library.model_0, models[0], values, 4)
    np.testing.assert_array_equal(models[0].classes_[returned], models[0].predict(frame))
    same(written, models[0].decision_function(frame))
    _, written = run_c(library.model_1, models[1], values)
    same(written, models[1].decision_function(frame))
    same(run_c(library.model_2, models[2], values[:, :-1])[0], models[2].predict(frame))


def test_hostile_names_are_text_in_onnx_and_python(hostile):
    models, frame = hostile
    for model in models:
        rows = frame.to_numpy()[:, : 12 if isinstance(model, Law) else 13]
        predicted = model.predict(frame)
        in_onnx = run_onnx(model, rows)
        in_python = run_python(model, rows)["predict"]
        for found in (in_onnx.get("label", in_onnx.get("variable")), in_python):
            if predicted.dtype.kind == "f":
                same(found, predicted)
            else:
                np.testing.assert_array_equal(found, predicted)


def test_names_that_sql_cannot_have_are_refused():
    for name in ("zero\x00byte", "half \ud83d"):
        law = Law([monomial([1, 0]), monomial([0, 1])], [1, 1], names=[name, "y"], target="y")
        with pytest.raises(ValueError, match="cannot be written in SQL"):
            to_sql(law)
        assert name not in to_c(law)
    model = OAVI().fit(pd.DataFrame(Z, columns=["a", "b", "b", "c"]).set_axis(list("abcd"), axis=1))
    model.feature_names_in_ = np.array(["a", "b", "b", "c"], dtype=object)
    with pytest.raises(ValueError, match="two columns are called 'b'"):
        to_sql(model)


def test_where_a_column_is_null_the_answer_is(models):
    names = ["classifier", "quantile", "log", "two_classes", "detector", "detector_of_constants"]
    connection = table_of(np.full((1, 4), np.nan), NAMES)
    for row in range(4):
        values = [None if i == row else 5.0 for i in range(4)]
        connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", values)
    for name in names:
        output = "decision" if "detector" in name else "label"
        found = run_sql(connection, models[name], output)
        assert found[0] is None
        used = [f'"x{i}"' in to_sql(models[name], output) for i in range(4)]
        assert [value is None for value in found[1:]] == used


# -- Arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "a b", "int", "class", "main", "sin", "y1", "x;", "größe", "_x", "decision", 3]
)
def test_a_function_of_c_has_a_name_of_c(models, name):
    with pytest.raises(ValueError, match="name must be a name that a function may have in C"):
        to_c(models["classifier"], name)


def test_outputs_that_a_model_does_not_have_are_named(models):
    with pytest.raises(ValueError, match=r"output must be.*'decision'"):
        to_sql(models["classifier"], "features")
    with pytest.raises(ValueError, match="output must be"):
        to_sql(models["oavi"], "label")
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(models["oavi"], dtype="float16")


@pytest.mark.parametrize("export", [to_python, to_c, to_sql])
def test_what_cannot_be_exported_is_named_with_a_way_out(export):
    own = VanishingClassifier(scale=FunctionTransformer(np.tanh)).fit(X, Y)
    with pytest.raises(TypeError, match=r"FunctionTransformer.*cannot be exported.*scale=False"):
        export(own)
    with pytest.raises(TypeError, match="cannot be exported"):
        export(make_pipeline(MinMaxScaler(), FunctionTransformer(), OAVI()).fit(X))


def test_without_onnx_the_extra_is_named(monkeypatch, models):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install .\.\[onnx\]"):
        to_onnx(models["oavi"])


def test_the_graph_names_its_columns_and_equations(models):
    pytest.importorskip("onnx")
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(4)])
    graph = to_onnx(VanishingClassifier().fit(frame, WORDS[Y]))
    properties = {entry.key: entry.value for entry in graph.metadata_props}
    assert properties["feature_names"] == '["c0", "c1", "c2", "c3"]'
    assert graph.opset_import[0].version == 13
    notes = "\n".join(node.doc_string for node in graph.graph.node)
    assert "Generators of class" in notes
    standard = {"", "ai.onnx"}
    assert all(node.domain in standard for node in graph.graph.node)
