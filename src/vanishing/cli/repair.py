"""The command ``repair``: gaps of a table filled, and values that break its laws replaced."""

import csv
import io
import math
from pathlib import Path
from typing import Annotated

from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import (
    check_output,
    console,
    fail,
    is_stdout,
    print_json,
    progress,
    write_or_print,
)
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.cli.values import noise_of

_REPORT = ("row", "column", "kind", "was", "now", "std", "probability", "law")


@command('vanishing repair table.csv --law "net = quantity*price" --out repaired.csv')
@takes_table(gaps=True)
def repair(
    data: Data,
    out: Annotated[
        Path | None,
        Option(help="CSV file of the repaired table; - prints it.", show_default=False),
    ] = None,
    law: Annotated[
        list[str] | None,
        Option(
            help="A law that holds, such as 'net = quantity*price'; may be repeated.",
            show_default="laws that are found",
        ),
    ] = None,
    degree: Annotated[int, Option(min=1, max=6, help="Largest degree of laws to find.")] = 2,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Standard deviation of the noise: a number, or COLUMN=NUMBER; may be repeated.",
            show_default="estimated",
        ),
    ] = None,
    reconcile: Annotated[
        bool, Option("--reconcile", help="Move all values within their noise onto the laws.")
    ] = False,
    report: Annotated[
        Path | None, Option(help="CSV file with one line per cell.", show_default=False)
    ] = None,
    top: Annotated[int, Option(min=0, help="How many cells to list on the screen.")] = 20,
    save: Annotated[
        Path | None, Option(help="Where to save the laws and the noise.", show_default=False)
    ] = None,
    json: Annotated[bool, Option("--json", help="Print laws and cells as JSON.")] = False,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Decides which rows are sampled.")] = 0,
    *,
    options: TableOptions,
):
    """Fill the gaps of a table, and replace values that break its laws.

    Cells that are empty or no numbers are gaps. Rows are counted from 1, without the line of the
    names. Cells that may be wrong, as others in their row may, are left and named.
    """
    files = [path for path in (out, report, save) if path is not None and not is_stdout(path)]
    for path in files:
        check_output(path, data)
    if len(set(files)) < len(files):
        fail("Two files to write have the same name: give each its own.", 2)
    if json and is_stdout(out):
        fail("--json and --out - both print: choose one.", 2)
    table = prepared(data, options, {}, gaps=True)
    if not table.names:
        fail(f"{data} has no column left to look at.")
    sizes = noise_of(noise, table.names)
    X = table.frame()
    from vanishing import VanishingRepair

    model = VanishingRepair(degree, laws=law, noise=sizes, reconcile=reconcile, random_state=seed)
    with progress("Repairing"):
        cells = model.fit(X).report(X)
        values = model.transform(X)
    texts = {}
    if out is not None:
        texts[out] = _table_text(table, values)
    if report is not None:
        texts[report] = _report_text(table, cells)
    if save is not None:
        save_with_recipe(model, save, table.recipe)
    for path, text in texts.items():
        write_or_print(path, text)
    if json:
        print_json(_document(model, table, cells))
    elif not is_stdout(out) and not is_stdout(report):
        _print(data.name, model, table, cells, top, files)


def _number(value: float) -> str:
    """Write a number with the digits that matter, and no point where it is whole."""
    return "" if math.isnan(value) else f"{value:.15g}"


def _table_text(table, values) -> str:
    """Return the CSV file of the table: the name of each row, if it has one, and its values."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = "id" in table.texts
    writer.writerow([*([table.recipe.role("id")] if named else []), *table.names])
    names = table.texts["id"].tolist() if named else []
    for i, row in enumerate(values.tolist()):
        writer.writerow([*names[i : i + 1], *map(_number, row)])
    return text.getvalue()


def _lines(table, cells) -> list[dict]:
    """Return cells with the numbers that rows have in the file."""
    return [
        {
            "row": int(table.rows[cell.row]) + 1,
            "column": cell.column,
            "kind": cell.kind,
            "was": None if math.isnan(cell.was) else cell.was,
            "now": cell.now,
            "std": cell.std,
            "probability": cell.probability,
            "law": None if cell.law is None else str(cell.law),
        }
        for cell in cells
    ]


def _report_text(table, cells) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _REPORT, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_lines(table, cells))
    return text.getvalue()


def _document(model, table, cells) -> dict:
    from vanishing.cli.law_text import document_of

    return {
        "model": type(model).__name__,
        "n_rows": len(table.rows),
        "columns": list(table.names),
        "noise": dict(zip(table.names, model.noise_.tolist(), strict=True)),
        "laws": [document_of(law) for law in model.laws_],
        "cells": _lines(table, cells),
    }


def _print(name, model, table, cells, top, files):
    """Print the laws, how many cells were changed, and the first of them."""
    printer = console(wrapped=False)
    kinds = [cell.kind for cell in cells]
    printer.print(
        f"{name}: {len(table.rows)} rows, {len(table.names)} columns; {kinds.count('gap')} gaps "
        f"filled, {kinds.count('wrong')} values replaced, {kinds.count('ambiguous')} in doubt"
    )
    printer.print("Laws:" if model.laws_ else "Laws: none")
    for law in model.laws_:
        printer.print(f"  {law}")
    shown = [cell for cell in cells if cell.kind != "reconciled"]
    for cell in shown[:top]:
        printer.print(f"  {cell._replace(row=int(table.rows[cell.row]) + 1)}")
    if len(shown) > top:
        printer.print(f"  and {len(shown) - top} more")
    for path in files:
        printer.print(f"Written: {path}")
