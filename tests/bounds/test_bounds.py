"""The learning guarantees: formulas by hand, theorems on data, reports of fitted models."""

import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    bounds,
)
from vanishing.bounds import price
from vanishing.polynomials import Polynomial

# That nothing vanishes, or that O reaches max_terms, is no news here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{name}") for name in ("OAVI", "VCA", "VanishingFeatures")
]


def ring(m, radius=0.8, noise=0.05, seed=0):
    """Independent points near a circle about the origin, in [-1, 1]^2."""
    rng = np.random.default_rng(seed)
    angle, r = rng.uniform(0, 2 * np.pi, m), radius + rng.uniform(-noise, noise, m)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def rings(m, seed=0):
    """Two classes, "in" and "out", m rows each."""
    X = np.vstack([ring(m, 0.4, seed=seed), ring(m, 0.8, seed=seed + 1000)])
    return X, np.repeat(["in", "out"], m)


def small_oavi(**parameters):
    return OAVI(**{"psi": 0.005, "tau": 3, "max_degree": 2, "max_terms": 5} | parameters)


# ---------------------------------------------------------------------------------- formulas


def test_log_order_ideals():
    # 3^4 4! = 1944
    assert bounds.log_order_ideals(3, 4) == pytest.approx(math.log(1944), rel=1e-14)
    assert bounds.log_order_ideals(1, 1) == 0.0


def order_ideals(n, k):
    """All order ideals of k terms in n variables, by brute force."""
    found = {frozenset([(0,) * n])}
    for _ in range(k - 1):
        grown = set()
        for ideal in found:
            for term in ideal:
                for i in range(n):
                    new = (*term[:i], term[i] + 1, *term[i + 1 :])
                    divisors = [(*new[:j], e - 1, *new[j + 1 :]) for j, e in enumerate(new) if e]
                    if new not in ideal and all(d in ideal for d in divisors):
                        grown.add(ideal | {new})
        found = grown
    return found


@pytest.mark.parametrize(("n", "k"), [(1, 5), (2, 1), (2, 3), (2, 7), (3, 5)])
def test_there_are_no_more_order_ideals_than_the_lemma_says(n, k):
    ideals = order_ideals(n, k)
    assert math.log(len(ideals)) <= bounds.log_order_ideals(n, k)
    # The sharper count: all their terms are of degree below k.
    terms = set().union(*ideals)
    assert math.log(len(terms)) <= bounds.log_terms(n, k - 1) + 1e-12


@pytest.mark.parametrize(("n", "d", "count"), [(1, 0, 1), (2, 2, 6), (3, 4, 35), (57, 10, None)])
def test_log_terms(n, d, count):
    count = math.comb(n + d, d) if count is None else count
    assert bounds.log_terms(n, d) == pytest.approx(math.log(count), rel=1e-12, abs=1e-14)


def test_rademacher_generators():
    # n = 2, k = 3: 2 k n^k k! = 2 * 3 * 8 * 6 = 288
    expected = 5.0 * math.sqrt(2 * math.log(288) / 400)
    assert bounds.rademacher_generators(2, 3, 400, 5.0) == pytest.approx(expected, rel=1e-14)
    # degree 2 in 2 variables: 6 terms with 2 signs
    by_degree = bounds.rademacher_generators(2, None, 400, 5.0, max_degree=2)
    assert by_degree == pytest.approx(5.0 * math.sqrt(2 * math.log(12) / 400), rel=1e-12)


def test_rademacher_pipeline():
    expected = 2 * 7.0 * 5.0 * math.sqrt(2 * math.log(288) / 400)
    assert bounds.rademacher_pipeline(2, 3, 400, 5.0, 7.0) == pytest.approx(expected, rel=1e-14)


def test_lipschitz_bound():
    assert bounds.lipschitz_bound(-0.25, 3, 2.0, 0.125) == 0.25 + 3 * 2.0 * 0.125
    np.testing.assert_allclose(bounds.lipschitz_bound([1, -2], 1, 2, [0.0, 0.5]), [1.0, 3.0])


