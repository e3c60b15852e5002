"""Conserved quantities over time, and level curves among the runs of two columns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._types import Labels, Table, Vector
from vanishing.inspection import motion_rows
from vanishing.inspection.motion import spread
from vanishing.inspection.samples import evenly
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.quantity import ConservedQuantity
from vanishing.plot._shared import (
    GREY,
    PALETTE,
    AxesDisplay,
    PanelsDisplay,
    axis_name,
    plain,
    pyplot,
    written,
)
from vanishing.plot.settings import LEVELS, RUNS


def _quantities(estimator) -> list[ConservedQuantity]:
    """Return what was found; raise an error where there is nothing to draw."""
    if not isinstance(estimator, ConservedQuantities):
        raise TypeError(f"a ConservedQuantities is needed; got {type(estimator).__name__}.")
    check_is_fitted(estimator, "quantities_")
    if not estimator.quantities_:
        raise ValueError(f"there is nothing to draw. {estimator.verdict_}")
    return estimator.quantities_


@dataclass(kw_only=True, eq=False, repr=False)
class ConservedQuantitiesDisplay(PanelsDisplay):
    """Conserved quantities over time, one line per run.

    One panel per quantity. Where it is conserved, lines are level; bars at the right compare the
    spread within runs with that between them.

    Parameters
    ----------
    times : list of ndarray
        Of the rows of each run, in order.
    values : list of ndarray of shape (n_rows, n_quantities)
        Of each run.
    names : list of str
        Of the quantities.
    time_name : str, default="time"

    Attributes
    ----------
    within_, between_ : ndarray of shape (n_quantities,)
        Standard deviations within runs, and of the means of runs.
    lines_ : list of lists of matplotlib Line2D
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    PhasePortraitDisplay : Runs and level curves in the plane of two columns.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import ConservedQuantities
    >>> from vanishing.plot import ConservedQuantitiesDisplay
    >>> t = np.linspace(0.0, 5.0, 50)
    >>> size = np.arange(1.0, 9.0)
    >>> X = np.vstack([s * np.column_stack([np.cos(t), np.sin(t)]) for s in size])
    >>> runs = np.repeat(size, 50)
    >>> model = ConservedQuantities().fit(X, groups=runs)
    >>> display = ConservedQuantitiesDisplay.from_estimator(model, X, runs, np.tile(t, 8))
    >>> len(display.lines_[0])
    8
    """

    times: list[np.ndarray]
    values: list[np.ndarray]
    names: list[str]
    time_name: str = "time"

    def _layout(self):
        return len(self.names), 1, (6.4, 2.6), "sharex"

    def _draw(self, axes):
        values = np.concatenate(self.values)
        run = np.repeat(np.arange(len(self.values)), [len(rows) for rows in self.values])
        self.within_, self.between_ = np.array([spread(column, run) for column in values.T]).T
        chosen = evenly(len(self.times), RUNS)
        self.lines_ = []
        for i, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            order = np.argsort(np.argsort([self.values[k][:, i].mean() for k in chosen]))
            shades = pyplot().get_cmap("viridis")(0.9 * order / max(1, len(chosen) - 1))
            self.lines_.append(
                [
                    axis.plot(self.times[k], self.values[k][:, i], color=shade, lw=1)[0]
                    for k, shade in zip(chosen, shades, strict=True)
                ]
            )
            self._draw_spread(axis, i, np.nanmean(values[:, i]))
            numbers = f"spread between runs {self.between_[i]:.3g}, within {self.within_[i]:.2g}"
            axis.set_title(f"{name}\n{numbers}", fontsize="medium", loc="left")
            axis.grid(alpha=0.3)
        axes[-1].set_xlabel(plain(self.time_name))

    def _draw_spread(self, axis, i: int, middle: float) -> None:
        """Draw bars of the spread within and between runs at the right of a panel."""
        style = {"lw": 4, "solid_capstyle": "butt", "clip_on": False}
        at_the_right = axis.get_yaxis_transform()
        for x, size, colour in (
            (1.02, self.between_[i], GREY),
            (1.045, self.within_[i], PALETTE[1]),
        ):
            ends = [middle - size, middle + size]
            axis.plot([x, x], ends, transform=at_the_right, color=colour, **style)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        groups: Labels | None,
        t: Vector | None = None,
        *,
        ax: Any = None,
    ) -> Self:
        """Draw the quantities that were found.

        Parameters
        ----------
        estimator : fitted ConservedQuantities
        X : array-like of shape (n_samples, n_features), or frame
        groups : array-like of shape (n_samples,)
            Which run each row belongs to.
        t : array-like of shape (n_samples,), default=None
            Times; None takes rows of a run in their order.
        ax : matplotlib Axes or as many as there are quantities, default=None

        Returns
        -------
        display : ConservedQuantitiesDisplay
        """
        quantities = _quantities(estimator)
        runs = motion_rows(estimator, X, groups, t).runs
        display = cls(
            times=[run.times for run in runs],
            values=[run.values for run in runs],
            names=[written(quantity) for quantity in quantities],
            time_name="row of the run" if t is None else "time",
        )
        return display.plot(ax)


@dataclass(kw_only=True, eq=False, repr=False)
class PhasePortraitDisplay(AxesDisplay):
    """Runs in the plane of two columns, and level curves of a conserved quantity.

    Where the quantity is conserved, each run stays on one of its level curves.

    Parameters
    ----------
    runs : list of ndarray of shape (n_rows, 2)
    x, y : ndarray of shape (n,)
        The grid.
    values : ndarray of shape (n, n)
        Of the quantity on the grid; a row per y.
    levels : ndarray
        Increasing: values of the quantity along runs, at most twelve.
    names : tuple of str
        Of the columns.
    title : str, default=""

    Attributes
    ----------
    contours_ : matplotlib ContourSet
    points_ : list of matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    ConservedQuantitiesDisplay : Quantities over time, for any number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import ConservedQuantities
    >>> from vanishing.plot import PhasePortraitDisplay
    >>> t = np.linspace(0.0, 5.0, 50)
    >>> size = np.arange(1.0, 9.0)
    >>> X = np.vstack([s * np.column_stack([np.cos(t), np.sin(t)]) for s in size])
    >>> runs = np.repeat(size, 50)
    >>> model = ConservedQuantities().fit(X, groups=runs)
    >>> PhasePortraitDisplay.from_estimator(model, X, runs).levels.round(6)
    array([ 1.,  4.,  9., 16., 25., 36., 49., 64.])
    """

    runs: list[np.ndarray]
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    levels: np.ndarray
    names: tuple[str, ...]
    title: str = ""

    _size = (5.6, 4.4)

    def _draw(self, ax):
        style = {"colors": PALETTE[1], "linewidths": 1.0, "linestyles": "solid"}
        self.contours_ = ax.contour(self.x, self.y, self.values, self.levels, **style)
        self.points_ = [
            ax.plot(*self.runs[i].T, ".", color=PALETTE[0], ms=3, alpha=0.6, mew=0)[0]
            for i in evenly(len(self.runs), RUNS)
        ]
        ax.set(xlabel=axis_name(self.names[0]), ylabel=axis_name(self.names[1]))
        ax.set_title(self.title, fontsize="medium")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        groups: Labels | None,
        *,
        quantity: int = 0,
        grid: int = 300,
        ax: Any = None,
    ) -> Self:
        """Draw runs, and level curves of a quantity through at most twelve of them.

        Parameters
        ----------
        estimator : fitted ConservedQuantities
            Of two columns.
        X : array-like of shape (n_samples, 2), or frame
        groups : array-like of shape (n_samples,)
            Which run each row belongs to.
        quantity : int, default=0
            Place of the quantity among those found.
        grid : int, default=300
            Points of the grid in each direction.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : PhasePortraitDisplay
        """
        quantities = _quantities(estimator)
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"a phase portrait needs two columns; the model has {estimator.n_features_in_}."
            )
        if not 0 <= quantity < len(quantities):
            raise ValueError(f"quantity must be below {len(quantities)}; got {quantity!r}.")
        chosen = quantities[quantity]
        runs = motion_rows(estimator, X, groups).runs
        rows = np.asarray(X, dtype=np.float64)
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = 0.05 * (high - low)
        x, y = (np.linspace(a, b, grid) for a, b in zip(low - margin, high + margin, strict=True))
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        values = np.ma.masked_invalid(chosen(points).reshape(grid, grid))
        levels = np.unique([run.mean(quantity) for run in runs])
        display = cls(
            runs=[rows[run.places] for run in runs],
            x=x,
            y=y,
            values=values,
            levels=levels[evenly(len(levels), LEVELS)],
            names=chosen.names,
            title=written(chosen),
        )
        return display.plot(ax)
