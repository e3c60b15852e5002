"""The feature map of the paper's section 5: the generators of every class, evaluated."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import check_jobs, one_blas_thread, spread, threads
from vanishing._types import (
    Array,
    FloatArray,
    LabelArray,
    Labels,
    Names,
    ObjectArray,
    Table,
    Vector,
)
from vanishing.algebra.generators import aligned
from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_number
from vanishing.constructions.base import GeneratorTransformer, construct, sparsity
from vanishing.constructions.contrastive import ContrastiveVanishing, fit_classes
from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.estimators.fits import Remarks, all_or_nothing
from vanishing.estimators.names import adopt_columns, input_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.row_methods import RowTransformer, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.learning.default import DefaultTransformer, resolved
from vanishing.learning.labels import LabelledRows, labelled_rows
from vanishing.learning.pruning import prune
from vanishing.persistence import register
from vanishing.rows.reader import RowReader
from vanishing.rows.remembered import remembering
from vanishing.rows.values import generator_values


def class_readers(rows: LabelledRows, chunk_size=None, *, remember=True) -> list[RowReader] | None:
    """Return readers of the rows of each class, for several fits to them; None: not in memory.

    They remember moments, where that is worth it, unless fits at the same time would ask for these
    in any order: by which plan a moment is computed first decides about its last digit.
    """
    if not rows.in_memory:
        return None
    readers = [rows.reader(label, chunk_size) for label in range(len(rows.classes))]
    return [remembering(reader) for reader in readers] if remember else readers


def _fit_any(transformer, rows: LabelledRows, label: int):
    """Fit a transformer of somebody else to the rows of a class."""
    part = rows.of_class(label)
    weights = {} if part.weight is None else {"sample_weight": part.weight}
    return clone(transformer).fit(part.X, **weights), None


class GeneratorsOfClasses(Sequence):
    """The generators of all classes as one sequence, one of which is made when it is asked for.

    Parameters
    ----------
    parts : list of sequences of polynomials
        The generators of each class.
    """

    def __init__(self, parts):
        self._parts = parts
        self._ends = np.cumsum([len(part) for part in parts]).tolist()

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        k = bisect_right(self._ends, i)
        return self._parts[k][i - self._ends[k]]

    def __str__(self) -> str:
        return "\n".join(str(part) for part in self._parts if len(part))

    def __repr__(self) -> str:
        degree = max(part.degree for part in self._parts)
        return f"<{len(self)} generators of degree up to {degree}, of {len(self._parts)} classes>"

    def _repr_latex_(self) -> str | None:
        return aligned(self)


class VanishingFeatures(
    DefaultTransformer, Savable, HTMLRepresentation, RowTransformer, TransformerMixin, BaseEstimator
):
    """Generators of each class's vanishing ideal as features.

    Fits one clone of ``transformer`` to the rows of each class. A row x is mapped to the values
    ``|g(x)|`` of the generators of all classes, which are small for the classes that x may belong
    to.

    Parameters
    ----------
    transformer : estimator, default=None
        `OAVI` or another construction of generators; None means ``OAVI()``.
    max_generators : int, default=None
        Largest number of generators of a class: those are kept that have the largest mean square on
        the rows of the other classes relative to that on their own. None keeps all.
    n_jobs : int, default=None
        Threads over the classes and over chunks of rows, in `fit` and `transform`; the results are
        the same. -1 means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transformers_ : list of n_classes fitted estimators
        The transformer of each class.
    n_generators_, n_terms_ : int
        |G| and |O|, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators of all classes, in the order of the outputs; one is made when it is asked
        for.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    OAVI : Sparse generators by convex optimisation, term by term.
    ContrastiveVanishing : Polynomials that are small on one class and large on others.
    VanishingClassifier : A linear classifier on these features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> from vanishing import VanishingFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> features = VanishingFeatures().fit(minmax_scale(X), y)
    >>> print(features.get_feature_names_out()[0])
    0: |x2 - 0.07831|
    >>> VanishingFeatures(max_generators=2).fit(minmax_scale(X), y).n_generators_
    6
    """

    classes_: LabelArray
    transformers_: list[GeneratorTransformer]
    n_generators_: int
    n_terms_: int
    sparsity_: float
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(
        self,
        transformer: GeneratorTransformer | None = None,
        *,
        max_generators: int | None = None,
        n_jobs: int | None = None,
    ):
        self.transformer = transformer
        self.max_generators = max_generators
        self.n_jobs = n_jobs

    def fit(self, X: Table, y: Labels | None = None, sample_weight: Vector | None = None) -> Self:
        """Fit one transformer per class.

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
        with all_or_nothing(self), threads(self.n_jobs):
            fit_features(self, labelled_rows(self, X, y, sample_weight)).warn()
            return self

    def path(
        self,
        X: Table,
        y: Labels | None = None,
        *,
        psis: Iterable[float],
        sample_weight: Vector | None = None,
    ) -> list[Self]:
        """Fit with each of several psi, reading rows in memory once for all of them.

        Parameters
        ----------
        X, y : rows and labels
            As `fit` takes them.
        psis : sequence of float
            Tolerances in [0, 1), in any order.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        models : list of VanishingFeatures
            One for each psi, in their order, fitted; this one stays as it is.
        """
        models = []
        for psi in psis:
            models.append(clone(self))
            models[-1].transformer = clone(resolved(self.transformer)).set_params(psi=psi)
            models[-1].check_parameters()
        like = clone(self)
        rows = labelled_rows(like, X, y, sample_weight)
        readers = class_readers(rows, getattr(resolved(self.transformer), "chunk_size", None))
        for model in sorted(models, key=lambda model: model.transformer.psi):
            adopt_columns(model, like)
            fit_features(model, rows, readers).warn()
        return models

    @property
    def generators_(self) -> Sequence[Polynomial]:
        """The generators of all classes, in the order of the outputs."""
        check_is_fitted(self)
        return GeneratorsOfClasses([t.generators_ for t in self.transformers_])

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_jobs(self.n_jobs)
        if self.max_generators is not None:
            check_number("max_generators", self.max_generators, low=1, integer=True)
        if self.transformer is not None and not hasattr(self.transformer, "fit"):
            raise TypeError(
                f"transformer must be a construction of generators such as OAVI(), or None; got "
                f"{self.transformer!r}."
            )

    @row_by_row(
        n_columns=lambda self: self.n_generators_,
        on_device=lambda self, X: all(
            getattr(t, "reads_sources", False) for t in self.transformers_
        ),
    )
    def transform(self, X: Array) -> FloatArray:
        """Evaluate the generators of all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_generators_)
            As `OAVI.transform` returns it.
        """
        return feature_values(self, X)

    def get_feature_names_out(self, input_features: Names | None = None) -> ObjectArray:
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


