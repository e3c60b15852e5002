"""How far a fit is: events for those who listen, lines for verbose, and bars of the commands."""

import re
import threading

import numpy as np
import pandas as pd
import pytest
from commands import caller, check_failed, run

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    ConservedQuantities,
    LawFinder,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
    listening,
)
from vanishing.estimators.progress import Progress

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(0.5, 1.0, size=(120, 3))
Y = X[:, 0] * X[:, 1] / X[:, 2]
LABELS = (X[:, 0] > X[:, 1]).astype(int)
RUNS = np.repeat(np.arange(6), 20)
ANGLES = RANDOM.uniform(0, 6, size=120)
MOTION = (1.0 + RUNS[:, None]) * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])

FITS = {
    "OAVI": lambda **options: OAVI(0.001, max_degree=3, **options).fit(X),
    "ABM": lambda **options: ABM(0.001, max_degree=3, **options).fit(X),
    "AVI": lambda **options: AVI(0.001, max_degree=3, **options).fit(X),
    "VCA": lambda **options: VCA(0.01, max_degree=3, **options).fit(X),
    "LawFinder": lambda **options: LawFinder(max_degree=2, **options).fit(
        X, X[:, 0] + X[:, 1] ** 2
    ),
    "VanishingClassifierCV": lambda **options: VanishingClassifierCV(
        psis=(0.1, 0.01), Cs=(1.0,), **options
    ).fit(X, LABELS),
    "ConservedQuantities": lambda **options: ConservedQuantities(2, **options).fit(
        MOTION, groups=RUNS
    ),
    "VanishingOutlierDetector": lambda: VanishingOutlierDetector().fit(X),
}


def events_of(work):
    events = []
    with listening(lambda *event: events.append(event)):
        work()
    return events


@pytest.mark.parametrize("name", FITS)
def test_steps_are_counted_from_one(name):
    events = events_of(FITS[name])
    assert [done for done, _, _ in events] == list(range(1, len(events) + 1))
    assert len(events) > 1
    for done, of, what in events:
        assert of is None or done <= of
        assert what and "\n" not in what
    if events[-1][1] is not None:
        assert events[-1][0] == events[-1][1]


@pytest.mark.parametrize("name", [name for name in FITS if name != "VanishingOutlierDetector"])
def test_verbose_prints_the_same_events(name, capsys):
    assert not events_of(lambda: None)
    FITS[name]()
    assert not capsys.readouterr().out
    events = events_of(lambda: FITS[name](verbose=1))
    lines = [f"[{name}] {'' if of is None else f'{i}: '}{what}" for i, of, what in events]
    assert capsys.readouterr().out.splitlines() == lines


# -- Who listens ----------------------------------------------------------------------------------


def test_nobody_is_told_after_the_block_nor_in_another_thread():
    events = []
    with listening(lambda *event: events.append(event)):
        thread = threading.Thread(target=FITS["OAVI"])
        thread.start()
        thread.join()
    FITS["OAVI"]()
    assert not events


def test_the_innermost_listens_and_none_means_nobody():
    outer, inner = [], []
    with listening(lambda *event: outer.append(event)):
        with listening(lambda *event: inner.append(event)):
            FITS["VCA"]()
        with listening(None):
            FITS["VCA"]()
        assert inner and not outer
        FITS["VCA"]()
    assert [event[0] for event in outer] == [event[0] for event in inner]


def test_an_estimator_passes_the_events_of_its_parts_on():
    """A search counts its own: what its fits do inside is no step of it."""
    events = events_of(lambda: VanishingFeatures(OAVI(0.001, max_degree=2)).fit(X, LABELS))
    assert [event[0] for event in events] == [1, 2, 1, 2]  # two classes, two degrees
    search = VanishingClassifierCV(OAVI(max_degree=2), psis=(0.1, 0.01), Cs=(1.0,), scale=True)
    assert [event[0] for event in events_of(lambda: search.fit(X, LABELS))] == list(range(1, 7))


@pytest.mark.parametrize("callback", [1, "print", []])
def test_a_callback_is_called(callback):
    with pytest.raises(TypeError, match="must be callable, or None; got"), listening(callback):
        pass


# -- Threads --------------------------------------------------------------------------------------


