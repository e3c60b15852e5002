"""The rows that a search looks at, and their folds."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import PredefinedSplit, StratifiedGroupKFold, check_cv
from sklearn.utils import column_or_1d

from vanishing.learning import settings
from vanishing.learning.labels import LabelledRows
from vanishing.learning.sampling import SampledRows, at_same_places, sampled
from vanishing.rows.array_source import DeviceSource
from vanishing.rows.arrays import is_device_array
from vanishing.rows.intake import lazy_source
from vanishing.rows.source import RowSource
from vanishing.rows.validation import are_missing

Fold = tuple[LabelledRows, LabelledRows]


class FoldRows(NamedTuple):
    """Training and validation rows of each fold, and what the latter are.

    ``units`` are the places or groups of the validation rows of all folds.
    """

    folds: list[Fold]
    units: np.ndarray


def folds_of(rows: LabelledRows, X, y, sample_weight, groups, *, cv, whole: bool) -> FoldRows:
    """Return training and validation rows of each fold.

    Parameters
    ----------
    rows : LabelledRows
        All rows, wherever they are; in memory those of weight zero are there, too.
    X, y, sample_weight, groups : object
        As the user gave them; the rows of a group are in the same fold.
    cv : int, splitter or iterable
    whole : bool
        Whether rows in memory are all looked at, however many they are.

    Returns
    -------
    folds : FoldRows
    """
    counted = cv is None or isinstance(cv, Integral)  # others may know the rows by their places
    if rows.in_memory:
        groups = _checked_groups(groups, len(rows.part.y))
        if counted:
            weight = rows.part.weight
            groups = groups if groups is None or weight is None else groups[weight > 0.0]
            rows = rows.present()
    if not rows.in_memory or (counted and not whole):
        sample = sampled(rows, settings.MOST_SAMPLED)
        if not counted and len(sample.rows.part.y) < sample.n_samples:
            _check_splitter(cv, sample.n_samples)
        if groups is not None:
            groups = _groups_of(rows, sample, X, sample_weight, groups)
        rows, y = sample.rows, None
    if counted or y is None:
        y = rows.classes[rows.part.y]
    splitter = check_cv(cv, y, classifier=True)
    if counted and groups is not None:
        splitter = _group_folds(splitter.get_n_splits(), groups)
    splits = list(splitter.split(rows.part.X, y, groups))
    folds = [_fold(rows, groups, *split) for split in splits]
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    tests = [np.arange(len(y))[test] for _, test in splits]  # a mask, too
    if rows.part.weight is not None:
        tests = [test[rows.part.weight[test] > 0.0] for test in tests]
    return FoldRows(folds, np.concatenate([units[test] for test in tests]))


def _groups_of(rows: LabelledRows, sample: SampledRows, X, sample_weight, groups) -> np.ndarray:
    """Return the groups of the rows of a sample, as the user gave those of all rows."""
    if rows.in_memory:
        return groups[sample.places[0]]
    try:
        if is_device_array(X):
            source: RowSource = DeviceSource(X, groups, sample_weight)
        else:
            lazy = lazy_source(X, groups, sample_weight)
            assert lazy is not None  # rows that are not in memory are one or the other
            source = lazy
        return at_same_places(source, sample)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"groups, which are read as labels y are: {error}") from error


def _checked_groups(groups, n_samples: int) -> np.ndarray | None:
    if groups is None:
        return None
    groups = column_or_1d(groups)
    if len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} entries, and X has {n_samples} rows: one per row is needed."
        )
    missing = are_missing(groups)
    if missing.any():
        raise ValueError(
            f"groups has no entry for row {np.argmax(missing)}: drop such rows, or give each a "
            "group of its own."
        )
    return groups


def _check_splitter(cv, n_samples: int) -> None:
    """Raise ValueError if a splitter knows rows by places, and only some are looked at."""
    if isinstance(cv, PredefinedSplit) or not hasattr(cv, "split"):
        raise ValueError(
            f"cv={cv!r} lists rows by their places, but of these {n_samples:,} rows a search "
            f"uses about {settings.MOST_SAMPLED:,}. Give a number of folds, with groups if rows "
            "belong together, or a splitter such as StratifiedKFold."
        )


def _group_folds(n_splits: int, groups: np.ndarray) -> StratifiedGroupKFold:
    n_groups = len(np.unique(groups))
    if n_groups < n_splits:
        raise ValueError(
            f"groups has {n_groups} different value{'' if n_groups == 1 else 's'}, too few for "
            f"{n_splits} folds, each of which holds out other groups. Use fewer folds, or leave "
            "groups out."
        )
    return StratifiedGroupKFold(n_splits)


def _fold(rows: LabelledRows, groups, train, test) -> Fold:
    training, validation = rows.at(train).present(), rows.at(test).present()
    missing = np.setdiff1d(np.arange(len(rows.classes)), training.part.y)
    if missing.size:
        label = rows.classes.tolist()[missing[0]]
        own = rows.part.y == missing[0]
        if rows.part.weight is not None:
            own &= rows.part.weight > 0.0
        n_rows = int(np.count_nonzero(own))
        where = "in all"
        remedy = "Use fewer folds, or a splitter that spreads its rows over the folds."
        if n_rows == 1:
            remedy = "Add rows of this class, or leave it out."
        elif groups is not None:
            n_groups = len(np.unique(groups[own]))
            where = f"in {n_groups} group{'' if n_groups == 1 else 's'}"
            remedy = "Add groups with rows of this class, leave it out, or leave groups out."
        raise ValueError(
            f"a training fold has no samples of class {label!r}, which has {n_rows} "
            f"row{'' if n_rows == 1 else 's'} {where}. {remedy}"
        )
    if not len(validation.part.y):
        raise ValueError("a validation fold has no samples. Use fewer folds.")
    return training, validation
