"""The command ``outliers``: which rows of a table break its laws, and why."""

import csv
import io
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, progress
from vanishing.cli.tables import TableOptions, prepared, save_beside, takes_table


@command("vanishing outliers table.csv --out scored.csv --top 20 --explain")
@takes_table()
def outliers(
    data: Data,
    out: Annotated[
        Path | None, Option(help="CSV to write, a line per row; - prints it.", show_default=False)
    ] = None,
    top: Annotated[int, Option(min=0, help="How many rows to tell of, the oddest first.")] = 10,
    explain: Annotated[bool, Option("--explain", help="Say why they are odd.")] = False,
    contamination: Annotated[
        float | None, Option(help="Share of rows that are outliers.", show_default=False)
    ] = None,
    false_alarm_rate: Annotated[
        float, Option(help="Share of normal rows that may be called outliers.")
    ] = 0.01,
    save: Annotated[
        Path | None,
        Option(
            help="Where to save the detector, for show, predict and report.", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int, Option(min=0, max=2**32 - 1, help="Decides which rows are looked at closer.")
    ] = 0,
    *,
    options: TableOptions,
):
    """Find the rows of a table that break its laws, or are unusual.

    Rows are counted from 1, without the line of the names. Scores are lower for rows that are
    odder; those below the threshold count as outliers.
    """
    to_stdout = out is not None and str(out) == "-"
    if out is not None and not to_stdout:
        check_output(out, data)
    if save is not None:
        check_output(save, data)
        if save == out:
            fail(f"{save} is given for the scores and for the detector: give two names.", 2)
    found = prepared(data, options, {})
    if not found.names:
        fail(f"{data} has no column left to look at.")
    X = found.frame()
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
        save_beside(model, save, found.recipe)
    if out is not None:
        text = _lines(found, scores, is_outlier)
        if to_stdout:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        from vanishing.persistence.files import write_atomically

        write_atomically(out, text)
    printer = console(wrapped=False)
    for line in _told(data.name, model, found, scores, is_outlier, top, explain):
        printer.print(line)
    if out is not None:
        printer.print(f"Scores of all rows: {out}")
    if save is not None:
        printer.print(f"Saved as {save}")


def _lines(found, scores, is_outlier) -> str:
    """Return the lines of the CSV file: the name of a row, if it has one, its number, its score."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [found.recipe.role("id")] if "id" in found.texts else []
    writer.writerow([*names, "row", "score", "outlier"])
    columns = [found.texts["id"].tolist()] if names else []
    columns += [(found.rows + 1).tolist(), scores.tolist(), is_outlier.astype(int).tolist()]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _told(name, model, found, scores, is_outlier, top, explain):
    """Yield what is printed."""
    X = found.frame()
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
    for place, why in zip(order, reasons, strict=True):
        flag = "outlier" if is_outlier[place] else "normal"
        called = f" ({found.texts['id'][place]})" if "id" in found.texts else ""
        yield f"  row {found.rows[place] + 1}{called}: score {scores[place]:.3g}, {flag}"
        for reason in why:
            yield f"    {_said(reason)}"


def _said(reason) -> str:
    """Write a reason in a line."""
    parts = [
        f"{column} is {reason['found'][column]:.6g}, expected {reason['expected'][column]:.6g}"
        for column in reason["columns"]
    ]
    law = "" if reason["law"] is None else f" {reason['law']}"
    return f"{reason['kind']}{law}: " + " or ".join(parts)
