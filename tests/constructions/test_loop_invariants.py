"""Invariants of loops: found in traces, exact, and not claimed where traces are short of rows."""

import importlib.util
import pickle
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from vanishing import loop_invariants
from vanishing.algebra.modular import PRIME, Echelon, monomial_residues, rank, residues
from vanishing.polynomials import ExactPolynomial

STUDIES = Path(__file__).resolve().parents[2] / "benchmarks" / "studies"


def studied():
    """Return the module with twenty loops."""
    if not STUDIES.is_dir():
        pytest.skip("there are no benchmarks here")
    spec = importlib.util.spec_from_file_location("loop_traces", STUDIES / "loop_traces.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["loop_traces"] = module
    spec.loader.exec_module(module)
    return module


def division(n_runs=40, size=60, seed=0):
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n_runs):
        x, y = random.integers(1, size, 2).tolist()
        q, r = 0, x
        rows.append((x, y, q, r))
        while r >= y:
            q, r = q + 1, r - y
            rows.append((x, y, q, r))
    return rows


@pytest.mark.parametrize("place", range(20))
def test_loops(place):
    sympy = pytest.importorskip("sympy")
    module = studied()
    loop = (*module.BUILT_WITH, *module.HELD_APART)[place]
    rows = loop.trace(np.random.default_rng(0), 30, 60, 60)
    found = loop_invariants(np.array(rows, dtype=object))
    symbols = sympy.symbols(loop.variables)
    names = dict(zip(loop.variables.split(), symbols, strict=True))
    numbered = {f"x{i}": symbol for i, symbol in enumerate(symbols)}
    ideal = [sympy.sympify(str(f).replace("^", "**"), locals=numbered) for f in found]
    basis = sympy.groebner(ideal, *symbols, order="grevlex")
    for equation in loop.invariants:
        assert basis.contains(sympy.sympify(equation.replace("^", "**"), locals=names).expand())
    longer = np.array(loop.trace(np.random.default_rng(1), 20, 1000, 25), dtype=object)
    for invariant in found:
        assert not any(invariant(longer))


@pytest.mark.parametrize("n_runs", [1, 2, 3, 5])
def test_few_runs_lead_to_no_false_claims(n_runs):
    module = studied()
    random = np.random.default_rng(3)
    for loop in (module.BUILT_WITH[0], module.BUILT_WITH[5], module.BUILT_WITH[9]):
        rows = np.array(loop.trace(random, n_runs, 12, 40), dtype=object)
        if any(len(set(column)) == 1 for column in rows.T.tolist()):
            continue  # what is said of constant inputs holds for these
        longer = np.array(loop.trace(random, 50, 500, 25), dtype=object)
        for invariant in loop_invariants(rows):
            assert not any(invariant(longer)), (loop.name, invariant)


def test_random_tables_have_no_invariants():
    random = np.random.default_rng(0)
    for n, m in ((2, 30), (3, 60), (5, 100)):
        assert loop_invariants(random.integers(-50, 50, (m, n))) == []
        assert loop_invariants(random.integers(0, 4, (m, n))) == []


def test_results_have_names_and_whole_coefficients_and_are_called_on_rows():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(division(), columns=["x", "y", "q", "r"])
    (found,) = loop_invariants(table)
    assert str(found) == "y*q + r - x"
    assert found.feature_names == ("x", "y", "q", "r")
    assert all(value.denominator == 1 for value in found.coef)
    values = found(table)
    assert values.shape == (len(table),) and not values.any()
    assert found([7, 2, 3, 2]) == 1 and isinstance(found([7, 2, 3, 1]), Fraction)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found) and again([7, 2, 3, 1]) == 0


def test_floats_that_are_whole_order_of_rows_and_repetitions_do_not_matter():
    rows = np.array(division())
    expected = [str(f) for f in loop_invariants(rows)]
    shuffled = np.random.default_rng(1).permutation(np.vstack([rows, rows]))
    assert [str(f) for f in loop_invariants(rows.astype(float))] == expected
    assert [str(f) for f in loop_invariants(shuffled)] == expected


def test_constant_columns_are_left_out():
    rows = np.array(division())
    wide = np.column_stack([np.full(len(rows), 17), rows, np.full(len(rows), -3)])
    (found,) = loop_invariants(wide)
    assert str(found) == "x2*x3 + x4 - x1"
    assert loop_invariants([[1, 2], [1, 2]]) == []


def test_max_degree():
    rows = [(k, k**3) for k in range(40)]
    assert loop_invariants(rows, max_degree=2) == []
    (found,) = loop_invariants(rows, max_degree=3)
    assert str(found) == "x0^3 - x1"


def test_numbers_of_any_size():
    rows = [(k, 10**20 * k + 1, (10**20 * k + 1) ** 2) for k in range(30)]
    found = [str(f) for f in loop_invariants(rows)]
    assert "x1 - 100000000000000000000*x0 - 1" in found and len(found) == 2


def test_a_row_that_refutes_is_seen_among_many():
    rows = division(200, 100)
    assert len(loop_invariants(rows)) == 1
    assert loop_invariants([*rows, (50, 7, 7, 2)]) == []


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ([[0.5, 1], [1, 2]], "'x0' has np.float64\\(0.5\\) in row 0"),
        ([["a", 1], ["b", 2]], "whole numbers"),
        ([[None, 1], [1, 2]], "whole numbers"),
        ([[float("nan"), 1.0], [1.0, 2.0]], "whole numbers"),
        ([[2.0**60, 1.0], [1.0, 2.0]], "2\\*\\*53"),
        ([1, 2, 3], "its shape is \\(3,\\)"),
        ([], "its shape is"),
    ],
)
def test_errors(table, problem):
    with pytest.raises(ValueError, match=problem):
        loop_invariants(table)
    with pytest.raises(TypeError, match="max_degree"):
        loop_invariants([[1, 2]], max_degree=1.5)


def test_echelon_and_rank_modulo_a_prime():
    random = np.random.default_rng(0)
    left, right = random.integers(-9, 9, (30, 4)), random.integers(-9, 9, (4, 7))
    matrix = residues(left @ right)
    assert rank(matrix) == rank(matrix.T) == 4
    echelon = Echelon(7)
    echelon.add(matrix[:3])
    echelon.add(matrix[3:])
    assert len(echelon.pivots) == 4
    assert not echelon.reduced(residues(right)).any()
    other = residues(random.integers(-9, 9, (1, 7)))
    assert echelon.reduced(other).any()
    points = residues(np.array([[3, -2], [10**30, 5]], dtype=object))
    values = monomial_residues(points, np.array([[2, 1], [0, 3], [0, 0]]))
    assert values.tolist() == [[-18 % PRIME, -8 % PRIME, 1], [5 * 10**60 % PRIME, 125, 1]]


def test_exact_polynomials_take_rows_and_points():
    f = ExactPolynomial([[0, 0], [2, 0], [0, 1]], [-1, "1/2", 1], feature_names=["a", "b"])
    assert str(f) == "b + 1/2*a^2 - 1"
    assert f([["1/2", 0], [0, 1]]).tolist() == [Fraction(-7, 8), 0]
    assert f(np.empty((0, 2), dtype=object)).shape == (0,)
    with pytest.raises(ValueError, match="2 variables, but the point has 3"):
        f([[1, 2, 3]])
