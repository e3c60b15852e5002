"""Laws as rules: written with few digits, with a tolerance that right rows keep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, isfinite, log, log10
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    Symbol,
    columns_of,
    evaluate,
    relabelled,
)
from vanishing.equations.law import Law
from vanishing.inspection.formulas import law_formula
from vanishing.rules import settings
from vanishing.rules.kinds import LawRule
from vanishing.rules.tails import UpperTail

_DIGITS = range(1, 18)
_SHARES = (0.0, 0.3, 1.0, 3.0, 1e9)  # of noise in proportion to the left side, beside the rest
_ROUNDING = 1e-12  # of floating-point numbers, relative to the left side


class CheckedLaw(NamedTuple):
    """A law on rows.

    Attributes
    ----------
    rule : LawRule
        Without its tolerance.
    left, residual : ndarray of shape (n_rows,)
        The left side, and it minus the right side; NaN where a cell is missing.
    spread : float
        Of the left side; of the largest term where the left side is all of the law.
    noise : tuple of two floats
        Its size is the first plus the second times the left side.
    wrong : ndarray of bool of shape (n_rows,)
        Rows that break the law.
    """

    rule: LawRule
    left: np.ndarray
    residual: np.ndarray
    spread: float
    noise: tuple[float, float]
    wrong: np.ndarray

    @property
    def error(self) -> float:
        """The size of the residuals of right rows, relative to the spread."""
        known = self.residual[~self.wrong & np.isfinite(self.residual)]
        return float(np.sqrt((known**2).mean())) / self.spread

    def with_tolerance(self, rate: float) -> LawRule | None:
        """Return the rule whose tolerance right rows exceed at a rate; None if it is loose."""
        known = ~self.wrong & np.isfinite(self.residual)
        left, (base, slope) = np.abs(self.left[known]), self.noise
        limit = UpperTail(np.abs(self.residual[known]) / (base + slope * left)).end(rate)
        tolerance = limit * base
        if not slope:
            tolerance = max(tolerance, _ROUNDING * float(left.max(initial=1e-300)))
        rule = replace(self.rule, tolerance=upward(tolerance), relative=upward(limit * slope))
        if slope and limit * slope * float(np.median(left)) > 1e6 * tolerance:
            rule = replace(rule, tolerance=0.0)
        typical = rule.tolerance + rule.relative * float(np.median(left))
        return rule if typical <= settings.LOOSEST * self.spread else None


def checked_law(law: Law, columns: Mapping[str, np.ndarray]) -> CheckedLaw | None:
    """Return a law as rows know it; None where too many rows break it.

    Parameters
    ----------
    law : Law
    columns : mapping from str to ndarray of shape (n_rows,)
    """
    rule = rule_of(law)
    values = [columns[name] for name in rule.columns]
    rule = _with_few_digits(rule, values)
    with np.errstate(all="ignore"):
        left, right = (np.broadcast_to(evaluate(s, values), values[0].shape) for s in _sides(rule))
        residual = left - right
        spread = _spread(rule, values)
    known = np.isfinite(residual)
    if known.sum() < settings.FEWEST_ROWS or not spread > 0.0:
        return None
    noise = _noise(residual[known], np.abs(left[known]), isinstance(rule.left, Column))
    size = np.abs(residual) / (noise[0] + noise[1] * np.abs(left))
    # The larger one of two robust estimates: of rounded numbers, most residuals may be zero.
    usual = max(1.48 * float(np.median(size[known])), float(np.quantile(size[known], 0.8)) / 1.28)
    wrong = known & (size > max(_largest_right(size[known], usual), _ROUNDING))
    if wrong.sum() > settings.MOST_WRONG * known.sum():
        return None
    return CheckedLaw(rule, left, residual, spread, noise, wrong)


def rule_of(law: Law) -> LawRule:
    """Return a law as a rule without a tolerance, in the columns that occur."""
    formula = law_formula(law)
    left: Node = formula.node
    right: Node = Number(0.0)
    if formula.is_solved and law.target is not None:
        left, right = Column(law.names.index(law.target)), formula.node
    used = sorted(columns_of(left) | columns_of(right))
    if isinstance(left, Column):  # the column that the law is about comes first
        used = [left.place, *(i for i in used if i != left.place)]
    left, right = (relabelled(side, used.index) for side in (left, right))
    return LawRule(tuple(law.names[i] for i in used), left, right, 0.0)


def with_normal_tolerance(law: Law, rate: float) -> LawRule:
    """Return a law as a rule whose tolerance is made for normal noise of the law's own error."""
    if law.target is None or not isfinite(law.error):
        raise ValueError(
            f"the law {law} has no error in units of a column, so that its tolerance needs rows: "
            "give X."
        )
    return replace(rule_of(law), tolerance=upward(law.error * float(norm.isf(rate / 2.0))))


