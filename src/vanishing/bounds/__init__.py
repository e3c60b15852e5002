"""The paper's learning guarantees as functions, and those that hold for a fitted model.

Notation: n columns, k terms, m rows in [-1, 1]^n, tau a bound on the l1-norm of a generator's
coefficients (the leading one included), delta the probability with which a bound may fail. On such
rows a generator is at most tau in absolute value, so that a bound above tau^2 on its mean square
says nothing; nor does one above 1 on a probability.

The theorems fix tau, k, the weights' norm and the margin before the data is seen. What is chosen
afterwards costs a share of delta: round it up on a dyadic grid, and let the j-th point of the grid
have delta / (j (j + 1)); these shares sum to delta. `of` does so.

References
----------
E. Wirth and S. Pokutta, "Conditional Gradients for the Approximate Vanishing Ideal", sections 4
and 6.
M. Mohri, A. Rostamizadeh and A. Talwalkar, "Foundations of Machine Learning", 2nd edition:
Theorems 5.8 and 11.3 are what the paper's bounds are made of.
"""

import math
import numbers
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing.checks import check_number
from vanishing.constructions.abm import ABM
from vanishing.constructions.avi import AVI
from vanishing.constructions.oavi import OAVI, auto_tau
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.search import VanishingClassifierCV
from vanishing.oracles import named

__all__ = [
    "Bound",
    "Report",
    "lipschitz_bound",
    "log_order_ideals",
    "log_terms",
    "margin_bound",
    "margin_loss",
    "max_size",
    "moment_bound",
    "of",
    "rademacher_generators",
    "rademacher_pipeline",
    "vanishing_bound",
]

_ROUNDING = 1e-9  # scaled rows and projected coefficients may exceed their bounds by rounding
_MARGINS = 40  # points of the grid of margins; the last is 2e-12 of the largest decision value


def _whole(name, value, low):
    """Return a whole number, also of a float such as 1e6, or raise TypeError or ValueError."""
    if isinstance(value, numbers.Real) and float(value).is_integer():
        value = value if isinstance(value, (bool, np.bool_)) else int(value)
    check_number(name, value, low=low, integer=True)
    return int(value)


def _positive(name, value, *, low=0):
    """Return a float above 0, or at least ``low`` where that is given."""
    check_number(name, value, low=low, low_open=low == 0)
    return float(value)


def _probability(delta):
    check_number("delta", delta, low=0, high=1, low_open=True, high_open=True)
    return float(delta)


# -- Counting (section 4) ---------------------------------------------------------------------


def log_order_ideals(n_features, k):
    """Bound the logarithm of the number of order ideals of k terms (Lemma 4.11).

    ``log(n^k k!)``. The paper's induction gives ``n^(k-1) (k-1)!`` as well. It never uses that all
    divisors of a term are there, only that some term times a variable yields it: the bound holds
    for the sets O that the border basis border ("bb") builds, too, which need not be order ideals.

    Parameters
    ----------
    n_features : int
        Number of variables n.
    k : int
        Number of terms.

    Returns
    -------
    log_count : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.log_order_ideals(n_features=2, k=3), 4)  # 2^3 3! = 48; there are 3
    3.8712
    """
    n, k = _whole("n_features", n_features, 1), _whole("k", k, 0)
    return k * math.log(n) + math.lgamma(k + 1)


def log_terms(n_features, max_degree):
    """Return the logarithm of the number of terms of degree at most d, ``log C(n + d, d)``.

    Parameters
    ----------
    n_features : int
        Number of variables n.
    max_degree : int
        The degree d.

    Returns
    -------
    log_count : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.log_terms(n_features=2, max_degree=2), 4)  # 1, t1, t2, t1^2, t1 t2, t2^2
    1.7918
    """
    n, d = _whole("n_features", n_features, 1), _whole("max_degree", max_degree, 0)
    return float(-math.log(n + d + 1) - betaln(n + 1, d + 1))


def _stopping_degree(psi):
    """Return the smallest D with 4^-D <= psi, exact at powers of 4 where logarithms are not."""
    degree = math.ceil(-math.log(psi) / math.log(4.0))
    while degree > 1 and math.ldexp(1.0, -2 * (degree - 1)) <= psi:
        degree -= 1
    return degree


