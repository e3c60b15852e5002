"""Events: alarms that follow one another, stuck values and gaps, with the columns to blame."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vanishing.equations.law import Law
from vanishing.outliers import settings
from vanishing.outliers.lags import lagged, name_and_lag
from vanishing.outliers.reasons import Reason, reasons_of
from vanishing.outliers.state import DetectorState
from vanishing.outliers.stretches import Stretch, missing_cells, missing_rows, stuck_values

STUCK, NO_CELLS, NO_ROWS = "stuck value", "missing cells", "missing rows"


@dataclass(frozen=True)
class Event:
    """Something that happened over some rows.

    Attributes
    ----------
    kind : str
        "broken law", "unusual combination", "stuck value", "missing cells" or "missing rows".
    start, end : int
        Places of its first and last rows; of missing rows, of those before and after.
    peak : int
        Place of the row with the lowest score.
    n_alarms : int
        How many of its rows are outliers.
    columns : list of str
        Columns that may be to blame, the likeliest first.
    probabilities : dict of str to float
        Of all columns that could explain it, that each alone is wrong, if one is. The first alarms
        weigh most: a fault spreads.
    law : Law or None
        The law that is broken most often, if there is one that can be read.
    expected, found : dict of str to float
        At the peak, of columns to blame.
    severity : float
        By how much scores of alarms are below the threshold, in all; rows of other events count 1.
    times : tuple
        Of its first and last rows and its peak, as they were given; empty where none were.
    """

    kind: str
    start: int
    end: int
    peak: int
    n_alarms: int
    columns: list[str]
    probabilities: dict[str, float]
    severity: float
    law: Law | None = None
    expected: dict[str, float] = field(default_factory=dict)
    found: dict[str, float] = field(default_factory=dict)
    times: tuple = ()

    @property
    def n_rows(self) -> int:
        """How many rows it lasts."""
        return self.end - self.start + 1

    def __str__(self):
        when = "" if not self.times else f" ({self.times[0]} to {self.times[1]})"
        rows = f"row {self.start}" if self.n_rows == 1 else f"rows {self.start} to {self.end}"
        return f"{rows}{when}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        shown = " or ".join(
            f"{name} ({self.probabilities[name]:.0%})" if name in self.probabilities else name
            for name in self.columns
        )
        if self.kind == STUCK:
            return f"{shown} is stuck at {self.found[self.columns[0]]:.6g}"
        if self.kind == NO_CELLS:
            return f"{shown} is missing"
        if self.kind == NO_ROWS:
            return "rows are missing"
        law = "" if self.law is None else f" {self.law}"
        first = self.columns[0]
        return (
            f"{self.kind}{law}: {shown}; at its peak {first} is {self.found[first]:.6g}, expected "
            f"{self.expected[first]:.6g}"
        )


@dataclass(frozen=True)
class EventTimes:
    """Times of rows: as numbers, and as they were given."""

    values: np.ndarray
    given: list

    def at(self, *places: int) -> tuple:
        """Return the times of some rows."""
        return tuple(self.given[place] for place in places)


def times_of(t, n_rows: int) -> EventTimes | None:
    """Return times that were given, or raise ValueError unless they increase."""
    if t is None:
        return None
    given = np.asarray(t)
    if given.shape != (n_rows,):
        raise ValueError(f"t must be one time per row, shape ({n_rows},); got {given.shape}.")
    if given.dtype.kind in "mM":
        nothing = np.isnat(given)
        values = given.astype("datetime64[ns]" if given.dtype.kind == "M" else "timedelta64[ns]")
        values = values.astype(np.int64) / 1e9
    else:
        values = np.asarray(given, dtype=np.float64)
        nothing = ~np.isfinite(values)
    if nothing.any():
        raise ValueError(f"t has no time for row {int(nothing.argmax())}: drop such rows.")
    back = np.diff(values) < 0.0
    if back.any():
        raise ValueError(
            f"t goes back at row {int(back.argmax()) + 1}: sort the rows by time, and ask for the "
            "events of each run by itself."
        )
    return EventTimes(values, list(t))


def events_of(
    state: DetectorState, X: np.ndarray, scores: np.ndarray, threshold: float, times
) -> list[Event]:
    """Return the events of rows, the gravest first.

    Parameters
    ----------
    state : DetectorState
    X : array of shape (n_rows, n_columns)
        Without lags.
    scores : array of shape (n_rows,)
    threshold : float
    times : EventTimes or None
    """
    names = [str(name) for name in state.names[: X.shape[1]]]
    alarms = np.flatnonzero(scores < threshold)
    found = _alarm_events(state, X, scores, threshold, alarms)
    varying = state.model.features.varying
    stretches = [
        *(
            _stretch_event(STUCK, each, names, X, scores, threshold)
            for each in stuck_values(X, varying[varying < X.shape[1]])
        ),
        *(_stretch_event(NO_CELLS, each, names, X, scores, threshold) for each in missing_cells(X)),
    ]
    found = [event for event in found if not any(_is_within(event, s) for s in stretches)]
    found += stretches
    if times is not None:
        for before, count in missing_rows(times.values):
            found.append(Event(NO_ROWS, before, before + 1, before, 0, [], {}, float(count)))
        found = [replace(e, times=times.at(e.start, e.end, e.peak)) for e in found]
    return sorted(found, key=lambda event: (-event.severity, event.start))


def _is_within(event: Event, stretch: Event) -> bool:
    """Say whether alarms are those of a column that is stuck, or missing, at the same time."""
    overlaps = event.start <= stretch.end + settings.EVENT_GAP and stretch.start <= event.end
    return overlaps and stretch.columns[0] in event.columns[:1]


def _stretch_event(kind: str, stretch: Stretch, names, X, scores, threshold) -> Event:
    rows = slice(stretch.start, stretch.end + 1)
    own, name = scores[rows], names[stretch.column]
    found = {} if kind == NO_CELLS else {name: float(X[stretch.start, stretch.column])}
    return Event(
        kind,
        stretch.start,
        stretch.end,
        stretch.start + int(np.argmin(own)),
        int(np.count_nonzero(own < threshold)),
        [name],
        {name: 1.0},
        float(stretch.end - stretch.start + 1),
        found=found,
    )


# -- Alarms ---------------------------------------------------------------------------------------


def _alarm_events(state: DetectorState, X, scores, threshold, alarms: np.ndarray) -> list[Event]:
    """Return events of alarms; those of one column that follow one another closely are one."""
    if not len(alarms):
        return []
    groups = np.split(alarms, np.flatnonzero(np.diff(alarms) > settings.EVENT_GAP) + 1)
    looked_at = [_looked_at(group, scores) for group in groups]
    rows = np.unique(np.concatenate(looked_at))
    n_lags = len(state.names) // X.shape[1] - 1
    reasons = dict(zip(rows.tolist(), reasons_of(state, lagged(X, n_lags)[rows]), strict=True))
    events: list[Event] = []
    for group in groups:
        event = _alarm_event(group, scores, threshold, reasons)
        if events and _continues(events[-1], event):
            events[-1] = _joined(events[-1], event, scores)
        else:
            events.append(event)
    return events


def _looked_at(group: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the alarms of an event that are explained: the first ones, and the peak."""
    peak = group[np.argmin(scores[group])]
    return np.unique(np.append(group[: settings.EVENT_ROWS], peak))


