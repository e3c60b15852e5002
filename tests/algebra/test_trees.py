"""One tree of terms and functions: read, written, evaluated, differentiated and solved."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vanishing.algebra.equations import read_equation
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Number,
    Power,
    Product,
    Sum,
    columns_of,
    evaluate,
    of_term,
    power,
    product,
    total,
)
from vanishing.algebra.formulas import Formula
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.parsing import parse_polynomial
from vanishing.algebra.solving import solved
from vanishing.algebra.syntax import TextReader
from vanishing.algebra.terms import Evaluator, Factor, Term, derivative
from vanishing.algebra.writing import PlainText

NAMES = ["a", "length [cm]", "y"]
ROWS = np.random.default_rng(0).uniform(0.3, 0.9, (3, 20))
numbers = st.sampled_from([0.5, 1.0, 2.0, -1.0, -3.0, 0.125])
places = st.integers(0, 2)
applied = st.sampled_from(
    [f for name, f in FUNCTIONS.items() if name not in ("sqrt", "reciprocal")]
)


def apply(function, node):
    return Apply(function.name, function.value, node)


def larger(nodes):
    exponents = st.sampled_from([-2.0, -1.0, 0.5, 1.5, 2.0, 3.0])
    return (
        st.builds(product, nodes, nodes)
        | st.builds(lambda *parts: total(parts), nodes, nodes, nodes)
        | st.builds(power, nodes, exponents)
        | st.builds(apply, applied, nodes)
    )


trees = st.recursive(st.builds(Column, places) | st.builds(Number, numbers), larger, max_leaves=8)


@st.composite
def terms(draw):
    """Terms with functions, in three columns."""
    exponents = st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.5])] * 3)
    functions = st.sampled_from(list(FUNCTIONS.values()))
    factors = draw(
        st.lists(
            st.builds(
                *(Factor, functions, st.sampled_from([1.0, 0.5])),
                *(exponents, st.integers(1, 2), st.none()),
            ),
            max_size=2,
        )
    )
    return Term(draw(exponents), tuple(factors))


def rebuilt(node):
    """Return the normal form of a tree."""
    match node:
        case Product(parts=parts):
            return product(*map(rebuilt, parts))
        case Sum(parts=parts):
            return total([*map(rebuilt, parts)])
        case Power(base=base, exponent=exponent):
            return power(rebuilt(base), exponent)
        case Apply(name="sqrt", argument=argument):
            return power(rebuilt(argument), 0.5)
        case Apply(name=name, function=function, argument=argument):
            return Apply(name, function, rebuilt(argument))
    return node


def values(node):
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(node, ROWS), 20)


@given(trees)
def test_what_is_written_is_read(tree):
    assume(np.isfinite(values(tree)).all() and np.abs(values(tree)).max() < 1e6)
    text = PlainText(NAMES).write(tree)
    (read,) = TextReader(text, NAMES).sides(1)
    # Numbers are written with six digits, which functions of large numbers make worse.
    np.testing.assert_allclose(values(read), values(tree), rtol=1e-3, atol=1e-3)
    again = PlainText(NAMES).write(rebuilt(read))
    (twice,) = TextReader(again, NAMES).sides(1)
    assert PlainText(NAMES).write(rebuilt(twice)) == again
    assert columns_of(read) <= columns_of(tree)


@given(terms())
def test_a_term_is_its_tree(term):
    with np.errstate(all="ignore"):
        expected = Evaluator(ROWS).value(term)
    np.testing.assert_allclose(values(of_term(term)), expected, rtol=1e-12)


@given(terms(), places)
def test_derivatives_agree_with_differences(term, column):
    step = 1e-6 * np.eye(3)[column][:, np.newaxis]
    with np.errstate(all="ignore"):
        above, below = (Evaluator(ROWS + s * step).value(term) for s in (1.0, -1.0))
        slope = Evaluator(ROWS).derivative(term, column)
    usual = np.isfinite(above - below) & (np.abs(above) < 1e3) & (np.abs(slope) < 1e3)
    difference = (above - below)[usual] / 2e-6
    np.testing.assert_allclose(slope[usual], difference, rtol=1e-4, atol=1e-4)
    if not term.involves(column):
        assert derivative(term, column) == []


@given(
    terms(),
    st.sampled_from([1.0, 2.0, -1.0, 3.0, 5.0, 0.5, *FUNCTIONS.values()]),
    st.sampled_from([1, -1]),
)
def test_a_solution_solves_the_equation(other, of_y, branch):
    """The equation is first - 2 c + other/2 = 0 in columns a, b, y, c, solved for y."""
    coef = np.array([1.0, -2.0, 0.5])
    other = Term((*other.exponents[:2], 0.0, 0.0))
    if isinstance(of_y, float):
        first = Term((0.0, 1.0, of_y, 0.0))
    else:
        first = Term((1.0, 0.0, 0.0, 0.0), (Factor(of_y, 0.5, (0.0, 1.0, 1.0, 0.0)),))
    equation = [first, Term((0.0, 0.0, 0.0, 1.0)), other]
    rows = np.vstack([ROWS, np.zeros(20)])
    rows[3] = coef @ Evaluator(rows).values(equation) / 2.0
    rows[2] = evaluate(solved(equation, coef, None, 2, branch), rows)
    residual = coef @ Evaluator(rows).values(equation)
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "x^2*y - 3*(x - y)^3 + 2/3",
        "-x**2*-2 + (((y)))",
        "1/4*(x + y)*(x - y) - 1.5e-1*x*y^3",
        "x^2*5/3 - 5/3*y",
    ],
)
def test_a_text_means_the_same_wherever_it_is_read(text):
    x, y = ROWS[:2]
    expected = Formula(text)({"x": x, "y": y})
    python = eval(text.replace("^", "**"), {"x": x, "y": y})
    np.testing.assert_allclose(expected, python, rtol=1e-13)
    np.testing.assert_allclose(parse_polynomial(text, ["x", "y"])(ROWS[:2].T), expected, rtol=1e-12)
    equation = read_equation(text, ["x", "y"])
    found = equation.numbers @ Evaluator(ROWS[:2]).values(equation.terms)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
