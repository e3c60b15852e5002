"""Fits of the benchmark of laws: one table, one fit on one core, one record.

Workers import this file, so that each of them compiles once.
"""

import time
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from honesty_judge import table_outcome
from law_conditions import CONDITIONS
from law_judge import covered, is_law, same_law, true_coef
from law_tables import SMOOTH, noisy_columns, random_table, smooth_table, table
from range_tables import historic_table, range_table
from threadpoolctl import threadpool_limits

from vanishing import LawFinder


class Record(NamedTuple):
    """What came of one table."""

    group: str  # of the line in the summary
    name: str
    truth: str
    outcome: str  # "found", "wrong" (a law that is none) or "none"; or what `honesty_judge` says
    seconds: float
    said: str  # the best law, or why there is none
    verdict: str
    evidence: float = np.nan
    note: str = ""
    within: tuple[bool, ...] = ()  # coefficients within two standard errors


@cache
def warm_up():
    """Compile what is compiled, once in each process."""
    X = np.random.RandomState(0).uniform(1, 2, (300, 2))
    LawFinder().fit(X, X[:, 0] * X[:, 1])
    LawFinder().fit(X)


def fitted(X, y, columns=None, target=None, **options):
    """Return a finder fitted on one core, and its processor seconds."""
    with threadpool_limits(1):
        warm_up()
        if columns is not None:
            X = pd.DataFrame(X, columns=list(columns))
            y = None if y is None else pd.Series(y, name=target)
        start = time.process_time()
        finder = LawFinder(**options)
        finder.fit(X) if y is None else finder.fit(X, y)
        return finder, time.process_time() - start


def record(finder, seconds, group, name, truth, true, **more):
    """Return the record of a fit whose best law is true or not."""
    best = finder.laws_[0] if finder.laws_ else None
    return Record(
        group,
        name,
        truth,
        "none" if best is None else "found" if true else "wrong",
        seconds,
        finder.verdict_ if best is None else str(best),
        finder.verdict_ if best is None else str(best.verdict),
        np.nan if best is None else float(best.evidence),
        **more,
    )


def of_formula(group, name, law, n_samples, noise, seed, condition=CONDITIONS["plain"]):
    """Fit a table of a formula and judge the best law; None where the condition does not apply."""
    random = np.random.RandomState(seed)
    # Tables of one formula begin alike under all conditions that change nothing before the rows.
    problem = condition.change(name, law, np.random.RandomState(seed + 1))
    if problem is None:
        return None
    X, y = table(problem, condition.rows or n_samples, noise, random)
    if condition.spoil is not None:
        y = condition.spoil(y, random)
    finder, seconds = fitted(X, y, problem.columns, problem.target, **condition.options)
    true = bool(finder.laws_) and is_law(finder.laws_[0], problem.fresh)
    return record(finder, seconds, group, name, f"{problem.target} = {problem.text}", true)


def of_table(group, made):
    """Fit a table of the study of honesty and judge what is claimed as that study does."""
    finder, seconds = fitted(made.X, made.y, made.names, "target")
    outcome, errors = table_outcome(finder.laws_, made)
    note = f"(off by {errors[0]:.2g}, {errors[1]:.2g})" if outcome != "none" else ""
    one = record(finder, seconds, group, made.name, made.truth, outcome == "found", note=note)
    return one._replace(outcome=outcome)


def of_range(group, name, n_samples, noise, seed):
    """Fit a table of a formula over realistic ranges."""
    return of_table(group, range_table(name, n_samples, noise, seed))


def of_historic(name, seed):
    """Fit a table as a historic one may have been."""
    return of_table(name, historic_table(name, seed))


def of_random(index, seed):
    """Fit a table without law."""
    X, y = random_table(index, seed)
    finder, seconds = fitted(X, y)
    group = "without target" if y is None else "with target"
    name = f"table {index}, {X.shape[0]} x {X.shape[1]}"
    return record(finder, seconds, group, name, "no law", False)


def of_smooth(index, n_samples, noise, seed):
    """Fit a smooth function without law; note whether a claim says that it may approximate."""
    X, y = smooth_table(index, n_samples, noise, seed)
    finder, seconds = fitted(X, y, "abcd"[: X.shape[1]], "y")
    made = record(finder, seconds, f"noise {noise:g}", SMOOTH[index][0], "no short law", False)
    if made.outcome == "none":
        return made
    admits = "approximation" in made.verdict
    return made._replace(note="(says approximation)" if admits else "(does NOT say approximation)")


def of_noisy_columns(problem, n_samples, noise, seed, estimate):
    """Fit a table with noise in all columns (the target's level last), and compare coefficients."""
    random = np.random.RandomState(seed)
    X, y, deviations = noisy_columns(problem, n_samples, noise, random)
    told = "estimate" if estimate else deviations
    finder, seconds = fitted(X, y, problem.columns, problem.target, noise=told)
    coef = true_coef(finder.laws_[0], problem.fresh) if finder.laws_ else None
    within = () if coef is None else tuple(map(bool, covered(finder.laws_[0], coef)))
    group, name = f"{problem.name}, noise {noise:g}", f"seed {seed}"
    true = coef is not None
    return record(finder, seconds, group, name, problem.text, true, within=within)


def of_shape(problem, n_samples, noise, seed):
    """Fit a table without target, and name the truths among its laws and how many are none."""
    random = np.random.RandomState(seed)
    X, _, deviations = noisy_columns(problem, n_samples, noise, random)
    options = {"noise": deviations} if noise else {}
    finder, seconds = fitted(X, None, problem.columns, **options)
    names, false = [], 0
    for law in finder.laws_:
        coef = true_coef(law, problem.fresh)
        false += coef is None
        names += [
            name
            for name, truth in problem.truths.items()
            if coef is not None and same_law(law, coef, truth, problem.columns)
        ]
    found = len(set(names)) >= problem.needed
    note = f"{len(finder.laws_)} laws, {false} false; found: {', '.join(names) or '-'}"
    group, truth = f"noise {noise:g}", problem.text
    return record(finder, seconds, group, problem.name, truth, found, note=note)
