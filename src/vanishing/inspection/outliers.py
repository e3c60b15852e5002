"""What a detector says of rows: their scores, the alarms, and the columns to blame for them."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from vanishing.laws.law import Law
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.outliers.drift import NO_LONGER
from vanishing.rows.intake import refuse

_EXPLAINED = 1000  # alarms whose columns are counted, the oddest ones


@dataclass(frozen=True)
class OutlierRows:
    """What a detector says of rows.

    Attributes
    ----------
    model : VanishingOutlierDetector
    names : tuple of str
        Of the columns.
    scores : ndarray of shape (n_samples,)
        The lower, the odder.
    threshold : float
        Rows below it are outliers.
    order : ndarray of shape (n_samples,)
        Places of the rows, the oddest first.
    n_alarms : int
        How many rows are outliers: the first of ``order``.
    reasons : list of lists of dict
        Of the first rows of ``order``, as `explain` has them: of alarms, at most 1,000, and of as
        many others as were asked for.
    n_explained : int
        How many of the reasons are those of alarms.
    """

    model: VanishingOutlierDetector
    names: tuple[str, ...]
    scores: np.ndarray
    threshold: float
    order: np.ndarray
    n_alarms: int
    reasons: list[list[dict]]
    n_explained: int

    @property
    def blamed(self) -> np.ndarray:
        """How many of the alarms name each column; those that name two count half for each."""
        found = np.zeros(len(self.names))
        places = {name: i for i, name in enumerate(self.names)}
        for reasons in self.reasons[: self.n_explained]:
            named = {column for reason in reasons for column in reason["columns"]}
            for column in named:
                found[places[column]] += 1.0 / len(named)
        return found

    @property
    def kinds(self) -> Counter:
        """How many alarms are of each kind."""
        alarms = self.reasons[: self.n_explained]
        return Counter(reasons[0]["kind"] for reasons in alarms if reasons)

    @property
    def laws(self) -> tuple[list[Law], list[Law]]:
        """Laws that hold, and laws that hold no longer."""
        laws = self.model.laws_
        lost = [law.verdict.startswith(NO_LONGER) for law in laws]
        pairs = list(zip(laws, lost, strict=True))
        return [law for law, gone in pairs if not gone], [law for law, gone in pairs if gone]


def outlier_rows(model: VanishingOutlierDetector, X, *, top: int = 0) -> OutlierRows:
    """Ask a fitted detector about rows.

    Parameters
    ----------
    model : VanishingOutlierDetector
    X : array-like of shape (n_samples, n_features), or frame
    top : int, default=0
        How many of the oddest rows have reasons even where they are no outliers.

    Returns
    -------
    rows : OutlierRows
    """
    refuse(model, X, "explain")
    scores = np.asarray(model.score_samples(X))
    order = np.argsort(scores, kind="stable")
    n_alarms = int(np.count_nonzero(scores < model.offset_))
    chosen = order[: max(top, min(n_alarms, _EXPLAINED))]
    rows = X.iloc[chosen] if hasattr(X, "iloc") else np.asarray(X)[chosen]
    return OutlierRows(
        model=model,
        names=tuple(model.column_names_),
        scores=scores,
        threshold=float(model.offset_),
        order=order,
        n_alarms=n_alarms,
        reasons=model.explain(rows) if len(chosen) else [],
        n_explained=min(n_alarms, len(chosen)),
    )
