"""The page of a report: facts in, one HTML document out, by the templates in this folder.

Whatever comes from outside (names, labels, parameters, messages) is escaped by Jinja2 or by the
filters that write markup. As a second line of defence the page forbids itself all scripts but its
own, and all addresses.
"""

import base64
import hashlib
import math
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

import numpy as np

from vanishing.algebra.markup import clean, isolated, number
from vanishing.inspection.html import equation
from vanishing.report import charts
from vanishing.report.facts import QUANTILES, Facts, Variety
from vanishing.report.scene import COLUMNS, POINTS, scene_of

_SHOWN = (20, 80)  # equations before the reader asks for more: of a class, of all together
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
# Files of one script, in this order: what a file needs when it is read stands before it.
_SCRIPTS = (
    *("tables", "colours", "algebra", "surface", "points", "camera", "raster", "axes"),
    *("space", "plane", "controls", "picture"),
)
# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows; and lighter ones of the same hues for dark pages.
_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DARK = ("#4FA9DD", "#FF8B4A", "#2CC79B", "#E79BC5", "#F2B632", "#A5D8F7", "#E8E6E1")


def page_of(facts: Facts, *, title=None, data_name=None) -> str:
    """Return the document."""
    scene = scene_of(facts)
    if title is None:
        data = data_name if data_name is not None else f"{len(facts.X):,} rows"
        title = f"{type(facts.core).__name__} on {data}"
    quantiles = [v.distances for v in facts.varieties]
    left_out = {
        "errors": facts.errors is None,
        "picture": scene is None,
        "distances": all(found is None for found in quantiles),
    }
    script = "".join(_asset(f"js/{name}.js") for name in _SCRIPTS)
    page = (
        _environment()
        .get_template("page.html")
        .render(
            facts=facts,
            scene=scene,
            title=title,
            data_name=data_name,
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            left_out=[name for name, without in left_out.items() if without],
            script=script,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=_asset("report.css"),
            palettes=_palettes(facts, scene),
            first=_first_equation(facts),
            tables=[_class_table(facts, variety) for variety in facts.varieties],
            chart=None if left_out["distances"] else charts.distances(facts),
            quantiles=[f"#{q:.0%}" for q in QUANTILES],
            limits={"columns": COLUMNS, "points": POINTS},
            versions={
                "vanishing": _version("vanishing"),
                "Python": platform.python_version(),
                **{package: _version(package) for package in _PACKAGES},
            },
            ranges=np.stack(
                [f(facts.X, axis=0) for f in (np.min, np.median, np.max)], axis=1
            ).tolist(),
        )
    )
    return clean(page)  # no character that a page may not hold, whatever a name holds


def _asset(name: str) -> str:
    return files("vanishing.report").joinpath(name).read_text(encoding="utf-8")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _first_equation(facts: Facts):
    """Return the generator that counts most and whose it is, if it is short; else None."""
    found = [
        (e.influence, e.generator, v)
        for v in facts.varieties
        for e in v.equations
        if e.generator is not None
    ]
    if facts.coef is not None:
        found.sort(key=lambda one: -one[0])
    return found[0][1:] if found and len(found[0][1].coef) <= 6 else None


def _class_table(facts: Facts, variety: Variety) -> dict:
    """Return how many equations of a class are shown at first, and what full bars stand for."""
    limit = max(5, min(_SHOWN[0], _SHOWN[1] // len(facts.varieties)))
    means = [v for e in variety.equations for v in (e.own, e.others) if math.isfinite(v)]
    top = 0.0
    if facts.coef is not None:
        limit = min(limit, max(1, variety.n_used or 0))
        top = max((e.influence for e in variety.equations), default=0.0)
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
        for palette, lightness in ((_LIGHT, 42), (_DARK, 68))
    ]


# -- Jinja2 -----------------------------------------------------------------------------------


@cache
def _environment():
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as missing:
        raise ImportError(
            "reports need Jinja2: install with python -m pip install 'vanishing[app]'"
        ) from missing

    def markup(write):
        return lambda *arguments: Markup(write(*arguments))

    environment = Environment(
        loader=PackageLoader("vanishing.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters |= {
        # Markup on purpose: these escape what they are given.
        "equation": markup(equation),
        "isolated": markup(isolated),
        "number": markup(number),
        # Text.
        "comma": lambda value: f"{value:,}",
        "count": _count,
        "name_of_class": lambda value: type(value).__name__,
        "percent": _percent,
        "repr": repr,
        "short": clean,
        "sortable": _sortable,
        "width": lambda share: f"{100 * min(1.0, max(0.0, share)):.1f}",
    }
    environment.tests |= {"finite": math.isfinite, "nan": math.isnan}
    return environment


def _count(value: int, what: str) -> str:
    return f"{value:,} {what}{'' if value == 1 else 's'}"


def _percent(share: float) -> str:
    if math.isnan(share):
        return number(share)
    value = 100 * share
    shown = f"{value:.1f}" if value >= 1 or value == 0 else f"{value:.2g}"
    return f"{'0' if value == 0 else shown.removesuffix('.0')}%"


def _sortable(value: float) -> str:
    """Return a number as the page's script reads it, nothing where there is none."""
    return "" if math.isnan(value) else f"{value:.9g}".replace("inf", "Infinity")
