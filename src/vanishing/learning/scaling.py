"""Scaling of columns: learned on training rows, applied to rows wherever they are."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from vanishing.algebra.polynomials import default_names
from vanishing.learning import settings
from vanishing.learning.log_scaling import LogScaler
from vanishing.rows.arrays import clipped, column_ranges, count_true, like, namespace, to_numpy

SCALINGS = ("minmax", "quantile", "log")  # that a search tries; True is the first
NAMES = ("minmax", "maxabs", "quantile", "log")


def check_scale(scale, names=NAMES) -> None:
    """Raise TypeError or ValueError unless ``scale`` says how to scale, maybe by a name."""
    choices = ", ".join(["True", "False", *map(repr, names)])
    message = f"scale must be {choices} or a scikit-learn transformer; got {scale!r}."
    if isinstance(scale, str):
        if scale not in names:
            raise ValueError(message)
    elif not isinstance(scale, bool) and not hasattr(scale, "fit_transform"):
        raise TypeError(message)


def affine(transformer, n_features: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a and b if a fitted scaler maps each column x to a x + b; None if it does more.

    Whether it clips is left out: that is no unit of measurement.
    """
    a, b = np.ones(n_features), np.zeros(n_features)
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return a, b
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            factors = affine(step, n_features)
            if factors is None:
                return None
            a, b = a * factors[0], b * factors[0] + factors[1]
        return a, b
    if isinstance(transformer, MinMaxScaler):
        return transformer.scale_, transformer.min_
    if isinstance(transformer, MaxAbsScaler):
        return 1.0 / transformer.scale_, b
    if isinstance(transformer, (StandardScaler, RobustScaler)):
        centre = getattr(transformer, "mean_", None)
        centre = getattr(transformer, "center_", None) if centre is None else centre
        if transformer.scale_ is not None:
            a = 1.0 / transformer.scale_
        moved = isinstance(transformer, RobustScaler) or transformer.with_mean
        return a, b if centre is None or not moved else -centre * a
    return None


def names_after(transformer, names, n_columns: int) -> list[str]:
    """Return the names of the columns that a fitted transformer makes, x0, x1, ... if unknown."""
    if affine(transformer, len(names)) is None:
        try:
            names = transformer.get_feature_names_out(np.asarray(names, dtype=object))
        except (AttributeError, ValueError):
            names = ()
    return [str(name) for name in names] if len(names) == n_columns else default_names(n_columns)


class FarRows:
    """Counts rows that are far outside of the training range.

    Attributes
    ----------
    n_rows, n_far : int
        Rows seen, and those of them that are beyond the range of a column by more than half of it.
    column : int
        The place of the scaled column in which a row is farthest outside.
    worst : float
        How far that is, as a multiple of the range of the column.
    """

    def __init__(self):
        self.n_rows = self.n_far = self.column = 0
        self.worst = 0.0

    def count(self, X, low: np.ndarray, high: np.ndarray) -> None:
        """Count scaled rows, of NumPy or of a device, by the range of the columns in training."""
        self.n_rows += X.shape[0]
        # A column that was constant has no range to measure by; neither has one that overflows.
        span = high - low
        span = np.where((span > 0.0) & np.isfinite(span), span, np.inf)
        smallest, largest = column_ranges(X)
        beyond = np.maximum(low - smallest, largest - high) / span
        if not beyond.max(initial=0.0) > settings.FAR:
            return  # most calls end here
        if beyond.max() > self.worst:
            self.column, self.worst = int(beyond.argmax()), float(beyond.max())
        centre, reach = like(X, (low + high) / 2), like(X, (0.5 + settings.FAR) * span)
        xp = namespace(X)
        self.n_far += count_true(xp.any(xp.abs(X - centre) > reach, axis=1))

    def add(self, other: "FarRows") -> None:
        """Count rows that have been counted by themselves."""
        self.n_rows += other.n_rows
        self.n_far += other.n_far
        if other.worst > self.worst:
            self.column, self.worst = other.column, other.worst

    @property
    def many(self) -> bool:
        """Whether these are more rows than ordinary data has so far outside."""
        return self.n_far > settings.ORDINARY * self.n_rows


