"""`LawFinder`: laws that tables obey are found, others are not, and nothing depends on the form."""

import functools
import hashlib
import inspect
import json
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import vanishing
from vanishing import Blocks, LawFinder, check_law
from vanishing.algebra.formulas import Formula
from vanishing.datasets.feynman import Law as Problem
from vanishing.datasets.feynman import feynman_laws
from vanishing.fitting.normal import inverse

# -- Tables, and a judge --------------------------------------------------------------------------

OWN = {
    "gas": Problem(
        "p", Formula("8.314*n*T/V"), {"V": (0.01, 0.1), "n": (0.5, 3.0), "T": (250.0, 400.0)}
    ),
    "Kepler": Problem("T", Formula("a**1.5"), {"a": (0.4, 30.0)}),
    "lens": Problem("f", Formula("1/(1/a + 1/b)"), {"a": (1.0, 5.0), "b": (1.0, 5.0)}),
    "velocities": Problem("w", Formula("(u + v)/(1 + u*v)"), {"u": (0.1, 0.9), "v": (0.1, 0.9)}),
}
# Products, sums, roots, quotients, differences, and one of each function.
FEYNMAN = (
    "I.6.2a",  # exp
    "I.8.14",  # a root of squares, which all other columns mix in
    "I.10.7",
    "I.11.19",  # six columns
    "I.12.4",
    "I.13.4",
    "I.16.6",
    "I.18.12",  # sin
    "I.27.6",
    "I.30.5",  # arcsin
    "I.40.1",  # exp of five columns
    "I.44.4",  # log
    "II.2.42",
    "II.6.11",  # cos
    "II.11.27",
    "II.34.2",
    "II.36.38",  # eight columns
    "III.10.19",
)


def problem_of(name):
    return OWN[name] if name in OWN else feynman_laws()[name]


def table(name, noise=0.01, n=2000, seed=0):
    """Rows of a law as a frame, with noise of a share of the target's rms, and that noise."""
    problem = problem_of(name)
    random = np.random.RandomState(seed)
    X, y = problem.sample(n, random)
    size = noise * np.sqrt(np.mean(y**2))
    y = pd.Series(y + size * random.normal(size=n), name=problem.target)
    return pd.DataFrame(X, columns=list(problem.ranges)), y, size


def true_coef(law, name):
    """The coefficients that a law's terms have on fresh rows without noise; None if it is no law.

    They are the one combination that vanishes, and use every term.
    """
    problem = problem_of(name)
    X, y = problem.sample(1000, np.random.RandomState(99))
    values = law.term_values(X, y)
    if law.target != problem.target or not np.isfinite(values).all():
        return None
    values = values / np.linalg.norm(values, axis=1)[:, None]
    scale = np.linalg.norm(values, axis=0)
    _, singular, right = np.linalg.svd(values / scale, full_matrices=False)
    alone = singular[-1] < 1e-11 * singular[0] and singular[-2] > 1e-6 * singular[0]
    return right[-1] / scale if alone and (np.abs(right[-1]) > 1e-7).all() else None


@functools.cache
def fitted(name, noise):
    """The finder of a table, which several tests look at."""
    X, y, _ = table(name, noise)
    return LawFinder().fit(X, y)


def coefficients(law):
    """Coefficients by terms; the largest is 1."""
    coef = law.coef / law.coef[np.argmax(np.abs(law.coef))]
    return dict(zip(law.terms, coef, strict=True))


def assert_same_law(law, other, rtol=0.0):
    """The same law to the last digit, or up to rounding where the rows differ by that."""
    assert (law.terms, law.names, law.target) == (other.terms, other.names, other.target)
    if not rtol:
        assert str(law) == str(other)
    np.testing.assert_allclose(law.coef, other.coef, rtol=rtol)
    np.testing.assert_allclose(law.coef_std, other.coef_std, rtol=max(rtol, 0) and 1e-3)
    np.testing.assert_allclose(law.error, other.error, rtol=rtol)


