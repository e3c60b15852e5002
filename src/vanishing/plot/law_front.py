"""Errors of equations against their numbers of terms, and the law that was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing.inspection import law_anatomy
from vanishing.plot._shared import GREY, PALETTE, AxesDisplay, plain, written


@dataclass(kw_only=True, eq=False, repr=False)
class LawFrontDisplay(AxesDisplay):
    """The error of the best equation of each number of terms; that of the law is marked.

    Parameters
    ----------
    n_terms : ndarray of int of shape (n_equations,)
    errors : ndarray of shape (n_equations,)
    chosen : int or None
        The place of the law among them; None where no law holds.
    equations : sequence of str
        As they are written in the picture.
    ylabel : str, default="rms error"
    title : str, default="Error against length"

    Attributes
    ----------
    line_ : matplotlib Line2D
    chosen_ : matplotlib Line2D or None
        The mark of the law.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LawPredictionDisplay : Measured against predicted values.
    LawResidualsDisplay : Measured minus predicted values, against each column.
    LawUnexplainedDisplay : Whether columns explain what a law does not.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import LawFinder
    >>> from vanishing.plot import LawFrontDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(500, 2))
    >>> y = 2.5 * X[:, 0] / X[:, 1] + rng.normal(scale=0.01, size=500)
    >>> display = LawFrontDisplay.from_estimator(LawFinder().fit(X, y))
    >>> int(display.n_terms[display.chosen])
    2
    """

    n_terms: np.ndarray
    errors: np.ndarray
    chosen: int | None
    equations: Sequence[str]
    ylabel: str = "rms error"
    title: str = "Error against length"

    def _draw(self, ax):
        style = {"color": PALETTE[0], "markersize": 6, "lw": 1.2}
        (self.line_,) = ax.plot(self.n_terms, self.errors, "o-", **style)
        self.chosen_ = None
        if self.chosen is not None:
            mark = {"ms": 17, "mfc": "none", "mec": PALETTE[1], "mew": 2}
            (self.chosen_,) = ax.plot(
                self.n_terms[self.chosen], self.errors[self.chosen], "o", **mark
            )
        self._axis(ax)
        label = self.equations[self.chosen] if self.chosen is not None else "no law was found"
        colour = PALETTE[1] if self.chosen is not None else GREY
        ax.text(0.98, 0.96, label, color=colour, ha="right", va="top", transform=ax.transAxes)
        ax.set(xlabel="number of terms", ylabel=self.ylabel, title=self.title)
        ax.grid(alpha=0.3)

    def _axis(self, ax):
        """Set the range of the axes, with room for what is written above."""
        positive = self.errors[self.errors > 0]
        if not len(self.n_terms):
            ax.set(xlim=(1, 6), ylim=(0, 1), xticks=[], yticks=[])
            return
        ax.set_xticks(range(min(self.n_terms), max(self.n_terms) + 1))
        ax.set_xlim(min(self.n_terms) - 0.6, max(self.n_terms) + 0.6)
        if len(positive) == len(self.errors) and positive.max() > 10 * positive.min():
            ax.set_yscale("log")
            low, high = positive.min(), positive.max()
            ax.set_ylim(low * (low / high) ** 0.1, high * (high / low) ** 0.3)
        else:
            ax.set_ylim(0, 1.35 * (max(self.errors) or 1.0))

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the front of a fitted finder.

        Parameters
        ----------
        estimator : fitted LawFinder, or Law
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : LawFrontDisplay
        """
        answer = law_anatomy(estimator)
        front, texts = list(answer.front), [str(law) for law in answer.front]
        chosen = None
        if answer.laws:
            law = answer.laws[0]
            if str(law) not in texts:
                front = sorted([*front, law], key=lambda equation: equation.n_terms)
                texts = [str(equation) for equation in front]
            chosen = texts.index(str(law))
        of = "" if answer.target is None else f" of {plain(answer.target)}"
        unit = " relative to the columns' spread" if answer.target is None else of
        display = cls(
            n_terms=np.array([law.n_terms for law in front], dtype=np.int64),
            errors=np.array([law.error for law in front]),
            chosen=chosen,
            equations=[written(law) for law in front],
            ylabel=f"rms error{unit}",
            title=f"Equations{of}: error against length",
        )
        return display.plot(ax)
