"""The quadratic model with l1 penalty that a Newton step of the linear SVM minimises.

Coordinate descent finds out which weights are not zero where columns have little to do with each
other. Where they nearly depend on each other it takes forever, and the signs of the weights are
searched: for given signs the minimiser is the solution of linear equations, whose factor is kept
up to date while weights come and go.
"""

import math

import numpy as np
from numba import njit

_SWEEPS = 20  # of coordinate descent before signs are searched
_SETTLED = 0.05  # share of the worst violation at the start that may be left
_JUMPS = 1000  # solutions of linear equations at most
_TINY = np.finfo(np.float64).tiny
_RIDGE = 1e-9  # relative; makes the model strictly convex where columns depend on each other


@njit(cache=True, nogil=True)
def _violation(slope, w):
    """Return how far a coordinate is from its optimality condition."""
    if w > 0.0:
        return abs(slope + 1.0)
    if w < 0.0:
        return abs(slope - 1.0)
    return abs(slope) - 1.0


@njit(cache=True, nogil=True)
def worst_violation(gradient, w):
    """Return how far the coordinates are from their optimality conditions at most."""
    worst = 0.0
    for j in range(w.size):
        worst = max(worst, _violation(gradient[j], w[j]))
    return worst


@njit(cache=True, nogil=True)
def _slide(hessian, gradient, w, ridge, j):
    """Minimise along coordinate j: a soft threshold at 1 / h."""
    h = hessian[j, j] + ridge
    new = w[j] - gradient[j] / h
    new = max(new - 1.0 / h, 0.0) + min(new + 1.0 / h, 0.0)
    change = new - w[j]
    if change != 0.0:
        w[j] = new
        row = hessian[j]
        for i in range(w.size):
            gradient[i] += change * row[i]
        gradient[j] += change * ridge


@njit(cache=True, nogil=True)
def _descend(hessian, gradient, w, ridge, tol, max_sweeps):
    """Minimise gradient'd + d'H d / 2 + ||w + d||_1 over d by coordinate descent.

    ``w`` becomes w + d and ``gradient`` that of the quadratic there. Returns whether it ended
    because no coordinate violates its optimality condition by more than ``tol``.
    """
    for _ in range(max_sweeps):
        worst = 0.0
        for j in range(w.size):
            violation = _violation(gradient[j], w[j])
            if violation <= 0.0:
                continue
            worst = max(worst, violation)
            _slide(hessian, gradient, w, ridge, j)
        if worst <= tol:
            return True
    return False


# -- Cholesky factors of the Hessian on a support, in units in which its diagonal is one ----------


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _dot(a, b, size):
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _append(factor, support, size, hessian, unit, j):
    """Let coordinate j join a factored support of so many."""
    row = factor[size]
    for i in range(size):
        p = support[i]
        row[i] = hessian[j, p] / (unit[j] * unit[p])
    for i in range(size):
        row[i] = (row[i] - _dot(factor[i], row, i)) / factor[i, i]
    # Beyond rounding there is nothing to see of a column that depends on those before it.
    row[size] = math.sqrt(max(1.0 + _RIDGE - _dot(row, row, size), _RIDGE))
    support[size] = j


@njit(cache=True, nogil=True, error_model="numpy")
def _remove(factor, support, size, place):
    """Let the coordinate at a place of a factored support leave: rotations close the gap."""
    for i in range(place, size - 1):
        support[i] = support[i + 1]
    cosines = np.empty(size)
    sines = np.empty(size)
    for i in range(place, size - 1):
        above, row = factor[i], factor[i + 1]
        for j in range(place):
            above[j] = row[j]
        left = row[place]
        for j in range(place, i):
            right = row[j + 1]
            above[j] = cosines[j] * left + sines[j] * right
            left = cosines[j] * right - sines[j] * left
        right = row[i + 1]
        length = math.hypot(left, right)
        cosines[i], sines[i] = left / length, right / length
        above[i] = length


@njit(cache=True, nogil=True, error_model="numpy")
def _solved(factor, size, right):
    """Solve in place with a factor."""
    for i in range(size):
        right[i] = (right[i] - _dot(factor[i], right, i)) / factor[i, i]
    for i in range(size - 1, -1, -1):
        right[i] /= factor[i, i]
        row, value = factor[i], right[i]
        for j in range(i):
            right[j] -= row[j] * value


