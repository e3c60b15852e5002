"""Scores of rows with their threshold, and the columns that are to blame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing._types import Table
from vanishing.inspection.outliers import outlier_rows
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.plot._shared import GREY, PALETTE, PanelsDisplay, plain
from vanishing.plot.settings import BARS


@dataclass(kw_only=True, eq=False, repr=False)
class OutlierDisplay(PanelsDisplay):
    """Scores over the rows with the threshold, and how often each column is to blame for alarms.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    threshold : float
        Rows below it are outliers.
    columns : sequence of str
        Names of the columns.
    blamed : ndarray of shape (n_columns,)
        In how many outliers each column is named; one half where two are named.
    title : str, default="Outliers"
    rows : ndarray of shape (n_samples,), default=None
        Numbers of the rows; None counts from 0.

    Attributes
    ----------
    points_ : list of matplotlib PathCollection
        Normal rows, and outliers.
    line_ : matplotlib Line2D
        The threshold.
    bars_ : matplotlib BarContainer
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    vanishing.VanishingOutlierDetector.explain : Why rows are odd.
    vanishing.report.write_report : A page with the oddest rows and their reasons.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VanishingOutlierDetector
    >>> from vanishing.plot import OutlierDisplay
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> X = np.column_stack([x, x.sum(axis=1)])
    >>> X[3, 2] += 1.0
    >>> detector = VanishingOutlierDetector(random_state=0).fit(X)
    >>> display = OutlierDisplay.from_estimator(detector, X)
    >>> int(display.scores.argmin())
    3
    """

    scores: np.ndarray
    threshold: float
    columns: Sequence[str]
    blamed: np.ndarray
    title: str = "Outliers"
    rows: np.ndarray | None = None

    def _layout(self):
        return 2, 2, (4.8, 3.6), None

    def _draw(self, axes):
        left, right = axes
        is_outlier = self.scores < self.threshold
        rows = np.arange(len(self.scores)) if self.rows is None else self.rows
        self.points_ = [
            left.scatter(rows[kind], self.scores[kind], s=size, color=colour, label=label)
            for kind, size, colour, label in (
                (~is_outlier, 6, GREY, "normal"),
                (is_outlier, 16, PALETTE[1], "outlier"),
            )
        ]
        self.line_ = left.axhline(self.threshold, color=PALETTE[0], linestyle="--", linewidth=1.5)
        left.set(xlabel="row", ylabel="score (lower is odder)")
        left.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
        order = np.argsort(-self.blamed, kind="stable")[:BARS][::-1]
        names = [plain(self.columns[i]) for i in order]
        self.bars_ = right.barh(names, self.blamed[order], color=PALETTE[1])
        right.set(xlabel="outliers that the column is to blame for")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Table, *, ax: Any = None) -> Self:
        """Draw the scores of rows by a fitted detector.

        Parameters
        ----------
        estimator : fitted VanishingOutlierDetector
        X : array-like of shape (n_samples, n_features)
        ax : matplotlib Axes or two of them, default=None

        Returns
        -------
        display : OutlierDisplay
        """
        if not isinstance(estimator, VanishingOutlierDetector):
            raise TypeError(
                f"OutlierDisplay draws a VanishingOutlierDetector; got {type(estimator).__name__}."
            )
        rows = outlier_rows(estimator, X)
        display = cls(
            scores=rows.scores,
            threshold=rows.threshold,
            columns=rows.names,
            blamed=rows.blamed,
            title=f"{rows.n_alarms} outliers in {len(rows.scores)} rows",
            rows=None if rows.index is None else rows.numbers,
        )
        return display.plot(ax)
