"""What a report says of a model and of rows, as numbers; nothing here knows of HTML."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

import vanishing.bounds as bounds
from vanishing.algebra.distances import distance_to_variety
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.algebra.units import readable
from vanishing.algebra.writing import DIGITS
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.inspection import Anatomy, Importances, ModelPart, anatomy, places
from vanishing.inspection.freedom import freedom_of
from vanishing.inspection.importance import of_scaled
from vanishing.inspection.samples import evenly
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.held_out import reliability
from vanishing.learning.search import VanishingClassifierCV
from vanishing.learning.search_results import FrontPoint
from vanishing.report.settings import (
    DISTANCE_SAMPLE,
    LISTED,
    LISTED_OF_CLASS,
    QUANTILES,
    RANKING_SAMPLE,
)

_CHUNK = 8192  # rows whose generators are evaluated at a time
_TAYLOR = 3000  # size of the Taylor expansions of generators that distances are measured by


@dataclass(frozen=True)
class EquationFacts:
    """A generator, and what it does on the rows."""

    place: int  # among the generators of its class, in the order they were found
    generator: Polynomial | None  # in the columns the generators take; None: too large to expand
    original: Polynomial | None  # in the original columns
    digits: Any  # that the coefficients of the latter need
    degree: int
    mse: float  # on the training rows
    measured: float  # mean square on the report's rows, of its class where they have labels
    weights: np.ndarray | None  # (n_scores,)
    importance: float  # share of the decision; nan where there are no weights
    own: float  # mean of |g| on its class, or on all rows where there are no labels
    others: float  # mean of |g| on the other classes; nan where there are none

    @property
    def contrast(self) -> float:
        """Return how many times larger |g| is on the other classes; nan for 0 / 0."""
        if self.own == 0:
            return math.inf if self.others > 0 else math.nan
        return self.others / self.own

    @property
    def strongest(self) -> int | None:
        """Return the place of the weight that is largest in absolute value."""
        return None if self.weights is None else int(np.abs(self.weights).argmax())


@dataclass(frozen=True)
class Variety:
    """What one class satisfies, or all rows."""

    label: object  # None without classes
    model: Any
    absolute: bool  # whether features are |g|, not g
    n_used: int | None  # generators with a weight
    equations: tuple[EquationFacts, ...]  # the first ones in the order of the report
    distances: np.ndarray | None  # QUANTILES for each class of rows: (n_groups, 5)

    @property
    def freedom(self) -> list[str]:
        """Say how many degrees of freedom the columns have, in sentences."""
        return freedom_of(self.model)


def wilson(p: float, n: float, z=1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share p of n."""
    centre, width = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return max(0.0, (centre - width) / scale), min(1.0, (centre + width) / scale)


@dataclass(frozen=True)
class Errors:
    """How often predicted labels are wrong."""

    confusion: np.ndarray  # (n_classes, n_classes): true, predicted
    majority: int  # place of the class with the most rows

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.confusion.sum())

    @property
    def n_wrong(self) -> int:
        """Return the number of rows whose predicted label is wrong."""
        return self.n_rows - int(np.trace(self.confusion))

    @property
    def rate(self) -> float:
        """Return the share of rows whose predicted label is wrong."""
        return self.n_wrong / self.n_rows

    @property
    def baseline(self) -> float:
        """Return the error of always naming the commonest class."""
        return 1.0 - self.confusion[self.majority].sum() / self.n_rows

    @property
    def by_class(self) -> list[tuple[int, float, int, float]]:
        """Return each class's rows, recall, rows that are predicted to be of it, and precision."""
        rows, predicted = self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            recall, precision = (np.diag(self.confusion) / n for n in (rows, predicted))
        return list(zip(rows, recall, predicted, precision, strict=True))

    def interval(self, z=1.96) -> tuple[float, float]:
        """Return Wilson's 95 % interval of the error on rows like these."""
        return wilson(self.rate, self.n_rows, z)


