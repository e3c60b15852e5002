"""The layer of questions: a table and a question give an answer, the same for everyone who asks."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tables_of_laws import gas, nothing

from vanishing import VanishingClassifierCV
from vanishing.questions import (
    EXAMPLES,
    QUESTIONS,
    READING,
    QuestionTable,
    Reading,
    apply,
    describe,
    problems_of,
    read,
    settings,
)
from vanishing.questions.guesses import guesses
from vanishing.questions.large_tables import blocks_of, rows_of
from vanishing.tables.errors import TableError


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("gas") / "gas.csv"
    gas().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def answer(table):
    return QUESTIONS["laws"].ask(read(table), target="p", functions="none")


def test_a_law_with_its_constants(answer):
    assert answer.found and answer.question == "laws"
    (equation,) = answer.equations
    (constant,) = equation.constants
    assert abs(constant.value - 8.314) < 4 * constant.std
    assert equation.text == str(answer.model.laws_[0])
    assert equation.latex in answer.details["laws"][0]["latex"]
    assert (
        json.loads(json.dumps(answer.to_dict()))["verdict"] == answer.model.verdict_.split(": ")[-1]
    )


def test_nothing_is_an_answer(tmp_path):
    nothing().to_csv(tmp_path / "nothing.csv", index=False)
    answer = QUESTIONS["laws"].ask(read(tmp_path / "nothing.csv"), target="y", functions="none")
    assert not answer.found and answer.equations == () and answer.front
    chosen = answer.choose(0)
    assert chosen.front[0].chosen and chosen.equations[0].text == chosen.front[0].text


def test_files_are_what_their_names_say(answer, tmp_path):
    names = {file.name for file in answer.take_away()}
    assert names >= {"laws.json", "report.html", "law.sql", "law.c", "law.py", "law.tex"}
    for file in answer.take_away():
        file.write(tmp_path / file.name)
        assert (tmp_path / file.name).stat().st_size > 20, file.name
        assert answer.file_for(f"other.{file.name.split('.', 1)[1]}").media_type == file.media_type
    assert answer.file_for("model.anything") is None


def test_what_is_there_to_copy_does_the_same(answer):
    assert answer.command.endswith("gas.csv --target p --functions none")
    copied = {}
    exec(answer.python, copied)
    assert str(copied["model"].laws_[0]) == str(answer.model.laws_[0])


def test_options_are_checked_and_say_what_helps(table):
    ask = QUESTIONS["laws"].ask
    for options, sentence in (
        ({"targt": "p"}, "has no option 'targt'; it has target"),
        ({"max_time": "soon"}, "--max-time must be a number of at least 0"),
        ({"target": "P"}, "there is no column 'P' .*its columns are 'n'"),
        ({"target": "p", "check": "p = n*T", "functions": "none"}, "leave --functions out"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask(read(table), **options)
    with pytest.raises(ValueError, match="--missing must be one of"):
        Reading(missing="perhaps")


def test_reading_has_the_options_that_are_offered():
    assert [option.name for option in READING] == [field.name for field in fields(Reading)]


def test_a_table_is_described_with_what_helps(tmp_path):
    path = tmp_path / "messy.csv"
    lines = [f"{i},5;2024-01-{i:02};{(i % 2 and 'high') or i};5" for i in range(1, 21)]
    path.write_text("\n".join(["a;day;c;same", *lines, ";2024-02-01;3;5"]))
    description = describe(path)
    a, day, c, same = description.columns
    assert (a.kind, a.n_gaps, a.low, a.high, sum(a.counts)) == ("number", 1, "1.5", "20.5", 20)
    assert (day.kind, day.low, day.high) == ("date", "2024-01-01", "2024-02-01")
    assert c.n_gaps == 10 and same.suspicion == "the same on all rows"
    assert description.first_rows[0] == ("1,5", "2024-01-01", "high", "5")
    remedies = {(r.option, r.value) for problem in description.problems for r in problem.remedies}
    assert remedies >= {("dates", "days"), ("drop", "day"), ("decimal", ","), ("missing", "drop")}
    reading = Reading(dates="days", decimal=",", missing="drop")
    assert describe(path, reading).problems == ()
    json.dumps(description.to_dict())


def test_a_line_of_names_that_is_in_doubt_has_remedies(tmp_path):
    path = tmp_path / "titled.csv"
    path.write_text("operator,Smith\np,V,T\n1,2,3\n3,4,5\n")
    problem = describe(path).problems[0]
    assert [(r.option, r.value) for r in problem.remedies] == [("header_row", 2), ("header_row", 1)]
    assert problem.remedies[0].label == "The names are in line 2"
    with pytest.raises(TableError) as error:
        read(path).reading.opened(path).refuse_doubt()
    assert error.value.remedies[0] == ("header_row", 2)


def test_unix_times_and_a_line_of_units_are_described_as_they_are(tmp_path):
    path = tmp_path / "runs.csv"
    lines = [f"{1_700_000_000 + i / 10};{i},25" for i in range(30)]
    path.write_text("\n".join(["t;x", "s;m", *lines]))
    description = describe(path)
    t = description.columns[0]
    assert (t.low, t.high, t.suspicion) == ("1700000000", "1700000002.9", "")
    assert any("numbers such as '0,25'" in problem.sentence for problem in description.problems)


def test_a_long_table_is_described_by_its_first_rows(tmp_path):
    path = tmp_path / "long.csv"
    np.savetxt(path, np.arange(120_000).reshape(60_000, 2), "%d", ",", header="a,b", comments="")
    description = describe(path)
    assert (description.n_rows, description.n_seen) == (60_000, 50_000)
    assert sum(description.columns[0].counts) == 50_000


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_can_be_read(name, tmp_path):
    path = EXAMPLES[name].write(tmp_path)
    roles = {r: c for r, c in EXAMPLES[name].options.items() if r in ("target", "run", "time")}
    description = describe(path, roles=roles if name != "gas" else {})
    assert description.n_rows == description.n_seen >= 178
    assert (description.problems == ()) == (name != "pump")  # which has gaps to be filled


@pytest.mark.parametrize("options", [{"robust": True}, {"check": "p*V = R*n*T"}, {"target": None}])
def test_a_table_beyond_memory_gets_the_same_answer(tmp_path, monkeypatch, options):
    path = tmp_path / "gas.csv"
    rows = gas(3000)
    rows.loc[7, "p"] *= 2.0
    rows.loc[2500, "T"] = np.nan
    rows.to_csv(path, index=False)
    asked = {"target": "p", **options, **({} if "check" in options else {"functions": "none"})}
    table = read(path, Reading(missing="drop"))
    expected = QUESTIONS["laws"].ask(table, **asked)
    monkeypatch.setattr(settings, "LARGE", 1000)
    monkeypatch.setattr(settings, "FIRST_ROWS", 1000)
    monkeypatch.setattr(settings, "SHOWN_ROWS", 500)
    answer = QUESTIONS["laws"].ask(table, **asked)
    assert answer.heading == expected.heading and answer.found == expected.found
    assert answer.verdict == expected.verdict
    for ours, theirs in zip(answer.equations, expected.equations, strict=True):
        assert ours.text == theirs.text
        for one, other in zip(ours.constants, theirs.constants, strict=True):
            assert one.value == pytest.approx(other.value, rel=1e-9)
            assert one.std == pytest.approx(other.std, rel=1e-6)
    assert "a large table" in " ".join(answer.notes)
    for file in answer.take_away()[:2]:
        file.write(tmp_path / file.name)


def test_rows_of_a_memory_map_leave_memory_again(tmp_path):
    """Pages that were read count as memory: the command grew by 46 bytes per row."""
    path = Path("/proc/self/statm")
    if not path.is_file():
        pytest.skip("it is Linux that says how many pages are in memory")

    def pages_of_files():  # shared pages, 4 KiB or more each
        return int(path.read_text().split()[2])

    numbers = np.arange(8_000_000, dtype=float).reshape(-1, 4)  # 64 MB
    numbers.tofile(tmp_path / "numbers")
    X = np.memmap(tmp_path / "numbers", float, "r", shape=numbers.shape)
    before = pages_of_files()
    last = [frame["c"].iloc[-1] + y[-1] for frame, y in blocks_of(X, list("abc"), with_target=True)]
    assert last[-1] == numbers[-1, 2] + numbers[-1, 3] and len(last) == 8
    assert np.array_equal(rows_of(X, slice(None, None, 7)), numbers[::7])
    assert np.array_equal(rows_of(X, slice(5, 900_000)), numbers[5:900_000])
    assert pages_of_files() - before < 4000  # 16 MB


def test_what_is_wrong_in_the_rest_of_a_large_table_is_named(tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    lines = [f"{i},{i * i}" for i in range(1, 3001)]
    lines[2000] = "high,4"
    path.write_text("\n".join(["a,b", *lines]))
    monkeypatch.setattr(settings, "LARGE", 1000)
    monkeypatch.setattr(settings, "FIRST_ROWS", 1000)
    with pytest.raises(ValueError, match="line 2002, column 'a': 'high' is not a number"):
        QUESTIONS["laws"].ask(read(path), target="b", functions="none")


@pytest.mark.parametrize("tune", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_classes_of_a_table_beyond_memory(tmp_path, monkeypatch, tune):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(4000, 3)), columns=["a", "b", "c"])
    table["kind"] = np.where(table["a"] ** 2 + table["b"] > 0.8, "high", "low")
    table.loc[3500, "b"] = np.nan
    path = tmp_path / "kinds.csv"
    table.to_csv(path, index=False)
    asked = {"target": "kind", "tune": tune, "test_size": 0.25}
    expected = QUESTIONS["classes"].ask(read(path, Reading(missing="drop")), **asked)
    monkeypatch.setattr(settings, "LARGE", 1000)
    monkeypatch.setattr(settings, "FIRST_ROWS", 1000)
    monkeypatch.setattr(settings, "SHOWN_ROWS", 500)
    answer = QUESTIONS["classes"].ask(read(path, Reading(missing="drop")), **asked)
    assert answer.heading == expected.heading
    wrong = [
        int(a.verdict.split("error: ")[1].split("(")[1].split()[0]) for a in (answer, expected)
    ]
    assert abs(wrong[0] - wrong[1]) <= 3  # the SVM of rows in passes stops elsewhere
    if tune:
        assert (
            answer.verdict.split("Chosen")[1].split("Fitted")[0]
            == (expected.verdict.split("Chosen")[1].split("Fitted")[0])
        )
    rows = table.drop(columns="kind").dropna()
    agree = answer.model.predict(rows) == expected.model.predict(rows)
    assert agree.mean() > 0.995
    for file in answer.take_away()[:2]:
        file.write(tmp_path / file.name)
    assert "500 rows" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_columns_that_questions_are_about_are_guessed(tmp_path):
    def guessed(**columns):
        pd.DataFrame(columns).to_csv(tmp_path / "table.csv", index=False)
        return guesses(describe(tmp_path / "table.csv"))

    rows = np.arange(30.0)
    found = guessed(run=["a"] * 15 + ["b"] * 15, time_s=rows % 15, x=rows**2)
    assert found["conserved"] == {"run": "run", "time": "time_s"}
    assert found["motion"] == found["conserved"] and found["outliers"] == {"time": "time_s"}
    assert found["classes"] == {"target": "run"}  # the only column of words
    assert guessed(T=rows, V=rows**2) == {}  # a temperature is no time
    assert guessed(time=["early", "late"] * 15, x=rows)["classes"] == {"target": "time"}
    assert "outliers" not in guessed(time=["early", "late"] * 15, x=rows)
    words = [f"word {i}" for i in range(30)]
    assert "classes" not in guessed(comment=words, x=rows)


def test_classes_of_rows_with_gaps(tmp_path, monkeypatch):
    """Fitted, saved and applied: rows with gaps are judged by the columns they have."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    kind = np.where(rows["a"] > 0, "in", "out")
    rows.iloc[::9, 1] = np.nan
    path, model = tmp_path / "t.csv", tmp_path / "model.json"
    rows.assign(kind=kind).to_csv(path, index=False)

    def asked(missing):
        table = read(path, Reading(missing=missing))
        answer = QUESTIONS["classes"].ask(table, target="kind", test_size=0.0)
        next(file for file in answer.take_away() if file.name == "model.json").write(model)
        return answer

    answer = asked("ignore")
    assert answer.model.missing == "ignore" and "7 of 120 cells are missing" in answer.notes[0]
    for reading in (Reading(), Reading(missing="ignore")):
        lines = apply(model, path, reading).tables[0].rows
        assert [line[0] for line in lines] == answer.model.predict(rows[:10]).tolist()
    asked("drop")
    with pytest.raises(ValueError, match="classifiers that were fitted with it"):
        apply(model, path, Reading(missing="ignore"))
    monkeypatch.setattr(settings, "LARGE", 100)
    monkeypatch.setattr(settings, "FIRST_ROWS", 20)
    with pytest.raises(ValueError, match="needs the rows in memory"):
        asked("ignore")