def test_vanishing_bound():
    # 4 tau^2 = 100, 12 tau^2 = 300
    expected = 0.01 + 100 * math.sqrt(2 * math.log(288) / 400)
    expected += 300 * math.sqrt(math.log(2 / 0.1) / 800)
    assert bounds.vanishing_bound(0.01, 2, 3, 400, 5.0, 0.1) == pytest.approx(expected, rel=1e-14)


def test_moment_bound():
    # degree 3 in 2 variables: C(8, 6) = 28 moments of degree up to 6
    expected = 0.01 + 2.5**2 * math.sqrt(2 * math.log(2 * 28 / 0.1) / 400)
    assert bounds.moment_bound(0.01, 2, 3, 400, 2.5, 0.1) == pytest.approx(expected, rel=1e-12)


def test_margin_bound():
    expected = 0.2 + 4 * 7.0 * 5.0 / 0.5 * math.sqrt(2 * math.log(288) / 400)
    expected += 3 * math.sqrt(math.log(2 / 0.1) / 800)
    found = bounds.margin_bound(0.2, 2, 3, 400, 5.0, 7.0, 0.5, 0.1)
    assert found == pytest.approx(expected, rel=1e-14)


def test_margin_loss():
    # beyond the margin, inside it, on the wrong side
    assert bounds.margin_loss([3.0, 0.5, 0.5], [1, 1, -1], rho=2.0) == pytest.approx(1.75 / 3)


@pytest.mark.parametrize(
    ("psi", "n", "size"),
    [(0.99, 3, 4), (0.25, 3, 4), (0.2499, 3, 10), (0.005, 2, 15), (4.0**-29, 1, 30)],
)
def test_max_size(psi, n, size):
    assert bounds.max_size(psi, n) == size


def test_no_overflow():
    k = 10**12
    stirling = k * math.log(k) - k + 0.5 * math.log(2 * math.pi * k)
    assert bounds.log_order_ideals(50, k) == pytest.approx(k * math.log(50) + stirling, rel=1e-14)
    for value in (
        bounds.rademacher_pipeline(50, k, 100, 1e3, 1e3),
        bounds.vanishing_bound(0.0, 50, k, 100, 1e3, 1e-300),
        bounds.margin_bound(0.0, 50, k, 100, 1e3, 1e3, 1e-3, 1e-300),
        bounds.log_terms(10**9, 10**9),
    ):
        assert math.isfinite(value)
    assert bounds.max_size(1e-300, 1000) > 10**300  # an exact integer


GIVEN = {
    bounds.rademacher_generators: {"n_features": 3, "k": 8, "n_samples": 500, "tau": 4.0},
    bounds.rademacher_pipeline: {
        "n_features": 3, "k": 8, "n_samples": 500, "tau": 4.0, "weight_bound": 2.0,
    },
    bounds.lipschitz_bound: {"value": 0.1, "degree": 2, "tau": 4.0, "distance": 0.1},
    bounds.vanishing_bound: {
        "mse": 0.1, "n_features": 3, "k": 8, "n_samples": 500, "tau": 4.0, "delta": 0.1,
    },
    bounds.moment_bound: {
        "mse": 0.1, "n_features": 3, "degree": 2, "n_samples": 500, "l1_norm": 4.0, "delta": 0.1,
    },
    bounds.margin_bound: {
        "margin_loss": 0.1, "n_features": 3, "k": 8, "n_samples": 500, "tau": 4.0,
        "weight_bound": 2.0, "rho": 0.5, "delta": 0.1,
    },
}  # fmt: skip
CASES = [
    pytest.param(function, name, id=f"{function.__name__}-{name}")
    for function, given_ in GIVEN.items()
    for name in given_
]


