"""Models as modules of PyTorch: values, gradients, training and state, on the CPU and on a GPU."""

import copy
import io

import numpy as np
import pandas as pd
import pytest
from exports import MODELS, X, Y, Z
from sklearn.preprocessing import MinMaxScaler

from vanishing import (
    OAVI,
    VCA,
    VanishingClassifier,
    VanishingFeatures,
    VanishingOutlierDetector,
    check_law,
)
from vanishing.export import to_torch

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = np.concatenate([X, 10 * X - 20])
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
    ),
]


def expected_of(model, rows):
    """Return what the model's own method says of rows."""
    return (model.decision_function if hasattr(model, "predict") else model.transform)(rows)


def tensor(values, device="cpu", dtype=torch.float64, **options):
    return torch.tensor(values, dtype=dtype, device=device, **options)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_the_model(name, device):
    model = MODELS[name]()
    module = to_torch(model).to(device)
    rows = (
        ROWS if name != "constant_column" else np.column_stack([np.full(len(ROWS), 7), ROWS[:, :3]])
    )
    found = module.values(tensor(rows, device))
    expected = expected_of(model, rows)
    first = next(iter(found.values())).cpu().numpy()
    assert first.shape == expected.shape
    size = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(first / size, expected / size, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(module(tensor(rows, device)).cpu().numpy(), first)
    if hasattr(model, "predict_proba"):
        chances = found["probabilities"].cpu().numpy()
        np.testing.assert_allclose(chances, model.predict_proba(rows), rtol=1e-9, atol=1e-12)
    assert len(module.feature_names) == rows.shape[1]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model", [OAVI(absolute=False), OAVI(), VCA(psi=0.01, absolute=False)])
def test_gradients_are_ours(model, device):
    model.fit(Z)
    rows = tensor(Z[:20] + 0.01, device, requires_grad=True)
    values = to_torch(model).to(device)(rows)
    for i, g in enumerate(model.generators_):
        (slope,) = torch.autograd.grad(values[:, i].sum(), rows, retain_graph=True)
        expected = g.gradient(Z[:20] + 0.01)
        if model.absolute:
            expected *= np.sign(g(Z[:20] + 0.01))[:, np.newaxis]
        np.testing.assert_allclose(slope.cpu().numpy(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_gradients_of_a_whole_classifier(device):
    model = VanishingClassifier(C=10.0).fit(X, Y)
    module = to_torch(model).to(device)
    rows = tensor(X[::10] + 0.013, device, requires_grad=True)
    (slope,) = torch.autograd.grad(module(rows)[:, 1].sum(), rows)
    step = 1e-6
    for j in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[j]
        above, below = (model.decision_function(X[::10] + 0.013 + s * shift)[:, 1] for s in (1, -1))
        numeric = (above - below) / (2 * step)
        np.testing.assert_allclose(slope[:, j].cpu().numpy(), numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype, digits", [(torch.float32, 1e-4), (torch.bfloat16, 0.3)])
def test_other_dtypes(dtype, digits):
    model = VanishingClassifier().fit(X, Y)
    module = to_torch(model).to(dtype)
    found = module(tensor(X, dtype=dtype))
    assert found.dtype == dtype
    expected = model.decision_function(X)
    error = np.abs(found.to(torch.float64).numpy() - expected).mean()
    assert error < digits * np.abs(expected).max()


@pytest.mark.parametrize("device", DEVICES)
def test_training_changes_what_is_not_zero(device):
    model = VanishingClassifier(C=10.0).fit(X, Y)
    module = to_torch(model, trainable=True).to(device)
    n_parameters = sum(p.numel() for p in module.parameters())
    before = copy.deepcopy(module.state_dict())
    rows, labels = tensor(X, device), torch.tensor(Y, device=device)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(module(rows), labels)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    parts = [t.generators_ for t in model.features_.transformers_]
    used = model.final_estimator_.coef_.any(axis=0)
    generators = [g for part in parts for g in part]
    expected = sum(len(g.coef) for g, u in zip(generators, used, strict=True) if u)
    final = model.final_estimator_
    expected += np.count_nonzero(final.coef_) + np.count_nonzero(final.intercept_)
    assert n_parameters == expected  # coefficients, weights and intercepts, zeros left out
    assert any(not torch.equal(before[key], now) for key, now in module.state_dict().items())
    assert not list(to_torch(model).parameters())


def test_the_state_is_saved_by_torch(tmp_path):
    model = VanishingFeatures().fit(Z, Y)
    module = to_torch(model, trainable=True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.01
    torch.save(module.state_dict(), tmp_path / "state.pt")
    other = to_torch(model)
    rows = tensor(Z)
    assert not torch.allclose(other(rows), module(rows))
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    torch.testing.assert_close(other(rows), module(rows), rtol=0, atol=0)
    memory = io.BytesIO()
    torch.save(module, memory)
    memory.seek(0)
    whole = torch.load(memory, weights_only=False)
    torch.testing.assert_close(whole(rows), module(rows), rtol=0, atol=0)


def test_a_layer_in_a_network():
    """A loss on the values of generators moves what comes before them."""
    angle = np.linspace(0, 6, 50)
    circle = OAVI(psi=1e-6, oracle="ls", max_degree=2, absolute=False).fit(
        np.column_stack([np.cos(angle), np.sin(angle)])
    )
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(1, 2, dtype=torch.float64), to_torch(circle))
    rows = torch.full((1, 1), 0.7, dtype=torch.float64)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        network(rows).square().sum().backward()
        optimiser.step()
    point = network[0](rows)
    assert float(point.square().sum().detach()) == pytest.approx(1.0, abs=1e-6)


def test_laws_and_detectors():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 2, (50, 2)), columns=["a", "b"])
    table["y"] = 3 * np.sqrt(table.a) / table.b
    law = check_law("y = c*sqrt(a)/b", table)
    module = to_torch(law)
    assert module.feature_names == ("a", "b")
    found = module(tensor(table[["a", "b"]].to_numpy()))
    np.testing.assert_allclose(found, table["y"], rtol=1e-12)
    detector = VanishingOutlierDetector(random_state=0).fit(X)
    for model in (law, detector):
        with pytest.raises(TypeError, match="trainable=True is for generators"):
            to_torch(model, trainable=True)


def test_rows_that_do_not_fit_are_refused():
    module = to_torch(OAVI().fit(MinMaxScaler().fit_transform(X)))
    with pytest.raises(ValueError, match="X must have 4 columns"):
        module(tensor(X[:, :3]))
    with pytest.raises(ValueError, match=r"X is torch.float32 on cpu.*module.to"):
        module(tensor(X, dtype=torch.float32))
    with pytest.raises(TypeError, match="trainable must be"):
        to_torch(OAVI().fit(Z), trainable="yes")


def test_a_model_without_generators_has_no_columns():
    module = to_torch(OAVI(psi=0, max_degree=1).fit(Z))
    assert module(tensor(Z)).shape == (len(Z), 0)
