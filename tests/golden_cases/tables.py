"""The fixed tables of golden.py, the kinds of rows they are given as, and the list of cases."""

from functools import cache, partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import MinMaxScaler

from vanishing import Blocks

CASES = {}
dask.config.set(scheduler="synchronous")


def case(name, *arguments, **options):
    """Register a function, with arguments, as a case; also a decorator."""

    def register(function):
        assert name not in CASES, name
        CASES[name] = partial(function, *arguments, **options)
        return function

    return register


# -- Tables ---------------------------------------------------------------------------------------

RNG = np.random.default_rng(27)
M = 120
# A surface, 2 c = a (1 + b), with noise.
SURFACE = RNG.random((M, 3))
SURFACE[:, 2] = 0.5 * SURFACE[:, 0] * (1 + SURFACE[:, 1]) + RNG.normal(scale=0.01, size=M)
SURFACE_NAMES = ["a", "b", "c"]
EXACT = np.column_stack([SURFACE[:, :2], SURFACE[:, 0] * SURFACE[:, 1]])
# Three cylinders: classes.
THREE = np.arange(M) % 3
ANGLE = RNG.uniform(0, 2 * np.pi, M)
RADIUS = np.array([0.2, 0.33, 0.46])[THREE]
CYLINDERS = np.column_stack(
    [0.5 + RADIUS * np.cos(ANGLE), 0.5 + RADIUS * np.sin(ANGLE), RNG.random(M)]
)
CYLINDERS += RNG.normal(scale=0.01, size=CYLINDERS.shape)
WORDS = np.array(["small", "medium", "large"])[THREE]
TWO = (THREE > 0).astype(int)
WEIGHTS = RNG.uniform(0.5, 2.0, M)
WEIGHTS[::7] = 0.0
IRIS, IRIS_LABELS = load_iris(return_X_y=True)
IRIS_SCALED = MinMaxScaler().fit_transform(IRIS)
WINE, WINE_LABELS = load_wine(return_X_y=True)
# Rows that obey z = x y to 0.5 %, but for some.
FLOW = RNG.uniform(1, 3, (300, 2))
FLOW = np.column_stack([FLOW, FLOW[:, 0] * FLOW[:, 1]]) * (1 + 0.005 * RNG.normal(size=(300, 3)))
FLOW[7, 2] *= 1.1
FLOW[150, 0] *= 0.9
FLOW_NAMES = ["x", "y", "z"]
POINTS = [[0, 0], [1, 0], [0, 1], [1, 1], [2, 3]]


@cache
def gas(n_rows=200, noise=1000.0):
    """Return an ideal gas, with noise in the pressure p."""
    rng = np.random.default_rng(0)
    rows = rng.uniform([1, 250, 0.01], [3, 400, 0.05], (n_rows, 3))
    table = pd.DataFrame(rows, columns=["n", "T", "V"])
    p = 8.314 * table["n"] * table["T"] / table["V"]
    return table, (p + rng.normal(scale=noise, size=n_rows)).rename("p")


@cache
def circle(noise=0.02, n_rows=200):
    """Return a circle, with noise in both columns."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    table = pd.DataFrame({"x": 1 + 2 * np.cos(angle), "y": 2 * np.sin(angle)})
    return table + rng.normal(scale=noise, size=table.shape)


@cache
def motion(noise=0.01, n_runs=12, n_rows=30):
    """Return runs of an oscillator, v^2 + 4 x^2 conserved, and which run each row is of."""
    rng = np.random.default_rng(2)
    size, phase = rng.uniform(0.5, 2, (n_runs, 1)), rng.uniform(0, 6, (n_runs, 1))
    angle = 2 * np.sort(rng.uniform(0, 10, (n_runs, n_rows)), axis=1) + phase
    columns = {"x": size * np.cos(angle), "v": -2 * size * np.sin(angle)}
    table = pd.DataFrame({name: column.ravel() for name, column in columns.items()})
    return table + rng.normal(scale=noise, size=table.shape), np.repeat(np.arange(n_runs), n_rows)


# -- Kinds of rows --------------------------------------------------------------------------------

PART = 31  # rows of a block


def _names(X):
    return [f"c{i}" for i in range(X.shape[1])]


def _frame(X):
    return pd.DataFrame(X, columns=_names(X))


def _polars(X):
    import polars

    return polars.DataFrame(X, schema=_names(X))


def _strict(X, device=None):
    import array_api_strict as xp

    device = None if device is None else xp.Device(device)
    return xp.asarray(np.array(X), device=device)


def _function(X):
    def read():
        for start in range(0, len(X), PART):
            yield X[start : start + PART]

    return read


def _dask_frame(X):
    return dd.from_pandas(_frame(X), npartitions=3)


KINDS = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: (8 * X).astype(np.int32),
    "columns": np.asfortranarray,
    "lists": lambda X: X.tolist(),
    "frame": _frame,
    "polars": _polars,
    "one block": lambda X: Blocks.from_array(X, rows=len(X)),
    "blocks": lambda X: Blocks.from_array(X, rows=PART),
    "small blocks": lambda X: Blocks.from_array(X, rows=7),
    "blocks of frames": lambda X: Blocks([_frame(X[:50]), _frame(X[50:])]),
    "blocks of a device": lambda X: Blocks.from_array(X, rows=PART, device=_strict),
    "function": _function,
    "dask": lambda X: da.from_array(X, chunks=(PART, X.shape[1])),
    "dask float32": lambda X: da.from_array(X.astype(np.float32), chunks=(PART, 1)),
    "dask frame": _dask_frame,
    "device": _strict,
    "other device": partial(_strict, device="device1"),
}
FEW_KINDS = ["frame", "blocks", "dask", "dask frame", "device", "other device"]


def rows(kind, X):
    """Return an array as rows of a kind."""
    return KINDS[kind](X)


def beside(kind, values):
    """Return labels or weights as they are given beside rows of a kind."""
    if values is None:
        return None
    if kind == "dask frame":
        return dd.from_pandas(pd.Series(values), npartitions=3)
    if kind.startswith("dask"):
        return da.from_array(values, chunks=PART)
    if kind == "device" and values.dtype.kind != "U":
        return _strict(values)
    return values
