"""What the picture of a search shows."""

import numpy as np

from vanishing.report.facts import Facts
from vanishing.report.plots import Chart


def search_front_chart(facts: Facts) -> Chart:
    """Return errors of classifiers against the numbers that decide in them."""
    sizes = np.array([max(point.complexity, 1.0) for point in facts.front])
    errors = 1.0 - np.array([point.score for point in facts.front])
    logarithmic = bool(errors.min() > 0 and errors.max() > 5 * errors.min())
    margin = (errors.max() / errors.min()) ** 0.15 if logarithmic else 1.0
    low, high = (errors.min() / margin, errors.max() * margin) if logarithmic else (0.0, 0.0)
    chart = Chart(
        width=460,
        height=280,
        x_range=(sizes.min() / 1.3, sizes.max() * 1.3),
        y_range=(low, high or 1.25 * float(errors.max()) or 1.0),
        x_label="numbers that decide",
        y_label="1 - mean score",
        x_logarithmic=True,
        y_logarithmic=logarithmic,
    )
    chart.paths["front"] = chart.line(sizes, errors)
    chart.marks = [
        {
            "x": float(chart.x(size)),
            "y": float(chart.y(error)),
            "chosen": is_chosen(facts, k),
            "title": f"{facts.front[k].complexity:.0f} numbers, score {facts.front[k].score:.4f}",
        }
        for k, (size, error) in enumerate(zip(sizes, errors, strict=True))
    ]
    return chart


def is_chosen(facts: Facts, k: int) -> bool:
    """Say whether a point of the front is what the search has chosen."""
    return facts.front[k].params is facts.core.best_params_
