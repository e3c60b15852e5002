"""The page of a report on laws: facts in, one HTML document out."""

import math
from typing import Any

from vanishing.algebra.markup import number
from vanishing.inspection import Unexplained
from vanishing.inspection.laws import percent
from vanishing.report.frame import DARK, LIGHT, python_source, rendered
from vanishing.report.law_charts import (
    curve_chart,
    front_chart,
    prediction_chart,
    residual_charts,
)
from vanishing.report.law_facts import LawFacts
from vanishing.report.settings import POINTS


def law_page_of(facts: LawFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    answer, rows = facts.answer, facts.rows
    charts: dict[str, Any] = {
        "front": front_chart(answer) if facts.searched else None,
        "curve": None if facts.curves is None else curve_chart(facts.curves),
        "predictions": None if rows is None else prediction_chart(rows),
        "residuals": [],
    }
    if rows is not None and facts.unexplained is not None and not facts.unexplained.exact:
        charts["residuals"] = residual_charts(rows)
    left_out = {name for name, chart in charts.items() if not chart}
    left_out |= {"law", "unexplained"} if rows is None else set()
    left_out |= {"others"} if len(answer.laws) < 2 or answer.by_group is not None else set()
    left_out |= {"groups"} if answer.by_group is None else {"law"}
    left_out |= set() if facts.searched else {"settings"}
    return rendered(
        "law_page.html",
        facts,
        "Laws of {}",
        **heading,
        palettes=(LIGHT, DARK),
        left_out=left_out,
        charts=charts,
        n_points=min(POINTS, len(facts.X)),
        explained="" if facts.unexplained is None else _explained(facts.unexplained),
        source=None if answer.best is None else python_source(answer.best),
    )


def _explained(rest: Unexplained) -> str:
    if rest.exact:
        return "all"
    return number(math.nan) if math.isnan(rest.explained) else percent(rest.explained)
