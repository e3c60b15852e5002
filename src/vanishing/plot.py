"""Pictures: zero sets, staircases, paths over psi, coefficients, distances to varieties.

Displays in the manner of scikit-learn's: ``from_estimator`` computes and draws, the object keeps
what was computed, and ``plot`` draws it again. They need matplotlib, which is imported when they
draw; `isosurface` and `distance_to_variety` do without it.
"""

import itertools
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from vanishing import monomials
from vanishing._base import check_number, input_names
from vanishing.classify import VanishingClassifier, VanishingClassifierCV
from vanishing.features import VanishingFeatures
from vanishing.oavi import OAVI
from vanishing.polynomials import Polynomial

__all__ = [
    "CoefficientsDisplay",
    "DistanceDisplay",
    "PsiPathDisplay",
    "StaircaseDisplay",
    "ZeroSetDisplay",
    "distance_to_variety",
    "isosurface",
]

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "os^Dvph"
_GREY = "#5A5A5A"
_SHOWN = 4  # terms of an equation in a legend
_LISTED = 8  # equations in a legend; of more generators it names the classes only
_LINE = 0.17  # inches that a line of small text needs
_STRIP = 150  # rows of a class that a strip shows; a box stands for them all


# -- Geometry -------------------------------------------------------------------------------------

# A cube as six tetrahedra around the diagonal from corner 0 to corner 7 (bit i: step along axis i),
# one for each order in which the three steps can be made. Neighbouring cubes cut their common face
# along the same diagonal, so that the surface has no cracks.
_TETRAHEDRA = np.array(
    [(0, 1 << a, (1 << a) + (1 << b), 7) for a, b, _ in itertools.permutations(range(3))]
)
_CORNERS = (np.arange(8)[:, np.newaxis] >> np.arange(3)) & 1

# With its corners sorted by sign, a tetrahedron with 1, 2 or 3 positive corners is cut in these
# triangles, whose corners lie on edges (negative corner, positive corner).
_CUTS = {
    1: [((0, 3), (1, 3), (2, 3))],
    2: [((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))],
    3: [((0, 1), (0, 2), (0, 3))],
}


def isosurface(function, bounds, resolution=40):
    """Return the surface ``function(x) = 0`` in a box as a mesh of triangles.

    Marching tetrahedra: the function is taken as linear on each of six tetrahedra that a cell of
    the grid consists of. The mesh is closed but where it leaves the box, and its vertices are off
    the surface by at most the order of the square of the grid's step. Where the function touches
    zero without changing its sign, nothing is found.

    Parameters
    ----------
    function : callable
        From rows (n_samples, 3) to values (n_samples,), for example a
        `vanishing.polynomials.Polynomial` in three variables.
    bounds : array-like of shape (3, 2)
        Lower and upper end of each axis.
    resolution : int or sequence of 3 ints, default=40
        Points of the grid along each axis.

    Returns
    -------
    vertices : ndarray of shape (n_vertices, 3)
    faces : ndarray of int of shape (n_faces, 3)
        Places in ``vertices`` of the corners of each triangle, counter-clockwise seen from where
        the function is positive.

    Examples
    --------
    >>> from vanishing.plot import isosurface
    >>> vertices, faces = isosurface(lambda X: (X**2).sum(axis=1) - 1, [(-1.5, 1.5)] * 3, 20)
    >>> n_edges = 3 * len(faces) // 2
    >>> print(len(vertices) - n_edges + len(faces))  # a sphere's Euler characteristic
    2
    """
    bounds = np.asarray(bounds, dtype=np.float64)
    if bounds.shape != (3, 2) or not np.isfinite(bounds).all() or (np.diff(bounds) <= 0).any():
        raise ValueError("bounds must be three pairs (low, high) of finite numbers, low < high.")
    sizes = np.broadcast_to(resolution, 3)
    for size in sizes.tolist():
        check_number("resolution", size, low=2, integer=True)
    grid = [np.linspace(*ends, size) for ends, size in zip(bounds, sizes, strict=True)]
    values = np.asarray(function(_rows_of(grid)), dtype=np.float64)
    if values.shape != (sizes.prod(),):
        raise ValueError(
            f"function must return one value a row, shape ({sizes.prod()},); got {values.shape}."
        )
    return _march(values.reshape(sizes), grid)


def _rows_of(grid: Sequence[np.ndarray]) -> np.ndarray:
    """Return all points of a grid as rows, the last coordinate changing fastest."""
    return np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, len(grid))


