"""The page of a report on equations of motion: facts in, one HTML document out."""

from collections.abc import Callable

import numpy as np

from vanishing.inspection import FollowedRuns
from vanishing.inspection.equations_of_motion import FollowedRun
from vanishing.inspection.samples import evenly
from vanishing.report.equations_of_motion_facts import EquationsOfMotionFacts
from vanishing.report.frame import python_source, rendered
from vanishing.report.plots import Chart, padded
from vanishing.report.settings import FIELD, PANELS, POINTS_OF_RUN

# Classes of paths: lines and points of runs, by whether these were held out.
_LINES = {False: "run", True: "held-out"}
_POINTS = {False: "points", True: "held-out-points"}


def equations_of_motion_page_of(facts: EquationsOfMotionFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    runs = facts.followed
    left_out = set() if runs.has_field else {"portrait"}
    left_out |= set() if facts.equations else {"equations", "residuals"}
    left_out |= set() if facts.model.front_ else {"front"}
    shown = range(min(len(runs.names), PANELS))
    return rendered(
        "equations_of_motion_page.html",
        facts,
        "Equations of motion of {}",
        **heading,
        left_out=left_out,
        runs=runs,
        sources=[source for source in map(python_source, facts.equations) if source is not None],
        charts={
            "columns": [column_chart(runs, j) for j in shown],
            "residuals": [residual_chart(runs, j) for j in shown] if facts.equations else [],
            "portrait": portrait_chart(runs) if runs.has_field else None,
        },
        n_points=sum(min(POINTS_OF_RUN, len(run.times)) for run in runs.runs),
    )


def column_chart(runs: FollowedRuns, column: int) -> Chart:
    """Return measured values of a column over time, and where the equations take it."""
    measured = np.concatenate([run.measured[:, column] for run in runs.runs])
    curves = np.concatenate([run.curve[:, column] for run in runs.runs])
    chart = _over_time(runs, np.concatenate([measured, curves]), runs.names[column])
    _add_points(chart, runs, lambda run: (run.times, run.measured[:, column]))
    _add_lines(chart, runs, lambda run: (run.curve_times, run.curve[:, column]))
    return chart


def residual_chart(runs: FollowedRuns, column: int) -> Chart:
    """Return measured minus fitted values of a column over time, and twice the noise."""
    noise = 2.0 * float(runs.model.noise_[column])
    residuals = np.concatenate([run.residuals[:, column] for run in runs.runs])
    chart = _over_time(
        runs, np.append(residuals, [-noise, noise]), f"{runs.names[column]}, measured minus fitted"
    )
    ends = np.array(chart.x_range)
    chart.paths["diagonal"] = "".join(
        chart.line(ends, np.full(2, level)) for level in (-noise, 0.0, noise)
    )
    _add_points(chart, runs, lambda run: (run.times, run.residuals[:, column]))
    return chart


def portrait_chart(runs: FollowedRuns) -> Chart:
    """Return runs in the plane of two states, and arrows of the field."""
    x, y, slopes = runs.field_grid(FIELD)
    names = runs.states
    chart = Chart(
        width=460,
        height=400,
        x_range=(x[0], x[-1]),
        y_range=(y[0], y[-1]),
        x_label=names[0],
        y_label=names[1],
    )
    inner = slice(1, -1)  # arrows at the edges would lie on the numbers of the axes
    chart.paths["field"] = _arrows(chart, x[inner], y[inner], slopes[inner, inner])
    if len(runs.names) == 2:
        _add_points(chart, runs, lambda run: (run.measured[:, 0], run.measured[:, 1]))
    _add_lines(chart, runs, lambda run: (run.curve[:, 0], run.curve[:, 1]))
    return chart


def _over_time(runs: FollowedRuns, values: np.ndarray, label: str) -> Chart:
    return Chart(
        width=460,
        height=260,
        x_range=padded(np.concatenate([run.times for run in runs.runs])),
        y_range=padded(values[np.isfinite(values)]),
        x_label="time",
        y_label=label,
    )


Coordinates = Callable[[FollowedRun], tuple[np.ndarray, np.ndarray]]


def _add_points(chart: Chart, runs: FollowedRuns, coordinates: Coordinates) -> None:
    """Add measured rows, a sample of each run."""
    for kind, name in _POINTS.items():
        parts = [coordinates(run) for run in runs.runs if run.held_out == kind]
        chosen = [evenly(len(x), POINTS_OF_RUN) for x, _ in parts]
        if parts:
            chart.paths[name] = chart.points(
                *(
                    np.concatenate([part[i][k] for part, k in zip(parts, chosen, strict=True)])
                    for i in (0, 1)
                )
            )


def _add_lines(chart: Chart, runs: FollowedRuns, coordinates: Coordinates) -> None:
    """Add curves, which are broken between pieces."""
    for kind, name in _LINES.items():
        path = ""
        for run in runs.runs:
            if run.held_out == kind:
                path += _broken_line(chart, *coordinates(run))
        if path:
            chart.paths[name] = path


def _broken_line(chart: Chart, x: np.ndarray, y: np.ndarray) -> str:
    """Return a path through the points that are numbers."""
    good = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
    stretches = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return "".join(chart.line(x[low:high], y[low:high]) for low, high in stretches)


def _arrows(chart: Chart, x: np.ndarray, y: np.ndarray, slopes: np.ndarray) -> str:
    """Return a path of arrows of one length, which point where states move."""
    points = np.stack(np.meshgrid(chart.x(x), chart.y(y)), axis=-1).reshape(-1, 2)
    steps = np.array([chart.x(x[1]) - chart.x(x[0]), chart.y(y[1]) - chart.y(y[0])])
    ways = slopes.reshape(-1, 2) * steps / [x[1] - x[0], y[1] - y[0]]
    length = 0.32 * float(np.abs(steps).min())
    path = ""
    for (a, b), way in zip(points.tolist(), ways, strict=True):
        size = float(np.hypot(*way))
        if not 0.0 < size < np.inf:
            continue
        u, v = (way / size * length).tolist()
        path += f"M{a - u:.1f} {b - v:.1f}L{a + u:.1f} {b + v:.1f}"
        for turn in (0.5, -0.5):  # the two lines of the head
            path += f"M{a + u:.1f} {b + v:.1f}l{-0.6 * u + turn * v:.1f} {-0.6 * v - turn * u:.1f}"
    return path
