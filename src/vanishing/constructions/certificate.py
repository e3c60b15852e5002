"""Which border terms vanish: the certificate of the paper's section 3, term after term.

With G = L L' the Gram matrix of O and z = L^{-1} c for a border term u, the smallest mse of a
polynomial with leading term u is the Schur complement d - z'z, and v = -L^{-T} z attains it. Above
psi that is a proof that no generator with leading term u exists, and u joins O: L gains the row
(z, sqrt(d - z'z)).

Two ways to the same numbers, with one interface: `SchurTail` from the moments (fast; loses half
of the digits), `OrthogonalTail` from an orthogonal factorisation of the evaluated terms (all the
digits the rows have), for the terms that moments cannot decide.
"""

import numpy as np
from scipy.linalg.lapack import dtrtrs

EPS = np.finfo(np.float64).eps
_TINY = np.finfo(np.float64).tiny  # below it numbers lose digits

# The diagonal entry of a term that depends on the terms before it. Its direction is used up, and
# dividing by this gives it the coefficient zero, without a special case anywhere. True entries are
# roots of numbers that have not overflowed, below 1e155.
DEPENDENT = 1e300

_BLOCK = 64  # terms eliminated between two BLAS-3 updates


def bounds_from_moments(mse, scale, size):
    """Return an interval that holds the true mse of a polynomial over ``size`` terms.

    Moments are sums of products: an mse computed from them errs by about ``k eps scale^2``, where
    ``scale = sum |c_t| rms(t)`` over the terms of the polynomial. A hundred times that, so that the
    error is below one per cent of the distance to psi wherever the interval excludes psi. Products
    that underflow err by more.
    """
    error = 100.0 * (size + 10) * (EPS * scale * scale + _TINY)
    return mse - error, mse + error


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
        """Return the factor with further rows, which bring their own lower triangle."""
        k, size = len(self), len(self) + len(rows)
        lower = np.zeros((size, size))
        lower[:k, :k] = self.lower
        lower[k:] = np.tril(rows, k)
        return Factor(lower)

    def forward(self, cross: np.ndarray) -> np.ndarray:
        """Return z = L^{-1} c for each column c."""
        return _solve_lower(self.lower, cross)

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """Return the minimisers v = -L^{-T} z for each column z."""
        return -_solve_lower(self.lower, z, transposed=True)


class _Tail:
    """The open border terms, in order, seen from the complement of O and of those that joined.

    Parameters
    ----------
    factor : Factor
        Of the Gram matrix of O before any of the open terms joined it.
    z : ndarray of shape (k, s)
        L^{-1} c of the open terms.
    """

    def __init__(self, factor: Factor, z: np.ndarray):
        k, s = z.shape
        self.factor = factor
        self.size = k
        self.joined: list[int] = []
        self.z = np.zeros((k + s, s))  # gains a row with every term that joins
        self.z[:k] = z

    def _reach(self, i: int) -> None:
        """Bring z up to date for open term i."""

    def residual(self, i: int) -> float:
        """Return the smallest mse with leading term i."""
        raise NotImplementedError

    def grown_factor(self) -> Factor:
        """Return the factor with the rows it gains for the terms that joined."""
        return self.factor.extended(self.z[: self.size, self.joined].T)

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


class SchurTail(_Tail):
    """Schur complements of the open terms from their moments, a block at a time.

    ``inner`` holds the moments mean(u_i u_j) of the open terms. Inside a block the complement is
    updated with every term that joins; the terms behind it learn of the block when it is done,
    by two BLAS-3 operations.

    ``scale`` holds sum |c_t| rms(t) of the closed forms over O. When term p joins, the closed form
    of term j loses a multiple z_pj / pivot_p of that of p, so that the scales here stay upper
    bounds without any closed form being computed.
    """

    def __init__(self, factor: Factor, z: np.ndarray, inner: np.ndarray, scale: np.ndarray):
        super().__init__(factor, z)
        self.inner = inner
        self.scale = scale
        self._start_block(0)

    def _start_block(self, start: int) -> None:
        self.start, self.stop = start, min(start + _BLOCK, len(self.inner))
        self.size_before, self.joined_before = self.size, len(self.joined)
        z = self.z[: self.size, self.start : self.stop]
        block = self.inner[self.start : self.stop, self.start : self.stop]
        self.schur = block - z.T @ z

    def _finish_block(self) -> None:
        new = self.joined[self.joined_before :]
        if new and self.stop < len(self.inner):
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
        row = self.schur[p, p:] / pivot
        row[0] = pivot
        self.z[self.size, i : self.stop] = row
        self.schur[p + 1 :, p + 1 :] -= np.multiply.outer(row[1:], row[1:])
        self.scale[i + 1 : self.stop] += (self.scale[i] / pivot) * np.abs(row[1:])
        self.size += 1
        self.joined.append(i)

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
        self.size += 1
        self.joined.append(i)

    def bounds(self, mse: float, scale: float) -> tuple[float, float]:
        """Return an interval that holds the true mse of a polynomial."""
        return bounds_from_rows(mse, scale, self.size)
