"""OAVI on the paper's six data sets: the certificate decides (G, O), whatever the oracle."""

import numpy as np
import pytest
from helpers import as_tuples, training_classes

from vanishing import OAVI

NAMES = ("bank", "credit", "htru", "seeds", "skin", "spam")


@pytest.mark.parametrize("psi", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("name", NAMES)
def test_closed_form_and_pcg_agree(name, border, psi):
    for X in training_classes(name):
        exact = OAVI(psi, oracle="ls", border=border).fit(X)
        sparse = OAVI(psi, oracle="pcg", border=border).fit(X)
        assert exact.n_generators_ > 0
        assert as_tuples(sparse.terms_) == as_tuples(exact.terms_)
        assert as_tuples(sparse.leading_terms_) == as_tuples(exact.leading_terms_)
        assert np.all(exact.mse_ <= psi)
        assert np.all(sparse.mse_ <= psi)
        assert sparse.sparsity_ >= exact.sparsity_