def circle(n=1000, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + noise * rng.normal(size=(n, 2))


def collisions(n=600, seed=0):
    """Elastic collisions on a line, with masses that vary."""
    rng = np.random.default_rng(seed)
    m1, m2 = rng.uniform(1, 5, (2, n))
    u1, u2 = rng.uniform(-3, 3, (2, n))
    centre = (m1 * u1 + m2 * u2) / (m1 + m2)
    v1, v2 = 2 * centre - u1, 2 * centre - u2
    return pd.DataFrame({"m1": m1, "m2": m2, "u1": u1, "u2": u2, "v1": v1, "v2": v2})


# -- What is found --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*OWN, *FEYNMAN])
def test_laws_without_noise(name):
    finder = fitted(name, 0.0)
    assert finder.laws_, finder.verdict_
    law = finder.laws_[0]
    truth = true_coef(law, name)
    assert truth is not None, str(law)
    np.testing.assert_allclose(law.coef / law.coef[0], truth / truth[0], rtol=1e-6)
    assert law.relative_error < 1e-9 and "up to rounding" in finder.verdict_


DEGREE = "velocities"


@pytest.mark.parametrize("name", [DEGREE if n == "velocities" else n for n in (*OWN, *FEYNMAN)])
def test_laws_with_noise(name):
    X, y, size = table(name, 0.01)
    finder = fitted(name, 0.01)
    assert finder.laws_, finder.verdict_
    law = finder.laws_[0]
    truth = true_coef(law, name)
    assert truth is not None, str(law)
    fixed = int(np.argmin(law.coef_std))
    assert law.coef_std[fixed] == 0 and (np.delete(law.coef_std, fixed) > 0).all()
    gap = law.coef - truth * law.coef[fixed] / truth[fixed]
    assert (np.abs(gap) <= 4 * law.coef_std).all()
    assert 0.95 < law.error / size < 1.05
    assert 0.9 < law.held_out_error / size < 1.1
    assert abs(law.lack_of_fit) < 5
    np.testing.assert_allclose(law.relative_error, law.error / np.sqrt(np.mean(y**2)), rtol=1e-9)
    np.testing.assert_allclose(finder.noise_, [*[0.0] * X.shape[1], law.error])
    assert law.n_samples == len(X) and law.names == (*X.columns, y.name)
    np.testing.assert_array_equal(finder.predict(X), law.predict(X))
    np.testing.assert_allclose(
        finder.score(X, y), 1 - np.sum((y - law.predict(X)) ** 2) / np.sum((y - y.mean()) ** 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lens", "I.13.4", "I.18.12"])
def test_errors_of_coefficients_are_those_of_repeated_experiments(name):
    scores = []
    for seed in range(1, 13):
        X, y, _ = table(name, 0.02, n=500, seed=seed)
        functions = "auto" if name == "I.18.12" else ()  # which has a sine
        (law,) = LawFinder(functions=functions).fit(X, y).laws_
        truth, fixed = true_coef(law, name), int(np.argmin(law.coef_std))
        gap = law.coef - truth * law.coef[fixed] / truth[fixed]
        scores.extend(np.delete(gap, fixed) / np.delete(law.coef_std, fixed))
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_what_is_written_can_be_checked():
    for name in ("gas", "lens", "I.10.7", "I.16.6", "I.18.12", "I.44.4"):
        X, y, size = table(name, 0.01)
        law = fitted(name, 0.01).laws_[0]
        checked = check_law(str(law), X, y)
        assert checked.verdict.startswith("holds"), (str(law), checked.verdict)
        assert 0.95 < checked.error / size < 1.05


def test_the_verdict_is_a_sentence_or_two():
    finders = [fitted(name, noise) for name in ("gas", "lens", "I.18.12") for noise in (0.0, 0.01)]
    finders += [LawFinder().fit(circle()), LawFinder().fit(circle(noise=0.01))]
    for finder in finders:
        verdict = finder.verdict_
        assert str(finder.laws_[0]) in verdict
        assert "\n" not in verdict and verdict.endswith(".") and len(verdict) < 400
        assert "nan" not in verdict and "inf" not in verdict.replace("information", "")
        assert finder.laws_[0].verdict in verdict


def test_the_front_has_a_law_for_each_number_of_terms():
    finder = fitted("II.36.38", 0.01)
    assert finder.front_
    sizes = [law.n_terms for law in finder.front_]
    errors = [law.error for law in finder.front_]
    assert sizes == sorted(set(sizes)) and errors == sorted(errors, reverse=True)
    assert finder.laws_[0].terms in [law.terms for law in finder.front_]
    # On all rows of the sample the same law has the same errors, in units far from 1, too.
    law = fitted("gas", 0.01).laws_[0]
    (same,) = [other for other in fitted("gas", 0.01).front_ if other.terms == law.terms]
    np.testing.assert_allclose(same.coef_std, law.coef_std, rtol=0.02)


def test_reductions_are_the_combinations_that_matter():
    assert fitted("gas", 0.01).reductions_ == ["V*p/(n*T)"]
    first, second = fitted("I.10.7", 0.01).reductions_
    assert first == "m/m_0" and second in ("v/c", "c/v", "v^2/c^2", "c^2/v^2")


def test_names_of_columns_and_target():
    X, y, _ = table("gas")
    law = LawFinder().fit(X.to_numpy(), y.to_numpy()).laws_[0]
    assert law.names == ("x0", "x1", "x2", "y") and law.target == "y"
    finder = fitted("gas", 0.01)
    assert finder.target_name_ == "p" and list(finder.feature_names_in_) == ["V", "n", "T"]
    assert LawFinder().fit(circle()).target_name_ is None


def test_columns_of_negative_numbers():
    X, y, _ = table("gas")
    X = X.assign(n=-X["n"], T=-X["T"])
    law = LawFinder().fit(X, -y).laws_[0]
    np.testing.assert_allclose(
        law.predict(X), -fitted("gas", 0.01).laws_[0].predict(-X.assign(V=-X["V"]))
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    law = LawFinder().fit(X, X[:, 0] * X[:, 1] - 2 * X[:, 2]).laws_[0]
    assert set(law.terms) == {"y", "x2", "x0*x1"} and law.relative_error < 1e-12


def test_columns_that_play_no_part():
    X, y, size = table("lens")
    more = np.random.default_rng(0).normal(size=(len(X), 12))
    law = (
        LawFinder().fit(np.hstack([more[:, :5], X, more[:, 5:], np.ones((len(X), 1))]), y).laws_[0]
    )
    assert {name for name in law.names if any(name in t for t in law.terms)} >= {"x5", "x6", "f"}
    assert law.n_terms == 3 and 0.95 < law.error / size < 1.05


# -- What does not matter -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gas", "lens", "I.18.12", "II.36.38"])
def test_rows_in_another_order_give_the_same_bits(name):
    X, y, _ = table(name)
    law = fitted(name, 0.01).laws_[0]
    order = np.random.default_rng(0).permutation(len(X))
    finder = LawFinder().fit(X.iloc[order], y.iloc[order])
    assert len(finder.laws_) == 1
    assert_same_law(finder.laws_[0], law, rtol=1e-12)
    assert str(finder.laws_[0]) == str(law)
    np.testing.assert_array_equal(finder.laws_[0].coef, law.coef)
    assert finder.verdict_ == fitted(name, 0.01).verdict_
    for a, b in zip(finder.front_, fitted(name, 0.01).front_, strict=True):
        assert_same_law(a, b)  # found on the sample, which is in an order of its own


def test_rows_in_another_order_give_the_same_bits_without_target():
    points = circle(noise=0.01)
    assert_same_law(LawFinder().fit(points).laws_[0], LawFinder().fit(points[::-1]).laws_[0])


@pytest.mark.parametrize("name", ["lens", "I.13.4", "I.18.12"])
def test_columns_in_another_order_give_the_same_law(name):
    X, y, _ = table(name)
    law = fitted(name, 0.01).laws_[0]
    other = LawFinder().fit(X[X.columns[::-1]], y).laws_[0]
    # Rows are seen in another order, so that the law is the same up to where a search stops.
    assert other.n_terms == law.n_terms
    np.testing.assert_allclose(other.predict(X), law.predict(X), rtol=1e-3)
    np.testing.assert_allclose(other.error, law.error, rtol=1e-4)


@pytest.mark.parametrize("rows", [77, 5000])
def test_rows_in_blocks_are_as_rows_at_once(rows):
    X, y, _ = table("I.13.4")
    X, y = X.to_numpy(), y.to_numpy()
    whole = LawFinder().fit(X, y)
    finder = LawFinder().fit(Blocks.from_array(X, y, rows=rows))
    assert_same_law(finder.laws_[0], whole.laws_[0], rtol=1e-9)
    assert finder.verdict_ == whole.verdict_ and finder.target_name_ == "y"
    parts = list(finder.predict(Blocks.from_array(X, rows=rows)))
    np.testing.assert_allclose(np.concatenate(parts), whole.predict(X), rtol=1e-9)
    points = circle(noise=0.01)
    assert_same_law(
        LawFinder().fit(Blocks.from_array(points, rows=rows)).laws_[0],
        LawFinder().fit(points).laws_[0],
        rtol=1e-9,
    )


def test_more_rows_than_are_searched():
    X, y, _ = table("I.27.6", n=25_000)
    finder = LawFinder(functions=()).fit(X, y)
    law = finder.laws_[0]
    assert law.n_samples == 25_000 and true_coef(law, "I.27.6") is not None
    # The law is fitted to all rows: errors are smaller than those of the sample.
    sample = LawFinder(functions=()).fit(X[:10_000], y[:10_000]).laws_[0]
    assert sample.terms == law.terms
    assert 1.3 < np.max(sample.coef_std) / np.max(law.coef_std) < 1.9
    blocks = Blocks.from_array(X.to_numpy(), y.to_numpy(), rows=6000)
    blocks = LawFinder(functions=()).fit(blocks).laws_[0]
    np.testing.assert_allclose(blocks.coef, law.coef, rtol=1e-9)
    other = LawFinder(functions=(), random_state=1).fit(X, y)
    assert other.laws_[0].terms == law.terms
    np.testing.assert_allclose(other.laws_[0].coef, law.coef, rtol=1e-4)


def test_a_row_of_weight_zero_does_not_count():
    X, y, _ = table("gas")
    weight = np.ones(len(X))
    weight[::3] = 0
    y = y.where(weight > 0, 1e9)
    finder = LawFinder().fit(X, y, weight)
    kept = LawFinder().fit(X[weight > 0], y[weight > 0])
    assert_same_law(finder.laws_[0], kept.laws_[0])
    assert finder.laws_[0].n_samples == weight.sum()


def test_whole_weights_have_the_coefficients_of_repeated_rows():
    X, y, _ = table("gas")
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(X))
    law = LawFinder().fit(X, y, weight).laws_[0]
    product = X["n"] * X["T"] / X["V"]
    repeated = np.repeat(np.arange(len(X)), weight)
    a, b = product.iloc[repeated], y.iloc[repeated]
    np.testing.assert_allclose(law.predict(X), product * (a @ b) / (a @ a), rtol=1e-9)
    assert law.n_samples == weight.sum()
    error = np.sqrt(np.mean((b - a * (a @ b) / (a @ a)) ** 2))
    np.testing.assert_allclose(law.error, error, rtol=1e-9)


def test_a_row_of_weight_two_is_two_rows():
    X, y, _ = table("gas")
    finder = LawFinder().fit(X, y, np.full(len(X), 2.0))
    twice = LawFinder().fit(pd.concat([X, X]), pd.concat([y, y]))
    assert twice.laws_, twice.verdict_
    assert_same_law(finder.laws_[0], twice.laws_[0], rtol=1e-9)
    assert finder.laws_[0].n_samples == twice.laws_[0].n_samples == 2 * len(X)


def test_columns_of_few_values():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, 500)
    for column in (rng.integers(0, 2, 500), rng.integers(1, 3, 500)):
        for y in (column * x, 2 * x + column):
            (law,) = LawFinder().fit(np.column_stack([column, x]), y).laws_
            assert law.n_terms == (2 if y[0] == column[0] * x[0] else 3), str(law)


@pytest.mark.parametrize("seed", range(3))
def test_a_switch_is_a_column_like_any_other(seed):
    rng = np.random.default_rng(seed)
    switch, d = rng.integers(0, 2, 300), rng.uniform(0.5, 4.5, 300)
    y = 3 * switch + 2 * np.exp(-d) + 0.02 * rng.normal(size=300)
    # switch*(y - 3 - 2*exp(-d)) = 0 holds as well, and says nothing of the rows without.
    (law,) = LawFinder().fit(np.column_stack([switch, d]), y).laws_
    assert set(law.terms) == {"y", "x0", "exp(-x1)"}
    assert law.relative_error < 0.02


def test_weights_of_any_kind():
    X, y, _ = table("gas")
    weight = np.random.default_rng(0).exponential(size=len(X))
    finder = LawFinder().fit(X, y, weight)
    assert finder.laws_, finder.verdict_


@pytest.mark.parametrize("name", ["gas", "lens", "I.10.7", "I.16.6", "II.36.38"])
@pytest.mark.parametrize("unit", [1e9, 1e-9])
def test_units_do_not_matter(name, unit):
    X, y, _ = table(name)
    law = fitted(name, 0.01).laws_[0]
    scaled = LawFinder().fit(X * unit, y * unit)
    assert scaled.laws_, scaled.verdict_
    other = scaled.laws_[0]
    assert other.n_terms == law.n_terms
    np.testing.assert_allclose(other.predict(X * unit) / unit, law.predict(X), rtol=1e-4)
    np.testing.assert_allclose(other.error / unit, law.error, rtol=1e-4)
    np.testing.assert_allclose(other.relative_error, law.relative_error, rtol=1e-4)


def test_units_of_single_columns_do_not_matter():
    X, y, _ = table("I.13.4")
    law = fitted("I.13.4", 0.01).laws_[0]
    units = np.array([1e9, 1e-9, 1e3, 1e-5])
    other = LawFinder().fit(X * units, y * 1e-7).laws_[0]
    assert other.terms == law.terms
    np.testing.assert_allclose(other.predict(X * units) / 1e-7, law.predict(X), rtol=1e-4)


def test_units_do_not_matter_without_target():
    points = circle(noise=0.01)
    law = LawFinder().fit(points).laws_[0]
    other = LawFinder().fit(points * [1e9, 1e-9]).laws_[0]
    assert other.terms == law.terms
    expected = law.coef * np.array([{"x0^2": 1e-18, "x1^2": 1e18}.get(t, 1.0) for t in law.terms])
    np.testing.assert_allclose(
        other.coef / other.coef[law.terms.index("1")],
        expected / expected[law.terms.index("1")],
        rtol=1e-6,
    )


def test_two_jobs_find_what_one_finds():
    rng = np.random.default_rng(0)
    joined = pd.DataFrame({"x": rng.uniform(1, 5, 100)})
    joined["y"] = np.log(joined["x"]) + 0.01 * rng.normal(size=100)
    one, two = (LawFinder(n_jobs=n).fit(joined) for n in (1, 2))
    assert one.laws_ and one.verdict_ == two.verdict_
    assert [str(law) for law in one.laws_] == [str(law) for law in two.laws_]
    for a, b in zip(one.laws_, two.laws_, strict=True):
        assert_same_law(a, b)
    np.testing.assert_array_equal(one.noise_, two.noise_)


def test_fitting_twice_gives_the_same_and_changes_no_parameter():
    X, y, _ = table("lens")
    finder = LawFinder(random_state=3)
    before = finder.get_params()
    first = pickle.dumps([str(law) for law in finder.fit(X, y).laws_]), finder.laws_[0].coef
    second = pickle.dumps([str(law) for law in finder.fit(X, y).laws_]), finder.laws_[0].coef
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])
    assert finder.get_params() == before
    # Without target nothing of the target is left.
    finder.fit(circle())
    assert finder.target_name_ is None and finder.n_features_in_ == 2
    assert not hasattr(finder, "predict")


