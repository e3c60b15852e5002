"""Models as other systems run them: what their exports say of rows."""

import ctypes
import math
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    ContrastiveVanishing,
    EllipsoidCalibration,
    L1SquaredHingeSVC,
    Law,
    LawFinder,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
)
from vanishing.export import to_onnx, to_python, to_sql

X, Y = load_iris(return_X_y=True)
Z = MinMaxScaler().fit_transform(X)
WORDS = np.array(["no", "yes", "don't \\ know\n"])
DIRECTIONS = np.random.default_rng(0).normal(size=(60, 4))
SPHERE = [1, 2, 3, 4] + DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1)[:, np.newaxis]
WITH_CONSTANT = np.column_stack([X, np.full(len(X), 7.0)])

MODELS = {
    "oavi": lambda: OAVI().fit(Z),
    "signed": lambda: OAVI(absolute=False, oracle="ls").fit(Z),
    "nothing": lambda: OAVI(psi=0, max_degree=1).fit(Z),
    "abm": lambda: ABM().fit(Z),
    "avi": lambda: AVI().fit(Z),
    "vca": lambda: VCA(psi=0.01, max_degree=4).fit(Z),
    "vca_nothing": lambda: VCA(psi=1e-9, max_degree=2).fit(Z),
    "features": lambda: VanishingFeatures().fit(Z, WORDS[Y]),
    "classifier": lambda: VanishingClassifier(clip=True).fit(X, WORDS[Y]),
    "two_classes": lambda: VanishingClassifier(VCA(max_degree=3), scale=False).fit(Z, Y == 1),
    "quantile": lambda: VanishingClassifier(scale="quantile").fit(X, Y.astype(np.float32)),
    "standard": lambda: VanishingClassifier(scale=StandardScaler()).fit(
        X, Y.astype(object).astype(str)
    ),
    "logistic": lambda: VanishingClassifier(final_estimator=LogisticRegression()).fit(X, Y),
    "constant": lambda: VanishingClassifier(OAVI(psi=0, max_degree=1)).fit(X, Y > 0),
    "search": lambda: VanishingClassifierCV(psis=(0.01,), Cs=(10.0,)).fit(X, Y),
    "svm": lambda: L1SquaredHingeSVC().fit(X, Y),
    "pipeline": lambda: make_pipeline(
        MinMaxScaler((-1, 1), clip=True), "passthrough", OAVI(), LinearSVC()
    ).fit(X, Y),
    "contrastive": lambda: VanishingClassifier(ContrastiveVanishing(), clip=False).fit(X, Y),
    "log": lambda: VanishingClassifier(scale="log").fit(X, Y > 0),
    "robust": lambda: VanishingClassifier(scale=RobustScaler()).fit(X, Y),
    "largest": lambda: VanishingClassifier(
        ABM(), scale=make_pipeline(StandardScaler(with_std=False), MaxAbsScaler())
    ).fit(X, Y > 1),
    "constant_column": lambda: make_pipeline(
        QuantileTransformer(n_quantiles=30), VanishingClassifier()
    ).fit(WITH_CONSTANT[:, [4, 0, 1, 2]], Y),
    "detector": lambda: VanishingOutlierDetector(random_state=0).fit(X),
    "detector_of_degree_3": lambda: make_pipeline(
        StandardScaler(), VanishingOutlierDetector(3, random_state=0)
    ).fit(np.tile(X, (8, 1)) + np.random.default_rng(0).normal(0, 0.01, (1200, 4))),
    "detector_of_constants": lambda: VanishingOutlierDetector(random_state=0).fit(
        WITH_CONSTANT[:, [4, 0, 1, 4]]
    ),
    "calibration": lambda: EllipsoidCalibration().fit(SPHERE),
    "map": lambda: make_pipeline(
        StandardScaler(with_mean=False), QuantileTransformer(n_quantiles=20), ABM()
    ).fit(X),
}

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
if sys.platform == "win32":  # whose compilers have other flags
    COMPILER = None
# No warning is passed over, nor a trigraph that a name would like to be.
FLAGS = ["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC"]


FUNCTIONS = ("transform", "predict", "decision_function", "predict_proba", "score_samples")


def run_python(model, X):
    """Return what the functions of the exported module return, by their names."""
    module = {}
    exec(to_python(model), module)
    return {
        name: module[name](X) for name in (*FUNCTIONS, "residual", "derivatives") if name in module
    }


def compiled(sources, folder):
    """Return a library of C sources."""
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    source, library = folder / "models.c", folder / "models.so"
    source.write_text("\n".join(sources), encoding="ascii")
    subprocess.run([COMPILER, *FLAGS, "-shared", "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def run_c(function, model, X, width=1):
    """Return (what a function returns, what it writes) of each row."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    out = np.full((len(X), width), np.inf)
    returned = []
    predicts = isinstance(model, (Law, LawFinder))
    function.restype = ctypes.c_double if predicts else ctypes.c_int
    pointer = ctypes.POINTER(ctypes.c_double)
    for row, written in zip(X, out, strict=True):
        pointers = [array.ctypes.data_as(pointer) for array in (row, written)]
        returned.append(function(*pointers[: 1 if predicts else 2]))
    return np.array(returned), out


def table_of(X, names):
    """Return a connection to a database in memory with the table ``rows``."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT LN(1.0)")
    except sqlite3.OperationalError:  # SQLite may be built without functions
        for name in ("sqrt", "exp", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "atanh"):
            connection.create_function(name, 1, getattr(math, name))
        connection.create_function("ln", 1, math.log)
        connection.create_function("power", 2, math.pow)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = ", ".join(f"{name} DOUBLE PRECISION" for name in quoted)
    connection.execute(f"CREATE TABLE rows ({columns})")
    places = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO rows VALUES ({places})", np.asarray(X).tolist())
    return connection


def run_sql(connection, model, output=None):
    """Return what the expression says of all rows, by its names or one list."""
    cursor = connection.execute(f"SELECT {to_sql(model, output)} FROM rows")
    rows = cursor.fetchall()
    return [row[0] for row in rows] if len(cursor.description) == 1 else rows


def run_onnx(model, X, dtype="float64"):
    """Return what the graph returns, by the names of its outputs."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    graph = to_onnx(model, dtype=dtype).SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = session.run(None, {"X": np.asarray(X, dtype=dtype)})
    return dict(zip(names, found, strict=True))


def same(found, expected, tolerance=1e-12):
    """Assert that numbers are the same up to rounding."""
    expected = np.asarray(expected, dtype=np.float64)
    found = np.asarray(found, dtype=np.float64).reshape(expected.shape)
    finite = np.abs(expected[np.isfinite(expected)])
    size = finite.max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * size)
