"""What the paper proves about OAVI, checked on fitted models by evaluating with plain NumPy."""

import math
import warnings

import numpy as np
import pytest
from helpers import BALL_ORACLES, ORACLES, as_tuples, assert_same_model
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import border as border_terms
from reference import deglex_key, divides, divisors, evaluate, least_squares

from vanishing import OAVI

# ------------------------------------------------------------------------------------- data


def uniform(seed, m, n):
    """Uniform points of the unit cube."""
    return np.random.default_rng(seed).uniform(size=(m, n))


def near_a_circle(seed, m=60, noise=0.02):
    """Points of the unit square near a circle."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, m)
    X = 0.5 + 0.45 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.clip(X + rng.normal(scale=noise, size=X.shape), 0, 1)


def near_a_plane(seed, m=70, n=4):
    """Points of the unit cube near a plane through its middle."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(m, 2)) @ rng.normal(size=(2, n)) + rng.normal(scale=0.05, size=(m, n))
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


DATA = {
    "uniform, 2 variables": uniform(0, 40, 2),
    "uniform, 3 variables": uniform(1, 60, 3),
    "near a circle": near_a_circle(2),
    "near a plane": near_a_plane(3),
}


def fit(X, psi, **parameters):
    """A fitted OAVI; that nothing vanishes, or that the ball refuses terms, is no news here."""
    sample_weight = parameters.pop("sample_weight", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return OAVI(psi, **parameters).fit(X, sample_weight=sample_weight)


def values(model, X):
    """Values of the generators (columns) on the rows of X, by the definition."""
    return evaluate(model.leading_terms_, X) + evaluate(model.terms_, X) @ model.coef_.T


# ------------------------------------------------------------------------------- planted varieties


def sphere_points():
    """200 points spread over the sphere in [0, 1]^3."""
    i = np.arange(200) + 0.5
    height, angle = 1 - 2 * i / 200, np.pi * (1 + 5**0.5) * i
    radius = np.sqrt(1 - height**2)
    directions = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    return 0.5 + 0.5 * directions


def planted():
    """Name: (points, degree, {leading term: {term: coefficient}})."""
    angle = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    t = np.linspace(0, 1, 30)
    crossing = np.vstack([np.column_stack([t, t]), np.column_stack([t, 1 - t])])
    constant = (0, 0, 0)
    return {
        "circle": (
            0.5 + 0.5 * np.column_stack([np.cos(angle), np.sin(angle)]),
            2,
            {(0, 2): {(0, 0): 0.25, (1, 0): -1, (0, 1): -1, (2, 0): 1}},
        ),
        "crossing lines": (crossing, 2, {(0, 2): {(1, 0): 1, (0, 1): -1, (2, 0): -1}}),
        "sphere": (
            sphere_points(),
            2,
            {
                (0, 0, 2): {
                    constant: 0.5, (1, 0, 0): -1, (0, 1, 0): -1, (0, 0, 1): -1,
                    (2, 0, 0): 1, (0, 2, 0): 1,
                }
            },
        ),
        "twisted cubic": (
            np.column_stack([2 * t - 1, (2 * t - 1) ** 2, (2 * t - 1) ** 3]),
            2,
            {
                (2, 0, 0): {(0, 1, 0): -1},
                (1, 1, 0): {(0, 0, 1): -1},
                (1, 0, 1): {(0, 2, 0): -1},
            },
        ),
    }  # fmt: skip


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", planted())
def test_planted_varieties_are_found(name, oracle):
    X, degree, expected = planted()[name]
    model = fit(X, 1e-10, oracle=oracle, max_degree=degree)
    assert as_tuples(model.leading_terms_) == list(expected)
    coef = np.zeros_like(model.coef_)
    for row, polynomial in zip(coef, expected.values(), strict=True):
        for term, c in polynomial.items():
            row[as_tuples(model.terms_).index(term)] = c
    # mse <= psi leaves the coefficients free by sqrt(psi / smallest eigenvalue of the Gram matrix).
    columns = evaluate(model.terms_, X)
    freedom = math.sqrt(1e-10 / np.linalg.eigvalsh(columns.T @ columns / len(X))[0])
    assert freedom < 0.05
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1.01 * freedom)


@pytest.mark.parametrize("n, degree", [(1, 4), (2, 4), (3, 3), (5, 2)])
def test_generic_points_give_nothing(n, degree):
    m = math.comb(n + degree, degree)
    X = uniform(n, 2 * m, n)
    with pytest.warns(UserWarning):
        model = OAVI(1e-10, max_degree=degree).fit(X)
        features = model.transform(X)
    assert features.shape == (2 * m, 0)
    assert model.n_generators_ == 0
    assert model.n_terms_ == m
    assert model.degree_ == 0


