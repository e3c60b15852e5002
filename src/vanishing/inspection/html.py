"""HTML of equations and fitted estimators, in which names and labels are text, never markup."""

import math

import numpy as np
from sklearn.exceptions import NotFittedError

from vanishing.algebra.markup import isolated, number, text
from vanishing.algebra.units import readable
from vanishing.algebra.writing import DIGITS
from vanishing.inspection.anatomy import anatomy
from vanishing.inspection.freedom import freedom_of
from vanishing.inspection.settings import EQUATIONS, TERMS
from vanishing.inspection.verdict_html import STYLE, table, verdict_html


def equation(generator, limit=TERMS, digits=DIGITS) -> str:
    """Write a polynomial as an equation, its leading term alone on the left."""
    return generator.equation("html", digits=digits, limit=limit)


def shown_with(diagram: str, estimator) -> str:
    """Return scikit-learn's diagram of an estimator, and what the estimator found if it is fitted.

    A verdict comes before the diagram, equations without one come behind it.
    """
    verdict = verdict_html(estimator)
    return diagram + equations_html(estimator) if verdict is None else verdict + diagram


def equations_html(estimator, limit=EQUATIONS) -> str:
    """Return the first equations of a fitted estimator as a table; nothing if it is not fitted.

    Of a classifier with weights, those of the largest weights; of other estimators with classes,
    the first of each class.
    """
    try:
        whole = anatomy(estimator)
    except NotFittedError:
        return ""
    weighted, by_class = whole.weights is not None, whole.classes is not None
    places = [(k, i) for k, part in enumerate(whole.parts) for i in range(len(part.generators))]
    order, which = "", "the first"
    in_scaled = " in scaled columns" if whole.rescales else ""
    if weighted and places:
        sizes = np.concatenate([part.sizes for part in whole.parts if part.sizes is not None])
        n_used = np.count_nonzero(sizes)
        order = f", {n_used:,} of them with a weight"
        which = f"those of the largest weights{in_scaled}"
        places = [places[j] for j in np.argsort(-sizes, kind="stable")[: max(1, n_used)]]
    elif by_class:  # the first of each class, then the second, and so on
        places = sorted(sorted(places, key=lambda place: place[::-1])[:limit])
    shown = places[:limit]
    heads = ["class"] * by_class + ["equation", "rms error"]
    heads += [f"|weight|{in_scaled}"] * weighted
    scaled = " in scaled columns" if whole.rescales and whole.units is None else ""
    total = whole.n_generators
    what = f"{total:,} equation{'' if total == 1 else 's'}{scaled}{order}"
    if len(shown) < total and shown:
        what += f"; {which}:"
    rows = [_row(whole, whole.parts[k], i) for k, i in shown]
    listed = table(heads, rows, 1 + by_class) if rows else ""
    if not by_class:
        listed += "".join(f"<p>{line}</p>" for line in freedom_of(whole.parts[0].model))
    return (
        f'<details open class="vanishing-equations">{STYLE}<summary>{what}</summary>{listed}'
        "</details>"
    )


def _row(whole, part, i) -> list[str]:
    """Return the cells of an equation; its weight is that which equations are sorted by."""
    note = ""
    try:
        shown = readable(part.generators[i], whole.units)
    except ValueError as problem:  # components too large to be expanded
        written, error = text(problem), math.sqrt(part.model.mse_[i])
    else:
        if whole.units is not None and not shown.original:
            note = " <small>(in scaled columns)</small>"
        written, error = shown.write("html", TERMS) + note, shown.error
    cells = [] if whole.classes is None else [isolated(part.label)]
    numbers = [error] if part.sizes is None else [error, part.sizes[i]]
    return [*cells, written, *(number(value, 3) for value in numbers)]
