"""Laws that follow from others, or nearly do: they would count as news, and are none."""

from collections.abc import Sequence

import numpy as np

from vanishing.equations.law import Law
from vanishing.fitting.projection import project
from vanishing.repair import settings
from vanishing.repair.noise import LawValues
from vanishing.repair.prior import middle_spreads
from vanishing.repair.system import LawSystem


def distance(law: Law, names: Sequence[str], rows: np.ndarray, spread: np.ndarray) -> float:
    """Return how far the middle row is from a law, in spreads of the columns."""
    laws = LawValues.of(LawSystem([law], names), rows, spread)
    known = laws.known[:, 0]
    return float(np.median(np.abs(laws.values / laws.unit)[known])) if known.any() else np.inf


def independent(laws: Sequence[Law], names: Sequence[str], rows: np.ndarray, seed: int):
    """Return the laws that do not follow from shorter ones, the shortest first.

    Rows obey all laws, and cannot tell. So points are made of values of different rows, moved to
    where the laws so far hold, and each further law is evaluated there.

    Parameters
    ----------
    laws : sequence of Law
    names : sequence of str
    rows : array of shape (n_rows, n_columns)
        NaN in gaps.
    seed : int
        Which values make a point.
    """
    spread = middle_spreads(rows)
    own = {id(law): distance(law, names, rows, spread) for law in laws}
    mixed = _mixed(rows, np.random.default_rng(seed))
    kept: list[Law] = []
    for law in sorted(laws, key=lambda law: (law.n_terms, own[id(law)])):
        points = _where_they_hold(kept, names, mixed, spread)
        limit = min(settings.IMPLIED * own[id(law)], settings.IMPLIED_MOST)
        # Values that are exact differ by rounding.
        if not distance(law, names, points, spread) <= max(limit, settings.EXACT):
            kept.append(law)
    return kept


def _mixed(rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return points whose columns have values of rows, each of another one."""
    columns = []
    for column in rows.T:
        columns.append(random.choice(column[np.isfinite(column)], settings.POINTS))
    return np.column_stack(columns)


def _where_they_hold(laws, names, points, spread) -> np.ndarray:
    """Return points moved to where laws hold, without those that went far."""
    if not laws:
        return points
    system = LawSystem(laws, names)
    whitening = np.tile(np.diag(1.0 / spread), (len(points), 1, 1))
    unit = np.maximum(LawValues.of(system, points, spread).unit, 1e-150)
    size = np.square(settings.EXACT * unit)
    slack = size[:, :, np.newaxis] * np.eye(len(laws))
    answer = project(system, points, whitening, slack, size)
    low, high = points.min(axis=0) - spread, points.max(axis=0) + spread
    inside = ((answer.points > low) & (answer.points < high)).all(axis=1)
    return answer.points[answer.converged & inside]
