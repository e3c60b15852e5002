"""Small charts as SVG, in colours that the page's style sheet gives."""

import math

import numpy as np

from vanishing.algebra.markup import clean, text


def pair_of_bars(own: float, others: float, largest: float, colour: int | None) -> str:
    """Draw the mean of |g| on its class above that on the others, on one linear scale."""
    if not largest > 0:
        return ""
    shown = [("own", own)] + ([] if math.isnan(others) else [("others", others)])
    bars = "".join(
        f'<span class="bar {kind}{"" if colour is None else f" c{colour}"}" '
        f'style="--w:{100 * min(1.0, value / largest):.1f}%"></span>'
        for kind, value in shown
        if math.isfinite(value)
    )
    return f'<span class="bars" aria-hidden="true">{bars}</span>'


def bar(share: float) -> str:
    """Draw a share of the whole."""
    width = 100 * min(1.0, max(0.0, share))
    if not width:
        return ""
    return (
        f'<span class="bars" aria-hidden="true"><span class="bar" style="--w:{width:.1f}%"></span>'
        "</span>"
    )


def distances(quantiles: list[np.ndarray | None], varieties: list, groups: list, unit: str) -> str:
    """Draw boxes of distances, a panel a variety and a box a group of rows, on one log scale.

    ``quantiles`` holds an array (n_groups, 5) a variety: the ends of whiskers and box, and the
    middle.
    """
    values = np.concatenate([q.ravel() for q in quantiles if q is not None])
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return ""
    low, high = max(positive.min(), positive.max() * 1e-6), positive.max()
    ticks = _ticks(low, high)
    first, last = math.log10(ticks[0]), math.log10(ticks[-1])
    left, right, width, line, head = 128, 14, 660, 22, 26

    def x(value):
        place = (math.log10(max(value, ticks[0])) - first) / (last - first)
        return left + place * (width - left - right)

    parts, y = [], 0
    for panel, (name, found) in enumerate(zip(varieties, quantiles, strict=True)):
        if found is None:
            continue
        height = line * len(groups)
        top = y + head
        title = "to the zeros of all equations" if name is None else f"to class {clean(name, 40)}"
        parts.append(f'<text class="panel" x="{left}" y="{y + 17}">{text(title)}</text>')
        for tick in ticks:
            parts.append(f'<path class="grid" d="M{x(tick):.1f} {top}v{height}"/>')
        for g, (group, values) in enumerate(zip(groups, found, strict=True)):
            middle = top + line * g + line / 2
            own = " own" if g == panel or len(groups) == 1 else ""
            parts.append(
                f'<text class="row{own}" x="{left - 10}" y="{middle + 4}">'
                f"{text(clean(group, 16))}</text>"
            )
            if not np.isfinite(values).all():
                continue
            a, b, c, d, e = (x(v) for v in values)
            told = "half of the rows between {}".format(
                " and ".join(f"{v:.3g}" for v in values[[1, 3]])
            )
            parts.append(
                f'<g class="box c{g if name is not None else 0}">'
                f"<title>rows of {text(clean(group, 40))}, {text(title)}: "
                f"median {values[2]:.3g}, {told}</title>"
                f'<path class="whisker" d="M{a:.1f} {middle}H{e:.1f}"/>'
                f'<rect x="{b:.1f}" y="{middle - 6}" width="{max(1.0, d - b):.1f}" height="12" '
                f'rx="2"/><path class="median" d="M{c:.1f} {middle - 7}v14"/></g>'
            )
        y = top + height + 8
    for tick in ticks:
        parts.append(f'<text class="tick" x="{x(tick):.1f}" y="{y + 12}">{_written(tick)}</text>')
    parts.append(
        f'<text class="tick" x="{(left + width - right) / 2:.0f}" y="{y + 30}">{text(unit)}</text>'
    )
    alt = "Boxes of the distances of rows to the zeros of the equations, class by class"
    return (
        f'<svg class="chart" role="img" aria-label="{alt}; the table below has the numbers" '
        f'viewBox="0 0 {width} {y + 38}">{"".join(parts)}</svg>'
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers around a range: 1, 2, 5 of powers of ten, or powers alone if many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**p for p in powers for m in ((1, 2, 5) if len(powers) < 4 else (1,))]
    below = max((t for t in ticks if t <= low), default=ticks[0])
    above = min((t for t in ticks if t >= high), default=ticks[-1])
    ticks = [t for t in ticks if below <= t <= above]
    return ticks if len(ticks) > 1 else [ticks[0], 10.0 * ticks[0]]


def _written(tick: float) -> str:
    if 1e-3 <= tick < 1e4:
        return f"{tick:g}"
    digits = str(round(math.log10(tick)))
    return f"10{digits.translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
