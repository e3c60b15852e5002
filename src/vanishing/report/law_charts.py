"""Where the parts of the pictures of laws are; their template draws them."""

import math
from dataclasses import dataclass, field

import numpy as np

from vanishing.algebra.markup import MINUS
from vanishing.inspection import LawRows
from vanishing.inspection.laws import running, shown_range
from vanishing.report.charts import log_ticks, power_of_ten

POINTS = 1500
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 12, 10, 40
_TICKS = 8
_FEW = 100  # points that can be large
_PANELS = 24  # columns with a picture


@dataclass
class Chart:
    """A picture in a coordinate system; paths are in units of the picture."""

    width: int
    height: int
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    y_logarithmic: bool = False
    x_ticks: list[tuple[float, str]] = field(default_factory=list)
    y_ticks: list[tuple[float, str]] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)  # by their class
    marks: list[dict] = field(default_factory=list)
    dot: int = 3  # diameter of a point

    def __post_init__(self):
        if not self.x_ticks:
            self.x_ticks = [(float(self.x(t)), _written(t)) for t in _ticks(*self.x_range)]
        if not self.y_ticks:
            ticks = log_ticks(*self.y_range) if self.y_logarithmic else _ticks(*self.y_range)
            ticks = ticks[:: -(-len(ticks) // _TICKS)]
            written = power_of_ten if self.y_logarithmic else _written
            low, high = self.y_range
            self.y_ticks = [(float(self.y(t)), written(t)) for t in ticks if low <= t <= high]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of what is drawn."""
        return _LEFT, _TOP, self.width - _RIGHT, self.height - _BOTTOM

    def x(self, values):
        """Return where values of x are."""
        low, high = self.x_range
        left, _, right, _ = self.box
        return left + (np.asarray(values) - low) / (high - low) * (right - left)

    def y(self, values):
        """Return where values of y are."""
        low, high = self.y_range
        _, top, _, bottom = self.box
        if self.y_logarithmic:
            values, low, high = np.log(values), math.log(low), math.log(high)
        return bottom - (np.asarray(values) - low) / (high - low) * (bottom - top)

    def points(self, x, y) -> str:
        """Return a path of dots."""
        good = np.isfinite(x) & np.isfinite(y)
        if np.count_nonzero(good) < _FEW:
            self.dot = 6
        pairs = zip(self.x(x[good]), self.y(y[good]), strict=True)
        return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in pairs)

    def line(self, x, y) -> str:
        """Return a path of lines."""
        pairs = zip(self.x(x), self.y(y), strict=True)
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in pairs)


def front_chart(found) -> Chart | None:
    """Return errors of equations against their numbers of terms; None where there are none."""
    if not found.front:
        return None
    n_terms = np.array([law.n_terms for law in found.front])
    errors = np.array([law.error for law in found.front])
    if not np.isfinite(errors).all():
        return None
    logarithmic = bool(errors.min() > 0 and errors.max() > 5 * errors.min())
    if logarithmic:
        margin = (errors.max() / errors.min()) ** 0.15
        y_range = errors.min() / margin, errors.max() * margin
    else:
        y_range = 0.0, 1.25 * errors.max() or 1.0
    unit = "/ spread of columns" if found.target is None else f"of {found.target}"
    first, last = int(n_terms.min()), int(n_terms.max())
    chart = Chart(
        width=460,
        height=280,
        x_range=(first - 0.7, last + 0.7),
        y_range=y_range,
        x_label="number of terms",
        y_label=f"rms error {unit}",
        y_logarithmic=logarithmic,
        x_ticks=[(0.0, "")],
    )
    chart.x_ticks = [(float(chart.x(n)), str(n)) for n in range(first, last + 1)]
    chart.paths["front"] = chart.line(n_terms, errors)
    chosen = str(found.laws[0]) if found.laws else None
    chart.marks = [
        {
            "x": float(chart.x(law.n_terms)),
            "y": float(chart.y(law.error)),
            "chosen": str(law) == chosen,
            "title": f"{law}: {law.n_terms} terms, rms error {law.error:.3g}",
        }
        for law in found.front
    ]
    return chart


def prediction_chart(rows: LawRows) -> Chart | None:
    """Return what is measured against what is predicted; None where nothing is predicted."""
    some = rows.thinned(POINTS)
    good = np.isfinite(some.predicted)
    if not good.any():
        return None
    both = _range(np.concatenate([some.measured[good], some.predicted[good]]))
    chart = Chart(
        width=460,
        height=420,
        x_range=both,
        y_range=both,
        x_label=rows.in_unit(f"{rows.name}, predicted"),
        y_label=rows.in_unit(f"{rows.name}, measured"),
    )
    chart.paths["diagonal"] = chart.line(np.array(both), np.array(both))
    chart.paths["points"] = chart.points(some.predicted, some.measured)
    return chart


def residual_charts(rows: LawRows) -> list[Chart]:
    """Return what is left over against each column, with running quartiles."""
    some = rows.thinned(POINTS)
    left = some.residuals
    if not np.isfinite(left).any():
        return []
    ends = shown_range(left)
    y_range, shown = _range(np.array(ends)), np.clip(left, *ends)
    charts = []
    for name, values in list(some.others.items())[:_PANELS]:
        chart = Chart(
            width=350,
            height=250,
            x_range=_range(values),
            y_range=y_range,
            x_label=rows.in_unit(name, name),
            y_label=rows.in_unit(f"{rows.name}, measured {MINUS} predicted"),
        )
        zero = np.clip([0.0, 0.0], *y_range)
        chart.paths["diagonal"] = chart.line(np.array(chart.x_range), zero)
        chart.paths["points"] = chart.points(values, shown)
        centres, low, middle, high = running(values, left)
        around = np.append(centres, centres[::-1])
        chart.paths["band"] = chart.line(around, np.append(low, high[::-1])) + "Z"
        chart.paths["median"] = chart.line(centres, middle)
        charts.append(chart)
    return charts


# -- Axes -----------------------------------------------------------------------------------------


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of values with a margin, however small it is."""
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low)
    if margin <= 1e-12 * max(abs(low), abs(high)):
        margin = 0.5 * max(abs(low), abs(high)) or 1.0
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers in a range."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step), math.floor(high / step)
    return [i * step for i in range(first, last + 1)]


def _written(tick: float) -> str:
    mantissa, _, exponent = f"{tick:.4g}".partition("e")
    shown = mantissa.replace("-", MINUS)
    if not exponent:
        return shown
    power = power_of_ten(10.0 ** int(exponent))
    return shown.replace("1", power) if shown in ("1", f"{MINUS}1") else f"{shown}\u00b7{power}"