def _march(values: np.ndarray, grid: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cut the tetrahedra of a grid where values on its points change sign."""
    shape = np.array(values.shape)
    cells = [
        values[tuple(slice(c, c + n - 1) for c, n in zip(k, shape, strict=True))] for k in _CORNERS
    ]
    low, high = np.minimum.reduce(cells), np.maximum.reduce(cells)  # NaN where a corner is NaN
    crossed = np.argwhere((low <= 0) & (high > 0) & np.isfinite(high - low))
    corners = crossed[:, np.newaxis] + _CORNERS[_TETRAHEDRA].reshape(-1, 3)
    corners = corners.reshape(-1, 4, 3)

    flat = values.ravel()
    nodes = np.ravel_multi_index(tuple(np.moveaxis(corners, -1, 0)), shape)
    positive = flat[nodes] > 0
    order = np.argsort(positive, axis=1, kind="stable")
    nodes = np.take_along_axis(nodes, order, axis=1)
    corners = np.take_along_axis(corners, order[..., np.newaxis], axis=1)
    sides = corners[:, 1:] - corners[:, :1]
    mirrored = np.einsum("ti,ti->t", np.cross(sides[:, 0], sides[:, 1]), sides[:, 2]) < 0

    triangles = [np.empty((0, 3, 2), dtype=np.intp)]
    n_positive = positive.sum(axis=1)
    for count, cuts in _CUTS.items():
        here = n_positive == count
        for cut in cuts:
            found = nodes[here][:, np.array(cut)]
            found[mirrored[here]] = found[mirrored[here]][:, ::-1]
            triangles.append(found)
    edges, faces = np.unique(np.concatenate(triangles).reshape(-1, 2), axis=0, return_inverse=True)
    low, high = flat[edges].T[..., np.newaxis]
    ends = np.stack(
        [axis[i] for axis, i in zip(grid, np.unravel_index(edges, shape), strict=True)], axis=-1
    )
    vertices = ends[:, 0] + low / (low - high) * (ends[:, 1] - ends[:, 0])
    return vertices, faces.reshape(-1, 3)


def distance_to_variety(generators, X):
    """Return a lower bound of the distance of rows to the common zeros of polynomials.

    By Taylor's formula a polynomial g satisfies ``|g(x + d)| >= |g(x)| - sum_h F_h(x) |d|^h``,
    where F_h is the norm of its terms of order h at x, F_1 that of the gradient. The smallest
    ``|d|`` at which the right-hand side is zero is Taubin's distance of x to the zeros of g: never
    more than the true one, equal to ``|g| / |gradient|`` up to second order near the zeros, and
    finite where the gradient is zero. The common zeros are at least as far away as those of
    any one of the polynomials, so the largest of their distances is returned. It underestimates
    where equations have to be balanced against each other: by up to the square root of c for c
    equations with orthogonal gradients.

    Unlike the length of a Gauss-Newton step, ``|J^+ g|`` with the Jacobian J, this is not zero at
    points that are far from all zeros but where moving does not help to first order (the centre
    of a circle), does not explode where gradients are nearly dependent, and makes sense for
    generators that have no common zeros at all, as those of noisy data.

    Parameters
    ----------
    generators : sequence of `vanishing.polynomials.Polynomial`
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    distance : ndarray of shape (n_samples,)
        Zero if there are no generators, infinite if one is a constant other than zero.

    References
    ----------
    G. Taubin, "Distance approximations for rasterizing implicit curves", ACM Transactions on
    Graphics 13 (1), 1994.

    Examples
    --------
    >>> from vanishing.plot import distance_to_variety
    >>> from vanishing.polynomials import Polynomial
    >>> circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    >>> distance_to_variety([circle], [[0.6, 0.8], [0.0, 1.1], [0.0, 0.0]]).round(3)
    array([0.   , 0.09 , 0.841])
    """
    X = check_array(X, dtype=np.float64)
    distance = np.zeros(len(X))
    for g in generators:
        np.maximum(distance, _taubin_distance(_taylor_norms(g, X)), out=distance)
    return distance


def _taylor_norms(polynomial: Polynomial, X: np.ndarray) -> np.ndarray:
    """Return |g(x)| and the norms F_h of the terms of order h of g at x: (n_samples, degree + 1).

    With ``g(x + d) = sum_a g_a(x) d^a`` that is ``F_h^2 = sum_{|a| = h} g_a(x)^2 a! / h!``, for
    which ``|sum_{|a| = h} g_a d^a| <= F_h |d|^h``.
    """
    orders, quotients, entries = {}, {}, []
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        for order in itertools.product(*(range(e + 1) for e in term)):
            quotient = tuple(e - k for e, k in zip(term, order, strict=True))
            row = orders.setdefault(order, len(orders))
            column = quotients.setdefault(quotient, len(quotients))
            entries.append((row, column, value * math.prod(map(math.comb, term, order))))
    coef = np.zeros((len(orders), len(quotients)))
    rows, columns, values = zip(*entries, strict=True)
    coef[rows, columns] = values  # an order and a quotient have one product: no entry comes twice
    degrees = np.array([sum(order) for order in orders])
    weights = [
        math.prod(map(math.factorial, order)) / math.factorial(sum(order)) for order in orders
    ]
    squares = polynomial._combine(X, list(quotients), coef) ** 2 * weights
    return np.sqrt(squares @ (degrees[:, np.newaxis] == np.arange(polynomial.degree + 1)))


def _taubin_distance(norms: np.ndarray) -> np.ndarray:
    """Return the positive root of ``sum_{h >= 1} F_h r^h = F_0`` for each row of norms."""
    value, norms = norms[:, :1], norms[:, 1:]
    powers = np.arange(1, norms.shape[1] + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # One summand alone reaches F_0 no sooner than all together: r is at most each of these.
        bound = np.where(norms > 0, (value / norms) ** (1 / powers), np.inf)
    r = bound.min(axis=1, initial=np.inf)
    r[value[:, 0] == 0] = 0.0
    moving = np.flatnonzero(np.isfinite(r) & (r > 0))
    # Newton's method from the right on an increasing convex function comes down monotonically.
    for _ in range(100):
        if not moving.size:
            break
        here = r[moving, np.newaxis]
        excess = (norms[moving] * here**powers).sum(axis=1) - value[moving, 0]
        step = excess / (norms[moving] * powers * here ** (powers - 1)).sum(axis=1)
        r[moving] -= np.maximum(step, 0.0)
        moving = moving[step > 1e-12 * r[moving]]
    return r


# -- Estimators -----------------------------------------------------------------------------------


class _Variety(NamedTuple):
    """What one class satisfies, or all rows where there are no classes."""

    label: object  # None without classes
    model: object  # fitted construction of generators
    prepare: Callable | None  # from given rows to those the generators take; None: the same


def _varieties(estimator) -> list[_Variety]:
    """Return the fitted constructions in an estimator, one a class."""
    if isinstance(estimator, Pipeline):
        found = _varieties(estimator.steps[-1][1])
        if len(estimator.steps) == 1:
            return found
        before = estimator[:-1]

        def through_pipeline(then):
            def prepare(X):
                with warnings.catch_warnings():
                    # A grid has no names; its columns are those of the rows all the same.
                    warnings.filterwarnings("ignore", message="X does not have valid feature names")
                    X = np.asarray(before.transform(X), dtype=np.float64)
                return X if then is None else then(X)

            return prepare

        return [v._replace(prepare=through_pipeline(v.prepare)) for v in found]
    if isinstance(estimator, VanishingClassifierCV):
        check_is_fitted(estimator)
        return _varieties(estimator.classifier_)
    if isinstance(estimator, VanishingClassifier):
        check_is_fitted(estimator)
        scaling = estimator._scaling
        same = scaling.transformer is None and not scaling.clip
        prepare = None if same else scaling.transform
        return [v._replace(prepare=prepare) for v in _varieties(estimator.features_)]
    if isinstance(estimator, VanishingFeatures):
        check_is_fitted(estimator)
        return [
            _Variety(label, model, None)
            for label, model in zip(estimator.classes_, estimator.transformers_, strict=True)
        ]
    if not hasattr(estimator, "psi"):
        raise TypeError(
            f"{type(estimator).__name__} has no generators to draw: give OAVI, ABM, AVI, VCA, "
            "VanishingFeatures, a VanishingClassifier, or a pipeline that ends with one of them."
        )
    check_is_fitted(estimator, "generators_")
    return [_Variety(None, estimator, None)]


def _variety_of(estimator, class_of_interest) -> _Variety:
    """Return the only variety of an estimator, or that of one class."""
    found = _varieties(estimator)
    if class_of_interest is None and len(found) == 1:
        return found[0]
    for variety in found:
        if class_of_interest is not None and variety.label == class_of_interest:
            return variety
    if found[0].label is None:
        raise ValueError(f"{_name_of(estimator)} has no classes; leave class_of_interest out.")
    known = ", ".join(str(variety.label) for variety in found)
    raise ValueError(f"class_of_interest must be one of {known}; got {class_of_interest!r}.")


def _name_of(estimator) -> str:
    return type(estimator[-1] if isinstance(estimator, Pipeline) else estimator).__name__


def _check_rows(estimator, X) -> np.ndarray:
    X = check_array(X, dtype=np.float64)
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns, but {_name_of(estimator)} was fitted to "
            f"{estimator.n_features_in_}."
        )
    return X


def _places(y, classes, X) -> np.ndarray:
    """Return the places of labels among classes."""
    y = np.asarray(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y has labels that the estimator was not fitted to: {unknown.tolist()}.")
    return np.searchsorted(classes, y)


def _with_psi(estimator, psi):
    """Return an unfitted clone with another psi; of a classifier, one that trains no SVM."""
    if isinstance(estimator, Pipeline):
        pipeline = clone(estimator)
        name, last = pipeline.steps[-1]
        return pipeline.set_params(**{name: _with_psi(last, psi)})
    if isinstance(estimator, (VanishingFeatures, VanishingClassifier, VanishingClassifierCV)):
        inner = _with_psi(OAVI() if estimator.transformer is None else estimator.transformer, psi)
        if isinstance(estimator, VanishingFeatures):
            return clone(estimator).set_params(transformer=inner)
        scale = (
            estimator.scale if isinstance(estimator.scale, (bool, str)) else clone(estimator.scale)
        )
        return VanishingClassifier(
            inner,
            scale=scale,
            clip=estimator.clip,
            final_estimator=DummyClassifier(),
            n_jobs=estimator.n_jobs,
        )
    if not hasattr(estimator, "psi"):
        raise TypeError(f"{type(estimator).__name__} has no parameter psi.")
    return clone(estimator).set_params(psi=psi)


# -- Text and axes --------------------------------------------------------------------------------


def _pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "pictures need matplotlib: install with python -m pip install 'vanishing[app]'"
        ) from None
    return plt


def _is_symbol(name) -> bool:
    return re.fullmatch(r"[A-Za-z]_?\d*", str(name)) is not None


def _plain(text) -> str:
    return str(text).replace("$", r"\$")


def _formula(polynomial, limit=None) -> str:
    """Write a polynomial for a picture: as a formula if its variables are symbols such as x0."""
    if not all(map(_is_symbol, polynomial.feature_names)):
        return _plain(polynomial.shortened(limit))
    used = np.flatnonzero(polynomial.coef)
    shown = used if limit is None else used[-limit:]
    short = Polynomial(
        polynomial.terms[shown],
        [float(f"{value:.3g}") for value in polynomial.coef[shown]],
        feature_names=polynomial.feature_names,
    )
    return f"${short.to_latex()}{'' if len(shown) == len(used) else ' + ...'}$"


def _axis_name(name) -> str:
    return (
        _formula(Polynomial([[1]], [1.0], feature_names=[name]))
        if _is_symbol(name)
        else _plain(name)
    )


def _term_names(terms, names) -> list[str]:
    return [_formula(Polynomial([term], [1.0], feature_names=names)) for term in terms]


def _colours(count: int) -> list:
    """Return distinct colours: the palette, or a perceptually even map where it is too short."""
    if count <= len(_PALETTE):
        return list(_PALETTE[:count])
    return list(_pyplot().get_cmap("viridis")(np.linspace(0.0, 0.93, count)))


def _panels(ax, n_panels, n_columns, size, **options):
    """Return axes of panels: new ones, those given, or parts of the one given.

    ``size`` is that of a panel, in inches.
    """
    plt = _pyplot()
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        figure = plt.figure(figsize=(n_columns * size[0], n_rows * size[1]), layout="constrained")
        spec = figure.add_gridspec(n_rows, n_columns)
    elif isinstance(ax, plt.Axes):
        if ax.get_subplotspec() is None:
            raise ValueError(
                "this display divides an axes into panels, which needs one made by subplots; or "
                f"give {n_panels} axes."
            )
        ax.set_axis_off()
        figure = ax.figure
        spec = ax.get_subplotspec().subgridspec(n_rows, n_columns)
    else:
        axes = np.asarray(ax, dtype=object).ravel()
        if len(axes) != n_panels:
            raise ValueError(f"this display has {n_panels} panels; got {len(axes)} axes.")
        return axes
    axes = np.empty(n_panels, dtype=object)
    for i in range(n_panels):
        shared = {name: axes[0] for name in options if i}
        axes[i] = figure.add_subplot(spec[divmod(i, n_columns)], **shared)
    return axes


# -- Displays -------------------------------------------------------------------------------------


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
    owners : sequence of int, default=None
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
    ['$x_{1}^{2} + x_{0}^{2} - 1 = 0$']
    """

    def __init__(
        self,
        *,
        grid,
        values,
        equations,
        points,
        names,
        owners=None,
        labels=None,
        classes=None,
        title="Zero sets",
        legend_title=None,
    ):
        self.grid = grid
        self.values = values
        self.equations = equations
        self.points = points
        self.names = names
        self.owners = owners
        self.labels = labels
        self.classes = classes
        self.title = title
        self.legend_title = legend_title

    def plot(self, ax=None, *, line_kw=None, surface_kw=None, scatter_kw=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; with ``projection="3d"`` for surfaces. None makes a new figure.
        line_kw, surface_kw, scatter_kw : dict, default=None
            Options of matplotlib's ``contour``, ``Poly3DCollection`` and ``scatter``.

        Returns
        -------
        self : ZeroSetDisplay
        """
        plt = _pyplot()
        in_space = len(self.grid) == 3
        new = ax is None
        if new:
            ax = self._new_axes(plt)
        elif in_space != hasattr(ax, "get_zlim"):
            raise ValueError("surfaces need an axes made with projection='3d', curves one without.")
        by_class = self.owners is not None
        palette = _colours(len(self.classes) if by_class else max(1, len(self.values)))
        colours = [palette[k] for k in (self.owners if by_class else range(len(self.values)))]
        if in_space:
            found = self._draw_surfaces(ax, colours, surface_kw or {})
        else:
            found = self._draw_curves(ax, colours, line_kw or {})
        self._draw_points(ax, palette if by_class else None, scatter_kw or {})
        for axis, name, coordinates in zip("xyz", self.names, self.grid, strict=False):
            getattr(ax, f"set_{axis}label")(_axis_name(name))
            getattr(ax, f"set_{axis}lim")(coordinates[0], coordinates[-1])
        ax.set_title(self.title)
        self._draw_legend(ax, colours, palette, found, beside=new)
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
        legend = 0.25 * min(len(self.values), _LISTED)
        _, ax = plt.subplots(figsize=(6.4, height + 0.9 + legend), layout="constrained")
        if alike:
            ax.set_aspect("equal")
        return ax

    def _line_style(self, i):
        """Tell the generators of one class apart by their lines."""
        if self.owners is None:
            return "solid"
        styles = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
        return styles[self.owners[:i].count(self.owners[i]) % len(styles)]

    def _draw_curves(self, ax, colours, options):
        self.contours_ = []
        for i, (values, colour) in enumerate(zip(self.values, colours, strict=True)):
            found = np.nanmin(values) <= 0 <= np.nanmax(values)
            style = {"linewidths": 2.0, "linestyles": [self._line_style(i)], **options}
            self.contours_.append(
                ax.contour(*self.grid, values.T, levels=[0.0], colors=[colour], **style)
                if found
                else None
            )
        return [contour is not None for contour in self.contours_]

    def _draw_surfaces(self, ax, colours, options):
        from matplotlib.colors import to_rgb
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        self.meshes_ = [_march(values, self.grid) for values in self.values]
        size = np.array([axis[-1] - axis[0] for axis in self.grid])
        shaded = [
            # Opaque, since edges of transparent triangles shine through; but not dark.
            np.multiply.outer(
                _brightness(vertices / size, faces), 0.25 + 0.75 * np.array(to_rgb(colour))
            )
            for (vertices, faces), colour in zip(self.meshes_, colours, strict=True)
        ]
        triangles = [vertices[faces] for vertices, faces in self.meshes_]
        # One collection, since matplotlib sorts triangles by depth within a collection only.
        shaded = np.concatenate([np.zeros((0, 3)), *shaded])
        style = {"linewidths": 0.3, "facecolors": shaded, "edgecolors": shaded}
        self.surface_ = Poly3DCollection(
            np.concatenate([np.zeros((0, 3, 3)), *triangles]), **{**style, **options}
        )
        ax.add_collection3d(self.surface_)
        ax.computed_zorder = False  # the points in front, not hidden
        return [len(faces) > 0 for _, faces in self.meshes_]

    def _draw_points(self, ax, palette, options):
        options = {"s": 16, "linewidths": 0.4, "edgecolors": "white", "zorder": 3, **options}
        if len(self.grid) == 3:
            options = {"depthshade": False, **options}
        if palette is None or self.labels is None:
            options = {"facecolors": _GREY, "alpha": 0.8, **options}
            self.scatter_ = [ax.scatter(*self.points.T, **options)]
            return
        self.scatter_ = [
            ax.scatter(
                *self.points[self.labels == k].T,
                **{"facecolors": colour, "marker": _MARKERS[k % len(_MARKERS)], **options},
            )
            for k, colour in enumerate(palette)
        ]

    def _draw_legend(self, ax, colours, palette, found, beside):
        from matplotlib.lines import Line2D

        by_class = self.classes is not None
        lines = []
        for i, (colour, equation) in enumerate(zip(colours, self.equations, strict=True)):
            marker = _MARKERS[self.owners[i] % len(_MARKERS)] if by_class else ""
            text = equation if found[i] else f"{equation} (no zeros here)"
            style = self._line_style(i)
            lines.append(Line2D([], [], color=colour, lw=2, ls=style, marker=marker, label=text))
        title = self.legend_title
        if by_class and len(lines) > _LISTED:
            title = None
            lines = [
                Line2D([], [], color=palette[k], lw=2, marker=_MARKERS[k % len(_MARKERS)])
                for k in range(len(self.classes))
            ]
            for line, label in zip(lines, self.classes, strict=True):
                line.set_label(f"class {_plain(label)}")
        self.legend_ = None
        if lines and beside:
            self.legend_ = ax.figure.legend(
                handles=lines, title=title, loc="outside lower center", frameon=False
            )
        elif lines:
            self.legend_ = ax.legend(handles=lines, title=title, fontsize="small")

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y=None,
        *,
        generators=4,
        columns=None,
        fixed=None,
        resolution=None,
        margin=0.15,
        ax=None,
        **plot_kw,
    ):
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
            How many generators of each class, the first ones, or which.
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
        **plot_kw : dict
            Passed to `plot`.

        Returns
        -------
        display : ZeroSetDisplay
        """
        _pyplot()
        varieties = _varieties(estimator)
        X = _check_rows(estimator, X)
        all_names = [str(name) for name in input_names(estimator)]
        columns = _chosen_columns(columns, all_names)
        check_number("margin", margin, low=0)
        if resolution is None:
            resolution = 300 if len(columns) == 2 else 40
        check_number("resolution", resolution, low=2, integer=True)

        section = _fixed_values(fixed, X, all_names)
        points = X[:, columns]
        low, high = points.min(axis=0), points.max(axis=0)
        edge = margin * (high - low)
        edge[high == low] = 0.5 * np.maximum(1.0, np.abs(low[high == low]))
        grid = [
            np.linspace(a - e, b + e, resolution) for a, b, e in zip(low, high, edge, strict=True)
        ]
        rows = np.tile(section, (resolution ** len(columns), 1))
        rows[:, columns] = _rows_of(grid)

        values, equations, owners = [], [], []
        given = all(v.prepare is None for v in varieties)
        for k, variety in enumerate(varieties):
            found = variety.model.generators_
            chosen = _chosen_generators(generators, len(found))
            prepared = rows if variety.prepare is None else variety.prepare(rows)
            values.append(found.subset(chosen).evaluate(np.ascontiguousarray(prepared)).T)
            prefix = "" if variety.label is None else f"{_plain(variety.label)}: "
            equations += [f"{prefix}{_equation(found[i])}" for i in chosen]
            owners += [k] * len(chosen)
        values = np.concatenate(values)
        values = values.reshape(len(values), *[resolution] * len(columns))

        classes = None if varieties[0].label is None else [v.label for v in varieties]
        total = sum(len(v.model.generators_) for v in varieties)
        number = (
            f"{len(values)} of {total} generators"
            if len(values) < total
            else f"{total} generator{'' if total == 1 else 's'}"
        )
        title = f"Zero set{'' if len(values) == 1 else 's'} of {number} of {_name_of(estimator)}"
        others = [j for j in range(X.shape[1]) if j not in columns]
        if others:
            parts = [f"{_axis_name(all_names[j])} = {section[j]:.3g}" for j in others[:3]]
            title += "\nat " + ", ".join(parts + ["..."] * (len(others) > 3))
        display = cls(
            grid=grid,
            values=values,
            equations=equations,
            points=points,
            names=[all_names[j] for j in columns],
            owners=None if classes is None else owners,
            labels=None if y is None or classes is None else _places(y, classes, X),
            classes=classes,
            title=title,
            legend_title=None if given else "equations in scaled columns",
        )
        return display.plot(ax, **plot_kw)


def _brightness(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return how brightly each face of a mesh is lit, in (0, 1], with smoothed normals."""
    triangles = vertices[faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    at_vertices = np.zeros_like(vertices)
    np.add.at(at_vertices, faces, normals[:, np.newaxis])
    normals = at_vertices[faces].sum(axis=1)
    length = np.linalg.norm(normals, axis=1)
    light = np.array([-0.35, -0.5, 0.79])
    # Both sides are lit alike: neither is the inner one.
    return 0.45 + 0.55 * np.abs(normals @ light) / np.where(length > 0, length, 1.0)


def _equation(polynomial) -> str:
    text = _formula(polynomial, _SHOWN)
    return f"{text[:-1]} = 0$" if text.startswith("$") else f"{text} = 0"


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
    if isinstance(fixed, dict):
        for column, value in fixed.items():
            values[_place_of(column, names)] = value
    elif fixed is not None:
        values = np.array(fixed, dtype=np.float64)
        if values.shape != (X.shape[1],):
            raise ValueError(
                f"fixed must give {X.shape[1]} values, one a column, or be a dict; got an array "
                f"of shape {values.shape}."
            )
    return values


def _chosen_generators(generators, count) -> list[int]:
    if np.ndim(generators) == 0:
        check_number("generators", generators, low=1, integer=True)
        return list(range(min(generators, count)))
    chosen = sorted({int(i) for i in generators})
    if chosen and not 0 <= chosen[0] <= chosen[-1] < count:
        raise ValueError(f"generators must be places from 0 to {count - 1}; got {chosen}.")
    return chosen


class StaircaseDisplay:
    """The terms of O under the staircase of the leading terms, in two variables.

    A cell is a term: its place is its exponents. The border consists of the terms outside of O that
    are a variable times a term of O. At the inner corners of a staircase sit the leading terms of a
    Groebner basis (``border="gb"``); a border basis has all of the border.

    Parameters
    ----------
    terms : ndarray of int of shape (n_terms, 2)
        Exponents of O.
    leading_terms : ndarray of int of shape (n_generators, 2)
    names : sequence of 2 str
    title : str, default="Staircase"

    Attributes
    ----------
    cells_ : matplotlib QuadMesh
        One cell a term: 2 in O, 1 in the border, masked elsewhere. Rows are exponents of the second
        variable.
    leading_ : matplotlib PathCollection
    stairs_ : matplotlib LineCollection
        The line between O and all other terms.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.plot import StaircaseDisplay
    >>> model = OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
    >>> StaircaseDisplay.from_estimator(model).border.tolist()
    [[2, 0], [1, 1], [0, 2]]
    """

    def __init__(self, *, terms, leading_terms, names=("x0", "x1"), title="Staircase"):
        self.terms = np.asarray(terms)
        self.leading_terms = np.asarray(leading_terms).reshape(-1, 2)
        self.names = names
        self.title = title

    @property
    def border(self):
        """Exponents of the border of O, in DegLex order: (n_border, 2)."""
        known = {tuple(term) for term in self.terms.tolist()}
        above = {(a + 1, b) for a, b in known} | {(a, b + 1) for a, b in known}
        border = np.array(sorted(above - known), dtype=np.int64).reshape(-1, 2)
        return border[monomials.deglex_order(border)]

    def plot(self, ax=None, *, write_terms=True):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        write_terms : bool, default=True
            Whether to write the terms into the cells, where there are few enough.

        Returns
        -------
        self : StaircaseDisplay
        """
        plt = _pyplot()
        from matplotlib.collections import LineCollection
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
        border = self.border
        width, height = np.concatenate([border, self.leading_terms]).max(axis=0) + 1
        codes = np.zeros((height, width), dtype=np.int64)
        for code, cells in ((1, border), (2, self.terms)):
            codes[cells[:, 1], cells[:, 0]] = code
        shades = ("#DCE6EE", "#7FB3D5")
        self.cells_ = ax.pcolormesh(
            np.arange(width + 1) - 0.5,
            np.arange(height + 1) - 0.5,
            np.ma.masked_equal(codes, 0),
            cmap=ListedColormap(shades),
            vmin=0.5,
            vmax=2.5,
            edgecolors="white",
            linewidth=1.5,
        )
        self.stairs_ = ax.add_collection(
            LineCollection(_outline(codes == 2), colors=_PALETTE[0], linewidths=3, capstyle="round")
        )
        room = max(width, height) <= 9 and write_terms
        self.leading_ = ax.scatter(
            *(self.leading_terms.T - [[0.0], [0.22 if room else 0.0]]),
            s=55,
            color=_PALETTE[1],
            marker="D",
            edgecolors="white",
            zorder=3,
        )
        if room:
            shown = np.concatenate([self.terms, border])
            for (a, b), name in zip(shown, _term_names(shown, self.names), strict=True):
                leads = (self.leading_terms == (a, b)).all(axis=1).any()
                ax.text(a, b + 0.15 * leads, name, ha="center", va="center", fontsize=10)
        for axis, name, size in zip("xy", self.names, (width, height), strict=True):
            getattr(ax, f"set_{axis}label")(f"exponent of {_axis_name(name)}")
            getattr(ax, f"set_{axis}lim")(-0.5, size - 0.4)
            getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))
        ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(self.title)
        self.leading_.set_label(f"leading terms ({len(self.leading_terms)})")
        handles = [
            Patch(color=shades[1], label=f"O ({len(self.terms)} terms)"),
            Patch(color=shades[0], label=f"border ({len(border)} terms)"),
            self.leading_,
        ]
        ax.legend(handles=handles, loc="upper right", framealpha=1.0)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator, *, class_of_interest=None, ax=None, **plot_kw):
        """Draw the staircase of a fitted estimator in two variables.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
        class_of_interest : label, default=None
            The class whose staircase to draw, where the estimator has classes.
        ax : matplotlib Axes, default=None
        **plot_kw : dict
            Passed to `plot`.

        Returns
        -------
        display : StaircaseDisplay
        """
        _pyplot()
        variety = _variety_of(estimator, class_of_interest)
        model = variety.model
        if not hasattr(model, "terms_"):
            raise TypeError(
                f"{type(model).__name__} has no staircase: its components are no monomials."
            )
        if model.terms_.shape[1] != 2:
            raise ValueError(
                f"a staircase can be drawn in 2 variables; {type(model).__name__} was fitted to "
                f"{model.terms_.shape[1]} columns."
            )
        title = f"Staircase of {type(model).__name__}, psi = {model.psi:g}"
        display = cls(
            terms=model.terms_,
            leading_terms=model.leading_terms_,
            names=model.generators_.feature_names,
            title=title + _of_class(variety.label),
        )
        return display.plot(ax, **plot_kw)


