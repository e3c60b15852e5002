"""The run of VCA: degrees, one after the other, split into components and generators."""

import math
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk

from vanishing.algebra.components import (
    Components,
    Stage,
    candidates_of,
    components_of,
    derivatives_of,
    in_monomials,
)
from vanishing.checks import too_large
from vanishing.constructions.certificate import EPS
from vanishing.constructions.engine import remarks_on
from vanishing.constructions.small_columns import varies_little
from vanishing.estimators.fits import Remarks
from vanishing.estimators.progress import Progress
from vanishing.rows.block import Stretch, stacked_triangle
from vanishing.rows.reader import ArrayReader

# Mean squares that are zero up to rounding, relative to those of the candidates: of columns, and
# of products of components, which carry rounding of their own, divided by small roots.
_ZERO_COLUMN, _ZERO = 1e-24, 1e-16


def _added(first: tuple, second: tuple) -> tuple:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _stacked(first: tuple, second: tuple) -> tuple:
    return tuple(stacked_triangle(a, b) for a, b in zip(first, second, strict=True))


def _empty(size: int, careful: bool) -> np.ndarray:
    """Return the products of no values: a matrix, or a triangle without rows."""
    return np.zeros((0 if careful else size, size), order="F")


def _with_products(total: np.ndarray, values: np.ndarray, careful: bool) -> np.ndarray:
    """Add ``values @ values.T`` to the lower triangle of sums, or values to a careful triangle."""
    if careful:
        return stacked_triangle(total, values.T)
    return dsyrk(1.0, values.T, 1.0, total, trans=1, lower=1, overwrite_c=1)


def _symmetric(lower: np.ndarray) -> np.ndarray:
    return np.tril(lower) + np.tril(lower, -1).T


def _steepness_of_degree_two(left, right, projection, slopes, careful) -> np.ndarray:
    """Return the mean products of the derivatives of products of components of degree 1.

    These are linear in the constant and F_1, which are orthonormal: their coefficients say all.
    """
    k, size = len(slopes), len(left)
    total = _empty(size, careful)
    for i, slope in enumerate(slopes, start=1):
        coef = np.zeros((size, 1 + k))
        coef[:, 0] = -slope * projection[i]
        for factor, other in ((left, right), (right, left)):
            along = np.flatnonzero(factor == i)
            coef[along, other[along]] += slope
        total = _with_products(total, coef, careful)
    return total if careful else _symmetric(total)


