"""VCA: vanishing component analysis, polynomials as combinations of products, not of monomials."""

import math
import time
from contextlib import suppress
from functools import partial, reduce

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dsyrk
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread
from vanishing.algebra.components import Components, Stage, candidates_of, components_of
from vanishing.checks import too_large
from vanishing.constructions.base import EQUATION, GeneratorTransformer, input_names
from vanishing.constructions.certificate import EPS
from vanishing.constructions.engine import Remarks, remarks_on
from vanishing.constructions.small_columns import varies_little
from vanishing.persistence import register
from vanishing.rows.reader import Rows, Stretch, stacked_triangle

# Mean squares that are zero up to rounding, relative to those of the candidates: of columns, and
# of products of components, which carry rounding of their own, divided by small roots.
_ZERO_COLUMN, _ZERO = 1e-24, 1e-16
_ZERO_POLYNOMIAL = 1e-9  # size of a polynomial at generic points relative to its candidates'
_TIE = 1e-9  # eigenvalues closer than this, relative to the largest, share an eigenspace
_LARGE_EIGENSPACE = 100
_BLOCK = 256  # generic points at a time
_EXPANDED = 500  # monomials up to which components are saved as equations as well


class VCA(GeneratorTransformer):
    """Generators of the approximate vanishing ideal by vanishing component analysis.

    VCA knows no monomials. It keeps components F, orthonormal with respect to the mean over the
    rows: F_0 is the constant, and the candidates of degree d are the products of components in
    F_1 and in F_{d-1} (the columns for d = 1). The residuals of the candidates after projection
    on all components of lower degrees are combined, by unit vectors, into uncorrelated ones: those
    with a mean square of at most psi are generators, the others, divided by the root of it, are
    F_d. Combinations of candidates that are zero as polynomials are left out.

    Neither the order of the columns nor rotations of them matter. The generators are not sparse,
    and since components have mean square 1, a small psi decides on the columns mainly: fits with
    many columns are large unless psi or max_degree bound them.

    Parameters
    ----------
    psi : float in [0, 1), default=0.005
        Largest mean squared value of a generator on the training rows; 0 means exact up to
        rounding.
    max_degree : int, default=10
        Largest degree of a generator.
    max_terms : int or None, default=None
        Largest number of components in F, with the constant. The fit stops, with a warning, before
        it would be exceeded.
    absolute : bool, default=True
        Whether `transform` returns ``|g(x)|`` rather than ``g(x)``.
    chunk_size : int or None, default=None
        Rows read at a time; None chooses chunks that stay in the cache.
    n_jobs : int or None, default=None
        Threads over chunks of rows, in `fit` and `transform`; the results are the same. -1 means
        all cores.
    verbose : int, default=0
        Print a line a degree.

    Attributes
    ----------
    generators_ : sequence of `vanishing.polynomials.Polynomial`
        Evaluated together; expanded into monomials one by one, on request.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares on the training rows, measured.
    n_generators_, n_terms_, degree_ : int
        |G|, |F| with the constant, and the largest degree in G (0 if there is none).
    sparsity_ : float
        0: combinations of candidates have no zeros.
    n_coefficients_ : int
        Entries of the combinations of all generators.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has names

    References
    ----------
    R. Livni, D. Lehavi, S. Schein, H. Nachlieli, S. Shalev-Shwartz, A. Globerson, "Vanishing
    component analysis", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VCA
    >>> angle = np.linspace(0, 2 * np.pi, 51)[:-1]
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> print(VCA(psi=1e-6, max_degree=2).fit(X).generators_[0])
    1.414*x1^2 + 1.414*x0^2 - 1.414
    """

    reads_sources = False  # its components are fitted to rows in memory

    def __init__(
        self,
        psi=0.005,
        *,
        max_degree=10,
        max_terms=None,
        absolute=True,
        chunk_size=None,
        n_jobs=None,
        verbose=0,
    ):
        self.psi = psi
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit_rows(self, rows):
        """Construct the generators of rows in memory; see `GeneratorTransformer.fit_rows`."""
        construction = _Construction(self, rows)
        with one_blas_thread():
            construction.run()
            self._store(construction.generators(input_names(self)), construction.n_terms)
        return construction.remarks()

    def _store(self, generators, n_terms):
        """Set the fitted attributes."""
        self.generators_ = generators
        self.mse_ = generators.mse
        self.n_generators_ = len(generators)
        self.n_terms_ = n_terms
        self.n_coefficients_ = sum(
            stage.n_generators * stage.combine.shape[1] for stage in generators.stages
        )
        self.sparsity_ = 0.0
        self.degree_ = generators.degree

    def get_feature_names_out(self, input_features=None):
        """Return a name for each output: the degree of the generator and its place among all.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input's columns; must agree with those seen in `fit`, if any.

        Returns
        -------
        names : ndarray of object of shape (n_generators_,)
        """
        check_is_fitted(self, "generators_")
        input_names(self, input_features)
        bar = "|" if self.absolute else ""
        degrees = self.generators_.degrees
        return np.array([f"{bar}vca_d{d}_{i}{bar}" for i, d in enumerate(degrees)], dtype=object)


