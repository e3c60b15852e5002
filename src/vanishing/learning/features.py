"""The feature map of the paper's section 5: the generators of every class, evaluated."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import check_jobs, one_blas_thread, spread, threads
from vanishing.algebra.polynomials import aligned
from vanishing.constructions.base import GeneratorTransformer, sparsity
from vanishing.estimators.fits import Remarks, all_or_nothing
from vanishing.estimators.names import adopt_columns, input_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.saving import Savable
from vanishing.learning.default import DefaultTransformer, resolved
from vanishing.learning.labels import (
    LabelledRows,
    LabelledSource,
    labelled_rows,
    labelled_source,
)
from vanishing.persistence import register
from vanishing.rows.device import (
    are_few,
    beside,
    floating_dtype,
    here_as_floats,
    is_device_array,
    namespace,
    slices,
)
from vanishing.rows.reader import Reader, Rows
from vanishing.rows.remembered import remembering
from vanishing.rows.sources import check_layout, checked_device_array, near, source_of
from vanishing.rows.together import read_together
from vanishing.rows.validation import validated

_LISTED = 5  # classes that a warning lists


def class_readers(rows: LabelledRows, chunk_size=None, *, remember=True) -> list[Reader]:
    """Return readers of the rows of each class, for several fits to them.

    They remember moments, where that is worth it, unless fits at the same time would ask for these
    in any order: by which plan a moment is computed first decides about its last digit.
    """
    parts = [rows.at(rows.y == label) for label in range(len(rows.classes))]
    readers = [Rows(part.X, part.weight, chunk_size) for part in parts]
    return [remembering(reader) for reader in readers] if remember else list(readers)


def _fit_ours(estimator, reader: Reader):
    estimator.n_features_in_ = reader.n_features
    with threads(estimator.n_jobs):
        return estimator, estimator.fit_rows(reader)


def _fit_any(estimator, rows: LabelledRows):
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    return estimator.fit(rows.X, **weights), None


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
    DefaultTransformer, Savable, HTMLRepresentation, TransformerMixin, BaseEstimator
):
    """Generators of each class's vanishing ideal as features.

    Fits one clone of ``transformer`` to the rows of each class and maps a row x to the values
    ``|g(x)|`` of the generators of all classes: small for the classes that x may belong to.

    Parameters
    ----------
    transformer : estimator, default=None
        `OAVI` or another construction of generators; None means ``OAVI()``.
    n_jobs : int, default=None
        Threads over the classes and over chunks of rows, in `fit` and `transform`; the results are
        the same. -1 means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transformers_ : list of n_classes fitted estimators
    n_generators_, n_terms_ : int
        |G| and |O|, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    generators_ : sequence of polynomials
        The generators of all classes, in the order of the outputs; one is made when it is asked
        for.
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
            X, y, sample_weight = near(X, y, sample_weight)
            source = source_of(X, y, sample_weight)
            if source is None:
                self.fit_labelled(labelled_rows(self, X, y, sample_weight).present()).warn()
            else:
                self.fit_labelled(labelled_source(self, source)).warn()
            return self

    def path(self, X, y=None, *, psis, sample_weight=None):
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
        X, y, sample_weight = near(X, y, sample_weight)
        source = source_of(X, y, sample_weight)
        rows: LabelledRows | LabelledSource
        readers = None
        if source is None:
            rows = labelled_rows(like, X, y, sample_weight).present()
            readers = class_readers(rows, getattr(resolved(self.transformer), "chunk_size", None))
        else:
            rows = labelled_source(like, source)
        for model in sorted(models, key=lambda model: model.transformer.psi):
            adopt_columns(model, like)
            model.fit_labelled(rows, readers).warn()
        return models

    def fit_labelled(
        self, rows: LabelledRows | LabelledSource, readers: list[Reader] | None = None
    ) -> Remarks:
        """Fit to rows that have been validated, in memory or elsewhere.

        The names of columns, if they have any, are set already. Nobody is warned. ``readers`` are
        those of the classes' rows, for several fits to the same ones.

        Returns
        -------
        remarks : Remarks
            For whoever called `fit` to be warned by.
        """
        self.check_parameters()
        transformer = resolved(self.transformer)
        # Whoever has a fit of their own wants it to be called.
        ours = getattr(type(transformer), "fit", None) is GeneratorTransformer.fit
        if ours:
            transformer.check_parameters()
        self.classes_ = rows.classes
        with one_blas_thread(), threads(self.n_jobs):
            if ours and getattr(transformer, "sees_others", False):
                found = self._fit_all(transformer, rows, readers)
            elif isinstance(rows, LabelledRows):
                self.n_features_in_ = rows.X.shape[1]
                found = spread(
                    lambda label: self._fit_class(transformer, rows, label, readers, ours),
                    range(len(self.classes_)),
                )
            else:
                self.n_features_in_ = rows.source.layout.n_features
                found = self._fit_source(transformer, rows)
        for estimator, _ in found:
            if not hasattr(estimator, "generators_"):
                raise TypeError(
                    f"transformer={transformer!r} constructs no generators: give OAVI, ABM, AVI or "
                    "VCA."
                )
        self._store([estimator for estimator, _ in found])
        return self._remarks([remarks for _, remarks in found])

    @staticmethod
    def _fit_class(transformer, rows: LabelledRows, label: int, readers, ours: bool):
        estimator = clone(transformer)
        if ours and readers is not None:
            return _fit_ours(estimator, readers[label])
        part = rows.at(rows.y == label)
        if ours:
            return _fit_ours(estimator, Rows(part.X, part.weight, estimator.chunk_size))
        return _fit_any(estimator, part)

    def _fit_all(self, transformer, rows: LabelledRows | LabelledSource, readers):
        """Fit all classes at once, for a construction that compares them."""
        if isinstance(rows, LabelledRows):
            self.n_features_in_ = rows.X.shape[1]
            if readers is None:
                parts = [rows.at(rows.y == label) for label in range(len(rows.classes))]
                readers = [Rows(part.X, part.weight, transformer.chunk_size) for part in parts]

            def ask(work):
                return spread(work, readers)
        else:
            self.n_features_in_ = rows.source.layout.n_features

            def ask(work):
                return read_together(
                    work,
                    rows.source,
                    range(len(rows.classes)),
                    chunk_size=transformer.chunk_size,
                    scale=rows.scale,
                )

        estimators = [clone(transformer) for _ in rows.classes]
        for estimator in estimators:
            estimator.n_features_in_ = self.n_features_in_
        with threads(transformer.n_jobs):
            return transformer.fit_classes(estimators, ask, self.n_features_in_)

    def _fit_source(self, transformer, rows: LabelledSource):
        if not getattr(transformer, "reads_sources", False):
            raise TypeError(
                f"{type(transformer).__name__} needs the rows of a class in memory: give arrays, "
                "or use OAVI, ABM or AVI."
            )

        return read_together(
            lambda reader: _fit_ours(clone(transformer), reader),
            rows.source,
            range(len(rows.classes)),
            chunk_size=transformer.chunk_size,
            scale=rows.scale,
        )

    def _store(self, transformers):
        """Set the fitted attributes from one fitted transformer per class."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            for transformer in transformers:
                transformer.generators_ = transformer.generators_.renamed(names)
        self.transformers_ = transformers
        self.n_generators_ = sum(t.n_generators_ for t in transformers)
        self.n_terms_ = sum(t.n_terms_ for t in transformers)
        n_coefficients = sum(t.n_coefficients_ for t in transformers)
        n_zeros = sum(t.sparsity_ * t.n_coefficients_ for t in transformers)
        self.sparsity_ = sparsity(n_coefficients - n_zeros, n_coefficients)

    @property
    def generators_(self):
        """The generators of all classes, in the order of the outputs."""
        check_is_fitted(self)
        return GeneratorsOfClasses([t.generators_ for t in self.transformers_])

    def _remarks(self, remarks) -> Remarks:
        """Sum up what the constructions of the classes have to say."""
        said: dict[str, list[str]] = {}  # the classes of which something is said
        for label, found in zip(self.classes_.tolist(), remarks, strict=True):
            for problem in () if found is None else found.problems:
                said.setdefault(f"{found.name}: {problem}", []).append(repr(label))
        problems = []
        for problem, labels in list(said.items())[:_LISTED]:
            shown = ", ".join(labels[:_LISTED]) + (", ..." if len(labels) > _LISTED else "")
            problems.append(f"on class {shown}, {problem}")
        # A class without generators is no problem: the others have some.
        nothing = (
            "nothing vanishes on any class, and transform will return no columns. Take a larger "
            "psi or max_degree, or scale the data."
        )
        return Remarks(
            "VanishingFeatures", tuple(problems), None if self.n_generators_ else nothing
        )

    def check_parameters(self):
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_jobs(self.n_jobs)
        if self.transformer is not None and not hasattr(self.transformer, "fit"):
            raise TypeError(
                f"transformer must be a construction of generators such as OAVI(), or None; got "
                f"{self.transformer!r}."
            )

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
        return self.values_of(X)

    def values_of(self, X):
        """Return what `transform` does, but never as a table: `set_output` plays no part."""
        check_is_fitted(self)
        with threads(self.n_jobs):
            return self._values_of(X)

    def _values_of(self, X):
        rows = here_as_floats(X) if are_few(X) else X
        if is_device_array(rows):
            return self._values_there(checked_device_array(self, rows))
        source = source_of(rows)
        if source is not None:
            check_layout(self, source.layout)
            return source.map(self.transform, self.n_generators_, source.layout.dtype)
        rows = validated(self, rows, reset=False)
        out = np.empty((len(rows), self.n_generators_), dtype=rows.dtype)
        start = 0
        for transformer in self.transformers_:
            stop = start + transformer.n_generators_
            transformer.generators_.evaluate(
                rows,
                absolute=transformer.absolute,
                chunk_size=transformer.chunk_size,
                out=out[:, start:stop],
            )
            start = stop
        return beside(X, out)

    def _values_there(self, X):
        """Evaluate the generators on a device: some rows at a time, to have all values but once."""
        shape, dtype = (X.shape[0], self.n_generators_), floating_dtype(X)
        out = namespace(X).empty(shape, dtype=dtype, device=X.device)
        for here in slices(X):
            start = 0
            for transformer in self.transformers_:
                stop = start + transformer.n_generators_
                out[here, start:stop] = transformer.transform(X[here, :])
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
    model._store(transformers)


register(VanishingFeatures, _write, _read)
