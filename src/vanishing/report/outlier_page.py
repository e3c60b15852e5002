"""The page of a report on outliers: facts in, one HTML document out."""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from vanishing.inspection.samples import evenly
from vanishing.report.frame import rendered
from vanishing.report.outlier_facts import OutlierFacts
from vanishing.report.plots import Chart, padded
from vanishing.report.settings import BLAMED_COLUMNS, POINTS


def outlier_page_of(facts: OutlierFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    laws, lost = facts.rows.laws
    return rendered(
        "outlier_page.html",
        facts,
        "Outliers of {}",
        **heading,
        left_out={
            *(() if facts.rows.n_alarms else ["blame"]),
            *(["events"] if facts.events is None else []),
        },
        chart=score_chart(facts),
        laws=laws,
        lost=lost,
        blamed=facts.blamed[:BLAMED_COLUMNS],
        n_blamed=len(facts.blamed),
        n_points=POINTS,
    )


def score_chart(facts: OutlierFacts) -> Chart:
    """Return scores over the rows with the threshold; of many rows a sample, and the oddest."""
    rows = facts.rows
    alarms, normal = rows.order[: rows.n_alarms][:POINTS], np.sort(rows.order[rows.n_alarms :])
    normal = normal[evenly(len(normal), POINTS)]
    chart = Chart(
        width=460,
        height=300,
        x_range=padded(facts.at),
        y_range=padded(np.append(rows.scores, rows.threshold)),
        x_label="row" if facts.times is None else "time",
        y_label="score (lower is odder)",
    )
    for name, places in (("points", normal), ("outliers", alarms)):
        if len(places):
            chart.paths[name] = chart.points(facts.at[places], rows.scores[places])
    ends = np.array(chart.x_range)
    chart.paths["diagonal"] = chart.line(ends, np.full(2, rows.threshold))
    if facts.times is not None and isinstance(facts.times.given[0], (np.datetime64, date)):
        chart.x_ticks = _date_ticks(chart)
    # Few outliers are drawn large whatever the number of other rows is.
    chart.dot = 6 if len(rows.scores) < 100 else 3
    return chart


def _date_ticks(chart: Chart) -> list[tuple[float, str]]:
    """Return where dates are written on the axis of seconds since 1970, and the dates."""
    low, high = chart.x_range
    moments = np.linspace(low, high, 6)[1:-1]
    form = "%Y-%m-%d" if high - low > 4 * 86400 else "%m-%d %H:%M"
    first = datetime(1970, 1, 1, tzinfo=UTC)
    return [
        (float(chart.x(moment)), (first + timedelta(seconds=float(moment))).strftime(form))
        for moment in moments
    ]
