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
    assert len(rows) == 600
    assert list(rows[0]) == ["row", "score", "outlier", "reason", "columns", "expected"]
    oddest = min(rows, key=lambda row: float(row["score"]))
    assert oddest["row"] == "8" and oddest["reason"].startswith("broken law power = ")
    place = oddest["columns"].split("; ").index("power")
    found = np.loadtxt(table, delimiter=",", skiprows=1)[7, 2]
    assert float(oddest["expected"].split("; ")[place]) == pytest.approx(found / 1.2, rel=0.05)
    assert all((row["reason"] != "") == (row["outlier"] == "1") for row in rows)


def test_command_options(call, table, tmp_path):
    lines = call(table, "--out", "-", "--contamination", 0.1).stdout.splitlines()
    assert lines[0] == "row,score,outlier,reason,columns,expected"
    assert sum(line.split(",")[2] == "1" for line in lines[1:]) == 60
    said = call(table, "--drop", "power", "--top", 0).stdout
    assert "2 columns" in said and "oddest" not in said
    check_failed(call(table, "--contamination", 0.9), "contamination must be a number in (0, 0.5]")
    every = [option for name in ("flow", "head", "power") for option in ("--drop", name)]
    check_failed(call(table, *every), "no column left")
    check_failed(call(tmp_path / "none.csv"), "There is no file")
    check_failed(call(table, "--out", table), "would be overwritten")


# -- Rows in time ---------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    """A log of an hour per fault: a sensor in another unit, one that is stuck, and gaps."""
    random = np.random.default_rng(0)
    a, b = random.uniform(1, 3, (2, 1200))
    X = np.column_stack([a, b, a + b, a - b]) + 0.01 * random.normal(size=(1200, 4))
    X[700:760, 2] *= 3.6
    X[900:960, 1] = 2.0
    X[random.random(X.shape) < 0.02] = np.nan
    times = np.datetime64("2024-01-01T00:00") + np.arange(1200).astype("timedelta64[m]")
    lines = ["time,a,b,sum,difference"]
    for time, row in zip(times, X, strict=True):
        cells = ["" if np.isnan(value) else f"{value:.6g}" for value in row]
        lines.append(",".join([str(time).replace("T", " "), *cells]))
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_with_times_and_gaps(call, log, tmp_path):
    check_failed(call(log, "--missing", "ignore"), "--time time takes the rows in their order")
    refused = call(log, "--time", "time")
    assert refused.returncode == 2 and "--missing ignore judges such rows by" in refused.stderr
    out = tmp_path / "scored.csv"
    result = call(
        *(log, "--time", "time", "--missing", "ignore", "--train", "time < 2024-01-01 10:00"),
        *("--out", out, "--top", 5),
    )
    assert result.returncode == 0, result.stderr
    assert "1200 rows, learned from 600, 4 columns" in result.stdout
    assert "sum = " in result.stdout and "difference = " in result.stdout
    said = " ".join(result.stdout.split())
    assert "1. 2024-01-01 11:40 to 2024-01-01 12:39, rows 701 to 760" in said
    assert "b (100%) is stuck at 2" in said
    with out.open() as file:
        rows = list(csv.DictReader(file))
    head = ["time", "row", "score", "outlier", "event", "reason", "columns", "expected"]
    assert list(rows[0]) == head
    assert len(rows) == 1200  # gaps cost no row
    wrong = [row for row in rows[700:760] if row["outlier"] == "1"]
    assert len(wrong) > 50 and all(row["event"] == "1" for row in rows[700:760])
    assert sum(row["columns"].startswith("sum") for row in wrong) > 0.9 * len(wrong)
    expected = [float(r["expected"].split("; ")[0]) for r in wrong if r["columns"] == "sum"]
    assert len(expected) > 30 and min(expected) > 1.5 and max(expected) < 6.5
    stuck = rows[910]
    assert stuck["event"] and ("stuck" in stuck["reason"] or stuck["outlier"] == "1")


def test_lags_and_the_saved_detector(log, tmp_path, capsys, monkeypatch):
    for package in ("pandas", "typer", "rich"):
        pytest.importorskip(package)
    command = caller(capsys, monkeypatch)
    model, out = tmp_path / "m.json", tmp_path / "scored.csv"
    options = ("--time", "time", "--missing", "ignore", "--lags", 1, "--save", model, "--out", out)
    assert command("outliers", log, *options).returncode == 0
    again = tmp_path / "again.csv"
    assert command("predict", model, log, "--out", again).returncode == 0
    with out.open() as first, again.open() as second:
        known, predicted = list(csv.DictReader(first)), list(csv.DictReader(second))
    scores = [[float(row["score"]) for row in rows] for rows in (known, predicted)]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-9)
    assert [row["columns"] for row in known if row["outlier"] == "1"] == [
        row["columns"] for row in predicted if row["outlier"] == "1"
    ]
    page = tmp_path / "report.html"
    assert command("report", model, log, "--out", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "Events" in text and "2024-01-01 11:40" in text and ">time<" in text
    check_failed(
        command("laws", log, "--missing", "ignore"), "--missing ignore is for outliers", code=2
    )


def test_rows_are_taken_in_the_order_of_time(call, log, tmp_path):
    head, *lines = log.read_text().splitlines()
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("\n".join([head, *lines[600:], *lines[:600]]) + "\n")
    options = ("--time", "time", "--missing", "ignore", "--top", 3)
    result = call(mixed, *options)
    assert "not in the order of 'time'" in result.stderr
    assert "2024-01-01 11:40 to 2024-01-01 12:39, rows 101 to 160" in " ".join(
        result.stdout.split()
    )
    check_failed(call(log, *options, "--train", "time is early"), "--train: a condition is", code=2)
    assert "has no row for which" in call(log, *options, "--train", "time < 1990-01-01").stderr
    check_failed(call(log, "--time", "clock", "--missing", "ignore"), "no column 'clock'")
