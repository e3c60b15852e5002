"""Published runs, replayed. The records are facts of others: what is tested is our replay."""

# ruff: noqa: NPY002 - the published splits are those of NumPy's global generator

import csv
import io
import os
from dataclasses import replace
from itertools import islice

import commands
import numpy as np
import published as published_code
import pytest
from sklearn.base import clone

from vanishing import OAVI, datasets, listening
from vanishing.experiments import exact, published_search, replay, ties
from vanishing.experiments.exact import ExactReplay
from vanishing.experiments.published_runs import published_runs
from vanishing.experiments.published_search import published_folds
from vanishing.experiments.records import RecordError
from vanishing.experiments.tables import published
from vanishing.oracles import accelerated_gradients

NEEDS_DATA = pytest.mark.skipif(
    "VANISHING_DATA" not in os.environ, reason="needs the paper's data sets in VANISHING_DATA"
)


@pytest.fixture
def counted(monkeypatch):
    """Replays that are counted instead of made: they give what is on record."""
    calls = []

    def recorded(run, X, y):
        calls.append(run)
        figures = {name: value for name, value in run.figures.items() if value is not None}
        return {**figures, "verdict": "identical"}

    monkeypatch.setattr(exact, "replay", recorded)
    monkeypatch.setattr(exact.datasets, "load", lambda name, **_: (np.zeros((2, 1)), np.zeros(2)))
    exact._rows.cache_clear()
    yield calls
    exact._rows.cache_clear()


# -- The records ----------------------------------------------------------------------------------


def test_means_of_the_records_are_the_papers_table():
    runs = published_runs(papers=["oavi"])
    assert len(runs) == 480 and len(published_runs()) == 840
    for (metric, name, dataset), figure in published().items():
        algorithm, _, border = name.partition("-")
        border = border or ("" if algorithm in ("vca", "svm") else "gb")
        mine = [
            r for r in runs if (r.dataset, r.algorithm, r.border) == (dataset, algorithm, border)
        ]
        values = {
            "error": [100 * run.figures["error"] for run in mine],
            "size": [(r.figures["n_generators"] or 0) + (r.figures["n_terms"] or 0) for r in mine],
            "sparsity": [run.figures["sparsity"] for run in mine],
        }.get(metric)
        if values is not None:
            assert np.mean(values) == pytest.approx(figure.value, abs=1.01 * figure.rounding)


@pytest.mark.parametrize(
    ("choice", "n_runs"),
    [
        ({"papers": ["at-scale"]}, 360),
        ({"datasets": ["bank", "seeds"], "algorithms": ["abm"], "borders": ["bb"]}, 20),
        ({"algorithms": ["svm"], "borders": ["gb"]}, 0),
        ({"n_runs": 2}, 168),
    ],
)
def test_records_are_chosen_by_paper_data_set_algorithm_and_border(choice, n_runs):
    assert len(published_runs(**choice)) == n_runs


# -- One replay -----------------------------------------------------------------------------------


def test_splits_are_those_of_numpys_global_generator():
    run = published_runs(datasets=["bank"], algorithms=["abm"])[2]
    state = np.random.get_state()
    try:
        np.random.seed(3)
        third = [np.random.permutation(50) for _ in range(3)][-1]
    finally:
        np.random.set_state(state)
    train, test = replay.published_split(50, run)
    assert np.array_equal(np.concatenate([train, test]), third)
    assert len(train) == 30


def test_the_kernel_svm_draws_between_two_splits():
    """As many as fits of SVC do when three folds of twelve parameters are tried."""
    run = published_runs(datasets=["bank"], algorithms=["svm"])[1]
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    state = np.random.get_state()
    try:
        np.random.seed(3)
        np.random.permutation(20)
        for _ in range(37):
            replay.kernel_svm(2, 1.0).fit(X, y)
        second = np.random.permutation(20)
    finally:
        np.random.set_state(state)
    assert np.array_equal(np.concatenate(replay.published_split(20, run)), second)


def test_a_figure_that_is_off_by_the_least_is_a_difference():
    run = published_runs(papers=["oavi"], datasets=["skin"], algorithms=["pcgavi"])[0]
    assert replay.differences(run, run.figures) == []
    for name, step in {"error": 1 / 98023, "n_terms": 1, "sparsity": 1e-6, "degree": 1e-4}.items():
        assert replay.differences(run, {**run.figures, name: run.figures[name] + step}) == [name]


