"""Moments as an object: what they are, how they add up, files, and models fitted to them."""

import json
import math
import random
import warnings
from functools import reduce
from operator import add

import numpy as np
import pytest
from helpers import as_tuples, assert_same_model
from reference import evaluate
from sklearn.exceptions import ConvergenceWarning

from vanishing import OAVI, Moments
from vanishing.rows.moments import MomentReader, MomentsFileError
from vanishing.rows.reader import ArrayReader

M = 600
RNG = np.random.default_rng(0)
ANGLE = RNG.uniform(0, 2 * np.pi, M)
X = np.column_stack([0.5 + 0.5 * np.cos(ANGLE), 0.5 + 0.5 * np.sin(ANGLE), RNG.uniform(size=M)])
X += RNG.normal(scale=0.01, size=X.shape)  # a cylinder
WEIGHTS = RNG.uniform(size=M)
WEIGHTS[::7] = 0.0


def moments_of(rows, weights=None, *, max_degree=2, **names):
    return Moments(rows.shape[1], max_degree, **names).update(rows, weights)


def assert_same_sums(moments, other):
    assert as_tuples(moments.terms) == as_tuples(other.terms)
    np.testing.assert_allclose(moments.sums, other.sums, rtol=1e-12, atol=1e-12)
    assert moments.n_samples == other.n_samples
    assert moments.total_weight == pytest.approx(other.total_weight, rel=1e-12)


# ------------------------------------------------------------------------------- what they are


@pytest.mark.parametrize("n_features, max_degree", [(1, 1), (1, 5), (3, 2), (4, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_monomials(n_features, max_degree, weighted):
    rows = np.resize(X, (200, n_features))
    weights = WEIGHTS[:200] if weighted else None
    moments = moments_of(rows, weights, max_degree=max_degree)
    assert len(moments.terms) == math.comb(n_features + 2 * max_degree, n_features)
    assert len(set(as_tuples(moments.terms))) == len(moments.terms)
    assert moments.terms.sum(axis=1).max() == 2 * max_degree
    counts = np.ones(200) if weights is None else weights
    expected = counts @ evaluate(moments.terms, rows)
    np.testing.assert_allclose(moments.sums, expected, rtol=1e-12)
    assert moments.n_samples == np.count_nonzero(counts)
    assert moments.total_weight == pytest.approx(counts.sum(), rel=1e-14)
    assert moments.sums[0] == moments.total_weight


def test_terms_are_in_deglex_order():
    assert as_tuples(Moments(2, 1).terms) == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]


@pytest.mark.parametrize("sizes", [[M], [1] * 20 + [M - 20], [599, 1], [200, 200, 200]])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_do_not_matter(sizes, weighted):
    batched = Moments(3, 2)
    start = 0
    for size in sizes:
        here = slice(start, start + size)
        # A batch without any weight would be an error.
        batched.update(X[here], WEIGHTS[here] + 0.1 if weighted else None)
        start += size
    assert_same_sums(batched, moments_of(X, WEIGHTS + 0.1 if weighted else None))


def test_merging_commutes_and_is_accumulating():
    parts = [moments_of(X[i : i + 100]) for i in range(0, M, 100)]
    whole = moments_of(X)
    assert_same_sums(sum(parts), whole)
    assert_same_sums(reduce(add, reversed(parts)), whole)
    assert parts[0] + parts[1] == parts[1] + parts[0]
    assert parts[0] + Moments(3, 2) == parts[0]
    assert parts[0] != parts[1]
    assert parts[0] != "moments"


def test_merging_leaves_its_parts():
    a, b = moments_of(X[:300]), moments_of(X[300:])
    merged = a + b
    merged.update(X)
    assert a == moments_of(X[:300])
    assert b == moments_of(X[300:])
    a += b
    assert b == moments_of(X[300:])
    assert a.n_samples == M


def test_rows_of_weight_zero_are_absent():
    present = WEIGHTS > 0
    assert_same_sums(moments_of(X, WEIGHTS), moments_of(X[present], WEIGHTS[present]))


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e120])
def test_weights_keep_their_unit(unit):
    """An update must not rescale: the next one would count otherwise."""
    weights = WEIGHTS + 0.1
    halves = Moments(3, 1).update(X[:300], unit * weights[:300])
    halves.update(X[300:], 0.5 * unit * weights[300:])
    factors = np.repeat([1.0, 0.5], 300)
    expected = (unit * factors * weights) @ evaluate(halves.terms, X)
    np.testing.assert_allclose(halves.sums, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_other_numbers_are_summed_in_double(dtype):
    rows = (4 * X).astype(dtype)
    np.testing.assert_array_equal(moments_of(rows).sums, moments_of(rows.astype(float)).sums)


def test_it_says_what_it_is():
    assert repr(moments_of(X)) == (
        "<35 moments of 600 rows, 3 columns, for generators of degree up to 2>"
    )


# -------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, 1), "n_features must be an integer"),
        ((2.0, 1), "n_features must be an integer"),
        ((2, 0), "max_degree must be an integer"),
        ((2, True), "max_degree must be an integer"),
        ((1, 40_000), "max_degree must be an integer"),
        ((100, 4), "more than 2000000. Take a smaller max_degree, or fit to the rows"),
    ],
)
def test_impossible_sizes_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Moments(*arguments)


