"""EmpiricalBench of the PySR paper: laws as they were found, from `equations.yml` and its tables.

A problem is a table of the file (columns in the entry, or a CSV with formulas for its columns), or
is drawn by its generator, with the suite's own seeds, so that rows and noise are those of its
paper. Where the suite plots the target on a logarithmic axis, it hands out the target's logarithm;
so does this, and answers for the target itself on a line of its own.

Whether a claim is the law: for a generator, by fresh rows without noise (`honesty_judge`). For
tables that were measured, by form: the formula of the entry, with every constant free, has to
reproduce what the claim predicts.
"""

import re
from hashlib import sha256

import numpy as np
from external_formulas import SuiteFormula, freed, latex_form
from external_laws import law_case
from external_records import (
    Case,
    Published,
    Suite,
    SuiteError,
    counts,
    entry,
    file_of,
    load_yaml,
    mean,
    number,
    read_numbers,
    table_of_numbers,
)
from honesty_tables import Table

NOISE = 0.1  # where the suite has none

PUBLISHED = (
    Published(
        "PySR",
        "7 of 9 (all of five trials; Planck and Rydberg in none)",
        "M. Cranmer, arXiv 2305.01582: one hour on eight cores; right if any expression of the "
        "front is, by eye",
    ),
)


class Problem:
    """A table with its form, and the rows without noise where they are known."""

    def __init__(self, name, columns, X, y, form, fresh=None, scale=0.0, kind="rms"):
        self.name, self.columns, self.X, self.y = name, tuple(columns), X, y
        self.form, self.fresh, self.scale, self.kind = form, fresh, scale, kind


def problems(folder):
    """Yield names, and what reads each."""
    path = file_of(folder, "equations.y*ml", "*.y*ml")
    records = load_yaml(path)
    records = records.get("problems", records) if isinstance(records, dict) else None
    if not isinstance(records, dict) or not records:
        raise SuiteError(f"{path}: has no problems by name.")
    for name, record in records.items():
        yield str(name), lambda record=record, name=name: read(str(name), record, path.parent)


def read(name, record, folder) -> list[Problem]:
    """Return the problem of an entry; with and without logarithm where the suite takes it."""
    use = record.get("use") or ("data" if "data" in record else "data_generator")
    if use == "data_generator":
        made = _generated(name, record)
    else:
        made = _measured(name, entry(record, use), record, folder)
    if not np.isfinite(made.X).all() or len(made.y) < 3:
        raise ValueError(f"has {len(made.y)} rows, or cells that are no finite numbers.")
    if not _is_logarithmic(record):
        return [made]
    return [_logarithm(made), made] if (made.y > 0).all() else [made]


def _is_logarithmic(record):
    """Say whether the suite takes the logarithm of the target."""
    plot = record.get("plot") or {}
    if "yscale" in plot:
        return plot["yscale"] == "log"
    reduced = str((record.get("equation") or {}).get("reduced", ""))
    return reduced.lstrip().startswith("\\log(")


def _logarithm(problem):
    """Return a problem whose target is the logarithm of another's."""

    def fresh(n, random, beyond):
        X, y = problem.fresh(n, random, beyond)
        with np.errstate(all="ignore"):
            return X, np.log(y).astype(float)

    return Problem(
        f"{problem.name} (logarithm, as the suite has it)",
        problem.columns,
        problem.X,
        np.log(problem.y).astype(float),
        None if problem.form is None else f"log({problem.form})",
        fresh if problem.fresh else None,
        problem.scale if problem.kind == "relative" else 0.0,
        "rms",
    )


# -- Tables that were measured --------------------------------------------------------------------


