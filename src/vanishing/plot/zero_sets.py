"""Zero sets of generators over the data: curves in the plane, surfaces in space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from vanishing._types import Labels, Table
from vanishing.checks import check_number
from vanishing.estimators.names import input_names
from vanishing.inspection import places
from vanishing.plot._shared import (
    GREY,
    axis_name,
    colours,
    drawable,
    equation,
    marker,
    name_of,
    plain,
    pyplot,
)
from vanishing.plot.geometry import march, rows_of
from vanishing.plot.settings import LEGEND_EQUATIONS, LEGEND_TERMS

_STYLES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
_LIGHT = np.array([-0.35, -0.5, 0.79])  # where it comes from


@dataclass(kw_only=True, eq=False, repr=False)
class ZeroSetDisplay:
    """Zero sets of generators over the data: curves in the plane, surfaces in space.

    Best made by `from_estimator`. Of an estimator that scales the columns, a classifier or a
    pipeline, the zero sets are drawn in the columns as they are given.

    Parameters
    ----------
    grid : sequence of 2 or 3 ndarrays
        Coordinates of the grid's points along each axis.
    values : ndarray of shape (n_generators, len(grid[0]), len(grid[1]), ...)
        Values of the generators on the grid.
    equations : sequence of str
        What a legend says of each generator.
    points : ndarray of shape (n_samples, len(grid))
        The rows, in the columns that are drawn.
    names : sequence of str
        Names of these columns.
    owners : list of int, default=None
        The class of each generator, as a place in ``classes``.
    labels : ndarray of int, default=None
        The class of each point.
    classes : sequence, default=None
        The names of the classes, if there are any.
    title : str, default="Zero sets"
    legend_title : str, default=None

    Attributes
    ----------
    contours_ : list of matplotlib QuadContourSet or None
        In the plane: the zero set of each generator, None where it has no zeros on the grid.
    meshes_ : list of tuples of ndarray
        In space: vertices and faces of each zero set, as `isosurface` returns them.
    surface_ : matplotlib Poly3DCollection
        In space: all triangles.
    scatter_ : list of matplotlib PathCollection
        The points, class by class.
    legend_ : matplotlib Legend or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    isosurface : A surface as a mesh of triangles.
    DistanceDisplay : How far rows are from zero sets, in any number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI
    >>> from vanishing.plot import ZeroSetDisplay
    >>> angle = np.linspace(0, 2 * np.pi, 51)[:-1]
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=1e-3, oracle="omp", max_degree=2).fit(X)
    >>> display = ZeroSetDisplay.from_estimator(model, X)
    >>> display.equations
    ['$x_{1}^{2} = 1 - x_{0}^{2}$']
    """

    grid: Sequence[np.ndarray]
    values: np.ndarray
    equations: Sequence[str]
    points: np.ndarray
    names: Sequence[str]
    owners: list[int] | None = None
    labels: np.ndarray | None = None
    classes: Sequence | None = None
    title: str = "Zero sets"
    legend_title: str | None = None

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; with ``projection="3d"`` for surfaces. None makes a new figure.

        Returns
        -------
        self : ZeroSetDisplay
        """
        plt = pyplot()
        in_space = len(self.grid) == 3
        new = ax is None
        if new:
            ax = self._new_axes(plt)
        elif in_space != hasattr(ax, "get_zlim"):
            raise ValueError("surfaces need an axes made with projection='3d', curves one without.")
        # One colour per class, with a line style per generator; without classes a colour for each.
        owners = self.owners or range(len(self.values))
        palette = colours(len(owners if self.classes is None else self.classes))
        styles = [
            _STYLES[0 if in_space else owners[:i].count(k) % len(_STYLES)]
            for i, k in enumerate(owners)
        ]
        if in_space:
            have_zeros = self._draw_surfaces(ax, [palette[k] for k in owners])
        else:
            have_zeros = self._draw_curves(ax, [palette[k] for k in owners], styles)
        self._draw_points(ax, palette)
        for axis, name, coordinates in zip("xyz", self.names, self.grid, strict=False):
            ax.set(**{f"{axis}label": axis_name(name), f"{axis}lim": coordinates[[0, -1]]})
        ax.set_title(self.title)
        if self.classes is not None and len(owners) > LEGEND_EQUATIONS:
            title, texts = None, [f"class {plain(label)}" for label in self.classes]
            entries = [(k, "solid", text) for k, text in enumerate(texts)]
        else:
            title = self.legend_title
            texts = [
                equation if has_zeros else f"{equation} (no zeros here)"
                for equation, has_zeros in zip(self.equations, have_zeros, strict=True)
            ]
            entries = list(zip(owners, styles, texts, strict=True))
        self._draw_legend(ax, entries, title, palette, below=new)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _new_axes(self, plt):
        spans = [axis[-1] - axis[0] for axis in self.grid]
        alike = max(spans) < 2 * min(spans)  # then a circle should look like one
        if len(spans) == 3:
            ax = plt.figure(figsize=(6.4, 6.0), layout="constrained").add_subplot(projection="3d")
            ax.set_box_aspect(spans if alike else None, zoom=0.95)
            ax.locator_params(nbins=5)
            return ax
        height = 5.2 * spans[1] / spans[0] if alike else 4.2
        legend = 0.25 * min(len(self.values), LEGEND_EQUATIONS)
        _, ax = plt.subplots(figsize=(6.4, height + 0.9 + legend), layout="constrained")
        if alike:
            ax.set_aspect("equal")
        return ax

    def _draw_curves(self, ax, line_colours, styles):
        self.contours_ = []
        for values, colour, style in zip(self.values, line_colours, styles, strict=True):
            look = {"colors": [colour], "linestyles": [style], "linewidths": 2}
            crossed = (values <= 0).any() and (values > 0).any()
            self.contours_.append(
                ax.contour(*self.grid, values.T, levels=[0.0], **look) if crossed else None
            )
        return [contours is not None for contours in self.contours_]

    def _draw_surfaces(self, ax, face_colours):
        from matplotlib.colors import to_rgb
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        self.meshes_ = [march(values, self.grid) for values in self.values]
        size = [axis[-1] - axis[0] for axis in self.grid]
        triangles, shades = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        for (vertices, faces), colour in zip(self.meshes_, face_colours, strict=True):
            triangles.append(vertices[faces])
            # Opaque, since edges of transparent triangles shine through; but not dark.
            light = 0.25 + 0.75 * np.array(to_rgb(colour))
            shades.append(np.multiply.outer(_brightness(vertices / size, faces), light))
        shades = np.concatenate(shades)
        # One collection, since matplotlib sorts triangles by depth within a collection only.
        self.surface_ = Poly3DCollection(
            np.concatenate(triangles), linewidths=0.3, facecolors=shades, edgecolors=shades
        )
        ax.add_collection3d(self.surface_)
        ax.computed_zorder = False  # the points in front, not hidden
        return [len(faces) > 0 for _, faces in self.meshes_]

    def _draw_points(self, ax, palette):
        options = {"s": 16, "linewidths": 0.4, "edgecolors": "white", "zorder": 3}
        if len(self.grid) == 3:
            options["depthshade"] = False
        if self.labels is None:
            self.scatter_ = [ax.scatter(*self.points.T, facecolors=GREY, alpha=0.8, **options)]
            return
        self.scatter_ = [
            ax.scatter(
                *self.points[self.labels == k].T, facecolors=colour, marker=marker(k), **options
            )
            for k, colour in enumerate(palette)
        ]

    def _draw_legend(self, ax, entries, title, palette, below):
        from matplotlib.lines import Line2D

        lines = []
        for k, style, text in entries:
            symbol = "" if self.classes is None else marker(k)
            lines.append(
                Line2D([], [], color=palette[k], lw=2, ls=style, marker=symbol, label=text)
            )
        place = {"loc": "outside lower center", "frameon": False} if below else {}
        owner = ax.figure if below else ax
        self.legend_ = owner.legend(handles=lines, title=title, **place) if lines else None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: Labels | None = None,
        *,
        generators: int | Sequence[int] = 4,
        columns: Sequence[Any] | None = None,
        fixed: Any = None,
        resolution: int | None = None,
        margin: float = 0.15,
        ax: Any = None,
    ) -> Self:
        """Draw the zero sets of the generators of a fitted estimator.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
        X : array-like of shape (n_samples, n_features)
            Rows to draw, in the columns that the estimator was fitted to.
        y : array-like of shape (n_samples,), default=None
            Their labels, where the estimator has classes.
        generators : int or sequence of int, default=4
            How many generators of each class, or which, by their places. A number means those with
            the largest weights, in absolute value, in a classifier's decision. If there are no
            weights, because there is no classifier or it is not linear in the features, it means
            the first ones.
        columns : sequence of 2 or 3 ints or names, default=None
            The columns to draw; needed if there are more than three.
        fixed : array-like of shape (n_features,) or dict, default=None
            Values of the other columns: one for each column, or a dict from columns to values.
            Medians of X where it says nothing. The zero sets are sections at these values, the
            points are projections.
        resolution : int, default=None
            Points of the grid along an axis; None means 300 in the plane and 40 in space.
        margin : float, default=0.15
            How far to go beyond the data, relative to its range.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : ZeroSetDisplay
        """
        source = drawable(estimator)
        X = validate_data(estimator, X, reset=False, dtype=np.float64)
        all_names = [str(name) for name in input_names(estimator)]
        columns = _chosen_columns(columns, all_names)
        section = _fixed_values(fixed, X, all_names)
        points = X[:, columns]
        grid = _grid(points, resolution, margin)
        rows = np.tile(section, (len(grid[0]) ** len(grid), 1))
        rows[:, columns] = rows_of(grid)
        rows = np.ascontiguousarray(source.unclipped(rows))

        values, equations, owners = [], [], []
        for k, part in enumerate(source.parts):
            chosen = _chosen_generators(generators, part)
            values.append(part.generators.subset(chosen).evaluate(rows).T)
            prefix = "" if part.label is None else f"{plain(part.label)}: "
            equations += [prefix + equation(part.generators[i], LEGEND_TERMS) for i in chosen]
            owners += [k] * len(chosen)
        values = np.concatenate(values).reshape(-1, *map(len, grid))

        total = source.n_generators
        title = f"Zero sets of {name_of(estimator)}"
        if len(values) < total:
            title += f": {len(values)} of {total} generators"
        others = [j for j in range(X.shape[1]) if j not in columns]
        if others:
            parts = [f"{axis_name(all_names[j])} = {section[j]:.3g}" for j in others[:3]]
            title += "\nat " + ", ".join(parts + ["..."] * (len(others) > 3))
        by_class = source.classes is not None
        display = cls(
            grid=grid,
            values=values,
            equations=equations,
            points=points,
            names=[all_names[j] for j in columns],
            owners=owners if by_class else None,
            labels=None if source.classes is None or y is None else places(y, source.classes, X),
            classes=source.classes,
            title=title,
            legend_title="equations in scaled columns" if source.rescales else None,
        )
        return display.plot(ax)


