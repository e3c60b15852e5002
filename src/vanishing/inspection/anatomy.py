"""Taking a fitted model apart: classes, generators, weights, scaling and names."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from vanishing._types import Array, FloatArray, Labels, Table
from vanishing.algebra.polynomials import default_names
from vanishing.constructions.base import GeneratorTransformer
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.scaling import affine, names_after
from vanishing.learning.search import VanishingClassifierCV

_WITH_GENERATORS = (
    GeneratorTransformer,
    BuchbergerMoller,
    VanishingFeatures,
    VanishingClassifier,
    VanishingClassifierCV,
)


class ModelPart(NamedTuple):
    """The generators of one class, or of all rows where there are no classes.

    Attributes
    ----------
    label : object
        Of the class; None without classes.
    model : estimator
        The construction that was fitted to it.
    generators : sequence of polynomials
        Its `generators_`, with the names of the columns given.
    weights : ndarray of shape (n_generators, n_decisions), or None
        None where nothing linear decides.
    absolute : bool
        Whether features are ``|g(x)|`` rather than ``g(x)``.
    sizes : ndarray of shape (n_generators,), or None
        The largest absolute weight of each generator over all decision values.
    used : ndarray of int
        The places of the generators that have a weight; of all where there are no weights.

    See Also
    --------
    Anatomy : All parts of a model.
    """

    label: Any
    model: Any
    generators: Any
    weights: np.ndarray | None

    @property
    def absolute(self) -> bool:
        """Whether features are ``|g(x)|`` rather than ``g(x)``."""
        return bool(getattr(self.model, "absolute", False))

    @property
    def sizes(self) -> np.ndarray | None:
        """The largest absolute weight of each generator over all decision values."""
        return None if self.weights is None else np.abs(self.weights).max(axis=1, initial=0.0)

    @property
    def used(self) -> np.ndarray:
        """The places of the generators that have a weight; of all where there are no weights."""
        if self.sizes is None:
            return np.arange(len(self.generators))
        return np.flatnonzero(self.sizes)

    def subset(self, chosen: Any) -> "ModelPart":
        """Return the part with only the chosen generators."""
        weights = None if self.weights is None else self.weights[chosen]
        return self._replace(generators=self.generators.subset(chosen), weights=weights)

    def ranking(self, importance: FloatArray | None = None) -> np.ndarray:
        """Return the places of the generators, the most important first.

        By ``importance``, an array that has one number per generator, as
        `vanishing.inspection.importances` measures it on rows. Equal ones, or all without it, are
        ordered by their largest absolute weight. Without weights they keep the order of the search.
        """
        sizes = np.zeros(len(self.generators)) if self.sizes is None else self.sizes
        return np.lexsort((-sizes, -(sizes if importance is None else importance)))


@dataclass(frozen=True)
class Anatomy:
    """What a fitted model consists of.

    Attributes
    ----------
    model : estimator
        As it was given.
    core : estimator
        The construction, `VanishingFeatures` or `VanishingClassifier` in it: the last step of a
        pipeline, the classifier that a search chose.
    classes : list or None
        Labels; None where the model has no classes.
    parts : tuple of ModelPart
        One per class, or a single one.
    decisions : list
        Labels that the decision values are for: of two classes, the second. None of them where
        nothing linear decides.
    intercept : ndarray of shape (n_decisions,)
    scale : callable or None
        From rows as they are given to those the generators take; None if these are the same.
    units : tuple of two ndarray of shape (n_features,), or None
        a and b, where ``scale`` maps each column x to a x + b up to clipping.
    names : tuple of str
        Of the columns that the generators take: those given, unless scaling makes other columns.

    See Also
    --------
    anatomy : What a fitted model consists of.
    ModelPart : The generators of one class.
    """

    model: Any
    core: Any
    classes: list | None
    parts: tuple[ModelPart, ...]
    decisions: list
    intercept: np.ndarray
    scale: Callable | None
    units: tuple[np.ndarray, np.ndarray] | None
    names: tuple[str, ...]

    @property
    def n_generators(self) -> int:
        """The number of generators of all classes."""
        return sum(len(part.generators) for part in self.parts)

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of all generators: (n_decisions, n_generators)."""
        weights = [part.weights for part in self.parts if part.weights is not None]
        return np.vstack(weights).T if weights else None

    def scaled(self, X: np.ndarray) -> np.ndarray:
        """Return rows as the generators take them."""
        return X if self.scale is None else self.scale(X)

    def unclipped(self, X: np.ndarray) -> np.ndarray:
        """Return rows as `scaled` does, without clipping where columns only have other units."""
        return self.scaled(X) if self.units is None else X * self.units[0] + self.units[1]

    @property
    def rescales(self) -> bool:
        """Whether the generators take other columns than those given, clipping aside."""
        if self.scale is None or self.units is None:
            return self.scale is not None
        a, b = self.units
        return bool((a != 1.0).any() or b.any())