def _measured(name, data, record, folder):
    """Return the problem of columns in the entry, or of a CSV: by its name, or with formulas."""
    csv = data.get("csv") if isinstance(data, dict) else data
    if csv is not None:
        columns = _of_csv(csv if isinstance(csv, dict) else {"filename": csv}, folder)
    elif "inputs" in data:
        columns = dict(data["inputs"]) | {"target": entry(data, "target")}
    else:
        columns = dict(data)
    columns = {str(k): _column(values, k) for k, values in columns.items()}
    # The target is called so, or as in the equation, or comes last.
    named = ("target", str((record.get("equation") or {}).get("target")), list(columns)[-1])
    y = columns.pop(next(column for column in named if column in columns))
    lengths = {len(column) for column in columns.values()} | {len(y)}
    if len(lengths) != 1:
        raise ValueError(f"columns have {', '.join(map(str, sorted(lengths)))} values.")
    if not columns:
        raise ValueError("has no column but the target.")
    X = np.column_stack(list(columns.values()))
    return Problem(name, columns, X, y, form_of(record, list(columns)))


def _of_csv(csv, folder):
    """Return the columns of a CSV, or what formulas make of them."""
    path = folder / str(entry(csv, "filename"))
    header, cells = read_numbers(path)
    values = dict(zip(header, table_of_numbers(cells, header).T, strict=True))
    if "transform" not in csv:
        return values
    if "target" not in csv["transform"]:
        raise ValueError(f"{path.name}: the transform has no target.")
    return {k: SuiteFormula(text)(values) for k, text in csv["transform"].items()}


def _column(values, name):
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise ValueError(f"{name} is no list of numbers.")
    return np.array([number(value, f"a value of {name}") for value in values])


def form_of(record, columns):
    """Return the formula of an entry with names for its constants, or None."""
    equation = record.get("equation") or {}
    generator = record.get("data_generator") or {}
    texts = [str(generator["callable"])] if "callable" in generator else []
    texts += [
        freed(latex_form(str(equation[k]))) for k in ("taken", "original") if _solved(equation, k)
    ]
    if _solved(equation, "reduced_enum"):
        text = latex_form(str(equation["reduced_enum"]))
        places = {f"x_{j}": column for j, column in enumerate(columns)}
        texts.append(re.sub(r"\bx_\d+\b", lambda m: places.get(m[0], m[0]), text))
    for text in texts:
        try:
            formula = SuiteFormula(text)
        except ValueError:
            continue
        if set(columns) <= set(formula.names):
            return formula.text
    return None


def _solved(equation, key):
    """Say whether an equation is there and has a name alone on its left, as P^2 = k a^3 has not."""
    return bool(re.match(r"\s*\\?\w+\s*=", str(equation.get(key, ""))))


# -- Tables that are drawn ------------------------------------------------------------------------


def _generated(name, record):
    """Return the problem that a generator draws, with the suite's own seed."""
    generator = entry(record, "data_generator")
    formula = SuiteFormula(entry(generator, "callable", "the generator"))
    arguments = [str(argument) for argument in entry(generator, "args", "the generator")]
    constants = {
        str(k): np.longdouble(number(v, f"the constant {k}"))
        for k, v in (generator.get("constants") or {}).items()
        if str(v) != "None"
    }
    unknown = set(formula.names) - set(arguments) - set(constants)
    if unknown:
        raise ValueError(f"the constant {sorted(unknown)[0]!r} of its formula has no value.")
    n = int(number(entry(generator, "size", "the generator"), "the size"))

    def rows(n, random, beyond=0.0):
        return _drawn(generator, arguments, n, random, beyond)

    def value(columns):
        long = {k: np.asarray(v, dtype=np.longdouble) for k, v in columns.items()}
        return formula(long | constants)

    key = str(record.get("key", name))
    seed = np.frombuffer(sha256(key.encode()).digest(), dtype=np.uint32)
    random = np.random.RandomState(seed)
    columns = rows(n, random)
    y = np.array(value(columns))
    columns, y, scale, kind = _with_noise(generator.get("noise") or {}, columns, y, random)

    def fresh(n, random, beyond):
        drawn = rows(n, random, beyond)
        return np.column_stack([drawn[a] for a in arguments]), np.array(value(drawn))

    X = np.column_stack([columns[a] for a in arguments])
    return Problem(name, arguments, X, y, form_of(record, arguments), fresh, scale, kind)


