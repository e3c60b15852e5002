"""External suites: every adapter on small files in the suite's format, whole and broken."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("yaml")
pytest.importorskip("sympy")
pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "studies"))
import external  # noqa: E402
import external_empirical  # noqa: E402
import external_nla  # noqa: E402
import external_odebench  # noqa: E402
from external_empirical import form_of, problems  # noqa: E402
from external_formulas import SuiteFormula, latex_form  # noqa: E402
from external_laws import Range, rows_of  # noqa: E402
from external_monitoring import rates, smoothed  # noqa: E402
from external_records import files_of  # noqa: E402
from loop_traces import BUILT_WITH  # noqa: E402


def answers(capsys, tmp_path, suite, folder, *more, code=0):
    """Run a suite as a user does; return what was written as JSON, and what was printed."""
    file = tmp_path / "answer.json"
    assert external.main([suite, str(folder), "--json", str(file), *more]) == code
    printed = capsys.readouterr()
    return json.loads(file.read_text()) if file.exists() else None, printed.out + printed.err


def outcomes(answer):
    return {case["name"]: case["outcome"] for case in answer["cases"]}


# -- Formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x*y", 6.0),
        ("mp.sqrt(x + 7) * np.exp(0)", 3.0),
        ("10 ** (-0.5 * x)", 0.1),
        ("x ^ y", 8.0),
        ("2*(x/y)**k", 2 * (2 / 3) ** 1.5),
        ("neg(x) + neg(neg(y))^2", 7.0),
        ("y/cot(0.5)", 3 * np.tan(0.5)),
        ("pow(x, y) + Abs(-y) + asin(1)", 11 + np.pi / 2),
        ("x_0 + 5.0e-1*v1", 4.5),
        ("log10(1000)", 3.0),
    ],
)
def test_formulas_of_suites_are_read(text, value):
    columns = {"x": 2.0, "y": 3.0, "k": 1.5, "x_0": 4.0, "v1": 1.0}
    columns = {name: np.full(2, number) for name, number in columns.items()}
    assert np.broadcast_to(SuiteFormula(text)(columns), 2) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["__import__('os').system('x')", "x.real", "[x][0]", "open('f')", "x if y else z", ""]
)
def test_nothing_is_run(text):
    with pytest.raises(ValueError):
        SuiteFormula(text)


def test_values_keep_the_precision_of_their_columns():
    small = SuiteFormula("1/(exp(x) - 1)")({"x": np.array([4000.0], dtype=np.longdouble)})
    if np.finfo(np.longdouble).maxexp > 10_000:
        assert np.log(small) == pytest.approx(-4000.0)


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"F = k x", "k*x"),
        (r"v = (\cdot) x_0", "(c1)*x_0"),
        (r"L = (\cdot) \sqrt{x_0^5}", "(c1)*sqrt(x_0^5)"),
        (r"a = 0.4 + 0.3 (2^n)", "0.4 + 0.3*(2^n)"),
        (r"M = (\cdot)\log_{10}(x_0) + (\cdot)", "(c1)*log10(x_0) + (c2)"),
        (
            r"\log(B) = (\cdot) + 3\log(x_0) - \log(\exp((\cdot)x_0/x_1) - 1)",
            "(c1) + 3*log(x_0) - log(exp((c2)*x_0/x_1) - 1)",
        ),
        (r"P = \frac{n T}{V}", "((n*T)/(V))"),
    ],
)
def test_the_latex_of_laws_is_read(latex, plain):
    assert latex_form(latex) == plain
    SuiteFormula(latex_form(latex))


def test_the_form_of_an_entry_has_its_constants_free():
    equation = {"original": "a = 0.4 + 0.3 (2^n)"}
    assert form_of({"equation": equation}, ["n"]) == "number1 + number2*(2^n)"
    generator = {"callable": "mp.log10(P) * alpha + delta", "args": ["P"]}
    assert form_of({"data_generator": generator}, ["P"]) == "log10(P) * alpha + delta"
    assert form_of({"equation": {"original": r"\mathbf{F} = G \hat{r}"}}, ["m"]) is None
    kepler = {"original": r"P^2 \propto a^3", "taken": "P^2 = k a^3"}
    assert form_of({"equation": kepler}, ["a"]) is None  # neither is a formula of P
    solved = {"reduced_enum": r"P = (\cdot) \sqrt{x_0^3}"}
    assert form_of({"equation": kepler | solved}, ["a"]) == "(c1)*sqrt(a^3)"


def test_columns_of_empirical_bench_are_read_in_every_form(empirical):
    (empirical / "plain.csv").write_text("v,d\n" + "".join(f"{70 * d},{d}\n" for d in range(1, 7)))
    columns = {"v": [70.0 * d for d in range(1, 7)], "d": list(range(1, 7))}
    for data in ("plain.csv", {"csv": "plain.csv"}, {"csv": {"filename": "plain.csv"}}, columns):
        record = {"use": "data", "equation": {"original": "v = H d", "target": "v"}, "data": data}
        (made,) = external_empirical.read("a law", record, empirical)
        assert made.columns == ("d",) and made.form == "H*d"
        assert (made.X[:, 0] == columns["d"]).all() and (made.y == columns["v"]).all()
    with pytest.raises(ValueError, match="no column but the target"):
        external_empirical.read("a law", {"data": {"v": [1, 2, 3]}}, empirical)


# -- Ranges ---------------------------------------------------------------------------------------


def test_ranges_are_drawn_as_they_say():
    random = np.random.RandomState(0)
    log = Range("log", 1e-3, 1e3, "pos_neg").draw(20_000, random)
    assert (np.abs(log) >= 1e-3).all() and (np.abs(log) <= 1e3).all()
    assert np.mean(log > 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(np.abs(log) < 1) == pytest.approx(0.5, abs=0.02)
    whole = Range("int", -2, 5).draw(1000, random, beyond=0.5)
    assert set(whole) == set(range(-2, 6))
    assert (Range("uni", 0, 1, "neg").draw(100, random) <= 0).all()
    wide = Range("uni", 0, 1).draw(1000, random, beyond=0.25)
    assert -0.25 <= wide.min() < -0.2 and 1.2 < wide.max() <= 1.25
    for wrong in (("uni", 2, 1), ("log", 0, 1), ("normal", 0, 1), ("uni", 0, np.nan)):
        with pytest.raises(ValueError):
            Range(*wrong)


def test_rows_without_a_finite_value_are_drawn_again():
    random = np.random.RandomState(0)
    X, y = rows_of(SuiteFormula("1/v1"), {"v1": Range("int", 0, 2)}, 200, random)
    assert len(X) == 200 and np.isfinite(y).all() and set(X[:, 0]) == {1.0, 2.0}
    with pytest.raises(ValueError, match="finite on 0 rows"):
        rows_of(SuiteFormula("log(v1)"), {"v1": Range("uni", -2, -1)}, 10, random)


# -- EmpiricalBench -------------------------------------------------------------------------------

EMPIRICAL = """
problems:
  Somebody's law:
    key: somebody
    equation: {original: "F = k x", target: F}
    use: data_generator
    data_generator:
      target: F
      callable: k * x
      args: [x]
      constants: {k: 3.2}
      ranges: {x: [1, 20, 'linear']}
      size: 60
      noise: {scale: 0.01, type: relative}
  A law of logarithms:
    key: logarithms
    equation: {original: "p = r a b", reduced: '\\log(p) = \\log(a b) + (\\cdot)'}
    data_generator:
      callable: r * a * mp.sqrt(b)**2
      args: [a, b]
      constants: {r: 8.3}
      ranges: {a: [1, 1.0e2], b: [3.0e1, 4.0e2, 'linear']}
      size: 80
      noise: {scale: 0.01, type: relative}
    plot: {yscale: log}
  Columns in the entry:
    key: columns
    equation: {reduced_enum: 'P = (\\cdot) \\sqrt{x_0^3}'}
    data:
      target: [COLUMN]
      inputs: {a: [INPUT]}
  A table:
    key: table
    use: data
    equation: {original: "y = m z"}
    data: {csv: {filename: table.csv, transform: {z: 10 ** logz, target: 2 * w}}}
  Whole numbers:
    key: whole
    data_generator:
      callable: 1 / (1 / n**2 + 1 / m**2)
      args: [n, m]
      custom_generation: |
        n = rstate.randint(1, 7)
        m = rstate.randint(n + 1, 20)
        n = float(n)
        {'n': n, 'm': m}
      size: 60
      noise: {scale: 0, type: absolute}
  Broken:
    key: broken
    data_generator: {callable: "k * (x", args: [x], constants: {k: 1}, ranges: {x: [1, 2]}, size: 9}
  A constant without value:
    data_generator: {callable: k * x, args: [x], constants: {k: None}, ranges: {x: [1, 2]}, size: 9}
  No table:
    use: data
    data: {csv: {filename: nowhere.csv, transform: {z: z, target: w}}}
  Not an entry: 17
