"""The solver of linear support vector machines with l1 penalty and squared hinge loss.

The problem of scikit-learn's ``LinearSVC(penalty="l1", dual=False)``, for each class against all
others:

    minimise  P(w) = ||w||_1 + sum_i c_i max(0, 1 - y_i x_i'w)^2,     c_i = C s_i,

where the intercept is the weight of a constant feature, penalised as the others. Its dual is

    maximise  D(a) = sum_i a_i - a_i^2 / (4 c_i)   over a >= 0 with |sum_i a_i y_i x_i| <= 1,

so that P(w) - D(a) bounds the distance of w from the optimum for any a that is feasible.

The method is proximal Newton on a working set. While the set of margin violators stays the same
the loss is quadratic, with the Gram matrix of the columns over the violators for its Hessian: a
step minimises the l1-penalised quadratic model on the working set's columns (see `svm_model`), and
a few steps usually do. Every pass ends with a look at all features, which chooses the next working
set and measures the gap. The problems of several classes look at the same time: the features are
read once for all of them.

Where costs are so large that the penalty is a rounding error of the loss at the start, the problem
is solved with smaller costs first.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from vanishing._threads import spread
from vanishing.learning.svm_model import minimise_model, worst_violation

_SMALLEST_WORKING_SET = 20
_WORTH_THREADS = 1_000_000  # entries of the features, once per problem: less is done at once
_STILL_STEEP = 0.1  # share of the slope that is left at the end of a step which is too short
_LONGEST = 4.0  # of its full length
_STEEP = 1e6  # entry of the gradient at zero beyond which costs are approached in stages
_STAGE = 100.0  # ratio of costs of one stage to those of the stage before


# Compiled code is cached under this name: with another, caches of an earlier version would fail.
class _Point(NamedTuple):
    """The decision values z = Xw of the rows, and what the loss and its gradient need of them."""

    z: np.ndarray
    residual: np.ndarray
    violators: np.ndarray
    loss: float
    dual_sum: float  # sum_i 2 c_i slack_i


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _moved(y, cost, z, dz, step):
    """Return the point at z + step * dz."""
    new_z, residual = np.empty(z.size), np.empty(z.size)
    violators = np.empty(z.size, dtype=np.bool_)
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
    return _Point(new_z, residual, violators, loss, total)


@njit(cache=True, nogil=True)
def _rise(w, direction):
    """Return the slope of ||w||_1 along a direction."""
    total = 0.0
    for j in range(w.size):
        ahead = w[j] if w[j] != 0.0 else direction[j]
        total += direction[j] if ahead > 0.0 else -direction[j]
    return total


@njit(cache=True, nogil=True)
def _towards(columns, y, cost, point, v, new, slope):
    """Search along the way from the weights v to new ones.

    Returns whether a step was taken, and weights, point and slope after it.
    """
    direction = new - v
    dz = direction @ columns
    # Backtracking: a share of the decrease that the linear model with the full penalty promises.
    # Near the optimum the decrease drowns in rounding while the gradient still has digits to gain.
    l1 = np.abs(v).sum()
    rounding = 1e-14 * (point.loss + l1)
    promised = slope @ direction + np.abs(new).sum() - l1
    step = 1.0
    while step > 1e-10:
        moved = _moved(y, cost, point.z, dz, step)
        new = v + step * direction
        objective = moved.loss + np.abs(new).sum()
        if point.loss + l1 - objective >= -1e-4 * step * promised - rounding:
            break
        step *= 0.5
    else:
        return False, v, point, slope
    # As rows cease to violate their margins the loss bends less than its model does, and the way
    # leads on: to where the slope along it would be zero if it kept changing as on the full step.
    first = slope @ direction + _rise(v, direction)
    last = moved.residual @ dz + _rise(new, direction)
    if step == 1.0 and last < _STILL_STEEP * first < 0.0:
        step = min(first / (first - last), _LONGEST) if last > first else _LONGEST
        beyond, further = v + step * direction, _moved(y, cost, point.z, dz, step)
        if further.loss + np.abs(beyond).sum() < objective:
            new, moved = beyond, further
    return True, new, moved, columns @ moved.residual


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


@njit(cache=True, nogil=True)
def _sizes(w, gradient):
    """Return ||w||_1, the largest entry of the gradient, and the worst violation."""
    l1 = 0.0
    steepest = 0.0
    for j in range(w.size):
        l1 += abs(w[j])
        steepest = max(steepest, abs(gradient[j]))
    return l1, steepest, worst_violation(gradient, w)


def _measured(point, w, gradient):
    """Return the objective, the duality gap and the worst violation at weights w."""
    l1, steepest, violation = _sizes(w, gradient)
    objective = point.loss + l1
    return objective, duality_gap(objective, point.loss, point.dual_sum, steepest), violation


@njit(cache=True, nogil=True)
def _gathered(columns, rows, scale):
    """Return the entries of columns in some rows, times the scale of each row."""
    out = np.empty((len(columns), rows.size))
    for j in range(len(columns)):
        column = columns[j]
        for i in range(rows.size):
            out[j, i] = column[rows[i]] * scale[i]
    return out


class _Hessian:
    """Gram matrix of the working columns over the margin violators, kept up to date."""

    def __init__(self, cost: np.ndarray):
        self.scale = np.sqrt(2.0 * cost)
        self.working = np.zeros(0, dtype=int)
        self.gram = np.zeros((0, 0))
        self.n_known = 0  # of the working columns, those whose products are in the matrix
        self.violators = np.zeros(cost.size, dtype=bool)
        self.n_changes = 0  # of violators since the matrix was made

    def work_on(self, chosen: np.ndarray) -> np.ndarray:
        """Change the working columns and return their places; those that stay come first.

        All columns are in order, so that they need not be copied.
        """
        if chosen.all() and self.working.size < chosen.size:
            self.working = np.zeros(0, dtype=int)
        stay, new = chosen[self.working], chosen.copy()
        new[self.working] = False
        known = self.gram[: stay.size, : stay.size][stay][:, stay]
        self.n_known = len(known)
        self.working = np.concatenate([self.working[stay], np.flatnonzero(new)])
        self.gram = np.zeros((self.working.size, self.working.size))
        self.gram[: self.n_known, : self.n_known] = known
        return self.working

    def at(self, columns: np.ndarray, violators: np.ndarray) -> np.ndarray:
        """Return the matrix of the working columns, which are given, over other violators."""
        changed = violators != self.violators
        n_changed, n_violators = map(int, map(np.count_nonzero, (changed, violators)))
        self.n_changes += n_changed
        size = len(self.gram)
        # Made anew where that is as quick, and now and then, for the errors of rounding.
        many = n_changed > n_violators or self.n_changes > 4 * n_violators
        if many or 2 * self.n_known < size:
            self.n_known = self.n_changes = 0
        known = slice(self.n_known)
        if self.n_known:
            for rows, sign in ((changed & violators, 1.0), (changed & self.violators, -1.0)):
                if rows.any():
                    values = self._values(columns[known], rows)
                    self.gram[known, known] += sign * (values @ values.T)
        if self.n_known < size:
            values = self._values(columns, violators)
            new = values[self.n_known :] if self.n_known else values
            self.gram[self.n_known :] = new @ values.T
            self.gram[known, self.n_known :] = self.gram[self.n_known :, known].T
        self.n_known, self.violators = size, violators
        return self.gram

    def _values(self, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
        places = np.flatnonzero(rows)
        return _gathered(columns, places, self.scale[places])


def solve_together(columns, targets, costs, starts, *, tol, max_iter, n_jobs=None):
    """Minimise P(w) of several problems on the same features.

    A look at all features reads these once for all problems, which between two looks go their own
    ways in ``n_jobs`` threads.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples), C-contiguous
        The features, the constant included if there is one.
    targets : sequence of ndarrays of shape (n_samples,)
        Labels +1 and -1, for each problem.
    costs : sequence of ndarrays of shape (n_samples,)
        c_i >= 0.
    starts : sequence of ndarrays of shape (n_features,)
        The weights to start from.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Newton steps to take at most.
    n_jobs : int, default=None
        Threads over the problems.

    Returns
    -------
    solutions : list of (w, gap, n_iter)
        For each problem the weights, the relative duality gap reached, and the Newton steps taken.
    """
    largest = max(float(columns.max(initial=0.0)), -float(columns.min(initial=0.0)))
    # Below this, sums and products of the squares of weighted features are finite.
    if not largest * math.sqrt(max(cost.sum() for cost in costs)) < 1e125:
        raise ValueError(
            "the squares of the features overflow in the loss. Scale the features, for example "
            "into [0, 1], or take a smaller C."
        )
    paths = [
        _path(columns, *problem, largest=largest, tol=tol, max_iter=max_iter)
        for problem in zip(targets, costs, starts, strict=True)
    ]
    solutions: list = [None] * len(paths)

    def go_on(answer):
        p, gradient = answer
        try:
            return p, paths[p].send(gradient)
        except StopIteration as end:
            solutions[p] = end.value
            return p, None

    def each(function, items):
        if small:
            return [function(item) for item in items]
        return spread(function, items, n_jobs)

    small = columns.size * len(paths) < _WORTH_THREADS
    answers = [(p, None) for p in range(len(paths))]
    while answers:
        asked = [question for question in each(go_on, answers) if question[1] is not None]
        gradients = _products(columns, [residual for _, residual in asked], each)
        answers = [(p, gradient) for (p, _), gradient in zip(asked, gradients, strict=True)]
    return solutions


def _products(columns, vectors, each):
    """Return the products of all columns with each of the vectors."""
    if len(vectors) <= 2:  # reading the columns for each is as quick
        return each(lambda vector: columns @ vector, vectors)
    stacked = np.array(vectors)
    starts = range(0, len(columns), 1024)
    blocks = each(lambda start: stacked @ columns[start : start + 1024].T, starts)
    return np.concatenate(blocks, axis=1)


def _path(columns, y, cost, w, *, largest, tol, max_iter):
    """Solve a problem; a generator that asks for the products of all columns with vectors."""
    n_stages, n_iter = 0, 0
    if 2.0 * largest * cost.sum() > _STEEP:  # maybe: no entry of the gradient at zero is larger
        steepest = float(np.abs((yield 2.0 * cost * y)).max(initial=0.0))
        n_stages = math.ceil(math.log(max(steepest / _STEEP, 1.0), _STAGE))
    for stage in range(n_stages, 0, -1):
        steps, enough = min(100, max_iter - n_iter), max(tol, 1e-3)
        w, gap, n_taken = yield from _stage(
            columns, y, cost / _STAGE**stage, w, tol=enough, max_iter=steps
        )
        n_iter += n_taken
        if gap > enough and n_taken < steps:
            break  # rounding hides the way, and larger costs do not show it
    w, gap, n_taken = yield from _stage(columns, y, cost, w, tol=tol, max_iter=max_iter - n_iter)
    return w, gap, n_iter + n_taken


def _stage(columns, y, cost, w, *, tol, max_iter):
    """Minimise P(w) as `_path` does, with these costs from the start."""
    w = w.copy()
    support = np.flatnonzero(w)
    point = _moved(y, cost, np.zeros(len(y)), w[support] @ columns[support], 1.0)
    hessian = _Hessian(cost)
    best_w, best_gap, least = w, np.inf, np.inf
    n_iter = n_stale = 0
    while True:
        # All features: the gradient, the gap.
        gradient = yield point.residual
        objective, gap, _ = _measured(point, w, gradient)
        # Where rounding hides any progress the gap goes up and down: the best point counts.
        relative = gap / objective if objective else 0.0
        n_stale += 1
        if relative < 0.9 * best_gap or objective < (1.0 - 1e-8) * least:
            n_stale = 0
        least = min(least, objective)
        if relative < best_gap:
            best_w, best_gap = w.copy(), relative
        if relative <= tol or n_iter >= max_iter or n_stale >= 5:
            return best_w, best_gap, n_iter

        # Newton steps on a working set, until its own gap is a tenth of that of all features. While
        # that says nothing, as with large costs: until the violations outside of it are larger.
        size = np.abs(gradient)
        working = hessian.work_on(_working_set(w, size))
        own = columns if working.size == len(columns) else columns[working]
        v, slope = w[working], gradient[working]
        size[working] = 0.0
        enough, elsewhere = max(0.3 * tol * objective, 0.1 * gap), 0.1 * (size.max() - 1.0)
        progressed = False
        for _ in range(min(10, max_iter - n_iter)):
            new = minimise_model(hessian.at(own, point.violators), slope, v)
            n_iter += 1
            moved, v, point, slope = _towards(own, y, cost, point, v, new, slope)
            progressed |= moved
            _, own_gap, violation = _measured(point, v, slope)
            if not moved or own_gap <= enough or violation <= elsewhere:
                break
        if not progressed:  # rounding hides the way
            return best_w, best_gap, n_iter
        w[working] = v
        del own  # other problems need the memory before the next look


def _working_set(w, size):
    """Mark the features of the support, and of the others those with the largest gradients."""
    chosen = w != 0.0
    others = np.flatnonzero(~chosen & (size > 1.0))
    n_support = np.count_nonzero(chosen)
    limit = max(_SMALLEST_WORKING_SET - n_support, n_support)
    if others.size > limit:
        others = others[np.argpartition(-size[others], limit)[:limit]]
    chosen[others] = True
    return chosen


# Steps that a pass over the rows tries, the longest first.
STEPS = 0.5 ** np.arange(12)


class NewtonPass(NamedTuple):
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
        ``look(problems, weights, directions)`` makes a pass and returns a `NewtonPass` for each
        problem.
    n_columns, n_problems : int
    tol, max_iter : float, int
        As in `solve_together`.

    Returns
    -------
    solutions : list of (w, gap, n_iter)
        As `solve_together` returns them.
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
        for p, state in zip(active, looks, strict=True):
            l1 = np.abs(w[p] + STEPS[:, np.newaxis] * direction[p]).sum(axis=1)
            progress = before[p] - state.losses - l1
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
            before[p] = objective = state.losses[0] + l1[0]
            steepest = np.abs(state.gradient).max()
            gap = duality_gap(objective, state.losses[0], state.dual_sum, steepest)
            gaps[p] = gap / objective if objective else 0.0
            if gaps[p] <= tol or n_iter[p] >= max_iter:
                continue
            new = minimise_model(state.hessian, state.gradient, w[p])
            direction[p] = new - w[p]
            promised[p] = state.gradient @ direction[p] + np.abs(new).sum() - np.abs(w[p]).sum()
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
