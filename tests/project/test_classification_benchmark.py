"""The benchmark of classifiers: its data, its pairs of results, and its record."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "studies"))
import classification  # noqa: E402
import classification_real  # noqa: E402
from classification import Result, outcomes, read, run  # noqa: E402
from classification_sets import (  # noqa: E402
    APART,
    APART_TABLES,
    PAPER,
    SET_ASIDE,
    SETS,
    TABLES,
)


def result(method, split, error, name="iris"):
    return Result(name, split, method, 150, 4, 3, error, np.nan, np.nan, 1.0, 0.1, "")


@pytest.mark.parametrize(
    "name", sorted({*SETS, *SET_ASIDE, *APART} - {*PAPER, *TABLES, *APART_TABLES})
)
def test_every_set_is_finite_and_has_rows_of_every_class(name):
    X, y = (SETS | SET_ASIDE | APART)[name]()
    assert np.isfinite(X).all()
    counts = np.unique(y, return_counts=True)[1]
    assert len(counts) >= 2 and counts.min() >= 15


def test_names_are_columns_of_0_and_1_and_classes_with_few_rows_are_left_out(tmp_path):
    lines = [f"{i},{('red', 'blue', 'green')[i % 3]},{('no', 'yes')[i % 2]},a" for i in range(9)]
    lines += [f"{i},red,no,b" for i in range(9, 15)] + ["99,blue,yes,c"]
    path = tmp_path / "table.dat"
    path.write_text("@relation table\n" + "\n".join(lines))
    X, y = classification_real.read(path)
    assert X.shape == (15, 5) and np.bincount(y).tolist() == [9, 6]
    assert X[1].tolist() == [1, 1, 0, 0, 1]  # blue of blue, green, red; and yes
    some, labels = classification_real.read(path, most=4)
    assert len(some) == len(labels) == 4 and {tuple(row) for row in some} <= {*map(tuple, X)}
    X, y = classification_real.read(
        path, first=1, drop=(2,), target=lambda v: (v == "b").astype(int)
    )
    assert X.shape == (16, 3) and y.sum() == 6


def test_only_splits_that_all_methods_have_are_compared():
    results = [result("SVC", 0, 2.0), result("SVC", 1, 4.0), result("logistic", 1, 3.0)]
    (one,) = outcomes(results)
    assert one.mean("SVC", "error") == 4.0
    assert one.mean("logistic", "error") == 3.0


def test_the_later_of_two_results_counts():
    (one,) = outcomes([result("SVC", 0, 2.0), result("SVC", 0, 1.0)])
    assert one.error("SVC") == "1.00"


def test_the_summary_counts_ties_and_leaves_out_what_was_not_run(capsys):
    results = [result("SVC", 0, 2.0), result("boosting", 0, 2.0), result("logistic", 0, 2.7)]
    results += [result("boosting", 0, 1.0, "skin"), result("logistic", 0, 3.0, "skin")]
    classification.print_summary(list(outcomes(results)), ["SVC", "boosting", "logistic"])
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert lines == [
        "| SVC | 1.50 | 1 of 1 | 1 of 1 | 0.00 |",
        "| boosting | 1.25 | 2 of 2 | 2 of 2 | 0.00 |",
        "| logistic | 2.50 | 1 of 2 | 0 of 2 | 2.00 |",
    ]


@pytest.mark.slow
def test_what_is_on_record_is_not_run_again(tmp_path, monkeypatch):
    out = tmp_path / "record.csv"
    sets = {"iris": SETS["iris"]}
    first = run(sets, ["logistic"], 1, out)
    assert 0 <= first[0].error < 10 and 0 < first[0].log_loss < 0.5
    both = run(sets, ["logistic"], 2, out)
    assert [r.split for r in both] == [0, 1]
    assert [r.split for r in read(out)] == [0, 1]
    assert both[0].error == pytest.approx(first[0].error, rel=1e-5)
    monkeypatch.setattr(classification, "one_run", None)
    # As text: a method that counts no numbers has NaN, which differs from itself.
    assert str(run(sets, ["logistic"], 2, out)) == str(read(out))
