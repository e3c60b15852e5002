"""A classifier by the equations that each class satisfies."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from vanishing._threads import check_jobs, threads
from vanishing._types import FloatArray, Labels, Table, Vector
from vanishing.algebra.generators import PolynomialSequence
from vanishing.checks import check_choice, check_flag, check_number
from vanishing.constructions.base import GeneratorTransformer
from vanishing.estimators.fits import all_or_nothing
from vanishing.learning.complexity import complexity
from vanishing.learning.default import DefaultTransformer, resolved
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.gaps import (
    GapModels,
    Without,
    check_in_memory,
    fit_gaps,
    rows_without_gaps,
)
from vanishing.learning.labels import (
    LabelledRows,
    check_class_weight,
    check_two_classes,
    labelled_rows,
)
from vanishing.learning.left_out import temperature_of
from vanishing.learning.log_scaling import LogScaler
from vanishing.learning.pipeline import Parts, fit_parts, remarks_on_parts, scale_rows
from vanishing.learning.prediction import PipelineClassifier, decisive_parts
from vanishing.learning.scaling import Scaling, check_scale, names_after
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.persistence import register
from vanishing.persistence.scikit_learn import example_rows, transformers

LINEAR = (L1SquaredHingeSVC, LogisticRegression, LinearSVC)  # that can be saved and exported


class VanishingClassifier(DefaultTransformer, PipelineClassifier):
    """Classify by the equations that each class satisfies.

    The paper's pipeline: scale the columns, construct the generators of the approximate vanishing
    ideal of each class, and map rows to their absolute values. A linear support vector machine with
    l1 penalty separates these, and needs only some of the generators.

    Parameters
    ----------
    transformer : estimator, default=None
        Constructs the generators of a class; None means ``OAVI()``.
    psi : float, default=None
        Tolerance of the generators, in place of that of the transformer; None leaves that.
    C : float, default=1.0
        Weight of the loss in the linear SVM.
    max_equations : int, default=None
        With how many generators the linear SVM decides at most: where more have a weight it is
        fitted once more, to those that decide most. None lets the penalty choose.
    scale : bool, "minmax", "maxabs", "quantile", "log" or transformer, default=True
        True and "minmax" scale the columns of the training rows into [0, 1]. "maxabs" divides them
        by their largest absolute values and does not shift them, which keeps equations short.
        "quantile" maps them to their quantiles, up to 100 of each column. "log" is for heavy-tailed
        data: it maps values far from the median to their logarithms. Any scikit-learn transformer
        may stand here, too. False leaves the columns as they are.
    clip : bool, default=True
        Whether to clip scaled columns of new rows to the range they had in training. Polynomials
        grow quickly outside of it. A warning names rows that are far outside either way.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the linear SVM, and in its probabilities; "balanced" gives all
        classes the same weight in total.
    final_estimator : classifier, default=None
        Any scikit-learn classifier in place of ``L1SquaredHingeSVC(C)``.
    missing : "error" or "ignore", default="error"
        "ignore" takes NaN for cells that are missing. Such rows are classified by equations that do
        not need the missing columns, mostly with a lower probability. For this there is a
        classifier without each column, and one without those that training rows lack together. Rows
        that lack other columns have the shares of the classes as probabilities. Needs the rows in
        memory to fit.
    n_jobs : int, default=None
        Threads over the classes and over chunks of rows, also in prediction; the results are the
        same. -1 means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    scaling_ : Scaling
        The scaling of rows before everything else: ``scaling_(X)``.
    scaler_ : transformer or None
        The fitted transformer in it.
    features_ : VanishingFeatures
        The fitted feature map, on scaled rows.
    final_estimator_ : classifier
        The fitted classifier on the features.
    decisive_ : list of n_classes (generators, weights), or None
        The generators of each class that have a weight in the linear SVM, and their weights. These
        have the shape (n_generators, 1), or (n_generators, n_classes) with more than two classes.
        None with another `final_estimator`.
    complexity_ : int or None
        How many numbers decide: weights, and the coefficients of the generators that have one
        (except for the leading ones, which are factors of the weights). If columns are mapped to
        their quantiles, the knots of the columns needed count, too. Of a decision by a single
        polynomial its coefficients, if they are fewer. None with another `final_estimator`.
    decision_polynomials_ : list of `vanishing.polynomials.Polynomial`, or None
        The values of `decision_function`, one polynomial of the scaled columns for each of them.
        None where sizes of generators decide, which are not polynomials.
    temperature_ : float or None
        By which decision values are divided to be probabilities; None with another
        `final_estimator`.
    gaps_ : GapModels or None
        What classifies rows with gaps; None with ``missing="error"``.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators of all classes, in the order of the features.
    n_generators_, n_terms_ : int
        |G| and |O|, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    VanishingClassifierCV : The same, tuned by cross-validation.
    VanishingFeatures : Generators of each class as features.
    L1SquaredHingeSVC : The linear classifier that few features suffice for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifier(C=10.0).fit(X[::2], y[::2])
    >>> model.predict(X[1:4:2])
    array([0, 0])
    >>> print(model.explain(X[1:2])[0][0]["generator"])
    x3 - 0.3464*x1 - 0.3937
    """

    scaling_: Scaling
    scaler_: Any
    final_estimator_: Any
    decisive_: list[tuple[PolynomialSequence, FloatArray]] | None
    features_: VanishingFeatures

    temperature_: float | None

    def __init__(
        self,
        transformer: GeneratorTransformer | None = None,
        *,
        psi: float | None = None,
        C: float = 1.0,
        max_equations: int | None = None,
        scale: bool | str | object = True,
        clip: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        final_estimator: object | None = None,
        missing: Literal["error", "ignore"] = "error",
        n_jobs: int | None = None,
    ):
        self.transformer = transformer
        self.psi = psi
        self.C = C
        self.max_equations = max_equations
        self.scale = scale
        self.clip = clip
        self.class_weight = class_weight
        self.final_estimator = final_estimator
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: Table, y: Labels | None = None, sample_weight: Vector | None = None) -> Self:
        """Fit scaling, generators and linear classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            As `OAVI.fit` takes it.
        y : array-like of shape (n_samples,), default=None
            Labels of at least two classes; as `VanishingFeatures.fit` takes them.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : VanishingClassifier
        """
        self.check_parameters()
        with all_or_nothing(self), threads(self.n_jobs):
            rows = labelled_rows(self, X, y, sample_weight)
            if self.final_estimator is not None and not rows.in_memory:
                raise TypeError(
                    "final_estimator needs the features of all rows in memory: give arrays, or "
                    "leave it out."
                )
            check_two_classes(self.classes_)
            given = rows
            if self.missing == "ignore":
                check_in_memory(rows)
                rows = rows_without_gaps(rows).present()
            scaled = scale_rows(rows, self.scale, self.clip)
            transformer = resolved(self.transformer, self.psi)
            (parts,) = fit_parts(
                scaled,
                transformer,
                [self._final()],
                max_equations=self.max_equations,
                n_jobs=self.n_jobs,
            )
            adopt_parts(self, parts)
            self.temperature_ = learned_temperature(self, scaled.rows)
            self.gaps_ = fit_gaps(self, given) if self.missing == "ignore" else None
            remarks_on_parts(type(self).__name__, parts).warn()
            return self

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("C", self.C, low=0, low_open=True)
        if self.max_equations is not None:
            check_number("max_equations", self.max_equations, low=1, integer=True)
        check_scale(self.scale)
        check_flag("clip", self.clip)
        check_jobs(self.n_jobs)
        VanishingFeatures(self.transformer).check_parameters()
        resolved(self.transformer, self.psi)
        check_class_weight(self.class_weight)
        check_choice("missing", self.missing, ("error", "ignore"))
        final = self.final_estimator
        if final is None:
            return
        if not (hasattr(final, "fit") and hasattr(final, "predict")):
            raise TypeError(f"final_estimator must be a classifier or None; got {final!r}.")
        if self.max_equations is not None:
            raise ValueError(
                "max_equations is for the linear SVM, which final_estimator replaces: leave it out."
            )
        if self.missing == "ignore":
            raise ValueError(
                "missing='ignore' is for the linear SVM, which final_estimator replaces: "
                "leave one of them out."
            )
        if self.class_weight is not None:
            raise ValueError(
                "class_weight is for the linear SVM, which final_estimator replaces: "
                "set it in final_estimator."
            )

    def _final(self):
        if self.final_estimator is None:
            return L1SquaredHingeSVC(self.C, class_weight=self.class_weight)
        return clone(self.final_estimator)


# -- From fitted parts ----------------------------------------------------------------------------


def adopt_parts(
    model: VanishingClassifier, parts: Parts, temperature: float | None = None
) -> VanishingClassifier:
    """Make a classifier of fitted parts; its columns and ``classes_`` are set already."""
    scaling, features, final, *_ = parts
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        names = names_after(scaling.transformer, names, features.n_features_in_)
        for transformer in features.transformers_:
            transformer.generators_ = transformer.generators_.renamed(names)
    model.scaling_ = scaling
    model.scaler_ = scaling.transformer
    model.features_ = features
    model.final_estimator_ = final
    model.n_generators_ = features.n_generators_
    model.n_terms_ = features.n_terms_
    model.sparsity_ = features.sparsity_
    model.decisive_ = _used_generators(features, final)
    known = model.decisive_ is not None
    model.complexity_ = complexity(scaling, features, final.coef_) if known else None
    model.temperature_ = temperature
    model.gaps_ = None
    return model


def _used_generators(features: VanishingFeatures, final) -> list | None:
    """Return for each class the generators that have a weight, and their weights.

    None where the classifier on the features is not the linear SVM of this library.
    """
    if not isinstance(final, L1SquaredHingeSVC):
        return None
    used = []
    start = 0
    for transformer in features.transformers_:
        weights = final.coef_[:, start : start + transformer.n_generators_]
        chosen = np.flatnonzero(weights.any(axis=0))
        generators = transformer.generators_.subset(chosen)
        used.append((generators, np.ascontiguousarray(weights[:, chosen].T)))
        start += transformer.n_generators_
    return used


def learned_temperature(model: VanishingClassifier, rows: LabelledRows) -> float | None:
    """Return the temperature of the probabilities, by the rows that were fitted to, scaled.

    None where no linear SVM decides.
    """
    decisive = decisive_parts(model)
    return None if decisive is None else temperature_of(model.final_estimator_, decisive, rows)


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    scaling = model.scaling_
    node = {
        **writer.classes(model),
        "scale": scaling.scale if isinstance(scaling.scale, (bool, str)) else "transformer",
        "scaler": None if scaling.transformer is None else writer.model(scaling.transformer),
    }
    if scaling.low is not None:
        ends = [writer.array(values, "the range") for values in (scaling.low, scaling.high)]
        node["clip" if scaling.clip else "range"] = ends
    node["features"] = writer.model(model.features_)
    node["final_estimator"] = writer.model(model.final_estimator_)
    if model.temperature_ is not None:
        node["temperature"] = float(model.temperature_)
    if model.gaps_ is not None:
        node["gaps"] = {
            "shares": model.gaps_.shares.tolist(),
            "without": [
                [list(each.missing), writer.model(each.model)] for each in model.gaps_.without
            ],
        }
    return node


def _read(reader, node, model):
    keys = ("scale", "scaler", "features", "final_estimator")
    scale, scaler, features, final, temperature, gaps, *ends = reader.fitted(
        model, node, keys, ("temperature", "gaps", "clip", "range"), classes=True
    )
    n_features = model.n_features_in_
    features = reader.model(features, VanishingFeatures)
    scaling = _read_scaling(reader, scale, scaler, ends, features.n_features_in_)
    final = reader.model(final, LINEAR)
    reader.require(
        _columns_after(scaling.transformer, n_features) == features.n_features_in_,
        "the parts of the classifier are of different numbers of columns.",
    )
    fits = final.n_features_in_ == max(1, features.n_generators_)
    reader.require(fits, "final_estimator is not of the features.")
    reader.n_decisions(model.classes_)
    same = all(np.array_equal(part.classes_, model.classes_) for part in (features, final))
    reader.require(same, "the parts of the classifier are of different classes.")
    if temperature is not None:
        reader.require(
            isinstance(final, L1SquaredHingeSVC), "only the linear SVM has a temperature."
        )
        temperature = reader.measured(temperature, "temperature")
        reader.require(0.0 < temperature < np.inf, "temperature is not a positive number.")
    adopt_parts(model, Parts(scaling, features, final), temperature)
    if gaps is not None:
        reader.require(temperature is not None, "gaps need a temperature.")
        model.gaps_ = _read_gaps(reader, gaps, model)


def _read_gaps(reader, node, model) -> GapModels:
    shares, listed = reader.fields(node, "gaps", ("shares", "without"))
    shares = reader.floats(shares, "shares", len(model.classes_))
    reader.require((shares > 0.0).all(), "a share of a class is not positive.")
    without = []
    for entry in reader.listed(listed, "without"):
        places, other = reader.listed(entry, "a classifier without columns", 2)
        missing = reader.integers(places, "columns", 0, model.n_features_in_ - 1)
        other = reader.model(other, VanishingClassifier)
        n_kept = model.n_features_in_ - len(np.unique(missing))
        fits = other.n_features_in_ == n_kept and other.temperature_ is not None
        fits &= np.array_equal(other.classes_, model.classes_)
        reader.require(fits, "a classifier without columns does not fit.")
        without.append(Without(tuple(missing.tolist()), other))
    return GapModels(shares, without)


def _columns_after(scaler, n_features: int) -> int | None:
    """Return how many columns a fitted scaler makes of so many; None if it takes another number."""
    if scaler is None:
        return n_features
    if scaler.n_features_in_ != n_features:
        return None
    try:
        return int(scaler.transform(example_rows(scaler)).shape[1])
    except Exception:  # scikit-learn may raise anything
        return None


def _read_scaling(reader, scale, scaler, ends, n_features) -> Scaling:
    kinds = {
        False: None,
        True: "MinMaxScaler",
        "minmax": "MinMaxScaler",
        "maxabs": "MaxAbsScaler",
        "quantile": "QuantileTransformer",
        "log": "LogScaler",
    }
    known = isinstance(scale, (bool, str)) and scale in (*kinds, "transformer")
    reader.require(known, "scale is not one of those there are.")
    reader.require(scaler is not None or scale is False, "there is no scaler.")
    if scaler is not None:
        scaler = reader.model(scaler, (LogScaler, *transformers()))
    kind = None if scaler is None else type(scaler).__name__
    reader.require(kind == kinds.get(scale, kind), "the scaler is not the one that scale says.")
    clip, unclipped = ends
    reader.require(clip is None or unclipped is None, "there are both clip and range.")
    scaling = Scaling(clone(scaler) if scale == "transformer" else scale, clip is not None)
    scaling.transformer = scaler
    for name, ends in (("clip", clip), ("range", unclipped)):
        if ends is not None:
            ends = reader.listed(ends, name, 2)
            parts = [reader.array(part, name, (n_features,)) for part in ends]
            floats = all(part.dtype.kind == "f" for part in parts)
            reader.require(floats, f"{name} is not of floats.")
            scaling.low, scaling.high = parts
    return scaling


register(VanishingClassifier, _write, _read)