class Scaling:
    """What a classifier does with rows first.

    Parameters
    ----------
    scale : bool, "minmax", "maxabs", "quantile", "log" or transformer
        As `VanishingClassifier` has it.
    clip : bool
        Whether scaled columns of new rows are clipped to their range in training.

    Attributes
    ----------
    transformer : fitted transformer or None
    low, high : ndarray of shape (n_columns,), or None
        The range of the scaled columns in training; None where an older model file lacks it.
    far_rows : FarRows or None
        A count of rows far outside, to be read by the caller; None: they are warned of.
    """

    far_rows: FarRows | None = None

    def __init__(self, scale, clip: bool):
        self.scale = scale
        self.clip = clip
        self.transformer: Any = None
        self.low: np.ndarray | None = None
        self.high: np.ndarray | None = None

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        """Learn the scaling from training rows, and scale them."""
        if self.in_unit_range:
            self.transformer = MinMaxScaler()
        elif self._is("maxabs"):
            self.transformer = MaxAbsScaler()
        elif self._is("log"):
            self.transformer = LogScaler()
        elif isinstance(self.scale, str):
            self.transformer = QuantileTransformer(
                n_quantiles=min(settings.MOST_QUANTILES, len(X)), subsample=None, random_state=0
            )
        elif self.scale is not False:
            self.transformer = clone(self.scale)
        if self.transformer is not None:
            X = self._checked(self.transformer.fit_transform(X), len(X))
        self.low, self.high = column_ranges(X)
        return X

    def fit_range(self, low: np.ndarray, high: np.ndarray) -> "Scaling":
        """Learn the scaling from the range of each column: some need no more."""
        if not (self.in_unit_range or self._is("maxabs") or self.scale is False):
            raise TypeError(
                f"scale={self.scale!r} needs the rows in memory: give arrays, False, or one of "
                f"{', '.join(map(repr, (True, *NAMES)))}."
            )
        self.fit_transform(np.vstack([low, high]))
        return self

    @property
    def in_unit_range(self) -> bool:
        """Whether columns are mapped linearly into [0, 1]."""
        return self.scale is True or self._is("minmax")

    def _is(self, name: str) -> bool:
        return isinstance(self.scale, str) and self.scale == name

    @property
    def wants_rows(self) -> bool:
        """Whether it is one that learns from rows, of which some may stand for all."""
        return self._is("quantile") or self._is("log")

    @property
    def is_identity(self) -> bool:
        """Whether rows stay as they are."""
        return self.transformer is None and not self.clip

    def __call__(self, X, far: FarRows | None = None):
        """Scale rows that have been validated: a NumPy array or one of a device.

        Those that are far outside of the training range are counted in ``far``.
        """
        transformer = self.transformer
        if transformer is not None and self.in_unit_range:
            X = X * like(X, transformer.scale_) + like(X, transformer.min_)
        elif transformer is not None and self._is("maxabs"):
            X = X / like(X, transformer.scale_)
        elif transformer is not None:
            # Scikit-learn's transformers know no devices: to the CPU and back.
            rows = to_numpy(X)
            X = like(X, self._checked(transformer.transform(rows), len(rows)))
        if self.low is None or self.high is None:
            return X
        if far is not None:
            far.count(X, self.low, self.high)
        return clipped(X, self.low, self.high) if self.clip else X

    def counted_by(self, far: FarRows) -> "Scaling":
        """Return the same scaling, with a count of rows far outside in place of warnings."""
        scaling = copy(self)
        scaling.far_rows = far
        return scaling

    def _checked(self, X, n_samples: int) -> np.ndarray:
        X = np.asarray(X)
        if X.ndim != 2 or len(X) != n_samples or X.dtype.kind != "f":
            raise ValueError(
                f"scale={self.scale!r} must turn rows into as many rows of floats; it returned an "
                f"array of shape {X.shape} and dtype {X.dtype}."
            )
        return X
