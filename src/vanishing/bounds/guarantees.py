"""What the paper's lemmas and theorems of section 6 guarantee, and a sharper bound by moments."""

import math

import numpy as np

from vanishing._types import Vector
from vanishing.bounds.arguments import positive, probability, whole
from vanishing.bounds.counting import log_order_ideals, log_terms
from vanishing.checks import check_number


def lipschitz_bound(value: float, degree: int, tau: float, distance: float) -> float:
    """Bound a generator at one point by its value at another (Lemma 6.1).

    ``|g(y)| <= |g(x)| + d tau ||y - x||_inf`` for any x and y in [-1, 1]^n and any polynomial g of
    degree d with coefficients of l1-norm at most tau. The reason: the l1-norm of its gradient is at
    most d tau there. No chance is involved, so that tau may be the generator's own l1-norm.

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

    See Also
    --------
    of : All bounds that hold for a fitted model.

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.lipschitz_bound(value=0.0, degree=2, tau=3.0, distance=0.01)
    0.06
    """
    degree, tau = whole("degree", degree, 0), positive("tau", tau, low=2)
    value, distance = np.asarray(value, dtype=float), np.asarray(distance, dtype=float)
    if not np.isfinite(value).all():
        raise ValueError("value must be finite.")
    if not (distance >= 0).all():
        raise ValueError("distance must not be negative.")
    bound = np.abs(value) + degree * tau * distance
    return bound if bound.ndim else float(bound)


def _complexity(n_features, k, n_samples, max_degree):
    """Return sqrt(2 log(2 N) / m) for a class that has N terms to choose from."""
    m = whole("n_samples", n_samples, 1)
    if max_degree is None:
        k = whole("k", k, 1)
        log_count = math.log(k) + log_order_ideals(n_features, k)
    else:
        log_count = log_terms(n_features, max_degree)
    return math.sqrt(2.0 * (math.log(2.0) + log_count) / m)


def rademacher_generators(
    n_features: int, k: int, n_samples: int, tau: float, *, max_degree: int | None = None
) -> float:
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

    See Also
    --------
    rademacher_pipeline : The complexity of decision functions.
    vanishing_bound : The mean square of generators on new rows.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.rademacher_generators(2, 6, 10_000, 3.0), 4)
    0.1543
    >>> round(bounds.rademacher_generators(2, None, 10_000, 3.0, max_degree=2), 4)
    0.0669
    """
    tau = positive("tau", tau)
    return tau * _complexity(n_features, k, n_samples, max_degree)


def rademacher_pipeline(
    n_features: int,
    k: int,
    n_samples: int,
    tau: float,
    weight_bound: float,
    *,
    max_degree: int | None = None,
) -> float:
    """Bound the empirical Rademacher complexity of the pipeline's decision functions (Lemma 6.6).

    ``2 Lambda tau sqrt(2 log(2 k n^k k!) / m)`` for sums of absolute values of polynomials as in
    `rademacher_generators`, with weights of l1-norm at most Lambda. A constant is such a
    polynomial, so that an intercept counts as a weight.

    Parameters
    ----------
    n_features, k, n_samples : int
        As in `rademacher_generators`.
    tau : float >= 2
        Bound on the l1-norm of each generator's coefficients.
    weight_bound : float > 0
        Lambda, the bound on the l1-norm of the weights, the intercept included.
    max_degree : int, default=None
        As in `rademacher_generators`.

    Returns
    -------
    complexity : float

    See Also
    --------
    rademacher_generators : The complexity of generators.
    margin_bound : The error of the classifier on new rows.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.rademacher_pipeline(2, 6, 10_000, 3.0, weight_bound=2.0), 4)
    0.6171
    """
    tau = positive("tau", tau, low=2)
    weight_bound = positive("weight_bound", weight_bound)
    return 2.0 * weight_bound * tau * _complexity(n_features, k, n_samples, max_degree)


def vanishing_bound(
    mse: float,
    n_features: int,
    k: int,
    n_samples: int,
    tau: float,
    delta: float,
    *,
    max_degree: int | None = None,
) -> float:
    """Bound the expected mean square of generators on new rows (Theorem 6.3).

    ``mse + 4 tau^2 sqrt(2 log(2 k n^k k!) / m) + 12 tau^2 sqrt(log(2 / delta) / (2 m))``. With
    probability at least 1 - delta over m independent rows in [-1, 1]^n it holds at once for all
    polynomials of `rademacher_generators`, however chosen. tau and k are fixed in advance.

    The paper's proof calls (y, y') -> (y - y')^2 a 2 tau-Lipschitz loss on [-tau, tau]^2, where it
    is 4 tau-Lipschitz, and bounds it by 4 tau^2. Only y' = 0 is needed: there 2 tau is right, and
    with tau^2 for 4 tau^2 the last factor could be 3 rather than 12. See `moment_bound` for a
    sharper bound.

    Parameters
    ----------
    mse : float
        Mean square of the generator on the rows.
    n_features, k, n_samples : int
        As in `rademacher_generators`.
    tau : float >= 2
        Bound on the l1-norm of the coefficients.
    delta : float in (0, 1)
        Probability with which the bound may fail.
    max_degree : int, default=None
        As in `rademacher_generators`.

    Returns
    -------
    bound : float

    See Also
    --------
    moment_bound : The same by moments, for any polynomials.
    of : All bounds that hold for a fitted model.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.vanishing_bound(0.001, 2, 6, 1_000_000, 3.0, delta=0.05), 4)
    0.3328
    """
    check_number("mse", mse, low=0)
    tau, delta = positive("tau", tau, low=2), probability(delta)
    complexity = _complexity(n_features, k, n_samples, max_degree)
    confidence = math.sqrt(math.log(2.0 / delta) / (2.0 * n_samples))
    return float(mse) + 4.0 * tau**2 * complexity + 12.0 * tau**2 * confidence


def moment_bound(
    mse: float, n_features: int, degree: int, n_samples: int, l1_norm: float, delta: float
) -> float:
    """Bound the expected mean square of any polynomials on new rows, by their l1-norms.

    ``mse + l1_norm^2 sqrt(2 log(2 C(n + 2d, 2d) / delta) / m)``: not in the paper, and smaller than
    its bound. The mean square of ``g = sum_i c_i t_i`` is ``sum_ij c_i c_j mean(t_i t_j)``. So its
    mean and its expectation differ by at most ||c||_1^2 times the largest error of a moment. There
    are fewer than C(n + 2d, 2d) moments of degree 2d or less, each the mean of m values in [-1, 1].
    Hoeffding's inequality bounds all their errors at once.

    With probability at least 1 - delta it holds for all polynomials of degree at most d, each with
    its own l1-norm. tau and k need not be fixed in advance, or at all. The polynomials may come
    from any algorithm. The degree is fixed in advance.

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

    See Also
    --------
    vanishing_bound : The paper's bound.
    of : All bounds that hold for a fitted model.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.moment_bound(0.001, 2, 2, 1_000_000, 3.0, delta=0.05), 4)
    0.0332
    """
    check_number("mse", mse, low=0)
    l1_norm, delta = positive("l1_norm", l1_norm), probability(delta)
    m, degree = whole("n_samples", n_samples, 1), whole("degree", degree, 1)
    log_moments = math.log(2.0 / delta) + log_terms(n_features, 2 * degree)
    return float(mse) + l1_norm**2 * math.sqrt(2.0 * log_moments / m)


def margin_loss(scores: Vector, y: Vector, rho: float) -> float:
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

    See Also
    --------
    margin_bound : The error of the classifier on new rows.

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.margin_loss([2.0, 0.5, -1.0], [1, 1, 1], rho=1.0)
    0.5
    """
    rho = positive("rho", rho)
    scores, y = np.asarray(scores, dtype=float), np.asarray(y)
    if scores.ndim != 1 or scores.shape != y.shape or not scores.size:
        raise ValueError(
            f"scores and y must have one entry per row; got shapes {scores.shape} and {y.shape}."
        )
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("y must be -1 or +1 on every row.")
    return float(np.clip(1.0 - y * scores / rho, 0.0, 1.0).mean())