def without_weaker(laws: Sequence[CheckedLaw]) -> list[CheckedLaw]:
    """Leave out laws that hold less well than another one about the same columns.

    So are those about more columns that hold no better, and rough ones about fewer: where gross is
    net and tax, it is about 1.2 net.
    """
    kept: list[CheckedLaw] = []
    for law in sorted(laws, key=lambda law: (law.error, len(law.rule.columns))):
        columns = set(law.rule.columns)
        others = [(set(other.rule.columns), other.error) for other in kept]
        is_rough = law.error > settings.ROUGH
        if not any(
            columns >= other or (is_rough and columns < other and settings.BETTER * e < law.error)
            for other, e in others
        ):
            kept.append(law)
    return [law for law in laws if any(law is other for other in kept)]


def _sides(rule: LawRule) -> tuple[Node, Node]:
    return rule.left, rule.right


def _spread(rule: LawRule, values: list[np.ndarray]) -> float:
    """Return the standard deviation of the left side, or of the largest term of all of the law."""
    parts = rule.left.parts if isinstance(rule.left, Sum) else (rule.left,)
    return max(float(np.nanstd(evaluate(part, values))) for part in parts)


def _noise(residual: np.ndarray, left: np.ndarray, is_column: bool) -> tuple[float, float]:
    """Return how noise grows with the left side, by the likelihood of double exponentials."""
    middle = float(np.median(left))
    near = np.abs(residual) <= np.quantile(np.abs(residual), 1.0 - settings.MOST_WRONG)
    residual, left = np.abs(residual[near]), left[near]
    if not is_column or not middle or not residual.any():
        return 1.0, 0.0
    costs = []
    for share in _SHARES:
        size = 1.0 + share * left / middle
        costs.append(float(np.log(size).mean() + np.log((residual / size).mean())))
    best = int(np.argmin(costs))
    if costs[0] - costs[best] < 3.0 * log(len(left)) / len(left):
        return 1.0, 0.0
    return 1.0, _SHARES[best] / middle


def _largest_right(size: np.ndarray, usual: float) -> float:
    """Return up to where residuals are those of right rows.

    Beyond the usual ones, that is as far as their tail goes on, unless too many are there: wrong
    rows make a tail, too.
    """
    low, high = (factor * usual for factor in settings.WRONG)
    beyond = np.count_nonzero(size > low)
    if not beyond or beyond > settings.MOST_BEYOND * len(size):
        return low
    limit, known = low, 0
    while limit < high and known < (count := int(np.count_nonzero(size <= limit))):
        known = count
        limit = max(limit, UpperTail(size[size <= limit]).end(0.1 / len(size)))
    return min(limit, high)


def _with_few_digits(rule: LawRule, values: list[np.ndarray]) -> LawRule:
    """Leave out digits of numbers that change the residual by little."""
    with np.errstate(all="ignore"):
        left, right = evaluate(rule.left, values), evaluate(rule.right, values)
        residual = left - right
        known = np.isfinite(residual)
        usual = float(np.median(np.abs(residual[known]))) if known.any() else 0.0
        limit = settings.ROUNDING * usual + _ROUNDING * float(np.abs(left[known]).max(initial=0.0))
        for digits in _DIGITS:
            sides = [_rounded(side, digits) for side in (rule.left, rule.right)]
            change = evaluate(sides[0], values) - evaluate(sides[1], values) - residual
            if (np.abs(change[known]) <= limit).mean() > 0.9:
                return replace(rule, left=sides[0], right=sides[1])
    return rule


def _rounded(node: Node, digits: int) -> Node:
    """Return an expression whose numbers have so many digits, and no standard errors."""

    def rounded(part: Node) -> Node:
        return _rounded(part, digits)

    match node:
        case Number(value=value) | Symbol(value=value):
            return Number(float(f"{value:.{digits}g}"))
        case Power(base=base, exponent=exponent):
            return Power(rounded(base), exponent)
        case Raised(base=base, exponent=exponent):
            return Raised(rounded(base), rounded(exponent))
        case Apply(argument=argument):
            return replace(node, argument=rounded(argument))
        case Product(parts=parts):
            kept = tuple(p for p in map(rounded, parts) if p != Number(1.0))
            return kept[0] if len(kept) == 1 else Product(kept or (Number(1.0),))
        case Sum(parts=parts):
            return Sum(tuple(map(rounded, parts)))
    return node


def upward(value: float) -> float:
    """Return a number of three digits that is not below another one."""
    if not value > 0.0 or not isfinite(value):
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 2)
    return float(f"{(floor(value / step) + 1) * step:.3g}")
