"""Which equations say something new: no multiples and no consequences of those known already.

An equation follows from others if it holds wherever they do. So random points, whose columns have
nothing to do with one another, are moved to where the known equations hold. One that says
something new is far off there, relative to its error on the rows. What is small on every such
point follows, or is small wherever the rows are, as long polynomials may be.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import gamma

from vanishing.outliers import settings
from vanishing.outliers.candidates import Candidate, StandardTable

_ROUNDINGS = 100.0  # coefficients round more than the residuals they are fitted to
_TRIMMED = 0.8  # share of points whose mean size counts: polynomials grow fast off the rows
_OF_NORMAL = 0.5586  # that mean, of a normal variable of variance 1


class Consequences:
    """Points where equations hold, and what follows there.

    Parameters
    ----------
    table : StandardTable
    """

    def __init__(self, table: StandardTable):
        self.table = table
        self.columns = np.flatnonzero(table.exponents.any(axis=0))
        rows = table.exponents[:, self.columns]
        degrees = rows.sum(axis=1)
        self._linear, self._products = np.flatnonzero(degrees == 1), np.flatnonzero(degrees == 2)
        factors = [np.repeat(np.arange(len(row)), row) for row in rows[self._products]]
        self._left, self._right = np.array(factors, dtype=np.int64).reshape(-1, 2).T
        self._start = self._random_points()

    def points(self, known: Sequence[Candidate]) -> np.ndarray:
        """Return points where equations hold up to their errors, shape (n_points, n).

        Without errors what holds better than the known equations would seem to follow from them.
        """
        z = self._start
        if not known:
            return z
        errors = [each.rms / np.abs(each.standard).max() for each in known]
        random = np.random.default_rng(1)
        off = settings.PARENTS * random.normal(size=(len(z), len(known))) * errors
        for _ in range(settings.POINT_STEPS):  # of Newton's method
            value, slope = self._values(known, z) - off, self._slopes(known, z)
            across = slope.transpose(0, 2, 1)
            normal = slope @ across
            ridge = 1e-12 * np.trace(normal, axis1=1, axis2=2) + 1e-300
            normal += ridge[:, None, None] * np.eye(len(known))
            if len(normal) == 1:  # all equations are linear
                step = value @ np.linalg.solve(normal[0], slope[0])
            else:
                step = (across @ np.linalg.solve(normal, value[:, :, None]))[:, :, 0]
                step = np.clip(step, -1.0, 1.0)
            z = z - step
            if np.median(np.abs(step).max(axis=1)) < settings.POINT_STEP:
                break
        # Points that found no solution, or one far away, tell nothing of the rows.
        left = np.abs(self._values(known, z) - off).max(axis=1) + 1e-3 * np.abs(z).max(axis=1)
        return z[np.argsort(left, kind="stable")[: len(z) // 2]]

    def share(self, candidate: Candidate, points: np.ndarray) -> float:
        """Return the error of an equation over its size on points: large if it follows there."""
        sizes = np.sort(np.abs(self._values([candidate], points)[:, 0]))
        size = float(sizes[: int(_TRIMMED * len(sizes))].mean()) / _OF_NORMAL
        error = max(candidate.rms, _ROUNDINGS * candidate.rounding)
        return error / max(size * float(np.abs(candidate.standard).max()), 1e-300)

    def _random_points(self) -> np.ndarray:
        """Return points whose columns are independent, each as skewed as it is on the rows."""
        random = np.random.default_rng(0)
        levels = random.uniform(*settings.POINT_LEVELS, (settings.POINTS, len(self.columns)))
        skewness = np.zeros(len(self.columns))
        factor = self.table.all_measured
        squares = self._products[self._left == self._right]
        for place, column in zip(squares, self._left[self._left == self._right], strict=True):
            skewness[column] = factor[:, self._linear[column]] @ factor[:, place]
        skewness = np.clip(skewness / self.table.weight, -4.0, 4.0)
        shape = 4.0 / np.maximum(np.square(skewness), 1e-4)
        values = (gamma.ppf(levels, shape) - shape) / np.sqrt(shape)
        return np.where(skewness < 0.0, -values, values)

    def _coefficients(self, candidates) -> np.ndarray:
        """Return equations whose largest coefficient is 1, shape (n_equations, k)."""
        coef = np.array([each.standard for each in candidates])
        return coef / np.abs(coef).max(axis=1)[:, None]

    def _values(self, candidates, z: np.ndarray) -> np.ndarray:
        """Return the residuals of equations, shape (n_points, n_equations)."""
        coef = self._coefficients(candidates)
        products = z[:, self._left] * z[:, self._right]
        linear, square = coef[:, self._linear], coef[:, self._products]
        return coef[:, 0] + z @ linear.T + products @ square.T

    def _slopes(self, candidates, z: np.ndarray) -> np.ndarray:
        """Return the derivatives of equations, shape (n_points or 1, n_equations, n)."""
        coef = self._coefficients(candidates)
        if not coef[:, self._products].any():
            return coef[None, :, self._linear]  # the same everywhere
        matrices = np.zeros((len(coef), z.shape[1], z.shape[1]))
        for i, j, square in zip(self._left, self._right, coef[:, self._products].T, strict=True):
            matrices[:, i, j] += square
            matrices[:, j, i] += square
        return coef[:, self._linear] + np.einsum("eij,pj->pei", matrices, z)
