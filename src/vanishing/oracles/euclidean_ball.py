"""Conditional gradients on the l2-ball: the four methods of `conditional_gradients`.

Every point of the sphere is a vertex here. The Frank-Wolfe vertex is ``-radius h / ||h||`` for the
half gradient ``h = G v + c``, so that no two directions tie, and the iterate is a convex
combination of the vertices that earlier steps went to: dense vectors, which are kept with their
weights. A step costs O(k^2), and coefficients have no zeros. Rules, stopping and line search are
those on the l1-ball.

Vertices that have lost their weight are forgotten. Where many have some, the iterate is written
anew with two, the ends of the diameter that it lies on.
"""

import numpy as np
from numba import njit

from vanishing.oracles.solution import Status

_PAIRWISE, _BLENDED, _AWAY, _VANILLA = range(4)  # as in conditional_gradients
_FOUND, _NONE_EXISTS, _ACCURATE, _STALLED, _OUT_OF_ITERATIONS = (int(s) for s in Status)

_TIE = 1e-13  # inner products that differ by no more, relative to tau and to G, are equal
_MAX_AGE = 64  # steps after which h and f are computed anew
_MORE_VERTICES = 16  # vertices, beyond k, up to which the iterate keeps those it came from


@njit(cache=True, nogil=True)
def _evaluate(gram, cross, norm, v, half_gradient):
    """Write h = G v + c; return f(v) = d + h'v + c'v."""
    k = cross.size
    mse = norm
    for i in range(k):
        total = cross[i]
        for j in range(k):
            total += gram[i, j] * v[j]
        half_gradient[i] = total
        mse += v[i] * (total + cross[i])
    return mse


@njit(cache=True, nogil=True)
def _forget(vertices, weights, size):
    """Close the gaps of vertices without weight; return how many are left."""
    kept = 0
    for i in range(size):
        if weights[i] > 0.0:
            weights[kept] = weights[i]
            vertices[kept] = vertices[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _two_ends(vertices, weights, v, radius):
    """Write the iterate as a combination of the ends of its diameter."""
    length = min(np.sqrt(np.sum(v * v)), radius)
    direction = v / length if length > 0.0 else vertices[0] / radius
    vertices[0] = radius * direction
    vertices[1] = -radius * direction
    weights[0] = 0.5 * (1.0 + length / radius)
    weights[1] = 1.0 - weights[0]
    return 1 if weights[1] == 0.0 else 2


@njit(cache=True, nogil=True)
def _extreme(half_gradient, vertices, size, direction, tie):
    """Return the first of the vertices with the largest direction * h'a but for ties, and h'a."""
    values = np.empty(size)
    for i in range(size):
        values[i] = np.sum(half_gradient * vertices[i])
    bound = np.max(direction * values) - tie
    for i in range(size):
        if direction * values[i] >= bound:
            return i, values[i]
    return 0, values[0]  # only where h is not finite


@njit(cache=True, nogil=True)
def _choose(rule, half_gradient, v, vertices, weights, size, radius, steepest, tie):
    """Return the direction of a step, its longest length, and the places of its vertices.

    These are those it goes to, ``size`` for one that is written there, and away from; -1: none.
    """
    h_dot_v = np.sum(half_gradient * v)
    toward_gap = h_dot_v + radius * steepest
    toward, away = size, -1
    away_value = h_dot_v
    if rule != _VANILLA:
        away, away_value = _extreme(half_gradient, vertices, size, 1.0, tie)
    if rule == _AWAY:
        if away_value - h_dot_v > toward_gap + tie and weights[away] < 1.0:
            return v - vertices[away], weights[away] / (1.0 - weights[away]), -1, away
        away = -1
    elif rule == _BLENDED:
        local, local_value = _extreme(half_gradient, vertices, size, -1.0, tie)
        if away_value - local_value >= toward_gap - tie:
            toward = local
        else:
            away = -1
    if toward == size:
        vertices[size] = -radius / steepest * half_gradient
    if away >= 0:
        return vertices[toward] - vertices[away], weights[away], toward, away
    return vertices[toward] - v, 1.0, toward, -1


@njit(cache=True, nogil=True)
def _move(vertices, weights, size, step, limit, toward, away):
    """Give the vertices of a step their new weights; return how many vertices have some."""
    if toward == size:
        weights[size] = 0.0
        size += 1
    if toward < 0:  # away from a vertex
        weights[:size] *= 1.0 + step
        weights[away] = 0.0 if step == limit else weights[away] - step
    elif away < 0:  # to one
        weights[:size] *= 1.0 - step
        weights[toward] += step
    else:
        weights[toward] += step
        weights[away] = 0.0 if step == limit else weights[away] - step
    return _forget(vertices, weights, size)


@njit(cache=True, nogil=True)
def _status(mse, gap, psi, eps, tol, progress, n_iter, max_iter):
    """Return why it stops here, or -1."""
    if mse <= psi:
        return _FOUND
    if mse - gap > psi:
        return _NONE_EXISTS
    if gap <= eps * psi:
        return _ACCURATE
    if progress < tol * psi or progress <= 0.0:
        return _STALLED
    return _OUT_OF_ITERATIONS if n_iter >= max_iter else -1


@njit(cache=True, nogil=True)
def run(rule, gram, cross, norm, psi, radius, eps, tol, max_iter, v):
    """Write the iterate to v; return its mse and gap, the steps taken, and why it stopped."""
    k = cross.size
    largest = 1.0
    for i in range(k):
        largest = max(largest, gram[i, i])
    tie = _TIE * (radius + 1.0) * largest * radius
    most = k + _MORE_VERTICES
    vertices, weights = np.zeros((most + 1, k)), np.zeros(most + 1)
    vertices[0, 0], weights[0], size = radius, 1.0, 1
    v[0] = radius
    half_gradient, image = np.empty(k), np.empty(k)
    mse = _evaluate(gram, cross, norm, v, half_gradient)
    n_iter, age, progress = 0, 0, np.inf
    while True:
        steepest = np.sqrt(np.sum(half_gradient * half_gradient))
        gap = 2.0 * (np.sum(half_gradient * v) + radius * steepest)
        status = _status(mse, gap, psi, eps, tol, progress, n_iter, max_iter)
        if age > 0 and (status >= 0 or age >= _MAX_AGE):
            # Claims are made with f and h computed anew.
            mse, age = _evaluate(gram, cross, norm, v, half_gradient), 0
            continue
        if status >= 0:
            return mse, gap, n_iter, status
        direction, limit, toward, away = _choose(
            rule, half_gradient, v, vertices, weights, size, radius, steepest, tie
        )
        slope = np.sum(half_gradient * direction)
        _evaluate(gram, np.zeros(k), 0.0, direction, image)
        curvature = np.sum(direction * image)
        # Exact line search on a parabola, capped.
        step = 0.0
        if slope < 0.0:
            step = limit if curvature * limit <= -slope else -slope / curvature
        progress = -step * (2.0 * slope + step * curvature)
        v += step * direction
        half_gradient += step * image
        mse -= progress
        size = _move(vertices, weights, size, step, limit, toward, away)
        if size >= most:
            size = _two_ends(vertices, weights, v, radius)
        n_iter += 1
        age += 1
