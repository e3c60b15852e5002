"""Noise in the columns: debiased moments, the noise itself, and laws found below it."""

import itertools
import json
import os
import warnings

import numpy as np
import pytest
import sympy
from helpers import as_tuples
from reference import evaluate
from sklearn.exceptions import ConvergenceWarning

from vanishing import ABM, OAVI, VCA, Moments
from vanishing.rows.moments import MomentsFileError

FULL = os.environ.get("VANISHING_FULL") == "1"
HALF_CIRCLE = np.array([-1.0, 0, 0, 1, 0, 1])  # over 1, x0, x1, x0^2, x0 x1, x1^2
MODELS = {
    "oavi": OAVI(1e-4, oracle="ls", max_degree=2),
    "abm": ABM(1e-4, max_degree=2),
    "abm-gradient": ABM(1e-4, max_degree=2, normalization="gradient"),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def half_circle(seed, noise, n_samples=2000):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n_samples)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.normal(size=X.shape)


def moments_of(X, max_degree=2):
    return Moments(X.shape[1], max_degree).update(X)


def coefficients(polynomial):
    """Coefficients by term, relative to the leading one."""
    values = polynomial.coef / polynomial.leading_coef
    return dict(zip(as_tuples(polynomial.terms), values.tolist(), strict=True))


def error(model, truth=HALF_CIRCLE):
    """The largest error of the coefficients of the one conic of a model."""
    (conic,) = model.generators_
    found = coefficients(conic)
    terms = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    assert as_tuples(conic.terms)[-1] == (0, 2)
    return max(abs(found.get(t, 0.0) - c) for t, c in zip(terms, truth, strict=True))


def least_squares(moments, leading):
    """Coefficients of the leading term over all terms before it, by plain least squares."""
    terms = as_tuples(moments.terms)
    terms = terms[: terms.index(leading) + 1]
    place = {t: i for i, t in enumerate(as_tuples(moments.terms))}
    pairs = [[place[tuple(np.add(t, u).tolist())] for u in terms] for t in terms]
    gram = moments.sums[np.array(pairs)]
    return dict(zip(terms, [*np.linalg.solve(gram[:-1, :-1], -gram[:-1, -1]), 1.0], strict=True))


# ------------------------------------------------------------------------------- the linear map


@pytest.mark.parametrize("noise", [(0.5, 0.75), (0.5, 0.0), (0.0, 2.0)])
def test_debiasing_undoes_the_expectation_over_the_noise(noise):
    """Exactly, for E (x + s Z)^a (y + t Z')^b up to degree 6: numbers are halves and quarters."""
    moments = Moments(2, 3)
    x, z = sympy.symbols("x:2"), sympy.Symbol("z")

    def expectation(column, power):
        s = sympy.Rational(noise[column])
        expanded = sympy.Poly(sympy.expand((x[column] + s * z) ** power), z)
        normal = {k: sympy.factorial2(k - 1) if k % 2 == 0 else 0 for k in range(1, power + 1)}
        return sum(c * (normal[k] if k else 1) for (k,), c in expanded.terms())

    by_power = [[expectation(column, power) for power in range(7)] for column in range(2)]
    noisy = [sympy.expand(by_power[0][a] * by_power[1][b]) for a, b in moments.terms.tolist()]
    matrix = np.array([moments.debias(row, np.array(noise)) for row in np.eye(len(noisy))]).T
    for (a, b), row in zip(moments.terms.tolist(), matrix, strict=True):
        found = sum(sympy.Rational(c) * e for c, e in zip(row, noisy, strict=True) if c)
        assert sympy.expand(found - x[0] ** a * x[1] ** b) == 0


