"""Files and names from strangers are data: nothing in them is run, and what is wrong is said."""

import ast
import gzip
import hashlib
import json
import pickle
import re
import subprocess
import sys
import tracemalloc
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import vanishing
from vanishing import OAVI, Moments, VanishingClassifier, cli, datasets
from vanishing.experiments import protocol
from vanishing.experiments.protocol import FIGURE_PSIS
from vanishing.experiments.records import Key, RecordError, Records
from vanishing.experiments.reproduce import Experiment
from vanishing.export import to_python
from vanishing.persistence import ModelFileError
from vanishing.polynomials import Polynomial
from vanishing.report import write_report
from vanishing.rows.moments import MomentsFileError
from vanishing.tables.errors import TableError
from vanishing.tables.formats import open_table
from vanishing.tables.labels import classes_of
from vanishing.tables.numbers import number_blocks

SOURCE = Path(vanishing.__file__).parent
X, Y = load_iris(return_X_y=True)
pytestmark = pytest.mark.filterwarnings("ignore")


# -- The source -----------------------------------------------------------------------------------

RUNS_CODE = {"eval", "exec", "compile", "__import__", "import_module", "sympify", "parse_expr"}
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "runpy", "code"}
MODULES |= {"subprocess", "ctypes", "imp", "joblib"}
HARMLESS = {("joblib", "effective_n_jobs")}
HARMLESS |= {("subprocess", name) for name in ("DEVNULL", "PIPE", "Popen")}  # looked at below


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_nothing_runs_what_it_reads(path):
    # Public names are imported by their table, which is all that it knows.
    runs_code = RUNS_CODE - {"import_module"} if path == SOURCE / "_names.py" else RUNS_CODE
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module, alias.name) for alias in node.names}
            assert (node.module or "").split(".")[0] not in MODULES or names <= HARMLESS
            assert not {alias.name for alias in node.names} & runs_code
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in runs_code
                if called.id == "Popen":  # starts our own modules, and no shell
                    assert ast.unparse(node.args[0]).startswith(
                        "[sys.executable, '-m', 'vanishing."
                    )
            elif isinstance(called, ast.Attribute):
                assert called.attr not in runs_code - {"compile"}  # re's is harmless
                assert ast.unparse(called) not in ("os.system", "os.popen")
            assert not {"allow_pickle", "shell"} & {keyword.arg for keyword in node.keywords}


# -- Names ----------------------------------------------------------------------------------------

NAMES = [
    "<script>alert(1)</script>",
    "\" onload='alert(1)'",
    "'); import os; os.system('true') #",
    "__import__('os').system('true')",
    "back\\slash",
    "two\nlines\n\nand a paragraph",
    "\r\x1b[31m\x00\x9b",
    r"\input{/etc/passwd}",
    r"}\end{document}{",
    "$%&#_{}~^",
    "100% of $x_1$",
    "\u202etxt.exe\u202c",
    "\u2028line\u2029",
    "",
    " ",
    "x1",  # of column 15
    "lambda",
    "S",
    "N",
    "E1",
    "I",
    "beta",
    "2",
    "1e5",
    "Symbol('x')",
    "=cmd|'/c calc'!A0",
    "{0.__class__}",
    "%s%n",
    "\ud800",
    "n" * 10_000,
]


def polynomial_in(*names):
    """The sum of the squares of some columns, less 1."""
    terms = np.vstack([np.zeros(len(names), dtype=int), 2 * np.eye(len(names), dtype=int)])
    return Polynomial(terms, [-1.0, *[1.0] * len(names)], feature_names=names)


def test_text_is_on_one_line_and_printable():
    text = str(polynomial_in(*NAMES))
    assert text.isprintable()
    assert r"[two\nlines\n\nand a paragraph]^2" in text
    assert "[2]^2 + " in text  # and not the square of 2


def test_latex_has_no_commands_but_its_own():
    for name in NAMES:
        latex = polynomial_in(name, "y").to_latex()
        assert latex.isprintable()
        commands = re.findall(r"\\([A-Za-z]+|.)", latex)
        assert set(commands) <= {
            *["text", "textbackslash", "textasciicircum", "textasciitilde"],
            *"&%$#_{}",
        }
        bare = re.sub(r"\\([A-Za-z]+|.)", "", latex)
        assert not set(bare) & set("%$#&~\\")
        depth = np.cumsum([(c == "{") - (c == "}") for c in bare])
        assert depth.min() >= 0 and depth[-1] == 0
        inside = re.sub(r"\^\{2\}|_\{1?[0-9]\}", "", bare)
        assert not set(inside) & set("^_")


