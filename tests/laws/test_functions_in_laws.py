"""Functions of sums, in quotients and products; rational laws with constants beside columns."""

import numpy as np
import pandas as pd
import pytest

from vanishing import LawFinder, load
from vanishing.algebra.expressions import Column, Number, Sum, substituted
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.terms import Evaluator, Factor, Term
from vanishing.laws.problem import Reduced
from vanishing.laws.reductions import Logarithms, ReductionState, with_surrogate
from vanishing.laws.sums import states_of_sums
from vanishing.laws.table import prepared


def drawn(n_rows, seed=0, **ranges):
    random = np.random.default_rng(seed)
    return pd.DataFrame({name: random.uniform(*ends, n_rows) for name, ends in ranges.items()})


def found(columns, y, noise=0.0, seed=1, **options):
    """Return the law of a target with noise of a part of its rms."""
    y = np.asarray(y)
    size = noise * np.sqrt(np.mean(y**2))
    y = pd.Series(y + size * np.random.default_rng(seed).normal(size=len(y)), name="y")
    finder = LawFinder(**options).fit(columns, y)
    assert finder.laws_, finder.verdict_
    return finder.laws_[0]


def test_a_function_of_a_difference_is_one_function():
    X = drawn(300, A=(1, 3), a=(0, 4), b=(0, 4))
    law = found(X, X["A"] * np.sin(X["a"] - X["b"]), noise=0.01)
    assert law.terms == ("y/A", "sin(a - b)")
    assert law.coef[1] == pytest.approx(-1, abs=4 * law.coef_std[1])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_grating_has_its_law(whole, noise):
    X = drawn(2_000, n=(2, 6), d=(0.5, 4.5))
    if whole:  # slits are counted: five values of a column, but many of n*d
        X["n"] = X["n"].round()
    law = found(X, (np.sin(X["n"] * X["d"] / 2) / np.sin(X["d"] / 2)) ** 2, noise=noise)
    assert set(law.terms) == {"y", "1", "y*cos(d)", "cos(n*d)"}


def test_a_function_of_a_sum_in_other_units():
    X = drawn(400, k=(1, 3), x=(500, 5000), z=(500, 5000))
    law = found(X, X["k"] * np.log(X["x"] + X["z"]))
    assert str(law) == "y = k*log(x + z)"


