"""Polynomials that are small on the rows of a class and large on those of the others."""

from typing import NamedTuple

import numpy as np

from vanishing._threads import one_blas_thread
from vanishing._types import FloatArray, IntArray
from vanishing.algebra import monomials
from vanishing.algebra.monomials import Plan
from vanishing.checks import check_number
from vanishing.constructions import settings
from vanishing.constructions.base import (
    GeneratorTransformer,
    MonomialTransformer,
    read_monomials,
    set_monomials,
    write_monomials,
)
from vanishing.constructions.knots import (
    knot_polynomials,
    level_polynomials,
    pair_polynomials,
    quantile_knots,
    telling_pairs,
    with_products,
)
from vanishing.estimators.fits import Remarks
from vanishing.oracles.matching_pursuit import omp
from vanishing.oracles.solution import Status
from vanishing.persistence import register
from vanishing.rows.reader import RowReader

_TIE = 1e-9  # difference of two shares that rounding decides about


class ClassMoments(NamedTuple):
    """The products of all terms on the rows of one class, and what these rows weigh."""

    gram: np.ndarray
    total_weight: float


class Contrast(NamedTuple):
    """Polynomials of one class, on all terms, and the places of their leading terms."""

    coef: np.ndarray  # (g, n_terms)
    leading: np.ndarray  # (g,)

    def on(self, n_terms: int) -> "Contrast":
        """Return the same polynomials on more terms, which come after theirs."""
        more = np.zeros((len(self.coef), n_terms - self.coef.shape[1]))
        return self._replace(coef=np.hstack([self.coef, more]))


