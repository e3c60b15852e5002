"""What several test files share: data of the paper, and comparison of fitted models."""

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
