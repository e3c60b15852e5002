"""External suites: published benchmarks, run from their own files.

Nothing of them is shipped; docs/comparison.md says where each comes from. What is printed: our
figures with seconds of the processor, failures by name, records that could not be read, and what
others published, with its source.

    python benchmarks/studies/external.py SUITE FOLDER [--limit N] [--json FILE]
"""

import argparse
import importlib
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from external_records import Case, Suite, SuiteError, Unreadable, worst_note

SUITES = ("empirical", "fastsrb", "odebench", "adbench", "skab", "tep", "nla")
FAILURES = ("wrong", "close", "incomplete", "none", "failed", "unjudged")
WIDTH = 110  # of an answer that is printed


def suite_of(name: str) -> Suite:
    """Return a suite by its name."""
    return importlib.import_module(f"external_{name}").SUITE


def run(suite: Suite, folder, limit=None, say=print) -> tuple[list[Case], list[Unreadable]]:
    """Answer the problems of a folder, and return what came of them and what could not be read."""
    cases, unreadable = [], []
    for i, (name, read) in enumerate(suite.problems(Path(folder))):
        if limit is not None and i >= limit:
            break
        try:
            problem = read()
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OSError) as wrong:
            unreadable.append(Unreadable(name, worst_note(wrong).removeprefix("ValueError: ")))
            say(f"  {name}: cannot be read: {unreadable[-1].reason}")
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answered = suite.answer(name, problem)
        except Exception as wrong:  # one problem that breaks a fit is a failure, not the end
            answered = [Case(name, "failed", note=worst_note(wrong))]
        for case in answered:
            say(f"  {case.name}: {case.outcome}, {case.seconds:.2f} s  {case.answer[:WIDTH]}")
        cases += answered
    return cases, unreadable


def report(suite: Suite, cases, unreadable, say=print) -> None:
    """Print figures, failures, and what others published."""
    say(f"\n{suite.title}\n{suite.protocol}\n")
    rows = [[name, figure, "measured here"] for name, figure in suite.figures(cases).items()]
    rows += [[p.method, p.figure, p.source] for p in suite.published]
    say("| | figure | source |\n| --- | --- | --- |")
    for row in rows:
        say("| " + " | ".join(row) + " |")
    for outcome in FAILURES:
        named = [case for case in cases if case.outcome == outcome]
        if named:
            say(f"\n{outcome}:")
        for case in named:
            say(f"- {case.name}: {case.answer[:WIDTH] or '-'} ({case.note or 'no note'})")
    if unreadable:
        say(f"\ncould not be read, and is not counted ({len(unreadable)}):")
        for one in unreadable:
            say(f"- {one.name}: {one.reason}")


def record(suite: Suite, cases, unreadable) -> dict:
    """Return what is written as JSON."""
    return {
        "suite": suite.name,
        "protocol": suite.protocol,
        "figures": suite.figures(cases),
        "cases": [asdict(case) for case in cases],
        "unreadable": [one._asdict() for one in unreadable],
        "published": [one._asdict() for one in suite.published],
    }


def main(arguments=None) -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path, help="with the suite's own files; or one of them")
    parser.add_argument("--limit", type=int, help="answer the first N problems only")
    parser.add_argument("--json", type=Path, help="write all cases and figures to this file")
    options = parser.parse_args(arguments)
    if options.limit is not None and options.limit < 1:
        parser.error("--limit is at least 1.")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no such folder.")
    if options.json is not None and options.json.is_dir():
        parser.error(f"--json {options.json} is a folder; a file is asked for.")
    suite = suite_of(options.suite)
    try:
        cases, unreadable = run(suite, options.folder, options.limit)
    except SuiteError as problem:
        print(f"external.py: {problem}", file=sys.stderr)
        return 2
    if options.json is not None:
        text = json.dumps(record(suite, cases, unreadable), default=float)
        plain = json.loads(text, parse_constant=lambda _: None)  # JSON has no NaN
        options.json.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    report(suite, cases, unreadable)
    if not cases:
        print(f"external.py: {options.folder}: no record could be read.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
