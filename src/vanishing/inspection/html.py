"""HTML of equations and fitted estimators, in which names and labels are text, never markup."""

from itertools import zip_longest

import numpy as np
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.markup import clean, isolated, number, text, variable

__all__ = ["HTMLRepresentation", "clean", "equation", "equations_html", "isolated"]
__all__ += ["number", "text", "variable"]

_EQUATIONS = 10  # that a notebook shows
_TERMS = 12  # of an equation


def equation(generator, limit=_TERMS, digits=4) -> str:
    """Write ``generator = 0``; ``generator`` is a polynomial of this library."""
    return f"{generator.write('html', digits=digits, limit=limit)}\u00a0=\u00a00"


# -- Notebooks ------------------------------------------------------------------------------------


class HTMLRepresentation:
    """Adds to scikit-learn's diagram of an estimator, in notebooks, its equations if it is fitted.

    As the diagram, it is left out with ``sklearn.set_config(display="text")``.
    """

    def _repr_html_(self):
        if get_config()["display"] != "diagram":
            return None
        return f"<div>{estimator_html_repr(self)}{equations_html(self)}</div>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        page = self._repr_html_()
        shown = {"text/plain": repr(self)}
        return shown if page is None else {**shown, "text/html": page}


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
        check_is_fitted(estimator)
    except NotFittedError:
        return ""
    estimator = getattr(estimator, "classifier_", estimator)
    features = getattr(estimator, "features_", estimator)
    by_class = hasattr(features, "transformers_")
    models = features.transformers_ if by_class else [features]
    places = [(k, i) for k, model in enumerate(models) for i in range(model.n_generators_)]
    coef = getattr(getattr(estimator, "final_estimator_", None), "coef_", None)
    weights, order, which = None, "", "the first"
    if coef is not None and places:
        weights = dict(zip(places, np.abs(coef).sum(axis=0), strict=True))
        n_used = sum(weight > 0 for weight in weights.values())
        order, which = f", {n_used:,} of them with a weight", "those of the largest weights"
        places.sort(key=lambda place: -weights[place])
        places = places[: max(1, n_used)]
    elif by_class:
        columns = [[place for place in places if place[0] == k] for k in range(len(models))]
        places = [place for row in zip_longest(*columns) for place in row if place is not None]
    total = sum(model.n_generators_ for model in models)
    shown = places[:limit]
    if not weights:
        shown.sort()
    rows = [
        _row(
            models[k],
            i,
            features.classes_[k] if by_class else None,
            None if weights is None else weights[k, i],
        )
        for k, i in shown
    ]
    exact = not hasattr(models[0], "mse_")
    heads = ["class"] * by_class + ["equation"] + ["mean square"] * (not exact)
    heads += ["|weight|"] * (weights is not None)
    scaled = " in scaled columns" if getattr(estimator, "scaler_", None) is not None else ""
    what = f"{total:,} equation{'' if total == 1 else 's'}{scaled}{order}"
    if len(shown) < total and shown:
        what += f"; {which}:"
    table = ""
    if rows:
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return (
        f'<details open class="vanishing-equations">{_STYLE}<summary>{what}</summary>{table}'
        "</details>"
    )


def _row(model, i, label, weight) -> str:
    try:
        generator = model.generators_[i]
        written = equation(generator)
    except ValueError as problem:  # components too large to be expanded
        written = text(problem)
    cells = [] if label is None else [isolated(label)]
    cells.append(written)
    numbers = [model.mse_[i]] if hasattr(model, "mse_") else []
    numbers += [] if weight is None else [weight]
    return (
        "<tr>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "".join(f'<td class="number">{number(value, 3)}</td>' for value in numbers)
        + "</tr>"
    )
