"""Equations of motion, measured: many rows, runs that are pooled, and inputs.

Of a million rows in a thousand runs: seconds, and the memory that a fit adds. Of 1 to 16 runs: the
standard error of a coefficient times the root of their number, which should stay the same. Of a
driven oscillator and a fed-batch reactor whose inputs were measured: the equations.
"""

import resource
import time

import numpy as np
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion

NOISE = 0.02


def scale(n_runs: int = 1000, n_rows: int = 1000) -> None:
    """Print seconds and memory of a fit to many runs."""
    X, t, groups = make_motion("predator prey", n_runs, n_rows, noise=NOISE, random_state=0)
    EquationsOfMotion().fit(X[: 2 * n_rows], t[: 2 * n_rows], groups[: 2 * n_rows])  # compiled
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    model = EquationsOfMotion().fit(X, t, groups)
    seconds = time.perf_counter() - begun
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{len(X)} rows in {n_runs} runs: {seconds:.1f} s, {more / 1024:.0f} MiB more memory")
    print(f"{X.nbytes / 2**20:.0f} MiB of rows; {model.verdict_}", *model.equations_, sep="\n")


def pooled(counts=(1, 2, 4, 8, 16)) -> None:
    """Print standard errors of pooled runs from one start, times the root of their number."""
    print("| runs | mean standard error * sqrt(runs), relative to one run |\n| --- | --- |")
    first = None
    for n in counts:
        starts = [[10.0, 5.0]] * n
        X, t, groups = make_motion(
            "predator prey", n, 100, noise=NOISE, starts=starts, random_state=1
        )
        model = EquationsOfMotion(functions=()).fit(X, t, groups)
        size = np.concatenate([e.coef_std / np.abs(e.coef) for e in model.equations_])
        now = float(np.mean(size)) * np.sqrt(n)
        first = now if first is None else first
        print(f"| {n} | {now / first:.2f} |", flush=True)


def _driven_oscillator(t, u):
    return lambda s, x: [x[1], -3.0 * x[0] - 0.4 * x[1] + 2.0 * np.interp(s, t, u)]


def _fed_batch(t, u):
    """Biomass and substrate with Monod's growth, diluted by the feed (a dilution rate)."""

    def slopes(s, x):
        growth, dilution = 0.9 * x[0] * x[1] / (0.4 + x[1]), np.interp(s, t, u)
        return [growth - dilution * x[0], 3.0 * dilution - dilution * x[1] - 2.0 * growth]

    return slopes


def inputs() -> None:
    """Print what is found where inputs act."""
    t = np.linspace(0.0, 15.0, 300)
    waves = np.sin(1.7 * t) + 0.5 * np.cos(0.6 * t)
    feed = 0.3 + 0.25 * np.sin(0.8 * t)
    cases = [
        ("driven oscillator", _driven_oscillator, waves, ([1.0, 0.0], [-2.0, 1.0], [0.0, 2.0])),
        ("fed-batch reactor", _fed_batch, feed, ([0.3, 2.0], [1.0, 0.5], [0.6, 3.0])),
    ]
    for name, make, u, starts in cases:
        for noise in (0.0, NOISE):
            random = np.random.default_rng(2)
            runs = []
            for start in starts:
                path = solve_ivp(
                    make(t, u), (0, 15), start, t_eval=t, max_step=0.05, rtol=1e-9, atol=1e-11
                ).y.T
                runs.append(path + noise * path.std(axis=0) * random.normal(size=path.shape))
            model = EquationsOfMotion().fit(
                np.vstack(runs),
                np.tile(t, len(runs)),
                np.repeat(np.arange(len(runs)), len(t)),
                inputs=np.tile(u, len(runs)),
            )
            print(f"{name}, noise {noise:g}: {model.verdict_}", *model.equations_, sep="\n    ")
