"""A server of the app for a module of tests."""

import pytest
from serving import Server

from vanishing.questions import EXAMPLES


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return a server that runs."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    running = Server(tmp_path_factory.mktemp("temporary"))
    yield running
    running.end()


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """Return the files of the examples, by name."""
    folder = tmp_path_factory.mktemp("examples")
    return {name: example.write(folder) for name, example in EXAMPLES.items()}
