import csv

import numpy as np
import pytest
from commands import caller

from vanishing.experiments.scale import Scaling, growth, made_rows


def test_growth_is_the_exponent_of_the_rows_at_the_end():
    assert growth({100: 5.0, 1000: 1.0, 10_000: 10.0}) == pytest.approx(1.0)
    assert growth({1000: 1.0, 4000: 2.0}) == pytest.approx(0.5)
    assert np.isnan(growth({1000: 1.0}))


def test_rows_lie_near_two_surfaces_of_the_cube():
    X, y = made_rows(1000)
    assert X.min() >= 0 and X.max() <= 1
    first = X[:, 3] - X[:, 0] * X[:, 1]
    second = X[:, 3] - X[:, 2] ** 2
    assert np.abs(first[y == 0]).max() < 0.05 and np.abs(second[y == 1]).max() < 0.05
    assert np.array_equal(made_rows(10)[0], made_rows(10)[0])


def test_fits_are_measured_once_and_the_kernel_svm_not_on_many_rows(tmp_path):
    options = {"algorithms": ["abm", "svm"], "n_runs": 1, "rows": (100, 200, 40_000)}
    first = Scaling(tmp_path, **options)
    assert len(first.keys) == 5
    first.run()
    lines = list(csv.DictReader((tmp_path / "scale.csv").open()))
    assert [line["algorithm"] for line in lines] == ["ABM*", "SVM"]
    assert lines[1]["40000"] == "" and float(lines[0]["40000"]) > 0
    assert float(lines[0]["growth"]) == pytest.approx(growth(first.seconds("abm")), abs=0.01)
    assert len(Scaling(tmp_path, **options).done) == 5
    assert "| ABM\\* |" in (tmp_path / "scale.md").read_text()


def test_the_command_takes_no_data_set(capsys, monkeypatch, tmp_path):
    for package in ("typer", "rich", "pandas"):
        pytest.importorskip(package)
    call = caller(capsys, monkeypatch)
    result = call("reproduce", "scale", "--datasets", "bank", "--out", tmp_path)
    assert result.returncode == 2 and "makes its own rows" in result.stderr
