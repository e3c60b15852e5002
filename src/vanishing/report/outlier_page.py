"""The page of a report on outliers: facts in, one HTML document out."""

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
        left_out=set() if facts.rows.n_alarms else {"blame"},
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
        x_range=padded(rows.numbers),
        y_range=padded(np.append(rows.scores, rows.threshold)),
        x_label="row",
        y_label="score (lower is odder)",
    )
    for name, places in (("points", normal), ("outliers", alarms)):
        if len(places):
            chart.paths[name] = chart.points(rows.numbers[places], rows.scores[places])
    ends = np.array(chart.x_range)
    chart.paths["diagonal"] = chart.line(ends, np.full(2, rows.threshold))
    # Few outliers are drawn large whatever the number of other rows is.
    chart.dot = 6 if len(rows.scores) < 100 else 3
    return chart
