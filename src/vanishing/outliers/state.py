"""A detector's fit to rows, and its update by a batch: all that is known, without the rows."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from vanishing._threads import spread
from vanishing.estimators.progress import Progress
from vanishing.outliers import settings
from vanishing.outliers.building import Built, build
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.drift import decay_of, followed, measured_on
from vanishing.outliers.equations import (
    DetectorLaw,
    constant_laws,
    laws_from,
)
from vanishing.outliers.features import features_of
from vanishing.outliers.model import Model, Residuals, doubt_of
from vanishing.outliers.monomials import MonomialSums, monomials_of
from vanishing.outliers.passes import PIECE, Sampled
from vanishing.outliers.quantiles import quantiles
from vanishing.outliers.robust import (
    Accumulate,
    Rule,
    Sums,
    distances,
    ridges,
    rule_of,
    rules,
    whitener,
)
from vanishing.rows.source import RowPart


@dataclass(frozen=True, eq=False)
class DetectorState:
    """What a detector has learned: a value, from which scores, laws and reasons follow.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    model : Model
    sums : pair of Sums
        Moments of the bulk, and of laws.
    middle : array of shape (2,)
        Distances of the middle row, by both.
    monomials : MonomialSums
        For equations that can be read.
    calibration : Calibration
    weight : float
        Of all rows so far.
    n_rows : float
        How many different rows there are.
    n_samples : int
    known : tuple of DetectorLaw
        Laws of the first batch that had any, with their errors on the last one; empty where no
        batch has come since.
    """

    names: tuple[str, ...]
    model: Model
    sums: tuple[Sums, Sums]
    middle: np.ndarray
    monomials: MonomialSums
    calibration: Calibration
    weight: float
    n_rows: float
    n_samples: int
    known: tuple[DetectorLaw, ...] = ()

    @cached_property
    def laws(self) -> tuple[DetectorLaw, ...]:
        """Laws that hold, and known ones that hold no longer; searched for when first read.

        The search takes longer than many a fit, and nobody may ask. It reads the other attributes
        alone, so that it does not matter when it is done.
        """
        features = self.model.features
        now = laws_from(self.monomials, self.names)
        now += constant_laws(features.constant, features.value, self.names, self.n_samples)
        return followed(self.known, now)

    def __getstate__(self):
        """Return what is pickled: the same whether or not laws were read."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def fit_state(
    ask, names: tuple[str, ...], seed: int, max_degree: int, neighbours: bool | str = False
) -> tuple[DetectorState, np.ndarray, np.ndarray]:
    """Fit to all rows; return also the rows of a sample, and what they count.

    Parameters
    ----------
    ask : callable
        ``ask(question, combine)`` returns the combined answers of all blocks.
    names : tuple of str
        Of the columns.
    seed : int
    max_degree : int
    neighbours : bool or "auto", default=False
        Whether rows are compared with others.
    """
    progress = Progress("VanishingOutlierDetector", of=4)
    drawn = Sampled(seed)
    sample = ask(drawn, drawn.combine)
    n_rows = 0 if sample is None else sample.n_samples
    if n_rows < settings.LEAST_ROWS:
        raise ValueError(
            f"n_samples = {n_rows} is too few to learn what is normal: at least "
            f"{settings.LEAST_ROWS} rows are needed."
        )
    X, weight = drawn.in_order(sample)
    progress.step(f"drew a sample of {len(X)} rows")
    features = features_of(X, weight, max_degree)
    total = sample.total_weight
    is_whole = weight.sum() > (1.0 - 1e-12) * total  # whether the sample has all rows
    different = float(len(X) if is_whole else n_rows)
    progress.step(f"chose {features.size} features of {X.shape[1]} columns")
    both = rules(features, X, weight, different)
    accumulate = Accumulate(features, both)
    sums = accumulate.of_rows(X, weight) if is_whole else ask(accumulate, accumulate.combine)
    progress.step("summed their moments")
    n_bulk = different * sums[0].weight / total
    built = build(features, sums, both, n_bulk, X, weight, neighbours)
    progress.step("fitted residuals and laws")
    state = DetectorState(
        names,
        built.model,
        sums,
        built.middle,
        _monomials(
            built,
            X[: settings.FIT_ROWS],
            weight[: settings.FIT_ROWS],
            max_degree,
            both[1].laws is not None,
        ),
        Calibration.of(
            built.scores,
            built.off,
            built.side,
            weight * (total / weight.sum()),
            np.random.default_rng(seed),
        ),
        total,
        different,
        n_rows,
    )
    return state, X, weight


