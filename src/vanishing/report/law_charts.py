"""What the pictures of laws show."""

import numpy as np

from vanishing.algebra.markup import MINUS
from vanishing.inspection import LawAnatomy, LawCurves, LawRows
from vanishing.inspection.laws import running, shown_range
from vanishing.inspection.samples import evenly
from vanishing.report.plots import Chart, padded
from vanishing.report.settings import PANELS, POINTS


def front_chart(answer: LawAnatomy) -> Chart | None:
    """Return errors of equations against their numbers of terms; None where there are none."""
    if not answer.front:
        return None
    n_terms = np.array([law.n_terms for law in answer.front])
    errors = np.array([law.error for law in answer.front])
    if not np.isfinite(errors).all():
        return None
    logarithmic = bool(errors.min() > 0 and errors.max() > 5 * errors.min())
    if logarithmic:
        margin = (errors.max() / errors.min()) ** 0.15
        y_range = errors.min() / margin, errors.max() * margin
    else:
        y_range = 0.0, 1.25 * errors.max() or 1.0
    unit = "/ spread of columns" if answer.target is None else f"of {answer.target}"
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
    chosen = str(answer.laws[0]) if answer.laws else None
    chart.marks = [
        {
            "x": float(chart.x(law.n_terms)),
            "y": float(chart.y(law.error)),
            "chosen": str(law) == chosen,
            "title": f"{law}: {law.n_terms} terms, rms error {law.error:.3g}",
        }
        for law in answer.front
    ]
    return chart


def prediction_chart(rows: LawRows) -> Chart | None:
    """Return measured against predicted values; None where nothing is predicted."""
    sample = rows.thinned(POINTS)
    good = np.isfinite(sample.predicted)
    if not good.any():
        return None
    both = padded(np.concatenate([sample.measured[good], sample.predicted[good]]))
    chart = Chart(
        width=460,
        height=420,
        x_range=both,
        y_range=both,
        x_label=rows.in_unit(f"{rows.name}, predicted"),
        y_label=rows.in_unit(f"{rows.name}, measured"),
    )
    chart.paths["diagonal"] = chart.line(np.array(both), np.array(both))
    chart.paths["points"] = chart.points(sample.predicted, sample.measured)
    return chart


def residual_charts(rows: LawRows) -> list[Chart]:
    """Return residuals against each column, with running quartiles."""
    sample = rows.thinned(POINTS)
    residuals = sample.residuals
    if not np.isfinite(residuals).any():
        return []
    ends = shown_range(residuals)
    y_range, shown = padded(np.array(ends)), np.clip(residuals, *ends)
    charts = []
    for name, values in list(sample.others.items())[:PANELS]:
        chart = Chart(
            width=350,
            height=250,
            x_range=padded(values),
            y_range=y_range,
            x_label=rows.in_unit(name, name),
            y_label=rows.in_unit(f"{rows.name}, measured {MINUS} predicted"),
        )
        zero = np.clip([0.0, 0.0], *y_range)
        chart.paths["diagonal"] = chart.line(np.array(chart.x_range), zero)
        chart.paths["points"] = chart.points(values, shown)
        centres, low, middle, high = running(values, residuals)
        around = np.append(centres, centres[::-1])
        chart.paths["band"] = chart.line(around, np.append(low, high[::-1])) + "Z"
        chart.paths["median"] = chart.line(centres, middle)
        charts.append(chart)
    return charts


def curve_chart(found: LawCurves) -> Chart | None:
    """Return the target against the one variable that is left, with curves, bands and far rows."""
    rows, x = found.rows, found.shown_x
    good = np.isfinite(x) & np.isfinite(rows.measured)
    ends = np.concatenate([rows.measured[good], *(curve.y for curve in found.curves)])
    ends = ends[np.isfinite(ends)]
    edges = np.concatenate([part for c in found.curves for part in (c.low, c.high)])
    # A band that is wider than everything else would flatten it.
    reach = 0.5 * (float(np.ptp(ends)) or 1.0)
    edges = np.clip(edges[np.isfinite(edges)], ends.min() - reach, ends.max() + reach)
    of_x, of_y = found.logarithmic
    everything = np.concatenate([ends, edges])
    x_range = _log_padded(found.curves[0].x) if of_x else padded(found.curves[0].x)
    y_range = _log_padded(everything[everything > 0.0]) if of_y else padded(everything)
    edge = f" ({found.n_at_edge} rows at 0: left edge)" if found.n_at_edge else ""
    chart = Chart(
        width=560,
        height=380,
        x_range=x_range,
        y_range=y_range,
        x_label=rows.in_unit(found.name, found.column or "") + edge,
        y_label=rows.in_unit(rows.name),
        x_logarithmic=of_x,
        y_logarithmic=of_y,
    )
    sample = np.zeros(len(x), dtype=bool)
    sample[evenly(len(x), POINTS)] = True
    for k, curve in enumerate(found.curves):
        series = f"s{k % 7} g{k}"
        low, high = np.clip(curve.low, *y_range), np.clip(curve.high, *y_range)
        known = np.isfinite(low) & np.isfinite(high)
        if known.any():
            around = np.append(curve.x[known], curve.x[known][::-1])
            path = chart.line(around, np.append(low[known], high[known][::-1]))
            chart.paths[f"curve-band {series}"] = f"{path}Z"
        shown = np.isfinite(curve.y)
        chart.paths[f"curve {series}"] = chart.line(curve.x[shown], curve.y[shown])
        mine = good & sample & ~rows.far
        if rows.groups is not None:
            mine &= rows.groups.astype(str) == str(curve.group)
        chart.paths[f"curve-points {series}"] = chart.points(x[mine], rows.measured[mine])
    far = good & rows.far
    if far.any():
        places = zip(chart.x(x[far]), chart.y(rows.measured[far]), strict=True)
        chart.paths["far"] = "".join(
            f"M{a - 5:.1f} {b - 5:.1f}l10 10m0 -10l-10 10" for a, b in places
        )
    return chart


def _log_padded(values: np.ndarray) -> tuple[float, float]:
    margin = (values.max() / values.min()) ** 0.05
    return float(values.min() / margin), float(values.max() * margin)
