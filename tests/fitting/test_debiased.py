"""Laws below the noise: found from debiased moments, and nothing where there is none."""

import itertools
import os
import warnings

import numpy as np
import pytest
from helpers import PLANTED, as_tuples, half_circle, planted, without_law
from sklearn.exceptions import ConvergenceWarning

from vanishing import ABM, OAVI, Moments

FULL = os.environ.get("VANISHING_FULL") == "1"
HALF_CIRCLE = np.array([-1.0, 0, 0, 1, 0, 1])  # over 1, x0, x1, x0^2, x0 x1, x1^2
MODELS = {
    "oavi": OAVI(1e-4, oracle="ls", max_degree=2),
    "abm": ABM(1e-4, max_degree=2),
    "abm-gradient": ABM(1e-4, max_degree=2, normalization="gradient"),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


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


# ---------------------------------------------------------------------- equations below the noise


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
@pytest.mark.parametrize("noise, raw, limit", [(0.05, 0.7, 0.04), (0.2, 1.2, 0.3)])
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


@pytest.mark.parametrize("given", [0.2, 0.18, 0.15])
def test_coefficients_hardly_depend_on_the_noise_given(given):
    """An error of the noise adds to G what H is, in columns weighted by their noise."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 200_000)
    X = np.column_stack([1.2 * np.cos(angle), 0.8 * np.sin(angle)])
    moments = moments_of(X + [0.2, 0.0] * rng.normal(size=X.shape))
    (g,) = OAVI(0.02, max_degree=2).fit_moments(moments.debiased([given, 0.0])).generators_
    assert coefficients(g)[(2, 0)] == pytest.approx(0.64 / 1.44, abs=0.004)
    assert coefficients(g)[(0, 0)] == pytest.approx(-0.64, abs=0.01)


@models
def test_laws_of_columns_without_noise(model):
    """They are laws as others, and those of both kinds of columns have the right coefficients."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, 20_000)
    X = np.column_stack([u, 0.5 * u + 0.1, u**2]) + [0.0, 0.0, 0.2] * rng.normal(size=(20_000, 3))
    for columns in ([0, 1, 2], [2, 0, 1]):
        noise = np.array([0.0, 0.0, 0.2])[columns]
        model.fit_moments(moments_of(X[:, columns]).debiased(noise))
        values = np.column_stack([u, 0.5 * u + 0.1, u**2])[:, columns]
        assert model.n_generators_ == 2
        assert model.generators_.distance(values).max() < 0.02
        assert (model.mse_ <= 1e-4).all()


def test_gradients_below_the_noise_are_of_mean_square_one():
    """In all columns, however much noise each of them has."""
    rng = np.random.default_rng(0)
    X, _ = planted("circle", 100_000, rng)
    for noise in ([0.1, 0.1], [0.02, 0.2], [0.0, 0.2]):
        debiased = moments_of(X + noise * rng.normal(size=X.shape)).debiased(noise)
        (g,) = MODELS["abm-gradient"].fit_moments(debiased).generators_
        assert np.mean((g.gradient(X) ** 2).sum(axis=1)) == pytest.approx(1, rel=0.02)
        (g,) = MODELS["abm"].fit_moments(debiased).generators_
        assert np.linalg.norm(g.coef) == pytest.approx(1, rel=1e-12)


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
