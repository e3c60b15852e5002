"""Weights say what rows count beside one another: 1 / variance is right in all estimators."""

import numpy as np
import pandas as pd
import pytest

from vanishing import (
    ABM,
    OAVI,
    VCA,
    ConservedQuantities,
    LawFinder,
    VanishingOutlierDetector,
    check_law,
)

ROWS = 300


def table(seed=0):
    """Return rows of y = 2 a b - 1.5 a, every second one known far better, and the variances."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.uniform(1, 3, (ROWS, 2)), columns=["a", "b"])
    std = np.where(np.arange(ROWS) % 2, 0.02, 0.5)
    y = 2 * X["a"] * X["b"] - 1.5 * X["a"] + std * random.normal(size=ROWS)
    return X, y.rename("y"), std**2


def least_squares(X, y, variance):
    """Return k and m of y = k a b + m a, the best estimates and their standard errors."""
    design = np.column_stack([X["a"] * X["b"], X["a"]])
    gram = np.linalg.inv(design.T @ (design / variance.reshape(-1, 1)))
    return gram @ design.T @ (y / variance), np.sqrt(np.diag(gram))


def test_a_law_that_is_checked_has_the_best_constants_and_their_errors():
    X, y, variance = table()
    law = check_law("y = k*a*b + m*a", X, y, sample_weight=1 / variance)
    best, errors = least_squares(X, y, variance)
    found = [law.constants[name] for name in "km"]
    np.testing.assert_allclose([value for value, *_ in found], best, rtol=1e-6)
    ratio = np.array([error for _, error, *_ in found]) / errors
    assert (ratio > 0.8).all() and (ratio < 1.4).all()


def test_a_law_that_is_found_has_the_best_coefficients_and_errors_on_the_safe_side():
    X, y, variance = table()
    law = LawFinder().fit(X, y, sample_weight=1 / variance).laws_[0]
    best, errors = least_squares(X, y, variance)
    fresh = table(1)[0]
    design = np.column_stack([fresh["a"] * fresh["b"], fresh["a"]])
    np.testing.assert_allclose(law.predict(fresh), design @ best, rtol=1e-3)
    relative = np.sort(law.coef_std[law.coef_std > 0] / np.abs(law.coef[law.coef_std > 0]))
    ratio = relative / np.sort(errors / np.abs(best))
    assert (ratio > 0.9).all() and (ratio < 2.5).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "fitted",
    [
        lambda X, y, w: LawFinder(functions=()).fit(X, y, w).laws_[0].coef,
        lambda X, y, w: check_law("y = k*a*b + m*a", X, y, sample_weight=w).coef,
        lambda X, y, w: OAVI(psi=0.3).fit(X, sample_weight=w).coef_,
        lambda X, y, w: ABM(psi=0.3).fit(X, sample_weight=w).coef_,
        lambda X, y, w: VCA(psi=0.3).fit(X, sample_weight=w).transform(X),
        lambda X, y, w: VanishingOutlierDetector().fit(X, sample_weight=w).score_samples(X),
        lambda X, y, w: (
            ConservedQuantities(max_degree=2)
            .fit(X, groups=np.arange(ROWS) // 100, sample_weight=w)
            .ratio_
        ),
    ],
    ids=["LawFinder", "check_law", "OAVI", "ABM", "VCA", "detector", "conserved"],
)
def test_the_unit_of_weights_does_not_matter(fitted):
    X, y, variance = table()
    one, other = (fitted(X, y, unit / variance) for unit in (1.0, 1e-5))
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