def test_groups_of_rows_are_held_out_together(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    group = random.permutation(np.repeat(np.arange(12), 5))
    table = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    table["kind"] = np.where(table["a"] > 0, "in", "out")
    table.assign(patient=[f"p{g}" for g in group]).to_csv(tmp_path / "t.csv", index=False)
    table.assign(patient="p").to_csv(tmp_path / "one.csv", index=False)
    seen, fit = [], VanishingClassifierCV.fit

    def watched(model, X, y, groups):
        seen.append((X, groups))
        return fit(model, X, y, groups=groups)

    monkeypatch.setattr(VanishingClassifierCV, "fit", watched)
    asked = {"target": "kind", "group": "patient", "tune": True}
    answer = QUESTIONS["classes"].ask(read(tmp_path / "t.csv"), **asked)
    (fitted, of_fitted), (everything, of_all) = seen
    assert list(everything) == ["a", "b"] and len(np.unique(of_all * 100 + group)) == 12
    places = np.flatnonzero(np.isin(everything["a"], fitted["a"]))
    assert np.array_equal(of_fitted, of_all[places])
    assert 30 < len(places) < 60 and np.bincount(group[places]).tolist().count(5) * 5 == len(places)
    assert f"of {60 - len(places)} rows wrong" in answer.verdict
    with pytest.raises(ValueError, match="'patient' has 1 different value, too few"):
        QUESTIONS["classes"].ask(read(tmp_path / "one.csv"), **asked)


def test_a_picture_says_how_sure_classes_are(tmp_path):
    path = EXAMPLES["wines"].write(tmp_path)
    answer = QUESTIONS["classes"].ask(read(path), target="grower", seed=1)
    (picture,) = answer.pictures()
    drawn = {one.name: one for one in picture.series}
    assert sum(len(one.rows) for one in drawn.values()) == 45
    n_wrong = int(answer.verdict.split("(")[1].split()[0])
    assert len(drawn["wrong"].rows if "wrong" in drawn else ()) == n_wrong
    assert (drawn["right"].y > 1 / 3).all() and (drawn["right"].y <= 1).all()
    assert QUESTIONS["classes"].ask(read(path), target="grower", test_size=0.0).pictures() == ()


def test_pictures_of_a_repair_show_the_rows_that_are_changed(tmp_path):
    path = EXAMPLES["pump"].write(tmp_path)
    answer = QUESTIONS["repair"].ask(read(path))
    cells = {(row[0], row[2]) for table in answer.tables for row in table.rows}
    assert {kind for _, kind in cells} == {"gap", "wrong", "ambiguous"}
    power, loss = answer.pictures()
    for kind, name in (("wrong", "replaced"), ("ambiguous", "in doubt")):
        (shown,) = (one for one in power.series if one.name == name)
        assert set(shown.rows) == {row for row, of in cells if of == kind}
        normal = np.abs(power.series[0].y)
        assert np.abs(shown.y).min() > 5 * np.median(normal)
    gaps = {row for row, kind in cells if kind == "gap"}
    assert not gaps & {row for one in loss.series for row in one.rows}


def test_pictures_of_motion_show_rows_and_where_equations_take_them(tmp_path):
    t = np.tile(np.linspace(0.0, 2.0, 20), 4)
    frame = pd.DataFrame({"run": np.repeat([1, 2, 3, 4], 20), "t": t})
    frame["x"] = np.repeat([1.0, 2.0, 3.0, 4.0], 20) * np.exp(-t)
    frame = frame.sample(frac=1.0, random_state=0)  # rows in no order
    frame.to_csv(tmp_path / "runs.csv", index=False)
    answer = QUESTIONS["motion"].ask(read(tmp_path / "runs.csv"), run="run", time="t")
    (picture,) = answer.pictures()
    rows, line = picture.series
    assert sorted(rows.rows) == list(range(1, 81))
    shown = frame.iloc[np.array(rows.rows) - 1]
    assert np.array_equal(shown["t"], rows.x) and np.array_equal(shown["x"], rows.y)
    assert picture.x_label == "t" and np.isnan(line.y).sum() == 4  # runs are apart
    assert np.nanmax(line.y) == pytest.approx(4.0, rel=1e-3)


def test_sheets_and_encodings_are_remedies(tmp_path):
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        for name in ("Notes", "Data"):
            pd.DataFrame({"x": [1, 2], "y": [2, 4]}).to_excel(book, sheet_name=name, index=False)
    (problem,) = describe(tmp_path / "two.xlsx").problems
    values = [(remedy.option, remedy.value) for remedy in problem.remedies]
    assert values == [("sheet", "Notes"), ("sheet", "Data")]
    assert describe(tmp_path / "two.xlsx", Reading(sheet="Data")).n_rows == 2
    # Beside what else is wrong with the table.
    (tmp_path / "latin.csv").write_bytes("x,größe\n1,2\n2,\n".encode("latin-1"))
    with pytest.raises(TableError) as caught:
        QUESTIONS["laws"].ask(QuestionTable(tmp_path / "latin.csv", Reading()))
    options = [{r.option for r in problem.remedies} for problem in problems_of(caught.value)]
    assert options == [{"encoding"}, {"missing"}]


def test_numbers_of_an_equation_are_those_that_stand_in_it(tmp_path):
    path = EXAMPLES["plant"].write(tmp_path)
    answer = QUESTIONS["outliers"].ask(read(path), time="minute")
    shifted = [e for e in answer.equations if e.text.startswith(("temperature = ", "pressure = "))]
    assert shifted
    for equation in shifted:
        (constant,) = (c.value for c in equation.constants if c.name == "1")
        written = float(equation.text.rpartition(" + ")[2].partition("(")[0])
        assert abs(constant - written) <= 0.5 * 10.0 ** -len(str(written).partition(".")[2])