def _with_noise(noise, columns, y, random):
    """Return columns and target with the suite's noise, its scale, and its kind."""
    scale = NOISE if str(noise.get("scale")) == "None" else number(noise["scale"], "the noise")
    kind = str(noise.get("type"))
    draws = random.randn(len(y))
    name = noise.get("var")
    spoiled = y if name is None else columns[name]
    size = {"absolute": 1.0, "relative": np.abs(spoiled)}.get(kind, np.std(spoiled))
    signed = {"relative": spoiled}.get(kind, size)
    spoiled = spoiled + draws * signed * scale
    if name is not None:
        return columns | {name: spoiled}, y, 0.0, "rms"
    return columns, spoiled, float(scale * (1.0 if kind == "relative" else size)), kind


_DRAW = re.compile(r"^\s*(\w+)\s*=\s*\w+\.randint\((.+),(.+)\)\s*(?:#.*)?$")


def _drawn(generator, arguments, n, random, beyond=0.0):
    """Return columns over the ranges of a generator, or by its lines of whole numbers."""
    if "ranges" not in generator:
        return _whole_numbers(
            str(entry(generator, "custom_generation", "the generator")), n, random
        )
    columns = {}
    for argument in arguments:
        values = list(entry(generator["ranges"], argument, "the ranges"))
        if len(values) not in (2, 3):
            raise ValueError(f"the range of {argument} has {len(values)} entries.")
        low, high = (number(value, f"the range of {argument}") for value in values[:2])
        log = len(values) == 2 or str(values[2]) == "log"
        if log and not 0 < low < high:
            raise ValueError(f"the range of {argument} has no logarithm.")
        low, high = np.log([low, high]) if log else (low, high)
        edge = beyond * (high - low)
        drawn = random.rand(n) * (high - low + 2 * edge) + low - edge
        columns[argument] = np.exp(drawn) if log else drawn
    return columns


def _whole_numbers(text, n, random):
    """Return columns of lines such as ``n = rstate.randint(1, 7)``; other lines convert them."""
    lines = [match.groups() for line in text.splitlines() if (match := _DRAW.match(line))]
    if not lines:
        raise ValueError("its generation is none of ranges or lines with randint.")
    bounds = [(name, SuiteFormula(low), SuiteFormula(high)) for name, low, high in lines]
    columns = {name: np.empty(n) for name, _, _ in bounds}
    for i in range(n):
        row = {}
        for name, low, high in bounds:
            row[name] = float(random.randint(int(low(row)), int(high(row))))
            columns[name][i] = row[name]
    return columns


# -- Answers --------------------------------------------------------------------------------------


def answer(name, made) -> list[Case]:
    """Fit and judge the tables of a problem."""
    return [law_case(_table(problem), problem.form) for problem in made]


def _table(problem):
    """Return what the judge of laws takes."""
    y = problem.y.astype(float)
    relative = problem.kind == "relative"
    return Table(
        problem.name,
        problem.form or "",
        problem.columns,
        problem.X,
        y,
        problem.fresh,
        ("relative" if relative else "rms", problem.scale),
        problem.scale * (np.abs(y) if relative else np.ones(len(y))),
    )


def figures(cases):
    """Return figures, in the suite's own targets and in the targets themselves."""
    logarithms = {case.name.partition(" (")[0] for case in cases if "(logarithm" in case.name}
    plain = [case for case in cases if "(logarithm" not in case.name]
    suites = [c for c in cases if "(logarithm" in c.name or c.name not in logarithms]
    shown = {f"targets as the suite has them: {k}": v for k, v in counts(suites).items()}
    shown |= {f"targets without logarithms: {k}": v for k, v in counts(plain).items()}
    for words, some in (("as the suite has them", suites), ("without logarithms", plain)):
        n = sum(bool(case.values.get("front")) for case in some)
        shown[f"targets {words}: some equation of the front"] = f"{n} of {len(some)}"
    return shown | {"mean seconds": f"{mean(case.seconds for case in cases):.2f}"}


SUITE = Suite(
    "empirical",
    "EmpiricalBench: laws as they were first found",
    "the suite's own rows and seeds, defaults, one answer: the first law; tables that were "
    "measured are judged by form, drawn ones on fresh rows",
    PUBLISHED,
    problems,
    answer,
    figures,
)
