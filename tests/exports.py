"""Models as other systems run them: what their exports say of rows."""

import ctypes
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest

from vanishing.export import to_c, to_onnx, to_python, to_sql

TARGETS = ("python", "c", "sql", "onnx")
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
# No warning is passed over, nor a trigraph that a name would like to be.
FLAGS = ["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC"]


def run_python(model, X):
    """Return what the functions of the exported module return, by their names."""
    module = {}
    exec(to_python(model), module)
    names = ("transform", "predict", "residual", "decision_function", "predict_proba")
    return {name: module[name](X) for name in (*names, "score_samples") if name in module}


def compiled(models, folder):
    """Return a library that has the function ``model_i`` of each model."""
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    sources = []
    for i, model in enumerate(models):
        sources.append(folder / f"model_{i}.c")
        sources[-1].write_text(to_c(model, f"model_{i}"), encoding="ascii")
    library = folder / "models.so"
    subprocess.run([COMPILER, *FLAGS, "-shared", "-o", library, *sources, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def run_c(function, model, X, width):
    """Return (what a function returns, what it writes) of each row."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    out = np.full((len(X), width), np.inf)
    returned = []
    predicts = hasattr(model, "residual")  # a law
    function.restype = ctypes.c_double if predicts else ctypes.c_int
    pointer = ctypes.POINTER(ctypes.c_double)
    for row, written in zip(X, out, strict=True):
        pointers = [array.ctypes.data_as(pointer) for array in (row, written)]
        returned.append(function(*pointers[: 1 if predicts else 2]))
    return np.array(returned), out


def table_of(X, names):
    """Return a connection to a database in memory with the table ``rows``."""
    connection = sqlite3.connect(":memory:")
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
