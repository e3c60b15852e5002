"""The page of a report on motion: facts in, one HTML document out."""

import numpy as np

from vanishing.inspection.motion import Run
from vanishing.inspection.samples import evenly
from vanishing.report.frame import rendered
from vanishing.report.motion_facts import MotionFacts
from vanishing.report.plots import Chart, padded
from vanishing.report.settings import POINTS_OF_RUN, ROWS


def motion_page_of(facts: MotionFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    runs = [facts.rows.runs[i] for i in evenly(len(facts.rows.runs), ROWS)]
    left_out = set() if facts.quantities else {"quantities", "runs"}
    left_out |= set() if facts.model.constraints_ else {"constraints"}
    return rendered(
        "motion_page.html",
        facts,
        "What is conserved in {}",
        **heading,
        left_out=left_out,
        runs=runs,
        charts=[value_chart(facts, runs, i) for i in range(len(facts.quantities))],
        n_points=sum(min(POINTS_OF_RUN, len(run.times)) for run in runs),
    )


def value_chart(facts: MotionFacts, runs: list[Run], place: int) -> Chart | None:
    """Return values of a quantity over time, one line per run; None where it is nowhere defined."""
    lines = []
    for run in runs:
        good = np.flatnonzero(run.defined(place))
        if good.size:
            good = good[evenly(good.size, POINTS_OF_RUN)]
            lines.append((run.held_out, run.times[good], run.values[good, place]))
    if not lines:
        return None
    chart = Chart(
        width=460,
        height=300,
        x_range=padded(np.concatenate([times for _, times, _ in lines])),
        y_range=padded(np.concatenate([values for *_, values in lines])),
        x_label="time" if facts.rows.timed else "row of the run",
        y_label="value of the quantity",
    )
    for name, kind in (("run", False), ("held-out", True)):
        paths = [chart.line(times, values) for held, times, values in lines if held == kind]
        if paths:
            chart.paths[name] = "".join(paths)
    return chart
