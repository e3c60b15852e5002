"""What a law leaves unexplained, and whether columns explain it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vanishing.inspection import LawRows, unexplained
from vanishing.inspection.laws import percent
from vanishing.plot._laws import LawRowsDisplay
from vanishing.plot._shared import GREY, PALETTE, AxesDisplay, axis_name, plain


@dataclass(kw_only=True, eq=False, repr=False)
class LawUnexplainedDisplay(LawRowsDisplay, AxesDisplay):
    """How much of what a law leaves unexplained a smooth function of each column explains.

    One bar per column, and one for all columns together. The mark on a bar is exceeded by chance in
    one of a hundred tables; a bar beyond its mark says that the law lacks something.

    Parameters
    ----------
    explained : float
        Share of the variance of the predicted column that the law explains.
    names : sequence of str
        Of the columns; ``""`` is all of them together.
    shares : ndarray of shape (n_names,)
        Of what the law leaves unexplained.
    chance : ndarray of shape (n_names,)
        What chance alone exceeds once in a hundred tables.
    exact : bool, default=False
        Whether that is rounding.
    name : str, default="y"
        What is predicted.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
    marks_ : matplotlib LineCollection
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LawFrontDisplay : Errors of the equations that were compared.
    LawPredictionDisplay : Measured against predicted values.
    LawResidualsDisplay : Measured minus predicted values, against each column.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import check_law
    >>> from vanishing.plot import LawUnexplainedDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(500, 2))
    >>> y = 2.5 * X[:, 0] / X[:, 1] + rng.normal(scale=0.01, size=500)
    >>> display = LawUnexplainedDisplay.from_estimator(check_law("y = k*x0", X, y), X, y)
    >>> dict(zip(display.names, display.shares > display.chance))["x1"]
    np.True_
    """

    explained: float
    names: Sequence[str]
    shares: np.ndarray
    chance: np.ndarray
    exact: bool = False
    name: str = "y"

    @property
    def _size(self):
        return 6.4, 1.9 + 0.32 * len(self.names)

    def _draw(self, ax):
        places = np.arange(len(self.names))
        beyond = self.shares > self.chance
        self.bars_ = ax.barh(
            places, self.shares, 0.55, color=[PALETTE[1] if b else PALETTE[0] for b in beyond]
        )
        self.marks_ = ax.vlines(self.chance, places - 0.42, places + 0.42, color=GREY, lw=2)
        labels = [axis_name(name) if name else "all columns together" for name in self.names]
        ax.set_yticks(places, labels)
        ax.invert_yaxis()
        top = max([0.05, *(1.15 * self.shares), *(1.3 * self.chance)])
        ax.set_xlim(0, min(top, 1.02))
        ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        ax.set_xlabel(
            "share of the rest that a smooth function of the column explains\n"
            "(line: exceeded by chance in one of 100 tables)"
        )
        ax.set_title(self._title())
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)

    def _title(self) -> str:
        if self.exact:
            return f"The law explains {plain(self.name)} up to rounding"
        if not self.explained > 0.0:
            return f"The law explains nothing of the variance of {plain(self.name)}"
        return f"The law explains {percent(self.explained)} of the variance of {plain(self.name)}"

    @classmethod
    def _of(cls, rows: LawRows):
        return cls(**unexplained(rows)._asdict(), name=rows.name)
