"""Honesty: how often what is claimed of a table is not so, on tables made for this question.

    python benchmarks/studies/honesty.py [CONDITION ...] [--list] [--tables 100] [--first 0]
        [--rows 30 100 300 2000] [--noise 0 rms1 rms10 relative1 relative10]
        [--seed 0] [--apart] [--jobs 1] [--out FILE.csv]
    python benchmarks/studies/honesty.py coverage [--tables 2000] [--rows 30 100 300]

A CONDITION is the beginning of a name that ``--list`` prints. The same seed makes the same tables;
``--apart`` takes formulas and seeds that are kept apart while the search is being changed. Ctrl-C
prints what there is. `honesty_judge` says exactly what counts as found, as an approximation, as
close, and as wrong. ``coverage`` asks how often the constants of `check_law` are within two
standard errors of the truth.
"""

import argparse
import csv
import os
import time
import warnings
from functools import partial
from typing import NamedTuple

import honesty_tables as tables
import numpy as np
import pandas as pd
from honesty_judge import table_outcome
from joblib import Parallel, delayed
from law_fits import fitted
from laws import in_groups, print_table, shortened
from threadpoolctl import threadpool_limits

from vanishing import VanishingOutlierDetector, check_law

ROWS = (30, 100, 300, 2_000)
NOISES = {
    "0": ("rms", 0.0),
    "rms1": ("rms", 0.01),
    "rms10": ("rms", 0.1),
    "relative1": ("relative", 0.01),
    "relative10": ("relative", 0.1),
}
OUTCOMES = ("found", "approximation", "close", "unsaid", "wrong", "none", "failed")


class Condition(NamedTuple):
    """A kind of table, its rows and its noise."""

    make: object  # (index, n_samples, noise, seed, apart) -> Table
    rows: int
    noise: str = "0"
    detector: bool = False


class Record(NamedTuple):
    """What came of one table."""

    group: str
    index: int
    name: str
    truth: str
    outcome: str
    whole: float
    bulk: float
    seconds: float
    evidence: float
    law: str
    verdict: str
    warning: str


def conditions():
    """Return all conditions by name."""
    narrow = partial(tables.mixed, kinds=("narrow", "uniform"))
    heavy = partial(tables.mixed, kinds=("log-normal", "student"))
    far = partial(tables.with_idle, far=True)
    kinds = {
        "mixed": (tables.mixed, *((rows, noise) for rows in ROWS for noise in NOISES)),
        "signed": (tables.signed, (30, "0"), (100, "0"), (100, "relative1"), (300, "rms1")),
        "narrow": (narrow, (30, "0"), (30, "relative10"), (100, "relative1"), (300, "rms1")),
        "heavy": (heavy, (30, "0"), (100, "0"), (100, "relative10"), (300, "rms1")),
        "idle columns": (tables.with_idle, (30, "0"), (100, "rms1"), (300, "relative10")),
        "far column": (far, (30, "0"), (100, "rms1"), (300, "0")),
    }
    for centre in (0.0, 1e2, 1e4, 1e6, 1e8):
        planted = partial(tables.shifted, centre=centre)
        kinds[f"shifted by {centre:g}"] = (planted, (100, "0"), (300, "rms1"))
        shape = partial(tables.shape, centre=centre)
        kinds[f"shape shifted by {centre:g}"] = (shape, (300, "0"))
    kinds["shape and times"] = (partial(tables.shape, times=True), (300, "0"))
    for kind in ("far", "walks", "any"):
        unrelated = partial(tables.unrelated, kind=kind)
        kinds[f"unrelated ({kind})"] = (unrelated, (30, "0"), (100, "0"), (1_000, "0"))
        unrelated = partial(unrelated, target=False)
        kinds[f"unrelated ({kind}), no target"] = (unrelated, (100, "0"), (1_000, "0"))
    detected = partial(tables.unrelated, kind="far", target=False)
    kinds["unrelated (far), detector"] = (detected, (1_000, "0"))
    kinds["smooth"] = (tables.smooth, (30, "0"), (100, "rms1"), (300, "relative10"))
    kinds["smooth"] += ((2_000, "0"), (2_000, "rms1"))
    kinds["mixture"] = (tables.mixture, (100, "0"), (1_000, "rms1"))
    return {
        f"{name}, {rows} rows, noise {noise}": Condition(make, rows, noise, "detector" in name)
        for name, (make, *cases) in kinds.items()
        for rows, noise in cases
    }


