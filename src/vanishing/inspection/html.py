"""HTML of equations and fitted estimators, in which names and labels are text, never markup."""

import html
import math
import re
from fractions import Fraction
from itertools import zip_longest

import numpy as np
from sklearn.exceptions import NotFittedError

from vanishing.algebra.polynomials import default_names
from vanishing.inspection.anatomy import anatomy

_EQUATIONS = 10  # that a notebook shows
_TERMS = 12  # of an equation
_NAME = 32  # characters of a name
_THIN_SPACE = "\u2009"
_MINUS = "\u2212"
# What no page may hold: control characters but tab and new line, halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(value, limit=None) -> str:
    """Return anything as text that a page may hold, the middle left out where it is long."""
    shown = _FORBIDDEN.sub("\ufffd", str(value))
    if limit is not None and len(shown) > limit:
        tail = limit // 3
        shown = f"{shown[: limit - tail - 1]}\u2026{shown[-tail:]}"
    return shown


def text(value, limit=None) -> str:
    """Return anything as text for an element or for an attribute in quotes."""
    return html.escape(clean(value, limit))


def isolated(value, limit=_NAME) -> str:
    """Return a name or a label as an element that keeps the direction of its writing to itself."""
    whole, shown = text(value, 300), text(value, limit)
    hint = f' title="{whole}"' if whole != shown else ""
    return f"<bdi{hint}>{shown}</bdi>"


def number(value, digits=4) -> str:
    """Return a number with some digits, as people write it."""
    if isinstance(value, Fraction):
        return text(value, 40).replace("-", _MINUS)
    if not math.isfinite(value):
        return "\u2013" if math.isnan(value) else ("\u221e" if value > 0 else f"{_MINUS}\u221e")
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", _MINUS)
    if not exponent:
        return mantissa
    power = f"10<sup>{str(int(exponent)).replace('-', _MINUS)}</sup>"
    return power if mantissa == "1" else f"{mantissa}{_THIN_SPACE}\u00b7{_THIN_SPACE}{power}"


def variable(name) -> str:
    """Return the name of a column; what looks like x0 or t_12 with its number below the line."""
    match = re.fullmatch(r"([A-Za-z])_?([0-9]{1,4})", str(name))
    if match:
        return f"<var>{match[1]}<sub>{match[2]}</sub></var>"
    return f"<var>{isolated(name)}</var>"


def polynomial(terms, coef, names, limit=_TERMS, digits=4) -> str:
    """Write a polynomial, its last term first, ``limit`` terms and how many more there are."""
    shown = np.flatnonzero(coef)[::-1]
    parts: list[str] = []
    for i in shown[:limit]:
        size = abs(coef[i])
        factors = [
            variable(names[j]) + ("" if terms[i][j] == 1 else f"<sup>{int(terms[i][j])}</sup>")
            for j in np.flatnonzero(terms[i])
        ]
        written = number(size, digits)
        if written != "1" or not factors:
            factors.insert(0, written)
        sign = _MINUS if coef[i] < 0 else "+"
        sign = f" {sign}\u00a0" if parts else sign.replace("+", "")  # lines break before a sign
        parts.append(f'{sign}<span class="term">{_THIN_SPACE.join(factors)}</span>')
    left = 0 if limit is None else max(0, len(shown) - limit)
    if left:
        more = f"({left}\u00a0more\u00a0term{'' if left == 1 else 's'})"
        parts.append(f" +\u00a0\u2026\u00a0<small>{more}</small>")
    return "".join(parts) or "0"


def equation(generator, limit=_TERMS, digits=4) -> str:
    """Write ``generator = 0``; ``generator`` is a polynomial of this library."""
    names = getattr(generator, "feature_names", None) or default_names(generator.terms.shape[1])
    return f"{polynomial(generator.terms, generator.coef, names, limit, digits)}\u00a0=\u00a00"


# -- Notebooks ------------------------------------------------------------------------------------


_STYLE = """<style>
.vanishing-equations { margin: .5em 0; font-size: .95em; }
.vanishing-equations table { border-collapse: collapse; margin: .4em 0; }
.vanishing-equations :is(td, th) { padding: .2em .8em .2em 0; text-align: left !important;
  vertical-align: baseline; }
.vanishing-equations .term { white-space: nowrap; }
.vanishing-equations .number { text-align: right !important; white-space: nowrap; }
</style>"""


def equations_html(estimator, limit=_EQUATIONS) -> str:
    """Return the first equations of a fitted estimator as a table; nothing if it is not fitted.

    Of a classifier with weights, those of the largest weights; of other estimators with classes,
    the first of each class.
    """
    try:
        found = anatomy(estimator)
    except NotFittedError:
        return ""
    weighted, by_class = found.weights is not None, found.classes is not None
    places = [(k, i) for k, part in enumerate(found.parts) for i in part.ranking().tolist()]
    order, which = "", "the first"
    if weighted and places:
        sizes = {(k, i): size for k, p in enumerate(found.parts) for i, size in enumerate(p.sizes)}
        n_used = sum(size > 0 for size in sizes.values())
        order, which = f", {n_used:,} of them with a weight", "those of the largest weights"
        places = sorted(places, key=lambda place: -sizes[place])[: max(1, n_used)][:limit]
    elif by_class:
        columns = [[place for place in places if place[0] == k] for k in range(len(found.parts))]
        rounds = [place for row in zip_longest(*columns) for place in row if place is not None]
        places = sorted(rounds[:limit])
    shown = places[:limit]
    exact = not hasattr(found.parts[0].model, "mse_")
    heads = ["class"] * by_class + ["equation"] + ["mean square"] * (not exact)
    heads += ["|weight|"] * weighted
    scaled = "" if found.scale is None else " in scaled columns"
    total = found.n_generators
    what = f"{total:,} equation{'' if total == 1 else 's'}{scaled}{order}"
    if len(shown) < total and shown:
        what += f"; {which}:"
    table = ""
    if shown:
        rows = "".join(_row(found.parts[k], i, by_class) for k, i in shown)
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        f'<details open class="vanishing-equations">{_STYLE}<summary>{what}</summary>{table}'
        "</details>"
    )


def _row(part, i, by_class) -> str:
    try:
        written = equation(part.generators[i])
    except ValueError as problem:  # components too large to be expanded
        written = text(problem)
    cells = [isolated(part.label)] if by_class else []
    cells.append(written)
    numbers = [part.model.mse_[i]] if hasattr(part.model, "mse_") else []
    numbers += [] if part.sizes is None else [part.sizes[i]]
    return (
        "<tr>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "".join(f'<td class="number">{number(value, 3)}</td>' for value in numbers)
        + "</tr>"
    )
