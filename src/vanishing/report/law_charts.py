"""What the pictures of laws show."""

import numpy as np

from vanishing.algebra.markup import MINUS
from vanishing.inspection import LawAnatomy, LawRows
from vanishing.inspection.laws import running, shown_range
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