def test_no_noise_changes_nothing_to_the_last_bit():
    moments = moments_of(half_circle(0, 0.1), 4)
    same = moments.debiased(0)
    np.testing.assert_array_equal(same.sums, moments.sums)
    model = OAVI(1e-2, oracle="ls", max_degree=3)
    expected = model.fit_moments(moments).coef_
    np.testing.assert_array_equal(model.fit_moments(same).coef_, expected)
    before = same.sums.copy()
    more = moments_of(half_circle(0, 0.1), 4).update(np.ones((1, 2)))
    assert more != moments
    np.testing.assert_array_equal(same.sums, before)
    # A column without noise: moments of it alone stay, too.
    alone = moments.terms[:, 0] == 0
    partly = moments.debiased([0.3, 0.0])
    np.testing.assert_array_equal(partly.sums[alone], moments.sums[alone])
    assert (partly.sums[moments.terms[:, 0] >= 2] != moments.sums[moments.terms[:, 0] >= 2]).all()


def test_noise_of_each_column():
    """Debiasing by a vector is debiasing column by column, in any order."""
    moments = moments_of(np.random.default_rng(0).uniform(-1, 1, (200, 3)), 2)
    noise = np.array([0.1, 0.0, 0.4])
    step = moments.sums
    for column in (2, 0, 1):
        step = moments.debias(step, noise * (np.arange(3) == column))
    np.testing.assert_allclose(moments.debiased(noise).sums, step, rtol=1e-12, atol=1e-12)
    everywhere, listed = moments.debiased(0.2), moments.debiased([0.2, 0.2, 0.2])
    assert everywhere == listed
    assert everywhere != moments.debiased(0.1) != moments


def test_variances_add_up():
    """By s and then by t is by (s^2 + t^2)^(1/2)."""
    moments = moments_of(half_circle(1, 0.2), 4)
    s, t = np.array([0.1, 0.3]), np.array([0.25, 0.0])
    twice = moments.debias(moments.debias(moments.sums, s), t)
    once = moments.debias(moments.sums, np.hypot(s, t))
    np.testing.assert_allclose(twice, once, rtol=1e-11, atol=1e-9)


def test_the_adjoint_is_the_adjoint():
    moments = moments_of(half_circle(2, 0.1), 3)
    noise = np.array([0.2, 0.5])
    polynomials = np.random.default_rng(0).normal(size=(4, len(moments.terms)))
    np.testing.assert_allclose(
        moments.debias.adjoint(polynomials, noise) @ moments.sums,
        polynomials @ moments.debias(moments.sums, noise),
        rtol=1e-12,
    )