def margin_bound(
    margin_loss: float,
    n_features: int,
    k: int,
    n_samples: int,
    tau: float,
    weight_bound: float,
    rho: float,
    delta: float,
    *,
    max_degree: int | None = None,
) -> float:
    """Bound the error of the pipeline with two classes on new rows (Theorem 6.7).

    ``margin_loss + (4 Lambda tau / rho) sqrt(2 log(2 k n^k k!) / m) + 3 sqrt(log(2/delta) / (2m))``
    With probability at least 1 - delta over m independent rows in [-1, 1]^n with their labels it
    holds at once for all decision functions of `rademacher_pipeline`. tau, k, Lambda and rho are
    fixed in advance. Only Lambda tau / rho matters: dividing all weights by a number and the margin
    by the same changes nothing.

    Parameters
    ----------
    margin_loss : float in [0, 1]
        Empirical margin loss; see `margin_loss`.
    n_features, k, n_samples : int
        As in `rademacher_generators`; the rows are those of both classes together.
    tau : float >= 2
        Bound on the l1-norm of each generator's coefficients.
    weight_bound : float > 0
        Lambda, the bound on the l1-norm of the weights, the intercept included.
    rho : float > 0
        The margin, in units of the decision values.
    delta : float in (0, 1)
        Probability with which the bound may fail.
    max_degree : int, default=None
        As in `rademacher_generators`.

    Returns
    -------
    bound : float

    See Also
    --------
    margin_loss : The loss on the rows that the bound is made of.
    of : All bounds that hold for a fitted model.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.margin_bound(0.05, 2, 6, 1_000_000, 3.0, 4.0, rho=1.0, delta=0.05), 4)
    0.3009
    """
    check_number("margin_loss", margin_loss, low=0, high=1)
    rho, delta = positive("rho", rho), probability(delta)
    complexity = rademacher_pipeline(
        n_features, k, n_samples, tau, weight_bound, max_degree=max_degree
    )
    confidence = math.sqrt(math.log(2.0 / delta) / (2.0 * n_samples))
    return float(margin_loss) + 2.0 / rho * complexity + 3.0 * confidence
