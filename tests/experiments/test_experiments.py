import csv
import io
import json
import math
import os

import numpy as np
import pytest
from commands import caller
from sklearn.base import clone

from vanishing import ABM, OAVI, VanishingClassifierCV, listening
from vanishing.experiments import protocol, reproduce, tables
from vanishing.experiments.published_runs import published_runs
from vanishing.experiments.records import Key, RecordError, Records
from vanishing.experiments.reproduce import Experiment
from vanishing.experiments.tables import ABOVE, BELOW, Cell, PaperTable, Published, published

FIGURES = {
    "error": 1.5,
    "tuning_s": 0.25,
    "test_s": 0.001,
    "size": 12,
    "sparsity": 0.5,
    "params": {"psi": 0.1, "C": 1.0},
}
KEY = Key("pipeline", "bank", "pcgavi", 0)


@pytest.fixture
def data_dir(tmp_path):
    """A folder with a table that passes for seeds: three classes around three surfaces."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(210, 7))
    y = np.repeat([0, 1, 2], 70)
    X[:, 6] = X[:, 0] ** 2 + 0.3 * y + rng.normal(scale=0.02, size=210)
    folder = tmp_path / "data"
    folder.mkdir()
    header = ",".join([*"abcdefg", "class"])
    table = np.column_stack([X, y])
    np.savetxt(folder / "seeds.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
    return folder


@pytest.fixture
def counted(monkeypatch):
    """Runs that are counted instead of made."""
    calls = []

    def run(one, X, y, run, n_jobs):
        calls.append((one.label, run))
        return {**FIGURES, "error": float(len(calls))}

    monkeypatch.setattr(protocol, "pipeline_run", run)
    monkeypatch.setattr(protocol, "warm_up", lambda algorithms: None)
    monkeypatch.setattr(
        reproduce.datasets, "load", lambda name, **_: (np.zeros((2, 1)), np.zeros(2))
    )
    return calls


# -- The paper's figures and the marks ------------------------------------------------------------


def test_published_figures_are_those_of_the_tables():
    figures = published()
    assert len(figures) == 38 * 6
    for key, value in {
        ("error", "pcgavi", "seeds"): 3.69,
        ("error", "svm", "skin"): 2.25,
        ("error", "abm-bb", "spam"): 7.16,
        ("tuning_s", "pcgavi", "spam"): 2400.0,
        ("test_s", "vca", "bank"): 7.1e-4,
        ("size", "pcgavi-bb", "credit"): 1372.2,
        ("sparsity", "pcgavi-bb", "htru"): 0.54,
    }.items():
        assert figures[key].value == value
    assert ("size", "svm", "bank") not in figures


@pytest.mark.parametrize(
    ("key", "rounding"),
    [
        (("error", "pcgavi", "seeds"), 0.005),
        (("tuning_s", "pcgavi", "spam"), 50.0),
        (("test_s", "vca", "bank"), 5e-6),
        (("tuning_s", "svm", "bank"), 5e-4),
    ],
)
def test_rounding_is_half_a_unit_of_the_last_digit(key, rounding):
    assert published()[key].rounding == pytest.approx(rounding)


@pytest.mark.parametrize(
    ("mean", "std", "n_runs", "mark"),
    [
        (1.0, 0.0, 10, ""),
        (1.01, 0.0, 10, ""),  # the paper's rounding
        (1.02, 0.0, 10, ABOVE),
        (0.98, 0.0, 10, BELOW),
        (1.3, 0.3, 9, ""),  # three standard errors are 0.3
        (1.32, 0.3, 9, ABOVE),
        (0.68, 0.3, 9, BELOW),
        (5.0, math.nan, 1, ""),  # one run has no standard error
    ],
)
def test_mark_means_more_than_three_standard_errors(mean, std, n_runs, mark):
    assert Cell(mean, std, n_runs, Published(1.0, 0.01)).mark == mark


def test_the_papers_own_standard_error_counts():
    assert Cell(1.4, 0.3, 9, Published(1.0, 0.0, 0.1)).mark == ""
    assert Cell(1.45, 0.3, 9, Published(1.0, 0.0, 0.1)).mark == ABOVE
    figure = published()["error", "svm", "spam"]  # ten runs, by hand
    errors = [run.figures["error"] for run in published_runs(["oavi"], ["spam"], ["svm"])]
    assert figure.standard_error == pytest.approx(100 * np.std(errors, ddof=1) / 10**0.5)


def test_no_mark_without_a_published_figure():
    assert Cell(1.0, 0.1, 10, None).mark == ""


# -- Tables ---------------------------------------------------------------------------------------


def small_table():
    runs = {
        ("bank", "pcgavi"): [{**FIGURES, "error": e} for e in (0.4, 0.6)],
        ("bank", "svm"): [{**FIGURES, "size": None, "sparsity": None}],
    }
    return PaperTable(
        "Performance", ["bank", "seeds"], {"pcgavi": "PCGAVI*", "svm": "SVM"}, runs, 2
    )


def test_csv_has_the_papers_columns_and_every_statistic():
    lines = list(csv.DictReader(io.StringIO(small_table().to_csv())))
    assert list(lines[0]) == ["metric", "algorithm", "statistic", "bank", "seeds"]
    found = {
        (line["metric"], line["statistic"]): line["bank"]
        for line in lines
        if line["algorithm"] == "PCGAVI*"
    }
    assert float(found["error", "mean"]) == 0.5
    assert float(found["error", "std"]) == pytest.approx(0.02**0.5, rel=1e-5)
    assert found["error", "runs"] == "2"
    assert found["error", "paper"] == "0.51"
    assert found["tuning_s", "differs"] == "below"
    assert all(line["seeds"] == "" for line in lines)
    assert not [line for line in lines if line["algorithm"] == "SVM" and line["metric"] == "size"]


def test_markdown_shows_the_papers_figure_and_the_number_of_runs():
    text = small_table().to_markdown(command="vanishing reproduce", machines=["a", "b"])
    assert "| PCGAVI\\* | 0.50 ± 0.14 (0.51) | - |" in text
    assert f"| PCGAVI\\* | 0.25 ± 0 (360) {BELOW} | - |" in text
    assert "| SVM | 1.50 [1 run] (0.00) | - |" in text
    assert "| \\|G\\| + \\|O\\| | bank | seeds |" in text
    assert "Machine: a; b." in text
    assert "vanishing reproduce" in text


def test_runs_csv_has_one_line_a_run():
    text = tables.runs_csv([("bank", "PCGAVI*", 3, FIGURES)])
    assert text.splitlines()[1] == "bank,PCGAVI*,3,1.5,0.25,0.001,12,0.5,psi=0.1 C=1"


# -- Runs -----------------------------------------------------------------------------------------


def labelled_rows():
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, 200)
    radius = np.where(np.arange(200) % 2, 1.0, 0.6)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.arange(200) % 2


def test_pipeline_run_is_the_tuned_classifier_on_a_60_40_split():
    X, y = labelled_rows()
    found = protocol.pipeline_run(protocol.ALGORITHMS["abm"], X, y, 3)
    X_train, X_test, y_train, y_test = protocol.split(X, y, 3)
    assert len(X_train) == 120
    paper = {"psis": protocol.PSIS, "Cs": protocol.CS, "scale": True, "clip": False}
    model = VanishingClassifierCV(ABM(), **paper).fit(X_train, y_train)
    assert found["params"] == {name: model.best_params_[name] for name in ("psi", "C")}
    assert found["error"] == pytest.approx(100 * (1 - model.score(X_test, y_test)))
    assert found["size"] == model.classifier_.n_generators_ + model.classifier_.n_terms_
    assert found["sparsity"] == model.classifier_.sparsity_
    assert 0 < found["test_s"] < found["tuning_s"]


def test_what_is_timed_has_been_compiled_before():
    calls = []

    class Model:
        def fit(self, X, y):
            calls.append("fit")
            return self

        def predict(self, X):
            calls.append("predict")

    protocol.warm_up([protocol.Algorithm("any", lambda n_jobs: Model())])
    assert calls == ["fit", "predict"]


def test_runs_differ_in_their_split_alone():
    X, y = labelled_rows()
    first, again, other = (protocol.split(X, y, run)[0] for run in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["svm", "svm1", "poly", "boosting"])
def test_other_classifiers_run_and_have_no_size(name):
    X, y = labelled_rows()
    found = protocol.pipeline_run(protocol.ALGORITHMS[name], X, y, 0)
    assert found["size"] is found["sparsity"] is None
    assert 0 <= found["error"] < 50
    assert found["params"]


def test_sizes_run_counts_the_generators_of_both_classes():
    X, y = labelled_rows()
    sizes = protocol.sizes_run(protocol.ALGORITHMS["pcgavi"], X, y, 0)
    assert len(sizes["n_generators"]) == len(protocol.FIGURE_PSIS)
    X_train, _, y_train, _ = protocol.split(X, y, 0)
    X_train = (X_train - X_train.min(axis=0)) / np.ptp(X_train, axis=0)
    paper = OAVI(psi=protocol.FIGURE_PSIS[-1], certify=False, refit=False)
    models = [clone(paper).fit(X_train[y_train == label]) for label in (0, 1)]
    assert sizes["n_generators"][-1] == sum(model.n_generators_ for model in models)
    assert sizes["n_terms"][-1] == sum(model.n_terms_ for model in models)
    assert np.diff(np.log10(protocol.FIGURE_PSIS)) == pytest.approx(-0.4)


def test_the_papers_grids():
    for name in ("pcgavi", "agdavi", "abm", "vca", "pcgavi-bb", "agdavi-bb", "abm-bb"):
        model = protocol.ALGORITHMS[name].make(None)
        assert model.psis == (0.1, 0.05, 0.01, 0.005, 0.001, 0.0005)
        assert model.Cs == (0.1, 1.0, 10.0)
        assert model.cv == 3
        assert (model.scale, model.clip) == (True, False)
        border = model.transformer.get_params().get("border", "gb")
        assert border == ("bb" if name.endswith("-bb") else "gb")


def test_rows_with_the_papers_names_are_its_algorithms_to_the_letter():
    for name in {algorithm for _, algorithm, _ in published()} - {"svm"}:
        parameters = protocol.ALGORITHMS[name].transformer.get_params()
        assert not parameters.get("refit") and not parameters.get("certify")


@pytest.mark.parametrize(
    ("name", "other", "changed"),
    [
        ("pcgavi", "pcgavi-certified", {"certify": True}),
        ("agdavi", "agdavi-certified", {"certify": True}),
        ("pcgavi-bb", "pcgavi-bb-certified", {"certify": True}),
        ("agdavi-bb", "agdavi-bb-certified", {"certify": True}),
        ("pcgavi-certified", "pcgavi-refit", {"refit": True}),
        ("pcgavi-bb-certified", "pcgavi-bb-refit", {"refit": True}),
    ],
)
def test_rows_beside_the_papers_differ_in_what_their_names_say(name, other, changed):
    parameters = protocol.ALGORITHMS[name].transformer.get_params()
    assert {**parameters, **changed} == protocol.ALGORITHMS[other].transformer.get_params()
    for rows in protocol.EXPERIMENTS.values():
        if name in rows and other in rows:
            assert rows.index(other) == rows.index(name) + 1


@pytest.mark.parametrize(
    ("name", "altered"),
    [
        ("pcgavi", True),
        ("abm-bb", True),
        ("pcgavi-refit", False),
        ("agdavi", False),
        ("svm", False),
    ],
)
def test_as_published_takes_one_C_where_the_publication_did(name, altered):
    assert protocol.is_altered(name, as_published=True) == altered
    assert not protocol.is_altered(name, as_published=False)
    if name != "svm":
        found = protocol.algorithm(name, as_published=True).make(None)
        assert found.Cs == ((1.0,) if altered else (0.1, 1.0, 10.0))


# -- Records --------------------------------------------------------------------------------------


def test_a_record_comes_back_as_it_was(tmp_path):
    records = Records(tmp_path / "deep" / "out")
    assert records.load(KEY) is None
    records.save(KEY, FIGURES, machine="a machine")
    assert records.load(KEY)["figures"] == FIGURES
    assert records.load(Key("pipeline", "bank", "pcgavi", 1)) is None
    assert [path.name for path in records.runs.iterdir()] == [KEY.filename]


def damaged(record, **changes):
    return json.dumps({**record, **changes})


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: "",
        lambda record: json.dumps(record)[:40],
        lambda record: "[" * 100_000,
        lambda record: "[1, 2]",
        lambda record: damaged(record, format=1),
        lambda record: damaged(record, dataset="credit"),
        lambda record: damaged(record, run=7),
        lambda record: damaged(record, figures=[]),
        lambda record: damaged(record, machine=None),
        lambda record: damaged(record, figures={**FIGURES, "error": "0"}),
        lambda record: damaged(record, figures={**FIGURES, "error": math.nan}),
        lambda record: damaged(record, figures={**FIGURES, "tuning_s": -1}),
        lambda record: damaged(record, figures={**FIGURES, "size": []}),
    ],
)
def test_a_damaged_record_is_named_and_kept(tmp_path, counted, damage):
    records = Records(tmp_path)
    records.save(KEY, FIGURES, machine="a machine")
    path = records.runs / KEY.filename
    content = damage(json.loads(path.read_text()))
    path.write_text(content)
    with pytest.raises(RecordError, match="Move it away") as caught:
        Experiment("performance", tmp_path, names=["bank"], n_runs=1)
    assert str(path) in str(caught.value)
    assert path.read_text() == content
    assert not counted


def test_bytes_that_are_no_text_are_a_damaged_record(tmp_path):
    records = Records(tmp_path)
    (records.runs / KEY.filename).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="Move it away"):
        records.load(KEY)


# -- Experiments ----------------------------------------------------------------------------------


def experiment(out, **options):
    options = {"names": ["bank", "skin"], "algorithms": ["pcgavi", "svm"], "n_runs": 2, **options}
    return Experiment("performance", out, **options)


def test_every_run_is_made_once_and_those_of_the_slow_svm_are_few(tmp_path, counted):
    first = experiment(tmp_path)
    assert len(first.missing) == 7  # bank: 2 + 2, skin: 2 + 1
    events = []
    with listening(lambda *event: events.append(event)):
        first.run()
    assert len(counted) == 7
    assert [event[:2] for event in events] == [(i + 1, 7) for i in range(7)]
    assert events[0][2].startswith("bank, pcgavi, split 0; about ")
    assert events[-1][2].endswith(" about 0 s left")
    assert "[1 run]" in (tmp_path / "performance.md").read_text()

    again = experiment(tmp_path)
    assert not again.missing
    again.run()
    assert len(counted) == 7

    more = experiment(tmp_path, n_runs=3)
    more.run()
    assert len(counted) == 10


def test_an_interrupted_experiment_goes_on_where_it_stopped(tmp_path, counted, monkeypatch):
    def interrupt(done, of, what):
        if len(counted) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        experiment(tmp_path).run()
    assert len(list((tmp_path / "runs").iterdir())) == 3
    lines = (tmp_path / "performance.runs.csv").read_text().splitlines()
    assert len(lines) == 4  # what is done can be read

    rest = experiment(tmp_path)
    assert len(rest.done) == 3
    rest.run()
    assert len(counted) == 7
    assert len(set(counted)) == 4  # each algorithm with each run
    assert len((tmp_path / "performance.runs.csv").read_text().splitlines()) == 8


def test_experiments_in_one_folder_share_their_runs(tmp_path, counted):
    experiment(tmp_path, algorithms=["pcgavi"]).run()
    borders = Experiment(
        "borders", tmp_path, names=["bank"], algorithms=["pcgavi", "pcgavi-bb"], n_runs=2
    )
    assert len(borders.done) == 2
    published = experiment(tmp_path, algorithms=["pcgavi"], as_published=True)
    assert not published.done
    published.run()
    assert "PCGAVI\\*, C=1" in (tmp_path / "performance-as-published.md").read_text()
    assert "C=1" not in (tmp_path / "performance.md").read_text()


def test_a_failing_run_loses_nothing(tmp_path, counted, monkeypatch):
    experiment(tmp_path, n_runs=1).run()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(protocol, "pipeline_run", fail)
    with pytest.raises(MemoryError):
        experiment(tmp_path).run()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_full_disk_leaves_no_half_written_file(tmp_path, counted, monkeypatch):
    experiment(tmp_path, n_runs=1).run()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        experiment(tmp_path).run()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_estimate_takes_runs_of_the_same_kind_first():
    seconds = {("bank", "abm"): [1.0, 3.0], ("skin", "svm"): [10.0]}
    missing = [Key("pipeline", *kind, 5) for kind in [("bank", "abm"), ("skin", "abm")]]
    assert reproduce._estimate(missing, seconds) == pytest.approx(2.0 + 14.0 / 3.0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"names": ["bank", "iris"]}, "Unknown data set 'iris'; choose from bank, credit"),
        ({"algorithms": ["ABM"]}, "Unknown algorithm 'ABM'; choose from pcgavi"),
        ({"names": []}, "No data set"),
    ],
)
def test_unknown_names_are_told_and_nothing_is_written(tmp_path, options, problem):
    with pytest.raises(ValueError, match=problem):
        Experiment("performance", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_figure_knows_no_kernel_svm(tmp_path):
    with pytest.raises(ValueError, match="Unknown algorithm 'svm'"):
        Experiment("figure", tmp_path, algorithms=["svm"])


def test_the_figure_of_given_counts(tmp_path, counted, monkeypatch):
    pytest.importorskip("matplotlib")

    def run(one, X, y, run, n_jobs):
        counts = [run + 4 * i for i in range(len(protocol.FIGURE_PSIS))]
        return {"n_generators": counts, "n_terms": [2 * count for count in counts]}

    monkeypatch.setattr(protocol, "sizes_run", run)
    figure = Experiment("figure", tmp_path, names=["htru", "skin", "spam"], n_runs=3)
    figure.run()
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    lines = list(csv.DictReader((tmp_path / "figure.csv").open()))
    assert len(lines) == 3 * 4 * len(protocol.FIGURE_PSIS)
    line = next(line for line in lines if line["psi"] == "0.0398107")
    assert (line["mean_generators"], line["std_generators"], line["runs"]) == ("5", "1", "3")
    assert (line["mean_terms"], line["std_terms"]) == ("10", "2")


# -- The command ----------------------------------------------------------------------------------


@pytest.fixture
def command(capsys, monkeypatch):
    for package in ("typer", "rich", "pandas"):
        pytest.importorskip(package)
    monkeypatch.delenv("VANISHING_DATA", raising=False)
    call = caller(capsys, monkeypatch)
    return lambda *arguments: call("reproduce", *arguments)


def test_the_command_makes_tables_and_goes_on(command, data_dir, tmp_path):
    out = tmp_path / "out"
    arguments = ["performance", "--datasets", "seeds", "--algorithms", "abm,svm", "--runs"]
    first = command(*arguments, 1, "--data-dir", data_dir, "--out", out)
    assert first.returncode == 0, first.stderr
    assert "2 runs, 0 of them made earlier" in first.stdout
    assert "| ABM\\* |" in first.stdout
    assert "(5.36)" in first.stdout
    second = command(*arguments, 2, "--data-dir", data_dir, "--out", out)
    assert "4 runs, 2 of them made earlier" in second.stdout
    assert {path.name for path in out.iterdir()} == {
        "performance.csv",
        "performance.md",
        "performance.runs.csv",
        "runs",
    }


def test_bad_requests_get_a_sentence(command, data_dir, tmp_path):
    damaged_data = tmp_path / "damaged"
    damaged_data.mkdir()
    (damaged_data / "seeds.csv.gz").write_bytes(b"no gzip")
    file = tmp_path / "file"
    file.touch()
    out = tmp_path / "out"
    base = ["performance", "--datasets", "seeds", "--algorithms", "abm", "--runs", 1, "--out", out]
    for arguments, problem in [
        (["nothing"], "Unknown experiment 'nothing'"),
        ([*base, "--data-dir", data_dir, "--algorithms", "abm,magic"], "Unknown algorithm 'magic'"),
        ([*base, "--data-dir", data_dir, "--datasets", "iris"], "Unknown data set 'iris'"),
        ([*base, "--data-dir", damaged_data], "seeds.csv.gz cannot be read"),
        ([*base, "--data-dir", data_dir, "--out", file / "out"], "cannot be written"),
    ]:
        result = command(*arguments)
        assert result.returncode in (1, 2)
        assert problem in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stdout == ""
