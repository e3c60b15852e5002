"""The feature map of the paper's section 5: the generators of every class, evaluated."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing._base import check_labelled_rows, input_names, sparsity
from vanishing._threads import one_blas_thread
from vanishing.oavi import OAVI


class VanishingFeatures(TransformerMixin, BaseEstimator):
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

    def fit(self, X, y, sample_weight=None):
        """Fit one transformer a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; rows of weight zero count as absent.

        Returns
        -------
        self : VanishingFeatures
        """
        X, y, weight = check_labelled_rows(self, X, y, sample_weight)
        transformer = OAVI() if self.transformer is None else self.transformer
        names = getattr(self, "feature_names_in_", None)

        def fit_class(label):
            rows = y == label
            estimator = clone(transformer)
            estimator.fit(X[rows], **({} if weight is None else {"sample_weight": weight[rows]}))
            if names is not None:
                estimator.generators_ = estimator.generators_.renamed(names)
            return estimator

        with warnings.catch_warnings(), one_blas_thread():
            # A class without generators is no problem: the others have some.
            warnings.filterwarnings("ignore", message="[A-Z]+: nothing vanishes")
            self.transformers_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_class)(label) for label in range(len(self.classes_))
            )
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
                stacklevel=2,
            )
        return self

    def transform(self, X):
        """Evaluate the generators of all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_generators_)
        """
        check_is_fitted(self)
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
