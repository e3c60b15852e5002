"""Laws with units: what their coefficients are in, and laws whose coefficients have none."""

import json

import numpy as np
import pandas as pd
import pytest

from vanishing import Law, LawFinder, check_law, load
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.quantities import read_units
from vanishing.algebra.terms import Factor, Term, monomial

GAS_UNITS = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
ENERGY_UNITS = {"m": "kg", "v": "m/s", "h": "m", "E": "J"}


@pytest.fixture(scope="module")
def gas():
    rng = np.random.default_rng(0)
    low, high = [1, 250, 0.01], [3, 400, 0.05]
    X = pd.DataFrame(rng.uniform(low, high, (1000, 3)), columns=["n", "T", "V"])
    p = 8.314 * X["n"] * X["T"] / X["V"] * (1 + 0.01 * rng.normal(size=1000))
    return X, p.rename("p")


@pytest.fixture(scope="module")
def stones():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform([1, 0, 1], [3, 5, 10], (1000, 3)), columns=["m", "v", "h"])
    E = 0.5 * X["m"] * X["v"] ** 2 + 9.81 * X["m"] * X["h"]
    return X, (E + rng.normal(scale=0.5, size=1000)).rename("E")


def law_of(terms, coef, units, std=0.0, **options):
    names = list(units)[: len(terms[0].exponents)]
    covariance = np.diag([0.0] + [std**2] * (len(coef) - 1))
    return Law(
        terms, coef, names=names, covariance=covariance, units=read_units(units, names), **options
    )


# -- Printed units --------------------------------------------------------------------------------


def test_the_gas_constant_with_its_unit(gas):
    law = LawFinder(units=GAS_UNITS).fit(*gas).laws_[0]
    assert abs(law.coef[1] + 8.314) < 3 * law.coef_std[1] < 0.05
    assert str(law).endswith("[J/(mol K)]*n*T/V")
    assert law.coef_units == ("1", "J/(mol K)")
    assert "Pa (0.9" in law.verdict
    assert str(law.solve("T")).endswith("[mol K/J]*V*p/n")
    assert r"\mathrm{J} \, \mathrm{mol}^{-1} \, \mathrm{K}^{-1}" in law.to_latex()


def test_units_do_not_change_the_law(gas):
    plain, with_units = LawFinder().fit(*gas), LawFinder(units=GAS_UNITS).fit(*gas)
    np.testing.assert_array_equal(plain.laws_[0].coef, with_units.laws_[0].coef)
    np.testing.assert_array_equal(plain.predict(gas[0]), with_units.predict(gas[0]))
    assert plain.laws_[0].to_python() == with_units.laws_[0].to_python().replace(
        str(with_units.laws_[0]), str(plain.laws_[0])
    )


def test_numbers_of_a_sum_have_different_units(stones):
    law = LawFinder(units=ENERGY_UNITS).fit(*stones).laws_[0]
    assert "[m/s^2]*h" in str(law) and "]*v^2" not in str(law)
    assert law.coef_units == ("1", "m/s^2", "1")
    speed = str(law.solve("v"))
    assert speed.startswith("v = sqrt(") and "[m/s^2]*h" in speed and speed.count("[") == 1
    height = str(law.solve("h"))
    assert height.count("[s^2/m]") == 2


def test_units_of_numbers_in_closed_forms():
    sin = FUNCTIONS["sin"]
    units = {"t": "s", "x": "m"}
    wave = [monomial([0, 1]), monomial([0, 0]), Term((0, 0), (Factor(sin, 1.0, (1.0, 0.0)),))]
    law = law_of(wave, [1.0, -2.0, -3.0], units, target="x")
    assert str(law) == "x = 2[m] + 3[m]*sin(1[1/s]*t)"
    root = law_of([monomial([2, 0]), monomial([0, 1])], [1.0, -4.0], units, target="t")
    assert str(root) == "t = sqrt(4[s^2/m]*x)" or str(root) == "t = 2[s/m^(1/2)]*sqrt(x)"
    inverse = law_of([monomial([1, 1]), monomial([0, 0])], [1.0, -5.0], units, target="x")
    assert str(inverse) == "x = 5[m s]/t"


