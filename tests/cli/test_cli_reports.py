"""The command line on outliers and motion that were saved: shown, and reported."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed
from pages import Page

from vanishing import ConservedQuantities, VanishingOutlierDetector, load

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, and what was found in them."""
    folder = tmp_path_factory.mktemp("saved")
    q, w = np.random.default_rng(0).uniform(1, 3, size=(2, 300))
    pump = pd.DataFrame({"q": q, "w": w, "p": q * w})
    pump.loc[7, "p"] *= 1.2
    pump.to_csv(folder / "pump.csv", index=False)
    VanishingOutlierDetector(contamination=0.01, random_state=0).fit(pump).save(
        folder / "pump.json"
    )
    t = np.linspace(0.0, 5.0, 30)
    runs = [np.column_stack([a * np.cos(t), a * np.sin(t), t]) for a in np.arange(1.0, 7.0)]
    swing = pd.DataFrame(np.vstack(runs), columns=["x", "v", "t"])
    swing["run"] = np.repeat([*"abcdef"], 30)
    swing.to_csv(folder / "swing.csv", index=False)
    model = ConservedQuantities(max_degree=2)
    model.fit(swing[["x", "v"]], groups=swing["run"]).save(folder / "swing.json")
    model.fit(swing[["x", "v"]].to_numpy(), groups=swing["run"]).save(folder / "nameless.json")
    return folder


def test_outliers_are_saved_shown_and_reported(call, folder, tmp_path):
    saved, page = tmp_path / "m.json", tmp_path / "r.html"
    words = ("outliers", folder / "pump.csv", "--contamination", "0.01")
    result = call(*words, "--save", saved)
    assert result.returncode == 0 and f"Saved as {saved}" in result.stdout
    (law,) = load(saved).laws_
    shown = call("show", saved).stdout
    assert str(law) in shown and law.verdict in shown and "1 % of the rows of the fit" in shown
    assert law.to_latex() in call("show", saved, "--latex").stdout.splitlines()
    document = json.loads(call("show", saved, "--json").stdout)
    assert document["threshold"] == load(saved).offset_
    assert [one["equation"] for one in document["laws"]] == [str(law)]
    result = call("report", saved, folder / "pump.csv", "--out", page)
    assert result.returncode == 0 and "Report on 300 rows" in result.stdout
    assert "Outliers of pump.csv" in Page(page.read_text(encoding="utf-8")).words
    check_failed(
        call("outliers", folder / "pump.csv", "--out", page, "--save", page), "two names", code=2
    )


@pytest.mark.parametrize("name", ["swing", "nameless"])
def test_motion_is_reported(call, folder, tmp_path, name):
    path = tmp_path / "r.html"
    words = ("report", folder / f"{name}.json", folder / "swing.csv", "--out", path)
    result = call(*words, "--run", "run", "--time", "t")
    assert result.returncode == 0 and "Report on 180 rows" in result.stdout
    page = Page(path.read_text(encoding="utf-8"))
    assert "appear to be the training rows" in page.words and "over time." in page.words


@pytest.mark.parametrize(
    ("name", "words", "problem", "code"),
    [
        ("swing", (), "--run", 2),
        ("swing", ("--run", "no"), "no column 'no'", 2),
        ("swing", ("--run", "run", "--time", "no"), "no column 'no'", 2),
        ("swing", ("--run", "run", "--target", "t"), "--target must be left out", 2),
        ("pump", ("--run", "q"), "--run must be left out", 2),
        ("pump", ("--time", "no"), "no column 'no'", 2),
        ("pump", ("--target", "q"), "--target must be left out", 2),
    ],
)
def test_words_that_do_not_go_together(call, folder, tmp_path, name, words, problem, code):
    path = tmp_path / "r.html"
    files = (folder / f"{name}.json", folder / f"{name}.csv")
    check_failed(call("report", *files, "--out", path, *words), problem, code=code)
    assert not path.exists()


def test_a_table_that_lacks_a_column(call, folder, tmp_path):
    pd.DataFrame({"q": [1.0], "w": [2.0]}).to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "r.html"
    result = call("report", folder / "pump.json", tmp_path / "t.csv", "--out", path)
    check_failed(result, "lacks the column 'p'")
    assert not path.exists()


def test_rows_keep_their_numbers_and_names_where_others_are_left_out(call, folder, tmp_path):
    pump = pd.read_csv(folder / "pump.csv")
    pump.insert(0, "probe", [f"P{i:03}" for i in range(len(pump))])
    pump.loc[7, "p"] /= 1.2
    pump.loc[203, "p"] *= 1.2
    pump.loc[:9, "q"] = np.nan
    table, scores, saved, page = (
        tmp_path / name for name in ("t.csv", "s.csv", "m.json", "r.html")
    )
    pump.to_csv(table, index=False)
    options = ("--id", "probe", "--missing", "drop", "--contamination", "0.01")
    result = call("outliers", table, *options, "--explain", "--out", scores, "--save", saved)
    assert result.returncode == 0, result.stderr
    assert "  row 204 (P203): score" in result.stdout
    written = pd.read_csv(scores).set_index("probe")
    assert written["row"].tolist() == list(range(11, 301))
    assert written.loc["P203", "outlier"] == 1
    result = call("report", saved, table, "--out", page)
    assert result.returncode == 0, result.stderr
    words = Page(page.read_text(encoding="utf-8")).words
    assert "row 204 (P203)" in words and "row 194" not in words


def test_cells_that_are_filled_in_are_counted(call, folder, tmp_path):
    """What a detector says of rows with invented cells comes with a note, on screen and page."""
    table = pd.read_csv(folder / "pump.csv")
    table["side"] = ["left", "right", "right"] * 100
    fitted, new, saved = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "d.json"
    table.to_csv(fitted, index=False)
    words = ("--missing", "median", "--categories", "one-hot")
    assert call("outliers", fitted, *words, "--save", saved).returncode == 0
    full = call("predict", saved, fitted, "--out", "-")
    assert (full.returncode, full.stderr) == (0, "")
    table.loc[[3, 5], "q"] = np.nan
    table.loc[9, "side"] = None
    table.to_csv(new, index=False)
    median = pd.read_csv(folder / "pump.csv")["q"].median()
    note = (
        f"'q' with its median {median:.6g} (2 cells), 'side' with its most frequent text "
        "'right' (1 cell)"
    )
    result = call("predict", saved, new, "--out", "-")
    assert result.returncode == 0 and result.stderr.count(note) == 1
    page = tmp_path / "r.html"
    result = call("report", saved, new, "--out", page)
    assert result.returncode == 0 and result.stderr.count(note) == 1
    assert note in Page(page.read_text(encoding="utf-8")).words
    result = call("report", saved, new, "--out", page, "--missing", "drop")
    assert "3 of 300 rows cannot be used" in result.stderr and "median" not in result.stderr
    assert "3 of 300 rows cannot be used" in Page(page.read_text(encoding="utf-8")).words
