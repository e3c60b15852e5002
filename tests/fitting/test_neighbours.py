"""Residuals of neighbouring rows: noise is not alike, what a law misses is."""

import numpy as np
import pytest

from vanishing.fitting.lack_of_fit import left_between_neighbours, products_of_neighbours


@pytest.mark.parametrize("n_columns, mean, deviation", [(1, 0.0, 0.95), (3, 0.9, 0.7)])
def test_noise_of_neighbours_is_normal_or_the_largest_of_a_few(n_columns, mean, deviation):
    random = np.random.default_rng(0)
    sizes = [
        products_of_neighbours(
            10 ** random.uniform(-2, 2, (n_columns, 80)),
            # Of unequal size, too.
            random.normal(size=80) * random.uniform(0.1, 3, 80),
        )
        for _ in range(400)
    ]
    assert np.mean(sizes) == pytest.approx(mean, abs=0.15)
    assert np.std(sizes) == pytest.approx(deviation, abs=0.15) and max(sizes) < 4.5


def test_what_is_missed_is_alike_whatever_the_order_and_however_often_rows_are_repeated():
    random = np.random.default_rng(0)
    columns = random.uniform(0, 1, (2, 100))
    missed = np.sin(6 * columns[0]) * columns[1] + 0.3 * random.normal(size=100)
    size = products_of_neighbours(columns, missed)
    assert size > 4.5
    order = random.permutation(np.repeat(np.arange(100), 3))
    assert products_of_neighbours(columns[:, order], missed[order]) == pytest.approx(size)


def test_steps_along_one_of_two_columns_are_alike():
    a, b = np.random.default_rng(0).uniform(0, 5, (2, 100))
    steps = np.floor(a) - a + 0.5
    assert products_of_neighbours(np.array([a, b]), steps) > 4.5


def test_one_row_has_no_neighbours():
    assert products_of_neighbours(np.ones((2, 1)), np.ones(1)) == 0.0
    assert products_of_neighbours(np.ones((2, 5)), np.ones(5)) == 0.0


@pytest.mark.parametrize("n_rows", [12, 30, 80])
@pytest.mark.parametrize("are_repeated", [False, True])
@pytest.mark.parametrize("noise", ["normal", "of two values", "growing", "heavy"])
def test_lines_between_neighbours_leave_what_noise_is(n_rows, noise, are_repeated):
    random = np.random.default_rng(n_rows)
    p_values = []
    for _ in range(100):
        x = random.uniform(0, 1, n_rows)
        x = np.round(x, 1) if are_repeated else x
        left = {
            "normal": random.normal(size=n_rows),
            "of two values": random.choice([-1.0, 1.0], n_rows),
            "growing": np.exp(3 * x) * random.normal(size=n_rows),
            "heavy": random.standard_t(2, size=n_rows),
        }[noise]
        p_values.append(left_between_neighbours(x, left).p_value)
    assert np.mean(np.array(p_values) < 0.01) <= 0.01


def test_lines_between_few_rows_follow_what_a_law_misses():
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 30)
    two_steps = np.tanh(x - 2) + np.tanh(x - 7) + 0.05 * random.normal(size=30)
    missed = two_steps - 0.4 * (x - 4.5)
    assert left_between_neighbours(x, missed).is_large
    order = random.permutation(30)
    p_value = left_between_neighbours(x[order], missed[order]).p_value
    assert p_value == pytest.approx(left_between_neighbours(x, missed).p_value)
    repeated = left_between_neighbours(np.repeat(x, 3), np.repeat(missed, 3))
    assert repeated.p_value == pytest.approx(p_value)
    assert left_between_neighbours(x[:4], missed[:4]).p_value == 1.0  # too few to tell
