"""Why a row has its score: laws it breaks, the columns to blame, and what was expected of them."""

from typing import TypedDict

import numpy as np

from vanishing.equations.law import Law
from vanishing.outliers import settings
from vanishing.outliers.blame import Blame, Suspects, blame
from vanishing.outliers.gaps import GapFilling, widths
from vanishing.outliers.model import MEAN_SIZE, Model
from vanishing.outliers.robust import slices, whitener
from vanishing.outliers.state import DetectorState

BROKEN, UNUSUAL = "broken law", "unusual combination"


class Reason(TypedDict):
    """Why a row has its score; see `VanishingOutlierDetector.explain`."""

    kind: str
    law: Law | None
    columns: list[str]
    expected: dict[str, float]
    found: dict[str, float]
    shares: dict[str, float]
    probabilities: dict[str, float]


def reasons_of(state: DetectorState, X: np.ndarray, offset: float = np.inf) -> list[list[Reason]]:
    """Return the reasons of rows; see `VanishingOutlierDetector.explain`.

    Only rows whose scores are below ``offset`` break laws: what is no alarm is no broken law.
    """
    # Rows that lack as many cells together.
    order = np.argsort(np.isnan(X).sum(axis=1), kind="stable")
    reasons: dict[int, list[Reason]] = {}
    for chunk in slices(len(X)):
        rows = order[chunk]
        of_rows = _of_chunk(state, np.asarray(X[rows], dtype=np.float64), offset)
        reasons.update(zip(rows.tolist(), of_rows, strict=True))
    return [reasons[row] for row in range(len(X))]


def _of_chunk(state: DetectorState, X, offset: float) -> list[list[Reason]]:
    model, laws, names = state.model, state.laws, state.names
    with np.errstate(all="ignore"):
        excess = [np.abs(known.law.residual(X)) / max(known.error, 1e-9) for known in laws]
    excess = [np.nan_to_num(values, nan=0.0) for values in excess]  # of gaps
    filling = GapFilling.of(model.features, state.sums[1])
    suspects = Suspects.of([str(names[place]) for place in model.features.varying])
    missing, sizes_of_gaps = np.isnan(X[:, model.features.varying]).T, None
    if np.isnan(X).any():
        X = filling(X)
        sizes_of_gaps = widths(model, state.sums, X, missing)
    bulk, law = (np.square(part) for part in model.residuals(X, sizes_of_gaps))
    z = model.features.standardised(X, settings.SCORE_LIMIT)
    size = model.laws.noise(z) / MEAN_SIZE
    white = whitener(state.sums[0])
    by_laws = blame(filling, suspects, X, model.laws.coef, size, law, missing)
    ones = np.ones((len(white), len(X)))
    by_bulk = blame(filling, suspects, X, white.T, ones, bulk, missing)
    n_laws = model.laws.coef.shape[1]
    parts = model.parts(X, sizes_of_gaps)
    scaled = model.scaled(parts)
    broken = by_laws.before > n_laws + settings.FAR * np.sqrt(2.0 * n_laws)
    broken &= model.scores_of(parts) < offset
    parts = np.where(scaled[0] > scaled[1], bulk, law)
    shares = _shares(model, X, parts)
    n_known = (~missing).sum(axis=0)
    all_reasons = []
    for i, row in enumerate(X):
        share = {str(name): float(s) for name, s in zip(names, shares[:, i], strict=True)}
        sizes = [float(values[i]) for values in excess]
        reasons = _constants(model, laws, names, row, share)
        if not reasons and broken[i]:
            reasons = _broken(model, laws, names, row, by_laws, i, sizes, share)
        if not reasons and n_known[i]:
            columns, expected = _named(model, by_bulk, i)
            chance = _chances(model, names, by_bulk, i)
            reasons = [_reason(UNUSUAL, None, names, columns, expected, row, share, chance)]
        all_reasons.append(reasons)
    return all_reasons


def _shares(model: Model, X, parts) -> np.ndarray:
    """Return the share of each column of the table in the score, shape (n_columns, n_rows)."""
    features = model.features
    shares = np.zeros((X.shape[1], len(X)))
    shares[features.varying] = parts
    if len(features.constant):
        off = (X[:, features.constant] - features.value) / features.tolerance
        shares[features.constant] = np.where(np.abs(off) < 1.0, 0.0, np.square(off)).T
    return shares / np.maximum(shares.sum(axis=0), 1e-300)


def _chances(model: Model, names, blamed: Blame, row: int) -> dict[str, float]:
    """Return the probabilities of columns by name."""
    varying = model.features.varying
    return {str(names[varying[c]]): p for c, p in blamed.probabilities(row).items()}


def _named(model: Model, blamed: Blame, row: int) -> tuple[list[int], list[float]]:
    pairs = blamed.of_row(row)
    return [int(model.features.varying[c]) for c, _ in pairs], [value for _, value in pairs]


def _reason(kind, law, names, columns, expected, row, share, chance) -> Reason:
    named = [str(names[c]) for c in columns]
    return {
        "kind": kind,
        "law": law,
        "columns": named,
        "expected": dict(zip(named, expected, strict=True)),
        "found": {name: float(row[c]) for name, c in zip(named, columns, strict=True)},
        "shares": share,
        "probabilities": chance,
    }


def _constants(model: Model, laws, names, row, share) -> list[Reason]:
    """Return reasons of columns that should be constant and are not."""
    features = model.features
    reasons = []
    for column, value, tolerance in zip(
        features.constant, features.value, features.tolerance, strict=True
    ):
        if abs(row[column] - value) > tolerance:
            law = next((known.law for known in laws if known.columns == {column}), None)
            chance = {str(names[column]): 1.0}
            reasons.append(
                _reason(BROKEN, law, names, [column], [float(value)], row, share, chance)
            )
    return reasons


def _broken(model: Model, laws, names, row, blamed: Blame, i, sizes, share) -> list[Reason]:
    """Return the laws that are broken most, of those that the columns to blame occur in."""
    columns, expected = _named(model, blamed, i)
    chance = _chances(model, names, blamed, i)
    order = sorted(range(len(laws)), key=lambda j: -sizes[j])
    about = [j for j in order if laws[j].columns & set(columns)]
    # Where noise is local, the law that is broken most need not be far off by its mean error.
    about = about[:1] + [j for j in about[1 : settings.LAWS_SHOWN] if sizes[j] > settings.OFF]
    shown = [laws[j].law for j in about] or [None]
    return [_reason(BROKEN, law, names, columns, expected, row, share, chance) for law in shown]