def test_threads_of_a_fit_tell_one_at_a_time():
    busy, together, counts, here = threading.Lock(), [], [], threading.get_ident()

    def hear(done, of, what):
        together.append(not busy.acquire(blocking=False))
        counts.append(done)
        if threading.get_ident() == here:
            threading.Event().wait(0.02)  # for the other thread to come
        busy.release()

    search = VanishingClassifierCV(psis=(0.1, 0.05, 0.01, 0.005), Cs=(1.0,), n_jobs=2)
    with listening(hear):
        search.fit(X, LABELS)
    assert not any(together)
    assert counts == list(range(1, 13))  # in order, whichever thread was first


def test_a_fit_in_the_callback_is_not_heard():
    """Nor does it wait for itself, with threads of its own."""
    heard = []

    def hear(*event):
        heard.append(event)
        VanishingFeatures(OAVI(0.01, max_degree=2), n_jobs=2).fit(X, LABELS)

    with listening(hear):
        OAVI(0.001, max_degree=2, n_jobs=2).fit(X)
    assert len(heard) == 2


# -- Interruptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_of_the_callback_ends_the_fit_and_leaves_the_estimator(name, error):
    model = FITS[name]()
    before = vars(model).copy()
    arguments = {
        "LawFinder": (X, X[:, 0]),
        "VanishingClassifierCV": (X, 1 - LABELS),
        "ConservedQuantities": (MOTION[::-1], None, RUNS[::-1]),
    }.get(name, (X[::2],))

    def stop(done, of, what):
        raise error("stopped")

    with listening(stop), pytest.raises(error, match="stopped"):
        model.fit(*arguments)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
    assert len(events_of(FITS[name])) > 1  # nothing is left behind


def test_steps_that_are_planned_on_the_way():
    progress = Progress("x")
    assert events_of(lambda: progress.step("one")) == [(1, None, "one")]
    progress.plan(2)
    progress.plan(1)
    assert events_of(lambda: progress.step("two")) == [(2, 3, "two")]


# -- The command line -----------------------------------------------------------------------------


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress")
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.assign(y=Y).to_csv(path / "laws.csv", index=False)
    table.assign(label=LABELS).to_csv(path / "classes.csv", index=False)
    motion = pd.DataFrame(MOTION, columns=["u", "v"])
    motion.assign(run=RUNS).to_csv(path / "motion.csv", index=False)
    vanishing.VanishingClassifier().fit(table, LABELS).save(path / "model.json")
    return path


COMMANDS = {
    "laws": (["laws.csv", "--target", "y", "--out", "OUT"], r"Which law holds\?: \w+"),
    "outliers": (["laws.csv", "--out", "OUT"], r"laws\?, 4 of 4: fitted residuals and laws"),
    "motion": (
        ["motion.csv", "--run", "run", "--out", "OUT"],
        r"What stays the same\?: 6 runs, \d",
    ),
    "fit": (
        ["classes.csv", "--target", "label", "--tune", "--out", "OUT"],
        r"Which class is it\?, (\d+) of \1: psi",
    ),
    "predict": (["model.json", "classes.csv", "--out", "OUT"], r"Predicting: 120 rows"),
}


def arguments_of(name, folder, out):
    paths = {"OUT": out} | {path.name: path for path in folder.iterdir()}
    return [name, *(paths.get(word, word) for word in COMMANDS[name][0])]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_show_in_a_terminal_how_far_they_are(name, call, folder, tmp_path, monkeypatch):
    arguments = arguments_of(name, folder, tmp_path / "out")
    quiet = call(*arguments)
    assert quiet.returncode == 0
    assert "?" not in quiet.stderr
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were one
    loud = call(*arguments)
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", loud.stderr)
    assert re.search(COMMANDS[name][1], text), text
    assert "[LawFinder]" not in loud.stdout + loud.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interruption_on_the_way_leaves_the_files(name, folder, tmp_path):
    out = tmp_path / "out"
    out.write_text("before")
    code = (
        "import os, signal; from vanishing.cli import main\n"
        "from vanishing.estimators.progress import Progress\n"
        # A shell that runs the tests in the background has told them to ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "Progress.step = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "main()"
    )
    result = run(*arguments_of(name, folder, out), code=code)
    check_failed(result, "Interrupted: nothing was written.", code=130)
    assert out.read_text() == "before"
    assert list(tmp_path.iterdir()) == [out]
