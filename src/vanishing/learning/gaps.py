"""Rows with gaps: they are classified by equations that do not need the missing columns.

For each column, and for other sets of columns that training rows lack together, there is a
classifier on the other columns, fitted to all rows that have these. It has a temperature of its
own: what cannot be told without a column has a lower probability.
"""

import warnings
from typing import NamedTuple

import numpy as np

from vanishing.learning import settings
from vanishing.learning.labels import LabelledRows
from vanishing.learning.prediction import PipelineClassifier, decisive_parts, watched
from vanishing.learning.scaling import FarRows
from vanishing.rows.source import RowPart


class Without(NamedTuple):
    """A classifier that does without some columns."""

    missing: tuple[int, ...]  # their places
    model: PipelineClassifier


class GapModels(NamedTuple):
    """What classifies rows with gaps.

    Attributes
    ----------
    shares : ndarray of shape (n_classes,)
        Of the classes among the training rows: all that is known of rows without any model.
    without : list of Without
        Those that do without few columns first.
    """

    shares: np.ndarray
    without: list[Without]

    def decisions(self, model, X: np.ndarray, gaps: np.ndarray, decide) -> np.ndarray:
        """Return the decision values of rows, by what each of them has.

        Parameters
        ----------
        model : VanishingClassifier
            For rows without gaps, by ``decide(rows)``.
        X : ndarray of shape (n_samples, n_features)
        gaps : ndarray of bool of shape (n_samples, n_features)
        decide : callable

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        patterns, which = np.unique(gaps, axis=0, return_inverse=True)
        which = which.reshape(-1)
        two = len(model.classes_) == 2
        scores = np.empty(len(X) if two else (len(X), len(model.classes_)))
        for k, pattern in enumerate(patterns):
            rows, missing = which == k, set(np.flatnonzero(pattern).tolist())
            other = next((each for each in self.without if missing <= set(each.missing)), None)
            if not missing:
                scores[rows] = decide(X[rows])
            elif other is None:
                known = model.temperature_ * np.log(self.shares)
                scores[rows] = known[1] - known[0] if two else known
            else:
                kept = np.setdiff1d(np.arange(X.shape[1]), other.missing)
                quiet = watched(other.model, FarRows())
                found = quiet._decisions(X[np.ix_(rows, kept)], decisive_parts(quiet))
                # So that the probabilities are those of the other model.
                scores[rows] = found * (model.temperature_ / other.model.temperature_)
        return scores


def check_in_memory(rows: LabelledRows) -> None:
    """Raise TypeError unless rows that may have gaps are in memory."""
    if not rows.in_memory:
        raise TypeError(
            "missing='ignore' needs the rows in memory to fit: give arrays, or fill the gaps in. "
            "Rows in blocks can be predicted."
        )


def rows_without_gaps(rows: LabelledRows) -> LabelledRows:
    """Return rows in memory whose rows with gaps have weight zero, and zeros for their gaps."""
    gaps = np.isnan(rows.part.X)
    if not gaps.any():
        return rows
    X, y, weight = rows.part
    complete = ~gaps.any(axis=1)
    present = complete if weight is None else complete & (weight > 0.0)
    lacking = np.setdiff1d(np.arange(len(rows.classes)), y[present])
    if lacking.size:
        raise ValueError(
            f"all rows of class {rows.classes.tolist()[lacking[0]]!r} have gaps. Fill some of them "
            "in, for example by VanishingRepair, or leave out columns with many gaps."
        )
    weight = np.where(complete, 1.0 if weight is None else weight, 0.0)
    return LabelledRows.of_part(RowPart(np.where(gaps, 0.0, X), y, weight), rows.classes)


def fit_gaps(model, rows: LabelledRows) -> GapModels:
    """Fit what classifies rows with gaps.

    Parameters
    ----------
    model : VanishingClassifier
        Whose parameters the classifiers have.
    rows : LabelledRows
        All training rows, in memory.
    """
    X, y, weight = rows.part
    gaps = np.isnan(X)
    without = []
    for missing in _patterns(gaps):
        kept = np.setdiff1d(np.arange(X.shape[1]), missing)
        known = ~gaps[:, kept].any(axis=1)
        other = type(model)(**{**model.get_params(deep=False), "missing": "error"})
        with warnings.catch_warnings():  # the fit to all columns has said what there is to say
            warnings.simplefilter("ignore")
            other.fit(
                X[np.ix_(known, kept)],
                rows.classes[y[known]],
                None if weight is None else weight[known],
            )
        without.append(Without(missing, other))
    without.sort(key=lambda each: len(each.missing))
    return GapModels(rows.totals / rows.totals.sum(), without)


def _patterns(gaps: np.ndarray) -> list[tuple[int, ...]]:
    """Return which columns may be missing: each, and those that rows lack together most often."""
    n_columns = gaps.shape[1]
    found, counts = np.unique(gaps, axis=0, return_counts=True)
    several = (found.sum(axis=1) > 1) & ~found.all(axis=1)
    order = np.argsort(-counts[several], kind="stable")[: settings.MOST_PATTERNS]
    singles = [(j,) for j in range(n_columns)] if n_columns > 1 else []
    return singles + [tuple(np.flatnonzero(row).tolist()) for row in found[several][order]]