def test_the_data_are_not_changed():
    X, y, _ = table("gas")
    values, target = X.to_numpy().copy(), y.to_numpy().copy()
    values.flags.writeable = target.flags.writeable = False
    law = LawFinder().fit(values, target).laws_[0]
    np.testing.assert_array_equal(law.coef, fitted("gas", 0.01).laws_[0].coef)
    single = LawFinder().fit(values.astype(np.float32), target.astype(np.float32)).laws_[0]
    assert single.terms == law.terms
    np.testing.assert_allclose(single.coef, law.coef, rtol=1e-5)


@pytest.mark.parametrize("kind", ["relative noise", "single precision"])
def test_noise_that_differs_from_row_to_row(kind):
    X, y, _ = table("gas", 0.0, n=10_000)
    if kind == "relative noise":
        y = y * (1 + 0.01 * np.random.default_rng(0).normal(size=len(y)))
    else:
        X, y = X.astype(np.float32), y.astype(np.float32)
    finder = LawFinder().fit(X, y)
    assert finder.laws_, finder.verdict_
    assert true_coef(finder.laws_[0], "gas") is not None


def test_no_law_has_more_terms_than_allowed():
    X, y, _ = table("lens")
    for max_terms in (2, 3):
        finder = LawFinder(max_terms=max_terms, functions=()).fit(X, y)
        assert all(law.n_terms <= max_terms for law in finder.laws_ + finder.front_)


def test_verbose(capsys):
    LawFinder().fit(*table("gas", n=50)[:2])
    assert not capsys.readouterr().out
    LawFinder(verbose=1).fit(*table("gas", n=50)[:2])
    assert capsys.readouterr().out


# -- Without target -------------------------------------------------------------------------------


