"""Scores of detectors of outliers as computations."""

import numpy as np

from vanishing.export.computation import Value, constant, join
from vanishing.inspection.formulas import score_model
from vanishing.outliers import settings
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.outliers.features import Features
from vanishing.outliers.model import Model, Noise

_FARTHEST = 1e100  # deviation of a constant column
_FEW_ROWS = 8  # of a group of neighbours, the nearest of which is near enough for most rows


def scores(x: Value, detector: VanishingOutlierDetector) -> tuple[dict[str, Value], Value]:
    """Return the decision values and the scores, as `decision_function` and `score_samples`.

    And what has the sign of the decision values: lower bounds, where these say that a row is
    normal. They need neither the doubt, which most of the text is about, nor all neighbours.
    """
    model = score_model(detector)
    notes = ["Laws of the columns:", *(f"    {law}" for law in detector.laws_)]
    unusual, doubt, broken = _parts(x, model)
    law = _relative(broken.maximum(settings.FLOOR), model, 1)
    most = _relative(unusual.maximum(settings.FLOOR), model, 0)
    doubted = _relative((unusual / (doubt + 1.0)).maximum(settings.FLOOR), model, 0)
    # Where the law decides, no doubt changes it.
    score = (law - most).choose(doubted.maximum(law), law) * -1.0
    least = most.maximum(law) * -1.0
    for part, bound, weight in _around(x, model):
        score = score - part.maximum(0.0) * weight
        least = least - bound.maximum(0.0) * weight
    score = score.noted(notes if len(notes) > 1 else ())
    decision, bound = (value - float(detector.offset_) for value in (score, least))
    return {"decision": decision, "score": score}, bound.choose(decision, bound)


def _relative(part: Value, model: Model, i: int) -> Value:
    """Return a part of scores relative to that of the training rows."""
    return (part.apply("log") - float(model.centre[i])) / float(model.spread[i])


def _parts(x: Value, model: Model) -> tuple[Value, Value, Value]:
    """Return how unusual a row is, the doubt that divides it, and how far it is off laws."""
    features = model.features
    off = _deviation(x, features)
    if not features.n:
        return constant(settings.FLOOR), constant(0.0), off
    z = (x.take(features.varying) - features.centre) / features.scale
    z = z.clip(-settings.SCORE_LIMIT, settings.SCORE_LIMIT)
    values = _values(z, features)
    doubt = _of(values, model.doubt.T)
    doubt = (doubt * doubt).sum().minimum(settings.MOST_DOUBT)
    noise = _noise(z, model.noise)
    bulk = _of(values, model.bulk.coef) / _relative_noise(noise, model.noise)
    law = _of(values, model.law.coef) / noise
    broken = (law * law).sum()
    broken = broken + off if len(features.constant) else broken
    return (bulk * bulk).largest(), doubt, broken


def _around(x: Value, model: Model) -> list[tuple[Value, Value, float]]:
    """Return how far out a row is and how far from others, bounds of these, and what they count."""
    around, parts = model.around, []
    if not len(around.directions):
        return []
    at = (_standardised(x, model.features).take(around.places) - around.middle) / around.unit
    at = at.clip(-settings.FIT_LIMIT, settings.FIT_LIMIT)
    along = at.linear(around.directions, -around.origin)
    far = (along * along).sum().maximum(settings.FLOOR)
    far = _relative(far, model, 2)
    parts.append((far, far, float(around.weights[0])))
    if len(around.rows):
        groups = around.rows.reshape(around.n_groups, -1, len(around.places))
        means = []
        for rows in (groups, groups[:, :_FEW_ROWS]):
            nearest = at.nearest(rows, around.equal).apply("sqrt")
            mean = (nearest.sum() * (1.0 / around.n_groups)).maximum(around.shortest)
            means.append(_relative(mean, model, 3))
        parts.append((means[0], means[1], float(around.weights[1])))
    return parts


def _standardised(x: Value, features: Features) -> Value:
    z = (x.take(features.varying) - features.centre) / features.scale
    return z.clip(-settings.FIT_LIMIT, settings.FIT_LIMIT)


def _of(values: Value, coef: np.ndarray) -> Value:
    """Return combinations of the features; the first feature is 1."""
    return values.linear(coef[1:].T, coef[0])


def _values(z: Value, features: Features) -> Value:
    """Return the features of a row but the first: columns, and products of components."""
    values = [z]
    if features.counts:
        component = z.linear(features.directions.T)
        for degree, p in enumerate(features.counts, start=2):
            level, first = component.take(np.arange(p)), list(range(p))  # the first factor of each
            for _ in range(degree - 1):
                # Those with the first component first; factors come in order.
                longer = [(a, i) for a in range(p) for i, b in enumerate(first) if b >= a]
                first, places = map(list, zip(*longer, strict=True))
                level = level.take(places) * component.take(first)
            values.append(level)
    return join(values)


def _noise(z: Value, noise: Noise) -> Value:
    z = z.clip(-settings.FIT_LIMIT, settings.FIT_LIMIT)
    sizes = join([z, z * z]).linear(noise.coef[1:].T, noise.coef[0])
    return sizes.clip(noise.low, noise.high)


def _relative_noise(sizes: Value, noise: Noise) -> Value:
    """Return noise relative to its mean where laws determine columns, and 1 elsewhere."""
    varies = noise.high > noise.mean
    # Nothing is above the upper end, which is the limit of the noise itself.
    high = np.where(varies, 2.0 * noise.high / noise.mean, 1.0)
    return (sizes / noise.mean).clip(np.where(varies, settings.LOOSE[0], 1.0), high)


def _deviation(x: Value, features: Features) -> Value:
    """Return the square of how far constant columns are from their values, in all."""
    if not len(features.constant):
        return constant(0.0)
    far = (x.take(features.constant) - features.value).apply("abs") / features.tolerance
    far = far.largest().zero_below(settings.CONSTANT_OFF).minimum(_FARTHEST)
    return far * far
