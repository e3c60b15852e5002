"""Units of measurement: read, multiplied, written; text that is none is refused, and never run."""

import numpy as np
import pytest

from vanishing.algebra.quantities import ONE, read_unit, read_units
from vanishing.units import dimensionless_groups


def unit(text):
    return read_unit(text, "here")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Pa m^3/(mol K)", "J/(mol K)"),
        ("kPa*L/mol/K", "J/(mol K)"),
        ("J/(kg m)", "m/s^2"),
        ("N/m", "N/m"),
        ("V/A", "Ω"),
        ("kg m^2/s^2 / (kg m/s)", "m/s"),
        ("kg^2 m^3/s^4", "N J"),
        ("s^4/(kg^2 m^3)", "1/(N J)"),
        ("bar L/(mol K)", "bar l/(mol K)"),
        ("cm/m", "cm/m"),
        ("1/deg", "1/deg"),
        ("N m / J", "1"),
        ("", "1"),
        ("1", "1"),
        ("m^(1/2)", "m^(1/2)"),
    ],
)
def test_the_shortest_name_of_a_unit(text, shown):
    assert str(unit(text)) == shown


def test_units_multiply_as_quantities_do():
    newton, metre, second = unit("N"), unit("m"), unit("s")
    assert str(newton * metre) == "J"
    assert str(newton * metre / second) == "W"
    assert (newton * metre / unit("J")).is_one
    assert str((metre**2) ** 0.5) == "m"
    km_per_h = unit("km/h")
    assert km_per_h.factor == pytest.approx(1 / 3.6, rel=1e-14)
    assert not (km_per_h / unit("m/s")).is_one
    assert (km_per_h * unit("h")).factor == pytest.approx(1000.0, rel=1e-14)


def test_a_name_never_changes_the_size():
    rng = np.random.default_rng(0)
    symbols = ["N", "J", "m", "s", "kg", "A", "V", "K", "mol", "Pa", "ohm", "F", "T"]
    for _ in range(200):
        given = ONE
        for symbol in rng.choice(symbols, size=3, replace=False):
            given *= unit(str(symbol)) ** float(rng.integers(-2, 3))
        again = unit(str(given).replace("Ω", "ohm"))
        assert again.dimension == given.dimension
        assert again.factor == pytest.approx(given.factor, rel=1e-9)


def test_latex_of_a_unit():
    assert unit("J/(mol K)").to_latex() == r"\mathrm{J} \, \mathrm{mol}^{-1} \, \mathrm{K}^{-1}"
    assert unit("ohm").to_latex() == r"\mathrm{\Omega}"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch pwned')",
        "m; import os",
        "m.__class__",
        "9**9**9**9",
        "m**9**9",
        "m^999",
        "lambda: 0",
        "(",
        "m +",
        "m+s",
        "5 N",
        "@",
        "x" * 10_000,
        "()",
    ],
)
def test_text_that_is_no_unit(text):
    with pytest.raises(ValueError, match=r"is no unit \(column 'force'\)"):
        read_units({"force": text}, ["force"])


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ("N", TypeError, "units must be a dict"),
        ({"F": "N"}, ValueError, "no entry for 'a'"),
        ({"F": "N", "a": 3}, TypeError, "unit of 'a' must be text"),
        ({"F": "N", "a": "parsnip"}, ValueError, "'parsnip' is not defined.*column 'a'"),
        ({"F": "N", "a": "degC"}, ValueError, "'degC' .column 'a'. has an origin of its own"),
        ({"F": "N", "a": "dB"}, ValueError, "'dB' .column 'a'. has an origin of its own"),
        ({"F": "N", "a": "m", "b": "m"}, ValueError, "'b', which is no column; .* F, a"),
        ({"F": "N", "a": "m", "g": "0 m"}, ValueError, "value of 'g' must be finite and positive"),
        ({"F": "N", "a": "m", "g": "9 foo"}, ValueError, "'foo' is not defined.*value 'g'"),
    ],
)
def test_bad_units_are_errors_that_name_the_column(given, error, match):
    with pytest.raises(error, match=match):
        read_units(given, ["F", "a"])


def test_dimensions_up_to_named_values():
    given = {"p": "Pa", "V": "m^3", "n": "mol", "T": "K"}
    gas = np.array([1.0, 1.0, -1.0, -1.0])  # p V / (n T)
    plain = read_units(given, list(given))
    assert np.abs(gas @ plain.dimensions).max() > 0.5
    known = read_units(given | {"R": "8.314 J/(mol K)"}, list(given))
    assert np.abs(gas @ known.dimensions).max() < 1e-12
    ((value, exponent),) = known.as_values(unit("Pa m^3/(mol K)"))
    assert (value.name, value.value, exponent) == ("R", 8.314, 1.0)
    ((value, exponent),) = known.as_values(unit("J^2/(mol^2 K^2)"))
    assert exponent == 2.0
    assert known.as_values(unit("J")) is None


def test_groups_without_dimension():
    units = {"F": "N", "m1": "kg", "m2": "kg", "r": "m", "G": "6.674e-11 m^3/(kg s^2)", "n": "1"}
    groups = dimensionless_groups(units)
    # As many as columns less the rank of their dimensions, mass, length and time.
    assert len(groups) == 3
    values = {name: unit(text.removeprefix("6.674e-11")) for name, text in units.items()}
    for group in groups:
        over, _, below = group.partition("/")
        total = ONE
        for text, sign in ((over, 1.0), (below.strip("()"), -1.0)):
            for factor in filter(None, text.split("*")):
                name, _, power = factor.partition("^")
                total *= values[name] ** (sign * float(power or 1))
        assert total.is_one
    assert dimensionless_groups({"a": "m", "b": "s"}) == []
