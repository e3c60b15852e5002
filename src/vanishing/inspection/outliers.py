"""What a detector says of rows: their scores, the alarms, and the columns to blame for them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vanishing._types import Table
from vanishing.equations.law import Law
from vanishing.inspection.settings import EXPLAINED
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.outliers.drift import NO_LONGER
from vanishing.outliers.lags import name_and_lag
from vanishing.outliers.reasons import Reason
from vanishing.rows.intake import refuse


def row_name(index, place: int) -> str:
    """Return the name of the row at a place, such as 1,204 or 1,204 (S-017)."""
    name = int(place) + 1 if index is None else index[place]
    first, *others = name if isinstance(name, tuple) else (name,)
    number = f"{first:,}" if isinstance(first, (int, np.integer)) else str(first)
    return f"{number} ({', '.join(map(str, others))})" if others else number


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
    index : list or None
        Names of the rows, in their order: numbers, texts, or tuples of both. None where they are
        only counted.

    See Also
    --------
    vanishing.VanishingOutlierDetector : What scores the rows.
    """

    model: VanishingOutlierDetector
    names: tuple[str, ...]
    scores: np.ndarray
    threshold: float
    order: np.ndarray
    n_alarms: int
    reasons: list[list[Reason]]
    n_explained: int
    index: list | None = None

    @property
    def numbers(self) -> np.ndarray:
        """Numbers of the rows: those of ``index`` if it has any, or else counted from 1."""
        numbers = [name[0] if isinstance(name, tuple) else name for name in self.index or ()]
        if numbers and all(isinstance(number, (int, np.integer)) for number in numbers):
            return np.array(numbers, dtype=np.float64)
        return np.arange(1.0, len(self.scores) + 1.0)

    def name_of(self, place: int) -> str:
        """Return the name of the row at a place, such as 1,204 or 1,204 (S-017)."""
        return row_name(self.index, place)

    @property
    def blamed(self) -> np.ndarray:
        """How many of the alarms name each column; those that name two count half for each."""
        counts = np.zeros(len(self.names))
        places = {name: i for i, name in enumerate(self.names)}
        for reasons in self.reasons[: self.n_explained]:
            columns = {name_and_lag(c)[0] for reason in reasons for c in reason["columns"]}
            for column in columns:
                counts[places[column]] += 1.0 / len(columns)
        return counts

    @property
    def kinds(self) -> Counter:
        """How many alarms are of each kind."""
        alarms = self.reasons[: self.n_explained]
        return Counter(reasons[0]["kind"] for reasons in alarms if reasons)

    @property
    def laws(self) -> tuple[list[Law], list[Law]]:
        """Laws that hold, and laws that hold no longer."""
        return laws_of(self.model)


def laws_of(model: VanishingOutlierDetector) -> tuple[list[Law], list[Law]]:
    """Return the laws of a detector that hold, and those that hold no longer."""
    laws: tuple[list[Law], list[Law]] = ([], [])
    for law in model.laws_:
        laws[law.verdict.startswith(NO_LONGER)].append(law)
    return laws


def outlier_rows(
    model: VanishingOutlierDetector, X: Table, *, top: int = 0, index: Sequence | None = None
) -> OutlierRows:
    """Ask a fitted detector about rows.

    Parameters
    ----------
    model : VanishingOutlierDetector
    X : array-like of shape (n_samples, n_features), or frame
    top : int, default=0
        How many of the oddest rows have reasons even where they are no outliers.
    index : sequence of length n_samples, default=None
        Names of the rows. None takes the index of a DataFrame, unless that counts from 0.

    Returns
    -------
    rows : OutlierRows

    See Also
    --------
    vanishing.plot.OutlierDisplay : A picture of them.
    vanishing.report.write_report : A page about them.
    """
    refuse(model, X, "explain")
    scores = np.asarray(model.score_samples(X))
    order = np.argsort(scores, kind="stable")
    n_alarms = int(np.count_nonzero(scores < model.offset_))
    chosen = order[: max(top, min(n_alarms, EXPLAINED))]
    return OutlierRows(
        model=model,
        names=tuple(model.column_names_[-model.n_features_in_ :]),
        scores=scores,
        threshold=float(model.offset_),
        order=order,
        n_alarms=n_alarms,
        reasons=model.explain(X, chosen) if len(chosen) else [],
        n_explained=min(n_alarms, len(chosen)),
        index=_index_of(X) if index is None else list(index),
    )


def _index_of(X) -> list | None:
    """Return the index of a DataFrame, or None where there is none or it counts from 0."""
    index = X.index.tolist() if hasattr(X, "iloc") else None
    return None if index is None or index == list(range(len(index))) else index
