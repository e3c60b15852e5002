"""Tables as people have them: what is said about each, and that it can be used as that says."""

import csv
import json
import shlex
import time

import messy
import numpy as np
import pytest
from commands import caller, check_failed
from hypothesis import given, settings
from hypothesis import strategies as st

import vanishing
from vanishing.persistence import load_with_table
from vanishing.persistence.values import Refused
from vanishing.tables.cells import is_missing, measured, number, seconds_of
from vanishing.tables.csv_files import CsvTable
from vanishing.tables.files import LOOK, FileLayout
from vanishing.tables.formats import open_table
from vanishing.tables.kinds import Choices
from vanishing.tables.preparing import prepare
from vanishing.tables.problems import TableProblemsError
from vanishing.tables.recipe import readable_names, repeated
from vanishing.tables.saved import node_of, recipe_of

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("rich")

CLEAN = np.array([row[:3] for row in messy.clean()[1:]], dtype=float)
LABELS = [row[3] for row in messy.clean()[1:]]
# Those that are used without a word, or with a note, and the one that cannot be.
AT_ONCE = [name for name, (_, options) in messy.FILES.items() if not options]
HOPELESS = "labels of one class"
HELPED = [name for name in messy.FILES if name not in AT_ONCE]


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture
def table(tmp_path):
    """Write text as a table, and look at it."""

    def looked_at(text, roles=None, layout=LOOK, target=None, **choices):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        choices = Choices(layout=layout, **choices)
        return prepare(open_table(path, layout=layout), choices, roles or {}, target=target)

    return looked_at


def written(name, folder):
    if callable(messy.FILES[name][0]):
        pytest.importorskip("openpyxl")
    return messy.write(name, folder)


def fitted(call, name, folder, options):
    target = "x3" if "--no-header" in options else "kind"
    path = written(name, folder)
    arguments = ["fit", path, "--target", target, "--out", folder / "m.json", "--test-size", 0]
    return path, call(*arguments, *options)


# -- Each of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HELPED)
def test_what_is_wrong_is_said_with_the_option_that_helps(call, tmp_path, name):
    options = messy.FILES[name][1]
    path, result = fitted(call, name, tmp_path, [])
    if name == "whole numbers of twenty digits":  # may be used, but need not be meant
        assert result.returncode == 0 and "--id code" in result.stderr
        return
    assert result.returncode == 2 and result.stdout == ""
    needed = [word for word in options if word.startswith("--")]
    if name == "a workbook of two sheets":
        needed = ["--sheet"]  # what is in it is seen when that is known
    if name == "missing cells, spelled in eight ways":
        assert "line 5, column 'a': the cell is empty; 7 more" in result.stderr
    for option in needed:
        assert option in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", [name for name in messy.FILES if name != HOPELESS])
def test_with_these_options_it_is_fitted_and_predicted_as_it_is(call, tmp_path, name):
    options = messy.FILES[name][1]
    path, result = fitted(call, name, tmp_path, options)
    assert result.returncode == 0, result.stderr
    out = tmp_path / "p.csv"
    result = call("predict", tmp_path / "m.json", path, "--out", out)
    assert result.returncode == 0, result.stderr
    names, *rows = csv.reader(out.open())
    assert len(rows) == messy.N_ROWS
    if "--id" in options:
        assert names[0] == options[options.index("--id") + 1]
    predicted = [row[names.index("label")] for row in rows]
    used = [p != "" for p in predicted]
    assert sum(used) >= messy.N_ROWS - 8
    if name == "missing cells, spelled in eight ways":
        assert sum(used) == messy.N_ROWS - 8 and "8 of 60 rows cannot be used" in result.stderr
    right = [p == label for p, label in zip(predicted, LABELS, strict=True) if p]
    assert np.mean(right) > 0.9


def test_one_class_is_none(call, tmp_path):
    _, result = fitted(call, HOPELESS, tmp_path, [])
    check_failed(result, "column 'kind' has only the label 'big': two are needed")


