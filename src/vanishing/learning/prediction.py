"""Prediction by a fitted pipeline, on rows wherever they are."""

import copy

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import spread, threads
from vanishing._warnings import warn
from vanishing.algebra.polynomials import default_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.saving import Savable
from vanishing.learning.default import DefaultTransformer
from vanishing.learning.explanation import table_of
from vanishing.learning.labels import labels, or_constant
from vanishing.learning.scaling import FarRows, names_after
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.learning.temperature import probabilities
from vanishing.rows.device import (
    are_few,
    as_floats,
    combine_generators,
    here_as_floats,
    is_device_array,
    like,
    namespace,
    piece_rows,
    there,
    to_numpy,
)
from vanishing.rows.sources import check_layout, checked_device_array, refuse, source_of
from vanishing.rows.validation import validated

_ROWS = 1 << 16  # that are scaled and evaluated at a time


def watched(model, far: FarRows):
    """Return a copy that counts rows far outside of the training range in place of warning."""
    model = copy.copy(model)
    model._far = far
    return model


def warn_of(model, far: FarRows) -> None:
    """Warn of rows that are far outside of the training range, unless they are few."""
    if not far.many:
        return
    scaling, n_columns = model._fitted.scaling_, model._fitted.features_.n_features_in_
    names = getattr(model, "feature_names_in_", default_names(model.n_features_in_))
    names = names_after(scaling.transformer, names, n_columns)
    done = (
        "Scaled columns were clipped to that range."
        if scaling.clip
        else "Polynomials grow quickly there; clip=True clips scaled columns to that range."
    )
    warn(
        f"{far.n_far:,} of {far.n_rows:,} rows are far outside of the rows of the fit: in some "
        f"column, by more than half of its range there (farthest: {names[far.column]}, by "
        f"{far.worst:.3g} times its range). What is predicted for them means little. {done}"
    )


def _final_estimator_has(name):
    def check(self):
        # What was fitted counts, not a parameter that was set afterwards.
        fitted = hasattr(self, "classes_")
        final = self._fitted.final_estimator_ if fitted else getattr(self, "final_estimator", None)
        if final is None or isinstance(final, L1SquaredHingeSVC):
            return True  # it has a temperature here, though no probabilities of its own
        return hasattr(final, name)

    return check


