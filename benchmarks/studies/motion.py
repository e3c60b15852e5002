"""Conserved quantities: what is found on twelve systems, clean and noisy, and how fast.

A quantity counts as right if it is constant along the runs without noise: its deviation within runs
is at most 2 % of its spread. A fit counts as right if all its quantities are, and as many of them
are independent as the system has. Seconds are the best of several fits on one core.

    python benchmarks/studies/motion.py systems [--noise 0 .01 .05] [--seeds 20] [--first 100]
                                         [--known] [--only Kepler ...]
    python benchmarks/studies/motion.py rows [--rows 1000000]
"""

import argparse
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from vanishing import OAVI, ConservedQuantities

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from moving import CONSERVED, SYSTEMS, simulated

RIGHT = 0.02


def seconds(function, repeats=3):
    """Return the shortest time of several calls, and what the last one returned."""
    best, found = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        found = function()
        best = min(best, time.perf_counter() - start)
    return best, found


def deviation(quantity, X, groups) -> float:
    """Return the deviation of a quantity within runs, relative to its spread."""
    values = quantity(X)
    means = np.bincount(groups, values) / np.bincount(groups)
    return float(np.std(values - means[groups]) / np.std(values))


def judge(name, noise, seed, repeats, known):
    """Fit one table; return (right, quantities, independent, wrong quantities, seconds, model)."""
    system = SYSTEMS[name]
    X, groups = simulated(name, noise, seed=seed)
    clean, _ = simulated(name, seed=seed)
    given = noise * clean.to_numpy().std(axis=0) if known and noise else None
    model = ConservedQuantities(**system.parameters, noise=given)
    taken, model = seconds(partial(model.fit, X, groups=groups), repeats)
    wrong = [q for q in model.quantities_ if deviation(q, clean, groups) > RIGHT]
    right = not wrong and model.n_independent_ == system.n_independent
    return right, len(model.quantities_), model.n_independent_, len(wrong), taken, model


def systems(arguments):
    """Print a line per system and noise."""
    print("| system | conserved | noise | right | claims that are wrong | seconds | found |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.only or SYSTEMS:
        for noise in arguments.noise:
            fits = [
                judge(name, noise, seed, arguments.repeats, arguments.known)
                for seed in range(arguments.first, arguments.first + arguments.seeds)
            ]
            right = sum(fit[0] for fit in fits)
            wrong = sum(bool(fit[3]) or bool(name not in CONSERVED and fit[1]) for fit in fits)
            model = fits[0][-1]
            text = "; ".join(map(str, model.quantities_)) or "nothing"
            print(
                f"| {name} | {SYSTEMS[name].n_independent} | {100 * noise:g} % | "
                f"{right} of {len(fits)} | {wrong} | {max(fit[4] for fit in fits):.2f} | {text} |",
                flush=True,
            )


def rows(arguments):
    """Compare a fit to many rows with OAVI of the same degree: oscillators, wandering points."""
    n_runs, per_run = 1000, arguments.rows // 1000
    groups = np.repeat(np.arange(n_runs), per_run)
    for n_columns, degree in ((2, 3), (2, 4), (4, 3), (6, 3)):
        for noise in (0.0, 0.01, None):
            X = many_rows(n_runs, per_run, n_columns, noise)
            oavi = OAVI(psi=1e-9, oracle="ls", max_degree=degree)
            model = ConservedQuantities(degree)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nothing vanishes
                other, _ = seconds(partial(oavi.fit, X), 5)
            own, _ = seconds(partial(model.fit, X, groups=groups), 5)
            kind = "wandering" if noise is None else f"noise {100 * noise:g} %"
            print(
                f"| {n_columns} | {degree} | {kind} | {len(model.quantities_)} | {own:.2f} | "
                f"{other:.2f} | {own / other:.1f} |",
                flush=True,
            )


def many_rows(n_runs, per_run, n_columns, noise):
    """Return runs of oscillators, with position and speed of each, or of positions alone."""
    random = np.random.default_rng(0)
    time_ = np.linspace(0, 10, per_run)
    phase = random.uniform(0, 2 * np.pi, (n_runs, n_columns, 1))
    size = random.uniform(0.5, 2, (n_runs, n_columns, 1))
    if noise is not None:  # columns in pairs
        phase[:, 1::2] = phase[:, ::2] + np.pi / 2
        size[:, 1::2] = size[:, ::2]
    pair = np.arange(n_columns) if noise is None else np.arange(n_columns) // 2
    speed = np.sqrt(1.0 + pair)[:, None]
    X = (size * np.cos(speed * time_ + phase)).transpose(0, 2, 1).reshape(-1, n_columns)
    return X + (noise or 0.0) * random.normal(size=X.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("systems", "rows"))
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01, 0.05])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(SYSTEMS))
    parser.add_argument("--known", action="store_true", help="tell the estimator the noise")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    {"systems": systems, "rows": rows}[arguments.what](arguments)


if __name__ == "__main__":
    main()
