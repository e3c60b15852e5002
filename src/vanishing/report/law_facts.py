"""What a report says of laws and of rows, as numbers; nothing here knows of HTML."""

from dataclasses import dataclass

import numpy as np

from vanishing.equations.columns import read_columns
from vanishing.inspection import (
    Constants,
    LawAnatomy,
    LawCurves,
    LawRows,
    Unexplained,
    constants_of,
    law_anatomy,
    law_curves,
    law_rows,
    unexplained,
)
from vanishing.laws.finder import LawFinder


@dataclass(frozen=True)
class LawFacts:
    """All that a report on laws says."""

    answer: LawAnatomy
    X: np.ndarray  # all columns, the target's last
    rows: LawRows | None  # what the best equation predicts for them
    unexplained: Unexplained | None
    constants: tuple[Constants, ...]  # of each law, or of the best equation where there is none
    seen: bool  # whether these appear to be the training rows
    curves: LawCurves | None  # where one variable is left

    @property
    def model(self):
        """The finder, or the law that was checked."""
        return self.answer.model

    @property
    def searched(self) -> bool:
        """Whether the law was looked for, and not given."""
        return isinstance(self.answer.model, LawFinder)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.answer.names

    @property
    def n_wrong(self) -> int:
        """The number of rows that the fit of a given equation left out as wrong."""
        model = self.answer.model
        return 0 if isinstance(model, LawFinder) else len(model.wrong_rows)

    def is_shared(self, place: int) -> bool:
        """Whether a constant is the same in all groups."""
        return len({numbers.rows[place][1] for numbers in self.constants}) == 1

    @property
    def relative(self) -> float:
        """The error relative to the rms of what is predicted."""
        if self.rows is None:
            return np.nan
        size = float(np.sqrt(np.mean(self.rows.measured**2)))
        return self.rows.error / size if size else np.nan


def law_facts_of(model, X, y=None, groups=None) -> LawFacts:
    """Compute what a report says of laws and of rows; the target may be y, or a column of X."""
    answer = law_anatomy(model)
    names, best = answer.names, answer.best
    n_inputs = len(names) - (answer.target is not None) if best is None else best.n_inputs
    columns = read_columns(X, y, names, n_inputs, range(len(names)))
    if not columns.shape[1]:
        raise ValueError("a report needs rows, and there are none.")
    for name, column in zip(names, columns, strict=True):
        if not np.isfinite(column).all():
            raise ValueError(f"column {name!r} has values that are NaN or infinite.")
    rows = None if best is None else law_rows(answer.by_group or best, columns.T, groups=groups)
    shown = answer.laws or (() if best is None else (best,))
    if answer.by_group is not None:
        shown = answer.by_group.laws
    return LawFacts(
        answer=answer,
        X=columns.T,
        rows=rows,
        unexplained=None if rows is None else unexplained(rows),
        constants=tuple(constants_of(law) for law in shown),
        seen=best is not None
        and answer.by_group is None
        and best.n_samples == columns.shape[1]
        and rows is not None
        and bool(np.isclose(rows.error, best.error, rtol=1e-9, atol=0.0)),
        curves=None
        if rows is None
        else law_curves(shown[:1] if rows.groups is None else shown, rows),
    )
