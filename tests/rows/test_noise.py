"""Noise in the columns: debiased moments, what they refuse, their file, and the noise itself."""

import json
import os

import numpy as np
import pytest
import sympy
from helpers import PLANTED, half_circle, planted, without_law

from vanishing import ABM, OAVI, VCA, Moments
from vanishing.rows.moments import MomentsFileError

FULL = os.environ.get("VANISHING_FULL") == "1"


def moments_of(X, max_degree=2):
    return Moments(X.shape[1], max_degree).update(X)


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
    with pytest.raises(ValueError, match="remove_redundant=True needs the rows"):
        OAVI(1e-4, remove_redundant=True).fit_moments(debiased)
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


# ------------------------------------------------------------------------------ the noise itself


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
