"""Compiled steps along equations of motion, with derivatives by starts and parameters.

Plain Runge-Kutta steps of order 4 and their exact discrete tangents; where these would have to be
very short, steps of an implicit method (SDIRK of order 4, L-stable: Hairer, Wanner 1996).
"""

import numba
import numpy as np

from vanishing.motion.tape import slopes_of, values_of

DONE, LEFT, STIFF = 0, 1, 2  # how an integration ends: at its last time, at infinity, or too slow
_EXPLICIT = 60  # such steps between two rows, from which on implicit ones are taken
_IMPLICIT = 200  # the most of these between two rows
_BUDGET = 8.0  # steps per row and pace, implicit ones counting ten times: more are too slow
_FAR = 1e30  # a path that has left

_A = np.array(
    [
        [1 / 4, 0.0, 0.0, 0.0, 0.0],
        [1 / 2, 1 / 4, 0.0, 0.0, 0.0],
        [17 / 50, -1 / 25, 1 / 4, 0.0, 0.0],
        [371 / 1360, -137 / 2720, 15 / 544, 1 / 4, 0.0],
        [25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4],
    ]
)
_C = _A.sum(axis=1)


@numba.njit(cache=True, error_model="numpy")
def _explicit(tape, variables, h, n, u0, u1, room, state, tangent, with_tangent):
    """Take one Runge-Kutta step of order 4; inputs go from u0 to u1."""
    values, slopes, _, jacobian, k, dk, total, dtotal, dstage = room
    n_inputs = len(u0)
    p = tangent.shape[1] - n
    total[:] = 0.0
    dtotal[:] = 0.0
    for s in range(4):
        shift = 0.0 if s == 0 else (1.0 if s == 3 else 0.5)
        factor = 0.0 if s == 0 else (h if s == 3 else 0.5 * h)
        for i in range(n):
            variables[i] = state[i] + factor * k[i]
        for i in range(n_inputs):
            variables[n + i] = u0[i] + shift * (u1[i] - u0[i])
        weight = h / 6.0 if s in (0, 3) else h / 3.0
        if not with_tangent:
            values_of(tape, variables, values, k)
            for i in range(n):
                total[i] += weight * k[i]
            continue
        if s:
            for i in range(n):
                for c in range(n + p):
                    dstage[i, c] = tangent[i, c] + factor * dk[i, c]
        else:
            dstage[:] = tangent
        slopes_of(tape, variables, values, slopes, k, jacobian)
        for i in range(n):
            total[i] += weight * k[i]
            for c in range(n + p):
                slope = jacobian[i, n_inputs + c] if c >= n else 0.0
                for a in range(n):
                    slope += jacobian[i, a] * dstage[a, c]
                dk[i, c] = slope
            for c in range(n + p):
                dtotal[i, c] += weight * dk[i, c]
    for i in range(n):
        state[i] += total[i]
    if with_tangent:
        for i in range(n):
            for c in range(n + p):
                tangent[i, c] += dtotal[i, c]


@numba.njit(cache=True, error_model="numpy")
def _solve(matrix, right):
    """Solve a small linear system in place; return whether that was possible."""
    n, m = right.shape
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(matrix[i, j]) > abs(matrix[pivot, j]):
                pivot = i
        if not abs(matrix[pivot, j]) > 0.0 or not abs(matrix[pivot, j]) < np.inf:
            return False
        if pivot != j:
            for c in range(n):
                matrix[j, c], matrix[pivot, c] = matrix[pivot, c], matrix[j, c]
            for c in range(m):
                right[j, c], right[pivot, c] = right[pivot, c], right[j, c]
        for i in range(j + 1, n):
            factor = matrix[i, j] / matrix[j, j]
            for c in range(j + 1, n):
                matrix[i, c] -= factor * matrix[j, c]
            for c in range(m):
                right[i, c] -= factor * right[j, c]
    for j in range(n - 1, -1, -1):
        for c in range(m):
            total = right[j, c]
            for i in range(j + 1, n):
                total -= matrix[j, i] * right[i, c]
            right[j, c] = total / matrix[j, j]
    return True