@dataclass(frozen=True)
class Reliability:
    """How often predicted classes are right, by the probability that the model gives them."""

    table: np.ndarray  # (n_bins, 3), as `learning.held_out.reliability` returns it
    held_out: bool  # by the search that fitted the model; else the report's rows

    @property
    def gap(self) -> float:
        """Return the mean distance of shares from probabilities, over the rows."""
        chance, share, counts = self.table.T
        return float(np.average(np.abs(share - chance), weights=counts))

    def intervals(self) -> list[tuple[float, float]]:
        """Return 95 % intervals of the shares."""
        return [wilson(share, count) for _, share, count in self.table.tolist()]


@dataclass(frozen=True)
class Facts:
    """All that a report says."""

    model: Any
    core: Any  # the estimator of this library in it
    X: np.ndarray  # as given
    column_names: tuple[str, ...]
    Z: np.ndarray  # as the generators take them
    scaled: bool  # whether these are other columns, clipping aside
    y: np.ndarray | None  # places of labels
    wrong: np.ndarray | None  # rows whose predicted label is wrong
    names: tuple[str, ...]  # of the columns of Z
    units: tuple[np.ndarray, np.ndarray] | None  # Z = a X + b, if it is so
    varieties: tuple[Variety, ...]
    classifier: VanishingClassifier | None
    coef: np.ndarray | None  # (n_scores, n_generators)
    intercept: np.ndarray  # (n_scores,)
    errors: Errors | None
    seen: bool | None  # whether these appear to be the training rows; None if it cannot be told
    front: tuple[FrontPoint, ...]  # of a search: simpler classifiers and their scores
    importances: Importances | None  # of a classifier
    order: np.ndarray  # places of the columns of Z, those that matter most first
    bounds: bounds.Report | None
    remarks: tuple[str, ...]  # what bounds.of refused, or warned of
    reliability: Reliability | None

    @property
    def has_classes(self) -> bool:
        """Return whether the model was fitted class by class."""
        return self.varieties[0].label is not None

    @property
    def feature(self) -> str:
        """Return what a weight multiplies, as it is written."""
        return "|g|" if all(v.absolute for v in self.varieties) else "g"

    @property
    def sparsity(self) -> float:
        """Return the share of zeros among all coefficients but the leading ones."""
        return float((self.core if self.classifier is None else self.classifier).sparsity_)

    @property
    def n_generators(self) -> int:
        """Return the number of generators of all classes."""
        return sum(v.model.n_generators_ for v in self.varieties)

    @property
    def n_used(self) -> int | None:
        """Return the number of generators with a weight."""
        return None if self.coef is None else sum(v.n_used or 0 for v in self.varieties)


def without_gaps(model, X, y=None) -> tuple[Any, Any, int]:
    """Return the rows and labels without gaps, of a model that takes some, and how many had one.

    Equations have no values there.
    """
    core = model[-1] if isinstance(model, Pipeline) else model
    if not getattr(core, "takes_gaps", False):
        return X, y, 0
    gaps = np.isnan(np.asarray(X, dtype=np.float64)).any(axis=1)
    if not gaps.any():
        return X, y, 0
    if gaps.all():
        raise ValueError("all rows have gaps: a report needs rows without.")
    kept = np.flatnonzero(~gaps)
    rows = X.iloc[kept] if hasattr(X, "iloc") else np.asarray(X)[kept]
    return rows, None if y is None else np.asarray(y)[kept], int(gaps.sum())


