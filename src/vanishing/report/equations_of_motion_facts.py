"""What a report says of equations of motion and of runs, as numbers; nothing knows of HTML."""

import math
from dataclasses import dataclass

import numpy as np

from vanishing.inspection import FollowedRuns, followed
from vanishing.motion.equation import EquationOfMotion
from vanishing.report.settings import ROWS


@dataclass(frozen=True)
class EquationsOfMotionFacts:
    """All that a report on equations of motion says."""

    followed: FollowedRuns
    X: np.ndarray

    @property
    def model(self):
        """The search."""
        return self.followed.model

    @property
    def equations(self) -> list[EquationOfMotion]:
        """What was found, one per column, and per batch."""
        return self.followed.model.equations_

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.followed.names

    @property
    def is_tested(self) -> bool:
        """Whether runs were held out, and followed."""
        return not math.isnan(self.followed.model.held_out_error_)

    @property
    def n_held_out(self) -> int:
        """How many runs were held out."""
        return int(np.count_nonzero(self.followed.model.held_out_))

    @property
    def numbers(self) -> list[tuple[str, str, float, float]]:
        """Equation, term, value and standard error of each coefficient and inner constant."""
        rows = []
        for equation in self.equations:
            coefficients = zip(
                equation.terms, equation.coef.tolist(), equation.coef_std.tolist(), strict=True
            )
            inside = [(name, *pair) for name, pair in equation.constants.items()]
            rows += [(equation.heading, *number) for number in [*coefficients, *inside]]
        return rows

    @property
    def errors(self) -> list[tuple[np.ndarray, bool]]:
        """Errors of each column on runs that were fitted, and on those held out, if any."""
        kinds = sorted({run.held_out for run in self.followed.runs})
        return [(self.followed.errors(kind), kind) for kind in kinds]


def equations_of_motion_facts_of(model, X, t, groups=None, inputs=None) -> EquationsOfMotionFacts:
    """Compute what a report says of equations of motion and of runs."""
    if t is None:
        raise ValueError("t is required: the time of each row, for equations of motion.")
    return EquationsOfMotionFacts(
        followed=followed(model, X, t, groups, inputs, max_runs=ROWS),
        X=np.asarray(X, dtype=np.float64),
    )
