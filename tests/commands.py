"""The command line, run in a process of its own or called in this one."""

import os
import subprocess
import sys

import pytest

from vanishing import cli

RUN = "from vanishing.cli import main; main()"


def run(*arguments, code=RUN, **environment):
    """Run the command line in a process of its own, through its entry point."""
    environment = {**os.environ, "COLUMNS": "100", **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )


def caller(capsys, monkeypatch):
    """Return what calls the entry point in this process, without the time that a start takes."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["vanishing", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(
            arguments, left.value.code or 0, captured.out, captured.err
        )

    return call


def check_failed(result, *problems, code=2):
    """Check that there is one sentence and nothing else."""
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for problem in problems:
        assert problem in result.stderr
