"""The command line on repair and calibration."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed

from vanishing import load


@pytest.fixture
def call(capsys, monkeypatch):
    for package in ("pandas", "typer", "rich"):
        pytest.importorskip(package)
    return caller(capsys, monkeypatch)


@pytest.fixture
def invoices(tmp_path):
    rng = np.random.default_rng(0)
    quantity, price = rng.integers(1, 40, 200), np.round(rng.uniform(1, 99, 200), 2)
    table = pd.DataFrame(
        {"no": [f"A{i}" for i in range(200)], "quantity": quantity, "price": price}
    )
    table["net"] = np.round(quantity * price, 2)
    table["gross"] = np.round(1.2 * table["net"], 2)
    table = table.astype(object)
    table.loc[3, "net"], table.loc[5, "price"] = "", "n/a"
    table.loc[9, "net"] *= 10
    path = tmp_path / "invoices.csv"
    path.write_text(table.to_csv(index=False, sep=";").replace(".", ","))
    return path, table


MESSY = ("--id", "no", "--separator", ";", "--decimal", ",")
LAWS = ("--law", "net = quantity*price", "--law", "gross = k*net")


def test_repair(call, invoices, tmp_path):
    path, table = invoices
    out, report, saved = (tmp_path / name for name in ("out.csv", "cells.csv", "repair.json"))
    result = call("repair", path, *MESSY, *LAWS, "--out", out, "--report", report, "--save", saved)
    assert result.returncode == 0, result.stderr
    assert "2 gaps filled, 1 value replaced, 0 in doubt" in result.stdout
    assert "net = quantity*price" in result.stdout and "row 10, net: " in result.stdout
    repaired = pd.read_csv(out)
    assert list(repaired.columns) == list(table.columns) and len(repaired) == 200
    net = table.loc[9, "net"] / 10
    assert repaired.loc[9, "net"] == pytest.approx(net, abs=1e-3)
    product = repaired["quantity"] * repaired["price"]
    assert np.abs(product - repaired["net"]).max() < 0.02
    with report.open() as file:
        cells = list(csv.DictReader(file))
    assert [(c["row"], c["column"], c["kind"]) for c in cells] == [
        ("4", "net", "gap"),
        ("6", "price", "gap"),
        ("10", "net", "wrong"),
    ]
    assert cells[0]["was"] == "" and float(cells[2]["was"]) == pytest.approx(10 * net)
    assert len(load(saved).laws_) == 2
    again = tmp_path / "again.csv"
    assert call("predict", saved, path, "--out", again).returncode == 0
    assert np.allclose(pd.read_csv(again)["net"], repaired["net"])


def test_repair_on_the_screen(call, invoices):
    path, _ = invoices
    result = call("repair", path, *MESSY, *LAWS, "--json")
    answer = json.loads(result.stdout)
    assert [cell["row"] for cell in answer["cells"]] == [4, 6, 10]
    assert answer["cells"][0]["was"] is None and len(answer["laws"]) == 2
    lines = call("repair", path, *MESSY, *LAWS, "--out", "-").stdout.splitlines()
    assert lines[0] == "no,quantity,price,net,gross" and len(lines) == 201


def test_repair_refuses(call, invoices, tmp_path):
    path, _ = invoices
    check_failed(call("repair", path, *MESSY, "--out", path), "would be overwritten")
    check_failed(call("repair", path, *MESSY, "--noise", "x=1"), "no column that is used")
    out = tmp_path / "out.csv"
    two = call("repair", path, *MESSY, "--out", out, "--report", out)
    check_failed(two, "the same name", code=2)
    wrong = call("repair", path, *MESSY, "--law", "net = ", "--out", out)
    assert wrong.returncode == 2 and not out.exists()
    check_failed(call("repair", tmp_path / "none.csv"), "There is no file")


@pytest.fixture
def readings(tmp_path):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(300, 3))
    u /= np.linalg.norm(u, axis=1)[:, np.newaxis]
    X = pd.DataFrame(50 * u + [10, -20, 5], columns=["mx", "my", "mz"])
    X += 0.3 * rng.normal(size=X.shape)
    X.insert(0, "t", np.arange(300) / 50)
    path = tmp_path / "readings.csv"
    X.to_csv(path, index=False)
    X["mz"] = rng.normal(size=300)
    X.to_csv(tmp_path / "flat.csv", index=False)
    return path


AXES = ("--only", "mx", "--only", "my", "--only", "mz")


def test_calibrate(call, readings, tmp_path):
    out, source, saved = (tmp_path / name for name in ("out.csv", "cal.c", "cal.json"))
    result = call("calibrate", readings, *AXES, "--out", out, "--save", saved)
    assert result.returncode == 0, result.stderr
    assert "The readings determine an ellipsoid" in result.stdout and "Center:" in result.stdout
    radius = np.linalg.norm(pd.read_csv(out)[["mx", "my", "mz"]], axis=1)
    assert radius.std() < 0.4 and radius.mean() == pytest.approx(load(saved).radius_, abs=0.1)
    assert call("calibrate", readings, *AXES, "--out", source).returncode == 0
    assert "double" in source.read_text()
    answer = json.loads(call("calibrate", readings, *AXES, "--json").stdout)
    assert answer["is_determined"] and np.allclose(answer["center"], [10, -20, 5], atol=0.3)
    shown = call("show", saved)
    assert shown.returncode == 0 and "The readings determine" in shown.stdout


def test_what_a_repair_and_a_calibration_are_not_for(call, readings, tmp_path):
    kept = tmp_path / "kept.json"
    assert call("calibrate", readings, *AXES, "--out", kept).returncode == 0
    refused = call("report", kept, readings, "--out", tmp_path / "r.html")
    check_failed(refused, "There is no report on a calibration")
    path, law = tmp_path / "parts.csv", "c = a + b"
    path.write_text("a,b,c\n" + "".join(f"{i},{i % 7},{i + i % 7}\n" for i in range(1, 60)))
    assert call("repair", path, "--law", law, "--out", kept).returncode == 0
    check_failed(call("export", kept, "--to", "sql"), "A repair cannot be written")


def test_calibrate_refuses(call, readings, tmp_path):
    out = tmp_path / "out.csv"
    check_failed(call("calibrate", readings), "name them with --only")
    flat = call("calibrate", tmp_path / "flat.csv", *AXES, "--out", out)
    assert flat.returncode == 0 and "do not determine" in flat.stdout
    assert "out.csv is not written" in flat.stderr and not out.exists()
    flat = call("calibrate", tmp_path / "flat.csv", *AXES, "--json", "--fail")
    assert flat.returncode == 1 and not json.loads(flat.stdout)["found"]
    check_failed(call("calibrate", readings, *AXES, "--out", readings), "would be overwritten")


def test_lines_that_are_too_long_are_left_out_with_a_note(call, tmp_path):
    rows = np.random.default_rng(0).uniform(1.0, 3.0, (60, 2))
    lines = [f"{a:.4f},{b:.4f},{a * b:.4f}" for a, b in rows]
    lines[7] += ",9,9"
    path, out = tmp_path / "table.csv", tmp_path / "out.csv"
    path.write_text("\n".join(["a,b,c", *lines]))
    result = call("repair", path, "--out", out)
    assert result.returncode == 0, result.stderr
    assert "1 of 60 rows is left out (too many fields: 1)" in result.stdout + result.stderr
    assert len(out.read_text().splitlines()) == 60
    report = tmp_path / "repair.html"
    assert call("repair", path, "--out", report).returncode == 0
    assert "left out" in report.read_text()
