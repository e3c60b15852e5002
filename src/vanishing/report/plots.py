"""A picture in a coordinate system: where its axes, ticks and paths are; a template draws them."""

import math
from dataclasses import dataclass, field

import numpy as np

from vanishing.algebra.markup import MINUS
from vanishing.report.charts import log_ticks, power_of_ten

_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 12, 10, 40


@dataclass
class Chart:
    """A picture in a coordinate system; paths are in units of the picture."""

    width: int
    height: int
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    x_logarithmic: bool = False
    y_logarithmic: bool = False
    x_ticks: list[tuple[float, str]] = field(default_factory=list)
    y_ticks: list[tuple[float, str]] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)  # by their class
    marks: list[dict] = field(default_factory=list)
    dot: int = 3  # diameter of a point

    def __post_init__(self):
        if not self.x_ticks:
            ticks = _ticks_of(self.x_range, self.x_logarithmic)
            self.x_ticks = [(float(self.x(t)), shown) for t, shown in ticks]
        if not self.y_ticks:
            ticks = _ticks_of(self.y_range, self.y_logarithmic)
            self.y_ticks = [(float(self.y(t)), shown) for t, shown in ticks]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of what is drawn."""
        return _LEFT, _TOP, self.width - _RIGHT, self.height - _BOTTOM

    def x(self, values):
        """Return where values of x are."""
        low, high = self.x_range
        left, _, right, _ = self.box
        if self.x_logarithmic:
            values, low, high = np.log(values), math.log(low), math.log(high)
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
        if np.count_nonzero(good) < 100:
            self.dot = 6
        pairs = zip(self.x(x[good]), self.y(y[good]), strict=True)
        return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in pairs)

    def line(self, x, y) -> str:
        """Return a path of lines."""
        pairs = zip(self.x(x), self.y(y), strict=True)
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in pairs)


def padded(values: np.ndarray) -> tuple[float, float]:
    """Return the range of values with a margin, however small it is."""
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low)
    if margin <= 1e-12 * max(abs(low), abs(high)):
        margin = 0.5 * max(abs(low), abs(high)) or 1.0
    return low - margin, high + margin


def _ticks_of(ends: tuple[float, float], logarithmic: bool) -> list[tuple[float, str]]:
    """Return round numbers in a range, and how they are written."""
    if not logarithmic:
        return [(tick, _written(tick)) for tick in _ticks(*ends)]
    ticks = log_ticks(*ends)
    ticks = ticks[:: -(-len(ticks) // 8)]
    return [(tick, power_of_ten(tick)) for tick in ticks if ends[0] <= tick <= ends[1]]


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
