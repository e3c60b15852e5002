"""Events: alarms that follow one another, stuck values and gaps, with the columns to blame."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vanishing.equations.law import Law
from vanishing.outliers import settings
from vanishing.outliers.lags import lagged, name_and_lag
from vanishing.outliers.reasons import BROKEN, Reason, reasons_of
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
        Of columns to blame, in the oddest row that the first of them is to blame for.
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
        values = [
            f"{name} is {self.found[name]:.6g}, expected {self.expected[name]:.6g}"
            for name in self.columns[:1]
            if name in self.found
        ]
        return f"{self.kind}{law}: {'; at its worst '.join([shown, *values])}"


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
    n_before = len(state.names) - X.shape[1]
    names = [str(name) for name in state.names[n_before:]]
    alarms = np.flatnonzero(scores < threshold)
    found = _alarm_events(state, X, scores, threshold, alarms)
    varying = state.model.features.varying
    stretches = [
        *(
            _stretch_event(STUCK, each, names, X, scores, threshold)
            for each in stuck_values(X, varying[varying >= n_before] - n_before)
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
    return overlaps and stretch.columns[0] in event.columns


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
    apart = np.split(alarms, np.flatnonzero(np.diff(alarms) > settings.EVENT_GAP) + 1)
    groups = [part for group in apart for part in _by_depth(group, threshold - scores[group])]
    looked_at = [_looked_at(group, scores) for group in groups]
    rows = np.unique(np.concatenate(looked_at))
    n_lags = len(state.names) // X.shape[1] - 1
    reasons = dict(zip(rows.tolist(), reasons_of(state, lagged(X, n_lags)[rows]), strict=True))
    events: list[Event] = []
    last: dict[str, int] = {}  # place of the last event of each column
    for group in groups:
        event = _alarm_event(group, scores, threshold, reasons)
        place = last.get(event.columns[0])
        if place is not None and _continues(events[place], event):
            events[place] = _joined(events[place], event, scores)
        else:
            last[event.columns[0]] = len(events)
            events.append(event)
    return events


def _by_depth(group: np.ndarray, excess: np.ndarray) -> list[np.ndarray]:
    """Return alarms in parts that are far below the threshold and others: a fault within another.

    Parts of few alarms go with those before them, or with the next ones if they are the first.
    """
    cuts = np.flatnonzero(np.diff(excess > settings.EVENT_DEEP)) + 1
    parts: list[np.ndarray] = []
    for part in np.split(group, cuts):
        if parts and min(len(part), len(parts[-1])) < settings.EVENT_ALARMS:
            parts[-1] = np.concatenate([parts[-1], part])
        else:
            parts.append(part)
    return parts


def _looked_at(group: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the alarms of an event that are explained: the first ones, the peak, the last."""
    peak = group[np.argmin(scores[group])]
    return np.unique(np.append(group[: settings.EVENT_ROWS], [peak, group[-1]]))


def _alarm_event(group, scores, threshold, reasons: dict[int, list[Reason]]) -> Event:
    peak = int(group[np.argmin(scores[group])])
    explained = [int(row) for row in group[: settings.EVENT_ROWS] if reasons[int(row)]]
    probabilities = _probabilities(
        [reasons[row][0] for row in explained], threshold - scores[explained]
    )
    first = next(iter(probabilities), "")
    likely = [name for name, p in probabilities.items() if p >= settings.EVENT_LIKELY]
    kinds = Counter(reasons[row][0]["kind"] for row in explained)
    kind = kinds.most_common(1)[0][0] if kinds else ""
    naming = [row for row in {*explained, peak} if _names(reasons[row], first)]
    at = min(naming, key=lambda row: scores[row], default=peak)
    expected, found = _values(reasons[at])
    start, end = (int(row) - _lag(reasons[int(row)], first) for row in (group[0], group[-1]))
    return Event(
        kind,
        start,
        end,
        peak,
        len(group),
        likely or [first],
        probabilities,
        float(np.sum(threshold - scores[group])),
        _law([reasons[row] for row in explained], first) if kind == BROKEN else None,
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


def _lag(reasons: list[Reason], column: str) -> int:
    """Return how many rows before a row the wrong value of a column is, by its first reason."""
    names = [name_and_lag(name) for each in reasons[:1] for name in each["columns"]]
    return min((lag for name, lag in names if name == column), default=0)


def _names(reasons: list[Reason], column: str) -> bool:
    """Say whether the first reason of a row blames a column."""
    return any(name_and_lag(name)[0] == column for each in reasons[:1] for name in each["columns"])


def _values(reasons: list[Reason]) -> tuple[dict[str, float], dict[str, float]]:
    """Return what is expected of columns, and what was found, by the first reason of a row."""
    expected: dict[str, float] = {}
    found: dict[str, float] = {}
    for reason in reasons[:1]:
        for name in reason["columns"]:
            expected.setdefault(name_and_lag(name)[0], reason["expected"][name])
            found.setdefault(name_and_lag(name)[0], reason["found"][name])
    return expected, found


def _continues(before: Event, event: Event) -> bool:
    """Say whether an event is one before of the same column, going on after a short while."""
    gap = event.start - before.end
    is_short = gap <= settings.EVENT_REACH * max(before.n_rows, event.n_rows)
    few = min(before.n_alarms, event.n_alarms) < settings.EVENT_ALARMS  # chance, perhaps
    return is_short and not few


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
