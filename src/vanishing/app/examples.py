"""Tables to try: their rows, and the question that each is made for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_PLANT_ROWS = 1200


class Example(NamedTuple):
    """A table, and what to ask of it: options by the name of a question."""

    make: Callable[[], Any]
    question: str
    options: dict[str, dict[str, Any]]


def _gas():
    import pandas as pd

    random = np.random.default_rng(1)
    T = random.uniform(250, 400, 300)
    V = random.uniform(0.01, 0.1, 300)
    n = random.uniform(0.5, 3.0, 300)
    p = 8.314 * n * T / V / 1000 * (1 + 0.01 * random.normal(size=300))
    return pd.DataFrame({"p [kPa]": p, "V": V, "n": n, "T": T}).rename(columns={"p [kPa]": "p"})


def _pump():
    import pandas as pd

    random = np.random.default_rng(0)
    flow, head = random.uniform([[20], [10]], [[60], [40]], (2, 400))
    pump = pd.DataFrame({"flow": flow, "head": head, "power": 0.0034 * flow * head})
    pump["loss"] = 0.0004 * flow**2
    pump *= 1 + 0.005 * random.normal(size=pump.shape)
    pump.loc[56, "flow"] *= 1.08
    pump.loc[203, "power"] *= 0.93
    pump.loc[311, "loss"] *= 1.1
    return pump


def _wines():
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True)
    rows = wine.data.rename(columns={"od280/od315_of_diluted_wines": "dilution"})
    return rows.assign(grower=np.array(["A", "B", "C"], dtype=object)[wine.target])


def _pendulum():
    import pandas as pd

    random = np.random.default_rng(2)
    runs = []
    for run, start in enumerate([0.4, 0.9, 1.4, 1.9, 2.4], start=1):
        t = np.linspace(0.0, 6.0, 121)
        angle, speed = _swing(start, t)
        noise = 0.001 * random.normal(size=(2, len(t)))
        rows = {"run": run, "time": t, "angle": angle + noise[0], "speed": speed + noise[1]}
        runs.append(pd.DataFrame(rows))
    return pd.concat(runs, ignore_index=True)


def _swing(start: float, t: np.ndarray) -> np.ndarray:
    """Return angle and speed of a pendulum of length 1 m that is let go, by SciPy."""
    from scipy.integrate import solve_ivp

    def slopes(_, x):
        return [x[1], -9.81 * np.sin(x[0])]

    return solve_ivp(slopes, (t[0], t[-1]), [start, 0.0], t_eval=t, rtol=1e-9, atol=1e-10).y


def _plant():
    import pandas as pd

    from vanishing.datasets import make_plant

    run = make_plant(_PLANT_ROWS, random_state=0)
    return pd.DataFrame(run.X, columns=list(run.columns)).assign(hour=run.t / 60).round(5)


EXAMPLES = {
    "gas": Example(_gas, "laws", {"laws": {"target": "p"}}),
    "pump": Example(_pump, "outliers", {"laws": {"target": "power"}}),
    "wines": Example(_wines, "classes", {"classes": {"target": "grower"}}),
    "pendulum": Example(
        _pendulum, "conserved", {"conserved": {"run": "run", "time": "time"}, "motion": {}}
    ),
    "plant": Example(_plant, "outliers", {}),
}


def write_example(name: str, path) -> Example:
    """Write a table to try as a CSV file, and return what to ask of it."""
    example = EXAMPLES[name]
    example.make().to_csv(path, index=False, float_format="%.6g")
    return example
