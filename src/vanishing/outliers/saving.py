"""What a fitted detector saves: its state as JSON values, and back."""

import math

import numpy as np

from vanishing.equations.law import read_law, write_law
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.equations import DetectorLaw, Monomials
from vanishing.outliers.features import Features
from vanishing.outliers.model import Laws, Model, Noise, Residuals, doubt_of
from vanishing.outliers.robust import Sums, ridges
from vanishing.outliers.state import DetectorState

_ARRAYS = (
    *("varying", "centre", "scale", "directions", "constant", "value", "bulk_gram", "law_gram"),
    *("noise_coef", "noise_mean", "noise_low", "noise_high", "equations", "equations_noise_coef"),
    *("equations_noise_mean", "equations_noise_low", "equations_noise_high"),
    *("middle_score", "spread_score", "middle"),
    *("exponents", "unit", "monomials", "scores", "score_weight", "draw"),
)
_OTHERS = (
    *("counts", "weights", "limit", "square_weight", "n_monomials", "weight", "n_rows"),
    "n_samples",
)


def write_state(writer, state: DetectorState) -> dict:
    """Write all that a detector has learned."""
    model, features = state.model, state.model.features
    noise, laws, calibration = model.noise, model.laws, state.calibration
    arrays = (
        *(features.varying, features.centre, features.scale, features.directions),
        *(features.constant, features.value, state.sums[0].gram, state.sums[1].gram),
        *noise,
        laws.coef,
        *laws.noise,
        *(model.centre, model.spread, state.middle),
        *(state.monomials.exponents, state.monomials.unit, state.monomials.gram),
        *(calibration.scores, calibration.weight, calibration.draw),
    )
    others = (
        list(features.counts),
        [float(part.weight) for part in state.sums],
        writer.float(calibration.limit),
        float(state.monomials.square_weight),
        state.monomials.n_samples,
        float(state.weight),
        float(state.n_rows),
        state.n_samples,
    )
    node = {k: writer.array(v, k) for k, v in zip(_ARRAYS, arrays, strict=True)}
    return node | dict(zip(_OTHERS, others, strict=True))


class _Fields:
    """The values of a file's object, by name, checked."""

    def __init__(self, reader, node):
        keys = (*_ARRAYS, *_OTHERS)
        self.reader = reader
        self.values = dict(zip(keys, reader.fields(node, "a detector", keys), strict=True))

    def array(self, name: str, *shape: int) -> np.ndarray:
        """Return an array of finite numbers, of a given shape."""
        found = self.reader.array(self.values[name], name)
        self.reader.require(
            found.dtype.kind in "fi" and bool(np.isfinite(found).all()),
            f"{name} holds what are no finite numbers.",
        )
        empty = not found.size and not math.prod(shape)  # whose shape a list does not tell
        self.reader.require(found.shape == shape or empty, f"{name} has the wrong shape.")
        return found.reshape(shape)

    def positive(self, name: str, *shape: int) -> np.ndarray:
        """Return an array of positive numbers."""
        found = self.array(name, *shape)
        self.reader.require(bool((found > 0.0).all()), f"{name} is not positive.")
        return found

    def length(self, name: str) -> int:
        """Return how many rows an array has."""
        return len(self.reader.array(self.values[name], name))

    def places(self, name: str, n_features: int) -> np.ndarray:
        """Return an array of columns."""
        found = self.array(name, self.length(name))
        self.reader.require(
            found.dtype.kind == "i" and bool(((found >= 0) & (found < n_features)).all()),
            f"{name} is no list of columns.",
        )
        return found

    def number(self, name: str, low: float = 0.0) -> float:
        """Return a number above a limit, which may be infinite."""
        found = self.reader.measured(self.values[name], name)
        self.reader.require(found > low, f"{name} is too small.")
        return found


