"""Bad input is refused with a reason; degenerate input works; limits stop with a valid model."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
from helpers import ORACLES, as_tuples, assert_same_model
from reference import deglex_key
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    ConservedQuantities,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
)
from vanishing.constructions.oavi import tau_of

X = np.random.default_rng(0).uniform(size=(40, 3))


def fit_quietly(data, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return OAVI(**parameters).fit(data, sample_weight=sample_weight)


def fit_recorded(data, **parameters):
    """The model, and the warnings of its fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OAVI(**parameters).fit(data)
    return model, caught


def values_and_scale(model, data):
    """Values of the generators, in long doubles; what their rounding errors are relative to."""
    columns = np.asarray(data).astype(np.longdouble)

    def monomials(terms):
        out = np.ones((len(columns), len(terms)), dtype=np.longdouble)
        for j, term in enumerate(terms):
            for i, e in enumerate(term):
                for _ in range(e):
                    out[:, j] *= columns[:, i]
        return out

    terms, leading = monomials(model.terms_), monomials(model.leading_terms_)
    coef = model.coef_.astype(np.longdouble).T
    return leading + terms @ coef, np.abs(leading) + np.abs(terms) @ np.abs(coef)


def check_model(model, data, psi):
    """A valid model: mse_ is the mse, and at most psi."""
    assert np.isfinite(model.coef_).all()
    assert np.all(model.mse_ <= psi)
    values, scale = values_and_scale(model, data)
    roots = np.sqrt(np.mean(values**2, axis=0)).astype(float)
    rounding = 1e-14 * np.sqrt(np.mean(scale**2, axis=0)).astype(float)
    assert np.all(np.abs(np.sqrt(model.mse_) - roots) <= 1e-10 * roots + rounding)
    assert model.transform(data).shape == (len(data), model.n_generators_)


# ----------------------------------------------------------------------------- columns are named

ESTIMATORS = [
    OAVI(),
    ABM(),
    AVI(),
    VCA(),
    ContrastiveVanishing(),
    VanishingFeatures(),
    VanishingClassifier(),
    VanishingClassifierCV(),
    L1SquaredHingeSVC(),
    LawFinder(),
    VanishingOutlierDetector(),
    ConservedQuantities(),
]


def frame(**columns):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"length": X[:, 0], **columns})


def problems():
    pd = pytest.importorskip("pandas")
    times, whole = pd.date_range("2030-01-01", periods=40), pd.array([*range(39), pd.NA], "Int64")
    letters = pd.Categorical(["a", "b"] * 20)
    gap, spike = X[:, 1].copy(), X[:, 1].copy()
    gap[[7, 9]], spike[7] = np.nan, -np.inf
    dates = "Column 'when' of X holds dates, not numbers. .* since a date"
    return {
        "dates": (frame(when=times), dates),
        "dates alone": (pd.DataFrame({"when": times}), dates),
        "dates with a zone": (frame(when=times.tz_localize("UTC")), dates),
        "dates as objects": (frame(when=[time.date() for time in times]), dates),
        "an array of dates": (times.to_numpy()[:, np.newaxis], "Column 0 of X holds dates"),
        "durations": (frame(when=times - times[0]), "Column 'when' of X holds durations"),
        "periods": (frame(when=times.to_period("D")), "Column 'when' of X holds Period"),
        "a category": (frame(kind=letters, count=whole), "'kind' of X holds strings such as 'a'"),
        "NA": (frame(count=whole), "NaN: 1 of 40 rows in column 'count', the first of them row 39"),
        "None": (frame(x=[None, *range(39)]), "NaN: 1 of 40 rows in column 'x', .* row 0"),
        "NaN": (frame(width=gap), "NaN: 2 of 40 rows in column 'width', the first of them row 7"),
        "NaN of an array": (frame(w=gap).to_numpy(), "NaN: 2 of 40 rows in column 1, .* row 7"),
        "infinity": (frame(width=spike), "infinity: 1 of 40 rows in column 'width', .* row 7"),
        "objects": (frame(x=[{}, *range(39)]), "Column 'x' of X holds dict such as {}, not"),
        "huge": (frame(x=[10**400, *range(39)]), "infinity: 1 of 40 rows in column 'x', .* row 0"),
        "complex": (frame(z=X[:, 1] * 1j), "Complex data not supported: column 'z' of X"),
    }


