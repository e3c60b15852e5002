"""What a search chooses among: scalings, degrees of contrastive generators, oracles of OAVI."""

from itertools import product
from math import comb
from typing import NamedTuple

from vanishing.learning import settings
from vanishing.learning.scaling import SCALINGS
from vanishing.learning.trials import Choice, Trials


class Free(NamedTuple):
    """What the user has not given, and a search may choose."""

    scale: bool
    transformer: bool
    psi: bool


def families(free: Free, trials: Trials) -> list[list[Choice]]:
    """Return what is tried first, the simplest first, with the first scaling.

    Degrees of contrastive generators are left out that have too many terms for the rows, or whose
    eigenvectors or features would take too long.
    """
    scale = SCALINGS[0] if free.scale else None
    if not free.transformer:
        return [[Choice(scale)]]
    if not free.psi:  # the values given are those of OAVI
        return [[Choice(scale, oracle=settings.ORACLES[0])]]
    oavi = [Choice(scale, "oavi", settings.ORACLES[0])]
    contrastive = [
        Choice(scale, "contrastive", max_degree=degree)
        for degree in settings.DEGREES
        if _affordable(degree, trials)
    ]
    return [contrastive, oavi] if contrastive else [oavi]


def _affordable(degree: int, trials: Trials) -> bool:
    n_classes, n_rows = trials.n_classes, trials.n_rows
    n_terms = comb(trials.n_columns + degree, degree)
    if (n_rows + 10 * n_classes * n_terms) * n_terms**2 > settings.MOST_PRODUCTS:
        return False
    n_generators = n_terms * (n_classes - 1)  # about so many have a quotient below 1
    work = n_rows * n_generators * trials.n_problems
    enough_rows = n_terms * settings.ROWS_PER_TERM <= n_rows
    return degree == 1 or (enough_rows and work <= settings.MOST_SCREENED_WORK)


def others(free: Free, choice: Choice) -> list[Choice]:
    """Return the choices that differ in scaling or oracle, as far as these are not given."""
    scales = SCALINGS if free.scale else (None,)
    oracles = settings.ORACLES if choice.oracle is not None else (None,)
    choices = [choice._replace(scale=scale, oracle=o) for scale, o in product(scales, oracles)]
    return [other for other in choices if other != choice]
