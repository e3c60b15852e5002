"""What columns explain of the residuals of an equation."""

from typing import NamedTuple

from vanishing.fitting.lack_of_fit import Lack, LackOfFit
from vanishing.laws import settings
from vanishing.laws.given_problem import Problem


class LeftOver(NamedTuple):
    """What columns explain of residuals, and without which of them it is significantly less."""

    lack: Lack
    names: list[str]


def left_over_of(problem: Problem, names, target: int | None, residuals, name=True) -> LeftOver:
    """Ask what smooth functions of the other columns explain of residuals."""
    step = -(-len(residuals) // settings.TESTED_ROWS)
    chosen, left = problem.rows(slice(None, None, step)), residuals[::step]
    others = [i for i, row in enumerate(chosen.columns) if i != target and row.min() < row.max()]
    if not others or len(left) < 5:
        return LeftOver(Lack(), [])
    test = LackOfFit(chosen.columns[others], chosen.weight)
    asked = enumerate(others) if name else ()
    explaining = [names[i] for j, i in asked if test.p_value_of(j, left) < settings.SIGNIFICANT]
    return LeftOver(test(left), explaining)