# -- The search of signs --------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _bottom(w, d, support, size, slope, curvature):
    """Return how far along d the model leads down, and the place of a weight that ends at zero.

    The model is a parabola between the points where a weight changes its sign, at which its slope
    rises by 2 |d_j|; the place is -1 where it ends between them. Also how many signs change.
    """
    times = np.full(size, np.inf)
    for i in range(size):
        if w[support[i]] * d[i] < 0.0:
            times[i] = -w[support[i]] / d[i]
    step = -slope / curvature
    crossed = 0
    for _ in range(size):  # few are crossed, and sorting would take longer to compile
        i = np.argmin(times)
        if step <= times[i]:
            break
        slope += 2.0 * abs(d[i])
        step = -slope / curvature
        if step <= times[i]:
            return times[i], i, crossed
        times[i] = np.inf
        crossed += 1
    return step, -1, crossed


@njit(cache=True, nogil=True, error_model="numpy")
def _jump(hessian, gradient, w, ridge, unit, factor, support, size):
    """Go towards the minimiser for the signs that the weights have, as far as it leads down.

    Returns the size of the support and whether the way is at its end.
    """
    d = np.empty(size)
    slope = 0.0
    for i in range(size):
        j = support[i]
        d[i] = -(gradient[j] + (1.0 if w[j] > 0.0 else -1.0)) / unit[j]
    pull = d.copy()
    _solved(factor, size, d)
    along = np.zeros(w.size)
    for i in range(size):
        j = support[i]
        slope -= pull[i] * d[i]
        d[i] /= unit[j]
        row, change = hessian[j], d[i]
        for p in range(w.size):
            along[p] += change * row[p]
        along[j] += ridge * change
    curvature = 0.0
    for i in range(size):
        curvature += d[i] * along[support[i]]
    if not (-np.inf < slope < 0.0 < curvature < np.inf):
        return size, True  # rounding, or overflow: neither infinite nor NaN leads down
    step, zero, crossed = _bottom(w, d, support, size, slope, curvature)
    for i in range(size):
        w[support[i]] += step * d[i]
    for p in range(w.size):
        gradient[p] += step * along[p]
    if zero >= 0:
        w[support[zero]] = 0.0
        _remove(factor, support, size, zero)
        return size - 1, False
    return size, crossed == 0


@njit(cache=True, nogil=True, error_model="numpy")
def _search(hessian, gradient, w, ridge, tol):
    """Search the signs of the weights, from those they have.

    Where the model is at its bottom for the signs that the weights have, those that are zero and
    should not be join the support, each after those before it have moved.
    """
    unit = np.empty(w.size)
    for j in range(w.size):
        unit[j] = math.sqrt(hessian[j, j] + ridge)
    factor = np.empty((w.size, w.size))
    support = np.empty(w.size, dtype=np.int64)
    size = np.int64(0)  # a literal would have all that follows compiled twice
    for j in np.flatnonzero(w):
        _append(factor, support, size, hessian, unit, j)
        size += 1
    for _ in range(_JUMPS):
        size, at_bottom = _jump(hessian, gradient, w, ridge, unit, factor, support, size)
        if not at_bottom:
            continue
        before = size
        for j in range(w.size):
            if w[j] == 0.0 and _violation(gradient[j], 0.0) > tol:
                _slide(hessian, gradient, w, ridge, j)
                _append(factor, support, size, hessian, unit, j)
                size += 1
        if size == before:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def minimise_model(hessian, gradient, w):
    """Minimise gradient'd + d'H d / 2 + ||w + d||_1 over d; return w + d.

    Ends when no coordinate violates its optimality condition by more than a twentieth of the worst
    at the start.
    """
    gradient, w = gradient.copy(), w.copy()
    ridge = _RIDGE * np.trace(hessian) / w.size + _TINY
    tol = _SETTLED * max(1e-12, worst_violation(gradient, w))
    if not _descend(hessian, gradient, w, ridge, tol, _SWEEPS):
        _search(hessian, gradient, w, ridge, tol)
    return w