@pytest.mark.parametrize(
    ("off", "verdict"), [(0, "identical"), (1, "up to ties"), (9, "different")]
)
def test_ties_are_what_is_replayed_when_it_is_rounded_anew(monkeypatch, off, verdict):
    run = published_runs(datasets=["bank"], algorithms=["abm"])[0]
    left = iter([off, off - 1, off - 2, off - 3, off - 4])

    def figures(run, X, y, random=None):
        return {**run.figures, "n_terms": run.figures["n_terms"] + next(left)}

    monkeypatch.setattr(ties, "figures_of", figures)
    outcome = ties.replay(run, np.zeros((10, 2)), np.zeros(10))
    assert outcome["verdict"] == verdict
    assert outcome["n_terms"] == run.figures["n_terms"] + off  # of the rows as they are


def test_rounding_anew_changes_nothing_that_is_well_conditioned():
    run = published_runs(datasets=["bank"], algorithms=["abm"])[0]
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = random.uniform(size=(200, 3)) + y[:, None]
    X[:, 2] = X[:, 0] ** 2 + random.normal(scale=0.1, size=200)
    assert replay.figures_of(run, X, y, random) == pytest.approx(replay.figures_of(run, X, y))


@pytest.mark.parametrize(("recorded", "is_tie"), [(0.0, True), (0.25, True), (0.5, False)])
def test_zeros_that_are_rounded_explain_a_smaller_spar(recorded, is_tie):
    """By hand: t1^2 - t1 vanishes on a column of 0 and 1, and has no constant: one zero of four."""
    (run,) = published_runs(["oavi"], ["credit"], ["abm"], ["gb"], n_runs=1)
    random = np.random.default_rng(0)
    X, y = np.column_stack([np.arange(200) // 2 % 2, random.uniform(size=200)]), np.arange(200) % 2
    figures = replay.figures_of(run, X, y)
    assert ties.sparsest(run, X, y) == 0.25
    record = replace(run, figures={**figures, "sparsity": recorded})
    assert ties.is_tie(record, {**figures, "sparsity": 0.3}, X, y) == is_tie


@NEEDS_DATA
@pytest.mark.slow
def test_the_basis_of_what_vanishes_on_all_rows_decides_errors_of_vca():
    """Sizes and degree of this run are the recorded ones, one row of the test is not."""
    X, y = datasets.load("seeds", return_X_y=True)
    run = published_runs(["oavi"], ["seeds"], ["vca"])[0]
    assert replay.differences(run, replay.figures_of(run, X, y)) == ["error"]
    errors = set(islice(ties.errors_by_basis(run, X, y, np.random.default_rng(0)), 10))
    assert {2 / 84, 3 / 84} <= errors
    assert run.figures["error"] == pytest.approx(3 / 84, abs=1e-8)


# -- The published search -------------------------------------------------------------------------


def test_folds_are_contiguous_and_the_middle_one_trains_on_the_rows_before_it():
    folds = [(list(fit), list(held_out)) for fit, held_out in published_folds(8)]
    assert folds == [
        ([3, 4, 5, 6, 7], [0, 1, 2]),
        ([0, 1, 2], [3, 4, 5]),
        ([0, 1, 2, 3, 4, 5], [6, 7]),
    ]


@pytest.mark.parametrize(
    ("scores", "chosen", "verdict"),
    [
        ({(0.01, 1.0): 0.9, (0.005, 1.0): 0.9}, 0.01, "identical"),  # the first of equal ones
        ({(0.1, 1.0): 0.9, (0.01, 1.0): 0.9}, 0.1, "up to ties"),
        ({(0.01, 1.0): 0.8, (0.005, 1.0): 0.9}, 0.005, "different"),
    ],
)
def test_the_search_takes_the_first_of_the_best(monkeypatch, scores, chosen, verdict):
    run = published_runs(papers=["oavi"], datasets=["seeds"], algorithms=["abm"])[0]
    assert (run.psi, run.C) == (0.01, 1.0)
    monkeypatch.setattr(published_search, "scores_of", lambda *_: scores)
    found = published_search.search(run, None, None)
    assert found == {"psi": chosen, "C": 1.0, "verdict": verdict}


# -- All of them ----------------------------------------------------------------------------------


def chosen(out, **options):
    return ExactReplay(out, names=["bank"], algorithms=["abm", "svm"], n_runs=2, **options)


def test_an_interrupted_replay_goes_on_where_it_stopped(tmp_path, counted):
    def interrupt(done, of, what):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        chosen(tmp_path).run()
    assert len(counted) == 3
    rest = chosen(tmp_path)
    assert len(rest.done) == 3 and len(rest.keys) == 10
    rest.run()
    assert len(counted) == len(set(counted)) == 10
    lines = list(csv.DictReader(io.StringIO((tmp_path / "exact.csv").read_text())))
    assert len(lines) == 10 and {line["verdict"] for line in lines} == {"identical"}


def test_the_table_counts_and_says_what_differs(tmp_path, counted, monkeypatch):
    def other(run, X, y):
        verdict = ("identical", "up to ties", "different")[min(run.run, 3) - 1]
        wrong = run.figures["n_terms"] + (verdict == "different")
        return {**run.figures, "n_terms": wrong, "verdict": verdict}

    monkeypatch.setattr(exact, "replay", other)
    ExactReplay(
        tmp_path, papers=["oavi"], names=["bank"], algorithms=["abm"], borders=["bb"], n_runs=4
    ).run()
    text = (tmp_path / "exact.md").read_text()
    assert "| oavi | ABM-BB | 1 + 1 of 4 |" in text
    assert "| oavi | ABM-BB | not known | bank 3, 4 | \\|O\\| " in text


@pytest.mark.parametrize(
    ("different", "reason"),
    [(["sparsity", "error"], "vertices"), (["n_terms", "sparsity"], "slice"), (["psi"], "fits")],
)
def test_reasons_of_differences_of_conditional_gradients(different, reason):
    run = published_runs(datasets=["bank"], algorithms=["pcgavi"])[0]
    assert exact._reason(run, different) == reason


def test_bpcg_is_the_sequel_s():
    """Its tolerances are larger than the paper's: see test_published_slice.py."""
    model = replay.TRANSFORMERS["bpcgavi-wihb"]
    assert {name: getattr(model, name) for name in published_code.SEQUEL} == published_code.SEQUEL


def test_a_damaged_record_is_named(tmp_path, counted):
    chosen(tmp_path).run()
    path = next((tmp_path / "runs").glob("exact-*"))
    path.write_text(path.read_text().replace('"identical"', '"perfect"'))
    with pytest.raises(RecordError) as caught:
        chosen(tmp_path)
    assert "verdict is 'perfect'" in str(caught.value) and "Move it away" in str(caught.value)


# -- The command ----------------------------------------------------------------------------------


@pytest.fixture
def command(capsys, monkeypatch):
    for package in ("typer", "rich", "pandas"):
        pytest.importorskip(package)
    call = commands.caller(capsys, monkeypatch)
    return lambda *arguments: call("reproduce", *arguments)


def test_requests_that_do_not_fit_get_a_sentence(command, tmp_path):
    for arguments, problem in [
        (["performance", "--exact"], "leave out 'performance'"),
        (["--exact", "--as-published"], "leave out --as-published"),
        (["performance", "--papers", "oavi"], "add --exact"),
        ([], "Give an experiment from performance"),
        (["--exact", "--algorithms", "magic"], "Unknown algorithm 'magic'; choose from pcgavi"),
        (["--exact", "--papers", "third"], "Unknown paper 'third'; choose from oavi, at-scale"),
        (["--exact", "--algorithms", "svm", "--borders", "bb"], "no published run of this choice"),
        (["--exact", "--jobs", "0"], "n_jobs must not be 0: -1 means all cores"),
    ]:
        result = command(*arguments, "--out", tmp_path / "out")
        assert result.returncode in (1, 2)
        assert problem in result.stderr
        assert result.stdout == ""


@NEEDS_DATA
@pytest.mark.slow
def test_an_interruption_of_several_processes_is_one_sentence(tmp_path):
    """A terminal sends Ctrl-C to all processes of a command, which are starting here."""
    for package in ("typer", "rich", "pandas"):
        pytest.importorskip(package)
    code = """
import os, signal, time
from vanishing.cli import main
from vanishing.experiments import exact

def interrupt(futures):
    time.sleep(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # here a second later than in the others
    os.killpg(0, signal.SIGINT)
    time.sleep(1)
    raise KeyboardInterrupt

os.setpgrp()
signal.signal(signal.SIGINT, signal.default_int_handler)
exact.as_completed = interrupt
main()
"""
    arguments = ["--datasets", "seeds", "--algorithms", "abm", "--jobs", 2, "--out", tmp_path]
    result = commands.run("reproduce", "--exact", *arguments, code=code)
    assert result.returncode == 130
    assert result.stderr == "Interrupted. Finished runs are kept; the same command continues.\n"


@NEEDS_DATA
@pytest.mark.slow
@pytest.mark.parametrize(
    ("datasets", "options", "n_runs"),
    [
        ("bank,seeds", ["--algorithms", "abm,agdavi,svm,cgavi-ihb,agdavi-ihb", "--jobs", 2], 180),
        ("bank", ["--algorithms", "vca"], 20),  # on seeds up to ties
        ("bank,seeds", ["--search", "--algorithms", "abm,svm", "--papers=oavi", "--runs", 3], 18),
    ],
)
def test_bank_and_seeds_are_replayed_run_by_run(command, tmp_path, datasets, options, n_runs):
    result = command("--exact", *options, "--datasets", datasets, "--out", tmp_path)
    assert f"{n_runs} runs, 0 of them made earlier" in result.stdout
    (path,) = tmp_path.glob("exact*.csv")
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [line for line in lines if line["verdict"] != "identical"] == []


@NEEDS_DATA
@pytest.mark.slow
def test_conditional_gradients_have_the_recorded_sizes_where_psi_is_large(command, tmp_path):
    """Ties change no sizes, the slice of PCG does below 0.005, and BPCG's are always on record."""
    options = ["--algorithms", "pcgavi,bpcgavi-wihb", "--datasets", "bank,seeds", "--runs", 4]
    command("--exact", *options, "--out", tmp_path)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "exact.csv").read_text())))
    assert len(lines) == 24
    sized = [x for x in lines if x["algorithm"] != "pcgavi" or float(x["psi"]) >= 0.005]
    assert len(sized) > 10
    for line in sized:
        for name in ("n_generators", "n_terms"):
            assert line[name] == line[f"recorded_{name}"]


