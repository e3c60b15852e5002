"""Readings of a sensor before and after calibration, beside the circle they should be on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from vanishing._types import Table
from vanishing.calibration.ellipsoid import EllipsoidCalibration
from vanishing.estimators.names import input_names
from vanishing.plot._shared import GREY, PALETTE, PanelsDisplay, axis_name


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationDisplay(PanelsDisplay):
    """Readings about their origin, before and after calibration, for each pair of axes.

    Parameters
    ----------
    before, after : ndarray of shape (n_samples, n_axes)
        Readings, and calibrated readings.
    radius : float
        Of the sphere that calibrated readings are on; its outline is drawn.
    columns : sequence of str
        Names of the axes.
    title : str, default="Calibration"

    Attributes
    ----------
    points_ : list of matplotlib PathCollection
        Two per panel: readings before and after.
    outlines_ : list of matplotlib Line2D
        The outline of the sphere, one per panel.
    axes_ : ndarray of matplotlib Axes
        One per pair of axes of the sensor.
    figure_ : matplotlib Figure

    See Also
    --------
    vanishing.EllipsoidCalibration : Finds the calibration.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import EllipsoidCalibration
    >>> from vanishing.plot import CalibrationDisplay
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([3 + 2 * np.cos(angle), 1 + np.sin(angle)])
    >>> calibration = EllipsoidCalibration().fit(X)
    >>> display = CalibrationDisplay.from_estimator(calibration, X)
    >>> round(display.radius, 3)
    1.414
    """

    before: np.ndarray
    after: np.ndarray
    radius: float
    columns: Sequence[str]
    title: str = "Calibration"

    def _layout(self):
        n_panels = len(self._pairs)
        return n_panels, n_panels, (3.6, 3.8), None

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.before.shape[1]), 2))

    def _draw(self, axes):
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        self.points_, self.outlines_ = [], []
        for panel, (i, j) in zip(axes, self._pairs, strict=True):
            kinds = ((self.before, GREY, "before"), (self.after, PALETTE[0], "after"))
            self.points_ += [
                panel.scatter(rows[:, i], rows[:, j], s=5, alpha=0.5, color=colour, label=label)
                for rows, colour, label in kinds
            ]
            circle = self.radius * np.cos(angle), self.radius * np.sin(angle)
            self.outlines_ += panel.plot(*circle, color=PALETTE[1], linewidth=1.5, label="sphere")
            panel.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
            panel.axvline(0.0, color="0.85", linewidth=0.8, zorder=0)
            panel.set_aspect("equal", adjustable="datalim")
            panel.set(xlabel=axis_name(self.columns[i]), ylabel=axis_name(self.columns[j]))
        axes[0].legend(loc="best", fontsize="small", framealpha=0.9)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Table, *, ax: Any = None) -> Self:
        """Draw readings before and after a fitted calibration.

        Parameters
        ----------
        estimator : fitted EllipsoidCalibration
        X : array-like of shape (n_samples, n_features)
            Readings.
        ax : matplotlib Axes or as many as there are pairs of axes, default=None

        Returns
        -------
        display : CalibrationDisplay
        """
        if not isinstance(estimator, EllipsoidCalibration):
            raise TypeError(
                f"CalibrationDisplay draws an EllipsoidCalibration; got {type(estimator).__name__}."
            )
        after = np.asarray(estimator.transform(X))
        if not estimator.is_determined_:
            raise ValueError(f"there is no calibration to draw: {estimator.verdict_}")
        display = cls(
            before=np.asarray(X, dtype=np.float64),
            after=after,
            radius=float(estimator.radius_),
            columns=[str(name) for name in input_names(estimator)],
        )
        return display.plot(ax)
