"""PCG and BPCG as the authors published them, a wrong slice included: does it explain the records?

Where a step drops the last vertex of the active set, the published code drops its weight, but of
the vertices it keeps that one and drops all others. Weights and vertices no longer belong together,
and it stops short of psi (rarely, iterates leave the ball), so that O has more terms. Of vertices
with the same inner product the first is taken that was found, and which have the same is decided by
rounding. So the same run is made many times, rounded anew, with the slice and without:

    python tests/published.py htru pcgavi gb --runs 1-10 --roundings 30

It prints how often the recorded |G| and |O| come out. BPCG is asked for coefficients only where the
closed form vanishes, as in the runs on record, and has the tolerances of the sequel's code.
"""

import argparse
import csv
import sys
import warnings
from collections import Counter

import numpy as np
from numba import njit

from vanishing import OAVI, datasets
from vanishing.experiments.published_runs import published_runs
from vanishing.experiments.replay import published_split, scaled

SEQUEL = {"eps": 1e-2, "tol": 1e-4}  # the tolerances of BPCG there


@njit(cache=True)
def without(weights, vertices, away, slice_is_wrong):
    """Return weights and vertices after a drop."""
    if slice_is_wrong and 0 < away == weights.size - 1:
        return weights[:-1], vertices[-1:]
    return (
        np.concatenate((weights[:away], weights[away + 1 :])),
        np.concatenate((vertices[:away], vertices[away + 1 :])),
    )


@njit(cache=True)
def with_weight(weights, vertices, vertex, step):
    """Return weights and vertices after a step towards a vertex, which may be a new one."""
    for i in range(vertices.size):
        if vertices[i] == vertex:
            weights[i] += step
            return weights, vertices
    return np.append(weights, step), np.append(vertices, vertex)


@njit(cache=True)
def solve(gram, cross, norm, psi, radius, blended, slice_is_wrong, eps, tol, max_iter):
    """Return coefficients and f(v) = v'Gv + 2c'v + d.

    Vertices are numbers: i + 1 for radius e_i, -i - 1 for -radius e_i.
    """
    v = np.zeros(cross.size)
    v[0] = radius
    weights, vertices = np.ones(1), np.ones(1, dtype=np.int64)
    before, step = np.inf, 1.0
    for _ in range(max_iter):
        image = gram @ v
        value = norm + v @ (image + 2.0 * cross)
        gradient = 2.0 * (image + cross)
        place = np.argmax(np.abs(gradient))
        toward = -place - 1 if gradient[place] > 0.0 else place + 1
        gap = gradient @ v + radius * np.abs(gradient[place])
        if gap < eps * psi or step <= 0.0 or value + tol * psi > before:
            break
        if value < psi or value - gap > psi:
            break
        before = value

        slopes = np.sign(vertices) * gradient[np.abs(vertices) - 1]
        away, local = np.argmax(slopes), np.argmin(slopes)
        whole = blended and gap > radius * (slopes[away] - slopes[local])
        target = vertices[local] if blended and not whole else toward
        direction = np.zeros(cross.size)
        direction[abs(target) - 1] += np.sign(target) * radius
        if whole:
            direction -= v
        else:
            direction[abs(vertices[away]) - 1] -= np.sign(vertices[away]) * radius
        limit = 1.0 if whole else weights[away]
        curvature = 2.0 * (direction @ (gram @ direction))
        step = min(-(gradient @ direction) / curvature, limit) if curvature > 0.0 else 0.0
        v = v + step * direction

        if whole:
            weights = (1.0 - step) * weights
            weights, vertices = with_weight(weights, vertices, target, step)
            if step == 1.0:
                weights, vertices = np.ones(1), np.array([target])
            continue
        if blended:
            weights[local] += step
        if step == limit:
            weights, vertices = without(weights, vertices, away, slice_is_wrong)
        else:
            weights[away] -= step
        if not blended:
            weights, vertices = with_weight(weights, vertices, target, step)
    return v, norm + v @ (gram @ v + 2.0 * cross)


def oracle(*, blended=False, slice_is_wrong=True, eps=1e-3, tol=1e-6, max_iter=10_000):
    """Return the solver as an oracle of `OAVI`; eps and tol are relative to psi."""

    def published(gram, cross, norm, *, psi, radius):
        return solve(gram, cross, norm, psi, radius, blended, slice_is_wrong, eps, tol, max_iter)

    return published


def model_of(run, slice_is_wrong=True, **tolerances) -> OAVI:
    """Return the construction of a run; BPCG is asked where the closed form vanishes."""
    blended = run.algorithm.startswith("bpcg")
    tolerances = tolerances or (SEQUEL if blended else {})
    solver = oracle(blended=blended, slice_is_wrong=slice_is_wrong, **tolerances)
    return OAVI(run.psi, oracle=solver, border=run.border or "gb", certify=blended, refit=False)


def sizes(run, X, y, slice_is_wrong, n_roundings) -> Counter:
    """Count the |G| and |O| of a run, each value of whose rows is off by a rounding error."""
    train, test = published_split(len(X), run)
    rows, labels = scaled(X, train, test)[0], y[train]
    model = model_of(run, slice_is_wrong)
    found: Counter = Counter()
    for seed in range(n_roundings):
        errors = np.random.default_rng(seed).normal(size=rows.shape)
        rounded = rows * (1.0 + np.finfo(float).eps * errors)
        total = np.zeros(2, dtype=int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for label in np.unique(labels):
                model.fit(rounded[labels == label])
                total += model.n_generators_, model.n_terms_
        found[tuple(total.tolist())] += 1
    return found


def recorded(run) -> tuple[int, int]:
    """Return |G| and |O| on record."""
    return run.figures["n_generators"], run.figures["n_terms"]


def main() -> None:
    """Print one line per run: how often its sizes come out, and which do otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset")
    parser.add_argument("algorithm", choices=["pcgavi", "bpcgavi-wihb"])
    parser.add_argument("border", nargs="?", choices=["gb", "bb"])
    parser.add_argument("--runs", default="1-10", help="first and last run, such as 1-10")
    parser.add_argument("--roundings", type=int, default=30)
    parser.add_argument("--below", type=float, default=1.0, help="only runs with a smaller psi")
    asked = parser.parse_args()
    first, last = (int(number) for number in asked.runs.split("-"))
    X, y = datasets.load(asked.dataset, return_X_y=True)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    borders = None if asked.border is None else [asked.border]
    table = None
    for run in published_runs(None, [asked.dataset], [asked.algorithm], borders, last):
        if run.run < first or run.psi >= asked.below:
            continue
        right, wrong = (sizes(run, X, y, wrong, asked.roundings) for wrong in (False, True))
        known, usual = recorded(run), right.most_common(1)[0][0]
        line = {
            "dataset": run.dataset,
            "algorithm": run.name,
            "run": run.run,
            "psi": run.psi,
            "recorded |G|": known[0],
            "recorded |O|": known[1],
            "roundings": asked.roundings,
            "recorded sizes without the slice": right[known],
            "usual |G| without": usual[0],
            "usual |O| without": usual[1],
            "recorded sizes with the slice": wrong[known],
            "least |G| with": min(wrong)[0],
            "largest |G| with": max(wrong)[0],
        }
        if table is None:
            table = csv.DictWriter(sys.stdout, line, lineterminator="\n")
            table.writeheader()
        table.writerow(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
