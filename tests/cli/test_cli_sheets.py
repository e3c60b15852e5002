"""The command line on a sheet of doses and responses: groups, bad wells, rows that are chosen."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed
from pages import Page, check_page

from vanishing import LawsByGroup, load

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")
pytest.importorskip("openpyxl")

HILL = "response = bottom + (top - bottom)/(1 + (EC50/dose)^h)"


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """A workbook of two batches with a title above the names, and one bad well."""
    rng = np.random.default_rng(0)
    dose, batch = np.tile(np.geomspace(0.05, 100, 24), 2), np.repeat(["A", "B"], 24)
    response = 5 + 95 / (1 + (np.where(batch == "A", 2.4, 6.0) / dose) ** 1.3)
    response = np.round(response + rng.normal(scale=2.0, size=48), 1)
    response[40] = 12.0
    table = pd.DataFrame({"batch": batch, "dose": dose.round(3), "response": response})
    path = tmp_path_factory.mktemp("sheet") / "sheet.xlsx"
    with pd.ExcelWriter(path) as writer:
        table.to_excel(writer, index=False, startrow=2)
        writer.book.active["A1"] = "Plate 7"
    return path


@pytest.fixture(scope="module")
def checked(sheet):
    return sheet.with_name("laws.json")


def test_a_sheet_with_batches_and_a_bad_well(call, sheet, checked):
    page, picture = sheet.with_name("report.html"), sheet.with_name("curve.png")
    outputs = [word for path in (checked, page, picture) for word in ("--out", path)]
    result = call(
        "laws", sheet, "--target", "response", "--check", HILL, "--robust", "--group", "batch",
        *outputs,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "A: response = " in result.stdout and "B: response = " in result.stdout
    assert "EC50 (p < 1e-12) differs between groups" in result.stdout
    assert "Left out as wrong: row 44 of the sheet." in result.stdout
    laws = load(checked, LawsByGroup)
    for label, true in (("A", 2.4), ("B", 6.0)):
        value, std = laws.of(label).constants["EC50"]
        assert abs(value - true) < 4 * std < 0.2 * true
        # To the digits that the error leaves.
        assert f"{value:.2f}" in result.stdout and f"{value:.6g}" not in result.stdout
    assert laws.wrong_rows == (40,)
    assert picture.read_bytes().startswith(b"\x89PNG")
    parsed = Page(page.read_text(encoding="utf-8"))
    check_page(parsed)
    assert "The curve" in parsed.words and "Crosses are 1 row" in parsed.words
    classes = [a.get("class", "") for a in parsed.all("path")]
    assert sum(name.startswith("curve-band") for name in classes) == 2
    assert "far" in classes


def test_saved_laws_by_group_are_shown_reported_and_predict(call, sheet, checked, tmp_path):
    if not checked.exists():
        pytest.skip("the laws were not saved")
    shown = json.loads(call("show", checked, "--json").stdout)
    assert shown["groups"] == ["A", "B"]
    assert [law["group"] for law in shown["laws"]] == ["A", "B"]
    assert "A: response = " in call("show", checked).stdout
    out = tmp_path / "predicted.csv"
    assert call("predict", checked, sheet, "--std", "--out", out).returncode == 0
    with open(out, newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["response", "response_std"] and len(rows) == 48
    expected = load(checked).predict(
        pd.DataFrame({"dose": [np.round(np.geomspace(0.05, 100, 24)[0], 3)]}), ["A"], True
    )
    np.testing.assert_allclose(list(map(float, rows[0])), np.ravel(expected), rtol=1e-12)
    page = tmp_path / "page.html"
    assert call("report", checked, sheet, "--out", page).returncode == 0
    assert "Groups" in page.read_text(encoding="utf-8")


def test_rows_are_chosen_by_conditions(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "g;x;y\n" + "".join(f"{'a' if i % 2 else 'b'};{i};{2 * i}\n" for i in range(40))
    )
    line = ["laws", path, "--target", "y", "--check", "y = k*x", "--categories", "drop"]
    for conditions, n_rows in (
        (["g = a"], 20),
        (["g != a", "x >= 10"], 15),
        (["x<5"], 5),
        (["[x] > 36"], 3),
        (["g == 'b'", "x != 0"], 19),
    ):
        options = [word for text in conditions for word in ("--where", text)]
        result = call(*line, *options)
        assert result.returncode == 0, result.stderr
        assert f"{n_rows} rows" in result.stdout, conditions


def test_rows_that_are_not_chosen_may_be_wrong_and_keep_their_numbers(call, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{'a' if i % 2 else 'b'},{i},{'?' if i % 2 else 3 * i + 1}" for i in range(40)]
    rows[20] = "b,20,999"
    path.write_text("g,x,y\n" + "\n".join(rows) + "\n")
    check_failed(call("laws", path, "--target", "y", "--check", "y = k*x + c", "--drop", "g"), "?")
    result = call(
        "laws", path, "--target", "y", "--check", "y = k*x + c", "--drop", "g", "--robust",
        "--where", "g = b",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "20 rows" in result.stdout and "Left out as wrong: line 22." in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (["--where", "batch"], 2, "'batch = 2'"),
        (["--where", "dose > low"], 2, "no number"),
        (["--where", "plate = 2"], 2, "no column 'plate'"),
        (["--where", "batch = C"], 2, "no row for which 'batch = C' holds"),
        (["--group", "plate"], 2, "no column 'plate' (--group)"),
    ],
)
def test_bad_conditions_and_groups_get_a_sentence(call, sheet, options, code, problem):
    line = ["laws", sheet, "--target", "response", "--check", "response = a", *options]
    result = call(*line)
    assert result.returncode == code and "Traceback" not in result.stderr
    assert problem in " ".join(result.stderr.split()), result.stderr


def test_a_group_without_a_target_is_a_usage_error(call, sheet):
    check_failed(call("laws", sheet, "--group", "batch"), "--group needs --target", code=2)