# ------------------------------------------------------------------------------------- one table


def one_table(group, condition, index, seed, apart):
    """Fit a table and judge what is claimed."""
    table = condition.make(index, condition.rows, NOISES[condition.noise], seed, apart)
    start, evidence = time.perf_counter(), np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if condition.detector:
                with threadpool_limits(1):
                    laws, verdict = VanishingOutlierDetector().fit(table.X).laws_, ""
                seconds = time.perf_counter() - start
            else:
                finder, seconds = fitted(table.X, table.y, table.names, "y")
                laws, verdict = finder.laws_, finder.verdict_
        except Exception as problem:  # an error is an answer, too
            laws, verdict = None, f"{type(problem).__name__}: {problem}"
            seconds = time.perf_counter() - start
    outcome, errors = "failed", (np.nan, np.nan)
    if laws is not None:
        outcome, errors = table_outcome(laws, table)
        evidence = float(laws[0].evidence) if laws else np.nan
    kinds = sorted({one.category.__name__ for one in caught})
    return Record(
        group,
        index,
        table.name,
        table.truth,
        outcome,
        *map(float, errors),
        seconds,
        evidence,
        "; ".join(map(str, laws or ())),
        verdict,
        " ".join(kinds),
    )


# ------------------------------------------------------------------------------------- many tables


def run(tasks, jobs, out=None):
    """Return the records of tasks; print and write each as it comes, and end early on Ctrl-C."""
    records = []
    with open(out or os.devnull, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Record._fields)
        try:
            parallel = Parallel(n_jobs=jobs, return_as="generator")
            for one in parallel(delayed(one_table)(*task) for task in tasks):
                records.append(one)
                print(
                    f"[{len(records)}/{len(tasks)}] {one.group}, {one.name}: {one.outcome}, "
                    f"{one.seconds:.2f} s {shortened(one.law or one.verdict, 80)}",
                    flush=True,
                )
                writer.writerow(one)
                file.flush()
        except KeyboardInterrupt:
            print("\ninterrupted")
    return records


def print_wrong(records):
    """Print every claim that is wrong, or right within the noise and does not say so."""
    for one in records:
        if one.outcome in ("unsaid", "wrong", "failed"):
            print(
                f"- {one.group} #{one.index}, {one.name}: {shortened(one.truth, 150)}\n"
                f"    {one.outcome}, off by {one.whole:.2g} in the whole and {one.bulk:.2g} in the "
                f"bulk, evidence {one.evidence:.3g}: {shortened(one.law, 150)}\n"
                f"    {shortened(one.verdict[-200:], 200)}"
            )


def print_rates(records):
    """Print the rates of each condition, in percent."""
    lines = []
    for group, members in in_groups(records).items():
        outcomes = [one.outcome for one in members]
        rates = [f"{100 * outcomes.count(kind) / len(members):.0f}" for kind in OUTCOMES]
        seconds = [one.seconds for one in members]
        warned = sum("RuntimeWarning" in one.warning for one in members)
        lines.append([group, len(members), *rates, f"{np.mean(seconds):.2f}", warned])
    print()
    print_table(["%", "tables", *OUTCOMES, "s per table", "RuntimeWarnings"], lines)


# --------------------------------------------------------------------------------------- coverage

