"""Loop traces of the NLA suite, as G-CLN keeps them: a CSV per loop, name_k.csv for loop k.

A loop is complete if every equation that its program's comments assert follows from the invariants
found (a variable that is the same in all rows counts as such an equation). An invariant is wrong if
one found from the first four fifths of the runs does not hold in the last fifth.
"""

import re
import time
from fractions import Fraction

import numpy as np
import pandas as pd
from external_records import (
    Case,
    Published,
    Suite,
    SuiteError,
    files_of,
    inside,
    mean,
    read_numbers,
)
from loops import is_implied

from vanishing import loop_invariants

LABELS = ("trace_idx", "while_counter", "1", "run_id", "")
SCALES = (1, 2, 4, 8, 16, 3, 5, 10, 100, 1000)  # that make the cells of a column whole
LEFT_OUT = 5  # every so many-th part of the runs

_FERMAT = ("4*(A + r) - u^2 + v^2 + 2*u - 2*v",)
_BEZOUT = ("a - y*r - x*p", "b - x*q - y*s")
# Per program the equations of each of its loops; those asserted in its source.
EQUATIONS = {
    "cohencu": [("x - n^3", "y - 3*n^2 - 3*n - 1", "z - 6*n - 6")],
    "cohendiv": [("x - q*y - r",), ("x - q*y - r", "b - a*y")],
    "dijkstra": [("p", "r - n", "h"), ("p^2 + r*q - n*q",)],
    "divbin": [("q", "A - r"), ("A - q*b - r",)],
    "egcd": [_BEZOUT],
    "egcd2": [_BEZOUT, ("a - k*b - c",)],
    "egcd3": [_BEZOUT, ("a - k*b - c",), ("v - b*d",)],
    "fermat1": [_FERMAT, _FERMAT, _FERMAT],
    "fermat2": [_FERMAT],
    "freire1": [("a - 2*x - r^2 + r",)],
    "freire2": [("4*r^3 - 6*r^2 + 3*r + 4*x - 4*a - 1", "4*s - 12*r^2 - 1")],
    "geo1": [("x*z - x - y + 1",)],
    "geo2": [("1 + x*z - x - z*y",)],
    "geo3": [("z*x - x + a - a*z*y",)],
    "hard": [("q", "r - A", "d - B*p"), ("A - q*B - r", "d - B*p")],
    "knuth": [("d^2*q - 2*q*d - 4*r*d + 4*k*d + 8*r - 8*n", "k*t - t^2")],
    "lcm1": [("x*u + y*v - a*b",)] * 3,
    "lcm2": [("x*u + y*v - 2*a*b",)],
    "mannadiv": [("y1*x2 + y2 + y3 - x1",)],
    "prod4br": [("q + a*b*p - x*y",)],
    "prodbin": [("z + x*y - a*b",)],
    "ps2": [("2*x - y^2 - y",)],
    "ps3": [("6*x - 2*y^3 - 3*y^2 - y",)],
    "ps4": [("4*x - y^4 - 2*y^3 - y^2",)],
    "ps5": [("30*x - 6*y^5 - 15*y^4 - 10*y^3 + y",)],
    "ps6": [("12*x - 2*y^6 - 6*y^5 - 5*y^4 + y^2",)],
    "sqrt1": [("t - 2*a - 1", "s - (a + 1)^2")],
}

PUBLISHED = (
    Published(
        "G-CLN",
        "26 of 27 programs, 53 s on average",
        "Yao et al., PLDI 2020 (arXiv 2003.07959): with inequalities, and proved by a solver; more "
        "samples where they are too few",
    ),
)


class Trace:
    """The traces of a loop: whole numbers, what columns were multiplied by, and runs."""

    def __init__(self, program, loop, names, rows, scales, runs):
        self.program, self.loop, self.names, self.rows = program, loop, names, rows
        self.scales, self.runs = scales, runs


def problems(folder):
    """Yield names, and what reads each."""
    paths = files_of(folder, "*.csv")
    numbered = [path for path in paths if re.search(r"_\d+$", path.stem)]
    if not numbered and len(paths) > 1:
        raise SuiteError(f"{folder}: no file is called name_k.csv.")
    for path in numbered or paths:
        yield inside(folder, path), lambda path=path: trace_of(path)


def trace_of(path) -> Trace:
    """Return the trace of a file."""
    match = re.match(r"(.+)_(\d+)$", path.stem)
    program, loop = (match[1], int(match[2])) if match else (path.stem, 1)
    header, cells = read_numbers(path)
    kept = [j for j, name in enumerate(header) if name not in LABELS]
    if not kept:
        raise ValueError("has no variables.")
    names = [header[j] for j in kept]
    values = [[_fraction(line[j], i, header[j]) for j in kept] for i, line in enumerate(cells, 1)]
    scales = [_scale([row[j] for row in values], name) for j, name in enumerate(names)]
    rows = np.array(
        [[int(cell * k) for cell, k in zip(row, scales, strict=True)] for row in values],
        dtype=object,
    )
    if "run_id" in header:
        runs = np.array([line[header.index("run_id")] for line in cells])
        runs = np.unique(runs, return_inverse=True)[1]
    elif "while_counter" in header:
        counter = [float(line[header.index("while_counter")]) for line in cells]
        runs = np.cumsum(np.diff(counter, prepend=np.inf) <= 0)
    else:
        runs = np.arange(len(rows))
    return Trace(program, loop, names, rows, scales, runs)


