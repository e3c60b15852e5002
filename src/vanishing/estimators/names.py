"""Names of the columns of an estimator's input."""

import numpy as np

from vanishing.algebra.polynomials import default_names


def input_names(estimator, input_features=None):
    """Return the names of the input's columns; ``input_features`` must be those seen in fit."""
    seen = getattr(estimator, "feature_names_in_", None)
    n_features = estimator.n_features_in_
    if input_features is None:
        return default_names(n_features) if seen is None else seen
    input_features = np.asarray(input_features, dtype=object)
    if seen is not None and not np.array_equal(input_features, seen):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(input_features) != n_features:
        raise ValueError(
            f"input_features should have length equal to number of features ({n_features}), got "
            f"{len(input_features)}"
        )
    return input_features


def adopt_columns(estimator, other) -> None:
    """Copy the number and names of the columns from another estimator."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(other, name):
            setattr(estimator, name, getattr(other, name))