def test_units_that_differ_by_a_factor_show():
    law = law_of([monomial([1, 0]), monomial([0, 1])], [1.0, -100.0], {"x": "cm", "y": "m"})
    assert str(law) == "x = 100[cm/m]*y"
    same = law_of([monomial([1, 0]), monomial([0, 1])], [1.0, -2.0], {"x": "N m", "y": "J"})
    assert str(same) == "x = 2*y"


def test_a_law_with_units_is_read_again(gas, tmp_path):
    finder = LawFinder(units=GAS_UNITS | {"R": "8.314 J/(mol K)"}).fit(*gas)
    finder.save(tmp_path / "gas.json")
    again = load(tmp_path / "gas.json")
    assert str(again.laws_[0]) == str(finder.laws_[0])
    assert again.laws_[0].units == finder.laws_[0].units
    assert again.units == finder.units
    plain = LawFinder(units=GAS_UNITS).fit(*gas).laws_[0]
    assert check_law(str(plain), *gas).verdict.startswith("holds")


def test_broken_units_in_a_file_are_refused(gas, tmp_path):
    law = LawFinder(units=GAS_UNITS).fit(*gas).laws_[0]
    law.save(tmp_path / "law.json")
    text = (tmp_path / "law.json").read_text()
    assert json.loads(text)
    for old, new in [('"factor": 1.0', '"factor": -1.0'), ('"parts": {', '"parts": [], "x": {')]:
        assert old in text
        (tmp_path / "broken.json").write_text(text.replace(old, new, 1))
        with pytest.raises(ValueError):
            load(tmp_path / "broken.json")


# -- Named values ---------------------------------------------------------------------------------


def test_a_coefficient_is_a_multiple_of_a_named_value(gas, stones):
    law = LawFinder(units=GAS_UNITS | {"R": "8.314 J/(mol K)"}).fit(*gas).laws_[0]
    assert str(law).startswith("p = 1.00") and str(law).endswith("*R*n*T/V")
    in_bar = LawFinder(units=GAS_UNITS | {"R": "0.08314 bar L/(mol K)"}).fit(*gas).laws_[0]
    assert str(in_bar) == str(law)
    law = LawFinder(units=ENERGY_UNITS | {"g": "9.81 m/s^2"}).fit(*stones).laws_[0]
    assert "*g*h" in str(law) and "[" not in str(law)
    assert "*g*h" in str(law.solve("v"))


# -- Homogeneous laws -----------------------------------------------------------------------------


def test_only_laws_without_dimensional_coefficients(gas):
    nothing = LawFinder(units=GAS_UNITS, homogeneous=True).fit(*gas)
    assert nothing.laws_ == [] and "dimensionally homogeneous" in nothing.verdict_
    known = GAS_UNITS | {"R": "8.314 J/(mol K)"}
    assert len(LawFinder(units=known, homogeneous=True).fit(*gas).laws_) == 1


def test_a_column_may_be_the_constant():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.uniform(1, 3, (1000, 3)), columns=["l", "g", "m"])
    T = 2 * np.pi * np.sqrt(X["l"] / X["g"]) * (1 + 0.01 * rng.normal(size=1000))
    units = {"l": "m", "g": "m/s^2", "m": "kg", "T": "s"}
    (law,) = LawFinder(units=units, homogeneous=True).fit(X, T.rename("T")).laws_
    assert "[" not in str(law) and law.n_terms == 2
    assert abs(law.solve("T").predict([[1.0, 1.0, 1.0]])[0] - 2 * np.pi) < 0.01


def every_term_of_one_dimension(law, units):
    from vanishing.algebra.expression_units import unit_of_term

    read = read_units(units, law.names)
    dimensions = {unit_of_term(term, read).dimension for term in law._terms}
    return len(dimensions) == 1


