"""Training rows with gaps: filled in by what a first fit expects, and as much noise as it has."""

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.features import Features
from vanishing.outliers.gaps import GapFilling
from vanishing.outliers.passes import Sampled
from vanishing.outliers.state import fit_state
from vanishing.rows.array_source import ArraySource
from vanishing.rows.source import RowPart, RowSource


class FilledRows:
    """Converts rows with gaps into rows without."""

    def __init__(self, filling: GapFilling, seed: int):
        self.filling, self.seed = filling, seed

    def __call__(self, part: RowPart) -> RowPart:
        """Return the rows filled in."""
        if not np.isnan(part.X).any():
            return part
        return part._replace(X=self.filling(part.X, self.seed))


def without_gaps(source: RowSource, names, seed: int, max_degree: int) -> RowSource:
    """Return training rows without gaps.

    Rows without gaps make the first fit if they are enough, or else what pairs of columns have in
    common. What it expects of missing cells makes the next one.

    Parameters
    ----------
    source : RowSource
    names : tuple of str
        Of the columns.
    seed : int
    max_degree : int
    """
    if not source.ask(_has_gaps, np.logical_or):
        return source
    drawn = Sampled(seed)
    sample = source.ask(drawn, drawn.combine)
    X, weight = np.ascontiguousarray(sample.columns.T), sample.weight
    empty = np.isnan(X).all(axis=0)
    if empty.any():
        raise ValueError(f"column {names[int(empty.argmax())]!r} has no values: leave it out.")
    complete = ~np.isnan(X).any(axis=1)
    if np.count_nonzero(complete) >= settings.ROWS_PER_FEATURE * (1 + X.shape[1]):
        filling = _learned(X[complete], weight[complete], names, seed, max_degree)
    else:
        filling = _pairwise(X)
    for _ in range(settings.GAP_FITS):
        filling = _learned(filling(X, seed), weight, names, seed, max_degree)
    return source.converted(FilledRows(filling, seed))


def _has_gaps(part: RowPart) -> bool:
    return bool(np.isnan(part.X).any())


def _learned(X: np.ndarray, weight: np.ndarray, names, seed: int, max_degree: int) -> GapFilling:
    """Return what a fit to rows without gaps expects."""
    state = fit_state(ArraySource(RowPart(X, None, weight)).ask, names, seed, max_degree)[0]
    return GapFilling.of(state.model.features, state.sums[1])


def _pairwise(X: np.ndarray) -> GapFilling:
    """Return what follows from the correlations of pairs of columns, each over its own rows."""
    centre = np.nanmedian(X, axis=0)
    low, high = np.nanquantile(X, (0.25, 0.75), axis=0)
    # Columns whose middle half is one value vary elsewhere, perhaps.
    scale = np.where(high > low, high - low, np.nanmax(np.abs(X - centre), axis=0))
    varies = scale > settings.CONSTANT * np.maximum(np.abs(centre), 1e-290)
    varying, constant = np.flatnonzero(varies), np.flatnonzero(~varies)
    scale, n = scale[varying], len(varying)
    known = np.isfinite(X[:, varying])
    z = np.where(known, (X[:, varying] - centre[varying]) / scale, 0.0)
    z = np.clip(z, -settings.PAIR_LIMIT, settings.PAIR_LIMIT)
    pairs = np.maximum(known.T.astype(np.float64) @ known, 1.0)
    values, vectors = np.linalg.eigh(z.T @ z / pairs)
    # Correlations of different rows need not be those of any table.
    values = np.maximum(values, settings.PAIR_RIDGE * max(values[-1], 1e-300)) if n else values
    features = Features.linear(varying, centre[varying], scale, constant, centre[constant])
    precision = (vectors / values) @ vectors.T
    return GapFilling(features, np.zeros((1 + n, 1 + n)), np.zeros(n), precision)
