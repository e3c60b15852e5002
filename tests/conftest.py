"""One profile of Hypothesis, a browser and an app for tests, POSIX signals where there are any."""

import os

import pytest
from chromium import Browser, why_not
from hypothesis import HealthCheck, settings
from serving import Server

# A busy machine fails no test, and what CI runs is the same every time.
settings.register_profile(
    "vanishing",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("vanishing")


@pytest.fixture(scope="module")
def browser():
    """Return a browser; tests of pages are skipped where there is none."""
    if reason := why_not():
        pytest.skip(reason)
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return a server of the app that runs."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    running = Server(tmp_path_factory.mktemp("temporary"))
    yield running
    running.end()


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """Return the files of the app's examples, by name."""
    from vanishing.questions import EXAMPLES

    folder = tmp_path_factory.mktemp("examples")
    return {name: example.write(folder) for name, example in EXAMPLES.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Run single files in this process: starting others takes longer. Else xdist decides."""
    return 0 if all(".py" in argument for argument in config.args) else None


# Files, and what the names of their tests contain that interrupt, kill, fork or limit a process.
_SIGNALS = {
    "test_faults.py": "",
    "test_files.py": "",
    "test_fuzz.py": "",
    "test_cli.py": "interrupt",
    "test_cli_laws.py": "interrupt",
    "test_persistence.py": "kill",
}


def pytest_collection_modifyitems(items):
    if os.name == "posix":
        return
    for item in items:
        if (part := _SIGNALS.get(item.path.name)) is not None and part in item.name:
            item.add_marker(pytest.mark.skip(reason="POSIX signals are needed"))
