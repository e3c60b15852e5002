"""The reference versions themselves: against SymPy, SciPy and by hand."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from scipy.optimize import minimize


def sympy_basis(points):
    """Reduced DegLex Groebner basis of the ideal of distinct points, as {term: coef} dicts.

    The ideals of distinct points are comaximal, so their product is their intersection.
    """
    sympy = pytest.importorskip("sympy")
    n = len(points[0])
    variables = sympy.symbols(f"t1:{n + 1}")
    generators = variables[::-1]
    ideal = [sympy.Integer(1)]
    for point in points:
        linear = [t - sympy.Rational(x) for t, x in zip(variables, point, strict=True)]
        products = [sympy.expand(f * g) for f in ideal for g in linear]
        ideal = list(sympy.groebner(products, *generators, order="grlex", domain="QQ").exprs)
    polynomials = []
    for f in ideal:
        terms = sympy.Poly(f, *generators).terms()
        polynomials.append({t[::-1]: Fraction(int(c.p), int(c.q)) for t, c in terms})
    return polynomials


def as_dict(basis, i):
    """The i-th generator as a {term: coefficient} dict without zeros."""
    polynomial = {basis.leading_terms[i]: Fraction(1)}
    for term, c in zip(basis.terms, basis.coef[i], strict=False):
        if c != 0:
            polynomial[term] = c
    return polynomial


CONFIGURATIONS = {
    "one point": [(2, -1)],
    "line": [(0, 1), (1, 3), (2, 5)],
    "square": [(0, 0), (0, 1), (1, 0), (1, 1)],
    "circle": [(1, 0), (0, 1), (-1, 0), ("3/5", "4/5"), ("4/5", "-3/5")],
    "general": [(0, 0), (1, 2), (3, 1), (-1, 2), (2, 2)],
    "space": [(0, 0, 0), (1, 0, 2), (0, 1, 1), (2, 1, 0), (1, 1, 1)],
    "twisted cubic": [(0, 0, 0), (1, 1, 1), (-1, 1, -1), (2, 4, 8)],
    "four variables": [(0, 1, 0, 1), (1, 0, 0, 2), (1, 1, 1, 1), (0, 0, 1, 3)],
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_buchberger_moller_equals_sympy(name):
    points = [tuple(Fraction(x) for x in point) for point in CONFIGURATIONS[name]]
    basis = reference.buchberger_moller(points)
    expected = sympy_basis(points)
    found = [as_dict(basis, i) for i in range(len(basis.leading_terms))]
    key = reference.deglex_key
    assert sorted(found, key=lambda f: key(max(f, key=key))) == sorted(
        expected, key=lambda f: key(max(f, key=key))
    )
    assert len(basis.terms) == len(set(points))


@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_buchberger_moller_vanishes_exactly(name, kind):
    points = [tuple(Fraction(x) for x in point) for point in CONFIGURATIONS[name]]
    basis = reference.buchberger_moller(points, kind)
    for i in range(len(basis.leading_terms)):
        values = [Fraction(0)] * len(points)
        for term, c in as_dict(basis, i).items():
            term_values = reference.evaluate_exactly(term, points)
            values = [v + c * t for v, t in zip(values, term_values, strict=True)]
        assert values == [0] * len(points)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_border_basis_has_the_whole_border(name):
    points = [tuple(Fraction(x) for x in point) for point in CONFIGURATIONS[name]]
    groebner = reference.buchberger_moller(points)
    basis = reference.buchberger_moller(points, "bb")
    n = len(points[0])
    multiples = {reference.times_variable(t, i) for t in basis.terms for i in range(n)}
    assert basis.terms == groebner.terms
    assert set(basis.leading_terms) == multiples - set(basis.terms)
    generators = dict(zip(basis.leading_terms, basis.coef, strict=True))
    for term, coef in zip(groebner.leading_terms, groebner.coef, strict=True):
        assert generators[term] == coef


def test_duplicate_points_change_nothing():
    points = [(0, 0), (1, 2), (3, 1)]
    once, twice = (reference.buchberger_moller(p) for p in (points, points + points[:2]))
    assert once == twice


def test_deglex_order_by_hand():
    terms = [(0, 0, 2), (1, 1, 0), (0, 1, 0), (0, 0, 0), (0, 1, 1), (2, 0, 0), (1, 0, 1)]
    terms += [(0, 2, 0), (1, 0, 0), (0, 0, 1)]
    expected = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0), (1, 1, 0), (0, 2, 0)]
    expected += [(1, 0, 1), (0, 1, 1), (0, 0, 2)]
    assert sorted(terms, key=reference.deglex_key) == expected


def test_borders_of_the_paper_s_example():
    """Section 8: O_1 all three variables, O_2 = {t_1^2}."""
    order_ideal = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0)]
    assert reference.border(order_ideal, 3, "gb") == [(3, 0, 0)]
    assert reference.border(order_ideal, 3, "bb") == [(3, 0, 0), (2, 1, 0), (2, 0, 1)]
    assert reference.border([(0, 0)], 1, "gb") == [(1, 0), (0, 1)]
    assert reference.border([(0, 0)], 2, "bb") == []


def l1_minimum(A, b, radius):
    """Minimum of ||A v + b||^2 / m on the l1-ball, by SciPy with v = p - q, p, q >= 0."""
    k = A.shape[1]
    both = np.hstack([A, -A])

    def loss(w):
        residual = both @ w + b
        return residual @ residual / len(b), 2 * both.T @ residual / len(b)

    inside = {"type": "ineq", "fun": lambda w: radius - w.sum(), "jac": lambda w: -np.ones(2 * k)}
    start = np.full(2 * k, radius / (4 * k))
    options = {"maxiter": 1000, "ftol": 1e-14}
    solution = minimize(
        loss, start, jac=True, bounds=[(0, None)] * (2 * k), constraints=[inside],
        method="SLSQP", options=options,
    )  # fmt: skip
    return solution.fun


@pytest.mark.parametrize("radius", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_pcg_finds_exactly_what_the_ball_allows(seed, radius):
    """With psi a hair above the minimum PCG gets there, a hair below it proves why not."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(30, 4)), rng.normal(size=30)
    minimum = l1_minimum(A, b, radius)
    exact = {"radius": radius, "eps": 0, "tol": 0}
    v, value, status, _ = reference.pcg(A, b, psi=minimum * (1 + 1e-6), **exact)
    assert status == "found"
    assert minimum * (1 - 1e-9) <= value <= minimum * (1 + 1e-6)
    assert value == pytest.approx(np.sum((A @ v + b) ** 2) / 30, rel=1e-12)
    assert np.abs(v).sum() <= radius * (1 + 1e-12)
    assert reference.pcg(A, b, psi=minimum * (1 - 1e-6), **exact)[2] == "none"


