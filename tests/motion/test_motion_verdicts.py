"""Verdicts on equations of motion: what is refused with a reason, and what makes terms certain."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion
from vanishing.motion import settings
from vanishing.motion.candidates import monomials
from vanishing.motion.evidence import lacking_one_term
from vanishing.motion.linear_stage import Support
from vanishing.motion.shooting import Shot, System


def _van_der_pol(mu, t):
    def slopes(_, x):
        return [x[1], mu * (1.0 - x[0] ** 2) * x[1] - x[0]]

    accurate = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-10}
    return solve_ivp(slopes, (t[0], t[-1]), [2.0, 0.0], t_eval=t, **accurate).y.T


# -- Too little, too fast, too late ----------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_equations_need_more_rows_than_constants(n_rows):
    random = np.random.default_rng(11)
    for _ in range(4):
        X = random.normal(size=(n_rows, 1))
        model = EquationsOfMotion(functions=()).fit(X, np.arange(float(n_rows)))
        assert model.verdict_.startswith("none") and model.equations_ == []
    if n_rows == 2:
        assert "the rows are too few" in model.verdict_


def test_robertson_is_refused():
    X, t, groups = make_motion("robertson", 1, 60, random_state=0)
    model = EquationsOfMotion(functions=()).fit(X, t, groups)
    assert "none: the equations that were tried are too stiff" in model.verdict_


@pytest.mark.parametrize(("order", "reason"), [(1, "too stiff"), (2, "alike in neighbouring rows")])
def test_jumps_between_rows_are_refused(order, reason):
    """Van der Pol's oscillator with mu = 100: a smooth path misses them, and calls them noise."""
    t = np.linspace(0.0, 400.0, 200)
    X = _van_der_pol(100.0, t)
    model = EquationsOfMotion(functions=(), order=order).fit(X if order == 1 else X[:, :1], t)
    assert model.verdict_.startswith("none") and reason in model.verdict_


def test_smooth_residuals_within_noise_that_is_given_are_no_objection():
    """Who says that noise is large does not ask for more than to be followed within it."""
    t = np.linspace(0.0, 5.0, 60)
    X = np.exp(-t)[:, np.newaxis] + 0.02 * np.sin(3.0 * t)[:, np.newaxis]
    model = EquationsOfMotion(functions=(), max_terms=1, noise=0.05).fit(X, t)
    assert model.lack_of_fit_[0] > 5.0
    assert model.equations_[0].terms == ("x0",)


def test_no_time_is_a_reason_of_its_own():
    X, t, groups = make_motion("predator prey", 2, 60, noise=0.02, random_state=0)
    with pytest.warns(UserWarning, match="max_time"):
        model = EquationsOfMotion(max_time=1e-6).fit(X, t, groups)
    assert model.verdict_.startswith("none: max_time was over")


# -- Are the terms certain? ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2.0, 3.0, 10.0])
def test_a_coefficient_near_zero_is_no_evidence(size):
    """By hand: 100 rows, residuals like the noise, and a coefficient of so many standard errors."""
    terms = tuple(monomials(1, [0], 1))[-1:]
    system, coef = System([terms]), np.array([size])
    shot = Shot(system, coef, np.zeros((1, 1)), np.array([[0, 100]]), np.array([100.0]), np.eye(1))
    chosen = [Support(0.0, terms, coef, "fitted")]
    ((column, rest, distance),) = lacking_one_term(shot, chosen, np.array([100.0]), np.array([0.3]))
    assert column == 0 and rest.terms == ()
    worse = 100 * np.log((1.3 + size**2 / 100) / 1.3) + 4 * np.log(1 + size**2 / 100)
    assert distance == pytest.approx(worse - np.log(100) - 6, abs=1e-3)


