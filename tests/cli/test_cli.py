import csv
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import RUN, caller, check_failed, run
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import LinearSVC

import vanishing
from vanishing import cli
from vanishing.algebra.writing import in_words
from vanishing.constructions import CONSTRUCTIONS
from vanishing.oracles import ORACLES
from vanishing.polynomials import Generators, parse_equation, parse_polynomial

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("rich")

COMMANDS = cli.COMMANDS


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Iris as tables, with text for labels, and models fitted to them."""
    folder = tmp_path_factory.mktemp("cli")
    iris = load_iris(as_frame=True)
    rows = iris.data.assign(species=iris.target_names[iris.target])
    rows.to_csv(folder / "iris.csv", index=False)
    two = rows[rows["species"] != "setosa"]
    two.to_csv(folder / "two.csv.gz", index=False)
    result = run("fit", folder / "iris.csv", "--target", "species", "--out", folder / "iris.json")
    assert result.returncode == 0, result.stderr
    (folder / "fit.txt").write_text(result.stdout)
    result = run(
        *["fit", folder / "two.csv.gz", "--target", "species", "--out", folder / "two.json"],
        *["--oracle", "omp", "--C", 10, "--test-size", 0],
    )
    assert result.returncode == 0, result.stderr
    assert "Held-out" not in result.stdout
    return folder


@pytest.fixture
def out(tmp_path):
    """A folder in which failed runs must leave nothing."""
    folder = tmp_path / "out"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


# -- The command line as such ---------------------------------------------------------------------


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"vanishing {vanishing.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    from typer.testing import CliRunner

    result = CliRunner().invoke(cli.build_app(), [command, "--help"], env={"COLUMNS": "100"})
    assert result.exit_code == 0
    assert f"Example: vanishing {command}" in result.output


def test_the_help_names_what_the_registries_know(call):
    said = " ".join(call("fit", "--help").stdout.replace("│", " ").split())
    assert f"Finds the equations: {', '.join(CONSTRUCTIONS)}." in said
    assert [*CONSTRUCTIONS] == ["oavi", "abm", "avi", "vca", "contrastive"]
    assert f"Of oavi: {', '.join(ORACLES)}." in said
    defaults = {**vanishing.OAVI().get_params(), "C": vanishing.VanishingClassifier().C}
    for name in ("oracle", "psi", "C"):
        assert f"[default: ({defaults[name]})]" in said.split(f" --{name} ")[1].split(" --")[0]
    said = " ".join(call("reproduce", "--help").stdout.replace("│", " ").split())
    for name in ("performance", "figure", "htru", "pcgavi-bb"):
        assert f" {name}" in said
    assert "ORACLES" not in said and "EXPERIMENTS" not in said


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["--help"], 0),
        (["--version"], 0),
        (["predict", "--help"], 0),
        (["fit", "no.csv", "--target", "y", "--out", "m.json", "--algorithm", "abm"], 2),
        (["laws", "no.csv", "--target", "y", "--out", "laws.json"], 2),
        (["predict", "no.json", "no.csv", "--out", "p.csv"], 2),
        (["show", "no.json"], 2),
        (["outliers", "no.csv"], 2),
        (["report", "no.json", "no.csv", "--out", "r.html"], 2),
        (["demo", "--out", "nowhere/demo.html"], 2),
    ],
)
def test_help_and_missing_files_wait_for_no_heavy_package(arguments, code):
    heavy = "numba", "sklearn", "scipy", "pandas", "matplotlib"
    result = run(
        *arguments,
        code="import atexit, sys; "
        f"atexit.register(lambda: print([m for m in {heavy} if m in sys.modules])); {RUN}",
    )
    assert result.returncode == code
    assert result.stdout.endswith("[]\n")


def test_no_command_shows_the_help():
    result = run()
    for command in COMMANDS:
        assert command in result.stdout + result.stderr


def test_help_keeps_what_stands_in_brackets():
    """Rich takes them for markup: the help of --lags ended with "flow"."""
    assert "flow[t-1]" in "".join(run("outliers", "--help").stdout.split())


def test_a_flag_takes_no_value_and_its_help_shows_none():
    printed = run("laws", "--help").stdout
    assert "--robust" in printed and "<bool>" not in printed


@pytest.mark.parametrize("missing", ["pandas", "rich", "typer"])
def test_without_the_extra_one_sentence_says_what_to_install(missing):
    # For the import system, None in sys.modules is a module that does not exist.
    result = run(code=f"import sys; sys.modules[{missing!r}] = None; {RUN}")
    check_failed(result, missing, 'python -m pip install ".[app]"')
    assert result.stdout == ""


def test_the_entry_point_is_declared():
    tomllib = pytest.importorskip("tomllib")
    path = Path(__file__).parents[2] / "pyproject.toml"
    assert tomllib.loads(path.read_text())["project"]["scripts"] == {
        "vanishing": "vanishing.cli:main"
    }


def test_the_package_runs_as_a_module():
    words = [sys.executable, "-m", "vanishing"]
    result = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout) == (0, f"vanishing {vanishing.__version__}\n")
    result = subprocess.run([*words, "laws", "--nonsense"], capture_output=True, text=True)
    assert result.returncode == 2 and "python -m vanishing laws" in result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["questions.reading.QuestionTable.prepared", "VanishingClassifier.fit"]
)
def test_an_interruption_is_a_sentence_and_leaves_nothing(folder, out, name):
    code = (
        "import os, signal, vanishing; from vanishing.cli import main; "
        # A shell that runs the tests in the background has told them to ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"vanishing.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT); main()"
    )
    arguments = ["fit", folder / "iris.csv", "--target", "species", "--out", out / "m.json"]
    check_failed(run(*arguments, code=code), "Interrupted: nothing was written.", code=130)


def test_warnings_are_sentences_without_source_code(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(60, 1)), columns=["a"]).assign(y=np.arange(60) % 2)
    rows.to_csv(tmp_path / "t.csv", index=False)
    code = (
        "import vanishing, warnings; from vanishing.cli import main; "
        "vanishing.VanishingClassifier.fit = lambda *_: "
        "warnings.warn('two\\nlines') or exit(3); main()"
    )
    result = run(
        "fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m.json", code=code
    )
    assert result.stderr == "Warning: two lines\n"


# -- fit ------------------------------------------------------------------------------------------


def test_fit_tells_the_held_out_error_and_the_size(folder):
    said = (folder / "fit.txt").read_text()
    assert "iris.csv: 150 rows, 4 columns" in said
    assert "setosa (50), versicolor (50), virginica (50)" in said
    model = vanishing.load(folder / "iris.json")
    # As fit does it: a stratified quarter is held out, and all rows are fitted to at the end.
    X, y = load_iris(return_X_y=True, as_frame=True)
    expected = vanishing.VanishingClassifier(vanishing.OAVI()).fit(X, y)
    assert model.n_generators_ == expected.n_generators_
    assert list(model.feature_names_in_) == list(X.columns)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X))
    assert f"{model.n_generators_} equations in {model.n_terms_} other terms" in said
    assert f"{100 * model.sparsity_:.0f} % of their coefficients are zero" in said
    assert " of 38 rows wrong, fitted to the other 112)" in said
    assert "Fitted again, to all 150 rows" in said


def test_the_held_out_rows_are_not_fitted_to(call, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(400, 3)), columns=list("abc"))
    rows.assign(y=rng.permutation(np.arange(400) % 2)).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m.json"]
    said = call(*arguments, "--test-size", 0.5, "--seed", 3).stdout
    wrong = int(said.split("error: ")[1].split("(")[1].split(" of 200 rows")[0])
    assert 75 <= wrong <= 125  # labels of noise


def test_tuned(call, folder, tmp_path):
    path = tmp_path / "m.json"
    result = call("fit", folder / "iris.csv", "--target", "species", "--out", path, "--tune")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    model = vanishing.load(path)
    assert isinstance(model, vanishing.VanishingClassifierCV)
    best = model.best_params_
    chosen = f"Chosen by 3-fold cross-validation: psi = {best['psi']:g}, C = {best['C']:g}"
    assert chosen in result.stdout
    iris = pd.read_csv(folder / "iris.csv")
    assert model.score(iris.drop(columns="species"), iris["species"]) > 0.9


@pytest.mark.parametrize(
    "options, transformer",
    [
        (["--psi", 0.01, "--border", "bb"], vanishing.OAVI(psi=0.01, border="bb")),
        (["--algorithm", "abm"], vanishing.ABM()),
        (["--algorithm", "avi", "--border", "gb"], vanishing.AVI(border="gb")),
        (["--algorithm", "vca", "--psi", 0.02], vanishing.VCA(psi=0.02)),
    ],
)
def test_options_become_parameters(call, folder, tmp_path, options, transformer):
    path = tmp_path / "m.json"
    base = ["fit", folder / "iris.csv", "--target", "species", "--out", path, "--test-size", 0]
    result = call(*base, *options, "--drop", "sepal width (cm)")
    assert result.returncode == 0, result.stderr
    model = vanishing.load(path)
    assert type(model.transformer) is type(transformer)
    assert model.transformer.get_params() == transformer.get_params()
    assert model.n_features_in_ == 3
    shown = call("show", path, "--json", "--units", "original")
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--algorithm", "svm"],
        ["--oracle", "delphi"],
        ["--border", "wall"],
        ["--algorithm", "abm", "--oracle", "pcg"],
        ["--algorithm", "vca", "--border", "gb"],
        ["--tune", "--psi", "0.1"],
        ["--psi", "1.5"],
        ["--C", "0"],
    ],
)
def test_options_that_cannot_be_are_usage_errors(call, out, options):
    result = call("fit", "nothing.csv", "--target", "y", "--out", out / "m.json", *options)
    check_failed(result, options[-2] if options[0] != "--tune" else "--tune", code=2)


def test_classes_of_too_few_rows_are_told_with_what_helps(call, folder, tmp_path, out):
    iris = pd.read_csv(folder / "iris.csv")

    def fit(n_rare, *options):
        rare = iris["species"].where(iris.index >= n_rare, "rare")
        iris.assign(species=rare).to_csv(tmp_path / "rare.csv", index=False)
        base = ["fit", tmp_path / "rare.csv", "--target", "species", "--out"]
        return call(*base, out / "m.json", *options)

    check_failed(fit(1), "rows with 'rare': 2 of each", "or hold out none with --test-size 0.")
    check_failed(fit(3, "--tune"), "4 of each", "--test-size 0 or do without --tune.")
    check_failed(fit(1, "--tune"), "4 of each", "You may leave these rows out.")
    check_failed(fit(1, "--tune", "--test-size", 0), "leave these rows out or do without --tune.")
    # Enough in all, but not where the model is fitted.
    options = ["--tune", "--test-size", 0.5]
    check_failed(fit(4, *options), "with 'rare'", "2 would be left to fit to, fewer than 3")
    check_failed(fit(2, "--test-size", 0.9), "0 would be left to fit to, fewer than 1")
    # What the sentences advise is true.
    assert fit(1, "--test-size", 0).returncode == 0
    (out / "m.json").unlink()
    assert fit(3).returncode == 0
    (out / "m.json").unlink()


def test_a_search_tells_how_far_it_is(folder):
    from vanishing.questions import QUESTIONS, read

    seen = []
    with vanishing.listening(lambda *event: seen.append(event[:2])):
        table = read(folder / "iris.csv")
        QUESTIONS["classes"].ask(table, target="species", tune=True, test_size=0)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] == seen[-1][1] > 3


def test_missing_options_are_usage_errors(call, folder, out):
    result = call("fit", folder / "iris.csv", "--out", out / "m.json")
    assert result.returncode == 2
    assert "--target" in result.stderr
    assert "Traceback" not in result.stderr


def test_bad_tables_get_a_sentence_and_leave_nothing(call, tmp_path, out):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    rows = "".join(f"{i},{i % 7},{'pq'[i % 2]}\n" for i in range(20))
    path = written("process.csv", f"a,b,y\n{rows}1,x,p\n")
    result = call("fit", path, "--target", "y", "--out", out / "m.json")
    check_failed(result, "process.csv, line 22, column 'b': 'x' is not a number.")
    for path, *problems in [
        (tmp_path / "no.csv", "There is no file", "no.csv"),
        (written("text.csv", f"a,b,y\n{rows}1,x,p\n"), "line 22", "column 'b'", "'x'"),
        (written("target.csv", f"a,b,z\n{rows}"), "no column 'y'", "'a', 'b', 'z'"),
        (written("one.csv", "a,b,y\n1,2,p\n3,4,p\n"), "only the label 'p'"),
        (written("rare.csv", f"a,b,y\n{rows}1,2,r\n"), "too few rows with 'r'"),
        (written("few.csv", "a,b,y\n1,2,p\n3,4,q\n"), "too few rows with 'p' and 'q'"),
        (written("alone.csv", "y\np\nq\n"), "no column besides 'y'"),
        (written("measured.csv", "a,y\n1,0.5\n2,1.5\n"), "such as 0.5, not classes"),
    ]:
        result = call("fit", path, "--target", "y", "--out", out / "m.json")
        check_failed(result, *problems)
        assert result.stdout == ""


def test_an_output_that_cannot_be_written_is_said_before_anything_is_fitted(call, folder, tmp_path):
    file = tmp_path / "file"
    file.touch()
    data = folder / "two.csv.gz"
    before = data.read_bytes()
    for path, problem in [
        (tmp_path / "nowhere" / "m.json", "there is no folder"),
        (file / "m.json", "there is no folder"),
        (tmp_path, "is a folder"),
        (data, "would be overwritten"),
    ]:
        result = call("fit", data, "--target", "species", "--out", path)
        check_failed(result, problem)
        assert result.stdout == ""
    assert data.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_the_old_file(folder, tmp_path):
    path = tmp_path / "m.json"
    path.write_text("old")
    code = (
        "import os; from vanishing.cli import main\n"
        "def fail(*_): raise OSError(28, 'No space left on device')\n"
        "os.replace = fail; main()"
    )
    arguments = ["fit", folder / "iris.csv", "--target", "species", "--out", path]
    check_failed(run(*arguments, code=code), "No space left on device", "m.json")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# -- predict --------------------------------------------------------------------------------------


def test_predictions_are_the_labels_as_the_file_has_them(folder, tmp_path):
    path = tmp_path / "p.csv"
    result = run("predict", folder / "iris.json", folder / "iris.csv", "--out", path)
    assert result.returncode == 0, result.stderr
    rows = list(csv.reader(path.open()))
    assert rows[0] == ["label", "decision_setosa", "decision_versicolor", "decision_virginica"]
    iris = pd.read_csv(folder / "iris.csv")
    model = vanishing.load(folder / "iris.json")
    X = iris.drop(columns="species")
    assert [row[0] for row in rows[1:]] == model.predict(X).tolist()
    values = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_array_equal(values, model.decision_function(X))
    assert (model.predict(X) == iris["species"]).mean() > 0.9


def test_columns_may_be_more_and_in_another_order_but_not_fewer(call, folder, tmp_path, out):
    two = pd.read_csv(folder / "two.csv.gz")
    other = two.assign(note="<b>", species=np.nan)[[*two.columns[::-1], "note"]]
    other.to_csv(tmp_path / "other.csv", index=False)
    expected = call("predict", folder / "two.json", folder / "two.csv.gz", "--out", "-")
    assert expected.stdout.splitlines()[0] == "label,decision_virginica"
    label, value = expected.stdout.splitlines()[1].split(",")
    assert label == ("virginica" if float(value) > 0 else "versicolor")
    assert len(expected.stdout.splitlines()) == 101
    assert call("predict", folder / "two.json", tmp_path / "other.csv", "--out", "-").stdout == (
        expected.stdout
    )
    two.drop(columns="petal length (cm)").to_csv(tmp_path / "fewer.csv", index=False)
    result = call("predict", folder / "two.json", tmp_path / "fewer.csv", "--out", out / "p.csv")
    check_failed(result, "lacks the column 'petal length (cm)'")


def test_rows_are_evaluated_once(call, folder, tmp_path, monkeypatch):
    rows = []
    combine = Generators.combine

    def counting(generators, X, weights, **options):
        rows.append(len(X))
        return combine(generators, X, weights, **options)

    monkeypatch.setattr(Generators, "combine", counting)
    result = call("predict", folder / "iris.json", folder / "iris.csv", "--out", tmp_path / "p.csv")
    assert result.returncode == 0, result.stderr
    assert rows == [150] * 3  # for the equations of each class


def test_labels_follow_from_the_values_whatever_decides(call, folder, tmp_path):
    iris = pd.read_csv(folder / "iris.csv")
    X, y = iris.drop(columns="species"), iris["species"]
    for final in (LogisticRegression(max_iter=1000), LinearSVC(random_state=0)):
        for keep in (y == y, y != "setosa"):
            model = vanishing.VanishingClassifier(final_estimator=final).fit(X[keep], y[keep])
            model.save(tmp_path / "m.json")
            said = call("predict", tmp_path / "m.json", folder / "iris.csv", "--out", "-").stdout
            labels = [line.split(",")[0] for line in said.splitlines()[1:]]
            assert labels == model.predict(X).tolist()


def test_a_model_of_columns_without_names_takes_them_by_order(call, folder, tmp_path, out):
    iris = pd.read_csv(folder / "iris.csv")
    X, y = iris.drop(columns="species"), iris["species"]
    model = vanishing.VanishingClassifier().fit(X.to_numpy(), y)
    model.save(tmp_path / "m.json")
    X.to_csv(tmp_path / "x.csv", index=False)
    result = call("predict", tmp_path / "m.json", tmp_path / "x.csv", "--out", "-")
    assert (result.returncode, result.stderr) == (0, "")
    labels = [line.split(",")[0] for line in result.stdout.splitlines()[1:]]
    assert labels == model.predict(X.to_numpy()).tolist()
    result = call("predict", tmp_path / "m.json", folder / "iris.csv", "--out", out / "p.csv")
    check_failed(result, "4 columns by their order only", "give a table of these columns alone")
    arguments = ["report", tmp_path / "m.json", folder / "iris.csv", "--target", "species"]
    result = call(*arguments, "--out", tmp_path / "r.html")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("clip", [True, False])
def test_rows_far_outside_are_told_once(call, folder, tmp_path, clip):
    iris = pd.read_csv(folder / "iris.csv")
    X, y = iris.iloc[:, :4], iris.iloc[:, 4]
    vanishing.VanishingClassifier(clip=clip).fit(X, y).save(tmp_path / "m.json")
    iris.iloc[3:77, 0] = 1e300
    pd.concat([iris] * 200).to_csv(tmp_path / "huge.csv", index=False)  # several blocks
    result = call(
        "predict", tmp_path / "m.json", tmp_path / "huge.csv", "--out", tmp_path / "p.csv"
    )
    assert result.returncode == 0
    said = "are far outside of the rows of the fit" if clip else "rows are too large to be numbers"
    assert "14800 of 30000" in result.stderr.replace(",", "") and said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_table_without_rows(call, folder, tmp_path, out):
    pd.read_csv(folder / "iris.csv").head(0).to_csv(tmp_path / "none.csv", index=False)
    arguments = ["predict", folder / "iris.json", tmp_path / "none.csv", "--out", out / "p.csv"]
    check_failed(call(*arguments), "none.csv has no rows.")


def test_predict_with_what_is_no_classifier_or_no_model(call, folder, tmp_path, out):
    vanishing.BuchbergerMoller().fit([[0], [1]]).save(tmp_path / "exact.json")
    damaged = tmp_path / "damaged.json"
    damaged.write_text((folder / "two.json").read_text()[:500])
    for path, problem in [
        (tmp_path / "exact.json", "A BuchbergerMoller predicts nothing for rows"),
        (tmp_path / "no.json", "There is no model"),
        (damaged, "is no model that can be loaded"),
        (folder / "iris.csv", "is no model that can be loaded"),
    ]:
        result = call("predict", path, folder / "iris.csv", "--out", out / "p.csv")
        check_failed(result, problem)


@pytest.mark.parametrize(
    "labels", [["0", "1"], ["0.0", "1.0"], ["no", "yes, really"], ["NA", "01"]]
)
def test_labels_round_trip(call, tmp_path, labels):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], 20) + rng.normal(scale=0.1, size=40)
    y = [labels[int(value > 0.5)] for value in x]
    with gzip.open(tmp_path / "t.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *zip(x, y, strict=True)])
    model, out = tmp_path / "m.json", tmp_path / "p.csv"
    result = call("fit", tmp_path / "t.csv.gz", "--target", "y", "--out", model)
    assert result.returncode == 0, result.stderr
    assert call("predict", model, tmp_path / "t.csv.gz", "--out", out).returncode == 0
    rows = list(csv.reader(out.open()))
    assert rows[0] == ["label", f"decision_{labels[1]}" if labels[0] != "NA" else "decision_NA"]
    assert [row[0] for row in rows[1:]] == y


# -- show -----------------------------------------------------------------------------------------


def shown(call, path, *options):
    result = call("show", path, *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("units", ["scaled", "original"])
def test_json_is_enough_to_predict(call, folder, units):
    document = json.loads(shown(call, folder / "iris.json", "--json", "--units", units))
    iris = pd.read_csv(folder / "iris.csv").drop(columns="species")
    model = vanishing.load(folder / "iris.json")
    assert document["columns"] == list(iris.columns)
    X = iris.to_numpy()
    if units == "scaled":
        X = X * document["scaling"]["scale"] + document["scaling"]["offset"]
    scores = {label: np.full(len(X), value) for label, value in document["intercepts"].items()}
    for part in document["classes"]:
        sizes = []
        for one in part["generators"]:
            monomials = np.prod(X[:, np.newaxis] ** np.array(one["terms"]), axis=2)
            for label, weight in one["weights"].items():
                scores[label] += weight * np.abs(monomials @ one["coefficients"])
            sizes.append(max(map(abs, one["weights"].values())))
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == part["n_decisive"] <= part["n_generators"]
    np.testing.assert_allclose(
        np.column_stack(list(scores.values())), model.decision_function(iris), atol=1e-9
    )


def test_the_text_has_the_equations_their_weights_and_the_scaling(call, folder):
    for units in ("scaled", "original"):
        said = shown(call, folder / "two.json", "--top", 2, "--units", units)
        document = json.loads(
            shown(call, folder / "two.json", "--json", "--top", 2, "--units", units)
        )
        for part in document["classes"]:
            assert f"Class {part['class']}: {part['n_generators']} equations" in said
            assert len(part["generators"]) == min(2, part["n_decisive"])
            for one in part["generators"]:
                # The leading coefficient is 1 in the text, and the weight is of left minus right.
                size = one["coefficients"][-1]
                assert f"{one['weights']['virginica'] * size:+.4g}" in said
                assert in_words(np.sqrt(one["mean_square"]) / size, 2) in said
        assert "A row is of class virginica where" in said
        assert ("petal length (cm): (value - 3) / 3.9" in said) == (units == "scaled")
        assert ("original units" in said) == (units == "original")
    assert said == shown(call, folder / "two.json", "--top", 2)


def test_equations_are_solved_for_their_leading_terms_and_read_back(call, folder):
    document = json.loads(shown(call, folder / "two.json", "--json"))
    assert document["units"] == "original"
    for part in document["classes"]:
        for one in part["generators"]:
            read = parse_equation(one["equation"], document["columns"])
            terms = np.array(one["terms"])
            size = one["coefficients"][-1]
            leading = parse_polynomial(one["equation"].partition(" = ")[0], document["columns"])
            assert leading.terms.tolist() == [one["terms"][-1]] and leading.coef == [1.0]
            written = {tuple(t): c for t, c in zip(read.terms.tolist(), read.coef, strict=True)}
            for term, value in zip(terms.tolist(), one["coefficients"], strict=True):
                found = written.pop(tuple(term), None)
                if found is not None:  # terms that do not matter are left out
                    assert found == pytest.approx(value / size, rel=0.5)
            assert not written


def test_without_a_terminal_an_equation_is_on_one_line(call, folder):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    result = subprocess.run(
        [sys.executable, "-c", RUN, "show", folder / "iris.json", "--units", "original"],
        capture_output=True,
        text=True,
        env=environment,
    )
    equations = [line for line in result.stdout.splitlines() if " = " in line]
    document = json.loads(shown(call, folder / "iris.json", "--json", "--units", "original"))
    for part in document["classes"]:
        for one in part["generators"][:10]:
            assert any(one["equation"] in line for line in equations)


def test_all_shows_equations_without_weight_as_well(call, folder):
    document = json.loads(shown(call, folder / "iris.json", "--json", "--all"))
    for part in document["classes"]:
        assert len(part["generators"]) == part["n_generators"]


def test_latex(call, folder):
    said = shown(call, folder / "two.json", "--latex")
    assert r"\text{petal length (cm)}" in said
    lines = [line for line in said.splitlines() if not line.startswith("%")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"\\text\{.* = .*[^ ]  % weight [-+][\d.e-]+ for class virginica", line)


@pytest.mark.parametrize("units", ["scaled", "original"])
def test_sympy_takes_the_text_whatever_the_columns_are_called(call, tmp_path, units):
    sympy = pytest.importorskip("sympy")
    names = ["beta", "E", "petal length (cm)", "<script>alert('x')</script>", "a\nb"]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(10, 20, size=(60, 5)), columns=names)
    y = (X["beta"] > X["E"]).to_numpy()
    model = vanishing.VanishingClassifier(vanishing.OAVI(0.02)).fit(X, y)
    model.save(tmp_path / "m.json")
    said = shown(call, tmp_path / "m.json", "--sympy", "--all", "--units", units)
    lines = [line for line in said.splitlines() if not line.startswith("#")]
    assert len(lines) == model.n_generators_
    rows = X if units == "original" else model.scaler_.transform(X.to_numpy())
    generators = [g for t in model.features_.transformers_ for g in t.generators_]
    row = dict(zip(map(sympy.Symbol, names), np.asarray(rows)[0], strict=True))
    found = sorted(float(sympy.sympify(line).subs(row)) for line in lines)
    scaled = model.scaler_.transform(X.to_numpy())[:1]
    np.testing.assert_allclose(found, sorted(float(g(scaled)[0]) for g in generators), atol=1e-9)


def test_hostile_names_are_printed_as_they_are(call, tmp_path):
    names = ["[bold]x[/bold]", "[/]", ":smile:", "<script>", "tab\there", "\x1b[31mred"]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(60, 6)), columns=names)
    y = np.where(X.sum(axis=1) > 3, "[red]", "\x1b[0m")
    vanishing.VanishingClassifier(vanishing.OAVI(0.05)).fit(X, y).save(tmp_path / "m.json")
    said = shown(call, tmp_path / "m.json", "--all", "--units", "scaled")
    for name in ["[bold]x[/bold]", "[/]", ":smile:", "<script>", r"tab\there", r"\x1b[31mred"]:
        assert f"{name}: (value" in said
    assert "Class [red]:" in said
    assert "\x1b" not in said
    for option in ("--latex", "--sympy"):
        assert "\x1b" not in shown(call, tmp_path / "m.json", option)


def test_other_models_are_shown_without_weights(call, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X / 10
    vanishing.OAVI().fit(X).save(tmp_path / "oavi.json")
    vanishing.VanishingFeatures(vanishing.VCA()).fit(X, y).save(tmp_path / "features.json")
    said = shown(call, tmp_path / "oavi.json")
    assert "OAVI with psi = 0.005" in said
    assert "nothing was scaled" in said
    assert "weight" not in said
    assert shown(call, tmp_path / "features.json").count("Class ") == 3


def test_what_cannot_be_shown(call, folder, tmp_path):
    X, y = load_wine(return_X_y=True)
    vanishing.VanishingClassifier(scale="quantile").fit(X, y).save(tmp_path / "q.json")
    check_failed(call("show", tmp_path / "q.json", "--units", "original"), "QuantileTransformer")
    assert QuantileTransformer.__name__ in shown(call, tmp_path / "q.json")
    vanishing.L1SquaredHingeSVC().fit(X, y).save(tmp_path / "svm.json")
    check_failed(call("show", tmp_path / "svm.json"), "no equations")
    check_failed(call("show", folder / "iris.json", "--json", "--latex"), "Choose one", code=2)
    check_failed(call("show", folder / "iris.json", "--units", "mine"), "--units", code=2)


def test_the_weights_are_the_classifier_s(call, folder):
    model = vanishing.load(folder / "iris.json")
    document = json.loads(shown(call, folder / "iris.json", "--json"))
    weights = [
        list(one["weights"].values()) for part in document["classes"] for one in part["generators"]
    ]
    assert np.count_nonzero(weights) == np.count_nonzero(model.final_estimator_.coef_)


def test_values_are_absolute_where_features_are(call, folder, tmp_path):
    iris = pd.read_csv(folder / "iris.csv")
    X, y = iris.drop(columns="species"), iris["species"]
    for keep in (y == y, y != "setosa"):
        for absolute in (True, False):
            model = vanishing.VanishingClassifier(vanishing.OAVI(absolute=absolute))
            model.fit(X[keep], y[keep]).save(tmp_path / "m.json")
            said = shown(call, tmp_path / "m.json")
            assert ("times |left - right side|" in said) == absolute
            assert ("times left minus right side" in said) == (not absolute)
            document = json.loads(shown(call, tmp_path / "m.json", "--json"))
            assert document["absolute"] is absolute


def test_exact_and_scaled_models_are_shown(call, tmp_path):
    vanishing.BuchbergerMoller().fit([[0, 0], [1, 1], [2, 2]]).save(tmp_path / "exact.json")
    assert " x1 = x0 " in shown(call, tmp_path / "exact.json")
    assert '"coefficients": ["-1", "1"]' in shown(call, tmp_path / "exact.json", "--json")
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), vanishing.VanishingClassifier()).fit(X, y)
    vanishing.save(pipeline, tmp_path / "pipeline.json")
    said = shown(call, tmp_path / "pipeline.json")
    assert "petal width (cm)" in said
    assert "x3" not in said
    document = json.loads(shown(call, tmp_path / "pipeline.json", "--json"))
    assert document["scaling"]["by"] == "StandardScaler and MinMaxScaler"
    scaled = X * document["scaling"]["scale"] + document["scaling"]["offset"]
    np.testing.assert_allclose([scaled.min(), scaled.max()], [[0] * 4, [1] * 4], atol=1e-12)


# -- report and demo ------------------------------------------------------------------------------


def test_report(call, folder, tmp_path, out):
    path = tmp_path / "r.html"
    result = call("report", folder / "iris.json", folder / "iris.csv", "--out", path)
    assert result.returncode == 0, result.stderr
    assert str(path) in result.stdout
    assert "virginica" in path.read_text(encoding="utf-8")

    iris = pd.read_csv(folder / "iris.csv")
    iris.assign(more=1).to_csv(tmp_path / "more.csv", index=False)
    iris.assign(species="rose").to_csv(tmp_path / "rose.csv", index=False)
    # The command line has saved which column the labels were in, and Python has not.
    result = call("report", folder / "iris.json", tmp_path / "more.csv", "--out", path)
    assert result.returncode == 0, result.stderr
    vanishing.load(folder / "iris.json").save(tmp_path / "iris.json")
    arguments = ["report", tmp_path / "iris.json", tmp_path / "more.csv", "--out", out / "r.html"]
    check_failed(call(*arguments), "'species' and 'more'", "--target")
    check_failed(call(*arguments, "--target", "colour"), "no column 'colour'")
    arguments[2] = tmp_path / "rose.csv"
    check_failed(call(*arguments), "'rose', which is no class of the model")
    arguments[2] = tmp_path / "no.csv"
    check_failed(call(*arguments), "There is no file")


@pytest.mark.slow
def test_demo(call, tmp_path):
    path = tmp_path / "demo.html"
    result = call("demo", "--out", path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    for part in [
        "E = m*(9.807(3)*h + 0.500(1)*v^2)",
        "No law of E was found",
        "vanishing laws table.csv",
        "power = 0.003399(2)*flow*head",
        "row 58 is the oddest of all: its flow is 55.6, where the other columns say 51.8",
        "vanishing outliers table.csv",
        "y^2 = 0.9963 - 0.991*x^2",
        "polynomial SVM",
        "of 360",
        "flavanoids = 0.47",
        "In words: ",
        str(path),
        "vanishing fit table.csv",
    ]:
        assert part in result.stdout
    assert path.stat().st_size > 1000
    for name, words in (("outliers", "Readings of a pump"), ("motion", "Prey and predators")):
        other = path.with_stem(f"demo_{name}")
        assert str(other) in result.stdout and words in other.read_text(encoding="utf-8")
    assert max(len(line) for line in result.stdout.splitlines() if ".html" not in line) <= 100


def test_the_demo_without_a_place_for_its_report(call, out):
    check_failed(call("demo", "--out", out / "nowhere" / "demo.html"), "there is no folder")


@pytest.mark.slow
def test_warm_up_fits_everything_once(call):
    result = call("warm-up")
    assert result.returncode == 0, result.stderr
    for words in ("which law holds?", "which rows break it?", "how does it move?", "is in "):
        assert words in result.stdout
