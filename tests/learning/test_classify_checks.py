"""The classifiers and the feature map as scikit-learn estimators."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import (
    OAVI,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)


@pytest.mark.slow
@parametrize_with_checks(
    [
        L1SquaredHingeSVC(),
        VanishingFeatures(),
        VanishingFeatures(max_generators=2),
        VanishingClassifier(C=10.0),
        VanishingClassifier(OAVI(psi=0.01, oracle="omp"), clip=True),
        VanishingClassifier(psi=0.01, class_weight="balanced"),
        VanishingClassifier(final_estimator=LogisticRegression()),
        VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0)),
    ],
    expected_failed_checks=lambda estimator: (
        {}
        if getattr(estimator, "final_estimator", None) is None
        else {"check_class_weight_classifiers": "class_weight is that of the final_estimator"}
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
