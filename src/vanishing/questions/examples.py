"""Examples: tables to try, each with a question and options that suit it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

_ROWS = 400


@dataclass(frozen=True)
class Example:
    """A table to try.

    Attributes
    ----------
    name : str
        Its file is called ``NAME.csv``.
    title, summary : str
    question : str
        That suits it, in `QUESTIONS`.
    options : dict
        Of the question.
    columns : callable
        Returns the columns by name.
    """

    name: str
    title: str
    summary: str
    question: str
    columns: Callable[[], dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the table into a folder, and return its file."""
        import pandas as pd

        path = Path(folder) / f"{self.name}.csv"
        pd.DataFrame(self.columns()).to_csv(path, index=False, float_format="%.6g")
        return path


def _gas():
    rng = np.random.default_rng(0)
    n, T, V = rng.uniform([0.5, 250.0, 0.01], [2.0, 400.0, 0.05], (_ROWS, 3)).T
    p = 8.314 * n * T / V * (1 + 0.003 * rng.normal(size=_ROWS))
    return {"n": n, "T": T, "V": V, "p": p}


def _pump():
    rng = np.random.default_rng(0)
    flow, head = rng.uniform([[20.0], [10.0]], [[60.0], [40.0]], (2, _ROWS))
    columns = {"flow": flow, "head": head, "power": 0.0034 * flow * head}
    columns["loss"] = 0.0004 * flow**2
    for values in columns.values():
        values *= 1 + 0.005 * rng.normal(size=_ROWS)
    flow[57] *= 1.08
    columns["power"][211] *= 0.9
    columns["loss"][[19, 140, 300]] = np.nan
    return columns


def _wines():
    from sklearn.datasets import load_wine

    wine = load_wine()
    names = [
        name.replace("od280/od315_of_diluted_wines", "dilution") for name in wine.feature_names
    ]
    growers = np.array(["A", "B", "C"], dtype=object)[wine.target]
    return {**dict(zip(names, wine.data.T, strict=True)), "grower": growers}


def _pendulum():
    rng = np.random.default_rng(0)
    runs, n_rows, step = 20, 80, 0.05
    theta, omega = rng.uniform([[0.3], [-1.0]], [[2.0], [1.0]], (2, runs))
    states = np.empty((n_rows, 2, runs))
    for row in range(n_rows):
        states[row] = theta, omega
        for _ in range(50):  # half a step, a whole one, half a step: energy does not drift
            omega = omega - step / 100 * 9.81 * np.sin(theta)
            theta = theta + step / 50 * omega
            omega = omega - step / 100 * 9.81 * np.sin(theta)
    states += 0.002 * rng.normal(size=states.shape)
    return {
        "run": np.repeat(np.arange(1, runs + 1), n_rows),
        "t": np.tile(step * np.arange(n_rows), runs),
        "theta": states[:, 0].T.ravel(),
        "omega": states[:, 1].T.ravel(),
    }


def _plant():
    from vanishing.datasets import make_plant

    plant = make_plant(1500, faults=("offset", "leak"), normal_rows=1000, random_state=0)
    return {"minute": plant.t, **dict(zip(plant.columns, plant.X.T, strict=True))}


EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example(
            "gas",
            "A gas in a vessel",
            "Amount, temperature, volume and pressure: which law gives the pressure?",
            "laws",
            _gas,
            {"target": "p"},
        ),
        Example(
            "pump",
            "Readings of a pump",
            "Flow, head, power and loss: two values are wrong and three are missing.",
            "repair",
            _pump,
        ),
        Example(
            "wines",
            "Wines of three growers",
            "Thirteen measurements of 178 wines: who grew them?",
            "classes",
            _wines,
            {"target": "grower"},
        ),
        Example(
            "pendulum",
            "A pendulum on video",
            "Angle and angular velocity in twenty runs: what stays the same, and how does it move?",
            "conserved",
            _pendulum,
            {"run": "run", "time": "t", "functions": ["theta=sin,cos"]},
        ),
        Example(
            "plant",
            "Sensors of a plant",
            "Twenty sensors, one of them off, and a leak: which rows break the balances?",
            "outliers",
            _plant,
            {"time": "minute"},
        ),
    )
}
