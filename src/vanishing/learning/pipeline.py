"""The pipeline of the paper's section 5: scaling, features of all classes, a linear classifier."""

import time
from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from vanishing._threads import one_blas_thread
from vanishing.estimators.fits import Remarks
from vanishing.learning import settings
from vanishing.learning.elimination import mean_squares, most_decisive, with_generators
from vanishing.learning.features import VanishingFeatures, feature_values, fit_features
from vanishing.learning.labels import LabelledRows
from vanishing.learning.passes import fit_in_passes
from vanishing.learning.sampling import sampled
from vanishing.learning.scaling import Scaling
from vanishing.learning.svm import L1SquaredHingeSVC, fit_svm
from vanishing.learning.svm_solver import as_columns
from vanishing.rows.arrays import column_ranges
from vanishing.rows.values import or_constant


class Parts(NamedTuple):
    """What a classifier consists of, fitted."""

    scaling: Scaling
    features: VanishingFeatures
    final: Any  # a classifier on the features
    problems: tuple[str, ...] = ()  # what did not go as it should have
    seconds: float = 0.0  # for scaling and features


def remarks_on_parts(name: str, parts: Parts) -> Remarks:
    """Return the remarks on the fitted parts of a classifier of this name."""
    nothing = (
        "nothing vanishes on any class, so that there are no features to tell them apart by. "
        "Take a larger psi or max_degree, or scale the data."
    )
    return Remarks(name, parts.problems, None if parts.features.n_generators_ else nothing)


def takes_weights(function) -> bool:
    """Say whether a function has a parameter sample_weight, or takes any."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled, without a signature
        return True
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


class ScaledRows(NamedTuple):
    """Training rows, wherever they are, and the scaling they have been through."""

    rows: LabelledRows
    scaling: Scaling


def scale_rows(rows: LabelledRows, scale, clip: bool) -> ScaledRows:
    """Learn the scaling of rows, and scale them: those that are not in memory as they are read."""
    scaling = Scaling(scale, clip)
    if scaling.wants_rows and not (rows.in_memory and len(rows.part.y) <= settings.MOST_SAMPLED):
        sample = sampled(rows, settings.MOST_SAMPLED).rows.part.X
        scaling.fit_transform(np.vstack([sample, *_ranges(rows)], dtype=sample.dtype))
    elif not rows.in_memory:
        scaling.fit_range(*rows.ranges)
    if not rows.in_memory:
        return ScaledRows(rows._replace(scale=scaling), scaling)
    X = rows.part.X
    X = scaling.fit_transform(X) if scaling.low is None else scaling(X)
    return ScaledRows(LabelledRows.of_part(rows.part._replace(X=X), rows.classes), scaling)


def _ranges(rows: LabelledRows) -> tuple[np.ndarray, np.ndarray]:
    return column_ranges(rows.part.X) if rows.in_memory else rows.ranges


def fit_parts(
    scaled: ScaledRows,
    transformer,
    finals: Sequence[Any],
    *,
    max_equations=None,
    readers=None,
    n_jobs=None,
) -> Iterator[Parts]:
    """Fit the features to scaled rows, and classifiers to the features.

    Parameters
    ----------
    scaled : ScaledRows
    transformer : estimator or None
        Constructs the generators of a class.
    finals : sequence of classifiers
        To be fitted: an `L1SquaredHingeSVC`, several of them with growing C, each of which starts
        from the one before; or, for rows in memory, any other single one.
    max_equations : int or None
        With how many generators a linear SVM decides at most.
    readers : list of RowReader or None
        Of the rows of each class, for several fits to the same rows.
    n_jobs : int or None
        Threads over the classes.

    Yields
    ------
    parts : Parts
        One for each of ``finals``.
    """
    start, rows = time.perf_counter(), scaled.rows
    features = VanishingFeatures(transformer, n_jobs=n_jobs)
    remarks = fit_features(features, rows, readers)
    seconds = 0.0

    def parts(final, problem):
        problems = remarks.problems if problem is None else (*remarks.problems, problem)
        return Parts(scaled.scaling, features, final, problems, seconds)

    if not rows.in_memory:
        (final,) = finals
        problem = fit_in_passes(final, features, rows)
        chosen = most_decisive(final, max_equations, lambda: mean_squares(features, rows))
        if chosen is not None:
            features = with_generators(features, chosen)
            problem = fit_in_passes(final, features, rows)
        yield parts(final, problem)
        return
    X, y, weight = rows.part
    X = or_constant(feature_values(features, X))
    if not isinstance(finals[0], L1SquaredHingeSVC):
        (final,) = finals
        weights = {} if weight is None else {"sample_weight": weight}
        if weights and not takes_weights(final.fit):
            raise TypeError(
                f"final_estimator={final!r} takes no sample_weight in its fit: leave the weights "
                "out, or give a classifier that takes them."
            )
        # Some cast to single precision and refuse what overflows: NumPy's warnings say no more.
        with np.errstate(over="ignore", invalid="ignore"):
            final.fit(X, rows.classes[y], **weights)
        yield parts(final, None)
        return
    columns = as_columns(X, finals[0].fit_intercept)
    del X
    seconds = time.perf_counter() - start
    before = None
    for final in finals:
        final.check_parameters()
        final.classes_ = rows.classes
        with one_blas_thread():
            problem = fit_svm(final, columns, y, weight, before, n_jobs)
        before = final
        chosen = most_decisive(final, max_equations, lambda: _mean_squares(columns, weight))
        if chosen is None:
            yield parts(final, problem)
            continue
        # The next C starts from the weights of all.
        fewer = clone(final)
        fewer.classes_ = final.classes_
        kept = columns[np.append(chosen, np.arange(final.n_features_in_, len(columns)))]
        with one_blas_thread():
            problem = fit_svm(fewer, kept, y, weight, None, n_jobs)
        yield parts(fewer, problem)._replace(features=with_generators(features, chosen))


def _mean_squares(columns: np.ndarray, weight) -> np.ndarray:
    if weight is None:
        return np.einsum("ij,ij->i", columns, columns) / columns.shape[1]
    return np.einsum("ij,ij,j->i", columns, columns, weight) / weight.sum()
