"""What decided: how much columns and equations change the decision on rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from vanishing._types import Table
from vanishing.inspection.anatomy import Anatomy, anatomy
from vanishing.inspection.samples import evenly
from vanishing.inspection.settings import FEATURE_ROWS, PAIRS, SHRINKAGE, WORK
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import feature_values
from vanishing.rows.values import or_constant

_CHUNK = 8192  # rows whose features are computed at a time
_RIDGE = 1e-10  # of a feature's variance: less is rounding


@dataclass(frozen=True)
class Importances:
    """How much columns and equations change the decision on rows.

    Attributes
    ----------
    names : tuple of str
        Of the columns that the equations take.
    columns : ndarray of shape (n_columns,)
        Share of the rows whose predicted class changes when they get the value of the column from
        another row.
    order : ndarray of shape (n_columns,)
        Places of the columns, the most important first; where as many rows change, by the mean
        change of the decision values.
    equations : tuple of ndarray of shape (n_generators,), or None
        One per class: the share of the variance of the decision values that is lost with the
        equation. Equations are taken away one after another, first those that the others, with new
        weights, replace best; so all shares add up to 1. None where nothing linear decides.

    See Also
    --------
    Anatomy : The model that they are of.
    """

    names: tuple[str, ...]
    columns: np.ndarray
    order: np.ndarray
    equations: tuple[np.ndarray, ...] | None


def importances(model: Any, X: Table) -> Importances:
    """Say how much columns and equations change the decision of a classifier on rows.

    Parameters
    ----------
    model : VanishingClassifier, VanishingClassifierCV or Pipeline
        Fitted; of a pipeline that ends with one of these.
    X : array-like of shape (n_samples, n_features)
        Rows such as are to be classified: labels are not asked for.

    Returns
    -------
    importances : Importances

    Raises
    ------
    TypeError
        If the model is no classifier.

    See Also
    --------
    anatomy : The equations and weights themselves.
    vanishing.VanishingClassifier.explain : What decided on a single row.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VanishingClassifier
    >>> from vanishing.inspection import importances
    >>> X = np.random.default_rng(0).uniform(-1, 1, (1000, 4))
    >>> y = X[:, 0] ** 2 + X[:, 2] ** 2 < 0.6
    >>> importances(VanishingClassifier().fit(X, y), X).order[:2].tolist()
    [2, 0]
    """
    whole = anatomy(model)
    if not isinstance(whole.core, VanishingClassifier):
        raise TypeError(f"{type(whole.core).__name__} is no classifier: give one.")
    X = validate_data(model, X, reset=False, dtype=np.float64)
    return of_scaled(whole, np.ascontiguousarray(whole.scaled(X), dtype=np.float64))


def of_scaled(whole: Anatomy, Z: np.ndarray) -> Importances:
    """Return the importances of a classifier on rows as the equations take them."""
    columns, change = _columns(whole, Z)
    return Importances(
        names=whole.names,
        columns=columns,
        order=np.lexsort((-change, -columns)),
        equations=None if whole.weights is None else _equations(whole, Z),
    )


# -- Columns ------------------------------------------------------------------------------------


def _columns(whole: Anatomy, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column the share of rows that change class, and how much scores change."""
    n_rows, n_columns = Z.shape
    decide = _decision_of(whole)
    rows, donors = _pairs(n_rows, _n_pairs(whole, n_columns))
    Y = np.ascontiguousarray(Z[rows])
    labels, scores = decide(Y)
    changed, change = np.zeros(n_columns), np.zeros(n_columns)
    for j in range(n_columns):
        before = Y[:, j].copy()
        Y[:, j] = Z[donors, j]
        new_labels, new_scores = decide(Y)
        Y[:, j] = before
        changed[j] = np.mean(new_labels != labels)
        with np.errstate(over="ignore", invalid="ignore"):  # far outside, scores may overflow
            change[j] = np.nan_to_num(np.abs(new_scores - scores).mean())
    return changed, change


def _n_pairs(whole: Anatomy, n_columns: int) -> int:
    sizes = [len(p.used) * (p.model.n_terms_ + len(p.used)) for p in whole.parts]
    return int(np.clip(WORK / (n_columns * max(1, sum(sizes))), *PAIRS))