# -- Fits and values, for estimators that are made of features ------------------------------------


def feature_values(features: VanishingFeatures, X, chosen: np.ndarray | None = None):
    """Return the values of the generators on validated rows: an array, never a table.

    ``chosen`` marks those that are evaluated; None means all.
    """
    parts, start = [], 0
    for transformer in features.transformers_:
        generators = transformer.generators_
        if chosen is not None:
            stop = start + len(generators)
            generators, start = generators.subset(np.flatnonzero(chosen[start:stop])), stop
        parts.append((generators, transformer.absolute, transformer.chunk_size))
    return generator_values(parts, X)


def fit_features(
    features: VanishingFeatures, rows: LabelledRows, readers: list[RowReader] | None = None
) -> Remarks:
    """Fit features to rows that have been validated, wherever they are, without a warning.

    The names of columns, if they have any, are set already.

    Parameters
    ----------
    features : VanishingFeatures
    rows : LabelledRows
    readers : list of RowReader or None
        Of the rows of each class, for several fits to the same ones.

    Returns
    -------
    remarks : Remarks
        Warnings to issue when the whole is fitted.
    """
    features.check_parameters()
    transformer = resolved(features.transformer)
    # A transformer that overrides `fit` wants it to be called.
    ours = getattr(type(transformer), "fit", None) is GeneratorTransformer.fit
    if ours:
        transformer.check_parameters()
    features.classes_ = rows.classes
    features.n_features_in_ = rows.source.layout.n_features
    with one_blas_thread(), threads(features.n_jobs):
        names = getattr(features, "feature_names_in_", None)
        fits = _fits(transformer, rows, readers, ours, names)
        for estimator, _ in fits:
            if not hasattr(estimator, "generators_"):
                raise TypeError(
                    f"transformer={transformer!r} constructs no generators: give OAVI, ABM, AVI or "
                    "VCA."
                )
        if features.max_generators is not None:
            prune([e for e, _ in fits], features.max_generators, rows, readers)
    set_transformers(features, [estimator for estimator, _ in fits])
    return _remarks_on_classes(features, [remarks for _, remarks in fits])


