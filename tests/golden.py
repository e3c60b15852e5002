"""Golden results: what the library says of fixed small tables, recorded and compared.

A change of structure must not change a result. Record before it, compare after it::

    python tests/golden.py record golden.json
    python tests/golden.py compare golden.json [PATTERN]

PATTERN restricts to cases whose name contains it. Which source is run is said by PYTHONPATH.
Floats are recorded exactly. Each case is equal to the bit; or equal to 1e-9, relative to the
largest number of its list; or different, which makes the exit status 1.
"""

import json
import math
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

TOLERANCE = 1e-9
SHOWN = 5  # differences of a case that are printed
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
BIT, CLOSE, DIFFERENT = "equal to the bit", "equal to 1e-9", "different"


def record(pattern=""):
    """Run the cases; return what each gave, by name."""
    import numpy as np
    from golden_cases.tables import CASES
    from golden_cases.values import cleaned, plain

    results, group, start = {}, None, time.perf_counter()
    for name in sorted(CASES, key=_group):
        if pattern not in name:
            continue
        if group not in (None, _group(name)):
            start = _told(group, results, start)
        group = _group(name)
        np.random.seed(0)  # noqa: NPY002 (where random_state=None takes its seed from)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results[name] = {"value": plain(CASES[name]())}
            except Exception as error:
                results[name] = {"raises": [type(error).__name__, cleaned(str(error))]}
        if texts := _texts(caught, cleaned):
            results[name]["warnings"] = texts
    if group is not None:
        _told(group, results, start)
    return results


def _group(name):
    return "/".join(name.split("/")[:2])


def _told(group, results, start):
    """Print what a group of cases took; return the time."""
    now = time.perf_counter()
    own = [result for name, result in results.items() if _group(name) == group]
    raised = sum("raises" in result for result in own)
    print(f"{group}: {len(own)} cases, {raised} raise, {now - start:.1f} s", flush=True)
    return now


def _texts(caught, cleaned):
    """Return what users are warned of: each text once, in order."""
    ours = [w for w in caught if not issubclass(w.category, _FOR_DEVELOPERS)]
    return list(dict.fromkeys(f"{w.category.__name__}: {cleaned(str(w.message))}" for w in ours))


_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


# -- Comparison -----------------------------------------------------------------------------------


def differences(old, new, path=""):
    """Yield (degree, path, old, new) where two results are not the same to the bit."""
    if type(old) is not type(new):
        yield DIFFERENT, path, old, new
    elif isinstance(old, dict):
        for key in dict.fromkeys([*old, *new]):
            if key in old and key in new:
                yield from differences(old[key], new[key], f"{path}.{key}")
            else:
                yield DIFFERENT, f"{path}.{key}", old.get(key, "nothing"), new.get(key, "nothing")
    elif isinstance(old, list) and all(isinstance(line, str) for line in old + new):
        yield from _in_lines(old, new, path)
    elif isinstance(old, list):
        if len(old) != len(new):
            yield DIFFERENT, f"{path}, length", len(old), len(new)
        size = max((abs(x) for x in old if isinstance(x, float) and math.isfinite(x)), default=0)
        for i, (first, second) in enumerate(zip(old, new, strict=False)):
            if isinstance(first, float) and isinstance(second, float):
                yield from _numbers(first, second, f"{path}[{i}]", size)
            else:
                yield from differences(first, second, f"{path}[{i}]")
    elif isinstance(old, float):
        yield from _numbers(old, new, path, 0.0)
    elif isinstance(old, str):
        yield from _in_text(old, new, path)
    elif old != new:
        yield DIFFERENT, path, old, new


def _numbers(old, new, path, size):
    if repr(old) == repr(new):
        return
    size = max(size, abs(old), abs(new))
    same = old == new or abs(old - new) <= TOLERANCE * size < math.inf
    yield (CLOSE if same else DIFFERENT), path, old, new


def _in_lines(old, new, path):
    """Compare lines, also where some were added or taken away."""
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if b - a == d - c:
            for i, pair in enumerate(zip(old[a:b], new[c:d], strict=True), a):
                yield from _in_text(*pair, f"{path}[{i}]")
        else:
            yield DIFFERENT, f"{path}[{a}]", old[a:b], new[c:d]


def _in_text(old, new, path):
    """Compare text, and the numbers in it as numbers."""
    if old == new:
        return
    pairs = list(zip(NUMBER.findall(old), NUMBER.findall(new), strict=False))
    same = NUMBER.sub("0", old) == NUMBER.sub("0", new) and all(
        math.isclose(float(a), float(b), rel_tol=TOLERANCE) for a, b in pairs
    )
    start = next(i for i, (a, b) in enumerate(zip(old + "\0", new + "\0", strict=False)) if a != b)
    around = slice(max(0, start - 60), start + 60)
    yield (CLOSE if same else DIFFERENT), f"{path} at {start}", old[around], new[around]


def compare(recorded, results, pattern=""):
    """Print how results differ from recorded ones; return how many cases are different."""
    counts = Counter()
    names = [name for name in recorded if pattern in name]
    for name in dict.fromkeys([*names, *results]):
        if name not in recorded or name not in results:
            found = [
                (DIFFERENT, "", *(["nothing", "a case"][name in x] for x in (recorded, results)))
            ]
        else:
            found = list(differences(recorded[name], results[name]))
        degrees = {degree for degree, *_ in found}
        degree = next((d for d in (DIFFERENT, CLOSE) if d in degrees), BIT)
        counts[degree] += 1
        if degree is BIT:
            continue
        # Of all numbers of one list the first is shown.
        places = {_place(*d[1:3]): d for d in reversed(found) if d[0] == degree}
        print(f"{name}: {degree} ({len(places)} places)")
        for _, path, old, new in list(reversed(places.values()))[:SHOWN]:
            print(f"    {path.lstrip('.')}\n      old {_short(old)}\n      new {_short(new)}")
    print(", ".join(f"{counts[degree]} cases {degree}" for degree in (BIT, CLOSE, DIFFERENT)))
    return counts[DIFFERENT]


def _place(path, old):
    return re.sub(r"\[\d+\]", "", path) if isinstance(old, float) else path


def _short(value):
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


# -- Command line ---------------------------------------------------------------------------------


def main(arguments):
    """Record or compare; return the exit status."""
    if len(arguments) not in (2, 3) or arguments[0] not in ("record", "compare"):
        print(__doc__)
        return 2
    action, path, pattern = arguments[0], Path(arguments[1]).absolute(), (*arguments[2:], "")[0]
    recorded = json.loads(path.read_text()) if action == "compare" else None
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # files are written, and named in messages, without their folder
        results = record(pattern)
        os.chdir("/")
    print(f"{len(results)} cases in {time.perf_counter() - start:.0f} s")
    # As a file has them: tuples are lists, and keys text.
    results = json.loads(json.dumps(results))
    if action == "compare":
        return int(compare(recorded, results, pattern) > 0)
    path.write_text(json.dumps(results, indent=0))
    return 0


if __name__ == "__main__":
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[_name] = "1"  # sums of several threads may have other bits
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    sys.exit(main(sys.argv[1:]))
