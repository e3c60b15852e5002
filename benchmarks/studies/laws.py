"""Laws: how many are found, how fast, under which conditions, and how often one is claimed falsely.

A law counts as found if, on fresh rows without noise (within the ranges, and a quarter beyond), its
terms have exactly one vanishing combination, which uses every term and depends on the target. Only
the best law of a table is judged. Seconds are those of one processor, after one
fit that compiles.

    python benchmarks/studies/laws.py feynman [--noise 0 .001 .01 .1] [--every 4]
        [--only I.8.14 ...]
    python benchmarks/studies/laws.py textbooks [--noise 0 .01 .1]
    python benchmarks/studies/laws.py functions [--noise 0 .01] [--rows 300] [--apart]
    python benchmarks/studies/laws.py columns [--noise 0 .01] [--rows 300] [--apart]
    python benchmarks/studies/laws.py random [--tables 200]
    python benchmarks/studies/laws.py smooth [--noise .01]
    python benchmarks/studies/laws.py robustness [--every 4]
        [--conditions "300 rows" "other units" ...]
    python benchmarks/studies/laws.py variables [--seeds 20] [--estimate] [--no-target]
    python benchmarks/studies/laws.py without-target [--noise 0 .001]
    python benchmarks/studies/laws.py curves [--rows 40 300] [--noise .01 .05] [--apart]
    python benchmarks/studies/laws.py ranges [--rows 2000 400 100] [--kinds clean rms relative]
        [--apart]
    python benchmarks/studies/laws.py historic [--seeds 10]

``ranges`` and ``historic`` are judged as `honesty_judge` says: an approximation has this word in
its verdict, and is right within the noise.

All take ``--rows``, ``--seed``, ``--jobs`` and ``--out file.csv``.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from curve_fits import of_curve
from curve_tables import CURVES, CURVES_APART
from joblib import Parallel, delayed
from law_conditions import CONDITIONS, Condition
from law_fits import (
    Record,
    of_formula,
    of_historic,
    of_noisy_columns,
    of_random,
    of_range,
    of_shape,
    of_smooth,
)
from law_tables import (
    SHAPES,
    SMOOTH,
    SRBENCH,
    VARIABLES,
    many_column_laws,
    seed_of,
    without_target,
)
from range_tables import HISTORIC, range_formulas

from vanishing.datasets.feynman import feynman_laws, read_laws

FUNCTION_ROWS = (300, 2_000)
TEXTBOOKS = Path(__file__).with_name("textbooks.csv")
FUNCTIONS = Path(__file__).with_name("functions.csv")


# ------------------------------------------------------------------------------------- many tables


def run(tasks, jobs):
    """Return the records of tasks, and print a line for each as it comes."""
    records = []
    made = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(function)(*arguments) for function, *arguments in tasks
    )
    for number, one in enumerate(made, 1):
        place = f"[{number}/{len(tasks)}]"
        if one is None:
            print(f"{place} left out: the condition does not apply", flush=True)
            continue
        records.append(one)
        print(
            f"{place} {one.group}, {one.name}: {one.outcome}, {one.seconds:.2f} s"
            f" {shortened(one.said, 80)} {one.note}".rstrip(),
            flush=True,
        )
    return records


def shortened(text, length=110):
    text = " ".join(str(text).split())
    return text if len(text) <= length else text[: length - 3] + "..."


def in_groups(records):
    groups = {}
    for one in records:
        groups.setdefault(one.group, []).append(one)
    return groups


def print_table(header, lines):
    """Print lines of cells, as a table of Markdown with even columns."""
    cells = [list(map(str, line)) for line in [header, *lines]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    for line in cells:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |")


def print_rates(records):
    """Print rates and seconds for each group."""
    print()
    judged = {one.outcome for one in records}
    kinds = ["found", *sorted(judged - {"found", "wrong", "none"}), "wrong", "none"]
    rates = [f"{kind} %" for kind in kinds]
    header = ["", "tables", *rates, "mean s", "median s", "max s"]
    lines = []
    for group, members in in_groups(records).items():
        outcomes = [one.outcome for one in members]
        seconds = [one.seconds for one in members]
        rates = [100 * outcomes.count(kind) / len(members) for kind in kinds]
        times = [np.mean(seconds), np.median(seconds), np.max(seconds)]
        lines.append(
            [group, len(members), *(f"{r:.1f}" for r in rates), *(f"{t:.2f}" for t in times)]
        )
    print_table(header, lines)


def print_failures(records):
    """Print what was said of the tables whose law was not found."""
    failures = [one for one in records if one.outcome != "found"]
    print(f"\n{len(failures)} not found:" if failures else "\nAll found.")
    for one in failures:
        print(f"- {one.group}, {one.name}: {one.truth}")
        print(f"    {one.outcome}: {shortened(one.said)} {one.note}".rstrip())


def print_claims(records):
    """Print every claim on tables without law."""
    claims = [one for one in records if one.outcome != "none"]
    print(f"\n{len(claims)} claims on {len(records)} tables without law")
    for one in claims:
        print(f"- {one.group}, {one.name}: {shortened(one.said)}")
        print(f"    evidence {one.evidence:.3g}; {shortened(one.verdict)} {one.note}".rstrip())


def write(records, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Record._fields)
        writer.writerows(one._replace(within=" ".join(map(str, one.within))) for one in records)


# --------------------------------------------------------------------------------------- commands


def chosen(names, options):
    """Return the numbers and names that are asked for."""
    return [
        (index, name)
        for index, name in enumerate(names)
        if index % options.every == 0 and (not options.only or name in options.only)
    ]


def formula_tasks(laws, options, conditions=None):
    """Return a task for each condition, noise level and formula; seeds by formula and level."""
    tasks = []
    for label, condition in (conditions or {"": Condition()}).items():
        for noise in options.noise:
            group = ", ".join(filter(None, [label, f"noise {noise:g}"]))
            for index, name in chosen(laws, options):
                seed = seed_of(options.seed, index, noise)
                law = laws[name]
                tasks.append((of_formula, group, name, law, options.rows, noise, seed, condition))
    return tasks


def feynman(options):
    """Rates and seconds on the formulas of the Feynman lectures, beside published rates."""
    records = run(formula_tasks(feynman_laws(), options), options.jobs)
    print_failures(records)
    print_rates(records)
    print("\n% by other methods, as published by La Cava et al. 2021 (SRBench):")
    print_table(["", "noise 0", ".001", ".01"], [[name, *SRBENCH[name]] for name in SRBENCH])
    print(
        "Their protocol is another: more formulas (bonus problems too), ten runs of each on three\n"
        "quarters of at most 10,000 rows, up to eight hours per run, settings that were tuned\n"
        "before; a solution is an explicit expression that a computer algebra system finds equal\n"
        "to the formula up to an added or a multiplied constant. Here one run of seconds on all\n"
        "rows has to find the terms of an explicit or implicit law, none too many and none too\n"
        "few; the constants are those of the fit. These formulas were in view while the search\n"
        "was made: `textbooks` has formulas that were not."
    )
    return records


def textbooks(options):
    """Rates and seconds on formulas of other textbooks, which the search was not made on."""
    with open(TEXTBOOKS, encoding="utf-8") as lines:
        laws = read_laws(lines)
    records = run(formula_tasks(laws, options), options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def functions(options):
    """Functions in denominators, products, quotients and of sums; rational laws with constants."""
    with open(FUNCTIONS, encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    parts = {row["name"]: row["part"] for row in rows}
    laws = {
        name: law
        for name, law in read_laws(FUNCTIONS.read_text(encoding="utf-8").splitlines()).items()
        if parts[name] == ("apart" if options.apart else "built on")
    }
    tasks = []
    for n_rows in [options.rows] if options.rows else FUNCTION_ROWS:
        condition = Condition(rows=n_rows)
        tasks += formula_tasks(laws, options, {f"{n_rows} rows": condition})
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def many_columns(options):
    """Rates on tables of many columns: few that matter, or long sums with a few other terms."""
    tasks = [
        (of_formula, f"{n_rows} rows, noise {noise:g}", name, law, n_rows, noise, seed)
        for n_rows in ([options.rows] if options.rows else FUNCTION_ROWS)
        for noise in options.noise
        for index, (name, law) in enumerate(many_column_laws(options.apart).items())
        for seed in [seed_of(options.seed, index, noise)]
        if not options.only or name in options.only
    ]
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def random(options):
    """Claims on random tables: columns of several kinds, half of the tables without target."""
    tasks = [(of_random, index, options.seed) for index in range(options.tables)]
    records = run(tasks, options.jobs)
    print_claims(records)
    print_rates(records)
    return records


def smooth(options):
    """Claims on smooth functions without a law, and whether they admit to approximate."""
    tasks = [
        (of_smooth, index, options.rows, noise, options.seed)
        for noise in options.noise
        for index, _ in chosen([name for name, *_ in SMOOTH], options)
    ]
    records = run(tasks, options.jobs)
    print_claims(records)
    print_rates(records)
    return records


def robustness(options):
    """Rates under conditions that real tables have.

    Formulas that a condition does not suit (no column can be negative) are left out of its rate.
    """
    names = options.conditions or list(CONDITIONS)
    conditions = {name: CONDITIONS[name] for name in names}
    records = run(formula_tasks(feynman_laws(), options, conditions), options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def variables(options):
    """Noise in all columns: laws found, and coefficients within two standard errors."""
    problems = [VARIABLES[index] for index, _ in chosen([p.name for p in VARIABLES], options)]
    if options.no_target:
        problems = [without_target(problem) for problem in problems]
    tasks = [
        (of_noisy_columns, problem, options.rows, noise, options.seed + seed, options.estimate)
        for problem in problems
        for noise in options.noise
        for seed in range(options.seeds)
    ]
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    print("\nCoefficients within two standard errors of the truth (one sets the scale):")
    lines = []
    for group, members in in_groups(records).items():
        within = np.array([w for one in members for w in one.within])
        whole = [all(one.within) for one in members if one.outcome == "found"]
        share = f"{100 * within.mean():.1f}" if len(within) else "-"
        lines.append([group, len(within), share, f"{sum(whole)}/{len(members)}"])
    print_table(["", "coefficients", "within %", "seeds with all within"], lines)
    return records


def without_target_command(options):
    """Laws of shapes and conservation laws, without a target."""
    tasks = [
        (of_shape, SHAPES[index], options.rows, noise, seed_of(options.seed, index, noise))
        for noise in options.noise
        for index, _ in chosen([problem.name for problem in SHAPES], options)
    ]
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def curves(options):
    """Everyday curves with constants inside functions; ``--apart`` those kept apart."""
    tables = CURVES_APART if options.apart else CURVES
    tasks = [
        (of_curve, f"{rows} rows, noise {noise:g}", tables[index], rows, noise, seed)
        for rows in options.rows
        for noise in options.noise
        for index, _ in chosen([curve.name for curve in tables], options)
        for seed in [seed_of(options.seed, index, noise, rows, options.apart)]
    ]
    records = run(tasks, options.jobs)
    print_failures(records)
    print()
    kinds = ("found", "approximation", "wrong", "none")
    lines = []
    for group, members in in_groups(records).items():
        outcomes = [one.outcome for one in members]
        seconds = [one.seconds for one in members]
        times = [f"{np.mean(seconds):.2f}", f"{np.max(seconds):.2f}"]
        lines.append([group, len(members), *map(outcomes.count, kinds), *times])
    print_table(["", "tables", *kinds, "mean s", "max s"], lines)
    return records


NOISE_KINDS = {"clean": ("rms", 0.0), "rms": ("rms", 0.01), "relative": ("relative", 0.01)}


def ranges(options):
    """Rates and seconds on Feynman's formulas over the ranges of ranges.csv."""
    seed = options.seed + 1_000 * options.apart
    tasks = [
        (of_range, f"{rows} rows, {kind}", name, rows, NOISE_KINDS[kind], seed)
        for rows in options.rows
        for kind in options.kinds
        for name in range_formulas(options.apart)[:: options.every]
        if not options.only or name in options.only
    ]
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    return records


