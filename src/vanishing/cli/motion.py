"""The command ``motion``: what stays the same along each run of a table, or how runs move."""

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, progress
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, say, takes_table
from vanishing.cli.values import function_names, functions_of_columns, noise_of
from vanishing.tables.errors import listed
from vanishing.tables.recipe import Recipe

_PICTURES = (".png", ".svg", ".pdf")


@command("vanishing motion runs.csv --time t --run run --equations --out motion.html")
@takes_table()
def motion(
    data: Data,
    run: Annotated[
        str | None,
        Option(
            help="The column that says which run a row belongs to.",
            show_default="with --equations, all rows are one run",
        ),
    ] = None,
    time: Annotated[
        str | None,
        Option(
            help="The column of times, which --equations needs; quantities do not depend on it.",
            show_default=False,
        ),
    ] = None,
    equations: Annotated[
        bool,
        Option(
            "--equations",
            help="Find how runs move, dx/dt = f(x), instead of what stays the same.",
        ),
    ] = False,
    batch: Annotated[
        str | None,
        Option(
            help="With --equations: the column that says which batch a run is of; some constants "
            "then differ between batches.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        Option(
            help="With --equations: a term of your own with constants inside, such as "
            '"x/(K + x + x^2/L)"; may be repeated.',
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        int | None,
        Option(
            min=1,
            max=2,
            help="With --equations: 2 finds accelerations from positions alone.",
            show_default="1",
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        Option(
            help="With --equations: a column that acts on the others and is not explained; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    functions: Annotated[
        list[str] | None,
        Option(
            help="Functions that quantities may have: of all columns, such as sin,cos; or of "
            "single ones, COLUMN=sin,cos, once per column. With --equations: auto, none, or names.",
            show_default="none; with --equations auto",
        ),
    ] = None,
    max_degree: Annotated[int, Option(min=1, help="Largest degree of polynomials.")] = 3,
    max_terms: Annotated[
        int, Option(min=1, help="Largest number of terms of a quantity or an equation.")
    ] = 8,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Standard deviation of the noise: a number for all columns, or COLUMN=NUMBER, "
            "once per column.",
            show_default="unknown",
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        Option(
            help="With --equations: seconds after which the search ends.", show_default="no limit"
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        Option(
            help="File to write, may be repeated: .html for a report, .png, .svg or .pdf for a "
            "picture; any other ending: the result.",
            show_default="the screen alone",
        ),
    ] = None,
    *,
    options: TableOptions,
):
    """Find what stays the same along every run of a table, or, with --equations, how runs move.

    Quantities that stay the same differ between runs. Equations of motion are derivatives of the
    columns by time. If nothing is found, the command says so.
    """
    for path in out or ():
        check_output(path, data)
    start = clock.perf_counter()
    shared = {"max_degree": max_degree, "max_terms": max_terms}
    if equations:
        of_search: dict[str, Any] = {**shared, "order": order or 1, "max_time": max_time}
        of_search |= {"forms": form} if form else {}
        table = _timed_table(data, options, run, time, inputs or [], batch)
        model = _moving(table, functions or [], noise, of_search)
    else:
        _refuse_options(run, order=order, inputs=inputs, max_time=max_time, batch=batch, form=form)
        table = _table_of_runs(data, options, run, time)
        model = _conserved(table, functions or [], noise, shared)
    _say(model, data, table)
    for path in out or ():
        _write(path, model, table, data.name)
    if out:
        seconds = clock.perf_counter() - start
        written = f"Saved as {', '.join(map(str, out))} ({seconds:.1f} s in all)"
        console(wrapped=False).print(f"\n{written}")


class _Runs(NamedTuple):
    """A table of runs."""

    rows: Any  # a frame of the columns
    groups: np.ndarray | None
    recipe: Recipe
    t: Any = None  # one per row
    inputs: Any = None
    batches: np.ndarray | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what a report and a picture need beside the rows."""
        return {
            name: value
            for name, value in (("groups", self.groups), ("t", self.t), ("inputs", self.inputs))
            if value is not None
        }


def _refuse_options(run: str | None, **of_equations):
    """Exit with a sentence where options belong to the other question."""
    for name, value in of_equations.items():
        if value:
            fail(f"--{name.replace('_', '-')} is for --equations: leave it out.", 2)
    if run is None:
        fail(
            "--run is needed: the column that says which run a row belongs to. With --equations "
            "it may be left out, and all rows are one run.",
            2,
        )


# -- What stays the same --------------------------------------------------------------------------


def _table_of_runs(data: Path, options: TableOptions, run, time) -> _Runs:
    table = prepared(data, options, {"run": run, "time": time})
    if not table.names:
        fail(f"{data} has no columns besides those of runs and times.")
    return _Runs(table.frame(), _labels(table.texts["run"]), table.recipe)


def _labels(texts: np.ndarray) -> np.ndarray:
    """Return the labels of runs: in the order of numbers, where they are, and not of text."""
    return texts.astype(np.int64) if all(text.isdecimal() for text in set(texts)) else texts


def _conserved(table: _Runs, functions: list[str], noise, parameters):
    columns = list(table.rows.columns)
    parameters = {
        **parameters,
        "functions": functions_of_columns(functions, columns),
        "noise": noise_of(noise, columns),
    }
    from vanishing import ConservedQuantities

    with progress("Finding conserved quantities"):
        return ConservedQuantities(**parameters).fit(table.rows, groups=table.groups)


# -- How runs move --------------------------------------------------------------------------------


def _timed_table(
    data: Path, options: TableOptions, run, time, inputs: Sequence[str], batch: str | None
) -> _Runs:
    """Return runs with their times and inputs, which have to be numbers as columns have."""
    if time is None:
        fail("--equations needs --time, the column of times.", 2)
    others = [time, *inputs]
    for name in [*others, *([] if batch is None else [batch])]:
        plays = [*others, run, batch, *(options.drop or ())]
        if plays.count(name) > 1:
            fail(f"{name!r} has two parts to play: it is given by more than one option.", 2)
    if options.only:
        options = replace(options, only=[*options.only, *others])
    run = batch if run is None else run
    table = prepared(data, options, {"run": run, "batch": batch})
    for option, name in [("time", time), *(("inputs", name) for name in inputs)]:
        if name not in table.known:
            fail(f"{data} has no column {name!r} (--{option}); it has {listed(table.known, 20)}.")
        if name not in table.names:
            fail(f"The column {name!r} (--{option}) is no column of numbers.")
    rows = table.frame()
    columns = [name for name in table.names if name not in others]
    if not columns:
        fail(f"{data} has no columns besides those of runs, times and inputs.")
    recipe = replace(table.recipe, roles=(*table.recipe.roles, ("time", time)))
    return _Runs(
        rows[columns],
        None if run is None else _labels(table.texts["run"]),
        recipe,
        rows[time].to_numpy(),
        rows[list(inputs)] if inputs else None,
        None if batch is None else _labels(table.texts["batch"]),
    )


def _moving(table: _Runs, functions: list[str], noise, parameters):
    parameters = {
        **parameters,
        "functions": _functions(functions),
        "noise": noise_of(noise, list(table.rows.columns)),
    }
    named = [text for text in noise or [] if "=" in text]
    if named and len(named) < table.rows.shape[1]:
        fail("--noise is given for some columns: give it for all of them, or for none.", 2)
    if parameters["max_time"] is not None and not parameters["max_time"] > 0:
        fail(f"--max-time must be positive; got {parameters['max_time']}.", 2)
    if table.groups is None:
        cells = np.column_stack([np.asarray(table.t), table.rows])
        if len(np.unique(cells, axis=0)) > len(np.unique(cells[:, 0])):
            fail(
                "Rows of the same time have different values: name the column that says which run "
                "a row belongs to with --run."
            )
    from vanishing import EquationsOfMotion

    with progress("Looking for equations of motion"):
        return EquationsOfMotion(**parameters).fit(
            table.rows,
            table.t,
            groups=table.groups,
            inputs=table.inputs,
            batches=table.batches,
        )


def _functions(texts: list[str]):
    """Return what `EquationsOfMotion` takes for functions."""
    if not texts or texts == ["auto"]:
        return "auto"
    if texts == ["none"]:
        return ()
    for text in texts:
        if "=" in text:
            fail(f"--functions {text!r}: equations of motion take functions of all columns.", 2)
    from vanishing.motion.settings import NAMED_FUNCTIONS as known

    return tuple(name for text in texts for name in function_names(text, "auto, none, or ", known))


# -- Answers --------------------------------------------------------------------------------------


def _say(model, data: Path, table: _Runs):
    """Print what was found."""
    from vanishing.cli import equations_of_motion_text, motion_text

    is_moving = hasattr(model, "equations_")
    n_runs, n_columns = len(model.runs_), table.rows.shape[1]
    n_inputs = 0 if table.inputs is None else table.inputs.shape[1]
    counts = [(n_runs, "run"), (len(table.rows), "row"), (n_columns, "column")]
    counts += [(n_inputs, "input")] if n_inputs else []
    said = ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
    console(wrapped=False).print(f"{data.name}: {said}")
    (equations_of_motion_text if is_moving else motion_text).write_text(model)


def _write(path: Path, model, table: _Runs, data_name: str):
    """Write a report, a picture, or what was found, by the ending of a file."""
    ending = path.suffix.lower()
    if ending == ".html":
        from vanishing.report import write_report

        write_report(model, table.rows, path=path, data_name=data_name, **table.arguments)
    elif ending in _PICTURES:
        if not (model.equations_ if hasattr(model, "equations_") else model.quantities_):
            say(f"{path} is not written: there is nothing to draw.")
            return
        import matplotlib

        from vanishing.plot import ConservedQuantitiesDisplay, EquationsOfMotionDisplay

        matplotlib.use("Agg")
        kind = (
            EquationsOfMotionDisplay if hasattr(model, "equations_") else ConservedQuantitiesDisplay
        )
        display = kind.from_estimator(model, table.rows, **table.arguments)
        display.figure_.savefig(path, dpi=150)
    else:
        save_with_recipe(model, path, table.recipe)
