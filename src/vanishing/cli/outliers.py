"""The command ``outliers``: which rows of a table break its laws, and why."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

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
from vanishing.cli.outlier_rows import (
    HEADER,
    event_cells,
    event_lines,
    scored_cells,
    times_from,
)
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, say, takes_table
from vanishing.tables.conditions import Condition
from vanishing.tables.preparing import PreparedTable


@command("vanishing outliers table.csv --out scored.csv --top 20 --explain")
@takes_table(ignores=True)
def outliers(
    data: Data,
    out: Annotated[
        Path | None,
        Option(help="CSV file of all scores, with reasons; - prints it.", show_default=False),
    ] = None,
    top: Annotated[
        int, Option(min=0, help="How many of the oddest rows, or gravest events, to list.")
    ] = 10,
    explain: Annotated[bool, Option("--explain", help="Say why these rows are odd.")] = False,
    time: Annotated[
        str | None,
        Option(
            help="The column of times: rows are taken in their order, and alarms that follow one "
            "another are one event.",
            show_default=False,
        ),
    ] = None,
    lags: Annotated[
        int,
        Option(min=0, max=100, help="How many rows before each row are columns, too: flow[t-1]."),
    ] = 0,
    train: Annotated[
        list[str] | None,
        Option(
            help="Which rows to learn from, such as 'time < 2024-01-08'; all are scored. May be "
            "repeated, then all must hold.",
            show_default=False,
        ),
    ] = None,
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
    it is; rows below the threshold count as outliers. With --time or --lags, alarms that follow one
    another are one event, and so are values that are stuck and stretches of missing cells.
    """
    if out is not None and not is_stdout(out):
        check_output(out, data)
    if save is not None:
        check_output(save, data)
        if save == out:
            fail(f"{save} is given for the scores and for the detector: give two names.", 2)
    for text in train or ():
        try:
            Condition.read(text)
        except ValueError as problem:
            fail(f"--train: {problem}", 2)
    table = _in_order(prepared(data, options, {"time": time}, ignores=True), time)
    if not table.names:
        fail(f"{data} has no column left to look at.")
    training = _training(data, options, table, time, train or [])
    from vanishing import VanishingOutlierDetector

    model = VanishingOutlierDetector(
        contamination="auto" if contamination is None else contamination,
        false_alarm_rate=false_alarm_rate,
        lags=lags,
        missing="ignore" if options.missing == "ignore" else "error",
        random_state=seed,
    )
    with progress("Fitting"):
        answer = _answer(model.fit(training.frame()), table, time, by_events=bool(time or lags))
    if save is not None:
        roles = table.recipe.roles
        timed = () if time is None or ("time", time) in roles else (("time", time),)
        save_with_recipe(model, save, replace(table.recipe, roles=(*roles, *timed)))
    if out is not None:
        write_or_print(out, _csv(answer))
        if is_stdout(out):
            return
    printer = console(wrapped=False)
    for line in _summary(data.name, answer, len(training.X), top, explain):
        printer.print(line)
    if out is not None:
        printer.print(f"Scores of all rows, with reasons: {out}")
    if save is not None:
        printer.print(f"Saved as {save}")


class _Answer(NamedTuple):
    """A detector, the table that was scored, its scores and events."""

    model: Any
    table: PreparedTable
    X: Any
    scores: np.ndarray
    events: list | None  # None where rows have no order
    time: str | None


def _in_order(table: PreparedTable, time: str | None) -> PreparedTable:
    """Return a table in the order of time."""
    if time is None:
        return table
    times = times_from(table.texts["time"].tolist(), time)
    order = np.argsort(times, kind="stable")
    if (np.diff(times) < 0.0).any():
        say(f"the rows are not in the order of {time!r}: they are taken in it.")
    texts = {role: column[order] for role, column in table.texts.items()}
    return table._replace(X=table.X[order], rows=table.rows[order], texts=texts)


def _training(data, options: TableOptions, table, time, train: list[str]) -> PreparedTable:
    """Return the rows to learn from: all, or those that fulfil conditions."""
    if not train:
        return table
    chosen = replace(options, where=[*(options.where or []), *train])
    part = _in_order(prepared(data, chosen, {"time": time}, ignores=True, says=False), time)
    if part.names != table.names:
        fail("--train leaves columns that are of another kind than those of all rows.")
    return part


def _answer(model, table: PreparedTable, time: str | None, *, by_events: bool) -> _Answer:
    X = table.frame()
    times = None if time is None else times_from(table.texts["time"].tolist(), time)
    events = model.events(X, times) if by_events else None
    return _Answer(model, table, X, model.score_samples(X), events, time)


def _csv(answer: _Answer) -> str:
    """Return the CSV file: names and numbers of rows, scores, events and reasons."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    table, events = answer.table, answer.events
    rows = scored_cells(answer.model, answer.X, answer.scores)
    texts = [(role, table.texts[role]) for role in ("id", "time") if role in table.texts]
    names = [answer.time if role == "time" else table.recipe.role(role) for role, _ in texts]
    header = [*names, "row", *HEADER[:2]]
    header += [*([] if events is None else ["event"]), *HEADER[2:]]
    writer.writerow(header)
    numbers, reasons = ([], {}) if events is None else event_cells(events, len(rows))
    lines = []
    for place, (score, outlier, *why) in enumerate(rows):
        if place in reasons and not outlier:
            why = [*reasons[place], ""]
        number = [] if events is None else [numbers[place]]
        own = [column[place] for _, column in texts]
        lines.append([*own, int(table.rows[place]) + 1, score, outlier, *number, *why])
    writer.writerows(lines[place] for place in np.argsort(table.rows, kind="stable"))
    return text.getvalue()


def _summary(name, answer: _Answer, n_training: int, top: int, explain: bool):
    """Yield the lines that are printed."""
    model, scores, X = answer.model, answer.scores, answer.X
    n_alarms = int(np.count_nonzero(scores < model.offset_))
    learned = f", learned from {n_training}" if n_training != len(X) else ""
    yield (
        f"{name}: {len(X)} rows{learned}, {X.shape[1]} columns, {n_alarms} outliers "
        f"(score below {model.offset_:.3g})"
    )
    laws = model.laws_
    yield "Laws: none that can be read" if not laws else "Laws:"
    for law in laws:
        yield f"  {law}"
    if not top:
        return
    if answer.events is None:
        yield from _oddest(answer, top, explain)
    else:
        texts = answer.table.texts.get("time")
        times = None if texts is None else texts.tolist()
        yield from event_lines(answer.events, answer.table.rows, times, top)


def _oddest(answer: _Answer, top: int, explain: bool):
    """Yield lines about the oddest rows."""
    model, scores, table = answer.model, answer.scores, answer.table
    order = np.argsort(scores, kind="stable")[:top]
    yield f"The {len(order)} oddest rows:"
    reasons = model.explain(answer.X, order) if explain else [[]] * len(order)
    for place, reasons_of_row in zip(order, reasons, strict=True):
        flag = "outlier" if scores[place] < model.offset_ else "normal"
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