@pytest.mark.parametrize(("function", "name"), CASES)
def test_bounds_grow_with_the_class_and_fall_with_the_data(function, name):
    given_ = GIVEN[function]
    more = function(**given_ | {name: 2 * given_[name]})
    falls = name in ("n_samples", "delta", "rho")
    assert (more < function(**given_)) if falls else (more > function(**given_))


@pytest.mark.parametrize(("function", "name"), CASES)
def test_invalid_numbers_are_refused(function, name):
    for wrong in (-1.0, np.nan):
        if (function, name) == (bounds.lipschitz_bound, "value") and wrong == -1.0:
            continue  # a generator may be negative
        with pytest.raises((ValueError, TypeError), match=name):
            function(**GIVEN[function] | {name: wrong})
    if name not in ("value", "distance"):
        with pytest.raises(TypeError, match=name):
            function(**GIVEN[function] | {name: "many"})


def test_the_conditions_of_the_theorems_are_checked():
    for function in (bounds.vanishing_bound, bounds.margin_bound, bounds.lipschitz_bound):
        with pytest.raises(ValueError, match="tau must be a number in \\[2"):
            function(**GIVEN[function] | {"tau": 1.9})
    for delta in (0.0, 1.0):
        with pytest.raises(ValueError, match="delta"):
            bounds.vanishing_bound(0.1, 2, 3, 100, 2.0, delta)
    with pytest.raises(ValueError, match="psi"):
        bounds.max_size(0.0, 2)
    with pytest.raises(TypeError, match="k must be an integer"):
        bounds.rademacher_generators(2, 3.5, 100, 2.0)
    with pytest.raises(ValueError, match="-1 or \\+1"):
        bounds.margin_loss([0.5], [0], 1.0)
    assert bounds.vanishing_bound(0, 2, 3, 1e6, 2, 0.1) == bounds.vanishing_bound(
        0, 2, 3, 10**6, 2, 0.1
    )


# ------------------------------------------------------------------------------ theorems on data


@st.composite
def polynomial_and_points(draw):
    n = draw(st.integers(1, 3))
    exponents = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    terms = draw(st.lists(exponents, min_size=1, max_size=6))
    coef = draw(st.lists(st.floats(-3, 3), min_size=len(terms), max_size=len(terms)))
    point = st.lists(st.floats(-1, 1), min_size=n, max_size=n)
    return Polynomial(terms, coef), draw(point), draw(point)


@settings(max_examples=200)
@given(polynomial_and_points())
def test_lipschitz_lemma(drawn):
    g, x, y = drawn
    gx, gy = g([x, y])
    tau = max(2.0, np.abs(g.coef).sum())
    distance = np.abs(np.subtract(x, y)).max()
    assert abs(gy) <= bounds.lipschitz_bound(gx, g.degree, tau, distance) + 1e-12


def test_lipschitz_lemma_is_attained():
    """x0^3 at the corner has slope 3: with tau its l1-norm the lemma cannot be improved."""
    g = Polynomial([[3]], [2.0])
    gx, gy = g([[1.0], [1.0 - 1e-6]])
    assert abs(gx) == pytest.approx(bounds.lipschitz_bound(gy, 3, 2.0, 1e-6), abs=1e-11)


