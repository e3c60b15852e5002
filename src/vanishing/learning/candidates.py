"""What a search chooses among: scalings, degrees of contrastive generators, oracles of OAVI."""

from itertools import product
from math import comb
from typing import NamedTuple

from vanishing.learning import settings
from vanishing.learning.scaling import SCALINGS
from vanishing.learning.trials import Choice, SearchPoint, Trials


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


def bent(trials: Trials, choice: Choice) -> list[Choice]:
    """Return choices with knots, of a family of contrastive generators of which one was best.

    Curves of one column, with planes and with what was best; then surfaces of two.
    """
    if not choice.is_contrastive:
        return []
    work = trials.n_rows * trials.n_columns * settings.N_KNOTS * trials.n_problems
    if work > settings.MOST_WORK_WITHOUT_GAIN:
        return []
    curves = [choice._replace(max_degree=1, n_knots=settings.N_KNOTS)]
    if choice.max_degree != 1:
        curves.append(choice._replace(n_knots=settings.N_KNOTS))
    n_surfaces = comb(trials.n_columns, 2) * settings.N_PAIR_KNOTS**2
    work = trials.n_rows * n_surfaces * trials.n_problems
    if n_surfaces > trials.n_rows or work > settings.MOST_WORK_WITHOUT_GAIN:
        return curves
    return [*curves, curves[0]._replace(n_pair_knots=settings.N_PAIR_KNOTS)]


def simpler(point: SearchPoint) -> list[list[SearchPoint]]:
    """Return paths from a point to simpler ones: growing slack, and few terms by OAVI."""
    choice = point.choice
    greedy = Choice(choice.scale, "oavi", "omp")
    paths = [[SearchPoint(greedy, psi) for psi in settings.PSIS[:4]]]
    if choice.is_contrastive:
        paths.append([point._replace(choice=choice._replace(slack=s)) for s in settings.SLACKS])
    return paths


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
