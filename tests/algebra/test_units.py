from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanishing.algebra.units import readable
from vanishing.polynomials import Polynomial, parse_equation
from vanishing.units import digits_in_original_units, equation, in_original_units

number = st.floats(-4, 4, allow_nan=False).map(lambda value: round(value, 3))


def exactly(polynomial, row):
    total = Fraction(0)
    for term, value in zip(polynomial.terms.tolist(), polynomial.coef.tolist(), strict=True):
        part = Fraction(value)
        for x, e in zip(row, term, strict=True):
            part *= x**e
        total += part
    return total


@st.composite
def polynomials(draw):
    terms = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=6, unique=True))
    terms = sorted(terms, key=lambda term: (sum(term), term[::-1]))
    coef = draw(st.lists(number, min_size=len(terms), max_size=len(terms)))
    return Polynomial(terms, [*coef[:-1], 1.0], mse=0.5, feature_names=["a", "b", "c"])


@given(polynomials(), st.tuples(*[number] * 3), st.tuples(*[number] * 3), st.tuples(*[number] * 3))
def test_it_is_the_same_function_of_the_rows(polynomial, scale, offset, row):
    original = in_original_units(polynomial, scale, offset)
    row = [Fraction(x) for x in row]
    scaled = [x * Fraction(s) + Fraction(o) for x, s, o in zip(row, scale, offset, strict=True)]
    size = sum(
        abs(Fraction(c)) * np.prod([abs(x) ** e for x, e in zip(row, term, strict=True)])
        for c, term in zip(original.coef.tolist(), original.terms.tolist(), strict=True)
    )
    # Each coefficient is rounded once.
    difference = abs(exactly(original, row) - exactly(polynomial, scaled))
    assert difference <= Fraction(2) ** -52 * size + Fraction(1, 10**200)
    assert original.feature_names == polynomial.feature_names
    assert original.mse == polynomial.mse
    assert original.leading_term.tolist() == polynomial.leading_term.tolist()


def test_terms_that_cancel_are_gone():
    polynomial = Polynomial([[0], [1], [2]], [1.0, 2.0, 1.0])  # (x + 1)^2
    original = in_original_units(polynomial, [2.0], [-1.0])
    assert original.terms.tolist() == [[2]]
    assert original.coef.tolist() == [4.0]


def test_coefficients_are_exact_where_floats_would_cancel():
    year = Polynomial([[4]], [1.0])
    original = in_original_units(year, [0.125], [-250.0])
    assert original.coef.tolist() == [
        250.0**4,
        -4 * 250.0**3 / 8,
        6 * 250.0**2 / 64,
        -250 / 128,
        2**-12,
    ]


def test_one_scale_a_column():
    with pytest.raises(ValueError, match="1 variables, but there are 2 scales and 1 offsets"):
        in_original_units(Polynomial([[1]], [1.0]), [1.0, 2.0], [0.0])


def test_digits_suffice_for_a_narrow_column_far_from_zero():
    scaled = Polynomial([[0], [1], [2]], [0.25, -1.0, 1.0], feature_names=["year"])
    scale, offset = [0.1], [-200.0]  # 2000 to 2010
    original = in_original_units(scaled, scale, offset)
    digits = digits_in_original_units(scaled, original, scale, offset)
    coef = [float(f"{value:.{digits}g}") for value in original.coef]
    rows = np.linspace(2000, 2010, 11)[:, np.newaxis]
    rounded = Polynomial(original.terms, coef)
    np.testing.assert_allclose(rounded(rows), scaled(rows * 0.1 - 200.0), atol=1e-3)
    assert 8 <= digits <= 12
    assert equation(original, digits) == "year^2 = 4010*year - 4020025"


def test_four_digits_where_columns_are_of_size_one():
    scaled = Polynomial([[0], [1]], [-1 / 3, 1.0])
    assert digits_in_original_units(scaled, scaled, [1.0], [0.0]) == 4
    assert equation(scaled) == "x0 = 0.3333"


def rounded(mse, seed, fewer=0):
    """Return how far the written equation is off, and its root mean square, in original units."""
    rng = np.random.default_rng(seed)
    terms = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]])
    scaled = Polynomial(terms, [*rng.normal(size=4), 1.0], mse=mse)
    scale, offset = 10.0 ** rng.uniform(-3, 3, 2), rng.uniform(-20, 20, 2)
    shown = readable(scaled, (scale, offset))
    digits = np.maximum(1, np.asarray(shown.digits) - fewer) * (shown.digits > 0)
    rows = (rng.uniform(size=(200, 2)) - offset) / scale
    exact = shown.polynomial(rows) / shown.polynomial.leading_coef
    written = parse_equation(shown._replace(digits=digits).write(), ["x0", "x1"])(rows)
    # Six digits of the largest leading term are the end.
    largest = (np.abs(np.array([0.0, 1.0]) - offset[1]) / scale[1]).max() ** 2
    return np.abs(written - exact).max(), shown.error, largest


@pytest.mark.parametrize("mse", [1e-12, 1e-4, 0.09])
@given(seed=st.integers(0, 10_000))
def test_digits_that_matter_keep_an_equation_within_a_tenth_of_its_error(mse, seed):
    off, error, largest = rounded(mse, seed)
    assert off <= 1.01 * max(0.1 * error, 2e-6 * largest)


def test_digits_that_matter_are_not_too_many():
    """With two fewer, most equations would be off by more than that tenth."""
    ratios = [np.divide(*rounded(0.09, seed, fewer=2)[:2]) for seed in range(50)]
    assert np.median(ratios) > 0.1


def test_zeros_that_matter_are_written_and_others_are_not():
    circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0], feature_names=["x", "y"])
    scale, offset = [0.5, 0.5], [0.0, 0.0]

    def written(mse):
        there = Polynomial(circle.terms, circle.coef, mse=mse, feature_names=["x", "y"])
        return readable(there, (scale, offset)).write()

    assert written(0.0) == "y^2 = 4 - x^2"
    assert written(1e-4) == "y^2 = 4.000 - x^2"
    assert written(0.09) == "y^2 = 4.0 - x^2"


def test_terms_that_do_not_matter_are_left_out():
    line = Polynomial([[0, 0], [1, 0], [0, 1]], [-0.5, 1e-4, 1.0], mse=0.01)
    scale, offset = [0.5, 0.5], [0.0, 0.0]
    assert readable(line, (scale, offset)).write() == "x1 = 1.00"
    line = Polynomial(line.terms, line.coef, mse=1e-8)
    assert readable(line, (scale, offset)).write() == "x1 = 1.00000 - 0.00010*x0"


def test_equations_in_columns_that_were_not_scaled_have_four_digits():
    line = Polynomial([[0], [1]], [-12345.678, 1.0], mse=100.0)
    assert readable(line, ([1.0], [0.0])).write() == "x0 = 1.235e+04"
    assert readable(line, None).original is False
    long = Polynomial(np.eye(9, dtype=int) * 40, np.ones(9))
    assert readable(long, (np.full(9, 2.0), np.ones(9))).original is False
