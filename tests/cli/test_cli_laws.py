"""The command line on laws: found, checked, shown, used, reported; and nothing is executed."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed, run
from tables_of_laws import circle, gas, nothing

import vanishing
from vanishing import Law, LawFinder

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")

UNITS = 'n = "mol"\nT = "K"\nV = "m^3"\np = "Pa"\n'
CODE = "__import__('os').system('touch pwned')"


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, and what was found in them."""
    folder = tmp_path_factory.mktemp("laws")
    for name, table, target in (
        ("gas", gas(), "p"),
        ("circle", circle(), None),
        ("nothing", nothing(), "y"),
    ):
        table.to_csv(folder / f"{name}.csv", index=False)
        X, y = (table, None) if target is None else (table.drop(columns=target), table[target])
        LawFinder(functions=()).fit(X, y).save(folder / f"{name}.json")
    return folder


@pytest.fixture
def out(tmp_path):
    """A folder in which failed runs must leave nothing."""
    folder = tmp_path / "out"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def squeezed(text):
    return " ".join(text.split())


# -- laws -----------------------------------------------------------------------------------------


def test_a_form_of_ones_own(call, tmp_path, out):
    rng = np.random.default_rng(0)
    S = rng.uniform(0.1, 9, 80)
    v = 4.2 * S / (1.7 + S) + 0.02 * rng.normal(size=80)
    data, path = tmp_path / "rates.csv", tmp_path / "laws.json"
    pd.DataFrame({"S": S, "v": v}).to_csv(data, index=False)
    asked = ["laws", data, "--target", "v", "--functions", "none", "--form", "A*x/(K + x)"]
    result = call(*asked, "--form", "A*x^p", "--out", path)
    assert result.returncode == 0
    assert "Form A*x/(K + x) with A = 4." in squeezed(result.stdout)
    assert set(vanishing.load(path).laws_[0].constants) == {"A", "K"}
    for arguments in (["--form", "A*w"], ["--form", "A*x/(K"], ["--form", "A*x", "--check", "v=S"]):
        result = call("laws", data, "--target", "v", *arguments, "--out", out / "no.json")
        check_failed(result, "form", code=2)
    result = call("laws", data, "--form", "A*x", "--out", out / "no.json")
    check_failed(result, "--target", code=2)


def test_from_a_table_to_a_law(folder, tmp_path):
    path = tmp_path / "laws.json"
    result = run("laws", folder / "gas.csv", "--target", "p", "--functions", "none", "--out", path)
    assert (result.returncode, result.stderr) == (0, "")
    finder = vanishing.load(path)
    expected = vanishing.load(folder / "gas.json")
    assert finder.get_params() == expected.get_params()
    assert str(finder.laws_[0]) == str(expected.laws_[0])
    law = finder.laws_[0]
    said = squeezed(result.stdout)
    assert "gas.csv: 400 rows, 4 columns, of which 'p' is the target" in said
    for part in (str(law), law.verdict, f"{-law.coef[1]:.4f}", f"{law.coef_std[1]:.2g}"):
        assert part in said
    assert f"-> 2 {law.error:.4g} {law}" in said  # the front
    assert f"Saved as {path}" in said


