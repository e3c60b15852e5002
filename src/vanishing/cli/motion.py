"""The command ``motion``: from a table of runs to what stays the same along each."""

import time as clock
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, noise_of, progress
from vanishing.cli.tables import TableOptions, prepared, save_beside, takes_table


@command("vanishing motion pendulum.csv --run run --time t --functions theta=sin,cos")
@takes_table()
def motion(
    data: Data,
    run: Annotated[str, Option(help="The column that says which run a row belongs to.")],
    time: Annotated[
        str | None,
        Option(help="The column of times, which is no part of quantities.", show_default=False),
    ] = None,
    functions: Annotated[
        list[str] | None,
        Option(
            help="Of all columns, as sin,cos, or of one: COLUMN=sin,cos, which may be given again.",
            show_default="none",
        ),
    ] = None,
    max_degree: Annotated[int, Option(min=1, help="Largest degree of a quantity.")] = 3,
    max_terms: Annotated[int, Option(min=1, help="Largest number of terms of a quantity.")] = 8,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Standard deviation of the noise, in all columns or COLUMN=NUMBER, which may be "
            "given again.",
            show_default="unknown",
        ),
    ] = None,
    out: Annotated[
        Path | None, Option(help="Where to save what was found.", show_default=False)
    ] = None,
    *,
    options: TableOptions,
):
    """Find what stays the same along every run of a table, and differs between runs.

    Where nothing is conserved this is said.
    """
    if out is not None:
        check_output(out, data)
    start = clock.perf_counter()
    found = prepared(data, options, {"run": run, "time": time})
    columns = found.names
    if not columns:
        fail(f"{data} has no columns beside those of runs and times.")
    parameters = {
        "functions": _functions(functions or [], columns),
        "noise": _noise(noise, columns),
        "max_degree": max_degree,
        "max_terms": max_terms,
    }
    rows, groups = found.frame(), found.texts["run"]
    if all(label.isdecimal() for label in set(groups)):
        groups = groups.astype(np.int64)  # in the order of numbers, not of text
    from vanishing import ConservedQuantities
    from vanishing.cli.motion_text import write_text

    with progress("Looking for what is conserved"):
        model = ConservedQuantities(**parameters).fit(rows, groups=groups)
    if out is not None:
        save_beside(model, out, found.recipe)
    printer = console(wrapped=False)
    printer.print(f"{data.name}: {len(model.runs_)} runs, {len(rows)} rows, {len(columns)} columns")
    write_text(model)
    if out is not None:
        printer.print(f"\nSaved as {out} ({clock.perf_counter() - start:.1f} s in all)")


def _functions(texts: list[str], columns: list[str]):
    """Return what `ConservedQuantities` takes for functions."""
    from vanishing.algebra.terms import FUNCTIONS

    everywhere: list[str] = []
    by_column: dict[str, list[str]] = {}
    for text in texts:
        name, equals, listed = text.rpartition("=")
        if equals and name not in columns:
            fail(f"--functions is given for {name!r}, which is no column that is used.")
        asked = [word.strip() for word in listed.split(",") if word.strip()]
        unknown = [word for word in asked if word not in FUNCTIONS]
        if unknown or not asked:
            fail(
                f"--functions must be some of {', '.join(FUNCTIONS)} with commas between; got "
                f"{(unknown or [text])[0]!r}.",
                2,
            )
        (by_column.setdefault(name, []) if equals else everywhere).extend(asked)
    if by_column and everywhere:
        fail("--functions is given for all columns and for single ones: choose one way.", 2)
    return {name: tuple(words) for name, words in by_column.items()} or tuple(everywhere)


def _noise(texts: list[str] | None, columns: list[str]):
    """Return what `ConservedQuantities` takes for noise."""
    if not texts:
        return None
    found = noise_of(texts, columns)
    if not isinstance(found, dict):
        return found
    return np.array([found.get(name, 0.0) for name in columns])
