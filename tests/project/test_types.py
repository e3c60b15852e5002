"""Types of the public surface: a program of a user has no Any, and mistakes are reported."""

import ast
import inspect
import re
import runpy
import types
from pathlib import Path
from typing import get_overloads

import pytest
from mypy import api

import vanishing

HERE = Path(__file__).parent / "typed"


@pytest.fixture(autouse=True)
def this_package(monkeypatch):
    monkeypatch.setenv("MYPYPATH", str(Path(vanishing.__file__).parents[1]))


def strictly_checked(path, cache):
    options = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={cache}"]
    output, errors, _ = api.run([*options, str(path)])
    assert not errors, errors
    return output


def with_types_revealed(source):
    """Return a program in which mypy tells the type of every value that it computes."""
    nodes = list(ast.walk(ast.parse(source)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    values = (ast.Call, ast.Attribute, ast.Subscript)
    lines = [
        ast.unparse(node) for node in nodes if isinstance(node, values) and id(node) not in called
    ]
    own = [line for line in dict.fromkeys(lines) if not re.match(r"np|X\b|y\b|print|Path", line)]
    return source + "".join(f"reveal_type({line})\n" for line in own), len(own)


@pytest.mark.slow
def test_program_of_a_user_has_types_and_no_any(tmp_path):
    source, n_revealed = with_types_revealed((HERE / "program.py").read_text())
    program = tmp_path / "program.py"
    program.write_text(source)
    output = strictly_checked(program, tmp_path / "cache")
    notes = [line for line in output.splitlines() if "Revealed type is" in line]
    assert not [line for line in output.splitlines() if ": error:" in line], output
    assert len(notes) == n_revealed > 40
    assert not [line for line in notes if re.search(r"\bAny\b", line)]


@pytest.mark.filterwarnings("ignore")
def test_program_of_a_user_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HERE / "program.py"))
    assert "y = x0*x1/x2" in capsys.readouterr().out


@pytest.mark.slow
def test_mistakes_are_reported(tmp_path):
    path = HERE / "mistakes.py"
    output = strictly_checked(path, tmp_path / "cache")
    expected = {
        i: re.search(r"# ([a-z-]+)$", line)[1]
        for i, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"# [a-z-]+$", line)
    }
    assert len(expected) == 10
    pattern = re.compile(r"mistakes\.py:(\d+): error: .*\[([a-z-]+)\]$", re.M)
    assert {int(line): kind for line, kind in pattern.findall(output)} == expected


def public_functions():
    """Yield every public function and method of the package with its name."""
    for name in vanishing.__all__:
        value = getattr(vanishing, name)
        is_module = isinstance(value, types.ModuleType)
        for inner in getattr(value, "__all__", []) if is_module else [None]:
            yield from _functions_of(name if inner is None else f"{name}.{inner}", value, inner)


def _functions_of(name, value, inner):
    value = value if inner is None else getattr(value, inner)
    if inspect.isfunction(value):
        yield name, value
    elif inspect.isclass(value):
        for member, method in inspect.getmembers(value):
            method = method.fget if isinstance(method, property) else method
            function = inspect.unwrap(getattr(method, "__func__", method))
            is_ours = str(getattr(function, "__module__", "")).startswith("vanishing")
            is_public = not member.startswith("_") or member in ("__init__", "__call__")
            if inspect.isfunction(function) and is_ours and is_public:
                yield f"{name}.{member}", function


@pytest.mark.parametrize(("name", "function"), dict(public_functions()).items())
def test_every_public_function_is_annotated(name, function):
    signature = inspect.signature((get_overloads(function) or [function])[0])
    missing = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    if function.__name__ != "__init__" and signature.return_annotation is signature.empty:
        missing.append("return")
    assert not missing
