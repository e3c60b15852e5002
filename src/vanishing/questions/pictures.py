"""Pictures as data: points and lines that a page draws, and a reader looks into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vanishing.questions.answer import finite

_POINTS = 2000  # of a picture
_RUNS = 6  # that are drawn
_PICTURES = 3  # of as many quantities, columns or laws
_REPAIRED = {"wrong": "replaced", "ambiguous": "in doubt"}


@dataclass(frozen=True)
class Series:
    """Points, or a line, of a picture.

    Attributes
    ----------
    name : str
    x, y : ndarray of shape (n_points,)
    rows : sequence of int
        The row of the table of each point, counted from 1; empty for lines.
    kind : {"points", "line"}
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    rows: Sequence[int] = ()
    kind: str = "points"

    def to_dict(self) -> dict[str, Any]:
        """Return the series as JSON has it."""
        x, y = ([finite(value) for value in part.tolist()] for part in (self.x, self.y))
        return {"name": self.name, "kind": self.kind, "x": x, "y": y, "rows": list(self.rows)}


@dataclass(frozen=True)
class Picture:
    """A picture of two axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the picture as JSON has it."""
        series = [one.to_dict() for one in self.series]
        return {
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "series": series,
        }


def points(name: str, x, y, places) -> Series:
    """Return points, evenly chosen ones where there are many; places of rows count from 0."""
    x, y, places = map(np.asarray, (x, y, places))
    chosen = np.arange(len(x))
    if len(x) > _POINTS:
        chosen = np.linspace(0, len(x) - 1, _POINTS).astype(np.intp)
    return Series(name, x[chosen], y[chosen], (places[chosen] + 1).tolist())


def line(name: str, x, y) -> Series:
    """Return a line."""
    return Series(name, np.asarray(x, dtype=float), np.asarray(y, dtype=float), kind="line")


def law_pictures(model, frame, places, groups=None) -> tuple[Picture, ...]:
    """Return what a law predicts beside what was measured, and what it leaves.

    Parameters
    ----------
    model : LawFinder, Law or LawsByGroup
    frame : DataFrame
        All columns.
    places : array-like of int
        Of its rows in the table, from 0.
    groups : Series, default=None
    """
    from vanishing.inspection import law_anatomy, law_rows

    answer = law_anatomy(model)
    if answer.best is None:
        return ()
    rows = law_rows(answer.by_group or answer.best, frame, groups=groups)
    places, name = np.asarray(places), rows.in_unit(rows.name)
    known = np.isfinite(rows.predicted)
    ends = np.array([rows.measured.min(), rows.measured.max()])
    return (
        Picture(
            f"{rows.name}: the law and the measurements",
            f"{name}, measured",
            f"{name}, by the law",
            (
                points("rows", rows.measured[known], rows.predicted[known], places[known]),
                line("equal", ends, ends),
            ),
        ),
        Picture(
            f"{rows.name}: what the law leaves, row by row",
            "row",
            f"{name}, measured minus the law",
            (points("rows", places[known] + 1.0, rows.residuals[known], places[known]),),
        ),
    )


def class_pictures(model, X, y, places) -> tuple[Picture, ...]:
    """Return how likely a classifier finds the class that each row has, wrong rows apart."""
    y, places = np.asarray(y), np.asarray(places)
    probability = model.predict_proba(X)
    own = probability[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    is_right = model.classes_[probability.argmax(axis=1)] == y
    series = [
        points(name, places[chosen] + 1.0, own[chosen], places[chosen])
        for name, chosen in (("right", is_right), ("wrong", ~is_right))
        if chosen.any()
    ]
    title = "Rows held out: how likely their own class is to the model"
    return (Picture(title, "row", "probability of its class", tuple(series)),)


def score_pictures(scores, threshold: float, places) -> tuple[Picture, ...]:
    """Return the scores of rows, those below the threshold apart."""
    scores, places = np.asarray(scores), np.asarray(places)
    is_odd = scores < threshold
    kinds = (("normal", ~is_odd), ("outliers", is_odd))
    series = [
        points(name, places[chosen] + 1.0, scores[chosen], places[chosen])
        for name, chosen in kinds
        if chosen.any()
    ]
    ends = np.array([places.min() + 1.0, places.max() + 1.0])
    series.append(line("threshold", ends, np.full(2, threshold)))
    title = "Scores of the rows: the lower, the odder"
    return (Picture(title, "row", "score", tuple(series)),)


def quantity_pictures(model, frame, groups, places) -> tuple[Picture, ...]:
    """Return quantities that stay the same, row by row of the first runs."""
    groups, places = np.asarray(groups), np.asarray(places)
    values = model.transform(frame)
    runs = list(dict.fromkeys(groups.tolist()))[:_RUNS]
    pictures = []
    for name, column in zip(map(str, model.quantities_[:_PICTURES]), values.T, strict=False):
        series = []
        for run in runs:
            own = np.flatnonzero(groups == run)[: _POINTS // len(runs)]
            steps = np.arange(1.0, len(own) + 1.0)
            series.append(points(f"run {run}", steps, column[own], places[own]))
        title = f"{name}, along the first {len(runs)} runs"
        pictures.append(Picture(title, "row of the run", "value", tuple(series)))
    return tuple(pictures)


def motion_pictures(model, rows, t, groups, inputs, places, time_name: str) -> tuple[Picture, ...]:
    """Return columns over time, and where equations of motion take them, for the first columns."""
    if not model.equations_:
        return ()
    from vanishing.inspection import followed

    t, places = np.asarray(t), np.asarray(places)
    found = followed(model, rows, t, groups, inputs, max_runs=_RUNS)
    labels = None if groups is None else np.asarray(groups).astype(str)
    own = [np.arange(len(t)) if labels is None else labels == str(r.label) for r in found.runs]
    of_rows = np.concatenate([places[one][np.argsort(t[one], kind="stable")] for one in own])
    times = np.concatenate([run.times for run in found.runs])
    # Runs are apart, and those of many rows have fewer points.
    parts = [slice(None, None, 1 + len(r.curve) * len(found.runs) // _POINTS) for r in found.runs]
    drawn = list(zip(found.runs, parts, strict=True))
    curve_times = np.concatenate([np.append(run.curve_times[of], np.nan) for run, of in drawn])
    pictures = []
    for j, name in enumerate(found.names[:_PICTURES]):
        measured = np.concatenate([run.measured[:, j] for run in found.runs])
        curve = np.concatenate([np.append(run.curve[of, j], np.nan) for run, of in drawn])
        series = (points("rows", times, measured, of_rows), line("equations", curve_times, curve))
        title = f"{name}: runs, and where the equations take them"
        pictures.append(Picture(title, time_name, name, series))
    return tuple(pictures)


def repair_pictures(laws, X, cells, places) -> tuple[Picture, ...]:
    """Return what rows leave of the first laws before the repair, those of changed cells apart."""
    places = np.asarray(places)
    pictures = []
    for law in laws[:_PICTURES]:
        left = law.residual(X)
        kinds = np.full(len(left), "rows", dtype=object)
        for cell in cells:
            if cell.column in law.columns and cell.kind in _REPAIRED:
                kinds[cell.row] = _REPAIRED[cell.kind]
        series = [
            points(kind, places[chosen] + 1.0, left[chosen], places[chosen])
            for kind in ("rows", *_REPAIRED.values())
            if (chosen := (kinds == kind) & np.isfinite(left)).any()
        ]
        title = f"{law}: what rows leave of it, before the repair"
        pictures.append(Picture(title, "row", "left of the law", tuple(series)))
    return tuple(pictures)
