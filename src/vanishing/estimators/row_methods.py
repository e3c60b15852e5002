"""Methods that answer row by row, with the same results wherever the rows are."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from sklearn.utils.validation import check_is_fitted

from vanishing._threads import threads
from vanishing._types import Array, FloatArray, Labels, Table
from vanishing.rows.apply import apply_to_rows, unless_lazy

Value_co = TypeVar("Value_co", covariant=True)
Method = TypeVar("Method", bound=Callable)


class RowMethod(Protocol[Value_co]):
    """What a method that is applied `row_by_row` looks like from outside."""

    def __call__(self, X: Table) -> Value_co:
        """Take rows wherever they are."""
        ...


class RowMethods:
    """Base of estimators with methods that are applied `row_by_row`.

    Attributes
    ----------
    fits_sources, reads_sources : bool
        Whether `fit`, and whether the methods row by row, take rows that are not in memory: blocks,
        Dask collections, device arrays.
    """

    fits_sources = True
    reads_sources = True

    @property
    def takes_gaps(self) -> bool:
        """Whether rows may have gaps, which are NaN."""
        return False

    def _per_block(self):
        """Return the estimator whose methods get the blocks of a lazy source."""
        return self

    def _applied_to(self, X):
        """Return the estimator and the rows that a method is applied to: mostly those given."""
        return self, X


def row_by_row(
    *,
    n_columns: Callable | None = None,
    dtype: Callable | None = None,
    on_device: Callable = lambda estimator, X: False,
) -> Callable[[Callable[[Any, Array], Value_co]], RowMethod[Value_co]]:
    """Let a method take rows wherever they are; its body takes rows that have been validated.

    The estimator has to be fitted, and may use ``n_jobs`` threads.

    Parameters
    ----------
    n_columns : callable or None
        Takes the estimator, returns how many columns the method returns; None: one value per row.
    dtype : callable or None
        Takes the estimator, returns the dtype of what the method returns; None: that of X.
    on_device : callable
        ``on_device(estimator, X)`` says whether the body takes arrays of a device as they are.
    """

    def decorate(body):
        @wraps(body)
        def method(self, X):
            check_is_fitted(self, "n_features_in_")  # a fit that fails removes it
            self, X = self._applied_to(X)
            with threads(getattr(self, "n_jobs", None)):
                return apply_to_rows(
                    self,
                    X,
                    lambda rows: body(self, rows),
                    lambda: getattr(self._per_block(), body.__name__),
                    n_columns=None if n_columns is None else n_columns(self),
                    dtype=None if dtype is None else dtype(self),
                    on_device=lambda rows: on_device(self, rows),
                )

        method.is_row_by_row = True
        return method

    return decorate


def by_row_methods(method: Method) -> Method:
    """Mark a method that only puts together what methods applied `row_by_row` return."""
    method.is_row_by_row = True  # type: ignore[attr-defined]  # of a function
    return method


class RowTransformer(RowMethods):
    """Base of transformers, before scikit-learn's: `set_output` holds for lazy results, too.

    Scikit-learn puts what `transform` returns into a container. A lazy result has to be left alone:
    each of its blocks gets a container when it is computed.
    """

    fit: Callable
    transform: RowMethod

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)  # scikit-learn's part
        contained = cls.__dict__.get("transform")
        plain = getattr(contained, "__wrapped__", None)
        by_us = getattr(contained, "is_row_by_row", False) and not hasattr(plain, "__wrapped__")
        if plain is not None and not by_us:  # else it is inherited, or not wrapped
            cls.transform = unless_lazy(contained, plain)

    def fit_transform(self, X: Table, y: Labels | None = None, **fit_params: Any) -> FloatArray:
        """Fit to X, and return the transformed X.

        Parameters
        ----------
        X, y : rows and labels
            As `fit` takes them.
        **fit_params : dict
            Other parameters of `fit`.

        Returns
        -------
        X_out : as `transform` returns it
        """
        fitted = self.fit(X, **fit_params) if y is None else self.fit(X, y, **fit_params)
        return fitted.transform(X)