@numba.njit(cache=True, error_model="numpy")
def _implicit(tape, variables, h, n, u0, u1, room, state, tangent, with_tangent):
    """Take one implicit step; return whether Newton's method arrived."""
    values, slopes, result, jacobian = room[0], room[1], room[2], room[3]
    n_inputs = len(u0)
    width = tangent.shape[1]
    k = np.zeros((5, n))
    dk = np.zeros((5, n, width))
    base = np.empty(n)
    dbase = np.empty((n, width))
    matrix, step, right = np.empty((n, n)), np.empty((n, 1)), np.empty((n, width))
    size = 1e-12
    for i in range(n):
        size = max(size, abs(state[i]))
    for s in range(5):
        for i in range(n):
            base[i] = state[i]
            for r in range(s):
                base[i] += h * _A[s, r] * k[r, i]
            if s:
                k[s, i] = k[s - 1, i]
        for i in range(n_inputs):
            variables[n + i] = u0[i] + _C[s] * (u1[i] - u0[i])
        arrived = False
        for _ in range(12):
            for i in range(n):
                variables[i] = base[i] + 0.25 * h * k[s, i]
            slopes_of(tape, variables, values, slopes, result, jacobian)
            for i in range(n):
                step[i, 0] = result[i] - k[s, i]
                for j in range(n):
                    matrix[i, j] = (1.0 if i == j else 0.0) - 0.25 * h * jacobian[i, j]
            if not _solve(matrix, step):
                return False
            largest = 0.0
            for i in range(n):
                k[s, i] += step[i, 0]
                if not abs(step[i, 0]) < np.inf:
                    return False
                largest = max(largest, abs(step[i, 0]))
            if h * largest <= 1e-10 * size:
                arrived = True
                break
        if not arrived:
            return False
        if with_tangent:
            for i in range(n):
                for c in range(width):
                    dbase[i, c] = tangent[i, c]
                    for r in range(s):
                        dbase[i, c] += h * _A[s, r] * dk[r, i, c]
            for i in range(n):
                for j in range(n):
                    matrix[i, j] = (1.0 if i == j else 0.0) - 0.25 * h * jacobian[i, j]
                for c in range(width):
                    right[i, c] = jacobian[i, n_inputs + c] if c >= n else 0.0
                    for a in range(n):
                        right[i, c] += jacobian[i, a] * dbase[a, c]
            if not _solve(matrix, right):
                return False
            for i in range(n):
                for c in range(width):
                    dk[s, i, c] = right[i, c]
    for s in range(5):
        for i in range(n):
            state[i] += h * _A[4, s] * k[s, i]
            if with_tangent:
                for c in range(width):
                    tangent[i, c] += h * _A[4, s] * dk[s, i, c]
    return True