def max_size(psi, n_features):
    """Bound |G| + |O| whatever the number of rows: ``C(D + n, D)``, D = ceil(-log psi / log 4).

    For rows in [0, 1]^n, not [-1, 1]^n, the border "gb", no bound on the degree below D, and an
    exact oracle that is unbounded or has ``tau >= (3/2)^D`` (``tau="auto"``). Then a border term of
    degree D leads a generator, because the product of t_i - 1/2 over its factors t_i is at most
    2^-D in absolute value, has coefficients of l1-norm (3/2)^D, and other terms in O only. On
    [-1, 1]^n it fails: no combination of lower terms comes near t_1 ... t_n on the corners.

    Parameters
    ----------
    psi : float in (0, 1)
        Largest mean square of a generator.
    n_features : int
        Number of variables n.

    Returns
    -------
    size : int

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.max_size(psi=0.005, n_features=3)  # D = 4
    35
    """
    check_number("psi", psi, low=0, high=1, low_open=True, high_open=True)
    n, degree = _whole("n_features", n_features, 1), _stopping_degree(psi)
    return math.comb(degree + n, degree)


# -- Guarantees (section 6) -------------------------------------------------------------------


def lipschitz_bound(value, degree, tau, distance):
    """Bound a generator at one point by its value at another (Lemma 6.1).

    ``|g(y)| <= |g(x)| + d tau ||y - x||_inf`` for any x and y in [-1, 1]^n and any polynomial g of
    degree d with coefficients of l1-norm at most tau: the l1-norm of its gradient is at most
    d tau there. No chance is involved, so that tau may be the generator's own l1-norm.

    Parameters
    ----------
    value : float or array-like
        g(x).
    degree : int
        Degree d of g.
    tau : float >= 2
        Bound on the l1-norm of its coefficients.
    distance : float or array-like
        ||y - x||_inf.

    Returns
    -------
    bound : float or ndarray

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.lipschitz_bound(value=0.0, degree=2, tau=3.0, distance=0.01)
    0.06
    """
    degree, tau = _whole("degree", degree, 0), _positive("tau", tau, low=2)
    value, distance = np.asarray(value, dtype=float), np.asarray(distance, dtype=float)
    if not np.isfinite(value).all():
        raise ValueError("value must be finite.")
    if not (distance >= 0).all():
        raise ValueError("distance must not be negative.")
    bound = np.abs(value) + degree * tau * distance
    return bound if bound.ndim else float(bound)


def _complexity(n_features, k, n_samples, max_degree):
    """Return sqrt(2 log(2 N) / m) for a class that has N terms to choose from."""
    m = _whole("n_samples", n_samples, 1)
    if max_degree is None:
        k = _whole("k", k, 1)
        log_count = math.log(k) + log_order_ideals(n_features, k)
    else:
        log_count = log_terms(n_features, max_degree)
    return math.sqrt(2.0 * (math.log(2.0) + log_count) / m)


def rademacher_generators(n_features, k, n_samples, tau, *, max_degree=None):
    """Bound the empirical Rademacher complexity of polynomials like generators (Lemma 6.2).

    ``tau sqrt(2 log(2 k n^k k!) / m)`` for polynomials with terms in an order ideal of k terms and
    coefficients of l1-norm at most tau, on any m rows in [-1, 1]^n.

    The lemma's proof applies Massart's lemma to all pairs of an order ideal and a term in it. Only
    the terms matter: if their degree is at most d there are C(n + d, d) of them, which `max_degree`
    puts in the place of k n^k k!.

    Parameters
    ----------
    n_features : int
        Number of variables n.
    k : int
        Number of terms of a generator, the leading one included: |O| + 1. Ignored, and may be
        None, where ``max_degree`` is given.
    n_samples : int
        Number of rows m.
    tau : float > 0
        Bound on the l1-norm of the coefficients.
    max_degree : int, default=None
        Count the terms of at most this degree rather than order ideals.

    Returns
    -------
    complexity : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.rademacher_generators(2, 6, 10_000, 3.0), 4)
    0.1543
    >>> round(bounds.rademacher_generators(2, None, 10_000, 3.0, max_degree=2), 4)
    0.0669
    """
    tau = _positive("tau", tau)
    return tau * _complexity(n_features, k, n_samples, max_degree)