def _added(first: tuple, second: tuple) -> tuple:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _stacked(first: tuple, second: tuple) -> tuple:
    return (stacked_triangle(*first, *second),)


class _Construction:
    """One run of VCA: the stages as they grow."""

    def __init__(self, options, rows: Rows):
        self.rows = rows
        self.psi = float(options.psi)
        self.max_degree = options.max_degree
        self.max_terms = np.inf if options.max_terms is None else options.max_terms
        self.verbose = options.verbose
        self.stages: list[Stage] = []
        self.small = np.zeros(0, dtype=np.intp)  # columns that vary less than psi
        self.n_terms = 1
        self.n_generators = 0
        self.n_short = 0  # generators that are left out
        self.largest = np.zeros(0)  # mse of each generator that is still zero up to rounding
        self.scale = np.ones(rows.n_features)
        self.stopped: str | None = None  # why the construction ended early

    def run(self):
        """Go through the degrees until one has no components."""
        left = right = None
        n_candidates = self.rows.n_features
        for degree in range(1, self.max_degree + 1):
            began = time.perf_counter()
            if degree > 1:
                n_first, n_last = (self.stages[i].n_components for i in (0, -1))
                if not n_last:
                    return
                n_candidates = n_first * (n_last + 1) // 2 if degree == 2 else n_first * n_last
            bound = self._dimension(degree, n_candidates)
            if not self._fits(degree, n_candidates, bound):
                return
            if degree > 1:
                pairs = np.triu_indices(n_first) if degree == 2 else np.indices((n_first, n_last))
                left, right = 1 + pairs[0].ravel(), self.n_terms - n_last + pairs[1].ravel()
            self._settle(degree, left, right, n_candidates, bound)
            if self.verbose:
                print(
                    f"[VCA] degree {degree}: candidates {n_candidates}, |F| {self.n_terms}, |G| "
                    f"{self.n_generators}, {time.perf_counter() - began:.3f} s"
                )
            if self.stopped is not None:
                return

    def _dimension(self, degree, n_candidates) -> int:
        """Bound the dimension of the candidates' residuals as polynomials.

        All components and candidates are polynomials in those of degree 1, and the residuals are
        independent of the components below.
        """
        if degree <= 2:
            return n_candidates
        n_first = self.stages[0].n_components
        return min(n_candidates, math.comb(n_first + degree, degree) - self.n_terms)

    def _fits(self, degree, n_candidates, bound) -> bool:
        """Say whether a degree's arrays and the model fit into the working memory; else stop."""
        model = sum(stage.combine.size + stage.project.size for stage in self.stages)
        n_numbers = (
            model + n_candidates * (self.n_terms + 2 * bound) + bound * (self.n_terms + 4 * bound)
        )
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
        limit = max(self.psi, zero)
        # The error of eigenvalues that come from products must be well below psi.
        careful = limit < 100 * bound * EPS * size
        if careful:
            projection += self._projection(left, right, n_candidates, projection)[0]
        if degree == 1:
            self.scale = np.sqrt(squares)
            if self.psi > 0.0:
                self.small = np.flatnonzero(varies_little(projection[0], squares, self.psi))
        basis = None
        if degree > 2:  # products of independent linear polynomials are independent
            basis = self._nonzero(left, right, projection, bound)
        eigenvalues, vectors = self._spectrum(left, right, projection, basis, careful)
        eigenvalues[eigenvalues <= zero] = 0.0
        kept = eigenvalues > limit
        if self.n_terms + kept.sum() > self.max_terms:
            self.stopped = f"F would exceed max_terms={self.max_terms} components"
            eigenvalues, vectors, kept = eigenvalues[~kept], vectors[:, ~kept], kept[~kept]
        order = np.argsort(~kept, kind="stable")  # components first
        eigenvalues, vectors, n_kept = eigenvalues[order], vectors[:, order], int(kept.sum())
        vectors[:, :n_kept] /= np.sqrt(eigenvalues[:n_kept])
        if basis is None:
            combine = np.ascontiguousarray(vectors.T)
        else:
            combine = vectors.T @ basis.T
            projection = projection @ basis
            del basis
        project = -(vectors.T @ projection.T)
        # Equal eigenvalues, and all that are zero, have an eigenspace rather than eigenvectors.
        new = np.abs(np.diff(eigenvalues, prepend=-np.inf)) > _TIE * eigenvalues.max(initial=0.0)
        new[n_kept : n_kept + 1] = True
        starts = np.append(np.flatnonzero(new), len(eigenvalues))
        for here in map(slice, starts[:-1], starts[1:]):
            rotation = _canonical_rotation(combine[here])
            combine[here] = rotation @ combine[here]
            project[here] = rotation @ project[here]
        stage = Stage(left, right, combine, project, n_kept)
        self.stages.append(stage)
        # Next to their own terms: some candidate may be so large that much is zero next to it.
        scale = np.abs(combine[n_kept:]) @ np.sqrt(squares) + np.abs(project[n_kept:]).sum(axis=1)
        largest = np.full(len(scale), np.inf) if degree == 1 else 100.0 * _ZERO * scale**2
        self.largest = np.concatenate([self.largest, largest])
        self.n_terms += stage.n_components
        self.n_generators += stage.n_generators

    # -- Passes over the rows -----------------------------------------------------------------

    def _sums(self, function, left, right, n_candidates, *, combine=_added, at_least=1):
        """Return what ``function(values)`` says of all rows, some of them at a time.

        ``values()`` yields those of F and of the candidates chunk by chunk, times root weights.
        """

        def values(stretch: Stretch):
            for columns, root in stretch.chunks():
                values = components_of(self.stages, columns)
                candidates = candidates_of(values, columns, left, right)
                if root is not None:
                    values *= root
                    candidates = candidates * root
                yield values, candidates

        n_evaluated = self.n_terms + n_candidates
        return self.rows.fold(
            lambda stretch: function(values(stretch)),
            combine,
            n_evaluated,
            n_evaluated * n_candidates,
            at_least=at_least,
        )

    def _projection(self, left, right, n_candidates, known=None):
        """Return mean(F c') and mean(c^2) of the candidates, or of their residuals so far."""

        def sums(chunks):
            total = np.zeros((self.n_terms, n_candidates))
            squares = np.zeros(n_candidates)
            for values, candidates in chunks:
                if known is not None:
                    candidates = candidates - known.T @ values
                total += values @ candidates.T
                squares += np.einsum("ij,ij->i", candidates, candidates)
            return total, squares

        total, squares = self._sums(sums, left, right, n_candidates)
        return total / self.rows.total_weight, squares / self.rows.total_weight

    def _spectrum(self, left, right, projection, basis, careful):
        """Return eigenvalues and eigenvectors of mean(r r'), eigenvalues ascending.

        r are the residuals of the candidates, combined by the basis if there is one. The careful
        way takes singular values of r itself, by orthogonal transformations alone.
        """
        n_candidates = projection.shape[1]
        project = (projection if basis is None else projection @ basis).T
        size = len(project)

        def residuals(chunks):
            for values, candidates in chunks:
                combined = candidates if basis is None else basis.T @ candidates
                yield combined - project @ values

        def products(chunks):
            total = np.zeros((size, size), order="F")
            for found in residuals(chunks):
                total = dsyrk(1.0, found.T, 1.0, total, trans=1, lower=1, overwrite_c=1)
            return (total,)

        def triangle(chunks):
            return (
                reduce(stacked_triangle, (r.T for r in residuals(chunks)), np.zeros((0, size))),
            )

        if not careful:
            (total,) = self._sums(products, left, right, n_candidates)
            return np.linalg.eigh(total / self.rows.total_weight, UPLO="L")
        (factor,) = self._sums(
            triangle, left, right, n_candidates, combine=_stacked, at_least=2 * size
        )
        full = np.zeros((size, size))
        full[: len(factor)] = factor
        _, sigma, right_vectors = np.linalg.svd(full / np.sqrt(self.rows.total_weight))
        return sigma[::-1] ** 2, right_vectors[::-1].T

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
            shape = (n_first, min(_BLOCK, missing + 8))
            values = components_of(self.stages, first=random.uniform(-(3**0.5), 3**0.5, shape))
            candidates = values[left] * values[right]
            projected = projection.T @ values
            size = np.linalg.norm(candidates, axis=0) + np.linalg.norm(projected, axis=0)
            residuals = (candidates - projected) / size
            for _ in range(2):  # once leaves what rounding has left of the first
                residuals -= basis @ (basis.T @ residuals)
            directions, triangle, _ = qr(residuals, mode="economic", pivoting=True)
            n_new = int((np.abs(triangle.diagonal()) > _ZERO_POLYNOMIAL).sum())
            if not n_new:
                break
            basis = np.hstack([basis, directions[:, : min(n_new, missing)]])
        return None if basis.shape[1] == n_candidates else basis

    # -- Results ------------------------------------------------------------------------------

    def generators(self, feature_names) -> Components:
        """Return the generators, with their mean squares measured on the rows."""
        found = Components(self.stages, np.zeros(self.n_generators), self.scale, feature_names)
        found = found.subset(slice(None))
        mse = np.zeros(0)
        if len(found):
            work = sum(stage.combine.size for stage in found.stages)
            measure = partial(_squares, found)
            (squares,) = self.rows.fold(measure, _added, found.n_evaluated, work)
            mse = squares / self.rows.total_weight
        found = Components(found.stages, mse, self.scale, feature_names)
        vanishes = mse <= (self.psi if self.psi > 0.0 else self.largest)
        if not vanishes.all():
            # What is zero next to the largest column or product need not be small in itself.
            found = found.subset(vanishes)
            self.n_short = self.n_generators - len(found)
            self.n_generators = len(found)
        return found

    def remarks(self) -> Remarks:
        """Say why it stopped early, what is left out, and whether nothing vanishes."""
        shortfall = None
        if self.n_short:
            shortfall = (
                f"{self.n_short} generators that are zero next to the largest values, but whose "
                "mean square is above psi, are left out. Scale the columns into [0, 1]."
            )
        found = remarks_on("VCA", self.psi, self.n_generators, self.stopped, shortfall)
        return found._replace(small=tuple(self.small.tolist()))


