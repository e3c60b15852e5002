"""The command line on rules and exports: tables written down, checked, and models written."""

import csv
import json
import sqlite3
import subprocess

import numpy as np
import pytest
from commands import caller, check_failed
from messy import clean, each, missing, written

import vanishing
from vanishing import OAVI, VanishingClassifier, check_law


@pytest.fixture
def call(capsys, monkeypatch):
    for package in ("pandas", "typer", "rich"):
        pytest.importorskip(package)
    return caller(capsys, monkeypatch)


def rows_of_orders(n_rows, seed):
    random = np.random.default_rng(seed)
    pieces, price = random.integers(1, 40, n_rows), random.uniform(2, 30, n_rows).round(2)
    state = random.choice(["open", "paid"], n_rows)
    net = (pieces * price).round(2)
    return [list(row) for row in zip(pieces, price, net, state, strict=True)]


def written_table(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["pieces", "price", "net", "state"], *rows])
    return path


@pytest.fixture
def table(tmp_path):
    return written_table(tmp_path / "orders.csv", rows_of_orders(500, 0))


def test_rules_and_check(call, table, tmp_path):
    outs = [tmp_path / f"rules.{end}" for end in ("json", "sql", "py", "gx.json", "txt")]
    said = call("rules", table, *(part for out in outs for part in ("--out", out)))
    assert said.returncode == 0, said.stderr
    assert "500 rows, 4 columns" in said.stdout and "net = pieces*price, up to " in said.stdout
    assert "state is one of open, paid" in said.stdout
    assert all(out.is_file() for out in outs)
    assert outs[1].read_text().startswith('CREATE TABLE "orders" (')
    sqlite3.connect(":memory:").execute(outs[1].read_text())
    good = written_table(tmp_path / "good.csv", rows_of_orders(200, 1))
    kept = call("check", outs[0], good)
    assert kept.returncode == 0 and "all 200 rows keep all rules" in kept.stdout
    for command in ("predict", "report"):
        refused = call(command, outs[0], good, "--out", tmp_path / "nothing")
        check_failed(refused, "vanishing check lists the rows")
    rows = rows_of_orders(200, 1)
    rows[7][2] += 40.0
    rows[9][3] = "lost"
    bad = written_table(tmp_path / "bad.csv", rows)
    found = tmp_path / "found.csv"
    broken = call("check", outs[0], bad, "--out", found)
    assert broken.returncode == 1 and "2 of 200 rows break a rule" in broken.stdout
    assert "row 8: net is " in broken.stdout and "row 10: state is 'lost'" in broken.stdout
    with found.open() as file:
        assert [row["row"] for row in csv.DictReader(file)] == ["8", "10"]
    document = json.loads(call("check", outs[0], bad, "--json").stdout)
    assert [entry["row"] for entry in document["broken"]] == [8, 10]


def test_check_exits_with_2_where_nothing_can_be_read(call, table, tmp_path):
    rules = tmp_path / "rules.json"
    assert call("rules", table, "--out", rules).returncode == 0
    assert call("check", rules, tmp_path / "none.csv").returncode == 2
    assert call("check", tmp_path / "none.json", table).returncode == 2
    assert call("check", table, table).returncode == 2
    rows = rows_of_orders(50, 1)
    rows[3][2] = "n/a"
    gap = written_table(tmp_path / "gap.csv", rows)
    assert call("check", rules, gap).returncode == 2
    dropped = call("check", rules, gap, "--missing", "drop")
    assert dropped.returncode == 0 and "1 of 50 rows cannot be used" in dropped.stderr
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("pieces,price\n1,2\n")
    lacking = call("check", rules, narrow)
    assert lacking.returncode == 2 and "'net'" in lacking.stderr
    model = tmp_path / "model.json"
    OAVI(psi=0).fit([[0.0, 0.0], [1.0, 1.0]]).save(model)
    other = call("check", model, table)
    assert other.returncode == 2 and "no rules" in other.stderr