@pytest.mark.parametrize("n, degree", [(1, 4), (2, 4), (3, 3), (5, 2)])
def test_as_many_generic_points_as_terms_are_interpolated(n, degree):
    """C(n + d, d) generic points: all terms up to degree d in O, all of degree d + 1 lead."""
    m = math.comb(n + degree, degree)
    model = fit(uniform(n, m, n), 0, max_degree=degree + 1)
    assert model.n_terms_ == m
    assert model.n_generators_ == math.comb(n + degree, degree + 1)
    assert model.degree_ == degree + 1


# ------------------------------------------------------------------------------ every generator


def check_generators(model, X, psi):
    """mse <= psi measured here, leading coefficient one, non-leading terms before it and in O."""
    mse = np.mean(values(model, X) ** 2, axis=0)
    assert np.all(mse <= psi * (1 + 1e-9))
    assert np.all(model.mse_ <= psi)
    np.testing.assert_allclose(model.mse_, mse, rtol=1e-6, atol=1e-14)
    np.testing.assert_array_equal(model.leading_coef_, np.ones(model.n_generators_))
    terms, leading = as_tuples(model.terms_), as_tuples(model.leading_terms_)
    assert terms[0] == (0,) * X.shape[1]
    assert terms == sorted(set(terms), key=deglex_key)
    assert leading == sorted(set(leading), key=deglex_key)
    assert not set(terms) & set(leading)
    for term, coef in zip(leading, model.coef_, strict=True):
        later = [i for i, t in enumerate(terms) if deglex_key(t) > deglex_key(term)]
        np.testing.assert_array_equal(coef[later], 0)
    assert model.coef_.shape == (model.n_generators_, model.n_terms_)
    assert (len(leading), len(terms)) == (model.n_generators_, model.n_terms_)
    assert model.degree_ == max(map(sum, leading), default=0)


def check_vanishing(model, X, psi):
    """mse <= psi as the model measured it, and as measured here up to rounding of the values."""
    assert np.all(model.mse_ <= psi)
    leading, terms = np.abs(evaluate(model.leading_terms_, X)), np.abs(evaluate(model.terms_, X))
    rounding = 1e-15 * (leading + terms @ np.abs(model.coef_).T).max(axis=0)
    root_mse = np.sqrt(np.mean(values(model, X) ** 2, axis=0))
    assert np.all(root_mse <= math.sqrt(psi) * (1 + 1e-6) + rounding)


def check_construction(model, kind):
    """O and the leading terms are, degree by degree, the whole border, up to the last degree."""
    terms, leading = as_tuples(model.terms_), as_tuples(model.leading_terms_)
    last = max(sum(t) for t in terms + leading)
    seen = []
    for degree in range(1, last + 1):
        seen += border_terms(terms, degree, kind)
    assert seen == sorted(terms[1:] + leading, key=deglex_key)
    if last < model.max_degree:
        assert border_terms(terms, last + 1, kind) == []
    assert len(leading) <= model.n_features_in_ * len(terms)


def check_order_ideal(model):
    """GB border: O is closed under division, and no leading term divides another."""
    terms, leading = as_tuples(model.terms_), as_tuples(model.leading_terms_)
    for term in terms:
        assert set(divisors(term)) <= set(terms)
    for u in leading:
        assert set(divisors(u)) <= set(terms) | {u}
        assert not any(divides(v, u) for v in leading if v != u)


def check_maximality(model, X, psi):
    """No polynomial with terms in O only, and leading coefficient one, vanishes below psi."""
    columns = evaluate(model.terms_, X)
    for i in range(model.n_terms_):
        assert least_squares(columns[:, :i], columns[:, i])[1] > psi * (1 - 1e-9)
    assert model.n_terms_ <= len(X)


