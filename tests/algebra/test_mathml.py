"""Laws as MathML: well-formed, what the law says, and no name is markup."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE

from vanishing import Law, check_law
from vanishing.algebra.markup import MINUS, clean
from vanishing.algebra.terms import monomial


def parsed(law):
    return ElementTree.fromstring(clean(law.to_mathml()))


def text(law):
    return "".join(parsed(law).itertext())


def test_a_quotient_has_a_bar_and_a_number_its_error():
    law = Law(
        [monomial([0, 0, 0, 1]), monomial([1, 1, -1, 0])],
        [1.0, -8.3142],
        names=("n", "T", "V", "p"),
        target="p",
        covariance=np.diag([0.0, 0.002**2]),
    )
    (fraction,) = parsed(law).iter("mfrac")
    assert ["".join(part.itertext()) for part in fraction] == ["8.314(2)nT", "V"]
    assert text(law) == "p=8.314(2)nTV"


@pytest.mark.parametrize(
    "equation, expected, elements",
    [
        ("y = 2*x1^3 - 4*x2", f"y=2x13{MINUS}4x2", {"msup": 1, "msub": 2}),
        ("y = -x1", f"y={MINUS}x1", {"msub": 1}),
        ("y = sqrt(x1) + sin(x2)", "y=x1+sin(x2)", {"msqrt": 1}),
        ("y = 3*10^-9*x1/x2", f"y=3\u00b710{MINUS}9x1x2", {"mfrac": 1}),
        ("y*x1 = x1 + x2", "y=x1+x2x1", {"mfrac": 1}),
    ],
)
def test_structure(equation, expected, elements):
    X = np.random.default_rng(0).uniform(1, 2, size=(40, 3))
    law = check_law(equation, pd.DataFrame(X, columns=["x1", "x2", "y"])).solve("y")
    assert text(law) == expected
    for name, count in elements.items():
        assert len(list(parsed(law).iter(name))) == count


def test_brackets_stand_where_they_are_needed():
    law = Law(
        [monomial([-1, 0, 1]), monomial([0, 1, 0]), monomial([1, 0, 0])],
        [1.0, -2.0, -3.0],
        names=("x", "v", "y"),
        target="y",
    )
    assert text(law) == "y=x(2v+3x)"


def test_names_are_text():
    names = [*HOSTILE[:3], "y"]
    law = Law([monomial([1, 1, 1, 0]), monomial([0, 0, 0, 1])], [-2.0, 1.0], names=names)
    tags = {element.tag for element in parsed(law).iter()}
    assert tags <= {"math", "mrow", "mo", "mi", "mn", "mtext", "mspace"}
    for name in names:
        assert clean(name, 40) in text(law)


def test_units_stand_behind_numbers():
    pytest.importorskip("pint")
    from tables_of_laws import gas

    units = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
    law = check_law("p = R*n*T/V", gas(), units=units)
    assert "J/(mol K)nT" in text(law)