def test_circle_and_sphere():
    (law,) = LawFinder().fit(circle()).laws_
    assert coefficients(law) == {"1": 1, "x0^2": -1, "x1^2": -1} or coefficients(law) == {
        "1": -1,
        "x0^2": 1,
        "x1^2": 1,
    }
    assert law.target is None and str(law) == "x0^2 + x1^2 = 1"
    assert np.abs(law.residual(circle(seed=1))).max() < 1e-12
    points = np.random.default_rng(0).normal(size=(500, 3))
    points = points / np.linalg.norm(points, axis=1)[:, None]
    (law,) = LawFinder().fit(points).laws_
    assert str(law) == "x0^2 + x1^2 + x2^2 = 1"


def test_a_noisy_circle():
    finder = LawFinder().fit(circle(2000, noise=0.01))
    (law,) = finder.laws_
    assert set(law.terms) == {"1", "x0^2", "x1^2"}
    coef = law.coef / law.coef[law.terms.index("1")]
    assert (np.abs(np.abs(coef) - 1) < 4 * law.coef_std + 1e-12).all()
    assert (finder.noise_ > 0.009).all() and (finder.noise_ < 0.011).all()


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_errors_of_laws_without_target_are_those_of_the_nearest_solution(noise):
    (law,) = LawFinder().fit(circle(2000, noise=noise)).laws_
    # Moved by noise across the circle, to first order: x0 alone has to move by more.
    assert noise <= law.error < 10 * noise + 1e-6


def test_a_law_that_some_rows_break_does_not_hold_up_to_rounding():
    points = circle(1000)
    points[:20] = np.random.default_rng(1).uniform(-1.5, 1.5, (20, 2))
    for law in LawFinder().fit(points).laws_:
        assert "up to rounding" not in law.verdict, str(law)


def test_weights_without_target():
    points = circle(noise=0.01)
    for weight in (0.5, 2.0):
        finder = LawFinder().fit(points, None, np.full(len(points), weight))
        assert finder.laws_, finder.verdict_


def test_heron():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 5, (2, 800))
    angle = rng.uniform(0.2, np.pi - 0.2, 800)
    c = np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(angle))
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "S": a * b * np.sin(angle) / 2})
    (law,) = LawFinder().fit(frame).laws_
    assert str(law) == "16*S^2 + a^4 + b^4 + c^4 = 2*a^2*b^2 + 2*a^2*c^2 + 2*b^2*c^2"


def test_collisions():
    finder = LawFinder().fit(collisions())
    said = [set(law.terms) for law in finder.laws_]
    assert {"m1*u1", "m2*u2", "m1*v1", "m2*v2"} in said
    assert {"m1*u1^2", "m2*u2^2", "m1*v1^2", "m2*v2^2"} in said
    for law in finder.laws_:
        values = law.term_values(collisions(seed=1))
        assert np.abs(values @ law.coef).max() < 1e-9 * np.abs(values).max()
    assert finder.verdict_.startswith(f"{len(finder.laws_)} laws hold")
    assert len(LawFinder(n_laws=1).fit(collisions()).laws_) == 1


@pytest.mark.parametrize("n", [30, 300])
def test_random_columns_have_no_law(n):
    rng = np.random.default_rng(n)
    for columns in (
        rng.normal(size=(n, 3)),
        rng.uniform(1, 3, (n, 2)),
        rng.exponential(size=(n, 2)),
    ):
        finder = LawFinder().fit(columns)
        assert finder.laws_ == [] and finder.verdict_.startswith("No law")
        assert finder.noise_.shape == (columns.shape[1],)


# -- Noise in all columns, and wrong rows ---------------------------------------------------------


@pytest.mark.parametrize("given", [True, False])
def test_an_ellipse_with_noise_in_both_columns(given):
    points = circle(3000, seed=5) * [2, 1]
    noise = 0.01 * np.sqrt(np.mean(points**2, axis=0))
    points = points + noise * np.random.default_rng(0).normal(size=points.shape)
    finder = LawFinder(noise=noise if given else "estimate").fit(points)
    (law,) = finder.laws_
    assert set(law.terms) == {"1", "x0^2", "x1^2"}
    fixed = law.terms.index("1")
    truth = np.array([{"1": -1, "x0^2": 0.25, "x1^2": 1}[t] for t in law.terms])
    gap = law.coef - truth * law.coef[fixed] / truth[fixed]
    assert law.coef_std[fixed] == 0
    assert (np.abs(gap) <= 4 * law.coef_std).all() and law.coef_std.max() < 0.01
    np.testing.assert_allclose(finder.noise_, noise, rtol=1e-12 if given else 0.1)


@pytest.mark.parametrize("name", ["lens", "velocities"])
def test_a_target_and_columns_with_noise(name):
    X, y, _ = table(name, noise=0.0, n=4000)
    columns = X.assign(**{y.name: y})
    noise = 0.01 * np.sqrt((columns**2).mean()).to_numpy()
    columns = columns + noise * np.random.default_rng(0).normal(size=columns.shape)
    finder = LawFinder(noise=noise).fit(columns[X.columns], columns[y.name])
    (law,) = finder.laws_
    truth = true_coef(law, name)
    assert truth is not None, str(law)
    fixed = int(np.argmin(law.coef_std))
    gap = law.coef - truth * law.coef[fixed] / truth[fixed]
    assert (np.abs(gap) <= 4 * law.coef_std).all()
    assert np.corrcoef(finder.predict(columns[X.columns]), y)[0, 1] > 0.99


def test_wrong_rows_are_left_out_where_they_may_be():
    X, y, size = table("I.13.4", n=1000)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.02
    y = y.where(~wrong, rng.uniform(0, 20 * y.max(), len(y)))
    plain = LawFinder().fit(X, y).laws_
    assert not plain or true_coef(plain[0], "I.13.4") is None
    finder = LawFinder(robust=True).fit(X, y)
    (law,) = finder.laws_
    assert true_coef(law, "I.13.4") is not None
    assert 0.93 < law.error / size < 1.05
    assert f"wrong were {wrong.sum()} rows" in finder.verdict_


def test_wrong_rows_of_a_circle():
    points = circle(2000, noise=0.01)
    wrong = np.random.default_rng(0).random(2000) < 0.02
    points[wrong] = np.random.default_rng(1).uniform(-1.5, 1.5, (wrong.sum(), 2))
    (law,) = LawFinder(robust=True).fit(points).laws_
    assert set(law.terms) == {"1", "x0^2", "x1^2"}
    assert (np.abs(np.abs(law.coef) - 1) < 0.01).all()
    plain = LawFinder().fit(points).laws_
    assert not plain or set(plain[0].terms) != {"1", "x0^2", "x1^2"}


def test_wrong_rows_among_rows_without_noise_and_target():
    points = circle(1000)
    points[:20] = np.random.default_rng(1).uniform(-1.5, 1.5, (20, 2))
    (law,) = LawFinder(robust=True).fit(points).laws_
    assert str(law) == "x0^2 + x1^2 = 1"


def test_rows_without_noise_are_all_right():
    X, y, _ = table("gas", 0.0)
    finder = LawFinder(robust=True).fit(X, y)
    assert true_coef(finder.laws_[0], "gas") is not None and "wrong" not in finder.verdict_
    wrong = np.random.default_rng(0).random(len(y)) < 0.02
    finder = LawFinder(robust=True).fit(X, y.where(~wrong, 1.0))
    assert true_coef(finder.laws_[0], "gas") is not None
    assert f"wrong were {wrong.sum()} rows" in finder.verdict_