def historic(options):
    """Laws that history found in few rows."""
    names = [name for name in HISTORIC if not options.only or name in options.only]
    tasks = [(of_historic, name, options.seed + i) for name in names for i in range(options.seeds)]
    records = run(tasks, options.jobs)
    print_failures(records)
    print_rates(records)
    return records


# Name: function, noise levels, rows, and every how many formulas.
COMMANDS = {
    "feynman": (feynman, (0.0, 0.001, 0.01, 0.1), 10_000, 1),
    "textbooks": (textbooks, (0.0, 0.01, 0.1), 10_000, 1),
    "functions": (functions, (0.0, 0.01), None, 1),
    "columns": (many_columns, (0.0, 0.01), None, 1),
    "random": (random, (), None, 1),
    "smooth": (smooth, (0.01,), 10_000, 1),
    "robustness": (robustness, (0.01,), 10_000, 4),
    "variables": (variables, (0.01,), 5_000, 1),
    "without-target": (without_target_command, (0.0, 0.001), 5_000, 1),
    "curves": (curves, (0.01, 0.05), (40, 300), 1),
    "ranges": (ranges, (), None, 1),
    "historic": (historic, (), None, 1),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (function, noise, rows, every) in COMMANDS.items():
        command = commands.add_parser(name, help=function.__doc__.splitlines()[0])
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--jobs", type=int, default=1)
        command.add_argument("--out", help="a CSV file with a line for each table")
        if name == "random":
            command.add_argument("--tables", type=int, default=200)
            continue
        command.add_argument("--every", type=int, default=every, help="take every K-th")
        command.add_argument("--only", nargs="+", help="names, as in the lines that are printed")
        if name in ("curves", "functions", "columns", "ranges"):
            command.add_argument("--apart", action="store_true", help="those kept apart")
        if name == "ranges":
            command.add_argument("--rows", type=int, nargs="+", default=[2_000, 400, 100])
            kinds = list(NOISE_KINDS)
            command.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
            continue
        if name == "historic":
            command.add_argument("--seeds", type=int, default=10)
            continue
        command.add_argument("--noise", type=float, nargs="+", default=list(noise))
        many = {"nargs": "+"} if isinstance(rows, tuple) else {}
        command.add_argument("--rows", type=int, default=rows, **many)
        if name == "robustness":
            command.add_argument("--conditions", nargs="+", choices=list(CONDITIONS))
        if name == "variables":
            command.add_argument("--seeds", type=int, default=20)
            command.add_argument("--estimate", action="store_true", help='noise="estimate"')
            command.add_argument("--no-target", action="store_true", help="the target is a column")
    options = parser.parse_args()
    records = COMMANDS[options.command][0](options)
    if options.out:
        write(records, options.out)


if __name__ == "__main__":
    main()