def test_sympy_takes_names_for_symbols_and_nothing_else():
    sympy = pytest.importorskip("sympy")
    for name in NAMES:
        polynomial = polynomial_in(name, "y")
        text = polynomial.write("sympy")
        assert text.isprintable()
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert [call.func.id for call in calls] == ["Symbol", "Symbol"]
        assert {call.args[0].value for call in calls} == {name, "y"}
        symbols = [sympy.Symbol(name), sympy.Symbol("y")]
        for expression in (polynomial.to_sympy(), sympy.sympify(text)):
            assert expression.free_symbols == set(symbols)
            assert float(expression.subs(dict(zip(symbols, (3, 2), strict=True)))) == 12.0


def test_columns_of_one_name_are_not_mixed_up():
    pytest.importorskip("sympy")
    polynomial = Polynomial([[0, 1, 0], [1, 0, 0]], [-1.0, 1.0], feature_names=["a", "a", "a"])
    for write in (Polynomial.to_sympy, lambda p: p.write("sympy")):
        with pytest.raises(ValueError, match="two columns are called 'a'"):
            write(polynomial)
    other = Polynomial([[0, 0], [1, 0]], [-1.0, 1.0], feature_names=["a", "a"])
    assert str(other.to_sympy()) == "1.0*a - 1.0"


class Elements(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]