class ComponentAnalysis:
    """One run of VCA: the stages as they grow.

    With A = mean(r r') of the residuals r of a degree's candidates, and B the same of their
    gradients, a combination v has mean square v'Av and mean squared gradient v'Bv. By the l2-norm
    eigenvalues of A are compared with psi. By gradients those of the pencil (A, B) are, as shares
    v'Av / v'(A + psi B)v between 0 and 1: at most 1/2 if and only if v'Av is at most psi v'Bv. All
    components have psi v'Bv < v'Av = 1, so that the products of two of them, and A + psi B, have
    numbers of the size of 1 whatever the size of the columns. In degree 1 both are the same. By
    coefficients B is the Gram matrix of those that the residuals have on monomials, in all degrees.

    Published components have sums of squares of 1 over the W rows, so that products of two of them
    are 1/W times ours, and their mean squares 1/W^2 times: from degree 2 on psi W^2 is our bound.
    """

    def __init__(self, options, rows: ArrayReader):
        self.rows = rows
        self.psi = float(options.psi)
        self.max_degree = options.max_degree
        self.max_terms = np.inf if options.max_terms is None else options.max_terms
        self.by_gradients = options.normalization == "gradient"
        self.by_coefficients = options.normalization == "coefficients"
        self.as_published = options.normalization == "unit"
        self.progress = Progress("VCA", options.verbose)
        self.stages: list[Stage] = []
        self.small = np.zeros(0, dtype=np.intp)  # columns that vary less than psi
        self.n_terms = 1
        self.n_generators = 0
        self.n_short = 0  # generators that are left out
        self.largest = np.zeros(0)  # mse of each generator that is still zero up to rounding
        self.scale = np.ones(rows.n_features)
        self.variances = np.ones(0)  # of the columns along the components of degree 1
        self.stopped: str | None = None  # why the construction ended early
        self.complete = False  # whether a degree had no components

    def run(self):
        """Go through the degrees until one has no components."""
        left = right = None
        n_candidates = self.rows.n_features
        for degree in range(1, self.max_degree + 1):
            began = time.perf_counter()
            if degree > 1:
                n_first, n_last = (self.stages[i].n_components for i in (0, -1))
                if not n_last:
                    self.complete = True
                    return
                half = degree == 2 and not self.as_published  # f g is g f
                n_candidates = n_first * (n_last + 1) // 2 if half else n_first * n_last
            bound = self._dimension(degree, n_candidates)
            if not self._fits(degree, n_candidates, bound):
                return
            if degree > 1:
                pairs = np.triu_indices(n_first) if half else np.indices((n_first, n_last))
                left, right = 1 + pairs[0].ravel(), self.n_terms - n_last + pairs[1].ravel()
            self._settle(degree, left, right, n_candidates, bound)
            self.progress.step(
                f"degree {degree}: candidates {n_candidates}, |F| {self.n_terms}, |G| "
                f"{self.n_generators}, {time.perf_counter() - began:.3f} s"
            )
            if self.stopped is not None:
                return
        self.complete = not self.stages[-1].n_components

    def _dimension(self, degree, n_candidates) -> int:
        """Bound the dimension of the candidates' residuals as polynomials.

        All components and candidates are polynomials in those of degree 1, and the residuals are
        independent of the components below.
        """
        if degree <= 2 or self.as_published:
            return n_candidates
        n_first = self.stages[0].n_components
        return min(n_candidates, math.comb(n_first + degree, degree) - self.n_terms)

    def _fits(self, degree, n_candidates, bound) -> bool:
        """Say whether a degree's arrays and the model fit into the working memory; else stop."""
        model = sum(stage.combine.size + stage.project.size for stage in self.stages)
        n_tall, n_square = (3, 8) if self.by_gradients or self.by_coefficients else (2, 4)
        n_numbers = model + n_candidates * (self.n_terms + n_tall * bound)
        if self.by_coefficients:  # on monomials, and on all products of components
            n_monomials = math.comb(self.rows.n_features + degree, degree)
            n_numbers += n_candidates * (n_monomials + n_candidates)
            n_numbers += n_monomials * (self.rows.n_features + self.n_terms)
        n_numbers += bound * (self.n_terms + n_square * bound)
        self.stopped = too_large(f"the {n_candidates} candidates of degree {degree}", 8 * n_numbers)
        return self.stopped is None

    def _settle(self, degree, left, right, n_candidates, bound):
        """Split the candidates of a degree into components and generators."""
        with np.errstate(over="ignore", invalid="ignore"):
            projection, squares = self._projection(left, right, n_candidates)
        if not np.isfinite(squares).all():
            self.stopped = (
                f"candidates of degree {degree} overflow on these rows. Scale the data, for "
                "example into [0, 1]"
            )
            return
        size = squares.max()
        zero = (_ZERO_COLUMN if degree == 1 else _ZERO) * size
        by_gradients = self.by_gradients and degree > 1
        by_pencil = by_gradients or self.by_coefficients
        unit = 1.0  # of psi
        if by_gradients:
            unit = self.variances.max()
        elif self.as_published and degree > 1:
            unit = self.rows.total_weight**-2.0
        psi = max(self.psi / unit, zero)
        # The error of eigenvalues that come from products must be well below psi.
        careful = psi < 100 * bound * EPS * size
        if careful:
            projection += self._projection(left, right, n_candidates, projection)[0]
        if degree == 1:
            self.scale = np.sqrt(squares)
            if self.psi > 0.0:
                self.small = np.flatnonzero(varies_little(projection[0], squares, self.psi))
        basis = None
        # Products of independent linear polynomials are independent.
        if degree > 2 and not self.as_published:
            basis = self._nonzero(left, right, projection, bound)
        if by_pencil and basis is not None:
            # A pencil says the same in every basis: as many of the candidates will do.
            chosen = _independent(basis)
            left, right, basis = left[chosen], right[chosen], None
            projection, squares = projection[:, chosen], squares[chosen]
        if by_pencil:
            limit, zero = 0.5, zero / (zero + psi)
            pencil = self._pencil if by_gradients else self._coefficients
            eigenvalues, vectors = pencil(left, right, projection, careful, psi, unit)
        else:
            limit = psi
            eigenvalues, vectors = self._spectrum(left, right, projection, basis, careful)
        eigenvalues[eigenvalues <= zero] = 0.0
        kept = eigenvalues > limit
        if self.n_terms + kept.sum() > self.max_terms:
            self.stopped = f"F would exceed max_terms={self.max_terms} components"
            eigenvalues, vectors, kept = eigenvalues[~kept], vectors[:, ~kept], kept[~kept]
        # Components first. Published generators are in falling order, which liblinear notices.
        order = (
            np.arange(len(kept))[::-1] if self.as_published else np.argsort(~kept, kind="stable")
        )
        eigenvalues, vectors, n_kept = eigenvalues[order], vectors[:, order], int(kept.sum())
        vectors[:, :n_kept] /= np.sqrt(eigenvalues[:n_kept])
        if by_pencil:
            vectors[:, n_kept:] *= np.sqrt(unit) * np.sqrt(psi / (1.0 - eigenvalues[n_kept:]))
        elif unit != 1.0:
            vectors[:, n_kept:] *= np.sqrt(unit)
        if degree == 1:
            self.variances = eigenvalues[:n_kept]
        self._append(left, right, squares, projection, basis, eigenvalues, vectors, n_kept)

    def _append(self, left, right, squares, projection, basis, eigenvalues, vectors, n_kept):
        """Add a degree whose combinations are normalised, the components first."""
        if basis is None:
            combine = np.ascontiguousarray(vectors.T)
        else:
            combine = vectors.T @ basis.T
            projection = projection @ basis
            del basis
        project = -(vectors.T @ projection.T)
        # Equal eigenvalues, and all that are zero, have an eigenspace rather than eigenvectors.
        new = np.abs(np.diff(eigenvalues, prepend=-np.inf)) > 1e-9 * eigenvalues.max(initial=0.0)
        new[n_kept : n_kept + 1] = True
        starts = np.append(np.flatnonzero(new), len(eigenvalues))
        for space in map(slice, starts[:-1], starts[1:]):
            rotation = _canonical_rotation(combine[space])
            combine[space] = rotation @ combine[space]
            project[space] = rotation @ project[space]
        stage = Stage(left, right, combine, project, n_kept)
        self.stages.append(stage)
        # Next to their own terms: some candidate may be so large that much is zero next to it.
        scale = np.abs(combine[n_kept:]) @ np.sqrt(squares) + np.abs(project[n_kept:]).sum(axis=1)
        largest = np.full(len(scale), np.inf) if left is None else 100.0 * _ZERO * scale**2
        self.largest = np.concatenate([self.largest, largest])
        self.n_terms += stage.n_components
        self.n_generators += stage.n_generators

    # -- Passes over the rows -----------------------------------------------------------------

    def _sums(
        self, function, left, right, n_candidates, *, slopes=None, combine=_added, at_least=1
    ):
        """Return what ``function(values)`` says of all rows, some of them at a time.

        ``values()`` yields chunk by chunk, times root weights, those of F and of the candidates,
        and an iterator over their derivatives if there are slopes.
        """

        def values(stretch: Stretch):
            for columns, root in stretch.chunks():
                values = components_of(self.stages, columns)
                candidates = candidates_of(values, columns, left, right)
                derivatives: Iterator[tuple[np.ndarray, np.ndarray]] = iter(())
                if slopes is not None:
                    derivatives = derivatives_of(self.stages, values, slopes, left, right)
                if root is None:
                    yield values, candidates, derivatives
                else:
                    weighted = ((f * root, c * root) for f, c in derivatives)
                    yield values * root, candidates * root, weighted

        n_evaluated = self.n_terms + n_candidates
        n_functions = 1 if slopes is None else 1 + len(slopes)
        return self.rows.fold(
            lambda stretch: function(values(stretch)),
            combine,
            n_evaluated if slopes is None else 2 * n_evaluated,
            n_evaluated * n_candidates * n_functions,
            at_least=at_least,
        )

    def _projection(self, left, right, n_candidates, known=None):
        """Return mean(F c') and mean(c^2) of the candidates, or of their residuals so far."""

        def sums(chunks):
            total = np.zeros((self.n_terms, n_candidates))
            squares = np.zeros(n_candidates)
            for values, candidates, _ in chunks:
                if known is not None:
                    candidates = candidates - known.T @ values
                total += values @ candidates.T
                squares += np.einsum("ij,ij->i", candidates, candidates)
            return total, squares

        total, squares = self._sums(sums, left, right, n_candidates)
        return total / self.rows.total_weight, squares / self.rows.total_weight

    def _products(self, left, right, projection, basis, slopes=None, *, careful):
        """Return mean(r r') of the residuals of the candidates, and that of their derivatives.

        The residuals are combined by the basis if there is one. The careful way returns triangles
        T instead, with T'T the same, by orthogonal transformations alone.
        """
        n_candidates = projection.shape[1]
        project = (projection if basis is None else projection @ basis).T
        size = len(project)
        n_functions = 1 if slopes is None else 2

        def residuals(values, candidates):
            return (candidates if basis is None else basis.T @ candidates) - project @ values

        def sums(chunks):
            totals = [_empty(size, careful) for _ in range(n_functions)]
            for values, candidates, derivatives in chunks:
                totals[0] = _with_products(totals[0], residuals(values, candidates), careful)
                for along in derivatives:
                    totals[1] = _with_products(totals[1], residuals(*along), careful)
            return tuple(totals)

        totals = self._sums(
            sums,
            left,
            right,
            n_candidates,
            slopes=slopes,
            combine=_stacked if careful else _added,
            at_least=2 * size if careful else 1,
        )
        if not careful:
            return [_symmetric(total / self.rows.total_weight) for total in totals]
        triangles = []
        for total in totals:
            triangles.append(np.zeros((size, size)))
            triangles[-1][: len(total)] = total / np.sqrt(self.rows.total_weight)
        return triangles

    def _spectrum(self, left, right, projection, basis, careful):
        """Return eigenvalues and eigenvectors of mean(r r'), eigenvalues ascending."""
        (total,) = self._products(left, right, projection, basis, careful=careful)
        if not careful:
            return np.linalg.eigh(total, UPLO="L")
        _, sigma, right_vectors = np.linalg.svd(total)
        return sigma[::-1] ** 2, right_vectors[::-1].T

    def _pencil(self, left, right, projection, careful, psi, unit):
        """Return shares v'Av / v'(A + psi B)v, ascending, and v with v'(A + psi B)v = 1.

        Combinations that are zero on the rows together with their gradients are left out: they
        lie in the ideal that the generators of lower degrees generate, and cannot be normalised.
        """
        slopes = np.sqrt(psi) * np.sqrt(unit / self.variances)
        if len(self.stages) == 1:
            (squares,) = self._products(left, right, projection, None, careful=careful)
            steepness = _steepness_of_degree_two(left, right, projection, slopes, careful)
        else:
            squares, steepness = self._products(
                left, right, projection, None, slopes, careful=careful
            )
        return _shares(squares, steepness, careful)

    def _coefficients(self, left, right, projection, careful, psi, _unit):
        """Return the same with coefficients on monomials in place of gradients."""
        n_candidates = projection.shape[1]
        stage = Stage(left, right, np.eye(n_candidates), -projection.T, 0)
        coef = np.sqrt(psi) * in_monomials([*self.stages, stage], self.rows.n_features)
        (squares,) = self._products(left, right, projection, None, careful=careful)
        # Components of columns that vary little have large coefficients: each in its own unit.
        unit = 1.0 / np.linalg.norm(coef, axis=1)
        coef = (coef.T * unit).T
        if careful:
            shares, vectors = _shares(squares * unit, coef.T, careful)
        else:
            shares, vectors = _shares(squares * np.outer(unit, unit), coef @ coef.T, careful)
        return shares, vectors * unit[:, np.newaxis]

    # -- Polynomials that are zero ------------------------------------------------------------

    def _nonzero(self, left, right, projection, bound):
        """Return an orthonormal basis of the combinations that are not zero as polynomials.

        y'r is the zero polynomial if and only if y is orthogonal to the values r(z) at generic
        points z. Everything is a polynomial in the components of degree 1, so that these may take
        any values; they have mean 0 and variance 1, as on the rows. Points are added until they
        add nothing. None stands for all combinations.
        """
        n_candidates = projection.shape[1]
        random = np.random.default_rng(0)
        basis = np.zeros((n_candidates, 0))
        n_first = self.stages[0].n_components
        while basis.shape[1] < bound:
            missing = bound - basis.shape[1]
            shape = (n_first, min(256, missing + 8))
            values = components_of(self.stages, first=random.uniform(-(3**0.5), 3**0.5, shape))
            candidates = values[left] * values[right]
            projected = projection.T @ values
            size = np.linalg.norm(candidates, axis=0) + np.linalg.norm(projected, axis=0)
            residuals = (candidates - projected) / size
            for _ in range(2):  # once leaves what rounding has left of the first
                residuals -= basis @ (basis.T @ residuals)
            directions, triangle, _ = qr(residuals, mode="economic", pivoting=True)
            n_new = int((np.abs(triangle.diagonal()) > 1e-9).sum())  # else zero up to rounding
            if not n_new:
                break
            basis = np.hstack([basis, directions[:, : min(n_new, missing)]])
        return None if basis.shape[1] == n_candidates else basis

    # -- Results ------------------------------------------------------------------------------

    def generators(self, feature_names) -> Components:
        """Return the generators, with their mean squares measured on the rows."""
        components = Components(self.stages, np.zeros(self.n_generators), self.scale, feature_names)
        components = components.subset(slice(None))
        mse = np.zeros(0)
        if len(components):
            work = sum(stage.combine.size for stage in components.stages)
            measure = partial(_squares, components)
            (squares,) = self.rows.fold(measure, _added, components.n_evaluated, work)
            mse = squares / self.rows.total_weight
        components = Components(components.stages, mse, self.scale, feature_names)
        vanishes = mse <= (self.psi if self.psi > 0.0 else self.largest)
        if not vanishes.all():
            # What is zero next to the largest column or product need not be small in itself.
            components = components.subset(vanishes)
            self.n_short = self.n_generators - len(components)
            self.n_generators = len(components)
        return components

    def remarks(self) -> Remarks:
        """Say why it stopped early, what is left out, and whether nothing vanishes."""
        shortfall = None
        if self.n_short:
            shortfall = (
                f"{self.n_short} generators that are zero next to the largest values, but whose "
                "mean square is above psi, are left out. Scale the columns into [0, 1]."
            )
        remarks = remarks_on("VCA", self.psi, self.n_generators, self.stopped, shortfall)
        return remarks._replace(small=tuple(self.small.tolist()))


