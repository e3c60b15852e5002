"""Tables that obey a law, or none, for tests of what shows laws."""

import numpy as np
import pandas as pd


def gas(n_rows=400, noise=1000.0, seed=0) -> pd.DataFrame:
    """The ideal gas, with noise in the pressure."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform([1, 250, 0.01], [3, 400, 0.05], (n_rows, 3))
    table = pd.DataFrame(rows, columns=["n", "T", "V"])
    p = 8.314 * table["n"] * table["T"] / table["V"]
    return table.assign(p=p + rng.normal(scale=noise, size=n_rows))


def circle(n_rows=400, seed=0) -> pd.DataFrame:
    """A circle, with noise in both columns."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    table = pd.DataFrame({"x": 1 + 2 * np.cos(angle), "y": 2 * np.sin(angle)})
    return table + rng.normal(scale=0.02, size=table.shape)


def nothing(n_rows=200, seed=0) -> pd.DataFrame:
    """Random numbers."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "y"])
