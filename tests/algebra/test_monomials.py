"""Monomials against brute force on tuples of exponents."""

import itertools

import numpy as np
import pytest
from helpers import as_tuples
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import deglex_key, divisors, evaluate

from vanishing.algebra import monomials

reproducible = settings(max_examples=60, derandomize=True)


def exponents(terms, n):
    """Tuples as the array of exponents that the library works on."""
    return np.array(sorted(terms, key=deglex_key), dtype=monomials.EXPONENT).reshape(-1, n)


def all_terms(n, degree):
    """All terms of one degree in n variables."""
    return [t for t in itertools.product(range(degree + 1), repeat=n) if sum(t) == degree]


@st.composite
def order_ideals(draw):
    """A set of tuples that is closed under division, and its number of variables."""
    n = draw(st.integers(1, 4))
    tops = draw(st.lists(st.tuples(*[st.integers(0, 3)] * n), min_size=1, max_size=6))
    return {d for top in tops for d in divisors(top)}, n


@st.composite
def term_lists(draw):
    """Any tuples of exponents: unsorted, repeated, divisors missing."""
    n = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[st.integers(0, 5)] * n), min_size=1, max_size=12)), n


# ------------------------------------------------------------------------------------ order


@reproducible
@given(term_lists())
def test_deglex_order_is_that_of_the_definition(drawn):
    terms, n = drawn
    array = np.array(terms, dtype=monomials.EXPONENT).reshape(-1, n)
    assert as_tuples(array[monomials.deglex_order(array)]) == sorted(terms, key=deglex_key)


def test_deglex_order_of_the_documentation():
    t1, t2, t3 = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    squares = [(2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1), (0, 0, 2)]
    expected = [(0, 0, 0), t1, t2, t3, *squares]
    shuffled = np.random.default_rng(0).permutation(np.array(expected))
    assert as_tuples(shuffled[monomials.deglex_order(shuffled)]) == expected


@pytest.mark.parametrize("n, degree", [(1, 7), (2, 6), (3, 5), (4, 3)])
def test_keys_compare_as_terms_of_one_degree_do(n, degree):
    terms = all_terms(n, degree)
    array = np.random.default_rng(0).permutation(np.array(terms, dtype=monomials.EXPONENT))
    by_key = array[np.argsort(monomials.keys(array))]
    assert as_tuples(by_key) == sorted(terms, key=deglex_key)
    assert len(np.unique(monomials.keys(array))) == len(terms)


def test_keys_are_exact_beyond_one_byte():
    """Exponents that agree in one of their two bytes, or have a zero byte, are still told apart."""
    values = [0, 1, 2, 255, 256, 257, 511, 512, 513, 65_279, 65_280, 65_535]
    pairs = list(itertools.product(values, repeat=2))
    array = np.array(pairs, dtype=monomials.EXPONENT)
    by_key = array[np.argsort(monomials.keys(array), kind="stable")]
    assert as_tuples(by_key) == sorted(pairs, key=lambda t: t[::-1])
    assert len(np.unique(monomials.keys(array))) == len(pairs)


def test_contains_finds_what_is_there_and_nothing_else():
    terms = exponents([(0, 2), (1, 1)], 2)
    wanted = np.array([(1, 1), (2, 0), (0, 2), (1, 1)], dtype=monomials.EXPONENT)
    there, place = monomials.contains(monomials.keys(terms), monomials.keys(wanted))
    assert there.tolist() == [True, False, True, True]
    assert place[there].tolist() == [0, 1, 0]
    there, _ = monomials.contains(monomials.keys(terms[:0]), monomials.keys(wanted))
    assert not there.any()


# ---------------------------------------------------------------------------------- borders


def check_border(previous, n, degree, kind):
    """The border above some terms of degree d - 1, against all terms of degree d."""
    array = exponents(previous, n)
    border = monomials.border(array, kind)

    def lower(term):
        return [d for d in divisors(term) if sum(d) == degree - 1]

    enough = all if kind == "gb" else any
    expected = [u for u in all_terms(n, degree) if enough(d in previous for d in lower(u))]
    # Equal lists: nothing missing, nothing twice, sorted.
    assert as_tuples(border.terms) == sorted(expected, key=deglex_key)
    products = array[border.parent]
    products[np.arange(len(products)), border.variable] += 1
    np.testing.assert_array_equal(products, border.terms)
    return len(expected)


@pytest.mark.parametrize("kind", ["gb", "bb"])
@reproducible
@given(order_ideals())
def test_border_of_an_order_ideal(kind, drawn):
    ideal, n = drawn
    for degree in range(1, max(map(sum, ideal)) + 2):
        check_border({t for t in ideal if sum(t) == degree - 1}, n, degree, kind)


