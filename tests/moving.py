"""Simulated motions, with what is conserved along them: for tests and benchmarks."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp


class System(NamedTuple):
    """A system that moves, and what is to be found of it.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    velocity : callable
        ``velocity(t, state)``.
    start : callable
        ``start(random)`` returns where a run begins.
    time : float
        How long a run lasts.
    n_independent : int
        How many independent quantities are conserved.
    quantities : tuple of callables
        Of the columns (a row each): all that is conserved is a function of these.
    parameters : dict
        Of `ConservedQuantities`.
    columns : callable
        ``columns(states)``: what is measured, from an array of shape (n_states, n_rows).
    """

    names: tuple[str, ...]
    velocity: Callable
    start: Callable
    time: float
    n_independent: int
    quantities: tuple[Callable, ...]
    parameters: dict
    columns: Callable = lambda states: states


def _uniform(low, high):
    return lambda random: random.uniform(low, high)


def _kepler_start(random):
    """Start at the nearest point of an ellipse, turned by some angle."""
    size, eccentricity = random.uniform([0.7, 0.1], [1.5, 0.6])
    near = size * (1 - eccentricity)
    fast = np.sqrt((1 + eccentricity) / near)
    turn = random.uniform(0, 2 * np.pi)
    c, s = np.cos(turn), np.sin(turn)
    return [near * c, near * s, -fast * s, fast * c]


def _kepler_velocity(t, s):
    r = np.hypot(s[0], s[1])
    return [s[2], s[3], -s[0] / r**3, -s[1] / r**3]


def _kepler_columns(s):
    r = np.hypot(s[0], s[1])
    return np.array([*s, s[0] / r, s[1] / r, 1 / r])


def _double_pendulum_velocity(t, s, g=9.81):
    """Two rods of 1 m without weight, two bobs of 1 kg."""
    a, b, u, v = s
    c, d = np.cos(a - b), np.sin(a - b)
    down = 2 - c**2
    first = (-(u**2) * d * c + g * np.sin(b) * c - v**2 * d - 2 * g * np.sin(a)) / down
    second = (v**2 * d * c + 2 * (g * np.sin(a) * c + u**2 * d - g * np.sin(b))) / down
    return [u, v, first, second]


def _double_pendulum_energy(a, b, u, v, g=9.81):
    moving = u**2 + v**2 / 2 + u * v * np.cos(a - b)
    return moving - g * (2 * np.cos(a) + np.cos(b))


CONSERVED = {
    "oscillator": System(
        ("x", "v"),
        lambda t, s: [s[1], -4 * s[0]],
        _uniform([-2, -2], [2, 2]),
        10,
        1,
        (lambda x, v: v**2 + 4 * x**2,),
        {},
    ),
    "Duffing": System(
        ("x", "v"),
        lambda t, s: [s[1], s[0] - s[0] ** 3],
        _uniform([-2, -1], [2, 1]),
        10,
        1,
        (lambda x, v: v**2 - x**2 + x**4 / 2,),
        {"max_degree": 4},
    ),
    "pendulum": System(
        ("theta", "omega"),
        lambda t, s: [s[1], -9.81 * np.sin(s[0])],
        _uniform([-2.5, -2], [2.5, 2]),
        5,
        1,
        (lambda theta, omega: omega**2 - 2 * 9.81 * np.cos(theta),),
        {"functions": {"theta": ("sin", "cos")}},
    ),
    "Lotka-Volterra": System(
        ("x", "y"),
        lambda t, s: [s[0] * (1 - s[1]), s[1] * (s[0] - 1)],
        _uniform([0.4, 0.4], [2, 2]),
        10,
        1,
        (lambda x, y: x - np.log(x) + y - np.log(y),),
        {"functions": ("log",)},
    ),
    "rigid body": System(
        ("a", "b", "c"),
        lambda t, s: [-s[1] * s[2] / 1.0, 2 * s[0] * s[2] / 2.0, -s[0] * s[1] / 3.0],
        _uniform([-2, -2, -2], [2, 2, 2]),
        10,
        2,
        (
            lambda a, b, c: a**2 + 2 * b**2 + 3 * c**2,
            lambda a, b, c: a**2 + 4 * b**2 + 9 * c**2,
        ),
        {},
    ),
    "Kepler": System(
        ("x", "y", "vx", "vy", "ex", "ey", "w"),
        _kepler_velocity,
        _kepler_start,
        12,
        3,
        (
            lambda x, y, vx, vy, ex, ey, w: vx**2 + vy**2 - 2 * w,
            lambda x, y, vx, vy, ex, ey, w: x * vy - y * vx,
            lambda x, y, vx, vy, ex, ey, w: vy * (x * vy - y * vx) - ex,
            lambda x, y, vx, vy, ex, ey, w: -vx * (x * vy - y * vx) - ey,
        ),
        {},
        _kepler_columns,
    ),
    "coupled oscillators": System(
        ("x", "y", "vx", "vy"),
        lambda t, s: [s[2], s[3], -s[0] - 0.7 * (s[0] - s[1]), -s[1] - 0.7 * (s[1] - s[0])],
        _uniform([-1] * 4, [1] * 4),
        15,
        2,
        (
            lambda x, y, vx, vy: (vx + vy) ** 2 + (x + y) ** 2,
            lambda x, y, vx, vy: (vx - vy) ** 2 + 2.4 * (x - y) ** 2,
        ),
        {},
    ),
    "double pendulum": System(
        ("a", "b", "u", "v"),
        _double_pendulum_velocity,
        _uniform([-2, -2, -2, -2], [2, 2, 2, 2]),
        5,
        1,
        (_double_pendulum_energy,),
        {"max_degree": 4, "functions": {"a": ("sin", "cos"), "b": ("sin", "cos")}},
    ),
}
NOT_CONSERVED = {
    "damped oscillator": System(
        ("x", "v"),
        lambda t, s: [s[1], -s[0] - 0.2 * s[1]],
        _uniform([-2, -2], [2, 2]),
        10,
        0,
        (),
        {},
    ),
    "van der Pol": System(
        ("x", "v"),
        lambda t, s: [s[1], (1 - s[0] ** 2) * s[1] - s[0]],
        _uniform([-3, -3], [3, 3]),
        10,
        0,
        (),
        {},
    ),
    "Lorenz": System(
        ("x", "y", "z"),
        lambda t, s: [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]],
        _uniform([-15, -15, 10], [15, 15, 40]),
        10,
        0,
        (),
        {},
    ),
    "Roessler": System(
        ("x", "y", "z"),
        lambda t, s: [-s[1] - s[2], s[0] + 0.2 * s[1], 0.2 + s[2] * (s[0] - 5.7)],
        _uniform([-8, -8, 0], [8, 8, 1]),
        20,
        0,
        (),
        {},
    ),
}
SYSTEMS = CONSERVED | NOT_CONSERVED


@cache
def _runs(name, n_runs, n_rows, seed):
    system, random = SYSTEMS[name], np.random.default_rng(seed)
    runs = []
    for _ in range(n_runs):
        times = np.sort(random.uniform(0, system.time, n_rows))
        motion = solve_ivp(
            system.velocity,
            (0, system.time),
            system.start(random),
            t_eval=times,
            method="DOP853",
            rtol=1e-10,
            atol=1e-10,
        )
        runs.append(system.columns(motion.y).T)
    return np.vstack(runs), np.repeat(np.arange(n_runs), n_rows)


def simulated(name, noise=0.0, *, n_runs=40, n_rows=80, seed=0):
    """Return the rows of a system's runs, and which run each belongs to.

    Noise is in units of each column's spread.
    """
    X, groups = _runs(name, n_runs, n_rows, seed)
    random = np.random.default_rng([seed, 1])
    X = X + noise * X.std(axis=0) * random.normal(size=X.shape)
    return pd.DataFrame(X, columns=SYSTEMS[name].names), groups