def test_names_must_be_as_many_as_columns():
    with pytest.raises(ValueError, match="feature_names must be 3 names; got 2"):
        Moments(3, 1, feature_names=["a", "b"])


@pytest.mark.parametrize(
    "rows, weights, message",
    [
        (X[:, :2], None, "X has 2 columns; these moments are of 3"),
        (np.where(X > 0.9, np.nan, X), None, "NaN"),
        (X[0], None, "Expected 2D array, got 1D"),
        (X[:0], None, "0 sample"),
        (X, np.ones(5), "one entry per row"),
        (X, -WEIGHTS, "negative"),
        (X, np.full(M, np.inf), "infinity"),
        (1e200 * X, None, "degree 4 overflow on these rows. Scale the data"),
        (X, np.full(M, 1e307), "overflow"),
    ],
)
def test_bad_rows_leave_the_moments_as_they_were(rows, weights, message):
    moments, same = moments_of(X), moments_of(X)
    with pytest.raises(ValueError, match=message):
        moments.update(rows, weights)
    assert moments == same


def test_an_overflow_of_the_sum_leaves_the_moments_as_they_were():
    huge = np.full((1, 3), 1.1e77)  # its fourth power is below the largest double, twice it is not
    moments, same = moments_of(huge), moments_of(huge)
    with pytest.raises(ValueError, match="overflow"):
        moments.update(huge)
    assert moments == same


@pytest.mark.parametrize(
    "other", [Moments(3, 1), Moments(2, 2), Moments(3, 2, feature_names=["a", "b", "c"])]
)
def test_only_moments_of_the_same_columns_can_be_added(other):
    with pytest.raises(ValueError, match="only moments of the same columns and max_degree"):
        moments_of(X) + other


def test_nothing_else_can_be_added():
    for other in (1, 0.0, X, None, "moments"):
        with pytest.raises(TypeError):
            moments_of(X) + other
        with pytest.raises(TypeError):
            other + moments_of(X)


# ---------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [None, ["a", "b", "Länge"]])
def test_a_file_gives_exactly_the_same_moments(tmp_path, names, weighted):
    moments = Moments(3, 2, feature_names=names)
    for start in range(0, M, 100):  # sums whose last digits depend on the order of summation
        here = slice(start, start + 100)
        moments.update(X[here] / 3, WEIGHTS[here] if weighted else None)
    moments.save(tmp_path / "moments.json")
    loaded = Moments.load(str(tmp_path / "moments.json"))
    assert loaded == moments
    np.testing.assert_array_equal(loaded.sums, moments.sums)
    assert (loaded.n_samples, loaded.total_weight) == (moments.n_samples, moments.total_weight)
    assert loaded.feature_names == (None if names is None else tuple(names))
    assert loaded.update(X) == moments.update(X)


