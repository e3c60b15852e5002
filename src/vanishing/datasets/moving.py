"""Runs of systems whose equations of motion are known."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from sklearn.utils import check_random_state

from vanishing._types import FloatArray, IntArray, RandomState, Table
from vanishing.algebra.expressions import Node
from vanishing.checks import check_choice, check_number
from vanishing.motion.given_parts import read_expression
from vanishing.motion.tape import tape_of, values_of


class MotionSystem(NamedTuple):
    """A system of differential equations.

    Attributes
    ----------
    columns : tuple of str
    equations : tuple of str
        The derivative of each column.
    low, high : tuples of float
        Between which starts are drawn.
    t_end : float
    about : str
    """

    columns: tuple[str, ...]
    equations: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    t_end: float
    about: str


def _system(columns, equations, low, high, t_end, about) -> MotionSystem:
    return MotionSystem(
        tuple(columns.split()), tuple(equations), tuple(low), tuple(high), float(t_end), about
    )


SYSTEMS = {
    "decay": _system("x", ["-0.7*x"], [1], [5], 5, "radioactive decay"),
    "logistic": _system("x", ["0.8*x - 0.1*x^2"], [0.3], [4], 10, "growth up to a capacity"),
    "gompertz": _system("x", ["0.9*x - 0.4*x*log(x)"], [0.2], [2], 8, "growth of a tumour"),
    "enzyme": _system("s", ["-1.5*s/(0.6 + s)"], [2], [5], 5, "Michaelis and Menten"),
    "harvest": _system("x", ["0.6*x - 0.05*x^2 - 1.1*x^2/(x^2 + 1.4)"], [1], [12], 12, "budworms"),
    "fall": _system("v", ["9.81 - 0.06*v*abs(v)"], [-8], [3], 5, "fall with drag"),
    "oscillator": _system("x v", ["v", "-4*x - 0.3*v"], [-2, -2], [2, 2], 8, "a damped spring"),
    "pendulum": _system(
        "angle speed", ["speed", "-6*sin(angle) - 0.2*speed"], [-2.5, -2], [2.5, 2], 8, "a pendulum"
    ),
    "duffing": _system(
        "x v", ["v", "x - x^3 - 0.2*v"], [-1.8, -1], [1.8, 1], 12, "a spring with two rests"
    ),
    "van der pol": _system(
        "x v", ["v", "-x + 1.2*v - 1.2*x^2*v"], [-2, -2], [2, 2], 12, "a limit cycle"
    ),
    "predator prey": _system(
        "prey hunter",
        ["1.1*prey - 0.4*prey*hunter", "0.1*prey*hunter - 0.4*hunter"],
        [6, 2],
        [12, 6],
        20,
        "Lotka and Volterra",
    ),
    "sated hunter": _system(
        "prey hunter",
        [
            "prey - 0.15*prey^2 - 1.2*prey*hunter/(1 + prey)",
            "0.7*prey*hunter/(1 + prey) - 0.3*hunter",
        ],
        [1, 0.5],
        [5, 2],
        30,
        "Rosenzweig and MacArthur",
    ),
    "epidemic": _system(
        "s i r",
        ["-0.9*s*i", "0.9*s*i - 0.3*i", "0.3*i"],
        [0.85, 0.01, 0.0],
        [0.98, 0.05, 0.1],
        25,
        "susceptible, infected, recovered",
    ),
    "chemostat": _system(
        "cells food",
        [
            "0.9*cells*food/(0.5 + food) - 0.3*cells",
            "1.2 - 0.3*food - 1.8*cells*food/(0.5 + food)",
        ],
        [0.1, 0.5],
        [1, 4],
        20,
        "Monod",
    ),
    "switch": _system(
        "a b",
        ["2.5/(1 + b^2) - a", "2.5/(1 + a^2) - b"],
        [0, 0],
        [3, 3],
        8,
        "two genes that repress each other",
    ),
    "brusselator": _system(
        "x y", ["1 + x^2*y - 3.5*x", "2.5*x - x^2*y"], [0.3, 1], [2, 3], 15, "a chemical clock"
    ),
    "nerve": _system(
        "v w",
        ["v - 0.3333333333333333*v^3 - w + 0.5", "0.08*v + 0.056 - 0.064*w"],
        [-2, -1],
        [2, 1.5],
        60,
        "FitzHugh and Nagumo",
    ),
    "glycolysis": _system(
        "x y", ["0.08*y + x^2*y - x", "0.6 - 0.08*y - x^2*y"], [0.3, 0.5], [1.5, 2], 25, "Selkov"
    ),
    "reactions": _system(
        "a b c", ["-0.5*a", "0.5*a - 0.2*b", "0.2*b"], [1, 0, 0], [3, 1, 1], 12, "a to b to c"
    ),
    "lorenz": _system(
        "x y z",
        ["10*y - 10*x", "28*x - y - x*z", "x*y - 2.6666666666666665*z"],
        [-10, -10, 15],
        [10, 10, 35],
        8,
        "chaos",
    ),
    "rossler": _system(
        "x y z",
        ["-y - z", "x + 0.2*y", "0.2 + x*z - 5.7*z"],
        [-5, -5, 0],
        [5, 5, 1],
        30,
        "chaos",
    ),
    "robertson": _system(
        "a b c",
        ["-0.04*a + 1e4*b*c", "0.04*a - 1e4*b*c - 3e7*b^2", "3e7*b^2"],
        [0.9, 0, 0],
        [1, 0, 0.1],
        40,
        "a stiff reaction",
    ),
}


def make_motion(
    name: str,
    n_runs: int = 1,
    n_samples: int = 200,
    *,
    noise: float = 0.0,
    starts: Table | None = None,
    t_end: float | None = None,
    irregular: bool = False,
    random_state: RandomState = None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Simulate runs of a system whose equations of motion are known.

    Parameters
    ----------
    name : str
        A key of ``vanishing.datasets.motion_systems()``, such as "predator prey" or "lorenz".
    n_runs : int, default=1
        Number of runs, each from a start of its own.
    n_samples : int, default=200
        Rows of each run.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every cell, relative to that of its column.
    starts : array-like of shape (n_runs, n_columns), default=None
        Where runs start; by default they are drawn.
    t_end : float, default=None
        Time at which runs end; by default one that suits the system.
    irregular : bool, default=False
        Whether times are drawn, and not at equal steps.
    random_state : int, RandomState instance or None, default=None
        Determines starts, times and noise; pass an int for the same in every call.

    Returns
    -------
    X : ndarray of shape (n_runs * n_samples, n_columns)
    t : ndarray of shape (n_runs * n_samples,)
        Times.
    groups : ndarray of int of shape (n_runs * n_samples,)
        Which run each row belongs to.

    See Also
    --------
    motion_systems : The systems, with their equations.
    vanishing.EquationsOfMotion : Finds the equations.

    Examples
    --------
    >>> from vanishing.datasets import make_motion
    >>> X, t, groups = make_motion("decay", 2, 3, starts=[[1.0], [2.0]])
    >>> X.round(3).ravel()
    array([1.   , 0.174, 0.03 , 2.   , 0.348, 0.06 ])
    """
    check_choice("name", name, SYSTEMS)
    check_number("n_runs", n_runs, low=1, integer=True)
    check_number("n_samples", n_samples, low=2, integer=True)
    check_number("noise", noise, low=0)
    system = SYSTEMS[name]
    end = system.t_end if t_end is None else t_end
    check_number("t_end", end, low=0, low_open=True)
    random = check_random_state(random_state)
    if starts is None:
        begin = random.uniform(system.low, system.high, size=(n_runs, len(system.columns)))
    else:
        begin = np.asarray(starts, dtype=np.float64)
        if begin.shape != (n_runs, len(system.columns)):
            raise ValueError(
                f"starts must have shape {(n_runs, len(system.columns))}; got {begin.shape}."
            )
    t = np.tile(np.linspace(0.0, end, n_samples), (n_runs, 1))
    if irregular:
        t[:, 1:-1] = np.sort(random.uniform(0.0, end, size=(n_runs, n_samples - 2)), axis=1)
    X = np.vstack([solved(system, x0, times) for x0, times in zip(begin, t, strict=True)])
    if noise:
        X = X + noise * X.std(axis=0) * random.normal(size=X.shape)
    return X, t.ravel(), np.repeat(np.arange(n_runs), n_samples)


def motion_systems() -> dict[str, MotionSystem]:
    """Return the systems that `make_motion` knows, by their names.

    Returns
    -------
    systems : dict from str to MotionSystem
        With ``columns``, ``equations``, ``low`` and ``high`` (of starts), ``t_end`` and ``about``.

    See Also
    --------
    make_motion : Simulates runs of a system.

    Examples
    --------
    >>> from vanishing.datasets import motion_systems
    >>> motion_systems()["pendulum"].equations
    ('speed', '-6*sin(angle) - 0.2*speed')
    """
    return dict(SYSTEMS)


def solved(system: MotionSystem, start: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the states of a system at some times, the first of which is that of the start."""
    nodes: Sequence[Node] = [read_expression(text, system.columns) for text in system.equations]
    tape = tape_of(nodes)
    room, result = np.empty(len(tape.codes)), np.empty(len(nodes))

    def slopes(_, x):
        values_of(tape, x, room, result)
        return result.copy()

    found = solve_ivp(slopes, (t[0], t[-1]), start, t_eval=t, method="LSODA", rtol=1e-9, atol=1e-11)
    if not found.success:
        raise ValueError(f"the system could not be integrated: {found.message}")
    return found.y.T