@pytest.mark.parametrize(
    "name",
    [name for name in messy.FILES if "thousands" not in name and "infinit" not in name],
)
def test_the_numbers_are_those_of_the_clean_table(call, tmp_path, name):
    if name == HOPELESS:
        return
    options = messy.FILES[name][1]
    path, result = fitted(call, name, tmp_path, options)
    assert result.returncode == 0, result.stderr
    _, node = load_with_table(tmp_path / "m.json")
    recipe = recipe_of(node)
    assert node_of(recipe) == node
    columns = [name for column in recipe.columns for name in column.outputs]
    shared = [c for c in columns if c not in ("day", "Tag", "wet", "site", "code")]
    shared = [c for c in shared if not c.startswith(("colour_", "Farbe_"))]
    (part,) = recipe.parts(open_table(path, layout=recipe.layout), shared)
    if "--missing" in options and recipe.missing == "median":
        same = np.equal(part.X, CLEAN[part.usable])
        assert np.count_nonzero(~same) == 3  # filled in
    else:
        np.testing.assert_array_equal(part.X, CLEAN[part.usable])


def test_all_problems_come_in_one_go(call, tmp_path):
    path, result = fitted(call, "much of this at once", tmp_path, [])
    head, *lines = result.stderr.splitlines()
    assert head == f"{path} has 6 problems:" and len(lines) == 6
    for words in ("UTF-8", "'Probe'", "'Tag'", "'Farbe'", "'2,274'", "'-' is no value"):
        assert sum(words in line for line in lines) == 1
    _, options = messy.FILES["much of this at once"]
    assert {word for word in options if word.startswith("--")} <= set(result.stderr.split())


# -- The same options everywhere ------------------------------------------------------------------


def test_the_four_commands_share_their_options(call):
    names = ["drop", "only", "id", "missing", "categories", "dates", "decimal", "separator"]
    names += ["encoding", "no-header", "sheet"]
    for command in ("laws", "outliers", "motion", "fit"):
        said = call(command, "--help").stdout
        assert all(f"--{name}" in said for name in names), command
    for command in ("predict", "report"):
        said = call(command, "--help").stdout
        assert all(f"--{name}" in said for name in (*names[2:4], *names[6:])), command
        assert "--categories" not in said


def test_every_command_takes_a_messy_table_and_predict_follows(call, tmp_path):
    path = written("much of this at once", tmp_path)
    options = messy.FILES["much of this at once"][1]
    laws, detector, motion = (tmp_path / f"{name}.json" for name in ("laws", "detector", "motion"))
    for arguments in (
        ["laws", path, "--target", "c", "--functions", "none", "--drop", "kind", "--out", laws],
        ["outliers", path, "--drop", "kind", "--save", detector, "--out", tmp_path / "o.csv"],
        ["motion", path, "--run", "Farbe", "--drop", "kind", "--max-degree", 1, "--out", motion],
    ):
        result = call(*arguments, *options)
        assert result.returncode == 0, result.stderr
    rows = list(csv.reader((tmp_path / "o.csv").open()))
    why = ["reason", "columns", "expected"]
    assert rows[0] == ["Probe", "row", "score", "outlier", *why] and rows[1][:2] == ["P-000", "1"]
    law = vanishing.load(laws).laws_[0]
    assert set(law.columns) == {"a", "b", "c"} and law.n_terms == 2
    for model, header in ((laws, ["c"]), (detector, ["score", "outlier", *why]), (motion, None)):
        result = call("predict", model, path, "--out", tmp_path / "p.csv")
        if result.returncode:  # nothing need be conserved in numbers by chance
            assert header is None and "no equations" in result.stderr
            continue
        names, *lines = csv.reader((tmp_path / "p.csv").open())
        assert names[0] == "Probe" and names[1:] == (header or names[1:])
        assert len(lines) == messy.N_ROWS and lines[-1][0] == "P-059"


