"""Distances of points from the zeros of polynomials."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
from sklearn.utils import check_array

from vanishing._types import FloatArray, Table
from vanishing.algebra.generators import Generators
from vanishing.algebra.polynomials import Polynomial


def distance_to_variety(generators: Iterable[Polynomial], X: Table) -> FloatArray:
    """Return a lower bound of the distance of rows to the common zeros of polynomials.

    By Taylor's formula a polynomial g satisfies ``|g(x + d)| >= |g(x)| - sum_h F_h(x) |d|^h``. Here
    F_h is the norm of its terms of order h at x, and F_1 that of the gradient. The smallest ``|d|``
    at which the right-hand side is zero is Taubin's distance of x to the zeros of g. It is never
    more than the true one. Near the zeros it equals ``|g| / |gradient|`` up to second order, and it
    is finite where the gradient is zero. The common zeros are at least as far away as those of any
    one of the polynomials, so the largest of their distances is returned. It underestimates where
    equations have to be balanced against each other: by up to the square root of c for c equations
    with orthogonal gradients.

    Compare the length of a Gauss-Newton step, ``|J^+ g|`` with the Jacobian J. Unlike that, this
    distance is not zero at points far from all zeros where moving does not help to first order (the
    centre of a circle). It does not explode where gradients are nearly dependent. And it makes
    sense for generators without common zeros, as those of noisy data.

    Parameters
    ----------
    generators : sequence of `vanishing.polynomials.Polynomial`
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    distance : ndarray of shape (n_samples,)
        Zero if there are no generators, infinite if one is a constant other than zero.

    See Also
    --------
    DistanceDisplay : A picture of such distances.

    References
    ----------
    G. Taubin, "Distance approximations for rasterizing implicit curves", ACM Transactions on
    Graphics 13 (1), 1994.

    Examples
    --------
    >>> from vanishing.plot import distance_to_variety
    >>> from vanishing.polynomials import Polynomial
    >>> circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    >>> distance_to_variety([circle], [[0.6, 0.8], [0.0, 1.1], [0.0, 0.0]]).round(3)
    array([0.   , 0.09 , 0.841])
    """
    X = check_array(X, dtype=np.float64)
    distance = np.zeros(len(X))
    for g in generators:
        if len(g.feature_names) != X.shape[1]:
            raise ValueError(
                f"a generator has {len(g.feature_names)} variables, but X has {X.shape[1]} columns."
            )
        np.maximum(distance, _taubin_distance(_taylor_norms(g, X)), out=distance)
    return distance


def _taylor_norms(polynomial: Polynomial, X: np.ndarray) -> np.ndarray:
    """Return |g(x)| and the norms F_h of the terms of order h of g at x: (n_samples, degree + 1).

    With ``g(x + d) = sum_a g_a(x) d^a`` that is ``F_h^2 = sum_{|a| = h} g_a(x)^2 a! / h!``, for
    which ``|sum_{|a| = h} g_a d^a| <= F_h |d|^h``.
    """
    places: dict[tuple, int] = {}
    quotients: dict[tuple, int] = {}
    entries = []
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        for order in itertools.product(*(range(e + 1) for e in term)):
            quotient = tuple(e - k for e, k in zip(term, order, strict=True))
            row = places.setdefault(order, len(places))
            column = quotients.setdefault(quotient, len(quotients))
            entries.append((row, column, value * math.prod(map(math.comb, term, order))))
    coef = np.zeros((len(places), len(quotients)))
    rows, columns, values = zip(*entries, strict=True)
    coef[rows, columns] = values  # an order and a quotient have one product: no entry comes twice
    orders = list(places)
    nothing = np.zeros(len(orders))
    # All g_a are polynomials in the quotients. Evaluated together, they need no leading terms.
    taylor = Generators(
        list(quotients), np.zeros_like(orders), coef, nothing, nothing, polynomial.feature_names
    )
    weights = [math.prod(map(math.factorial, a)) / math.factorial(sum(a)) for a in orders]
    of_order = np.sum(orders, axis=1)[:, np.newaxis] == np.arange(polynomial.degree + 1)
    return np.sqrt(taylor.evaluate(X) ** 2 * weights @ of_order)


def _taubin_distance(norms: np.ndarray) -> np.ndarray:
    """Return the positive root of ``sum_{h >= 1} F_h r^h = F_0`` for each row of norms."""
    value, norms = norms[:, 0], norms[:, 1:]
    powers = np.arange(1, norms.shape[1] + 1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # One summand alone reaches F_0 no sooner than all together: r is at most each of these.
        bound = np.where(norms > 0, (value[:, np.newaxis] / norms) ** (1 / powers), np.inf)
    r = bound.min(axis=1, initial=np.inf)
    r[value == 0] = 0.0
    moving = np.flatnonzero(np.isfinite(r) & (r > 0))
    # Newton's method from the right on an increasing convex function comes down monotonically.
    while moving.size:
        radius = r[moving, np.newaxis]
        excess = (norms[moving] * radius**powers).sum(axis=1) - value[moving]
        step = excess / (norms[moving] * powers * radius ** (powers - 1)).sum(axis=1)
        r[moving] -= np.maximum(step, 0.0)
        moving = moving[step > 1e-12 * r[moving]]
    return r
