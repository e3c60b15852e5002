"""Conserved quantities and derivatives: bad input, scikit-learn's conventions, noise of slopes."""

import numpy as np
import pandas as pd
import pytest
from moving import simulated
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from vanishing import Blocks, ConservedQuantities, LawFinder
from vanishing.motion import derivatives, settings

X, GROUPS = simulated("oscillator")
X = X.to_numpy()


# -- Bad input ------------------------------------------------------------------------------------


def with_(place, value, groups=False):
    rows = (GROUPS if groups else X).astype(float)
    rows[place] = value
    return rows


BAD = {
    "no groups": ((X,), {}, "groups is required"),
    "blocks without groups": ((Blocks([X[:100], X[100:]]),), {}, "groups is required"),
    "groups of another length": ((X,), {"groups": GROUPS[:-1]}, "3199 entries, and X has 3200"),
    "two columns of groups": ((X,), {"groups": np.column_stack([GROUPS] * 2)}, "1d array"),
    "groups with NaN": ((X,), {"groups": with_(7, np.nan, True)}, "no run for row 7"),
    "groups with None": ((X,), {"groups": [None, *GROUPS[1:]]}, "no run for row 0"),
    "one run": ((X,), {"groups": np.zeros(3200)}, "one run"),
    "a run of one row": ((X,), {"groups": with_(0, 99.0, True)}, "run .*99.* has one row"),
    "runs of one row": ((X,), {"groups": np.arange(3200)}, "the run 0 has one row"),
    "a constant column": ((with_((slice(None), 1), 3.0),), {"groups": GROUPS}, "'x1' is constant"),
    "NaN": ((with_((5, 0), np.nan),), {"groups": GROUPS}, "NaN"),
    "infinity": ((with_((5, 0), np.inf),), {"groups": GROUPS}, "infinity"),
    "huge": ((1e150 * X,), {"groups": GROUPS}, "units"),
    "text": ((np.array([["a", "b"]] * 3200),), {"groups": GROUPS}, "numbers"),
    "zero weights": (
        (X,),
        {"groups": GROUPS, "sample_weight": np.zeros(3200)},
        "sample_weight must not be zero",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rows_are_refused_and_nothing_is_fitted(case):
    arguments, keywords, message = BAD[case]
    model = ConservedQuantities()
    with pytest.raises(ValueError, match=message):
        model.fit(*arguments, **keywords)
    assert vars(model) == vars(ConservedQuantities())
    fitted = ConservedQuantities().fit(X, groups=GROUPS)
    with pytest.raises(ValueError, match=message):
        fitted.fit(*arguments, **keywords)
    assert str(fitted.quantities_[0]) == "x1^2 + 4*x0^2"  # as before


@pytest.mark.parametrize(
    "parameters, error, message",
    [
        ({"max_degree": 0}, ValueError, "max_degree"),
        ({"max_degree": 2.5}, TypeError, "max_degree"),
        ({"max_terms": 0}, ValueError, "max_terms"),
        ({"functions": "sin"}, ValueError, "write \\('sin',\\)"),
        ({"functions": ("sine",)}, ValueError, "functions must be one of"),
        ({"functions": {"x9": ("sin",)}}, ValueError, "names the column 'x9'"),
        ({"functions": ("log",)}, ValueError, "log is not defined on all rows of any column"),
        ({"functions": {"x0": "log"}}, ValueError, "log is not defined on all rows of column 'x0'"),
        ({"noise": "estimate"}, ValueError, "noise must be"),
        ({"noise": -1.0}, ValueError, "noise must be"),
        ({"noise": [1.0, 2.0, 3.0]}, ValueError, "noise must be"),
        ({"max_degree": 12, "functions": ("sin", "cos", "tanh")}, ValueError, "monomials"),
    ],
)
def test_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        ConservedQuantities(**parameters).fit(X, groups=GROUPS)


def test_functions_of_columns_where_they_are_defined():
    rows, groups = simulated("Lotka-Volterra")
    rows["z"] = rows["x"] - 1.0  # not positive, and redundant
    model = ConservedQuantities(1, functions=("log",)).fit(rows, groups=groups)
    assert len(model.quantities_) == 1 and model.quantities_[0].n_terms == 4


@pytest.mark.parametrize("n_runs", [2, 3])
def test_few_runs_warn(n_runs):
    chosen = np.isin(GROUPS, range(n_runs))
    with pytest.warns(UserWarning, match="too few to hold some out") as warnings:
        model = ConservedQuantities().fit(X[chosen], groups=GROUPS[chosen])
    assert len(warnings) == 1 and not model.held_out_.any()
    assert str(model.quantities_[0]) == "x1^2 + 4*x0^2"


def test_four_runs_hold_one_out():
    chosen = GROUPS < 4
    model = ConservedQuantities().fit(X[chosen], groups=GROUPS[chosen])
    assert model.held_out_.sum() == 1 and len(model.quantities_) == 1


def test_few_rows_lower_the_degree():
    chosen = (GROUPS < 8) & (np.arange(3200) % 16 == 0)
    model = ConservedQuantities(6).fit(X[chosen], groups=GROUPS[chosen])
    assert "Too few rows for degree 6" in model.verdict_


# -- scikit-learn ---------------------------------------------------------------------------------

NEED_GROUPS = (
    "check_all_zero_sample_weights_error",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
)


def expected(estimator):
    """Checks that fit without saying which run a row belongs to, which is required."""
    return dict.fromkeys(NEED_GROUPS, "fit needs groups, which this check does not give")


@pytest.mark.slow
@parametrize_with_checks([ConservedQuantities()], expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Guessing(ConservedQuantities):
    """Takes every third row for one run where nobody says which: for checks that do not."""

    def fit(self, X, y=None, groups=None, sample_weight=None):
        if groups is None and not hasattr(X, "tocsr") and np.asarray(X).ndim:
            groups = np.arange(len(np.asarray(X))) % 3
        return super().fit(X, y, groups, sample_weight)

    def score(self, X, y=None, groups=None, sample_weight=None):
        return super().score(X, y, np.arange(len(X)) % 3, sample_weight)


# One row has no run of two rows; runs of other rows are others.
OTHERWISE = {
    "check_fit2d_1sample": "says that the run has one row",
    "check_sample_weight_equivalence_on_dense_data": "runs are guessed from the order of rows",
}


@pytest.mark.filterwarnings("ignore:.*runs are too few", "ignore:nothing is conserved")
@parametrize_with_checks([Guessing()], expected_failed_checks=lambda estimator: OTHERWISE)
def test_scikit_learn_checks_with_runs(estimator, check):
    check(estimator)


def test_frames():
    model = ConservedQuantities().fit(pd.DataFrame(X, columns=["x", "v"]), groups=GROUPS)
    check_is_fitted(model)
    assert str(model.quantities_[0]) == "v^2 + 4*x^2"
    frame = pd.DataFrame(X[:3], columns=["x", "v"])
    named = model.set_output(transform="pandas").transform(frame)
    assert list(named.columns) == ["v^2 + 4*x^2"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["v", "x"]])


# -- Derivatives ----------------------------------------------------------------------------------


def amplification(window):
    k = (window - 1) / 2
    return np.sqrt(3 / (k * (k + 1) * (2 * k + 1)))


@pytest.mark.parametrize("window", [3, 7, 11])
@pytest.mark.parametrize("step", [0.01, 2.0])
def test_noise_of_derivatives(window, step):
    # Noise alone: what comes out is what the formula says, away from the ends.
    t = step * np.arange(20_000)
    noise = np.random.default_rng(0).normal(size=(20_000, 1))
    found = derivatives(noise, t, window=window)[50:-50].std()
    assert found == pytest.approx(amplification(window) / step, rel=0.03)
    if window == 3:
        plain = derivatives(noise, t, method="differences")[50:-50].std()
        assert plain == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("window", [3, 7, 11])
def test_systematic_error_of_derivatives(window):
    t, k = np.linspace(0, 1, 101), (window - 1) / 2
    error = derivatives(t[:, None] ** 3, t, window=window)[50, 0] - 3 * 0.25
    assert error == pytest.approx((3 * k**2 + 3 * k - 1) / 30 * 0.01**2 * 6, rel=1e-6)


@pytest.mark.parametrize("method", ["smooth", "differences"])
def test_derivatives_of_parabolas_are_exact(method):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 3, 60)
    run = rng.integers(0, 3, 60)
    x = np.column_stack([run + t**2, 1 - (run + 2) * t])
    found = derivatives(x, t, run, method=method)
    np.testing.assert_allclose(found, np.column_stack([2 * t, -(run + 2.0)]), atol=1e-9)


def test_derivatives_give_equations_of_motion():
    # x'' = -4 x - 0.3 v, from positions and speeds.
    t = np.linspace(0, 10, 2001)
    fast = np.sqrt(4 - 0.15**2)
    x = np.exp(-0.15 * t) * np.cos(fast * t)
    v = -0.15 * x - fast * np.exp(-0.15 * t) * np.sin(fast * t)
    slopes = derivatives(np.column_stack([x, v]), t, method="differences")
    inside = slice(5, -5)
    rows = pd.DataFrame({"x": x, "v": v}).iloc[inside]
    law = LawFinder(functions=()).fit(rows, pd.Series(slopes[inside, 1], name="a")).laws_[0]
    found = dict(zip(law.terms, law.coef, strict=True))
    assert set(found) == {"a", "x", "v"}
    assert found["x"] / found["a"] == pytest.approx(4, rel=1e-3)
    assert found["v"] / found["a"] == pytest.approx(0.3, rel=1e-2)


@pytest.mark.parametrize(
    "arguments, keywords, message",
    [
        ((X, GROUPS[:-1]), {}, "inconsistent numbers"),
        ((X[:4], np.arange(4.0), [0, 0, 1, 1]), {}, "has 2 rows: 3 are needed"),
        ((X[:4], np.zeros(4)), {}, "two rows at the same time"),
        ((X[:4], np.arange(4.0)), {"method": "splines"}, "method must be one of"),
        ((X[:4], np.arange(4.0)), {"window": 4}, "odd"),
        ((X[:4], [0, 1, 2, np.nan]), {}, "NaN"),
    ],
)
def test_bad_derivatives(arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        derivatives(*arguments, **keywords)


def test_values_stay_on_the_device():
    xp = pytest.importorskip("array_api_strict")
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, (8, 50))
    size = rng.uniform(0.5, 2, (8, 1))
    X = np.column_stack([(size * np.cos(angle)).ravel(), (size * np.sin(angle)).ravel()])
    run = np.repeat(np.arange(8), 50)
    model = ConservedQuantities(2).fit(xp.asarray(X), groups=xp.asarray(run))
    values = model.transform(xp.asarray(X))
    assert isinstance(values, type(xp.asarray(X)))
    np.testing.assert_allclose(np.asarray(values), model.transform(X), rtol=1e-12)


def test_columns_that_vary_by_their_rounding_alone_are_refused():
    X = 1e15 + np.random.default_rng(0).normal(size=(30, 1))
    with pytest.raises(ValueError, match="vary by their rounding alone"):
        ConservedQuantities().fit(X, groups=np.arange(30) // 10)


def test_settings_are_read_when_they_are_needed(monkeypatch):
    t = np.linspace(0.0, 5.0, 40)
    X = np.vstack([a * np.column_stack([np.cos(t), -np.sin(t)]) for a in (1.0, 2.0, 3.0, 4.0)])
    groups = np.repeat(np.arange(4), 40)
    monkeypatch.setattr(settings, "MAX_MONOMIALS", 9)
    with pytest.raises(ValueError, match="10 monomials of degree up to 3, more than 9"):
        ConservedQuantities().fit(X, groups=groups)
    monkeypatch.setattr(settings, "HELD_OUT", 5)
    with pytest.warns(UserWarning, match="too few to hold some out"):
        assert not ConservedQuantities(2).fit(X, groups=groups).held_out_.any()