def rademacher_pipeline(n_features, k, n_samples, tau, weight_bound, *, max_degree=None):
    """Bound the empirical Rademacher complexity of the pipeline's decision functions (Lemma 6.6).

    ``2 Lambda tau sqrt(2 log(2 k n^k k!) / m)`` for sums of absolute values of polynomials as in
    `rademacher_generators`, with weights of l1-norm at most Lambda. A constant is such a
    polynomial, so that an intercept counts as a weight.

    Parameters
    ----------
    n_features, k, n_samples, max_degree
        As in `rademacher_generators`.
    tau : float >= 2
        Bound on the l1-norm of each generator's coefficients.
    weight_bound : float > 0
        Lambda, the bound on the l1-norm of the weights, the intercept included.

    Returns
    -------
    complexity : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.rademacher_pipeline(2, 6, 10_000, 3.0, weight_bound=2.0), 4)
    0.6171
    """
    tau = _positive("tau", tau, low=2)
    weight_bound = _positive("weight_bound", weight_bound)
    return 2.0 * weight_bound * tau * _complexity(n_features, k, n_samples, max_degree)


def vanishing_bound(mse, n_features, k, n_samples, tau, delta, *, max_degree=None):
    """Bound the expected mean square of generators on new rows (Theorem 6.3).

    ``mse + 4 tau^2 sqrt(2 log(2 k n^k k!) / m) + 12 tau^2 sqrt(log(2 / delta) / (2 m))``. With
    probability at least 1 - delta over m independent rows in [-1, 1]^n it holds at once for all
    polynomials of `rademacher_generators`, whoever chose them: tau and k are fixed in advance.

    The paper's proof calls (y, y') -> (y - y')^2 a 2 tau-Lipschitz loss on [-tau, tau]^2, where it
    is 4 tau-Lipschitz, and bounds it by 4 tau^2. Only y' = 0 is needed: there 2 tau is right, and
    with tau^2 for 4 tau^2 the last factor could be 3 rather than 12. See `moment_bound` for a
    sharper bound.

    Parameters
    ----------
    mse : float
        Mean square of the generator on the rows.
    n_features, k, n_samples, max_degree
        As in `rademacher_generators`.
    tau : float >= 2
        Bound on the l1-norm of the coefficients.
    delta : float in (0, 1)
        Probability with which the bound may fail.

    Returns
    -------
    bound : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.vanishing_bound(0.001, 2, 6, 1_000_000, 3.0, delta=0.05), 4)
    0.3328
    """
    check_number("mse", mse, low=0)
    tau, delta = _positive("tau", tau, low=2), _probability(delta)
    complexity = _complexity(n_features, k, n_samples, max_degree)
    confidence = math.sqrt(math.log(2.0 / delta) / (2.0 * n_samples))
    return float(mse) + 4.0 * tau**2 * complexity + 12.0 * tau**2 * confidence


def moment_bound(mse, n_features, degree, n_samples, l1_norm, delta):
    """Bound the expected mean square of any polynomials on new rows, by their l1-norms.

    ``mse + l1_norm^2 sqrt(2 log(2 C(n + 2d, 2d) / delta) / m)``: not in the paper, and smaller
    than its bound. The mean square of ``g = sum_i c_i t_i`` is ``sum_ij c_i c_j mean(t_i t_j)``, so
    that its mean and its expectation differ by at most ||c||_1^2 times the largest error of a
    moment; there are fewer than C(n + 2d, 2d) moments of degree 2d or less, each the mean of m
    values in [-1, 1], and Hoeffding's inequality bounds all their errors at once.

    With probability at least 1 - delta it holds for all polynomials of degree at most d, each with
    its own l1-norm: tau and k need not be fixed in advance, or at all, and the polynomials may
    come from any algorithm. The degree is fixed in advance.

    Parameters
    ----------
    mse : float
        Mean square of the polynomial on the rows.
    n_features : int
        Number of variables n.
    degree : int
        Bound d on the degree of the polynomials.
    n_samples : int
        Number of rows m, independent, in [-1, 1]^n.
    l1_norm : float
        l1-norm of the polynomial's coefficients, the leading one included.
    delta : float in (0, 1)
        Probability with which the bound may fail.

    Returns
    -------
    bound : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.moment_bound(0.001, 2, 2, 1_000_000, 3.0, delta=0.05), 4)
    0.0332
    """
    check_number("mse", mse, low=0)
    l1_norm, delta = _positive("l1_norm", l1_norm), _probability(delta)
    m, degree = _whole("n_samples", n_samples, 1), _whole("degree", degree, 1)
    log_moments = math.log(2.0 / delta) + log_terms(n_features, 2 * degree)
    return float(mse) + l1_norm**2 * math.sqrt(2.0 * log_moments / m)


