"""Verdicts on equations of motion: what is refused with a reason, and what makes terms certain."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion
from vanishing.datasets import make_motion
from vanishing.motion.candidates import monomials
from vanishing.motion.evidence import lacking_one_term
from vanishing.motion.linear_stage import Support
from vanishing.motion.shooting import Shot, System

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

    def slopes(_, x):
        return [x[1], 100.0 * (1.0 - x[0] ** 2) * x[1] - x[0]]

    accurate = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-10}
    X = solve_ivp(slopes, (0.0, 400.0), [2.0, 0.0], t_eval=t, **accurate).y.T
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


def test_evidence_is_no_more_than_standard_errors_say():
    """The start is near where motion ends: the square can hardly be told from nothing."""
    X, t, _ = make_motion("logistic", 1, 60, noise=0.02, starts=[[0.5]], t_end=4.0, random_state=0)
    model = EquationsOfMotion(functions=()).fit(X, t)
    (equation,) = model.equations_
    z = np.min(np.abs(equation.coef) / equation.coef_std)
    assert 2.0 * model.evidence_[0] <= 60 * np.log1p(z**2 / (1.3 * 60)) + 4 * np.log1p(z**2 / 60)


# -- What is given ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def epidemic():
    X, t, groups = make_motion("epidemic", 3, 80, noise=0.02, random_state=0)
    return pd.DataFrame(X, columns=["s", "i", "r"]), t, groups


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
