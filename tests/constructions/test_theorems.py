"""The paper's theorems on drawn data: few examples by default, many with VANISHING_FULL=1.

What other files state already is not repeated: bounds on |O| and |G|, order ideals of O and
maximality for OAVI in test_oavi_properties, the size bound there and in test_bounds.
"""

import os
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from helpers import BALL_ORACLES, as_tuples
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import deglex_key, divides, evaluate, evaluate_exactly, least_squares

from vanishing import ABM, AVI, OAVI, BuchbergerMoller, bounds
from vanishing.oracles import ORACLES, Status

FULL = os.environ.get("VANISHING_FULL") == "1"


def examples(few):
    """Settings of a property: the same examples in every run."""
    return settings(max_examples=20 * few if FULL else few, derandomize=True)


def fit(model, X):
    """The fitted model; that nothing vanishes is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


@st.composite
def rows(draw, largest=4):
    """Rows of [-1, 1]^n: uniform, near a surface, or few distinct ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(1, 40)), draw(st.integers(1, largest))
    X = rng.uniform(-1, 1, size=(m, n))
    kind = draw(st.sampled_from(["uniform", "surface", "repeated"]))
    if kind == "surface":
        X[:, -1] = X[:, 0] ** 2 - 0.5 + rng.normal(scale=0.05, size=m)
    elif kind == "repeated":
        X = X[rng.integers(max(1, m // 4), size=m)]
    return np.clip(X, -1, 1)


psis = st.sampled_from([0.2, 0.05, 0.01, 0.002])


# --------------------------------------------------------------------------------- certificates


@examples(20)
@given(X=rows(), psi=psis, oracle=st.sampled_from(sorted(ORACLES)))
def test_certificate(X, psi, oracle):
    """A term leads a generator if and only if least squares over the terms before it reaches psi.

    The ball does not bind: what is outside of it is outside of the theorem.
    """
    model = fit(OAVI(psi, oracle=oracle, tau=1e9, max_iter=200, max_degree=4), X)
    columns = evaluate(model.terms_, X)
    keys = [deglex_key(term) for term in as_tuples(model.terms_)]
    handled = [(term, False) for term in as_tuples(model.terms_)[1:]]
    handled += [(term, True) for term in as_tuples(model.leading_terms_)]
    for term, leads in handled:
        before = sum(key < deglex_key(term) for key in keys)
        smallest = least_squares(columns[:, :before], evaluate([term], X)[:, 0])[1]
        if abs(smallest - psi) > 1e-10:
            assert leads == (smallest < psi)


@st.composite
def problems(draw):
    """Moments of a problem CCOP, with dependent columns in some, and a radius."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, k = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    A = np.column_stack([np.ones(m), rng.uniform(-1, 1, size=(m, k - 1))])
    if k > 2 and draw(st.booleans()):
        A[:, -1] = A[:, 1]
    b = rng.uniform(-1, 1, size=m)
    radius = draw(st.sampled_from([0.3, 1.0, 4.0]))
    return A.T @ A / m, A.T @ b / m, b @ b / m, radius


def minimum_on_the_ball(gram, cross, norm, radius):
    """SLSQP on the parts v = p - q with p, q >= 0 and sum(p) + sum(q) <= radius."""
    k = len(cross)

    def value(pq):
        v = pq[:k] - pq[k:]
        return v @ gram @ v + 2 * cross @ v + norm

    def slope(pq):
        half = 2 * (gram @ (pq[:k] - pq[k:]) + cross)
        return np.concatenate([half, -half])

    found = scipy.optimize.minimize(
        value,
        np.zeros(2 * k),
        jac=slope,
        method="SLSQP",
        bounds=[(0, None)] * (2 * k),
        constraints={
            "type": "ineq",
            "fun": lambda pq: radius - pq.sum(),
            "jac": lambda pq: -np.ones(2 * k),
        },
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.fun


@pytest.mark.parametrize("oracle", ["pcg", "bpcg", "afw", "cg"])
@examples(15)
@given(problem=problems())
def test_oracles_against_a_general_solver(oracle, problem):
    """The minimum lies between mse - gap and mse; a psi on either side of it is told apart."""
    gram, cross, norm, radius = problem
    expected = minimum_on_the_ball(*problem)
    rounding = 1e-9 * (1 + norm)
    options = {"radius": radius, "eps": 0.0, "tol": 0.0, "max_iter": 20_000}
    for share, status in ((0.9, Status.NONE_EXISTS), (1.1, Status.FOUND)):
        found = ORACLES[oracle](gram, cross, norm, psi=share * expected, **options)
        assert np.abs(found.coef).sum() <= radius * (1 + 1e-12)
        assert found.mse - found.gap - rounding <= expected <= found.mse + rounding
        if expected > 1e-3:
            assert found.status == status


# --------------------------------------------------------------------------- the generating set


def multiplied(polynomial, term):
    """A polynomial, {term: coefficient}, times a term."""
    return {tuple(map(sum, zip(t, term, strict=True))): c for t, c in polynomial.items()}


def reduced(polynomial, generators):
    """The remainder of a polynomial: multiples of generators subtracted while a lead divides.

    ``generators`` maps leading terms to the other terms and their coefficients, relative to 1.
    """
    rest, remainder = dict(polynomial), {}
    while rest:
        term = max(rest, key=deglex_key)
        value = rest.pop(term)
        lead = next((lead for lead in generators if divides(lead, term)), None)
        if lead is None:
            remainder[term] = value
            continue
        factor = tuple(a - b for a, b in zip(term, lead, strict=True))
        for t, c in multiplied(generators[lead], factor).items():
            rest[t] = rest.get(t, 0) - value * c
    return {term: value for term, value in remainder.items() if value}


def as_generators(model):
    """The generators of a fitted model as `reduced` takes them."""
    terms = as_tuples(model.terms_)
    return {
        lead: {t: c for t, c in zip(terms, row, strict=True) if c}
        for lead, row in zip(as_tuples(model.leading_terms_), model.coef_, strict=True)
    }


@st.composite
def points_and_polynomial(draw):
    """Integer points, and a polynomial with small integer coefficients."""
    n = draw(st.integers(1, 3))
    point = st.tuples(*[st.integers(-2, 2)] * n)
    points = draw(st.lists(point, min_size=1, max_size=7, unique=True))
    term = st.tuples(*[st.integers(0, 4)] * n)
    polynomial = draw(st.dictionaries(term, st.integers(-3, 3), min_size=1, max_size=5))
    return points, polynomial


def value_at(polynomial, points):
    """Exact values of a polynomial."""
    total = [Fraction(0)] * len(points)
    for term, c in polynomial.items():
        values = evaluate_exactly(term, points)
        total = [a + Fraction(c) * b for a, b in zip(total, values, strict=True)]
    return total


@pytest.mark.parametrize("border", ["gb", "bb"])
@examples(30)
@given(drawn=points_and_polynomial())
def test_generating_set_exactly(border, drawn):
    """Every polynomial f is g + h with g in <G> and h in span(O), where h = f on the points.

    And h has no higher degree than f; polynomials of the vanishing ideal have h = 0.
    """
    points, polynomial = drawn
    model = BuchbergerMoller(border=border).fit(points)
    generators = as_generators(model)
    polynomial = {term: Fraction(c) for term, c in polynomial.items() if c}
    remainder = reduced(polynomial, generators)
    assert set(remainder) <= set(as_tuples(model.terms_))
    assert max(map(sum, remainder), default=0) <= max(map(sum, polynomial), default=0)
    assert value_at(remainder, points) == value_at(polynomial, points)

    vanishing = polynomial  # times (x0 - p0) for all points p: zero on all of them
    for point in points:
        shifted = multiplied(vanishing, (1, *[0] * (len(point) - 1)))
        for term, c in vanishing.items():
            shifted[term] = shifted.get(term, 0) - c * point[0]
        vanishing = shifted
    assert reduced(vanishing, generators) == {}


@examples(20)
@given(drawn=points_and_polynomial(), oracle=st.sampled_from(["ls", "pcg"]))
def test_generating_set_in_floating_point(drawn, oracle):
    """OAVI at psi = 0: the remainder is the combination of O that interpolates f on the points."""
    points, polynomial = drawn
    X = np.array(points) / 2
    model = fit(OAVI(0, oracle=oracle), X)
    assert model.n_terms_ == len(points)
    remainder = reduced({term: float(c) for term, c in polynomial.items()}, as_generators(model))
    terms = as_tuples(model.terms_)
    assert set(remainder) <= set(terms)
    values = evaluate(list(polynomial), X) @ list(polynomial.values())
    expected = np.linalg.solve(evaluate(terms, X), values)
    found = np.array([remainder.get(term, 0.0) for term in terms])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


# ------------------------------------------------------------------------------------- relatives


@pytest.mark.parametrize("border", ["gb", "bb"])
@examples(20)
@given(X=rows(3), psi=psis)
def test_maximality_of_abm(border, X, psi):
    """ABM: no unit vector of coefficients over O has mean square at most psi, so |O| <= m."""
    model = fit(ABM(psi, border=border, max_degree=4), X)
    columns = evaluate(model.terms_, X)
    smallest = np.linalg.eigvalsh(columns.T @ columns / len(X))[0]
    assert smallest > psi * (1 - 1e-9)
    assert model.n_terms_ <= len(X)
    assert model.n_generators_ <= X.shape[1] * model.n_terms_


@pytest.mark.parametrize("algorithm", [ABM, AVI])
@examples(20)
@given(X=rows(3), psi=psis)
def test_order_ideals_of_the_relatives(algorithm, X, psi):
    """GB border: O is an order ideal, and with the leading terms it is one, too."""
    model = fit(algorithm(psi, border="gb", max_degree=4), X)
    terms, leading = as_tuples(model.terms_), as_tuples(model.leading_terms_)
    for term in terms + leading:
        for i in np.flatnonzero(term):
            divisor = tuple(e - (j == i) for j, e in enumerate(term))
            assert divisor in terms
    mse = np.mean(model.transform(X) ** 2, axis=0)
    assert np.all(mse <= psi * (1 + 1e-9))


# --------------------------------------------------------------------------------- off the rows


@examples(25)
@given(
    X=rows(3),
    psi=psis,
    oracle=st.sampled_from(BALL_ORACLES),
    tau=st.sampled_from([2.0, 3.0, 10.0]),
    seed=st.integers(0, 1000),
)
def test_generators_stay_small_near_the_rows(X, psi, oracle, tau, seed):
    """The Lipschitz lemma: |g(y)| <= |g(x)| + d tau ||y - x|| for y in [-1, 1]^n and rows x."""
    model = fit(OAVI(psi, oracle=oracle, tau=tau, max_iter=500, max_degree=3), X)
    Y = np.random.default_rng(seed).uniform(-1, 1, size=(20, X.shape[1]))
    distance = np.abs(Y[:, np.newaxis] - X).max(axis=2)
    for g in model.generators_:
        at_rows, elsewhere = np.abs(g(X)), np.abs(g(Y))
        limits = at_rows + g.degree * tau * distance
        assert np.all(elsewhere[:, np.newaxis] <= limits + 1e-12)
        assert limits[0, 0] == pytest.approx(
            bounds.lipschitz_bound(at_rows[0], g.degree, tau, distance[0, 0])
        )