@pytest.mark.parametrize(
    "options, problem",
    [
        (["--missing", "guess"], "--missing must be one of"),
        (["--decimal", "x"], "--decimal must be one of"),
        (["--categories", "two-hot"], "--categories must be one of"),
        (["--separator", "::"], "--separator must be one character"),
        (["--encoding", "klingon"], "--encoding 'klingon' is not known"),
        (["--encoding", "base64"], "--encoding 'base64' is not known"),
        (["--dates", "fortnights"], "--dates must be seconds"),
        (["--dates", "days since yesterday"], "--dates must be seconds"),
        (["--drop", "a", "--only", "b"], "leave --drop out"),
    ],
)
def test_options_that_cannot_be_are_usage_errors(call, tmp_path, options, problem):
    path = written("tabs", tmp_path)
    out = tmp_path / "m.json"
    result = call("fit", path, "--target", "kind", "--out", out, *options)
    check_failed(result, problem, code=2)
    assert not out.exists()


# -- Predictions of every model -------------------------------------------------------------------


def test_predict_and_report_take_every_model(call, tmp_path):
    pytest.importorskip("jinja2")
    path = written("tabs", tmp_path)
    X = pd.DataFrame(CLEAN / 20, columns=["a", "b", "c"])
    models = {
        "classifier": vanishing.VanishingClassifier().fit(X, LABELS),
        "features": vanishing.VanishingFeatures().fit(X, LABELS),
        "oavi": vanishing.OAVI().fit(X),
        "vca": vanishing.VCA().fit(X),
        "outliers": vanishing.VanishingOutlierDetector(random_state=0).fit(X),
        "svm": vanishing.L1SquaredHingeSVC().fit(X, LABELS),
    }
    unlabelled = tmp_path / "unlabelled.csv"
    X.to_csv(unlabelled, index=False)
    for name, model in models.items():
        model.save(tmp_path / "m.json")
        result = call("predict", tmp_path / "m.json", unlabelled, "--out", "-")
        assert (result.returncode, result.stderr) == (0, ""), name
        names, *rows = csv.reader(result.stdout.splitlines())
        assert len(rows) == len(X) and all(len(row) == len(names) for row in rows)
        if hasattr(model, "transform"):
            np.testing.assert_allclose(np.array(rows, dtype=float), model.transform(X), rtol=1e-12)
            assert names == list(model.get_feature_names_out())
        elif hasattr(model, "score_samples"):
            found = np.array([row[:2] for row in rows], dtype=float)
            np.testing.assert_allclose(found[:, 0], model.score_samples(X), rtol=1e-9)
            np.testing.assert_array_equal(found[:, 1], model.predict(X) == -1)
        else:
            assert [row[0] for row in rows] == list(model.predict(X))
        if name != "svm":  # it has no equations to report on
            for table in (unlabelled, path):
                out = tmp_path / "r.html"
                result = call("report", tmp_path / "m.json", table, "--out", out)
                assert result.returncode == 0, (name, result.stderr)
                labels = table == unlabelled and name in ("classifier", "features")
                assert ("without labels" in result.stdout) == labels


