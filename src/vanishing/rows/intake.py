"""The one entrance for rows: what a user gave becomes a source of rows, wherever they are."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from vanishing._names import PLACES, module_of
from vanishing.checks import check_weights
from vanishing.rows import arrays
from vanishing.rows.array_source import ArraySource, DeviceSource
from vanishing.rows.blocks import BlockSource, is_blocks
from vanishing.rows.dask import DaskSource, is_dask
from vanishing.rows.source import LazySource, RowLayout, RowPart, RowSource
from vanishing.rows.validation import are_missing, takes_gaps, validated

# What y may be: labels of classes, a target of numbers, or the runs that rows belong to.
Companion = Literal["labels", "target", "runs"]


def take_rows(
    estimator,
    X,
    y=None,
    sample_weight=None,
    *,
    y_is: Companion | None = None,
    piece_rows: int | None = None,
    keep_all: bool = False,
) -> RowSource:
    """Validate the rows of a fit, and set the estimator's number and names of columns.

    Rows of weight zero count as absent: they are validated, and dropped.

    Parameters
    ----------
    estimator : object
        Gets ``n_features_in_``, and ``feature_names_in_`` where X has names. Its attribute
        ``fits_sources`` says whether it can be fitted to rows that are not in memory.
    X : array-like of shape (n_samples, n_features), or a source of rows
    y, sample_weight : array-like of shape (n_samples,), or None
        A Dask collection if X is one. Blocks may hold both themselves.
    y_is : "labels", "target", "runs" or None
        What y means to the estimator; None where it means nothing.
    piece_rows : int or None
        Rows in memory that a thread handles at a time; None asks all of them at once.
    keep_all : bool
        Whether rows in memory of weight zero stay: if they add nothing to the answers, this saves
        a copy of the other rows.

    Returns
    -------
    rows : RowSource
    """
    if arrays.is_small(X, to_fit=True):
        X = arrays.on_host(X)
        y, sample_weight = (v if v is None else arrays.to_numpy(v) for v in (y, sample_weight))
    if not estimator.fits_sources:
        refuse(estimator, X)
    source: RowSource | None
    if arrays.is_device_array(X):
        source = DeviceSource(X, y, sample_weight)
    else:
        source = lazy_source(X, y, sample_weight, gaps=takes_gaps(estimator))
    if source is None:
        part = _in_memory(estimator, X, y, sample_weight, y_is, keep_all=keep_all)
        return ArraySource(part, piece_rows)
    adopt_layout(estimator, source.layout)
    return source


def take_rows_in_memory(
    estimator,
    X,
    y=None,
    sample_weight=None,
    *,
    y_is: Companion | None = None,
    method: str | None = None,
    reset: bool = True,
    keep_all: bool = False,
) -> RowPart:
    """Validate rows that must be in memory; see `take_rows`.

    Parameters
    ----------
    estimator, X, y, sample_weight, y_is : object
        As `take_rows` takes them.
    method : str or None
        Name of the estimator's method, if only this method needs the rows in memory.
    reset : bool
        Whether the columns are set in the estimator, or compared with those it has.
    keep_all : bool
        Whether rows of weight zero stay, because places of rows are counted.

    Returns
    -------
    rows : RowPart
    """
    refuse(estimator, X, method)
    return _in_memory(estimator, X, y, sample_weight, y_is, reset=reset, keep_all=keep_all)


def _in_memory(
    estimator, X, y, sample_weight, y_is: Companion | None, *, reset=True, keep_all=False
) -> RowPart:
    if y_is == "labels":
        X, y = validated(estimator, X, _without_gaps(y), reset=reset)
        check_classification_targets(y)
    elif y_is == "target" and y is not None:
        X, y = validated(estimator, X, y, reset=reset)
    else:
        X = validated(estimator, X, reset=reset)
        y = _checked_runs(y, len(X)) if y_is == "runs" else None
    rows = RowPart(X, y, check_weights(sample_weight, len(X)))
    return rows if keep_all else rows.with_weight()


def _without_gaps(y):
    """Return labels, or name the first row without one, which scikit-learn's errors do not."""
    labels = np.asarray(y)
    if labels.ndim != 1 or (labels.dtype.kind == "f" and not np.isnan(labels).any()):
        return y  # infinity is left to scikit-learn
    gaps = np.flatnonzero(are_missing(labels))
    if gaps.size:
        raise ValueError(
            f"Input y contains NaN or nothing: there is no label in row {gaps[0]}"
            + (f" and {len(gaps) - 1} more" if len(gaps) > 1 else "")
            + ". Drop these rows, or give them a label."
        )
    return y