@pytest.mark.slow
def test_terms_that_may_be_zero_are_not_certain():
    """Jumps take less than a step between rows: coefficients are hardly larger than errors."""
    t = np.linspace(0.0, 60.0, 200)
    X = _van_der_pol(10.0, t)
    model = EquationsOfMotion(functions=(), order=2).fit(X[:, :1], t)
    assert not model.verdict_.startswith("obeys")
    assert model.evidence_[0] < 5.0


@pytest.mark.slow
def test_a_factor_that_hardly_varies_is_not_certain():
    """A pressure in pascals at Unix times: p*v is all but v, times a constant."""
    t = np.linspace(0.0, 15.0, 100)
    clean = np.column_stack([101_325.0 + 500.0 * np.cos(2.0 * t), -1000.0 * np.sin(2.0 * t)])
    n_right = 0
    for seed in range(4):
        random = np.random.default_rng([seed, 77])
        X = clean + 0.01 * clean.std(axis=0) * random.normal(size=clean.shape)
        model = EquationsOfMotion().fit(pd.DataFrame(X, columns=["p", "v"]), 1.7e9 + t)
        is_right = [equation.terms for equation in model.equations_] == [("v",), ("1", "p")]
        assert is_right or not model.verdict_.startswith("obeys")
        n_right += is_right
    assert n_right >= 2


# -- Few rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_thirty_rows_are_enough_for_two_terms(noise):
    t = np.linspace(0.0, 10.0, 30)
    x = 10.0 / (1.0 + 9.0 * np.exp(-t))
    x = x + noise * x.std() * np.random.default_rng(0).normal(size=30)
    model = EquationsOfMotion(functions=()).fit(x[:, np.newaxis], t)
    (equation,) = model.equations_
    assert model.verdict_.startswith("obeys")
    assert dict(zip(equation.terms, equation.coef, strict=True)) == pytest.approx(
        {"x0": 1.0, "x0^2": -0.1}, rel=0.05
    )
    if noise:
        assert model.noise_[0] == pytest.approx(noise * x.std(), rel=0.4)


@pytest.mark.slow
def test_few_rows_are_followed_by_what_is_certain_or_nothing(monkeypatch):
    def claims():
        random = np.random.default_rng(0)
        paths = [random.normal(size=(n, 1)).cumsum(axis=0) for n in (12, 15, 20, 30) * 3]
        models = [EquationsOfMotion(functions=()).fit(X, np.arange(float(len(X)))) for X in paths]
        return [model.verdict_ for model in models if model.equations_]

    assert claims() == []
    monkeypatch.setattr(settings, "FEW_ROWS", 0)
    assert len(claims()) > 1


# -- What is given ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def epidemic():
    X, t, groups = make_motion("epidemic", 3, 80, noise=0.02, random_state=0)
    return pd.DataFrame(X, columns=["s", "i", "r"]), t, groups


@pytest.mark.slow
def test_signs_are_kept_while_terms_are_looked_for(epidemic):
    """As s + i + r is constant, di/dt can be written without a loss in i itself."""
    constraints = ["i in di/dt >= 0", "s*i in ds/dt <= 0"]
    model = EquationsOfMotion(functions=(), constraints=constraints).fit(*epidemic)
    s, i, _ = model.equations_
    assert model.verdict_.startswith(("obeys", "follows"))
    assert dict(zip(i.terms, i.coef, strict=True)).get("i", 0.0) >= 0.0
    assert s.terms == ("s*i",)
    assert model.score(*epidemic) > 0.99


def test_signs_that_no_equation_has_leave_none(epidemic):
    model = EquationsOfMotion(functions=(), constraints=["ds/dt >= 0"]).fit(*epidemic)
    assert model.verdict_.startswith("none")  # the susceptible become fewer


def test_shared_terms_that_are_not_found_are_named(epidemic):
    shared = [("s in ds/dt", "s*i in di/dt")]
    model = EquationsOfMotion(functions=(), shared=shared).fit(*epidemic)
    assert "'s in ds/dt' is not among the terms" in model.verdict_
    assert "'s*i in di/dt'" not in model.verdict_