def set_transformers(features: VanishingFeatures, transformers: list) -> None:
    """Set the fitted attributes from one fitted transformer per class."""
    names = getattr(features, "feature_names_in_", None)
    if names is not None:
        for transformer in transformers:
            transformer.generators_ = transformer.generators_.renamed(names)
    features.transformers_ = transformers
    features.n_generators_ = sum(t.n_generators_ for t in transformers)
    features.n_terms_ = sum(t.n_terms_ for t in transformers)
    n_coefficients = sum(t.n_coefficients_ for t in transformers)
    n_zeros = sum(t.sparsity_ * t.n_coefficients_ for t in transformers)
    features.sparsity_ = sparsity(n_coefficients - n_zeros, n_coefficients)


def _remarks_on_classes(features: VanishingFeatures, remarks: list) -> Remarks:
    """Return the remarks on the constructions of all classes together."""
    classes: dict[str, list[str]] = {}  # that have a problem
    for label, of_class in zip(features.classes_.tolist(), remarks, strict=True):
        for problem in () if of_class is None else of_class.problems:
            classes.setdefault(f"{of_class.name}: {problem}", []).append(repr(label))
    problems = []
    for problem, labels in list(classes.items())[:5]:
        shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        problems.append(f"on class {shown}, {problem}")
    # A class without generators is no problem: the others have some.
    nothing = (
        "nothing vanishes on any class, and transform will return no columns. Take a larger "
        "psi or max_degree, or scale the data."
    )
    return Remarks(
        "VanishingFeatures", tuple(problems), None if features.n_generators_ else nothing
    )


def _fits(transformer, rows: LabelledRows, readers, ours: bool, names) -> list[tuple]:
    """Return a fitted estimator and its remarks, or None, for each class.

    ``names`` of the columns are for those whose parameters use them.
    """
    if not rows.in_memory and not (ours and transformer.fits_sources):
        raise TypeError(
            f"{type(transformer).__name__} needs the rows of a class in memory: give arrays, or "
            "use OAVI, ABM or AVI."
        )
    if not ours:
        return spread(lambda label: _fit_any(transformer, rows, label), range(len(rows.classes)))

    def read_classes(work):
        return rows.read_classes(work, transformer.chunk_size, readers)

    if isinstance(transformer, ContrastiveVanishing):  # all classes at once
        estimators = [clone(transformer) for _ in rows.classes]
        for estimator in estimators:
            estimator.n_features_in_ = rows.source.layout.n_features
        with threads(transformer.n_jobs):
            return fit_classes(estimators, read_classes)

    def fit(reader: RowReader):
        estimator = clone(transformer)
        if names is not None and estimator.names_columns:
            estimator.feature_names_in_ = names
        return estimator, construct(estimator, reader)

    return read_classes(fit)


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    return {
        **writer.classes(model),
        "transformers": [writer.model(transformer) for transformer in model.transformers_],
    }


def _read(reader, node, model):
    (nodes,) = reader.fitted(model, node, ("transformers",), classes=True)
    nodes = reader.listed(nodes, "transformers", len(model.classes_))
    transformers = [reader.model(part, GeneratorTransformer) for part in nodes]
    same = all(t.n_features_in_ == model.n_features_in_ for t in transformers)
    reader.require(same, "the transformers are of different numbers of columns.")
    set_transformers(model, transformers)


register(VanishingFeatures, _write, _read)