def test_motion_is_predicted_and_reported_with_what_is_known_of_its_table(call, tmp_path):
    pytest.importorskip("jinja2")
    t = np.linspace(0.0, 5.0, 30)
    runs = [np.column_stack([a * np.cos(t), a * np.sin(t), t]) for a in np.arange(1.0, 7.0)]
    swing = pd.DataFrame(np.vstack(runs), columns=["x", "v", "t"])
    swing["trial"] = np.repeat([*"abcdef"], 30)
    swing.to_csv(tmp_path / "swing.csv", index=False, sep=";", decimal=",")
    options = ["--run", "trial", "--time", "t", "--decimal", ",", "--max-degree", 2]
    result = call("motion", tmp_path / "swing.csv", *options, "--out", tmp_path / "m.json")
    assert result.returncode == 0, result.stderr
    result = call("predict", tmp_path / "m.json", tmp_path / "swing.csv", "--out", "-")
    assert result.returncode == 0, result.stderr
    (name, *_), *rows = csv.reader(result.stdout.splitlines())
    assert name == str(vanishing.load(tmp_path / "m.json").quantities_[0])
    values = np.array(rows, dtype=float).reshape(6, 30)
    assert (values.std(axis=1) < 1e-9).all() and values.mean(axis=1).std() > 1
    result = call(
        "report", tmp_path / "m.json", tmp_path / "swing.csv", "--out", tmp_path / "r.html"
    )
    assert result.returncode == 0, result.stderr
    assert "over time." in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_predict_treats_new_rows_as_the_fit_did(call, tmp_path):
    rows = [["colour", "day", *row[:3], row[3]] for row in messy.clean()]
    for i, row in enumerate(rows[1:]):
        row[:2] = ["red" if i % 2 else "blue", f"2024-01-{i % 28 + 1:02}"]
    path, out = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text(messy.written(rows))
    base = ["fit", path, "--target", "kind", "--out", out, "--test-size", 0]
    assert call(*base, "--categories", "one-hot", "--dates", "days").returncode == 0
    model = vanishing.load(out)
    assert list(model.feature_names_in_[:3]) == ["colour_blue", "colour_red", "day"]
    new = tmp_path / "new.csv"
    new.write_text("c,b,a,day,colour\n8,2,2,2025-01-01,red\n,1,1,2024-01-02,blue\n")
    check_failed(call("predict", out, new, "--out", "-"), "line 3, column 'c': the cell is empty")
    result = call("predict", out, new, "--out", "-", "--missing", "median")
    _, *found = csv.reader(result.stdout.splitlines())
    median = np.median(CLEAN[:, 2])
    X = pd.DataFrame(
        [[0.0, 1.0, 366.0, 2.0, 2.0, 8.0], [1.0, 0.0, 1.0, 1.0, 1.0, median]],
        columns=model.feature_names_in_,
    )
    np.testing.assert_allclose(
        np.array([row[1:] for row in found], dtype=float)[:, 0], model.decision_function(X)
    )
    new.write_text("c,b,a,day,colour\n8,2,2,2025-01-01,green\n")
    check_failed(call("predict", out, new, "--out", "-"), "column 'colour': 'green'")
    result = call("predict", out, new, "--out", "-", "--missing", "drop")
    assert result.stdout.splitlines()[1] == ","
    new.write_text("c,b,a,colour\n8,2,2,red\n")
    check_failed(call("predict", out, new, "--out", "-"), "lacks the column 'day'")


def test_a_model_of_python_has_no_medians(call, tmp_path):
    path = written("tabs", tmp_path)
    vanishing.OAVI().fit(CLEAN / 20).save(tmp_path / "m.json")
    result = call("predict", tmp_path / "m.json", path, "--out", "-", "--missing", "median")
    check_failed(result, "--missing median needs medians", code=2)


@pytest.mark.parametrize(
    "change",
    [
        {"missing": "guess"},
        {"decimal": ";"},
        {"layout": {}},
        {"roles": []},
        {"columns": [{"kind": "number"}]},
        {"columns": [{"kind": "code", "name": "a"}]},
        {"columns": [{"kind": "number", "name": "a", "fill": "b", "unit": ""}]},
        {"more": 1},
    ],
)
def test_what_is_saved_of_a_table_is_checked(tmp_path, table, change):
    prepared = table("a,b\n1,2\n3,4\n")
    node = node_of(prepared.recipe)
    assert recipe_of(json.loads(json.dumps(node))) == prepared.recipe
    with pytest.raises(Refused):
        recipe_of({**node, **change})


# -- Columns that look odd ------------------------------------------------------------------------


