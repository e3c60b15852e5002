import subprocess
import sys

import pytest

import vanishing
from vanishing import cli


@pytest.fixture
def invoke():
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    return lambda *arguments: CliRunner().invoke(cli.build_app(), list(arguments))


def test_demo_prints_equations_and_what_they_are_good_for(invoke):
    pytest.importorskip("pandas")
    result = invoke("demo")
    assert result.exit_code == 0, result.output
    for part in ["y^2 + 0.99", "*x^2 - 0.99", "petal_length", "setosa", "versicolor", "virginica"]:
        assert part in result.output
    assert "What next" in result.output
    assert "README" in result.output


def test_version(invoke):
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"vanishing {vanishing.__version__}"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_has_an_example(invoke, arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert "Example: vanishing demo" in result.output


def test_no_command_shows_the_help(invoke):
    assert "demo" in invoke().output


@pytest.mark.parametrize("missing", ["pandas", "rich", "typer"])
def test_without_the_extra_one_sentence_says_what_to_install(missing):
    # For the import system, None in sys.modules is a module that does not exist.
    code = f"import sys; sys.modules[{missing!r}] = None; from vanishing import cli; cli.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert missing in result.stderr
    assert "python -m pip install 'vanishing[app]'" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
