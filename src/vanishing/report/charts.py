"""Where the parts of a chart of distances are; its template draws them."""

import math

import numpy as np

from vanishing.report.facts import Facts

_WIDTH, _LEFT, _RIGHT = 500, 128, 14
_LINE, _HEAD = 22, 26  # heights of a box's line and of what stands above a panel


def distances(facts: Facts) -> dict | None:
    """Return boxes of distances, one panel per variety, one box per group; None if all are 0.

    Whiskers and boxes end at the quantiles that the facts have, on one logarithmic scale.
    """
    quantiles = [v.distances for v in facts.varieties if v.distances is not None]
    values = np.concatenate(quantiles, axis=None)
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return None
    ticks = log_ticks(max(positive.min(), positive.max() * 1e-6), positive.max())
    first, last = math.log10(ticks[0]), math.log10(ticks[-1])

    def x(value) -> float:
        place = (math.log10(max(value, ticks[0])) - first) / (last - first)
        return _LEFT + place * (_WIDTH - _LEFT - _RIGHT)

    panels, y = [], 0
    for k, variety in enumerate(facts.varieties):
        if variety.distances is None:
            continue
        top, n_groups = y + _HEAD, len(variety.distances)
        boxes = []
        for g, quantiles in enumerate(variety.distances):
            finite = np.isfinite(quantiles).all()
            boxes.append(
                {
                    "y": top + _LINE * g + _LINE / 2,
                    "own": g == k or n_groups == 1,
                    "colour": g if facts.has_classes else 0,
                    "quantiles": quantiles,
                    "x": [x(v) for v in quantiles] if finite else None,
                }
            )
        height = _LINE * n_groups
        panels.append({"label": variety.label, "top": top, "height": height, "boxes": boxes})
        y = top + height + 8
    return {
        "width": _WIDTH,
        "height": y + 38,
        "left": _LEFT,
        "middle": (_LEFT + _WIDTH - _RIGHT) // 2,
        "ticks": [(x(tick), power_of_ten(tick)) for tick in ticks],
        "panels": panels,
    }


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers around a range: 1, 2, 5 of powers of ten, or powers alone if many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**p for p in powers for m in ((1, 2, 5) if len(powers) < 4 else (1,))]
    below = max((t for t in ticks if t <= low), default=ticks[0])
    above = min((t for t in ticks if t >= high), default=ticks[-1])
    ticks = [t for t in ticks if below <= t <= above]
    return ticks if len(ticks) > 1 else [ticks[0], 10.0 * ticks[0]]


def power_of_ten(tick: float) -> str:
    """Write a tick, a power of ten as one where it is large or small."""
    if 1e-3 <= tick < 1e4:
        return f"{tick:g}"
    digits = str(round(math.log10(tick)))
    return f"10{digits.translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
