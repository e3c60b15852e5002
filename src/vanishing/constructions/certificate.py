"""Which border terms vanish: the certificate of the paper's section 3, term after term.

With G = L L' the Gram matrix of O and z = L^{-1} c for a border term u, the smallest mse of a
polynomial with leading term u is the Schur complement d - z'z, and v = -L^{-T} z attains it. Above
psi that is a proof that no generator with leading term u exists, and u joins O: L gains the row
(z, sqrt(d - z'z)).

Two ways to the same numbers, with one interface: `SchurTail` from the moments (fast; loses half
of the digits), `OrthogonalTail` from an orthogonal factorisation of the evaluated terms (all the
digits the rows have), for the terms that moments cannot decide.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.lapack import dtrtrs

EPS = np.finfo(np.float64).eps
_TINY = np.finfo(np.float64).tiny  # below it numbers lose digits

# The diagonal entry of a term that depends on the terms before it. Its direction is used up, and
# dividing by this gives it the coefficient zero, without a special case anywhere. True entries are
# roots of numbers that have not overflowed, below 1e155.
DEPENDENT = 1e300

UNBOUNDED = int(np.iinfo(np.int64).max)  # number of terms
_BLOCK = 64  # terms eliminated between two BLAS-3 updates


def bounds_from_moments(mse, scale, size):
    """Return an interval that holds the true mse of a polynomial over ``size`` terms.

    Moments are sums of products: an mse computed from them errs by about ``k eps scale^2``, where
    ``scale = sum |c_t| rms(t)`` over the terms of the polynomial. A hundred times that, so that the
    error is below one per cent of the distance to psi wherever the interval excludes psi. Products
    that underflow err by more.
    """
    error = _error(scale, size)
    return mse - error, mse + error


def _error(scale, size):
    return 100.0 * (size + 10) * (EPS * scale * scale + _TINY)


_compiled = njit(cache=True, nogil=True, error_model="numpy")
_error_in_kernels = _compiled(_error)


def bounds_from_rows(mse, scale, size):
    """Return an interval that holds the true mse; from rows its root errs by ``k eps scale``."""
    error = 10.0 * (size + 10) * EPS * scale
    root = np.sqrt(mse)
    return np.maximum(0.0, root - error) ** 2, (root + error) ** 2


def _solve_lower(lower: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    """Solve L x = b or L'x = b; LAPACK itself, for its wrapper costs more than small systems do."""
    # LAPACK stores by columns: to it, the rows of L are the columns of an upper triangle L'.
    return dtrtrs(lower.T, b, lower=0, trans=0 if transposed else 1)[0]


class Factor:
    """Lower-triangular L with L L' = G for a Gram matrix that gains rows."""

    def __init__(self, lower: np.ndarray):
        self.lower = lower

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def independent(self) -> np.ndarray:
        """Indices of the terms that do not depend on the terms before them."""
        return np.flatnonzero(self.lower.diagonal() < DEPENDENT)

    def extended(self, rows: np.ndarray) -> "Factor":
        """Return the factor with further rows, zeros behind their diagonal entries."""
        k, size = len(self), len(self) + len(rows)
        lower = np.zeros((size, size))
        lower[:k, :k] = self.lower
        lower[k:] = rows
        return Factor(lower)

    def forward(self, cross: np.ndarray) -> np.ndarray:
        """Return z = L^{-1} c for each column c."""
        return _solve_lower(self.lower, cross)

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """Return the minimisers v = -L^{-T} z for each column z."""
        return -_solve_lower(self.lower, z, transposed=True)


@_compiled
def certified(z, coef, norm, rms, psi, radius):
    """Say which border terms lead generators for sure: over O, and so over any larger one.

    Parameters
    ----------
    z, coef : ndarrays of shape (b, k)
        L^{-1} c of the border terms, and their closed forms.
    norm : ndarray of shape (b,)
        Mean squares of the border terms.
    rms : ndarray of shape (k,)
        Roots of the mean squares of O.
    psi, radius : float
        Largest mean square and l1-norm of closed forms.

    Returns
    -------
    scale : ndarray of shape (b,)
        sum |c_t| rms(t) over all terms of the closed forms.
    sure : ndarray of bool of shape (b,)
    """
    b, k = z.shape
    scale, sure = np.empty(b), np.empty(b, dtype=np.bool_)
    for j in range(b):
        scale[j] = np.sqrt(norm[j])
        residual, length = norm[j], 0.0
        for t in range(k):
            size = abs(coef[j, t])
            residual -= z[j, t] * z[j, t]
            scale[j] += rms[t] * size
            length += size
        sure[j] = residual + _error_in_kernels(scale[j], k) <= psi and length <= radius
    return scale, sure


