"""Sensors of a simulated plant: balances, lags, slow drift, and faults whose cause is known."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from vanishing._types import FloatArray, RandomState
from vanishing.checks import check_choice, check_number

FAULTS = ("stuck", "offset", "drift", "leak", "unit")
SENSORS = (
    *("feed_a", "feed_b", "mixed", "level_1", "outlet_1", "reactor", "bypass", "product", "vent"),
    *("level_2", "outlet_2", "coolant", "coolant_in", "coolant_out", "duty", "feed_temperature"),
    *("temperature", "pressure", "ambient", "power"),
)
BALANCES = (
    "mixed = feed_a + feed_b",
    "outlet_1 = reactor + bypass",
    "reactor = product + vent",
    "duty = 4.2*coolant*coolant_out - 4.2*coolant*coolant_in",
    "level_1 = level_1[t-1] + 0.1*mixed[t-1] - 0.1*outlet_1[t-1]",
    "level_2 = level_2[t-1] + 0.1*product[t-1] - 0.1*outlet_2[t-1]",
)
# Flows that a leak takes from, and the sensors of the balance that it breaks.
_LEAKS = {
    "mixed": ("mixed", "feed_a", "feed_b"),
    "bypass": ("bypass", "outlet_1", "reactor"),
    "product": ("product", "reactor", "vent"),
}
_UNITS = (0.1, 0.2778, 1.8, 3.6, 10.0)  # what a value in the wrong unit is multiplied by


class PlantFault(NamedTuple):
    """A fault of a plant.

    Attributes
    ----------
    kind : {"stuck", "offset", "drift", "leak", "unit"}
    start, end : int
        Places of its first and last rows.
    columns : tuple of str
        The sensor that is wrong; of a leak, those of the balance that it breaks.
    """

    kind: str
    start: int
    end: int
    columns: tuple[str, ...]


class PlantRun(NamedTuple):
    """What `make_plant` returns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 20)
    t : ndarray of shape (n_samples,)
        Minutes.
    columns : tuple of str
        Names of the sensors.
    faults : tuple of PlantFault
    """

    X: FloatArray
    t: FloatArray
    columns: tuple[str, ...]
    faults: tuple[PlantFault, ...]


def make_plant(
    n_samples: int = 4000,
    *,
    faults: Sequence[str] = FAULTS,
    fault_rows: int = 100,
    normal_rows: int | None = None,
    size: float = 0.5,
    noise: float = 0.02,
    missing: float = 0.0,
    random_state: RandomState = None,
) -> PlantRun:
    """Simulate 20 sensors of a plant with two tanks, a reactor and a cooler, once a minute.

    Six balances hold, two of them from one row to the next: those of the tanks' levels. Feeds,
    temperatures and the yield wander slowly, so that rows follow from those before them. Faults
    come one after the other, evenly, each in a sensor that is drawn.

    Parameters
    ----------
    n_samples : int, default=4000
        Number of rows.
    faults : sequence of str
        Kinds of faults in their order: a "stuck" sensor repeats its last value; an "offset" is
        added to one; a "drift" grows up to three such offsets; a "leak" takes flow from a pipe; a
        wrong "unit" multiplies a sensor.
    fault_rows : int, default=100
        Rows that each fault lasts.
    normal_rows : int, default=None
        Rows before the first fault; None means half of all.
    size : float, default=0.5
        Of an offset, in standard deviations of the sensor; of a leak, likewise of its flow.
    noise : float, default=0.02
        Standard deviation of the noise of each sensor, in standard deviations of the sensor.
    missing : float, default=0.0
        Share of the cells that are missing: NaN.
    random_state : int, RandomState instance or None, default=None
        Determines everything; pass an int for the same plant in every call.

    Returns
    -------
    run : PlantRun

    See Also
    --------
    vanishing.VanishingOutlierDetector : Finds the faults, and the sensors to blame.

    Examples
    --------
    >>> from vanishing.datasets import make_plant
    >>> run = make_plant(1000, faults=["stuck", "leak"], random_state=0)
    >>> run.X.shape, [(fault.kind, fault.start) for fault in run.faults]
    ((1000, 20), [('stuck', 575), ('leak', 825)])
    """
    check_number("n_samples", n_samples, low=10, integer=True)
    check_number("fault_rows", fault_rows, low=1, integer=True)
    for name, value in (("size", size), ("noise", noise)):
        check_number(name, value, low=0)
    check_number("missing", missing, low=0, high=0.9)
    for kind in faults:
        check_choice("faults", kind, FAULTS)
    first = n_samples // 2 if normal_rows is None else normal_rows
    check_number("normal_rows", first, low=0, high=n_samples, integer=True)
    room = (n_samples - first) // max(len(faults), 1)
    if faults and room < fault_rows + 1:
        raise ValueError(
            f"{len(faults)} faults of {fault_rows} rows have no room in {n_samples - first} rows: "
            "give more n_samples, fewer normal_rows, or shorter faults."
        )
    random = check_random_state(random_state)
    plan = [
        _drawn(kind, first + i * room + (room - fault_rows) // 2, fault_rows, random)
        for i, kind in enumerate(faults)
    ]
    true, spread = _simulated(n_samples, [f for f in plan if f.kind == "leak"], size, random)
    X = true + noise * spread * random.normal(size=true.shape)
    for fault in plan:
        _spoil(X, fault, size * spread, random)
    X[random.uniform(size=X.shape) < missing] = np.nan
    return PlantRun(X, np.arange(float(n_samples)), SENSORS, tuple(plan))


def _drawn(kind: str, start: int, n_rows: int, random) -> PlantFault:
    """Return a fault whose sensor, or pipe, is drawn."""
    if kind == "leak":
        columns = list(_LEAKS.values())[random.randint(len(_LEAKS))]
    else:
        columns = (SENSORS[random.randint(len(SENSORS))],)
    return PlantFault(kind, start, start + n_rows - 1, columns)


def _wandering(n_rows: int, memory: float, random) -> np.ndarray:
    """Return values of standard deviation 1 that forget themselves after ``memory`` rows."""
    keep = np.exp(-1.0 / memory)
    steps = np.sqrt(1.0 - keep**2) * random.normal(size=n_rows)
    values = np.empty(n_rows)
    now = random.normal()
    for i, step in enumerate(steps):
        now = keep * now + step
        values[i] = now
    return values


def _simulated(n_rows: int, leaks: list[PlantFault], size: float, random):
    """Return what sensors without noise show, and their standard deviations without leaks."""
    w = {
        name: _wandering(n_rows, memory, random)
        for name, memory in (
            *(("feed_a", 30), ("feed_b", 60), ("valve_1", 20), ("valve_2", 25), ("split", 40)),
            *(("yield", 150), ("season", 2000), ("coolant", 30), ("heat", 50), ("load", 15)),
        )
    }
    season = w["season"] + 0.3 * np.sin(2 * np.pi * np.arange(n_rows) / 1440.0)
    v = {"feed_a": 20 + 2 * w["feed_a"], "feed_b": 12 + 1.5 * w["feed_b"]}
    lost = {name: np.zeros(n_rows) for name in _LEAKS}
    usual = {"mixed": 2.5, "bypass": 1.0, "product": 2.5}  # standard deviations of these flows
    for leak in leaks:
        lost[leak.columns[0]][leak.start : leak.end + 1] = size * usual[leak.columns[0]]
    v["mixed"] = v["feed_a"] + v["feed_b"] - lost["mixed"]
    v["level_1"], v["outlet_1"] = _tank(v["mixed"], 1.5 * w["valve_1"])
    v["bypass"] = 4 + 0.8 * w["split"] + 0.05 * v["outlet_1"]
    v["reactor"] = v["outlet_1"] - v["bypass"]
    v["bypass"] = v["bypass"] - lost["bypass"]
    v["vent"] = v["reactor"] * (0.08 + 0.01 * w["yield"])
    v["product"] = v["reactor"] - v["vent"] - lost["product"]
    v["level_2"], v["outlet_2"] = _tank(v["product"], 1.2 * w["valve_2"])
    v["ambient"] = 15 + 5 * season
    v["coolant_in"] = 10 + 0.6 * v["ambient"] + 0.5 * w["load"]
    v["coolant"] = 50 + 0.5 * v["reactor"] + 3 * w["coolant"]
    v["coolant_out"] = v["coolant_in"] + 12 + 0.3 * (v["reactor"] - 25) + 0.7 * w["heat"]
    v["duty"] = 4.2 * v["coolant"] * (v["coolant_out"] - v["coolant_in"])
    v["feed_temperature"] = 25 + 0.4 * v["ambient"] + 0.5 * w["load"]
    v["temperature"] = 180 + 1.5 * (v["reactor"] - 25) + 2 * w["heat"]
    v["pressure"] = 8 + 0.05 * (v["temperature"] - 180) + 0.1 * w["valve_1"]
    v["power"] = 30 + 0.8 * v["outlet_2"] + 2 * v["pressure"] + 0.3 * w["load"]
    spread = {name: v[name].std() for name in SENSORS} | {n: usual[n] for n in usual}
    values = np.column_stack([v[name] for name in SENSORS])
    return values, np.array([spread[name] for name in SENSORS])


def _tank(inflow: np.ndarray, valve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the level of a tank and its outflow, which follows the level and a valve."""
    level, outflow = np.empty(len(inflow)), np.empty(len(inflow))
    now = 50.0 + (inflow[0] - inflow.mean()) / 0.5
    for i, flow in enumerate(inflow):
        level[i] = now
        outflow[i] = max(inflow.mean() + 0.5 * (now - 50.0) + valve[i], 0.0)
        now += 0.1 * (flow - outflow[i])
    return level, outflow


def _spoil(X: np.ndarray, fault: PlantFault, offset: np.ndarray, random) -> None:
    """Change the sensor of a fault; a leak is in the flows already."""
    rows, place = slice(fault.start, fault.end + 1), SENSORS.index(fault.columns[0])
    n_rows, sign = fault.end - fault.start + 1, random.choice([-1.0, 1.0])
    if fault.kind == "stuck":
        X[rows, place] = X[fault.start, place]
    elif fault.kind == "offset":
        X[rows, place] += sign * offset[place]
    elif fault.kind == "drift":
        X[rows, place] += sign * 3.0 * offset[place] * np.linspace(0.0, 1.0, n_rows)
    elif fault.kind == "unit":
        X[rows, place] *= _UNITS[random.randint(len(_UNITS))]
