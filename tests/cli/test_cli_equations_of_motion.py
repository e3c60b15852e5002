"""The command line on equations of motion: found, saved, shown, used and reported."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed

import vanishing
from vanishing.datasets import make_motion

pytest.importorskip("typer")
pytest.importorskip("rich")


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table of five runs of predators and prey, with noise, in no order."""
    path = tmp_path_factory.mktemp("motion") / "valleys.csv"
    X, t, run = make_motion("predator prey", 5, 60, noise=0.01, random_state=0)
    rows = pd.DataFrame(X, columns=["prey", "hunter"]).assign(t=t, run=[f"v{i}" for i in run])
    rows.sample(frac=1.0, random_state=0).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """Return a table of one run of a tank that fills as it is fed, and empties by itself."""
    path = tmp_path_factory.mktemp("driven") / "tank.csv"
    t = np.linspace(0.0, 10.0, 200)
    feed = 1.0 + np.sin(1.3 * t)
    level = [1.0]
    for k in range(199):
        x, h = level[-1], t[1] / 50
        for i in range(50):
            x += h * (np.interp(t[k] + (i + 0.5) * h, t, feed) - 0.5 * x)
        level.append(x)
    rng = np.random.default_rng(0)
    noisy = np.array(level) + 0.002 * rng.normal(size=200)
    pd.DataFrame({"level": noisy, "feed": feed, "seconds": t}).to_csv(path, index=False)
    return path


def equations(call, table, *words):
    return call("motion", table, "--time", "t", "--run", "run", "--equations", *words)


def test_from_a_table_to_equations(call, table, tmp_path):
    saved, page, picture = (tmp_path / name for name in ("m.json", "m.html", "m.png"))
    result = equations(
        call, table, "--functions", "none", "--out", saved, "--out", page, "--out", picture
    )
    assert result.returncode == 0, result.stderr
    assert "5 runs, 300 rows, 2 columns" in result.stdout
    model = vanishing.load(saved)
    for equation in model.equations_:
        assert str(equation) in result.stdout
    assert model.verdict_.startswith("obeys") and f"O{model.verdict_[1:]}" in result.stdout
    held_out = str(model.runs_[model.held_out_][0])
    assert f"held out ({held_out}): {model.held_out_error_:.2f} times the noise" in result.stdout
    assert f"{model.noise_[0]:.3g}" in result.stdout and "standard error" in result.stdout
    assert "<math" in page.read_text(encoding="utf-8")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def saved(call, table, tmp_path):
    path = tmp_path / "motion.json"
    assert equations(call, table, "--functions", "none", "--out", path).returncode == 0
    return path


def test_what_is_shown_of_a_saved_model(call, saved):
    model = vanishing.load(saved)
    assert str(model.equations_[0]) in call("show", saved).stdout
    assert r"\frac{\mathrm{d}" in call("show", saved, "--latex").stdout
    assert "Symbol('dprey/dt')" in call("show", saved, "--sympy").stdout
    document = json.loads(call("show", saved, "--json").stdout)
    assert document["equations"][0]["coefficients"] == model.equations_[0].coef.tolist()
    assert document["held_out"] == model.runs_[model.held_out_].tolist()
    assert document["verdict"] == model.verdict_


def test_derivatives_are_predicted(call, saved, table):
    result = call("predict", saved, table, "--out", "-")
    header, *rows = csv.reader(io.StringIO(result.stdout))
    assert header == ["dprey/dt", "dhunter/dt"]
    X = pd.read_csv(table)[["prey", "hunter"]]
    np.testing.assert_allclose(np.array(rows, dtype=float), vanishing.load(saved).predict(X))


def test_a_report_of_a_saved_model(call, saved, table, tmp_path):
    page = tmp_path / "report.html"
    result = call("report", saved, table, "--out", page)
    assert result.returncode == 0, result.stderr
    assert "Phase portrait" in page.read_text(encoding="utf-8")
    late = pd.read_csv(table).drop(columns="t")
    late.to_csv(tmp_path / "late.csv", index=False)
    result = call("report", saved, tmp_path / "late.csv", "--out", page)
    check_failed(result, "--time", code=2)