def test_noise_given_for_the_target_alone():
    X, y, size = table("gas")
    (law,) = LawFinder(noise=[0, 0, 0, size]).fit(X, y).laws_
    assert true_coef(law, "gas") is not None
    np.testing.assert_allclose(law.predict(X), fitted("gas", 0.01).predict(X), rtol=2e-3)
    # Other ranges, in which terms of a high degree are as good as dependent.
    rng = np.random.default_rng(0)
    X = rng.uniform([1, 250, 0.02], [3, 400, 0.1], (2000, 3))
    y = 8.314 * X[:, 0] * X[:, 1] / X[:, 2]
    y = y + 0.01 * y.std() * rng.normal(size=2000)
    assert LawFinder(noise=[0, 0, 0, 0.01 * y.std()]).fit(X, y).laws_


def test_rows_that_are_right_are_kept():
    X, y, size = table("gas")
    (law,) = LawFinder(robust=True).fit(X, y).laws_
    assert 0.95 < law.error / size < 1.02
    np.testing.assert_allclose(law.coef, fitted("gas", 0.01).laws_[0].coef, rtol=1e-4)


# -- No law ---------------------------------------------------------------------------------------


def none_tables():
    rng = np.random.default_rng(0)
    return {
        "random": (rng.normal(size=(500, 3)), rng.normal(size=500)),
        "random, positive": (rng.uniform(1, 3, (500, 3)), rng.uniform(1, 3, 500)),
        "constant": (rng.normal(size=(100, 2)), np.full(100, 3.0)),
        "zero": (rng.normal(size=(100, 2)), np.zeros(100)),
        "constant columns": (np.ones((50, 2)), rng.normal(size=50)),
        "one column": (rng.normal(size=(200, 1)), rng.normal(size=200)),
        "few rows": (rng.normal(size=(10, 4)), rng.normal(size=10)),
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", none_tables())
def test_where_no_law_holds_the_mean_is_predicted(name):
    X, y = none_tables()[name]
    finder = LawFinder().fit(X, y)
    assert finder.laws_ == [] and finder.verdict_.startswith("No law")
    assert finder.verdict_.endswith(".") and "y" in finder.verdict_
    with pytest.warns(UserWarning, match="no law was found") as caught:
        predicted = finder.predict(X)
    assert len(caught) == 1
    np.testing.assert_allclose(predicted, np.full(len(X), y.mean()), atol=1e-12)
    assert finder.noise_.shape == (X.shape[1] + 1,) and np.isfinite(finder.noise_).all()


def test_no_claim_on_small_random_tables():
    for seed in range(0, 12, 2):
        rng = np.random.default_rng(seed)
        X = rng.uniform(1, 3, (10 + 3 * seed, 1 + seed % 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not LawFinder().fit(X, rng.uniform(1, 3, len(X))).laws_


@pytest.mark.filterwarnings("ignore")
def test_no_claim_on_a_handful_of_random_rows():
    claims = []
    for n in (3, 4, 6, 9):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.uniform(1, 3, (n, 1 + seed % 3))
            claims += LawFinder().fit(X, rng.uniform(1, 3, n)).laws_
    assert not claims, [str(law) for law in claims]


def test_one_column_without_target():
    finder = LawFinder().fit(np.random.default_rng(0).normal(size=(100, 1)))
    assert finder.laws_ == [] and finder.verdict_.startswith("No law")


def test_without_target_nothing_is_predicted():
    finder = LawFinder().fit(circle())
    for name in ("predict", "score"):
        assert not hasattr(finder, name)
        with pytest.raises(AttributeError, match=name) as raised:
            getattr(finder, name)
        assert "laws_[0].solve(name)" in str(raised.value.__cause__)
    x, y = circle(seed=2).T
    upper = y > 0
    solved = finder.laws_[0].solve("x1").predict(np.column_stack([x, y]))
    np.testing.assert_allclose(solved[upper], y[upper], atol=1e-7)
    assert hasattr(LawFinder(), "predict")
    with pytest.raises(NotFittedError):
        LawFinder().predict(circle())


def test_rows_where_the_law_has_no_solution():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (500, 2))
    finder = LawFinder().fit(X, np.sqrt(4 * X[:, 0] - X[:, 1]))
    with pytest.warns(UserWarning, match="no solution on 1 of 2 rows"):
        predicted = finder.predict([[1.0, 3.0], [1.0, 5.0]])
    np.testing.assert_allclose(predicted[0], 1.0)
    np.testing.assert_allclose(predicted[1], np.sqrt(4 * X[:, 0] - X[:, 1]).mean())


# -- What goes wrong ------------------------------------------------------------------------------


def changed(**changes):
    X, y, _ = table("gas", n=50)
    return {"X": X, "y": y, "sample_weight": None} | changes


def errors():
    X, y, _ = table("gas", n=50)
    missing = X.copy()
    missing.iloc[3, 1] = np.nan
    return {
        "NaN": (changed(X=missing), {}, "contains NaN"),
        "NaN in y": (changed(y=y.mask(y > y.median())), {}, "y contains NaN"),
        "infinite": (changed(X=X.assign(n=np.inf)), {}, "infinity"),
        "text": (changed(X=X.assign(gas="neon")), {}, "Column 'gas' of X holds strings"),
        "text in y": (changed(y=["neon"] * 50), {}, "y holds strings such as 'neon'"),
        "dates in y": (changed(y=pd.date_range("2020", periods=50)), {}, "y holds dates"),
        "one row": (
            changed(X=X[:1], y=y[:1]),
            {},
            "n_samples = 1 different rows are too few .* at least 3",
        ),
        "equal rows": (changed(X=X.iloc[[0] * 50], y=y.iloc[[0] * 50]), {}, "1 different rows"),
        "two rows without target": (changed(X=X[:2], y=None), {}, "n_samples = 2 different"),
        "length of y": (changed(y=y[:-1]), {}, r"\[50, 49\]"),
        "shape of y": (changed(y=np.ones((50, 2))), {}, "1d array"),
        "name of y": (changed(y=y.rename("V")), {}, "the target is called 'V'"),
        "negative weight": (changed(sample_weight=-np.ones(50)), {}, "must not be negative"),
        "no weight": (changed(sample_weight=np.zeros(50)), {}, "zero on all rows"),
        "number of weights": (changed(sample_weight=np.ones(49)), {}, "49"),
        "negative noise": (changed(), {"noise": -0.1}, "noise must be finite and not negative"),
        "NaN noise": (changed(), {"noise": np.nan}, "noise must be finite"),
        "shape of noise": (changed(), {"noise": [1, 2]}, r"4 of them with the target last.*\(2,\)"),
        "word for noise": (changed(), {"noise": "guess"}, "'estimate'"),
        "max_degree": (changed(), {"max_degree": 0}, "max_degree"),
        "max_terms": (changed(), {"max_terms": 1}, "max_terms"),
        "n_laws": (changed(), {"n_laws": 0}, "n_laws"),
        "max_time": (changed(), {"max_time": 0}, "max_time"),
        "robust": (changed(), {"robust": "yes"}, "robust"),
        "verbose": (changed(), {"verbose": -1}, "verbose"),
        "functions": (changed(), {"functions": ("sine",)}, "sine"),
        "n_jobs": (changed(y=None), {"n_jobs": "all"}, "n_jobs"),
    }


@pytest.mark.parametrize(
    ("taken", "name"), [({}, "y"), ({"V": "y"}, "target"), ({"V": "y", "n": "target"}, "target2")]
)
def test_an_array_gets_a_name_that_is_free(taken, name):
    X, y, _ = table("gas", n=50)
    finder = LawFinder().fit(X.rename(columns=taken), y.to_numpy())
    assert finder.target_name_ == name == finder.laws_[0].target


def test_a_frame_with_one_column_gives_the_target_its_name():
    X, y, _ = table("gas", n=50)
    with pytest.warns(DataConversionWarning):
        finder = LawFinder().fit(X, y.to_frame())
    assert finder.target_name_ == "p"
    assert str(finder.laws_[0]) == str(LawFinder().fit(X, y).laws_[0])


def rewritten(path, noise, per_column):
    """Change the noise in a model file, and its checksum."""
    document = json.loads(path.read_text())
    document["model"]["fitted"] |= {"noise": noise, "noise_per_column": per_column}
    document["sha256"] = "0" * 64
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content.replace(b"0" * 64, digest, 1))


@pytest.mark.parametrize("has_target", [True, False])
def test_noise_of_files_of_earlier_versions(has_target, tmp_path):
    """It was one number where noise is in the target alone, and where time was up."""
    X, y, _ = table("gas", n=50)
    model = LawFinder().fit(X, y) if has_target else LawFinder(max_time=1e-9).fit(X)
    path = tmp_path / "finder.json"
    model.save(path)
    np.testing.assert_array_equal(vanishing.load(path).noise_, model.noise_)
    rewritten(path, [float(model.noise_[-1]) if has_target else "NaN"], False)
    np.testing.assert_array_equal(vanishing.load(path).noise_, model.noise_)
    rewritten(path, [1.0, 2.0], True)
    with pytest.raises(ValueError, match=r"noise should have [34] numbers"):
        vanishing.load(path)


@pytest.mark.parametrize("saved", [False, True])
def test_the_front_as_a_table(saved, tmp_path):
    X, y, _ = table("lens", 0.05, n=300)
    finder = LawFinder(functions=()).fit(X, y)
    if saved:
        finder.save(tmp_path / "finder.json")
        finder = vanishing.load(tmp_path / "finder.json")
    front = finder.front_table()
    assert isinstance(front, pd.DataFrame) and len(front) == len(finder.front_) > 1
    assert front.n_terms.is_monotonic_increasing and front.error.is_monotonic_decreasing
    (chosen,) = front[front.chosen].itertuples()
    (law,) = finder.laws_
    assert chosen.equation == str(law)
    for name in ("n_terms", "degree", "error", "relative_error", "held_out_error", "evidence"):
        assert getattr(chosen, name) == getattr(law, name)
    assert chosen.n_samples == 300


def test_the_front_without_pandas_or_without_equations(monkeypatch):
    X, y, _ = table("gas", n=50)
    finder = LawFinder().fit(X, y)
    front = finder.front_table()
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = finder.front_table()
    assert [list(row) for row in rows] == [list(front.columns)] * len(rows)
    assert [row["equation"] for row in rows] == front.equation.tolist()
    monkeypatch.undo()
    constant = LawFinder().fit(X, np.ones(50))
    assert constant.front_table().columns.tolist() == list(front.columns)
    with pytest.raises(NotFittedError):
        LawFinder().front_table()


@pytest.mark.parametrize("name", errors())
def test_errors_are_clear_and_leave_nothing_behind(name):
    arguments, parameters, message = errors()[name]
    finder = LawFinder(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        finder.fit(**arguments)
    assert set(vars(finder)) == set(inspect.signature(LawFinder).parameters)


def test_no_functions():
    X, y, _ = table("I.18.12", 0.0, n=500)
    finder = LawFinder(functions=()).fit(X, y)
    assert not any("sin" in term for law in finder.laws_ for term in law.terms)


def test_a_column_of_two_values_is_in_some_terms_only():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(1, 2, 400), rng.choice([1.0, 2.0], 400)])
    finder = LawFinder().fit(X, 2 * X[:, 0] ** 2 + 3 * X[:, 1])
    new = np.array([[1.5, 1.0], [1.2, 2.0]])
    np.testing.assert_allclose(finder.predict(new), [7.5, 8.88], rtol=1e-9)
    assert len(finder.laws_[0].terms) == 3


