"""What several test files share: data, comparison of models, forked processes."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from vanishing import oracles

ORACLES = tuple(oracles.ORACLES)
BALL_ORACLES = tuple(name for name, oracle in oracles.ORACLES.items() if oracle.constrained)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")


@functools.cache
def _training_classes(name):
    from vanishing import datasets

    X, y = datasets.load(name, return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=0.6, random_state=0, stratify=y)
    X = MinMaxScaler().fit_transform(X)
    return [X[y == label] for label in np.unique(y)]


def training_classes(name):
    """60 % of a data set, min-max scaled, one array a class; skips where there is no such file."""
    folder = os.environ.get("VANISHING_DATA")
    if not folder or not list(Path(folder).glob(f"{name}.csv*")):
        pytest.skip(f"no file of the data set {name} in $VANISHING_DATA")
    return _training_classes(name)


def half_circle(seed, noise, n_samples=2000):
    """Points of the upper half of the unit circle, with Gaussian noise."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n_samples)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.normal(size=X.shape)


def planted(name, m, rng):
    """Points of a variety, and its equations: coefficients by term, the leading one last."""
    t = rng.uniform(-1, 1, m)
    angle = rng.uniform(0, 2 * np.pi, m)
    if name == "circle":
        X = np.column_stack([0.3 + np.cos(angle), np.sin(angle) - 0.2])
        return X, [{(0, 0): -0.87, (1, 0): -0.6, (0, 1): 0.4, (2, 0): 1, (0, 2): 1}]
    if name == "ellipsoid":
        X = rng.normal(size=(m, 3))
        X = X / np.linalg.norm(X, axis=1, keepdims=True) * [1.2, 0.8, 1.0]
        return X, [{(0, 0, 0): -1, (2, 0, 0): 1 / 1.44, (0, 2, 0): 1 / 0.64, (0, 0, 2): 1}]
    if name == "twisted cubic":
        equations = [
            {(0, 1, 0): -1, (2, 0, 0): 1},
            {(0, 0, 1): -1, (1, 1, 0): 1},
            {(0, 2, 0): -1, (1, 0, 1): 1},
        ]
        return np.column_stack([t, t**2, t**3]), equations
    if name == "two lines":
        return np.column_stack([t, t * rng.choice([-1, 1], m)]), [{(2, 0): -1, (0, 2): 1}]
    return np.column_stack([t, t**2]), [{(0, 1): -1, (2, 0): 1}]


# Varieties, and noise at which 40,000 rows of them tell the coefficients.
PLANTED = {
    "circle": 0.05,
    "ellipsoid": 0.05,
    "twisted cubic": 0.02,
    "two lines": 0.05,
    "parabola": 0.05,
}


def without_law(name, m, seed):
    """Rows that no polynomial vanishes on."""
    rng = np.random.default_rng(seed)
    if name in ("square", "cube"):
        return rng.uniform(-1, 1, (m, 2 if name == "square" else 3))
    return rng.normal(size=(m, 2)) if name == "gaussian" else rng.exponential(size=(m, 2))


def as_tuples(terms):
    """Rows of exponents as a list of tuples."""
    return [tuple(row) for row in np.asarray(terms).tolist()]


def assert_same_basis(model, basis, *, coef_tol=1e-6, relative=0.0):
    """A fitted model has the terms, leading terms and coefficients of a `reference.Basis`."""
    assert as_tuples(model.terms_) == basis.terms
    assert as_tuples(model.leading_terms_) == basis.leading_terms
    np.testing.assert_allclose(model.coef_, basis.coef_matrix(), rtol=relative, atol=coef_tol)
    np.testing.assert_array_equal(model.leading_coef_, np.ones(len(basis.leading_terms)))


def assert_same_model(model, other, *, coef_tol=1e-6):
    """Two fitted models have the same terms, leading terms and coefficients."""
    assert as_tuples(model.terms_) == as_tuples(other.terms_)
    assert as_tuples(model.leading_terms_) == as_tuples(other.leading_terms_)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=coef_tol)
    np.testing.assert_allclose(model.mse_, other.mse_, rtol=1e-6, atol=1e-12)
    assert model.sparsity_ == pytest.approx(other.sparsity_, abs=1e-12)


def forked(task):
    """Do something in a forked process, which ends with it; return its id."""
    child = os.fork()
    if not child:
        try:
            task()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return child