def check_sparsity(model):
    """Zeros over entries, the entries being |O| when each generator was found."""
    keys = [deglex_key(t) for t in as_tuples(model.terms_)]
    entries = zeros = 0
    for term, coef in zip(as_tuples(model.leading_terms_), model.coef_, strict=True):
        k = sum(key < deglex_key(term) for key in keys)
        entries += k
        zeros += int(np.sum(coef[:k] == 0))
    assert model.sparsity_ == pytest.approx(zeros / entries if entries else 0.0, abs=1e-12)


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", DATA)
def test_generators(name, oracle, border, certify):
    X = DATA[name]
    for psi in (0.1, 0.01, 0.002):
        model = fit(X, psi, oracle=oracle, border=border, certify=certify, max_degree=5)
        check_generators(model, X, psi)
        check_construction(model, border)
        check_sparsity(model)
        if border == "gb":
            check_order_ideal(model)
        if certify or oracle == "ls":
            check_maximality(model, X, psi)
        if oracle in BALL_ORACLES:
            assert np.all(1 + np.abs(model.coef_).sum(axis=1) <= 1000 * (1 + 1e-12))


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("tau", [2.0, 2.5, 4.0])
@pytest.mark.parametrize("oracle", BALL_ORACLES)
def test_a_binding_ball_holds_the_coefficients(oracle, tau, certify):
    """Terms the ball refuses join O; what is found stays inside, and vanishes."""
    for X in DATA.values():
        model = fit(X, 0.001, oracle=oracle, tau=tau, certify=certify, max_degree=4)
        assert np.all(1 + np.abs(model.coef_).sum(axis=1) <= tau * (1 + 1e-12))
        check_generators(model, X, 0.001)
        check_construction(model, "gb")
        check_order_ideal(model)


def test_a_larger_ball_finds_what_a_smaller_one_refuses():
    """The test above would be empty if the ball never refused anything."""
    X = DATA["near a plane"]
    small, large = (fit(X, 0.001, tau=tau, max_degree=2) for tau in (2.0, 1000.0))
    refused = set(as_tuples(large.leading_terms_)) - set(as_tuples(small.leading_terms_))
    assert refused


@settings(max_examples=30, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 40),
    n=st.integers(1, 4),
    psi=st.sampled_from([0.3, 0.1, 0.03, 0.01, 0.003]),
    oracle=st.sampled_from(ORACLES),
    border=st.sampled_from(["gb", "bb"]),
)
def test_random_data(seed, m, n, psi, oracle, border):
    X = uniform(seed, m, n)
    model = fit(X, psi, oracle=oracle, border=border)
    check_generators(model, X, psi)
    check_construction(model, border)
    check_maximality(model, X, psi)
    check_sparsity(model)
    if border == "gb":
        check_order_ideal(model)


@settings(max_examples=25, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-12, 1e-3, 1.0, 30.0, 1e4, 1e8]),
    n=st.integers(1, 3),
    oracle=st.sampled_from(ORACLES),
)
def test_generators_vanish_whatever_the_scale(seed, scale, n, oracle):
    """Moments of unscaled data cannot be trusted; the rows can."""
    X = scale * np.random.default_rng(seed).normal(size=(20, n))
    check_vanishing(fit(X, 1e-3, oracle=oracle, max_degree=4), X, 1e-3)


# Three points each, so the plane through them and quadrics vanish, with coefficients of 1e15: the
# values of the quadrics are sums that cancel, as exact as one order of summation happens to be.
LARGE = [
    [
        [17333041.64, -7091043.62, 52723562.24],
        [58240988.23, 36242116.43, -96717654.24],
        [39467542.3, 89232671.31, -51339083.24],
    ],
    [
        [28731130.11, 38324051.68, 119058043.74],
        [-163243217.83, 15978165.27, -188839779.19],
        [93824561.15, -151485940.89, -31987092.99],
    ],
]


@pytest.mark.parametrize("oracle", ["ls", "pcg"])
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("X", LARGE, ids=["first", "second"])
def test_no_generator_above_psi_is_reported_for_large_values(X, degree, oracle):
    X = np.array(X)
    check_vanishing(fit(X, 1e-3, oracle=oracle, max_degree=degree), X, 1e-3)


@settings(max_examples=30, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 200),
    n=st.integers(1, 4),
    psi=st.sampled_from([0.5, 0.1, 0.05, 0.01, 0.005]),
    oracle=st.sampled_from(["pcg", "bpcg", "afw", "ls"]),
)
def test_size_bound(seed, m, n, psi, oracle):
    """Data in [0, 1]^n, the automatic tau: |G| + |O| <= C(D + n, D), whatever the rows."""
    rng = np.random.default_rng(seed)
    X = rng.beta(rng.uniform(0.2, 2), rng.uniform(0.2, 2), size=(m, n))
    largest_degree = math.ceil(-math.log(psi) / math.log(4))
    model = fit(X, psi, oracle=oracle, tau="auto")
    assert model.degree_ <= largest_degree
    size = math.comb(largest_degree + n, largest_degree)
    assert model.n_generators_ + model.n_terms_ <= size