def test_the_verdict_counts_the_laws_of_the_columns():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 2, (2, 400))
    X = np.column_stack([a, b, a * b])
    assert LawFinder(functions=()).fit(X).verdict_.startswith("A law holds: ")
    X = np.column_stack([a, b, a * b, a**2])
    finder = LawFinder(functions=()).fit(X)
    assert finder.verdict_.startswith(f"{len(finder.laws_)} laws hold: ") and len(finder.laws_) > 1


def test_an_equation_of_one_column_is_no_law():
    """Of a column that has two values, which a parabola vanishes on."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (600, 3))
    X[:, 0] = rng.choice([1.0, 2.0], 600) + 0.01 * rng.normal(size=600)
    assert LawFinder(noise="estimate").fit(X).laws_ == []


def test_a_law_of_the_target_has_the_target():
    """The columns lie on a circle, which says nothing of the target."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 600)
    noise = 0.01 * rng.normal(size=(3, 600))
    X = np.column_stack([np.cos(angle) + noise[0], np.sin(angle) + noise[1]])
    finder = LawFinder(noise=[0.01, 0.01, 0.01])
    assert finder.fit(X, rng.uniform(1, 2, 600)).laws_ == []
    (law,) = finder.fit(X, np.cos(angle) ** 3 + noise[2]).laws_
    assert law.target == "y" and len(law.terms) == 2
    x = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(law.predict(np.column_stack([x, x])), x**3, atol=0.02)


@pytest.mark.parametrize("y", [True, False])
@pytest.mark.parametrize("noise", [None, "estimate"])
def test_no_time(y, noise):
    X, target, _ = table("I.13.4")
    finder = LawFinder(max_time=1e-9, noise=noise).fit(X, target if y else None)
    assert finder.laws_ == [] and finder.front_ == [] and finder.reductions_ == []
    assert "in the time allowed: raise max_time" in finder.verdict_
    if y:
        with pytest.warns(UserWarning, match="mean"):
            np.testing.assert_allclose(finder.predict(X[:3]), target.mean())


def test_some_time_gives_a_law_or_says_so():
    X, y, _ = table("I.40.1")
    for seconds in (0.01, 0.03, 0.1, 0.3):
        finder = LawFinder(max_time=seconds).fit(X, y)
        assert finder.laws_ or "raise max_time" in finder.verdict_
        check_is_fitted(finder)


class Interruption:
    """A stream that is written to once, and then no more."""

    def __init__(self, after):
        self.after = after

    def __call__(self, *_):
        self.after -= 1
        if self.after < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0, 3, 8])
@pytest.mark.parametrize("with_target", [True, False])
def test_an_interrupted_fit_leaves_the_finder_as_it_was(monkeypatch, after, with_target):
    X, y, _ = table("I.13.4", n=500)
    y = y if with_target else None
    fresh, used = LawFinder(), LawFinder().fit(*table("gas", n=50)[:2])
    before = vars(used).copy()
    monkeypatch.setattr(LawFinder, "_progress", lambda self: Interruption(after))
    for finder in (fresh, used):
        with pytest.raises(KeyboardInterrupt):
            finder.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    assert vars(used) == before


# -- As every model -------------------------------------------------------------------------------


