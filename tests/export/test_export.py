"""Models as Python modules that need NumPy alone."""

import ast
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from exports import FUNCTIONS, MODELS, X, Y, Z
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer

from vanishing import OAVI, BuchbergerMoller, VanishingClassifier
from vanishing.export import to_python

pytestmark = pytest.mark.filterwarnings("ignore")
# Rows that were seen, rows far from all, and more rows than are evaluated at a time.
ROWS = np.concatenate([X, 10 * X - 20, np.tile(X, (40, 1))])
SCRIPT = f"""
import importlib, sys
FUNCTIONS = {FUNCTIONS}
for name in ("vanishing", "sklearn", "scipy", "numba"):
    sys.modules[name] = None  # an import of it fails
import numpy as np
sys.path.insert(0, sys.argv[1])
X = np.load(sys.argv[1] + "/rows.npy")
for name in sys.argv[2:]:
    module = importlib.import_module("model_" + name)
    found = dict(features=module.FEATURE_NAMES)
    for function in FUNCTIONS:
        if hasattr(module, function):
            found[function] = getattr(module, function)(X)
            found[function + "_empty"] = getattr(module, function)(X[:0])
    np.savez(sys.argv[1] + "/" + name, **found)
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The models, and what their exports say where none of the libraries is installed."""
    folder = tmp_path_factory.mktemp("export")
    models = {name: fit() for name, fit in MODELS.items()}
    for name, model in models.items():
        (folder / f"model_{name}.py").write_text(to_python(model), encoding="utf-8")
    np.save(folder / "rows.npy", ROWS)
    subprocess.run([sys.executable, "-c", SCRIPT, str(folder), *models], check=True)
    return {name: (model, np.load(folder / f"{name}.npz")) for name, model in models.items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_exported_module_computes_what_the_model_does(exported, name):
    model, found = exported[name]
    functions = [f for f in FUNCTIONS if f in found]
    assert functions == [f for f in FUNCTIONS if hasattr(model, f)]
    for function in functions:
        expected = getattr(model, function)(ROWS)
        if function == "predict":
            assert found[function].dtype == expected.dtype
            np.testing.assert_array_equal(found[function], expected)
        else:
            size = np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(found[function], expected, rtol=1e-12, atol=1e-12 * size)
        assert found[f"{function}_empty"].shape == (0, *expected.shape[1:])


def test_only_needed_generators_are_exported(exported):
    model, _ = exported["classifier"]
    source = to_python(model)
    n_used = np.count_nonzero(model.final_estimator_.coef_.any(axis=0))
    assert n_used < model.n_generators_
    # Comments have each as an equation, its leading term alone on the left.
    assert len(re.findall(r"^\s+#\s{3,}[^=\n]+ = .+$", source, re.MULTILINE)) == n_used
    assert " = 0\n" not in source


def test_names_and_labels_are_text_and_never_code():
    hostile = ['"""\nraise SystemExit', "'\rraise SystemExit", "\\", "# -*- coding: rot13 -*-"]
    labels = np.array(["\nraise SystemExit\n", "'] + [1/0] + ['", "\x00\u2028"], dtype=object)
    rows = pd.DataFrame(X, columns=hostile)
    model = VanishingClassifier().fit(rows, labels[Y])
    module = {}
    exec(to_python(model), module)
    assert module["FEATURE_NAMES"] == hostile
    np.testing.assert_array_equal(module["predict"](X), model.predict(rows))


def test_the_function_may_have_another_name():
    model = OAVI().fit(Z)
    functions = [n.name for n in ast.parse(to_python(model, "laws")).body if hasattr(n, "name")]
    assert "laws" in functions
    assert "transform" not in functions
    for name in ("", "a b", "class", "_values", "np", "x\n", 3, "decision_function"):
        with pytest.raises(ValueError, match="name must be"):
            to_python(model, name)


def test_rows_of_another_width_are_refused():
    module = {}
    exec(to_python(OAVI().fit(Z)), module)
    with pytest.raises(ValueError, match="X must have 4 columns"):
        module["transform"](Z[:, :3])


@pytest.mark.parametrize(
    "fit",
    [
        lambda: BuchbergerMoller().fit([[0, 1], [1, 2]]),
        lambda: VanishingClassifier(scale=PowerTransformer()).fit(X, Y),
        lambda: VanishingClassifier(final_estimator=RandomForestClassifier(5)).fit(X, Y),
        lambda: make_pipeline(
            QuantileTransformer(n_quantiles=20, output_distribution="normal"), OAVI()
        ).fit(X),
    ],
)
def test_what_cannot_be_exported_is_named(fit):
    model = fit()
    with pytest.raises(TypeError, match="cannot be exported"):
        to_python(model)


def test_an_unfitted_model_is_not_exported():
    with pytest.raises(NotFittedError):
        to_python(OAVI())
