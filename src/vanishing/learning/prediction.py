"""Prediction by a fitted pipeline, on rows wherever they are."""

import copy
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._types import Array, FloatArray, LabelArray, ObjectArray, Table
from vanishing._warnings import warn
from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.estimators.bases import BaseEstimator, ClassifierMixin, available_if
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.row_methods import RowMethods, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.learning.complexity import weighted_sums
from vanishing.learning.explanation import Explanation, table_of
from vanishing.learning.features import feature_values
from vanishing.learning.labels import labels
from vanishing.learning.scaling import FarRows, names_after
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.learning.temperature import probabilities
from vanishing.rows.arrays import is_device_array
from vanishing.rows.intake import refuse, take_rows_in_memory
from vanishing.rows.values import or_constant, sums_by_pieces, weighted_values


def pipeline_of(model):
    """Return the fitted `VanishingClassifier` that predicts: a model, or the one it has chosen."""
    return getattr(model, "classifier_", model)


def watched(model, far: FarRows):
    """Return a copy that counts rows far outside of the training range in place of warning."""
    model = copy.copy(model)
    if (pipeline := pipeline_of(model)) is not model:
        pipeline = model.classifier_ = copy.copy(pipeline)
    pipeline.scaling_ = pipeline.scaling_.counted_by(far)
    return model


def decisive_parts(model) -> list | None:
    """Return (generators, weights, absolute) of each class; None: no linear SVM decides."""
    pipeline = pipeline_of(model)
    if pipeline.decisive_ is None:
        return None
    return [
        (generators, weights, transformer.absolute)
        for transformer, (generators, weights) in zip(
            pipeline.features_.transformers_, pipeline.decisive_, strict=True
        )
    ]


def warn_of(model, far: FarRows) -> None:
    """Warn of rows that are far outside of the training range, unless they are few."""
    if not far.many:
        return
    pipeline = pipeline_of(model)
    scaling, n_columns = pipeline.scaling_, pipeline.features_.n_features_in_
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
        f"{far.worst:.3g} times its range). Their predictions mean little. {done}"
    )


def _final_estimator_has(name):
    def check(self):
        # What was fitted counts, not a parameter that was set afterwards.
        fitted = hasattr(self, "classes_")
        final = (
            pipeline_of(self).final_estimator_ if fitted else getattr(self, "final_estimator", None)
        )
        if final is None or isinstance(final, L1SquaredHingeSVC):
            return True  # it has a temperature here, though no probabilities of its own
        return hasattr(final, name)

    return check


def _decides_on_device(self, X) -> bool:
    """Say that the linear SVM takes device arrays; another final estimator refuses them."""
    if decisive_parts(self) is None:
        refuse(pipeline_of(self).final_estimator_, X)
    return True