def _squares(generators: Components, stretch: Stretch) -> tuple[np.ndarray]:
    """Return the sums of squares of generators over some rows."""
    squares = np.zeros(len(generators))
    for columns, root in stretch.chunks():
        values = generators.values(columns)
        if root is not None:
            values *= root
        squares += np.einsum("ij,ij->i", values, values)
    return (squares,)


def _canonical_rotation(rows: np.ndarray) -> np.ndarray:
    """Return the rotation of a basis of an eigenspace into one that depends on the space alone.

    The coefficients of as many candidates become an upper triangle with positive diagonal; a
    single vector is given a positive largest coefficient. The candidates are the pivots of a QR
    factorisation, among equals the first. For large spaces, where no one reads coefficients and
    pivoting takes long, random combinations of candidates serve as well.
    """
    n_vectors, n_candidates = rows.shape
    if n_vectors > _LARGE_EIGENSPACE:
        chosen = rows @ np.random.default_rng(0).normal(size=(n_candidates, n_vectors))
    else:
        preference = np.linspace(1.0, 0.999, n_candidates)
        chosen = rows[:, qr(rows * preference, mode="r", pivoting=True)[1][:n_vectors]]
    rotation, triangle = np.linalg.qr(chosen)
    rotation[:, np.signbit(triangle.diagonal())] *= -1.0
    return rotation.T


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    components = model.generators_
    n_features = model.n_features_in_
    node = {
        **writer.input(model),
        "feature_names": list(components.feature_names),
        "n_terms": int(model.n_terms_),
        "scale": components.scale.tolist(),
        "mse": writer.plain(components.mse),
    }
    if math.comb(n_features + components.degree, n_features) <= _EXPANDED:
        with suppress(ValueError):  # coefficients that overflow cannot be read, either
            node["equations"] = [f"{g.shortened(EQUATION)} = 0" for g in components]
    node["stages"] = []
    for stage in components.stages:
        products = {}
        if stage.left is not None:
            products = {"left": stage.left.tolist(), "right": stage.right.tolist()}
        node["stages"].append(
            {
                "n_components": int(stage.n_components),
                **products,
                "combine": stage.combine.tolist(),
                "project": stage.project.tolist(),
            }
        )
    return node