def test_one_run_with_an_input(call, driven, tmp_path):
    saved, page = tmp_path / "tank.json", tmp_path / "tank.html"
    words = ("motion", driven, "--time", "seconds", "--equations", "--inputs", "feed")
    result = call(*words, "--out", saved, "--noise", "level=0.002")
    assert result.returncode == 0, result.stderr
    assert "1 run, 200 rows, 1 column, 1 input" in result.stdout
    assert "*feed" in result.stdout and "four are needed" in result.stdout
    assert vanishing.load(saved).noise_ == pytest.approx([0.002])
    # The column of the input is known again.
    assert call("predict", saved, driven, "--out", tmp_path / "p.csv").returncode == 0
    assert call("report", saved, driven, "--out", page).returncode == 0
    check_failed(call("predict", saved, driven, "--out", "-", "--std"), "--std is for laws", code=2)


def test_accelerations_from_positions(call, tmp_path):
    t = np.linspace(0.0, 8.0, 160)
    x = np.exp(-0.1 * t) * np.cos(2.0 * t) + 0.002 * np.random.default_rng(0).normal(size=160)
    pd.DataFrame({"x": x, "t": t}).to_csv(tmp_path / "x.csv", index=False)
    words = ("motion", tmp_path / "x.csv", "--time", "t", "--equations", "--order", "2")
    result = call(*words, "--functions", "none", "--out", tmp_path / "x.json")
    assert "d2x/dt2 = " in result.stdout and "x_dot" in result.stdout
    check_failed(
        call("predict", tmp_path / "x.json", tmp_path / "x.csv", "--out", "-"),
        "lacks the column 'x_dot', which the model needs",
    )


def test_no_equations_are_said_and_saved(call, tmp_path):
    rng = np.random.default_rng(0)
    walk = pd.DataFrame(rng.normal(size=(120, 2)).cumsum(axis=0), columns=["a", "b"])
    walk.assign(t=np.arange(120)).to_csv(tmp_path / "walk.csv", index=False)
    saved = tmp_path / "none.json"
    words = ("motion", tmp_path / "walk.csv", "--time", "t", "--equations", "--functions", "none")
    picture = tmp_path / "none.png"
    result = call(*words, "--out", picture, "--out", saved, "--out", tmp_path / "none.html")
    assert "nothing to draw" in result.stderr and not picture.exists()
    assert result.returncode == 0, result.stderr
    assert "None: " in result.stdout and "none of them is claimed" in result.stdout
    assert "None: " in call("show", saved).stdout
    assert json.loads(call("show", saved, "--json").stdout)["equations"] == []
    check_failed(
        call("predict", saved, tmp_path / "walk.csv", "--out", "-"), "no equations of motion"
    )


def test_a_messy_table(call, table, tmp_path):
    """Dates for times, commas in numbers, and a row that cannot be used."""
    rows = pd.read_csv(table)
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rows.pop("t"), unit="D")
    rows.insert(0, "day", days.dt.strftime("%Y-%m-%d %H:%M:%S"))
    text = rows.to_csv(index=False, sep=";", decimal=",") + "2024-03-02 00:00:00;?;1,0;v1\n"
    path = tmp_path / "messy.csv"
    path.write_text(text, encoding="utf-8")
    words = ("motion", path, "--time", "day", "--run", "run", "--equations", "--functions", "none")
    result = call(*words, "--decimal", ",")
    assert result.returncode == 2 and "--dates" in result.stderr and "--missing" in result.stderr
    result = call(*words, "--decimal", ",", "--dates", "days", "--missing", "drop")
    assert result.returncode == 0, result.stderr
    assert "5 runs, 300 rows, 2 columns" in result.stdout and "Obeys" in result.stdout
    assert "1 of 301 rows is left out" in result.stderr