@pytest.mark.parametrize("name", problems())
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_column_of_no_finite_numbers_is_named(model, name):
    rows, message = problems()[name]
    runs = {"groups": np.arange(40) // 4} if isinstance(model, ConservedQuantities) else {}
    with pytest.raises((TypeError, ValueError), match=message) as error:
        sklearn.clone(model).fit(rows, np.arange(40) % 2, **runs)
    assert "HistGradientBoosting" not in str(error.value)


def test_columns_of_blocks_and_moments_are_named():
    rows, message = problems()["NaN"]
    with pytest.raises(ValueError, match=f"Block 1.*{message}"):
        OAVI().fit(Blocks([frame(width=X[:, 1]), rows]))
    with pytest.raises(ValueError, match=message):
        Moments(2, 1).update(rows)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_column_of_many_rows_is_named(n_jobs):
    rows = np.ones((600_000, 2))
    rows[400_000, 1] = np.nan
    with pytest.raises(ValueError, match=r"1 of 600000 rows in column 1, .* row 400000"):
        OAVI(n_jobs=n_jobs).fit(rows)


# ------------------------------------------------------------------------------------ bad rows

BAD_ROWS = {
    "NaN": ([[np.nan, 1.0]], "NaN"),
    "infinity": ([[np.inf, 1.0]], "infinity"),
    "one dimension": ([1.0, 2.0], "Expected 2D array, got 1D"),
    "three dimensions": (np.zeros((2, 2, 2)), "dim 3"),
    "a number": (3.0, "Expected 2D array, got scalar"),
    "nothing": (None, "Expected 2D array"),
    "no rows": (np.zeros((0, 2)), "0 sample"),
    "no columns": (np.zeros((3, 0)), "0 feature"),
    "strings": ([["a", "b"]], "string"),
    "complex": (np.array([[1j, 0]]), "[Cc]omplex"),
    "complex list": ([[1j, 0]], "[Cc]omplex"),
    "objects": (np.array([[object(), 1]]), "object"),
    "sparse matrix": (scipy.sparse.csr_matrix(np.eye(2)), "dense data is required"),
    "sparse array": (scipy.sparse.csc_array(np.eye(2)), "dense data is required"),
}


@pytest.mark.parametrize("rows, message", BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_rows(rows, message):
    with pytest.raises((ValueError, TypeError), match=message):
        OAVI().fit(rows)
    model = OAVI(0.1).fit(X[:, :2])
    with pytest.raises((ValueError, TypeError), match="0 feature|2 features" + "|" + message):
        model.transform(rows)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_transform_with_other_columns(n):
    model = OAVI().fit(X)
    with pytest.raises(ValueError, match=f"X has {n} features.*expecting 3"):
        model.transform(np.zeros((5, n)))


def test_transform_with_other_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = OAVI().fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c"]])


@pytest.mark.parametrize("method", ["transform", "get_feature_names_out"])
def test_unfitted(method):
    model = OAVI()
    arguments = [X] if method == "transform" else []
    with pytest.raises(NotFittedError):
        getattr(model, method)(*arguments)


def test_a_fit_that_failed_is_no_fit():
    def failing(gram, cross, norm, *, psi, radius):
        raise ZeroDivisionError

    model = OAVI(oracle=failing)
    with pytest.raises(ZeroDivisionError):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


# ------------------------------------------------------------------------------ bad parameters

BAD_PARAMETERS = {
    "psi": [-1, -1e-9, 1, 1.0, 2, np.nan, np.inf, "0.1", True, None, 0.1j, [0.1], np.array([0.1])],
    "oracle": ["foo", "PCG", None, 3, ["pcg"]],
    "border": ["x", "GB", None, 1],
    "feature_order": ["x", "Pearson", None, [1, 0]],
    "tau": [1.99, 1, -5, np.nan, np.inf, "Auto", "2", None, True, 2j],
    "eps": [-1e-9, np.nan, "a", None, True],
    "tol": [-1e-9, np.nan, "a", None, True],
    "max_iter": [0, -1, 1.5, 10.0, "a", None, True],
    "max_degree": [0, -1, 1.5, 2.0, "3", None, True, np.nan, np.inf],
    "max_terms": [0, -1, 1.5, 2.0, "3", True, np.nan],
    "chunk_size": [0, -1, 1.5, 2.0, "3", True, np.nan],
}


@pytest.mark.parametrize(
    "name, value", [(name, value) for name, values in BAD_PARAMETERS.items() for value in values]
)
def test_bad_parameters(name, value):
    """The message names the parameter and what it got."""
    with pytest.raises(
        (ValueError, TypeError), match=f"^{name} must be .*{re.escape(repr(value))}"
    ):
        OAVI(**{name: value}).fit(X)


@pytest.mark.parametrize(
    "name, value",
    [
        ("psi", np.float32(0.1)),
        ("psi", 0),
        ("tau", 2),
        ("tau", np.float64(3)),
        ("tau", "auto"),
        ("eps", 0),
        ("eps", 1),
        ("tol", 0),
        ("max_degree", np.int64(2)),
        ("max_degree", 10**9),
        ("max_terms", np.int32(5)),
        ("chunk_size", np.uint8(3)),
    ],
)
def test_good_parameters(name, value):
    model = fit_quietly(X, **{name: value})
    assert model.n_terms_ > 1
    assert model.get_params()[name] is value


def test_tau_auto_needs_psi():
    with pytest.raises(ValueError, match=r"tau='auto'.*psi"):
        OAVI(0, tau="auto").fit(X)


BAD_ORACLES = {
    "wrong shape": (lambda g, c, d, *, psi, radius: (np.zeros(len(c) + 1), 0.0), "shape"),
    "a matrix": (lambda g, c, d, *, psi, radius: (np.zeros((1, len(c))), 0.0), "shape"),
    "NaN": (lambda g, c, d, *, psi, radius: (np.full(len(c), np.nan), 0.0), "finite"),
    "complex": (lambda g, c, d, *, psi, radius: (np.zeros(len(c)) * 1j, 0.0), "real"),
    "no pair": (lambda g, c, d, *, psi, radius: np.zeros(len(c)), "pair"),
    "nothing": (lambda g, c, d, *, psi, radius: None, "pair"),
}


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("oracle, message", BAD_ORACLES.values(), ids=BAD_ORACLES)
def test_bad_oracles(oracle, message, certify):
    with pytest.raises((ValueError, TypeError), match=f"oracle.*{message}"):
        OAVI(0.1, oracle=oracle, certify=certify).fit(X)


BAD_WEIGHTS = {
    "negative": (-np.ones(40), "negative"),
    "one negative": (np.append(np.ones(39), -1e-9), "negative"),
    "all zero": (np.zeros(40), "zero on all rows"),
    "too few": (np.ones(39), r"shape \(40,\)"),
    "too many": (np.ones(41), r"shape \(40,\)"),
    "a column": (np.ones((40, 1)), r"shape \(40,\)"),
    "a number": (2.0, "dimension"),
    "NaN": (np.full(40, np.nan), "sample_weight contains NaN"),
    "infinity": (np.full(40, np.inf), "sample_weight contains infinity"),
    "strings": (["a"] * 40, "string"),
    "complex": (np.ones(40) * 1j, "[Cc]omplex"),
}


@pytest.mark.parametrize("weights, message", BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights(weights, message):
    with pytest.raises((ValueError, TypeError), match=message):
        OAVI().fit(X, sample_weight=weights)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e12, 1e300])
def test_weights_in_any_unit(unit):
    weights = np.random.default_rng(1).uniform(size=40)
    model = OAVI().fit(X, sample_weight=weights)
    assert_same_model(OAVI().fit(X, sample_weight=unit * weights), model)
    assert_same_model(OAVI().fit(X, sample_weight=(unit * weights).tolist()), model)


# ---------------------------------------------------------------------- the end of construction


@pytest.mark.parametrize("certify", [True, False])
def test_nothing_vanishes(certify):
    """One warning, from fit; no columns and no more warnings from transform."""
    model, caught = fit_recorded(X, psi=1e-6, max_degree=2, certify=certify)
    assert len(caught) == 1
    assert issubclass(caught[0].category, UserWarning)
    assert "nothing vanishes" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.n_generators_ == model.degree_ == model.sparsity_ == 0
    assert model.n_terms_ == 10
    assert model.coef_.shape == (0, 10)
    assert model.leading_terms_.shape == (0, 3)
    assert model.mse_.shape == model.leading_coef_.shape == (0,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.transform(X).shape == (40, 0)
        assert model.get_feature_names_out().shape == (0,)


def test_no_warning_where_all_is_well():
    for oracle in ORACLES:
        assert fit_recorded(X, psi=0.005, oracle=oracle)[1] == []


@pytest.mark.parametrize("oracle", ["pcg", "ls"])
@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("border", ["gb", "bb"])
def test_max_terms_keeps_what_comes_before(border, certify, oracle):
    """The model is that of the unbounded fit, up to the first term that did not fit in."""
    parameters = {"psi": 0.005, "border": border, "certify": certify, "oracle": oracle}
    full = OAVI(**parameters).fit(X)
    for max_terms in range(1, full.n_terms_):
        model, caught = fit_recorded(X, **parameters, max_terms=max_terms)
        assert [w.category for w in caught] == [ConvergenceWarning]
        assert f"max_terms={max_terms}" in str(caught[0].message)
        assert as_tuples(model.terms_) == as_tuples(full.terms_[:max_terms])
        refused = deglex_key(full.terms_[max_terms].tolist())
        leading = as_tuples(full.leading_terms_)
        kept = [i for i, term in enumerate(leading) if deglex_key(term) < refused]
        assert as_tuples(model.leading_terms_) == [leading[i] for i in kept]
        np.testing.assert_allclose(model.coef_, full.coef_[kept, :max_terms], atol=1e-9)
        np.testing.assert_allclose(model.mse_, full.mse_[kept], rtol=1e-6)
        check_model(model, X, 0.005)
    for max_terms in (full.n_terms_, full.n_terms_ + 1):
        model, caught = fit_recorded(X, **parameters, max_terms=max_terms)
        assert caught == []
        assert_same_model(model, full)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("max_degree", [1, 2, 3])
def test_max_degree_is_that_of_the_generators(max_degree, border):
    full = OAVI(0.005, border=border).fit(X)
    assert full.degree_ > 2
    model = fit_quietly(X, psi=0.005, border=border, max_degree=max_degree)
    kept = full.leading_terms_.sum(axis=1) <= max_degree
    assert as_tuples(model.leading_terms_) == as_tuples(full.leading_terms_[kept])
    terms = full.terms_[full.terms_.sum(axis=1) <= max_degree]
    assert as_tuples(model.terms_) == as_tuples(terms)


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("border", ["gb", "bb"])
def test_a_border_that_outgrows_memory_stops_the_fit(border, certify):
    """100 columns in one MiB: degree 1 fits, degree 2 does not."""
    rng = np.random.default_rng(0)
    wide = np.hstack([rng.uniform(size=(300, 60)), 0.05 * rng.uniform(size=(300, 40))])
    parameters = {"psi": 0.005, "border": border, "certify": certify, "max_iter": 500}
    with sklearn.config_context(working_memory=1):
        model, caught = fit_recorded(wide, **parameters)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert re.search("border of degree 2.*working memory of 1 MiB", str(caught[0].message))
    assert model.n_generators_ == 40
    assert model.n_terms_ == 61
    check_model(model, wide, 0.005)
    assert_same_model(fit_quietly(wide, max_degree=1, **parameters), model)


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("border", ["gb", "bb"])
def test_little_memory_changes_nothing_where_it_suffices(border, certify):
    """Borders of more than a slab are settled in parts."""
    data = np.random.default_rng(0).uniform(size=(400, 12))
    parameters = {"psi": 3e-4, "border": border, "certify": certify, "max_degree": 3}
    parameters["max_iter"] = 50
    expected = fit_quietly(data, **parameters)
    with sklearn.config_context(working_memory=1):
        model = fit_quietly(data, **parameters)
    assert_same_model(model, expected)


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("scale, degree", [(1e40, 4), (1e80, 2), (1e200, 1), (1e300, 1)])
def test_overflow_stops_the_fit(scale, degree, certify):
    model, caught = fit_recorded(scale * (0.5 + X), certify=certify)
    assert [w.category for w in caught] == [ConvergenceWarning]
    message = str(caught[0].message)
    assert f"terms of degree {degree} overflow" in message
    assert "Scale the data" in message
    assert model.terms_.sum(axis=1).max() == degree - 1
    assert model.transform(X).shape == (40, 0)


@pytest.mark.parametrize("certify", [True, False])
def test_an_oracle_that_runs_out_of_steps_says_so(certify):
    """Uncertified that may miss generators. Certified the closed form steps in."""
    model, caught = fit_recorded(X, psi=0.005, max_iter=1, certify=certify)
    check_model(model, X, 0.005)
    if certify:
        assert caught == []
        assert as_tuples(model.terms_) == as_tuples(OAVI(0.005).fit(X).terms_)
    else:
        assert [w.category for w in caught] == [ConvergenceWarning]
        assert re.search("max_iter steps on [0-9]+ border terms", str(caught[0].message))


def test_a_ball_that_is_too_small_is_counted_in_one_warning():
    line = np.column_stack([X[:, 0], 3 * X[:, 0]])  # x1 - 3 x0 is outside, tau = 2
    model, caught = fit_recorded(line, psi=1e-4, tau=2, max_degree=1)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "1 border term" in str(caught[0].message)
    assert "tau" in str(caught[0].message)
    assert model.n_generators_ == 0
    assert OAVI(1e-4, tau=5, max_degree=1).fit(line).n_generators_ == 1


# ------------------------------------------------------------------------------- degenerate data


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def degenerate():
    rng = np.random.default_rng(1)
    base = rng.uniform(size=(25, 3))
    angle = np.arange(25.0)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return {
        "one row": base[:1],
        "two rows": base[:2],
        "one column": base[:, :1],
        "one number": base[:1, :1],
        "zeros": np.zeros((5, 2)),
        "constant column": np.column_stack([base[:, :2], np.full(25, 0.3)]),
        "duplicate columns": np.column_stack([base[:, :2], base[:, 0]]),
        "repeated rows": np.repeat(base[:4], 6, axis=0),
        "integers": rng.integers(0, 4, size=(25, 3)),
        "small integers": rng.integers(0, 250, size=(25, 2)).astype(np.uint8),
        "bool": rng.integers(0, 2, size=(25, 3)).astype(bool),
        "read-only": read_only(base),
        "Fortran": np.asfortranarray(base),
        "strided": np.repeat(base, 2, axis=0)[::2, ::-1],
        "single precision": base.astype(np.float32),
        "half precision": base.astype(np.float16),
        "values of 30": 30 * base,
        "values of 1e8": 1e8 * base,
        "values of 1e-12": 1e-12 * base,
        "1e8 and 1e-12": base * np.array([1e8, 1.0, 1e-12]),
        "duplicate columns, 1e8": 1e8 * np.column_stack([base[:, :2], base[:, 0]]),
        "near 1e8": 1e8 + base,
        "circle of radius 1e4": 1e4 * circle,
    }


DEGENERATE = degenerate()


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data(name, oracle, certify):
    data = DEGENERATE[name]
    for border in ("gb", "bb"):
        for psi in (0.1, 0.005):
            parameters = {"oracle": oracle, "certify": certify, "border": border}
            model = fit_quietly(data, psi=psi, max_degree=4, max_iter=1000, **parameters)
            check_model(model, data, psi)


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_exactly(name):
    """psi = 0: what is found vanishes up to rounding, and O is no larger than the rows."""
    data = DEGENERATE[name]
    model = fit_quietly(data, psi=0, max_degree=3)
    values, scale = values_and_scale(model, data)
    assert np.all(np.abs(values) <= 1e-11 * np.sqrt(np.mean(scale**2, axis=0)))
    assert model.n_terms_ <= len(np.unique(data, axis=0))


@pytest.mark.parametrize("seed", range(10))
def test_measured_mse_agrees_with_the_decision(seed):
    """Two equal columns of 1e8: the mse of x1^2 - x0 x1 is all rounding, on whichever side."""
    column = 1e8 * np.random.default_rng(seed).uniform(size=(5, 1))
    data = np.hstack([column, column])
    model = fit_quietly(data, psi=0.01, oracle="ls", border="bb", max_degree=2)
    assert model.n_generators_ > 0
    assert np.all(model.mse_ <= 0.01)


@pytest.mark.parametrize("oracle", ORACLES)
def test_kind_of_numbers_does_not_matter(oracle):
    """Integers, single precision, layouts: the same model as that of the same float64 numbers."""
    for name in ("integers", "bool", "small integers", "read-only", "Fortran", "single precision"):
        data = DEGENERATE[name]
        parameters = {"psi": 0.01, "oracle": oracle, "max_degree": 3}
        model = fit_quietly(data, **parameters)
        plain = np.array(data, dtype=np.float64, order="C")
        assert_same_model(fit_quietly(plain, **parameters), model, coef_tol=1e-8)


def test_constant_columns_vanish_at_degree_one():
    """Whatever their value is: x_i - value."""
    for value in (0.0, 0.3, -7.0):
        data = np.column_stack([np.full(40, value), X])
        model = OAVI(1e-6, oracle="ls", max_degree=1).fit(data)
        assert as_tuples(model.leading_terms_) == [(1, 0, 0, 0)]
        np.testing.assert_allclose(model.coef_[0], [-value, 0, 0, 0], atol=1e-12)


def test_one_row_is_a_point():
    model = OAVI(0).fit([[0.2, -3.0, 5.0]])
    assert as_tuples(model.terms_) == [(0, 0, 0)]
    assert as_tuples(model.leading_terms_) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    np.testing.assert_allclose(model.coef_[:, 0], [-0.2, 3.0, -5.0], rtol=1e-14)


# ---------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("oracle", [*ORACLES, lambda g, c, d, *, psi, radius: (0 * c, d)])
def test_fit_leaves_parameters_and_data_alone(oracle):
    model = OAVI(0.01, oracle=oracle, tau="auto", feature_order="pearson", max_terms=100)
    before = model.get_params()
    data, weights = X.copy(), np.linspace(0, 1, 40)
    model.fit(data, sample_weight=weights)
    after = model.get_params()
    assert before.keys() == after.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(weights, np.linspace(0, 1, 40))


def test_fit_forgets_the_fit_before():
    pandas = pytest.importorskip("pandas")
    model = OAVI(0.01).fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(X[:, :2])
    assert_same_model(model, OAVI(0.01).fit(X[:, :2]), coef_tol=0)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    assert "x1" in str(model.generators_)


def test_verbose_prints_a_line_a_degree(capsys):
    model = OAVI(0.005, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.degree_
    pattern = r".*degree (\d+): border (\d+), \|O\| (\d+), \|G\| (\d+), \d+\.\d+ s"
    numbers = [tuple(map(int, re.fullmatch(pattern, line).groups())) for line in lines]
    n_terms = n_generators = None
    for degree, (printed, border, n_terms, n_generators) in enumerate(numbers, start=1):
        assert printed == degree
        new = [
            np.count_nonzero(t.sum(axis=1) == degree) for t in (model.terms_, model.leading_terms_)
        ]
        assert border == sum(new)
        assert n_terms == np.count_nonzero(model.terms_.sum(axis=1) <= degree)
        assert n_generators == np.count_nonzero(model.leading_terms_.sum(axis=1) <= degree)
    assert (n_terms, n_generators) == (model.n_terms_, model.n_generators_)
    OAVI(0.005).fit(X)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("power", range(1, 13))
def test_tau_auto_at_powers_of_four(power):
    """D = ceil(-log psi / log 4) is exact there, and one more just below."""
    assert tau_of(OAVI(4.0**-power, tau="auto")) == max(2.0, 1.5**power)
    assert tau_of(OAVI(0.999 * 4.0**-power, tau="auto")) == max(2.0, 1.5 ** (power + 1))


@pytest.mark.parametrize("oracle", ["pcg", "omp"])
def test_tau_auto_is_that_number(oracle):
    """psi = 0.005: D = 4, tau = 1.5^4 = 5.0625, which x1 - 4 x0 keeps and x1 - 4.2 x0 does not."""
    for slope, n_generators in ((4.0, 1), (4.2, 0)):
        data = np.column_stack([X[:, 0], slope * X[:, 0]])
        model = fit_quietly(data, psi=0.005, oracle=oracle, tau="auto", max_degree=1)
        assert model.n_generators_ == n_generators
        same = fit_quietly(data, psi=0.005, oracle=oracle, tau=1.5**4, max_degree=1)
        assert_same_model(model, same, coef_tol=0)


# -------------------------------------------------------------------------------- feature order


def correlated_columns():
    """Four columns; the sums of absolute correlations rank them 2, 0, 3, 1."""
    rng = np.random.default_rng(3)
    common = rng.uniform(size=200)
    columns = [common + spread * rng.uniform(size=200) for spread in (1.2, 0.1, 9.0, 0.5)]
    columns[3] = -columns[3]
    return np.column_stack(columns) / 10


@pytest.mark.parametrize(
    "feature_order, order",
    [("given", [0, 1, 2, 3]), ("pearson", [2, 0, 3, 1]), ("rev_pearson", [1, 3, 0, 2])],
)
@pytest.mark.parametrize("oracle", ["pcg", "ls"])
def test_feature_order(feature_order, order, oracle):
    """As if the columns had been sorted before, but exponents refer to the input's columns."""
    data = correlated_columns()
    sums = np.abs(np.corrcoef(data, rowvar=False)).sum(axis=0)
    if feature_order != "given":
        assert np.argsort(sums if feature_order == "pearson" else -sums).tolist() == order
    model = OAVI(1e-4, oracle=oracle, feature_order=feature_order).fit(data)
    assert model.feature_order_.tolist() == order
    sorted_first = OAVI(1e-4, oracle=oracle).fit(data[:, order])
    assert model.n_generators_ > 3
    assert as_tuples(model.terms_[:, order]) == as_tuples(sorted_first.terms_)
    assert as_tuples(model.leading_terms_[:, order]) == as_tuples(sorted_first.leading_terms_)
    np.testing.assert_allclose(model.coef_, sorted_first.coef_, atol=1e-9)
    check_model(model, data, 1e-4)
    np.testing.assert_allclose(
        model.transform(data), sorted_first.transform(data[:, order]), atol=1e-9
    )
    for g in model.generators_:
        assert np.mean(g(data) ** 2) <= 1e-4 * (1 + 1e-9)


def test_feature_order_with_ties_is_the_order_given():
    """Constant columns correlate with nothing, equal columns equally."""
    data = np.column_stack([X[:, 0], np.ones(40), X[:, 0], np.zeros(40), X[:, 0]])
    for feature_order, order in (("pearson", [1, 3, 0, 2, 4]), ("rev_pearson", [0, 2, 4, 1, 3])):
        model = OAVI(0.01, feature_order=feature_order).fit(data)
        assert model.feature_order_.tolist() == order


def test_feature_order_uses_weights():
    data = correlated_columns()
    rng = np.random.default_rng(0)
    data = np.vstack([data, rng.uniform(size=(200, 4))])
    weights = np.repeat([1.0, 0.0], 200)
    model = OAVI(0.01, feature_order="pearson").fit(data, sample_weight=weights)
    assert model.feature_order_.tolist() == [2, 0, 3, 1]
