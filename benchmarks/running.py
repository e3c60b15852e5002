"""The suites of this folder and their cases, and one case measured without asv."""

import importlib
import itertools
import pkgutil
import time
import warnings

import benchmarks

from .measure import in_turns

KINDS = ("time_", "peakmem_", "track_")


def suites():
    """Yield the classes that have something to measure, with the names of these methods."""
    for found in pkgutil.iter_modules(benchmarks.__path__, "benchmarks."):
        if not found.name.endswith(("__main__", "running")):
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
    import resource  # not on Windows

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
