"""Equations of motion over the runs they were fitted to: paths, residuals, and the field."""

import textwrap
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing._types import Labels, Table, Vector
from vanishing.inspection import FollowedRuns, followed
from vanishing.motion.equation import EquationOfMotion
from vanishing.plot._shared import GREY, PALETTE, PanelsDisplay, axis_name, is_symbol, plain
from vanishing.plot.settings import FIELD, FOLLOWED_RUNS

_TITLE_WIDTH = 56  # characters of an equation on one line above a panel
_COLOURS = {False: PALETTE[0], True: PALETTE[1]}  # of runs, by whether they were held out


def _title(equation: EquationOfMotion) -> str:
    """Write an equation above a panel: as a formula if its names are symbols, else on lines."""
    text = str(equation)
    if len(text) > _TITLE_WIDTH or not all(map(is_symbol, equation.names)):
        return plain(textwrap.fill(text, _TITLE_WIDTH))
    return f"${equation.to_latex().replace('frac', 'dfrac', 1)}$"


@dataclass(kw_only=True, eq=False, repr=False)
class EquationsOfMotionDisplay(PanelsDisplay):
    """Measured runs, where the equations of motion take them, and what is left over.

    One panel per column has the rows as points and the integrated equations as lines, from starts
    that are fitted; another one has the residuals over time. Runs that were held out have a colour
    of their own. Where there are two states and no inputs, a phase portrait has the runs in the
    field of the equations.

    Parameters
    ----------
    followed : FollowedRuns
        What `vanishing.inspection.followed` returns.
    titles : list of str
        The equations.

    Attributes
    ----------
    points_ : list of lists of matplotlib Line2D
        Measured rows: for each column, one per run.
    lines_ : list of lists of matplotlib Line2D
        The integrated equations.
    residuals_ : list of lists of matplotlib Line2D
        Measured minus integrated.
    field_ : matplotlib StreamplotSet or None
        The field of the phase portrait; None where there is no portrait.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    ConservedQuantitiesDisplay : What stays the same along runs.
    PhasePortraitDisplay : Runs and level curves in the plane of two columns.

    Examples
    --------
    >>> from vanishing import EquationsOfMotion
    >>> from vanishing.datasets import make_motion
    >>> from vanishing.plot import EquationsOfMotionDisplay
    >>> X, t, runs = make_motion("oscillator", 4, 80, noise=0.01, random_state=0)
    >>> model = EquationsOfMotion(functions=()).fit(X, t, runs)
    >>> display = EquationsOfMotionDisplay.from_estimator(model, X, t, runs)
    >>> len(display.axes_), len(display.lines_[0])
    (5, 4)
    """

    followed: FollowedRuns
    titles: list[str]

    def _layout(self):
        n = len(self.followed.names)
        if self.followed.has_field:  # the paths and the portrait above, the residuals below
            return 2 * n + 1, n + 1, (4.4, 3.2), None
        return 2 * n, 2, (5.0, 2.4), None

    def _draw(self, axes):
        n, has_field = len(self.followed.names), self.followed.has_field
        if has_field:
            above, portrait, below = axes[:n], axes[n], axes[n + 1 :]
        else:
            above, portrait, below = axes[::2], None, axes[1::2]
        self.points_, self.lines_, self.residuals_ = [], [], []
        for j in range(n):
            self._draw_column(above[j], j)
            self._draw_residuals(below[j], j)
        self.field_ = None if portrait is None else self._draw_portrait(portrait)
        self._draw_legend(above[0])

    @property
    def _marker_size(self) -> int:
        """The size of points: few are larger."""
        return 10 if sum(len(run.times) for run in self.followed.runs) < 100 else 5

    def _draw_column(self, ax, j: int) -> None:
        """Draw the rows and the path of a column over time."""
        points, lines = [], []
        for run in self.followed.runs:
            colour = _COLOURS[run.held_out]
            style = {"color": colour, "ms": self._marker_size, "alpha": 0.45, "mew": 0}
            points += ax.plot(run.times, run.measured[:, j], ".", **style)
            lines += ax.plot(run.curve_times, run.curve[:, j], color=colour, lw=1)
        self.points_.append(points)
        self.lines_.append(lines)
        ax.set(xlabel="time", ylabel=axis_name(self.followed.names[j]))
        ax.set_title(self.titles[j], fontsize="small", loc="left")

    def _draw_residuals(self, ax, j: int) -> None:
        """Draw measured minus integrated over time, with the noise as a band."""
        noise = float(self.followed.model.noise_[j])
        ax.axhspan(-2 * noise, 2 * noise, color=GREY, alpha=0.12, lw=0)
        ax.axhline(0.0, color=GREY, lw=0.8)
        lines = []
        for run in self.followed.runs:
            style = {
                "color": _COLOURS[run.held_out],
                "ms": self._marker_size,
                "alpha": 0.7,
                "mew": 0,
            }
            lines += ax.plot(run.times, run.residuals[:, j], ".", **style)
        self.residuals_.append(lines)
        name = axis_name(self.followed.names[j])
        ax.set(xlabel="time", ylabel=f"{name}, measured minus fitted")
        ax.set_title(f"band: twice the noise of {noise:.2g}", fontsize="small", loc="left")

    def _draw_portrait(self, ax):
        """Draw runs in the plane of two states, in the field of the equations."""
        runs, is_measured = self.followed.runs, len(self.followed.names) == 2
        for run in runs:
            colour = _COLOURS[run.held_out]
            if is_measured:
                ax.plot(*run.measured.T, ".", color=colour, ms=self._marker_size, alpha=0.4, mew=0)
            ax.plot(*run.curve.T, color=colour, lw=1.2)
        x, y, slopes = self.followed.field_grid(FIELD)
        with np.errstate(invalid="ignore"):
            arrows = ax.streamplot(
                x, y, slopes[..., 0], slopes[..., 1], color="#B8B8B8", linewidth=0.6,
                arrowsize=0.7, density=1.1, zorder=0,
            )  # fmt: skip
        names = [axis_name(name) for name in self.followed.states]
        ax.set(xlabel=names[0], ylabel=names[1], xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
        ax.set_title("runs in the field", fontsize="small", loc="left")
        return arrows

    def _draw_legend(self, ax) -> None:
        """Name the colours, where runs were held out."""
        kinds = {
            run.held_out: line for run, line in zip(self.followed.runs, self.lines_[0], strict=True)
        }
        if len(kinds) == 2:
            ax.legend([kinds[False], kinds[True]], ["fitted", "held out"], fontsize="small")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        t: Vector,
        groups: Labels | None = None,
        inputs: Table | None = None,
        *,
        ax: Any = None,
    ) -> Self:
        """Draw runs and where the equations that were found take them.

        Of more than 40 runs, 40 are drawn: some of those held out, and some of the others.

        Parameters
        ----------
        estimator : fitted EquationsOfMotion
        X : array-like of shape (n_samples, n_features), or frame
        t : array-like of shape (n_samples,)
            Times of the rows.
        groups : array-like of shape (n_samples,), default=None
            Which run each row belongs to; None means that all are one run.
        inputs : array-like of shape (n_samples, n_inputs), default=None
            Those that the model was fitted with.
        ax : matplotlib Axes or as many as there are panels, default=None

        Returns
        -------
        display : EquationsOfMotionDisplay
        """
        runs = followed(estimator, X, t, groups, inputs, max_runs=FOLLOWED_RUNS)
        if not estimator.equations_:
            raise ValueError(f"there is nothing to draw. {estimator.verdict_}")
        equations = estimator.equations_[: len(runs.names)]
        if estimator.differing_:
            titles = [f"{equation.left}, by batch" for equation in equations]
        else:
            titles = [_title(equation) for equation in equations]
        return cls(followed=runs, titles=titles).plot(ax)
