"""What the picture of a report is drawn from: points, and polynomials that the page evaluates."""

import base64

import numpy as np

from vanishing.algebra.markup import clean
from vanishing.report.facts import Facts
from vanishing.report.settings import (
    DECISION_TERMS,
    SCENE_COLUMNS,
    SCENE_POINTS,
    SURFACES,
    SURFACES_OF_CLASS,
)

_MARGIN = 0.08  # beyond the points, relative to their range
_NAME = 24  # characters of a name in the picture


def scene_of(facts: Facts) -> dict | None:
    """Return what the page draws, made of numbers and text; None if there is nothing to draw.

    Columns are those the generators take. Of more than eight the most important ones take part,
    and the polynomials are restricted to the medians of the others.
    """
    n_columns = facts.Z.shape[1]
    if n_columns < 2 or not facts.n_generators:
        return None
    columns = facts.order[:SCENE_COLUMNS]
    if n_columns <= 3:
        columns = np.arange(n_columns)
    centre = np.median(facts.Z, axis=0)
    chosen = _sample(facts)
    points = facts.Z[np.ix_(chosen, columns)]
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    low, high = low - _MARGIN * span, high + _MARGIN * span

    functions, surfaces = _functions(facts, columns, centre)
    if not surfaces:
        return None
    decision = _decision(facts, functions)
    if decision is not None and len(decision["intercept"]) == 1:
        surfaces.append({"score": 0, "colour": None})
    elif decision is not None:
        n_scores = len(decision["intercept"])
        surfaces += [{"score": k, "colour": k} for k in range(n_scores)]
    names = shown_names(facts.names)
    return {
        "names": [names[j] for j in columns],
        "dimension": min(3, n_columns),
        "all": n_columns,
        "low": _rounded(low),
        "high": _rounded(high),
        "units": None if facts.units is None else [_rounded(part[columns]) for part in facts.units],
        "n_points": len(chosen),
        "points": _packed((points - low) / (high - low)),
        "labels": None if facts.y is None else facts.y[chosen].tolist(),
        "wrong": None if facts.wrong is None else np.flatnonzero(facts.wrong[chosen]).tolist(),
        "classes": [clean(v.label, _NAME) for v in facts.varieties if v.label is not None],
        "centres": [_rounded(centre[columns]), *_centres(facts, columns)],
        "functions": functions,
        "surfaces": surfaces,
        "decision": decision,
    }


def shown_names(names, limit=_NAME) -> list[str]:
    """Return names short enough for a picture, and still different from one another."""
    short = [clean(name, limit) for name in names]
    return [s if short.count(s) == 1 else f"{s} #{i}" for i, s in enumerate(short)]


def _rounded(values) -> list[float]:
    return [float(f"{value:.9g}") for value in values]


def _packed(values) -> str:
    """Return numbers in [0, 1] as 16-bit integers in base 64."""
    return base64.b64encode(np.rint(values * 65535).astype("<u2").tobytes()).decode()


def _sample(facts: Facts) -> np.ndarray:
    """Return at most `SCENE_POINTS` rows, the same in every report, small classes not forgotten."""
    rng = np.random.default_rng(0)
    n_rows = len(facts.Z)
    if n_rows <= SCENE_POINTS:
        return np.arange(n_rows)
    if facts.y is None:
        return np.sort(rng.choice(n_rows, SCENE_POINTS, replace=False))
    counts = np.bincount(facts.y, minlength=len(facts.varieties))
    least = min(50, SCENE_POINTS // len(counts))
    quota = np.minimum(counts, np.maximum(least, counts * SCENE_POINTS // n_rows))
    while quota.sum() > SCENE_POINTS:
        quota[quota.argmax()] -= quota.sum() - SCENE_POINTS
    parts = [
        rng.choice(np.flatnonzero(facts.y == k), size, replace=False)
        for k, size in enumerate(quota.tolist())
    ]
    return np.sort(np.concatenate(parts))


def _centres(facts: Facts, columns) -> list[list[float]]:
    if facts.y is None:
        return []
    medians = []
    for k in range(len(facts.varieties)):
        rows = facts.Z[facts.y == k]
        rows = rows if len(rows) else facts.Z
        medians.append(_rounded(np.median(rows[:, columns], axis=0)))
    return medians


def _functions(facts: Facts, columns, centre) -> tuple[list[dict], list[dict]]:
    """Return polynomials in the columns of the picture, and which of them may be drawn."""
    functions: list[dict] = []
    surfaces: list[dict] = []
    of_class = max(1, min(SURFACES_OF_CLASS, SURFACES // len(facts.varieties)))
    if len(facts.varieties) == 1:
        of_class = SURFACES
    for k, variety in enumerate(facts.varieties):
        drawn = 0
        for rank, equation in enumerate(variety.equations, 1):
            if equation.generator is None:
                continue
            used = equation.weights is not None and equation.weights.any()
            if drawn >= of_class and not used:
                continue
            terms, coef = _restricted(equation.generator, columns, centre)
            if drawn < of_class and terms.any():
                drawn += 1
                colour = len(surfaces) if variety.label is None else k
                surfaces.append({"function": len(functions), "colour": colour, "rank": rank})
            weights = [] if equation.weights is None else equation.weights.tolist()
            functions.append({"terms": terms.tolist(), "coef": coef.tolist(), "weights": weights})
    return functions, surfaces


def _restricted(polynomial, columns, centre) -> tuple[np.ndarray, np.ndarray]:
    """Return terms and coefficients in some columns, with the others at ``centre``."""
    others = np.setdiff1d(np.arange(len(centre)), columns)
    factors = (centre[others] ** polynomial.terms[:, others]).prod(axis=1)
    terms, place = np.unique(polynomial.terms[:, columns], axis=0, return_inverse=True)
    coef = np.bincount(place.ravel(), weights=polynomial.coef * factors, minlength=len(terms))
    return terms, coef


def _decision(facts: Facts, functions) -> dict | None:
    """Return what the page needs to know which class it would predict anywhere."""
    n_decisive = sum(any(f["weights"]) for f in functions)
    size = sum(len(f["coef"]) for f in functions if any(f["weights"]))
    if facts.n_used is None or not n_decisive or n_decisive < facts.n_used or size > DECISION_TERMS:
        return None  # nothing linear decides, or equations that the report leaves out have weights
    return {"intercept": facts.intercept.tolist(), "absolute": facts.feature == "|g|"}
