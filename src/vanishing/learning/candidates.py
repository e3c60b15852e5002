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

    Contrastive generators of one degree after the other; the same without absolute values, so that
    decisions are single polynomials; and the generators of OAVI. Degrees are left out that have too
    many terms for the rows, or whose eigenvectors or features would take too long.
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
    if not contrastive:
        return [oavi]
    return [contrastive, [choice._replace(absolute=False) for choice in contrastive], oavi]


class Bend(NamedTuple):
    """A choice with further generators, which vanish at knots, and the one without these."""

    straight: Choice
    choice: Choice
    work: float  # of a pass over all features


def curves(trials: Trials, choice: Choice) -> list[Bend]:
    """Return curves of columns, with planes and with what was best."""
    bases = [choice] if choice.max_degree == 1 else [choice._replace(max_degree=1), choice]
    n_further = trials.n_columns * settings.N_KNOTS
    return [
        _bend(trials, base, base._replace(n_knots=settings.N_KNOTS), n_further) for base in bases
    ]


def levels(trials: Trials, choice: Choice) -> list[Bend]:
    """Return curves of the generators of what was best."""
    n_further = settings.N_LEVELS * _n_generators(choice.max_degree or 0, trials)
    return [_bend(trials, choice, choice._replace(n_levels=settings.N_LEVELS), n_further)]


def surfaces(trials: Trials, choice: Choice) -> list[Bend]:
    """Return surfaces of two columns, with what was best."""
    n_knots = settings.N_PAIR_KNOTS
    n_further = n_knots**2 * min(comb(trials.n_columns, 2), trials.max_pairs)
    if not n_further:
        return []
    return [_bend(trials, choice, choice._replace(n_pair_knots=n_knots), n_further)]


BENDS = (curves, levels, surfaces)  # in the order in which they are tried


def _bend(trials: Trials, straight: Choice, choice: Choice, n_further: int) -> Bend:
    n_generators = _n_generators(straight.max_degree or 0, trials) + n_further
    return Bend(straight, choice, trials.n_rows * n_generators * trials.n_problems)


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
    work = n_rows * _n_generators(degree, trials) * trials.n_problems
    enough_rows = n_terms * settings.ROWS_PER_TERM <= n_rows
    return degree == 1 or (enough_rows and work <= settings.MOST_SCREENED_WORK)


def _n_generators(degree: int, trials: Trials) -> int:
    """Return about how many contrastive generators there are, with a quotient below 1."""
    return comb(trials.n_columns + degree, degree) * (trials.n_classes - 1)


def others(free: Free, choice: Choice) -> list[Choice]:
    """Return the choices that differ in scaling or oracle, as far as these are not given."""
    scales = SCALINGS if free.scale else (None,)
    oracles = settings.ORACLES if choice.oracle is not None else (None,)
    choices = [choice._replace(scale=scale, oracle=o) for scale, o in product(scales, oracles)]
    return [other for other in choices if other != choice]
