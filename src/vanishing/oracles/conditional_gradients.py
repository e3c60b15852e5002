"""Conditional gradients on the l1-ball: pairwise, blended pairwise, away-step, vanilla.

The iterate is a convex combination of the ball's vertices ``+-radius e_i``; its weights are two
non-negative vectors, ``plus`` and ``minus``. All four methods share the loop, the stopping rules
of the paper's section 9.1 and the exact line search, and differ in the direction they take:

=====  =====================================================================================
pcg    from the away vertex to the Frank-Wolfe vertex (the paper's Algorithm 3)
bpcg   pairwise inside the active set while that promises more than the Frank-Wolfe direction
afw    towards the Frank-Wolfe vertex or away from the away vertex, whichever is steeper
cg     towards the Frank-Wolfe vertex
=====  =====================================================================================

In OAVI bpcg is of E. Wirth, H. Kera and S. Pokutta ("Approximate Vanishing Ideal Computations at
Scale", ICLR 2023); the method itself is of K. Tsuji, K. Tanaka and S. Pokutta (ICML 2022).

A step changes the iterate along one or two vertices (and by a factor), so that the half gradient
``h = G v + c`` follows with one or two rows of G: O(k) a step.

Ties are the rule, not the exception: after an exact line search both vertices of the step have
the same inner product with the gradient, and rounding would choose the next away vertex. Of all
vertices that are the best but for rounding the first is taken, in index order, ``+e_i`` before
``-e_i``, so that row order, chunks and weights do not change the result.

With ``refit=True`` the coefficients are least squares on the terms that the steps have chosen,
where that stays in the ball. Thousands of steps then buy nothing: on many terms they go on shifting
weight among those in use, which least squares does at once. So a long run is corrected: every few
steps the iterate moves to least squares on its terms, and goes on from there. A short run is what
it is without ``refit``.

With ``region="l2"`` the ball is that of the l2-norm: see `euclidean_ball`.
"""

import numpy as np
from numba import njit

from vanishing._types import FloatArray
from vanishing.oracles import euclidean_ball
from vanishing.oracles.closed_form import least_squares, refitted
from vanishing.oracles.solution import Solution, Status

_PAIRWISE, _BLENDED, _AWAY, _VANILLA = range(4)
_FOUND, _NONE_EXISTS, _ACCURATE, _STALLED, _OUT_OF_ITERATIONS = (int(s) for s in Status)

# Inner products that differ by no more than this, relative to tau and to G, are equal.
_TIE = 1e-13
# f, updated step by step, carries rounding of the largest f it ever was: recompute it after it
# has fallen this far, and everything now and then.
_STALE_FACTOR = 1e-3
_MAX_AGE = 256
_NOTHING = -1e300  # less than any inner product
# Where coefficients are refitted in the end, what the steps choose are terms. With so many steps
# behind them, least squares on the terms in use takes them on, and again after at least as many as
# the second: after more where so many terms are in use that least squares is costly.
_MANY_STEPS, _FURTHER_STEPS = 1000, 16


@njit(cache=True, nogil=True)
def _refresh(gram, cross, norm, radius, plus, minus, half_gradient):
    """Recompute h = G v + c; return f(v) = d + h'v + c'v and c'v."""
    k = cross.size
    for i in range(k):  # to assign a slice takes seconds to compile
        half_gradient[i] = cross[i]
    for i in range(k):
        value = radius * (plus[i] - minus[i])
        if value != 0.0:
            for j in range(k):
                half_gradient[j] += value * gram[i, j]
    h_dot_v = 0.0
    c_dot_v = 0.0
    for i in range(k):
        h_dot_v += radius * (plus[i] - minus[i]) * half_gradient[i]
        c_dot_v += radius * (plus[i] - minus[i]) * cross[i]
    return norm + h_dot_v + c_dot_v, c_dot_v


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _steepest(half_gradient):
    """Return max |h|."""
    best = 0.0
    for i in range(half_gradient.size):
        size = abs(half_gradient[i])
        if size > best:
            best = size
    return best


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _largest_active(half_gradient, plus, minus, direction):
    """Return the largest direction * h'v over the active vertices v."""
    best = _NOTHING
    for i in range(half_gradient.size):
        h = direction * half_gradient[i]
        above = h if plus[i] > 0.0 else _NOTHING
        below = -h if minus[i] > 0.0 else _NOTHING
        value = above if above > below else below
        if value > best:
            best = value
    return best


@njit(cache=True, nogil=True)
def _frank_wolfe_vertex(half_gradient, steepest, tie):
    """Return index, sign and value h's of the first vertex that minimises h's but for ties."""
    bound = steepest - tie
    i = 0
    while i < half_gradient.size - 1 and abs(half_gradient[i]) < bound:
        i += 1
    h = half_gradient[i]
    return (i, 1.0, h) if h <= -bound else (i, -1.0, -h)