def test_a_law_of_a_difference_is_saved_solved_and_evaluated(tmp_path):
    X = drawn(300, N=(1, 5), x=(-2, 3), z=(-2, 3))
    y = X["N"] / (1 + np.exp(-(X["x"] - X["z"]))) + 1
    law = found(X, y, noise=0.001)
    law.save(tmp_path / "law.json")
    again = load(tmp_path / "law.json")
    np.testing.assert_array_equal(again.predict(X), law.predict(X))
    np.testing.assert_allclose(law.predict(X), y, rtol=3e-3)
    namespace: dict = {}
    exec(law.to_python(), namespace)
    np.testing.assert_allclose(namespace["law"](*X.to_numpy().T), law.predict(X), rtol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_curve_of_a_sum_has_its_constants(unit, tmp_path):
    X = unit * drawn(400, x=(-1, 2), z=(-1, 2))
    law = found(X, 2 * np.cos(2.3 * (X["x"] + X["z"]) / unit + 0.4), noise=0.01)
    assert law.verdict.startswith("Oscillation") and "(x + z)" in str(law)
    for name, value in {"A": 2.0, "w": 2.3 / unit, "f": 0.4}.items():
        assert law.constants[name][0] == pytest.approx(value, abs=4 * law.constants[name][1])
    law.save(tmp_path / "law.json")
    np.testing.assert_array_equal(load(tmp_path / "law.json").predict(X), law.predict(X))


def test_a_bell_of_a_difference_is_found_where_it_is_small():
    X = drawn(2000, x=(-2, 2), z=(-2, 2))
    law = found(X, np.exp(-((X["x"] - X["z"]) ** 2)), noise=0.01)
    assert law.verdict.startswith("Gaussian peak") and "x - z" in law.to_latex()
    assert law.constants["s"][0] == pytest.approx(np.sqrt(0.5), abs=0.002)


def test_sums_are_of_columns_as_they_are_given():
    X = drawn(300, x=(300, 900), z=(300, 900))
    columns = np.vstack([X.to_numpy().T, np.cos(X["x"] / 300 - X["z"] / 300)])
    table = prepared(columns, 2, np.ones(300)).table
    state = ReductionState(np.zeros(2), np.eye(2), table.positive)
    logarithms = Logarithms(table.columns, table.positive)
    state = with_surrogate(state, logarithms, table.y, table.weight)
    (of_difference, *_), *_ = states_of_sums(table, state, lambda *_: None)
    reduced = Reduced.of(table, of_difference)
    # In units of the table, the variable is a multiple of x - z.
    ratio = reduced.w[0] / (X["x"] - X["z"]).to_numpy()
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    (term,) = reduced.in_columns([Term((2.0, 0.0))])
    values = Evaluator(np.vstack([table.columns, table.y])).value(term)
    np.testing.assert_allclose(values, reduced.w[0] ** 2, rtol=1e-12)


def test_a_term_in_a_sum_has_the_values_it_had():
    random = np.random.default_rng(0)
    columns = random.uniform(1, 2, (3, 50))
    node = Sum((Column(0), Number(-2.0), Column(1)))
    variables = np.vstack([3.0 * (columns[0] - 2.0 + columns[1]), columns[2]])
    exponents = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for term in (
        Term((2.0, -1.0)),
        Term((0.0, 1.0), (Factor(FUNCTIONS["exp"], -0.5, (2.0, -1.0)),)),
        Term((1.0, 0.0), (Factor(FUNCTIONS["cos"], 1.0, (1.0, 0.0), 2),)),
    ):
        new = substituted(term, exponents, {0: (3.0, node)})
        np.testing.assert_allclose(
            Evaluator(columns).value(new), Evaluator(variables).value(term), rtol=1e-12
        )


def test_functions_on_both_sides_of_a_quotient():
    X = drawn(300, a=(0.4, 1.2), b=(0.1, 0.5))
    law = found(X, np.sin(X["a"] - X["b"]) / np.sin(X["a"] + X["b"]))
    assert set(law.terms) == {
        "y*sin(a)*cos(b)",
        "y*cos(a)*sin(b)",
        "sin(a)*cos(b)",
        "cos(a)*sin(b)",
    }


def test_products_of_different_functions_in_a_quotient():
    X = drawn(500, t=(0.2, 2), q=(0, 5))
    law = found(X, np.exp(-X["t"]) * np.cos(X["q"]) / (2 + np.cos(X["q"])), noise=0.01)
    assert set(law.terms) == {"y", "y*cos(q)", "exp(-t)*cos(q)"}


def test_a_factor_where_the_surrogate_is_far_from_the_target():
    X = drawn(300, A=(1, 3), a=(0.2, 4), b=(0.5, 5))
    law = found(X, X["A"] * np.cos(X["a"]) * np.cos(X["b"]), noise=0.01)
    assert law.terms == ("y/A", "cos(a)*cos(b)")


@pytest.mark.parametrize("function", ["tanh", "arctan"])
@pytest.mark.parametrize("power", [1, -1])
def test_steps_of_products(function, power):
    X = drawn(300, k=(1, 3), x=(0.3, 2), z=(0.5, 2))
    y = X["k"] * getattr(np, function)(X["x"] * X["z"] ** power)
    law = found(X, y)
    inside = "x*z" if power > 0 else "x/z"
    assert law.terms == ("y/k", f"{function}({inside})")


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_rational_laws_with_a_constant_beside_a_column(noise):
    X = drawn(1000, x=(0.5, 8), z=(0.5, 6))
    law = found(X, 4 + 0.5 * X["x"] - 6 * X["x"] * X["z"] / (1.5 + X["x"]), noise)
    fresh = drawn(500, seed=5, x=(0.5, 8), z=(0.5, 6))
    y = 4 + 0.5 * fresh["x"] - 6 * fresh["x"] * fresh["z"] / (1.5 + fresh["x"])
    assert law.n_terms == 6
    assert np.sqrt(np.mean((law.predict(fresh) - y) ** 2)) < 1e-9 + 0.2 * noise * np.std(y)


def test_asked_functions_are_the_only_ones():
    X = drawn(300, A=(1, 3), a=(0, 4), b=(0, 4))
    finder = LawFinder(functions=()).fit(X, X["A"] * np.sin(X["a"] - X["b"]))
    assert not any("sin" in term for law in [*finder.laws_, *finder.front_] for term in law.terms)


@pytest.mark.parametrize("seed", range(3))
def test_few_noisy_rows_tell_a_product_of_functions_from_what_is_near_it(seed):
    """cos(b)/a^2 is as close to exp(-a)*cos(b) as noise of 10 %, and was claimed."""
    random = np.random.default_rng(seed)
    a, b = random.uniform(1, 3, 100), 10 ** random.uniform(-0.26, 0.74, 100)
    y = 2 * np.exp(-a) * np.cos(b) * (1 + 0.1 * random.normal(size=100))
    (law,) = LawFinder().fit(np.column_stack([a, b]), y).laws_
    np.testing.assert_allclose(
        law.predict(np.column_stack([a, b])), 2 * np.exp(-a) * np.cos(b), rtol=0.1
    )
