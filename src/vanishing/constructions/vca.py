"""VCA: vanishing component analysis, polynomials as combinations of products, not of monomials."""

import math
from contextlib import suppress
from typing import Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread
from vanishing._types import IntArray, Names, ObjectArray
from vanishing.algebra.components import Components, Stage
from vanishing.checks import check_choice
from vanishing.constructions.base import EQUATION, GeneratorTransformer
from vanishing.constructions.component_analysis import ComponentAnalysis
from vanishing.estimators.names import input_names
from vanishing.persistence import register


class VCA(GeneratorTransformer):
    """Generators of the approximate vanishing ideal by vanishing component analysis.

    VCA knows no monomials. It keeps components F, orthonormal with respect to the mean over the
    rows: F_0 is the constant, and the candidates of degree d are the products of components in F_1
    and in F_{d-1} (the columns for d = 1). The candidates are projected on all components of lower
    degrees. Their residuals are combined into uncorrelated ones, which are normalised. Those with a
    mean square of at most psi are generators; the others, divided by the root of it, are F_d.
    Combinations of candidates that are zero as polynomials are left out, unless all is to be as
    published.

    Neither the order of the columns nor rotations of them matter, except with coefficients as the
    unit, which rotations change. The generators are not sparse.

    Parameters
    ----------
    psi : float, default=0.005
        Largest mean squared value of a generator on the training rows; 0 means exact up to
        rounding. At least 0, and below 1 unless ``normalization="gradient"``.
    max_degree : int, default=3
        Largest degree of a generator. Degree d has up to ``(k + d - 1)! / d! / (k - 1)!``
        candidates, with k components of degree 1, and an eigenvalue problem of that size. Raise it
        if columns are few.
    max_terms : int or None, default=None
        Largest number of components in F, with the constant. The fit stops, with a warning, before
        it would be exceeded.
    normalization : {"gradient", "coefficients", "l2", "unit"}, default="gradient"
        What is 1 of a generator. "gradient": the mean squared length of its gradient on the rows.
        Its mean square is then, to first order, the mean squared distance of the rows from its
        zeros. Psi bounds that in every degree, and is any number, in the squared unit of the
        columns. If all columns are multiplied by a number and psi by its square, the generators
        stay the same, up to a factor. "coefficients": the l2-norm of its coefficients on monomials,
        as `ABM` has it. psi then means the same in every degree for columns that are scaled into
        [0, 1] or [-1, 1]. Candidates are expanded into all monomials of their degree. "l2": the
        l2-norm of its coefficients on the candidates. As these have mean squares of about 1 from
        degree 2 on, psi is there relative to the spread of the rows. Little vanishes then: F grows
        until it interpolates the rows, unless max_degree or max_terms bound it. "unit": as
        published. The l2-norm of the coefficients is 1, and so are the sums of squares of the
        components over the m rows (F_0 is ``1 / sqrt(m)``). From degree 2 on mean squares are
        therefore 1 / m^2 of those of "l2", and more rows make more vanish. All products of F_1 and
        F_{d-1} are candidates, repeated ones included: some generators are zero as polynomials. The
        published ``max_degree=10`` is 9 here.
    remove_redundant : bool, default=False
        Whether generators are removed whose gradients lie in the span of those of earlier ones, on
        the rows: near these they have no zeros fewer. What is left describes the rows, and is no
        basis of the ideal. It takes one more pass over the rows.
    absolute : bool, default=True
        Whether `transform` returns ``|g(x)|`` rather than ``g(x)``.
    chunk_size : int or None, default=None
        Rows read at a time; None chooses chunks that stay in the cache.
    n_jobs : int or None, default=None
        Threads over chunks of rows, in `fit` and `transform`; the results are the same. -1 means
        all cores.
    verbose : int, default=0
        Print one line per degree.

    Attributes
    ----------
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        Evaluated together; expanded into monomials one by one, on request.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares on the training rows, measured.
    n_generators_, n_terms_, degree_ : int
        |G|, |F| with the constant, and the largest degree in G (0 if there is none).
    sparsity_ : float
        0: combinations of candidates have no zeros.
    complete_ : bool
        Whether a degree had no components at the end.
    n_coefficients_ : int
        Entries of the combinations of all generators.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    OAVI : Sparse generators by convex optimisation, term by term.
    ABM : Generators of unit norm by smallest singular vectors.
    AVI : Generators of a whole degree at once, by its kernel.

    References
    ----------
    R. Livni, D. Lehavi, S. Schein, H. Nachlieli, S. Shalev-Shwartz, A. Globerson, "Vanishing
    component analysis", ICML 2013.

    H. Kera, Y. Hasegawa, "Gradient boosts the approximate vanishing ideal", AAAI 2020:
    gradients as the unit; "Spurious vanishing problem in approximate vanishing ideal", IEEE Access
    2019: coefficients as the unit.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VCA
    >>> angle = np.linspace(0, 2 * np.pi, 51)[:-1]
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> print(VCA(psi=1e-6, max_degree=2).fit(X).generators_[0])
    0.5*x1^2 + 0.5*x0^2 - 0.5
    >>> print(VCA(psi=1e-6, max_degree=2, normalization="coefficients").fit(X).generators_[0])
    0.5774*x1^2 + 0.5774*x0^2 - 0.5774

    Of degree 3 and above there are more, which say the same near the circle.

    >>> [VCA(psi=1e-6, max_degree=6, remove_redundant=remove).fit(X).n_generators_
    ...  for remove in (False, True)]
    [9, 1]
    """

    fits_sources = reads_sources = False  # its components are fitted to rows in memory

    def __init__(
        self,
        psi: float = 0.005,
        *,
        max_degree: int = 3,
        max_terms: int | None = None,
        normalization: Literal["gradient", "coefficients", "l2", "unit"] = "gradient",
        remove_redundant: bool = False,
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.psi = psi
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.normalization = normalization
        self.remove_redundant = remove_redundant
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _psi_below(self):  # a squared distance may be any number
        return np.inf if self.normalization == "gradient" else 1.0

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        choices = ("gradient", "coefficients", "l2", "unit")
        check_choice("normalization", self.normalization, choices)
        super().check_parameters()

    def _construct(self, rows):
        construction = ComponentAnalysis(self, rows)
        with one_blas_thread():
            construction.run()
            _set_components(self, construction.generators(input_names(self)), construction.n_terms)
        self.complete_ = construction.complete
        return construction.remarks()

    def keep(self, chosen: IntArray, *, same_variety: bool = False) -> None:
        """Keep some of the generators, and forget the others; F stays as it is."""
        _set_components(self, self.generators_.subset(chosen), self.n_terms_)

    def get_feature_names_out(self, input_features: Names | None = None) -> ObjectArray:
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


def _set_components(model, generators, n_terms) -> None:
    """Set the fitted attributes."""
    model.generators_ = generators
    model.mse_ = generators.mse
    model.n_generators_ = len(generators)
    model.n_terms_ = n_terms
    model.n_coefficients_ = sum(
        stage.n_generators * stage.combine.shape[1] for stage in generators.stages
    )
    model.sparsity_ = 0.0
    model.degree_ = generators.degree


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    components = model.generators_
    n_features = model.n_features_in_
    node = {
        **writer.input(model),
        "feature_names": list(components.feature_names),
        "n_terms": int(model.n_terms_),
        "complete": model.complete_,
        "scale": components.scale.tolist(),
        "mse": writer.plain(components.mse),
    }
    if math.comb(n_features + components.degree, n_features) <= 500:  # monomials to be read
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
    keys = ("feature_names", "n_terms", "scale", "mse", "stages")
    values = reader.fitted(model, node, keys, ("equations", "complete"))
    names, n_terms, scale, mse, nodes, equations, complete = values
    model.complete_ = complete is not None and reader.flag(complete, "complete")
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
    _set_components(model, Components(stages, mse, scale, names), n_terms)


register(VCA, _write, _read, earlier={"normalization": "l2"})
