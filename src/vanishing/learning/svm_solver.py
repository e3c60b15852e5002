"""The solver of linear support vector machines with l1 penalty and squared hinge loss.

The problem of scikit-learn's ``LinearSVC(penalty="l1", dual=False)``, for each class against all
others:

    minimise  P(w) = ||w||_1 + sum_i c_i max(0, 1 - y_i x_i'w)^2,     c_i = C s_i,

where the intercept is the weight of a constant feature, penalised as the others. Its dual is

    maximise  D(a) = sum_i a_i - a_i^2 / (4 c_i)   over a >= 0 with |sum_i a_i y_i x_i| <= 1,

so that P(w) - D(a) bounds the distance of w from the optimum for any a that is feasible.

The method is proximal Newton on a working set. While the set of margin violators stays the same
the loss is quadratic, with the Gram matrix of the columns over the violators for its Hessian: a
step minimises the l1-penalised quadratic model on the working set's columns, by coordinate descent
in compiled code, and a few steps usually do. Every pass ends with a look at all features, which
chooses the next working set and measures the gap.

Where costs are so large that the penalty is a rounding error of the loss at the start, the problem
is solved with smaller costs first.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

_SMALLEST_WORKING_SET = 20
_STEPS_A_PASS = 10  # Newton steps on a working set before all features are looked at again
_SWEEPS_A_ROUND = 20
_MAX_ROUNDS = 25
_MAX_STALE = 5  # passes that lead nowhere after which none is expected to lead anywhere
_STEEP = 1e6  # entry of the gradient at zero beyond which costs are approached in stages
_STAGE = 100.0  # ratio of costs of one stage to those of the stage before
_STAGE_TOL = 1e-3
_STAGE_STEPS = 100
_LARGEST = 1e125  # of weighted features: sums and products of their squares are still finite
_TINY = np.finfo(np.float64).tiny
_RIDGE = 1e-14  # relative; makes the model strictly convex where columns depend on each other


@njit(cache=True, nogil=True)
def _violation(slope, w):
    """Return how far a coordinate is from its optimality condition."""
    if w > 0.0:
        return abs(slope + 1.0)
    if w < 0.0:
        return abs(slope - 1.0)
    return abs(slope) - 1.0


@njit(cache=True, nogil=True)
def _worst_violation(gradient, w):
    """Return how far the coordinates are from their optimality conditions at most."""
    worst = 0.0
    for j in range(w.size):
        worst = max(worst, _violation(gradient[j], w[j]))
    return worst


@njit(cache=True, nogil=True)
def _descend(hessian, gradient, w, ridge, tol, max_sweeps):
    """Minimise gradient'd + d'H d / 2 + ||w + d||_1 over d by coordinate descent.

    ``w`` becomes w + d and ``gradient`` that of the quadratic there. Returns whether it ended
    because no coordinate violates its optimality condition by more than ``tol``.
    """
    k = w.size
    for _ in range(max_sweeps):
        worst = 0.0
        for j in range(k):
            old = w[j]
            slope = gradient[j]
            violation = _violation(slope, old)
            if violation <= 0.0:
                continue
            worst = max(worst, violation)
            # The minimiser along coordinate j: a soft threshold at 1 / h.
            h = hessian[j, j] + ridge
            new = old - slope / h
            new = max(new - 1.0 / h, 0.0) + min(new + 1.0 / h, 0.0)
            change = new - old
            if change != 0.0:
                w[j] = new
                for i in range(k):
                    gradient[i] += change * hessian[j, i]
                gradient[j] += change * ridge
        if worst <= tol:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _towards_minimiser(hessian, gradient, w, ridge, support):
    """Return the way d to the minimiser for the signs that the weights of the support have.

    Also the model's slope and curvature along d; a slope of zero where rounding shows no way.
    """
    size = support.size
    # In units in which the diagonal is one, for columns of very different size.
    unit = np.empty(size)
    pull = np.empty(size)
    for i in range(size):
        unit[i] = math.sqrt(hessian[support[i], support[i]] + ridge)
        pull[i] = gradient[support[i]] + (1.0 if w[support[i]] > 0.0 else -1.0)
    scaled = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            scaled[i, j] = hessian[support[i], support[j]] / (unit[i] * unit[j])
        scaled[i, i] = 1.0 + _RIDGE
    d = np.zeros(size)
    try:
        d = -np.linalg.solve(scaled, pull / unit) / unit
    except Exception:  # exactly singular; compiled code knows no other kind
        return d, 0.0, 0.0
    slope = 0.0
    curvature = 0.0
    for i in range(size):
        slope += d[i] * pull[i]
        along = ridge * d[i]
        for j in range(size):
            along += hessian[support[i], support[j]] * d[j]
        curvature += d[i] * along
    return d, slope, curvature


@njit(cache=True, nogil=True, error_model="numpy")
def _jump(hessian, gradient, w, ridge):
    """Go towards the minimiser for the signs that the weights have, as far as it leads down.

    Along the way d the model is a parabola between the points t where a weight changes its sign,
    at which its slope rises by 2 |d_j|.
    """
    support = np.flatnonzero(w)
    d, slope, curvature = _towards_minimiser(hessian, gradient, w, ridge, support)
    if not (-np.inf < slope < 0.0 < curvature < np.inf):
        return  # rounding, or overflow: neither infinite nor NaN leads down
    times = np.full(support.size, np.inf)  # when a weight changes its sign
    for i in range(support.size):
        if w[support[i]] * d[i] < 0.0:
            times[i] = -w[support[i]] / d[i]
    # The first parabola whose bottom is before its end, or the corner where it begins.
    step = -slope / curvature
    zero = -1
    start = 0.0
    for i in np.argsort(times, kind="mergesort"):
        if step <= times[i]:
            break
        start = times[i]
        slope += 2.0 * abs(d[i])
        step = -slope / curvature
        if step <= start:
            step, zero = start, i
            break
    for i in range(support.size):
        j = support[i]
        new = 0.0 if i == zero else w[j] + step * d[i]
        change = new - w[j]
        w[j] = new
        for p in range(gradient.size):
            gradient[p] += change * hessian[j, p]
        gradient[j] += ridge * change


@njit(cache=True, nogil=True, error_model="numpy")
def _minimise_model(hessian, gradient, w):
    """Minimise gradient'd + d'H d / 2 + ||w + d||_1 over d; return w + d.

    Ends when no coordinate violates its optimality condition by more than a twentieth of the worst
    at the start. Coordinate descent, which usually takes a few sweeps, finds out which weights are
    not zero; where columns nearly depend on each other it would take forever to find their values.
    """
    gradient, w = gradient.copy(), w.copy()
    ridge = _RIDGE * np.trace(hessian) / w.size + _TINY
    tol = 0.05 * max(1e-12, _worst_violation(gradient, w))
    landed = np.full_like(w, np.nan)
    for _ in range(_MAX_ROUNDS):
        if _descend(hessian, gradient, w, ridge, tol, _SWEEPS_A_ROUND):
            break
        _jump(hessian, gradient, w, ridge)
        if np.all(np.abs(w - landed) <= 1e-12 * np.abs(w)):
            break  # as far as numbers go: descent leads away and the jump back
        landed[:] = w
    return w


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _evaluate(y, cost, z, dz, step, new_z, residual, violators):
    """Move z by step * dz; return the loss there and sum_i 2 c_i slack_i."""
    loss = 0.0
    total = 0.0
    for i in range(z.size):
        new_z[i] = z[i] + step * dz[i]
        slack = max(0.0, 1.0 - y[i] * new_z[i])
        dual = 2.0 * cost[i] * slack
        residual[i] = -y[i] * dual
        violators[i] = slack > 0.0
        loss += cost[i] * slack * slack
        total += dual
    return loss, total


def duality_gap(objective, loss, dual_sum, steepest):
    """Return P - D for the dual point that the slacks suggest, scaled to be feasible.

    a_i = 2 c_i slack_i is optimal for the dual where w is optimal. Its sum is ``dual_sum`` and
    sum_i a_i^2 / (4 c_i) = ``loss``. Scaled by t it is feasible if t * steepest <= 1, for the
    largest entry ``steepest`` of the gradient, and D = t dual_sum - t^2 loss is largest at
    t = dual_sum / (2 loss).
    """
    if loss == 0.0:
        return objective
    t = dual_sum / (2.0 * loss)
    if steepest * t > 1.0:
        t = 1.0 / steepest
    return objective - t * (dual_sum - t * loss)


class _Point:
    """The decision values z = Xw of the rows, and what the loss and its gradient need of them."""

    def __init__(self, y, cost, z, dz, step):
        self.y, self.cost = y, cost
        self.z, self.residual = np.empty((2, z.size))
        self.violators = np.empty(z.size, dtype=np.bool_)
        self.loss, self.dual_sum = _evaluate(
            y, cost, z, dz, step, self.z, self.residual, self.violators
        )

    def moved(self, dz, step) -> "_Point":
        return _Point(self.y, self.cost, self.z, dz, step)

    def gap(self, objective, steepest):
        """Return P - D for the dual point that the slacks suggest."""
        return duality_gap(objective, self.loss, self.dual_sum, steepest)


class _Hessian:
    """Gram matrix of columns over the margin violators, kept up to date as those change."""

    def __init__(self, columns: np.ndarray, cost: np.ndarray):
        self.columns = columns
        self.cost = cost
        self.violators = np.zeros(cost.size, dtype=bool)
        self.gram = np.zeros((len(columns), len(columns)))

    def at(self, violators: np.ndarray) -> np.ndarray:
        changed = violators != self.violators
        if 2 * np.count_nonzero(changed) > np.count_nonzero(violators):
            self.gram[...] = 0.0
            self._add(np.flatnonzero(violators), 1.0)
        else:
            self._add(np.flatnonzero(changed & violators), 1.0)
            self._add(np.flatnonzero(changed & self.violators), -1.0)
        self.violators = violators
        return self.gram

    def _add(self, rows: np.ndarray, sign: float) -> None:
        if rows.size:
            chosen = self.columns[:, rows] * np.sqrt(2.0 * self.cost[rows])
            self.gram += sign * (chosen @ chosen.T)


def solve(columns, y, cost, w, *, tol, max_iter):
    """Minimise P(w), starting from w.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), C-contiguous
        The features, the constant included if there is one.
    y : ndarray of shape (n_samples,)
        Labels +1 and -1.
    cost : ndarray of shape (n_samples,)
        c_i >= 0.
    w : ndarray of shape (n_features,)
        Where to start.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Newton steps to take at most.

    Returns
    -------
    w : ndarray of shape (n_features,)
    gap : float
        The relative duality gap reached.
    n_iter : int
        Newton steps taken.
    """
    if not float(np.abs(columns).max(initial=0.0)) * math.sqrt(cost.sum()) < _LARGEST:
        raise ValueError(
            "the squares of the features overflow in the loss. Scale the features, for example "
            "into [0, 1], or take a smaller C."
        )
    steepest = float(np.abs(columns @ (2.0 * cost * y)).max(initial=0.0))
    n_stages = math.ceil(math.log(max(steepest / _STEEP, 1.0), _STAGE))
    n_iter = 0
    for stage in range(n_stages, 0, -1):
        steps, enough = min(_STAGE_STEPS, max_iter - n_iter), max(tol, _STAGE_TOL)
        w, gap, n_taken = _solve_stage(
            columns, y, cost / _STAGE**stage, w, tol=enough, max_iter=steps
        )
        n_iter += n_taken
        if gap > enough and n_taken < steps:
            break  # rounding hides the way, and larger costs do not show it
    w, gap, n_taken = _solve_stage(columns, y, cost, w, tol=tol, max_iter=max_iter - n_iter)
    return w, gap, n_iter + n_taken


def _solve_stage(columns, y, cost, w, *, tol, max_iter):
    """Minimise P(w) as `solve` does, with these costs from the start."""
    w = w.copy()
    support = np.flatnonzero(w)
    point = _Point(y, cost, np.zeros(len(y)), w[support] @ columns[support], 1.0)
    working, hessian = None, None
    best_w, best_gap, least = w, np.inf, np.inf
    n_iter = n_stale = 0
    while True:
        # All features: the gradient, the gap.
        gradient = columns @ point.residual
        size = np.abs(gradient)
        objective = point.loss + np.abs(w).sum()
        gap = point.gap(objective, size.max())
        # Where rounding hides any progress the gap goes up and down: the best point counts.
        relative = gap / objective if objective else 0.0
        n_stale += 1
        if relative < 0.9 * best_gap or objective < (1.0 - 1e-8) * least:
            n_stale = 0
        least = min(least, objective)
        if relative < best_gap:
            best_w, best_gap = w.copy(), relative
        if relative <= tol or n_iter >= max_iter or n_stale >= _MAX_STALE:
            return best_w, best_gap, n_iter

        # The working set: the support, and of the others those that violate most.
        support = w != 0.0
        chosen = np.flatnonzero(support | (size > 1.0))
        limit = max(_SMALLEST_WORKING_SET, 2 * np.count_nonzero(support))
        if chosen.size > limit:
            rank = np.where(support[chosen], np.inf, size[chosen])
            chosen = np.sort(chosen[np.argpartition(-rank, limit)[:limit]])
        start = point
        if working is None or not np.array_equal(chosen, working):
            working, hessian = chosen, _Hessian(columns[chosen], cost)

        # Newton steps on it, until its own gap is small beside that of all features.
        v, slope = w[working], gradient[working]
        enough = max(0.3 * tol * objective, 0.1 * gap)
        for _ in range(min(_STEPS_A_PASS, max_iter - n_iter)):
            v, new_point = _newton_step(hessian, point, v, slope)
            n_iter += 1
            if new_point is point:
                break
            point = new_point
            slope = hessian.columns @ point.residual
            if point.gap(point.loss + np.abs(v).sum(), np.abs(slope).max()) <= enough:
                break
        w[working] = v
        if point is start:  # rounding hides any further progress: no step will ever be taken
            return best_w, best_gap, n_iter


def _newton_step(hessian, point, v, slope):
    """Minimise the quadratic model and search along the way there; return weights and point."""
    new = _minimise_model(hessian.at(point.violators), slope, v)
    direction = new - v
    dz = direction @ hessian.columns

    # Backtracking: a share of the decrease that the linear model with the full penalty promises.
    # Near the optimum the decrease drowns in rounding while the gradient still has digits to gain.
    l1 = np.abs(v).sum()
    rounding = 1e-14 * (point.loss + l1)
    promised = slope @ direction + np.abs(new).sum() - l1
    step = 1.0
    while step > 1e-10:
        moved = point.moved(dz, step)
        new = v + step * direction
        progress = point.loss + l1 - moved.loss - np.abs(new).sum()
        if progress >= -1e-4 * step * promised - rounding:
            return new, moved
        step *= 0.5
    return v, point


# Steps that a pass over the rows tries, the longest first.
STEPS = 0.5 ** np.arange(12)


class Look(NamedTuple):
    """What a pass over the rows finds at weights w, reached from w - d by the direction d."""

    losses: np.ndarray  # at w - d + step * d for each of STEPS; the first is that at w
    dual_sum: float
    gradient: np.ndarray
    hessian: np.ndarray


def solve_in_passes(look, n_columns: int, n_problems: int, *, tol, max_iter):
    """Minimise P(w) for several problems at once, for features that are not in memory.

    Proximal Newton on all features. Loss, gradient and Hessian are sums over the rows, so that a
    pass finds those of all problems; and since it tries several steps on its way, a Newton step
    takes one pass, or two if the full step was too long.

    Parameters
    ----------
    look : callable
        ``look(problems, weights, directions)`` makes a pass and returns a `Look` for each problem.
    n_columns, n_problems : int
    tol, max_iter : float, int
        As in `solve`.

    Returns
    -------
    solutions : list of (w, gap, n_iter), as `solve` returns them
    """
    w = np.zeros((n_problems, n_columns))
    direction = np.zeros_like(w)
    before = np.full(n_problems, np.inf)  # the objective at w
    promised = np.zeros(n_problems)
    gaps = np.full(n_problems, np.inf)  # relative
    n_iter = np.zeros(n_problems, dtype=int)
    active = list(range(n_problems))
    while active:
        looks = look(active, w[active] + direction[active], direction[active])
        undecided = []
        for p, found in zip(active, looks, strict=True):
            l1 = np.abs(w[p] + STEPS[:, np.newaxis] * direction[p]).sum(axis=1)
            progress = before[p] - found.losses - l1
            enough = progress >= -1e-4 * STEPS * promised[p] - 1e-14 * np.abs(before[p])
            if not enough.any():
                continue  # rounding hides any further progress: w is as good as it gets
            step = STEPS[np.argmax(enough)]
            if step < 1.0:
                direction[p] *= step
                promised[p] *= step
                undecided.append(p)
                continue
            w[p] += direction[p]
            before[p] = objective = found.losses[0] + l1[0]
            steepest = np.abs(found.gradient).max()
            gap = duality_gap(objective, found.losses[0], found.dual_sum, steepest)
            gaps[p] = gap / objective if objective else 0.0
            if gaps[p] <= tol or n_iter[p] >= max_iter:
                continue
            new = _minimise_model(found.hessian, found.gradient, w[p])
            direction[p] = new - w[p]
            promised[p] = found.gradient @ direction[p] + np.abs(new).sum() - np.abs(w[p]).sum()
            n_iter[p] += 1
            undecided.append(p)
        active = undecided
    return [(w[p], gaps[p], int(n_iter[p])) for p in range(n_problems)]


def as_columns(X: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """Return the features as contiguous float64 rows, with the constant last if there is one."""
    columns = np.empty((X.shape[1] + fit_intercept, len(X)))
    columns[: X.shape[1]] = X.T
    columns[X.shape[1] :] = 1.0
    return columns


def targets(y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return labels +1 and -1 for each class against the others; one row if there are two."""
    labels = np.arange(n_classes)[1 if n_classes == 2 else 0 :]
    return np.where(y == labels[:, np.newaxis], 1.0, -1.0)
