"""Names of input columns: those given are those seen in fit, or an error."""

import numpy as np
import pandas as pd
import pytest

from vanishing import ABM, AVI, OAVI, VCA, VanishingFeatures

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.uniform(size=(60, 2)), columns=["a", "b"])
LABELS = np.arange(60) % 2
MODELS = [OAVI(0.02), ABM(0.02), AVI(0.02), VCA(0.02), VanishingFeatures(OAVI(0.02))]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_given_names_are_those_of_the_fit(model):
    model.fit(FRAME, LABELS)
    names = model.get_feature_names_out()
    np.testing.assert_array_equal(model.get_feature_names_out(["a", "b"]), names)
    for wrong in (["b", "a"], ["a", "c"], ["a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="input_features"):
            model.get_feature_names_out(wrong)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_columns_without_names_take_any(model):
    model.fit(FRAME.to_numpy(), LABELS)
    assert len(model.get_feature_names_out(["p", "q"])) == len(model.get_feature_names_out())
    with pytest.raises(ValueError, match=r"number of features \(2\), got 3"):
        model.get_feature_names_out(["p", "q", "r"])
