"""Models as source for PyTorch: the same numbers, gradients, and no other package."""

import numpy as np
import pytest

from vanishing import (
    ABM,
    VCA,
    Law,
    VanishingClassifier,
    VanishingOutlierDetector,
    check_law,
)
from vanishing.export.torch_source import torch_source

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(80, 3))
Y = np.select([X[:, 0] + X[:, 1] < 0.7, X[:, 2] < 0.5], [0, 1], 2)
LAW = check_law("y = a*sqrt(x0)/x1 + b*log(x2) + c*cbrt(x0)", X + 1, np.sqrt(X[:, 0] + 1))


def expected(model):
    if isinstance(model, Law):
        return model.predict(X)
    method = "decision_function" if hasattr(model, "decision_function") else "transform"
    return getattr(model, method)(X)


@pytest.mark.parametrize(
    "model",
    [
        LAW,
        VanishingClassifier().fit(X, Y),
        VanishingClassifier(scale="quantile", clip=True).fit(X, Y == 0),
        VanishingOutlierDetector().fit(X),
        ABM(psi=0.01).fit(X),
        VCA(psi=0.01).fit(X),
    ],
    ids=lambda model: type(model).__name__,
)
def test_numbers_and_gradients(model):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    source = torch_source(model)
    assert "numpy" not in source and "vanishing" not in source.split('"""')[2]
    module = {}
    exec(compile(source, "model", "exec"), module)
    network = module["Model"]()
    rows = torch.tensor(X, requires_grad=True)
    values = network(rows)
    np.testing.assert_allclose(values.detach().numpy(), expected(model), rtol=1e-9, atol=1e-9)
    values.sum().backward()
    assert torch.isfinite(rows.grad).all() and rows.grad.abs().sum() > 0
    if hasattr(model, "classes_"):
        labels = np.array(module["CLASSES"])[network.predict(rows).numpy()]
        np.testing.assert_array_equal(labels, model.predict(X))
    elif hasattr(model, "offset_"):
        np.testing.assert_array_equal(network.predict(rows).numpy(), model.predict(X))
    clone = module["Model"]()
    clone.load_state_dict(network.state_dict())


def test_the_source_is_python_without_pytorch():
    for model in (LAW, VanishingClassifier(scale="quantile").fit(X, Y)):
        compile(torch_source(model, "Classifier"), "model", "exec")
    with pytest.raises(ValueError, match="name must be"):
        torch_source(LAW, "class Model: pass")
    with pytest.raises(ValueError, match="name must be"):
        torch_source(LAW, "torch")
