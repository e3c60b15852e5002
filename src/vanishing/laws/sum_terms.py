"""Sums of many columns with a few terms that are no column: squares, products, functions.

Such a term is a further column, so that sums are told as they are without it.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.terms import Evaluator, Factor, Term, monomial
from vanishing.fitting import settings as of_fitting
from vanishing.fitting.lack_of_fit import standardised
from vanishing.laws import settings
from vanishing.laws.choose import Choice
from vanishing.laws.linear import sum_of_columns
from vanishing.laws.links import lifted
from vanishing.laws.problem import LawTable
from vanishing.laws.reductions import ReductionState

_FUNCTIONS = (("sin", 1.0), ("cos", 1.0), ("exp", -1.0), ("log", 1.0), ("sqrt", 1.0))
_POSITIVE = ("log", "sqrt")  # functions that need positive columns
_DEPENDENT = 1e-6  # what is left of a term that the columns nearly span


def sum_with_terms(
    table: LawTable, functions: bool, progress: Callable = lambda: None
) -> Choice | None:
    """Return the law that the target is a sum of columns and of a few other terms, or None.

    Parameters
    ----------
    table : LawTable
        Of many columns, whose sum alone is no law.
    functions : bool
        Whether terms may be functions of a column.
    progress : callable
        Called now and then: it may raise, to interrupt.
    """
    n_columns = len(table.columns)
    # Terms of one dimension would be few, and numbers before others have dimensions.
    if table.dimensions is not None or table.n_observations < settings.ROWS_FOR_ALL * n_columns:
        return None
    if n_columns > settings.SUMMED_COLUMNS:
        return None
    progress()
    chosen = _chosen(table, _dictionary(table, functions), progress)
    if chosen is None:
        return None
    values = Evaluator(table.columns).values(chosen.terms)
    longer = table._replace(
        columns=np.vstack([table.columns, values]),
        positive=np.append(table.positive, (values > 0.0).all(axis=1)),
        log_units=np.append(table.log_units, np.zeros(len(values))),
        places=np.append(table.places, -1 - np.arange(len(values))),
    )
    choice = sum_of_columns(longer, progress, chosen.n_tried)
    if choice is None or (not choice.best.fitted.exact and chosen.evidence < settings.EVIDENCE):
        return None
    evidence = choice.evidence if choice.best.fitted.exact else chosen.evidence
    return _in_columns(choice._replace(evidence=min(choice.evidence, evidence)), table, chosen)


class _Chosen(NamedTuple):
    """Terms that a sum of all columns needs, out of how many, and by how much others are worse."""

    terms: list[Term]
    n_tried: int
    evidence: float


def _dictionary(table: LawTable, functions: bool) -> list[Term]:
    """Return squares and products of columns, and functions of each."""
    unit = np.eye(len(table.columns))
    pairs = combinations_with_replacement(range(len(unit)), 2)
    terms = [monomial(unit[i] + unit[j]) for i, j in pairs]
    for row, positive, size in zip(unit, table.positive, np.exp(table.log_units), strict=True):
        none, own = (0.0,) * len(unit), tuple(row.tolist())
        if positive:
            terms.append(monomial(-row))
        for name, sign in _FUNCTIONS if functions else ():
            if positive or name not in _POSITIVE:
                factor = Factor(FUNCTIONS[name], sign * float(size), own)
                terms.append(Term(none, (factor,)))
    return terms


def _chosen(table: LawTable, terms: list[Term], progress: Callable) -> _Chosen | None:
    """Take in the term that explains most of what a sum of all columns leaves, again and again."""
    rows = table.at(slice(0, settings.CHOICE_ROWS))
    count, root = rows.n_observations, np.sqrt(rows.weight)
    with np.errstate(all="ignore"):
        values = Evaluator(rows.columns).values(terms)
    good = np.isfinite(values).all(axis=1) & (np.ptp(values, axis=1) > 0.0)
    terms = [term for term, is_good in zip(terms, good, strict=True) if is_good]
    values = standardised(values[good], rows.weight) * root
    basis = np.vstack([root, standardised(rows.columns, rows.weight) * root])
    y = standardised(rows.y[np.newaxis], rows.weight)[0] * root
    progress()
    places: list[int] = []
    for _ in range(settings.SUM_TERMS):
        progress()
        gains, left = _gains(basis, values, places, y)
        best, free = int(np.argmax(gains)), count - len(basis) - len(places) - 1
        if left <= (settings.EXACT_LINK**2) * count or free <= 0:
            break
        ratio = gains[best] / max((left - gains[best]) / free, 1e-300)
        if not fdtrc(1.0, free, ratio) < of_fitting.SURE_LACK / len(terms):
            break
        places = _exchanged(basis, values, [*places, best], y)
    if not places:
        return None
    evidence = min(_evidence(basis, values, places, k, y, count) for k in range(len(places)))
    return _Chosen([terms[i] for i in places], len(terms) + len(rows.columns), evidence)


def _gains(basis, values, places: list[int], y) -> tuple[np.ndarray, float]:
    """Return what each term would explain of what the others leave, and how much that is."""
    inside, _ = np.linalg.qr(np.vstack([basis, values[places]]).T)
    outside = values - (values @ inside) @ inside.T
    left = y - inside @ (inside.T @ y)
    own, whole = np.sum(outside**2, axis=1), np.sum(values**2, axis=1)
    with np.errstate(all="ignore"):
        gains = np.where(own > _DEPENDENT * whole, (outside @ left) ** 2 / own, 0.0)
    return gains, float(left @ left)


def _exchanged(basis, values, places: list[int], y) -> list[int]:
    """Return terms, each of them the best beside the others."""
    for k in range(len(places)):
        others = [*places[:k], *places[k + 1 :]]
        best = int(np.argmax(_gains(basis, values, others, y)[0]))
        places = [*places[:k], best, *places[k + 1 :]]
    return places


def _evidence(basis, values, places: list[int], k: int, y, count: float) -> float:
    """Return by how much the best other term in place of one is worse."""
    gains, left = _gains(basis, values, [*places[:k], *places[k + 1 :]], y)
    own = gains[places[k]]
    other = np.delete(gains, places[k]).max(initial=0.0)
    with np.errstate(all="ignore"):
        return float(count * np.log((left - other) / max(left - own, 1e-300)))


def _in_columns(choice: Choice, table: LawTable, chosen: _Chosen) -> Choice:
    """Return a sum of columns and further ones as a law of the columns that these are made of."""
    best = choice.best
    used, fitted = best.reduced.table, best.fitted
    further = {i: chosen.terms[-1 - p] for i, p in enumerate(used.places.tolist()) if p < 0}
    kept = [
        i
        for i, place in enumerate(table.places)
        if place in used.places or any(term.involves(i) for term in further.values())
    ]
    short = table.of_columns(np.array(kept))
    short = short._replace(weight=used.weight, precision=used.precision, noisy=used.noisy)

    def in_kept(exponents) -> tuple[float, ...]:
        return tuple(float(exponents[i]) for i in kept)

    terms = []
    for term in fitted.terms:
        places = np.flatnonzero(term.exponents[:-1])
        if len(places) and int(places[0]) in further:
            own = further[int(places[0])]
            factors = tuple(f._replace(exponents=in_kept(f.exponents)) for f in own.factors)
            terms.append(lifted(Term(in_kept(own.exponents), factors)))
            continue
        row = np.zeros(len(kept) + 1)
        row[-1] = term.exponents[-1]
        for i in places:
            row[np.flatnonzero(short.places == used.places[i])] = 1.0
        terms.append(monomial(row))
    one = np.ones(short.n_rows)
    state = ReductionState(np.zeros(len(kept)), np.eye(len(kept)), short.positive)
    reduced = type(best.reduced)(
        short, state, short.columns, one, short.y, fitted.predicted, fitted.mean_square
    )
    law = best._replace(fitted=fitted._replace(terms=tuple(terms)), reduced=reduced)
    return choice._replace(best=law)