@pytest.mark.parametrize("psi", [1e-4, 1e-6])
@pytest.mark.parametrize("n", [1, 2])
def test_size_bound_needs_the_automatic_tau(n, psi):
    """Mass at both ends: degree D suffices with tau = (3/2)^D, and does not with tau = 2."""
    x = np.sin(np.pi / 2 * (np.arange(20) + 0.5) / 20) ** 2
    X = np.column_stack([column.ravel() for column in np.meshgrid(*[x] * n)])
    largest_degree = math.ceil(-math.log(psi) / math.log(4))
    model = fit(X, psi, tau="auto")
    assert 0 < model.degree_ <= largest_degree
    size = math.comb(largest_degree + n, largest_degree)
    assert model.n_generators_ + model.n_terms_ <= size
    assert_same_model(fit(X, psi, tau=1.5**largest_degree), model)
    narrow = fit(X, psi, tau=2.0, max_degree=largest_degree)
    assert (largest_degree, *[0] * (n - 1)) in as_tuples(narrow.terms_)


# ------------------------------------------------------------------ the same data, told otherwise


@pytest.mark.parametrize("psi", [0.05, 0.005])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", DATA)
def test_row_order_does_not_matter(name, oracle, psi):
    X = DATA[name]
    model = fit(X, psi, oracle=oracle, max_degree=5)
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(X))
        assert_same_model(fit(X[rows], psi, oracle=oracle, max_degree=5), model)


@pytest.mark.parametrize("psi", [0.05, 0.005])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", DATA)
def test_chunk_size_does_not_matter(name, oracle, psi):
    X = DATA[name]
    model = fit(X, psi, oracle=oracle, max_degree=5)
    for chunk_size in (1, 7, len(X), 10 * len(X)):
        other = fit(X, psi, oracle=oracle, max_degree=5, chunk_size=chunk_size)
        assert_same_model(other, model)


@pytest.mark.parametrize("psi", [0.05, 0.005])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("name", DATA)
def test_repetition_is_weight(name, oracle, psi):
    """Rows repeated 0, 1, 2 or 3 times against those weights, in any unit."""
    X = DATA[name]
    counts = np.random.default_rng(0).integers(0, 4, size=len(X))
    repeated = fit(np.repeat(X, counts, axis=0), psi, oracle=oracle, max_degree=5)
    for weights in (counts, 0.37 * counts):
        weighted = fit(X, psi, oracle=oracle, max_degree=5, sample_weight=weights)
        assert_same_model(weighted, repeated)


@pytest.mark.parametrize("oracle", ORACLES)
def test_repeating_all_rows_changes_nothing(oracle):
    """psi is on the mse, not on a singular value."""
    X = DATA["near a circle"]
    model = fit(X, 0.005, oracle=oracle)
    assert_same_model(fit(np.tile(X, (5, 1)), 0.005, oracle=oracle), model)


@pytest.mark.parametrize("psi", [0, 0.005])
@pytest.mark.parametrize("oracle", ORACLES)
def test_rows_of_weight_zero_are_absent(oracle, psi):
    X = DATA["uniform, 2 variables"][:12]
    far = np.vstack([X, [[1e6, -1e6], [0.5, 3e5]]])
    weights = np.append(np.ones(len(X)), [0, 0])
    model = fit(X, psi, oracle=oracle)
    assert_same_model(fit(far, psi, oracle=oracle, sample_weight=weights), model)


@settings(max_examples=25, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(2, 60),
    n=st.integers(1, 4),
    psi=st.sampled_from([0.1, 0.01, 0.003]),
    oracle=st.sampled_from(ORACLES),
    certify=st.booleans(),
)
def test_random_data_told_otherwise(seed, m, n, psi, oracle, certify):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(m, n))
    counts = rng.integers(1, 4, size=m)
    rows = rng.permutation(np.repeat(np.arange(m), counts))
    parameters = {"oracle": oracle, "certify": certify, "max_degree": 4}
    weighted = fit(X, psi, sample_weight=counts, chunk_size=5, **parameters)
    assert_same_model(fit(X[rows], psi, **parameters), weighted)


@pytest.mark.parametrize("oracle", ORACLES)
def test_fitting_twice_gives_the_same(oracle):
    model = OAVI(0.01, oracle=oracle)
    parameters = model.get_params()
    X = DATA["near a plane"]
    first = model.fit(X).coef_.copy()
    np.testing.assert_array_equal(model.fit(X).coef_, first)
    assert model.get_params() == parameters