class _Tail:
    """The open border terms, in order, seen from the complement of O and of those that joined.

    Parameters
    ----------
    factor : Factor
        Of the Gram matrix of O before any of the open terms joined it.
    z : ndarray of shape (k, s)
        L^{-1} c of the open terms.
    """

    from_moments = False

    def __init__(self, factor: Factor, z: np.ndarray):
        k, s = z.shape
        self.factor = factor
        self.size = k
        self.places = np.empty(s, dtype=np.intp)  # of the terms that joined
        self.z = np.zeros((k + s, s))  # gains a row with every term that joins
        self.z[:k] = z

    @property
    def joined_places(self) -> np.ndarray:
        """The open terms that joined."""
        return self.places[: self.size - len(self.factor)]

    @property
    def joined(self) -> list[int]:
        """The same as a list."""
        return self.joined_places.tolist()

    def _reach(self, i: int) -> None:
        """Bring z up to date for open term i."""

    def residual(self, i: int) -> float:
        """Return the smallest mse with leading term i."""
        raise NotImplementedError

    def grown_factor(self) -> Factor:
        """Return the factor with the rows it gains for the terms that joined."""
        joined = self.joined_places
        return self.factor.extended(self.z[: self.size, joined].T) if joined.size else self.factor

    def coefficients(self, i: int) -> np.ndarray:
        """Return the closed form for open term i over O and the terms that joined so far."""
        self._reach(i)
        k, joined = len(self.factor), self.joined
        if not joined:
            return self.factor.coefficients(self.z[:k, i])
        # L' v = -z with L' = [[L0', Z], [0, P']], from the bottom up.
        last = -_solve_lower(
            self.z[k : self.size, joined].T, self.z[k : self.size, i], transposed=True
        )
        first = self.factor.coefficients(self.z[:k, i] + self.z[:k, joined] @ last)
        return np.concatenate([first, last])

    def mse(self, i: int, coef: np.ndarray) -> float:
        """Return f(v) = residual + ||L'v + z||^2 for open term i.

        NaN if v uses terms that depend on others, of which L knows nothing.
        """
        if coef[self.grown_factor().lower.diagonal() >= DEPENDENT].any():
            return np.nan
        k, joined = len(self.factor), self.joined
        first, last = coef[:k], coef[k:]
        upper = self.factor.lower.T @ first + self.z[:k, joined] @ last + self.z[:k, i]
        lower = self.z[k : self.size, joined] @ last + self.z[k : self.size, i]
        return self.residual(i) + upper @ upper + lower @ lower


class Limits(NamedTuple):
    """What decides whether a border term leads a generator."""

    psi: float  # largest mean square of a generator
    radius: float  # largest l1-norm of its closed form
    inflation: float  # largest inflation that closed forms from moments stand
    size: int  # largest number of terms in O


@_compiled
def _join(schur, row, scale, p, start, pivot):
    """Eliminate term p of a block: the row of L' that it brings, and what the others lose."""
    n = schur.shape[0]
    row[start + p] = pivot
    for q in range(p + 1, n):
        row[start + q] = schur[p, q] / pivot
    for q in range(p + 1, n):
        share = row[start + q]
        scale[start + q] += scale[start + p] / pivot * abs(share)
        if share != 0.0:
            for r in range(q, n):
                schur[q, r] -= share * row[start + r]


@_compiled
def _settle(
    i, start, size, lower, z, schur, scale, places, sure, norm, rms,
    psi, radius, max_inflation, max_size, inflation,
):  # fmt: skip
    """Settle the terms of a block from i on; see `SchurTail.settle`."""
    k = lower.shape[0]
    coef = np.empty(z.shape[0])
    while i < start + schur.shape[0]:
        if sure[i]:
            i += 1
            continue
        left = schur[i - start, i - start]
        if not left - _error_in_kernels(scale[i], size) > psi:
            # Not so clear: with the closed form itself, L' v = -z from the bottom up.
            for t in range(size):
                coef[t] = -z[t, i]
            tight, length = np.sqrt(norm[i]), 0.0
            for t in range(size - 1, -1, -1):
                if t >= k:
                    column = places[t - k]
                    coef[t] /= z[t, column]
                    for u in range(t):
                        coef[u] -= z[u, column] * coef[t]
                else:
                    coef[t] /= lower[t, t]
                    for u in range(t):
                        coef[u] -= lower[t, u] * coef[t]
                length += abs(coef[t])
                tight += (rms[t] if t < k else np.sqrt(norm[places[t - k]])) * abs(coef[t])
            error = _error_in_kernels(tight, size)
            if not left - error > psi:
                vanishes = -np.inf < left + error <= psi  # minus infinity is an overflow
                if not (vanishes and length <= radius and inflation <= max_inflation):
                    return i, size, inflation
                i += 1
                continue
        if size >= max_size:
            return i, size, inflation
        inflation = max(inflation, norm[i] / left)
        _join(schur, z[size], scale, i - start, start, np.sqrt(left))
        places[size - k] = i
        size += 1
        i += 1
    return i, size, inflation


