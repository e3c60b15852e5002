"""Measured minus predicted values, against each column."""

from dataclasses import dataclass, field

import numpy as np

from vanishing.inspection import LawRows
from vanishing.inspection.laws import running, shown_range
from vanishing.plot._laws import LawRowsDisplay, point_size
from vanishing.plot._shared import GREY, PALETTE, PanelsDisplay, axis_name, plain, written
from vanishing.plot.settings import POINTS


@dataclass(kw_only=True, eq=False, repr=False)
class LawResidualsDisplay(LawRowsDisplay, PanelsDisplay):
    """Measured minus predicted values of a law, against each column.

    One panel per column, with the running median and the middle half of the rows. They show a
    pattern, if there is one: where the law holds, the band is level and around zero. Rows far from
    the others are drawn at the edge.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples,)
        In units of the prediction, NaN where the law has no solution.
    columns : dict from str to ndarray of shape (n_samples,)
    name : str, default="y"
        What is predicted.
    units : dict from str to str, default={}
        Of the columns, where they are known.
    title : str, default="Measured minus predicted"

    Attributes
    ----------
    points_, medians_ : list of matplotlib Line2D
    bands_ : list of matplotlib PolyCollection
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LawFrontDisplay : Errors of the equations that were compared.
    LawPredictionDisplay : Measured against predicted values.
    LawUnexplainedDisplay : Whether columns explain what a law does not.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import LawFinder
    >>> from vanishing.plot import LawResidualsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(500, 2))
    >>> y = 2.5 * X[:, 0] / X[:, 1] + rng.normal(scale=0.01, size=500)
    >>> display = LawResidualsDisplay.from_estimator(LawFinder().fit(X, y), X, y)
    >>> len(display.axes_)
    2
    """

    residuals: np.ndarray
    columns: dict[str, np.ndarray]
    name: str = "y"
    units: dict[str, str] = field(default_factory=dict)
    title: str = "Measured minus predicted"

    def _layout(self):
        n_columns = min(len(self.columns), 3)
        return len(self.columns), n_columns, (max(3.0, 6.0 / n_columns), 2.9), "sharey"

    def _draw(self, axes):
        self.points_, self.bands_, self.medians_ = [], [], []
        style = {
            "color": PALETTE[0],
            "ms": point_size(len(self.residuals)),
            "alpha": 0.35,
            "mew": 0,
        }
        shown = np.clip(self.residuals, *shown_range(self.residuals))
        for i, (axis, (name, x)) in enumerate(zip(axes, self.columns.items(), strict=True)):
            axis.axhline(0.0, color=GREY, lw=1, ls="--")
            (points,) = axis.plot(x, shown, ".", **style)
            centres, low, middle, high = running(x, self.residuals)
            band = axis.fill_between(centres, low, high, color=PALETTE[1], alpha=0.3, lw=0)
            (median,) = axis.plot(centres, middle, color=PALETTE[1], lw=1.6)
            axis.set_xlabel(axis_name(name) + self._unit(name))
            axis.grid(alpha=0.3)
            if i % 3:
                axis.tick_params(labelleft=False)
            else:
                axis.set_ylabel(f"{plain(self.name)}, measured - predicted{self._unit(self.name)}")
            self.points_.append(points)
            self.bands_.append(band)
            self.medians_.append(median)

    def _unit(self, name: str) -> str:
        return f" [{plain(self.units[name])}]" if name in self.units else ""

    @classmethod
    def _of(cls, rows: LawRows):
        sample = rows.thinned(POINTS)
        return cls(
            residuals=sample.residuals,
            columns=sample.others,
            name=rows.name,
            units=rows.units,
            title=f"Measured minus predicted: {written(rows.law)}",
        )
