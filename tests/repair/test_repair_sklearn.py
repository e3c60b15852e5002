"""Repair as a scikit-learn transformer."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import VanishingRepair


@pytest.mark.filterwarnings("ignore:no law was found", "ignore:there are .* different rows")
@parametrize_with_checks([VanishingRepair()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
