"""Scaling of columns: learned on training rows, applied to rows wherever they are."""

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
from vanishing.rows import device

_CHOICES = "scale must be True, False, 'quantile' or a scikit-learn transformer"


def check_scale(scale) -> None:
    """Raise TypeError or ValueError unless ``scale`` says how to scale."""
    if isinstance(scale, str):
        if scale != "quantile":
            raise ValueError(f"{_CHOICES}; got {scale!r}.")
    elif not isinstance(scale, bool) and not hasattr(scale, "fit_transform"):
        raise TypeError(f"{_CHOICES}; got {scale!r}.")


def affine(transformer, n_features: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a and b if a fitted scaler maps each column x to a x + b; None if it does more.

    Whether it clips is left out: that is no unit of measurement.
    """
    a, b = np.ones(n_features), np.zeros(n_features)
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return a, b
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            found = affine(step, n_features)
            if found is None:
                return None
            a, b = a * found[0], b * found[0] + found[1]
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


class Scaling:
    """What a classifier does with rows first.

    Parameters
    ----------
    scale : bool, "quantile" or transformer
        As `VanishingClassifier` has it.
    clip : bool
        Whether scaled columns of new rows are clipped to their range in training.

    Attributes
    ----------
    transformer : fitted transformer or None
    low, high : ndarray of shape (n_columns,), or None without ``clip``
        The range of the scaled columns in training.
    """

    def __init__(self, scale, clip: bool):
        self.scale = scale
        self.clip = clip
        self.transformer = None
        self.low: np.ndarray | None = None
        self.high: np.ndarray | None = None

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        """Learn the scaling from training rows, and scale them."""
        if self.scale is True:
            self.transformer = MinMaxScaler()
        elif isinstance(self.scale, str):
            # As many quantiles as there are rows, up to scikit-learn's default.
            self.transformer = QuantileTransformer(
                n_quantiles=min(1000, len(X)), subsample=None, random_state=0
            )
        elif self.scale is not False:
            self.transformer = clone(self.scale)
        if self.transformer is not None:
            X = self._checked(self.transformer.fit_transform(X), len(X))
        if self.clip:
            self.low, self.high = X.min(axis=0), X.max(axis=0)
        return X

    def fit_range(self, low: np.ndarray, high: np.ndarray) -> "Scaling":
        """Learn the scaling from the range of each column: True and False need no more."""
        if not isinstance(self.scale, bool):
            raise TypeError(
                f"scale={self.scale!r} needs the rows in memory: give arrays, or scale=True or "
                "False."
            )
        self.fit_transform(np.vstack([low, high]))
        return self

    @property
    def is_identity(self) -> bool:
        """Whether rows stay as they are."""
        return self.transformer is None and not self.clip

    def __call__(self, X):
        """Scale rows that have been validated: a NumPy array or one of a device."""
        transformer = self.transformer
        if transformer is not None and not isinstance(self.scale, bool):
            X = self._checked(transformer.transform(X), len(X))
            transformer = None
        parts = (None, None) if transformer is None else (transformer.scale_, transformer.min_)
        on_device = device.is_device_array(X)
        factor, offset, low, high = (
            device.like(X, part) if on_device and part is not None else part
            for part in (*parts, self.low, self.high)
        )
        if factor is not None:
            X = X * factor + offset
        if low is None:
            return X
        if not on_device:
            return np.clip(X, low, high)
        xp = device.namespace(X)
        return xp.minimum(xp.maximum(X, low), high)

    def _checked(self, X, n_samples: int) -> np.ndarray:
        X = np.asarray(X)
        if X.ndim != 2 or len(X) != n_samples or X.dtype.kind != "f":
            raise ValueError(
                f"scale={self.scale!r} must turn rows into as many rows of floats; it returned an "
                f"array of shape {X.shape} and dtype {X.dtype}."
            )
        return X