def facts_of(model, X, y=None) -> Facts:
    """Compute what a report says of a fitted model and of rows, with or without labels."""
    whole = anatomy(model)
    if isinstance(whole.core, BuchbergerMoller):
        raise TypeError("Reports are on equations that hold approximately; got BuchbergerMoller.")
    core = model[-1] if isinstance(model, Pipeline) else model
    table, X = X, validate_data(model, X, reset=False, dtype=np.float64)
    Z = X if whole.scale is None else np.ascontiguousarray(whole.scale(X), dtype=np.float64)
    labels = None if y is None or whole.classes is None else places(y, whole.classes, X)
    classifier = whole.core if isinstance(whole.core, VanishingClassifier) else None
    errors = wrong = None
    if classifier is not None and labels is not None:
        predicted = np.searchsorted(classifier.classes_, model.predict(table))
        confusion = np.zeros((len(whole.parts), len(whole.parts)), dtype=np.int64)
        np.add.at(confusion, (labels, predicted), 1)
        errors = Errors(confusion, int(confusion.sum(axis=1).argmax()))
        wrong = predicted != labels

    groups = np.zeros(len(Z), dtype=np.intp) if labels is None else labels
    n_groups = 1 if labels is None else len(whole.parts)
    counts = np.bincount(groups, minlength=n_groups)
    rows = _RowGroups(Z, groups, counts, labels is not None)
    importances = None if classifier is None else of_scaled(whole, Z)
    n_listed = min(LISTED_OF_CLASS, max(20, LISTED // len(whole.parts)))
    varieties = [
        _variety(k, part, rows, whole.units, importances, n_listed)
        for k, part in enumerate(whole.parts)
    ]
    report, remarks = _guarantees(whole, X, Z, labels)
    return Facts(
        model=model,
        core=core,
        X=X,
        column_names=tuple(getattr(model, "feature_names_in_", default_names(X.shape[1]))),
        Z=Z,
        scaled=whole.rescales,
        y=labels,
        wrong=wrong,
        names=whole.names,
        units=whole.units,
        varieties=tuple(varieties),
        classifier=classifier,
        coef=whole.weights,
        intercept=whole.intercept,
        errors=errors,
        seen=None if whole.classes is not None and labels is None else _seen(varieties),
        front=tuple(core.front_) if isinstance(core, VanishingClassifierCV) else (),
        importances=importances,
        order=_order(varieties, Z) if importances is None else importances.order,
        bounds=report,
        remarks=remarks,
        reliability=_reliability(model, core, classifier, table, labels),
    )


def _reliability(model, core, classifier, table, labels) -> Reliability | None:
    """Return what the search has measured, or what the report's rows say."""
    if (measured := getattr(core, "reliability_", None)) is not None:
        return Reliability(measured, True)
    known = classifier is not None and labels is not None and hasattr(model, "predict_proba")
    if not known or (classifier.decisive_ is not None and classifier.temperature_ is None):
        return None
    return Reliability(reliability(model.predict_proba(table), labels), False)


class _RowGroups(NamedTuple):
    """Rows as the generators take them, in groups: the classes, or one without labels."""

    Z: np.ndarray
    groups: np.ndarray  # places
    counts: np.ndarray
    labelled: bool


# -- Columns ----------------------------------------------------------------------------------


def _order(varieties, Z) -> np.ndarray:
    """Return the columns by mean |dg/dx_i| std(x_i) over the equations, where nothing decides."""
    rows, limit = RANKING_SAMPLE
    sample = Z[evenly(len(Z), rows)]
    total = np.zeros(Z.shape[1])
    for variety in varieties:
        for equation in variety.equations[: max(1, limit // len(varieties))]:
            if equation.generator is not None:
                total += np.abs(equation.generator.gradient(sample)).mean(axis=0)
    return np.argsort(-total * Z.std(axis=0), kind="stable")


# -- Equations --------------------------------------------------------------------------------


def _variety(k: int, part: ModelPart, rows, units, importances, n_listed: int) -> Variety:
    """Measure the generators of one class on rows of all classes."""
    generators: Any = part.generators
    counts = rows.counts
    mean, square = _means(generators, rows)
    overall = np.nan_to_num(mean).T @ counts / counts.sum()
    if not rows.labelled:
        own, others, measured = overall, np.full(len(generators), np.nan), square[0]
    else:
        own, measured = mean[k], square[k]
        rest = np.arange(len(counts)) != k
        with np.errstate(invalid="ignore"):
            total = np.nansum(mean[rest] * counts[rest, np.newaxis], axis=0)
            others = total / counts[rest].sum()
    importance = np.full(len(generators), np.nan)
    order = part.ranking()
    if importances is not None and importances.equations is not None:
        importance = importances.equations[k]
        order = part.ranking(importance)
    elif rows.labelled:
        with np.errstate(invalid="ignore", divide="ignore"):
            order = np.argsort(-np.nan_to_num(others / own), kind="stable")
    equations = []
    for i in order[:n_listed].tolist():
        generator, original, digits = _written(generators, i, units)
        equations.append(
            EquationFacts(
                place=i,
                generator=generator,
                original=original,
                digits=digits,
                degree=generators.degree if generator is None else generator.degree,
                mse=float(generators.mse[i]),
                measured=float(measured[i]),
                weights=None if part.weights is None else part.weights[i],
                importance=float(importance[i]),
                own=float(own[i]),
                others=float(others[i]),
            )
        )
    return Variety(
        label=part.label,
        model=part.model,
        absolute=part.absolute,
        n_used=None if part.weights is None else len(part.used),
        equations=tuple(equations),
        distances=_distances([e.generator for e in equations], rows),
    )


def _written(generators, i, units) -> tuple[Polynomial | None, Polynomial | None, Any]:
    """Return a generator, the same in the original columns, and how many digits that needs."""
    try:
        generator = generators[i]
    except ValueError:  # components that are too large to be expanded
        return None, None, DIGITS
    shown = readable(generator, units)
    return generator, shown.polynomial if shown.original else None, shown.digits


def _means(generators, rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of |g| and of g^2 over groups of rows: (n_groups, n_generators) each."""
    groups, counts = rows.groups, rows.counts[:, np.newaxis]
    absolute = np.zeros((len(counts), len(generators)))
    square = np.zeros_like(absolute)
    for start in range(0, len(rows.Z), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        values = generators.evaluate(np.ascontiguousarray(rows.Z[chunk]), absolute=True)
        member = (groups[chunk] == np.arange(len(counts))[:, np.newaxis]).astype(float)
        absolute += member @ values
        square += member @ values**2
    with np.errstate(invalid="ignore"):
        return absolute / counts, square / counts


def _distances(generators, rows) -> np.ndarray | None:
    """Return quantiles of the distances of each group's rows to the common zeros."""
    n_rows, limit = DISTANCE_SAMPLE
    chosen: list[Polynomial] = []
    size = 0
    for generator in generators[:limit]:
        if generator is not None:
            size += int((generator.terms + 1).prod(axis=1).sum())
            if chosen and size > _TAYLOR:
                break
            chosen.append(generator)
    if not chosen:
        return None
    members = [np.flatnonzero(rows.groups == k) for k in range(len(rows.counts))]
    members = [places[evenly(places.size, n_rows)] for places in members]
    distance = distance_to_variety(chosen, rows.Z[np.concatenate(members)])
    parts = np.split(distance, np.cumsum([len(places) for places in members])[:-1])
    unknown = np.full(len(QUANTILES), np.nan)
    return np.array([np.quantile(p, QUANTILES) if len(p) else unknown for p in parts])


def _seen(varieties) -> bool | None:
    """Say whether these appear to be the training rows: every mean square is what it was there."""
    pairs = np.array([(e.mse, e.measured) for v in varieties for e in v.equations])
    pairs = pairs[np.isfinite(pairs).all(axis=1)] if len(pairs) else np.empty((0, 2))
    telling = pairs[pairs[:, 0] > 1e-12]  # below that, rounding
    if not len(telling):
        return None
    return bool(np.allclose(telling[:, 1], telling[:, 0], rtol=1e-5, atol=0))


# -- Guarantees -------------------------------------------------------------------------------


def _guarantees(whole: Anatomy, X, Z, labels) -> tuple[bounds.Report | None, tuple[str, ...]]:
    """Return what `bounds.of` says of the model or of its generators alone, and its objections."""
    remarks = []

    def ask(*arguments):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            try:
                report = bounds.of(*arguments)
            except (TypeError, ValueError, NotImplementedError) as problem:
                remarks.append(str(problem))
                return None
        remarks.extend(str(w.message) for w in caught if issubclass(w.category, UserWarning))
        return report

    report, features = None, getattr(whole.core, "features_", whole.core)
    if whole.classes is not None and labels is None:
        remarks.append("The bounds for these rows need their labels, and none were given.")
    else:
        y = None if labels is None else whole.core.classes_[labels]
        if features is not whole.core and not isinstance(whole.model, Pipeline):
            report = ask(whole.core, X, y)
        if report is None:
            report = ask(features, Z, y)
    if report is None:  # without rows it says how many the bounds would need
        report = ask(features)
    return report, tuple(dict.fromkeys(remarks))