def test_candidates_are_homogeneous_too(stones):
    X, E = stones
    X = X.assign(d=np.random.default_rng(5).uniform(1, 2, len(X)))
    units = {"m": "kg", "v": "m/s", "h": "m", "E": "J", "d": "m"}
    finder = LawFinder(units=units, homogeneous=True).fit(X, E)
    assert finder.laws_ == []
    for law in finder.front_:
        assert every_term_of_one_dimension(law, units)
    assert LawFinder(units=units).fit(X, E).laws_


def test_an_implicit_law_that_is_homogeneous():
    rng = np.random.default_rng(3)
    a, b = rng.uniform(1, 3, (2, 1000))
    f = a * b / (a + b) + 0.002 * rng.normal(size=1000)
    lengths = {"x0": "m", "x1": "m", "y": "m"}
    (law,) = LawFinder(units=lengths, homogeneous=True).fit(np.c_[a, b], f).laws_
    assert every_term_of_one_dimension(law, lengths)
    assert np.abs(law.predict(np.c_[a, b]) - a * b / (a + b)).max() < 0.01


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_homogeneous_laws_without_a_target(noise):
    rng = np.random.default_rng(4)
    m1, m2 = rng.uniform(1, 3, (2, 500))
    v1, v2 = rng.normal(size=(2, 500))
    u1 = ((m1 - m2) * v1 + 2 * m2 * v2) / (m1 + m2)
    u2 = ((m2 - m1) * v2 + 2 * m1 * v1) / (m1 + m2)
    balls = pd.DataFrame({"m1": m1, "m2": m2, "v1": v1, "v2": v2, "u1": u1, "u2": u2})
    balls += noise * rng.normal(size=balls.shape)
    units = {name: "kg" if name[0] == "m" else "m/s" for name in balls}
    laws = LawFinder(units=units, homogeneous=True, noise=noise, max_degree=3).fit(balls).laws_
    assert len(laws) >= 2
    assert all(every_term_of_one_dimension(law, units) and "[" not in str(law) for law in laws)


def test_homogeneous_needs_units(gas):
    with pytest.raises(ValueError, match="needs the units of all columns"):
        LawFinder(homogeneous=True).fit(*gas)
    finder = LawFinder(units=GAS_UNITS | {"T": "parsnip"})
    with pytest.raises(ValueError, match="column 'T'"):
        finder.fit(*gas)
    assert not hasattr(finder, "laws_")


# -- Laws that are checked ------------------------------------------------------------------------


def test_constants_of_a_checked_law_have_units(gas, stones, tmp_path):
    law = check_law("p*V = R*n*T", *gas, units=GAS_UNITS)
    assert law.constant_units == {"R": "J/(mol K)"}
    assert " J/(mol K); " in law.verdict and " Pa (" in law.verdict
    law.save(tmp_path / "law.json")
    assert load(tmp_path / "law.json").constant_units == law.constant_units
    law = check_law("E = k*m*v^2 + m*g*h", *stones, units=ENERGY_UNITS)
    assert law.constant_units == {"k": "1", "g": "m/s^2"}


def test_constants_inside_functions_have_units():
    rng = np.random.default_rng(6)
    t = rng.uniform(0, 3, (500, 1))
    y = 2 + 3 * np.sin(2 * t[:, 0]) + 0.01 * rng.normal(size=500)
    law = check_law("y = a + b*sin(w*x0)", t, y, units={"x0": "s", "y": "m"})
    assert law.constant_units == {"a": "m", "b": "m", "w": "1/s"}


def test_constants_that_no_unit_fits_have_none():
    rng = np.random.default_rng(7)
    X = rng.uniform(1, 2, (100, 2))
    y = X[:, 0] + X[:, 1]
    law = check_law("y = k*x0 + x1", X, y, units={"x0": "m", "x1": "s", "y": "m"})
    assert law.constant_units == {}