class ContrastiveVanishing(MonomialTransformer):
    """Polynomials that nearly vanish on a class, chosen for being large on the other classes.

    Among all polynomials up to a degree, those for which the quotient of mean squares

        (on the class + psi * background) / (on the other classes + psi * background)

    is smallest: generalised eigenvectors of two matrices of moments. The background is the mean
    square over the unit cube, which columns are best scaled into: rows that have not been seen may
    be anywhere. With a larger psi a polynomial has to vanish more clearly to be no work of chance.
    Generators have mean square 1 on the others, background included, and come in the order of their
    quotients; those whose quotient is below 1 are kept. Polynomials that vanish at knots, if you
    ask for them, come last, with mean square 1 on all rows. Each is a generator of the class on
    which it is smallest, relative to the others.

    `VanishingFeatures` and the classifiers show it all classes. Fitted to rows alone it compares
    them with the unit cube.

    Parameters
    ----------
    psi : float, default=0.05
        Share of the background, in [0, 1). Few rows for many terms want a large one.
    max_degree : int, default=2
        Largest degree of the polynomials.
    max_terms : int, default=100
        Largest number of monomials: with more of them the degree is lowered, down to 1; None allows
        any number. A degree wants several times as many rows of each class as it has monomials.
    max_generators : int, default=None
        Largest number of generators of a class; None keeps all whose quotient is below 1.
    slack : float, default=0.0
        How much larger, relatively, a quotient may be for a generator with fewer terms; 0 keeps
        all terms.
    n_knots : int, default=0
        Knots of each column: quantiles t of the rows of all classes, in equal steps from the least
        value on. ``x - t`` is a further generator for each of them: sums of ``|x - t|`` are curves
        of the column, linear between knots.
    n_levels : int, default=0
        Levels t of each generator g: its mean, and quantiles in equal steps of a normal
        distribution with its variance. ``g - t`` is a further generator for each of them: sums of
        ``|g - t|`` are curves of g.
    n_pair_knots : int, default=0
        As many of each column for products: ``(x - s)*(z - t)`` is a further generator for two
        columns and their knots, which makes surfaces of two columns.
    max_pairs : int, default=None
        Pairs of columns that have surfaces: those whose cells between knots tell classes apart
        most, beyond what the two columns do one by one. None means all pairs.
    absolute : bool, default=True
        Whether `transform` returns ``|g(x)|`` or ``g(x)``.
    chunk_size : int, default=None
        Rows evaluated at a time; None chooses a chunk that stays in the cache.
    n_jobs : int, default=None
        Threads over chunks of rows, in `fit` and `transform`; the results are the same. -1 means
        all cores.

    Attributes
    ----------
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators, in the order of their quotients.
    terms_ : ndarray of int of shape (n_terms_, n_features_in_)
        Exponents of all monomials up to the degree, in DegLex order, the constant first.
    leading_terms_ : ndarray of int of shape (n_generators_, n_features_in_)
        Exponents of the largest term of each generator.
    coef_ : ndarray of shape (n_generators_, n_terms_)
        Non-leading coefficients of the generators on `terms_`.
    leading_coef_ : ndarray of shape (n_generators_,)
        Leading coefficients, positive.
    mse_ : ndarray of shape (n_generators_,)
        Mean squares on the rows of the class.
    mse_others_ : ndarray of shape (n_generators_,)
        Mean squares on the rows of the other classes; without others, on the background.
    ratio_ : ndarray of shape (n_generators_,)
        ``mse_ / mse_others_``, without the background.
    n_generators_, n_terms_, degree_ : int
        How many there are, and the largest degree of a generator (0 if there is none).
    sparsity_ : float
        Share of zeros among the non-leading coefficients that each generator could have had.
    n_coefficients_ : int
        How many those are.
    feature_order_ : ndarray of int of shape (n_features_in_,)
        0, 1, 2, ...: columns are taken as given.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    OAVI : Sparse generators by convex optimisation, term by term.
    VanishingFeatures : Generators of each class as features.
    VanishingClassifierCV : The same, tuned by cross-validation.

    Notes
    -----
    With ``psi=0`` the quotients, and the values of the generators, do not change when columns are
    shifted or scaled. Classes count in proportion to their rows among the others.

    References
    ----------
    R. Masuya, Y. Ike, H. Kera: "Vanishing Component Analysis with Contrastive Normalization", 2022,
    normalise vanishing polynomials by their values on transformed rows; here it is those of the
    other classes.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import ContrastiveVanishing, VanishingFeatures
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 3))
    >>> y = np.abs(X[:, 0] - X[:, 1]) < 0.1
    >>> features = VanishingFeatures(ContrastiveVanishing(max_degree=1, slack=0.1)).fit(X, y)
    >>> diagonal = features.transformers_[1]
    >>> print(diagonal.generators_[0])
    2.125*x1 - 2.097*x0
    >>> print(f"{diagonal.mse_[0]:.3f} {diagonal.mse_others_[0]:.3f}")
    0.016 0.963
    """

    mse_others_: FloatArray
    ratio_: FloatArray

    def __init__(
        self,
        psi: float = 0.05,
        *,
        max_degree: int = 2,
        max_terms: int | None = 100,
        max_generators: int | None = None,
        slack: float = 0.0,
        n_knots: int = 0,
        n_levels: int = 0,
        n_pair_knots: int = 0,
        max_pairs: int | None = None,
        absolute: bool = True,
        chunk_size: int | None = None,
        n_jobs: int | None = None,
    ):
        self.psi = psi
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.max_generators = max_generators
        self.slack = slack
        self.n_knots = n_knots
        self.n_levels = n_levels
        self.n_pair_knots = n_pair_knots
        self.max_pairs = max_pairs
        self.absolute = absolute
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        GeneratorTransformer.check_parameters(self)  # there is no border, and no order of columns
        if self.max_generators is not None:
            check_number("max_generators", self.max_generators, low=1, integer=True)
        check_number("slack", self.slack, low=0)
        for name in ("n_knots", "n_levels", "n_pair_knots"):
            check_number(name, getattr(self, name), low=0, integer=True)
        if self.max_pairs is not None:
            check_number("max_pairs", self.max_pairs, low=1, integer=True)

    def keep(self, chosen: IntArray, *, same_variety: bool = False) -> None:
        """Keep some of the generators, and forget the others."""
        others = self.mse_others_[chosen]
        super().keep(chosen)
        _set_ratios(self, others)

    def _construct(self, rows: RowReader) -> Remarks:
        """Compare rows with the background."""
        ((_, remarks),) = fit_classes([self], lambda work: [work(rows)])
        return remarks


