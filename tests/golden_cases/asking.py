"""How cases of golden.py fit models, and ask them about rows."""

from sklearn.base import clone

from golden_cases.tables import beside, rows
from golden_cases.values import plain

ANSWERS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")
ANSWERS += ("p_values",)


def answers(model, X):
    """Return what a model says of rows, by all its methods."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name):
            found[name] = attempt(getattr(model, name), X)
    if hasattr(model, "get_feature_names_out"):
        found["names"] = attempt(model.get_feature_names_out)
    return found


def attempt(function, *arguments, **options):
    """Return a result, or the error, so that one of several does not hide the others."""
    try:
        return plain(function(*arguments, **options))
    except Exception as error:
        return [type(error).__name__, str(error)]


def fit_and_ask(model, X, *arguments, asked=None, **options):
    """Fit; return what was found, and what is said of rows."""
    model = clone(model).fit(X, *arguments, **options)
    return {"model": model, **answers(model, X if asked is None else asked)}


def fit_kind(model, kind, table, labels=None, weight=None):
    """Fit to rows of a kind, and ask about them."""
    given = {"sample_weight": beside(kind, weight)} if weight is not None else {}
    labels = () if labels is None else (beside(kind, labels),)
    return fit_and_ask(model, rows(kind, table), *labels, **given)
