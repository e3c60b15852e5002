"""What a report says of a detector and of rows, as numbers; nothing here knows of HTML."""

from dataclasses import dataclass

import numpy as np

from vanishing.inspection import OutlierRows, outlier_rows
from vanishing.outliers.reasons import BROKEN, UNUSUAL, Reason
from vanishing.report.settings import ROWS


@dataclass(frozen=True)
class OutlierFacts:
    """All that a report on outliers says."""

    rows: OutlierRows
    X: np.ndarray

    @property
    def model(self):
        """The detector."""
        return self.rows.model

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.rows.names

    @property
    def share(self) -> float:
        """Share of the rows that are outliers."""
        return self.rows.n_alarms / len(self.X)

    @property
    def by_rate(self) -> bool:
        """Whether a rate of false alarms set the threshold, and not a share of wrong rows."""
        return isinstance(self.model.contamination, str)

    @property
    def n_broken(self) -> int:
        """Alarms that break a law, of those that were explained."""
        return self.rows.kinds[BROKEN]

    @property
    def n_unusual(self) -> int:
        """Alarms that break none, of those that were explained."""
        return self.rows.kinds[UNUSUAL]

    @property
    def blamed(self) -> list[tuple[str, float]]:
        """Columns that alarms are blamed on and how often, the most blamed first."""
        counts = self.rows.blamed
        order = np.argsort(-counts, kind="stable")
        return [(self.column_names[i], float(counts[i])) for i in order if counts[i] > 0.0]

    @property
    def oddest(self) -> list[tuple[str, float, bool, list[Reason]]]:
        """The oddest rows: name, score, whether it is an outlier, and reasons."""
        rows = self.rows
        return [
            (
                rows.name_of(i),
                float(rows.scores[i]),
                bool(rows.scores[i] < rows.threshold),
                reasons,
            )
            for i, reasons in zip(rows.order[:ROWS], rows.reasons, strict=False)
        ]


def outlier_facts_of(model, X, index=None) -> OutlierFacts:
    """Compute what a report says of a detector and of rows."""
    rows = outlier_rows(model, X, top=ROWS, index=index)
    values = np.asarray(X, dtype=np.float64)
    return OutlierFacts(
        rows=rows,
        X=values,
    )