def fit_classes(estimators: list[ContrastiveVanishing], ask) -> list[tuple]:
    """Fit one estimator to each class, in two passes over the rows.

    Parameters
    ----------
    estimators : list of ContrastiveVanishing
        One for each class, with the same parameters and numbers of columns.
    ask : callable
        ``ask(work)`` returns ``work(reader)`` for readers of the rows of each class.

    Returns
    -------
    fits : list of (estimator, Remarks)
    """
    options = estimators[0]
    n_features = options.n_features_in_
    plan = monomials.plan_up_to(n_features, options.max_degree, options.max_terms)
    terms = monomials.terms_of(plan, n_features)
    everything = slice(None)

    def moments(reader):
        gram, _ = reader.products(plan, everything, everything)
        return ClassMoments(gram, reader.total_weight)

    with one_blas_thread():
        classes = ask(moments)
        _check_finite([each.gram for each in classes], terms)
        background = unit_cube(terms)
        contrasts = []
        for own in classes:
            others = [each for each in classes if each is not own]
            against = _mean(others) if others else background
            contrasts.append(_contrast(options, own.gram, against, background))
        if options.n_knots or options.n_levels or options.n_pair_knots:
            plan, further = _further(options, ask, plan, contrasts, _mean(classes))
            terms = monomials.terms_of(plan, n_features)
            background = unit_cube(terms)
            contrasts = [*(contrast.on(len(terms)) for contrast in contrasts), further]
        squares = _measured(ask, plan, contrasts)
        # They are measured with leading coefficient 1, and these may be larger than moments.
        _check_finite([squares], terms)
    weights = np.array([each.total_weight for each in classes])
    if len(contrasts) > len(classes):
        contrasts, squares = _dealt(contrasts, squares, weights)
    ends = np.cumsum([len(contrast.leading) for contrast in contrasts])
    fits = []
    for place, (estimator, contrast) in enumerate(zip(estimators, contrasts, strict=True)):
        own_squares = squares[:, ends[place] - len(contrast.leading) : ends[place]]
        rest = np.arange(len(classes)) != place
        if rest.any():
            others = weights[rest] @ own_squares[rest] / weights[rest].sum()
        else:
            others = np.einsum("ij,ij->i", contrast.coef @ background, contrast.coef)
        remarks = _set_contrast(estimator, terms, contrast, own_squares[place], others)
        fits.append((estimator, remarks))
    return fits


def _further(options, ask, plan: Plan, contrasts: list[Contrast], products: np.ndarray):
    """Return a plan, and polynomials on its terms that vanish at knots, or on levels of others."""
    n_features = options.n_features_in_
    pair_knots = quantile_knots(ask, n_features, options.n_pair_knots)
    pairs = telling_pairs(ask, pair_knots, options.max_pairs)
    coef, leading = (np.concatenate(parts) for parts in zip(*contrasts, strict=True))
    levels = level_polynomials(coef, leading, products, options.n_levels)
    plan = with_products(plan, n_features, pairs)
    terms = monomials.terms_of(plan, n_features)
    knots = quantile_knots(ask, n_features, options.n_knots)
    parts = [
        knot_polynomials(knots, len(terms)),
        Contrast(*levels).on(len(terms)),
        pair_polynomials(pairs, pair_knots, terms),
    ]
    coef, leading = (np.concatenate(of_parts) for of_parts in zip(*parts, strict=True))
    return plan, Contrast(coef, leading)