def _fraction(cell, row, name):
    try:
        return Fraction(cell)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"row {row}, column {name!r}: {cell!r} is no number.") from None


def _scale(values, name):
    """Return a number that makes a column whole."""
    for scale in SCALES:
        if all((value * scale).denominator == 1 for value in values):
            return scale
    raise ValueError(f"the column {name!r} is not of whole numbers, nor of simple fractions.")


def answer(name, trace) -> list[Case]:
    """Find the invariants of a loop, and judge them."""
    frame = pd.DataFrame(trace.rows, columns=trace.names)
    begun = time.process_time()
    invariants = loop_invariants(frame)
    seconds = time.process_time() - begun
    shown = "; ".join(f"{invariant} = 0" for invariant in invariants)
    refuted = _refuted(trace, frame)
    values = {"program": trace.program, "refuted": refuted, "invariants": len(invariants)}
    equations = EQUATIONS.get(trace.program, [])
    if trace.loop > len(equations):
        return [Case(name, "unjudged", seconds, shown, "its equations are not known", values)]
    equations = equations[trace.loop - 1]
    missing = {v for e in equations for v in re.findall(r"[A-Za-z]\w*", e)} - set(trace.names)
    if missing:
        note = f"has no column {', '.join(sorted(missing))}"
        return [Case(name, "unjudged", seconds, shown, note, values)]
    constant = [
        f"{name} - ({trace.rows[0, j]})"
        for j, name in enumerate(trace.names)
        if len(set(trace.rows[:, j])) == 1
    ]
    known = [*map(str, invariants), *constant]
    missed = [
        e for e in equations if not is_implied(_scaled(e, trace), known, " ".join(trace.names))
    ]
    note = f"not found: {', '.join(missed)}" if missed else f"{len(invariants)} invariants"
    note += f"; {refuted} refuted by runs left out" if refuted else ""
    pairs = zip(trace.names, trace.scales, strict=True)
    scaled = [f"{variable} times {k}" for variable, k in pairs if k > 1]
    note += f"; made whole: {', '.join(scaled)}" if scaled else ""
    values["found"], values["equations"] = len(equations) - len(missed), len(equations)
    outcome = "wrong" if refuted else "found" if not missed else "incomplete"
    return [Case(name, outcome, seconds, shown, note, values)]


def _scaled(equation, trace):
    """Return an equation in the multiplied columns."""
    scales = {n: k for n, k in zip(trace.names, trace.scales, strict=True) if k != 1}
    return re.sub(
        r"[A-Za-z]\w*", lambda m: f"({m[0]}/{scales[m[0]]})" if m[0] in scales else m[0], equation
    )


def _refuted(trace, frame):
    """Return how many invariants of most runs do not hold in the others."""
    runs = np.unique(trace.runs)
    others = np.isin(trace.runs, runs[len(runs) - len(runs) // LEFT_OUT :])
    if not others.any() or others.all():
        return 0
    found = loop_invariants(frame[~others])
    rows = trace.rows[others]
    return sum(any(_value(f, row) != 0 for row in rows) for f in found)


def _value(f, row):
    """Return the value of a polynomial with whole coefficients, exactly."""
    return sum(
        int(coef) * np.prod([int(x) ** e for x, e in zip(row, term, strict=True)], dtype=object)
        for term, coef in zip(f.terms.tolist(), f.coef, strict=True)
    )


def figures(cases):
    """Return figures of loops and programs."""
    judged = [case for case in cases if "equations" in case.values]
    programs = {}
    for case in judged:
        complete = case.values["found"] == case.values["equations"]
        programs[case.values["program"]] = programs.get(case.values["program"], True) and complete
    complete = sum(case.values["found"] == case.values["equations"] for case in judged)
    shown = {
        "loops whose equations are all found": f"{complete} of {len(judged)}",
        "programs, all of whose loops are": f"{sum(programs.values())} of {len(programs)}",
        "equations found": (
            f"{sum(case.values['found'] for case in judged)} of "
            f"{sum(case.values['equations'] for case in judged)}"
        ),
        "wrong: loops with an invariant that runs left out refute": (
            f"{sum(bool(case.values.get('refuted')) for case in cases)} of {len(cases)}"
        ),
        "none: loops without any invariant": (
            f"{sum(case.values.get('invariants') == 0 for case in cases)} of {len(cases)}"
        ),
        "mean seconds": f"{mean(case.seconds for case in cases):.2f}",
    }
    unjudged = [case.name for case in cases if case.outcome == "unjudged"]
    return shown | ({"not judged": ", ".join(unjudged)} if unjudged else {})


SUITE = Suite(
    "nla",
    "NLA: invariants of loops",
    "exact, defaults, from the rows of each file alone; judged by the equations of the sources",
    PUBLISHED,
    problems,
    answer,
    figures,
)