def test_empty_moments_can_be_saved(tmp_path):
    Moments(2, 1).save(tmp_path / "moments.json")
    assert Moments.load(tmp_path / "moments.json") == Moments(2, 1)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "moments.json"
    moments_of(X).save(path)
    broken = moments_of(X)
    broken.sums[3] = np.nan
    with pytest.raises(ValueError):
        broken.save(path)
    assert Moments.load(path) == moments_of(X)
    assert [file.name for file in tmp_path.iterdir()] == ["moments.json"]


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        Moments.load(tmp_path / "nothing.json")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "moments.json"
    moments = Moments(2, 1, feature_names=["a", "b"]).update(X[:50, :2], WEIGHTS[:50])
    moments.save(path)
    return path


def test_truncated_files_are_refused(saved):
    content = saved.read_bytes()
    for length in range(len(content) - 2):  # the last two are the closing brace and a newline
        saved.write_bytes(content[:length])
        with pytest.raises(MomentsFileError, match="holds no moments that can be loaded"):
            Moments.load(saved)


VALUES = [None, True, -1, 0, 7, 0.5, 1e300, "text", [], [1.0], {}, {"a": 1.0}, 10**9, 10**400]
RAW = ["NaN", "Infinity", "-Infinity", "1e999"]


def test_values_of_other_kinds_are_refused(saved):
    """Every part replaced by everything: refused, or what the file says is what is loaded."""
    content = json.loads(saved.read_text())
    assert Moments.load(saved).n_samples > 0
    refused = set()
    for key in content:
        others = [value for value in VALUES if value != content[key]]
        texts = [json.dumps({**content, key: value}) for value in others]
        texts += [json.dumps({**content, key: "@"}).replace('"@"', raw) for raw in RAW]
        texts.append(json.dumps({name: part for name, part in content.items() if name != key}))
        for text in texts:
            saved.write_text(text)
            try:
                loaded = Moments.load(saved)
            except MomentsFileError:
                refused.add(key)
            else:
                assert loaded._content() == {
                    name: part
                    for name, part in json.loads(text).items()
                    if name not in ("format", "version")
                }
                assert key in ("feature_names", "n_samples")  # of any of them there may be others
    assert refused == set(content)


@pytest.mark.parametrize("value", ["0.5", None, True, 1, [1.0], math.nan, math.inf, {}])
def test_sums_of_other_kinds_are_refused(saved, value):
    content = json.loads(saved.read_text())
    for i in range(len(content["sums"])):
        sums = content["sums"].copy()
        sums[i] = value
        saved.write_text(json.dumps({**content, "sums": sums}))
        with pytest.raises(MomentsFileError):
            Moments.load(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_features": 3},
        {"max_degree": 2},
        {"n_features": 1, "max_degree": 30_000},
        {"n_features": 60_000, "max_degree": 30_000},  # as many sums would fill no memory
        {"n_samples": 0},
        {"total_weight": 1.0},
        {"feature_names": ["a"]},
        {"feature_names": "ab"},
        {"feature_names": {"a": 0, "b": 1}},
        {"format": "vanishing-model"},
        {"version": 2},
    ],
)
def test_contradictions_are_refused(saved, changes):
    content = json.loads(saved.read_text())
    saved.write_text(json.dumps({**content, **changes}))
    with pytest.raises(MomentsFileError):
        Moments.load(saved)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"\xff\xfe{}", b"[]", b"null", b"3", b'"text"', b"[" * 100_000, b"{}"],
)
def test_other_files_are_refused(saved, content):
    saved.write_bytes(content)
    with pytest.raises(MomentsFileError):
        Moments.load(saved)