class PipelineClassifier(Savable, HTMLRepresentation, RowMethods, ClassifierMixin, BaseEstimator):
    """Base of the classifiers by equations, which predict by their `pipeline_of`."""

    classes_: LabelArray
    n_generators_: int
    n_terms_: int
    sparsity_: float
    complexity_: int | None
    temperature_: float | None
    missing: str
    n_features_in_: int
    feature_names_in_: ObjectArray

    @property
    def takes_gaps(self) -> bool:
        """Whether rows may have gaps, which are NaN."""
        return self.missing == "ignore"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_gaps
        return tags

    @property
    def generators_(self) -> Sequence[Polynomial]:
        """The generators of all classes, in the order of the features."""
        check_is_fitted(self)
        return pipeline_of(self).features_.generators_

    @property
    def decision_polynomials_(self) -> list[Polynomial] | None:
        """The decision values, as polynomials of the scaled columns; None where they are not."""
        check_is_fitted(self)
        pipeline = pipeline_of(self)
        final, features = pipeline.final_estimator_, pipeline.features_
        if not isinstance(final, L1SquaredHingeSVC):
            return None
        sums = weighted_sums(features, final.coef_)
        if sums is None:
            return None
        names = features.generators_[0].feature_names if features.n_generators_ else None
        constant = (0,) * features.n_features_in_
        polynomials = []
        for coefficients, intercept in zip(sums, final.intercept_.tolist(), strict=True):
            whole = {**coefficients, constant: coefficients.get(constant, 0.0) + intercept}
            terms = np.array(list(whole))
            order = deglex_order(terms)
            coef = np.array(list(whole.values()))[order]
            polynomials.append(Polynomial(terms[order], coef, feature_names=names))
        return polynomials

    def _far_rows(self) -> FarRows:
        return pipeline_of(self).scaling_.far_rows or FarRows()

    def _warn_of(self, far: FarRows) -> None:
        if far is not pipeline_of(self).scaling_.far_rows:  # else the caller counts, and warns
            warn_of(self, far)

    def _scaled(self, rows):
        """Return validated rows as the generators take them."""
        far = self._far_rows()
        scaled = pipeline_of(self).scaling_(rows, far)
        self._warn_of(far)
        return scaled

    def _features(self, rows):
        """Return what a `final_estimator` takes, of validated rows."""
        return or_constant(feature_values(pipeline_of(self).features_, self._scaled(rows)))

    def _per_block(self):
        # Each block would warn again of rows far outside, and no block knows of the others.
        return watched(self, FarRows())

    @available_if(_final_estimator_has("decision_function"))
    @row_by_row(
        n_columns=lambda self: None if len(self.classes_) == 2 else len(self.classes_),
        dtype=lambda self: np.float64,
        on_device=_decides_on_device,
    )
    def decision_function(self, X: Array) -> FloatArray:
        """Return the decision values, of shape (n_samples,) or (n_samples, n_classes).

        Only generators with a weight, and the monomials those need, are evaluated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray
        """
        decisive = decisive_parts(self)
        if decisive is None:
            return pipeline_of(self).final_estimator_.decision_function(self._features(X))
        return self._decisions(X, decisive)

    def _decisions(self, rows, decisive):
        """Return the decision values of validated rows, by the generators that have a weight."""
        models = getattr(pipeline_of(self), "gaps_", None)
        if models is not None and not is_device_array(rows):
            gaps = np.isnan(rows)
            if gaps.any():
                pipeline = pipeline_of(self)
                return models.decisions(
                    pipeline, rows, gaps, lambda whole: self._decisions(whole, decisive)
                )

        def summands(piece):
            far = FarRows()
            scaled = pipeline_of(self).scaling_(piece, far)
            parts = (
                weighted_values(generators, scaled, weights, absolute=absolute)
                for generators, weights, absolute in decisive
            )
            return parts, far

        intercept = pipeline_of(self).final_estimator_.intercept_
        scores, counts = sums_by_pieces(rows, intercept, summands)
        far = self._far_rows()
        for count in counts:
            far.add(count)
        self._warn_of(far)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @row_by_row(dtype=lambda self: self.classes_.dtype, on_device=_decides_on_device)
    def predict(self, X: Array) -> LabelArray:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        decisive = decisive_parts(self)
        if decisive is None:
            return pipeline_of(self).final_estimator_.predict(self._features(X))
        return labels(self.classes_, self._decisions(X, decisive))

    @available_if(_final_estimator_has("predict_proba"))
    @row_by_row(
        n_columns=lambda self: len(self.classes_),
        dtype=lambda self: np.float64,
        on_device=_decides_on_device,
    )
    def predict_proba(self, X: Array) -> FloatArray:
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
        decisive = decisive_parts(self)
        if decisive is None:
            return pipeline_of(self).final_estimator_.predict_proba(self._features(X))
        temperature = pipeline_of(self).temperature_
        if temperature is None:
            raise ValueError(
                "this model has no temperature, which probabilities need: it was saved by a "
                "version of vanishing that had none. Fit it again; decision_function works."
            )
        return probabilities(self._decisions(X, decisive), temperature)

    @overload
    def explain(
        self, X: Table, *, n_generators: int = 5, table: Literal[False] = False
    ) -> list[list[Explanation]]: ...
    @overload
    def explain(self, X: Table, *, n_generators: int = 5, table: Literal[True]) -> Any: ...
    def explain(self, X, *, n_generators=5, table=False):
        """Name the generators that decided each prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_generators : int, default=5
            How many to name, largest contribution first.
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
            value is that of left minus right side, and the weight is one of that. More lines of a
            row, without class and units, have what all "other equations" contribute and the "base
            value", the decision value without any: the contributions of a row add up to its
            decision value. A table needs pandas.
        """
        check_is_fitted(self)
        decisive = decisive_parts(self)
        if decisive is None:
            raise ValueError("explain works with the linear SVM alone: leave final_estimator out.")
        index = X.index if hasattr(X, "iloc") else None  # lists have another index
        X = take_rows_in_memory(self, X, method="explain", reset=False).X
        if self.takes_gaps and np.isnan(X).any():
            raise ValueError("explain needs rows without gaps: leave rows with NaN out.")
        X = self._scaled(X)
        owners = [
            label
            for label, (generators, *_) in zip(self.classes_, decisive, strict=True)
            for _ in generators
        ]
        polynomials = [generator for generators, *_ in decisive for generator in generators]
        values = np.hstack([g.evaluate(X, absolute=absolute) for g, _, absolute in decisive])
        weights = np.vstack([part for _, part, _ in decisive])
        scores = pipeline_of(self).final_estimator_.intercept_ + values @ weights
        several = len(self.classes_) > 2
        best = scores.argmax(axis=1) if several else np.zeros(len(X), dtype=int)
        explanations: list[list[Explanation]] = []
        rest = []
        for row, place in zip(values, best, strict=True):
            weight = weights[:, place]
            contribution = weight * row
            order = np.argsort(-np.abs(contribution), kind="stable")
            order = order[contribution[order] != 0.0]
            order, others = order[:n_generators], order[n_generators:]
            rest.append((len(others), float(contribution[others].sum())))
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
                ]
            )
        if not table:
            return explanations
        decided = self.classes_[best] if several else self.classes_[best + 1]
        rows = range(len(X)) if index is None else index
        base = pipeline_of(self).final_estimator_.intercept_[best]
        scaler = pipeline_of(self).scaling_.transformer
        return table_of(explanations, rows, decided, scaler, base, rest)