def _checked_runs(groups, n_samples: int) -> np.ndarray:
    """Return the run of each row, or raise ValueError."""
    if groups is None:
        raise ValueError(
            "groups is required: say which run each row belongs to, as in fit(X, groups=run)."
        )
    groups = column_or_1d(groups)
    if len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} entries, and X has {n_samples} rows: one per row is needed."
        )
    missing = are_missing(groups)
    if missing.any():
        raise ValueError(f"groups has no run for row {np.argmax(missing)}: drop such rows.")
    return groups


# -- Where rows are -------------------------------------------------------------------------------


class LazyKind(NamedTuple):
    """A kind of X whose rows are neither in memory nor in one array."""

    recognises: Callable[[Any], bool]
    source: Callable[..., LazySource]
    name: str
    in_memory: str  # what to give instead


LAZY_KINDS = (
    LazyKind(is_dask, DaskSource, "Dask collections", "X.compute()"),
    LazyKind(is_blocks, BlockSource, "blocks of rows", "one array of all rows"),
)


def _lazy_kind(X) -> LazyKind | None:
    if isinstance(X, np.ndarray) or arrays.is_device_array(X):  # nearly always
        return None
    return next((kind for kind in LAZY_KINDS if kind.recognises(X)), None)


def lazy_source(X, y=None, sample_weight=None, *, gaps: bool = False) -> LazySource | None:
    """Return X as a source, if results made of it have to be lazy; None if not.

    ``gaps`` says whether cells may be missing.
    """
    kind = _lazy_kind(X)
    return None if kind is None else kind.source(X, y, sample_weight, gaps)


def is_lazy(X) -> bool:
    """Say whether X is blocks or a Dask collection, whose results are lazy."""
    return _lazy_kind(X) is not None


def refuse(estimator, X, method: str | None = None) -> None:
    """Raise TypeError unless the rows of X are in memory; ``estimator`` may be a function."""
    lazy = _lazy_kind(X)
    if lazy is not None:
        kind, remedy = lazy.name, lazy.in_memory
    elif arrays.is_device_array(X):
        library = type(X).__module__.partition(".")[0]
        kind, remedy = f"arrays of {library}", "a NumPy array of it"
    else:
        return
    name = getattr(estimator, "__name__", type(estimator).__name__)
    name += "" if method is None else f".{method}"
    raise TypeError(
        f"{name} does not take {kind}: it needs the rows in memory. Give it {remedy}; "
        f"{_readers_of_sources()}."
    )


def _readers_of_sources() -> str:
    """List the public estimators that take rows where they are, by their own attributes."""
    public = {name: getattr(module_of(name), name) for name in sorted(PLACES)}
    fit = [name for name, value in public.items() if getattr(value, "fits_sources", False)]
    read = [name for name, value in public.items() if getattr(value, "reads_sources", False)]
    others = ["these", *(name for name in read if name not in fit)]
    return (
        f"{', '.join(fit[:-1])} and {fit[-1]} are fitted to rows where they are, and "
        f"{', '.join(others[:-1])} and {others[-1]} transform or predict them"
    )


# -- Columns --------------------------------------------------------------------------------------


def adopt_layout(estimator, layout: RowLayout) -> None:
    """Set the attributes that scikit-learn's validation sets."""
    estimator.n_features_in_ = layout.n_features
    if layout.names is not None:
        estimator.feature_names_in_ = np.array(layout.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_layout(estimator, layout: RowLayout) -> None:
    """Raise ValueError unless the columns are those seen in fit."""
    if layout.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {layout.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is not None and layout.names is not None and tuple(seen) != layout.names:
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(seen)}; got {', '.join(layout.names)}."
        )