def models():
    X, y, _ = table("I.18.12")
    rng = np.random.default_rng(0)
    points = circle(1000, noise=0.01)
    return {
        "target": lambda: LawFinder(random_state=3).fit(X, y),
        "exact": lambda: LawFinder().fit(X, np.sin(X["theta"]) * X["F"]),
        "implicit": lambda: LawFinder(max_time=3600.0).fit(*table("velocities", 0.0)[:2]),
        "root": lambda: LawFinder().fit(*table("I.10.7")[:2]),
        "no time": lambda: LawFinder(max_time=1e-9).fit(X, y),
        "none": lambda: LawFinder().fit(rng.normal(size=(200, 2)), rng.normal(size=200)),
        "without target": lambda: LawFinder(n_jobs=2).fit(points),
        "without target, none": lambda: LawFinder().fit(rng.normal(size=(200, 2))),
        "noise in all": lambda: LawFinder(noise=[0.01, 0.01]).fit(points),
    }


@pytest.mark.parametrize("name", models())
@pytest.mark.parametrize("how", ["save", "pickle"])
def test_models_come_back_as_they_were(name, how, tmp_path):
    model = models()[name]()
    if how == "save":
        model.save(tmp_path / "model.json")
        other = vanishing.load(tmp_path / "model.json")
    else:
        other = pickle.loads(pickle.dumps(model))
    assert type(other) is LawFinder
    assert str(other.get_params()) == str(model.get_params())
    assert other.verdict_ == model.verdict_ and other.reductions_ == model.reductions_
    assert other.target_name_ == model.target_name_
    np.testing.assert_array_equal(other.noise_, model.noise_)
    for mine, theirs in ((model.laws_, other.laws_), (model.front_, other.front_)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert_same_law(a, b)
            assert (a.verdict, a.n_samples, a.branch) == (b.verdict, b.n_samples, b.branch)
            for number in ("held_out_error", "evidence", "lack_of_fit", "covariance", "errors"):
                np.testing.assert_array_equal(getattr(a, number), getattr(b, number))
    if model.target_name_ is not None:
        X = np.random.default_rng(1).uniform(1, 1.5, (20, model.n_features_in_))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert hasattr(other, "predict") == (model.target_name_ is not None)


def test_a_clone_has_the_parameters_and_no_laws():
    finder = clone(fitted("gas", 0.01).set_params(noise=None))
    assert finder.get_params() == LawFinder().get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(finder)


def test_cross_validation():
    X, y, _ = table("lens", n=600)
    assert (cross_val_score(LawFinder(functions=()), X, y, cv=3) > 0.99).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:no law was found")
@parametrize_with_checks([LawFinder(), LawFinder(functions=(), robust=True, max_degree=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_wrong_rows_make_no_law_of_two_branches():
    # (p V - R n T)(p - c) = 0 would hold for good rows by one factor, for wrong ones by the other.
    rng = np.random.default_rng(0)
    n, T, V = rng.uniform([1, 250, 0.01], [3, 400, 0.05], (400, 3)).T
    p = 8.314 * n * T / V + rng.normal(scale=1000, size=400)
    p[:20] = rng.uniform(p.min(), p.max(), 20)
    laws = LawFinder().fit(np.column_stack([n, T, V]), p).laws_
    assert all(law.n_terms == 2 for law in laws), laws


# -- Functions -------------------------------------------------------------------------------------


class Softplus:
    """A function of one's own."""

    name = "softplus"

    def __call__(self, x):
        return np.log1p(np.exp(x))

    def derivative(self, x):
        return 1 / (1 + np.exp(-x))


def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3, (1000, 3))
    y = X[:, 0] * np.cos(X[:, 1]) + 2 * np.sqrt(X[:, 2]) + 0.01 * rng.normal(size=1000)
    return X, y


@pytest.mark.parametrize("functions", ["auto", ("cos", "sqrt"), {"x1": "cos", 2: ("sqrt",)}])
def test_functions_by_name(functions):
    X, y = waves()
    (law,) = LawFinder(functions=functions).fit(X, y).laws_
    assert law.n_terms == 3
    fresh = np.random.default_rng(1).uniform(0.5, 3, (100, 3))
    truth = fresh[:, 0] * np.cos(fresh[:, 1]) + 2 * np.sqrt(fresh[:, 2])
    np.testing.assert_allclose(law.predict(fresh), truth, atol=0.01)
    assert np.ptp(law.predict(fresh) - truth) > 0  # fitted to noise


@pytest.mark.parametrize("functions", [(), {"x1": "sin"}])
def test_functions_that_were_not_asked_for_are_not_used(functions):
    X, y = waves()
    assert not LawFinder(functions=functions).fit(X, y).laws_


def test_a_function_of_ones_own():
    X, _ = waves()
    y = 3 * Softplus()(X[:, 0]) + X[:, 1] ** 2
    y = y + 0.01 * np.random.default_rng(2).normal(size=len(X))
    finder = LawFinder(functions=(Softplus(),)).fit(X, y)
    assert set(finder.laws_[0].terms) == {"y", "softplus(x0)", "x1^2"}
    with pytest.raises(TypeError, match="holds data and no code"):
        finder.save("law.json")


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        ("sin", ValueError, r"write \('sin',\)"),
        (("sinh",), ValueError, "must be one of 'sin'"),
        ({"z": "sin"}, ValueError, "names the column 'z'; the columns are x0, x1, x2"),
        (3, TypeError, "must be 'auto', a tuple of names"),
        ((np.sinh,), TypeError, "a derivative that can be called"),
        ({"x0": "log"}, ValueError, "log is not defined on all rows of column 'x0'"),
    ],
)
def test_functions_that_cannot_be(functions, error, message):
    X, y = waves()
    X[0, 0] = -1.0
    with pytest.raises(error, match=message):
        LawFinder(functions=functions).fit(X, y)


def test_a_function_that_is_defined_nowhere():
    X, y = waves()
    with pytest.raises(ValueError, match="log is not defined on all rows of any column"):
        LawFinder(functions=("log",)).fit(-X, y)


def test_columns_that_are_multiples_are_one():
    rng = np.random.default_rng(0)
    x, z = rng.uniform(1, 3, (2, 500))
    (law,) = LawFinder().fit(np.column_stack([x, z, 5 * x]), x**2 * z).laws_
    assert str(law) == "y = x0^2*x1"


def test_sizes_whose_powers_overflow():
    X, y = waves()
    for factor in (1e150, 1e-150):
        with pytest.raises(ValueError, match="Change its unit"):
            LawFinder().fit(X * factor, y)


def test_noise_larger_than_a_column():
    X, y = waves()
    with pytest.raises(ValueError, match="'x0' is larger than the spread"):
        LawFinder(noise=[5.0, 0, 0, 0]).fit(X, y)


@pytest.mark.parametrize("own", [0.02, 0.2])
def test_noise_of_the_target_is_estimated_where_it_is_left_out(own):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (4000, 2))
    y = X[:, 0] * X[:, 1] + own * rng.normal(size=4000)
    finder = LawFinder(noise=[0.03, 0.03]).fit(X + 0.03 * rng.normal(size=X.shape), y)
    (law,) = finder.laws_
    assert set(law.terms) == {"y", "x0*x1"}
    assert abs(law.coef[law.terms.index("x0*x1")] + 1) < 4 * law.coef_std.max()
    # What noise of 0.03 in x0 and x1 makes of the target is about 0.13.
    assert own / 3 < finder.noise_[-1] < 1.2 * own + 0.05


