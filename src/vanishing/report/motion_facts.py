"""What a report says of conserved quantities and of runs, as numbers; nothing knows of HTML."""

from dataclasses import dataclass

import numpy as np

from vanishing.algebra.polynomials import default_names
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
    names = getattr(model, "feature_names_in_", None)
    return MotionFacts(
        rows=rows,
        X=values,
        column_names=tuple(map(str, default_names(values.shape[1]) if names is None else names)),
    )
