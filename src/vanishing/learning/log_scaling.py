"""A logarithmic scaling for columns with heavy tails."""

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.persistence import register


class LogScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Map columns into [0, 1], logarithmically where they are far from their median.

    A value x becomes ``arsinh((x - centre) / unit)``, which is linear near the centre and a
    logarithm far from it, on both sides; and then what MinMaxScaler makes of that.

    Attributes
    ----------
    centre_ : ndarray of shape (n_features_in_,)
        Medians of the columns.
    unit_ : ndarray of shape (n_features_in_,)
        Medians of the distances from the centre that are not zero; 1 where all are.
    scale_, min_ : ndarray of shape (n_features_in_,)
        Factors and offsets that follow, as MinMaxScaler has them.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    Examples
    --------
    >>> from vanishing.learning.log_scaling import LogScaler
    >>> LogScaler().fit_transform([[0.0], [1.0], [10.0], [100.0]]).round(2).ravel()
    array([0.  , 0.03, 0.38, 1.  ])
    """

    def check_parameters(self):
        """There are none to check."""

    def fit(self, X, y=None):
        """Learn centres, units and ranges.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self : LogScaler
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self.centre_ = np.median(X, axis=0).astype(np.float64)
        distance = np.abs(X - self.centre_)
        units = [np.median(column[column > 0.0]) if column.any() else 1.0 for column in distance.T]
        self.unit_ = np.array(units, dtype=np.float64)
        low, high = (self._logarithm(end(X, axis=0)) for end in (np.min, np.max))
        span = high - low
        self.scale_ = 1.0 / np.where(span > 0.0, span, 1.0)
        self.min_ = -low * self.scale_
        return self

    def _logarithm(self, X):
        return np.arcsinh((X - self.centre_) / self.unit_)

    def transform(self, X):
        """Scale rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return (self._logarithm(X) * self.scale_ + self.min_).astype(X.dtype, copy=False)


# -- What is saved --------------------------------------------------------------------------------

_FITTED = ("centre_", "unit_", "scale_", "min_")


def _write(writer, model) -> dict:
    node = writer.input(model)
    return node | {name.rstrip("_"): getattr(model, name).tolist() for name in _FITTED}


def _read(reader, node, model):
    values = reader.fitted(model, node, tuple(name.rstrip("_") for name in _FITTED))
    for name, value in zip(_FITTED, values, strict=True):
        setattr(model, name, reader.floats(value, name.rstrip("_"), model.n_features_in_))
    reader.require((model.unit_ > 0.0).all(), "a unit is not positive.")


register(LogScaler, _write, _read)