def _brightness(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return how brightly each face of a mesh is lit, in (0, 1], with smoothed normals."""
    triangles = vertices[faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    at_vertices = np.zeros_like(vertices)
    np.add.at(at_vertices, faces, normals[:, np.newaxis])
    normals = at_vertices[faces].sum(axis=1)
    length = np.linalg.norm(normals, axis=1)
    # Both sides are lit alike: neither is the inner one.
    return 0.45 + 0.55 * np.abs(normals @ _LIGHT) / np.where(length > 0, length, 1.0)


def _place_of(column, names) -> int:
    """Return the place of a column given by its place or name."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
    elif -len(names) <= column < len(names):
        return int(column) % len(names)
    raise ValueError(f"there is no column {column!r}: there are {len(names)}, {', '.join(names)}.")


def _chosen_columns(columns, names) -> list[int]:
    if columns is None:
        if len(names) > 3:
            raise ValueError(
                f"zero sets in {len(names)} columns cannot be drawn: choose two or three with "
                "columns=; the others are fixed at the values that fixed= gives, or at medians."
            )
        columns = range(len(names))
    chosen = [_place_of(column, names) for column in columns]
    if not 2 <= len(set(chosen)) == len(chosen) <= 3:
        raise ValueError(f"a picture needs two or three different columns; got {list(columns)}.")
    return chosen


def _fixed_values(fixed, X, names) -> np.ndarray:
    values = np.median(X, axis=0)
    if fixed is not None and not isinstance(fixed, dict):
        if len(fixed) != len(names):
            raise ValueError(f"fixed must be a dict or {len(names)} values; got {len(fixed)}.")
        fixed = dict(enumerate(fixed))
    for column, value in (fixed or {}).items():
        values[_place_of(column, names)] = value
    return values


def _grid(points, resolution, margin) -> list[np.ndarray]:
    """Return coordinates along each axis that go a little beyond the points."""
    check_number("margin", margin, low=0)
    if resolution is None:
        resolution = 300 if points.shape[1] == 2 else 40
    check_number("resolution", resolution, low=2, integer=True)
    low, high = points.min(axis=0), points.max(axis=0)
    edge = np.where(low == high, 0.5 * np.maximum(1.0, np.abs(low)), margin * (high - low))
    return list(np.linspace(low - edge, high + edge, resolution).T)


def _chosen_generators(generators, part) -> list[int]:
    """Return places of generators, in increasing order."""
    if np.ndim(generators) == 0:
        check_number("generators", generators, low=1, integer=True)
        return sorted(part.ranking().tolist()[:generators])
    count = len(part.generators)
    chosen = sorted({int(i) for i in generators})
    if chosen and not 0 <= chosen[0] <= chosen[-1] < count:
        raise ValueError(f"generators must be places from 0 to {count - 1}; got {chosen}.")
    return chosen
