"""Laws found and seconds beside other methods, on the same tables with the same judge.

    python -m pip install -e . -r benchmarks/studies/comparison-requirements.txt
    python benchmarks/studies/comparison.py [--noise 0 .01] [--time-limit 8]
        [--methods PyOperon ...]

Tables: every fourth Feynman formula (noise in the target) and the five laws of `laws.py variables`
(no column singled out, noise in all columns). Every fit has a process of its own, on one core;
seconds are those of the processor, so that what else runs there does not matter (POSIX only).
Writes a line for each fit and a summary: ``--out docs/results/comparison`` is both names' start.
"""

import argparse
import csv
import multiprocessing
import os
import re
import signal
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from comparison_answers import ACCURATE, all_columns, fit_of, is_found
from comparison_methods import METHODS
from law_fits import warm_up
from law_tables import VARIABLES, noisy_columns, problem_of, seed_of, table, without_target
from threadpoolctl import threadpool_limits

from vanishing.datasets.feynman import feynman_laws

OUT = Path(__file__).parents[2] / "docs" / "results" / "comparison"
EVERY = 4  # as `laws.py robustness`
FEYNMAN_ROWS, IMPLICIT_ROWS = 10_000, 5_000
GRACE = 10.0  # seconds beyond the limit before a process is killed
JUDGE = 120.0  # seconds for the judge, which no method is charged for
SAID = 300  # characters of an answer that are written down


class Table(NamedTuple):
    """A table to find a law in; made where it is needed, since formulas cannot be sent."""

    suite: str  # "feynman" or "implicit"
    index: int
    noise: float
    seed: int

    def problem(self):
        if self.suite == "feynman":
            return problem_of(*list(feynman_laws().items())[self.index])
        return without_target(VARIABLES[self.index])

    def columns(self, problem):
        """Return all columns, the target last where there is one."""
        random = np.random.RandomState(seed_of(self.seed, self.index, self.noise))
        if self.suite == "feynman":
            return all_columns(*table(problem, FEYNMAN_ROWS, self.noise, random))
        return noisy_columns(problem, IMPLICIT_ROWS, self.noise, random)[0]


class Run(NamedTuple):
    """What came of one method on one table."""

    suite: str
    noise: float
    method: str
    name: str
    truth: str
    outcome: str  # "found", "wrong", "none", "timeout" (killed) or "failed"
    accurate: bool
    seconds: float
    said: str


class Summary(NamedTuple):
    """All tables of a kind: shares in per cent, and seconds."""

    suite: str
    noise: float
    method: str
    tables: int
    found: float
    wrong: float
    none: float
    accurate: float
    timeouts: int
    median_s: float
    mean_s: float


# ------------------------------------------------------------------------------------- processes


def tables_of(noises, seed, every=EVERY):
    """Return the tables of both suites."""
    formulas = range(0, len(feynman_laws()), every)
    return [
        Table(suite, index, noise, seed)
        for suite, indices in (("feynman", formulas), ("implicit", range(len(VARIABLES))))
        for noise in noises
        for index in indices
    ]


def fit_and_judge(method, made, limit, connection):
    """Fit in a process of its own: send its seconds, then what the judge says."""
    with open(os.devnull, "w") as silent, threadpool_limits(1):
        os.dup2(silent.fileno(), 1)  # solvers print
        warm_up()
        problem = made.problem()
        columns = made.columns(problem)
        target = None if problem.target is None else columns.shape[1] - 1
        signal.setitimer(signal.ITIMER_PROF, limit + GRACE)  # then SIGPROF ends the process
        start = time.process_time()
        answers = METHODS[method](columns, target, limit, made.seed)
        connection.send(time.process_time() - start)
        signal.setitimer(signal.ITIMER_PROF, JUDGE)
        found, fits = False, [-np.inf]
        said = "no answer"
        for answer in answers:
            fit = fit_of(answer, problem.fresh, target)
            right = is_found(answer, problem.fresh)
            if (right, fit) > (found, max(fits)):
                said = answer.text
            found, fits = found or right, [*fits, fit]
        outcome = "found" if found else "wrong" if answers else "none"
        connection.send((outcome, bool(max(fits) > ACCURATE), with_names(said, problem)))


def with_names(text, problem):
    """Return a text with the names of columns in the place of x0, x1, ..."""
    names = [*problem.columns, problem.target]
    return re.sub(r"\bx(\d+)\b", lambda found: names[int(found[1])], text)


def run_one(method, made, limit, function=fit_and_judge):
    """Return the run of a method on a table; its process is killed well after the limit."""
    known = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in known else None)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=function, args=(method, made, limit, theirs))
    process.start()
    theirs.close()
    problem = made.problem()
    seconds = limit + GRACE
    try:
        seconds = ours.recv()
        result = ours.recv()
    except EOFError:
        process.join()
        killed = process.exitcode == -signal.SIGPROF
        result = ("timeout" if killed else "failed", False, f"ended with {process.exitcode}")
    process.join()
    truth = problem.text if problem.target is None else f"{problem.target} = {problem.text}"
    outcome, accurate, said = result
    return Run(
        made.suite, made.noise, method, problem.name, truth,
        outcome, accurate, round(seconds, 3), " ".join(said.split())[:SAID],
    )  # fmt: skip


# --------------------------------------------------------------------------------------- results


def summaries(runs):
    """Return a summary for each suite, noise level and method, in the order of the runs."""
    groups = {}
    for run in runs:
        groups.setdefault((run.suite, run.noise, run.method), []).append(run)
    made = []
    for key, members in groups.items():
        outcomes = [run.outcome for run in members]
        seconds = [run.seconds for run in members]

        def share(count, members=members):
            return round(100 * count / len(members), 1)

        made.append(
            Summary(
                *key,
                len(members),
                *(share(outcomes.count(kind)) for kind in ("found", "wrong", "none")),
                share(sum(run.accurate for run in members)),
                outcomes.count("timeout"),
                round(float(np.median(seconds)), 2),
                round(float(np.mean(seconds)), 2),
            )
        )
    return made


def write(rows, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0]._fields)
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01])
    parser.add_argument("--time-limit", type=float, default=8.0, help="seconds for each fit")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=EVERY, help="take every K-th formula")
    parser.add_argument("--out", default=str(OUT), help="start of the names of two CSV files")
    options = parser.parse_args()
    tables = tables_of(options.noise, options.seed, options.every)
    warm_up()  # compiled code is shared with the processes
    runs = []
    for number, made in enumerate(tables, 1):
        for method in options.methods:
            run = run_one(method, made, options.time_limit)
            runs.append(run)
            print(
                f"[{number}/{len(tables)}] {run.suite} {run.noise:g} {run.name}, {method}:"
                f" {run.outcome}{', accurate' if run.accurate else ''}, {run.seconds:.2f} s"
                f" {run.said[:80]}",
                flush=True,
            )
        ordered = sorted(
            runs, key=lambda run: (run.suite, run.noise, options.methods.index(run.method))
        )
        write(ordered, f"{options.out}.runs.csv")
        write(summaries(ordered), f"{options.out}.csv")
    for one in summaries(ordered):
        print(*one, sep=", ")


if __name__ == "__main__":
    main()
