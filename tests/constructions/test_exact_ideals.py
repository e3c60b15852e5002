"""At psi = 0, and at a tiny psi, OAVI is the Buchberger-Moeller algorithm."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import as_tuples, assert_same_basis
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import buchberger_moller, evaluate, least_squares

from vanishing import OAVI


def random_integers(seed, m, n, low, high):
    """Random points with integer coordinates in low..high."""
    rng = np.random.default_rng(seed)
    return [tuple(map(int, row)) for row in rng.integers(low, high + 1, size=(m, n))]


def scaled(points, low, high):
    """The same points moved into [0, 1]."""
    width = Fraction(high) - Fraction(low)
    return [tuple((Fraction(x) - Fraction(low)) / width for x in point) for point in points]


def circle(parameters):
    """Rational points of the unit circle."""
    points = []
    for s in parameters:
        s = Fraction(s)
        points.append(((1 - s * s) / (1 + s * s), 2 * s / (1 + s * s)))
    return points


GRID = [(x, y) for x in range(4) for y in range(4)]
GRID_3D = [(x, y, z) for x in range(3) for y in range(2) for z in range(3)]
LINE = [(t, 2 * t - 3, 1 - t) for t in range(-2, 4)]
TWISTED_CUBIC = [(t, t**2, t**3) for t in range(-3, 4)]
CIRCLE = circle([0, 1, -1, 2, "1/2", "-1/3", "3/2", -3, "1/5", "-2/3", "7/2"])

CONFIGURATIONS = {
    "one point": [(2, -3)],
    "one variable": [(t,) for t in (-3, -1, 0, 2, 3)],
    "plane, integers": random_integers(0, 12, 2, -3, 3),
    "plane, in [0, 1]": scaled(random_integers(1, 15, 2, 0, 9), 0, 9),
    "plane, thirds": scaled(random_integers(2, 9, 2, 0, 3), 0, 3),
    "plane, duplicates": random_integers(3, 6, 2, -2, 2) * 3,
    "grid": GRID,
    "grid in [0, 1]": scaled(GRID, 0, 3),
    "grid with a hole": [p for p in GRID if p != (1, 2)],
    "circle": CIRCLE,
    "circle in [0, 1]": scaled(CIRCLE, -1, 1),
    "circle and its centre": [*CIRCLE, (0, 0)],
    "line": LINE,
    "line in [0, 1]": scaled(LINE, -7, 7),
    "twisted cubic": TWISTED_CUBIC,
    "twisted cubic in [0, 1]": [(t, t**2, t**3) for t in (Fraction(i, 8) for i in range(9))],
    "grid in space": GRID_3D,
    "space, integers": random_integers(4, 20, 3, -3, 3),
    "space, in [0, 1]": scaled(random_integers(5, 25, 3, 0, 7), 0, 7),
    "four variables": random_integers(6, 18, 4, -2, 2),
    "four variables, in [0, 1]": scaled(random_integers(7, 25, 4, 0, 4), 0, 4),
    "five variables": random_integers(8, 25, 5, -3, 3),
    "five variables, in [0, 1]": scaled(random_integers(9, 25, 5, 0, 5), 0, 5),
    "five variables, bits": random_integers(10, 20, 5, 0, 1),
    # The coefficients over terms of the same degree are in the thousands: an error bound on the
    # Schur complement that knows of the lower degrees only lets too many terms into O.
    "nearly dependent, 4 points": [(-4, -1), (-8, 4), (6, 9), (1, 0)],
    "nearly dependent, 5 points": [(9, 4), (-7, 0), (8, -9), (4, -6), (9, 6)],
    "nearly dependent, 7 points": [
        (-1, -3, -2, -6), (0, -6, -6, 1), (2, -3, -3, 3), (4, -6, -6, 2), (1, 4, 4, -4),
        (-4, 2, 0, -6), (1, 0, 6, 2),
    ],
    "constant and repeated columns": [(a, 2, a, b) for a, b in random_integers(11, 10, 2, 0, 3)],
}  # fmt: skip


def as_array(points):
    """The points as floats."""
    return np.array([[float(x) for x in point] for point in points])


def fit(points, **parameters):
    """OAVI on the points, with no limit on the degree that a configuration here would reach."""
    return OAVI(max_degree=30, **parameters).fit(as_array(points))


def smallest_residual(points, basis):
    """Smallest mse with which a term of O fails to be a combination of the terms before it."""
    columns = evaluate(basis.terms, as_array(points))
    return min(least_squares(columns[:, :i], columns[:, i])[1] for i in range(len(basis.terms)))


def test_configurations_are_decided_clearly():
    """No configuration asks to tell a residual below 1e-11 from zero."""
    for points in CONFIGURATIONS.values():
        assert smallest_residual(points, buchberger_moller(points)) > 1e-11


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("psi, oracle", [(0, "pcg"), (0, "ls"), (1e-12, "ls")])
def test_oavi_equals_buchberger_moller(name, border, psi, oracle):
    points = CONFIGURATIONS[name]
    model = fit(points, psi=psi, oracle=oracle, border=border)
    assert_same_basis(model, buchberger_moller(points, border), relative=1e-6)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_pcg_at_tiny_psi_finds_the_leading_terms(name, border):
    """The ball is made large enough for the exact coefficients to lie inside it."""
    points = CONFIGURATIONS[name]
    exact = buchberger_moller(points, border)
    tau = max(1000.0, 2 * (1 + np.abs(exact.coef_matrix()).sum(axis=1).max()))
    model = fit(points, psi=1e-12, oracle="pcg", border=border, tau=tau)
    assert as_tuples(model.terms_) == exact.terms
    assert as_tuples(model.leading_terms_) == exact.leading_terms
    assert np.all(model.mse_ <= 1e-12)


@pytest.mark.parametrize("oracle", ["bpcg", "cg", "afw", "agd", "omp"])
def test_psi_zero_is_exact_whatever_the_oracle(oracle):
    points = CONFIGURATIONS["space, integers"]
    assert_same_basis(fit(points, psi=0, oracle=oracle), buchberger_moller(points), relative=1e-6)


def test_number_of_terms_is_the_number_of_distinct_points():
    for points in CONFIGURATIONS.values():
        assert fit(points, psi=0).n_terms_ == len(set(points))


@st.composite
def configurations(draw):
    """Up to 12 points with small integer coordinates in up to 4 variables, sometimes in [0, 1]."""
    n = draw(st.integers(1, 4))
    size = draw(st.integers(1, 9))
    point = st.tuples(*[st.integers(-size, size)] * n)
    points = draw(st.lists(point, min_size=1, max_size=12))
    return scaled(points, -size, size) if draw(st.booleans()) else points


@settings(max_examples=60, derandomize=True)
@given(points=configurations(), border=st.sampled_from(["gb", "bb"]))
def test_random_configurations(points, border):
    exact = buchberger_moller(points, border)
    assume(smallest_residual(points, exact) > 1e-10)
    assert_same_basis(fit(points, psi=0, border=border), exact, relative=1e-6)
    model = fit(points, psi=1e-12, oracle="ls", border=border)
    assert_same_basis(model, exact, relative=1e-6)
    assert np.all(model.mse_ <= 1e-12)
