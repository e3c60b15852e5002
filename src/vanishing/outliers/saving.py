"""What a fitted detector saves: its state as JSON values, and back."""

import math

import numpy as np

from vanishing.equations.law import read_law, write_law
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.equations import DetectorLaw
from vanishing.outliers.features import Features
from vanishing.outliers.lags import names_with_lags
from vanishing.outliers.model import Laws, Model, Noise, Residuals, doubt_of
from vanishing.outliers.monomials import MonomialSums
from vanishing.outliers.robust import Sums, ridges, whitener
from vanishing.outliers.state import DetectorState
from vanishing.outliers.surroundings import Surroundings


def write_detector(writer, model) -> dict:
    """Write a fitted detector."""
    return {
        **writer.input(model),
        "last_rows": _write_rows(writer, model._last_rows),
        "offset": float(model.offset_),
        "offset_std": writer.float(model.offset_std_),
        "contamination": writer.float(model.contamination_),
        "known": write_known(writer, model.learned.known),
        "state": write_state(writer, model.learned),
    }


def read_detector(reader, node, model) -> None:
    """Set what `write_detector` has written."""
    later = {"last_rows": None, "offset_std": "nan", "contamination": "nan"}
    node = {**later, **node}  # of a file from before there were these
    last, offset, std, contamination, known, state = reader.fitted(
        model, node, ("last_rows", "offset", "offset_std", "contamination", "known", "state")
    )
    (model.offset_,) = reader.floats([offset], "offset").tolist()
    model.offset_std_ = reader.measured(std, "offset_std")
    model.contamination_ = reader.measured(contamination, "contamination")
    names = names_with_lags(model)
    laws = read_known(reader, known, len(names))
    model._last_rows = _read_rows(reader, last, model.lags, model.n_features_in_)
    model.learned = read_state(reader, state, names, laws)


def write_state(writer, state: DetectorState) -> dict:
    """Write all that a detector has learned, but the laws that were known before."""
    model, features = state.model, state.model.features
    monomials, calibration = state.monomials, state.calibration
    around = model.around._asdict()
    n_groups = around.pop("n_groups")
    arrays = features._asdict() | {
        "bulk_gram": state.sums[0].gram,
        "law_gram": state.sums[1].gram,
        **{f"noise_{k}": v for k, v in model.noise._asdict().items()},
        "equations": model.laws.coef,
        **{f"equations_noise_{k}": v for k, v in model.laws.noise._asdict().items()},
        **{f"around_{k}": v for k, v in around.items()},
        "middle_score": model.centre,
        "spread_score": model.spread,
        "middle": state.middle,
        "exponents": monomials.exponents,
        "unit": monomials.unit,
        "origin": monomials.origin,
        "fitted": np.concatenate(list(monomials.fitted)),
        "measured": np.concatenate(list(monomials.measured)),
        "scores": calibration.scores,
        "score_weight": calibration.weight,
        "draw": calibration.draw,
        "off": calibration.off,
        "side": calibration.side,
    }
    counts = arrays.pop("counts")
    return {name: writer.array(values, name) for name, values in arrays.items()} | {
        "counts": list(counts),
        "n_groups": n_groups,
        "weights": [float(part.weight) for part in state.sums],
        "limit": writer.float(calibration.limit),
        "square_weight": float(monomials.square_weight),
        "n_monomials": monomials.n_samples,
        "precision": monomials.precision,
        "weight": float(state.weight),
        "n_rows": float(state.n_rows),
        "n_samples": state.n_samples,
    }