def _monomials(built: Built, X, weight, max_degree: int, drifts: bool) -> MonomialSums:
    """Return the moments behind readable equations, of rows weighted as for laws."""
    features = built.model.features
    empty = monomials_of(features.varying, features.origin, features.spread, max_degree, len(X))
    counts = built.counts * weight.sum()
    scores = built.scores[: len(X)]
    counts[scores < quantiles(scores, weight, (settings.ODD,))[0]] = 0.0
    # Else noise that grows over decades might look wrong, and errors come out too small.
    wrong = built.wrong[: len(X)] & drifts
    counts[wrong] = 0.0
    measured = _measured(built.parts[:, : len(X)], np.where(wrong, 0.0, weight))
    return empty.plus(X, counts, measured)


def _measured(parts: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what rows count where laws are measured: as they are, but for those that are wrong.

    Where noise grows over decades, right rows are as far off as these: most distances tell, which
    are spread more widely above their middle then.
    """
    low, middle, upper, high = quantiles(parts[1], weight, (0.25, 0.5, 0.75, settings.HIGH))
    limit = settings.WRONG
    if upper - middle > settings.SKEWED * (upper - low):
        limit = max(limit, settings.WRONG_OVER_HIGH * high)
    return np.where(parts[1] > limit, 0.0, weight)


def updated(
    state: DetectorState, X: np.ndarray, weight: np.ndarray, half_life, limits
) -> DetectorState:
    """Return what is known after a batch, each row of which counts what the model so far says.

    What came before counts half after ``half_life`` rows. The columns' units, the products among
    the features and the local noise stay those of the first batch.

    Parameters
    ----------
    state : DetectorState
    X : array of shape (n_rows, n_columns)
    weight : array of shape (n_rows,)
    half_life : float or None
    limits : pair of float
        The threshold, and the share of rows that may be below it: what is far more than that is
        a fault or a drift, and must not become what is normal.
    """
    model = state.model
    decay = decay_of(len(X), half_life)
    rows = RowPart(X, None, weight)
    # Before the rows are learned from.
    parts, off = (
        np.concatenate(spread(lambda part, of=of: of(part.X), rows.pieces(PIECE)), axis=-1)
        for of in (model.parts, model.off)
    )
    scores, (off, side) = model.scores_of(parts), off
    total = float(weight.sum())
    both = _rules_so_far(state, X, weight, total / (decay * state.weight + total))
    batch = Accumulate(model.features, both)(rows)
    n_rows = decay * state.n_rows + len(X)
    bulk, law = (
        (old.times(decay) + new)._replace(ridge=ridge)
        for old, new, ridge in zip(
            state.sums, batch, ridges(model.features.size, n_rows), strict=True
        )
    )
    known = state.calibration
    if not known.off.any():  # they tell nothing of these columns
        off, side = np.zeros((2, len(X)))
    z = model.features.standardised(X, settings.FIT_LIMIT)
    counts = weight * both[1].of_distances(distances(model.features, z, both[1].whitener))
    counts[scores < quantiles(known.scores, known.counts, (settings.ODD,))[0]] = 0.0
    # A seed that the state determines: the same after it was saved and loaded.
    random = np.random.default_rng(state.n_samples)
    white, n = whitener(bulk), model.features.n
    weight_so_far = decay * state.weight + total
    return replace(
        state,
        model=model._replace(
            bulk=Residuals.of(white, n),
            law=Residuals.of(whitener(law), n),
            doubt=doubt_of(white, n_rows * bulk.weight / weight_so_far),
            around=model.around.followed(
                z, np.where(scores < limits[0], 0.0, weight), total / weight_so_far, random
            ),
        ),
        sums=(bulk, law),
        middle=np.array([rule.middle for rule in both]),
        monomials=state.monomials.plus(X, counts, _measured(model.scaled(parts), weight), decay),
        calibration=known.plus(
            Calibration.of(scores, off, side, _bounded(scores, weight, *limits), random), decay
        ),
        weight=weight_so_far,
        n_rows=n_rows,
        n_samples=state.n_samples + len(X),
        known=measured_on(state.known or state.laws, X),
    )


def _rules_so_far(state: DetectorState, X, weight, share: float) -> tuple[Rule, Rule]:
    """Return what rows of a batch count, by the moments so far.

    The distance of the middle row follows that of the batch, by the batch's share of all weight.
    """
    features = state.model.features
    z = features.standardised(X, settings.FIT_LIMIT)
    bulk, law = (
        rule_of(features, z, weight, part, hard=hard)[0]
        for part, hard in zip(state.sums, (True, False), strict=True)
    )
    of_batch = np.log([bulk.middle, law.middle])
    middle = np.exp((1.0 - share) * np.log(state.middle) + share * of_batch).tolist()
    return bulk._replace(middle=middle[0]), law._replace(middle=middle[1])


def _bounded(scores: np.ndarray, weight: np.ndarray, threshold: float, share: float) -> np.ndarray:
    """Return what scores count, those of alarms no more than twice what they should."""
    alarms = scores < threshold
    of_alarms = weight[alarms].sum()
    allowed = settings.PATIENCE * (share * weight.sum() + weight.mean())
    if of_alarms <= allowed:
        return weight
    return np.where(alarms, weight * (allowed / of_alarms), weight)
