"""Measured values against those that a law predicts."""

from dataclasses import dataclass

import numpy as np

from vanishing.inspection import LawRows
from vanishing.plot._laws import LawRowsDisplay, point_size
from vanishing.plot._shared import GREY, PALETTE, AxesDisplay, plain, written
from vanishing.plot.settings import POINTS


@dataclass(kw_only=True, eq=False, repr=False)
class LawPredictionDisplay(LawRowsDisplay, AxesDisplay):
    """Measured values against those that a law predicts, with the diagonal where they agree.

    Parameters
    ----------
    measured, predicted : ndarray of shape (n_samples,)
        At most a few thousand rows; predictions are NaN where the law has no solution.
    error : float
        Rms error, on all rows.
    n_undefined : int, default=0
        How many of all rows the law has no solution for.
    name : str, default="y"
        What is predicted.
    unit : str, default=""
        Of it, where that is known.
    title : str, default="Measured against predicted"

    Attributes
    ----------
    points_ : matplotlib Line2D
    diagonal_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LawFrontDisplay : Errors of the equations that were compared.
    LawResidualsDisplay : Measured minus predicted values, against each column.
    LawUnexplainedDisplay : Whether columns explain what a law does not.

    Examples
    --------
    >>> import numpy as np

    from vanishing.inspection import LawRows
    >>> from vanishing import LawFinder
    >>> from vanishing.plot import LawPredictionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(500, 2))
    >>> y = 2.5 * X[:, 0] / X[:, 1] + rng.normal(scale=0.01, size=500)
    >>> display = LawPredictionDisplay.from_estimator(LawFinder().fit(X, y), X, y)
    >>> round(display.error, 3)
    0.01
    """

    measured: np.ndarray
    predicted: np.ndarray
    error: float
    n_undefined: int = 0
    name: str = "y"
    unit: str = ""
    title: str = "Measured against predicted"

    _size = (5.2, 5.0)

    def _draw(self, ax):
        good = np.isfinite(self.predicted)
        both = np.concatenate([self.measured[good], self.predicted[good]])
        low, high = (both.min(), both.max()) if both.size else (0.0, 1.0)
        margin = 0.04 * ((high - low) or 1.0)
        ends = np.array([low - margin, high + margin])
        style = {"color": PALETTE[0], "ms": point_size(len(self.measured)), "alpha": 0.5, "mew": 0}
        (self.points_,) = ax.plot(self.predicted, self.measured, ".", **style)
        (self.diagonal_,) = ax.plot(ends, ends, "--", color=GREY, lw=1)
        note = f"rms error {self.error:.3g} {plain(self.unit)}".strip()
        if self.n_undefined:
            note += f"\nno solution on {self.n_undefined:,} rows"
        ax.text(0.03, 0.97, note, ha="left", va="top", transform=ax.transAxes)
        ax.set(xlim=ends, ylim=ends, aspect="equal", title=self.title)
        unit = f" [{plain(self.unit)}]" if self.unit else ""
        ax.set_xlabel(f"{plain(self.name)}, predicted{unit}")
        ax.set_ylabel(f"{plain(self.name)}, measured{unit}")
        ax.locator_params(nbins=5)  # the names of more would overlap
        ax.grid(alpha=0.3)

    @classmethod
    def _of(cls, rows: LawRows):
        sample = rows.thinned(POINTS)
        return cls(
            measured=sample.measured,
            predicted=sample.predicted,
            error=rows.error,
            n_undefined=rows.n_undefined,
            name=rows.name,
            unit=rows.units.get(rows.name, ""),
            title=written(rows.law, 50),
        )