def test_laws_without_target_say_how_sure_they_are():
    points = circle(4000, noise=0.02)
    finder = LawFinder(noise=0.02).fit(points)
    (law,) = finder.laws_
    assert abs(law.held_out_error / law.error - 1) < 0.15
    assert abs(law.lack_of_fit) < 5 and law.evidence > 5
    assert [str(each) for each in finder.front_] == [str(law)]
    exact = LawFinder().fit(circle(1000)).laws_[0]
    assert exact.error < 1e-12 and exact.held_out_error < 1e-12 and exact.lack_of_fit == 0


# -- Noise that is not the same on all rows -------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_relative_noise_does_not_hide_a_law(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform([1, 250, 0.01], [3, 400, 0.05], (1000, 3))
    p = 8.314 * X[:, 0] * X[:, 1] / X[:, 2]
    finder = LawFinder().fit(X, p * (1 + 0.01 * rng.normal(size=1000)))
    (law,) = finder.laws_
    assert law.n_terms == 2 and str(law).endswith("*x0*x1/x2")
    assert abs(law.coef[1] + 8.314) < 4 * law.coef_std[1] < 0.03
    assert "the noise grows with the target" in law.verdict


def test_equal_noise_is_left_alone():
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 3, (1000, 2))
    y = X[:, 0] * X[:, 1] + 0.02 * rng.normal(size=1000)
    assert "grows" not in LawFinder(functions=()).fit(X, y).verdict_


def test_variances_are_told_apart():
    from vanishing.laws.table import prepared
    from vanishing.laws.unequal import with_equal_noise

    rng = np.random.default_rng(4)
    x = rng.uniform(1, 4, 5000)
    truth = x**2
    for a, c in ((0.0, 0.05), (0.1, 0.05), (0.1, 0.0)):
        size = np.sqrt(a**2 + (c * truth) ** 2)
        columns = np.vstack([x, truth + size * rng.normal(size=5000)])
        table = prepared(columns, 1, np.ones(5000)).table
        found = with_equal_noise(table, None)
        if not c:
            assert found is table
            continue
        expected = 1 / size**2
        expected /= expected.mean()
        assert np.abs(np.log(found.precision / expected)).max() < 0.5
        np.testing.assert_allclose(found.weight, found.precision)
        np.testing.assert_allclose(found.counts, 1.0)


# -- Few rows -------------------------------------------------------------------------------------


def test_six_planets_are_enough():
    # Semi-major axes in astronomical units, periods in years: JPL, Solar System Dynamics.
    a = [0.38710, 0.72334, 1.00000, 1.52371, 5.20289, 9.53668]
    T = [0.24085, 0.61520, 1.00002, 1.88085, 11.86262, 29.44750]
    finder = LawFinder().fit(np.array(a)[:, None], T)
    (law,) = finder.laws_
    assert str(law).endswith("*x0^(3/2)") and abs(law.coef[1] + 1) < 1e-3
    assert "too few rows to tell" in law.verdict
    assert abs(law.predict([[30.06992]])[0] / 164.79132 - 1) < 1e-3


def test_nothing_is_found_by_chance_on_few_rows():
    claims = []
    for n_rows in (5, 8, 12):
        for seed in range(4):
            rng = np.random.default_rng(100 * n_rows + seed)
            X = rng.uniform(1, 3, (n_rows, 3))
            claims += LawFinder(functions=()).fit(X, rng.uniform(1, 3, n_rows)).laws_
    assert claims == []


def test_predictions_stay_on_the_device():
    xp = pytest.importorskip("array_api_strict")
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (200, 2))
    y = X[:, 0] * X[:, 1]
    finder = LawFinder(functions=()).fit(xp.asarray(X), xp.asarray(y))
    predicted = finder.predict(xp.asarray(X))
    assert isinstance(predicted, type(xp.asarray(X)))
    np.testing.assert_allclose(np.asarray(predicted), y, rtol=1e-12)


# -- Conics anywhere in the plane -----------------------------------------------------------------


def test_a_curve_that_turns_around_may_have_five_terms():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 1000)
    X = np.column_stack([3 + 3 * np.cos(angle), -2 + 2 * np.sin(angle)])
    X += 0.02 * rng.normal(size=X.shape)
    (law,) = LawFinder(noise=0.02).fit(X).laws_
    assert law.n_terms == 5
    truth = {"x0^2": 1 / 9, "x1^2": 1 / 4, "x0": -2 / 3, "x1": 1.0, "1": 1.0}
    scale = law.coef[law.terms.index("x1^2")] / truth["x1^2"]
    for term, value in zip(law.terms, law.coef, strict=True):
        assert abs(value / scale - truth[term]) < 0.01
    # An arc might be one of any smooth curve.
    assert LawFinder(noise=0.02, functions=()).fit(X[(X[:, 0] > 3) & (X[:, 1] > -2)]).laws_ == []


# -- What the fuzzer found ------------------------------------------------------------------------


def quietly(model, *rows, **others):
    """Fit with no warning but those of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return model.fit(*rows, **others)


def test_weights_that_leave_few_observations():
    """More terms than observations made the noise of a surrogate the root of a negative number."""
    rng = np.random.default_rng(0)
    X, weight = rng.uniform(1, 3, (43, 3)), 10.0 ** rng.uniform(-20, 20, 43)
    finder = quietly(LawFinder(2, max_terms=2), X, 2.5 * X[:, 0] * X[:, 2], sample_weight=weight)
    assert np.isfinite(finder.noise_).all()


@pytest.mark.parametrize("repeated", [False, True])
def test_three_rows_of_a_line(repeated):
    """As many terms as observations: it was divided by zero."""
    t = np.random.default_rng(0).uniform(size=3)
    X = np.column_stack([t, 3 * t - 1, 0.5 - 2 * t])
    finder = quietly(LawFinder(1, functions=()), X[np.arange(20) % 3] if repeated else X)
    assert np.isfinite(finder.noise_).all() and not finder.laws_


def test_robust_where_most_rows_are_exact():
    """Rows whose squared distance overflows count nothing."""
    rng = np.random.default_rng(0)
    X, weight = rng.integers(0, 2, (40, 3)).astype(float), 10.0 ** rng.uniform(-20, 20, 40)
    y = 3 * X[:, 0] - 0.5 * X[:, 2] + 1
    quietly(LawFinder(1, max_terms=5, robust=True), X, y, sample_weight=weight)


def test_the_covariance_of_terms_that_are_zero_is_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(inverse(np.zeros((2, 2))).diagonal()).all()


def test_a_law_without_a_closed_form_for_the_target():
    """It is found where all columns have noise; predicting by it was an error."""
    y = np.random.default_rng(0).uniform(-1.5, 1.5, 500)
    finder = LawFinder(5, functions=(), noise="estimate").fit((y**5 + y)[:, np.newaxis], y)
    assert [str(law) for law in finder.laws_] == ["x0 = y + y^5"]
    with pytest.warns(UserWarning, match="no closed form for y, so the mean"):
        predicted = finder.predict([[1.0], [2.0]])
    np.testing.assert_allclose(predicted, y.mean())


def test_an_equation_of_columns_times_the_target_is_no_law_of_it():
    """Of two equal columns x0*y = x1*y holds, whatever y is."""
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, 50)
    finder = LawFinder(2, functions=(), noise="estimate").fit(np.c_[x, x], rng.normal(size=50))
    assert finder.laws_ == []