def _alarm_event(group, scores, threshold, reasons: dict[int, list[Reason]]) -> Event:
    peak = int(group[np.argmin(scores[group])])
    explained = [int(row) for row in group[: settings.EVENT_ROWS] if reasons[int(row)]]
    probabilities = _probabilities(
        [reasons[row][0] for row in explained], threshold - scores[explained]
    )
    first = next(iter(probabilities), "")
    likely = [name for name, p in probabilities.items() if p >= settings.EVENT_LIKELY]
    kinds = Counter(reasons[row][0]["kind"] for row in explained)
    at_peak = reasons[peak][0] if reasons[peak] else None
    expected, found = _values(at_peak, likely or [first])
    return Event(
        kinds.most_common(1)[0][0] if kinds else "",
        int(group[0]),
        int(group[-1]),
        peak,
        len(group),
        likely or [first],
        probabilities,
        float(np.sum(threshold - scores[group])),
        _law([reasons[row] for row in explained], first),
        expected,
        found,
    )


def _probabilities(reasons: Sequence[Reason], excess: np.ndarray) -> dict[str, float]:
    """Return the chances of columns over an event, whose first alarms weigh most.

    An alarm weighs as much as its score is below the threshold, up to a limit, and the less the
    more alarms have been before: a fault spreads to columns that are not to blame.
    """
    chances: dict[str, float] = {}
    strength = np.minimum(excess, settings.EVENT_STRENGTH)
    before = np.cumsum(strength) - strength
    weights = strength * 0.5 ** (before / (settings.EVENT_HALF * settings.EVENT_STRENGTH))
    for weight, reason in zip(weights / max(weights.sum(), 1e-300), reasons, strict=True):
        for name, p in reason["probabilities"].items():
            column = name_and_lag(name)[0]
            chances[column] = chances.get(column, 0.0) + float(weight) * p
    return dict(sorted(chances.items(), key=lambda pair: -pair[1]))


def _law(reasons: Sequence[list[Reason]], column: str) -> Law | None:
    """Return the law that most reasons name first, of those with a column if there are any."""
    laws = [each["law"] for of_row in reasons for each in of_row[:1] if each["law"] is not None]
    own = [law for law in laws if column in map(str, law.columns)] or laws
    counts = Counter(map(str, own))
    return next((law for law in own if str(law) == counts.most_common(1)[0][0]), None)


def _values(reason: Reason | None, columns: list[str]):
    """Return what is expected of columns, and what was found, as far as a reason says it."""
    expected: dict[str, float] = {}
    found: dict[str, float] = {}
    for name in [] if reason is None else reason["columns"]:
        expected.setdefault(name_and_lag(name)[0], reason["expected"][name])
        found.setdefault(name_and_lag(name)[0], reason["found"][name])
    for name in columns:
        expected.setdefault(name, float("nan"))
        found.setdefault(name, float("nan"))
    return expected, found


def _continues(before: Event, event: Event) -> bool:
    """Say whether an event is that before going on: the same column, after a short while."""
    gap = event.start - before.end
    is_short = gap <= max(before.n_rows, event.n_rows)
    few = min(before.n_alarms, event.n_alarms) < settings.EVENT_ALARMS  # chance, perhaps
    return before.columns[0] == event.columns[0] and is_short and not few


def _joined(before: Event, event: Event, scores: np.ndarray) -> Event:
    """Return two events as one, whose blame is that of the first."""
    worse = event if scores[event.peak] < scores[before.peak] else before
    return replace(
        before,
        end=event.end,
        peak=worse.peak,
        n_alarms=before.n_alarms + event.n_alarms,
        severity=before.severity + event.severity,
        expected={**before.expected, **worse.expected},
        found={**before.found, **worse.found},
    )