def _dealt(contrasts: list[Contrast], squares: np.ndarray, weights: np.ndarray):
    """Deal the last contrast, of polynomials at knots, to the classes; return contrasts, squares.

    Each polynomial goes to the class on which its mean square is smallest, relative to that on all
    rows, on which it becomes 1.
    """
    *own, knots = contrasts
    n_own = [len(contrast.leading) for contrast in own]
    known, at_knots = np.split(squares, [sum(n_own)], axis=1)
    total = weights @ at_knots / weights.sum()
    scale = np.where(total > 0.0, 1.0 / np.sqrt(np.where(total > 0.0, total, 1.0)), 1.0)
    owner = at_knots.argmin(axis=0)
    dealt, parts = [], []
    columns = np.split(known, np.cumsum(n_own)[:-1], axis=1)
    for place, (contrast, of_class) in enumerate(zip(own, columns, strict=True)):
        mine = np.flatnonzero(owner == place)
        coef = knots.coef[mine] * scale[mine, np.newaxis]
        leading = np.concatenate([contrast.leading, knots.leading[mine]])
        dealt.append(Contrast(np.vstack([contrast.coef, coef]), leading))
        parts += [of_class, at_knots[:, mine] * scale[mine] ** 2]
    return dealt, np.hstack(parts)


def _contrast(options, own: np.ndarray, others: np.ndarray, background: np.ndarray) -> Contrast:
    """Return the polynomials with the smallest quotients of mean squares."""
    small, large = (each + options.psi * background for each in (own, others))
    # Quarters, as the sum of two moments may overflow where neither does.
    unit = 2.0 * np.sqrt(small.diagonal() / 4.0 + large.diagonal() / 4.0)
    unit[unit < 1e-146] = 1.0  # mean squares next to underflow lack digits
    small, large = (each / unit / unit[:, np.newaxis] for each in (small, large))
    # In a basis of mean square 1 on both together, where what vanishes on all rows is no
    # direction. The quotient is share / (1 - share).
    size, basis = np.linalg.eigh(small + large)
    known = size > 1e-12 * size[-1]  # else zero up to rounding
    basis = basis[:, known] / np.sqrt(size[known])
    share, vectors = np.linalg.eigh(basis.T @ small @ basis)
    kept = share < settings.EVEN_SHARE
    share = np.maximum(share[kept], 0.0)
    coef = _in_fixed_order((basis @ vectors[:, kept]).T, share)[: options.max_generators]
    share = share[: options.max_generators]
    coef /= np.sqrt(1.0 - share)[:, np.newaxis]
    if options.slack:
        coef = _sparser(coef, small, large, options.slack)
    largest = np.abs(coef).max(axis=1, initial=0.0, keepdims=True)
    coef[np.abs(coef) <= 1e-13 * largest] = 0.0  # rounding errors of the others
    if options.slack:
        coef = coef[coef[:, 1:].any(axis=1)]  # a constant is within the slack of what is nearly one
    leading = coef.shape[1] - 1 - np.argmax(coef[:, ::-1] != 0.0, axis=1)
    sign = np.sign(np.take_along_axis(coef, leading[:, np.newaxis], axis=1))
    return Contrast(coef * sign / unit, leading)


def _sparser(coef, small, large, slack: float) -> np.ndarray:
    """Return generators with fewer terms, whose quotients are larger by at most the slack.

    Let u be a generator, A and B the matrices of moments, ``A u = r B u`` and ``u'Bu = 1``. The
    v on some of the terms that is nearest to u, ``(v - u)'A(v - u) = d``, has
    ``v'Av = r v'Bu = r - d``. So ``v'Bv >= (v'Bu)^2 = (1 - d/r)^2``, and its quotient is at
    most ``r / (1 - d/r)``: within the slack s as long as ``d <= r s / (1 + s)``.
    """
    sparse = coef.copy()
    for i, u in enumerate(coef):
        image = small @ u
        norm = float(u @ image)
        if norm <= _TIE:
            continue  # the quotient is zero up to rounding, and nothing is near zero
        most = norm * slack / (1.0 + slack)
        solution = omp(small, -image, norm, psi=most, radius=np.inf, max_iter=2 * len(u))
        if solution.status == Status.FOUND and solution.coef.any():
            sparse[i] = solution.coef
    sparse /= np.sqrt(np.einsum("ij,ij->i", sparse @ large, sparse))[:, np.newaxis]
    ratio = np.einsum("ij,ij->i", sparse @ small, sparse)
    return sparse[np.argsort(np.maximum(ratio, _TIE), kind="stable")]