def margin_loss(scores, y, rho):
    """Return the empirical margin loss, the mean of min(1, max(0, 1 - y h(x) / rho)).

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Decision values h(x).
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    rho : float > 0
        The margin.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.margin_loss([2.0, 0.5, -1.0], [1, 1, 1], rho=1.0)
    0.5
    """
    rho = _positive("rho", rho)
    scores, y = np.asarray(scores, dtype=float), np.asarray(y)
    if scores.ndim != 1 or scores.shape != y.shape or not scores.size:
        raise ValueError(
            f"scores and y must have one entry a row; got shapes {scores.shape} and {y.shape}."
        )
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("y must be -1 or +1 on every row.")
    return float(np.clip(1.0 - y * scores / rho, 0.0, 1.0).mean())


def margin_bound(
    margin_loss, n_features, k, n_samples, tau, weight_bound, rho, delta, *, max_degree=None
):
    """Bound the error of the pipeline with two classes on new rows (Theorem 6.7).

    ``margin_loss + (4 Lambda tau / rho) sqrt(2 log(2 k n^k k!) / m) + 3 sqrt(log(2/delta) / (2m))``
    With probability at least 1 - delta over m independent rows in [-1, 1]^n with their labels it
    holds at once for all decision functions of `rademacher_pipeline`; tau, k, Lambda and rho are
    fixed in advance. Only Lambda tau / rho matters: dividing all weights by a number and the margin
    by the same changes nothing.

    Parameters
    ----------
    margin_loss : float in [0, 1]
        Empirical margin loss; see `margin_loss`.
    n_features, k, n_samples, max_degree
        As in `rademacher_generators`; the rows are those of both classes together.
    tau : float >= 2
        Bound on the l1-norm of each generator's coefficients.
    weight_bound : float > 0
        Lambda, the bound on the l1-norm of the weights, the intercept included.
    rho : float > 0
        The margin, in units of the decision values.
    delta : float in (0, 1)
        Probability with which the bound may fail.

    Returns
    -------
    bound : float

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.margin_bound(0.05, 2, 6, 1_000_000, 3.0, 4.0, rho=1.0, delta=0.05), 4)
    0.3009
    """
    check_number("margin_loss", margin_loss, low=0, high=1)
    rho, delta = _positive("rho", rho), _probability(delta)
    complexity = rademacher_pipeline(
        n_features, k, n_samples, tau, weight_bound, max_degree=max_degree
    )
    confidence = math.sqrt(math.log(2.0 / delta) / (2.0 * n_samples))
    return float(margin_loss) + 2.0 / rho * complexity + 3.0 * confidence


