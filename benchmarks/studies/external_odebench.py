"""ODEBench (63 systems of one to four equations), from its one JSON file.

Equations are found along the run of the first start, with the suite's noise (each value times
1 + s e) and share of rows left out, and judged along the runs that the file has: a fit follows a
run if, integrated from the run's clean start, it has an R2 above .9 along it, all columns weighted
by their variance (in eight pieces where the true equations do not follow from a start .1 % off).
"""

import json
import time
import warnings

import numpy as np
from external_formulas import SuiteFormula
from external_records import Case, Published, Suite, SuiteError, entry, file_of, mean, number
from motion_equations import Table, judge

from vanishing import EquationsOfMotion

SETTINGS = ((0.0, False), (0.05, False), (0.05, True))  # noise; whether half the rows are left out
LEAST_ROWS = 10

_COLLECTED = "collected from papers that use ODEBench (FIM-ODE, arXiv 2510.12650; MDBench, arXiv "
_COLLECTED += "2509.20529; ODEFormer, arXiv 2310.05573); their protocols differ"
PUBLISHED = (
    Published(
        "GEP.jl, PySR, FIM-ODE, SINDy, ODEFormer",
        "94, 86, 84, 79, 63 % follow their run, clean",
        _COLLECTED,
    ),
    Published(
        "FIM-ODE",
        "75 % follow their run at noise .05; 33 % from the other start at .03",
        _COLLECTED,
    ),
    Published("SINDy, PySR, ODEFormer", "18.5, 18.1, 16.5 % of equations recovered", _COLLECTED),
)


class Solved:
    """A system whose runs are those of a file."""

    def __init__(self, table: Table, runs):
        self.table, self.runs = table, runs
        self.name, self.columns, self.starts, self.t = (
            table.name,
            table.columns,
            table.starts,
            table.t,
        )

    def slopes(self, X):
        """Return the derivatives on rows of states."""
        return self.table.slopes(X)

    def run(self, start):
        """Return the states along a run: the file's, or integrated from another start."""
        for begin, states in zip(self.starts, self.runs, strict=True):
            if np.array_equal(start, begin) or np.array_equal(start, states[0]):
                return states
        return self.table.run(start)


def problems(folder):
    """Yield names, and what reads each."""
    path = file_of(folder, "strogatz_extended.json", "*.json")
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise SuiteError(f"{path}: cannot be read: {problem}") from None
    if not isinstance(records, list):
        raise SuiteError(f"{path}: holds no list of systems.")
    for i, record in enumerate(records):
        name = record.get("id") if isinstance(record, dict) else None
        name = f"record {i + 1}" if name is None else name
        about = str(record.get("eq_description", "")) if isinstance(record, dict) else ""
        yield f"{name} {about}".strip(), lambda record=record: system_of(record)


def system_of(record) -> Solved:
    """Return the system of a record."""
    texts = _equations(record)
    columns = tuple(f"x_{j}" for j in range(len(texts)))
    formulas = tuple(map(SuiteFormula, texts))
    for formula in formulas:
        unknown = set(formula.names) - set(columns)
        if unknown:
            raise ValueError(
                f"the equation {formula.text!r} has the unknown {sorted(unknown)[0]!r}."
            )
    solutions = entry(record, "solutions")[0]
    if len(solutions) < 2:
        raise ValueError("has fewer than two runs.")
    runs = [_run(solution, len(columns)) for solution in solutions[:2]]
    t, first = runs[0]
    starts = tuple(states[0] for _, states in runs)
    table = Table(str(entry(record, "id")), columns, formulas, starts, t)
    # The other run is asked for at the times of the first: integrated where it has others.
    same = len(runs[1][0]) == len(t) and np.allclose(runs[1][0], t)
    return Solved(table, [first, runs[1][1] if same else table.run(starts[1])])