def test_no_law_is_an_answer_that_is_saved(call, folder, tmp_path):
    path = tmp_path / "laws.json"
    arguments = ["laws", folder / "nothing.csv", "--target", "y", "--functions", "none"]
    result = call(*arguments, "--out", path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "No law of y was found" in result.stdout
    assert vanishing.load(path).laws_ == []


def test_without_a_target_laws_are_among_all_columns(call, folder, tmp_path):
    path = tmp_path / "laws.json"
    result = call("laws", folder / "circle.csv", "--functions", "none", "--out", path)
    assert result.returncode == 0, result.stderr
    finder = vanishing.load(path)
    assert finder.target_name_ is None and finder.n_features_in_ == 2
    assert str(finder.laws_[0]) in squeezed(result.stdout)
    assert "the sum of these coefficients times terms is 0" in result.stdout


@pytest.mark.parametrize(
    "options, expected",
    [
        (["--functions", "sin,cos"], {"functions": ("sin", "cos")}),
        (["--noise", "estimate", "--max-time", 900], {"noise": "estimate", "max_time": 900.0}),
        (["--noise", "0.001"], {"noise": 0.001}),
        (["--robust"], {"robust": True}),
    ],
)
def test_options_become_parameters(call, folder, tmp_path, options, expected):
    path = tmp_path / "laws.json"
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--out", path, "--drop", "T"]
    assert call(*arguments, *options).returncode == 0
    finder = vanishing.load(path)
    assert list(finder.feature_names_in_) == ["n", "V"]
    assert finder.verbose == 0
    assert {name: getattr(finder, name) for name in expected} == expected


def test_noise_by_column_leaves_that_of_the_target_to_be_estimated(call, folder, tmp_path):
    path = tmp_path / "laws.json"
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--out", path]
    assert call(*arguments, "--noise", "T=1", "--noise", "V=1e-5").returncode == 0
    np.testing.assert_array_equal(vanishing.load(path).noise, [0, 1, 1e-5])
    assert call(*arguments, "--noise", "p=1000").returncode == 0
    np.testing.assert_array_equal(vanishing.load(path).noise, [0, 0, 0, 1000])


def test_an_equation_is_checked(call, folder, tmp_path):
    path = tmp_path / "law.json"
    arguments = ["laws", folder / "gas.csv", "--out", path]
    result = call(*arguments, "--target", "p", "--check", "p*V = R*n*T")
    assert result.returncode == 0, result.stderr
    law = vanishing.load(path)
    assert isinstance(law, Law)
    value, std = law.constants["R"]
    assert abs(value - 8.314) < 4 * std
    said = squeezed(result.stdout)
    assert "holds: rms error" in said and f"R {value:.4f} {std:.2g}" in said
    result = call(*arguments, "--target", "p", "--check", "p*V = R*n")
    assert result.returncode == 0
    assert "does not hold: " in result.stdout
    assert vanishing.load(path).verdict in squeezed(result.stdout)
    assert call(*arguments, "--check", "p*V = R*n*T", "--robust").returncode == 0
    assert vanishing.load(path).target is None


def test_units(call, folder, tmp_path):
    pytest.importorskip("pint")
    units, path = tmp_path / "units.toml", tmp_path / "laws.json"
    units.write_text(UNITS)
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--units", units, "--out", path]
    result = call(*arguments, "--functions", "none")
    assert result.returncode == 0, result.stderr
    assert "[J/(mol K)]*n*T/V" in squeezed(result.stdout)
    assert vanishing.load(path).units == {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
    result = call(*arguments, "--check", "p*V = R*n*T")
    assert "J/(mol K); no column" in squeezed(result.stdout)
    constants = UNITS + 'R = "8.314 J/(mol K)"\n'
    units.write_text(constants)
    result = call(*arguments, "--functions", "none", "--homogeneous")
    assert result.returncode == 0, result.stderr
    assert "R*n*T/V" in squeezed(result.stdout)
    # Units of columns that are left out do not matter.
    result = call(*arguments, "--functions", "none", "--drop", "n")
    assert result.returncode == 0, result.stderr


def test_files_of_units_that_cannot_be_used(call, folder, tmp_path, out, monkeypatch):
    pytest.importorskip("pint")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "units.toml"
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--units", path]
    arguments += ["--out", out / "laws.json"]
    check_failed(call(*arguments), "There is no file", "units.toml")
    for text, *problems in [
        (UNITS + 'q = "N"\n', "units.toml", "'q', which is no column"),
        (UNITS.replace('"K"', "3"), "units.toml", "'T' must be text"),
        (UNITS.replace('"K"', '"K'), "units.toml is no TOML", "line 2"),
        (UNITS.replace('"K"', '"wibble"'), "column 'T'"),
        (UNITS.replace('"K"', f'"{CODE}"'), "is no unit (column 'T')"),
        (UNITS.replace('"K"', '"9**9**9**9"'), "is no unit (column 'T')"),
        (UNITS.replace('T = "K"\n', ""), "no entry for 'T'"),
        ("[n]\nT = 'K'\n", "'n' must be text"),
    ]:
        path.write_text(text)
        check_failed(call(*arguments), *problems)
    path.write_bytes(b"\xff\xfe")
    check_failed(call(*arguments), "is no TOML")
    arguments[5] = tmp_path
    check_failed(call(*arguments), "is a folder")
    assert not list(tmp_path.glob("**/pwned"))


@pytest.mark.parametrize(
    "options, problem",
    [
        (["--functions", "sin,wave"], "'wave'"),
        (["--functions", CODE], "--functions must be"),
        (["--noise", "-1"], "not negative; got '-1'"),
        (["--noise", "lots"], "got 'lots'"),
        (["--noise", "T=1", "--noise", "2"], "names no column"),
        (["--homogeneous"], "--homogeneous needs --units"),
        (["--max-time", "0"], "--max-time must be positive"),
        (["--check", "p = n", "--homogeneous"], "leave --homogeneous out"),
    ],
)
def test_options_that_cannot_be_are_usage_errors(call, folder, out, options, problem):
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--out", out / "laws.json"]
    check_failed(call(*arguments, *options), problem, code=2)


@pytest.mark.parametrize(
    "equation", [CODE, "p = n if 1 else 2", "p = (lambda: n)()", "p = n[0]", "p = ", "q = 2", "("]
)
def test_equations_are_read_and_never_run(call, folder, out, tmp_path, monkeypatch, equation):
    monkeypatch.chdir(tmp_path)
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--out", out / "law.json"]
    check_failed(call(*arguments, "--check", equation))
    assert not list(tmp_path.glob("**/pwned"))


def test_bad_tables_get_a_sentence_and_leave_nothing(call, folder, tmp_path, out):
    table = tmp_path / "t.csv"
    arguments = ["laws", table, "--target", "y", "--out", out / "laws.json"]
    check_failed(call(*arguments), "There is no file")
    for text, *problems in [
        ("a,y\n1,2\n3,x\n", "line 3, column 'y': 'x' is not a number"),
        ("a,y\n1,2\n3,\n", "line 3, column 'y': the cell is empty"),
        ("a,b\n1,2\n", "no column 'y'"),
        ("y\n1\n", "too few columns"),
        ("a,y\n1,2\n3,4\n", "at least 3 are needed"),
    ]:
        table.write_text(text)
        check_failed(call(*arguments), *problems)
    check_failed(call(*arguments[:-1], table), "would be overwritten")
    arguments = ["laws", folder / "gas.csv", "--noise", "q=1", "--out", out / "laws.json"]
    check_failed(call(*arguments), "'q', which is no column")


def test_an_interruption_leaves_nothing(folder, out):
    code = (
        "import os, signal; from vanishing import LawFinder; from vanishing.cli import main; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "LawFinder.fit = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT); main()"
    )
    arguments = ["laws", folder / "gas.csv", "--target", "p", "--out", out / "laws.json"]
    check_failed(run(*arguments, code=code), "Interrupted: nothing was written.", code=130)


def test_names_from_outside_stay_names(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["[bold]x[/bold]", "\x1b[31mred", CODE, "=1+1"]
    table = gas()
    table.columns = names
    table.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "laws.json"
    arguments = ["laws", tmp_path / "t.csv", "--target", names[3], "--functions", "none"]
    result = call(*arguments, "--out", path)
    assert result.returncode == 0, result.stderr
    for said in (result.stdout, *(call("show", path, o).stdout for o in ("--latex", "--json"))):
        assert "\x1b" not in said
        assert "red" in said
    assert r"[[bold]x[/bold]]" in result.stdout
    prediction = call("predict", path, tmp_path / "t.csv", "--out", "-")
    assert prediction.returncode == 0 and prediction.stdout.splitlines()[0] == "=1+1"
    assert not list(tmp_path.glob("**/pwned"))


# -- show -----------------------------------------------------------------------------------------


def test_formats(call, folder):
    law = vanishing.load(folder / "gas.json").laws_[0]
    assert str(law) in call("show", folder / "gas.json").stdout
    assert law.to_latex() in call("show", folder / "gas.json", "--latex").stdout.splitlines()
    document = json.loads(call("show", folder / "gas.json", "--json").stdout)
    assert document["holds"] and document["columns"] == ["n", "T", "V", "p"]
    (found,) = document["laws"]
    assert found["coefficients"] == law.coef.tolist()
    assert found["error"] == law.error and found["equation"] == str(law)
    assert float(found["evidence"]) == law.evidence
    assert document["front"]


def test_json_has_no_infinity(call, tmp_path):
    X = np.random.default_rng(0).uniform(1, 2, (50, 2))
    finder = vanishing.LawFinder().fit(X, X[:, 0] * X[:, 1])
    assert finder.laws_[0].evidence == np.inf
    finder.save(tmp_path / "exact.json")
    document = json.loads(call("show", tmp_path / "exact.json", "--json").stdout)
    assert document["laws"][0]["evidence"] == "inf"


def test_sympy_takes_the_line(call, folder):
    sympy = pytest.importorskip("sympy")
    said = call("show", folder / "gas.json", "--sympy").stdout.splitlines()
    assert said[0].startswith("# ")
    law = vanishing.load(folder / "gas.json").laws_[0]
    assert sympy.sympify(said[1]) == law.to_sympy()


def test_what_has_no_law_is_shown(call, folder):
    result = call("show", folder / "nothing.json")
    assert result.returncode == 0
    assert "No law of y was found" in result.stdout
    assert json.loads(call("show", folder / "nothing.json", "--json").stdout)["laws"] == []


# -- predict --------------------------------------------------------------------------------------


def test_predictions_have_the_name_of_the_target(call, folder, tmp_path):
    path = tmp_path / "p.csv"
    result = call("predict", folder / "gas.json", folder / "gas.csv", "--out", path)
    assert (result.returncode, result.stderr) == (0, "")
    rows = list(csv.reader(path.open()))
    assert rows[0] == ["p"]
    finder = vanishing.load(folder / "gas.json")
    expected = finder.predict(pd.read_csv(folder / "gas.csv")[["n", "T", "V"]])
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 0], expected)