@numba.njit(cache=True, error_model="numpy")
def integrate(tape, start, parameters, t, U, path, tangents, with_tangent, local, pace, bounded):
    """Integrate from the first time to the others; return how that ended.

    Parameters
    ----------
    tape : Tape
        Derivatives of the states in states, inputs and parameters.
    start, parameters : arrays of shape (n_states,) and (n_parameters,)
    t, U : arrays of shape (n_times,) and (n_times, n_inputs)
    path : array of shape (n_times, n_states), to be filled
    tangents : array of shape (n_times, n_states, n_states + n_parameters), to be filled
        Derivatives of the path by start and parameters; with ``local``, by the state at the time
        before.
    with_tangent, local : bool
    pace : float
        Longest step times the size of the Jacobian, in explicit steps.
    bounded : bool
        Whether to give up where very many steps would be needed.
    """
    n, p, n_inputs = len(start), len(parameters), U.shape[1]
    steps = len(tape[0])
    variables = np.empty(n + n_inputs + p)
    variables[n + n_inputs :] = parameters
    tangent = np.zeros((n, n + p))
    shape = (n, n + p)
    room = (
        np.empty(steps),
        np.empty(steps),
        np.empty(n),
        np.empty((n, n + n_inputs + p)),
        np.zeros(n),
        np.zeros(shape),
        np.empty(n),
        np.empty(shape),
        np.empty(shape),
    )
    state = start.copy()
    for i in range(n):
        tangent[i, i] = 1.0
    path[0] = state
    if with_tangent:
        tangents[0] = tangent
    budget = 2000.0 + _BUDGET / pace * len(t) if bounded else np.inf
    for row in range(1, len(t)):
        span = t[row] - t[row - 1]
        variables[:n] = state
        variables[n : n + n_inputs] = U[row - 1]
        slopes_of(tape, variables, room[0], room[1], room[2], room[3])
        rate = 0.0
        for i in range(n):
            size = 0.0
            for j in range(n):
                size += abs(room[3][i, j])
            if not size < np.inf:
                return LEFT
            rate = max(rate, size)
        if local:
            tangent[:] = 0.0
            for i in range(n):
                tangent[i, i] = 1.0
        count = int(min(span * rate / pace, 1e6)) + 1
        before = U[row - 1].copy()
        budget -= count if count <= _EXPLICIT else 10 * (8 + int(np.sqrt(count)))
        if budget < 0:
            return STIFF
        if count <= _EXPLICIT:
            for s in range(count):
                after = U[row - 1] + (s + 1.0) / count * (U[row] - U[row - 1])
                _explicit(
                    tape, variables, span / count, n, before, after, room, state, tangent,
                    with_tangent,
                )  # fmt: skip
                before = after
        else:
            count = min(8 + int(np.sqrt(count)), _IMPLICIT)
            kept, kept_tangent = state.copy(), tangent.copy()
            while True:
                fine = True
                for s in range(count):
                    low = U[row - 1] + s / count * (U[row] - U[row - 1])
                    high = U[row - 1] + (s + 1.0) / count * (U[row] - U[row - 1])
                    if not _implicit(
                        tape, variables, span / count, n, low, high, room, state, tangent,
                        with_tangent,
                    ):  # fmt: skip
                        fine = False
                        break
                if fine:
                    break
                count *= 4
                budget -= 10 * count
                state[:] = kept
                tangent[:] = kept_tangent
                if count > _IMPLICIT or budget < 0:
                    return STIFF
        largest = np.abs(state).max()
        if not largest < _FAR:
            return LEFT
        path[row] = state
        if with_tangent:
            tangents[row] = tangent
    return DONE


@numba.njit(cache=True, error_model="numpy")
def add_normal_equations(
    path, tangents, X, told, with_tangent, loss, start_block, mixed_block, block, start_cross, cross
):
    """Add one piece to the normal equations.

    Parameters
    ----------
    path, tangents : arrays
        As `integrate` fills them.
    X, told : arrays of shape (n_rows, n_measured)
        Measured columns, which are the first states, and one over the deviation of each cell, zero
        where it is missing.
    with_tangent : bool
    loss : array of shape (n_measured,), to be added to
    start_block, mixed_block, block, start_cross, cross : arrays to be added to
        Products of derivatives by starts and starts, starts and parameters, parameters and
        parameters (below the diagonal), and with residuals.
    """
    n = path.shape[1]
    p = len(cross)
    for i in range(len(X)):
        for j in range(X.shape[1]):
            weight = told[i, j]
            if weight == 0.0:
                continue
            rest = (X[i, j] - path[i, j]) * weight
            loss[j] += rest * rest
            if not with_tangent:
                continue
            slope = tangents[i, j]
            for a in range(n):
                da = slope[a] * weight
                start_cross[a] += da * rest
                for b in range(n):
                    start_block[a, b] += da * slope[b] * weight
                for b in range(p):
                    mixed_block[a, b] += da * slope[n + b] * weight
            for a in range(p):
                da = slope[n + a] * weight
                cross[a] += da * rest
                for b in range(a + 1):
                    block[a, b] += da * slope[n + b] * weight
