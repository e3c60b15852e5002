"""What a fitted detector saves: its state as JSON values, and back."""

import math

import numpy as np

from vanishing.outliers.calibration import Calibration
from vanishing.outliers.equations import Monomials
from vanishing.outliers.features import Features
from vanishing.outliers.model import Laws, Model, Noise, Residuals, doubt_of
from vanishing.outliers.robust import BULK_RIDGE, LAW_RIDGE, Sums
from vanishing.outliers.state import State


def write_state(writer, state: State) -> dict:
    """Write all that a detector has learned."""
    model, features = state.model, state.model.features
    arrays = {
        "varying": features.varying,
        "centre": features.centre,
        "scale": features.scale,
        "directions": features.directions,
        "constant": features.constant,
        "value": features.value,
        "bulk_gram": state.sums[0].gram,
        "law_gram": state.sums[1].gram,
        "noise_coef": model.noise.coef,
        "noise_low": model.noise.low,
        "noise_high": model.noise.high,
        "equations": model.laws.coef,
        "equations_noise_coef": model.laws.noise.coef,
        "equations_noise_low": model.laws.noise.low,
        "equations_noise_high": model.laws.noise.high,
        "middle_score": model.centre,
        "spread_score": model.spread,
        "middle": state.middle,
        "exponents": state.monomials.exponents,
        "unit": state.monomials.unit,
        "monomials": state.monomials.gram,
        "scores": state.calibration.scores,
        "score_weight": state.calibration.weight,
        "draw": state.calibration.draw,
    }
    return {
        **{name: writer.array(values, name) for name, values in arrays.items()},
        "counts": list(features.counts),
        "weights": [float(part.weight) for part in state.sums],
        "limit": writer.float(state.calibration.limit),
        "square_weight": writer.float(state.monomials.square_weight),
        "n_monomials": state.monomials.n_samples,
        "weight": writer.float(state.weight),
        "n_rows": writer.float(state.n_rows),
        "n_samples": state.n_samples,
    }


KEYS = (
    *("varying", "centre", "scale", "directions", "constant", "value", "bulk_gram", "law_gram"),
    *("noise_coef", "noise_low", "noise_high"),
    *("equations", "equations_noise_coef", "equations_noise_low", "equations_noise_high"),
    *("middle_score", "spread_score", "middle", "exponents", "unit", "monomials", "scores"),
    *("score_weight", "draw", "counts", "weights", "limit", "square_weight", "n_monomials"),
    *("weight", "n_rows", "n_samples"),
)


def read_state(reader, node, n_features: int) -> State:
    """Return what `write_state` has written, or raise where it does not fit together."""
    values = dict(zip(KEYS, reader.fields(node, "a detector", KEYS), strict=True))

    def array(name, *shape):
        found = reader.array(values[name], name)
        reader.require(found.dtype.kind in "fi", f"{name} holds no numbers.")
        reader.require(bool(np.isfinite(found).all()), f"{name} holds numbers that are not finite.")
        empty = not found.size and not math.prod(shape)  # whose shape a list does not tell
        reader.require(found.shape == shape or empty, f"{name} has the wrong shape.")
        return found.reshape(shape)

    def positive(name, *shape):
        found = array(name, *shape)
        reader.require(bool((found > 0.0).all()), f"{name} is not positive.")
        return found

    def length(name):
        return len(reader.array(values[name], name))

    def places(name):
        found = reader.array(values[name], name)
        reader.require(
            found.ndim == 1
            and found.dtype.kind == "i"
            and bool(((found >= 0) & (found < n_features)).all()),
            f"{name} is no list of columns.",
        )
        return found

    varying, constant = places("varying"), places("constant")
    together = sorted([*varying.tolist(), *constant.tolist()])
    reader.require(together == list(range(n_features)), "columns are missing.")
    n = len(varying)
    counts = tuple(
        reader.integer(p, "counts", 1, max(n, 1)) for p in reader.listed(values["counts"], "counts")
    )
    reader.require(len(counts) <= 3, "counts are of too high a degree.")
    features = Features(
        varying,
        array("centre", n),
        positive("scale", n),
        array("directions", n, max(counts, default=0)),
        counts,
        constant,
        array("value", len(constant)),
    )
    k, terms = features.size, 1 + 2 * n
    n_laws = length("equations_noise_low")
    noise = Noise(array("noise_coef", terms, n), positive("noise_low", n), array("noise_high", n))
    laws = Laws(
        array("equations", k, n_laws),
        Noise(
            array("equations_noise_coef", terms, n_laws),
            positive("equations_noise_low", n_laws),
            array("equations_noise_high", n_laws),
        ),
    )
    weights = reader.floats(values["weights"], "weights", 2)
    reader.require(bool((weights > 0.0).all()), "weights are not positive.")
    bulk_weight, law_weight = weights.tolist()
    sums = (
        Sums(array("bulk_gram", k, k), bulk_weight),
        Sums(array("law_gram", k, k), law_weight),
    )
    weight, n_rows = reader.floats([values["weight"], values["n_rows"]], "weight", 2).tolist()
    reader.require(weight > 0.0 and n_rows > 0.0, "there are no rows.")
    model = Model(
        features,
        Residuals.of(sums[0], BULK_RIDGE, n),
        Residuals.of(sums[1], LAW_RIDGE, n),
        noise,
        laws,
        doubt_of(sums[0], n_rows * bulk_weight / weight),
        array("middle_score", 2),
        positive("spread_score", 2),
    )
    n_terms = length("exponents")
    monomials = Monomials(
        array("exponents", n_terms, n_features),
        positive("unit", n_features),
        array("monomials", n_terms, n_terms),
        reader.measured(values["square_weight"], "square_weight"),
        reader.integer(values["n_monomials"], "n_monomials"),
    )
    n_scores = length("scores")
    limit = reader.measured(values["limit"], "limit")
    reader.require(not math.isnan(limit) and limit > 0.0, "limit is not positive.")
    return State(
        model,
        sums,
        positive("middle", 2),
        monomials,
        Calibration(
            array("scores", n_scores),
            positive("score_weight", n_scores),
            positive("draw", n_scores),
            limit,
        ),
        weight,
        n_rows,
        reader.integer(values["n_samples"], "n_samples"),
    )
