"""Rows with class labels, their features, and labels from decision values."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from vanishing.checks import check_number, check_weights
from vanishing.rows.device import is_device_array, like
from vanishing.rows.questions import survey
from vanishing.rows.source import Source
from vanishing.rows.sources import adopt_layout
from vanishing.rows.validation import validated


class LabelledRows(NamedTuple):
    """Rows in memory that have been validated."""

    X: np.ndarray  # float64 or float32
    y: np.ndarray  # places in classes
    weight: np.ndarray | None
    classes: np.ndarray

    def at(self, rows) -> "LabelledRows":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelledRows(self.X[rows], self.y[rows], weight, self.classes)

    def present(self) -> "LabelledRows":
        """Return the rows whose weight is not zero."""
        if self.weight is None or self.weight.all():
            return self
        return self.at(self.weight > 0)

    @property
    def totals(self) -> np.ndarray:
        """The weight of each class."""
        return np.bincount(self.y, self.weight, len(self.classes)).astype(np.float64)


class LabelledSource(NamedTuple):
    """Rows elsewhere, of which a survey was made, and what to do with them first."""

    source: Source  # of rows with places in classes
    classes: np.ndarray
    totals: np.ndarray  # weight of each class
    low: np.ndarray  # range of each column
    high: np.ndarray
    scale: Callable | None = None


def labelled_source(estimator, source: Source) -> LabelledSource:
    """Look at rows with class labels that are read where they are, and set ``classes_``."""
    source = source.labelled()
    found = survey(source)
    check_classification_targets(found.classes)
    adopt_layout(estimator, source.layout)
    estimator.classes_ = found.classes
    source = source.coded(found.classes)
    return LabelledSource(source, found.classes, found.totals, found.low, found.high)


def labelled_rows(estimator, X, y, sample_weight) -> LabelledRows:
    """Validate rows with class labels, and set ``classes_``: those of rows that have a weight."""
    X, y = validated(estimator, X, _without_gaps(y))
    check_classification_targets(y)
    weight = check_weights(sample_weight, len(X))
    estimator.classes_ = np.unique(y if weight is None else y[weight > 0])
    return LabelledRows(X, np.searchsorted(estimator.classes_, y), weight, estimator.classes_)


def _without_gaps(y):
    """Return labels none of which is missing; scikit-learn's errors do not say which one is."""
    labels = np.asarray(y)
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return y
    gaps = [i for i, label in enumerate(labels) if _is_missing(label)]
    if gaps:
        raise ValueError(
            f"y has no label in row {gaps[0]}"
            + (f" and {len(gaps) - 1} more" if len(gaps) > 1 else "")
            + ". Drop these rows, or give them a label."
        )
    return y


def _is_missing(label) -> bool:
    if isinstance(label, float):
        return label != label
    return label is None or type(label).__name__ in ("NAType", "NaTType")  # of pandas


def check_two_classes(classes) -> None:
    """Raise ValueError unless there are two classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            "a classifier needs samples of at least 2 classes; the data has only one class: "
            f"{classes.tolist()[0]!r}."
        )


def check_class_weight(class_weight) -> None:
    """Raise TypeError or ValueError unless this can be the weights of classes."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None; got {class_weight!r}.")
    for label, weight in class_weight.items():
        check_number(f"class_weight of {label!r}", weight, low=0)


def class_weights(class_weight, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """Return the weight of each class, of which ``totals`` are the weights of its rows."""
    if class_weight is None:
        return None
    if not isinstance(class_weight, dict):
        # Of the rows that a search holds out, a class may have none.
        weights = np.zeros(len(classes))
        return np.divide(totals.sum(), len(classes) * totals, out=weights, where=totals > 0.0)
    return compute_class_weight(class_weight, classes=classes, y=classes)


def labels(classes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the labels that decision values stand for."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]


def or_constant(features):
    """Return the features, or a column of zeros if there are none: the intercept decides."""
    if features.shape[1]:
        return features
    zeros = np.zeros((features.shape[0], 1))
    return like(features, zeros) if is_device_array(features) else zeros
