"""What happens when something goes wrong, or many things happen at once."""

import hashlib
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from helpers import forked, needs_fork
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_info, threadpool_limits

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    L1SquaredHingeSVC,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    _threads,
)
from vanishing.cli.console import sentences
from vanishing.experiments.records import Key, Records

SOURCE = str(Path(vanishing.__file__).parent)
X, Y = load_iris(return_X_y=True)
Z = MinMaxScaler().fit_transform(X)
NAMED = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])  # another number of columns, and names

pytestmark = pytest.mark.filterwarnings("ignore")


def run(script, *arguments, **options):
    """Run a script in a process of its own, in which Ctrl-C is an exception."""
    head = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(SOURCE).parent), "COLUMNS": "100"}
    environment |= options.pop("environment", {})
    return subprocess.Popen(
        [sys.executable, "-c", head + script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def finished(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


# -- Interruption of a fit ------------------------------------------------------------------------


def interrupted(call, at):
    """Call something, with Ctrl-C at some call of a function of the library.

    Returns how many such calls there were, and whether it was interrupted.
    """
    count = 0

    def watch(frame, event, _):
        nonlocal count
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            count += 1
            if count == at:
                raise KeyboardInterrupt

    sys.setprofile(watch)
    try:
        call()
    except KeyboardInterrupt:
        return count, True
    finally:
        sys.setprofile(None)
    return count, False


def is_as_before(model, before):
    return vars(model).keys() == before.keys() and all(
        vars(model)[name] is value for name, value in before.items()
    )


def blas_threads():
    return [(info["filepath"], info["num_threads"]) for info in threadpool_info()]


INTERRUPTED = {
    "OAVI": OAVI(0.01, feature_order="pearson"),
    "ABM": ABM(0.01),
    "AVI": AVI(0.01),
    "VCA": VCA(0.01, max_degree=2),
    "L1SquaredHingeSVC": L1SquaredHingeSVC(),
    "VanishingFeatures": VanishingFeatures(OAVI(0.01)),
    "VanishingClassifier": VanishingClassifier(OAVI(0.01), clip=True),
    "VanishingClassifier of components": VanishingClassifier(
        VCA(0.01, max_degree=2), scale="quantile"
    ),
    "VanishingClassifierCV": VanishingClassifierCV(psis=(0.1, 0.01), Cs=(1.0,), cv=2),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_fit_leaves_the_model_as_it_was(name):
    model = clone(INTERRUPTED[name]).fit(X, Y)
    fresh = clone(model)
    before, parameters, threads = dict(vars(model)), repr(fresh), blas_threads()
    n_calls, _ = interrupted(lambda: clone(model).fit(NAMED, Y > 0), at=None)
    assert n_calls > 100
    for at in {1, 2, 3, n_calls - 1, n_calls, *np.linspace(4, n_calls - 2, 12).astype(int)}:
        if interrupted(partial(model.fit, NAMED, Y > 0), at)[1]:
            assert is_as_before(model, before), at
        else:  # a few calls fewer than the first time
            assert model.n_features_in_ == 3
            model = clone(fresh).fit(X, Y)
            before = dict(vars(model))
        assert blas_threads() == threads
        assert not _threads._holders
        if interrupted(partial(fresh.fit, NAMED, Y > 0), at)[1]:
            with pytest.raises(NotFittedError):
                check_is_fitted(fresh)
        fresh = clone(fresh)
        assert repr(fresh) == parameters
    model.predict(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("name", INTERRUPTED)
@pytest.mark.parametrize(
    "wrong", [(NAMED, Y[:-1]), (NAMED, np.zeros(150)), (NAMED, Y, -np.ones(150))]
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(name, wrong):
    model = clone(INTERRUPTED[name]).fit(X, Y)
    before = dict(vars(model))
    try:
        model.fit(*wrong)
    except ValueError:
        assert is_as_before(model, before)
    else:
        assert model.n_features_in_ == 3  # one class is enough for some


def stopping(after):
    """An oracle that is interrupted in the middle of a fit."""

    def oracle(gram, cross, norm, *, psi, radius):
        nonlocal after
        after -= 1
        if after < 0:
            raise KeyboardInterrupt
        coef = np.linalg.lstsq(gram, -cross, rcond=None)[0]
        return coef, norm + cross @ coef

    return oracle


@pytest.mark.parametrize("after", [0, 1, 7])
def test_generators_survive_an_interrupted_oracle(after):
    model = OAVI().fit(Z)
    values, threads = model.transform(Z), blas_threads()
    model.set_params(oracle=stopping(after))
    with pytest.raises(KeyboardInterrupt):
        model.fit(Z[:, ::-1])
    np.testing.assert_array_equal(model.transform(Z), values)
    assert model.n_generators_ == len(model.generators_) == len(model.coef_) == len(model.mse_)
    assert blas_threads() == threads


def test_moments_are_of_all_rows_of_an_update_or_of_none():
    moments = Moments(4, 2).update(Z)
    n_calls, _ = interrupted(lambda: Moments(4, 2).update(Z), at=None)
    for at in range(1, n_calls + 1):
        before = Moments(4, 2) + moments
        if interrupted(lambda: moments.update(Z[:50]), at)[1]:
            assert moments == before
        assert moments.total_weight == moments.n_samples


@pytest.mark.slow
@needs_fork
def test_signals_at_any_moment_leave_the_old_model_or_the_new_one():
    process = run(
        "import os, random, sys, threading, time, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "import numpy as np\n"
        "from vanishing import OAVI, VanishingClassifier\n"
        "rng = np.random.default_rng(0)\n"
        "data = [(rng.random((3000, n)), np.arange(3000) % 2) for n in (3, 4)]\n"
        "model = VanishingClassifier(OAVI(0.01), n_jobs=int(sys.argv[1]))\n"
        "start = time.perf_counter()\n"
        "for X, y in [*data, *data, data[0]]:\n"
        "    model.fit(X, y)\n"
        "length = (time.perf_counter() - start) / 5\n"
        "choose, n, old = random.Random(0), 0, 3\n"
        "for i in range(30):\n"
        "    X, y = data[1 - i % 2]\n"
        "    ring = threading.Thread(target=lambda: (time.sleep(choose.random() * length),\n"
        "        os.kill(os.getpid(), signal.SIGINT)))\n"
        "    try:\n"
        "        ring.start()\n"
        "        model.fit(X, y)\n"
        "        ring.join()\n"
        "        time.sleep(0.001)\n"
        "    except KeyboardInterrupt:\n"
        "        n += 1\n"
        "    ring.join()\n"
        "    k = model.n_features_in_\n"
        "    assert k in (old, X.shape[1])\n"
        "    assert model.scaler_.n_features_in_ == model.features_.n_features_in_ == k\n"
        "    assert model.final_estimator_.n_features_in_ == max(1, model.n_generators_)\n"
        "    model.predict(data[k - 3][0][:5])\n"
        "    old = k\n"
        "print(n)\n",
        2,
    )
    code, out, err = finished(process)
    assert code == 0, err
    assert int(out) == 30


# -- Interruption of the command line -------------------------------------------------------------

MAIN = "from vanishing.cli import main; main()\n"
KILL = "lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((4000, 8)), columns=list("abcdefgh"))
    rows.assign(y=np.arange(4000) % 4).to_csv(folder / "slow.csv", index=False)
    pd.DataFrame(X, columns=list("abcd")).assign(y=Y).to_csv(folder / "iris.csv", index=False)
    VanishingClassifier(OAVI(0.01)).fit(pd.DataFrame(X, columns=list("abcd")), Y).save(
        folder / "m.json"
    )
    return folder


def check_interrupted(process, said="Interrupted: nothing was written.\n"):
    code, _, err = finished(process)
    assert code == 130, err
    assert err == said


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_tuning(table, tmp_path):
    script = (
        "from vanishing.estimators.progress import Progress\n"
        "step = Progress.step\n"
        "Progress.step = lambda *event: (print('fits', flush=True), step(*event))\n"
    )
    process = run(
        script + MAIN,
        *["fit", table / "slow.csv", "--target", "y", "--tune", "--out", tmp_path / "m.json"],
        environment={"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout.readline() == "fits\n"  # from here on
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    check_interrupted(process)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command, where",
    [
        ("predict", "vanishing.persistence.files.os.fsync"),
        ("report", "vanishing.report.page_of"),
    ],
)
def test_ctrl_c_leaves_what_was_there(table, tmp_path, command, where):
    out = tmp_path / "out"
    out.write_text("old")
    module, _, name = where.rpartition(".")
    script = f"import os, vanishing.report\n{module}.{name} = {KILL}\n"
    check_interrupted(
        run(script + MAIN, command, table / "m.json", table / "iris.csv", "--out", out)
    )
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.slow
def test_an_interrupted_reproduction_keeps_its_runs(tmp_path):
    script = (
        "import os, numpy as np\n"
        "from vanishing import datasets\n"
        "from vanishing.experiments import protocol\n"
        "rng = np.random.default_rng(0)\n"
        "datasets.load = lambda *_, **__: (rng.random((80, 3)), np.arange(80) % 2)\n"
        "protocol.warm_up = lambda algorithms: None\n"
        "once, n = protocol.pipeline_run, 0\n"
        "def twice(*arguments):\n"
        "    global n\n"
        "    n += 1\n"
        "    if n == 3:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return once(*arguments)\n"
        "protocol.pipeline_run = twice\n"
    )
    arguments = ["reproduce", "performance", "--datasets", "bank", "--algorithms", "pcgavi"]
    process = run(script + MAIN, *arguments, "--runs", 4, "--out", tmp_path)
    code, _, err = finished(process)
    assert code == 130, err
    assert "Finished runs are kept; the same command continues." in err
    files = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert files == [f"pipeline-bank-pcgavi-{run}.json" for run in (0, 1)]
    records = Records(tmp_path)
    assert records.load(Key("pipeline", "bank", "pcgavi", 1))["run"] == 1
    assert "[2 runs]" in (tmp_path / "performance.md").read_text()


@pytest.mark.slow
def test_ctrl_c_before_a_reproduction_begins_is_a_sentence(tmp_path):
    script = f"import os, vanishing.cli.reproduce as r\nr.find_spec = {KILL}\n"
    out = tmp_path / "results"
    check_interrupted(run(script + MAIN, "reproduce", "figure", "--out", out))
    assert not out.exists()


# -- Threads and processes ------------------------------------------------------------------------

FITTED = {
    "OAVI": lambda: OAVI(0.01).fit(Z),
    "ABM": lambda: ABM(0.01).fit(Z),
    "AVI": lambda: AVI(0.01).fit(Z),
    "VCA": lambda: VCA(0.01, max_degree=2).fit(Z),
    "VanishingFeatures": lambda: VanishingFeatures(OAVI(0.01)).fit(Z, Y),
    "L1SquaredHingeSVC": lambda: L1SquaredHingeSVC().fit(Z, Y),
    "VanishingClassifier": lambda: VanishingClassifier(OAVI(0.01), clip=True).fit(X, Y),
    "VanishingClassifier, quantiles": lambda: VanishingClassifier(
        VCA(max_degree=2), scale="quantile"
    ).fit(X, Y),
    "VanishingClassifierCV": lambda: VanishingClassifierCV(psis=(0.1, 0.01), Cs=(1.0,)).fit(X, Y),
}


def said_of(model, rows):
    """All that a model says of rows, as text and numbers."""
    found = {}
    for name in ("transform", "decision_function", "predict"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(rows)
    if hasattr(model, "explain"):
        parts = [part for one in model.explain(rows) for part in one]
        found["explain"] = [f"{part['class']}: {part['generator']}" for part in parts]
        found["contributions"] = np.array([part["contribution"] for part in parts])
    return found


def assert_alike(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("name", FITTED)
def test_one_model_in_many_threads(name):
    model = FITTED[name]()
    threads = blas_threads()
    rng = np.random.default_rng(0)
    blocks = [X[rng.integers(0, 150, size=size)] for size in (1, 5, 40, 150) * 4]
    expected = [said_of(model, block) for block in blocks]
    again = pickle.loads(pickle.dumps(model))  # nothing that evaluation keeps is there yet
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(partial(said_of, again), blocks))
    for found, wanted in zip(together, expected, strict=True):
        assert_alike(found, wanted)
    assert blas_threads() == threads


def test_fits_in_threads_at_once_are_those_of_one_after_the_other():
    threads = blas_threads()
    makers = [FITTED[name] for name in ("OAVI", "VCA", "VanishingClassifier", "ABM")] * 3
    alone = [make() for make in makers[:4]] * 3
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda make: make(), makers))
    for model, other in zip(together, alone, strict=True):
        assert_alike(said_of(model, X), said_of(other, X))
    assert blas_threads() == threads
    assert not _threads._holders


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_fit_and_predict_in_other_processes(backend):
    model = VanishingClassifier(OAVI(0.01)).fit(X, Y)
    tasks = [joblib.delayed(clone(model).fit)(X, Y), joblib.delayed(model.decision_function)(X)]
    again, scores = joblib.Parallel(n_jobs=2, backend=backend)(tasks)
    np.testing.assert_array_equal(scores, model.decision_function(X))
    np.testing.assert_array_equal(again.decision_function(X), scores)
    np.testing.assert_array_equal(again.final_estimator_.coef_, model.final_estimator_.coef_)


@needs_fork
def test_a_process_forked_in_the_middle_of_a_fit_can_work():
    with _threads.one_blas_thread(), _threads._lock:  # as another thread may hold them

        def fit():
            assert not _threads._holders
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                VanishingClassifier(OAVI(0.01)).fit(X, Y).predict(X)

        child = forked(fit)
        deadline = time.monotonic() + 300
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise AssertionError("the forked process waits for a lock that no one holds")
            time.sleep(0.01)
    assert ended[1] == 0


# -- The same result every time -------------------------------------------------------------------


def content(model, folder):
    """What is fitted, to the last bit, but for times."""
    vanishing.save(model, folder / "model.json")
    fitted = json.loads((folder / "model.json").read_text())["model"]["fitted"]
    if "cv_results" in fitted:
        fitted["cv_results"] = {k: v for k, v in fitted["cv_results"].items() if "time" not in k}
    text = json.dumps(fitted)
    return re.sub(r'"n_jobs": (\d|null)', "", text)


@pytest.mark.parametrize(
    "model",
    [
        VanishingFeatures(OAVI(0.01)),
        VanishingClassifier(OAVI(0.01)),
        VanishingClassifier(VCA(0.01, max_degree=2)),
        VanishingClassifierCV(psis=(0.1, 0.01, 0.005), Cs=(1.0, 10.0)),
    ],
    ids=repr,
)
def test_the_number_of_jobs_changes_no_bit(model, tmp_path):
    models = [clone(model).set_params(n_jobs=n).fit(X, Y) for n in (None, 1, 2, 4)]
    assert len({content(model, tmp_path) for model in models}) == 1


@pytest.mark.parametrize("name", FITTED)
def test_blas_threads_change_rounding_at_most(name):
    found = []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            found.append(said_of(FITTED[name](), X))
    assert_alike(*found)


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_iris
from vanishing import ABM, OAVI, VCA, VanishingClassifier, VanishingClassifierCV
X, y = load_iris(return_X_y=True)
models = [OAVI(0.01, oracle=oracle) for oracle in ("pcg", "omp", "agd")] + [ABM(0.01)]
models = [model.fit(X / 8) for model in [*models, VCA(0.01, max_degree=2)]]
models.append(VanishingClassifier(n_jobs=2).fit(X, y))
models.append(VanishingClassifierCV(psis=(0.1, 0.01), Cs=(1.0, 10.0)).fit(X, y).classifier_)
for i, model in enumerate(models):
    model.save(f"{sys.argv[1]}/{i}.json")
"""


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path):
    folders = [tmp_path / "1", tmp_path / "2"]
    processes = []
    for seed, folder in enumerate(folders, 1):
        folder.mkdir()
        processes.append(run(SCRIPT, folder, environment={"PYTHONHASHSEED": str(seed)}))
    for process in processes:
        code, _, err = finished(process)
        assert code == 0, err
    digests = [
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())]
        for folder in folders
    ]
    assert len(digests[0]) == 7
    assert digests[0] == digests[1]


def test_ctrl_c_waits_while_numba_compiles():
    """Within the compiler an exception is lost, or ends in a crash."""
    compiled = []
    compiler = {"__name__": "numba.core.stand_in", "signal": signal, "compiled": compiled}
    exec("def compile_():\n signal.raise_signal(signal.SIGINT)\n compiled.append(1)", compiler)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as interrupted, sentences():
            compiler["compile_"]()
            time.sleep(10)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted.value.code == 130 and compiled
