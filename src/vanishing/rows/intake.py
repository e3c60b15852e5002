"""The one way in for rows: what a user gave becomes rows that can be asked, wherever they are."""

from typing import Literal

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
from vanishing.rows.validation import validated

# What may stand beside rows: labels of classes, a target of numbers, or the runs rows belong to.
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
    """Validate what an estimator is to be fitted to, and set what is known of its columns.

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
        Rows in memory that a thread is asked at a time; None asks all of them at once.
    keep_all : bool
        Whether rows in memory of weight zero stay: where they add nothing to what is asked, a copy
        of the others is saved.

    Returns
    -------
    rows : RowSource
    """
    if arrays.is_small(X, to_fit=True):
        X = arrays.on_host(X)
        y, sample_weight = (v if v is None else arrays.to_numpy(v) for v in (y, sample_weight))
    if _kind_of_source(X) is None:
        part = _in_memory(estimator, X, y, sample_weight, y_is, keep_all=keep_all)
        return ArraySource(part, piece_rows)
    if not estimator.fits_sources:
        refuse(estimator, X)
    source: RowSource
    if arrays.is_device_array(X):
        source = DeviceSource(X, y, sample_weight)
    else:
        source = lazy_source(X, y, sample_weight)
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
        Of the estimator, where only this method needs the rows in memory.
    reset : bool
        Whether the estimator adopts the columns, or has them already.
    keep_all : bool
        Whether rows of weight zero stay, where others count on their places.

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
    """Return labels none of which is missing; scikit-learn's errors do not say which one is."""
    labels = np.asarray(y)
    if labels.dtype.kind != "O" or labels.ndim != 1:
        return y
    gaps = [i for i, label in enumerate(labels) if _is_missing(label)]
    if gaps:
        raise ValueError(
            f"y has no label in row {gaps[0]}"
            + (f" and {len(gaps) - 1} more" if len(gaps) > 1 else "")
            + ". Drop these rows, or give them a label."
        )
    return y


def _is_missing(label) -> bool:
    if isinstance(label, float):
        return label != label
    return label is None or type(label).__name__ in ("NAType", "NaTType")  # of pandas


def _checked_runs(groups, n_samples: int) -> np.ndarray:
    """Return the run of each row, or say what is wrong."""
    if groups is None:
        raise ValueError(
            "groups is required: say which run each row belongs to, as in fit(X, groups=run)."
        )
    groups = column_or_1d(groups)
    if len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} entries, and X has {n_samples} rows: one per row is needed."
        )
    missing = np.zeros(n_samples, dtype=bool)
    if groups.dtype.kind == "f":
        missing = ~np.isfinite(groups)
    elif groups.dtype.kind == "O":
        missing = np.array([label is None or label != label for label in groups.tolist()])
    if missing.any():
        raise ValueError(f"groups has no run for row {np.argmax(missing)}: drop such rows.")
    return groups


# -- Where rows are -------------------------------------------------------------------------------


def _kind_of_source(X) -> tuple[str, str] | None:
    """Return what X is and how to have it in memory; None if it is in memory already."""
    if isinstance(X, np.ndarray):  # as nearly always: the others take longer to tell
        return None
    if is_dask(X):
        return "Dask collections", "X.compute()"
    if arrays.is_device_array(X):
        return f"arrays of {type(X).__module__.partition('.')[0]}", "a NumPy array of it"
    if is_blocks(X):
        return "blocks of rows", "one array of all rows"
    return None


def lazy_source(X, y=None, sample_weight=None) -> LazySource:
    """Return the source of blocks or of a Dask collection."""
    return (DaskSource if is_dask(X) else BlockSource)(X, y, sample_weight)


def is_lazy(X) -> bool:
    """Say whether X is blocks or a Dask collection, of which only lazy results are made."""
    if isinstance(X, np.ndarray):
        return False
    return is_dask(X) or (not arrays.is_device_array(X) and is_blocks(X))


def refuse(estimator, X, method: str | None = None) -> None:
    """Raise TypeError if X is a source; for estimators and methods that need rows in memory."""
    source = _kind_of_source(X)
    if source is None:
        return
    name = type(estimator).__name__ + ("" if method is None else f".{method}")
    kind, remedy = source
    raise TypeError(
        f"{name} does not take {kind}: it needs the rows in memory. Give it {remedy}; "
        f"{_readers_of_sources()}."
    )


def _readers_of_sources() -> str:
    """Say which public estimators take rows where they are, as these say of themselves."""
    public = {name: getattr(module_of(name), name) for name in sorted(PLACES)}
    fit = [name for name, one in public.items() if getattr(one, "fits_sources", False)]
    read = [name for name, one in public.items() if getattr(one, "reads_sources", False)]
    others = ["these", *(name for name in read if name not in fit)]
    return (
        f"{', '.join(fit[:-1])} and {fit[-1]} are fitted to rows where they are, and "
        f"{' and '.join(others)} transform or predict them"
    )


# -- Columns --------------------------------------------------------------------------------------


def adopt_layout(estimator, layout: RowLayout) -> None:
    """Set what scikit-learn's validation would have set."""
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