def _read_features(fields: _Fields, n_features: int) -> Features:
    varying, constant = (fields.places(name, n_features) for name in ("varying", "constant"))
    together = sorted([*varying.tolist(), *constant.tolist()])
    fields.reader.require(together == list(range(n_features)), "columns are missing.")
    n = len(varying)
    counts = tuple(
        fields.reader.integer(p, "counts", 1, max(n, 1))
        for p in fields.reader.listed(fields.values["counts"], "counts")
    )
    fields.reader.require(len(counts) <= 3, "counts are of too high a degree.")
    return Features(
        varying,
        fields.array("centre", n),
        fields.positive("scale", n),
        fields.array("directions", n, max(counts, default=0)),
        counts,
        constant,
        fields.array("value", len(constant)),
    )


def _read_noise(fields: _Fields, prefix: str, n_terms: int, n: int) -> Noise:
    return Noise(
        fields.array(f"{prefix}_coef", n_terms, n),
        fields.positive(f"{prefix}_mean", n),
        fields.positive(f"{prefix}_low", n),
        fields.positive(f"{prefix}_high", n),
    )


def _read_monomials(fields: _Fields, n_features: int) -> Monomials:
    n_terms = fields.length("exponents")
    return Monomials(
        fields.array("exponents", n_terms, n_features),
        fields.positive("unit", n_features),
        fields.array("monomials", n_terms, n_terms),
        fields.number("square_weight", -1.0),
        fields.reader.integer(fields.values["n_monomials"], "n_monomials"),
    )


def read_state(reader, node, n_features: int) -> DetectorState:
    """Return what `write_state` has written, or raise where it does not fit together."""
    fields = _Fields(reader, node)
    features = _read_features(fields, n_features)
    n, k = features.n, features.size
    weights = reader.floats(fields.values["weights"], "weights", 2).tolist()
    reader.require(min(weights) > 0.0, "weights are not positive.")
    weight, n_rows = fields.number("weight"), fields.number("n_rows")
    bulk, law = (
        Sums(fields.array(name, k, k), total, ridge)
        for name, total, ridge in zip(
            ("bulk_gram", "law_gram"), weights, ridges(k, n_rows), strict=True
        )
    )
    n_laws, n_scores = fields.length("equations_noise_low"), fields.length("scores")
    model = Model(
        features,
        Residuals.of(bulk, n),
        Residuals.of(law, n),
        _read_noise(fields, "noise", 1 + 2 * n, n),
        Laws(
            fields.array("equations", k, n_laws),
            _read_noise(fields, "equations_noise", 1 + 2 * n, n_laws),
        ),
        doubt_of(bulk, n_rows * bulk.weight / weight),
        fields.array("middle_score", 2),
        fields.positive("spread_score", 2),
    )
    calibration = Calibration(
        fields.array("scores", n_scores),
        fields.positive("score_weight", n_scores),
        fields.positive("draw", n_scores),
        fields.number("limit"),
    )
    return DetectorState(
        model,
        (bulk, law),
        fields.positive("middle", 2),
        _read_monomials(fields, n_features),
        calibration,
        weight,
        n_rows,
        reader.integer(fields.values["n_samples"], "n_samples"),
    )


def write_known(writer, known, errors) -> list[dict]:
    """Write laws that were found before, and their errors on the last rows."""
    return [
        {
            "law": write_law(writer, one.law),
            "columns": sorted(one.columns),
            "error": writer.float(one.error),
            "now": writer.float(error),
        }
        for one, error in zip(known, errors, strict=True)
    ]


def read_known(reader, node, n_features: int) -> tuple[list[DetectorLaw], list[float]]:
    """Return what `write_known` has written."""
    known, errors = [], []
    for one in reader.listed(node, "known"):
        law, columns, error, now = reader.fields(
            one, "a known law", ("law", "columns", "error", "now")
        )
        places = reader.integers(columns, "columns", 0, n_features - 1)
        found = read_law(reader, law)
        known.append(
            DetectorLaw(found, frozenset(places.tolist()), reader.measured(error, "error"))
        )
        errors.append(reader.measured(now, "now"))
    return known, errors