def _squares(generators: Components, stretch: Stretch) -> tuple[np.ndarray]:
    """Return the sums of squares of generators over some rows."""
    squares = np.zeros(len(generators))
    for columns, root in stretch.chunks():
        values = generators.values(columns)
        if root is not None:
            values *= root
        squares += np.einsum("ij,ij->i", values, values)
    return (squares,)


def _shares(squares, steepness, careful):
    """Return shares v'Av / v'(A + B)v, ascending, and v with v'(A + B)v = 1.

    The careful way takes triangles T instead, with T'T the same.
    """
    if careful:
        both = np.vstack([squares, steepness])
        q, sigma, directions = np.linalg.svd(both, full_matrices=False)
        used = sigma > 1e-11 * sigma[0]  # else zero up to rounding
        _, roots, vectors = np.linalg.svd(q[: len(squares), used], full_matrices=False)
        white = directions[used].T / sigma[used]
        return np.minimum(roots[::-1] ** 2, 1.0), white @ vectors[::-1].T
    sums, directions = np.linalg.eigh(squares + steepness)
    used = sums > 100 * len(sums) * EPS * sums[-1]
    white = directions[:, used] / np.sqrt(sums[used])
    shares, vectors = np.linalg.eigh(white.T @ squares @ white)
    return np.clip(shares, 0.0, 1.0), white @ vectors


