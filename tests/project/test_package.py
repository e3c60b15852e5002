"""The root of the package: public names, imported when they are first used."""

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import vanishing
from vanishing import _names

MODULES = ["bounds", "datasets", "export", "inspection", "laws", "motion", "oracles"]
MODULES += ["plot", "polynomials", "report", "units"]


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_dir_has_exactly_the_public_names():
    assert dir(vanishing) == sorted(vanishing.__all__)
    assert {*vanishing.__all__} == {*_names.PLACES, *MODULES}
    assert len({*vanishing.__all__}) == len(vanishing.__all__)
    for name in dir(vanishing):
        assert getattr(vanishing, name) is not None
        assert not name.startswith("_") or name == "__version__"


@pytest.mark.slow
def test_dir_has_no_more_when_every_module_was_imported():
    code = """
import importlib, pkgutil, vanishing
before = dir(vanishing)
for module in pkgutil.walk_packages(vanishing.__path__, "vanishing."):
    if ".cli" not in module.name:
        importlib.import_module(module.name)
print(dir(vanishing) == before, "learning" in vars(vanishing))
"""
    assert run(code) == "True True\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_there_after_import_vanishing_alone(name):
    assert run(f"import vanishing; print(vanishing.{name}.__name__)") == f"vanishing.{name}\n"
    assert getattr(vanishing, name) is importlib.import_module(f"vanishing.{name}")


def test_the_import_alone_takes_no_other_package():
    code = "import sys, vanishing; print({'numpy', 'numba', 'sklearn', 'scipy'} & set(sys.modules))"
    assert run(code) == "set()\n"


def test_an_unknown_attribute_is_told_as_python_does():
    with pytest.raises(AttributeError, match=r"^module 'vanishing' has no attribute 'OAVY'$"):
        vanishing.OAVY  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'OAVY' from 'vanishing'"):
        from vanishing import OAVY  # noqa: F401
    assert not hasattr(vanishing, "constructor")


def test_those_who_only_read_see_the_same_names():
    tree = ast.parse(Path(vanishing.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    read = {}
    for node in block.body:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}" if node.module == "vanishing" else node.module
            read[alias.asname or alias.name] = whole.removeprefix("vanishing.")
    assert read == {**_names.PLACES, **{name: name for name in _names.MODULES}}


def test_pickles_need_nothing_but_the_pickle(tmp_path):
    model = vanishing.OAVI(psi=0.01).fit([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    (tmp_path / "m.pickle").write_bytes(pickle.dumps((model, vanishing.load)))
    code = f"import pickle; print(pickle.load(open({str(tmp_path / 'm.pickle')!r}, 'rb'))[0])"
    assert run(code) == "OAVI(psi=0.01)\n"


def test_a_model_is_loaded_before_its_class_is_imported(tmp_path):
    path = tmp_path / "m.json"
    vanishing.VanishingFeatures(vanishing.ABM()).fit([[0.0], [1.0], [0.5]], [0, 0, 1]).save(path)
    code = f"import vanishing; print(vanishing.load({str(path)!r}))"
    assert run(code) == "VanishingFeatures(transformer=ABM())\n"


def test_threads_may_be_the_first_to_use_names():
    # Each in a new process: a name is imported once.
    code = """
import threading, vanishing
names = [name for name in dir(vanishing) if name not in ("plot", "report")]
start, found = threading.Barrier(2 * len(names)), []
def use(name):
    start.wait()
    found.append((name, getattr(vanishing, name)))
threads = [threading.Thread(target=use, args=(name,)) for name in (*names, *names[::-1])]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(found) - 2 * len(names), all(getattr(vanishing, n) is value for n, value in found))
"""
    assert run(code) == "0 True\n"


def test_no_module_imports_through_the_root():
    """Threads that import would wait for each other: the root holds a lock while it imports."""
    root = Path(vanishing.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            assert not (isinstance(node, ast.ImportFrom) and node.module == "vanishing"), path


def test_no_setting_is_given_twice():
    """The second value would hold, also where the first one was meant."""
    for file in Path(vanishing.__path__[0]).rglob("settings.py"):
        names = [
            name.id
            for statement in ast.parse(file.read_text(encoding="utf-8")).body
            if isinstance(statement, ast.Assign)
            for name in ast.walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        ]
        assert len(names) == len(set(names)), file