def _equations(record) -> list[str]:
    """Return the right-hand sides with numbers."""
    substituted = record.get("substituted")
    if substituted:
        return [str(text) for text in substituted[0]]
    texts = [text.strip() for text in str(entry(record, "eq")).split("|")]
    values = (record.get("consts") or [[]])[0]
    for j in reversed(range(len(values))):
        texts = [text.replace(f"c_{j}", f"({number(values[j], f'c_{j}')!r})") for text in texts]
    return texts


def _run(solution, n_columns):
    """Return times and states of a solution."""
    if solution.get("success") is False:
        raise ValueError(f"a run was not solved: {solution.get('message', 'no reason is given')}")
    t = np.array([number(value, "a time") for value in entry(solution, "t", "the solution")])
    y = np.array(entry(solution, "y", "the solution"), dtype=float)
    if y.ndim != 2 or n_columns not in y.shape:
        raise ValueError(f"a run has the shape {y.shape}, for {n_columns} columns.")
    states = y.T if y.shape == (n_columns, len(t)) else y
    if states.shape != (len(t), n_columns):
        raise ValueError(f"a run has {len(t)} times and values of the shape {y.shape}.")
    if len(t) < LEAST_ROWS:
        raise ValueError(f"a run has {len(t)} rows; {LEAST_ROWS} are needed.")
    if not (np.isfinite(t).all() and np.isfinite(states).all()) or (np.diff(t) <= 0).any():
        raise ValueError("times do not increase, or states are not finite.")
    return t, states


def answer(name, system) -> list[Case]:
    """Find the equations of a system in each setting, and judge them."""
    return [_case(name, system, noise, half) for noise, half in SETTINGS]


def _case(name, system, noise, half):
    seconds = []

    def fitted(X, t):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            model = EquationsOfMotion().fit(X, t)
            seconds.append(time.process_time() - begun)
            return model

    one = judge(system, 0, noise, half, 0, fitted)
    equations = "; ".join(map(str, one.model.equations_))
    claims = bool(one.model.equations_)
    outcome = "none" if not claims else "found" if one.follows else "wrong"
    label = f"{name}, noise {noise:g}{', half the rows' if half else ''}"
    values = {
        "setting": f"noise {noise:g}{', half the rows' if half else ''}",
        "follows": one.follows,
        "other start": one.new_start,
        "right": one.right,
        "terms": one.terms,
        "obeys": str(one.verdict).startswith("obeys"),
    }
    words = ("no", "yes")
    note = f"other start: {words[one.new_start]}; right within 1 %: {words[one.right]}"
    return Case(label, outcome, seconds[0], equations or str(one.verdict), note, values)


def figures(cases):
    """Return shares of systems, by setting."""
    shown = {}
    for setting in dict.fromkeys(case.values["setting"] for case in cases if case.values):
        some = [case for case in cases if case.values.get("setting") == setting]
        for key, words in (
            ("follows", "follows its run (R2 > .9)"),
            ("other start", "follows from the other start"),
            ("right", "right within 1 % on fresh states"),
            ("terms", "right terms"),
        ):
            n = sum(case.values[key] for case in some)
            shown[f"{setting}: {words}"] = f"{n} of {len(some)} ({100 * n / len(some):.1f} %)"
        wrong = sum(case.outcome == "wrong" for case in some)
        sure = sum(case.values["obeys"] and not case.values["terms"] for case in some)
        none = sum(case.outcome == "none" for case in some)
        shown[f"{setting}: claims that do not follow their run"] = f"{wrong} of {len(some)}"
        shown[f"{setting}: 'obeys' without the right terms"] = f"{sure} of {len(some)}"
        shown[f"{setting}: none claimed"] = f"{none} of {len(some)}"
        shown[f"{setting}: mean seconds"] = f"{mean(case.seconds for case in some):.2f}"
    failed = sum(case.outcome == "failed" for case in cases)
    return shown | ({"failed": f"{failed} systems"} if failed else {})


SUITE = Suite(
    "odebench",
    "ODEBench: equations of motion from one run",
    "found along the first start, defaults; judged along the clean runs of both starts",
    PUBLISHED,
    problems,
    answer,
    figures,
)