def _of_class(label) -> str:
    return "" if label is None else f", class {_plain(label)}"


def _outline(inside: np.ndarray) -> list:
    """Return the segments between cells inside and others above or to the right of them."""
    padded = np.pad(inside, ((0, 1), (0, 1)))
    rows, columns = np.nonzero(padded[:-1] != padded[1:])
    segments = [
        [(a - 0.5, b + 0.5), (a + 0.5, b + 0.5)] for b, a in zip(rows, columns, strict=True)
    ]
    rows, columns = np.nonzero(padded[:, :-1] != padded[:, 1:])
    segments += [
        [(a + 0.5, b - 0.5), (a + 0.5, b + 0.5)] for b, a in zip(rows, columns, strict=True)
    ]
    return segments


class PsiPathDisplay:
    """Size, accuracy and sparsity of the generators over psi.

    Parameters
    ----------
    psis : ndarray of shape (n_psis,)
        In increasing order.
    n_generators, n_terms : ndarray of int of shape (n_psis,)
        |G| and |O|, summed over the classes if there are any.
    max_mse, median_mse : ndarray of shape (n_psis,)
        Largest and median mean square of the generators; NaN where there is none.
    sparsity : ndarray of shape (n_psis,)
        SPAR.
    title : str, default="Generators over psi"

    Attributes
    ----------
    lines_ : dict of matplotlib Line2D
        With the keys "n_generators", "n_terms", "max_mse", "median_mse", "psi" and "sparsity".
    axes_ : ndarray of 4 matplotlib Axes
        Of |G|, |O|, mean squares and SPAR.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> from vanishing.plot import PsiPathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = PsiPathDisplay.from_estimator(VanishingClassifier(), X, y, psis=[0.1, 0.01])
    >>> display.n_terms.tolist()
    [8, 3]
    """

    def __init__(
        self,
        *,
        psis,
        n_generators,
        n_terms,
        max_mse,
        median_mse,
        sparsity,
        title="Generators over psi",
    ):
        self.psis = psis
        self.n_generators = n_generators
        self.n_terms = n_terms
        self.max_mse = max_mse
        self.median_mse = median_mse
        self.sparsity = sparsity
        self.title = title

    def plot(self, ax=None, *, line_kw=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or 4 of them, default=None
            Where to draw: one is divided into panels; None makes a new figure.
        line_kw : dict, default=None
            Options of matplotlib's ``plot``.

        Returns
        -------
        self : PsiPathDisplay
        """
        _pyplot()
        from matplotlib.ticker import MaxNLocator

        axes = _panels(ax, 4, 2, (4.0, 2.9), sharex=True)
        panels = {
            "n_generators": (0, _PALETTE[0], "o-", "|G|"),
            "n_terms": (1, _PALETTE[0], "o-", "|O|"),
            "max_mse": (2, _PALETTE[1], "v-", "largest"),
            "median_mse": (2, _PALETTE[0], "o-", "median"),
            "sparsity": (3, _PALETTE[0], "o-", "SPAR"),
        }
        self.lines_ = {}
        for name, (i, colour, style, label) in panels.items():
            options = {"color": colour, "markersize": 4, "label": label, **(line_kw or {})}
            (self.lines_[name],) = axes[i].plot(self.psis, getattr(self, name), style, **options)
        (self.lines_["psi"],) = axes[2].plot(
            self.psis, self.psis, "--", color=_GREY, lw=1, label="psi", zorder=1
        )
        for axis, counts in zip(axes, (self.n_generators, self.n_terms), strict=False):
            low, high = np.min(counts), np.max(counts)
            if low > 0 and high > 10 * low:
                axis.set_yscale("log")
            else:
                axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes[2].set_yscale("log")
        axes[2].legend()
        axes[3].set_ylim(-0.03, 1.03)
        titles = ("generators |G|", "terms |O|", "mean square of the generators", "sparsity SPAR")
        for i, (axis, title) in enumerate(zip(axes, titles, strict=True)):
            axis.set_xscale("log")
            axis.set_title(title, fontsize="medium")
            axis.grid(alpha=0.3)
            if i > 1:
                axis.set_xlabel("psi")
        if ax is None:
            axes[0].figure.suptitle(self.title)
        self.axes_ = axes
        self.figure_ = axes[0].figure
        return self

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, psis=None, ax=None, **plot_kw):
        """Fit clones of an estimator with different psi, and draw what they found.

        Parameters
        ----------
        estimator : OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
            Need not be fitted.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels, where the estimator needs them.
        psis : sequence of float in (0, 1), default=None
            None means ten from 0.1 to 0.0001.
        ax : matplotlib Axes or 4 of them, default=None
        **plot_kw : dict
            Passed to `plot`.

        Returns
        -------
        display : PsiPathDisplay
        """
        _pyplot()
        psis = np.sort(np.geomspace(1e-4, 1e-1, 10) if psis is None else psis)
        for psi in psis.tolist():
            check_number("psis", psi, low=0, low_open=True, high=1, high_open=True)
        if not psis.size:
            raise ValueError("psis must not be empty.")
        found = []
        for psi in psis.tolist():
            model = _with_psi(estimator, psi)
            with warnings.catch_warnings():
                # The picture says so itself.
                warnings.filterwarnings("ignore", message=r"\w+: nothing vanishes")
                model.fit(X, y)
            last = model.steps[-1][1] if isinstance(model, Pipeline) else model
            mse = np.concatenate([v.model.mse_ for v in _varieties(last)])
            largest, median = (mse.max(), np.median(mse)) if mse.size else (np.nan, np.nan)
            found.append((last.n_generators_, last.n_terms_, largest, median, last.sparsity_))
        n_generators, n_terms, max_mse, median_mse, sparsity = map(
            np.array, zip(*found, strict=True)
        )
        display = cls(
            psis=psis,
            n_generators=n_generators,
            n_terms=n_terms,
            max_mse=max_mse,
            median_mse=median_mse,
            sparsity=sparsity,
            title=f"Generators of {_name_of(estimator)} over psi"
            + (", all classes together" if _varieties(last)[0].label is not None else ""),
        )
        return display.plot(ax, **plot_kw)


class CoefficientsDisplay:
    """Coefficients of the generators as a heat map; zeros are blank.

    Parameters
    ----------
    coef : ndarray of shape (n_generators, n_terms)
    leading_names : sequence of str
        Names of the rows: the leading terms.
    term_names : sequence of str
        Names of the columns.
    title : str, default="Coefficients"

    Attributes
    ----------
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> from vanishing import OAVI
    >>> from vanishing.plot import CoefficientsDisplay
    >>> model = OAVI(psi=0.01).fit(minmax_scale(load_iris().data))
    >>> display = CoefficientsDisplay.from_estimator(model)
    >>> display.coef.shape == (model.n_generators_, model.n_terms_)
    True
    """

    def __init__(self, *, coef, leading_names, term_names, title="Coefficients"):
        self.coef = coef
        self.leading_names = leading_names
        self.term_names = term_names
        self.title = title

    def plot(self, ax=None, *, cmap=None, **image_kw):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        cmap : str or matplotlib Colormap, default=None
            Best a diverging one: its middle is zero. None means purple to orange, without the
            nearly white middle, so that small coefficients differ from zeros.
        **image_kw : dict
            Options of matplotlib's ``imshow``.

        Returns
        -------
        self : CoefficientsDisplay
        """
        plt = _pyplot()
        from matplotlib.colors import ListedColormap

        n_rows, n_columns = self.coef.shape
        if ax is None:
            size = (
                np.clip(0.3 * n_columns + 1.8, 4.6, 11) + 0.08 * _longest(self.leading_names),
                np.clip(0.24 * n_rows + 1.0, 3, 8) + 0.08 * _longest(self.term_names),
            )
            _, ax = plt.subplots(figsize=size, layout="constrained")
        if cmap is None:
            ends = np.append(np.linspace(0, 0.4, 128), np.linspace(0.6, 1, 128))
            cmap = ListedColormap(plt.get_cmap("PuOr_r")(ends))
        size = np.abs(self.coef[self.coef != 0])
        # A few large coefficients should not make all others look alike.
        limit, largest = np.quantile(size, [0.98, 1.0]) if size.size else (1.0, 1.0)
        limit = limit if largest > 2 * limit else largest
        if "norm" not in image_kw:
            image_kw = {"vmin": -limit, "vmax": limit, **image_kw}
        self.image_ = ax.imshow(
            np.ma.masked_equal(self.coef, 0.0),
            cmap=cmap,
            # The default, but for an axis of some length where there are no generators.
            extent=(-0.5, n_columns - 0.5, max(n_rows, 1) - 0.5, -0.5),
            **{"aspect": "auto", "interpolation": "nearest", **image_kw},
        )
        box = ax.get_position()
        rows, columns = (
            np.arange(0, count, max(1, math.ceil(_LINE * count / inches)))
            for count, inches in (
                (n_rows, box.height * ax.figure.get_figheight()),
                (n_columns, box.width * ax.figure.get_figwidth()),
            )
        )
        ax.set_yticks(rows, [self.leading_names[i] for i in rows])
        ax.set_xticks(columns, [self.term_names[i] for i in columns], rotation=90)
        ax.tick_params(labelsize=9)
        ax.set_xlabel("terms")
        ax.set_ylabel("generators, by leading term")
        ax.set_title(self.title)
        self.colorbar_ = ax.figure.colorbar(
            self.image_,
            ax=ax,
            label="coefficient (blank: zero)",
            extend="both" if largest > limit else "neither",
        )
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator, *, class_of_interest=None, ax=None, **plot_kw):
        """Draw the coefficients of a fitted estimator.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
            The generators of `VCA` are expanded into monomials, leading ones included.
        class_of_interest : label, default=None
            The class whose generators to draw, where the estimator has classes.
        ax : matplotlib Axes, default=None
        **plot_kw : dict
            Passed to `plot`.

        Returns
        -------
        display : CoefficientsDisplay
        """
        _pyplot()
        variety = _variety_of(estimator, class_of_interest)
        model = variety.model
        names = model.generators_.feature_names
        if hasattr(model, "coef_"):
            terms, leading_terms, coef = model.terms_, model.leading_terms_, model.coef_
        else:
            terms, leading_terms, coef = _expanded(model.generators_)
        title = f"Coefficients of {len(coef)} generators of {type(model).__name__}"
        display = cls(
            coef=coef,
            leading_names=_term_names(leading_terms, names),
            term_names=_term_names(terms, names),
            title=title + _of_class(variety.label),
        )
        return display.plot(ax, **plot_kw)


