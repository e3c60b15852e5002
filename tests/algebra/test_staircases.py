"""Monomial ideals: growth against counting."""

import itertools
import math

import numpy as np
import pytest

from vanishing.algebra.staircases import Growth, growth


def n_standard(leading, n_features, most):
    """Count the terms up to a degree that no leading term divides, one by one."""
    terms = np.array([t for t in itertools.product(range(most + 1), repeat=n_features)])
    terms = terms[terms.sum(axis=1) <= most]
    divisible = (terms[:, np.newaxis] >= leading).all(axis=2).any(axis=1)
    return int((~divisible).sum())


@pytest.mark.parametrize("seed", range(30))
def test_growth_is_that_of_counted_terms(seed):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 4))
    leading = rng.integers(0, 4, (rng.integers(1, 5), n_features))
    leading = leading[leading.any(axis=1)]
    dimension, degree = growth(leading)
    # Far out the count is a polynomial of that degree; its highest difference is the degree.
    counts = [n_standard(leading, n_features, most) for most in range(14, 14 + dimension + 2)]
    assert np.diff(counts, n=dimension)[-1] == degree
    assert not np.diff(counts, n=dimension + 1).any()


def test_without_leading_terms_nothing_is_left_out():
    assert growth(np.zeros((0, 3), dtype=int)) == Growth(3, 1)


def test_many_leading_terms_are_counted_in_little_time():
    squares = np.eye(12, dtype=int) * 2
    assert growth(squares) == Growth(0, 2**12)
    assert growth(np.array([[math.comb(5, 2), 0], [0, 1]])) == Growth(0, 10)
