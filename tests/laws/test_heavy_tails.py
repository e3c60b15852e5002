"""Unrelated columns with heavy tails or over decades have no law, whoever is asked."""

import numpy as np
import pytest

from vanishing import LawFinder, VanishingOutlierDetector

DRAWN = {
    "cauchy": lambda random, n: random.standard_cauchy((n, 3)),
    "pareto": lambda random, n: random.pareto(0.8, (n, 3)),
    "decades": lambda random, n: 10 ** random.uniform(-4, 4, (n, 3)),
    "lognormal": lambda random, n: np.exp(4 * random.normal(size=(n, 3))),
}


@pytest.mark.parametrize(
    "kind, seed", [("cauchy", 1), ("cauchy", 5), ("pareto", 0), ("decades", 0)]
)
def test_a_finder_without_target_claims_nothing(kind, seed):
    X = DRAWN[kind](np.random.default_rng(seed), 300)
    assert [*map(str, LawFinder().fit(X).laws_)] == []


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("n_rows", [30, 100])
def test_a_detector_claims_nothing(kind, n_rows):
    for seed in range(6):
        X = DRAWN[kind](np.random.default_rng(seed), n_rows)
        assert [*map(str, VanishingOutlierDetector().fit(X).laws_)] == []


def test_a_voltage_is_no_linear_function_of_a_current_over_decades():
    for seed in range(6):
        random = np.random.default_rng(seed)
        current = 10 ** random.uniform(-9, -2, 30)
        voltage = 0.0258 * np.log(current / 1e-12) + 0.001 * random.normal(size=30)
        laws = VanishingOutlierDetector().fit(np.column_stack([current, voltage])).laws_
        assert [*map(str, laws)] == []


def test_products_of_columns_that_are_mostly_zero():
    random = np.random.default_rng(4)
    X = random.normal(size=(100, 3)) * (random.random((100, 3)) < 0.1)
    assert not any("0(" in str(law) for law in VanishingOutlierDetector().fit(X).laws_)
