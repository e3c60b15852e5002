"""What a report says of a detector and of rows, as numbers; nothing here knows of HTML."""

from dataclasses import dataclass

import numpy as np

from vanishing.inspection import OutlierRows, outlier_rows
from vanishing.outliers.events import Event, EventTimes, times_of
from vanishing.outliers.reasons import BROKEN, UNUSUAL, Reason
from vanishing.report.settings import ROWS


@dataclass(frozen=True)
class OutlierFacts:
    """All that a report on outliers says."""

    rows: OutlierRows
    X: np.ndarray
    events: list[Event] | None = None  # None where rows have no order
    times: EventTimes | None = None

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

    @property
    def at(self) -> np.ndarray:
        """Where rows are on the axis: their times, or their numbers."""
        return self.rows.numbers if self.times is None else self.times.values

    @property
    def gravest(self) -> list[tuple[str, str, Event]]:
        """The gravest events: when, in which rows, and the event."""
        found = []
        for event in (self.events or [])[:ROWS]:
            ends = [self.rows.name_of(place) for place in (event.start, event.end)]
            rows = " to ".join(dict.fromkeys(ends))
            when = " to ".join(dict.fromkeys(map(time_text, event.times[:2])))
            found.append((when, rows, event))
        return found


def time_text(time) -> str:
    """Write a time, to the second if it is a date."""
    if isinstance(time, np.datetime64):
        time = time.astype("datetime64[s]").item()
    return f"{time:.6g}" if isinstance(time, (float, int)) else str(time)


def outlier_facts_of(model, X, index=None, t=None) -> OutlierFacts:
    """Compute what a report says of a detector and of rows; with times, of events, too."""
    rows = outlier_rows(model, X, top=ROWS, index=index)
    values = np.asarray(X, dtype=np.float64)
    events = None if t is None and not model.lags else model.events(X, t)
    return OutlierFacts(rows, values, events, times_of(t, len(values)))
