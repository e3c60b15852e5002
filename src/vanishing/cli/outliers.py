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
from vanishing.rows.tables import open_table


@command("vanishing outliers table.csv --out scored.csv --top 20 --explain")
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
    drop: Annotated[
        list[str] | None,
        Option(help="A column to leave out; may be given again.", show_default=False),
    ] = None,
    seed: Annotated[
        int, Option(min=0, max=2**32 - 1, help="Decides which rows are looked at closer.")
    ] = 0,
):
    """Find the rows of a table that break its laws, or are unusual.

    All columns must hold numbers. Rows are counted from 1, without the line of the names. Scores
    are lower for rows that are odder; those below the threshold count as outliers.
    """
    to_stdout = out is not None and str(out) == "-"
    if out is not None and not to_stdout:
        check_output(out, data)
    table = open_table(data)
    columns = table.others(drop or [])
    if not columns:
        fail(f"{data} has no column left to look at.")
    with progress(f"Reading {data.name}"):
        X, _ = table.read(columns)
    from vanishing import VanishingOutlierDetector

    share = "auto" if contamination is None else contamination
    model = VanishingOutlierDetector(
        contamination=share, false_alarm_rate=false_alarm_rate, random_state=seed
    )
    with progress("Fitting"):
        scores = model.fit(X).score_samples(X)
    is_outlier = scores < model.offset_
    if out is not None:
        text = _lines(scores, is_outlier)
        if to_stdout:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        from vanishing.persistence.files import write_atomically

        write_atomically(out, text)
    printer = console(wrapped=False)
    for line in _told(data.name, model, X, scores, is_outlier, top, explain):
        printer.print(line)
    if out is not None:
        printer.print(f"Scores of all rows: {out}")


def _lines(scores, is_outlier) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "score", "outlier"])
    pairs = zip(scores.tolist(), is_outlier.tolist(), strict=True)
    writer.writerows([i, score, int(flag)] for i, (score, flag) in enumerate(pairs, start=1))
    return text.getvalue()


def _told(name, model, X, scores, is_outlier, top, explain):
    """Yield what is printed."""
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
    for place, found in zip(order, reasons, strict=True):
        flag = "outlier" if is_outlier[place] else "normal"
        yield f"  row {place + 1}: score {scores[place]:.3g}, {flag}"
        for reason in found:
            yield f"    {_said(reason)}"


def _said(reason) -> str:
    """Write a reason in a line."""
    parts = [
        f"{column} is {reason['found'][column]:.6g}, expected {reason['expected'][column]:.6g}"
        for column in reason["columns"]
    ]
    law = "" if reason["law"] is None else f" {reason['law']}"
    return f"{reason['kind']}{law}: " + " or ".join(parts)
