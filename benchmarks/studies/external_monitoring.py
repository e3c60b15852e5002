"""What suites of monitored processes share: alarms counted against labels."""

import numpy as np


def rates(alarms, wrong) -> dict[str, float]:
    """Return F1, the share of normal rows with an alarm, and of wrong rows without one."""
    alarms, wrong = np.asarray(alarms, dtype=bool), np.asarray(wrong, dtype=bool)
    hits = np.sum(alarms & wrong)
    false, missed = np.sum(alarms & ~wrong), np.sum(~alarms & wrong)
    return {
        "F1": float(2 * hits / max(2 * hits + false + missed, 1)),
        "false alarms": float(false / max(np.sum(~wrong), 1)),
        "missed": float(missed / max(np.sum(wrong), 1)),
    }


def smoothed(alarms) -> np.ndarray:
    """Return the median of each alarm and the two before it; none in the first two rows."""
    alarms = np.asarray(alarms, dtype=int)
    three = alarms[:-2] + alarms[1:-1] + alarms[2:]
    return np.concatenate([np.zeros(min(2, len(alarms)), bool), three >= 2])
