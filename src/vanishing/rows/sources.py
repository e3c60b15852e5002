"""Which source of rows X is, and how estimators adopt its columns."""

from copy import copy

import numpy as np

from vanishing.rows import device
from vanishing.rows.blocks import BlockSource, is_blocks
from vanishing.rows.dask import DaskSource, is_dask
from vanishing.rows.source import (
    Layout,
    Part,
    Source,
    beside_rows,
    checked_part,
    given_weights,
    placed,
    unit_of,
)


class DeviceSource(Source):
    """One array of another library: a single block."""

    def __init__(self, X, y=None, sample_weight=None):
        self.X = X
        unit = 1.0
        if sample_weight is not None:
            unit = unit_of(given_weights(sample_weight).max(initial=0.0))
        self.part = checked_part(X, y, sample_weight, None, unit)  # once: nobody else changes it
        self.layout = Layout(X.shape[1], None, str(self.part.X.dtype).rpartition(".")[2])

    def ask(self, question, combine):
        """Ask the one block there is."""
        return question(self.part) if self.part.X.shape[0] else None

    def map(self, method, n_columns, dtype):
        """Return the method of the rows, which go to the CPU and back to the device."""
        return device.like(self.X, method(device.to_numpy(self.part.X)))

    def labelled(self):
        """Move labels and weights to the device, once for all passes."""
        return self._with(beside_rows(self.part))

    def coded(self, classes):
        """Find the places of all labels, once for all passes."""
        return self._with(placed(self.part, classes))

    def _with(self, part: Part) -> "DeviceSource":
        source = copy(self)
        source.part = part
        return source


def source_of(X, y=None, sample_weight=None) -> Source | None:
    """Return the source that X is, or None if X is rows in memory."""
    if is_dask(X):
        return DaskSource(X, y, sample_weight)
    if device.is_device_array(X):
        return DeviceSource(X, y, sample_weight)
    if is_blocks(X):
        return BlockSource(X, y, sample_weight)
    return None


def refuse(estimator, X, method=None) -> None:
    """Raise TypeError if X is a source; for estimators and methods that need rows in memory."""
    name = type(estimator).__name__ + ("" if method is None else f".{method}")
    kind = None
    if is_dask(X):
        kind, remedy = "Dask collections", "X.compute()"
    elif device.is_device_array(X):
        kind, remedy = f"arrays of {type(X).__module__.partition('.')[0]}", "a NumPy array of it"
    elif is_blocks(X):
        kind, remedy = "blocks of rows", "one array of all rows"
    if kind is not None:
        raise TypeError(
            f"{name} does not take {kind}: it needs the rows in memory. Give it {remedy}; OAVI, "
            "ABM, AVI, VanishingFeatures and VanishingClassifier fit, transform and predict them."
        )


def adopt_layout(estimator, layout: Layout) -> None:
    """Set what scikit-learn's validation would have set."""
    estimator.n_features_in_ = layout.n_features
    if layout.names is not None:
        estimator.feature_names_in_ = np.array(layout.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_layout(estimator, layout: Layout) -> None:
    """Raise ValueError unless the columns are those seen in fit."""
    if layout.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {layout.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is not None and layout.names is not None and tuple(seen) != layout.names:
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(seen)}; got {', '.join(layout.names)}."
        )


def checked_device_array(estimator, X):
    """Return a device array whose columns are those seen in fit, with a floating dtype."""
    X = device.checked(X)
    check_layout(estimator, Layout(X.shape[1], None, ""))
    return X
