"""The outlier detector as a scikit-learn estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import VanishingOutlierDetector


@pytest.mark.filterwarnings("ignore:there are .* different rows")
@parametrize_with_checks(
    [
        VanishingOutlierDetector(),
        VanishingOutlierDetector(max_degree=3, contamination=0.1, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
