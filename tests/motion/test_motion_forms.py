"""Forms with constants inside, as terms of equations of motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion, laws
from vanishing.equations.forms import FORMS, Form
from vanishing.motion.candidates import families

HALDANE = "A*x/(K + x + x^2/L)"


def inhibited(noise=0.01):
    """Return four runs of a substrate that inhibits its own decay."""
    t = np.linspace(0, 8, 80)
    runs = [
        solve_ivp(
            lambda _, x: -3.0 * x / (0.5 + x + x**2 / 0.8), (0, 8), [start], t_eval=t, rtol=1e-9
        ).y[0]
        for start in (5.0, 4.0, 2.0, 6.0)
    ]
    X = np.concatenate(runs)
    X += noise * np.random.default_rng(0).normal(size=X.shape)
    return X[:, np.newaxis], np.tile(t, 4), np.repeat(range(4), 80)


def test_a_form_of_ones_own_is_a_term():
    X, t, groups = inhibited()
    model = EquationsOfMotion(functions=(), forms=[HALDANE]).fit(X, t, groups)
    (equation,) = model.equations_
    assert model.verdict_.startswith("obeys")
    assert equation.coef == pytest.approx([-3.0], rel=0.1)
    (k, k_std), (length, length_std) = equation.constants.values()
    assert abs(k - 0.5) < 4 * k_std < 0.4
    assert abs(length - 0.8) < 4 * length_std < 0.4


def test_a_registered_form_is_a_term_until_it_is_not():
    X, t, groups = inhibited()
    laws.register_form("Haldane inhibition", HALDANE)
    try:
        found = EquationsOfMotion().fit(X, t, groups)
        none = EquationsOfMotion(forms=()).fit(X, t, groups)
    finally:
        laws.unregister_form("Haldane inhibition")
    assert found.verdict_.startswith("obeys")
    assert len(found.equations_[0].constants) == 2
    assert not none.equations_ or len(none.equations_[0].constants) == 0


@pytest.mark.parametrize(
    ("text", "n_terms", "n_constants"),
    [
        ("c + A*exp(-k*x)", 1, 1),
        ("A*exp(-k*x) + B*exp(-l*x)", 2, 1),
        ("10^(A - B/(x + C))", 1, 2),  # A does no more than multiply
        ("x^n/(K^n + x^n)", 1, 2),
        ("A*x + b", 0, 0),
        ("A*x*z/(K + z)", 0, 0),
    ],
)
def test_terms_of_a_form_have_no_factors(text, n_terms, n_constants):
    terms = Form("mine", text, own=False).terms
    assert len(terms) == n_terms
    assert all(len(term.kinds) == n_constants for term in terms)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("A*x + b", "no term in x with a constant inside"),
        ("A*arctanh(k*x)", "cannot be compiled"),
        ("A*x*z/(K + z)", "no term in x"),
    ],
)
def test_a_form_that_is_no_term_is_refused(form, message):
    with pytest.raises(ValueError, match=message):
        EquationsOfMotion(forms=[form]).fit([[1.0], [2.0], [3.0]], [0.0, 1.0, 2.0])


def test_families_are_entries_of_the_registry():
    used = {form.name for form in FORMS.values() if form.terms}
    found = {family.name for family in families(2, 1, 0.5, 2.0, tuple(FORMS.values()))}
    assert found == used
    negative = {family.name for family in families(2, 1, -1.0, 2.0, tuple(FORMS.values()))}
    assert used - negative == {"Michaelis-Menten saturation", "power law"}
