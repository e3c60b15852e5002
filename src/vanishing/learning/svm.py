"""A linear support vector classifier with l1 penalty: few of the features decide."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vanishing._threads import one_blas_thread
from vanishing._types import Array, FloatArray, LabelArray, Labels, ObjectArray, Table, Vector
from vanishing._warnings import warn
from vanishing.checks import check_number
from vanishing.estimators.bases import BaseEstimator, ClassifierMixin
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.row_methods import RowMethods, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.learning.labels import (
    check_class_weight,
    check_two_classes,
    labelled_rows_in_memory,
    labels,
)
from vanishing.learning.svm_problems import SVMProblems
from vanishing.learning.svm_solver import as_columns, solve_together
from vanishing.persistence import register


class L1SquaredHingeSVC(Savable, RowMethods, ClassifierMixin, BaseEstimator):
    """Linear support vector classifier with l1 penalty and squared hinge loss.

    Minimises the objective of ``LinearSVC(penalty="l1", dual=False)``: one class against the
    others, with the intercept penalised as a constant feature. It stops at a given duality gap, and
    needs far less time if features are many or correlated.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; the smaller, the fewer features are used.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int, default=1000
        Newton steps for each class.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same weight in total. As in
        LinearSVC, with more than two classes the weight of a class counts in the problem of that
        class against the others, and there for its own rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    dual_gap_ : ndarray of shape (1,) or (n_classes,)
        Relative duality gaps reached.
    n_iter_ : int
        Newton steps, of the class that took most.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    VanishingClassifier : Uses it on the generators of each class.
    sklearn.svm.LinearSVC : The same objective, by another solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import L1SquaredHingeSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> L1SquaredHingeSVC(C=1.0).fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """

    classes_: LabelArray
    coef_: FloatArray
    intercept_: FloatArray
    dual_gap_: FloatArray
    n_iter_: int
    n_features_in_: int
    feature_names_in_: ObjectArray

    fits_sources = reads_sources = False

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    ):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("C", self.C, low=0, low_open=True)
        check_number("tol", self.tol, low=0, low_open=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_class_weight(self.class_weight)

    def fit(self, X: Table, y: Labels, sample_weight: Vector | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : L1SquaredHingeSVC
        """
        self.check_parameters()
        with all_or_nothing(self):
            X, y, weight = labelled_rows_in_memory(self, X, y, sample_weight).part
            check_two_classes(self.classes_)
            with one_blas_thread():
                columns = as_columns(X, self.fit_intercept)
                problem = fit_svm(self, columns, y, weight)
            if problem is not None:
                warn(f"L1SquaredHingeSVC: {problem}", ConvergenceWarning)
            return self

    @row_by_row()
    def decision_function(self, X: Array) -> FloatArray:
        """Return the signed distances, of shape (n_samples,) or (n_samples, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray
            Positive where the second of two classes is predicted; one column per class otherwise.
        """
        return decision_values(self, X)

    @row_by_row()
    def predict(self, X: Array) -> LabelArray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return labels(self.classes_, decision_values(self, X))


# -- For estimators that are made of others -------------------------------------------------------


def fit_svm(svm: L1SquaredHingeSVC, columns, y, weight=None, start=None, n_jobs=None) -> str | None:
    """Fit to features that have been laid out by `svm_solver.as_columns`.

    ``y`` are places in ``classes_``, which is set already; ``start`` a fitted classifier on the
    same features to start from, ``n_jobs`` threads over the problems. Returns what to warn of.
    """
    svm.n_features_in_ = len(columns) - svm.fit_intercept
    problems = SVMProblems(svm, svm.classes_, np.bincount(y, weight, len(svm.classes_)))
    sides = [problems.sides(p, y, weight, columns[0]) for p in range(len(problems))]
    signs, costs = zip(*sides, strict=True)
    weights = np.zeros((len(problems), len(columns)))
    if start is not None:
        weights[:, : svm.n_features_in_] = start.coef_
        weights[:, svm.n_features_in_ :] = start.intercept_[:, np.newaxis]
    return set_solutions(
        svm,
        solve_together(
            columns, signs, costs, weights, tol=svm.tol, max_iter=svm.max_iter, n_jobs=n_jobs
        ),
    )


def set_solutions(svm: L1SquaredHingeSVC, solutions) -> str | None:
    """Set the fitted attributes from (w, gap, n_iter) of each problem; return what to warn of.

    ``n_features_in_`` is set already.
    """
    vectors, gaps, n_iter = zip(*solutions, strict=True)
    weights = np.array(vectors)
    svm.coef_ = weights[:, : svm.n_features_in_].copy()
    svm.intercept_ = np.zeros(len(weights))
    if svm.fit_intercept:
        svm.intercept_ = weights[:, -1].copy()
    svm.dual_gap_ = np.array(gaps)
    svm.n_iter_ = max(1, *n_iter)
    if svm.dual_gap_.max() <= svm.tol:
        return None
    return (
        f"after {svm.n_iter_} Newton steps the relative duality gap of the linear SVM is "
        f"{svm.dual_gap_.max():.1e}, above tol={svm.tol}. Raise max_iter or tol, or scale "
        "the features."
    )


def decision_values(svm: L1SquaredHingeSVC, X: np.ndarray, weights=None) -> np.ndarray:
    """Return the decision values of rows that have been validated.

    Of rows that have some of the features only ``weights`` are the coefficients.
    """
    scores = X @ (svm.coef_ if weights is None else weights).T + svm.intercept_
    return scores[:, 0] if len(svm.classes_) == 2 else scores


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    return {
        **writer.classes(model),
        "coef": model.coef_.tolist(),
        "intercept": model.intercept_.tolist(),
        "dual_gap": writer.plain(model.dual_gap_),
        "n_iter": int(model.n_iter_),
    }


def _read(reader, node, model):
    keys = ("coef", "intercept", "dual_gap", "n_iter")
    coef, intercept, gap, n_iter = reader.fitted(model, node, keys, classes=True)
    n_rows = reader.n_decisions(model.classes_)
    model.coef_ = reader.table(reader.listed(coef, "coef", n_rows), "coef", model.n_features_in_)
    model.intercept_ = reader.floats(intercept, "intercept", n_rows)
    gap = reader.listed(gap, "dual_gap", n_rows)
    model.dual_gap_ = np.array([reader.measured(value, "dual_gap") for value in gap])
    model.n_iter_ = reader.integer(n_iter, "n_iter", 1)


register(L1SquaredHingeSVC, _write, _read)
