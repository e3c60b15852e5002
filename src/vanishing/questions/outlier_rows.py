"""Scored rows and events: cells of a CSV file, and lines to read."""

from collections.abc import Sequence

import numpy as np

from vanishing.tables.cells import is_date, numbers_of, order_of, seconds_of

HEADER = ["score", "outlier", "reason", "columns", "expected"]


def times_from(texts: Sequence[str], name: str) -> np.ndarray:
    """Return the times of rows as numbers, of dates in seconds, or exit with a sentence.

    Parameters
    ----------
    texts : sequence of str
        The cells of a column.
    name : str
        Of the column.
    """
    cells = [text.strip() for text in texts]
    times = numbers_of(cells, None)
    if any(map(is_date, cells[:1])):
        order = order_of(dict.fromkeys(cells)) or "dmy"
        known = {text: seconds_of(text, order) for text in set(cells)}
        times = np.array([known[text] for text in cells])
    wrong = np.flatnonzero(~np.isfinite(times))
    if len(wrong):
        raise ValueError(
            f"--time {name}: {cells[wrong[0]]!r} is no number and no date, and so are "
            f"{len(wrong) - 1} more cells."
        )
    return times


def scored_cells(model, X, scores: np.ndarray, first: int = 0) -> list[list]:
    """Return the cells of `HEADER` of each row.

    Parameters
    ----------
    model : VanishingOutlierDetector
    X : frame or array
    scores : ndarray of shape (n_rows,)
        Of X.
    first : int
        Rows of X before it are those before the others, and get no cells.
    """
    alarms = first + np.flatnonzero(scores[first:] < model.offset_)
    reasons = model.explain(X, alarms) if len(alarms) else []
    of_row = dict(zip(alarms.tolist(), reasons, strict=True))
    rows = []
    for place in range(first, len(scores)):
        cells = ["", "", ""]
        for reason in of_row.get(place, [])[:1]:
            law = "" if reason["law"] is None else f" {reason['law']}"
            expected = [f"{reason['expected'][name]:.6g}" for name in reason["columns"]]
            cells = [f"{reason['kind']}{law}", "; ".join(reason["columns"]), "; ".join(expected)]
        rows.append([float(scores[place]), int(place in of_row), *cells])
    return rows


def event_lines(events, rows: np.ndarray, times: Sequence[str] | None, top: int) -> list[str]:
    """Return lines about the gravest events, whose rows are counted as in the table."""
    if not events:
        return ["Events: none"]
    lines = [f"The {min(top, len(events))} gravest of {len(events)} events:"]
    for number, event in enumerate(events[:top], start=1):
        first, last = (int(rows[place]) + 1 for place in (event.start, event.end))
        where = f"row {first}" if first == last else f"rows {first} to {last}"
        if times is not None:
            where = f"{times[event.start]} to {times[event.end]}, {where}"
        if event.n_alarms:
            where += f", {event.n_alarms} alarm{'s' if event.n_alarms > 1 else ''}"
        lines += [f"  {number}. {where}", f"     {event.sentence}"]
    return lines


def event_cells(events, n_rows: int) -> tuple[list, dict[int, tuple[str, str]]]:
    """Return the number of the event of each row, and reasons of rows that are stuck or missing."""
    numbers: list = [""] * n_rows
    reasons: dict[int, tuple[str, str]] = {}
    for number, event in reversed(list(enumerate(events, start=1))):
        for place in range(event.start, event.end + 1):
            numbers[place] = number
            if event.kind not in ("broken law", "unusual combination"):
                reasons[place] = (event.kind, "; ".join(event.columns))
    return numbers, reasons