"""


@pytest.fixture
def empirical(tmp_path):
    folder = tmp_path / "empirical_bench"
    folder.mkdir()
    a = np.linspace(0.3, 9.0, 40)
    text = EMPIRICAL.replace("INPUT", ", ".join(map(repr, a.tolist())))
    text = text.replace("COLUMN", ", ".join(map(repr, (365.2 * a**1.5).tolist())))
    (folder / "equations.yml").write_text(text)
    logz = np.linspace(-1, 1, 50)
    lines = [f"{a:.8f},{1.7 * 10**a / 2:.6f}" for a in logz]
    (folder / "table.csv").write_text("logz,w\n" + "\n".join(lines) + "\n")
    return folder


def test_empirical_bench(capsys, tmp_path, empirical):
    answer, printed = answers(capsys, tmp_path, "empirical", empirical)
    assert outcomes(answer) == {
        "Somebody's law": "found",
        "A law of logarithms (logarithm, as the suite has it)": answer["cases"][1]["outcome"],
        "A law of logarithms": "found",
        "Columns in the entry": "found",
        "A table": "found",
        "Whole numbers": "found",
    }
    broken = {one["name"]: one["reason"] for one in answer["unreadable"]}
    assert list(broken) == ["Broken", "A constant without value", "No table", "Not an entry"]
    assert "'k' of its formula has no value" in broken["A constant without value"]
    assert "nowhere.csv" in broken["No table"] or "cannot be read" in broken["No table"]
    assert "wrong claims" in printed and "7 of 9" in printed and "2305.01582" in printed
    assert answer["cases"][0]["values"]["front"] is True


def test_the_generator_of_empirical_bench_has_the_seeds_of_the_suite(empirical):
    """The first numbers of RandomState(sha256(key)), as its paper's code draws them."""
    from hashlib import sha256

    ((_, read),) = [one for one in problems(empirical) if one[0] == "Somebody's law"]
    seed = np.frombuffer(sha256(b"somebody").digest(), dtype=np.uint32)
    random = np.random.RandomState(seed)
    x = random.rand(60) * 19 + 1
    y = 3.2 * x * (1 + 0.01 * random.randn(60))
    (made,) = read()
    np.testing.assert_allclose(made.X[:, 0], x, rtol=1e-12)
    np.testing.assert_allclose(made.y.astype(float), y, rtol=1e-12)