@njit(cache=True, nogil=True)
def _active_vertex(half_gradient, plus, minus, direction, tie):
    """Return index, sign and h'v of the first active vertex that maximises direction * h'v."""
    bound = _largest_active(half_gradient, plus, minus, direction) - tie
    for i in range(half_gradient.size):
        h = half_gradient[i]
        if direction * h >= bound and plus[i] > 0.0:
            return i, 1.0, h
        if -direction * h >= bound and minus[i] > 0.0:
            return i, -1.0, -h
    return 0, 1.0, half_gradient[0]  # only where h is not finite


@njit(cache=True, nogil=True)
def _correct(gram, cross, norm, radius, mse, plus, minus):
    """Move to least squares on the terms in use, where that is better and inside the ball.

    Weight that is not needed goes to the first term's two vertices, half to each.
    """
    chosen = np.flatnonzero(plus != minus)
    values, new_mse = least_squares(gram, cross, norm, chosen)
    slack = radius - np.abs(values).sum()
    if not new_mse < mse or slack < 0.0:
        return False
    plus[:] = 0.0
    minus[:] = 0.0
    for i in range(chosen.size):
        if values[i] > 0.0:
            plus[chosen[i]] = values[i] / radius
        else:
            minus[chosen[i]] = -values[i] / radius
    plus[0] += 0.5 * slack / radius
    minus[0] += 0.5 * slack / radius
    return True