def anatomy(model: Any) -> Anatomy:
    """Take a fitted model apart.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted construction, `VanishingFeatures`, `VanishingClassifier` or
        `VanishingClassifierCV`, or a scikit-learn Pipeline that ends with one.

    Returns
    -------
    anatomy : Anatomy

    Raises
    ------
    TypeError
        If the model has no generators.
    NotFittedError
        If it is not fitted.

    See Also
    --------
    importances : What its parts change in the decision on rows.
    law_anatomy : The same for laws.
    """
    core = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(core, _WITH_GENERATORS):
        raise TypeError(
            f"{type(core).__name__} has no generators: give OAVI, ABM, AVI, VCA, "
            "VanishingFeatures, a VanishingClassifier, or a pipeline that ends with one of them."
        )
    check_is_fitted(core)
    if isinstance(core, VanishingClassifierCV):
        core = core.classifier_
    before = model[:-1] if isinstance(model, Pipeline) and len(model) > 1 else None
    scaling = core.scaling_ if isinstance(core, VanishingClassifier) else None
    if scaling is not None and scaling.is_identity:
        scaling = None
    names: Sequence[str] = _given_names(model, core)
    units = _units(before, scaling, len(names))
    features: Any = getattr(core, "features_", core)
    if before is not None:
        names = names_after(before, names, core.n_features_in_)
    if scaling is not None:
        names = names_after(scaling.transformer, names, features.n_features_in_)
    by_class = isinstance(features, VanishingFeatures)
    models = features.transformers_ if by_class else [features]
    classes = features.classes_.tolist() if by_class else None
    decisions, intercept, weights = _decisions(core, classes, [m.n_generators_ for m in models])
    labels = [None] if classes is None else classes
    return Anatomy(
        model=model,
        core=core,
        classes=classes,
        parts=tuple(
            ModelPart(label, part, _named(part.generators_, tuple(names)), weight)
            for label, part, weight in zip(labels, models, weights, strict=True)
        ),
        decisions=decisions,
        intercept=intercept,
        scale=_scale(before, scaling),
        units=units,
        names=tuple(names),
    )


def _given_names(model, core) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(core, "feature_names_in_", None)
    if names is None:  # a pipeline whose first step passes rows through does not know
        names = default_names(getattr(model, "n_features_in_", core.n_features_in_))
    return tuple(str(name) for name in names)


def _units(before, scaling, n_features):
    a, b = np.ones(n_features), np.zeros(n_features)
    for transformer in (before, None if scaling is None else scaling.transformer):
        scaling_of_columns = affine(transformer, n_features)
        if scaling_of_columns is None:
            return None
        slope, offset = scaling_of_columns
        a, b = a * slope, b * slope + offset
    return a, b


def _scale(before, scaling) -> Callable | None:
    if before is None:
        return scaling

    def scale(X):
        with warnings.catch_warnings():
            # A grid has no names; its columns are those of the rows all the same.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            X = np.asarray(before.transform(X), dtype=np.float64)
        return X if scaling is None else scaling(X)

    return scale


def _decisions(core, classes, sizes):
    """Return the labels of the decision values, intercepts, and each model's weights."""
    final = getattr(core, "final_estimator_", None)
    # Support vector machines of libsvm tell each pair of classes apart: no class has weights.
    if not hasattr(final, "coef_") or hasattr(final, "support_vectors_"):
        return [], np.zeros(0), [None] * len(sizes)
    weights = np.asarray(final.coef_)[:, : sum(sizes)].T
    intercept = np.broadcast_to(np.asarray(final.intercept_, dtype=np.float64), weights.shape[1])
    decisions = classes[1:] if len(classes) == 2 else classes
    return decisions, intercept, np.split(weights, np.cumsum(sizes)[:-1])


def _named(generators, names):
    """Return generators with the names of the columns given."""
    if not hasattr(generators, "renamed") or generators.feature_names == names:
        return generators
    return generators.renamed(names)


def places(y: Labels, classes: Sequence[Any] | Array, X: Table) -> np.ndarray:
    """Return the labels of rows as places in the sorted classes.

    See Also
    --------
    anatomy : What a fitted model consists of.
    """
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y has labels that the estimator was not fitted to: {unknown.tolist()}.")
    return np.searchsorted(classes, y)
