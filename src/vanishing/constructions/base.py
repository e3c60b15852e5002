"""What all constructions of generators from monomials share: input, output, names."""

from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing._threads import one_blas_thread
from vanishing.algebra.polynomials import Generators, default_names
from vanishing.checks import check_choice, check_flag, check_number, check_weights
from vanishing.inspection.html import HTMLRepresentation
from vanishing.persistence import Savable
from vanishing.rows.device import evaluate_generators, is_device_array
from vanishing.rows.reader import Reader, Rows
from vanishing.rows.sources import (
    SourceRows,
    adopt_layout,
    check_layout,
    checked_device_array,
    refuse,
    source_of,
)

_SHOWN = 4  # terms of a polynomial that a feature name shows


def sparsity(n_nonzero: int, n_coefficients: int) -> float:
    """Return SPAR, the share of zeros among the non-leading coefficients; 0 if there are none."""
    return 1.0 - n_nonzero / n_coefficients if n_coefficients else 0.0


def input_names(estimator, input_features=None):
    """Return the names of the input's columns, checking given ones against those seen in fit."""
    seen = getattr(estimator, "feature_names_in_", None)
    n_features = estimator.n_features_in_
    if input_features is None:
        return default_names(n_features) if seen is None else seen
    input_features = np.asarray(input_features, dtype=object)
    if seen is not None and not np.array_equal(input_features, seen):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(input_features) != n_features:
        raise ValueError(
            f"input_features should have length equal to number of features ({n_features}), got "
            f"{len(input_features)}"
        )
    return input_features


@contextmanager
def all_or_nothing(estimator):
    """Leave an estimator as it was where what is inside fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # at once
        raise


class GeneratorTransformer(Savable, HTMLRepresentation, TransformerMixin, BaseEstimator):
    """Base of the transformers whose generators are combinations of monomials.

    A subclass says which construction it runs in ``_construction(rows, columns)``.
    """

    _reads_sources = True  # or arrays alone

    def _check_parameters(self):
        check_number("psi", self.psi, low=0, high=1, high_open=True)
        check_choice("border", self.border, ("gb", "bb"))
        check_number("max_degree", self.max_degree, low=1, integer=True)
        if self.max_terms is not None:
            check_number("max_terms", self.max_terms, low=1, integer=True)
        check_choice("feature_order", self.feature_order, ("given", "pearson", "rev_pearson"))
        if self.chunk_size is not None:
            check_number("chunk_size", self.chunk_size, low=1, integer=True)
        check_flag("absolute", self.absolute)

    def fit(self, X, y=None, sample_weight=None):
        """Construct the generators of the approximate vanishing ideal of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Rows; best scaled into [0, 1] or [-1, 1]. Also `Blocks` and what they are made of, Dask
            arrays and DataFrames, PyTorch and CuPy arrays: these are read where they are.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows: all means become weighted means.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        with all_or_nothing(self):
            source = source_of(X, sample_weight=sample_weight)
            if source is None:
                X = validate_data(self, X, dtype=[np.float64, np.float32])
                rows = Rows(X, check_weights(sample_weight, len(X)), self.chunk_size)
            else:
                adopt_layout(self, source.layout)
                rows = SourceRows(source, self.chunk_size)
            self._fit_rows(rows).warn()
            return self

    def _fit_rows(self, rows: Reader):
        """Construct the generators of rows that have been validated, wherever they are.

        Returns the construction, for whoever called `fit` to be warned by.
        """
        with one_blas_thread():
            columns = self._ordered_columns(rows)
            construction = self._construction(rows, columns)
            construction.run()
            self._store(**construction.result())
        self.feature_order_ = columns
        if construction.n_iter is not None:
            self.n_iter_ = max(1, construction.n_iter)
        return construction

    def _ordered_columns(self, rows):
        if self.feature_order == "given":
            return np.arange(self.n_features_in_)
        total = np.abs(rows.correlations()).sum(axis=0).round(12)  # ties: the order given
        return np.argsort(-total if self.feature_order == "rev_pearson" else total, kind="stable")

    def _store(self, *, terms, leading_terms, coef, leading_coef, sizes, mse):
        """Set the fitted attributes; ``sizes`` is |O| when each generator was found."""
        self.terms_ = terms
        self.leading_terms_ = leading_terms
        self.coef_ = coef
        self.leading_coef_ = leading_coef
        self.mse_ = mse
        self.n_coefficients_ = int(sizes.sum())
        self.sparsity_ = sparsity(np.count_nonzero(coef), self.n_coefficients_)
        self.n_generators_ = len(leading_terms)
        self.n_terms_ = len(terms)
        self.generators_ = Generators(
            terms, leading_terms, coef, leading_coef, mse, input_names(self)
        )
        self.degree_ = self.generators_.degree

    def transform(self, X):
        """Evaluate the generators.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Rows with the columns seen in `fit`.

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_generators_)
            ``|g(x)|`` for each generator, or ``g(x)`` with ``absolute=False``: an array of X's
            library on X's device, and lazily, block by block, for Dask collections and blocks.
        """
        check_is_fitted(self, "generators_")
        if not self._reads_sources:
            refuse(self, X)
        if is_device_array(X):
            X = checked_device_array(self, X)
            return evaluate_generators(
                self.generators_, X, absolute=self.absolute, chunk_size=self.chunk_size
            )
        source = source_of(X)
        if source is not None:
            check_layout(self, source.layout)
            return source.map(self.transform, self.n_generators_, source.layout.dtype)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.generators_.evaluate(X, absolute=self.absolute, chunk_size=self.chunk_size)

    def get_feature_names_out(self, input_features=None):
        """Return a name for each output: the polynomial, shortened where it is long.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input's columns; must agree with those seen in `fit`, if any.

        Returns
        -------
        names : ndarray of object of shape (n_generators_,)
        """
        check_is_fitted(self, "generators_")
        generators = self.generators_.renamed(input_names(self, input_features))
        bar = "|" if self.absolute else ""
        # The leading term comes first and tells generators apart, however short the rest is cut.
        return np.array([f"{bar}{g.shortened(_SHOWN)}{bar}" for g in generators], dtype=object)

    @property
    def _n_features_out(self):
        return self.n_generators_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