@njit(cache=True, nogil=True)
def _run(rule, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, plus, minus):
    k = cross.size
    largest = 1.0
    for i in range(k):
        largest = max(largest, gram[i, i])
    tie = _TIE * (radius + 1.0) * largest

    half_gradient = np.empty(k)
    plus[0] = 1.0
    mse, c_dot_v = _refresh(gram, cross, norm, radius, plus, minus, half_gradient)
    refreshed_mse = mse
    age = 0
    n_iter = 0
    progress = np.inf
    correction = _MANY_STEPS if refit else max_iter + 1  # the step before which it is made
    while True:
        steepest = _steepest(half_gradient)
        h_dot_v = mse - norm - c_dot_v
        gap = 2.0 * (h_dot_v + radius * steepest)  # <gradient, v - s> at the steepest vertex s

        reached = mse <= psi
        if (reached or mse - gap > psi) and age > 0:
            # Both are claims: make them with f and h recomputed.
            mse, c_dot_v = _refresh(gram, cross, norm, radius, plus, minus, half_gradient)
            refreshed_mse = mse
            age = 0
            continue
        if reached:
            return mse, gap, n_iter, _FOUND
        if n_iter >= correction:
            correction = 2 * n_iter
            if _correct(gram, cross, norm, radius, mse, plus, minus):
                n_used = np.count_nonzero(plus != minus)
                correction = n_iter + max(_FURTHER_STEPS, n_used * n_used // k)
                mse, c_dot_v = _refresh(gram, cross, norm, radius, plus, minus, half_gradient)
                refreshed_mse = mse
                age = 0
                progress = np.inf
                continue
        if mse - gap > psi:
            return mse, gap, n_iter, _NONE_EXISTS
        if gap <= eps * psi:
            return mse, gap, n_iter, _ACCURATE
        if progress < tol * psi or progress <= 0.0:
            return mse, gap, n_iter, _STALLED
        if n_iter >= max_iter:
            return mse, gap, n_iter, _OUT_OF_ITERATIONS

        # The direction: pairwise (from one vertex to another), towards a vertex or away from one.
        toward, toward_sign, toward_value = _frank_wolfe_vertex(half_gradient, steepest, tie)
        pairwise = rule == _PAIRWISE
        move_away = False
        toward_gap = h_dot_v - radius * toward_value
        if rule != _VANILLA:
            away, away_sign, away_value = _active_vertex(half_gradient, plus, minus, 1.0, tie)
        if rule == _AWAY:
            move_away = radius * away_value - h_dot_v > toward_gap + radius * tie
        elif rule == _BLENDED:
            local, local_sign, local_value = _active_vertex(half_gradient, plus, minus, -1.0, tie)
            if radius * (away_value - local_value) >= toward_gap - radius * tie:
                pairwise = True
                toward, toward_sign, toward_value = local, local_sign, local_value

        if pairwise:
            slope = radius * (toward_value - away_value)
            cosine = toward_sign * away_sign * gram[toward, away]
            curvature = gram[toward, toward] + gram[away, away] - 2.0 * cosine
            curvature *= radius * radius
            limit = plus[away] if away_sign > 0.0 else minus[away]
        else:
            # Along +-(s - v): needs v'Gv = h'v - c'v and (Gv)_i = h_i - c_i.
            vertex, sign = (away, away_sign) if move_away else (toward, toward_sign)
            inner = radius * sign * (half_gradient[vertex] - cross[vertex])
            curvature = radius * radius * gram[vertex, vertex] - 2.0 * inner + h_dot_v - c_dot_v
            if move_away:
                slope = h_dot_v - radius * away_value
                weight = plus[away] if away_sign > 0.0 else minus[away]
                limit = weight / (1.0 - weight) if weight < 1.0 else 0.0
            else:
                slope = -toward_gap
                limit = 1.0

        # Exact line search on a parabola, capped.
        if slope >= 0.0:
            step = 0.0
        elif curvature * limit <= -slope:
            step = limit
        else:
            step = -slope / curvature
        progress = -step * (2.0 * slope + step * curvature)
        drop = step == limit

        if pairwise:
            if toward_sign > 0.0:
                plus[toward] += step
            else:
                minus[toward] += step
            left = 0.0 if drop else limit - step
            if away_sign > 0.0:
                plus[away] = left
            else:
                minus[away] = left
            a = step * radius * toward_sign
            b = step * radius * away_sign
            c_dot_v += a * cross[toward] - b * cross[away]
            for j in range(k):
                half_gradient[j] += a * gram[toward, j] - b * gram[away, j]
        else:
            signed = -step if move_away else step
            for j in range(k):
                plus[j] *= 1.0 - signed
                minus[j] *= 1.0 - signed
            target = plus if sign > 0.0 else minus
            target[vertex] = 0.0 if move_away and drop else target[vertex] + signed
            a = signed * radius * sign
            c_dot_v = (1.0 - signed) * c_dot_v + a * cross[vertex]
            for j in range(k):
                half_gradient[j] = (
                    (1.0 - signed) * half_gradient[j] + signed * cross[j] + a * gram[vertex, j]
                )
        mse -= progress
        n_iter += 1
        age += 1
        if mse < _STALE_FACTOR * refreshed_mse or age >= max(_MAX_AGE, k):
            mse, c_dot_v = _refresh(gram, cross, norm, radius, plus, minus, half_gradient)
            refreshed_mse = mse
            age = 0


def _solve(rule, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, region):
    if region == "l2":
        coef = np.zeros(cross.size)
        mse, gap, n_iter, status = euclidean_ball.run(
            rule, gram, cross, norm, psi, radius, eps, tol, max_iter, coef
        )
        if refit:
            coef, mse = refitted(gram, cross, norm, coef, mse, radius=radius, region=region)
        return Solution(coef, mse, gap, n_iter, Status(status))
    plus, minus = np.zeros((2, cross.size))
    mse, gap, n_iter, status = _run(
        rule, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, plus, minus
    )
    coef = radius * (plus - minus)
    if refit:
        coef, mse = refitted(gram, cross, norm, coef, mse, radius=radius)
    return Solution(coef, mse, gap, n_iter, Status(status))


def pcg(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float,
    eps: float = 1e-3,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    refit: bool = False,
    region: str = "l1",
) -> Solution:
    """Solve CCOP by pairwise conditional gradients, the paper's Algorithm 3.

    See Also
    --------
    bpcg : Blended steps.
    cg : Without away steps.
    vanishing.OAVI : What asks oracles.
    """
    return _solve(_PAIRWISE, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, region)


def bpcg(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float,
    eps: float = 1e-3,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    refit: bool = False,
    region: str = "l1",
) -> Solution:
    """Solve CCOP by blended pairwise conditional gradients.

    See Also
    --------
    pcg : Pairwise steps.
    afw : Away steps.
    """
    return _solve(_BLENDED, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, region)


def afw(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float,
    eps: float = 1e-3,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    refit: bool = False,
    region: str = "l1",
) -> Solution:
    """Solve CCOP by away-step Frank-Wolfe.

    See Also
    --------
    pcg : Pairwise steps.
    cg : Without away steps.
    """
    return _solve(_AWAY, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, region)


def cg(
    gram: FloatArray,
    cross: FloatArray,
    norm: float,
    *,
    psi: float,
    radius: float,
    eps: float = 1e-3,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    refit: bool = False,
    region: str = "l1",
) -> Solution:
    """Solve CCOP by Frank-Wolfe with exact line search.

    See Also
    --------
    pcg : Pairwise steps.
    afw : Away steps.
    """
    return _solve(_VANILLA, gram, cross, norm, psi, radius, eps, tol, max_iter, refit, region)
