"""The command ``outliers``: which rows of a table break its laws, and why."""

import csv
import io
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import (
    check_output,
    console,
    fail,
    is_stdout,
    progress,
    write_or_print,
)
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table


@command("vanishing outliers table.csv --out scored.csv --top 20 --explain")
@takes_table()
def outliers(
    data: Data,
    out: Annotated[
        Path | None, Option(help="CSV file of all scores; - prints it.", show_default=False)
    ] = None,
    top: Annotated[int, Option(min=0, help="How many of the oddest rows to list.")] = 10,
    explain: Annotated[bool, Option("--explain", help="Say why these rows are odd.")] = False,
    contamination: Annotated[
        float | None,
        Option(help="Share of rows that are outliers, if known.", show_default=False),
    ] = None,
    false_alarm_rate: Annotated[
        float, Option(help="Share of normal rows that may count as outliers.")
    ] = 0.01,
    save: Annotated[
        Path | None,
        Option(
            help="Where to save the detector, for show, predict and report.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Decides which rows are sampled.")] = 0,
    *,
    options: TableOptions,
):
    """Find the rows of a table that break its laws, or are unusual.

    Rows are counted from 1, without the line of the names. The lower the score of a row, the odder
    it is; rows below the threshold count as outliers.
    """
    if out is not None and not is_stdout(out):
        check_output(out, data)
    if save is not None:
        check_output(save, data)
        if save == out:
            fail(f"{save} is given for the scores and for the detector: give two names.", 2)
    table = prepared(data, options, {})
    if not table.names:
        fail(f"{data} has no column left to look at.")
    X = table.frame()
    from vanishing import VanishingOutlierDetector

    model = VanishingOutlierDetector(
        contamination="auto" if contamination is None else contamination,
        false_alarm_rate=false_alarm_rate,
        random_state=seed,
    )
    with progress("Fitting"):
        scores = model.fit(X).score_samples(X)
    is_outlier = scores < model.offset_
    if save is not None:
        save_with_recipe(model, save, table.recipe)
    if out is not None:
        write_or_print(out, _csv(table, scores, is_outlier))
        if is_stdout(out):
            return
    printer = console(wrapped=False)
    for line in _summary(data.name, model, table, scores, is_outlier, top, explain):
        printer.print(line)
    if out is not None:
        printer.print(f"Scores of all rows: {out}")
    if save is not None:
        printer.print(f"Saved as {save}")


def _csv(table, scores, is_outlier) -> str:
    """Return the CSV file: the name of a row, if it has one, its number, its score."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [table.recipe.role("id")] if "id" in table.texts else []
    writer.writerow([*names, "row", "score", "outlier"])
    columns = [table.texts["id"].tolist()] if names else []
    columns += [(table.rows + 1).tolist(), scores.tolist(), is_outlier.astype(int).tolist()]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _summary(name, model, table, scores, is_outlier, top, explain):
    """Yield the lines that are printed."""
    X = table.frame()
    yield (
        f"{name}: {len(X)} rows, {X.shape[1]} columns, {int(is_outlier.sum())} outliers "
        f"(score below {model.offset_:.3g})"
    )
    laws = model.laws_
    yield "Laws: none that can be read" if not laws else "Laws:"
    for law in laws:
        yield f"  {law}"
    order = np.argsort(scores, kind="stable")[:top]
    if not len(order):
        return
    yield f"The {len(order)} oddest rows:"
    reasons = model.explain(X.iloc[order]) if explain else [[]] * len(order)
    for place, reasons_of_row in zip(order, reasons, strict=True):
        flag = "outlier" if is_outlier[place] else "normal"
        identifier = f" ({table.texts['id'][place]})" if "id" in table.texts else ""
        yield f"  row {table.rows[place] + 1}{identifier}: score {scores[place]:.3g}, {flag}"
        for reason in reasons_of_row:
            yield f"    {_sentence(reason)}"


def _sentence(reason) -> str:
    """Write a reason in a line."""
    parts = [
        f"{column} is {reason['found'][column]:.6g}, expected {reason['expected'][column]:.6g}"
        for column in reason["columns"]
    ]
    law = "" if reason["law"] is None else f" {reason['law']}"
    return f"{reason['kind']}{law}: " + " or ".join(parts)
