"""The command ``laws``: from a table to the equations that its rows obey."""

import time
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, progress
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.cli.values import function_names, noise_of
from vanishing.tables.formats import open_table

_SHOWN = 20  # wrong rows that are named
_PICTURES = (".png", ".svg", ".pdf")


@command("vanishing laws gas.csv --target p --out laws.json")
@takes_table()
def laws(
    data: Data,
    out: Annotated[
        list[Path] | None,
        Option(
            help="File to write, may be repeated: .html for a report, .png, .svg or .pdf for a "
            "picture of the curve, and else the laws themselves.",
            show_default="the screen alone",
        ),
    ] = None,
    target: Annotated[
        str | None,
        Option(help="The column to explain.", show_default="none: laws among all columns"),
    ] = None,
    functions: Annotated[
        str | None,
        Option(
            help="Functions of columns that laws may have: auto, none, or names with commas "
            "between, such as sin,cos.",
            show_default="auto",
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        Option(
            help="Your own curve, tried with the built-in ones, of one column x or two, x and "
            'z, with constants to be fitted: "A*x/(K + x)". Once per curve.',
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Noise in the columns: estimate, or its standard deviation: a number for all "
            "columns, or COLUMN=NUMBER, once per column.",
            show_default="in the target only, estimated",
        ),
    ] = None,
    robust: Annotated[
        bool, Option("--robust", help="Allow for wrong rows: they are left out of the fit.")
    ] = False,
    units: Annotated[
        Path | None,
        Option(
            help='TOML file with a line COLUMN = "UNIT" per column; lines such as '
            'g = "9.81 m/s^2" add constants.',
            show_default=False,
        ),
    ] = None,
    homogeneous: Annotated[
        bool,
        Option("--homogeneous", help="With --units: only laws whose numbers have no dimension."),
    ] = False,
    group: Annotated[
        str | None,
        Option(
            help="A column of groups, such as batches: one law per group, all of one form, and "
            "which constants differ.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        str | None,
        Option(
            help='An equation to check, instead of a search: "p*V = R*n*T".', show_default=False
        ),
    ] = None,
    max_time: Annotated[
        float | None, Option(help="Seconds after which the search ends.", show_default="no limit")
    ] = None,
    *,
    options: TableOptions,
):
    """Find the equations that the rows of a table obey, or check one of yours.

    If there is no law, the command says so, and saves that answer, too.
    """
    of_search = {
        "functions": functions is not None,
        "form": bool(form),
        "noise": bool(noise),
        "homogeneous": homogeneous,
        "max-time": max_time is not None,
    }
    _check_options([name for name, typed in of_search.items() if typed], units, check, max_time)
    if group is not None and target is None and check is None:
        fail("--group needs --target, the column that laws are about.", 2)
    if form and target is None:
        fail("--form needs --target: it says what the target is.", 2)
    if form:
        _check_forms(form)
    for path in out or ():
        check_output(path, data)
    start = time.perf_counter()
    table = prepared(data, options, {"group": group}, target)
    names = table.names
    if len(names) < 2:
        fail(f"{data} has too few columns for a law: two are needed.")
    parameters: dict[str, Any] = {"robust": robust}
    if units is not None:
        parameters["units"] = _read_units(units, names, table.known)
    if check is None:
        parameters |= {"max_time": max_time}
        parameters |= {"homogeneous": True} if homogeneous else {}
        parameters |= {} if functions is None else {"functions": _functions(functions)}
        parameters |= {"forms": form} if form else {}
        parameters |= {"noise": _noise(noise, names, target)} if noise else {}
    rows = table.frame()
    X, y = (rows, None) if target is None else (rows[names[:-1]], rows[target])
    groups = None
    if group is not None:
        import pandas as pd

        groups = pd.Series([text.strip() for text in table.texts["group"]], name=group)
    if check is None:
        model = _search(X, y, groups, parameters)
    else:
        model = _check(check, X, y, groups, parameters)
    from vanishing.cli.law_text import write_text

    of = "" if target is None else f", of which {target!r} is the target"
    printer = console(wrapped=False)
    printer.print(f"{data.name}: {len(rows)} rows, {len(names)} columns{of}")
    write_text(model)
    wrong = _wrong_rows(model, rows, groups, robust)
    notes = []
    if len(wrong):
        notes.append(f"Left out as wrong: {_lines(data, options, table.rows[wrong])}.")
        printer.print(f"\n{notes[0]}")
    for path in out or ():
        _write(path, model, table.recipe, rows, groups, data_name=data.name, notes=notes)
    seconds = f"{time.perf_counter() - start:.1f} s in all"
    saved = f"Saved as {', '.join(map(str, out))} ({seconds})" if out else seconds
    printer.print(f"\n{saved}")


def _check_options(of_search: list[str], units, check, max_time):
    """Exit with a sentence where options do not go together."""
    if check is not None and of_search:
        fail(f"--check looks for no law: leave {' and '.join(f'--{n}' for n in of_search)} out.", 2)
    if "homogeneous" in of_search and units is None:
        fail("--homogeneous needs --units, a file with the unit of each column.", 2)
    if max_time is not None and not max_time > 0:
        fail(f"--max-time must be positive; got {max_time}.", 2)


def _check_forms(texts: list[str]) -> None:
    """Exit with a sentence where a form cannot be read."""
    from vanishing.equations.forms import given_forms

    try:
        given_forms(texts, "auto")
    except ValueError as problem:
        fail(f"--form: {problem}", 2)


def _functions(text: str):
    """Return what `LawFinder` takes for functions."""
    if text in ("auto", "none"):
        return "auto" if text == "auto" else ()
    return function_names(text, "auto, none, or ")


def _noise(texts: list[str], names: list[str], target: str | None):
    """Return what `LawFinder` takes for noise."""
    return "estimate" if texts == ["estimate"] else noise_of(texts, names, target)


def _read_units(path: Path, names: list[str], known: list[str]) -> dict[str, str]:
    """Return the units that a TOML file gives, without those of columns that are left out."""
    import tomllib

    if path.is_dir():
        fail(f"{path} is a folder, not a file of units.")
    if not path.exists():
        fail(f"There is no file {path}.")
    try:
        units = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        fail(f'{path} is no TOML ({problem}): write a line such as F = "N" per column.')
    from vanishing.algebra.quantities import read_units

    left_out = set(known) - set(names)
    units = {name: unit for name, unit in units.items() if name not in left_out}
    try:
        read_units(units, names)
    except (TypeError, ValueError) as problem:
        fail(f"{path}: {problem}")
    return units


def _search(X, y, groups, parameters):
    from vanishing import LawFinder

    with progress("Looking for laws"):
        return LawFinder(**parameters).fit(X, y, groups=groups)


def _check(equation, X, y, groups, parameters):
    from vanishing import check_law

    with progress("Checking the equation"):
        return check_law(equation, X, y, groups=groups, **parameters)


def _wrong_rows(model, rows, groups, robust: bool):
    """Return the rows that a robust fit left out, or would."""
    import numpy as np

    from vanishing.inspection import law_anatomy, law_rows

    answer = law_anatomy(model)
    if not robust or answer.best is None or not answer.holds:
        return []
    if not hasattr(model, "laws_"):
        return np.array(model.wrong_rows, dtype=np.intp)
    return np.flatnonzero(law_rows(answer.by_group or answer.best, rows, groups=groups).far)


def _lines(data: Path, options: TableOptions, places) -> str:
    """Return where rows are in a file, the first ones."""
    shown = places[:_SHOWN].tolist()
    lines = open_table(data, layout=options.layout).lines(shown)
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(lines[place] for place in shown) + more


def _write(path: Path, model, recipe, rows, groups, **heading):
    """Write a report, a picture, or the laws, by the ending of a file."""
    ending = path.suffix.lower()
    if ending == ".html":
        from vanishing.report import write_report

        write_report(model, rows, path=path, groups=groups, **heading)
    elif ending in _PICTURES:
        import matplotlib

        from vanishing.plot import LawCurveDisplay

        matplotlib.use("Agg")
        LawCurveDisplay.from_estimator(model, rows, groups=groups).figure_.savefig(path, dpi=150)
    else:
        save_with_recipe(model, path, recipe)