def test_damaged_bytes_are_refused_or_harmless(saved):
    """Whatever one byte becomes: an error of this kind, or moments that could have been saved."""
    content = saved.read_bytes()
    random.seed(0)
    refused = 0
    for _ in range(500):
        damaged = bytearray(content)
        damaged[random.randrange(len(damaged))] = random.randrange(256)
        saved.write_bytes(damaged)
        try:
            loaded = Moments.load(saved)
        except MomentsFileError:
            refused += 1
            continue
        assert np.isfinite(loaded.sums).all()
        loaded.save(saved)
    assert 100 < refused < 500


# -------------------------------------------------------------------------------------- readers


def test_moments_answer_as_rows_do():
    rows, moments = ArrayReader(X, WEIGHTS), MomentReader(moments_of(X, WEIGHTS))
    assert moments.total_weight == pytest.approx(rows.total_weight)
    np.testing.assert_allclose(moments.correlations(), rows.correlations(), atol=1e-10)
    with_constant = np.column_stack([X, np.full(M, 0.1)])
    found = MomentReader(moments_of(with_constant)).correlations()
    np.testing.assert_allclose(found, ArrayReader(with_constant).correlations(), atol=1e-10)
    assert not found[3].any()


# --------------------------------------------------------------------------------------- models


def fit_both(rows, weights=None, *, moments_degree=3, **parameters):
    """The model of the rows and that of their moments."""
    parameters = {"psi": 0.005, "max_degree": 3} | parameters
    fitted = OAVI(**parameters).fit(rows, sample_weight=weights)
    moments = moments_of(rows, weights, max_degree=moments_degree)
    return fitted, OAVI(**parameters).fit_moments(moments)


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("oracle", ["pcg", "bpcg", "ls", "omp", "agd"])
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_moments_is_fit(oracle, border, weighted):
    fitted, from_moments = fit_both(X, WEIGHTS if weighted else None, oracle=oracle, border=border)
    assert fitted.n_generators_ > 1
    assert_same_model(from_moments, fitted)
    np.testing.assert_allclose(from_moments.transform(X), fitted.transform(X), atol=1e-6)


@pytest.mark.parametrize("order", ["pearson", "rev_pearson"])
@pytest.mark.parametrize("oracle", ["pcg", "ls"])
def test_columns_are_ordered_alike(oracle, order):
    rows = np.column_stack([X, 0.7 * X[:, 0] + 0.3 * X[:, 2]])[:, [2, 3, 0, 1]]
    fitted, from_moments = fit_both(rows, WEIGHTS, oracle=oracle, feature_order=order)
    np.testing.assert_array_equal(from_moments.feature_order_, fitted.feature_order_)
    assert sorted(fitted.feature_order_) != list(fitted.feature_order_)
    assert_same_model(from_moments, fitted)


def test_other_psi_without_the_rows():
    moments = moments_of(X, max_degree=3)
    sizes = []
    for psi in (0.1, 0.01, 0.001, 0.0005):
        model = OAVI(psi, max_degree=3).fit_moments(moments)
        assert_same_model(model, OAVI(psi, max_degree=3).fit(X))
        assert np.all(model.mse_ <= psi)
        sizes.append(model.n_terms_)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_a_model_is_updated_without_the_rows():
    """Those seen first tell of a plane as well; the later ones do not."""
    flat = X.copy()
    flat[:, 2] = 0.5
    moments = moments_of(flat[:300])
    model = OAVI(0.005, max_degree=2)
    assert (0, 0, 1) in as_tuples(model.fit_moments(moments).leading_terms_)
    model.fit_moments(moments.update(X[300:]))
    assert (0, 0, 1) not in as_tuples(model.leading_terms_)
    assert_same_model(model, OAVI(0.005, max_degree=2).fit(np.vstack([flat[:300], X[300:]])))


def test_moments_from_several_places_and_files(tmp_path):
    for i, start in enumerate(range(0, M, 200)):
        moments_of(X[start : start + 200], max_degree=3).save(tmp_path / f"{i}.json")
    moments = sum(Moments.load(file) for file in sorted(tmp_path.iterdir()))
    model = OAVI(0.005, max_degree=3).fit_moments(moments)
    assert_same_model(model, OAVI(0.005, max_degree=3).fit(X))


