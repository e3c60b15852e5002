"""What a report says of a repair and of rows, as numbers; nothing here knows of HTML."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vanishing.estimators.names import input_names
from vanishing.inspection.outliers import row_name
from vanishing.repair.cells import AMBIGUOUS, GAP, RECONCILED, WRONG, CellRepair
from vanishing.repair.repair import VanishingRepair


@dataclass(frozen=True)
class RepairFacts:
    """All that a report on a repair says."""

    model: VanishingRepair
    X: np.ndarray
    cells: list[CellRepair]  # in the order of the rows
    index: Sequence[object] | None = None  # names of the rows

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(map(str, input_names(self.model)))

    def name_of(self, place: int) -> str:
        """Return the name of the row at a place."""
        return row_name(self.index, place)

    @property
    def kinds(self) -> Counter[str]:
        """How many cells of each kind there are."""
        return Counter(cell.kind for cell in self.cells)

    @property
    def changed(self) -> list[CellRepair]:
        """Cells that were filled, replaced, or are in doubt."""
        return [cell for cell in self.cells if cell.kind != RECONCILED]

    @property
    def by_column(self) -> list[tuple[str, float, int, int, int]]:
        """Columns with their noise, gaps, replaced values and values in doubt."""
        counts = Counter((cell.column, cell.kind) for cell in self.cells)
        return [
            (name, float(noise), counts[name, GAP], counts[name, WRONG], counts[name, AMBIGUOUS])
            for name, noise in zip(self.column_names, self.model.noise_, strict=True)
        ]


def repair_facts_of(model: VanishingRepair, X, index=None) -> RepairFacts:
    """Compute what a report says of a repair and of rows."""
    return RepairFacts(model, np.asarray(X, dtype=np.float64), model.report(X), index)