def test_options_of_rules(call, table, tmp_path):
    document = json.loads(call("rules", table, "--law", "net = pieces*price", "--json").stdout)
    assert document["rules"][0]["kind"] == "law" and document["table"] == "orders"
    out = tmp_path / "r.sql"
    named = call("rules", table, "--drop", "net", "--out", out, "--table", 'a"b')
    assert named.returncode == 0 and "net" not in named.stdout
    assert out.read_text().startswith('CREATE TABLE "a""b"')
    check_failed(call("rules", table, "--out", tmp_path / "r.xyz"), "must end with", code=2)
    check_failed(call("rules", table, "--law", "net = 7*pieces"), "is no rule of this table")
    check_failed(call("rules", table, "--out", table), "would be overwritten")
    check_failed(call("rules", table, "--only", "state"), "no column of numbers")
    shown = tmp_path / "r.json"
    call("rules", table, "--out", shown)
    assert "state is one of open, paid" in call("show", shown).stdout
    check_failed(call("show", shown, "--latex"), "leave it out", code=2)
    assert "rules" in json.loads(call("show", shown, "--json").stdout)


def test_messy_tables_are_read_with_the_options_that_others_have(call, tmp_path):
    comma = tmp_path / "comma.csv"
    rows = each(lambda i, j, cell: cell.replace(".", ","))
    comma.write_text(written(rows, ";"))
    rules = tmp_path / "rules.json"
    said = call("rules", comma, "--decimal", ",", "--out", rules)
    assert said.returncode == 0 and "c = 2*a*b" in said.stdout, said.stderr
    assert call("check", rules, comma).returncode == 0
    plain = tmp_path / "plain.csv"
    plain.write_text(written(clean()))
    assert call("check", rules, plain, "--decimal", ".").returncode == 0
    gaps = tmp_path / "gaps.csv"
    gaps.write_text(written(missing()))
    assert call("rules", gaps).returncode == 2
    assert call("rules", gaps, "--missing", "drop", "--where", "c > 1").returncode == 0


# -- Exports --------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    random = np.random.default_rng(0)
    X = random.uniform(1, 3, (60, 2))
    path = tmp_path / "law.json"
    check_law("y = k*x0/x1", X, 2.0 * X[:, 0] / X[:, 1]).save(path)
    return path


def test_exports_are_those_of_the_library(call, model, tmp_path):
    from vanishing.export import to_c, to_python, to_sql

    law = vanishing.load(model)
    assert call("export", model, "--to", "sql").stdout == f"{to_sql(law)}\n"
    assert call("export", model, "--to", "c").stdout == to_c(law)
    assert call("export", model, "--to", "python").stdout == to_python(law)
    assert "frac" in call("export", model, "--to", "latex").stdout
    assert "class Model(torch.nn.Module)" in call("export", model, "--to", "torch").stdout
    out = tmp_path / "law.c"
    assert call("export", model, "--to", "c", "--out", out).returncode == 0
    assert out.read_text() == to_c(law)
    assert "onnx" in call("export", "--help").stdout


def test_onnx_is_written_to_files_only(call, model, tmp_path):
    onnx = pytest.importorskip("onnx")
    check_failed(call("export", model, "--to", "onnx"), "needs --out", code=2)
    out = tmp_path / "law.onnx"
    assert call("export", model, "--to", "onnx", "--out", out).returncode == 0
    onnx.checker.check_model(onnx.load(out))


def test_an_export_that_fails_writes_nothing(call, model, tmp_path):
    check_failed(call("export", model, "--to", "java"), "--to must be one of", code=2)
    check_failed(call("export", tmp_path / "none.json", "--to", "c"), "There is no model")
    check_failed(call("export", model, "--to", "c", "--out", model), "would be overwritten")
    rules = tmp_path / "rules.json"
    vanishing.rules_of(vanishing.load(model)).save(rules)
    assert call("export", rules, "--to", "sql").stdout.startswith("CREATE TABLE")
    out = tmp_path / "rules.c"
    out.write_text("as before")
    check_failed(call("export", rules, "--to", "c", "--out", out), "--to sql", code=2)
    assert out.read_text() == "as before"


def test_hostile_names_in_c_and_python_stay_comments_and_texts(call, tmp_path):
    pd = pytest.importorskip("pandas")
    names = ["*/ int main() { return 1; } /*", '"""\nimport os', "x\\"]
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(size=(60, 3)), columns=names)
    path = tmp_path / "m.json"
    VanishingClassifier().fit(X, X[names[0]] > 0.5).save(path)
    source = call("export", path, "--to", "c").stdout
    assert source.count("*/") == source.count("/*") and "\nint main" not in source
    for language in ("python", "torch"):
        compile(call("export", path, "--to", language).stdout, language, "exec")
    file = tmp_path / "m.c"
    file.write_text(source)
    try:
        subprocess.run(["cc", "-c", file, "-o", tmp_path / "m.o"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no C compiler")
