"""The target of a law against the one variable it depends on: points, curve and band."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing._types import Labels, Table, Vector
from vanishing.equations.by_group import LawsByGroup
from vanishing.equations.law import Law
from vanishing.inspection import LawCurve, law_anatomy, law_curves, law_rows
from vanishing.inspection.samples import evenly
from vanishing.plot._shared import (
    GREY,
    AxesDisplay,
    axis_name,
    colours,
    is_symbol,
    marker,
    plain,
    written,
)
from vanishing.plot.settings import LEGEND_GROUPS, POINTS


@dataclass(kw_only=True, eq=False, repr=False)
class LawCurveDisplay(AxesDisplay):
    """The target against the one variable that a law is about, with its curve and a band.

    The band holds about 95 % of new rows: two standard deviations of a new measurement on either
    side, with the errors of the constants and the noise. Rows that are far outside, beyond 4.5 of
    them, are crossed out.

    Parameters
    ----------
    curves : sequence of LawCurve
        One, or one per group.
    x, y : ndarray of shape (n_samples,)
        The variable and the measured target, at most a few thousand rows.
    far : ndarray of bool of shape (n_samples,)
        Rows that are crossed out.
    groups : ndarray of shape (n_samples,), default=None
        Of the rows, where there are groups.
    group_name : str, default=""
        The name of the groups, such as "batch".
    logarithmic : (bool, bool), default=(False, False)
        Whether the axes of the variable and of the target are logarithmic.
    xlabel : str, default="x"
    ylabel : str, default="y"
    title : str, default=""

    Attributes
    ----------
    points_ : list of matplotlib Line2D
        One per curve.
    lines_ : list of matplotlib Line2D
    bands_ : list of matplotlib PolyCollection
    far_ : matplotlib Line2D or None
        The rows that are crossed out.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LawPredictionDisplay : Measured against predicted values, of any law.
    LawResidualsDisplay : Measured minus predicted values, against each column.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import check_law
    >>> from vanishing.plot import LawCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> dose = np.geomspace(0.1, 100, 40)
    >>> response = 100 / (1 + (3 / dose) ** 1.2) + rng.normal(scale=2, size=40)
    >>> law = check_law("y = top/(1 + (EC50/x0)**h)", dose[:, None], response)
    >>> display = LawCurveDisplay.from_estimator(law, dose[:, None], response)
    >>> display.logarithmic
    (True, False)
    """

    curves: Sequence[LawCurve]
    x: np.ndarray
    y: np.ndarray
    far: np.ndarray
    groups: np.ndarray | None = None
    group_name: str = ""
    logarithmic: tuple[bool, bool] = (False, False)
    xlabel: str = "x"
    ylabel: str = "y"
    title: str = ""

    _size = (6.4, 4.4)

    def _draw(self, ax):
        self.points_, self.lines_, self.bands_, self.far_ = [], [], [], None
        if self.logarithmic[0]:
            ax.set_xscale("log")
        if self.logarithmic[1]:
            ax.set_yscale("log")
        size = 4.0 if len(self.x) > 100 else 5.0
        for k, (curve, colour) in enumerate(
            zip(self.curves, colours(len(self.curves)), strict=True)
        ):
            mine = np.ones(len(self.x), dtype=bool)
            if self.groups is not None:
                mine = self.groups.astype(str) == str(curve.group)
            label = None if curve.group is None else plain(curve.group)
            band = ax.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, lw=0)
            (line,) = ax.plot(curve.x, curve.y, color=colour, lw=1.8)
            good = mine & ~self.far
            style = {"color": colour, "ms": size, "alpha": 0.7, "mew": 0, "ls": ""}
            (points,) = ax.plot(self.x[good], self.y[good], marker(k), label=label, **style)
            self.bands_.append(band)
            self.lines_.append(line)
            self.points_.append(points)
        if self.far.any():
            style = {"color": "black", "ms": 9, "mew": 1.8, "ls": ""}
            (self.far_,) = ax.plot(
                self.x[self.far], self.y[self.far], "x", label="far from the law", **style
            )
        self._axes(ax)

    def _axes(self, ax):
        """Set ranges, names and the legend."""
        if not self.logarithmic[1]:
            # A band that is wider than everything else would flatten it.
            shown = np.concatenate([self.y, *(curve.y for curve in self.curves)])
            shown = shown[np.isfinite(shown)]
            edges = np.concatenate([part for c in self.curves for part in (c.low, c.high)])
            reach = np.ptp(shown) or 1.0
            edges = edges[np.isfinite(edges)]
            edges = np.clip(edges, shown.min() - 0.5 * reach, shown.max() + 0.5 * reach)
            low = min(shown.min(), edges.min(initial=np.inf))
            high = max(shown.max(), edges.max(initial=-np.inf))
            margin = 0.04 * ((high - low) or 1.0)
            ax.set_ylim(low - margin, high + margin)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, title=self.title)
        ax.grid(alpha=0.3)
        if self.far_ is not None or self.groups is not None:
            n_columns = -(-len(self.curves) // LEGEND_GROUPS)
            legend = ax.legend(
                title=plain(self.group_name) or None, fontsize="small", ncols=n_columns
            )
            legend.get_frame().set_edgecolor(GREY)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: Vector | None = None,
        *,
        groups: Labels | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of the best law, and rows.

        Parameters
        ----------
        estimator : fitted LawFinder, Law or LawsByGroup
        X : array-like of shape (n_samples, n_features), or frame
            A frame may have the target among its columns.
        y : array-like of shape (n_samples,), default=None
            The target, where the law has one that is no column of X.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, of laws by group.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : LawCurveDisplay

        Raises
        ------
        ValueError
            Where no law was found, or its target depends on more than one variable.
        """
        answer = law_anatomy(estimator)
        if answer.best is None or not (answer.laws or isinstance(estimator, (Law, LawsByGroup))):
            raise ValueError("no law was found: give an equation, such as one of front_.")
        rows = law_rows(answer.by_group or answer.best, X, y, groups=groups)
        laws = (answer.best,) if answer.by_group is None else answer.by_group.laws
        found = law_curves(laws, rows)
        if found is None:
            raise ValueError(
                "the law has no curve: its target has to depend on one column, or on one product "
                "of columns."
            )
        sample = evenly(len(found.x), POINTS)
        edge = f" ({found.n_at_edge} rows at 0 are at the left edge)" if found.n_at_edge else ""
        name = axis_name(found.name) if is_symbol(found.name) else plain(found.name)
        unit = found.rows.units.get(found.column or "")
        target = found.rows.in_unit(plain(found.rows.name))
        one = found.curves[0].law
        return cls(
            curves=found.curves,
            x=found.shown_x[sample],
            y=found.rows.measured[sample],
            far=found.rows.far[sample],
            groups=None if found.rows.groups is None else found.rows.groups[sample],
            group_name=str(getattr(groups, "name", None) or ""),
            logarithmic=found.logarithmic,
            xlabel=name + (f" [{plain(unit)}]" if unit else "") + edge,
            ylabel=axis_name(target) if is_symbol(target) else target,
            title=written(one) if answer.by_group is None else "",
        ).plot(ax)
