"""OAVI as a scikit-learn estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import OAVI


@parametrize_with_checks(
    [
        OAVI(),
        OAVI(oracle="ls"),
        OAVI(psi=0),
        OAVI(certify=False, border="bb", feature_order="pearson", max_degree=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