def test_identifiers_are_pointed_out(table):
    def notes(column, labels=None):
        rows = "".join(
            f"{x},{y},{label}\n"
            for x, y, label in zip(column, CLEAN[:, 0], labels or LABELS, strict=True)
        )
        return " ".join(table(f"n,a,kind\n{rows}", {"target": "kind"}).notes)

    rng = np.random.default_rng(0)
    counting = np.arange(messy.N_ROWS)
    assert "'n' looks like an identifier" in notes(counting) and "in their order" in notes(counting)
    assert "looks like an identifier" in notes(rng.permutation(counting))
    ordered = sorted(LABELS)
    assert "the rows are ordered by class" in notes(counting / 7, ordered)
    # Measurements are none: with repetitions, with decimals, or whole but with gaps.
    for column in (counting // 2, rng.uniform(size=60), rng.permutation(1000)[:60]):
        assert notes(column) == ""


def test_a_column_without_a_name_that_counts_nothing_is_used(table):
    prepared = table(",a\n5,1\n3,2\n9,4\n")
    assert prepared.names == ["column 1", "a"]
    assert table(",a\n5,1\n6,2\n7,4\n").names == ["a"]


def test_columns_without_values_are_left_out(table):
    prepared = table("a,empty,b\n1,,2\n3,,4\n")
    assert prepared.names == ["a", "b"] and "'empty' is left out" in prepared.notes[0]


def test_names_in_a_comment(table):
    assert table("# t x y\n1 2 3\n4 5 6\n", layout=FileLayout(separator=" ")).names == [
        "t",
        "x",
        "y",
    ]
    assert table("#t,x\n1,2\n4,5\n").names == ["t", "x"]
    aligned = table("  t    x\n  1    2 \n 40  0.5\n", layout=FileLayout(separator=" "))
    assert aligned.X.tolist() == [[1.0, 2.0], [40.0, 0.5]]
    # A first column whose cells begin with # has rows, not comments.
    prepared = table("id,x\n#1,2\n#2,5\n", {"id": "id"})
    assert prepared.texts["id"].tolist() == ["#1", "#2"]


def test_names_that_are_numbers_may_be_names(table):
    assert table("0,1,2\n5,6,7\n").names == ["0", "1", "2"]
    assert table("1990,2000,2010\n5,6,7\n").names == ["1990", "2000", "2010"]
    with pytest.raises(TableProblemsError, match="--no-header"):
        table("5,1,2\n5,6,7\n")
    assert table("5,1,2\n5,6,7\n", layout=FileLayout(header=True)).names == ["5", "1", "2"]


def test_dates_of_either_order(table):
    with pytest.raises(TableProblemsError, match="the day first, or the month"):
        table("d,a\n01/02/2024,1\n03/04/2024,2\n", dates=("days", None))
    for text in ("25/02/2024,1\n01/03/2024,2\n", "02/25/2024,1\n03/01/2024,2\n"):
        assert table(f"d,a\n{text}", dates=("days", None)).X[:, 0].tolist() == [0.0, 5.0]
    prepared = table("d\n2024-03-01 12:00\n", dates=("hours", seconds_of("2024-03-01", "dmy")))
    assert prepared.X.tolist() == [[12.0]]


def test_other_units_and_texts_are_problems(table):
    for text, problem in (
        ("m\n3 kg\n4 g\n5 g\n", "different units"),
        ("m\n" + "".join(f"t{i % 60}\n" for i in range(120)), "60 different texts"),
        ("colour,colour_red\nred,1\nblue,2\nred,3\n", "second column 'colour_red'"),
    ):
        with pytest.raises(TableProblemsError, match=problem):
            table(text, categories="one-hot")


def test_rows_that_are_left_out_keep_the_places_of_the_others(table):
    prepared = table("a,b\n1,2\n,3\n4,5\n", missing="drop")
    assert prepared.rows.tolist() == [0, 2]
    prepared = table("a,y\n1,2\n3,\n,5\n7,8\n", missing="median", target="y")
    assert prepared.X.tolist() == [[1.0, 2.0], [3.0, 5.0], [7.0, 8.0]]  # the target is not made up


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1,234.5", ".", 1234.5),
        ("1.234,5", ",", 1234.5),
        ("1 234 567", ".", 1234567.0),
        ("1'234.5", ".", 1234.5),
        ("12,34", ",", 12.34),
        ("\u22125", None, -5.0),
        ("1,5", None, None),
        ("12,34", ".", None),
        ("1.5.2", ",", None),
    ],
)
def test_what_is_a_number_depends_on_the_decimal_sign(text, decimal, value):
    found = number(text, decimal)
    assert np.isnan(found) if value is None else found == value


@settings(max_examples=200)
@given(st.floats(-1e15, 1e15), st.sampled_from(["", "kg", "%", "m/s^2", "°C"]))
def test_numbers_as_people_write_them_come_back(value, unit):
    plain = f"{value:.3f}"
    grouped = f"{value:,.3f}"
    swapped = grouped.translate(str.maketrans(",.", ".,"))
    for text, decimal in ((plain, None), (grouped, "."), (swapped, ",")):
        assert measured(f"{text} {unit}", decimal) == (float(plain), unit)