# Equation, its constants, and whether its columns are uniform or log-uniform in which ranges.
CHECKED = [
    ("y = k*x0*x1/x2", {"k": 8.314}, "log", [(1, 100), (1, 100), (250, 400)]),
    ("y = a + b*x0 + c*x0^2", {"a": 1.0, "b": -2.0, "c": 0.5}, "uniform", [(0, 10)]),
    ("y = V*x0/(K + x0)", {"V": 3.0, "K": 2.0}, "log", [(0.2, 20)]),
    ("y = A*exp(-r*x0) + b*x1", {"A": 5.0, "r": 0.7, "b": 0.3}, "uniform", [(0, 4), (1, 5)]),
]


def pulls(law, kind, n_samples, n_tables, seed=0):
    """Return errors over standard errors of the constants: (n_tables, n_constants)."""
    equation, constants, spread, ranges = law
    values = []
    for index in range(n_tables):
        random = tables.generator(seed, index, n_samples, CHECKED.index(law))
        columns = {
            f"x{i}": tables.Column(spread, *limits).draw(n_samples, random)
            for i, limits in enumerate(ranges)
        }
        right = equation.split("=")[1]
        truth = tables.Formula(right)({**columns, **constants})
        y, _ = tables.with_noise(truth, (kind, 0.1), random)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checked = check_law(equation, pd.DataFrame(columns), pd.Series(y, name="y"))
        fits = [checked.constants[name] for name in constants]
        values.append([(v - t) / s for (v, s), t in zip(fits, constants.values(), strict=True)])
    return np.array(values)


def coverage(options):
    """Print how often constants are within two standard errors of the truth, with 10 % noise."""
    cases = [
        (law, kind, rows)
        for law in CHECKED
        for kind in ("rms", "relative")
        for rows in options.rows or (30, 100, 300)
    ]
    made = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(pulls)(*case, options.tables or 2_000, options.seed) for case in cases
    )
    lines = []
    for (law, kind, rows), pull in zip(cases, made, strict=True):
        with np.errstate(invalid="ignore"):
            within = 100 * np.mean(np.abs(pull) <= 2.0, axis=0)
            size = np.sqrt(np.nanmean(pull**2, axis=0))
        shares = ", ".join(f"{n} {w:.1f}" for n, w in zip(law[1], within, strict=True))
        lines.append([law[0], kind, rows, shares, ", ".join(f"{s:.2f}" for s in size)])
        print(*lines[-1], sep=" | ", flush=True)
    print()
    print_table(["law", "noise", "rows", "within two standard errors, %", "rms pull"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("conditions", nargs="*", metavar="CONDITION")
    parser.add_argument("--list", action="store_true", help="print the conditions")
    parser.add_argument("--tables", type=int, help="100 per condition; 2,000 for coverage")
    parser.add_argument("--first", type=int, default=0, help="the number of the first table")
    parser.add_argument("--rows", type=int, nargs="+", help="only conditions of so many rows")
    parser.add_argument("--noise", nargs="+", choices=list(NOISES), help="only these levels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--apart", action="store_true", help="the formulas that are kept apart")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", help="a CSV file with a line for each table")
    options = parser.parse_args()
    if options.conditions == ["coverage"]:
        return coverage(options)
    chosen = {
        name: condition
        for name, condition in conditions().items()
        if (not options.conditions or name.startswith(tuple(options.conditions)))
        and (not options.rows or condition.rows in options.rows)
        and (not options.noise or condition.noise in options.noise)
    }
    if not chosen:
        parser.error("no such condition: --list prints them.")
    if options.list:
        print(*chosen, sep="\n")
        return None
    seed = options.seed + 1_000 * options.apart
    tasks = [
        (name, condition, index, seed, options.apart)
        for index in range(options.first, options.first + (options.tables or 100))
        for name, condition in chosen.items()
    ]
    records = run(tasks, options.jobs, options.out)
    records.sort(key=lambda one: list(chosen).index(one.group))
    print_wrong(records)
    print_rates(records)
    return None


if __name__ == "__main__":
    main()
