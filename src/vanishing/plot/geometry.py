"""Zero sets as geometry: meshes of surfaces. It draws nothing."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from vanishing._types import FloatArray, IntArray
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


def isosurface(
    function: Callable[[FloatArray], FloatArray],
    bounds: Sequence[tuple[float, float]],
    resolution: int = 40,
) -> tuple[FloatArray, IntArray]:
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

    See Also
    --------
    ZeroSetDisplay : Draws the zero sets of a fitted estimator.

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
    grid = [np.linspace(low, high, size) for (low, high), size in zip(bounds, sizes, strict=True)]
    values = np.asarray(function(rows_of(grid)), dtype=np.float64)
    if values.shape != (sizes.prod(),):
        raise ValueError(
            f"function must return one value per row, shape ({sizes.prod()},); got {values.shape}."
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
        members = n_positive == count
        for cut in cuts:
            corners_of_cut = nodes[members][:, np.array(cut)]
            corners_of_cut[mirrored[members]] = corners_of_cut[mirrored[members]][:, ::-1]
            triangles.append(corners_of_cut)
    edges, faces = np.unique(np.concatenate(triangles).reshape(-1, 2), axis=0, return_inverse=True)
    low, high = flat[edges].T[..., np.newaxis]
    ends = np.stack(
        [axis[i] for axis, i in zip(grid, np.unravel_index(edges, shape), strict=True)], axis=-1
    )
    vertices = ends[:, 0] + low / (low - high) * (ends[:, 1] - ends[:, 0])
    return vertices, faces.reshape(-1, 3)
