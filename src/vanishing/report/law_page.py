"""The page of a report on laws: facts in, one HTML document out."""

import math
from typing import Any

from vanishing.algebra.markup import number
from vanishing.inspection import Unexplained
from vanishing.inspection.laws import percent
from vanishing.report.frame import rendered
from vanishing.report.law_charts import front_chart, prediction_chart, residual_charts
from vanishing.report.law_facts import LawFacts
from vanishing.report.settings import POINTS


def law_page_of(facts: LawFacts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    answer, rows = facts.answer, facts.rows
    charts: dict[str, Any] = {
        "front": front_chart(answer) if facts.searched else None,
        "predictions": None if rows is None else prediction_chart(rows),
        "residuals": [],
    }
    if rows is not None and facts.unexplained is not None and not facts.unexplained.exact:
        charts["residuals"] = residual_charts(rows)
    left_out = {name for name, chart in charts.items() if not chart}
    left_out |= {"law", "unexplained"} if rows is None else set()
    left_out |= {"others"} if len(answer.laws) < 2 else set()
    left_out |= set() if facts.searched else {"settings"}
    return rendered(
        "law_page.html",
        facts,
        "Laws of {}",
        **heading,
        left_out=left_out,
        charts=charts,
        n_points=min(POINTS, len(facts.X)),
        explained="" if facts.unexplained is None else _explained(facts.unexplained),
        source=None if answer.best is None else _source(answer.best),
    )


def _explained(rest: Unexplained) -> str:
    if rest.exact:
        return "all"
    return number(math.nan) if math.isnan(rest.explained) else percent(rest.explained)


def _source(law) -> str | None:
    """Return a law as a function in Python, if its columns can be arguments."""
    try:
        return law.to_python()
    except ValueError:
        return None
