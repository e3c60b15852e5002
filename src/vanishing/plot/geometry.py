"""Zero sets as geometry: meshes of surfaces, distances of rows to varieties. No pictures here."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_array

from vanishing.algebra.polynomials import Generators, Polynomial
from vanishing.checks import check_number

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
    values = np.asarray(function(rows_of(grid)), dtype=np.float64)
    if values.shape != (sizes.prod(),):
        raise ValueError(
            f"function must return one value a row, shape ({sizes.prod()},); got {values.shape}."
        )
    return march(values.reshape(sizes), grid)


def rows_of(grid: Sequence[np.ndarray]) -> np.ndarray:
    """Return all points of a grid as rows, the last coordinate changing fastest."""
    return np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, len(grid))


def march(values: np.ndarray, grid: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cut the tetrahedra of a grid where values on its points change sign: `isosurface`'s mesh."""
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
    mirrored = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0

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
    >>> from vanishing.algebra.polynomials import Polynomial
    >>> circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    >>> distance_to_variety([circle], [[0.6, 0.8], [0.0, 1.1], [0.0, 0.0]]).round(3)
    array([0.   , 0.09 , 0.841])
    """
    X = check_array(X, dtype=np.float64)
    distance = np.zeros(len(X))
    for g in generators:
        if len(g.feature_names) != X.shape[1]:
            raise ValueError(
                f"a generator has {len(g.feature_names)} variables, but X has {X.shape[1]} columns."
            )
        np.maximum(distance, _taubin_distance(_taylor_norms(g, X)), out=distance)
    return distance


def _taylor_norms(polynomial: Polynomial, X: np.ndarray) -> np.ndarray:
    """Return |g(x)| and the norms F_h of the terms of order h of g at x: (n_samples, degree + 1).

    With ``g(x + d) = sum_a g_a(x) d^a`` that is ``F_h^2 = sum_{|a| = h} g_a(x)^2 a! / h!``, for
    which ``|sum_{|a| = h} g_a d^a| <= F_h |d|^h``.
    """
    places: dict[tuple, int] = {}
    quotients: dict[tuple, int] = {}
    entries = []
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        for order in itertools.product(*(range(e + 1) for e in term)):
            quotient = tuple(e - k for e, k in zip(term, order, strict=True))
            row = places.setdefault(order, len(places))
            column = quotients.setdefault(quotient, len(quotients))
            entries.append((row, column, value * math.prod(map(math.comb, term, order))))
    coef = np.zeros((len(places), len(quotients)))
    rows, columns, values = zip(*entries, strict=True)
    coef[rows, columns] = values  # an order and a quotient have one product: no entry comes twice
    orders = list(places)
    nothing = np.zeros(len(orders))
    # All g_a are polynomials in the quotients. Evaluated together, they need no leading terms.
    taylor = Generators(
        list(quotients), np.zeros_like(orders), coef, nothing, nothing, polynomial.feature_names
    )
    weights = [math.prod(map(math.factorial, a)) / math.factorial(sum(a)) for a in orders]
    of_order = np.sum(orders, axis=1)[:, np.newaxis] == np.arange(polynomial.degree + 1)
    return np.sqrt(taylor.evaluate(X) ** 2 * weights @ of_order)


def _taubin_distance(norms: np.ndarray) -> np.ndarray:
    """Return the positive root of ``sum_{h >= 1} F_h r^h = F_0`` for each row of norms."""
    value, norms = norms[:, 0], norms[:, 1:]
    powers = np.arange(1, norms.shape[1] + 1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # One summand alone reaches F_0 no sooner than all together: r is at most each of these.
        bound = np.where(norms > 0, (value[:, np.newaxis] / norms) ** (1 / powers), np.inf)
    r = bound.min(axis=1, initial=np.inf)
    r[value == 0] = 0.0
    moving = np.flatnonzero(np.isfinite(r) & (r > 0))
    # Newton's method from the right on an increasing convex function comes down monotonically.
    while moving.size:
        here = r[moving, np.newaxis]
        excess = (norms[moving] * here**powers).sum(axis=1) - value[moving]
        step = excess / (norms[moving] * powers * here ** (powers - 1)).sum(axis=1)
        r[moving] -= np.maximum(step, 0.0)
        moving = moving[step > 1e-12 * r[moving]]
    return r