class _DetectorFields:
    """The values of a file's object, by name, checked."""

    def __init__(self, reader, node):
        self.reader, self.node = reader, node
        self.read: list[str] = []

    def value(self, name: str):
        """Return a value as it was parsed."""
        self.read.append(name)
        return self.reader.fields(self.node, "a detector", (name,), self.node)[0]

    def check_no_others(self) -> None:
        """Refuse an object with values that were not asked for."""
        self.reader.fields(self.node, "a detector", self.read)

    def array(self, name: str, *shape: int | None) -> np.ndarray:
        """Return an array of finite numbers, of a given shape; None is any number of rows."""
        values = self.reader.array(self.value(name), name)
        self.reader.require(
            values.dtype.kind in "fi" and bool(np.isfinite(values).all()),
            f"{name} holds values that are no finite numbers.",
        )
        full = tuple(len(values) if n is None else n for n in shape)
        empty = not values.size and not math.prod(full)  # whose shape a list does not tell
        self.reader.require(values.shape == full or empty, f"{name} has the wrong shape.")
        return values.reshape(full)

    def positive(self, name: str, *shape: int | None) -> np.ndarray:
        """Return an array of positive numbers."""
        values = self.array(name, *shape)
        self.reader.require(bool((values > 0.0).all()), f"{name} is not positive.")
        return values

    def places(self, name: str, n_features: int) -> np.ndarray:
        """Return an array of columns."""
        values = self.array(name, None)
        self.reader.require(
            values.dtype.kind == "i" and bool(((values >= 0) & (values < n_features)).all()),
            f"{name} is no list of columns.",
        )
        return values

    def number(self, name: str, low: float = 0.0) -> float:
        """Return a number above a limit, which may be infinite."""
        value = self.reader.measured(self.value(name), name)
        self.reader.require(value > low, f"{name} is too small.")
        return value

    def integer(self, name: str) -> int:
        """Return an integer that is not negative."""
        return self.reader.integer(self.value(name), name)

    def noise(self, prefix: str, n_terms: int) -> Noise:
        """Return the noise of residuals, as many as there are."""
        mean = self.positive(f"{prefix}_mean", None)
        n = len(mean)
        coef = self.array(f"{prefix}_coef", n_terms, n)
        low, high = (self.positive(f"{prefix}_{end}", n) for end in ("low", "high"))
        return Noise(coef, mean, low, high)


def _read_features(fields: _DetectorFields, n_features: int) -> Features:
    varying, constant = (fields.places(name, n_features) for name in ("varying", "constant"))
    together = sorted([*varying.tolist(), *constant.tolist()])
    fields.reader.require(together == list(range(n_features)), "columns are missing.")
    n = len(varying)
    counts = tuple(
        fields.reader.integer(p, "counts", 1, max(n, 1))
        for p in fields.reader.listed(fields.value("counts"), "counts")
    )
    fields.reader.require(len(counts) <= 3, "counts are of too high a degree.")
    centre, scale = fields.array("centre", n), fields.positive("scale", n)
    directions = fields.array("directions", n, max(counts, default=0))
    ends = None  # in a file from before ranges were kept
    if "low" in fields.node:
        ends = fields.array("low", n), fields.array("high", n)
    value = fields.array("value", len(constant))
    features = Features.linear(varying, centre, scale, constant, value, ends)
    return features._replace(directions=directions, counts=counts)


def _read_around(fields: _DetectorFields, n: int) -> tuple[Surroundings, np.ndarray, np.ndarray]:
    """Return the surroundings of rows, and middles and spreads of parts of scores."""
    if "n_groups" not in fields.node:  # a file from before there were surroundings
        middle, spread = fields.array("middle_score", 2), fields.positive("spread_score", 2)
        return Surroundings.none(), np.append(middle, [0.0, 0.0]), np.append(spread, [1.0, 1.0])
    places = fields.places("around_places", max(n, 1))
    f, origin = len(places), fields.array("around_origin", None)
    rows, n_groups = fields.array("around_rows", None, f), fields.integer("n_groups")
    fields.reader.require(
        n_groups > 0 and len(rows) % n_groups == 0, "around_rows has the wrong shape."
    )
    around = Surroundings(
        places,
        fields.array("around_middle", f),
        fields.positive("around_unit", f),
        fields.array("around_directions", len(origin), f),
        origin,
        rows,
        n_groups,
        fields.array("around_weights", 2),
    )
    return around, fields.array("middle_score", 4), fields.positive("spread_score", 4)