@settings(max_examples=200)
@given(st.datetimes())
def test_dates_come_back(moment):
    seconds = (moment - pd.Timestamp(1970, 1, 1).to_pydatetime()).total_seconds()
    assert abs(seconds_of(moment.isoformat(sep=" "), "dmy") - seconds) < 1e-3
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    since = (day - pd.Timestamp(1970, 1, 1).to_pydatetime()).total_seconds()
    assert seconds_of(f"{day.day}.{day.month}.{day.year:04}", "dmy") == since


def test_what_is_missing_is_a_matter_of_spelling():
    for text in ("", " ", "NA", "n/a", "NaN", "-", "?", "#DIV/0!", "Null"):
        assert is_missing(text)
    for text in ("0", "no", "x", "NAN1", "--1"):
        assert not is_missing(text)


def test_what_is_suggested_can_be_typed(table):
    with pytest.raises(TableProblemsError) as raised:
        table("my text,b\nx,1\ny,2\nx,3\n")
    assert f"--drop {shlex.quote('my text')}" in str(raised.value)


def test_typed_files_keep_their_numbers(call, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame(CLEAN, columns=["a", "b", "c"])
    frame["wet"] = np.arange(60) % 3 == 0
    frame["day"] = pd.to_datetime([str(day) for day in messy.days()])
    frame["kind"] = np.where(np.array(LABELS) == "big", 1, 0)
    found = []
    for name in ("t.csv", "t.parquet", "t.xlsx"):
        path = tmp_path / name
        {"csv": frame.to_csv, "xlsx": frame.to_excel}.get(path.suffix[1:], frame.to_parquet)(
            path, index=False
        )
        base = ["fit", path, "--target", "kind", "--out", tmp_path / "m.json", "--dates", "days"]
        # Numbers that are no text have no decimal sign.
        sign = [] if name == "t.csv" else ["--decimal", ","]
        result = call(*base, "--test-size", 0, *sign)
        assert result.returncode == 0, result.stderr
        result = call("predict", tmp_path / "m.json", path, "--out", "-")
        assert result.returncode == 0, result.stderr
        found.append(result.stdout)
    assert found[0] == found[1] == found[2]


def test_words_for_yes_and_no_may_be_missing_later(call, tmp_path):
    rows = [[*row, str(i % 3 == 0)] for i, row in enumerate(messy.clean())]
    rows[0][-1] = "wet"
    path = tmp_path / "t.csv"
    path.write_text(messy.written(rows))
    base = ["fit", path, "--target", "kind", "--out", tmp_path / "m.json", "--test-size", 0]
    assert call(*base).returncode == 0
    rows[3][-1] = ""
    path.write_text(messy.written(rows))
    result = call("predict", tmp_path / "m.json", path, "--out", "-", "--missing", "drop")
    assert result.returncode == 0 and "1 of 60 rows" in result.stderr


def test_cells_that_take_long_to_look_at_are_looked_at_in_time(table):
    hostile = "1" + " " * 100_000 + "!"
    with pytest.raises(TableProblemsError):
        table(f"a,b\n{hostile},1\n2,2\n")


def test_errors_of_spreadsheets_are_no_comments(table):
    prepared = table("a;b\n1,5;2,5\n#DIV/0!;3,5\n#warm;\n4,5;#N/A\n", decimal=",", missing="drop")
    assert prepared.rows.tolist() == [0] and prepared.X.tolist() == [[1.5, 2.5]]
    assert "2 of 3 rows are left out" in prepared.notes[-1]


def test_nothing_is_left_to_look_at(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n2\n")
    check_failed(call("outliers", path, "--drop", "a"), "no column left to look at")


def test_what_fills_in_is_of_the_fit(tmp_path, table):
    recipe = table("a,b,colour\n1,2,x\n3,8,y\n8,9,y\n", categories="one-hot").recipe
    path = tmp_path / "new.csv"
    path.write_text("colour,b,a\n?,,100\nx,200,n/a\n")
    outputs = ["a", "b", "colour_x", "colour_y"]
    (part,) = recipe.changed(missing="median").parts(open_table(path), outputs)
    assert part.filled == {"a": 1, "b": 1, "colour": 1}
    assert part.X.tolist() == [[100.0, 8.0, 0.0, 1.0], [3.0, 200.0, 1.0, 0.0]]


def test_comments_are_left_out_of_uneven_files_as_well(table):
    prepared = table("a,b\n1,2,\n# dry\n# wet, warm, fine\n3,4\n5,6,7\n", missing="drop")
    assert prepared.X.tolist() == [[1.0, 2.0], [3.0, 4.0]] and prepared.rows.tolist() == [0, 1]
    assert prepared.notes == ["1 of 3 rows is left out (too many fields: 1)."]
    with pytest.raises(TableProblemsError, match="line 6 has 3 fields, but there are 2 names"):
        table("a,b\n1,2,\n# dry\n# wet, warm, fine\n3,4\n5,6,7\n")


# -- Workbooks ------------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path):
    """Write rows as a workbook, and look at it."""
    openpyxl = pytest.importorskip("openpyxl")

    def looked_at(rows, layout=LOOK, **choices):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
        table = open_table(tmp_path / "t.xlsx", layout=layout)
        return prepare(table, Choices(layout=layout, **choices), {})

    return looked_at


def test_cells_that_are_numbers_are_never_read_again(sheet):
    mixed = [1.334, "1,234", 20.25, "5,5", 7, "n.d.", 1234567]
    rows = [["a", "b"], *([cell, i] for i, cell in enumerate(mixed))]
    with pytest.raises(TableProblemsError) as raised:
        sheet(rows)
    decimal, missing = raised.value.problems
    assert "column 'a': numbers such as '1,234'. --decimal , takes the comma" in decimal
    assert missing.startswith("row 7 of the sheet, column 'a': 'n.d.' is no value.")
    prepared = sheet(rows, decimal=",", missing="drop")
    assert prepared.X[:, 0].tolist() == [1.334, 1.234, 20.25, 5.5, 7.0, 1234567.0]
    assert "column 'a': 4 of 7 cells are numbers, and 2 text such as '1,234'" in prepared.notes[0]


def test_a_column_of_numbers_and_words_is_text_as_it_is_shown(sheet):
    rows = [["a", "b"], *([cell, i] for i, cell in enumerate([1, "x", 2.5, "x", 1.0, "y", "y"]))]
    prepared = sheet(rows, categories="one-hot")
    assert prepared.names == ["a_1", "a_2.5", "a_x", "a_y", "b"]
    assert prepared.X[:, :4].sum(axis=0).tolist() == [2.0, 1.0, 2.0, 2.0]


def test_what_is_text_in_a_later_block_is_text_as_it_is_written(table, monkeypatch):
    cells = CsvTable.cells
    monkeypatch.setattr(
        CsvTable, "cells", lambda self, places, texts, rows: cells(self, places, texts, rows=3)
    )
    prepared = table("a,b\n01,1\n1,2\n01,3\nx,4\n1,5\nx,6\nx,7\nx,8\nx,9\n", categories="one-hot")
    assert prepared.names == ["a_01", "a_1", "a_x", "b"]


# -- What is advised ------------------------------------------------------------------------------


def test_filling_in_is_offered_where_no_balance_is_looked_for(call, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,kind\n1,2,p\n,3,q\n4,5,p\n")
    base = ["--out", tmp_path / "m.json"]
    for command in (["laws", path, "--drop", "kind"], ["outliers", path, "--drop", "kind"]):
        result = call(*command, *base)
        assert "--missing drop leaves such rows out" in result.stderr
        assert "median" not in result.stderr
        page = " ".join(call(command[0], "--help").stdout.replace("│", " ").split())
        assert "median, which fills the cells in and breaks every balance" in page
        assert "between columns (for fit)" in page
    result = call("fit", path, "--target", "kind", *base)
    assert "--missing median fills them in, which breaks every balance" in result.stderr
    assert "median" in call("fit", "--help").stdout
    notes = call("outliers", path, "--drop", "kind", "--missing", "median").stderr
    assert "breaks every balance of columns in these rows; --missing drop" in notes


def test_what_loses_most_of_the_table_is_not_advised(table):
    with pytest.raises(TableProblemsError) as raised:
        table("a,b\n1,\n2,\n3,\n4,5\n6,7x\n")
    (problem,) = raised.value.problems
    assert "--drop b leaves the column out. --missing drop would leave out 4 of 5 rows" in problem
    with pytest.raises(TableProblemsError, match="--header-row says in which"):
        table("a\n1,2,3\n4,5,6\n", missing="drop")


def test_times_may_be_names_of_rows(table):
    with pytest.raises(TableProblemsError, match=r"'2024-01-01 10:00'.* --id time carries them"):
        table("time,a\n2024-01-01 10:00,1\n2024-01-01 10:05,2\n")


def test_lines_of_bad_cells_are_found_in_one_pass(table, monkeypatch):
    passes = []
    lines = CsvTable.lines
    monkeypatch.setattr(CsvTable, "lines", lambda self, r: passes.append(r) or lines(self, r))
    with pytest.raises(TableProblemsError) as raised:
        table("a,b,c\n1,2,3\n\n# note\nx,4,5\n4,y,6\n7,8,z\n")
    assert [problem.split(":")[0] for problem in raised.value.problems] == [
        "line 5, column 'a'",
        "line 6, column 'b'",
        "line 7, column 'c'",
    ]
    assert len(passes) == 1


def test_names_of_many_columns_take_no_time():
    start = time.process_time()
    names = readable_names(["a"] * 50_000 + [f"b{i}" for i in range(50_000)])
    assert len(set(names)) == 100_000 and repeated(names) == []
    assert repeated([*names, "b7", "b3", "b7"]) == ["b3", "b7"]
    assert time.process_time() - start < 5  # each with each would take minutes


def test_most_rows_are_not_lost_to_a_title(call, tmp_path):
    """Advice that was followed dropped 61 of 63 rows."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + messy.written(messy.clean()[1:]))
    result = call("fit", path, "--target", "a", "--out", tmp_path / "m.json", "--missing", "drop")
    check_failed(result, "line 2 has 4 fields, but there are 3 names", "--header-row says in which")


def test_parquet_with_two_columns_of_one_name(call, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = [*CLEAN.T, LABELS]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([pa.array(c) for c in columns], names=["a", "a", "c", "kind"]), path)
    base = ["fit", path, "--target", "kind", "--out", tmp_path / "m.json", "--test-size", 0]
    result = call(*base)
    assert result.returncode == 0, result.stderr
    assert "column 2, another 'a', is called 'a (2)'" in result.stderr
    assert list(vanishing.load(tmp_path / "m.json").feature_names_in_) == ["a", "a (2)", "c"]


# -- Columns without a name, cells without text ---------------------------------------------------


def test_a_column_without_a_name_goes_if_it_counts_the_rows_or_is_empty(table):
    counted = table(",a,b\n5,1.5,2\n6,2.5,3\n7,0.5,4\n")
    assert [column.name for column in counted.recipe.columns] == ["a", "b"]
    empty = table(",a,b\n,1.5,2\n,2.5,3\n,0.5,4\n")
    assert [column.name for column in empty.recipe.columns] == ["a", "b"]
    with pytest.raises(TableProblemsError, match="--drop"):
        table(",a,b\nnorth,1.5,2\nsouth,2.5,3\neast,0.5,4\n")


def test_nothing_in_a_column_of_text_is_missing_and_no_word(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "c": ["p", None, "q"]}).to_parquet(path)
    prepared = prepare(open_table(path), Choices(missing="drop", categories="one-hot"), {})
    assert prepared.names == ["a", "c_p", "c_q"] and list(prepared.rows) == [0, 2]
    prepared = prepare(open_table(path), Choices(), {"id": "c"})
    assert list(prepared.texts["id"]) == ["p", "", "q"]
