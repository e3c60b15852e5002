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
    checked_beside,
    given_weights,
    joined,
    labels_beside,
    placed,
    selected,
    unit_of,
)


class DeviceSource(Source):
    """One array of another library, asked where it is, some of its rows at a time.

    What is done with rows first, such as selecting those of a class, copies them: of bounded
    pieces, never of all rows, whatever their number.
    """

    def __init__(self, X, y=None, sample_weight=None):
        self.X, self.y = X, y
        unit = 1.0
        if sample_weight is not None:
            unit = unit_of(given_weights(sample_weight).max(initial=0.0))
        rows = device.checked(X)  # once: nobody else changes it
        y, weight = checked_beside(y, sample_weight, X.shape[0], unit)
        self.kept = None if weight is None or weight.all() else weight > 0
        if weight is not None:
            given = sample_weight if unit == 1.0 else None
            weight = device.already_there(X, given, weight)
        self.part = Part(rows, y, weight)
        dtype = device.floating_dtype(rows)
        self.layout = Layout(X.shape[1], None, str(dtype).rpartition(".")[2])

    def ask(self, question, combine):
        """Ask pieces of the rows, one after the other: an accelerator is busy with each."""
        return joined(combine, map(question, self._pieces()))

    def _pieces(self):
        """Yield the rows that have a weight, in floats."""
        size, start = device.piece_rows(self.layout.n_features), 0
        for part in self.part.pieces(size):
            if self.kept is not None:
                part = selected(*part, self.kept[start : start + size])
                start += size
            if part.X.shape[0]:
                yield part._replace(X=device.as_floats(part.X))

    def map(self, method, n_columns, dtype):
        """Return the method of the rows, which go to the CPU and back to the device."""
        return device.like(self.X, method(device.here_as_floats(self.part.X)))

    def labelled(self):
        """Move labels to the device, once for all passes."""
        return self._with(labels_beside(self.part, self.y))

    def coded(self, classes):
        """Find the places of all labels, once for all passes."""
        pieces = self.part.pieces(device.piece_rows(self.layout.n_features))
        places = [placed(piece, classes).y for piece in pieces]
        return self._with(self.part._replace(y=device.namespace(self.X).concat(places)))

    def _with(self, part: Part) -> "DeviceSource":
        source = copy(self)
        source.part = part
        return source


def near(X, *beside) -> tuple:
    """Return rows to be fitted to, and what is given beside them.

    As NumPy arrays if they are so few rows of an accelerator that the CPU is quicker with them.
    """
    if not device.are_few(X, to_fit=True):
        return X, *beside
    here = (None if part is None else device.to_numpy(part) for part in beside)
    return device.here_as_floats(X), *here


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
    """Return a device array of numbers whose columns are those seen in fit."""
    X = device.checked(X)
    check_layout(estimator, Layout(X.shape[1], None, ""))
    return X
