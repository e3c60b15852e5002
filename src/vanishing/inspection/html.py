"""HTML of equations and fitted estimators, in which names and labels are text, never markup."""

import math

import numpy as np
from sklearn.exceptions import NotFittedError

from vanishing.algebra.markup import isolated, number, text
from vanishing.algebra.units import readable
from vanishing.algebra.writing import DIGITS
from vanishing.inspection.anatomy import anatomy

_EQUATIONS = 10  # that a notebook shows
_TERMS = 14  # of an equation, on its right side


def equation(generator, limit=_TERMS, digits=DIGITS) -> str:
    """Write that a polynomial of this library is zero, its leading term alone on the left."""
    return generator.equation("html", digits=digits, limit=limit)


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
    places = [(k, i) for k, part in enumerate(found.parts) for i in range(len(part.generators))]
    order, which = "", "the first"
    if weighted and places:
        sizes = np.concatenate([part.sizes for part in found.parts if part.sizes is not None])
        n_used = np.count_nonzero(sizes)
        order, which = f", {n_used:,} of them with a weight", "those of the largest weights"
        places = [places[j] for j in np.argsort(-sizes, kind="stable")[: max(1, n_used)]]
    elif by_class:  # the first of each class, then the second, and so on
        places = sorted(sorted(places, key=lambda place: place[::-1])[:limit])
    shown = places[:limit]
    heads = ["class"] * by_class + ["equation", "rms error"] + ["|weight|"] * weighted
    scaled = " in scaled columns" if found.rescales and found.units is None else ""
    total = found.n_generators
    what = f"{total:,} equation{'' if total == 1 else 's'}{scaled}{order}"
    if len(shown) < total and shown:
        what += f"; {which}:"
    table = ""
    if shown:
        rows = "".join(_row(found, found.parts[k], i) for k, i in shown)
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        f'<details open class="vanishing-equations">{_STYLE}<summary>{what}</summary>{table}'
        "</details>"
    )


def _row(found, part, i) -> str:
    size, note = 1.0, ""
    try:
        shown = readable(part.generators[i], found.units)
    except ValueError as problem:  # components too large to be expanded
        written, error = text(problem), math.sqrt(part.model.mse_[i])
    else:
        if found.units is not None and not shown.original:
            note = " <small>(in scaled columns)</small>"
        written, error = shown.write("html", _TERMS) + note, shown.error
        size = abs(float(shown.polynomial.coef[-1]))  # weights are of left minus right side
    cells = [] if found.classes is None else [isolated(part.label)]
    numbers = [error] if part.sizes is None else [error, part.sizes[i] * size]
    return (
        "<tr>"
        + "".join(f"<td>{cell}</td>" for cell in [*cells, written])
        + "".join(f'<td class="number">{number(value, 3)}</td>' for value in numbers)
        + "</tr>"
    )
