"""Errors of classifiers against their complexity, and the one that was chosen."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing.learning.search import VanishingClassifierCV
from vanishing.plot._shared import PALETTE, AxesDisplay


@dataclass(kw_only=True, eq=False, repr=False)
class SearchFrontDisplay(AxesDisplay):
    """The score of the best classifier of each complexity; that of the search is marked.

    Parameters
    ----------
    complexity : ndarray of shape (n_points,)
        How many numbers decide.
    error : ndarray of shape (n_points,)
        One minus the mean score.
    std : ndarray of shape (n_points,)
        Standard errors of these, over the folds.
    chosen : tuple of two floats
        Complexity and error of the classifier that was chosen.
    title : str, default="Error against complexity"

    Attributes
    ----------
    line_ : matplotlib Line2D
    chosen_ : matplotlib Line2D
        The mark of the classifier that was chosen.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    vanishing.VanishingClassifierCV : Its `front_` has the parameters of each point.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifierCV
    >>> from vanishing.plot import SearchFrontDisplay
    >>> search = VanishingClassifierCV().fit(*load_iris(return_X_y=True))
    >>> display = SearchFrontDisplay.from_estimator(search)
    >>> bool((display.error[1:] < display.error[:-1]).all())
    True
    """

    complexity: np.ndarray
    error: np.ndarray
    std: np.ndarray
    chosen: tuple[float, float]
    title: str = "Error against complexity"

    def _draw(self, ax):
        colour = {"color": PALETTE[0]}
        ax.errorbar(self.complexity, self.error, self.std, fmt="none", elinewidth=1.0, **colour)
        (self.line_,) = ax.plot(self.complexity, self.error, "o-", markersize=6, lw=1.2, **colour)
        mark = {"ms": 17, "mfc": "none", "mec": PALETTE[1], "mew": 2, "label": "chosen"}
        (self.chosen_,) = ax.plot(*self.chosen, "o", **mark)
        ax.set_xscale("log")
        ax.set_ylim(bottom=0.0)
        ax.set(xlabel="numbers that decide", ylabel="1 - mean score", title=self.title)
        ax.legend(loc="upper right", frameon=False, markerscale=0.5)
        ax.grid(alpha=0.3)

    @classmethod
    def from_estimator(cls, estimator: VanishingClassifierCV, *, ax: Any = None) -> Self:
        """Draw the front of a fitted search.

        Parameters
        ----------
        estimator : fitted VanishingClassifierCV
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : SearchFrontDisplay
        """
        points = getattr(estimator, "front_", None)
        if points is None:
            raise TypeError(
                f"A {type(estimator).__name__} has searched nothing: give a VanishingClassifierCV."
            )
        if not points:
            raise ValueError(
                "this search was saved by a version of vanishing that did not count how many "
                "numbers decide. Fit it again."
            )
        results: Any = estimator.cv_results_
        place = estimator.best_index_
        display = cls(
            complexity=np.array([point.complexity for point in points]),
            error=1.0 - np.array([point.score for point in points]),
            std=np.array([point.std for point in points]) / np.sqrt(estimator.n_splits_),
            chosen=(
                float(results["mean_complexity"][place]),
                1.0 - float(results["mean_test_score"][place]),
            ),
        )
        return display.plot(ax)