def test_a_law_can_be_solved_for_another_column(call, folder, tmp_path, out):
    table = pd.read_csv(folder / "gas.csv")
    path = tmp_path / "t.csv"
    table.drop(columns="V").to_csv(path, index=False)
    result = call("predict", folder / "gas.json", path, "--column", "V", "--out", "-")
    values = np.array(result.stdout.splitlines()[1:], dtype=float)
    np.testing.assert_allclose(values, table["V"], rtol=0.1)
    arguments = ["predict", folder / "gas.json", path, "--out", out / "p.csv"]
    check_failed(call(*arguments), "lacks the column 'V', which the law needs")
    check_failed(call(*arguments, "--column", "q"), "'q' does not occur")


def test_rows_without_a_solution_are_empty_and_counted(call, folder, out):
    arguments = ["predict", folder / "circle.json", folder / "circle.csv"]
    result = call(*arguments, "--column", "x", "--out", "-")
    cells = result.stdout.splitlines()[1:]
    n_empty = sum(cell in ("", '""') for cell in cells)
    assert len(cells) == 400 and 0 < n_empty < 40
    assert f"no solution on {n_empty} of 400 rows" in result.stderr
    check_failed(call(*arguments, "--out", out / "p.csv"), "with --column, of 'x' and 'y'")


