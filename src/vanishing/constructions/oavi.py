"""OAVI: the oracle approximate vanishing ideal algorithm, from moments."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_choice, check_flag, check_number
from vanishing.constructions.from_moments import FitsMoments, is_debiased
from vanishing.constructions.given import check_given, given
from vanishing.constructions.gradient import DebiasedConstruction
from vanishing.constructions.ideal import savable
from vanishing.constructions.oracle_construction import OracleConstruction
from vanishing.estimators.names import input_names
from vanishing.oracles import ORACLES, named


@savable
class OAVI(FitsMoments):
    """Generators of the approximate vanishing ideal of a data set.

    Finds polynomials g with leading coefficient 1 that almost vanish on the rows, ``mean(g(x)^2)
    <= psi``, border term after border term in the degree-lexicographic order: the paper's
    Algorithm 2. The rows enter only through moments, read in chunks, so that the cost after the
    passes over the data does not depend on their number.

    Parameters
    ----------
    psi : float in [0, 1), default=0.005
        Largest mean squared value of a generator on the training rows. 0 means exact up to
        rounding and takes the closed form, whatever the oracle.
    oracle : {"pcg", "bpcg", "cg", "afw", "agd", "ls", "omp"} or callable, default="pcg"
        Solver for the coefficients of a generator: pairwise, blended pairwise, vanilla or away-step
        conditional gradients, accelerated gradient descent, least squares in closed form, or greedy
        sparse least squares. A callable is called as ``oracle(gram, cross, norm, *, psi, radius)``
        and returns ``(coef, mse)``; see `vanishing.oracles`.
    border : {"gb", "bb"}, default="gb"
        Reduced Groebner basis border (few generators) or border basis border (more, and more
        robust to noise).
    tau : float >= 2 or "auto", default=1000.0
        Bound on the l1-norm of a generator's coefficients, the leading one included. "auto" is
        ``max(2, 1.5**D)`` with ``D = ceil(-log(psi) / log(4))``, the smallest radius that
        guarantees that data in [0, 1]^n are done by degree D. "ls" and "agd" ignore it.
    region : {"l1", "l2"}, default="l1"
        Norm of the ball of radius ``tau - 1`` that the non-leading coefficients are kept in.
        The ball of the l2-norm contains that of the l1-norm, and its coefficients have no zeros.
        For "pcg", "bpcg", "cg", "afw" and callables; "ls" and "agd" have no ball.
    eps, tol : float, default=1e-3 and 1e-6
        Accuracy and least progress at which an iterative oracle stops, relative to psi.
    max_iter : int, default=10_000
        Steps an oracle may take for one border term.
    max_degree : int, default=10
        Largest degree of a generator. From 10 on, with `certify` and `refit`, the fit ends before a
        border that has more than 20,000 terms and more than 20 for each row, and says so. 500
        columns have 125,000 products. A smaller ``max_degree`` is taken at its word.
    max_terms : int or None, default=None
        Largest number of terms in O, the monomials that all generators together are made of. The
        fit stops, with a warning, before it would be exceeded. In `LawFinder` and
        `ConservedQuantities` ``max_terms`` bounds the terms of each equation instead.
    certify : bool, default=True
        Decide by the exact least-squares residual whether a border term is the leading term of a
        generator, and ask the oracle for coefficients only where it is. With False the oracle
        decides, as in the paper.
    refit : bool, default=True
        Let an iterative oracle choose the terms of a generator only: its coefficients are the
        closed form on these terms, where that stays in the ball. As sparse, with a smaller mse.
        ``certify=False, refit=False`` is the paper's algorithm to the letter, and with
        ``oracle="agd"`` the published one, step for step.
    known : list of str or Polynomial, default=None
        Equations that are known to hold, such as ``"x0^2 + x1^2 = 1"``, in the columns as `fit`
        gets them; a classifier scales these first, and calls them x0, x1, ... Generators are found
        modulo these: leading terms of what follows from them, up to ``max_degree``, neither join O
        nor lead generators. A warning names known equations that do not hold on the rows: whose
        mean square is above psi when the coefficient of their leading term is 1.
    exclude : list of str or Polynomial, default=None
        Terms that may not occur, such as ``"x0*x1"``, nor any multiple of them. ``"x0"``
        leaves out the whole column.
    feature_order : {"given", "pearson", "rev_pearson"}, default="given"
        Order of the variables in DegLex: as given, or by the sum of absolute correlations with all
        columns, ascending or descending.
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
        Print one line per degree: border, |O|, |G|, seconds.

    Attributes
    ----------
    terms_ : ndarray of int of shape (n_terms_, n_features_in_)
        O, the terms that are no leading terms: exponents in DegLex order, the constant first.
    leading_terms_ : ndarray of int of shape (n_generators_, n_features_in_)
        Exponents of the generators' leading terms, in DegLex order.
    coef_ : ndarray of shape (n_generators_, n_terms_)
        Non-leading coefficients of the generators on `terms_`.
    leading_coef_ : ndarray of shape (n_generators_,)
        Ones.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares of the generators, measured by evaluating them on the training rows.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators: call them, print them, take their gradient.
    n_generators_, n_terms_, degree_ : int
        |G|, |O|, and the largest degree of a generator (0 if there is none).
    sparsity_ : float
        Share of zeros among the non-leading coefficients that each generator could have had.
    n_coefficients_ : int
        How many non-leading coefficients the generators could have had: what `sparsity_` is
        relative to.
    complete_ : bool
        Whether the border was empty at the end, so that every polynomial can be divided by the
        generators: see `reduce`.
    max_abs_ : ndarray of shape (n_features_in_,) or None
        Largest absolute value of each column on the training rows; None where they were not seen.
    n_iter_ : int
        Steps of the oracle, all terms together.
    feature_order_ : ndarray of int of shape (n_features_in_,)
        Columns in the order of the variables t_1 < t_2 < ... of DegLex.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    ABM : Generators of unit norm by smallest singular vectors.
    AVI : Generators of a whole degree at once, by its kernel.
    VCA : Polynomials without monomials, by products of components.
    BuchbergerMoller : Exact generators of points with rational coordinates.
    VanishingFeatures : Generators of each class as features.

    References
    ----------
    E. Wirth and S. Pokutta, "Conditional Gradients for the Approximate Vanishing Ideal".
    E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR
    2023: the closed form as a start of the solvers (IHB) or in front of them (WIHB),
    ``oracle="bpcg"``, ``tau="auto"`` and columns in the order of their correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI
    >>> angle = np.linspace(0, 6, 50)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=2).fit(X)
    >>> print(model.generators_[0])
    x1^2 + x0^2 - 1
    >>> model.transform([[0.6, 0.8], [1.0, 1.0]]).round(4)
    array([[0.],
           [1.]])

    Where a law is known: what else holds?

    >>> X = np.column_stack([X, X[:, 0] * X[:, 1]])
    >>> known = ["x0^2 + x1^2 = 1"]
    >>> print(OAVI(psi=1e-6, oracle="ls", max_degree=2, known=known).fit(X).generators_[0])
    x0*x1 - x2
    """

    n_iter_: int

    def __init__(
        self,
        psi: float = 0.005,
        *,
        oracle: str | Callable[..., tuple[object, object]] = "pcg",
        border: Literal["gb", "bb"] = "gb",
        tau: float | Literal["auto"] = 1000.0,
        region: Literal["l1", "l2"] = "l1",
        eps: float = 1e-3,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_degree: int = 10,
        max_terms: int | None = None,
        certify: bool = True,
        refit: bool = True,
        known: Sequence[str | Polynomial] | None = None,
        exclude: Sequence[str | Polynomial] | None = None,
        feature_order: Literal["given", "pearson", "rev_pearson"] = "given",
        remove_redundant: bool = False,
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.psi = psi
        self.oracle = oracle
        self.border = border
        self.tau = tau
        self.region = region
        self.eps = eps
        self.tol = tol
        self.max_iter = max_iter
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.certify = certify
        self.known = known
        self.exclude = exclude
        self.refit = refit
        self.feature_order = feature_order
        self.remove_redundant = remove_redundant
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def names_columns(self) -> bool:
        """Whether some of the parameters name columns."""
        return bool(self.known or self.exclude)

    def _construction(self, rows, columns):
        if is_debiased(rows):
            construction = DebiasedConstruction(self, rows, columns)
        else:
            construction = OracleConstruction(self, tau_of(self), rows, columns)
        facts = given(self.known, self.exclude, input_names(self))
        construction.barred = facts.barred(columns, construction.max_degree)
        construction.doubts = tuple(facts.doubts(rows, construction.psi))
        return construction

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        super().check_parameters()
        if not callable(self.oracle):
            check_choice("oracle", self.oracle, ORACLES)
        if not isinstance(self.tau, str):
            check_number("tau", self.tau, low=2)
        elif self.tau != "auto":
            raise ValueError(f"tau must be a number, at least 2, or 'auto'; got {self.tau!r}.")
        elif self.psi == 0:
            raise ValueError("tau='auto' is a function of psi > 0; with psi=0 give tau a number.")
        check_choice("region", self.region, ("l1", "l2"))
        oracle = named(self.oracle)
        if self.region == "l2" and oracle.constrained and not oracle.euclidean:
            raise ValueError(
                f"oracle={self.oracle!r} keeps to the l1-ball alone: with region='l2' take "
                f"{', '.join(name for name in ORACLES if ORACLES[name].euclidean)}."
            )
        check_number("eps", self.eps, low=0, high=1)
        check_number("tol", self.tol, low=0)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_given(self.known, self.exclude)
        check_flag("certify", self.certify)
        check_flag("refit", self.refit)


def stopping_degree(psi: float) -> int:
    """Return the smallest D with 4^-D <= psi, exact at powers of 4 where logarithms are not."""
    degree = math.ceil(-math.log(psi) / math.log(4.0))
    while degree > 1 and math.ldexp(1.0, -2 * (degree - 1)) <= psi:
        degree -= 1
    return degree


def tau_of(model: OAVI) -> float:
    """Return tau: "auto" is what guarantees termination by degree D on data in [0, 1]^n."""
    if isinstance(model.tau, str):
        return max(2.0, 1.5 ** stopping_degree(model.psi))
    return float(model.tau)
