"""The frame of all reports: templates, style, versions; one HTML document comes out.

Whatever comes from outside (names, labels, parameters, messages) is escaped by Jinja2 or by the
filters that write markup. As a second line of defence a page forbids itself all scripts but its
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
from vanishing.checks import install
from vanishing.inspection.html import equation

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows; and lighter ones of the same hues for dark pages.
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DARK = ("#4FA9DD", "#FF8B4A", "#2CC79B", "#E79BC5", "#F2B632", "#A5D8F7", "#E8E6E1")


def rendered(
    template: str,
    facts,
    default_title: str,
    *,
    title=None,
    data_name=None,
    notes=(),
    palettes=(LIGHT[:2], DARK[:2]),
    script="",
    **context,
) -> str:
    """Return the document that a template makes of facts.

    Parameters
    ----------
    template : str
        One that extends frame.html.
    facts : object
        With the rows as given, ``X``.
    default_title : str
        With {} where the name of the rows belongs.
    title, data_name : str or None
    notes : sequence of str
        About the rows.
    palettes : pair of sequences of str
        Colours on light and on dark pages.
    script : str
        The only one that the page allows.
    **context
        What else the template needs.
    """
    data = f"{len(facts.X):,} rows" if data_name is None else data_name
    values = np.ascontiguousarray(facts.X, dtype="<f8")
    page = (
        environment()
        .get_template(template)
        .render(
            facts=facts,
            title=default_title.format(data) if title is None else title,
            data_name=data_name,
            notes=notes,
            sha256=hashlib.sha256(values.tobytes()).hexdigest(),
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            palettes=palettes,
            script=script,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=asset("report.css"),
            versions={
                "vanishing": _version("vanishing"),
                "Python": platform.python_version(),
                **{package: _version(package) for package in _PACKAGES},
            },
            ranges=np.stack(
                [f(facts.X, axis=0) for f in (np.nanmin, np.nanmedian, np.nanmax)], axis=1
            ).tolist(),
            **context,
        )
    )
    return clean(page)  # no character that a page may not hold, whatever a name holds


def asset(name: str) -> str:
    """Return a file of this folder."""
    return files("vanishing.report").joinpath(name).read_text(encoding="utf-8")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def python_source(formula) -> str | None:
    """Return a law or equation as a function in Python, if its columns can be arguments."""
    try:
        return formula.to_python()
    except ValueError:
        return None


# -- Jinja2 -----------------------------------------------------------------------------------


@cache
def environment():
    """Return Jinja2 with the templates, the filters and the tests of all reports."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as missing:
        raise ImportError(f"reports need Jinja2: install with {install('app')}") from missing

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
        "mathml": markup(lambda law: law.to_mathml()),
        "number": markup(number),
        # Text.
        "comma": lambda value: f"{value:,}",
        "count": _count,
        "digits": _digits,
        "name_of_class": lambda value: type(value).__name__,
        "percent": _percent,
        "repr": repr,
        "short": clean,
        "sortable": _sortable,
        "width": lambda share: f"{100 * min(1.0, max(0.0, share)):.1f}",
    }
    environment.tests |= {"finite": math.isfinite, "nan": math.isnan}
    return environment


def _digits(measured: tuple[float, float]) -> int:
    """Return how many digits of a number its standard error leaves: two of the error's."""
    value, std = map(float, measured)
    if not (math.isfinite(std) and std > 0.0 and value):
        return 8
    return max(1, math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 2)


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