def test_what_has_no_law_predicts_nothing(call, folder, out):
    arguments = ["predict", folder / "nothing.json", folder / "nothing.csv"]
    check_failed(call(*arguments, "--out", out / "p.csv"), "There is no law to predict with")


def test_columns_without_names_are_taken_by_their_order(call, folder, tmp_path):
    table = gas()
    finder = LawFinder(functions=()).fit(table[["n", "T", "V"]].to_numpy(), table["p"].to_numpy())
    finder.save(tmp_path / "laws.json")
    table[["n", "T", "V"]].to_csv(tmp_path / "t.csv", index=False)
    result = call("predict", tmp_path / "laws.json", tmp_path / "t.csv", "--out", "-")
    assert result.stdout.splitlines()[0] == "y"
    values = np.array(result.stdout.splitlines()[1:], dtype=float)
    np.testing.assert_allclose(values, table["p"], rtol=0.1)


# -- report ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gas", "circle", "nothing"])
def test_report(call, folder, tmp_path, name):
    path = tmp_path / "report.html"
    result = call("report", folder / f"{name}.json", folder / f"{name}.csv", "--out", path)
    assert result.returncode == 0, result.stderr
    assert str(path) in squeezed(result.stdout).replace(" ", "")
    assert f"Laws of {name}.csv" in path.read_text(encoding="utf-8")


def test_reports_that_cannot_be(call, folder, tmp_path, out):
    gas().drop(columns="T").to_csv(tmp_path / "t.csv", index=False)
    arguments = ["report", folder / "gas.json", tmp_path / "t.csv", "--out", out / "r.html"]
    check_failed(call(*arguments), "lacks the column 'T', which a report of the laws needs")
    check_failed(call(*arguments, "--target", "V"), "the laws have their own, 'p'", code=2)


def test_column_is_for_laws(call, folder, tmp_path, out):
    X = np.random.default_rng(0).uniform(size=(40, 2))
    model = vanishing.VanishingClassifier().fit(X, X[:, 0] > 0.5)
    model.save(tmp_path / "m.json")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["predict", tmp_path / "m.json", tmp_path / "t.csv", "--out", out / "p.csv"]
    check_failed(call(*arguments, "--column", "a"), "--column is for laws", code=2)
