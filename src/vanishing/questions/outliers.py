"""Rows that break the laws of a table, and why they do."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vanishing.questions.answer import PICTURES, Answer, AnswerTable
from vanishing.questions.files import model_file, picture_file, report_file, rows_file
from vanishing.questions.outlier_rows import (
    HEADER,
    event_cells,
    event_lines,
    scored_cells,
    times_from,
)
from vanishing.questions.pictures import score_pictures
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable, conditions
from vanishing.tables.cells import is_date
from vanishing.tables.preparing import PreparedTable


class _Scored(NamedTuple):
    """A detector, the table that was scored, its scores and events."""

    model: Any
    table: PreparedTable
    X: Any
    scores: np.ndarray
    times: np.ndarray | None
    events: list | None  # None where rows have no order
    time: str | None


def _answer(table: QuestionTable, **given) -> Answer:
    time, lags = given["time"], given["lags"]
    conditions(given["train"], "train")
    notes: list[str] = []
    prepared = _in_order(table.prepared({"time": time}, ignores=True, timed=True), time, notes)
    if not prepared.names:
        raise ValueError(f"{table.path} has no column left to look at.")
    training = _training(table, prepared, time, given["train"])
    from vanishing import VanishingOutlierDetector

    contamination = given["contamination"]
    model = VanishingOutlierDetector(
        contamination="auto" if contamination is None else contamination,
        false_alarm_rate=given["false_alarm_rate"],
        lags=lags,
        missing="ignore" if table.reading.missing == "ignore" else "error",
        random_state=given["seed"],
    ).fit(training.frame())
    scored = _scored(model, prepared, time, by_events=bool(time or lags))
    return _answered(table, scored, len(training.X), given, [*prepared.notes, *notes])


def _in_order(table: PreparedTable, time: str | None, notes: list[str]) -> PreparedTable:
    """Return a table in the order of time."""
    if time is None:
        return table
    times = times_from(table.texts["time"].tolist(), time)
    order = np.argsort(times, kind="stable")
    if (np.diff(times) < 0.0).any():
        notes.append(f"the rows are not in the order of {time!r}: they were sorted by it.")
    texts = {role: column[order] for role, column in table.texts.items()}
    return table._replace(X=table.X[order], rows=table.rows[order], texts=texts)


def _training(table: QuestionTable, prepared, time, train) -> PreparedTable:
    """Return the rows to learn from: all, or those that fulfil conditions."""
    if not train:
        return prepared
    chosen = replace(table.reading, where=(*table.reading.where, *train))
    part = QuestionTable(table.path, chosen).prepared({"time": time}, ignores=True, timed=True)
    part = _in_order(part, time, [])
    if part.names != prepared.names:
        raise ValueError("--train leaves columns that are of another kind than those of all rows.")
    return part


def _scored(model, table: PreparedTable, time: str | None, *, by_events: bool) -> _Scored:
    X, times = table.frame(), None
    if time is not None:
        times = times_from(table.texts["time"].tolist(), time)
    events = model.events(X, times) if by_events else None
    return _Scored(model, table, X, model.score_samples(X), times, events, time)


def _answered(table, scored: _Scored, n_training: int, given, notes: list[str]) -> Answer:
    from vanishing.questions.row_answers import detector_answer

    model, X, top = scored.model, scored.X, given["top"]
    n_alarms = int(np.count_nonzero(scored.scores < model.offset_))
    learned = f", learned from {n_training}" if n_training != len(X) else ""
    outliers = f"{n_alarms} outlier{'s' * (n_alarms != 1)} (score below {model.offset_:.3g})"
    heading = f"{table.name}: {len(X)} rows{learned}, {X.shape[1]} columns, {outliers}"
    tables: tuple[AnswerTable, ...] = ()
    if top and scored.events is None:
        tables = (_oddest(scored, top, given["explain"]),)
    elif top:
        tables = (_gravest(scored, top),)
    laws = [f"  {law}" for law in model.laws_]
    return replace(
        detector_answer(model),
        found=n_alarms > 0,
        verdict=f"{outliers}.",
        heading=heading,
        tables=tables,
        notes=tuple(notes),
        next_steps=("Look at the oddest rows.", "Score another table with the saved detector."),
        files=_files(table, scored),
        pictures=partial(score_pictures, scored.scores, model.offset_, scored.table.rows),
        printed=(heading, "Laws:" if laws else "Laws: none that can be read", *laws, *tables),
    )


def _files(table: QuestionTable, scored: _Scored):
    from vanishing.plot import OutlierDisplay

    model, roles, time = scored.model, scored.table.recipe.roles, scored.time
    timed = () if time is None or ("time", time) in roles else (("time", time),)
    recipe = replace(scored.table.recipe, roles=(*roles, *timed))
    t = scored.times
    if t is not None and is_date(scored.table.texts["time"][0]):
        t = t.astype("datetime64[s]")
    return (
        rows_file("scored.csv", "Scores and reasons of all rows", lambda: _lines(scored)),
        model_file(model, recipe, "detector.json"),
        report_file(model, scored.X, t=t, data_name=table.name),
        picture_file(lambda: OutlierDisplay.from_estimator(model, scored.X)),
    )


def _lines(scored: _Scored):
    """Yield the lines of a CSV file: names and numbers of rows, scores, events and reasons."""
    table, events = scored.table, scored.events
    rows = scored_cells(scored.model, scored.X, scored.scores)
    texts = [(role, table.texts[role]) for role in ("id", "time") if role in table.texts]
    names = [scored.time if role == "time" else table.recipe.role(role) for role, _ in texts]
    event = [] if events is None else ["event"]
    yield [*names, "row", *HEADER[:2], *event, *HEADER[2:]]
    numbers, reasons = ([], {}) if events is None else event_cells(events, len(rows))
    for place in np.argsort(table.rows, kind="stable").tolist():
        score, outlier, *why = rows[place]
        if place in reasons and not outlier:
            why = [*reasons[place], ""]
        number = [] if events is None else [numbers[place]]
        own = [column[place] for _, column in texts]
        yield [*own, int(table.rows[place]) + 1, score, outlier, *number, *why]


def _gravest(scored: _Scored, top: int) -> AnswerTable:
    """Return the gravest events."""
    texts, rows = scored.table.texts.get("time"), scored.table.rows
    times = None if texts is None else texts.tolist()
    events = scored.events or []
    title, *lines = event_lines(events, rows, times, top)
    cells = []
    for event in events[:top]:
        ends = [int(rows[place]) + 1 for place in (event.start, event.end)]
        when = [] if times is None else [times[event.start], times[event.end]]
        cells.append((*ends, *when, event.n_alarms, event.sentence))
    timed = [] if times is None else ["from", "to"]
    return AnswerTable(
        title, ("first row", "last row", *timed, "alarms", "what"), tuple(cells), tuple(lines)
    )


def _oddest(scored: _Scored, top: int, explain: bool) -> AnswerTable:
    """Return the oddest rows, with reasons; the lines have them where they are asked for."""
    model, scores, table = scored.model, scored.scores, scored.table
    order = np.argsort(scores, kind="stable")[:top]
    lines, rows = [], []
    for place, found in zip(order.tolist(), model.explain(scored.X, order), strict=True):
        flag = "outlier" if scores[place] < model.offset_ else "normal"
        name = [str(table.texts["id"][place])] if "id" in table.texts else []
        row = int(table.rows[place]) + 1
        of = f" ({name[0]})" if name else ""
        reasons = [_sentence(reason) for reason in found]
        lines.append(f"  row {row}{of}: score {scores[place]:.3g}, {flag}")
        lines += [f"    {reason}" for reason in reasons * explain]
        rows.append((row, *name, float(f"{scores[place]:.3g}"), flag, "; ".join(reasons)))
    named = ["name"] if "id" in table.texts else []
    return AnswerTable(
        f"The {len(order)} oddest rows:",
        ("row", *named, "score", "outlier", "why"),
        tuple(rows),
        tuple(lines),
    )


def _sentence(reason) -> str:
    """Write a reason in a line."""
    parts = [
        f"{column} is {reason['found'][column]:.6g}, expected {reason['expected'][column]:.6g}"
        for column in reason["columns"]
    ]
    law = "" if reason["law"] is None else f" {reason['law']}"
    return f"{reason['kind']}{law}: " + " or ".join(parts)


QUESTION = question_of(
    "outliers",
    _answer,
    writes=(
        ((".csv",), "the scores of all rows, with reasons"),
        ((".json",), "the detector"),
        ((".html",), "a report"),
        (PICTURES, "a picture"),
    ),
    missing=("error", "drop", "ignore"),
)
