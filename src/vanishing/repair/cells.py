"""Cells that a repair changes or doubts, and what is said of each."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.equations.law import Law
from vanishing.repair import settings
from vanishing.repair.model import RowModel
from vanishing.repair.suspects import wrong_cells

GAP, WRONG, AMBIGUOUS, RECONCILED = "gap", "wrong", "ambiguous", "reconciled"


class CellRepair(NamedTuple):
    """A cell that was changed, or is in doubt.

    Attributes
    ----------
    row : int
        Counted from 0.
    column : str
    kind : str
        "gap" (it was empty), "wrong" (it broke a law and was replaced), "ambiguous" (it may be what
        breaks a law, as others may: it is left), or "reconciled" (it was moved within its noise).
    was, now : float
        The value before, NaN in a gap, and after.
    std : float
        Standard error of ``now``: what would be measured there is within two of them in about 95 %
        of cases. Of reconciled cells, that of the true value.
    law : Law or None
        The law that says so; None where the value follows from what other rows are like.
    probability : float
        That the cell is the wrong one, among all that could be to blame; 1 for gaps.
    """

    row: int
    column: str
    kind: str
    was: float
    now: float
    std: float
    law: Law | None
    probability: float

    def __str__(self) -> str:
        where = f"row {self.row}, {self.column}: "
        by = " (by other rows: no law says it)" if self.law is None else f" ({self.law})"
        value = f"{self.now:.6g} +- {self.std:.2g}"
        if self.kind == GAP:
            return f"{where}empty, now {value}{by}"
        if self.kind == AMBIGUOUS:
            return f"{where}{self.was:.6g} may be wrong (probability {self.probability:.2f}){by}"
        if self.kind == RECONCILED:
            return f"{where}{self.was:.6g} moved to {value}"
        return f"{where}{self.was:.6g}, now {value} (probability {self.probability:.3f}){by}"


class RepairedRows(NamedTuple):
    """Rows that were repaired.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
    std : array of shape (n_rows, n_columns)
        Standard errors of cells that were changed.
    covariance : array of shape (n_rows, n_columns, n_columns)
        Of the most likely true rows.
    gaps, wrong : array of bool of shape (n_rows, n_columns)
    probability : array of shape (n_rows, n_columns)
        That a cell is wrong.
    law : array of int of shape (n_rows, n_columns)
        The law that speaks of a cell, or -1.
    """

    values: np.ndarray
    std: np.ndarray
    covariance: np.ndarray
    gaps: np.ndarray
    wrong: np.ndarray
    probability: np.ndarray
    law: np.ndarray


def repaired(model: RowModel, X: np.ndarray, reconcile: bool) -> RepairedRows:
    """Fill gaps, replace cells that break laws, and say how sure that is."""
    gaps = ~np.isfinite(X)
    probability = wrong_cells(model, X, ~gaps)
    wrong = probability >= settings.SURE
    seen = ~(gaps | wrong)
    answer = model.most_likely(X, seen)
    free = ~seen
    points = np.where(np.isfinite(answer.points), answer.points, model.prior.mean)
    variance = np.einsum("mii->mi", answer.covariance)
    noise = model.noise.variance(points)
    std = np.sqrt(np.maximum(variance, 0.0) + np.where(free & (not reconcile), noise, 0.0))
    values = points if reconcile else np.where(free, points, X)
    law = _speaking(model, X, points, seen, variance)
    return RepairedRows(values, std, answer.covariance, gaps, wrong, probability, law)


def _speaking(model: RowModel, X, points, seen, variance) -> np.ndarray:
    """Return the law that says most of each cell, -1 where none does.

    Of a gap, the one that alone makes it surest; of a cell that was measured, the one that is
    broken most, of those that it occurs in.
    """
    law = np.full(X.shape, -1)
    n_laws = len(model.system)
    if not n_laws:
        return law
    measured = np.where(np.isfinite(X), X, points)
    values, _ = model.system(measured)
    _, at_points = model.system(points)
    noise = np.where(seen, model.noise.variance(points), variance)
    size = np.einsum("mki,mi->mk", np.square(at_points), noise)
    size += np.einsum("mkk->mk", model.slack(points, at_points))
    own = np.square(at_points) * noise[:, np.newaxis, :]
    with np.errstate(all="ignore"):
        # Error of a column by one law alone, all other columns being as sure as they are.
        error = (size[:, :, np.newaxis] - own) / np.square(at_points)
        error = np.where(at_points != 0.0, error, np.inf)
        broken = np.square(values) / size
    broken = np.where(model.system.involved, broken[:, :, np.newaxis], -1.0)
    is_gap = ~np.isfinite(X)
    best = np.argmin(np.nan_to_num(error, nan=np.inf), axis=1)
    least = np.take_along_axis(error, best[:, np.newaxis], 1)[:, 0]
    says = least < np.square(settings.SAYS * model.prior.spread)
    law = np.where(is_gap & says, best, law)
    most = np.argmax(np.nan_to_num(broken, nan=np.inf), axis=1)
    return np.where(~is_gap & model.system.involved.any(axis=0), most, law)


def lines_of(
    rows: RepairedRows, X: np.ndarray, names: Sequence[str], laws: Sequence[Law], start: int
) -> list[CellRepair]:
    """Return one line per cell that was changed or is in doubt, row by row."""
    doubt = (rows.probability >= settings.NAMED) & ~rows.wrong & ~rows.gaps
    moved = (rows.values != X) & ~rows.gaps & ~rows.wrong & ~doubt
    lines = []
    for i, j in np.argwhere(rows.gaps | rows.wrong | doubt | moved).tolist():
        kind = RECONCILED
        if rows.gaps[i, j]:
            kind = GAP
        elif rows.wrong[i, j] or doubt[i, j]:
            kind = WRONG if rows.wrong[i, j] else AMBIGUOUS
        place = int(rows.law[i, j])
        lines.append(
            CellRepair(
                start + i,
                str(names[j]),
                kind,
                math.nan if kind == GAP else float(X[i, j]),
                float(rows.values[i, j]),
                float(rows.std[i, j]),
                laws[place] if place >= 0 else None,
                1.0 if kind == GAP else float(rows.probability[i, j]),
            )
        )
    return lines