def _independent(basis: np.ndarray) -> np.ndarray:
    """Return as many candidates, far from dependent, as there are columns in their basis."""
    n_candidates, size = basis.shape
    preference = np.linspace(1.0, 0.999, n_candidates)  # among equals the first
    return np.sort(qr(basis.T * preference, mode="r", pivoting=True)[1][:size])


def _canonical_rotation(rows: np.ndarray) -> np.ndarray:
    """Return the rotation of a basis of an eigenspace into one that depends on the space alone.

    The coefficients of as many candidates become an upper triangle with positive diagonal; a
    single vector is given a positive largest coefficient. The candidates are the pivots of a QR
    factorisation, among equals the first. For large spaces, where no one reads coefficients and
    pivoting takes long, random combinations of candidates serve as well.
    """
    n_vectors, n_candidates = rows.shape
    if n_vectors > 100:
        chosen = rows @ np.random.default_rng(0).normal(size=(n_candidates, n_vectors))
    else:
        preference = np.linspace(1.0, 0.999, n_candidates)
        chosen = rows[:, qr(rows * preference, mode="r", pivoting=True)[1][:n_vectors]]
    rotation, triangle = np.linalg.qr(chosen)
    rotation[:, np.signbit(triangle.diagonal())] *= -1.0
    return rotation.T
