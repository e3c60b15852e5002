"""Motion: conserved quantities of twelve systems, and equations of motion.

Conserved quantities: what is found on twelve systems, clean and noisy, and how fast.

A quantity counts as right if it is constant along the runs without noise: its deviation within runs
is at most 2 % of its spread. A fit counts as right if all its quantities are, and as many of them
are independent as the system has. Seconds are the best of several fits on one core.

    python benchmarks/studies/motion.py [--noise 0 .01 .05] [--seeds 20] [--first 100]
        [--known] [--only Kepler ...]
    python benchmarks/studies/motion.py equations --help

Equations of motion: see `motion_equations` and `motion_measures`.
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from vanishing import ConservedQuantities

sys.path.append(str(Path(__file__).parents[2] / "tests"))
sys.path.append(str(Path(__file__).parent))
import motion_equations
import motion_measures
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01, 0.05])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(SYSTEMS))
    parser.add_argument("--known", action="store_true", help="tell the estimator the noise")
    systems(parser.parse_args())


def equations_main(words):
    parser = argparse.ArgumentParser(description=motion_equations.__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, help="a CSV of systems with two starts each")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01, 0.03, 0.05])
    parser.add_argument("--half", action="store_true", help="half of the rows, drawn")
    parser.add_argument("--directions", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--first", type=int, default=0, help="the seed, or the first of paths")
    parser.add_argument("--only", nargs="+", help="systems of the table")
    parser.add_argument("--own", action="store_true", help="ten systems kept apart")
    parser.add_argument("--paths", type=int, default=0, help="so many paths that obey nothing")
    parser.add_argument("--oscillators", action="store_true", help="order 2 from positions")
    parser.add_argument("--pysindy", action="store_true", help="beside PySINDy")
    parser.add_argument("--scale", action="store_true", help="a million rows in a thousand runs")
    parser.add_argument("--pooled", action="store_true", help="standard errors of 1 to 16 runs")
    parser.add_argument("--inputs", action="store_true", help="inputs that act and were measured")
    parser.add_argument("--verbose", action="store_true", help="one line per fit")
    arguments = parser.parse_args(words)
    for name in ("scale", "pooled", "inputs"):
        if getattr(arguments, name):
            getattr(motion_measures, name)()
    motion_equations.equations(arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["equations"]:
        equations_main(sys.argv[2:])
    else:
        main()