@pytest.mark.parametrize("seed", range(4))
def test_pcg_stopping_rules(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.uniform(size=(30, 5)), rng.uniform(size=30)
    minimum = reference.least_squares(A, b)[1]
    _, value, status, steps = reference.pcg(A, b, psi=1.05 * minimum, radius=999.0)
    assert status == "found"
    assert minimum <= value <= 1.05 * minimum
    starved = reference.pcg(A, b, psi=1.05 * minimum, radius=999.0, max_iter=steps - 1)
    assert starved[2:] == ("exhausted", steps - 1)
    assert reference.pcg(A, b, psi=0.95 * minimum, radius=999.0, tol=0.1)[2] == "stalled"
    assert reference.pcg(A, b, psi=0.5 * minimum, radius=20.0)[2] == "none"
    loose = reference.pcg(A, b, psi=0.999 * minimum, radius=20.0, eps=0.5)
    assert loose[2] == "accurate"
    assert minimum <= loose[1] <= 1.5 * minimum


def test_oavi_finds_the_circle():
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    basis = reference.oavi(X, 1e-8, oracle="ls", max_degree=2)
    assert basis.leading_terms == [(0, 2)]
    assert basis.terms == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)]
    np.testing.assert_allclose(basis.coef[0], [-1, 0, 0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("kind", ["gb", "bb"])
def test_oavi_with_least_squares_is_buchberger_moller_at_tiny_psi(kind):
    points = CONFIGURATIONS["general"]
    exact = reference.buchberger_moller(points, kind)
    basis = reference.oavi(np.array(points, dtype=float), 1e-12, oracle="ls", kind=kind)
    assert basis.terms == exact.terms
    assert basis.leading_terms == exact.leading_terms
    np.testing.assert_allclose(basis.coef_matrix(), exact.coef_matrix(), atol=1e-9)