def _measured(ask, plan: Plan, contrasts: list[Contrast]) -> np.ndarray:
    """Return the mean squares of all generators on the rows of each class."""
    coef = np.concatenate([contrast.coef for contrast in contrasts])
    leading = np.concatenate([contrast.leading for contrast in contrasts])
    if not len(coef):
        return np.zeros((len(contrasts), 0))
    places = np.arange(len(coef))
    lead = coef[places, leading]
    coef = coef / lead[:, np.newaxis]
    coef[places, leading] = 0.0
    terms = slice(None)
    return np.array(ask(lambda reader: reader.mse(plan, terms, coef, leading))) * lead**2


def _set_contrast(model, terms: np.ndarray, contrast: Contrast, mse, others) -> Remarks:
    """Set the fitted attributes from the polynomials of a class and their mean squares."""
    places = np.arange(len(contrast.leading))
    coef = contrast.coef.copy()
    coef[places, contrast.leading] = 0.0
    exponents = terms.astype(np.int64)
    set_monomials(
        model,
        terms=exponents,
        leading_terms=exponents[contrast.leading],
        coef=coef,
        leading_coef=contrast.coef[places, contrast.leading],
        sizes=contrast.leading,
        mse=mse,
    )
    model.feature_order_ = np.arange(terms.shape[1])
    _set_ratios(model, others)
    nothing = (
        "no polynomial is smaller on the class than on the others, and transform will return "
        "no columns. Take a larger max_degree."
    )
    return Remarks(type(model).__name__, (), None if len(places) else nothing)


def _set_ratios(model, others: np.ndarray) -> None:
    model.mse_others_ = others
    with np.errstate(divide="ignore", invalid="ignore"):
        model.ratio_ = model.mse_ / others


def _in_fixed_order(coef: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the polynomials in an order that the rows determine where shares are equal.

    Where there are fewer rows than terms many polynomials vanish on all of them, and which ones of
    these come out would be up to rounding. Those with small coefficients of the terms that are
    large in the order of terms come first.
    """
    cost = np.sqrt(1.0 + np.arange(coef.shape[1]))
    ends = [*np.flatnonzero(np.diff(share) > _TIE) + 1, len(share)]
    for start, stop in zip([0, *ends], ends, strict=False):
        if stop - start > 1:
            # Orthonormal on both classes together, which a rotation does not change.
            rotation = np.linalg.svd(coef[start:stop] * cost, full_matrices=False)[0]
            coef[start:stop] = rotation[:, ::-1].T @ coef[start:stop]
    return coef


def unit_cube(terms: np.ndarray) -> np.ndarray:
    """Return the mean products of terms over the unit cube.

    Parameters
    ----------
    terms : ndarray of shape (n_terms, n_features)
        Exponents.

    Returns
    -------
    products : ndarray of shape (n_terms, n_terms)
        Entry (t, u) is the product over the columns x of 1 / (t_x + u_x + 1).
    """
    products = np.ones((len(terms), len(terms)))
    for exponents in terms.T.astype(np.float64):
        products /= exponents[:, np.newaxis] + exponents + 1.0
    return products


def _check_finite(moments: list[np.ndarray], terms: np.ndarray) -> None:
    """Raise ValueError if some of the moments of these terms overflow."""
    if not all(np.isfinite(each).all() for each in moments):
        raise ValueError(
            f"moments of degree {2 * int(terms[-1].sum())} overflow on these rows. Scale the data, "
            "for example into [0, 1]."
        )


def _mean(classes: list[ClassMoments]) -> np.ndarray:
    total = sum(each.total_weight for each in classes)
    return np.sum([each.gram * (each.total_weight / total) for each in classes], axis=0)


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    return {
        **write_monomials(writer, model),
        "mse_others": [writer.float(value) for value in model.mse_others_],
    }


def _read(reader, node, model):
    (others,) = read_monomials(reader, node, model, ("mse_others",))
    others = reader.listed(others, "mse_others", model.n_generators_)
    _set_ratios(model, np.array([reader.measured(value, "a mean square") for value in others]))


register(ContrastiveVanishing, _write, _read)
