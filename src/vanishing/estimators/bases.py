"""Scikit-learn's base classes; to type checkers, which find no types in it, what they promise."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, Self, TypeVar

    from vanishing._types import IntArray, Labels, Table, Vector

    Method = TypeVar("Method")

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, object]: ...
        def set_params(self, **params: object) -> Self: ...
        def get_metadata_routing(self) -> object: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...

    class ClassifierMixin:
        def score(self, X: Table, y: Labels, sample_weight: Vector | None = None) -> float: ...

    class RegressorMixin:
        def score(self, X: Table, y: Vector, sample_weight: Vector | None = None) -> float: ...

    class OutlierMixin:
        def fit_predict(self, X: Table, y: None = None, **fit_params: object) -> IntArray: ...

    class TransformerMixin:
        def set_output(
            self, *, transform: Literal["default", "pandas", "polars"] | None = None
        ) -> Self: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]