@pytest.mark.parametrize("kind", ["gb", "bb"])
@pytest.mark.parametrize("n, degree", [(1, 4), (2, 4), (3, 3), (4, 2)])
def test_border_of_any_terms_of_one_degree(kind, n, degree):
    """With the BB border O need not be closed under division."""
    terms = np.array(all_terms(n, degree - 1))
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(30):
        chosen = {tuple(t) for t in terms[rng.random(len(terms)) < 0.7].tolist()}
        sizes.append(check_border(chosen, n, degree, kind))
    assert any(sizes)


@pytest.mark.parametrize("kind", ["gb", "bb"])
def test_border_above_large_exponents(kind):
    previous = {(299, 0), (298, 1), (43, 256), (42, 257), (0, 299)}
    array = exponents(previous, 2)
    terms = as_tuples(monomials.border(array, kind).terms)
    both = [(43, 257), (299, 1)]
    one = [(0, 300), (1, 299), (42, 258), (44, 256), (298, 2), (300, 0)]
    # A power of a variable has one divisor only.
    expected = [*both, (0, 300), (300, 0)] if kind == "gb" else both + one
    assert terms == sorted(expected, key=deglex_key)


@pytest.mark.parametrize("kind", ["gb", "bb"])
def test_border_of_nothing_is_empty(kind):
    border = monomials.border(np.zeros((0, 3), dtype=monomials.EXPONENT), kind)
    assert border.terms.shape == (0, 3)
    assert border.parent.size == border.variable.size == 0


@reproducible
@given(term_lists())
def test_divisors_are_all_quotients_by_a_variable(drawn):
    terms, n = drawn
    array = np.array(terms, dtype=monomials.EXPONENT).reshape(-1, n)
    index, variable, quotients = monomials.divisors(array)
    found = sorted(zip(index.tolist(), variable.tolist(), as_tuples(quotients), strict=True))
    expected = []
    for i, term in enumerate(terms):
        for v in range(n):
            if term[v]:
                expected.append((i, v, (*term[:v], term[v] - 1, *term[v + 1 :])))
    assert found == expected


# ------------------------------------------------------------------------------------ plans


def check_plan(terms, X):
    """Follow the plan with plain NumPy; return how many terms it evaluates."""
    terms = np.asarray(terms)
    plan, position = monomials.plan(terms)
    size = plan.parent.size
    assert plan.variable.size == size
    assert plan.parent[0] == -1
    assert np.all(plan.parent[1:] >= 0)
    assert np.all(plan.parent[1:] < np.arange(1, size))
    values = np.ones((len(X), size))
    for i in range(1, size):
        values[:, i] = values[:, plan.parent[i]] * X[:, plan.variable[i]]
    np.testing.assert_allclose(values[:, position], evaluate(terms, X), rtol=1e-12, atol=0)
    return size


@reproducible
@given(term_lists())
def test_plan_evaluates_any_terms(drawn):
    terms, n = drawn
    X = np.random.default_rng(0).uniform(-2, 2, size=(5, n))
    size = check_plan(terms, X)
    # Never more than the divisors of all terms.
    assert size <= len({d for term in terms for d in divisors(term)})


@pytest.mark.parametrize(
    "terms, size",
    [
        ([(0, 0)], 1),
        ([(0, 0), (0, 0)], 1),
        ([(1, 1), (0, 0), (1, 1), (1, 0)], 3),
        ([(0, 1), (1, 1)], 3),  # through (0, 1), which is asked for, not through (1, 0)
        ([(3, 0)], 4),  # 1, x, x^2 on the way
        ([(3, 0), (0, 2)], 6),
        ([(2, 0), (2, 1), (2, 2), (1, 0)], 5),
    ],
)
def test_plan_adds_no_more_than_it_needs(terms, size):
    assert check_plan(terms, np.array([[0.5, -3.0], [2.0, 0.0]])) == size


def test_plan_of_high_powers():
    X = np.array([[1.01, 0.99], [-0.99, 1.02]])
    # The two chains share the constant and x1.
    assert check_plan([(0, 300), (0, 0), (256, 1)], X) == 1 + 300 + 256


def test_plan_of_an_order_ideal_and_its_border_adds_nothing():
    terms = [t for degree in range(5) for t in all_terms(3, degree)]
    X = np.random.default_rng(0).uniform(size=(4, 3))
    assert check_plan(np.random.default_rng(1).permutation(np.array(terms)), X) == len(terms)


def test_plan_of_no_terms_is_the_constant():
    plan, position = monomials.plan(np.zeros((0, 2), dtype=int))
    assert plan.parent.tolist() == [-1]
    assert position.size == 0


def test_extended_plan_goes_on_behind_the_terms_it_has():
    plan = monomials.CONSTANT_PLAN.extended(np.array([0, 0]), np.array([0, 1]))
    plan = plan.extended(np.array([2]), np.array([0]))
    assert plan.parent.tolist() == [-1, 0, 0, 2]
    assert plan.variable.tolist() == [-1, 0, 1, 0]
    assert monomials.CONSTANT_PLAN.parent.size == 1