@pytest.mark.parametrize(
    "words, problem, code",
    [
        ((), "--run is needed", 2),
        (("--equations",), "--equations needs --time", 2),
        (("--equations", "--time", "nope"), "no column 'nope'", 2),
        (("--equations", "--time", "t"), "--run", 2),
        (("--equations", "--time", "t", "--inputs", "t"), "more than one option", 2),
        (("--equations", "--time", "t", "--run", "run", "--inputs", "q"), "no column 'q'", 2),
        (("--equations", "--time", "t", "--run", "run", "--functions", "prey=sin"), "of all", 2),
        (("--equations", "--time", "t", "--run", "run", "--functions", "sine"), "some of sin", 2),
        (("--equations", "--time", "t", "--run", "run", "--functions", "sinh"), "x|x|, tan", 2),
        (("--equations", "--time", "t", "--run", "run", "--noise", "-1"), "not negative", 2),
        (("--equations", "--time", "t", "--run", "run", "--noise", "prey=1"), "all of them", 2),
        (("--equations", "--time", "t", "--run", "run", "--max-time", "0"), "must be positive", 2),
        (("--run", "run", "--order", "2"), "--order is for --equations", 2),
        (("--run", "run", "--max-time", "2"), "--max-time is for --equations", 2),
        (("--run", "run", "--inputs", "t"), "--inputs is for --equations", 2),
    ],
)
def test_words_that_do_not_go_together(call, table, words, problem, code):
    result = call("motion", table, *words, *(() if "run" in words else ("--drop", "run")))
    check_failed(result, problem, code=code)


def test_times_that_are_no_numbers(call, table):
    result = call("motion", table, "--equations", "--time", "run", "--categories", "drop")
    assert result.returncode == 2
    assert "The column 'run' (--time) is no column of numbers." in result.stderr


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    """Return a table of two tanks, one of which empties faster, twice each."""
    path = tmp_path_factory.mktemp("batches") / "tanks.csv"
    t = np.linspace(0.0, 4.0, 60)
    random = np.random.default_rng(0)
    parts = [
        pd.DataFrame({"level": start * np.exp(-rate * t) + 0.01 * random.normal(size=60), "t": t})
        .assign(tank=tank, run=f"{tank}{start}")
        for tank, rate in (("old", 0.5), ("new", 1.1))
        for start in (3.0, 5.0)
    ]  # fmt: skip
    pd.concat(parts).to_csv(path, index=False)
    return path


def test_batches_have_constants_of_their_own(call, batches, tmp_path):
    words = ("--batch", "tank", "--functions", "none")
    outs = [tmp_path / name for name in ("m.json", "m.html", "m.png")]
    result = equations(call, batches, *words, *(w for out in outs for w in ("--out", out)))
    assert "new: dlevel/dt = -1.1" in result.stdout and "old: dlevel/dt = -0." in result.stdout
    said = " ".join(result.stdout.split())
    assert "level in dlevel/dt (p < 1e-12) differs between batches" in said
    assert "new: " in outs[1].read_text(encoding="utf-8") and outs[2].stat().st_size
    page = tmp_path / "again.html"
    call("report", outs[0], batches, "--out", page)
    assert "old: " in page.read_text(encoding="utf-8")
    shown = json.loads(call("show", outs[0], "--json").stdout)
    assert [e["batch"] for e in shown["equations"]] == ["new", "old"]
    rows = tmp_path / "rows.csv"
    check_failed(call("predict", outs[0], batches, "--out", rows), "differ between batches")


def test_without_runs_each_batch_is_one(call, batches):
    rows = pd.read_csv(batches)
    rows[rows["run"].str.endswith("3.0")].to_csv(batches.with_name("single.csv"), index=False)
    table = batches.with_name("single.csv")
    words = ("--drop", "run", "--functions", "none", "--form", "A*x/(K + x + x^2/L)")
    result = call("motion", table, "--time", "t", "--batch", "tank", "--equations", *words)
    assert "2 runs" in result.stdout and "old: dlevel/dt = -0." in result.stdout


def test_options_of_equations_are_refused_without_them(call, batches):
    result = call("motion", batches, "--run", "run", "--batch", "tank")
    check_failed(result, "--batch is for --equations", code=2)