# -- FastSRB --------------------------------------------------------------------------------------

FASTSRB = """
X.1.2:
    difficulty: easy
    prepared: v1 * v2 / v3
    vars:
        v1: {name: a, type: "(float, positive)", units: [1, 0], sample_range: [1.0e-3, 1.0e-1],
             sample_type: [log, pos]}
        v2: {name: b, sample_range: [1.0e-1, 1.0e1], sample_type: [log, pos_neg]}
        v3: {name: n, sample_range: [1, 100], sample_type: [int, pos]}
        v0: {name: q, type: "(float)"}
B.1:
    prepared: 6.626e-34 * neg(v1) ^ 2
    vars:
        v1: {name: n, sample_range: [10e24, 10e26], sample_type: [log, pos]}
        v0: {name: E}
    constraints:
no formula:
    vars: {v1: {sample_range: [1, 2], sample_type: [uni, pos]}}
a wrong formula:
    prepared: v1 +* v2
    vars: {v1: {sample_range: [1, 2], sample_type: [uni, pos]}}
a column too few:
    prepared: v1 + v2
    vars: {v1: {sample_range: [1, 2], sample_type: [uni, pos]}}
a wrong range:
    prepared: v1 + 1
    vars: {v1: {sample_range: [1, two], sample_type: [uni, pos]}}
not an entry: 17
"""