def test_moments_of_what_lies_below_the_noise():
    """With weights, in two columns of different noise: to within sampling error."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500_000, 2))
    weight = rng.integers(0, 4, len(X)).astype(float)
    noise = np.array([0.3, 0.1])
    noisy = Moments(2, 2).update(X + noise * rng.normal(size=X.shape), weight)
    clean = Moments(2, 2).update(X, weight)
    off = np.abs(noisy.debiased(noise).sums - clean.sums) / clean.total_weight
    raw = np.abs(noisy.sums - clean.sums) / clean.total_weight
    assert 1e-5 < off.max() < 4e-3
    assert raw.max() > 0.15  # the fourth moment: 6 * 0.09 / 3 + 3 * 0.0081
    assert noisy.debiased(noise).total_weight == clean.total_weight


# ------------------------------------------------------------------------------ what is refused


def test_debiased_moments_take_no_rows_and_add_to_their_like():
    X = half_circle(0, 0.1)
    one, other = moments_of(X[:900]), moments_of(X[900:])
    with pytest.raises(ValueError, match="debiased moments take no more rows"):
        one.debiased(0.1).update(X)
    both = one.debiased(0.1) + other.debiased(0.1)
    whole = moments_of(X).debiased(0.1)
    np.testing.assert_allclose(both.sums, whole.sums, rtol=1e-10)
    assert both.noise.tolist() == [0.1, 0.1]
    assert both.n_samples == 2000
    assert sum([one.debiased(0.1), other.debiased(0.1)]) == both
    for unlike in (other, other.debiased(0.2), other.debiased([0.1, 0.0]), other.debiased(0)):
        with pytest.raises(ValueError, match="debiased alike"):
            one.debiased(0.1) + unlike
    with pytest.raises(ValueError, match="debiased already"):
        whole.debiased(0.1)
    with pytest.raises(ValueError, match="debiased already"):
        whole.estimate_noise()


@pytest.mark.parametrize(
    "noise",
    [-0.1, np.nan, np.inf, [0.1], [0.1] * 3, [[0.1, 0.1]], [0.1, -0.1], [0.1, [0.2]], "0.1", None,
     True, 0.1j],
    ids=str,
)  # fmt: skip
def test_noise_must_be_numbers(noise):
    moments = moments_of(half_circle(0, 0.1))
    with pytest.raises(ValueError, match="noise must be a number, or one for each of the 2"):
        moments.debiased(noise)
    if noise is not None:
        with pytest.raises(ValueError, match="ratio must be a number"):
            moments.estimate_noise(noise)


def test_what_overflows_is_refused():
    with pytest.raises(ValueError, match="overflow"):
        moments_of(half_circle(0, 0.1)).debiased(1e100)


def test_what_debiased_moments_cannot_be_fitted_with():
    debiased = moments_of(half_circle(0, 0.1)).debiased(0.1)
    for model in (OAVI(1e-4, border="bb"), ABM(1e-4, border="bb")):
        with pytest.raises(ValueError, match="need border='gb'"):
            model.fit_moments(debiased)
    for model in (OAVI(0), ABM(0), ABM(0, normalization="gradient")):
        with pytest.raises(ValueError, match="psi=0 needs the rows"):
            model.fit_moments(debiased)
    assert not hasattr(VCA(), "fit_moments")


# -------------------------------------------------------------------------------------- the file


def test_saved_with_their_noise(tmp_path):
    moments = moments_of(half_circle(0, 0.1))
    debiased = moments.debiased([0.1, 0.0])
    path = tmp_path / "moments.json"
    debiased.save(path)
    loaded = Moments.load(path)
    assert loaded == debiased
    assert loaded.noise.tolist() == [0.1, 0.0]
    assert json.loads(path.read_text())["version"] == 2
    with pytest.raises(ValueError, match="take no more rows"):
        loaded.update(np.ones((1, 2)))
    # What is not debiased is a file of version 1, which older versions of the library read.
    moments.save(path)
    content = json.loads(path.read_text())
    assert content["version"] == 1
    assert "noise" not in content
    assert Moments.load(path) == moments
    assert Moments.load(path).noise is None


@pytest.mark.parametrize(
    "noise", [0.1, [0.1], ["0.1", "0.1"], [-0.1, 0.1], [1, 1], None, [0.1, 0.1, 0.1], [True, 0.1]]
)
def test_a_file_with_another_noise_is_refused(noise, tmp_path):
    path = tmp_path / "moments.json"
    moments_of(half_circle(0, 0.1)).debiased(0.1).save(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "noise": noise}))
    with pytest.raises(MomentsFileError, match="noise"):
        Moments.load(path)
    del content["noise"]
    path.write_text(json.dumps(content))
    with pytest.raises(MomentsFileError, match="noise"):
        Moments.load(path)
    path.write_text(json.dumps({**content, "version": 3}))
    with pytest.raises(MomentsFileError, match="versions 1 to 2"):
        Moments.load(path)


# ---------------------------------------------------------------------- equations below the noise


def planted(name, m, rng):
    """Points of a variety, and its equations: coefficients by term, the leading one last."""
    t = rng.uniform(-1, 1, m)
    angle = rng.uniform(0, 2 * np.pi, m)
    if name == "circle":
        X = np.column_stack([0.3 + np.cos(angle), np.sin(angle) - 0.2])
        return X, [{(0, 0): -0.87, (1, 0): -0.6, (0, 1): 0.4, (2, 0): 1, (0, 2): 1}]
    if name == "ellipsoid":
        X = rng.normal(size=(m, 3))
        X = X / np.linalg.norm(X, axis=1, keepdims=True) * [1.2, 0.8, 1.0]
        return X, [{(0, 0, 0): -1, (2, 0, 0): 1 / 1.44, (0, 2, 0): 1 / 0.64, (0, 0, 2): 1}]
    if name == "twisted cubic":
        equations = [
            {(0, 1, 0): -1, (2, 0, 0): 1},
            {(0, 0, 1): -1, (1, 1, 0): 1},
            {(0, 2, 0): -1, (1, 0, 1): 1},
        ]
        return np.column_stack([t, t**2, t**3]), equations
    if name == "two lines":
        return np.column_stack([t, t * rng.choice([-1, 1], m)]), [{(2, 0): -1, (0, 2): 1}]
    return np.column_stack([t, t**2]), [{(0, 1): -1, (2, 0): 1}]


PLANTED = {
    "circle": 0.05,
    "ellipsoid": 0.05,
    "twisted cubic": 0.02,
    "two lines": 0.05,
    "parabola": 0.05,
}


@models
@pytest.mark.parametrize("name", PLANTED)
def test_planted_varieties(name, model):
    """Their coefficients, to within sampling error, where plain least squares is far off."""
    rng = np.random.default_rng(7)
    X, truth = planted(name, 40_000, rng)
    noise = PLANTED[name]
    moments = moments_of(X + noise * rng.normal(size=X.shape), 3)
    estimate = moments.estimate_noise()
    assert estimate == pytest.approx(noise, rel=0.03)
    model.fit_moments(moments.debiased(estimate))
    assert as_tuples(model.leading_terms_) == [list(equation)[-1] for equation in truth]

    def largest_error(found):
        pairs = zip(found, truth, strict=True)
        return max(abs(f.get(t, 0) - e.get(t, 0)) for f, e in pairs for t in {*f, *e})

    off = largest_error([coefficients(g) for g in model.generators_])
    raw = largest_error([least_squares(moments, list(equation)[-1]) for equation in truth])
    assert 1e-4 < off < 0.06
    assert raw > 4 * off


@models
@pytest.mark.parametrize(
    "noise, raw, limit", [(0.05, 0.7, 0.04), (0.1, 1.1, 0.08), (0.2, 1.2, 0.3)]
)
def test_half_circle(noise, raw, limit, model):
    """Twenty seeds: at the estimated noise as at the true one, which plain least squares misses."""
    errors = []
    for seed in range(20):
        moments = moments_of(half_circle(seed, noise))
        estimate = moments.estimate_noise()
        assert estimate == pytest.approx(noise, rel=0.05)
        found = [error(model.fit_moments(moments.debiased(s))) for s in (estimate, noise)]
        plain = least_squares(moments, (0, 2)).values()
        errors.append([*found, np.abs(np.array(list(plain)) - HALF_CIRCLE).max()])
    at_estimate, at_truth, plainly = np.mean(errors, axis=0)
    assert limit / 4 < at_estimate < limit
    assert limit / 4 < at_truth < limit
    assert plainly == pytest.approx(raw, rel=0.1)


def test_errors_fall_as_one_over_the_root_of_the_rows():
    sizes = [1000, 10_000, 100_000, 1_000_000] if FULL else [1000, 10_000, 100_000]
    model = MODELS["oavi"]
    errors = []
    for m in sizes:
        found = []
        for seed in range(20):
            moments = moments_of(half_circle(seed, 0.1, m))
            plain = np.array(list(least_squares(moments, (0, 2)).values()))
            debiased = moments.debiased(moments.estimate_noise())
            found.append([error(model.fit_moments(debiased)), np.abs(plain - HALF_CIRCLE).max()])
        errors.append(np.mean(found, axis=0))
    debiased, raw = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert debiased == pytest.approx(-0.5, rel=0.15)
    assert raw == pytest.approx(0.0, abs=0.02)


def test_the_oracle_does_not_matter():
    debiased = moments_of(half_circle(3, 0.1)).debiased(0.1)
    expected = OAVI(1e-4, oracle="ls", max_degree=2).fit_moments(debiased).coef_
    for oracle in ("pcg", "omp"):
        found = OAVI(1e-4, oracle=oracle, max_degree=2).fit_moments(debiased).coef_
        np.testing.assert_array_equal(found, expected)


def test_noise_in_one_column_alone():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 20_000)
    noise = np.array([0.2, 0.0])
    X = np.column_stack([x, x**2]) + noise * rng.normal(size=(20_000, 2))
    moments = moments_of(X, 3)
    estimate = moments.estimate_noise(ratio=[1.0, 0.0])
    np.testing.assert_allclose(estimate, noise, rtol=0.03)
    model = OAVI(1e-4, max_degree=2).fit_moments(moments.debiased(estimate))
    (parabola,) = model.generators_
    assert as_tuples(parabola.terms)[-1] == (2, 0)
    assert coefficients(parabola)[(0, 1)] == pytest.approx(-1, abs=0.05)
    assert model.mse_[0] <= 1e-4


# ------------------------------------------------------------------------------ the noise itself


def without_law(name, m, seed):
    rng = np.random.default_rng(seed)
    if name in ("square", "cube"):
        return rng.uniform(-1, 1, (m, 2 if name == "square" else 3))
    return rng.normal(size=(m, 2)) if name == "gaussian" else rng.exponential(size=(m, 2))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["square", "cube", "gaussian", "exponential"])
def test_rows_without_a_law_have_no_noise_to_estimate(name, seed):
    moments = moments_of(without_law(name, 2000, seed), 3)
    with pytest.warns(UserWarning, match="no law is found") as caught:
        noise, std = moments.estimate_noise(return_std=True)
    assert np.isnan(noise)
    assert np.isnan(std)
    (warning,) = caught
    assert warning.filename == __file__


def test_a_disc_is_told_from_a_circle_one_degree_above():
    rng = np.random.default_rng(0)
    disc = rng.uniform(-1, 1, (8000, 2))
    disc = disc[(disc**2).sum(axis=1) < 1]
    assert moments_of(disc, 2).estimate_noise() == pytest.approx(0.21, abs=0.02)
    with pytest.warns(UserWarning, match="no law is found"):
        assert np.isnan(moments_of(disc, 3).estimate_noise())


@pytest.mark.parametrize("true", [(0.05, 0.1), (0.1, 0.05), (0.0, 0.1)])
def test_noise_in_given_ratios(true):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 10_000)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(10_000, 2)) * true
    moments = moments_of(X, 3)
    noise, std = moments.estimate_noise(ratio=np.array(true), return_std=True)
    np.testing.assert_allclose(noise, true, rtol=0.05)
    assert noise.shape == std.shape == (2,)
    assert ((std > 0) == (np.array(true) > 0)).all()
    scaled = moments.estimate_noise(ratio=10 * np.array(true))
    np.testing.assert_allclose(scaled, noise, rtol=1e-9)
    with pytest.raises(ValueError, match="ratio is zero for all columns"):
        moments.estimate_noise(ratio=[0.0, 0.0])


@pytest.mark.parametrize("name, noise", [("circle", 0.1), ("parabola", 0.1), ("two lines", 0.05)])
def test_its_standard_error_is_its_spread(name, noise):
    estimates, errors = [], []
    for seed in range(400 if FULL else 120):
        rng = np.random.default_rng(seed)
        X, _ = planted(name, 1000, rng)
        moments = moments_of(X + noise * rng.normal(size=X.shape))
        estimate, std = moments.estimate_noise(return_std=True)
        estimates.append(estimate)
        errors.append(std)
    assert np.mean(estimates) == pytest.approx(noise, rel=0.02)
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.25)


@pytest.mark.parametrize("name", PLANTED)
def test_exact_rows_have_none(name):
    X, _ = planted(name, 200, np.random.default_rng(0))
    moments = moments_of(X, 3)
    assert moments.estimate_noise(return_std=True) == (0.0, 0.0)
    listed = moments.estimate_noise(ratio=np.ones(X.shape[1]))
    np.testing.assert_array_equal(listed, 0.0)
    assert Moments(2, 2).update(X[:1, :2]).estimate_noise() == 0.0


def test_columns_without_values():
    """A column of zeros has no noise; without a ratio, then, neither have the others."""
    X = np.column_stack([half_circle(0, 0.1), np.zeros(2000)])
    assert moments_of(X).estimate_noise() == 0.0
    with pytest.warns(UserWarning, match="no law is found"):  # this law says nothing of the others
        assert np.isnan(moments_of(X).estimate_noise(ratio=[1, 1, 0])).all()


def test_far_from_the_origin():
    """Where rounding hides the higher degrees, the lower ones are not taken for exact."""
    X = half_circle(0, 0.05)
    for shift in (0, 10, 100):
        assert moments_of(X + shift, 3).estimate_noise() == pytest.approx(0.05, rel=0.1)
    with pytest.raises(ValueError, match="of no rows"):
        Moments(2, 2).estimate_noise()


# -------------------------------------------------------------------------------- no artefacts


@models
@pytest.mark.parametrize("noise", [0.2, 0.4, 2.0, 100.0])
def test_more_noise_than_there_is(noise, model):
    """A warning, and nothing vanishes: a mean square is not negative."""
    moments = moments_of(half_circle(0, 0.1))
    with pytest.warns(ConvergenceWarning, match="debiased Gram matrix is indefinite") as caught:
        model.fit_moments(moments.debiased(noise))
    assert model.n_generators_ == 0
    (warning,) = caught
    assert warning.filename == __file__


@models
@pytest.mark.parametrize("name", ["square", "cube", "gaussian", "exponential"])
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_rows_without_a_law_get_none(name, noise, model):
    for seed in range(3):
        debiased = moments_of(without_law(name, 2000, seed), 2).debiased(noise)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert model.fit_moments(debiased).n_generators_ == 0


def test_the_mean_square_reported_is_that_of_the_rows_below():
    """Within its standard error, and not that of the rows with noise, of 4 s^2."""
    rng = np.random.default_rng(0)
    X, _ = planted("circle", 20_000, rng)
    noisy = X + 0.1 * rng.normal(size=X.shape)
    model = OAVI(1e-3, max_degree=2).fit_moments(moments_of(noisy).debiased(0.1))
    (g,) = model.generators_
    assert np.mean(g(noisy) ** 2) == pytest.approx(0.04, rel=0.1)
    assert np.mean(g(X) ** 2) < 2e-3
    assert 0 <= g.mse < 1e-3


def test_higher_degrees_below_the_noise():
    """x1 = x0^3, whose moments go up to degree 6."""
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 100_000)
    X = np.column_stack([t, t**3])
    moments = moments_of(X + 0.03 * rng.normal(size=X.shape), 4)
    noise = moments.estimate_noise()
    assert noise == pytest.approx(0.03, rel=0.05)
    model = ABM(2e-5, max_degree=3, normalization="gradient")
    model.fit_moments(moments.debiased(noise))
    found = coefficients(model.generators_[0])
    assert tuple(model.leading_terms_[0]) == (3, 0)
    truth = {(3, 0): 1, (0, 1): -1}
    assert max(abs(found[t] - truth.get(t, 0)) for t in found) < 0.1


def test_columns_in_any_order():
    """feature_order is of what lies below the noise, and gives the same law."""
    debiased = moments_of(half_circle(0, 0.1)).debiased(0.1)
    values = []
    for order in ("given", "pearson", "rev_pearson"):
        model = OAVI(1e-4, max_degree=2, feature_order=order).fit_moments(debiased)
        (g,) = model.generators_
        points = half_circle(1, 0.3)
        values.append(g.distance(points))
    for one, other in itertools.pairwise(values):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_terms_are_evaluated_as_the_reference_does():
    X = half_circle(0, 0.1)
    moments = moments_of(X, 3)
    np.testing.assert_allclose(moments.sums, evaluate(moments.terms, X).sum(axis=0), rtol=1e-12)
