"""The classifiers and the feature map as scikit-learn estimators."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import (
    OAVI,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)


@parametrize_with_checks(
    [
        L1SquaredHingeSVC(),
        VanishingFeatures(),
        VanishingClassifier(C=10.0),
        VanishingClassifier(OAVI(psi=0.01, oracle="omp"), clip=True),
        VanishingClassifier(final_estimator=LogisticRegression()),
        VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0)),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
