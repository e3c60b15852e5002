"""What a report says of conserved quantities and of runs, as numbers; nothing knows of HTML."""

from dataclasses import dataclass

import numpy as np

from vanishing.estimators.names import input_names
from vanishing.inspection import MotionRows, motion_rows


@dataclass(frozen=True)
class MotionFacts:
    """All that a report on motion says."""

    rows: MotionRows
    X: np.ndarray
    column_names: tuple[str, ...]

    @property
    def model(self):
        """The search."""
        return self.rows.model

    @property
    def quantities(self):
        """What was found, the best first."""
        return self.rows.model.quantities_

    @property
    def in_sample(self) -> bool:
        """Whether there were too few runs to hold some out."""
        return not self.rows.model.held_out_.any()


def motion_facts_of(model, X, groups, t=None) -> MotionFacts:
    """Compute what a report says of conserved quantities and of runs."""
    rows = motion_rows(model, X, groups, t)
    values = np.asarray(X, dtype=np.float64)
    return MotionFacts(
        rows=rows,
        X=values,
        column_names=tuple(map(str, input_names(model))),
    )