@pytest.mark.parametrize("oracle", ["pcg", "omp", "ls"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("psi", [0.3, 0.1, 0.01, 0.004])
def test_size_of_fits_with_automatic_tau(psi, n, oracle):
    """Whatever the rows in [0, 1]^n; uniform ones, and corners, where little vanishes."""
    rng = np.random.default_rng(n)
    for X in (rng.uniform(size=(300, n)), rng.integers(0, 2, size=(300, n)).astype(float)):
        model = OAVI(psi, oracle=oracle, tau="auto").fit(X)
        assert model.n_generators_ + model.n_terms_ <= bounds.max_size(psi, n)


def test_size_bound_needs_the_unit_cube():
    """On the corners of [-1, 1]^n no combination of lower terms comes near t_1 ... t_n."""
    n, psi = 4, 0.3
    X = np.stack(np.meshgrid(*[[-1.0, 1.0]] * n), axis=-1).reshape(-1, n)
    model = OAVI(psi, tau="auto").fit(X)
    assert model.n_generators_ + model.n_terms_ > bounds.max_size(psi, n)
    assert bounds.max_size(psi, n) == 5
    with pytest.raises(KeyError):
        bounds.of(model, X)["size"]


def rademacher_average(values, draws=2000):
    """E sup_j |sum_i sigma_i values_ij| / m by simulation."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(draws, len(values)))
    return np.abs(signs @ values).max(axis=1).mean() / len(values)


def test_rademacher_lemma_on_rows():
    """The supremum over the l1-ball is attained at a term: simulate it for all of degree <= 3."""
    X = ring(200)
    terms = [(i, j) for i in range(4) for j in range(4 - i)]
    values = np.column_stack([X[:, 0] ** i * X[:, 1] ** j for i, j in terms])
    average = rademacher_average(values)
    by_degree = bounds.rademacher_generators(2, None, 200, 1.0, max_degree=3)
    assert 0.3 * by_degree < average <= by_degree
    # An order ideal of 4 terms has no term of degree above 3.
    assert average <= bounds.rademacher_generators(2, 4, 200, 1.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("oracle", ["pcg", "ls"])
def test_moment_errors_bound_every_polynomial(oracle, seed):
    """The inequality inside `moment_bound`: |mse - E g^2| <= ||g||_1^2 max |moment error|."""
    X, Z = ring(50, seed=seed), ring(20_000, seed=seed + 100)
    model = OAVI(0.01, oracle=oracle, max_degree=2).fit(X)
    powers = [(i, j) for i in range(5) for j in range(5 - i)]
    error = max(abs(np.mean(X[:, 0] ** i * X[:, 1] ** j) - np.mean(Z[:, 0] ** i * Z[:, 1] ** j))
                for i, j in powers)  # fmt: skip
    assert error <= bounds.moment_bound(0.0, 2, 2, 50, 1.0, 0.05)
    l1 = 1.0 + np.abs(model.coef_).sum(axis=1)
    difference = np.abs(np.mean(model.transform(Z) ** 2, axis=0) - model.mse_)
    assert (difference <= l1**2 * error * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_out_of_sample(seed):
    X, y = rings(2000, seed)
    Z, z = rings(20_000, seed + 7)
    model = VanishingClassifier(small_oavi(), scale=False).fit(X, y)
    report = bounds.of(model, X, y)
    for label, transformer in zip(model.classes_, model.features_.transformers_, strict=True):
        worst = np.mean(transformer.transform(Z[z == label]) ** 2, axis=0).max()
        for name in ("vanishing", "vanishing, tau afterwards", "vanishing, by moments"):
            assert worst <= report[f"class {label}: {name}"].value
    for name in ("margin", "margin, by degree"):
        assert np.mean(model.predict(Z) != z) <= report[name].value


# -------------------------------------------------------------------------- reports of models


def test_report_of_oavi_fixed_in_advance():
    """tau and max_terms are parameters: the theorem with all of delta, k = max_terms + 1."""
    X = ring(1000)
    model = small_oavi().fit(X)
    bound = bounds.of(model, X, delta=0.1)["vanishing"]
    expected = bounds.vanishing_bound(model.mse_.max(), 2, 6, 1000, 3.0, 0.1)
    assert bound.value == pytest.approx(expected, rel=1e-9)
    l1 = (1 + np.abs(model.coef_).sum(axis=1)).max()
    afterwards = bounds.of(model, X, delta=0.1)["vanishing, tau afterwards"]
    assert 2 < l1 <= 3  # the second point of 2, 4, 8, ..., which has delta / 6
    expected = bounds.vanishing_bound(model.mse_.max(), 2, 6, 1000, 4.0, 0.1 / 6)
    assert afterwards.value == pytest.approx(expected, rel=1e-9)
    moments = bounds.of(model, X, delta=0.1)["vanishing, by moments"]
    expected = bounds.moment_bound(model.mse_.max(), 2, 2, 1000, l1, 0.1 / 6)  # degree 2: 1 / 6
    assert moments.value == pytest.approx(expected, rel=1e-9)


def test_terms_that_were_not_bounded_are_paid_for():
    X = ring(1000)
    model = small_oavi(max_terms=None).fit(X)
    assert model.n_terms_ + 1 == 6  # rounded up to 8, the third point of 2, 4, 8: delta / 12
    bound = bounds.of(model, X, delta=0.12)["vanishing"]
    expected = bounds.vanishing_bound(model.mse_.max(), 2, 8, 1000, 3.0, 0.01)
    assert bound.value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "model", [OAVI(oracle="ls"), OAVI(oracle="agd"), OAVI(0.0), ABM(), AVI()], ids=repr
)
def test_without_a_ball_there_is_no_bound_for_tau(model):
    X = ring(300, noise=0.0)
    model = model.set_params(max_degree=2).fit(X)
    names = [bound.name for bound in bounds.of(model, X)]
    assert "vanishing" not in names
    assert {"vanishing, tau afterwards", "vanishing, by moments"} <= set(names)


def test_an_oracle_that_leaves_the_ball_has_no_bound_for_tau():
    def least_squares(gram, cross, norm, *, psi, radius):
        coef = np.linalg.lstsq(gram, -cross, rcond=None)[0]
        return coef, norm + cross @ coef

    X = ring(300, noise=0.0)  # x0^2 + x1^2 - 0.64: l1-norm 2.64
    inside = small_oavi(psi=1e-6, oracle=least_squares, tau=3, certify=False).fit(X)
    outside = small_oavi(psi=1e-6, oracle=least_squares, tau=2, certify=False).fit(X)
    assert "vanishing" in [bound.name for bound in bounds.of(inside, X)]
    assert "vanishing" not in [bound.name for bound in bounds.of(outside, X)]


@pytest.mark.parametrize("value", [0.3, 1.0, 1.5, 2.0, 2.0000001, 3.0, 4.0, 1000.0])
def test_grid_rounds_up_and_its_shares_sum_to_delta(value):
    rounded, j = price.grid(value, 1.0)
    assert rounded == 2.0 ** (j - 1) >= value
    assert j == 1 or rounded / 2 < value
    assert sum(price.share(0.1, i) for i in range(1, 10_000)) == pytest.approx(0.1, rel=1e-3)


def test_samples_needed_is_the_first_number_that_suffices():
    X = ring(400)
    model = small_oavi().fit(X)
    bound = bounds.of(model, X)["vanishing"]
    assert not bound.informative
    limit = (1 + np.abs(model.coef_).sum(axis=1)).max() ** 2
    m = bound.samples_needed
    assert bounds.vanishing_bound(model.mse_[0], 2, 6, m, 3.0, 0.05) < limit
    assert bounds.vanishing_bound(model.mse_[0], 2, 6, m - 1, 3.0, 0.05) >= limit
    enough = ring(4 * m, seed=1)
    assert bounds.of(small_oavi().fit(enough), enough)["vanishing"].informative


def test_without_rows_there_are_numbers_of_samples_but_no_values():
    X = ring(400)
    model = small_oavi().fit(X)
    planned, measured = bounds.of(model), bounds.of(model, X)
    assert [b.name for b in planned] == [b.name for b in measured]
    for a, b in zip(planned, measured, strict=True):
        assert a.samples_needed == b.samples_needed
    assert math.isnan(planned["vanishing"].value) and not planned["vanishing"].informative
    assert planned["Lipschitz"].value == measured["Lipschitz"].value
    assert "nan" not in str(planned)


def test_size_is_reported_where_it_holds():
    X = MinMaxScaler().fit_transform(ring(500))
    bound = bounds.of(OAVI().fit(X), X)["size"]
    assert bound.value == bounds.max_size(0.005, 2) == 15 and bound.informative
    for model in (OAVI(border="bb"), OAVI(tau=5.0), OAVI(max_degree=3), OAVI(0.0)):
        names = [b.name for b in bounds.of(model.fit(X), X)]  # (3/2)^4 = 5.06
        assert "size" not in names
    assert "size" in [b.name for b in bounds.of(OAVI(oracle="ls", tau=2.0).fit(X), X)]


def test_report_of_features_uses_the_rows_of_each_class():
    X = np.vstack([ring(100, 0.3), ring(400, 0.6), ring(900, 0.9)])
    y = np.repeat([3, 5, 7], [100, 400, 900])
    model = VanishingFeatures(small_oavi()).fit(X, y)
    report = bounds.of(model, X, y)
    for label, m, transformer in zip((3, 5, 7), (100, 400, 900), model.transformers_, strict=True):
        expected = bounds.vanishing_bound(transformer.mse_.max(), 2, 6, m, 3.0, 0.05)
        assert report[f"class {label}: vanishing"].value == pytest.approx(expected, rel=1e-9)


def by_hand(model):
    """sum_j |w_j| ||g_j||_1 + |intercept|."""
    l1 = [1 + np.abs(t.coef_).sum(axis=1) for t in model.features_.transformers_]
    final = model.final_estimator_
    return np.abs(final.coef_[0]) @ np.concatenate(l1) + abs(final.intercept_[0])


def test_report_of_a_classifier_with_a_given_margin():
    X, y = rings(500)
    model = VanishingClassifier(small_oavi(), scale=False).fit(X, y)
    bound = bounds.of(model, X, y, delta=0.1, rho=0.5)["margin"]
    scores = model.decision_function(X)
    loss = np.mean(np.clip(1 - np.where(y == "out", scores, -scores) / 0.5, 0, 1))
    j = math.ceil(math.log2(by_hand(model)))  # 1, 2, 4, ...: 2^j is the point j + 1
    expected = loss + 4 * 2**j / 0.5 * math.sqrt(2 * math.log(2 * 6 * 2**6 * 720) / 1000)
    expected += 3 * math.sqrt(math.log(2 * (j + 1) * (j + 2) / 0.1) / 2000)
    assert bound.value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "max_terms", "count", "price"),
    [
        ("margin", 5, {"k": 6}, 1),
        ("margin", None, {"k": 8}, 12),  # 6 terms: the third point of 2, 4, 8
        ("margin, by degree", 5, {"k": None, "max_degree": 2}, 6),
    ],
)
def test_the_best_margin_of_the_grid_is_taken(name, max_terms, count, price):
    X, y = rings(100_000)
    model = VanishingClassifier(small_oavi(max_terms=max_terms), scale=False).fit(X, y)
    signs, size = np.where(y == "out", 1, -1), by_hand(model)
    scores = model.decision_function(X)
    assert np.abs(scores).max() <= size
    values = [
        bounds.margin_bound(
            bounds.margin_loss(scores, signs, size / 2**j),
            n_features=2,
            n_samples=200_000,
            tau=2.0,
            weight_bound=size / 2.0,
            rho=size / 2**j,
            delta=0.05 / (price * (j + 1) * (j + 2)),
            **count,
        )
        for j in range(30)
    ]
    assert np.argmin(values) > 0
    bound = bounds.of(model, X, y)[name]
    assert bound.value == pytest.approx(min(values), rel=1e-9)
    assert bound.informative == (min(values) < 1)


def test_margin_bound_does_not_depend_on_the_unit_of_the_decision_function():
    X, y = rings(300)
    model = VanishingClassifier(small_oavi(), scale=False, final_estimator=LogisticRegression())
    model.fit(X, y)
    value = bounds.of(model, X, y)["margin"].value
    model.final_estimator_.coef_ *= 100.0
    model.final_estimator_.intercept_ *= 100.0
    assert bounds.of(model, X, y)["margin"].value == pytest.approx(value, rel=1e-9)


def test_a_pipeline_has_the_bounds_of_its_last_step_on_scaled_rows():
    X = 50.0 * ring(300, noise=0.0)
    pipeline = make_pipeline(MaxAbsScaler(), small_oavi(psi=1e-6, oracle="ls")).fit(X)
    report = bounds.of(pipeline, X)
    alone = bounds.of(pipeline[-1], pipeline[0].transform(X))
    assert [bound.value for bound in report] == [bound.value for bound in alone]
    assert "the scaling was fixed before the rows were seen" in str(report)
    assert "the scaling was fixed" not in str(alone)


def test_a_tuned_classifier_has_the_bounds_of_its_classifier():
    X, y = rings(100)
    model = VanishingClassifierCV(small_oavi(), psis=(0.01, 0.005), clip=True).fit(X, y)
    assert bounds.of(model, X, y) == bounds.of(model.classifier_, X, y)


def test_clipping_is_asked_for():
    X, y = rings(100)
    with pytest.warns(UserWarning, match="clip=True"):
        bounds.of(VanishingClassifier(small_oavi(), clip=False).fit(X, y), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clipped = bounds.of(VanishingClassifier(small_oavi(), clip=True).fit(X, y), X, y)
        bounds.of(VanishingClassifier(small_oavi(), scale=False).fit(X, y), X, y)
    assert any("scaling was fixed before" in c for c in clipped["margin"].conditions)


def test_no_generators():
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    model = OAVI(1e-6, max_degree=2).fit(X)
    assert len(bounds.of(model, X)) == 0
    assert "nothing to bound" in str(bounds.of(model, X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        y = np.arange(200) % 2
        classifier = VanishingClassifier(OAVI(1e-6, max_degree=2), scale=False).fit(X, y)
    report = bounds.of(classifier, X, y)
    assert [b.name for b in report] == ["margin", "margin, by degree"]


def test_what_has_no_guarantee_is_refused():
    X, y = rings(50)
    oavi = small_oavi().fit(X[:50])
    with pytest.raises(ValueError, match="rows in \\[-1, 1\\]\\^n"):
        bounds.of(oavi, 2 * X)
    with pytest.raises(TypeError, match="VCA"):
        bounds.of(VCA(max_degree=2).fit(X), X)
    with pytest.raises(TypeError, match="VCA"):
        bounds.of(VanishingFeatures(VCA(max_degree=2)).fit(X, y), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        bounds.of(OAVI(), X)
    features = VanishingFeatures(small_oavi()).fit(X, y)
    with pytest.raises(ValueError, match="labels y"):
        bounds.of(features, X)
    with pytest.raises(ValueError, match="no rows of class"):
        bounds.of(features, X[:50], y[:50])
    with pytest.raises(ValueError, match="'other'"):
        bounds.of(features, X, np.repeat(["in", "other"], 50))
    classifier = VanishingClassifier(small_oavi(), scale=False).fit(X, y)
    with pytest.raises(ValueError, match="needs rows and labels"):
        bounds.of(classifier)
    three = VanishingClassifier(small_oavi(), scale=False).fit(X, np.arange(100) % 3)
    with pytest.raises(ValueError, match="two classes; the classifier has 3"):
        bounds.of(three, X, np.arange(100) % 3)
    neighbours = VanishingClassifier(
        small_oavi(), scale=False, final_estimator=KNeighborsClassifier()
    )
    with pytest.raises(ValueError, match="linear final estimator"):
        bounds.of(neighbours.fit(X, y), X, y)


def test_reports_are_immutable_and_readable():
    X = ring(400)
    report = bounds.of(small_oavi().fit(X), X)
    with pytest.raises(AttributeError):
        report.delta = 0.5
    with pytest.raises(AttributeError):
        report[0].value = 0.0
    text = str(report)
    assert re.search(r"vanishing: vacuous; informative from \d,", text)
    assert "Provided that" in text and "independent" in text
    assert text.count("new rows lie in") == 1
    with pytest.raises(KeyError, match="none of"):
        report["margin"]