def test_fastsrb(capsys, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "expressions.yaml").write_text(FASTSRB)
    answer, printed = answers(capsys, tmp_path, "fastsrb", tmp_path)
    assert outcomes(answer) == {"X.1.2": "found", "B.1": "found"}
    assert [one["name"] for one in answer["unreadable"]] == [
        *("no formula", "a wrong formula", "a column too few", "a wrong range", "not an entry")
    ]
    assert "69.4 %" in printed and "a wrong range: the range of v1 is 'two'" in printed
    answer, _ = answers(capsys, tmp_path, "fastsrb", tmp_path, "--limit", "1")
    assert list(outcomes(answer)) == ["X.1.2"]


# -- ODEBench -------------------------------------------------------------------------------------


def decay(rate, start, n=80):
    t = np.linspace(0.0, 5.0, n)
    return {"success": True, "t": t.tolist(), "y": [(start * np.exp(-rate * t)).tolist()]}


def system(**changes):
    record = {"id": 2, "eq": "-c_0*x_0", "dim": 1, "consts": [[0.7]], "init": [[3.0], [1.0]]}
    record |= {"substituted": [["-0.7*x_0"]], "solutions": [[decay(0.7, 3.0), decay(0.7, 1.0)]]}
    return record | changes


def test_odebench(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(external_odebench, "SETTINGS", ((0.0, False),))
    short = [[{"t": [0.0], "y": [[1.0]]}, {"t": [0.0], "y": [[1.0]]}]]
    failed = [[decay(0.7, 3.0) | {"success": False, "message": "too stiff"}, decay(0.7, 1.0)]]
    records = [
        system(eq_description="decay"),
        system(id=3, substituted=None),
        system(id=4, solutions=short),
        system(id=5, solutions=failed),
        system(id=6, substituted=[["-k*x_0"]]),
        {"id": 7},
        "a text",
    ]
    (tmp_path / "strogatz_extended.json").write_text(json.dumps(records))
    answer, printed = answers(capsys, tmp_path, "odebench", tmp_path)
    assert outcomes(answer) == {"2 decay, noise 0": "found", "3, noise 0": "found"}
    assert answer["cases"][0]["values"]["right"] and answer["cases"][0]["values"]["other start"]
    broken = {one["name"]: one["reason"] for one in answer["unreadable"]}
    assert list(broken) == ["4", "5", "6", "7", "record 7"]
    assert "too stiff" in printed and "unknown 'k'" in printed
    (tmp_path / "strogatz_extended.json").write_text(json.dumps(records)[:100])
    _, printed = answers(capsys, tmp_path, "odebench", tmp_path, code=2)
    assert "strogatz_extended.json: cannot be read" in printed


# -- ADBench --------------------------------------------------------------------------------------


def test_adbench(capsys, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + 0.01 * random.normal(size=300)
    X[:15, 2] += 2.0
    y = (np.arange(300) < 15).astype(int)
    np.savez(tmp_path / "4_good.npz", X=X.astype(np.float32), y=y)
    np.savez(tmp_path / "5_no_labels.npz", X=X)
    np.savez(tmp_path / "6_gaps.npz", X=np.where(X > 2, np.nan, X), y=y)
    np.savez(tmp_path / "7_shapes.npz", X=X, y=y[:-1])
    np.savez(tmp_path / "8_pickled.npz", X=X.astype(object), y=y)
    np.savez(tmp_path / "9_text.npz", X=X.astype(str).astype("U8"), y=np.array(["a"] * 300))
    np.savez(tmp_path / "10_one_class.npz", X=X, y=0 * y)
    (tmp_path / "11_cut.npz").write_bytes((tmp_path / "4_good.npz").read_bytes()[:500])
    answer, printed = answers(capsys, tmp_path, "adbench", tmp_path)
    assert outcomes(answer) == {"4_good.npz": "measured"}
    values = answer["cases"][0]["values"]
    assert min(values["vanishing"][:2]) > 0.95 and values["recall"] > 0.9
    assert values["false alarms"] < 0.1
    broken = {one["name"]: one["reason"] for one in answer["unreadable"]}
    assert list(broken) == [
        *("5_no_labels.npz", "6_gaps.npz", "7_shapes.npz", "8_pickled.npz", "9_text.npz"),
        *("10_one_class.npz", "11_cut.npz"),
    ]
    assert "no array 'y'" in broken["5_no_labels.npz"]
    assert "IsolationForest" in printed and "2508.00758" in printed


# -- SKAB, Tennessee Eastman ----------------------------------------------------------------------


def loop_file(path, header, rows, labels):
    lines = [
        f"2020-03-09 10:00:{i % 60:02d};{';'.join(f'{v:.6f}' for v in row)};{label:.1f};0.0"
        for i, (row, label) in enumerate(zip(rows, labels, strict=True))
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([header, *lines]) + "\n")


def test_skab(capsys, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2))
    X = np.column_stack([X, X.sum(axis=1) + 0.01 * random.normal(size=600)])
    wrong = np.arange(600) >= 500
    X[wrong, 2] += 1.0
    loop_file(tmp_path / "valve1/0.csv", "datetime;A;B;C;anomaly;changepoint", X, wrong)
    loop_file(tmp_path / "other/1.csv", "datetime;A;B;C;is_anomaly;is_pa", X, wrong)
    loop_file(tmp_path / "other/2.csv", "datetime;A;B;C;state;changepoint", X, wrong)
    loop_file(tmp_path / "other/3.csv", "datetime;A;B;C;anomaly;changepoint", X[:30], wrong[:30])
    (tmp_path / "other/4.csv").write_text("datetime;A;anomaly\n2020;1\n")
    (tmp_path / "anomaly-free").mkdir()
    (tmp_path / "anomaly-free/anomaly-free.csv").write_text("datetime;A\n2020;1\n")
    answer, printed = answers(capsys, tmp_path, "skab", tmp_path)
    assert outcomes(answer) == {"other/1.csv": "measured", "valve1/0.csv": "measured"}
    assert answer["cases"][0]["values"]["F1"] > 0.9
    broken = {one["name"]: one["reason"] for one in answer["unreadable"]}
    assert "no column anomaly or is_anomaly" in broken["other/2.csv"]
    assert "30 rows" in broken["other/3.csv"] and "line 2 has 2 cells" in broken["other/4.csv"]
    assert "Conv-AE" in printed and "median of three" in printed


def test_rates_of_alarms():
    wrong = np.array([0, 0, 0, 0, 1, 1], dtype=bool)
    alarms = np.array([1, 0, 0, 0, 1, 0], dtype=bool)
    assert rates(alarms, wrong) == {"F1": 0.5, "false alarms": 0.25, "missed": 0.5}
    assert smoothed([1, 1, 0, 0, 1, 1, 0]).tolist() == [0, 0, 1, 0, 0, 1, 1]
    assert len(smoothed([1])) == 1


def test_tennessee_eastman(capsys, tmp_path):
    random = np.random.default_rng(0)
    loadings = random.normal(size=(5, 52))

    def rows(n):
        return random.normal(size=(n, 5)) @ loadings + random.normal(size=(n, 52)) + 50

    np.savetxt(tmp_path / "d00.dat", rows(500).T, fmt="%.7e")
    np.savetxt(tmp_path / "d00_te.dat", rows(300))
    fault = rows(300)
    fault[160:, 3] += 8.0
    np.savetxt(tmp_path / "d01_te.dat", fault)
    np.savetxt(tmp_path / "d02_te.dat", fault[:, :9])
    (tmp_path / "d03_te.dat").write_text("1 2 x\n")
    answer, _ = answers(capsys, tmp_path, "tep", tmp_path)
    assert "NaN" not in (tmp_path / "answer.json").read_text()  # which is no JSON
    assert outcomes(answer) == {"d00_te": "measured", "d01_te": "measured"}
    normal, faulty = (case["values"]["ours"] for case in answer["cases"])
    assert normal["false alarms"] < 0.06 and normal["normal rows"] == 300
    assert faulty["detected"] > 0.9 and faulty["after"] < 10 and faulty["normal rows"] == 160
    assert [one["name"] for one in answer["unreadable"]] == ["d02_te", "d03_te"]
    (tmp_path / "d00.dat").write_text("nothing\n")
    _, printed = answers(capsys, tmp_path, "tep", tmp_path, code=2)
    assert "d00.dat" in printed


# -- NLA ------------------------------------------------------------------------------------------


def trace_file(path, columns, runs, name=lambda x: f"{x}.0", label=True):
    lines = ["trace_idx,while_counter,1," + ",".join(columns) + (",run_id" if label else "")]
    for k, run in enumerate(runs):
        for i, row in enumerate(run):
            cells = ["1.0", f"{i}.0", "1.0", *map(name, row)]
            lines.append(",".join(cells + [str(k)] * label))
    path.write_text("\n".join(lines) + "\n")


def test_nla(capsys, tmp_path):
    loops = {loop.name: loop for loop in BUILT_WITH}
    random = np.random.default_rng(0)
    division, cubes = loops["division, doubled"], loops["cubes"]
    runs = [list(division.run(*division.inputs(random, 60))) for _ in range(25)]
    trace_file(tmp_path / "cohendiv_2.csv", division.variables.split(), runs)
    # Without labels of runs, and with whole numbers as such.
    runs = [list(cubes.run(*cubes.inputs(random, 20))) for _ in range(5)]
    trace_file(tmp_path / "cohencu_1.csv", cubes.variables.split(), runs, str, label=False)
    quarters = [[(a, 1, a), (a, 2, a - 3.25)] for a in range(4, 40)]
    trace_file(tmp_path / "unheard_1.csv", ["a", "r", "x"], quarters, str)
    trace_file(tmp_path / "ps2_1.csv", ["k", "y"], [[(3, 0), (3, 1)]])
    trace_file(tmp_path / "cohendiv.csv", ["k", "y"], [[(3, 0), (3, 1)]])
    (tmp_path / "sqrt1_1.csv").write_text("trace_idx,while_counter,1,n,a\n1.0,0.0,1.0,many,2\n")
    (tmp_path / "geo1_1.csv").write_text("trace_idx,while_counter,1,z\n")
    answer, printed = answers(capsys, tmp_path, "nla", tmp_path)
    assert outcomes(answer) == {
        "cohencu_1.csv": "found",
        "cohendiv_2.csv": "found",
        "ps2_1.csv": "unjudged",
        "unheard_1.csv": "unjudged",
    }
    assert {one["name"] for one in answer["unreadable"]} == {"sqrt1_1.csv", "geo1_1.csv"}
    assert "column 'n': 'many' is no number" in printed
    assert "2 of 2" in answer["figures"]["loops whose equations are all found"]


def test_equations_of_loops_hold_in_multiplied_columns():
    """A column of quarters is made whole, and the known equation is asked in it."""
    rows = np.array([[1, 3], [2, 12], [3, 27]], dtype=object)
    trace = external_nla.Trace("", 1, ["r", "s"], rows, [1, 4], np.zeros(3))
    assert external_nla._scaled("4*s - 12*r^2", trace) == "4*(s/4) - 12*r^2"


def test_equations_of_loops_use_their_variables():
    """Every known equation vanishes along runs of our own programs of that name."""
    pairs = {"cohencu": "cubes", "sqrt1": "square root", "lcm1": "common multiple"}
    pairs |= {"ps2": "sum of numbers", "ps4": "sum of cubes", "mannadiv": "division, counted"}
    pairs |= {"geo1": "geometric series", "prodbin": "product, binary"}
    pairs |= {"egcd": "divisor with coefficients"}
    for program, name in pairs.items():
        loop = next(loop for loop in BUILT_WITH if loop.name == name)
        rows = np.array(loop.trace(np.random.default_rng(1), 3, 30, 20), dtype=float)
        columns = dict(zip(loop.variables.split(), rows.T, strict=True))
        for equation in external_nla.EQUATIONS[program][0]:
            assert not SuiteFormula(equation)(columns).any(), (program, equation)


# -- All ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", external.SUITES)
def test_a_folder_without_files_is_named(capsys, tmp_path, name):
    nowhere = tmp_path / "nowhere"
    assert external.main([name, str(nowhere)]) == 2
    assert str(nowhere) in capsys.readouterr().err
    nowhere.mkdir()
    assert external.main([name, str(nowhere)]) == 2
    assert str(nowhere) in capsys.readouterr().err


def test_a_file_that_is_no_yaml_is_named(capsys, tmp_path):
    (tmp_path / "expressions.yaml").write_text("a: [1, 2\nb: }")
    assert external.main(["fastsrb", str(tmp_path)]) == 2
    assert "expressions.yaml" in capsys.readouterr().err


def test_every_published_figure_has_a_source():
    for name in external.SUITES:
        suite = external.suite_of(name)
        assert suite.name == name and suite.published
        assert all(one.method and one.figure and one.source for one in suite.published)


def test_a_problem_that_breaks_a_fit_is_a_failure_and_not_the_end(capsys, tmp_path, monkeypatch):
    def broken(name, problem):
        raise ZeroDivisionError("on purpose")

    (tmp_path / "expressions.yaml").write_text(FASTSRB)
    suite = external.suite_of("fastsrb")._replace(answer=broken)
    monkeypatch.setattr(external, "suite_of", lambda name: suite)
    answer, printed = answers(capsys, tmp_path, "fastsrb", tmp_path)
    assert set(outcomes(answer).values()) == {"failed"}
    assert "on purpose" in printed


def test_files_are_in_the_order_of_their_numbers(tmp_path):
    for name in ("10.csv", "2.csv", "1.csv", "a.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in files_of(tmp_path, "*.csv")] == ["1.csv", "2.csv", "10.csv"]
    assert files_of(tmp_path / "a.txt", "*.csv") == [tmp_path / "a.txt"]


def test_a_file_that_cannot_be_written_is_named_before_the_work(capsys, tmp_path):
    (tmp_path / "expressions.yaml").write_text(FASTSRB)
    nowhere = tmp_path / "nowhere" / "a.json"
    with pytest.raises(SystemExit) as left:
        external.main(["fastsrb", str(tmp_path), "--json", str(nowhere)])
    printed = capsys.readouterr()
    assert left.value.code == 2 and str(nowhere) in printed.err and printed.out == ""
    with pytest.raises(SystemExit):
        external.main(["fastsrb", str(tmp_path), "--json", str(tmp_path)])
    assert "is a folder" in capsys.readouterr().err
