"""The study of honesty: its tables, its judge, and its record."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "studies"))
import honesty  # noqa: E402
import honesty_tables as tables  # noqa: E402
from honesty_judge import law_outcome, table_outcome  # noqa: E402

from vanishing import Law, LawFinder  # noqa: E402
from vanishing.algebra.terms import monomial  # noqa: E402

NAMES = ("a", "b", "y")
PRODUCT = [monomial([0, 0, 1]), monomial([1, 1, 0])]
NO_NOISE = ("rms", 0.0)
APPROXIMATION = "Within this noise it may be an approximation of another law."


def product_table(noise=NO_NOISE, n=100):
    columns = {name: tables.Column("log", 0.1, 10.0) for name in "ab"}
    return tables.table_of("product", "2*a*b", columns, n, noise, np.random.RandomState(0))


def product(factor, verdict="", terms=PRODUCT, more=()):
    return Law(terms, [1.0, -factor, *more], names=NAMES, target="y", verdict=verdict)


@pytest.mark.parametrize("name", list(honesty.conditions()))
def test_tables_are_finite_and_the_same_again(name):
    condition = honesty.conditions()[name]
    for apart in (False, True):
        for index in range(2):
            arguments = (index, condition.rows, honesty.NOISES[condition.noise], 0, apart)
            table, again = condition.make(*arguments), condition.make(*arguments)
            assert table.X.shape == (condition.rows, len(table.names))
            assert np.isfinite(table.X).all()
            np.testing.assert_array_equal(table.X, again.X)
            if table.y is not None:
                assert np.isfinite(table.y).all()
                np.testing.assert_array_equal(table.y, again.y)


def test_formulas_are_kept_apart():
    looked_at, apart = ({tables.formula(i, a)[1] for i in range(100)} for a in (False, True))
    assert len(looked_at) >= 70 and len(apart) >= 70
    assert not looked_at & apart


def test_noise_and_centres_are_as_they_are_called():
    table = product_table(("relative", 0.1), 2_000)
    ratio = table.y / (2 * table.X[:, 0] * table.X[:, 1])
    assert ratio.std() == pytest.approx(0.1, rel=0.1)
    table = product_table(("rms", 0.1), 2_000)
    noise = table.y - 2 * table.X[:, 0] * table.X[:, 1]
    assert noise.std() == pytest.approx(table.deviations[0], rel=0.1)
    far = tables.shifted(0, 300, NO_NOISE, 0, False, centre=1e4)
    assert (far.X.mean(axis=0) / far.X.std(axis=0)).max() > 1e4


@pytest.mark.parametrize(
    ("noise", "factor", "verdict", "outcome"),
    [
        (NO_NOISE, 2.0, "", "found"),
        (NO_NOISE, 2.1, "", "wrong"),
        (("rms", 0.1), 2.1, "", "found"),  # the right terms, and within the noise
        (("rms", 0.1), 3.0, "", "wrong"),
        (("relative", 0.01), 2.1, APPROXIMATION, "wrong"),
    ],
)
def test_a_law_of_the_right_terms_is_judged_by_its_errors(noise, factor, verdict, outcome):
    assert law_outcome(product(factor, verdict), product_table(noise))[0] == outcome


@pytest.mark.parametrize(
    ("noise", "size", "verdict", "outcome"),
    [
        (NO_NOISE, 0.001, "", "close"),
        (NO_NOISE, 0.001, APPROXIMATION, "approximation"),
        (NO_NOISE, 1.0, APPROXIMATION, "wrong"),
        (("rms", 0.1), 0.2, "", "unsaid"),
        (("rms", 0.1), 0.2, APPROXIMATION, "approximation"),
        (("rms", 0.1), 10.0, APPROXIMATION, "wrong"),
    ],
)
def test_a_law_with_another_term_has_to_say_so(noise, size, verdict, outcome):
    law = product(2.0, verdict, [*PRODUCT, monomial([1, 0, 0])], (size,))
    assert law_outcome(law, product_table(noise))[0] == outcome


def test_an_error_in_the_bulk_counts_though_the_rms_is_that_of_a_few_rows():
    columns = {name: tables.Column("log", 1e-3, 1e3) for name in "ab"}
    table = tables.table_of("product", "2*a*b", columns, 100, NO_NOISE, np.random.RandomState(0))
    law = product(2.0, APPROXIMATION, [*PRODUCT, monomial([0, 0, 0])], (50.0,))
    outcome, (whole, bulk) = law_outcome(law, table)
    assert outcome == "wrong" and whole < 0.02 < 1.0 < bulk


@pytest.mark.parametrize(("std", "outcome"), [(1e-6, "wrong"), (0.004, "found")])
def test_next_to_a_pole_a_right_law_has_its_own_standard_errors(std, outcome):
    columns = {"a": tables.Column("log", 0.1, 10.0), "b": tables.Column("uniform", 0.95, 3.0)}
    noise = ("relative", 0.01)
    table = tables.table_of("pole", "a/(b - 0.94)", columns, 100, noise, np.random.RandomState(0))
    terms = [monomial([0, 1, 1]), monomial([0, 0, 1]), monomial([1, 0, 0])]
    covariance = np.diag([0.0, std**2, 0.0])
    law = Law(terms, [1.0, -0.937, -1.0], covariance=covariance, names=NAMES, target="y", error=0.0)
    assert law_outcome(law, table)[0] == outcome


def test_a_law_without_solution_is_wrong():
    root = Law([monomial([0, 0, 2]), monomial([1, 0, 0])], [1.0, 1.0], names=NAMES, target="y")
    outcome, errors = law_outcome(root, product_table())
    assert outcome == "wrong" and np.isinf(errors).all()


def test_one_false_law_beside_a_true_one_is_wrong():
    table = tables.shape(0, 300, NO_NOISE, 0, False)  # a circle
    a, b = table.X.T
    scales = [np.abs(a).max() / 2, np.abs(b).max() / 2]
    squares = [monomial([2, 0]), monomial([0, 2]), monomial([0, 0])]
    scale = np.linalg.lstsq(np.column_stack([a**2, b**2]), np.ones(300), rcond=None)[0]
    circle = Law(squares, [*scale, -1.0], names=("a", "b"))
    line = Law([monomial([1, 0]), monomial([0, 1])], scales, names=("a", "b"))
    assert table_outcome([circle], table)[0] == "found"
    assert table_outcome([circle, line], table)[0] == "wrong"
    assert table_outcome([], table)[0] == "none"
    assert table_outcome([circle], tables.unrelated(0, 30, NO_NOISE, 0, False))[0] == "wrong"


def test_large_terms_that_cancel_are_no_law():
    """A kink was 84*arctan(w)*w - 68*tanh(w)*w - 13.5*w^2, up to 200 times its size each."""
    table = tables.smooth(40, 100, ("rms", 0.01), 0, False)
    laws = LawFinder().fit(table.X, table.y).laws_
    assert table_outcome(laws, table)[0] not in ("wrong", "unsaid")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("index", "rows", "noise", "centre"),
    [(20, 100, NO_NOISE, 1e8), (54, 100, NO_NOISE, 1e6), (21, 300, ("rms", 0.01), 1e6)],
)
def test_no_warning_of_numbers_reaches_a_user(index, rows, noise, centre):
    """Where far columns leave no error at all, and where a product of powers overflows."""
    table = tables.shifted(index, rows, noise, 0, False, centre=centre)
    assert LawFinder().fit(table.X, table.y).laws_


@pytest.mark.slow
def test_a_run_prints_rates_and_writes_a_line_per_table(tmp_path, monkeypatch, capsys):
    out = tmp_path / "record.csv"
    chosen = ["signed, 100 rows", "unrelated (far), detector", "shape shifted by 0"]
    arguments = [*chosen, "--noise", "0", "--tables", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["honesty.py", *arguments])
    honesty.main()
    with open(out, encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    assert len(records) == 6 and {r["outcome"] for r in records} <= set(honesty.OUTCOMES)
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split("|")[2].strip() for line in lines] == ["2", "2", "2"]


def test_coverage_compares_constants_with_their_standard_errors():
    pull = honesty.pulls(honesty.CHECKED[0], "rms", 100, 40)
    assert pull.shape == (40, 1)
    assert 0.7 < np.sqrt(np.mean(pull**2)) < 1.3