def _read_monomials(fields: _DetectorFields, n_features: int) -> MonomialSums:
    exponents = fields.array("exponents", None, n_features)
    k, unit = len(exponents), fields.positive("unit", n_features)
    square_weight = fields.number("square_weight", -1.0)
    n_samples = fields.integer("n_monomials")
    if "monomials" in fields.node:  # a file from before factors were kept
        empty = MonomialSums(exponents, np.zeros(n_features), unit, *np.zeros((2, 2, k, k)))
        return empty.with_gram(fields.array("monomials", k, k), square_weight, n_samples)
    return MonomialSums(
        exponents,
        fields.array("origin", n_features),
        unit,
        fields.array("fitted", 2 * k, k).reshape(2, k, k),
        fields.array("measured", 2 * k, k).reshape(2, k, k),
        square_weight,
        n_samples,
        fields.number("precision"),
    )


def read_state(reader, node, names: tuple[str, ...], known) -> DetectorState:
    """Return what `write_state` has written, or raise where it does not fit together."""
    fields = _DetectorFields(reader, node)
    features = _read_features(fields, len(names))
    n, k = features.n, features.size
    weights = reader.floats(fields.value("weights"), "weights", 2).tolist()
    reader.require(min(weights) > 0.0, "weights are not positive.")
    weight, n_rows = fields.number("weight"), fields.number("n_rows")
    bulk, law = (
        Sums(fields.array(name, k, k), total, ridge)
        for name, total, ridge in zip(
            ("bulk_gram", "law_gram"), weights, ridges(k, n_rows), strict=True
        )
    )
    noise, of_laws = (fields.noise(name, 1 + 2 * n) for name in ("noise", "equations_noise"))
    reader.require(len(noise.mean) == n, "noise_mean has the wrong shape.")
    model = Model(
        features,
        Residuals.of(whitener(bulk), n),
        Residuals.of(whitener(law), n),
        noise,
        Laws(fields.array("equations", k, len(of_laws.mean)), of_laws),
        doubt_of(whitener(bulk), n_rows * bulk.weight / weight),
        *_read_around(fields, n),
    )
    monomials = _read_monomials(fields, len(names))
    scores = fields.array("scores", None)
    # Files from before distances from laws, or their sides, were kept have none.
    off, side = (
        fields.array(name, len(scores)) if name in node else np.zeros(len(scores))
        for name in ("off", "side")
    )
    calibration = Calibration(
        scores,
        fields.positive("score_weight", len(scores)),
        fields.positive("draw", len(scores)),
        off,
        side,
        fields.number("limit"),
    )
    middle, n_samples = fields.positive("middle", 2), fields.integer("n_samples")
    fields.check_no_others()
    return DetectorState(
        names, model, (bulk, law), middle, monomials, calibration, weight, n_rows, n_samples, known
    )


def _write_rows(writer, rows: np.ndarray | None) -> dict | None:
    """Write rows of which cells may be missing, or that there are none."""
    if rows is None:
        return None
    known = np.isfinite(rows)
    return {
        "values": writer.array(np.where(known, rows, 0.0), "last_rows"),
        "known": writer.array(known.astype(np.int64), "known"),
    }


def _read_rows(reader, node, n_rows: int, n_columns: int) -> np.ndarray | None:
    """Return what `_write_rows` has written."""
    if node is None:
        return None
    fields = _DetectorFields(reader, node)
    values, known = (fields.array(name, n_rows, n_columns) for name in ("values", "known"))
    fields.check_no_others()
    return np.where(known == 1, values, np.nan)


def write_known(writer, known: tuple[DetectorLaw, ...]) -> list[dict]:
    """Write laws that were found before, and their errors on the last rows."""
    return [
        {
            "law": write_law(writer, law.law),
            "columns": sorted(law.columns),
            "error": writer.float(law.error),
            "now": writer.float(law.last_error),
        }
        for law in known
    ]


def read_known(reader, node, n_features: int) -> tuple[DetectorLaw, ...]:
    """Return what `write_known` has written."""
    known = []
    for saved in reader.listed(node, "known"):
        law, columns, error, last_error = reader.fields(
            saved, "a known law", ("law", "columns", "error", "now")
        )
        places = reader.integers(columns, "columns", 0, n_features - 1)
        known.append(
            DetectorLaw(
                read_law(reader, law),
                frozenset(places.tolist()),
                reader.measured(error, "error"),
                reader.measured(last_error, "now"),
            )
        )
    return tuple(known)
