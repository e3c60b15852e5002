"""Calibration as a scikit-learn transformer."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import EllipsoidCalibration


@pytest.mark.filterwarnings("ignore:The readings do not determine")
@parametrize_with_checks([EllipsoidCalibration()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