class SchurTail(_Tail):
    """Schur complements of the open terms from their moments, a block at a time.

    ``inner`` holds the moments mean(u_i u_j) of the open terms, whose diagonal is to be less by
    ``shift``. Inside a block the complement is updated with every term that joins; the terms behind
    it learn of the block when it is done, by two BLAS-3 operations.

    ``scale`` holds sum |c_t| rms(t) of the closed forms over O. When term p joins, the closed form
    of term j loses a multiple z_pj / pivot_p of that of p, so that the scales here stay upper
    bounds without any closed form being computed.
    """

    from_moments = True

    def __init__(self, factor: Factor, z, inner, scale, shift=0.0):
        super().__init__(factor, z)
        self.inner = inner
        self.shift = shift
        self.scale = scale
        self._start_block(0)

    def _start_block(self, start: int) -> None:
        self.start, self.stop = start, min(start + _BLOCK, len(self.inner))
        self.size_before = self.size
        z = self.z[: self.size, self.start : self.stop]
        block = self.inner[self.start : self.stop, self.start : self.stop]
        self.schur = block - z.T @ z
        if self.shift:
            self.schur.flat[:: len(self.schur) + 1] -= self.shift

    def _finish_block(self) -> None:
        k = len(self.factor)
        new = self.places[self.size_before - k : self.size - k]
        if new.size and self.stop < len(self.inner):
            old, later = slice(0, self.size_before), slice(self.stop, None)
            rest = self.inner[new, later] - self.z[old, new].T @ self.z[old, later]
            lower = self.z[self.size_before : self.size, new].T
            rows = self.z[self.size_before : self.size, later] = _solve_lower(lower, rest)
            self.scale[later] += (self.scale[new] / lower.diagonal()) @ np.abs(rows)

    def _reach(self, i: int) -> None:
        if i == self.stop:
            self._finish_block()
            self._start_block(i)

    def residual(self, i: int) -> float:
        """Return the smallest mse with leading term i; ask for i = 0, 1, 2, ... in order."""
        self._reach(i)
        return float(self.schur[i - self.start, i - self.start])

    def join(self, i: int, dependent: bool) -> None:
        """Let open term i join O."""
        p = i - self.start
        pivot = DEPENDENT if dependent else np.sqrt(self.schur[p, p])
        _join(self.schur, self.z[self.size], self.scale, p, self.start, pivot)
        self.places[self.size - len(self.factor)] = i
        self.size += 1

    def settle(self, i, limits: Limits, sure, norm, rms, inflation) -> tuple[int, float]:
        """Go through the open terms from i on while moments decide them.

        Those that leave more than psi over join, as long as there is room. Those that are sure are
        passed over, and so are those whose closed form surely has a mean square of at most psi, is
        in the ball and is known well enough: they lead generators. Returns the first term that is
        neither, and the inflation.

        Parameters
        ----------
        i : int
        limits : Limits
        sure : ndarray of bool of shape (s,)
            Which open terms lead generators.
        norm : ndarray of shape (s,)
            Mean squares of the open terms.
        rms : ndarray of shape (k,)
            Roots of the mean squares of O.
        inflation : float
            Largest ratio, so far, of a term's mean square to what of it the terms before leave
            over.
        """
        while True:
            self._reach(i)
            i, self.size, inflation = _settle(
                i,
                self.start,
                self.size,
                self.factor.lower,
                self.z,
                self.schur,
                self.scale,
                self.places,
                sure,
                norm,
                rms,
                *limits,
                inflation,
            )
            if i < self.stop or i == len(self.inner):
                return i, inflation

    def bounds(self, mse: float, scale: float) -> tuple[float, float]:
        """Return an interval that holds the true mse of a polynomial."""
        return bounds_from_moments(mse, scale, self.size)


class OrthogonalTail(_Tail):
    """The same from the triangular factor of the evaluated terms, without squaring anything.

    ``triangle`` (r, s) holds the open terms in the complement of O: what the factorisation left
    of them below the rows of O. Terms that join are projected out of the later ones (modified
    Gram-Schmidt, whose triangular factor is backward stable).
    """

    def __init__(self, factor: Factor, z: np.ndarray, triangle: np.ndarray):
        super().__init__(factor, z)
        self.triangle = triangle

    def residual(self, i: int) -> float:
        """Return the smallest mse with leading term i."""
        return float(self.triangle[:, i] @ self.triangle[:, i])

    def join(self, i: int, dependent: bool) -> None:
        """Let open term i join O."""
        if dependent:
            self.z[self.size, i] = DEPENDENT
        else:
            pivot = np.sqrt(self.residual(i))
            direction = self.triangle[:, i] / pivot
            row = direction @ self.triangle[:, i:]
            self.z[self.size, i:] = row
            self.z[self.size, i] = pivot
            self.triangle[:, i + 1 :] -= np.multiply.outer(direction, row[1:])
        self.places[self.size - len(self.factor)] = i
        self.size += 1

    def bounds(self, mse: float, scale: float) -> tuple[float, float]:
        """Return an interval that holds the true mse of a polynomial."""
        return bounds_from_rows(mse, scale, self.size)
