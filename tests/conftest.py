"""What needs POSIX signals is skipped where there are none, with the reason."""

import os

import pytest

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
