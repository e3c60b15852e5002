"""Run cases without asv, each in a process of its own, and print a line for each.

    python -m benchmarks [PATTERN ...]

For machines that have what the library needs and no more, such as one with many cores or a GPU.
Patterns are regular expressions, of names as asv writes them: `threads.*30000000`, `^fit.Fit`.
"""

import argparse
import importlib
import itertools
import multiprocessing
import os
import pkgutil
import re
import resource
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import benchmarks
from benchmarks.measure import in_turns

KINDS = ("time_", "peakmem_", "track_")


def suites():
    """Yield the classes that have something to measure, with the names of these methods."""
    for found in pkgutil.iter_modules(benchmarks.__path__, "benchmarks."):
        if not found.name.endswith("__main__"):
            for thing in vars(importlib.import_module(found.name)).values():
                if isinstance(thing, type) and thing.__module__ == found.name:
                    methods = [name for name in vars(thing) if name.startswith(KINDS)]
                    if methods:
                        yield thing, methods


def cases(suite):
    """Return the combinations of parameters, from cheap to dear."""
    return list(itertools.product(*suite.params))


def called(suite, method, case):
    """Return the name of a case, as asv writes it without the name of the folder."""
    place = suite.__module__.removeprefix("benchmarks.")
    return f"{place}.{suite.__name__}.{method}({', '.join(map(repr, case))})"


def measured(suite, method, case):
    """Measure one case in this process; return the value and its unit."""
    instance = suite()
    instance.setup(*case)
    function = getattr(instance, method)
    if method.startswith("track_"):
        return function(*case), function.unit
    if method.startswith("time_"):
        clock = getattr(suite, "timer", time.perf_counter)
        seconds = in_turns(lambda: function(*case), repeat=getattr(suite, "repeat", 5), clock=clock)
        return seconds[0], "s"
    function(*case)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB"


def line(suite, method, case):
    """Measure one case in this process; return its line."""
    warnings.simplefilter("ignore")
    try:
        value, unit = measured(suite, method, case)
    except NotImplementedError as missing:
        return f"skipped: {missing}"
    return f"{value:.4g} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=[""], metavar="PATTERN")
    wanted = re.compile("|".join(f"(?:{text})" for text in parser.parse_args().patterns))
    for suite, methods in suites():
        with tempfile.TemporaryDirectory() as folder:
            # Methods after cases: the rows of a case are written once and read by all.
            for case, method in itertools.product(cases(suite), methods):
                name = called(suite, method, case)
                if wanted.search(name):
                    context = multiprocessing.get_context("spawn")
                    with ProcessPoolExecutor(1, context, os.chdir, (folder,)) as process:
                        said = process.submit(line, suite, method, case).result()
                    print(f"{name:<60} {said}", flush=True)


if __name__ == "__main__":
    main()
