"""Parameters of all estimators: scikit-learn's, without reading a signature in every call."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone

import vanishing
from vanishing import OAVI, VanishingClassifier

ESTIMATORS = [
    kind
    for kind in (getattr(vanishing, name) for name in vanishing.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_parameters_are_those_of_the_signature(kind):
    for model in (kind(), clone(kind())):
        assert model.get_params(deep=False) == BaseEstimator.get_params(model, deep=False)
        assert list(model.get_params(deep=False)) == sorted(inspect.signature(kind).parameters)


def test_those_of_parts_are_listed():
    model = VanishingClassifier(OAVI(0.25))
    assert model.get_params()["transformer__psi"] == 0.25
    assert "transformer__psi" not in model.get_params(deep=False)


def test_a_subclass_has_parameters_of_its_own():
    class Deeper(OAVI):
        def __init__(self, psi=0.1, depth=3):
            super().__init__(psi)
            self.depth = depth

    assert Deeper(depth=4).get_params() == {"psi": 0.1, "depth": 4}
    assert "depth" not in OAVI().get_params()


def test_a_signature_is_read_once(monkeypatch):
    clone(OAVI())
    monkeypatch.setattr(inspect, "signature", None)
    assert clone(OAVI(0.25)).get_params()["psi"] == 0.25