@pytest.fixture(scope="module")
def plain():
    """A classifier whose labels alone are hostile, and its rows."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((90, len(NAMES)))).rename(columns="c{}".format)
    labels = np.array(NAMES[:3], dtype=object)[np.arange(90) % 3]
    model = VanishingClassifier(OAVI(0.05, max_degree=1)).fit(rows, labels)
    assert model.n_generators_
    return model, rows.to_numpy(), labels


@pytest.fixture(scope="module")
def hostile(plain, tmp_path_factory):
    """The same from a file in which someone has changed the names of the columns."""
    path = tmp_path_factory.mktemp("hostile") / "m.json"
    plain[0].save(path)
    text = path.read_text(encoding="utf-8")
    for i, name in enumerate(NAMES):
        text = text.replace(f'"c{i}"', json.dumps(name))
    path.write_text(resigned(text), encoding="utf-8")
    return vanishing.load(path), *plain[1:]


def resigned(text):
    """Give an altered model file the checksum that fits."""
    text = re.sub('("sha256": ")[0-9a-f]{64}', r"\g<1>" + "0" * 64, text, count=1)
    return text.replace("0" * 64, hashlib.sha256(text.encode()).hexdigest(), 1)


def test_pages_hold_no_element_of_a_name(hostile, plain, tmp_path):
    pages = []
    for model, rows, labels in (hostile, plain):
        report = write_report(model, rows, labels, tmp_path / "r.html")
        pages.append((model._repr_html_(), report.read_text(encoding="utf-8")))
    for page, other in zip(*pages, strict=True):
        found, expected = Elements(page), Elements(other)
        assert found.tags.count("script") == expected.tags.count("script")
        assert set(found.tags) <= set(expected.tags) | {"bdi", "sub"}
        assert set(found.attributes) <= set(expected.attributes) | {"title"}
        assert not re.search("[\x00-\x08\x1b\x80-\x9f]", page)


def test_exported_source_holds_names_as_text(hostile):
    model, rows, _ = hostile
    source = to_python(model)
    tree = ast.parse(source)
    names = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "FEATURE_NAMES"
    )
    assert ast.literal_eval(names) == NAMES
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert [alias.name for node in imports for alias in node.names] == ["numpy"]
    module = {}
    exec(source, module)
    np.testing.assert_array_equal(module["predict"](rows), model.predict(rows))


@pytest.fixture
def call(capsys, monkeypatch):
    """Call the command line in this process."""
    pytest.importorskip("typer")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["vanishing", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, left.value.code or 0, said.out, said.err)

    return call


def test_show_prints_hostile_names_harmlessly(hostile, call, tmp_path):
    model, _, _ = hostile
    model.save(tmp_path / "m.json")
    for option in ("--latex", "--sympy", "--json", "--all"):
        result = call("show", tmp_path / "m.json", option)
        assert result.returncode == 0, result.stderr
        assert all(line.isprintable() for line in result.stdout.split("\n")) or option == "--json"
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", result.stdout)
        result.stdout.encode()
        lines = result.stdout.splitlines()
        if option == "--json":
            assert json.loads(result.stdout)["columns"] == NAMES
        if option == "--sympy":
            for line in lines:
                calls = [n for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Call)]
                assert {call.func.id for call in calls} <= {"Symbol"}
        if option == "--latex":
            assert not any(r"\input" in line or r"\end" in line for line in lines if line[0] != "%")


def test_labels_come_back_as_they_are_even_if_a_spreadsheet_would_run_them(call, tmp_path):
    formula = '=HYPERLINK("http://a.b","c")'
    rows = pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(Y > 0, formula, "+1+1"))
    rows.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "p.csv"
    assert call("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m").returncode == 0
    assert call("predict", tmp_path / "m", tmp_path / "t.csv", "--out", out).returncode == 0
    assert set(pd.read_csv(out)["label"]) == {formula, "+1+1"}


# -- Model files, moments and records -------------------------------------------------------------


class Evil:
    ran = False

    def __reduce__(self):
        return setattr, (Evil, "ran", True)


DEEP = b"[" * 200_000
LONG = b"9" * 1_000_000


@pytest.mark.parametrize(
    "content",
    [pickle.dumps(Evil()), DEEP, b'{"a":' * 200_000, LONG, b"\x00" * 100, b"\xff", b"", b"1e999"],
    ids=["pickle", "lists", "objects", "integer", "zeros", "bytes", "nothing", "infinity"],
)
def test_what_is_no_file_of_ours_is_one_error(tmp_path, content):
    key = Key("pipeline", "bank", "pcgavi", 0)
    records = Records(tmp_path)
    path = records.runs / key.filename
    path.write_bytes(content)
    for read, error in (
        (lambda: vanishing.load(path), ModelFileError),
        (lambda: Moments.load(path), MomentsFileError),
        (lambda: records.load(key), RecordError),
    ):
        with pytest.raises(error) as caught:
            read()
        assert path.name in str(caught.value)
        assert len(str(caught.value)) < 1000
    assert not Evil.ran


@pytest.mark.parametrize("place", ["psi", "coef", "n_features_in"])
@pytest.mark.parametrize("value", ["1e999", "-1e999", "9" * 5000, "9" * 400, "1e-999", "0.1e400"])
def test_numbers_out_of_range_are_refused_or_harmless(tmp_path, place, value):
    path = tmp_path / "m.json"
    OAVI(0.01).fit(X / 8).save(path)
    text = path.read_text()
    pattern = rf'("{place}": \[?)[^,\]]+'
    text, n = re.subn(pattern, rf"\g<1>{value}", text, count=1)
    assert n
    path.write_text(resigned(text))
    try:
        model = vanishing.load(path)
    except ModelFileError as problem:
        assert len(str(problem)) < 1000 + len(value)
    else:
        assert value == "1e-999"
        assert np.isfinite(model.transform(X / 8)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"sums": [1.0] * 10},
        {"sums": "text"},
        {"sums": {}},
        {"sums": [1.0] * 69 + [10**400]},
        {"n_features": 10**400},
        {"n_features": 2**62, "max_degree": 100},
        {"max_degree": 1.5},
        {"n_samples": True},
        {"n_samples": -(10**400)},
        {"total_weight": float("inf")},
        {"feature_names": "abcd"},
        {"feature_names": [1, 2, 3, 4]},
        {"version": 2},
    ],
)
def test_altered_moments_are_one_error(tmp_path, change):
    path = tmp_path / "moments.json"
    Moments(4, 2).update(X / 8).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(MomentsFileError, match="holds no moments that can be loaded"):
        Moments.load(path)


def test_files_without_end_are_not_read(tmp_path, monkeypatch):
    for read, error in ((vanishing.load, ModelFileError), (Moments.load, MomentsFileError)):
        if Path("/dev/zero").exists():
            with pytest.raises(error, match="not a file"):
                read("/dev/zero")
    monkeypatch.setattr("vanishing.rows.moments._MAX_BYTES", 100)
    Moments(4, 2).update(X / 8).save(tmp_path / "moments.json")
    with pytest.raises(MomentsFileError, match="larger than"):
        Moments.load(tmp_path / "moments.json")


FIGURES = {"error": 1.0, "tuning_s": 1.0, "test_s": 1.0, "size": 1, "sparsity": None, "params": {}}
SIZES = {"n_generators": [1] * len(FIGURE_PSIS), "n_terms": [1] * len(FIGURE_PSIS)}


@pytest.mark.parametrize(
    "kind, change",
    [
        ("pipeline", {"n_jobs": []}),
        ("pipeline", {"n_jobs": "<script>"}),
        ("pipeline", {"figures": {**FIGURES, "error": 10**400}}),
        ("pipeline", {"figures": {**FIGURES, "error": 1e999}}),
        ("pipeline", {"figures": {**FIGURES, "params": []}}),
        ("pipeline", {"figures": {**FIGURES, "params": {"psi": "0.1"}}}),
        ("pipeline", {"figures": {k: v for k, v in FIGURES.items() if k != "size"}}),
        ("pipeline", {"dataset": "../../etc/passwd"}),
        ("sizes", {"figures": {**SIZES, "n_generators": [1, 2]}}),
        ("sizes", {"figures": {**SIZES, "n_generators": [10**400] * len(FIGURE_PSIS)}}),
        ("sizes", {"figures": {k: v for k, v in SIZES.items() if k != "n_terms"}}),
    ],
)
def test_an_altered_record_is_named(tmp_path, kind, change):
    key, records = Key(kind, "bank", "pcgavi", 0), Records(tmp_path)
    figures = FIGURES if kind == "pipeline" else SIZES
    record = records.save(key, figures, machine="m", n_jobs=None)
    assert records.load(key) == record
    path = records.runs / key.filename
    path.write_text(json.dumps({**record, **change}))
    with pytest.raises(RecordError, match="is not a result of this program"):
        records.load(key)


# -- Tables ---------------------------------------------------------------------------------------

TABLES = {
    "a number of a million digits": b"a,b\n1," + LONG + b"\n",
    "infinity": b"a,b\n1,1e999\n",
    "minus infinity": b"a,b\n1,-1e999\n",
    "hexadecimal": b"a,b\n1,0x10\n",
    "formula": b"a,b\n1,=1+1\n",
    "code": b"a,b\n1,__import__('os')\n",
    "zero byte": b"a,b\n1,2\x003\n",
    "open quote": b'a,b\n1,"2\n',
    "long open quote": b'a,b\n1,"' + b"2" * 2_000_000,
    "long line": b"a,b\n1" + b",2" * 100_000 + b"\n",
    "no text": b"a,b\n1,\xff\n",
    "pickle": pickle.dumps(Evil()),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_table_is_one_sentence(call, tmp_path, name):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLES[name])
    with pytest.raises(TableError) as caught:
        list(number_blocks(open_table(path), ["a", "b"]))
    assert len(str(caught.value)) < 500
    result = call("fit", path, "--target", "a", "--out", tmp_path / "m.json")
    assert result.returncode == 2
    lines = result.stderr.splitlines()  # a sentence for each problem
    assert len(lines) <= 4 and max(map(len, lines)) < 500
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert not Evil.ran


def test_labels_of_many_digits_are_text():
    labels = [LONG.decode(), "1"]
    assert classes_of(labels, "y").tolist() == labels


def test_a_line_that_unpacks_to_much_is_looked_at_in_part(tmp_path):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b"a" * 1_000_000)
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="the line of the names is longer than"):
            open_table(path)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_blocks_of_a_file_that_unpacks_to_much_are_read_one_at_a_time(tmp_path):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n" + b"0.5,0.25\n" * 1_000_000)
    tracemalloc.start()
    try:
        rows = sum(len(X) for X, _ in number_blocks(open_table(path), ["a", "b"], rows=10_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 1_000_000
    assert peak < 10_000_000  # all rows are 16 MB


def test_names_in_an_archive_are_no_places(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    with zipfile.ZipFile(inner / "t.csv.zip", "w") as archive:
        archive.writestr("../evil.csv", "a,b\n1,2\n")
    ((rows, _),) = number_blocks(open_table(inner / "t.csv.zip"), ["a", "b"])
    assert rows.to_numpy().tolist() == [[1.0, 2.0]]
    assert [path.name for path in tmp_path.rglob("*.csv*")] == ["t.csv.zip"]


def test_many_columns_are_no_problem_or_a_sentence(call, tmp_path):
    n = 400
    head = ",".join(f"c{i}" for i in range(n))
    rows = "\n".join(",".join(["0.5", "0.25"] * (n // 2)) + f",{k % 2}" for k in range(8))
    (tmp_path / "t.csv").write_text(f"{head},y\n{rows}\n")
    result = call("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m.json")
    assert result.returncode in (0, 1)
    assert "Traceback" not in result.stderr


def test_names_of_outputs_are_printable(hostile):
    names = hostile[0].features_.transformers_[0].generators_.table()["equation"]
    assert all(name.isprintable() for name in names)


def test_names_never_lead_out_of_a_folder(tmp_path):
    home, out = tmp_path / "home", tmp_path / "results"
    home.mkdir()
    (tmp_path / "evil.csv").write_text("a,class\n1,0\n2,1\n")
    for name in ("../evil", str(tmp_path / "evil"), "bank/../../evil", "..", "bank\0"):
        with pytest.raises(ValueError, match=r"evil|\.\.|bank"):
            datasets.load(name, data_home=home)
        for options in ({"names": [name]}, {"algorithms": [name]}):
            with pytest.raises(ValueError, match="Unknown"):
                Experiment("performance", out, **options)
    with pytest.raises(KeyError):
        Experiment("../evil", out)
    assert not out.exists()
    assert not any(set(name) & set("/\\.") for name in (*protocol.DATASETS, *protocol.ALGORITHMS))