def _longest(names) -> int:
    """Return about how many characters the longest name shows."""
    return max((len(re.sub(r"[${}_^\\]", "", name)) for name in names), default=0)


def _expanded(generators):
    """Return all terms of polynomials, their leading terms, and their coefficients."""
    polynomials = list(generators)
    n_features = len(generators.feature_names)
    none = np.zeros((0, n_features), dtype=np.int64)
    terms = np.unique(np.concatenate([none, *(g.terms for g in polynomials)]), axis=0)
    terms = terms[monomials.deglex_order(terms)]
    place = {tuple(term): i for i, term in enumerate(terms.tolist())}
    coef = np.zeros((len(polynomials), len(terms)))
    for row, g in zip(coef, polynomials, strict=True):
        row[[place[tuple(term)] for term in g.terms.tolist()]] = g.coef
    return terms, np.concatenate([none, *(g.terms[-1:] for g in polynomials)]), coef


class DistanceDisplay:
    """How far the rows of each class are from the variety of each class.

    One panel a variety, one box a class of rows, on a logarithmic axis. Distances are those of
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
        What matplotlib's ``boxplot`` returned, one a panel.
    strips_ : list of lists of matplotlib PathCollection
        Some of the rows themselves, by panel and class.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

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

    def __init__(
        self,
        *,
        distances,
        labels,
        classes,
        varieties,
        title="Distances to varieties",
        ylabel="distance",
    ):
        self.distances = distances
        self.labels = labels
        self.classes = classes
        self.varieties = varieties
        self.title = title
        self.ylabel = ylabel

    def plot(self, ax=None, *, box_kw=None, strip_kw=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or as many as there are varieties, default=None
            Where to draw: one is divided into panels; None makes a new figure.
        box_kw, strip_kw : dict, default=None
            Options of matplotlib's ``boxplot`` and ``scatter``.

        Returns
        -------
        self : DistanceDisplay
        """
        _pyplot()
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        n_panels, n_classes = len(self.varieties), len(self.classes)
        n_columns = min(n_panels, 4)
        names = [_plain(label) for label in self.classes]
        wanted = n_classes * max(0.35, 0.1 * _longest(names) + 0.1)
        width = max(np.clip(wanted + 0.8, 2.6, 5), 5.6 / n_columns)  # the title needs room too
        axes = _panels(ax, n_panels, n_columns, (width, 3.6), sharey=True)
        colours = _colours(n_classes)
        # A logarithmic axis has no zero: what is below a millionth of the largest is drawn there.
        largest = self.distances[np.isfinite(self.distances)].max(initial=0.0) or 1.0
        shown = np.clip(self.distances, 1e-6 * largest, largest)
        self.boxes_, self.strips_ = [], []
        for i, (axis, variety) in enumerate(zip(axes, self.varieties, strict=True)):
            groups = [shown[self.labels == k, i] for k in range(n_classes)]
            options = {"widths": 0.6, "showfliers": False, "patch_artist": True, **(box_kw or {})}
            boxes = axis.boxplot(groups, **options)
            strips = []
            for k, (group, colour) in enumerate(zip(groups, colours, strict=True)):
                own = variety is not None and variety == self.classes[k]
                if options["patch_artist"]:
                    boxes["boxes"][k].set(
                        facecolor=(colour, 0.55 if own else 0.15), edgecolor=colour, linewidth=1.5
                    )
                boxes["medians"][k].set(color="black", linewidth=2)
                for part in ("whiskers", "caps"):
                    for line in boxes[part][2 * k : 2 * k + 2]:
                        line.set_color(colour)
                some = group[np.linspace(0, len(group) - 1, min(_STRIP, len(group))).astype(int)]
                # Evenly spread by the golden ratio: the same picture every time.
                beside = (np.arange(len(some)) * 0.618034 % 1 - 0.5) * 0.45
                style = {"s": 7, "color": colour, "alpha": 0.5, "linewidths": 0, "zorder": 3}
                style["marker"] = _MARKERS[k % len(_MARKERS)]
                strips.append(axis.scatter(k + 1 + beside, some, **{**style, **(strip_kw or {})}))
            self.boxes_.append(boxes)
            self.strips_.append(strips)
            axis.set_yscale("log")
            axis.grid(axis="y", alpha=0.3)
            narrow = axis.get_position().width * axis.figure.get_figwidth() < 0.8 * wanted
            turned = {"rotation": 30, "ha": "right"} if narrow else {}
            axis.set_xticks(np.arange(1, n_classes + 1), names, **turned)
            for label, text in zip(self.classes, axis.get_xticklabels(), strict=True):
                if variety is not None and variety == label:
                    text.set_fontweight("bold")
            axis.set_xlabel("class of the rows" if n_classes > 1 else "")
            if variety is not None:
                between = "\n" if narrow else " "
                axis.set_title(f"to the variety of{between}{_plain(variety)}", fontsize="medium")
            if i % n_columns == 0:
                axis.set_ylabel(self.ylabel)
            elif axis.get_shared_y_axes().joined(axis, axes[0]):
                axis.tick_params(labelleft=False)
        if shown.min() > 1e-3 * largest:
            # Too few powers of ten to read the axis by.
            for axis in axes:
                axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.yaxis.set_minor_formatter(NullFormatter())
        if ax is None:
            axes[0].figure.suptitle(self.title)
        self.axes_ = axes
        self.figure_ = axes[0].figure
        return self

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, ax=None, **plot_kw):
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
        **plot_kw : dict
            Passed to `plot`.

        Returns
        -------
        display : DistanceDisplay
        """
        _pyplot()
        varieties = _varieties(estimator)
        X = _check_rows(estimator, X)
        if varieties[0].label is not None:
            if y is None:
                raise ValueError("y is needed: the classes of the rows whose distances to draw.")
            classes = [v.label for v in varieties]
            labels = _places(y, classes, X)
        elif y is not None:
            classes = list(np.unique(y))
            labels = _places(y, classes, X)
        else:
            classes, labels = ["all rows"], np.zeros(len(X), dtype=np.intp)
        distances = np.column_stack(
            [
                distance_to_variety(v.model.generators_, X if v.prepare is None else v.prepare(X))
                for v in varieties
            ]
        )
        scaled = any(v.prepare is not None for v in varieties)
        display = cls(
            distances=distances,
            labels=labels,
            classes=classes,
            varieties=[v.label for v in varieties],
            title=f"Distances to the varieties of {_name_of(estimator)}",
            ylabel="distance in scaled columns" if scaled else "distance",
        )
        return display.plot(ax, **plot_kw)