@pytest.mark.parametrize("moments_degree, max_degree", [(1, 3), (2, 3), (3, 2), (3, 1), (2, 10)])
def test_the_smaller_degree_counts(moments_degree, max_degree):
    model = OAVI(0.02, max_degree=max_degree).fit_moments(
        moments_of(np.column_stack([X, X[:, 0] - 0.5 * X[:, 1]]), max_degree=moments_degree)
    )
    degree = min(moments_degree, max_degree)
    rows = np.column_stack([X, X[:, 0] - 0.5 * X[:, 1]])
    assert_same_model(model, OAVI(0.02, max_degree=degree).fit(rows))
    assert model.degree_ == min(degree, model.degree_)
    assert model.max_degree == max_degree


def test_names_become_those_of_the_model():
    moments = moments_of(X, feature_names=["x", "y", "height"])
    model = OAVI(0.005, max_degree=2).fit_moments(moments)
    assert list(model.feature_names_in_) == ["x", "y", "height"]
    assert any("height" in str(g) or "y^2" in str(g) for g in model.generators_)
    model.fit_moments(moments_of(X))
    assert not hasattr(model, "feature_names_in_")
    assert "x1" in str(model.generators_[0])


def test_psi_zero_needs_the_rows():
    with pytest.raises(ValueError, match=r"psi=0 needs the rows.*Take psi > 0"):
        OAVI(0).fit_moments(moments_of(X))


def test_moments_of_no_rows():
    with pytest.raises(ValueError, match="the moments are of no rows: update them first"):
        OAVI().fit_moments(Moments(2, 2))


@pytest.mark.parametrize("wrong", [X, None, "moments.json", {"sums": []}])
def test_fit_moments_takes_moments_only(wrong):
    with pytest.raises(TypeError, match="fit_moments takes Moments; got"):
        OAVI().fit_moments(wrong)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="psi"):
        OAVI(psi=2.0).fit_moments(moments_of(X))


@pytest.mark.parametrize("oracle", ["pcg", "ls"])
def test_what_rounding_hides_is_said(oracle):
    """An exact circle at psi = 1e-15: the rows can tell, their moments cannot."""
    circle = np.column_stack([np.cos(ANGLE), np.sin(ANGLE)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert OAVI(1e-15, oracle=oracle, max_degree=2).fit(circle).n_generators_ == 1
    moments = moments_of(circle)
    with pytest.warns(ConvergenceWarning, match=r"rounding of the moments hides.*Fit to the rows"):
        model = OAVI(1e-15, oracle=oracle, max_degree=2).fit_moments(moments)
    assert model.n_generators_ == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OAVI(1e-9, oracle=oracle, max_degree=2).fit_moments(moments)
    np.testing.assert_allclose(model.coef_ @ (model.terms_.sum(axis=1) == 0), [-1], atol=1e-3)


@pytest.mark.parametrize("scale", [3.0, 30.0, 1e4])
@pytest.mark.parametrize("oracle", ["pcg", "ls"])
def test_unscaled_rows_give_valid_generators_or_a_warning(oracle, scale):
    """Every generator has the mse that it claims, measured on the rows; what is missed is said."""
    rows = scale * np.column_stack([np.cos(ANGLE), np.sin(ANGLE), X[:, 2]])
    options = {"psi": 1e-3, "oracle": oracle, "max_degree": 2, "tau": 1e12}
    fitted = OAVI(**options).fit(rows)
    assert fitted.n_generators_ > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OAVI(**options).fit_moments(moments_of(rows))
    assert np.all(np.mean(model.transform(rows) ** 2, axis=0) <= 1e-3 * (1 + 1e-6))
    missed = model.n_generators_ < fitted.n_generators_
    assert missed == (scale == 1e4)
    assert missed == any(issubclass(w.category, ConvergenceWarning) for w in caught)
