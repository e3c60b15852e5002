"""The command line on outliers: rows scored, explained and written."""

import csv

import numpy as np
import pytest
from commands import caller, check_failed


def rows_of_the_pump(random, n_rows, factor=1.0):
    q, w = random.uniform(1, 3, (2, n_rows))
    return np.column_stack([q, w, factor * q * w]) * (1 + 0.005 * random.normal(size=(n_rows, 3)))


@pytest.fixture
def call(capsys, monkeypatch):
    for package in ("pandas", "typer", "rich"):
        pytest.importorskip(package)
    command = caller(capsys, monkeypatch)
    return lambda *arguments: command("outliers", *arguments)


@pytest.fixture
def table(tmp_path):
    X = rows_of_the_pump(np.random.default_rng(0), 600)
    X[7, 2] *= 1.2
    path = tmp_path / "table.csv"
    np.savetxt(path, X, delimiter=",", header="flow,head,power", comments="")
    return path


def test_command(call, table, tmp_path):
    out = tmp_path / "scored.csv"
    result = call(table, "--out", out, "--top", 3, "--explain")
    assert result.returncode == 0
    assert "600 rows, 3 columns" in result.stdout and "power = " in result.stdout
    lines = " ".join(result.stdout.split()).replace(" row ", "\nrow ").splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("row 8: score -") and "outlier broken law power = " in lines[1]
    assert "expected" in lines[1]
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600 and list(rows[0]) == ["row", "score", "outlier"]
    assert min(rows, key=lambda row: float(row["score"]))["row"] == "8"


def test_command_options(call, table, tmp_path):
    lines = call(table, "--out", "-", "--contamination", 0.1).stdout.splitlines()
    assert lines[0] == "row,score,outlier"
    assert sum(line.endswith(",1") for line in lines[1:]) == 60
    said = call(table, "--drop", "power", "--top", 0).stdout
    assert "2 columns" in said and "oddest" not in said
    check_failed(call(table, "--contamination", 0.9), "contamination must be a number in (0, 0.5]")
    every = [option for name in ("flow", "head", "power") for option in ("--drop", name)]
    check_failed(call(table, *every), "no column left")
    check_failed(call(tmp_path / "none.csv"), "There is no file")
    check_failed(call(table, "--out", table), "would be overwritten")