class PipelineClassifier(
    DefaultTransformer, Savable, HTMLRepresentation, ClassifierMixin, BaseEstimator
):
    """Base of the classifiers by equations.

    A subclass says in ``_fitted`` which `VanishingClassifier` predicts: itself or one it has found.
    """

    def _validated(self, X):
        on_device = is_device_array(X)
        return checked_device_array(self, X) if on_device else validated(self, X, reset=False)

    @property
    def generators_(self):
        """The generators of all classes, in the order of the features."""
        check_is_fitted(self)
        return self._fitted.features_.generators_

    def _far_rows(self) -> FarRows:
        return getattr(self, "_far", None) or FarRows()

    def _tell(self, far: FarRows) -> None:
        if far is not getattr(self, "_far", None):  # else whoever watches will tell
            warn_of(self, far)

    def _scaled(self, X):
        far = self._far_rows()
        scaled = self._fitted.scaling_(self._validated(X), far)
        self._tell(far)
        return scaled

    def _features(self, X):
        with threads(self.n_jobs):
            return or_constant(self._fitted.features_.values_of(self._scaled(X)))

    def _decisive(self):
        """Return (generators, weights, absolute) of each class; None: no linear SVM decides."""
        fitted = self._fitted
        if fitted.decisive_ is None:
            return None
        return [
            (generators, weights, transformer.absolute)
            for transformer, (generators, weights) in zip(
                fitted.features_.transformers_, fitted.decisive_, strict=True
            )
        ]

    def _mapped(self, method, X, dtype, one_value=True):
        """Return a method of X if that is not for the caller to find, else None.

        Of blocks or a Dask collection: of each block, lazily. Of few rows of an accelerator: by the
        CPU.
        """
        if are_few(X):
            return there(X, method(here_as_floats(X)))
        if is_device_array(X):
            if self._decisive() is None:
                refuse(self._fitted.final_estimator_, X)
            return None
        source = source_of(X)
        if source is None:
            return None
        check_layout(self, source.layout)
        # Each block would warn again of rows far outside, and no block knows of the others.
        method = getattr(watched(self, FarRows()), method.__name__)
        return source.map(method, None if one_value else len(self.classes_), dtype)

    @available_if(_final_estimator_has("decision_function"))
    def decision_function(self, X):
        """Return the decision values, of shape (n_samples,) or (n_samples, n_classes).

        Only generators with a weight, and the monomials those need, are evaluated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray
        """
        check_is_fitted(self)
        mapped = self._mapped(self.decision_function, X, np.float64, len(self.classes_) == 2)
        if mapped is not None:
            return mapped
        decisive = self._decisive()
        if decisive is None:
            return self._fitted.final_estimator_.decision_function(self._features(X))
        with threads(self.n_jobs):
            scores = self._decided(self._validated(X), decisive)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _decided(self, X, decisive):
        """Return the decision values of validated rows, of shape (n_samples, n_outputs)."""
        on_device = is_device_array(X)
        size = piece_rows(X.shape[1]) if on_device else _ROWS
        intercept = self._fitted.final_estimator_.intercept_[np.newaxis, :]
        if on_device:
            shape, xp = (X.shape[0], intercept.shape[1]), namespace(X)
            scores = xp.empty(shape, dtype=xp.float64, device=X.device)
            scores[...] = like(X, intercept)
        else:
            scores = np.tile(intercept, (len(X), 1))

        def decide(here: slice) -> FarRows:
            far = FarRows()
            scaled = self._fitted.scaling_(as_floats(X[here, :]), far)
            for generators, weights, absolute in decisive:
                if on_device:
                    part = combine_generators(generators, scaled, weights, absolute=absolute)
                else:
                    part = generators.combine(scaled, weights, absolute=absolute)
                scores[here, :] += part
            return far

        n_samples = X.shape[0]
        # Some rows at a time: scaled rows are another array, maybe of another precision.
        cuts = [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]
        far = self._far_rows()
        for found in map(decide, cuts) if on_device else spread(decide, cuts):
            far.add(found)
        self._tell(far)
        return scores

    def predict(self, X):
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        mapped = self._mapped(self.predict, X, self.classes_.dtype)
        if mapped is not None:
            return mapped
        if self._decisive() is None:
            return self._fitted.final_estimator_.predict(self._features(X))
        scores = self.decision_function(X)
        if not is_device_array(X):
            return labels(self.classes_, scores)
        return there(X, labels(self.classes_, to_numpy(scores)))

    @available_if(_final_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Return the probabilities of the classes.

        Those of the linear SVM are sigmoid(d / T) of the decision values d of two classes, and
        softmax(d / T) of those of more, with the temperature T = `temperature_`. The largest is
        that of the class that `predict` names. A `final_estimator` has its own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        mapped = self._mapped(self.predict_proba, X, np.float64, one_value=False)
        if mapped is not None:
            return mapped
        if self._decisive() is None:
            return self._fitted.final_estimator_.predict_proba(self._features(X))
        temperature = self._fitted.temperature_
        if temperature is None:
            raise ValueError(
                "this model has no temperature, which probabilities need: it was saved by a "
                "version of vanishing that had none. Fit it again; decision_function works."
            )
        return probabilities(self.decision_function(X), temperature)

    def explain(self, X, *, n_generators=5, table=False):
        """Tell which generators decided each prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_generators : int, default=5
            How many to tell of, largest contribution first.
        table : bool, default=False
            Whether to return a table, in which equations are in the columns as they were given.

        Returns
        -------
        explanations : list of n_samples lists of dict, or DataFrame
            With the keys "class" (whose generator it is), "generator" (a `Polynomial` in the
            scaled columns), "value" (of the feature), "weight" and "contribution" (their product:
            to the decision value, with two classes; to that of the predicted class with more).
            As a table, these in columns, one line for each generator of a row, with "equation" in
            place of "generator", the "row" (by X's index, if it has one), the class that a positive
            contribution speaks "for", and "units": "original", or "scaled" where the scaling is no
            change of units of each column (quantiles) or the equation would be too long. There the
            value is that of left minus right side, and the weight is one of that. A table needs
            pandas.
        """
        check_is_fitted(self)
        decisive = self._decisive()
        if decisive is None:
            raise ValueError("explain needs the linear SVM; it knows nothing of a final_estimator.")
        refuse(self, X, "explain")
        index = X.index if hasattr(X, "iloc") else None  # lists have another index
        X = self._scaled(X)
        owners = [
            label
            for label, (generators, *_) in zip(self.classes_, decisive, strict=True)
            for _ in generators
        ]
        polynomials = [generator for generators, *_ in decisive for generator in generators]
        values = np.hstack([g.evaluate(X, absolute=absolute) for g, _, absolute in decisive])
        weights = np.vstack([part for _, part, _ in decisive])
        scores = self._fitted.final_estimator_.intercept_ + values @ weights
        several = len(self.classes_) > 2
        best = scores.argmax(axis=1) if several else np.zeros(len(X), dtype=int)
        explanations = []
        for row, place in zip(values, best, strict=True):
            weight = weights[:, place]
            contribution = weight * row
            order = np.argsort(-np.abs(contribution), kind="stable")[:n_generators]
            explanations.append(
                [
                    {
                        "class": owners[i],
                        "generator": polynomials[i],
                        "value": float(row[i]),
                        "weight": float(weight[i]),
                        "contribution": float(contribution[i]),
                    }
                    for i in order
                    if contribution[i] != 0.0
                ]
            )
        if not table:
            return explanations
        decided = self.classes_[best] if several else self.classes_[best + 1]
        rows = range(len(X)) if index is None else index
        return table_of(explanations, rows, decided, self._fitted.scaling_.transformer)
