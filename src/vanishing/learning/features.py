"""The feature map of the paper's section 5: the generators of every class, evaluated."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing._threads import one_blas_thread
from vanishing.constructions.base import all_or_nothing, input_names, sparsity
from vanishing.constructions.oavi import OAVI
from vanishing.inspection.html import HTMLRepresentation
from vanishing.learning.labels import check_labelled_rows
from vanishing.persistence import Savable
from vanishing.rows.device import is_device_array, namespace
from vanishing.rows.sources import (
    SourceRows,
    adopt_layout,
    check_layout,
    checked_device_array,
    source_of,
    survey,
)


class VanishingFeatures(Savable, HTMLRepresentation, TransformerMixin, BaseEstimator):
    """Generators of each class's vanishing ideal as features.

    Fits one clone of ``transformer`` to the rows of each class and maps a row x to the values
    ``|g(x)|`` of the generators of all classes: small for the classes that x may belong to.

    Parameters
    ----------
    transformer : estimator, default=None
        `OAVI` or another construction of generators; None means ``OAVI()``.
    n_jobs : int, default=None
        Threads over the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transformers_ : list of n_classes fitted estimators
    n_generators_, n_terms_ : int
        |G| and |O|, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> from vanishing import VanishingFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> features = VanishingFeatures().fit(minmax_scale(X), y)
    >>> print(features.get_feature_names_out()[0])
    0: |x2 - 0.07831|
    """

    def __init__(self, transformer=None, *, n_jobs=None):
        self.transformer = transformer
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Fit one transformer a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            As `OAVI.fit` takes it.
        y : array-like of shape (n_samples,), default=None
            Class labels; a Dask collection if X is one. None if X yields blocks that are tuples
            (rows, labels).
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; rows of weight zero count as absent.

        Returns
        -------
        self : VanishingFeatures
        """
        with all_or_nothing(self):
            source = source_of(X, y, sample_weight)
            if source is not None:
                return self._fit_source(source, survey(source))
            X, y, weight = check_labelled_rows(self, X, y, sample_weight)
            transformer = OAVI() if self.transformer is None else self.transformer

            def fit_class(label):
                rows = y == label
                weights = {} if weight is None else {"sample_weight": weight[rows]}
                return clone(transformer).fit(X[rows], **weights)

            return self._fit_classes(fit_class)

    def _fit_source(self, source, found, *, scale=None, named=True):
        """Fit to the rows of a source, of which a survey was made, after scaling them.

        ``named`` says whether the features keep the names of the columns.
        """
        check_classification_targets(found.classes)
        self.classes_ = found.classes
        layout = source.layout
        adopt_layout(self, layout if named else layout._replace(names=None))
        transformer = OAVI() if self.transformer is None else self.transformer
        if not getattr(transformer, "_reads_sources", False):
            raise TypeError(
                f"{type(transformer).__name__} needs the rows of a class in memory: give arrays, "
                "or use OAVI or ABM."
            )

        def fit_class(label):
            estimator = clone(transformer)
            estimator._check_parameters()
            adopt_layout(estimator, layout._replace(names=None))
            rows = SourceRows(source, estimator.chunk_size, label=self.classes_[label], scale=scale)
            estimator._fit_rows(rows).warn()
            return estimator

        return self._fit_classes(fit_class)

    def _fit_classes(self, fit_class):
        """Fit each class by ``fit_class(its place in classes_)``, and sum up."""
        with warnings.catch_warnings(), one_blas_thread():
            # A class without generators is no problem: the others have some.
            warnings.filterwarnings("ignore", message="[A-Z]+: nothing vanishes")
            self.transformers_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_class)(label) for label in range(len(self.classes_))
            )
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            for transformer in self.transformers_:
                transformer.generators_ = transformer.generators_.renamed(names)
        self.n_generators_ = sum(t.n_generators_ for t in self.transformers_)
        self.n_terms_ = sum(t.n_terms_ for t in self.transformers_)
        n_coefficients = sum(t.n_coefficients_ for t in self.transformers_)
        n_zeros = sum(t.sparsity_ * t.n_coefficients_ for t in self.transformers_)
        self.sparsity_ = sparsity(n_coefficients - n_zeros, n_coefficients)
        if not self.n_generators_:
            warnings.warn(
                "VanishingFeatures: nothing vanishes on any class, and transform will return no "
                "columns. Take a larger psi or max_degree, or scale the data.",
                UserWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X):
        """Evaluate the generators of all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_generators_)
            As `OAVI.transform` returns it.
        """
        check_is_fitted(self)
        if is_device_array(X):
            X = checked_device_array(self, X)
            return namespace(X).concat([t.transform(X) for t in self.transformers_], axis=1)
        source = source_of(X)
        if source is not None:
            check_layout(self, source.layout)
            return source.map(self.transform, self.n_generators_, source.layout.dtype)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        out = np.empty((len(X), self.n_generators_), dtype=X.dtype)
        start = 0
        for transformer in self.transformers_:
            stop = start + transformer.n_generators_
            transformer.generators_.evaluate(
                X,
                absolute=transformer.absolute,
                chunk_size=transformer.chunk_size,
                out=out[:, start:stop],
            )
            start = stop
        return out

    def get_feature_names_out(self, input_features=None):
        """Return a name for each output: the class and the polynomial.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input's columns; must agree with those seen in `fit`, if any.

        Returns
        -------
        names : ndarray of object of shape (n_generators_,)
        """
        check_is_fitted(self)
        names = input_names(self, input_features)
        return np.array(
            [
                f"{label}: {name}"
                for label, transformer in zip(self.classes_, self.transformers_, strict=True)
                for name in transformer.get_feature_names_out(names)
            ],
            dtype=object,
        )

    @property
    def _n_features_out(self):
        return self.n_generators_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
