"""The command ``motion``: from a table of runs to what stays the same along each."""

import time as clock
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, progress
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.cli.values import functions_of_columns, noise_of


@command("vanishing motion pendulum.csv --run run --time t --functions theta=sin,cos")
@takes_table()
def motion(
    data: Data,
    run: Annotated[str, Option(help="The column that says which run a row belongs to.")],
    time: Annotated[
        str | None,
        Option(help="The column of times; quantities do not depend on it.", show_default=False),
    ] = None,
    functions: Annotated[
        list[str] | None,
        Option(
            help="Functions that quantities may have: of all columns, such as sin,cos; or of "
            "single ones, COLUMN=sin,cos, once per column.",
            show_default="none",
        ),
    ] = None,
    max_degree: Annotated[int, Option(min=1, help="Largest degree of a quantity.")] = 3,
    max_terms: Annotated[int, Option(min=1, help="Largest number of terms of a quantity.")] = 8,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Standard deviation of the noise: a number for all columns, or COLUMN=NUMBER, "
            "once per column.",
            show_default="unknown",
        ),
    ] = None,
    out: Annotated[
        Path | None, Option(help="Where to save the quantities.", show_default=False)
    ] = None,
    *,
    options: TableOptions,
):
    """Find what stays the same along every run of a table, and differs between runs.

    If nothing is conserved, the command says so.
    """
    if out is not None:
        check_output(out, data)
    start = clock.perf_counter()
    table = prepared(data, options, {"run": run, "time": time})
    columns = table.names
    if not columns:
        fail(f"{data} has no columns besides those of runs and times.")
    parameters = {
        "functions": functions_of_columns(functions or [], columns),
        "noise": noise_of(noise, columns),
        "max_degree": max_degree,
        "max_terms": max_terms,
    }
    rows, groups = table.frame(), table.texts["run"]
    if all(label.isdecimal() for label in set(groups)):
        groups = groups.astype(np.int64)  # in the order of numbers, not of text
    from vanishing import ConservedQuantities
    from vanishing.cli.motion_text import write_text

    with progress("Looking for what is conserved"):
        model = ConservedQuantities(**parameters).fit(rows, groups=groups)
    if out is not None:
        save_with_recipe(model, out, table.recipe)
    printer = console(wrapped=False)
    printer.print(f"{data.name}: {len(model.runs_)} runs, {len(rows)} rows, {len(columns)} columns")
    write_text(model)
    if out is not None:
        printer.print(f"\nSaved as {out} ({clock.perf_counter() - start:.1f} s in all)")
