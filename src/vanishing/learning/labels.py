"""Rows with class labels: what every classifier asks of them."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from vanishing.checks import check_weights


def check_labelled_rows(estimator, X, y, sample_weight, *, drop=True):
    """Validate rows with class labels, set ``classes_``, and drop rows of weight zero.

    Returns
    -------
    X : ndarray of float64 or float32 of shape (n_samples, n_features)
    y : ndarray of int of shape (n_samples,)
        Places in ``classes_``.
    sample_weight : ndarray of shape (n_samples,) or None
    """
    X, y = validate_data(estimator, X, y, dtype=[np.float64, np.float32])
    check_classification_targets(y)
    weight = check_weights(sample_weight, len(X))
    present = slice(None) if weight is None else weight > 0
    estimator.classes_ = np.unique(y[present])
    y = np.searchsorted(estimator.classes_, y)
    if weight is not None and drop and not present.all():
        X, y, weight = X[present], y[present], weight[present]
    return X, y, weight


def check_two_classes(classes):
    """Raise ValueError unless there are two classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            "a classifier needs samples of at least 2 classes; the data has only one class: "
            f"{classes[0]!r}."
        )