# -- What holds for a fitted model ------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """A bound that holds for a fitted model.

    Parameters
    ----------
    name : str
        Which bound: "Lipschitz", "size", "vanishing", "margin", ..., after the class if any.
    value : float
        The bound; nan where it needs the number of rows, and no rows were given.
    statement : str
        What is bounded, and the numbers that went into it.
    informative : bool
        Whether it says more, of every generator, than what holds without it; vacuous if not.
    samples_needed : int or None
        Number of rows from which on it would be informative, all else equal. None if it does not
        depend on the number of rows, or if no number would do.
    conditions : tuple of str
        What must be true, and is not known to `of`.
    """

    name: str
    value: float
    statement: str
    informative: bool
    samples_needed: int | None = None
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        verdict = "informative" if self.informative else "vacuous"
        if math.isnan(self.value):
            verdict = "not evaluated without the rows"
        if self.samples_needed is not None and not self.informative:
            verdict += f"; informative from {self.samples_needed:,} rows on"
        return f"{self.name}: {verdict}\n  {self.statement}"


@dataclass(frozen=True, repr=False)
class Report(Sequence):
    """The bounds that hold for a fitted model: a sequence, also indexed by name.

    Parameters
    ----------
    bounds : tuple of Bound
    delta : float
        Probability with which each of those that chance may break fails.
    """

    bounds: tuple[Bound, ...]
    delta: float

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, index):
        if not isinstance(index, str):
            return self.bounds[index]
        for bound in self.bounds:
            if bound.name == index:
                return bound
        raise KeyError(f"{index!r} is none of {[bound.name for bound in self.bounds]}")

    def __str__(self) -> str:
        """Write each bound with its verdict, and the conditions of all once, at the end."""
        if not self.bounds:
            return "There are no generators, and nothing to bound."
        lines = [str(bound) for bound in self.bounds]
        lines.append(f"Each bound on E or P fails with probability at most {self.delta}.")
        conditions = dict.fromkeys(c for bound in self.bounds for c in bound.conditions)
        if conditions:
            lines.append("Provided that")
            lines += [f"  - {condition}" for condition in conditions]
        return "\n".join(lines)

    __repr__ = __str__


_INDEPENDENT = "the rows given are independent draws from the distribution of the new ones"
_NEW_ROWS = "new rows lie in [-1, 1]^n"
_IN_ADVANCE = (
    "tau and max_terms, where given, were chosen before the rows were seen "
    '(psi, too, if tau="auto")'
)


def _grid(value, first):
    """Return the first of first * 2^(j - 1), j = 1, 2, ..., that is not below value, and j."""
    mantissa, exponent = math.frexp(value / first)
    j = max(1, exponent if mantissa == 0.5 else exponent + 1)
    return first * 2.0 ** (j - 1), j


def _share(delta, *places):
    """Return the share of delta that points of grids have."""
    for j in places:
        delta /= j * (j + 1)
    return delta


def _samples_needed(value, slack, limit):
    """Return the smallest m with value + slack / sqrt(m) < limit, for the worst of several."""
    room = np.asarray(limit - value, dtype=float)
    if not (room > 0).all():
        return None
    return math.floor(((slack / room) ** 2).max()) + 1


def of(model, X=None, y=None, delta=0.05, rho=None):
    """Say which guarantees a fitted model has, and whether they are informative.

    For generators, of each class where there are classes:

    - "Lipschitz": how fast they may grow between rows (`lipschitz_bound`, own l1-norms);
    - "size": |G| + |O|, whatever the number of rows (`max_size`), where OAVI's parameters allow it;
    - "vanishing": their mean square on new rows (`vanishing_bound`) for the model's ``tau``, where
      the oracle respects it;
    - "vanishing, tau afterwards": the same for their largest l1-norm, rounded up to a power of 2;
    - "vanishing, by moments": the same by `moment_bound`, each with its own l1-norm.

    For a classifier also

    - "margin": its error on new rows (`margin_bound`);
    - "margin, by degree": the same, counting terms up to the model's degree, not order ideals.

    What was not fixed before the fit has its price: k, where ``max_terms`` is None; tau, where it
    is taken afterwards; the degree, in the last bounds; and the margin, or, where ``rho`` is given,
    the size of the weights. Each is rounded up on a grid 1, 2, 4, ... or 2, 4, 8, ... (degrees: 1,
    2, 3, ...), and the j-th point of a grid has delta / (j (j + 1)). The bounds hold for whatever
    polynomials and weights were chosen, by cross-validation of psi and C, too.

    Parameters
    ----------
    model : fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier or VanishingClassifierCV
        Classifiers with two classes and a linear final estimator only.
    X : array-like of shape (n_samples, n_features), default=None
        The rows that the model was fitted to, which a fitted model does not keep (or other rows of
        the same distribution), as they were given to `fit`. In [-1, 1]^n, for a classifier after
        its scaling. Without rows, generators have bounds without a value, but still with the
        number of samples needed; a classifier needs rows.
    y : array-like of shape (n_samples,), default=None
        Their labels; ignored for a single transformer.
    delta : float in (0, 1), default=0.05
        Probability with which each bound may fail; all of them hold with probability at least 1
        minus the sum.
    rho : float, default=None
        The margin, fixed in advance, in units of the decision values. None takes the best of a
        grid relative to the largest value that the decision function could have.

    Returns
    -------
    report : Report
        A sequence of `Bound`.

    Warns
    -----
    UserWarning
        If a classifier does not clip new rows to the range in which the bounds hold.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, bounds
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 10_000)
    >>> X = 0.8 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=0.001, tau=3, max_degree=2, max_terms=5).fit(X)
    >>> report = bounds.of(model, X)
    >>> print(report["vanishing, by moments"])
    vanishing, by moments: informative
      E g(x)^2 <= 0.245 for every generator g (at most 0.000972 on 10,000 rows, 6.04 anywhere; ...
    >>> bounds.of(model)["vanishing"].samples_needed
    3020
    """
    delta = _probability(delta)
    if rho is not None:
        rho = _positive("rho", rho)
    if isinstance(model, VanishingClassifierCV):
        check_is_fitted(model)
        model = model.classifier_
    if isinstance(model, VanishingClassifier):
        found = _of_classifier(model, X, y, delta, rho)
    elif isinstance(model, VanishingFeatures):
        found = _of_features(model, *_labelled(model, X, y), delta, (_NEW_ROWS,))
    elif isinstance(model, (OAVI, ABM, AVI)):
        check_is_fitted(model)
        if X is not None:
            X = validate_data(model, X, reset=False, dtype=[np.float64, np.float32])
        found = _of_generators(model, X, delta, (_NEW_ROWS,))
    else:
        raise TypeError(
            "bounds.of knows fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier and "
            f"VanishingClassifierCV; got {type(model).__name__}. For polynomials of another origin "
            "see bounds.moment_bound."
        )
    return Report(tuple(found), delta)


def _labelled(model, X, y):
    """Return rows, and labels as places in ``classes_``; None and None without rows."""
    check_is_fitted(model)
    if X is None:
        return None, None
    if y is None:
        raise ValueError("with rows X the labels y are needed, too: each class has its own rows.")
    X = validate_data(model, X, reset=False, dtype=[np.float64, np.float32])
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one label a row, shape ({len(X)},); got {y.shape}.")
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(f"y has the label {unknown[0]!r}, which the model was not fitted to.")
    return X, np.searchsorted(model.classes_, y)


# -- Generators -------------------------------------------------------------------------------


def _of_features(features, X, y, delta, conditions):
    found = []
    for label, transformer in enumerate(features.transformers_):
        if not isinstance(transformer, (OAVI, ABM, AVI)):
            raise TypeError(
                "bounds.of needs generators of OAVI, ABM or AVI; the transformers are "
                f"{type(transformer).__name__}."
            )
        name = features.classes_[label]
        rows = None if X is None else X[y == label]
        if rows is not None and not len(rows):
            raise ValueError(f"X has no rows of class {name!r}.")
        found += _of_generators(transformer, rows, delta, conditions, f"class {name}: ")
    return found


def _of_generators(model, X, delta, conditions, prefix=""):
    """Return the bounds that hold for the generators of one transformer."""
    if X is not None:
        _check_cube(X)
    if not model.n_generators_:
        return []
    n, m = model.n_features_in_, None if X is None else len(X)
    l1 = _l1_norms(model)
    mse = model.mse_ if X is None else _mean_squares(model.generators_, X)

    def vanishing(name, slack, chosen, *further, limit=l1**2):
        """Return the bound ``mse + slack / sqrt(m)``; |g| <= ||g||_1 holds anyway."""
        total = np.full(len(mse), np.nan) if m is None else mse + slack / math.sqrt(m)
        shown = f"mse + {np.max(slack):.3g} / sqrt(m)" if m is None else f"{total.max():.3g}"
        rows = "the rows of the fit" if m is None else f"{m:,} rows"
        anywhere = " to ".join(dict.fromkeys(f"{v:.3g}" for v in (limit.min(), limit.max())))
        return Bound(
            name=f"{prefix}{name}",
            value=float(total.max()),
            statement=(
                f"E g(x)^2 <= {shown} for every generator g (at most {mse.max():.3g} on {rows}, "
                f"{anywhere} anywhere; {chosen})"
            ),
            informative=bool((total < limit).all()),
            samples_needed=_samples_needed(mse, slack, limit),
            conditions=(_INDEPENDENT, *conditions, *further),
        )

    slope = float((model.leading_terms_.sum(axis=1) * l1).max())
    found = [
        Bound(
            name=f"{prefix}Lipschitz",
            value=slope,
            statement=f"|g(y)| <= |g(x)| + {slope:.3g} ||y - x||_inf for every generator g",
            informative=True,  # near enough to a row
            conditions=conditions,
        )
    ]
    if _has_max_size(model, X):
        found.append(_size(model, X, prefix))
    # With m = 1 a bound on a mean square of 0 is its slack, which falls with the root of m.
    k, place = _n_terms(model.max_terms, model.n_terms_)
    if _keeps_tau(model, l1):
        tau, share = _tau(model), _share(delta, *place)
        slack = vanishing_bound(0.0, n, k, 1, tau, share)
        chosen = f"tau = {tau:g}, k = {k}, delta = {share:.2g}"
        found.append(vanishing("vanishing", slack, chosen, _IN_ADVANCE))
    tau, j = _grid(l1.max(), 2.0)
    share = _share(delta, j, *place)
    slack = vanishing_bound(0.0, n, k, 1, tau, share)
    chosen = f"tau = {tau:g}, k = {k}, delta = {share:.2g}"
    found.append(vanishing("vanishing, tau afterwards", slack, chosen, _IN_ADVANCE))
    d = model.degree_
    share = _share(delta, d)
    slack = np.array([moment_bound(0.0, n, d, 1, norm, share) for norm in l1])
    chosen = f"||g||_1 <= {l1.max():.3g}, degree {d}, delta = {share:.2g}"
    found.append(vanishing("vanishing, by moments", slack, chosen))
    return found


def _check_cube(X):
    largest = float(np.abs(X).max())
    if largest > 1.0 + _ROUNDING:
        raise ValueError(
            f"the guarantees are for rows in [-1, 1]^n, but X has a value of size {largest:.4g}. "
            "Scale the rows before the fit, best by ranges that are known in advance."
        )


def _l1_norms(model) -> np.ndarray:
    return np.abs(model.coef_).sum(axis=1) + np.abs(model.leading_coef_)


def _mean_squares(generators, X) -> np.ndarray:
    total = np.zeros(len(generators))
    for start in range(0, len(X), 1 << 16):
        values = generators.evaluate(np.asarray(X[start : start + (1 << 16)], dtype=np.float64))
        total += np.einsum("ij,ij->j", values, values)
    return total / len(X)


def _n_terms(max_terms, n_terms):
    """Return k = |O| + 1 with its place on the grid, if it had not been fixed by max_terms."""
    if max_terms is not None:
        return max_terms + 1, ()
    k, j = _grid(n_terms + 1, 2.0)
    return int(k), (j,)


def _tau(model) -> float:
    return auto_tau(model.psi) if isinstance(model.tau, str) else float(model.tau)


def _in_ball(model) -> bool:
    """Say whether the oracle was asked to keep coefficients in the ball."""
    if not isinstance(model, OAVI) or model.psi == 0:
        return False
    return named(model.oracle).constrained


def _keeps_tau(model, l1) -> bool:
    # A callable is asked for coefficients in the ball, but not made to return such.
    return _in_ball(model) and l1.max() <= _tau(model) * (1.0 + _ROUNDING)


def _has_max_size(model, X) -> bool:
    """Say whether the conditions of `max_size` are met, as far as they can be known."""
    if not isinstance(model, OAVI) or model.border != "gb" or model.psi == 0:
        return False
    if X is not None and X.min() < -_ROUNDING:
        return False
    degree = _stopping_degree(model.psi)
    if _in_ball(model) and _tau(model) < 1.5**degree * (1.0 - _ROUNDING):
        return False
    return model.max_degree >= degree


def _size(model, X, prefix):
    n, size = model.n_features_in_, max_size(model.psi, model.n_features_in_)
    conditions = ["the oracle finds every generator that the ball holds"]
    if X is None:
        conditions.append("the rows of the fit lie in [0, 1]^n")
    return Bound(
        name=f"{prefix}size",
        value=float(size),
        statement=(
            f"|G| + |O| <= {size:,}, however many rows (here {model.n_generators_} + "
            f"{model.n_terms_}; in general (n + 1) m)"
        ),
        informative=X is not None and size < (n + 1) * len(X),
        samples_needed=size // (n + 1) + 1,
        conditions=tuple(conditions),
    )


# -- Classifiers ------------------------------------------------------------------------------


def _of_classifier(model, X, y, delta, rho):
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(
            f"the margin bound is for two classes; the classifier has {len(model.classes_)}. The "
            "bounds of its generators: bounds.of(model.features_, X, y) with scaled rows X."
        )
    if X is None:
        raise ValueError(
            "the margin bound needs rows and labels: give X and y that the classifier was fitted "
            "to. A fitted model does not keep them."
        )
    final = model.final_estimator_
    if getattr(final, "coef_", None) is None or not hasattr(final, "decision_function"):
        raise ValueError(
            "the margin bound is for a linear final estimator, with coef_ and intercept_; got "
            f"{type(final).__name__}."
        )
    rows, y = _labelled(model, X, y)
    conditions = []
    if model.scale is not False:
        conditions.append(
            "the scaling was fixed before the rows were seen (it was learned from them: give "
            "scale=False and rows scaled by known ranges to meet the theorems to the letter)"
        )
    if not model.clip:
        conditions.append(_NEW_ROWS if model.scale is False else f"{_NEW_ROWS} after scaling")
        if model.scale is not False and model.scale != "quantile":
            warnings.warn(
                "bounds.of: the guarantees are for new rows inside [-1, 1]^n after scaling; this "
                "classifier has clip=False, and rows outside the range of the training rows are "
                "not covered. With clip=True all are.",
                UserWarning,
                stacklevel=3,
            )
    scaled = model.scaling_(rows)
    found = _of_features(model.features_, scaled, y, delta, tuple(conditions))
    scores = model.decision_function(X)
    return found + _of_margin(model, scores, 2 * y - 1, delta, rho, (_INDEPENDENT, *conditions))


def _of_margin(model, scores, signs, delta, rho, conditions):
    """Return the margin bounds of a classifier with two classes.

    The decision function is a sum of weights times generators, and only the product of Lambda and
    tau counts in the bound: ``size = sum_j |w_j| ||g_j||_1 + |intercept|`` is such a product, and
    the smallest. Where the features are g(x) rather than |g(x)| the bound holds all the more.
    """
    transformers = model.features_.transformers_
    n, m = model.features_.n_features_in_, len(scores)
    l1 = np.concatenate([_l1_norms(t) for t in transformers])
    weights = np.ravel(model.final_estimator_.coef_)[: len(l1)]
    intercept = float(np.ravel(model.final_estimator_.intercept_)[0])
    size = float(np.abs(weights) @ l1) + abs(intercept) or 1.0
    k, k_place = _n_terms(transformers[0].max_terms, max(t.n_terms_ for t in transformers))
    degree = max(1, *(t.degree_ for t in transformers))
    if rho is None:
        # Divided by its size the decision function is at most 1: margins 1, 1/2, 1/4, ... of that.
        choices = [(size, size * 2.0 ** (1 - j), j) for j in range(1, _MARGINS + 1)]
    else:
        rounded, j = _grid(size, 1.0)
        choices = [(rounded, rho, j)]

    found = []
    for name, place, count, chosen, *further in (
        ("margin", k_place, {"k": k}, f"k = {k}", _IN_ADVANCE),
        ("margin, by degree", (degree,), {"k": None, "max_degree": degree}, f"degree {degree}"),
    ):
        candidates = []
        for total, margin, j in choices:
            loss, share = margin_loss(scores, signs, margin), _share(delta, j, *place)
            # Any tau will do: it is Lambda tau that counts.
            slack = margin_bound(
                0.0, n, n_samples=1, tau=2.0, weight_bound=total / 2.0, rho=margin, delta=share,
                **count,
            )  # fmt: skip
            needed = _samples_needed(loss, slack, 1.0)
            candidates.append((loss + slack / math.sqrt(m), loss, margin, total, share, needed))
        value, loss, margin, total, share, _ = min(candidates, key=lambda c: c[0])
        needed = [c[-1] for c in candidates if c[-1] is not None]
        found.append(
            Bound(
                name=name,
                value=value,
                statement=(
                    f"P(predicted label is wrong) <= {value:.3g} (margin loss {loss:.3g} at rho = "
                    f"{margin:.3g} on {m:,} rows; Lambda tau = {total:.3g}, {chosen}, delta = "
                    f"{share:.2g})"
                ),
                informative=value < 1.0,
                samples_needed=min(needed, default=None),
                conditions=(*conditions, *further),
            )
        )
    return found