@NEEDS_DATA
@pytest.mark.slow
def test_the_slice_explains_the_recorded_sizes_of_bb_on_credit():
    """Terms that the published PCG misses join O, and the border has all their multiples."""
    X, y = datasets.load("credit", return_X_y=True)
    (run,) = published_runs(["oavi"], ["credit"], ["pcgavi"], ["bb"], n_runs=1)
    (agd,) = published_runs(["oavi"], ["credit"], ["agdavi"], ["bb"], n_runs=1)
    assert run.psi == agd.psi and published_code.recorded(run) == (3695, 219)
    right = published_code.sizes(run, np.asarray(X), np.asarray(y), False, 1)
    assert set(right) == {published_code.recorded(agd)} == {(866, 54)}
    ((n_generators, n_terms),) = published_code.sizes(run, np.asarray(X), np.asarray(y), True, 1)
    assert n_generators > 2 * 866 and n_terms > 2 * 54


def agd_with_sign(sign):
    """Return the published AGD with this sign of a smallest eigenvalue that is zero."""

    def solve(gram, cross, norm, *, psi, radius):
        eigenvalues = np.linalg.eigvalsh(2.0 * gram)
        smallest, largest = eigenvalues[[0, -1]]
        if smallest <= 1e-14 * largest:
            smallest = sign * 1.001e-14 * largest
        coef, options = np.zeros(cross.size), (psi, 1e-6, 10_000, largest, smallest)
        return coef, accelerated_gradients._run_as_published(gram, cross, norm, *options, coef)[0]

    return solve


@NEEDS_DATA
@pytest.mark.slow
def test_the_sign_of_an_eigenvalue_of_zero_decides_sizes_of_agd_on_credit():
    X, y = datasets.load("credit", return_X_y=True)
    run = published_runs(["oavi"], ["credit"], ["agdavi"], ["bb"])[3]
    train, test = replay.published_split(len(X), run)
    rows = replay.scaled(X, train, test)[0]
    sizes = []
    for sign in (-1, 1):
        solver = agd_with_sign(sign)
        model = OAVI(run.psi, oracle=solver, border="bb", certify=False, refit=False)
        parts = [clone(model).fit(rows[y[train] == label]) for label in (0, 1)]
        sizes.append(sum(part.n_generators_ for part in parts))
    assert sizes[0] < run.figures["n_generators"] < sizes[1]
