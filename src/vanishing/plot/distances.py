"""Distances of rows to the varieties of the classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from vanishing._types import Labels, Table
from vanishing.algebra.distances import distance_to_variety
from vanishing.inspection import places
from vanishing.inspection.samples import evenly
from vanishing.plot._shared import (
    PanelsDisplay,
    colours,
    drawable,
    inches,
    longest,
    marker,
    name_of,
    plain,
)
from vanishing.plot.settings import STRIP_POINTS


@dataclass(kw_only=True, eq=False, repr=False)
class DistanceDisplay(PanelsDisplay):
    """How far the rows of each class are from the variety of each class.

    One panel per variety, one box per class of rows, on a logarithmic axis. Distances are those of
    `distance_to_variety`.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_varieties)
    labels : ndarray of int of shape (n_samples,)
        The class of each row, as a place in ``classes``.
    classes : sequence
        Names of the classes of rows.
    varieties : sequence
        Names of the varieties: classes too, or None for a variety of all rows.
    title : str, default="Distances to varieties"
    ylabel : str, default="distance"

    Attributes
    ----------
    boxes_ : list of dicts
        What matplotlib's ``boxplot`` returned, one per panel.
    strips_ : list of lists of matplotlib PathCollection
        A sample of the rows themselves, by panel and class.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    distance_to_variety : The distances as numbers.
    ZeroSetDisplay : The varieties themselves, in two or three columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> from vanishing.plot import DistanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifier().fit(X, y)
    >>> display = DistanceDisplay.from_estimator(model, X, y)
    >>> bool(display.distances[y == 0, 0].max() < display.distances[y == 1, 0].min())
    True
    """

    distances: np.ndarray
    labels: np.ndarray
    classes: Sequence
    varieties: Sequence
    title: str = "Distances to varieties"
    ylabel: str = "distance"

    @property
    def _width(self) -> float:
        """Inches that the names of the classes need."""
        return len(self.classes) * max(0.35, 0.1 * longest(map(plain, self.classes)) + 0.1)

    def _layout(self):
        n_columns = min(len(self.varieties), 4)
        width = max(np.clip(self._width + 0.8, 2.6, 5), 5.6 / n_columns)  # the title needs room too
        return len(self.varieties), n_columns, (width, 3.6), "sharey"

    def _draw(self, axes):
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        n_classes = len(self.classes)
        names = [plain(label) for label in self.classes]
        # A logarithmic axis has no zero: what is below a millionth of the largest is drawn there.
        largest = self.distances[np.isfinite(self.distances)].max(initial=0.0) or 1.0
        shown = np.clip(self.distances, 1e-6 * largest, largest)
        self.boxes_: list[Any] = []
        self.strips_: list[Any] = []
        for i, (axis, variety) in enumerate(zip(axes, self.varieties, strict=True)):
            self._draw_groups(axis, [shown[self.labels == k, i] for k in range(n_classes)], variety)
            axis.set_yscale("log")
            axis.grid(axis="y", alpha=0.3)
            narrow = inches(axis)[0] < 0.8 * self._width
            turned = {"rotation": 30, "ha": "right"} if narrow else {}
            axis.set_xticks(np.arange(1, n_classes + 1), names, **turned)
            if n_classes > 1:
                axis.set_xlabel("class of the rows")
            if variety is not None:
                axis.get_xticklabels()[list(self.classes).index(variety)].set_fontweight("bold")
                between = "\n" if narrow else " "
                axis.set_title(f"to the variety of{between}{plain(variety)}", fontsize="medium")
            if i % 4 == 0:
                axis.set_ylabel(self.ylabel)
            elif axis.get_shared_y_axes().joined(axis, axes[0]):
                axis.tick_params(labelleft=False)
            if shown.min() > 1e-3 * largest:  # too few powers of ten to read the axis by
                axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.yaxis.set_minor_formatter(NullFormatter())

    def _draw_groups(self, axis, groups, variety):
        """Draw one box and strip per class; that of the variety's own class is filled."""
        boxes = axis.boxplot(groups, widths=0.6, showfliers=False, patch_artist=True)
        strips = []
        for k, (group, colour) in enumerate(zip(groups, colours(len(groups)), strict=True)):
            own = variety is not None and variety == self.classes[k]
            boxes["boxes"][k].set(
                facecolor=(colour, 0.55 if own else 0.15), edgecolor=colour, linewidth=1.5
            )
            boxes["medians"][k].set(color="black", linewidth=2)
            ends = slice(2 * k, 2 * k + 2)
            for line in boxes["whiskers"][ends] + boxes["caps"][ends]:
                line.set_color(colour)
            sample = group[evenly(len(group), STRIP_POINTS)]
            # Evenly spread by the golden ratio: the same picture every time.
            x = k + 1 + (np.arange(len(sample)) * 0.618034 % 1 - 0.5) * 0.45
            style = {"color": [colour], "marker": marker(k), "alpha": 0.5}
            strips.append(axis.scatter(x, sample, s=7, linewidths=0, zorder=3, **style))
        self.boxes_.append(boxes)
        self.strips_.append(strips)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Table, y: Labels | None = None, *, ax: Any = None
    ) -> Self:
        """Draw the distances of rows to the varieties of a fitted estimator.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
            If it scales the columns, distances are between scaled rows.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels of the rows; needed where the estimator has classes.
        ax : matplotlib Axes or as many as there are varieties, default=None

        Returns
        -------
        display : DistanceDisplay
        """
        source = drawable(estimator)
        X = validate_data(estimator, X, reset=False, dtype=np.float64)
        classes = source.classes
        if y is None:
            if classes is not None:
                raise ValueError("y is needed: the classes of the rows whose distances to draw.")
            classes, labels = ["all rows"], np.zeros(len(X), dtype=np.intp)
        else:
            classes = list(np.unique(np.asarray(y))) if classes is None else classes
            labels = places(y, classes, X)
        rows = source.scaled(X)
        scaled = " in scaled columns" if source.rescales else ""
        display = cls(
            distances=np.column_stack(
                [distance_to_variety(part.generators, rows) for part in source.parts]
            ),
            labels=labels,
            classes=classes,
            varieties=[None] if source.classes is None else source.classes,
            title=f"Distances to the varieties of {name_of(estimator)}",
            ylabel=f"distance{scaled}",
        )
        return display.plot(ax)