def _read(reader, node, model):
    names, n_terms, scale, mse, nodes, equations = reader.fitted(
        model, node, ("feature_names", "n_terms", "scale", "mse", "stages"), ("equations",)
    )
    n_features = model.n_features_in_
    names = reader.names(names, "feature_names", n_features)
    if equations is not None:
        reader.names(equations, "equations", None)
    stages: list[Stage] = []
    start = end = 1  # components of the degree below, among all
    for stage in reader.listed(nodes, "stages"):
        products = ("left", "right") if stages else ()
        keys = ("n_components", "combine", "project", *products)
        n_components, combine, project, *products = reader.fields(stage, "a stage", keys)
        left = right = None
        n_candidates = n_features
        if products:
            left = reader.integers(products[0], "left", 1, stages[0].n_components)
            right = reader.integers(products[1], "right", start, end - 1)
            reader.require(len(left) == len(right), "left and right have different lengths.")
            n_candidates = len(left)
        combine = reader.table(combine, "combine", n_candidates)
        project = reader.table(project, "project", end)
        same = len(combine) == len(project)
        reader.require(same, "combine and project have different lengths.")
        n_components = reader.integer(n_components, "n_components", 0, len(combine))
        stages.append(Stage(left, right, combine, project, n_components))
        start, end = end, end + n_components
    mse = reader.listed(mse, "mse", sum(stage.n_generators for stage in stages))
    mse = np.array([reader.measured(value, "an mse") for value in mse])
    scale = reader.floats(scale, "scale", n_features)
    n_terms = reader.integer(n_terms, "n_terms", end)
    model._store(Components(stages, mse, scale, names), n_terms)


register(VCA, _write, _read)
