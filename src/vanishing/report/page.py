"""The page of a report on a model with generators: facts in, one HTML document out."""

import math

import numpy as np

from vanishing.report import charts
from vanishing.report.facts import Facts, Variety
from vanishing.report.frame import DARK, LIGHT, asset, rendered
from vanishing.report.plots import Chart
from vanishing.report.scene import scene_of
from vanishing.report.search_charts import search_front_chart
from vanishing.report.settings import (
    COLUMNS,
    QUANTILES,
    SCENE_COLUMNS,
    SCENE_POINTS,
    SHOWN,
    SHOWN_OF_CLASS,
)

# Files of one script, in this order: what a file needs when it is read stands before it.
_SCRIPTS = (
    *("tables", "colours", "algebra", "surface", "points", "camera", "raster", "axes"),
    *("space", "plane", "controls", "picture"),
)


def page_of(facts: Facts, **heading) -> str:
    """Return the document; `rendered` says what a heading may have."""
    scene = scene_of(facts)
    left_out = {
        "errors": facts.errors is None,
        "probabilities": facts.reliability is None,
        "columns": facts.importances is None or not facts.n_generators,
        "front": len(facts.front) < 2,
        "picture": scene is None,
        "distances": all(variety.distances is None for variety in facts.varieties),
    }
    return rendered(
        "generators_page.html",
        facts,
        f"{type(facts.core).__name__} on {{}}",
        **heading,
        palettes=_palettes(facts, scene),
        script="".join(asset(f"js/{name}.js") for name in _SCRIPTS),
        scene=scene,
        left_out=[name for name, without in left_out.items() if without],
        first=_first_equation(facts),
        tables=[_class_table(facts, variety) for variety in facts.varieties],
        chart=None if left_out["distances"] else charts.distances(facts),
        front_chart=None if left_out["front"] else search_front_chart(facts),
        reliability=None if left_out["probabilities"] else reliability_chart(facts),
        quantiles=[f"#{q:.0%}" for q in QUANTILES],
        limits={"columns": SCENE_COLUMNS, "points": SCENE_POINTS, "ranked": COLUMNS},
    )


def reliability_chart(facts: Facts) -> Chart:
    """Return how often predicted classes are right against the probability they are given."""
    assert facts.reliability is not None
    chance, share, counts = facts.reliability.table.T
    intervals = facts.reliability.intervals()
    least = min(float(chance.min()), *(low for low, _ in intervals))
    both = (max(0.0, math.floor(10 * least) / 10), 1.0)
    chart = Chart(
        width=460,
        height=420,
        x_range=both,
        y_range=both,
        x_label="probability that the model gives",
        y_label="share that is right",
    )
    ends = np.array(both)
    chart.paths["diagonal"] = chart.line(ends, ends)
    chart.paths["whisker"] = "".join(
        f"M{chart.x(p):.1f} {chart.y(low):.1f}V{chart.y(high):.1f}"
        for p, (low, high) in zip(chance, intervals, strict=True)
    )
    chart.paths["front"] = chart.line(chance, share)
    chart.marks = [
        {
            "x": float(chart.x(p)),
            "y": float(chart.y(s)),
            "chosen": False,
            "title": f"{n:,.0f} rows: probability {p:.3f}, right in {s:.1%}",
        }
        for p, s, n in zip(chance, share, counts, strict=True)
    ]
    return chart


def _first_equation(facts: Facts):
    """Return the most important equation and its class, if it is short; else None."""
    pairs = [(e, v) for v in facts.varieties for e in v.equations if e.generator is not None]
    if facts.coef is not None:
        pairs.sort(key=lambda pair: -pair[0].importance)
    generator = pairs[0][0].generator if pairs else None
    return pairs[0] if generator is not None and len(generator.coef) <= 6 else None


def _class_table(facts: Facts, variety: Variety) -> dict:
    """Return how many equations of a class are shown at first, and what full bars stand for."""
    limit = max(5, min(SHOWN_OF_CLASS, SHOWN // len(facts.varieties)))
    means = [v for e in variety.equations for v in (e.own, e.others) if math.isfinite(v)]
    top = 0.0
    if facts.coef is not None:
        limit = min(limit, max(1, variety.n_used or 0))
        top = max((e.importance for e in variety.equations), default=0.0)
    return {"limit": limit, "largest": max(means, default=0.0), "top": top}


def _palettes(facts: Facts, scene) -> list[list[str]]:
    """Return colours of classes, or of surfaces where there are none: on light and dark pages."""
    count = len(facts.varieties)
    if count == 1 and scene is not None:
        count = len(scene["surfaces"])
    return [
        [*palette, *(f"hsl({137.5 * k % 360:.0f} 60% {lightness}%)" for k in range(7, count))][
            :count
        ]
        for palette, lightness in ((LIGHT, 42), (DARK, 68))
    ]
