"""Lack of fit: noise has none, however it is spread over rows, and a wrong law has much."""

import numpy as np
import pytest

from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.fitting.smooth_terms import is_logarithmic, smooth_coordinates


@pytest.mark.parametrize("n_rows", [200, 1000])
def test_it_is_about_standard_normal_for_noise(n_rows):
    sizes, p_values, wrong = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = rng.uniform(1, 3, (2, n_rows))
        test, noise = LackOfFit(columns), rng.normal(size=n_rows)
        lack = test(7.0 * noise)
        sizes.append(lack.size)
        p_values.append(lack.p_value)
        wrong.append(test(noise + 4 * (columns[0] - 2) ** 2))
    assert abs(np.mean(sizes)) < 4 / np.sqrt(40)
    assert 0.6 < np.std(sizes) < 1.5
    assert 0.3 < np.mean(p_values) < 0.7
    assert all(lack.is_large for lack in wrong)
    assert min(lack.share for lack in wrong) > 0.05


def test_noise_that_differs_between_rows_is_no_lack_of_fit():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        column = rng.uniform(1, 3, (1, 100))
        noise = rng.normal(size=100) * (column[0] - 0.9) ** 6 / 8
        assert not LackOfFit(column)(noise).is_large
        assert LackOfFit(column)(noise + 20 * (column[0] - 2)).is_large


def test_few_rows_show_a_law_that_is_far_off_and_nothing_by_chance():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        column = rng.uniform(1, 3, (1, 12))
        noise = rng.normal(size=12)
        assert not LackOfFit(column)(noise).is_large
        assert LackOfFit(column)(0.02 * noise + column[0] - 2).is_large


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    columns, left = rng.uniform(-1, 1, (2, 300)), rng.normal(size=300)
    left += 0.3 * columns[1]
    share = LackOfFit(columns).share(left)
    np.testing.assert_allclose(LackOfFit(columns, np.full(300, 2.0)).share(left), share)
    np.testing.assert_allclose(LackOfFit(columns).share(np.column_stack([left, -left])), share)
    # Rows of weight zero might as well not be there: what they hold is not asked.
    weight = np.append(np.ones(300), 0.0)
    wild = LackOfFit(np.column_stack([columns, [0.5, 0.5]]), weight)
    np.testing.assert_allclose(wild.share(np.append(left, 1e3)), share)


def test_the_column_that_explains_is_the_one_that_does():
    rng = np.random.default_rng(0)
    columns = rng.uniform(-1, 1, (3, 500))
    left = rng.normal(size=500) + 3 * columns[1] ** 2
    p_values = [LackOfFit(columns).p_value_of(j, left) for j in range(3)]
    assert p_values[1] < 1e-6 and min(p_values[0], p_values[2]) > 1e-3


def test_columns_that_are_equal_or_constant_count_once():
    rng = np.random.default_rng(0)
    x, left = rng.uniform(1, 3, 400), rng.normal(size=400)
    lack = LackOfFit(np.array([x]))(left)
    more = LackOfFit(np.array([x, np.ones(400)]))
    assert len(more.whitened) < len(more.terms)
    assert LackOfFit(np.array([x, x]))(left).size == pytest.approx(lack.size, abs=3)


def test_the_logarithm_is_taken_of_columns_over_decades_however_many_rows_there_are():
    rng = np.random.default_rng(0)
    for n_rows in (200, 5000):
        spread = np.exp(1.1 * rng.normal(size=n_rows))
        wild = np.append(spread[:-1], 1e-9)  # one row close to zero
        to_zero, shifted = rng.uniform(0, 1, n_rows), rng.uniform(1, 5, n_rows)
        columns = np.array([spread, to_zero, shifted, -shifted])
        found = is_logarithmic(columns, columns.min(axis=1) > 0)
        assert found.tolist() == [True, False, True, False]
        if n_rows == 5000:
            assert is_logarithmic(wild[None], np.array([True])).tolist() == [True]
        np.testing.assert_array_equal(
            smooth_coordinates(columns, columns.min(axis=1) > 0),
            [np.log(spread), to_zero, np.log(shifted), -shifted],
        )