def _pairs(n_rows: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of different rows, the same in every call: a sample, or all of few in turn."""
    rows = evenly(n_rows, count)
    rows = np.tile(rows, count // len(rows))
    apart = np.random.default_rng(0).integers(1, max(2, n_rows), len(rows))
    return rows, (rows + apart) % n_rows


def _decision_of(whole: Anatomy) -> Callable:
    """Return what gives the classes of rows and their scores; 0 where nothing linear decides."""
    parts = [part.subset(part.used) for part in whole.parts]

    def linear(Z):
        scores = np.tile(whole.intercept, (len(Z), 1))
        for part in parts:
            scores += part.generators.combine(Z, part.weights, absolute=part.absolute)
        return (scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)), scores

    def not_linear(Z):
        features = or_constant(feature_values(whole.core.features_, Z))
        return whole.core.final_estimator_.predict(features), np.zeros(1)

    return linear if whole.decisions else not_linear


# -- Equations ----------------------------------------------------------------------------------


def _equations(whole: Anatomy, Z: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the share of the decision that is lost with each equation."""
    Z = Z[evenly(len(Z), FEATURE_ROWS)]
    used = [part.subset(part.used) for part in whole.parts]
    weights = np.vstack([part.weights for part in used if part.weights is not None])
    if weights.shape[1] > 1:  # what all decision values have in common decides nothing
        weights = weights - weights.mean(axis=1, keepdims=True)
    lost = _lost(_covariance(used, Z), weights)
    total = lost.sum()
    shares = np.split(lost / total if total > 0 else lost, np.cumsum([len(p.used) for p in used]))
    equations = []
    for part, share in zip(whole.parts, shares, strict=False):
        whole = np.zeros(len(part.generators))
        whole[part.used] = share
        equations.append(whole)
    return tuple(equations)


def _covariance(parts, Z: np.ndarray) -> np.ndarray:
    """Return the covariance of the features on rows."""
    count = sum(len(part.generators) for part in parts)
    total, square, first = np.zeros(count), np.zeros((count, count)), None
    for start in range(0, len(Z), _CHUNK):
        rows = np.ascontiguousarray(Z[start : start + _CHUNK])
        values = np.hstack([p.generators.evaluate(rows, absolute=p.absolute) for p in parts])
        if first is None:
            first = values.mean(axis=0)  # so that a large mean leaves the digits of a small spread
        values -= first
        total += values.sum(axis=0)
        square += values.T @ values
    total /= len(Z)
    return square / len(Z) - np.outer(total, total)


def _lost(covariance: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the variance of the decision values that is lost with each feature.

    Features are taken away one after another, each time the one without which the others, with
    new weights, come nearest to the decision values as they are. It is
    ``weight^2 / (inverse covariance)_ii`` that is lost with feature i, summed over decision values.
    """
    if not np.isfinite(covariance).all():  # of rows so far outside that nothing can be said
        return np.zeros(len(weights))
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    alive = np.flatnonzero(size > 0.0)
    lost = np.zeros(len(size))
    covariance = covariance[np.ix_(alive, alive)] / np.outer(size[alive], size[alive])
    covariance[np.diag_indices_from(covariance)] = 1.0 + _RIDGE
    goal = covariance @ (weights[alive] * size[alive, None])
    places = np.arange(len(alive))
    while len(places):
        inverse = np.linalg.inv(covariance[np.ix_(places, places)])
        new = inverse @ goal[places]
        kept = np.ones(len(places), dtype=bool)
        for _ in range(max(1, int((1.0 - SHRINKAGE) * len(places)))):
            cost = np.where(kept, np.sum(new**2, axis=1) / np.diag(inverse), np.inf)
            worst = int(cost.argmin())
            lost[alive[places[worst]]] = cost[worst]
            kept[worst] = False
            column = inverse[:, worst] / inverse[worst, worst]
            new -= np.outer(column, new[worst])
            inverse -= np.outer(column, inverse[worst])
            inverse[worst, worst] = 1.0
        places = places[kept]
    return lost
