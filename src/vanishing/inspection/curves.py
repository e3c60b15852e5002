"""The curve of a law whose target depends on one variable, with its band, for pictures."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import Apply, Node, Power, Raised, columns_of, of_term, parts_of
from vanishing.algebra.terms import Term
from vanishing.algebra.writing import PlainText
from vanishing.equations.law import Law
from vanishing.equations.parts import Group
from vanishing.inspection.laws import LawRows
from vanishing.inspection.settings import CURVE_POINTS, DECADES

_LOGARITHMS = ("log", "log10", "log2")


class LawCurve(NamedTuple):
    """What a law says along its variable.

    Attributes
    ----------
    group : str, int, float or None
    law : Law
    x, y : ndarray of shape (n_points,)
    low, high : ndarray of shape (n_points,)
        Two standard deviations of a new measurement below and above; NaN where they are not known.

    See Also
    --------
    LawCurves : Several of them, with rows.
    """

    group: Group | None
    law: Law
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray


class LawCurves(NamedTuple):
    """The curves of laws of one form, and rows.

    Attributes
    ----------
    name : str
        Of the variable: a column, or a product of powers of columns.
    column : str or None
        The column, if it is one.
    curves : list of LawCurve
        One, or one per group.
    x : ndarray of shape (n_samples,)
        The variable on the rows.
    rows : LawRows
    logarithmic : (bool, bool)
        Whether the form asks for logarithmic axes, of the variable and of the target.

    See Also
    --------
    law_curves : The curves of a law.
    LawCurve : One of them.
    """

    name: str
    column: str | None
    curves: list[LawCurve]
    x: np.ndarray
    rows: LawRows
    logarithmic: tuple[bool, bool]

    @property
    def shown_x(self) -> np.ndarray:
        """Where rows are drawn: those at zero and below at the left edge of a logarithmic axis."""
        if not self.logarithmic[0]:
            return self.x
        return np.maximum(self.x, self.curves[0].x[0])

    @property
    def n_at_edge(self) -> int:
        """How many rows are drawn at the left edge, where a logarithmic axis has no place."""
        return int(np.count_nonzero(self.x <= 0.0)) if self.logarithmic[0] else 0


def law_curves(laws: tuple[Law, ...], rows: LawRows) -> LawCurves | None:
    """Return the curves of a law, or of laws of groups; None where more than one variable is left.

    Parameters
    ----------
    laws : tuple of Law
        One, or one per group.
    rows : LawRows
        What they say of rows.

    See Also
    --------
    LawCurves : What is returned.
    vanishing.plot.LawCurveDisplay : A picture of a law.
    """
    law = laws[0] if rows.groups is not None else rows.law
    if law.solution is None or law.target != rows.name or not len(rows.measured):
        return None
    exponents = _variable(law)
    if exponents is None:
        return None
    name = PlainText(law.names).write(of_term(Term(tuple(exponents.tolist()))))
    used = np.flatnonzero(exponents)
    single = law.names[used[0]] if len(used) == 1 and exponents[used[0]] == 1.0 else None
    columns = np.array([rows.others.get(other, rows.measured) for other in law.names])
    with np.errstate(all="ignore"):
        x = np.prod(columns[used] ** exponents[used, np.newaxis], axis=0)
    good = np.isfinite(x) & np.isfinite(rows.measured)
    if not good.any() or not np.ptp(x[good]) > 0.0:
        return None
    of_x = _asks_for_logarithm(law.solution, used.tolist()) and _spans_decades(x[good])
    of_y = of_x and _is_power(law.solution) and _spans_decades(rows.measured[good])
    curves = []
    for one in laws if rows.groups is not None else (law,):
        mine = good if rows.groups is None else good & (rows.groups.astype(str) == str(one.group))
        if mine.any():
            curves.append(_curve(one, columns, x, good, exponents, of_x))
    return LawCurves(name, single, curves, x, rows, (of_x, of_y and bool(curves)))


def _curve(law: Law, columns, x, good, exponents: np.ndarray, logarithmic: bool) -> LawCurve:
    """Return what a law says along its variable: one of its columns moves, the others rest."""
    place = int(np.argmax(np.abs(exponents)))
    others = [i for i in np.flatnonzero(exponents) if i != place]
    low, high = float(x[good].min()), float(x[good].max())
    if logarithmic:
        low = float(x[good & (x > 0.0)].min())
        if (x[good] <= 0.0).any():
            low /= (high / low) ** 0.1
        grid = np.geomspace(low, high, CURVE_POINTS)
    else:
        grid = np.linspace(low, high, CURVE_POINTS)
    middle = np.median(columns[:, good], axis=1)
    rest = float(np.prod(middle[others] ** exponents[others]))
    points = np.tile(middle, (CURVE_POINTS, 1))
    with np.errstate(all="ignore"):
        points[:, place] = (grid / rest) ** (1.0 / exponents[place])
        y, std = law.predict(points, return_std=True)
    return LawCurve(law.group, law, grid, y, y - 2 * std, y + 2 * std)


# -- The variable that is left --------------------------------------------------------------------


def _variable(law: Law) -> np.ndarray | None:
    """Return exponents of the product of columns that the target depends on; None if on more."""
    assert law.solution is not None and law.target is not None
    target = law.names.index(law.target)
    exponents = np.zeros(len(law.names))
    places = sorted(columns_of(law.solution) - {target})
    if len(places) == 1:
        exponents[places[0]] = 1.0
        return exponents
    if not places or law.formula is not None or any(law.offsets):
        return None
    alone = [j for j, term in enumerate(law._terms) if term.involves(target)]
    if len(alone) != 1 or law._terms[alone[0]].factors:
        return None
    # What multiplies the target is divided by: the rest has to be a function of one product.
    own = np.array(law._terms[alone[0]].exponents)
    found: list[np.ndarray] = []
    for j, term in enumerate(law._terms):
        if j == alone[0]:
            continue
        shift = np.delete(np.array(term.exponents) - own, target)
        inner = [np.delete(np.array(f.exponents), target) for f in term.factors]
        if any(f.inside is not None for f in term.factors):
            return None
        found += [row for row in (shift, *inner) if np.any(row)]
    if not found or own[target] != 1.0 or np.linalg.matrix_rank(np.array(found)) != 1:
        return None
    shortest = min(found, key=lambda row: float(np.abs(row).sum()))
    row = np.insert(shortest, target, 0.0)
    first = row[np.flatnonzero(row)[0]]
    return row if first > 0 or len(np.flatnonzero(row)) > 1 else -row


def _asks_for_logarithm(node: Node, places: list[int]) -> bool:
    """Say whether columns stand in a power that was fitted, in a broken one, or in a logarithm."""
    for part in parts_of(node):
        match part:
            case Raised(base=inside):
                pass
            case Power(base=inside, exponent=exponent) if exponent % 1.0:
                pass
            case Apply(name=name, argument=inside) if name in _LOGARITHMS:
                pass
            case _:
                continue
        if columns_of(inside) & set(places):
            return True
    return _is_power(node) and len(places) > 1


def _is_power(node: Node) -> bool:
    """Say whether an expression is a product of powers: a line where both axes are logarithmic."""
    return not any(type(part).__name__ in ("Sum", "Apply") for part in parts_of(node))


def _spans_decades(values: np.ndarray) -> bool:
    positive = values[values > 0.0]
    if (values < 0.0).any() or len(positive) < 0.5 * len(values):
        return False
    return bool(positive.max() > 10.0**DECADES * positive.min())
