"""Scikit-learn's base classes, of which it has no types: `bases.pyi` says what they promise."""

from typing import Any
from weakref import WeakKeyDictionary

from sklearn.base import BaseEstimator as _BaseEstimator
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]

_names: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()


class BaseEstimator(_BaseEstimator):
    """Scikit-learn's, which reads the signature of a class once.

    Its own reads it in each call, and a search makes thousands of copies.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether parameters of parts are returned as well.

        Returns
        -------
        params : dict
        """
        if type(self) not in _names:
            _names[type(self)] = tuple(super().get_params(deep=False))
        params: dict[str, Any] = {}
        for name in _names[type(self)]:
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                params |= {f"{name}__{key}": each for key, each in inner}
        return params
